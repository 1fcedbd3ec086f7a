#!/usr/bin/env bash
set -euo pipefail
python -m http.server 8765 --bind 127.0.0.1
