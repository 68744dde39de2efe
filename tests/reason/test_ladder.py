"""The ways of asking, and the one form of what comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_ollama import ChatOllama
from pydantic import BaseModel

from deepdiver.reason.ladder import (
    LADDER,
    Rung,
    answer_record,
    answer_record_of_error,
    answer_schema,
    bind,
    is_plain,
    system_prompt,
)
from deepdiver.tasks import TASKS, Hypothesise, Judge, OutlineReport, VerifyConclusions
from tests.reason.desk import chat_openai
from tests.servers.scripted import ScriptedServer

WANTED = answer_schema(OutlineReport.answer())
FIELDS = [
    "analysis",
    "title",
    "verdict",
    "sections",
    "calculations",
    "conflicts",
    "unknown",
]


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from nodes(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from nodes(part)


def test_the_ladder_goes_down_and_ends() -> None:
    assert LADDER == (Rung.NATIVE, Rung.TOOLS, Rung.JSON, Rung.PROMPTED)
    assert [rung.below for rung in LADDER] == [Rung.TOOLS, Rung.JSON, Rung.PROMPTED, Rung.PROMPTED]


# Schemas


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name())
def test_every_answer_has_a_schema_that_strict_modes_take(task: Any) -> None:
    schema = answer_schema(task.answer())
    assert schema["title"] == task.answer().__name__
    if is_plain(schema):
        assert task.answer().plain, "only what is answered with a text needs no schema"
        return
    assert schema["type"] == "object"
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    for node in nodes(schema):
        if "properties" in node and node.get("type") == "object":
            assert node["required"] == list(node["properties"])
            assert node["additionalProperties"] is False


def test_descriptions_beside_a_reference_are_kept() -> None:
    items = answer_schema(Hypothesise.answer())["properties"]["hypotheses"]["items"]
    assert items["properties"]["refutes_if"]["description"].startswith(
        "What one would see if it were false"
    )
    judged = answer_schema(Judge.answer())["properties"]["judgements"]["items"]["properties"]
    assert judged["stance"]["enum"] == ["supports", "refutes", "neutral"]
    assert judged["stance"]["description"] == "supports, refutes or neutral."
    checked = answer_schema(VerifyConclusions.answer())["properties"]["verifications"]["items"]
    assert {"type": "null"} in checked["properties"]["adjusted_confidence"]["anyOf"]


def test_a_reference_to_nothing_is_an_error_and_not_an_empty_schema() -> None:
    class Broken(BaseModel):
        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return {"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}}, "$defs": {}}

    with pytest.raises(KeyError, match="Gone"):
        answer_schema(Broken)


# What is said to the model


def test_the_schema_stands_in_the_prompt_only_where_nothing_else_tells_it() -> None:
    assert system_prompt(Rung.NATIVE, "Do it.", WANTED) == "Do it."
    tools = system_prompt(Rung.TOOLS, "Do it.", WANTED)
    assert tools == "Do it.\n\nAnswer by calling the tool `Outline`, once."
    for rung in (Rung.JSON, Rung.PROMPTED):
        text = system_prompt(rung, "Do {it}.", WANTED)
        assert text.startswith("Do {it}.\n\nAnswer with one JSON object and nothing else")
        assert json.loads(text[text.index('{"title"') :]) == WANTED


# Binding


class Bare(GenericFakeChatModel):
    """A model whose class knows no structured output at all."""


class Tooled(GenericFakeChatModel):
    """A model whose class knows tools and nothing else: LangChain offers them for every method."""

    def bind_tools(
        self, tools: Any, *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, Any]:
        return self.bind(tools=tools, tool_choice=tool_choice, **kwargs)


class Strange(GenericFakeChatModel):
    """A model whose structured output is made otherwise than all others."""

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        return self


@pytest.mark.parametrize("rung", [Rung.NATIVE, Rung.TOOLS, Rung.JSON])
def test_a_class_without_a_way_says_so(rung: Rung) -> None:
    with pytest.raises(NotImplementedError, match=f"Bare has no {rung} mode"):
        bind(Bare(messages=iter(())), rung, WANTED)


@pytest.mark.parametrize("rung", [Rung.NATIVE, Rung.JSON])
def test_langchains_fallback_to_tools_is_not_taken_for_a_schema_mode(rung: Rung) -> None:
    with pytest.raises(NotImplementedError, match="it would call a tool"):
        bind(Tooled(messages=iter(())), rung, WANTED)


@pytest.mark.parametrize("rung", [Rung.NATIVE, Rung.JSON])
def test_a_chain_of_another_make_is_not_trusted(rung: Rung) -> None:
    with pytest.raises(NotImplementedError, match="Strange has no"):
        bind(Strange(messages=iter(())), rung, WANTED)


def test_the_tool_is_the_schema() -> None:
    bound = bind(Tooled(messages=iter(())), Rung.TOOLS, WANTED)
    function = bound.kwargs["tools"][0]["function"]
    assert (function["name"], bound.kwargs["tool_choice"]) == ("Outline", "Outline")
    assert function["description"] == "The plan of a report."
    assert list(function["parameters"]["properties"]) == FIELDS
    assert "additionalProperties" not in json.dumps(function)


def test_the_last_rung_is_the_model_itself() -> None:
    model = Bare(messages=iter(()))
    assert bind(model, Rung.PROMPTED, WANTED) is model


def test_a_model_too_old_for_schemas_is_not_given_tools_under_another_name(
    recwarn: pytest.WarningsRecorder,
) -> None:
    """LangChain warns and binds a tool; the reasoner hushes the warning, and the rung refuses."""
    with ScriptedServer() as server, pytest.raises((NotImplementedError, UserWarning)):
        bind(chat_openai(server, model="gpt-4"), Rung.NATIVE, WANTED)


def test_the_schema_mode_of_each_vendor_here() -> None:
    before = json.dumps(WANTED)
    with ScriptedServer() as server:
        form = bind(chat_openai(server), Rung.NATIVE, WANTED).kwargs["response_format"]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["strict"] is True
        assert bind(chat_openai(server), Rung.JSON, WANTED).kwargs["response_format"] == {
            "type": "json_object"
        }
        ollama = ChatOllama(model="made", base_url=server.url)
        assert bind(ollama, Rung.NATIVE, WANTED).kwargs["format"]["required"] == FIELDS
        assert bind(ollama, Rung.JSON, WANTED).kwargs["format"] == "json"
    assert json.dumps(WANTED) == before


# What comes back


def test_what_a_model_said_has_one_form() -> None:
    message = AIMessage(
        content=[
            "a",
            {"type": "thinking", "thinking": "t1"},
            {"type": "text", "text": "b"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t2"}]},
            {"type": "image", "url": "x"},
        ],
        additional_kwargs={"reasoning_content": "t3", "refusal": None},
        tool_calls=[{"name": "Outline", "args": {"title": "x"}, "id": "1"}],
        invalid_tool_calls=[
            {"name": None, "args": "{oops", "id": "2", "error": "bad", "type": "invalid_tool_call"}
        ],
        response_metadata={"finish_reason": "stop"},
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    )
    assert answer_record(message) == {
        "text": "ab",
        "thinking": "t1\nt2\nt3",
        "refusal": "",
        "tool_calls": [
            {"name": "Outline", "args": '{"title": "x"}'},
            {"name": "", "args": "{oops"},
        ],
        "finish_reason": "stop",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }


@pytest.mark.parametrize(
    "number", [True, None, "7", 7.0, 10**16, -(10**16), pytest.param(10**5_000, id="huge")]
)
def test_a_number_of_tokens_that_cannot_be_saved_is_not_recorded(number: Any) -> None:
    message = AIMessage(content="a")
    message.usage_metadata = {"input_tokens": number, "output_tokens": -5, "total_tokens": 0}
    record = answer_record(message)
    assert record["usage"] == {"output_tokens": -5}, "what is only wrong stays on record"
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"done_reason": "stop"}, "stop"),
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"incomplete_details": None}, ""),
        ({}, ""),
    ],
)
def test_the_finish_reason_is_found_wherever_it_is(about: dict[str, Any], reason: str) -> None:
    assert answer_record(AIMessage(content="x", response_metadata=about))["finish_reason"] == reason


@given(
    text=st.text(st.characters(codec=None)),
    args=st.dictionaries(st.text(), st.floats() | st.text(), max_size=3),
)
def test_whatever_a_model_says_can_be_kept(text: str, args: dict[str, Any]) -> None:
    """Lone surrogates, NaN and infinities included: the journal is UTF-8 and JSON."""
    message = AIMessage(content=text, tool_calls=[{"name": "Outline", "args": args, "id": "1"}])
    kept = json.dumps(answer_record(message), ensure_ascii=False, allow_nan=False)
    assert json.loads(kept.encode("utf-8")) == answer_record(message)


def test_what_was_said_before_a_client_raised() -> None:
    choice = SimpleNamespace(
        message=SimpleNamespace(content="half", refusal=None), finish_reason="length"
    )
    error = RuntimeError("cut")
    assert answer_record_of_error(error) is None
    error.completion = SimpleNamespace(choices=[], usage=None)  # type: ignore[attr-defined]
    assert answer_record_of_error(error) is None
    error.completion = SimpleNamespace(choices=[choice], usage=None)  # type: ignore[attr-defined]
    value = answer_record_of_error(error)
    assert value is not None
    assert (value["text"], value["finish_reason"], value["usage"]) == ("half", "length", {})
    counted = SimpleNamespace(prompt_tokens=5, completion_tokens=6)
    error.completion = SimpleNamespace(choices=[choice], usage=counted)  # type: ignore[attr-defined]
    value = answer_record_of_error(error)
    assert value is not None
    assert value["usage"] == {"input_tokens": 5, "output_tokens": 6}
    assert set(value) == set(answer_record(AIMessage(content="")))
