"""The second opinion.

The reader judges each cited sentence by its quotes, whichever model wrote it.

The reader comes with deepdiver, asks nobody, and is shown the sentence and its quotes alone:
neither the question nor what others think of it. It is small, so it decides little. It cuts
nothing, what it says nothing of stays as it is, and only where it is as good as sure that the
quotes say otherwise does a caution go with the sentence.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from deepdiver.core.record import Finding, SecondOpinion, Sentence, SentenceKind, Source, Stance
from deepdiver.core.text import Span, locate, sentences
from deepdiver.encoders.reader import Verdict, load_reader
from deepdiver.errors import StoreError
from deepdiver.strategies.shared.base import Deps

AGREES = 0.6
"""From this probability on the reader takes quotes to say a sentence."""
CONTRADICTS = 0.93
"""From this probability on it takes them to say otherwise, if none of them says it. The least of
two places by which at most 1 % of the sentences that their quote supports are called contradicted
in every held-out set of 200 or more: 0.6 % in the worst of them, 0.18 % of all 7,173. Of 5,449 that
their quote refutes 18 % are called so. `bench/second_opinion.py` counts. The reader's probabilities
end at 0.955."""
QUOTES = 16
"""Quotes of one sentence that are read: a sentence that cites more says little of each."""
DIGITS = 2
"""Places of a confidence: the reader is no surer of it than that."""
CAUTION = "the reader takes the cited passage to say otherwise"
"""What stands behind a sentence that the reader contradicts."""
UNASKED = (
    "The reader, a second opinion, could not be asked: its files are missing or damaged. "
    "Installing deepdiver again "
    "brings them back."
)
WORD_FOR_WORD = SecondOpinion(stance=Stance.SUPPORTS, confidence=1.0)
"""The opinion on a sentence that stands in a quote: a rule, surer than the model, and no model is
loaded for it."""


@dataclass(frozen=True, slots=True)
class _CitedSentence:
    """A sentence with what it cites."""

    text: str
    """What it says."""
    quotes: tuple[tuple[str, str], ...]
    """The title of the source and the exact text of each quote, in the order of the citations."""

    @property
    def word_for_word(self) -> bool:
        """Whether one of the quotes has the sentence as it is."""
        return any(stands_whole(self.text, text) for _, text in self.quotes)

    def passages(self) -> list[str]:
        """Return the quotes as the reader is shown them.

        The title often names whom "he" or "it" means.
        """
        return [f"{title}. {text}" if title else text for title, text in self.quotes[:QUOTES]]


async def with_opinions(deps: Deps, written: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences, those that cite with the reader's opinion, and with a caution where it contradicts.

    Frames cite nothing, and sums are repeated by code, which is surer: there is no opinion on
    these. If the reader's files cannot be used there is none on any, and the report's limits say
    so.
    """
    if not deps.settings.second_opinion:
        return list(written)
    cited = {number: _cite(deps, item) for number, item in enumerate(written) if _is_asked(item)}
    given = {number: WORD_FOR_WORD for number, item in cited.items() if item.word_for_word}
    left = {number: item for number, item in cited.items() if number not in given}
    try:
        # In a thread: some 40 pairs take a second, and the other runs of this process go on
        # meanwhile.
        given |= zip(
            left, await asyncio.to_thread(_read_opinions, list(left.values())), strict=True
        )
    except (StoreError, ImportError):
        deps.note_limit(UNASKED)
        return list(written)
    return [
        _mark(item, given[number]) if number in given else item
        for number, item in enumerate(written)
    ]


def counted(written: Iterable[Sentence]) -> str:
    """Return the line that counts the opinions, for the foot of the report.

    Empty where there are none.
    """
    counts = _count_stances(written)
    if not (asked := counts.total()):
        return ""
    return (
        f"The reader, a second opinion, agrees with {counts[Stance.SUPPORTS]} of {asked} cited "
        f"sentence{'s' if asked != 1 else ''}, says nothing of {counts[Stance.NEUTRAL]}, "
        f"and contradicts {counts[Stance.REFUTES]}."
    )


