"""Findings by time, a lane for each type of source, with lines between those that go together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from deepdiver.core.record import Correlation, CorrelationKind
from deepdiver.core.time_and_place import DAY, Moment
from deepdiver.report.figures.findings import TYPES, DrawnFinding, count_by_type, moment_in_words
from deepdiver.report.figures.marks import RADIUS, SMALL, draw_crowd, draw_mark, draw_shape
from deepdiver.report.figures.svg import (
    WIDTH,
    Attributes,
    Picture,
    element,
    group,
    label,
    number,
    text_width,
)
from deepdiver.report.figures.time_axis import FIRST, LAST, Tick, ticks_between
from deepdiver.report.words import ENGLISH, Words

LEFT, RIGHT, TOP = 128, 26, 14
"""Room beside the lanes, for their names and half a mark, and above them."""
ROW, PAD = 23, 6
"""Height of a row of marks; room above and below the rows of a lane."""
ROWS = 5
"""Most rows of a lane; one more row counts the findings that do not fit."""
GAP = 22.0
"""Least distance of two marks in a row."""
BIN = 34.0
"""Width within which findings that do not fit are counted together."""
MOSTLY = 0.8
"""Share of the findings that the axis must show."""
CROWDED = 8
"""The axis leaves out the others if it would press these into less than one part in so many."""
BEND = {
    CorrelationKind.TEMPORAL: 0.0,
    CorrelationKind.GEOSPATIAL: 14.0,
    CorrelationKind.CAUSAL: -14.0,
    CorrelationKind.PATTERN: 26.0,
}
"""How far the lines of each kind are bent, so that two lines between the same findings differ."""
KINDS = {
    CorrelationKind.TEMPORAL: "close in time",
    CorrelationKind.GEOSPATIAL: "close in space",
    CorrelationKind.CAUSAL: "may be cause and effect",
    CorrelationKind.PATTERN: "same pattern",
}
"""What a line between findings says."""
Dated = tuple[DrawnFinding, Moment]


@dataclass(slots=True)
class _Lane:
    """The findings of one type, set into rows."""

    name: str
    rows: int = 1
    single: list[tuple[DrawnFinding, Moment, int]] = field(default_factory=list)
    """The findings that are drawn, with their moments and rows."""
    crowds: list[tuple[float, list[DrawnFinding]]] = field(default_factory=list)
    """The findings that are only counted, with their x."""

    @property
    def height(self) -> float:
        return 2 * PAD + ROW * (self.rows + bool(self.crowds))


@dataclass(frozen=True, slots=True)
class _Axis:
    """Converts minutes to places on the paper."""

    start: int
    end: int

    def x(self, minute: float) -> float:
        return LEFT + (minute - self.start) / (self.end - self.start) * (WIDTH - LEFT - RIGHT)

    def middle(self, moment: Moment) -> float:
        return (self.x(moment.start) + self.x(moment.end)) / 2


def draw_timeline(
    items: Iterable[DrawnFinding],
    correlations: Iterable[Correlation],
    say: Words = ENGLISH,
) -> Picture | None:
    """Draw the findings that have a time; None if none has.

    Args:
        items: All findings.
        correlations: The correlations between them.
        say: The words of the report's language.
    """
    dated: list[Dated] = [(item, item.moment) for item in items if item.moment]
    if not dated:
        return None
    dated.sort(key=lambda pair: (pair[1], pair[0].finding))
    inside, before, after = _window(dated)
    axis = _axis(inside)
    lanes = [
        _lane(name, held, axis)
        for name in TYPES
        if (held := [pair for pair in inside if pair[0].type == name])
    ]
    bottom = TOP + sum(lane.height for lane in lanes)
    spots: dict[str, tuple[float, float]] = {}
    drawn = [_lane_drawn(lane, top, axis, spots) for lane, top in _tops(lanes)]
    joins = [join for item in correlations if (join := _joined(item, spots, say))]
    kinds = {
        item.kind
        for item in correlations
        if len([key for key in item.findings if key in spots]) > 1
    }
    foot = _footed(before, after, bottom + 40, say)
    body = [
        *_bands(lanes, say),
        _axis_drawn(axis, bottom, say),
        *joins,
        *drawn,
        foot,
        _key(kinds, bottom + 62, say),
    ]
    return Picture(
        name="timeline",
        title=say("Timeline of the findings"),
        text=_described(dated, before, after, len(joins), say),
        height=round(bottom + 74),
        body="".join(body),
    )


def _window(dated: Sequence[Dated]) -> tuple[list[Dated], list[Dated], list[Dated]]:
    """Return the findings on the axis, those before it, and those after it.

    Otherwise a report about this week that also says when a town was founded would show the week as
    a single stroke.
    """
    least = max(1, -(-round(len(dated) * MOSTLY * 100) // 100))
    spans = [
        (max(moment.end for _, moment in dated[n : n + least]) - dated[n][1].start, n)
        for n in range(len(dated) - least + 1)
    ]
    narrow, first = min(spans)
    full = max(moment.end for _, moment in dated) - dated[0][1].start
    if len(dated) < 3 or max(narrow, DAY) * CROWDED >= full:
        return list(dated), [], []
    low, high = dated[first][1].start - narrow, dated[first][1].start + 2 * narrow
    kept = [pair for pair in dated if low <= pair[1].start and pair[1].end <= max(high, low + DAY)]
    return (
        kept,
        [pair for pair in dated if pair not in kept and pair[1].start < kept[0][1].start],
        [pair for pair in dated if pair not in kept and pair[1].start >= kept[0][1].start],
    )


def _axis(dated: Sequence[Dated]) -> _Axis:
    start, end = dated[0][1].start, max(moment.end for _, moment in dated)
    room = max((end - start) // 25, 1) if end > start else 30
    return _Axis(max(start - room, FIRST), min(end + room, LAST))


def _lane(name: str, dated: Sequence[Dated], axis: _Axis) -> _Lane:
    """Return a lane with each finding in the first row that has room; the others are counted."""
    ends: list[float] = []
    lane, left = _Lane(name), list[Dated]()
    for item, moment in dated:
        half = max((axis.x(moment.end) - axis.x(moment.start)) / 2, GAP / 2)
        low, high = axis.middle(moment) - half, axis.middle(moment) + half
        row = next((n for n, end in enumerate(ends) if end <= low), len(ends))
        if row >= ROWS:
            left.append((item, moment))
            continue
        ends[row : row + 1] = [high]
        lane.single.append((item, moment, row))
    lane.rows = len(ends)
    bins: dict[int, list[DrawnFinding]] = {}
    for item, moment in left:
        bins.setdefault(int(axis.middle(moment) // BIN), []).append(item)
    lane.crowds = [((n + 0.5) * BIN, held) for n, held in sorted(bins.items())]
    return lane


def _tops(lanes: Sequence[_Lane]) -> Iterator[tuple[_Lane, float]]:
    top = float(TOP)
    for lane in lanes:
        yield lane, top
        top += lane.height


def _bands(lanes: Sequence[_Lane], say: Words) -> Iterator[str]:
    for number_, (lane, top) in enumerate(_tops(lanes)):
        if number_ % 2 == 0:
            yield element(
                "rect", {"class": "p-band", "x": 0, "y": top, "width": WIDTH, "height": lane.height}
            )
        held = len(lane.single) + sum(len(crowd) for _, crowd in lane.crowds)
        middle = top + lane.height / 2
        yield draw_shape(lane.name, 18, middle, SMALL) + label(
            32, middle + 4, f"{say(lane.name)} {held}", "p-ink"
        )


def _lane_drawn(lane: _Lane, top: float, axis: _Axis, spots: dict[str, tuple[float, float]]) -> str:
    """Return the marks of a lane, and enter the place of each finding in `spots`."""
    drawn = []
    for item, moment, row in lane.single:
        x, y = axis.middle(moment), top + PAD + ROW * (row + 0.5)
        spots[item.finding] = (x, y)
        drawn.append(_bar(item, moment, axis, y) + draw_mark(item, x, y))
    y = top + PAD + ROW * (lane.rows + 0.5)
    for x, held in lane.crowds:
        x = min(max(x, LEFT), WIDTH - RIGHT)
        spots.update(dict.fromkeys((item.finding for item in held), (x, y)))
        drawn.append(draw_crowd(held, x, y, f"+{len(held)}"))
    return "".join(drawn)


def _bar(item: DrawnFinding, moment: Moment, axis: _Axis, y: float) -> str:
    """Return a bar for a moment that lasts, such as a day without a known hour."""
    left, right = axis.x(moment.start), axis.x(moment.end)
    if right - left < 2 * RADIUS:
        return ""
    held: Attributes = {
        "class": f"p-{item.type}",
        "x": left,
        "y": y - 4,
        "width": right - left,
        "height": 8,
        "rx": 4,
    }
    return element("rect", {**held, "opacity": 0.4})


def _axis_drawn(axis: _Axis, bottom: float, say: Words) -> str:
    drawn = [element("path", {"class": "p-axis", "d": f"M{LEFT} {number(bottom)}H{WIDTH - RIGHT}"})]
    marks: list[Tick] = [
        tick for tick in ticks_between(axis.start, axis.end) if axis.start <= tick.at <= axis.end
    ]
    for tick in marks:
        x = axis.x(tick.at)
        drawn += [
            element("path", {"class": "p-rule", "d": f"M{number(x)} {TOP}V{number(bottom + 4)}"}),
            label(x, bottom + 16, tick.text, "p-ink", "middle"),
            label(x, bottom + 29, tick.below, "p-faint p-s", "middle") if tick.below else "",
        ]
    return "".join(drawn) + label(18, bottom + 16, say("Times in UTC"), "p-faint")


def _joined(item: Correlation, spots: Mapping[str, tuple[float, float]], say: Words) -> str:
    """Return the line through the findings of a correlation, in order of time."""
    points = sorted({spots[key] for key in item.findings if key in spots})
    if len(points) < 2:
        return ""
    bend, way = BEND[item.kind], f"M{number(points[0][0])} {number(points[0][1])}"
    for (x1, y1), (x2, y2) in pairwise(points):
        way += (
            f"Q{number((x1 + x2) / 2 + bend)} {number((y1 + y2) / 2 - abs(bend) / 2)} {number(x2)} "
            f"{number(y2)}"
        )
    line = element("path", {"class": f"p-join p-{item.kind.value}", "d": way})
    told = say("{}, confidence {}", say(item.kind.value), f"{item.confidence:.2f}")
    return group([line], f"{told}: {item.description}")


def _key(kinds: Iterable[CorrelationKind], y: float, say: Words) -> str:
    """Return the key to the lines."""
    drawn, x = [], 18.0
    held = set(kinds)
    for kind, phrase in KINDS.items():
        if kind in held:
            text = say(phrase)
            line = {"class": f"p-join p-{kind.value}", "d": f"M{number(x)} {number(y - 4)}h30"}
            drawn += [element("path", line), label(x + 36, y, text, "p-faint")]
            x += 36 + text_width(text, 12) + 26
    return "".join(drawn)


def _footed(before: Sequence[Dated], after: Sequence[Dated], y: float, say: Words) -> str:
    """Return the counts of the findings before and after the axis, at its ends."""
    sides = [
        (before, say("‹ {} earlier", len(before)), LEFT, "start"),
        (after, say("{} later ›", len(after)), WIDTH - RIGHT, "end"),
    ]
    return "".join(
        group(
            [label(x, y + 4, text, "p-ink p-b p-s", anchor)],
            " | ".join(item.says for item, _ in held),
        )
        for held, text, x, anchor in sides
        if held
    )


def _described(
    dated: Sequence[Dated],
    before: Sequence[Dated],
    after: Sequence[Dated],
    joins: int,
    say: Words,
) -> str:
    first, last = dated[0][1], max((moment for _, moment in dated), key=lambda moment: moment.end)
    many = say.many(len(dated), "{} finding", "{} findings")
    types = count_by_type((item for item, _ in dated), say)
    span = (moment_in_words(first), moment_in_words(last))
    parts = [say("{} by time ({}), from {} to {}.", many, types, *span)]
    if joins:
        one, several = "{} line joins findings", "{} lines join findings"
        parts.append(say("{} that go together.", say.many(joins, one, several)))
    if outside := [
        f"[{item.mark}] {moment_in_words(moment)}"
        for item, moment in (*before, *after)
        if item.number
    ]:
        parts.append(say("Outside of the axis: {}.", say(", ").join(outside)))
    return " ".join(parts)
