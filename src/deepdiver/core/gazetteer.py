"""Where places are: towns of 15,000 inhabitants or more, and countries, by name.

The names are from GeoNames (CC BY 4.0) and come with the package; `places/README.md` says how the
file was made. Nothing is guessed: a name that could mean either of two places finds neither.

- A name means the largest place that has it, in any of the spellings on record (`Kharkiv`,
  `Kharkov`, `Charkow`).
- A name is ambiguous, and finds nothing, if another place of that name has at least a third of the
  inhabitants and is more than 50 km away: Cambridge, Valencia. Naming the country can settle it,
  except for two towns of one country.
- The name of a country means the country even if a town shares it (Lebanon, Georgia), unless
  another country is given with it.
"""

from __future__ import annotations

import functools
import json
import math
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from deepdiver.core.column_file import read_columns, read_numbers
from deepdiver.core.text import STOPWORDS
from deepdiver.core.time_and_place import Position, distance_km

FILE = Path(__file__).parent / "places" / "places.bin"
SIMILAR = 3
"""A name is ambiguous if another place of that name, with this many times its inhabitants, would be
larger than the largest. Hyderabad in India has four times the inhabitants of Hyderabad in Pakistan
and is meant; which Valencia is meant is not clear."""
NEAR_KM = 50.0
"""Two entries of one name within this distance are one place: a city and its district."""
KM_PER_DEGREE = 111.195
"""Kilometres of a degree of latitude, on a sphere with the mean radius of the earth."""
LONGEST = 5
"""Most words of a name: `Las Palmas de Gran Canaria`."""
TITLED = 0.9
"""A line is a headline if more than this share of its words of four letters or more is capitalised.
In a headline a capital letter says nothing."""
_WORD = re.compile(r"[^\W\d_]+(?:['’ʻʼ][^\W\d_]+)*")
_MARKS = re.compile(r"['’ʻʼ`´ʹ′]")
_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
"""Letters that Unicode normalisation does not decompose."""
AROUND = frozenset(
    "airport area border central city coast county district downtown east eastern governorate "
    "greater harbour metro "
    "near north northern oblast outer over port province raion rayon region south southern state "
    "suburb west "
    "western".split()
)
"""Capitalised words that may be next to the name of a place without being part of another name."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place that has a name."""

    name: str
    """Its name, as it is spelled locally if the letters are Latin."""
    country: str
    """Its country, two letters as in ISO 3166-1."""
    lat: float
    """Latitude, north positive, to a hundredth of a degree; for a country, the middle of its
    largest piece of land."""
    lon: float
    """Longitude, east positive."""
    population: int
    """Inhabitants; for a town, in whole thousands."""
    kind: Literal["town", "country"] = "town"
    """What kind of place it is."""

    @property
    def position(self) -> Position:
        """Where it is."""
        return Position(self.lat, self.lon)


def find_place(name: str, country: str = "") -> Place | None:
    """Return the place that a name means; None if it is unknown or ambiguous.

    Args:
        name: The name in any known spelling, `Kharkiv`, or with its country, `Kharkiv, Ukraine`.
        country: The country that it is in, by code or name; empty: not known.
    """
    table = _table()
    head, comma, tail = name.rpartition(",")
    if comma and not country and table.code(tail):
        name, country = head, tail
    key, code = fold_name(name), table.code(country)
    if country.strip() and not code:
        return None
    named = table.countries.get(key)
    if named is not None and code in {"", named.country}:
        return named
    return _clear([place for place in table.towns(key) if code in {"", place.country}])


def places_named_in(text: str, country: str = "") -> list[Place]:
    """Return the places that a text names, each once, in the order in which they are first named.

    Only capitalised names count, longer ones before shorter ones (`New York` is not York), and no
    name that is also an English word (Reading, Nice). A name next to another capitalised word is
    left out, except in headlines, where every word is capitalised: it is more likely to be part of
    a longer name (Jack London, Paris Hilton).

    Args:
        text: The text.
        country: The country that the text is about, by code or name; it decides which place is
            meant by a name that several share.
    """
    found = (
        find_place(name, country) or find_place(name)
        for line in text.splitlines()
        for name in _named(line)
    )
    return list(dict.fromkeys(place for place in found if place))


