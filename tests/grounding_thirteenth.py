"""A thirteenth batch: reports with caveats on the experiments of papers, in the forms that toolkits print.

At first sight 193 of 206 claims called grounded were, and 193 of 222 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N, U

SCHEDULES = """\
{
  "model": "1.5B", "gpus": 8,
  "runs": [
    {"schedule": "1F1B", "microbatches": 24, "samples_per_gpu_s": 11.81, "bubble_rate": 0.1942, "peak_gb": 30.4},
    {"schedule": "1F1B", "microbatches": 64, "samples_per_gpu_s": 13.55, "bubble_rate": 0.0857, "peak_gb": 30.4},
    {"schedule": "ZB-1p", "microbatches": 24, "samples_per_gpu_s": 12.93, "bubble_rate": 0.1174, "peak_gb": 30.6},
    {"schedule": "ZB-1p", "microbatches": 64, "samples_per_gpu_s": 14.21, "bubble_rate": 0.0481, "peak_gb": 30.6},
    {"schedule": "ZB-2p", "microbatches": 24, "samples_per_gpu_s": 14.52, "bubble_rate": 0.0093, "peak_gb": 59.1},
    {"schedule": "ZB-2p", "microbatches": 64, "samples_per_gpu_s": 14.61, "bubble_rate": 0.0037, "peak_gb": 59.1}
  ]
}
"""
QUANT = """\
\\begin{tabular}{llrrr}
\\toprule
Model & Method & PPL $\\downarrow$ & PIQA $\\uparrow$ & WinoGrande $\\uparrow$ \\\\
\\midrule
Llama-2-7B & FP16 & 5.47 & 79.11 & 69.06 \\\\
Llama-2-7B & RTN & 8.37 & 72.09 & 60.69 \\\\
Llama-2-7B & GPTQ & 6.10 & 76.77 & 63.77 \\\\
\\midrule
Llama-2-13B & FP16 & 4.88 & 80.47 & 72.22 \\\\
Llama-2-13B & RTN & 6.09 & 77.37 & 67.32 \\\\
Llama-2-13B & GPTQ & 5.40 & 78.89 & 70.24 \\\\
\\bottomrule
\\end{tabular}
"""
BACKDOOR = """\
attack: badnet
  expert_auroc: 0.9993
  scaleup_auroc: 0.9217
  strip_auroc: 0.9844
  clean_acc_before: 93.91
  clean_acc_after: 93.07
  asr_after: 0.18
attack: blend
  expert_auroc: 0.9921
  scaleup_auroc: 0.5063
  strip_auroc: 0.4317
  clean_acc_before: 94.02
  clean_acc_after: 92.88
  asr_after: 1.46
"""
HADAMARD = """\
------------------------------------------ benchmark: 6 tests ------------------------------------------
Name (time in us)            Min       Mean     StdDev     Median     Rounds
--------------------------------------------------------------------------------------------------------
test_fast[1024]           12.4100    13.0231     0.6120    12.9010      4102
test_fast[4096]           51.7702    53.3304     1.8823    52.9118      3310
test_fast[12288]         187.9034   192.4471     5.0915   191.0080      1804
test_scipy[1024]         231.1002   240.1190    11.7710   238.2204       911
test_scipy[4096]        3710.4408  3802.1175    70.2298  3788.9004       201
test_scipy[12288]      33501.7781 33988.0110   310.4471 33954.2203        30
--------------------------------------------------------------------------------------------------------
max abs difference fp32: 3.81e-06
max abs difference fp16: 1.95e-03
============================== 6 passed in 41.32s ==============================
"""
SEGMENT = """\
Evaluating: 100%|##########| 210/210 [03:17<00:00,  1.07it/s]
[eval] liver        dice 0.9521  hd95  4.13
[eval] spleen       dice 0.9378  hd95  3.02
[eval] pancreas     dice 0.7814  hd95  9.87
[eval] gallbladder  dice 0.7092  hd95 12.45
[eval] MEAN         dice 0.8451  hd95  7.37
"""
SEGMENT_BASE = """\
Evaluating: 100%|##########| 210/210 [02:41<00:00,  1.30it/s]
[eval] liver        dice 0.9466  hd95  5.20
[eval] spleen       dice 0.9214  hd95  4.41
[eval] pancreas     dice 0.7201  hd95 14.08
[eval] gallbladder  dice 0.6630  hd95 17.92
[eval] MEAN         dice 0.8128  hd95 10.40
"""
KALDI = """\
%WER 5.47 [ 2876 / 52576, 312 ins, 241 del, 2323 sub ] exp/zipformer/decode_test_clean
%WER 12.91 [ 6757 / 52343, 701 ins, 655 del, 5401 sub ] exp/zipformer/decode_test_other
%WER 6.02 [ 3165 / 52576, 340 ins, 275 del, 2550 sub ] exp/conformer/decode_test_clean
%WER 14.36 [ 7516 / 52343, 733 ins, 790 del, 5993 sub ] exp/conformer/decode_test_other
"""
HARNESS = """\
|    Tasks    |Version|Filter|n-shot| Metric |Value |   |Stderr|
|-------------|------:|------|-----:|--------|-----:|---|-----:|
|arc_easy     |      1|none  |     0|acc     |0.6124|±  |0.0100|
|             |       |none  |     0|acc_norm|0.5513|±  |0.0102|
|hellaswag    |      1|none  |     0|acc     |0.3381|±  |0.0047|
|             |       |none  |     0|acc_norm|0.4029|±  |0.0049|
|lambada      |      1|none  |     0|ppl     |14.880|±  |0.3710|
"""
TOKENS = """\
n_rep,retrieve_kv,math_f,qa,sec_per_sample
1,61.2,20.9,14.8,3.1
2,78.6,22.6,15.0,3.3
4,88.4,25.1,15.3,3.6
8,87.0,24.9,15.2,4.4
"""
NERF = """\
=> scene: barn
   F-score 0.6904 | chamfer 0.0211 | PSNR 27.41
