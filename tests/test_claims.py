"""Conclusions split into claims: by rules, by a model, stored and reviewed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

from expbench.cli.claims import split_claims
from expbench.dataset import load_suite
from expbench.dataset.claims import (
    Span,
    StoredSplit,
    claims_of,
    covered,
    digest_of,
    read_claims,
    shipped_splits,
    split,
    split_by_rules,
    task_claims,
    with_claims,
    write_claims,
)
from expbench.errors import DataError, UserError
from expbench.judges import rubric
from expbench.judges.claim_splitting import ModelSplit, split_with
from expbench.schema import Claim, Reference, Repository, ResearchTask


def make_task(
    conclusion: str, id_: str = "venue/paper/0", claims: tuple[Claim, ...] = ()
) -> ResearchTask:
    return ResearchTask(
        id=id_,
        paper=id_.rsplit("/", 1)[0],
        venue="venue",
        type=1,
        repository=Repository(url="https://example.org/paper"),
        question="Which is better?",
        method="Run it.",
        reference=Reference(conclusion=conclusion, claims=claims),
    )


def texts(conclusion: str) -> list[str]:
    return [claim.text for claim in claims_of(conclusion, split(conclusion))]


def essential(conclusion: str) -> list[str]:
    return [claim.text for claim in claims_of(conclusion, split(conclusion)) if claim.essential]


# --- where a claim ends --------------------------------------------------------------------------

CUTS = {
    "sentences": (
        "Alpha beats Beta. Gamma is last.",
        ["Alpha beats Beta.", "Gamma is last."],
    ),
    "semicolon": (
        "Alpha beats Beta; Gamma is last.",
        ["Alpha beats Beta", "Gamma is last."],
    ),
    "contrast": (
        "Alpha improves accuracy, while Beta reduces it.",
        ["Alpha improves accuracy", "Beta reduces it."],
    ),
    "concession first": (
        "While Alpha is faster, Beta is more accurate.",
        ["Alpha is faster", "Beta is more accurate."],
    ),
    "two verbs of one subject": (
        "Alpha is expected to raise accuracy and reduce memory.",
        ["Alpha is expected to raise accuracy", "Alpha is expected to reduce memory."],
    ),
    "two finite verbs": (
        "Alpha outperforms Beta on text but fails on images.",
        ["Alpha outperforms Beta on text", "Alpha fails on images."],
    ),
    "two subjects": (
        "Alpha improves accuracy, and Beta halves the cost is shown.",
        ["Alpha improves accuracy", "Beta halves the cost is shown."],
    ),
    "a condition holds for both": (
        "At low noise, Alpha outperforms Beta and maintains its speed.",
        ["At low noise, Alpha outperforms Beta", "At low noise Alpha maintains its speed."],
    ),
    "introduction": (
        "Based on the tables, it is expected that Alpha will outperform Beta.",
        ["Alpha will outperform Beta."],
    ),
    "numbers in brackets stay": (
        "Alpha reaches the best score (0.91 against 0.87; three seeds). Beta follows (0.87).",
        ["Alpha reaches the best score (0.91 against 0.87; three seeds).", "Beta follows (0.87)."],
    ),
    "decimals and abbreviations end nothing": (
        "Alpha gains approx. 0.5 points vs. Beta, e.g. 1.5 on text.",
        ["Alpha gains approx. 0.5 points vs. Beta, e.g. 1.5 on text."],
    ),
    "a list of subjects is one": (
        "Alpha, Beta, and Gamma should improve accuracy.",
        ["Alpha, Beta, and Gamma should improve accuracy."],
    ),
    "a list of objects is one": (
        "Alpha outperforms Beta, Gamma, and Delta on all tasks.",
        ["Alpha outperforms Beta, Gamma, and Delta on all tasks."],
    ),
    "a relative clause keeps its verbs": (
        "The model should load files that hold text and contain labels.",
        ["The model should load files that hold text and contain labels."],
    ),
    "a description is one": (
        "A chart that shows accuracy and displays the loss for each run.",
        ["A chart that shows accuracy and displays the loss for each run."],
    ),
    "a pronoun is told": (
        "Alpha outperforms Beta. It is also more stable.",
        ["Alpha outperforms Beta.", "Alpha: It is also more stable."],
    ),
    "a list's items have their lead": (
        "Alpha is expected to:\n\n- raise accuracy;\n- cut memory.\n",
        ["Alpha is expected to: raise accuracy", "Alpha is expected to: cut memory."],
    ),
    "an announcement is no lead": (
        "Trends from Figure 3:\n- Alpha rises.\n- Beta falls.\n",
        ["Alpha rises.", "Beta falls."],
    ),
    "a line goes on": (
        "Alpha beats Beta\non all tasks.\n\nGamma is last.",
        ["Alpha beats Beta on all tasks.", "Gamma is last."],
    ),
    "bold is no word": ("- **Alpha** is *best*.", ["Alpha is *best*."]),
}


@pytest.mark.parametrize(("conclusion", "wanted"), CUTS.values(), ids=CUTS.keys())
def test_a_conclusion_is_cut_where_a_finding_ends(conclusion: str, wanted: list[str]) -> None:
    assert texts(conclusion) == wanted


def test_a_table_gives_one_claim_for_each_row_with_its_header() -> None:
    table = "| model | acc | loss |\n| --- | --- | --- |\n| Alpha | **0.9** | 0.1 |\n| Beta | 0.8 | 0.2 |\n"
    assert texts(table) == [
        "model: Alpha; acc: 0.9; loss: 0.1",
        "model: Beta; acc: 0.8; loss: 0.2",
    ]


def test_nothing_gives_no_claim_and_anything_at_least_one() -> None:
    assert split("") == split(" \n\t") == split("--- \n***") == ()
    assert texts("Best: Alpha") == ["Best: Alpha"]


# --- what is essential ---------------------------------------------------------------------------

ASIDE = {
    "reason": ("Alpha beats Beta because it has more data.", ["Alpha beats Beta"]),
    "cause": ("Alpha beats Beta due to its size.", ["Alpha beats Beta"]),
    "interpretation": (
        "Alpha beats Beta, indicating that size matters.",
        ["Alpha beats Beta"],
    ),
    "interpretation sentence": (
        "Alpha beats Beta. This outcome would confirm that size matters.",
        ["Alpha beats Beta."],
    ),
    "example": (
        "Alpha beats Beta. For example, Alpha reaches 0.91 on text.",
        ["Alpha beats Beta."],
    ),
    "doubt": ("Alpha beats Beta. Gamma may be faster.", ["Alpha beats Beta."]),
    "reporting": ("Alpha beats Beta. All losses should be reported.", ["Alpha beats Beta."]),
    "doubt in a condition is none": (
        "Alpha beats Beta even when labels may be wrong.",
        ["Alpha beats Beta even when labels may be wrong."],
    ),
    "table beside a sentence": (
        "Alpha beats Beta.\n\n| m | acc |\n|---|---|\n| Alpha | 0.9 |\n",
        ["Alpha beats Beta."],
    ),
    "table alone": ("| m | acc |\n|---|---|\n| Alpha | 0.9 |\n", ["m: Alpha; acc: 0.9"]),
    "list of numbers beside a sentence": (
        "Alpha beats Beta.\n- Alpha: 0.91\n- Beta: 0.87\n",
        ["Alpha beats Beta."],
    ),
    "nothing but doubt": ("Alpha may be faster than Beta.", ["Alpha may be faster than Beta."]),
}


@pytest.mark.parametrize(("conclusion", "wanted"), ASIDE.values(), ids=ASIDE.keys())
def test_only_findings_are_essential(conclusion: str, wanted: list[str]) -> None:
    assert essential(conclusion) == wanted


@pytest.mark.parametrize(
    ("conclusion", "kind"),
    [
        ("Alpha outperforms Beta.", "relation"),
        ("Alpha outperforms Beta (0.91 against 0.87).", "relation"),
        ("Alpha reaches 91.2 % on text.", "number"),
        ("Alpha wins when labels are few.", "condition"),
        ("The script writes a file.", "statement"),
        ("Qwen1.5-14B is loaded.", "statement"),
    ],
)
def test_a_claim_has_a_kind(conclusion: str, kind: str) -> None:
    assert [span.kind for span in split(conclusion)] == [kind]


MARKDOWN = st.text(
    alphabet=st.sampled_from("abA .,;:|-*#\n\t()[]{}\"'`$”“=><%0123456789é—\\"), max_size=300
)
VOCABULARY = """
    Alpha beats Beta , and while it may outperform because of ; . ( ) when is shows that which 0.5
    with achieving thereby confirming the results should | - This
