"""What a run has cost, with and without prices."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from deepdiver.report.files import cost_account
from deepdiver.report.spending import Spending, spend, spending_of
from deepdiver.store import CallState, JournalRow
from tests.strategies.rig import Rig

MODEL = "openai:never-heard-of"


def call(provider: str, state: CallState = CallState.SETTLED, cost: str = "0") -> JournalRow:
    return JournalRow(
        run="r",
        key="0" * 64,
        first=0.0,
        last=0.0,
        order=1,
        kind="model",
        provider=provider,
        what="judge",
        state=state,
        request="{}",
        worst=Decimal(0),
        reply=None,
        error=None,
        cost=Decimal(cost),
        sends=1,
        uncertain=0,
    )


def started(*unpriced: str, ceiling: Any = None) -> str:
    return json.dumps({"type": "run_started", "ceiling": ceiling, "unpriced": list(unpriced)})


@pytest.mark.parametrize(
    ("spending", "text"),
    [
        (Spending(), "0"),
        (Spending(Decimal("0.0200")), "0.02"),
        (Spending(Decimal("1E+2")), "100"),
        (Spending(unpriced=(MODEL,)), "unknown"),
        (Spending(Decimal("0.02"), (MODEL,)), "at least 0.02"),
    ],
)
def test_a_price_that_is_not_known_is_never_nothing(spending: Spending, text: str) -> None:
    assert spending.text == text
    assert cost_account([], spending)["usd"] == text


def test_a_service_without_a_price_counts_once_it_is_called() -> None:
    events = [started(MODEL, "corpus"), json.dumps({"type": "phase_started"})]
    assert spend([], events) == Spending()
    assert spend([call(MODEL, CallState.FAILED)], events) == Spending()
    assert spend([call("openai:known", cost="0.5")], events) == Spending(Decimal("0.5"))
    for state in (CallState.SENT, CallState.SETTLED):
        spent = spend([call(MODEL, state), call("tavily", cost="0.016")], events)
        assert spent == Spending(Decimal("0.016"), (MODEL,))


def test_tokens_of_models_are_counted_whether_they_have_a_price_or_not() -> None:
    def told(kind: str, **usage: int) -> JournalRow:
        reply = json.dumps({"value": "", "cost": "0", "usage": usage})
        return replace(call(MODEL), kind=kind, reply=reply)

    rows = [
        told("model", input_tokens=900, output_tokens=40),
        told("model", input_tokens=100),
        told("model"),
        told("search", input_tokens=7),
        call(MODEL),
    ]
    spent = spend(rows, [started(MODEL)])
    assert (spent.tokens_in, spent.tokens_out) == (1_000, 40)
    assert spent.text == "unknown"
    assert cost_account([], spent)["tokens"] == {"in": 1_000, "out": 40}
    assert "tokens" not in cost_account([], Spending())


def test_a_price_that_was_set_before_the_run_went_on_counts() -> None:
    rows = [call(MODEL)]
    assert spend(rows, [started(MODEL), started(ceiling="1.5")]).text == "0"
    assert spend(rows, [started(ceiling="1.5"), started(MODEL)]).text == "unknown"
    assert spend(rows, []).text == "0", "a run that has not begun"


def test_the_account_names_what_has_no_price() -> None:
    row = call(MODEL, CallState.SENT)
    account = cost_account([row], Spending(unpriced=(MODEL,)))
    assert account["unpriced"] == [MODEL]
    assert account["uncertain"][0]["may_have_cost_usd"] == "unknown"
    assert "unpriced" not in cost_account([row], Spending())


async def test_a_run_over_a_service_without_a_price_has_cost_nobody_knows_what(
    tmp_path: Any,
) -> None:
    rig = Rig(tmp_path, prices={})
    outcome = await rig.work()
    assert outcome.unpriced == ("corpus",)
    assert spending_of(rig.store, rig.run.id) == Spending(unpriced=("corpus",))
