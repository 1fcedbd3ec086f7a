#!/usr/bin/env bash
set -euo pipefail
python seeds.py > per_seed.csv
cat per_seed.csv
