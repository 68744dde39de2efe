"""How much of what was found one task is shown: shares of what the model can read at once.

Limits that are numbers of their own lose what a strong model has noted, and are too much for a
small one. A reasoner that costs nothing has limits of its own: its time grows with what it sees.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.strategies.shared.base import Deps
from deepdiver.tasks import WriteReport

BRIEF = 400
"""The most characters of what a model has written into one field and is shown again, such as what
would refute a hypothesis: two sentences. It is asked for one, and some write a paragraph, which
every later judgement would show again. As much as most search engines take."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much one task is shown, in bytes."""

    texts: int
    """Texts, for whoever writes."""
    findings: int
    """Findings with their quotes, for whoever judges them."""
    known: int
    """Statements where they are only background."""
    summary: int
    """The running summary."""
    most_findings: int | None = None
    """How many findings; None: as many as fit."""
    most_lines: int | None = None
    """How many lines of the running summary."""


FREE = Room(110_000, 24_000, 8_000, 5_000, 80, 24)
"""The room of a reasoner that costs nothing."""
TEXTS, FINDINGS, SUMMARY, BACKGROUND = 0.75, 0.33, 0.15, 0.05
"""Shares of a prompt. Texts that were read whole (`reading_tokens`) are a tenth longer with their
numbers, and lie on the writer's desk with notes of them; background is told in every round. Whoever
says what is missing must see what is known: with a third of this, 129 statements became 55."""


def room_of(deps: Deps) -> Room:
    """Return how much one task is shown in a run."""
    if deps.reasoner.is_free(WriteReport):
        return FREE
    most = deps.settings.prompt_bytes
    background = int(most * BACKGROUND)
    return Room(int(most * TEXTS), int(most * FINDINGS), background, int(most * SUMMARY))
