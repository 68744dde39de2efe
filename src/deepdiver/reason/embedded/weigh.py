"""Judges how findings bear on hypotheses.

A finding that gives the same answer supports it. One that gives another is neutral, since it may be
about another event, a part of the whole, or another day: only what denies or corrects the very
value refutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.core.text import fold, terms
from deepdiver.reason.embedded.answers import find_short_answers
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.cells import FoundInCells, answer_in_cells
from deepdiver.reason.embedded.confirm import UNSURE, bears, confirms
from deepdiver.reason.embedded.judge import Case, judge_case, restates
from deepdiver.reason.embedded.language.form import Form
from deepdiver.reason.embedded.reader_verdicts import lacks_values
from deepdiver.reason.embedded.rivals import FIRST_GUESS, Rival, same_words
from deepdiver.reason.embedded.steps import by_sentence, has_steps
from deepdiver.reason.embedded.yes_no import decide_yes_no, judge_statement
from deepdiver.tasks import Judge, Judgement, Judgements, ShownFinding

DIRECT = 0.9
"""The strength of a finding that says it in these words, or denies it in so many."""
CELLS, COVERED = 0.5, 0.3
"""How likely an answer from cells is right: by the share of the question's words that the table
explains, of which it takes two thirds to be sure."""
LEAST_READ = 0.05
"""The least strength of a finding that gives an answer."""
RELIED_ON = 0.3
"""The least credibility that is assumed when a likelihood is turned into a strength."""
ALIKE = 0.5
"""The share of a claim's telling words that a denial must have to be about the same thing."""
SAID, SAID_STRENGTH = 0.8, 0.4
"""From this probability on, the reader takes a finding to say a claim; and what that is worth."""

Bearing = tuple[Stance, float, str]
NEUTRAL: Bearing = (Stance.NEUTRAL, 0.0, "does not bear on it")


def weigh(task: Judge) -> Judgements:
    """Judge each hypothesis by itself."""
    made = []
    for rival in task.rivals:
        shown = tuple(f for f in task.findings if not rival.findings or f.id in rival.findings)
        case = Case(task.question, task.as_of, rival.hypothesis, rival.answer_if_true, shown)
        made += [item.model_copy(update={"hypothesis": rival.id}) for item in _weigh(case)]
    return Judgements(judgements=tuple(made))


def _weigh(case: Case) -> list[Judgement]:
    yes = case.answer_if_true == "yes" and restates(case.hypothesis, case.question)
    if yes:
        return judge_case(case)
    if has_steps(case.question):
        return _strongest(judge_case(replace(case, findings=by_sentence(case.findings))))
    likelihoods = _likelihoods(case)
    made = []
    for number, finding in enumerate(case.findings):
        stance, strength, reason = _denial(finding, case) or (
            _giving(case, likelihoods, number)
            if likelihoods or case.answer_if_true in ("yes", "no")  # no sentence says a mere yes
            else _saying(finding, case)
        )
        made.append(
            Judgement(finding=finding.id, stance=stance, strength=round(strength, 3), reason=reason)
        )
    return made


def _strongest(judged: Iterable[Judgement]) -> list[Judgement]:
    """Return one judgement for each finding: that of the sentence which bears most."""
    best: dict[str, Judgement] = {}
    for item in judged:
        if item.finding not in best or item.strength > best[item.finding].strength:
            best[item.finding] = item
    return list(best.values())


def _likelihoods(case: Case) -> dict[int, float]:
    """Return the findings that give the hypothesis's answer, each with how likely it makes it."""
    if not case.answer_if_true:
        return {}
    cells = answer_in_cells(case.question, case.findings)
    if cells is not None and cells.answer.result == case.answer_if_true:
        return dict.fromkeys(cells.findings, _likely_by_cells(case, cells))
    if understand(case.question).form is Form.YES_NO:
        side = decide_yes_no(case.question, case.findings)
        if side is None or side.answer != case.answer_if_true:
            return {}
        return dict.fromkeys(side.findings, side.likelihood)
    for rival in find_short_answers(case.question, case.findings):
        if same_words(rival.answer, case.answer_if_true):
            return dict.fromkeys(rival.giving, _likely_by_words(case, rival))
    return {}


def _likely_by_cells(case: Case, cells: FoundInCells) -> float:
    """Return how likely an answer from rows is right."""
    likely = round(CELLS + COVERED * cells.answer.coverage, 3)
    # One row says by itself what it is about; of many, their table does.
    if likely <= UNSURE or len(cells.findings) > 1:
        return likely
    return likely if bears(case.question, case.findings[cells.findings[0]]) else UNSURE


def _likely_by_words(case: Case, rival: Rival) -> float:
    """Return how likely an answer from passages is right."""
    if rival.likelihood <= UNSURE:
        return rival.likelihood
    giving = (case.findings[number] for number in rival.giving)
    return rival.likelihood if confirms(case.question, rival.answer, giving) else UNSURE


def _giving(case: Case, likelihoods: dict[int, float], number: int) -> Bearing:
    """Return the strength that moves a first guess to the likelihood of the answer."""
    if number not in likelihoods:
        return NEUTRAL
    moves = belief.log_odds(likelihoods[number]) - belief.log_odds(FIRST_GUESS)
    origins = {case.findings[n].origin or case.findings[n].id for n in likelihoods}
    trust = max(case.findings[number].credibility, RELIED_ON)
    strength = moves / belief.FULL_WEIGHT / len(origins) / trust
    return Stance.SUPPORTS, min(1.0, max(LEAST_READ, strength)), "gives this answer"


def _saying(finding: ShownFinding, case: Case) -> Bearing:
    """Return whether a finding says a claim, in its words or by the reader."""
    claim = " ".join(fold(case.hypothesis)[0].lower().split())
    if claim and claim in " ".join(fold(finding.quote)[0].lower().split()):
        return Stance.SUPPORTS, DIRECT, "says it in these words"
    if lacks_values(case.hypothesis, finding.quote):
        return NEUTRAL
    verdict = judge_statement(finding.quote, case.hypothesis)
    if verdict.supports >= SAID:
        return Stance.SUPPORTS, SAID_STRENGTH * verdict.supports, "reads as saying it"
    return NEUTRAL


_DENIES = r"(?:(?:is|are|was|were|and|but|,)\s+not|not|instead of|rather than|no longer|wrongly)"
_WRONG = (
    r"(?:is|was|were)\s+(?:wrong|incorrect|false|mistaken|a mistake|an error|withdrawn|retracted)"
)


def _denial(finding: ShownFinding, case: Case) -> Bearing | None:
    """Return a refutation if a finding denies the very value that the hypothesis gives."""
    value = case.answer_if_true
    if not value or value in ("yes", "no") or case.hypothesis in finding.statement:
        return None
    told = " ".join(finding.quote.split())
    said = re.escape(" ".join(value.split()))
    about = set(terms(case.hypothesis)) - set(terms(value))
    shared = len(about & set(terms(f"{finding.source} {told}"))) / max(1, len(about))
    if shared >= ALIKE and re.search(
        rf"\b{_DENIES}\s+(?:\w+\s+){{0,2}}{said}\b|\b{said}\b[^.;]{{0,30}}\b{_WRONG}", told, re.I
    ):
        return Stance.REFUTES, DIRECT, f"says that it is not {value}"
    return None
