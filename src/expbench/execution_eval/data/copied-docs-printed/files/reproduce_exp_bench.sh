#!/bin/bash
cat docs/benchmarks.md
