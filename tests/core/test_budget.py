"""The purse: what is spent and what is reserved never pass the limit, to the last digit."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from deepdiver.core.budget import ZERO, Budget

# Prices divided by a million fill all 28 digits of a default Decimal; sums of them need more.
COSTS = st.builds(
    lambda dollars, digits, places: Decimal(dollars) + Decimal(digits).scaleb(-places),
    st.integers(0, 3),
    st.integers(0, 10**20),
    st.integers(20, 27),
)
CALLS = st.sampled_from(["a", "b", "c", "d"])


def exact(budget: Budget) -> Fraction:
    """Return what is spent and reserved, without any rounding."""
    return sum((Fraction(value) for value in budget.held.values()), Fraction(budget.spent))


def test_what_does_not_fit_is_refused_and_says_what_is_left() -> None:
    budget = Budget(Decimal("1.00")).reserve("a", Decimal("0.70"))
    with pytest.raises(ValueError, match=r"0\.31 does not fit, 0\.30 is left"):
        budget.reserve("b", Decimal("0.31"))


def test_a_call_reserves_once() -> None:
    budget = Budget(Decimal(1)).reserve("a", Decimal("0.1"))
    with pytest.raises(ValueError, match="a has reserved already"):
        budget.reserve("a", Decimal("0.1"))


def test_a_purse_is_frozen() -> None:
    budget = Budget(Decimal(1))
    with pytest.raises(FrozenInstanceError):
        budget.spent = Decimal(0)  # type: ignore[misc]


def test_every_step_gives_a_new_purse() -> None:
    start = Budget(Decimal(1))
    held = start.reserve("a", Decimal("0.5"))
    done = held.charge("a", Decimal("0.2"))
    assert start == Budget(Decimal(1))
    assert held.held == {"a": Decimal("0.5")}
    assert (done.spent, done.held) == (Decimal("0.2"), {})


def test_two_purses_share_nothing() -> None:
    one, other = Budget(), Budget()
    one.held["a"] = Decimal(1)
    assert other.held == {}


def test_exactly_what_is_left_fits() -> None:
    budget = (
        Budget(Decimal("0.3"))
        .reserve("a", Decimal("0.1"))
        .reserve("b", Decimal("0.1"))
        .reserve("c", Decimal("0.1"))
    )
    assert budget.left == 0
    assert not budget.fits(Decimal("1e-30"))
    assert budget.fits(ZERO)


def test_ten_cents_ten_times_are_a_dollar() -> None:
    budget = Budget(Decimal(1))
    for call in "abcdefghij":
        budget = budget.reserve(call, Decimal("0.1")).charge(call, Decimal("0.1"))
    assert budget.spent == Decimal("1.0")
    assert budget.left == 0


def test_no_digit_is_lost() -> None:
    third = Decimal(1) / Decimal(3)
    budget = (
        Budget(Decimal(1_000)).reserve("a", third).charge("a", third).reserve("b", Decimal(900))
    )
    assert Fraction(budget.left or 0) == 100 - Fraction(third)
    assert Fraction(budget.charge("b", Decimal(900)).spent) == 900 + Fraction(third)


def test_a_digit_too_much_does_not_fit() -> None:
    spent = Decimal(9) + Decimal("1e-27")
    budget = Budget(Decimal(10), spent)
    assert not budget.fits(Decimal(1))
    assert budget.fits(Decimal(1) - Decimal("1e-27"))


@given(st.lists(COSTS, max_size=6))
def test_without_a_limit_everything_fits(costs: list[Decimal]) -> None:
    budget = Budget()
    assert budget.left is None
    for number, cost in enumerate(costs):
        assert budget.fits(cost)
        budget = budget.reserve(str(number), cost)
    assert Fraction(budget.reserved) == sum(map(Fraction, costs))


@given(COSTS, COSTS)
def test_what_costs_nothing_always_fits(limit: Decimal, spent: Decimal) -> None:
    budget = Budget(limit, spent)
    assert budget.fits(ZERO)
    assert budget.fits(Decimal(-1))
    assert budget.reserve("a", Decimal(-1)).held == {"a": ZERO}


@given(COSTS)
def test_a_negative_cost_gives_nothing_back(spent: Decimal) -> None:
    assert Budget(Decimal(100), spent).charge("a", Decimal(-5)).spent == spent


def test_a_charge_of_zero_releases_the_reservation() -> None:
    budget = Budget(Decimal(1)).reserve("a", Decimal(1))
    assert not budget.fits(Decimal("0.01"))
    assert budget.charge("a", ZERO) == Budget(Decimal(1))


def test_what_was_sent_without_a_reservation_is_still_paid_for() -> None:
    # A call that was in doubt is charged at its worst case; its reservation may be gone by then.
    assert Budget(Decimal(1)).charge("a", Decimal("0.4")).left == Decimal("0.6")


def test_a_purse_that_begins_overspent_lets_nothing_through() -> None:
    budget = Budget(Decimal(1), Decimal(2))
    assert budget.left == -1
    assert not budget.fits(Decimal("0.01"))
    with pytest.raises(ValueError, match="does not fit"):
        budget.reserve("a", Decimal("0.01"))


class Purse(RuleBasedStateMachine):
    """Any sequence of calls, side by side, each costing at most its worst case."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget()
        self.limit = ZERO
        self.paid = Fraction(0)

    @initialize(limit=COSTS)
    def open(self, limit: Decimal) -> None:
        self.limit = limit
        self.budget = Budget(limit)

    @rule(call=CALLS, worst=COSTS)
    def reserve(self, call: str, worst: Decimal) -> None:
        before = self.budget
        fits = exact(before) + Fraction(worst) <= Fraction(self.limit) or worst == 0
        if call in before.held or not fits:
            with pytest.raises(ValueError, match=r"reserved already|does not fit"):
                before.reserve(call, worst)
        else:
            self.budget = before.reserve(call, worst)
            assert self.budget.held == {**before.held, call: worst}

    @precondition(lambda self: self.budget.held)
    @rule(data=st.data(), share=st.integers(0, 4))
    def charge(self, data: st.DataObject, share: int) -> None:
        call = data.draw(st.sampled_from(sorted(self.budget.held)))
        cost = self.budget.held[call] * share / 4
        cost = min(cost, self.budget.held[call])
        self.budget = self.budget.charge(call, cost)
        self.paid += Fraction(cost)
        assert call not in self.budget.held

    @invariant()
    def never_past_the_limit(self) -> None:
        assert exact(self.budget) <= Fraction(self.limit)

    @invariant()
    def nothing_is_lost_or_made_up(self) -> None:
        assert Fraction(self.budget.spent) == self.paid
        assert Fraction(self.budget.left or 0) == Fraction(self.limit) - exact(self.budget)
        assert Fraction(self.budget.reserved) == exact(self.budget) - self.paid


TestPurse = Purse.TestCase
TestPurse.settings = settings(stateful_step_count=20)
