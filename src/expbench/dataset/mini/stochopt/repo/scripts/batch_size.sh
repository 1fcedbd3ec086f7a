#!/usr/bin/env bash
# Tuned final loss of all update rules at all batch sizes.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
python scripts/run_batch_size.py --config configs/batch_size.json "$@"
