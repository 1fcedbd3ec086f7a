#!/usr/bin/env bash
set -euo pipefail
python run_notebook.py analysis.ipynb
