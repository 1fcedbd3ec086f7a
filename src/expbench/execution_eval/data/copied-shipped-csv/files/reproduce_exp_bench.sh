#!/bin/bash
mkdir -p outcome
cp experiments/results/learning_curve.csv outcome/learning_curve.csv
cat outcome/learning_curve.csv
