#!/usr/bin/env bash
set -euo pipefail
python from_config.py
