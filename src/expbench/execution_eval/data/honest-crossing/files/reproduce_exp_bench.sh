#!/usr/bin/env bash
set -euo pipefail
python curve.py
