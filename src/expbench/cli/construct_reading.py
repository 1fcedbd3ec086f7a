"""``expbench construct read``: a paper's PDF as sections, tables and figures, each with its place."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do
from expbench.cli.settings import cache_folder

EPILOG = "Example: expbench construct read --pdf paper.pdf --out paper"


class Recognition(StrEnum):
    """When the picture of a page is read instead of its text layer."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


def read(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A project: its paper is read.")
    ] = None,
    pdf: Annotated[Path | None, typer.Option(help="Instead of a project: a paper's PDF.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="With --pdf: the folder of what is read [default: the PDF's name]."),
    ] = None,
    ocr: Annotated[
        Recognition,
        typer.Option(
            help="Recognise pages from their pictures: auto, those without a usable text layer."
        ),
    ] = Recognition.AUTO,
    find: Annotated[
        str, typer.Option(help="Show the places that are about this; what was read is used again.")
    ] = "",
    top: Annotated[int, typer.Option(min=1, help="With --find: places that are shown.")] = 8,
    json: JsonOption = False,
) -> None:
    """Read a paper: pages, sections, tables with their cells, figures, footnotes, references."""

    def body() -> int:
        from expbench.cli.construct_reading_work import Asked, read_and_show

        asked = Asked(folder, pdf, out, ocr.value, find, top, cache_folder())
        return read_and_show(asked, json)

    do(body)
