"""What calls cost.

Model prices come from the `genai-prices` package (its bundled list: nothing is fetched), those of searches from a small
table, and your own go before both. A model name is provider:model. Local providers cost nothing. A price that is not
known is None, never 0.
"""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price

from deepdiver.core.settings import Settings

FREE = frozenset("embedded ollama library searxng duckduckgo wikipedia arxiv openalex crossref".split())
"""Providers that ask for no money."""
SEARCH_PRICES = {
    "tavily": Decimal("0.016"),
    "exa": Decimal("0.010"),
    "brave": Decimal("0.005"),
    "google": Decimal("0.005"),
    "serper": Decimal("0.001"),
    "serpapi": Decimal("0.015"),
}
"""US dollars for one search at the pay-as-you-go rate (tavily: advanced depth, two credits), November 2026."""
MILLION = Decimal(1_000_000)


def model_cost(settings: Settings, model: str, tokens_in: int, tokens_out: int) -> Decimal | None:
    """Return what a model call of so many tokens costs, in US dollars; None if the price is not known."""
    if price := settings.prices.get(model):
        return price.call + (price.input * tokens_in + price.output * tokens_out) / MILLION
    provider, _, name = model.partition(":")
    if provider in FREE:
        return Decimal(0)
    try:
        usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
        return calc_price(usage, name, provider_id=provider).total_price
    except LookupError:
        return None


def search_cost(settings: Settings, provider: str) -> Decimal | None:
    """Return what one search costs, in US dollars; None if the price is not known."""
    if price := settings.prices.get(provider):
        return price.call
    return Decimal(0) if provider in FREE else SEARCH_PRICES.get(provider)


def most_tokens(text: str) -> int:
    """Return more tokens than any tokenizer makes of a text: none makes more than one of each UTF-8 byte."""
    return len(text.encode("utf-8", "replace"))
