"""The SVG elements of pictures. All escaping of text and all colours (`STYLE`) are here."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from deepdiver.core.shown_text import defuse, one_line

WIDTH = 800
"""Width of every picture, in its own units; a page may show it larger or smaller."""
LETTER = 0.55
"""Width of a letter as a part of the font size: slightly more than the average of generic
sans-serif fonts."""

Attributes = Mapping[str, str | float]
"""Attributes of an element."""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "faint": "#5c6570",
    "rule": "#d5dae0",
    "band": "#f4f6f8",
    "sea": "#e4eef6",
    "land": "#f6f3ea",
    "coast": "#8a97a5",
    "join": "#6a4c93",
    "for": "#1f7a4d",
    "against": "#b3261e",
    "neither": "#6b7480",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e7ebef",
    "faint": "#a3adb8",
    "rule": "#343c46",
    "band": "#1b2026",
    "sea": "#16222d",
    "land": "#262b2c",
    "coast": "#6d7a88",
    "join": "#b79ae0",
    "for": "#58b98a",
    "against": "#ef8078",
    "neither": "#98a2ad",
}
MARKS = {
    "news": ("#0b62a4", "#6bb2ec"),
    "satellite": ("#b84a00", "#f5935a"),
    "connectivity": ("#00735a", "#43bf9f"),
    "cyber": ("#6f3a9c", "#b98fe3"),
    "sanctions": ("#8a5a00", "#d3a94a"),
    "event": ("#b01e6a", "#ee7fb4"),
    "document": ("#44505c", "#a9b4c0"),
    "page": ("#34708a", "#7fbdd6"),
    "tool": ("#5d6b2f", "#b0c06f"),
    "feed": ("#5b5b5b", "#bdbdbd"),
}
"""Colour of each type of source on light and on dark paper; a white or black number is readable on
it."""


def _rules(colours: Mapping[str, str], marks: Mapping[str, str], on_mark: str) -> str:
    drawn = {
        ".p-paper": f"fill:{colours['paper']}",
        ".p-ink": f"fill:{colours['ink']}",
        ".p-faint": f"fill:{colours['faint']}",
        ".p-band": f"fill:{colours['band']}",
        ".p-sea": f"fill:{colours['sea']}",
        ".p-land": f"fill:{colours['land']}",
        ".p-rule": f"fill:none;stroke:{colours['rule']}",
        ".p-axis": f"fill:none;stroke:{colours['faint']}",
        ".p-coast": f"fill:none;stroke:{colours['coast']}",
        ".p-border": f"fill:none;stroke:{colours['coast']};stroke-dasharray:4 3",
        ".p-join": f"fill:none;stroke:{colours['join']};stroke-width:1.6",
        ".p-joined": f"fill:{colours['join']}",
        ".p-halo": f"fill:{colours['ink']};stroke:{colours['paper']};stroke-width:3;"
        "paint-order:stroke",
        ".p-town": f"fill:{colours['faint']};stroke:{colours['paper']};stroke-width:2.5;"
        "paint-order:stroke",
        ".p-reach": f"fill:{colours['join']};fill-opacity:.12;stroke:{colours['join']};"
        "stroke-opacity:.5",
        ".p-on": f"fill:{on_mark}",
        ".p-many": f"fill:{colours['ink']}",
        ".p-onmany": f"fill:{colours['paper']}",
        ".p-edge": f"stroke:{colours['paper']};stroke-width:1.5",
        **{f".p-{name}": f"fill:{colours[name]}" for name in ("for", "against")},
        ".p-neither": f"fill:none;stroke:{colours['neither']};stroke-width:1.5",
        **{f".p-{name}": f"fill:{colour}" for name, colour in marks.items()},
        **{
            f".p-{name}.p-line": f"fill:none;stroke:{colour};stroke-width:2.2"
            for name, colour in marks.items()
        },
        ".p-against.p-line": f"fill:none;stroke:{colours['against']};stroke-width:2",
        ".p-neither.p-line": f"fill:none;stroke:{colours['neither']};stroke-width:2",
    }
    return "".join(f"{name}{{{rule}}}" for name, rule in drawn.items())


STYLE = (
    ".p{font-family:system-ui,sans-serif;font-size:12px}.p-b{font-weight:700}.p-s{font-size:10px}.p-xs{font-size:8px}"
    ".p-struck{text-decoration:line-through}"
    ".p-geospatial{stroke-dasharray:2 4}.p-causal{stroke-dasharray:9 "
    "3}.p-pattern{stroke-dasharray:9 3 2 3}"
    + _rules(LIGHT, {name: light for name, (light, _) in MARKS.items()}, "#ffffff")
    + "@media screen and (prefers-color-scheme:dark){"
    + _rules(DARK, {name: dark for name, (_, dark) in MARKS.items()}, "#000000")
    + "}"
)
"""The style of every picture. Print uses the light colours."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture."""

    name: str
    """Name of its file, without ending."""
    title: str
    """Its title, in a few words."""
    text: str
    """A description in a sentence or two, for people who cannot see it."""
    height: int
    """Its height in units, of which it is WIDTH wide."""
    body: str
    """The drawing as SVG, without the outer element."""

    def inline(self) -> str:
        """Return the picture as an element for a page that has STYLE."""
        return self._framed("")

    def file(self, page: str) -> str:
        """Return the picture as a file of its own, whose numbers link to a page beside it."""
        drawn = self._framed(element("style", {}, STYLE)).replace('href="#c', f'href="{page}#c')
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + drawn + "\n"

    def _framed(self, style: str) -> str:
        ids = [f"{self.name}-title", f"{self.name}-text"]
        return element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "p",
                "viewBox": f"0 0 {WIDTH} {self.height}",
                "width": WIDTH,
                "height": self.height,
                # A group, not an image: its marks are links, which an image would hide.
                "role": "group",
                "aria-labelledby": ids[0],
                "aria-describedby": ids[1],
            },
            element("title", {"id": ids[0]}, escape_said(self.title)),
            element("desc", {"id": ids[1]}, escape_said(self.text)),
            style,
            element("rect", {"class": "p-paper", "width": WIDTH, "height": self.height}),
            self.body,
        )


