"""NVD, of NIST: all vulnerabilities that have a number (CVE API 2.0), with their scores.

A key is optional and makes it faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated
from urllib.parse import quote, urlencode

from pydantic import Field, FiniteFloat

from deepdiver.core.settings import Settings
from deepdiver.errors import GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, key_advice, shaped, user_agent
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.services import ServiceModel, answer_or_error
from deepdiver.tools.osint.times import Day, Span, UnzonedTime, today

SERVICE = "nvd"
DEFAULT_URL = "https://services.nvd.nist.gov"
PATH = "/rest/json/cves/2.0"
PAGE = 500
"""Entries of one answer. NVD gives up to 2,000, but an entry with all its products may have 10,000
bytes and more."""
LONGEST_SPAN = 120
"""Days from pubStartDate to pubEndDate at most, as documented."""
KEPT = 200
"""Entries of one answer that are journalled, the newest."""
LONGEST = 400
"""Characters of a description in a sentence."""
SETTLED = frozenset({"Analyzed", "Modified"})
"""States of entries that NVD's own people have looked at."""
_VERSIONS = (
    ("cvssMetricV40", "4.0"),
    ("cvssMetricV31", "3.1"),
    ("cvssMetricV30", "3.0"),
    ("cvssMetricV2", "2.0"),
)

ShortText = Annotated[str, Field(max_length=60)]


class CvssScore(ServiceModel):
    """A score, as each version of CVSS has it."""

    baseScore: Annotated[FiniteFloat, Field(ge=0, le=10)]
    baseSeverity: ShortText = ""


class CvssMetric(ServiceModel):
    """A score and who gave it. Version 2 has the severity here."""

    cvssData: CvssScore
    type: ShortText = ""
    baseSeverity: ShortText = ""


class CvssMetrics(ServiceModel):
    """Scores by version."""

    cvssMetricV40: list[CvssMetric] = Field(default_factory=list)
    cvssMetricV31: list[CvssMetric] = Field(default_factory=list)
    cvssMetricV30: list[CvssMetric] = Field(default_factory=list)
    cvssMetricV2: list[CvssMetric] = Field(default_factory=list)


class NvdDescription(ServiceModel):
    """A description in one language."""

    lang: ShortText
    value: str


class NvdCve(ServiceModel):
    """An entry, by NVD's own names."""

    id: Annotated[str, Field(pattern=r"^CVE-[0-9]{4}-[0-9]{4,19}$")]
    published: UnzonedTime
    vulnStatus: ShortText = ""
    cisaExploitAdd: Day | None = None
    descriptions: list[NvdDescription]
    metrics: CvssMetrics = CvssMetrics()


class NvdItem(ServiceModel):
    """The wrapper of an entry."""

    cve: NvdCve


class NvdResponse(ServiceModel):
    """NVD's answer."""

    startIndex: Annotated[int, Field(ge=0)]
    totalResults: Annotated[int, Field(ge=0)]
    vulnerabilities: list[NvdItem]


class NvdEntry(ServiceModel):
    """An entry, as it is journalled."""

    id: str
    published: str
    vulnStatus: str
    cisaExploitAdd: str
    version: str
    baseScore: float | None
    baseSeverity: str
    description: str


class NvdPage(ServiceModel):
    """An answer, as it is journalled."""

    first: date | None
    """First day of the whole period, not of this part."""
    last: date | None
    total: int
    """How many entries there are in this part of the period."""
    read: int
    """How many of them were read."""
    left_out: int
    """How many of those were left out, because they are known to be exploited."""
    counts: dict[str, int]
    """How many of the others were published on each day."""
    severities: dict[str, int]
    """How many of them have each severity."""
    entries: list[NvdEntry]


async def vulnerabilities(
    query: VulnerabilityQuery, exploited: bool | None, gateway: Gateway
) -> FeedResult:
    """Return vulnerabilities, the newest first.

    If the count of the days before fails, the result has a line for it.

    Args:
        query: The query.
        exploited: False leaves out what is known to be exploited; None includes it.
        gateway: The gateway of the run.

    Raises:
        GatewayError: If there is no answer.
    """
    known = exploited is not False
    parts = [await _ask_part(query, known, None, gateway)]
    newest = parts[0].pages[0]
    span = Span(newest.first, newest.last) if newest.first and newest.last else None
    for days in _parts(span)[1:] if span else []:
        parts.append(await _ask_part(query, known, days, gateway))
    before: NvdPage | GatewayError | None = None
    if span and span.days <= LONGEST_SPAN and known:
        before = await answer_or_error(_ask_page(query, known, span.before, 0, 1, gateway))
    count = before.total if isinstance(before, NvdPage) else None
    failed = isinstance(before, GatewayError)
    return FeedResult(
        answers=(_answer(query, parts, span, count, gateway.settings),),
        failures=(f"NVD's count of the days before failed: {before}",) if failed else (),
    )


