#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")/.."
python -m tinyclf.evaluate --data rings --model knn --k 5
