"""The ways to ask a model for an answer that fits a schema, best first, and a record of its answer.

The rungs are the vendor's own schema mode, a call of a tool whose parameters are the schema, JSON
mode, and asking in words. Each rung takes the binding that the vendor's LangChain class makes,
without its parser, which would lose the raw text.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from deepdiver.tasks import schema

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Rung(StrEnum):
    """A way of asking a model."""

    NATIVE = "native"
    """The vendor constrains the model's output to the schema."""
    TOOLS = "tools"
    """The model has to call a tool whose parameters are the schema."""
    JSON = "json"
    """The vendor constrains the output to JSON; the schema is in the prompt."""
    PROMPTED = "prompted"
    """The schema is in the prompt, and nothing else constrains the output."""

    @property
    def below(self) -> Rung:
        """The next rung down; the last rung returns itself."""
        return LADDER[min(LADDER.index(self) + 1, len(LADDER) - 1)]


LADDER = tuple(Rung)
LARGEST_NUMBER = 10**15
"""The largest number of tokens that is recorded. Python refuses to read one of thousands of
digits, and with it the journal that holds it."""

IN_WORDS = (
    "Answer with one JSON object and nothing else: no prose around it, no code fence. "
    "It must fit this JSON schema:\n{schema}"
)
BY_TOOL = "Answer by calling the tool `{title}`, once."


