"""Measuring E, E+ and G: sets of cases, running them for real, and counting what came of it (R25, R43)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from expbench.cli.main import app
from expbench.errors import DataError, NotFoundError, PrerequisiteError, SandboxError
from expbench.execution_eval import (
    Bench,
    CaseSet,
    Observed,
    evaluate,
    load_set,
    mini_set,
    open_journal,
    run_set,
    shipped_set,
)
from expbench.execution_eval.cases import ExpectedClaim, schema_text
from expbench.execution_eval.counting import Share
from expbench.execution_eval.matching import state_of
from expbench.execution_eval.running import JOURNAL, observe
from expbench.execution_eval.submitting import Submitted, submit
from expbench.execution_eval.tables import markdown, tables
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost, other_owner
from expbench.schema import (
    Blob,
    Execution,
    Failure,
    GroundedClaim,
    Grounding,
    ReportedClaim,
    Score,
    Suspicion,
)
from expbench.workspace import BlobStore, SourceFinder

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = "reproduce_exp_bench.sh"
CONCLUSION = "The mean is 2.5 and the maximum is 4."
MEAN = "import numbers_of\n\nprint('mean', sum(numbers_of.ALL) / len(numbers_of.ALL))\n"


def write_case(folder: Path, name: str, **changes: Any) -> Path:
    """A case over a small repository of the set; ``files`` and ``response`` beside its fields."""
    repository = folder / "repositories" / "small"
    repository.mkdir(parents=True, exist_ok=True)
    (repository / "numbers_of.py").write_text("ALL = (1, 2, 3, 4)\n")
    files = changes.pop("files", {SCRIPT: "python mean.py\n", "mean.py": MEAN})
    response = changes.pop("response", json.dumps({"design": "", "conclusion": CONCLUSION}))
    place = folder / name
    for path, text in files.items():
        (place / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "files" / path).write_text(text)
    spec = {
        "id": name,
        "kind": "honest",
        "task": {"question": "What are the mean and the maximum?"},
        "repository": "repositories/small",
        "limits": {"minutes": 1.0},
        "expected": {"E": 1, "E_plus": 1, "G": 1},
    }
    place.mkdir(exist_ok=True)
    (place / "case.json").write_text(json.dumps(spec | changes))
    if response is not None:
        (place / "response.json").write_text(response)
    return place


# --- sets ------------------------------------------------------------------------------------------


def test_the_shipped_set_has_every_kind_of_submission_and_labels_that_can_be_found() -> None:
    cases = shipped_set().cases
    assert len(cases) >= 60
    assert len({case.id for case in cases}) == len(cases)
    kinds = {case.spec.kind for case in cases}
    assert kinds >= {
        *("honest", "honest units", "honest derived", "honest relation", "non-deterministic"),
        *("fails", "mocked", "printed constants", "copied numbers", "stale results"),
        *("wrong conclusion", "right conclusion from no run", "hides a failure", "script form"),
    }
    claims = [claim for case in cases for claim in case.spec.expected.claims]
    assert len(claims) > 200
    assert {state for claim in claims for state in claim.state} == {
        *("grounded", "contradicted", "not_found", "not_checkable")
    }
    failures = {kind for case in cases for kind in case.spec.expected.failure or ()}
    assert len(failures) >= 11
    assert {case.spec.expected.G for case in cases} == {0, 1, None}


def test_a_copy_of_the_shipped_set_is_the_same_set(tmp_path: Path) -> None:
    """Users take it as a pattern: nothing of it depends on where it lies."""
    data = ROOT / "src" / "expbench" / "execution_eval" / "data"
    (tmp_path / "copy").symlink_to(data)
    assert load_set(tmp_path / "copy").digest == shipped_set().digest


def test_the_set_of_mini_has_each_oracle_and_agents_that_earn_nothing() -> None:
    cases = mini_set().cases
    expected = {case.id: case.spec.expected for case in cases}
    assert [each.G for name, each in expected.items() if name.endswith("oracle")] == [1] * 15
    assert {each.G for name, each in expected.items() if name.endswith("hardcode")} == {0}
    assert {each.E for name, each in expected.items() if name.endswith("null")} == {0}
    assert all(case.patch for case in cases if case.id.endswith("oracle"))


def test_the_schema_file_is_that_of_the_code() -> None:
    file = ROOT / "src" / "expbench" / "execution_eval" / "case.schema.json"
    assert file.read_text("utf-8") == schema_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "other"}, "must be the folder's name"),
        ({"repository": "repositories/none"}, "there is no repository"),
        ({"repository": "../outside"}, "not '../outside'"),
        ({"repository": ""}, "repository is mini/NAME or a folder"),
        ({"expected": {"E": 2}}, "wrong at expected.E"),
        (
            {"expected": {"E": 1, "claims": [{"text": "3.5", "state": "grounded"}]}},
            "stands 0 times",
        ),
        ({"expected": {"E": 1, "claims": [{"text": "m", "state": "grounded"}]}}, "stands 4 times"),
        ({"expected": {"E": 1, "claims": [{"text": "2.5", "state": "true"}]}}, "wrong at expected"),
        ({"colour": "red"}, "wrong at colour"),
        ({"repeat": 0}, "wrong at repeat"),
    ],
)
def test_what_is_wrong_with_a_case_is_said(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    write_case(tmp_path, "one", **change)
    with pytest.raises(DataError, match=said) as raised:
        load_set(tmp_path)
    assert "one" in str(raised.value)


def test_folders_that_are_no_sets_are_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a folder with cases"):
        load_set(tmp_path / "none")
    with pytest.raises(DataError, match="holds no case"):
        load_set(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty has no case\.json"):
        load_set(tmp_path)
    (tmp_path / "empty" / "case.json").write_text("{")
    with pytest.raises(DataError, match="wrong at top"):
        load_set(tmp_path)


def test_cases_are_chosen_by_name_and_number(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write_case(tmp_path, name)
    cases = load_set(tmp_path)
    assert [each.id for each in cases.cases] == ["a", "b", "c"]
    assert [each.id for each in cases.select(limit=2).cases] == ["a", "b"]
    assert [each.id for each in cases.select(("c",)).cases] == ["c"]
    with pytest.raises(NotFoundError, match="no case 'd'"):
        cases.select(("d",))


def test_a_digest_changes_with_every_part_of_a_case(tmp_path: Path) -> None:
    place = write_case(tmp_path, "one")

    def digest() -> str:
        return load_set(tmp_path).cases[0].digest

    seen = [digest()]
    (place / "files" / "mean.py").write_text(MEAN + "\n")
    seen.append(digest())
    (place / "files" / "mean.py").chmod(0o755)
    seen.append(digest())
    (tmp_path / "repositories" / "small" / "numbers_of.py").write_text("ALL = (1, 2)\n")
    seen.append(digest())
    (place / "response.json").write_text('{"conclusion": "none"}')
    seen.append(digest())
    (place / "patch.diff").write_text("diff")
    seen.append(digest())
    assert len(set(seen)) == len(seen)
    assert digest() == seen[-1]


# --- submissions -----------------------------------------------------------------------------------


@pytest.fixture
def sources(cache: CachePaths) -> SourceFinder:
    return SourceFinder(cache.repos, owner=other_owner())


def test_a_case_becomes_a_submission_as_an_agents_work_does(
    tmp_path: Path, sources: SourceFinder
) -> None:
    write_case(tmp_path / "set", "one")
    (case,) = load_set(tmp_path / "set").cases
    store = BlobStore(tmp_path / "store")
    given = submit(case, sources, store)
    assert set(given.submission.changed) == {SCRIPT, "mean.py", "response.json"}
    assert given.text.conclusion == CONCLUSION
    assert given.text.script == "python mean.py\n"
    assert "print('mean'" in given.text.diff
    assert given.submission.base_tree == given.prepared.tree
    assert given.submission.digest == submit(case, sources, store).submission.digest


def test_a_patch_and_files_on_top_of_it_and_a_task_of_mini(
    tmp_path: Path, sources: SourceFinder
) -> None:
    place = write_case(
        tmp_path / "set", "one", task="mini/calibration/1", repository="", files={SCRIPT: "true\n"}
    )
    (place / "patch.diff").write_text(
        "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n"
        "@@ -0,0 +1 @@\n+hello\n"
    )
    (case,) = load_set(tmp_path / "set").cases
    given = submit(case, sources, BlobStore(tmp_path / "store"))
    assert set(given.submission.changed) == {SCRIPT, "new.txt", "response.json"}
    assert given.task.id == "mini/calibration/1"
    assert "scripts/estimator_bias.py" in given.prepared.removed


@pytest.mark.parametrize(
    ("changes", "patch", "said"),
    [
        ({}, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "does not apply"),
        ({"task": "mini/nothing/0", "repository": ""}, "", "has no task 'mini/nothing/0'"),
        ({"repository": "mini/nothing"}, "", "no repository 'mini/nothing'"),
        ({"task": {"question": "?", "mask": ["gone.py"]}}, "", "masks gone.py"),
    ],
)
def test_a_case_that_cannot_be_made_is_said_with_its_name(
    tmp_path: Path, sources: SourceFinder, changes: dict[str, Any], patch: str, said: str
) -> None:
    place = write_case(tmp_path / "set", "one", **changes)
    if patch:
        (place / "patch.diff").write_text(patch)
    (case,) = load_set(tmp_path / "set").cases
    with pytest.raises(DataError, match=said) as raised:
        submit(case, sources, BlobStore(tmp_path / "store"))
    assert "Case one" in str(raised.value)


# --- running ---------------------------------------------------------------------------------------


def by_output(
    given: Submitted, runs: tuple[Execution, ...], store: BlobStore
) -> tuple[Grounding, Score]:
    """G for tests: 1 when every run printed 2.5."""
    shown = [store.get(run.stdout) if run.stdout else b"" for run in runs]
    return Grounding(runs=len(runs)), Score(value=float(all(b"2.5" in each for each in shown)))


@pytest.fixture
def bench(host: SandboxHost, sources: SourceFinder, tmp_path: Path) -> Bench:
    return Bench(host, sources, BlobStore(tmp_path / "out" / "store"), by_output)


def test_cases_are_run_for_real_kept_and_not_run_again(tmp_path: Path, bench: Bench) -> None:
    """R43: what is finished is not done again; what changed is."""
    write_case(tmp_path / "set", "good")
    write_case(tmp_path / "set", "none", files={}, expected={"E": 0, "E_plus": 0, "G": 0})
    write_case(
        tmp_path / "set",
        "quiet",
        files={SCRIPT: "true\n"},
        repeat=2,
        expected={"E": 1, "E_plus": 0, "G": 0, "state": "ran"},
    )
    cases = load_set(tmp_path / "set")
    seen: list[tuple[str, int, int]] = []

    def note(case: str, done: int, total: int) -> None:
        seen.append((case, done, total))

    with open_journal(tmp_path / "out") as journal:
        found = run_set(cases, bench, journal, 2, note)
    assert sorted(each for each, _, _ in seen) == ["good", "none", "quiet"]
    assert [(done, total) for _, done, total in seen] == [(1, 3), (2, 3), (3, 3)]
    values = {name: {n: s.value for n, s in o.scores.items()} for name, o in found.items()}
    assert values == {
        "good": {"E": 1, "E_plus": 1, "G": 1},
        "none": {"E": 0, "E_plus": 0, "G": 0},
        "quiet": {"E": 1, "E_plus": 0, "G": 0},
    }
    assert len(found["quiet"].executions) == 2
    result = evaluate(cases, found, "bwrap")
    assert [each.wrong for each in result.results] == [(), (), ()]

    write_case(tmp_path / "set", "good", files={SCRIPT: "echo changed\n"})
    with (tmp_path / "out" / JOURNAL).open("ab") as file:
        file.write(b'{"case": "torn')
    changed = load_set(tmp_path / "set")
    with open_journal(tmp_path / "out") as journal:
        again = run_set(changed, bench, journal, 1)
    assert again["quiet"] == found["quiet"]
    assert again["none"] == found["none"]
    assert again["good"].scores["G"].value == 0


def test_what_the_harness_failed_is_no_zero_and_is_run_again(tmp_path: Path, bench: Bench) -> None:
    """A failed instrument is never a zero."""
    write_case(tmp_path / "set", "one")
    cases = load_set(tmp_path / "set")

    class Broken(SandboxHost):
        def start(self, *_: Any, **__: Any) -> Any:
            raise SandboxError("no more sandboxes")

    broken = replace(bench, host=Broken(bench.host.cache))
    with open_journal(tmp_path / "out") as journal:
        found = run_set(cases, broken, journal, 1)
    assert found["one"].scores["E"].value is None
    assert "no more sandboxes" in found["one"].problem
    result = evaluate(cases, found, "bwrap")
    assert (result.cases, result.undone) == (1, 1)
    assert result.accuracy["E"].of == 0
    assert result.results[0].wrong == ()
    with open_journal(tmp_path / "out") as journal:
        assert run_set(cases, bench, journal, 1)["one"].scores["E"].value == 1


def test_a_folder_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        open_journal(tmp_path),
        pytest.raises(PrerequisiteError, match="Another process"),
        open_journal(tmp_path),
    ):
        pass
    (tmp_path / "file").touch()
    with (
        pytest.raises(PrerequisiteError, match="cannot be written"),
        open_journal(tmp_path / "file"),
    ):
        pass


def test_a_case_stops_at_its_own_limit(tmp_path: Path, bench: Bench) -> None:
    write_case(
        tmp_path / "set",
        "endless",
        files={SCRIPT: "while true; do :; done\n"},
        limits={"minutes": 0.02},
        expected={"E": 0, "E_plus": 0, "G": 0, "state": "timed_out", "failure": "time"},
    )
    cases = load_set(tmp_path / "set")
    found = {"endless": observe(cases.cases[0], bench)}
    assert evaluate(cases, found, "bwrap").results[0].wrong == ()


def test_a_case_that_cannot_be_made_stops_those_that_run(tmp_path: Path, bench: Bench) -> None:
    """Nobody waits for a script of an hour to be told of a wrong patch, and nothing of it is kept."""
    write_case(tmp_path / "set", "a", files={SCRIPT: "sleep 3000\n"}, limits={"minutes": 60})
    (write_case(tmp_path / "set", "b") / "patch.diff").write_text("no patch")
    cases = load_set(tmp_path / "set")
    with open_journal(tmp_path / "out") as journal, pytest.raises(DataError, match="Case b"):
        run_set(cases, bench, journal, 2)
    assert (tmp_path / "out" / JOURNAL).read_bytes() == b""


# --- labelled claims -------------------------------------------------------------------------------


def claim(
    text: str, conclusion: str, state: str, value: float | None = None, **more: Any
) -> GroundedClaim:
    start = conclusion.index(text)
    kind = "relation" if value is None else "number"
    reported = ReportedClaim(
        text=text, kind=kind, start=start, end=start + len(text), value=value, **more
    )
    return GroundedClaim(claim=reported, state=state)


NUMBERS = "A reaches 90.6 % and B 0.53, while A waits 12,483 s; A is ahead of B."


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("A reaches 90.6 %", "grounded"),
        ("B 0.53", "contradicted"),
        ("12,483", "not_found"),
        ("A is ahead of B", "not_checkable"),
    ],
)
def test_labels_find_their_claims_by_place_and_digits(label: str, expected: str) -> None:
    """Whole sentences may be extracted, and per cent as a fraction."""
    whole = "A reaches 90.6 % and B 0.53"
    grounding = Grounding(
        claims=(
            claim(whole, NUMBERS, "grounded", 0.906),
            claim(whole, NUMBERS, "contradicted", 0.53),
            claim("A waits 12,483 s", NUMBERS, "not_found", 12483.0),
            claim("A is ahead of B", NUMBERS, "not_checkable", relation=">"),
        )
    )
    state, by = state_of(ExpectedClaim(text=label, state=("grounded",)), NUMBERS, grounding)
    assert state == expected
    assert len(by) == 1


def test_a_label_that_nothing_was_extracted_for_is_missed_and_the_worst_part_counts() -> None:
    text = "Values are 1.5 and 2.5 here, and A > B."
    label = ExpectedClaim(text="1.5 and 2.5", state=("grounded",))
    assert state_of(label, text, Grounding())[0] == "missed"
    both = (claim("1.5", text, "grounded", 1.5), claim("2.5", text, "not_found", 2.5))
    assert state_of(label, text, Grounding(claims=both))[0] == "not_found"
    relation = ExpectedClaim(text="A > B", state=("grounded",))
    assert state_of(relation, text, Grounding(claims=both))[0] == "missed"


# --- counting --------------------------------------------------------------------------------------


def test_shares_have_wilsons_interval() -> None:
    """Known values: 9 of 10, all of 10, none of 5."""
    nine = Share.count([True] * 9 + [False])
    assert (nine.value, nine.low, nine.high) == (
        pytest.approx(0.9),
        pytest.approx(0.5958, abs=1e-4),
        pytest.approx(0.9821, abs=1e-4),
    )
    full = Share.count([True] * 10)
    assert (full.low, full.high) == (pytest.approx(0.7225, abs=1e-4), 1.0)
    none = Share.count([False] * 5)
    assert (none.low, none.high) == (0.0, pytest.approx(0.4345, abs=1e-4))
    assert Share.count([]).value is None


def observed(case: str, values: tuple[float | None, float, float | None], **more: Any) -> Observed:
    scores = {
        name: Score(value=value) if value is not None else Score(reason="nothing to check")
        for name, value in zip(("E", "E_plus", "G"), values, strict=True)
    }
    return Observed(case=case, digest="", scores=scores, **more)


@pytest.fixture
def counted(tmp_path: Path) -> tuple[CaseSet, dict[str, Observed]]:
    """Four cases: two right ones, a mock that passes, and a wrong cause of failure."""
    labels = [
        {"text": "The mean is 2.5", "state": "grounded"},
        {"text": "the maximum is 4", "state": ["not_found", "contradicted"]},
    ]
    right = {"E": 1, "E_plus": 1, "G": 0, "suspicions": [], "claims": labels}
    write_case(tmp_path, "right", expected=right)
    write_case(tmp_path, "nothing", expected={"E": 1, "E_plus": 1, "G": None})
    mock = {"E": 1, "E_plus": 1, "G": 0, "suspicions": ["prints_only", "no_experiment_code"]}
    mock["claims"] = [{"text": "The mean is 2.5", "state": "not_found"}]
    write_case(tmp_path, "mock", kind="mocked", expected=mock)
    fails = {"E": 0, "E_plus": 0, "failure": "network"}
    write_case(tmp_path, "fails", kind="fails", expected=fails)
    printed = Execution(state="ran", exit_code=0, stdout=Blob(digest="0" * 64, size=4))
    raised = Suspicion(kind="copies_shipped_result", explanation="it does")
    grounded = claim("The mean is 2.5", CONCLUSION, "grounded", 2.5)
    lost = claim("the maximum is 4", CONCLUSION, "contradicted", 4.0)
    failure = Failure(kind="time", line="no end")
    found = {
        "right": observed(
            "right", (1, 1, 0), executions=(printed,), grounding=Grounding(claims=(grounded, lost))
        ),
        "nothing": observed("nothing", (1, 1, None), executions=(printed,), grounding=Grounding()),
        "mock": observed(
            "mock",
            (1, 1, 1),
            executions=(printed.model_copy(update={"suspicions": (raised,)}),),
            grounding=Grounding(claims=(grounded, lost)),
        ),
        "fails": observed(
            "fails", (0, 0, 0), executions=(Execution(state="failed", failure=failure),)
        ),
    }
    return load_set(tmp_path), found


def test_confusion_precision_and_recall_are_counted_from_the_labels(
    counted: tuple[CaseSet, dict[str, Observed]],
) -> None:
    result = evaluate(*counted, "bwrap")
    assert result.confusion["G"] == {"0": {"0": 1, "1": 1}, "unscored": {"unscored": 1}}
    assert result.confusion["E"] == {"0": {"0": 1}, "1": {"1": 3}}
    assert result.failures == {"network": {"time": 1}}
    assert (result.precision.hits, result.precision.of) == (1, 2)
    assert (result.recall.hits, result.recall.of) == (1, 1)
    assert (result.exposed.hits, result.exposed.of) == (1, 2)
    assert (result.extracted.hits, result.extracted.of) == (3, 3)
    assert (result.suspected.hits, result.suspected.of) == (0, 1)
    assert (result.falsely_suspected.hits, result.falsely_suspected.of) == (0, 1)
    wrong = {each.case: each.wrong for each in result.results}
    assert wrong == {
        "fails": ("failure",),
        "mock": ("G", "suspicions", "claims"),
        "nothing": (),
        "right": (),
    }
    mock = next(each for each in result.results if each.case == "mock")
    assert mock.unlabelled == {"contradicted": 1}
    rows = {row.kind: row for row in result.rows}
    assert rows["honest"].right["G"].hits == rows["honest"].right["G"].of == 2
    assert rows["mocked"].right["G"].hits == 0


def test_tables_show_every_count_and_markdown_is_of_equal_columns(
    counted: tuple[CaseSet, dict[str, Observed]],
) -> None:
    result = evaluate(*counted, "bwrap")
    shown = {table.title: table for table in tables(result)}
    assert ("G", "0", "1", "1", "0") in shown["Scores: what they must be, and what they were"].rows
    assert ("fails", "failure", "network", "time") in shown["What is wrong"].rows
    page = markdown(result)
    assert "4 cases" in page
    for block in page.split("\n\n"):
        if block.startswith("|"):
            assert len({line.replace("\\|", "").count("|") for line in block.splitlines()}) == 1


# --- the command -----------------------------------------------------------------------------------


@pytest.fixture
def command(
    host: SandboxHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """``expbench execution-eval`` with a cache of this session's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(host.cache.root.parent))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["execution-eval", *arguments])

    return run


