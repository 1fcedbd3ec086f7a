"""Packing a run, unpacking it elsewhere, and refusing what is no packed run."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import multiprocessing
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.errors import DataError, PrerequisiteError, UserError
from expbench.packing import pack, unpack
from expbench.runs import Attempt, Manifest, Run, create, load, locked
from expbench.sandboxes.host import SandboxHost
from expbench.schema import Blob, Execution, Outcome, Policy, Submission
from expbench.workspace import BlobStore

LOG = "logs/2026-01-31T12-00-00_expbench_abc.eval"
REPORT = ("report/index.html", "report/report.md", "report/outcomes.csv", "report/table.tex")
LATER = (
    "reviews/ann.jsonl",
    "failures/index.html",
    "failures-coding.jsonl",
    "executed/bwrap/failures/map.json",
    "reproduced/20260201-120000/outcomes.jsonl",
)


def make_run(root: Path, **changes: Any) -> Run:
    """A run of two tasks, the first of them done, with everything that a run's folder holds."""
    facts: dict[str, Any] = {
        "name": "mine",
        "created": "2026-01-31T12:00:00+00:00",
        "suite": "mini",
        "suite_version": "1",
        "tasks": ("mini/a/0", "mini/a/1"),
        "epochs": 1,
        "agent": "null",
        "model": "",
        "judging": {"judges": ["baseline"]},
        "sandbox": "bwrap",
        "policy": Policy(),
        **changes,
    }
    run = create(root, Manifest(**facts))
    put = run.store.put
    submission = Submission(
        task_id="mini/a/0", base_tree="0" * 40, patch=put(b"patch"), text=put(b"{}")
    )
    run.add(Attempt(task_id="mini/a/0", epoch=1, submission=submission, status="finished"))
    first = Execution(state="infrastructure", stdout=put(b"of the first try"))
    again = Execution(state="ran", exit_code=0, stdout=put(b"of the second try"))
    for execution in (first, again):
        run.add(
            Outcome(
                task_id="mini/a/0",
                paper="mini/a",
                epoch=1,
                agent="null",
                model="",
                status="finished",
                submission=submission.digest,
                execution=execution,
            )
        )
    run.write_outcomes()
    for name in (LOG, *REPORT, *LATER):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"this is {name}")
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_run(tmp_path / "mine")


def blob_of(run: Run, content: bytes) -> Path:
    return run.store.path(Blob(digest=hashlib.sha256(content).hexdigest(), size=len(content)))


def tree(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# --- packing ---------------------------------------------------------------------------------------


def test_a_run_that_is_unpacked_is_the_run_that_was_packed(run: Run, tmp_path: Path) -> None:
    packed = pack(run.paths.root, tmp_path / "a.tar.gz")
    assert packed.files == len(tree(run.paths.root)) == 17
    assert packed.sha256 == hashlib.sha256(packed.archive.read_bytes()).hexdigest()
    assert packed.size == packed.archive.stat().st_size
    unpacked = unpack(packed.archive, tmp_path / "far" / "away")
    assert tree(unpacked.root) == tree(run.paths.root)
    assert load(unpacked.root).ordered() == load(run.paths.root).ordered()
    assert everything(tmp_path / "far").isdisjoint(everything(tmp_path / "mine"))


def test_the_same_run_gives_the_same_bytes_wherever_and_whenever(run: Run, tmp_path: Path) -> None:
    first = pack(run.paths.root, tmp_path / "a.tar.gz")
    for path in run.paths.root.rglob("*"):
        os.utime(path, (1, 1))
    run.paths.report.chmod(0o700)
    moved = unpack(first.archive, tmp_path / "another name").root
    for root, name in ((run.paths.root, "b.tar.gz"), (moved, "c.tar.gz")):
        pack(root, tmp_path / name)
        assert (tmp_path / name).read_bytes() == first.archive.read_bytes()


def test_the_first_member_lists_all_others_and_their_digests(run: Run, tmp_path: Path) -> None:
    pack(run.paths.root, tmp_path / "a.tar.gz")
    with tarfile.open(tmp_path / "a.tar.gz") as archive:
        head, *others = archive.getmembers()
        listed = json.load(archive.extractfile(head) or io.BytesIO())
        assert head.name == "PACKING.json" and listed["format"] == 1 and listed["run"] == "mine"
        assert [f["name"] for f in listed["files"]] == [m.name for m in others]
        assert [m.name for m in others] == sorted(m.name for m in others)
        for file, member in zip(listed["files"], others, strict=True):
            content = (archive.extractfile(member) or io.BytesIO()).read()
            assert (file["size"], file["sha256"]) == (
                len(content),
                hashlib.sha256(content).hexdigest(),
            )
        assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in others} == {(0, 0, 0, "", 0o644)}


