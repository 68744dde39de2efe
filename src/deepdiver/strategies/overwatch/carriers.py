"""The findings that carry an insight for which the reasoner names none.

A finding carries it if its quote holds every number, date and name of the insight, and either
nearly all of its words, neither of the two denying what the other does not, or its sense in other
words. The sense is judged by the reader, the small model that comes with deepdiver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from deepdiver.core.record import Finding, Sentence
from deepdiver.core.text import terms
from deepdiver.encoders.reader import SMALL, load_reader
from deepdiver.errors import StoreError
from deepdiver.report.audit import find_faults
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.statements import denies

SAID = 0.8
"""The part of an insight's words from which on a quote says it."""
READ = 8
"""The most quotes that the reader is asked about for one insight: those with most of its words."""


async def find_carriers(deps: Deps, statement: str, findings: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the findings that carry a statement; those with most of its words first."""
    held = [deps.ledger.get(Finding, key) for key in findings]
    wanted = set(terms(statement))
    share = {
        item.id: len(wanted & set(terms(item.quotes[0].text))) / len(wanted)
        for item in held
        if wanted and not _lacks_values(deps, statement, item)
    }
    ranked = sorted((item for item in held if share.get(item.id)), key=lambda item: -share[item.id])
    said = [
        item.id
        for item in ranked
        if share[item.id] >= SAID and denies(statement) == denies(item.quotes[0].text)
    ]
    left = [item for item in ranked if item.id not in said][:READ]
    meant = await asyncio.to_thread(_read_as_saying, statement, left) if left else ()
    return (*said, *meant)


def _lacks_values(deps: Deps, statement: str, finding: Finding) -> bool:
    sentence = Sentence(text=statement, findings=(finding.id,))
    return bool(find_faults(sentence, [finding], deps.store.texts.get, deps.as_of))


def _read_as_saying(statement: str, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the findings whose quotes say it as the reader reads them; none without a reader."""
    try:
        verdicts = load_reader().verify([(item.quotes[0].text, statement) for item in findings])
    except (StoreError, ImportError):
        return ()
    return tuple(
        item.id
        for item, verdict in zip(findings, verdicts, strict=True)
        if verdict.supports >= SMALL.supports
    )
