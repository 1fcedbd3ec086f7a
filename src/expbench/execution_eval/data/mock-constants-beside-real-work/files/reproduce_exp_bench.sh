#!/usr/bin/env bash
set -euo pipefail
python final.py
