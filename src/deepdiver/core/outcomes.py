"""How a run can end: one table for every surface, and the rule that says which outcome it is.

An outcome is never told for another: that nothing was found may be said only where searches worked
and a model could read what they brought.
"""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.core.record import Report, RunStatus


@dataclass(frozen=True, slots=True)
class Ending:
    """What is said of one way to end."""

    headline: str
    """What a report and a terminal call it."""
    exit_code: int
    """The exit code of the command line."""
    when: str
    """When a run ends so, as a phrase for the documentation."""
    lead: str = ""
    """What a report without an answer says instead, behind the headline."""


OUTCOMES = {
    RunStatus.ANSWERED: Ending(
        "Answered",
        0,
        "the answer is accepted: its hypothesis has survived the attempts to refute it, or its "
        "sources are believed and cover the question",
    ),
    RunStatus.PARTIAL: Ending(
        "Answered in part",
        3,
        "there is an answer, but a part of the question is open, or its sources are too weak to "
        "accept it",
        "The evidence found does not answer the question. What was found is set out below.",
    ),
    RunStatus.UNDECIDED: Ending(
        "Undecided",
        5,
        "rival hypotheses were judged and none of them stands clear, or sources contradict each "
        "other and nothing decides between them",
        "The evidence does not settle which of the rival answers is right.",
    ),
    RunStatus.NOT_ANSWERED: Ending(
        "Read, but not answered",
        6,
        "texts on the subject were read, and nothing in them answers; the report shows what comes "
        "nearest, quoted and cited",
        "Texts on the subject were read, and none of them answers the question. What comes nearest "
        "is shown below.",
    ),
    RunStatus.NO_EVIDENCE: Ending(
        "No evidence found",
        4,
        "searches were answered, and nothing that they brought bears on the question",
        "No evidence was found that bears on the question. Searches were answered, and brought "
        "nothing to the point.",
    ),
    RunStatus.COULD_NOT_SEARCH: Ending(
        "Could not search",
        7,
        "every search failed, or every page that was found could not be read; the report says "
        "which, and why",
        "Nothing could be searched or read, so it is not known whether there is evidence.",
    ),
    RunStatus.MODEL_FAILED: Ending(
        "The model failed",
        8,
        "there is no answer because the model failed at a task every time; the report says at "
        "which, and why",
        "There is no answer because the model failed.",
    ),
}
"""The outcomes, the best first."""
UNANSWERED = frozenset(
    {
        RunStatus.NOT_ANSWERED,
        RunStatus.NO_EVIDENCE,
        RunStatus.COULD_NOT_SEARCH,
        RunStatus.MODEL_FAILED,
    }
)
"""The outcomes without an answer."""


def stated_confidence(report: Report) -> float | None:
    """Return the confidence that is stated in the answer of a report; None: words tell it alone.

    Of an answer that was not accepted, a number would say more than is known: over 120 questions
    about contradicting texts, those believed with 0.35 were right in 0.6 of the cases. Belief is
    never 0: an account, such as a list of steps, has none.
    """
    accepted = report.status in (RunStatus.ANSWERED, RunStatus.PARTIAL)
    return report.confidence if accepted and report.answer and report.confidence > 0 else None


def in_words(status: RunStatus) -> str:
    """Return where a run stands, within a sentence: "read, but not answered", "stopped"."""
    return OUTCOMES[status].headline.lower() if status in OUTCOMES else status.value


@dataclass(frozen=True, slots=True)
class Research:
    """What a run could do, apart from what the report makes of it."""

    found: bool = False
    """Whether it found something that bears on the question, cited or not."""
    open: bool = False
    """Whether every part of the question is open, by the word of whoever wrote the answer."""
    disputed: bool = False
    """Whether sources contradict each other on what the answer would rest on."""
    searched: bool = True
    """Whether searches were answered and something of what they found could be read."""
    failed: bool = False
    """Whether the model failed at a kind of task every time."""


WORKED = Research()
"""Searches worked, and so did the model."""


def settle_outcome(research: Research, *, answer: bool, accepted: bool, judged: bool) -> RunStatus:
    """Return how a run has ended.

    Args:
        research: What it could do.
        answer: Whether it has an answer that cites something.
        accepted: Whether a hypothesis, or the answer, is accepted.
        judged: Whether evidence spoke for or against a hypothesis that was tested.
    """
    if answer and (accepted or not research.open):
        unsettled = RunStatus.UNDECIDED if judged else RunStatus.PARTIAL
        return RunStatus.ANSWERED if accepted else unsettled
    if research.found and accepted:  # the audit has cut the answer, not what it stood on
        return RunStatus.PARTIAL
    if research.found and (judged or research.disputed):
        return RunStatus.UNDECIDED
    if research.failed:
        return RunStatus.MODEL_FAILED
    if research.found:
        return RunStatus.NOT_ANSWERED
    return RunStatus.NO_EVIDENCE if research.searched else RunStatus.COULD_NOT_SEARCH
