"""The baseline judge on arbitrary texts: it always answers, and always the same."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from expbench.dataset import load_suite
from expbench.judges import BaselineJudge
from expbench.schema import Phase, RubricItem, SubmissionText, Verdict

TASK = load_suite("mini").tasks[0]
PHASES = get_args(Phase)

# What the judge has rules for, so that arbitrary texts reach them.
PIECES = st.sampled_from(
    [
        *("A", "B", "best", "worse than", "not", "no", "in ten", "one", "two hundred and", "half"),
        *(
            "0.5",
            "1e-3",
            "10^-4",
            "2^-6",
            "12 %",
            ".",
            ",",
            ";",
            ":",
            "...",
            "-",
            "1e999",
            "9" * 400,
        ),
        *(
            "10^{-9999}",
            "10⁻⁴",
            "1,000",
            "20k",
            "x",
            "×",
            "ResNet-32",
            "lr",
            "->",
            "<",
            ">",
            "(",
            ")",
        ),
        *(
            "name: 1; 2",
            "rank",
            "worst to best",
            "from 3 to 1",
            "omitted",
            "is not used",
            "\n",
            "\t",
        ),
        *(
            "def f():",
            "    return 1",
            "'''",
            '"""',
            "# x",
            "--lr 0.1",
            "import a",
            "\x00",
            "\ud800",
        ),
        *(
            "\u202eabc\u202c",
            "{",
            "}",
            '"source": [',
            '"cell_type": "code"',
            "diff --git a/x b/x.py",
        ),
        *("+++ b/x.ipynb", "@@ -0,0 +1 @@", "+A, B = 1, 2", "million million", "²", "٣", "Ⅷ", "½"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES).map("".join)
)


def verdicts(items: list[RubricItem], submission: SubmissionText) -> tuple[Verdict, ...]:
    return asyncio.run(BaselineJudge().judge(items, submission, TASK)).verdicts


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=TEXTS,
    kind=st.sampled_from(["constant", "dependent", "method", "relation", ""]),
    code=TEXTS,
    design=TEXTS,
    conclusion=TEXTS,
    diff=TEXTS,
    script=TEXTS,
)
def test_no_text_raises_and_what_is_met_is_quoted(
    text: str, kind: str, code: str, design: str, conclusion: str, diff: str, script: str
) -> None:
    items = [
        RubricItem(id=f"{phase}/0", phase=phase, kind=kind, text=text, code=code)
        for phase in PHASES
    ]
    patch = f"diff --git a/x.py b/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+{diff}"
    submission = SubmissionText(design=design, conclusion=conclusion, diff=patch, script=script)
    found = verdicts(items, submission)
    assert [verdict.state in ("met", "not_met") for verdict in found] == [True] * len(PHASES)
    whole = "\n".join((design, conclusion, patch, script))
    for verdict in found:
        assert bool(verdict.evidence) is (verdict.state == "met")
        assert verdict.evidence in whole
        assert verdict.state == "met" or verdict.reason
    assert verdicts(items, submission) == found


LONG = {
    "one word": "a" * 200_000,
    "capitals": "AB " * 40_000,
    "an article that is a name": "b A " * 30_000,
    "digits": "1" * 200_000,
    "a list of numbers": "1, " * 60_000,
    "powers": "10^" * 50_000,
    "denials": "is not used " * 15_000,
    "comparisons": "better than worse and " * 8_000,
    "brackets": "(" * 100_000,
    "number words": "one hundred and " * 12_000,
    "sentences": "Accuracy is 0.5 at n = 16. " * 6_000,
    "quotes": "'" * 100_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_read_in_time(text: str) -> None:
    """R8: nothing that is submitted makes a rule go round for ever."""
    items = [
        RubricItem(id="design/0", phase="design", kind="constant", text="batch size: 16; 32"),
        RubricItem(
            id="conclusion/0",
            phase="conclusion",
            kind="relation",
            text="Adam has the best accuracy (0.5) at n = 16 and is better than SGD at 32.",
        ),
        RubricItem(
            id="implementation/0",
            phase="implementation",
            kind="requirement",
            text="Train with batch sizes 16 and 32 and print the accuracy",
        ),
    ]
    added = "".join(f"+{line}\n" for line in text.split("\n"))
    patch = f"diff --git a/x.py b/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n{added}"
    submission = SubmissionText(design=text, conclusion=text, diff=patch, script=text)
    assert len(verdicts(items, submission)) == len(items)
