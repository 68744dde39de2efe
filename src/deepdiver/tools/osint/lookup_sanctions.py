"""Feed `lookup_sanctions`: who is on a sanctions or watch list (OpenSanctions).

It asks nobody unless a key, a file or an address is set. With a file or the address of one, names
are compared on this machine and do not leave it; otherwise the match API is asked.
"""

from __future__ import annotations

import importlib.util
import re
from datetime import date
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, model_validator

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.arguments import CountryCode
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.phrases import one_line
from deepdiver.tools.osint.sanctions import bulk_file, match_api
from deepdiver.tools.osint.sanctions.query import Kind, SanctionsQuery

LONGEST = 200
"""Characters of a name; a few of state bodies have more, but their beginning is enough."""
NEEDS = ("anyascii", "rapidfuzz")
"""Packages that comparing names needs."""
FIRST_YEAR, LAST_YEAR = 1850, 2100
_KINDS = {
    "individual": "person",
    "people": "person",
    "organization": "organisation",
    "company": "organisation",
    "entity": "organisation",
    "ship": "vessel",
}


def _read_name(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    text = one_line(given, LONGEST + 1)
    if sum(char.isalnum() for char in text) < 2:
        raise ValueError("a name has two letters at least")
    if len(text) > LONGEST:
        raise ValueError(f"a name has at most {LONGEST} characters")
    return text


def _read_birth_date(given: Any) -> Any:
    """Read a year, a month or a day."""
    text = str(given).strip()
    if not text:
        return ""
    found = re.fullmatch(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", text)
    try:
        whole = date(int(found[1]), int(found[2] or 1), int(found[3] or 1)) if found else None
    except ValueError:
        whole = None
    if whole is None or not FIRST_YEAR <= whole.year <= LAST_YEAR:
        raise ValueError("a birth date is written as 1961, 1961-05 or 1961-05-02")
    return text


def _read_kind(given: Any) -> Any:
    text = str(given).strip().lower()
    return _KINDS.get(text, text)


class SanctionsArguments(Arguments, title="Somebody"):
    """Who is looked for."""

    name: Annotated[str, BeforeValidator(_read_name)]
    """The whole name of a person, an organisation or a ship, in any script."""
    birth_date: Annotated[str, BeforeValidator(_read_birth_date)] = ""
    """A person's date of birth as far as it is known: 1961, 1961-05 or 1961-05-02."""
    country: CountryCode | None = None
    """The country that it belongs to, in two letters or by its name."""
    kind: Annotated[Kind, BeforeValidator(_read_kind)] = ""
    """What it is: person, organisation or vessel; a ship is looked for as a vessel alone."""

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        """Drop a blank country; the validators of the other arguments read blanks themselves."""
        blank = (
            isinstance(given, dict)
            and isinstance(given.get("country"), str)
            and not given["country"].strip()
        )
        return (
            {name: value for name, value in given.items() if name != "country"} if blank else given
        )

    @model_validator(mode="after")
    def _person_if_born(self) -> Self:
        if self.birth_date and self.kind in ("organisation", "vessel"):
            raise ValueError("only a person has a birth date")
        return self

    @property
    def query(self) -> SanctionsQuery:
        """The query; with a birth date it is for a person."""
        kind = self.kind or ("person" if self.birth_date else "")
        return SanctionsQuery(self.name, self.birth_date, (self.country or "").lower(), kind)


class LookupSanctions:
    """Looks up a name."""

    name = "lookup_sanctions"
    about = "who is on sanctions and watch lists, by name, birth date and country (OpenSanctions)"
    kind = IntelligenceType.SANCTIONS
    arguments: type[Arguments] = SanctionsArguments

    def missing(self, settings: Settings) -> str | None:
        """Return a hint at the key, the file or the address, or at the packages that it needs."""
        file = settings.sanctions_file
        if file is not None and not file.is_file():
            return f"sanctions_file names {file.name}, and there is no such file"
        if not _has_bulk_file(settings) and not settings.key(match_api.SERVICE):
            return (
                "set OPENSANCTIONS_API_KEY, or sanctions_file to a bulk file (targets.simple.csv), "
                "or the address of one as urls.opensanctions_bulk"
            )
        installed = all(importlib.util.find_spec(package) for package in NEEDS)
        return None if installed else "pip install 'deepdiver-research[osint]'"

    async def ask(self, args: SanctionsArguments, gateway: Gateway) -> FeedResult:
        """Search the bulk file if there is one; otherwise ask the match API."""
        local = _has_bulk_file(gateway.settings)
        look_up = bulk_file.search_bulk_file if local else match_api.ask_match_api
        return FeedResult(answers=(await look_up(args.query, gateway),))


def _has_bulk_file(settings: Settings) -> bool:
    return settings.sanctions_file is not None or bulk_file.SERVICE in settings.urls


FEED = LookupSanctions()
