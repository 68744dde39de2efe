"""The second opinion: the close reader judges each cited sentence by its quotes.

It comes with deepdiver, runs locally, and sees only the sentence and its quotes: not the
question, nor other opinions, nor which model wrote the sentence. It is small, so it decides little:
sentences that it is unsure about stay as they are, and only if it is almost certain that the quotes
say otherwise does a sentence get a caution. It cuts nothing by itself; where a sentence does not
share its quotes' words either, the audit does (`grounding`).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from deepdiver.core.entries import term_of
from deepdiver.core.numbering import units_of
from deepdiver.core.numbers import numbers
from deepdiver.core.record import (
    UNPRINTED,
    Finding,
    SecondOpinion,
    Sentence,
    SentenceKind,
    Source,
    Stance,
)
from deepdiver.core.text import Span, locate, sentences, words
from deepdiver.encoders.reader import CLOSE, Verdict, load_close_reader, load_reader
from deepdiver.errors import StoreError
from deepdiver.report.bindings import Cited
from deepdiver.report.counterparts import Counterpart, find_counterparts, find_exchanged
from deepdiver.report.kinds import READERS_CAUTION
from deepdiver.strategies.shared.base import Deps

AGREES = CLOSE.supports
"""The probability from which on the reader takes quotes to support a sentence."""
CONTRADICTS = CLOSE.contradicts
"""The probability from which on it takes them to contradict the sentence, if none supports it."""
QUOTES = 16
"""The most quotes of one sentence that are read: a sentence that cites more says little of each."""
READ = 800
"""Characters of quotes that are read together: with the sentence, about as many as the reader can
see at once."""
MARGIN = 0.4
"""How much lower the odds of a contradiction must be with a counterpart, as a logarithm, before the
sentence is wrong: 0.3 and 0.5 differ by two of the sentences for choosing (`bench/audit.py`). Of
4,000 claims that the training data calls supported, not always rightly, 1.6 % are refused."""
EXCHANGED = 2.5
"""How much higher the odds of support must be with two names or figures exchanged, as a logarithm,
before the reader contradicts the sentence. Of 300 held-out exchanges of `training/reader` it then
contradicts 30 instead of 19 %, and of 400 right sentences 5.5 instead of 5.2 % (at 1.0, 36 and
7.8 %). Of the right sentences for choosing it contradicts none so (one from 2.1 down); those
exchanged differ by 2.7 to 3.9."""
LIKELY = 0.5
"""The least probability that the quotes support the exchanged form."""
FORMS = 12
"""The most exchanged forms of a sentence that are read: five names have ten."""
SURE = 0.001
"""Probabilities are told apart down to this one."""
DIGITS = 2
"""Decimals of a confidence: the reader is not more exact than that."""
_DIGITS = re.compile(r"[\d.,]+")
UNASKED = (
    "The reader, a second opinion, could not be asked: its files are missing or damaged. "
    "Installing deepdiver again "
    "brings them back."
)
WORD_FOR_WORD = SecondOpinion(stance=Stance.SUPPORTS, confidence=1.0)
"""The opinion on a sentence that a quote holds word for word: a rule, which is surer than the model
and does not load it."""


_SIGNS = re.compile(r"^[ \t]*(?:(?:[-*•+|]|\d{1,3}[.)])[ \t]+)+", re.MULTILINE)
"""What stands before a point of a list or a row of a table."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text with its quotes."""

    text: str
    """What it says."""
    quotes: tuple[tuple[str, str], ...]
    """Source title and exact text of each quote, in the order of the citations."""
    places: tuple[str, ...] = ()
    """The part of the source that each quote is in, with the speaker and the date of a message; if
    there are none, they are not known."""

    @property
    def word_for_word(self) -> bool:
        """Whether its quotes hold it word for word: one of them, or several behind each other."""
        texts = [text for _, text in self.quotes]
        return any(stands_whole(self.text, text) for text in (*texts, "\n\n".join(texts)))

    def passages(self) -> list[str]:
        """Return the quotes as the reader sees them: in a row, as many together as it can read."""
        made: list[list[_Quoted]] = []
        places = self.places or ("",) * len(self.quotes)
        for (title, text), place in islice(zip(self.quotes, places, strict=True), QUOTES):
            quote = _Quoted(title, place, text)
            if made and len(_in_a_row([*made[-1], quote])) <= READ:
                made[-1].append(quote)
            else:
                made.append([quote])
        return [_in_a_row(together) for together in made]


