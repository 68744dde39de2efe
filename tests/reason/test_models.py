"""Opening models by name, naming those passed in, and what their errors mean."""

from __future__ import annotations

import email.utils
import functools
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import ollama
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.exceptions import ModelAPIError, ModelTimeoutError
from langchain_core.language_models import GenericFakeChatModel
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    CallFault,
    MissingKeyError,
    NoRungError,
    UnknownNameError,
    UsageError,
)
from deepdiver.reason.ladder import LADDER, Rung
from deepdiver.reason.models import (
    LONGEST_MESSAGE,
    PROVIDERS,
    call_error,
    close_model,
    name_of,
    open_model,
    output_limit,
)
from tests.patience import PATIENCE
from tests.reason.desk import GOOD, KEY, QUERIES, TASK, chat_openai, desk, in_form, refusing
from tests.servers.scripted import Answer, ScriptedServer

KEYS = dict.fromkeys(("openai", "anthropic", "google"), SecretStr(KEY))
PACKAGES = {
    "openai": "langchain_openai",
    "anthropic": "langchain_anthropic",
    "google": "langchain_google_genai",
    "ollama": "langchain_ollama",
}


def need(provider: str) -> None:
    pytest.importorskip(PACKAGES[provider], reason=f"the extra [{provider}] is not installed")


