"""Who contradicts whom: the sources whose findings the record sets against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Contradiction, Finding, Report, Source
from deepdiver.core.shown_text import one_line
from deepdiver.report.figures.findings import citation_labels, citation_numbers
from deepdiver.report.figures.svg import (
    Picture,
    element,
    group,
    label,
    number,
    text_width,
    wrap_text,
)
from deepdiver.report.words import Words, words_of

MARGIN, ROW, LANE = 18, 40.0, 16.0
"""The edge, the height of a source, and the distance of two lines side by side."""
MOST_LANES = 10
"""The most lines side by side; more share the last."""
LOOKS = {"contradicts": "p-against p-line", "qualifies": "p-neither p-line"}


@dataclass(frozen=True, slots=True)
class _Side:
    """A source of findings that are contradicted."""

    title: str
    number: int
    mark: str
    says: str


def draw_conflicts(report: Report, ledger: Ledger) -> Picture | None:
    """Draw lines between the sources that contradict or qualify each other; None without any."""
    say = words_of(report)
    held = sorted(ledger.of(Contradiction).values(), key=lambda item: item.id)
    sides: dict[str, _Side] = {}
    pairs: list[tuple[list[str], Contradiction]] = []
    for item in held:
        keys = _sources(item, report, ledger, sides)
        if len(keys) > 1:
            pairs.append((keys, item))
    if not pairs:
        return None
    met = {key for keys, _ in pairs for key in keys}
    order = sorted(met, key=lambda key: (not sides[key].number, sides[key].number, key))
    height = {key: MARGIN + 16 + ROW * place for place, key in enumerate(order)}
    lanes = min(len(pairs), MOST_LANES)
    left = MARGIN + LANE * lanes + 14
    parts = [
        _joined([height[key] for key in keys], left, min(lane, MOST_LANES - 1), item, say)
        for lane, (keys, item) in enumerate(pairs)
    ]
    parts += [_side(sides[key], left + 8, height[key]) for key in order]
    bottom = MARGIN + 16 + ROW * len(order)
    return Picture(
        "conflicts",
        say("Who contradicts whom"),
        _told(pairs, sides, say),
        round(bottom + 24),
        "".join([*parts, _key(bottom + 4, say)]),
    )


def _sources(
    item: Contradiction, report: Report, ledger: Ledger, sides: dict[str, _Side]
) -> list[str]:
    """Return the sources of the findings of a contradiction, each once, and note what they say."""
    cited, labels = citation_numbers(report), citation_labels(report)
    found = []
    for key in item.findings:
        if key not in ledger:
            continue
        finding = ledger.get(Finding, key)
        source = ledger.get(Source, finding.quotes[0].source)
        number_ = cited(finding)
        if source.id not in sides or (number_ and not sides[source.id].number):
            sides[source.id] = _Side(
                one_line(source.title) or source.url, number_, labels[number_], finding.statement
            )
        found.append(source.id)
    return list(dict.fromkeys(found))


def _joined(
    heights: Sequence[float], left: float, lane: int, item: Contradiction, say: Words
) -> str:
    """Return a bracket that joins the sources of one contradiction."""
    x = left - 14 - LANE * lane
    top, bottom = min(heights), max(heights)
    ends = "".join(f"M{number(x)} {number(y)}H{number(left)}" for y in heights)
    way = f"{ends}M{number(x)} {number(top)}V{number(bottom)}"
    dashed = {} if item.kind == "contradicts" else {"stroke-dasharray": "3 4"}
    return group(
        [element("path", {"class": LOOKS[item.kind], "d": way, **dashed})],
        f"{say(item.kind)}: {one_line(item.description, 240)}",
    )


def _side(side: _Side, x: float, y: float) -> str:
    mark = label(x, y + 4, f"[{side.mark}]" if side.mark else "·", "p-ink p-b")
    linked = group([mark], link=f"#c{side.number}" if side.number else "")
    title = label(x + 40, y, one_line(side.title, 90), "p-ink p-b")
    said = "".join(
        label(x + 40, y + 14, line, "p-faint p-s") for line in wrap_text(side.says, 110, 1)
    )
    return linked + title + said


def _key(y: float, say: Words) -> str:
    parts, x = [], float(MARGIN)
    for kind, told in (
        ("contradicts", say("both cannot be true")),
        ("qualifies", say("one narrows the other")),
    ):
        dashed = {} if kind == "contradicts" else {"stroke-dasharray": "3 4"}
        way = {"class": LOOKS[kind], "d": f"M{number(x)} {number(y)}H{number(x + 30)}", **dashed}
        parts += [element("path", way), label(x + 38, y + 4, told, "p-faint")]
        x += 38 + text_width(told, 12) + 30
    return "".join(parts)


def _told(
    pairs: Sequence[tuple[list[str], Contradiction]], sides: dict[str, _Side], say: Words
) -> str:
    told = []
    for keys, item in pairs:
        first, *others = (_named(sides[key]) for key in keys)
        said = f"{first} {say(item.kind)} {say.listed(others)}"
        told.append(f"{said}: {one_line(item.description)}")
    return say("{}.", say("; ").join(line.rstrip(".") for line in told))


def _named(side: _Side) -> str:
    return f"{one_line(side.title, 80)} [{side.mark}]" if side.mark else one_line(side.title, 80)
