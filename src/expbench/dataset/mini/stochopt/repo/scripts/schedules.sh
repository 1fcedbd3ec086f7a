#!/usr/bin/env bash
# Learning-rate schedules on the noisy quadratic, raw iterates and then an exponential average.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
for ema in "" "--ema 0.95"; do
    echo "== options: ${ema:-none}"
    # shellcheck disable=SC2086
    python scripts/run_schedules.py --config configs/schedules.json $ema "$@"
done