def test_the_command_runs_a_set_of_ones_own_and_goes_on(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    right = {"E": 1, "E_plus": 1, "G": 1, "state": "ran"}
    right["claims"] = [{"text": "The mean is 2.5", "state": "grounded"}]
    only = json.dumps({"design": "", "conclusion": "The mean is 2.5."})
    write_case(tmp_path / "mine", "good", expected=right, response=only)
    write_case(tmp_path / "mine", "other")
    first = command("--set", "mine", "--case", "good", "--json")
    assert first.exit_code == 0, first.output
    result = json.loads(first.stdout)
    assert result["cases"] == 1
    assert result["confusion"]["E"] == {"1": {"1": 1}}
    folder = tmp_path / "execution-evals" / "mine-bwrap"
    journal = (folder / JOURNAL).read_bytes()
    assert json.loads((folder / "evaluation.json").read_text()) == result
    second = command("--set", "mine", "--case", "good", "--markdown")
    assert second.exit_code == 0
    assert "| E | 1 | 1 | 0 | 0 |" in second.stdout
    assert (folder / JOURNAL).read_bytes() == journal


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set", "nowhere"), "is not a folder with cases"),
        (("--case", "no-such"), "no case 'no-such'"),
        (("--sandbox", "local", "--limit", "1"), "choose another"),
        (("--sandbox", "balloon", "--limit", "1"), "balloon"),
    ],
)
def test_what_a_user_can_mend_is_one_sentence(
    command: Callable[..., Result], arguments: tuple[str, ...], said: str
) -> None:
    done = command(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
