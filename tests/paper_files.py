"""PDFs that nobody would send in good faith, written byte by byte."""

from __future__ import annotations

from collections.abc import Sequence

TEXT = b"BT /F1 12 Tf 72 700 Td (Plain words of an ordinary page, enough to be read.) Tj ET"


def pdf(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A file of numbered objects, of which the first is the catalogue."""
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    rows = b"".join(b"%010d 00000 n \n" % each for each in places)
    size = len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, rows)
    return out + (
        b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    )


def stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), entries, body)


def one_page(
    content: bytes = TEXT,
    *,
    box: bytes = b"0 0 612 792",
    catalogue: bytes = b"",
    resources: bytes = b"",
    more: Sequence[bytes] = (),
    trailer: bytes = b"",
) -> bytes:
    """A file of one page; objects of ``more`` are numbered from 6."""
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalogue,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> %s >> >>" % (box, resources),
            stream(content),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *more,
        ],
        trailer,
    )


def many_pages(count: int) -> bytes:
    """Small pages that all show the same words."""
    kids = b" ".join(b"%d 0 R" % number for number in range(5, 5 + count))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [60 690 460 730] /Contents 3 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>"
    )
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
            stream(TEXT),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *[page] * count,
        ]
    )


def encrypted() -> bytes:
    """A file that opens with a password that nobody knows."""
    lock = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"5a" * 32, b"a5" * 32)
    return one_page(more=[lock], trailer=b"/Encrypt 6 0 R /ID [<00> <00>]")


def endless(levels: int = 40) -> bytes:
    """A page that shows a form twice, which shows another one twice, and so on: 2 to the 40 of them."""
    forms = []
    for level in range(levels):
        last = level == levels - 1
        inner = b"" if last else b"/XObject << /X %d 0 R >>" % (7 + level)
        body = TEXT if last else b"/X Do /X Do"
        entries = (
            b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
            b"/Resources << /Font << /F1 5 0 R >> %s >>" % inner
        )
        forms.append(stream(body, entries))
    return one_page(b"/X Do /X Do", resources=b"/XObject << /X 6 0 R >>", more=forms)
