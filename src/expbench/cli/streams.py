"""The terminal as a command sees it: nothing secret is written to it (R46)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO, cast

from expbench.redaction import protect, redacted, secrets_of


class GuardedStream:
    """A text stream that writes everything but the values of secrets."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded(variables: Mapping[str, str]) -> Iterator[None]:
    """Hide the secrets of an environment in all that is written until the end, on the terminal too."""
    found = secrets_of(variables)
    if not found:
        yield
        return
    before = sys.stdout, sys.stderr
    protect(found)
    sys.stdout, sys.stderr = (cast(TextIO, GuardedStream(each)) for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        protect({})
