"""Patches that lose nothing of what an agent made, and manifests of what they leave out."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from workspaces import Upstream, child, commit, run_git, snapshot, write

from expbench.errors import InfrastructureError
from expbench.schema import Blob, LeftOut, Submission
from expbench.workspace import (
    Collected,
    Prepared,
    collect,
    from_folder,
    mask,
    materialise,
    materialise_patched,
)
from expbench.workspace.submission.ignored import LARGE
from expbench.workspace.submission.names import git_holds
from expbench.workspace.submission.nofollow import Folder

# --- collecting ----------------------------------------------------------------------------------


def edit(workspace: Path) -> None:
    """What an agent does: change, add, delete, make executable."""
    write(workspace, {"src/model.py": "class Model:\n    rate = 0.1\n", "src/new.py": "print(1)\n"})
    (workspace / "configs/base.yaml").unlink()
    (workspace / "src/new.py").chmod(0o755)


def rewrite_git(workspace: Path) -> None:
    shutil.rmtree(workspace / ".git")
    run_git(workspace, "init", "-q", "-b", "other")
    commit(workspace, "all mine")


def git_as_a_file(workspace: Path) -> None:
    shutil.rmtree(workspace / ".git")
    write(workspace, {".git": "gitdir: /etc\n"})


def hostile_config(workspace: Path) -> None:
    script = workspace.parent / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {workspace.parent / 'canary'}\ncat\n")
    script.chmod(0o755)
    run_git(workspace, "config", "core.worktree", "/etc")
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.hooksPath"):
        run_git(workspace, "config", key, str(script))
    write(workspace, {".git/info/attributes": "* filter=x diff=x -text\n"})
    write(workspace, {".git/info/exclude": "*\n"})


def reset_after_copying(workspace: Path) -> None:
    """Commit, reset the tree, and put the files back by hand."""
    copy = workspace.parent / "copy"
    shutil.copytree(workspace, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    commit(workspace, "lost")
    run_git(workspace, "reset", "-q", "--hard", "HEAD~1")
    for path in workspace.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(copy, workspace, symlinks=True, dirs_exist_ok=True)


GIT_ACTS: dict[str, Callable[[Path], object]] = {
    "commit": lambda w: commit(w, "done"),
    "amend": lambda w: (
        run_git(w, "add", "-A"),
        run_git(w, "commit", "-q", "--amend", "-m", "rewritten"),
    ),
    "stage": lambda w: run_git(w, "add", "-A"),
    "reset after copying": reset_after_copying,
    "soft reset": lambda w: (commit(w, "x"), run_git(w, "reset", "-q", "--soft", "HEAD~1")),
    "branch": lambda w: (run_git(w, "checkout", "-q", "-b", "mine"), commit(w, "done")),
    "orphan": lambda w: (run_git(w, "checkout", "-q", "--orphan", "mine"), commit(w, "done")),
    "init again": rewrite_git,
    "no git": lambda w: shutil.rmtree(w / ".git"),
    "git is a file": git_as_a_file,
    "broken git": lambda w: write(w, {".git/HEAD": b"\0\xff", ".git/index": b"junk"}),
    "hostile config": hostile_config,
}


@pytest.mark.parametrize("act", GIT_ACTS.values(), ids=GIT_ACTS.keys())
def test_nothing_done_with_git_changes_the_patch(
    workspace: Path, prepared: Prepared, act: Callable[[Path], object]
) -> None:
    """R34"""
    edit(workspace)
    plain = collect(workspace, prepared)
    assert plain.patch
    act(workspace)
    after = collect(workspace, prepared)
    assert (after.patch, after.diff, after.changed) == (plain.patch, plain.diff, plain.changed)
    assert not (workspace.parent / "canary").exists()


def test_an_untouched_workspace_gives_an_empty_patch(workspace: Path, prepared: Prepared) -> None:
    found = collect(workspace, prepared)
    assert (found.patch, found.diff, found.changed) == (b"", "", ())
    assert (found.response, found.script) == (None, None)


def test_the_text_view_shows_source_and_names_output(workspace: Path, prepared: Prepared) -> None:
    edit(workspace)
    write(workspace, {"results/table.csv": "a,b\n" * 100, "picture.png": b"\x89PNG\0"})
    found = collect(workspace, prepared)
    assert "+    rate = 0.1" in found.diff and "+print(1)" in found.diff
    assert "-rate: 0.5" in found.diff
    assert "# results/table.csv: 400 bytes, not shown" in found.diff
    assert "a,b" not in found.diff and "PNG" not in found.diff.replace("picture.png", "")
    assert found.changed == (
        "configs/base.yaml",
        "picture.png",
        "results/table.csv",
        "src/model.py",
        "src/new.py",
    )


def test_one_process_of_git_makes_patch_and_text(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of the time of collecting from a small tree is that of the processes that it starts."""
    started: list[object] = []

    class Counted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **settings: Any) -> None:
            started.append(args)
            super().__init__(*args, **settings)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    edit(workspace)
    write(workspace, {"results.csv": "a,b\n", "blob.py": b"\0", "link/.git": "x", "w.pyc": "x"})
    found = collect(workspace, prepared)
    assert found.patch and found.diff and found.left_out
    assert len(started) == 1


