"""Vulnerabilities of software, and which of them are exploited: CISA's catalogue (KEV) and NVD."""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import words
from deepdiver.gateway import Gateway
from deepdiver.tools.osint import kev, nvd
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.asking import side_by_side
from deepdiver.tools.osint.feed import Answer, Arguments, IntelligenceType, Told
from deepdiver.tools.osint.telling import one_line
from deepdiver.tools.osint.vulnerable import Wanted

LONGEST = 80
"""Characters of a name or of keywords."""


def _words(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    text = one_line(given, LONGEST + 1)
    if text and not words(text):
        raise ValueError("it holds no word to search for")
    return text


def _number(given: Any) -> Any:
    """Read cve-2024-3094 as CVE-2024-3094."""
    text = str(given).strip().upper()
    if text and not re.fullmatch(r"CVE-\d{4}-\d{4,19}", text):
        raise ValueError("a vulnerability is written as CVE-2024-3094")
    return text


def _yes_or_no(given: Any) -> Any:
    text = str(given).strip().lower()
    return {"true": "yes", "false": "no", "": "any"}.get(text, text)


Words = Annotated[str, BeforeValidator(_words), Field(max_length=LONGEST)]


class Asked(Period):
    """Which vulnerabilities."""

    vendor: Words = ""
    """Who makes it: Microsoft."""
    product: Words = ""
    """What it is in: Exchange Server."""
    keyword: Words = ""
    """Words that are said of it, all of them: remote code execution."""
    cve: Annotated[str, BeforeValidator(_number)] = ""
    """Its number: CVE-2024-3094."""
    exploited: Annotated[Literal["yes", "no", "any"], BeforeValidator(_yes_or_no)] = "any"
    """Whether it is known to be exploited: yes, no or any."""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        named = self.vendor or self.product or self.keyword or self.cve or self.timed
        if not named and self.exploited != "yes":
            raise ValueError("give a vendor, a product, a keyword, a cve or a time")
        return self

    @property
    def wanted(self) -> Wanted:
        """What is looked for."""
        return Wanted(self, self.vendor, self.product, self.keyword, self.cve)


class SearchCyber:
    """Looks into the catalogue, into NVD, or both."""

    name = "search_cyber"
    about = (
        "vulnerabilities of software by vendor, product, keyword, number or date, and whether they "
        "are exploited"
    )
    kind = IntelligenceType.CYBER
    arguments: type[Arguments] = Asked

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    async def ask(self, args: Asked, gateway: Gateway) -> Told:
        """Ask those that know.

        What is exploited stands in the catalogue, what is not only in NVD.
        """
        lines: list[str] = []
        asked: dict[str, Coroutine[Any, Any, Answer]] = {}
        if args.exploited != "no":
            asked["CISA KEV"] = kev.exploited(args.wanted, gateway)
        if args.exploited != "yes":
            known = None if args.exploited == "any" else False
            asked["NVD"] = nvd.vulnerabilities(args.wanted, known, lines, gateway)
        answers, failures = await side_by_side(asked)
        return Told(answers=tuple(answers.values()), failures=(*failures, *lines))


FEED = SearchCyber()
