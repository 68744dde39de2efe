"""A finding as something seen at a time and a place: what correlations, timelines and maps are made of.

It is computed from the finding and its source alone, so that a report can be drawn from the record whenever it is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.core.record import Finding, Source
from deepdiver.core.whereabouts import Moment, Position, moment, whereabouts


@dataclass(frozen=True, slots=True)
class Sighting:
    """When and where that was of which a finding tells."""

    finding: str
    """Id of the finding."""
    moment: Moment | None = None
    """When; None: not said."""
    position: Position | None = None
    """Where; None: not said."""
    places: tuple[str, ...] = ()
    """Names of places."""

    @property
    def timestamp(self) -> str:
        """The beginning of the moment in ISO form, as precise as it is known; empty: not said."""
        return self.moment.iso() if self.moment else ""


def sighting(finding: Finding, source: Source, text: str) -> Sighting:
    """Return when and where that was of which a finding tells.

    Where its own words give no time, the time at which its source was published counts if it is given to the minute: a
    piece of news tells of its day, and a service says when it first saw it. A bare day of publication does not count,
    because a report of today may tell of last year.

    Args:
        finding: The finding; its first quote counts.
        source: Where that stands.
        text: The whole text of the source.
    """
    quote = finding.quotes[0]
    there = whereabouts(quote.text, text, quote.passage.start, source.title)
    when = there.moment
    if when is None and "T" in source.published:
        published = moment(source.published)
        when = published if published and published.narrow else None
    return Sighting(finding.id, when, there.position, there.places)