def test_deliverables_are_found_as_bytes(workspace: Path, prepared: Prepared) -> None:
    """R35"""
    write(
        workspace, {"response.json": b"\xff\xfe\0raw", "reproduce_exp_bench.sh": b"#!/bin/sh\r\n"}
    )
    found = collect(workspace, prepared)
    assert found.response == b"\xff\xfe\0raw"
    assert found.script == b"#!/bin/sh\r\n"


def test_a_deliverable_that_is_a_link_is_not_followed(workspace: Path, prepared: Prepared) -> None:
    """R28: ``response.json`` may point at a file of the host."""
    (workspace / "response.json").symlink_to("/etc/hostname")
    (workspace / "reproduce_exp_bench.sh").symlink_to("src/model.py")
    found = collect(workspace, prepared)
    assert (found.response, found.script) == (None, None)


CONTENTS: dict[str, bytes] = {
    "random bytes": bytes(range(256)) * 40,
    "latin-1": "naïve = 'é'\n".encode("latin-1"),
    "utf-16": "x = 1\n".encode("utf-16"),
    "nul": b"a\0b\n",
    "crlf": b"one\r\ntwo\r\n",
    "mixed ends": b"one\r\ntwo\nthree\rfour",
    "no newline": b"x",
    "split multibyte": "é".encode()[:1] + b"\n" + "é".encode()[1:],
    "surrogate": b"\xed\xa0\x80\n",
    "looks like a patch": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nGIT binary patch\n",
    "conflict": b"<<<<<<< HEAD\n=======\n>>>>>>> x\n",
    "trailing space": b"a  \n\t\n\n\n",
    "empty": b"",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_any_bytes_survive_as_new_file_and_as_change(
    workspace: Path, prepared: Prepared, tmp_path: Path, content: bytes
) -> None:
    """R33, R35: binary, undecodable and oddly ended files go out and in byte for byte."""
    write(workspace, {"src/added.py": content, "src/model.py": content, "src/__init__.py": content})
    found = collect(workspace, prepared)
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(workspace)
    found.diff.encode()
    back = collect(tmp_path / "again", prepared)
    assert back.patch == found.patch


NAMES = (
    b"with space.py",
    b" leading and trailing ",
    b"tab\there.py",
    b"new\nline.py",
    b'quote".py',
    b"apostrophe'.py",
    b"back\\slash.py",
    "emoji-🧪.py".encode(),
    "naïve.py".encode(),
    "nai\u0308ve.py".encode(),
    b"-rf.py",
    b"--output=x.py",
    b":(exclude)x.py",
    b"*.py",
    b"[ab]?.py",
    b"\xff\xfe-latin.py",
    b"a => b.py",
    b"b/ c.py",
    b"\x01\x7f.py",
    b"x" * 255,
)


def test_any_name_survives(workspace: Path, prepared: Prepared, tmp_path: Path) -> None:
    """R36: added, then changed and deleted through a base that has them."""
    for name in NAMES:
        path = child(workspace / "names", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content of " + name)
    found = collect(workspace, prepared)
    assert len(found.changed) == len(NAMES)
    assert "names/new\\nline.py" in found.changed
    assert all(name.isprintable() for name in found.changed)
    assert "names/\\xff\\xfe-latin.py" in found.changed
    assert found.diff.count("\ndiff --git") + 1 == len(NAMES)
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(workspace)
    shutil.rmtree(workspace / ".git")
    base = mask(from_folder(workspace, tmp_path / "cache"), ())
    for index, name in enumerate(NAMES):
        path = child(workspace / "names", name)
        path.unlink() if index % 2 else path.write_bytes(b"changed")
    found = collect(workspace, base)
    assert len(found.changed) == len(NAMES)
    materialise_patched(base, found.patch, tmp_path / "changed")
    assert snapshot(tmp_path / "changed") == snapshot(workspace)


def record(found: Collected) -> Submission:
    none = Blob(digest="0" * 64, size=0)
    return Submission(
        task_id="v/p/0",
        base_tree="",
        patch=none,
        text=none,
        changed=found.changed,
        left_out=found.left_out,
    )


def test_odd_names_fit_into_a_record(workspace: Path, prepared: Prepared) -> None:
    """R35: names that are not UTF-8 do not break the submission's JSON."""
    for name in (b"\xff.py", b"\xfe.pyc"):
        child(workspace, name).write_bytes(b"x")
    made = record(collect(workspace, prepared))
    assert Submission.model_validate_json(made.model_dump_json()) == made
    assert made.changed == ("\\xff.py",)
    assert "\\xfe.pyc" in [each.path for each in made.left_out]


def test_names_that_git_cannot_hold_are_listed(workspace: Path, prepared: Prepared) -> None:
    """R37: never silently dropped."""
    write(workspace, {"sub/.git": "gitdir: x", ".GIT/config": "x", "git~1": "x", "ok.py": "1\n"})
    found = collect(workspace, prepared)
    assert found.changed == ("ok.py",)
    assert {"sub/.git", ".GIT/config", "git~1"} <= {each.path for each in found.left_out}


PARTS = st.sampled_from(
    [
        *(
            ".git",
            ".GIT",
            "git~1",
            ".gitmodules",
            ".GitModules",
            "gitmod~1",
            "gitmod~5",
            "gi7eba~1",
        ),
        *(
            "gi7eb~12",
            "gi7eb~1",
            "~1234567",
            "~1",
            "g~123456",
            ".gitattributes",
            "a",
            ".",
            ":",
            ":x",
        ),
        *("\\", "/", "/", "x", "1", "~", "g", "\u200c", " "),
    ]
)
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("".join)


def is_path(name: str) -> bool:
    return not {"", ".", ".."}.intersection(name.split("/"))


@settings(max_examples=25, deadline=None)
@given(names=st.lists(PATHS.filter(is_path), min_size=50, max_size=80))
@example(names=[".git", "a/.GIT. :x", "git~1 /a", ".gitmodules", ".gitmodules/a", "\\gi7eba~1"])
def test_every_name_that_we_take_is_taken_by_git(names: list[str]) -> None:
    """R33, R37: a patch with one other name would not apply."""
    paths = [f"{number:03}/{name}" for number, name in enumerate(names)]
    with tempfile.TemporaryDirectory() as folder:
        run_git(Path(folder), "init", "-q")
        for mode in ("100644", "120000"):
            taken = [path for path in paths if git_holds(path.encode(), mode)]
            rows = "".join(f"{mode} {'1' * 40}\t{path}\0" for path in taken)
            run_git(Path(folder), "read-tree", "--empty")
            run_git(Path(folder), "update-index", "-z", "--index-info", stdin=rows.encode())
            held = run_git(Path(folder), "ls-files", "-z").split("\0")[:-1]
            assert held == taken


def test_a_name_with_unseen_characters_is_listed(
    workspace: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """R37, R28: no patch is applied that has one, so none may be in it."""
    write(workspace, {"a/.g\u200cit/config": "x", "ok.py": "1\n"})
    found = collect(workspace, prepared)
    assert found.changed == ("ok.py",)
    assert [each.path for each in found.left_out] == ["a/.g\\u200cit/config"]
    materialise_patched(prepared, found.patch, tmp_path / "again")


def test_a_change_that_git_passes_over_is_listed(tmp_path: Path) -> None:
    """R37: git takes a file below a folder ``.gitmodules``, but not a link in its place."""
    write(tmp_path / "tree", {".gitmodules/a": "1\n", "b.py": "1\n"})
    base = mask(from_folder(tmp_path / "tree", tmp_path / "cache"), ())
    materialise(base, tmp_path / "w")
    (tmp_path / "w/.gitmodules/a").unlink()
    (tmp_path / "w/.gitmodules/a").symlink_to("../b.py")
    found = collect(tmp_path / "w", base)
    assert found.changed == () and found.patch == b""
    assert ".gitmodules/a" in {each.path for each in found.left_out}


def test_a_link_may_give_way_to_a_folder(
    workspace: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """R33: though git sees the same link elsewhere as renamed."""
    (workspace / "latest").rename(workspace / "moved")
    write(workspace, {"latest/a.py": "1\n"})
    found = collect(workspace, prepared)
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(workspace)


def test_the_files_of_a_nested_repository_are_captured(
    workspace: Path, prepared: Prepared, upstream: Upstream, tmp_path: Path
) -> None:
    """R38: an agent that clones something loses nothing but the clone's own .git."""
    run_git(workspace, "clone", "-q", str(upstream.root), "vendor/lib")
    found = collect(workspace, prepared)
    assert "vendor/lib/src/model.py" in found.changed
    assert "vendor/lib/.git/" in {each.path for each in found.left_out}
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(workspace)


def test_caches_environments_and_large_files_are_listed(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37"""
    monkeypatch.setattr("expbench.workspace.submission.scan.FILE_CAP", 5000)
    write(
        workspace,
        {
            "env/pyvenv.cfg": "home = /usr",
            "env/lib/x.py": "x",
            "src/__pycache__/a.pyc": "x",
            "node_modules/m/index.js": "x",
            "loose.pyc": "x",
            "weights.pt": b"w" * 5001,
            "fits.pt": b"w" * 5000,
            "src/model.py": "m" * 5001,
        },
    )
    found = collect(workspace, prepared)
    reasons = {each.path: each.reason for each in found.left_out}
    assert reasons["env/"] == "virtual environment"
    assert (
        reasons["src/__pycache__/"] == reasons["node_modules/"] == reasons["loose.pyc"] == "cache"
    )
    assert "larger" in reasons["weights.pt"] and "larger" in reasons["src/model.py"]
    assert {each.path: each.size for each in found.left_out}["weights.pt"] == 5001
    assert found.changed == ("fits.pt",)


def test_the_total_cap_drops_outputs_before_source(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37: source files are never dropped for results that come first by name."""
    monkeypatch.setattr("expbench.workspace.submission.scan.TOTAL_CAP", 10_000)
    for folder in ("a_results", "zz_results"):
        write(workspace, {f"{folder}/{i}.csv": b"x" * 3000 for i in range(5)})
    write(workspace, {"src/model.py": "m = 1\n" * 500, "z/last.py": "n = 1\n"})
    found = collect(workspace, prepared)
    assert {"src/model.py", "z/last.py", "a_results/0.csv"} <= set(found.changed)
    dropped = [each for each in found.left_out if each.reason == "larger than the patch may be"]
    assert len(dropped) == 8 and all("_results/" in each.path for each in dropped)


def test_too_many_files_hide_no_change_of_the_base(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37: files behind the cap are neither deleted by the patch nor left unchanged."""
    monkeypatch.setattr("expbench.workspace.submission.walk.FILES_CAP", 50)
    write(workspace, {f"zz/{i}.txt": "x" for i in range(100)})
    write(workspace, {"src/model.py": "changed\n"})
    (workspace / "configs/base.yaml").unlink()
    found = collect(workspace, prepared)
    assert "configs/base.yaml" in found.changed and "src/model.py" in found.changed
    assert "run.sh" not in found.changed and "src/__init__.py" not in found.changed
    assert any("more than 50 files" in each.reason for each in found.left_out)


def test_a_flood_of_left_out_files_is_counted_not_listed(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37, R28: the record stays small and says how many more there are."""
    monkeypatch.setattr("expbench.workspace.submission.manifest.LISTED_CAP", 10)
    write(workspace, {f"{i}.pyc": "x" for i in range(100)})
    found = collect(workspace, prepared)
    assert len(found.left_out) == 11
    assert found.left_out[-1].reason == "90 more"


@pytest.fixture
def odd_things(workspace: Path) -> Iterator[Path]:
    """Everything that may lie in a folder and is no plain file."""
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(workspace)
        listener.bind("socket")
        os.chdir(here)
        (workspace / "host").symlink_to("/etc")
        (workspace / "loop").symlink_to("loop")
        (workspace / "sub").mkdir()
        (workspace / "sub/up").symlink_to("../../../../../etc/passwd")
        for name in ("huge.bin", "src/model.py"):
            with (workspace / name).open("wb") as file:
                file.truncate(1 << 40)
        write(workspace, {"locked/inside.py": "1\n", "secret.py": "2\n", "half/inside.py": "3\n"})
        (workspace / "secret.py").chmod(0)
        (workspace / "locked").chmod(0)
        (workspace / "half").chmod(0o400)
        yield workspace


def test_odd_things_are_listed_in_bounded_time(
    odd_things: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """R28: no wait on a pipe, no link followed, no terabyte read, no mode in the way."""
    started = time.monotonic()
    found = collect(odd_things, prepared)
    assert time.monotonic() - started < 10
    assert len(found.patch) < 100_000
    reasons = {each.path: each.reason for each in found.left_out}
    assert reasons["pipe"] == reasons["socket"] == "neither file, folder nor symbolic link"
    assert "sparse, not read" in reasons["huge.bin"]
    assert reasons["src/model.py"] == "larger than 20 MiB; sparse, not read"
    assert set(found.changed) == {
        "half/inside.py",
        "host",
        "locked/inside.py",
        "loop",
        "secret.py",
        "sub/up",
    }
    materialise_patched(prepared, found.patch, tmp_path / "again")
    again = snapshot(tmp_path / "again")
    assert again["host"] == ("l", b"/etc")
    assert again["secret.py"] == ("f", b"2\n")
    assert "root:" not in found.diff


def test_a_path_that_is_too_long_is_listed(workspace: Path, prepared: Prepared) -> None:
    """R28: folders in folders beyond what a path can name."""
    here = Path.cwd()
    os.chdir(workspace)
    try:
        for _ in range(30):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
        Path("deep.py").write_text("x")
    finally:
        os.chdir(here)
    write(workspace, {"src/new.py": "1\n"})
    found = collect(workspace, prepared)
    assert found.changed == ("src/new.py",)
    assert any("its path is longer" in each.reason for each in found.left_out)
    subprocess.run(["rm", "-rf", workspace / ("d" * 200)], check=True)


def test_many_files_with_long_paths_fit_a_command_line(workspace: Path, prepared: Prepared) -> None:
    """R29: no list of the agent's making grows past what a process may be given."""
    folder = "/".join(["d" * 250] * 7)
    write(workspace, {f"{folder}/{i}.py": f"n = {i}\n" for i in range(300)})
    found = collect(workspace, prepared)
    assert len(found.changed) == 300
    assert "+n = 299" in found.diff


@pytest.mark.parametrize(
    ("name", "size", "reason"),
    [
        ("models/best.pt", LARGE + 1, "model weights"),
        ("best.safetensors", LARGE + 1, "model weights"),
        ("best.pt", LARGE, ""),
        ("checkpoints/state", LARGE + 1, "data or checkpoint"),
        ("checkpoints/state", LARGE, ""),
        ("data/raw/train-images", LARGE + 1, "data or checkpoint"),
        ("data/train.json", LARGE + 1, "data or checkpoint"),
        ("data/small.json", 100, ""),
        ("data/make.py", LARGE + 1, ""),
        ("results/table.csv", LARGE + 1, ""),
        ("wandb/run-1/media.dat", 10, "records of an experiment tracker"),
        ("mlruns/0/metrics/loss", 10, "records of an experiment tracker"),
        ("lightning_logs/version_0/hparams.yaml", 10, ""),
        ("wandb/run-1/code/train.py", 10, ""),
        ("release.tar.gz", LARGE + 1, "archive"),
        ("uv.lock", 10, "lock file"),
        ("web/package-lock.json", 10, "lock file"),
        ("setup.lock.py", 10, ""),
        ("a.pyc", 10, "cache"),
        ("notebook.ipynb", 3 * LARGE, ""),
        ("checkpoints/train.py", 3 * LARGE, ""),
        ("datasets/config.yaml", LARGE, ""),
    ],
)
def test_what_is_large_or_made_again_is_listed_with_its_digest(
    workspace: Path, prepared: Prepared, name: str, size: int, reason: str
) -> None:
    """R37: an ignore list that never drops source, nor what a script may read."""
    content = os.urandom(size)
    write(workspace, {name: content})
    found = collect(workspace, prepared)
    if reason:
        digest = hashlib.sha256(content).hexdigest()
        row = LeftOut(path=name, size=size, reason=reason, digest=digest)
        assert found.left_out == (row,) and not found.changed
    else:
        assert found.changed == (name,) and not found.left_out


def test_what_the_base_tree_has_is_never_ignored(tmp_path: Path) -> None:
    """R37: its lock files, weights, data, and whatever lies in a folder that is a cache elsewhere."""
    names = ["uv.lock", "w.pt", "data/d", "node_modules/m.js", "env/pyvenv.cfg", "wandb/x"]
    write(tmp_path / "tree", dict.fromkeys(names, b"a" * (LARGE + 1)))
    base = mask(from_folder(tmp_path / "tree", tmp_path / "cache"), ())
    materialise(base, tmp_path / "w")
    write(tmp_path / "w", dict.fromkeys(names, b"b" * (LARGE + 2)))
    found = collect(tmp_path / "w", base)
    assert found.changed == tuple(sorted(names)) and not found.left_out


def test_a_folder_that_is_left_out_has_one_row(workspace: Path, prepared: Prepared) -> None:
    """R37: with size and number of all that is below it."""
    files = {f"env/lib/p{i}.py": "x" * 100 for i in range(50)}
    write(workspace, {"env/pyvenv.cfg": "home = /usr", **files})
    found = collect(workspace, prepared)
    row = LeftOut(path="env/", size=5011, reason="virtual environment", files=51)
    assert found.left_out == (row,)


def test_code_in_a_virtual_environment_is_captured(workspace: Path, prepared: Prepared) -> None:
    """R37: an agent that makes its experiment's folder an environment, or the root itself."""
    packages = "lib/python3.11/site-packages"
    for top in ("", "exp/"):
        write(
            workspace,
            {
                f"{top}pyvenv.cfg": "home = /usr",
                f"{top}train.py": "rate = 1\n",
                f"{top}{packages}/torch/big.py": "x",
            },
        )
    found = collect(workspace, prepared)
    assert found.changed == ("exp/pyvenv.cfg", "exp/train.py", "pyvenv.cfg", "train.py")
    left = {each.path: each.reason for each in found.left_out}
    assert left == dict.fromkeys((f"{packages}/", f"exp/{packages}/"), "installed packages")


def test_digests_are_bounded(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R28: what a manifest reads has a bound, and each row without a digest says so."""
    monkeypatch.setattr("expbench.workspace.submission.manifest.DIGESTS_CAP", 250)
    write(workspace, {f"{i}.pyc": bytes(100) for i in range(4)})
    rows = collect(workspace, prepared).left_out
    assert [bool(row.digest) for row in rows] == [True, True, False, False]
    assert rows[3].reason == "cache; too large to be read"


def test_a_flood_in_one_folder_hides_no_source_elsewhere(
    workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37, R28: outputs and source have a cap each, and all that is dropped is counted."""
    monkeypatch.setattr("expbench.workspace.submission.walk.FILES_CAP", 20)
    write(workspace, {f"a_out/{i}.dat": "x" for i in range(50)})
    write(workspace, {f"a_out/deep/{i}.py": "x" for i in range(10)})
    write(workspace, {"zz/last.py": "1\n"})
    found = collect(workspace, prepared)
    assert "zz/last.py" in found.changed
    assert len([name for name in found.changed if name.endswith(".py")]) == 11
    assert sum(row.files for row in found.left_out) == 30


def test_a_walk_ends(workspace: Path, prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """R28: beyond its cap only what the base tree has is looked at."""
    monkeypatch.setattr("expbench.workspace.submission.walk.WALK_CAP", 30)
    write(workspace, {f"new/{i}/{j}.py": "x" for i in range(10) for j in range(10)})
    write(workspace, {"src/model.py": "changed\n"})
    (workspace / "docs/README.md").unlink()
    found = collect(workspace, prepared)
    assert {"src/model.py", "docs/README.md"} < set(found.changed)
    assert len(found.changed) == 32
    assert any("more than 30 entries" in row.reason for row in found.left_out)


def test_large_deletions_make_no_large_patch(tmp_path: Path) -> None:
    """R36, R37: an agent that deletes the data of a repository; any name, links and binaries too."""
    tree = tmp_path / "tree"
    for name in (b"a b.bin", b'\xff\n"q\\.bin', "naïve.py".encode(), b"plain.py"):
        write(tree, {"d/keep.py": "1\n"})
        child(tree / "d", name).write_bytes(os.urandom(6 * LARGE))
        (child(tree / "d", name)).chmod(0o755)
    (tree / "link").symlink_to("d")
    base = mask(from_folder(tree, tmp_path / "cache"), ())
    materialise(base, tmp_path / "w")
    for path in (tmp_path / "w/d").iterdir():
        path.unlink()
    (tmp_path / "w/link").unlink()
    write(tmp_path / "w", {"d/plain.py/inside.py": "2\n"})
    found = collect(tmp_path / "w", base)
    assert len(found.patch) < 5000 and len(found.diff) < 5000
    assert "# d/plain.py: deleted, not shown" in found.diff
    materialise_patched(base, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "w")


def test_source_among_large_deletions_is_shown(tmp_path: Path) -> None:
    """R37: the patch does without its content, the text view does not."""
    lines = "".join(f"line = {number}\n" for number in range(1000))
    files: dict[str, str | bytes] = {f"data/{n}.npy": os.urandom(6 * LARGE) for n in range(4)}
    write(tmp_path / "tree", {**files, "solver.py": lines, "kept.py": "1\n"})
    base = mask(from_folder(tmp_path / "tree", tmp_path / "cache"), ())
    materialise(base, tmp_path / "w")
    for name in (*files, "solver.py"):
        (tmp_path / "w" / name).unlink()
    write(tmp_path / "w", {"added.py": "1\n", "zz.py": "2\n"})
    found = collect(tmp_path / "w", base)
    assert b"line = 999" not in found.patch
    assert found.diff.count("\n-line = ") == 1000
    places = [found.diff.index(f"diff --git a/{name}") for name in ("added", "solver", "zz")]
    assert places == sorted(places)
    materialise_patched(base, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "w")


def test_a_change_of_mode_alone_is_a_change(
    workspace: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """R33"""
    (workspace / "src/model.py").chmod(0o755)
    (workspace / "run.sh").chmod(0o644)
    found = collect(workspace, prepared)
    assert found.changed == ("run.sh", "src/model.py")
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(workspace)


def test_a_link_in_place_of_a_folder_is_not_entered(
    workspace: Path, prepared: Prepared, tmp_path: Path
) -> None:
    """R28: the files that a link leads to are not the agent's."""
    outside = tmp_path / "outside"
    write(outside, {"model.py": "class Model:\n    pass\n", "secret.py": "host = 1\n"})
    shutil.rmtree(workspace / "src")
    (workspace / "src").symlink_to(outside)
    found = collect(workspace, prepared)
    assert found.changed == ("src", "src/__init__.py", "src/model.py")
    assert "host" not in found.diff


def test_no_part_of_a_path_may_be_a_link(tmp_path: Path) -> None:
    """R28: also where a link took a folder's or file's place after it was listed."""
    write(tmp_path / "outside", {"secret": "host"})
    write(tmp_path / "w", {"a/b/file": "mine"})
    (tmp_path / "w/link").symlink_to("../outside/secret")
    (tmp_path / "w/a/out").symlink_to("../../outside")
    os.mkfifo(tmp_path / "w/pipe")
    with Folder(os.fsencode(tmp_path / "w")) as folder:
        handle = folder.open(b"a/b/file")
        assert os.read(handle, 10) == b"mine"
        os.close(handle)
        for path in (b"link", b"a/out/secret", b"pipe"):
            with pytest.raises(OSError):
                folder.open(path)
        for act in (folder.status, folder.readlink):
            with pytest.raises(OSError):
                act(b"a/out/secret")


def test_a_workspace_that_is_not_there_is_an_instrument_failure(
    prepared: Prepared, tmp_path: Path
) -> None:
    """Never an empty submission."""
    with pytest.raises(InfrastructureError, match="cannot be read"):
        collect(tmp_path / "none", prepared)


# --- the text view -------------------------------------------------------------------------------


def notebook(code: str, output: str) -> str:
    cell = {"cell_type": "code", "source": code.splitlines(True), "outputs": [{"text": output}]}
    prose = {"cell_type": "markdown", "source": "prose"}
    return json.dumps({"cells": [prose, cell], "nbformat": 4})


def test_a_notebook_is_shown_as_its_code(tmp_path: Path) -> None:
    """R37: and its bytes are in the patch all the same."""
    names = ("changed.ipynb", "deleted.ipynb", "rerun.ipynb")
    write(tmp_path / "tree", {name: notebook("a = 1\nb = 2\n", "old") for name in names})
    base = mask(from_folder(tmp_path / "tree", tmp_path / "cache"), ())
    materialise(base, tmp_path / "w")
    (tmp_path / "w/deleted.ipynb").unlink()
    files: dict[str, str | bytes] = {
        "changed.ipynb": notebook("a = 1\nb = 3\n", "output-text"),
        "rerun.ipynb": notebook("a = 1\nb = 2\n", "output-text"),
        "new.ipynb": notebook("c = 4", "output-text"),
        "broken.ipynb": '{"cells": [{"cell_type": "code", "source": "d = 5"',
        "odd.ipynb": '[{"cells": 1}]',
        "binary.ipynb": b"\0\1\2",
        "nul.ipynb": notebook("e = '\0'", ""),
    }
    write(tmp_path / "w", files)
    found = collect(tmp_path / "w", base)
    assert "a/changed.ipynb (code cells)" in found.diff
    assert "-b = 2\n+b = 3\n" in found.diff and "+c = 4\n" in found.diff
    assert "-a = 1\n-b = 2\n" in found.diff
    assert "output-text" not in found.diff and "prose" not in found.diff
    assert "d = 5" in found.diff and "+e = '" in found.diff
    size = len(files["rerun.ipynb"])
    assert f"# rerun.ipynb: {size} bytes, no code changed, not shown" in found.diff
    assert "# binary.ipynb: 3 bytes, no readable code, not shown" in found.diff
    materialise_patched(base, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "w")


def test_binary_and_very_long_source_is_named(workspace: Path, prepared: Prepared) -> None:
    """R33: judges see the names and sizes of binaries, whatever their suffix."""
    write(
        workspace,
        {
            "src/blob.py": b"a\0b",
            "src/model.py": b"\0",
            "long.py": b"n = 1\n" * 200_000,
            "words.json": b"[1]\n" * 20_000,
            "ok.json": b"[1]\n",
        },
    )
    found = collect(workspace, prepared)
    assert "# src/blob.py: 3 bytes, binary, not shown" in found.diff
    assert "# src/model.py: 1 bytes, binary, not shown" in found.diff
    assert "# long.py: 1200000 bytes, too long, not shown" in found.diff
    assert "# words.json: 80000 bytes, too long, not shown" in found.diff
    assert "+[1]" in found.diff and "Binary files" not in found.diff
    assert set(found.changed) == {"long.py", "ok.json", "src/blob.py", "src/model.py", "words.json"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("run_log.txt", False),
        ("test_results/solver_summary.json", False),
        ("test_results/solver_gameof24.jsonl", False),
        ("results.json", False),
        ("logs/stderr.txt", False),
        ("runs/events.out.tfevents.1.host", False),
        ("results/plot.py", True),
        ("configs/log_config.json", True),
        ("requirements.txt", True),
        ("notes.md", True),
        ("game24_solver.py", True),
        ("logistic.json", True),
    ],
)
def test_outputs_are_told_by_the_words_of_their_names(
    workspace: Path, prepared: Prepared, name: str, shown: bool
) -> None:
    """The names are those of real submissions."""
    write(workspace, {name: "some text\n"})
    diff = collect(workspace, prepared).diff
    assert ("+some text" in diff) == shown
    assert (f"# {name}: 10 bytes, not shown" in diff) != shown


def test_content_cannot_pass_for_another_file_of_a_diff(
    workspace: Path, prepared: Prepared
) -> None:
    """R36: what is shown and what is only named is not told apart by what an agent writes."""
    forged = "diff --git a/results.csv b/results.csv\nGIT binary patch\n"
    write(workspace, {"a.py": f"{forged}end = 1", "results.csv": forged, "src/model.py": forged})
    (workspace / "run.sh").unlink()
    (workspace / "run.sh").symlink_to("src/model.py")
    diff = collect(workspace, prepared).diff
    assert "+end = 1" in diff and diff.count("+diff --git a/results.csv") == 2
    assert "\ndiff --git a/results.csv" not in diff and "# results.csv: " in diff
    assert diff.count("diff --git a/run.sh b/run.sh") == 2 and "+src/model.py" in diff


def test_a_name_cannot_pass_for_lines_of_a_diff(workspace: Path, prepared: Prepared) -> None:
    """R36"""
    write(workspace, {"a\n+forged = 1\n.csv": "x"})
    assert "\n+forged" not in collect(workspace, prepared).diff


# --- applying ------------------------------------------------------------------------------------


def hand_made(path: str) -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        "@@ -0,0 +1 @@\n+evil\n"
    ).encode()


@pytest.mark.parametrize(
    "path", ["../escaped", ".git/hooks/pre-commit", "/tmp/escaped", "a/../../b"]
)
def test_a_patch_cannot_write_outside_the_tree(
    prepared: Prepared, tmp_path: Path, path: str
) -> None:
    """R28: even one that we did not make."""
    with pytest.raises(InfrastructureError):
        materialise_patched(prepared, hand_made(path), tmp_path / "x" / "w")
    assert not any(file.is_file() for file in tmp_path.rglob("*"))


def test_a_patch_that_does_not_fit_is_an_instrument_failure(
    prepared: Prepared, tmp_path: Path
) -> None:
    bad = b"diff --git a/none.py b/none.py\n--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n"
    with pytest.raises(InfrastructureError):
        materialise_patched(prepared, bad, tmp_path / "w")