def contradicted(written: Iterable[Sentence]) -> list[str]:
    """Return the line of the report's limits where the reader contradicts.

    None where it does not.
    """
    many = _count_stances(written)[Stance.REFUTES]
    return (
        [
            f"The reader, a second opinion, contradicts {many} cited "
            f"sentence{'s' if many != 1 else ''}."
        ]
        if many
        else []
    )


def _count_stances(written: Iterable[Sentence]) -> Counter[Stance]:
    return Counter(item.second_opinion.stance for item in written if item.second_opinion)


def _is_asked(sentence: Sentence) -> bool:
    return (
        sentence.kind is SentenceKind.FACT
        and sentence.calculation is None
        and bool(sentence.findings)
    )


def _cite(deps: Deps, sentence: Sentence) -> _CitedSentence:
    findings = [deps.ledger.get(Finding, key) for key in sentence.findings]
    quotes = [quote for finding in findings for quote in finding.quotes]
    titles = [deps.ledger.get(Source, quote.source).title.strip() for quote in quotes]
    return _CitedSentence(
        sentence.text,
        tuple((title, quote.text) for title, quote in zip(titles, quotes, strict=True)),
    )


def _read_opinions(cited: Sequence[_CitedSentence]) -> list[SecondOpinion]:
    """Return the reader's opinions; it is loaded only where there is something to read."""
    alone = [item.passages() for item in cited]
    joined = [[" ".join(both) for both in pairwise(quotes)] for quotes in alone]
    shown = [
        (quote, item.text)
        for item, *texts in zip(cited, alone, joined, strict=True)
        for quote in chain(*texts)
    ]
    verdicts = iter(load_reader().verify(shown) if shown else ())
    return [
        _opinion_of(list(islice(verdicts, len(own))), list(islice(verdicts, len(more))))
        for own, more in zip(alone, joined, strict=True)
    ]


def _opinion_of(alone: Sequence[Verdict], joined: Sequence[Verdict]) -> SecondOpinion:
    """Return what the best of the quotes makes of a sentence, each alone and joined with the next.

    Joined quotes may say it together; that it is not so, a quote must say alone. With a quote of
    something else behind theirs, 2.0 % of 500 supported sentences were called contradicted, and 1.0
    % by quotes alone.
    """
    supports = max(found.supports for found in (*alone, *joined))
    refutes = max(found.refutes for found in alone)
    if supports >= AGREES:
        return SecondOpinion(stance=Stance.SUPPORTS, confidence=round(supports, DIGITS))
    if refutes >= CONTRADICTS:
        return SecondOpinion(stance=Stance.REFUTES, confidence=round(refutes, DIGITS))
    return SecondOpinion(
        stance=Stance.NEUTRAL, confidence=round(1 - max(supports, refutes), DIGITS)
    )


def _mark(sentence: Sentence, opinion: SecondOpinion) -> Sentence:
    caution = CAUTION if opinion.stance is Stance.REFUTES else ""
    mark = "; ".join(filter(None, (sentence.mark, caution)))
    return sentence.model_copy(update={"second_opinion": opinion, "mark": mark})


def stands_whole(said: str, quote: str) -> bool:
    """Whether a quote has a sentence word for word, apart from typesetting and marks of emphasis.

    It must begin and end where sentences of the quote do: within one it may stand under a "not".
    """
    quote = quote.replace("*", "")
    span = locate(said.replace("*", "").rstrip(" ."), quote)
    if span is None:
        return False
    parts = [Span(0, len(quote)), *sentences(quote)]
    begins = any(_nothing_between(quote, span.start, part.start) for part in parts)
    return begins and any(_nothing_between(quote, span.end, part.end) for part in parts)


def _nothing_between(text: str, one: int, other: int) -> bool:
    return not any(
        char.isalnum() or char == "?" for char in text[min(one, other) : max(one, other)]
    )
