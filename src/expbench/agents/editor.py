"""A small file editor as a tool, over nothing but a sandbox's files.

Inspect's own needs its program inside, which takes more than a second for each call and makes no folders.
"""

from __future__ import annotations

from typing import Literal

from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import sandbox

SHOWN = 16_000
"""Characters of a file that are shown at once."""

_AROUND = 3
"""Lines that are shown before and after an edit."""


@tool
def edit_file() -> Tool:
    """View, create and change text files."""

    async def execute(
        command: Literal["view", "create", "str_replace", "insert"],
        path: str,
        file_text: str = "",
        old_str: str = "",
        new_str: str = "",
        insert_line: int = 0,
        first_line: int = 1,
        last_line: int = 0,
    ) -> str:
        """View, create or change one text file; relative paths start at the repository's root.

        Args:
            command: view shows a file with line numbers; create writes file_text as the whole file,
                with its folders; str_replace replaces old_str, which must stand in the file exactly
                once, by new_str; insert puts new_str after line insert_line.
            path: The file.
            file_text: For create, the whole new content.
            old_str: For str_replace, the text to be replaced, with enough around it to be unique.
            new_str: For str_replace and insert, the new text.
            insert_line: For insert, the line after which the text goes; 0 is the file's beginning.
            first_line: For view, the first line shown.
            last_line: For view, the last line shown; 0 is the file's end.
        """
        if command == "create":
            await _write(path, file_text)
            return f"wrote {path}, {len(file_text.splitlines())} lines"
        text = await _read(path)
        if command == "view":
            return _numbered(text, max(1, first_line), last_line or None)
        if command == "insert":
            return await _insert(path, text, insert_line, new_str)
        return await _replace(path, text, old_str, new_str)

    return execute


async def _replace(path: str, text: str, old: str, new: str) -> str:
    found = text.count(old) if old else 0
    if found != 1:
        how = "is not in" if not found else f"stands {found} times in"
        raise ToolError(f"old_str {how} {path}: give text that stands there exactly once.")
    await _write(path, text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    return _changed(text.replace(old, new), line, line + new.count("\n"))


async def _insert(path: str, text: str, after: int, new: str) -> str:
    lines = text.splitlines(keepends=True)
    if not 0 <= after <= len(lines):
        raise ToolError(f"insert_line must be from 0 to {len(lines)}, the lines of {path}.")
    if after and not lines[after - 1].endswith("\n"):
        lines[after - 1] += "\n"
    added = new if new.endswith("\n") else f"{new}\n"
    changed = "".join([*lines[:after], added, *lines[after:]])
    await _write(path, changed)
    return _changed(changed, after + 1, after + added.count("\n"))


def _changed(text: str, first: int, last: int) -> str:
    shown = _numbered(text, max(1, first - _AROUND), last + _AROUND)
    return f"changed; the file is there now:\n{shown}"


def _numbered(text: str, first: int, last: int | None) -> str:
    lines = text.splitlines()[first - 1 : last]
    shown = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, first))
    if len(shown) <= SHOWN:
        return shown or "(nothing)"
    return f"{shown[:SHOWN]}\n[… {len(shown) - SHOWN} more characters: view fewer lines …]"


async def _read(path: str) -> str:
    try:
        return await sandbox().read_file(path)
    except FileNotFoundError:
        raise ToolError(f"{path} does not exist.") from None
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder: list it with ls.") from None
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not a text file in UTF-8.") from None


async def _write(path: str, text: str) -> None:
    try:
        await sandbox().write_file(path, text)
    except IsADirectoryError:
        raise ToolError(f"{path} is a folder.") from None
