"""How a run can end: the table, and the rule."""

from __future__ import annotations

import itertools

import pytest

from deepdiver.core.outcomes import (
    OUTCOMES,
    UNANSWERED,
    Research,
    in_words,
    settle_outcome,
    stated_confidence,
)
from deepdiver.core.record import FINISHED, Report, RunStatus, Sentence

WAYS = list(itertools.product([False, True], repeat=8))


def settled(*ways: bool) -> RunStatus:
    found, open_, disputed, searched, failed, answer, accepted, judged = ways
    research = Research(
        found=found, open=open_, disputed=disputed, searched=searched, failed=failed
    )
    return settle_outcome(research, answer=answer, accepted=accepted, judged=judged)


def test_every_way_to_finish_is_in_the_table_and_no_other() -> None:
    assert OUTCOMES.keys() == FINISHED
    assert OUTCOMES.keys() > UNANSWERED


def test_headlines_exit_codes_and_leads_tell_the_outcomes_apart() -> None:
    endings = OUTCOMES.values()
    for told in ("headline", "exit_code", "when", "lead"):
        assert len({getattr(ending, told) for ending in endings}) == len(OUTCOMES), told


def test_no_outcome_has_the_exit_code_of_an_error() -> None:
    # 1: failure, 2: usage; 130: stopped. Only an answer succeeds.
    assert not {ending.exit_code for ending in OUTCOMES.values()} & {1, 2, 130}
    assert [status for status, ending in OUTCOMES.items() if ending.exit_code == 0] == [
        RunStatus.ANSWERED
    ]


def test_every_outcome_but_an_answer_has_words_for_a_report_without_one() -> None:
    assert [status for status, ending in OUTCOMES.items() if not ending.lead] == [
        RunStatus.ANSWERED
    ]


@pytest.mark.parametrize("ways", WAYS)
def test_an_outcome_is_never_told_for_another(ways: tuple[bool, ...]) -> None:
    found, open_, disputed, searched, failed, answer, accepted, judged = ways
    # A writer who leaves every part open has not answered, unless a test has.
    answer = answer and (accepted or not open_)
    status = settled(*ways)
    # What each outcome claims is so.
    claims = {
        RunStatus.ANSWERED: answer and accepted,
        RunStatus.PARTIAL: (answer or found) and not (answer and accepted),
        RunStatus.UNDECIDED: not accepted
        and ((judged and (answer or found)) or (disputed and found)),
        RunStatus.NOT_ANSWERED: found and not (answer or accepted or judged or disputed),
        RunStatus.NO_EVIDENCE: searched and not failed and not found and not answer,
        RunStatus.COULD_NOT_SEARCH: not searched and not failed and not found and not answer,
        RunStatus.MODEL_FAILED: failed and not answer,
    }
    assert claims[status]


@pytest.mark.parametrize("ways", [ways for ways in WAYS if not ways[5]])
def test_without_an_answer_nothing_is_answered(ways: tuple[bool, ...]) -> None:
    assert settled(*ways) is not RunStatus.ANSWERED


def test_each_outcome_can_be_reached() -> None:
    assert {settled(*ways) for ways in WAYS} == FINISHED


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (RunStatus.NOT_ANSWERED, "read, but not answered"),
        (RunStatus.COULD_NOT_SEARCH, "could not search"),
        (RunStatus.STOPPED, "stopped"),
        (RunStatus.RUNNING, "running"),
    ],
)
def test_where_a_run_stands_in_words(status: RunStatus, told: str) -> None:
    assert in_words(status) == told


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_confidence_is_stated_of_an_accepted_answer_alone(status: RunStatus) -> None:
    said = (Sentence(text="It is so.", findings=("f_1",)),)
    report = Report(question="Is it so?", status=status, answer=said, confidence=0.8)
    stated = 0.8 if status in (RunStatus.ANSWERED, RunStatus.PARTIAL) else None
    assert stated_confidence(report) == stated
    assert stated_confidence(report.model_copy(update={"answer": ()})) is None
    assert stated_confidence(report.model_copy(update={"confidence": 0.0})) is None
