"""Names: runs of capitalised words, their kinds, and whether two of them may be the same."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deepdiver.core.dates import MONTHS
from deepdiver.core.text import STOPWORDS
from deepdiver.reason.embedded.word_lists import (
    BODY_WORDS,
    COMPANY_FORMS,
    COMPANY_WORDS,
    HEADS,
    PLACE_WORDS,
    WEEKDAYS,
)
from deepdiver.reason.embedded.word_roots import root

NameKind = Literal["person", "company", "body", "place", "other"]

_TOKEN = re.compile(r"\w+(?:[’'\-]\w+)*")
_LINKS = frozenset("of de van von der den la le du".split())
CLOCKS = frozenset("utc gmt cet cest am pm i".split())
POSSESSIVE = "'s"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place."""

    text: str
    """The word in lower case."""
    raw: str
    """The word as it stands."""
    start: int
    end: int
    root: str
    """The word without its endings."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name and its place."""

    text: str
    start: int
    end: int
    kind: NameKind


@functools.lru_cache(maxsize=8_192)
def tokens(text: str) -> tuple[Word, ...]:
    """Return the words of a text; results are cached, since every clause asks for them."""
    return tuple(
        Word(low, match.group(), match.start(), match.end(), root(low))
        for match in _TOKEN.finditer(text)
        for low in (match.group().lower().replace("’", "'"),)
    )


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
    """Return the index after the capitalised words that begin at i."""
    j = i
    while (
        j < len(listed)
        and capital(listed[j].raw)
        and (j == i or _adjacent(text, listed[j - 1], listed[j]))
    ):
        j += 1
        link = (
            j + 1 < len(listed)
            and listed[j].text in _LINKS
            and _may_link(listed[j - 1].text, listed[j].text)
        )
        if link and capital(listed[j + 1].raw) and _adjacent(text, listed[j], listed[j + 1]):
            j += 1
    if (
        i < j < len(listed)
        and listed[j].text in COMPANY_FORMS
        and _adjacent(text, listed[j - 1], listed[j])
    ):
        j += 1  # Orrin Group plc
    return j


def _may_link(before: str, link: str) -> bool:
    """Return whether a small word joins two capitalised words into one name."""
    return before in HEADS if link == "of" else before.isalpha()


def capital(raw: str) -> bool:
    """Return whether a word is capitalised and is not a month, a weekday or a time zone."""
    low = raw.lower()
    return (
        raw[0].isupper()
        and low.removesuffix("s") not in WEEKDAYS
        and low not in CLOCKS
        and not _is_month(raw)
    )


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
    """Return whether a word opens its sentence, and so would be capitalised in any case."""
    before = text[:start].rstrip(" \"'“‘(*")
    return (
        not before
        or before[-1] in ".!?:\n"
        or (before[-1] == "," and '"' in text[len(before) : start])
    )


def _listed_name(text: str, listed: Sequence[Word], j: int) -> bool:
    """Return whether a word that opens its sentence is one of several names, or precedes an age."""
    tail = text[listed[j - 1].end : listed[j - 1].end + 40]
    return bool(re.match(r"(?:,| and) [^\W\d_a-z]\w+|,? (?:who )?is \d", tail))


def _kind(raw: Sequence[str], before: str, after_the: bool) -> NameKind:
    low = [word.lower() for word in raw]
    if len(low) > 1 and (low[-1] in COMPANY_FORMS or low[-1] in COMPANY_WORDS):
        return "company"
    if any(word in BODY_WORDS for word in low):
        return "body"
    if any(word in PLACE_WORDS for word in low):
        return "place"
    plain = all(
        word[1:].islower() and word.replace("-", "").isalpha() for word in raw if len(word) > 1
    )
    if (
        2 <= len(low) <= 4
        and plain
        and not after_the
        and not set(low) & _LINKS.difference({"van", "von", "de"})
    ):
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
    """Return the words of a name in lower case, without a company's legal form."""
    listed = [word.text.removesuffix(POSSESSIVE) for word in tokens(name)]
    return tuple(listed[:-1] if len(listed) > 2 and listed[-1] in COMPANY_FORMS else listed)


def root_words(name: str) -> tuple[str, ...]:
    """Return the roots of the words of a name."""
    return tuple(word.root for word in tokens(name))


def same_name(one: str, other: str) -> bool:
    """Return whether two names may be the same.

    They have the same words, or one is a person's first or last name alone.
    """
    a, b = sorted((bare(one), bare(other)), key=len)
    if not a or a == b:
        return bool(a)
    if len(a) == 1:
        company = tokens(one)[-1].text in COMPANY_FORMS or tokens(other)[-1].text in COMPANY_FORMS
        return not company and len(b) <= 3 and a[0] in {b[0], b[-1]}
    return b[: len(a)] == a
