"""A second batch of development cases, written after the rules had been fitted to the first one."""

from __future__ import annotations

from grounding_cases import C, Case, G, N

QUEUE = """\
Simulating M/M/1 queue, 20 replications each
rho    policy   mean wait    95% CI           p99 wait
0.50   FIFO     0.998        [0.971, 1.025]   4.61
0.50   SJF      0.712        [0.694, 0.730]   6.02
0.80   FIFO     4.012        [3.801, 4.223]   18.35
0.80   SJF      1.934        [1.861, 2.007]   31.47
0.95   FIFO     18.77        [16.20, 21.34]   83.90
0.95   SJF      4.583        [4.201, 4.965]   207.3
"""
TRAIN = """\
=== baseline (no augmentation) ===
fold 1 | acc 0.8412 | f1 0.8290
fold 2 | acc 0.8367 | f1 0.8215
fold 3 | acc 0.8501 | f1 0.8388
mean acc 0.8427 +/- 0.0055
=== mixup ===
fold 1 | acc 0.8655 | f1 0.8561
fold 2 | acc 0.8590 | f1 0.8502
fold 3 | acc 0.8623 | f1 0.8517
mean acc 0.8623 +/- 0.0027
=== cutout ===
fold 1 | acc 0.8534 | f1 0.8441
fold 2 | acc 0.8498 | f1 0.8377
fold 3 | acc 0.8577 | f1 0.8463
mean acc 0.8536 +/- 0.0032
"""
COMPRESS = """\
codec,level,ratio,encode_ms,decode_ms
gzip,1,2.74,412,118
gzip,6,3.22,1043,115
gzip,9,3.25,2410,114
zstd,1,2.88,96,41
zstd,10,3.47,611,40
zstd,19,3.91,8230,43
"""
ABLATION = """\
Full model: EM = 71.3, F1 = 78.9
  w/o retrieval: EM = 58.4, F1 = 66.0
  w/o reranker: EM = 69.1, F1 = 77.2
  w/o both: EM = 55.7, F1 = 63.1
Number of parameters: 124,439,808
"""
TUNING = """\
lr=0.001 final_loss=0.8421
lr=0.01 final_loss=0.3177
lr=0.1 final_loss=0.2954
lr=1.0 final_loss=nan
best lr: 0.1
"""
RECORDS = """\
[
  {"model": "gpt-small", "task": "copy", "exact_match": 0.98, "steps_to_90": 1200},
  {"model": "gpt-small", "task": "reverse", "exact_match": 0.61, "steps_to_90": null},
  {"model": "rnn", "task": "copy", "exact_match": 0.83, "steps_to_90": 5400},
  {"model": "rnn", "task": "reverse", "exact_match": 0.12, "steps_to_90": null}
]
"""
PANDAS = """\
                 rmse       mae        r2
model
linear       3.418201  2.610344  0.701245
forest       2.873310  2.012871  0.788903
boosting     2.791004  1.974402  0.800871
"""
GROUPS = """\
dataset: iris
    knn  acc=96.67  time=0.02s
    svm  acc=97.33  time=0.05s
dataset: wine
    knn  acc=72.47  time=0.02s
    svm  acc=98.31  time=0.04s
dataset: digits
    knn  acc=98.66  time=0.31s
    svm  acc=98.89  time=0.87s
"""
YAML = """\
ucb:
  regret: {mean: 412.7, se: 3.9}
  pulls_of_best: 0.731
thompson:
  regret: {mean: 287.2, se: 4.4}
  pulls_of_best: 0.822
"""
POLICY = """\
policy A success 41/60
policy B success 52/60
McNemar p=0.021
"""

