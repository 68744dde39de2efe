"""The pictures of a run, and the reasons why some are missing."""

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
    """The pictures of a run."""

    pictures: tuple[Picture, ...] = ()
    """The pictures for which there was something to draw."""
    missing: tuple[str, ...] = ()
    """A line for each picture that is missing."""


def draw_pictures(
    report: Report, ledger: Ledger, read: Callable[[str], str], *, scene: bool
) -> Pictures:
    """Draw the evidence of a run and, with `scene`, when and where things happened.

    Args:
        report: The run's report.
        ledger: Its records.
        read: Returns the saved text of a hash; LostTextError if there is none.
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
