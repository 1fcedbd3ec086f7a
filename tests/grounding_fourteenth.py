"""A fourteenth batch: reinforcement learning, graphs, speech, tabular data, systems and simulations.

At first sight 147 of 153 claims called grounded were, and 147 of 160 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G, N

PPO = """\
-----------------------------------------
| rollout/                |             |
|    ep_len_mean          | 487         |
|    ep_rew_mean          | 1.92e+03    |
| time/                   |             |
|    fps                  | 1342        |
|    iterations           | 490         |
|    total_timesteps      | 1003520     |
| train/                  |             |
|    approx_kl            | 0.011783104 |
|    entropy_loss         | -5.31       |
|    explained_variance   | 0.874       |
|    value_loss           | 46.2        |
-----------------------------------------
Eval num_timesteps=1000000, episode_reward=2104.73 +/- 118.26
"""
ATARI = """\
game,agent,seed,return
Breakout,dqn,0,291.4
Breakout,dqn,1,312.6
Breakout,dqn,2,305.3
Breakout,rainbow,0,398.1
Breakout,rainbow,1,411.7
Breakout,rainbow,2,384.5
Pong,dqn,0,18.7
Pong,dqn,1,19.2
Pong,dqn,2,18.5
Pong,rainbow,0,20.6
Pong,rainbow,1,20.9
Pong,rainbow,2,20.3
"""
OFFLINE = """\
{"env": "hopper-medium", "algo": "CQL", "normalized_score": 58.52, "std": 2.11}
{"env": "hopper-medium", "algo": "IQL", "normalized_score": 66.30, "std": 3.94}
{"env": "hopper-medium", "algo": "BC", "normalized_score": 52.88, "std": 1.47}
{"env": "walker2d-medium", "algo": "CQL", "normalized_score": 72.51, "std": 0.83}
{"env": "walker2d-medium", "algo": "IQL", "normalized_score": 78.34, "std": 2.05}
{"env": "walker2d-medium", "algo": "BC", "normalized_score": 75.29, "std": 1.66}
"""
GNN = """\
Dataset: Cora
  GCN        81.48 ± 0.61
  GAT        83.02 ± 0.70
  APPNP      83.31 ± 0.53
Dataset: CiteSeer
  GCN        70.31 ± 0.68
  GAT        72.54 ± 0.71
  APPNP      71.83 ± 0.52
"""
LINKS = """\
>>> ogbl-collab
hits@10: 0.3714, hits@50: 0.6475, hits@100: 0.6981
>>> ogbl-ddi
hits@10: 0.6032, hits@50: 0.8127, hits@100: 0.8790
"""
OVERSMOOTH = """\
num_layers | test acc | dirichlet energy
         2 |    0.813 |           0.4127
         8 |    0.746 |           0.0316
        32 |    0.294 |         2.17e-05
"""
TTS = """\
System        MOS (95% CI)     RTF     MCD[dB]
GroundTruth   4.52 (0.06)      -       -
Tacotron2     3.87 (0.09)      0.214   5.61
FastSpeech2   3.94 (0.08)      0.021   5.33
VITS          4.36 (0.07)      0.067   4.98
"""
VERIF = """\
2024-06-11 08:14:51,203 INFO    eval: VoxCeleb1-O  EER=1.04% minDCF=0.1127
2024-06-11 08:19:07,884 INFO    eval: VoxCeleb1-E  EER=1.23% minDCF=0.1304
2024-06-11 08:31:40,017 INFO    eval: VoxCeleb1-H  EER=2.21% minDCF=0.2068
2024-06-11 08:31:40,019 INFO    speakers=1211 utterances=148642
"""
SNR = """\
PESQ
snr    noisy  dccrn  demucs
-5      1.13   1.74    1.82
0       1.32   2.15    2.21
5       1.58   2.57    2.60
10      1.94   2.93    2.91
"""
TABULAR = """\
dataset: adult
    xgboost:  {auc: 0.9286, logloss: 0.2757, fit_s: 2.31}
    mlp:      {auc: 0.9102, logloss: 0.3094, fit_s: 41.7}
    ft_transformer: {auc: 0.9189, logloss: 0.2936, fit_s: 388.0}
