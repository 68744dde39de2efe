"""Another round follows while something is open and the last one found something new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.decide import MOST_GAPS, decide
from deepdiver.tasks import Decide, Decision, HypothesisStanding
from tests.reason.embedded.shown import standing

SUPPORTED, REFUTED = HypothesisStatus.SUPPORTED, HypothesisStatus.REFUTED
UNDECIDED, OPEN = HypothesisStatus.UNDECIDED, HypothesisStatus.OPEN
PROBLEMS = (
    "Which parents run Acme Ltd?",
    "Who are the children?",
    "How old are the children?",
    "Why?",
)


def decided(
    *statuses: HypothesisStatus,
    findings: int = 5,
    new: int = 2,
    iteration: int = 1,
    last: int = 3,
    problems: tuple[str, ...] = PROBLEMS,
) -> Decision:
    held: tuple[HypothesisStanding, ...] = tuple(
        standing(f"Claim {n}.", status) for n, status in enumerate(statuses)
    )
    return decide(
        Decide(
            question="How old are the children?",
            problems=problems,
            standing=held,
            findings=findings,
            new_findings=new,
            iteration=iteration,
            max_iterations=last,
        )
    )


@pytest.mark.parametrize(
    ("statuses", "new", "iteration", "decision"),
    [
        ((SUPPORTED,), 2, 1, "finish"),
        ((SUPPORTED, REFUTED), 2, 1, "finish"),
        ((SUPPORTED, UNDECIDED), 2, 1, "finish"),
        ((UNDECIDED,), 2, 1, "continue"),
        ((REFUTED, REFUTED), 2, 1, "continue"),
        ((), 2, 1, "continue"),
        ((OPEN,), 0, 1, "continue"),
        ((UNDECIDED,), 0, 1, "finish"),
        ((REFUTED,), 0, 2, "finish"),
        ((), 0, 1, "finish"),
        ((), 5, 3, "finish"),
        ((OPEN,), 5, 3, "finish"),
        ((UNDECIDED,), 5, 4, "finish"),
    ],
)
def test_when_to_go_on(
    statuses: tuple[HypothesisStatus, ...], new: int, iteration: int, decision: str
) -> None:
    made = decided(*statuses, new=new, iteration=iteration)
    assert made.decision == decision
    assert made.reason


def test_the_gaps_are_the_last_problems() -> None:
    made = decided(UNDECIDED)
    assert made.gaps == PROBLEMS[-MOST_GAPS:]


def test_without_problems_the_question_is_the_gap() -> None:
    assert decided(problems=()).gaps == ("How old are the children?",)


def test_who_finishes_names_no_gaps() -> None:
    assert decided(SUPPORTED).gaps == ()


def test_the_reason_says_what_is_open() -> None:
    assert "refuted" in decided(REFUTED).reason
    assert "nothing has been found" in decided(findings=0).reason
    assert "no hypothesis yet" in decided(findings=3).reason
    assert "nothing new" in decided(UNDECIDED, new=0).reason


@given(
    st.lists(st.sampled_from([SUPPORTED, REFUTED, UNDECIDED, OPEN]), max_size=6),
    st.integers(0, 50),
    st.integers(1, 10),
    st.floats(0.01, 0.99),
)
def test_belief_alone_never_decides(
    statuses: list[HypothesisStatus], new: int, iteration: int, belief: float
) -> None:
    def at(posterior: float) -> Decision:
        held = tuple(
            standing(f"Claim {n}.", status, posterior) for n, status in enumerate(statuses)
        )
        task = Decide(
            question="Why?",
            problems=(),
            standing=held,
            findings=new,
            new_findings=new,
            iteration=iteration,
            max_iterations=5,
        )
        return decide(task)

    assert at(belief) == at(0.5)


@given(
    st.lists(st.sampled_from([SUPPORTED, REFUTED, UNDECIDED, OPEN]), max_size=6),
    st.integers(0, 9),
    st.integers(1, 9),
)
def test_the_hard_stop_is_hard(statuses: list[HypothesisStatus], new: int, last: int) -> None:
    assert decided(*statuses, new=new, iteration=last, last=last).decision == "finish"
