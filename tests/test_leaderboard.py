"""``expbench leaderboard``: what verifies is on the page, and what does not is refused with its reason."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundles import INDEX, files_of, forged, lines, pack, raw, record
from small_runs import QUICK, do, options_for
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.metrics import summarise
from expbench.paths import CachePaths
from expbench.runs import Run
from expbench.sandboxes.host import SandboxHost

Forge = Callable[[Path, Path], Path]
SECOND = "mini/calibration/0"


@pytest.fixture(scope="module")
def runs(
    cache: CachePaths, host: SandboxHost, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Run]:
    """Real runs of two agents on two tasks."""
    return {
        agent: do(options_for(tmp_path_factory.mktemp(agent), cache, agent, tasks=(QUICK, SECOND)))[
            0
        ]
        for agent in ("oracle", "null")
    }


@pytest.fixture(scope="module")
def originals(runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("originals")
    for agent, run in runs.items():
        bundle = folder / f"{agent}.bundle.tar.gz"
        done = CliRunner().invoke(app, ["submit", str(run.paths.root), "--out", str(bundle)])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def bundles(originals: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(originals, tmp_path / "bundles"))


def leaderboard(folder: Path, *more: object, code: int = 0) -> Any:
    words = ["leaderboard", str(folder), "--out", str(folder.parent / "site"), *map(str, more)]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "250"})
    assert done.exit_code == code, done.output
    return done


def site(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder.parent / "site" / "leaderboard.json").read_text())
    return found


# --- what verifies -----------------------------------------------------------------------------------


def test_every_number_is_that_of_the_run(bundles: Path, runs: dict[str, Run]) -> None:
    shown = leaderboard(bundles)
    assert "2 bundles, 0 refused" in shown.output
    found = site(bundles)
    assert [each["file"] for each in found["bundles"]] == [
        "null.bundle.tar.gz",
        "oracle.bundle.tar.gz",
    ]
    for each in found["runs"]:
        run = runs[each["agent"]]
        summary = summarise(run.planned, run.ordered())
        assert each["summary"] == json.loads(summary.model_dump_json())
        assert each["warning"] == "baseline: not a published score"
    (own,) = found["sets"]
    assert len(own["runs"]) == 2
    best = next(each for each in found["runs"] if each["label"] == own["runs"][0])
    assert best["agent"] == "oracle"
    page = (bundles.parent / "site" / "index.html").read_text()
    assert "2 submissions by their digests" in page
    assert "tasks against the suite" in page
    assert "baseline: not a published score" in page


def test_a_board_does_not_depend_on_where_and_when_it_is_made(bundles: Path) -> None:
    leaderboard(bundles)
    first = {p.name: p.read_bytes() for p in (bundles.parent / "site").iterdir()}
    leaderboard(bundles)
    assert first == {p.name: p.read_bytes() for p in (bundles.parent / "site").iterdir()}


def test_runs_under_other_conditions_are_apart_by_the_field(bundles: Path) -> None:
    def other(manifest: dict[str, Any]) -> None:
        manifest["name"] = "other"
        manifest["policy"]["limits"]["memory_mib"] = 1024

    files = files_of(bundles / "null.bundle.tar.gz")
    files["manifest.json"] = record(other)(files["manifest.json"])
    files["outcomes.jsonl"] = lines(lambda o: o.update(agent_seconds=1.25))(files["outcomes.jsonl"])
    pack(files, bundles / "other.bundle.tar.gz", run="other")
    leaderboard(bundles)
    _, apart = site(bundles)["sets"]
    assert apart["runs"] == ["other"]
    assert [each["field"] for each in apart["unlike"]] == ["policy.limits.memory_mib"]


# --- what does not -----------------------------------------------------------------------------------


def _score(outcome: dict[str, Any]) -> None:
    outcome["scores"]["design"] |= {"value": 1.0, "met": 7, "not_met": 0}


def _verdict(outcome: dict[str, Any]) -> None:
    outcome["judgement"]["verdicts"][0]["state"] = "met"


def _unscored(outcome: dict[str, Any]) -> None:
    outcome["scores"]["execution"] = {"value": None, "reason": "the harness failed", "unscored": 1}


def _claim(claims: dict[str, Any]) -> None:
    next(m for m in claims["summary"]["metrics"] if m["key"] == "design")["value"] = 0.5


def _interval(claims: dict[str, Any]) -> None:
    metric = next(m for m in claims["summary"]["metrics"] if m["key"] == "monitor")
    metric["successes"] = 1


def _counts(claims: dict[str, Any]) -> None:
    claims["summary"]["counts"]["unscored"] = 1


def _fact(tasks: list[dict[str, Any]]) -> None:
    tasks[0]["category"] = "Easy"


def _spend(ledger: dict[str, Any]) -> None:
    ledger["stages"] = [{"stage": "agent", "dollars": float("inf")}]


def _used(outcome: dict[str, Any]) -> None:
    outcome["agent_usage"] |= {"calls": 9, "output_tokens": 5000}


def _little(ledger: dict[str, Any]) -> None:
    ledger["stages"] = [{"stage": "agent", "requests": 1, "output_tokens": 1}]


FORGERIES: dict[str, tuple[dict[str, Callable[[bytes], bytes]], str]] = {
    "changed score": (
        {"outcomes": lines(_score)},
        "outcomes.jsonl.*for design, and its evidence gives",
    ),
    "changed verdict": ({"outcomes": lines(_verdict)}, "outcomes.jsonl.*for .*evidence gives"),
    "bad score hidden": ({"outcomes": lines(_unscored)}, "outcomes.jsonl.*unscored.*for execution"),
    "removed attempt": (
        {"outcomes": lambda c: c.splitlines(keepends=True)[0]},
        "outcomes.jsonl lacks .*which was planned",
    ),
    "attempt twice": (
        {"outcomes": lambda c: c + c.splitlines(keepends=True)[0]},
        "outcomes.jsonl.*does not stand where the plan has it",
    ),
    "task dropped from the plan": (
        {"manifest": record(lambda m: m["tasks"].pop())},
        "tasks.json has .*, which the run does not have",
    ),
    "another agent": (
        {"outcomes": lines(lambda o: o.update(agent="me"))},
        "of another agent or model",
    ),
    "another paper": ({"outcomes": lines(lambda o: o.update(paper="x"))}, "of another paper"),
    "claimed number": ({"claims": record(_claim)}, "claims.json D: value is 0.5, and 0.0 by"),
    "claimed count": ({"claims": record(_interval)}, "claims.json M: successes is 1, and 2 by"),
    "claimed accounting": ({"claims": record(_counts)}, "claims.json counts other attempts"),
    "claimed version": (
        {"claims": record(lambda c: c.update(suite_version="2"))},
        "claims.json says another suite_version",
    ),
    "changed submission": (
        {"submissions": lines(lambda s: s["submission"].update(conclusion="It works."))},
        "submissions.jsonl .*was changed",
    ),
    "submission left out": ({"submissions": lambda c: b""}, "submissions.jsonl lacks that of"),
    "facts of a task": ({"tasks": record(_fact)}, "tasks.json says of .* what the suite does not"),  # type: ignore[arg-type]
    "judge-eval of another": (
        {"judge_eval": record(lambda e: e.update(judge="better"))},
        "judge-eval.json is of another judge",
    ),
    "no record": ({"claims": lambda c: b"{"}, "claims.json is of another version, or damaged"),
    "endless seconds": (
        {"outcomes": lines(lambda o: o.update(agent_seconds=float("inf")))},
        "has inf seconds of its agent",
    ),
    "seconds that are none": (
        {"outcomes": lines(lambda o: o.update(agent_seconds=float("nan")))},
        "has nan seconds of its agent",
    ),
    "money back": (
        {"outcomes": lines(lambda o: o["agent_usage"].update(dollars=-5.0, calls=1))},
        "has -5 dollars of its agent",
    ),
    "endless spend": ({"ledger": record(_spend)}, "ledger.json has sums that are none"),
    "less spent than used": (
        {"outcomes": lines(_used), "ledger": record(_little)},
        "ledger.json has fewer tokens",
    ),
    "a limit beyond all numbers": (
        {"manifest": record(lambda m: m["policy"]["limits"].update(memory_mib=10**400))},
        "no page can show",
    ),
    "a key": (
        {"outcomes": lines(lambda o: o.update(reason="sk-" + "a" * 30))},
        "holds what looks like a key",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_bundle_is_refused_by_name_and_hides_no_other(name: str, bundles: Path) -> None:
    changes, said = FORGERIES[name]
    bundle = bundles / "null.bundle.tar.gz"
    forged(bundle, bundles / "null2", **changes)
    (bundles / "null2").replace(bundle)
    shown = leaderboard(bundles, code=2)
    found = site(bundles)
    (refused,) = found["refused"]
    assert refused["file"] == "null.bundle.tar.gz"
    assert re.search(said, refused["reason"], re.S), refused["reason"]
    assert [each["agent"] for each in found["runs"]] == ["oracle"]
    assert "REFUSED null.bundle.tar.gz" in shown.output
    assert "do not verify" in (bundles.parent / "site" / "index.html").read_text()


def test_a_changed_patch_is_refused_though_all_else_is_made_to_fit(bundles: Path) -> None:
    files = files_of(bundles / "oracle.bundle.tar.gz")
    name = next(each for each in files if each.startswith("store/"))
    files[name] += b"x"
    pack(files, bundles / "oracle.bundle.tar.gz")
    leaderboard(bundles, code=2)
    (refused,) = site(bundles)["refused"]
    assert "has a name that is not its digest" in refused["reason"]


def test_one_run_is_on_the_board_once(bundles: Path) -> None:
    shutil.copy(bundles / "null.bundle.tar.gz", bundles / "null-again.bundle.tar.gz")
    files = files_of(bundles / "oracle.bundle.tar.gz")
    files["manifest.json"] = record(lambda m: m.update(name="mine"))(files["manifest.json"])
    pack(files, bundles / "stolen.bundle.tar.gz", run="mine")
    leaderboard(bundles, code=2)
    reasons = {each["file"]: each["reason"] for each in site(bundles)["refused"]}
    assert reasons == {
        "null.bundle.tar.gz": "has the same outcomes as null-again.bundle.tar.gz.",
        "stolen.bundle.tar.gz": "has the same outcomes as oracle.bundle.tar.gz.",
    }


# --- hostile archives --------------------------------------------------------------------------------


def member(
    name: str, kind: bytes = tarfile.REGTYPE, to: str = "", size: int = 0
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, to, size
    return info


def entry(name: str, size: int = 0) -> dict[str, Any]:
    return {"name": name, "size": size, "sha256": "0" * 64}


HOSTILE: dict[str, tuple[Forge, str]] = {
    "traversal": (
        lambda path, _: raw(path, [(member("../evil"), b"")], [entry("../evil")]),
        "leads out of the bundle",
    ),
    "absolute": (
        lambda path, _: raw(path, [(member("/tmp/evil"), b"")], [entry("/tmp/evil")]),
        "is an absolute name",
    ),
    "strange name": (
        lambda path, _: raw(path, [(member("run.sh"), b"")], [entry("run.sh")]),
        "is no file of a bundle",
    ),
    "bomb": (
        lambda path, _: raw(path, [], [entry("sealed.bin", 10**12)]),
        "bytes, over",
    ),
    "many bombs": (
        lambda path, _: raw(
            path, [], [entry(f"store/{n:02x}/" + "0" * 62, 10**9) for n in range(99)]
        ),
        "name that is not its digest|at most",
    ),
    "no index": (lambda path, _: _gzipped(path, b"hello" * 500), "is no bundle"),
    "no archive": (lambda path, _: _plain(path, b"hello"), "is damaged or cut short|is no bundle"),
    "cut short": (
        lambda path, good: _plain(path, good.read_bytes()[:-300]),
        "damaged or cut short",
    ),
    "more than its list": (
        lambda path, good: _plain(path, good.read_bytes() + good.read_bytes()),
        "holds more than its list",
    ),
    "link": (lambda path, good: _linked(path, good), "cannot be read"),
}


def _plain(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _gzipped(path: Path, content: bytes) -> Path:
    import gzip

    return _plain(path, gzip.compress(content))


def _linked(path: Path, good: Path) -> Path:
    path.symlink_to(good)
    return path


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_writes_nothing_outside(name: str, bundles: Path) -> None:
    make, said = HOSTILE[name]
    make(bundles / "zz.bundle.tar.gz", bundles / "null.bundle.tar.gz")
    leaderboard(bundles, code=2)
    (refused,) = site(bundles)["refused"]
    assert refused["file"] == "zz.bundle.tar.gz"
    assert re.search(said, refused["reason"]), refused["reason"]
    assert len(site(bundles)["runs"]) == 2
    assert sorted(each.name for each in bundles.parent.iterdir()) == ["bundles", "site"]
    assert not list(bundles.parent.rglob("evil"))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_members_that_are_no_regular_files_are_refused(kind: bytes, bundles: Path) -> None:
    names = [n for n in files_of(bundles / "null.bundle.tar.gz") if n.endswith((".json", ".jsonl"))]
    names.remove(INDEX)
    head = member(names[0], kind, to="/etc/passwd")
    raw(bundles / "zz.bundle.tar.gz", [(head, b"")], [entry(name) for name in names])
    leaderboard(bundles, code=2)
    (refused,) = site(bundles)["refused"]
    assert "and a run holds regular files only" in refused["reason"]


def test_markup_in_names_stays_text(bundles: Path) -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    files = files_of(bundles / "null.bundle.tar.gz")
    for name in ("manifest.json", "claims.json"):
        files[name] = record(lambda m: m.update(agent=evil))(files[name])
    files["outcomes.jsonl"] = b"".join(
        lines(lambda o: o.update(agent=evil))(line)
        for line in files["outcomes.jsonl"].splitlines(keepends=True)
    )
    files["manifest.json"] = record(lambda m: m.update(name=evil))(files["manifest.json"])
    pack(files, bundles / "<img src=x onerror=alert(2)>.bundle.tar.gz", run=evil)
    shown = leaderboard(bundles)
    assert "\x1b" not in shown.output
    page = (bundles.parent / "site" / "index.html").read_text()
    assert page.count("<script") == 1 and "<img" not in page and "\x1b" not in page


# --- mistakes ----------------------------------------------------------------------------------------


def test_mistakes_are_one_sentence(bundles: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    cases = [
        ((tmp_path / "nothing",), "There is no folder"),
        ((tmp_path / "empty",), "holds no bundle"),
        ((bundles, "--against", "nobody"), "No run here is named"),
    ]
    for (folder, *more), said in cases:
        refused = leaderboard(folder, *more, code=2)
        assert said in refused.output
        assert len(refused.output.splitlines()) == 1
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.txt").write_text("x")
    assert "is no board ('mine.txt')" in leaderboard(bundles, code=2).output


def test_with_nothing_but_refused_bundles_the_page_says_so(bundles: Path) -> None:
    for each in bundles.iterdir():
        each.write_bytes(b"x")
    leaderboard(bundles, code=2)
    found = site(bundles)
    assert (found["runs"], len(found["refused"])) == ([], 2)
    assert "There is no run here." in (bundles.parent / "site" / "index.html").read_text()
