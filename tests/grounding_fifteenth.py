"""A fifteenth batch: translation, retrieval, privacy, federations, clinical statistics, compilers, vision.

At first sight 137 of 142 claims called grounded were, and 137 of 146 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N, U

SACRE = """\
[
  {"name": "BLEU", "lang": "en-de", "system": "transformer-base", "score": 27.34, "verbose_score": "58.6/33.1/21.0/13.8"},
  {"name": "BLEU", "lang": "en-de", "system": "transformer-big", "score": 28.71, "verbose_score": "59.8/34.6/22.3/14.9"},
  {"name": "BLEU", "lang": "en-fr", "system": "transformer-base", "score": 38.09, "verbose_score": "66.0/45.1/32.9/24.3"},
  {"name": "BLEU", "lang": "en-fr", "system": "transformer-big", "score": 41.02, "verbose_score": "68.4/48.0/35.8/27.0"}
]
"""
RAG = """\
┏━━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━━━┓
┃ Retriever    ┃ R@5   ┃ MRR   ┃ EM      ┃
┡━━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━━━┩
│ BM25         │ 0.612 │ 0.478 │ 31.4    │
│ DPR          │ 0.689 │ 0.531 │ 36.9    │
│ Hybrid       │ 0.741 │ 0.586 │ 39.2    │
└──────────────┴───────┴───────┴─────────┘
"""
COCO = """\
 Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.412
 Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 0.618
 Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ] = 0.447
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.241
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = 0.533
"""
CLASSES = """\
+------------+-------+-------+
|   Class    |  IoU  |  Acc  |
+------------+-------+-------+
|    road    | 97.84 | 98.62 |
|  sidewalk  | 83.07 | 91.15 |
|   train    | 61.20 | 70.49 |
+------------+-------+-------+
Summary:
+-------+-------+-------+
|  aAcc |  mIoU |  mAcc |
+-------+-------+-------+
| 95.93 | 80.70 | 86.75 |
+-------+-------+-------+
"""
OPTUNA = """\
[I 2024-03-02 11:20:31,118] Trial 0 finished with value: 0.8127 and parameters: {'lr': 0.0031, 'depth': 4}. Best is trial 0 with value: 0.8127.
[I 2024-03-02 11:21:02,904] Trial 1 finished with value: 0.7983 and parameters: {'lr': 0.0250, 'depth': 9}. Best is trial 0 with value: 0.8127.
[I 2024-03-02 11:21:44,337] Trial 2 finished with value: 0.8346 and parameters: {'lr': 0.0072, 'depth': 6}. Best is trial 2 with value: 0.8346.
[I 2024-03-02 11:22:10,561] Trial 3 finished with value: 0.8290 and parameters: {'lr': 0.0054, 'depth': 7}. Best is trial 2 with value: 0.8346.
"""
FED = """\
alpha  algorithm  round_50  round_100  round_200
0.1    fedavg     41.83     52.60      58.17
0.1    scaffold   50.29     60.12      64.95
1.0    fedavg     61.44     68.03      70.88
1.0    scaffold   63.91     69.27      71.36
"""
PRIVACY = """\
epsilon\ttest_acc\tmia_auc
1\t71.86\t0.5042
4\t79.15\t0.5187
8\t81.93\t0.5306
inf\t91.27\t0.6418
"""
COX = """\
Call:
coxph(formula = Surv(time, status) ~ age + stage + treat, data = d)

  n= 312, number of events= 125

           coef exp(coef)  se(coef)      z Pr(>|z|)
age    0.031204  1.031696  0.008112  3.847  0.00012 ***
stage  0.610338  1.841053  0.129470  4.714 2.43e-06 ***
treat -0.214880  0.806638  0.181044 -1.187  0.23528

Concordance= 0.741  (se = 0.024 )
"""
TTEST_R = """\
	Welch Two Sample t-test

data:  score by group
t = 2.8114, df = 57.902, p-value = 0.006731
95 percent confidence interval:
 1.272 7.561
sample estimates:
mean in group A mean in group B
       54.8130        50.3965
"""
PERF = """\
 Performance counter stats for './matmul 2048 naive':
    41,203,118,552      cycles
    18,774,902,113      instructions              #    0.46  insn per cycle
     1,106,228,907      cache-misses
      12.914338107 seconds time elapsed

 Performance counter stats for './matmul 2048 tiled':
     9,880,451,730      cycles
    21,934,660,228      instructions              #    2.22  insn per cycle
        38,114,062      cache-misses
       3.087712554 seconds time elapsed
