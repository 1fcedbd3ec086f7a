"""A sixteenth batch: dense conclusions of four to eight sentences, as an agent or a paper writes them.

At first sight 162 of 169 claims called grounded were, and 162 of 194 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

SPEECH = """\
{
  "seeds": 5,
  "wer": {
    "clean": {
      "conformer": {"mean": 4.81, "std": 0.09},
      "ctc": {"mean": 6.37, "std": 0.14},
      "rnnt": {"mean": 5.26, "std": 0.11}
    },
    "snr_10": {
      "conformer": {"mean": 9.74, "std": 0.31},
      "ctc": {"mean": 14.92, "std": 0.46},
      "rnnt": {"mean": 10.58, "std": 0.27}
    },
    "snr_0": {
      "conformer": {"mean": 27.33, "std": 0.88},
      "ctc": {"mean": 38.15, "std": 1.21},
      "rnnt": {"mean": 25.96, "std": 0.79}
    }
  },
  "rtf": {"conformer": 0.214, "ctc": 0.083, "rnnt": 0.342}
}
"""
CONTINUAL = """\
dataset,method,buffer,avg_acc,forgetting
split-cifar100,finetune,0,17.42,71.90
split-cifar100,er,200,36.81,48.27
split-cifar100,er,1000,52.64,29.35
split-cifar100,der++,200,43.09,39.66
split-cifar100,der++,1000,58.77,22.14
core50,finetune,0,22.05,58.31
core50,er,200,41.30,30.72
core50,er,1000,55.18,17.93
core50,der++,200,40.86,31.55
core50,der++,1000,57.49,15.02
"""
MOLECULES = """\
Ablation on QM9 (MAE in meV, 3 seeds)

variant                    gap            homo           epoch time [s]
full model             38.2 +- 0.4    24.7 +- 0.2       61.3
w/o angles             45.9 +- 0.7    29.1 +- 0.5       40.8
w/o edge updates       41.6 +- 0.5    26.0 +- 0.3       52.7
w/o residuals          39.0 +- 0.9    25.3 +- 0.6       60.9
2 layers               47.5 +- 0.6    31.8 +- 0.4       23.4
"""
OPTIMIZERS = """\
2024-11-02 08:14:07 INFO run=adamw epoch=1 train_loss=4.2170 val_loss=3.9842 lr=3.0e-04
2024-11-02 08:31:55 INFO run=adamw epoch=2 train_loss=3.6418 val_loss=3.6027 lr=3.0e-04
2024-11-02 08:49:40 INFO run=adamw epoch=3 train_loss=3.3105 val_loss=3.4911 lr=3.0e-04
2024-11-02 09:07:21 INFO run=adamw epoch=4 train_loss=3.0562 val_loss=3.5236 lr=3.0e-04
2024-11-02 09:25:02 INFO run=lion epoch=1 train_loss=4.0384 val_loss=3.8519 lr=1.0e-04
2024-11-02 09:41:37 INFO run=lion epoch=2 train_loss=3.5293 val_loss=3.5308 lr=1.0e-04
2024-11-02 09:58:10 INFO run=lion epoch=3 train_loss=3.2447 val_loss=3.4385 lr=1.0e-04
2024-11-02 10:14:46 INFO run=lion epoch=4 train_loss=2.9871 val_loss=3.4672 lr=1.0e-04
2024-11-02 10:14:58 INFO run=adamw test perplexity=32.91 tokens/s=41800
2024-11-02 10:15:09 INFO run=lion test perplexity=31.20 tokens/s=44650
"""
TOOLS = """\
# Success rate by difficulty (%)

| agent | easy | medium | hard | overall |
|---|---|---|---|---|
| direct | 71.2 | 44.8 | 12.6 | 42.9 |
| react | 78.4 | 57.3 | 21.9 | 52.5 |
| plan-and-execute | 76.9 | 59.1 | 28.7 | 54.9 |
| reflexion | 81.5 | 60.6 | 26.2 | 56.1 |

