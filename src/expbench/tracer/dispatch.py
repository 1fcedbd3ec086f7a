"""Definitions by their names over the whole repository: classes, and what is registered under a name."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict

from expbench.tracer.tree import Tree

_MOST_FILES = 6_000
_MOST_CHARACTERS = 60_000_000

_DEFINED = re.compile(
    r"""^(?:[ ]{0,4})@(?P<how>[\w.]*regist\w*(?:\.\w+)?)(?:\((?P<given>[^\n]*?)\))?[ \t]*$"""
    r"""|^(?P<what>class|def)[ \t]+(?P<name>\w+)""",
    re.MULTILINE,
)
_CALLED = re.compile(
    r"""regist\w*\(\s*(?:id\s*=\s*|name\s*=\s*)?["']([\w./:-]+)["'](?:\s*,\s*(?:entry_point\s*=\s*)?["']?([\w.:]+)["']?)?"""
)
_TEXT = re.compile(r"""["']([\w./:-]+)["']""")


class Names:
    """An index that is made when first asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._made = False
        self._classes: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._registered: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def find(self, word: str, near: str) -> tuple[str, str] | None:
        """The file and definition that a name is registered for, else its class, nearest to ``near``."""
        if not self._made:
            self._make()
        found = self._registered.get(word) or self._classes.get(word) or ()
        return max(
            found,
            key=lambda each: (len(posixpath.commonprefix([each[0], near])), -len(each[0]), each),
            default=None,
        )

    def _make(self) -> None:
        self._made = True
        characters = 0
        for count, path in enumerate(p for p in self.tree.sizes if p.endswith(".py")):
            if count >= _MOST_FILES or characters > _MOST_CHARACTERS:
                self.tree.note(f"Names were looked for in the first {count} Python files only.")
                return
            if text := self.tree.read(path):
                characters += len(text)
                self._index(path, text)

    def _index(self, path: str, text: str) -> None:
        pending: list[str] | None = None
        for match in _DEFINED.finditer(text):
            if match["how"]:
                pending = (pending or []) + _TEXT.findall(match["given"] or "")
                continue
            name = match["name"]
            if pending is not None:
                for word in [*pending, name]:
                    self._registered[word].append((path, name))
                pending = None
            if match["what"] == "class":
                self._classes[name].append((path, name))
        if "regist" in text:
            for match in _CALLED.finditer(text):
                entry = (match[2] or "").replace(":", ".")
                name = entry.rpartition(".")[2]
                self._registered[match[1]].append((path, name if name in text else ""))
