"""The pictures of a run: which there are, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Correlation, Report
from deepdiver.report.figures.findings import drawn_findings as scene_of
from deepdiver.report.figures.map import draw_map
from deepdiver.report.figures.matrix import draw_matrix
from deepdiver.report.figures.svg import Picture
from deepdiver.report.figures.timeline import draw_timeline


@dataclass(frozen=True, slots=True)
class Pictures:
    """What was drawn of a run."""

    pictures: tuple[Picture, ...] = ()
    """Those for which there was something to draw."""
    missing: tuple[str, ...] = ()
    """A line for each of the others."""


def draw_pictures(
    report: Report, ledger: Ledger, read: Callable[[str], str], *, scene: bool
) -> Pictures:
    """Draw a run.

    The evidence, and where a scene is wanted, what was seen when and where.

    Args:
        report: The run's report.
        ledger: Its record.
        read: Returns the saved text of a hash; KeyError if it is not kept.
        scene: Whether the strategy shows when and where things happened.
    """
    evidence = draw_matrix(report, ledger)
    if not scene:
        return Pictures((evidence,) if evidence else ())
    seen = scene_of(report, ledger, read)
    drawn = {
        "No finding has a time, so there is no timeline.": draw_timeline(
            seen, ledger.of(Correlation).values()
        ),
        "No finding has a place, so there is no map.": draw_map(seen),
        "No finding was judged on a hypothesis, so there is no matrix of them.": evidence,
    }
    return Pictures(
        tuple(picture for picture in drawn.values() if picture),
        tuple(line for line, picture in drawn.items() if not picture),
    )
