"""The arguments of the feed of news."""

from __future__ import annotations

from typing import Any

import pytest

from deepdiver.tools.osint.feed import arguments_of
from deepdiver.tools.osint.search_news import FEED


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs the argument 'keywords'"),
        ({"keywords": ""}, "it needs the argument 'keywords'"),
        ({"keywords": " , ;"}, "'keywords'"),
        ({"keywords": "who is it"}, "'keywords': they hold no word to search for"),
        ({"keywords": "x" * 100}, "'keywords"),
        ({"keywords": ",".join("abcdefghijklmnop")}, "'keywords'"),
        ({"keywords": 7}, "'keywords'"),
        ({"keywords": "fire", "country_code": "XX"}, "'country_code': there is no country XX"),
        (
            {"keywords": "fire", "since": "2026-11-11", "until": "2026-11-05"},
            "since is later than until",
        ),
        ({"keywords": "fire", "since": "2026-11-31"}, "'since': a day is written as 2026-11-11"),
        ({"keywords": "fire", "since": "20261111"}, "'since': a day is written as 2026-11-11"),
        ({"keywords": "fire", "since": "2020-01-01", "until": "2026-01-01"}, "days apart"),
        ({"keywords": "fire", "since": "2026-01-01", "days": "7"}, "give since or days, not both"),
        ({"keywords": "fire", "days": "0"}, "'days'"),
        ({"keywords": "fire", "days": "-7"}, "'days'"),
        ({"keywords": "fire", "limit": "0"}, "'limit'"),
        ({"keywords": "fire", "limit": "21"}, "'limit'"),
        ({"keywords": "fire", "query": "x"}, "it takes no argument 'query'"),
    ],
)
def test_bad_arguments_are_refused_before_any_call(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        arguments_of(FEED, given)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
