"""``expbench judge``: stored submissions judged again, with both judgings kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_main_job import Command

QUICK = "mini/stochopt/2"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A finished run of the oracle, and a judge that says no to everything."""
    command = Command(tmp_path_factory.mktemp("rejudge"))
    verdict = {"verdict": "not_met", "evidence": "", "reason": "never", "alternative": False}
    for name, reply in (("no", json.dumps(verdict)), ("broken", "GRADE: C")):
        (command.folder / f"{name}.json").write_text(json.dumps({"turns": [{"text": reply}]}))
    command("run", "--agent", "oracle", "--task", QUICK, "--out", "runs/a")
    return command


def scores(command: Command, run: str) -> dict[str, float | None]:
    outcome = command.outcomes(run)[QUICK, 1]
    return {name: score["value"] for name, score in outcome["scores"].items()}


def judged(command: Command, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command("judge", "runs/a", *args, "--json").stdout)
    return found


def test_another_judge_gives_a_judging_of_its_own_and_the_run_stays(done: Command) -> None:
    before = (done.folder / "runs/a/journal.jsonl").read_bytes()
    found = judged(done, "--judge", "scripted/no.json", "--name", "no")
    assert found["judging"]["before"] == "baseline"
    assert found["judging"]["now"] == "scripted/no.json"
    changed = {each["what"]: (each["before"], each["now"]) for each in found["judging"]["changed"]}
    assert changed["design"] == ("100%", "0%")
    assert changed["design/0"] == ("met", "not_met")
    assert "execution" not in changed and "monitor" not in changed
    assert (done.folder / "runs/a/journal.jsonl").read_bytes() == before
    assert scores(done, "runs/a")["design"] == 1.0
    assert scores(done, "runs/a/judged/no") == {
        "monitor": 1.0,
        "design": 0.0,
        "implementation": 0.0,
        "conclusion": 0.0,
        "execution": 1.0,
        "produced": 1.0,
        "grounding": 1.0,
    }
    report = (done.folder / "runs/a/judged/no/report/report.md").read_text()
    assert "scripted/no.json" in report and "not a published score" not in report
    again = done("judge", "runs/a", "--judge", "scripted/no.json", "--name", "no")
    assert "judged mini" not in again.stderr, "what was judged is not judged again"


def test_one_phase_alone_keeps_the_verdicts_of_the_others(done: Command) -> None:
    judged(done, "--judge", "scripted/no.json", "--only", "implementation", "--name", "code")
    found = scores(done, "runs/a/judged/code")
    assert (found["design"], found["implementation"], found["conclusion"]) == (1.0, 0.0, 1.0)
    judgement = done.outcomes("runs/a/judged/code")[QUICK, 1]["judgement"]
    assert judgement["judge"] == "scripted/no.json (implementation); baseline (design, conclusion)"


def test_a_broken_judge_leaves_phases_open_and_costs_nothing(done: Command) -> None:
    """R1: unscored, never a zero."""
    judged(done, "--judge", "scripted/broken.json", "--name", "broken")
    found = scores(done, "runs/a/judged/broken")
    assert (found["design"], found["implementation"], found["conclusion"]) == (None, None, None)


def test_the_estimate_judges_nothing(done: Command) -> None:
    found = judged(done, "--judge", "openai/o3-mini", "--estimate")
    (judge,) = found["judges"]
    assert judge["calls"] > 5 and judge["input_tokens"] > 1000 and judge["dollars"] > 0
    unknown = judged(done, "--judge", "scripted/no.json", "--estimate")
    assert unknown["judges"][0]["dollars"] is None and "scripted/no.json" in unknown["reason"]


def test_a_judging_is_packed_with_its_run(done: Command, tmp_path: Path) -> None:
    judged(done, "--judge", "scripted/no.json", "--name", "packed")
    archive = tmp_path / "a.tar.gz"
    done("runs", "pack", "runs/a", "--out", str(archive))
    done("runs", "unpack", str(archive), "--out", str(tmp_path / "there"))
    assert scores(done, str(tmp_path / "there/judged/packed"))["design"] == 0.0
    done("report", str(tmp_path / "there/judged/packed"))


@pytest.mark.parametrize(
    ("args", "mend"),
    [
        (("judge", "nowhere"), "expbench run"),
        (("judge", "runs/a", "--only", "style"), "design, implementation or conclusion"),
        (("judge", "runs/a", "--protocol", "best"), "itemised or paper"),
        (("judge", "runs/a", "--judge", "gut feeling"), "provider/model"),
        (
            (
                *("judge", "runs/a", "--judge", "scripted/no.json"),
                *("--protocol", "paper", "--only", "design"),
            ),
            "never mixed",
        ),
        (("judge", "runs/a", "--judge", "scripted/broken.json", "--name", "taken"), "--name"),
        (("resume", "runs/a/judged/taken"), "expbench judge"),
        (("run", "--agent", "null", "--prices", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_cannot_be_judged_is_one_sentence(
    done: Command, args: tuple[str, ...], mend: str
) -> None:
    if "taken" in " ".join(args):
        done("judge", "runs/a", "--judge", "scripted/no.json", "--name", "taken")
    assert mend in done.fails(*args)
