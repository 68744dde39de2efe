"""A report as PDF/A-3: a document to read and to archive, with its evidence attached.

Typst sets it (the package `typst`; no program and no network). The template is a fixed text, and
everything that a report says reaches it as strings in JSON, so no text can become markup.

The fonts that come with Typst have Latin, Greek, Cyrillic, Hebrew, Arabic and Devanagari letters. A
text in another script is set in the fonts of this machine, if it has some for it.
"""

from __future__ import annotations

import io
import json
import logging
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any
from urllib.parse import quote as percent

from deepdiver.core.shown_text import one_line
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.report.exports.layout import Element, Layout, Line, lay_out
from deepdiver.report.exports.package import MANIFEST, TEXTS, UNSEALED, Saved, pack, seal
from deepdiver.report.exports.raster import unlinked
from deepdiver.report.figures.pictures import draw_pictures
from deepdiver.report.figures.svg import Picture
from deepdiver.report.html import on_the_web
from deepdiver.report.markdown import web_address
from deepdiver.report.sources import CitedSource
from deepdiver.report.words import Words

STANDARD = "a-3a"
"""PDF/A-3, for archives; a: with headings, lists and tables marked up for screen readers."""
FALLBACK_FONTS = ("New Computer Modern", "DejaVu Sans Mono")
"""Fonts of Typst's own for letters that its main font lacks."""
LONG_CONTENTS = 4
"""A report with fewer sections than that needs no table of contents."""
WIDEST, NARROWEST = 60, 8
"""Bounds of the characters that a column of a table counts for its width."""
_FAILURES = (
    *(zlib.error, ArithmeticError, AssertionError, AttributeError, LookupError, OSError),
    *(NotImplementedError, RecursionError, TypeError, ValueError),
)
"""What pypdf does with damaged files is not its contract: it fails in all these ways."""
# What pypdf says of damaged files is told by `verify`, in fewer words.
logging.getLogger("pypdf").addHandler(logging.NullHandler())
_IN_URI = "%/:?#[]@!$&'()*+,;=~-._"
"""What stays as it is in an address of a PDF, besides letters and digits of ASCII."""
_UNSHOWN = re.compile(r"the (?:text|PDF contains the codepoint) `(\".*?\")`")
"""What Typst says of characters that no font has, and of those without a meaning of their own."""
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")


Tell = Callable[[str], None]
"""Receives a line about what an export lacks."""


def say_nothing(line: str) -> None:
    """Drop a line."""


def render_pdf(saved: Saved, tell: Tell = say_nothing) -> bytes:
    """Return a report as PDF/A-3 with its evidence attached, the same bytes each time.

    Args:
        saved: The run.
        tell: Receives a line if no font has some of its characters.

    Raises:
        UsageError: If Typst is not installed.
        UnreadableError: If Typst refuses the document.
    """
    package = pack(saved)
    layout = lay_out(saved.report)
    drawn = draw_pictures(
        saved.report, saved.ledger, saved.text, scene=saved.scene, history=saved.history
    )
    told = _data(saved, layout) | {
        "pictures": [_picture(item) for item in drawn.pictures],
        "evidence_pictures": [_picture(item) for item in drawn.evidence],
        "attached": _attached(saved, package),
    }
    shown = (*(item.picture for item in layout.body if item.picture), *drawn.all)
    files = {f"{item.name}.svg": unlinked(item.file("")).encode() for item in shown}
    return seal(_compile(told, files | package, tell))


def attached_files(data: bytes) -> dict[str, bytes]:
    """Return the files that are attached to a PDF.

    Raises:
        UnreadableError: If it, or an attached file, cannot be read; names the file.
    """
    import pypdf
    from pypdf.errors import PyPdfError

    found: dict[str, bytes] = {}
    name = ""
    try:
        for item in pypdf.PdfReader(io.BytesIO(data), strict=False).attachment_list:
            name = item.name
            found[name] = item.content
    except (PyPdfError, *_FAILURES) as error:
        raise _damaged(name, found) from error
    if not found:
        raise UnreadableError("no evidence is attached to this PDF")
    return found


def _damaged(name: str, found: Mapping[str, bytes]) -> UnreadableError:
    if name and name not in found:
        return UnreadableError(f"{name} was altered: it cannot be unpacked")
    return UnreadableError("the list of attached files was altered: it cannot be read")


