#!/usr/bin/env bash
set -euo pipefail
cd /workspace
python -m tinyclf.evaluate --data rings --model knn --k 5
