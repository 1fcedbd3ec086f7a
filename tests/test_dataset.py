"""The released data set: what is read from it, and how a broken file is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expbench.dataset import Suite, load_suite, oracle, shipped_tree, suite_of
from expbench.dataset.citations import parse_requirement, repository_path
from expbench.dataset.release import load_release
from expbench.errors import DataError, NotFoundError
from expbench.schema import Citation, PromptView

# --- the real files ------------------------------------------------------------------------------

NESTED_TWICE = (
    *(f"iclr2024/18013/{i}" for i in range(6)),
    *(f"iclr2024/19128/{i}" for i in (0, 1, 2, 3, 4, 6, 7)),
    *(f"neurips2024/93638/{i}" for i in (0, 1, 2, 4)),
    *(f"neurips2024/94155/{i}" for i in (0, 1, 3, 4, 5, 6)),
    *(f"neurips2024/94391/{i}" for i in (0, 1, 2, 3, 5, 6, 7, 8, 9, 10)),
    *(f"neurips2024/95262/{i}" for i in range(8)),
)


def test_the_release_has_461_tasks_of_51_papers(release: Suite) -> None:
    tasks = release.tasks
    assert len(tasks) == len({task.id for task in tasks}) == 461
    assert len({task.paper for task in tasks}) == 51
    assert Counter(task.venue for task in tasks) == {"iclr2024": 199, "neurips2024": 262}
    assert Counter(task.type for task in tasks) == {1: 210, 2: 123, 3: 128}
    assert all(suite_of(task.id) == "expbench" for task in tasks)


def test_the_release_has_3988_requirements_and_3079_design_variables(release: Suite) -> None:
    references = [task.reference for task in release.tasks]
    assert sum(len(reference.requirements) for reference in references) == 3988
    assert sum(len(reference.design) for reference in references) == 3079
    assert all(reference.conclusion for reference in references)


def test_type_3_tasks_have_no_implementation_and_no_mask(release: Suite) -> None:
    """R54: what has no ground truth for its implementation is a type of its own."""
    for task in release.tasks:
        assert bool(task.reference.requirements) == bool(task.mask) == (task.type != 3), task.id


def test_design_that_is_nested_twice_is_unwrapped(release: Suite) -> None:
    assert len(NESTED_TWICE) == 41
    for task_id in NESTED_TWICE:
        assert release.task(task_id).reference.design, task_id
    model = release.task("iclr2024/18013/0").reference.design[2]
    assert (model.kind, model.name) == ("independent", "llm_model")
    assert model.values == ("FUSE LLM", "Llama-2 7B")
    assert not release.task("neurips2024/94391/4").reference.design


def test_method_that_is_an_object_becomes_text(release: Suite) -> None:
    method = release.task("iclr2024/19044/0").method
    assert "Text2Video-Zero (zero-shot latent manipulation)" in method
    assert "base_model: Stable Diffusion v1.5" in method
    assert "{" not in method


def test_every_task_is_pinned_and_four_tasks_have_a_second_pin(release: Suite) -> None:
    """R41: a task names a full commit, never a branch."""
    for task in release.tasks:
        assert len(task.repository.commit) == 40, task.id
        assert task.repository.url.startswith("https://"), task.id
    other = [
        task.id
        for task in release.tasks
        if task.repository.commit == "ccacd12a68783ca27e9997c3b754d3e9e0d958da"
    ]
    assert other == [f"iclr2024/17776/{index}" for index in (0, 1, 4, 6)]
    assert {t.paper for t in release.tasks if t.id in other} == {"iclr2024/17776"}
    assert release.task("iclr2024/17776/2").repository.commit.startswith("630c8658")


def test_masks_are_paths_relative_to_the_repository(release: Suite) -> None:
    for task in release.tasks:
        assert len(set(task.mask)) == len(task.mask), task.id
        assert not any(path.startswith(("/workspace", "./")) for path in task.mask), task.id


def test_nearly_every_requirement_cites_code(release: Suite) -> None:
    steps = [step for task in release.tasks for step in task.reference.requirements]
    assert sum(bool(step.citations) for step in steps) / len(steps) > 0.99
    assert all(step.text for step in steps)
    for step in steps:
        assert not re.match(r"(?i)(final )?step( \d+)?:", step.text)
        assert all(first <= last for cited in step.citations for first, last in cited.ranges)


def test_no_prompt_holds_its_conclusion(release: Suite) -> None:
    """R18, on the whole release."""
    for task in release.tasks:
        view = task.prompt_view()
        prompt = "\n".join((view.question, view.method, view.instructions, *view.masked))
        assert task.reference.conclusion not in prompt, task.id
        assert not task.reference.usage or task.reference.usage not in prompt, task.id


def test_a_suite_version_is_a_digest_of_everything_in_it(release: Suite) -> None:
    """R16: a change of one word of ground truth is another version."""
    first = release.tasks[0]
    changed = first.model_copy(
        update={"reference": first.reference.model_copy(update={"conclusion": "other"})}
    )
    assert Suite("expbench", release.tasks).version == release.version
    assert Suite("expbench", (changed, *release.tasks[1:])).version != release.version


# --- broken files --------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "question": "Which of the two is faster?",
    "method": "Time both.",
    "expected_outcome": "The first, by 12 %.",
    "design_complexity": {"independent_variables": {"program": ["first", "second"]}},
    "source": ["/workspace/run.py"],
    "masked_source": ["/workspace/run.py"],
    "requirements": ["Step 1: run it (/workspace/run.py:1-2)"],
    "agent_instructions": "Write a timer.",
    "usage_instructions": "python run.py",
}


def write(data: Path, content: str | bytes) -> Path:
    file = data / "venue2030" / "7" / "7_complete_final.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def questions(*entries: object) -> str:
    return json.dumps({"questions": list(entries)})


def test_a_paper_that_is_not_in_the_release_can_be_read(tmp_path: Path) -> None:
    write(tmp_path, questions(GOOD, {**GOOD, "no_answer": "none"}, {**GOOD, "mode": "A"}))
    tasks = load_release(tmp_path)
    assert [task.id for task in tasks] == [f"venue2030/7/{index}" for index in range(3)]
    assert [task.type for task in tasks] == [1, 3, 2]
    assert [task.mask for task in tasks] == [("run.py",), (), ("run.py",)]
    assert tasks[0].reference.design[0].text == "program: first; second"
    assert tasks[0].repository.url == ""


def test_a_prompt_holds_the_visible_fields_and_none_of_the_ground_truth(tmp_path: Path) -> None:
    """R18: a mark in every field of ground truth, and none of them in what an agent reads."""
    hidden: dict[str, Any] = {
        "expected_outcome": "CANARY",
        "design_complexity": {"constant_variables": {"CANARY": ["CANARY"]}},
        "requirements": ["Step 1: CANARY (/workspace/CANARY.py:1)"],
        "usage_instructions": "CANARY",
        "source": ["/workspace/CANARY.py"],
        "claims": [{"text": "CANARY"}],
        "subsection_source": "CANARY",
        "random_uncertainty": {"source": "CANARY"},
    }
    write(tmp_path, questions({**GOOD, **hidden}))
    task = load_release(tmp_path)[0]
    assert task.reference.model_dump_json().count("CANARY") == 8
    shown = task.prompt_view().model_dump()
    assert "CANARY" not in repr(shown)
    assert shown == {
        "task_id": "venue2030/7/0",
        "question": GOOD["question"],
        "method": GOOD["method"],
        "instructions": GOOD["agent_instructions"],
        "masked": ("run.py",),
    }
    assert set(shown) == set(PromptView.model_fields)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (questions(GOOD)[:-40], "not valid JSON"),
        ("", "not valid JSON"),
        (b"\xff\xfe\x00garbage", "not valid JSON"),
        ("[" * 200_000, "recursion limit"),
        (json.dumps([GOOD]), "'questions'"),
        (json.dumps({"questions": {"0": GOOD}}), "'questions'"),
        (json.dumps({"question": [GOOD]}), "'questions'"),
    ],
    ids=["truncated", "empty", "not text", "deep", "bare list", "object", "other name"],
)
def test_a_file_that_is_no_task_file_is_named(
    tmp_path: Path, content: str | bytes, named: str
) -> None:
    file = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        load_release(tmp_path)
    assert str(file) in str(caught.value) and named in str(caught.value)


@pytest.mark.parametrize("field", ["question", "method", "expected_outcome"])
@pytest.mark.parametrize("value", [None, "", "absent"])
def test_a_missing_field_is_named(tmp_path: Path, field: str, value: str | None) -> None:
    entry = {name: part for name, part in GOOD.items() if name != field}
    if value != "absent":
        entry[field] = value
    file = write(tmp_path, questions(GOOD, entry))
    with pytest.raises(DataError) as caught:
        load_release(tmp_path)
    text = str(caught.value)
    assert str(file) in text and "question 1" in text and f"lacks {field}" in text


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("question", 5, "'question'"),
        ("method", ["a", "b"], "'method'"),
        ("expected_outcome", {"a": 1}, "'expected_outcome'"),
        ("agent_instructions", ["a"], "'agent_instructions'"),
        ("usage_instructions", 1.5, "'usage_instructions'"),
        ("masked_source", "/workspace/run.py", "'masked_source'"),
        ("masked_source", [["/workspace/run.py"]], "'masked_source'"),
        ("source", {"a": "b"}, "'source'"),
        ("requirements", "Step 1: all of it", "'requirements'"),
        ("requirements", [7], "'requirements'"),
        ("design_complexity", "simple", "'design_complexity'"),
        ("design_complexity", {"constant_variables": ["seed"]}, "'constant_variables'"),
        ("claims", "one", "'claims'"),
        ("claims", [{"kind": "number"}], "claims.0.text"),
        ("claims", [{"text": "x", "kind": "rumour"}], "claims.0.kind"),
        ("claims", ["x"], "claims.0"),
    ],
)
def test_a_field_of_the_wrong_type_is_named(
    tmp_path: Path, field: str, value: object, named: str
) -> None:
    file = write(tmp_path, questions({**GOOD, field: value}))
    with pytest.raises(DataError) as caught:
        load_release(tmp_path)
    text = str(caught.value)
    assert str(file) in text and "question 0" in text and named in text


def test_a_question_that_is_no_object_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, questions(GOOD, "what?"))
    with pytest.raises(DataError, match="question 1 is not an object") as caught:
        load_release(tmp_path)
    assert str(file) in str(caught.value)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    """A folder in the file's place: nobody can read that, root included."""
    file = tmp_path / "venue2030" / "7" / "7_complete_final.json"
    file.mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read") as caught:
        load_release(tmp_path)
    assert str(file) in str(caught.value)


