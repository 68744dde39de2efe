"""The OpenAI-compatible API, with OpenAI's own client and with the requests of a chat front end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.service.chat import Message, question_of, strategy_of
from deepdiver.strategies.table import AUTO, TABLE
from tests.service.conftest import told
from tests.service.rig import QUESTION, Served, served, service

MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def shared(made_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("chat") / "home"
    shutil.copytree(made_home, home)  # its runs are nobody else's
    with served(home) as serving:
        yield serving


@pytest.fixture
def client(shared: Served, made_home: Path) -> Iterator[openai.OpenAI]:
    key = told(made_home, "token")
    with openai.OpenAI(base_url=f"{shared.url}/v1", api_key=key, max_retries=0) as made:
        yield made


@pytest.mark.parametrize("model", ["gpt-4o", "deepdiver-", "deepdiver-nothing", "", "popper"])
def test_a_model_that_is_not_there(model: str) -> None:
    with pytest.raises(UnknownNameError, match="there is no model"):
        strategy_of(model)


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "Be brief."}],
        [{"role": "user", "content": " "}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        [{"role": "user", "content": "Who?"}, {"role": "user", "content": ""}],
    ],
)
def test_a_conversation_without_a_question(messages: list[Any]) -> None:
    with pytest.raises(UsageError, match="no text to research"):
        question_of([Message.model_validate(one) for one in messages])


def test_the_question_is_the_last_thing_that_the_user_said() -> None:
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Who"}, {"type": "text", "text": "?"}],
        },
        {"role": "assistant", "content": None},
    ]
    assert question_of([Message.model_validate(one) for one in said]) == "Who\n?"


BACK = "What would you like to know about “pensions”?"


@pytest.mark.parametrize(
    ("between", "asked"),
    [
        (BACK, "pensions: in Sweden"),
        ("Hello!", "in Sweden"),
        ("", "in Sweden"),
    ],
)
def test_what_is_said_to_a_question_of_ours_completes_the_one_before(
    between: str, asked: str
) -> None:
    said = [("user", "pensions"), ("assistant", between), ("user", "in Sweden")]
    messages = [Message.model_validate({"role": role, "content": text}) for role, text in said]
    assert question_of(messages) == asked


@pytest.mark.parametrize("stream", [False, True])
def test_a_vague_question_is_answered_by_a_question_and_no_run(
    client: openai.OpenAI, shared: Served, made_home: Path, stream: bool
) -> None:
    before = len(shared.app.state.service.store.runs.list_all())
    asked: Any = {
        "model": "deepdiver-auto",
        "messages": [{"role": "user", "content": "pensions"}],
        **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
    }
    made: Any = client.chat.completions.create(**asked)
    if stream:
        chunks = list(made)
        assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == BACK
        assert chunks[-1].usage.total_tokens == 0
    else:
        assert made.choices[0].message.content == BACK
        assert made.usage.total_tokens == 0
    assert len(shared.app.state.service.store.runs.list_all()) == before


async def test_errors_have_openais_shape(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        asked = {"model": "gpt-4o", "messages": MESSAGES}
        answer = await rig.client.post("/v1/chat/completions", json=asked)
        assert answer.status_code == 404
        assert answer.json()["error"]["type"] == "invalid_request_error"
        answer = await rig.client.post("/v1/chat/completions", json={"messages": MESSAGES})
        assert answer.json()["error"]["message"] == "the field 'model' is required"
        assert not rig.state.store.runs.list_all()


def test_the_client_refuses_a_wrong_key(shared: Served) -> None:
    with (
        openai.OpenAI(base_url=f"{shared.url}/v1", api_key="wrong", max_retries=0) as made,
        pytest.raises(openai.AuthenticationError, match="a bearer token is required"),
    ):
        made.models.list()


def test_the_client_lists_a_model_for_each_strategy(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names == [f"deepdiver-{name}" for name in (AUTO, *TABLE)]
    assert client.models.retrieve("deepdiver-popper").owned_by == "deepdiver"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_the_client_gets_a_report(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="deepdiver-popper", messages=MESSAGES)
    (choice,) = made.choices
    assert choice.finish_reason == "stop"
    assert "## Sources" in (choice.message.content or "")
    assert made.usage is not None
    assert "Read " in (choice.message.model_extra or {})["reasoning_content"]


def test_the_client_streams_progress_and_then_the_report(client: openai.OpenAI) -> None:
    reasoning, content, order, usage = "", "", [], None
    stream = client.chat.completions.create(
        model="deepdiver-auto",
        messages=MESSAGES,
        stream=True,
        stream_options={"include_usage": True},
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            more = (choice.delta.model_extra or {}).get("reasoning_content") or ""
            reasoning += more
            content += choice.delta.content or ""
            order += ["r"] if more else ["c"] if choice.delta.content else []
    assert "Searched for" in reasoning
    assert "".join(order).strip("r").strip("c") == "", "all reasoning comes before the report"
    assert "## Sources" in content
    assert usage is not None


def test_what_open_webui_sends_is_understood(shared: Served, made_home: Path) -> None:
    # As its server sends it on: options that no research knows, parts, files, metadata.
    asked = {
        "stream": True,
        "model": "deepdiver-popper",
        "messages": [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        ],
        "stream_options": {"include_usage": True},
        "temperature": 0.7,
        "max_tokens": 512,
        "stop": [],
        "tools": [],
        "user": {"name": "Ada", "id": "1", "email": "a@b.example", "role": "admin"},
    }
    headers = {"authorization": f"Bearer {told(made_home, 'token')}", "x-openwebui-chat-id": "1"}
    path = f"{shared.url}/v1/chat/completions"
    with httpx.stream("POST", path, json=asked, headers=headers, timeout=120) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line[6:] for line in answer.iter_lines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    deltas = [json.loads(line)["choices"] for line in lines[:-1]]
    said = "".join(one["delta"].get("content") or "" for choice in deltas for one in choice)
    assert "## Sources" in said


def test_a_run_that_does_not_end_in_a_report_is_told_as_an_error(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"documents": (tmp_path / "gone",)}
    with (
        served(tmp_path / "home", **changes) as serving,
        openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0) as client,
    ):
        with pytest.raises(openai.APIStatusError, match="is failed"):
            client.chat.completions.create(model="deepdiver-popper", messages=MESSAGES)
        with pytest.raises(openai.APIError, match="is failed"):
            list(
                client.chat.completions.create(
                    model="deepdiver-popper", messages=MESSAGES, stream=True
                )
            )
