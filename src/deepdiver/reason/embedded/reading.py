"""Reading: from a text to sentences that can be quoted, and from a sentence to what stands in it.

A `Reading` holds the words, names, dates, times and quantities of a sentence with their places, so that a value can be
told from its neighbours. All of it is found by looking, none of it by guessing what the text might mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from deepdiver.core.text import STOPWORDS, Span, blocks, sentences
from deepdiver.core.values import MONTHS, Day, dated, number, numbers
from deepdiver.reason.embedded.lexicon import (
    BODY_WORDS,
    COMPANY_FORMS,
    DENIALS,
    HEARSAY,
    MEANINGS,
    NEGATIONS,
    PLACE_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    ROLES,
    SILENT,
    WEEKDAYS,
    root,
)

LONGEST = 900
"""Characters of a sentence that may be quoted: what is longer is a table or a text without full stops."""

NameKind = Literal["person", "company", "body", "place", "other"]

_TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*")
_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?(?![\d:])")
_YEAR = re.compile(r"(?<![\w.,:/\-])(1[5-9]\d\d|20\d\d)(?![\w:/\-]|[.,]\d)")
_FIGURE = re.compile(r"(?<![\w.,:/\-])[-−]?(?:\d{1,3}(?:[,\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![\w:/])")
_LABEL = re.compile(r"(?:\*\*[^*\n]{1,60}\*\*|\*[^*\n]{1,60}\*|[A-ZÅÄÖÉ][A-ZÅÄÖÉ ,\-]{3,60}\.)[ \t]+(?=\S)")
"""What stands before a sentence in bold, italics or capitals and is no part of it."""
_LINKS = frozenset("of de van von der den la le du".split())
_DOUBT = frozenset("rumour rumor claim claims myth hearsay opinion alleged fiction".split())
_POSSESSIVE = "'s"
_POSSESSIVES = frozenset("its his her their our my your whose".split())
_CLOCKS = frozenset("utc gmt cet cest am pm i".split())
_SCALES = frozenset("hundred thousand million billion trillion bn".split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands."""

    text: str
    """In lower case."""
    raw: str
    """As it stands."""
    start: int
    end: int
    root: str
    """Without its endings."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name and where it stands."""

    text: str
    start: int
    end: int
    kind: NameKind


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what follows it."""

    value: Decimal
    text: str
    """Number and unit as they stand."""
    start: int
    end: int
    after: tuple[str, ...]
    """Roots of the next words, up to a full stop."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence, and what stands in it."""

    text: str
    published: str
    words: tuple[Word, ...]
    roots: frozenset[str]
    meanings: frozenset[str]
    line: str
    """Its words in lower case, with a blank before and behind each."""
    title: frozenset[str]
    """Roots of the title of its source."""
    around: frozenset[str]
    """Roots of the title and publisher of its source."""
    names: tuple[Name, ...]
    days: tuple[tuple[Day, int, int], ...]
    """Dates, years alone among them."""
    times: tuple[tuple[str, int, int], ...]
    """Times of day as HH:MM."""
    quantities: tuple[Quantity, ...]
    denied: tuple[str, ...]
    """Values that it says are not so: nine in "six, not nine"."""
    negated: bool
    """Whether the sentence as a whole denies something."""
    scope: frozenset[str]
    """Roots of what is denied; empty where a word of denial is about all that the sentence says."""
    hearsay: bool
    """Whether the source says that it only heard it."""


@functools.lru_cache(maxsize=8_192)
def read(text: str, title: str = "", publisher: str = "", published: str = "") -> Reading:
    """Return what stands in a sentence; of an endless one, in its beginning."""
    text = " ".join(text[: 2 * LONGEST].split())
    listed = tokens(text)
    times = tuple((f"{int(m[1]):02d}:{m[2]}", m.start(), m.end()) for m in _TIME.finditer(text))
    days = _days(text, times)
    denied = _denied(listed)
    low = " ".join(text.lower().split())
    names = find_names(text, listed)
    entitled = _roots(title)
    return Reading(
        text=text,
        published=published,
        words=listed,
        roots=frozenset(word.root for i, word in enumerate(listed) if not _merely_own(listed, i)),
        meanings=_meanings(listed, names),
        line=f" {' '.join(word.text.removesuffix(_POSSESSIVE) for word in listed)} ",
        title=entitled,
        around=entitled | _roots(publisher),
        names=names,
        days=days,
        times=times,
        quantities=_quantities(text, listed, [(s, e) for _, s, e in (*days, *times)]),
        denied=denied,
        negated=_negated(listed, bool(denied)),
        scope=_scope(listed),
        hearsay=any(phrase in low for phrase in HEARSAY),
    )