class _Quoted(NamedTuple):
    """A quote, as the reader sees it."""

    title: str
    place: str
    text: str


def _in_a_row(quotes: Sequence[_Quoted]) -> str:
    """Return quotes as one text, with each title and place once where several of it follow.

    A title often says who "he" or "it" is, and the place of a message who speaks.
    """
    told: list[str] = []
    before = _Quoted("", "", "")
    for quote in quotes:
        other = quote.title != before.title
        told += [f"{quote.title.rstrip('.')}."] if quote.title and other else []
        told += (
            [f"{quote.place}:"] if quote.place and (other or quote.place != before.place) else []
        )
        told += [quote.text]
        before = quote
    return " ".join(told)


async def with_opinions(deps: Deps, written: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences with the reader's opinions, and with a caution where it contradicts one.

    There is no opinion on frames, which cite nothing, and on calculations, which code repeats. If
    the reader's files cannot be used, there are no opinions, and the report's limits say so.
    """
    if not deps.settings.second_opinion:
        return list(written)
    cited = {number: _cite(deps, item) for number, item in enumerate(written) if is_asked(item)}
    given = {number: WORD_FOR_WORD for number, item in cited.items() if item.word_for_word}
    left = {number: item for number, item in cited.items() if number not in given}
    try:
        # In a thread, because 40 pairs take about a second and other runs of this process go on.
        given |= zip(left, await asyncio.to_thread(read_opinions, list(left.values())), strict=True)
        given |= await asyncio.to_thread(_by_clauses, deps, written, given)
    except (StoreError, ImportError):
        deps.note_limit(UNASKED)
        return list(written)
    return [
        _mark(item, given[number]) if number in given else item
        for number, item in enumerate(written)
    ]


def contradicted(written: Iterable[Sentence]) -> list[str]:
    """Return the line of the report's limits that counts contradicted sentences, if any."""
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


def is_asked(sentence: Sentence) -> bool:
    """Whether the reader has an opinion of a sentence: a cited fact that is no calculation."""
    return (
        sentence.kind is SentenceKind.FACT
        and sentence.calculation is None
        and bool(sentence.findings)
    )


def _cite(deps: Deps, sentence: Sentence) -> CitedText:
    findings = [deps.ledger.get(Finding, key) for key in sentence.findings]
    quotes = [quote for finding in findings for quote in finding.quotes]
    sources = [deps.ledger.get(Source, quote.source) for quote in quotes]
    both = list(zip(sources, quotes, strict=True))
    return CitedText(
        sentence.text,
        tuple((source.title.strip(), quote.text) for source, quote in both),
        tuple(source.where(quote.passage.start) for source, quote in both),
    )


def _by_clauses(
    deps: Deps, written: Sequence[Sentence], given: Mapping[int, SecondOpinion]
) -> dict[int, SecondOpinion]:
    """Return opinions on sentences that are contradicted as a whole, and by no clause alone.

    Where sources disagree, a sentence that tells it cites each at its clause: one of them seems to
    contradict what the other one says.
    """
    found = {}
    for number, opinion in given.items():
        clauses = _clauses(deps, written[number]) if opinion.stance is Stance.REFUTES else []
        if len(clauses) > 1:
            each = read_opinions(clauses)
            if not any(item.stance is Stance.REFUTES for item in each):
                found[number] = min(each, key=lambda item: item.confidence)
    return found


def _clauses(deps: Deps, sentence: Sentence) -> list[CitedText]:
    """Return the parts of a sentence that end where something is cited, with what it is."""
    cited: dict[int, list[str]] = {}
    for key, place in zip(sentence.findings, sentence.places, strict=False):
        if place != UNPRINTED:
            cited.setdefault(place, []).append(key)
    ends = sorted(cited)
    return [
        _cite(
            deps,
            sentence.model_copy(
                update={
                    "text": sentence.text[start:end].strip(" ,;"),
                    "findings": tuple(cited[end]),
                }
            ),
        )
        for start, end in zip((0, *ends), ends, strict=False)
    ]


def read_opinions(cited: Sequence[CitedText]) -> list[SecondOpinion]:
    """Return the reader's opinion of texts that their quotes do not hold word for word.

    Raises:
        StoreError: If the reader's files are missing or damaged.
        ImportError: If its runtime cannot be loaded.
    """
    verdicts = _read_verdicts(cited)
    given = [_opinion_of(found) for found in verdicts]
    unsure = [number for number, found in enumerate(given) if found.stance is Stance.NEUTRAL]
    asked = [cited[number] for number in unsure]
    own = [_support_of(verdicts[number]) for number in unsure]
    for number, exchanged in zip(unsure, _exchanged_forms(asked, own), strict=True):
        if exchanged:
            confidence = round(exchanged, DIGITS)
            given[number] = SecondOpinion(stance=Stance.REFUTES, confidence=confidence)
    return given


def _exchanged_forms(cited: Sequence[CitedText], own: Sequence[float]) -> list[float]:
    """Return how surely quotes support texts rather with two names or figures exchanged, else 0."""
    forms = [
        [
            replace(item, text=form)
            for form in islice(find_exchanged(item.text, (text for _, text in item.quotes)), FORMS)
        ]
        for item in cited
    ]
    support = iter(read_support([form for listed in forms for form in listed]))
    best = [max(islice(support, len(listed)), default=0.0) for listed in forms]
    return [
        share if share >= LIKELY and _odds(share) - _odds(said) >= EXCHANGED else 0.0
        for share, said in zip(best, own, strict=True)
    ]


def read_support(cited: Sequence[CitedText]) -> list[float]:
    """Return the probability that quotes support each text.

    Raises:
        StoreError: If the reader's files are missing or damaged.
        ImportError: If its runtime cannot be loaded.
    """
    return [_support_of(verdicts) for verdicts in _read_verdicts(cited)]


def _support_of(verdicts: Sequence[Verdict]) -> float:
    """Return how surely one of the passages of a text supports it."""
    return max((found.supports for found in verdicts), default=0.0)


def read_relevance(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the probability that each topic is one that the text beside it bears on.

    Raises:
        StoreError: If the reader's files are missing or damaged.
        ImportError: If its runtime cannot be loaded.
    """
    return [load_reader().relevance(topic, [text])[0] for topic, text in pairs]


async def find_turned(said: Sequence[tuple[str, Sequence[Cited]]]) -> list[str]:
    """Return what is wrong with sentences whose quotes the reader takes to say their counterpart.

    Empty if there is nothing, or if the reader's files cannot be used.

    Args:
        said: The sentences with what they cite.
    """
    return [better.fault() if better else "" for better in await find_better(said)]


async def find_better(
    said: Sequence[tuple[str, Sequence[Cited]]],
) -> list[Counterpart | None]:
    """Return the counterparts of sentences that the reader takes the quotes to say instead.

    None if there is no such, or if the reader's files cannot be used.

    Args:
        said: The sentences with what they cite.
    """
    try:
        # In a thread, because other runs of this process go on.
        return await asyncio.to_thread(read_turned, said)
    except (StoreError, ImportError):
        return [None] * len(said)


def read_turned(said: Sequence[tuple[str, Sequence[Cited]]]) -> list[Counterpart | None]:
    """Return the same; the reader is loaded only if a sentence has a counterpart.

    Raises:
        StoreError: If the reader's files are missing or damaged.
        ImportError: If its runtime cannot be loaded.
    """
    beside = [_counterparts(text, quotes) for text, quotes in said]
    asked = [
        pair
        for (text, quotes), found in zip(said, beside, strict=True)
        for pair in _with_counterparts(text, quotes, found)
    ]
    denied = iter([_odds(found.refutes) for found in load_reader().verify(asked)] if asked else ())
    return [_turned(found, denied) for found in beside]


def _with_counterparts(
    text: str, quotes: Sequence[Cited], found: Sequence[Counterpart]
) -> list[tuple[str, str]]:
    """Return a sentence and its counterparts beside its quotes; nothing if it has none."""
    if not found:
        return []
    passage = _in_a_row([_Quoted(quote.title, "", quote.text) for quote in quotes])
    return [(passage, told) for told in (text, *(each.text for each in found))]


def _turned(found: Sequence[Counterpart], denied: Iterator[float]) -> Counterpart | None:
    """Return the counterpart of a sentence whose quotes deny it more than that."""
    if not found:
        return None
    own = next(denied)
    better = [each for each in found if own - next(denied) >= MARGIN]
    return better[0] if better else None


def _counterparts(text: str, quotes: Sequence[Cited]) -> list[Counterpart]:
    if any(stands_whole(text, quote.text) for quote in quotes):
        return []
    return find_counterparts(text, quotes)


def _odds(share: float) -> float:
    """Return the logarithm of the odds of a probability."""
    share = min(max(share, SURE), 1 - SURE)
    return math.log(share / (1 - share))


def _read_verdicts(cited: Sequence[CitedText]) -> list[list[Verdict]]:
    """Return the reader's verdicts by the quotes of each text, mostly one.

    It is loaded only if there is something to read.
    """
    passages = [item.passages() for item in cited]
    shown = [
        (passage, item.text)
        for item, texts in zip(cited, passages, strict=True)
        for passage in texts
    ]
    verdicts = iter(load_close_reader().verify(shown) if shown else ())
    return [list(islice(verdicts, len(texts))) for texts in passages]


def _opinion_of(verdicts: Sequence[Verdict]) -> SecondOpinion:
    """Return the opinion by what supports a text most and by what contradicts it most."""
    supports = _support_of(verdicts)
    refutes = max(found.refutes for found in verdicts)
    if supports >= AGREES:
        return SecondOpinion(stance=Stance.SUPPORTS, confidence=round(supports, DIGITS))
    if refutes >= CONTRADICTS:
        return SecondOpinion(stance=Stance.REFUTES, confidence=round(refutes, DIGITS))
    return SecondOpinion(
        stance=Stance.NEUTRAL, confidence=round(1 - max(supports, refutes), DIGITS)
    )


def _mark(sentence: Sentence, opinion: SecondOpinion) -> Sentence:
    caution = READERS_CAUTION if opinion.stance is Stance.REFUTES else ""
    mark = "; ".join(filter(None, (sentence.mark, caution)))
    return sentence.model_copy(update={"second_opinion": opinion, "mark": mark})


def stands_whole(said: str, quote: str) -> bool:
    """Return whether a quote holds a sentence word for word, apart from typesetting and emphasis.

    Signs before the points of a list and the rows of a table are typesetting. It must begin and end
    where sentences of the quote do: inside one, a "not" may apply to it. Behind the term of an
    entry, a colon stands for the end of its line.
    """
    quote = _SIGNS.sub("", quote).replace("*", "")
    said = _SIGNS.sub("", said).replace("*", "").rstrip(" .")
    term = " ".join(term_of(quote).split())
    if term and said.startswith(f"{term}: "):
        said = f"{term} {said[len(term) + 2 :]}"
    span = locate(said, quote)
    if span is None:
        return False
    parts = [Span(0, len(quote)), *sentences(quote)]
    begins = any(_nothing_between(quote, span.start, part.start) for part in parts)
    return begins and any(_nothing_between(quote, span.end, part.end) for part in parts)


def stands_in_row(value: str, row: str, column: str, quotes: Iterable[str]) -> bool:
    """Return whether a cell's value is one of the row of a source that it is about.

    Of several rows, that is the one that shares the most words with the name of its row; and if
    the source names its columns as the table does, the value must be in such a column.

    Args:
        value: What the cell says.
        row: The name of its row.
        column: The name of its column.
        quotes: What it cites.
    """
    rows = [unit.of(quote) for quote in quotes for unit in units_of(quote)]
    shared = [len({*words(row)} & {*words(text)}) for text in rows]
    own = [text for text, many in zip(rows, shared, strict=True) if many == max(shared)]
    return bool(own) and all(_is_field(value, column, text) for text in own)


def _is_field(value: str, column: str, row: str) -> bool:
    """Whether a value is a field of a row: `| Year: 2023 | Hours: 90` or `| 2023 | 90`."""
    fields = [field.strip() for field in row.split("|") if field.strip()]
    parts = [field.rpartition(": ") for field in fields]
    named = [part for part in parts if {*words(part[0])} & {*words(column)}]
    said = " ".join(value.split()).rstrip(".")
    return len(fields) > 1 and any(_is_same(said, content) for *_, content in named or parts)


def _is_same(said: str, content: str) -> bool:
    """Whether two values are the same: word for word, or a number with its unit, 46% and 46.00%."""
    if said == content:
        return True
    units = {"".join(_DIGITS.sub("", text).split()).lower() for text in (said, content)}
    one, other = numbers(said), numbers(content)
    return len(units) == 1 and len(one) == 1 and one == other


def _nothing_between(text: str, one: int, other: int) -> bool:
    return not any(
        char.isalnum() or char == "?" for char in text[min(one, other) : max(one, other)]
    )
