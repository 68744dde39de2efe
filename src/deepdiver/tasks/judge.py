"""Judging how findings bear on hypotheses; code does the arithmetic of belief."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.core.record import Stance
from deepdiver.tasks.record_views import ShownFinding
from deepdiver.tasks.task import Answer, Role, Task, View
from deepdiver.tasks.tolerance import LABEL, REASON, Also, Means


class Rival(View):
    """A hypothesis to be judged, alone or beside others."""

    id: str
    """Label to refer to it by."""
    hypothesis: str
    """What is claimed."""
    answer_if_true: str = ""
    """The short answer if it is true."""
    supports_if: str = ""
    """What one would see if it were true."""
    refutes_if: str = ""
    """What one would see if it were false."""
    findings: tuple[str, ...] = Field((), exclude=True)
    """Labels of the findings that may bear on it, all if empty: for reasoners that are no models.
    A model sees for itself."""


class Judgement(Answer):
    """How one finding bears on one hypothesis."""

    finding: Annotated[str, LABEL, Also("finding_id", "evidence_id")]
    """Label of the finding."""
    hypothesis: Annotated[str, LABEL, Also("hypothesis_id", "rival", "claim")] = ""
    """Label of the hypothesis."""
    stance: Annotated[
        Stance,
        Also("evidence_type", "bearing", "relation", "verdict", "judgement", "judgment"),
        Means(
            supports=("confirms", "corroborates"),
            refutes=("contradicts", "opposes", "against"),
            neutral=("irrelevant", "unrelated", "inconclusive"),
        ),
    ]
    """supports, refutes or neutral."""
    strength: Annotated[float, Field(ge=0.0, le=1.0), Also("confidence", "weight", "score")]
    """How strongly, if the finding is true: 1 settles it, 0.5 makes it clearly likelier or
    unlikelier."""
    reason: Annotated[str, REASON] = ""
    """Why, in a few words."""


class Judgements(Answer):
    """How the findings bear on the hypotheses."""

    judgements: Annotated[
        tuple[Judgement, ...],
        Also("judgments", "evaluations", "assessments", "evidence", "findings", "results"),
    ]
    """One for each finding that speaks for or against a hypothesis; the others are left out."""


class Judge(Task[Judgements]):
    """Say which findings support or refute which hypothesis: each finding is shown once."""

    role: ClassVar[Role] = "smart"
    divides: ClassVar[str] = "findings"

    findings: tuple[ShownFinding, ...]
    """What was found."""
    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    rivals: tuple[Rival, ...]
    """The hypotheses."""