# Cost per task

| agent | calls | tokens | usd |
|---|---|---|---|
| direct | 1.0 | 1240 | 0.011 |
| react | 6.3 | 8915 | 0.074 |
| plan-and-execute | 7.8 | 10360 | 0.087 |
| reflexion | 14.2 | 21730 | 0.181 |
"""
BALANCERS = """\
policy=random load=0.7 p50_ms=4.12 p99_ms=38.6 drop_rate=0.0021
policy=random load=0.9 p50_ms=9.85 p99_ms=141.2 drop_rate=0.0347
policy=jsq load=0.7 p50_ms=3.05 p99_ms=12.4 drop_rate=0.0000
policy=jsq load=0.9 p50_ms=4.71 p99_ms=29.8 drop_rate=0.0012
policy=power-of-two load=0.7 p50_ms=3.18 p99_ms=14.9 drop_rate=0.0001
policy=power-of-two load=0.9 p50_ms=5.26 p99_ms=37.5 drop_rate=0.0030
"""
OFFLINE = """\
=== normalized return (mean over 4 seeds) ===
                     BC            CQL           IQL           TD3+BC
hopper-medium        52.9 ± 1.8    58.5 ± 2.4    66.3 ± 3.1    59.3 ± 2.2
walker2d-medium      75.3 ± 2.6    72.5 ± 5.7    78.3 ± 1.9    83.7 ± 1.4
halfcheetah-medium   42.6 ± 0.3    44.0 ± 0.5    47.4 ± 0.2    48.3 ± 0.3
hopper-replay        18.1 ± 4.0    95.0 ± 2.1    94.7 ± 3.3    60.9 ± 8.5
average              47.2          67.5          71.7          63.1
"""
CREDIT = {
    "metrics.csv": """\
model,group,n,approval_rate,tpr,fpr
logistic,women,1841,0.412,0.683,0.144
logistic,men,3159,0.529,0.741,0.207
gbm,women,1841,0.436,0.752,0.129
gbm,men,3159,0.517,0.788,0.168
gbm+reweighing,women,1841,0.471,0.763,0.158
gbm+reweighing,men,3159,0.498,0.774,0.160
""",
    "stdout": """\
[logistic] AUC = 0.8124 (95% CI 0.7998-0.8250)
[gbm] AUC = 0.8537 (95% CI 0.8421-0.8653)
[gbm+reweighing] AUC = 0.8492 (95% CI 0.8374-0.8610)
demographic parity gap: logistic 0.117, gbm 0.081, gbm+reweighing 0.027
""",
}
STUDENTS = """\
teacher: 94.86% (11.17M params)

