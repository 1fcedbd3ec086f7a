#!/usr/bin/env bash
set -euo pipefail
python evaluate_all.py
