"""A twelfth batch: short notes and mixed conclusions, in which right and wrong statements stand side by side.

At first sight 83 of 85 claims called grounded were, and 83 of 91 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

PATCHES = """\
M   params(M)  top1   top5   img/s
4   22.4       71.3   90.1   512
6   24.9       72.1   90.8   441
8   27.6       71.6   90.5   379
"""
UNLEARN = """\
Method: retrain    forget acc 52.10  retain acc 94.02  test acc 91.55  time 1843 s
Method: finetune   forget acc 88.74  retain acc 95.13  test acc 91.02  time 141 s
Method: scrub      forget acc 56.38  retain acc 93.77  test acc 90.91  time 208 s
"""
LOMO = """\
optimizer   fwd (h)   bwd (h)   update (h)   total (h)   mem (GB)
lomo        0.78      3.70      0.00         4.48        21.5
lora        0.83      3.20      0.01         4.04        16.6
badam       0.71      1.74      0.09         2.54        23.5
"""
PDE = """\
dataset=advection  pad=zero      one_step=3.84  rollout=29.15
dataset=advection  pad=circular  one_step=1.12  rollout=7.02
dataset=smoke      pad=zero      one_step=2.66  rollout=12.77
dataset=smoke      pad=circular  one_step=2.41  rollout=12.02
"""
PERMUTE = """\
permutation importance (mean of 10 repeats)
  glucose      0.0841 +/- 0.0102
  bmi          0.0397 +/- 0.0081
  age          0.0213 +/- 0.0077
  pressure    -0.0009 +/- 0.0031
baseline accuracy 0.7662
"""
KAPLAN = """\
time  at_risk  survival_A  survival_B
6     118      0.915       0.873
12    97       0.834       0.741
24    61       0.702       0.528
log-rank test: chi2 = 7.93, p = 0.0049
"""
BANDIT = """\
T=1000   eps=122.4  ucb=74.9   ts=41.3
T=10000  eps=986.0  ucb=148.2  ts=88.7
"""
DEDUP = """\
documents in : 1,204,551
exact dups   :    83,190 (6.91%)
near dups    :   201,644 (16.74%)
kept         :   919,717
wall time    : 7m 42s
"""
TREE = """\
depth  train_acc  test_acc  leaves
2      0.801      0.793     4
6      0.894      0.862     41
12     0.983      0.851     287
None   1.000      0.838     512
"""
POSE = """\
metric        before    after
MPJPE (mm)    61.8      48.3
PA-MPJPE      44.0      36.9
PCK@150       88.2%     93.5%
"""
SOUND = """\
ESC-50 5-fold
fold 1: cnn 0.7825 ast 0.8950
fold 2: cnn 0.7650 ast 0.8775
fold 3: cnn 0.7975 ast 0.9050
fold 4: cnn 0.8100 ast 0.9125
fold 5: cnn 0.7575 ast 0.8600
avg: cnn 0.7825 ast 0.8900
"""
CODE = """\
model        humaneval  mbpp   repair_rounds  cost_usd
small        28.7       39.2   0              0.41
small+loop   41.5       48.0   3              1.38
large        61.0       64.6   0              3.92
large+loop   72.6       71.8   3              12.75
"""
WAVE = """\
Refinement study
  dx        L2 error      order
  0.1000    4.112e-03     -
  0.0500    1.031e-03     2.00
  0.0250    2.581e-04     2.00
"""
NER = """\
              precision    recall  f1-score   support

         LOC       0.92      0.94      0.93      1668
        MISC       0.81      0.78      0.79       702
         ORG       0.88      0.90      0.89      1661
         PER       0.96      0.97      0.96      1617

   micro avg       0.90      0.92      0.91      5648
   macro avg       0.89      0.90      0.89      5648
