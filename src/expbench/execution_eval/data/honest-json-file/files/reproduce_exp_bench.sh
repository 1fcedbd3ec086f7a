#!/usr/bin/env bash
set -euo pipefail
python metrics.py
