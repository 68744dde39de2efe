"""The LLM reasoner, with the real clients of OpenAI and Ollama against a scripted server."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_ollama import ChatOllama

from deepdiver.core.events import CallFailed
from deepdiver.core.settings import Price, Settings
from deepdiver.errors import (
    AnswerFault,
    BudgetError,
    CallError,
    CallFault,
    MissingKeyError,
    NoRungError,
    NotJournalledError,
    PromptTooLongError,
    ReasonError,
    UnknownNameError,
    UnreadableAnswerError,
    UsageError,
)
from deepdiver.gateway import Mode
from deepdiver.reason.ladder import LADDER, Rung
from deepdiver.reason.models import close_model, name_of
from deepdiver.store import CallState
from deepdiver.tasks import (
    TASKS,
    Analyse,
    Decide,
    Decompose,
    Decomposition,
    Hypothesise,
    WriteQueries,
    load_prompt,
)
from tests.gateway.rig import Clock
from tests.patience import PATIENCE
from tests.reason.desk import (
    GOOD,
    KEY,
    QUERIES,
    TASK,
    Desk,
    chat_openai,
    desk,
    in_form,
    in_turn,
    refusing,
    rung_of,
)
from tests.servers.scripted import Answer, ModelScript, ScriptedServer

VENDORS = ("openai:made", "ollama:made")
Serve = Callable[[ModelScript], ScriptedServer]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def serve() -> Iterator[Serve]:
    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedServer(script))


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """A server that nobody asks."""
    with ScriptedServer() as made:
        yield made
        assert made.log == []


def task(number: int) -> WriteQueries:
    return WriteQueries(question="How old are the children?", problem=f"Who runs company {number}?")


# What cannot be: usage


@pytest.mark.parametrize(
    ("changes", "kind", "says"),
    [
        ({"model": "opnai:gpt-5"}, UnknownNameError, "did you mean openai:gpt-5?"),
        ({"model": "gpt-5"}, UnknownNameError, "is not a provider"),
        ({"fast_model": "anthropic:"}, UnknownNameError, "write anthropic:MODEL"),
        ({"task_models": {"judge": "zzz:m"}}, UnknownNameError, "unknown provider zzz"),
        (
            {"task_models": {"write_querys": "ollama:m"}},
            UnknownNameError,
            "did you mean write_queries?",
        ),
        (
            {"task_models": {"zzz": "ollama:m"}},
            UnknownNameError,
            "known are analyse, analyse_output, check_support",
        ),
        ({"urls": {}, "keys": {}}, MissingKeyError, "set OPENAI_API_KEY"),
    ],
)
async def test_a_wrong_name_or_a_missing_key_is_told_before_anything_is_asked(
    serve: Serve, home: Path, changes: dict[str, Any], kind: type[UsageError], says: str
) -> None:
    server = serve(in_turn(Answer()))
    with pytest.raises(kind) as caught:
        async with desk(server, home, **changes):
            pass
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert not server.log


async def test_a_missing_package_is_told_with_the_extra_that_brings_it(
    serve: Serve, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(UsageError, match=r'pip install "deepdiver-research\[openai\]"'):
        async with desk(serve(in_turn(Answer())), home):
            pass


@pytest.mark.parametrize("letter", ["x", "ж", "🜂"])
async def test_a_prompt_that_is_too_long_is_refused_and_costs_nothing(
    serve: Serve, home: Path, letter: str
) -> None:
    server = serve(in_turn(Answer()))
    prices = {"openai:made": Price(input=Decimal(1), output=Decimal(1))}
    async with desk(server, home, prices=prices) as at:
        size = len(letter.encode())
        # The prompt, and more than schema and marks take.
        fixed = len(load_prompt("write_queries")[1].encode()) + 2_000
        most = WriteQueries(
            question=letter * ((Settings().prompt_bytes - fixed) // size), problem="p"
        )
        await at.reasoner.perform(most)
        worst = at.reasoner.worst_case(WriteQueries)
        assert worst is not None
        assert at.journal[0].worst < worst
        with pytest.raises(
            ReasonError,
            match=r"write_queries has about 8\d,\d\d\d tokens; there is room for 80,000 ",
        ):
            await at.reasoner.perform(
                WriteQueries(question=letter * (Settings().prompt_bytes // size + 1), problem="p")
            )
        assert len(server.log) == len(at.journal) == 1


# The ladder


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("rung", LADDER)
async def test_every_rung_works_with_the_real_client_of_every_vendor(
    serve: Serve, home: Path, model: str, rung: Rung
) -> None:
    server = serve(refusing(rung))
    async with desk(server, home, model=model) as at:
        answer = await at.reasoner.perform(TASK)
        assert list(answer.queries) == QUERIES["queries"]
        tried = LADDER[: LADDER.index(rung) + 1]
        assert at.rungs == list(tried)
        assert at.value["rung"] == rung
        assert set(at.value["refused"]) == set(tried[:-1])
        assert all("not supported by this model" in why for why in at.value["refused"].values())
        assert [row.state for row in at.journal] == [CallState.SETTLED]


@pytest.mark.parametrize("model", VENDORS)
async def test_what_each_rung_sends(serve: Serve, home: Path, model: str) -> None:
    server = serve(refusing(Rung.PROMPTED))
    async with desk(server, home, model=model, system_prompt="Be brief.") as at:
        await at.reasoner.perform(TASK)
    systems = [entry.body["messages"][0]["content"] for entry in server.models]
    instructions = TASK.prompt().system
    assert all(system.startswith(f"Be brief.\n\n{instructions}") for system in systems)
    assert systems[0] == f"Be brief.\n\n{instructions}"
    assert "calling the tool `Queries`" in systems[1]
    for system in systems[2:]:
        shown = json.loads(system[system.index("{") :])
        assert shown["title"] == "Queries"
        assert shown["required"] == ["queries"]
    assert all(
        "<<<problem>>>\nWho runs Svedjan Ost AB?" in e.body["messages"][1]["content"]
        for e in server.models
    )
    native, tools = server.models[0].body, server.models[1].body
    assert tools["tools"][0]["function"]["name"] == "Queries"
    if model.startswith("openai"):
        form = native["response_format"]["json_schema"]
        assert (form["name"], form["strict"]) == ("Queries", True)
        assert form["schema"]["required"] == ["queries"]
    else:
        assert native["format"]["required"] == ["queries"]


DECISION = Decide(
    question="q",
    problems=(),
    standing=(),
    findings=0,
    new_findings=0,
    iteration=1,
    max_iterations=2,
)


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_the_rung_that_works_is_remembered_for_each_model(
    serve: Serve, home: Path, status: int
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return (
            refusing(Rung.JSON, status=status)(body, number)
            if body["model"] == "small"
            else in_form(body)
        )

    server = serve(script)
    async with desk(server, home, model="openai:large", fast_model="openai:small") as at:
        for number in range(3):
            await at.reasoner.perform(task(number))
        assert at.rungs == [Rung.NATIVE, Rung.TOOLS, Rung.JSON, Rung.JSON, Rung.JSON]
        server.log.clear()
        # The other model stands on its own rung; queries are no decision.
        with pytest.raises(UnreadableAnswerError):
            await at.reasoner.perform(DECISION)
        assert {entry.body["model"] for entry in server.models} == {"large"}
        assert at.rungs[0] is Rung.NATIVE


async def test_a_model_that_refuses_every_way_of_asking(serve: Serve, home: Path) -> None:
    refusals = iter(["no schema", "no tools", "no json", "no words"])
    server = serve(
        lambda body, n: Answer(status=400, text=next(refusals, "")) if n < 4 else in_form(body)
    )
    async with desk(server, home) as at:
        with pytest.raises(NoRungError, match="no words") as caught:
            await at.reasoner.perform(TASK)
        assert "no way of asking was accepted; openai:made: 400" in str(caught.value)
        assert at.journal[0].state is CallState.FAILED
        assert at.journal[0].cost == 0
        await at.reasoner.perform(task(1))
        # Nothing was learnt about the rungs: it was not about them.
        assert at.rungs == [
            *LADDER,
            Rung.NATIVE,
        ]
        assert "no words" in at.told[0].error


@pytest.mark.parametrize(
    ("status", "text", "rungs"),
    [
        (404, "The model `made` does not exist or you do not have access to it.", 1),
        (400, "made is not a valid model ID", 1),
        (400, "Invalid model: made", 1),
        (404, "Not Found", len(LADDER)),
    ],
)
async def test_a_model_that_nobody_knows_ends_the_run_and_says_what_to_do(
    serve: Serve, home: Path, status: int, text: str, rungs: int
) -> None:
    server = serve(lambda body, n: Answer(status=status, text=text))
    async with desk(server, home) as at:
        with pytest.raises(CallError) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is CallFault.UNKNOWN
        assert caught.value.exit_code == 2
        assert str(caught.value) == (
            f"openai:made: {status} {text.rstrip('.')}; check the name after --model, and the "
            "address (--model-url or OPENAI_BASE_URL)"
        )
        assert len(at.rungs) == rungs, "a 404 without a word may be about the way of asking"


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000."),
        (400, "prompt is too long: 213462 tokens > 200000 maximum"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
        (400, "the request exceeds the available context size, try increasing it"),
        (413, "too many tokens"),
    ],
)
async def test_a_prompt_that_is_too_long_is_told_at_once_and_met_again_in_a_replay(
    serve: Serve, home: Path, status: int, text: str
) -> None:
    server = serve(lambda body, n: Answer(status=status, text=text))
    for mode in (Mode.LIVE, Mode.REPLAY):
        async with desk(server, home, mode=mode) as at:
            with pytest.raises(PromptTooLongError, match=text[:16]):
                await at.reasoner.perform(TASK)
    assert len(server.log) == 1, "no other way of asking makes it shorter"


@pytest.mark.parametrize(("context", "output", "room"), [(4_000, 64, 3_936), (4_000, 8_192, 2_000)])
async def test_a_known_context_is_kept_without_asking(
    serve: Serve, home: Path, context: int, output: int, room: int
) -> None:
    server = serve(lambda body, n: in_form(body))
    known = ("a" * 100,) * 200
    async with desk(server, home, context_tokens=context, max_output_tokens=output) as at:
        with pytest.raises(PromptTooLongError, match=f"room for {room:,} "):
            await at.reasoner.perform(TASK.model_copy(update={"known": known}))
        assert not server.log
        await at.reasoner.perform(TASK)


async def test_a_refused_key_ends_the_run_and_says_what_to_do(serve: Serve, home: Path) -> None:
    server = serve(lambda body, n: Answer(status=401, text="Incorrect API key provided"))
    async with desk(server, home) as at:
        with pytest.raises(CallError) as caught:
            await at.reasoner.perform(TASK)
        assert (caught.value.fault, caught.value.exit_code) == (CallFault.AUTH, 2)
        assert str(caught.value).endswith(
            "provided; check OPENAI_API_KEY and the account behind it"
        )


async def test_a_model_class_that_knows_no_way_is_asked_in_words(serve: Serve, home: Path) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage(content=f"Here you are: {GOOD}")]))
    name = name_of(model)
    assert name == "genericfakechatmodel:GenericFakeChatModel"
    async with desk(serve(in_turn(Answer())), home, model=name, models={name: model}) as at:
        answer = await at.reasoner.perform(TASK)
        assert list(answer.queries) == QUERIES["queries"]
        assert at.value["rung"] == Rung.PROMPTED
        assert set(at.value["refused"]) == {Rung.NATIVE, Rung.TOOLS, Rung.JSON}
        assert at.journal[0].provider == name


NOT_SUPPORTED = (
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
)


@pytest.mark.parametrize(
    "said", [NOT_SUPPORTED, "Invalid schema for response_format 'Queries': no"]
)
async def test_langchains_advice_to_pick_another_method_does_not_disturb(
    serve: Serve, home: Path, said: str
) -> None:
    """It comes as a warning, and warnings are errors here."""
    server = serve(lambda body, n: Answer(status=400, text=said) if n == 0 else in_form(body))
    async with desk(server, home) as at:
        await at.reasoner.perform(TASK)
        assert at.rungs == [Rung.NATIVE, Rung.TOOLS]
        assert said in at.value["refused"]["native"]


async def test_a_model_that_is_known_to_have_no_schema_mode_is_not_asked_for_it(
    serve: Serve, home: Path
) -> None:
    async with desk(serve(in_turn(Answer())), home, model="openai:gpt-4") as at:
        await at.reasoner.perform(TASK)
        assert at.rungs == [Rung.TOOLS]


async def test_a_task_of_the_embedded_reasoner_is_not_ours(serve: Serve, home: Path) -> None:
    server = serve(in_turn(Answer()))
    async with desk(server, home, fast_model="embedded") as at:
        with pytest.raises(ReasonError, match=r"leave .* to the embedded reasoner"):
            await at.reasoner.perform(TASK)
        assert not server.log
        assert not at.journal


# The ladder and the journal


async def test_tasks_at_the_same_time_find_the_rung_and_a_replay_finds_their_answers(
    serve: Serve, home: Path
) -> None:
    """Who is refused, how often and in which order depends on timing; the journal's keys do not."""

    def script(body: dict[str, Any], number: int) -> Answer:
        found = refusing(Rung.JSON)(body, number)
        wanted = body["messages"][1]["content"].split("company ")[1][0]
        late = 0.02 * (number % 3)
        if found.status == 400:
            return Answer(status=400, text=found.text, delay=late)
        return Answer(text=json.dumps({"queries": [f"company {wanted}"]}), delay=late)

    server = serve(script)
    async with desk(server, home) as at:
        first = await asyncio.gather(*(at.reasoner.perform(task(number)) for number in range(6)))
        keys = {row.key for row in at.journal}
    assert [list(answer.queries) for answer in first] == [
        [f"company {number}"] for number in range(6)
    ]
    asked = len(server.log)
    assert asked >= 6 + 2
    # Taken up again by a process that knows of no rung, one after the other and backwards: nothing
    # is asked.
    async with desk(server, home) as at:
        again = [await at.reasoner.perform(task(number)) for number in reversed(range(6))]
        assert again == first[::-1]
        assert {row.key for row in at.journal} == keys
    assert len(server.log) == asked
    async with desk(server, home, mode=Mode.REPLAY) as at:
        assert [await at.reasoner.perform(task(number)) for number in (3, 0, 5)] == [
            first[3],
            first[0],
            first[5],
        ]
        with pytest.raises(NotJournalledError):
            await at.reasoner.perform(task(7))
    assert len(server.log) == asked


