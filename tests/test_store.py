"""The store under many processes: made once, shared by all, whole after a kill, freed when nobody looks.

Every process here is a real one, and every kill a real one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from expbench.errors import ExpbenchError, InfrastructureError, PrerequisiteError
from expbench.paths import CachePaths
from expbench.sandboxes import bubblewrap
from expbench.schema import ALL_SCORES
from expbench.workspace import (
    Prepared,
    collect,
    freeze,
    from_folder,
    from_git,
    mask,
    materialise,
    open_view,
    prove_clean,
)
from expbench.workspace.freeing import Freeing
from expbench.workspace.frozen import TREES

BEGINNING = """\
import json, os, sys
from pathlib import Path
from expbench.workspace import *
print("ready", flush=True)
sys.stdin.readline()
"""
PREPARE = f"""\
{BEGINNING}
clone, commit, store, dest, *paths = sys.argv[1:]
prepared = mask(from_git(clone, commit, Path(store)), tuple(paths))
materialise(prepared, Path(dest))
print(json.dumps([prepared.tree, prepared.commit, str(prepared.layer.folder)]), flush=True)
sys.stdin.readline()
"""


def git(cwd: Path, *args: str) -> str:
    identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    command = ["git", *identity, "-c", "safe.directory=*", *args]
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=True, timeout=60, text=True)
    return done.stdout.strip()


class Child:
    """A process that waits for a word before it begins, and again before it ends."""

    def __init__(self, script: str, *args: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        text = self.process.stdout.readline().strip()
        assert text, f"it ended: {self.process.communicate()[1]}"
        return text

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.go()
        _, errors = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, errors

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def child() -> Iterator[Callable[..., Child]]:
    """Starts children, and ends those that a failed test leaves."""
    started: list[Child] = []

    def start(script: str, *args: object) -> Child:
        started.append(Child(script, *args))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.kill()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits of one tree."""
    root = tmp_path_factory.mktemp("clone")
    git(root, "init", "-q", "-b", "main")
    for number in range(40):
        folder = root / f"part{number % 4}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.py").write_text(f"value = {number}\n" * 50)
    (root / "large.bin").write_bytes(bytes(range(256)) * 400)
    (root / "train.py").write_text("rate = 0.125\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    git(root, "branch", "first")
    git(root, "commit", "-q", "--allow-empty", "-m", "second")
    git(root, "branch", "second")
    return root


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose preparation takes a while."""
    root = tmp_path_factory.mktemp("big")
    git(root, "init", "-q", "-b", "first")
    for number in range(800):
        folder = root / f"part{number % 50}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.txt").write_text(f"line {number}\n" * 100)
    for number in range(8):
        (root / f"large{number}.bin").write_bytes(os.urandom(200_000))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def pin(clone: Path, name: str = "first") -> str:
    return git(clone, "rev-parse", f"refs/heads/{name}")


def unfinished(store: Path) -> list[str]:
    return sorted(str(path.relative_to(store)) for path in store.rglob(".making-*"))


def trees(store: Path) -> list[Path]:
    return sorted(path for path in (store / TREES).iterdir() if path.is_dir())


def snapshot(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def free(cache: CachePaths, repositories: bool = True) -> dict[str, int]:
    """Free all that can be freed, in this process; how many things are in each state."""
    freeing = Freeing(cache)
    freeing.unfinished()
    freeing.trees()
    if repositories:
        freeing.repositories()
    counts: dict[str, int] = {}
    for item in freeing.items:
        counts[item.state] = counts.get(item.state, 0) + 1
    return counts


@pytest.fixture
def cache(tmp_path: Path) -> CachePaths:
    return CachePaths(tmp_path / "cache")


# --- at once -------------------------------------------------------------------------------------


def test_processes_that_prepare_one_pin_at_once_make_one_tree(
    clone: Path, cache: CachePaths, tmp_path: Path, child: Callable[..., Child]
) -> None:
    """One frozen tree for a pin whatever the number of tasks; equal masks share a layer (R13)."""
    masks = [("train.py",), ("train.py",), ("train.py",), ("part0/file0.py",), ("part1/file1.py",)]
    children = [
        child(PREPARE, clone, pin(clone), cache.repos, tmp_path / f"w{n}", *paths)
        for n, paths in enumerate(masks)
    ]
    for each in children:
        each.go()
    made = [json.loads(each.line()) for each in children]
    for each in children:
        each.end()
    assert made[0] == made[1] == made[2]
    assert len({layer for _, _, layer in made}) == 3
    (tree,) = trees(cache.repos)
    assert len(list((tree / "layers").iterdir())) == 3
    assert [path.name for path in cache.repos.glob("*.git")] == [f"git-{pin(clone)}.git"]
    assert unfinished(cache.repos) == []
    for n, paths in enumerate(masks):
        assert git(tmp_path / f"w{n}", "status", "--porcelain") == ""
        assert not (tmp_path / f"w{n}" / paths[0]).exists()


def test_pins_of_one_tree_share_it(clone: Path, cache: CachePaths) -> None:
    sources = [from_git(str(clone), pin(clone, name), cache.repos) for name in ("first", "second")]
    assert sources[0].commit != sources[1].commit
    first, second = (mask(source, ("train.py",)) for source in sources)
    assert first.frozen.folder == second.frozen.folder
    assert first.layer.folder == second.layer.folder
    assert len(trees(cache.repos)) == 1


STRESS = f"""\
{BEGINNING}
import time
from expbench.errors import ExpbenchError
clone, commit, store, dest = sys.argv[1:]
end = time.monotonic() + 4
done = 0
while time.monotonic() < end:
    prepared = mask(from_git(clone, commit, Path(store)), ("train.py",))
    materialise(prepared, Path(dest) / str(done))
    prove_clean(prepared)
    del prepared
    time.sleep(0.02)
    done += 1
print(done, flush=True)
sys.stdin.readline()
"""


def test_preparing_and_freeing_at_once_disturb_each_other_not(
    clone: Path, cache: CachePaths, tmp_path: Path, child: Callable[..., Child]
) -> None:
    """Trees, layers and repositories are freed between any two steps of two that prepare them."""
    workers = [
        child(STRESS, clone, pin(clone), cache.repos, tmp_path / name) for name in ("a", "b")
    ]
    for each in workers:
        each.go()
    until = time.monotonic() + 4
    freed = kept = 0
    while time.monotonic() < until:
        counts = free(cache)
        freed += counts.get("freed", 0)
        kept += counts.get("in use", 0)
        assert "failed" not in counts
    assert all(int(each.line()) > 1 for each in workers)
    for each in workers:
        each.end()
    assert freed and kept, "neither was tried"
    free(cache)
    assert [path for path in cache.repos.rglob("*") if path != cache.repos / TREES] == []


# --- killed --------------------------------------------------------------------------------------


def test_a_kill_at_any_moment_leaves_nothing_that_harms_the_next(
    big: Path, tmp_path: Path, child: Callable[..., Child]
) -> None:
    """``kill -9`` in the middle: the next preparation is whole, and what was left is swept away."""
    masked = "part1/file1.txt"
    whole = CachePaths(tmp_path / "whole")
    first = child(PREPARE, big, pin(big), whole.repos, tmp_path / "reference", masked)
    start = time.monotonic()
    first.go()
    expected = json.loads(first.line())[:2]
    duration = time.monotonic() - start
    first.end()
    reference = snapshot(tmp_path / "reference")
    assert len(reference) == 807
    left = 0
    for part in range(6):
        cache = CachePaths(tmp_path / f"cache{part}")
        victim = child(PREPARE, big, pin(big), cache.repos, tmp_path / f"killed{part}", masked)
        victim.go()
        time.sleep(0.005 + duration * part / 6)
        victim.kill()
        left += len(unfinished(cache.repos)) if cache.repos.exists() else 0
        prepared = mask(from_git(str(big), pin(big), cache.repos), (masked,))
        assert [prepared.tree, prepared.commit] == expected
        prove_clean(prepared)
        materialise(prepared, tmp_path / "again")
        assert snapshot(tmp_path / "again") == reference
        shutil.rmtree(tmp_path / "again")
        del prepared
        free(cache)
        assert [path for path in cache.repos.rglob("*") if path != cache.repos / TREES] == []
    assert left, "no kill came in the middle"


def test_a_run_that_lives_keeps_what_it_uses_and_a_kill_lets_it_go(
    clone: Path, cache: CachePaths, tmp_path: Path, child: Callable[..., Child]
) -> None:
    holder = child(PREPARE, clone, pin(clone), cache.repos, tmp_path / "w", "train.py")
    holder.go()
    holder.line()
    before = snapshot(cache.root)
    assert free(cache) == {"in use": 2}
    assert snapshot(cache.root) == before
    holder.kill()
    assert free(cache) == {"freed": 2}
    assert trees(cache.repos) == []
    mask(from_git(str(clone), pin(clone), cache.repos), ("train.py",))
    assert len(trees(cache.repos)) == 1


def test_every_object_of_one_process_holds_its_own_lock(clone: Path, cache: CachePaths) -> None:
    source = from_git(str(clone), pin(clone), cache.repos)
    first, second = freeze(source), freeze(source)
    folder = first.folder
    del first
    assert free(cache) == {"in use": 2}
    del second
    assert free(cache) == {"freed": 1, "in use": 1}
    assert not folder.exists()
    assert source.git_dir.is_dir()
    del source
    assert free(cache) == {"freed": 1}


# --- damaged -------------------------------------------------------------------------------------


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def corrupt(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("record.json", truncate),
        ("record.json", Path.unlink),
        ("index", corrupt),
        ("index", truncate),
        ("index", Path.unlink),
        ("layers/*/record.json", truncate),
    ],
)
def test_a_damaged_tree_says_in_a_sentence_what_to_do(
    clone: Path, cache: CachePaths, name: str, harm: Callable[[Path], Any]
) -> None:
    source = from_git(str(clone), pin(clone), cache.repos)

    def prepare(path: str) -> Prepared:
        return mask(source, (path,))

    tree = prepare("train.py").tree
    (place,) = trees(cache.repos)[0].glob(name)
    harm(place)
    with pytest.raises(InfrastructureError, match=r"expbench gc") as caught:
        prepare("train.py" if "layers" in name else "part0/file0.py")
    assert "\n" not in str(caught.value)
    assert str(place.parent) in str(caught.value) or "index" in name
    del caught
    assert free(cache, repositories=False) == {"freed": 1}
    assert prepare("train.py").tree == tree


@pytest.mark.parametrize("harm", [truncate, corrupt, Path.unlink])
@pytest.mark.parametrize("kind", ["*.pack", "*.idx"])
def test_damaged_packs_say_in_a_sentence_what_to_do(
    clone: Path, cache: CachePaths, kind: str, harm: Callable[[Path], Any]
) -> None:
    source = from_git(str(clone), pin(clone), cache.repos)
    mask(source, ("train.py",))
    for place in trees(cache.repos)[0].glob(f"objects/pack/{kind}"):
        place.chmod(0o644)
        harm(place)
    with pytest.raises(InfrastructureError, match=r"expbench gc --repos") as caught:
        mask(source, ("part0/file0.py",))
    assert "\n" not in str(caught.value)


def test_a_repository_that_others_use_is_not_taken_from_under_them(
    clone: Path, cache: CachePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged repository is made again, but not while a run still reads of it."""
    monkeypatch.setattr("expbench.workspace.repository.leases._PATIENCE", 0.2)
    source = from_git(str(clone), pin(clone), cache.repos)
    (source.git_dir / "expbench.json").write_text("{")
    with pytest.raises(InfrastructureError, match="damaged and in use: end the runs"):
        from_git(str(clone), pin(clone), cache.repos)
    assert source.git_dir.is_dir()
    git_dir = source.git_dir
    del source
    assert from_git(str(clone), pin(clone), cache.repos).git_dir == git_dir


# --- no room -------------------------------------------------------------------------------------

FULL = f"""\
{BEGINNING}
import subprocess
from expbench.cli.boundary import boundary
from expbench.workspace.freeing import Freeing
from expbench.paths import CachePaths
from expbench.schema import ALL_SCORES

tree, root = map(Path, sys.argv[1:])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(root)], check=True)
cache = CachePaths(root)
source = from_folder(tree, cache.repos)

def prepare():
    materialise(mask(source, ()), root / "w")

code = boundary(prepare)
left = [str(p.relative_to(cache.repos)) for p in (cache.repos / "trees").rglob("*") if p.suffix != ".lock"]
subprocess.run(["mount", "-o", "remount,size=200m", str(root)], check=True)
again = boundary(prepare)
print(json.dumps([code, left, again, (root / "w" / "file0.txt").stat().st_size]), flush=True)
sys.stdin.readline()
"""


def may_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not may_mount(), reason="this user may not mount a small file system")
def test_a_full_disk_is_a_sentence_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for number in range(40):
        (tmp_path / f"tree/file{number}.txt").write_bytes(b"%d\n" % number * 400_000)
    (tmp_path / "disk").mkdir()
    script = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", FULL]
    done = subprocess.run(
        [*script, tmp_path / "tree", tmp_path / "disk"],
        input="\n\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    code, left, again, size = json.loads(done.stdout.splitlines()[-1])
    assert code == 2
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("expbench: The disk is full")
    assert left == []
    assert (again, size) == (0, 800_000)


def test_a_store_that_cannot_be_written_is_a_sentence(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PrerequisiteError, match="XDG_CACHE_HOME"):
            from_git(str(clone), pin(clone), place)


# --- runs ----------------------------------------------------------------------------------------


def sandboxes() -> bool:
    try:
        bubblewrap.check()
    except ExpbenchError:
        return False
    return True


def start(folder: Path, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "expbench", *args],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "home"),
            "COLUMNS": "200",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, f"{out}\n{err}"
    return out


