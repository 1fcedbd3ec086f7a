"""Lists of files that fit into a prompt: the longest folders are folded into one line each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from expbench.judges.excerpt import tokens_in
from expbench.judges.visible import on_one_line

_ENDINGS = 4


def listed(paths: Sequence[str], room: int) -> str:
    """The files one a line, in about ``room`` tokens; nothing is left out without its number.

    While the list is too long, the folder whose files take most room is folded into a line that
    counts them, ``data/ (1200 files: .csv, .json)``; then the root's folders are, and at last the
    list ends early.
    """
    names = list(map(on_one_line, paths))
    for folder in (_parent, _top):
        lines = _folded(names, room, folder)
        if _size(lines) <= room:
            return "\n".join(lines)
    return "\n".join(_ended(lines, room))


def _folded(names: Iterable[str], room: int, folder: Callable[[str], str]) -> list[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[folder(name)].append(name)
    costs = {name: _size(lines) for name, lines in groups.items()}
    total = sum(costs.values())
    for name in sorted(groups, key=lambda name: (-costs[name], name)):
        if total <= room:
            break
        if name and len(groups[name]) > 1:
            groups[name] = [_summary(name, groups[name])]
            total += _size(groups[name]) - costs[name]
    return [line for lines in groups.values() for line in lines]


def _summary(folder: str, names: Sequence[str]) -> str:
    endings = Counter(PurePosixPath(name).suffix for name in names)
    kinds = [ending for ending, _ in endings.most_common() if ending][:_ENDINGS]
    return f"{folder}/ ({len(names)} files{': ' if kinds else ''}{', '.join(kinds)})"


def _ended(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= _size([line])
        if room < 0:
            break
        kept.append(line)
    return [*kept, f"({len(lines) - len(kept)} more lines of this list are left out)"]


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _top(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


def _size(lines: Iterable[str]) -> int:
    return sum(tokens_in(line) + 1 for line in lines)
