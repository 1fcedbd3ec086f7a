"""What the signs and calls of code do, in the words of people."""

from __future__ import annotations

import re

_MEANS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\bfor\b|\bwhile\b|\bmap\(|product\(", "loop over every each"),
        (r"\bprint\w*\(|\blog(?:ger)?\.\w+\(|\becho\b|write\(", "print report"),
        (r"(?<![/:\"'])/(?!/)(?=[^/\"']*$)| / |div(?:ide)?\(", "divide ratio"),
        (r"\w \* |\bmul(?:tiply)?\(", "times multiply product"),
        (r" - |-=|\bsub(?:tract)?\(|\bdiff\(", "subtract difference"),
        (r" \+ |\+=|\bsum\(|\.add\(", "sum add total"),
        (r"\barg?max|\bmax\b|\bmaximum|amax|\bnlargest|\btop", "largest highest maximum best"),
        (r"\barg?min|\bmin\b|\bminimum|amin|\bnsmallest", "smallest lowest minimum best"),
        (r"\bsort(?:ed)?\(|argsort|rankdata|\.sort_values|\.rank\(", "order ranking sort rank"),
        (r"\bmean\(|\.mean\b|average|/ len\(|/ n\b", "mean average"),
        (r"\bsqrt\(|\*\* ?0\.5", "root square"),
        (r"\*\* ?2\b|square\(", "square squared"),
        (r"\bstd\(|\bstdev\(|\bsem\(", "standard deviation error"),
        (r"\babs\(|fabs\(", "absolute"),
        (r"\bcumsum|accumulate|\+=", "cumulative accumulate"),
        (r"\bshuffle|permutation|randperm|permuted", "shuffle random permutation"),
        (
            r"\bchoice\(|\bsample\(|randint|integers\(|normal\(|randn|uniform\(|\brand\(|default_rng",
            "random draw sample",
        ),
        (r"manual_seed|\bseed", "seed random"),
        (r"\.fit\(|\.train\(|backward\(|optimi[sz]er\.step|\btrain\w*\(", "train fit"),
        (r"\.predict|\.eval\(|evaluate|no_grad|inference_mode", "evaluate test predict"),
        (r"\.save|\bdump|to_csv|savefig|json\.dump|write_text", "save write store"),
        (r"\bplt\.|savefig|\.plot\(|\bfig\b", "plot figure"),
        (r"\bload|read_\w+\(|open\(|from_pretrained", "load read"),
        (r"add_argument|argparse|\bparser\b|\bclick\b", "command line option argument"),
        (r"\bif\b|\bwhere\(|np\.where|\bnext\(", "when if condition"),
        (r" [<>]=? |isfinite|isnan", "compare threshold"),
        (r"\bNone\b", "none"),
        (r"\bwarn", "warn warning"),
        (r"\bconcat|stack\(|append\(|extend\(", "append combine collect"),
        (r"clip\(|clamp\(", "clip clamp"),
        (r"\blog10\(|\blog\(|\blog2\(", "logarithm log"),
        (r"\bexp\(", "exponential"),
        (r"softmax|sigmoid|expit", "probability softmax"),
        (r"== ?\w|!= ?\w|\.eq\(", "equal match"),
    )
)


def meaning(code: str) -> str:
    """The words for what a line of code does; empty where it does nothing that has a word."""
    return " ".join(words for pattern, words in _MEANS if pattern.search(code))
