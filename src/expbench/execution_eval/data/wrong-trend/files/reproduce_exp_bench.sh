#!/usr/bin/env bash
set -euo pipefail
python sweep.py
