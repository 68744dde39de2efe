"""When and where that was of which a finding tells."""

from __future__ import annotations

import pytest

from deepdiver.core.record import Finding, Passage, Quote, Source, SourceKind
from deepdiver.core.sighting import Sighting, sighting
from deepdiver.core.whereabouts import Position

TEXT = "The log of Vantskär. 2026-02-08 04:47 UTC: smoke at 63.214 N, 19.082 E. The harbour was closed."


def made(quote: str, text: str = TEXT, published: str = "") -> Sighting:
    start = text.index(quote)
    passage = Passage(snapshot="h", start=start, end=start + len(quote))
    finding = Finding(id="f", statement=quote, quotes=(Quote(source="s", passage=passage, text=quote),))
    source = Source(id="s", kind=SourceKind.PAGE, url="u", title="t", snapshot="h", published=published)
    return sighting(finding, source, text)


def test_its_own_words_go_first() -> None:
    seen = made("2026-02-08 04:47 UTC: smoke at 63.214 N, 19.082 E.", published="2026-03-01T10:00:00Z")
    assert seen.timestamp == "2026-02-08T04:47Z"
    assert seen.position == Position(63.214, 19.082)


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        ("2026-02-08T14:00:00Z", "2026-02-08T14:00Z"),
        ("2026-02-08T14:00:00+01:00", "2026-02-08T13:00Z"),
        ("2026-02-08", ""),
        ("2026-02", ""),
        ("", ""),
        ("yesterday, at Ten", ""),
    ],
)
def test_else_the_minute_of_publication_counts_and_a_bare_day_does_not(published: str, wanted: str) -> None:
    assert made("The harbour was closed.", "The harbour was closed.", published).timestamp == wanted


def test_a_finding_that_tells_neither_when_nor_where_says_so() -> None:
    assert made("Nothing happened.", "Nothing happened.") == Sighting("f")
