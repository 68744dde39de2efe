"""The limits: what does not fit is refused, and deleting gives no money back."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.errors import LimitReachedError
from deepdiver.service.accounts import Account
from deepdiver.service.book import Book
from deepdiver.service.limits import Purse, Purses, check_bytes, check_runs, settle_budget
from deepdiver.work import Load

MONEY = st.none() | st.decimals(0, 100, places=2)


@pytest.mark.parametrize("load", [Load(2, 0), Load(0, 2), Load(1, 1), Load(5, 5)])
def test_too_many_runs_are_refused(load: Load) -> None:
    with pytest.raises(LimitReachedError, match="2 of your runs"):
        check_runs(Account("ada", runs=2), load)


def test_as_many_as_one_may_have_are_not() -> None:
    check_runs(Account("ada", runs=2), Load(1, 0))


def test_files_that_do_not_fit_are_refused() -> None:
    check_bytes(Account("ada", bytes=10), 4, 6)
    with pytest.raises(LimitReachedError, match="10 are the maximum"):
        check_bytes(Account("ada", bytes=10), 4, 7)


@given(MONEY, MONEY, MONEY, st.decimals(0, 50, places=2), st.decimals(0, 50, places=2))
def test_no_run_may_cost_more_than_anybody_allows(
    own: Decimal | None,
    service: Decimal | None,
    asked: Decimal | None,
    spent: Decimal,
    promised: Decimal,
) -> None:
    account = Account("ada", money=own)
    settings = Settings(budget=service)
    if own is not None and own - spent - promised <= 0:
        with pytest.raises(LimitReachedError, match="spent or reserved"):
            settle_budget(account, settings, asked, spent, promised)
        return
    allowed = settle_budget(account, settings, asked, spent, promised)
    bounds = [one for one in (service, asked) if one is not None]
    bounds += [own - spent - promised] if own is not None else []
    assert allowed == (min(bounds) if bounds else None)


def test_what_is_set_aside_is_kept_for_each_user(book: Book) -> None:
    purses = Purses(book)
    purses.reserve("ada", "r1", Decimal("0.30"))
    purses.reserve("ada", "r1", Decimal(9))
    purses.reserve("ada", "r2", None)
    purses.reserve("bob", "r3", Decimal(1))
    purses.settle("r1", Decimal("0.10"))
    assert purses.of("ada") == [
        Purse("r1", Decimal("0.30"), Decimal("0.10")),
        Purse("r2", None, None),
    ]
    assert purses.of("nobody") == []
