"""When and where the event that a finding reports happened.

Correlations, timelines and maps are made of this. It is computed from the finding and its source
alone, so that pictures can be drawn from the record at any time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.gazetteer import AROUND, Place, find_place, places_named_in
from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.time_and_place import Moment, Position, moment_of, time_and_place_of

DENSITY, LEAST_KM, MOST_KM = 80.0, 2.0, 20.0
"""Half the width of a town in kilometres is the square root of its inhabitants divided by DENSITY,
within the other two: 2.2 km for 30,000 inhabitants and 15 km for 1.4 million."""

_AT = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Nn]ear|[Oo]ff|[Aa]round|[Oo]utside|[Oo]ver|[Oo]n|[Hh]its?|[Ss]truck"
    r"|[Ss]trikes?|[Ss]hook|[Ss]hakes"
    r"|[Rr]ock(?:s|ed)|[Ss]hell(?:s|ed)|[Tt]arget(?:s|ed)|[Bb]omb(?:s|ed)|[Hh]itting|[Ss]triking"
    r"|[Ss]haking|[Cc]ity|[Tt]own)\s+"
    r"(?:the\s+)?(?:(?:[a-z]+\s+)?(?:of|from)\s+)?(?:[a-z]+\s+)?"
    r"(?P<name>[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*(?:[ -][^\W\d_a-z][^\W\d_]+){0,4})"
)
"""A word of place, or a verb for what happens to a place, and the capitalised words behind it."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """When and where the event of a finding happened."""

    finding: str
    """Id of the finding."""
    moment: Moment | None = None
    """When; None: not said."""
    position: Position | None = None
    """Where; None: not said."""
    places: tuple[str, ...] = ()
    """Names of places."""

    @property
    def timestamp(self) -> str:
        """The beginning of the moment in ISO form, as precise as it is known; empty: not known."""
        return self.moment.iso() if self.moment else ""


def occurrence_of(finding: Finding, source: Source, text: str) -> Occurrence:
    """Return when and where the event of a finding happened.

    If the quote gives no position, it is that of the only town at which the quote places the event,
    give or take half the width of a town of its size; failing that, of the only such town of the
    title. If the quote gives no time, the time of publication counts, provided that it is given to
    the minute: news is about its day, and services say when they first saw something. Rows of a
    feed have times of their own. A mere day of publication does not count, because a report of
    today may be about last year.

    Args:
        finding: The finding, of which the first quote counts.
        source: The source of the quote.
        text: The whole text of the source.
    """
    quote = finding.quotes[0]
    there = time_and_place_of(quote.text, text, quote.passage.start, source.title)
    when = there.moment
    if when is None and "T" in source.published and source.kind is not SourceKind.FEED:
        published = moment_of(source.published)
        when = published if published and published.narrow else None
    return Occurrence(
        finding.id, when, there.position or _town(quote.text) or _town(source.title), there.places
    )


def _town(text: str) -> Position | None:
    """Return the position of the town at which a text places something, if it names only one."""
    towns = towns_named_in(text)
    if len(towns) != 1:
        return None
    reach = min(max(math.sqrt(towns[0].population) / DENSITY, LEAST_KM), MOST_KM)
    return Position(towns[0].lat, towns[0].lon, round(reach, 1))


def towns_named_in(text: str) -> list[Place]:
    """Return the towns at which a text places something.

    Examples are in Kharkiv, near Merefa, a strike on Odesa, it shook Izmir. The mere name is not
    enough, because there are towns called Alma and Victoria.
    """
    named = (_begins_with(match["name"].split()) for match in _AT.finditer(text))
    return list(dict.fromkeys(place for place in named if place))


def _begins_with(capitalised: Sequence[str]) -> Place | None:
    """Return the town that capitalised words begin with; None if they go on (Paris Hilton)."""
    for count in range(len(capitalised), 0, -1):
        name, rest = " ".join(capitalised[:count]), capitalised[count:]
        place = find_place(name)
        if place is not None and places_named_in(name):
            return (
                place if place.kind == "town" and (not rest or rest[0].lower() in AROUND) else None
            )
    return None
