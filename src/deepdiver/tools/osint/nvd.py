"""NVD, of NIST: all vulnerabilities that have a number (CVE API 2.0), with their scores.

A key makes it faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated
from urllib.parse import quote, urlencode

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from deepdiver.core.settings import Settings
from deepdiver.errors import GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, key_advice, shaped, user_agent
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Day, Span, today
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, IntelligenceType, Row, or_failure
from deepdiver.tools.osint.moments import Unzoned
from deepdiver.tools.osint.vulnerable import Wanted

SERVICE = "nvd"
DEFAULT_URL = "https://services.nvd.nist.gov"
PATH = "/rest/json/cves/2.0"
PAGE = 500
"""Entries of one answer. It gives up to 2,000, but an entry with all its products may have 10,000
bytes and more."""
LONGEST_SPAN = 120
"""Days between pubStartDate and pubEndDate at most, as documented."""
KEPT = 200
"""Entries of one answer that are journalled, the newest."""
LONGEST = 400
"""Characters of a description in a sentence."""
SETTLED = frozenset({"Analyzed", "Modified"})
"""States of an entry that NVD's own people have looked at."""
_VERSIONS = (
    ("cvssMetricV40", "4.0"),
    ("cvssMetricV31", "3.1"),
    ("cvssMetricV30", "3.0"),
    ("cvssMetricV2", "2.0"),
)

Word = Annotated[str, Field(max_length=60)]


class Outside(BaseModel):
    """Base of what comes from outside, which may grow."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Score(Outside):
    """A score, as each version of CVSS has it."""

    baseScore: Annotated[FiniteFloat, Field(ge=0, le=10)]
    baseSeverity: Word = ""


class Metric(Outside):
    """A score and whose it is. Version 2 has the severity here."""

    cvssData: Score
    type: Word = ""
    baseSeverity: Word = ""


class Metrics(Outside):
    """Scores by version."""

    cvssMetricV40: list[Metric] = Field(default_factory=list)
    cvssMetricV31: list[Metric] = Field(default_factory=list)
    cvssMetricV30: list[Metric] = Field(default_factory=list)
    cvssMetricV2: list[Metric] = Field(default_factory=list)


class Description(Outside):
    """What it is, in a language."""

    lang: Word
    value: str


class Cve(Outside):
    """An entry, by NVD's own names."""

    id: Annotated[str, Field(pattern=r"^CVE-[0-9]{4}-[0-9]{4,19}$")]
    published: Unzoned
    vulnStatus: Word = ""
    cisaExploitAdd: Day | None = None
    descriptions: list[Description]
    metrics: Metrics = Metrics()


class Item(Outside):
    """What holds an entry."""

    cve: Cve


class Response(Outside):
    """NVD's answer."""

    startIndex: Annotated[int, Field(ge=0)]
    totalResults: Annotated[int, Field(ge=0)]
    vulnerabilities: list[Item]


class Entry(Outside):
    """What is kept of an entry."""

    id: str
    published: str
    vulnStatus: str
    cisaExploitAdd: str
    version: str
    baseScore: float | None
    baseSeverity: str
    description: str


class Page(Outside):
    """What is journalled of an answer."""

    first: date | None
    """First day of all that was asked for, not of this part."""
    last: date | None
    total: int
    """How many there are in this part of the time."""
    read: int
    """How many of them came."""
    left_out: int
    """How many of these were not wanted, because they are known to be exploited."""
    counts: dict[str, int]
    """How many of the others were published on each day."""
    severities: dict[str, int]
    """How many of them have each severity."""
    entries: list[Entry]


async def vulnerabilities(
    wanted: Wanted, exploited: bool | None, lines: list[str], gateway: Gateway
) -> Answer:
    """Return vulnerabilities, the newest first.

    Args:
        wanted: Which.
        exploited: False leaves out what is known to be exploited; None does not care.
        lines: Gets a line if the number of the days before could not be had.
        gateway: The run's door.

    Raises:
        GatewayError: If there is no answer.
    """
    known = exploited is not False
    parts = [await _part(wanted, known, None, gateway)]
    newest = parts[0].pages[0]
    span = Span(newest.first, newest.last) if newest.first and newest.last else None
    for days in _parts(span)[1:] if span else []:
        parts.append(await _part(wanted, known, days, gateway))
    before: Page | GatewayError | None = None
    if span and span.days <= LONGEST_SPAN and known:
        before = await or_failure(_page(wanted, known, span.before, 0, 1, gateway))
        if isinstance(before, GatewayError):
            lines.append(f"NVD's count of the days before failed: {before}")
    return _answer(
        wanted, parts, span, before.total if isinstance(before, Page) else None, gateway.settings
    )


