"""The embedded suite: complete, masked without leaks, with oracles that fit; and the leak scan."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from expbench.dataset import Suite, load_suite, oracle, shipped_tree
from expbench.dataset.leaks import Leak, find_leaks, numbers_in, significant_digits
from expbench.paths import CachePaths
from expbench.schema import (
    SCRIPT_NAME,
    Claim,
    DesignItem,
    Reference,
    Repository,
    ResearchTask,
)
from expbench.workspace import (
    from_folder,
    mask,
    materialise,
    materialise_patched,
    parse_response,
)
from expbench.workspace.repository.tree import is_root_readme

MINI = load_suite("mini").tasks
each_task = pytest.mark.parametrize("task", MINI, ids=[task.id for task in MINI])


def tree_of(folder: Path) -> dict[str, bytes]:
    """A folder's files by relative path, without git's own and Python's caches."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", "__pycache__"} & set(path.relative_to(folder).parts)
    }


def shipped(task: ResearchTask) -> Path:
    tree = shipped_tree(task)
    assert tree is not None
    return tree


def test_five_papers_with_one_task_of_every_type() -> None:
    assert len(MINI) == len({task.id for task in MINI}) == 15
    papers = Counter(task.paper for task in MINI)
    assert len(papers) == 5 and set(papers.values()) == {3}
    for paper in papers:
        assert [task.type for task in MINI if task.paper == paper] == [1, 2, 3]
    assert len({task.category for task in MINI}) == 5
    assert len({task.question for task in MINI}) == 15


@each_task
def test_every_task_is_complete(task: ResearchTask) -> None:
    reference = task.reference
    assert task.title and task.question and task.method
    assert bool(task.instructions) == bool(reference.requirements) == (task.type != 3)
    assert 5 <= len(reference.design) <= 9
    assert {item.kind for item in reference.design} == {"constant", "independent", "dependent"}
    assert all(item.values for item in reference.design)
    assert 3 <= len(reference.claims) <= 6
    assert any(claim.essential for claim in reference.claims)
    if task.type == 3:
        assert len([line for line in task.method.splitlines() if line[:1].isdigit()]) >= 5
    else:
        assert 6 <= len(reference.requirements) <= 10


@each_task
def test_masks_name_files_of_the_shipped_tree(task: ResearchTask) -> None:
    """R42: every mask can be applied."""
    files = tree_of(shipped(task))
    assert bool(task.mask) == (task.type != 3)
    assert set(task.mask) <= set(files)
    assert len(task.mask) < len(files) / 2
    assert any(is_root_readme(path.encode()) for path in files)


@each_task
def test_citations_point_at_lines_that_are_there(task: ResearchTask) -> None:
    files = tree_of(shipped(task))
    cited = set()
    for step in task.reference.requirements:
        assert step.citations, step.text
        for citation in step.citations:
            lines = files[citation.path].decode().splitlines()
            cited.add(citation.path)
            assert citation.ranges, step.text
            for first, last in citation.ranges:
                assert 1 <= first <= last <= len(lines), step.text
                assert any(line.strip() for line in lines[first - 1 : last]), step.text
    assert task.type == 3 or cited & set(task.mask)


@each_task
def test_a_masked_workspace_lacks_the_answer_and_keeps_the_rest(
    task: ResearchTask, cache: CachePaths, tmp_path: Path
) -> None:
    """R13, R16, R17: no masked file, no copy of one, no result number in any file or prompt."""
    before = tree_of(shipped(task))
    prepared = mask(from_folder(shipped(task), cache.repos), task.mask)
    materialise(prepared, tmp_path)
    after = tree_of(tmp_path)
    gone = {path for path in before if path in task.mask or is_root_readme(path.encode())}
    assert after == {path: content for path, content in before.items() if path not in gone}
    assert set(prepared.removed) == gone
    assert not prepared.refused
    masked = {path: before[path] for path in task.mask}
    assert find_leaks(task, after, masked) == ()


