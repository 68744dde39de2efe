"""NVD against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError
from deepdiver.tools.http import shaped
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.cyber import nvd
from deepdiver.tools.osint.cyber.nvd import LONGEST_SPAN, CvssMetrics, NvdResponse, _parts, score_of
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery
from deepdiver.tools.osint.feed import MOST_ROWS, ServiceAnswer
from deepdiver.tools.osint.search_cyber import FEED
from deepdiver.tools.osint.times import Span
from tests.tools.conftest import Desk
from tests.tools.osint.faults import KEY, FeedCase, FeedFaults, check_row
from tests.tools.search.conftest import Service, reply

TODAY = date(2026, 11, 11)


def metric(
    score: float, severity: str = "CRITICAL", kind: str = "Primary", version: str = "3.1"
) -> dict[str, Any]:
    data = {
        "version": version,
        "vectorString": "CVSS:…",
        "baseScore": score,
        "baseSeverity": severity,
    }
    return {
        "source": "nvd@nist.gov",
        "type": kind,
        "cvssData": data,
        "exploitabilityScore": 3.9,
        "impactScore": 5.9,
    }


def cve(number: int = 1, published: Any = "2026-11-09T15:15:10.143", **more: Any) -> dict[str, Any]:
    """Return an entry as the API gives it, shortened."""
    return {
        "cve": {
            "id": f"CVE-2026-{20_000 + number}",
            "sourceIdentifier": "cve@example.org",
            "published": published,
            "lastModified": "2026-11-10T10:00:00.000",
            "vulnStatus": "Analyzed",
            "cveTags": [],
            "descriptions": [
                {"lang": "es", "value": "Una vulnerabilidad"},
                {"lang": "en", "value": 'Holm Works Gate Server\nlets "anyone" in.'},
            ],
            "metrics": {"cvssMetricV31": [metric(9.8)]},
            "weaknesses": [],
            "configurations": [],
            "references": [],
            **more,
        }
    }


def body(*items: Any, total: int | None = None, start: int = 0, **more: Any) -> bytes:
    head = {
        "resultsPerPage": len(items),
        "startIndex": start,
        "totalResults": len(items) if total is None else total,
    }
    named = {"format": "NVD_CVE", "version": "2.0", "timestamp": "2026-11-11T09:00:00.000"}
    return json.dumps({**head, **named, "vulnerabilities": items, **more}).encode()


CASE = FeedCase(
    FEED,
    service="nvd",
    args={"vendor": "Holm Works", "exploited": "no"},
    good=body(cve(), cve(2, "2026-11-10T01:02:03.004")),
    empty=body(),
    wrong=(
        b"[]",
        b"{}",
        body(total=-1),
        body("text"),
        body({"cve": {}}),
        body(cve(published="yesterday")),
        body(cve(published="0001-01-01T00:00:00+14:00")),
        body(cve(published=1_700_000_000)),
        body(cve(cisaExploitAdd=0)),
        body(cve(id="CVE-1")),
        body(cve(metrics={"cvssMetricV31": [metric(11.0)]})),
        body(cve(metrics=[])),
        body(cve(descriptions="text")),
        body(vulnerabilities={}),
    ),
    key="nvd",
    settings={"as_of": TODAY},
    vary=lambda number: {"keyword": f"word{number}"} if number else {},
)


class TestFaults(FeedFaults):
    case = CASE


async def look(
    desk: Desk,
    service: Service,
    period: Period | None = None,
    exploited: bool | None = None,
    **wanted: str,
) -> tuple[ServiceAnswer, tuple[str, ...]]:
    gateway = desk.gateway(**CASE.options(service.url))
    query = VulnerabilityQuery(period or Period(), **wanted)
    result = await nvd.vulnerabilities(query, exploited, gateway)
    (answer,) = result.answers
    return answer, result.failures


def heard(service: Service) -> list[dict[str, str]]:
    """Return the queries."""
    asked = [
        parse_qs(urlsplit(request.split(" ", 2)[1]).query, keep_blank_values=True)
        for request in service.heard
    ]
    return [{name: values[0] for name, values in query.items()} for query in asked]


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    said = body(
        cve(
            1,
            "2026-11-05T08:00:00.000",
            metrics={"cvssMetricV2": [{**metric(5.0, ""), "baseSeverity": "MEDIUM"}]},
        ),
        cve(2, cisaExploitAdd="2026-11-10", cisaActionDue="2026-12-01"),
        cve(3, "2026-11-10T01:02:03.004", metrics={}, vulnStatus="Awaiting Analysis"),
    )
    service.once = [reply(said)]
    service.always = reply(body(total=7))
    answer, lines = await look(desk, service, Period(days=7), vendor="Holm Works", product="Gate")
    assert lines == ()
    assert (answer.service, answer.kind, answer.total, answer.note) == ("NVD", "cyber", 3, "")
    assert (
        answer.title
        == 'Vulnerabilities of "Holm Works" in "Gate", published 2026-11-05 to 2026-11-11'
    )
    assert [row.sentence for row in answer.rows] == [
        "2026-11-10 01:02 UTC: NVD published CVE-2026-20003, which has no score, status Awaiting "
        "Analysis: "
        "\"Holm Works Gate Server lets 'anyone' in.\".",
        "2026-11-09 15:15 UTC: NVD published CVE-2026-20002, CVSS 3.1 base score 9.8 (CRITICAL), "
        "status Analyzed, in "
        "CISA's catalogue of known exploited vulnerabilities since 2026-11-10: \"Holm Works Gate "
        "Server lets 'anyone' "
        'in.".',
        "2026-11-05 08:00 UTC: NVD published CVE-2026-20001, CVSS 2.0 base score 5 (MEDIUM), "
        "status Analyzed: "
        "\"Holm Works Gate Server lets 'anyone' in.\".",
    ]
    for row in answer.rows:
        check_row(row)
    assert [row.confidence for row in answer.rows] == ["medium", "high", "high"]
    assert answer.summary == (
        'NVD has 3 entries of "Holm Works" in "Gate", published in 2026-11-05 to 2026-11-11 (by '
        "day: "
        "2026-11-05: 1, 2026-11-06: 0, 2026-11-07: 0, 2026-11-08: 0, 2026-11-09: 1, 2026-11-10: 1, "
        "2026-11-11: 0), "
        "against 7 in the 7 days before (2026-10-29 to 2026-11-04); by severity: CRITICAL 1, "
        "MEDIUM 1, no score 1."
    )


async def test_the_parameters_of_the_request(desk: Desk, service: Service) -> None:
    service.always = reply(body(cve()))
    await look(desk, service, Period(days=7), vendor="Holm & Works", product="Gate", keyword="path")
    first, before = heard(service)
    assert first == {
        "noRejected": "",
        "keywordSearch": "Holm & Works Gate path",
        "pubStartDate": "2026-11-05T00:00:00.000",
        "pubEndDate": "2026-11-11T23:59:59.999",
        "resultsPerPage": "500",
        "startIndex": "0",
    }
    assert {name: before[name] for name in ("pubStartDate", "pubEndDate", "resultsPerPage")} == {
        "pubStartDate": "2026-10-29T00:00:00.000",
        "pubEndDate": "2026-11-04T23:59:59.999",
        "resultsPerPage": "1",
    }
    target = service.heard[0].split(" ", 2)[1]
    assert target.startswith(
        "/rest/json/cves/2.0?noRejected&keywordSearch=Holm%20%26%20Works%20Gate%20path&"
    )
    assert f"apikey: {KEY}" in service.heard[0].lower()


async def test_a_query_by_number_has_no_time(desk: Desk, service: Service) -> None:
    service.always = reply(body(cve()))
    answer, _ = await look(desk, service, cve="CVE-2026-20001")
    (query,) = heard(service)
    assert query == {
        "noRejected": "",
        "cveId": "CVE-2026-20001",
        "resultsPerPage": "500",
        "startIndex": "0",
    }
    assert (
        answer.summary
        == 'NVD has 1 entry with the number "CVE-2026-20001"; by severity: CRITICAL 1.'
    )


async def test_exploited_entries_can_be_left_out(desk: Desk, service: Service) -> None:
    service.always = reply(body(cve(1), cve(2, cisaExploitAdd="2026-11-10")))
    answer, _ = await look(desk, service, Period(days=7), exploited=False, vendor="Holm")
    assert (answer.total, [row.data["id"] for row in answer.rows]) == (1, ["CVE-2026-20001"])
    # The service cannot count those before without the exploited ones.
    assert "against" not in answer.summary
    assert len(service.heard) == 1


async def test_a_count_that_fails_is_a_line(desk: Desk, service: Service) -> None:
    service.once = [reply(body(cve()))]
    service.always = reply(b"", "503 Service Unavailable")
    answer, lines = await look(desk, service, Period(days=7), vendor="Holm")
    assert answer.total == 1
    assert "against" not in answer.summary
    assert lines == ("NVD's count of the days before failed: nvd answered 503",)


async def test_of_very_many_the_oldest_and_the_newest_are_read(
    desk: Desk, service: Service
) -> None:
    old = [cve(number, "2020-01-01T00:00:00.000") for number in range(500)]
    new = [cve(5_000 + number, "2026-11-10T00:00:00.000") for number in range(500)]
    service.once = [reply(body(*old, total=12_345))]
    service.always = reply(body(*new, total=12_345, start=11_845))
    answer, _ = await look(desk, service, vendor="Holm")
    assert [query["startIndex"] for query in heard(service)] == ["0", "11845"]
    assert (answer.total, len(answer.rows)) == (12_345, MOST_ROWS)
    assert answer.rows[0].when == "2026-11-10T00:00:00Z"
    assert answer.note == (
        "of 12,345 entries 1,000 were read, the oldest and the newest; days and severities are "
        "counted over these"
    )
    assert max(len(repr(row)) for row in desk.store.journal.rows(desk.run)) < 200_000


async def test_two_pages_that_hold_all_do_not_overlap(desk: Desk, service: Service) -> None:
    service.once = [reply(body(*(cve(number) for number in range(500)), total=600))]
    service.always = reply(body(*(cve(number) for number in range(500, 600)), total=600, start=500))
    answer, _ = await look(desk, service, vendor="Holm")
    assert [query["startIndex"] for query in heard(service)] == ["0", "500"]
    assert (answer.total, answer.note) == (600, "")
    assert "CRITICAL 600" in answer.summary


async def test_a_long_time_is_asked_for_in_parts(desk: Desk, service: Service) -> None:
    service.always = reply(body(cve()))
    answer, _ = await look(desk, service, Period(days=300), vendor="Holm")
    spans = [(query["pubStartDate"][:10], query["pubEndDate"][:10]) for query in heard(service)]
    assert spans == [
        ("2026-07-15", "2026-11-11"),
        ("2026-03-17", "2026-07-14"),
        ("2026-01-16", "2026-03-16"),
    ]
    assert answer.total == 3


async def test_a_part_that_fails_is_a_failure(desk: Desk, service: Service) -> None:
    """Half an answer would look like a quiet spring."""
    service.once = [reply(body(cve()))]
    service.always = reply(b"", "500 Internal Server Error")
    with pytest.raises(CallError):
        await look(desk, service, Period(days=300), vendor="Holm")


@given(st.dates(date(2000, 1, 1), date(2030, 1, 1)), st.integers(1, 366))
def test_parts_are_the_days_and_none_is_too_long(first: date, days: int) -> None:
    span = Span(first, first + timedelta(days - 1))
    parts = _parts(span)
    assert all(part.days <= LONGEST_SPAN for part in parts)
    assert sorted(day for part in parts for day in part.every()) == span.every()
    assert [part.last for part in parts] == sorted((part.last for part in parts), reverse=True)


@pytest.mark.parametrize(
    ("metrics", "version", "score"),
    [
        ({}, "", None),
        ({"cvssMetricV31": [metric(9.8)], "cvssMetricV40": [metric(7.0)]}, "4.0", 7.0),
        ({"cvssMetricV30": [metric(6.0)], "cvssMetricV2": [metric(5.0)]}, "3.0", 6.0),
        ({"cvssMetricV31": [metric(4.0, kind="Secondary"), metric(8.0)]}, "3.1", 8.0),
        (
            {"cvssMetricV31": [metric(4.0, kind="Secondary"), metric(8.0, kind="Secondary")]},
            "3.1",
            4.0,
        ),
    ],
)
def test_the_score_that_counts(
    metrics: dict[str, Sequence[Any]], version: str, score: float | None
) -> None:
    found, counts = score_of(CvssMetrics.model_validate(metrics))
    assert (found, counts.cvssData.baseScore if counts else None) == (version, score)


def test_the_rate_limits() -> None:
    assert (Settings().limit("nvd").rate, Settings().limit("nvd").per) == (5.0, 30.0)
    assert Settings(keys={"nvd": KEY}).limit("nvd").rate == 50.0  # type: ignore[dict-item]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    JSON,
    st.sampled_from(["id", "published", "vulnStatus", "cisaExploitAdd", "descriptions", "metrics"]),
)
def test_any_field_may_be_anything(value: Any, name: str) -> None:
    """What is taken for an entry can be told as a row; what is not is malformed."""
    raw = json.loads(body(cve(**{name: value})))
    try:
        found = shaped("nvd", NvdResponse, raw)
    except CallError:
        return
    page = nvd._page(found, None, True)
    assert page.read == 1
    for entry in page.entries:
        check_row(nvd._row(entry))


SAID = st.characters(exclude_categories=["Cs", "Cn", "Co", "Cf"])
"""Characters that mean something, line ends and controls among them."""


@given(st.text(SAID, max_size=600), st.floats(0, 10), st.text(SAID, max_size=60))
def test_words_from_outside_stay_in_their_sentence(said: str, score: float, severity: str) -> None:
    raw = cve(
        descriptions=[{"lang": "en", "value": said}],
        metrics={"cvssMetricV31": [metric(score, severity)]},
    )
    (entry,) = nvd._page(shaped("nvd", NvdResponse, json.loads(body(raw))), None, True).entries
    row = nvd._row(entry)
    check_row(row)
    assert row.sentence.startswith(
        "2026-11-09 15:15 UTC: NVD published CVE-2026-20001, CVSS 3.1 base score "
    )
