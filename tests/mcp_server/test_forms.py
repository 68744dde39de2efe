"""What tools take: nothing but what is named, in bounds; and schemas that clients can read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.mcp_server import forms
from deepdiver.mcp_server.forms import (
    AskAboutRun,
    Audit,
    Form,
    LibrarySearch,
    OfRun,
    ReadReport,
    Research,
)

ALL = [form for form in vars(forms).values() if isinstance(form, type) and issubclass(form, Form)]


@pytest.mark.parametrize(
    ("form", "given"),
    [
        (Research, {}),
        (Research, {"question": ""}),
        (Research, {"question": "x" * 8_001}),
        (Research, {"question": ["x"]}),
        (Research, {"question": "x", "strategy": "poper"}),
        (Research, {"question": "x", "documents": [""]}),
        (Research, {"question": "x", "documents": ["a"] * 51}),
        (Research, {"question": "x", "documents": ["a" * 1_001]}),
        (Research, {"question": "x", "budget": -1}),
        (Research, {"question": "x", "budget": "NaN"}),
        (Research, {"question": "x", "budget": 1e9}),
        (Research, {"question": "x", "max_iterations": 0}),
        (Research, {"question": "x", "wait": "perhaps"}),
        (OfRun, {"run": ""}),
        (OfRun, {"run": "202"}),
        (OfRun, {"run": "../../etc/passwd"}),
        (OfRun, {"run": "%" * 10}),
        (OfRun, {"run": "a" * 101}),
        (ReadReport, {"run": "20261115", "format": "html"}),
        (AskAboutRun, {"run": "20261115"}),
        (Audit, {"run": "20261115", "replay": 7}),
        (LibrarySearch, {"query": ""}),
        (LibrarySearch, {"query": "x", "limit": 51}),
    ],
)
def test_what_makes_no_sense_is_refused(form: type[Form], given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        form.model_validate(given)


@pytest.mark.parametrize(
    "name",
    [
        "model",
        "fast_model",
        "urls",
        "keys",
        "home",
        "search",
        "mcp",
        "command",
        "settings",
        "out",
        "feeds",
    ],
)
def test_no_request_can_name_what_belongs_to_whoever_started_the_server(name: str) -> None:
    for form in ALL:
        assert name not in form.model_fields
    with pytest.raises(ValidationError, match="Extra inputs"):
        Research.model_validate({"question": "x", name: "y"})


def test_all_that_can_be_asked_of_research() -> None:
    asked = Research.model_validate(
        {
            "question": "x",
            "strategy": "navigator",
            "documents": ["a"],
            "budget": "0.5",
            "max_iterations": 3,
            "wait": True,
        }
    )
    assert asked.strategy == "navigator"
    assert asked.budget == Decimal("0.5")
    assert Research(question="x", strategy="auto").strategy == "auto"
    plain = Research(question="x")
    assert (plain.strategy, plain.documents, plain.budget, plain.wait) == (None, (), None, False)


@pytest.mark.parametrize("form", ALL, ids=lambda form: form.__name__)
def test_every_schema_is_a_closed_object_whose_fields_are_explained(form: type[Form]) -> None:
    for mode in ("validation", "serialization"):
        schema = form.model_json_schema(mode=mode)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        for name, field in schema.get("properties", {}).items():
            assert field.get("description"), f"{form.__name__}.{name}"


@given(
    st.dictionaries(
        st.text(max_size=8), st.one_of(st.none(), st.integers(), st.text(max_size=20), st.binary())
    )
)
def test_no_arguments_make_it_stumble(given: dict[str, Any]) -> None:
    for form in (Research, OfRun, LibrarySearch):
        with pytest.raises(ValidationError):
            form.model_validate(given)
