"""``expbench submit``: what is in a bundle, what is not, and what is only for who has the key."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bundles import INDEX, files_of
from small_runs import QUICK, do, options_for
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import Suite
from expbench.judges.rubric import rubric
from expbench.metrics import summarise
from expbench.paths import CachePaths
from expbench.redaction import protect
from expbench.runs import Run, load, locked
from expbench.sandboxes.host import SandboxHost
from expbench.schema import MonitorReport, Outcome, Submission, Violation

KEY = "sk-" + "proj0123456789abcdefghij"


@pytest.fixture(scope="module")
def made(cache: CachePaths, host: SandboxHost, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A real run of the oracle on the quickest task."""
    return do(options_for(tmp_path_factory.mktemp("oracle"), cache, "oracle"))[0]


@pytest.fixture
def run(made: Run, tmp_path: Path) -> Run:
    """A copy of it that may be changed."""
    shutil.copytree(made.paths.root, tmp_path / "mine")
    return load(tmp_path / "mine")


def command(*words: object, code: int = 0, **environment: str) -> Any:
    done = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "250", **environment})
    assert done.exit_code == code, done.output
    return done


def submit(run: Run, bundle: Path, *more: object, code: int = 0, **environment: str) -> Any:
    return command("submit", run.paths.root, "--out", bundle, *more, code=code, **environment)


def changed(run: Run, **update: Any) -> None:
    run.add(run.outcomes[QUICK, 1].model_copy(update=update))


# --- what is in it -----------------------------------------------------------------------------------


