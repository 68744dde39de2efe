"""What a request may say: a closed list, and nothing that names a place or a program."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.core.settings import MACHINE, Settings
from deepdiver.run.begin import LONGEST_QUESTION
from deepdiver.service import schemas
from deepdiver.service.schemas import Answer, FollowUp, NewRun, Schema, Steer, WatchPeriod

FORBIDDEN = (
    *MACHINE - {"budget"},
    *("urls", "documents", "documents_within", "search", "feeds", "news_feeds", "allow_hosts"),
    *("system_prompt", "sanctions_file", "task_models", "prices", "limits", "deadlines", "past"),
)


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
def test_no_request_sets_what_belongs_to_the_machine(name: str) -> None:
    assert name in Settings.model_fields
    with pytest.raises(ValidationError, match="Extra inputs"):
        NewRun.model_validate({"question": "Who?", name: "x"})


@pytest.mark.parametrize(
    "asked",
    [
        {"question": ""},
        {"question": "  "},
        {"question": "a\0b"},
        {"question": "x" * 8_001},
        {"question": "Who?", "strategy": "../popper"},
        {"question": "Who?", "sources": ["/etc"]},
        {"question": "Who?", "budget": "NaN"},
        {"question": "Who?", "budget": -1},
        {"question": "Who?", "max_iterations": 0},
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        NewRun.model_validate(asked)


def test_an_answer_is_one_of_four_and_short() -> None:
    assert Answer(action="edit", problems=("Who?",)).problems == ("Who?",)
    for said in ({"action": "delete"}, {"action": "edit", "problems": ["x"] * 21}, {}):
        with pytest.raises(ValidationError):
            Answer.model_validate(said)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (NewRun, {"question": "Who?", "model": "m" * 201}),
        (NewRun, {"question": "Who?", "audience": "a" * 401}),
        (NewRun, {"question": "Who?", "report_language": "l" * 41}),
        (NewRun, {"question": "Who?", "length": "endless"}),
        (NewRun, {"question": "Who?", "format": "song"}),
        (NewRun, {"question": "Who?", "max_iterations": 101}),
        (NewRun, {"question": "Who?", "budget": "1001"}),
        (NewRun, {"question": "Who?", "budget": "0.0000001"}),
        (NewRun, {"question": "Who?", "budget": "Infinity"}),
        (NewRun, {"question": "Who?", "sources": ["web"] * 7}),
        (NewRun, {"question": ["Who?"]}),
        (NewRun, {"question": None}),
        (NewRun, {}),
        (Answer, {"action": "edit", "problems": [" "]}),
        (Answer, {"action": "edit", "problems": ["a\0b"]}),
        (Answer, {"action": "edit", "problems": ["x" * 1_001]}),
        (Answer, {"action": "reject", "reason": "x" * 2_001}),
        (Answer, {"action": "add", "constraints": "x" * 2_001}),
        (Steer, {"action": "look", "text": ""}),
        (Steer, {"action": "look"}),
        (FollowUp, {"question": "\n"}),
        (WatchPeriod, {"days": 0}),
        (WatchPeriod, {"days": 366}),
        (WatchPeriod, {"days": "soon"}),
    ],
)
def test_what_is_too_long_too_much_or_nothing_is_refused(
    kind: type[Schema], said: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(said)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (NewRun, {"question": "x" * LONGEST_QUESTION}),
        (NewRun, {"question": "Who?", "budget": "0"}),
        (NewRun, {"question": "Who?", "budget": "1000", "max_iterations": 100}),
        (NewRun, {"question": "Who?", "sources": ["files", "web"], "strategy": "navigator"}),
        (Answer, {"action": "edit", "problems": ["x" * 1_000] * 20}),
        (Steer, {"action": "ignore", "text": "x" * 1_000}),
        (WatchPeriod, {"days": 365}),
        (WatchPeriod, {}),
    ],
)
def test_what_is_just_within_is_taken(kind: type[Schema], said: dict[str, Any]) -> None:
    made = kind.model_validate(said)
    assert kind.model_validate_json(made.model_dump_json()) == made


def test_half_a_character_reaches_no_database() -> None:
    with pytest.raises(ValidationError, match="unicode"):
        NewRun(question="Who is \ud83d?")


def test_every_schema_is_closed_and_each_field_is_explained() -> None:
    made = [kind for kind in vars(schemas).values() if isinstance(kind, type)]
    own = [kind for kind in made if issubclass(kind, Schema) and kind is not Schema]
    assert len(own) > 20
    for kind in own:
        assert kind.model_config["extra"] == "forbid", kind
        assert kind.model_config["frozen"], kind
        assert kind.__doc__, kind
        for name, field in kind.model_fields.items():
            assert field.description, f"{kind.__name__}.{name} is not in the OpenAPI document"
