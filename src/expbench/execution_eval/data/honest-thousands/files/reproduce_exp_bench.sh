#!/bin/sh
python busy.py