def first_other_page(data: bytes, again: bytes) -> str:
    """Return what differs between a PDF and the one that its record makes; empty: nothing seen.

    Fonts of the machine may differ between two machines, so bytes alone prove nothing: the texts of
    the pages are compared.
    """
    ours, theirs = _page_texts(again), _page_texts(data)
    if len(ours) != len(theirs):
        return f"the document has {len(theirs)} pages, and its record makes {len(ours)}"
    for number, (own, other) in enumerate(zip(ours, theirs, strict=True), 1):
        if own != other:
            return f"page {number} was altered: it does not say what the record says"
    return ""


def _page_texts(data: bytes) -> list[str]:
    import pypdf
    from pypdf.errors import PyPdfError

    try:
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        return ["".join(page.extract_text().split()) for page in reader.pages]
    except (PyPdfError, *_FAILURES):
        return []


def _data(saved: Saved, layout: Layout) -> dict[str, Any]:
    """Return everything that the template is filled with, besides pictures and attachments."""
    sections = sum(item.kind == "heading" and item.level == 1 for item in layout.body)
    say = layout.say
    manifest_files = {"Run": saved.run.id, "Report": saved.report.hash, "Journal": saved.journal}
    return {
        "title": layout.title,
        "short": one_line(layout.title, 90),
        "rtl": is_right_to_left(layout.title),
        "question": layout.question,
        "note": layout.note,
        "kicker": f"deepdiver · {say('research report')}",
        "told": say("as of {}", saved.run.created[:10]),
        "language": saved.report.language or "en",
        "words": {name: say(phrase) for name, phrase in _WORDS.items()},
        "date": [int(part) for part in saved.run.created[:10].split("-")],
        "seal": UNSEALED,
        "fonts": FALLBACK_FONTS,
        "lead": _line(layout.lead),
        "contents": sections >= LONG_CONTENTS,
        "answer": [_element(item) for item in layout.answer],
        "body": [_element(item) for item in layout.body],
        "sources": [_source(item, say) for item in layout.sources],
        "evidence": [_element(item) for item in layout.evidence],
        "hashes": [
            *((say(name), value) for name, value in manifest_files.items()),
            (say("Calls"), say("{} in the journal", saved.calls)),
            (say("Sources"), say("{} saved texts attached", len(saved.texts))),
        ],
        "foot": layout.foot,
    }


_WORDS = {
    "contents": "Contents",
    "sources": "Sources",
    "evidence": "Evidence view",
    "check": "Check this report",
    "attached": (
        "The evidence is attached to this file: the record, every cited text as it was read, and "
        "their hashes. This command repeats the check of every sentence, without a network:"
    ),
}
"""The fixed words of the template."""


def _picture(item: Picture) -> dict[str, str]:
    return {
        "file": f"{item.name}.svg",
        "title": one_line(item.title),
        "alt": one_line(f"{item.title}. {item.text}"),
    }


def _element(item: Element) -> dict[str, Any]:
    return asdict(item) | {
        "picture": _picture(item.picture) if item.picture else None,
        "lines": [_line(line) for line in item.lines],
        "header": [_line(line) for line in item.header],
        "rows": [[_line(cell) for cell in row] for row in item.rows],
        "widths": column_widths(item),
    }


def _line(line: Line) -> dict[str, Any]:
    text = "".join(piece.text for piece in line)
    return {"rtl": is_right_to_left(text), "pieces": [asdict(piece) for piece in line]}


def column_widths(item: Element) -> list[int]:
    """Return how wide the columns of a table are, in parts of its width."""
    columns = zip(*(row for row in (item.header, *item.rows)), strict=False)
    return [min(WIDEST, max(NARROWEST, *map(_width, cells))) for cells in columns]


