"""A seventh batch: right and wrong statements of the same outputs, in many fields.

At first sight 73 of 82 claims called grounded were, and 73 of 80 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

QUEUE = """\
policy=jsq    load=0.70 mean_delay=1.31 p99=6.92
policy=random load=0.70 mean_delay=3.28 p99=15.40
policy=pow2   load=0.70 mean_delay=1.62 p99=7.81
policy=jsq    load=0.95 mean_delay=2.96 p99=12.10
policy=random load=0.95 mean_delay=19.70 p99=91.30
policy=pow2   load=0.95 mean_delay=4.11 p99=16.84
"""
TOPICS = """\
k=10: coherence 0.471, perplexity 1312.5
k=20: coherence 0.523, perplexity 1204.8
k=40: coherence 0.508, perplexity 1121.3
k=80: coherence 0.466, perplexity 1077.9
"""
CLUSTER = """\
             ARI    NMI    silhouette
kmeans       0.612  0.688  0.341
ward         0.655  0.702  0.329
dbscan       0.418  0.590  0.207
spectral     0.731  0.769  0.355
"""
BAYES = """\
              mean     sd  hdi_3%  hdi_97%  r_hat
intercept    2.314  0.112   2.101    2.522   1.00
slope        0.487  0.051   0.391    0.583   1.00
sigma        0.903  0.064   0.788    1.026   1.01
divergences: 0, elpd_loo = -412.6 (se 14.2)
"""
LEARN = """\
{"labels": 50, "random": {"acc": [0.58, 0.61, 0.57]}, "margin": {"acc": [0.63, 0.66, 0.60]}}
{"labels": 200, "random": {"acc": [0.71, 0.73, 0.72]}, "margin": {"acc": [0.79, 0.78, 0.80]}}
"""
ROBOT = """\
task            BC      DAgger   ours
reach         92/100   97/100   98/100
push          61/100   78/100   85/100
stack         23/100   41/100   66/100
average        58.7     72.0     83.0
"""
ENERGY = """\
GPU energy per epoch
  fp32: 312.4 kJ (time 418 s)
  amp:  189.7 kJ (time 251 s)
  amp + channels_last: 171.2 kJ (time 224 s)
final top-1
  fp32: 76.2
  amp:  76.1
  amp + channels_last: 76.1
"""
SENSITIVITY = """\
S1 / ST (Sobol, n = 4096)
x1   0.314 +- 0.012   0.558 +- 0.015
x2   0.442 +- 0.014   0.443 +- 0.013
x3   0.000 +- 0.004   0.241 +- 0.010
"""
DISTILL = """\
| student | teacher | T | alpha | test acc |
|---------|---------|---|-------|----------|
| cnn-s   | none    | - | -     | 86.4     |
| cnn-s   | cnn-l   | 1 | 0.5   | 87.0     |
| cnn-s   | cnn-l   | 4 | 0.5   | 88.3     |
| cnn-s   | cnn-l   | 4 | 0.9   | 88.7     |
| cnn-s   | cnn-l   | 8 | 0.9   | 88.1     |
"""
SPLITS = """\
TRAIN  n=3200  MAE 0.182  bias -0.003
VALID  n=400   MAE 0.241  bias +0.017
TEST   n=400   MAE 0.256  bias +0.024
"""
MARKET = """\
strategy,annual_return,volatility,sharpe,max_drawdown
buy_hold,7.9%,15.2%,0.52,-33.8%
momentum,10.4%,13.9%,0.75,-21.5%
risk_parity,6.8%,8.1%,0.84,-12.7%
"""
SEQ = """\
length   transformer   mamba    hyena
512      12.4          9.8      11.1
2048     71.3          38.9     46.0
8192     944.6         155.7    190.2
(milliseconds per batch)
needle accuracy @8192: transformer 0.981, mamba 0.914, hyena 0.873
"""
LOSSES = """\
[run a] iter    0: loss 10.9312
[run a] iter  500: loss 4.2207
[run a] iter 1000: loss 3.6651
[run b] iter    0: loss 10.9287
[run b] iter  500: loss 3.9120
[run b] iter 1000: loss 3.4486
"""
CALIB = """\
temperature scaling
  T = 1.73
  ECE before: 0.0842   after: 0.0127
  NLL before: 0.4120   after: 0.3391
  accuracy unchanged: 0.9034
