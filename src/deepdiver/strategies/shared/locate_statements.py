"""Finding the passages that carry statements which came without a quote.

A model that is asked for statements with quotes may give a summary, a list of sentences or an
object instead. Then code looks for a passage behind each sentence of it: first for the sentence
itself, then among the passages that share the most words with it. There, the reader must agree that
the passage says so, and every number, date and name must be in it. What no passage carries is
dropped, and the drop is an event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Generic, TypeVar

from deepdiver.core.events import FindingDropped
from deepdiver.core.identity import content_id
from deepdiver.core.names import names
from deepdiver.core.record import Finding, Passage, Quote, Sentence
from deepdiver.core.text import Span, sentences, terms, words
from deepdiver.encoders.reader import SMALL, load_reader
from deepdiver.errors import StoreError
from deepdiver.report.audit import find_faults
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.findings import ReadSource
from deepdiver.strategies.shared.second_opinion import stands_whole
from deepdiver.tasks import Extracted
from deepdiver.tools.address import canonical

E = TypeVar("E", bound=Extracted)

STATEMENTS = 60
"""The most sentences of one answer that are looked for: an answer with quotes has 40 at most."""
CANDIDATES = 6
"""Passages that the reader is asked about for one statement, those with the most of its words: 40
take about a second."""
NOWHERE = "no passage of the texts that were read carries it"
UNREAD = (
    "Statements without a quote could be taken only where the text has the same words, because the "
    "reader's files are missing or damaged. Installing deepdiver again brings them back."
)
_ENDS = (".", "!", "?", "…", "。")
_PRONOUNS = frozenset(
    words("he she it they his her its their him them this that these those here there who which")
)


@dataclass(frozen=True, slots=True)
class Located(Generic[E]):
    """Statements with their quotes, as far as code has found them."""

    items: list[list[E]]
    """For each statement that was given, the statements that were made of it: none if no passage
    carries it, several if it had several sentences."""
    lost: int = 0
    """How many sentences no passage carries."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A sentence of a text, or two adjacent ones."""

    label: str
    """Label of the text."""
    title: str
    """Its title."""
    text: str
    """The words."""
    terms: frozenset[str]
    """What they are about, with the title."""

    def titled(self) -> str:
        """Return the words with the title before them, as the reader sees them."""
        return f"{self.title}. {self.text}" if self.title else self.text


async def add_quotes(
    deps: Deps, items: Sequence[E], texts: Mapping[str, ReadSource], question: str
) -> Located[E]:
    """Return statements with the quotes that carry them, for those that came without one.

    Args:
        deps: The run's dependencies.
        items: The statements.
        texts: The texts that they are of, by label. A source may also be named by its address or
            title; without a source, all texts are searched.
        question: What the person asked; a statement may take its names from there.
    """
    named = [_name_source(item, texts) for item in items]
    bare = _list_bare(named)
    asked, beyond = bare[:STATEMENTS], bare[STATEMENTS:]
    split = {label: list(_split(label, text)) for label, text in texts.items()} if asked else {}
    windows = [_windows_for(named[n].source.strip(), split) for n, _ in asked]
    claims = [said for _, said in asked]
    found = await _find(deps, claims, windows, question)
    made: list[list[E]] = [[item] if _has_place(item) else [] for item in named]
    for (n, said), carrier in zip(asked, found, strict=True):
        if carrier:
            made[n].append(_quote(named[n], said, carrier))
    lost = [said for said, carrier in zip(claims, found, strict=True) if not carrier]
    lost += [said for _, said in beyond]
    _drop(deps, lost)
    return Located(made, len(lost))


def _has_place(item: Extracted) -> bool:
    """Whether a statement says where it stands, by numbers or by a quote."""
    return bool(item.lines or item.quote.strip())


def _list_bare(items: Sequence[Extracted]) -> list[tuple[int, str]]:
    """Return the sentences of the statements that came without a quote, with their places."""
    return [
        (n, said)
        for n, item in enumerate(items)
        if not _has_place(item)
        for said in _sentences_of(item.statement)
    ]


async def _find(
    deps: Deps, claims: Sequence[str], windows: Sequence[Sequence[_Window]], question: str
) -> list[_Window | None]:
    """Return the passage that carries each claim; without the reader, only the same words do."""
    try:
        # In a thread, because it may take seconds and other runs of this process go on.
        return await asyncio.to_thread(_find_carriers, claims, windows, question)
    except (StoreError, ImportError):
        deps.note_limit(UNREAD)
        return [_find_same(said, of) for said, of in zip(claims, windows, strict=True)]


def _drop(deps: Deps, statements: Iterable[str]) -> None:
    for said in statements:
        deps.dropped.add(content_id("d", said, "", ""))
        deps.emit(FindingDropped(statement=said, reason=NOWHERE))


