#!/usr/bin/env bash
set -euo pipefail
python fetch.py
