#!/usr/bin/env bash
# Lead-time experiment of the paper with its default configuration.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHONPATH=. python scripts/run_horizon.py --config configs/horizon.json \
    --output results/horizon.json "$@"
