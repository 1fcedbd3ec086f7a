"""Collection from views: what the kernel makes of an overlay, and copies with their recorded facts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from workspaces import snapshot, write

from expbench.workspace import (
    Prepared,
    collect,
    from_folder,
    mask,
    materialise,
    materialise_patched,
)
from expbench.workspace.views import Stat, View

Edit = tuple[str, str, str]
"""What is done, the path it is done to, and the other path or the content."""

ACT = """
import json, os, shutil, sys

def clear(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)

def reach(path):
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        parent = "/".join(parts[:depth])
        if os.path.islink(parent) or os.path.isfile(parent):
            os.unlink(parent)
        os.makedirs(parent, exist_ok=True)

os.chdir(sys.argv[1])
for act, path, other in json.loads(sys.argv[2]):
    if act == "write":
        reach(path); clear(path)
        open(path, "w").write(other)
    elif act == "append" and os.path.isfile(path) and not os.path.islink(path):
        open(path, "a").write(other)
    elif act == "touch" and os.path.isfile(path):
        os.utime(path)
    elif act == "rewrite" and os.path.isfile(path):
        content = open(path, "rb").read()
        open(path, "wb").write(content)
    elif act == "delete":
        clear(path)
    elif act == "folder":
        reach(path); clear(path)
        os.mkdir(path)
    elif act == "remake" and os.path.isdir(path) and not os.path.islink(path):
        names = os.listdir(path)
        shutil.rmtree(path); os.mkdir(path)
        open(path + "/" + (names or ["x"])[0], "w").write(other)
    elif act == "rename" and os.path.lexists(path) and not (other + "/").startswith(path + "/"):
        reach(other); clear(other)
        if os.path.lexists(path):
            shutil.move(path, other)
    elif act == "chmod" and os.path.isfile(path) and not os.path.islink(path):
        os.chmod(path, os.stat(path).st_mode ^ 0o111)
    elif act == "link":
        reach(path); clear(path)
        os.symlink(other, path)
    elif act == "hide" and os.path.isdir(path):
        try:
            os.setxattr(path, "user.overlay.opaque", b"y")
        except OSError:
            pass
"""

MOUNT = """
mount -t overlay overlay \
  -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work,index=off,$6" "$3" || exit 77
"$4" -c "$ACT" "$3" "$5" && cp -a "$3/." "$2/copy"
"""


@dataclass(frozen=True)
class Namespace:
    """A way to a mount: the command before the shell, and the overlay's further options."""

    command: tuple[str, ...]
    options: str


ROOT = Namespace(("unshare", "--mount"), "redirect_dir=off,metacopy=off")
USER = Namespace(
    ("unshare", "--mount", "--user", "--map-root-user"), "userxattr,redirect_dir=nofollow"
)


def mounted(namespace: Namespace, lowers: list[Path], folder: Path, edits: list[Edit]) -> bool:
    """Apply edits through a real overlay, and copy what it shows; False when it is not permitted."""
    for name in ("upper", "work", "merged", "copy"):
        (folder / name).mkdir(parents=True)
    layers = ":".join(map(str, lowers))
    arguments = [layers, str(folder), str(folder / "merged"), sys.executable, json.dumps(edits)]
    done = subprocess.run(
        [*namespace.command, "sh", "-c", MOUNT, "sh", *arguments, namespace.options],
        env={**os.environ, "ACT": ACT},
        capture_output=True,
        timeout=60,
        check=False,
    )
    if done.returncode in (1, 77) and b"ermitted" in done.stderr + done.stdout:
        return False
    assert done.returncode == 0, done.stderr
    return True


@cache
def permitted(namespace: Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "lower").mkdir()
        return mounted(namespace, [Path(folder) / "lower"], Path(folder) / "o", [])


