"""A fifth batch: other domains and other shapes of outputs, labelled before they were looked up.

At first sight 81 of 84 claims called grounded were, and 81 of 100 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

RETURNS = """\
[cartpole] algo=dqn seed=0 mean_return=182.4 std=31.0 steps=50000
[cartpole] algo=dqn seed=1 mean_return=171.9 std=28.7 steps=50000
[cartpole] algo=dqn seed=2 mean_return=190.2 std=25.1 steps=50000
[cartpole] algo=ppo seed=0 mean_return=497.3 std=4.8 steps=50000
[cartpole] algo=ppo seed=1 mean_return=488.6 std=9.9 steps=50000
[cartpole] algo=ppo seed=2 mean_return=500.0 std=0.0 steps=50000
[acrobot] algo=dqn seed=0 mean_return=-121.7 std=40.2 steps=50000
[acrobot] algo=ppo seed=0 mean_return=-84.3 std=12.6 steps=50000
"""
REPORT = """\
              precision    recall  f1-score   support

        spam       0.91      0.84      0.87       312
         ham       0.95      0.97      0.96       988

    accuracy                           0.94      1300
   macro avg       0.93      0.91      0.92      1300
weighted avg       0.94      0.94      0.94      1300
"""
CONFUSION = """\
Confusion matrix (rows: true, columns: predicted)
            cat   dog  bird
cat         141     7     2
dog          11   128    11
bird          3     9   138
overall accuracy: 407/450
"""
FOLDS = "fold,model,rmse,r2\n" + "".join(
    f"{k},{m},{r},{q}\n"
    for k, m, r, q in (
        (1, "ridge", 3.412, 0.701), (1, "gbm", 2.874, 0.788),
        (2, "ridge", 3.655, 0.668), (2, "gbm", 3.011, 0.775),
        (3, "ridge", 3.298, 0.723), (3, "gbm", 2.755, 0.806),
        (4, "ridge", 3.501, 0.690), (4, "gbm", 2.940, 0.781),
    )
)  # fmt: skip
GRID = """\
{"search": [
  {"C": 0.1, "kernel": "linear", "cv_accuracy": 0.8733},
  {"C": 0.1, "kernel": "rbf", "cv_accuracy": 0.8517},
  {"C": 1.0, "kernel": "linear", "cv_accuracy": 0.8850},
  {"C": 1.0, "kernel": "rbf", "cv_accuracy": 0.9083},
  {"C": 10.0, "kernel": "linear", "cv_accuracy": 0.8817},
  {"C": 10.0, "kernel": "rbf", "cv_accuracy": 0.9217}],
 "best": {"C": 10.0, "kernel": "rbf", "cv_accuracy": 0.9217, "test_accuracy": 0.9133}}
"""
ABLATION = """\
| Variant             | BLEU | chrF | params (M) |
|---------------------|------|------|------------|
| full model          | 27.9 | 55.1 | 61.3       |
| - copy mechanism    | 26.4 | 53.8 | 60.8       |
| - label smoothing   | 27.2 | 54.6 | 61.3       |
| - shared embeddings | 27.7 | 54.9 | 78.5       |
"""
LATEX = r"""
\begin{tabular}{lrrr}
\toprule
Method & MNLI & QQP & SST-2 \\
\midrule
BERT-base & 84.3 & 90.9 & 92.7 \\
Distilled (6 layers) & 81.5 & 89.8 & 91.2 \\
Pruned 50\% & 80.1 & 89.1 & 90.4 \\
\bottomrule
\end{tabular}
"""
TIMING = """\
INFO:bench:warmup done
INFO:bench:backend=numpy n=1024 median=4.812 ms p95=5.377 ms
INFO:bench:backend=numba n=1024 median=1.203 ms p95=1.522 ms
INFO:bench:backend=numpy n=4096 median=80.54 ms p95=86.10 ms
INFO:bench:backend=numba n=4096 median=17.85 ms p95=19.04 ms
INFO:bench:speedup n=1024: 4.00x
INFO:bench:speedup n=4096: 4.51x
"""
TQDM = (
    "Training:   0%|          | 0/3 [00:00<?, ?it/s]\r"
    "Training:  33%|###3      | 1/3 [00:02<00:04,  2.10s/it, loss=1.204]\r"
    "Training: 100%|##########| 3/3 [00:06<00:00,  2.07s/it, loss=0.618]\n"
    "eval/accuracy: 0.7815\neval/f1_macro: 0.7402\neval/f1_micro: 0.7815\n"
)
TTEST = """\
Welch's t-test, method A vs method B
  mean A = 0.7421 (sd 0.0118, n = 20)
  mean B = 0.7335 (sd 0.0131, n = 20)
  difference = 0.0086, 95% CI [0.0006, 0.0166]
  t = 2.181, df = 37.6, p = 0.0355
