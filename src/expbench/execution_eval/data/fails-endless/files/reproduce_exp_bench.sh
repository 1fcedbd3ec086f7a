#!/usr/bin/env bash
set -euo pipefail
python endless.py