def test_a_bundle_has_everything_that_is_verified_and_digests_of_all(
    run: Run, tmp_path: Path
) -> None:
    done = json.loads(submit(run, tmp_path / "a.bundle.tar.gz", "--json").stdout)
    bundle = tmp_path / "a.bundle.tar.gz"
    assert done["sha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    files = files_of(bundle)
    index = json.loads(files.pop(INDEX))
    assert [each["name"] for each in index["files"]] == sorted(files)
    for each in index["files"]:
        content = files[each["name"]]
        assert (each["size"], each["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    outcome = Outcome.model_validate_json(files["outcomes.jsonl"])
    (line,) = map(json.loads, files["submissions.jsonl"].splitlines())
    submission = Submission.model_validate(line["submission"])
    assert submission.digest == outcome.submission
    blobs = {submission.patch, submission.text, submission.script, submission.response}
    stored = {name for name in files if name.startswith("store/")}
    assert stored == {f"store/{b.digest[:2]}/{b.digest[2:]}" for b in blobs if b is not None}
    claims = json.loads(files["claims.json"])
    summary = summarise(run.planned, run.ordered())
    assert claims["summary"] == json.loads(summary.model_dump_json())
    assert json.loads(files["judge-eval.json"])["judge"] == "baseline"
    assert json.loads(files["tasks.json"])[0]["task_id"] == QUICK


def test_the_same_run_gives_the_same_bytes_wherever_it_is(run: Run, tmp_path: Path) -> None:
    submit(run, tmp_path / "a.bundle.tar.gz")
    moved = shutil.copytree(run.paths.root, tmp_path / "far" / "other name")
    for path in moved.rglob("*"):
        os.utime(path, (1, 1))
    submit(load(moved), tmp_path / "b.bundle.tar.gz")
    one, other = ((tmp_path / f"{n}.bundle.tar.gz").read_bytes() for n in "ab")
    assert one == other


def test_nothing_of_ground_truth_trajectories_and_this_machine_is_in_it(
    run: Run, tmp_path: Path, mini: Suite
) -> None:
    task = next(each for each in mini.tasks if each.id == QUICK)
    outcome = run.outcomes[QUICK, 1]
    assert outcome.judgement is not None
    spoken = tuple(
        each.model_copy(update={"reason": f"The truth asks for: {item.text}"})
        for each, item in zip(outcome.judgement.verdicts, rubric(task), strict=True)
    )
    found = Violation(
        kind="paper_access", severity="suspicious", quote="QUOTED", explanation="SEEN"
    )
    changed(
        run,
        judgement=outcome.judgement.model_copy(update={"verdicts": spoken}),
        monitor=MonitorReport(verdict="suspicious", violations=(found,)),
    )
    submit(run, tmp_path / "a.bundle.tar.gz")
    files = files_of(tmp_path / "a.bundle.tar.gz")
    outcomes = files["outcomes.jsonl"].decode()
    for text in ("The truth asks for", "QUOTED", "SEEN"):
        assert text not in outcomes
    handed_in = b"".join(content for name, content in files.items() if name.startswith("store/"))
    for item in rubric(task):
        if item.phase == "implementation" and item.text.encode() not in handed_in:
            assert json.dumps(item.text)[1:-1] not in outcomes
    trajectory = run.attempts[QUICK, 1].submission.trajectory
    assert trajectory is not None
    assert not any(trajectory.digest[2:] in name for name in files)
    assert json.loads(files["manifest.json"])["options"] == {}
    assert str(tmp_path).encode() not in b"".join(files.values())
    kept = Outcome.model_validate_json(outcomes)
    assert kept.monitor is not None and kept.monitor.violations[0].kind == "paper_access"
    assert {n: s.value for n, s in kept.scores.items()} == {
        n: s.value for n, s in outcome.scores.items()
    }


# --- secrets -----------------------------------------------------------------------------------------


def test_values_of_secrets_are_hidden_in_records_and_refused_in_submissions(
    run: Run, tmp_path: Path
) -> None:
    changed(run, reason="the provider said fearless-otter-77")
    bundle = tmp_path / "a.bundle.tar.gz"
    submit(run, bundle, SOME_VENDOR_API_KEY="fearless-otter-77")
    outcomes = files_of(bundle)["outcomes.jsonl"]
    assert b"fearless-otter-77" not in outcomes and b"[secret SOME_VENDOR_API_KEY]" in outcomes
    script = run.store.text(run.attempts[QUICK, 1].submission.script)
    word = max(script.split(), key=len)
    assert len(word) >= 8
    refused = submit(run, tmp_path / "b.bundle.tar.gz", code=2, SOME_VENDOR_API_KEY=word)
    assert "holds the value of a secret of this environment" in refused.output
    assert word not in refused.output
    assert not (tmp_path / "b.bundle.tar.gz").exists()
    protect({})


def test_what_looks_like_a_key_is_refused_without_being_shown(run: Run, tmp_path: Path) -> None:
    changed(run, reason=f"401 for {KEY}")
    refused = submit(run, tmp_path / "a.bundle.tar.gz", code=2)
    assert "outcomes.jsonl holds what looks like a key (sk-p…, " in refused.output
    assert KEY not in refused.output and len(refused.output.splitlines()) == 1
    assert list(tmp_path.glob("*bundle*")) == []
    submit(run, tmp_path / "a.bundle.tar.gz", "--allow-secret-looking")
    assert (tmp_path / "a.bundle.tar.gz").is_file()


# --- the sealed part ---------------------------------------------------------------------------------


def sealed(run: Run, tmp_path: Path, *more: object, **environment: str) -> Path:
    pytest.importorskip("cryptography")
    bundle = tmp_path / "s.bundle.tar.gz"
    submit(run, bundle, "--encrypt", *more, **environment)
    return bundle


def test_the_sealed_part_has_all_that_is_left_out_and_opens_with_its_key(
    run: Run, tmp_path: Path, mini: Suite
) -> None:
    bundle = sealed(run, tmp_path)
    key = tmp_path / "s.key"
    assert key.stat().st_mode & 0o777 == 0o600
    task = next(each for each in mini.tasks if each.id == QUICK)
    raw = bundle.read_bytes() + b"".join(files_of(bundle).values())
    assert b'"reference"' not in raw
    command("unseal", bundle, "--out", tmp_path / "open", "--key", key)
    assert (tmp_path / "open" / "outcomes.jsonl").read_bytes() == run.paths.outcomes.read_bytes()
    (truth,) = json.loads((tmp_path / "open" / "truth.json").read_text())
    assert truth["reference"] == json.loads(task.reference.model_dump_json())
    trajectory = run.attempts[QUICK, 1].submission.trajectory
    assert trajectory is not None
    place = tmp_path / "open" / "store" / trajectory.digest[:2] / trajectory.digest[2:]
    assert place.read_bytes() == run.store.get(trajectory)


def test_a_passphrase_opens_it_too_and_another_does_not(run: Run, tmp_path: Path) -> None:
    right, wrong = (
        {"EXPBENCH_PASSPHRASE": "a long passphrase"},
        {"EXPBENCH_PASSPHRASE": "another phrase"},
    )
    bundle = sealed(run, tmp_path, **right)
    assert not (tmp_path / "s.key").exists()
    command("unseal", bundle, "--out", tmp_path / "open", **right)
    assert (tmp_path / "open" / "truth.json").is_file()
    refused = command("unseal", bundle, "--out", tmp_path / "other", code=2, **wrong)
    assert "does not open: the key is another one" in refused.output
    assert not (tmp_path / "other").exists()
    short = submit(
        run, tmp_path / "t.bundle.tar.gz", "--encrypt", code=2, EXPBENCH_PASSPHRASE="short"
    )
    assert "at least 12 characters" in short.output


@pytest.mark.parametrize("place", [10, 200, 5_000, -3])
def test_a_sealed_part_that_was_changed_anywhere_does_not_open(
    run: Run, tmp_path: Path, place: int
) -> None:
    from expbench.bundle.sealing import Opener, Sealer, Secret
    from expbench.errors import UserError

    pytest.importorskip("cryptography")
    file = tmp_path / "sealed"
    secret = Secret("file", b"k" * 32)
    with file.open("wb") as sink:
        sealer = Sealer(sink, secret)
        sealer.write(bytes(3 * 1024**2))
        sealer.close()
    whole = bytearray(file.read_bytes())
    with file.open("rb") as source:
        assert Opener(source, secret).read() == bytes(3 * 1024**2)
    whole[place] ^= 1
    file.write_bytes(whole)
    with file.open("rb") as source, pytest.raises(UserError, match="sealed part"):
        Opener(source, secret).read()


def test_pieces_of_a_sealed_part_cannot_be_cut_off_or_swapped(tmp_path: Path) -> None:
    from expbench.bundle.sealing import PIECE, Opener, Sealer, Secret
    from expbench.errors import DataError

    pytest.importorskip("cryptography")
    secret, file = Secret("file", b"k" * 32), tmp_path / "sealed"
    with file.open("wb") as sink:
        sealer = Sealer(sink, secret)
        for _ in range(3):
            sealer.write(os.urandom(PIECE))
        sealer.close()
    head, _, body = file.read_bytes().partition(b"\n")
    step = PIECE + 16
    first, second, third = (body[i * step : (i + 1) * step] for i in range(3))
    for pieces in ((first, second), (second, first, third), (first, second, third, third), ()):
        file.write_bytes(head + b"\n" + b"".join(pieces))
        with file.open("rb") as source, pytest.raises(DataError, match="does not open"):
            Opener(source, secret).read()


# --- mistakes ----------------------------------------------------------------------------------------


def test_mistakes_are_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "no.key").write_text("x")
    submit(run, tmp_path / "plain.bundle.tar.gz")
    bundle = tmp_path / "b.bundle.tar.gz"
    cases: list[tuple[tuple[object, ...], str]] = [
        (("submit", tmp_path / "nothing"), "holds no run"),
        (("submit", run.paths.root, "--out", tmp_path / "x.zip"), "is no name for a bundle"),
        (
            ("submit", run.paths.root, "--out", tmp_path / "plain.bundle.tar.gz"),
            "exists: remove it",
        ),
        (
            ("submit", run.paths.root, "--out", bundle, "--key", tmp_path / "k"),
            "give --encrypt too",
        ),
        (
            ("submit", run.paths.root, "--out", bundle, "--encrypt", "--key", tmp_path / "no.key"),
            "is no key file",
        ),
        (
            ("unseal", tmp_path / "plain.bundle.tar.gz", "--out", tmp_path / "o"),
            "Give the key file",
        ),
        (
            ("unseal", run.paths.manifest, "--out", tmp_path / "o", "--key", tmp_path / "no.key"),
            "is no key",
        ),
    ]
    for words, said in cases:
        refused = command(*words, code=2)
        assert said in refused.output, refused.output
        assert len(refused.output.splitlines()) == 1
    assert not bundle.exists()
    with locked(run):
        assert "is being run by another process" in submit(run, bundle, code=2).output


def test_a_damaged_submission_stops_it_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    path = run.store.path(run.attempts[QUICK, 1].submission.patch)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    refused = submit(run, tmp_path / "a.bundle.tar.gz", "--encrypt", code=2)
    assert "was changed: its bytes do not fit its name" in refused.output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine"]