=> scene: truck
   F-score 0.4487 | chamfer 0.0308 | PSNR 24.90
=> scene: ignatius
   F-score 0.8212 | chamfer 0.0104 | PSNR 26.05
=> average F-score 0.6534, chamfer 0.0208, PSNR 26.12
"""
NUMPY = """\
lambdas: [0.    0.001 0.01  0.1   1.   ]
train_mse: [0.0121 0.0133 0.0207 0.0918 0.4410]
test_mse:  [0.1894 0.1560 0.0733 0.1102 0.4526]
nonzeros:  [200 131  58  19   3]
best lambda 0.01 (test mse 0.0733)
"""
OPTIM = """\
optimizer=adamw steps=3000 final_loss=2.9134 val_ppl=19.04 tok/s=41250 mem=6.12GB
optimizer=lion steps=3000 final_loss=2.8821 val_ppl=18.37 tok/s=43870 mem=4.98GB
optimizer=sophia steps=3000 final_loss=2.8512 val_ppl=17.82 tok/s=38115 mem=6.15GB
optimizer=sgdm steps=3000 final_loss=4.1077 val_ppl=62.51 tok/s=46002 mem=4.95GB
"""
WANDB = """\
wandb: Run summary:
wandb:          best_epoch 71
wandb:               epoch 90
wandb:         test/top1 77.314
wandb:         test/top5 93.482
wandb:        train/loss 2.10337
wandb:        throughput 1184.2
wandb: Synced 5 W&B file(s), 0 media file(s)
"""
GLUE = {
    "results/mrpc.json": '{"task": "mrpc", "accuracy": 0.8676, "f1": 0.9053, "eval_samples": 408}',
    "results/rte.json": '{"task": "rte", "accuracy": 0.6643, "eval_samples": 277}',
    "results/cola.json": '{"task": "cola", "matthews": 0.5811, "eval_samples": 1043}',
    "stdout": "trainable params: 294,912 || all params: 124,940,546 || trainable%: 0.2360\n",
}
DIFFUSION = """\
[sampler=ddim  nfe=10] FID = 13.36  IS = 8.41  (50000 samples, 212.4 s)
[sampler=ddim  nfe=50] FID = 4.67   IS = 9.02  (50000 samples, 1060.1 s)
[sampler=dpm++ nfe=10] FID = 4.70   IS = 9.05  (50000 samples, 219.8 s)
[sampler=dpm++ nfe=50] FID = 2.91   IS = 9.31  (50000 samples, 1071.5 s)
"""
ROBUST = """\
+-----------+---------+---------+---------+
| corruption| resnet  | vit     | mixer   |
+-----------+---------+---------+---------+
| gaussian  |  46.3%  |  58.9%  |  41.7%  |
| motion    |  52.8%  |  60.4%  |  48.2%  |
| fog       |  61.5%  |  57.2%  |  50.9%  |
| jpeg      |  63.0%  |  69.8%  |  59.4%  |
+-----------+---------+---------+---------+
| mean      |  55.9%  |  61.6%  |  50.1%  |
+-----------+---------+---------+---------+
"""
SAFE = """\
model      helpfulness_elo  harmlessness_elo  harmful_ratio
sft-base           1000.00           1000.00          53.08
round-1            1091.42           1142.70          21.77
round-2            1166.05           1187.33           9.20
round-3            1231.58           1236.91           2.45
"""
ASR = """\
== AutoDAN ==
Llama-2-7B   no prompt: 28/100   safety prompt: 0/100
Vicuna-7B    no prompt: 90/100   safety prompt: 64/100
Mistral-7B   no prompt: 90/100   safety prompt: 82/100
== PAIR ==
Llama-2-7B   no prompt: 16/100   safety prompt: 0/100
Vicuna-7B    no prompt: 68/100   safety prompt: 32/100
Mistral-7B   no prompt: 88/100   safety prompt: 60/100
"""
TEMPLATE = """\
component,avg_seconds,share
problem_distiller,4.81,0.157
meta_buffer,2.76,0.090
reasoner,16.30,0.533
buffer_manager,6.71,0.219
total,30.58,1.000
"""
OLS = """\
==============================================================================
Dep. Variable:                  score   R-squared:                       0.418
Model:                            OLS   Adj. R-squared:                  0.409
No. Observations:                 144   F-statistic:                     50.63
==============================================================================
                 coef    std err          t      P>|t|      [0.025      0.975]