@functools.lru_cache(maxsize=1_024)
def _roots(text: str) -> frozenset[str]:
    return frozenset(word.root for word in tokens(text[:LONGEST]))


def _merely_own(listed: Sequence[Word], i: int) -> bool:
    """Whether a word is the own of "their own", which says nothing about owning."""
    return listed[i].text == "own" and i > 0 and listed[i - 1].text in _POSSESSIVES


def _meanings(listed: Sequence[Word], names: Sequence[Name]) -> frozenset[str]:
    """Return the meanings of the words outside names: a Holding in a name holds nothing."""
    inside = [(name.start, name.end) for name in names]
    found: set[str] = set()
    for i, word in enumerate(listed):
        if word.root in MEANINGS and not _merely_own(listed, i) and not any(s <= word.start < e for s, e in inside):
            found.update(MEANINGS[word.root])
    return frozenset(found)


def tokens(text: str) -> tuple[Word, ...]:
    """Return the words of a text."""
    return tuple(
        Word(low, match.group(), match.start(), match.end(), root(low))
        for match in _TOKEN.finditer(text)
        for low in (match.group().lower().replace("’", "'"),)
    )


# -- sentences


def units(text: str) -> list[Span]:
    """Return the sentences that can be quoted, in order.

    Beyond `core.text.sentences`: a line of a log or register is a sentence of its own, a time or date at its head belongs
    to what follows it, and a label in bold or capitals is cut off.
    """
    found: list[Span] = []
    widths = _widths(text)
    label: Span | None = None
    for span in sentences(text):
        for piece in _lines(text, span, widths):
            if label is not None and "\n" not in text[label.end : piece.start]:
                piece = Span(label.start, piece.end)
            label = piece if _only_a_moment(piece.of(text)) else None
            if label is None and piece.end - piece.start <= LONGEST and not _shouted(piece.of(text)):
                found.append(_without_label(text, piece))
    return found


def _widths(text: str) -> list[tuple[int, int, int]]:
    """Return each block with the width of its longest line."""
    return [(b.start, b.end, max(map(len, b.of(text).splitlines()), default=0)) for b, _ in blocks(text)]


def _lines(text: str, span: Span, widths: list[tuple[int, int, int]]) -> Iterable[Span]:
    """Cut a sentence at line breaks that are no mere wrapping: where the next word would have fitted the line."""
    if "\n" not in (body := span.of(text)):
        return [span]
    width = next((w for start, end, w in _from(widths, span.start) if start <= span.start < end), 0)
    cuts = [span.start]
    for match in re.finditer(r"\n", body):
        at = span.start + match.start()
        line_start = text.rfind("\n", 0, at) + 1
        following = text[at + 1 : span.end].split(maxsplit=1)
        if following and at - line_start + 1 + len(following[0]) <= width:
            cuts.append(at + 1)
    pieces = (Span(a, b) for a, b in zip(cuts, [*cuts[1:], span.end], strict=True))
    return [stripped for piece in pieces if (stripped := _strip(text, piece)) is not None]


def _from(widths: list[tuple[int, int, int]], start: int) -> Iterable[tuple[int, int, int]]:
    """Drop the blocks that end before a place: sentences come in order, so each block is passed once."""
    while widths and widths[0][1] <= start:
        widths.pop(0)
    return widths[:1]


def _strip(text: str, span: Span) -> Span | None:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None


def _only_a_moment(text: str) -> bool:
    """Whether a piece is nothing but a time or date, as at the head of a log's line."""
    if len(text) > 40:
        return False
    bare = list(text)
    for start, end in [(s, e) for _, s, e in dated(text)] + [m.span() for m in _TIME.finditer(text)]:
        bare[start:end] = " " * (end - start)
    left = [word.text for word in tokens("".join(bare))]
    return len(left) <= 1 and "".join(bare).split() != text.split()


def _shouted(text: str) -> bool:
    """Whether a piece is a heading in capitals."""
    return text.isupper() and not text.endswith((".", "!", "?"))


def _without_label(text: str, span: Span) -> Span:
    """Cut a label off, unless it is what says how the sentence is meant: "**False.** The dam broke."."""
    match = _LABEL.match(text, span.start, span.end)
    if match is None or span.end - match.end() < 20:
        return span
    return span if {word.text for word in tokens(match.group())} & (DENIALS | NEGATIONS | _DOUBT) else Span(match.end(), span.end)


