"""Who else says it: how many independent sources stand beside each one behind an accepted answer.

Told in the report and left out of every number. Belief adds what each origin brings, so agreement
is in it already: a source that counted for more because others agree would let the same agreement
in twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from deepdiver.core.ledger import Ledger
from deepdiver.core.origins import origins
from deepdiver.core.record import Assessment, Finding, HypothesisStatus, Source


def publisher_of(source: Source) -> str:
    """Return who speaks in a source, as far as it can be compared.

    Its publisher, else its host, else nothing.
    """
    if name := " ".join(source.publisher.split()).casefold():
        return name
    try:
        return (urlsplit(source.url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def count_agreeing(
    assessments: Iterable[Assessment], ledger: Ledger, one_story: dict[str, str]
) -> dict[str, int]:
    """Return for each source how many others, independent of it and of each other, say the same.

    To say the same is to support the same accepted hypothesis. Sources of one origin or of one
    publisher are one voice, which counts too little rather than too much: two papers on one
    preprint server are one.

    Args:
        assessments: The hypotheses as they stand.
        ledger: Where their findings and sources are.
        one_story: The origin of each source, as `origins` gives it.
    """
    found: dict[str, int] = {}
    for item in assessments:
        if item.status is HypothesisStatus.SUPPORTED:
            quotes = (quote for key in item.supporting for quote in ledger.get(Finding, key).quotes)
            sources = [
                ledger.get(Source, key) for key in sorted({quote.source for quote in quotes})
            ]
            others = len(_voices(sources, one_story)) - 1
            for source in sources:
                found[source.id] = max(found.get(source.id, 0), others)
    return found


def _voices(sources: Iterable[Source], one_story: dict[str, str]) -> list[set[str]]:
    """Return what marks each voice.

    Sources that share an origin or a publisher, in a chain too, are one.
    """
    voices: list[set[str]] = []
    for source in sources:
        marks = {f"origin {one_story[source.id]}", f"publisher {publisher_of(source) or source.id}"}
        joined = [voice for voice in voices if voice & marks]
        voices = [voice for voice in voices if not voice & marks] + [marks.union(*joined)]
    return voices


def count_copies(ledger: Ledger) -> tuple[dict[str, str], dict[str, int]]:
    """Return the origin of each source of a ledger, and how many places tell its story.

    One page read twice is one.
    """
    sources = ledger.of(Source)
    one_story = origins(sources.values())
    places: dict[str, set[str]] = {}
    for key, source in sources.items():
        places.setdefault(one_story[key], set()).add(source.url)
    return one_story, {key: len(places[one_story[key]]) for key in sources}
