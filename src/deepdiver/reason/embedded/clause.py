"""One clause of a question: the kind of thing it asks for, its predicate, and its circumstances."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.names import Name, Word, tokens
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.word_lists import (
    AMOUNT_NOUNS,
    ASKING,
    AUXILIARIES,
    COMPANY_NOUNS,
    COMPARING,
    DATE_NOUNS,
    DETERMINERS,
    EXTENTS,
    PARTICLES,
    PLACE_NOUNS,
    PLURALS,
    PREPOSITIONS,
    ROLES,
    SILENT,
)
from deepdiver.reason.embedded.word_roots import IRREGULAR, MEANINGS

MOMENTS = frozenset({"before", "after"})
WINDOWS = {"second": 5, "minut": 30, "hour": 12 * 60, "day": 7 * 24 * 60}
"""How many minutes "a few minutes before" and the like may mean, by root; a day if the question
does not say."""
ULTIMATE = frozenset({"ultimate", "ultimately", "topmost"})
QUOTED = "Quotedtitle"
"""Followed by a number, it replaces a title that the question has between quotation marks."""


class Kind(StrEnum):
    """The kind of thing that fills the open place."""

    PERSON = "a person"
    COMPANY = "a company"
    PLACE = "a place"
    THING = "a thing"
    DATE = "a date"
    TIME = "a time"
    AMOUNT = "an amount"
    AGE = "an age"
    YES_NO = "a yes or no"
    ACCOUNT = "an account"


VALUES = frozenset({Kind.DATE, Kind.TIME, Kind.AMOUNT, Kind.AGE})
"""Kinds of which a thing has only one: two different values cannot both be right."""
NAMED = frozenset({Kind.PERSON, Kind.COMPANY, Kind.PLACE, Kind.THING})
"""Kinds that a name answers."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An event before or after which something happened."""

    after: bool
    """Whether the clause asks for something after it; else before."""
    keys: tuple[str, ...]
    """Roots of what happened."""
    names: tuple[str, ...]
    """The names in it."""
    minutes: int
    """The most minutes between the event and the answer."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One question, with at most one place that an earlier answer fills."""

    text: str
    """The clause as a question."""
    kind: Kind
    """The kind of thing it asks for."""
    noun: str
    """Root of the noun for it: farm in "which farm"."""
    keys: tuple[str, ...]
    """Roots of its predicate: a sentence without these words does not answer."""
    context: tuple[str, ...]
    """Roots of the words for where, when and of what."""
    names: tuple[str, ...]
    """The names in it."""
    titles: tuple[str, ...]
    """The titles in it between quotation marks."""
    days: tuple[Day, ...]
    """The dates in it."""
    subject: tuple[str, ...] = ()
    """In a yes-or-no question, the keys before its verb."""
    moment: Moment | None = None
    """The event before or after which the answer happened."""
    hole: str = ""
    """Root of the noun that the answer to the clause before stands for; empty if the clause stands
    alone."""
    plural: bool = False
    """Whether it asks for several things."""
    compares: bool = False
    """Whether it compares the things that it names: which was first, A or B."""
    ultimate: bool = False
    """Whether the relation must be followed to its end: the ultimate parent."""


def clause_of(
    text: str, titles: Sequence[str] = (), hole: tuple[str, ...] = (), as_account: bool = False
) -> Clause:
    """Analyse one clause."""
    text = text[:1].upper() + text[1:]
    listed = tokens(text)
    kind, noun, skip = (Kind.ACCOUNT, "", frozenset[int]()) if as_account else _sought(listed)
    reading = read_sentence(text)
    names = [name for name in reading.names if _is_name(name)]
    left = _telling(listed, skip, names, hole, [(start, end) for _, start, end in reading.days])
    at = next((i for i, word in enumerate(listed) if i > 1 and word.text in MOMENTS), len(listed))
    moment = _moment(listed, at, left, names)
    in_moment = moment.names if moment else ()
    window = _window(listed, at)
    keys, context = _keys_and_context(
        [(i, word) for i, word in left if i < at and i not in window],
        _inside_phrases(listed) | _modifiers(listed, skip, names),
    )
    return Clause(
        text=with_titles(text if text.endswith("?") else f"{text}?", titles),
        kind=kind,
        noun=noun,
        keys=keys,
        context=context,
        names=tuple(name.text for name in names if name.text not in in_moment),
        titles=tuple(title for number, title in enumerate(titles) if f"{QUOTED}{number}" in text),
        days=tuple(day for day, _, _ in reading.days),
        subject=_before_verb(listed, keys) if kind is Kind.YES_NO else (),
        moment=moment,
        hole=hole[-1] if hole else "",
        plural=_asks_several(listed, noun),
        compares=_compares(listed, len(names)),
        ultimate=any(word.text in ULTIMATE for word in listed),
    )


def _is_name(name: Name) -> bool:
    return name.text.lower() not in SILENT and not name.text.startswith(QUOTED)