def leans(text: str) -> bool:
    """Whether a sentence leans on the one before it: it opens with a pronoun."""
    first = _TOKEN.search(text)
    return first is not None and first.group().lower() in PRONOUNS


# -- names


def find_names(text: str, listed: Sequence[Word]) -> tuple[Name, ...]:
    """Return the names in order; "Ada and Bo Berg" gives Ada Berg and Bo Berg."""
    found: list[Name] = []
    i = 0
    while i < len(listed):
        j = _run_of_capitals(text, listed, i)
        if j == i:
            i += 1
            continue
        found += _names_of_run(text, listed, i, j)
        i = j
    return tuple(_share_surnames(text, found))


def _run_of_capitals(text: str, listed: Sequence[Word], i: int) -> int:
    """Return the index behind the capitalised words that begin at i."""
    j = i
    while j < len(listed) and _capital(listed[j].raw) and (j == i or _adjacent(text, listed[j - 1], listed[j])):
        j += 1
        link = j + 1 < len(listed) and listed[j].text in _LINKS and listed[j - 1].raw.isalpha()
        if link and _capital(listed[j + 1].raw) and _adjacent(text, listed[j], listed[j + 1]):
            j += 1
    return j


def _capital(raw: str) -> bool:
    low = raw.lower()
    return raw[0].isupper() and low.removesuffix("s") not in WEEKDAYS and low not in _CLOCKS and not _is_month(raw)


def _is_month(raw: str) -> bool:
    return raw.lower() in MONTHS and len(raw) >= 3


def _adjacent(text: str, one: Word, other: Word) -> bool:
    between = text[one.end : other.start]
    return between in {" ", ". "} if len(one.raw) <= 2 else between in {" ", "\n"}


def _names_of_run(text: str, listed: Sequence[Word], i: int, j: int) -> list[Name]:
    after_the = i > 0 and listed[i - 1].text == "the"
    while i < j and listed[i].text in STOPWORDS:
        after_the = listed[i].text == "the"
        i += 1
    while j > i and listed[j - 1].text in _LINKS | STOPWORDS:
        j -= 1
    if i >= j:
        return []
    raw = [word.raw for word in listed[i:j]]
    opens = j - i == 1 and _opens(text, listed[i].start)
    if raw[-1].lower().endswith(("'s", "’s")):
        raw[-1] = raw[-1][:-2]
    if opens and not _listed_name(text, listed, j):
        return []
    before = listed[i - 1].text if i else ""
    return [Name(" ".join(raw), listed[i].start, listed[j - 1].end, _kind(raw, before, after_the))]


def _opens(text: str, start: int) -> bool:
    """Whether a word opens its sentence, and so would be capitalised in any case."""
    before = text[:start].rstrip(" \"'“‘(*")
    return not before or before[-1] in ".!?:\n" or (before[-1] == "," and '"' in text[len(before) : start])


def _listed_name(text: str, listed: Sequence[Word], j: int) -> bool:
    """Whether a word that opens its sentence is one of several names, or is followed by an age."""
    tail = text[listed[j - 1].end : listed[j - 1].end + 40]
    return bool(re.match(r"(?:,| and) [^\W\d_a-z]\w+|,? (?:who )?is \d", tail))


def _kind(raw: Sequence[str], before: str, after_the: bool) -> NameKind:
    low = [word.lower() for word in raw]
    if low[-1] in COMPANY_FORMS and len(low) > 1:
        return "company"
    if any(word in BODY_WORDS for word in low):
        return "body"
    if any(word in PLACE_WORDS for word in low):
        return "place"
    plain = all(word[1:].islower() and word.replace("-", "").isalpha() for word in raw if len(word) > 1)
    if 2 <= len(low) <= 4 and plain and not after_the and not set(low) & _LINKS.difference({"van", "von", "de"}):
        return "person"
    if len(low) == 1 and before in {"in", "at", "from", "near", "off"}:
        return "place"
    return "other"


def _share_surnames(text: str, found: Sequence[Name]) -> list[Name]:
    """Give the names of "Ada and Bo Berg" or "Ada, Bo and Cy Berg" the surname that they share."""
    shared = list(found)
    for i in range(len(shared) - 2, -1, -1):
        one, other = shared[i], shared[i + 1]
        joined = re.fullmatch(r",? (?:and|&) |, ", text[one.end : other.start])
        single = " " not in one.text and one.kind in {"other", "place"} and one.text[1:].islower()
        if joined and single and other.kind == "person":
            surname = other.text.rpartition(" ")[2]
            shared[i] = Name(f"{one.text} {surname}", one.start, one.end, "person")
    return shared


