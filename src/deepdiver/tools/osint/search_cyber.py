"""Feed `search_cyber`: vulnerabilities of software, and which of them are exploited.

It asks CISA's catalogue (KEV) and NVD.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import words
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.cyber import kev, nvd
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.phrases import one_line
from deepdiver.tools.osint.services import ask_services

LONGEST = 80
"""Characters of a name or of keywords."""


def _read_words(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    text = one_line(given, LONGEST + 1)
    if text and not words(text):
        raise ValueError("it holds no word to search for")
    return text


def _read_cve(given: Any) -> Any:
    """Read cve-2024-3094 as CVE-2024-3094."""
    text = str(given).strip().upper()
    if text and not re.fullmatch(r"CVE-\d{4}-\d{4,19}", text):
        raise ValueError("a vulnerability is written as CVE-2024-3094")
    return text


def _read_choice(given: Any) -> Any:
    text = str(given).strip().lower()
    return {"true": "yes", "false": "no", "": "any"}.get(text, text)


Words = Annotated[str, BeforeValidator(_read_words), Field(max_length=LONGEST)]


class CyberArguments(Period, title="Asked"):
    """Which vulnerabilities."""

    vendor: Words = ""
    """Who makes it: Microsoft."""
    product: Words = ""
    """What it is in: Exchange Server."""
    keyword: Words = ""
    """Words that are said of it, all of them: remote code execution."""
    cve: Annotated[str, BeforeValidator(_read_cve)] = ""
    """Its number: CVE-2024-3094."""
    exploited: Annotated[Literal["yes", "no", "any"], BeforeValidator(_read_choice)] = "any"
    """Whether it is known to be exploited: yes, no or any."""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        named = self.vendor or self.product or self.keyword or self.cve or self.timed
        if not named and self.exploited != "yes":
            raise ValueError("give a vendor, a product, a keyword, a cve or a time")
        return self

    @property
    def query(self) -> VulnerabilityQuery:
        """The query for the services."""
        return VulnerabilityQuery(self, self.vendor, self.product, self.keyword, self.cve)


class SearchCyber:
    """Searches the catalogue, NVD, or both."""

    name = "search_cyber"
    about = (
        "vulnerabilities of software by vendor, product, keyword, number or date, and whether they "
        "are exploited"
    )
    kind = IntelligenceType.CYBER
    arguments: type[Arguments] = CyberArguments

    def missing(self, settings: Settings) -> str | None:
        """Return None: nothing is needed."""
        return None

    async def ask(self, args: CyberArguments, gateway: Gateway) -> FeedResult:
        """Ask the catalogue for what is exploited, and NVD for what is not."""
        asked: dict[str, Coroutine[Any, Any, FeedResult]] = {}
        if args.exploited != "no":
            asked["CISA KEV"] = kev.exploited(args.query, gateway)
        if args.exploited != "yes":
            known = None if args.exploited == "any" else False
            asked["NVD"] = nvd.vulnerabilities(args.query, known, gateway)
        return await ask_services(asked)


FEED = SearchCyber()
