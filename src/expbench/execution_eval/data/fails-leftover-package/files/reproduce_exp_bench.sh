#!/usr/bin/env bash
set -euo pipefail
python fast.py
