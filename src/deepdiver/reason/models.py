"""Chat models.

Opening one by its name, naming one that was passed in, closing it, and reading how it failed.

A name is provider:model. Vendor packages are imported when a model of theirs is opened and not
before. Every model is opened with the vendor's own retries off: asking again is the gateway's
business.
"""

from __future__ import annotations

import difflib
import email.utils
import re
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from deepdiver.core.settings import KEY_VARIABLES, Settings
from deepdiver.errors import CallError, CallFault, MissingKeyError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

NO_KEY = "none"
"""What is sent as key to a server that asks for none; the client refuses to start without one."""
LONGEST_MESSAGE = 300
"""Characters of a vendor's error that are worth keeping."""
LONGEST_CHAIN = 6
"""How far back the causes of an error are followed."""


def open_model(name: str, settings: Settings) -> BaseChatModel:
    """Open a model by its name.

    Args:
        name: provider:model, for instance `openai:gpt-5-mini` or `ollama:qwen3`.
        settings: Keys, addresses, output limit, temperature and deadline.

    Raises:
        UnknownNameError: If the provider is not known.
        UsageError: If the name holds no model, or the provider's package is not installed.
        MissingKeyError: If the provider needs a key and none is set.
    """
    provider, colon, model = name.partition(":")
    if not colon or not model or provider not in _OPENERS:
        raise UnknownNameError(_unknown(provider, model))
    try:
        return _OPENERS[provider](model, settings)
    except ImportError as error:
        raise UsageError(
            f"{name} needs a package that is not here ({error}): pip install "
            f'"deepdiver-research[{provider}]"'
        ) from None


def name_of(model: BaseChatModel) -> str:
    """Return the name of a model that was passed in as an object.

    Provider:model, as prices and limits know it.
    """
    about = model._get_ls_params()
    provider = about.get("ls_provider") or type(model).__name__.lower()
    provider = {"google_genai": "google", "google_vertexai": "google"}.get(provider, provider)
    return f"{provider}:{about.get('ls_model_name') or type(model).__name__}"


def output_limit(model: BaseChatModel) -> int | None:
    """Return how many tokens a model that was passed in may write, where it says so."""
    return model._get_ls_params().get("ls_max_tokens")


async def close_model(model: BaseChatModel) -> None:
    """Close the connections of a model that `open_model` opened."""
    for way in _CLIENTS:
        client: Any = model
        for step in way.split("."):
            client = getattr(client, step, None)
        if client is not None:
            await client()
            return


_CLIENTS = ("root_async_client.close", "_async_client.close", "client.aio.aclose")
"""Where the vendors keep what closes their connections: openai, anthropic and ollama, google."""


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
            timeout=_timeout(settings)
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
    client = vendor.DefaultAsyncHttpxClient(timeout=_timeout(settings))
    # The class offers no parameter for it, so it is put where the class keeps its cached property.
    vars(opened)["_async_client"] = vendor.AsyncAnthropic(
        **opened._client_params, http_client=client
    )
    return cast("BaseChatModel", opened)


def _google(model: str, settings: Settings) -> BaseChatModel:
    opened: BaseChatModel = import_module("langchain_google_genai").ChatGoogleGenerativeAI(
        model=model,
        api_key=SecretStr(_key("google", model, settings)),
        base_url=settings.urls.get("google"),
        vertexai=False,
        max_retries=1,  # Google counts the first attempt; 0 means its default of 5
        timeout=_timeout(settings),
        max_output_tokens=settings.max_output_tokens,
        **_temperature(settings),
    )
    return opened


def _ollama(model: str, settings: Settings) -> BaseChatModel:
    key = settings.key("ollama")  # its cloud asks for one, a server of one's own does not
    opened: BaseChatModel = import_module("langchain_ollama").ChatOllama(
        model=model,
        base_url=settings.urls.get("ollama"),
        client_kwargs={
            "timeout": _timeout(settings),
            "headers": {"Authorization": f"Bearer {key}"} if key else {},
        },
        num_predict=settings.max_output_tokens,
        **_temperature(settings),
    )
    return opened


_OPENERS: dict[str, Callable[[str, Settings], BaseChatModel]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}
PROVIDERS = tuple(_OPENERS)
"""The providers of models, by name. Any server that speaks as OpenAI does is `openai` with an
address of its own."""


