"""Judging a sentence of anybody's report by the pages that it cites.

The rules are those of a run's own audit. Only the quotes are missing: a stranger's report cites a
page, so code takes the sentences of the page that are nearest to the one it judges. A fault that
code finds there counts only if the whole page has it too, because what is missing from the nearest
sentences may stand further down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from deepdiver.core.record import Finding, Passage, Quote, Sentence, SentenceKind
from deepdiver.core.text import Span, sentences, terms
from deepdiver.encoders.reader import SMALL, load_reader
from deepdiver.encoders.weigh_parts import JudgedPart
from deepdiver.errors import StoreError
from deepdiver.report.audit import Context, find_faults
from deepdiver.report.bindings import Cited
from deepdiver.strategies.shared.choose_passages import Unread, choose_passages
from deepdiver.strategies.shared.grounding import FOREIGN, Said, find_bearings
from deepdiver.strategies.shared.second_opinion import find_turned, stands_whole

PASSAGE_CHARS = 3_000
"""Characters of the passages among which the nearest sentences are looked for."""
NEAREST = 6
"""Sentences of the cited pages by which one is judged: with those beside each other joined, eleven
pairs for the reader, about a third of a second."""
CLOSEST = 3
"""Sentences among which one must be that contradicts: among more, one that speaks of something else
is too often taken to deny it."""
OTHERWISE = "its source says otherwise"
MISSING = "is in none of its quotes"
"""How code ends the fault of a value or a clause that is not there."""
TOO_MUCH = "which its quotes do not"
"""How the fault of a word ends that says more than is there."""


class Standing(StrEnum):
    """How a sentence stands to what it cites."""

    SUPPORTED = "supported"
    """Nothing speaks against it: its values are there, and so are its words or its sense."""
    PARTLY = "partly"
    """Most of it is there, and something of it is not."""
    NOT = "not"
    """It is not there."""
    CONTRADICTED = "contradicted"
    """What it cites says otherwise."""
    UNREACHABLE = "unreachable"
    """Nothing that it cites could be read."""
    UNCITED = "uncited"
    """It states something and cites nothing."""
    FRAME = "frame"
    """It cites nothing and states nothing that could be checked."""


FAULTY = frozenset({Standing.PARTLY, Standing.NOT, Standing.CONTRADICTED})
"""The standings of sentences that their sources do not carry."""


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that a report cites, as it was read."""

    url: str
    """Its address."""
    title: str
    """Its title."""
    text: str
    """Its text."""
    credit: str = ""
    """Title, author, publisher and date."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence with what it is judged by."""

    text: str
    """What it says, without citation marks."""
    pages: tuple[CitedPage, ...]
    """The pages that it cites, as far as they could be read."""
    nearby: str = ""
    """The heading above it, and the sentence before it."""
    subject: str = ""
    """The title of the report, which may carry its names."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A passage of a cited page."""

    url: str
    """The address of the page."""
    start: int
    """Where it begins in the text of the page."""
    text: str
    """The words."""


@dataclass(frozen=True, slots=True)
class Judged:
    """How a sentence stands, and why."""

    standing: Standing
    """How it stands."""
    why: str = ""
    """What is wrong with it; empty if nothing is."""
    by: str = ""
    """Who says so: code, words, the reader, or the name of a model."""
    nearest: tuple[Nearest, ...] = ()
    """The sentences that come nearest to it, best first."""
    support: float | None = None
    """The reader's probability that they support it; None if it was not asked."""
    denial: float = 0.0
    """The reader's probability that one of the closest contradicts it; 0 if it was not asked."""


@dataclass(slots=True)
class _Case:
    """A sentence while it is judged."""

    stated: Stated
    near: list[tuple[int, Span]] = field(default_factory=list)
    """The nearest sentences as numbers of pages and spans, in the order of the texts."""
    best: list[tuple[int, Span]] = field(default_factory=list)
    """The same, best first."""
    why: str = ""
    by: str = ""
    support: float | None = None
    denial: float = 0.0

    def quotes(self) -> list[Cited]:
        """Return the nearest sentences with their credits, in the order of the texts."""
        pages = self.stated.pages
        return [
            Cited(span.of(pages[at].text), pages[at].credit, pages[at].title)
            for at, span in self.near
        ]

    def is_copied(self) -> bool:
        """Whether one of the sentences has it word for word."""
        return any(stands_whole(self.stated.text, quote.text) for quote in self.quotes())


async def judge(stated: Sequence[Stated], as_of: str = "") -> list[Judged]:
    """Judge sentences by what they cite; each must cite at least one page that was read.

    Args:
        stated: The sentences.
        as_of: The day of the audit.
    """
    cases = [_Case(item) for item in stated]
    for case in cases:
        _find_nearest(case)
        _look_by_code(case, as_of)
    await _look_for_turned([case for case in cases if not case.why])
    await _ask_reader(cases)
    await _look_at_words([case for case in cases if not case.why])
    return [_judged(case) for case in cases]


