"""A makefile's recipes: which commands a target runs, and in which lines they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RULE = re.compile(r"^([^\s:=#][^:=]*?)\s*::?(?!=)\s*([^=]*)$")
_SET = re.compile(r"^\s*(?:export\s+)?([\w.-]+)\s*[:?+!]?=\s*(.*)$")


@dataclass(frozen=True)
class Recipe:
    """The lines of a target, and its commands with their line and text."""

    target: str
    start: int
    end: int
    commands: tuple[tuple[int, str], ...]


def recipes(text: str, target: str = "") -> list[Recipe]:
    """The recipes of a target with those that it needs first; without one, of the first target."""
    rules, variables = _read(text)
    order: list[Recipe] = []
    seen: set[str] = set()

    def add(name: str, depth: int) -> None:
        if name in seen or name not in rules or depth > 40:
            return
        seen.add(name)
        needs, recipe = rules[name]
        for need in needs:
            add(need, depth + 1)
        order.append(recipe)

    first = next((name for name in rules if not name.startswith(".")), "")
    add(target or first, 0)
    return [
        Recipe(
            each.target,
            each.start,
            each.end,
            tuple((n, _expanded(c, variables)) for n, c in each.commands),
        )
        for each in order
    ]


def _read(text: str) -> tuple[dict[str, tuple[list[str], Recipe]], dict[str, str]]:
    rules: dict[str, tuple[list[str], Recipe]] = {}
    variables: dict[str, str] = {}
    lines = text.split("\n")
    names: list[str] = []
    needs: list[str] = []
    commands: list[tuple[int, str]] = []
    start = place = 0
    while place < len(lines):
        number, line = place + 1, lines[place]
        place += 1
        while line.endswith("\\") and place < len(lines):
            line = line[:-1] + " " + lines[place].strip()
            place += 1
        if line.startswith("\t") and names:
            commands.append((number, line.strip().lstrip("@-+")))
            for name in names:
                rules[name] = (needs, Recipe(name, start, place, tuple(commands)))
        elif match := _SET.match(line):
            variables[match[1]] = match[2].strip()
        elif match := _RULE.match(line):
            names, needs, commands, start = (
                match[1].split(),
                match[2].split("#")[0].split(),
                [],
                number,
            )
            for name in names:
                rules[name] = (needs, Recipe(name, start, number, ()))
    return rules, variables


def _expanded(text: str, variables: dict[str, str]) -> str:
    for _ in range(5):
        new = re.sub(r"\$[({]([\w.-]+)[)}]", lambda m: variables.get(m[1], m[0]), text)[:4_000]
        if new == text:
            break
        text = new
    return text.replace("$$", "$").replace("$(MAKE)", "make")
