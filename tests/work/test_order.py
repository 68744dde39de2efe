"""An order: what it may hold, and the settings of its run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from deepdiver.core.settings import MACHINE, Settings
from deepdiver.errors import SettingsError
from deepdiver.work.order import HIGHEST, LOWEST, OF_THE_RUN, Order, order_of


@pytest.mark.parametrize("name", sorted(MACHINE - set(OF_THE_RUN)))
def test_what_belongs_to_a_machine_cannot_be_ordered(name: str) -> None:
    with pytest.raises(SettingsError, match=f"cannot set {name}: that is the worker's own"):
        Order(question="Who?", options={name: "x"}).settings()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lenght": "brief"}, "unknown key lenght; did you mean length"),
        ({"length": "endless"}, "length"),
        ({"budget": "much"}, "budget"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_an_option_must_be_one_that_the_settings_know(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Order(question="Who?", options=options).settings()


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": LOWEST - 1},
        {"priority": HIGHEST + 1},
        {"key": ""},
        {"key": "k" * 201},
        {"command": "rm"},
        {"not_before": float("nan")},
    ],
    ids=str,
)
def test_a_field_must_be_within_its_bounds(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Order(question="Who?", **fields)


def test_an_order_has_the_settings_of_who_gives_it_and_nothing_of_the_machine() -> None:
    mine = Settings(
        home=Path("/secret/home"),
        database=SecretStr("postgresql://me:password@host/name"),
        keys={"openai": SecretStr("a-secret-key")},
        strategy="iterative",
        length="brief",
        budget=Decimal("0.50"),
        hold_uncertain=True,
        trace="otel",
    )
    order = order_of("Who?", mine, owner="ann", priority=3)
    assert (order.strategy, order.owner, order.priority) == ("iterative", "ann", 3)
    assert order.options == {"length": "brief", "budget": "0.50", "hold_uncertain": True}
    text = order.model_dump_json()
    assert not any(word in text for word in ("secret", "password", "otel"))
    settings = order.settings()
    assert (settings.length, settings.strategy) == ("brief", "iterative")
    assert settings.budget == Decimal("0.50")
    assert Order.model_validate_json(text) == order


def test_an_order_with_no_options_is_one_by_the_defaults() -> None:
    assert order_of("Who?", Settings()) == Order(question="Who?")
    assert Order(question="Who?").settings().public() == Settings().public()
