"""Workspaces that cannot leak, on real git repositories."""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from workspaces import MASKED, SECRET, Upstream, commit, run_git, snapshot, write

from expbench.errors import DataError, LeakError, RepositoryError
from expbench.workspace import (
    BlobStore,
    Prepared,
    collect,
    find_clone,
    from_folder,
    from_git,
    mask,
    materialise,
    materialise_patched,
    prove_clean,
)
from expbench.workspace.packaging import STUB

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
    references = run_git(workspace, "for-each-ref", "--format=%(refname)").splitlines()
    assert references == ["refs/heads/main", "refs/tags/v1"]
    assert run_git(workspace, "rev-parse", "v1^{commit}") == run_git(workspace, "rev-parse", "HEAD")
    assert run_git(workspace, "remote") == ""
    assert run_git(workspace, "stash", "list") == ""
    assert run_git(workspace, "describe") == run_git(upstream.root, "describe", upstream.commit)
    assert run_git(workspace, "reflog", "--all") == ""
    for name in ("hooks", "logs", "shallow", "packed-refs", "objects/info/alternates"):
        assert not (workspace / ".git" / name).exists()
    for name in ("v0", "side", "HEAD~1", "stash", upstream.commit):
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
    commits = run_git(prepared.frozen.source.git_dir, "rev-list", "--all").splitlines()
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


def test_a_mask_may_name_what_is_refused_whatever_its_bytes(tmp_path: Path) -> None:
    root = tmp_path / "hostile"
    root.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    write(root, {"a.py": "1\n"})
    name = os.fsdecode(b"\xff")
    (root / name).symlink_to("/etc/passwd")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "links")
    pin = run_git(root, "rev-parse", "HEAD")
    prepared = mask(from_git(str(root), pin, tmp_path / "cache"), (name,))
    assert [os.fsdecode(entry.path) for entry in prepared.entries] == ["a.py"]


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
    outside = [path for path in tmp_path.rglob("escaped.py") if not {"w", "cache"} & {*path.parts}]
    assert outside == []
    assert snapshot(tmp_path / "a").keys() <= {"b/w/q", "b/w/q/escaped.py", "b/w/x/y/l"}


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


@pytest.mark.parametrize("kind", ["link", "executable"])
def test_the_stub_of_a_readme_is_a_plain_file(kind: str, tmp_path: Path) -> None:
    """Whatever the README was: text as a link's target would lead anywhere."""
    root = tmp_path / "upstream"
    root.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    write(root, {"pyproject.toml": '[project]\nreadme = "README.md"\n', "docs/index.md": "x"})
    if kind == "link":
        (root / "README.md").symlink_to("docs/index.md")
    else:
        write(root, {"README.md": "results"})
        (root / "README.md").chmod(0o755)
    pin = commit(root, "the pinned one")
    prepared = mask(from_git(str(root), pin, tmp_path / "cache"), ())
    assert prepared.stubs == ("README.md",)
    materialise(prepared, tmp_path / "w")
    kind_of, content = snapshot(tmp_path / "w")["README.md"]
    assert (kind_of, content.strip()) == ("f", STUB.strip())
