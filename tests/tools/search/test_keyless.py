"""Saying who calls, and what helps against a refusal."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.keyless import advised, agent, key_advice


def test_who_does_not_say_who_calls_sends_nothing_of_his_own() -> None:
    assert agent(Settings()) == {}


def test_a_contact_is_told_to_services_that_ask() -> None:
    (told,) = agent(Settings(contact="ada@example.org")).values()
    assert told == "deepdiver (ada@example.org; cites what it reads)"


def test_those_who_say_who_they_are_may_call_faster() -> None:
    known = Settings(contact="ada@example.org")
    for provider in ("wikipedia", "crossref"):
        slow, fast = Settings().limit(provider), known.limit(provider)
        assert fast.rate / fast.per > slow.rate / slow.per
    assert Settings().limit("arxiv") == known.limit("arxiv")
    assert Settings(contact="a@example.org", limits={"wikipedia": Limit(rate=1)}).limit(
        "wikipedia"
    ) == Limit(rate=1)


@pytest.mark.parametrize("fault", [fault for fault in CallFault if fault is not CallFault.AUTH])
def test_other_failures_pass_as_they_are(fault: CallFault) -> None:
    error = CallError("arxiv failed: so it did", fault, retry_after=2.0)
    with pytest.raises(CallError) as caught, advised("wait"):
        raise error
    assert caught.value is error


def test_a_refusal_says_what_helps() -> None:
    with pytest.raises(CallError) as caught, advised("set contact"):
        raise CallError(
            "wikipedia answered 403: check the key and the account behind it",
            CallFault.AUTH,
            retry_after=9.0,
        )
    assert str(caught.value) == "wikipedia answered 403: set contact"
    assert (caught.value.fault, caught.value.retry_after) == (CallFault.AUTH, 9.0)


def test_nothing_happens_where_nothing_fails() -> None:
    with advised("wait"):
        held = 1
    assert held


def test_what_helps_where_a_key_is_optional() -> None:
    assert (
        key_advice(Settings(), "openalex", "OPENALEX_API_KEY")
        == "it wants to know its callers: set OPENALEX_API_KEY"
    )
    held = Settings(keys={"openalex": SecretStr("a-key-that-nobody-may-see")})
    assert key_advice(held, "openalex", "OPENALEX_API_KEY") == "check OPENALEX_API_KEY"
