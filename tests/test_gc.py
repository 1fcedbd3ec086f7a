"""``expbench gc``: what it frees, what it leaves, and what it says of both."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expbench.cli.main import app
from expbench.dataset import Suite
from expbench.judges.base import verdict_on
from expbench.judges.cache import Kept, VerdictFolder
from expbench.paths import CachePaths
from expbench.programs import ProgramRecord, ProgramShelf
from expbench.sandboxes.environment import python_environment
from expbench.schema import RubricItem
from expbench.workspace import SourceFinder
from expbench.workspace.repository.making import once_folder, unfinished

NOBODY = 65534
DEAD = 2**22 + 7
"""A process id that no kernel gives."""


class Cache:
    """A cache of its own and the command that frees it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths = CachePaths(folder / "expbench")
        self.environment = {"XDG_CACHE_HOME": str(folder), "COLUMNS": "200"}
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)

    def __call__(self, *args: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["gc", *args])
        assert done.exit_code == code, done.output
        if code:
            sentence = done.stderr.strip()
            assert sentence.startswith("expbench: ") and "\n" not in sentence
            return sentence
        return done.stdout

    def json(self, *args: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*args, "--json"))
        return found

    def states(self, *args: str) -> dict[str, str]:
        """What became of each thing, by its path."""
        return {item["path"]: item["state"] for item in self.json(*args)["items"]}

    def used(self) -> int:
        """Bytes that its files take of the disk."""
        count = ["du", "--summarize", "--block-size=1", str(self.paths.root)]
        return int(subprocess.run(count, capture_output=True, check=True).stdout.split()[0])

    def everything(self) -> dict[str, tuple[int, float]]:
        found = (path for path in self.paths.root.rglob("*"))
        return {str(path): (path.lstat().st_mode, path.lstat().st_mtime) for path in found}


@pytest.fixture
def gc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    return Cache(tmp_path / "home", monkeypatch)


@pytest.fixture
def filled(gc: Cache, mini: Suite) -> Cache:
    """A cache with two trees, their repositories and an environment, none of them in use."""
    finder = SourceFinder(gc.paths.repos)
    for task in mini.select(("mini/calibration/0", "mini/calibration/2", "mini/bandits/0")):
        finder.prepared(task)
    python_environment(gc.paths.envs)
    return gc


def age(root: Path, days: float) -> None:
    then = time.time() - days * 24 * 3600
    for path in [root, *root.rglob("*")]:
        os.utime(path, (then, then), follow_symlinks=False)


def workspace(gc: Cache, name: str) -> Path:
    folder = gc.paths.work / name
    (folder / "upper").mkdir(parents=True)
    (folder / "upper" / "result.txt").write_text("x" * 5000)
    return folder


@pytest.fixture
def living() -> Iterator[str]:
    """How the workspaces of a process that lives are named."""
    with subprocess.Popen(["sleep", "60"]) as process:
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        yield f"{process.pid}-{stat.rpartition(')')[2].split()[19]}"
        process.kill()


# --- what is freed -------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing_and_tells_what_the_real_one_frees(filled: Cache) -> None:
    workspace(filled, f"{DEAD}-1-abc")
    before = filled.everything()
    told = filled.json("--repos", "--envs", "--dry-run")
    assert filled.everything() == before
    size = filled.used()
    done = filled.json("--repos", "--envs")
    assert done["items"] == told["items"]
    assert done["bytes"] == told["bytes"] == sum(item["bytes"] for item in done["items"])
    assert filled.used() == size - done["bytes"], "the number is du's"
    assert {kind: counts["freed"] for kind, counts in done["kinds"].items()} == {
        "workspace": 1,
        "unfinished": 0,
        "tree": 2,
        "repository": 2,
        "environment": 1,
        "program": 0,
        "verdict": 0,
    }
    left = {path.relative_to(filled.paths.root).as_posix() for path in filled.paths.root.rglob("*")}
    assert left == {"repos", "repos/trees", "envs", "work"}