# Opening


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("opnai:gpt-5", "unknown provider opnai of model gpt-5; did you mean openai:gpt-5?"),
        (
            "claude:opus",
            "unknown provider claude of model opus; known are openai, anthropic, google, ollama",
        ),
        ("OpenAI:gpt-5", "did you mean openai:gpt-5?"),
        ("gpt-5", "gpt-5 names no provider: write PROVIDER:MODEL; known are openai,"),
        ("openai", "openai is a provider, not a model: write openai:MODEL"),
        ("openai:", "write openai:MODEL"),
        (":m", "unknown provider"),
        ("", "an empty name names no provider"),
    ],
)
def test_a_name_that_is_not_known_gets_the_nearest_one(name: str, says: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        open_model(name, Settings(keys=KEYS))
    assert says in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[provider], None)
    with pytest.raises(UsageError) as caught:
        open_model(f"{provider}:m", Settings(keys=KEYS))
    assert f'pip install "deepdiver-research[{provider}]"' in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("google", "GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_is_told_with_its_variable(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(provider)
    monkeypatch.setenv(variable, "from the environment, which only settings read")
    with pytest.raises(MissingKeyError, match=f"{provider}:m needs a key: set {variable}"):
        open_model(f"{provider}:m", Settings())


def test_openai_with_an_address_of_its_own_and_ollama_need_no_key() -> None:
    assert (
        name_of(open_model("openai:m", Settings(urls={"openai": "http://127.0.0.1:1/v1"})))
        == "openai:m"
    )
    assert name_of(open_model("ollama:m", Settings())) == "ollama:m"


def test_what_the_settings_say_reaches_the_model() -> None:
    settings = Settings.model_validate(
        {
            "urls": {"openai": "http://127.0.0.1:1/v1", "ollama": "127.0.0.1:2"},
            "keys": KEYS,
            "max_output_tokens": 77,
            "temperature": 0.25,
            "deadlines": {"model": 9},
        }
    )
    chat = open_model("openai:m", settings)
    assert isinstance(chat, ChatOpenAI)
    assert (chat.max_retries, chat.max_tokens, chat.temperature, chat.request_timeout) == (
        0,
        77,
        0.25,
        9.0,
    )
    assert chat.openai_api_base == "http://127.0.0.1:1/v1"
    assert isinstance(chat.openai_api_key, SecretStr)
    assert KEY not in repr(chat)
    local = open_model("ollama:name:7b", settings)
    assert isinstance(local, ChatOllama)
    assert (local.model, local.num_predict, local.temperature) == ("name:7b", 77, 0.25)
    assert local.base_url == "127.0.0.1:2"
    assert local.client_kwargs == {"timeout": 9.0, "headers": {}}


def test_without_a_deadline_or_temperature_none_is_sent() -> None:
    chat = open_model(
        "openai:m", Settings.model_validate({"keys": KEYS, "deadlines": {"model": 0}})
    )
    assert isinstance(chat, ChatOpenAI)
    assert chat.request_timeout is None
    assert chat.temperature is None
    assert chat.openai_api_base is None


async def test_two_models_share_no_connections_and_are_closed_each_for_itself() -> None:
    with ScriptedServer(lambda body, n: Answer(text="hello")) as server:
        settings = Settings(urls={"openai": server.openai, "ollama": server.url})
        for name in ("openai:m", "ollama:m"):
            one, other = open_model(name, settings), open_model(name, settings)
            assert (
                (await one.ainvoke("hi")).content == (await other.ainvoke("hi")).content == "hello"
            )
            await close_model(one)
            assert (await other.ainvoke("hi")).content == "hello"
            with pytest.raises(Exception, match=r"closed|Connection error"):
                await one.ainvoke("hi")
            await close_model(other)


async def test_closing_a_model_that_holds_no_connection_does_nothing() -> None:
    await close_model(GenericFakeChatModel(messages=iter(())))


# Naming


def test_a_model_that_was_passed_in_has_a_name_that_prices_know() -> None:
    with ScriptedServer() as server:
        assert name_of(chat_openai(server, model="gpt-4o-mini")) == "openai:gpt-4o-mini"
    assert name_of(ChatOllama(model="qwen3:8b")) == "ollama:qwen3:8b"
    assert (
        name_of(GenericFakeChatModel(messages=iter(())))
        == "genericfakechatmodel:GenericFakeChatModel"
    )


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_the_same_for_the_other_vendors(provider: str) -> None:
    need(provider)
    model = open_model(f"{provider}:some-model", Settings(keys=KEYS, max_output_tokens=99))
    assert name_of(model) == f"{provider}:some-model"
    assert output_limit(model) == 99
    assert KEY not in repr(model)


def test_an_output_limit_that_is_not_known_is_none() -> None:
    with ScriptedServer() as server:
        assert output_limit(chat_openai(server)) is None
        assert output_limit(chat_openai(server, max_tokens=5)) == 5
    assert output_limit(GenericFakeChatModel(messages=iter(()))) is None


# Errors


def answered(
    status: int, headers: dict[str, str] | None = None, body: Any = None
) -> httpx.Response:
    request = httpx.Request("POST", "http://127.0.0.1:1/v1/chat")
    return httpx.Response(status, headers=headers, json=body or {}, request=request)


def vendor(status: int, **about: Any) -> Exception:
    """Make an error of the shape that openai's and anthropic's have."""
    error = RuntimeError(about.get("text", "it failed"))
    error.status_code = status  # type: ignore[attr-defined]
    error.response = SimpleNamespace(headers=about.get("headers", {}), status_code=status)  # type: ignore[attr-defined]
    error.body = about.get("body")  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, CallFault.REQUEST),
        (401, CallFault.AUTH),
        (402, CallFault.AUTH),
        (403, CallFault.AUTH),
        (404, CallFault.REQUEST),
        (408, CallFault.TIMEOUT),
        (409, CallFault.SERVER),
        (413, CallFault.REQUEST),
        (422, CallFault.REQUEST),
        (425, CallFault.SERVER),
        (429, CallFault.RATE),
        (500, CallFault.SERVER),
        (502, CallFault.SERVER),
        (504, CallFault.TIMEOUT),
        (529, CallFault.SERVER),
    ],
)
def test_a_status_means_a_fault(status: int, fault: CallFault) -> None:
    error = call_error(vendor(status), "openai:m")
    assert error.fault is fault
    assert str(error) == f"openai:m: {status} it failed"


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (TimeoutError("late"), CallFault.TIMEOUT),
        (httpx.ReadTimeout("late"), CallFault.TIMEOUT),
        (httpx.PoolTimeout("late"), CallFault.TIMEOUT),
        (ModelTimeoutError("late"), CallFault.TIMEOUT),
        (openai.APITimeoutError(request=SimpleNamespace()), CallFault.TIMEOUT),  # type: ignore[arg-type]
        (openai.APIConnectionError(request=SimpleNamespace()), CallFault.NETWORK),  # type: ignore[arg-type]
        (httpx.ConnectError("refused"), CallFault.UNREACHED),
        (httpx.ConnectTimeout("late"), CallFault.UNREACHED),
        (ConnectionRefusedError("refused"), CallFault.UNREACHED),
        (httpx.RemoteProtocolError("cut off"), CallFault.NETWORK),
        (ConnectionResetError("reset"), CallFault.NETWORK),
        (OSError("no route"), CallFault.NETWORK),
        (ModelAPIError("in the stream"), CallFault.SERVER),
        (ollama.ResponseError("out of memory"), CallFault.SERVER),
        (ollama.ResponseError("does not support tools", 400), CallFault.REQUEST),
        (ollama.ResponseError("busy", 503), CallFault.SERVER),
        (NotImplementedError("no tools"), CallFault.REQUEST),
        (TypeError("create() got an unexpected keyword argument 'tools'"), CallFault.REQUEST),
        (TypeError("Received response with null value for `choices`"), CallFault.MALFORMED),
        (json.JSONDecodeError("no", "x", 0), CallFault.MALFORMED),
        (KeyError("choices"), CallFault.MALFORMED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_without_a_status_is_told_by_its_kind(error: Exception, fault: CallFault) -> None:
    told = call_error(error, "openai:m")
    assert told.fault is fault
    assert str(told).startswith("openai:m: ")
    assert "\n" not in str(told)


def test_the_telling_error_may_stand_behind_another() -> None:
    try:
        try:
            raise httpx.HTTPStatusError(
                "Client error\nFor more information check: https://example.org",
                request=httpx.Request("GET", "http://127.0.0.1:1"),
                response=answered(429, {"Retry-After": "7"}),
            )
        except httpx.HTTPStatusError:
            raise RuntimeError("something about a model") from None
    except RuntimeError as error:
        told = call_error(error, "ollama:m")
    assert told.fault is CallFault.RATE
    assert told.retry_after == 7.0
    assert str(told) == "ollama:m: 429 something about a model"


def test_a_chain_without_end_is_followed_only_so_far() -> None:
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__context__, other.__context__ = other, one
    assert call_error(one, "m:m").fault is CallFault.MALFORMED


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "too long"}, "too long"),
        ({"error": {"message": "too long", "code": 1}}, "too long"),
        ({"error": "too long"}, "too long"),
        ({"error": None}, "it failed"),
        ("plain", "plain"),
        (None, "it failed"),
        ([], "it failed"),
    ],
)
def test_the_services_own_words_come_first(body: Any, said: str) -> None:
    assert str(call_error(vendor(400, body=body), "m:m")) == f"m:m: 400 {said}"


