"""The board's templates: names of agents, models and runs are hostile, and only templates make markup."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from expbench.board.board import Board
from expbench.board.breakdown import GROUPED
from expbench.board.facts import fact_rows
from expbench.board.figures import funnels, scatters
from expbench.board.measures import DEFINITIONS, HEADLINE, Standing
from expbench.board.record import Refused, Source, published_rows
from expbench.report.inputs import label_of
from expbench.report.latex import table1
from expbench.report.page import equation
from expbench.report.templating import html_templates, latex_templates, markdown_templates
from expbench.report.text import (
    bounds_text,
    interval_text,
    of_text,
    percent,
    span,
)

_PACKAGES = ("expbench.board", "expbench.report")


@dataclass(frozen=True)
class Extra:
    """What stands on a page besides runs: where they come from, and what was not taken in, and why."""

    title: str
    sources: tuple[Source, ...] = ()
    refused: tuple[Refused, ...] = ()


def render_html(board: Board | None, extra: Extra | None = None) -> str:
    """The page as one HTML file that loads nothing."""
    environment = html_templates(*_PACKAGES)
    script = environment.get_template("board.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = environment.get_template("board.html")
    return template.render(**_context(board), extra=extra, script_digest=digest)


def render_markdown(board: Board | None, extra: Extra | None = None) -> str:
    """The same without figures and tasks, as Markdown."""
    template = markdown_templates(*_PACKAGES).get_template("board.md")
    return template.render(**_context(board), extra=extra)


def render_latex(board: Board | None) -> str:
    """Each run as a row of the publication's Table 1."""
    template = latex_templates(*_PACKAGES).get_template("board.tex")
    return template.render(**_context(board), table1=table1)


def points(value: float | None) -> str:
    """A difference in percentage points; a dash for none."""
    return "–" if value is None else f"{100 * value:+.1f}"


def p_text(value: float | None) -> str:
    """A p value; a dash for none."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _context(board: Board | None) -> dict[str, object]:
    standings = board.standings if board else ()
    facts = board.published if board else None
    return {
        "board": board,
        "standings": standings,
        "divisions": board.divisions if board else (),
        "facts": fact_rows(standings) if standings else (),
        "funnels": funnels,
        "scatters": scatters,
        "headline": [DEFINITIONS[key] for key in HEADLINE],
        "grouped": [DEFINITIONS[key] for key in GROUPED],
        "published": published_rows(facts) if facts else (),
        "warnings": tuple(dict.fromkeys(filter(None, map(_warning, standings)))),
        "label_of": label_of,
        "equation": equation,
        "percent": percent,
        "interval_text": interval_text,
        "of_text": of_text,
        "bounds_text": bounds_text,
        "span": span,
        "points": points,
        "p_text": p_text,
    }


def _warning(each: Standing) -> str:
    return label_of(each.contender.run.manifest)
