"""Text for a terminal: free of control characters, with readable amounts, durations and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from deepdiver.core.shown_text import reveal

LONGEST_LINE = 160
"""Characters of text from outside that are shown on a line; the record has it all."""


def clean(text: str) -> str:
    r"""Return a text that cannot control a terminal; line breaks and tabs stay.

    Other white space becomes a space. What is hidden is spelt out (`\u202e`), and what a terminal
    cannot print is left out.
    """
    spaced = "".join(" " if c.isspace() and c not in "\n\t" else c for c in text)
    return "".join(c for c in reveal(spaced) if c.isprintable() or c in "\n\t")


def one_line(text: str, most: int = LONGEST_LINE) -> str:
    """Return a cleaned text on one line, cut to `most` characters."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def plan_lines(
    problems: Sequence[str], needs: Mapping[str, Sequence[str]], most: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield the sub-problems of a plan with their numbers, and those that each comes after."""
    for number, problem in enumerate(problems, 1):
        before = [str(problems.index(x) + 1) for x in needs.get(problem, ()) if x in problems]
        after = f" (after {', '.join(before)})" if before else ""
        yield f"{number}. {one_line(problem, most)}{after}"


def money(amount: Decimal) -> str:
    """Return an amount in US dollars, with four decimal places below ten cents."""
    if amount == 0:
        return "$0"
    if amount < Decimal("0.0001"):
        return "less than $0.0001"
    return f"${amount:.2f}" if amount >= Decimal("0.1") else f"${amount:.4f}"


def spent_money(amount: Decimal, *, unpriced: bool) -> str:
    """Return what a run has cost; if something of it has no known price, that is not nothing."""
    if not unpriced:
        return money(amount)
    return f"at least {money(amount)}" if amount else "unknown"


def clock_time(seconds: float) -> str:
    """Return a duration as minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def several(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun in the singular or plural, such as "1 run" or "1,200 runs"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