def test_repositories_and_environments_are_freed_only_when_asked_for(filled: Cache) -> None:
    assert filled.json()["kinds"]["tree"]["freed"] == 2
    assert len(list(filled.paths.repos.glob("*.git"))) == 2
    assert len(list(filled.paths.envs.iterdir())) == 1
    assert filled.json("--repos")["kinds"]["repository"]["freed"] == 2
    assert filled.json("--envs")["kinds"]["environment"]["freed"] == 1


def test_verdicts_are_freed_only_when_asked_for(gc: Cache) -> None:
    """They cost money; halves of what a killed process wrote go at any time, after an hour."""
    folder = VerdictFolder(gc.paths.verdicts)
    old, new = "ab" + "1" * 62, "ab" + "2" * 62
    item = RubricItem(id="design/0", phase="design", kind="constant", text="seeds: 5")
    for key in (old, new):
        folder.put(key, Kept(verdict=verdict_on(item, True, "five seeds")))
    shard = gc.paths.verdicts / "ab"
    halves = [shard / ".put-dead", shard / ".put-alive"]
    for path in (*halves, shard / "notes.json"):
        path.write_text("x" * 5000)
    for path in (shard / f"{old[2:]}.json", halves[0]):
        os.utime(path, (0, 0))

    assert gc.states("--dry-run") == {"verdicts/ab/.put-dead": "freed"}
    assert gc.states() == {"verdicts/ab/.put-dead": "freed"}
    size = gc.used()
    done = gc.json("--verdicts", "--keep-days", "7")
    states = {item["path"]: item["state"] for item in done["items"]}
    assert states == {
        f"verdicts/ab/{old[2:]}.json": "freed",
        f"verdicts/ab/{new[2:]}.json": "recent",
    }
    assert done["bytes"] == size - gc.used() > 0
    assert folder.get(old) is None and folder.get(new) is not None
    assert "judges' verdicts" in gc("--verdicts")
    assert folder.get(new) is None
    assert sorted(path.name for path in shard.iterdir()) == [".put-alive", "notes.json"]


def program(gc: Cache, digest: str, name: str, made: int) -> Path:
    """An installed program; ``made`` orders those of one name."""
    folder = gc.paths.agents / digest
    (folder / "root" / "bin").mkdir(parents=True)
    (folder / "root" / "bin" / name).write_bytes(os.urandom(5000))
    record = ProgramRecord(
        name=name, version=f"{made}.0", kind="npm", parts=(), made=f"2025-01-0{made}T00:00:00"
    )
    (folder / "record.json").write_text(record.model_dump_json())
    for beside in (".lock", ".making"):
        folder.with_suffix(beside).touch()
    return folder


def test_programs_that_later_ones_replaced_go_and_the_others_when_asked_for(gc: Cache) -> None:
    old, new = program(gc, "a" * 16, "codex_cli", 1), program(gc, "b" * 16, "codex_cli", 2)
    other, strange = program(gc, "c" * 16, "opencode", 1), gc.paths.agents / "mine"
    strange.mkdir()
    shelf = ProgramShelf(gc.paths.agents)
    held = shelf.find(old.name)
    assert held is not None
    assert gc.states() == {f"agents/{old.name}": "in use"}
    held.close()
    assert gc.states("--keep-days", "1") == {f"agents/{old.name}": "recent"}
    assert gc.states("--dry-run") == {f"agents/{old.name}": "freed"}
    size = gc.used()
    done = gc.json()
    assert gc.used() == size - done["bytes"] and done["bytes"] > 5000
    assert {digest for digest, _ in shelf.installed()} == {new.name, other.name}
    assert "agents' programs" in gc("--agents")
    assert list(gc.paths.agents.iterdir()) == [strange], "locks go with what they are of"


def test_an_installation_that_nobody_finishes_goes(gc: Cache) -> None:
    dead = gc.paths.agents / f"{unfinished()}{DEAD}-x"
    dead.mkdir(parents=True)
    no_record = program(gc, "d" * 16, "opencode", 1)
    (no_record / "record.json").unlink()
    assert gc.states() == {f"agents/{dead.name}": "freed"}
    assert gc.states("--agents") == {f"agents/{no_record.name}": "freed"}


