#!/usr/bin/env bash
set -euo pipefail
python sweep.py > table.md
cat table.md
