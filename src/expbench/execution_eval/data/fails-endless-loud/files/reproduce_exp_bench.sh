#!/bin/bash
while true; do echo 'epoch running'; done
