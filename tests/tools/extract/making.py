"""Makes files.

With the programs' own libraries where there are some, by hand where there are none.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from email.message import EmailMessage
from typing import Any

from docx import Document as WordDocument
from openpyxl import Workbook  # type: ignore[import-untyped]
from pptx import Presentation

Line = tuple[float, str] | tuple[float, str, float] | tuple[float, str, float, str]
"""How far up the page, what it says, how large (12), in which font (F1, or F2 for bold)."""


def docx(build: Callable[[Any], object]) -> bytes:
    made = WordDocument()
    build(made)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def pptx(build: Callable[[Any], object]) -> bytes:
    made = Presentation()
    build(made)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def xlsx(build: Callable[[Any], object]) -> bytes:
    made = Workbook()
    build(made)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def zipped(members: Mapping[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            # The same bytes at any time: tests are named by them.
            made = zipfile.ZipInfo(name, (2026, 11, 15, 9, 0, 0))
            # Formats are told by their first member, which therefore is not compressed.
            archive.writestr(made, content, 0 if name == "mimetype" else compression)
    return file.getvalue()


def rezipped(data: bytes, change: Mapping[str, bytes | str | None]) -> bytes:
    """Return a zip file with some members changed, added, or (None) left out."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members: dict[str, bytes | str | None] = {
            name: archive.read(name) for name in archive.namelist()
        }
    return zipped(
        {name: content for name, content in (members | dict(change)).items() if content is not None}
    )


def pdf_objects(objects: Mapping[int, bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """Put numbered objects together to a PDF, with a right table of where they stand."""
    file = io.BytesIO()
    file.write(b"%PDF-1.7\n")
    places = {}
    for number, content in objects.items():
        places[number] = file.tell()
        file.write(b"%d 0 obj\n%b\nendobj\n" % (number, content))
    at = file.tell()
    size = max(objects) + 1
    file.write(b"xref\n0 %d\n" % size)
    for number in range(size):
        used = number in places
        file.write(
            b"%010d %05d %b \n"
            % (places.get(number, 0), 0 if used else 65535, b"n" if used else b"f")
        )
    file.write(b"trailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, at))
    return file.getvalue()


def stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), extra, content)


def flate(content: bytes, extra: bytes = b"") -> bytes:
    return stream(zlib.compress(content, 9), b"/Filter /FlateDecode " + extra)


def pdf(
    pages: Iterable[Iterable[Line]], info: bytes = b"", outline: Iterable[tuple[str, int]] = ()
) -> bytes:
    """Make a PDF of lines of text at places; the outline names pages, counted from 0."""
    fonts = b"<< /F1 3 0 R /F2 4 0 R >>"
    objects: dict[int, bytes] = {
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding "
        b"/WinAnsiEncoding >>",
    }
    leaves = []
    for number, lines in enumerate(pages):
        leaf = 10 + 2 * number
        leaves.append(leaf)
        objects[leaf] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << "
            b"/Font %b >> >>" % (leaf + 1, fonts)
        )
        objects[leaf + 1] = flate(b"\n".join(_shown(*line) for line in lines))
    objects[2] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (
        len(leaves),
        b" ".join(b"%d 0 R" % leaf for leaf in leaves),
    )
    entries = list(outline)
    first = 10 + 2 * len(leaves)
    for at, (title, page) in enumerate(entries):
        following = b"/Next %d 0 R" % (first + at + 2) if at + 1 < len(entries) else b""
        objects[first + 1 + at] = b"<< /Title (%b) /Parent %d 0 R /Dest [%d 0 R /Fit] %b >>" % (
            title.encode("latin-1"),
            first,
            leaves[page],
            following,
        )
    if entries:
        objects[first] = b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (
            first + 1,
            first + len(entries),
            len(entries),
        )
    objects[1] = b"<< /Type /Catalog /Pages 2 0 R %b >>" % (
        b"/Outlines %d 0 R" % first if entries else b""
    )
    objects[5] = b"<< %b >>" % info
    return pdf_objects(objects, b"/Root 1 0 R /Info 5 0 R")