async def test_a_replay_needs_neither_key_nor_package_nor_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(in_turn(Answer(text="no JSON here"), Answer(text=GOOD))) as server:
        async with desk(server, home) as at:
            first = await at.reasoner.perform(TASK)
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    async with desk(server, home, mode=Mode.REPLAY, keys={}) as at:
        assert await at.reasoner.perform(TASK) == first
        assert len(at.journal) == 2
        assert at.reasoner.description == "openai:made"


async def test_a_failure_is_met_again_in_a_replay(serve: Serve, home: Path) -> None:
    server = serve(lambda body, n: Answer(status=400, text="context is full"))
    for mode in (Mode.LIVE, Mode.REPLAY):
        async with desk(server, home, mode=mode) as at:
            with pytest.raises(NoRungError, match="context is full"):
                await at.reasoner.perform(TASK)
    assert len(server.log) == 4


async def test_a_refusal_in_the_middle_of_retries_is_not_asked_again(
    serve: Serve, home: Path
) -> None:
    server = serve(
        in_turn(
            Answer(status=400, text="no schema"),
            Answer(status=429, text="slow down", headers={"Retry-After": "0"}),
            Answer(),
        )
    )
    async with desk(server, home) as at:
        await at.reasoner.perform(TASK)
        assert at.rungs == [Rung.NATIVE, Rung.TOOLS, Rung.TOOLS]
        assert list(at.value["refused"]) == [Rung.NATIVE]


