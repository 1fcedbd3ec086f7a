"""``expbench construct select``: which papers are worth making tasks from."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from expbench.cli.options import JsonOption, do
from expbench.cli.settings import service_tokens

EPILOG = "Example: expbench construct select --from papers.jsonl --stars 100"


def select(
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help="JSON lines of candidates, or an export of OpenReview, Semantic Scholar or GitHub; several "
            "possible.",
        ),
    ] = None,
    openreview: Annotated[
        str, typer.Option(help="Ask OpenReview for a venue's papers: NeurIPS.cc/2024/Conference.")
    ] = "",
    scholar: Annotated[
        str, typer.Option(help="Ask Semantic Scholar for papers with these words.")
    ] = "",
    enrich: Annotated[
        bool,
        typer.Option(help="Ask for the citations and repositories of papers that lack them."),
    ] = False,
    most: Annotated[int, typer.Option(min=1, help="Papers of each live listing at most.")] = 1000,
    clones: Annotated[
        Path | None,
        typer.Option(help="Folder of clones as OWNER/NAME or NAME, which are looked at too."),
    ] = None,
    venue: Annotated[
        list[str] | None, typer.Option(help="Words of the venue; several possible.")
    ] = None,
    since_year: Annotated[int | None, typer.Option(help="Year of the paper at least.")] = None,
    citations: Annotated[int | None, typer.Option(min=0, help="Citations at least.")] = None,
    stars: Annotated[int | None, typer.Option(min=0, help="Stars at least.")] = None,
    forks: Annotated[int | None, typer.Option(min=0, help="Forks at least.")] = None,
    pushed_since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Day of the last push at least.")
    ] = None,
    licence: Annotated[
        list[str] | None, typer.Option(help="SPDX id of the licence; several possible.")
    ] = None,
    size_mb: Annotated[
        float | None, typer.Option(min=0.0, help="Megabytes of the repository at most.")
    ] = None,
    gpus: Annotated[
        int | None, typer.Option(min=0, help="GPUs that the README may ask for at most.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=1, max=5, help="Hardest side of the difficulty record at most."),
    ] = None,
    archived: Annotated[bool, typer.Option(help="Take archived repositories too.")] = False,
    keep_unknown: Annotated[
        bool, typer.Option(help="Let a candidate pass where the number is not known.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write what passed, by rank, as JSON lines.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the funnel, the scatter and the table as a page.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Filter and rank papers with their repositories, and say how hard each is to run."""

    def body() -> int:
        from expbench.candidates import Filters
        from expbench.cli.construct_selecting_work import Asked, select_and_show

        filters = Filters(
            venues=tuple(venue or ()),
            since_year=since_year,
            citations=citations,
            stars=stars,
            forks=forks,
            pushed_since=pushed_since.date() if pushed_since else None,
            licences=tuple(licence or ()),
            size_mb=size_mb,
            gpus=gpus,
            level=level,
            archived=archived,
            keep_unknown=keep_unknown,
        )
        asked = Asked(
            files=tuple(files or ()),
            openreview=openreview,
            scholar=scholar,
            enrich=enrich,
            most=most,
            clones=clones,
            filters=filters,
            out=out,
            page=page,
            services=service_tokens(),
        )
        return select_and_show(asked, json)

    do(body)