Wilcoxon signed-rank, method A vs method C: W = 88.0, p = 0.2774
"""
PANDAS = """\
                 reward               length
                   mean       std       mean       std
env    policy
hopper random     18.20      6.51      21.30      7.90
       sac      3102.44    188.02     998.10      5.20
walker random      1.95      3.40      20.10      6.60
       sac      4410.87    240.91    1000.00      0.00
"""
DESCRIBE = """\
       latency_ms  throughput
count     500.000     500.000
mean       12.418     805.112
std         3.077      41.880
min         6.902     690.400
50%        11.965     806.950
95%        18.220     868.300
max        31.744     911.700
"""
NESTED = """\
{
  "dataset": "reviews",
  "models": {
    "lstm": {"dev": {"accuracy": 0.8412, "loss": 0.3811}, "test": {"accuracy": 0.8297, "loss": 0.4025}},
    "cnn": {"dev": {"accuracy": 0.8533, "loss": 0.3610}, "test": {"accuracy": 0.8461, "loss": 0.3742}}
  },
  "epochs": {"lstm": 12, "cnn": 7}
}
"""
YAML = """\
experiment: federated
rounds: 100
results:
  fedavg:
    iid: {accuracy: 0.887, bytes: 41234432}
    non_iid: {accuracy: 0.731, bytes: 41234432}
  fedprox:
    iid: {accuracy: 0.884, bytes: 41234432}
    non_iid: {accuracy: 0.769, bytes: 41234432}
