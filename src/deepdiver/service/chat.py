"""An API as OpenAI's, so that chat front ends and SDKs can use deepdiver as a model.

There is one model for each strategy, and one that lets the question decide. The last message of the
user is the question. One that is too vague is answered by another question, as anybody would in a
conversation; what is said to that completes it. Progress streams as reasoning, then comes the
report as the answer. The run is one like any other: who closes the connection finds it in the
history.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from deepdiver.core.events import EVENT
from deepdiver.core.record import FINISHED, Run
from deepdiver.errors import DeepdiverError, UnknownNameError, UsageError
from deepdiver.report.markdown import render_markdown
from deepdiver.report.spending import spending_of
from deepdiver.run.clarify import clarify, with_answer
from deepdiver.service import runs
from deepdiver.service.accounts import Account
from deepdiver.service.api import KEEP_ALIVE, IdempotencyKey, Service, Who
from deepdiver.service.progress import line_of
from deepdiver.service.schemas import NewRun
from deepdiver.service.state import ServiceState
from deepdiver.strategies.table import AUTO, TABLE

PREFIX = "deepdiver-"
PIECE = 400
"""Characters of the report in one chunk."""
BIRTH = 1_767_225_600
"""When the models were made, as the API wants to know: the start of 2026."""
router = APIRouter(prefix="/v1")


class _Loose(BaseModel):
    """What a client sends; fields that are not known here are left alone, as OpenAI does."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)


class Part(_Loose):
    """A part of a message."""

    type: str
    """text; other kinds cannot be researched."""
    text: str = ""
    """The text."""


class Message(_Loose):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    """Who says it."""
    content: str | list[Part] | None = None
    """What is said."""


class StreamOptions(_Loose):
    """What a stream has besides."""

    include_usage: bool = False
    """Whether the last chunk says how many tokens were used."""


class ChatRequest(_Loose):
    """A conversation whose last question is to be researched."""

    model: Annotated[str, Field(max_length=200)]
    """One of `GET /v1/models`."""
    messages: Annotated[list[Message], Field(min_length=1, max_length=1_000)]
    """The conversation; the last message of the user is the question."""
    stream: bool = False
    """Whether to stream the progress and the report."""
    stream_options: StreamOptions | None = None
    """What the stream has besides."""


@router.get("/models")
def list_models() -> dict[str, Any]:
    """The models: one for each strategy."""
    return {"object": "list", "data": [_model(name) for name in (AUTO, *TABLE)]}


@router.get("/models/{model}")
def get_model(model: str) -> dict[str, Any]:
    """One model."""
    return _model(strategy_of(model))


def _model(strategy: str) -> dict[str, Any]:
    about = TABLE[strategy].choose if strategy in TABLE else runs.AUTO_ABOUT
    return {
        "id": f"{PREFIX}{strategy}",
        "object": "model",
        "created": BIRTH,
        "owned_by": "deepdiver",
        "name": f"deepdiver ({strategy})",
        "description": about,
    }


def strategy_of(model: str) -> str:
    """Return the strategy that a model stands for.

    Raises:
        UnknownNameError: If there is no such model.
    """
    name = model.removeprefix(PREFIX)
    if model == "deepdiver":
        return AUTO
    if not model.startswith(PREFIX) or name not in (AUTO, *TABLE):
        known = ", ".join(f"{PREFIX}{own}" for own in (AUTO, *TABLE))
        raise UnknownNameError(f"there is no model {model[:80]!r}: use {known}")
    return name


def question_of(messages: list[Message]) -> str:
    """Return what is asked: the last message of the user.

    If it answers a question that we asked back, it is that and the question before, together.

    Raises:
        UsageError: If there is none with a text.
    """
    said = [(message.role, _text_of(message)) for message in messages]
    spoken = [(role, text) for role, text in said if role in ("user", "assistant")]
    asked = [text for role, text in spoken if role == "user"]
    if not asked or not asked[-1]:
        raise UsageError("the last message of the user has no text to research")
    if len(spoken) >= 3 and spoken[-1][0] == "user" and spoken[-3][0] == "user":
        vague, back = spoken[-3][1], spoken[-2][1]
        if back and back == clarify(vague):
            return with_answer(vague, asked[-1])
    return asked[-1]


def _text_of(message: Message) -> str:
    content = message.content or ""
    parts = [content] if isinstance(content, str) else [one.text for one in content]
    return "\n".join(filter(None, parts)).replace("\0", "").strip()


