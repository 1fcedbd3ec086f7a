#!/usr/bin/env bash
set -euo pipefail
python - <<'PY'
import json

for name, value in json.load(open('results/pooling.json')).items():
    print(name, value)
PY
