"""Workspaces in real sandboxes under attack: nothing masked is found, nothing shared changed (R13, R28)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from attacks import ATTACKS, WORD
from repositories import run_git

import expbench
from expbench.errors import LeakError
from expbench.paths import CachePaths
from expbench.sandboxes.host import SandboxHost, mounts_overlays, other_owner, remove
from expbench.sandboxes.session import Completed, Session
from expbench.schema import Limits, Policy
from expbench.workspace import (
    Prepared,
    View,
    collect,
    from_git,
    mask,
    materialise_patched,
    open_view,
    prove_clean,
)
from expbench.workspace.proof import prove_no_copies
from expbench.workspace.repository.objects import packed, write_pack

SECRET = f"the secret {WORD}: warm up for 350 steps, then decay by half at each plateau"
FILES = {
    "src/train.py": f'"""{SECRET}."""\n\n'
    + "".join(f"def step_{n}(rate):\n    return rate * {n}.5 + offset_{n}\n" for n in range(40)),
    "src/large.py": f"# {SECRET}\n" + "".join(f"weights_{n} = {n * n}\n" for n in range(2000)),
    "src/model.py": "class Model:\n    pass\n",
    "src/__init__.py": "",
    "src/sub/deep.py": "deep = True\n",
    "secret/only.py": f"# {SECRET}\nonly = 1\n",
    "configs/best.yaml": f"# {SECRET}\n",
    "configs/base.yaml": "rate: 0.5\n",
    "data/large.txt": "kept and large\n" * 5000,
    "ends.txt": "one\r\ntwo\r\n",
    ".gitattributes": "*.txt text eol=lf\n*.py filter=evil ident\n",
    "README.md": SECRET,
    "run.sh": "#!/bin/sh\n",
}
MASKED = ("src/train.py", "src/large.py", "secret/only.py", "configs/best.yaml")
SHOWN = sorted(FILES.keys() - set(MASKED) - {"README.md"})


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def prepare(folder: Path) -> Prepared:
    """The masked tree of a repository that is made in ``folder``, and whose store is there as well."""
    root = folder / "upstream"
    root.mkdir(parents=True)
    run_git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    (root / "run.sh").chmod(0o755)
    (root / "latest").symlink_to("configs/base.yaml")
    name = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    run_git(root, "-c", "core.attributesFile=/dev/null", "add", "-A")
    ends = run_git(root, "hash-object", "-w", "--no-filters", "ends.txt").decode().strip()
    run_git(root, "update-index", "--cacheinfo", f"100644,{ends},ends.txt")
    run_git(root, *name, "commit", "-q", "-m", "pinned")
    run_git(root, *name, "tag", "-a", "v1", "-m", SECRET)
    pin = run_git(root, "rev-parse", "HEAD").decode().strip()
    source = from_git(str(root), pin, folder / "cache" / "repos")
    return mask(source, MASKED, owner=other_owner())


def facts_of(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything that a write leaves traces in, of every file and folder below one."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        digest = ""
        if stat.S_ISREG(status.st_mode):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        names = tuple(os.listxattr(path, follow_symlinks=False))
        times = (status.st_mtime_ns, status.st_ctime_ns)
        facts = (status.st_mode, status.st_uid, status.st_size, status.st_ino, *times)
        found[str(path)] = (*facts, digest, names)
    return found


@dataclass(frozen=True)
class Box:
    """A workspace with a sandbox over it."""

    prepared: Prepared
    view: View
    session: Session

    def sh(self, script: str, env: dict[str, str] | None = None) -> Completed:
        return self.session.run(["bash", "-c", script], env=env or {}, timeout=60)

    def out(self, script: str) -> str:
        """A script's output; it must succeed."""
        done = self.sh(f"set -e\n{script}")
        assert done.exit_code == 0, (done.stdout + done.stderr).decode(errors="replace")
        return done.stdout.decode(errors="replace")


