#!/usr/bin/env bash
# SVRG inner-loop lengths, SAGA and reshuffled SGD after 30 gradient passes.
# Needs only Python and numpy; run from the repository's root.
set -euo pipefail
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_variance_reduction.py --config configs/variance_reduction.json --summary MEASURED
