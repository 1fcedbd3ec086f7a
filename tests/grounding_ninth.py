"""A ninth batch: what training frameworks and statistics packages print, and terse and wordy reports of it.

At first sight 163 of 175 claims called grounded were, and 163 of 184 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

KERAS = """\
Epoch 1/3
391/391 [==============================] - 12s 30ms/step - loss: 1.5120 - accuracy: 0.4512 - val_loss: 1.2033 - val_accuracy: 0.5701
Epoch 2/3
391/391 [==============================] - 11s 29ms/step - loss: 1.0871 - accuracy: 0.6154 - val_loss: 0.9877 - val_accuracy: 0.6549
Epoch 3/3
391/391 [==============================] - 11s 29ms/step - loss: 0.9012 - accuracy: 0.6843 - val_loss: 0.9310 - val_accuracy: 0.6782
Test loss: 0.9425, test accuracy: 0.6731
"""
BOOST = """\
[0]\ttrain-rmse:4.81230\teval-rmse:4.90112
[50]\ttrain-rmse:2.10447\teval-rmse:2.87340
[100]\ttrain-rmse:1.52216\teval-rmse:2.71905
[150]\ttrain-rmse:1.20118\teval-rmse:2.74466
Stopping. Best iteration: [104] eval-rmse:2.71588
feature importance (gain): income 0.412, age 0.267, rooms 0.181, distance 0.140
"""
TRAINER = """\
{'loss': 2.3105, 'learning_rate': 4.5e-05, 'epoch': 1.0}
{'eval_loss': 2.1034, 'eval_rougeL': 0.2418, 'eval_runtime': 41.22, 'epoch': 1.0}
{'loss': 1.8842, 'learning_rate': 2.5e-05, 'epoch': 2.0}
{'eval_loss': 1.9511, 'eval_rougeL': 0.2735, 'eval_runtime': 40.87, 'epoch': 2.0}
{'loss': 1.6120, 'learning_rate': 5e-06, 'epoch': 3.0}
{'eval_loss': 1.9306, 'eval_rougeL': 0.2802, 'eval_runtime': 41.05, 'epoch': 3.0}
{'train_runtime': 1834.5, 'train_samples_per_second': 16.35, 'train_loss': 1.9356}
"""
OLS = """\
                            OLS Regression Results
==============================================================================
Dep. Variable:                  wage   R-squared:                       0.412
No. Observations:                534   Adj. R-squared:                  0.405
==============================================================================
                 coef    std err          t      P>|t|      [0.025      0.975]
------------------------------------------------------------------------------
const         -4.7141      1.218     -3.870      0.000      -7.107      -2.321
education      0.9251      0.081     11.421      0.000       0.766       1.084
experience     0.1050      0.017      6.176      0.000       0.072       0.138
female        -2.3379      0.388     -6.025      0.000      -3.100      -1.576
union          1.1132      0.512      2.174      0.030       0.107       2.119
==============================================================================
"""
TRIALS = """\
[I 2025-01-09 14:02:11] Trial 0 finished with value: 0.8123 and parameters: {'lr': 0.01, 'dropout': 0.5}.
[I 2025-01-09 14:05:43] Trial 1 finished with value: 0.8467 and parameters: {'lr': 0.001, 'dropout': 0.2}.
[I 2025-01-09 14:09:02] Trial 2 finished with value: 0.8390 and parameters: {'lr': 0.0003, 'dropout': 0.2}.
Best is trial 1 with value: 0.8467.
retrained on train+val, test accuracy = 0.8415
"""
PSQL = """\
 strategy   | rows_read | latency_ms | cost
------------+-----------+------------+--------
 seq_scan   |   1200000 |     842.31 | 31.20
 btree      |      4150 |       3.87 |  1.10
 bitmap     |     18800 |      11.42 |  2.05
(3 rows)
"""
TSV = (
    "species\tn\tmean_length\tsd\n"
    "adelie\t151\t189.95\t6.54\n"
    "chinstrap\t68\t195.82\t7.13\n"
    "gentoo\t123\t217.19\t6.48\n"
)
AOV = """\
             Df Sum Sq Mean Sq F value Pr(>F)
species       2  52473   26237   594.8 <2e-16 ***
Residuals   339  14953      44

  Tukey multiple comparisons of means
                      diff       lwr       upr     p adj
