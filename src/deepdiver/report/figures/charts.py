"""Charts of what a report compares: bars, lines over time, and events in the order of time.

Everything drawn is a cell of a table or a point of a list that its citation carries (`cells`), and
every value is printed with the mark of that citation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from deepdiver.core.dates import Day
from deepdiver.core.record import Report
from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.cells import (
    Cell,
    Column,
    Happening,
    Values,
    comparable_values,
    dated_rows,
)
from deepdiver.report.figures.svg import (
    WIDTH,
    Attributes,
    Picture,
    element,
    group,
    label,
    number,
    path,
    text_width,
    wrap_text,
)
from deepdiver.report.words import Words, words_of

MARGIN = 18
NAMES = 190
"""Room for the names of rows."""
BAR, GAP = 16, 12
"""Height of a bar, and what is between two rows."""
PLOT = 240
"""Height of a chart of lines."""
SERIES = ("p-news", "p-satellite", "p-connectivity", "p-cyber", "p-event", "p-document")
"""The colours of columns, which differ also for people who see few colours."""
DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "1 5")
"""The dashes of their lines, for people who see none."""


def draw_charts(report: Report) -> list[Mapping[int, Sequence[Picture]]]:
    """Draw what can be drawn of a report's tables and lists: for each section, by the block."""
    say = words_of(report)
    drawn: list[dict[int, list[Picture]]] = [{} for _ in report.sections]
    for at, section in enumerate(report.sections):
        for place, block in enumerate(section.blocks):
            found = comparable_values(report, block)
            made = [
                _draw_values(f"chart-{at + 1}-{place + 1}-{part}", values, say)
                for part, values in enumerate(found, 1)
            ]
            if not made and (happened := dated_rows(report, block)):
                made = [_draw_events(f"chart-{at + 1}-{place + 1}-1", section.heading, happened)]
            if made:
                drawn[at][place] = made
    return [*drawn]


def _draw_values(name: str, values: Values, say: Words) -> Picture:
    return (_lines if values.days else _bars)(name, _titled(values, say), values)


def _titled(values: Values, say: Words) -> str:
    names = say(", ").join(one_line(column.name, 60) for column in values.columns)
    return say("{} by {}", names, one_line(values.over, 60)) if values.over else names


def _told(values: Values) -> str:
    """Return every value in words, for people who cannot see the chart."""
    rows = []
    for place, name in enumerate(values.labels):
        cells = [column.cells[place] for column in values.columns]
        said = ", ".join(f"{cell.text} [{cell.mark}]" for cell in cells)
        rows.append(f"{one_line(name, 80)}: {said}")
    return f"{'; '.join(rows)}."


def _bars(name: str, title: str, values: Values) -> Picture:
    """Draw bars from one zero: a row for each name, with a bar for each column."""
    every = [cell.value for column in values.columns for cell in column.cells]
    low, high = min(0.0, *every), max(0.0, *every)
    left, room = MARGIN + NAMES, WIDTH - 2 * MARGIN - NAMES
    widest = max(text_width(f"{cell.text} [{cell.mark}]", 12) for cell in _cells(values)) + 10
    unit = (room - widest * (2 if low < 0 else 1)) / ((high - low) or 1.0)
    zero = left + (widest if low < 0 else 0) - low * unit
    key, y = _key(values.columns, MARGIN + 4.0)
    parts = [key]
    for place, text in enumerate(values.labels):
        tall = BAR * len(values.columns)
        lines = wrap_text(text, 28, 2)
        top = y + tall / 2 + 4 - 7 * (len(lines) - 1)
        parts += [
            label(left - 10, top + 14 * n, line, "p-ink", "end") for n, line in enumerate(lines)
        ]
        for nth, column in enumerate(values.columns):
            parts.append(_bar(column, place, zero, y + BAR * nth, unit, SERIES[nth % len(SERIES)]))
        y += max(tall, 14 * len(lines)) + GAP
    axis = f"M{number(zero)} {number(MARGIN + 0.0)}V{number(y - 4)}"
    parts.append(element("path", {"class": "p-axis", "d": axis}))
    return Picture(name, title, _told(values), math.ceil(y + 6), "".join(parts))


def _cells(values: Values) -> list[Cell]:
    return [cell for column in values.columns for cell in column.cells]


def _bar(column: Column, place: int, zero: float, y: float, unit: float, look: str) -> str:
    cell = column.cells[place]
    long = abs(cell.value) * unit
    start = zero if cell.value >= 0 else zero - long
    shown: Attributes = {"class": look, "x": start, "y": y + 1, "width": long, "height": BAR - 2}
    right = cell.value >= 0
    return "".join(
        [
            element("rect", shown),
            _value(
                cell,
                start + long + 6 if right else start - 6,
                y + BAR - 4,
                "start" if right else "end",
            ),
        ]
    )


def _value(cell: Cell, x: float, y: float, anchor: str, look: str = "p-ink") -> str:
    """Return what a cell says, with the mark of its citation, which leads there."""
    shown = label(x, y, f"{cell.text} [{cell.mark}]", look, anchor)
    return group([shown], link=f"#c{cell.number}")


def _key(columns: Sequence[Column], y: float) -> tuple[str, float]:
    """Return what the colours mean, and the y at which the chart begins; one needs no key."""
    if len(columns) == 1:
        return "", y
    parts, x = [], float(MARGIN)
    for nth, column in enumerate(columns):
        name = one_line(column.name, 40)
        wide = 18 + text_width(name, 12) + 18
        if x + wide > WIDTH - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + 18
        look = SERIES[nth % len(SERIES)]
        parts.append(
            element("rect", {"class": look, "x": x, "y": y, "width": 11, "height": 11, "rx": 2})
        )
        parts.append(label(x + 17, y + 10, name, "p-ink"))
        x += wide
    return "".join(parts), y + 28


