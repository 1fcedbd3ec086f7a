#!/usr/bin/env bash
set -euo pipefail
PYTHONPATH=. python go.py
