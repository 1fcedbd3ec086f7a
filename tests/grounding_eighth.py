"""An eighth batch: conclusions of machine-learning studies beside logs, frames, R and Julia output.

At first sight 157 of 168 claims called grounded were, and 157 of 185 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

CALIBRATION = """\
dataset            n      smECE   ECE_15   SE
imagenet-val    50000    0.0371   0.0389   0.0011
solar             731    0.0684   0.0812   0.0093
precip            346    0.0428   0.0597   0.0120
"""
LATENCY = """\
| batch | FP16 (ms) | INT4 (ms) | INT4+FP32Had (ms) | INT4+FP16Had (ms) |
|-------|-----------|-----------|-------------------|-------------------|
| 1     | 0.412     | 0.187     | 0.241             | 0.209             |
| 8     | 0.538     | 0.224     | 0.305             | 0.251             |
| 32    | 1.306     | 0.447     | 0.629             | 0.498             |
"""
WAVES = """\
[K=1]  params 35.5M | one-step 4.12% | rollout 21.87%
[K=2]  params 35.4M | one-step 3.01% | rollout 15.40%
[K=4]  params 35.6M | one-step 2.33% | rollout 11.92%
[K=8]  params 35.5M | one-step 1.66% | rollout 8.02%
[K=16] params 35.4M | one-step 1.61% | rollout 7.94%
"""
BLOCKS = """\
{"method": "adam", "peak_mem_gb": 23.41, "epoch_time_s": 512.3, "final_loss": 0.4127}
{"method": "lora", "peak_mem_gb": 11.86, "epoch_time_s": 401.7, "final_loss": 0.4519}
{"method": "badam", "peak_mem_gb": 9.72, "epoch_time_s": 288.9, "final_loss": 0.4203}
"""
REVIEWS = """\
              precision    recall  f1-score   support

    negative     0.8421    0.7805    0.8101       205
     neutral     0.6637    0.7212    0.6912       104
    positive     0.8889    0.9027    0.8957       266

    accuracy                         0.8261       575
   macro avg     0.7982    0.8015    0.7990       575
weighted avg     0.8315    0.8261    0.8282       575
"""
LM = """\
Call:
lm(formula = mpg ~ wt + hp, data = cars)

Coefficients:
             Estimate Std. Error t value Pr(>|t|)
(Intercept) 37.22727    1.59879  23.285  < 2e-16 ***
wt          -3.87783    0.63273  -6.129 1.12e-06 ***
hp          -0.03177    0.00903  -3.519  0.00145 **
---
Residual standard error: 2.593 on 29 degrees of freedom
Multiple R-squared:  0.8268,\tAdjusted R-squared:  0.8148
F-statistic: 69.21 on 2 and 29 DF,  p-value: 9.109e-12
"""
JULIA = """\
BenchmarkTools.Trial: naive
  minimum time:    4.213 ms
  median time:     4.391 ms
  memory estimate: 7.63 MiB
  allocs estimate: 12
BenchmarkTools.Trial: tiled
  minimum time:    1.087 ms
  median time:     1.142 ms
  memory estimate: 1.91 MiB
  allocs estimate: 4
"""
CAPTIONS = """\
model,bleu1,bleu2,bleu4,rouge_l,qa_acc
no_motion,0.2412,0.1327,0.0518,0.2190,0.531
motion,0.2705,0.1561,0.0664,0.2437,0.574
motion+match,0.2788,0.1640,0.0712,0.2503,0.588
"""
PANOPTIC = r"""
\begin{tabular}{lccc}
\toprule
Method & PQ & mAP & mIoU \\
\midrule
ODISE & 19.5 & 10.6 & 23.8 \\
ODISE + CLIPSelf & 21.1 & 12.4 & 25.2 \\
\bottomrule
\end{tabular}
"""
STOPPING = """\
2025-03-02 10:12:44 | epoch   4 | train 1.8241 | valid 1.6570 | lr 3.00e-04
2025-03-02 10:15:10 | epoch   8 | train 1.3022 | valid 1.2814 | lr 3.00e-04
2025-03-02 10:17:39 | epoch  12 | train 0.9710 | valid 1.1943 | lr 1.50e-04
2025-03-02 10:20:02 | epoch  16 | train 0.7536 | valid 1.2277 | lr 1.50e-04
early stopping: best epoch 12, valid 1.1943
test perplexity 3.41
"""
SELECTION = """\
{'uniform': {'acc': 0.7134, 'time': 812.4}, 'importance': {'acc': 0.7391, 'time': 846.0}, 'coreset': {'acc': 0.7458, 'time': 1290.7}}
Best: coreset
"""
PAIRED = """\
seed 0: vanilla 71.2 ours 73.8
seed 1: vanilla 70.4 ours 74.1
seed 2: vanilla 72.0 ours 73.5
seed 3: vanilla 71.1 ours 74.6
vanilla: 71.18 +/- 0.57
ours: 74.00 +/- 0.41
paired t-test p=0.0061
"""
ENCODERS = """\
               IDC    PRAD    PAAD    SKCM  Average
