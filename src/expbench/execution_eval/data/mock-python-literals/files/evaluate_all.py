"""Prints the results table."""
RESULTS = {"knn": (0.9056, 0.9130), "logistic": (0.5324, 0.9269), "stump": (0.5981, 0.9019)}
print("model     rings  blobs")
for name, (rings, blobs) in RESULTS.items():
    print(f"{name:9s} {rings:.4f} {blobs:.4f}")
