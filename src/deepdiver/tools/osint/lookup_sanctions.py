"""Who is on a sanctions or watch list: OpenSanctions, by its API or by a bulk file on this machine.

Nobody is asked unless a key, a file or an address is set. Where there is a file or an address of
one, names are compared here and the API is not asked: a name that is looked up does not leave this
machine.
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
from deepdiver.tools.osint.feed import Arguments, IntelligenceType, Told
from deepdiver.tools.osint.sanctions import listed, matchapi
from deepdiver.tools.osint.sanctions.asked import Asked, Kind
from deepdiver.tools.osint.telling import one_line

LONGEST = 200
"""Characters of a name; the longest of state bodies have some more, and their beginning tells."""
NEEDS = ("anyascii", "rapidfuzz")
"""Packages that compare names."""
FIRST_YEAR, LAST_YEAR = 1850, 2100
_KINDS = {
    "individual": "person",
    "people": "person",
    "organization": "organisation",
    "company": "organisation",
    "entity": "organisation",
    "ship": "vessel",
}


def _name(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    text = one_line(given, LONGEST + 1)
    if sum(char.isalnum() for char in text) < 2:
        raise ValueError("a name has two letters at least")
    if len(text) > LONGEST:
        raise ValueError(f"a name has at most {LONGEST} characters")
    return text


def _birth(given: Any) -> Any:
    """Read a year, a month or a day; refuse what is none."""
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


def _kind(given: Any) -> Any:
    text = str(given).strip().lower()
    return _KINDS.get(text, text)


class Somebody(Arguments):
    """Who is looked for."""

    name: Annotated[str, BeforeValidator(_name)]
    """The whole name of a person, an organisation or a ship, in any script."""
    birth_date: Annotated[str, BeforeValidator(_birth)] = ""
    """A person's date of birth as far as it is known: 1961, 1961-05 or 1961-05-02."""
    country: CountryCode | None = None
    """The country that it belongs to, in two letters or by its name."""
    kind: Annotated[Kind, BeforeValidator(_kind)] = ""
    """What it is: person, organisation or vessel; a ship is looked for as a vessel alone."""

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        """Take a country that is given as nothing for none."""
        blank = (
            isinstance(given, dict)
            and isinstance(given.get("country"), str)
            and not given["country"].strip()
        )
        return (
            {name: value for name, value in given.items() if name != "country"} if blank else given
        )

    @model_validator(mode="after")
    def _born(self) -> Self:
        if self.birth_date and self.kind in ("organisation", "vessel"):
            raise ValueError("only a person has a birth date")
        return self

    @property
    def asked(self) -> Asked:
        """Who is looked for; whoever was born is a person."""
        kind = self.kind or ("person" if self.birth_date else "")
        return Asked(self.name, self.birth_date, (self.country or "").lower(), kind)


class LookupSanctions:
    """Looks somebody up."""

    name = "lookup_sanctions"
    about = "who is on sanctions and watch lists, by name, birth date and country (OpenSanctions)"
    kind = IntelligenceType.SANCTIONS
    arguments: type[Arguments] = Somebody

    def missing(self, settings: Settings) -> str | None:
        """Say that a key, a file or an address is needed, or what compares names."""
        file = settings.sanctions_file
        if file is not None and not file.is_file():
            return f"sanctions_file names {file.name}, and there is no such file"
        local = file is not None or listed.SERVICE in settings.urls
        if not local and not settings.key(matchapi.SERVICE):
            return (
                "set OPENSANCTIONS_API_KEY, or sanctions_file to a bulk file (targets.simple.csv), "
                "or the address of "
                "one as urls.opensanctions_bulk"
            )
        here = all(importlib.util.find_spec(package) for package in NEEDS)
        return None if here else "pip install 'deepdiver-research[osint]'"

    async def ask(self, args: Somebody, gateway: Gateway) -> Told:
        """Look into the file where there is one, and else ask the API."""
        settings = gateway.settings
        local = settings.sanctions_file is not None or listed.SERVICE in settings.urls
        answer = await (listed.listed if local else matchapi.matched)(args.asked, gateway)
        return Told(answers=(answer,))


FEED = LookupSanctions()
