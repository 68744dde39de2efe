"""The pictures of a run, and the reasons why some are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Correlation, Report
from deepdiver.report.figures.beliefs import draw_beliefs
from deepdiver.report.figures.conflicts import draw_conflicts
from deepdiver.report.figures.costs import draw_costs
from deepdiver.report.figures.findings import drawn_findings as scene_of
from deepdiver.report.figures.map import draw_map
from deepdiver.report.figures.matrix import draw_matrix
from deepdiver.report.figures.svg import Picture
from deepdiver.report.figures.timeline import draw_timeline
from deepdiver.report.history import History
from deepdiver.report.words import words_of


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of a run."""

    pictures: tuple[Picture, ...] = ()
    """When and where things happened, as far as there was something to draw."""
    missing: tuple[str, ...] = ()
    """A line for each of these that is missing."""
    evidence: tuple[Picture, ...] = ()
    """What the machinery did, for the evidence view: hypotheses against evidence, belief by round,
    contradictions, and cost by phase."""

    @property
    def all(self) -> tuple[Picture, ...]:
        """All of them."""
        return (*self.pictures, *self.evidence)


def draw_pictures(
    report: Report,
    ledger: Ledger,
    read: Callable[[str], str],
    *,
    scene: bool,
    history: History | None = None,
) -> Pictures:
    """Draw the evidence of a run and, with `scene`, when and where things happened.

    Args:
        report: The run's report.
        ledger: Its records.
        read: Returns the saved text of a hash; LostTextError if there is none.
        scene: Whether the strategy shows when and where things happened.
        history: What it did round by round.
    """
    history, say = history or History(), words_of(report)
    drawn = (
        draw_matrix(report, ledger),
        draw_beliefs(report, history),
        draw_conflicts(report, ledger),
        draw_costs(history, say),
    )
    evidence = tuple(picture for picture in drawn if picture)
    if not scene:
        return Pictures(evidence=evidence)
    seen = scene_of(report, ledger, read)
    shown = {
        say("No finding has a time, so there is no timeline."): draw_timeline(
            seen, ledger.of(Correlation).values(), say
        ),
        say("No finding has a place, so there is no map."): draw_map(seen, say),
    }
    return Pictures(
        tuple(picture for picture in shown.values() if picture),
        tuple(line for line, picture in shown.items() if not picture),
        evidence,
    )
