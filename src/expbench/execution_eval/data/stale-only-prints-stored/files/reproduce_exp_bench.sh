#!/usr/bin/env bash
set -euo pipefail
python report.py