resnet50    0.4741  0.3075  0.3889  0.4822   0.4132
ctranspath  0.5110  0.3427  0.4378  0.5106   0.4505
uni         0.5702  0.3140  0.4764  0.6254   0.4965
gigapath    0.5508  0.3708  0.4768  0.5538   0.4881
"""
TIMES = """\
[timing] preprocessing: 134.2 s
[timing] training: 5412.0 s
[timing] inference (per image): 18.4 ms
[memory] peak RSS: 3.87 GB
"""
CLEANING = """\
Dataset: civil_comments (50,000 rows)
label errors detected: 2,315 (4.63%)
credibility before: 0.872
credibility after : 0.941
T = [[0.962, 0.038], [0.171, 0.829]]
"""
AGENTS = """\
agent       env_steps   return     walltime
sac         1000000     5213.8     3h12m
td3         1000000     4876.1     2h58m
dreamer      200000     5098.4     6h41m
"""
GRAPHS = """\
{
 "gcn": {"cora": {"mean": 0.8153, "std": 0.0061}, "citeseer": {"mean": 0.7034, "std": 0.0079}},
 "gat": {"cora": {"mean": 0.8302, "std": 0.0070}, "citeseer": {"mean": 0.7251, "std": 0.0072}},
 "sgc": {"cora": {"mean": 0.8100, "std": 0.0003}, "citeseer": {"mean": 0.7190, "std": 0.0011}}
}
"""
OPTIMA = """\
optimizer      final_f        ||grad||      iters
gd             3.112e-04      2.48e-02      5000
nesterov       8.905e-09      1.37e-04       812
lbfgs          1.204e-15      6.61e-08        37
"""
FOCAL = """\
{"run":"baseline","epoch":1,"val_loss":0.912,"val_auc":0.701}
{"run":"baseline","epoch":5,"val_loss":0.655,"val_auc":0.802}
{"run":"baseline","epoch":10,"val_loss":0.671,"val_auc":0.797}
{"run":"focal","epoch":1,"val_loss":0.540,"val_auc":0.688}
{"run":"focal","epoch":5,"val_loss":0.391,"val_auc":0.815}
{"run":"focal","epoch":10,"val_loss":0.374,"val_auc":0.829}
"""
BOOTSTRAP = """\
metric       estimate   ci_low   ci_high
auroc        0.8834     0.8612   0.9041
sensitivity  0.8128     0.7503   0.8688
specificity  0.8467     0.8201   0.8719
n_boot=2000
"""
REPAIR = """\
pass@1 = 0.317 (52/164)
pass@10 = 0.567 (93/164)
with repair: pass@1 = 0.396 (65/164)
timeouts: 7
"""
ROUNDS = """\
round,clients,acc,loss
10,5,0.412,1.731
50,5,0.634,1.102
100,5,0.701,0.884
10,20,0.398,1.790
50,20,0.655,1.046
100,20,0.738,0.790
"""
WORK = """\
level   no_cot_success   cot_success   episodes
L1      0.427            0.485         330
L2      0.030            0.064         235
L3      0.000            0.004         235
"""
HADAMARD = """\
n=1024 fp16=0.021ms fp32=0.033ms max_abs_err=4.9e-04 allclose=True
n=4096 fp16=0.058ms fp32=0.097ms max_abs_err=9.8e-04 allclose=True
n=12288 fp16=0.171ms fp32=0.302ms max_abs_err=1.9e-03 allclose=True
"""
SIZES = """\
Model          Params     MACs     Top-1
MobileNetV2    3504872    300.8M   71.88
MobileNetV2+SE 3894128    301.4M   72.96
ResNet-50      25557032   4.09G    76.13
"""
CACHE = """\
policy  hit_rate  p50_us  p99_us
lru     61.3%     118     1420
lfu     64.8%     121     1385
arc     68.9%     119     1102
"""
TUNING = """\
=== eval: zero-shot ===
F1=0.4821 EM=0.3140
=== eval: lora r=8 ===
F1=0.7719 EM=0.6402
=== eval: lora r=64 ===
F1=0.7790 EM=0.6455
=== eval: full ft ===
F1=0.7902 EM=0.6610
trainable params: r=8 0.12%, r=64 0.93%, full 100%
"""
FIELDS = """\
                          rmse               vrmse
                      1-step  rollout    1-step  rollout
