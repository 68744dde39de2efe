"""The scope of an investigation: the area, the time and the sources that its plan names.

Calls are narrowed to it by code. A feed is asked for the area and the time that a call leaves open,
a search that names none of the plan's regions is made for the first of them, and sources that the
plan prefers are asked first. Nothing that a call says is changed, and an addition that a tool does
not take is left out.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from deepdiver.core.dates import Day, dates
from deepdiver.core.gazetteer import places_named_in
from deepdiver.core.text import terms
from deepdiver.tasks import ShownTool

AREAS = 3
"""The most areas for which one call is made: each is a call of its own."""
KEYWORDS = 3
"""The most keywords that are filled in: services want all of them in one article."""
REASON = "the plan asks it first"
OPTIONAL = " (optional)"
QUERY = "query"
LATITUDE, LONGITUDE, RADIUS = "latitude", "longitude", "radius_km"
SINCE, UNTIL, DAYS = "since", "until", "days"
COUNTRY, WORDS = "country_code", "keywords"
"""The names of arguments that the scope can fill in."""
_UNITS = {"d": 1, "w": 7, "m": 30, "y": 365}
"""Days of a unit, by its first letter; hours are counted by themselves."""
_BACK = re.compile(
    r"\b(?P<n>\d{1,4})?\s*(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_OPEN = re.compile(r"\b(?:since|now|today|present)\b", re.IGNORECASE)
"""Words for a time that has not ended."""

Args = dict[str, str]
Call = dict[str, Any]
"""A call as the state carries it."""


@dataclass(frozen=True, slots=True)
class Period:
    """A time, to the day."""

    since: date
    """Its first day."""
    until: date
    """Its last day."""

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.until - self.since).days + 1


def read_period(text: str, as_of: str) -> Period | None:
    """Return the time that a plan names; None if it names none that can be read.

    Args:
        text: `7d`, `the last two weeks` in digits, `2026-11-05/2026-11-11`, `August 2019`, `2019`.
        as_of: Today.
    """
    today = date.fromisoformat(as_of[:10])
    named = [day for day in dates(text) if day.year]
    named = named or [Day(year=int(year)) for year in _YEAR.findall(text)]
    if named:
        spans = [_span_of(day) for day in named]
        first, last = min(first for first, _ in spans), max(last for _, last in spans)
        return Period(first, max(last, today) if _OPEN.search(text) else last)
    back = _BACK.search(text)
    return Period(today - timedelta(_days_back(back, today)), today) if back else None


def _days_back(back: re.Match[str], today: date) -> int:
    """Return how many days before today a period begins; a day of 24 hours begins yesterday."""
    number, unit = int(back["n"] or 1), back["unit"][0].lower()
    days = -(-number // 24) if unit == "h" else number * _UNITS[unit] - 1
    return max(0, min(days, (today - date.min).days))


def _span_of(day: Day) -> tuple[date, date]:
    first = date(day.year, day.month or 1, day.day or 1)
    month = day.month or 12
    last = day.day or calendar.monthrange(day.year, month)[1]
    return first, date(day.year, month, last)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a plan says about where, when and whom to ask."""

    as_of: date
    """Today."""
    regions: tuple[str, ...] = ()
    """The names of places that matter, the most important first."""
    country: str = ""
    """The country that they are in, as a code; empty if they are in several, or nobody knows."""
    areas: tuple[Mapping[str, float], ...] = ()
    """The circles on the map: `lat`, `lon`, `radius_km`."""
    period: Period | None = None
    """The time that matters."""
    keywords: tuple[str, ...] = ()
    """The words of the news about it."""
    priority: tuple[str, ...] = ()
    """Whom to ask first, by name or by what it gives."""

    @property
    def published_since(self) -> date | None:
        """The day before which nothing can have been published that tells of the period.

        None if there is no period, or if it has not begun: that is a forecast.
        """
        return self.period.since if self.period and self.period.since <= self.as_of else None


def scope_of(plan: Mapping[str, Any], as_of: str) -> Scope:
    """Return the scope of a plan that a state carries."""
    regions = tuple(text for item in plan.get("regions_of_interest", ()) if (text := item.strip()))
    countries = {place.country for region in regions for place in places_named_in(region)}
    return Scope(
        as_of=date.fromisoformat(as_of[:10]),
        regions=regions,
        country=countries.pop() if len(countries) == 1 else "",
        areas=tuple(plan.get("coordinates", ())),
        period=read_period(plan.get("time_range", ""), as_of),
        keywords=tuple(plan.get("keywords", ())),
        priority=tuple(plan.get("priority_sources", ())),
    )


Refusal = Callable[[str, Mapping[str, str]], str]
"""Returns why a tool does not take arguments, or "" if it does."""


