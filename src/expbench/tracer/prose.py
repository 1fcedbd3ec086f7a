"""The commands and paths that a text for people has: a README, or a task's usage."""

from __future__ import annotations

import re

from expbench.tracer.modules import Imported
from expbench.tracer.shell import Command, read_script

_FENCE = re.compile(r"```[\w-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INLINE = re.compile(r"`([^`\n]{3,400})`|'([^'\n]{6,400})'|\"([^\"\n]{6,400})\"")
_SET = r"(?:[A-Z_]+=\S+\s+)*"
_QUOTED = re.compile(
    _SET
    + r"(?:python|bash|sh|\./|torchrun|accelerate|deepspeed|make|cd |source|jupyter|[\w./-]+\.(?:sh|py)\b)"
)
_LINE = re.compile(
    r"^\s*(?:\$\s+|[-*]\s+|\d+\.\s+)?(?:[\w /()-]{1,40}:\s+)?("
    + _SET
    + r"(?:python3?|bash|sh|torchrun|accelerate|deepspeed|make|cd|source|\./|nohup|jupyter|CUDA_\w+).*)$",
    re.MULTILINE,
)
_IMPORTS = re.compile(
    r"^[ \t>`]*(?:from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+([\w, ()]{1,300})|import[ \t]+(\w[\w.]*))`?[ \t]*$",
    re.MULTILINE,
)
_PATHS = re.compile(
    r"[\w./*-]{0,200}[\w*-]\.(?:py|sh|ya?ml|json|ipynb|toml|gin|md|txt)\b|(?:[\w-]{1,100}/){1,20}[\w.-]{0,100}"
)


def commands_in(text: str) -> list[Command]:
    """The commands that a text tells the reader to give, in its order, with the lines of the text."""
    found = [(match.start(1), match[1]) for match in _FENCE.finditer(text)]
    outside = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in _INLINE.finditer(outside):
        inner = match[1] or match[2] or match[3]
        if _QUOTED.match(inner):
            found.append((match.start(), inner))
    found += [(match.start(1), match[1]) for match in _LINE.finditer(outside)]
    commands = []
    for place, block in sorted(found)[:400]:
        line = text.count("\n", 0, place)
        commands += [
            Command(each.words, each.start + line, each.end + line, each.sets)
            for each in read_script(block).commands
        ]
    return commands[:400]


def imports_in(text: str) -> list[Imported]:
    """What lines of Python in a text import."""
    found = []
    for match in _IMPORTS.finditer(text):
        if match[1]:
            names = re.findall(r"(\w+)(?:\s+as\s+\w+)?\s*(?:,|$)", match[2].strip("() "))
            found += [Imported(match[1], 0, name) for name in names]
        else:
            found.append(Imported(match[3], 0))
    return found[:100]


def is_command(text: str) -> bool:
    """Whether a line runs something, as experiments are run."""
    return _QUOTED.match(text) is not None


def paths_in(text: str) -> list[str]:
    """Words of a text that look like paths of files."""
    found = (match[0] for match in _PATHS.finditer(text))
    return list(
        dict.fromkeys(path.strip("/.") if path.endswith(("/", ".")) else path for path in found)
    )[:200]
