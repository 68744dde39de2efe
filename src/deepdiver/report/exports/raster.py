"""Pictures as PNG, for documents whose readers do not all draw SVG; Typst draws them."""

from __future__ import annotations

import re

from deepdiver.report.figures.svg import Picture

DOTS_PER_INCH = 220
"""Sharp on paper; a chart has about 50 KB."""
WIDTH_CM = 16
"""How wide a picture is in a document: a page of A4 between its margins."""
_PAGE = (
    '#set page(width: {width}cm, height: auto, margin: 0pt)\n#image("/picture.svg", width: 100%)\n'
)
_LINK = re.compile(r"</?a\b[^>]*>")


def unlinked(picture: str) -> str:
    """Return a picture without links: those of a page lead nowhere in a document."""
    return _LINK.sub("", picture)


def draw_png(picture: Picture) -> bytes | None:
    """Return a picture as PNG, the same bytes each time; None if Typst is not installed."""
    try:
        import typst
    except ImportError:
        return None
    # Its stub does not know that the input may be files by their names.
    made: bytes = typst.compile(  # type: ignore[call-overload]
        {
            "main": _PAGE.format(width=WIDTH_CM).encode(),
            "picture.svg": unlinked(picture.file("")).encode(),
        },
        format="png",
        ppi=DOTS_PER_INCH,
    )
    return made
