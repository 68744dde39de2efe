"""What calls cost.

Model prices come from the `genai-prices` package (its bundled list: nothing is fetched), and your
own go before them. A model name is provider:model. Local providers cost nothing. A price that is
not known is None, never 0. Search providers state their own prices: see `tools.registry.price_of`.
"""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price

from deepdiver.core.settings import Settings

FREE = frozenset({"embedded", "ollama"})
"""Providers whose models run here, at no price."""
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


def own_price(settings: Settings, *names: str) -> Decimal | None:
    """Return the user's own price of a call, in US dollars, under the first of some names.

    None if the user has set none.
    """
    priced = (settings.prices[name].call for name in names if name in settings.prices)
    return next(priced, None)


def most_tokens(text: str) -> int:
    """Return an upper bound of the tokens that any tokenizer makes of a text.

    No tokenizer makes more than one token of a UTF-8 byte.
    """
    return len(text.encode("utf-8", "replace"))
