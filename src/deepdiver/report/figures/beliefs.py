"""How belief in the hypotheses moved from round to round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deepdiver.core import belief
from deepdiver.core.record import Assessment, Report
from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.charts import DASHES, SERIES
from deepdiver.report.figures.svg import (
    WIDTH,
    Picture,
    element,
    group,
    label,
    number,
    path,
    wrap_text,
)
from deepdiver.report.history import History
from deepdiver.report.words import Words, words_of

MARGIN, LEFT, RIGHT = 18, 92.0, 48.0
PLOT = 200
"""Height of the plot."""
LINE = 16
"""Height of a line of text, and the least distance of two names beside their lines."""
BOUNDS = ((belief.SUPPORTED_AT, "supported"), (belief.REFUTED_AT, "refuted"))
Points = Sequence[tuple[int, float]]


def draw_beliefs(report: Report, history: History) -> Picture | None:
    """Draw the belief in each hypothesis after each round; None if it never moved.

    The last point of a line is where the report says that the hypothesis stands.
    """
    say = words_of(report)
    lines = [_points(item, history) for item in report.hypotheses]
    last = max((points[-1][0] for points in lines if points), default=0)
    if last < 1:
        return None
    top = MARGIN + 8.0
    left, right = MARGIN + LEFT, WIDTH - MARGIN - RIGHT

    def spot(at: int, held: float) -> tuple[float, float]:
        return left + (right - left) * at / last, top + PLOT * (1 - held)

    parts = [*_frame(top, left, right, say), *_rounds(last, spot, say)]
    for nth, points in enumerate(lines):
        parts += _line(nth, [spot(*point) for point in points], points, say)
    parts += _names(lines, [spot(*points[-1])[1] if points else 0.0 for points in lines], right)
    listed, y = _listed(report.hypotheses, top + PLOT + 46)
    return Picture(
        "beliefs",
        say("Belief in the hypotheses, round by round"),
        _told(lines, say),
        round(y),
        "".join([*parts, listed]),
    )


def _points(item: Assessment, history: History) -> Points:
    """Return the rounds of a hypothesis; the last belief is that of the report."""
    own = [one for one in history.beliefs if one.hypothesis == item.hypothesis.id]
    points = sorted((one.round, one.belief) for one in own)
    return [*points[:-1], (points[-1][0], item.posterior)] if points else []


def _frame(top: float, left: float, right: float, say: Words) -> list[str]:
    """Return the axis of belief, and the bounds at which a hypothesis stands or falls."""
    parts = []
    for held in (0.0, 0.5, 1.0):
        y = top + PLOT * (1 - held)
        rule = {"class": "p-rule", "d": f"M{number(left)} {number(y)}H{number(right)}"}
        parts += [
            element("path", rule),
            label(left - 8, y + 4, f"{held:.1f}", "p-faint", "end"),
        ]
    for held, name in BOUNDS:
        y = top + PLOT * (1 - held)
        way = {"class": "p-axis", "d": f"M{number(left)} {number(y)}H{number(right)}"}
        parts += [
            element("path", {**way, "stroke-dasharray": "2 4"}),
            label(left - 8, y + 4, f"{say(name)} {held:.1f}", "p-faint", "end"),
        ]
    return parts


def _rounds(last: int, spot: Callable[[int, float], tuple[float, float]], say: Words) -> list[str]:
    names = (say("before") if at == 0 else say("round {}", at) for at in range(last + 1))
    return [
        label(spot(at, 0)[0], spot(at, 0)[1] + 18, name, "p-faint", "middle")
        for at, name in enumerate(names)
        if at in (0, last) or last <= 10
    ]


def _line(nth: int, spots: Sequence[tuple[float, float]], points: Points, say: Words) -> list[str]:
    look = SERIES[nth % len(SERIES)]
    way = {"class": f"{look} p-line", "d": path(spots)}
    dashes = {"stroke-dasharray": DASHES[nth % 6]} if DASHES[nth % 6] else {}
    dots = (
        group(
            [element("circle", {"class": f"{look} p-edge", "cx": x, "cy": y, "r": 4.5})],
            f"H{nth + 1}, {say('before any test') if at == 0 else say('round {}', at)}: {held:.2f}",
        )
        for (x, y), (at, held) in zip(spots, points, strict=True)
    )
    return [element("path", way | dashes), *dots]


def _names(lines: Sequence[Points], heights: Sequence[float], x: float) -> list[str]:
    """Return the names of the lines beside their ends, moved apart."""
    parts, before = [], -1e9
    for nth in sorted(range(len(lines)), key=lambda nth: (heights[nth], nth)):
        if lines[nth]:
            before = max(heights[nth] + 4, before + LINE)
            parts.append(label(x + 12, before, f"H{nth + 1}", "p-ink p-b"))
    return parts


def _listed(rows: Sequence[Assessment], y: float) -> tuple[str, float]:
    parts = []
    for place, item in enumerate(rows, 1):
        parts.append(label(MARGIN, y, f"H{place}", "p-ink p-b"))
        for line in wrap_text(one_line(item.hypothesis.statement), 104, 2):
            parts.append(label(MARGIN + 44, y, line, "p-ink"))
            y += LINE
        y += 4
    return "".join(parts), y + 4


def _told(lines: Sequence[Points], say: Words) -> str:
    told = []
    for place, points in enumerate(lines, 1):
        if points:
            moved = say(", ").join(
                f"{held:.2f} {say('before any test') if at == 0 else say('after round {}', at)}"
                for at, held in points
            )
            told.append(f"H{place}: {moved}")
    return say("{}.", say("; ").join(told))
