"""What calls cost.

Model prices come from the `genai-prices` package (its bundled list: nothing is fetched), those of
searches from a small table, and your own go before both. A model name is provider:model. Local
providers cost nothing. A price that is not known is None, never 0.
"""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price

from deepdiver.core.settings import Settings

FREE = frozenset(
    "embedded ollama library searxng duckduckgo wikipedia arxiv openalex crossref semantic_scholar "
    "pubmed gdelt".split()
)
"""Providers that ask for no money."""
SEARCH_PRICES = {
    "tavily": Decimal(
        "0.016"
    ),  # two credits of $0.008: advanced depth; also five pages of its extract
    "brave": Decimal("0.005"),  # $5 for 1,000
    "google": Decimal("0.005"),  # Custom Search: $5 for 1,000 after 100 free ones a day
    "serper": Decimal("0.001"),  # a credit, up to ten results; $50 for 50,000
    "serpapi": Decimal("0.015"),  # $75 for 5,000
}
"""US dollars for one search at the pay-as-you-go rate, November 2026."""
EXA = ((25, Decimal("0.005")), (100, Decimal("0.025")))
"""Exa's prices of a search by the number of its results, up to so many; its own OpenAPI
description, November 2026."""
EXA_PAGE = Decimal("0.001")
"""What Exa asks for the text of each result."""
WAYS = {"google": ("serper", "serpapi")}
"""Services that sell another's results: the first that is set up is asked instead, and paid."""
MILLION = Decimal(1_000_000)


def model_cost(settings: Settings, model: str, tokens_in: int, tokens_out: int) -> Decimal | None:
    """Return what a model call of so many tokens costs, in US dollars.

    None if the price is not known.
    """
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


def paid(settings: Settings, provider: str) -> str:
    """Return who is asked, and paid, for a provider's results.

    Itself, or the first set up of those that sell them.
    """
    ways = WAYS.get(provider, ())
    return next((way for way in ways if settings.key(way) or settings.urls.get(way)), provider)


def search_cost(settings: Settings, provider: str, results: int = 0) -> Decimal | None:
    """Return what one search costs at most, in US dollars; None if the price is not known.

    Args:
        settings: Your own prices, which go before the list.
        provider: Who is searched.
        results: How many are asked for, where that matters; 0: as many as the settings say.
    """
    seller = paid(settings, provider)
    if price := settings.prices.get(provider) or settings.prices.get(seller):
        return price.call
    if provider == "exa":
        wanted = results or settings.filters.results
        return (
            next((price for most, price in EXA if wanted <= most), EXA[-1][1]) + EXA_PAGE * wanted
        )
    return Decimal(0) if seller in FREE else SEARCH_PRICES.get(seller)


def most_tokens(text: str) -> int:
    """Return more tokens than any tokenizer makes of a text.

    None makes more than one of each UTF-8 byte.
    """
    return len(text.encode("utf-8", "replace"))
