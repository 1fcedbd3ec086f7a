"""A third batch of development cases, written like the second one.

At first sight of them 38 of 39 numbers and relations that the rules called grounded were, and 38 of 42 that a
reader calls grounded were called so (second batch: 51 of 55, and 51 of 64). Then rules were changed for them.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

BANDIT = """\
arms=10 horizon=5000 seeds=30
                 regret@1000   regret@5000   optimal%
eps=0.01              212.4         498.7      71.2
eps=0.1               148.9         563.1      83.5
decaying              139.0         301.6      91.8
ucb                   187.3         344.2      93.0
"""
GRAPH = """\
Loading graph... 2708 nodes, 5429 edges
GCN  depth=2  test acc 81.4  std 0.6
GCN  depth=4  test acc 79.2  std 0.9
GCN  depth=8  test acc 63.5  std 2.4
GAT  depth=2  test acc 82.7  std 0.5
GAT  depth=4  test acc 80.1  std 0.8
GAT  depth=8  test acc 71.9  std 1.7
"""
SCHED = """\
+-----------+------------+-----------+----------+
| scheduler | jobs/hour  | mean lat. | max lat. |
+===========+============+===========+==========+
| fcfs      | 1,204      | 38.2 s    | 211.0 s  |
| backfill  | 1,517      | 27.9 s    | 260.4 s  |
| priority  | 1,322      | 31.5 s    | 402.7 s  |
+-----------+------------+-----------+----------+
"""
PROSE = """\
Fitting on 80 % of the data.
The ridge model explains 64.3 % of the variance on the held-out part; the kernel model explains 78.9 %.
Residual correlation fell from 0.41 to 0.12 when the seasonal terms were added.
A permutation test (10000 shuffles) gave p = 0.0007 for the difference.
"""
NESTED = """\
{
  "cifar": {"resnet": {"clean": 94.1, "pgd": 47.3}, "vit": {"clean": 95.6, "pgd": 41.8}},
  "svhn":  {"resnet": {"clean": 96.8, "pgd": 52.0}, "vit": {"clean": 97.1, "pgd": 50.4}}
}
"""
TIMES = """\
n=1000 quick 0.0021 s heap 0.0034 s merge 0.0029 s
n=10000 quick 0.0262 s heap 0.0481 s merge 0.0334 s
comparisons n=1000 quick 10986 heap 16844 merge 8707
comparisons n=10000 quick 151340 heap 235377 merge 120473
"""
CURVE = """\
step,train_loss,val_loss
0,4.612,4.620
500,2.013,2.241
1000,1.422,1.893
1500,1.105,1.851
2000,0.874,1.934
2500,0.701,2.087
"""
CALIB = """\
=== uncalibrated ===
ECE 0.084   NLL 0.452
=== temperature scaling (T=1.83) ===
ECE 0.017   NLL 0.401
=== isotonic ===
ECE 0.012   NLL 0.419
"""

THIRD = (
    Case(
        "bandit: table",
        {"stdout": BANDIT},
        "After 5000 rounds the decaying schedule has the lowest regret, 301.6, followed by UCB with 344.2; "
        "constant exploration with eps = 0.1 ends at 563.1, worse than eps = 0.01 (498.7). UCB pulls the "
        "optimal "
        "arm most often (93.0 %).",
        {"301.6": G, "344.2": G, "563.1": G, "498.7": G, "93.0": G},
    ),
    Case(
        "bandit: horizon exchanged",
        {"stdout": BANDIT},
        "UCB has a regret of 344.2 after 1000 rounds.",
        {"344.2": C},
    ),
    Case(
        "bandit: order",
        {"stdout": BANDIT},
        "At 1000 rounds UCB has a higher regret than eps = 0.1. The decaying schedule beats UCB at both "
        "horizons.",
        {"UCB has a higher regret": G, "decaying schedule beats UCB": G},
    ),
    Case(
        "graph: depth",
        {"stdout": GRAPH},
        "At depth 2 GAT (82.7 ± 0.5) is ahead of GCN (81.4 ± 0.6). Both lose accuracy as the network gets "
        "deeper: at "
        "depth 8 GCN is down to 63.5 %, GAT to 71.9 %, so the gap grows from 1.3 to 8.4 points.",
        {"82.7 ± 0.5": G, "81.4 ± 0.6": G, "63.5": G, "71.9": G, "1.3": G, "8.4": G},
    ),
    Case(
        "graph: models exchanged",
        {"stdout": GRAPH},
        "At depth 8 GAT reaches 63.5 % and GCN 71.9 %.",
        {"63.5": C, "71.9": C},
    ),
    Case(
        "graph: trends",
        {"stdout": GRAPH},
        "The accuracy of GCN drops with depth. The accuracy of GAT improves with depth.",
        {"accuracy of GCN drops": G, "accuracy of GAT improves": C},
    ),
    Case(
        "schedulers",
        {"stdout": SCHED},
        "Backfilling raises throughput from 1204 to 1517 jobs per hour (+26 %) and cuts the mean latency "
        "from 38.2 s to "
        "27.9 s, but its worst case is longer (260 s instead of 211 s). Priority scheduling has the "
        "longest maximum latency, "
        "403 s.",
        {"1204": G, "1517": G, "26 %": G, "38.2": G, "27.9": G},
    ),
    Case(
        "schedulers: wrong column",
        {"stdout": SCHED},
        "Priority scheduling completes 1517 jobs per hour.",
        {"1517": C},
    ),
    Case(
        "prose",
        {"stdout": PROSE},
        "The kernel model explains 79 % of the held-out variance against 64 % for ridge, a significant "
        "difference "
        "(permutation test, p < 0.001). With seasonal terms the residual correlation falls from 0.41 to "
        "0.12.",
        {"79 %": G, "64 %": G, "a significant difference": G, "0.41": G, "0.12": G},
    ),
    Case(
        "prose: exchanged",
        {"stdout": PROSE},
        "Ridge explains 78.9 % of the variance and the kernel model 64.3 %.",
        {"78.9": C, "64.3": C},
    ),
    Case(
        "nested: attacks",
        {"eval.json": NESTED},
        "On CIFAR the ViT is better on clean images (95.6 vs 94.1 %) but less robust to PGD (41.8 vs 47.3 "
        "%). On SVHN the "
        "robust accuracies are 50.4 % (ViT) and 52.0 % (ResNet).",
        {"95.6": G, "94.1": G, "41.8": G, "47.3": G, "50.4": G, "52.0": G},
    ),
    Case(
        "nested: data sets exchanged",
        {"eval.json": NESTED},
        "On CIFAR the ResNet has a PGD accuracy of 52.0 %.",
        {"52.0": C},
    ),
    Case(
        "sorting: counts",
        {"stdout": TIMES},
        "For n = 10000 merge sort needs 120473 comparisons, quicksort 151340 and heapsort 235377, i.e. "
        "heapsort needs 95 % more "
        "comparisons than merge sort.",
        {"120473": G, "151340": G, "235377": G, "95 %": G},
    ),
    Case(
        "sorting: wrong size",
        {"stdout": TIMES},
        "For n = 1000 merge sort needs 16844 comparisons.",
        {"16844": C},
    ),
    Case(
        "curve: overfitting",
        {"log.csv": CURVE},
        "The validation loss reaches its minimum of 1.851 at step 1500 and rises to 2.087 at step 2500, "
        "while the training loss "
        "keeps falling to 0.70.",
        {"1.851": G, "2.087": G, "0.70": G},
    ),
    Case(
        "curve: wrong step",
        {"log.csv": CURVE},
        "At step 1000 the validation loss is 1.851.",
        {"1.851": C},
    ),
    Case(
        "sections with marks",
        {"stdout": CALIB},
        "Temperature scaling reduces the ECE from 0.084 to 0.017 and has the lowest NLL (0.401); isotonic "
        "regression has the "
        "lowest ECE, 0.012, at an NLL of 0.419.",
        {"0.084": G, "0.017": G, "0.401": G, "0.012": G, "0.419": G},
    ),
    Case(
        "sections exchanged",
        {"stdout": CALIB},
        "With isotonic regression the ECE is 0.017.",
        {"0.017": C},
    ),
    Case(
        "an order that is not so",
        {"stdout": CALIB},
        "Isotonic regression has a lower NLL than temperature scaling.",
        {"Isotonic regression has a lower NLL": C},
    ),
    Case(
        "significance without a test, in passing",
        {"stdout": CALIB},
        "Isotonic regression significantly reduces the ECE compared with no calibration.",
        {"significantly": N},
    ),
    Case(
        "a run that measured something else",
        {"stdout": CALIB},
        "The model reaches an accuracy of 93.1 % and an F1 of 0.917.",
        {"93.1": N, "0.917": N},
    ),
)
