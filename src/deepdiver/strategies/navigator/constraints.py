"""What the person restricts the sources to: "Only before 2022", "Swedish sources only".

The reasoner is shown everything that the person says. What is said plainly of dates, languages and
domains also narrows the filters of the next searches, so that it holds whatever the reasoner makes
of it. A question that merely names a time is not restricted: "Who owned it before 2022?" may be
answered by a page of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from pydantic import ValidationError

from deepdiver.core.numbers import numbers
from deepdiver.core.settings import Filters
from deepdiver.core.text import words
from deepdiver.tools.address import within
from deepdiver.tools.extract.formats import FORMATS
from deepdiver.tools.search.languages import code_of
from deepdiver.tools.source_age import periods_named

_ONLY = frozenset(
    words("only just solely exclusively restrict restricted limit limited confine stick keep")
)
_NOT = frozenset(
    words(
        "no not never nothing none without exclude excluding ignore ignoring except avoid skip "
        "don't"
    )
)
_SOURCES = frozenset(
    words(
        "source sources article articles page pages document documents publication publications "
        "paper papers result results report reports site sites website websites text texts news "
        "published dated written"
    )
)
_BETWEEN = frozenset(
    words(
        "a an the to in on at of from for by and or with that which are were is was be it use "
        "using take want please search searches look anything everything material ones those them "
        "all any "
        "year period time date day language this i you we show me give later newer earlier older "
        "after before onwards onward"
    )
)
"""Words that may be between a restriction and what it restricts to."""
_CLAUSES = re.compile(r"(?<=[.;!?])\s+|\n|,\s+(?=but\b)")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_LENGTH = r"(?P<many>\d{1,3}|[a-z]+)?\s*(?P<unit>day|week|month|year)s?"
_LAST = re.compile(rf"\b(?:last|past)\s+{_LENGTH}\b", re.IGNORECASE)
_THAN = re.compile(rf"(?<=than )(?:(?:a|an)\s+)?{_LENGTH}(?:\s+(?:ago|old))?\b", re.IGNORECASE)
_DOMAIN = re.compile(r"(?<![\w@/.\-])(?:[a-z0-9\-]+\.)+[a-z]{2,24}\b(?![/@])", re.IGNORECASE)
_SUFFIXES = frozenset(
    suffix for format, suffixes in FORMATS.items() if format != "code" for suffix in suffixes
)
"""The ends of file names, which look like domains. Those of source code are left out: more often
than not they are domains of countries (.py, .rs, .sh)."""
_SITE = re.compile(r"\bsite:\s*$", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:and|to|until|till|through|[–—-])\s*", re.IGNORECASE)
_OR_LATER = re.compile(
    r"\s+(?:on(?:wards?)?\b|(?:or|and)\s+(?:later|newer|after)\b)", re.IGNORECASE
)
_OR_EARLIER = re.compile(r"\s+(?:or|and)\s+(?:earlier|older|before)\b", re.IGNORECASE)

_LIFTS = re.compile(
    r"\b(?:any|all|whatever|regardless of(?: the)?)\s+(?:other\s+)?"
    r"(?:dates?|years?|times?|age|languages?|sources?|domains?|sites?)\b"
    r"|\bno (?:more )?(?:restrictions?|limits?)\b",
    re.IGNORECASE,
)
"""Words that lift what was said before."""


def _ending(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{phrases})\s*$", re.IGNORECASE)


_BEFORE = _ending("before|prior to|earlier than|older than")
_UNTIL = _ending("until|till|up to|through|(?:no|not) later than")
_AFTER = _ending("after|later than|newer than|more recent than")
_SINCE = _ending("since|starting(?: in| from)?|(?:no|not) earlier than")
_WITHIN = _ending("in|from|of|during|within|between|dated|published")
_BARE = _ending("only|just")
_ARTICLE = _ending("the(?: year)?")

Limits = dict[str, Any]
"""Fields of `Filters`."""


@dataclass(frozen=True, slots=True)
class _Wording:
    """The words before and after a time, a language or a domain."""

    only: bool
    """Whether they restrict."""
    denies: bool
    """Whether they exclude."""
    sources: bool
    """Whether they speak of sources."""
    alone: bool
    """Whether nothing else is said."""
    asks: bool
    """Whether it is a question."""

    def is_plain(self, *, asked: bool) -> bool:
        """Return whether the sources are restricted; feedback need not say so in full."""
        if self.asks:  # "What happened only in 2022?" says nothing of sources
            return self.sources and (self.only or self.denies)
        return self.only or self.denies or (not asked and (self.sources or self.alone))


def narrow(filters: Filters, question: str, feedback: Sequence[str], as_of: str) -> Filters:
    """Return filters that also hold what the person said; those of the settings are never widened.

    "Any date", "all sources" and the like lift what was said before.

    Args:
        filters: The filters of the settings.
        question: What the person asked.
        feedback: What the person said to the answers, the latest last.
        as_of: The day that counts as today.
    """
    today, said = date.fromisoformat(as_of[:10]), Filters()
    for number, text in enumerate((question, *feedback)):
        for clause in _CLAUSES.split(text):
            found = list(_limits_in(clause, today, asked=not number))
            if number and not found and _LIFTS.search(clause):
                said = Filters()
            for limits in found:
                said = _add(said, limits)
    return _within(filters, said)


def describe(filters: Filters, usual: Filters) -> str:
    """Return in words how filters are narrower than the usual ones; empty if they are not."""
    told = [
        f"published on {filters.since} or later" if filters.since != usual.since else "",
        f"published on {filters.until} or earlier" if filters.until != usual.until else "",
        f"language {filters.language}" if filters.language != usual.language else "",
        f"only {', '.join(filters.include_domains)}"
        if filters.include_domains != usual.include_domains
        else "",
        f"without {', '.join(filters.exclude_domains)}"
        if filters.exclude_domains != usual.exclude_domains
        else "",
    ]
    return ", ".join(filter(None, told))


def _add(said: Filters, found: Limits) -> Filters:
    """Return what the person said with something further.

    Domains that are excluded add up, and days narrow each other. Where both cannot hold, the new
    word counts.
    """
    since = max(filter(None, (said.since, found.get("since"))), default=None)
    until = min(filter(None, (said.until, found.get("until"))), default=None)
    if since and until and since > until:
        since, until = found.get("since"), found.get("until")
    excluded = dict.fromkeys((*said.exclude_domains, *found.get("exclude_domains", ())))
    more = {"since": since, "until": until, "exclude_domains": tuple(excluded)}
    try:
        return Filters.model_validate({**said.model_dump(), **found, **more})
    except ValidationError:  # what looks like a domain is none
        return said


def _within(filters: Filters, said: Filters) -> Filters:
    """Return filters narrowed by what the person said; what lies outside of them is left out."""
    since = max(filter(None, (filters.since, said.since)), default=None)
    until = min(filter(None, (filters.until, said.until)), default=None)
    if since and until and since > until:
        since, until = filters.since, filters.until
    allowed = filters.include_domains
    included = [
        domain
        for domain in said.include_domains
        if not allowed or any(within(domain, other) for other in allowed)
    ]
    update = {
        "since": since,
        "until": until,
        "language": filters.language or said.language,
        "include_domains": tuple(included) or allowed,
        "exclude_domains": tuple(dict.fromkeys((*filters.exclude_domains, *said.exclude_domains))),
    }
    return filters.model_copy(update=update)


def _limits_in(clause: str, today: date, *, asked: bool) -> Iterator[Limits]:
    """Yield what a clause restricts the sources to."""
    yield from _times_in(clause, today, asked=asked)
    yield from _languages_in(clause, asked=asked)
    yield from _domains_in(clause, asked=asked)


# Times


def _times_in(clause: str, today: date, *, asked: bool) -> Iterator[Limits]:
    for first, last, start, end in _spans_of_time(clause, today):
        before, after = clause[:start], clause[end:]
        found = _limit_of_time(before, after, first, last)
        if found is None:
            continue
        head, limits, excluded = found
        wording = _wording(head, after)
        if wording.is_plain(asked=asked):
            yield excluded if wording.denies else limits


def _spans_of_time(clause: str, today: date) -> list[tuple[date, date, int, int]]:
    """Return the times that a clause names, with their places; two that are joined are one."""
    found = []
    at: dict[str, int] = {}
    for first, last, said in periods_named(clause, today):
        start = clause.find(said, at.get(said, 0))
        at[said] = start + len(said)
        found.append((first, last, start, start + len(said)))
    for match in _LAST.finditer(clause):
        if (days := _length(match)) and match.start() not in {start for *_, start, _ in found}:
            found.append((_shift(today, -days), today, *match.span()))
    for match in _THAN.finditer(clause):
        if days := _length(match):
            day = _shift(today, -days)
            found.append((day, day, *match.span()))
    joined: list[tuple[date, date, int, int]] = []
    for first, last, start, end in sorted(found, key=lambda item: item[2]):
        if joined and _JOINED.fullmatch(clause[joined[-1][3] : start]) and joined[-1][0] <= last:
            joined[-1] = (joined[-1][0], last, joined[-1][2], end)
        else:
            joined.append((first, last, start, end))
    return joined


def _length(match: re.Match[str]) -> int:
    """Return the days of a length of time; 0 if it has no number."""
    said = match["many"] or "one"
    many = numbers(said)
    return int(many[0]) * _DAYS[match["unit"].lower()] if many else 0


def _limit_of_time(
    before: str, after: str, first: date, last: date
) -> tuple[str, Limits, Limits] | None:
    """Return the words before a time, its limits, and those if the words exclude it.

    None if no word says how the time is meant.
    """
    until_then, from_then = {"until": _shift(first, -1)}, {"since": first}
    after_it, until_end = {"since": _shift(last, 1)}, {"until": last}
    ways: tuple[tuple[re.Pattern[str], Limits, Limits], ...] = (
        (_SINCE, from_then, until_then),
        (_UNTIL, until_end, after_it),
        (_BEFORE, until_then, from_then),
        (_AFTER, after_it, until_end),
        (_WITHIN, {**from_then, **until_end}, {}),
    )
    before = _ARTICLE.sub("", before)
    head, limits, excluded = before, Limits(), Limits()
    if _BARE.search(before):
        limits = {**from_then, **until_end}
    for way, wanted, unwanted in ways:
        if found := way.search(before):
            head, limits, excluded = before[: found.start()], wanted, unwanted
            break
    if _OR_LATER.match(after):
        limits, excluded = from_then, until_then
    elif _OR_EARLIER.match(after):
        limits, excluded = until_end, after_it
    return (head, limits, excluded) if limits else None


def _shift(day: date, days: int) -> date:
    """Return a day some days later, as far as there are days."""
    try:
        return day + timedelta(days)
    except OverflowError:
        return day


# Languages and domains


def _languages_in(clause: str, *, asked: bool) -> Iterator[Limits]:
    for match in re.finditer(r"\b[A-Z][a-z]+\b", clause):
        code = code_of(match.group())
        before, after = clause[: match.start()], clause[match.end() :].replace("-language", "")
        inside = re.search(r"\bin\s*$", before)
        head = before[: inside.start()] if inside else before
        follows = words(after)[:1]
        of_sources = bool(inside) or not _SOURCES.isdisjoint(follows)
        wording = _wording(head, after)
        if code and of_sources and not wording.denies and wording.is_plain(asked=asked):
            yield {"language": code}


def _domains_in(clause: str, *, asked: bool) -> Iterator[Limits]:
    wanted: list[str] = []
    unwanted: list[str] = []
    listed = wanted
    end = -1
    for match in _DOMAIN.finditer(clause):
        if f".{match.group().rpartition('.')[2].lower()}" in _SUFFIXES:
            continue
        follows = end >= 0 and words(clause[end : match.start()]) in ([], ["and"], ["or"], ["nor"])
        before, after = clause[: match.start()], clause[match.end() :]
        wording = _wording(before, after)
        if not follows:
            if not (wording.is_plain(asked=asked) or _SITE.search(before)):
                continue
            listed = unwanted if wording.denies else wanted
        listed.append(match.group().lower())
        end = match.end()
    if wanted:
        yield {"include_domains": tuple(wanted)}
    if unwanted:
        yield {"exclude_domains": tuple(unwanted)}


def _wording(before: str, after: str) -> _Wording:
    """Return what the words around a time, a language or a domain say.

    Before it, only words count that belong to it: "the owner before 2022" restricts no sources.
    """
    known = _ONLY | _NOT | _SOURCES | _BETWEEN
    near: list[str] = []
    listed = words(before)
    while listed and listed[-1] in known:
        near.append(listed.pop())
    behind = words(after)
    near += behind[:1] if behind[:1] and behind[0] in _ONLY | _SOURCES else []
    near += behind[1:2] if behind[1:2] and behind[0] in _SOURCES and behind[1] in _ONLY else []
    said = set(near)
    return _Wording(
        only=not _ONLY.isdisjoint(said),
        denies=not _NOT.isdisjoint(said),
        sources=not _SOURCES.isdisjoint(said),
        alone=not listed and set(behind) <= known,
        asks=after.rstrip().endswith("?"),
    )
