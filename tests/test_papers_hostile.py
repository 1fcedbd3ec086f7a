"""Files that are no papers, broken, or meant to do harm: one sentence or a note, never more."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paper_files import TEXT, encrypted, endless, many_pages, one_page, pdf, stream

from expbench.errors import DataError, PrerequisiteError
from expbench.papers import reading
from expbench.papers.isolation import parse
from expbench.papers.reading import load_document, read_paper

PAPERS = Path(__file__).parent / "papers"


def written(folder: Path, content: bytes) -> Path:
    path = folder / "paper.pdf"
    path.write_bytes(content)
    return path


def refusal(path: Path, folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_paper(path, folder / "out")
    assert not (folder / "out" / "document.json").exists()
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence.removeprefix(str(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", " is empty: give"),
        (b"a text and no PDF", " is no PDF: give"),
        (b"%PDF-1.7\n", " is no PDF that can be opened: give"),
        (one_page()[:220], " is no PDF that can be opened: give"),
        (encrypted(), " is encrypted: give a copy that opens without a password."),
        (many_pages(1001), " has 1001 pages, more than the 1000 that are read of a paper: give"),
    ],
    ids=["empty", "text", "head only", "cut off", "encrypted", "too long"],
)
def test_what_cannot_be_read_is_said_with_the_mend(
    content: bytes, said: str, tmp_path: Path
) -> None:
    assert refusal(written(tmp_path, content), tmp_path).startswith(said)


def test_a_missing_file_and_a_folder_are_said(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.pdf", tmp_path)
    assert "is a directory" in refusal(tmp_path, tmp_path)


def test_a_file_without_pages_is_refused(tmp_path: Path) -> None:
    nothing = pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [] /Count 0 >>",
        ]
    )
    assert "give the paper's PDF" in refusal(written(tmp_path, nothing), tmp_path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, one_page())
    (tmp_path / "out").write_text("a file")
    with pytest.raises(DataError, match=r"cannot be written .*: choose another folder"):
        read_paper(path, tmp_path / "out")


def test_programs_and_attached_files_are_not_opened_and_said(tmp_path: Path) -> None:
    catalogue = (
        b"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> /Names << "
        b"/JavaScript << /Names [(a) << /S /JavaScript /JS (app.alert\\(1\\)) >>] >> "
        b"/EmbeddedFiles << /Names [(x) << /Type /Filespec /F (x) /EF << /F 6 0 R >> >>] >> >>"
    )
    attached = stream(b"#!/bin/sh", b"/Type /EmbeddedFile")
    path = written(tmp_path, one_page(catalogue=catalogue, more=[attached]))
    document = read_paper(path, tmp_path / "out")
    assert [each.text for each in document.elements] == [
        "Plain words of an ordinary page, enough to be read."
    ]
    notes = " ".join(document.quality.notes)
    assert "1 attached files, which were not opened" in notes
    assert "JavaScript), which were not run" in notes
    assert not list((tmp_path / "out").rglob("x"))


@pytest.mark.parametrize("box", [b"0 0 200000 200000", b"0 0 14400 14400", b"0 0 1e30 1e30"])
def test_a_huge_page_is_read_with_a_picture_of_bounded_size(box: bytes, tmp_path: Path) -> None:
    document = read_paper(written(tmp_path, one_page(box=box)), tmp_path / "out")
    assert len(document.elements) == 1
    header = (tmp_path / "out" / "pages" / "1.png").read_bytes()[16:24]
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")
    assert width * height <= 4_100_000


def test_a_huge_page_without_text_is_not_recognised(tmp_path: Path) -> None:
    shape = b"10000 10000 3000 3000 re f"
    path = written(tmp_path, one_page(shape, box=b"0 0 20000 20000"))
    document = read_paper(path, tmp_path / "out", ocr="always")
    assert document.pages[0].source == "none"
    assert any("unusually large" in each for each in document.quality.notes)


def test_a_blank_page_is_noted(tmp_path: Path) -> None:
    document = read_paper(written(tmp_path, one_page(b"")), tmp_path / "out")
    assert (document.quality.empty, document.elements) == (1, ())
    assert "Page 1 has no text." in document.quality.notes


def test_a_page_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """The parser would be at its forms for years: it is stopped, and so is no other page's reading."""
    path = written(tmp_path, endless())
    for name in ("raw", "pages"):
        (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="died of 1 of its 1 pages or took too long"):
        parse(path, tmp_path, "auto", seconds_per_page=8.0)
    running = subprocess.run(["ps", "axo", "args"], capture_output=True, text=True, check=True)
    assert str(path) not in running.stdout