def towns_within(
    south: float, west: float, north: float, east: float, most: int = 20
) -> list[Place]:
    """Return the towns of an area, the largest first.

    Args:
        south: Its least latitude.
        west: Its western border, which is greater than the eastern one if the area crosses the
            antimeridian.
        north: Its greatest latitude.
        east: Its eastern border.
        most: The most towns to return.
    """
    table = _table()
    low, high, left, right = (round(degrees * 100) for degrees in (south, north, west, east))
    inside = [
        number
        for number, (lat, lon) in enumerate(zip(table.lat, table.lon, strict=True))
        if low <= lat <= high
        and ((left <= lon <= right) if left <= right else (lon >= left or lon <= right))
    ]
    inside.sort(key=lambda number: (-table.people[number], table.names[number], number))
    return [table.town(number) for number in inside[:most]]


def nearest_town(position: Position) -> tuple[Place, float] | None:
    """Return the nearest town to a position and its distance in kilometres.

    None if there is no town within 10 degrees.
    """
    for reach in (0.5, 2.0, 10.0):
        across = min(reach / max(math.cos(math.radians(position.lat)), 0.05), 179.0)
        west, east = ((position.lon + side + 180) % 360 - 180 for side in (-across, across))
        found = towns_within(
            position.lat - reach, west, position.lat + reach, east, most=len(_table().names)
        )
        apart = [(distance_km(position, town.position), town.name, town) for town in found]
        # Farther away, a nearer town may lie just outside of the box.
        close = [item for item in apart if item[0] <= reach * KM_PER_DEGREE]
        if close:
            km, _, town = min(close, key=lambda item: item[:2])
            return town, km
    return None


def fold_name(name: str) -> str:
    """Return the form in which a name is looked up.

    It has lower-case letters without accents and apostrophes, and one space between words.
    """
    if name.isascii() and name.isalpha():
        return name.lower()
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", _MARKS.sub("", plain)))


def _clear(places: Sequence[Place]) -> Place | None:
    """Return the first and largest of the places of one name; None if another may be meant."""
    if not places:
        return None
    first, *others = places
    rivals = (place for place in others if place.population * SIMILAR > first.population)
    return (
        None
        if any(distance_km(first.position, place.position) > NEAR_KM for place in rivals)
        else first
    )


def _named(line: str) -> Iterator[str]:
    """Yield the names of places in a line: capitalised, and at each word the longest known name."""
    table, spans = _table(), list(_WORD.finditer(line))
    long = [word for word in spans if len(word.group()) > 3]
    headline = len(long) > 2 and sum(map(_capital, long)) > TITLED * len(long)
    at = 0
    while at < len(spans):
        until = _longest(table, line, spans, at) if _capital(spans[at]) else at
        if until == at:
            at += 1
            continue
        name = line[spans[at].start() : spans[until - 1].end()]
        ordinary = fold_name(name) in table.common
        if not ordinary and (headline or not _beside(line, spans, at, until)):
            yield name
        at = until


def _longest(table: _Table, line: str, spans: Sequence[re.Match[str]], at: int) -> int:
    """Return the end of the longest known name that begins at a word; `at` if there is none."""
    for until in range(min(len(spans), at + LONGEST), at, -1):
        words = spans[at:until]
        joined = all(_joined(line, *pair) for pair in pairwise(words))
        if (
            joined
            and _capital(words[-1])
            and table.knows(fold_name(line[words[0].start() : words[-1].end()]))
        ):
            return until
    return at


