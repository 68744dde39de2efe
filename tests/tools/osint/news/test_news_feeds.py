"""News feeds of the user, read from a local server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.gateway import Mode
from deepdiver.tools.osint.news.news_feeds import matches
from tests.tools.conftest import Desk
from tests.tools.osint.faults import check_row
from tests.tools.osint.news.conftest import WEEK, ask, feed_answer, herald, settings
from tests.tools.osint.news.test_rss import ATOM, RSS
from tests.tools.search.conftest import Service, reply


async def test_entries_of_a_feed_are_found_by_all_their_words_and_their_time(
    desk: Desk, service: Service
) -> None:
    entries = (
        ("Férry fires again", "2026-11-10T14:05:00Z", "Nine hurt."),
        ("Harbour closed", "2026-11-11T09:00:00+02:00", "After a fire on two ferries."),
        ("Fire in a shed", "2026-11-10T14:05:00Z", "No boat near."),
        ("Ferry fire: the inquest", "2026-10-30T12:00:00Z", ""),
        ("Ferry fire last spring", "2026-10-01T12:00:00Z", ""),
        ("Ferry fire, undated", "", ""),
    )
    answer = await feed_answer(desk, service, herald(*entries))
    assert [row.sentence for row in answer.rows] == [
        '2026-11-11 07:00 UTC: The Herald had the headline "Harbour closed": "After a fire on two '
        'ferries.".',
        '2026-11-10 14:05 UTC: The Herald had the headline "Férry fires again": "Nine hurt.".',
    ]
    for row in answer.rows:
        check_row(row)
    assert (answer.rows[0].url, answer.rows[0].language) == ("https://herald.example/1", "en")
    assert answer.rows[0].publisher == "The Herald"
    assert answer.summary == (
        'The Herald lists 2 headlines on "ferry fire" from 2026-11-05 to 2026-11-11 (by day: '
        "2026-11-05: 0, "
        "2026-11-06: 0, 2026-11-07: 0, 2026-11-08: 0, 2026-11-09: 0, 2026-11-10: 1, 2026-11-11: "
        "1), against 1 in the "
        "7 days before (2026-10-29 to 2026-11-04)."
    )
    assert answer.note == "1 entry without a date left out."
    assert answer.total == 2


async def test_a_feed_that_does_not_reach_back_is_not_compared(
    desk: Desk, service: Service
) -> None:
    entry = ("Ferry fire", "2026-11-10T14:05:00Z", "")
    answer = await feed_answer(desk, service, herald(entry, reach="2026-11-02"), country_code="SE")
    assert "against" not in answer.summary
    assert answer.summary.endswith("; the feed reaches back to 2026-11-02 only.")
    assert answer.note == "A news feed cannot be narrowed to a country."


async def test_the_three_forms_are_read(desk: Desk, service: Service) -> None:
    rss = await feed_answer(desk, service, RSS.encode(), keywords="strikes, Kharkiv")
    assert [row.url for row in rss.rows] == ["https://news.example/strikes"]
    service.always = {"/atom": reply(ATOM.encode()), "/api/v2": reply(b"{}")}
    options = settings(service.url, (f"{service.url}/atom",))
    atom = (await ask(desk, Mode.LIVE, options, keywords="удари, Харкову", **WEEK)).answers[1]
    assert [row.title for row in atom.rows] == ["Удари по Харкову"]


async def test_words_without_spaces_between_them_are_found(desk: Desk, service: Service) -> None:
    entry = ("北京地铁起火九人受伤", "2026-11-10T14:05:00Z", "")
    answer = await feed_answer(desk, service, herald(entry), keywords="地铁, 起火")
    assert len(answer.rows) == 1
    answer = await feed_answer(desk, service, herald(entry), keywords="地铁, 停运")
    assert answer.rows == ()


async def test_a_feed_is_read_once_for_all_keywords(desk: Desk, service: Service) -> None:
    raw = herald(
        ("Ferry fire", "2026-11-10T14:05:00Z", ""), ("Shed fire", "2026-11-10T14:05:00Z", "")
    )
    for keywords in ("ferry", "shed", "fire"):
        await feed_answer(desk, service, raw, keywords=keywords)
    assert sum("GET /rss " in request for request in service.heard) == 1


async def test_a_host_that_wants_a_pause_does_not_hold_up_others(
    desk: Desk, service: Service
) -> None:
    good = reply(herald(("Ferry fire", "2026-11-10T14:05:00Z", "")))
    late = reply(b"", "429 Too Many Requests", Retry_After="3600")
    service.always = {"/late": late, "/good": good, "/api/v2": reply(b"{}")}
    other = service.url.replace("127.0.0.1", "localhost")
    for path in ("/late", "/late?again"):
        options = settings(service.url, (f"{service.url}{path}", f"{other}/good"))
        told = await ask(desk, Mode.LIVE, options, **WEEK)
        assert [answer.url for answer in told.answers][1:] == [f"{other}/good"]
        assert len(told.failures) == 1
    assert "it was not sent" in told.failures[0]
    assert not any("/late?again" in request for request in service.heard)


async def test_a_limited_number_of_entries_is_journalled(desk: Desk, service: Service) -> None:
    entries = [
        (f"Ferry fire {number}", "2026-11-10T14:05:00Z", "x" * 5_000) for number in range(300)
    ]
    answer = await feed_answer(desk, service, herald(*entries))
    assert "Only the newest 200 of its 301 entries" in answer.note
    assert len(answer.rows) == 20
    rows = [
        row for row in desk.store.journal.rows(desk.run) if row.provider.startswith("rss:127.0.0.1")
    ]
    assert len(rows[0].reply or "") < 200_000


@given(st.text(min_size=1, max_size=60), st.text(max_size=200))
def test_a_text_that_holds_the_keywords_matches(keywords: str, text: str) -> None:
    assert matches(keywords, f"{text} {keywords} {text}")
    assert matches(keywords.upper(), f"{text} {keywords.upper()}")


@pytest.mark.parametrize(
    ("keywords", "text", "expected"),
    [
        ("strikes Kharkiv", "A strike hit Kharkiv's centre", True),
        ("strikes Kharkiv", "A strike hit Kyiv", False),
        ("the strikes", "strike", True),
        ("Zürich", "ZURICH", True),
        ("war", "warm water", False),
        ("地铁", "北京地铁", True),
    ],
)
def test_matching(keywords: str, text: str, expected: bool) -> None:
    assert matches(keywords, text) is expected