def _find_nearest(case: _Case) -> None:
    """Find the sentences of the cited pages that share most with a sentence."""
    pages, said = case.stated.pages, case.stated.text
    texts = [Unread(page.text, [Span(0, len(page.text))]) for page in pages]
    chosen = choose_passages(texts, [f"{said} {case.stated.nearby}", said], PASSAGE_CHARS)
    wanted = frozenset(terms(said))
    held = [
        (at, Span(span.start + part.start, span.start + part.end))
        for at, spans in enumerate(chosen)
        for span in spans
        for part in sentences(span.of(pages[at].text))
    ]
    shares = [len(wanted & set(terms(span.of(pages[at].text)))) for at, span in held]
    ranked = sorted(range(len(held)), key=lambda number: (-shares[number], number))[:NEAREST]
    case.best = [held[number] for number in ranked]
    case.near = [held[number] for number in sorted(ranked)]


def _look_by_code(case: _Case, as_of: str) -> None:
    """Let code look for faults: among the nearest sentences, then on the whole pages."""
    near = _faults(case.stated, [(at, span) for at, span in case.near], as_of)
    if not near:
        return
    read = ((at, page.text) for at, page in enumerate(case.stated.pages))
    whole = [(at, Span(0, len(text))) for at, text in read if text]
    if found := _faults(case.stated, whole, as_of):
        case.why, case.by = found[0], "code"


def _faults(stated: Stated, places: Sequence[tuple[int, Span]], as_of: str) -> list[str]:
    """Return what the audit finds wrong with a sentence whose quotes are at some places."""
    quotes = tuple(
        Quote(
            source=str(at),
            passage=Passage(snapshot=str(at), start=span.start, end=span.end),
            text=span.of(stated.pages[at].text),
        )
        for at, span in places
    )
    if not quotes:
        return [f"nothing of it {MISSING}"]
    finding = Finding(id="f", statement=stated.text, quotes=quotes)
    credits = [stated.pages[at].credit for at, _ in places]
    context = Context(
        credits="\n".join(dict.fromkeys(credits)),
        nearby=stated.nearby,
        question=stated.subject,
        places=credits,
    )
    sentence = Sentence(text=stated.text, kind=SentenceKind.FACT, findings=("f",))
    return find_faults(sentence, [finding], lambda at: stated.pages[int(at)].text, as_of, context)


async def _look_for_turned(cases: Sequence[_Case]) -> None:
    """Let the reader compare sentences with their counterparts."""
    found = await find_turned([(case.stated.text, case.quotes()) for case in cases])
    for case, fault in zip(cases, found, strict=True):
        if fault:
            case.why, case.by = fault, "the reader"


async def _ask_reader(cases: Sequence[_Case]) -> None:
    """Ask the reader whether the nearest sentences support or contradict a sentence."""
    asked = [case for case in cases if case.near and not case.is_copied()]
    documents = [([quote.passage() for quote in case.quotes()], case.stated.text) for case in asked]
    try:
        # In a thread, because other work of this process goes on.
        given = await asyncio.to_thread(load_reader().parts, documents) if asked else []
    except (StoreError, ImportError):
        return
    for case, parts in zip(asked, given, strict=True):
        case.support = max(part.supports for part in parts)
        case.denial = _refuted(case, parts)
        denied = case.support < SMALL.supports and case.denial >= SMALL.contradicts
        if denied and not case.why:
            case.why, case.by = OTHERWISE, "the reader"


def _refuted(case: _Case, parts: Sequence[JudgedPart]) -> float:
    """Return the probability that one of the closest sentences contradicts a sentence.

    Joined sentences may support one together, but only a single one can contradict it.
    """
    close = {case.near.index(place) for place in case.best[:CLOSEST]}
    single = (part for part in parts if part.first == part.last and part.first in close)
    return max(part.refutes for part in single)


async def _look_at_words(cases: Sequence[_Case]) -> None:
    """Find fault with sentences whose words are not those of what they cite."""
    said = [
        Said(case.stated.text, tuple((quote.title, quote.text) for quote in case.quotes()))
        for case in cases
    ]
    # The words of its title count: nobody has told this report what to repeat.
    bearings = await find_bearings(said, "")
    for case, bearing in zip(cases, bearings, strict=True):
        if bearing == "foreign":
            case.why, case.by = FOREIGN, "words"


def _judged(case: _Case) -> Judged:
    pages = case.stated.pages
    nearest = tuple(
        Nearest(pages[at].url, span.start, span.of(pages[at].text)) for at, span in case.best
    )
    standing = _standing_of(case.why)
    why = case.why.replace("its quotes", "its sources").replace("its quote", "its source")
    return Judged(standing, why, case.by, nearest, case.support, case.denial)


def _standing_of(why: str) -> Standing:
    """Return how a sentence with a fault stands: what is missing of it, or what is there instead.

    A clause that is not there is quoted, and leaves the rest of the sentence; a value or a name
    that is not there leaves nothing.
    """
    if not why:
        return Standing.SUPPORTED
    if why.endswith(TOO_MUCH) or (why.startswith("“") and why.endswith(MISSING)):
        return Standing.PARTLY
    return Standing.NOT if why.endswith(MISSING) or why == FOREIGN else Standing.CONTRADICTED