def answer_schema(answer: type[BaseModel], unasked: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the schema of an answer type, with its name and with every `$ref` written out.

    Strict modes refuse a description beside a `$ref`, and small servers do not know `$ref` at all.
    No answer is recursive. The schema is cached: do not change it.

    Args:
        answer: The type.
        unasked: Fields to leave out, as `Type.field`.
    """
    kept: Any = answer  # making it takes up to 10 ms
    return _answer_schema(kept, unasked)


@functools.cache
def _answer_schema(answer: type[BaseModel], unasked: frozenset[str]) -> dict[str, Any]:
    if getattr(answer, "plain", False):
        return {"title": answer.__name__}  # a text needs no schema
    whole = schema(answer, unasked)
    parts = whole.pop("$defs", {})
    inlined: dict[str, Any] = _inline(whole, parts)
    return {"title": answer.__name__, **inlined}


def _inline(node: Any, parts: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if reference := node.get("$ref"):
        part = parts[reference.removeprefix("#/$defs/")]
        node = {**part, **{key: value for key, value in node.items() if key != "$ref"}}
    return {key: _inline(value, parts) for key, value in node.items()}


def system_prompt(rung: Rung, system: str, wanted: dict[str, Any]) -> str:
    """Return the system prompt in the form that a rung needs."""
    if rung is Rung.NATIVE or is_plain(wanted):
        return system
    form = BY_TOOL if rung is Rung.TOOLS else IN_WORDS
    schema_text = json.dumps(wanted, ensure_ascii=False)
    return f"{system}\n\n{form.format(title=wanted['title'], schema=schema_text)}"


def is_plain(wanted: dict[str, Any]) -> bool:
    """Return whether an answer is a text, for which there is nothing to climb down from."""
    return "properties" not in wanted


def bind(model: BaseChatModel, rung: Rung, wanted: dict[str, Any]) -> Any:
    """Return the model, bound to a way of asking.

    Raises:
        NotImplementedError: If the model's class does not support it, whatever it raises itself.
    """
    if is_plain(wanted):
        return model
    wanted = copy.deepcopy(wanted)  # some classes complete the schema in place
    try:
        if rung is Rung.NATIVE:
            return _structured(model, wanted, "json_schema")
        if rung is Rung.TOOLS:
            return model.bind_tools([_tool(wanted)], tool_choice=wanted["title"])
        if rung is Rung.JSON:
            return _json_mode(model, wanted)
    except (NotImplementedError, TypeError, ValueError, AttributeError, KeyError) as error:
        raise NotImplementedError(f"{type(model).__name__} has no {rung} mode: {error}") from None
    return model


def _tool(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the tool whose parameters are the schema."""
    about = wanted.get("description") or f"Give the {wanted['title']}."
    parameters = {
        key: value
        for key, value in _without_closing(wanted).items()
        if key not in {"title", "description"}
    }
    return {
        "type": "function",
        "function": {"name": wanted["title"], "description": about, "parameters": parameters},
    }


def _without_closing(node: Any) -> Any:
    """Return a schema without `additionalProperties`.

    Google's tools do not know the keyword and log a line for each one.
    """
    if isinstance(node, list):
        return [_without_closing(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_closing(value) for key, value in node.items() if key != "additionalProperties"
    }


def _structured(model: BaseChatModel, wanted: dict[str, Any], method: str) -> Any:
    """Return the bound model that `with_structured_output` makes, without its parser."""
    ways: dict[str, Any] = {"method": method, "include_raw": True}
    if (
        method == "json_schema"
        and "strict" in inspect.signature(model.with_structured_output).parameters
    ):
        ways["strict"] = True
    chain: Any = model.with_structured_output(wanted, **ways)
    bound = chain.first.steps__["raw"]
    if "tools" in bound.kwargs:
        # LangChain's fallback for a class that has no such mode.
        raise NotImplementedError("it would call a tool")
    return bound


def _json_mode(model: BaseChatModel, wanted: dict[str, Any]) -> Any:
    bound = _structured(model, wanted, "json_mode")
    if _keywords(bound) == _keywords(_structured(model, wanted, "json_schema")):
        raise NotImplementedError("it is the same as its schema mode")  # anthropic, google
    return bound


def _keywords(bound: Any) -> dict[str, Any]:
    return {
        key: value for key, value in bound.kwargs.items() if key != "ls_structured_output_format"
    }


def answer_record(message: Any) -> dict[str, Any]:
    """Return a model's message as JSON.

    The keys are text, thinking, refusal, tool_calls (as JSON texts), finish_reason and usage.
    """
    text, thinking = _text_and_thinking(message.content)
    extra = message.additional_kwargs
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return _clean(
        {
            "text": text,
            "thinking": "\n".join(
                part for part in (thinking, extra.get("reasoning_content")) if part
            ),
            "refusal": extra.get("refusal") or "",
            "tool_calls": [
                {"name": call["name"] or "", "args": _as_json(call["args"])} for call in calls
            ],
            "finish_reason": _finish_reason(message.response_metadata),
            "usage": _numbers(message.usage_metadata or {}),
        }
    )


def answer_record_of_error(error: Exception) -> dict[str, Any] | None:
    """Return the message that openai's client held when it raised over the finish reason."""
    choices = getattr(getattr(error, "completion", None), "choices", None)
    if not choices:
        return None
    choice, usage = choices[0], error.completion.usage  # type: ignore[attr-defined]
    counts = (
        {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        if usage
        else {}
    )
    return _clean(
        {
            "text": choice.message.content or "",
            "thinking": "",
            "refusal": choice.message.refusal or "",
            "tool_calls": [],
            "finish_reason": choice.finish_reason or "",
            "usage": _numbers(counts),
        }
    )


def _numbers(usage: Mapping[str, Any]) -> dict[str, int]:
    """Return what a service says that it used, as far as these are numbers that can be saved."""
    said = {key: usage.get(key) for key in ("input_tokens", "output_tokens")}
    return {
        key: number
        for key, number in said.items()
        if type(number) is int and abs(number) <= LARGEST_NUMBER
    }


def _text_and_thinking(content: Any) -> tuple[str, str]:
    """Return (text, thinking) of a message's content.

    The content is a string, or a list of strings and typed blocks.
    """
    if isinstance(content, str):
        return content, ""
    text, thinking = [], []
    for block in content:
        if isinstance(block, str):
            text.append(block)
        elif block.get("type") in {"thinking", "reasoning"}:
            summary = [
                part.get("text", "")
                for part in block.get("summary") or ()
                if isinstance(part, dict)
            ]
            thinking.append(block.get("thinking") or block.get("reasoning") or "\n".join(summary))
        elif isinstance(block.get("text"), str):
            text.append(block["text"])
    return "".join(text), "\n".join(part for part in thinking if part)


def _finish_reason(about: dict[str, Any]) -> str:
    """Return why the model stopped, from whichever field the vendor uses."""
    details = about.get("incomplete_details") or {}
    reason = (
        about.get("finish_reason")
        or about.get("stop_reason")
        or about.get("done_reason")
        or details.get("reason")
    )
    return str(reason or "")


def _as_json(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)


def _clean(value: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which UTF-8 cannot encode, so that the record can be saved."""
    text = json.dumps(value, ensure_ascii=False)
    clean: dict[str, Any] = json.loads(text.encode("utf-8", "replace"))
    return clean
