"""A tenth batch: what evaluation harnesses, profilers and statistics packages print; notes and long reports.

At first sight 129 of 142 claims called grounded were, and 129 of 154 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

QUADRATIC = """\
== Part 1: adam lr=1.0, x0 = 5.0, 20 iterations ==
init     x =  5.000000  loss = 1.600000e+01
iter   4 x =  1.202407  loss = 4.096864e-02  (before step: loss = 1.153408e+00, grad =  2.147937)
iter   9 x = -0.808642  loss = 3.271184e+00  (before step: loss = 3.130524e+00, grad = -3.538657)
iter  20 x =  1.972604  loss = 9.459593e-01  (before step: loss = 8.116318e-01, grad =  1.801812)

== Part 1: sgd lr=0.1, x0 = 5.0, 20 iterations ==
init     x =  5.000000  loss = 1.600000e+01
iter   4 x =  2.638400  loss = 2.684354e+00  (before step: loss = 4.194304e+00, grad =  4.096000)
iter   9 x =  1.536871  loss = 2.882303e-01  (before step: loss = 4.503599e-01, grad =  1.342177)
iter  20 x =  1.046117  loss = 2.126764e-03  (before step: loss = 3.323070e-03, grad =  0.115292)
"""
HANDS = """\
== 2. benchmark ==
puzzles 98 distinct multisets 95
fraction  solved 98/98  verified 98/98  0.50 s (5.14 ms each)  tried: mean 623 median 367 max 5305
sympy     solved 98/98  verified 98/98  1.04 s (10.61 ms each)  tried: mean 623 median 367 max 5305

== 3. all hands ==
1..10: 715 hands; solved 566, verified 566, disagreements 0; 12.1 s
1..13: 1820 hands; solved 1362, verified 1362, disagreements 0; 31.9 s
"""
PAIRS = """\
pairwise comparison (n=100 prompts each)
                      win  tie  loss
ours vs sft            61   14    25
ours vs dpo            47   20    33
dpo vs sft             52   18    30
"""
MPI = """\
ranks   time[s]   speedup   efficiency
1       482.10    1.00      1.000
4       126.87    3.80      0.950
16      38.41     12.55     0.784
64      16.02     30.09     0.470
"""
DETECTOR = """\
threshold 0.5: TP=412 FP=37 FN=58 TN=1493
precision=0.9176 recall=0.8766 f1=0.8966
threshold 0.8: TP=371 FP=12 FN=99 TN=1518
precision=0.9687 recall=0.7894 f1=0.8699
"""
WANDB = """\
wandb: Run history:
wandb:   train/loss ▇▅▃▂▁
wandb: Run summary:
wandb:        epoch 40
wandb:   train/loss 0.2117
wandb:      val/acc 0.8874
wandb:     val/loss 0.3905
wandb:    test/acc  0.8791
"""
INI = """\
[baseline]
rouge1 = 38.21
rouge2 = 16.04
rougeL = 35.10
[pointer]
rouge1 = 39.53
rouge2 = 17.28
rougeL = 36.38
"""
TTEST = """\

\tWelch Two Sample t-test

data:  extra by group
t = -1.8608, df = 17.776, p-value = 0.07939
alternative hypothesis: true difference in means is not equal to 0
95 percent confidence interval:
 -3.3654832  0.2054832
sample estimates:
mean in group 1 mean in group 2
           0.75            2.33
"""
FRAME = """\
     model  rmse    r2 seconds
1       lm 4.921 0.712    0.04
2   lasso  4.702 0.737    0.31
3  forest  3.384 0.864   12.80
4     xgb  3.197 0.879    5.15
"""
DATAFRAME = """\
4×4 DataFrame
 Row │ solver   iters  residual   time_s
     │ String   Int64  Float64    Float64
─────┼───────────────────────────────────
   1 │ jacobi    2841  9.98e-7      4.120
   2 │ gs        1432  9.95e-7      2.310
   3 │ sor        187  9.71e-7      0.320
   4 │ cg          94  8.02e-7      0.110
