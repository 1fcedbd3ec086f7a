"""Workspaces that cannot leak and patches that lose nothing, on real git repositories."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from expbench.errors import DataError, InfrastructureError, LeakError, RepositoryError
from expbench.schema import Blob, Submission
from expbench.workspace import (
    BlobStore,
    Collected,
    Prepared,
    Source,
    collect,
    find_clone,
    from_folder,
    from_git,
    mask,
    materialise,
    materialise_patched,
    prove_clean,
)

SECRET = "the secret recipe: rate = 0.125"
MASKED = ("src/train.py", "configs/best.yaml")


def run_git(cwd: Path, *args: str, stdin: bytes = b"") -> str:
    """The user's own git, far from the harness's settings."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    command = ["git", *identity, "-c", "safe.directory=*", *args]
    done = subprocess.run(
        command, cwd=cwd, env=environment, input=stdin, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode(errors="replace").strip()


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(root: Path, message: str) -> str:
    run_git(root, "add", "-A", "-f")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD")


def snapshot(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file below a folder, without git: kind (executable, file or link) and bytes."""
    found: dict[str, tuple[str, bytes]] = {}
    for path in root.rglob("*"):
        inside = path.relative_to(root)
        name = os.fsencode(inside).decode("utf-8", "backslashreplace")
        if ".git" in inside.parts:
            continue
        if path.is_symlink():
            found[name] = ("l", os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = ("x" if path.stat().st_mode & 0o100 else "f", path.read_bytes())
    return found


def child(root: Path, name: bytes) -> Path:
    """A file by a name that need not be text."""
    return root / os.fsdecode(name)


@dataclass(frozen=True)
class Upstream:
    """A paper's repository with a history: its folder and the commit to pin."""

    root: Path
    commit: str

    def source(self, cache: Path) -> Source:
        return from_git(str(self.root), self.commit, cache)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Upstream:
    """Masked content in the pin and before and after it, in tags, a branch, a stash, a note."""
    root = tmp_path_factory.mktemp("upstream")
    run_git(root, "init", "-q", "-b", "main")
    write(root, {"src/train.py": f"# draft\n# {SECRET}\n", "README.md": "first"})
    commit(root, "first draft")
    run_git(root, "tag", "v0")
    write(
        root,
        {
            "src/train.py": f"# {SECRET}\nrate = 0.125\n",
            "src/model.py": "class Model:\n    pass\n",
            "src/__init__.py": "",
            "configs/best.yaml": f"# {SECRET}\n",
            "configs/base.yaml": "rate: 0.5\n",
            "README.md": f"results: {SECRET}",
            "ReadMe_CN.rst": SECRET,
            "readme.zh-CN.txt": SECRET,
            "README": SECRET,
            "docs/README.md": "how to run\n",
            "READMEANT.py": "kept = True\n",
            "run.sh": "#!/bin/sh\n",
        },
    )
    (root / "run.sh").chmod(0o755)
    (root / "latest").symlink_to("configs/base.yaml")
    pin = commit(root, "the pinned one")
    run_git(root, "tag", "-a", "v1", "-m", f"release, {SECRET}")
    run_git(root, "notes", "add", "-m", SECRET)
    run_git(root, "checkout", "-q", "-b", "side", "v0")
    write(root, {"src/train.py": f"# side {SECRET}\n"})
    commit(root, "on the side")
    run_git(root, "checkout", "-q", "main")
    write(root, {"src/train.py": f"# later {SECRET}\n", "README.md": "after"})
    commit(root, "after the pin")
    write(root, {"src/model.py": f"# stash {SECRET}\n"})
    run_git(root, "stash", "-q")
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n# {SECRET}\n")
    hook.chmod(0o755)
    return Upstream(root, pin)


@pytest.fixture(scope="module")
def prepared(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return mask(upstream.source(tmp_path_factory.mktemp("repos")), MASKED)


@pytest.fixture
def workspace(prepared: Prepared, tmp_path: Path) -> Path:
    materialise(prepared, tmp_path / "workspace")
    return tmp_path / "workspace"


# --- what an agent gets --------------------------------------------------------------------------


def test_the_workspace_is_the_pinned_tree_without_mask_and_root_readmes(workspace: Path) -> None:
    assert snapshot(workspace) == {
        "READMEANT.py": ("f", b"kept = True\n"),
        "configs/base.yaml": ("f", b"rate: 0.5\n"),
        "docs/README.md": ("f", b"how to run\n"),
        "latest": ("l", b"configs/base.yaml"),
        "run.sh": ("x", b"#!/bin/sh\n"),
        "src/__init__.py": ("f", b""),
        "src/model.py": ("f", b"class Model:\n    pass\n"),
    }


def test_the_workspace_is_a_usual_clean_repository(workspace: Path) -> None:
    """An agent can work with git as anywhere."""
    assert run_git(workspace, "status", "--porcelain") == ""
    assert run_git(workspace, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    run_git(workspace, "fsck", "--strict")
    write(workspace, {"new.py": "1\n"})
    assert run_git(workspace, "status", "--porcelain") == "?? new.py"
    commit(workspace, "mine")
    assert run_git(workspace, "show", "--stat", "--format=", "HEAD").startswith("new.py")


def test_the_history_is_one_commit_without_parent(workspace: Path, upstream: Upstream) -> None:
    """R13"""
    assert len(run_git(workspace, "rev-list", "--all", "--reflog").splitlines()) == 1
    assert run_git(workspace, "rev-list", "--max-parents=0", "--count", "HEAD") == "1"
    assert run_git(workspace, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert run_git(workspace, "remote") == ""
    assert run_git(workspace, "stash", "list") == ""
    assert run_git(workspace, "tag") == ""
    assert run_git(workspace, "reflog", "--all") == ""
    for name in ("hooks", "logs", "shallow", "packed-refs", "objects/info/alternates"):
        assert not (workspace / ".git" / name).exists()
    for name in ("v0", "v1", "side", "HEAD~1", "stash", upstream.commit):
        with pytest.raises(subprocess.CalledProcessError):
            run_git(workspace, "rev-parse", "--verify", f"{name}^{{commit}}")


def everything_git_knows(workspace: Path) -> bytes:
    """All bytes of a repository: its history as text, each object inflated, each file as it is."""
    parts = [run_git(workspace, "log", "--all", "-p", "--format=fuller").encode()]
    listing = run_git(workspace, "cat-file", "--batch-all-objects", "--batch-check")
    oids = [line.split()[0] for line in listing.splitlines()]
    parts.append(run_git(workspace, "cat-file", "--batch", stdin="\n".join(oids).encode()).encode())
    parts += [file.read_bytes() for file in (workspace / ".git").rglob("*") if file.is_file()]
    return b"\0".join(parts)


def test_no_object_of_the_workspace_holds_masked_content(
    workspace: Path, upstream: Upstream
) -> None:
    """R13: `git log --all -p`, every object and every file below .git."""
    assert SECRET.encode() in everything_git_knows(upstream.root)
    assert SECRET.encode() not in everything_git_knows(workspace)
    masked = [run_git(upstream.root, "rev-parse", f"{upstream.commit}:{name}") for name in MASKED]
    objects = run_git(workspace, "cat-file", "--batch-all-objects", "--batch-check")
    assert not any(oid in objects for oid in masked)


def test_the_cache_holds_no_commit_but_the_pin(prepared: Prepared, upstream: Upstream) -> None:
    """R41: what is fetched is the pin alone."""
    commits = run_git(prepared.git_dir, "rev-list", "--all").splitlines()
    assert commits == [upstream.commit]


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda w, u: run_git(w, "fetch", "-q", str(u.root), u.commit), "masked content"),
        (lambda w, u: run_git(w, "hash-object", "-w", str(u.root / ".git/HEAD")), ""),
        (lambda w, u: commit(w, "second"), "more than one commit"),
        (lambda w, u: write(w, {"src/train.py": "x"}), "still holds src/train.py"),
        (lambda w, u: write(w, {"README.md": "x"}), "still holds README.md"),
        (lambda w, u: write(w, {".git/hooks/pre-commit": "x"}), "hooks"),
        (lambda w, u: write(w, {".git/objects/info/alternates": "/x"}), "alternates"),
        (lambda w, u: write(w, {".git/logs/HEAD": "x"}), "logs"),
    ],
)
def test_the_proof_sees_what_must_not_be_there(
    workspace: Path,
    prepared: Prepared,
    upstream: Upstream,
    spoil: Callable[[Path, Upstream], object],
    named: str,
) -> None:
    """R13: the check is not blind; a harmless object is no finding."""
    prove_clean(prepared, workspace)
    spoil(workspace, upstream)
    if named:
        with pytest.raises(LeakError, match=named):
            prove_clean(prepared, workspace)
    else:
        prove_clean(prepared, workspace)


def test_a_masked_blob_that_also_lies_elsewhere_is_no_leak(tmp_path: Path) -> None:
    """An empty ``__init__.py`` is masked in one package and kept in another."""
    write(tmp_path / "tree", {"a/__init__.py": "", "b/__init__.py": "", "b/x.py": "1\n"})
    prepared = mask(from_folder(tmp_path / "tree", tmp_path / "cache"), ("a/__init__.py",))
    materialise(prepared, tmp_path / "w")
    assert set(snapshot(tmp_path / "w")) == {"b/__init__.py", "b/x.py"}


def test_a_mask_that_names_an_absent_file_stops_the_task(
    upstream: Upstream, tmp_path: Path
) -> None:
    """R42: a task is never run half masked."""
    with pytest.raises(RepositoryError, match=r"src/gone\.py") as caught:
        mask(upstream.source(tmp_path), ("src/train.py", "src/gone.py"))
    assert "src/train.py" not in str(caught.value)


def test_a_mask_may_name_a_root_readme(upstream: Upstream, tmp_path: Path) -> None:
    """Masks of the release list READMEs that are removed anyway."""
    found = mask(upstream.source(tmp_path), ("README.md", "src/train.py"))
    assert {"README.md", "README", "ReadMe_CN.rst", "readme.zh-CN.txt"} < set(found.removed)


# --- where code comes from -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", ["0" * 40, "main", "v1", "HEAD", "", "--upload-pack=touch canary", "refs/heads/main"]
)
def test_what_is_no_commit_of_the_repository_is_refused(
    upstream: Upstream, tmp_path: Path, wrong: str
) -> None:
    """R41: HEAD is never taken instead, and a moving name is no pin."""
    with pytest.raises(RepositoryError):
        from_git(str(upstream.root), wrong, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*"))


def test_every_commit_can_be_pinned_not_only_tips(upstream: Upstream, tmp_path: Path) -> None:
    source = upstream.source(tmp_path)
    assert source.commit == upstream.commit != run_git(upstream.root, "rev-parse", "HEAD")
    assert upstream.source(tmp_path) == source
    assert [path.name for path in tmp_path.iterdir()] == [f"git-{upstream.commit}.git"]


def test_an_address_without_repository_is_refused(tmp_path: Path) -> None:
    for url in (str(tmp_path / "absent"), "ext::sh -c 'touch canary'", "nothing"):
        with pytest.raises(RepositoryError, match="no repository"):
            from_git(url, "0" * 40, tmp_path / "cache")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RepositoryError, match="cannot be had"):
        from_git(str(tmp_path / "empty"), "0" * 40, tmp_path / "cache")
    with pytest.raises(RepositoryError, match="not a folder"):
        from_folder(tmp_path / "absent", tmp_path / "cache")


def test_an_address_cannot_name_a_command(tmp_path: Path) -> None:
    """git's ``ext`` transport runs programs; a data set's address must not."""
    canary = tmp_path / "canary"
    for url in (f"ext::touch {canary}://x", f"ext::touch% {canary}% a@b"):
        with pytest.raises(RepositoryError):
            from_git(url, "0" * 40, tmp_path / "cache")
    assert not canary.exists()


def test_a_folder_is_imported_with_links_and_modes_but_no_git(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree, {"a/b.py": "1\n", "a/__pycache__/b.pyc": "x", ".git/config": "x", "s/.git": "x"})
    (tree / "a/b.py").chmod(0o755)
    (tree / "to-folder").symlink_to("a")
    (tree / "to-file").symlink_to("a/b.py")
    first = from_folder(tree, tmp_path / "cache")
    assert from_folder(tree, tmp_path / "cache") == first
    materialise(mask(first, ()), tmp_path / "w")
    assert snapshot(tmp_path / "w") == {
        "a/b.py": ("x", b"1\n"),
        "to-file": ("l", b"a/b.py"),
        "to-folder": ("l", b"a"),
    }
    write(tree, {"a/b.py": "2\n"})
    assert from_folder(tree, tmp_path / "cache").commit != first.commit


@pytest.mark.parametrize("layout", ["owner/name", "owner+name", "name", "owner/name.git"])
def test_clones_are_found_by_their_address(tmp_path: Path, layout: str) -> None:
    (tmp_path / layout).mkdir(parents=True)
    run_git(tmp_path / layout, "init", "-q")
    for url in ("https://host.example/owner/name", "git@host.example:owner/name.git"):
        assert find_clone(tmp_path, url) == tmp_path / layout
    assert find_clone(tmp_path, "https://host.example/owner/other") is None


def test_a_failed_import_leaves_nothing_half_made(tmp_path: Path, upstream: Upstream) -> None:
    with pytest.raises(RepositoryError):
        from_git(str(upstream.root), "1" * 40, tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- hostile repositories ------------------------------------------------------------------------


def crafted_tree(root: Path, entries: list[tuple[str, str, str]]) -> str:
    """A tree object that git would not make by itself: (mode, name, object id)."""
    raw = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries
    )
    return run_git(root, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)


def blob(root: Path, content: bytes) -> str:
    return run_git(root, "hash-object", "-w", "--stdin", stdin=content)


def pinned(root: Path, tree: str) -> str:
    made = run_git(root, "commit-tree", tree, "-m", "crafted")
    run_git(root, "update-ref", "refs/heads/crafted", made)
    return made


def test_nothing_of_a_hostile_repository_is_executed(tmp_path: Path) -> None:
    """Filters, hooks and monitors of its tree and of its configuration: no canary appears."""
    root, canary = tmp_path / "hostile", tmp_path / "canary"
    root.mkdir()
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    run_git(root, "init", "-q", "-b", "main")
    attributes = (
        "*.py filter=evil diff=evil merge=evil text eol=crlf\n"
        "*.txt ident working-tree-encoding=UTF-16\n"
        "hidden.py export-ignore\nshown.py export-subst -diff\n"
    )
    files = {
        ".gitattributes": attributes,
        "a.py": "one\r\ntwo\n",
        "hidden.py": "x = 1\n",
        "shown.py": "$Format:%H$\n",
        "id.txt": "$Id$\n",
    }
    for name, content in files.items():
        oid = blob(root, content.encode())
        run_git(root, "update-index", "--add", "--cacheinfo", f"100644,{oid},{name}")
    run_git(root, "commit", "-q", "-m", "hostile")
    pin = run_git(root, "rev-parse", "HEAD")
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.alternateRefsCommand",
        "core.editor",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "uploadpack.packObjectsHook",
        "credential.helper",
        "gpg.program",
        "sequence.editor",
        "merge.evil.driver",
    ):
        run_git(root, "config", key, str(script))
    run_git(root, "config", "core.hooksPath", str(tmp_path / "hooks"))
    for name in ("post-checkout", "reference-transaction", "pre-commit", "post-index-change"):
        for folder in (tmp_path / "hooks", root / ".git" / "hooks"):
            write(folder, {name: script.read_bytes()})
            (folder / name).chmod(0o755)
    prepared = mask(from_git(str(root), pin, tmp_path / "cache"), ())
    materialise(prepared, tmp_path / "w")
    expected = {name: ("f", content.encode()) for name, content in files.items()}
    assert snapshot(tmp_path / "w") == expected
    write(tmp_path / "w", {"a.py": "three\r\n", "shown.py": "print(1)\n"})
    found = collect(tmp_path / "w", prepared)
    materialise_patched(prepared, found.patch, tmp_path / "again")
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "w")
    assert not canary.exists()
    assert "+print(1)" in found.diff and "+three" in found.diff
    script_works = subprocess.run([script], stdin=subprocess.DEVNULL, check=True)
    assert script_works.returncode == 0 and canary.exists()


