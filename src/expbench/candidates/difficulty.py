"""How hard a paper's experiments are to run: a record from 1 to 5 for each side, each with its evidence.

The sides are the publication's (section 3.1: environment, GPUs, memory, time, quality of the code). What is
said nowhere has no level. Levels are read off signs in the README and the files; a person may differ.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from expbench.candidates.record import Candidate
from expbench.schema import Record

SIDES = ("environment", "gpus", "memory", "time", "code")
_READ = 400_000
"""Bytes of a file that are looked at."""
_FILES = 20_000

_GPU = (
    r"(?:NVIDIA\s+)?(?:Tesla\s+)?(?:A100|H100|H200|A800|V100|A6000|A40|L40S?|P100|T4|RTX[\s-]?\w+|"
    r"(?:20|30|40)[789]0(?:\s?Ti)?)"
)
_MANY_GPUS = re.compile(
    rf"\b(?P<n>\d{{1,4}})\s*[x×*]?\s*(?:{_GPU})?[\s-]*(?:\d+\s?GB\s+)?(?:GPUs?\b|{_GPU})", re.I
)
_MODEL_NUMBER = re.compile(r"(?:10|16|20|30|40|50)[5-9]0|100|200")
"""Of a card, as in RTX 3090 or A 100: no number of cards."""
_ONE_GPU = re.compile(rf"\b(?:single|one|a)\s+(?:{_GPU}|GPU\b)[^.\n]{{0,20}}", re.I)
_ANY_GPU = re.compile(rf"\b(?:CUDA|{_GPU}|GPUs?)\b", re.I)
_GPU_MEMORY = re.compile(
    r"\b(?P<gb>\d{1,3})\s?G(?:i?B)?\b(?=[^.\n]{0,30}(?:GPU|V?RAM|memory))|"
    r"(?:GPU|V?RAM|memory)[^.\n]{0,30}?\b(?P<more>\d{1,3})\s?G(?:i?B)?\b",
    re.I,
)
_TIME = re.compile(
    r"\b(?:takes?|took|requires?|within|about|around|approximately|~)\s*(?:about|around|~|less than)?\s*"
    r"(?P<n>\d+(?:\.\d+)?)\s*(?:GPU[\s-])?(?P<unit>minutes?|mins?|hours?|hrs?|h|days?|weeks?)\b",
    re.I,
)
_HOURS = {"m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_COMPILED = re.compile(
    r"\b(?:CUDAExtension|CppExtension|flash[-_]attn|apex|nvcc|mmcv|spconv|torch-scatter|pytorch3d|"
    r"MinkowskiEngine|deepspeed)\b"
)
_RUN = re.compile(r"^\s*(?:\$\s*)?(?:python3?|bash|sh|torchrun|accelerate|make)\s+\S+.*$", re.M)
_PIN = re.compile(r"^[\w.\[\]-]+\s*==", re.M)
_DECLARING = re.compile(
    r"(?:requirements[\w.-]*\.txt|environment\.ya?ml|setup\.(?:py|cfg)|pyproject\.toml|Dockerfile)\Z"
)


class Sign(Record):
    """One side's level, from 1 (easy) to 5 (hard), and what it rests on."""

    side: str
    level: int
    place: str
    quote: str


class Difficulty(Record):
    """The record; ``level`` is the hardest known side, ``None`` where nothing is known."""

    signs: tuple[Sign, ...] = ()

    @property
    def level(self) -> int | None:
        """The level of the hardest side."""
        return max((each.level for each in self.signs), default=None)

    def of(self, side: str) -> Sign | None:
        """One side's sign."""
        return next((each for each in self.signs if each.side == side), None)


def difficulty_of(candidate: Candidate, clone: Path | None = None) -> Difficulty:
    """The record of a paper, from its README, or from a folder of its repository."""
    texts: dict[str, str] = {}
    paths: tuple[str, ...] = ()
    if clone is not None:
        paths = tuple(_paths(clone))
        texts = dict(_texts(clone, paths))
    elif candidate.readme:
        texts = {"README": candidate.readme[:_READ]}
    if not texts and not paths:
        return Difficulty()
    signs = (
        _environment(texts, paths),
        _gpus(texts),
        _memory(texts),
        _time(texts),
        _code(texts, paths),
    )
    return Difficulty(signs=tuple(filter(None, signs)))