dataset: higgs
    xgboost:  {auc: 0.8041, logloss: 0.5283, fit_s: 11.9}
    mlp:      {auc: 0.8117, logloss: 0.5190, fit_s: 167.2}
    ft_transformer: {auc: 0.8203, logloss: 0.5077, fit_s: 1640.5}
"""
GRID = """\
Best parameters: {'max_depth': 6, 'min_child_weight': 5, 'eta': 0.1}
Best CV score: 0.8413
Holdout: AUC 0.8377 | AP 0.5120 | Brier 0.1196
"""
FAIR = {
    "out/before.json": '{"accuracy": 0.8512, "dp_gap": 0.1937, "eo_gap": 0.1121}',
    "out/after.json": '{"accuracy": 0.8396, "dp_gap": 0.0214, "eo_gap": 0.0467}',
}
FIO = """\
randread: (groupid=0, jobs=4): err= 0: pid=1190
  read: IOPS=184k, BW=719MiB/s (754MB/s)(42.1GiB/60001msec)
    lat (usec): min=41, max=9120, avg=86.70, stdev=33.19
randwrite: (groupid=1, jobs=4): err= 0: pid=1207
  write: IOPS=97.3k, BW=380MiB/s (398MB/s)(22.3GiB/60002msec)
    lat (usec): min=29, max=15377, avg=164.11, stdev=210.44
"""
WRK = """\
Running 30s test @ http://127.0.0.1:8080
  8 threads and 256 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.12ms    2.48ms  71.30ms   83.41%
    Req/Sec     5.27k   412.07     6.61k    71.25%
  Latency Distribution
     50%    5.71ms
     90%    8.94ms
     99%   14.62ms
  1259337 requests in 30.03s, 1.12GB read
Requests/sec:  41935.97
"""
HYPER = """\
Benchmark 1: ./solve --naive
  Time (mean ± σ):      4.812 s ±  0.093 s    [User: 4.755 s, System: 0.041 s]
  Range (min … max):    4.701 s …  4.990 s    10 runs

Benchmark 2: ./solve --blocked
  Time (mean ± σ):      1.207 s ±  0.021 s    [User: 1.180 s, System: 0.022 s]
  Range (min … max):    1.181 s …  1.249 s    10 runs

Summary
  './solve --blocked' ran
    3.99 ± 0.10 times faster than './solve --naive'
"""
GOBENCH = """\
goos: linux
BenchmarkMap/size=1000-8          120481       9931 ns/op      4096 B/op      12 allocs/op
BenchmarkMap/size=100000-8           903    1310427 ns/op    524288 B/op      40 allocs/op
BenchmarkTrie/size=1000-8          48812      24610 ns/op     16384 B/op     205 allocs/op
BenchmarkTrie/size=100000-8          377    3172204 ns/op   1638400 B/op   20077 allocs/op
PASS
"""
CACHE = """\
policy=lru    size_mb=64   hit_ratio=0.4127  evictions=1882310
policy=lru    size_mb=256  hit_ratio=0.6038  evictions=904122
policy=arc    size_mb=64   hit_ratio=0.4695  evictions=1701456
policy=arc    size_mb=256  hit_ratio=0.6402  evictions=811930
"""
SPIN = """\
# T      <|m|>     chi        Binder U
1.80     0.9414    0.2017     0.6658
2.20     0.7849    3.8861     0.6571
2.27     0.5912   21.4470     0.5820
2.60     0.1107    5.0932     0.1189
"""
EPIDEMIC = """\
scenario: baseline
  peak infected: 31.2 % on day 47
  attack rate: 79.4 %
