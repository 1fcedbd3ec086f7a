"""The steps in a piece of Python: definitions, blocks, and runs of statements that belong together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from expbench.tracer.graph import StepKind
from expbench.tracer.kinds import kind_of, named_kind, values_of
from expbench.tracer.modules import DEFINITIONS, Module

WHOLE = 80
"""Lines to which a definition or block is a step as a whole; longer ones are only steps by their parts."""
_OPENED = 10
"""Lines from which the parts of a block are steps too."""
_DEEPEST = 14
_VALUES, _OPTIONS = 24, 100
"""Values of a step, and of one that is there to give values."""


@dataclass
class Piece:
    """A step before it has a place in the order: lines of the file, from 1."""

    kind: StepKind
    start: int
    end: int
    label: str
    values: dict[str, str] = field(default_factory=dict)
    words: str = ""


def pieces(module: Module, statements: Sequence[ast.stmt]) -> list[Piece]:
    """The steps of statements in the source's order: outer ones first, then what is in them."""
    lines = module.text.split("\n")
    return list(_Reader(module, lines).run(statements, 0))


@dataclass
class _Reader:
    module: Module
    lines: list[str]

    def run(self, statements: Sequence[ast.stmt], depth: int) -> Iterator[Piece]:
        """Simple statements without a blank line between them are one step."""
        together: list[ast.stmt] = []
        for statement in statements:
            compound = isinstance(
                statement,
                (
                    *DEFINITIONS,
                    ast.For,
                    ast.AsyncFor,
                    ast.While,
                    ast.If,
                    ast.With,
                    ast.AsyncWith,
                    ast.Try,
                    ast.Match,
                ),
            )
            full = bool(together) and _end(statement) - _start(together[0]) >= WHOLE
            if together and (compound or full or self._apart(together[-1], statement)):
                yield self._piece(together)
                together = []
            if compound:
                yield from self._compound(statement, depth)
            elif not _idle(statement):
                together.append(statement)
        if together:
            yield self._piece(together)

    def _apart(self, before: ast.stmt, after: ast.stmt) -> bool:
        between = self.lines[_end(before) : _start(after) - 1]
        return any(not line.strip() for line in between)

    def _compound(self, statement: ast.stmt, depth: int) -> Iterator[Piece]:
        start, end = _start(statement), _end(statement)
        if isinstance(statement, ast.ClassDef):
            yield from self._class(statement, depth)
            return
        if end - start < WHOLE:
            yield self._piece([statement])
        else:
            head = next((block[0] for block in inner_blocks(statement)), statement)
            yield self._piece([statement], last=max(start, _start(head) - 1))
        if depth < _DEEPEST and end - start >= _OPENED:
            for inner in inner_blocks(statement):
                yield from self.run(inner, depth + 1)

    def _class(self, node: ast.ClassDef, depth: int) -> Iterator[Piece]:
        methods = [each for each in node.body if isinstance(each, DEFINITIONS)]
        fields = [
            each for each in node.body if not isinstance(each, DEFINITIONS) and not _idle(each)
        ]
        if _end(node) - _start(node) < WHOLE:
            yield self._piece([node])
        else:
            first = min((_start(each) for each in [*methods, *fields]), default=_end(node))
            yield self._piece([node], last=max(_start(node), first - 1), values_from=[])
            yield from self.run(fields, depth + 1)
        if depth < _DEEPEST and (_end(node) - _start(node) >= _OPENED):
            for method in methods:
                yield from self._compound(method, depth + 1)

    def _piece(
        self,
        run: list[ast.stmt],
        last: int | None = None,
        values_from: Sequence[ast.AST] | None = None,
    ) -> Piece:
        start, end = _start(run[0]), last or _end(run[-1])
        text = "\n".join(self.lines[start - 1 : end])
        kind = kind_of(run[0], text) if len(run) == 1 else named_kind(text)
        most = _OPTIONS if kind in ("options", "config") else _VALUES
        return Piece(
            kind=kind,
            start=self.module.line(start),
            end=max(self.module.line(start), self.module.line(end)),
            label=_label(run[0], self.lines),
            values=values_of(run if values_from is None else values_from, most)
            if last is None
            else {},
            words=text[:1_500],
        )


def inner_blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The lists of statements in a compound one."""
    blocks = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", ())]
    blocks += [case.body for case in getattr(statement, "cases", ())]
    return [block for block in blocks if block]


def _start(statement: ast.stmt) -> int:
    decorated: list[int] = [each.lineno for each in getattr(statement, "decorator_list", ())]
    return min([statement.lineno, *decorated])


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _idle(statement: ast.stmt) -> bool:
    """A docstring, ``pass`` and the like do nothing."""
    if isinstance(statement, ast.Pass | ast.Global | ast.Nonlocal):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _label(statement: ast.stmt, lines: Sequence[str]) -> str:
    """The statement's first line, decorators left out."""
    line = lines[min(statement.lineno, len(lines)) - 1].strip()
    return line.rstrip(":{([,").strip()[:100] or type(statement).__name__