@each_task
def test_the_leak_scan_sees_what_the_mask_removes(task: ResearchTask) -> None:
    """The scan is not blind: unmasked trees are full of leaks."""
    before = tree_of(shipped(task))
    masked = {path: before[path] for path in task.mask}
    found = find_leaks(task, before, masked)
    for path in task.mask:
        assert (
            Leak(kind="masked_present", place=path, detail="is masked, yet it is in the workspace")
            in found
        )
        assert any(leak.kind == "byte_copy" and leak.place == path for leak in found)
    conclusion = {"docs/notes.md": task.reference.conclusion.encode()}
    assert {leak.kind for leak in find_leaks(task, conclusion, {})} == {"result_number"}


@each_task
def test_the_oracle_patch_applies_to_the_masked_tree(
    task: ResearchTask, cache: CachePaths, tmp_path: Path
) -> None:
    """R42: the solution fits the tree that agents get, and brings no README back."""
    prepared = mask(from_folder(shipped(task), cache.repos), task.mask)
    solution = oracle(task)
    materialise_patched(prepared, solution.patch, tmp_path / "solved")
    materialise_patched(prepared, b"", tmp_path / "masked")
    solved, masked = tree_of(tmp_path / "solved"), tree_of(tmp_path / "masked")
    assert solved != masked
    assert not any(is_root_readme(path.encode()) for path in solved)
    assert SCRIPT_NAME not in solved
    assert "python" in solution.script


@each_task
def test_the_oracle_answers_in_its_own_words(task: ResearchTask) -> None:
    solution = oracle(task)
    response = parse_response(solution.response.encode())
    assert response.design and response.conclusion and not response.problems
    assert response.conclusion != task.reference.conclusion
    assert solution.measured and all(isinstance(v, float) for v in solution.measured.values())


@each_task
def test_no_prompt_states_a_measured_number(task: ResearchTask) -> None:
    """R17, R18: no measured value with four or more digits, however it is written."""
    view = task.prompt_view()
    prompt = "\n".join((view.question, view.method, view.instructions))
    settings = {
        value
        for item in task.reference.design
        if item.kind != "dependent"
        for value, _ in numbers_in(item.text)
    }
    measured = [Decimal(repr(abs(value))) for value in oracle(task).measured.values()]
    for value, written in numbers_in(prompt):
        digits = significant_digits(value)
        if digits >= 4 and value not in settings:
            assert not any(round_to(number, digits) == value for number in measured), written


def round_to(value: Decimal, digits: int) -> Decimal:
    return Decimal(f"{value:.{digits - 1}e}")


# --- the leak scan -------------------------------------------------------------------------------

TASK = ResearchTask(
    id="v/p/0",
    paper="v/p",
    venue="v",
    type=1,
    repository=Repository(url=""),
    question="Which of the two learners is better at 0.125 noise?",
    method="Train both for 1250 steps.",
    instructions="Use seed 1234.",
    mask=("src/train.py",),
    reference=Reference(
        design=(
            DesignItem(kind="constant", name="steps", values=("1250",)),
            DesignItem(kind="independent", name="noise", values=("0.125", "0.5")),
        ),
        conclusion="The first wins.",
        claims=(
            Claim(text="The first learner reaches 83.2 % with 1250 steps, 1.43 times as much."),
            Claim(text="Its loss is 1.66e-4 at 0.125 noise and 0.05 without; it is -2.7183."),
        ),
    ),
)


def kinds(files: dict[str, bytes], masked: dict[str, bytes] | None = None) -> list[str]:
    return [leak.kind for leak in find_leaks(TASK, files, masked or {})]


@pytest.mark.parametrize(
    "text",
    [
        "accuracy: 83.2",
        "0.832 and more",
        "factor=1.43x",
        "(1.43)",
        "loss 0.000166",
        "loss 1.66e-04",
        "loss 1.66 × 10^-4",
        "loss $1.66 \\times 10^{-4}$",
        "at -2.7183",
        "at 2.71834 exactly",
        "83.21 and 1.4289 in one table",
    ],
)
def test_a_stated_result_is_found(text: str) -> None:
    """R17: in any notation."""
    assert set(kinds({"notes.md": text.encode()})) == {"result_number"}


