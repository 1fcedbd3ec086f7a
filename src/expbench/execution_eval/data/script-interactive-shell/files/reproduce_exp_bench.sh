#!/bin/bash
read -r -p "Run the full evaluation? [y/N] " answer
if [ "$answer" = n ]; then exit 0; fi
python -m tinyclf.evaluate --data rings --model knn --k 5
