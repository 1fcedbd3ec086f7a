"""What other programs than TeX draw: rules cell by cell, shaded boxes, backgrounds, words as pictures."""

from __future__ import annotations

from pathlib import Path

from paper_files import one_page

from expbench.papers.document import Document, Element
from expbench.papers.reading import read_paper

ROWS = (("name", "runs", "score"), ("plain net", "3", "0.71"), ("deep net", "5", "0.84"))
PROSE = (
    "A box that is shaded holds a text of several lines here.",
    "Each of them is as long as the lines of an ordinary page.",
    "None of them may be lost to a figure that is none at all.",
)


def text(x: float, y: float, words: str, size: float = 10) -> bytes:
    return b"BT /F1 %g Tf %g %g Td (%s) Tj ET\n" % (size, x, y, words.encode())


def grid(x: float, top: float, rows: tuple[tuple[str, ...], ...]) -> bytes:
    """A table of which each cell has four rules of its own, as word processors draw them."""
    width, height, out = 90.0, 18.0, b""
    for at, row in enumerate(rows):
        for column, cell in enumerate(row):
            x0, y0 = x + column * width, top - (at + 1) * height
            for rule in (
                (x0, y0, width, 0.5),
                (x0, y0 + height, width, 0.5),
                (x0, y0, 0.5, height),
                (x0 + width, y0, 0.5, height),
            ):
                out += b"%g %g %g %g re f\n" % rule
            out += text(x0 + 4, y0 + 5, cell)
    return out


def of(document: Document, kind: str) -> list[Element]:
    return [each for each in document.elements if each.kind == kind]


def read(content: bytes, folder: Path) -> Document:
    path = folder / "paper.pdf"
    path.write_bytes(one_page(content))
    return read_paper(path, folder / "out", ocr="never")


def test_a_table_of_rules_cell_by_cell_is_one_table(tmp_path: Path) -> None:
    (table,) = of(read(grid(100, 700, ROWS), tmp_path), "table")
    assert table.cells == ROWS


def test_two_tables_of_one_width_with_a_line_between_them_are_two(tmp_path: Path) -> None:
    content = grid(100, 700, ROWS) + text(100, 632, "Between them stands a line of text.")
    document = read(content + grid(100, 620, ROWS), tmp_path)
    assert [each.cells for each in of(document, "table")] == [ROWS, ROWS]
    assert any(each.text == "Between them stands a line of text." for each in document.elements)


def test_a_shaded_box_around_text_is_text(tmp_path: Path) -> None:
    box = b"0.9 0.9 1 rg 60 560 480 120 re f 0 g\n"
    lines = b"".join(text(80, 640 - 12 * at, line) for at, line in enumerate(PROSE))
    document = read(box + lines, tmp_path)
    assert of(document, "figure") == []
    assert [each.text for each in of(document, "paragraph")] == [" ".join(PROSE)]


def test_white_paper_is_no_figure(tmp_path: Path) -> None:
    document = read(b"1 1 1 rg 50 100 500 500 re f 0 g\n" + text(80, 640, PROSE[0]), tmp_path)
    assert of(document, "figure") == []


def test_a_plot_of_many_marks_is_one_figure_with_its_labels(tmp_path: Path) -> None:
    marks = b"".join(
        b"%g %g 2 2 re f\n" % (150 + 3 * (n % 100), 420 + 2 * (n // 100)) for n in range(9000)
    )
    labels = text(280, 408, "size", 8) + text(128, 500, "loss", 8)
    caption = text(150, 380, "Figure 1: Loss by size, one mark for each run.")
    prose = b"".join(text(72, 700 - 12 * at, line) for at, line in enumerate(PROSE))
    document = read(prose + marks + labels + caption, tmp_path)
    (figure,) = of(document, "figure")
    assert (figure.label, set(figure.text.split())) == ("Figure 1", {"size", "loss"})
    (found,) = of(document, "caption")
    assert found.text == "Figure 1: Loss by size, one mark for each run."
    assert figure.box.y1 <= found.box.y0
    assert [each.text for each in of(document, "paragraph")] == [" ".join(PROSE)]


def test_a_caption_without_its_table_is_said(tmp_path: Path) -> None:
    prose = b"".join(text(72, 700 - 12 * at, line) for at, line in enumerate(PROSE))
    document = read(text(72, 660, "Table 1: Nothing stands below.") + prose, tmp_path)
    assert document.quality.tables_without_cells == 1
    assert "Table 1 on page 1 was not found below or above its caption." in document.quality.notes


def test_rows_in_columns_below_a_caption_are_a_table_without_rules(tmp_path: Path) -> None:
    content = text(100, 700, "Table 1: Scores of two nets, each with its number of runs.")
    for at, row in enumerate(ROWS):
        for column, cell in enumerate(row):
            content += text(100 + 90 * column, 680 - 13 * at, cell)
    (table,) = of(read(content, tmp_path), "table")
    assert (table.label, table.cells) == ("Table 1", ROWS)