# Services that take a way of asking and do not heed it


@pytest.mark.parametrize(
    ("stands_on", "answer", "asked_again_on"),
    [
        (Rung.NATIVE, "As you wish: owners, children.", Rung.TOOLS),
        (Rung.NATIVE, '{"lookups": ["a"], "count": 1}', Rung.TOOLS),
        (Rung.TOOLS, "As you wish: owners, children.", Rung.JSON),
        (Rung.JSON, "As you wish: owners, children.", Rung.PROMPTED),
        (Rung.JSON, '{"lookups": ["a"], "count": 1}', Rung.JSON),
        (Rung.PROMPTED, "As you wish: owners, children.", Rung.PROMPTED),
    ],
)
async def test_an_unheeded_rung_is_left(
    serve: Serve, home: Path, stands_on: Rung, answer: str, asked_again_on: Rung
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        again = len(body["messages"]) > 2
        return refusing(stands_on, lambda body: in_form(body) if again else Answer(text=answer))(
            body, number
        )

    server = serve(script)
    async with desk(server, home) as at:
        got = await at.reasoner.perform(TASK)
        assert list(got.queries) == QUERIES["queries"]
        assert at.rungs[-2:] == [stands_on, asked_again_on]
        await at.reasoner.perform(task(1))
        assert at.rungs[-2] is asked_again_on  # remembered
        before, complaint = server.models[LADDER.index(stands_on) + 1].body["messages"][2:]
        assert (before["role"], before["content"]) == ("assistant", answer)
        assert complaint["role"] == "user"
        assert complaint["content"].startswith("Your answer could not be read: ")


async def test_an_answer_without_the_tool_call_that_can_be_read_is_taken(
    serve: Serve, home: Path
) -> None:
    server = serve(refusing(Rung.TOOLS, lambda body: Answer(text=f"Sure.\n```json\n{GOOD}\n```")))
    async with desk(server, home) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
        assert at.value["tool_calls"] == []
        assert len(at.journal) == 1


# Reading


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("rung", LADDER)
async def test_a_truncated_answer_is_asked_for_once_more_then_given_up(
    serve: Serve, home: Path, model: str, rung: Rung
) -> None:
    cut = refusing(rung, lambda body: Answer(text=GOOD[:30], finish_reason="length"))
    server = serve(cut)
    async with desk(server, home, model=model) as at:
        with pytest.raises(UnreadableAnswerError, match="cut off at the output limit") as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is AnswerFault.TRUNCATED
        assert len(at.journal) == 2
        assert at.value["finish_reason"] == "length"
        assert at.value["text"] == GOOD[:30]
        assert at.rungs[-2:] == [rung, rung]
        assert "cut off" in server.models[-1].body["messages"][-1]["content"]


async def test_a_truncated_answer_that_looks_whole_is_not_taken(serve: Serve, home: Path) -> None:
    server = serve(
        in_turn(Answer(text=GOOD, finish_reason="length"), Answer(text='{"queries": ["whole"]}'))
    )
    async with desk(server, home) as at:
        assert (await at.reasoner.perform(TASK)).queries == ("whole",)
        assert len(at.journal) == 2


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(text="   "), AnswerFault.EMPTY),
        (Answer(text="<think>Hm. Let me see."), AnswerFault.EMPTY),
        (Answer(text="I'm sorry, but I cannot help with that."), AnswerFault.REFUSAL),
        (Answer(text="half", finish_reason="content_filter"), AnswerFault.REFUSAL),
        (Answer(text="owners, children"), AnswerFault.NO_JSON),
        (Answer(text='{"lookups": ["one"], "count": 1}'), AnswerFault.SCHEMA),
        (Answer(text="[" * 5000), AnswerFault.TOO_DEEP),
    ],
)
async def test_what_cannot_be_read_twice_is_a_typed_failure(
    serve: Serve, home: Path, model: str, answer: Answer, fault: AnswerFault
) -> None:
    server = serve(lambda body, n: answer)
    async with desk(server, home, model=model) as at:
        with pytest.raises(UnreadableAnswerError) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is fault
        assert len(server.log) == len(at.journal) == 2
        assert at.told[-1].error == str(caught.value)


