"""apt's sources, in both of their forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Fields = tuple[tuple[str, str], ...]

_KEPT = {
    name.lower(): name
    for name in (
        "Suites",
        "Components",
        "Architectures",
        "Languages",
        "Signed-By",
        "Trusted",
        "Check-Valid-Until",
        "By-Hash",
    )
}
_OPTIONS = {"arch": "Architectures", "lang": "Languages"}
_LINE = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<url>\S+)\s+(?P<suite>\S+)\s*(?P<rest>.*)"
)


def apt_sources(folder: Path) -> Iterator[tuple[str, Fields]]:
    """Each source of binary packages below ``/etc/apt``: its address and what else it says."""
    parts = folder / "sources.list.d"
    for path in [folder / "sources.list", *sorted(parts.glob("*.list"))]:
        yield from _lines(_text(path))
    for path in sorted(parts.glob("*.sources")):
        yield from _stanzas(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _lines(text: str) -> Iterator[tuple[str, Fields]]:
    for line in text.splitlines():
        found = _LINE.fullmatch(line.partition("#")[0].strip())
        if found is None:
            continue
        fields = {"Suites": found["suite"]}
        if found["rest"]:
            fields["Components"] = found["rest"]
        for option in (found["options"] or "").split():
            name, _, value = option.partition("=")
            name = _OPTIONS.get(name.lower(), _KEPT.get(name.lower(), ""))
            if name:
                fields[name] = value.replace(",", " ")
        yield found["url"], tuple(fields.items())


def _stanzas(text: str) -> Iterator[tuple[str, Fields]]:
    for stanza in re.split(r"\n\s*\n", text):
        said = _fields(stanza)
        if said.get("enabled", "yes").lower() in ("no", "false", "off", "without", "disable"):
            continue
        if "deb" in said.get("types", "").split():
            fields = tuple((_KEPT[name], value) for name, value in said.items() if name in _KEPT)
            yield from ((url, fields) for url in said.get("uris", "").split())


def _fields(stanza: str) -> dict[str, str]:
    """A stanza's fields by their lower-case name; continuation lines keep their line ends."""
    found: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and name:
            found[name] += f"\n{line.rstrip()}"
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            found[name] = value.strip()
    return found