NAMES = ["a", "b.py", "d", "__pycache__", "n.ipynb", "log.txt", ".git", "with space", "data"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
TEXTS = st.sampled_from(["", "one\n", "two\nlines\n", "x" * 50])
BASE = st.dictionaries(
    PATHS.filter(lambda path: ".git" not in path.split("/")), TEXTS, min_size=1, max_size=8
)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["write", "write", "append", "remake"]), PATHS, TEXTS),
        st.tuples(st.sampled_from(["delete", "folder", "touch", "rewrite"]), PATHS, st.just("")),
        st.tuples(st.sampled_from(["chmod", "hide"]), PATHS, st.just("")),
        st.tuples(st.sampled_from(["rename", "link"]), PATHS, PATHS),
    ),
    min_size=1,
    max_size=10,
)


def base_of(files: dict[str, str], top: Path) -> tuple[Prepared, Path]:
    """A tree of these files as far as they fit beside each other; its folder has a ``.git``, too."""
    tree = top / "tree"
    tree.mkdir()
    for name, content in files.items():
        target = tree / name
        if not target.exists() and not any((tree / up).is_file() for up in Path(name).parents):
            write(tree, {name: content})
    prepared = mask(from_folder(tree, top / "cache"), ())
    materialise(prepared, top / "lower")
    return prepared, top / "lower"