@pytest.mark.parametrize("rung", [Rung.NATIVE, Rung.TOOLS])
async def test_a_refusal_in_its_own_field(serve: Serve, home: Path, rung: Rung) -> None:
    server = serve(refusing(rung, lambda body: Answer(refusal="Not this.")))
    async with desk(server, home) as at:
        with pytest.raises(UnreadableAnswerError, match="Not this") as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is AnswerFault.REFUSAL
        assert at.value["refusal"] == "Not this."


@pytest.mark.parametrize("model", VENDORS)
async def test_malformed_json_then_a_good_answer_costs_one_repeat(
    serve: Serve, home: Path, model: str
) -> None:
    server = serve(in_turn(Answer(text='{"queries": [oops'), Answer()))
    async with desk(server, home, model=model) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
        assert len(server.log) == len(at.journal) == 2
        assert [event.error for event in at.told] == [""]


async def test_an_empty_answer_is_never_sent_back_as_an_empty_message(
    serve: Serve, home: Path
) -> None:
    server = serve(in_turn(Answer(text=" "), Answer()))
    async with desk(server, home) as at:
        await at.reasoner.perform(TASK)
    roles = [message["role"] for message in server.models[1].body["messages"]]
    assert roles == ["system", "user"]
    assert "could not be read" in server.models[1].body["messages"][1]["content"]


