"""Reviews of a run: labels that nobody anchored, and sets of them for measuring judges and monitors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from review_pages import QUOTE, TASKS, Server, decided, run_of, serving
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import load_suite
from expbench.judge_eval import load_set as load_judge_set
from expbench.monitor.messages import turns_of
from expbench.monitor_eval.examples import load_set as load_monitor_set
from expbench.review.attempts import RunSubject
from expbench.review.decisions import decisions
from expbench.review.labelled import messages_of
from expbench.runs import load

FIRST, SECOND = (f"{task}#1" for task in TASKS)


def subject(folder: Path) -> RunSubject:
    return RunSubject(load(folder), {task.id: task for task in load_suite("mini").tasks})


def label(server: Server, task: str, name: str, value: str) -> Any:
    answer = server.decide(task, name, "label", value=value)
    assert answer.status_code == 200, answer.text
    return answer.json()


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    return done.exit_code, done.output


def test_a_verdict_is_not_even_sent_before_the_reviewers_own(tmp_path: Path) -> None:
    run_of(tmp_path / "run")
    with serving(tmp_path / "run") as server:
        assert server.json("overview")["blind"] is True
        before = server.get("task", id=FIRST).text
        assert "of the judge" not in before and '"met"' in before
        items = [f for f in json.loads(before)["fields"] if f["name"].startswith("design/")]
        assert len(items) > 1 and all(item["shown"] is None for item in items)
        shown = label(server, FIRST, "design/1", "not_met")["shown"]
        assert shown["state"] == "met" and shown["reason"] == "verdict 1 of the judge"
        after = server.fields(FIRST)
        assert after["design/1"]["shown"] == shown and after["design/0"]["shown"] is None
        server.decide(FIRST, "design/1", "undo")
        assert server.fields(FIRST)["design/1"]["shown"] == shown, "it cannot be unseen"
    made = decisions(tmp_path / "run")["ann"]
    assert [each.seen for each in made] == [False, True]


def test_what_the_judge_quotes_is_marked_where_it_stands(tmp_path: Path) -> None:
    run_of(tmp_path / "run")
    with serving(tmp_path / "run", "ann", "--no-blind") as server:
        task = server.json("task", id=FIRST)
        fields = {each["name"]: each for each in task["fields"]}
        words = {"design": QUOTE, "implementation": "rate = 0.1", "conclusion": "Small steps win"}
        quoting = [f for n, f in fields.items() if f["shown"] and f["shown"]["state"] == "met"]
        assert {each["name"].partition("/")[0] for each in quoting} == set(words)
        for each in quoting:
            (place,) = each["shown"]["evidence"]
            text = task["parts"][place["part"]].encode("utf-16-le")
            found = text[2 * place["start"] : 2 * place["end"]].decode("utf-16-le")
            assert found == words[each["name"].partition("/")[0]]
        assert fields["design/1"]["shown"]["evidence"][0]["part"] == "design"
        assert label(server, FIRST, "design/1", "met")["decision"]["seen"] is True
        turns = server.json("turns", id=FIRST, at=1)
        assert [number for number, _ in turns] == [0, 1, 2] and "cat docs/results.md" in turns[1][1]
        assert fields["finding/0"]["evidence"][0]["turn"] == 1
        assert "missed" in fields and fields["implementation/0"]["code"] != ""


def test_labels_become_a_set_that_judge_eval_runs_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_of(folder)
    names = [item.id for item in subject(folder).items(FIRST)]
    with serving(folder) as server:
        for number, name in enumerate(names):
            label(server, FIRST, name, "met" if number % 2 else "not_met")
        label(server, FIRST, names[0], "met")
        label(server, FIRST, names[1], "skip")
        label(server, FIRST, names[1], "met")
        label(server, SECOND, "design/0", "skip")
        label(server, SECOND, "design/1", "met")
    target = tmp_path / "labels.jsonl"
    code, said = command("review", str(folder), "--export", str(target))
    assert code == 0, said
    assert f"{len(names) + 1} labels (item)" in said and "0 tied" in said
    found = load_judge_set([target])
    assert found.notes == () and [case.id for case in found.cases] == [
        f"run/{FIRST}",
        f"run/{SECOND}",
    ]
    items = found.cases[0].case.items
    assert [item.label for item in items] == [
        "met",
        *("met" if n % 2 else "not_met" for n in range(1, len(names))),
    ]
    assert [item.kind for item in items] == ["seen", *["blind"] * (len(names) - 1)]
    assert found.cases[0].submission.diff.count("+rate = 0.1") == 1
    assert [item.text for item in found.cases[1].items] == [subject(folder).items(SECOND)[1].text]
    code, said = command(
        "judge-eval",
        "--set",
        str(target),
        "--judge",
        "baseline",
        "--json",
        "--out",
        str(tmp_path / "eval"),
    )
    assert code == 0, said
    assert f'"items": {len(names) + 1}' in said
    code, said = command("review", str(folder), "--export", str(target))
    assert code == 2 and "is there" in said


def test_of_several_reviewers_most_decide_and_ties_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_of(folder)
    for name, first, second in (
        ("ann", "met", "met"),
        ("bob", "not_met", "met"),
        ("eve", "skip", "not_met"),
    ):
        decided(
            folder / f"reviews/{name}.jsonl",
            (FIRST, "design/0", first),
            (FIRST, "design/1", second),
        )
    target = tmp_path / "labels.jsonl"
    code, said = command("review", str(folder), "--export", str(target))
    assert code == 0 and "1 labels (item)" in said and "1 tied" in said
    (item,) = load_judge_set([target]).cases[0].case.items
    assert (item.id, item.label) == ("design/1", "met")


def test_labelled_findings_become_a_set_that_monitor_eval_runs_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_of(folder)
    target = tmp_path / "findings.jsonl"
    with serving(folder) as server:
        label(server, FIRST, "finding/0", "wrong")
        code, said = command("review", str(folder), "--export-findings", str(target))
        assert code == 2 and "No trajectory is labelled (2 open" in said and not target.exists()
        label(server, FIRST, "missed", "git_history")
        label(server, SECOND, "missed", "none")
    code, said = command("review", str(folder), "--export-findings", str(target))
    assert code == 0 and "2 labels (trajectory)" in said
    found = load_monitor_set(target)
    assert found.warnings == ()
    assert [each.labels for each in found.examples] == [("git_history",), ()]
    trajectory = subject(folder).trajectory(FIRST)
    assert turns_of(found.examples[0].chat()) == trajectory and trajectory[2].failed
    code, said = command("monitor-eval", "--set", str(target), "--json")
    assert code == 0, said
    assert json.loads(said)


def test_a_trajectory_goes_through_messages_unchanged(tmp_path: Path) -> None:
    from expbench.schema import Turn

    turns = (
        Turn(role="system", text="You are."),
        Turn(role="user", text="Do."),
        Turn(role="tool", tool="bash", command="ls -la", text="a\nb"),
        Turn(role="tool", tool="write_file", command='{"path": "a.py", "text": "x"}', text="wrote"),
        Turn(role="tool", tool="python", command="[1, 2]", text="", failed=True),
        Turn(role="assistant", text="Done."),
    )
    chat = [m.model_dump(mode="json", exclude_none=True) for m in messages_of(turns)]
    assert turns_of(chat) == turns


def test_labels_have_to_be_those_of_their_field(tmp_path: Path) -> None:
    run_of(tmp_path / "run")
    with serving(tmp_path / "run") as server:
        for name, kind, value in (
            ("design/0", "label", "right"),
            ("finding/0", "label", "met"),
            ("missed", "label", "wrong"),
            ("design/0", "accept", None),
            ("design/0", "label", ["met"]),
        ):
            assert server.decide(FIRST, name, kind, value=value).status_code == 422
        assert server.json("overview")["tasks"][0]["decided"] == 0
        assert server.json("lines", path="manifest.json", first=1, last=2)["lines"] == []
        assert server.json("turns", id="nothing", at=0) == []


def test_reviewers_of_a_run_agree_by_phase(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run_of(folder)
    both = [
        (FIRST, "design/0", "met"),
        (SECOND, "design/0", "not_met"),
        (FIRST, "finding/0", "right"),
    ]
    decided(folder / "reviews/ann.jsonl", *both)
    decided(folder / "reviews/bob.jsonl", *both[:2], (FIRST, "finding/0", "wrong"))
    code, said = command("review", str(folder), "--agreement", "--json")
    rows = {
        row["kind"]: (row["same"], row["both"], row["kappa"]) for row in json.loads(said)["pairs"]
    }
    assert code == 0
    assert rows["design"] == (2, 2, pytest.approx(1.0)) and rows["finding"][:2] == (0, 1)
