#!/bin/bash
python -m tinyclf.evaluate
