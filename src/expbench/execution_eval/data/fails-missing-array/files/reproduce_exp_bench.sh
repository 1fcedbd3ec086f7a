#!/usr/bin/env bash
set -euo pipefail
python mnist.py
