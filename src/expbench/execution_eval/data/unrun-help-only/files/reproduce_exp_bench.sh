#!/usr/bin/env bash
set -euo pipefail
python -m tinyclf.evaluate --help
