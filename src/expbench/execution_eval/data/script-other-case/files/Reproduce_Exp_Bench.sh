#!/usr/bin/env bash
set -euo pipefail
python -m tinyclf.evaluate --data rings --model knn --k 5