def test_only_what_the_journal_names_is_taken_from_the_store(run: Run, tmp_path: Path) -> None:
    """What a killed run left in its store stays there; what a first try left is named, and taken."""
    run.store.put(b"of nobody")
    (run.paths.store / "ab").mkdir(exist_ok=True)
    (run.paths.store / "ab" / ".put-x").write_bytes(b"torn")
    (run.paths.root / "notes.txt").write_text("mine")
    packed = pack(run.paths.root, tmp_path / "a.tar.gz")
    assert (packed.unnamed, packed.left_out) == (2, ("notes.txt",))
    there = set(tree(unpack(packed.archive, tmp_path / "b").root).values())
    assert {b"of the first try", b"of the second try"} <= there
    assert there.isdisjoint({b"of nobody", b"torn", b"mine"})


def test_without_logs(run: Run, tmp_path: Path) -> None:
    packed = pack(run.paths.root, tmp_path / "a.tar.gz", logs=False)
    assert packed.left_out == ()
    assert LOG not in tree(unpack(packed.archive, tmp_path / "b").root)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "lacks the bytes"),
        (lambda path: (path.chmod(0o644), path.write_bytes(b"pAtch")), "was changed"),
        (lambda path: (path.chmod(0o644), path.write_bytes(b"longer patch")), "was changed"),
        (lambda path: (path.unlink(), path.symlink_to("/dev/zero")), "cannot be read"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "no regular file"),
    ],
    ids=["missing", "changed", "longer", "link", "pipe"],
)
def test_a_spoilt_blob_stops_the_packing_and_leaves_nothing(
    run: Run, tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    path = blob_of(run, b"patch")
    spoil(path)
    with pytest.raises(DataError, match=said) as caught:
        pack(run.paths.root, tmp_path / "a.tar.gz")
    assert path.name[:8] in str(caught.value) or path.name[:6] in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_a_digest_that_is_a_path_is_not_followed(run: Run, tmp_path: Path) -> None:
    """R28: a record's digest names a file of the store, and no device of the machine."""
    journal = run.paths.journal
    digest = hashlib.sha256(b"patch").hexdigest()
    journal.write_text(journal.read_text().replace(digest, "..//dev/zero"))
    with pytest.raises(DataError, match="is no digest"):
        pack(run.paths.root, tmp_path / "a.tar.gz")
    with pytest.raises(DataError, match="is no digest"):
        run.store.get(Blob(digest="..//dev/zero", size=5))


def test_a_run_that_another_process_works_on_is_not_packed(run: Run, tmp_path: Path) -> None:
    with locked(run), pytest.raises(UserError, match="being run by another process"):
        pack(run.paths.root, tmp_path / "a.tar.gz")
    assert not (tmp_path / "a.tar.gz").exists()
    pack(run.paths.root, tmp_path / "a.tar.gz")


def test_links_in_a_runs_folder_are_not_followed(run: Run, tmp_path: Path) -> None:
    """R28"""
    (tmp_path / "secret.eval").write_text("secret")
    (run.paths.logs / "link.eval").symlink_to(tmp_path / "secret.eval")
    with pytest.raises(PrerequisiteError, match="cannot be read"):
        pack(run.paths.root, tmp_path / "a.tar.gz")
    shutil.rmtree(run.paths.logs)
    (tmp_path / "logs").mkdir()
    (tmp_path / "secret.eval").rename(tmp_path / "logs" / "secret.eval")
    run.paths.logs.symlink_to(tmp_path / "logs")
    packed = pack(run.paths.root, tmp_path / "a.tar.gz")
    assert b"secret" not in gzip.decompress(packed.archive.read_bytes())


# --- hostile archives ------------------------------------------------------------------------------

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, to: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, to, len(content)
    return info, content


def listed(name: str, content: bytes, **changes: Any) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"name": name, "size": len(content), "sha256": digest, **changes}