------------------------------------------------------------------------------
const         12.3051      1.904      6.463      0.000       8.541      16.069
length         0.0417      0.005      8.340      0.000       0.032       0.052
depth         -0.3120      0.214     -1.458      0.147      -0.735       0.111
==============================================================================
"""
KV = """\
R.PK  full=100.00 stream=6.78  ours=100.00
R.Num full=98.14  stream=6.61  ours=96.44
R.KV  full=84.20  stream=0.40  ours=81.00
peak memory: full 71.3 GiB, stream 17.9 GiB, ours 19.6 GiB
"""
CONTRAST = """\
epoch   1/200  loss 5.6120  knn 31.42
epoch  50/200  loss 4.0377  knn 71.90
epoch 100/200  loss 3.7012  knn 80.15
epoch 150/200  loss 3.5904  knn 83.66
epoch 200/200  loss 3.5519  knn 84.27
linear probe: acc@1 87.63 acc@5 99.41
"""
CALIB = """\
{'vanilla': {'acc': 0.9412, 'ece': 0.0438, 'nll': 0.2319}, 'temp': {'acc': 0.9412, 'ece': 0.0091, 'nll': 0.1877}, 'mixup': {'acc': 0.9467, 'ece': 0.0624, 'nll': 0.2206}}
T = 1.873
"""
CONFUSION = """\
Confusion matrix (rows true, columns predicted):
          cat   dog   fox
cat       182    14     4
dog        21   171     8
fox         6     9   185
accuracy: 0.8967
"""
GAME24 = """\
solved 87 of 98 with left-to-right grouping
solved 98 of 98 with all groupings
mean expressions tried: 623.4 (median 367)
"""
LADDER = """\
# Results

## 1 shot
- gpt-small: **41.2** ± 1.3
- gpt-medium: **52.7** ± 0.9

## 5 shot
- gpt-small: **48.9** ± 1.1
- gpt-medium: **63.4** ± 0.8

Evaluated on 1,319 problems.
"""
TTEST = """\
seed  base    ours
0     71.22   73.10
1     70.84   73.45
2     71.51   72.87
3     70.97   73.02
4     71.36   73.31
mean  71.18   73.15
std    0.28    0.23
paired t-test: t = 9.872, p = 0.00059
"""
LAYERS = """\
layer  cka    probe_acc
0      0.98   34.1
4      0.91   52.6
8      0.77   68.3
12     0.64   66.0
"""
FORECAST = """\
            mse                mae