def test_a_folder_without_task_files_says_what_to_do(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match="EXPBENCH_DATA") as caught:
            load_release(folder)
        assert str(folder) in str(caught.value)


# --- suites --------------------------------------------------------------------------------------


def test_unknown_names_are_not_found(mini: Suite) -> None:
    with pytest.raises(NotFoundError, match="choose one of mini, expbench"):
        load_suite("maxi")
    with pytest.raises(NotFoundError, match="mini/bandits/9"):
        mini.task("mini/bandits/9")
    with pytest.raises(NotFoundError):
        mini.select(["mini/bandits/0", "nothing"])


def test_the_release_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--data"):
        load_suite("expbench")
    with pytest.raises(DataError, match="not a folder"):
        load_suite("expbench", tmp_path / "absent")


def test_a_selection_keeps_the_suite_order(mini: Suite) -> None:
    chosen = mini.select(["mini/stochopt/1", "mini/bandits/2"])
    assert [task.id for task in chosen] == ["mini/bandits/2", "mini/stochopt/1"]
    assert mini.select([]) == mini.tasks


def test_only_shipped_tasks_have_a_tree_and_an_oracle(tmp_path: Path) -> None:
    write(tmp_path, questions(GOOD))
    task = load_release(tmp_path)[0]
    assert shipped_tree(task) is None
    with pytest.raises(NotFoundError, match="oracle"):
        oracle(task)