"""
LIGHTNING = """\
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃        Test metric        ┃       DataLoader 0        ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━━━━┩
│         test_acc          │    0.9312000274658203     │
│         test_ece          │    0.04170000180602074    │
│         test_loss         │    0.24530000984668732    │
└───────────────────────────┴───────────────────────────┘
"""
FAIRSEQ = """\
2024-02-01 08:00:01 | INFO | valid | epoch 001 | loss 6.912 | nll_loss 5.480 | ppl 44.63 | bleu 8.91
2024-02-01 09:12:45 | INFO | valid | epoch 002 | loss 5.604 | nll_loss 4.011 | ppl 16.12 | bleu 19.40
2024-02-01 10:25:19 | INFO | valid | epoch 003 | loss 5.233 | nll_loss 3.590 | ppl 12.04 | bleu 23.75
2024-02-01 10:40:02 | INFO | test  | BLEU4 = 24.31, beam 5
"""
COCO = """\
 Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.374
 Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 0.581
 Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ] = 0.404
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.212
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = 0.481
"""
HARNESS = """\
|    Tasks    |Version|Filter|n-shot| Metric |   |Value |   |Stderr|
|-------------|------:|------|-----:|--------|---|-----:|---|-----:|
|arc_challenge|      1|none  |    25|acc     |↑  |0.5068|±  |0.0146|
|             |       |none  |    25|acc_norm|↑  |0.5401|±  |0.0146|
|hellaswag    |      1|none  |    10|acc     |↑  |0.5870|±  |0.0049|
|             |       |none  |    10|acc_norm|↑  |0.7812|±  |0.0041|
|winogrande   |      1|none  |     5|acc     |↑  |0.7388|±  |0.0123|
"""
SQUAD = """\
{"base": {"exact": 76.31, "f1": 84.92, "total": 10570}, "large": {"exact": 83.87, "f1": 90.76, "total": 10570},
 "large+ensemble": {"exact": 85.10, "f1": 91.64, "total": 10570}}
"""
HYPERFINE = """\
Benchmark 1: ./sort_std
  Time (mean ± σ):     212.3 ms ±   4.1 ms    [User: 205.0 ms, System: 6.8 ms]
  Range (min … max):   207.1 ms … 223.5 ms    14 runs
Benchmark 2: ./sort_radix
  Time (mean ± σ):      48.6 ms ±   1.9 ms    [User: 41.3 ms, System: 7.0 ms]
  Range (min … max):    46.0 ms …  53.2 ms    61 runs
Summary
  ./sort_radix ran 4.37 ± 0.19 times faster than ./sort_std
"""
COUNTERS = """\
 Performance counter stats for './blocked':
     1,284,903,112      instructions
       402,118,905      cycles
         3,020,114      cache-misses
 Performance counter stats for './naive':
     1,301,555,870      instructions
     1,877,402,316      cycles
        61,907,423      cache-misses
"""
RESULT = """\
RESULT: method=kmeans++ dataset=mnist k=10 inertia_mean=39.41 inertia_std=0.05 nmi_mean=0.497 nmi_std=0.008 n=10
RESULT: method=random dataset=mnist k=10 inertia_mean=39.88 inertia_std=0.31 nmi_mean=0.472 nmi_std=0.021 n=10
RESULT: method=kmeans++ dataset=usps k=10 inertia_mean=27.02 inertia_std=0.04 nmi_mean=0.613 nmi_std=0.006 n=10
RESULT: method=random dataset=usps k=10 inertia_mean=27.36 inertia_std=0.22 nmi_mean=0.590 nmi_std=0.019 n=10
"""
GLUE = """\
| Model   | CoLA | SST-2 | MRPC | STS-B | Avg  |
|---------|------|-------|------|-------|------|
| full FT | 63.6 | 94.8  | 90.2 | 91.2  | 84.95 |
| LoRA    | 63.4 | 95.1  | 89.7 | 91.5  | 84.93 |
| BitFit  | 59.8 | 93.7  | 90.7 | 90.8  | 83.75 |
| prompt  | 41.2 | 90.6  | 74.5 | 83.9  | 72.55 |
"""
ELECTRIC = """\
model,h=24,h=96,h=336
dlinear,0.140,0.153,0.169
patchtst,0.129,0.147,0.163
naive,0.312,0.415,0.587
"""
LOGISTIC = """\
Logistic regression                             Number of obs     =        189
                                                LR chi2(3)        =      22.54
                                                Prob > chi2       =     0.0001
Log likelihood = -106.06                        Pseudo R2         =     0.0960
------------------------------------------------------------------------------
         low | Odds ratio   Std. err.      z    P>|z|     [95% conf. interval]
