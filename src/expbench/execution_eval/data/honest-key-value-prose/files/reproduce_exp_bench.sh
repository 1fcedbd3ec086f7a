#!/usr/bin/env bash
set -euo pipefail
python replay.py
