"""Bearers of one name: told apart by what a text adds to it, never by what is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.bearers import bearers, differ, share_little

TUNNEL = "What does the Karawanks Tunnel serve?"


@pytest.mark.parametrize("text", ["", "The tunnel is old.", "The Karawanks Tunnel is old."])
def test_a_text_may_say_nothing_of_the_bearer(text: str) -> None:
    assert bearers("Karawanks Tunnel", text) == frozenset()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("Karawanks Tunnel", "Karawanks Tunnel (railway) opened in 1906.", {"railway"}),
        ("Karawanks Tunnel", "Karawanks Tunnel ( railway ) - Home", {"railway"}),
        ("Springfield", "Springfield, Ohio is a city.", {"ohio"}),
        (
            "Shawnee Hills",
            "Shawnee Hills, Delaware County, Ohio, is small.",
            {"delaware county ohio"},
        ),
        ("Coneo", "Amanda Coneo plays volleyball.", {"amanda"}),
        ("Coneo", "In Coneo they trust, as in Muriel Coneo.", {"muriel"}),
        ("Ada Holm", "Mrs Ada Holm came.", set()),
        ("Springfield", "In Springfield, it rained.", set()),
    ],
)
def test_what_a_text_adds_to_a_name_tells_its_bearer(name: str, text: str, told: set[str]) -> None:
    assert bearers(name, text) == told


def test_texts_about_two_bearers_differ() -> None:
    one, other = ["Karawanks Tunnel (railway)."], ["Karawanks Tunnel (motorway)."]
    assert differ(TUNNEL, one, other, apart=())
    assert not differ(TUNNEL, one, one, apart=())
    assert not differ(TUNNEL, one, ["The Karawanks Tunnel is old."], apart=())
    assert not differ("What is old?", one, other, apart=())


def test_a_title_in_quotation_marks_has_bearers_too() -> None:
    asked = 'Who is the artist of the album "Beyond Measure"?'
    one, other = ["Beyond Measure (2006 album)"], ["Beyond Measure (2010 album)"]
    assert differ(asked, one, other, apart=())


def test_what_is_asked_for_tells_no_bearers_apart() -> None:
    asked = "When was Ada Holm born?"
    one, other = ["Ada Holm (born 1900) sang."], ["Ada Holm (born 1905) sang."]
    assert differ(asked, one, other, apart=())
    assert not differ(asked, one, other, apart=("1900", "1905"))


def test_one_shared_mark_makes_them_one() -> None:
    one = ["Springfield, Ohio.", "Springfield (city)."]
    assert not differ("Where is Springfield?", one, ["Springfield, Ohio."], apart=())


@given(st.text(alphabet="Ab (),.\n", max_size=60), st.text(alphabet="Ab (),.\n", max_size=60))
def test_differing_has_no_direction(one: str, other: str) -> None:
    asked = "Who is the Ab?"
    assert differ(asked, [one], [other], apart=()) == differ(asked, [other], [one], apart=())


def test_texts_that_have_few_words_in_common_share_little() -> None:
    asked = "When was Ada Holm born?"
    one = ["Ada Holm, a painter of harbours, was born in 1900 in Lund."]
    copy = ["Ada Holm, a painter of harbours, was born in 1905 in Lund."]
    other = ["Ada Holm, who rowed for her university, was born in 1950."]
    assert share_little(asked, one, other, apart=("1900", "1950"))
    assert not share_little(asked, one, copy, apart=("1900", "1905"))


def test_texts_that_say_nothing_besides_do_not_share_little() -> None:
    assert not share_little("When was Ada born?", ["Ada was born."], ["Ada was born."], apart=())
