#!/usr/bin/env bash
set -euo pipefail
python big.py
