"""Arguments that are refused in one line, and rows and answers that are valid."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.feed import (
    Arguments,
    FeedResult,
    IntelligenceType,
    Row,
    ServiceAnswer,
    arguments_of,
    shown_arguments,
)
from tests.tools.osint.faults import refusal


class Given(Arguments):
    """Arguments of the feed below."""

    name: str
    """Who is looked for,
    in any script."""
    days: Annotated[int, Field(ge=1)] = 7
    """How many days."""
    kinds: tuple[str, ...] = ()
    """Which kinds."""


class Example:
    """A feed that answers with what it was asked."""

    name = "example"
    about = "nothing in particular"
    kind = IntelligenceType.EVENT
    arguments: type[Arguments] = Given

    def missing(self, settings: Settings) -> str | None:
        return None

    async def ask(self, args: Given, gateway: Gateway) -> FeedResult:
        return FeedResult()


FEED = Example()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs the argument 'name'"),
        ({"name": None}, "it needs the argument 'name'"),
        ({"name": ""}, "it needs the argument 'name'"),
        ({"name": " \n"}, "it needs the argument 'name'"),
        ({"name": "A", "nam": "B"}, "it takes no argument 'nam'"),
        ({"name": 7}, "its argument 'name': input should be a valid string"),
        (
            {"name": "A", "days": "0"},
            "its argument 'days': input should be greater than or equal to 1",
        ),
        ({"name": "A", "days": "many"}, "its argument 'days': input should be a valid integer"),
        ({"name": "A", "kinds": [1]}, "its argument 'kinds.0': input should be a valid string"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        arguments_of(FEED, given)
    assert str(caught.value).startswith(why)
    assert "\n" not in str(caught.value)


def test_an_empty_argument_counts_as_not_given() -> None:
    assert arguments_of(FEED, {"name": " A ", "days": "", "kinds": []}) == Given(name="A")
    assert arguments_of(FEED, {"name": "A", "days": "3", "kinds": ["x"]}) == Given(
        name="A", days=3, kinds=("x",)
    )
    assert arguments_of(FEED, {"name": "A", "days": None}) == Given(name="A")


def test_a_zero_is_not_empty() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        arguments_of(FEED, {"name": "A", "days": 0})


def test_arguments_that_are_not_a_mapping_are_refused() -> None:
    with pytest.raises(ValidationError):
        Given.model_validate("A")


def test_arguments_are_shown_with_their_descriptions() -> None:
    assert shown_arguments(FEED) == (
        "name: Who is looked for, in any script.",
        "days (optional): How many days.",
        "kinds (optional): Which kinds.",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"lat": 91.0},
        {"lat": -90.5},
        {"lon": 180.5},
        {"lon": float("nan")},
        {"confidence": "sure"},
        {"x": 1},
    ],
)
def test_an_invalid_row_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Row.model_validate({"sentence": "A.", **wrong})


def test_an_invalid_answer_is_refused() -> None:
    good = {"service": "S", "url": "https://s.example", "title": "T", "kind": "news"}
    assert ServiceAnswer.model_validate(good).rows == ()
    wrongs: tuple[dict[str, Any], ...] = (
        {"kind": "rumour"},
        {"total": -1},
        {"rows": [{}]},
        {"more": 1},
    )
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            ServiceAnswer.model_validate(good | wrong)


@given(
    st.dictionaries(
        st.sampled_from(["name", "days", "kinds", "other"]),
        st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3), max_size=2),
    )
)
def test_any_arguments_are_taken_or_refused(given: dict[str, Any]) -> None:
    if error := refusal(ValueError, lambda: arguments_of(FEED, given)):
        assert "\n" not in str(error)
    else:
        assert Given.model_validate(given).name
