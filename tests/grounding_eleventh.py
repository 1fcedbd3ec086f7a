"""An eleventh batch: once more other fields, other printing, other wordings.

At first sight 90 of 97 claims called grounded were, and 90 of 98 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

RAG = """\
== retrieval (k=5) ==
chunk=256   hit@5 0.712  mrr 0.548  latency_ms 31
chunk=512   hit@5 0.764  mrr 0.583  latency_ms 34
chunk=1024  hit@5 0.739  mrr 0.571  latency_ms 47
== generation ==
chunk=256   faithfulness 0.81  answer_f1 0.62
chunk=512   faithfulness 0.86  answer_f1 0.67
chunk=1024  faithfulness 0.84  answer_f1 0.69
"""
CONTINUAL = """\
{
  "ewc":    {"avg_acc": 64.3, "forgetting": 18.2, "per_task": [71.0, 66.4, 62.1, 57.7]},
  "replay": {"avg_acc": 73.9, "forgetting": 9.6,  "per_task": [72.2, 74.0, 75.1, 74.3]},
  "naive":  {"avg_acc": 48.8, "forgetting": 41.5, "per_task": [31.4, 42.9, 53.0, 67.9]}
}
"""
MEMORY = """\
model        batch  peak_mem(GB)  step(ms)
gpt2-small   8      5.3           112
gpt2-small   32     17.9          391
gpt2-medium  8      13.1          288
gpt2-medium  32     OOM           -
"""
NESTED = """\
Evaluating checkpoint step_20000
  task: copa
    accuracy: 0.690
    n: 100
  task: boolq
    accuracy: 0.782
    n: 3270
Evaluating checkpoint step_40000
  task: copa
    accuracy: 0.740
    n: 100
  task: boolq
    accuracy: 0.811
    n: 3270
"""
SPEECH = """\
snr_db,pesq_noisy,pesq_enhanced,stoi_noisy,stoi_enhanced
0,1.24,1.98,0.712,0.804
5,1.51,2.37,0.793,0.872
10,1.93,2.81,0.861,0.918
"""
GAMES = """\
game        random   human     dqn       ours
Breakout    1.7      30.5      401.2     418.5
Pong        -20.7    14.6      18.9      20.3
Seaquest    68.4     42054.7   5286.0    4216.0
human-normalised median: dqn 79.1%, ours 93.4%
"""
MIXED = """\
Linear mixed model fit by REML
Random effects:
 Groups   Name        Variance Std.Dev.
 subject  (Intercept) 1378.18  37.12
 Residual              960.46  30.99
Fixed effects:
            Estimate Std. Error t value
(Intercept)  251.405      9.747  25.793
days          10.467      0.804  13.015
"""
CROSSVAL = """\
>>> LogisticRegression
scores: [0.91, 0.89, 0.93, 0.90, 0.92]
mean 0.910 +/- 0.014
>>> RandomForest
scores: [0.94, 0.93, 0.95, 0.92, 0.96]
mean 0.940 +/- 0.014
>>> SVC
scores: [0.92, 0.90, 0.91, 0.93, 0.94]
mean 0.920 +/- 0.014
"""
ABLATE = """\
config                     mIoU    delta
full                       52.4    -
w/o boundary loss          51.1    -1.3
w/o multi-scale            49.6    -2.8
w/o pretraining            43.0    -9.4
"""
SPEED = """\
| implementation | N=1e3   | N=1e4   | N=1e5    |
|----------------|---------|---------|----------|
| python         | 0.021 s | 0.214 s | 2.190 s  |
| numpy          | 0.0011 s| 0.0048 s| 0.0410 s |
| rust           | 0.0004 s| 0.0035 s| 0.0338 s |
"""
CHEM = """\
property   model     train_mae  test_mae  unit
gap        schnet    0.031      0.063     eV
gap        painn     0.022      0.046     eV
mu         schnet    0.019      0.033     D
mu         painn     0.007      0.012     D
"""
CAUSAL = """\
true ATE = 2.000
naive difference      3.141 (bias 1.141)
regression adjusted   2.087 (bias 0.087)
ipw                   1.962 (bias -0.038)
doubly robust         2.011 (bias 0.011)
"""
STREAM = """\
[00:10] events=120345 p50=3.1ms p99=18.4ms lag=0
[00:20] events=248910 p50=3.3ms p99=21.7ms lag=12
[00:30] events=371204 p50=3.2ms p99=44.9ms lag=845
max lag 845, dropped 37 of 371204 events (0.010%)
"""
FEDER = """\
            clean acc   backdoor acc
