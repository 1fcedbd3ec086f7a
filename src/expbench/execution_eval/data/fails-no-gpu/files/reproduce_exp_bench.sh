#!/usr/bin/env bash
set -euo pipefail
python gpu.py