scenario: masks
  peak infected: 17.8 % on day 68
  attack rate: 61.0 %
scenario: lockdown
  peak infected: 4.6 % on day 112
  attack rate: 22.7 %
"""
NBODY = """\
integrator: euler     dt=0.001  energy drift 3.91e-02   steps/s 18240
integrator: leapfrog  dt=0.001  energy drift 6.05e-07   steps/s 17310
integrator: rk4       dt=0.001  energy drift 1.18e-09   steps/s 5122
"""
TRAFFIC = """\
<results>
<run controller="fixed" demand="low" wait="21.4" stops="1.32"/>
<run controller="fixed" demand="high" wait="68.9" stops="2.87"/>
<run controller="maxpressure" demand="low" wait="12.7" stops="0.94"/>
<run controller="maxpressure" demand="high" wait="39.5" stops="1.76"/>
</results>
"""
MD = """\
Replica 1: RMSD 1.84 A, Rg 14.21 A
Replica 2: RMSD 2.06 A, Rg 14.33 A
Replica 3: RMSD 1.77 A, Rg 14.18 A
average RMSD 1.89 A (sd 0.15)
"""
EVO = """\
gen  best      mean      std
0    -812.4    -1530.9   402.2
50   -231.7    -418.3    122.8
100  -104.1    -160.5     48.0
200   -97.6    -110.2     11.9
"""
PRUNE = """\
array([[0.00, 0.7613],
       [0.50, 0.7588],
       [0.80, 0.7402],
       [0.95, 0.6127]])
