#!/bin/bash
tail -n 1 train.log || true
