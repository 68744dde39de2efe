from __future__ import annotations

from typing import get_args

import pytest
from pydantic import ValidationError

from deepdiver.tools.osint.sanctions.entity import KINDS, SOUGHT, Entity
from deepdiver.tools.osint.sanctions.query import Kind


def test_what_it_is_in_words() -> None:
    assert Entity(id="Q1", schema_name="PublicBody", name="Ministry").kind == "public body"
    assert Entity(id="Q1", schema_name="Security", name="Bond").kind == "security"
    assert Entity(id="Q1", schema_name="Person", name="Ivan").person
    assert not Entity(id="Q1", schema_name="LegalEntity", name="Ivan").person


def test_a_legal_entity_may_be_either() -> None:
    assert "LegalEntity" in SOUGHT["person"] & SOUGHT["organisation"]
    assert "LegalEntity" not in SOUGHT["vessel"]


def test_it_is_closed() -> None:
    with pytest.raises(ValidationError):
        Entity.model_validate({"id": "Q1", "schema_name": "Person", "name": "Ivan", "more": 1})
    with pytest.raises(ValidationError):
        Entity.model_validate(
            {"id": "Q1", "schema_name": "Person", "name": "Ivan", "birth_date": "1961"}
        )


def test_it_survives_being_written_and_read() -> None:
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
def test_every_kind_is_told_in_small_letters(schema: str) -> None:
    kind = Entity(id="Q1", schema_name=schema, name="Ivan").kind
    assert kind == kind.lower()
    assert kind.replace(" ", "").isalpha()


def test_each_kind_that_can_be_asked_for_looks_at_schemas_that_are_known() -> None:
    assert set(SOUGHT) == set(get_args(Kind)) - {""}
    for schemas in SOUGHT.values():
        assert schemas <= KINDS.keys()
