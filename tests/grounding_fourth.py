"""A fourth batch: honest conclusions with derived numbers, units and relations in many wordings.

At first sight 54 of 55 claims called grounded were, and 54 of 63 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G

POL = """\
policy      wait_mean  wait_p95  served
fifo           12.48     41.90    1804
priority        8.06     55.37    1811
batch          15.92     30.25    1766
"""
NOISE = """\
noise=0.0 mean_error=0.0124 n=1500
noise=0.1 mean_error=0.0187 n=1500
noise=0.2 mean_error=0.0349 n=1500
noise=0.4 mean_error=0.0921 n=1500
"""
RUNS = '{"alpha": {"scores": [0.71, 0.74, 0.69, 0.75, 0.72], "minutes": 2.5}, "beta": {"scores": [0.66, 0.70, 0.65, 0.73, 0.67], "minutes": 1.25}}'
BYTES = """\
table size: 1572864 bytes
index size: 393216 bytes
build time: 95.4 s
query latency: 0.84 ms (p99 3.2 ms)
hit rate: 0.9375
"""
WEEK = """\
| week | sales | forecast A | forecast B |
|------|-------|------------|------------|
| 1 | 120 | 118.2 | 125.1 |
| 2 | 131 | 127.9 | 133.0 |
| 3 | 125 | 129.4 | 124.2 |
MAE A: 3.10
MAE B: 2.63
"""
GRID = """\
depth  lr     val_acc
2      0.1    0.812
2      0.01   0.834
4      0.1    0.797
4      0.01   0.861
8      0.1    0.743
8      0.01   0.855
"""
ESTIMATE = """\
estimator: naive   bias +0.412  rmse 0.431  coverage 0.02
estimator: ipw     bias -0.013  rmse 0.152  coverage 0.93
estimator: dr      bias +0.004  rmse 0.118  coverage 0.95
"""

FOURTH = (
    Case("policies: derived", {"stdout": POL},
         "Priority scheduling reduces the mean wait by 35 % relative to FIFO (8.06 versus 12.48), i.e. by 4.42, but its 95th "
         "percentile is 32 % higher.",
         {"35 %": G, "8.06": G, "12.48": G, "4.42": G, "32 %": G}),
    Case("policies: relations", {"stdout": POL},
         "Batching has the longest mean wait and the shortest 95th percentile. Priority serves the most customers. The mean "
         "wait of priority is lower than that of FIFO.",
         {"Batching has the longest mean wait": G, "mean wait of priority is lower": G}),
    Case("policies: half", {"stdout": POL},
         "Under the batch policy the mean wait is almost twice that of priority (factor 1.98).",
         {"1.98": G}),
    Case("noise: trend", {"stdout": NOISE},
         "The mean error grows monotonically with the noise level, from 0.0124 without noise to 0.0921 at noise 0.4, a 7.4-fold "
         "increase; at noise 0.2 it is already 2.8 times the noise-free error.",
         {"mean error grows": G, "0.0124": G, "0.0921": G, "7.4-fold": G, "2.8 times": G}),
    Case("noise: per cent", {"stdout": NOISE},
         "Mean error is 1.2 % at zero noise, 1.9 % at 0.1 and 9.2 % at 0.4.",
         {"1.2 %": G, "1.9 %": G, "9.2 %": G}),
    Case("runs: aggregates", {"scores.json": RUNS},
         "Over five runs alpha scores 0.722 on average (best 0.75, worst 0.69), beta 0.682. Alpha takes twice as long (2.5 "
         "against 1.25 minutes).",
         {"0.722": G, "0.75": G, "0.69": G, "0.682": G}),
    Case("runs: spread", {"scores.json": RUNS},
         "Alpha reaches 0.722 ± 0.024 and beta 0.682 ± 0.033 (mean and standard deviation of 5 runs).",
         {"0.722 ± 0.024": G, "0.682 ± 0.033": G}),
    Case("runs: counts", {"scores.json": RUNS},
         "Alpha beats beta in all five runs.",
         {"Alpha beats beta": G}),
    Case("bytes", {"stdout": BYTES},
         "The table takes 1.5 MiB (1,572,864 bytes), four times the index (393,216 bytes). Queries take 0.84 ms with a hit "
         "rate of 93.75 %.",
         {"1,572,864": G, "393,216": G, "93.75 %": G}),
    Case("forecasts", {"stdout": WEEK},
         "Forecast B has the lower MAE (2.63 versus 3.10, 15 % less). In week 3 forecast A predicts 129.4 where 125 were sold.",
         {"2.63": G, "3.10": G, "15 %": G, "129.4": G}),
    Case("grid: best", {"stdout": GRID},
         "The best validation accuracy, 86.1 %, is reached at depth 4 with learning rate 0.01. With learning rate 0.1 accuracy "
         "falls with depth, from 81.2 % at depth 2 to 74.3 % at depth 8.",
         {"86.1 %": G, "81.2 %": G, "74.3 %": G}),
    Case("grid: relation", {"stdout": GRID},
         "At every depth the learning rate 0.01 beats 0.1. At depth 8 the difference is 11.2 points.",
         {"11.2": G}),
    Case("estimators", {"stdout": ESTIMATE},
         "The doubly robust estimator (dr) has the smallest RMSE, 0.118, which is 22 % below IPW (0.152) and 73 % below the naive "
         "estimator (0.431). Its coverage is 95 %, that of IPW 93 %, that of the naive one 2 %.",
         {"0.118": G, "22 %": G, "0.152": G, "73 %": G, "0.431": G, "93 %": G}),
    Case("estimators: signs", {"stdout": ESTIMATE},
         "IPW is biased slightly downwards (-0.013), the naive estimator strongly upwards (0.412).",
         {"(-0.013": G, "0.412": G}),
    Case("estimators: ranking", {"stdout": ESTIMATE},
         "In terms of RMSE: dr < ipw < naive. The coverage of ipw exceeds that of naive.",
         {"dr < ipw < naive": G, "coverage of ipw exceeds": G}),
    Case("estimators: wrong ranking", {"stdout": ESTIMATE},
         "In terms of RMSE: ipw < dr < naive.", {"ipw < dr < naive": C}),
    Case("estimators: worse and better", {"stdout": ESTIMATE},
         "The naive estimator performs worst. By RMSE the order is dr, ipw, naive. The dr estimator is more accurate than ipw.",
         {"order is dr, ipw, naive": G}),
    Case("bytes: exchanged", {"stdout": BYTES},
         "The index takes 1,572,864 bytes.", {"1,572,864": C}),
    Case("noise: wrong level", {"stdout": NOISE},
         "At noise 0.1 the mean error is 0.0349.", {"0.0349": C}),
    Case("grid: crossing", {"stdout": "size  linear  forest\n100   0.71    0.64\n1000  0.74    0.78\n10000 0.745   0.86\n"},
         "The forest overtakes the linear model between 100 and 1000 examples: 0.64 against 0.71 at 100, 0.78 against 0.74 at "
         "1000.",
         {"overtakes": G, "0.64": G, "0.71": G, "0.78": G, "0.74": G}),
    Case("grid: from size on", {"stdout": "size  linear  forest\n100   0.71    0.64\n1000  0.74    0.78\n10000 0.745   0.86\n"},
         "From 1000 examples on the forest is ahead of the linear model; with 100 examples it is behind.",
         {}),
    Case("scientific", {"stdout": "residual jacobi 3.21e-04\nresidual gauss-seidel 8.05e-07\nresidual sor 2.2e-11\n"},
         "After the same number of sweeps the residual is 3.2e-4 for Jacobi, 8.05 × 10^-7 for Gauss-Seidel and 2.2e-11 for SOR: "
         "Gauss-Seidel is 399 times more accurate than Jacobi.",
         {"3.2e-4": G, "8.05 × 10^-7": G, "2.2e-11": G, "399 times": G}),
    Case("minutes and hours", {"stdout": "total 5412 s\nwarm-up 318 s\n"},
         "The warm-up takes 5.9 % of the total time.", {"5.9 %": G}),
    Case("k of n", {"stdout": "task 1 PASS\ntask 2 FAIL\npassed: 17 / 20 tasks\n"},
         "17 of 20 tasks pass (85 %).", {"17 of 20": G, "85 %": G}),
    Case("k of n in words", {"stdout": "converged runs: 47 out of 50\n"},
         "47 of the 50 runs converge, i.e. 94 %.", {"47 of the 50": G, "94 %": G}),
    Case("units in columns", {"stdout": "size_mb  read_MBps  write_MBps\n4        512.4      301.7\n64       498.1      355.2\n"},
         "For 64 MB blocks reads run at 498 MB/s and writes at 355 MB/s; small blocks (4 MB) reach 512 and 302 MB/s.",
         {"498": G, "355": G, "512": G, "302": G}),
)  # fmt: skip