@dataclass(frozen=True, slots=True)
class NvdPart:
    """The pages for a part of the period."""

    pages: tuple[NvdPage, ...]

    @property
    def total(self) -> int:
        """How many entries there are, less those that are known to be left out."""
        return max(0, self.pages[0].total - sum(page.left_out for page in self.pages))

    @property
    def unread(self) -> int:
        """How many entries were not read."""
        return max(0, self.pages[0].total - sum(page.read for page in self.pages))


async def _ask_part(
    query: VulnerabilityQuery, known: bool, days: Span | None, gateway: Gateway
) -> NvdPart:
    """Ask for a part of the period: the first page and, if there are more, the last.

    NVD lists the oldest entries first.
    """
    first = await _ask_page(query, known, days, 0, PAGE, gateway)
    if first.total <= PAGE:
        return NvdPart((first,))
    if days is None and first.first and first.last:
        days = _parts(Span(first.first, first.last))[0]
    start = max(PAGE, first.total - PAGE)
    return NvdPart((first, await _ask_page(query, known, days, start, PAGE, gateway)))


def _parts(span: Span) -> list[Span]:
    """Divide a period into parts of LONGEST_SPAN days, the newest first."""
    parts: list[Span] = []
    last = span.last
    while last >= span.first:
        parts.append(Span(max(span.first, last - timedelta(LONGEST_SPAN - 1)), last))
        last = parts[-1].first - timedelta(1)
    return parts


async def _ask_page(
    query: VulnerabilityQuery,
    known: bool,
    part: Span | None,
    start: int,
    size: int,
    gateway: Gateway,
) -> NvdPage:
    """Ask for a page.

    Args:
        query: The query.
        known: Whether entries that are known to be exploited count.
        part: The days; None: the newest part of the query's period, or any time if it has none.
        start: Index of its first entry.
        size: Entries of it at most.
        gateway: The gateway of the run.
    """
    settings = gateway.settings
    payload = query.payload(settings) | {"start": start, "size": size, "known": known}
    payload |= {"part": str(part)} if part else {}

    async def do() -> Reply:
        whole = query.period.span(today(settings), 1) if query.period.timed else None
        days = part or (_parts(whole)[0] if whole else None)
        with advised(key_advice(settings, SERVICE, "NVD_API_KEY")):
            paging = f"resultsPerPage={size}&startIndex={start}"
            url = f"{address(settings)}?{_url_query(query, days)}&{paging}"
            raw = await ask_json(SERVICE, url, headers=_headers(settings))
        answer = shaped(SERVICE, NvdResponse, raw)
        return Reply(_page(answer, whole, known).model_dump(mode="json"))

    request = Request("feed", SERVICE, f"vulnerabilities {query.text}", payload)
    return NvdPage.model_validate((await gateway.call(request, do)).value)


def address(settings: Settings) -> str:
    """Return the address of the API."""
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}{PATH}"


def _headers(settings: Settings) -> dict[str, str]:
    key = settings.key(SERVICE)
    return user_agent(settings) | ({"apiKey": key} if key else {})


def _url_query(query: VulnerabilityQuery, days: Span | None) -> str:
    """Return the query part of the address. A flag has no value there, not even an empty one.

    Vendor and product are searched as words of the description: it is not known how NVD's
    dictionary spells their names, and entries that nobody has analysed yet have none.
    """
    params: dict[str, str] = {}
    if said := " ".join(text for text in (query.vendor, query.product, query.keyword) if text):
        params["keywordSearch"] = said
    if query.cve:
        params["cveId"] = query.cve
    if days:
        params |= {
            "pubStartDate": f"{days.first}T00:00:00.000",
            "pubEndDate": f"{days.last}T23:59:59.999",
        }
    return "&".join(["noRejected", *([urlencode(params, quote_via=quote)] if params else [])])