def forge(path: Path, files: list[dict[str, Any]], members: list[Member], **head: Any) -> Path:
    """An archive that says and holds what it is told to."""
    facts = {"format": 1, "expbench": "0", "run": "mine", "files": files, **head}
    content = json.dumps(facts).encode()
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        for info, body in [member("PACKING.json", content), *members]:
            archive.addfile(info, io.BytesIO(body))
    return path


def manifest_of(tmp_path: Path, **changes: Any) -> bytes:
    run = make_run(tmp_path / "source")
    shutil.rmtree(run.paths.root)
    return run.manifest.model_copy(update=changes).model_dump_json().encode()


def refused(archive: Path, said: str) -> str:
    """The reason; nothing was written, neither at the target nor beside it."""
    folder = archive.parent
    before = everything(folder)
    with pytest.raises(UserError) as caught:
        unpack(archive, folder / "out" / "target")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert everything(folder) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "to", "said"),
    [
        (tarfile.SYMTYPE, "/etc/passwd", "a symbolic link"),
        (tarfile.LNKTYPE, "manifest.json", "a hard link"),
        (tarfile.CHRTYPE, "", "a device"),
        (tarfile.BLKTYPE, "", "a device"),
        (tarfile.FIFOTYPE, "", "a pipe"),
        (tarfile.DIRTYPE, "", "a folder"),
        (tarfile.GNUTYPE_SPARSE, "", "a sparse file"),
        (tarfile.CONTTYPE, "", "no regular file"),
    ],
)
def test_what_is_no_regular_file_is_refused(
    tmp_path: Path, kind: bytes, to: str, said: str
) -> None:
    """R28: links, devices, pipes, folders and sparse files, under names that are right."""
    manifest = manifest_of(tmp_path)
    files = [listed("manifest.json", manifest), listed(LOG, b"")]
    members = [member("manifest.json", manifest), member(LOG, b"", kind, to)]
    reason = refused(forge(tmp_path / "a.tar.gz", files, members), said)
    assert LOG in reason


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../x", "leads out"),
        ("logs/../../x.eval", "leads out"),
        ("/etc/x", "absolute"),
        ("logs/x.py", "no file of a run"),
        ("logs/x.eval/y.eval", "no file of a run"),
        (".lock", "no file of a run"),
        ("store/ab/../../x", "leads out"),
        ("report/.hidden.html", "no file of a run"),
        ("reviews/.ann.jsonl", "no file of a run"),
        ("reviews/a/b.jsonl", "no file of a run"),
        ("failures/x.py", "no file of a run"),
        ("manifest.json\n", "no file of a run"),
        ("PACKING.json", "no file of a run"),
        ("logs/\x1b[2J.eval", "no file of a run"),
        (f"logs/{'x' * 300}.eval", "no file of a run"),
    ],
)
def test_names_outside_a_runs_layout_are_refused(tmp_path: Path, name: str, said: str) -> None:
    """R28: in the list, and in a member that a right list does not have."""
    manifest = manifest_of(tmp_path)
    rest = [listed("manifest.json", manifest)]
    members = [member("manifest.json", manifest), member(name, b"x")]
    refused(forge(tmp_path / "a.tar.gz", [*rest, listed(name, b"x")], members), said)
    if len(name) < 100 and "\n" not in name:
        honest = [*rest, listed(LOG, b"x")]
        refused(forge(tmp_path / "b.tar.gz", honest, members), said)