def test_links_out_of_the_tree_and_submodules_are_refused_and_listed(tmp_path: Path) -> None:
    """R28: only links that stay inside reach a workspace."""
    root = tmp_path / "hostile"
    root.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    write(root, {"a/b/c.py": "1\n"})
    (root / "absolute").symlink_to("/etc/passwd")
    (root / "a/up").symlink_to("../../outside")
    (root / "a/b/fine").symlink_to("../../a/b/c.py")
    run_git(root, "add", "-A")
    run_git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    run_git(root, "commit", "-q", "-m", "links")
    pin = run_git(root, "rev-parse", "HEAD")
    prepared = mask(from_git(str(root), pin, tmp_path / "cache"), ())
    assert dict(prepared.refused) == {
        "absolute": "symbolic link out of the tree",
        "a/up": "symbolic link out of the tree",
        "module": "submodule",
    }
    materialise(prepared, tmp_path / "w")
    assert snapshot(tmp_path / "w") == {
        "a/b/c.py": ("f", b"1\n"),
        "a/b/fine": ("l", b"../../a/b/c.py"),
    }


def test_names_that_leave_the_workspace_are_refused_and_listed(tmp_path: Path) -> None:
    """R28: a crafted tree with ``..``, ``.git`` in any spelling, and an absolute name."""
    root = tmp_path / "hostile"
    root.mkdir()
    run_git(root, "init", "-q")
    evil, good = blob(root, b"evil\n"), blob(root, b"good\n")
    inner = crafted_tree(root, [("100644", "escaped.py", evil)])
    tree = crafted_tree(
        root,
        [
            ("40000", "..", inner),
            ("40000", ".GIT", inner),
            ("40000", ".git", inner),
            ("40000", "git~1", inner),
            ("100644", "good.py", good),
        ],
    )
    prepared = mask(from_git(str(root), pinned(root, tree), tmp_path / "cache"), ())
    assert {path for path, _ in prepared.refused} == {
        "../escaped.py",
        ".GIT/escaped.py",
        ".git/escaped.py",
        "git~1/escaped.py",
    }
    materialise(prepared, tmp_path / "deep" / "w")
    assert snapshot(tmp_path / "deep") == {"w/good.py": ("f", b"good\n")}