@pytest.mark.parametrize(
    "text",
    [
        "1250 steps at 0.125 noise with seed 1234",
        "0.05",
        "version 1.43.2",
        "id 183.2",
        "x83.25",
        "1.66",
        "the constant 1.4303",
        "27183",
    ],
)
def test_settings_and_other_numbers_are_no_results(text: str) -> None:
    assert kinds({"notes.md": text.encode()}) == []


def test_a_result_in_a_notebook_output_is_found() -> None:
    """R17: outputs are JSON strings, where the character before a number can be an escape's."""
    cell = {"cell_type": "code", "outputs": [{"text": ["loss\n", "\t1.43\n"]}], "source": []}
    image = {"cell_type": "code", "outputs": [{"data": {"image/png": "1.43"}}]}
    assert kinds({"a.ipynb": json.dumps({"cells": [cell]}).encode()}) == ["result_number"]
    assert kinds({"a.ipynb": json.dumps({"cells": [image]}).encode()}) == []
    assert kinds({"a.ipynb": b'{"cells": [ 1.43'}) == ["result_number"]


def test_binary_files_are_not_read_as_text() -> None:
    assert kinds({"a.bin": b"1.43\0"}) == []


CODE = b"\n".join(b"def step_%d(state): return update(state, rate=%d)" % (i, i) for i in range(40))


def test_copies_of_masked_files_are_found_wherever_they_lie() -> None:
    """R16: under another name, with an added header, or with a few lines changed."""
    masked = {"src/train.py": CODE}
    assert kinds({"old/train_v1.py": CODE}, masked) == ["byte_copy"]
    assert kinds({"all.py": b"# licence\nimport os\n" + CODE + b"\nmain()\n"}, masked) == [
        "near_copy"
    ]
    changed = CODE.replace(b"rate=7)", b"speed=7)").replace(b"def step_9(", b"def other(")
    assert kinds({"a.py": changed}, masked) == ["near_copy"]
    half = b"\n".join(CODE.splitlines()[:20])
    assert kinds({"a.py": half}, masked) == []
    assert kinds({"src/__init__.py": b""}, {"src/b/__init__.py": b""}) == []


def test_a_masked_path_in_the_workspace_is_found() -> None:
    """R13: whatever it holds now."""
    assert kinds({"src/train.py": b"pass"}) == ["masked_present"]
    assert kinds({"lib/train.py": b"pass"}) == []


def test_a_result_in_the_prompt_is_found_and_settings_are_not() -> None:
    told = TASK.model_copy(update={"method": "Train for 1250 steps; expect a factor of 1.43."})
    found = find_leaks(told, {}, {})
    assert [(leak.kind, leak.place) for leak in found] == [("result_in_prompt", "method")]
    assert "1.43" in found[0].detail
    reference = TASK.reference.model_copy(update={"design": TASK.reference.design[:1]})
    found = find_leaks(TASK.model_copy(update={"reference": reference}), {}, {})
    assert [(leak.kind, leak.place) for leak in found] == [("result_in_prompt", "question")]
    assert find_leaks(TASK, {}, {}) == ()


def test_a_task_without_claims_is_scanned_by_its_conclusion() -> None:
    reference = Reference(conclusion="It gains 54.40 points.")
    task = TASK.model_copy(update={"reference": reference})
    assert [leak.kind for leak in find_leaks(task, {"a.md": b"54.40"}, {})] == ["result_number"]


def test_prompts_of_the_release_that_state_their_result_are_found(release: Suite) -> None:
    """R17: tasks of the release that are known to give the expected number away."""
    found = {task.id for task in release.tasks if find_leaks(task, {}, {})}
    assert found >= {
        "iclr2024/17666/4",
        "iclr2024/18244/1",
        "iclr2024/18318/2",
        "iclr2024/18447/3",
        "iclr2024/19292/0",
        "iclr2024/19610/9",
    }
    assert len(found) < 30
