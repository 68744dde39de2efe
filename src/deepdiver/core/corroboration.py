"""How many other independent sources say the same as each source behind an accepted answer.

The report says so, and no number uses it. Belief adds up what each origin contributes, so agreement
is already part of it: if a source counted for more because others agree, the same agreement would
count twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from deepdiver.core.ledger import Ledger
from deepdiver.core.origins import origins
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Finding,
    HypothesisStatus,
    Source,
    SourceKind,
)

OWN_DOCUMENTS = "your documents"
"""Stands for the publisher of the person's documents that name none."""


def publisher_of(source: Source) -> str:
    """Return the publisher of a source for comparison: its name, else its host, else nothing."""
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

    Sources say the same if they support the same accepted hypothesis, nothing in them speaks
    against it, and none of them is known to contradict another. Sources of one origin or of one
    publisher count as one voice, and so do documents of the person's own that name no publisher:
    the files of one company are not independent. That errs on the low side: two papers on one
    preprint server are one voice.

    Args:
        assessments: The hypotheses as they stand.
        ledger: Where their findings and sources are.
        one_story: The origin of each source, as `origins` gives it.
    """
    agreeing: dict[str, int] = {}
    for item in assessments:
        if item.status is not HypothesisStatus.SUPPORTED:
            continue
        against = {source.id for source in _sources_of(item.refuting, ledger)}
        held = _sources_of(item.supporting, ledger)
        against |= _opposed({source.id for source in held}, ledger)
        sources = [source for source in held if source.id not in against]
        others = len(_voices(sources, one_story)) - 1
        for source in sources:
            agreeing[source.id] = max(agreeing.get(source.id, 0), others)
    return agreeing


def _opposed(sources: set[str], ledger: Ledger) -> set[str]:
    """Return those of some sources that are known to contradict another of them."""
    sides = [
        {source.id for source in _sources_of(clash.findings, ledger)} & sources
        for clash in ledger.of(Contradiction).values()
        if clash.kind == "contradicts"
    ]
    return {source for side in sides if len(side) > 1 for source in side}


def _sources_of(keys: Iterable[str], ledger: Ledger) -> list[Source]:
    """Return the sources of findings, by id."""
    findings = [ledger.get(Finding, key) for key in keys]
    keys = {quote.source for finding in findings for quote in finding.quotes}
    return [ledger.get(Source, key) for key in sorted(keys)]


def _voices(sources: Iterable[Source], one_story: dict[str, str]) -> list[set[str]]:
    """Return each voice as the set of origins and publishers that it speaks for.

    Sources that share an origin or a publisher are one voice, and so is a chain of them.
    """
    voices: list[set[str]] = []
    for source in sources:
        unnamed = OWN_DOCUMENTS if source.kind is SourceKind.DOCUMENT else source.id
        marks = {f"origin {one_story[source.id]}", f"publisher {publisher_of(source) or unnamed}"}
        joined = [voice for voice in voices if voice & marks]
        voices = [voice for voice in voices if not voice & marks] + [marks.union(*joined)]
    return voices


def count_copies(ledger: Ledger) -> tuple[dict[str, str], dict[str, int]]:
    """Return the origin of each source of a ledger, and at how many addresses its story was found.

    A page that was read twice counts once.
    """
    sources = ledger.of(Source)
    one_story = origins(sources.values())
    places: dict[str, set[str]] = {}
    for key, source in sources.items():
        places.setdefault(one_story[key], set()).add(source.url)
    return one_story, {key: len(places[one_story[key]]) for key in sources}
