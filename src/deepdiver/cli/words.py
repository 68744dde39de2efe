"""Words as they may stand on a terminal.

Nothing in them steers it; amounts, times and counts as people say them.
"""

from __future__ import annotations

from decimal import Decimal

LINE = 160
"""Characters of a foreign text on a plain line; the record has it whole."""


def clean(text: str) -> str:
    """Return a text without anything that steers a terminal; lines and tabs stay."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else " " if c.isspace() else "" for c in text
    )


def one_line(text: str, most: int = LINE) -> str:
    """Return a text as it may stand in a line: cleaned, on one line, no longer than that."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def money(amount: Decimal) -> str:
    """Return an amount in US dollars: in cents, or finer where there is less than one."""
    if amount == 0:
        return "$0"
    if amount < Decimal("0.0001"):
        return "less than $0.0001"
    return f"${amount:.2f}" if amount >= Decimal("0.1") else f"${amount:.4f}"


def clock_time(seconds: float) -> str:
    """Return a duration as a clock shows it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def several(count: int, one: str, many: str = "") -> str:
    """Return a number of things in words."""
    return f"{count} {one if count == 1 else many or one + 's'}"