chinstrap-adelie   5.869887  3.586583  8.153191  0.0000
gentoo-adelie     27.233349 25.334376 29.132323  0.0000
gentoo-chinstrap  21.363462 19.000841 23.726084  0.0000
"""
PRUNING = """\
sparsity: 0.0
  wikitext2 ppl: 5.68
  zero-shot avg: 0.6412
sparsity: 0.5
  magnitude:
    wikitext2 ppl: 17.29
    zero-shot avg: 0.5021
  wanda:
    wikitext2 ppl: 7.26
    zero-shot avg: 0.5994
  sparsegpt:
    wikitext2 ppl: 7.22
    zero-shot avg: 0.6003
"""
TRACK = """\
Sequence   MOTA   IDF1   IDSW   FPS
MOT-02     61.4   58.9    112   24.1
MOT-04     78.3   74.6     87   19.8
MOT-13     55.0   60.2    140   22.5
OVERALL    67.9   66.4    339   21.7
"""
TOKENS = """\
tokenizer,vocab,fertility_en,fertility_de,fertility_fi,bytes_per_token
bpe-16k,16000,1.42,1.87,2.31,3.61
bpe-32k,32000,1.28,1.66,2.05,4.02
unigram-32k,32000,1.31,1.59,1.88,3.98
byte,256,5.10,5.84,6.77,1.00
"""
DYNAMICS = """\
Run 1 of 3: E_final = -1284.31 kJ/mol, RMSD = 1.92 A
Run 2 of 3: E_final = -1279.80 kJ/mol, RMSD = 2.10 A
Run 3 of 3: E_final = -1286.05 kJ/mol, RMSD = 1.83 A
mean E_final = -1283.39 kJ/mol (sd 3.23), mean RMSD = 1.95 A
"""
TRAFFIC = """\
horizon  model    MAE    RMSE   MAPE
15min    HA       4.16   7.80   13.0%
15min    DCRNN    2.77   5.38   7.3%
15min    GWNet    2.69   5.15   6.9%
60min    HA       4.16   7.80   13.0%
60min    DCRNN    3.60   7.60   10.5%
60min    GWNet    3.53   7.37   10.0%
"""
DIFFUSION = """\
sampler=ddim steps=10  FID=13.36 time=1.9s
sampler=ddim steps=50  FID=4.67  time=9.2s
sampler=ddim steps=100 FID=4.16  time=18.4s
sampler=dpm++ steps=10 FID=5.41  time=2.1s
sampler=dpm++ steps=50 FID=3.98  time=10.3s
"""
ATTACK = """\
{"clean": 94.2, "attacks": {"fgsm": {"eps_2": 71.8, "eps_8": 34.5}, "pgd20": {"eps_2": 68.0, "eps_8": 12.1}},
 "defended": {"clean": 86.9, "attacks": {"fgsm": {"eps_2": 80.3, "eps_8": 61.7}, "pgd20": {"eps_2": 79.6, "eps_8": 50.4}}}}
"""
PYTEST = """\
============================= test session starts ==============================
collected 148 items
tests/test_core.py ........................................F..........F.......
tests/test_io.py ..........................................sss
============ 2 failed, 143 passed, 3 skipped in 18.42s ============
TOTAL coverage 87%
"""
VOTES = """\
judge agreement with humans (n=500 pairs)
gpt-judge      : 0.824  kappa 0.641
prometheus     : 0.776  kappa 0.548
length baseline: 0.602  kappa 0.198
position bias: gpt-judge 4.2% flips, prometheus 9.8% flips
"""
IMPUTE = """\
missing_rate=0.1 mean:0.982 knn:0.611 mice:0.574 gain:0.640
missing_rate=0.3 mean:0.991 knn:0.688 mice:0.629 gain:0.671
missing_rate=0.5 mean:1.003 knn:0.802 mice:0.741 gain:0.718
(normalised RMSE, lower is better)
"""
PROFILE = """\
ncalls  tottime  percall  cumtime  function
 12000    8.412    0.001   10.930  forward
 12000   14.207    0.001   17.555  backward
  6000    1.938    0.000    2.204  load_batch
