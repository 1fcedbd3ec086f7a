"""What the baseline judge reads of a sentence: who is compared with whom, what goes with what, and where."""

from __future__ import annotations

import pytest

from expbench.judges.bindings import bound_otherwise
from expbench.judges.conflicts import conflicts
from expbench.judges.derived import follows
from expbench.judges.numbers import Number
from expbench.judges.pairing import exchanged
from expbench.judges.passages import Passage
from expbench.judges.prose import match_claim
from expbench.judges.statements import opposed, statements
from expbench.judges.words import tokens


def passage(text: str) -> Passage:
    return Passage(text, 0, len(text))


LOWER = "Cosine decay ends at a lower loss than the step schedule."
BEATS = "Ensembles beat single teachers on CIFAR."
FLAGS = "The filter flags dialect twice as often as standard English."
HALF = "TrOCR has an error rate of 4.2 %, less than half that of Tesseract."


@pytest.mark.parametrize(
    ("claim", "text", "is_opposite"),
    [
        (LOWER, "The step schedule ends at a lower loss than cosine decay.", True),
        (LOWER, "Compared with the step schedule, cosine decay has a higher loss.", True),
        (LOWER, "The loss of the step schedule is higher than that of cosine decay.", False),
        (LOWER, "Compared with the step schedule, cosine decay has a lower loss.", False),
        (BEATS, "Ensembles are beaten by single teachers on CIFAR.", True),
        (BEATS, "Ensembles are outperformed by single teachers.", True),
        (BEATS, "Ensembles trail single teachers.", True),
        (BEATS, "Ensembles are as good as single teachers.", True),
        (BEATS, "Single teachers are outperformed by ensembles.", False),
        (BEATS, "Single teachers lose to ensembles on CIFAR.", False),
        (FLAGS, "The filter flags standard English twice as often as dialect.", True),
        (FLAGS, "The filter flags dialect twice as often as standard English.", False),
        (HALF, "Tesseract has an error rate of 4.2 %, less than half that of TrOCR.", True),
        (HALF, "TrOCR has an error rate of 4.2 %, less than half that of Tesseract.", False),
        (
            "Users prefer the transformer to the LSTM.",
            "Users prefer the LSTM to the transformer.",
            True,
        ),
        ("Users prefer the transformer to the LSTM.", "The transformer was preferred.", False),
        (BEATS, "Random forests beat boosting.", False),
        (BEATS, "", False),
    ],
)
def test_a_comparison_with_exchanged_sides_is_the_opposite(
    claim: str, text: str, is_opposite: bool
) -> None:
    found = opposed(statements(passage(claim)), statements(passage(text)) if text else [])
    assert (found > 0.5) is is_opposite


@pytest.mark.parametrize(
    ("claim", "text", "crossed"),
    [
        (
            "The model finds 62 %, the analyser 35 %.",
            "The analyser finds 62 %, the model 35 %.",
            True,
        ),
        (
            "The model finds 62 %, the analyser 35 %.",
            "35 % for the analyser, 62 % for the model.",
            False,
        ),
        (
            "Denoising hurts Kraken but helps Calamari.",
            "Denoising helps Kraken but hurts Calamari.",
            True,
        ),
        (
            "Denoising hurts Kraken but helps Calamari.",
            "Calamari is helped, Kraken is hurt.",
            False,
        ),
        (
            "Kraken needs 3 pages, Calamari needs 40.",
            "Kraken needs 40 pages and Calamari about 3.",
            True,
        ),
        ("Kraken has 0.61 and ResNet-50 0.72.", "ResNet-50 has 0.72 and Kraken 0.61.", False),
        ("Kraken has 0.61.", "Calamari has 0.72.", False),
    ],
)
def test_numbers_and_findings_stand_with_their_names(claim: str, text: str, crossed: bool) -> None:
    assert exchanged(passage(claim), [passage(text)]) is crossed


