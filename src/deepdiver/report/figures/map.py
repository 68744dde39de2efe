"""Findings by place, on a map that is drawn from files of the package.

No tiles, nothing from outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from deepdiver.core import gazetteer
from deepdiver.core.time_and_place import Position
from deepdiver.report.figures import outlines
from deepdiver.report.figures.findings import DrawnFinding, count_by_type
from deepdiver.report.figures.map_frame import MapFrame, degrees_label, fit_frame
from deepdiver.report.figures.marks import draw_crowd, draw_legend, draw_mark
from deepdiver.report.figures.svg import WIDTH, Picture, element, label, number, path, text_width
from deepdiver.report.words import ENGLISH, Words

LEFT, TOP = 18.0, 14.0
"""Where the map is on the paper."""
COARSE = 14.0
"""Most units of paper by which a coast may be off; more would mislead. Maps of less than 172 km in
width have no coasts."""
TOGETHER = 20.0
"""Findings whose marks would be closer than this are drawn as one."""
TOWNS, ASKED = 12, 150
"""Most towns with names, and the number of largest towns that they are chosen from."""
APART = 46.0
"""Least distance of two towns with names: the name of a district beside its city adds nothing."""
FINE = 1.2
"""Points of a line that are closer than this to the last are left out, as nobody could see them."""
CREDIT = "Towns: GeoNames (CC BY 4.0)"
LINES_CREDIT = "Coasts and borders: Natural Earth, to some 3 km"
Spot = tuple[float, float]


@dataclass(slots=True)
class _Cluster:
    """Findings that are drawn as one mark."""

    x: float
    y: float
    items: list[DrawnFinding] = field(default_factory=list)


def draw_map(items: Iterable[DrawnFinding], say: Words = ENGLISH) -> Picture | None:
    """Draw the findings that have a position; None if none has.

    Args:
        items: All findings.
        say: The words of the report's language.
    """
    every = list(items)
    placed = [(item, item.position) for item in every if item.position]
    if not placed:
        return None
    frame = fit_frame([position for _, position in placed], WIDTH - 2 * LEFT)
    clusters = _clusters(placed, frame)
    room = _Room(frame, clusters)
    numbers = list(_numbered(clusters, room))  # before the towns, which take what room is left
    rough = frame.km * COARSE >= outlines.GOOD_KM
    window = {"x": LEFT, "y": TOP, "width": frame.width, "height": frame.height}
    towns = list(_towns(frame, clusters, room)) or list(_nearest(frame, say))
    inside = [
        *(_land(frame) if rough else ()),
        *_graticule(frame),
        *_reaches(placed, frame),
        *towns,
        *(_marked(cluster) for cluster in clusters),
        *numbers,
    ]
    below = TOP + frame.height
    types, last = draw_legend((item for item, _ in placed), LEFT, below + 64, say)
    body = [
        element(
            "clipPath",
            {"id": "map-frame"},
            element("rect", {"width": frame.width, "height": frame.height}),
        ),
        element("rect", {**window, "class": "p-sea" if rough else "p-band"}),
        element("g", {"transform": f"translate({number(LEFT)} {number(TOP)})"}, _clipped(inside)),
        element("rect", {**window, "class": "p-axis"}),
        *_edges(frame),
        _bar(frame, below + 36),
        types,
        label(
            WIDTH - LEFT,
            below + 36,
            f"{say(LINES_CREDIT)}. {say(CREDIT)}" if rough else say(CREDIT),
            "p-faint p-s",
            "end",
        ),
    ]
    text = _described(every, [item for item, _ in placed], frame, clusters, say)
    return Picture("map", say("Map of the findings"), text, round(last + 12), "".join(body))


def _clipped(inside: Iterable[str]) -> str:
    return element("g", {"clip-path": "url(#map-frame)"}, *inside)


def _clusters(placed: Iterable[tuple[DrawnFinding, Position]], frame: MapFrame) -> list[_Cluster]:
    """Return findings in clusters whose marks would cover each other."""
    made: list[_Cluster] = []
    for item, position in placed:
        x, y = frame.place(position)
        near = next((c for c in made if math.hypot(c.x - x, c.y - y) < TOGETHER), None)
        if near is None:
            made.append(near := _Cluster(x, y))
        near.items.append(item)
    return made


class _Room:
    """The parts of the map that are taken, so that no words cover others or a mark."""

    def __init__(self, frame: MapFrame, clusters: Iterable[_Cluster]) -> None:
        """Reserve the marks, and the latitudes at the left edge."""
        self._frame = frame
        self._taken = [(c.x - 15, c.y - 12, c.x + 15, c.y + 12) for c in clusters]
        self._taken += [
            (0.0, y - 14, 46.0, y) for _, y in (frame.at(0, lat) for lat in frame.parallels())
        ]

    def put(
        self, text: str, size: float, x: float, y: float, away: float
    ) -> tuple[float, float, str] | None:
        """Return where there is room for words beside a spot, and their anchor; None: nowhere.

        Args:
            text: The words.
            size: Their font size.
            x: The spot's x.
            y: The spot's y.
            away: Their distance from the spot.
        """
        half = text_width(text, size) / 2
        for middle, base, anchor in (
            (x + away + half, y, "start"),
            (x - away - half, y, "end"),
            (x, y - away, "middle"),
            (x, y + away, "middle"),
            (x + half, y - away, "start"),
            (x - half, y + away, "end"),
            (x + half, y + away, "start"),
            (x - half, y - away, "end"),
        ):
            own = (middle - half, base - size * 0.6, middle + half, base + size * 0.6)
            inside = (
                own[0] > 0
                and own[1] > 0
                and own[2] < self._frame.width
                and own[3] < self._frame.height
            )
            if inside and not any(_overlap(own, other) for other in self._taken):
                self._taken.append(own)
                return (
                    {"start": own[0], "end": own[2]}.get(anchor, middle),
                    base + size * 0.36,
                    anchor,
                )
        return None


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _reaches(placed: Iterable[tuple[DrawnFinding, Position]], frame: MapFrame) -> Iterator[str]:
    """Yield circles for the possible error of findings that are placed by the name of a town."""
    for position in sorted(
        {position for _, position in placed if position.within_km / frame.km > TOGETHER / 2}
    ):
        x, y = frame.place(position)
        yield element(
            "circle", {"class": "p-reach", "cx": x, "cy": y, "r": position.within_km / frame.km}
        )


def _marked(cluster: _Cluster) -> str:
    if len(cluster.items) == 1:
        return draw_mark(cluster.items[0], cluster.x, cluster.y)
    return draw_crowd(cluster.items, cluster.x, cluster.y, f"×{len(cluster.items)}")


def _numbered(clusters: Iterable[_Cluster], room: _Room) -> Iterator[str]:
    """Yield the numbers of findings that are drawn as one, beside their mark, if there is room."""
    for cluster in clusters:
        cited = [item.mark for item in cluster.items if item.number]
        if len(cluster.items) > 1 and cited:
            text = ", ".join(cited[:5]) + (" …" if len(cited) > 5 else "")
            if spot := room.put(text, 10, cluster.x, cluster.y, 17):
                yield label(*spot[:2], text, "p-halo p-s", spot[2])


def _land(frame: MapFrame) -> Iterator[str]:
    rings = (
        path(points, closed=True)
        for ring in outlines.land_rings(frame.box)
        if len(points := _thinned(ring, frame)) > 2
    )
    yield element("path", {"class": "p-land", "fill-rule": "evenodd", "d": "".join(rings)})
    ways: dict[str, list[str]] = {"coast": [], "border": []}
    for kind, line in outlines.coasts_and_borders(frame.box):
        ways[kind].append(path(_thinned(line, frame)))
    for name, held in ways.items():
        if any(held):
            yield element("path", {"class": f"p-{name}", "d": "".join(held)})


def _thinned(points: Sequence[Spot], frame: MapFrame) -> list[Spot]:
    """Return points on the paper without those too close to the last; none if one is left."""
    kept: list[Spot] = []
    for point in points:
        x, y = frame.at(*point)
        if not kept or abs(x - kept[-1][0]) + abs(y - kept[-1][1]) >= FINE:
            kept.append((x, y))
    return kept if len(kept) > 1 else []


def _graticule(frame: MapFrame) -> Iterator[str]:
    for lon in frame.meridians():
        x, _ = frame.at(lon, 0)
        yield element("path", {"class": "p-rule", "d": f"M{number(x)} 0V{number(frame.height)}"})
    for lat in frame.parallels():
        _, y = frame.at(0, lat)
        yield element("path", {"class": "p-rule", "d": f"M0 {number(y)}H{number(frame.width)}"})


def _edges(frame: MapFrame) -> Iterator[str]:
    """Yield the degrees of the graticule: longitudes below the map, latitudes at its left edge."""
    for lon in frame.meridians():
        x, _ = frame.at(lon, 0)
        if 24 < x < frame.width - 24:
            text = degrees_label(lon, "EW", frame.steps()[0])
            yield label(LEFT + x, TOP + frame.height + 14, text, "p-faint p-s", "middle")
    for lat in frame.parallels():
        _, y = frame.at(0, lat)
        if 12 < y < frame.height - 4:
            yield label(
                LEFT + 4, TOP + y - 3, degrees_label(lat, "NS", frame.steps()[1]), "p-town p-s"
            )


def _towns(frame: MapFrame, clusters: Sequence[_Cluster], room: _Room) -> Iterator[str]:
    """Yield the largest towns of the map, if there is room for their names."""
    box = frame.box
    west, east = ((lon + 180) % 360 - 180 for lon in (box.west, box.east))
    whole = box.east - box.west >= 359
    found = gazetteer.towns_within(
        box.south, -180 if whole else west, box.north, 180 if whole else east, ASKED
    )
    spots: list[Spot] = []
    named = 0
    for town in found:
        x, y = frame.place(town.position)
        inside = 0 < x < frame.width and 0 < y < frame.height
        if named == TOWNS or not inside or any(math.hypot(x - a, y - b) < APART for a, b in spots):
            continue
        spots.append((x, y))
        covered = any(math.hypot(x - c.x, y - c.y) < TOGETHER for c in clusters)
        if spot := room.put(town.name, 12, x, y, 24 if covered else 6):
            named += 1
            if not covered:
                yield element("circle", {"class": "p-faint", "cx": x, "cy": y, "r": 2})
            yield label(*spot[:2], town.name, "p-town", spot[2])


def _nearest(frame: MapFrame, say: Words) -> Iterator[str]:
    """Yield a line that says where the map is, for a map without towns."""
    middle = Position(frame.middle, ((frame.box.west + frame.box.east) / 2 + 180) % 360 - 180)
    if found := gazetteer.nearest_town(middle):
        town, km = found
        told = say("The nearest town is {} ({}), {} km away", town.name, town.country, f"{km:.0f}")
        yield label(frame.width - 10, frame.height - 12, told, "p-town", "end")


def _bar(frame: MapFrame, y: float) -> str:
    km, length = frame.bar()
    way = f"M{number(LEFT)} {number(y - 8)}v6h{number(length)}v-6"
    told = f"{km:,g} km" + (
        f" at {degrees_label(round(frame.middle), 'NS', 1)}"
        if frame.height * frame.km > 1_000
        else ""
    )
    return element("path", {"class": "p-axis", "d": way}) + label(LEFT + length + 8, y, told)


def _described(
    every: Sequence[DrawnFinding],
    placed: Sequence[DrawnFinding],
    frame: MapFrame,
    clusters: Sequence[_Cluster],
    say: Words,
) -> str:
    box, step = frame.box, 0.05
    corners = [
        f"{degrees_label(lat, 'NS', step)}, {degrees_label(lon, 'EW', step)}"
        for lat, lon in ((box.south, box.west), (box.north, box.east))
    ]
    counted = (count_by_type(placed, say), len(every))
    one, several = "{} finding has a position", "{} findings have a position"
    parts = [say("{} ({}), of {} in all.", say.many(len(placed), one, several), *counted)]
    if named := sum(bool(item.position and item.position.within_km) for item in placed):
        one = "Of these, {} is placed by the name of a town alone."
        parts.append(say.many(named, one, "Of these, {} are placed by the name of a town alone."))
    if len(clusters) < len(placed):
        one, several = "They are drawn at {} spot.", "They are drawn at {} spots."
        parts.append(say.many(len(clusters), one, several))
    return " ".join([*parts, say("The map reaches from {} to {}.", *corners)])
