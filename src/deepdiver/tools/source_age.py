"""How old the sources of a question may be, by the words and the times that it names."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Literal

from deepdiver.core.dates import dated


@dataclass(frozen=True, slots=True)
class AgeNeed:
    """How old the sources of a question may be."""

    when: Literal["any", "now", "then"] = "any"
    """Whether the question is timeless, about the present, or about a time that is over."""
    as_of: date | None = None
    """The day that counts as today."""
    half_life: int = 0
    """For `now`: the days after which a source has lost half of what it can lose by age."""
    start: date | None = None
    """For `then`: the first day asked about."""
    end: date | None = None
    """For `then`: the last day asked about."""
    told_by: str = ""
    """The words of the question that say so."""


_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?", re.DOTALL)


def days_of(published: str) -> tuple[date, date] | None:
    """Return the first and the last day of a date: 2026-11 is all of November.

    None if it is not a date.
    """
    match = _ISO.fullmatch(published.strip())
    return _days(*(int(part or 0) for part in match.groups())) if match else None


def _days(year: int, month: int = 0, day: int = 0) -> tuple[date, date] | None:
    try:
        first = date(year, month or 1, day or 1)
        return first, date(year, month or 12, day or monthrange(year, month or 12)[1])
    except ValueError:  # there is no such day
        return None


_WEEK = (
    r"tonight|yesterday|this morning|this week|last week|right now|breaking news|weather|gestern"
    r"|diese woche|wetter"
    r"|cette semaine|météo|ayer|esta semana|ieri|ontem"
)
_MONTH = (
    r"today|at the moment|this month|last month|heute|diesen monat|aujourd['’]hui|ce mois-ci|hoy"
    r"|este mes|oggi|hoje"
    r"|idag|i dag"
)
_QUARTER = (
    r"prices?|how much (?:is|are|does|do)\b.{1,80}\b(?:cost|worth)|exchange rate|interest rate"
    r"|preis|prix|precio|prezzo"
    r"|preço"
)
_YEAR = (
    r"current(?!\s+(?:in|of|through|flow|density|strength|and)\b)|currently|now|nowadays|latest"
    r"|newest|most recent"
    r"|recent|recently|still|this year|up[- ]to[- ]date|so far|to date|who(?: is|['’]s| are| runs| "
    r"owns| leads| heads)"
    r"|aktuell\w*|derzeit\w*|jetzt|neuest\w+|dieses jahr|wer ist|actuellement|actuels?|actuelles?"
    r"|maintenant"
    r"|cette année|qui est|actualmente|ahora|este año|quién es|attuale|attualmente|adesso|chi è"
    r"|atualmente|agora"
    r"|quem é|nuvarande|senaste|för närvarande|vem är"
)


def _words(pattern: str, east: str = "") -> re.Pattern[str]:
    """Return a pattern for some words; those of scripts without spaces match anywhere."""
    return re.compile(rf"\b(?:{pattern})\b{'|' + east if east else ''}", re.IGNORECASE)


CLOCKS = (
    (7, _words(_WEEK, "本周|今週|昨日|어제")),
    (30, _words(_MONTH, "今天|今日|本月|今月|오늘")),
    (90, _words(_QUARTER, "价格|価格|가격")),
    (365, _words(_YEAR, "现在|現在|目前|最新|현재|최신")),
)
"""Words that ask about the present or about something that changes, each with its half-life in
days, the shortest first."""
YEARLY = 365
"""The half-life in days if the question names a year."""
AHEAD = 10
"""How many years from now a number may still be a year: 2048 may be a number of bits."""
_UNTIL_NOW = _words(
    "since|until now|to this day|today|now|currently|so far|to date|at the "
    "moment|heute|jetzt|seit|depuis|desde|sedan"
)
_LAST_YEAR = _words(r"last year|letztes jahr|l['’]année dernière|el año pasado|förra året")
_CENTURY = _words(r"(\d{1,2})(?:st|nd|rd|th)[\s-]century")
_DECADE = _words(r"((?:1\d|20)\d0)(?:['’]?s|er|-talet)")
_BARE_YEAR = re.compile(r"(?<![\w.,$€£#/])(1[5-9]\d\d|20\d\d)(?![\w%/]|[.,:]\d)")

Period = tuple[date, date, str]
"""The first and the last day of a time, and the words that name it."""


def age_need_of(question: str, as_of: str) -> AgeNeed:
    """Return how old the sources of a question may be.

    A question is about `then` if it names a time that is over and does not reach until today. It is
    about `now` if it says so (`current`), names a time that is not over, or asks for something that
    changes (a price, who is). Otherwise it is timeless.

    Args:
        question: The question as the person asked it.
        as_of: The day that counts as today, ISO 8601.

    Raises:
        ValueError: If `as_of` is not a day.
    """
    today = date.fromisoformat(as_of[:10])
    periods = periods_named(question, today)
    ongoing = [words for _, last, words in periods if last >= today]
    if periods and not ongoing and not _UNTIL_NOW.search(question):
        first = min(first for first, _, _ in periods)
        last = max(last for _, last, _ in periods)
        named = ", ".join(words for _, _, words in periods)
        return AgeNeed("then", today, start=first, end=last, told_by=named)
    for half_life, words in CLOCKS:
        if found := words.search(question):
            return AgeNeed("now", today, half_life, told_by=found.group())
    if periods:
        named = (ongoing or [words for _, _, words in periods])[0]
        return AgeNeed("now", today, YEARLY, told_by=named)
    return AgeNeed("any", today)


def periods_named(question: str, today: date) -> list[Period]:
    """Return the times that a question names."""
    found: list[Period] = []
    rest = question
    for day, start, end in dated(question):
        rest = rest[:start] + "|" * (end - start) + rest[end:]
        found += _named(_days(day.year, day.month, day.day), question[start:end])
    for match in _CENTURY.finditer(rest):
        last = int(match[1]) * 100
        found += _named(_years(last - 99, last), match.group())
    for match in _DECADE.finditer(rest):
        found += _named(_years(int(match[1]), int(match[1]) + 9), match.group())
    for match in _BARE_YEAR.finditer(rest):
        if (year := int(match[1])) <= today.year + AHEAD:
            found += _named(_years(year, year), match.group())
    for match in _LAST_YEAR.finditer(rest):
        found += _named(_years(today.year - 1, today.year - 1), match.group())
    return found


def _named(span: tuple[date, date] | None, words: str) -> list[Period]:
    return [(*span, words)] if span else []


def _years(first: int, last: int) -> tuple[date, date] | None:
    spans = _days(first), _days(last)
    return (spans[0][0], spans[1][1]) if spans[0] and spans[1] else None