@pytest.mark.parametrize("namespace", [ROOT, USER], ids=["root", "user"])
def test_an_overlay_gives_what_a_copy_of_its_mount_gives(namespace: Namespace) -> None:
    """R33, R37: whiteouts, opaque folders, files over folders and folders over files."""
    if not permitted(namespace):
        pytest.skip(f"no overlay can be mounted by {' '.join(namespace.command)}")

    @settings(max_examples=60, deadline=None)
    @given(files=BASE, edits=EDITS)
    def check(files: dict[str, str], edits: list[Edit]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            prepared, lower = base_of(files, top)
            masking = top / "masking"
            masking.mkdir()
            assert mounted(namespace, [masking, lower], top / "o", edits)
            found = collect(View("overlay", top / "o", (masking, lower)), prepared)
            copied = collect(top / "o" / "copy", prepared)
            event(f"patch is empty: {not found.patch}")
            assert (found.patch, found.changed) == (copied.patch, copied.changed)
            assert (found.diff, found.left_out) == (copied.diff, copied.left_out)

    check()


@settings(max_examples=20, deadline=None)
@given(files=BASE, edits=EDITS)
def test_recorded_facts_change_nothing_but_the_time(
    files: dict[str, str], edits: list[Edit]
) -> None:
    """R33: a file is passed over only when nothing was done to it."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        prepared, copy = base_of(files, top)
        view = View("copy", copy, stats=facts(copy))
        time.sleep(0.01)
        subprocess.run([sys.executable, "-c", ACT, copy, json.dumps(edits)], check=True)
        assert collect(view, prepared) == collect(copy, prepared)


def facts(root: Path) -> dict[bytes, Stat]:
    """What is recorded of a copy when it is made."""
    found = {}
    for path in root.rglob("*"):
        s = path.lstat()
        known = Stat(s.st_ino, s.st_ctime_ns, s.st_mtime_ns, s.st_size, s.st_mode)
        found[os.fsencode(path.relative_to(root))] = known
    return found


def test_a_file_with_its_old_times_is_read_again(tmp_path: Path) -> None:
    """R34: an agent can set a modification time, not a change time."""
    prepared, copy = base_of({"a.py": "rate = 1\n"}, tmp_path)
    view = View("copy", copy, stats=facts(copy))
    before = (copy / "a.py").stat()
    time.sleep(0.01)
    (copy / "a.py").write_text("rate = 2\n")
    os.utime(copy / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert collect(view, prepared).changed == ("a.py",)


def test_untouched_files_of_a_copy_are_not_read(tmp_path: Path) -> None:
    """The time of collection follows what the agent did."""
    prepared, copy = base_of({"a.py": "1\n", "b.py": "2\n"}, tmp_path)
    recorded = facts(copy)
    write(copy, {"a.py": "3\n", "b.py": "3\n"})
    recorded[b"a.py"] = facts(copy)[b"a.py"]
    assert collect(View("copy", copy, stats=recorded), prepared).changed == ("b.py",)


def test_an_attribute_set_by_an_agent_hides_nothing(tmp_path: Path) -> None:
    """R34: of an overlay mounted by root, a user's mark of an opaque folder is an agent's doing."""
    if not permitted(ROOT):
        pytest.skip("no overlay can be mounted")
    prepared, lower = base_of({"d/a": "1\n", "d/b.py": "2\n"}, tmp_path)
    edits: list[Edit] = [("chmod", "d/a", ""), ("hide", "d", "")]
    assert mounted(ROOT, [lower, tmp_path / "tree"], tmp_path / "o", edits)
    if "user.overlay.opaque" not in os.listxattr(tmp_path / "o/upper/d"):
        pytest.skip("the file system or the kernel refused the attribute")
    assert collect(View("overlay", tmp_path / "o"), prepared).changed == ("d/a",)


AS_USER = """
import json, sys
from pathlib import Path
from expbench.workspace import collect, from_folder, mask, materialise
top = Path(sys.argv[1])
prepared = mask(from_folder(top / "tree", top / "cache"), ())
if sys.argv[2] == "make":
    materialise(prepared, top / "w")
else:
    found = collect(top / "w", prepared)
    left = {row.path: row.reason for row in found.left_out}
    print(json.dumps([list(found.changed), left]))
"""


def as_user(top: Path, act: str) -> str:
    command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    python = [sys.executable, "-c", AS_USER, str(top), act]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(top)}
    done = subprocess.run(
        [*command, *python], capture_output=True, cwd=top, env=environment, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def shared() -> Path:
    """A folder that another user can reach and own."""
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("only root can act as another user")
    if subprocess.run(
        ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c", "import expbench"],
        cwd="/",
        check=False,
        capture_output=True,
    ).returncode:
        pytest.skip("another user cannot read this interpreter or checkout")
    return Path(tempfile.mkdtemp())


def test_an_ordinary_user_collects_what_may_not_be_read(shared: Path) -> None:
    """R27: modes are no obstacle; what root owns is listed, and neither changed nor deleted."""
    try:
        write(shared / "tree", {"d/a.py": "1\n", "e/b.py": "1\n", "c.py": "1\n", "x.sh": "1\n"})
        for path in (shared, *shared.rglob("*")):
            os.chown(path, 65534, 65534)
        as_user(shared, "make")
        w = shared / "w"
        write(w, {"new/f.py": "1\n", "c.py": "2\n", "roots.py": "1\n", "rooted/y.py": "1\n"})
        for path in (w / "new", w / "new/f.py", w / "c.py"):
            os.chown(path, 65534, 65534)
        os.chown(w / "e", 0, 0)
        for path in (w / "new/f.py", w / "new", w / "c.py", w / "d", w / "e"):
            path.chmod(0)
        (w / "x.sh").chmod(0o111)
        for path in (w / "roots.py", w / "rooted"):
            path.chmod(0)
        first = as_user(shared, "collect")
        changed, left = json.loads(first)
        assert changed == ["c.py", "new/f.py", "x.sh"]
        assert left.keys() == {"e/", "roots.py", "rooted/"}
        assert all(why.startswith("unreadable") for why in left.values())
        assert as_user(shared, "collect") == first
    finally:
        shutil.rmtree(shared)


def test_an_overlay_patch_applies(tmp_path: Path) -> None:
    """R33: the base with the patch is what the overlay showed."""
    if not permitted(ROOT):
        pytest.skip("no overlay can be mounted")
    prepared, lower = base_of({"d/a": "1\n", "d/b.py": "2\n", "e/c/x": "3\n"}, tmp_path)
    edits: list[Edit] = [
        ("remake", "d", "new\n"),
        ("write", "e/c", "a file\n"),
        ("rename", "d", "moved/d"),
    ]
    assert mounted(ROOT, [lower, tmp_path / "tree"], tmp_path / "o", edits)
    found = collect(View("overlay", tmp_path / "o"), prepared)
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "o/copy")
