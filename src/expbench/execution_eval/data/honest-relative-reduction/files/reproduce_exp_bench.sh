#!/usr/bin/env bash
set -euo pipefail
python loads.py