def _shown(y: float, text: str, size: float = 12, font: str = "F1") -> bytes:
    escaped = (
        text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    )
    return b"BT /%b %g Tf 1 0 0 1 72 %g Tm (%b) Tj ET" % (font.encode(), size, y, escaped)


CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'version="1.0">'
    '<rootfiles><rootfile full-path="OEBPS/book.opf" '
    'media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)


def epub(chapters: Mapping[str, str], contents: Mapping[str, str] | None = None) -> bytes:
    """Make a book of chapters by file name; `contents` names them in the table of contents."""
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="text/html"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    points = "".join(
        f'<navPoint id="n{at}"><navLabel><text>{label}</text></navLabel><content '
        f'src="{name}#top"/></navPoint>'
        for at, (name, label) in enumerate((contents or {}).items())
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Frozen '
        "Harbour</dc:title><dc:creator>Anna Berg"
        "</dc:creator><dc:language>en-GB</dc:language><dc:publisher>Holm "
        "Press</dc:publisher><dc:date>2021-05-06"
        f'</dc:date></metadata><manifest>{items}<item id="toc" href="toc.ncx" '
        'media-type="application/x-dtbncx+xml"/></manifest><spine '
        f'toc="toc">{spine}</spine></package>'
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/toc.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>',
            **{f"OEBPS/{name}": chapter for name, chapter in chapters.items()},
        }
    )


def mail(subject: str = "The harbour", body: str = "It froze.", **fields: str) -> EmailMessage:
    made = EmailMessage()
    told = {
        "From": "Anna Berg <anna@holm.example>",
        "To": "Lars Holm <lars@holm.example>",
        "Subject": subject,
    }
    for name, value in (told | {"Date": "Tue, 03 Mar 2026 06:10:00 +0100"} | fields).items():
        made[name] = value
    made.set_content(body)
    return made


_OPEN = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
        ("meta", "meta"),
    )
)
_OPEN_MIME = "application/vnd.oasis.opendocument"


def open_content(body: str, kind: str = "text") -> str:
    """Return the XML of an OpenDocument file."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_OPEN}><office:body>'
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )


def open_document(
    kind: str, body: str = "<text:p>x</text:p>", meta: str = "", **more: bytes | str
) -> bytes:
    """Return an OpenDocument file: text, spreadsheet or presentation."""
    properties = (
        f'<office:document-meta {_OPEN} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        f"{meta}</office:meta></office:document-meta>"
    )
    members: dict[str, bytes | str] = {
        "mimetype": f"{_OPEN_MIME}.{kind}",
        "content.xml": open_content(body, kind),
        "meta.xml": properties,
        **more,
    }
    return zipped(members)


def flat_open_document(kind: str, body: str = "<text:p>x</text:p>") -> bytes:
    """Return an OpenDocument file that is a single file of XML."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {_OPEN} '
        f'office:mimetype="{_OPEN_MIME}.{kind}"><office:body><office:{kind}>{body}</office:{kind}>'
        "</office:body></office:document>"
    ).encode()


ARTICLE = """<!DOCTYPE html><html lang="en-GB"><head>\
<title>Ferry runs aground | Vantskar News</title>
<meta name="author" content="Anna Berg"><meta property="og:site_name" content="Vantskar News">
<meta property="article:published_time" content="2026-03-04T10:00:00Z"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/more">More news</a></li></ul></nav>
<article><h1>Ferry runs aground</h1>
<p>The ferry <b>Vanta</b> struck the quay at <a href="/lodbaken">Lodbaken</a> in thick fog \
shortly after six in the
morning on Tuesday, the harbour master said.</p>
<h2>What happened</h2>
<p>Nobody was hurt.<br>The captain spoke of a fault in the steering, \
which the yard had repaired only last week.</p>
<ul><li>The ferry is in dock.</li><li>Another one sails.</li></ul>
<table><tr><th>Year</th><th>Passengers</th></tr>\
<tr><td>2024</td><td>1,200</td></tr><tr><td>2025</td><td>1,350</td></tr>
</table><p>The inquiry into what happened that morning begins in April, \
according to the board of the harbour.</p>
</article><footer>Copyright 2026 Vantskar News. All rights reserved. Cookie policy.\
</footer></body></html>"""
"""A page with everything that a page has."""
