"""What the test papers say, from their LaTeX: headings with numbers, tables with cells, captions, prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAPERS = Path(__file__).parent / "papers"
_PLAIN = {
    r"\_": "_",
    r"\%": "%",
    r"\&": "&",
    "~": " ",
    r"\,": "",
    "---": "—",
    "--": "–",
    r"\dots": "...",
    r"\rho": "ρ",
    r"\'a": "á",
}


@dataclass(frozen=True)
class Truth:
    """One paper as it was written."""

    headings: tuple[str, ...]
    tables: dict[str, tuple[tuple[str, ...], ...]]
    """Cells by the tables' labels, as ``Table 2``; what spans columns is said for each."""
    captions: dict[str, str]
    paragraphs: tuple[str, ...]
    """Prose without formulas, by the paragraph."""
    references: int
    footnotes: int
    formulas: int


def truth(name: str) -> Truth:
    """Read a paper's source."""
    text = (PAPERS / f"{name}.tex").read_text("utf-8")
    body = text.split(r"\maketitle")[1].split(r"\end{document}")[0]
    return Truth(
        tuple(_headings(body)),
        dict(_tables(body)),
        dict(_captions(body)),
        tuple(_paragraphs(body)),
        body.count(r"\bibitem"),
        body.count(r"\footnote{"),
        body.count(r"\begin{equation}"),
    )


def plain(text: str) -> str:
    """TeX as the text that is read of it: formulas with ``^`` and ``_``, no fonts."""
    text = re.sub(r"\\(?:textbf|emph|texttt|mathrm)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\label\{[^}]*\}", "", text)
    for tex, sign in _PLAIN.items():
        text = text.replace(tex, sign)
    text = re.sub(r"\$([^$]*)\$", lambda m: _formula(m[1]), text)
    return " ".join(text.split())


def _formula(text: str) -> str:
    text = re.sub(r"([_^])\{(\d+)\}", r"\1\2", text)
    return text.replace("\\log", "log").replace("\\", "")


def _headings(body: str) -> list[str]:
    found, numbers, letters = ["Abstract"], [0, 0], False
    for part in re.finditer(
        r"\\(appendix)|\\((?:sub)?section)(\*?)\{(.*?)\}|\\begin\{(thebib)", body
    ):
        if part[1]:
            letters, numbers = True, [0, 0]
            continue
        if part[5]:
            found.append("References")
            continue
        if part[3]:
            found.append(part[4])
            continue
        numbers = [numbers[0] + 1, 0] if part[2] == "section" else [numbers[0], numbers[1] + 1]
        first = "ABC"[numbers[0] - 1] if letters else str(numbers[0])
        found.append(f"{first}.{numbers[1]} {part[4]}" if numbers[1] else f"{first} {part[4]}")
    return found


def _captioned(body: str, kind: str) -> list[tuple[str, str]]:
    """Labels and sources of all floats of a kind."""
    ends = r"\begin\{(table\*?|longtable)\}" if kind == "Table" else r"\begin\{(figure)\}"
    parts = re.finditer(rf"\{ends}(.*?)\\end\{{\1\}}", body, re.S)
    return [(f"{kind} {number}", part[2]) for number, part in enumerate(parts, 1)]


def _captions(body: str) -> list[tuple[str, str]]:
    return [
        (label, f"{label}: {plain(_argument(source, 'caption'))}")
        for kind in ("Table", "Figure")
        for label, source in _captioned(body, kind)
    ]


def _argument(source: str, command: str) -> str:
    start = source.index(f"\\{command}{{") + len(command) + 2
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return source[start : at - 1]


def _tables(body: str) -> list[tuple[str, tuple[tuple[str, ...], ...]]]:
    found = []
    for label, source in _captioned(body, "Table"):
        caption = _argument(source, "caption")
        inner = source.replace(f"\\caption{{{caption}}}", "")
        if r"\endlastfoot" in inner:
            head = inner.split(r"\endfirsthead")[0].split(r"\toprule")[1]
            inner = head + inner.split(r"\endlastfoot")[1]
        else:
            inner = re.search(r"\\begin\{tabular\}\{[^}]*\}(.*?)\\end\{tabular\}", inner, re.S)[1]  # type: ignore[index]
        inner = re.sub(r"\\(?:toprule|midrule|bottomrule|hline|cmidrule\(lr\)\{[^}]*\})", "", inner)
        rows = [each.strip() for each in re.split(r"\\\\", inner)]
        found.append((label, tuple(tuple(_cells(row)) for row in rows if row)))
    return found


def _cells(row: str) -> list[str]:
    cells: list[str] = []
    for part in row.split("&"):
        span = re.fullmatch(r"\s*\\multicolumn\{(\d)\}\{\w\}\{(.*)\}\s*", part)
        cells += [plain(span[2])] * int(span[1]) if span else [plain(part)]
    return cells


def _paragraphs(body: str) -> list[str]:
    prose = re.sub(
        r"\\begin\{(table\*?|longtable|figure|equation|thebibliography|itemize)\}.*?\\end\{\1\}",
        "\n\n",
        body,
        flags=re.S,
    )
    prose = re.sub(r"\\footnote\{[^}]*\}", "", prose)
    parts = re.split(r"\n\s*\n|\\(?:sub)?section\*?\{.*?\}|\\(?:begin|end)\{\w+\}(?:\{2\})?", prose)
    return [
        plain(part) for part in parts if len(part) > 60 and "$" not in part and "\\ref" not in part
    ]
