"""Development cases of grounding: outputs of a run, a conclusion, and what a careful reader says of it.

Each case: the texts that a run put out, by name; the conclusion; for parts of it the state of the claims
that they hold. A part is a passage of the conclusion; every claim in it that the part covers has to
have the state."""

from __future__ import annotations

from dataclasses import dataclass, field

G, C, N, U = "grounded", "contradicted", "not_found", "not_checkable"


@dataclass(frozen=True)
class Case:
    """One conclusion with its outputs."""

    name: str
    outputs: dict[str, str]
    conclusion: str
    expected: dict[str, str]
    question: str = "Which method is best?"
    code: str = ""
    shipped: dict[str, str] = field(default_factory=dict)


ALIGNED = """\
mean test error over 5 seeds
method          n=50    n=100   n=500
ridge          0.412    0.351   0.298
lasso          0.388    0.362   0.305
boosting       0.455    0.340   0.251
"""
MARKDOWN = """\
| model | accuracy | macro F1 | loss |
|-------|----------|----------|------|
| mlp   | 0.9132   | 0.8871   | 0.312 |
| cnn   | 0.9467   | 0.9312   | 0.204 |
| knn   | 0.8620   | 0.8405   | 0.587 |
"""
SEEDS = """\
method,seed,accuracy,seconds
base,0,0.812,1.2
base,1,0.824,1.3
base,2,0.806,1.2
base,3,0.818,1.1
base,4,0.815,1.2
ours,0,0.842,2.4
ours,1,0.851,2.2
ours,2,0.803,2.5
ours,3,0.847,2.3
ours,4,0.832,2.4
"""
LOG = """\
[2024-05-01 10:00:01] INFO starting
epoch 1: train_loss=1.9312 val_acc=0.4120
epoch 2: train_loss=1.2045 val_acc=0.5833
epoch 3: train_loss=0.9127 val_acc=0.6671
epoch 4: train_loss=0.7320 val_acc=0.6924
epoch 5: train_loss=0.6105 val_acc=0.6853
test accuracy: 0.6788
"""
JSON = """\
{"config": {"lr": 0.01, "epochs": 30}, "results": {"sgd": {"train": {"loss": 0.1834}, "test": {"loss": 0.2417,
 "accuracy": 0.9021}}, "adam": {"train": {"loss": 0.0921}, "test": {"loss": 0.2088, "accuracy": 0.9178}}}}
"""
SWEEP = """\
== noise sweep ==
sigma=0.0: robust MSE 0.1042, plain MSE 0.1011
sigma=0.5: robust MSE 0.1187, plain MSE 0.1324
sigma=1.0: robust MSE 0.1465, plain MSE 0.2418
sigma=2.0: robust MSE 0.2310, plain MSE 0.6127
"""
TEST = """\
A mean 0.842 (std 0.011)
B mean 0.815 (std 0.013)
paired t-test: t = 3.91, p = 0.0038
"""
MEMORY = """\
Peak memory (MB)  baseline: 12,480   quantised: 3,310
Throughput: baseline 1,042 tokens/s, quantised 1,387 tokens/s
"""
SOLVER = """\
puzzles: 98
full search     solved 98/98 (100.0%)
no backtracking solved 61/98 (62.2%)
greedy          solved 17/98 (17.3%)
"""