def attack(box: Box, script: str) -> Completed:
    """Run a script that knows where on the host the files lie and what a masked blob's id is."""
    known = {"HOST": str(box.prepared.frozen.files), "BLOB": sorted(box.prepared.masked_oids)[0]}
    return box.sh(f"{script}\ncd /workspace; printf 'tried'", known)


def withstood(done: Completed) -> str:
    """What an attack got; empty when it got nothing."""
    text = done.stdout + done.stderr
    if not done.stdout.endswith(b"tried"):
        return f"the attack did not come to its end: {text[-500:]!r}"
    for known in (SECRET.encode(), b"weights_1999", b"return rate * 39.5"):
        if known in text:
            return f"found {text[max(0, text.index(known) - 300) :][:600]!r}"
    return ""


Opener = Callable[[], contextlib.AbstractContextManager[Box]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(tmp_path_factory.mktemp("overlay"))


@pytest.fixture(scope="module", params=["overlay", "copy"])
def opener(request: pytest.FixtureRequest, host: SandboxHost, prepared: Prepared) -> Opener:
    """Opens workspaces of one kind; the copy is what a machine gets that mounts no overlays."""
    kind = request.param
    host.cache.work.mkdir(parents=True, exist_ok=True)
    if kind == "overlay" and not mounts_overlays(host.cache.work):
        pytest.skip("this machine or user mounts no overlays, so there are none to attack")

    @contextlib.contextmanager
    def opened() -> Iterator[Box]:
        if kind == "overlay":
            view = host.open(prepared)
        else:
            view = open_view(prepared, host.folder(), False, other_owner())
        try:
            assert (view.kind == "overlay") is (kind == "overlay")
            with host.start(view, Policy(limits=Limits(minutes=1))) as session:
                yield Box(prepared, view, session)
        finally:
            remove(view.folder)

    return opened


@pytest.fixture(scope="module")
def shared(opener: Opener) -> Iterator[Box]:
    """A sandbox that all attacks are run in, one after the other."""
    with opener() as box:
        yield box


@pytest.fixture
def box(opener: Opener) -> Iterator[Box]:
    with opener() as made:
        yield made


def test_a_workspace_lies_anywhere(host: SandboxHost, prepared: Prepared, tmp_path: Path) -> None:
    odd = tmp_path / "a b\\040\t#é\u2003\n"
    odd.mkdir()
    host.cache.work.mkdir(parents=True, exist_ok=True)
    view = host.open(prepared, folder=odd)
    try:
        with host.start(view) as session:
            done = session.run(["sh", "-c", "cat configs/base.yaml && echo new > made.txt"])
        assert (done.exit_code, done.stdout) == (0, b"rate: 0.5\n"), done
        assert (view.files / "made.txt").read_text() == "new\n"
    finally:
        host.discard(view.folder)


def test_where_the_kernel_mounts_overlays_sandboxes_have_them(
    host: SandboxHost, tmp_path: Path
) -> None:
    """The probe tells no machine that it cannot what it can: then every workspace would be a copy."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's overlay needs bubblewrap, which is what the probe asks")
    for name in ("lower", "upper", "work", "at"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    mount = ["mount", "-t", "overlay", "overlay", "-o", options, str(tmp_path / "at")]
    command = ["unshare", "--mount", "--propagation", "private", "--", *mount]
    mounted = subprocess.run(command, capture_output=True, timeout=20, check=False)
    host.cache.work.mkdir(parents=True, exist_ok=True)
    assert mounts_overlays(host.cache.work) is (mounted.returncode == 0)


# --- nothing is found ----------------------------------------------------------------------------


def test_the_control_the_store_holds_what_the_attacks_look_for(
    shared: Box, prepared: Prepared
) -> None:
    """The files are there on the host, and the search in the sandbox finds what is not masked."""
    for name in MASKED:
        assert SECRET in (prepared.frozen.files / name).read_text()
        assert not (prepared.layer.files / name).is_file()
    found = attack(shared, ATTACKS["search all that is there"].replace(WORD, "kept"))
    assert b"kept and large" in found.stdout
    assert withstood(attack(shared, f"echo '{SECRET}'")) != ""
    assert withstood(attack(shared, "exit 0")) != ""
    assert shared.out("find . -path ./.git -prune -o -type f -print | cut -c3- | sort") == "".join(
        f"{name}\n" for name in sorted(SHOWN)
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_finds_a_masked_file(shared: Box, name: str) -> None:
    """R13, R28"""
    assert withstood(attack(shared, ATTACKS[name])) == ""
    assert shared.session.alive


def test_attacks_at_once_find_nothing_either(box: Box) -> None:
    """In a workspace that they have left in disorder, and twice."""
    for _ in range(2):
        assert (
            withstood(attack(box, "\n".join(f"( {script}\n)" for script in ATTACKS.values()))) == ""
        )


# --- nothing shared is changed -------------------------------------------------------------------

VANDAL = """
chmod -R u+rwX . .git 2>/dev/null
find . -type f -links +1 -exec sh -c 'for f; do chmod 666 "$f"; echo broken >> "$f"; done' _ {} +
find . -type f -exec sh -c 'for f; do echo broken > "$f"; touch -d @1 "$f"; done' _ {} +
find . -type f -exec truncate -s 3 {} +
python3 - <<'END'
import mmap, os
for parent, folders, names in os.walk("."):
    for name in names:
        path = os.path.join(parent, name)
        try:
            with open(path, "r+b") as file:
                mmap.mmap(file.fileno(), 3)[:3] = b"bad"
            os.setxattr(path, "user.bad", b"bad")
            os.chmod(path, 0o4777)
        except OSError:
            pass
END
ln -f src/model.py src/again.py; mv src/sub sub; rm -rf .git src secret data
find . -mindepth 1 -delete; touch left
"""


def test_an_agent_that_breaks_everything_breaks_only_its_own(
    opener: Opener, prepared: Prepared
) -> None:
    """R13: bytes, modes, owners, times, attributes of the frozen tree, the layers, the repository."""
    with opener():
        pass
    places = (prepared.frozen.folder, prepared.frozen.source.git_dir)
    before = [facts_of(place) for place in places]
    with opener() as box, opener() as neighbour:
        box.sh(VANDAL)
        assert box.out("ls -A") == "left\n"
        assert neighbour.out(
            "git status --porcelain; git fsck --full; cat data/large.txt | wc -c"
        ) == (f"{len(FILES['data/large.txt'])}\n")
        for script in ATTACKS.values():
            attack(neighbour, script)
    assert [facts_of(place) for place in places] == before
    prove_clean(prepared)


def test_two_agents_do_not_see_each_others_work(opener: Opener, prepared: Prepared) -> None:
    with opener() as one, opener() as two:
        one.out("echo mine > src/model.py; echo mine > new.py; rm run.sh; git commit -qam mine")
        assert two.out("cat src/model.py; ls") == FILES["src/model.py"] + (
            "configs\ndata\nends.txt\nlatest\nrun.sh\nsrc\n"
        )
        assert two.out("git log --oneline --all | wc -l").strip() == "1"
        two.out("echo other > src/model.py")
        assert one.out("cat src/model.py") == "mine\n"
        one.session.close()
        two.session.close()
        assert collect(one.view, prepared).changed == ("new.py", "run.sh", "src/model.py")
        assert collect(two.view, prepared).changed == ("src/model.py",)


# --- what agents do with git ---------------------------------------------------------------------


def test_the_workspace_is_clean_at_once_and_without_reading_files(box: Box) -> None:
    """Its index has the facts of the files, so git reads none of them, whatever attributes would do."""
    assert box.out("git --no-optional-locks status --porcelain --ignored") == ""
    box.out("git diff-index --quiet HEAD; git diff-files --quiet")
    facts = box.out("git ls-files --debug | grep -E 'ctime|mtime|ino' | tr -d '\\n'")
    for name in SHOWN:
        ctime, mtime, inode = box.out(f"stat -c '%.9Z %.9Y %i' {name}").split()
        for label, moment in (("ctime", ctime), ("mtime", mtime)):
            seconds, _, fraction = moment.partition(".")
            assert f"{label}: {seconds}:{int(fraction)}" in facts
        assert f"ino: {int(inode) & 0xFFFFFFFF}" in facts
    traced = box.sh("strace -f -e trace=openat git diff-index HEAD 2>&1 | grep -c ends.txt")
    assert traced.stdout.strip() in (b"0", b"")
    assert box.out("git status --porcelain") == ""


GIT_WORK = """
git config user.name me; git config user.email me@example.org
echo 'x = 1' > new.py; git add new.py; git commit -qm one; git commit -q --amend -m 'one again'
git switch -qc side; echo 'y = 1' > side.py; git add -A; git commit -qm side; git switch -q main
echo 'x = 2' > new.py; git commit -qam two; git merge -q --no-edit side
echo 'x = 3' > new.py; git stash -q; test "$(cat new.py)" = 'x = 2'; git stash pop -q
git commit -qam three; git switch -qc topic HEAD~1; echo z > topic.txt; git add -A; git commit -qm t
git rebase -q main; git switch -q main; git merge -q --ff-only topic; git branch -d side topic
git mv run.sh start.sh; git mv src/model.py src/network.py; git rm -q configs/base.yaml latest
git commit -qm moved; echo junk > junk; git clean -fdq; test ! -e junk
echo broken > src/network.py; git checkout -q -- src/network.py
git revert --no-edit HEAD~1 >/dev/null
git gc -q --prune=now; git fsck --full --strict; git tag mine; git worktree add -q /tmp/side HEAD
git bisect start > /dev/null; git bisect reset 2> /dev/null
git reset -q --hard mine; git status --porcelain; git log --format=%s
"""


def test_an_agent_uses_git_as_anywhere(box: Box, prepared: Prepared, tmp_path: Path) -> None:
    """Commit, amend, branch, merge, stash, rebase, move, remove, clean, gc, worktree; then collection."""
    lines = box.out(GIT_WORK).splitlines()
    assert lines[-1].startswith("workspace") and "moved" in lines and "t" in lines
    assert withstood(attack(box, ATTACKS["search the history"])) == ""
    box.session.close()
    found = collect(box.view, prepared)
    assert not found.left_out
    assert set(found.changed) >= {"new.py", "start.sh", "run.sh", "src/network.py", "latest"}
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert (tmp_path / "again/start.sh").stat().st_mode & 0o100
    assert not (tmp_path / "again/configs").exists()


def test_a_folder_is_renamed_by_mv_and_by_git_or_git_says_why_not(
    box: Box, prepared: Prepared
) -> None:
    """An overlay without redirects has no rename of a shared folder: ``mv`` copies, ``git mv`` may refuse."""
    moved = box.sh("git mv configs settings")
    if box.view.kind == "overlay":
        assert moved.exit_code == 0 or b"cross-device" in moved.stderr
    else:
        assert moved.exit_code == 0
    assert box.sh("test -d settings || mv configs settings; git add -A").exit_code == 0
    box.out("mv src/sub src/lower; mv src source; git add -A; ls source/lower/deep.py")
    assert "R  configs/base.yaml -> settings/base.yaml" in box.out("git status --porcelain")
    box.session.close()
    found = collect(box.view, prepared)
    gone = {"configs/base.yaml", "src/__init__.py", "src/model.py", "src/sub/deep.py"}
    new = {"settings/base.yaml", "source/__init__.py", "source/model.py", "source/lower/deep.py"}
    assert set(found.changed) == gone | new


# --- what agents do is collected -----------------------------------------------------------------


def test_changes_with_times_set_back_are_collected(box: Box, prepared: Prepared) -> None:
    """R33: neither modification time nor size tells that a file was not touched."""
    box.out(
        """
        t=$(stat -c %Y src/model.py); sed -i s/Model/Mod3l/ src/model.py; touch -d @$t src/model.py
        touch -r src/model.py src; python3 - <<'END'
import os
status = os.stat("data/large.txt")
with open("data/large.txt", "r+b") as file:
    file.write(b"K")
os.utime("data/large.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
END
        chmod +x configs/base.yaml; touch -d @$t configs/base.yaml; chmod 755 run.sh; touch run.sh
        cp -p ends.txt /tmp/ends; rm ends.txt; cp -p /tmp/ends ends.txt
        """
    )
    box.session.close()
    found = collect(box.view, prepared)
    assert found.changed == ("configs/base.yaml", "data/large.txt", "src/model.py")


@pytest.mark.parametrize(
    ("script", "changed"),
    [
        ("true", ()),
        ("cat $(git ls-files) > /dev/null; git status", ()),
        ("rm -rf src; git checkout -q -- src", ()),
        ("touch src/model.py; chmod 600 src/model.py; chmod 644 src/model.py", ()),
        ("rm -r src/sub; mkdir src/sub", ("src/sub/deep.py",)),
        ("rm -r src/sub; echo x > src/sub", ("src/sub", "src/sub/deep.py")),
        ("rm run.sh; mkdir run.sh; echo x > run.sh/a.py", ("run.sh", "run.sh/a.py")),
        ("echo x > src/train.py", ("src/train.py",)),
        ("mkdir secret; echo x > secret/only.py", ("secret/only.py",)),
        ("ln -sf ../run.sh src/model.py", ("src/model.py",)),
        ("rm -rf .git; git init -q; echo x > n.py", ("n.py",)),
        ("ln src/model.py src/linked.py", ("src/linked.py",)),
        ("ln run.sh other.sh; echo x >> other.sh", ("other.sh", "run.sh")),
    ],
)
def test_what_was_done_is_what_is_collected(
    box: Box, prepared: Prepared, script: str, changed: tuple[str, ...]
) -> None:
    """R33, R34"""
    box.out(script)
    box.session.close()
    assert collect(box.view, prepared).changed == changed


# --- an ordinary user ----------------------------------------------------------------------------


def as_user(folder: Path) -> dict[str, object]:
    """What the tests above look at, for whoever runs this, as one record."""
    prepared = prepare(folder)
    host = SandboxHost(CachePaths(folder / "cache"))
    host.cache.work.mkdir(parents=True, exist_ok=True)
    record: dict[str, object] = {"uid": os.geteuid(), "overlays": mounts_overlays(host.cache.work)}
    remove(host.open(prepared).folder)
    before = facts_of(prepared.frozen.folder), facts_of(prepared.frozen.source.git_dir)
    started = time.monotonic()
    view = host.open(prepared)
    with host.start(view, Policy(limits=Limits(minutes=1))) as session:
        record["seconds"] = time.monotonic() - started
        box = Box(prepared, view, session)
        record["status"] = box.out("git status --porcelain; git fsck --full --strict")
        record["found"] = {
            name: got for name, script in ATTACKS.items() if (got := withstood(attack(box, script)))
        }
    second = host.open(prepared)
    with host.start(second, Policy(limits=Limits(minutes=1))) as session:
        box = Box(prepared, second, session)
        record["git"] = box.out(GIT_WORK)
        box.out("rm -r data; echo x > src/train.py; git mv source src 2>&1 || true")
    record["kind"] = second.kind
    third = host.open(prepared)
    with host.start(third, Policy(limits=Limits(minutes=1))) as session:
        Box(prepared, third, session).sh(VANDAL)
    after = facts_of(prepared.frozen.folder), facts_of(prepared.frozen.source.git_dir)
    record["spoilt"] = [
        f"{path}: {was} is {now.get(path)}"
        for old, now in zip(before, after, strict=True)
        for path, was in old.items()
        if now.get(path) != was
    ]
    record["added"] = sorted({p for now in after for p in now} - {p for old in before for p in old})
    record["changed"] = collect(second, prepared).changed
    record["vandal"] = collect(third, prepared).changed
    for each in (view, second, third):
        remove(each.folder)
    record["left"] = [path.name for path in host.cache.work.iterdir()]
    prove_clean(prepared)
    return record


USER = 12345


def interpreter(drop: list[str], environment: dict[str, str]) -> str | None:
    """A Python of this version that the other user can run, with our packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (f"/usr/bin/{version}", f"/usr/local/bin/{version}", sys.executable):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            probe = [*drop, candidate, "-c", "import expbench.workspace, pytest, numpy, hypothesis"]
            done = subprocess.run(
                probe, env=environment, cwd="/", capture_output=True, timeout=60, check=False
            )
            if done.returncode == 0:
                return candidate
    return None


@pytest.fixture(scope="module")
def users_record() -> Iterator[dict[str, object]]:
    """All of it as an ordinary user, whose overlay is mounted by bubblewrap in a user namespace."""
    if os.geteuid() != 0:
        pytest.skip(
            "these tests run as an ordinary user already: the overlay tests are of this kind"
        )
    tests, source = Path(__file__).parent, Path(expbench.__file__).parents[1]
    paths = [str(source), str(tests), sysconfig.get_paths()["purelib"]]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(paths), "LC_ALL": "C.UTF-8"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    drop = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--"]
    python = interpreter(drop, environment)
    if python is None:
        pytest.skip("no Python of this version that another user may run has the packages")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        own = Path(folder, "own")
        own.mkdir()
        os.chown(own, USER, USER)
        script = (
            "import json, pathlib, test_overlay as t;"
            f"print(json.dumps(t.as_user(pathlib.Path({str(own)!r}))))"
        )
        environment |= {"HOME": str(own), "TMPDIR": str(own)}
        done = subprocess.run(
            [*drop, python, "-c", script],
            env=environment,
            cwd="/",
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
        yield json.loads(done.stdout)


def test_an_ordinary_users_overlay_withstands_the_same(users_record: dict[str, object]) -> None:
    """R13: here the layers belong to the very user that the agent runs as."""
    if not users_record["overlays"]:
        pytest.skip(
            "no overlays for ordinary users here: bubblewrap 0.11 and Linux 5.11 are needed"
        )
    assert users_record["kind"] == "overlay"
    assert users_record["found"] == {}
    assert users_record["spoilt"] == users_record["added"] == []
    assert users_record["left"] == []


def test_an_ordinary_user_works_with_git_and_is_collected(users_record: dict[str, object]) -> None:
    assert users_record["uid"] == USER
    assert users_record["status"] == ""
    assert "moved" in str(users_record["git"])
    changed = users_record["changed"]
    assert isinstance(changed, list)
    assert {"new.py", "start.sh", "run.sh", "data/large.txt", "src/train.py"} <= set(changed)
    assert set(SHOWN) - {"latest"} <= set(users_record["vandal"])  # type: ignore[call-overload]


# --- the proof is not blind ----------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path: Path) -> Prepared:
    """A masked tree in a store of its own, to be spoiled."""
    made = prepare(tmp_path)
    prove_clean(made)
    prove_no_copies(made)
    (made.layer.folder / "no-copies").unlink()
    return made


def masked_blob(prepared: Prepared) -> None:
    content = FILES["src/train.py"].encode()
    write_pack(prepared.git_dir / "objects" / "pack", [packed(b"blob", content)])


def second_commit(prepared: Prepared) -> None:
    tree = prepared.tree
    name = ["-c", "user.name=x", "-c", "user.email=x"]
    made = run_git(prepared.git_dir, *name, "commit-tree", tree, "-m", "x").decode().strip()
    assert made != prepared.commit


def reference(name: str) -> Callable[[Prepared], None]:
    def spoil(prepared: Prepared) -> None:
        silent = ("-c", "core.logAllRefUpdates=false")
        run_git(prepared.git_dir, *silent, "update-ref", name, prepared.commit)

    return spoil


def file(name: str) -> Callable[[Prepared], None]:
    def spoil(prepared: Prepared) -> None:
        path = prepared.git_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")

    return spoil


def working_file(name: str, content: str) -> Callable[[Prepared], None]:
    def spoil(prepared: Prepared) -> None:
        write(prepared.layer.files, {name: content})

    return spoil


def no_whiteout(name: str) -> Callable[[Prepared], None]:
    def spoil(prepared: Prepared) -> None:
        (prepared.layer.files / name).unlink()

    return spoil


def shown_again(prepared: Prepared) -> None:
    path = prepared.layer.files / "src" / "train.py"
    path.unlink()
    path.write_text(FILES["src/train.py"])


def index_of_all(prepared: Prepared) -> None:
    (prepared.git_dir / "index").write_bytes((prepared.frozen.folder / "index").read_bytes())


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (masked_blob, "masked content"),
        (index_of_all, "masked content"),
        (second_commit, "more than one commit"),
        (reference("refs/heads/other"), "refs/heads/other"),
        (reference("refs/tags/other"), "refs/tags/other"),
        (reference("refs/stash"), "refs/stash"),
        (reference("refs/remotes/origin/main"), "refs/remotes"),
        (reference("refs/replace/" + "1" * 40), "refs/replace"),
        (file("objects/info/alternates"), "alternates"),
        (file("logs/HEAD"), "logs"),
        (file("hooks/pre-commit"), "hooks"),
        (file("packed-refs"), "packed-refs"),
        (file("shallow"), "shallow"),
        (file("info/grafts"), "holds info"),
        (file("ORIG_HEAD"), "ORIG_HEAD"),
        (file("objects/info/http-alternates"), "http-alternates"),
        (working_file("src/copy.py", FILES["src/train.py"]), r"src/copy\.py"),
        (working_file("src/model.py", FILES["src/train.py"]), r"src/model\.py"),
        (working_file("src/model.py", FILES["src/model.py"].replace("M", "N")), r"src/model\.py"),
        (no_whiteout("src/train.py"), "src/train.py"),
        (no_whiteout("secret"), "secret/only.py"),
        (no_whiteout("README.md"), "README.md"),
        (shown_again, "src/train.py"),
    ],
)
def test_the_proof_sees_a_spoilt_layer(
    fresh: Prepared, spoil: Callable[[Prepared], None], named: str
) -> None:
    """R13: what every overlay is made from is looked at, not how it was made."""
    spoil(fresh)
    with pytest.raises(LeakError, match=named):
        prove_clean(fresh)


def test_a_spoilt_layer_reaches_no_sandbox(fresh: Prepared, tmp_path: Path) -> None:
    """R13: the proof is run whenever a workspace is opened."""
    masked_blob(fresh)
    for overlay in (True, False):
        with pytest.raises(LeakError):
            open_view(fresh, tmp_path / f"w{overlay}", overlay=overlay)


@pytest.mark.parametrize("nearly", [False, True])
def test_the_proof_sees_copies(tmp_path: Path, nearly: bool) -> None:
    """R13: a kept file that is a masked one under another name, or nearly; and no other."""
    files = {"a/train.py": FILES["src/train.py"], "a/other.py": FILES["src/large.py"]}
    root = tmp_path / "upstream"
    write(root, files)
    copy = FILES["src/train.py"]
    copy = "# by another\nimport os\n" + copy.replace("step_7(", "changed_7(") if nearly else copy
    write(root, {"b/renamed.py": copy, "b/unlike.py": "def other():\n    return 1\n" * 30})
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", "-A")
    run_git(root, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")
    pin = run_git(root, "rev-parse", "HEAD").decode().strip()
    source = from_git(str(root), pin, tmp_path / "cache")
    leaky = mask(source, ("a/train.py",))
    if nearly:
        prove_clean(leaky)
    with pytest.raises(LeakError, match=r"b/renamed\.py"):
        prove_no_copies(leaky)
    clean = mask(source, ("a/train.py", "b/renamed.py"))
    prove_clean(clean)
    prove_no_copies(clean)
