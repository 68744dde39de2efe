"""A call's name.

The same for the same call, on every machine and in every version; another for every other.
"""

from __future__ import annotations

import dataclasses
import hashlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import canonical
from deepdiver.gateway import Reply, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text('abcé"\\\n', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
PAYLOADS = st.dictionaries(st.text("xyz", max_size=3), JSON, max_size=4)


def shuffled(value: Any) -> Any:
    """The same value, its tables built in the other order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def test_a_payload_that_is_no_json_has_no_name() -> None:
    with pytest.raises(TypeError):
        Request("model", "p", "asking", {"q": object()})


def test_the_name_does_not_change_between_versions() -> None:
    """Every journal and cache on every disk is looked up by it."""
    made = Request("search", "tavily", "who", {"query": "Who runs Svedjan Öst?", "max_results": 5})
    text = '["search","tavily",{"max_results":5,"query":"Who runs Svedjan Öst?"}]'
    assert made.key == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "fetch"},
        {"provider": "q"},
        {"payload": {"q": "whom"}},
        {"payload": {"Q": "who"}},
        {"payload": {"q": "who", "more": None}},
        {"payload": {"q": ["who"]}},
    ],
)
def test_whatever_shapes_the_answer_shapes_the_name(change: dict[str, Any]) -> None:
    made = Request("search", "p", "asking", {"q": "who"})
    assert dataclasses.replace(made, **change).key != made.key


@pytest.mark.parametrize(
    "change", [{"what": "other words"}, {"worst": Decimal(9)}, {"fresh": True}]
)
def test_what_does_not_shape_the_answer_does_not(change: dict[str, Any]) -> None:
    made = Request("search", "p", "asking", {"q": "who"})
    changed = dataclasses.replace(made, **change)
    assert changed != made
    assert changed.key == made.key


def test_parts_do_not_run_into_each_other() -> None:
    assert (
        Request("search", "p", "", {"a": "b,c"}).key
        != Request("search", "p", "", {"a": "b", "c": ""}).key
    )
    assert Request("search", "p[", "", {}).key != Request("search", "p", "", {"[": None}).key


@given(PAYLOADS)
def test_the_order_of_a_table_does_not_matter(payload: dict[str, Any]) -> None:
    assert Request("tool", "p", "", payload).key == Request("tool", "p", "", shuffled(payload)).key


@given(PAYLOADS, PAYLOADS)
def test_two_payloads_have_one_name_only_if_they_are_one(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    same = canonical(one) == canonical(other)
    assert (Request("tool", "p", "", one).key == Request("tool", "p", "", other).key) == same


def test_a_name_is_given_once() -> None:
    payload = {"q": "who"}
    made = Request("search", "p", "asking", payload)
    name = made.key
    payload["q"] = "whom"
    assert made.key == name


def test_a_text_that_utf8_cannot_hold_has_a_name() -> None:
    assert len(Request("search", "p", "", {"q": "\ud800"}).key) == 64


def test_requests_and_replies_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Request("search", "p", "", {}).provider = "q"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Reply(None).cost = Decimal(1)  # type: ignore[misc]
    assert Reply(None) == Reply(None, Decimal(0), {})
    assert Reply(None).usage is not Reply(None).usage