async def test_only_so_much_of_an_unreadable_answer_is_sent_back(serve: Serve, home: Path) -> None:
    server = serve(
        in_turn(
            Answer(text=f"<think>{'secret thoughts ' * 50}</think>" + "owners " * 5_000), Answer()
        )
    )
    async with desk(server, home) as at:
        await at.reasoner.perform(TASK)
    before = server.models[1].body["messages"][2]["content"]
    assert before.startswith("owners owners")
    assert len(before) <= 4_000


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ('{"queries": ["a", "b"]', 2),  # broken: told, and asked again
        ('```json\n{"queries": ["a", "b"]}\n```', 1),
        ("{'queries': ['a', 'b']}", 1),
        ("", 2),
    ],
)
async def test_broken_tool_arguments_come_through_the_same_gate(
    serve: Serve, home: Path, arguments: str, calls: int
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        again = "could not be read" in body["messages"][-1]["content"]
        held = Answer(tool_calls=(("Queries", arguments),))
        return refusing(
            Rung.TOOLS, lambda body: in_form(body, {"queries": ["a", "b"]}) if again else held
        )(body, number)

    async with desk(serve(script), home) as at:
        assert (await at.reasoner.perform(TASK)).queries == ("a", "b")
        assert len(at.journal) == calls


@pytest.mark.parametrize("model", VENDORS)
async def test_thinking_is_kept_apart(serve: Serve, home: Path, model: str) -> None:
    text = f'<think>Perhaps {{"queries": ["wrong"]}}?</think>\n{GOOD}'
    async with desk(
        serve(lambda body, n: Answer(text=text)), home, model=model, verbose=True
    ) as at:
        answer = await at.reasoner.perform(TASK)
        assert list(answer.queries) == QUERIES["queries"]
        assert at.told[0].thinking == answer.thought == 'Perhaps {"queries": ["wrong"]}?'
        assert at.value["text"] == text  # raw


async def test_a_fenced_thinking_block_is_kept_with_the_answer(serve: Serve, home: Path) -> None:
    text = f"```thinking\nFirst I look.\n```\n{GOOD}"
    async with desk(serve(lambda body, n: Answer(text=text)), home) as at:
        answer = await at.reasoner.perform(TASK)
        assert at.told[0].thinking == answer.thought == "First I look."


async def test_thinking_in_a_field_of_its_own(serve: Serve, home: Path) -> None:
    server = serve(lambda body, n: Answer(text=GOOD, thinking="I wonder."))
    model = ChatOllama(model="made", base_url=server.url, reasoning=True)
    async with desk(
        server, home, model="ollama:made", models={"ollama:made": model}, verbose=True
    ) as at:
        await at.reasoner.perform(TASK)
        assert at.told[0].thinking == at.value["thinking"] == "I wonder."
        assert at.value["text"] == GOOD
    await close_model(model)


@pytest.mark.parametrize(
    ("content", "about", "fault"),
    [
        (
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": GOOD}],
            {"stop_reason": "end_turn"},
            None,
        ),
        ([{"type": "reasoning", "summary": [{"text": "hm"}]}, GOOD], {"status": "completed"}, None),
        (
            [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": GOOD}],
            {"finish_reason": "STOP"},
            None,
        ),
        (GOOD, {"stop_reason": "max_tokens"}, AnswerFault.TRUNCATED),
        (GOOD, {"finish_reason": "MAX_TOKENS"}, AnswerFault.TRUNCATED),
        (GOOD, {"incomplete_details": {"reason": "max_output_tokens"}}, AnswerFault.TRUNCATED),
        ("", {"stop_reason": "refusal"}, AnswerFault.REFUSAL),
        ("", {"finish_reason": "SAFETY"}, AnswerFault.REFUSAL),
        ("", {"finish_reason": "PROHIBITED_CONTENT"}, AnswerFault.REFUSAL),
        ("\ud83d lone", {}, AnswerFault.NO_JSON),
    ],
)
async def test_other_vendors_shapes(
    serve: Serve, home: Path, content: Any, about: dict[str, Any], fault: AnswerFault | None
) -> None:
    message = AIMessage(content=content, response_metadata=about)
    model = GenericFakeChatModel(messages=iter([message, message]))
    server = serve(in_turn(Answer()))
    async with desk(
        server, home, model="made:made", models={"made:made": model}, verbose=True
    ) as at:
        if fault is None:
            assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
            assert at.told[0].thinking == "hm"
        else:
            with pytest.raises(UnreadableAnswerError) as caught:
                await at.reasoner.perform(TASK)
            assert caught.value.fault is fault


# Streaming


@pytest.mark.parametrize("rung", LADDER)
async def test_a_streaming_model_works_on_every_rung(serve: Serve, home: Path, rung: Rung) -> None:
    server = serve(refusing(rung))
    model = chat_openai(server, streaming=True)
    prices = {"openai:made": Price(input=Decimal(1), output=Decimal(1))}
    async with desk(server, home, models={"openai:made": model}, prices=prices) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
        assert all(entry.body["stream"] for entry in server.models)
        assert at.value["usage"] == {}
        # Tokens not counted: taken at its worst.
        assert at.journal[0].cost == at.journal[0].worst > 0
    await close_model(model)


async def test_a_streaming_model_that_counts_tokens_is_charged_by_them(
    serve: Serve, home: Path
) -> None:
    server = serve(in_turn(Answer()))
    model = chat_openai(server, streaming=True, stream_usage=True)
    prices = {"openai:made": Price(input=Decimal(1), output=Decimal(1))}
    async with desk(server, home, models={"openai:made": model}, prices=prices) as at:
        await at.reasoner.perform(TASK)
        usage = at.value["usage"]
        assert (
            at.journal[0].cost
            == Decimal(usage["input_tokens"] + usage["output_tokens"]) / 1_000_000
        )
    await close_model(model)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_streaming_model_that_is_cut_keeps_its_text(
    serve: Serve, home: Path, reason: str
) -> None:
    server = serve(lambda body, n: Answer(text=GOOD[:40], finish_reason=reason))
    model = chat_openai(server, streaming=True)
    async with desk(server, home, models={"openai:made": model}) as at:
        with pytest.raises(UnreadableAnswerError) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is {"length": AnswerFault.TRUNCATED}.get(
            reason, AnswerFault.REFUSAL
        )
        assert at.value["text"] == GOOD[:40]
    await close_model(model)


# Failures of the service


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("as_date", [False, True])
async def test_429_is_obeyed_and_then_succeeds(
    serve: Serve, home: Path, model: str, as_date: bool
) -> None:
    wait = email.utils.formatdate(time.time() + 3_600, usegmt=True) if as_date else "3600"
    server = serve(
        in_turn(Answer(status=429, text="slow down", headers={"Retry-After": wait}), Answer())
    )
    clock = Clock()
    async with desk(server, home, model=model, clock=clock, deadlines={"model": 86_400}) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
        assert len(server.models) == 2
        failed = [event for event in at.events if isinstance(event, CallFailed)]
        assert len(failed) == 1
        (pause,) = clock.slept
        assert failed[0].retry_in == pause
        assert pause == 3_600 or (as_date and 3_600 - PATIENCE < pause < 3_600)
        assert "slow down" in failed[0].error
        assert at.journal[0].sends == 2
        assert at.rungs == [Rung.NATIVE, Rung.NATIVE]


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("status", [500, 503, 529])
async def test_a_failing_service_is_asked_again(
    serve: Serve, home: Path, model: str, status: int
) -> None:
    server = serve(
        in_turn(Answer(status=status, text="broken", headers={"Retry-After": "0"}), Answer())
    )
    async with desk(server, home, model=model) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]
        assert len(server.log) == 2
        assert len(at.journal) == 1


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("status", [401, 402, 403])
async def test_a_refused_key_is_not_tried_again(
    serve: Serve, home: Path, model: str, status: int
) -> None:
    server = serve(lambda body, n: Answer(status=status, text="who are you?"))
    async with desk(server, home, model=model) as at:
        with pytest.raises(CallError, match="who are you") as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is CallFault.AUTH
        assert len(server.log) == 1
    server_again = serve(in_turn(Answer()))
    # The key was put right: the resumed run goes on.
    async with desk(server_again, home, model=model) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]


