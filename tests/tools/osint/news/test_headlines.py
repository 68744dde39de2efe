"""Headlines: a story in many papers is listed once."""

from __future__ import annotations

from datetime import date

import pytest

from deepdiver.tools.osint.feed import Row
from deepdiver.tools.osint.news.headlines import distinct, is_within
from deepdiver.tools.osint.times import Span
from tests.tools.conftest import Desk
from tests.tools.osint.news.conftest import COUNT, LIST, article, gdelt_answer, listed, timeline
from tests.tools.search.conftest import Service, reply


async def test_an_agencys_text_in_many_papers_is_one_headline(desk: Desk, service: Service) -> None:
    same = [article(n, title="Nine hurt, police say") for n in range(3)]
    shouted = article(9, title="NINE HURT, POLICE SAY")
    service.always = {
        LIST: reply(listed(*same, shouted, article(5), article(5))),
        COUNT: reply(timeline(d20261110=6)),
    }
    answer = await gdelt_answer(desk, service.url)
    assert [row.url for row in answer.rows] == ["https://a.example/0", "https://a.example/5"]
    assert answer.total == 6


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("2026-11-05", True),
        ("2026-11-11T23:59:59Z", True),
        ("2026-11-12T00:00:00Z", False),
        ("2026-02-31T00:00:00Z", False),
        ("", False),
    ],
)
def test_whether_a_moment_is_within_a_span(when: str, expected: bool) -> None:
    assert is_within(when, Span(date(2026, 11, 5), date(2026, 11, 11))) is expected


def test_the_first_of_equal_addresses_and_headlines_is_kept() -> None:
    rows = [
        Row(sentence="a", url="https://a.example/1", title="Z\u00fcrich burns"),
        Row(sentence="b", url="https://b.example/1", title="ZURICH BURNS"),
        Row(sentence="c", url="https://a.example/1", title="Another title of the same page"),
        Row(sentence="d", url="https://a.example/2", title="Rain"),
    ]
    assert [row.sentence for row in distinct(rows)] == ["a", "d"]
