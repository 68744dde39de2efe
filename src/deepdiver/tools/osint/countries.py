"""Countries by ISO 3166-1, and the names by which people speak of them.

The table is `countries.tsv` beside this file, in UTF-8, with tabs between its columns and a header:

    alpha2, alpha3   the codes of ISO 3166-1; the rows are sorted by alpha2
    name             the usual name in English
    other_names      other names and the adjective, separated by semicolons; may be empty

A name that means two countries (Korean, Congolese, Dominican) is not in the table.
"""

from __future__ import annotations

import csv
import functools
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

EXTRA_CODES = {"UK": "GB", "EL": "GR"}
"""Codes that ISO 3166-1 does not have, but that everybody (UK) or the European Union (EL) uses."""


@dataclass(frozen=True, slots=True)
class Country:
    """A country or territory with a code of its own."""

    code: str
    """ISO 3166-1 alpha-2."""
    alpha3: str
    """ISO 3166-1 alpha-3."""
    name: str
    """The usual name in English."""
    other_names: tuple[str, ...]
    """Other names, and the adjective."""


@functools.cache
def countries() -> Mapping[str, Country]:
    """Return all countries by their alpha-2 code."""
    with (files("deepdiver.tools.osint") / "countries.tsv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        row["alpha2"]: Country(
            row["alpha2"],
            row["alpha3"],
            row["name"],
            tuple(filter(None, row["other_names"].split(";"))),
        )
        for row in rows
    }


def code_of(text: str) -> str | None:
    """Return the alpha-2 code of a country, given by its alpha-2 or alpha-3 code or by a name."""
    plain = _plain(text)
    capitals = plain.upper()
    if capitals in EXTRA_CODES:
        return EXTRA_CODES[capitals]
    if capitals in countries():
        return capitals
    return _codes().get(plain.lower())


@functools.cache
def _codes() -> Mapping[str, str]:
    """Return the alpha-2 code for each alpha-3 code and each name, in lower case."""
    return {
        _plain(name).lower(): country.code
        for country in countries().values()
        for name in (country.name, *country.other_names, country.alpha3)
    }


def _plain(text: str) -> str:
    """Return a text without accents, on one line, and with `&` written out."""
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)
    )
    return " ".join(bare.replace("’", "'").replace("&", " and ").split())