@router.post("/chat/completions", response_model=None)
async def complete(
    state: Service, who: Who, asked: ChatRequest, idempotency_key: IdempotencyKey = None
) -> Response | dict[str, Any]:
    """Research the last question of a conversation; the answer is the report."""
    question, strategy = question_of(asked.messages), strategy_of(asked.model)
    if back := clarify(question):
        return _ask_back(back, asked)
    begun = await asyncio.to_thread(_begin, state, who, question, strategy, idempotency_key)
    answer = _Completion(state, begun, asked)
    if asked.stream:
        return StreamingResponse(answer.stream(), media_type="text/event-stream")
    return await answer.whole()


def _ask_back(back: str, asked: ChatRequest) -> Response | dict[str, Any]:
    """Answer with a question; nothing is researched."""
    head = {"id": f"chatcmpl-{secrets.token_hex(8)}", "created": int(time.time())}
    head["model"] = asked.model
    message = {"role": "assistant", "content": back}
    choice = {"index": 0, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    if not asked.stream:
        whole = {"object": "chat.completion", "choices": [{**choice, "message": message}]}
        return {**head, **whole, "usage": usage}
    chunk = {"object": "chat.completion.chunk", "choices": [{**choice, "delta": message}]}
    told = [_event({**head, **chunk})]
    if asked.stream_options and asked.stream_options.include_usage:
        told.append(_event({**head, **chunk, "choices": [], "usage": usage}))
    return Response(b"".join([*told, b"data: [DONE]\n\n"]), media_type="text/event-stream")


def _begin(state: ServiceState, who: Account, question: str, strategy: str, key: str | None) -> Run:
    new = NewRun.model_construct(question=question, strategy=strategy)
    return runs.create_run(state, who, new, key)[0]


class _Completion:
    """The answer to one request."""

    def __init__(self, state: ServiceState, run: Run, asked: ChatRequest) -> None:
        self._state, self._run, self._model = state, run, asked.model
        self._usage = bool(asked.stream_options and asked.stream_options.include_usage)
        self._made = int(time.time())

    async def whole(self) -> dict[str, Any]:
        """Return the answer once the run has ended."""
        told = [line async for line in self._progress() if line]
        text = await asyncio.to_thread(self._report)
        message = {"role": "assistant", "content": text, "reasoning_content": "\n".join(told)}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._used()}

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the progress as reasoning, then the report, in chunks."""
        yield self._chunk({"role": "assistant", "content": ""})
        async for line in self._progress():
            yield self._chunk({"reasoning_content": f"{line}\n"}) if line else b": at work\n\n"
        try:
            text = await asyncio.to_thread(self._report)
        except DeepdiverError as error:
            told = {"message": self._state.scrub(str(error)), "type": "server_error", "code": None}
            yield _event({"error": told})
            return
        for at in range(0, len(text), PIECE):
            yield self._chunk({"content": text[at : at + PIECE]})
        yield self._chunk({}, "stop")
        if self._usage:
            head = self._head("chat.completion.chunk")
            yield _event({**head, "choices": [], "usage": self._used()})
        yield b"data: [DONE]\n\n"

    async def _progress(self) -> AsyncIterator[str]:
        """Yield a line for each event that has one; empty lines while nothing happens."""
        yield f"Run {self._run.id}"
        async for _, text in self._state.feed.follow(self._run.id, idle=KEEP_ALIVE):
            line = line_of(EVENT.validate_json(text)) if text else ""
            if line or not text:
                yield self._state.scrub(line)

    def _report(self) -> str:
        run = self._state.store.runs.get(self._run.id)
        if run.status not in FINISHED:
            shown = runs.show_run(self._state, run)
            raise DeepdiverError(
                f"run {run.id} is {run.status.value}{': ' if shown.error else ''}{shown.error}; "
                "it is saved, and can be resumed in the history"
            )
        return render_markdown(runs.report_of(self._state, run))

    def _used(self) -> dict[str, int]:
        spent = spending_of(self._state.store, self._run.id)
        return {
            "prompt_tokens": spent.tokens_in,
            "completion_tokens": spent.tokens_out,
            "total_tokens": spent.tokens_in + spent.tokens_out,
        }

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._run.id}",
            "object": kind,
            "created": self._made,
            "model": self._model,
        }

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice]})


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
