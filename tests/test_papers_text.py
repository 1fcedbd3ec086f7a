"""Reading papers that have a text layer: what is read is what their LaTeX says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from paper_truth import PAPERS, plain, truth
from PIL import Image

from expbench.papers.document import Document, Element
from expbench.papers.reading import load_document, read_paper

NAMES = ("calibration", "stochopt", "shapes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


@pytest.fixture(scope="module")
def read(folder: Path) -> dict[str, Document]:
    return {name: read_paper(PAPERS / f"{name}.pdf", folder / name) for name in NAMES}


def of(document: Document, *kinds: str) -> list[Element]:
    return [each for each in document.elements if each.kind in kinds]


def same(text: str) -> str:
    """Without what TeX and a page differ in: quotes, braces of exponents, dashes of minus."""
    return re.sub(r"[{}]", "", text.replace("’", "'").replace("‘", "'").replace(". . .", "..."))


@pytest.mark.parametrize("name", NAMES)
def test_every_heading_is_found_in_order_and_nothing_else_is_one(
    name: str, read: dict[str, Document]
) -> None:
    assert [each.text for each in of(read[name], "heading")] == list(truth(name).headings)


@pytest.mark.parametrize("name", NAMES)
def test_the_title_is_found(name: str, read: dict[str, Document]) -> None:
    source = (PAPERS / f"{name}.tex").read_text()
    assert read[name].title == re.search(r"\\title\{(.*)\}", source)[1]  # type: ignore[index]


def whole(document: Document, label: str) -> tuple[tuple[str, ...], ...]:
    """A table's rows over all its pages, with its head once."""
    rows: list[tuple[str, ...]] = []
    for each in of(document, "table"):
        if each.label == label:
            rows += each.cells[1:] if each.continues else each.cells
    return tuple(tuple(same(cell) for cell in row) for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_of_every_table_is_exact(name: str, read: dict[str, Document]) -> None:
    tables = truth(name).tables
    assert tables
    for label, cells in tables.items():
        assert whole(read[name], label) == tuple(tuple(map(same, row)) for row in cells), label
    assert {each.label for each in of(read[name], "table")} == set(tables)


def test_a_table_over_pages_is_joined(read: dict[str, Document]) -> None:
    first, second = (each for each in of(read["shapes"], "table") if each.label == "Table 2")
    assert (first.page, second.page) == (2, 3)
    assert second.continues == first.id
    assert len(whole(read["shapes"], "Table 2")) == 73


@pytest.mark.parametrize("name", NAMES)
def test_captions_are_whole_and_belong_to_what_they_stand_at(
    name: str, read: dict[str, Document]
) -> None:
    captions = {each.label: same(each.text) for each in of(read[name], "caption")}
    assert captions == {label: same(text) for label, text in truth(name).captions.items()}
    things = {each.label: each for each in of(read[name], "table", "figure") if not each.continues}
    assert set(things) == set(captions)
    for each in of(read[name], "caption"):
        thing = things[each.label]
        assert thing.page == each.page
        above = each.label.startswith("Table")
        assert (each.box.y1 <= thing.box.y0 + 3) if above else (each.box.y0 >= thing.box.y1 - 3)


@pytest.mark.parametrize("name", NAMES)
def test_paragraphs_are_whole_and_in_the_order_of_reading(
    name: str, read: dict[str, Document]
) -> None:
    """Words broken at lines' ends, over columns and over pages are whole again."""
    pieces: list[str] = []
    for each in of(read[name], "paragraph", "list"):
        text = re.sub(r"\^\d\b", "", same(each.text))
        if each.continues:
            pieces[-1] = f"{pieces[-1]} {text}"
        else:
            pieces.append(text)
    wanted = [same(each) for each in truth(name).paragraphs]
    assert len(wanted) >= 8
    missing = [each for each in wanted if each not in pieces]
    assert missing == []
    places = [pieces.index(each) for each in wanted]
    assert places == sorted(places)


@pytest.mark.parametrize("name", NAMES)
def test_footnotes_references_and_formulas_are_counted_and_labelled(
    name: str, read: dict[str, Document]
) -> None:
    expected = truth(name)
    references = of(read[name], "reference")
    assert [each.label for each in references] == [
        f"[{number}]" for number in range(1, expected.references + 1)
    ]
    notes = of(read[name], "footnote")
    assert len(notes) == expected.footnotes
    assert all(each.label == "1" and each.text[0].isupper() for each in notes)
    assert [each.label for each in of(read[name], "formula")] == [
        f"({number})" for number in range(1, expected.formulas + 1)
    ]


def test_formulas_are_text(read: dict[str, Document]) -> None:
    first, second = of(read["calibration"], "formula")
    assert first.text == "p_T(s) = σ(s/T), p_{a,b}(s) = σ(as + b), (1)"
    assert second.text.startswith("ECE = ")
    assert "∑" in second.text
    assert "w_k" in second.text


def test_exponents_and_signs_of_prose_are_kept(read: dict[str, Document]) -> None:
    text = " ".join(each.text for each in of(read["stochopt"], "paragraph"))
    assert "ε = 10^{-8}" in text
    assert "h_i = 1/i" in text


@pytest.mark.parametrize(("name", "first"), [("calibration", 5), ("stochopt", 3), ("shapes", 5)])
def test_the_appendix_begins_behind_the_references(
    name: str, first: int, read: dict[str, Document]
) -> None:
    inside = [each for each in read[name].elements if each.appendix]
    assert inside[0].page == first
    assert inside[0].text.startswith("A ")
    assert all(each.section[0] in "AB" for each in inside)
    assert not any(each.appendix for each in of(read[name], "reference"))


def test_elements_know_the_path_of_headings_above_them(read: dict[str, Document]) -> None:
    sections = {each.text: each.section for each in of(read["shapes"], "paragraph")}
    assert sections["We thank the marmot."] == "Acknowledgements"
    settings = [each for each in of(read["shapes"], "table") if each.label == "Table 4"]
    assert settings[0].section == "A Proof of the height of the oak / A.1 Settings"


def test_a_table_that_floated_away_is_in_the_section_that_speaks_of_it(
    read: dict[str, Document],
) -> None:
    tables = {each.label: each for each in of(read["calibration"], "table")}
    assert tables["Table 4"].page == 5
    assert tables["Table 4"].section == "4 Experiments / 4.3 Ablation: where to scale an ensemble"
    assert tables["Table 5"].appendix


def test_a_page_on_its_side_is_read_and_shown_upright(
    read: dict[str, Document], folder: Path
) -> None:
    page = read["shapes"].pages[3]
    assert (page.rotation, page.width > page.height) == (90, True)
    with Image.open(folder / "shapes" / page.image) as picture:
        assert picture.width > picture.height
    heading = next(each for each in read["shapes"].elements if each.page == 4)
    assert heading.text == "4 A page on its side"
    assert heading.box.y0 < 0.2 * page.height
    assert not any(each.page == 4 and each.text == "4" for each in read["shapes"].elements)


def test_page_numbers_belong_to_no_text(read: dict[str, Document]) -> None:
    for document in read.values():
        assert not any(re.fullmatch(r"\d+", each.text) for each in of(document, "paragraph"))


@pytest.mark.parametrize("name", NAMES)
def test_crops_show_what_their_boxes_say(
    name: str, read: dict[str, Document], folder: Path
) -> None:
    """A crop has the ink of its place on the page, rendered anew, and the page none of it elsewhere."""
    document = read[name]
    pages = pypdfium2.PdfDocument(PAPERS / f"{name}.pdf")
    for each in of(document, "table", "figure"):
        page = document.pages[each.page - 1]
        with Image.open(folder / name / each.crop) as crop:
            shown = np.asarray(crop.convert("L"), dtype=float)
        assert shown.shape[1] / shown.shape[0] == pytest.approx(
            (each.box.x1 - each.box.x0 + 6) / (each.box.y1 - each.box.y0 + 6), rel=0.05
        )
        if page.rotation:
            continue
        picture = pages[each.page - 1].render(scale=3, grayscale=True).to_pil()
        box = (each.box.x0 - 3, each.box.y0 - 3, each.box.x1 + 3, each.box.y1 + 3)
        again = np.asarray(picture.crop(tuple(round(3 * v) for v in box)), dtype=float)
        assert np.mean(shown < 128) == pytest.approx(np.mean(again < 128), abs=0.02)
        assert np.mean(shown < 128) > 0.001
    pages.close()


def test_what_is_read_is_written_whole(read: dict[str, Document], folder: Path) -> None:
    for name, document in read.items():
        assert load_document(folder / name) == document
        assert not (folder / name / ".reading").exists()
        images = {f"pages/{path.name}" for path in (folder / name / "pages").iterdir()}
        assert images == {page.image for page in document.pages}
        crops = {f"crops/{path.name}" for path in (folder / name / "crops").iterdir()}
        assert crops == {each.crop for each in document.elements if each.crop}


def test_boxes_lie_on_their_pages(read: dict[str, Document]) -> None:
    for document in read.values():
        assert len({each.id for each in document.elements}) == len(document.elements)
        for each in document.elements:
            page = document.pages[each.page - 1]
            assert 0 <= each.box.x0 < each.box.x1 <= page.width
            assert 0 <= each.box.y0 < each.box.y1 <= page.height


def test_the_quality_counts_what_was_read(read: dict[str, Document]) -> None:
    quality = read["shapes"].quality
    assert (quality.pages, quality.recognised, quality.empty) == (5, 0, 0)
    assert (quality.tables, quality.tables_without_cells) == (5, 0)
    assert (quality.figures, quality.figures_without_caption) == (2, 0)
    assert quality.doubtful_words == 0
    assert quality.notes == ()


def test_two_columns_are_told_from_one(read: dict[str, Document]) -> None:
    assert [page.columns for page in read["calibration"].pages] == [1] * 6
    assert [page.columns for page in read["stochopt"].pages][:2] == [2, 2]
    assert [page.columns for page in read["shapes"].pages] == [1, 1, 1, 1, 2]


def test_the_truth_is_what_the_sources_say() -> None:
    """The reader of LaTeX that these tests lean on."""
    assert plain(r"\textbf{0.20} at $n = 60$, $10^{-3}$") == "0.20 at n = 60, 10^{-3}"
    assert len(truth("shapes").tables["Table 2"]) == 73
    assert truth("calibration").tables["Table 4"][0][1:5] == ("ECE",) * 4