async def test_an_empty_account_is_not_a_rate_limit(serve: Serve, home: Path) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    server = serve(lambda asked, n: Answer(status=429, raw=json.dumps(body).encode()))
    async with desk(server, home) as at:
        with pytest.raises(CallError) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is CallFault.AUTH
        assert len(server.log) == 1


@pytest.mark.parametrize("model", VENDORS)
async def test_a_service_that_is_not_there(home: Path, model: str) -> None:
    with ScriptedServer(in_turn(Answer())) as server:
        pass
    async with desk(server, home, model=model, retries=1) as at:
        with pytest.raises(CallError) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is CallFault.UNREACHED
        assert at.journal[0].sends == 2


@pytest.mark.parametrize("model", VENDORS)
async def test_a_service_that_is_late(serve: Serve, home: Path, model: str) -> None:
    server = serve(lambda body, n: Answer(text=GOOD, delay=10 * PATIENCE))
    async with desk(server, home, model=model, deadlines={"model": 0.3}, retries=0) as at:
        with pytest.raises(CallError) as caught:
            await asyncio.wait_for(at.reasoner.perform(TASK), PATIENCE)
        assert caught.value.fault is CallFault.TIMEOUT


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize(
    "raw", [b"", b"<html>gateway</html>", b'{"choices": null}', b'{"a": ', b"[]", b'"text"']
)
async def test_an_answer_that_is_not_the_documented_format(
    serve: Serve, home: Path, model: str, raw: bytes
) -> None:
    server = serve(lambda body, n: Answer(raw=raw))
    async with desk(server, home, model=model, retries=0) as at:
        with pytest.raises((CallError, UnreadableAnswerError)) as caught:
            await at.reasoner.perform(TASK)
        if isinstance(caught.value, CallError):
            assert caught.value.fault in {CallFault.MALFORMED, CallFault.SERVER}
            assert at.journal[0].state is CallState.FAILED
            assert str(caught.value).startswith(f"{model}: ")
        assert at.told[-1].error


async def test_a_client_that_raises_anything_at_all(serve: Serve, home: Path) -> None:
    class Odd(GenericFakeChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ZeroDivisionError(f"odd, with key {KEY}")

    async with desk(
        serve(in_turn(Answer())), home, model="m:m", models={"m:m": Odd(messages=iter(()))}
    ) as at:
        with pytest.raises(
            CallError, match=r"m:m: ZeroDivisionError: odd, with key \[secret\]"
        ) as caught:
            await at.reasoner.perform(TASK)
        assert caught.value.fault is CallFault.MALFORMED
        assert at.journal[0].state is CallState.FAILED


# Money


async def test_a_call_is_charged_by_its_tokens_and_never_above_its_worst_case(
    serve: Serve, home: Path
) -> None:
    prices = {"openai:made": Price(input=Decimal(2), output=Decimal(8), call=Decimal("0.001"))}
    async with desk(serve(in_turn(Answer())), home, prices=prices, max_output_tokens=500) as at:
        await at.reasoner.perform(TASK)
        row, usage = at.journal[0], at.value["usage"]
        spent = Decimal(2 * usage["input_tokens"] + 8 * usage["output_tokens"]) / 1_000_000
        assert row.cost == Decimal("0.001") + spent == at.gateway.budget.spent
        assert (
            row.worst
            >= Decimal("0.001") + Decimal(2 * len(row.request.encode()) + 8 * 500) / 1_000_000
        )
        assert row.worst > row.cost
        worst = at.reasoner.worst_case(WriteQueries)
        assert worst is not None
        assert worst > 2 * row.worst


async def test_a_price_that_is_not_known_is_none_and_nothing_is_charged(
    serve: Serve, home: Path
) -> None:
    async with desk(serve(in_turn(Answer())), home) as at:
        assert {at.reasoner.worst_case(kind) for kind in TASKS} == {None}
        await at.reasoner.perform(TASK)
        assert at.journal[0].cost == at.journal[0].worst == 0


async def test_what_runs_at_home_costs_nothing(serve: Serve, home: Path) -> None:
    async with desk(
        serve(in_turn(Answer())), home, model="ollama:made", fast_model="embedded"
    ) as at:
        assert at.reasoner.worst_case(WriteQueries) == at.reasoner.worst_case(Decompose) == 0


async def test_a_known_price_comes_from_the_price_list(serve: Serve, home: Path) -> None:
    async with desk(serve(in_turn(Answer())), home, model="openai:gpt-4o-mini") as at:
        worst = at.reasoner.worst_case(WriteQueries)
        assert worst is not None
        assert Decimal("0.02") < worst < Decimal("0.10")
        await at.reasoner.perform(TASK)
        assert 0 < at.journal[0].cost < at.journal[0].worst < worst


def claiming(usage: Any) -> ModelScript:
    """Answer well, and say that so many tokens were used."""
    message = {"role": "assistant", "content": GOOD}
    said = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}
    raw = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m"} | said)
    about = {"Content-Type": "application/json"}
    return lambda body, number: Answer(raw=raw.encode(), headers=about)


def openai_usage(read: Any, written: Any) -> dict[str, Any]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": 7}