def _paths(clone: Path) -> Iterator[str]:
    found = 0
    for folder, folders, files in os.walk(clone):
        folders[:] = sorted(each for each in folders if each != ".git")
        for name in sorted(files):
            yield (Path(folder) / name).relative_to(clone).as_posix()
            found += 1
            if found == _FILES:
                return


def _texts(clone: Path, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        name = path.rpartition("/")[2]
        if path.count("/") <= 1 and (name.lower().startswith("readme") or _DECLARING.search(name)):
            try:
                with (clone / path).open("rb") as file:
                    yield path, file.read(_READ).decode("utf-8", "replace")
            except OSError:
                continue


def _sign(side: str, level: int, place: str, match: re.Match[str]) -> Sign:
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = " ".join(text[start : end if end >= 0 else None].split())
    return Sign(side=side, level=level, place=place, quote=line[:240])


def _environment(texts: Mapping[str, str], paths: Sequence[str]) -> Sign | None:
    for place, text in texts.items():
        if found := _COMPILED.search(text):
            return _sign("environment", 4, place, found)
    declared = [place for place in texts if _DECLARING.search(place)]
    for place in declared:
        if found := _PIN.search(texts[place]):
            return _sign("environment", 1, place, found)
    if declared:
        return Sign(side="environment", level=2, place=declared[0], quote="no versions are pinned")
    if not paths:
        return None
    return Sign(side="environment", level=4, place="", quote="no file declares packages")


def _gpus(texts: Mapping[str, str]) -> Sign | None:
    counts = [
        (int(found["n"]), place, found)
        for place, text in texts.items()
        for found in _MANY_GPUS.finditer(text)
        if 0 < int(found["n"]) <= 4096 and not _MODEL_NUMBER.fullmatch(found["n"])
    ]
    if counts:
        number, place, found = max(counts, key=lambda each: each[0])
        level = next((lv for most, lv in ((1, 2), (4, 3), (8, 4)) if number <= most), 5)
        return _sign("gpus", level, place, found)
    for pattern in (_ONE_GPU, _ANY_GPU):
        for place, text in texts.items():
            if one := pattern.search(text):
                return _sign("gpus", 2, place, one)
    return None


def _memory(texts: Mapping[str, str]) -> Sign | None:
    sizes = [
        (int(found["gb"] or found["more"]), place, found)
        for place, text in texts.items()
        for found in _GPU_MEMORY.finditer(text)
    ]
    if not sizes:
        return None
    gigabytes, place, found = max(sizes, key=lambda each: each[0])
    level = next((lv for most, lv in ((8, 1), (12, 2), (24, 3), (48, 4)) if gigabytes <= most), 5)
    return _sign("memory", level, place, found)


def _time(texts: Mapping[str, str]) -> Sign | None:
    said = [
        (float(found["n"]) * _HOURS[found["unit"][0].lower()], place, found)
        for place, text in texts.items()
        for found in _TIME.finditer(text)
    ]
    if not said:
        return None
    hours, place, found = max(said, key=lambda each: each[0])
    level = next((lv for most, lv in ((1, 1), (8, 2), (24, 3), (72, 4)) if hours <= most), 5)
    return _sign("time", level, place, found)


def _code(texts: Mapping[str, str], paths: Sequence[str]) -> Sign | None:
    readme = next((place for place in texts if place.lower().startswith("readme")), "")
    if not readme:
        return Sign(side="code", level=5, place="", quote="there is no README")
    found = _RUN.search(texts[readme])
    if found is None:
        return Sign(
            side="code", level=4, place=readme, quote="it names no command that runs something"
        )
    tested = any(re.search(r"(?:^|/)tests?/|test_\w+\.py\Z", path) for path in paths)
    return _sign("code", 1 if tested else 2, readme, found)