def escape_text(text: str, most: int = 0) -> str:
    """Return markup that shows a text, and does nothing else."""
    return escape(one_line(text, most), quote=True)


def escape_said(text: str, most: int = 0) -> str:
    """Return markup that shows what a model said, with its addresses defused."""
    return escape(defuse(one_line(text, most)), quote=True)


def element(name: str, attributes: Attributes, *children: str) -> str:
    """Return an element; its attributes are escaped, and its children are markup already."""
    held = "".join(
        f' {key}="{escape_text(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
    inside = "".join(children)
    return f"<{name}{held}>{inside}</{name}>" if inside else f"<{name}{held}/>"


def number(value: float) -> str:
    """Return a number to a tenth, written as short as possible."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def label(
    x: float, y: float, text: str, kind: str = "p-ink", anchor: str = "start", most: int = 0
) -> str:
    """Return a text element.

    Args:
        x: Where the text is anchored.
        y: Its base line.
        text: The text.
        kind: Classes of STYLE.
        anchor: start, middle or end.
        most: The most characters; 0: all of them.
    """
    return element(
        "text", {"class": kind, "x": x, "y": y, "text-anchor": anchor}, escape_said(text, most)
    )


def group(children: Iterable[str], says: str = "", link: str = "") -> str:
    """Return a group of elements, with a tooltip and a link if they are given."""
    inside = (element("title", {}, escape_said(says)) if says else "") + "".join(children)
    return element("a", {"href": link}, inside) if link else element("g", {}, inside)


def path(points: Iterable[tuple[float, float]], closed: bool = False) -> str:
    """Return the `d` of a path along points."""
    way = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f"M{way}{'Z' if closed else ''}" if way else ""


def wrap_text(text: str, letters: int, lines: int) -> list[str]:
    """Return a text in lines of so many letters; an ellipsis marks what does not fit."""
    line = defuse(one_line(text))
    fitting = round(letters * len(line) / max(_letters(line), 1))
    return textwrap.wrap(
        line, max(fitting, 8), max_lines=lines, placeholder=" …", break_long_words=True
    )


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text."""
    return _letters(text) * size * LETTER


def _letters(text: str) -> float:
    """Return the number of letters; a Chinese, Japanese or Korean one counts as 1.8."""
    return sum(1.8 if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in text)
