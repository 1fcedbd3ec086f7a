#!/usr/bin/env bash
# Pooling study: four pipelines, six ensemble sizes, 20 repetitions.
set -euo pipefail
cd "$(dirname "$0")"
python -c "import numpy; print('numpy', numpy.__version__)"
python scripts/pooling_order.py