def test_a_link_and_files_below_it_write_nothing_outside(tmp_path: Path) -> None:
    """R28: link chains that look inside one by one, and a folder of the same name."""
    root = tmp_path / "hostile"
    root.mkdir()
    run_git(root, "init", "-q")
    evil = blob(root, b"evil\n")
    chain = crafted_tree(root, [("120000", "l", blob(root, b"../.."))])
    middle = crafted_tree(root, [("40000", "y", chain)])
    below = crafted_tree(root, [("100644", "escaped.py", evil)])
    tree = crafted_tree(
        root,
        [
            ("120000", "q", blob(root, b"x/y/l/../..")),
            ("40000", "q", below),
            ("40000", "x", middle),
        ],
    )
    prepared = mask(from_git(str(root), pinned(root, tree), tmp_path / "cache"), ())
    materialise(prepared, tmp_path / "a" / "b" / "w")
    outside = [path for path in tmp_path.rglob("escaped.py") if "w" not in path.parts]
    assert outside == []
    assert snapshot(tmp_path / "a").keys() <= {"b/w/q", "b/w/q/escaped.py", "b/w/x/y/l"}


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
    assert "names/new\nline.py" in found.changed
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
    monkeypatch.setattr("expbench.workspace.scan.FILE_CAP", 5000)
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
    monkeypatch.setattr("expbench.workspace.scan.TOTAL_CAP", 10_000)
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
    monkeypatch.setattr("expbench.workspace.scan.FILES_CAP", 50)
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
    monkeypatch.setattr("expbench.workspace.scan.LISTED_CAP", 10)
    write(workspace, {f"{i}.pyc": "x" for i in range(100)})
    found = collect(workspace, prepared)
    assert len(found.left_out) == 11
    assert found.left_out[-1].reason == "91 more"


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
    assert "larger" in reasons["huge.bin"] and "larger" in reasons["src/model.py"]
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
    assert any("too long" in each.reason for each in found.left_out)
    subprocess.run(["rm", "-rf", workspace / ("d" * 200)], check=True)


