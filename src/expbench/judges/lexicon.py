"""Word lists of the baseline judge: general research English, nothing about any one task."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of ``text``."""
    return frozenset(text.split())


STOP = word_set(
    """
    a an the this that these those there here it its they them their we our i you he she is are
    was were be been being am do does did done has have had having will would shall should can
    could may might must of in on at by for from to into onto with within without over under as
    than then so such and or but if while whereas when where which who whom whose what how why
    because since although though however also both either neither nor not no yes only just even
    still very quite rather about around roughly approximately nearly almost up down out off per
    via e g ie eg etc using used use uses based e.g. i.e. each every any all some other another
    same own between among across during through again further once s t expected expect
    anticipated indicating namely respectively respect overall one ones fails fail failed never
    cannot step final workspace see given let make makes made get gets take takes
    """
)
"""Words that say nothing about what a text is about."""

GENERIC = word_set(
    """
    method approach experiment value values metric measure measured measurement evaluate
    evaluation number size type setting settings result results performance model models data
    dataset set parameter parameters variable variables function define defined create compute
    computed calculate implement implementation run runs configuration config different various
    specific constant fixed kept test train main script code output import library file return
    list name named option print report load save apply perform initialize loop iterate
    consistent consistently provide show determine identify
    """
)
"""Words that nearly every description of an experiment has; they count less."""

SYNONYMS = (
    "sample draw observation datapoint point example instance unit",
    "iteration iter round timestep",
    "repeat repetition replication replicate trial rerun",
    "method approach algorithm technique procedure strategy policy",
    "average mean avg averaged",
    "parameter param hyperparameter",
    "setting configuration config configure",
    "compute calculate obtain derive calc",
    "measure metric criterion record",
    "create build construct generate make define instantiate initialize initialise init setup",
    "load read import open fetch",
    "save write store dump export",
    "print report display show output emit",
    "plot visualize visualise figure chart graph draw",
    "compare contrast comparison",
    "fraction proportion share percentage percent ratio",
    "task problem benchmark",
    "constant fixed held kept frozen unchanged",
    "error err",
    "evaluate evaluation eval assess assessment",
    "train fit training fitted trained learn",
    "validation val validate held-out",
    "number num count amount total quantity",
    "function func fn def",
    "argument arg argparse flag option",
    "random rng randomness stochastic",
    "variance var",
    "deviation std stddev",
    "sequence series",
    "interval band",
    "width length",
    "horizon lead",
    "gap difference diff margin",
    "loss objective",
    "dataset data corpus",
    "optimizer optimiser optim",
    "normalize normalise",
    "standardised standardized standardisation standardization standardising",
    "crossover flip cross switch crossing reversal reverse swap overtake",
    "nominal target desired",
    "small tiny little minor",
    "large big huge substantial",
    "grid sweep",
    "split partition divide",
    "start begin initial",
    "end finish final",
    "temperature temp",
    "weight weighted weighting",
    "probability prob",
    "distribution dist",
    "batch minibatch",
    "epoch pass",
    "dimension dim",
    "select choose pick selection choice",
    "shuffle permute permutation",
    "rank ranking order ordering sort sorted argsort argmin argmax",
    "loop iterate",
    "best first winner",
    "worst last loser",
    "accuracy acc",
    "command cmd cli",
    "directory folder dir path",
)
"""Groups of words that mean about the same; the first one stands for all."""