def _width(cell: Line) -> int:
    """Return how many characters a cell needs: its longest word, and a part of all of it."""
    text = "".join(piece.text for piece in cell)
    return max(max(map(len, text.split()), default=0), len(text) // 3)


def is_right_to_left(text: str) -> bool:
    """Whether the first letter of a text that has a direction is written from right to left."""
    found = (unicodedata.bidirectional(char) for char in text)
    return next((kind != "L" for kind in found if kind in ("L", "R", "AL")), False)


def _source(source: CitedSource, say: Words) -> dict[str, Any]:
    url = source.first.url
    return {
        "title": one_line(source.title),
        "credit": one_line(source.first.credit),
        "kind": one_line(say.recorded(source.kind)),
        "place": one_line(source.place),
        "link": percent(web_address(url), _IN_URI) if on_the_web(url) else "",
        "passages": [
            {
                "mark": item.mark,
                "numbers": item.numbers,
                "lines": [one_line(line) for line in item.lines],
                "rtl": is_right_to_left(" ".join(item.lines)),
                "where": one_line(say.place(item.where)),
            }
            for item in source.passages
        ],
    }


def _attached(saved: Saved, package: Mapping[str, bytes]) -> list[dict[str, str]]:
    titles: dict[str, str] = {}
    for item in saved.report.citations:
        titles.setdefault(f"{TEXTS}{item.passage.snapshot}.txt", f"[{item.mark}] {item.title}")
    return [
        {
            "name": name,
            "relation": "source" if name.startswith(TEXTS) else "data",
            "type": "text/plain" if name.startswith(TEXTS) else "application/json",
            "about": one_line(titles.get(name, _ABOUT.get(name, "saved text")), 200),
        }
        for name in package
    ]


_ABOUT = {
    MANIFEST: "the hashes of all attached files",
    "run.json": "the run: question, strategy and settings",
    "report.json": "the report, with every quote and its offsets",
    "ledger.jsonl": "everything that the run found",
}


def _compile(told: Mapping[str, Any], files: Mapping[str, bytes], tell: Tell) -> bytes:
    """Return the document, at the third attempt without the characters that no font has.

    The fonts of the machine are asked only if Typst's own are not enough, so that most reports have
    the same bytes on every machine.
    """
    try:
        import typst
    except ImportError:
        raise UsageError(
            "a PDF is set by Typst, which is not installed: "
            "pip install 'deepdiver-research[exports]'"
        ) from None
    template = resources.files("deepdiver.report.exports").joinpath("report.typ").read_bytes()

    def attempt(told: Mapping[str, Any], *, own_fonts: bool) -> bytes:
        data = json.dumps(told, ensure_ascii=False).encode()
        # Its stub does not know that the input may be files by their names.
        made: bytes = typst.compile(  # type: ignore[call-overload]
            {"main": template, "data.json": data, **files},
            format="pdf",
            pdf_standards=STANDARD,
            ignore_system_fonts=own_fonts,
        )
        return made

    try:
        return attempt(told, own_fonts=True)
    except typst.TypstError as error:
        if not _unshown(error):
            raise UnreadableError(f"Typst refuses the document: {_first_line(error)}") from None
    try:
        return attempt(told, own_fonts=False)
    except typst.TypstError as error:
        lost = _unshown(error)
    tell(_missing_fonts(lost))
    try:
        return attempt(_spelt_out(told, lost), own_fonts=False)
    except typst.TypstError as error:
        raise UnreadableError(f"Typst refuses the document: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return one_line(str(error), 200)


def _unshown(error: Exception) -> frozenset[str]:
    """Return the characters that cannot be shown, from what Typst says."""
    message = f"{error}\n{getattr(error, 'diagnostic', '')}"
    found = (
        _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) for text in _UNSHOWN.findall(message)
    )
    return frozenset(char for text in found for char in text if char > "\x7f")


def _missing_fonts(lost: Collection[str]) -> str:
    """Return what to install for characters that no font has."""
    scripts = {unicodedata.name(char, "SYMBOLS").split()[0].title() for char in lost}
    fonts = {"CJK" if name in _EAST_ASIAN else name for name in scripts}
    named = " and ".join(f"Noto Sans {name}" for name in sorted(fonts))
    many = f"{len(lost)} character{'s' if len(lost) > 1 else ''}"
    return (
        f"no font of this machine has {many} of the report, such as {min(lost)}, so they are "
        f"printed as their codes. Install a font that has them ({named}; on Debian and Ubuntu: "
        f"apt install {'fonts-noto-cjk' if fonts == {'CJK'} else 'fonts-noto'}), and export again"
    )


_EAST_ASIAN = frozenset(("Cjk", "Hiragana", "Katakana", "Hangul", "Ideographic", "Fullwidth"))
"""How the names of characters begin that a font for Chinese, Japanese and Korean has."""


def _spelt_out(value: Any, lost: Iterable[str]) -> Any:
    """Return data with characters that cannot be shown as their codes: U+4E2D."""
    codes = {ord(char): f"\u2039U+{ord(char):04X}\u203a" for char in lost}
    return _mapped(value, lambda text: text.translate(codes))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_mapped(item, change) for item in value]
    return value
