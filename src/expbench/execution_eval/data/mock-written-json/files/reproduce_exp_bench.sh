#!/usr/bin/env bash
set -euo pipefail
python make_results.py
