"""What IODA and Cloudflare Radar share: the subject of a request, and the count of outages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.services import ServiceModel
from deepdiver.tools.osint.times import Span

USUAL_DAYS = 7
"""Days that are asked for if no time is given."""
KEPT = 200
"""Rows that are journalled, the newest."""


@dataclass(frozen=True, slots=True)
class CountryOrNetwork:
    """The country or the network whose connectivity is asked for."""

    kind: str
    """country, or asn."""
    code: str
    """Its code, or its number."""
    name: str
    """What people call it."""

    def payload(self, what: str, args: Period, settings: Settings) -> dict[str, Any]:
        """Return the payload of a request."""
        return {"what": what, self.kind: self.code, **args.asked_days(settings)}


class OutageCounts(ServiceModel):
    """The outages of a period, counted over all of them."""

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

    def summary(self, service: str, subject: CountryOrNetwork) -> str:
        """Return how many outages there were, and how many before; empty if there were none."""
        if not self.total and not self.before:
            return ""
        began = phrases.total_in(self.counts, self.span)
        sentence = (
            f"{service} shows {phrases.counted(began, 'outage')} of {subject.name} that began in "
        )
        sentence += phrases.compared(self.counts, self.span, self.before)
        earlier = self.total - began
        return sentence + (
            f"; {earlier:,} more had begun before and reached into it" if earlier else ""
        )


def count_outages(days: Iterable[date], reaching: int, span: Span, cut: bool) -> dict[str, Any]:
    """Return the fields of `OutageCounts`.

    Args:
        days: The days on which the outages began, in the period or before.
        reaching: How many reach into the period.
        span: The period.
        cut: Whether there may be more.
    """
    began = phrases.count_by_day(days)
    return {
        "first": span.first,
        "last": span.last,
        "total": reaching,
        "counts": {day: began[day] for day in map(str, span.every()) if day in began},
        "before": phrases.total_in(began, span.before),
        "cut": cut,
    }
