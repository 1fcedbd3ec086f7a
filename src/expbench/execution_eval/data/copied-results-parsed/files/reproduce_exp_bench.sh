#!/usr/bin/env bash
set -euo pipefail
python collect.py
