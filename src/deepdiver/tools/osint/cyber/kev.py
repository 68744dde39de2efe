"""CISA's catalogue of known exploited vulnerabilities (KEV): one file, of which a copy is kept.

It needs no key.
"""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import words
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.bulk_copies import fetch_copy
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.services import ServiceModel
from deepdiver.tools.osint.times import Day, Span, ZonedTime, today

SERVICE = "cisa_kev"
DEFAULT_URL = "https://www.cisa.gov"
PATH = "/sites/default/files/feeds/known_exploited_vulnerabilities.json"
FRESH_FOR = 6 * 3_600.0
"""Seconds for which a copy counts as new: on working days the catalogue grows once or twice."""
LARGEST = 50_000_000
"""Bytes that the catalogue may have: in 2025 it had 1.3 million, with 1,404 entries."""
KEPT = 200
"""Entries that are journalled, the newest."""
LONGEST = 400
"""Characters of a description in a sentence; the longest in the catalogue has a few more."""


class KevEntry(ServiceModel):
    """An entry, by the names of CISA's schema."""

    cveID: Annotated[str, Field(pattern=r"^CVE-[0-9]{4}-[0-9]{4,19}$")]
    vendorProject: str
    product: str
    vulnerabilityName: str
    dateAdded: Day
    shortDescription: str
    requiredAction: str
    dueDate: Day
    knownRansomwareCampaignUse: str = ""

    def fits(self, query: VulnerabilityQuery) -> bool:
        """Whether it fits a query, apart from the time."""
        vendor, product = set(words(self.vendorProject)), set(words(self.product))
        everything = (
            vendor | product | set(words(f"{self.vulnerabilityName} {self.shortDescription}"))
        )
        return (
            (not query.cve or self.cveID == query.cve)
            and vendor.issuperset(words(query.vendor))
            and product.issuperset(words(query.product))
            and everything.issuperset(words(query.keyword))
        )


class KevCatalogue(ServiceModel):
    """The file. It says how many entries it has, so that a file that was cut off is refused."""

    catalogVersion: Annotated[str, Field(max_length=40)]
    dateReleased: ZonedTime
    count: int
    vulnerabilities: list[KevEntry]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.count != len(self.vulnerabilities):
            raise ValueError("it does not have as many entries as it says")
        return self


class KevMatches(BaseModel):
    """The entries that fit a query, as they are journalled."""

    first: date | None
    last: date | None
    version: str
    note: str
    total: int
    counts: dict[str, int]
    """How many were added on each day of the period."""
    before: int | None
    """How many were added in as many days before; None if no time was given."""
    ransomware: int
    """How many are known to be used for ransomware."""
    entries: list[KevEntry]

    @property
    def span(self) -> Span | None:
        """The days, if a time was given."""
        return Span(self.first, self.last) if self.first and self.last else None


async def exploited(query: VulnerabilityQuery, gateway: Gateway) -> FeedResult:
    """Return the vulnerabilities that are known to be exploited, the last added first.

    Raises:
        GatewayError: If there is neither an answer nor a copy.
    """
    settings = gateway.settings

    async def do() -> Reply:
        copy = await fetch_copy(
            SERVICE,
            address(settings),
            gateway,
            fresh_for=FRESH_FOR,
            largest=LARGEST,
            check=_check_catalogue,
        )
        catalogue = await asyncio.to_thread(_read_catalogue, copy.path)
        return Reply(_matches(catalogue, query, settings, copy.note).model_dump(mode="json"))

    request = Request(
        "feed", SERVICE, f"exploited vulnerabilities {query.text}", query.payload(settings)
    )
    found = KevMatches.model_validate((await gateway.call(request, do)).value)
    when = f", added {found.span}" if found.span else ""
    answer = ServiceAnswer(
        service="CISA KEV",
        url=address(settings),
        title=f"Known exploited vulnerabilities {query.text}{when}",
        kind=IntelligenceType.CYBER,
        rows=tuple(map(_row, found.entries[:MOST_ROWS])),
        total=found.total,
        summary=_summary(found, query),
        note=found.note,
    )
    return FeedResult(answers=(answer,))


def address(settings: Settings) -> str:
    """Return the address of the catalogue; in the settings it may be that of a mirrored file."""
    base = settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")
    return base if base.endswith(".json") else f"{base}{PATH}"


def _check_catalogue(path: Path) -> None:
    try:
        KevCatalogue.model_validate_json(path.read_bytes())
    except ValidationError:
        raise ValueError("it is not the catalogue, or not all of it") from None


def _read_catalogue(path: Path) -> KevCatalogue:
    try:
        return KevCatalogue.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise CallError("the copy of cisa_kev is damaged: remove it", CallFault.MALFORMED) from None


def _matches(
    catalogue: KevCatalogue, query: VulnerabilityQuery, settings: Settings, note: str
) -> KevMatches:
    span = query.period.span(today(settings), 1) if query.period.timed else None
    fitting = [entry for entry in catalogue.vulnerabilities if entry.fits(query)]
    entries = [entry for entry in fitting if span is None or entry.dateAdded in span]
    added = phrases.count_by_day(entry.dateAdded for entry in fitting)
    return KevMatches(
        first=span.first if span else None,
        last=span.last if span else None,
        version=catalogue.catalogVersion,
        note=note,
        total=len(entries),
        counts={day: added[day] for day in map(str, span.every()) if day in added} if span else {},
        before=phrases.total_in(added, span.before) if span else None,
        ransomware=sum(entry.knownRansomwareCampaignUse == "Known" for entry in entries),
        entries=sorted(entries, key=lambda entry: (entry.dateAdded, entry.cveID), reverse=True)[
            :KEPT
        ],
    )


def _summary(found: KevMatches, query: VulnerabilityQuery) -> str:
    if not found.total and not found.before:
        return ""
    sentence = (
        f"CISA's catalogue {phrases.one_line(found.version)} of known exploited vulnerabilities "
        "has "
    )
    sentence += f"{phrases.counted(found.total, 'entry', 'entries')} {query.text}"
    if found.span:
        sentence += f", added in {phrases.compared(found.counts, found.span, found.before)}"
    return f"{sentence}; {found.ransomware:,} of them known to be used for ransomware."


def _row(entry: KevEntry) -> Row:
    when = entry.dateAdded.isoformat()
    name, vendor, product = map(
        phrases.quoted, (entry.vulnerabilityName, entry.vendorProject, entry.product)
    )
    sentence = (
        f"{when}: CISA added {entry.cveID}, {name}, of the vendor {vendor} in the product "
        f"{product}, to its catalogue "
        f"of known exploited vulnerabilities, to be remedied by {entry.dueDate}"
    )
    if entry.knownRansomwareCampaignUse == "Known":
        sentence += ", known to be used for ransomware"
    return Row(
        sentence=f"{sentence}: {phrases.quoted(entry.shortDescription, LONGEST)}.",
        data=entry.model_dump(mode="json"),
        when=when,
        confidence="high",
        publisher="CISA",
    )
