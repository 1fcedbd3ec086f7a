"""Outcomes of a run in little memory.

As objects an outcome takes some ninety kilobytes, as compressed JSON a few: a run of thousands of attempts
keeps them so, and makes an object of the one that is asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, MutableMapping

from expbench.journal import Key
from expbench.schema import Outcome


class Shelf(MutableMapping[Key, Outcome]):
    """A dictionary of outcomes, in the order in which their keys came first.

    Equal outcomes come out as went in, though not the same objects. The one asked for last is at hand.
    """

    def __init__(self, outcomes: Mapping[Key, Outcome] | None = None) -> None:
        self._packed: dict[Key, bytes] = {}
        self._last: tuple[bytes, Outcome] | None = None
        self.update(outcomes or {})

    def __getitem__(self, key: Key) -> Outcome:
        packed, last = self._packed[key], self._last
        if last is not None and last[0] is packed:
            return last[1]
        outcome = Outcome.model_validate_json(zlib.decompress(packed))
        self._last = (packed, outcome)
        return outcome

    def __setitem__(self, key: Key, outcome: Outcome) -> None:
        self._packed[key] = zlib.compress(outcome.model_dump_json().encode(), 1)

    def __delitem__(self, key: Key) -> None:
        del self._packed[key]

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __iter__(self) -> Iterator[Key]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def __repr__(self) -> str:
        return f"Shelf({len(self)} outcomes)"
