#!/usr/bin/env bash
set -euo pipefail
python seeds.py
