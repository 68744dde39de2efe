"""What a person says to a run that is under way."""

from __future__ import annotations

from enum import StrEnum

from deepdiver.core.record import Record


class SteeringKind(StrEnum):
    """What a run is to do."""

    LOOK = "look"
    """Look at something too."""
    IGNORE = "ignore"
    """Leave a source out."""


class Steering(Record):
    """One thing that a person says to a run."""

    kind: SteeringKind
    """What to do."""
    text: str
    """What to look at, in words; or the address of the source to leave out."""
    title: str = ""
    """The title of the source, for the report."""
