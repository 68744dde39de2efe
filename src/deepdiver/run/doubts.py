"""What the reader disagrees with in a report: a second look that proves nothing.

Code proves what it finds wrong with a report. The reader, a small model that comes with deepdiver,
only has an opinion, so what it says is told apart from faults. It is asked twice: whether the
quotes rather say the opposite of a sentence, and for its opinion of the sentence. If the report has
an opinion on record, that must be the one which the reader has now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deepdiver.core.record import Finding, Quote, Report, SecondOpinion, Sentence, Source, Stance
from deepdiver.core.version import VERSION
from deepdiver.errors import LostTextError
from deepdiver.report.audit import credit_of
from deepdiver.report.bindings import Cited
from deepdiver.report.exports.package import Saved
from deepdiver.report.kinds import READERS_CAUTION
from deepdiver.strategies.shared.drafting import heads_above
from deepdiver.strategies.shared.second_opinion import (
    DIGITS,
    CitedText,
    is_asked,
    read_opinions,
    read_turned,
)

TOLERANCE = 0.02
"""How far an opinion may be from the one on record. The reader gives the same result on every
machine, to four places; opinions have two."""
SHOWN_CHARS = 120
"""Characters of a sentence that a doubt repeats, as many as a fault does."""
CONTRADICTED = "its quotes say otherwise"


def find_doubts(saved: Saved) -> Iterator[str]:
    """Yield a line for each sentence that the reader disagrees with.

    Sentences that are word for word in a quote need no opinion, and those that the report itself
    marks as contradicted have had theirs.

    Opinions on record are compared only if this version of deepdiver gave them: another one may
    have another reader.

    Raises:
        StoreError: If the reader's files are missing or damaged.
        ImportError: If its runtime cannot be loaded.
    """
    asked = [
        (sentence, quotes)
        for sentence in _sentences(saved.report)
        if is_asked(sentence)
        and READERS_CAUTION not in sentence.mark
        and (quotes := _cited(sentence, saved))
        and not _as_read(sentence, quotes).word_for_word
    ]
    turned = read_turned([(sentence.text, quotes) for sentence, quotes in asked])
    opinions = read_opinions([_as_read(*both) for both in asked])
    known = saved.run.version == VERSION
    for (sentence, _), better, now in zip(asked, turned, opinions, strict=True):
        why = better.fault() if better else _disagreement(sentence, now, known=known)
        if why:
            yield f"the reader disagrees with {sentence.text[:SHOWN_CHARS]!r}: {why}"


def _sentences(report: Report) -> Iterator[Sentence]:
    yield from report.answer
    yield from (item for section in report.sections for item in section.all_sentences())


def _cited(sentence: Sentence, saved: Saved) -> list[Cited]:
    """Return the quotes of a sentence; none if something of them is not on record."""
    try:
        found = [saved.ledger.get(Finding, key) for key in sentence.findings]
        quotes = [quote for finding in found for quote in finding.quotes]
        return [_with_source(quote, saved) for quote in quotes]
    except (LookupError, LostTextError):
        return []


def _with_source(quote: Quote, saved: Saved) -> Cited:
    source = saved.ledger.get(Source, quote.source)
    heads = "\n".join(heads_above(saved.text(quote.passage.snapshot), quote))
    place = source.where(quote.passage.start)
    return Cited(quote.text, credit_of(source, quote), source.title.strip(), heads, place)


def _as_read(sentence: Sentence, quotes: Sequence[Cited]) -> CitedText:
    return CitedText(
        sentence.text,
        tuple((quote.title, quote.text) for quote in quotes),
        tuple(quote.place for quote in quotes),
    )


def _disagreement(sentence: Sentence, now: SecondOpinion, *, known: bool) -> str:
    """Return what an opinion has against a sentence; empty if nothing.

    Args:
        sentence: The sentence, perhaps with an opinion on record.
        now: The reader's opinion.
        known: Whether the opinion on record is that of the same reader.
    """
    if now.stance is Stance.REFUTES:
        return CONTRADICTED
    held = sentence.second_opinion
    if held is None or not known or _agree(held, now):
        return ""
    return f"on record, it {_told(held)}; now it {_told(now)}"


def _agree(one: SecondOpinion, other: SecondOpinion) -> bool:
    apart = round(abs(one.confidence - other.confidence), DIGITS)
    return one.stance is other.stance and apart <= TOLERANCE


def _told(opinion: SecondOpinion) -> str:
    said = {
        Stance.SUPPORTS: "takes the quotes to support it",
        Stance.REFUTES: "takes the quotes to contradict it",
        Stance.NEUTRAL: "takes no side",
    }
    return f"{said[opinion.stance]} ({opinion.confidence:.2f})"
