#!/bin/bash
# python compare.py   # takes long
echo 'see compare.py'
