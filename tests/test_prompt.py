"""What agents are told: the parts of the prompt, by how much it helps and how much of the task it tells."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from agent_running import QUICK, Folder
from inspect_ai import eval  # noqa: A004
from inspect_ai._util.error import PrerequisiteError

from expbench.agents.prompting import agent_prompt, limits_in_words, revealed, template
from expbench.dataset import Suite, oracle
from expbench.errors import DataError
from expbench.runs import load
from expbench.sandboxes.host import SandboxHost
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, Hints, Limits, Policy, ResearchTask, Reveal
from expbench.workspace import parse_response

HINTS: tuple[Hints, ...] = get_args(Hints)
REVEALS: tuple[Reveal, ...] = get_args(Reveal)
LEVELS = list(itertools.product(HINTS, REVEALS))

FORBIDDEN = (
    "looking for the paper",
    "git history",
    "READMEs",
    "inventing or simulating",
    "recorded and examined",
)


@pytest.fixture(scope="module")
def task(mini: Suite) -> ResearchTask:
    """A task with everything that may be told, each part known by a word of its own."""
    return mini.task(QUICK).model_copy(
        update={
            "question": "QUESTION?",
            "method": "THE METHOD",
            "instructions": "THE INSTRUCTIONS",
            "mask": ("MASKED/file.py",),
        }
    )


def prompt(task: ResearchTask, hints: Hints, reveal: Reveal, policy: Policy | None = None) -> str:
    return agent_prompt(task, policy or Policy(), ("numpy",), "/here", hints, reveal)


@pytest.mark.parametrize(("hints", "reveal"), LEVELS)
def test_what_is_forbidden_and_what_is_to_be_handed_in_is_told_at_every_level(
    task: ResearchTask, hints: Hints, reveal: Reveal
) -> None:
    text = prompt(task, hints, reveal)
    for needed in (*FORBIDDEN, RESPONSE_NAME, SCRIPT_NAME, '"design"', '"conclusion"', "/here"):
        assert needed in text, needed
    assert "QUESTION?" in text and "MASKED/file.py" in text
    assert not re.search(r"\{\{|\}\}\w|^@@", text, re.M)


@pytest.mark.parametrize("hints", HINTS)
def test_a_task_is_revealed_as_far_as_asked(task: ResearchTask, hints: Hints) -> None:
    seen = [prompt(task, hints, reveal) for reveal in REVEALS]
    assert ["THE METHOD" in text for text in seen] == [False, True, True]
    assert ["THE INSTRUCTIONS" in text for text in seen] == [False, False, True]
    assert ["# Instructions" in text for text in seen] == [False, False, True]


def test_hints_add_how_to_go_about_it_and_then_examples(task: ResearchTask) -> None:
    seen = [prompt(task, hints, "instructions") for hints in HINTS]
    for part in ("40 minutes", "expbench-check", "numpy", "*fresh* sandbox", "Read the code"):
        assert [part in text for text in seen] == [False, True, True], part
    assert ["#!/bin/bash" in text for text in seen] == [False, False, True]
    assert len(seen[0]) < len(seen[1]) < len(seen[2])


def test_every_level_has_a_digest_of_its_own() -> None:
    assert len({template(*levels).digest for levels in LEVELS}) == len(LEVELS)
    assert template() == template("full", "instructions")


def test_the_worked_examples_are_of_the_right_form(task: ResearchTask) -> None:
    text = prompt(task, "full", "instructions")
    example = text.partition(f"{RESPONSE_NAME}:\n\n")[2].partition("\n\n")[0]
    assert set(json.loads(example)) == {"design", "conclusion"}
    assert parse_response(example.encode()).problems == ()
    assert all(json.loads(example).values())


def test_every_limit_in_force_is_told(task: ResearchTask) -> None:
    limits = Limits(
        minutes=12.5,
        wall_minutes=33,
        turns=7,
        tokens=123456,
        dollars=0.75,
        cpus=1.5,
        memory_mib=700,
        processes=70,
        disk_mib=500,
    )
    policy = Policy(limits=limits, network="packages", gpus=2)
    said = limits_in_words(policy)
    for part in (
        "12.5 minutes of work",
        "33 minutes",
        "7 answers",
        "123,456 tokens",
        "0.75 dollars",
    ):
        assert part in said
    for part in ("1.5 processors", "700 MiB of memory", "70 processes", "500 MiB", "2 GPUs"):
        assert part in said
    text = prompt(task, "instructions", "instructions", policy)
    assert said in text and "package indexes" in text and "has 12.5 minutes" in text


def test_nothing_of_the_ground_truth_is_in_any_prompt(mini: Suite) -> None:
    """R18."""
    for each in mini.tasks:
        text = prompt(each, "full", "instructions")
        conclusion = each.reference.conclusion
        assert conclusion[:60] not in text and each.question in text
        solution = json.loads(oracle(each).response)
        assert solution["conclusion"][:60] not in text
        for item in each.reference.requirements:
            assert item.text not in text


def test_a_function_is_told_no_more_than_the_prompt_tells(task: ResearchTask) -> None:
    views = [revealed(task, reveal).prompt_view() for reveal in REVEALS]
    assert [view.method for view in views] == ["", "THE METHOD", "THE METHOD"]
    assert [view.instructions for view in views] == ["", "", "THE INSTRUCTIONS"]
    assert {view.question for view in views} == {"QUESTION?"}


def test_a_prompt_with_an_unknown_part_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from expbench.agents import prompting
    from expbench.prompts import Prompt

    template.cache_clear()
    for text in ("@@ always\nx\n@@ hint full\ny\n", "x\n@@ always\ny\n"):
        monkeypatch.setattr(prompting, "load", lambda _, text=text: Prompt("agent", text))
        with pytest.raises(DataError):
            template()
    template.cache_clear()


def test_a_run_records_its_levels_and_its_agent_gets_that_prompt(
    host: SandboxHost, tmp_path: Path
) -> None:
    folder = Folder(tmp_path, tmp_path / "cache")
    folder.write(
        "mine.py",
        "async def mine(task, workspace):\n"
        "    workspace.say(f'method: {task.method!r}, question: {bool(task.question)}')\n",
    )
    ran = folder.run("python:mine.py:mine", "--hints", "none", "--reveal", "question")
    assert (ran.manifest.hints, ran.manifest.reveal) == ("none", "question")
    digest = template("none", "question").digest
    assert ran.manifest.versions["agent prompt"] == digest[:12]
    told, said = ran.turns
    assert "# Method" not in told.text and "# Question" in told.text
    assert "expbench-check" not in told.text
    assert said.text == "method: '', question: True"


@pytest.mark.parametrize("option", ["--hints", "--reveal"])
def test_a_wrong_level_is_one_sentence(tmp_path: Path, option: str) -> None:
    folder = Folder(tmp_path, tmp_path / "cache")
    sentence = folder.refused("run", "--agent", "null", option, "some")
    assert option in sentence and "'some'" in sentence


def test_inspects_own_command_has_both_levels(
    host: SandboxHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    levels = {"hints": "instructions", "reveal": "method"}
    asked = {"agent": "null", "tasks": QUICK, "out": "runs/a", **levels}
    eval("expbench/expbench", task_args=asked, model="none/none", display="none", log_dir="logs")
    manifest = load(tmp_path / "runs" / "a").manifest
    assert {"hints": manifest.hints, "reveal": manifest.reveal} == levels
    with pytest.raises(PrerequisiteError, match="--hints is none, instructions or full"):
        wrong = {**asked, "hints": "some", "out": "runs/b"}
        eval("expbench/expbench", task_args=wrong, model="none/none", display="none")
