#!/usr/bin/env bash
set -euo pipefail
python ask.py