field    model
density  fno          0.0412   0.1893    0.1031   0.4720
         cnextunet    0.0288   0.1544    0.0719   0.3852
pressure fno          0.0937   0.4410    0.2344   1.1032
         cnextunet    0.0651   0.3987    0.1630   0.9975
"""
KERNELS = """\
Running 4 configurations on 2 cores
config 1/4  kernel=rbf     C=1    acc=0.9121  fit=3.4s
config 2/4  kernel=rbf     C=10   acc=0.9333  fit=4.1s
config 3/4  kernel=linear  C=1    acc=0.8848  fit=1.2s
config 4/4  kernel=linear  C=10   acc=0.8909  fit=2.9s
Wilcoxon rbf vs linear: W=3.0, p=0.21
"""

EIGHTH = (
    Case("calibration", {"stdout": CALIBRATION},
         "The smooth calibration error is 0.037 on ImageNet (binned ECE: 0.039), 0.068 on solar flares and 0.043 on "
         "precipitation. In each case the smooth estimate lies below the binned one, for solar by 0.013.",
         {"0.037": G, "0.039": G, "0.068": G, "0.043": G, "0.013": G}),
    Case("calibration: wrong", {"stdout": CALIBRATION},
         "On precipitation smECE is 0.0684. ImageNet has a binned ECE of 0.0371. The largest standard error, 0.0120, is that "
         "of precipitation. ImageNet has a higher smECE than solar.",
         {"0.0684": C, "0.0371": C, "0.0120": G, "ImageNet has a higher smECE than solar": C}),
    Case("latency", {"latency.md": LATENCY},
         "At batch size 32 INT4 takes 0.447 ms against 1.306 ms for FP16 (2.9x faster). The Hadamard transform costs extra: "
         "0.629 ms in FP32 (INT4+FP32Had) and 0.498 ms in FP16 (INT4+FP16Had), the latter 11 % more than plain INT4.",
         {"0.447": G, "1.306": G, "2.9x": G, "0.629": G, "0.498": G, "11 %": G}),
    Case("latency: wrong", {"latency.md": LATENCY},
         "With batch size 1 INT4+FP16Had needs 0.241 ms. INT4 is 3.6x faster than FP16 at batch 8 (0.224 vs. 0.538 ms). "
         "INT4+FP32Had is faster than INT4 at every batch size.",
         {"0.241": C, "3.6x": C, "0.224": G, "0.538": G, "INT4+FP32Had is faster than INT4": C}),
    Case("waves", {"train.log": WAVES},
         "Both errors decrease with the number of waves: the one-step error falls from 4.12 % (K=1) to 1.66 % (K=8), and K=16 "
         "adds only 0.05 points (1.61 %). The rollout error at K=8 is 8.02 %, 63 % lower than with a single wave.",
         {"4.12 %": G, "1.66 %": G, "0.05 points": G, "1.61 %": G, "8.02 %": G, "63 %": G}),
    Case("waves: wrong", {"train.log": WAVES},
         "At K=4 the rollout error is 8.02 %. With K=16 the one-step error is 1.16 %. The rollout error increases with K.",
         {"8.02 %": C, "1.16 %": C, "rollout error increases": C}),
    Case("block coordinate", {"results.jsonl": BLOCKS},
         "BAdam needs 9.7 GB, less than half of Adam's 23.4 GB, and finishes an epoch in 289 s (Adam: 512 s, a 1.77x speedup). "
         "Its final loss is 0.420, close to Adam's 0.413; LoRA ends at 0.452.",
         {"9.7 GB": G, "23.4 GB": G, "289 s": G, "512 s": G, "1.77x": G, "0.420": G, "0.413": G, "0.452": G}),
    Case("block coordinate: wrong", {"results.jsonl": BLOCKS},
         "LoRA uses the least memory of the three. BAdam reaches a final loss of 0.413. LoRA trains an epoch in 288.9 s and "
         "saves 62 % of Adam's memory.",
         {"LoRA uses the least memory": C, "0.413": C, "288.9": C, "62 %": C}),
    Case("reviews", {"report.txt": REVIEWS},
         "- Overall accuracy: 82.6 % (macro F1 0.799)\n- The neutral class is the hardest (F1 0.69; 66.4 % precision, 72.1 % "
         "recall)\n- Positive reviews are recognised best (F1 0.896)",
         {"82.6 %": G, "0.799": G, "0.69": G, "66.4 %": G, "72.1 %": G, "0.896": G}),
    Case("reviews: wrong", {"report.txt": REVIEWS},
         "The negative class has a recall of 0.8421. The weighted F1 is 0.7990. Neutral reviews are recognised better than "
         "negative ones. Precision on positive reviews is 88.9 %.",
         {"0.8421": C, "0.7990": C, "88.9 %": G}),
    Case("linear model", {"stdout": LM},
         "The coefficient of wt is -3.88 (p = 1.1e-6), that of hp -0.032 (p = 0.0014). The model explains 82.7 % of the "
         "variance (adjusted R² = 0.815) with a residual standard error of 2.59.",
         {"-3.88": G, "p = 1.1e-6": G, "-0.032": G, "82.7 %": G, "0.815": G, "2.59": G}),
    Case("linear model: wrong", {"stdout": LM},
         "The coefficient of hp is -3.88. The adjusted R-squared is 0.827. The standard error of wt is 0.009.",
         {"-3.88": C, "0.827": C, "0.009": C}),
    Case("tiles", {"stdout": JULIA},
         "The tiled kernel has a median time of 1.14 ms against 4.39 ms for the naive one, i.e. it is 3.8x faster, and "
         "allocates 1.91 MiB instead of 7.63 MiB.",
         {"1.14 ms": G, "4.39 ms": G, "3.8x": G, "1.91": G, "7.63": G}),
    Case("tiles: wrong", {"stdout": JULIA},
         "The naive kernel has a minimum time of 4.39 ms. The tiled kernel uses 7.63 MiB. Its median time is 1.09 ms.",
         {"4.39": C, "7.63": C, "1.09": C}),
    Case("captions", {"scores.csv": CAPTIONS},
         "Adding the motion branch raises BLEU-4 from 0.052 to 0.066 and QA accuracy from 53.1 % to 57.4 %; the matching loss "
         "(motion+match) adds a further 1.4 points (58.8 %). In total BLEU-1 improves by 15.6 % relative, from 0.241 to 0.279.",
         {"0.052": G, "0.066": G, "53.1 %": G, "57.4 %": G, "1.4 points": G, "58.8 %": G, "15.6 %": G, "0.241": G,
          "0.279": G}),
    Case("captions: wrong", {"scores.csv": CAPTIONS},
         "Without motion the model reaches a ROUGE-L of 0.2437. Motion+match has a BLEU-2 of 0.1561. The model without motion "
         "(no_motion) has a higher QA accuracy than the one with motion.",
         {"0.2437": C, "0.1561": C}),
    Case("panoptic", {"table.tex": PANOPTIC},
         "CLIPSelf improves ODISE on all three metrics: PQ 21.1 vs 19.5 (+1.6), mAP 12.4 vs 10.6 and mIoU 25.2 vs 23.8.",
         {"21.1": G, "19.5": G, "+1.6": G, "12.4": G, "10.6": G, "25.2": G, "23.8": G}),
    Case("panoptic: wrong", {"table.tex": PANOPTIC},
         "With CLIPSelf the mAP rises by 1.4 points to 12.4. ODISE alone has an mIoU of 21.1. ODISE alone has a PQ of 19.5.",
         {"1.4 points": C, "12.4": G, "21.1": C, "19.5": G}),
    Case("early stopping", {"train.log": STOPPING},
         "Validation loss is lowest at epoch 12 (1.194) and rises again to 1.228 at epoch 16, while the training loss keeps "
         "falling, from 1.824 at epoch 4 to 0.754. The test perplexity is 3.41.",
         {"1.194": G, "1.228": G, "1.824": G, "0.754": G, "3.41": G}),
    Case("early stopping: wrong", {"train.log": STOPPING},
         "At epoch 16 the validation loss is 1.194. At epoch 8 the training loss is 1.2814. The test perplexity is 3.14. "
         "The training loss rises over the epochs.",
         {"1.194": C, "1.2814": C, "3.14": C, "training loss rises": C}),
    Case("selection", {"stdout": SELECTION},
         "Coreset selection gives the highest accuracy (74.6 %), 3.2 points above uniform sampling (71.3 %), but takes 1291 s, "
         "59 % longer than uniform. Importance sampling reaches 73.9 % in 846 s.",
         {"74.6 %": G, "3.2 points": G, "71.3 %": G, "1291": G, "59 %": G, "73.9 %": G, "846": G}),
    Case("selection: wrong", {"stdout": SELECTION},
         "Importance sampling reaches 74.6 %. Uniform sampling is the slowest of the three. The coreset takes 846 s.",
         {"74.6 %": C, "Uniform sampling is the slowest": C, "846": C}),
    Case("paired seeds", {"stdout": PAIRED},
         "Ours beats vanilla on all four seeds (74.0 ± 0.4 vs. 71.2 ± 0.6) and the difference is significant (p = 0.006). The "
         "gain is smallest on seed 2 (1.5 points) and largest on seed 1 (3.7 points).",
         {"Ours beats vanilla": G, "74.0 ± 0.4": G, "71.2 ± 0.6": G, "is significant": G, "p = 0.006": G, "1.5 points": G,
          "3.7 points": G}),
    Case("paired seeds: wrong", {"stdout": PAIRED},
         "On seed 2 vanilla is better than ours. Ours has 74.0 ± 0.6 on average. The average improvement is 4.8 points and it "
         "is not statistically significant.",
         {"vanilla is better than ours": C, "74.0 ± 0.6": C, "4.8 points": C, "not statistically significant": C}),
    Case("encoders", {"stdout": ENCODERS},
         "UNI has the best average Pearson correlation (0.497), ahead of GigaPath (0.488) and CTransPath (0.4505); ResNet50 is "
         "last with 0.413. GigaPath leads on PRAD with 0.371, where UNI reaches only 0.314.",
         {"0.497": G, "0.488": G, "0.4505": G, "0.413": G, "0.371": G, "0.314": G}),
    Case("encoders: wrong", {"stdout": ENCODERS},
         "GigaPath is the best encoder on SKCM. On IDC CTransPath reaches 0.551. ResNet50 averages 0.474. UNI outperforms "
         "CTransPath on PRAD.",
         {"GigaPath is the best": C, "0.551": C, "0.474": C, "UNI outperforms CTransPath": C}),
    Case("times", {"stdout": TIMES},
         "Preprocessing takes about 2.2 minutes and training 1.5 hours; inference costs 18 ms per image, with a peak memory "
         "of 3.9 GB.",
         {"2.2 minutes": G, "1.5 hours": G, "18 ms": G, "3.9 GB": G}),
    Case("times: wrong", {"stdout": TIMES},
         "Training takes 2.2 minutes. Peak memory is 5.4 GB. Inference takes 84.1 ms per image.",
         {"2.2 minutes": C, "5.4 GB": C, "84.1 ms": C}),
    Case("cleaning", {"stdout": CLEANING},
         "The pipeline flags 2,315 of 50,000 comments (4.6 %) as label errors; credibility rises from 0.872 to 0.941, a "
         "relative improvement of 7.9 %.",
         {"2,315 of 50,000": G, "4.6 %": G, "0.872": G, "0.941": G, "7.9 %": G}),
    Case("cleaning: wrong", {"stdout": CLEANING},
         "Cleaning raises credibility by 30 %. 3,215 label errors are detected. Credibility after cleaning is 0.872.",
         {"30 %": C, "3,215": C, "0.872": C}),
    Case("agents", {"stdout": AGENTS},
         "Dreamer obtains a return of 5098 after only 200k steps; SAC gets 5214 and TD3 4876 after 1M steps. SAC is thus 2.3 % "
         "better than Dreamer.",
         {"5098": G, "5214": G, "4876": G, "2.3 %": G}),
    Case("agents: wrong", {"stdout": AGENTS},
         "TD3 obtains the highest return. Dreamer has a return of 4876. SAC reaches 5.2k, 12 % more than TD3.",
         {"TD3 obtains the highest return": C, "4876": C, "12 %": C, "5.2k": G}),
    Case("graphs: table", {"results.json": GRAPHS},
         "| Model | Cora | Citeseer |\n|---|---|---|\n| GCN | 81.5 ± 0.6 | 70.3 ± 0.8 |\n| GAT | **83.0 ± 0.7** | **72.5 ± "
         "0.7** |\n| SGC | 81.0 ± 0.0 | 71.9 ± 0.1 |\n\nGAT is the best model on both datasets.",
         {"81.5 ± 0.6": G, "70.3 ± 0.8": G, "83.0 ± 0.7": G, "72.5 ± 0.7": G, "71.9 ± 0.1": G, "GAT is the best": G}),
    Case("graphs: wrong table", {"results.json": GRAPHS},
         "| Model | Cora | Citeseer |\n|---|---|---|\n| GCN | 81.5 | 71.9 |\n| SGC | 81.0 | 70.3 |\n\nGCN outperforms GAT on "
         "Cora.",
         {"81.5": G, "71.9": C, "81.0": G, "70.3": C, "GCN outperforms GAT": C}),
    Case("optima", {"stdout": OPTIMA},
         "L-BFGS converges in 37 iterations to f = 1.2e-15; Nesterov needs 812 iterations (8.9e-9), and gradient descent (gd) "
         "is still at 3.1 × 10⁻⁴ after 5000.",
         {"1.2e-15": G, "8.9e-9": G, "3.1 × 10⁻⁴": G}),
    Case("optima: wrong", {"stdout": OPTIMA},
         "Nesterov stops at a gradient norm of 2.5e-2. L-BFGS needs 73 iterations. GD reaches a final value of 8.9e-9.",
         {"2.5e-2": C, "73 iterations": C, "8.9e-9": C}),
    Case("literals", {"stdout": "Top-1: 76.3\nTop-5: 93.1\n"},
         "The pruned network keeps a top-1 accuracy of 76.3 % and a top-5 accuracy of 93.1 %.",
         {"76.3 %": N, "93.1 %": N},
         code='top1, top5 = 76.3, 93.1\nprint(f"Top-1: {top1}")\nprint(f"Top-5: {top5}")\n'),
    Case("literal beside a result", {"stdout": "baseline mAP: 0.381\nours mAP: 0.4127\n"},
         "Our detector reaches an mAP of 41.3 %, against 38.1 % for the baseline.",
         {"41.3 %": G, "38.1 %": N},
         code='from det import evaluate\nprint("baseline mAP: 0.381")\nprint(f"ours mAP: {evaluate():.4f}")\n'),
    Case("focal loss", {"log.jsonl": FOCAL},
         "The final AUC is 0.829 with focal loss and 0.797 for the baseline, whose AUC peaks at 0.802 in epoch 5. Focal loss "
         "starts lower (0.688 vs. 0.701 after one epoch) but ends 3.2 points higher.",
         {"0.829": G, "0.797": G, "0.802": G, "0.688": G, "0.701": G, "3.2 points": G}),
    Case("focal loss: wrong", {"log.jsonl": FOCAL},
         "The baseline has a validation loss of 0.391 at epoch 5. With focal loss the AUC peaks at 0.815. The final AUC of the "
         "baseline is 0.802.",
         {"0.391": C, "0.815": C, "0.802": C}),
    Case("bootstrap", {"metrics.txt": BOOTSTRAP},
         "AUROC 0.883 (95% CI 0.861-0.904), sensitivity 81.3% [75.0, 86.9], specificity 84.7% [82.0, 87.2].",
         {"0.883": G, "0.861": G, "0.904": G, "81.3%": G, "75.0": G, "86.9": G, "84.7%": G, "82.0": G, "87.2": G}),
    Case("bootstrap: wrong", {"metrics.txt": BOOTSTRAP},
         "Sensitivity is 84.7 %. The AUROC has a confidence interval from 0.820 to 0.872. Specificity is lower than "
         "sensitivity.",
         {"84.7 %": C, "0.820": C, "0.872": C, "Specificity is lower than sensitivity": C}),
    Case("repair", {"stdout": REPAIR},
         "Self-repair raises pass@1 from 31.7 % (52/164) to 39.6 % (65/164); pass@10 without repair is 56.7 %. There were 7 "
         "timeouts.",
         {"31.7 %": G, "52/164": G, "39.6 %": G, "65/164": G, "56.7 %": G, "7 timeouts": G}),
    Case("repair: wrong", {"stdout": REPAIR},
         "pass@10 is 39.6 %. With repair 52 of 164 problems are solved at the first attempt. There were 17 timeouts.",
         {"39.6 %": C, "52 of 164": C, "17 timeouts": C}),
    Case("rounds", {"fed.csv": ROUNDS},
         "With 20 clients accuracy reaches 73.8 % after 100 rounds, compared to 70.1 % with 5 clients (+3.7 points), although "
         "it is behind after 10 rounds (39.8 % vs 41.2 %).",
         {"73.8 %": G, "70.1 %": G, "+3.7 points": G, "39.8 %": G, "41.2 %": G}),
    Case("rounds: wrong", {"fed.csv": ROUNDS},
         "After 50 rounds 5 clients reach an accuracy of 65.5 %. With 20 clients the loss after 100 rounds is 0.884. The loss "
         "rises with the number of rounds.",
         {"65.5 %": C, "0.884": C, "loss rises": C}),
    Case("chain of thought", {"stdout": WORK},
         "Chain-of-thought lifts the success rate on L1 from 42.7% to 48.5% and roughly doubles it on L2 (3.0% → 6.4%), but L3 "
         "remains essentially unsolved (0.4%).",
         {"42.7%": G, "48.5%": G, "3.0%": G, "6.4%": G, "0.4%": G}),
    Case("chain of thought: wrong", {"stdout": WORK},
         "On L2 the success rate with CoT is 48.5 %. Without CoT 6.4 % of the L3 episodes succeed. Without CoT the success rate "
         "on L1 is higher than with CoT.",
         {"48.5 %": C, "6.4 %": C}),
    Case("hadamard", {"bench.txt": HADAMARD},
         "FP16 is faster than FP32 at every size, e.g. 0.171 ms vs 0.302 ms at n=12288 (1.77x). The maximum absolute error "
         "grows with n, from 4.9e-4 to 1.9e-3.",
         {"FP16 is faster than FP32": G, "0.171 ms": G, "0.302 ms": G, "1.77x": G, "4.9e-4": G, "1.9e-3": G}),
    Case("hadamard: wrong", {"bench.txt": HADAMARD},
         "At n=4096 FP32 takes 0.058 ms. The error at n=1024 is 9.8e-4. At n=4096 FP16 is 1.2x faster than FP32.",
         {"0.058": C, "9.8e-4": C, "1.2x": C}),
    Case("sizes", {"stdout": SIZES},
         "Adding SE blocks to MobileNetV2 increases the parameters from 3.50M to 3.89M (+11 %) and top-1 accuracy from 71.9 % "
         "to 73.0 %. ResNet-50 is at 76.1 % with 25.6M parameters and 4.09G MACs.",
         {"3.50M": G, "3.89M": G, "+11 %": G, "71.9 %": G, "73.0 %": G, "76.1 %": G, "25.6M": G, "4.09G": G}),
    Case("sizes: wrong", {"stdout": SIZES},
         "ResNet-50 has 3.9M parameters. MobileNetV2 has a top-1 accuracy of 76.1 %. MobileNetV2+SE is more accurate than "
         "ResNet-50.",
         {"3.9M": C, "76.1 %": C, "MobileNetV2+SE is more accurate than ResNet-50": C}),
    Case("cache", {"stdout": CACHE},
         "ARC has the highest hit rate, 68.9 %, which is 7.6 points above LRU, and cuts the p99 latency by 22 % (1420 to "
         "1102 µs). Median latencies hardly differ (118 µs for LRU, 121 µs for LFU).",
         {"ARC has the highest hit rate": G, "68.9 %": G, "7.6 points": G, "22 %": G, "1420": G, "1102": G, "118": G,
          "121": G}),
    Case("cache: wrong", {"stdout": CACHE},
         "LFU cuts p99 latency by 22 % relative to LRU. ARC has a hit rate of 64.8 %. By hit rate LFU > ARC > LRU.",
         {"22 %": C, "64.8 %": C, "LFU > ARC > LRU": C}),
    Case("cache: never measured", {"stdout": CACHE},
         "Under YCSB-B the throughput is 48.2 kops/s and the memory overhead 3.1 %.",
         {"48.2": N, "3.1 %": N}),
    Case("tuning", {"eval.log": TUNING},
         "LoRA with r=8 already reaches an F1 of 77.2 % (EM 64.0 %) with 0.12 % of the parameters; r=64 adds 0.7 points of F1, "
         "and full fine-tuning is best with 79.0 % (EM 66.1 %). Zero-shot F1 is 48.2 %.",
         {"77.2 %": G, "64.0 %": G, "0.12 %": G, "0.7 points": G, "79.0 %": G, "66.1 %": G, "48.2 %": G}),
    Case("tuning: wrong", {"eval.log": TUNING},
         "Zero-shot evaluation gives an exact match of 48.2 %. LoRA r=64 outperforms full fine-tuning in F1. With r=8 the EM is "
         "0.6455.",
         {"48.2 %": C, "LoRA r=64 outperforms full": C, "0.6455": C}),
    Case("fields", {"stdout": FIELDS},
         "On density CNextU-net (cnextunet) has a one-step RMSE of 0.029 against 0.041 for the FNO, and a rollout VRMSE of 0.385. "
         "The pressure field dominates the error: rollout VRMSE 1.10 for the FNO and 1.00 for the CNextU-net.",
         {"0.029": G, "0.041": G, "0.385": G, "1.10": G, "1.00": G}),
    Case("fields: wrong", {"stdout": FIELDS},
         "On pressure the FNO has a rollout RMSE of 0.399. The cnextunet has a one-step VRMSE of 0.103 on density. On density "
         "FNO beats cnextunet.",
         {"0.399": C, "0.103": C, "FNO beats cnextunet": C}),
    Case("kernels", {"stdout": KERNELS},
         "The RBF kernel with C=10 is the best configuration (93.3 %), the linear kernel with C=1 the worst (88.5 %) but the "
         "fastest (1.2 s). The difference between the kernels is not significant (Wilcoxon p = 0.21).",
         {"93.3 %": G, "88.5 %": G, "1.2 s": G, "not significant": G, "0.21": G}),
    Case("kernels: wrong", {"stdout": KERNELS},
         "With C=1 the RBF kernel reaches 93.3 %. The linear kernel with C=10 takes 4.1 s. The RBF kernel is significantly "
         "better than the linear one (p < 0.05).",
         {"93.3 %": C, "4.1 s": C, "significantly better": C}),
)  # fmt: skip