@dataclass(frozen=True, slots=True)
class Part:
    """What NVD has for a part of the time."""

    pages: tuple[Page, ...]

    @property
    def total(self) -> int:
        """How many entries there are, as far as is known without those that were not wanted."""
        return max(0, self.pages[0].total - sum(page.left_out for page in self.pages))

    @property
    def unread(self) -> int:
        """How many did not come."""
        return max(0, self.pages[0].total - sum(page.read for page in self.pages))


async def _part(wanted: Wanted, known: bool, days: Span | None, gateway: Gateway) -> Part:
    """Ask for a part of the time.

    The first page and, if there is more, the last, for it lists the oldest first.
    """
    first = await _page(wanted, known, days, 0, PAGE, gateway)
    if first.total <= PAGE:
        return Part((first,))
    if days is None and first.first and first.last:
        days = _parts(Span(first.first, first.last))[0]
    return Part(
        (first, await _page(wanted, known, days, max(PAGE, first.total - PAGE), PAGE, gateway))
    )


def _parts(span: Span) -> list[Span]:
    """Divide days as NVD wants them, the newest first."""
    parts: list[Span] = []
    last = span.last
    while last >= span.first:
        parts.append(Span(max(span.first, last - timedelta(LONGEST_SPAN - 1)), last))
        last = parts[-1].first - timedelta(1)
    return parts


async def _page(
    wanted: Wanted, known: bool, part: Span | None, start: int, size: int, gateway: Gateway
) -> Page:
    """Ask for a page.

    Args:
        wanted: What is looked for.
        known: Whether what is known to be exploited counts.
        part: Days; None: the newest part of those wanted, whatever today is, or any where none are.
        start: Index of its first entry.
        size: Entries of it at most.
        gateway: The run's door.
    """
    settings = gateway.settings
    payload = wanted.payload(settings) | {"start": start, "size": size, "known": known}
    payload |= {"part": str(part)} if part else {}

    async def do() -> Reply:
        whole = wanted.period.span(today(settings), 1) if wanted.period.timed else None
        days = part or (_parts(whole)[0] if whole else None)
        with advised(key_advice(settings, SERVICE, "NVD_API_KEY")):
            url = f"{address(settings)}?{_query(wanted, days)}&resultsPerPage={size}&startIndex={start}"
            raw = await ask_json(SERVICE, url, headers=_headers(settings))
        answer = shaped(SERVICE, Response, raw)
        return Reply(_kept(answer, whole, known).model_dump(mode="json"))

    request = Request("feed", SERVICE, f"vulnerabilities {wanted.told}", payload)
    return Page.model_validate((await gateway.call(request, do)).value)


def address(settings: Settings) -> str:
    """Return where it is asked."""
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}{PATH}"


def _headers(settings: Settings) -> dict[str, str]:
    key = settings.key(SERVICE)
    return user_agent(settings) | ({"apiKey": key} if key else {})


def _query(wanted: Wanted, days: Span | None) -> str:
    """Return the query of the address. A flag has no value there, not even an empty one.

    Vendor and product are looked for as words of the description: their names as NVD's dictionary
    spells them are not known, and entries that nobody has analysed yet have none.
    """
    params: dict[str, str] = {}
    if said := " ".join(text for text in (wanted.vendor, wanted.product, wanted.keyword) if text):
        params["keywordSearch"] = said
    if wanted.cve:
        params["cveId"] = wanted.cve
    if days:
        params |= {
            "pubStartDate": f"{days.first}T00:00:00.000",
            "pubEndDate": f"{days.last}T23:59:59.999",
        }
    return "&".join(["noRejected", *([urlencode(params, quote_via=quote)] if params else [])])