"""
WORDS = st.lists(st.sampled_from(["\n", *VOCABULARY.split()]), max_size=40).map(" ".join)


@given(st.one_of(MARKDOWN, WORDS))
@settings(max_examples=400, deadline=None)
def test_any_text_is_split_into_places_of_it(conclusion: str) -> None:
    """Spans lie in the text in order, do not overlap, have words, and one of them is essential."""
    spans = split(conclusion)
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(conclusion)
        assert all(0 <= start < end <= len(conclusion) for start, end in span.lead)
        assert span.words(conclusion).strip()
        at = span.end
    assert any(span.essential for span in spans) or not spans
    assert 0.0 <= covered(conclusion, spans) <= 1.0
    if any(char.isalnum() for char in conclusion):
        assert spans


# --- judging -------------------------------------------------------------------------------------


def test_a_release_tasks_conclusion_is_judged_claim_by_claim() -> None:
    items = rubric(make_task("Alpha beats Beta because of its size. Gamma is last."))
    assert [(item.id, item.text, item.essential) for item in items] == [
        ("conclusion/0", "Alpha beats Beta", True),
        ("conclusion/1", "Because of its size.", False),
        ("conclusion/2", "Gamma is last.", True),
    ]


def test_claims_of_a_task_come_before_any_split() -> None:
    own = Claim(text="By hand.", kind="number")
    assert task_claims(make_task("Alpha beats Beta. Gamma is last.", claims=(own,))) == (own,)


# --- stored splits -------------------------------------------------------------------------------

ALPHA = "Alpha beats Beta. Gamma is last."


def stored(conclusion: str, **changes: object) -> dict[str, object]:
    found = {
        "conclusion_sha256": digest_of(conclusion),
        "by": "person A. Reader",
        "claims": [{"start": 0, "end": 16, "kind": "relation"}],
    }
    return {**found, **changes}


def file_of(folder: Path, content: object) -> Path:
    path = folder / "claims.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_what_is_written_is_read_again_and_holds_no_text(tmp_path: Path) -> None:
    tasks = (make_task(ALPHA), make_task("", "venue/paper/1"))
    path = tmp_path / "claims.json"
    assert write_claims(tasks, path) == 1
    assert "Alpha" not in path.read_text("utf-8")
    assert read_claims(path) == {"venue/paper/0": split_by_rules(tasks[0])}
    assert with_claims(tasks, path)[0].reference.claims == task_claims(tasks[0])
    assert [each.name for each in tmp_path.iterdir()] == ["claims.json"]


def test_a_reviewers_places_and_words_are_used(tmp_path: Path) -> None:
    claims = [
        {"start": 0, "end": 16, "kind": "relation"},
        {"start": 18, "end": 32, "essential": False, "text": "Gamma comes last."},
    ]
    path = file_of(tmp_path, {"venue/paper/0": stored(ALPHA, claims=claims)})
    (task, other) = with_claims((make_task(ALPHA), make_task("Other.", "venue/paper/1")), path)
    assert [(c.text, c.kind, c.essential) for c in task.reference.claims] == [
        ("Alpha beats Beta", "relation", True),
        ("Gamma comes last.", "statement", False),
    ]
    assert other.reference.claims == ()
    assert [item.text for item in rubric(task)] == ["Alpha beats Beta", "Gamma comes last."]


def test_a_split_of_another_conclusion_is_refused(tmp_path: Path) -> None:
    """R16: one byte of the conclusion changes what is scored, and no old split is put on it."""
    path = file_of(tmp_path, {"venue/paper/0": stored(ALPHA)})
    with pytest.raises(UserError, match=r"venue/paper/0 .* another conclusion: split it again"):
        with_claims((make_task(ALPHA + " "),), path)


WRONG = {
    "no JSON": "{",
    "a list": "[]",
    "no claims": json.dumps({"a/b/0": stored(ALPHA, claims=[])}),
    "nothing essential": json.dumps(
        {"a/b/0": stored(ALPHA, claims=[{"start": 0, "end": 5, "essential": False}])}
    ),
    "backwards": json.dumps({"a/b/0": stored(ALPHA, claims=[{"start": 9, "end": 5}])}),
    "unknown kind": json.dumps(
        {"a/b/0": stored(ALPHA, claims=[{"start": 0, "end": 5, "kind": "hunch"}])}
    ),
    "unknown field": json.dumps({"a/b/0": stored(ALPHA, reviewed=True)}),
    "no name": json.dumps({"a/b/0": stored(ALPHA, by="somebody")}),
    "no digest": json.dumps({"a/b/0": stored(ALPHA, conclusion_sha256="abc")}),
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_file_is_one_sentence_with_the_mend(content: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    path.write_text(content, "utf-8")
    with pytest.raises(DataError, match="mend that place, or write the file again"):
        read_claims(path)


def test_a_place_beyond_the_conclusion_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"venue/paper/0": stored(ALPHA, claims=[{"start": 0, "end": 3_000}])})
    with pytest.raises(UserError, match="another conclusion"):
        with_claims((make_task(ALPHA),), path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        with_claims((make_task(ALPHA),), tmp_path / "none.json")


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    other = StoredSplit(conclusion_sha256=digest_of("else"), claims=(Span(start=0, end=3),))
    path = tmp_path / "claims.json"
    with pytest.raises(DataError, match="another conclusion"):
        write_claims((make_task(ALPHA),), path, {"venue/paper/0": other})
    with pytest.raises(DataError, match="cannot be written"):
        write_claims((make_task(ALPHA),), tmp_path / "no" / "such" / "claims.json")
    assert list(tmp_path.iterdir()) == []


def test_the_released_tasks_have_stored_splits() -> None:
    """Three conclusions stand in two tasks each, so there are fewer splits than tasks."""
    found = shipped_splits()
    assert 400 < len(found) <= 461
    assert all(digest == each.conclusion_sha256 for digest, each in found.items())


# --- a model's split -----------------------------------------------------------------------------

CONCLUSION = "AlphaNet beats BetaNet by 2.5 points. It is also faster, which helps."


def claim(
    quote: str, text: str, kind: str = "relation", essential: bool = True
) -> dict[str, object]:
    return {"quote": quote, "text": text, "kind": kind, "essential": essential}


GOOD = [
    claim("AlphaNet beats BetaNet by 2.5 points", "AlphaNet beats BetaNet by 2.5 points."),
    claim("It is also faster", "AlphaNet is faster than BetaNet."),
]


def model_of(answer: Callable[[str], str]) -> Model:
    def respond(messages: list[ChatMessage], *_: object) -> ModelOutput:
        output = ModelOutput.from_content(
            "mockllm/model", answer("\n".join(message.text for message in messages))
        )
        output.usage = ModelUsage(input_tokens=10, output_tokens=5)
        return output

    return get_model("mockllm/model", custom_outputs=respond)


def by_model(*answers: object) -> ModelSplit:
    turn = iter(answers)

    def answer(prompt: str) -> str:
        given = next(turn)
        return given if isinstance(given, str) else json.dumps({"claims": given})

    return asyncio.run(split_with(model_of(answer), make_task(CONCLUSION)))


def test_a_grounded_split_of_a_model_is_used_and_says_by_whom() -> None:
    made = by_model(GOOD)
    assert made.refused == ""
    assert made.split.by == "model mockllm/model"
    assert [c.text for c in made.claims] == [
        "AlphaNet beats BetaNet by 2.5 points.",
        "AlphaNet is faster than BetaNet.",
    ]
    assert made.split.fits(CONCLUSION)
    assert made.usage.calls == 1


UNGROUNDED = {
    "number": [claim("AlphaNet beats BetaNet by 2.5 points", "AlphaNet wins by 3.5."), GOOD[1]],
    "sharper number": [claim(GOOD[0]["quote"], "AlphaNet wins by 2.50."), GOOD[1]],  # type: ignore[arg-type]
    "name": [GOOD[0], claim("It is also faster", "AlphaNet is faster than GammaNet.")],
    "quote": [GOOD[0], claim("It is also slower", "AlphaNet is slower.")],
    "left out": [GOOD[0]],
    "nothing essential": [{**each, "essential": False} for each in GOOD],
    "unknown kind": [{**GOOD[0], "kind": "guess"}, GOOD[1]],
    "no list": "AlphaNet wins.",
    "empty": [],
    "prose around": "Here: " + json.dumps({"claims": GOOD}),
}


@pytest.mark.parametrize("answer", UNGROUNDED.values(), ids=UNGROUNDED.keys())
def test_what_the_conclusion_does_not_bear_out_is_refused_as_a_whole(answer: object) -> None:
    """R2: and the rules' split is used, with the reason."""
    made = by_model(answer, answer)
    assert made.refused
    assert made.split == split_by_rules(make_task(CONCLUSION))
    assert made.usage.calls == 2


