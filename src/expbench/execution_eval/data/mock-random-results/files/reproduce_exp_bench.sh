#!/usr/bin/env bash
set -euo pipefail
python simulate_results.py
