"""Tool calls with arguments, which are filled in from the question by the arguments' names.

A tool is called only if it suits the question's subject and all its required arguments can be
filled in. No argument is invented: a place is looked up by its name, a time is the one in the
question, and everything that the question does not say is left to the tool.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from deepdiver.core.dates import dates
from deepdiver.core.gazetteer import Place, places_named_in
from deepdiver.core.names import names
from deepdiver.core.occurrence import towns_named_in
from deepdiver.core.text import STOPWORDS, terms, words
from deepdiver.core.time_and_place import positions
from deepdiver.reason.embedded.query import keywords
from deepdiver.tasks import Argument, ShownTool, ToolQuery

RADIUS_KM = 50
"""Radius around a town or a position that the question names."""
MOST_DAYS = 10
"""The most days back: satellite services give no more at once."""
USUAL = {"days": "7"}
"""Values of required arguments that the question does not give."""
MOST_KEYWORDS = 3
"""Words for news: a service wants all of them in one article, and each further word halves the
results."""
_DAYS = {
    "hour": 1,
    "day": 1,
    "today": 1,
    "week": 7,
    "weekend": 3,
    "fortnight": 14,
    "month": 30,
    "year": 365,
}
_LATELY = re.compile(
    rf"\b(?:last|past|this|these|previous)\s+(?:(?P<n>\d{{1,3}})\s+)?"
    rf"(?P<unit>{'|'.join(sorted(_DAYS, key=len)[::-1])})s?\b"
    r"|\b(?P<word>today)\b",
    re.IGNORECASE,
)
_TIMES = frozenset(
    terms(" ".join((*_DAYS, "last past this recently lately currently now since until yesterday")))
)
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,7}\b", re.IGNORECASE)
_ASN = re.compile(r"\bASN?\s?(\d{1,10})\b")
_CHANGE = frozenset(
    terms(
        "increase increased decrease decreased rise risen fall fallen more fewer less change "
        "changed happen happened cause caused reason why there"
    )
)
"""Words that ask how much or why, and that news about the subject need not contain."""

SUITS: Mapping[str, frozenset[str]] = {
    "thermal": frozenset(
        terms(
            "strike strikes airstrike missile drone attack attacks shelling bombardment explosion "
            "explosions blast fire fires wildfire burning burn combat fighting offensive military "
            "war bombing refinery depot heat"
        )
    ),
    "connectivity": frozenset(
        terms(
            "internet connectivity outage outages blackout offline network networks shutdown "
            "telecom disruption infrastructure power strike strikes attack attacks cyberattack war "
            "censorship cable"
        )
    ),
    "cyber": frozenset(
        terms(
            "cyber vulnerability vulnerabilities cve exploit exploited exploits ransomware malware "
            "patch patched hacked hackers breach zero-day software firmware"
        )
    ),
    "sanction": frozenset(
        terms(
            "sanction sanctions sanctioned embargo blacklist blacklisted designated listed ofac "
            "oligarch asset freeze"
        )
    ),
    "event": frozenset(
        terms(
            "earthquake earthquakes quake tremor seismic magnitude flood floods disaster cyclone "
            "tsunami landslide drought humanitarian displaced refugees aid epidemic explosion "
            "explosions shaking tremors"
        )
    ),
    "news": frozenset(),
}
"""Terms of questions that suit a kind of tool; the kind is a word of the tool's name or
description. News is searched for every question."""


@dataclass(frozen=True, slots=True)
class QuestionDetails:
    """The details in a question that can fill arguments."""

    text: str
    places: tuple[Place, ...]
    """Places of the gazetteer that it names."""
    as_of: str
    """Today."""

    @property
    def spots(self) -> list[tuple[float, float]]:
        """The positions that it gives, then those of its towns.

        A country's centre is not a place to search around.
        """
        given = [(spot.lat, spot.lon) for spot in positions(self.text)]
        return [*given, *((place.lat, place.lon) for place in self.places if place.kind == "town")]

    @property
    def spot(self) -> tuple[float, float] | None:
        """The first of the positions."""
        return next(iter(self.spots), None)

    @property
    def country(self) -> str:
        """The country of the first place, if all places are in one."""
        codes = {place.country for place in self.places}
        return codes.pop() if len(codes) == 1 else ""

    @property
    def exact(self) -> tuple[str, str]:
        """The first and the last day that it names, with one more day on each side."""
        named = [day.iso() for day in dates(self.text) if day.exact()]
        if not named:
            return "", ""
        first, last = date.fromisoformat(min(named)), date.fromisoformat(max(named))
        return (first - timedelta(1)).isoformat(), min(
            (last + timedelta(1)).isoformat(), max(self.as_of[:10], max(named))
        )

    @property
    def subject(self) -> str:
        """The person or body that it is about, for lists of names."""
        spots = {place.name.lower() for place in self.places}
        listed = [name for name in names(self.text) if name.lower() not in spots]
        return max(listed, key=len, default="")

    @property
    def news_words(self) -> str:
        """The words that news about it contains: names and subject, but not when and how much."""
        named = names(self.text)
        inside = {word for name in named for word in words(name)}
        silent = _TIMES | _CHANGE | {term for month in calendar.month_name for term in terms(month)}
        rest = [
            word
            for word in keywords(self.text)
            if not set(terms(word)) & silent
            and not word.isdigit()
            and word.lower() not in {*inside, *STOPWORDS}
        ]
        return ", ".join([*named, *rest][:MOST_KEYWORDS])


def _cve(said: QuestionDetails) -> str:
    found = _CVE.search(said.text)
    return found.group().upper() if found else ""


def _asn(said: QuestionDetails) -> str:
    found = _ASN.search(said.text)
    return found[1] if found else ""


FILLS: Mapping[str, Callable[[QuestionDetails], str]] = {
    "latitude": lambda said: f"{said.spot[0]:g}" if said.spot else "",
    "longitude": lambda said: f"{said.spot[1]:g}" if said.spot else "",
    "radius_km": lambda said: str(RADIUS_KM) if said.spot else "",
    "country_code": lambda said: said.country,
    "country": lambda said: said.country,
    "days": lambda said: (
        str(min(days, MOST_DAYS)) if (days := days_back(said.text)) and not said.exact[0] else ""
    ),
    "since": lambda said: said.exact[0],
    "until": lambda said: said.exact[1],
    "keywords": lambda said: said.news_words,
    "keyword": lambda said: "" if _cve(said) else said.subject,
    "name": lambda said: said.subject,
    "cve": _cve,
    "asn": _asn,
}
"""The function that fills an argument, by its name; other arguments are not filled."""
_OPTIONAL = " (optional)"


def days_back(question: str) -> int:
    """Return how many days back a question asks; 0 if it does not say."""
    found = _LATELY.search(question)
    if found is None:
        return 0
    return 1 if found["word"] else int(found["n"] or 1) * _DAYS[found["unit"].lower()]


def details_of(question: str, as_of: str) -> QuestionDetails:
    """Return the details in a question that can fill arguments."""
    countries = [place for place in places_named_in(question) if place.kind == "country"]
    return QuestionDetails(question, (*towns_named_in(question), *countries), as_of)


def propose_tool_calls(
    question: str, as_of: str, tools: Sequence[ShownTool], reason: str
) -> tuple[ToolQuery, ...]:
    """Return calls of the tools that suit a question and can be filled in.

    Tools that take only a query are left out.

    Args:
        question: The question, or a statement to test.
        as_of: Today's date.
        tools: The available tools.
        reason: The reason to give for the calls.
    """
    said = details_of(question, as_of)
    made = []
    for tool in tools:
        args = fill_arguments(tool, said)
        if args and _suits(tool, question):
            made.append(ToolQuery(tool=tool.name, args=tuple(args), reason=reason))
    return tuple(made)


def fill_arguments(tool: ShownTool, said: QuestionDetails) -> list[Argument]:
    """Return a tool's arguments; none if a required one is missing, or if it takes only a query."""
    args: list[Argument] = []
    for line in tool.arguments:
        name, _, _ = line.partition(":")
        optional = name.endswith(_OPTIONAL)
        name = name.removesuffix(_OPTIONAL)
        fill = FILLS.get(name)
        value = (fill(said) if fill else "") or ("" if optional else USUAL.get(name, ""))
        if value:
            args.append(Argument(name=name, value=value))
        elif not optional:
            return []
    return args if _telling(args) else []


def _telling(args: Iterable[Argument]) -> bool:
    """Return whether arguments say more than a time, which alone is not a search."""
    return any(arg.name not in {"days", "since", "until", "radius_km"} for arg in args)


def _suits(tool: ShownTool, question: str) -> bool:
    told = f"{tool.name.replace('_', ' ')} {tool.about}".lower()
    asked = set(terms(question))
    fitting = [topics for kind, topics in SUITS.items() if kind in told]
    return any(not topics or asked & topics for topics in fitting) or (
        not fitting and bool(asked & set(terms(told)))
    )