columns: sparsity, top1
"""
KNAPSACK = """\
instance  greedy   dp       gap(%)
small     1042     1081     3.61
medium    9866     10123    2.54
large     101377   103090   1.66
mean gap: 2.60 %
"""
STREAM = """\
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           24310.6     0.066102     0.065815     0.067020
Scale:          16544.2     0.097233     0.096710     0.098118
Add:            18621.9     0.129480     0.128880     0.130992
Triad:          18430.3     0.130711     0.130220     0.131544
"""

FOURTEENTH = (
    Case("ppo", {"stdout": PPO},
         "After one million steps PPO has a mean episode reward of 1,920 during training and 2104.7 ± 118.3 in evaluation. Training runs at 1342 "
         "frames per second; the explained variance of the critic is 0.874 and the approximate KL stays small (0.0118).",
         {"1,920": G, "2104.7 ± 118.3": G, "1342": G, "0.874": G, "0.0118": G}),
    Case("ppo: mixed", {"stdout": PPO},
         "The evaluation reward is 1,920 and the value loss 46.2. The explained variance is 0.784. SAC reaches a reward of 4,310.",
         {"1,920": C, "46.2": G, "0.784": C, "4,310": N}),
    Case("atari", {"results.csv": ATARI},
         "Rainbow beats DQN on both games. On Breakout the mean return over three seeds is 398.1 for Rainbow and 303.1 for DQN (+31 %); on Pong it is "
         "20.6 vs. 18.8. The best Breakout seed of Rainbow reaches 411.7.",
         {"Rainbow beats DQN": G, "398.1": G, "303.1": G, "+31 %": G, "20.6": G, "18.8": G, "411.7": G}),
    Case("atari: mixed", {"results.csv": ATARI},
         "On Pong DQN averages 20.6. Its worst seed on Breakout has a return of 291.4. Rainbow averages 389.1 on Breakout. On Seaquest Rainbow gets "
         "5,120.",
         {"20.6": C, "291.4": G, "389.1": C, "5,120": N}),
    Case("offline", {"scores.jsonl": OFFLINE},
         "IQL is the best of the three on both datasets: 66.3 ± 3.9 on hopper-medium and 78.3 ± 2.1 on walker2d-medium. CQL outperforms BC on "
         "hopper-medium (58.5 vs. 52.9) but not on walker2d-medium (72.5 vs. 75.3).",
         {"66.3 ± 3.9": G, "78.3 ± 2.1": G, "58.5": G, "52.9": G, "72.5": G, "75.3": G}),
    Case("offline: mixed", {"scores.jsonl": OFFLINE},
         "On walker2d-medium CQL has a normalized score of 78.3 and BC one of 75.3. CQL is better than IQL on hopper-medium. On hopper-medium BC is at "
         "58.5.",
         {"78.3": C, "75.3": G, "CQL is better than IQL": C, "58.5": C}),
    Case("citations", {"stdout": GNN},
         "On Cora APPNP is slightly ahead (83.3 ± 0.5) of GAT (83.0 ± 0.7), well within one standard deviation; GCN has 81.5 ± 0.6. On CiteSeer GAT is best "
         "with 72.5 ± 0.7, 2.2 points above GCN (70.3 ± 0.7).",
         {"83.3 ± 0.5": G, "83.0 ± 0.7": G, "81.5 ± 0.6": G, "72.5 ± 0.7": G, "2.2 points": G, "70.3 ± 0.7": G}),
    Case("citations: mixed", {"stdout": GNN},
         "On CiteSeer APPNP reaches 83.3 %. GCN reaches 70.3 % there. On Cora GCN outperforms GAT. On PubMed GAT has 79.0 %.",
         {"83.3 %": C, "70.3 %": G, "GCN outperforms GAT": C, "79.0 %": N}),
    Case("links", {"log.txt": LINKS},
         "On ogbl-collab the model has Hits@50 = 64.8 %, on ogbl-ddi Hits@10 = 60.3 %. Hits@100 is 69.8 % and 87.9 %, respectively.",
         {"64.8 %": G, "60.3 %": G, "69.8 %": G, "87.9 %": G}),
    Case("links: mixed", {"log.txt": LINKS},
         "On ogbl-ddi Hits@50 is 64.8 % and Hits@100 is 87.9 %. On ogbl-collab Hits@10 is 37.1 %.",
         {"64.8 %": C, "87.9 %": G, "37.1 %": G}),
    Case("smoothing", {"stdout": OVERSMOOTH},
         "Deeper is worse: accuracy falls from 81.3 % with 2 layers to 74.6 % with 8 and 29.4 % with 32. At the same time the Dirichlet energy collapses "
         "from 0.413 to 2.2e-5.",
         {"81.3 %": G, "74.6 %": G, "29.4 %": G, "0.413": G, "2.2e-5": G}),
    Case("smoothing: mixed", {"stdout": OVERSMOOTH},
         "With 8 layers the test accuracy is 81.3 % and the energy 0.0316. The Dirichlet energy increases with the number of layers.",
         {"81.3 %": C, "0.0316": G, "The Dirichlet energy increases": C}),
    Case("voices", {"stdout": TTS},
         "VITS sounds best among the synthesisers (MOS 4.36 ± 0.07, ground truth 4.52), and has the lowest MCD (4.98 dB). FastSpeech2 is the fastest with a "
         "real-time factor of 0.021, ten times faster than Tacotron2 (0.214).",
         {"4.36 ± 0.07": G, "4.52": G, "4.98 dB": G, "0.021": G, "0.214": G}),
    Case("voices: mixed", {"stdout": TTS},
         "Tacotron2 has a MOS of 3.94 and an MCD of 5.61 dB. VITS has an RTF of 0.021. FastSpeech2 is slower than Tacotron2.",
         {"3.94": C, "5.61 dB": G, "0.021": C, "FastSpeech2 is slower": C}),
    Case("speakers", {"eval.log": VERIF},
         "The EER is 1.04 % on VoxCeleb1-O, 1.23 % on VoxCeleb1-E and 2.21 % on the hard list VoxCeleb1-H, where minDCF nearly doubles (0.207 against 0.113 on "
         "O).",
         {"1.04 %": G, "1.23 %": G, "2.21 %": G, "0.207": G, "0.113": G}),
    Case("speakers: mixed", {"eval.log": VERIF},
         "On VoxCeleb1-E the EER is 2.21 % and minDCF 0.130. On VoxCeleb1-O minDCF is 0.113. With score normalisation the EER falls to 0.94 %.",
         {"2.21 %": C, "0.130": G, "0.113": G, "0.94 %": N}),
    Case("denoising", {"stdout": SNR},
         "At -5 dB Demucs improves PESQ from 1.13 to 1.82, DCCRN to 1.74. At 10 dB the order turns: DCCRN 2.93, Demucs 2.91.",
         {"1.13": G, "1.82": G, "1.74": G, "2.93": G, "2.91": G}),
    Case("denoising: mixed", {"stdout": SNR},
         "At 5 dB DCCRN has a PESQ of 2.60. At 0 dB noisy speech has 1.32. At 10 dB Demucs is better than DCCRN. STOI at 0 dB is 0.87.",
         {"2.60": C, "1.32": G, "Demucs is better than DCCRN": C, "0.87": N}),
    Case("tables of people", {"bench.yaml": TABULAR},
         "On adult XGBoost wins (AUC 0.929, FT-Transformer 0.919, MLP 0.910), on higgs the FT-Transformer (AUC 0.820, log loss 0.508). XGBoost needs only "
         "2.3 s to fit on adult, the FT-Transformer 388 s.",
         {"0.929": G, "0.919": G, "0.910": G, "0.820": G, "0.508": G}),
    Case("tables of people: mixed", {"bench.yaml": TABULAR},
         "On higgs the MLP has an AUC of 0.820 and a log loss of 0.519. On adult the log loss of XGBoost is 0.294. XGBoost outperforms the MLP on higgs. "
         "CatBoost has an AUC of 0.931 on adult.",
         {"0.820": C, "0.519": G, "0.294": C, "XGBoost outperforms the MLP": C, "0.931": N}),
    Case("grid", {"stdout": GRID},
         "The grid search picks a depth of 6 and eta = 0.1 with a cross-validated score of 0.841; on the holdout set AUC is 0.838, average precision 0.512 and "
         "the Brier score 0.120.",
         {"0.841": G, "0.838": G, "0.512": G, "0.120": G}),
    Case("grid: mixed", {"stdout": GRID},
         "The holdout AUC is 0.841 and the Brier score 0.1196. Average precision is 0.512. Without tuning the AUC is 0.812.",
         {"0.841": C, "0.1196": G, "0.512": G, "0.812": N}),
    Case("fairness", FAIR,
         "Reweighting cuts the demographic parity gap from 0.194 to 0.021 and the equalised odds gap from 0.112 to 0.047, for a loss of 1.2 points of accuracy "
         "(85.1 % to 84.0 %).",
         {"0.194": G, "0.021": G, "0.112": G, "0.047": G, "1.2 points": G, "85.1 %": G, "84.0 %": G}),
    Case("fairness: mixed", FAIR,
         "After reweighting accuracy is 85.1 % and the demographic parity gap (dp_gap) is 0.021. Before it the equalised odds gap (eo_gap) was 0.047.",
         {"85.1 %": C, "0.021": G, "0.047": C}),
    Case("disk", {"fio.txt": FIO},
         "Random reads reach 184k IOPS (719 MiB/s) with an average latency of 86.7 us, random writes 97.3k IOPS (380 MiB/s) with 164 us. The slowest read took "
         "9.1 ms.",
         {"184k": G, "719": G, "86.7": G, "97.3k": G, "380": G, "164": G, "9.1 ms": G}),
    Case("disk: mixed", {"fio.txt": FIO},
         "Random writes have a bandwidth of 719 MiB/s. Random reads have an average latency of 164 us. Random writes have 97.3k IOPS.",
         {"719": C, "164": C, "97.3k": G}),
    Case("server", {"wrk.txt": WRK},
         "The server handles 41,936 requests per second with a median latency of 5.7 ms and a 99th percentile of 14.6 ms; 1,259,337 requests were served in 30 "
         "seconds.",
         {"41,936": G, "5.7 ms": G, "14.6 ms": G, "1,259,337": G}),
    Case("server: mixed", {"wrk.txt": WRK},
         "The average latency is 6.12 ms, the 99th percentile 8.94 ms. It handles 52,270 requests per second.",
         {"6.12 ms": G, "8.94 ms": C, "52,270": C}),
    Case("blocking", {"stdout": HYPER},
         "The blocked version takes 1.207 s ± 0.021 s, the naive one 4.812 s ± 0.093 s, a speed-up of 3.99x.",
         {"1.207": G, "4.812": G, "3.99x": G}),
    Case("blocking: mixed", {"stdout": HYPER},
         "The naive version takes 1.207 s on average. Its slowest run took 4.99 s. The blocked version is 4.99 times faster than the naive one.",
         {"1.207": C, "4.99 s": G, "4.99 times": C}),
    Case("maps", {"bench.txt": GOBENCH},
         "At size 1000 the map needs 9931 ns per operation and the trie 24610 ns (2.5 times as long). At size 100000 it is 1.31 ms against 3.17 ms, and the trie "
         "makes 20077 allocations per operation instead of 40.",
         {"9931 ns": G, "24610 ns": G, "2.5 times": G, "1.31 ms": G, "3.17 ms": G, "20077": G}),
    Case("caches", {"stdout": CACHE},
         "ARC has the higher hit ratio at both sizes: 47.0 % vs. 41.3 % at 64 MB and 64.0 % vs. 60.4 % at 256 MB. At 64 MB it also evicts 9.6 % less often.",
         {"47.0 %": G, "41.3 %": G, "64.0 %": G, "60.4 %": G, "9.6 %": G}),
    Case("caches: mixed", {"stdout": CACHE},
         "At 256 MB LRU has a hit ratio of 64.0 %. At 64 MB ARC makes 1,701,456 evictions. LRU is better than ARC at 64 MB. At 1 GB the hit ratio is 71.5 %.",
         {"64.0 %": C, "1,701,456": G, "LRU is better than ARC": C, "71.5 %": N}),
    Case("spins", {"ising.dat": SPIN},
         "The susceptibility peaks near T = 2.27 with chi = 21.4, where the magnetisation has dropped to 0.591 from 0.941 at T = 1.80. The Binder cumulant falls "
         "from 0.666 to 0.119 at T = 2.60.",
         {"21.4": G, "0.591": G, "0.941": G, "0.666": G, "0.119": G}),
    Case("spins: mixed", {"ising.dat": SPIN},
         "At T = 2.20 the magnetisation is 0.591. At T = 2.60 chi is 5.09. The Binder cumulant at T = 2.20 is 0.582.",
         {"0.591": C, "5.09": G, "0.582": C}),
    Case("epidemics", {"stdout": EPIDEMIC},
         "Masks lower the peak from 31.2 % to 17.8 % and delay it from day 47 to day 68; lockdown lowers it to 4.6 %. The attack rate falls from 79.4 % to 61.0 % "
         "and 22.7 %.",
         {"31.2 %": G, "17.8 %": G, "4.6 %": G, "79.4 %": G, "61.0 %": G, "22.7 %": G}),
    Case("epidemics: mixed", {"stdout": EPIDEMIC},
         "With masks the attack rate is 79.4 %. Under lockdown 4.6 % are infected at the peak. In the baseline scenario the peak is 17.8 %. Vaccination brings the "
         "attack rate to 12.1 %.",
         {"79.4 %": C, "4.6 %": G, "17.8 %": C, "12.1 %": N}),
    Case("bodies", {"stdout": NBODY},
         "RK4 has the smallest energy drift (1.2e-9), leapfrog follows with 6.1e-7, and Euler is useless (3.9e-2). RK4 is slowest, however, with 5122 steps per "
         "second, about 3.4 times slower than leapfrog (17310).",
         {"1.2e-9": G, "6.1e-7": G, "3.9e-2": G, "5122": G, "3.4 times": G, "17310": G}),
    Case("bodies: mixed", {"stdout": NBODY},
         "Leapfrog drifts by 1.2e-9. Euler makes 18240 steps per second. RK4 drifts more than leapfrog.",
         {"1.2e-9": C, "18240": G, "RK4 drifts more": C}),
    Case("junctions", {"sim/results.xml.txt": TRAFFIC},
         "Max-pressure control shortens the mean wait from 68.9 s to 39.5 s under high demand (-43 %) and from 21.4 s to 12.7 s under low demand. Stops per vehicle "
         "drop from 2.87 to 1.76.",
         {"68.9": G, "39.5 s": G, "-43 %": G, "21.4": G, "12.7 s": G, "2.87": G, "1.76": G}),
    Case("junctions: mixed", {"sim/results.xml.txt": TRAFFIC},
         "Under low demand the fixed controller has 2.87 stops per vehicle. Under high demand max-pressure (maxpressure) has 1.76.",
         {"2.87": C, "1.76": G}),
    Case("proteins", {"md.log": MD},
         "The backbone RMSD is 1.89 ± 0.15 Å over three replicas (1.77 to 2.06 Å); the radius of gyration is stable at about 14.2 Å.",
         {"1.89 ± 0.15": G, "1.77": G, "2.06": G, "14.2": G}),
    Case("proteins: mixed", {"md.log": MD},
         "Replica 2 has an RMSD of 1.77 and a radius of gyration (Rg) of 14.33. The average RMSD is 1.98.",
         {"1.77": C, "14.33": G, "1.98": C}),
    Case("generations", {"stdout": EVO},
         "The best fitness improves from -812.4 to -97.6 within 200 generations; at generation 100 it is already -104.1. The population converges: the standard "
         "deviation shrinks from 402.2 to 11.9.",
         {"-812.4": G, "-97.6": G, "-104.1": G, "402.2": G, "11.9": G}),
    Case("generations: mixed", {"stdout": EVO},
         "At generation 50 the mean fitness is -231.7 and the standard deviation 122.8. At generation 200 the best fitness is -110.2.",
         {"-231.7": C, "122.8": G, "-110.2": C}),
    Case("sparsity", {"stdout": PRUNE},
         "Half of the weights can be removed almost for free (76.1 % to 75.9 %), but at 95 % sparsity accuracy collapses to 61.3 %.",
         {"76.1 %": G, "75.9 %": G, "61.3 %": G}),
    Case("knapsacks", {"stdout": KNAPSACK},
         "Greedy is within 3.61 % of the optimum on the small, 2.54 % on the medium and 1.66 % on the large instance (mean 2.60 %). On the large instance it finds "
         "101,377 instead of 103,090.",
         {"3.61 %": G, "2.54 %": G, "1.66 %": G, "2.60 %": G, "101,377": G, "103,090": G}),
    Case("knapsacks: mixed", {"stdout": KNAPSACK},
         "On the medium instance the gap is 3.61 % and the optimum 10,123. The gap increases with the size of the instance. Greedy finds 1081 on the small one.",
         {"3.61 %": C, "10,123": G, "The gap increases": C, "1081": C}),
    Case("bandwidth", {"stdout": STREAM},
         "Copy reaches 24.3 GB/s, Triad 18.4 GB/s. Scale is slowest with 16.5 GB/s. This is about what the vendor states.",
         {"24.3": G, "18.4": G, "16.5": G}),
    Case("bandwidth: mixed", {"stdout": STREAM},
         "Add has a best rate of 18430 MB/s. Copy takes 0.0661 s on average. Scale is faster than Copy.",
         {"18430": C, "Scale is faster than Copy": C}),
)  # fmt: skip
