"""Writing the report as sentences that name their findings, which code turns into citations."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.core.record import Calculation, SentenceKind
from deepdiver.tasks.record_views import HypothesisStanding, ShownFinding
from deepdiver.tasks.task import Answer, Role, Task, View


class DraftSentence(Answer):
    """A sentence of the draft."""

    text: str
    """What it says, without citation marks, addresses or labels."""
    findings: tuple[str, ...] = ()
    """Labels of the findings that carry it; a sentence of fact without one is cut."""
    kind: SentenceKind = SentenceKind.FACT
    """fact; calculation where a value was derived; frame where it only connects or speaks of the
    research itself."""
    calculation: Calculation | None = None
    """The sum, where the sentence holds a derived value."""


class DraftSection(Answer):
    """A section of the draft."""

    heading: str
    """Its heading."""
    sentences: tuple[DraftSentence, ...]
    """Its sentences."""


class Draft(Answer):
    """The report before the audit."""

    answer: Annotated[tuple[DraftSentence, ...], Field(max_length=12)]
    """The answer in one to four sentences, most direct first. Empty where the findings do not
    answer the question."""
    sections: tuple[DraftSection, ...] = ()
    """The account, by aspect."""
    missing: tuple[str, ...] = ()
    """What the question asks and the findings do not answer."""


class CheckedConclusion(View):
    """A conclusion that was verified, and may be reported."""

    text: str
    """What it says."""
    kind: str = "insight"
    """What it is: an insight, or a correlation of a kind."""
    confidence: float
    """How far it is believed after verification."""
    findings: tuple[str, ...]
    """Labels of the findings that carry it."""
    caution: str = ""
    """What the verification found wrong with it: the reader must see that."""


class ResearchFrame(View):
    """What the research was to find out, where and when."""

    objectives: tuple[str, ...] = ()
    """What was to be found out."""
    regions: tuple[str, ...] = ()
    """The places that matter."""
    period: str = ""
    """The time that matters."""


class WriteReport(Task[Draft]):
    """Write the report from the findings alone."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...]
    """The sub-problems."""
    standing: tuple[HypothesisStanding, ...] | None
    """The hypotheses and where they stand; None where the strategy weighs sources and puts no
    hypotheses forward."""
    findings: tuple[ShownFinding, ...]
    """What was found; nothing else may be said."""
    gaps: tuple[str, ...] = ()
    """What is known to be missing."""
    guidance: str = ""
    """The person's own instructions."""
    research_plan: ResearchFrame | None = None
    """What was planned, if the strategy plans an investigation."""
    verified_conclusions: tuple[CheckedConclusion, ...] = ()
    """What was verified, if the strategy verifies conclusions."""
    uncertainties: tuple[str, ...] = ()
    """What is known to be uncertain, if the strategy says so."""


class Faulty(View):
    """A sentence that the audit refused."""

    id: str
    """Label to answer it by."""
    text: str
    """What it says."""
    problem: str
    """What is wrong with it."""
    quotes: tuple[str, ...]
    """What its findings say, word for word."""


class Repaired(Answer):
    """A sentence put right."""

    id: str
    """Label of the faulty sentence."""
    text: str
    """What it should say, so that the quotes carry it; empty to cut it."""


class Repairs(Answer):
    """Sentences put right."""

    repairs: tuple[Repaired, ...]
    """One for each faulty sentence."""


class RepairSentences(Task[Repairs]):
    """Rewrite sentences so that their quotes carry them, or cut them."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    sentences: tuple[Faulty, ...]
    """What to put right."""
