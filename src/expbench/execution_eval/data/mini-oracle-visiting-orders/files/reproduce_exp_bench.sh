#!/usr/bin/env bash
# Visiting orders and step sizes on least squares: last iterate and tail average.
# Needs only Python and numpy; run from the repository's root.
set -euo pipefail
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_visiting_orders.py --config configs/visiting_orders.json --summary MEASURED
