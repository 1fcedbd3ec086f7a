#!/usr/bin/env bash
set -euo pipefail
python train.py 2>&1 | tee train.log
