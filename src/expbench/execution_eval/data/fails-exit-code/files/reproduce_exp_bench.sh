#!/usr/bin/env bash
set -euo pipefail
python check.py