CASES = (
    Case(
        "numbers of an aligned table with their conditions",
        {"stdout": ALIGNED},
        "At n = 100 boosting has the lowest error (0.340), ahead of ridge (0.351) and lasso (0.362). With "
        "only 50 "
        "examples the lasso is best with 0.388.",
        {
            "0.340": G,
            "0.351": G,
            "0.362": G,
            "0.388": G,
            "boosting has the lowest error": G,
            "lasso is best": G,
        },
    ),
    Case(
        "a number of another column",
        {"stdout": ALIGNED},
        "At n = 50 boosting reaches an error of 0.251.",
        {"0.251": C},
    ),
    Case(
        "a number of another row",
        {"stdout": ALIGNED},
        "Ridge has an error of 0.251 at n = 500.",
        {"0.251": C},
    ),
    Case(
        "names exchanged",
        {"stdout": ALIGNED},
        "At n=500 ridge has an error of 0.305 and lasso one of 0.298.",
        {"0.305": C, "0.298": C},
    ),
    Case(
        "an invented number beside true ones",
        {"stdout": ALIGNED},
        "For n = 500 the errors are 0.298 (ridge), 0.305 (lasso) and 0.219 (boosting).",
        {"0.298": G, "0.305": G, "0.219": C},
    ),
    Case(
        "a comparison turned round",
        {"stdout": ALIGNED},
        "At n = 50 ridge has a lower error than lasso.",
        {"ridge has a lower error than lasso": C},
    ),
    Case(
        "comparisons that hold",
        {"stdout": ALIGNED},
        "At n = 500, boosting outperforms ridge. At n = 50, boosting is worse than lasso.",
        {"boosting outperforms ridge": G, "boosting is worse than lasso": G},
    ),
    Case(
        "a ranking with symbols and one in words",
        {"stdout": ALIGNED},
        "At n = 500 the errors are ordered boosting < ridge < lasso. At n = 50 the ranking is lasso, "
        "ridge, boosting.",
        {"boosting < ridge < lasso": G, "ranking is lasso, ridge, boosting": G},
    ),
    Case(
        "a wrong ranking",
        {"stdout": ALIGNED},
        "At n = 50 the errors are ordered ridge < lasso < boosting.",
        {"ridge < lasso < boosting": C},
    ),
    Case(
        "a trend with a variable",
        {"stdout": ALIGNED},
        "The error of ridge decreases with n. The error of lasso increases with n.",
        {"error of ridge decreases": G, "error of lasso increases": C},
    ),
    Case(
        "a crossing between two sizes",
        {"stdout": ALIGNED},
        "The order of ridge and boosting flips between n = 50 and n = 100.",
        {"flips between n = 50 and n = 100": G},
    ),
    Case(
        "a crossing at the wrong place",
        {"stdout": ALIGNED},
        "Lasso and boosting change places between n = 100 and n = 500.",
        {"change places between n = 100 and n = 500": C},
    ),
    Case(
        "per cent and fraction in a Markdown table",
        {"stdout": MARKDOWN},
        "The CNN is the most accurate model (94.7 %), the MLP reaches 91.3% and kNN 86.2 %. Its macro F1 "
        "is 0.931.",
        {"94.7": G, "91.3": G, "86.2": G, "0.931": G},
    ),
    Case(
        "wrong per cent",
        {"stdout": MARKDOWN},
        "The CNN reaches an accuracy of 96.4 %.",
        {"96.4": C},
    ),
    Case(
        "points of difference and relative change",
        {"stdout": MARKDOWN},
        "The CNN beats the MLP by 3.4 percentage points in accuracy and lowers the loss by 35 % compared "
        "with it.",
        {"3.4": G, "35 %": G},
    ),
    Case(
        "a difference that is not there",
        {"stdout": MARKDOWN},
        "The CNN beats the MLP by 7.9 percentage points in accuracy.",
        {"7.9": C},
    ),
    Case(
        "a metric taken for another",
        {"stdout": MARKDOWN},
        "The MLP has an accuracy of 0.887.",
        {"0.887": C},
    ),
    Case(
        "means over the seeds of a CSV",
        {"results/runs.csv": SEEDS},
        "Averaged over five seeds, ours reaches an accuracy of 0.835 and base 0.815.",
        {"0.835": G, "0.815": G},
    ),
    Case(
        "means exchanged",
        {"results/runs.csv": SEEDS},
        "Averaged over five seeds, ours reaches an accuracy of 0.815 and base 0.835.",
        {"0.815": C, "0.835": C},
    ),
    Case(
        "mean with its standard deviation",
        {"results/runs.csv": SEEDS},
        "The mean accuracy is 0.835 ± 0.019 for ours and 0.815 ± 0.007 for base.",
        {"0.835 ± 0.019": G, "0.815 ± 0.007": G},
    ),
    Case(
        "a spread that nobody measured",
        {"results/runs.csv": SEEDS},
        "The mean accuracy is 0.835 ± 0.002 for ours.",
        {"0.835 ± 0.002": N},
    ),
    Case(
        "wins on k of n seeds",
        {"results/runs.csv": SEEDS},
        "Ours is more accurate than base on 4 of 5 seeds.",
        {"4 of 5": G},
    ),
    Case(
        "wins on too many seeds",
        {"results/runs.csv": SEEDS},
        "Ours is more accurate than base on 5 of 5 seeds.",
        {"5 of 5": C},
    ),
    Case(
        "best and last of a log",
        {"stdout": LOG},
        "Validation accuracy peaks at 69.2 % and ends at 68.5 %; the final training loss is 0.611. On the "
        "test set the "
        "model reaches 67.9 %.",
        {"69.2": G, "68.5": G, "0.611": G, "67.9": G},
    ),
    Case(
        "an epoch's value for another epoch",
        {"stdout": LOG},
        "After epoch 2 the validation accuracy is 0.667.",
        {"0.667": C},
    ),
    Case(
        "nested JSON",
        {"results.json": JSON},
        "Adam reaches a test loss of 0.209 and a test accuracy of 91.8 %, SGD 0.242 and 90.2 %.",
        {"0.209": G, "91.8": G, "0.242": G, "90.2": G},
    ),
    Case(
        "train for test",
        {"results.json": JSON},
        "Adam reaches a test loss of 0.092.",
        {"0.092": C},
    ),
    Case(
        "settings are no claims",
        {"results.json": JSON},
        "With learning rate 0.01 and 30 epochs (seed 7, batch size 64, Python 3.11) Adam has a test "
        "accuracy of 0.918.",
        {"0.918": G},
    ),
    Case(
        "lines with a setting each",
        {"stdout": SWEEP},
        "Without noise the plain fit is slightly better (0.101 versus 0.104 for the robust one). At sigma "
        "= 1.0 the "
        "robust fit has an MSE of 0.147 against 0.242 for the plain one, and at sigma = 2.0 it is 0.231 "
        "against 0.613.",
        {"0.101": G, "0.104": G, "0.147": G, "0.242": G, "0.231": G, "0.613": G},
    ),
    Case(
        "a ratio of two lines",
        {"stdout": SWEEP},
        "At sigma = 2.0 the plain MSE is 2.7 times the robust MSE.",
        {"2.7 times": G},
    ),
    Case(
        "a ratio that does not follow",
        {"stdout": SWEEP},
        "At sigma = 2.0 the plain MSE is 4.1 times the robust MSE.",
        {"4.1 times": C},
    ),
    Case(
        "a crossing over settings in lines",
        {"stdout": SWEEP},
        "The robust and the plain fit swap places between sigma = 0.0 and sigma = 0.5.",
        {"swap places": G},
    ),
    Case(
        "a test that was run",
        {"stdout": TEST},
        "A (0.842) is significantly better than B (0.815), p = 0.004.",
        {"0.842": G, "0.815": G, "significantly better": G, "p = 0.004": G},
    ),
    Case(
        "significance without any test",
        {"stdout": ALIGNED},
        "At n = 500 boosting is significantly better than ridge.",
        {"significantly better": N},
    ),
    Case(
        "a test that says no",
        {"stdout": "A 0.842 B 0.839\nWilcoxon p-value: 0.41\n"},
        "A is significantly better than B.",
        {"significantly": C},
    ),
    Case(
        "no significance is claimed",
        {"stdout": "A 0.842 B 0.839\nWilcoxon p-value: 0.41\n"},
        "The difference between A (0.842) and B (0.839) is not significant (p = 0.41).",
        {"not significant": G, "0.842": G, "0.839": G, "0.41": G},
    ),
    Case(
        "thousands",
        {"stdout": MEMORY},
        "Quantisation reduces peak memory from 12480 MB to 3310 MB, a reduction of 73 %, and raises "
        "throughput from 1042 "
        "to 1387 tokens per second (1.33x).",
        {"12480": G, "3310": G, "73 %": G, "1042": G, "1387": G, "1.33x": G},
    ),
    Case(
        "counts of a total",
        {"stdout": SOLVER},
        "The full search solves 98/98 puzzles, without backtracking 61 of 98 are solved, and greedy "
        "search solves 17 % "
        "of them.",
        {"98/98": G, "61 of 98": G, "17 %": G},
    ),
    Case(
        "a wrong count",
        {"stdout": SOLVER},
        "Greedy search solves 61 of the 98 puzzles.",
        {"61 of the 98": C},
    ),
    Case(
        "quoted and hoped numbers are no claims",
        {"stdout": MARKDOWN},
        "The paper reports 0.981 for the CNN; we measured 0.947. With more data it should reach 0.96.",
        {"0.947": G},
    ),
    Case(
        "nothing was put out",
        {"stdout": "done\n"},
        "Ridge has an error of 0.298 and beats lasso.",
        {"0.298": N, "beats lasso": N},
    ),
    Case(
        "a printed constant",
        {"stdout": "accuracy: 0.9467\n"},
        "The model reaches an accuracy of 94.7 %.",
        {"94.7": N},
        code='print("accuracy: 0.9467")\n',
    ),
    Case(
        "constants in a dictionary",
        {"stdout": "ridge 0.298\nboosting 0.251\n"},
        "Boosting (0.251) beats ridge (0.298).",
        {"0.251": N, "0.298": N},
        code='results = {"ridge": 0.298, "boosting": 0.251}\nfor name, value in results.items():\n'
        "    print(name, value)\n",
    ),
    Case(
        "a number that is read from the repository's results",
        {"stdout": "best accuracy 0.9467\n"},
        "The model reaches an accuracy of 94.67 %.",
        {"94.67": N},
        code='import json\nprint("best accuracy", json.load(open("results/old.json"))["accuracy"])\n',
        shipped={"results/old.json": '{"accuracy": 0.9467}'},
    ),
    Case(
        "a computed number that a document has too",
        {"stdout": "accuracy 0.9467\n"},
        "The model reaches an accuracy of 94.67 %.",
        {"94.67": G},
        code="from model import evaluate\nprint('accuracy', round(evaluate(), 4))\n",
        shipped={"README.md": "Our model reaches 0.9467."},
    ),
    Case(
        "scientific notation",
        {"stdout": "final gap sgd 1.31e-03\nfinal gap svrg 7.7606e-05\n"},
        "SVRG ends with a gap of 7.76e-5, SGD with 1.3 × 10^-3, i.e. 17 times as much.",
        {"7.76e-5": G, "1.3 × 10^-3": G, "17 times": G},
    ),
    Case(
        "a number that only chance has",
        {"stdout": "loaded 1203 rows\nusing 7 workers\nstep 0.52 done\n"},
        "The method reaches an F1 of 0.52.",
        {"0.52": N},
    ),
    Case(
        "a table in the conclusion",
        {"stdout": ALIGNED},
        "Results:\n\n| method | n=50 | n=500 |\n|---|---|---|\n| ridge | 0.412 | 0.298 |\n| boosting | "
        "0.455 | 0.215 |\n",
        {"0.412": G, "| 0.298": G, "0.455": G, "0.215": C},
    ),
    Case(
        "a box and a dictionary",
        {
            "stdout": "┏━━━━━━━┳━━━━━━━┓\n┃ model ┃ AUC   ┃\n┡━━━━━━━╇━━━━━━━┩\n│ tree  │ 0.781 │\n│ svm  "
            " │ 0.823 │\n"
            "└───────┴───────┘\n{'tree': np.float64(0.7812), 'svm': np.float64(0.8234), 'nan': nan}\n"
        },
        "The SVM has an AUC of 0.823 against 0.781 for the tree.",
        {"0.823": G, "0.781": G},
    ),
    Case(
        "colours and progress bars",
        {
            "stdout": "\x1b[32mrunning\x1b[0m\n 10%|#\r 50%|###\r100%|####\n\x1b[1mfinal reward\x1b[0m: "
            "212.4 +/- 8.1\n"
        },
        "The agent reaches a final reward of 212.4 ± 8.1.",
        {"212.4 ± 8.1": G},
    ),
    Case(
        "the wrong error",
        {"stdout": "final reward: 212.4 +/- 8.1\n"},
        "The agent reaches a final reward of 212.4 ± 1.8.",
        {"212.4 ± 1.8": C},
    ),
    Case(
        "a bound that holds and one that does not",
        {"stdout": "coverage of method A: 0.963\ncoverage of method B: 0.871\n"},
        "The coverage of method A is above 0.95. The coverage of method B is above 0.95.",
        {"method A is above 0.95": G, "method B is above 0.95": C},
    ),
    Case(
        "approximate numbers",
        {"stdout": "speed A 101.3 it/s\nspeed B 48.9 it/s\n"},
        "A runs at about 100 it/s, roughly 2.1 times as fast as B.",
        {"about 100": G, "2.1 times": G},
    ),
    Case(
        "key and value with parents by indentation",
        {"stdout": "results:\n  baseline:\n    bleu: 24.31\n  ours:\n    bleu: 26.02\n"},
        "Ours has a BLEU of 26.0, 1.7 points more than the baseline (24.3).",
        {"26.0": G, "1.7 points": G, "24.3": G},
    ),
    Case(
        "the baseline's number given to ours",
        {"stdout": "results:\n  baseline:\n    bleu: 24.31\n  ours:\n    bleu: 26.02\n"},
        "Ours has a BLEU of 24.3.",
        {"24.3": C},
    ),
    Case(
        "a right number under a wrong condition in lines of JSON",
        {
            "out.jsonl": '{"method": "ucb", "gap": 0.1, "regret": 81.52}\n'
            '{"method": "ucb", "gap": 0.5, "regret": 64.65}\n'
            '{"method": "ts", "gap": 0.1, "regret": 75.44}\n{"method": "ts", "gap": 0.5, "regret": 49.68}\n'
        },
        "UCB has a regret of 64.65 at gap 0.1, and Thompson sampling (ts) 49.7 at gap 0.5.",
        {"64.65": C, "49.7": G},
    ),
    Case(
        "no claim at all",
        {"stdout": ALIGNED},
        "The method works well and the code is easy to use.",
        {},
    ),
)