def test_a_page_of_too_many_words_and_rules_is_cut_and_said(tmp_path: Path) -> None:
    words = b" ".join(b"(w%d ) Tj" % number for number in range(40_000))
    rules = b" ".join(b"%d %d 40 1 re f" % (n % 500, n % 700) for n in range(60_000))
    content = b"BT /F1 4 Tf 10 700 Td " + words + b" ET " + rules + TEXT
    path = written(tmp_path, one_page(content))
    document = read_paper(path, tmp_path / "out", ocr="never")
    notes = " ".join(document.quality.notes)
    assert "characters, of which the first were read" in notes
    assert "more than 50,000 drawings" in notes


def test_five_hundred_pages_are_read(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = written(tmp_path, many_pages(500))
    document = read_paper(path, tmp_path / "out", progress=lambda *each: told.append(each))
    assert len(document.pages) == 500
    assert told == [(number, 500) for number in range(1, 501)]


@pytest.mark.parametrize("seed", range(8))
def test_damaged_bytes_lead_to_a_document_or_one_sentence(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    content = bytearray((PAPERS / "shapes.pdf").read_bytes())
    for _ in range(60):
        content[rng.randrange(20, len(content))] = rng.randrange(256)
    if seed % 2:
        del content[rng.randrange(len(content) // 2) :][:4000]
    try:
        document = read_paper(written(tmp_path, bytes(content)), tmp_path / "out", ocr="never")
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert load_document(tmp_path / "out") == document


def test_a_killed_reading_leaves_no_document_and_is_gone_on_with(tmp_path: Path) -> None:
    path, out = written(tmp_path, many_pages(120)), tmp_path / "out"
    script = (
        "import sys; from pathlib import Path; from expbench.papers.reading import read_paper; "
        "read_paper(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(path), str(out)])
    until = time.monotonic() + 120
    while len(done := list(out.glob(".reading/*/raw/*.json"))) < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "document.json").exists()
    early = {each.stem: each.stat().st_mtime_ns for each in done[:3]}
    pictures = {n: next(out.glob(f".reading/*/pages/{n}.png")).stat().st_mtime_ns for n in early}
    document = read_paper(path, out)
    assert len(document.pages) == 120
    after = {n: (out / "pages" / f"{n}.png").stat().st_mtime_ns for n in early}
    assert after == pictures
    assert not (out / ".reading").exists()


def test_another_paper_in_the_same_folder_replaces_the_first(tmp_path: Path) -> None:
    out = tmp_path / "out"
    read_paper(PAPERS / "stochopt.pdf", out)
    document = read_paper(written(tmp_path, one_page()), out)
    assert load_document(out) == document
    assert [each.name for each in (out / "pages").iterdir()] == ["1.png"]
    assert list((out / "crops").iterdir()) == []


def test_without_the_extra_the_mend_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r"pip install expbench\[construct\]"):
        read_paper(PAPERS / "shapes.pdf", tmp_path / "out")


def test_a_damaged_document_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no paper that was read"):
        load_document(tmp_path)
    (tmp_path / "document.json").write_text("{")
    with pytest.raises(DataError, match=r"cannot be read .*: read the paper again"):
        load_document(tmp_path)


def test_a_parser_that_does_not_start_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(PrerequisiteError, match="parser does not start: install it again"):
        read_paper(PAPERS / "shapes.pdf", tmp_path / "out")
