"""Keeping objects in a pack of ours while an agent's work is compared."""

from __future__ import annotations

from expbench.workspace.repository.objects import PackWriter, packed


def keep(pack: PackWriter, kind: bytes, content: bytes) -> str:
    """Write an object unless the pack has it. Returns its id."""
    made = packed(kind, content)
    pack.add(made)
    return made.oid.hex()
