#!/usr/bin/env bash
set -euo pipefail
python study.py
