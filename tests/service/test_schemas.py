"""What a request may say: a closed list, and nothing that names a place or a program."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.settings import MACHINE, Settings
from deepdiver.service.schemas import Answer, NewRun

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
