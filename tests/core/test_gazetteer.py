"""Places by name: what is found, what is in doubt, and what a text names."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core import gazetteer
from deepdiver.core.gazetteer import (
    FILE,
    Place,
    find_place,
    fold_name,
    nearest_town,
    places_named_in,
    towns_within,
)
from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.errors import DamagedStoreError

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)


def named(text: str, country: str = "") -> list[str]:
    return [place.name for place in places_named_in(text, country)]


def test_a_damaged_file_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "places.bin").write_bytes(FILE.read_bytes()[:1_000])
    monkeypatch.setattr(gazetteer, "FILE", tmp_path / "places.bin")
    gazetteer._table.cache_clear()
    with pytest.raises(DamagedStoreError, match="install deepdiver again"):
        find_place("Kharkiv")
    monkeypatch.undo()
    assert find_place("Kharkiv") is not None, "what failed is not kept"


def test_the_file_is_small_and_says_where_it_comes_from() -> None:
    assert FILE.stat().st_size <= 700_000
    told = (FILE.parent / "README.md").read_text(encoding="utf-8")
    assert "GeoNames" in told
    assert "CC BY 4.0" in told


def test_nothing_is_read_before_it_is_needed() -> None:
    code = "from deepdiver.core import gazetteer as g; print(g._table.cache_info().currsize)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "0"


# -- by name


@pytest.mark.parametrize(
    "name", ["", " ", "Nowhereville", "Kharkivv", ",", ", Ukraine", "12345", "\n", "😀", "Харків"]
)
def test_what_is_not_known_is_not_found(name: str) -> None:
    assert find_place(name) is None


def test_a_town_by_its_name() -> None:
    assert find_place("Kharkiv") == Place("Kharkiv", "UA", 49.98, 36.25, 1_421_000)
    place = find_place("Kharkiv")
    assert place is not None
    assert place.position == Position(49.98, 36.25)


@pytest.mark.parametrize(
    ("spelling", "name", "country"),
    [
        ("Kharkov", "Kharkiv", "UA"),
        ("Charkow", "Kharkiv", "UA"),
        ("Khar'kov", "Kharkiv", "UA"),
        ("KHARKIV", "Kharkiv", "UA"),
        ("  kharkiv ", "Kharkiv", "UA"),
        ("Kiev", "Kyiv", "UA"),
        ("Odessa", "Odesa", "UA"),
        ("Cologne", "Köln", "DE"),
        ("Koln", "Köln", "DE"),
        ("Bombay", "Mumbai", "IN"),
        ("Peking", "Beijing", "CN"),
        ("New York", "New York City", "US"),
        ("Sao Paulo", "São Paulo", "BR"),
        ("Rostov-na-Donu", "Rostov-on-Don", "RU"),
        ("St. Petersburg", "Saint Petersburg", "RU"),
    ],
)
def test_spellings(spelling: str, name: str, country: str) -> None:
    place = find_place(spelling)
    assert place is not None
    assert (place.name, place.country) == (name, country)


@pytest.mark.parametrize(
    ("name", "country"), [("Birmingham", "GB"), ("Hyderabad", "IN"), ("Paris", "FR")]
)
def test_of_several_places_of_a_name_the_largest_by_far_is_meant(name: str, country: str) -> None:
    place = find_place(name)
    assert place is not None
    assert place.country == country


@pytest.mark.parametrize("name", ["Cambridge", "Valencia", "Springfield", "Victoria", "San José"])
def test_a_name_in_doubt_is_no_place(name: str) -> None:
    assert find_place(name) is None


@pytest.mark.parametrize(
    ("name", "country", "lat"),
    [
        ("Cambridge", "GB", 52.2),
        ("Cambridge", "United Kingdom", 52.2),
        ("Cambridge", "us", 42.38),
        ("Valencia", "ES", 39.47),
    ],
)
def test_the_country_settles_it(name: str, country: str, lat: float) -> None:
    place = find_place(name, country)
    assert place is not None
    assert place.lat == pytest.approx(lat, abs=0.05)
    assert find_place(f"{name}, {country}") == place


def test_two_towns_of_one_country_stay_in_doubt() -> None:
    assert find_place("Springfield", "US") is None


def test_a_country_that_is_not_one_finds_nothing() -> None:
    assert find_place("Kharkiv", "XX") is None
    assert find_place("Kharkiv", "Atlantis") is None
    assert find_place("Kharkiv", "FR") is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Ukraine", "UA"),
        ("USA", "US"),
        ("Britain", "GB"),
        ("Türkiye", "TR"),
        ("Côte d'Ivoire", "CI"),
        ("Georgia", "GE"),
    ],
)
def test_countries(name: str, code: str) -> None:
    place = find_place(name)
    assert place is not None
    assert (place.country, place.kind) == (code, "country")


def test_a_country_lies_in_its_middle() -> None:
    ukraine, russia = find_place("Ukraine"), find_place("Russia")
    assert ukraine is not None
    assert russia is not None
    assert distance_km(ukraine.position, Position(49.0, 31.5)) < 60
    assert russia.lon > 60, "its far east lies over the antimeridian and does not pull it west"


def test_a_country_beside_a_town_of_its_name() -> None:
    there, town = find_place("Lebanon"), find_place("Lebanon", "US")
    assert there is not None
    assert there.country == "LB"
    assert town is None or town.country == "US"


@given(st.text(max_size=40), st.text(max_size=12))
def test_any_name_is_answered(name: str, country: str) -> None:
    place = find_place(name, country)
    assert place is None or (-90 <= place.lat <= 90 and -180 <= place.lon <= 180)


@given(st.text(max_size=30))
def test_folding_is_done_once(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)


def test_every_town_is_found_in_its_own_country_or_in_doubt() -> None:
    table = gazetteer._table()
    for number in range(0, len(table.names), 97):
        town = table.town(number)
        several = table.towns(fold_name(town.name))
        assert town in several, town
        assert [place.population for place in several] == sorted(
            (p.population for p in several), reverse=True
        )


def test_every_other_spelling_is_found() -> None:
    table = gazetteer._table()
    lines = table.others.split("\n")[1:-1]
    assert len(lines) == len(table.owners)
    assert lines == sorted(lines)
    for number in [
        0,
        1,
        len(lines) // 2,
        len(lines) - 2,
        len(lines) - 1,
        *range(0, len(lines), 501),
    ]:
        assert table.towns(lines[number]) == [table.town(table.owners[number])]
    assert table.towns(lines[0][:-1] + "\x00") == []


# -- in a text


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", []),
        ("nothing here", []),
        (
            "Strikes were reported near Kharkiv and in New York on Monday.",
            ["Kharkiv", "New York City"],
        ),
        ("strikes near kharkiv", []),
        ("Kharkiv, Kharkov and Kharkiv again", ["Kharkiv"]),
        ("Stoke-on-Trent and Rio de Janeiro.", ["Stoke-on-Trent", "Rio de Janeiro"]),
        (
            "The Kharkiv Oblast governor said Kupyansk was hit; Ukraine answered.",
            ["Kharkiv", "Kupyansk", "Ukraine"],
        ),
        ("In Kharkiv it was calm. Near Odesa it was not.", ["Kharkiv", "Odesa"]),
        ("It ended in Kharkiv. London was told.", ["Kharkiv", "London"]),
    ],
)
def test_places_in_a_text(text: str, places: list[str]) -> None:
    assert named(text) == places


@pytest.mark.parametrize(
    "text",
    [
        "They were Reading a book on the Mobile in a Nice place.",
        "Jack London met Paris Hilton there on a day in May.",
        "He read the Washington Post and the Moscow Times at home.",
        "Police said that Most of it was Split.",
    ],
)
def test_words_and_names_of_people_are_no_places(text: str) -> None:
    assert named(text) == []


def test_in_a_headline_every_word_is_capitalised() -> None:
    assert named("Explosions Rock Kharkiv After Overnight Strikes on Odessa") == [
        "Kharkiv",
        "Odesa",
    ]


def test_the_country_of_a_text_settles_its_names() -> None:
    assert named("It happened in Cambridge.") == []
    assert [place.country for place in places_named_in("It happened in Cambridge.", "GB")] == ["GB"]
    assert [place.country for place in places_named_in("From Cambridge to Kharkiv", "GB")] == [
        "GB",
        "UA",
    ]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    places = places_named_in(text)
    assert len(places) == len(set(places))


def test_a_long_text_of_unknown_names() -> None:
    assert named("The Xyzzy and Plugh of Foobar went. " * 200) == []


# -- by position


def test_the_largest_towns_of_an_area() -> None:
    found = towns_within(49.5, 35.5, 50.8, 37.0, most=3)
    assert found[0].name == "Kharkiv"
    assert [place.population for place in found] == sorted(
        (place.population for place in found), reverse=True
    )
    assert len(found) == 3


def test_an_area_over_the_antimeridian() -> None:
    found = towns_within(-25, 170, -10, -170, most=100)
    assert {place.country for place in found} >= {"FJ", "WS"}
    assert all(place.lon >= 170 or place.lon <= -170 for place in found)


@settings(max_examples=25)
@given(LATITUDES, LONGITUDES)
def test_the_nearest_town_is_the_nearest(lat: float, lon: float) -> None:
    here = Position(lat, lon)
    found = nearest_town(here)
    table = gazetteer._table()
    sample = (table.town(number) for number in range(0, len(table.names), 211))
    least = min(distance_km(here, town.position) for town in sample)
    if found is None:
        assert least > 10 * gazetteer.KM_PER_DEGREE
    else:
        assert found[1] <= least + 1e-6
        assert math.isclose(found[1], distance_km(here, found[0].position))


def test_in_the_middle_of_the_ocean_no_town_is_near() -> None:
    assert nearest_town(Position(0, -140)) is None
    found = nearest_town(Position(49.99, 36.23))
    assert found is not None
    assert found[0].name == "Kharkiv"
