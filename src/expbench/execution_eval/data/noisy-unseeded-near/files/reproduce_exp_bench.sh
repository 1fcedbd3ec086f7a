#!/usr/bin/env bash
set -euo pipefail
python go.py
