#!/bin/bash
python compare.py 2>/dev/null | sort