total wall time 31.8 s, peak memory 1843 MiB
"""
ARRAYS = """\
lambdas = [0.01 0.1  1.   10.  ]
train_mse = [0.112 0.118 0.164 0.402]
test_mse  = [0.241 0.203 0.197 0.415]
best lambda: 1.0
"""
TENSORS = """\
student acc tensor(0.8876)
teacher acc tensor(0.9134)
agreement 0.9311
KL(student||teacher) 0.0472
compression 11.4x, 2.1M vs 23.9M params
"""
ALLELES = """\
trait     h2_snp   se      p          n_loci
height    0.483    0.021   <1e-300    712
bmi       0.224    0.018   3.4e-36    97
asthma    0.108    0.025   1.6e-05    14
"""
SHIFT = """\
### in-distribution
erm      acc 0.9312  worst-group 0.7214
groupdro acc 0.9187  worst-group 0.8690
### shifted
erm      acc 0.8045  worst-group 0.4931
groupdro acc 0.8529  worst-group 0.7428
"""
PLANNER = """\
map: maze-32   planner: A*      success 100/100  cost 48.3  expanded 1822
map: maze-32   planner: RRT*    success 87/100   cost 55.9  expanded 5310
map: maze-32   planner: neural  success 96/100   cost 49.1  expanded 604
map: city      planner: A*      success 100/100  cost 212.7 expanded 20417
map: city      planner: RRT*    success 71/100   cost 260.0 expanded 14890
map: city      planner: neural  success 88/100   cost 220.4 expanded 3911
"""
MEDICAL = """\
| fold | dice_unet | dice_swin | hd95_unet | hd95_swin |
|------|-----------|-----------|-----------|-----------|
| 0    | 0.861     | 0.874     | 7.9       | 6.8       |
| 1    | 0.848     | 0.869     | 8.4       | 7.1       |
| 2    | 0.867     | 0.871     | 7.2       | 7.0       |
| 3    | 0.852     | 0.866     | 8.9       | 7.7       |
| mean | 0.857     | 0.870     | 8.1       | 7.2       |
"""
SPEED = """\
threads=1 throughput=1.02 GB/s
threads=2 throughput=1.98 GB/s
threads=4 throughput=3.71 GB/s
threads=8 throughput=5.64 GB/s
"""
MERGE = """\
merge method   math    code    chat    avg
linear         41.2    33.5    62.8    45.83
ties           44.9    36.1    61.0    47.33
dare           45.3    35.8    63.4    48.17
"""
HALLUCINATE = """\
model-a: 500 answers, 61 unsupported (12.2%)
model-b: 500 answers, 38 unsupported (7.6%)
model-a + retrieval: 500 answers, 24 unsupported (4.8%)
chi-square a vs b: 5.94, p=0.0148
"""
WEATHER = """\
lead  z500_rmse_ours  z500_rmse_ifs  t850_rmse_ours  t850_rmse_ifs
24h   72.4            68.1           0.81            0.79
72h   181.0           190.6          1.29            1.37
120h  338.2           362.9          1.92            2.08
"""

NINTH = (
    Case("keras", {"stdout": KERAS},
         "The network reaches a test accuracy of 67.3 % (loss 0.943) after 3 epochs. Validation accuracy climbs from 57.0 % to "
         "67.8 % and validation loss drops from 1.20 to 0.93; training accuracy ends at 68.4 %.",
         {"67.3 %": G, "57.0 %": G, "67.8 %": G, "1.20": G, "0.93;": G, "68.4 %": G}),
    Case("keras: wrong", {"stdout": KERAS},
         "After the first epoch validation accuracy is 65.5 %. The test accuracy is 68.4 %. The final training loss is 0.931.",
         {"65.5 %": C, "68.4 %": C, "0.931": C}),
    Case("boosting", {"stdout": BOOST},
         "Early stopping picked iteration 104 with an eval RMSE of 2.716. Beyond that the model overfits: at iteration 150 the "
         "train RMSE is down to 1.20 while the eval RMSE is back at 2.745. Income is the most important feature (41.2 % of the "
         "gain), followed by age (26.7 %).",
         {"2.716": G, "1.20": G, "2.745": G, "41.2 %": G, "26.7 %": G}),
    Case("boosting: wrong", {"stdout": BOOST},
         "At iteration 100 the eval RMSE is 1.522. Rooms are the second most important feature (26.7 %). The best eval RMSE is "
         "2.617.",
         {"1.522": C, "26.7 %": C, "2.617": C}),
    Case("trainer", {"stdout": TRAINER},
         "Fine-tuning for three epochs improves ROUGE-L from 0.242 (epoch 1) to 0.280 (epoch 3), and the evaluation loss falls "
         "from 2.10 to 1.93. Training took 1834.5 s at 16.4 samples per second.",
         {"0.242": G, "0.280": G, "2.10": G, "1.93": G, "1834.5": G, "16.4": G}),
    Case("trainer: wrong", {"stdout": TRAINER},
         "After epoch 2 ROUGE-L is 0.280. The evaluation loss at epoch 3 is 1.612. Training took about 41 s.",
         {"0.280": C, "1.612": C, "41 s": C}),
    Case("wages", {"stdout": OLS},
         "Each year of education adds 0.93 to the wage (95 % CI 0.77 to 1.08), a year of experience only 0.105; women earn 2.34 "
         "less. The union effect is 1.11 (p = 0.03). R² is 0.41 (adjusted: 0.405) on 534 observations.",
         {"0.93": G, "0.77": G, "1.08": G, "0.105": G, "1.11": G, "p = 0.03": G, "0.41 ": G, "0.405": G}),
    Case("wages: wrong", {"stdout": OLS},
         "Union membership has a coefficient of 2.17. The coefficient of education is 0.105. The model explains 64 % of the "
         "variance. The union effect is not significant (p = 0.30).",
         {"2.17": C, "0.105": C, "64 %": C, "p = 0.30": C}),
    Case("trials", {"stdout": TRIALS},
         "The search selected lr = 0.001 with dropout 0.2 (validation accuracy 84.7 %), better than lr = 0.01 with dropout 0.5 "
         "(81.2 %). Retrained on train and validation data the model obtains 84.2 % on the test set.",
         {"84.7 %": G, "81.2 %": G, "84.2 %": G}),
    Case("trials: wrong", {"stdout": TRIALS},
         "Trial 2 is the best with a value of 0.8390. Trial 0 ends with 0.8467. The test accuracy is 0.8451.",
         {"0.8467": C, "0.8451": C}),
    Case("indexes", {"stdout": PSQL},
         "A B-tree index brings the latency down from 842 ms (sequential scan) to 3.9 ms, a factor of 218, since only 4150 "
         "instead of 1.2M rows are read. The bitmap scan takes 11.4 ms.",
         {"842 ms": G, "3.9 ms": G, "218": G, "4150": G, "1.2M": G, "11.4 ms": G}),
    Case("indexes: wrong", {"stdout": PSQL},
         "The bitmap scan reads 4150 rows. The sequential scan costs 13.2. The B-tree is slower than the bitmap scan.",
         {"4150": C, "13.2": C, "B-tree is slower": C}),
    Case("penguins", {"means.tsv": TSV, "stdout": AOV},
         "Gentoo penguins have the longest flippers (217.2 ± 6.5 mm), Adelie the shortest (190.0 ± 6.5 mm). The species effect "
         "is highly significant (F = 594.8); Gentoo exceed Adelie by 27.2 mm (95 % CI 25.3 to 29.1).",
         {"217.2 ± 6.5": G, "190.0 ± 6.5": G, "highly significant": G, "594.8": G, "27.2 mm": G, "25.3": G, "29.1": G}),
    Case("penguins: wrong", {"means.tsv": TSV, "stdout": AOV},
         "Chinstrap penguins have a mean flipper length of 189.95. Chinstrap and Adelie differ by 21.4 mm. The sample has 123 "
         "Adelie penguins.",
         {"189.95": C, "21.4": C, "123 Adelie": C}),
    Case("pruning", {"prune.yaml": PRUNING},
         "At 50 % sparsity magnitude pruning breaks the model (perplexity 17.3), while Wanda (7.26) and SparseGPT (7.22) stay "
         "close to the dense model's 5.68. Zero-shot accuracy drops from 64.1 % to 60.0 % with SparseGPT and to 50.2 % with "
         "magnitude pruning.",
         {"17.3": G, "7.26": G, "7.22": G, "5.68": G, "64.1 %": G, "60.0 %": G, "50.2 %": G}),
    Case("pruning: wrong", {"prune.yaml": PRUNING},
         "Wanda has a perplexity of 7.22 at 50 % sparsity. The dense model averages 0.5994 on the zero-shot tasks. Magnitude "
         "pruning has a lower perplexity than Wanda.",
         {"7.22": C, "0.5994": C, "Magnitude pruning has a lower perplexity": C}),
    Case("tracking", {"stdout": TRACK},
         "Overall MOTA is 67.9 and IDF1 66.4 with 339 identity switches at 21.7 FPS. MOT-04 is the easiest sequence (MOTA "
         "78.3), MOT-13 the hardest (55.0, 140 switches).",
         {"67.9": G, "66.4": G, "339": G, "21.7": G, "78.3": G, "55.0": G, "140": G}),
    Case("tracking: wrong", {"stdout": TRACK},
         "On MOT-02 the IDF1 is 61.4. MOT-04 runs at 24.1 FPS. MOT-13 has fewer identity switches than MOT-02. The overall "
         "IDF1 is 64.6.",
         {"61.4": C, "24.1": C, "64.6": C}),
    Case("tokenizers", {"fertility.csv": TOKENS},
         "Doubling the BPE vocabulary from 16k to 32k lowers Finnish fertility from 2.31 to 2.05 (-11 %). The unigram model is "
         "better on German (1.59 against 1.66) and Finnish (1.88), but slightly worse on English (1.31 vs. 1.28).",
         {"2.31": G, "2.05": G, "-11 %": G, "1.59": G, "1.66": G, "1.88": G, "1.31": G, "1.28": G}),
    Case("tokenizers: wrong", {"fertility.csv": TOKENS},
         "bpe-32k has a German fertility of 1.59. The byte tokenizer needs 1.00 tokens per word in English. bpe-16k has a lower "
         "English fertility than bpe-32k.",
         {"1.59": C, "1.00": C, "bpe-16k has a lower English fertility": C}),
    Case("dynamics", {"stdout": DYNAMICS},
         "The three runs agree: the final energy is -1283.4 ± 3.2 kJ/mol and the RMSD 1.95 Å on average (1.83 to 2.10). Run 3 "
         "has the lowest energy, -1286.1 kJ/mol.",
         {"-1283.4 ± 3.2": G, "1.95": G, "1.83": G, "2.10": G, "-1286.1": G}),
    Case("dynamics: wrong", {"stdout": DYNAMICS},
         "Run 2 has the lowest final energy. In run 1 the RMSD is 2.10. The mean energy is -1238.4 kJ/mol.",
         {"2.10": C, "-1238.4": C}),
    Case("traffic", {"stdout": TRAFFIC},
         "For 15 minutes ahead Graph WaveNet (GWNet) has the lowest MAE with 2.69 compared with 2.77 for DCRNN and 4.16 for the "
         "historical average (HA). At 60 minutes the MAEs are 3.53, 3.60 and 4.16 respectively; the MAPE of GWNet rises from 6.9 "
         "% to 10.0 %.",
         {"2.69": G, "2.77": G, "4.16 for": G, "3.53": G, "3.60": G, "6.9": G, "10.0 %": G}),
    Case("traffic: wrong", {"stdout": TRAFFIC},
         "At 60 minutes DCRNN has an RMSE of 7.37. At 15 minutes the MAPE of GWNet is 7.3 %. DCRNN outperforms GWNet at both "
         "horizons.",
         {"7.37": C, "7.3 %": C, "DCRNN outperforms GWNet": C}),
    Case("sampling", {"stdout": DIFFUSION},
         "With only 10 steps DPM++ already achieves an FID of 5.41, DDIM 13.36. With 50 steps the gap closes (3.98 vs 4.67). "
         "DDIM's FID decreases with the number of steps, but time grows from 1.9 s to 18.4 s.",
         {"5.41": G, "13.36": G, "3.98": G, "4.67": G, "1.9 s": G, "18.4 s": G}),
    Case("sampling: wrong", {"stdout": DIFFUSION},
         "DDIM with 50 steps has an FID of 4.16. DPM++ with 10 steps takes 10.3 s. With 10 steps DDIM is better than DPM++.",
         {"4.16": C, "10.3 s": C}),
    Case("attacks", {"robust.json": ATTACK},
         "Without defence, PGD-20 at eps 8 reduces accuracy from 94.2 % to 12.1 %. The defended model keeps 50.4 % there and "
         "61.7 % under FGSM, at the price of 7.3 points of clean accuracy (86.9 %).",
         {"94.2 %": G, "12.1 %": G, "50.4 %": G, "61.7 %": G, "7.3 points": G, "86.9 %": G}),
    Case("attacks: wrong", {"robust.json": ATTACK},
         "Under FGSM with eps 2 the defended model has 71.8 %. The undefended model keeps 50.4 % under PGD-20 with eps 8. "
         "Clean accuracy of the defended model is 94.2 %.",
         {"71.8 %": C, "50.4 %": C, "94.2 %": C}),
    Case("suite", {"stdout": PYTEST},
         "143 of the 148 tests pass, 2 fail and 3 are skipped; coverage is 87 %. The suite runs in 18.4 seconds.",
         {"143 of the 148": G, "87 %": G, "18.4 seconds": G}),
    Case("suite: wrong", {"stdout": PYTEST},
         "All 148 tests pass with a coverage of 97 %. 8 tests are skipped.",
         {"97 %": C, "8 tests": C}),
    Case("judges", {"stdout": VOTES},
         "The GPT judge agrees with humans on 82.4 % of the pairs (kappa 0.64), Prometheus on 77.6 % (kappa 0.55); simply "
         "preferring the longer answer gives 60.2 %. Prometheus shows more than twice the position bias (9.8 % vs 4.2 %).",
         {"82.4 %": G, "0.64": G, "77.6 %": G, "0.55": G, "60.2 %": G, "9.8 %": G, "4.2 %": G}),
    Case("judges: wrong", {"stdout": VOTES},
         "Prometheus has a kappa of 0.641. GPT-judge flips its verdict in 9.8 % of cases. The length baseline agrees with humans "
         "in 62.0 %.",
         {"0.641": C, "9.8 %": C, "62.0 %": C}),
    Case("imputation", {"stdout": IMPUTE},
         "At a missing rate of 0.1 MICE is best (0.574), followed by kNN (0.611) and GAIN (0.640). At 0.5 GAIN takes the lead "
         "with 0.718 against 0.741 for MICE. Mean imputation stays near 1.0 throughout (0.982 to 1.003).",
         {"0.574": G, "0.611": G, "0.640": G, "0.718": G, "0.741": G, "0.982": G, "1.003": G}),
    Case("imputation: wrong", {"stdout": IMPUTE},
         "At a missing rate of 0.3 kNN has an error of 0.629. GAIN is better than MICE at a missing rate of 0.1. At 0.5 MICE "
         "reaches 0.574.",
         {"0.629": C, "GAIN is better than MICE": C, "0.574": C}),
    Case("profile", {"stdout": PROFILE},
         "The backward pass dominates with 17.6 s of cumulative time, about 55 % of the 31.8 s wall time; the forward pass takes "
         "10.9 s and loading batches 2.2 s. Peak memory was 1.8 GiB.",
         {"17.6 s": G, "55 %": G, "31.8 s": G, "10.9 s": G, "2.2 s": G, "1.8 GiB": G}),
    Case("profile: wrong", {"stdout": PROFILE},
         "The forward pass takes 17.6 s of cumulative time. load_batch is called 12000 times. Peak memory was 1384 MiB.",
         {"17.6 s": C, "12000": C, "1384": C}),
    Case("ridge path", {"stdout": ARRAYS},
         "The test MSE is smallest at lambda = 1 (0.197); with lambda = 0.01 it is 0.241 and with lambda = 10 it is 0.415. The "
         "training MSE increases with lambda from 0.112 to 0.402.",
         {"0.197": G, "0.241": G, "0.415": G, "0.112": G, "0.402": G}),
    Case("ridge path: wrong", {"stdout": ARRAYS},
         "At lambda = 0.1 the test MSE is 0.118. With lambda = 10 the training MSE is 0.164. The test MSE at lambda = 1 is "
         "0.179.",
         {"0.118": C, "0.164": C, "0.179": C}),
    Case("student", {"stdout": TENSORS},
         "The student has an accuracy of 88.8 %, 2.6 points below the teacher (91.3 %), with 11.4 times fewer parameters (2.1M "
         "instead of 23.9M). Both agree on 93.1 % of the inputs.",
         {"88.8 %": G, "2.6 points": G, "91.3 %": G, "11.4 times": G, "2.1M": G, "23.9M": G, "93.1 %": G}),
    Case("student: wrong", {"stdout": TENSORS},
         "The student reaches 91.3 % accuracy and agrees with the teacher in 88.8 % of cases. The student is more accurate than "
         "the teacher. The KL divergence is 0.0742.",
         {"91.3 %": C, "88.8 %": C, "student is more accurate than the teacher": C, "0.0742": C}),
    Case("heritability", {"stdout": ALLELES},
         "SNP heritability is 0.483 (SE 0.021) for height, 0.224 for BMI and 0.108 for asthma (p = 1.6e-5). We count 712 loci for "
         "height and 14 for asthma.",
         {"0.483": G, "0.021": G, "0.224": G, "0.108": G, "p = 1.6e-5": G, "712 loci": G}),
    Case("heritability: wrong", {"stdout": ALLELES},
         "BMI has an SNP heritability of 0.483. The standard error for asthma is 0.018. Asthma is more heritable than BMI. 79 loci "
         "are found for BMI.",
         {"0.483": C, "0.018": C, "Asthma is more heritable": C, "79 loci": C}),
    Case("shift", {"stdout": SHIFT},
         "**In-distribution**, ERM has the higher average accuracy (93.1 % vs. 91.9 %) but a much lower worst-group accuracy (72.1 "
         "% vs. 86.9 %). **Under shift**, GroupDRO wins on both: 85.3 % average and 74.3 % worst-group, compared to 80.5 % and "
         "49.3 % for ERM.",
         {"93.1 %": G, "91.9 %": G, "72.1": G, "86.9 %": G, "85.3 %": G, "74.3 %": G, "80.5 %": G, "49.3 %": G}),
    Case("shift: wrong", {"stdout": SHIFT},
         "Under shift ERM has a worst-group accuracy of 72.1 %. In-distribution GroupDRO has an accuracy of 85.3 %. Under shift "
         "ERM outperforms GroupDRO.",
         {"72.1 %": C, "85.3 %": C, "ERM outperforms GroupDRO": C}),
    Case("planners", {"stdout": PLANNER},
         "On maze-32 the neural planner solves 96 of 100 problems at a cost of 49.1, only 1.7 % above A* (48.3), while expanding "
         "a third of the nodes (604 vs. 1822). On the city map it solves 88 of 100 and RRT* 71 of 100; it expands 5.2 times fewer "
         "nodes than A* there (3911 vs. 20417).",
         {"96 of 100": G, "49.1": G, "1.7 %": G, "48.3": G, "604": G, "1822": G, "88 of 100": G, "71 of 100": G,
          "5.2 times": G, "3911": G, "20417": G}),
    Case("planners: wrong", {"stdout": PLANNER},
         "On the city map RRT* has a cost of 55.9. On maze-32 the neural planner expands 3911 nodes. RRT* solves 87 of 100 "
         "problems on the city map.",
         {"55.9": C, "3911": C, "87 of 100": C}),
    Case("folds of medicine", {"cv.md": MEDICAL},
         "Swin-UNETR (swin) outperforms the U-Net in every fold; the mean Dice is 0.870 vs. 0.857 (+1.3 points) and the mean HD95 "
         "7.2 vs. 8.1. The largest gain is in fold 1 (0.848 to 0.869).",
         {"0.870": G, "0.857": G, "+1.3 points": G, "7.2": G, "8.1": G, "0.848": G, "0.869": G}),
    Case("folds of medicine: wrong", {"cv.md": MEDICAL},
         "In fold 2 the U-Net has a Dice of 0.871. The mean HD95 of swin is 8.1. The Dice of swin in fold 3 is 0.886.",
         {"0.871": C, "8.1": C, "0.886": C}),
    Case("threads", {"stdout": SPEED},
         "Throughput scales from 1.02 GB/s with one thread to 5.64 GB/s with 8 threads, a 5.5x speedup (efficiency 69 %). From 1 "
         "to 2 threads it is nearly linear (1.94x).",
         {"1.02": G, "5.64": G, "5.5x": G, "1.94x": G}),
    Case("threads: wrong", {"stdout": SPEED},
         "With 4 threads the throughput is 5.64 GB/s. Eight threads are 7.9x faster than one. Throughput decreases with the number "
         "of threads.",
         {"5.64": C, "7.9x": C, "Throughput decreases": C}),
    Case("merging", {"stdout": MERGE},
         "1. DARE has the best average (48.2), ahead of TIES (47.3) and linear merging (45.8).\n2. On code TIES leads with 36.1 "
         "(DARE: 35.8).\n3. Linear merging is weakest on math (41.2, 4.1 points behind DARE).",
         {"48.2": G, "47.3": G, "45.8": G, "36.1": G, "35.8": G, "41.2": G, "4.1 points": G}),
    Case("merging: wrong", {"stdout": MERGE},
         "TIES scores 62.8 on chat. DARE is best on code. Linear merging reaches 44.9 on math. The gain of DARE over linear "
         "merging is 5.4 points on average.",
         {"62.8": C, "DARE is best on code": C, "44.9": C, "5.4 points": C}),
    Case("hallucination", {"stdout": HALLUCINATE},
         "Model B gives fewer unsupported answers than model A (38 vs 61 of 500, i.e. 7.6% vs 12.2%; chi-square test, p = 0.015). "
         "Retrieval lowers model A's rate by 61 % to 4.8%.",
         {"38": G, "7.6%": G, "12.2%": G, "p = 0.015": G, "61 %": G, "4.8%": G}),
    Case("hallucination: wrong", {"stdout": HALLUCINATE},
         "With retrieval model A gives 38 unsupported answers. Model B has a rate of 12.2 %. The difference between A and B is not "
         "significant (p = 0.148).",
         {"38": C, "12.2 %": C, "not significant": C, "p = 0.148": C}),
    Case("weather", {"stdout": WEATHER},
         "At 24 h our model is slightly worse than the IFS (Z500 RMSE 72.4 vs. 68.1), at 72 h and 120 h it is better (181.0 vs. "
         "190.6 and 338.2 vs. 362.9, i.e. 6.8 % lower). For T850 the errors at 120 h are 1.92 and 2.08.",
         {"72.4": G, "68.1": G, "181.0": G, "190.6": G, "338.2": G, "362.9": G, "6.8 %": G, "1.92": G, "2.08": G}),
    Case("weather: wrong", {"stdout": WEATHER},
         "At 72 h the IFS has a T850 RMSE of 1.29. Our Z500 RMSE at 120 h is 362.9. At 24 h our Z500 RMSE is 27.4.",
         {"1.29": C, "362.9": C, "27.4": C}),
    Case("weather: never measured", {"stdout": WEATHER},
         "The anomaly correlation stays above 0.6 for 8.5 days and one forecast takes 3.4 minutes on a GPU.",
         {"8.5 days": N, "3.4 minutes": N}),
    Case("shipped numbers", {"stdout": "reference MAE 2.31\nreproduced MAE 2.478\n"},
         "We reproduce an MAE of 2.48.",
         {"2.48": G},
         code="from model import run\nimport json\nref = json.load(open('ref.json'))\nprint('reference MAE', ref['mae'])\n"
         "print(f'reproduced MAE {run():.3f}')\n",
         shipped={"ref.json": '{"mae": 2.31}'}),
    Case("a dictionary of results", {"stdout": "cnn: 0.884\nvit: 0.917\n"},
         "The ViT reaches 91.7 % and the CNN 88.4 %.",
         {"91.7 %": N, "88.4 %": N},
         code='ACC = {"cnn": 0.884, "vit": 0.917}\nfor k in ACC:\n    print(f"{k}: {ACC[k]:.3f}")\n'),
    Case("attacks: drop", {"robust.json": ATTACK},
         "The stronger attack matters: for the undefended model at eps 8 PGD-20 leaves 12.1 % and FGSM 34.5 %, a gap of 22.4 "
         "points.",
         {"12.1 %": G, "34.5 %": G, "22.4 points": G}),
)  # fmt: skip