@pytest.mark.parametrize(
    ("status", "word"), [(429, "insufficient_quota"), (400, "API_KEY_INVALID")]
)
def test_what_only_the_user_can_cure_is_not_tried_again(status: int, word: str) -> None:
    assert (
        call_error(vendor(status, body={"message": "no", "code": word}), "m:m").fault
        is CallFault.AUTH
    )
    assert call_error(vendor(status, text=f"no: {word}"), "m:m").fault is CallFault.AUTH


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 40}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert call_error(vendor(429, headers=headers), "m:m").retry_after == seconds


def test_retry_after_may_be_a_date() -> None:
    later = email.utils.formatdate(time.time() + 3_600, usegmt=True)
    found = call_error(vendor(503, headers={"retry-after": later}), "m:m").retry_after
    assert found is not None
    assert 3_600 - PATIENCE < found <= 3_600
    past = email.utils.formatdate(time.time() - 30, usegmt=True)
    assert call_error(vendor(503, headers={"retry-after": past}), "m:m").retry_after == 0.0


def test_google_says_when_to_come_again_in_its_body() -> None:
    text = (
        "429 RESOURCE_EXHAUSTED. {'error': {'details': [{'@type': 'RetryInfo', 'retryDelay': "
        "'34.5s'}]}}"
    )
    assert call_error(vendor(429, text=text), "google:m").retry_after == 34.5


