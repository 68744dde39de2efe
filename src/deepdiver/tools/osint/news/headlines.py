"""What articles of GDELT and entries of news feeds have in common: a headline and a day."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import date

from deepdiver.tools.osint.feed import Row
from deepdiver.tools.osint.times import Span


def is_within(when: str, span: Span) -> bool:
    """Whether an ISO moment is on a day of a span."""
    try:
        return date.fromisoformat(when[:10]) in span
    except ValueError:  # the thirty-first of February
        return False


def folded(text: str) -> str:
    """Return a text in lower case and without accents."""
    return "".join(
        char
        for char in unicodedata.normalize("NFKD", text.lower())
        if not unicodedata.combining(char)
    )


def distinct(rows: Iterable[Row]) -> list[Row]:
    """Leave out rows with an address or a headline that came before.

    The same headline is the text of one agency in many papers.
    """
    kept: dict[str, Row] = {}
    addresses: set[str] = set()
    for row in rows:
        if row.url not in addresses:
            kept.setdefault(folded(row.title), row)
        addresses.add(row.url)
    return list(kept.values())
