"""Proposes hypotheses: the rival answers that the findings give, each in the words of one of them.

An account, such as an overview or a list of steps, has no rival that could refute it, so none is
proposed for it.
"""

from __future__ import annotations

from deepdiver.reason.embedded.answers import find_short_answers
from deepdiver.reason.embedded.asked import ACCOUNTS, understand
from deepdiver.reason.embedded.cells import answer_in_cells
from deepdiver.reason.embedded.hypothesise import compare_two, new_proposals
from deepdiver.reason.embedded.hypothesise import hypothesise as follow_steps
from deepdiver.reason.embedded.language.form import Form
from deepdiver.reason.embedded.language.units import sentence_with
from deepdiver.reason.embedded.steps import by_sentence, has_steps
from deepdiver.reason.embedded.yes_no import decide_yes_no
from deepdiver.tasks import Hypothesise, HypothesisSet, Proposed

MOST = 3
"""The most rival answers to a question without steps."""
EXPECTED = "Another source says {} as well."
UNEXPECTED = "A source corrects or denies that it is {}, or gives something else for the same."


def propose(task: Hypothesise) -> HypothesisSet:
    """Return the answers that the findings give, the likeliest first, without earlier ones."""
    if task.tools or has_steps(task.question):
        made = follow_steps(task.model_copy(update={"findings": by_sentence(task.findings)}))
        if made.hypotheses:
            return made
    asked = understand(task.question)
    if cells := _from_cells(task):
        return HypothesisSet(hypotheses=tuple(new_proposals(cells, task)))
    if asked.form in (Form.COMPARISON, Form.YES_NO) and (compared := compare_two(task)):
        return HypothesisSet(hypotheses=tuple(new_proposals(compared, task)))
    if asked.form in ACCOUNTS:
        return HypothesisSet(hypotheses=())
    offered = _yes_or_no(task) if asked.form is Form.YES_NO else _answers(task, asked.text)
    return HypothesisSet(
        hypotheses=tuple(new_proposals(offered, task))[: min(MOST, max(1, task.limit))]
    )


def _from_cells(task: Hypothesise) -> list[Proposed]:
    """Propose what the rows of a table answer."""
    found = answer_in_cells(task.question, task.findings)
    if found is None:
        return []
    return [
        Proposed(
            statement=found.answer.text,
            answer=found.answer.result,
            supports_if=EXPECTED.format(found.answer.result),
            refutes_if=UNEXPECTED.format(found.answer.result),
            prior=0.5,
            findings=tuple(task.findings[number].id for number in found.findings),
        )
    ]


def _answers(task: Hypothesise, question: str) -> list[Proposed]:
    """Propose the reader's answers."""
    return [
        Proposed(
            statement=sentence_with(task.findings[rival.best].quote, rival.answer),
            answer=rival.answer,
            supports_if=EXPECTED.format(rival.answer),
            refutes_if=UNEXPECTED.format(rival.answer),
            prior=rival.prior,
            findings=tuple(task.findings[number].id for number in rival.findings),
        )
        for rival in find_short_answers(question, task.findings)
    ]


def _yes_or_no(task: Hypothesise) -> list[Proposed]:
    """Propose the side that the findings take, in the words of the one that takes it most clearly.

    None if no finding takes a side.
    """
    decided = decide_yes_no(task.question, task.findings)
    if decided is None:
        return []
    return [
        Proposed(
            statement=decided.sentence,
            answer=decided.answer,
            supports_if=f"Another source lets one answer {decided.answer}.",
            refutes_if="A source says the opposite, or corrects it.",
            prior=0.5,
            findings=tuple(task.findings[number].id for number in decided.findings),
        )
    ]
