#!/bin/bash
exec python -m tinyclf.evaluate --data rings --model knn --k 5
