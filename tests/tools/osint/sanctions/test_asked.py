from __future__ import annotations

import pytest

from deepdiver.tools.osint.sanctions.asked import Asked, Kind


def test_only_what_is_known_shapes_the_answer() -> None:
    assert Asked("Ivan").payload() == {"name": "Ivan"}
    whole = Asked("Ivan", "1961", "ru", "person").payload()
    assert whole == {"name": "Ivan", "birth_date": "1961", "country": "ru", "kind": "person"}


@pytest.mark.parametrize(
    ("kind", "readings"), [("", [True, False]), ("person", [True, False]), ("vessel", [False])]
)
def test_a_name_is_read_as_whatever_it_may_be(kind: Kind, readings: list[bool]) -> None:
    assert [name.person for name in Asked("Dr. Ivan S.A.", kind=kind).readings()] == readings


def test_the_readings_differ_where_persons_and_organisations_are_written_differently() -> None:
    person, organisation = Asked("Dr. J.P. Stone Ltd").readings()
    assert person.words == ("j", "p", "stone", "ltd")
    assert organisation.words == ("dr", "jp", "stone")


def test_two_that_are_the_same_have_one_payload() -> None:
    assert Asked("Ivan", "1961").payload() == Asked(name="Ivan", birth_date="1961").payload()
    assert Asked("Ivan", "1961").payload() != Asked("Ivan", "1962").payload()
    assert Asked("Ivan").payload() != Asked("Ivan", kind="person").payload()
