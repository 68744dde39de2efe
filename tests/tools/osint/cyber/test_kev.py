"""CISA's catalogue from a local server: invented entries, and the real file if it is at hand."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Mode
from deepdiver.tools.osint import bulk_copies
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.cyber import kev
from deepdiver.tools.osint.cyber.kev import KevCatalogue, KevEntry, address
from deepdiver.tools.osint.cyber.query import VulnerabilityQuery
from deepdiver.tools.osint.feed import MOST_ROWS, ServiceAnswer
from deepdiver.tools.osint.search_cyber import FEED
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase, FeedFaults, check_row
from tests.tools.search.conftest import Service, reply

REAL = Path(__file__).parents[5] / "shared" / "data" / "formats" / "api" / "cisa_kev"
TODAY = date(2026, 11, 11)


def entry(cve: str = "CVE-2026-1001", added: str = "2026-11-10", **more: Any) -> dict[str, Any]:
    """Return an entry with every field of the schema."""
    return {
        "cveID": cve,
        "vendorProject": "Holm Works",
        "product": "Gate Server",
        "vulnerabilityName": "Holm Works Gate Server Path Traversal KevEntry",
        "dateAdded": added,
        "shortDescription": 'Holm Works Gate Server contains a path traversal that lets "anyone" '
        "read files.",
        "requiredAction": "Apply mitigations per vendor instructions.",
        "dueDate": "2026-12-01",
        "knownRansomwareCampaignUse": "Unknown",
        "notes": "https://example.org/advisory",
        "cwes": ["CWE-22"],
        **more,
    }


def body(*entries: dict[str, Any], **more: Any) -> bytes:
    head = {
        "title": "CISA Catalog",
        "catalogVersion": "2026.11.11",
        "dateReleased": "2026-11-11T17:04:19.9796Z",
    }
    return json.dumps({**head, "count": len(entries), "vulnerabilities": entries, **more}).encode()


CASE = FeedCase(
    FEED,
    service="cisa_kev",
    args={"vendor": "Holm Works", "exploited": "yes"},
    good=body(entry(), entry("CVE-2026-1002", "2026-11-03")),
    empty=body(entry(vendorProject="Another")),
    wrong=(
        b"[]",
        b"{}",
        body(entry(), count=2),  # some are missing
        body(vulnerabilities=None),
        body(entry("CVE-1")),
        body(entry(added="yesterday")),
        body({**entry(), "dateAdded": 0}),
        body(entry(product=7)),
        body(entry(), dateReleased="2026-11-11"),
    ),
    settings={"as_of": TODAY},
    vary=lambda number: {"keyword": f"word{number}"} if number else {},
)


class TestFaults(FeedFaults):
    case = CASE


async def look(gateway: Gateway, period: Period | None = None, **wanted: str) -> ServiceAnswer:
    query = VulnerabilityQuery(period or Period(), **wanted)
    (answer,) = (await kev.exploited(query, gateway)).answers
    return answer


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    said = body(
        entry("CVE-2026-1002", "2026-11-03"),
        entry(knownRansomwareCampaignUse="Known"),
        entry("CVE-2026-1003", vendorProject="Another"),
    )
    service.always = reply(said)
    answer = await look(
        desk.gateway(**CASE.options(service.url)), Period(days=7), vendor="holm works"
    )
    assert (answer.service, answer.kind, answer.total, answer.note) == ("CISA KEV", "cyber", 1, "")
    assert (
        answer.title
        == 'Known exploited vulnerabilities of "holm works", added 2026-11-05 to 2026-11-11'
    )
    (row,) = answer.rows
    assert row.sentence == (
        '2026-11-10: CISA added CVE-2026-1001, "Holm Works Gate Server Path Traversal '
        'KevEntry", of the vendor '
        '"Holm Works" in the product "Gate Server", to its catalogue of known exploited '
        "vulnerabilities, to be "
        'remedied by 2026-12-01, known to be used for ransomware: "Holm Works Gate Server contains '
        "a path traversal "
        "that lets 'anyone' read files.\"."
    )
    check_row(row)
    assert (row.when, row.confidence, row.data["cveID"]) == ("2026-11-10", "high", "CVE-2026-1001")
    assert answer.summary == (
        "CISA's catalogue 2026.11.11 of known exploited vulnerabilities has 1 entry of \"holm "
        'works", added in '
        "2026-11-05 to 2026-11-11 (by day: 2026-11-05: 0, 2026-11-06: 0, 2026-11-07: 0, "
        "2026-11-08: 0, 2026-11-09: 0, "
        "2026-11-10: 1, 2026-11-11: 0), against 1 in the 7 days before (2026-10-29 to 2026-11-04); "
        "1 of them known "
        "to be used for ransomware."
    )


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({}, True),
        ({"vendor": "Holm"}, True),
        ({"vendor": "HOLM WORKS"}, True),
        ({"vendor": "Hol"}, False),  # a part of a word is another word
        ({"vendor": "Gate"}, False),
        ({"product": "server"}, True),
        ({"product": "Holm"}, False),
        ({"keyword": "traversal files"}, True),
        ({"keyword": "holm gate path"}, True),
        ({"keyword": "overflow"}, False),
        ({"cve": "CVE-2026-1001"}, True),
        ({"cve": "CVE-2026-1002"}, False),
        ({"vendor": "Holm", "product": "Gate", "keyword": "path", "cve": "CVE-2026-1001"}, True),
    ],
)
def test_which_entries_fit_a_query(wanted: dict[str, str], fits: bool) -> None:
    assert KevEntry.model_validate(entry()).fits(VulnerabilityQuery(Period(), **wanted)) == fits


async def test_without_a_time_all_are_found_the_newest_first(desk: Desk, service: Service) -> None:
    many = [
        entry(f"CVE-2026-{1_000 + number}", str(TODAY - timedelta(number))) for number in range(300)
    ]
    service.always = reply(body(*reversed(many)))
    answer = await look(desk.gateway(**CASE.options(service.url)), vendor="Holm")
    assert (answer.total, len(answer.rows)) == (300, MOST_ROWS)
    assert answer.rows[0].when == "2026-11-11"
    assert answer.title == 'Known exploited vulnerabilities of "Holm"'
    assert "has 300 entries" in answer.summary
    assert "against" not in answer.summary
    assert len(json.dumps(desk.everything())) < 300_000


async def test_a_copy_is_used_again_and_says_its_age(
    desk: Desk, service: Service, nobody: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.always = reply(body(entry()), ETag='"1"')
    options = CASE.options(service.url, home=tmp_path / "kept")
    await look(desk.gateway(**options), vendor="Holm")
    again = await look(desk.gateway(**options), product="Gate")  # another question, the same copy
    assert again.note.startswith("from a copy of ")
    assert again.note.endswith(" UTC, 0 minutes old")
    assert len(service.heard) == 1

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(hours=26)

    monkeypatch.setattr(bulk_copies, "datetime", Later)
    service.always = reply(b"", "503 Service Unavailable")
    offline = await look(desk.gateway(**options), keyword="path")
    assert offline.total == 1
    assert offline.note.endswith(" UTC, 26 hours old; cisa_kev answered 503")
    assert 'if-none-match: "1"' in service.heard[1].lower()
    replayed = await look(
        desk.gateway(Mode.REPLAY, **{**options, "home": tmp_path / "elsewhere"}), keyword="path"
    )
    assert replayed == offline
    service.always = reply(b"", "304 Not Modified")
    assert (await look(desk.gateway(**options), keyword="files")).note == ""


async def test_a_login_page_does_not_replace_the_copy(
    desk: Desk, service: Service, tmp_path: Path
) -> None:
    options = CASE.options(service.url, home=tmp_path / "kept")
    service.always = reply(body(entry()))
    await look(desk.gateway(**options))
    known = tmp_path / "kept" / "feeds" / "cisa_kev.json"
    old = datetime.now(UTC) - timedelta(hours=7)
    known.write_text(json.dumps({**json.loads(known.read_text()), "fetched": old.isoformat()}))
    service.always = reply(b"<html>Log in to the hotel</html>")
    answer = await look(desk.gateway(**options), vendor="Holm")
    assert answer.total == 1
    why = "cisa_kev sent a file that is not its own: it is not the catalogue, or not all of it"
    assert answer.note.endswith(f"7 hours old; {why}")


async def test_a_damaged_copy_is_an_error(desk: Desk, service: Service, tmp_path: Path) -> None:
    options = CASE.options(service.url, home=tmp_path / "kept")
    service.always = reply(body(entry()))
    await look(desk.gateway(**options))
    (path,) = (tmp_path / "kept" / "feeds").glob("cisa_kev-*")
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(CallError, match="damaged") as caught:
        await look(desk.gateway(**options), vendor="Holm")
    assert caught.value.fault is CallFault.MALFORMED


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ({}, "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json"),
        (
            {"cisa_kev": "http://127.0.0.1:9/"},
            "http://127.0.0.1:9/sites/default/files/feeds/known_exploited_vulnerabilities.json",
        ),
        ({"cisa_kev": "https://mirror.example/kev.json"}, "https://mirror.example/kev.json"),
    ],
)
def test_the_address_of_the_catalogue(urls: dict[str, str], expected: str) -> None:
    assert address(Settings(urls=urls)) == expected


@pytest.fixture
def real() -> bytes:
    file = REAL / "known_exploited_vulnerabilities.json"
    if not file.is_file():
        pytest.skip(
            "the real catalogue is not at hand: it is data beside the repository, not in it"
        )
    return file.read_bytes()


def test_the_real_catalogue_is_read_whole(real: bytes) -> None:
    catalogue = KevCatalogue.model_validate_json(real)
    raw = json.loads(real)
    assert len(catalogue.vulnerabilities) == raw["count"] == 1_404
    schema = json.loads((REAL / "known_exploited_vulnerabilities_schema.json").read_text())
    required = schema["$defs"]["vulnerability"]["required"]
    assert set(required) <= set(KevEntry.model_fields)


async def test_the_real_catalogue_answers(desk: Desk, service: Service, real: bytes) -> None:
    service.always = reply(real)
    gateway = desk.gateway(**CASE.options(service.url))
    raw = json.loads(real)["vulnerabilities"]
    exchange = await look(gateway, vendor="Microsoft", product="Exchange Server")
    expected = [
        one
        for one in raw
        if one["vendorProject"] == "Microsoft" and "Exchange Server" in one["product"]
    ]
    assert exchange.total == len(expected) > 5
    august = await look(gateway, Period(since=date(2025, 8, 1), until=date(2025, 8, 31)))
    assert august.total == sum(one["dateAdded"].startswith("2025-08") for one in raw)
    before = sum("2025-07-01" <= one["dateAdded"] <= "2025-07-31" for one in raw)
    assert f"against {before} in the 31 days before (2025-07-01 to 2025-07-31)" in august.summary
    one = await look(gateway, cve="CVE-2025-48384")
    assert [row.when for row in one.rows] == ["2025-08-25"]
    assert len(service.heard) == 1


async def test_every_real_entry_can_be_read_back(real: bytes) -> None:
    for one in KevCatalogue.model_validate_json(real).vulnerabilities:
        check_row(kev._row(one))
