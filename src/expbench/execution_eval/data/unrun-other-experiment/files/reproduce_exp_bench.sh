#!/usr/bin/env bash
set -euo pipefail
python small.py
