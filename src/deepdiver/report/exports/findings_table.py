"""The findings of a run as a table of comma-separated values, a row for each quote.

A spreadsheet takes a cell that begins with = + - or @ for a formula, and a formula can send the
table away. So a text that begins like one gets an apostrophe, which spreadsheets do not show.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from deepdiver.core.record import Finding, Source
from deepdiver.core.shown_text import reveal
from deepdiver.report.exports.package import Saved

COLUMNS = (
    "finding",
    "statement",
    "quote",
    "cited as",
    "source",
    "author",
    "publisher",
    "published",
    "address",
    "place",
    "snapshot",
    "start",
    "end",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a formula may begin with, also in the width of East Asian letters."""


def render_findings(saved: Saved) -> str:
    """Return the findings, with a mark at the beginning by which spreadsheets know UTF-8."""
    made = io.StringIO()
    table = csv.writer(made, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    table.writerow(COLUMNS)
    table.writerows([safe_cell(cell) for cell in row] for row in _rows(saved))
    return "\ufeff" + made.getvalue()


def safe_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    shown = reveal(text)
    return f"'{shown}" if shown.lstrip(" \u00a0\u3000").startswith(_FORMULA) else shown


def _rows(saved: Saved) -> Iterator[tuple[str, ...]]:
    marks: dict[str, list[str]] = {}
    for item in saved.report.citations:
        marks.setdefault(item.finding, []).append(f"[{item.mark}]")
    for finding in saved.ledger.of(Finding).values():
        for quote in finding.quotes:
            source = saved.ledger.get(Source, quote.source)
            yield (
                finding.id,
                finding.statement,
                quote.text,
                "".join(dict.fromkeys(marks.get(finding.id, ()))),
                source.title,
                source.author,
                source.publisher,
                source.published,
                source.url,
                source.where(quote.passage.start),
                quote.passage.snapshot,
                str(quote.passage.start),
                str(quote.passage.end),
            )