@functools.lru_cache(maxsize=4_096)
def bare(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without a company's form."""
    listed = [word.text.removesuffix(_POSSESSIVE) for word in tokens(name)]
    return tuple(listed[:-1] if len(listed) > 2 and listed[-1] in COMPANY_FORMS else listed)


def root_words(name: str) -> tuple[str, ...]:
    """Return the roots of the words of a name."""
    return tuple(word.root for word in tokens(name))


def same_name(one: str, other: str) -> bool:
    """Whether two names may be one: the same words, or a person's first or last name alone."""
    a, b = sorted((bare(one), bare(other)), key=len)
    if not a or a == b:
        return bool(a)
    if len(a) == 1:
        company = tokens(one)[-1].text in COMPANY_FORMS or tokens(other)[-1].text in COMPANY_FORMS
        return not company and len(b) <= 3 and a[0] in {b[0], b[-1]}
    return b[: len(a)] == a


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


def _quantities(text: str, listed: Sequence[Word], taken: Sequence[tuple[int, int]]) -> tuple[Quantity, ...]:
    found: list[Quantity] = []
    spots = [(match.start(), match.end()) for match in _FIGURE.finditer(text)]
    spots += [(w.start, w.end) for w in listed if w.text[0].isalpha() and w.text not in _SCALES and _spelled(w.text)]
    for start, end in sorted(spots):
        if any(s < end and start < e for s, e in taken):
            continue
        value = number(text[start:end]) if text[start:end][-1].isdigit() else _spelled(text[start:end].lower())
        if value is None:
            continue
        stop = re.compile(r"[.;:!?](?=\s|$)").search(text, end)
        behind = [w for w in listed if end <= w.start < (stop.start() if stop else len(text))][:4]
        if behind and behind[0].text in _SCALES:
            scaled = numbers(text[start : behind[0].end])
            value, end, behind = (scaled[0] if scaled else value), behind[0].end, behind[1:]
        unit_end = behind[0].end if behind and text[end : behind[0].start] in {" ", "-", "\n"} else end
        found.append(Quantity(value, text[start:unit_end], start, end, tuple(word.root for word in behind)))
    return tuple(found)


@functools.lru_cache(maxsize=4_096)
def _spelled(word: str) -> Decimal | None:
    found = numbers(word)
    return found[0] if len(found) == 1 else None


# -- denial


def _denied(listed: Sequence[Word]) -> tuple[str, ...]:
    """Return the words or figures behind "not" where something else is affirmed: "six, not nine", "76 and not 87"."""
    found: list[str] = []
    for i, word in enumerate(listed[:-1]):
        if word.text != "not" or i == 0:
            continue
        following = listed[i + 1]
        value = _spelled(following.text) is not None or following.raw[0].isdigit()
        if value or (_capital(following.raw) and listed[i - 1].text not in AUXILIARIES_OF_BEING):
            found.append(following.raw)
    return tuple(found)


AUXILIARIES_OF_BEING = frozenset("is are was were be been does do did has have had".split())


def _negated(listed: Sequence[Word], local: bool) -> bool:
    """Whether a sentence denies: by a negation that is not merely about one value, or by a word of denial."""
    if any(word.text in DENIALS for word in listed):
        return True
    return any(word.text in NEGATIONS or word.text.endswith("n't") for word in listed) and not local


def _scope(listed: Sequence[Word]) -> frozenset[str]:
    """Return the roots of the two words behind each negation that say something: electric and car in "no electric car"."""
    found: set[str] = set()
    if any(word.text in DENIALS for word in listed):
        return frozenset()
    for i, word in enumerate(listed):
        if word.text in NEGATIONS or word.text.endswith("n't"):
            found.update([w.root for w in listed[i + 1 :] if w.text not in SILENT][:2])
    return frozenset(found)


def persons(reading: Reading) -> list[Name]:
    """Return the names of persons: in full, and single names that no preposition makes a place."""
    behind = {reading.words[i + 1].start for i, w in enumerate(reading.words[:-1]) if w.text in PREPOSITIONS}
    found = []
    for name in reading.names:
        full = name.kind == "person" and name.text.split()[0].lower() not in ROLES
        single = name.kind == "other" and " " not in name.text and name.text[1:].islower() and name.start not in behind
        if full or single:
            found.append(name)
    return found