weighted avg       0.90      0.92      0.91      5648
"""

TWELFTH = (
    Case("patches", {"stdout": PATCHES},
         "M=6 is best: 72.1 top-1 (M=4: 71.3, M=8: 71.6). Throughput drops steadily, 512 → 441 → 379 img/s.",
         {"72.1": G, "71.3": G, "71.6": G, "512": G, "379": G}),
    Case("patches: mixed", {"stdout": PATCHES},
         "With M=8 the model has 27.6M parameters and a top-5 accuracy of 90.8 %. With M=4 top-1 is 71.6 %. M=6 beats M=8 by 0.5 points "
         "in top-1.",
         {"27.6M": G, "90.8 %": C, "71.6 %": C, "0.5 points": G}),
    Case("unlearning", {"stdout": UNLEARN},
         "SCRUB comes close to retraining on the forget set (56.4 % vs. 52.1 %) in roughly a ninth of the time (208 s instead of 1843 s); "
         "plain fine-tuning does not forget (88.7 %). Test accuracy is about 91 % for all of them.",
         {"56.4 %": G, "52.1 %": G, "208 s": G, "1843 s": G, "88.7 %": G}),
    Case("unlearning: mixed", {"stdout": UNLEARN},
         "Retraining gives a retain accuracy of 94.0 % and a forget accuracy of 56.4 %. Fine-tuning has a test accuracy of 95.1 %. SCRUB "
         "loses 0.6 points of test accuracy compared with retraining (90.9 vs. 91.6 %).",
         {"94.0 %": G, "56.4 %": C, "95.1 %": C, "0.6 points": G, "90.9": G}),
    Case("hours", {"stdout": LOMO},
         "BAdam's backward pass takes 1.74 h, about half of LOMO's 3.70 h; in total it needs 2.54 h (LoRA 4.04 h). It uses the most memory, "
         "however: 23.5 GB against 16.6 GB for LoRA.",
         {"1.74 h": G, "3.70 h": G, "2.54 h": G, "4.04 h": G, "23.5 GB": G, "16.6 GB": G}),
    Case("hours: mixed", {"stdout": LOMO},
         "LoRA's backward pass takes 3.70 h. LOMO needs 21.5 GB. BAdam uses less memory than LoRA. The total time of LOMO is 4.04 h.",
         {"3.70 h": C, "21.5 GB": G, "BAdam uses less memory than LoRA": C, "4.04 h": C}),
    Case("padding", {"stdout": PDE},
         "On advection circular padding cuts the one-step error from 3.84 to 1.12 and the rollout error to 7.02, about a quarter of 29.15. On "
         "smoke the gain is small (2.41 vs 2.66; rollout 12.02 vs 12.77).",
         {"3.84": G, "1.12": G, "7.02": G, "29.15": G, "2.41": G, "2.66": G, "12.02": G, "12.77": G}),
    Case("padding: mixed", {"stdout": PDE},
         "On smoke zero padding has a rollout error of 29.15. On advection the one-step error with circular padding is 1.12, with zero padding "
         "2.66. Zero padding is better than circular padding on advection.",
         {"29.15": C, "1.12": G, "2.66": C, "Zero padding is better than circular": C}),
    Case("importance", {"stdout": PERMUTE},
         "Glucose matters most (0.084 ± 0.010), about twice as much as BMI (0.040 ± 0.008); blood pressure is irrelevant (-0.001). The "
         "accuracy is 76.6 %.",
         {"0.084 ± 0.010": G, "0.040 ± 0.008": G, "76.6 %": G}),
    Case("importance: mixed", {"stdout": PERMUTE},
         "Age has an importance of 0.040. BMI has one of 0.021. The baseline accuracy is 67.6 %. Age is less important than BMI.",
         {"0.040": C, "0.021": C, "67.6 %": C}),
    Case("survival", {"stdout": KAPLAN},
         "After 24 months survival is 70.2 % in arm A and 52.8 % in arm B; the difference is significant (log-rank p = 0.005). After 12 months "
         "it is 83.4 % against 74.1 %.",
         {"70.2 %": G, "52.8 %": G, "p = 0.005": G, "83.4 %": G, "74.1 %": G}),
    Case("survival: mixed", {"stdout": KAPLAN},
         "After 6 months survival is 87.3 % in arm A. After 12 months 97 patients are at risk. The difference is not significant (p = 0.49).",
         {"87.3 %": C, "97 patients": G, "not significant": C, "p = 0.49": C}),
    Case("horizons", {"stdout": BANDIT},
         "Thompson sampling has the lowest regret at both horizons (41.3 at T=1000, 88.7 at T=10000), less than a tenth of epsilon-greedy's at "
         "T=10000 (986). UCB is in between with 74.9 and 148.2.",
         {"41.3": G, "88.7": G, "986": G, "74.9": G, "148.2": G}),
    Case("horizons: mixed", {"stdout": BANDIT},
         "At T=10000 UCB has a regret of 88.7. At T=1000 epsilon-greedy (eps) has a regret of 122.4. UCB has less regret than Thompson "
         "sampling (ts). From T=1000 to T=10000 the regret of UCB grows by a factor of 8.1.",
         {"88.7": C, "122.4": G, "UCB has less regret than Thompson": C, "8.1": C}),
    Case("duplicates", {"stdout": DEDUP},
         "Of 1.2M documents 6.9 % are exact and 16.7 % near duplicates; 919,717 documents (76 %) are kept.",
         {"6.9 %": G, "16.7 %": G, "919,717": G, "76 %": G}),
    Case("duplicates: mixed", {"stdout": DEDUP},
         "The pipeline removes 201,644 near duplicates (61.7 %) and 83,190 exact ones. 991,717 documents are kept.",
         {"201,644": G, "61.7 %": C, "83,190": G, "991,717": C}),
    Case("depths", {"stdout": TREE},
         "Test accuracy peaks at depth 6 (86.2 %) and falls to 83.8 % for an unlimited tree, which fits the training data perfectly (100 %). At "
         "depth 12 train and test accuracy differ by 13.2 points (0.983 vs. 0.851).",
         {"86.2 %": G, "83.8 %": G, "13.2 points": G, "0.983": G, "0.851": G}),
    Case("depths: mixed", {"stdout": TREE},
         "At depth 2 the test accuracy is 80.1 %. At depth 12 the tree has 287 leaves. At depth 6 the training accuracy is 86.2 %. Test accuracy "
         "increases monotonically with depth.",
         {"80.1 %": C, "287 leaves": G, "86.2 %": C, "Test accuracy increases": C}),
    Case("poses", {"stdout": POSE},
         "The refinement lowers MPJPE from 61.8 to 48.3 mm (-22 %) and PA-MPJPE from 44.0 to 36.9; PCK@150 improves by 5.3 points to 93.5 %.",
         {"61.8": G, "48.3": G, "-22 %": G, "44.0": G, "36.9": G, "5.3 points": G, "93.5 %": G}),
    Case("poses: mixed", {"stdout": POSE},
         "After refinement MPJPE is 36.9 mm. Before it PCK@150 was 93.5 %. PA-MPJPE after refinement is 36.9 mm.",
         {"93.5 %": C}),
    Case("sounds", {"stdout": SOUND},
         "AST outperforms the CNN in all five folds; on average it reaches 89.0 % versus 78.3 % (+10.8 points). Its worst fold is fold 5 with 86.0 "
         "%, its best fold 4 with 91.3 %.",
         {"AST outperforms the CNN": G, "89.0 %": G, "78.3 %": G, "86.0": G}),
    Case("sounds: mixed", {"stdout": SOUND},
         "In fold 3 the CNN reaches 90.5 %. In fold 2 AST has 87.8 %. The average of the CNN is 87.3 %. CNN is better than AST in fold 5.",
         {"90.5 %": C, "87.8 %": G, "87.3 %": C, "CNN is better than AST": C}),
    Case("repairing", {"stdout": CODE},
         "The repair loop lifts the small model from 28.7 to 41.5 on HumanEval (+12.8 points) and the large one from 61.0 to 72.6, at about three "
         "times the cost ($1.38 instead of $0.41 and $12.75 instead of $3.92).",
         {"28.7": G, "41.5": G, "+12.8 points": G, "61.0": G, "72.6": G, "1.38": G, "0.41": G, "12.75": G}),
    Case("repairing: mixed", {"stdout": CODE},
         "On MBPP the small model scores 48.0. The large model with the loop (large+loop) reaches 71.8 on MBPP. The large model costs $12.75. "
         "small+loop outperforms large on HumanEval.",
         {"48.0": C, "71.8": G, "12.75": C, "small+loop outperforms large": C}),
    Case("refinement", {"stdout": WAVE},
         "Halving dx from 0.1 to 0.05 reduces the L2 error from 4.1e-3 to 1.0e-3, i.e. by a factor of 4.0, as expected for order 2.00; at dx = "
         "0.025 it is 2.6e-4.",
         {"4.1e-3": G, "1.0e-3": G, "4.0,": G, "2.6e-4": G}),
    Case("refinement: mixed", {"stdout": WAVE},
         "At dx = 0.05 the L2 error is 2.6e-4. At dx = 0.1 it is 4.1e-3. The observed order is 3.98.",
         {"2.6e-4": C, "4.1e-3": G, "3.98": C}),
    Case("entities", {"stdout": NER},
         "Persons are recognised best (PER: F1 0.96), miscellaneous entities worst (MISC: precision 0.81, recall 0.78). Micro F1 is 0.91, macro "
         "F1 0.89.",
         {"0.96": G, "0.81": G, "0.78": G, "0.91": G, "0.89": G}),
    Case("entities: mixed", {"stdout": NER},
         "ORG has a precision of 0.88 and a recall of 0.96. LOC has an F1 of 0.89. The recall of PER is 0.97.",
         {"0.88": G, "0.96": C, "0.89": C, "0.97": G}),
    Case("notes of nothing", {"stdout": NER},
         "Inference runs at 212 sentences per second, and with a CRF layer F1 rises to 0.933.",
         {"212": N, "0.933": N}),
)  # fmt: skip
