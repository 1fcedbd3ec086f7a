#!/usr/bin/env bash
set -euo pipefail
python -m py_compile loads.py
echo compiled
