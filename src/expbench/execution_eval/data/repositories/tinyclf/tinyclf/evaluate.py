"""Accuracy of one model on one data set, over random splits."""

import argparse

from tinyclf import accuracy, load, make, split


def scores(data, model, seeds, **options):
    """Test accuracy for each seed."""
    x, y = load(data)
    found = []
    for seed in seeds:
        a, b, c, d = split(x, y, seed)
        found.append(accuracy(d, make(model, **options).fit(a, b).predict(c)))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="rings")
    parser.add_argument("--model", default="knn")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--splits", type=int, default=10)
    args = parser.parse_args()
    options = {"k": args.k} if args.model == "knn" else {}
    values = scores(args.data, args.model, range(args.splits), **options)
    print(f"{args.model} on {args.data}: accuracy {sum(values) / len(values):.4f}")
