"""Reading: from a text to its quotable sentences, and from a sentence to its contents.

A `Reading` holds the words, names, dates, times and quantities of a sentence with their places, so
that a value can be told from its neighbours. All of it is found by matching, none by guessing what
the text might mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from deepdiver.core.dates import Day, dated
from deepdiver.core.numbers import number, numbers
from deepdiver.core.text import Span, blocks, sentences
from deepdiver.reason.embedded.names import (
    CLOCKS,
    POSSESSIVE,
    Name,
    Word,
    bare,
    capital,
    find_names,
    tokens,
)
from deepdiver.reason.embedded.word_lists import (
    AUXILIARIES,
    DENIALS,
    HEARSAY,
    NEGATIONS,
    PREPOSITIONS,
    PRONOUNS,
    ROLES,
    SILENT,
    WEEKDAYS,
)
from deepdiver.reason.embedded.word_roots import MEANINGS

LONGEST = 900
"""Characters of a sentence that may be quoted: a longer one is a table, or a text without full
stops."""

REMEMBERED = 8_000
"""Characters of a text whose sentences are cached: one document is read for many problems."""

_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:])")
_YEAR = re.compile(r"(?<![\w.,:/\-])(1[5-9]\d\d|20\d\d)(?!\w|[:/\-.,]\d)")
_FIGURE = re.compile(
    r"(?<![\w.,:/\-])[-−]?(?:\d{1,3}(?:[,\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?!\w|[:/]|-\d)"
)
_LABEL = re.compile(
    r"(?:\*\*?[^*\n]{1,59}(?:[.:!?]\*\*?|\*\*?:)|[A-ZÅÄÖÉ][A-ZÅÄÖÉ ,\-]{3,60}\.)[ \t]+(?=\S)"
    r"|\*\*[^*\n]{1,60}\*\*[ \t]+(?=[^\W\d_a-zåäöéæø])"
)
"""A label before a sentence, in bold, italics or capitals: "*Ejdervik* burnt" has none."""
_LINE_END = re.compile(r"\n[ \t]*(?P<next>[^\s]+)")
_BESIDE_A_MOMENT = CLOCKS | WEEKDAYS | {"local", "time", "hour"}
_STOP = re.compile(r"[.;:!?](?=\s|$)")
_DOUBT = frozenset("rumour rumor claim claims myth hearsay opinion alleged fiction".split())
_POSSESSIVES = frozenset("its his her their our my your whose".split())
_SCALES = frozenset("hundred thousand million billion trillion bn".split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and the words after it."""

    value: Decimal
    text: str
    """Number and unit, as they stand."""
    start: int
    end: int
    after: tuple[str, ...]
    """Roots of the next words, up to a full stop."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence and its contents."""

    text: str
    published: str
    words: tuple[Word, ...]
    roots: frozenset[str]
    meanings: frozenset[str]
    line: str
    """Its words in lower case, with a space before and after each."""
    title: frozenset[str]
    """Roots of the title of its source."""
    publisher: frozenset[str]
    """Roots of the name of its publisher."""
    around: frozenset[str]
    """Roots of the title and publisher of its source."""
    names: tuple[Name, ...]
    days: tuple[tuple[Day, int, int], ...]
    """Its dates, including bare years."""
    times: tuple[tuple[str, int, int], ...]
    """Times of day as HH:MM."""
    quantities: tuple[Quantity, ...]
    denied: tuple[str, ...]
    """Values that it denies: nine in "six, not nine"."""
    negated: bool
    """Whether the sentence as a whole denies something."""
    scopes: tuple[tuple[str, ...], ...]
    """The roots that each negation denies; empty if a word of denial is about the whole sentence.
    """
    hearsay: bool
    """Whether the source says that it only heard this."""


def read_sentence(text: str, title: str = "", publisher: str = "", published: str = "") -> Reading:
    """Return the reading of a sentence, or of the beginning of an endless one."""
    return _read(
        " ".join(text[: 2 * LONGEST].split()), title[:LONGEST], publisher[:LONGEST], published
    )


@functools.lru_cache(maxsize=8_192)
def _read(text: str, title: str, publisher: str, published: str) -> Reading:
    listed = tokens(text)
    times = tuple((f"{int(m[1]):02d}:{m[2]}", m.start(), m.end()) for m in _TIME.finditer(text))
    days = _days(text, times)
    denied = _denied(listed)
    names = find_names(text, listed)
    entitled = _roots(title)
    return Reading(
        text=text,
        published=published,
        words=listed,
        roots=frozenset(word.root for i, word in enumerate(listed) if not _merely_own(listed, i)),
        meanings=_meanings(listed, names),
        line=f" {' '.join(word.text.removesuffix(POSSESSIVE) for word in listed)} ",
        title=entitled,
        publisher=_roots(publisher),
        around=entitled | _roots(publisher),
        names=names,
        days=days,
        times=times,
        quantities=_quantities(text, listed, [(s, e) for _, s, e in (*days, *times)]),
        denied=denied,
        negated=_negated(listed, bool(denied)),
        scopes=_scopes(text, listed),
        hearsay=HEARSAY.search(text.lower()) is not None,
    )