# --- citations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "step", "citations"),
    [
        (
            "Step 3: train (/workspace/src/train.py:12-40)",
            "train",
            [("src/train.py", [(12, 40)])],
        ),
        ("Final Step: print (/workspace/run.sh:7).", "print", [("run.sh", [(7, 7)])]),
        (
            "Step 1: load (/workspace/a.py:1-3, 7; /workspace/b.sh:2)",
            "load",
            [("a.py", [(1, 3), (7, 7)]), ("b.sh", [(2, 2)])],
        ),
        (
            "Step 2: both (/workspace/a.py:5-6, /workspace/b.py:1 and /workspace/a.py:9)",
            "both",
            [("a.py", [(5, 6), (9, 9)]), ("b.py", [(1, 1)])],
        ),
        ("Step 4: run (/workspace/scripts/*.sh)", "run", [("scripts/*.sh", [])]),
        ("Step 5: read (config.yaml)", "read", [("config.yaml", [])]),
        ("Step 6: read (README.md, main.py)", "read", [("README.md", []), ("main.py", [])]),
        (
            "Step 7: fit (the model) twice (/workspace/fit.py:8–9)",
            "fit (the model) twice",
            [("fit.py", [(8, 9)])],
        ),
        ("Step 8: reversed (/workspace/a.py:9-3)", "reversed", [("a.py", [(9, 9)])]),
    ],
)
def test_citations_are_taken_from_the_last_parenthesis(
    text: str, step: str, citations: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    found = parse_requirement(text)
    assert found.text == step
    assert found.citations == tuple(
        Citation(path=path, ranges=tuple(ranges)) for path, ranges in citations
    )


@pytest.mark.parametrize(
    "text",
    [
        "Step 1: compare the two (usage_instructions)",
        "Step 2: import libraries (lines 7-28)",
        "Step 3: no parenthesis at all",
        "Step 4: plot (not explicitly in source)",
    ],
)
def test_a_step_without_citation_keeps_its_whole_text(text: str) -> None:
    found = parse_requirement(text)
    assert found.citations == ()
    assert found.text == text.partition(": ")[2]


@given(st.text(alphabet=st.sampled_from("Step 1:(),;-–/.*ab\n"), max_size=60))
def test_no_requirement_is_refused(text: str) -> None:
    found = parse_requirement(text)
    assert all(first <= last for cited in found.citations for first, last in cited.ranges)


@pytest.mark.parametrize(
    ("written", "relative"),
    [
        ("/workspace/a/b.py", "a/b.py"),
        ("workspace/a.py", "a.py"),
        ("./a.py", "a.py"),
        (" `/workspace/a.py` ", "a.py"),
        ("/a.py", "a.py"),
        ("/tmp/a.py", "/tmp/a.py"),
    ],
)
def test_paths_of_the_release_become_relative(written: str, relative: str) -> None:
    assert repository_path(written) == relative
