"""How a request ends when it is not answered: refused on purpose, or failed."""

from __future__ import annotations

from typing import Literal

RefusalKind = Literal["package", "host", "path", "request"]


class Refused(Exception):  # noqa: N818 - a verdict, not an error
    """The gateway will not do it: answered with 403 and one sentence, and recorded.

    ``papers``: it is the paper's own, see :class:`~expbench.schema.Refusal`.
    """

    def __init__(self, kind: RefusalKind, target: str, why: str, papers: bool = False) -> None:
        super().__init__(why)
        self.kind: RefusalKind = kind
        self.target = target
        self.why = why
        self.papers = papers


class Failed(Exception):  # noqa: N818 - becomes a response
    """It could not be had from the index or host: answered with ``status``."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
