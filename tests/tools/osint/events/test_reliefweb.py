"""ReliefWeb's reports, against a local server that speaks its format."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.http import shaped
from deepdiver.tools.osint.events import reliefweb
from deepdiver.tools.osint.feed import ServiceAnswer
from deepdiver.tools.osint.search_events import FEED, EventArguments
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FAST, FeedCase, FeedFaults, check_row, refusal
from tests.tools.search.conftest import Service, reply

# An item of the documented format, with an invented report.
REPORT: dict[str, Any] = {
    "id": "4199001",
    "score": 1,
    "fields": {
        "title": "Mozambique: Floods in Sofala, Situation Report No. 3",
        "url": "https://reliefweb.int/node/4199001",
        "url_alias": "https://reliefweb.int/report/mozambique/floods-sofala-3",
        "date": {"created": "2026-11-10T14:05:09+00:00"},
        "source": [
            {"name": "UN Office for the Coordination of Humanitarian Affairs"},
            {"name": "INGD"},
        ],
        "format": [{"name": "Situation Report"}],
        "primary_country": {"name": "Mozambique"},
        "language": [{"code": "en"}],
    },
    "href": "https://api.reliefweb.int/v2/reports/4199001",
}
WEEK = {"since": "2026-11-05", "until": "2026-11-11"}
APPNAME = "example-research-3f9a"
# By which the two requests that go out at once are told apart.
LISTED, COUNTED = (
    '"limit":200',
    '"limit":0',
)


def report(number: int = 1, **fields: Any) -> dict[str, Any]:
    made = copy.deepcopy(REPORT)
    made["id"] = str(number)
    made["fields"] |= fields
    return made


def body(total: int, *items: Any) -> bytes:
    head = {"time": 12, "href": "https://api.reliefweb.int/v2/reports", "links": {}, "took": 3}
    return json.dumps({**head, "totalCount": total, "count": len(items), "data": items}).encode()


class TestFaults(FeedFaults):
    case = FeedCase(
        FEED,
        service="reliefweb",
        args={"keywords": "flood", "country_code": "MZ", **WEEK},
        good=body(1, REPORT),
        empty=body(0),
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"totalCount": 1}',
            b'{"data": []}',
            b'{"totalCount": -1, "data": []}',
            b'{"totalCount": "many", "data": []}',
            b'{"totalCount": 1, "data": {}}',
            b'{"totalCount": 1, "data": [{"id": "1"}]}',
            b'{"totalCount": 1, "data": [{"id": "1", "fields": []}]}',
            body(1, report(title=None)),
            body(1, report(title=7)),
            body(1, report(date={})),
            body(1, report(date={"created": "yesterday"})),
            body(1, report(date={"created": "2026-11-10T14:05:09"})),
            body(1, report(source="OCHA")),
            body(1, report(language=[7])),
        ),
        key="reliefweb",
        vary=lambda number: {"keywords": f"flood {number}"},
    )


async def asked(desk: Desk, url: str, /, **given: Any) -> ServiceAnswer:
    settings: dict[str, Any] = {"urls": {"reliefweb": url}, "limits": {"reliefweb": FAST}}
    settings |= {"keys": {"reliefweb": SecretStr(APPNAME)}, "as_of": given.pop("as_of", None)}
    (answer,) = (
        await FEED.ask(EventArguments.model_validate(given), desk.gateway(**settings))
    ).answers
    return answer


def sent(request: str) -> dict[str, Any]:
    assert request.startswith(f"POST /v2/reports?appname={APPNAME} ")
    made: dict[str, Any] = json.loads(request.partition("\r\n\r\n")[2])
    return made


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(body(1, REPORT))
    answer = await asked(desk, service.url, keywords="flood, Sofala", country_code="MZ", **WEEK)
    (row,) = answer.rows
    assert row.sentence == (
        '2026-11-10 14:05 UTC: ReliefWeb posted the report "Mozambique: Floods in Sofala, '
        'Situation Report No. 3" '
        "(UN Office for the Coordination of Humanitarian Affairs, INGD; Situation Report; about "
        "Mozambique)."
    )
    assert (row.when, row.place, row.language) == ("2026-11-10T14:05:09Z", "Mozambique", "en")
    assert row.url == "https://reliefweb.int/report/mozambique/floods-sofala-3"
    assert row.data["id"] == "4199001"
    assert answer.title == 'reports on "flood Sofala" about Mozambique, 2026-11-05 to 2026-11-11'
    assert answer.url == f"{service.url}/v2/reports"
    now, before = sorted(
        (sent(request) for request in service.heard), key=lambda one: -one["limit"]
    )
    assert now["query"] == {"value": "flood Sofala", "operator": "AND"}
    assert now["filter"] == {
        "operator": "AND",
        "conditions": [
            {
                "field": "date.created",
                "value": {"from": "2026-11-05T00:00:00+00:00", "to": "2026-11-11T23:59:59+00:00"},
            },
            {"field": "country.iso3", "value": ["moz", "MOZ"], "operator": "OR"},
        ],
    }
    assert (now["limit"], now["sort"]) == (200, ["date.created:desc"])
    assert before["limit"] == 0
    assert before["filter"]["conditions"][0]["value"] == {
        "from": "2026-10-29T00:00:00+00:00",
        "to": "2026-11-04T23:59:59+00:00",
    }


async def test_numbers_are_compared_with_those_before(desk: Desk, service: Service) -> None:
    days = ["2026-11-05T00:00:00+00:00", "2026-11-06T01:00:00+03:00", "2026-11-11T23:59:59+00:00"]
    items = [report(number, date={"created": day}) for number, day in enumerate(days)]
    service.always = {LISTED: reply(body(3, *items)), COUNTED: reply(body(41))}
    answer = await asked(desk, service.url, country_code="MZ", **WEEK)
    assert answer.summary == (
        "ReliefWeb lists 3 reports about Mozambique from 2026-11-05 to 2026-11-11 (by day: "
        "2026-11-05: 2, "
        "2026-11-06: 0, 2026-11-07: 0, 2026-11-08: 0, 2026-11-09: 0, 2026-11-10: 0, 2026-11-11: "
        "1), against 41 in the "
        "7 days before (2026-10-29 to 2026-11-04)."
    )


async def test_days_are_not_counted_if_only_some_reports_are_listed(
    desk: Desk, service: Service
) -> None:
    service.always = {
        LISTED: reply(body(900, *(report(number) for number in range(300)))),
        COUNTED: reply(body(10)),
    }
    answer = await asked(desk, service.url, country_code="MZ", **WEEK)
    assert (len(answer.rows), answer.total) == (20, 900)
    assert "by day" not in answer.summary
    assert "900 reports" in answer.summary
    kept = [
        json.loads(row.reply)["value"]["reports"]
        for row in desk.store.journal.rows(desk.run)
        if row.reply
    ]
    assert max(map(len, kept)) == reliefweb.KEPT


async def test_few_fields_are_needed_and_nothing_breaks_out(desk: Desk, service: Service) -> None:
    bare = {
        "id": 7,
        "fields": {
            "title": 'Say "yes"\r\n\x1b[2J\u202eno',
            "date": {"created": "2026-11-10T00:00:00Z"},
        },
    }
    service.always = reply(body(1, bare))
    (row,) = (await asked(desk, service.url, keywords="flood", **WEEK)).rows
    check_row(row)
    assert row.sentence == "2026-11-10 00:00 UTC: ReliefWeb posted the report \"Say 'yes' [2Jno\"."
    assert (row.publisher, row.url, row.language) == ("ReliefWeb", "", "")


async def test_a_refusal_says_where_to_get_an_appname(desk: Desk, service: Service) -> None:
    service.always = reply(
        b'{"status":403,"error":{"type":"AccessDeniedHttpException"}}', "403 Forbidden"
    )
    with pytest.raises(CallError, match="RELIEFWEB_APPNAME"):
        await asked(desk, service.url, keywords="flood")


async def test_today_is_not_in_the_request_but_in_the_answer(desk: Desk, service: Service) -> None:
    """A replay on another day asks the same and is answered for the days of then."""
    service.always = reply(body(0))
    live = await asked(desk, service.url, country_code="MZ", days="7")
    settings = {"urls": {"reliefweb": service.url}}
    args = EventArguments.model_validate({"country_code": "MZ", "days": "7"})
    told = await FEED.ask(args, desk.gateway(Mode.REPLAY, **settings))
    assert told.answers == (live,)
    assert "not over" in live.note


def test_its_address_and_rate_limit() -> None:
    assert reliefweb.DEFAULT_URL.startswith("https://")
    limit = Settings().limit("reliefweb")
    assert limit.rate / limit.per <= 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.sampled_from([*REPORT["fields"], "id"]),
)
def test_any_value_is_read_or_refused(value: Any, part: str) -> None:
    made = copy.deepcopy(REPORT)
    (made if part == "id" else made["fields"])[part] = value
    error = refusal(
        CallError,
        lambda: shaped("reliefweb", reliefweb.ReliefWebResponse, {"totalCount": 1, "data": [made]}),
    )
    assert error is None or error.fault is CallFault.MALFORMED
