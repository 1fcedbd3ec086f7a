#!/usr/bin/env bash
set -euo pipefail
PYTHONPATH=. python ece_n.py
