"""Spans: none unless asked for, and when asked for, everything but text."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, NotJournalledError, SettingsError
from deepdiver.gateway import Mode, Reply, Request
from deepdiver.gateway.trace import Tracer
from deepdiver.store.sqlite import SqliteStore
from tests.gateway.rig import KEY, Door, Service, ask, fault, for_ever, leave, until


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What a process that has set up OpenTelemetry would send.

    The process's own tracer can be set only once.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def the_only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


def attributes(spans: InMemorySpanExporter) -> Mapping[str, Any]:
    held = the_only(spans).attributes
    assert held is not None
    return held


def test_without_the_package_the_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, store: SqliteStore
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(SettingsError, match=r"install deepdiver-research\[otel\]"):
        Tracer(Settings(trace="otel"), "r1")
    with pytest.raises(SettingsError):
        Door(store, trace="otel")
    Door(store, trace="off")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (fault(CallFault.AUTH, f"{KEY} is not a key"), "auth"),
        (fault(CallFault.MALFORMED, "not JSON"), "malformed"),
        (RuntimeError(f"a client that tells {KEY}"), "RuntimeError"),
    ],
)
async def test_a_failure_is_marked_by_its_kind_and_nothing_of_its_text_is_kept(
    spans: InMemorySpanExporter, store: SqliteStore, error: Exception, kind: str
) -> None:
    with pytest.raises(type(error)):
        await Door(store, trace="otel", keys={"p": KEY}).call(ask(), Service(error))
    span = the_only(spans)
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert attributes(spans)["error.type"] == kind
    assert span.events == ()
    assert KEY not in span.to_json()
    assert str(error) not in span.to_json()


async def test_a_call_that_was_not_sent_is_an_error_too(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    with pytest.raises(BudgetError):
        await Door(store, trace="otel", budget="0.01").call(ask(), Service())
    assert attributes(spans)["error.type"] == "BudgetError"


async def test_a_replay_that_misses_is_an_error_too(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    with pytest.raises(NotJournalledError):
        await Door(store, trace="otel", mode=Mode.REPLAY).call(ask(), Service())
    assert attributes(spans)["error.type"] == "NotJournalledError"


async def test_a_cancelled_call_ends_its_span(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    service = Service(for_ever)
    task = asyncio.ensure_future(Door(store, trace="otel").call(ask(), service))
    await until(lambda: service.calls == 1)
    await leave(task)
    assert attributes(spans)["error.type"] == "CancelledError"
    assert the_only(spans).status.status_code is StatusCode.ERROR


async def test_a_model_call_is_told_by_the_conventions(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    reply = Reply("a long text", Decimal("0.0125"), {"input_tokens": 70, "output_tokens": 5})
    request = ask(provider="openai:gpt-4o-mini", what="the words of the task")
    await Door(store, trace="otel").call(request, Service(reply))
    span = the_only(spans)
    assert span.name == "chat openai:gpt-4o-mini"
    assert span.kind is SpanKind.INTERNAL
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(spans) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 5,
        "deepdiver.run": "r1",
        "deepdiver.call": request.key,
        "deepdiver.cost_usd": 0.0125,
    }
    assert "words" not in span.to_json()
    assert "long text" not in span.to_json()


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ("tool", "execute_tool"),
        ("mcp", "execute_tool"),
        ("search", "search"),
        ("fetch", "fetch"),
        ("feed", "feed"),
    ],
)
async def test_other_calls_are_told_by_what_they_do(
    spans: InMemorySpanExporter, store: SqliteStore, kind: Any, operation: str
) -> None:
    await Door(store, trace="otel").call(ask(kind=kind), Service())
    assert the_only(spans).name == f"{operation} p"
    assert attributes(spans)["gen_ai.operation.name"] == operation
    assert "gen_ai.request.model" not in attributes(spans)


async def test_a_model_without_a_provider_is_its_own(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    await Door(store, trace="otel").call(ask(provider="custom"), Service())
    assert attributes(spans)["gen_ai.provider.name"] == "custom"
    assert attributes(spans)["gen_ai.request.model"] == "custom"


async def test_an_answer_of_the_journal_cost_nothing_now(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    await Door(store).call(ask(), Service())
    await Door(store, trace="otel").call(ask(), Service())
    assert "deepdiver.cost_usd" not in attributes(spans)


async def test_retries_are_one_span_and_a_cured_call_is_no_error(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    service = Service(fault(CallFault.SERVER, retry_after=0), Reply(1))
    await Door(store, trace="otel").call(ask(), service)
    assert service.calls == 2
    assert the_only(spans).status.status_code is StatusCode.UNSET


async def test_a_span_lies_within_its_callers(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    with trace.get_tracer("test").start_as_current_span("the caller's") as caller:
        await Door(store, trace="otel").call(ask(), Service())
    inner, outer = spans.get_finished_spans()
    assert outer.name == "the caller's"
    assert inner.parent is not None
    assert inner.parent.span_id == caller.get_span_context().span_id


async def test_two_who_ask_the_same_at_once_are_one_span(
    spans: InMemorySpanExporter, store: SqliteStore
) -> None:
    door = Door(store, trace="otel")
    await asyncio.gather(*(door.call(ask(), Service()) for _ in range(3)))
    assert len(spans.get_finished_spans()) == 1


def test_off_means_that_opentelemetry_is_not_even_imported() -> None:
    script = (
        "import asyncio, pathlib, sys, tempfile\n"
        "from deepdiver.core.settings import Settings\n"
        "from deepdiver.gateway import Gateway, Reply, Request\n"
        "from deepdiver.store.sqlite import open_sqlite\n"
        "from tests.gateway.rig import make_run\n"
        "async def do(): return Reply(1)\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    store = open_sqlite(pathlib.Path(folder))\n"
        "    store.runs.create(make_run('r1'))\n"
        "    door = Gateway(store, 'r1', Settings(), lambda event: None)\n"
        "    asyncio.run(door.call(Request('model', 'p', 'asking', {}), do))\n"
        "    store.close()\n"
        "print(*(name for name in sys.modules if name.startswith('opentelemetry')))\n"
    )
    root = Path(__file__).parents[2]
    told = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (told.returncode, told.stdout.split()) == (0, []), told.stderr


def test_a_silent_tracer_wraps_without_a_word() -> None:
    with Tracer(Settings(), "r1").span(Request("model", "p", "", {})) as span:
        span.settle(Reply(1))
    with (
        pytest.raises(CallError, match="it failed"),
        Tracer(Settings(), "r1").span(Request("model", "p", "", {})),
    ):
        raise fault(CallFault.SERVER)