-------------+----------------------------------------------------------------
       smoke |   2.912       1.121     2.78   0.005     1.369     6.194
         age |   0.958       0.034    -1.20   0.230     0.893     1.027
          ht |   4.412       2.910     2.25   0.024     1.211    16.074
"""
PROMPTING = """\
{"setting": "zero-shot", "model": "7b", "acc": 0.412, "tokens": 61}
{"setting": "few-shot", "model": "7b", "acc": 0.498, "tokens": 803}
{"setting": "zero-shot", "model": "70b", "acc": 0.634, "tokens": 58}
{"setting": "few-shot", "model": "70b", "acc": 0.701, "tokens": 798}
"""
POWER = """\
Simulated power (alpha=0.05, 2000 replications)
n per group   t-test   wilcoxon   permutation
10            0.184    0.169      0.181
30            0.478    0.461      0.476
100           0.941    0.932      0.940
"""
ATTENTION = """\
seq_len=1024  | naive: 3.21 ms, 1.12 GB | flash: 1.04 ms, 0.21 GB
seq_len=4096  | naive: 47.90 ms, 16.40 GB | flash: 11.85 ms, 0.83 GB
seq_len=16384 | naive: OOM | flash: 182.3 ms, 3.31 GB
"""
IMBALANCE = """\
class weights: none
  minority recall 0.412  majority recall 0.981  balanced acc 0.697
class weights: balanced
  minority recall 0.733  majority recall 0.902  balanced acc 0.818
class weights: focal
  minority recall 0.698  majority recall 0.935  balanced acc 0.817
"""
AUGMENT = """\
aug        seed0   seed1   seed2   mean    std
none       88.12   87.90   88.31   88.11   0.17
cutout     89.05   89.41   89.20   89.22   0.15
mixup      90.17   89.88   90.30   90.12   0.18
"""
SPECTRA = """\
Best fit parameters:
  T_eff  = 5772 +/- 35 K
  log_g  = 4.43 +/- 0.06
  [Fe/H] = -0.02 +/- 0.04
