"""What to ask next: what the report says it left open, and nothing that is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepdiver.core.record import Assessment, Hypothesis, HypothesisStatus, Report, RunStatus
from deepdiver.run.next_questions import LONGEST, MOST, OPEN, next_questions
from tests.strategies.rig import Rig

SOURCES = Path(__file__).parents[2] / "src" / "deepdiver" / "strategies"


def report(*limits: str, hypotheses: tuple[Assessment, ...] = ()) -> Report:
    return Report(
        question="Who owns Holm Works?",
        status=RunStatus.PARTIAL,
        answer=(),
        confidence=0.5,
        limits=limits,
        hypotheses=hypotheses,
    )


def standing(statement: str, status: HypothesisStatus) -> Assessment:
    made = Hypothesis(
        id=f"h_{statement}", statement=statement, supports_if="so", refutes_if="not", prior=0.5
    )
    return Assessment(hypothesis=made, posterior=0.5, status=status, trials=1)


def test_a_report_that_leaves_nothing_open_suggests_nothing() -> None:
    told = report("One page could not be read.", "The audit cut 2 sentences that no quote carried.")
    assert next_questions(told) == ()


def test_what_is_not_answered_is_suggested_as_the_report_words_it() -> None:
    limits = [f"{beginning}Who founded it in {n}?" for n, beginning in enumerate(OPEN)]
    found = next_questions(report(*limits))
    assert found == tuple(f"Who founded it in {n}?" for n in range(len(OPEN)))


def test_neither_the_question_itself_nor_anything_twice() -> None:
    told = report("Not answered: who owns holm works?", "Not answered: When?", "Still open: when?")
    assert next_questions(told) == ("When?",)


@pytest.mark.parametrize("text", ["", " ", "x" * (LONGEST + 1)])
def test_what_is_no_question_is_left_out(text: str) -> None:
    assert next_questions(report(f"Not answered: {text}")) == ()


def test_hypotheses_that_are_undecided_come_after_what_is_open() -> None:
    rivals = tuple(standing(f"{status.value} owns it.", status) for status in HypothesisStatus)
    found = next_questions(report("Not answered: When was it founded?", hypotheses=rivals))
    assert found == (
        "When was it founded?",
        "What speaks for or against this: open owns it?",
        "What speaks for or against this: undecided owns it?",
    )


def test_there_are_not_more_than_one_can_choose_from() -> None:
    assert len(next_questions(report(*(f"Not answered: Why {n}?" for n in range(20))))) == MOST


def test_the_strategies_still_say_it_in_these_words() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in SOURCES.rglob("*.py"))
    for beginning in OPEN:
        assert f'"{beginning}' in code, beginning


async def test_a_real_report_is_read_too(tmp_path: Path) -> None:
    outcome = await Rig(tmp_path).work()
    assert outcome.report is not None
    assert all(isinstance(text, str) for text in next_questions(outcome.report))