@pytest.mark.parametrize(
    ("claim", "text", "another"),
    [
        ("Below 4096 the library wins.", "Above 4096 the library wins.", True),
        ("With fewer than 200 samples both fail.", "With more than 200 samples both fail.", True),
        ("With fewer than 200 samples both fail.", "Below 200 samples both fail.", False),
        ("It helps targets without homologs.", "It helps targets with homologs.", True),
        ("It helps with noise.", "It helps with noise, and without noise too.", False),
        ("Raters disagree on implicit toxicity.", "Raters disagree on explicit toxicity.", True),
        ("It hurts on heterophilous graphs.", "It hurts on homophilous graphs.", True),
        ("The search takes 20 minutes.", "The search takes 20 seconds.", True),
        ("The search takes 20 minutes.", "The search takes 20 min.", False),
        ("Weather helps only on rainy days.", "Weather helps on all days.", True),
        ("Unscaled inputs diverge.", "Inputs that are not scaled diverge.", False),
        ("Below 4096 the library wins.", "The library wins.", False),
    ],
)
def test_an_opposite_condition_is_another_one(claim: str, text: str, another: bool) -> None:
    assert conflicts(passage(claim), passage(text)) is another


STATED = "Pretraining hurts on heterophilous graphs."


@pytest.mark.parametrize(
    ("conclusion", "met"),
    [
        (STATED, True),
        (f"{STATED} That pretraining hurts on heterophilous graphs was due to a bug.", False),
        (
            f"{STATED} Correction: pretraining does not hurt on heterophilous graphs.",
            False,
        ),
        (f"At first we ran on one seed only. {STATED}", True),
    ],
)
def test_what_is_taken_back_is_not_stated(conclusion: str, met: bool) -> None:
    assert match_claim(STATED, conclusion).met is met


@pytest.mark.parametrize(
    ("wanted", "said", "is_so"),
    [
        ("0.01", "0.92 instead of 0.91", True),
        ("7.3", "from 48.3 to 55.6", True),
        ("0.02", "0.92 instead of 0.91", False),
        ("5", "5 % and 10", False),
        ("0", "3 and 3", False),
        ("2", "1, 3, 5, 7, 9, 11 and 13", False),
        ("0.4", "a change of -0.4", True),
        ("26 %", "0.74 of its regret", True),
        ("26 %", "0.64 of its regret", False),
        ("30 %", "44 % at depth 32, not 2", False),
    ],
)
def test_a_number_follows_from_others(wanted: str, said: str, is_so: bool) -> None:
    def numbers(text: str) -> list[Number]:
        return [token.number for token in tokens(text) if token.number]

    assert follows(numbers(wanted)[0], numbers(said)) is is_so


WINDOWS = "The best window is 400 rounds at 4 changes and 100 at 19."


@pytest.mark.parametrize(
    ("text", "otherwise"),
    [
        ("The best window: 100 rounds for 4 changes, 400 for 19 changes.", True),
        ("The best window: 100 rounds for 19 changes, 400 for 4 changes.", False),
        ("The best window is 400 rounds.", False),
    ],
)
def test_a_number_with_the_condition_of_another_is_bound_otherwise(
    text: str, otherwise: bool
) -> None:
    assert bound_otherwise(passage(WINDOWS), [passage(text)]) is otherwise


@pytest.mark.parametrize(
    ("claim", "text", "another"),
    [
        ("Pruning helps ResNet but not VGG.", "Pruning helps ResNet, and so does it VGG.", True),
        ("Pruning helps ResNet but not VGG.", "Pruning helps ResNet, not VGG.", False),
        ("A wins on all five corpora.", "A wins on three of the corpora.", True),
        ("A wins on all five corpora.", "A wins on every corpus.", False),
    ],
)
def test_what_is_said_of_one_or_of_all_is_not_said_of_both_or_of_some(
    claim: str, text: str, another: bool
) -> None:
    assert conflicts(passage(claim), passage(text)) is another


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("Perplexity explodes to 539 with rounding.", True),
        ("Perplexity stays at 12 with rounding.", False),
    ],
)
def test_a_bound_is_kept_by_a_number_beyond_it(text: str, met: bool) -> None:
    assert match_claim("With rounding perplexity collapses to above 100.", text).met is met


def test_a_finding_may_be_told_in_other_words() -> None:
    claim = "Without warm-up the training of deep networks diverges."
    assert match_claim(claim, "Remove warm-up, and training deep nets breaks down.").met
    assert not match_claim(claim, "Remove warm-up, and inference on phones is fast.").met
