"""The masked workspace: what an agent gets, and the proof that it holds nothing else.

The masked files and the root READMEs are taken out of the pinned commit's tree; what is left becomes
one commit without a parent. The files of the pin lie once in the store (``frozen``), what tells a task
from them in a layer (``layer``), and a workspace is a view of both (``views``). :func:`prove_clean`
looks at each layer and each copy, though no masked blob can be in one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from expbench.errors import RepositoryError
from expbench.workspace.frozen import FrozenTree, freeze
from expbench.workspace.layer import Layer, Plan, make_layer, shown
from expbench.workspace.repository.objects import IndexEntry, read_index
from expbench.workspace.repository.source import Source
from expbench.workspace.repository.tree import Entry
from expbench.workspace.strict import MaskMode, Survivor


@dataclass(frozen=True)
class Prepared:
    """A masked tree in the store.

    ``entries`` are its files in the order of their paths, ``masked`` those that the task names, ``removed``
    all paths taken out, ``refused`` those that cannot be in any workspace (with why). ``survivors`` are
    the files that strict masking found besides the task's own mask; ``stubs`` the READMEs that neutral
    text stands in for, because packaging reads them.
    """

    frozen: FrozenTree = field(repr=False)
    layer: Layer
    masked: tuple[Entry, ...] = field(repr=False)
    removed: tuple[str, ...]
    masked_oids: frozenset[str] = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)
    survivors: tuple[Survivor, ...] = ()
    stubs: tuple[str, ...] = ()

    @property
    def git_dir(self) -> Path:
        """The repository of the layer; collection compares with it and never writes to it."""
        return self.layer.git_dir

    @property
    def tree(self) -> str:
        return self.layer.record.tree

    @property
    def commit(self) -> str:
        return self.layer.record.commit

    @property
    def environment(self) -> dict[str, str]:
        """Variables that tell builds of the tree the version that git would have told them."""
        return self.frozen.environment

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        return self.frozen.refused

    @cached_property
    def index(self) -> tuple[IndexEntry, ...]:
        """The files of the masked tree, with their facts on the file system, in order."""
        return tuple(read_index((self.git_dir / "index").read_bytes()))


def mask(
    source: Source,
    paths: tuple[str, ...],
    mode: MaskMode = "strict",
    survivors: tuple[Survivor, ...] = (),
    owner: int | None = None,
) -> Prepared:
    """The masked tree of a source, in the store and proven clean.

    Mode ``paper`` takes out ``paths`` and the root's README.md; ``strict`` its READMEs in any case and
    language, and what is left of the answer in ``survivors``.

    Args:
        owner: uid that sandboxes run as, when it is not this process's.

    Raises:
        RepositoryError: a masked path is not in the repository, so the task would not be masked.
        LeakError: the proof failed.
    """
    return mask_tree(freeze(source, owner), paths, mode, survivors)


def mask_tree(
    frozen: FrozenTree,
    paths: tuple[str, ...],
    mode: MaskMode = "strict",
    survivors: tuple[Survivor, ...] = (),
) -> Prepared:
    """As :func:`mask`, of a tree that is at hand."""
    source = frozen.source
    wanted = {os.fsencode(path) for path in paths}
    found = {os.fsencode(each.path): each for each in survivors if each.action != "reported"}
    cleared = {path: each.content for path, each in found.items() if each.content is not None}
    there = frozen.by_path
    if missing := wanted - there.keys():
        missing -= {entry.path for entry in frozen.whole}
    if missing:
        names = ", ".join(os.fsdecode(path) for path in sorted(missing))
        raise RepositoryError(
            f"The task masks {names}, which commit {(source.pin or source.commit)[:12]} does not have: "
            "this task cannot be masked as released."
        )
    readmes = frozen.root_readmes if mode == "strict" else {b"README.md"}
    hidden = there.keys() & (wanted | readmes | (found.keys() - cleared.keys()))
    gone = [there[path] for path in sorted(hidden)]
    replaced = {path: content for path, content in cleared.items() if path not in hidden}
    stubs = frozen.stubs(hidden)
    replaced |= {os.fsencode(stub.path): stub.content for stub in stubs}
    plan = Plan(frozenset(hidden), replaced, source.described, answers=not frozen.takes_tags_apart)
    kept = shown(frozen, plan)
    taken = {there[path].oid for path in hidden | (there.keys() & replaced.keys())}
    return Prepared(
        frozen=frozen,
        layer=make_layer(frozen, plan, kept),
        masked=tuple(entry for entry in gone if entry.path in wanted),
        removed=tuple(os.fsdecode(entry.path) for entry in gone),
        entries=tuple(kept),
        masked_oids=frozenset(taken).difference(entry.oid for entry in kept),
        survivors=survivors,
        stubs=tuple(stub.path for stub in stubs),
    )


def own_objects(prepared: Prepared, folder: Path) -> dict[str, str]:
    """git's environment for work on a prepared tree that leaves its repository as it is."""
    objects = folder / "objects"
    objects.mkdir()
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(prepared.git_dir / "objects"),
    }