@functools.lru_cache(maxsize=1_024)
def _roots(text: str) -> frozenset[str]:
    return frozenset(word.root for word in tokens(text))


def _merely_own(listed: Sequence[Word], i: int) -> bool:
    """Return whether a word is the own of "their own", which is not about owning."""
    return listed[i].text == "own" and i > 0 and listed[i - 1].text in _POSSESSIVES


def _meanings(listed: Sequence[Word], names: Sequence[Name]) -> frozenset[str]:
    """Return the meanings of the words outside names: a Holding in a name holds nothing."""
    inside = [(name.start, name.end) for name in names]
    found: set[str] = set()
    for i, word in enumerate(listed):
        if (
            word.root in MEANINGS
            and not _merely_own(listed, i)
            and not any(s <= word.start < e for s, e in inside)
        ):
            found.update(MEANINGS[word.root])
    return frozenset(found)


# -- sentences


def quotable_sentences(text: str) -> list[Span]:
    """Return the sentences that can be quoted, in order.

    Other than in `core.text.sentences`, a line of a log or register is a sentence of its own, a
    time or date at its beginning belongs to the words after it, and a label in bold or capitals is
    cut off.
    """
    return list(_known_units(text) if len(text) <= REMEMBERED else _units(text))


@functools.lru_cache(maxsize=512)
def _known_units(text: str) -> tuple[Span, ...]:
    return tuple(_units(text))


def _units(text: str) -> list[Span]:
    found: list[Span] = []
    label: Span | None = None
    for piece in _pieces(text):
        moment = only_a_moment(piece.of(text))
        if label is not None and not moment and "\n" not in text[label.end : piece.start]:
            piece = Span(label.start, piece.end)
        label = piece if moment else None
        if not moment and _is_prose(piece.of(text)):
            found.append(_without_label(text, piece))
    return found


def _pieces(text: str) -> Iterator[Span]:
    """Yield the sentences of a text, cut at line breaks that are not mere wrapping."""
    wide = _widths(text)
    for span in sentences(text):
        # Sentences come in order, so each block is passed once.
        while len(wide) > 1 and wide[-1][0] <= span.start:
            wide.pop()
        yield from _lines(text, span, wide[-1][1])


def _is_prose(text: str) -> bool:
    return len(text) <= LONGEST and not _shouted(text) and not is_caption(text)


def _widths(text: str) -> list[tuple[int, int]]:
    """Return where each block ends and how wide its wrapped lines are, the last block first.

    A block is wrapped if at least half of its line breaks are where the next word would not have
    fitted. A width of 0 means that it is not: then every line break ends a line of a log, a
    register or a poem.
    """
    found = []
    for block, _ in blocks(text):
        lines = block.of(text).splitlines()
        width = max(map(len, lines), default=0)
        full = sum(
            len(one) + 1 + len(other.split(maxsplit=1)[0]) > width
            for one, other in pairwise(lines)
            if other.strip()
        )
        found.append((block.end, width if 2 * full >= len(lines) - 1 else 0))
    return found[::-1] or [(0, 0)]


def _lines(text: str, span: Span, width: int) -> Iterable[Span]:
    """Cut a sentence at line breaks that are not mere wrapping."""
    cuts = [span.start]
    for match in _LINE_END.finditer(text, span.start, span.end):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if not width or match.start() - line_start + 1 + len(match["next"]) <= width:
            cuts.append(match.start() + 1)
    pieces = (Span(a, b) for a, b in zip(cuts, [*cuts[1:], span.end], strict=True))
    return [stripped for piece in pieces if (stripped := _strip(text, piece)) is not None]


def _strip(text: str, span: Span) -> Span | None:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None


def only_a_moment(text: str) -> bool:
    """Return whether a piece is only a time or a date, as at the beginning of a log's line."""
    if len(text) > 40:
        return False
    bare = list(text)
    for start, end in [(s, e) for _, s, e in dated(text)] + [
        m.span() for m in _TIME.finditer(text)
    ]:
        bare[start:end] = " " * (end - start)
    left = {word.text.removesuffix("s") for word in tokens("".join(bare))}
    return left <= _BESIDE_A_MOMENT and "".join(bare) != text


def _shouted(text: str) -> bool:
    """Return whether a piece is a heading in capitals."""
    return text.isupper() and not text.endswith((".", "!", "?"))


def is_caption(text: str) -> bool:
    """Return whether a piece is a line in italics as under a title, which is not a sentence."""
    return (
        text[:1] in ("*", "_")
        and text[1:2] not in ("*", "_")
        and text[-1] == text[0]
        and text[-2:-1] not in ".!?…"
    )


def _without_label(text: str, span: Span) -> Span:
    """Cut off a label, unless it changes the meaning: "**False.** The dam broke."."""
    match = _LABEL.match(text, span.start, span.end)
    if match is None or span.end - match.end() < 20:
        return span
    telling = {word.text for word in tokens(match.group())} & (DENIALS | NEGATIONS | _DOUBT)
    return span if telling else Span(match.end(), span.end)


