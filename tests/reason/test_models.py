"""Models are opened by name, those passed in get a name, and each vendor works with the ladder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    CallFault,
    MissingKeyError,
    UnknownNameError,
    UsageError,
)
from deepdiver.reason.ladder import LADDER, Rung
from deepdiver.reason.models import (
    PROVIDERS,
    close_model,
    name_of,
    open_model,
    output_limit,
)
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
        ("gpt-5", "gpt-5 is not a provider: write PROVIDER:MODEL; known are openai,"),
        ("openai", "openai is a provider, not a model: write openai:MODEL"),
        ("openai:", "write openai:MODEL"),
        (":m", "unknown provider"),
        ("", "an empty name is not a provider"),
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
    assert local.client_kwargs == {"timeout": 9.0}


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
            with pytest.raises(CallError, match="model 'm' not found, try pulling it") as caught:
                await at.reasoner.perform(TASK)
            assert caught.value.fault is CallFault.UNKNOWN
            assert "get it with `ollama pull m`" in str(caught.value)