@functools.cache
def holder_of_the_key() -> ChatOllama:
    """A model that knows the key; made once, since making its two clients takes 0.1 s."""
    model = ChatOllama(model="m")
    vars(model)["some_key"] = SecretStr(KEY)
    return model


@given(st.text(st.characters(codec=None)), st.sampled_from([None, 400, 429, 500]))
def test_whatever_a_service_says_becomes_one_line_without_the_key(
    text: str, status: int | None
) -> None:
    model = holder_of_the_key()
    said = f"{text}{KEY}\n{text}"
    error = RuntimeError(said) if status is None else vendor(status, text=said)
    told = call_error(error, "m:m", model)
    assert isinstance(told, CallError)
    assert KEY not in str(told)
    assert len(str(told)) <= LONGEST_MESSAGE
    assert len(str(told).splitlines()) == 1


# The vendors that are not part of the core's own tests, where they are installed


@pytest.mark.parametrize("name", ["anthropic:made", "google:made"])
@pytest.mark.parametrize("rung", LADDER)
async def test_the_ladder_with_other_vendors(tmp_path: Path, name: str, rung: Rung) -> None:
    need(name.partition(":")[0])
    with ScriptedServer(refusing(rung)) as server:
        async with desk(server, tmp_path / "store", model=name) as at:
            assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
            tried = [way for way in LADDER[: LADDER.index(rung) + 1] if way is not Rung.JSON]
            if rung is Rung.JSON:  # neither has a JSON mode of its own: it is asked in words
                tried.append(Rung.PROMPTED)
            assert at.rungs == tried
            assert at.value["usage"]["output_tokens"] > 0


@pytest.mark.parametrize("provider", ["anthropic", "google"])
@pytest.mark.parametrize(
    ("status", "fault"), [(401, CallFault.AUTH), (429, CallFault.RATE), (500, CallFault.SERVER)]
)
async def test_the_errors_of_other_vendors(
    tmp_path: Path, provider: str, status: int, fault: CallFault
) -> None:
    need(provider)
    answer = Answer(status=status, text=f"no, {KEY}", headers={"Retry-After": "0.25"})
    with ScriptedServer(lambda body, n: answer if n == 0 else in_form(body)) as server:
        async with desk(server, tmp_path / "store", model=f"{provider}:m", retries=0) as at:
            with pytest.raises(CallError) as caught:
                await at.reasoner.perform(TASK)
            assert caught.value.fault is fault
            assert str(caught.value) == f"{provider}:m: {status} no, [secret]"
            assert len(server.log) == 1  # the vendor's own retries are off
            if status == 429:
                assert caught.value.retry_after == 0.25


@pytest.mark.parametrize(
    ("provider", "reason"), [("anthropic", "max_tokens"), ("google", "MAX_TOKENS")]
)
async def test_thinking_and_truncation_of_other_vendors(
    tmp_path: Path, provider: str, reason: str
) -> None:
    need(provider)
    cut = Answer(text=GOOD, thinking="hm", finish_reason=reason)
    with ScriptedServer(lambda body, n: cut if n == 0 else in_form(body, thinking="ah")) as server:
        async with desk(server, tmp_path / "store", model=f"{provider}:m", verbose=True) as at:
            assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
            assert at.told[0].thinking == "ah"
            assert len(at.journal) == 2


async def test_a_model_that_does_not_exist_is_told_in_the_services_words(tmp_path: Path) -> None:
    with ScriptedServer(
        lambda body, n: Answer(status=404, text="model 'm' not found, try pulling it")
    ) as server:
        async with desk(server, tmp_path / "store", model="ollama:m") as at:
            with pytest.raises(NoRungError, match="model 'm' not found, try pulling it"):
                await at.reasoner.perform(TASK)