def leans(text: str) -> bool:
    """Return whether a sentence leans on the one before it: it opens with a pronoun."""
    first = tokens(text[:60])[:1]
    return bool(first) and first[0].text in PRONOUNS


# -- mentions


def mention(reading: Reading, name: str) -> int:
    """Return where a name is mentioned, or −1."""
    wanted = bare(name)
    if not wanted:
        return -1
    for item in reading.names:
        if item.text == name:
            return item.start
    at = reading.line.find(f" {' '.join(wanted)} ")
    if at >= 0:
        return reading.words[reading.line.count(" ", 0, at)].start
    if len(wanted) == 1:
        return -1
    for item in reading.names:
        if " " not in item.text and item.text.lower() == wanted[0] and item.kind != "place":
            return item.start
    return -1


# -- values


def _days(text: str, times: Sequence[tuple[str, int, int]]) -> tuple[tuple[Day, int, int], ...]:
    found = dated(text)
    taken = [(start, end) for _, start, end in (*found, *times)]
    for match in _YEAR.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in taken):
            found.append((Day(int(match[1])), match.start(), match.end()))
    return tuple(sorted(found, key=lambda item: item[1]))


def _quantities(
    text: str, listed: Sequence[Word], taken: Sequence[tuple[int, int]]
) -> tuple[Quantity, ...]:
    """Return the numbers of a sentence outside its dates and times, in figures or in words."""
    spots = [(match.start(), match.end()) for match in _FIGURE.finditer(text)]
    spots += [(word.start, word.end) for word in listed if _is_number_word(word.text)]
    free = [
        (start, end)
        for start, end in sorted(spots)
        if not any(other < end and start < stop for other, stop in taken)
    ]
    found = (_quantity(text, listed, start, end) for start, end in free)
    return tuple(item for item in found if item is not None)


def _is_number_word(word: str) -> bool:
    return word[0].isalpha() and word not in _SCALES and bool(_spelled(word))


def _quantity(text: str, listed: Sequence[Word], start: int, end: int) -> Quantity | None:
    """Return the number at a place with its scale and unit; None if it cannot be read."""
    digits = text[start:end]
    value = number(digits) if digits[-1].isdigit() else _spelled(digits.lower())
    if value is None:
        return None
    stop = _STOP.search(text, end)
    limit = stop.start() if stop else len(text)
    behind = [word for word in listed if end <= word.start < limit][:4]
    if behind and behind[0].text in _SCALES:
        scaled = numbers(text[start : behind[0].end])
        value, end, behind = (scaled[0] if scaled else value), behind[0].end, behind[1:]
    unit_follows = behind and text[end : behind[0].start] in {" ", "-", "\n"}
    unit_end = behind[0].end if unit_follows else end
    return Quantity(value, text[start:unit_end], start, end, tuple(word.root for word in behind))


@functools.lru_cache(maxsize=4_096)
def _spelled(word: str) -> Decimal | None:
    found = numbers(word)
    return found[0] if len(found) == 1 else None


# -- denial


def _denied(listed: Sequence[Word]) -> tuple[str, ...]:
    """Return the words or figures after "not" if something else is affirmed.

    "six, not nine", "76 and not 87".
    """
    found: list[str] = []
    for i, word in enumerate(listed[:-1]):
        if word.text != "not" or i == 0:
            continue
        following = listed[i + 1]
        value = _spelled(following.text) is not None or following.raw[0].isdigit()
        if value or (capital(following.raw) and listed[i - 1].text not in AUXILIARIES):
            found.append(following.raw)
    return tuple(found)


def _negated(listed: Sequence[Word], local: bool) -> bool:
    """Return whether a sentence denies something.

    It has a word of denial, or a negation that is about more than one value.
    """
    if any(word.text in DENIALS for word in listed):
        return True
    return any(word.text in NEGATIONS or word.text.endswith("n't") for word in listed) and not local


def _scopes(text: str, listed: Sequence[Word]) -> tuple[tuple[str, ...], ...]:
    """Return for each negation the roots of the two telling words after it.

    Electric and car in "no electric car".
    """
    if any(word.text in DENIALS for word in listed):
        return ()
    found = []
    for i, word in enumerate(listed):
        if word.text in NEGATIONS or word.text.endswith("n't"):
            stop = _STOP.search(text, word.end)
            end = stop.start() if stop else len(text)
            behind = [
                w.root for w in listed[i + 1 : i + 9] if w.text not in SILENT and w.start < end
            ][:2]
            found.append(tuple(behind))
    return tuple(scope for scope in found if scope)


def persons(reading: Reading) -> list[Name]:
    """Return the names of persons.

    These are full names, and single names that do not follow a preposition.
    """
    behind = {
        reading.words[i + 1].start
        for i, w in enumerate(reading.words[:-1])
        if w.text in PREPOSITIONS
    }
    found = []
    for name in reading.names:
        full = name.kind == "person" and name.text.split()[0].lower() not in ROLES
        single = (
            name.kind == "other"
            and " " not in name.text
            and name.text[1:].islower()
            and name.start not in behind
        )
        if full or single:
            found.append(name)
    return found