def test_what_the_list_says_is_what_must_come(tmp_path: Path) -> None:
    """R28: sizes, digests, order, and nothing that is missing or comes twice or after the end."""
    body = manifest_of(tmp_path)
    path = tmp_path / "a.tar.gz"
    manifest, log = listed("manifest.json", body), listed(LOG, b"log")
    whole = [member("manifest.json", body), member(LOG, b"log")]

    def case(files: list[dict[str, Any]], members: list[Member], said: str) -> None:
        path.unlink(missing_ok=True)
        refused(forge(path, files, members), said)

    case([manifest, {**log, "size": 2}], whole, "3 bytes, and 2 in its list")
    case([manifest, {**log, "sha256": "0" * 64}], whole, "do not fit their digest")
    case([log, manifest], whole, "stands where its list has")
    case([manifest, log, log], [*whole, whole[1]], "twice")
    case([manifest, log], whole[:1], "ends before")
    case([manifest], whole, "more than its list")
    case([log], whole[1:], "no manifest.json")
    case([manifest, {**log, "size": -1}], whole, "cannot read")
    blob = listed("store/ab/" + "c" * 62, b"log")
    case([manifest, blob], [whole[0], member(blob["name"], b"log")], "not its digest")


def test_bombs_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """R28: what the disk cannot hold, a list without end, a plan without end, a header without end."""
    manifest = manifest_of(tmp_path)
    head, body = listed("manifest.json", manifest), member("manifest.json", manifest)
    digest = hashlib.sha256(b"").hexdigest()
    name = f"store/{digest[:2]}/{digest[2:]}"
    large = listed(name, b"", size=10**15)
    refused(forge(tmp_path / "a.tar.gz", [head, large], [body]), "free some space")
    refused(forge(tmp_path / "b.tar.gz", [{**head, "size": 10**9}], [body]), "no run has over")
    endless = manifest_of(tmp_path, epochs=10**12)
    refused(
        forge(
            tmp_path / "c.tar.gz",
            [listed("manifest.json", endless)],
            [member("manifest.json", endless)],
        ),
        "plans 2000000000000 attempts",
    )
    info = tarfile.TarInfo("PACKING.json")
    info.size = 10**12
    (tmp_path / "d.tar.gz").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT)))
    refused(tmp_path / "d.tar.gz", "its list has 1000000000000 bytes")
    info = tarfile.TarInfo("manifest.json")
    info.type, info.size = tarfile.XHDTYPE, 10**12
    forge(tmp_path / "e.tar.gz", [head], [])
    plain = gzip.decompress((tmp_path / "e.tar.gz").read_bytes()).rstrip(b"\0")
    plain += bytes(-len(plain) % 512) + info.tobuf(tarfile.GNU_FORMAT)
    (tmp_path / "e.tar.gz").write_bytes(gzip.compress(plain))
    refused(tmp_path / "e.tar.gz", "no regular file")


def test_a_run_that_lacks_what_its_journal_names_is_refused(run: Run, tmp_path: Path) -> None:
    content = tree(run.paths.root)
    (lost,) = (name for name, body in content.items() if body == b"patch")
    del content[lost]
    files = [listed(name, body) for name, body in content.items()]
    members = [member(name, body) for name, body in content.items()]
    refused(forge(tmp_path / "a.tar.gz", files, members), "lacks the bytes")


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    parts = {"journal.jsonl": b'{"attempt": 3}\n', "manifest.json": manifest}
    files = [listed(name, body) for name, body in parts.items()]
    archive = forge(tmp_path / "a.tar.gz", files, [member(n, b) for n, b in parts.items()])
    assert ".new" not in refused(archive, "journal.jsonl, line 1 is damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        gzip.compress(b""),
        gzip.compress(bytes(10240)),
        gzip.compress(b"x" * 999),
    ],
    ids=["empty", "text", "nothing packed", "no members", "no tar"],
)
def test_what_is_no_packed_run_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar.gz").write_bytes(content)
    assert "expbench runs pack" in refused(tmp_path / "a.tar.gz", "a.tar.gz is")