def test_a_refused_split_is_asked_for_once_more_with_the_reason() -> None:
    seen: list[str] = []
    answers = iter([UNGROUNDED["name"], GOOD])

    def answer(prompt: str) -> str:
        seen.append(prompt)
        return json.dumps({"claims": next(answers)})

    made = asyncio.run(split_with(model_of(answer), make_task(CONCLUSION)))
    assert made.split.by == "model mockllm/model"
    assert "the name GammaNet does not stand in the conclusion" in seen[1]


def test_a_model_that_fails_leaves_the_rules_split() -> None:
    def broken(prompt: str) -> str:
        raise RuntimeError("down")

    made = asyncio.run(split_with(model_of(broken), make_task(CONCLUSION)))
    assert made.split.by == "rules" and "RuntimeError" in made.refused


def test_without_a_conclusion_there_is_nothing_to_ask() -> None:
    with pytest.raises(DataError, match="has no conclusion"):
        asyncio.run(split_with(model_of(lambda prompt: pytest.fail("asked")), make_task(" ")))


# --- the command ---------------------------------------------------------------------------------


def listed(
    capsys: pytest.CaptureFixture[str], suite: str, data: Path | None = None, **given: object
) -> dict[str, dict[str, object]]:
    options: dict[str, object] = {"model": None, "file": None, "out": None, **given}
    split_claims(suite, (), data, as_json=True, **options)  # type: ignore[arg-type]
    found: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_the_command_prints_claims_by_hand_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = listed(capsys, "mini")
    assert len(found) == 15
    task = load_suite("mini").tasks[0]
    assert found[task.id]["by"] == "the task"
    assert found[task.id]["claims"] == [c.model_dump() for c in task.reference.claims]
    assert split_claims("mini", (task.id,), None, None, None, None, False) == 0
    assert "claims of 1 tasks" in capsys.readouterr().out


