"""A seventeenth batch, written after the sixteenth was mended for: dense conclusions again, of other fields.

At first sight 61 of 63 claims called grounded were, and 61 of 68 that are grounded were called so.
"""

from __future__ import annotations

from grounding_cases import C, Case, G

SAMPLING = """\
[
  {"model": "7b", "temperature": 0.2, "pass@1": 0.318, "pass@10": 0.471, "invalid": 0.012},
  {"model": "7b", "temperature": 0.8, "pass@1": 0.274, "pass@10": 0.562, "invalid": 0.049},
  {"model": "34b", "temperature": 0.2, "pass@1": 0.482, "pass@10": 0.628, "invalid": 0.004},
  {"model": "34b", "temperature": 0.8, "pass@1": 0.437, "pass@10": 0.739, "invalid": 0.021}
]
"""
SEGMENTS = """\
| variant | Dice | HD95 (mm) | params (M) |
|:--|--:|--:|--:|
| U-Net | 0.842 ± 0.006 | 9.71 ± 0.88 | 31.0 |
| + attention gates | 0.851 ± 0.005 | 8.94 ± 0.61 | 34.9 |
| + deep supervision | 0.858 ± 0.004 | 8.12 ± 0.57 | 31.1 |
| + both | 0.866 ± 0.004 | 7.36 ± 0.49 | 35.0 |
"""
EPIDEMIC = """\
scenario: baseline
  peak day            : 61
  peak infected       : 18420
  attack rate         : 0.793
scenario: masks
  peak day            : 84
  peak infected       : 9655
  attack rate         : 0.618
scenario: masks+closures
  peak day            : 127
  peak infected       : 3108
  attack rate         : 0.342
"""
CODECS = """\
corpus      codec     ratio   enc_MBps   dec_MBps
silesia     zstd-3     3.18     412.6     1388.0
silesia     zstd-19    4.02       3.1     1201.5
silesia     lz4        2.10     688.3     3975.2
enwik8      zstd-3     2.81     367.9     1245.7
enwik8      zstd-19    3.71       2.4     1077.3
enwik8      lz4        1.75     590.4     3522.8
"""
GRASPS = """\
seed=0 policy=diffusion task=lift success=0.94 task=square success=0.71
seed=1 policy=diffusion task=lift success=0.96 task=square success=0.77
seed=2 policy=diffusion task=lift success=0.98 task=square success=0.74
seed=0 policy=lstm-gmm task=lift success=0.90 task=square success=0.52
seed=1 policy=lstm-gmm task=lift success=0.92 task=square success=0.58
seed=2 policy=lstm-gmm task=lift success=0.88 task=square success=0.49
"""

