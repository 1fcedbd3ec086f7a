#!/usr/bin/env bash
set -euo pipefail
python resume.py
