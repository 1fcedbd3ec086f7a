#!/usr/bin/env bash
set -euo pipefail
for k in 1 3 5; do
  python -m tinyclf.evaluate --k $k
