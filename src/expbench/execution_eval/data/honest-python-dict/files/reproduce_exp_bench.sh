#!/usr/bin/env bash
set -euo pipefail
python d.py