def test_many_files_with_long_paths_fit_a_command_line(workspace: Path, prepared: Prepared) -> None:
    """R29: no list of the agent's making grows past what a process may be given."""
    folder = "/".join(["d" * 250] * 7)
    write(workspace, {f"{folder}/{i}.py": f"n = {i}\n" for i in range(300)})
    found = collect(workspace, prepared)
    assert len(found.changed) == 300
    assert "+n = 299" in found.diff


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


# --- the store -----------------------------------------------------------------------------------


def test_the_store_gives_back_what_it_got_and_keeps_equal_bytes_once(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    first = store.put(b"\0\xff")
    assert store.put(b"\0\xff") == first
    assert store.get(first) == b"\0\xff"
    assert store.text(store.put("é".encode("latin-1"))) == "\ufffd"
    assert store.text(None) == ""
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert files[0].parent.name + files[0].name in {first.digest, store.put(b"\xe9").digest}


def test_changed_or_missing_bytes_are_a_data_error(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    kept = store.put(b"bytes")
    file = next(path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(b"other")
    with pytest.raises(DataError, match="was changed"):
        store.get(kept)
    file.unlink()
    with pytest.raises(DataError, match="incomplete"):
        store.get(kept)


def test_a_failed_write_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R43: a kill in the middle leaves no partial bytes under a digest's name."""
    store = BlobStore(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.put(b"bytes")
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    monkeypatch.undo()
    assert store.get(store.put(b"bytes")) == b"bytes"


def test_objects_of_the_harness_stay_out_of_the_agents_repository(
    workspace: Path, prepared: Prepared
) -> None:
    """R13: collecting writes into no repository, neither the agent's nor the cache's."""

    def objects(root: Path) -> set[str]:
        return {path.name for path in root.rglob("objects/*/*")}

    before = objects(workspace), objects(prepared.git_dir)
    write(workspace, {"src/new.py": "print('collected')\n"})
    found = collect(workspace, prepared)
    assert found.patch
    assert (objects(workspace), objects(prepared.git_dir)) == before
    assert zlib.crc32(found.patch) == zlib.crc32(collect(workspace, prepared).patch)
