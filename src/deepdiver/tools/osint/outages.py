"""What the services that record internet outages share.

Whom they are asked about, and what is kept of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.settings import Settings
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Period, Span

USUAL_DAYS = 7
"""Days that are looked at where no time is given."""
KEPT = 200
"""Rows that are journalled, the newest."""


@dataclass(frozen=True, slots=True)
class Whom:
    """A country or a network."""

    kind: str
    """country, or asn."""
    code: str
    """Its code, or its number."""
    name: str
    """What people call it."""

    def payload(self, what: str, args: Period, settings: Settings) -> dict[str, Any]:
        """Return what shapes an answer."""
        return {"what": what, self.kind: self.code, **args.asked_days(settings)}


class Outside(BaseModel):
    """Base of what comes from outside, which may grow."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Counted(Outside):
    """Outages of a period, counted over all of them."""

    first: date
    last: date
    total: int
    """How many reach into the period."""
    counts: dict[str, int]
    """How many began on each day of it."""
    before: int
    """How many began in as many days before."""
    cut: bool
    """Whether there may be more than were asked for."""

    @property
    def span(self) -> Span:
        """The days."""
        return Span(self.first, self.last)

    def summary(self, service: str, whom: Whom) -> str:
        """Tell how many there were, and how many before; nothing where there were none at all."""
        if not self.total and not self.before:
            return ""
        began = telling.within(self.counts, self.span)
        told = f"{service} shows {telling.counted(began, 'outage')} of {whom.name} that began in "
        told += telling.compared(self.counts, self.span, self.before)
        earlier = self.total - began
        return told + (
            f"; {earlier:,} more had begun before and reached into it" if earlier else ""
        )


def count(days: Iterable[date], reaching: int, span: Span, cut: bool) -> dict[str, Any]:
    """Return what `Counted` holds.

    Args:
        days: On which each outage began, in the period or before.
        reaching: How many reach into the period.
        span: The period.
        cut: Whether there may be more.
    """
    began = telling.by_day(days)
    counts = {day: began[day] for day in map(str, span.every()) if day in began}
    before = telling.within(began, span.before)
    return {
        "first": span.first, "last": span.last, "total": reaching, "counts": counts, "before": before, "cut": cut,
    }  # fmt: skip


def midnight(day: date) -> datetime:
    """Return when a day begins."""
    return datetime.combine(day, time(), UTC)


def lasted(seconds: float) -> str:
    """Tell a length of time: 45 minutes, 1 hour 30 minutes, 2 days 3 hours."""
    minutes = round(seconds / 60)
    parts = [(minutes // 1_440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    told = [telling.counted(number, unit) for number, unit in parts if number][:2]
    return " ".join(told) or "less than a minute"