def _beside(line: str, spans: Sequence[re.Match[str]], at: int, until: int) -> bool:
    """Whether a capitalised word that is not an ordinary one is right before or behind a name."""
    before = at > 0 and _joined(line, spans[at - 1], spans[at]) and _foreign(spans[at - 1])
    return before or (
        until < len(spans)
        and _joined(line, spans[until - 1], spans[until])
        and _foreign(spans[until])
    )


def _foreign(word: re.Match[str]) -> bool:
    small = word.group().lower()
    return _capital(word) and small not in STOPWORDS and small not in AROUND


def _capital(word: re.Match[str]) -> bool:
    return word.group()[0].isupper()


def _joined(line: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return line[one.end() : other.start()] in {" ", "-", "\u00a0", ". "} and (
        line[one.end() : other.start()] != ". "
        or len(one.group()) <= 2  # St. Louis, not the end of a sentence
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The contents of the file, ready to be searched."""

    names: list[str]
    codes: str
    lat: array[int]
    lon: array[int]
    people: array[int]
    first: Mapping[str, int]
    """The number of each town by its own name in lower case."""
    others: str
    """All other spellings, sorted, one a line, with an empty line at both ends. It is searched as
    one text, because splitting it would take 40 ms."""
    owners: array[int]
    """The number of the town that each line belongs to."""
    shared: Mapping[str, str]
    """Names that several towns share, with the numbers of the towns, the largest first."""
    common: frozenset[str]
    countries: Mapping[str, Place]
    by_code: Mapping[str, Place]

    def town(self, number: int) -> Place:
        code = self.codes[2 * number : 2 * number + 2]
        lat, lon = self.lat[number] / 100, self.lon[number] / 100
        return Place(self.names[number], code, lat, lon, self.people[number] * 1000)

    def towns(self, key: str) -> list[Place]:
        """Return the towns of a name, the largest first."""
        if several := self.shared.get(key):
            return [self.town(int(number)) for number in several.split()]
        number = self.first.get(key)
        if number is None:
            start = self._other(key)
            number = None if start < 0 else self.owners[self.others.count("\n", 0, start)]
        return [] if number is None else [self.town(number)]

    def knows(self, key: str) -> bool:
        return (
            key in self.first
            or key in self.shared
            or key in self.countries
            or self._other(key) >= 0
        )

    def _other(self, key: str) -> int:
        """Return the offset of the line end before another spelling; -1 if it is unknown."""
        low, high = 0, len(self.others) - 1  # both are line ends, and the key is between them
        while low < high:
            start = self.others.rfind("\n", 0, (low + high) // 2 + 1)
            end = self.others.index("\n", start + 1)
            line = self.others[start + 1 : end]
            if line == key:
                return start
            low, high = (end, high) if line < key else (low, start)
        return -1

    def code(self, country: str) -> str:
        """Return the code of a country that is given by code or name; empty if it is unknown."""
        place = self.by_code.get(country.strip().upper()) or self.countries.get(fold_name(country))
        return place.country if place else ""


@functools.cache
def _table() -> _Table:
    """Read the file, which takes some 30 ms, once."""
    columns = read_columns(FILE)
    names = columns["names"].decode().split("\n")
    countries = [
        (Place(name, code, lat, lon, people, "country"), known)
        for name, code, lat, lon, people, known in json.loads(columns["countries"])
    ]
    return _Table(
        names=names,
        codes=columns["codes"].decode(),
        lat=read_numbers("h", columns["lat"]),
        lon=read_numbers("h", columns["lon"]),
        people=read_numbers("H", columns["people"]),
        first=dict(
            zip(columns["names"].decode().lower().split("\n"), range(len(names)), strict=True)
        ),
        others=columns["others"].decode(),
        owners=read_numbers("H", columns["owners"]),
        shared=dict(line.split("\t") for line in columns["shared"].decode().split("\n")),
        common=frozenset(columns["common"].decode().split("\n")),
        countries={key: place for place, known in countries for key in known},
        by_code={place.country: place for place, _ in countries},
    )
