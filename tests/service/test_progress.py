"""The picture of a run in progress, from its events and nothing else."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import pytest

from deepdiver.core.events import (
    EVENT,
    CallEnded,
    CallFailed,
    CallStarted,
    Decided,
    Event,
    FindingAdded,
    FindingDropped,
    HypothesisProposed,
    HypothesisTested,
    Limited,
    PhaseStarted,
    PlanProposed,
    RunEnded,
    RunStarted,
    Searched,
    SentenceCut,
    SourceRead,
    TaskPerformed,
)
from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.service.progress import line_of, progress_of

CALL: dict[str, Any] = {"call": "k", "kind": "model", "provider": "m", "what": "write"}
STARTED = RunStarted(
    run="r",
    question="Who?",
    strategy="popper",
    reasoner="no model",
    providers=("library",),
    ceiling=Decimal("2"),
    budget=Decimal("1"),
)
STORY: tuple[Event, ...] = (
    STARTED,
    PhaseStarted(phase="try_to_refute", iteration=1, detail="look"),
    PlanProposed(problems=("Who owns it?",)),
    Searched(query="owner", titles=("A", "B")),
    SourceRead(source="s1", title="A", url="https://a.example", credibility=0.8),
    FindingAdded(finding="f1", statement="Karin owns it", source="s1"),
    FindingDropped(statement="x", reason="not there"),
    SentenceCut(text="x", reason="y"),
    HypothesisProposed(hypothesis="h1", statement="Karin", refutes_if="Nils", prior=0.5),
    HypothesisTested(
        hypothesis="h1",
        statement="Karin",
        posterior=0.82,
        status=HypothesisStatus.SUPPORTED,
        searched=True,
    ),
    Decided(decision="finish", reason="it is settled", by="popper"),
    Limited(what="a.pdf was not read"),
    CallStarted(**CALL),
    CallFailed(**CALL, error="m: busy", retry_in=2.0),
    CallEnded(**CALL, origin="live", cost=Decimal("0.25")),
    CallEnded(**CALL, origin="journal", cost=Decimal("0.25")),
    TaskPerformed(task="write", model="m", prompt="", answer={}),
)


def numbered(*events: Event) -> list[tuple[int, str]]:
    return [(number, event.model_dump_json()) for number, event in enumerate(events, 1)]


def test_nothing_has_happened() -> None:
    made = progress_of([])
    assert made.last == 0
    assert made.share is None
    assert not made.cards


def test_the_whole_story() -> None:
    made = progress_of(numbered(*STORY))
    assert made.last == len(STORY)
    assert [(phase.name, phase.round) for phase in made.phases] == [("try to refute", 1)]
    assert made.plan == ("Who owns it?",)
    assert made.searches == [("owner", 2)]
    assert made.sources["s1"][0] == "A"
    assert made.findings == {"f1": "Karin owns it"}
    assert (made.dropped, made.cut) == (1, 1)
    card = made.cards["h1"]
    assert (card.before, card.percent, card.tests) == (50, 82, 1)
    assert card.status is HypothesisStatus.SUPPORTED
    assert made.decisions == [("finish", "it is settled", "popper")]
    assert made.limits == ["a.pdf was not read"]
    assert made.troubles == ["m: busy; again in 2 s"]
    assert made.cost == Decimal("0.25"), "what is answered from the journal costs nothing"
    assert made.share == 25, "of the budget, which is less than the ceiling"
    assert made.waiting_for == ""


@pytest.mark.parametrize(
    ("kind", "shown"), [("model", "m: write sections"), ("search", "m: write_sections")]
)
def test_the_name_of_a_task_is_shown_in_words_and_a_query_as_it_is(
    kind: Literal["model", "search"], shown: str
) -> None:
    begun = CallStarted(call="1", kind=kind, provider="m", what="write_sections")
    assert progress_of(numbered(begun)).waiting_for == shown


@pytest.mark.parametrize(
    ("budget", "ceiling", "spent", "share"),
    [
        (None, None, "0.10", None),
        ("0.50", None, "0.10", 20),
        (None, "0.20", "0.10", 50),
        ("0.50", "0.20", "0.10", 50),
        ("0.10", "0.20", "0.30", 100),
        ("0", None, "0", None),
    ],
)
def test_money_is_shown_against_the_least_that_bounds_it(
    budget: str | None, ceiling: str | None, spent: str, share: int | None
) -> None:
    bounds = {
        name: None if text is None else Decimal(text)
        for name, text in (("budget", budget), ("ceiling", ceiling))
    }
    begun = STARTED.model_copy(update={**bounds, "spent": Decimal(spent)})
    assert progress_of(numbered(begun)).share == share


def test_what_is_told_twice_is_shown_once() -> None:
    decided = Decided(decision="finish", reason="it is settled", by="popper")
    story = [PhaseStarted(phase="gather", iteration=1)] * 3
    made = progress_of(
        numbered(*story, decided, decided, Limited(what="no web"), Limited(what="no web"))
    )
    assert len(made.phases) == len(made.decisions) == len(made.limits) == 1
    assert made.last == 7


def test_a_resumed_run_tells_its_story_again_and_it_is_shown_once() -> None:
    ended = RunEnded(run="r", status=RunStatus.STOPPED, cost=Decimal("0.25"), error="stopped")
    first = progress_of(numbered(*STORY, ended))
    assert (first.ended, first.error) == ("stopped", "stopped")
    again = progress_of(numbered(*STORY, ended, *STORY))
    assert (again.ended, again.error) == ("", "")
    assert again.searches == [("owner", 2)]
    assert len(again.sources) == len(again.findings) == len(again.decisions) == 1


def test_a_test_of_a_hypothesis_that_was_never_put_forward_is_shown_too() -> None:
    tested = next(event for event in STORY if isinstance(event, HypothesisTested))
    assert progress_of(numbered(tested)).cards["h1"].percent == 82


@pytest.mark.parametrize("event", STORY, ids=lambda event: event.type)
def test_a_line_is_one_line(event: Event) -> None:
    assert "\n" not in line_of(event)
    assert line_of(EVENT.validate_json(event.model_dump_json())) == line_of(event)


def test_what_a_reader_is_told() -> None:
    lines = [line_of(event) for event in STORY]
    assert "Read A" in lines
    assert "Supported (0.82): Karin" in lines
    assert line_of(STORY[-1]) == ""
