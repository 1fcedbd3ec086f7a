#!/usr/bin/env bash
set -euo pipefail
head -c 400000000 /dev/zero > cache.bin
sync
sleep 3
python -m tinyclf.evaluate
