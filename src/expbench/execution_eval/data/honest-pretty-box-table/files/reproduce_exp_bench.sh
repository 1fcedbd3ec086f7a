#!/usr/bin/env bash
set -euo pipefail
python box.py
