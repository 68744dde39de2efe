"""Countries by code and by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.countries import (
    COUNTRIES,
    OTHERWISE,
    code_of,
    countries_named,
    country_named,
)
from deepdiver.tools.search.gdelt import COUNTRIES as FIPS

NAMED = [
    (country.code, name)
    for country in COUNTRIES.values()
    for name in (country.name, *country.others)
]


@pytest.mark.parametrize(
    "text",
    ["", " ", "XX", "xx", "ZZZ", "Narnia", "Korean", "Congolese", "Dominican", "\x00", "U A"],
)
def test_what_is_no_country(text: str) -> None:
    assert code_of(text) is None
    assert country_named(text) is None


def test_all_codes_are_there_once() -> None:
    assert len(COUNTRIES) == 249
    assert all(
        re.fullmatch("[A-Z]{2}", code) and country.code == code
        for code, country in COUNTRIES.items()
    )
    alpha3 = [country.alpha3 for country in COUNTRIES.values()]
    assert all(re.fullmatch("[A-Z]{3}", code) for code in alpha3)
    assert len(set(alpha3)) == 249
    assert not OTHERWISE.keys() & COUNTRIES.keys()
    assert list(COUNTRIES) == sorted(COUNTRIES)


def test_they_are_those_of_the_system() -> None:
    table = Path("/usr/share/zoneinfo/iso3166.tab")
    if not table.exists():
        pytest.skip("this system has no table of countries beside its time zones")
    rows = [
        row.split("\t")
        for row in table.read_text(encoding="utf-8").splitlines()
        if row and row[0] != "#"
    ]
    assert {code for code, _ in rows} == COUNTRIES.keys()
    differ = {name: code_of(name) for code, name in rows if code_of(name) not in (code, None)}
    assert differ == {}
    assert sum(code_of(name) == code for code, name in rows) >= 225


def test_no_name_is_listed_twice() -> None:
    names = [name.casefold() for _, name in NAMED]
    assert sorted(set(names)) == sorted(names)


def test_every_name_gives_its_code() -> None:
    for code, name in NAMED:
        assert code_of(name) == code_of(name.lower()) == code_of(f" {name.upper()}\n") == code
        assert countries_named(f"Trouble in {name}, they say") == (code,)


def test_codes_give_themselves() -> None:
    for code, country in COUNTRIES.items():
        assert (
            code_of(code)
            == code_of(code.lower())
            == code_of(country.alpha3)
            == code_of(f" {code} ")
            == code
        )
        assert country_named(code) == code


def test_fips_is_gdelts() -> None:
    assert {code: country.fips for code, country in COUNTRIES.items() if country.fips} == FIPS
    assert (COUNTRIES["UA"].fips, COUNTRIES["CH"].fips, COUNTRIES["AQ"].fips) == ("UP", "SZ", "")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Have strikes near Kharkiv, Ukraine, increased this week?", ("UA",)),
        ("the Ukrainian grid", ("UA",)),
        ("strikes in ukraine", ("UA",)),
        ("Did Russian-backed forces leave Moldova?", ("RU", "MD")),
        ("Guinea-Bissau, Guinea and Papua New Guinea", ("GW", "GN", "PG")),
        ("South Sudanese and Sudanese refugees in Chad", ("SS", "SD", "TD")),
        ("Niger and Nigeria", ("NE", "NG")),
        ("the U.S. and the UK", ("US", "GB")),
        ("DR Congo and Congo", ("CD", "CG")),
        ("Cote d’Ivoire; Türkiye; Trinidad & Tobago", ("CI", "TR", "TT")),
        ("Northern Ireland and Ireland", ("GB", "IE")),
        ("UKRAINE UKRAINE", ("UA",)),
        ("tell us what they polish, and eat turkey from the china", ()),
        ("Us and them", ()),
        (
            "New Mexico, New Jersey, the Gulf of Mexico, the Indian Ocean and the South China Sea",
            (),
        ),
        ("Ukrainians and Iraqis on the USS Kidd", ("UA", "IQ")),
        ("Indiana and Omaniac", ()),
        ("Kharkiv", ()),
    ],
)
def test_countries_in_a_text(text: str, codes: tuple[str, ...]) -> None:
    assert countries_named(text) == codes
    assert country_named(text) == (codes[0] if codes else None)


def test_a_small_code_in_a_text_is_a_word() -> None:
    assert country_named("in") is None
    assert country_named("can") is None
    assert country_named("UA") == "UA"
    assert country_named("UKR") == "UA"


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert set(countries_named(text)) <= COUNTRIES.keys()
    assert country_named(text) in {None, *COUNTRIES}


@given(st.lists(st.sampled_from(sorted(COUNTRIES)), min_size=1, max_size=6))
def test_their_order_is_the_texts(codes: list[str]) -> None:
    text = "; ".join(COUNTRIES[code].name for code in codes)
    assert countries_named(text) == tuple(dict.fromkeys(codes))
