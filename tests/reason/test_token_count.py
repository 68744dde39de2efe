"""A service's count of tokens is believed as far as it can be true."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.token_count import (
    DENSEST,
    SPARSEST,
    CountedBy,
    Exchange,
    TokenCount,
    count_tokens,
)

WRONG: tuple[Any, ...] = (-1, -(10**30), 10**30, None, "900", 900.0, math.nan, True, [900], {})
EXCHANGE = Exchange(sent=4_000, received=400, most_in=5_000, most_out=1_000)


def counted(read: Any, written: Any, exchange: Exchange = EXCHANGE) -> TokenCount:
    return count_tokens({"input_tokens": read, "output_tokens": written}, exchange)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"input_tokens": 900},
        {"output_tokens": 90},
        *(
            {"input_tokens": read, "output_tokens": written}
            for wrong in WRONG
            for read, written in ((wrong, 90), (900, wrong))
        ),
        {"input_tokens": 5_001, "output_tokens": 90},
        {"input_tokens": 900, "output_tokens": 1_001},
    ],
    ids=str,
)
def test_what_cannot_be_is_the_worst_case(usage: dict[str, Any]) -> None:
    assert count_tokens(usage, EXCHANGE) == TokenCount(5_000, 1_000, CountedBy.WORST_CASE)


@pytest.mark.parametrize(
    ("read", "written", "expected"),
    [
        (0, 0, (2_000, 200)),
        (0, 90, (2_000, 90)),
        (900, 0, (900, 200)),
        (124, 90, (2_000, 90)),
        (900, 12, (900, 200)),
    ],
)
def test_none_or_far_too_few_is_an_estimate(
    read: int, written: int, expected: tuple[int, int]
) -> None:
    assert counted(read, written) == TokenCount(*expected, CountedBy.ESTIMATE)


@pytest.mark.parametrize(("read", "written"), [(900, 90), (125, 13), (5_000, 1_000), (4_000, 400)])
def test_everything_else_is_believed(read: int, written: int) -> None:
    assert counted(read, written) == TokenCount(read, written, CountedBy.SERVICE)


def test_nothing_received_may_be_no_tokens() -> None:
    empty = Exchange(sent=4_000, received=0, most_in=5_000, most_out=1_000)
    assert counted(900, 0, empty) == TokenCount(900, 0, CountedBy.SERVICE)


def test_an_answer_that_is_longer_than_allowed_counts_as_much_as_is_allowed() -> None:
    long = Exchange(sent=4_000, received=10**9, most_in=5_000, most_out=1_000)
    assert counted(900, 0, long) == TokenCount(900, 1_000, CountedBy.ESTIMATE)


SIZES = st.integers(0, 10**6)
NUMBERS = (
    st.integers()
    | st.integers(0, 10**6)
    | st.none()
    | st.booleans()
    | st.floats()
    | st.text(max_size=5)
)


@given(NUMBERS, NUMBERS, SIZES, SIZES, SIZES, SIZES)
def test_whatever_a_service_says(
    read: Any, written: Any, sent: int, received: int, most_in: int, most_out: int
) -> None:
    exchange = Exchange(sent, received, max(most_in, sent), most_out)
    made = counted(read, written, exchange)
    assert 0 <= made.tokens_in <= exchange.most_in
    assert 0 <= made.tokens_out <= exchange.most_out
    # What was sent is never free, and no estimate is below what the text can have.
    assert made.tokens_in * SPARSEST >= sent
    assert made.tokens_out * SPARSEST >= min(received, most_out)
    if made.by is CountedBy.SERVICE:
        assert (made.tokens_in, made.tokens_out) == (read, written)
    if made.by is CountedBy.ESTIMATE:
        assert made.tokens_in in {read, -(-sent // DENSEST)}