[T=1]
student-s: 88.12% -> 88.95% with KD
student-m: 91.37% -> 91.80% with KD
[T=4]
student-s: 88.12% -> 90.61% with KD
student-m: 91.37% -> 92.93% with KD
[T=16]
student-s: 88.12% -> 89.44% with KD
student-m: 91.37% -> 92.35% with KD
"""

SIXTEENTH = (
    Case("speech in noise", {"results.json": SPEECH},
         "On clean speech the conformer has the lowest word error rate (4.81 ± 0.09), followed by RNN-T (5.26) and CTC (6.37). At 10 dB the order is unchanged, with "
         "9.7, 10.6 and 14.9 respectively, so that CTC makes about 1.5 times as many errors as the conformer. At 0 dB, however, RNN-T overtakes the conformer (25.96 "
         "against 27.33), and CTC degrades to 38.2 ± 1.2. From clean speech to 0 dB the conformer's WER rises by 22.5 points. CTC is by far the fastest: its real-time "
         "factor is 0.083, against 0.214 for the conformer and 0.342 for RNN-T, i.e. 4.1 times faster than the latter.",
         {"4.81": G, "5.26": G, "6.37": G, "9.7,": G, "10.6": G, "14.9": G, "1.5 times": G, "25.96": G, "27.33": G, "38.2": G, "22.5 points": G, "0.083": G, "0.214": G,
          "0.342": G, "4.1 times": G, "the conformer has the lowest": G}),
    Case("speech in noise: mixed", {"results.json": SPEECH},
         "With clean audio, CTC reaches a WER of 5.26 and RNN-T one of 6.37. At 10 dB SNR the conformer is at 9.74 and thus 0.84 points below RNN-T. At 0 dB the conformer "
         "beats RNN-T. There the WER of CTC is 14.92. RNN-T is slower than the conformer (real-time factor 0.342 vs. 0.214), and the spread of CTC over seeds at 0 dB is "
         "1.21. Going from clean speech to 0 dB, RNN-T loses 22.5 points.",
         {"5.26": C, "6.37": C, "9.74": G, "0.84 points": G, "the conformer beats": C, "14.92": C, "RNN-T is slower": G, "0.342": G, "0.214": G, "1.21": G, "22.5 points": C}),
    Case("continual", {"out/summary.csv": CONTINUAL},
         "Fine-tuning forgets almost everything on Split-CIFAR-100 (average accuracy 17.4 %, forgetting 71.9). Experience replay with 200 and 1000 examples reaches 36.8 % "
         "and 52.6 %, DER++ 43.1 % and 58.8 %. With the small buffer the advantage of DER++ is therefore 6.3 points, with the large one 6.1. On CORe50 the picture differs: "
         "with 200 examples ER is slightly ahead of DER++ (41.3 % vs. 40.9 %), and only with 1000 does DER++ win (57.5 % against 55.2 %). Forgetting on CORe50 falls from "
         "30.7 to 17.9 for ER and from 31.6 to 15.0 for DER++ when the buffer grows from 200 to 1000. Every replay method beats fine-tuning by at least 18 points on both "
         "datasets.",
         {"17.4 %": G, "71.9": G, "36.8 %": G, "52.6 %": G, "43.1 %": G, "58.8 %": G, "6.3 points": G, "6.1": G, "41.3 %": G, "40.9 %": G, "57.5 %": G, "55.2 %": G,
          "30.7": G, "17.9": G, "31.6": G, "15.0": G, "ER is slightly ahead": G}),
    Case("continual: mixed", {"out/summary.csv": CONTINUAL},
         "On CORe50 ER with 1000 examples has an average accuracy of 57.5 % and a forgetting of 17.9. DER++ with a buffer of 200 reaches 43.1 % on Split-CIFAR-100 and 41.3 % on "
         "CORe50. On Split-CIFAR-100, ER outperforms DER++ at both buffer sizes. There, forgetting drops from 48.3 to 29.4 for ER as the buffer grows, and from 39.7 to "
         "15.0 for DER++. Fine-tuning gets 17.4 % on CORe50.",
         {"57.5 %": C, "17.9": G, "43.1 %": G, "41.3 %": C, "ER outperforms DER++": C, "48.3": G, "29.4": G, "39.7": G, "15.0": C, "17.4 %": C}),
    Case("ablated molecules", {"stdout": MOLECULES},
         "The full model has an MAE of 38.2 ± 0.4 meV on the gap and 24.7 ± 0.2 meV on the HOMO energy. Removing angles costs 7.7 meV on the gap (45.9) and 4.4 on HOMO (29.1), "
         "while removing edge updates costs only 3.4 and 1.3 meV. Without residuals the gap error is 39.0 ± 0.9, a difference of 0.8 that lies within the noise. The shallow "
         "variant with 2 layers is the worst on both targets (47.5 and 31.8), but it takes 23.4 s per epoch instead of 61.3 s, a speed-up of 2.6. Angles account for a third of "
         "the epoch time: without them an epoch takes 40.8 s.",
         {"38.2": G, "24.7": G, "7.7 meV": G, "45.9": G, "4.4": G, "29.1": G, "3.4": G, "1.3 meV": G, "39.0": G, "0.8": G, "47.5": G, "31.8": G, "23.4 s": G, "61.3 s": G,
          "2.6": G, "40.8 s": G, "is the worst": G}),
    Case("ablated molecules: mixed", {"stdout": MOLECULES},
         "Without edge updates the MAE on the gap is 45.9 meV and on HOMO 26.0 meV. Dropping the angles raises the HOMO error from 24.7 to 31.8 meV. The variant without "
         "residuals is better than the full model on both targets. The spread of the gap error over seeds is largest without residuals (0.9) and smallest for the full model "
         "(0.5). An epoch of the full model takes 61.3 s, one of the model without edge updates 60.9 s. With 2 layers the gap error is 9.3 meV above that of the full model.",
         {"45.9": C, "26.0": G, "24.7": G, "31.8": C, "without residuals is better": C, "0.9)": G, "(0.5)": C, "61.3 s": G, "60.9 s": C, "9.3 meV": G}),
    Case("lion and adamw", {"train.log": OPTIMIZERS},
         "Lion is ahead of AdamW after every epoch: its validation loss is 3.85, 3.53, 3.44 and 3.47 after epochs 1 to 4, against 3.98, 3.60, 3.49 and 3.52. Both begin to overfit "
         "after the third epoch, where the validation loss has its minimum (3.4385 for Lion, 3.4911 for AdamW), although the training loss keeps falling to 2.99 and 3.06. On the "
         "test set Lion reaches a perplexity of 31.2 compared with 32.9 for AdamW, 5.2 % lower, and it processes 44650 tokens per second, 6.8 % more than AdamW (41800).",
         {"3.85": G, "3.53": G, "3.44 ": G, "3.47": G, "3.98": G, "3.60": G, "3.49 ": G, "3.52": G, "3.4385": G, "3.4911": G, "2.99": G, "3.06": G, "31.2": G, "32.9": G,
          "5.2 %": G, "44650": G, "6.8 %": G, "41800": G}),
    Case("lion and adamw: mixed", {"train.log": OPTIMIZERS},
         "After epoch 2 AdamW has a training loss of 3.53 and a validation loss of 3.60. Lion's best validation loss, 3.44, is reached in epoch 3 and AdamW's, 3.49, in epoch 4. "
         "At the end, the training loss is 3.06 for Lion and 2.99 for AdamW. AdamW has a lower test perplexity than Lion (31.2 vs. 32.9). The validation loss of AdamW decreases "
         "steadily over training.",
         {"3.53": C, "3.60": G, "3.44": G, "3.49": C, "3.06": C, "2.99": C, "AdamW has a lower": C, "31.2": C, "32.9": C, "validation loss of AdamW decreases": C}),
    Case("tool agents", {"report.md": TOOLS},
         "Overall, Reflexion solves most tasks (56.1 %), ahead of plan-and-execute (54.9 %), ReAct (52.5 %) and direct prompting (42.9 %). Its lead comes from easy and medium tasks, "
         "where it reaches 81.5 % and 60.6 %. On hard tasks plan-and-execute is best with 28.7 %, 2.5 points above Reflexion and more than twice the rate of direct prompting "
         "(12.6 %). Reflexion is expensive, however: it needs 14.2 calls and 21730 tokens per task, 2.4 times as many tokens as ReAct (8915), and costs $0.181 compared with "
         "$0.087 for plan-and-execute. All agents but direct prompting solve more than half of the tasks. From easy to hard tasks, the success rate of ReAct drops by 56.5 "
         "points, from 78.4 % to 21.9 %.",
         {"56.1 %": G, "54.9 %": G, "52.5 %": G, "42.9 %": G, "81.5 %": G, "60.6 %": G, "28.7 %": G, "2.5 points": G, "12.6 %": G, "14.2": G, "21730": G, "2.4 times": G,
          "8915": G, "$0.181": G, "$0.087": G, "56.5": G, "78.4 %": G, "21.9 %": G, "plan-and-execute is best": G}),
    Case("tool agents: mixed", {"report.md": TOOLS},
         "ReAct solves 57.3 % of the medium and 28.7 % of the hard tasks. On easy tasks plan-and-execute outperforms ReAct. Reflexion needs 7.8 calls per task and plan-and-execute "
         "10360 tokens. Direct prompting is the cheapest at 1240 tokens and $0.011 per task. On hard tasks Reflexion is best, with 26.2 % compared with 28.7 % for "
         "plan-and-execute. Overall, ReAct is 9.6 points better than direct prompting and 3.6 points worse than plan-and-execute.",
         {"57.3 %": G, "28.7 % of": C, "plan-and-execute outperforms ReAct": C, "7.8": C, "10360": G, "1240": G, "$0.011": G, "Reflexion is best": C, "26.2 %": G, "28.7 % for": G,
          "9.6 points": G, "3.6 points": C}),
    Case("balancers", {"stdout": BALANCERS},
         "At a load of 0.7, join-shortest-queue and power-of-two are close: median latency 3.05 ms vs. 3.18 ms, p99 12.4 ms vs. 14.9 ms. Random assignment is already much worse in the "
         "tail (38.6 ms). At load 0.9 the p99 of random assignment explodes to 141.2 ms, 4.7 times that of JSQ (29.8 ms), while power-of-two stays at 37.5 ms. The drop rate of "
         "random assignment rises from 0.21 % to 3.47 %; for JSQ and power-of-two it is at most 0.3 % at either load. Between the two loads the median of JSQ grows by 1.66 ms, "
         "that of random assignment by 5.73 ms.",
         {"3.05 ms": G, "3.18 ms": G, "12.4 ms": G, "14.9 ms": G, "38.6 ms": G, "141.2 ms": G, "4.7 times": G, "29.8 ms": G, "37.5 ms": G, "0.21 %": G, "3.47 %": G,
          "0.3 %": G, "1.66 ms": G, "5.73 ms": G}),
    Case("balancers: mixed", {"stdout": BALANCERS},
         "Under JSQ the p99 latency at load 0.9 is 37.5 ms and the median 4.71 ms. Power-of-two drops 0.12 % of the requests at a load of 0.9, JSQ 0.30 %. At load 0.7 power-of-two has "
         "a lower p99 than JSQ. Random assignment has a median of 4.12 ms at load 0.7, which grows to 9.85 ms at 0.9. For power-of-two the p99 rises from 12.4 ms to 37.5 ms.",
         {"37.5 ms and": C, "4.71 ms": G, "0.12 %": C, "0.30 %": C, "power-of-two has": C, "4.12 ms": G, "9.85 ms": G, "12.4 ms": C}),
    Case("offline returns", {"stdout": OFFLINE},
         "Averaged over the four datasets IQL is best (71.7), followed by CQL (67.5), TD3+BC (63.1) and behavioural cloning (47.2). TD3+BC, however, has the highest return on "
         "walker2d-medium (83.7 ± 1.4) and halfcheetah-medium (48.3 ± 0.3), where IQL reaches 78.3 and 47.4. On hopper-medium IQL leads with 66.3 ± 3.1, 7.0 points above TD3+BC. "
         "The replay data separate the methods most: CQL and IQL are level (95.0 and 94.7), TD3+BC falls to 60.9 ± 8.5, and BC fails with 18.1. IQL beats BC on every dataset, by "
         "13.4, 3.0, 4.8 and 76.6 points on hopper-medium, walker2d-medium, halfcheetah-medium and hopper-replay, respectively.",
         {"71.7": G, "67.5": G, "63.1": G, "47.2": G, "83.7": G, "48.3": G, "78.3": G, "47.4": G, "66.3": G, "7.0 points": G, "95.0": G, "94.7": G, "60.9": G, "18.1": G,
          "13.4": G, "3.0": G, "4.8": G, "76.6 points": G, "IQL is best": G}),
    Case("offline returns: mixed", {"stdout": OFFLINE},
         "On hopper-medium CQL reaches 59.3 and TD3+BC 58.5. On walker2d-medium BC is better than CQL (75.3 vs. 72.5). CQL has the highest return on hopper-medium. On average, IQL is "
         "4.2 points ahead of CQL and 24.5 points ahead of TD3+BC. Its standard deviation on hopper-replay is 8.5. On halfcheetah-medium all methods lie between 42.6 and 48.3.",
         {"59.3": C, "58.5": C, "BC is better": G, "75.3": G, "72.5": G, "CQL has the highest": C, "4.2 points": G, "24.5 points": C, "8.5. On": C, "42.6": G, "48.3": G}),
    Case("credit", CREDIT,
         "Gradient boosting raises the AUC from 0.812 to 0.854 (95 % CI 0.842-0.865) over logistic regression. It also narrows the gap in approval rates between men and women from "
         "11.7 to 8.1 points (51.7 % vs. 43.6 %). Reweighing reduces this gap further to 2.7 points, at a cost of only 0.0045 AUC (0.8492). With it, women are approved in 47.1 % and "
         "men in 49.8 % of cases, and the false positive rates are nearly equal (0.158 vs. 0.160), whereas logistic regression has 0.144 for women and 0.207 for men. The "
         "true positive rate of women is 68.3 %, 75.2 % and 76.3 % for logistic regression, GBM and GBM with reweighing.",
         {"0.812": G, "0.854": G, "0.842": G, "11.7": G, "8.1 points": G, "51.7 %": G, "43.6 %": G, "2.7 points": G, "0.0045": G, "0.8492": G, "47.1 %": G, "49.8 %": G, "0.158": G,
          "0.160": G, "0.144": G, "0.207": G, "68.3 %": G, "75.2 %": G, "76.3 %": G}),
    Case("credit: mixed", CREDIT,
         "GBM has an AUC of 0.849 and logistic regression one of 0.812. The demographic parity gap is 0.117 for GBM and 0.027 after reweighing. Under logistic regression 52.9 % of the "
         "women and 41.2 % of the men are approved. The true positive rate of men falls from 78.8 % with plain GBM to 77.4 % with reweighing. Women have a higher "
         "false positive rate than men under logistic regression. GBM with reweighing has the highest AUC.",
         {"0.849": C, "0.812": G, "0.117": C, "0.027": G, "52.9 %": C, "41.2 %": C, "78.8 %": G, "77.4 %": G, "Women have a higher": C, "reweighing has the highest": C}),
    Case("students", {"stdout": STUDENTS},
         "Distillation at T = 4 lifts the small student from 88.1 % to 90.6 % and the medium one from 91.4 % to 92.9 %, gains of 2.5 and 1.6 points. At T = 1 the gains are only 0.8 and "
         "0.4 points, and at T = 16 they are 1.3 and 1.0. The best medium student (92.93 %) thus remains 1.9 points below the teacher's 94.86 %. The benefit is larger for the "
         "small student at every temperature.",
         {"88.1 %": G, "90.6 %": G, "91.4 %": G, "92.9 %": G, "2.5": G, "1.6 points": G, "0.8": G, "0.4 points": G, "1.3": G, "1.0": G, "92.93 %": G, "1.9 points": G, "94.86 %": G}),
    Case("students: mixed", {"stdout": STUDENTS},
         "At T = 1 the small student reaches 90.6 % with distillation, at T = 16 89.4 %. The medium student gains 0.4 points at T = 1 and 2.5 points at T = 4. Without distillation the small "
         "student has 91.4 %. The teacher has 94.9 % with 11.2M parameters, 2.5 points more than the medium student distilled at T = 16, which reaches 93.4 %.",
         {"90.6 %": C, "89.4 %": G, "0.4 points": G, "2.5 points at": C, "91.4 %": C, "94.9 %": G, "2.5 points more": G, "93.4 %": N}),
)  # fmt: skip
