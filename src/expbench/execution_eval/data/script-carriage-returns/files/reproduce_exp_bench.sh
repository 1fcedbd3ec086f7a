#!/usr/bin/env bash
set -euo pipefail
python progress.py
