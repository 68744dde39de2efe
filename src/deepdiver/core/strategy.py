"""The names of the strategies."""

from __future__ import annotations

from enum import StrEnum


class Strategy(StrEnum):
    """The five ways of researching."""

    POPPER = "popper"
    """Formulate, gather, hypothesise, try to refute, decide, answer."""
    ITERATIVE = "iterative"
    """Query, search, summarise, reflect, until covered."""
    OVERWATCH = "overwatch"
    """Nine phases of an intelligence analyst, with feeds."""
    ORCHESTRATED = "orchestrated"
    """Planning, execution and synthesis agents over one context."""
    NAVIGATOR = "navigator"
    """One decision and one tool at a time, with a person at the end of every pass."""
