"""Reading pages that are pictures: clean scans, bad copies, pages that lie on their side."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_scans import PAPERS, error_rate, scan
from paper_truth import truth

from expbench.papers.document import Document, Element
from expbench.papers.reading import read_paper

KINDS = ("clean", "degraded")
PAGES = {"calibration": 3, "stochopt": 1, "shapes": 1}
WORST = {"clean": 0.02, "degraded": 0.06}
"""Wrong characters of prose; measured are 0.001 to 0.005 and 0.006."""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Document]:
    folder = tmp_path_factory.mktemp("scans")
    found = {}
    for name, page in PAGES.items():
        found[name, "text"] = read_paper(PAPERS / f"{name}.pdf", folder / name)
        for kind in KINDS:
            bad = kind == "degraded"
            dpi = 150 if bad else 200
            path = scan(name, folder / f"{name}-{kind}.pdf", [page], dpi=dpi, degraded=bad)
            found[name, kind] = read_paper(path, folder / f"{name}-{kind}")
    return found


def prose(document: Document, page: int) -> str:
    kinds = ("title", "heading", "paragraph", "caption", "footnote")
    text = " ".join(
        each.text for each in document.elements if each.page == page and each.kind in kinds
    )
    return "".join(each for each in text if each not in "^_{}")


def of(document: Document, kind: str) -> list[Element]:
    return [each for each in document.elements if each.kind == kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PAGES)
def test_few_characters_are_wrong(
    name: str, kind: str, read: dict[tuple[str, str], Document]
) -> None:
    wanted = prose(read[name, "text"], PAGES[name])
    assert error_rate(wanted, prose(read[name, kind], 1)) < WORST[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_tables_are_right(kind: str, read: dict[tuple[str, str], Document]) -> None:
    document = read["calibration", kind]
    expected = truth("calibration").tables
    assert [each.label for each in of(document, "table")] == ["Table 1", "Table 2"]
    for table in of(document, "table"):
        assert table.cells[1:] == expected[table.label][1:]


@pytest.mark.parametrize("kind", KINDS)
def test_two_columns_are_read_one_after_the_other(
    kind: str, read: dict[tuple[str, str], Document]
) -> None:
    document = read["stochopt", kind]
    assert document.pages[0].columns == 2
    text = " ".join(each.text for each in document.elements)
    places = [
        text.index(words)
        for words in (
            "Advice on stochastic first-order",
            "Which optimiser is best",
            "Update rules",
            "The quadratic has 50 directions",
            "Table 1 has the losses",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PAGES)
def test_headings_are_found_with_their_numbers(
    name: str, kind: str, read: dict[tuple[str, str], Document]
) -> None:
    """Letters apart: a recogniser may see a space too many in one."""
    wanted = [each.text for each in of(read[name, "text"], "heading") if each.page == PAGES[name]]
    found = [each.text for each in of(read[name, kind], "heading")]
    assert [each.replace(" ", "") for each in found] == [each.replace(" ", "") for each in wanted]


@pytest.mark.parametrize("kind", KINDS)
def test_a_ruled_table_a_figure_and_a_list_are_found(
    kind: str, read: dict[tuple[str, str], Document]
) -> None:
    document = read["shapes", kind]
    (table,) = of(document, "table")
    assert table.cells == truth("shapes").tables["Table 1"]
    (figure,) = of(document, "figure")
    (caption,) = (each for each in of(document, "caption") if each.label == "Figure 1")
    assert figure.label == "Figure 1"
    assert {"rose", "moss", "fern"} <= set(figure.text.split())
    assert figure.box.y1 <= caption.box.y0 + 3
    assert len(of(document, "list")) == 3


def test_captions_and_the_title_are_found(read: dict[tuple[str, str], Document]) -> None:
    for kind in KINDS:
        assert [each.label for each in of(read["calibration", kind], "caption")] == [
            "Table 1",
            "Table 2",
        ]
        assert read["stochopt", kind].title.startswith("Noise, Budget and Curvature: Three Small")


def test_the_quality_says_that_pages_were_recognised(
    read: dict[tuple[str, str], Document],
) -> None:
    for kind in KINDS:
        quality = read["stochopt", kind].quality
        assert (quality.pages, quality.recognised, quality.empty) == (1, 1, 0)
        assert 0 < quality.doubtful_words < 0.05
        assert read["stochopt", kind].pages[0].source == "ocr"


def test_a_footnote_below_its_rule_is_one(read: dict[tuple[str, str], Document]) -> None:
    for kind in KINDS:
        (note,) = of(read["stochopt", kind], "footnote")
        assert note.text.startswith("All studies run on one core")
        (note,) = of(read["shapes", kind], "footnote")
        assert (note.label, note.text[:8]) == ("1", "Captions")


def test_a_page_that_lies_on_its_side_is_shown_upright(tmp_path: Path) -> None:
    path = scan("shapes", tmp_path / "lies.pdf", [5], turned=90)
    document = read_paper(path, tmp_path / "out")
    (page,) = document.pages
    assert (page.rotation, page.height > page.width) == (270, True)
    text = [each.text for each in document.elements]
    assert text[0].endswith("Two columns below one")
    assert any(each.startswith("The left column begins here") for each in text)
    (table,) = of(document, "table")
    assert table.box.y0 > 0.5 * page.height
    assert table.cells[1] == ("tape", "30 m")


def test_pictures_are_left_alone_when_nothing_is_to_be_recognised(tmp_path: Path) -> None:
    path = scan("stochopt", tmp_path / "scan.pdf", [3])
    document = read_paper(path, tmp_path / "out", ocr="never")
    assert (document.quality.empty, document.elements) == (1, ())
    assert "Page 1 has no text." in document.quality.notes
    assert (tmp_path / "out" / "pages" / "1.png").is_file()
