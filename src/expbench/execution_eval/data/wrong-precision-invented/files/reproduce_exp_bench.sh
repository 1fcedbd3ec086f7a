#!/usr/bin/env bash
set -euo pipefail
python short.py