"""
ENERGY = {
    "energy/fp32.json": '{"precision": "fp32", "energy_kwh": 4.182, "hours": 13.6, "top1": 76.31, "peak_w": 298.4}',
    "energy/amp.json": '{"precision": "amp", "energy_kwh": 2.466, "hours": 8.1, "top1": 76.24, "peak_w": 301.9}',
}
ANOMALY = """\
category   image_auroc   pixel_auroc   pro
bottle           100.0          98.6   96.2
cable             99.4          98.4   92.5
screw             97.8          99.1   96.8
transistor        99.8          96.3   94.1
mean              99.3          98.1   94.9
"""
LABELS = """\
round=1 n_labeled=500  random: 0.6214  entropy: 0.6180  coreset: 0.6302
round=2 n_labeled=1000 random: 0.6871  entropy: 0.7033  coreset: 0.7059
round=3 n_labeled=2000 random: 0.7466  entropy: 0.7720  coreset: 0.7641
"""
CAUSAL = """\
estimator       ATE      se       ci_low    ci_high
naive           3.412    0.118    3.181     3.643
ipw             1.987    0.204    1.587     2.387
aipw            2.046    0.151    1.750     2.342
true effect: 2.000
"""
HTML = """\
<table>
<tr><th>model</th><th>params</th><th>CIFAR-10</th><th>CIFAR-100</th></tr>
<tr><td>MLP-Mixer</td><td>0.9M</td><td>85.12</td><td>55.06</td></tr>
<tr><td>ConvMixer</td><td>0.7M</td><td>93.48</td><td>72.80</td></tr>
</table>
"""
MATH = """\
Evaluated 1319 problems
  greedy           : 688 correct (52.16 %)
  self-consistency : 829 correct (62.85 %)
  with verifier    : 871 correct (66.03 %)
avg tokens per problem: greedy 142.8, self-consistency 1428.5
"""
DEPTHS = """\
config:
  backbone: resnet50
results:
  kitti:
    abs_rel: 0.0587
    rmse: 2.334
    delta1: 0.9642
  nyu:
    abs_rel: 0.1033
    rmse: 0.3701
    delta1: 0.8997