def test_an_archive_cut_anywhere_is_refused(run: Run, tmp_path: Path) -> None:
    content = pack(run.paths.root, tmp_path / "a.tar.gz").archive.read_bytes()
    cut = tmp_path / "cut.tar.gz"
    for length in [*range(0, len(content), 61), len(content) - 8, len(content) - 1]:
        cut.write_bytes(content[:length])
        refused(cut, "cut.tar.gz is")


def test_a_flipped_byte_is_refused_or_changes_nothing(run: Run, tmp_path: Path) -> None:
    """Some bytes of gzip's header mean nothing; every other one is under a checksum."""
    content = pack(run.paths.root, tmp_path / "a.tar.gz").archive.read_bytes()
    dice, wanted = random.Random(7), tree(run.paths.root)
    accepted = 0
    for number in range(150):
        spoilt = bytearray(content)
        spoilt[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        (tmp_path / "b.tar.gz").write_bytes(spoilt)
        try:
            root = unpack(tmp_path / "b.tar.gz", tmp_path / f"out{number}").root
        except UserError:
            assert not list(tmp_path.glob("*out*"))
            continue
        accepted += 1
        assert tree(root) == wanted
        shutil.rmtree(root)
    assert accepted < 10


def test_a_folder_that_holds_something_is_not_touched(run: Run, tmp_path: Path) -> None:
    archive = pack(run.paths.root, tmp_path / "a.tar.gz").archive
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        unpack(archive, target)
    assert [p.name for p in target.iterdir()] == ["mine.txt"]
    (target / "mine.txt").unlink()
    assert tree(unpack(archive, target).root) == tree(run.paths.root)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="not empty"):
        unpack(archive, tmp_path / "link")


def test_large_blobs_are_streamed(tmp_path: Path) -> None:
    """R47: packing and unpacking 200 MB takes no more memory than a small run, twice over."""
    run = make_run(tmp_path / "mine")
    content = bytes(200 * 1024**2)
    blob = run.store.put(content)
    run.add(
        Outcome(
            task_id="mini/a/1",
            paper="mini/a",
            epoch=1,
            agent="null",
            model="",
            status="finished",
            execution=Execution(state="ran", stdout=blob),
        )
    )
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom expbench.packing import pack, unpack\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\npack(Path('mine'), Path('a.tar.gz'))\nunpack(Path('a.tar.gz'), Path('b'))\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 40 * 1024, f"{done.stdout} KiB more"
    assert (tmp_path / "b" / run.store.path(blob).relative_to(run.paths.root)).stat().st_size == (
        len(content)
    )


# --- the store -------------------------------------------------------------------------------------


def _put_many(root: str, barrier: Any) -> None:
    barrier.wait()
    for number in range(40):
        BlobStore(Path(root)).put(b"%d" % number * 50_000)


