#!/usr/bin/env bash
set -euo pipefail
python sk.py
