"""Entities of sanctions lists, and their kinds in words."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import ValidationError

from deepdiver.tools.osint.sanctions.entity import KINDS, SOUGHT, Entity
from deepdiver.tools.osint.sanctions.query import Kind


def test_a_schema_in_words() -> None:
    assert Entity(id="Q1", schema_name="PublicBody", name="Ministry").kind == "public body"
    assert Entity(id="Q1", schema_name="Security", name="Bond").kind == "security"
    assert Entity(id="Q1", schema_name="Person", name="Ivan").person
    assert not Entity(id="Q1", schema_name="LegalEntity", name="Ivan").person


def test_a_legal_entity_may_be_either() -> None:
    assert "LegalEntity" in SOUGHT["person"] & SOUGHT["organisation"]
    assert "LegalEntity" not in SOUGHT["vessel"]


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError):
        Entity.model_validate({"id": "Q1", "schema_name": "Person", "name": "Ivan", "more": 1})
    with pytest.raises(ValidationError):
        Entity.model_validate(
            {"id": "Q1", "schema_name": "Person", "name": "Ivan", "birth_date": "1961"}
        )


def test_it_can_be_written_and_read_again() -> None:
    whole = Entity(
        id="NK-1",
        schema_name="Company",
        name="ООО «Ромашка»",
        birth_date=(),
        countries=("ru", "suhh"),
        datasets=("eu_fsf",),
        sanctions="EX-1 - 2022-03-01",
        first_seen="2022-03-02T09:00:00",
        last_seen="2026-11-14T06:00:00",
        last_change="2026-11-01T06:00:00",
    )
    assert Entity.model_validate_json(whole.model_dump_json()) == whole
    assert whole.kind == "company"


@pytest.mark.parametrize("schema", sorted(KINDS))
def test_every_kind_is_in_lower_case(schema: str) -> None:
    kind = Entity(id="Q1", schema_name=schema, name="Ivan").kind
    assert kind == kind.lower()
    assert kind.replace(" ", "").isalpha()


def test_each_kind_of_a_query_has_known_schemas() -> None:
    assert set(SOUGHT) == set(get_args(Kind)) - {""}
    for schemas in SOUGHT.values():
        assert schemas <= KINDS.keys()