def test_equal_bytes_of_many_processes_are_one_read_only_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    workers = [
        context.Process(target=_put_many, args=(str(tmp_path / "store"), barrier)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert len(files) == 40
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o444}
    for path in files:
        content = path.read_bytes()
        digest = f"{path.parent.name}{path.name}"
        assert BlobStore(tmp_path / "store").get(Blob(digest=digest, size=len(content))) == content
    shutil.rmtree(tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_torn_file_under_a_digests_name_is_mended(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    blob = store.put(b"whole")
    store.path(blob).chmod(0o644)
    store.path(blob).write_bytes(b"")
    with pytest.raises(DataError, match="was changed"):
        store.get(blob)
    assert store.put(b"whole") == blob
    assert store.get(blob) == b"whole"


# --- the command line ------------------------------------------------------------------------------


def invoke(*args: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert done.exit_code == code, done.output
    if code == 2:
        assert done.stderr.startswith("expbench: ") and done.stderr.count("\n") == 1, done.stderr
    return done


def test_the_commands_say_what_they_did(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    packed = json.loads(invoke("runs", "pack", "mine", "--json").stdout)
    assert (packed["archive"], packed["run"], packed["files"]) == ("mine.tar.gz", "mine", 17)
    assert "17 files" in invoke("runs", "pack", "mine", "--out", "b.tar.gz").stdout
    unpacked = json.loads(invoke("runs", "unpack", "mine.tar.gz", "--json").stdout)
    assert unpacked["root"] == "runs/mine"
    assert "every digest right" in invoke("runs", "unpack", "b.tar.gz", "--out", "c").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("pack", "nothing"), "holds no run"),
        (("pack", "here.tar.gz", "--out", "b.tar.gz"), "`expbench runs unpack`"),
        (("pack", "mine", "--out", "mine.zip"), ".tar.gz"),
        (("pack", "mine", "--out", "here.tar.gz"), "exists"),
        (("pack", "mine", "--out", "no/where.tar.gz"), "--out"),
        (("unpack", "nothing.tar.gz"), "no file"),
        (("unpack", "mine"), "no file"),
        (("unpack", "here.tar.gz"), "no packed run"),
        (("list", "nothing"), "no folder"),
    ],
)
def test_mistakes_are_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.tar.gz").write_text("mine")
    before = everything(tmp_path)
    assert said in invoke("runs", *args, code=2).stderr
    assert everything(tmp_path) - {"mine/.lock"} == before


def test_folders_of_another_machine_are_named_with_the_option_that_replaces_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clones").mkdir()
    options = {
        "data": "/nowhere/data",
        "packages-0": "/nowhere/packages",
        "repos": str(tmp_path / "clones"),
    }
    run = make_run(tmp_path / "mine", options=options)
    pack(run.paths.root, tmp_path / "a.tar.gz")
    shown = invoke("runs", "unpack", "a.tar.gz", "--out", "b").stdout
    data, packages, repos = shown.splitlines()[1:]
    assert "/nowhere/data is not here" in data and data.endswith("--data")
    assert "/nowhere/packages is not here" in packages
    assert f"uses {tmp_path / 'clones'}" in repos
    assert load(tmp_path / "b").manifest == run.manifest


def test_a_run_named_like_a_path_needs_a_folder(tmp_path: Path, monkeypatch: Any) -> None:
    """R28: the name in the list decides over no path."""
    monkeypatch.chdir(tmp_path)
    run = make_run(tmp_path / "mine", name="../../x")
    pack(run.paths.root, tmp_path / "a.tar.gz")
    assert "--out" in invoke("runs", "unpack", "a.tar.gz", code=2).stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tar.gz", "mine"]
    invoke("runs", "unpack", "a.tar.gz", "--out", "b")


def test_damaged_runs_are_rows_with_the_reason(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs" / "good")
    make_run(tmp_path / "runs" / "torn").paths.journal.write_text('{"attempt": 3}\n')
    make_run(tmp_path / "runs" / "old").paths.manifest.write_text("{}")
    endless = make_run(tmp_path / "runs" / "endless")
    endless.paths.manifest.write_bytes(manifest_of(tmp_path, epochs=10**12))
    (tmp_path / "runs" / "empty").mkdir()
    (tmp_path / "runs" / "odd\x1b[2J").mkdir()
    rows = {r["name"]: r for r in json.loads(invoke("runs", "list", "--json").stdout)}
    good = rows["good"]
    assert (good["done"], good["planned"], good["suite"], good["judge"], good["problem"]) == (
        (1, 2, "mini", "baseline", "")
    )
    assert good["bytes"] > 4096
    assert rows["endless"]["planned"] == 2 * 10**12
    assert "line 1 is damaged" in rows["torn"]["problem"]
    assert "manifest.json is damaged" in rows["old"]["problem"]
    assert "holds no run" in rows["empty"]["problem"]
    table = invoke("runs", "list", "runs").stdout
    assert all(name in table for name in ("good", "torn", "old", "empty", "1/2"))
    assert "\x1b" not in table


# --- for real --------------------------------------------------------------------------------------


class Machine:
    """The command in a folder of its own, with its own home and cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def start(self, *args: str) -> subprocess.Popen[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "OPENAI_API_KEY": "a-canary-in-the-environment",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "expbench", *args],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *args: str) -> str:
        process = self.start(*args)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, f"exit {process.returncode}\n{out}\n{err}"
        return out


def _values(root: Path) -> list[dict[str, Any]]:
    return [
        {name: score["value"] for name, score in json.loads(line)["scores"].items()}
        for line in (root / "outcomes.jsonl").read_text().splitlines()
    ]


def test_a_packed_run_reports_the_same_on_another_machine(
    tmp_path: Path, host: SandboxHost
) -> None:
    """The original is gone, and so are its home and cache."""
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    here("run", "--agent", "oracle", "--task", "mini/calibration/2", "--out", "runs/a")
    numbers = json.loads(here("report", "runs/a", "--json"))
    outcomes = (here.folder / "runs/a/outcomes.jsonl").read_bytes()
    page = (here.folder / "runs/a/report/outcomes.csv").read_bytes()
    here("runs", "pack", "runs/a")
    shutil.move(here.folder / "a.tar.gz", there.folder)
    shutil.rmtree(here.folder)
    there("runs", "unpack", "a.tar.gz")
    assert json.loads(there("report", "runs/a", "--json")) == numbers
    assert (there.folder / "runs/a/report/outcomes.csv").read_bytes() == page
    there("resume", "runs/a")
    assert (there.folder / "runs/a/outcomes.jsonl").read_bytes() == outcomes


def test_no_value_of_the_environment_is_in_an_archive(tmp_path: Path, host: SandboxHost) -> None:
    """R46: neither in a file of the run nor inside Inspect's log, with a model that has a key."""
    from inspect_ai.log import read_eval_log

    machine = Machine(tmp_path / "here")
    script = {
        "turns": [{"text": "done", "calls": [{"tool": "submit", "arguments": {"answer": "x"}}]}]
    }
    (machine.folder / "model.json").write_text(json.dumps(script))
    args = ("--agent", "react", "--model", "scripted/model.json", "--task", "mini/calibration/2")
    machine("run", *args, "--out", "runs/a")
    machine("runs", "pack", "runs/a")
    root = unpack(machine.folder / "a.tar.gz", machine.folder / "b").root
    (log,) = (root / "logs").glob("*.eval")
    text = read_eval_log(str(log)).model_dump_json()
    assert "mini/calibration/2" in text
    assert "a-canary" not in text
    assert all(b"a-canary" not in content for content in tree(root).values())


def test_a_killed_run_goes_on_elsewhere_and_repeats_no_agent(
    tmp_path: Path, host: SandboxHost
) -> None:
    """R43: packed after ``kill -9``, unpacked under another name, resumed by another cache."""
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    tasks = ["mini/calibration/2", "mini/forecasting/2"]
    wanted = [text for task in tasks for text in ("--task", task)]
    args = ("run", "--agent", "oracle", *wanted, "--out", "runs/a", "--max-samples", "1")
    process = here.start(*args)
    journal = here.folder / "runs/a/journal.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and b"\n" in journal.read_bytes()):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    here("runs", "pack", "runs/a")
    before = journal.read_bytes()
    shutil.move(here.folder / "a.tar.gz", there.folder)
    shutil.rmtree(here.folder)
    there("runs", "unpack", "a.tar.gz", "--out", "other")
    (row,) = [r for r in json.loads(there("runs", "list", ".", "--json")) if r["name"] == "other"]
    assert row["done"] < row["planned"] == 2
    there("resume", "other")
    after = (there.folder / "other/journal.jsonl").read_bytes()
    assert after.startswith(before)
    entries = map(json.loads, after.splitlines())
    done = [e["attempt"]["task_id"] for e in entries if "attempt" in e]
    assert sorted(done) == tasks, "an agent was run twice, or not at all"
    assert all(set(values.values()) == {1.0} for values in _values(there.folder / "other"))
