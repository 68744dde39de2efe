"""Every error of a vendor becomes one line and one fault, without a secret."""

from __future__ import annotations

import email.utils
import functools
import json
import time
from types import SimpleNamespace
from typing import Any

import httpx
import ollama
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.exceptions import ModelAPIError, ModelTimeoutError
from langchain_ollama import ChatOllama
from pydantic import SecretStr

from deepdiver.errors import CallError, CallFault
from deepdiver.reason.model_errors import LONGEST_MESSAGE, call_error
from tests.patience import PATIENCE
from tests.reason.desk import KEY


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
        (404, CallFault.UNKNOWN),
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