def _name_source(item: E, texts: Mapping[str, ReadSource]) -> E:
    """Return a statement whose source is named by its label, if it is one of the texts."""
    said = item.source.strip()
    label = "" if said in texts or not said else _label_of(said, texts)
    return item.model_copy(update={"source": label}) if label else item


def _label_of(said: str, texts: Mapping[str, ReadSource]) -> str:
    """Return the label of the text that an address, a title or a label in another case means."""
    for label, text in texts.items():
        source = text.source
        named = words(said) and words(said) in (words(label), words(source.title))
        if named or canonical(said) == canonical(source.url):
            return label
    return ""


def _sentences_of(statement: str) -> list[str]:
    return [" ".join(span.of(statement).split()) for span in sentences(statement)]


def _windows_for(label: str, split: Mapping[str, list[_Window]]) -> list[_Window]:
    """Return the passages of a text, or of all texts if there is none of that label."""
    return split[label] if label in split else [one for listed in split.values() for one in listed]


def _split(label: str, text: ReadSource) -> Iterator[_Window]:
    """Yield the sentences of a text as it was shown, then the pairs of adjacent ones."""
    title, shown = text.source.title.strip(), text.shown
    parts = sentences(shown)
    pairs = (Span(one.start, other.end) for one, other in pairwise(parts))
    for span in (*parts, *pairs):
        said = span.of(shown)
        if said in text.text:  # two passages of an excerpt may be far apart in the text
            yield _Window(label, title, said, frozenset(terms(f"{title} {said}")))


def _find_carriers(
    claims: Sequence[str], windows: Sequence[Sequence[_Window]], question: str
) -> list[_Window | None]:
    """Return the passage that carries each claim; the reader is loaded only if it is needed."""
    found = [_find_same(said, of) for said, of in zip(claims, windows, strict=True)]
    near = [
        [] if same else _nearest(said, of)
        for said, of, same in zip(claims, windows, found, strict=True)
    ]
    pairs = [
        (window.titled(), said)
        for said, listed in zip(claims, near, strict=True)
        for window in listed
    ]
    verdicts = iter(load_reader().verify(pairs) if pairs else ())
    for number, (said, listed) in enumerate(zip(claims, near, strict=True)):
        agreed = [
            (verdict.supports, window)
            for window, verdict in zip(listed, islice(verdicts, len(listed)), strict=True)
            if verdict.supports >= SMALL.supports and _holds_values(said, window, question)
        ]
        found[number] = found[number] or _choose(agreed)
    return found


def _choose(agreed: Sequence[tuple[float, _Window]]) -> _Window | None:
    """Return the passage that carries a claim best, or the shortest within it that carries it."""
    if not agreed:
        return None
    _, best = max(agreed, key=lambda pair: pair[0])
    inside = (window for _, window in agreed if window.text in best.text)
    return min(inside, key=lambda window: len(window.text))


def _find_same(said: str, windows: Sequence[_Window]) -> _Window | None:
    """Return the first passage that has a claim word for word."""
    wanted = frozenset(terms(said))
    near = (window for window in windows if wanted <= window.terms)
    return next((window for window in near if stands_whole(said, window.text)), None)


def _nearest(said: str, windows: Sequence[_Window]) -> list[_Window]:
    """Return the passages with the most words of a claim; of equals, the shorter comes first."""
    wanted = set(terms(said))
    shares = [len(wanted & window.terms) for window in windows]
    ranked = sorted(
        (n for n, share in enumerate(shares) if share),
        key=lambda n: (-shares[n], len(windows[n].text), n),
    )
    return [windows[n] for n in ranked[:CANDIDATES]]


def _holds_values(said: str, window: _Window, question: str) -> bool:
    """Return whether every number, date and name of a claim is in a passage, by the audit's rules.

    They may also be in the title of the source and in the question.
    """
    text = f"{window.text}\n\n{window.title}\n\n{question}"
    quote = Quote(source="s", passage=Passage(snapshot="x", start=0, end=len(text)), text=text)
    finding = Finding(id="f", statement=said, quotes=(quote,), about="")
    sentence = Sentence(text=said, findings=(finding.id,))
    return not find_faults(sentence, [finding], lambda _: text, "")


def _quote(item: E, said: str, window: _Window) -> E:
    """Return a statement with its quote.

    A sentence that names what it is about keeps its words. Anything else, such as "founded: 1998"
    or "She owns Holm Works.", would not be understood alone and is replaced by the passage.
    """
    opening = words(said)[:1]
    whole = said.endswith(_ENDS) and bool(names(said)) and _PRONOUNS.isdisjoint(opening)
    return item.model_copy(
        update={
            "statement": said if whole else " ".join(window.text.split()),
            "source": window.label,
            "quote": window.text,
        }
    )
