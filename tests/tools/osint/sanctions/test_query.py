"""A query for sanctions lists: its payload, and the readings of its name."""

from __future__ import annotations

import pytest

from deepdiver.tools.osint.sanctions.query import Kind, SanctionsQuery


def test_a_payload_has_only_the_known_fields() -> None:
    assert SanctionsQuery("Ivan").payload() == {"name": "Ivan"}
    whole = SanctionsQuery("Ivan", "1961", "ru", "person").payload()
    assert whole == {"name": "Ivan", "birth_date": "1961", "country": "ru", "kind": "person"}


@pytest.mark.parametrize(
    ("kind", "readings"), [("", [True, False]), ("person", [True, False]), ("vessel", [False])]
)
def test_a_name_is_read_as_every_kind_that_it_may_be(kind: Kind, readings: list[bool]) -> None:
    assert [
        name.person for name in SanctionsQuery("Dr. Ivan S.A.", kind=kind).readings()
    ] == readings


def test_the_readings_differ_by_titles_and_legal_forms() -> None:
    person, organisation = SanctionsQuery("Dr. J.P. Stone Ltd").readings()
    assert person.words == ("j", "p", "stone", "ltd")
    assert organisation.words == ("dr", "jp", "stone")


def test_two_that_are_the_same_have_one_payload() -> None:
    assert (
        SanctionsQuery("Ivan", "1961").payload()
        == SanctionsQuery(name="Ivan", birth_date="1961").payload()
    )
    assert SanctionsQuery("Ivan", "1961").payload() != SanctionsQuery("Ivan", "1962").payload()
    assert SanctionsQuery("Ivan").payload() != SanctionsQuery("Ivan", kind="person").payload()