horizon      96    192    336    96    192    336
dlinear    0.386  0.437  0.481  0.400  0.432  0.459
patchtst   0.370  0.413  0.422  0.400  0.429  0.440
"""

THIRTEENTH = (
    Case("schedules", {"results/throughput.json": SCHEDULES},
         "Throughput of 1F1B and ZB-1p improves with the number of microbatches: 1F1B goes from 11.81 to 13.55 samples/s per GPU and ZB-1p from "
         "12.93 to 14.21 when the microbatches grow from 24 to 64. ZB-2p is already at 14.52 with 24 microbatches and only gains 0.09 with 64. "
         "The price is memory: ZB-2p peaks at 59.1 GB, nearly twice the 30.4 GB of 1F1B. With 24 microbatches the bubble rate is 19.4 % for 1F1B "
         "and below 1 % for ZB-2p. We could not run the 6.2B model.",
         {"11.81": G, "13.55": G, "12.93": G, "14.21": G, "14.52": G, "0.09": G, "59.1 GB": G, "30.4 GB": G, "19.4 %": G}),
    Case("schedules: mixed", {"results/throughput.json": SCHEDULES},
         "With 64 microbatches ZB-1p reaches 14.61 samples/s per GPU. 1F1B at 24 microbatches has a bubble rate of 8.6 %, and 1F1B is faster "
         "than ZB-1p at 64 microbatches. Peak memory of ZB-1p is 30.6 GB. MFU was 52.3 %.",
         {"14.61": C, "8.6 %": C, "1F1B is faster than ZB-1p": C, "30.6 GB": G, "52.3 %": N}),
    Case("quantised", {"tables/main.tex": QUANT},
         "On Llama-2-7B round-to-nearest (RTN) is clearly worse than GPTQ: perplexity 8.37 vs. 6.10 (FP16: 5.47), PIQA 72.1 vs. 76.8. On the 13B "
         "model the gap is smaller (6.09 vs. 5.40). GPTQ on 13B loses only 0.52 perplexity points against FP16.",
         {"8.37": G, "6.10": G, "5.47": G, "72.1": G, "76.8": G, "6.09": G, "5.40": G, "0.52": G}),
    Case("quantised: mixed", {"tables/main.tex": QUANT},
         "For Llama-2-13B, GPTQ attains a perplexity of 6.10 and a WinoGrande accuracy of 70.24. RTN beats GPTQ on WinoGrande for Llama-2-7B. "
         "The FP16 PIQA score of Llama-2-7B is 80.47.",
         {"6.10": C, "70.24": G, "RTN beats GPTQ": C, "80.47": C}),
    Case("backdoors", {"report.yaml": BACKDOOR},
         "The expert detector gets an AUROC of 0.999 on BadNet and 0.992 on Blend. STRIP works for BadNet (98.4 %) but breaks down on Blend (43.2 %), "
         "as does SCALE-UP (92.2 % against 50.6 %). Purification costs at most 1.14 points of clean accuracy (94.02 to 92.88 on Blend) and leaves "
         "an ASR of 0.18 % and 1.46 %, respectively. This suggests that the detector would generalise to other attacks.",
         {"0.999": G, "0.992": G, "98.4 %": G, "43.2 %": G, "92.2 %": G, "50.6 %": G, "1.14": G, "94.02": G, "92.88": G, "0.18 %": G,
          "1.46 %": G}),
    Case("backdoors: mixed", {"report.yaml": BACKDOOR},
         "On the blend attack STRIP has an AUROC of 0.984, and the attack success rate after purification is 1.46 %. Clean accuracy on badnet "
         "falls from 93.91 to 92.88. On WaNet the AUROC is 0.974.",
         {"0.984": C, "1.46 %": G, "93.91": G, "92.88": C, "0.974": N}),
    Case("transforms", {"stdout": HADAMARD},
         "The fast transform takes 13.0 us on average at n = 1024 and 192.4 us at n = 12288; the scipy reference needs 240.1 us and 33,988 us, so the "
         "speed-up grows from about 18x to about 177x. The results agree within 3.81e-06 in fp32 and 1.95e-03 in fp16. All 6 tests passed.",
         {"13.0 us": G, "192.4 us": G, "240.1 us": G, "33,988 us": G, "18x": G, "177x": G, "3.81e-06": G, "1.95e-03": G}),
    Case("transforms: mixed", {"stdout": HADAMARD},
         "At n = 4096 the fast version has a mean of 53.3 us and a median of 51.8 us, while scipy takes 3.8 ms. At n = 1024 the speed-up over scipy "
         "is 71x.",
         {"53.3 us": G, "51.8 us": C, "3.8 ms": G, "71x": C}),
    Case("organs", {"logs/ours.log": SEGMENT, "logs/baseline.log": SEGMENT_BASE},
         "Our model reaches a mean Dice of 0.845 against 0.813 for the baseline (+3.2 points), and lowers the mean HD95 from 10.40 to 7.37 mm. "
         "Small organs profit most: the pancreas rises from 0.720 to 0.781, the gallbladder from 0.663 to 0.709, whereas the liver hardly changes "
         "(0.947 to 0.952).",
         {"0.845": G, "0.813": G, "+3.2 points": G, "10.40": G, "7.37": G, "0.720": G, "0.781": G, "0.663": G, "0.709": G, "0.947": G,
          "0.952": G}),
    Case("organs: mixed", {"logs/ours.log": SEGMENT, "logs/baseline.log": SEGMENT_BASE},
         "The baseline has a Dice of 0.781 on the pancreas. Our model has an HD95 of 12.45 on the gallbladder and a Dice of 0.938 on the spleen. "
         "The liver has a lower Dice than the spleen. Kidney Dice is 0.961.",
         {"0.781": C, "12.45": G, "0.938": G, "The liver has a lower Dice": C, "0.961": N}),
    Case("words", {"exp/wer.txt": KALDI},
         "Zipformer obtains a WER of 5.47 % on test-clean and 12.91 % on test-other; Conformer obtains 6.02 % and 14.36 %. That is a relative "
         "reduction of 9.1 % on test-clean and 10.1 % on test-other. Most errors are substitutions (2323 of 2876 for Zipformer on test-clean).",
         {"5.47 %": G, "12.91 %": G, "6.02 %": G, "14.36 %": G, "9.1 %": G, "10.1 %": G, "2323": G}),
    Case("words: mixed", {"exp/wer.txt": KALDI},
         "On test-other the Conformer has 790 deletions and a WER of 12.91 %. The Conformer makes fewer errors than the Zipformer. With a language "
         "model the WER drops to 4.1 %.",
         {"790 deletions": G, "12.91 %": C, "Conformer makes fewer errors": C, "4.1 %": N}),
    Case("harness", {"stdout": HARNESS},
         "Zero-shot, the model gets 61.2 ± 1.0 on ARC-easy (55.1 normalised), 40.3 % normalised accuracy on HellaSwag, and a LAMBADA perplexity of "
         "14.9.",
         {"61.2 ± 1.0": G, "55.1": G, "40.3 %": G, "14.9": G}),
    Case("harness: mixed", {"stdout": HARNESS},
         "HellaSwag accuracy is 40.3 % (33.8 % normalised). ARC-easy accuracy is 0.612. Lambada perplexity is 18.4.",
         {"40.3 %": C, "33.8 %": C, "0.612": G, "18.4": C}),
    Case("representatives", {"out/ablation.csv": TOKENS},
         "Retrieve.KV improves from 61.2 with one representative token to 88.4 with four, then drops slightly to 87.0 with eight. Math.F follows the "
         "same pattern (peak of 25.1 at n_rep=4). QA is almost flat (14.8 to 15.3). Eight tokens cost 4.4 s per sample, 42 % more than one (3.1 s).",
         {"61.2": G, "88.4": G, "87.0": G, "25.1": G, "14.8": G, "15.3": G, "4.4 s": G, "42 %": G, "3.1 s": G}),
    Case("representatives: mixed", {"out/ablation.csv": TOKENS},
         "With n_rep=2, Retrieve.KV is 78.6 and Math.F is 25.1. QA peaks at n_rep=8. The time per sample increases monotonically with n_rep.",
         {"78.6": G, "25.1": C, "QA peaks at n_rep=8": C, "The time per sample increases": G}),
    Case("scenes", {"stdout": NERF},
         "The average F-score is 0.653 (paper: 0.638). Truck is the hardest scene with 0.449, Ignatius the easiest with 0.821. The average PSNR is "
         "26.1 dB. Rendering took longer than we had hoped.",
         {"0.653": G, "0.638": U, "0.449": G, "0.821": G, "26.1 dB": G}),
    Case("scenes: mixed", {"stdout": NERF},
         "The barn has a chamfer distance of 0.0211 and an F-score of 0.821. The truck's PSNR is 24.9 dB; it exceeds that of the barn. LPIPS is 0.18.",
         {"0.0211": G, "0.821": C, "24.9 dB": G, "0.18": N}),
    Case("penalties", {"stdout": NUMPY},
         "The test MSE has its minimum of 0.0733 at lambda = 0.01, where 58 coefficients are non-zero; without a penalty it is 0.1894, although "
         "the training MSE is then smallest (0.0121). At lambda = 1 only 3 coefficients survive and the test MSE rises to 0.4526.",
         {"0.0733": G, "58": G, "0.1894": G, "0.0121": G, "3 coefficients": G, "0.4526": G}),
    Case("penalties: mixed", {"stdout": NUMPY},
         "At lambda = 0.1 the test MSE is 0.1102 with 58 non-zero coefficients. At lambda = 0.001 the training MSE is 0.0207. The number of "
         "non-zero coefficients decreases with lambda.",
         {"0.1102": G, "58 non-zero": C, "0.0207": C, "The number of non-zero coefficients decreases": G}),
    Case("optimizers", {"train.log": OPTIM},
         "Sophia has the lowest validation perplexity (17.82), followed by Lion (18.37) and AdamW (19.04); SGD with momentum is far behind at 62.5. Lion "
         "saves 1.14 GB of memory compared to AdamW (4.98 vs 6.12 GB) and is 6 % faster in tokens per second. All numbers come from a single "
         "seed, so differences below 0.5 may well be noise.",
         {"Sophia has the lowest": G, "17.82": G, "18.37": G, "19.04": G, "62.5": G, "1.14 GB": G, "4.98": G, "6.12 GB": G, "6 %": G}),
    Case("optimizers: mixed", {"train.log": OPTIM},
         "Lion ends at a loss of 2.851 and Sophia at 2.882. AdamW processes 41,250 tokens per second. Lion is slower than Sophia. The ranking "
         "by perplexity is Sophia < Lion < AdamW < SGDM.",
         {"2.851": C, "2.882": C, "41,250": G, "Lion is slower than Sophia": C, "Sophia < Lion < AdamW": G}),
    Case("summary", {"stdout": WANDB},
         "After 90 epochs the network reaches 77.3 % top-1 and 93.5 % top-5 accuracy on the test set, at 1184 images per second; the best epoch was 71. "
         "The published model has 77.6 %.",
         {"77.3 %": G, "93.5 %": G, "1184": G, "71.": G, "77.6 %": U}),
    Case("summary: mixed", {"stdout": WANDB},
         "Top-5 accuracy is 77.3 %, the final training loss 2.103, and top-1 accuracy on ImageNet-V2 is 65.8 %.",
         {"77.3 %": C, "2.103": G, "65.8 %": N}),
    Case("adapters", GLUE,
         "LoRA trains 294,912 parameters (0.24 % of the model). It gets an accuracy of 86.8 % and an F1 of 90.5 % on MRPC, 66.4 % on RTE and a Matthews "
         "correlation of 0.581 on CoLA.",
         {"294,912": G, "0.24 %": G, "86.8 %": G, "90.5 %": G, "66.4 %": G, "0.581": G}),
    Case("adapters: mixed", GLUE,
         "RTE accuracy is 86.8 %. The F1 on MRPC is 0.905. CoLA reaches a Matthews correlation of 0.664. SST-2 accuracy is 93.9 %.",
         {"86.8 %": C, "0.905": G, "0.664": C, "93.9 %": N}),
    Case("samplers", {"stdout": DIFFUSION},
         "With 10 function evaluations DPM++ has an FID of 4.70, as good as DDIM with 50 (4.67), at about a fifth of the time (220 s vs. 1060 s). At NFE = 50 "
         "DPM++ improves further to 2.91. DDIM at 10 steps is much worse (13.36).",
         {"4.70": G, "4.67": G, "220 s": G, "1060 s": G, "2.91": G, "13.36": G}),
    Case("samplers: mixed", {"stdout": DIFFUSION},
         "DDIM with 50 evaluations has an IS of 9.02 and an FID of 2.91. DPM++ with 10 evaluations has an IS of 9.31. DDIM has a better FID than DPM++ at "
         "50 evaluations.",
         {"9.02": G, "2.91": C, "9.31": C, "DDIM has a better FID": C}),
    Case("corruptions", {"stdout": ROBUST},
         "ViT is the most robust model (mean accuracy 61.6 %, ResNet 55.9 %, Mixer 50.1 %). It wins on three of the four corruptions; only on fog "
         "ResNet is ahead (61.5 % vs. 57.2 %).",
         {"61.6 %": G, "55.9 %": G, "50.1 %": G, "61.5 %": G, "57.2 %": G}),
    Case("corruptions: mixed", {"stdout": ROBUST},
         "Under Gaussian noise the Mixer has an accuracy of 46.3 %, under JPEG ViT has 69.8 %. ViT beats ResNet on every corruption. ResNet is "
         "better than ViT on fog. Snow is the hardest corruption at 31.0 %.",
         {"46.3 %": C, "69.8 %": G, "ViT beats ResNet on every": C, "better than ViT on fog": G, "31.0 %": N}),
    Case("rounds", {"eval/elo.txt": SAFE},
         "Each round improves both scores. After round 3 helpfulness is at 1231.6 (+231.6 over the SFT model) and harmlessness at 1236.9, and the "
         "harmful ratio falls from 53.08 % to 2.45 %.",
         {"1231.6": G, "+231.6": G, "1236.9": G, "53.08 %": G, "2.45 %": G}),
    Case("rounds: mixed", {"eval/elo.txt": SAFE},
         "Round 1 has a helpfulness Elo of 1142.7 and a harmful ratio of 21.8 %. Round 2 is less helpful than round 1. The harmful ratio decreases "
         "from round to round.",
         {"1142.7": C, "21.8 %": G, "Round 2 is less helpful": C}),
    Case("jailbreaks", {"stdout": ASR},
         "The safety prompt lowers the AutoDAN success rate from 28 % to 0 % for Llama-2-7B, from 90 % to 64 % for Vicuna-7B and from 90 % to 82 % for "
         "Mistral-7B. For PAIR the drop is 36 points for Vicuna-7B (68 % to 32 %).",
         {"28 %": G, "64 %": G, "82 %": G, "36 points": G, "68 %": G, "32 %": G}),
    Case("jailbreaks: mixed", {"stdout": ASR},
         "Under PAIR Mistral-7B is attacked successfully in 88 % of the cases without and 82 % with the safety prompt. Under AutoDAN Vicuna-7B with "
         "the safety prompt has an ASR of 64 %.",
         {"88 %": G, "82 %": C, "64 %": G}),
    Case("components", {"time_distribution.csv": TEMPLATE},
         "The reasoner takes most of the time (53.3 %, 16.3 s per problem), followed by the buffer manager (21.9 %) and the problem distiller (15.7 %); "
         "the meta-buffer is cheapest with 9.0 %. A problem takes 30.6 s in total.",
         {"53.3 %": G, "16.3 s": G, "21.9 %": G, "15.7 %": G, "9.0 %": G, "30.6 s": G}),
    Case("components: mixed", {"time_distribution.csv": TEMPLATE},
         "The buffer manager needs 2.76 s, the problem distiller 4.81 s. The meta-buffer takes longer than the problem distiller. The verifier "
         "adds 1.2 s.",
         {"2.76 s": C, "4.81 s": G, "The meta-buffer takes longer": C, "1.2 s": N}),
    Case("regression", {"ols.txt": OLS},
         "Length is a significant predictor (coefficient 0.042, t = 8.34), depth is not (-0.312, p = 0.147). The model explains 41.8 % of the variance "
         "(adjusted R2 0.409) over 144 observations.",
         {"0.042": G, "8.34": G, "-0.312": G, "p = 0.147": G, "41.8 %": G, "0.409": G}),
    Case("regression: mixed", {"ols.txt": OLS},
         "The coefficient of depth is 0.0417 and that of length 0.0417. The intercept is 12.3. The F-statistic is 63.5.",
         {"0.0417 and": C, "0.0417.": G, "63.5": C}),
    Case("contexts", {"stdout": KV},
         "Our method keeps the retrieval accuracy of full attention (R.PK 100.0 vs. 100.0, R.Num 96.4 vs. 98.1, R.KV 81.0 vs. 84.2) with 19.6 GiB "
         "instead of 71.3 GiB, i.e. 3.6x less memory. Streaming attention is cheapest (17.9 GiB) but fails on all three tasks (6.8, 6.6 and 0.4).",
         {"96.4": G, "98.1": G, "81.0": G, "84.2": G, "19.6 GiB": G, "71.3 GiB": G, "3.6x": G, "17.9 GiB": G, "6.8,": G, "6.6": G,
          "0.4)": G}),
    Case("contexts: mixed", {"stdout": KV},
         "On R.KV our method scores 96.4. Full attention scores 98.1 on R.Num. Streaming needs 19.6 GiB. Ours is better than full attention on R.Num.",
         {"96.4": C, "98.1": G, "19.6 GiB": C, "Ours is better than full": C}),
    Case("contrastive", {"train.log": CONTRAST},
         "kNN accuracy climbs from 31.4 % after the first epoch to 84.3 % after 200 epochs, with most of the gain before epoch 100 (80.2 %). The linear probe "
         "reaches 87.6 % top-1 (99.4 % top-5). The contrastive loss ends at 3.55.",
         {"31.4 %": G, "84.3 %": G, "80.2 %": G, "87.6 %": G, "99.4 %": G, "3.55": G}),
    Case("contrastive: mixed", {"train.log": CONTRAST},
         "At epoch 150 kNN accuracy is 83.7 % and the loss is 3.70. At epoch 50 kNN is at 80.2 %. Fine-tuning gives 94.8 %.",
         {"83.7 %": G, "3.70": C, "80.2 %": C, "94.8 %": N}),
    Case("temperatures", {"stdout": CALIB},
         "Temperature scaling (T = 1.873) cuts the ECE from 4.38 % to 0.91 % and the NLL from 0.232 to 0.188 without touching accuracy (94.1 %). Mixup gains "
         "0.55 points of accuracy but has the worst ECE (6.24 %).",
         {"4.38 %": G, "0.91 %": G, "0.232": G, "0.188": G, "94.1 %": G, "0.55 points": G, "6.24 %": G}),
    Case("temperatures: mixed", {"stdout": CALIB},
         "Mixup has an NLL of 0.188. Vanilla training has an ECE of 0.0438. Mixup is better calibrated than the vanilla model by ECE. Brier score is 0.087.",
         {"0.188": C, "0.0438": G, "0.087": N}),
    Case("animals", {"stdout": CONFUSION},
         "The classifier is right in 89.7 % of the cases. Cats are mistaken for dogs 14 times, dogs for cats 21 times; 185 foxes are recognised.",
         {"89.7 %": G, "14 times": G, "21 times": G, "185 foxes": G}),
    Case("animals: mixed", {"stdout": CONFUSION},
         "Accuracy is 87.9 %. Dogs are mistaken for cats 14 times. 171 dogs are recognised.",
         {"87.9 %": C, "14 times": C, "171 dogs": G}),
    Case("puzzles", {"stdout": GAME24},
         "All groupings are needed: 98/98 puzzles are solved with them and only 87/98 with left-to-right grouping. On average 623 expressions are tried, the "
         "median is 367.",
         {"98/98": G, "87/98": G, "623": G, "367": G}),
    Case("shots", {"REPORT.md": LADDER},
         "Five examples help both models: small goes from 41.2 to 48.9 and medium from 52.7 to 63.4 (± 0.8). The gain is larger for the medium model (10.7 vs. "
         "7.7 points).",
         {"41.2": G, "48.9": G, "52.7": G, "63.4": G, "10.7": G, "7.7 points": G}),
    Case("shots: mixed", {"REPORT.md": LADDER},
         "In the 1-shot setting gpt-medium has 63.4. In the 5-shot setting gpt-small has 48.9, less than gpt-medium in the same setting. Chain of thought "
         "adds 8.2 points.",
         {"63.4": C, "48.9": G, "8.2 points": N}),
    Case("paired", {"stdout": TTEST},
         "Over five seeds ours reaches 73.15 ± 0.23 and the baseline 71.18 ± 0.28. The difference of 1.97 points is significant (paired t-test, p = 0.0006) and "
         "has the same sign for every seed. The best single run of ours has 73.45.",
         {"73.15 ± 0.23": G, "71.18 ± 0.28": G, "1.97 points": G, "p = 0.0006": G, "73.45": G}),
    Case("paired: mixed", {"stdout": TTEST},
         "The baseline is best with seed 2 (71.51) and its mean is 73.15. With seed 3 ours has 72.87. The gain is significant (p = 0.00059).",
         {"71.51": G, "73.15": C, "72.87": C, "p = 0.00059": G}),
    Case("layers", {"stdout": LAYERS},
         "Probing accuracy rises up to layer 8 (68.3 %) and falls to 66.0 % at the last layer, whereas CKA similarity decreases monotonically from 0.98 to "
         "0.64.",
         {"68.3 %": G, "66.0 %": G, "0.98": G, "0.64": G, "CKA similarity decreases": G}),
    Case("layers: mixed", {"stdout": LAYERS},
         "At layer 4 the probe reaches 68.3 %; CKA there is 0.91. Probing accuracy increases monotonically with depth.",
         {"68.3 %": C, "0.91": G, "Probing accuracy increases": C}),
    Case("horizons of forecasts", {"stdout": FORECAST},
         "PatchTST has the lower MSE at every horizon (0.370/0.413/0.422 against 0.386/0.437/0.481 for DLinear); at horizon 96 both have the same MAE of 0.400.",
         {"0.370": G, "0.413": G, "0.422": G, "0.386": G, "0.437": G, "0.481": G, "0.400": G}),
    Case("horizons of forecasts: mixed", {"stdout": FORECAST},
         "At horizon 336 DLinear has an MSE of 0.459 and an MAE of 0.459. PatchTST has an MAE of 0.429 at horizon 192. DLinear beats PatchTST at "
         "horizon 336.",
         {"0.459 and": C, "0.429": G, "DLinear beats PatchTST": C}),
)  # fmt: skip
