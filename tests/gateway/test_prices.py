"""Prices: known offline, your own before all others, and never a guess."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.gateway.prices import FREE, model_cost, most_tokens, own_price

PLAIN = Settings()
KNOWN = ("openai:gpt-4o-mini", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash")


def own(**prices: dict[str, str]) -> Settings:
    return Settings.model_validate(
        {"prices": {name.replace("__", ":"): price for name, price in prices.items()}}
    )


@pytest.mark.parametrize(
    "model", ["openai:nobody-made-this", "nobody:gpt-4o-mini", "gpt-4o-mini", "", ":", "openai:"]
)
def test_a_price_that_is_not_known_is_none_and_never_0(model: str) -> None:
    assert model_cost(PLAIN, model, 1_000, 1_000) is None


def test_a_known_model_is_priced_by_its_tokens_exactly() -> None:
    # $0.15 and $0.60 for a million tokens, unchanged since July 2024.
    assert model_cost(PLAIN, "openai:gpt-4o-mini", 1_000_000, 0) == Decimal("0.15")
    assert model_cost(PLAIN, "openai:gpt-4o-mini", 0, 1_000_000) == Decimal("0.60")
    assert model_cost(PLAIN, "openai:gpt-4o-mini", 1_000, 10) == Decimal("0.000156")
    assert model_cost(PLAIN, "openai:gpt-4o-mini", 0, 0) == 0


@pytest.mark.parametrize("model", KNOWN)
def test_the_models_of_the_providers_that_we_open_are_known(model: str) -> None:
    cost = model_cost(PLAIN, model, 1_000, 1_000)
    assert isinstance(cost, Decimal)
    assert Decimal("0.0001") < cost < 1


def test_your_own_price_goes_before_the_list() -> None:
    settings = own(
        openai__mine={"input": "2", "output": "8", "call": "0.001"},
        **{"openai__gpt-4o-mini": {"input": "3"}},
    )
    assert model_cost(settings, "openai:mine", 1_000_000, 500_000) == Decimal("6.001")
    assert model_cost(settings, "openai:gpt-4o-mini", 1_000_000, 1_000_000) == 3
    assert model_cost(settings, "openai:gpt-4o", 1_000, 0) == model_cost(
        PLAIN, "openai:gpt-4o", 1_000, 0
    )


def test_your_own_price_makes_a_local_model_cost_something() -> None:
    assert model_cost(own(ollama__llama={"call": "0.5"}), "ollama:llama", 10, 10) == Decimal("0.5")


@pytest.mark.parametrize("model", ["ollama:qwen3:8b", "ollama:", "embedded"])
def test_what_runs_here_costs_nothing(model: str) -> None:
    assert model_cost(PLAIN, model, 10**9, 10**9) == 0


@pytest.mark.parametrize("provider", sorted(FREE))
def test_free_providers_cost_nothing(provider: str) -> None:
    assert model_cost(PLAIN, provider, 1, 1) == 0


def test_no_price_of_your_own_is_none_and_never_0() -> None:
    assert own_price(PLAIN, "tavily") is None
    assert own_price(own(tavily={"call": "1"}), "exa", "") is None
    assert own_price(own(tavily={"call": "1"})) is None


def test_your_own_price_goes_by_the_first_name_that_has_one() -> None:
    both = own(google={"call": "0.25"}, serper={"call": "0.5"})
    assert own_price(both, "google", "serper") == Decimal("0.25")
    assert own_price(own(serper={"call": "0.5"}), "google", "serper") == Decimal("0.5")


def test_your_own_price_may_be_nothing() -> None:
    assert own_price(own(tavily={"call": "0"}), "tavily", "exa") == 0


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 10**6))
def test_more_tokens_never_cost_less(tokens_in: int, tokens_out: int, more: int) -> None:
    for model in KNOWN:
        less = model_cost(PLAIN, model, tokens_in, tokens_out)
        assert less is not None
        for grown in (model_cost(PLAIN, model, tokens_in + more, tokens_out),
                      model_cost(PLAIN, model, tokens_in, tokens_out + more)):  # fmt: skip
            assert grown is not None
            assert grown >= less >= 0


@given(st.text())
def test_most_tokens_is_at_least_one_for_each_character(text: str) -> None:
    assert most_tokens(text) >= len(text)


def test_most_tokens_counts_bytes_and_stands_what_utf8_cannot_hold() -> None:
    assert most_tokens("") == 0
    assert most_tokens("äöü") == 6
    assert most_tokens("日本") == 6
    assert most_tokens("\ud800") == 1


def test_prices_are_read_from_this_disk() -> None:
    """No socket is opened, and none could be.

    Whoever opened one would be told by the audit hook.
    """
    script = (
        "import sys\n"
        "sys.addaudithook(lambda name, args: sys.exit(f'{name} {args}') if "
        "name.startswith('socket.') else None)\n"
        "from deepdiver.core.settings import Settings\n"
        "from deepdiver.gateway.prices import model_cost\n"
        "print(model_cost(Settings(), 'openai:gpt-4o-mini', 1000, 0), model_cost(Settings(), "
        "'openai:none', 1, 1))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (told.returncode, told.stdout.split()) == (0, ["0.00015", "None"]), told.stderr
