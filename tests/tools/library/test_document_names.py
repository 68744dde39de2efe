"""What names what: titles as they stand in texts, whatever their script and accents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.library.document_names import LONGEST, name_of_title, names_in
from tests.patience import in_proportion


@pytest.mark.parametrize(
    "title",
    ["", "  ", "?!", "AB", "(all in brackets)"[:1], "one two three four five six seven eight nine"],
)
def test_what_is_no_name(title: str) -> None:
    assert name_of_title(title) == ""


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Anna Holm", "anna holm"),
        ("Mercury (planet)", "mercury"),
        ("(planet)", "planet"),
        ("Éjdervik", "ejdervik"),
        ("Svedjan Ost AB", "svedjan ost ab"),
        ("AT&T-Park, 2nd", "at t park 2nd"),
        ("東京都", "東京都"),
    ],
)
def test_what_a_document_goes_by(title: str, name: str) -> None:
    assert name_of_title(title) == name


def test_names_run_from_capital_to_capital() -> None:
    found = names_in("The ferry is owned by Anna Holm of the Bank of Vantskär since 1998.")
    assert {
        "anna holm",
        "anna",
        "holm",
        "bank of vantskar",
        "anna holm of the bank of vantskar",
        "1998",
    } <= found
    assert "ferry" not in found
    assert "bank of" not in found
    assert "of vantskar" not in found


def test_a_script_without_capitals_has_names_too() -> None:
    assert "東京都" in names_in("彼は 東京都 で生まれた。")


def test_accents_and_joined_letters_do_not_part_a_name_from_its_title() -> None:
    assert name_of_title("Café Müller") in names_in("They met at the Cafe\u0301 Mu\u0308ller.")


def test_no_name_is_longer_than_a_title() -> None:
    found = names_in(" ".join(["Word"] * 50))
    assert max(len(name.split()) for name in found) == LONGEST


def test_a_long_text_takes_no_long_time() -> None:
    with in_proportion():
        names_in("Name " * 200_000)


@given(st.text(max_size=60))
def test_a_title_that_stands_in_a_text_is_found_there(title: str) -> None:
    name = name_of_title(title)
    if name and not name[0].islower() and not name.split()[-1][0].islower():
        assert name in names_in(name)
