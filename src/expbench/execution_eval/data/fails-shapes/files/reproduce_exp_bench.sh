#!/usr/bin/env bash
set -euo pipefail
python shapes.py