defense
none          91.4         96.2
clipping      90.8         41.7
krum          86.3          3.9
median        88.9          7.5
"""
TEXTGEN = """\
temperature 0.2: distinct-2 0.412, self-bleu 0.601, ppl 11.3
temperature 0.7: distinct-2 0.588, self-bleu 0.452, ppl 17.9
temperature 1.2: distinct-2 0.803, self-bleu 0.233, ppl 62.4
"""
BIO = """\
Sample  cells   genes_per_cell  doublets(%)  clusters
PBMC_A  4612    1893            3.1          11
PBMC_B  5240    1740            4.6          12
Tumour  7318    2205            8.9          19
"""
CURRIC = """\
epoch,random_order,easy_first,hard_first
1,0.312,0.405,0.221
5,0.588,0.641,0.502
20,0.731,0.744,0.735
50,0.772,0.770,0.779
"""
LIPSCHITZ = """\
method=vanilla  std_acc=95.1 cert_acc@36/255=0.0  lip=1.2e+06
method=gloro    std_acc=77.0 cert_acc@36/255=58.4 lip=8.7
method=bcop     std_acc=75.1 cert_acc@36/255=58.3 lip=1.0
"""

ELEVENTH = (
    Case("chunks", {"stdout": RAG},
         "Chunks of 512 tokens retrieve best (hit@5 0.764, MRR 0.583). With chunk=1024 the answer F1 is slightly higher (0.69 vs. 0.67) "
         "but faithfulness falls from 0.86 to 0.84 and latency rises from 34 to 47 ms.",
         {"0.764": G, "0.583": G, "0.69 vs": G, "0.67)": G, "0.86": G, "0.84": G}),
    Case("chunks: wrong", {"stdout": RAG},
         "With chunk=256 the hit rate hit@5 is 0.764. With chunk=512 faithfulness is 0.84. The MRR at chunk=1024 is 0.548.",
         {"0.764": C, "0.84": C, "0.548": C}),
    Case("forgetting", {"cl.json": CONTINUAL},
         "Replay reaches an average accuracy of 73.9 % with a forgetting of 9.6 points; EWC is at 64.3 % (18.2) and naive fine-tuning "
         "collapses to 48.8 % (41.5). On the first task naive training retains only 31.4 %.",
         {"73.9 %": G, "9.6 points": G, "64.3 %": G, "18.2": G, "48.8 %": G, "41.5": G, "31.4 %": G}),
    Case("forgetting: wrong", {"cl.json": CONTINUAL},
         "EWC forgets 9.6 points. Replay has an average accuracy of 64.3 %. Naive training has less forgetting than EWC.",
         {"9.6 points": C, "64.3 %": C, "Naive training has less forgetting than EWC": C}),
    Case("batches", {"stdout": MEMORY},
         "GPT-2 small needs 5.3 GB at batch size 8 and 17.9 GB at batch size 32 (3.4x); GPT-2 medium needs 13.1 GB at batch size 8 and "
         "runs out of memory at 32. A step takes 112 ms and 288 ms, respectively, at batch size 8.",
         {"5.3 GB": G, "17.9 GB": G, "3.4x": G, "13.1 GB": G}),
    Case("batches: wrong", {"stdout": MEMORY},
         "GPT-2 medium (gpt2-medium) needs 17.9 GB at batch size 8. gpt2-small takes 288 ms per step with batch 32.",
         {"17.9 GB": C, "288": C}),
    Case("checkpoints", {"eval.log": NESTED},
         "From step 20000 to step 40000 accuracy improves on COPA from 69.0 % to 74.0 % and on BoolQ from 78.2 % to 81.1 % (+2.9 points).",
         {"69.0 %": G, "74.0 %": G, "78.2 %": G, "81.1 %": G, "+2.9 points": G}),
    Case("checkpoints: wrong", {"eval.log": NESTED},
         "At step 20000 the accuracy on COPA is 74.0 %. At step 40000 the accuracy on BoolQ is 74.0 %.",
         {"74.0 %": C, "74.0 %.": C}),
    Case("enhancement", {"se.csv": SPEECH},
         "At 0 dB SNR enhancement lifts PESQ from 1.24 to 1.98 and STOI from 0.712 to 0.804. The PESQ gain is 0.88 at 10 dB (1.93 to 2.81).",
         {"1.24": G, "1.98": G, "0.712": G, "0.804": G, "0.88": G, "1.93": G, "2.81": G}),
    Case("enhancement: wrong", {"se.csv": SPEECH},
         "At 5 dB the enhanced PESQ is 2.81. The noisy STOI at 10 dB is 0.918. Enhancement lowers STOI at every SNR.",
         {"2.81": C, "0.918": C}),
    Case("games", {"scores.txt": GAMES},
         "Our agent beats DQN on Breakout (418.5 vs. 401.2) and Pong (20.3 vs. 18.9) but not on Seaquest (4216 vs. 5286). The "
         "human-normalised median rises from 79.1 % to 93.4 %.",
         {"418.5": G, "401.2": G, "20.3": G, "18.9": G, "4216": G, "5286": G, "79.1 %": G, "93.4 %": G}),
    Case("games: wrong", {"scores.txt": GAMES},
         "On Pong humans score 18.9. DQN reaches 4216 on Seaquest. DQN has a human-normalised median of 93.4 %.",
         {"18.9": C, "4216": C, "93.4 %": C}),
    Case("sleep", {"stdout": MIXED},
         "Reaction time increases by 10.5 ms per day of deprivation (SE 0.80, t = 13.0) from an intercept of 251.4 ms; the standard "
         "deviation between subjects is 37.1, the residual one 31.0.",
         {"0.80": G, "13.0": G, "37.1": G, "31.0": G}),
    Case("sleep: wrong", {"stdout": MIXED},
         "The effect of days has a standard error of 9.75. The residual variance is 1378.",
         {"9.75": C, "1378": C}),
    Case("five folds", {"stdout": CROSSVAL},
         "RandomForest is best with a mean accuracy of 0.940 ± 0.014, followed by SVC (0.920) and LogisticRegression (0.910 ± 0.014). Its "
         "best fold reaches 0.96.",
         {"0.940 ± 0.014": G, "0.920": G, "0.910 ± 0.014": G, "0.96.": G}),
    Case("five folds: wrong", {"stdout": CROSSVAL},
         "SVC has a mean accuracy of 0.940. LogisticRegression reaches 0.920 on average. SVC outperforms RandomForest.",
         {"0.940": C, "0.920": C}),
    Case("removals", {"ablation.txt": ABLATE},
         "The full model obtains 52.4 mIoU. Removing pretraining hurts most (43.0, -9.4), then multi-scale inference (49.6, -2.8); without "
         "the boundary loss it is still 51.1.",
         {"52.4": G, "43.0": G, "-9.4": G, "49.6": G, "-2.8": G, "51.1": G}),
    Case("removals: wrong", {"ablation.txt": ABLATE},
         "Without multi-scale the mIoU is 51.1. Without pretraining it drops by 2.8 points. The full model has an mIoU of 54.2.",
         {"51.1": C, "2.8 points": C, "54.2": C}),
    Case("languages", {"bench.md": SPEED},
         "For N=1e5 the Rust version needs 0.034 s, NumPy 0.041 s and pure Python 2.19 s, so Rust is 65 times faster than Python.",
         {"0.034 s": G, "0.041 s": G, "2.19 s": G, "65 times": G}),
    Case("languages: wrong", {"bench.md": SPEED},
         "For N=1e4 NumPy needs 0.0410 s. Rust is 12 times faster than Python at N=1e5. Python is faster than NumPy.",
         {"12 times": C, "Python is faster than NumPy": C}),
    Case("molecules", {"stdout": CHEM},
         "PaiNN has a test MAE of 0.046 eV for the gap, 27 % below SchNet's 0.063 eV, and of 0.012 D for the dipole moment mu (SchNet: "
         "0.033 D). On the training set the errors for the gap are 0.022 and 0.031 eV.",
         {"0.046": G, "27 %": G, "0.063": G, "0.012": G, "0.033": G, "0.022": G, "0.031": G}),
    Case("molecules: wrong", {"stdout": CHEM},
         "SchNet has a test MAE of 0.046 eV for the gap. PaiNN's test MAE for the gap is 0.022 eV. SchNet is more accurate than PaiNN for "
         "mu.",
         {"0.046": C, "0.022": C, "SchNet is more accurate than PaiNN": C}),
    Case("effects", {"stdout": CAUSAL},
         "The naive difference overestimates the effect (3.14 instead of 2.00); regression adjustment gives 2.09, IPW 1.96 and the doubly "
         "robust estimator 2.01, with a bias of only 0.011.",
         {"3.14": G, "2.09": G, "1.96": G, "2.01": G, "0.011": G}),
    Case("effects: wrong", {"stdout": CAUSAL},
         "IPW estimates 2.09. The doubly robust estimator has a bias of 0.087. The naive difference has a smaller bias than IPW.",
         {"2.09": C, "0.087": C}),
    Case("events", {"stdout": STREAM},
         "After 30 s the p99 latency climbs to 44.9 ms and the lag to 845 events while the median stays at 3.2 ms. In total 37 of 371204 "
         "events are dropped (0.01 %).",
         {"845": G, "37 of 371204": G, "0.01 %": G}),
    Case("events: wrong", {"stdout": STREAM},
         "The maximum lag is 458. 73 of 371204 events are dropped.",
         {"458": C, "73 of 371204": C}),
    Case("defences", {"stdout": FEDER},
         "Krum reduces the backdoor accuracy from 96.2 % to 3.9 %, but costs 5.1 points of clean accuracy (91.4 % to 86.3 %). The median is "
         "a good compromise (88.9 % clean, 7.5 % backdoor).",
         {"96.2 %": G, "3.9 %": G, "5.1 points": G, "91.4 %": G, "86.3 %": G, "88.9 %": G, "7.5 %": G}),
    Case("defences: wrong", {"stdout": FEDER},
         "With clipping the backdoor accuracy is 7.5 %. Krum keeps a clean accuracy of 88.9 %. The median defence has a higher clean "
         "accuracy than clipping.",
         {"7.5 %": C, "88.9 %": C, "median defence has a higher clean": C}),
    Case("diversity", {"stdout": TEXTGEN},
         "Raising the temperature from 0.2 to 1.2 nearly doubles distinct-2 (0.412 to 0.803) and lowers self-BLEU to 0.233, but perplexity "
         "rises from 11.3 to 62.4. A temperature of 0.7 gives a perplexity of 17.9.",
         {"0.412": G, "0.803": G, "0.233": G, "11.3": G, "62.4": G, "17.9": G}),
    Case("diversity: wrong", {"stdout": TEXTGEN},
         "At a temperature of 0.7 self-BLEU is 0.601. At a temperature of 0.2 the perplexity is 17.9. Perplexity decreases with the "
         "temperature.",
         {"0.601": C, "17.9": C, "Perplexity decreases": C}),
    Case("cells", {"qc.txt": BIO},
         "The tumour sample has the most cells (7318), the most clusters (19) and the highest doublet rate (8.9 %). PBMC_B contains 5240 "
         "cells with 1740 genes per cell.",
         {"7318": G, "8.9 %": G, "5240": G, "1740": G}),
    Case("cells: wrong", {"qc.txt": BIO},
         "PBMC_A has a doublet rate of 4.6 %. The tumour sample has 1893 genes per cell. PBMC_A has more cells than PBMC_B.",
         {"4.6 %": C, "1893": C}),
    Case("curriculum", {"curves.csv": CURRIC},
         "Easy-first training is ahead early on (0.405 vs. 0.312 after epoch 1), but after 50 epochs hard-first ordering is slightly better "
         "(0.779 against 0.772 for random order and 0.770 for easy first).",
         {"0.405": G, "0.312": G, "0.779": G, "0.772": G, "0.770": G}),
    Case("curriculum: wrong", {"curves.csv": CURRIC},
         "After 5 epochs hard-first ordering reaches 0.641. After 20 epochs random order is at 0.744. Easy first ends at 0.779.",
         {"0.641": C, "0.744": C, "0.779": C}),
    Case("certified", {"stdout": LIPSCHITZ},
         "GloRo has a certified accuracy of 58.4 % at a clean accuracy of 77.0 %; BCOP is similar (58.3 % and 75.1 %). The vanilla network "
         "has a clean accuracy of 95.1 % but a Lipschitz constant of 1.2e6.",
         {"58.4 %": G, "77.0 %": G, "58.3 %": G, "75.1 %": G, "95.1 %": G, "1.2e6": G}),
    Case("certified: wrong", {"stdout": LIPSCHITZ},
         "BCOP has a clean accuracy of 77.0 %. GloRo has a certified accuracy of 58.3 %. The vanilla network has a certified accuracy of "
         "95.1 %.",
         {"77.0 %": C, "58.3 %": C, "95.1 %": C}),
    Case("never measured again", {"stdout": LIPSCHITZ},
         "Against AutoAttack GloRo keeps 61.2 %, and training takes 3.7 hours on one GPU.",
         {"61.2 %": N, "3.7 hours": N}),
)  # fmt: skip