"""
GENES = """\
pathway          genes  log2FC   padj
apoptosis        87     -1.42    3.1e-06
glycolysis       62     0.95     0.0021
cell_cycle       124    0.11     0.63
2 of 3 pathways significant at FDR 0.05
"""

SEVENTH = (
    Case("queue", {"stdout": QUEUE},
         "At load 0.95 join-the-shortest-queue (JSQ) has a mean delay of 2.96, two choices (pow2) 4.11 and random assignment "
         "19.70, i.e. 6.7 times the delay of JSQ. The 99th percentile of random is 91.3 there. At load 0.7 the three are at 1.31, "
         "1.62 and 3.28.",
         {"2.96": G, "4.11": G, "19.70": G, "6.7 times": G, "91.3": G, "1.31": G, "1.62": G, "3.28": G}),
    Case("queue: wrong", {"stdout": QUEUE},
         "At load 0.7 pow2 has a mean delay of 4.11. At load 0.95 pow2 has a p99 of 12.10. Random assignment has the shortest "
         "mean delay at both loads.",
         {"4.11": C, "12.10": C, "Random assignment has the shortest": C}),
    Case("topics", {"stdout": TOPICS},
         "Coherence peaks at k = 20 (0.523) and is lower for both fewer (0.471 at k = 10) and more topics (0.466 at k = 80), "
         "whereas perplexity decreases steadily with k from 1312.5 to 1077.9, i.e. by 17.9 %.",
         {"0.523": G, "0.471": G, "0.466": G, "perplexity decreases": G, "1312.5": G, "1077.9": G, "17.9 %": G}),
    Case("topics: wrong", {"stdout": TOPICS},
         "With 40 topics coherence is 0.523. Coherence increases monotonically with k. The lowest perplexity is 1121.3.",
         {"0.523": C, "Coherence increases": C, "1121.3": C}),
    Case("clustering", {"stdout": CLUSTER},
         "Spectral clustering recovers the classes best (ARI 0.731, NMI 0.769), followed by Ward (0.655 and 0.702). DBSCAN is "
         "worst in all three measures; its ARI is 0.194 below that of k-means.",
         {"0.731": G, "0.769": G, "0.655": G, "0.702": G, "0.194": G}),
    Case("clustering: wrong", {"stdout": CLUSTER},
         "K-means has an NMI of 0.612. Ward has the highest silhouette. DBSCAN is ahead of k-means in ARI.",
         {"0.612": C, "Ward has the highest silhouette": C, "DBSCAN is ahead of k-means": C}),
    Case("posterior", {"stdout": BAYES},
         "The slope has a posterior mean of 0.487 (sd 0.051) with a 94 % interval from 0.391 to 0.583; the intercept is 2.31 ± "
         "0.11. The model has an expected log predictive density of -412.6 (standard error 14.2).",
         {"0.487": G, "0.051": G, "0.391": G, "0.583": G, "2.31 ± 0.11": G, "-412.6": G, "14.2": G}),
    Case("posterior: wrong", {"stdout": BAYES},
         "The posterior mean of sigma is 0.487. The interval of the intercept begins at 0.391.",
         {"0.487": C, "0.391": C}),
    Case("active learning", {"al.jsonl": LEARN},
         "With 50 labels margin sampling has a mean accuracy of 63.0 % and random sampling 58.7 %; with 200 labels it is 79.0 % "
         "against 72.0 %, a gain of 7.0 points.",
         {"63.0 %": G, "58.7 %": G, "79.0 %": G, "72.0 %": G, "7.0 points": G}),
    Case("active learning: wrong", {"al.jsonl": LEARN},
         "With 200 labels random sampling has a mean accuracy of 79.0 %. Random sampling beats margin sampling with 50 labels.",
         {"79.0 %": C, "Random sampling beats margin sampling": C}),
    Case("robots", {"stdout": ROBOT},
         "Our method succeeds in 66 of 100 stacking trials, DAgger in 41 and behaviour cloning (BC) in 23. On average it "
         "reaches 83.0 %, 11 points more than DAgger (72.0 %).",
         {"66 of 100": G, "83.0 %": G, "11 points": G, "72.0 %": G}),
    Case("robots: wrong", {"stdout": ROBOT},
         "DAgger succeeds in 85 of 100 pushing trials. BC is better than DAgger at stacking. The average of BC is 72.0 %.",
         {"85 of 100": C, "BC is better than DAgger": C, "72.0 %": C}),
    Case("energy", {"stdout": ENERGY},
         "Mixed precision cuts the energy per epoch by 39 % (312.4 to 189.7 kJ); with channels_last it is 171.2 kJ, 45 % less "
         "than fp32. Accuracy stays at 76.1 % (fp32: 76.2 %).",
         {"39 %": G, "312.4": G, "189.7": G, "171.2": G, "45 %": G, "76.1 %": G, "76.2 %": G}),
    Case("energy: wrong", {"stdout": ENERGY},
         "AMP alone needs 171.2 kJ per epoch. fp32 reaches a top-1 accuracy of 76.1 %.",
         {"171.2": C, "76.1 %": C}),
    Case("sobol", {"stdout": SENSITIVITY},
         "The first-order index is largest for x2 (0.442 ± 0.014), then x1 (0.314 ± 0.012); x3 acts only through interactions "
         "(total index 0.241 ± 0.010).",
         {"0.442 ± 0.014": G, "0.314 ± 0.012": G, "0.241 ± 0.010": G}),
    Case("distillation", {"stdout": DISTILL},
         "Without a teacher the student reaches 86.4 %. Distillation at T = 4 and alpha = 0.9 is best with 88.7 % (+2.3 points); "
         "at T = 8 it falls to 88.1 % and at T = 1 (alpha = 0.5) it is 87.0 %.",
         {"86.4 %": G, "88.7 %": G, "+2.3 points": G, "88.1 %": G, "87.0 %": G}),
    Case("distillation: wrong", {"stdout": DISTILL},
         "At T = 4 and alpha = 0.5 the student reaches 88.7 %. At T = 8 it reaches 88.3 %.",
         {"88.7 %": C, "88.3 %": C}),
    Case("splits", {"stdout": SPLITS},
         "The mean absolute error is 0.182 on the training set, 0.241 on the validation set and 0.256 on the test set, where "
         "predictions are too high by 0.024 on average.",
         {"0.182": G, "0.241": G, "0.256": G, "0.024": G}),
    Case("splits: wrong", {"stdout": SPLITS},
         "On the test set the MAE is 0.241. The bias on the validation set is +0.024.",
         {"0.241": C, "+0.024": C}),
    Case("strategies", {"backtest.csv": MARKET},
         "Risk parity has the highest Sharpe ratio (0.84) and the smallest drawdown (12.7 %), momentum the highest return (10.4 % "
         "a year against 7.9 % for buy and hold). Momentum's drawdown is 21.5 %, 12.3 points less than buy and hold's.",
         {"0.84": G, "12.7 %": G, "10.4 %": G, "7.9 %": G, "21.5 %": G, "12.3 points": G}),
    Case("strategies: wrong", {"backtest.csv": MARKET},
         "Buy and hold has a Sharpe ratio of 0.75. Momentum has a lower volatility than risk parity.",
         {"0.75": C, "Momentum has a lower volatility": C}),
    Case("sequence length", {"stdout": SEQ},
         "For 8192 tokens Mamba needs 155.7 ms per batch, 6.1 times less than the transformer (944.6 ms), but finds the needle "
         "less often (0.914 against 0.981). Hyena's needle accuracy is 0.873.",
         {"6.1 times": G, "0.914": G, "0.981": G, "0.873": G}),
    Case("sequence length: wrong", {"stdout": SEQ},
         "At 2048 tokens hyena is faster than mamba. Hyena finds the needle with an accuracy of 0.914.",
         {"hyena is faster than mamba": C, "0.914": C}),
    Case("two runs", {"train.log": LOSSES},
         "After 1000 iterations run b is at a loss of 3.449 and run a at 3.665; b was already ahead at iteration 500 (3.912 "
         "against 4.221).",
         {"3.449": G, "3.665": G, "3.912": G, "4.221": G}),
    Case("two runs: wrong", {"train.log": LOSSES},
         "Run a ends with a loss of 3.4486. At iteration 500 run b has a loss of 4.2207.",
         {"3.4486": C, "4.2207": C}),
    Case("before and after", {"stdout": CALIB},
         "Temperature scaling with T = 1.73 reduces the ECE from 8.4 % to 1.3 % and the NLL from 0.412 to 0.339 while accuracy "
         "stays at 90.3 %.",
         {"8.4 %": G, "1.3 %": G, "0.412": G, "0.339": G, "90.3 %": G}),
    Case("before and after: wrong", {"stdout": CALIB},
         "After temperature scaling the ECE is 0.0842. Before scaling the NLL was 0.3391.",
         {"0.0842": C, "0.3391": C}),
    Case("genes", {"stdout": GENES},
         "Apoptosis genes are down-regulated (log2 fold change -1.42, adjusted p = 3.1e-6) and glycolysis genes up-regulated "
         "(0.95, p = 0.0021); the cell cycle does not change significantly (p = 0.63). 2 of 3 pathways are significant.",
         {"-1.42": G, "p = 3.1e-6": G, "0.95": G, "p = 0.0021": G, "p = 0.63": G, "2 of 3": G}),
    Case("never measured", {"stdout": GENES},
         "The signature predicts survival with a concordance of 0.71 and an odds ratio of 2.4.",
         {"0.71": N, "2.4": N}),
)  # fmt: skip
