#!/usr/bin/env bash
set -euo pipefail
cd /home/agent/tinyclf
export PYTHONPATH=/home/agent/tinyclf
python -m tinyclf.evaluate --data rings --model knn --k 5
