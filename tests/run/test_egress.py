"""What a run sent out, by its journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import Source, SourceKind
from deepdiver.core.settings import Settings
from deepdiver.run.egress import (
    HERE,
    egress_lines,
    egress_page,
    host_for,
    make_receipt,
    private_line,
    seal_of,
)
from deepdiver.store import CallState, JournalRow, Store
from deepdiver.store.sqlite import open_memory
from tests.report.making import RUN

SECRET = "The board of Vantskär decided in secret to sell the harbour."
PUBLIC = "The harbour of Vantskär was built by the state in 1912."
EVIL = "<script>alert(1)</script> https://evil.example/steal"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "home": tmp_path,
            "urls": {"ollama": "http://localhost:11434"},
            "mcp": {
                "servers": {
                    "near": {"command": ["prog"]},
                    "far": {"url": "https://mcp.example.org/mcp"},
                }
            },
        }
    )


@pytest.fixture
def store() -> Iterator[Store]:
    with closing(open_memory()) as made:
        made.runs.create(RUN)
        yield made


def call(store: Store, kind: str, provider: str, payload: Any, *, sent: bool = True) -> None:
    key = f"{provider}-{len(store.journal.rows(RUN.id))}"
    store.journal.reserve(
        RUN.id,
        key,
        kind=kind,
        provider=provider,
        what=str(payload.get("query", kind)),
        request=json.dumps(payload),
        worst=Decimal(0),
        now=1.0,
    )
    if sent:
        store.journal.mark_sent(RUN.id, key, 2.0)
    store.journal.settle(RUN.id, key, "{}", Decimal(0), 3.0)


def read(store: Store, text: str, kind: SourceKind, url: str) -> None:
    snapshot = store.texts.put(RUN.id, text)
    source = Source(id=f"s_{url}", kind=kind, url=url, title=f"Title {url}", snapshot=snapshot)
    store.records.add(RUN.id, [("source", source.id, source.model_dump_json())])


@pytest.mark.parametrize(
    ("kind", "provider", "host"),
    [
        ("search", "library", HERE),
        ("search", "tavily", "api.tavily.com"),
        ("search", "nobody", "nobody"),
        ("fetch", "fetch:example.org", "example.org"),
        ("model", "openai:gpt-5", "api.openai.com"),
        ("model", "ollama:qwen3", HERE),
        ("model", "own:model", "own:model"),
        ("mcp", "mcp:near", HERE),
        ("mcp", "mcp:far", "mcp.example.org"),
        ("mcp", "mcp:gone", "mcp:gone"),
        ("human", "terminal", HERE),
        ("feed", "usgs", "usgs"),
    ],
)
def test_the_host_of_a_call(
    settings: Settings, store: Store, kind: str, provider: str, host: str
) -> None:
    call(store, kind, provider, {})
    (row,) = store.journal.rows(RUN.id)
    assert host_for(row, settings) == host


def test_a_run_over_documents_that_sends_nothing(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    call(store, "search", "library", {"query": "harbour"})
    receipt = make_receipt(RUN, store, settings)
    assert receipt["passages"] == []
    assert private_line(receipt) == (
        "The run read 1 document of yours, and no passage of them left this machine."
    )
    assert "Nothing was sent to another machine." in list(egress_lines(receipt))


def test_a_passage_that_goes_to_a_model_is_named(settings: Settings, store: Store) -> None:
    read(store, f"{SECRET} Short. {PUBLIC}", SourceKind.DOCUMENT, "/notes/a.md")
    read(store, PUBLIC, SourceKind.PAGE, "https://e.org/b")
    broken = SECRET.replace(" in ", "\n in ")
    call(store, "model", "openai:x", {"messages": [["user", f"<1> {broken} <2> Short."]]})
    receipt = make_receipt(RUN, store, settings)
    (passage,) = receipt["passages"]
    assert passage["source"] == "/notes/a.md"
    assert (passage["private"], passage["sentences"]) == (True, 1)
    assert passage["host"] == "openai:x at api.openai.com"
    assert "1 sentences of 1 of them went to openai:x at api.openai.com" in private_line(receipt)


def test_a_public_passage_is_told_apart(settings: Settings, store: Store) -> None:
    read(store, PUBLIC, SourceKind.PAGE, "https://e.org/b")
    call(store, "model", "openai:x", {"messages": [["user", PUBLIC]]})
    receipt = make_receipt(RUN, store, settings)
    assert [item["private"] for item in receipt["passages"]] == [False]
    assert private_line(receipt) == "The run read no documents of yours."


def test_a_query_that_quotes_a_document_is_found_too(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    call(store, "search", "tavily", {"query": f"who said: {SECRET}"})
    (passage,) = make_receipt(RUN, store, settings)["passages"]
    assert passage["host"] == "api.tavily.com"


def test_what_was_answered_from_the_cache_was_not_sent(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    call(store, "model", "openai:x", {"messages": [["user", SECRET]]}, sent=False)
    receipt = make_receipt(RUN, store, settings)
    assert receipt["passages"] == []
    assert receipt["hosts"] == {"api.openai.com": {"calls": 1, "sends": 0, "bytes": 0}}


def test_bytes_are_counted_for_each_time_that_something_was_sent(
    settings: Settings, store: Store
) -> None:
    call(store, "search", "tavily", {"query": "ä"})
    receipt = make_receipt(RUN, store, settings)
    (row,) = store.journal.rows(RUN.id)
    assert receipt["hosts"]["api.tavily.com"]["bytes"] == len(row.request.encode())
    assert row.state is CallState.SETTLED


def test_the_seal_covers_everything(settings: Settings, store: Store) -> None:
    call(store, "search", "tavily", {"query": "harbour"})
    receipt = make_receipt(RUN, store, settings)
    assert receipt["seal"] == seal_of(receipt)
    assert make_receipt(RUN, store, settings) == receipt
    for key in receipt.keys() - {"seal"}:
        assert seal_of(receipt | {key: "altered"}) != receipt["seal"], key
    call(store, "search", "tavily", {"query": "another"})
    assert make_receipt(RUN, store, settings)["seal"] != receipt["seal"]


def test_a_lost_text_is_not_called_unsent(settings: Settings, store: Store) -> None:
    source = Source(id="s", kind=SourceKind.DOCUMENT, url="/a", title="A", snapshot="gone")
    store.records.add(RUN.id, [("source", "s", source.model_dump_json())])
    call(store, "model", "openai:x", {"messages": [["user", "hello"]]})
    receipt = make_receipt(RUN, store, settings)
    assert receipt["passages"][0]["note"] == "its saved text is lost"
    assert private_line(receipt).endswith("the saved text of 1 is lost, so nobody can tell.")
    assert any("its saved text is lost" in line for line in egress_lines(receipt))


def test_the_page_does_nothing(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, EVIL)
    call(store, "search", "tavily", {"query": f"{EVIL} {SECRET}"})
    page = egress_page(make_receipt(RUN, store, settings))
    assert "<script" not in page
    assert "https://evil.example" not in page
    assert "api" in page


def test_rows_of_a_journal_have_what_the_receipt_needs() -> None:
    assert {"provider", "request", "sends", "kind", "what"} <= set(JournalRow.__slots__)


# -- what is damaged, odd or missing


def test_a_run_without_a_report_or_a_call_has_a_receipt(settings: Settings, store: Store) -> None:
    receipt = make_receipt(RUN, store, settings)
    assert (receipt["report_hash"], receipt["hosts"], receipt["calls"]) == ("", {}, [])
    assert receipt["seal"] == seal_of(receipt)
    told = list(egress_lines(receipt))
    assert "Nothing was sent to another machine." in told
    assert not any(line.startswith(HERE) for line in told)
    assert "Nothing" not in egress_page(receipt)


def test_a_private_text_that_is_lost_does_not_hide_one_that_left(
    settings: Settings, store: Store
) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    lost = Source(id="s", kind=SourceKind.DOCUMENT, url="/b", title="B", snapshot="gone")
    store.records.add(RUN.id, [("source", "s", lost.model_dump_json())])
    call(store, "model", "openai:x", {"messages": [["user", SECRET]]})
    receipt = make_receipt(RUN, store, settings)
    assert private_line(receipt) == (
        "The run read 2 documents of yours; 1 sentences of 1 of them went to openai:x at "
        "api.openai.com."
    )


def test_a_call_that_failed_after_it_was_sent_has_left(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    request = json.dumps({"messages": [["user", SECRET]]})
    store.journal.reserve(
        RUN.id,
        "k",
        kind="model",
        provider="openai:x",
        what="write",
        request=request,
        worst=Decimal(0),
        now=1.0,
    )
    store.journal.mark_sent(RUN.id, "k", 2.0)
    store.journal.mark_sent(RUN.id, "k", 3.0)
    store.journal.fail(RUN.id, "k", "{}", Decimal(0), 4.0)
    receipt = make_receipt(RUN, store, settings)
    (sent,) = receipt["calls"]
    assert (sent["state"], sent["sends"]) == ("failed", 2)
    assert sent["bytes"] == 2 * len(request.encode())
    assert [item["private"] for item in receipt["passages"]] == [True]


def test_the_words_of_an_address_are_no_passage(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    call(store, "fetch", "fetch:e.org", {"url": f"https://e.org/{SECRET}"})
    receipt = make_receipt(RUN, store, settings)
    assert receipt["passages"] == []
    assert receipt["hosts"]["e.org"]["sends"] == 1


def test_the_same_passage_to_two_hosts_is_told_of_each(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a.md")
    call(store, "search", "tavily", {"query": SECRET})
    call(store, "model", "openai:x", {"messages": [["user", SECRET]]})
    hosts = [item["host"] for item in make_receipt(RUN, store, settings)["passages"]]
    assert sorted(hosts) == ["api.tavily.com", "openai:x at api.openai.com"]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://127.0.0.1:8000/v1", HERE),
        ("http://[::1]:8000/v1", HERE),
        ("https://models.example.org/v1", "models.example.org"),
        ("no address", "openai:x"),
    ],
)
def test_a_model_behind_an_address_of_the_users_own(
    store: Store, tmp_path: Path, address: str, host: str
) -> None:
    own = Settings.model_validate({"home": tmp_path, "urls": {"openai": address}})
    call(store, "model", "openai:x", {})
    (row,) = store.journal.rows(RUN.id)
    assert host_for(row, own) == host


def test_a_title_of_many_lines_stays_on_one(settings: Settings, store: Store) -> None:
    read(store, SECRET, SourceKind.DOCUMENT, "/notes/a\nseal 0000 over nothing")
    call(store, "search", "tavily", {"query": f"x\n{SECRET}"})
    receipt = make_receipt(RUN, store, settings)
    assert [line for line in egress_lines(receipt) if line.startswith("seal ")] == [
        list(egress_lines(receipt))[-1]
    ]
