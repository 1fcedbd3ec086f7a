#!/usr/bin/env bash
set -euo pipefail
python spirals.py
