"""Which events go together in time and space: arithmetic proposes correlations, and explains none.

- temporal: two events within a window, or on the same day if no more is known.
- geospatial: events within a radius of each other, or at places of the same name.
- causal: one event before another, within a window, and in the same place. A cause comes first, but
  what comes first is not always a cause; the prompt tells the reasoner so.
- pattern: three events or more in one place, at equal intervals.

Events of one origin are never correlated: a story that was printed twice did not happen twice. The
proposals do not depend on the order of the events.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from deepdiver.core.record import CorrelationKind
from deepdiver.core.time_and_place import DAY, Moment, Position, distance_km

WINDOW = 60
"""Minutes within which two events are close in time."""
CAUSAL_WINDOW = 180
"""Minutes within which the first of two events may have caused the second."""
RADIUS_KM = 5.0
"""Kilometres within which two events are in the same place: the size of a town, and the error of a
satellite's pixel."""
SAME_DAY = 0.3
"""Closeness of two events if only the day of one is known."""
SAME_NAME = 0.6
"""Closeness of two events at a place of one name whose positions are not known."""
STEADY = 0.2
"""Intervals are equal if their standard deviation is at most this part of their mean."""
MOST = {
    CorrelationKind.TEMPORAL: 6,
    CorrelationKind.GEOSPATIAL: 2,
    CorrelationKind.CAUSAL: 4,
    CorrelationKind.PATTERN: 2,
}
"""Most proposals of each kind, the closest first."""
PER_EVENT = 3
"""Most proposals of one kind that an event may be part of: a log with a line for every minute is
close to everything."""


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """The event that a finding reports, reduced to what correlation needs."""

    key: str
    """Id of the finding."""
    origin: str
    """Copies of one story share this."""
    moment: Moment | None = None
    """When."""
    position: Position | None = None
    """Where."""
    places: frozenset[str] = frozenset()
    """Names of where, in lower case."""


@dataclass(frozen=True, slots=True)
class ProposedCorrelation:
    """Events that may go together."""

    kind: CorrelationKind
    """In what way."""
    keys: tuple[str, ...]
    """Ids of the findings, in order of time; of a geospatial proposal, in alphabetical order."""
    closeness: float
    """How close, 0..1."""
    minutes: int | None = None
    """Most minutes between two of them; of a pattern, the mean interval. None: not known, or only
    to the day."""
    km: float | None = None
    """Most kilometres between two of them; None: not known."""


def propose_correlations(events: Iterable[ObservedEvent]) -> list[ProposedCorrelation]:
    """Return the proposed correlations, kind by kind and the closest first."""
    listed = sorted({event.key: event for event in events}.values(), key=lambda event: event.key)
    made = [*_temporal(listed), *_geospatial(listed), *_causal(listed), *_patterns(listed)]
    kept: list[ProposedCorrelation] = []
    for kind, most in MOST.items():
        best = sorted((p for p in made if p.kind is kind), key=lambda p: (-p.closeness, p.keys))
        used: Counter[str] = Counter()
        taken: list[ProposedCorrelation] = []
        for proposal in best:
            if len(taken) < most and all(used[key] < PER_EVENT for key in proposal.keys):
                used.update(proposal.keys)
                taken.append(proposal)
        kept += taken
    return kept


def _temporal(events: Sequence[ObservedEvent]) -> Iterable[ProposedCorrelation]:
    for one, other in _pairs(events):
        if one.moment is None or other.moment is None:
            continue
        gap = one.moment.gap(other.moment)
        exact = one.moment.narrow and other.moment.narrow
        if gap > (WINDOW if exact else 0):
            continue
        near = km_between(one, other)
        # Events that are known to be in different places are less likely to belong together,
        # however close in time.
        place = 0.7 if near is None else 1.0 if near <= _reach(one, other) else 0.4
        close = (1.0 - gap / (WINDOW + 1) if exact else SAME_DAY) * place
        first, second = sorted((one, other), key=_by_time)
        keys = (first.key, second.key)
        yield ProposedCorrelation(
            CorrelationKind.TEMPORAL, keys, round(close, 4), gap if exact else None, near
        )


def _geospatial(events: Sequence[ObservedEvent]) -> Iterable[ProposedCorrelation]:
    placed = [event for event in events if event.position is not None]
    for group in filter(_independent, cluster_events(placed, in_one_place)):
        pairs = list(combinations(group, 2))
        far = max(km_between(one, other) or 0.0 for one, other in pairs)
        reach = max(_reach(one, other) for one, other in pairs)
        close = round(max(0.0, 1.0 - far / (2 * reach)), 4)
        yield ProposedCorrelation(CorrelationKind.GEOSPATIAL, _keys(group), close, None, far)
    unplaced = [event for event in events if event.position is None and event.places]
    for group in filter(_independent, cluster_events(unplaced, _share_a_name)):
        yield ProposedCorrelation(CorrelationKind.GEOSPATIAL, _keys(group), SAME_NAME)


