"""Events: one union, told apart by their type, that survives being written down."""

from __future__ import annotations

import inspect
import json
import re
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core import events
from deepdiver.core.events import (
    EVENT,
    CallEnded,
    CallFailed,
    CallProgressed,
    CallStarted,
    CallUncertain,
    Decided,
    Event,
    EventBase,
    FindingAdded,
    FindingDropped,
    HypothesisProposed,
    HypothesisTested,
    Limited,
    PersonAsked,
    PhaseStarted,
    PlanProposed,
    Reasoned,
    Recalled,
    RunEnded,
    RunStarted,
    Searched,
    SentenceCut,
    SourceRead,
    Steered,
    TaskPerformed,
)
from deepdiver.core.record import HypothesisStatus, RunStatus

MEMBERS: tuple[type[EventBase], ...] = get_args(get_args(Event)[0])
CALL: dict[str, Any] = {
    "call": "ab12",
    "kind": "search",
    "provider": "tavily",
    "what": "svedjan owners",
}
EXAMPLES: tuple[Event, ...] = (
    RunStarted(
        run="r_1",
        question="Who runs Svedjan Ost AB?",
        strategy="popper",
        reasoner="embedded",
        providers=("library",),
        ceiling=Decimal("0.1000000000000000000001"),
        budget=Decimal(2),
        resumed=True,
        at="2026-11-15T00:00:00Z",
    ),
    RunStarted(
        run="r_1", question="?", strategy="popper", reasoner="embedded", providers=(), ceiling=None
    ),
    PhaseStarted(phase="gather", iteration=2, detail="three queries"),
    TaskPerformed(
        task="judge",
        model="embedded",
        prompt="…",
        answer={"judgements": [1, None, "ä"]},
        thinking="hm",
    ),
    TaskPerformed(task="judge", model="embedded", prompt="…", answer=None, error="no JSON"),
    CallStarted(**CALL),
    CallProgressed(**CALL, stage="reading", done=3, total=12),
    CallEnded(**CALL, origin="cache", cost=Decimal("0.0000012"), seconds=0.25),
    CallFailed(**CALL, error="too many requests", retry_in=1.5),
    CallFailed(**CALL, error="refused"),
    CallUncertain(**CALL, may_have_cost=Decimal("0.03"), action="held"),
    Searched(query="who owns it", titles=("Register", "Gazette")),
    SourceRead(source="s_1", title="Register", url="a.txt", credibility=0.9),
    FindingAdded(finding="f_1", statement="Karin runs it.", source="s_1"),
    FindingDropped(statement="Nobody said that.", reason="the quote does not stand in the text"),
    SentenceCut(text="Nobody owns it.", reason="it names no finding", section="Owners"),
    SentenceCut(text="Nobody owns it.", reason="it names no finding"),
    Recalled(run="r_0", question="Who owns Svedjan Ost AB?", days=30, status=RunStatus.PARTIAL),
    PlanProposed(problems=("Who?", "When?")),
    HypothesisProposed(hypothesis="h_1", statement="It is so.", refutes_if="It is not.", prior=0.5),
    HypothesisTested(
        hypothesis="h_1",
        statement="It is so.",
        posterior=0.7,
        status=HypothesisStatus.SUPPORTED,
        searched=True,
    ),
    Decided(decision="finish", reason="nothing new", by="reasoner"),
    Reasoned(
        step_number=3,
        phase="analyzing",
        thought="What the findings show",
        action="Analysed 5 findings",
        observation="2 insights",
        conclusion="on to reflecting",
        confidence=0.75,
        thinking="First …",
    ),
    Limited(what="one page could not be read"),
    Steered(action="ignore", text="https://gazette.example/a"),
    PersonAsked(question={"plan": ["Who?"], "ask": {"approve": True}}, number=1),
    RunEnded(run="r_1", status=RunStatus.ANSWERED, cost=Decimal("0.10"), report_hash="ab"),
)


def test_there_is_an_example_of_every_event() -> None:
    assert {type(example) for example in EXAMPLES} == set(MEMBERS)


def test_every_event_of_the_module_is_in_the_union() -> None:
    defined = {
        kind
        for _, kind in inspect.getmembers(events, inspect.isclass)
        if issubclass(kind, EventBase) and kind is not EventBase
    }
    assert defined == set(MEMBERS)


@pytest.mark.parametrize(
    "text", ['{"type": "run_exploded"}', "{}", '{"type": null}', "[]", "nonsense", "null"]
)
def test_what_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        EVENT.validate_json(text)


def test_an_unknown_type_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"run_exploded.*run_started.*run_ended"):
        EVENT.validate_python({"type": "run_exploded"})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.type)
class TestEveryEvent:
    def test_survives_being_written_down(self, example: Event) -> None:
        again = EVENT.validate_json(EVENT.dump_json(example))
        assert again == example
        assert type(again) is type(example)
        assert EVENT.validate_json(example.model_dump_json()) == example
        assert (
            EVENT.validate_python(json.loads(json.dumps(example.model_dump(mode="json"))))
            == example
        )

    def test_is_told_by_its_type_alone(self, example: Event) -> None:
        values = example.model_dump(mode="json")
        assert values["type"] == re.sub(r"(?<!^)(?=[A-Z])", "_", type(example).__name__).lower()
        with pytest.raises(ValidationError, match="type"):
            EVENT.validate_python({key: value for key, value in values.items() if key != "type"})

    def test_is_closed_and_frozen(self, example: Event) -> None:
        with pytest.raises(ValidationError, match="surprise"):
            EVENT.validate_python({**example.model_dump(), "surprise": 1})
        with pytest.raises(ValidationError, match="frozen"):
            setattr(example, "at", "now")  # noqa: B010 the type checker knows it is frozen

    def test_keeps_money_exact(self, example: Event) -> None:
        saved = json.loads(example.model_dump_json())
        for name, value in example.model_dump().items():
            if isinstance(value, Decimal):
                assert saved[name] == str(value), "money is written as text: a float would round it"


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.__name__)
def test_a_docstring_stands_under_every_field(member: type[EventBase]) -> None:
    assert member.__doc__
    silent = [name for name, field in member.model_fields.items() if not field.description]
    assert not silent


def test_types_are_unique() -> None:
    types = [member.model_fields["type"].default for member in MEMBERS]
    assert len(set(types)) == len(types)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"type": "call_ended", **CALL, "origin": "thin air"}, "origin"),
        ({"type": "call_uncertain", **CALL, "may_have_cost": "1", "action": "ignored"}, "action"),
        ({"type": "call_ended", **CALL, "origin": "live", "cost": "much"}, "cost"),
        ({"type": "run_ended", "run": "r", "status": "exploded", "cost": "0"}, "status"),
        ({"type": "phase_started", "phase": "gather", "iteration": "two"}, "iteration"),
        ({"type": "limited"}, "what"),
    ],
)
def test_bad_values_are_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        EVENT.validate_python(values)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.text(),
)
def test_any_answer_and_any_text_come_back_as_they_were(answer: Any, prompt: str) -> None:
    event = TaskPerformed(task="judge", model="m", prompt=prompt, answer=answer)
    again = EVENT.validate_json(event.model_dump_json())
    assert again == event


def test_an_event_can_be_saved_whatever_is_in_it() -> None:
    event = TaskPerformed(task="judge", model="m", prompt="\udcff", answer={"\ud800": ["a\udfff"]})
    assert EVENT.validate_json(event.model_dump_json()) == event
    assert event.answer == {"?": ["a?"]}
