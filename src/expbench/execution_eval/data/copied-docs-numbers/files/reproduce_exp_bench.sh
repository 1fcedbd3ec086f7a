#!/usr/bin/env bash
set -euo pipefail
python -c 'from tinyclf import load; x, y = load("rings"); print("loaded", len(x), "points")'
