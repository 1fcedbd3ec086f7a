"""A project's paper: read once, and searched."""

from __future__ import annotations

from collections.abc import Sequence

from expbench.construct.extracting import Search
from expbench.construct.project import Project
from expbench.construct.stages import Result, Tell, timed
from expbench.papers.document import Element
from expbench.papers.index import PaperIndex
from expbench.papers.reading import read_paper


def paper_search(project: Project) -> Search:
    """Finds passages of the paper. Raises NotFoundError where it is not read yet."""
    index = PaperIndex(project.document())

    def search(query: str, count: int) -> Sequence[Element]:
        return [element for element, _ in index.search(query, count)]

    return search


def read_project(project: Project, tell: Tell) -> Result:
    """Read the paper, unless that is done. Raises DataError, PrerequisiteError."""
    if not (project.root / "paper" / "document.json").is_file():
        tell(f"{project.facts.name}: its pages")
        with timed(project, "read"):
            read_paper(project.pdf, project.root / "paper")
    return Result()