def scores(folder: Path) -> dict[str, Any]:
    lines = (folder / "outcomes.jsonl").read_text("utf-8").splitlines()
    found = {outcome["task_id"]: outcome for outcome in map(json.loads, lines)}
    return {
        name: {score: each["value"] for score, each in outcome["scores"].items()}
        for name, outcome in found.items()
    }


needs_sandbox = pytest.mark.skipif(not sandboxes(), reason="bubblewrap makes no sandbox here")


@needs_sandbox
def test_two_runs_at_once_on_a_cold_cache_end_with_equal_scores(tmp_path: Path) -> None:
    runs = [
        start(tmp_path, "run", "--agent", "null", "--suite", "mini", "--out", name)
        for name in ("a", "b")
    ]
    for each in runs:
        finish(each)
    first, second = scores(tmp_path / "a"), scores(tmp_path / "b")
    assert first == second
    assert len(first) == 15
    assert all(set(each) == set(ALL_SCORES) for each in first.values())
    store = CachePaths(tmp_path / "home" / "expbench").repos
    assert len(trees(store)) == 5
    assert unfinished(store) == []


@needs_sandbox
def test_freeing_during_a_run_takes_nothing_from_it(tmp_path: Path) -> None:
    """Everything is freed again and again while a run goes on; it ends as if nothing had been."""
    tasks = ("mini/calibration/2", "mini/forecasting/2", "mini/bandits/2")
    chosen = [word for task in tasks for word in ("--task", task)]
    run = start(tmp_path, "run", "--agent", "oracle", *chosen, "--out", "a")
    gc = ("gc", "--repos", "--envs", "--json")
    in_use: dict[str, int] = {}
    while run.poll() is None:
        for kind, counts in json.loads(finish(start(tmp_path, *gc)))["kinds"].items():
            in_use[kind] = in_use.get(kind, 0) + counts["in_use"]
    finish(run)
    found = scores(tmp_path / "a")
    assert set(found) == set(tasks)
    assert {value for each in found.values() for value in each.values()} == {1.0}
    assert all(in_use[kind] for kind in ("workspace", "tree", "repository", "environment")), in_use
    kinds = json.loads(finish(start(tmp_path, *gc)))["kinds"]
    assert all(not counts["in_use"] for counts in kinds.values())
    store = CachePaths(tmp_path / "home" / "expbench").repos
    assert [path for path in store.rglob("*") if path != store / TREES] == []
    finish(start(tmp_path, "tasks", "prepare", tasks[0], "workspace"))
    assert (tmp_path / "workspace" / ".git").is_dir()


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("mkfs.xfs") or not Path("/dev/loop-control").exists(),
    reason="a file system with shared extents needs root, loop devices and mkfs.xfs",
)
def test_a_copy_shares_its_extents_where_the_file_system_can(tmp_path: Path) -> None:
    image, mounted = tmp_path / "image", tmp_path / "xfs"
    with image.open("wb") as file:
        file.truncate(400 * 1024**2)
    subprocess.run(["mkfs.xfs", "-q", "-m", "reflink=1", str(image)], check=True)
    mounted.mkdir()
    subprocess.run(["mount", "-o", "loop", str(image), str(mounted)], check=True)

    def free_space() -> int:
        os.sync()
        return shutil.disk_usage(mounted).free

    try:
        (mounted / "tree").mkdir()
        for number in range(20):
            (mounted / "tree" / f"{number}.bin").write_bytes(os.urandom(1024**2))
        prepared = mask(from_folder(mounted / "tree", mounted / "cache"), ("1.bin",))
        before = free_space()
        view = open_view(prepared, mounted / "w")
        assert view.kind == "reflink"
        assert before - free_space() < 4 * 1024**2
        (mounted / "w" / "2.bin").write_bytes(b"mine")
        assert (prepared.frozen.files / "2.bin").stat().st_size == 1024**2
        assert collect(view, prepared).changed == ("2.bin",)
        del prepared, view
    finally:
        subprocess.run(["umount", "-l", str(mounted)], check=True)