def _unknown(provider: str, model: str) -> str:
    if provider in _OPENERS:
        return f"{provider} is a provider, not a model: write {provider}:MODEL"
    known = f"known are {', '.join(PROVIDERS)}"
    if not model:
        return f"{provider or 'an empty name'} names no provider: write PROVIDER:MODEL; {known}"
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


# How a model failed. Vendors are told by the shape of their errors, never by importing them: openai
# and anthropic carry `status_code` and `response`, google `code`, ollama `status_code` with the
# HTTP error behind it, httpx its `response`.


def call_error(error: Exception, name: str, model: BaseChatModel | None = None) -> CallError:
    """Return what a vendor's error means to the gateway, in one line without any secret of the model."""
    chain = list(_chain(error))
    status = next((found for link in chain if (found := _status(link))), None)
    fault = _fault(chain, status)
    said = (
        next((text for link in chain if (text := _service_said(link))), "")
        or str(error)
        or type(error).__name__
    )
    for secret in _secrets(model):
        said = said.replace(secret, "[secret]")
    if fault is CallFault.MALFORMED:
        said = f"{type(error).__name__}: {said}"
    words = f"{status or ''} {said.split('For more information check:')[0]}".split()
    return CallError(
        f"{name}: {' '.join(words)}"[:LONGEST_MESSAGE], fault, retry_after=_retry_after(chain)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Walk an error and what it came from.

    Some clients put their own error in front of the telling one.
    """
    for _ in range(LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    places = ((error, "status_code"), (error, "code"), (response, "status_code"))
    for found in (getattr(place, name, None) for place, name in places):
        if isinstance(found, int) and 400 <= found < 600:
            return found
    return None


_BY_STATUS = {
    401: CallFault.AUTH,
    402: CallFault.AUTH,
    403: CallFault.AUTH,
    408: CallFault.TIMEOUT,
    409: CallFault.SERVER,
    425: CallFault.SERVER,
    429: CallFault.RATE,
    504: CallFault.TIMEOUT,
}
"""402: the account is empty, which like a key is the user's to cure. 409, 425: the service asks to
come again."""


_USERS_TO_CURE = ("insufficient_quota", "API_KEY_INVALID")
"""What openai says with 429 (the account is empty: waiting does not fill it), and google with 400.
"""


def _fault(chain: list[BaseException], status: int | None) -> CallFault:
    names = " ".join(cls.__name__ for link in chain for cls in type(link).__mro__)
    told = " ".join(f"{link} {getattr(link, 'body', '')}" for link in chain)
    if status is not None and any(word in told for word in _USERS_TO_CURE):
        return CallFault.AUTH
    if status is not None:
        return _BY_STATUS.get(status) or (CallFault.SERVER if status >= 500 else CallFault.REQUEST)
    if "ConnectError" in names or "ConnectTimeout" in names or "ConnectionRefusedError" in names:
        return CallFault.UNREACHED
    if "Timeout" in names:
        return CallFault.TIMEOUT
    if "ConnectionError" in names or "TransportError" in names or "OSError" in names:
        return CallFault.NETWORK
    if "APIError" in names or "ResponseError" in names:
        return CallFault.SERVER  # told in the middle of a stream, where there is no status any more
    if isinstance(chain[0], NotImplementedError) or (
        isinstance(chain[0], TypeError) and "argument" in str(chain[0])
    ):
        return CallFault.REQUEST  # the client itself does not know this way of asking
    return CallFault.MALFORMED


def _service_said(error: BaseException) -> str:
    """Return the service's own words, where the client kept them."""
    body = getattr(error, "body", None) or getattr(error, "details", None)
    for _ in range(2):  # {"error": {"message": …}}, {"error": "…"}, {"message": …}
        if isinstance(body, dict):
            body = body.get("message") or body.get("error")
    return body if isinstance(body, str) else ""


def _retry_after(chain: list[BaseException]) -> float | None:
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None) or {}
        if (text := headers.get("retry-after-ms")) and (seconds := _number(text)) is not None:
            return seconds / 1000
        if text := headers.get("retry-after"):
            return _seconds(text)
        if match := re.search(r"retryDelay\W{1,6}(\d{1,6}(?:\.\d{1,6})?)s", str(link)):
            return float(match[1])  # google's way of saying it
    return None


def _seconds(text: str) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text) else None


def _secrets(model: BaseChatModel | None) -> Iterator[str]:
    for held in vars(model).values() if model is not None else ():
        if (
            isinstance(held, SecretStr)
            and len(value := held.get_secret_value()) >= 4
            and value != NO_KEY
        ):
            yield value
