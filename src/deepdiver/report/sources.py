"""The list of sources of a report: each source once, with the passages that are cited below it.

The record keeps every citation with its exact span. The list joins spans that overlap: four cuts of
one paragraph are one quote for whoever reads it. The rows of a table are quoted one by one: a
comparison, its parts and its sum cite the same few rows, and each of them is read once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType

from deepdiver.core.numbering import LONGEST_UNIT
from deepdiver.core.numbers import TENS, UNITS
from deepdiver.core.record import Citation, Passage, Quote
from deepdiver.core.text import Span, join_lines, sentences, stem, terms
from deepdiver.report.words import Words

UNITED_CHARS = LONGEST_UNIT
"""The most characters of spans that are joined: a citation must still lead to a place, not to a
page. A span longer than that keeps to itself."""
QUOTE_CHARS = 240
"""Of longer quotes the list has the sentences that are near to what cites them; the record and the
page have them whole. With 600 characters, the lists of four standard reports had 1,600 to 2,270
words, more than what they belong to."""
A_SENTENCE = 1.5
"""A sentence may be so much longer before it is cut, and a quote before it is shortened: an excerpt
without what it is cited for proves nothing, and the lists of four reports became 2 % longer."""
TELLING = 1
"""Telling words of what cites it that a further sentence of an excerpt adds. With 2, the lists of
five reports had 7 % fewer words, and lacked "daily" behind "purge them daily"."""
FURTHER = 3
"""How much longer an excerpt may become by them: each claim that a passage carries must be found in
it. With 2, the lists of fifteen reports lacked 28 telling words instead of 23; 4 adds none."""
FILLED = 6
"""How much longer it may become by further rows of a table: what is said of all quarters is checked
against all of them. With 2, the lists of twenty reports were 6 % shorter, and lacked 63 rows
instead of 4."""
_HEAD = re.compile(r"From: [^\n]+(?:\n[^\n]+)*\n\s*\n(?=\S)")
"""The head of a message, which `where` tells in fewer words."""
_ROW = re.compile(r"\s*\n\s*\|\s*")
_COUNTS = frozenset(map(stem, (*UNITS, *TENS)))
"""Numbers in words."""
_SPACE = re.compile(r"\s+")
_LEADING_NUMBER = re.compile(r"\d+")
ROWS_CHARS = 2_000
"""The most characters of rows that are only cited together, which are one passage of the list."""
BETWEEN_ROWS = 6
"""The most characters between rows that follow each other: a line break, bars and spaces."""
MOST_ROWS = 12
"""A quote of more rows stays one: it is about the table, not about a row."""


PrintedMark = tuple[str, Citation]
"""What is printed of a citation, and the citation that it leads to."""


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage of a source, as the list shows it."""

    mark: str
    """What the text prints between brackets."""
    numbers: tuple[int, ...]
    """Numbers of the citations that lead here."""
    lines: tuple[str, ...]
    """Its words: one line, or a line for each row of a table."""
    left_out: int
    """How many rows of a table were left out at its end."""
    where: str
    """The part of the source that it is in; may be empty."""


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source, as the list shows it."""

    first: Citation
    """Its first citation, which has its credit."""
    title: str
    """Its title; empty if the name of its file says the same."""
    place: str
    """Its address, or its path from the folder that all documents of the list share."""
    kind: str
    """What kind of source it is; may be empty."""
    passages: tuple[CitedPassage, ...]
    """What is cited of it."""


@dataclass(frozen=True, slots=True)
class BelievedSources:
    """Sources that are believed alike, for the same reasons."""

    titles: tuple[str, ...]
    """What the list calls them, in its order."""
    first: Citation
    """A citation of the first of them, which has score and reasons."""


def unite(
    spans: Sequence[Passage], alike: Sequence[Hashable | None] | None = None
) -> list[list[int]]:
    """Return the places in a list of spans of one text, in groups that overlap or are alike.

    Groups, and the places in them, are in the order of the list.

    Args:
        spans: The spans.
        alike: What makes spans that follow each other alike, for each of them; None: nothing.
    """
    keys = alike or [None] * len(spans)
    groups: list[list[int]] = []
    start = end = 0
    for place in sorted(range(len(spans)), key=lambda place: (spans[place].start, place)):
        span, key = spans[place], keys[place]
        together = max(end, span.end) - start
        overlaps = span.start < end and together <= UNITED_CHARS
        follows = key is not None and 0 <= span.start - end <= BETWEEN_ROWS
        same = bool(groups) and follows and key == keys[groups[-1][-1]]
        if groups and (overlaps or (same and together <= ROWS_CHARS)):
            groups[-1].append(place)
            end = max(end, span.end)
        else:
            groups.append([place])
            start, end = span.start, span.end
    return sorted(map(sorted, groups))


def united_text(quoted: Iterable[tuple[Passage, str]]) -> str:
    """Return the words of spans that overlap, as the source has them, or of rows in a row."""
    (first, text), *others = sorted(quoted, key=lambda item: item[0].start)
    end = first.end
    for span, more in others:
        if span.start > end:
            text, end = f"{text}\n| {more}", span.end
        elif span.end > end:
            text += more[end - span.start :]
            end = span.end
    return text


def short_marks(cited: Iterable[Citation]) -> list[PrintedMark]:
    """Return the marks of citations in their order, each with the citation that it leads to.

    Three or more numbers in a row are told by the first and the last, 4–6, and lead to the first.
    """
    own = sorted({item.mark: item for item in cited}.values(), key=lambda item: _rank(item.mark))
    marks: list[PrintedMark] = []
    start = 0
    for end in range(1, len(own) + 1):
        if end < len(own) and _follows(own[end - 1].mark, own[end].mark):
            continue
        run = own[start:end]
        if len(run) > 2:
            marks.append((f"{run[0].mark}–{run[-1].mark}", run[0]))
        else:
            marks += [(item.mark, item) for item in run]
        start = end
    return marks


def marks_with_sums(
    cited: Sequence[Citation], worked: Collection[int], say: Words
) -> list[PrintedMark]:
    """Return marks like `short_marks`, in which those that a figure was worked out from come last.

    A word stands before them, because whoever follows them finds what went into the figure, and
    not the figure: 1, from 4–6.

    Args:
        cited: The citations.
        worked: Numbers of those that a figure was worked out from.
        say: The language of that word.
    """
    parts = short_marks(item for item in cited if item.number in worked)
    return [
        *short_marks(item for item in cited if item.number not in worked),
        *((mark if at else say("from {}", mark), item) for at, (mark, item) in enumerate(parts)),
    ]


def marks_in(shown: str) -> list[str]:
    """Return the marks that one of `short_marks` tells: 4–6 tells 4, 5 and 6."""
    first, _, last = shown.partition("–")
    return [str(number) for number in range(int(first), int(last) + 1)] if last else [shown]


def _rank(mark: str) -> tuple[int, int, str]:
    """Return where a mark stands among others: 3, 3a, 3b, 3aa, 4. Older records have letters."""
    number = _LEADING_NUMBER.match(mark)
    return (int(number[0]) if number else 0, len(mark), mark)


def _follows(before: str, mark: str) -> bool:
    return before.isdecimal() and mark.isdecimal() and int(mark) == int(before) + 1


def split_rows(quote: Quote) -> list[Quote]:
    """Return a quote of several rows of a table as one for each row, any other as it is."""
    gaps = [*_ROW.finditer(quote.text)]
    if not 0 < len(gaps) < MOST_ROWS:
        return [quote]
    starts = [0, *(gap.end() for gap in gaps)]
    ends = [*(gap.start() for gap in gaps), len(quote.text)]
    return [
        _part_of(quote, start, end) for start, end in zip(starts, ends, strict=True) if start < end
    ]


def _part_of(quote: Quote, start: int, end: int) -> Quote:
    begin = quote.passage.start
    span = Passage(snapshot=quote.passage.snapshot, start=begin + start, end=begin + end)
    return quote.model_copy(update={"passage": span, "text": quote.text[start:end]})


def list_sources(
    citations: Iterable[Citation], most: int, said: Mapping[int, str] = MappingProxyType({})
) -> list[CitedSource]:
    """Return the sources in the order of their marks.

    Args:
        citations: The citations of the report.
        most: The most characters of a quote; longer ones are shortened.
        said: What cites each number; of a quote that is shortened, the part that is nearest to it
            is shown.
    """
    by_source = _by_source(sorted(citations, key=lambda item: _rank(item.mark)))
    places = _places([own[0].url for own in by_source.values()])
    return [
        CitedSource(
            own[0],
            "" if own[0].title == PurePosixPath(places[own[0].url]).stem else own[0].title,
            places[own[0].url],
            next(iter(own[0].reasons), ""),
            tuple(_passages(own, most, said)),
        )
        for own in by_source.values()
    ]


def believed_sources(citations: Iterable[Citation]) -> list[BelievedSources]:
    """Return the sources in groups that are believed alike, for the same reasons."""
    alike: dict[tuple[float, tuple[str, ...], int], list[CitedSource]] = {}
    for source in list_sources(citations, QUOTE_CHARS):
        first = source.first
        key = (first.credibility, first.reasons, first.copies)
        alike.setdefault(key, []).append(source)
    return [
        BelievedSources(tuple(source.title or source.place for source in group), group[0].first)
        for group in alike.values()
    ]


def _by_source(citations: Iterable[Citation]) -> Mapping[str, list[Citation]]:
    by_source: dict[str, list[Citation]] = {}
    for item in citations:
        by_source.setdefault(item.source, []).append(item)
    return by_source


def _passages(
    own: Iterable[Citation], most: int, said: Mapping[int, str]
) -> Iterator[CitedPassage]:
    by_mark: dict[str, list[Citation]] = {}
    for item in own:
        by_mark.setdefault(item.mark, []).append(item)
    for mark, group in by_mark.items():
        text = united_text((item.passage, item.quote) for item in group)
        numbers = tuple(item.number for item in group)
        told = " ".join(filter(None, (said.get(number) for number in numbers)))
        lines, left_out = _shown(text, group[0].where, most, told)
        yield CitedPassage(mark, numbers, lines, left_out, group[0].where)


def _shown(quote: str, where: str, most: int, said: str = "") -> tuple[tuple[str, ...], int]:
    """Return a quote as lines, shortened, and how many of its rows were left out."""
    if where.startswith("message"):
        quote = _HEAD.sub("", quote, count=1) if _HEAD.match(quote) else quote
    cut = _ROW.split(quote) if where.startswith("sheet") else [quote]
    rows = [join_lines(row) for row in cut]
    kept = _most_telling(rows, most, said)
    nearest = sorted({*range(len(rows))} - {*kept}, key=lambda at: (-_shared(rows[at], said), at))
    for at in nearest:
        if sum(len(rows[each]) for each in (*kept, at)) > FILLED * most:
            break
        kept.append(at)
    return tuple(_excerpt(rows[at], most, said) for at in sorted(kept)), len(rows) - len(kept)


def _most_telling(parts: Sequence[str], most: int, said: str) -> list[int]:
    """Return the places of the parts that have the words of what cites them, the best first.

    Each further one adds words that those before it do not have.
    """
    kept, size, wanted = list[int](), 0, {*terms(said)}
    while len(kept) < len(parts):
        others = [at for at in range(len(parts)) if at not in kept]
        best = max(others, key=lambda at: (_weigh({*terms(parts[at])} & wanted), -at))
        size += len(parts[best]) + 2
        added = {*terms(parts[best])} & wanted
        if kept and (_weigh(added) < TELLING or size > FURTHER * most):
            break
        kept.append(best)
        wanted -= added
    return kept


def _shared(text: str, said: str) -> int:
    """Return how many telling words of a text are in what cites it; numbers tell the most."""
    return _weigh({*terms(text)} & {*terms(said)})


def _weigh(shared: Iterable[str]) -> int:
    return sum(2 if any(map(str.isdigit, word)) or word in _COUNTS else 1 for word in shared)


def _excerpt(text: str, most: int, said: str) -> str:
    """Return the sentences of a text that are near to what cites it, or a part of a long one."""
    if len(text) <= A_SENTENCE * most:
        return text
    spans = sentences(text) or [Span(0, len(text))]
    kept = [spans[at] for at in _most_telling([span.of(text) for span in spans], most, said)]
    if kept[0].end - kept[0].start > A_SENTENCE * most:
        return _window(text, most, said)
    told, end = "", 0
    for span in sorted(kept):
        told += f"{' … ' if text[end : span.start].strip() else ' '}{span.of(text).strip()}"
        end = span.end
    return f"{told}{' …' if text[end:].strip() else ''}".strip()


def _window(text: str, most: int, said: str) -> str:
    """Return the part of a text, in whole words, that is nearest to what cites it."""
    starts = [0, *(match.end() for match in _SPACE.finditer(text))]
    # A sign tells that something is left out, before or behind it.
    cuts = [(at, _last_end(text, at + most - (2 if at else 1), at)) for at in starts]
    opening = {span.start for span in sentences(text)}
    # What begins a sentence may share a word less.
    start, end = max(
        cuts,
        key=lambda cut: _shared(text[cut[0] : cut[1]], said) + (1.5 if cut[0] in opening else 0),
    )
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def _last_end(text: str, most: int, start: int) -> int:
    """Return where the last whole word before a place ends; the place itself within a long one."""
    if most >= len(text):
        return len(text)
    end = text.rfind(" ", start, most + 1)
    return end if end > start else most


def _places(urls: Sequence[str]) -> dict[str, str]:
    """Return what the list prints for each address."""
    paths = {url: PurePosixPath(url) for url in urls if PurePosixPath(url).is_absolute()}
    parents = [path.parent.parts for path in paths.values()]
    shared = sum(
        1
        for _ in itertools.takewhile(
            lambda parts: len(set(parts)) == 1, zip(*parents, strict=False)
        )
    )
    return {
        url: str(PurePosixPath(*paths[url].parts[shared:])) if url in paths else url for url in urls
    }