ABBREVIATIONS = {
    "lr": "learning rate",
    "mse": "mean squared error",
    "rms": "root mean square",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "mape": "mean absolute percentage error",
    "mase": "mean absolute scaled error",
    "ece": "expected calibration error",
    "mce": "maximum calibration error",
    "nll": "negative log likelihood",
    "sgd": "stochastic gradient descent",
    "gd": "gradient descent",
    "ucb": "upper confidence bound",
    "std": "standard deviation",
    "sd": "standard deviation",
    "se": "standard error",
    "ci": "confidence interval",
    "ate": "average treatment effect",
    "shd": "structural hamming distance",
    "sem": "structural equation model",
    "ols": "ordinary least squares",
    "ipw": "inverse propensity weighting",
    "iptw": "inverse propensity weighting",
    "aipw": "augmented inverse propensity weighting",
    "dr": "doubly robust",
    "iv": "instrumental variable",
    "cv": "cross validation",
    "mlp": "multilayer perceptron",
    "knn": "nearest neighbours",
    "svm": "support vector machine",
    "pca": "principal component analysis",
    "kde": "kernel density estimation",
    "kl": "kullback leibler divergence",
    "auc": "area under curve",
    "ses": "simple exponential smoothing",
    "ar": "autoregressive",
    "ma": "moving average",
    "mc": "monte carlo",
    "mcmc": "markov chain monte carlo",
    "snr": "signal noise ratio",
    "n": "sample size",
    "nn": "neural network",
    "rl": "reinforcement learning",
    "llm": "large language model",
    "dgp": "data generating process",
    "iid": "independent identically distributed",
    "ema": "exponential moving average",
    "pp": "percentage points",
    "asr": "attack success rate",
    "psnr": "peak signal noise ratio",
    "ppl": "perplexity",
}

NEGATIONS = word_set(
    """
    not no never cannot fail fails failed neither hardly isn doesn didn wasn weren aren don hasn
    haven couldn unable
    """
)
"""Words that deny what follows."""

DIRECTIONS = {
    "size": (
        word_set(
            """
            higher highest greater greatest larger largest bigger biggest more most maximum max
            maximal maximise maximises maximizes above exceeds exceed exceeding exceeded longer
            longest slower slowest wider widest costlier costliest pricier dearer peak peaks peaked
            > ≥
            """
        ),
        word_set(
            """
            lower lowest smaller smallest fewer fewest less least minimum min minimal minimise
            minimises minimizes below shorter shortest faster fastest narrower narrowest cheaper
            cheapest undercuts undercut < ≤
            """
        ),
    ),
    "trend": (
        word_set(
            """
            increase increases increased increasing grow grows growing grew grown rise rises rising
            rose risen climb climbs climbed raise raises raised raising lift lifts lifted
            boosts boosted gain gains gained gaining jump jumps jumped soars doubles
            doubled triples tripled multiplies widens widened expands
            """
        ),
        word_set(
            """
            decrease decreases decreased decreasing fall falls falling fell fallen drop drops
            dropped shrink shrinks shrinking shrank decline declines declined declining
            reduces reduced reduce reducing lowers lowered lowering cuts halves halved
            halving narrows narrowed narrowing vanishes vanish plunges plunged collapses collapsed diminishes
            diminished dwindles saves saved closes closed disappears disappear disappeared fades
            faded
            """
        ),
    ),
    "estimate": (
        word_set("overestimates overestimate overestimated overshoots overconfident overstates"),
        word_set(
            """
            underestimates underestimate underestimated undershoots underconfident understates
            """
        ),
    ),
    "passing": (
        word_set("overtakes overtake overtaken overtook"),
        word_set(""),
    ),
    "quality": (
        word_set(
            """
            better best beats beat beating outperforms outperform outperformed outperforming
            wins win won winner winning superior improves improve improved improving improvement
            ahead surpasses surpass surpassing dominates dominate surpassed first leads led leading
            leader leaders outranks outrank outranked excels excelled helps helped help benefits
            benefited profits pays stronger strongest unbeaten unbeatable preferable unmatched front
            easier easiest
            """
        ),
        word_set(
            """
            worse worst loses lose lost loser beaten underperforms underperform underperformed
            inferior degrades degrade degraded behind trails trailing trail deteriorates
            deteriorate worsens hurts hurt harms harm harmful suffers suffered weaker weakest
            bottom poorer poorest last lags lag lagging harder hardest
            """
        ),
    ),
}
"""For each kind of comparison the words that point up, and those that point down."""

