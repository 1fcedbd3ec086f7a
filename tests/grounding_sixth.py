"""A sixth batch: conclusions as agents write them, with lists, tables and bold names.

At first sight 105 of 112 claims called grounded were, and 105 of 112 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

VISION = """\
Namespace(arch='resnet18', epochs=30, lr=0.1, seed=1)
==> baseline
Epoch 10 | train loss 0.8123 | val loss 0.9011 | val acc 68.20
Epoch 20 | train loss 0.4110 | val loss 0.7764 | val acc 74.95
Epoch 30 | train loss 0.2034 | val loss 0.8420 | val acc 75.61
Best val acc: 75.83 (epoch 27)
Test acc: 75.12
==> mixup
Epoch 10 | train loss 1.2034 | val loss 0.9230 | val acc 67.44
Epoch 20 | train loss 0.9511 | val loss 0.7302 | val acc 76.03
Epoch 30 | train loss 0.7712 | val loss 0.6899 | val acc 78.27
Best val acc: 78.40 (epoch 29)
Test acc: 77.95
"""
RETRIEVAL = """\
run            nDCG@10   MRR     R@100
bm25           0.4218    0.3907  0.7312
dense          0.4695    0.4402  0.7988
hybrid         0.5034    0.4711  0.8420
hybrid+rerank  0.5587    0.5296  0.8420
paired t-test hybrid vs dense on nDCG@10: t=4.11 p=0.00006
paired t-test dense vs bm25 on nDCG@10: t=5.92 p=1.1e-08
"""
ANOMALY = """\
{"dataset": "power", "detector": "iforest", "auroc": 0.8127, "auprc": 0.3311, "fit_s": 1.92}
{"dataset": "power", "detector": "lof", "auroc": 0.7744, "auprc": 0.2908, "fit_s": 6.31}
{"dataset": "power", "detector": "ae", "auroc": 0.8539, "auprc": 0.4170, "fit_s": 48.20}
{"dataset": "web", "detector": "iforest", "auroc": 0.9012, "auprc": 0.5123, "fit_s": 2.25}
{"dataset": "web", "detector": "lof", "auroc": 0.8846, "auprc": 0.4719, "fit_s": 8.90}
{"dataset": "web", "detector": "ae", "auroc": 0.8953, "auprc": 0.5240, "fit_s": 55.70}
"""
PRIVACY = """\
epsilon,noise_multiplier,test_accuracy,membership_auc
0.5,2.41,0.6120,0.503
1,1.52,0.7015,0.511
2,1.04,0.7688,0.527
8,0.62,0.8297,0.561
inf,0,0.8841,0.648
"""
SCALING = """\
Fit L(N) = a * N^-b + c
a = 6.213  b = 0.0761  c = 1.694
R^2 = 0.9987
held-out prediction for N=1.3e9: 2.959 (measured 2.981, rel. error 0.74 %)
"""
SEGMENT = """\
class        IoU     Dice
background   0.9812  0.9905
liver        0.9134  0.9547
tumour       0.6208  0.7660
mean         0.8385  0.9037
"""
ABTEST = """\
variant  users   conversions  rate
control  10214   811          0.0794
B        10188   902          0.0885
chi2 = 5.503, p = 0.0190
relative lift: +11.5 %
"""
FAIR = """\
-- group metrics --
group=A: TPR=0.812 FPR=0.141 selection=0.377
group=B: TPR=0.694 FPR=0.108 selection=0.281
equal opportunity difference: 0.118
-- after reweighing --
group=A: TPR=0.774 FPR=0.133 selection=0.352
group=B: TPR=0.751 FPR=0.127 selection=0.327
equal opportunity difference: 0.023
accuracy before 0.8410 after 0.8335
"""
GENETIC = """\
gen   best     mean     diversity
0     412.7    688.3    1.000
50    251.4    304.9    0.613
100   218.8    240.2    0.342
150   209.1    219.5    0.155
200   207.6    212.0    0.071
"""
COMPRESS = """\
codec   ratio   enc MB/s   dec MB/s
zlib    2.74    41.2       310.5
lz4     2.08    612.8      2954.1
zstd    2.89    388.6      1120.7
brotli  3.12    5.9        402.3
"""
PROMPTS = """\
== gsm-mini (n=200) ==
zero-shot:        97/200 = 48.5%
few-shot:        124/200 = 62.0%
chain-of-thought: 153/200 = 76.5%
self-consistency: 164/200 = 82.0%
== dates (n=150) ==
zero-shot:        81/150 = 54.0%
few-shot:         84/150 = 56.0%
chain-of-thought: 105/150 = 70.0%
self-consistency: 111/150 = 74.0%
"""
GRAPH = """\
layers: 2   acc: 81.4 +- 0.6   dirichlet energy: 0.318
layers: 4   acc: 80.1 +- 0.9   dirichlet energy: 0.122
layers: 8   acc: 71.7 +- 2.3   dirichlet energy: 0.019
layers: 16  acc: 43.5 +- 5.1   dirichlet energy: 0.002
with residual connections
layers: 16  acc: 79.2 +- 1.0   dirichlet energy: 0.241
"""
TREES = '{"n_estimators": [10, 50, 100, 200], "oob_error": [0.1423, 0.1108, 0.1067, 0.1059], "fit_time": [0.4, 1.9, 3.8, 7.5]}'
QUANT = """\
+--------+----------+-----------+---------+
| bits   | ppl      | size_gb   | tok/s   |
+========+==========+===========+=========+
| fp16   | 5.47     | 13.48     | 41.2    |
| int8   | 5.49     | 6.91      | 58.7    |
| int4   | 5.73     | 3.87      | 92.4    |
| int3   | 6.88     | 3.02      | 96.1    |
+--------+----------+-----------+---------+
"""
SPEECH = """\
model=base   split=clean WER=4.31% CER=1.42%
model=base   split=other WER=9.87% CER=3.95%
model=large  split=clean WER=2.64% CER=0.88%
model=large  split=other WER=5.73% CER=2.21%
"""
ODE = """\
h=1e-1 euler=4.31e-02 heun=1.58e-03 rk4=3.33e-07
h=1e-2 euler=4.20e-03 heun=1.49e-05 rk4=3.12e-11
h=1e-3 euler=4.19e-04 heun=1.48e-07 rk4=8.88e-15
observed order: euler 1.00, heun 2.00, rk4 4.03
"""

SIXTH = (
    Case("vision: list", {"stdout": VISION},
         "Key findings:\n\n- **Test accuracy**: mixup reaches 77.95 %, the baseline 75.12 % (+2.83 points).\n- **Overfitting**: "
         "the baseline's validation loss rises from 0.776 at epoch 20 to 0.842 at epoch 30, with mixup it falls from 0.730 to "
         "0.690.\n- The best validation accuracy is 78.40 % for mixup and 75.83 % for the baseline.",
         {"77.95 %": G, "75.12 %": G, "+2.83 points": G, "0.776": G, "0.842": G, "0.730": G, "0.690": G, "78.40 %": G,
          "75.83 %": G}),
    Case("vision: final", {"stdout": VISION},
         "At the end of training the baseline has a training loss of 0.203 and mixup 0.771. The baseline ends with a "
         "validation accuracy of 75.61 %.",
         {"0.203": G, "0.771": G, "75.61 %": G}),
    Case("vision: wrong", {"stdout": VISION},
         "With mixup the test accuracy is 75.12 %. After 10 epochs the baseline has a validation accuracy of 74.95 %.",
         {"75.12 %": C, "74.95 %": C}),
    Case("retrieval: table", {"stdout": RETRIEVAL},
         "| Method | nDCG@10 | MRR |\n|---|---|---|\n| BM25 | 0.422 | 0.391 |\n| Dense | 0.470 | 0.440 |\n| Hybrid | 0.503 | "
         "0.471 |\n\nReranking the hybrid run lifts nDCG@10 to 0.559 (+11 % relative) and leaves R@100 at 0.842.",
         {"0.422": G, "0.391": G, "0.470": G, "0.440": G, "0.503": G, "0.471": G, "0.559": G, "+11 %": G, "0.842": G}),
    Case("retrieval: tests", {"stdout": RETRIEVAL},
         "Hybrid retrieval is significantly better than dense retrieval (p = 6e-5), which in turn beats BM25 (0.4695 vs. "
         "0.4218). The ranking by MRR is hybrid+rerank, hybrid, dense, bm25.",
         {"p = 6e-5": G, "0.4695": G, "0.4218": G}),
    Case("retrieval: wrong", {"stdout": RETRIEVAL},
         "BM25 has an MRR of 0.4218. Dense retrieval has a higher R@100 than hybrid retrieval.",
         {"0.4218": C, "Dense retrieval has a higher R@100": C}),
    Case("anomaly: two sets", {"results.jsonl": ANOMALY},
         "On the power data the autoencoder (AE) is best with an AUROC of 0.854 and an AUPRC of 0.417; on the web data "
         "isolation forest has the highest AUROC (0.901), but the AE still the highest AUPRC (0.524 against 0.512). LOF is "
         "last everywhere (0.774 and 0.885).",
         {"0.854": G, "0.417": G, "0.901": G, "0.524": G, "0.512": G, "0.774": G, "0.885": G}),
    Case("anomaly: means", {"results.jsonl": ANOMALY},
         "Averaged over both data sets, the AUROC is 0.875 for the AE, 0.857 for isolation forest and 0.830 for LOF.",
         {"0.875": G, "0.857": G, "0.830": G}),
    Case("anomaly: wrong set", {"results.jsonl": ANOMALY},
         "On the web data the AE reaches an AUROC of 0.8539. On the power data LOF beats isolation forest in AUROC.",
         {"0.8539": C, "LOF beats isolation forest": C}),
    Case("privacy", {"privacy.csv": PRIVACY},
         "Accuracy rises with the privacy budget from 61.2 % at epsilon = 0.5 to 83.0 % at epsilon = 8; without privacy it is "
         "88.4 %. The membership attack's AUC grows from 0.503 to 0.561 and reaches 0.648 without noise.",
         {"61.2 %": G, "83.0 %": G, "88.4 %": G, "0.503": G, "0.561": G, "0.648": G}),
    Case("privacy: wrong", {"privacy.csv": PRIVACY},
         "At epsilon = 1 the accuracy is 76.9 %. The attack's AUC falls with epsilon.",
         {"76.9 %": C}),
    Case("scaling", {"stdout": SCALING},
         "The fitted exponent is b = 0.076 with an irreducible loss of c = 1.69 (R² = 0.999). For 1.3 billion parameters the "
         "law predicts 2.96, 0.7 % below the measured 2.98.",
         {"0.076": G, "1.69": G, "0.999": G, "2.96": G, "0.7 %": G, "2.98": G}),
    Case("segmentation", {"stdout": SEGMENT},
         "The mean Dice score is 0.904. Tumours are by far the hardest class (IoU 0.621, Dice 0.766), 29 points of IoU behind "
         "the liver (0.913).",
         {"0.904": G, "0.621": G, "0.766": G, "29 points": G, "0.913": G}),
    Case("segmentation: wrong", {"stdout": SEGMENT},
         "The liver has a Dice score of 0.9134. Tumour has the highest IoU.",
         {"0.9134": C, "Tumour has the highest IoU": C}),
    Case("a/b test", {"stdout": ABTEST},
         "Variant B converts 8.85 % of its 10,188 users against 7.94 % for control, a relative lift of 11.5 % (chi-squared "
         "test, p = 0.019), i.e. 0.91 percentage points.",
         {"8.85 %": G, "7.94 %": G, "11.5 %": G, "p = 0.019": G, "0.91 percentage points": G}),
    Case("fairness", {"stdout": FAIR},
         "Before reweighing the true positive rates are 0.812 for group A and 0.694 for group B, an equal opportunity "
         "difference of 0.118. Reweighing brings it down to 0.023 (0.774 and 0.751) and costs 0.75 points of accuracy (84.10 "
         "to 83.35 %).",
         {"0.812": G, "0.694": G, "0.118": G, "0.023": G, "0.774": G, "0.751": G, "0.75 points": G, "84.10": G}),
    Case("fairness: wrong", {"stdout": FAIR},
         "After reweighing group B has a TPR of 0.694. Before reweighing the FPR of group A is 0.108.",
         {"0.694": C, "0.108": C}),
    Case("genetic", {"stdout": GENETIC},
         "The best tour shrinks from 412.7 to 207.6 in 200 generations, i.e. by 49.7 %; half of the generations already reach "
         "218.8. Diversity falls monotonically from 1.000 to 0.071.",
         {"412.7": G, "207.6": G, "49.7 %": G, "218.8": G, "0.071": G}),
    Case("genetic: wrong", {"stdout": GENETIC},
         "After 50 generations the best tour has a length of 304.9. The final diversity is 0.155.",
         {"304.9": C, "0.155": C}),
    Case("codecs", {"stdout": COMPRESS},
         "Brotli compresses best (3.12) but encodes at only 5.9 MB/s, 104 times slower than lz4 (612.8 MB/s). zstd is the "
         "compromise: ratio 2.89 at 389 MB/s. Decoding is fastest with lz4 (2954 MB/s), 9.5 times as fast as zlib.",
         {"3.12": G, "5.9": G, "104 times": G, "612.8": G, "2.89": G, "389": G, "2954": G, "9.5 times": G}),
    Case("codecs: wrong", {"stdout": COMPRESS},
         "lz4 has a compression ratio of 2.74. zlib decodes faster than zstd.",
         {"2.74": C, "zlib decodes faster than zstd": C}),
    Case("prompts", {"stdout": PROMPTS},
         "On gsm-mini chain-of-thought prompting solves 153 of 200 problems (76.5 %), few-shot prompting 124 (62.0 %), and "
         "self-consistency adds another 5.5 points (82.0 %). On dates the gain of few-shot over zero-shot is only 2 points "
         "(56 % vs. 54 %).",
         {"153 of 200": G, "76.5 %": G, "62.0 %": G, "5.5 points": G, "82.0 %": G, "2 points": G, "56 %": G}),
    Case("prompts: wrong", {"stdout": PROMPTS},
         "On dates chain-of-thought reaches 76.5 %. On gsm-mini zero-shot prompting reaches 54.0 %.",
         {"76.5 %": C, "54.0 %": C}),
    Case("over-smoothing", {"stdout": GRAPH},
         "Accuracy drops from 81.4 ± 0.6 % with 2 layers to 43.5 ± 5.1 % with 16; the Dirichlet energy decays from 0.318 to "
         "0.002. Residual connections restore 79.2 ± 1.0 % at 16 layers.",
         {"81.4 ± 0.6 %": G, "43.5 ± 5.1 %": G, "0.318": G, "0.002": G, "79.2 ± 1.0 %": G}),
    Case("over-smoothing: wrong", {"stdout": GRAPH},
         "With 4 layers accuracy is 71.7 %. With 8 layers the Dirichlet energy is 0.122.",
         {"71.7 %": C, "0.122": C}),
    Case("parallel lists", {"forest.json": TREES},
         "The out-of-bag error falls from 0.142 with 10 trees to 0.106 with 200 trees; between 100 and 200 trees it changes by "
         "only 0.0008.",
         {"0.142": G, "0.106": G, "0.0008": G}),
    Case("parallel lists: wrong", {"forest.json": TREES},
         "With 50 trees the out-of-bag error is 0.1067.", {"0.1067": C}),
    Case("quantisation", {"stdout": QUANT},
         "8 bits cost almost nothing (perplexity 5.49 instead of 5.47) and halve the size (6.91 against 13.48 GB). With int4 "
         "perplexity rises by 0.26 to 5.73 at 2.2 times the speed (92.4 tok/s). int3 degrades to 6.88.",
         {"5.49": G, "5.47": G, "6.91": G, "13.48": G, "0.26": G, "5.73": G, "2.2 times": G, "92.4": G, "6.88": G}),
    Case("speech", {"stdout": SPEECH},
         "The large model makes 39 % fewer word errors on clean speech (WER 2.64 % vs. 4.31 %) and 42 % fewer on other (5.73 % "
         "vs. 9.87 %).",
         {"39 %": G, "2.64 %": G, "4.31 %": G, "42 %": G, "5.73 %": G, "9.87 %": G}),
    Case("speech: wrong", {"stdout": SPEECH},
         "On clean speech the base model has a WER of 9.87 %. The large model has a CER of 2.21 % on clean speech.",
         {"9.87 %": C, "2.21 %": C}),
    Case("solvers of odes", {"stdout": ODE},
         "At h = 0.01 the error is 4.2e-3 for Euler, 1.5e-5 for Heun and 3.1e-11 for RK4. The observed orders are 1.00, 2.00 "
         "and 4.03. Reducing h from 0.1 to 0.01 lowers Heun's error by a factor of 106.",
         {"4.2e-3": G, "1.5e-5": G, "3.1e-11": G, "4.03": G, "106": G}),
    Case("solvers of odes: wrong", {"stdout": ODE},
         "At h = 0.1 Heun has an error of 1.49e-05. RK4 converges with order 2.00.",
         {"1.49e-05": C, "2.00": C}),
    Case("invented", {"stdout": SPEECH},
         "A real-time factor of 0.31 was measured for the large model, and a human rater preferred it in 68 % of cases.",
         {"0.31": N, "68 %": N}),
)  # fmt: skip