"""
SURVIVAL = """\
Cox model, 1,204 patients, 388 events
covariate     HR     lower   upper   p
age           1.031  1.018   1.044   <0.001
treatment     0.742  0.601   0.916   0.006
sex           1.093  0.889   1.344   0.397
C-index: 0.684 (train) 0.671 (test)
"""
CURVE = "step,train_loss,val_loss,lr\n" + "".join(
    f"{s},{a},{b},{r}\n"
    for s, a, b, r in (
        (500, 2.914, 2.871, "3e-4"), (1000, 2.402, 2.466, "3e-4"), (1500, 2.118, 2.290, "3e-4"),
        (2000, 1.897, 2.241, "1e-4"), (2500, 1.733, 2.259, "1e-4"), (3000, 1.612, 2.307, "1e-4"),
    )
)  # fmt: skip
PRUNE = """\
sparsity 0%: top-1 76.13
sparsity 50%: top-1 75.80
sparsity 80%: top-1 74.02
sparsity 90%: top-1 70.64
sparsity 95%: top-1 62.17
FLOPs at 90%: 0.58 G (dense 4.11 G)
"""
CALLS = """\
solver      solved  median_calls  timeouts
dfs             61          1820        39
astar           88           412        12
beam_k10        83           377        17
(100 instances)
"""

FIFTH = (
    Case("returns: means over seeds", {"stdout": RETURNS},
         "On CartPole PPO averages 495.3 over the three seeds, DQN only 181.5. The best DQN seed reaches 190.2, the worst "
         "171.9; one PPO seed attains the maximum of 500.0. On Acrobot PPO gets -84.3 and DQN -121.7.",
         {"495.3": G, "181.5": G, "190.2": G, "171.9": G, "500.0": G, "-84.3": G, "-121.7": G}),
    Case("returns: relations", {"stdout": RETURNS},
         "PPO beats DQN on both environments. On Acrobot the gap is 37.4.",
         {"PPO beats DQN": G, "37.4": G}),
    Case("returns: exchanged", {"stdout": RETURNS},
         "On Acrobot DQN reaches -84.3. On CartPole PPO with seed 1 reaches 497.3.",
         {"-84.3": C, "497.3": C}),
    Case("report", {"stdout": REPORT},
         "The classifier reaches 94 % accuracy on 1300 messages. Spam is found with a precision of 0.91 and a recall of 0.84 "
         "(F1 0.87); for ham recall is 0.97. Macro F1 is 0.92.",
         {"94 %": G, "0.91": G, "0.84": G, "0.87": G, "0.97": G, "0.92": G}),
    Case("report: wrong class", {"stdout": REPORT},
         "Recall is higher for spam than for ham. The precision of ham is 0.91.",
         {"Recall is higher for spam": C, "0.91": C}),
    Case("confusion", {"stdout": CONFUSION},
         "407 of 450 images are classified correctly, an accuracy of 90.4 %. Birds are recognised in 138 of 150 cases "
         "(92 %); the most common mistake is a dog taken for a cat (11).",
         {"407 of 450": G, "90.4 %": G, "92 %": G}),
    Case("confusion: count", {"stdout": CONFUSION},
         "Cats are confused with dogs 7 times, with birds 2 times. 141 cats are recognised.",
         {"141 cats": G}),
    Case("folds: aggregates", {"cv.csv": FOLDS},
         "Averaged over the four folds, gradient boosting (gbm) has an RMSE of 2.895 and ridge one of 3.467. The largest "
         "RMSE of ridge, 3.655, occurs in fold 2. In fold 3 gbm reaches an R2 of 0.806.",
         {"2.895": G, "3.467": G, "3.655": G, "0.806": G}),
    Case("folds: every fold", {"cv.csv": FOLDS},
         "Gbm has a lower RMSE than ridge in every fold, i.e. in 4 of 4. On average its RMSE is 16 % lower.",
         {"Gbm has a lower RMSE than ridge": G, "4 of 4": G, "16 %": G}),
    Case("folds: wrong fold", {"cv.csv": FOLDS},
         "In fold 1 gbm reaches an RMSE of 2.755. The mean R2 of ridge is 0.788.",
         {"2.755": C, "0.788": C}),
    Case("grid: best", {"search.json": GRID},
         "The best configuration is an RBF kernel with C = 10, with a cross-validated accuracy of 92.2 % and a test accuracy "
         "of 91.3 %. With the linear kernel accuracy peaks at C = 1 (88.5 %). At C = 0.1 the RBF kernel has 85.2 %, the "
         "linear one 87.3 %.",
         {"92.2 %": G, "91.3 %": G, "88.5 %": G, "85.2 %": G, "87.3 %": G}),
    Case("grid: trend", {"search.json": GRID},
         "For the RBF kernel accuracy increases with C, from 0.852 to 0.922. At C = 10 RBF leads by 4.0 points.",
         {"accuracy increases with C": G, "0.852": G, "0.922": G, "4.0 points": G}),
    Case("grid: wrong", {"search.json": GRID},
         "At C = 1 the linear kernel is better than RBF. The best test accuracy is 92.17 %.",
         {"linear kernel is better than RBF": C, "92.17 %": C}),
    Case("ablation", {"table.md": ABLATION},
         "Removing the copy mechanism costs 1.5 BLEU (27.9 to 26.4) and 1.3 chrF; label smoothing is worth 0.7 BLEU. Without "
         "shared embeddings the model has 78.5 M parameters instead of 61.3 M and loses only 0.2 BLEU.",
         {"1.5 BLEU": G, "27.9": G, "26.4": G, "1.3 chrF": G, "0.7 BLEU": G, "78.5": G, "61.3": G, "0.2 BLEU": G}),
    Case("ablation: wrong", {"table.md": ABLATION},
         "Without label smoothing BLEU drops to 26.4. The copy mechanism has the smallest effect on BLEU.",
         {"26.4": C}),
    Case("latex", {"results.tex": LATEX},
         "The distilled model keeps 96.7 % of BERT-base's MNLI accuracy (81.5 against 84.3). On SST-2 it reaches 91.2, the "
         "pruned one 90.4. Pruning costs 1.8 points on QQP.",
         {"96.7 %": G, "81.5": G, "84.3": G, "91.2": G, "90.4": G, "1.8 points": G}),
    Case("latex: wrong", {"results.tex": LATEX},
         "On QQP the pruned model reaches 89.8. BERT-base has an accuracy of 84.3 on SST-2.",
         {"89.8": C, "84.3": C}),
    Case("timing", {"stderr": TIMING},
         "Numba is 4.5 times as fast as NumPy for n = 4096 and exactly 4 times for n = 1024.",
         {"4.5 times": G}),
    Case("tqdm", {"stderr": TQDM.split("eval", maxsplit=1)[0], "stdout": "eval" + TQDM.split("eval", maxsplit=1)[1]},
         "The final training loss is 0.618. On the evaluation set accuracy is 78.2 %, macro F1 74.0 %.",
         {"0.618": G, "78.2 %": G, "74.0 %": G}),
    Case("t-test", {"stdout": TTEST},
         "Method A is significantly better than B (0.742 ± 0.012 against 0.734 ± 0.013, Welch's t-test, p = 0.036); the mean "
         "difference is 0.0086 with a 95 % confidence interval of [0.0006, 0.0166]. The difference to C is not significant "
         "(p = 0.28).",
         {"0.742 ± 0.012": G, "0.734 ± 0.013": G, "p = 0.036": G, "0.0086": G, "p = 0.28": G}),
    Case("t-test: wrong", {"stdout": TTEST},
         "A is significantly better than C (p = 0.0355).", {"A is significantly better than C": C}),
    Case("pandas: levels", {"stdout": PANDAS},
         "SAC obtains a mean reward of 3102 on Hopper and 4411 on Walker; the random policy gets 18.2 and 1.95. Hopper "
         "episodes under SAC last 998 steps on average, those of the random policy 21.3.",
         {"3102": G, "4411": G, "18.2": G, "1.95": G, "998": G, "21.3": G}),
    Case("pandas: wrong", {"stdout": PANDAS},
         "On Walker SAC has a mean reward of 3102.44. On Hopper the random policy gets a reward of 20.1.",
         {"3102.44": C, "20.1": C}),
    Case("describe", {"stdout": DESCRIBE},
         "The mean latency is 12.4 ms (standard deviation 3.1), the median 12.0 ms and the 95th percentile 18.2 ms. "
         "Throughput averages 805 requests/s and peaks at 912.",
         {"805": G, "912": G}),
    Case("nested", {"out/metrics.json": NESTED},
         "The CNN generalises better: its test accuracy is 84.6 % against 83.0 % for the LSTM. On the development set they "
         "have 85.3 % and 84.1 %. Its test loss is 0.374, the LSTM's 0.403.",
         {"84.6 %": G, "83.0 %": G, "85.3 %": G, "84.1 %": G, "0.374": G, "0.403": G}),
    Case("nested: wrong split", {"out/metrics.json": NESTED},
         "The LSTM has a test accuracy of 0.8412. The CNN has the higher test loss.",
         {"0.8412": C, "CNN has the higher test loss": C}),
    Case("yaml", {"results.yaml": YAML},
         "With IID clients FedAvg and FedProx are on par (88.7 % and 88.4 %). With non-IID clients FedProx is ahead: 76.9 % "
         "against 73.1 %, a gain of 3.8 points. FedAvg loses 15.6 points from IID to non-IID.",
         {"88.7 %": G, "88.4 %": G, "76.9 %": G, "73.1 %": G, "3.8 points": G, "15.6 points": G}),
    Case("yaml: wrong", {"results.yaml": YAML},
         "FedAvg is more accurate than FedProx with non-IID clients. With IID clients FedProx reaches 0.769.",
         {"0.769": C}),
    Case("survival", {"stdout": SURVIVAL},
         "Treatment lowers the hazard (HR 0.742, 95 % CI 0.601 to 0.916, p = 0.006), while sex has no significant effect "
         "(HR 1.093, p = 0.397). Each year of age multiplies the hazard by 1.031. The test C-index is 0.671.",
         {"0.742": G, "0.601": G, "0.916": G, "1.093": G, "1.031": G, "0.671": G}),
    Case("curve", {"curve.csv": CURVE},
         "Validation loss is lowest at step 2000 (2.241) and ends at 2.307, whereas the training loss falls monotonically "
         "from 2.914 to 1.612. At the end the gap between the two is 0.695.",
         {"2.241": G, "2.307": G, "2.914": G, "1.612": G, "0.695": G}),
    Case("curve: wrong end", {"curve.csv": CURVE},
         "The final validation loss is 2.241. At step 1000 the training loss is 2.466.",
         {"2.241": C, "2.466": C}),
    Case("pruning", {"stdout": PRUNE},
         "Up to 80 % sparsity top-1 accuracy falls by only 2.1 points (76.1 to 74.0 %); at 95 % it collapses to 62.2 %. At 90 "
         "% sparsity the network needs 7.1 times fewer FLOPs (0.58 instead of 4.11 G).",
         {"2.1 points": G, "76.1": G, "74.0 %": G, "62.2 %": G, "7.1 times": G}),
    Case("solvers", {"stdout": CALLS},
         "A* solves 88 of 100 instances, beam search (k = 10) 83 and depth-first search 61. Beam search needs the fewest "
         "calls (median 377), A* 412 and DFS 1820.",
         {"88 of 100": G, "83": G, "61": G, "377": G, "412": G, "1820": G}),
    Case("solvers: wrong", {"stdout": CALLS},
         "Beam search solves the most instances. DFS has 12 timeouts and a median of 377 calls.",
         {"Beam search solves the most": C, "377": C}),
    Case("never run", {"stdout": REPORT},
         "Its ROC AUC is 0.981 and the expected calibration error 0.023.",
         {"0.981": N, "0.023": N}),
)  # fmt: skip
