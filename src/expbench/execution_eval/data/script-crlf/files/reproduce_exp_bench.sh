#!/bin/bash
set -e
python -m tinyclf.evaluate --data rings --model knn --k 5
