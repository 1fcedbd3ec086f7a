#!/usr/bin/env bash
set -euo pipefail
PYTHONPATH=. python study.py