def _kept(answer: Response, whole: Span | None, known: bool) -> Page:
    found = [item.cve for item in answer.vulnerabilities]
    counted = [cve for cve in found if known or cve.cisaExploitAdd is None]
    entries = [
        _entry(cve)
        for cve in sorted(counted, key=lambda cve: (cve.published, cve.id), reverse=True)
    ]
    return Page(
        first=whole.first if whole else None,
        last=whole.last if whole else None,
        total=answer.totalResults,
        read=len(found),
        left_out=len(found) - len(counted),
        counts=telling.by_day(entry.published for entry in entries),
        severities=dict(Counter(entry.baseSeverity or "no score" for entry in entries)),
        entries=entries[:KEPT],
    )


def _entry(cve: Cve) -> Entry:
    version, metric = score_of(cve.metrics)
    said = next((told.value for told in cve.descriptions if told.lang == "en"), "")
    return Entry(
        id=cve.id,
        published=telling.utc(cve.published),
        vulnStatus=telling.one_line(cve.vulnStatus),
        cisaExploitAdd=cve.cisaExploitAdd.isoformat() if cve.cisaExploitAdd else "",
        version=version,
        baseScore=metric.cvssData.baseScore if metric else None,
        baseSeverity=telling.one_line(metric.cvssData.baseSeverity or metric.baseSeverity).upper()
        if metric
        else "",
        description=telling.one_line(said, LONGEST),
    )


def score_of(metrics: Metrics) -> tuple[str, Metric | None]:
    """Return the version and the score that count.

    The newest version, and of it NVD's own before those of others.
    """
    for name, version in _VERSIONS:
        scores: list[Metric] = getattr(metrics, name)
        if scores:
            return version, next((score for score in scores if score.type == "Primary"), scores[0])
    return "", None


def _answer(
    wanted: Wanted, parts: Sequence[Part], span: Span | None, before: int | None, settings: Settings
) -> Answer:
    pages = [page for part in parts for page in part.pages]
    entries = {entry.id: entry for page in pages for entry in page.entries}
    newest = sorted(entries.values(), key=lambda entry: (entry.published, entry.id), reverse=True)
    unread = sum(part.unread for part in parts)
    read = sum(page.read for page in pages)
    return Answer(
        service="NVD",
        url=f"{address(settings)}?{_query(wanted, span)}",
        title=f"Vulnerabilities {wanted.told}{f', published {span}' if span else ''}",
        kind=IntelligenceType.CYBER,
        rows=tuple(map(_row, newest[:MOST_ROWS])),
        total=sum(part.total for part in parts),
        summary=_summary(wanted, parts, span, before),
        note=f"of {read + unread:,} entries {read:,} were read, the oldest and the newest; days "
        "and severities are "
        "counted over these"
        if unread
        else "",
    )


def _summary(wanted: Wanted, parts: Sequence[Part], span: Span | None, before: int | None) -> str:
    total = sum(part.total for part in parts)
    if not total and not before:
        return ""
    told = f"NVD has {telling.counted(total, 'entry', 'entries')} {wanted.told}"
    pages = [page for part in parts for page in part.pages]
    if span:
        counts = sum((Counter(page.counts) for page in pages), Counter[str]())
        told += f", published in {telling.compared(counts, span, before)}"
    severities = sum((Counter(page.severities) for page in pages), Counter[str]())
    listed = ", ".join(
        f"{severity} {number:,}" for severity, number in sorted(severities.items(), key=_gravest)
    )
    return f"{told}{f'; by severity: {listed}' if listed else ''}."


def _gravest(severity: tuple[str, int]) -> tuple[int, str]:
    grave = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE")
    return grave.index(severity[0]) if severity[0] in grave else len(grave), severity[0]


def _row(entry: Entry) -> Row:
    told = f"{telling.clock(entry.published)}: NVD published {entry.id}"
    if entry.baseScore is not None:
        told += f", CVSS {entry.version} base score {telling.number(entry.baseScore)}"
        told += f" ({entry.baseSeverity})" if entry.baseSeverity else ""
    else:
        told += ", which has no score"
    told += f", status {entry.vulnStatus}" if entry.vulnStatus else ""
    if entry.cisaExploitAdd:
        told += (
            f", in CISA's catalogue of known exploited vulnerabilities since {entry.cisaExploitAdd}"
        )
    told += f": {telling.quoted(entry.description, LONGEST)}" if entry.description else ""
    return Row(
        sentence=f"{told}.",
        data=entry.model_dump(mode="json"),
        when=entry.published,
        confidence="high" if entry.vulnStatus in SETTLED else "medium",
        publisher="NVD",
    )
