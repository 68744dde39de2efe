"""What each phase of a run cost: calls, tokens and dollars."""

from __future__ import annotations

from decimal import Decimal

from deepdiver.report.figures.svg import WIDTH, Attributes, Picture, element, label, text_width
from deepdiver.report.history import History, PhaseCost
from deepdiver.report.words import ENGLISH, Words

MARGIN, NAMES, ROW, BAR = 18, 190.0, 26.0, 14.0


def draw_costs(history: History, say: Words = ENGLISH) -> Picture | None:
    """Draw a bar for each phase: its dollars if any were paid, else its calls; None: no phase."""
    phases = history.costs
    if not phases:
        return None
    paid = any(Decimal(item.usd) for item in phases)
    sizes = [float(Decimal(item.usd)) if paid else float(item.calls) for item in phases]
    most = max(sizes) or 1.0
    left = MARGIN + NAMES
    room = WIDTH - MARGIN - left - max(text_width(_told(item, say), 12) for item in phases) - 10
    parts = []
    for place, (item, size) in enumerate(zip(phases, sizes, strict=True)):
        y, long = MARGIN + ROW * place, room * size / most
        bar: Attributes = {"class": "p-news", "x": left, "y": y, "width": long, "height": BAR}
        parts += [
            label(left - 10, y + 11, _name(item), "p-ink", "end"),
            element("rect", bar),
            label(left + long + 6, y + 11, _told(item, say), "p-ink"),
        ]
    below = MARGIN + ROW * len(phases)
    listed = say("; ").join(f"{_name(item)}: {_told(item, say)}" for item in phases)
    return Picture(
        "costs",
        say("Cost by phase, in US dollars" if paid else "Calls by phase; they cost nothing"),
        say("{}. Together: {}.", listed, _told(_sum(phases), say)),
        round(below + 10),
        "".join(parts),
    )


def _name(item: PhaseCost) -> str:
    """Return the name of a phase, which is that of a node of the graph in every language."""
    return item.phase.replace("_", " ")


def _told(item: PhaseCost, say: Words) -> str:
    told = [say("{} call" if item.calls == 1 else "{} calls", f"{item.calls:,}")]
    if item.tokens:
        told.append(say("{} tokens", f"{item.tokens:,}"))
    if Decimal(item.usd):
        told.append(f"${item.usd}")
    return say(", ").join(told)


def _sum(phases: tuple[PhaseCost, ...]) -> PhaseCost:
    usd = sum((Decimal(item.usd) for item in phases), Decimal(0))
    return PhaseCost(
        phase="together",
        calls=sum(item.calls for item in phases),
        tokens=sum(item.tokens for item in phases),
        usd=f"{usd.normalize():f}",
    )