def test_a_model_and_a_file_exclude_each_other() -> None:
    with pytest.raises(UserError, match="give one of them"):
        split_claims("mini", (), None, "mockllm/model", Path("claims.json"), None, True)


# --- the released data set -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def release() -> Path:
    folder = os.environ.get("EXPBENCH_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EXPBENCH_DATA does not name the released data set")
    return Path(folder)


def test_the_release_splits_as_published(release: Path) -> None:
    """The figures of docs/decisions/0009-claims.md."""
    tasks = load_suite("expbench", release).tasks
    splits = [(task.reference.conclusion, split(task.reference.conclusion)) for task in tasks]
    counts = sorted(sum(span.essential for span in spans) for _, spans in splits)
    total = sum(len(spans) for _, spans in splits)
    shares = [covered(text, spans) for text, spans in splits]
    assert len(tasks) == 461
    assert (total, sum(counts)) == (TOTAL, ESSENTIAL)
    assert counts[len(counts) // 2] == 2 and counts[-1] == 10
    assert sum(count == 1 for count in counts) == 212
    assert sum(shares) / len(shares) > 0.94


TOTAL, ESSENTIAL = 1596, 954


def test_the_stored_splits_fit_the_release_and_are_what_they_say(release: Path) -> None:
    """What nobody has reviewed is as the rules split it now."""
    for task in load_suite("expbench", release).tasks:
        found = shipped_splits()[digest_of(task.reference.conclusion)]
        assert found.fits(task.reference.conclusion), task.id
        assert found.by != "rules" or found == split_by_rules(task), task.id
        assert task_claims(task) == found.claims_for(task.reference.conclusion)


def test_the_release_is_written_reviewed_and_read(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.json"
    before = listed(capsys, "expbench", release, out=path)
    stored_ = json.loads(path.read_text("utf-8"))
    assert stored_.keys() == before.keys() and len(stored_) == 461
    name = next(iter(stored_))
    stored_[name]["by"] = "person A. Reader"
    stored_[name]["claims"][0]["text"] = "Reworded."
    path.write_text(json.dumps(stored_), "utf-8")
    after = listed(capsys, "expbench", release, file=path)
    assert after[name]["by"] == "person A. Reader"
    assert after[name]["claims"][0]["text"] == "Reworded."  # type: ignore[index]
    del before[name], after[name]
    assert after == before