def _page(answer: NvdResponse, whole: Span | None, known: bool) -> NvdPage:
    cves = [item.cve for item in answer.vulnerabilities]
    counted = [cve for cve in cves if known or cve.cisaExploitAdd is None]
    entries = [
        _entry(cve)
        for cve in sorted(counted, key=lambda cve: (cve.published, cve.id), reverse=True)
    ]
    return NvdPage(
        first=whole.first if whole else None,
        last=whole.last if whole else None,
        total=answer.totalResults,
        read=len(cves),
        left_out=len(cves) - len(counted),
        counts=phrases.count_by_day(entry.published for entry in entries),
        severities=dict(Counter(entry.baseSeverity or "no score" for entry in entries)),
        entries=entries[:KEPT],
    )


def _entry(cve: NvdCve) -> NvdEntry:
    version, metric = score_of(cve.metrics)
    said = next(
        (description.value for description in cve.descriptions if description.lang == "en"), ""
    )
    return NvdEntry(
        id=cve.id,
        published=phrases.utc(cve.published),
        vulnStatus=phrases.one_line(cve.vulnStatus),
        cisaExploitAdd=cve.cisaExploitAdd.isoformat() if cve.cisaExploitAdd else "",
        version=version,
        baseScore=metric.cvssData.baseScore if metric else None,
        baseSeverity=phrases.one_line(metric.cvssData.baseSeverity or metric.baseSeverity).upper()
        if metric
        else "",
        description=phrases.one_line(said, LONGEST),
    )


def score_of(metrics: CvssMetrics) -> tuple[str, CvssMetric | None]:
    """Return the score of the newest version with that version; NVD's own score comes first."""
    for name, version in _VERSIONS:
        scores: list[CvssMetric] = getattr(metrics, name)
        if scores:
            return version, next((score for score in scores if score.type == "Primary"), scores[0])
    return "", None


def _answer(
    query: VulnerabilityQuery,
    parts: Sequence[NvdPart],
    span: Span | None,
    before: int | None,
    settings: Settings,
) -> ServiceAnswer:
    pages = [page for part in parts for page in part.pages]
    entries = {entry.id: entry for page in pages for entry in page.entries}
    newest = sorted(entries.values(), key=lambda entry: (entry.published, entry.id), reverse=True)
    unread = sum(part.unread for part in parts)
    read = sum(page.read for page in pages)
    return ServiceAnswer(
        service="NVD",
        url=f"{address(settings)}?{_url_query(query, span)}",
        title=f"Vulnerabilities {query.text}{f', published {span}' if span else ''}",
        kind=IntelligenceType.CYBER,
        rows=tuple(map(_row, newest[:MOST_ROWS])),
        total=sum(part.total for part in parts),
        summary=_summary(query, parts, span, before),
        note=f"of {read + unread:,} entries {read:,} were read, the oldest and the newest; days "
        "and severities are "
        "counted over these"
        if unread
        else "",
    )


def _summary(
    query: VulnerabilityQuery, parts: Sequence[NvdPart], span: Span | None, before: int | None
) -> str:
    total = sum(part.total for part in parts)
    if not total and not before:
        return ""
    sentence = f"NVD has {phrases.counted(total, 'entry', 'entries')} {query.text}"
    pages = [page for part in parts for page in part.pages]
    if span:
        counts = sum((Counter(page.counts) for page in pages), Counter[str]())
        sentence += f", published in {phrases.compared(counts, span, before)}"
    severities = sum((Counter(page.severities) for page in pages), Counter[str]())
    listed = ", ".join(
        f"{severity} {number:,}" for severity, number in sorted(severities.items(), key=_gravity)
    )
    return f"{sentence}{f'; by severity: {listed}' if listed else ''}."


def _gravity(severity: tuple[str, int]) -> tuple[int, str]:
    grave = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE")
    return grave.index(severity[0]) if severity[0] in grave else len(grave), severity[0]


def _row(entry: NvdEntry) -> Row:
    sentence = f"{phrases.clock(entry.published)}: NVD published {entry.id}"
    if entry.baseScore is not None:
        sentence += f", CVSS {entry.version} base score {phrases.number(entry.baseScore)}"
        sentence += f" ({entry.baseSeverity})" if entry.baseSeverity else ""
    else:
        sentence += ", which has no score"
    sentence += f", status {entry.vulnStatus}" if entry.vulnStatus else ""
    if entry.cisaExploitAdd:
        sentence += (
            f", in CISA's catalogue of known exploited vulnerabilities since {entry.cisaExploitAdd}"
        )
    sentence += f": {phrases.quoted(entry.description, LONGEST)}" if entry.description else ""
    return Row(
        sentence=f"{sentence}.",
        data=entry.model_dump(mode="json"),
        when=entry.published,
        confidence="high" if entry.vulnStatus in SETTLED else "medium",
        publisher="NVD",
    )
