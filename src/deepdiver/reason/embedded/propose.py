"""Proposes hypotheses: the rival answers that the findings give, each in the words of one of them.

An account, such as an overview or a list of steps, has no rival that could refute it, so none is
proposed for it.
"""

from __future__ import annotations

from deepdiver.core.text import terms
from deepdiver.reason.embedded.answers import find_short_answers
from deepdiver.reason.embedded.asked import understand, wants_few_words
from deepdiver.reason.embedded.cells import answer_in_cells
from deepdiver.reason.embedded.hypothesise import compare_two, new_proposals
from deepdiver.reason.embedded.hypothesise import hypothesise as follow_steps
from deepdiver.reason.embedded.language.form import Form
from deepdiver.reason.embedded.language.units import sentence_with, units_in
from deepdiver.reason.embedded.reader_answers import Passage, answer_in
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.rivals import FIRST_GUESS
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
    if compared := compare_two(task.model_copy(update={"findings": by_sentence(task.findings)})):
        return HypothesisSet(hypotheses=tuple(new_proposals(compared, task)))
    if not wants_few_words(asked):
        return HypothesisSet(hypotheses=())
    offered = _yes_or_no(task) if asked.form is Form.YES_NO else _answers(task, asked.text)
    most = min(MOST, max(1, task.limit))
    listed = list(new_proposals(offered, task))[:most]
    said = {item.statement for item in listed}
    again = [i for i in new_proposals(_settled_before(task), task) if i.statement not in said]
    if again and most > 1:
        # The last place: a claim that was settled before is tested again, not taken on trust.
        listed[most - 1 :] = again[:1]
    return HypothesisSet(hypotheses=tuple(listed))


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
    """Propose the reader's answers; to which of several it is, only those."""
    among = [set(terms(thing)) for thing in understand(question).compared]
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
        if not among or any(thing & set(terms(rival.answer)) for thing in among)
    ]


def _settled_before(task: Hypothesise) -> list[Proposed]:
    """Propose what past runs accepted or refuted, if a finding says it too.

    A claim that no finding has is not proposed: what was true of other sources is not a hypothesis
    about these.
    """
    past = [
        claim
        for run in task.past
        for claim in (*run.accepted, *(item.statement for item in run.refuted))
    ]
    claims = [(set(terms(claim)), read_sentence(claim).negated) for claim in past if terms(claim)]
    return [
        Proposed(
            statement=unit.text,
            answer=answer,
            supports_if=EXPECTED.format(answer or "it"),
            refutes_if=UNEXPECTED.format(answer or "so"),
            prior=FIRST_GUESS,
            findings=(finding.id,),
        )
        for finding in task.findings
        for unit in units_in(finding.quote)
        if any(
            claim <= set(terms(unit.text)) and denies == read_sentence(unit.text).negated
            for claim, denies in claims
        )
        for answer, _ in [answer_in(task.question, Passage(finding.source, unit.text))]
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
