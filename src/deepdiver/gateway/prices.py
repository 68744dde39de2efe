"""What calls cost.

Model prices come from the `genai-prices` package (its bundled list: nothing is fetched) and search
prices from a small table; prices in the settings override both. A model name is provider:model.
Local providers cost nothing. An unknown price is None, never 0.
"""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price

from deepdiver.core.settings import Settings

FREE = frozenset(
    "embedded ollama library searxng duckduckgo wikipedia arxiv openalex crossref semantic_scholar "
    "pubmed gdelt".split()
)
"""Providers that charge nothing."""
SEARCH_PRICES = {
    # Two credits of $0.008: advanced depth, or five pages of its extract.
    "tavily": Decimal("0.016"),
    "brave": Decimal("0.005"),  # $5 for 1,000
    "google": Decimal("0.005"),  # Custom Search: $5 for 1,000 after 100 free ones a day
    "serper": Decimal("0.001"),  # a credit, up to ten results; $50 for 50,000
    "serpapi": Decimal("0.015"),  # $75 for 5,000
}
"""US dollars for one search at the pay-as-you-go rate, November 2026."""
EXA_PRICES = ((25, Decimal("0.005")), (100, Decimal("0.025")))
"""Exa's price of a search with up to so many results, by its OpenAPI description of November
2026."""
EXA_TEXT_PRICE = Decimal("0.001")
"""Exa's price for the text of one result."""
RESELLERS = {"google": ("serper", "serpapi")}
"""Services that sell another's results. The first that is set up is asked, and paid, instead."""
MILLION = Decimal(1_000_000)


def model_cost(settings: Settings, model: str, tokens_in: int, tokens_out: int) -> Decimal | None:
    """Return the cost of a model call in US dollars, or None if the price is not known."""
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


def seller_of(settings: Settings, provider: str) -> str:
    """Return who is asked, and paid, for a provider's results.

    That is the first of its resellers that is set up, or else the provider itself.
    """
    for reseller in RESELLERS.get(provider, ()):
        if settings.key(reseller) or settings.urls.get(reseller):
            return reseller
    return provider


def search_cost(settings: Settings, provider: str, results: int = 0) -> Decimal | None:
    """Return the most that one search costs in US dollars, or None if the price is not known.

    Args:
        settings: The user's own prices, which override the table.
        provider: Who is searched.
        results: How many results are wanted, where the price depends on it; 0 takes the number in
            the settings.
    """
    seller = seller_of(settings, provider)
    if price := settings.prices.get(provider) or settings.prices.get(seller):
        return price.call
    if provider == "exa":
        wanted = results or settings.filters.results
        search = next((price for most, price in EXA_PRICES if wanted <= most), EXA_PRICES[-1][1])
        return search + EXA_TEXT_PRICE * wanted
    return Decimal(0) if seller in FREE else SEARCH_PRICES.get(seller)


def most_tokens(text: str) -> int:
    """Return an upper bound of the tokens that any tokenizer makes of a text.

    No tokenizer makes more than one token of a UTF-8 byte.
    """
    return len(text.encode("utf-8", "replace"))
