#!/usr/bin/env bash
set -euo pipefail
python experiments/compare_models.py