"""
WATER = """\
lead(h)   NSE_lstm   NSE_hbv   KGE_lstm   KGE_hbv
6          0.912      0.871     0.903      0.858
24         0.847      0.812     0.839      0.807
72         0.655      0.668     0.671      0.680
"""
COMPILE = """\
kernel        O0 [ms]   O2 [ms]   O3 [ms]
gemm           812.40    121.77     98.03
conv2d         644.91    110.25    109.88
softmax         88.12     30.46     30.51
"""
JOBS = """\
epoch 18: 100%|████████████████| 782/782 [00:41<00:00, 18.97it/s, loss=0.1132, acc=0.9611]
epoch 19: 100%|████████████████| 782/782 [00:40<00:00, 19.20it/s, loss=0.1049, acc=0.9640]
epoch 20: 100%|████████████████| 782/782 [00:41<00:00, 19.01it/s, loss=0.0987, acc=0.9663]
test: loss=0.2841 acc=0.9207
"""
SPARSE = """\
k    recall@10   qps
16   0.8124      10412
64   0.9467      4127
256  0.9912      1268
"""
COUNTS = """\
Total issues: 300
Resolved by agent A: 87 (29.0%)
Resolved by agent B: 112 (37.3%)
Resolved by both: 61
Empty patches: A 14, B 5
"""

FIFTEENTH = (
    Case("translations", {"scores.json": SACRE},
         "The big model improves BLEU from 27.3 to 28.7 on en-de and from 38.1 to 41.0 on en-fr, i.e. by 1.4 and 2.9 points. The paper reports 28.4 and 41.8 "
         "for the big model.",
         {"27.3": G, "28.7": G, "38.1": G, "41.0": G, "28.4": U, "41.8": U}),
    Case("translations: mixed", {"scores.json": SACRE},
         "On en-fr transformer-base has a BLEU of 28.7. transformer-big reaches 28.71 on en-de. transformer-base is better than transformer-big on en-de. On "
         "en-ro BLEU is 34.1.",
         {"28.7.": C, "28.71": G, "transformer-base is better": C, "34.1": N}),
    Case("retrievers", {"stdout": RAG},
         "The hybrid retriever is best in all respects: R@5 0.741, MRR 0.586, and an exact match of 39.2 in the end-to-end evaluation. Compared with BM25, "
         "recall rises by 12.9 points and EM by 7.8 points. DPR lies between them (0.689, 0.531, 36.9).",
         {"0.741": G, "0.586": G, "39.2": G, "12.9 points": G, "7.8 points": G, "0.689": G, "0.531": G, "36.9": G}),
    Case("retrievers: mixed", {"stdout": RAG},
         "DPR has an MRR of 0.586 and an R@5 of 0.689. BM25 beats DPR on exact match. BM25 has an EM of 36.9.",
         {"0.586": C, "0.689": G, "BM25 beats DPR": C, "36.9": C}),
    Case("boxes", {"eval.txt": COCO},
         "The detector reaches 41.2 AP (AP50 61.8, AP75 44.7). Small objects are hard: 24.1 AP against 53.3 for large ones.",
         {"41.2": G, "61.8": G, "44.7": G, "24.1": G, "53.3": G}),
    Case("boxes: mixed", {"eval.txt": COCO},
         "AP50 is 44.7 and AP on small objects 24.1. AP for large objects is 61.8.",
         {"44.7": C, "24.1": G, "61.8": C}),
    Case("streets", {"stdout": CLASSES},
         "mIoU is 80.7 with a pixel accuracy (aAcc) of 95.9 %. Road is easy (IoU 97.8), train the weakest of the classes shown (61.2).",
         {"80.7": G, "95.9 %": G, "97.8": G, "61.2": G}),
    Case("streets: mixed", {"stdout": CLASSES},
         "The IoU of sidewalk is 91.15. The class train has an accuracy of 70.5 and an IoU of 83.1. mAcc is 86.75.",
         {"91.15": C, "70.5": G, "83.1": C, "86.75": G}),
    Case("trials of search", {"stderr": OPTUNA},
         "Four trials were run. The best one is trial 2 with an accuracy of 0.8346 (lr = 0.0072, depth 6); trial 1 with its high learning rate is worst with "
         "0.7983. The best value rose from 0.8127 in trial 0.",
         {"0.8346": G, "0.7983": G, "0.8127": G}),
    Case("trials of search: mixed", {"stderr": OPTUNA},
         "Trial 3 reached 0.8346. Trial 0 reached 0.8127. Trial 2 is worse than trial 1.",
         {"0.8346": C, "0.8127": G}),
    Case("federations", {"stdout": FED},
         "With strong heterogeneity (alpha = 0.1) SCAFFOLD is clearly better than FedAvg after 200 rounds: 65.0 % vs. 58.2 %. With alpha = 1.0 the gap shrinks to "
         "0.5 points (71.4 % vs. 70.9 %). After 50 rounds SCAFFOLD has 50.3 % at alpha = 0.1.",
         {"65.0 %": G, "58.2 %": G, "0.5 points": G, "71.4 %": G, "70.9 %": G, "50.3 %": G}),
    Case("federations: mixed", {"stdout": FED},
         "At alpha = 0.1 FedAvg reaches 60.1 % after 100 rounds. At alpha = 1.0 it has 61.4 % after 50 rounds. FedAvg outperforms SCAFFOLD at alpha = 1.0.",
         {"60.1 %": C, "61.4 %": G, "FedAvg outperforms SCAFFOLD": C}),
    Case("budgets of privacy", {"privacy.tsv": PRIVACY},
         "Accuracy drops from 91.3 % without privacy (epsilon = inf) to 81.9 % at epsilon = 8, 79.2 % at 4 and 71.9 % at 1. The membership inference attack goes "
         "from an AUC of 0.642 to 0.504, which is chance.",
         {"91.3 %": G, "81.9 %": G, "79.2 %": G, "71.9 %": G, "0.642": G, "0.504": G}),
    Case("budgets of privacy: mixed", {"privacy.tsv": PRIVACY},
         "At epsilon = 4 the accuracy is 81.9 %. At epsilon = 8 the attack has an AUC of 0.531. Accuracy decreases with epsilon.",
         {"81.9 %": C, "0.531": G, "Accuracy decreases": C}),
    Case("hazards", {"cox.txt": COX},
         "Age (hazard ratio 1.03 per year, p = 0.00012) and stage (HR 1.84, p = 2.4e-6) are significant, the treatment is not (HR 0.81, p = 0.235). The concordance "
         "is 0.741.",
         {"1.03": G, "p = 0.00012": G, "1.84": G, "p = 2.4e-6": G, "0.81": G, "p = 0.235": G, "0.741": G}),
    Case("hazards: mixed", {"cox.txt": COX},
         "The coefficient of stage is 1.84. The z value of age is 3.85. The p-value of treat is 0.00012. Concordance is 0.714.",
         {"3.85": G, "0.00012": C, "0.714": C}),
    Case("groups", {"ttest.txt": TTEST_R},
         "Group A scores higher than group B (54.8 vs. 50.4; Welch's t = 2.81, p = 0.0067). The difference is 4.4 points.",
         {"54.8": G, "50.4": G, "2.81": G, "p = 0.0067": G, "4.4 points": G}),
    Case("groups: mixed", {"ttest.txt": TTEST_R},
         "The mean of group B is 54.8. The difference is significant (p = 0.0067). The difference of the means is 6.2 points.",
         {"54.8": C, "p = 0.0067": G, "6.2 points": C}),
    Case("counters", {"perf.txt": PERF},
         "Tiling raises the instructions per cycle from 0.46 to 2.22 and cuts cache misses from 1,106,228,907 to 38,114,062, a factor of 29. The run takes 3.09 s "
         "instead of 12.91 s (4.2x faster).",
         {"0.46": G, "2.22": G, "1,106,228,907": G, "38,114,062": G, "29": G, "3.09 s": G, "12.91 s": G, "4.2x": G}),
    Case("energies", ENERGY,
         "Mixed precision needs 2.47 kWh instead of 4.18 kWh (-41 %) and 8.1 instead of 13.6 hours; top-1 accuracy is practically the same (76.24 vs. 76.31 %).",
         {"2.47": G, "4.18": G, "-41 %": G, "76.24": G, "76.31 %": G}),
    Case("energies: mixed", ENERGY,
         "FP32 training consumes 2.47 kWh and peaks at 298.4 W. AMP has a top-1 accuracy of 76.2 %. INT8 consumes 1.9 kWh.",
         {"2.47": C, "298.4": G, "76.2 %": G, "1.9 kWh": N}),
    Case("defects", {"mvtec.txt": ANOMALY},
         "Mean image AUROC is 99.3 %, pixel AUROC 98.1 % and PRO 94.9 %. Screw is the hardest category at image level (97.8 %), transistor at pixel level (96.3 %). "
         "Bottle is perfect (100.0 %).",
         {"99.3 %": G, "98.1 %": G, "94.9 %": G, "97.8 %": G, "96.3 %": G, "100.0 %": G}),
    Case("defects: mixed", {"mvtec.txt": ANOMALY},
         "Cable has a pixel AUROC of 99.4 %. Transistor has a PRO of 94.1 % and an image AUROC of 97.8 %. The category carpet reaches 98.9 %.",
         {"99.4 %": C, "94.1 %": G, "97.8 %": C, "98.9 %": N}),
    Case("labels", {"stdout": LABELS},
         "With 500 labels coreset is slightly ahead (63.0 %, random 62.1 %, entropy 61.8 %). With 2000 labels entropy leads with 77.2 %, 2.5 points above random "
         "sampling (74.7 %).",
         {"63.0 %": G, "62.1 %": G, "61.8 %": G, "77.2 %": G, "2.5 points": G, "74.7 %": G}),
    Case("labels: mixed", {"stdout": LABELS},
         "With 1000 labels entropy reaches 77.2 %. Coreset has 76.4 % with 2000 labels. Random is better than coreset with 1000 labels.",
         {"77.2 %": C, "76.4 %": G, "Random is better than coreset": C}),
    Case("effects", {"stdout": CAUSAL},
         "The naive difference is badly biased (3.41 instead of 2.00). IPW gives 1.99 ± 0.20 and AIPW 2.05 ± 0.15; both intervals, [1.59, 2.39] and [1.75, 2.34], "
         "cover the true effect.",
         {"3.41": G, "1.99 ± 0.20": G, "2.05 ± 0.15": G, "1.59": G, "2.39": G, "1.75": G, "2.34": G}),
    Case("effects: mixed", {"stdout": CAUSAL},
         "AIPW estimates an ATE of 1.987. The standard error of IPW is 0.204. The standard error of AIPW is larger than that of IPW.",
         {"1.987": C, "0.204": G, "The standard error of AIPW is larger": C}),
    Case("mixers", {"report.html": HTML},
         "ConvMixer outperforms MLP-Mixer with fewer parameters (0.7M vs. 0.9M): 93.5 % vs. 85.1 % on CIFAR-10 and 72.8 % vs. 55.1 % on CIFAR-100.",
         {"ConvMixer outperforms": G, "93.5 %": G, "85.1 %": G, "72.8 %": G, "55.1 %": G}),
    Case("mixers: mixed", {"report.html": HTML},
         "MLP-Mixer reaches 55.1 % on CIFAR-10. ConvMixer has 72.80 % on CIFAR-100. MLP-Mixer is better than ConvMixer on CIFAR-10.",
         {"55.1 %": C, "72.80 %": G, "MLP-Mixer is better": C}),
    Case("sums", {"stdout": MATH},
         "Greedy decoding solves 688 of 1319 problems (52.2 %), self-consistency 829 (62.9 %), and the verifier lifts this to 871 (66.0 %). Self-consistency uses ten "
         "times as many tokens (1428.5 vs. 142.8).",
         {"688": G, "52.2 %": G, "829": G, "62.9 %": G, "871": G, "66.0 %": G, "1428.5": G, "142.8": G}),
    Case("sums: mixed", {"stdout": MATH},
         "With the verifier 829 problems are correct. Self-consistency reaches 62.9 %. Greedy decoding is right on 62.2 % of the problems.",
         {"829": C, "62.9 %": G, "62.2 %": C}),
    Case("depths of scenes", {"out.yaml": DEPTHS},
         "On KITTI the absolute relative error is 0.059 (RMSE 2.33, delta1 96.4 %); on NYU it is 0.103 with an RMSE of 0.370.",
         {"0.059": G, "2.33": G, "96.4 %": G, "0.103": G, "0.370": G}),
    Case("depths of scenes: mixed", {"out.yaml": DEPTHS},
         "On NYU delta1 is 0.964. On KITTI the RMSE is 2.334. The absolute relative error (abs_rel) on NYU is 0.0587.",
         {"0.964": C, "2.334": G, "0.0587": C}),
    Case("rivers", {"stdout": WATER},
         "The LSTM is ahead of HBV at short lead times (NSE 0.912 vs. 0.871 at 6 h, 0.847 vs. 0.812 at 24 h) but falls behind at 72 h (0.655 vs. 0.668).",
         {"0.912": G, "0.871": G, "0.847": G, "0.812": G, "0.655": G, "0.668": G}),
    Case("rivers: mixed", {"stdout": WATER},
         "At 24 h the LSTM has a KGE of 0.807. At 6 h HBV has an NSE of 0.871. At 72 h the LSTM has a higher NSE than HBV.",
         {"0.807": C, "0.871": G, "the LSTM has a higher NSE": C}),
    Case("flags", {"stdout": COMPILE},
         "-O3 speeds up gemm from 812.4 ms (O0) to 98.0 ms, 8.3 times faster; for conv2d it gains nothing over O2 (109.9 vs. 110.3 ms).",
         {"812.4 ms": G, "98.0 ms": G, "8.3 times": G, "109.9": G, "110.3 ms": G}),
    Case("progress", {"stderr": JOBS},
         "After 20 epochs training accuracy is 96.6 % (loss 0.0987), whereas the test accuracy is 92.1 % with a loss of 0.284, a gap of 4.6 points.",
         {"96.6 %": G, "0.0987": G, "92.1 %": G, "0.284": G, "4.6 points": G}),
    Case("progress: mixed", {"stderr": JOBS},
         "At epoch 18 the training loss is 0.1049. The test loss is 0.2841. At epoch 19 training accuracy is 96.4 %.",
         {"0.1049": C, "0.2841": G, "96.4 %": G}),
    Case("neighbours", {"stdout": SPARSE},
         "Recall@10 rises with k, from 0.812 at k = 16 to 0.991 at k = 256, while throughput falls from 10412 to 1268 queries per second.",
         {"0.812": G, "0.991": G, "10412": G, "1268": G}),
    Case("neighbours: mixed", {"stdout": SPARSE},
         "At k = 64 recall@10 is 0.991 at 4127 queries per second. Throughput increases with k.",
         {"0.991": C, "4127": G, "Throughput increases": C}),
    Case("agents", {"stdout": COUNTS},
         "Agent B resolves 112 of 300 issues (37.3 %), agent A 87 (29.0 %); 61 issues are resolved by both. A leaves more empty patches (14 vs. 5).",
         {"112 of 300": G, "37.3 %": G, "87": G, "29.0 %": G, "61 issues": G}),
    Case("agents: mixed", {"stdout": COUNTS},
         "Agent A resolves 112 of 300 issues. Agent B resolves 37.3 % of them. Agent A resolves more issues than agent B.",
         {"112 of 300": C, "37.3 %": G}),
)  # fmt: skip
