"""A lead has one id for its kind and text, enters the ledger like any record, and is of a known kind."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.lead import Lead
from deepdiver.core.ledger import KINDS, Ledger, merge


def test_a_lead_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValidationError):
        Lead.model_validate({"id": "lead_1", "kind": "rumour", "text": "x"})


def test_a_lead_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Lead.of("name", "Anna Holm").text = "Bertil Ask"  # type: ignore[misc]


def test_the_same_lead_found_twice_is_one() -> None:
    one, other = Lead.of("name", "Anna Holm"), Lead.of("name", "Anna Holm")
    assert one == other
    assert Lead.of("query", "Anna Holm").id != one.id
    assert Lead.of("name", "Bertil Ask").id != one.id
    assert len(merge(Ledger([one]), Ledger([other]))) == 1


def test_the_ledger_reads_it_back() -> None:
    lead = Lead.of("url", "https://a.example/x")
    assert KINDS["lead"].model_validate_json(lead.model_dump_json()) == lead
    assert Ledger([lead]).get(Lead, lead.id) == lead
