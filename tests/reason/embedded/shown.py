"""Short ways to make what the tasks are shown."""

from __future__ import annotations

from deepdiver.core.record import HypothesisStatus
from deepdiver.tasks import HypothesisStanding, ShownFinding

AS_OF = "2026-11-15"


def finding(
    statement: str,
    label: str = "F1",
    *,
    credibility: float = 0.6,
    published: str = "",
    title: str = "A text",
    origin: str = "",
) -> ShownFinding:
    """Make a finding whose quote is its statement."""
    return ShownFinding(
        id=label,
        statement=statement,
        quote=statement,
        source=title,
        published=published,
        credibility=credibility,
        origin=origin or label,
    )


def findings(*statements: str) -> tuple[ShownFinding, ...]:
    """Make findings F1, F2, … of sentences."""
    return tuple(finding(statement, f"F{number}") for number, statement in enumerate(statements, 1))


def standing(
    statement: str,
    status: HypothesisStatus = HypothesisStatus.SUPPORTED,
    posterior: float = 0.8,
    *,
    answer: str = "",
    label: str = "H1",
    supporting: tuple[str, ...] = (),
    refuting: tuple[str, ...] = (),
) -> HypothesisStanding:
    """Make a hypothesis and where it stands."""
    return HypothesisStanding(
        id=label,
        statement=statement,
        answer=answer,
        posterior=posterior,
        status=status,
        trials=1,
        supporting=supporting,
        refuting=refuting,
    )
