"""The pictures of a run: which there are, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Correlation, Report
from deepdiver.report.figures.map import map_of
from deepdiver.report.figures.matrix import matrix
from deepdiver.report.figures.scene import scene as scene_of
from deepdiver.report.figures.svg import Picture
from deepdiver.report.figures.timeline import timeline


@dataclass(frozen=True, slots=True)
class Album:
    """What was drawn of a run."""

    pictures: tuple[Picture, ...] = ()
    """Those for which there was something to draw."""
    missing: tuple[str, ...] = ()
    """A line for each of the others."""


def album(report: Report, ledger: Ledger, read: Callable[[str], str], *, scene: bool) -> Album:
    """Draw a run.

    The evidence, and where a scene is wanted, what was seen when and where.

    Args:
        report: The run's report.
        ledger: Its record.
        read: Returns the saved text of a hash; KeyError if it is not kept.
        scene: Whether the strategy shows when and where things happened.
    """
    evidence = matrix(report, ledger)
    if not scene:
        return Album((evidence,) if evidence else ())
    seen = scene_of(report, ledger, read)
    drawn = {
        "No finding has a time, so there is no timeline.": timeline(
            seen, ledger.of(Correlation).values()
        ),
        "No finding has a place, so there is no map.": map_of(seen),
        "No finding was judged on a hypothesis, so there is no matrix of them.": evidence,
    }
    return Album(
        tuple(picture for picture in drawn.values() if picture),
        tuple(line for line, picture in drawn.items() if not picture),
    )
