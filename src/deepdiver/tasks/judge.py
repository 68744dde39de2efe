"""Judging how findings bear on a hypothesis; code does the arithmetic of belief."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.core.record import Stance
from deepdiver.tasks.record_views import ShownFinding
from deepdiver.tasks.task import Answer, Role, Task, View
from deepdiver.tasks.tolerance import LABEL, REASON, Also, Means


class Judgement(Answer):
    """How one finding bears on the hypothesis."""

    finding: Annotated[str, LABEL, Also("finding_id", "evidence_id")]
    """Label of the finding."""
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
    """How the findings bear on the hypothesis."""

    judgements: Annotated[
        tuple[Judgement, ...],
        Also("judgments", "evaluations", "assessments", "evidence", "findings", "results"),
    ]
    """One for each finding that speaks for or against it; the others are left out."""


class Judge(Task[Judgements]):
    """Say which findings support or refute the hypothesis."""

    role: ClassVar[Role] = "smart"
    divides: ClassVar[str] = "findings"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    hypothesis: str
    """What is claimed."""
    answer_if_true: str = ""
    """The short answer if it is true."""
    supports_if: str = ""
    """What one would see if it were true."""
    refutes_if: str = ""
    """What one would see if it were false."""
    findings: tuple[ShownFinding, ...]
    """What was found."""


class Rival(View):
    """A hypothesis to be judged beside others."""

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


class RivalJudgement(Judgement):
    """How one finding bears on one of the hypotheses."""

    hypothesis: Annotated[str, LABEL, Also("hypothesis_id", "rival")]
    """Label of the hypothesis."""


class RivalJudgements(Answer):
    """How the findings bear on the hypotheses."""

    judgements: Annotated[
        tuple[RivalJudgement, ...],
        Also("judgments", "evaluations", "assessments", "evidence", "results"),
    ]
    """One for each finding that speaks for or against a hypothesis; the others are left out."""


class JudgeRivals(Task[RivalJudgements]):
    """Say which findings support or refute which hypothesis: each finding is shown once."""

    role: ClassVar[Role] = "smart"

    findings: tuple[ShownFinding, ...]
    """What was found."""
    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    rivals: tuple[Rival, ...]
    """The hypotheses."""
