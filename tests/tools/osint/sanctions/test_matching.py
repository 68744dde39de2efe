from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.matching import MATCH, POSSIBLE, Likeness, judged, likest


def entity(**more: object) -> Entity:
    whole = {
        "id": "Q1",
        "schema_name": "Person",
        "name": "Ivan Petrov",
        "birth_date": ("1961-05-02",),
    }
    return Entity.model_validate({**whole, "countries": ("ru",), **more})


def judge(asked: Asked, one: Entity, *names: str) -> Likeness:
    return judged(asked, one, likest(asked, names or (one.name,), one.person))


def test_the_very_name() -> None:
    likeness = judge(Asked("Ivan Petrov"), entity())
    assert (likeness.score, likeness.verdict, likeness.reasons) == (
        1.0,
        "match",
        ("the same name",),
    )


def test_an_alias_is_told() -> None:
    likeness = judge(Asked("Vanya Baker"), entity(), "Ivan Petrov", "Vanya Baker")
    assert (likeness.name, likeness.reasons) == ("Vanya Baker", ("alias", "the same name"))


def test_of_two_names_as_alike_the_first_counts() -> None:
    assert judge(Asked("Ivan Petrov"), entity(), "Ivan Petrov", "PETROV Ivan").reasons == (
        "the same name",
    )


@pytest.mark.parametrize(
    ("asked", "known", "reason", "way"),
    [
        ("1961-05-02", ("1961-05-02",), "birth date agrees", 1),
        ("1961", ("1961-05-02",), "birth year agrees", 1),
        ("1961-05", ("1961-05-02",), "birth year agrees", 1),
        ("1961-05-02", ("1961",), "birth year agrees", 1),
        ("1961-05-02", ("1958", "1961-05-02"), "birth date agrees", 1),
        ("1961-07-09", ("1961-05-02",), "birth date differs: 1961-05-02 against 1961-07-09", -1),
        ("1975", ("1961-05-02",), "birth date differs: 1961 against 1975", -1),
        ("1975-05-02", ("1961-05-02", "1962"), "birth date differs: 1962 against 1975", -1),
        ("1975", (), "", 0),
        ("1975", ("unknown",), "", 0),
        ("", ("1961",), "", 0),
    ],
)
def test_birth_dates(asked: str, known: tuple[str, ...], reason: str, way: int) -> None:
    plain = judge(Asked("Ivan Petrav"), entity())
    likeness = judge(Asked("Ivan Petrav", asked), entity(birth_date=known))
    assert [why for why in likeness.reasons if "birth" in why] == ([reason] if reason else [])
    assert (likeness.score > plain.score) - (likeness.score < plain.score) == way


@pytest.mark.parametrize(
    ("asked", "known", "reason", "way"),
    [
        ("ru", ("ru",), "country agrees", 1),
        ("ru", ("de", "ru"), "country agrees", 1),
        ("kz", ("suhh",), "country agrees", 1),
        ("gb", ("gb-sct",), "country agrees", 1),
        ("de", ("ru",), "country differs", -1),
        ("ru", (), "", 0),
        ("", ("ru",), "", 0),
    ],
)
def test_countries(asked: str, known: tuple[str, ...], reason: str, way: int) -> None:
    plain = judge(Asked("I. Petrov"), entity())
    likeness = judge(Asked("I. Petrov", country=asked), entity(countries=known))
    assert [why for why in likeness.reasons if "country" in why] == ([reason] if reason else [])
    assert (likeness.score > plain.score) - (likeness.score < plain.score) == way


def test_the_very_name_with_another_year_is_possible_and_no_match() -> None:
    likeness = judge(Asked("Ivan Petrov", "1975"), entity())
    assert (likeness.score, likeness.verdict) == (POSSIBLE, "possible")


def test_a_missing_word_is_possible_and_a_birth_date_makes_it_a_match() -> None:
    long = entity(name="Ivan Sergeevich Petrov")
    assert judge(Asked("Ivan Petrov"), long).verdict == "possible"
    assert judge(Asked("Ivan Petrov", "1961-05-02"), long).verdict == "match"


def test_nothing_makes_a_name_alike_that_is_not() -> None:
    likeness = judge(Asked("Oleg Kuznetsov", "1961-05-02", "ru"), entity())
    assert likeness.verdict == ""
    assert likeness.score < POSSIBLE
    assert not any(why.endswith("agrees") for why in likeness.reasons)


YEARS = st.integers(1930, 2005).map(str)
NOW = st.sampled_from(["ru", "de", "sy"])
CODES = NOW | st.just("suhh")


@given(
    st.sampled_from(["Ivan Petrov", "Ivan Petrav", "I. Petrov"]),
    st.lists(YEARS),
    st.lists(CODES),
    YEARS,
    NOW,
)
def test_a_score_stays_within_its_bounds(
    name: str, born: list[str], codes: list[str], year: str, code: str
) -> None:
    one = entity(birth_date=tuple(born), countries=tuple(codes))
    plain, known = judge(Asked(name), one).score, judge(Asked(name, year, code), one).score
    assert 0.0 <= known <= 1.0
    if year in born and (not codes or code in codes):
        assert known >= plain
    if born and year not in born and codes and code not in codes and "suhh" not in codes:
        assert known < plain


def test_the_thresholds_are_in_order() -> None:
    assert 0 < POSSIBLE < MATCH < 1