@pytest.mark.parametrize("model", ["openai:made", "openai:gpt-4o-mini"])
@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (openai_usage(-5_000, 10), "worst case"),
        (openai_usage(500, -1), "worst case"),
        (openai_usage(10**14, 10), "worst case"),
        (openai_usage(500, 10**40), "worst case"),
        (openai_usage(500, 8_193), "worst case"),
        (None, "worst case"),
        (openai_usage(0, 0), "estimate"),
        (openai_usage(1, 1), "estimate"),
        (openai_usage(500, 0), "estimate"),
        (openai_usage(500, 20), "service"),
    ],
    ids=str,
)
async def test_usage_that_cannot_be_costs_no_more_than_was_reserved_and_ends_no_run(
    serve: Serve, home: Path, model: str, usage: Any, counted: str
) -> None:
    prices = {"openai:made": Price(input=Decimal(2), output=Decimal(8))}
    server = serve(claiming(usage))
    async with desk(server, home, model=model, prices=prices, budget="1") as at:
        assert (await at.reasoner.perform(TASK)).queries
        (row,) = at.journal
        assert at.value["counted"] == counted
        assert 0 < row.cost <= row.worst
        assert (row.cost == row.worst) == (counted == "worst case")
        assert at.gateway.budget.spent == row.cost
    async with desk(server, home, model=model, prices=prices, budget="1") as again:
        assert (await again.reasoner.perform(TASK)).queries
        assert again.gateway.budget.spent == row.cost
    assert len(server.log) == 1


class Liar(GenericFakeChatModel):
    """A model that says that it used whatever a test tells it to say."""

    said: Any = None

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        message = AIMessage(GOOD)
        message.usage_metadata = self.said
        return ChatResult(generations=[ChatGeneration(message=message)])


TOKENS = (
    st.integers()
    | st.integers(0, 100_000)
    | st.sampled_from([10**5_000, -(10**5_000), True, False, None, "7", 1.5, math.nan, math.inf])
)


async def spend_all(at: Desk, model: Liar, said: list[tuple[Any, Any]]) -> int:
    """Ask until the budget is spent, and return how many calls that took."""
    for number in range(10_000):
        read, written = said[number % len(said)]
        model.said = {"input_tokens": read, "output_tokens": written, "total_tokens": 0}
        try:
            await at.reasoner.perform(task(number))
        except BudgetError:
            return number
    pytest.fail("the budget never bound")


@given(st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=4))
@settings(max_examples=25)
async def test_a_budget_binds_whatever_the_service_says(
    server: ScriptedServer, said: list[tuple[Any, Any]]
) -> None:
    model = Liar(messages=iter(()))
    about: dict[str, Any] = {
        "model": "liar:m",
        "models": {"liar:m": model},
        "prices": {"liar:m": Price(input=Decimal(1_000), output=Decimal(1_000))},
        "max_output_tokens": 64,
        "budget": "8",  # the worst case of one call, and some more
    }
    with tempfile.TemporaryDirectory() as folder:
        async with desk(server, Path(folder), **about) as at:
            calls = await spend_all(at, model, said)
            rows = [row for row in at.journal if row.state is CallState.SETTLED]
            assert len(rows) == calls > 0
            assert all(0 < row.cost <= row.worst for row in rows)
            assert at.gateway.budget.spent == sum(row.cost for row in rows) <= 8
        async with desk(server, Path(folder), **about) as again:
            assert (await again.reasoner.perform(task(0))).queries, "from the journal"
            assert again.gateway.budget.spent == at.gateway.budget.spent


async def test_an_answer_is_shared_only_with_the_same_address(serve: Serve, tmp_path: Path) -> None:
    one, other = (serve(in_turn(Answer())) for _ in range(2))
    for number, server in enumerate((one, other, one)):
        async with desk(server, tmp_path, cache={"model": 60}, run=f"r{number}") as at:
            assert (await at.reasoner.perform(TASK)).queries
    assert (len(one.log), len(other.log)) == (1, 1)
    models = [chat_openai(server) for server in (one, other)]  # as a caller would pass them in
    for number, model in enumerate(models):
        own: dict[str, Any] = {"models": {"openai:made": model}, "urls": {}}
        async with desk(one, tmp_path, cache={"model": 60}, run=f"r1{number}", **own) as at:
            assert (await at.reasoner.perform(TASK)).queries
        await close_model(model)
    assert (len(one.log), len(other.log)) == (1, 1), "each took over what its own server had said"


async def test_what_does_not_fit_the_budget_is_not_sent(serve: Serve, home: Path) -> None:
    server = serve(in_turn(Answer()))
    prices = {"openai:made": Price(input=Decimal(100), output=Decimal(100))}
    async with desk(server, home, prices=prices, budget="0.01") as at:
        with pytest.raises(BudgetError):
            await at.reasoner.perform(TASK)
        assert not server.log
        assert "budget" in at.told[0].error


async def test_a_model_that_was_passed_in_is_priced_by_its_own_output_limit(
    serve: Serve, home: Path
) -> None:
    server = serve(in_turn(Answer()))
    prices = {"openai:made": Price(output=Decimal(1_000_000))}
    model = chat_openai(server, max_tokens=7)
    async with desk(server, home, models={"openai:made": model}, prices=prices) as at:
        await at.reasoner.perform(TASK)
        assert at.journal[0].worst == 7
        assert server.models[0].body["max_completion_tokens"] == 7
    await close_model(model)


# Who performs what, and what is told


async def test_fast_and_smart_roles_and_a_model_for_one_task(serve: Serve, home: Path) -> None:
    answers = {
        "quick": QUERIES,
        "clever": {"problems": [{"question": "Who?", "needs": []}], "sought": "a person"},
        "special": {"hypotheses": []},
    }
    server = serve(lambda body, n: in_form(body, answers[body["model"]]))
    changes: dict[str, Any] = {
        "model": "openai:clever",
        "fast_model": "ollama:quick",
        "task_models": {"hypothesise": "openai:special"},
    }
    async with desk(server, home, **changes) as at:
        await at.reasoner.perform(TASK)
        plan = await at.reasoner.perform(Decompose(question="q", as_of="2026-11-01"))
        assert isinstance(plan, Decomposition)
        await at.reasoner.perform(
            Hypothesise(question="q", as_of="2026-11-01", problems=("p",), findings=())
        )
        assert [(entry.path, entry.body["model"]) for entry in server.models] == [
            ("/api/chat", "quick"),
            ("/v1/chat/completions", "clever"),
            ("/v1/chat/completions", "special"),
        ]
        assert [row.provider for row in at.journal] == [
            "ollama:quick",
            "openai:clever",
            "openai:special",
        ]
        assert [row.what for row in at.journal] == ["write_queries", "decompose", "hypothesise"]
        assert at.reasoner.description == (
            "openai:clever (judging and writing), ollama:quick (queries and extraction), "
            "openai:special (hypothesise)"
        )


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("temperature", [None, 0.0])
async def test_limits_and_temperature_reach_the_service(
    serve: Serve, home: Path, model: str, temperature: float | None
) -> None:
    server = serve(in_turn(Answer()))
    async with desk(
        server, home, model=model, temperature=temperature, max_output_tokens=321
    ) as at:
        await at.reasoner.perform(TASK)
    body = server.models[0].body
    sent = body if model.startswith("openai") else body["options"]
    assert sent["max_completion_tokens" if model.startswith("openai") else "num_predict"] == 321
    assert sent.get("temperature") == temperature


