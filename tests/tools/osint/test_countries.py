"""Countries by code and by name."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.countries import EXTRA_CODES, code_of, countries

NAMED = [
    (country.code, name)
    for country in countries().values()
    for name in (country.name, *country.other_names)
]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "XX",
        "xx",
        "ZZZ",
        "Narnia",
        "Korean",
        "Congolese",
        "Dominican",
        "\x00",
        "U A",
        "North America",
    ],
)
def test_a_text_that_is_not_a_country_has_no_code(text: str) -> None:
    assert code_of(text) is None


def test_all_codes_are_there_once() -> None:
    assert len(countries()) == 249
    assert all(
        re.fullmatch("[A-Z]{2}", code) and country.code == code
        for code, country in countries().items()
    )
    alpha3 = [country.alpha3 for country in countries().values()]
    assert all(re.fullmatch("[A-Z]{3}", code) for code in alpha3)
    assert len(set(alpha3)) == 249
    assert not EXTRA_CODES.keys() & countries().keys()
    assert list(countries()) == sorted(countries())


def test_the_codes_are_those_of_the_system() -> None:
    table = Path("/usr/share/zoneinfo/iso3166.tab")
    if not table.exists():
        pytest.skip("this system has no table of countries beside its time zones")
    rows = [
        row.split("\t")
        for row in table.read_text(encoding="utf-8").splitlines()
        if row and row[0] != "#"
    ]
    assert {code for code, _ in rows} == countries().keys()
    differ = {name: code_of(name) for code, name in rows if code_of(name) not in (code, None)}
    assert differ == {}
    assert sum(code_of(name) == code for code, name in rows) >= 225


def test_no_name_is_listed_twice() -> None:
    names = [name.casefold() for _, name in NAMED]
    assert sorted(set(names)) == sorted(names)


def test_every_name_gives_its_code() -> None:
    for code, name in NAMED:
        assert code_of(name) == code_of(name.lower()) == code_of(f" {name.upper()}\n") == code


def test_codes_give_themselves() -> None:
    for code, country in countries().items():
        assert (
            code_of(code)
            == code_of(code.lower())
            == code_of(country.alpha3)
            == code_of(f" {code} ")
            == code
        )


def test_the_table_is_plain() -> None:
    table = files("deepdiver.tools.osint") / "countries.tsv"
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    assert header == "alpha2\talpha3\tname\tother_names"
    assert all(row.count("\t") == 3 and '"' not in row and row == row.strip(" ") for row in rows)
    assert len(rows) == 249


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert code_of(text) in {None, *countries()}
