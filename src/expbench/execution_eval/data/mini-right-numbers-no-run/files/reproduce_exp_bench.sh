#!/usr/bin/env bash
set -euo pipefail
python -c "import shiftcast; print('shiftcast', shiftcast.__doc__)"
