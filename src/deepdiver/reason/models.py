"""Chat models: opening one by its name, naming one that was passed in, and closing it.

A name is provider:model. Vendor packages are imported only when one of their models is opened.
Every model is opened with the vendor's own retries off: retrying is the gateway's job. Its client
follows no redirects and limits the length of answers (`model_http.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import httpx
from pydantic import SecretStr

from deepdiver.core.settings import KEY_VARIABLES, URL_VARIABLES, Settings
from deepdiver.errors import CallFault, MissingKeyError, UnknownNameError, UsageError
from deepdiver.reason.model_http import client_options

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

NO_KEY = "none"
"""The key for a server that needs none; the client refuses to start without one."""


def open_model(name: str, settings: Settings) -> BaseChatModel:
    """Open a model by its name.

    Args:
        name: provider:model, for instance `openai:gpt-5-mini` or `ollama:qwen3`.
        settings: Keys, addresses, output limit, temperature and deadline.

    Raises:
        UnknownNameError: If the provider is not known, or the name has no model.
        UsageError: If the provider's package is not installed.
        MissingKeyError: If the provider needs a key and none is set.
    """
    provider, colon, model = name.partition(":")
    if not colon or not model or provider not in _OPENERS:
        raise UnknownNameError(_unknown(provider, model))
    try:
        return _OPENERS[provider](model, settings)
    except ImportError as error:
        raise UsageError(
            f"{name} needs a package that is not installed ({error}): pip install "
            f'"deepdiver-research[{provider}]"'
        ) from None


def name_of(model: BaseChatModel) -> str:
    """Return the name, provider:model, by which prices and limits know a model."""
    about = model._get_ls_params()
    provider = about.get("ls_provider") or type(model).__name__.lower()
    provider = {"google_genai": "google", "google_vertexai": "google"}.get(provider, provider)
    return f"{provider}:{about.get('ls_model_name') or type(model).__name__}"


def advice_on(name: str, fault: CallFault) -> str:
    """Return what to do about a fault of a model that only the user can cure; empty: nothing."""
    provider, _, model = name.partition(":")
    variable = KEY_VARIABLES.get(provider, ("",))[0]
    at = f" or {URL_VARIABLES[provider]}" if provider in URL_VARIABLES else ""
    pull = f"get it with `ollama pull {model}`, or " if provider == "ollama" else ""
    return {
        CallFault.AUTH: f"check {variable or 'its key'} and the account behind it",
        CallFault.UNKNOWN: f"{pull}check the name after --model, and the address (--model-url{at})",
        CallFault.UNREACHED: f"start its server, or give its address (--model-url{at})",
        CallFault.MOVED: f"give its new address (--model-url{at})",
    }.get(fault, "")


def output_limit(model: BaseChatModel) -> int | None:
    """Return the most tokens that a model that was passed in may write, if it says so."""
    return model._get_ls_params().get("ls_max_tokens")


def address_of(model: BaseChatModel) -> str:
    """Return the address that a model is called at; empty if its class does not say."""
    return str(_first(model, _ADDRESSES) or "")


async def close_model(model: BaseChatModel) -> None:
    """Close the connections of a model that `open_model` opened."""
    if close := _first(model, _CLIENTS):
        await close()


def _first(model: BaseChatModel, ways: tuple[str, ...]) -> Any:
    """Return the first thing that is found in a model on one of some ways; else None."""
    for way in ways:
        found: Any = model
        for step in way.split("."):
            found = getattr(found, step, None)
        if found is not None:
            return found
    return None


_CLIENTS = (
    "root_async_client.close",
    "_async_client.close",
    "client._api_client._async_httpx_client.aclose",
)
"""Where the vendors keep the method that closes their connections: openai, anthropic and ollama,
google (whose own `close` leaves a client that was passed in open)."""
_ADDRESSES = (
    "root_async_client.base_url",
    "_async_client.base_url",
    "_async_client._client.base_url",
    "client._api_client._http_options.base_url",
)
"""Where they keep the address that they call: openai, anthropic, ollama, google."""


# Each model gets a client of its own: openai and anthropic would share one among all models of a
# process, and with it the connections of an event loop that may be gone when the next run comes
# ("Event loop is closed").


def _openai(model: str, settings: Settings) -> BaseChatModel:
    url = settings.urls.get("openai")
    opened: BaseChatModel = import_module("langchain_openai").ChatOpenAI(
        model=model,
        api_key=SecretStr(
            NO_KEY if url and not settings.key("openai") else _key("openai", model, settings)
        ),
        base_url=url,
        max_retries=0,
        timeout=_timeout(settings),
        http_async_client=import_module("openai").DefaultAsyncHttpxClient(
            timeout=_timeout(settings), **client_options()
        ),
        max_tokens=settings.max_output_tokens,
        **_temperature(settings),
    )
    return opened


def _anthropic(model: str, settings: Settings) -> BaseChatModel:
    vendor = import_module("anthropic")
    opened = import_module("langchain_anthropic").ChatAnthropic(
        model=model,
        api_key=SecretStr(_key("anthropic", model, settings)),
        base_url=settings.urls.get("anthropic"),
        max_retries=0,
        timeout=_timeout(settings),
        max_tokens=settings.max_output_tokens,
        **_temperature(settings),
    )
    client = vendor.DefaultAsyncHttpxClient(timeout=_timeout(settings), **client_options())
    # The class offers no parameter for it, so it is put where the class keeps its cached property.
    vars(opened)["_async_client"] = vendor.AsyncAnthropic(
        **opened._client_params, http_client=client
    )
    return cast("BaseChatModel", opened)


def _google(model: str, settings: Settings) -> BaseChatModel:
    key, url = _key("google", model, settings), settings.urls.get("google")
    opened = import_module("langchain_google_genai").ChatGoogleGenerativeAI(
        model=model,
        api_key=SecretStr(key),
        base_url=url,
        vertexai=False,
        max_retries=1,  # Google counts the first attempt; 0 means its default of 5
        timeout=_timeout(settings),
        max_output_tokens=settings.max_output_tokens,
        **_temperature(settings),
    )
    # The class offers no parameter for it, and would use aiohttp, if that is installed, which
    # follows redirects and has no hooks.
    genai = import_module("google.genai")
    opened.client = genai.Client(
        api_key=key,
        http_options=genai.types.HttpOptions(
            base_url=url,
            httpx_async_client=httpx.AsyncClient(timeout=_timeout(settings), **client_options()),
        ),
    )
    return cast("BaseChatModel", opened)


def _ollama(model: str, settings: Settings) -> BaseChatModel:
    key = settings.key("ollama")  # its cloud asks for one, a local server does not
    options = client_options()
    if key:
        options["headers"]["Authorization"] = f"Bearer {key}"
    opened: BaseChatModel = import_module("langchain_ollama").ChatOllama(
        model=model,
        base_url=settings.urls.get("ollama"),
        client_kwargs={"timeout": _timeout(settings)},
        async_client_kwargs=options,
        num_predict=settings.max_output_tokens,
        num_ctx=settings.context_tokens,
        **_temperature(settings),
    )
    return opened


_OPENERS: dict[str, Callable[[str, Settings], BaseChatModel]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}
MODEL_URLS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434",
}
"""The addresses that the vendors' clients use by default."""
PROVIDERS = tuple(_OPENERS)
"""The names of the model providers. Any server with OpenAI's API is `openai` with its own address.
"""


def _unknown(provider: str, model: str) -> str:
    if provider in _OPENERS:
        return f"{provider} is a provider, not a model: write {provider}:MODEL"
    known = f"known are {', '.join(PROVIDERS)}"
    if not model:
        return f"{provider or 'an empty name'} is not a provider: write PROVIDER:MODEL; {known}"
    close = difflib.get_close_matches(provider, PROVIDERS, 1, 0.5)
    return (
        f"unknown provider {provider} of model {model}; "
        f"{f'did you mean {close[0]}:{model}?' if close else known}"
    )


def _key(provider: str, model: str, settings: Settings) -> str:
    if key := settings.key(provider):
        return key
    hint = " (a server of your own needs none: set OPENAI_BASE_URL)" if provider == "openai" else ""
    raise MissingKeyError(f"{provider}:{model} needs a key: set {KEY_VARIABLES[provider][0]}{hint}")


def _timeout(settings: Settings) -> float | None:
    return settings.deadlines.model or None


def _temperature(settings: Settings) -> dict[str, Any]:
    return {} if settings.temperature is None else {"temperature": settings.temperature}