async def test_events_tell_the_whole_story_only_where_it_is_wanted(
    serve: Serve, home: Path, tmp_path: Path
) -> None:
    text = f"<think>Hm.</think>{GOOD}"
    server = serve(lambda body, n: Answer(text=text))
    async with desk(server, home, verbose=True) as at:
        await at.reasoner.perform(TASK)
        told = at.told[0]
        assert (told.task, told.model, told.error) == ("write_queries", "openai:made", "")
        assert TASK.prompt().system in told.prompt
        assert "<<<problem>>>" in told.prompt
        assert told.answer == QUERIES
        assert told.thinking == "Hm."
    async with desk(server, tmp_path / "other") as at:
        await at.reasoner.perform(TASK)
        told = at.told[0]
        assert (told.prompt, told.answer) == ("", None)
        assert told.thinking == "Hm.", "thinking belongs into the log, whoever looks on"


async def test_a_fenced_thought_is_kept_and_fills_the_place_for_it(
    serve: Serve, home: Path
) -> None:
    said = [
        '{"key_insights": []}',
        '{"thinking": "first", "key_insights": []}',
        '{"thinking": "", "key_insights": []}',
    ]
    texts = iter([f"```thinking\nOne by one.\n```\n```json\n{text}\n```" for text in said])
    task = Analyse(question="Who?", as_of="2026-11-15")
    async with desk(serve(lambda body, n: Answer(text=next(texts))), home) as at:
        answers = [
            await at.reasoner.perform(task.model_copy(update={"guidance": str(n)}))
            for n in range(3)
        ]
        assert [answer.thinking for answer in answers] == ["One by one.", "first", "One by one."]
        assert [event.thinking for event in at.told] == ["One by one."] * 3


async def test_a_key_that_a_model_thinks_of_is_not_told(serve: Serve, home: Path) -> None:
    key = "sk-0123456789abcdef"
    text = f"<think>The key is {key}.</think>{GOOD}"
    async with desk(serve(lambda body, n: Answer(text=text)), home, keys={"openai": key}) as at:
        await at.reasoner.perform(TASK)
        assert at.told[0].thinking == "The key is [secret]."


# Secrets


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_key_never_reaches_journal_events_or_errors(
    serve: Serve, home: Path, model: str, status: int
) -> None:
    said = f"Incorrect API key provided: {KEY}"
    server = serve(lambda body, n: Answer(status=status, text=said, headers={"Retry-After": "0"}))
    async with desk(
        server, home, model=model, retries=1, verbose=True, keys={"openai": KEY, "ollama": KEY}
    ) as at:
        with pytest.raises((CallError, NoRungError)) as caught:
            await at.reasoner.perform(WriteQueries(question=f"is {KEY} mine?", problem="p"))
        assert KEY not in str(caught.value)
        assert KEY not in at.everything_kept()
        assert "[secret]" in at.everything_kept()
        assert "Incorrect API key provided: [secret]" in str(caught.value)
    assert all(entry.authorised for entry in server.models)


async def test_a_key_that_only_the_passed_in_model_knows_is_kept_too(
    serve: Serve, home: Path
) -> None:
    own = "sk-own-fedcba9876543210"
    server = serve(lambda body, n: Answer(status=401, text=f"bad key {own}"))
    model = chat_openai(server, api_key=own)
    async with desk(server, home, models={"openai:made": model}, keys={}) as at:
        with pytest.raises(CallError, match=r"bad key \[secret\]"):
            await at.reasoner.perform(TASK)
        assert own not in at.everything_kept()
    await close_model(model)


async def test_a_server_of_ones_own_needs_no_key(serve: Serve, home: Path) -> None:
    server = serve(in_turn(Answer()))
    async with desk(server, home, keys={}) as at:
        assert list((await at.reasoner.perform(TASK)).queries) == QUERIES["queries"]


# Connections


def test_one_process_may_run_one_event_loop_after_the_other(serve: Serve, tmp_path: Path) -> None:
    server = serve(in_turn(Answer()))

    async def run(number: int, model: str) -> int:
        async with desk(server, tmp_path / str(number), model=model) as at:
            await at.reasoner.perform(TASK)
            return len(at.journal)

    assert [asyncio.run(run(number, VENDORS[number % 2])) for number in range(4)] == [1, 1, 1, 1]


async def test_closing_leaves_models_that_were_passed_in_alone(serve: Serve, home: Path) -> None:
    server = serve(in_turn(Answer()))
    model: BaseChatModel = ChatOllama(model="made", base_url=server.url)
    async with desk(server, home, model="ollama:made", models={"ollama:made": model}) as at:
        await at.reasoner.perform(TASK)
    assert (await model.ainvoke("still there?")).content
    await close_model(model)


def test_the_scripts_of_these_tests_tell_the_rungs_apart() -> None:
    assert rung_of({"tools": [], "format": {"type": "object"}}) is Rung.NATIVE
    assert (
        rung_of({"response_format": {"type": "json_object"}})
        is rung_of({"format": "json"})
        is Rung.JSON
    )
    assert rung_of({"tools": [{}]}) is Rung.TOOLS
    assert rung_of({"tools": []}) is Rung.PROMPTED