def test_a_file_with_two_links_is_counted_when_the_last_goes(gc: Cache, tmp_path: Path) -> None:
    """Large blobs lie in the repository and, linked, in the tree and its layers: once on the disk."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "large.bin").write_bytes(os.urandom(3_000_000))
    script = (
        "import sys; from pathlib import Path; from expbench.workspace import *; "
        "mask(from_folder(Path(sys.argv[1]), Path(sys.argv[2])), ())"
    )
    command = [sys.executable, "-c", script, str(tree), str(gc.paths.repos)]
    subprocess.run(command, check=True, timeout=60)
    size = gc.used()
    trees = gc.json()["bytes"]
    assert gc.used() == size - trees
    size = gc.used()
    repositories = gc.json("--repos")["bytes"]
    assert repositories > 3_000_000
    assert gc.used() == size - repositories


def test_the_table_says_what_was_freed_and_what_stayed(
    filled: Cache, mini: Suite, living: str
) -> None:
    workspace(filled, f"{living}-abc")
    workspace(filled, f"{DEAD}-1-abc")
    held = SourceFinder(filled.paths.repos).prepared(mini.task("mini/bandits/0"))
    lines = filled("--repos", "--envs").splitlines()
    head = lines[0].split("  ")
    assert [word.strip() for word in head if word] == [
        "what",
        "freed",
        "size",
        "in use",
        "recent",
        "failed",
    ]
    rows = {line.split("  ")[0].strip(): line.split()[-4:] for line in lines[1:-1]}
    assert rows["frozen trees with their layers"][-1] == "1"
    assert rows["Python environments"][-1] == "1"
    assert "workspaces of runs that were killed" in rows
    assert "freed of" in lines[-1]
    assert held.frozen.folder.is_dir()


def test_what_is_freed_is_made_again(filled: Cache, mini: Suite, tmp_path: Path) -> None:
    filled("--repos", "--envs")
    arguments = ["tasks", "prepare", "mini/calibration/0", str(tmp_path / "w")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (tmp_path / "w" / ".git").is_dir()


# --- what stays ----------------------------------------------------------------------------------


def test_workspaces_of_living_processes_stay(gc: Cache, living: str) -> None:
    mine = workspace(gc, f"{living}-abc")
    reborn = workspace(gc, f"{living.partition('-')[0]}-1-abc")
    strange = workspace(gc, "notes")
    assert gc.states() == {f"work/{mine.name}": "in use", f"work/{reborn.name}": "freed"}
    assert mine.is_dir() and strange.is_dir() and not reborn.exists()


def test_a_locked_workspace_of_a_dead_process_is_removed(gc: Cache) -> None:
    folder = workspace(gc, f"{DEAD}-1-abc")
    (folder / "upper").chmod(0)
    folder.chmod(0o500)
    assert gc.states() == {f"work/{folder.name}": "freed"}
    assert not folder.exists()


def test_an_environment_stays_while_anyone_uses_the_cache(
    filled: Cache, mini: Suite, living: str
) -> None:
    (environment,) = filled.paths.envs.iterdir()
    name = f"envs/{environment.name}"
    mine = workspace(filled, f"{living}-abc")
    assert filled.states("--envs")[name] == "in use"
    shutil.rmtree(mine)
    source = SourceFinder(filled.paths.repos).source(mini.task("mini/bandits/0"))
    assert filled.states("--envs")[name] == "in use"
    del source
    assert environment.is_dir()
    assert filled.states("--envs")[name] == "freed"


def test_what_was_used_in_the_days_to_keep_stays(filled: Cache, mini: Suite) -> None:
    options = ("--repos", "--envs", "--keep-days", "7")
    assert set(filled.states(*options).values()) == {"recent"}
    age(filled.paths.root, days=8)
    SourceFinder(filled.paths.repos).prepared(mini.task("mini/bandits/0"))
    kinds = filled.json(*options)["kinds"]
    assert (kinds["tree"]["freed"], kinds["tree"]["recent"]) == (1, 1)
    assert (kinds["repository"]["freed"], kinds["repository"]["recent"]) == (1, 1)
    assert kinds["environment"]["freed"] == 1
    assert set(filled.states("--keep-days", "0.5", "--repos").values()) == {"recent"}


def test_unfinished_things_go_when_nobody_makes_them(gc: Cache) -> None:
    """Of dead processes at once; of living ones never while they work, of others after a day."""
    repos = gc.paths.repos
    layers = repos / "trees" / ("a" * 40) / "layers"
    layers.mkdir(parents=True)
    dead = [
        place / f"{unfinished()}{DEAD}-x"
        for place in (repos, repos / "trees", layers, gc.paths.envs)
    ]
    own, other = repos / f"{unfinished()}{os.getpid()}-x", repos / ".making-elsewhere-1-x"
    for folder in (*dead, own, other):
        (folder / "objects").mkdir(parents=True)
    found = {path for path, state in gc.states("--keep-days", "9").items() if state == "freed"}
    assert found == {str(path.relative_to(gc.paths.root)) for path in dead}
    age(own, days=2)
    age(other, days=2)

    def build(folder: Path) -> None:
        age(folder, days=2)
        kept = [f"repos/{name.name}" for name in (own, other)]
        assert sorted(p for p in gc.states() if ".making" in p) == sorted(kept)
        assert folder.is_dir()

    once_folder(repos / "made", build)
    assert not own.exists() and not other.exists()


def test_run_folders_and_strange_names_are_never_touched(filled: Cache, tmp_path: Path) -> None:
    run = filled.paths.root / "runs" / "a"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (filled.paths.work / f"{DEAD}-1-link").parent.mkdir(exist_ok=True)
    for folder in (run, filled.paths.repos / "mine.git", filled.paths.repos / "trees" / "mine"):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (filled.paths.repos / f"{unfinished()}{DEAD}-link").symlink_to(elsewhere)
    filled("--repos", "--envs")
    assert (run / "file").is_file()
    assert (filled.paths.repos / "mine.git" / "file").is_file()
    assert (filled.paths.repos / "trees" / "mine" / "file").is_file()
    assert (elsewhere / "file").is_file()
    assert not list(filled.paths.repos.glob(".making-*"))


def test_a_tree_without_a_lock_and_a_lock_without_a_tree_go(filled: Cache) -> None:
    trees = filled.paths.repos / "trees"
    first, second = sorted(path for path in trees.iterdir() if path.is_dir())
    first.with_name(f"{first.name}.lock").unlink()
    shutil.rmtree(second)
    assert filled.states() == {f"repos/trees/{first.name}": "freed"}
    assert list(trees.iterdir()) == []


# --- what a user can mend ------------------------------------------------------------------------


def test_without_a_cache_there_is_nothing_to_free(gc: Cache) -> None:
    assert "nothing to free" in gc()
    assert gc.json()["items"] == []
    assert not gc.paths.root.exists()


@pytest.mark.parametrize("name", ["", "repos", "work", "envs", "agents", "verdicts"])
def test_a_cache_that_is_a_file_is_a_sentence(gc: Cache, name: str) -> None:
    place = gc.paths.root / name
    place.parent.mkdir(parents=True)
    place.touch()
    assert "is no folder" in gc(code=2)
    assert "XDG_CACHE_HOME" in gc("--json", code=2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_cache_is_a_sentence(filled: Cache) -> None:
    before = filled.everything()

    def run() -> str:
        script = (
            "import os, sys; from expbench.cli import freeing, main; import pydantic; "
            f"os.setgid({NOBODY}); os.setuid({NOBODY}); main.app(['gc', '--repos'])"
        )
        environment = {**os.environ, **filled.environment, "HOME": "/"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd="/",
        )
        assert done.returncode == 2, done.stderr
        (sentence,) = done.stderr.splitlines()
        return sentence

    for folder in (*filled.paths.root.parents,):
        if folder.stat().st_mode & 0o5 != 0o5 and folder.is_relative_to("/tmp"):
            folder.chmod(0o755)
    assert "cannot be removed (Permission denied)" in run()
    filled.paths.repos.chmod(0o700)
    assert "cannot be read (Permission denied)" in run()
    filled.paths.repos.chmod(0o755)
    assert {name: facts[0] for name, facts in filled.everything().items()} == {
        name: facts[0] for name, facts in before.items()
    }
