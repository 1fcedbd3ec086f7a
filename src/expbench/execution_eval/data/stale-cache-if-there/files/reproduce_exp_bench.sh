#!/usr/bin/env bash
set -euo pipefail
python cached.py