def _causal(events: Sequence[ObservedEvent]) -> Iterable[ProposedCorrelation]:
    for pair in _pairs(events):
        if any(
            event.moment is None or not event.moment.narrow for event in pair
        ) or not in_one_place(*pair):
            continue
        first, second = sorted(pair, key=_by_time)
        gap = _between(first, second)
        if 0 < gap <= CAUSAL_WINDOW and gap == _start(second) - _end(first):
            close = round(1.0 - gap / (CAUSAL_WINDOW + 1), 4)
            yield ProposedCorrelation(
                CorrelationKind.CAUSAL,
                (first.key, second.key),
                close,
                gap,
                km_between(first, second),
            )


def _patterns(events: Sequence[ObservedEvent]) -> Iterable[ProposedCorrelation]:
    dated = [event for event in events if event.moment is not None]
    for group in cluster_events(dated, in_one_place):
        # Several sources may report one event: of those at one time only the first by id counts.
        once = {event.moment: event for event in reversed(group)}
        ordered = sorted(once.values(), key=_by_time)
        if len(ordered) < 3 or not _independent(ordered):
            continue
        mean, spread = _intervals(ordered)
        if spread <= STEADY:
            close = round(1.0 - spread, 4)
            yield ProposedCorrelation(
                CorrelationKind.PATTERN, _keys(ordered), close, round(mean), None
            )


def _intervals(ordered: Sequence[ObservedEvent]) -> tuple[float, float]:
    """Return the mean interval of events in minutes, and its standard deviation as a part of it."""
    gaps = [_start(second) - _start(first) for first, second in pairwise(ordered)]
    mean = math.fsum(gaps) / len(gaps)
    if not mean:
        return mean, 1.0
    return mean, math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean


def _independent(group: Sequence[ObservedEvent]) -> bool:
    """Whether events have more than one origin."""
    return len({event.origin for event in group}) > 1


def _keys(group: Sequence[ObservedEvent]) -> tuple[str, ...]:
    return tuple(event.key for event in group)


def _share_a_name(one: ObservedEvent, other: ObservedEvent) -> bool:
    return not one.places.isdisjoint(other.places)


def _pairs(events: Sequence[ObservedEvent]) -> Iterable[tuple[ObservedEvent, ObservedEvent]]:
    return ((one, other) for one, other in combinations(events, 2) if one.origin != other.origin)


def km_between(one: ObservedEvent, other: ObservedEvent) -> float | None:
    """Return the kilometres between two events; None if a position is not known."""
    if one.position is None or other.position is None:
        return None
    return round(distance_km(one.position, other.position), 2)


def in_one_place(one: ObservedEvent, other: ObservedEvent) -> bool:
    """Whether two events happened in the same place.

    Their positions decide if both are known, and otherwise a place name that they share.
    """
    km = km_between(one, other)
    return km <= _reach(one, other) if km is not None else _share_a_name(one, other)


def _reach(one: ObservedEvent, other: ObservedEvent) -> float:
    """Return the kilometres within which two events are in the same place.

    Positions that are only roughly known add their error.
    """
    return RADIUS_KM + sum(event.position.within_km for event in (one, other) if event.position)


def cluster_events(
    events: Sequence[ObservedEvent], near: Callable[[ObservedEvent, ObservedEvent], bool]
) -> list[list[ObservedEvent]]:
    """Return events in groups: an event, all that are near it, all that are near those, and on."""
    groups: list[list[ObservedEvent]] = []
    for event in sorted(events, key=lambda item: item.key):
        touching = [group for group in groups if any(near(event, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in touching)]
        merged = [event, *(other for group in touching for other in group)]
        groups.append(sorted(merged, key=lambda item: item.key))
    return sorted(groups, key=lambda group: group[0].key)


def describe_closeness(proposal: ProposedCorrelation) -> str:
    """Return how close the events of a proposal are, in words: `6 minutes apart, 0.73 km apart`."""
    parts = []
    if proposal.minutes is not None:
        every = proposal.kind is CorrelationKind.PATTERN
        parts.append(f"{_span(proposal.minutes)} {'from one to the next' if every else 'apart'}")
    elif proposal.kind is CorrelationKind.TEMPORAL:
        parts.append("on the same day")
    if proposal.km is not None:
        parts.append(
            f"{proposal.km:g} km apart" if len(proposal.keys) == 2 else f"within {proposal.km:g} km"
        )
    elif proposal.kind is CorrelationKind.GEOSPATIAL:
        parts.append("at a place of the same name")
    return ", ".join(parts)


def _span(minutes: int) -> str:
    if minutes and minutes % DAY == 0:
        days = minutes // DAY
        return f"{days} day{'s' if days != 1 else ''}"
    return f"{minutes} minute{'s' if minutes != 1 else ''}"


def _by_time(event: ObservedEvent) -> tuple[Moment, str]:
    return event.moment or Moment(0, 0), event.key


def _start(event: ObservedEvent) -> int:
    return event.moment.start if event.moment else 0


def _end(event: ObservedEvent) -> int:
    return event.moment.end if event.moment else 0


def _between(one: ObservedEvent, other: ObservedEvent) -> int:
    return one.moment.gap(other.moment) if one.moment and other.moment else 0