def _keys_and_context(
    left: Sequence[tuple[int, Word]], inside: Container[int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the roots outside phrases as keys and those inside as context.

    If there are none outside, those inside are the keys.
    """
    keys = tuple(dict.fromkeys(word.root for i, word in left if i not in inside))
    context = (word.root for i, word in left if i in inside and word.root not in keys)
    once = tuple(dict.fromkeys(context))
    return (keys, once) if keys else (once, ())


def _moment(
    listed: Sequence[Word], at: int, left: Sequence[tuple[int, Word]], names: Sequence[Name]
) -> Moment | None:
    """Return the event after "before" or "after"; a bare date is not an event."""
    keys = tuple(word.root for i, word in left if i > at)
    if at >= len(listed) or not keys:
        return None
    minutes = next(
        (WINDOWS[listed[i].root] for i in _window(listed, at) if listed[i].root in WINDOWS), 24 * 60
    )
    behind = tuple(name.text for name in names if name.start > listed[at].start)
    return Moment(listed[at].text == "after", keys, behind, minutes)


def _window(listed: Sequence[Word], at: int) -> range:
    """Return the words before "before" or "after" that say how long: "a few minutes before"."""
    span = range(max(0, at - 3), at) if at < len(listed) else range(0)
    return span if any(listed[i].root in WINDOWS for i in span) else range(0)


def _telling(
    listed: Sequence[Word],
    skip: frozenset[int],
    names: Sequence[Name],
    hole: Sequence[str],
    dated: Sequence[tuple[int, int]],
) -> list[tuple[int, Word]]:
    """Return the words that carry meaning, except names and dates, with their positions."""
    named = {word.text for name in names for word in tokens(name.text)}
    silent = SILENT | ULTIMATE | (PREPOSITIONS - PARTICLES) | named
    return [
        (i, word)
        for i, word in enumerate(listed)
        if i not in skip
        and word.text not in silent
        and (word.text not in PREPOSITIONS or i == len(listed) - 1)
        and word.root not in hole
        and not word.raw.startswith(QUOTED)
        and not any(start <= word.start < end for start, end in dated)
    ]


def _modifiers(listed: Sequence[Word], skip: frozenset[int], names: Sequence[Name]) -> set[int]:
    """Return words that only narrow a noun.

    Holding in "which holding company", steamer in "the steamer Meridian".
    """
    found = {i for end in skip for i in range(max(0, end - 3), end) if listed[i].text not in ASKING}
    starts = {name.start for name in names}
    return found | {i for i in range(len(listed) - 1) if listed[i + 1].start in starts}


def _compares(listed: Sequence[Word], names: int) -> bool:
    texts = {word.text for word in listed}
    return bool(texts & COMPARING) and names > 1 and bool(texts & {"or", "both", "and", "than"})


def _asks_several(listed: Sequence[Word], noun: str) -> bool:
    """Return whether the noun is plural, or the clause begins with "who are" or "who were"."""
    who = len(listed) > 1 and listed[0].text == "who" and listed[1].text in {"are", "were"}
    return who or any(plural(word.text) for word in listed[:6] if word.root == noun)


def _inside_phrases(listed: Sequence[Word]) -> frozenset[int]:
    """Return the words inside a phrase that a preposition opens, but not a closing participle."""
    inside: set[int] = set()
    within = False
    for i, word in enumerate(listed):
        if word.text in PREPOSITIONS and word.text not in {"to", "as"} | MOMENTS:
            within = i + 1 < len(listed)
        elif word.text in AUXILIARIES | ASKING and word.text not in {"been", "be"}:
            within = False
        elif i and word.raw[0].islower() and listed[i - 1].raw[0].isupper():
            within = False  # a name ends its phrase: "the captain of the steamer Meridian | drunk"
        if within:
            inside.add(i)
    last = len(listed) - 1
    if (
        last in inside
        and listed[last - 1].text not in PREPOSITIONS
        and verb_form(listed[last].text)
    ):
        inside.discard(last)
    return frozenset(inside)


def verb_form(word: str) -> bool:
    """Return whether a word is a participle or a past form."""
    return (
        word in IRREGULAR
        or word in {"born", "out", "off"}
        or (word.endswith("ed") and len(word) > 4)
    )


def _before_verb(listed: Sequence[Word], keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of a yes-or-no question before its verb.

    Electric and car in "did an electric car cause".
    """
    wanted = list(keys)
    opened = next((i for i, word in enumerate(listed) if word.text in DETERMINERS), 0)
    before: list[str] = []
    for word in listed[opened:]:
        if word.text in DETERMINERS and before:
            # "an electric car cause | the fire": the verb precedes the object's article
            return tuple(before[:-1])
        if word.text in PREPOSITIONS and before:
            return tuple(before[:-1]) if len(before) > 1 else tuple(before)
        if word.root in wanted:
            before.append(word.root)
    return tuple(before[:-1]) if len(before) > 1 else ()


_BY_QUESTION_WORD = {
    "who": (Kind.PERSON, "person"),
    "whom": (Kind.PERSON, "person"),
    "whose": (Kind.PERSON, "person"),
    "when": (Kind.DATE, "date"),
    "where": (Kind.PLACE, "place"),
    "why": (Kind.ACCOUNT, ""),
}


def _sought(listed: Sequence[Word]) -> tuple[Kind, str, frozenset[int]]:
    """Return the kind of thing a clause asks for, its noun's root, and the words that say so."""
    texts = [word.text for word in listed]
    asked = next((i for i, text in enumerate(texts) if text in ASKING), None)
    ages = next((i for i, text in enumerate(texts[:6]) if text in {"age", "ages"}), None)
    if ages is not None and (asked is None or asked < ages):
        return Kind.AGE, "age", frozenset({ages})
    if asked is None:
        return (Kind.YES_NO if texts and texts[0] in AUXILIARIES else Kind.ACCOUNT), "", frozenset()
    if texts[asked] in _BY_QUESTION_WORD:
        return *_BY_QUESTION_WORD[texts[asked]], frozenset()
    following = texts[asked + 1] if asked + 1 < len(texts) else ""
    return (_how if texts[asked] == "how" else _which)(listed, asked, following)


def _how(listed: Sequence[Word], asked: int, following: str) -> tuple[Kind, str, frozenset[int]]:
    if following == "old":
        return Kind.AGE, "age", frozenset({asked + 1})
    if following in {"many", "much"}:
        noun = listed[asked + 2] if asked + 2 < len(listed) else None
        if noun is None or noun.text in AUXILIARIES | DETERMINERS | PREPOSITIONS:
            return Kind.AMOUNT, "", frozenset({asked + 1})
        counted = following == "many"
        return Kind.AMOUNT, noun.root, frozenset({asked + 1, asked + 2} if counted else {asked + 1})
    if following in EXTENTS:
        return Kind.AMOUNT, "", frozenset()
    return Kind.ACCOUNT, "", frozenset()


def _which(listed: Sequence[Word], asked: int, following: str) -> tuple[Kind, str, frozenset[int]]:
    """Return the same for what follows "which" or "what".

    "which farm supplies", "what is the number of".
    """
    start = asked + 1
    if following in AUXILIARIES:  # what is the capital of …
        start = asked + 2
        if start >= len(listed) or listed[start].text not in DETERMINERS:
            return Kind.ACCOUNT, "", frozenset()
        start += 1
    end = _end_of_noun(listed, start)
    if end == start:
        return Kind.ACCOUNT, "", frozenset()
    head = listed[end - 1]
    kind = _kind_of_noun(head.text)
    if kind is Kind.ACCOUNT or (following in AUXILIARIES and kind not in {Kind.DATE, Kind.TIME}):
        # what is the capital of: the noun itself must be in the answer
        return kind, head.root, frozenset()
    return kind, head.root, frozenset({end - 1})


def _kind_of_noun(noun: str) -> Kind:
    single = noun if noun in ROLES | PLURALS else noun.removesuffix("s") if plural(noun) else noun
    if noun == "time":
        return Kind.TIME
    table = (
        (DATE_NOUNS, Kind.DATE),
        (AMOUNT_NOUNS, Kind.AMOUNT),
        (ROLES, Kind.PERSON),
        (COMPANY_NOUNS | {"companie"}, Kind.COMPANY),
        (PLACE_NOUNS, Kind.PLACE),
        ({"happened", "caused", "reason", "effect", "consequence", "result"}, Kind.ACCOUNT),
    )
    return next((kind for nouns, kind in table if noun in nouns or single in nouns), Kind.THING)


def _end_of_noun(listed: Sequence[Word], start: int) -> int:
    """Return the index after a noun phrase that begins at start; it ends before the first verb."""
    most = min(len(listed), start + 5)
    for end in range(start, most):
        word = listed[end]
        if word.text in AUXILIARIES | PREPOSITIONS | ASKING:
            return end
        if word.text in DETERMINERS or (word.raw[0].isupper() and end > start):
            return end - 1 if end - start > 1 else end  # the word before is the verb
        if end > start and (verb_form(word.text) or _agrees(listed, end)):
            return end
    return most


def _agrees(listed: Sequence[Word], i: int) -> bool:
    """Return whether the word at i may be the verb of the noun before it: one of the two ends in s.

    A noun may end in s without being a plural ("sports club"): then the verb is recognised by
    itself or by what follows it.
    """
    word, ends_in_s = listed[i], listed[i].text.endswith("s") and not listed[i].text.endswith("ss")
    if not plural(listed[i - 1].text):
        return ends_in_s
    behind = listed[i + 1] if i + 1 < len(listed) else None
    closed = behind is None or behind.text in DETERMINERS | PREPOSITIONS or behind.raw[0].isupper()
    return not ends_in_s and (closed or word.root in MEANINGS)


def plural(noun: str) -> bool:
    """Return whether a noun is plural."""
    return noun in PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


def with_titles(text: str, titles: Sequence[str]) -> str:
    """Put the titles back into a text in which they were replaced."""
    for number, title in enumerate(titles):
        text = text.replace(f"{QUOTED}{number}", f'"{title}"')
    return text