SEVENTEENTH = (
    Case("temperatures of sampling", {"sweep.json": SAMPLING},
         "A low temperature favours pass@1 and a high one pass@10. For the 7B model, raising the temperature from 0.2 to 0.8 lowers pass@1 from 31.8 % to 27.4 % but lifts pass@10 from "
         "47.1 % to 56.2 %. The 34B model behaves alike: 48.2 % against 43.7 % for pass@1, and 62.8 % against 73.9 % for pass@10. At temperature 0.8 it is thus 17.7 points ahead of the 7B "
         "model in pass@10. Invalid programs are rare (at most 4.9 %), and the larger model produces fewer of them: 0.4 % compared with 1.2 % at temperature 0.2.",
         {"31.8 %": G, "27.4 %": G, "47.1 %": G, "56.2 %": G, "48.2 %": G, "43.7 %": G, "62.8 %": G, "73.9 %": G, "17.7 points": G, "4.9 %": G, "0.4 %": G, "1.2 %": G}),
    Case("temperatures of sampling: mixed", {"sweep.json": SAMPLING},
         "At temperature 0.2 the 34B model reaches a pass@1 of 43.7 % and a pass@10 of 62.8 %. The 7B model has a pass@10 of 56.2 % at temperature 0.2. Its share of invalid programs rises from "
         "1.2 % to 4.9 %. At temperature 0.8 the 7B model beats the 34B model in pass@10 (73.9 % vs. 56.2 %).",
         {"43.7 %": C, "62.8 %": G, "56.2 % at": C, "1.2 %": G, "4.9 %": G, "the 7B model beats": C, "73.9 %": C}),
    Case("segmented organs", {"results.md": SEGMENTS},
         "The plain U-Net reaches a Dice score of 0.842 ± 0.006 and an HD95 of 9.71 mm. Attention gates and deep supervision raise Dice to 0.851 and 0.858, respectively, and together to 0.866. "
         "HD95 falls by 2.35 mm, from 9.71 to 7.36 mm, i.e. by 24 %, when both are used. Deep supervision is almost free in parameters (31.1M instead of 31.0M), whereas attention gates "
         "add 3.9M. The variant with both has the best Dice score and the lowest HD95.",
         {"0.842": G, "9.71 mm. A": G, "0.851": G, "0.858": G, "0.866": G, "2.35 mm": G, "7.36 mm": G, "24 %": G, "31.1M": G, "3.9M": G, "has the best Dice": G}),
    Case("segmented organs: mixed", {"results.md": SEGMENTS},
         "With attention gates the Dice score is 0.858 and HD95 8.94 mm. Deep supervision reaches an HD95 of 8.94 mm. Attention gates are better than deep supervision in Dice. The model with both has "
         "a Dice score of 0.866 ± 0.006. Both together improve on the U-Net by 0.024.",
         {"0.858": C, "8.94 mm. D": G, "8.94 mm. A": C, "Attention gates are better": C, "0.866": C, "0.024": G}),
    Case("closures", {"stdout": EPIDEMIC},
         "Without measures the epidemic peaks on day 61 with 18420 infected and an attack rate of 79.3 %. Masks alone delay the peak to day 84 and almost halve it (9655), and with closures in addition it "
         "comes on day 127 with 3108 infected. The attack rate drops to 61.8 % with masks and to 34.2 % with masks and closures, 45.1 points below the baseline. Closures on top of masks thus reduce the "
         "peak by another 68 %.",
         {"18420": G, "79.3 %": G, "9655": G, "3108": G, "61.8 %": G, "34.2 %": G, "45.1 points": G, "68 %": G}),
    Case("closures: mixed", {"stdout": EPIDEMIC},
         "In the baseline the attack rate is 61.8 %. With masks 9655 people are infected at the peak, on day 84. Masks and closures together have a peak of 3108 and an attack rate of 0.793. With masks the attack "
         "rate is 27.6 points higher than with masks and closures. Masks have a higher attack rate than the baseline.",
         {"61.8 %": C, "9655": G, "3108": G, "0.793": C, "27.6 points": G, "Masks have a higher": C}),
    Case("compressors", {"bench.txt": CODECS},
         "On Silesia zstd-19 compresses best (ratio 4.02), followed by zstd-3 (3.18) and LZ4 (2.10); on enwik8 the ratios are 3.71, 2.81 and 1.75. The price is the speed of encoding: zstd-19 encodes at only "
         "3.1 MB/s on Silesia, 133 times slower than zstd-3 (412.6 MB/s). LZ4 is the fastest to decode, with 3975 MB/s on Silesia and 3523 MB/s on enwik8, about 2.9 and 2.8 times the speed of zstd-3. Between "
         "levels 3 and 19 decoding slows down by 13.4 % on Silesia.",
         {"4.02": G, "3.18": G, "2.10": G, "3.71": G, "2.81": G, "1.75": G, "3.1 MB/s": G, "133 times": G, "412.6": G, "3975": G, "3523": G, "2.9": G, "2.8 times": G, "13.4 %": G}),
    Case("compressors: mixed", {"bench.txt": CODECS},
         "On enwik8 zstd-3 has a ratio of 3.18 and LZ4 one of 1.75. zstd-19 decodes Silesia at 1388 MB/s. On enwik8 LZ4 encodes faster than zstd-3 (590.4 against 367.9 MB/s). LZ4 has a higher ratio than zstd-3 on "
         "both corpora. On enwik8 the ratio of zstd-19 exceeds that of zstd-3 by 0.84.",
         {"3.18": C, "1.75": G, "1388": C, "590.4": G, "367.9": G, "LZ4 encodes faster": G, "LZ4 has a higher": C, "0.84": C}),
    Case("grasps", {"stdout": GRASPS},
         "Averaged over three seeds, the diffusion policy succeeds in 96 % of the lift trials and 74 % of the square trials, the LSTM-GMM in 90 % and 53 %. The advantage is therefore 6 points on lift and 21 points on "
         "square. On square the diffusion policy ranges from 0.71 to 0.77, and the LSTM-GMM from 0.49 to 0.58; in every seed the diffusion policy is better than the LSTM-GMM.",
         {"96 %": G, "74 %": G, "90 %": G, "53 %": G, "6 points": G, "21 points": G, "0.71": G, "0.77": G, "0.49": G, "0.58": G}),
    Case("grasps: mixed", {"stdout": GRASPS},
         "The diffusion policy reaches a mean success of 0.74 on lift. In seed 1 it succeeds in 77 % of the square trials. The LSTM-GMM has 0.52 on square in seed 1. On square the LSTM-GMM outperforms the diffusion "
         "policy. Its best seed on lift reaches 0.98.",
         {"0.74": C, "77 %": G, "0.52": C, "LSTM-GMM outperforms": C, "0.98": C}),
)  # fmt: skip
