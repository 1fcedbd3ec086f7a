#!/usr/bin/env bash
# Five update rules at five batch sizes on the noisy quadratic, learning rates tuned in every cell.
# Needs only Python and numpy; run from the repository's root.
set -euo pipefail
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_batch_size.py --config configs/batch_size.json --summary MEASURED