def _lines(name: str, title: str, values: Values) -> Picture:
    """Draw a line for each column over the dates of the rows."""
    every = [cell.value for cell in _cells(values)]
    steps = nice_steps(min(0.0, *every), max(0.0, *every))
    low, high = steps[0], steps[-1]
    key, top = _key(values.columns, MARGIN + 4.0)
    top += 8
    left, right = MARGIN + 64.0, WIDTH - MARGIN - 70.0
    spots = [ordinal(day) for day in values.days]
    span = (spots[-1] - spots[0]) or 1
    xs = [left + (right - left) * (spot - spots[0]) / span for spot in spots]

    def height(value: float) -> float:
        return top + PLOT * (high - value) / (high - low)

    parts = [key]
    for step in steps:
        y = height(step)
        look = "p-axis" if step == 0 else "p-rule"
        parts.append(
            element("path", {"class": look, "d": f"M{number(left)} {number(y)}H{number(right)}"})
        )
        parts.append(label(left - 8, y + 4, f"{step:,.10g}", "p-faint", "end"))
    for nth, column in enumerate(values.columns):
        parts.append(_line(column, nth, [*zip(xs, values.labels, strict=True)], height))
    shown = -math.inf
    for x, text in zip(xs, values.labels, strict=True):
        if x - shown >= text_width(text, 12) + 10:
            parts.append(label(x, top + PLOT + 18, text, "p-faint", "middle"))
            shown = x
    return Picture(name, title, _told(values), math.ceil(top + PLOT + 30), "".join(parts))


def _line(
    column: Column,
    nth: int,
    spots: Sequence[tuple[float, str]],
    height: Callable[[float], float],
) -> str:
    """Return a line with its points; each leads to its citation, the first and last are told."""
    look = SERIES[nth % len(SERIES)]
    points = [(x, height(cell.value)) for (x, _), cell in zip(spots, column.cells, strict=True)]
    way = {"class": f"{look} p-line", "d": path(points), "stroke-dasharray": DASHES[nth % 6]}
    parts = [element("path", {key: value for key, value in way.items() if value})]
    last, few = len(points) - 1, len(points) <= 8
    for place, ((x, y), cell) in enumerate(zip(points, column.cells, strict=True)):
        dot = element("circle", {"class": f"{look} p-edge", "cx": x, "cy": y, "r": 4.5})
        says = f"{spots[place][1]}: {cell.text} [{cell.mark}]"
        parts.append(group([dot], says, f"#c{cell.number}"))
        if few or place in (0, last):
            parts.append(_value(cell, *_beside(points, place, nth), "p-halo"))
    return "".join(parts)


def _beside(
    points: Sequence[tuple[float, float]], place: int, nth: int
) -> tuple[float, float, str]:
    """Return where the value of a point stands, and its anchor: where its line does not go.

    That is above a peak, below a trough, and to the right of the last point. On a slope, and where
    a line is level, the values of every other line stand below it.
    """
    x, y = points[place]
    if place == len(points) - 1:
        return x + 9, y + 4, "start"
    around = [points[at][1] - y for at in (place - 1, place + 1) if at >= 0]
    above = all(step >= 0 for step in around)  # y grows downwards
    if above == all(step <= 0 for step in around):
        above = nth % 2 == 0
    beside = y - 9 if above else y + 18
    return (x, beside, "middle") if place else (x + 4, beside, "start")


def nice_steps(low: float, high: float) -> list[float]:
    """Return five to nine round values from at most `low` to at least `high`."""
    span = (high - low) or 1.0
    size = 10.0 ** math.floor(math.log10(span / 5))
    step = next(size * part for part in (1, 2, 5, 10) if span / (size * part) <= 7)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * at for at in range(first, max(last, first + 1) + 1)]


def ordinal(day: Day) -> int:
    """Return the day of a date; of a month or year the first."""
    months = min(max(day.month, 1), 12)
    return date(max(day.year, 1), months, 1).toordinal() + max(day.day, 1) - 1


def _draw_events(name: str, heading: str, happened: Sequence[Happening]) -> Picture:
    """Draw events along an axis of time; a text too near to the one above it moves down."""
    top, row = MARGIN + 10.0, 34.0
    spots = [ordinal(item.day) for item in happened]
    span = (spots[-1] - spots[0]) or 1
    tall = row * (len(happened) - 1) * 1.25
    axis, parts, before = MARGIN + 96.0, [], -math.inf
    for item, spot in zip(happened, spots, strict=True):
        at = top + tall * (spot - spots[0]) / span
        y = max(at, before + row)
        joined = path([(axis, at), (axis + 16, y), (axis + 26, y)])
        lines = wrap_text(item.text, 84, 2)
        parts.append(element("path", {"class": "p-axis", "d": joined}))
        parts.append(element("circle", {"class": "p-news p-edge", "cx": axis, "cy": at, "r": 5.5}))
        parts.append(label(axis + 32, y + 4, item.day.iso(), "p-ink p-b"))
        parts += [label(axis + 116, y + 4 + 14 * n, line, "p-ink") for n, line in enumerate(lines)]
        mark = label(MARGIN + 60, y + 4, f"[{item.mark}]", "p-ink", "end")
        parts.append(group([mark], link=f"#c{item.number}"))
        before = y
    end = max(top + tall, before)
    way = {"class": "p-axis", "d": f"M{number(axis)} {number(top)}V{number(top + tall)}"}
    told = "; ".join(f"{item.day.iso()}: {item.text} [{item.mark}]" for item in happened)
    return Picture(
        name,
        one_line(heading, 80),
        f"{told}.",
        math.ceil(end + 34),
        element("path", way) + "".join(parts),
    )
