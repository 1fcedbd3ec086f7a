#!/usr/bin/env bash
# PC skeletons under classical measurement error: full grid (20 SEMs, 32 settings).
set -euo pipefail
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/run_measurement_error.py