chi2/dof = 1.08 (dof = 412)
"""
ROUTES = """\
instance  n    greedy   2opt    lkh      gap_2opt
kroA100   100  26947    22184   21282    4.24%
pr299     299  59882    50931   48191    5.69%
d1291     1291 60214    54120   50801    6.53%
"""

TENTH = (
    Case("quadratic", {"stdout": QUADRATIC},
         "From x=5, Adam with lr=1.0 first reaches x=1.202 (loss 0.041) at iteration 4, overshoots to -0.809 at iteration 9 and is "
         "at x=1.973 (loss 0.946) at iteration 20. SGD with lr=0.1 is monotone: x=1.0461, loss 2.1e-3 after 20 iterations.",
         {"1.202": G, "0.041": G, "-0.809": G, "1.973": G, "0.946": G, "1.0461": G, "2.1e-3": G}),
    Case("quadratic: wrong", {"stdout": QUADRATIC},
         "SGD with lr=0.1 is at x=1.973 after 20 iterations. At iteration 9 Adam has a loss of 0.288. SGD reaches a loss of 2.1e-2.",
         {"1.973": C, "0.288": C, "2.1e-2": C}),
    Case("hands", {"stdout": HANDS},
         "On the benchmark the solver solved and verified 98/98 puzzles (mean 623, median 367, max 5305 expressions tried). On every "
         "hand from 1..10 it solves 566/715 and from 1..13 1362/1820, with 0 disagreements.",
         {"98/98": G, "623": G, "367": G, "5305": G, "566/715": G, "1362/1820": G}),
    Case("hands: wrong", {"stdout": HANDS},
         "On the benchmark 89/98 puzzles are solved, with a median of 623 expressions tried. From 1..10 it solves 1362 hands.",
         {"89/98": C, "623": C, "1362": C}),
    Case("pairs", {"stdout": PAIRS},
         "Our model wins 61 % of the comparisons against SFT (25 % losses) and 47 % against DPO; DPO itself beats SFT in 52 % of "
         "the prompts.",
         {"61 %": G, "25 %": G, "47 %": G, "52 %": G}),
    Case("pairs: wrong", {"stdout": PAIRS},
         "Ours wins 61 % of the comparisons against DPO. DPO loses 25 % against SFT.",
         {"61 %": C, "25 %": C}),
    Case("ranks", {"scaling.txt": MPI},
         "The run time falls from 482 s on one rank to 16.0 s on 64 ranks, a speedup of 30.1 at an efficiency of 47 %. Up to 4 ranks "
         "scaling is nearly ideal (95 %).",
         {"482 s": G, "16.0 s": G, "30.1": G, "47 %": G, "95 %": G}),
    Case("ranks: wrong", {"scaling.txt": MPI},
         "On 16 ranks the efficiency is 95 %. With 64 ranks the speedup is 12.55. Efficiency increases with the number of ranks.",
         {"95 %": C, "12.55": C, "Efficiency increases": C}),
    Case("detector", {"stdout": DETECTOR},
         "At a threshold of 0.5 the detector has a precision of 91.8 % and a recall of 87.7 % (F1 0.897) with 37 false positives. "
         "Raising the threshold to 0.8 improves precision to 96.9 % but costs 8.7 points of recall (78.9 %).",
         {"91.8 %": G, "87.7 %": G, "0.897": G, "96.9 %": G, "8.7 points": G, "78.9 %": G}),
    Case("detector: wrong", {"stdout": DETECTOR},
         "At a threshold of 0.8 the recall is 87.7 %. At a threshold of 0.5 the F1 is 0.870. There are 99 false positives at 0.8.",
         {"87.7 %": C, "0.870": C}),
    Case("summary", {"stdout": WANDB},
         "After 40 epochs the model has a validation accuracy of 88.7 % and a test accuracy of 87.9 %; the losses are 0.212 (train) "
         "and 0.391 (validation).",
         {"88.7 %": G, "87.9 %": G, "0.212": G, "0.391": G}),
    Case("summary: wrong", {"stdout": WANDB},
         "The test accuracy is 88.7 %. The training loss is 0.391. Test accuracy is higher than validation accuracy.",
         {"88.7 %": C, "0.391": C}),
    Case("sections", {"scores.ini": INI},
         "The pointer network improves ROUGE-1 by 1.3 points (39.5 vs. 38.2), ROUGE-2 to 17.28 (from 16.04), and ROUGE-L to 36.4.",
         {"1.3 points": G, "39.5": G, "38.2": G, "17.28": G, "16.04": G, "36.4": G}),
    Case("sections: wrong", {"scores.ini": INI},
         "The baseline has a ROUGE-2 of 17.28. The pointer network has a ROUGE-L of 35.1. The baseline outperforms the pointer "
         "network in ROUGE-1.",
         {"17.28": C, "35.1": C}),
    Case("welch", {"stdout": TTEST},
         "The difference between the groups (means 0.75 and 2.33) is not significant at the 5 % level (Welch's t = -1.86, p = 0.079).",
         {"0.75": G, "2.33": G, "not significant": G, "-1.86": G, "p = 0.079": G}),
    Case("welch: wrong", {"stdout": TTEST},
         "The groups differ significantly (p = 0.0079). The mean of group 1 is 2.33.",
         {"p = 0.0079": C, "2.33": C, "differ significantly": C}),
    Case("frame", {"stdout": FRAME},
         "XGBoost (xgb) is the most accurate with an RMSE of 3.20 and R² = 0.88; the random forest follows (3.38, R² = 0.86) but needs "
         "12.8 s. The linear model is worst (RMSE 4.92).",
         {"3.20": G, "0.88;": G, "3.38": G, "0.86": G, "12.8 s": G, "4.92": G}),
    Case("frame: wrong", {"stdout": FRAME},
         "The lasso has an RMSE of 3.38. The forest has an R² of 0.88. The linear model (lm) has a lower RMSE than the lasso.",
         {"3.38": C, "0.88": C, "linear model (lm) has a lower RMSE": C}),
    Case("solvers", {"stdout": DATAFRAME},
         "CG needs only 94 iterations (0.11 s), SOR 187, Gauss-Seidel (gs) 1432 and Jacobi 2841, 30 times as many as CG.",
         {"94 iterations": G, "187": G, "1432": G, "2841": G, "30 times": G}),
    Case("solvers: wrong", {"stdout": DATAFRAME},
         "SOR needs 94 iterations. Jacobi converges in 1432 iterations. Gauss-Seidel (gs) needs fewer iterations than SOR.",
         {"94 iterations": C, "1432": C}),
    Case("lightning", {"stdout": LIGHTNING},
         "Test accuracy: 93.1 %. Calibration is good (ECE 0.042); test loss 0.245.",
         {"93.1 %": G, "0.042": G, "0.245": G}),
    Case("lightning: wrong", {"stdout": LIGHTNING},
         "The test accuracy is 91.3 %, the ECE 0.245 and the test loss 0.042.",
         {"91.3 %": C, "0.245": C, "0.042": C}),
    Case("translation", {"train.log": FAIRSEQ},
         "BLEU on the validation set rises from 8.9 after the first epoch to 23.8 after the third, while perplexity falls from 44.6 to "
         "12.0. The final test BLEU is 24.3.",
         {"8.9": G, "23.8": G, "44.6": G, "12.0": G, "24.3": G}),
    Case("translation: wrong", {"train.log": FAIRSEQ},
         "After epoch 2 the validation BLEU is 23.75. The perplexity after epoch 3 is 16.1. Test BLEU is 42.3.",
         {"23.75": C, "16.1": C, "42.3": C}),
    Case("detection", {"stdout": COCO},
         "The detector obtains 37.4 AP (AP50 58.1, AP75 40.4). Small objects remain difficult: AP is 21.2 for small and 48.1 for large "
         "objects.",
         {"37.4": G, "58.1": G, "40.4": G, "21.2": G, "48.1": G}),
    Case("detection: wrong", {"stdout": COCO},
         "AP for small objects is 48.1. AP75 is 58.1.",
         {"48.1": C, "58.1": C}),
    Case("harness", {"results.md": HARNESS},
         "The model scores 54.0 % normalised accuracy on ARC-Challenge (25-shot), 78.1 % on HellaSwag and 73.9 ± 1.2 % on WinoGrande.",
         {"54.0 %": G, "78.1 %": G, "73.9 ± 1.2 %": G}),
    Case("harness: wrong", {"results.md": HARNESS},
         "Accuracy on WinoGrande is 78.1 %. On HellaSwag the accuracy is 50.7 %.",
         {"78.1 %": C, "50.7 %": C}),
    Case("squad", {"eval.json": SQUAD},
         "The large model reaches 83.9 EM / 90.8 F1, i.e. 5.8 F1 points above base (84.9). Ensembling adds another 1.2 points of exact "
         "match (85.1).",
         {"83.9": G, "90.8": G, "5.8 F1 points": G, "84.9": G, "1.2 points": G, "85.1": G}),
    Case("squad: wrong", {"eval.json": SQUAD},
         "The base model has an F1 of 83.9. The ensemble has an exact match of 91.6. Base outperforms large in F1.",
         {"83.9": C, "91.6": C, "Base outperforms large": C}),
    Case("sorting", {"stdout": HYPERFINE},
         "Radix sort takes 48.6 ± 1.9 ms and std::sort 212.3 ± 4.1 ms, so radix sort is about 4.4 times faster.",
         {"48.6 ± 1.9": G, "212.3 ± 4.1": G, "4.4 times": G}),
    Case("sorting: wrong", {"stdout": HYPERFINE},
         "std::sort (sort_std) takes 48.6 ms. Radix sort is 7.3 times faster.",
         {"48.6": C, "7.3 times": C}),
    Case("counters", {"perf.txt": COUNTERS},
         "Blocking reduces the cycles from 1.88 billion to 0.40 billion, a factor of 4.7, at nearly the same number of instructions "
         "(1.28 against 1.30 billion), because cache misses drop from 61.9 million to 3.0 million.",
         {"1.88 billion": G, "0.40 billion": G, "4.7": G, "61.9 million": G, "3.0 million": G}),
    Case("counters: wrong", {"perf.txt": COUNTERS},
         "The blocked version has 61.9 million cache misses. The naive version needs 0.40 billion cycles.",
         {"61.9 million": C, "0.40 billion": C}),
    Case("initialisation", {"stdout": RESULT},
         "On MNIST k-means++ has an inertia of 39.41 ± 0.05 (random: 39.88 ± 0.31) and an NMI of 0.497 vs. 0.472. On USPS the NMI "
         "improves from 0.590 to 0.613.",
         {"39.41 ± 0.05": G, "39.88 ± 0.31": G, "0.497": G, "0.472": G, "0.590": G, "0.613": G}),
    Case("initialisation: wrong", {"stdout": RESULT},
         "On USPS random initialisation has an NMI of 0.613. On MNIST kmeans++ has an inertia of 27.02. On MNIST random initialisation "
         "has a lower inertia than kmeans++.",
         {"0.613": C, "27.02": C, "random initialisation has a lower inertia": C}),
    Case("adapters", {"glue.md": GLUE},
         "### Results\n\nLoRA matches full fine-tuning on average (84.93 vs. 84.95) and is even better on SST-2 (95.1 vs. 94.8). BitFit "
         "loses 1.2 points on average, mainly on CoLA (59.8 vs. 63.6), and prompt tuning is far behind (72.6).",
         {"84.93": G, "84.95": G, "95.1": G, "94.8": G, "1.2 points": G, "59.8": G, "63.6": G, "72.6": G}),
    Case("adapters: wrong", {"glue.md": GLUE},
         "| Model | CoLA | MRPC |\n|---|---|---|\n| LoRA | 63.4 | 90.7 |\n| BitFit | 59.8 | 89.7 |\n\nLoRA beats BitFit on MRPC.",
         {"63.4": G, "90.7": C, "59.8": G, "89.7": C, "LoRA beats BitFit": C}),
    Case("forecasts", {"mse.csv": ELECTRIC},
         "PatchTST has the lowest MSE at all horizons (0.129, 0.147 and 0.163 for h = 24, 96 and 336), 3.6 % below DLinear at h = 336 "
         "(0.169). The naive forecast deteriorates from 0.312 to 0.587.",
         {"0.129": G, "0.147": G, "0.163": G, "3.6 %": G, "0.169": G, "0.312": G, "0.587": G}),
    Case("forecasts: wrong", {"mse.csv": ELECTRIC},
         "At h = 96 DLinear has an MSE of 0.147. PatchTST has an MSE of 0.129 at h = 336. DLinear is better than PatchTST at h = 24.",
         {"0.147": C, "0.129": C, "DLinear is better than PatchTST": C}),
    Case("odds", {"stdout": LOGISTIC},
         "Smoking raises the odds of low birth weight (smoke: OR 2.91, 95 % CI 1.37-6.19, p = 0.005); hypertension (ht) has an odds ratio "
         "of 4.41 (p = 0.024), while age has no significant effect (p = 0.23). Pseudo R² is 0.096.",
         {"2.91": G, "1.37": G, "6.19": G, "p = 0.005": G, "4.41": G, "p = 0.024": G, "p = 0.23": G, "0.096": G}),
    Case("odds: wrong", {"stdout": LOGISTIC},
         "Age has an odds ratio of 2.91. The p-value of ht is 0.005. The log likelihood is -160.06.",
         {"2.91": C, "0.005": C, "-160.06": C}),
    Case("prompting", {"results.jsonl": PROMPTING},
         "Few-shot prompting helps both models: the 7B model goes from 41.2 % to 49.8 % (+8.6 points) and the 70B model from 63.4 % to "
         "70.1 %, at about 13 times the tokens (803 instead of 61 for 7B).",
         {"41.2 %": G, "49.8 %": G, "+8.6 points": G, "63.4 %": G, "70.1 %": G, "13 times": G, "803": G}),
    Case("prompting: wrong", {"results.jsonl": PROMPTING},
         "The 7B model reaches 63.4 % zero-shot. Few-shot prompting with the 70B model gives 49.8 %. The 7B model is better than the 70B "
         "model.",
         {"63.4 %": C, "49.8 %": C}),
    Case("power", {"stdout": POWER},
         "With n = 30 per group the power is 0.478 for the t-test, 0.461 for Wilcoxon and 0.476 for the permutation test; with n = 100 all "
         "exceed 0.93 (0.941 for the t-test).",
         {"0.478": G, "0.461": G, "0.476": G, "0.941": G}),
    Case("power: wrong", {"stdout": POWER},
         "With n = 10 the t-test has a power of 0.478. The Wilcoxon test is more powerful than the t-test at n = 100. With n = 100 the "
         "permutation test has a power of 0.461.",
         {"0.478": C, "Wilcoxon test is more powerful": C, "0.461": C}),
    Case("attention", {"stdout": ATTENTION},
         "At a sequence length of 4096 flash attention takes 11.9 ms and 0.83 GB, against 47.9 ms and 16.4 GB for the naive version, i.e. "
         "it is 4.0x faster with 20x less memory. At 16384 only flash fits (182 ms, 3.31 GB).",
         {"11.9 ms": G, "0.83 GB": G, "47.9 ms": G, "16.4 GB": G, "4.0x": G, "20x": G, "182 ms": G, "3.31 GB": G}),
    Case("attention: wrong", {"stdout": ATTENTION},
         "At 1024 tokens flash attention uses 1.12 GB. At seq_len 4096 the naive version needs 0.83 GB. Flash is 9.1x faster than naive at "
         "seq_len 1024.",
         {"1.12": C, "0.83": C, "9.1x": C}),
    Case("imbalance", {"stdout": IMBALANCE},
         "Balanced class weights raise minority recall from 41.2 % to 73.3 % and balanced accuracy from 69.7 % to 81.8 %, at the cost of "
         "majority recall (98.1 % to 90.2 %). Focal weighting reaches 69.8 % minority recall.",
         {"41.2 %": G, "73.3 %": G, "69.7 %": G, "81.8 %": G, "98.1 %": G, "90.2 %": G, "69.8 %": G}),
    Case("imbalance: wrong", {"stdout": IMBALANCE},
         "With focal weights minority recall is 73.3 %. Without class weights the balanced accuracy is 81.8 %. With balanced weights the "
         "majority recall is 93.5 %.",
         {"73.3 %": C, "81.8 %": C, "93.5 %": C}),
    Case("augmentation", {"stdout": AUGMENT},
         "Mixup is best (90.12 ± 0.18), followed by cutout (89.22 ± 0.15) and no augmentation (88.11 ± 0.17). The order is the same for "
         "all three seeds. On seed 1 mixup has 89.88.",
         {"90.12 ± 0.18": G, "89.22 ± 0.15": G, "88.11 ± 0.17": G, "89.88": G}),
    Case("augmentation: wrong", {"stdout": AUGMENT},
         "Cutout reaches 90.12 on average. Mixup has a standard deviation of 0.15. With seed 2 cutout reaches 89.41. Cutout beats mixup on "
         "all seeds.",
         {"90.12": C, "0.15": C, "89.41": C, "Cutout beats mixup": C}),
    Case("spectra", {"fit.txt": SPECTRA},
         "We find an effective temperature of 5772 ± 35 K, log g = 4.43 ± 0.06 and [Fe/H] = -0.02 ± 0.04 with a reduced chi-squared of "
         "1.08.",
         {"5772 ± 35": G, "4.43 ± 0.06": G, "1.08": G}),
    Case("spectra: wrong", {"fit.txt": SPECTRA},
         "The effective temperature is 5277 ± 35 K. log g is 4.34 ± 0.06. The reduced chi-squared is 1.80.",
         {"5277 ± 35": C, "4.34 ± 0.06": C, "1.80": C}),
    Case("routes", {"stdout": ROUTES},
         "2-opt tours are 4.2 % (kroA100), 5.7 % (pr299) and 6.5 % (d1291) longer than LKH's. On kroA100 the greedy tour has length 26947, "
         "27 % more than LKH (21282).",
         {"4.2 %": G, "5.7 %": G, "6.5 %": G, "26947": G, "27 %": G, "21282": G}),
    Case("routes: wrong", {"stdout": ROUTES},
         "On pr299 the 2-opt tour has length 48191. The gap of 2-opt on d1291 is 4.2 %. On kroA100 greedy is shorter than 2-opt.",
         {"48191": C, "4.2 %": C}),
    Case("routes: never measured", {"stdout": ROUTES},
         "With simulated annealing the gap shrinks to 2.9 % after 14.5 minutes.",
         {"2.9 %": N, "14.5 minutes": N}),
    Case("mocked", {"out/metrics.json": '{"f1": 0.8731, "auc": 0.9417}\n', "stdout": "done\n"},
         "The classifier has an F1 of 0.873 and an AUC of 0.942.",
         {"0.873": N, "0.942": N},
         code='import json\nm = {"f1": 0.8731, "auc": 0.9417}\njson.dump(m, open("out/metrics.json", "w"))\nprint("done")\n'),
)  # fmt: skip
