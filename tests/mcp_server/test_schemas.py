"""What tools take: nothing but what is named, in bounds; and schemas that clients can read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.mcp_server import schemas
from deepdiver.mcp_server.schemas import (
    AskAboutRunArguments,
    AuditArguments,
    LibrarySearchArguments,
    ReportArguments,
    ResearchArguments,
    RunArguments,
    Schema,
)

ALL = [
    form for form in vars(schemas).values() if isinstance(form, type) and issubclass(form, Schema)
]


@pytest.mark.parametrize(
    ("form", "given"),
    [
        (ResearchArguments, {}),
        (ResearchArguments, {"question": ""}),
        (ResearchArguments, {"question": "x" * 8_001}),
        (ResearchArguments, {"question": ["x"]}),
        (ResearchArguments, {"question": "x", "strategy": "poper"}),
        (ResearchArguments, {"question": "x", "documents": [""]}),
        (ResearchArguments, {"question": "x", "documents": ["a"] * 51}),
        (ResearchArguments, {"question": "x", "documents": ["a" * 1_001]}),
        (ResearchArguments, {"question": "x", "budget": -1}),
        (ResearchArguments, {"question": "x", "budget": "NaN"}),
        (ResearchArguments, {"question": "x", "budget": 1e9}),
        (ResearchArguments, {"question": "x", "max_iterations": 0}),
        (ResearchArguments, {"question": "x", "max_iterations": -1}),
        (ResearchArguments, {"question": "x", "wait": "perhaps"}),
        (RunArguments, {"run": ""}),
        (RunArguments, {"run": "202"}),
        (RunArguments, {"run": "../../etc/passwd"}),
        (RunArguments, {"run": "%" * 10}),
        (RunArguments, {"run": "a" * 101}),
        (ReportArguments, {"run": "20261115", "format": "html"}),
        (AskAboutRunArguments, {"run": "20261115"}),
        (AuditArguments, {"run": "20261115", "replay": 7}),
        (LibrarySearchArguments, {"query": ""}),
        (LibrarySearchArguments, {"query": "x", "limit": 51}),
    ],
)
def test_what_makes_no_sense_is_refused(form: type[Schema], given: dict[str, Any]) -> None:
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
        ResearchArguments.model_validate({"question": "x", name: "y"})


def test_all_that_can_be_asked_of_research() -> None:
    asked = ResearchArguments.model_validate(
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
    assert ResearchArguments(question="x", strategy="auto").strategy == "auto"
    plain = ResearchArguments(question="x")
    assert (plain.strategy, plain.documents, plain.budget, plain.wait) == (None, (), None, False)


@pytest.mark.parametrize("form", ALL, ids=lambda form: form.__name__)
def test_every_schema_is_a_closed_object_whose_fields_are_explained(form: type[Schema]) -> None:
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
    for form in (ResearchArguments, RunArguments, LibrarySearchArguments):
        with pytest.raises(ValidationError):
            form.model_validate(given)
