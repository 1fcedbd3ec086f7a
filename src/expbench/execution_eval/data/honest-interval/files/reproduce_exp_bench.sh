#!/usr/bin/env bash
set -euo pipefail
python compare.py