SECOND = (
    Case("queue: waits", {"stdout": QUEUE},
         "Shortest-job-first (SJF) cuts the mean wait at a load of 0.95 from 18.8 to 4.6, roughly a "
         "quarter, but its p99 wait "
         "is 207 compared with 83.9 under FIFO. At rho = 0.5 the difference is small: 0.71 against 1.00.",
         {"18.8": G, "4.6": G, "207": G, "83.9": G, "0.71": G, "1.00": G}),
    Case("queue: intervals", {"stdout": QUEUE},
         "At rho = 0.80 FIFO has a mean wait of 4.01 (95% CI 3.80 to 4.22), SJF 1.93 (95% CI 1.86 to "
         "2.01).",
         {"4.01": G, "3.80": G, "4.22": G, "1.93": G, "1.86": G, "2.01": G}),
    Case("queue: policies exchanged", {"stdout": QUEUE},
         "At a load of 0.80, the p99 wait is 31.5 for FIFO and 18.4 for SJF.", {"31.5": C, "18.4": C}),
    Case("queue: wrong load", {"stdout": QUEUE},
         "FIFO customers wait 4.0 on average at rho = 0.95.", {"4.0": C}),
    Case("queue: relations", {"stdout": QUEUE},
         "SJF has a lower mean wait than FIFO at every load. FIFO has a higher p99 wait than SJF at rho = "
         "0.95.",
         {"SJF has a lower mean wait": G, "FIFO has a higher p99": C}),
    Case("folds: sections", {"stdout": TRAIN},
         "Mixup is best with 86.2 ± 0.3 % accuracy, cutout follows with 85.4 ± 0.3 %, and the baseline "
         "without augmentation "
         "has 84.3 ± 0.6 %.",
         {"86.2 ± 0.3": G, "85.4 ± 0.3": G, "84.3 ± 0.6": G}),
    Case("folds: gains", {"stdout": TRAIN},
         "Mixup improves the mean accuracy by 1.96 points over the baseline; its F1 on fold 3 is 0.852. "
         "The mean F1 of cutout "
         "is 0.843.",
         {"1.96": G, "0.852": G, "0.843": G}),
    Case("folds: wrong section", {"stdout": TRAIN},
         "Cutout reaches a mean accuracy of 86.2 %.", {"86.2": C}),
    Case("folds: wrong gain", {"stdout": TRAIN},
         "Cutout improves the mean accuracy over the baseline by 3.1 points.", {"3.1": C}),
    Case("codecs", {"bench.csv": COMPRESS},
         "zstd at level 19 has the highest compression ratio (3.91), but needs 8.2 s to encode. At level "
         "1 zstd encodes 4.3 "
         "times faster than gzip (96 ms versus 412 ms) with a slightly better ratio (2.88 versus 2.74).",
         {"3.91": G, "4.3": G, "2.88": G, "2.74": G}),
    Case("codecs: wrong level", {"bench.csv": COMPRESS},
         "gzip reaches a ratio of 3.25 at level 1.", {"3.25": C}),
    Case("codecs: trend", {"bench.csv": COMPRESS},
         "The ratio of zstd increases with the level. The ratio of gzip decreases with the level.",
         {"ratio of zstd increases": G, "ratio of gzip decreases": C}),
    Case("ablation lines", {"stdout": ABLATION},
         "Removing retrieval costs 12.9 EM points (58.4 versus 71.3), removing the reranker only 2.2 "
         "(69.1). The full model "
         "has 124M parameters.",
         {"12.9": G, "58.4": G, "71.3": G, "69.1": G}),
    Case("ablation: exchanged", {"stdout": ABLATION},
         "Without retrieval the F1 is 77.2, without the reranker it is 66.0.", {"77.2": C, "66.0": C}),
    Case("learning rates", {"stdout": TUNING},
         "The final loss is lowest at a learning rate of 0.1 (0.295); with lr=0.01 it is 0.318 and with "
         "lr=0.001 still 0.842.",
         {"0.295": G, "0.318": G, "0.842": G}),
    Case("learning rates: wrong", {"stdout": TUNING},
         "With lr=0.01 the final loss is 0.295.", {"0.295": C}),
    Case("records", {"results.json": RECORDS},
         "The transformer (gpt-small) solves the copy task with an exact match of 98 %, the RNN 83 %. On "
         "reversal both drop, to "
         "61 % and 12 %.",
         {"98 %": G, "83 %": G, "61 %": G, "12 %": G}),
    Case("records: wrong task", {"results.json": RECORDS},
         "The RNN reaches an exact match of 83 % on the reverse task.", {"83 %": C}),
    Case("pandas", {"stdout": PANDAS},
         "Boosting has the lowest RMSE (2.79) and the highest R^2 (0.801), followed by the forest (2.87, "
         "0.789); the linear "
         "model is worst (3.42).",
         {"2.79": G, "0.801": G, "2.87": G, "0.789": G, "3.42": G}),
    Case("pandas: wrong metric", {"stdout": PANDAS},
         "The forest has an RMSE of 2.01.", {"2.01": C}),
    Case("groups", {"stdout": GROUPS},
         "The SVM is more accurate than kNN on all three data sets (97.3 vs 96.7 on iris, 98.3 vs 72.5 on "
         "wine, 98.9 vs 98.7 on "
         "digits).",
         {"SVM is more accurate": G, "97.3": G, "96.7": G, "98.3": G, "72.5": G, "98.9": G, "98.7": G}),
    Case("groups: wrong data set", {"stdout": GROUPS},
         "On wine the kNN classifier reaches 96.7 %.", {"96.7": C}),
    Case("groups: mean", {"stdout": GROUPS},
         "Averaged over the data sets the SVM has an accuracy of 98.2 %.", {"98.2": G}),
    Case("yaml", {"summary.yaml": YAML},
         "Thompson sampling has a mean regret of 287 (standard error 4.4), UCB 413; it pulls the best arm "
         "in 82 % of the rounds "
         "against 73 %.",
         {"287": G, "413": G, "82 %": G, "73 %": G}),
    Case("yaml: exchanged", {"summary.yaml": YAML},
         "UCB has a mean regret of 287.2, Thompson sampling one of 412.7.", {"287.2": C, "412.7": C}),
    Case("success counts", {"stdout": POLICY},
         "Policy B succeeds in 52 of 60 episodes, policy A in 41 of 60; the difference is significant (p "
         "= 0.021).",
         {"52 of 60": G, "41 of 60": G, "difference is significant": G, "0.021": G}),
    Case("success counts: exchanged", {"stdout": POLICY},
         "Policy A succeeds in 52 of 60 episodes.", {"52 of 60": C}),
    Case("success rates", {"stdout": POLICY},
         "Policy B has a success rate of 87 %, policy A of 68 %.", {"87 %": G, "68 %": G}),
    Case("failed",
         {"stderr": "Traceback (most recent call last):\n  File \"x.py\"\nValueError: bad\n"},
         "The accuracy is 91.2 %.", {"91.2": N}),
    Case("hedges", {"stdout": PANDAS},
         "Boosting might reach an R^2 of 0.85 with more trees. We expect an RMSE below 2.5 then. Here its "
         "RMSE is 2.791.",
         {"2.791": G}),
    Case("list in the conclusion", {"stdout": PANDAS},
         "Findings:\n- linear: RMSE 3.42, MAE 2.61\n- forest: RMSE 2.87, MAE 2.01\n- boosting: RMSE 2.79, "
         "MAE 1.79\n",
         {"3.42": G, "2.61": G, "2.87": G, "2.01": G, "2.79": G, "1.79": C}),
)  # fmt: skip
