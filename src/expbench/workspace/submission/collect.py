"""The agent's work as a patch, taken from outside by comparing trees.

The workspace's own ``.git`` is never read: commits, resets or its deletion change nothing (R34). The
difference between the base tree and the files found is written by git in a repository and an object
folder that are ours, as bytes (R33, R35), and as a text view for judges. The base tree with the patch
is the agent's tree without what the manifest lists (R37).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from expbench.errors import InfrastructureError
from expbench.schema import RESPONSE_NAME, SCRIPT_NAME, LeftOut
from expbench.workspace.owners import own_prefix
from expbench.workspace.prepare import Prepared, own_objects
from expbench.workspace.repository.objects import PackWriter
from expbench.workspace.repository.tree import Entry
from expbench.workspace.submission.comparison import (
    brief,
    deletion,
    difference,
    make_bare,
    pair,
)
from expbench.workspace.submission.manifest import Manifest
from expbench.workspace.submission.names import printable
from expbench.workspace.submission.nofollow import Folder
from expbench.workspace.submission.scan import Scan, scan
from expbench.workspace.submission.showing import arrange
from expbench.workspace.submission.walk import Base
from expbench.workspace.views import View


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


def collect(workspace: View | Path, prepared: Prepared) -> Collected:
    """Compare a workspace, in which no process may run any more, with its masked base tree.

    Args:
        workspace: a bare folder is a copy of which nothing is recorded, so that every file is read.

    Raises:
        InfrastructureError: the workspace is not there, or git could not make the patch.
    """
    view = workspace if isinstance(workspace, View) else View("copy", workspace)
    base = Base(prepared.entries)
    manifest = Manifest()
    with tempfile.TemporaryDirectory(prefix=own_prefix()) as own, _opened(view) as folder:
        environment = own_objects(prepared, Path(own))
        with closing(PackWriter(Path(environment["GIT_OBJECT_DIRECTORY"]) / "pack")) as pack:
            found = scan(view, folder, base, pack, manifest)
            left = brief(base, found.gone)
            shown = arrange(prepared.git_dir, base, found, left, pack)
            changes = pair(_before(base, found, left), found.changes, pack)
            others = pair(shown.old.values(), shown.new.values(), pack)
            pack.finish()
        bare = make_bare(Path(own))
        patch, other = (difference(each, bare, environment) for each in (changes, others))
        return Collected(
            patch=b"".join(map(deletion, left)) + patch,
            diff=shown.text((patch, changes.paths), (other, others.paths)),
            changed=tuple(
                sorted(printable(p) for p in [*(c.path for c in found.changes), *found.gone])
            ),
            left_out=manifest.rows(folder),
            response=found.deliverables.get(RESPONSE_NAME.encode()),
            script=found.deliverables.get(SCRIPT_NAME.encode()),
        )


def _before(base: Base, found: Scan, brief: Sequence[Entry]) -> Iterator[Entry]:
    """The base tree's files that the patch changes or deletes with their content."""
    left = {entry.path for entry in brief}
    for path in [*(change.path for change in found.changes), *found.gone]:
        if path in base.files and path not in left:
            yield base.files[path]


def _opened(view: View) -> Folder:
    try:
        return Folder(os.fsencode(view.files))
    except OSError as error:
        raise InfrastructureError(f"the workspace cannot be read: {error.strerror}") from None
