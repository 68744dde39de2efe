"""The marks of findings. Each type of source has both a colour and a shape of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from deepdiver.report.figures.findings import TYPES, DrawnFinding
from deepdiver.report.figures.svg import WIDTH, Attributes, element, group, label, path, text_width
from deepdiver.report.words import ENGLISH, Words

RADIUS, SMALL = 9.0, 6.0
"""Radius of the mark of a cited finding, with its number in it, and of one that is not cited."""
_CORNERS = {
    "satellite": (4, 45.0, 1.2),
    "connectivity": (3, 0.0, 1.6),
    "cyber": (4, 0.0, 1.3),
    "sanctions": (3, 180.0, 1.6),
    "event": (6, 0.0, 1.15),
    "page": (5, 0.0, 1.2),
    "tool": (8, 22.5, 1.1),
    "feed": (6, 30.0, 1.15),
}
"""Number of corners of each shape, its rotation in degrees, and how much larger than a circle it
must be to fit a number. News is a circle, a document a sheet."""
_DROPS = {"connectivity": 6.6, "sanctions": 0.8}
"""How far below the middle of a mark its number is: in a triangle, where it is wide."""


def draw_shape(kind: str, x: float, y: float, radius: float) -> str:
    """Return the shape for a type of source."""
    look = {"class": f"p-{kind} p-edge"}
    if kind in _CORNERS:
        corners, turn, size = _CORNERS[kind]
        angles = [math.radians(turn + 360 * n / corners) for n in range(corners)]
        points = [
            (x + radius * size * math.sin(a), y - radius * size * math.cos(a)) for a in angles
        ]
        return element("path", {**look, "d": path(points, closed=True)})
    if kind == "document":
        sheet = {
            "x": x - radius * 0.9,
            "y": y - radius * 1.1,
            "width": radius * 1.8,
            "height": radius * 2.2,
            "rx": 2,
        }
        return element("rect", {**look, **sheet})
    return element("circle", {**look, "cx": x, "cy": y, "r": radius})


def draw_mark(item: DrawnFinding, x: float, y: float) -> str:
    """Return the mark of one finding; a cited one has its number, and a link into the page."""
    radius = RADIUS if item.number else SMALL
    drawn = [draw_shape(item.type, x, y, radius)]
    if item.number:
        drop = _DROPS.get(item.type, 3.6)
        size = "p-xs" if len(item.mark) > 2 else "p-s"
        drawn.append(label(x, y + drop, item.mark, f"p-on p-b {size}", "middle"))
    return group(drawn, item.says, f"#c{item.number}" if item.number else "")


def draw_crowd(items: Sequence[DrawnFinding], x: float, y: float, text: str) -> str:
    """Return one mark for several findings, in the colour of their type if they share one."""
    kinds = {item.type for item in items}
    look, on = (
        (f"p-{kinds.pop()} p-edge", "p-on") if len(kinds) == 1 else ("p-many p-edge", "p-onmany")
    )
    half = max(text_width(text, 10) / 2 + 5, 11.0)
    pill: Attributes = {
        "class": look,
        "x": x - half,
        "y": y - 9,
        "width": 2 * half,
        "height": 18,
        "rx": 9,
    }
    says = f"{len(items)} findings: " + " | ".join(item.says for item in items)
    return group([element("rect", pill), label(x, y + 3.6, text, f"{on} p-s p-b", "middle")], says)


def draw_legend(
    items: Iterable[DrawnFinding], left: float, y: float, say: Words = ENGLISH
) -> tuple[str, float]:
    """Return the legend, with the shape and number of findings of each type, and its base line."""
    held = [item.type for item in items]
    drawn, x = [], left
    for name in (name for name in TYPES if name in held):
        text = f"{say(name)} {held.count(name)}"
        if x + 17 + text_width(text, 12) > WIDTH - left:
            x, y = left, y + 20
        drawn += [draw_shape(name, x + 6, y - 4, SMALL), label(x + 17, y, text)]
        x += 17 + text_width(text, 12) + 18
    return "".join(drawn), y
