#!/bin/bash
python loads.py || true
echo "experiment finished"
