"""CISA's catalogue of known exploited vulnerabilities (KEV): one file, of which a copy is kept.

No key.
"""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import words
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Day, Span, today
from deepdiver.tools.osint.copies import copy_of
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, IntelligenceType, Row
from deepdiver.tools.osint.moments import Zoned
from deepdiver.tools.osint.vulnerable import Wanted

SERVICE = "cisa_kev"
DEFAULT_URL = "https://www.cisa.gov"
PATH = "/sites/default/files/feeds/known_exploited_vulnerabilities.json"
FRESH_FOR = 6 * 3_600.0
"""Seconds for which a copy counts: on working days it grows once or twice."""
LARGEST = 50_000_000
"""Bytes of the catalogue: 1.3 million in 2025, with 1,404 entries."""
KEPT = 200
"""Entries that are journalled, the newest."""
LONGEST = 400
"""Characters of a description in a sentence; the longest of the catalogue has somewhat more."""


class Vulnerability(BaseModel):
    """An entry, by the names of CISA's schema."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cveID: Annotated[str, Field(pattern=r"^CVE-[0-9]{4}-[0-9]{4,19}$")]
    vendorProject: str
    product: str
    vulnerabilityName: str
    dateAdded: Day
    shortDescription: str
    requiredAction: str
    dueDate: Day
    knownRansomwareCampaignUse: str = ""

    def fits(self, wanted: Wanted) -> bool:
        """Whether it is what is looked for; its days are another matter."""
        vendor, product = set(words(self.vendorProject)), set(words(self.product))
        everything = (
            vendor | product | set(words(f"{self.vulnerabilityName} {self.shortDescription}"))
        )
        return (
            (not wanted.cve or self.cveID == wanted.cve)
            and vendor.issuperset(words(wanted.vendor))
            and product.issuperset(words(wanted.product))
            and everything.issuperset(words(wanted.keyword))
        )


class Catalogue(BaseModel):
    """The file. It says how many entries it has, so that one that was cut is none."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    catalogVersion: Annotated[str, Field(max_length=40)]
    dateReleased: Zoned
    count: int
    vulnerabilities: list[Vulnerability]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.count != len(self.vulnerabilities):
            raise ValueError("it says that it has another number of entries")
        return self


class Found(BaseModel):
    """What is journalled of a look into the catalogue."""

    first: date | None
    last: date | None
    version: str
    note: str
    total: int
    counts: dict[str, int]
    """How many were added on each day of the period."""
    before: int | None
    """How many in as many days before; None: no time was asked for."""
    ransomware: int
    """How many are known to be used for ransomware."""
    entries: list[Vulnerability]

    @property
    def span(self) -> Span | None:
        """The days, if any were asked for."""
        return Span(self.first, self.last) if self.first and self.last else None


async def exploited(wanted: Wanted, gateway: Gateway) -> Answer:
    """Return the vulnerabilities that are known to be exploited, the newest in the catalogue first.

    Raises:
        GatewayError: If there is neither an answer nor a copy.
    """
    settings = gateway.settings

    async def do() -> Reply:
        copy = await copy_of(
            SERVICE,
            address(settings),
            gateway,
            fresh_for=FRESH_FOR,
            largest=LARGEST,
            check=lambda path: _checked(path),
        )
        catalogue = await asyncio.to_thread(_read, copy.path)
        return Reply(_found(catalogue, wanted, settings, copy.note).model_dump(mode="json"))

    request = Request(
        "feed", SERVICE, f"exploited vulnerabilities {wanted.told}", wanted.payload(settings)
    )
    found = Found.model_validate((await gateway.call(request, do)).value)
    when = f", added {found.span}" if found.span else ""
    return Answer(
        service="CISA KEV",
        url=address(settings),
        title=f"Known exploited vulnerabilities {wanted.told}{when}",
        kind=IntelligenceType.CYBER,
        rows=tuple(map(_row, found.entries[:MOST_ROWS])),
        total=found.total,
        summary=_summary(found, wanted),
        note=found.note,
    )


def address(settings: Settings) -> str:
    """Return where the catalogue is.

    An address of one's own may be that of the file itself, such as a mirror's.
    """
    base = settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")
    return base if base.endswith(".json") else f"{base}{PATH}"


def _checked(path: Path) -> None:
    try:
        Catalogue.model_validate_json(path.read_bytes())
    except ValidationError:
        raise ValueError("it is not the catalogue, or not all of it") from None


def _read(path: Path) -> Catalogue:
    try:
        return Catalogue.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise CallError("the copy of cisa_kev is damaged: remove it", CallFault.MALFORMED) from None


def _found(catalogue: Catalogue, wanted: Wanted, settings: Settings, note: str) -> Found:
    span = wanted.period.span(today(settings), 1) if wanted.period.timed else None
    fitting = [entry for entry in catalogue.vulnerabilities if entry.fits(wanted)]
    entries = [entry for entry in fitting if span is None or entry.dateAdded in span]
    added = telling.by_day(entry.dateAdded for entry in fitting)
    return Found(
        first=span.first if span else None,
        last=span.last if span else None,
        version=catalogue.catalogVersion,
        note=note,
        total=len(entries),
        counts={day: added[day] for day in map(str, span.every()) if day in added} if span else {},
        before=telling.within(added, span.before) if span else None,
        ransomware=sum(entry.knownRansomwareCampaignUse == "Known" for entry in entries),
        entries=sorted(entries, key=lambda entry: (entry.dateAdded, entry.cveID), reverse=True)[
            :KEPT
        ],
    )


def _summary(found: Found, wanted: Wanted) -> str:
    if not found.total and not found.before:
        return ""
    told = (
        f"CISA's catalogue {telling.one_line(found.version)} of known exploited vulnerabilities "
        "has "
    )
    told += f"{telling.counted(found.total, 'entry', 'entries')} {wanted.told}"
    if found.span:
        told += f", added in {telling.compared(found.counts, found.span, found.before)}"
    return f"{told}; {found.ransomware:,} of them known to be used for ransomware."


def _row(entry: Vulnerability) -> Row:
    when = entry.dateAdded.isoformat()
    name, vendor, product = map(
        telling.quoted, (entry.vulnerabilityName, entry.vendorProject, entry.product)
    )
    told = (
        f"{when}: CISA added {entry.cveID}, {name}, of the vendor {vendor} in the product "
        f"{product}, to its catalogue "
        f"of known exploited vulnerabilities, to be remedied by {entry.dueDate}"
    )
    if entry.knownRansomwareCampaignUse == "Known":
        told += ", known to be used for ransomware"
    return Row(
        sentence=f"{told}: {telling.quoted(entry.shortDescription, LONGEST)}.",
        data=entry.model_dump(mode="json"),
        when=when,
        confidence="high",
        publisher="CISA",
    )
