"""The agent's work as a patch, taken from outside by comparing trees.

The workspace's own ``.git`` is never read: commits, resets or its deletion change nothing (R34). The
difference between the base tree and the files found is written by git through an index and an object
folder that are ours, as bytes (R33, R35), and as a text view for judges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, LeftOut
from expbench.workspace.git import GitError, git
from expbench.workspace.prepare import Prepared, own_objects
from expbench.workspace.scan import Change, Scan, printable, scan
from expbench.workspace.tree import list_tree
from expbench.workspace.view import by_name_only, is_notebook, notebook_diff, outline

# No renames: git cannot apply the rename of a link that gives way to a folder.
_DIFF = ("diff-tree", "-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv")
_BATCH_BYTES = 100_000


@dataclass(frozen=True)
class Collected:
    """What was found in a workspace.

    ``patch`` leads from the masked tree to the agent's, without what ``left_out`` lists; ``diff`` is its
    text view (see ``workspace.view``); ``response`` and ``script`` are the two deliverables' bytes.
    """

    patch: bytes
    diff: str
    changed: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    response: bytes | None
    script: bytes | None


def collect(workspace: Path, prepared: Prepared) -> Collected:
    """Compare a workspace, in which no process may run any more, with its masked base tree.

    Raises:
        InfrastructureError: git could not make the patch.
    """
    base = {entry.path: entry for entry in prepared.entries}
    with tempfile.TemporaryDirectory(prefix="expbench-collect-") as folder:
        compare = _Comparison(prepared, own_objects(prepared, Path(folder)))
        found = scan(workspace, base, Path(folder) / "objects")
        tree = compare.tree_of(found)
        compare.drop_unheld(tree, found)
        by_path = {change.path: change for change in found.changes}
        return Collected(
            patch=compare.patch(tree),
            diff=compare.text(tree, found),
            changed=tuple(sorted(printable(path) for path in [*by_path, *found.gone])),
            left_out=tuple(found.left_out),
            response=compare.content(by_path.get(RESPONSE_NAME.encode())),
            script=compare.content(by_path.get(SCRIPT_NAME.encode())),
        )


def _batches(paths: list[bytes]) -> Iterator[list[bytes]]:
    """The paths in lists that fit into a command line."""
    batch: list[bytes] = []
    size = 0
    for path in paths:
        size += len(path)
        if batch and size > _BATCH_BYTES:
            yield batch
            batch, size = [], len(path)
        batch.append(path)
    if batch:
        yield batch


@dataclass(frozen=True)
class _Comparison:
    """git over our own index and object folder, with the harness's repository behind it."""

    prepared: Prepared
    environment: dict[str, str]

    def tree_of(self, found: Scan) -> str:
        """The tree of everything that was found and not left out."""
        self._git(["read-tree", self.prepared.tree])
        zero = "0" * 40
        gone = b"".join(b"0 %s\t%s\0" % (zero.encode(), path) for path in found.gone)
        new = b"".join(
            b"%s %s\t%s\0" % (change.mode.encode(), change.oid.encode(), change.path)
            for change in found.changes
        )
        self._git(["update-index", "-z", "--index-info"], gone + new)
        return self._git(["write-tree"]).decode().strip()

    def drop_unheld(self, tree: str, found: Scan) -> None:
        """git passes over names that it keeps for itself, silently: list those as left out."""
        entries = list_tree(self.prepared.git_dir, tree, self.environment)
        held = {(entry.path, entry.mode, entry.oid) for entry in entries}
        for change in found.changes:
            if (change.path, change.mode, change.oid) not in held:
                found.leave(change.path, change.size, "git cannot hold a file of this name")
        found.changes = [c for c in found.changes if (c.path, c.mode, c.oid) in held]

    def patch(self, tree: str) -> bytes:
        return self._git([*_DIFF, self.prepared.tree, tree])

    def text(self, tree: str, found: Scan) -> str:
        """The text view: source files as a diff, notebooks as code, outputs by name and size."""
        shown = [c for c in found.changes if not by_name_only(c.path) and not is_notebook(c.path)]
        removed = [path for path in found.gone if not by_name_only(path)]
        paths = [b":(literal)" + path for path in [*(c.path for c in shown), *removed]]
        options = ["-p", "--no-ext-diff", "--no-textconv", self.prepared.tree, tree, "--"]
        parts = []
        for some in _batches(paths):
            args: list[str | bytes] = ["diff-tree", *options, *some]
            parts.append(self._git(args).decode("utf-8", errors="replace"))
        base = {entry.path: entry.oid for entry in self.prepared.entries}
        for change in found.changes:
            if is_notebook(change.path):
                old = self._blob(base[change.path]) if change.path in base else b""
                parts.append(notebook_diff(change.path, old, self._blob(change.oid)))
        named = [(c.path, c.size) for c in found.changes if by_name_only(c.path)]
        return "".join(parts) + outline(named)

    def content(self, change: Change | None) -> bytes | None:
        if change is None or change.mode == "120000":
            return None
        return self._blob(change.oid)

    def _blob(self, oid: str) -> bytes:
        return self._git(["cat-file", "blob", oid])

    def _git(self, args: list[str | bytes] | list[str], stdin: bytes | None = None) -> bytes:
        try:
            return git(args, git_dir=self.prepared.git_dir, stdin=stdin, env=self.environment)
        except GitError as error:
            raise InfrastructureError(
                f"the agent's changes could not be compared: {error}"
            ) from None