CHANGING = word_set(
    """
    improves improve improved improving improvement degrades degrade degraded degrading deteriorates
    deteriorate worsens hurts hurt harms harm suffers suffered helps helped help benefits benefited
    profits
    """
)
"""Words of quality that tell of a change."""

VIRTUES = word_set(
    """
    accurate effective efficient robust reliable stable precise useful helpful successful
    consistent powerful calibrated beneficial competitive faithful accurately effectively
    efficiently robustly reliably suitable
    """
)
"""What it is better to be more."""

VICES = word_set(
    """
    costly expensive biased noisy harmful sensitive unstable wasteful fragile brittle variable
    vulnerable overconfident error-prone miscalibrated damaging
    """
)
"""What it is better to be less."""

TRANSITIVE = word_set(
    """
    beats beat beating outperforms outperform outperformed outperforming surpasses surpass
    surpassed dominates dominate overtakes overtake overtaken exceeds exceed exceeded exceeding
    underperforms underperform trails trailing behind ahead above below > < ≥ ≤ beaten loses
    lose lost outranks outrank outranked undercuts undercut surpassing trail lags lag leads led
    """
)
"""Comparing words that are followed by what is compared with."""

SUPERLATIVES = word_set(
    """
    best worst highest lowest largest smallest greatest least most fewest top first last wins
    winner won win longest shortest fastest slowest widest narrowest strongest weakest maximum
    minimum max min maximal minimal cheapest costliest unbeaten bottom leader
    """
)
"""Comparing words that single one out of several."""

UNCHANGED = word_set("unchanged insensitive unaffected indistinguishable irrelevant")
"""Words that deny any difference."""

ANTONYMS = (
    ("above", "below"), ("fewer", "more"), ("less", "more"), ("smaller", "larger"), ("before",
    "after"), ("early", "late"), ("over", "under"), ("with", "without"), ("up", "down"),
    ("short", "long"), ("high", "low"), ("small", "large"), ("strong", "weak"), ("earlier",
    "later"), ("positive", "negative"), ("inside", "outside"), ("looser", "stricter"),
)  # fmt: skip
"""Conditions and their opposites; of several for one word the first counts."""

CONDITIONS = (
    "small large", "few many", "short long", "high low", "early late", "strong weak mild",
    "hard easy", "deep shallow", "narrow wide", "beginning middle end", "summer winter",
    "day night", "train test", "seen unseen", "clean noisy", "dense sparse", "row column",
    "precision recall", "supervised unsupervised", "male female", "men women", "local global",
    "positive negative", "indoor outdoor", "input output", "single several", "single multiple",
    "source target", "encoder decoder", "implicit explicit", "upper lower", "left right",
    "young old", "rare frequent", "rare common", "simple complex", "mean median", "real simulated",
    "real synthetic", "urban rural", "static dynamic", "online offline", "labelled unlabelled",
    "public private", "known unknown", "cold warm", "dry wet", "dry rainy", "forward backward",
    "head tail", "linear nonlinear", "matched mismatched", "agree disagree", "cheap expensive",
)  # fmt: skip
"""Words for conditions and their opposites."""

COSTS = word_set(
    """
    error loss regret brier mase rmse suboptimality bias variance mse mae mape ece mce nll risk
    deviation gap perplexity ppl cost distance divergence time latency memory iterations steps
    residual miscalibration
    """
)
"""Quantities of which less is better."""

BENEFITS = word_set(
    """
    accuracy bleu rouge iou dice map throughput reward return precision recall f1 auc power psnr
    ssim likelihood success correlation r2
    """
)
"""Quantities of which more is better."""

SETTING_VERBS = word_set("choose configure define include parameter select set setting specify use")
"""What a step begins with when a configuration file alone can carry it out."""