def narrow_calls(
    calls: Iterable[Call], scope: Scope, tools: Sequence[ShownTool], refusal: Refusal
) -> list[Call]:
    """Return calls narrowed to the scope; one that needs a position is made for each area."""
    by_name = {tool.name: tool for tool in tools}
    narrowed = []
    for call in calls:
        tool = by_name.get(call["tool"])
        if tool is None:
            narrowed.append(call)
        elif _takes(tool) == {QUERY: True}:
            narrowed.append({**call, "args": _in_region(call["args"], scope)})
        else:
            narrowed += [
                {**call, "args": args} for args in _filled(call["args"], tool, scope, refusal)
            ]
    return narrowed


def ask_first(
    calls: Sequence[Call],
    scope: Scope,
    tools: Sequence[ShownTool],
    refusal: Refusal,
    about: str,
) -> list[Call]:
    """Return calls with those of preferred sources first.

    A preferred source that no call asks is asked, if the plan alone says what it needs to know.

    Args:
        calls: The calls.
        scope: The scope.
        tools: The tools.
        refusal: Says why a tool does not take arguments.
        about: The part of the question that an added call is for.
    """
    asked = {call["tool"] for call in calls}
    ranks = _ranks(tools, scope)
    added = [
        {"tool": tool.name, "args": args, "reason": REASON, "about": about, "tests": []}
        for tool in tools
        if tool.name not in asked and QUERY not in _takes(tool) and tool.name in ranks
        for args in _filled({}, tool, scope, refusal)
        if args and not refusal(tool.name, args)
    ]
    last = len(scope.priority)
    return sorted((*calls, *added), key=lambda call: ranks.get(call["tool"], last))


def _ranks(tools: Sequence[ShownTool], scope: Scope) -> dict[str, int]:
    """Return the places of the tools among the preferred sources, for those that are preferred.

    A source is the tool of that name; if there is none, those whose names or descriptions have its
    words.
    """
    ranks: dict[str, int] = {}
    by_name = {tool.name: [tool] for tool in tools}
    for place, name in enumerate(scope.priority):
        wanted = set(terms(name.replace("_", " ")))
        like = [tool for tool in tools if wanted and wanted <= _words_of(tool)]
        for tool in by_name.get(name.strip(), like):
            ranks.setdefault(tool.name, place)
    return ranks


def _words_of(tool: ShownTool) -> set[str]:
    return set(terms(f"{tool.name.replace('_', ' ')} {tool.about}"))


def _takes(tool: ShownTool) -> dict[str, bool]:
    """Return the arguments of a tool, and whether each is needed."""
    heads = [line.partition(":")[0] for line in tool.arguments]
    return {head.removesuffix(OPTIONAL): not head.endswith(OPTIONAL) for head in heads}


def _in_region(args: Args, scope: Scope) -> Args:
    """Return a search for the first region, unless it names one of them."""
    query = args.get(QUERY, "")
    said = set(terms(query))
    if not said or not scope.regions or any(said & set(terms(name)) for name in scope.regions):
        return args
    return {**args, QUERY: f"{query} {scope.regions[0]}"}


def _filled(args: Args, tool: ShownTool, scope: Scope, refusal: Refusal) -> list[Args]:
    """Return the arguments of a call with what the scope adds to them, for each area."""
    takes = _takes(tool)
    made = []
    for spot in _positions(args, takes, scope):
        full = {**args, **spot}
        if takes.get(WORDS) and WORDS not in full and scope.keywords:
            full[WORDS] = ", ".join(scope.keywords[:KEYWORDS])
        for options in (_countries(full, takes, scope), _times(full, takes, scope)):
            full = next(
                (wider for more in options if not refusal(tool.name, wider := {**full, **more})),
                full,
            )
        made.append(full)
    return made


def _positions(args: Args, takes: Mapping[str, bool], scope: Scope) -> list[Args]:
    """Return the positions to fill in: none, unless the tool needs one and the call has none."""
    if not takes.get(LATITUDE) or not takes.get(LONGITUDE) or {LATITUDE, LONGITUDE} & args.keys():
        return [{}]
    spots = [
        {
            LATITUDE: f"{area['lat']:g}",
            LONGITUDE: f"{area['lon']:g}",
            **(
                {RADIUS: f"{area['radius_km']:g}"} if RADIUS in takes and RADIUS not in args else {}
            ),
        }
        for area in scope.areas[:AREAS]
    ]
    return spots or [{}]


def _countries(args: Args, takes: Mapping[str, bool], scope: Scope) -> list[Args]:
    wanted = scope.country and COUNTRY in takes and COUNTRY not in args
    return [{COUNTRY: scope.country}] if wanted else []


def _times(args: Args, takes: Mapping[str, bool], scope: Scope) -> list[Args]:
    """Return the ways to tell a tool the period, the plainest first."""
    period = scope.period
    if period is None or {SINCE, UNTIL, DAYS} & args.keys():
        return []
    days, until = {DAYS: str(period.days)}, {UNTIL: period.until.isoformat()}
    ways = [days] if period.until == scope.as_of else []
    ways += [{SINCE: period.since.isoformat(), **until}, {**days, **until}]
    return [way for way in ways if way.keys() <= takes.keys()]
