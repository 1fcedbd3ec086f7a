"""Configuration files as blocks of lines with the values that stand in them.

YAML, JSON, TOML, INI and gin are read by their lines and indentation, not by their grammars: what is
wanted are places and literals, and a file with a syntax error, a template or unknown tags has them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SUFFIXES = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".gin", ".conf")

_KEYED = re.compile(
    r"""^(\s*)(?:-\s+)*["']?([\w./@${}*-]+(?: [\w./-]+)*)["']?\s*(?::(?=\s|$|["'\[{\d])|=(?!=))\s*(.*?)\s*$"""
)
_SECTION = re.compile(r"^\s*\[{1,2}([^\[\]=,]+)\]{1,2}\s*$")
_ITEM = re.compile(r"^(\s*)-\s+([^:#\s].*?)\s*$")
_MOST_LINES, _LONGEST = 6_000, 1_000
"""Lines of a file, and characters of a line, that are read."""
_LONG = 30


@dataclass
class Block:
    """Lines ``start`` to ``end`` under one key; ``values`` are dotted keys and what is written there."""

    name: str
    start: int
    end: int
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    key: str
    value: str


def outline(text: str) -> list[Block]:
    """The blocks of a file, in its order; long ones are also given by the blocks in them."""
    lines = list(_lines(text.split("\n")[:_MOST_LINES]))
    return list(_blocks(lines, "", 0))


def _lines(raw: list[str]) -> Iterator[_Line]:
    shift = 0
    for number, whole in enumerate(raw, 1):
        line = whole[:_LONGEST]
        stripped = line.strip()
        if not stripped or stripped[0] in "#;" or stripped.startswith("//"):
            continue
        if section := _SECTION.match(line):
            shift = 1
            yield _Line(number, 0, section[1].strip(" \"'"), "")
        elif keyed := _KEYED.match(line):
            indent = len(keyed[1].expandtabs()) + (2 if stripped.startswith("- ") else 0)
            yield _Line(number, indent + shift, keyed[2], _value(keyed[3]))
        elif item := _ITEM.match(line):
            yield _Line(number, len(item[1].expandtabs()) + 1 + shift, "", _value(item[2]))
        else:
            yield _Line(number, len(line) - len(line.lstrip()) + 1 + shift, "", _value(stripped))


def _value(text: str) -> str:
    text = re.sub(r"\s+#.*$", "", text).rstrip(",").strip()
    text = "" if text in ("{", "[", "}", "]", "|", ">", "|-", "-", "},", "],") else text
    text = re.sub(r"^(?:&\w+|!\S+)\s*", "", text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _blocks(lines: list[_Line], prefix: str, depth: int) -> Iterator[Block]:
    keyed = [line for line in lines if line.key]
    if not keyed or depth > 6:
        return
    top = min(line.indent for line in keyed)
    starts = [place for place, line in enumerate(lines) if line.key and line.indent <= top]
    run: list[Block] = []
    for place, after in zip(starts, [*starts[1:], len(lines)], strict=True):
        head, inner = lines[place], lines[place + 1 : after]
        name = f"{prefix}{head.key}"
        block = Block(name, head.number, max([head.number, *(x.number for x in inner)]))
        block.values = dict(_leaves(lines[place:after], prefix))
        if not inner:
            run.append(block)
            continue
        yield from _joined(run)
        run = []
        yield block
        if block.end - block.start >= _LONG:
            yield from _blocks(inner, name + ".", depth + 1)
    yield from _joined(run)


def _joined(run: list[Block]) -> Iterator[Block]:
    """Single lines that follow each other are one block, to a dozen."""
    for place in range(0, len(run), 12):
        part = run[place : place + 12]
        values = {key: value for block in part for key, value in block.values.items()}
        yield Block(
            ", ".join(block.name for block in part[:4]), part[0].start, part[-1].end, values
        )


def _leaves(lines: list[_Line], prefix: str) -> Iterator[tuple[str, str]]:
    above: list[tuple[int, str]] = []
    items: dict[str, int] = {}
    for line in lines:
        while above and above[-1][0] >= line.indent:
            above.pop()
        path = prefix + ".".join([name for _, name in above] + ([line.key] if line.key else []))
        if line.key:
            above.append((line.indent, line.key))
            if line.value:
                yield path, line.value[:200]
        elif line.value.strip("{}[],"):
            items[path] = items.get(path, -1) + 1
            if items[path] < 20:
                yield f"{path}[{items[path]}]", line.value[:200]
