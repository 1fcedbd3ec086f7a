"""Writes a map's folder, all of it or nothing: the page, the checklist and the map as JSON."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expbench.errors import PrerequisiteError, UserError
from expbench.failure_coding import CoderAgreement
from expbench.failure_map.page import MapPage, build
from expbench.failures import Codebook, FailureMap
from expbench.redaction import redacted
from expbench.report.templating import html_templates, markdown_templates
from expbench.report.text import interval_text, percent, span
from expbench.report.write import swap
from expbench.schema import Outcome

_PACKAGES = ("expbench.failure_map", "expbench.report")


@dataclass(frozen=True)
class MapFiles:
    """The files of a map's folder."""

    root: Path

    @property
    def html(self) -> Path:
        return self.root / "index.html"

    @property
    def checklist(self) -> Path:
        return self.root / "checklist.md"

    @property
    def data(self) -> Path:
        return self.root / "failures.json"


def write_map(
    found: FailureMap,
    book: Codebook,
    runs: Mapping[str, Sequence[Outcome]],
    roots: Mapping[str, Path],
    dest: Path,
    agreement: Sequence[CoderAgreement] = (),
) -> MapFiles:
    """Write ``index.html``, ``checklist.md`` and ``failures.json``; an old map is replaced.

    Raises:
        UserError: ``dest`` holds something that is no failure map.
        PrerequisiteError: it cannot be written.
    """
    dest = dest.absolute()
    files = check_own(dest)
    page = build(found, book, runs, roots, dest, agreement)
    texts = {
        files.html.name: render_html(page),
        files.checklist.name: render_checklist(page),
        files.data.name: json.dumps(map_json(found, agreement), indent=1, ensure_ascii=False),
    }
    token = secrets.token_hex(4)
    fresh = dest.with_name(f".{dest.name}.{token}.new")
    try:
        fresh.mkdir(parents=True)
        for name, text in texts.items():
            (fresh / name).write_text(redacted(text), encoding="utf-8", newline="\n")
        swap(fresh, dest, dest.with_name(f".{dest.name}.{token}.old"))
    except OSError as error:
        raise PrerequisiteError(f"The failure map cannot be written to {dest}: {error}.") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return files


def check_own(dest: Path) -> MapFiles:
    """The files of a folder that may be replaced. Raises UserError where it holds something else."""
    files = MapFiles(dest.absolute())
    own = {files.html.name, files.checklist.name, files.data.name}
    if dest.exists() and (not dest.is_dir() or {path.name for path in dest.iterdir()} - own):
        raise UserError(
            f"{dest} holds something that is no failure map: name another folder with --out."
        )
    return files


def map_json(found: FailureMap, agreement: Sequence[CoderAgreement]) -> dict[str, Any]:
    """The map for programs, with how the coders agree."""
    return {
        **found.model_dump(mode="json"),
        "agreement": [each.model_dump(mode="json") for each in agreement],
    }


def render_html(page: MapPage) -> str:
    """The page as one HTML file that loads nothing and needs no script."""
    return html_templates(*_PACKAGES).get_template("map.html").render(**_context(page))


def render_checklist(page: MapPage) -> str:
    """What to mend, the first thing first, as a list to tick off."""
    return markdown_templates(*_PACKAGES).get_template("checklist.md").render(**_context(page))


def _context(page: MapPage) -> dict[str, object]:
    return {
        "page": page,
        "map": page.map,
        "percent": percent,
        "interval_text": interval_text,
        "span": span,
    }
