"""Prompts are text files of this package, filled strictly and identified by a digest.

A placeholder is written ``{{name}}``, a lower-case word. Filling replaces every placeholder in one
pass, so that a value which itself looks like a placeholder stays as it is: what an agent submits
can never pull another value into a prompt. A missing, an unknown or a malformed placeholder is an
error, since a judge that silently lacks half of its question still answers.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from expbench.errors import DataError, NotFoundError

_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Prompt:
    """One prompt's text with placeholders.

    Raises ``DataError`` when the text holds ``{{`` that does not start a placeholder.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        if "{{" in _PLACEHOLDER.sub("", self.text):
            raise DataError(f"The prompt {self.name!r} holds a malformed placeholder.")

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """The names that :meth:`fill` needs."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    @cached_property
    def digest(self) -> str:
        """sha256 of the unfilled text, as hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, **values: str) -> str:
        """The text with every placeholder replaced; ``DataError`` unless the names match."""
        missing = sorted(self.placeholders - values.keys())
        extra = sorted(values.keys() - self.placeholders)
        if missing or extra:
            raise DataError(
                f"The prompt {self.name!r} was filled wrongly: missing {missing}, unknown {extra}."
            )
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


def load(name: str) -> Prompt:
    """The prompt ``name``; ``NotFoundError`` when the package has no such text file."""
    source = resources.files(__name__) / f"{name}.txt"
    if not _NAME.fullmatch(name) or not source.is_file():
        raise NotFoundError(f"There is no prompt named {name!r}.")
    return Prompt(name=name, text=source.read_text(encoding="utf-8"))


__all__ = ["Prompt", "load"]
