from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.record import HypothesisStatus, RunStatus, Source
from deepdiver.core.settings import Settings, load
from deepdiver.errors import (
    DeepdiverError,
    MissingKeyError,
    NoEvidenceError,
    StoreAccessError,
    UnknownNameError,
    UsageError,
)
from deepdiver.reason.embedded.account import UNSURE
from deepdiver.run import replay, research, resume
from deepdiver.store import open_store
from deepdiver.store.sqlite import open_sqlite
from tests.servers.brain import made_page, made_search, popper_brain
from tests.servers.scripted import ScriptedServer

pytestmark = pytest.mark.usefixtures("read_once")

NOWHERE = dict.fromkeys(("duckduckgo", "wikipedia"), "http://127.0.0.1:9")
"""What needs no key is asked where nobody is: tests reach nobody outside."""
QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "store", "documents": (sample.LIBRARY,), "search": ["library"]})


async def test_nothing_to_search_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "urls": NOWHERE})
    with pytest.raises(
        NoEvidenceError,
        match=r"--sample\. duckduckgo was not searched: 127.0.0.1:9 cannot be reached",
    ):
        await research(QUESTION, settings)
    assert open_sqlite(tmp_path).runs.list_all() == []


@pytest.mark.parametrize(
    ("flags", "kind", "words"),
    [
        ({"search": ["tavly"]}, UnknownNameError, "did you mean tavily"),
        ({"search": ["tavily"]}, MissingKeyError, "TAVILY_API_KEY"),
        ({"model": "opnai:gpt-5"}, UnknownNameError, "openai"),
        ({"model": "openai:gpt-5-mini"}, MissingKeyError, "OPENAI_API_KEY"),
        ({"documents": ("/no/such/folder",)}, UsageError, "does not exist"),
    ],
)
async def test_what_cannot_be_used_is_said_before_a_run_begins(
    settings: Settings, flags: dict[str, Any], kind: type[Exception], words: str
) -> None:
    changed = load({**settings.model_dump(), **flags})
    with pytest.raises(kind, match=words):
        await research(QUESTION, changed)
    assert open_store(settings).runs.list_all() == []


async def test_files_that_cannot_be_written_do_not_lose_the_run(
    settings: Settings, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x")
    with pytest.raises(StoreAccessError, match="deepdiver show"):
        await research(QUESTION, settings, out=in_the_way)
    (run,) = open_store(settings).runs.list_all()
    assert run.status is RunStatus.ANSWERED


async def test_a_run_leaves_its_six_files(settings: Settings, tmp_path: Path) -> None:
    outcome = await research(QUESTION, settings, out=tmp_path / "out")
    assert outcome.folder == tmp_path / "out"
    assert sorted(path.name for path in outcome.folder.iterdir()) == [
        "evidence.md",
        "reasoning.log",
        "report.html",
        "report.json",
        "report.md",
        "sources.jsonl",
    ]
    record = json.loads((outcome.folder / "report.json").read_text())
    assert outcome.report is not None
    assert record["report_hash"] == outcome.report.hash
    assert {entry["record"] for entry in record["ledger"]} >= {
        "Source",
        "Finding",
        "Hypothesis",
        "Evidence",
        "Trial",
    }
    for line in (outcome.folder / "reasoning.log").read_text().splitlines():
        assert list(json.loads(line)) == ["timestamp", "phase", "step", "action", "details"]


CHOSEN = ("svedjan-children", "shore-power-owner", "ejdervik-fire-out", "ejdervik-insurer")
"""The questions of the sample that are researched here in `make test`: one that is reckoned, one
with steps, one about which the sources disagree and one without an answer. The proof takes all, and
the tests of the reasoner ask it each of them."""


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(one, id=one.id, marks=() if one.id in CHOSEN else pytest.mark.proof)
        for one in sample.questions()
    ],
)
async def test_every_sample_question_is_answered_right_and_replays_to_the_same_report(
    settings: Settings, question: sample.Question
) -> None:
    outcome = await research(
        question.text, settings.model_copy(update={"as_of": date(2026, 11, 15)})
    )
    report = outcome.report
    assert report is not None
    lead = re.sub(r"\d{4}-\d\d-\d\d", "", " ".join(sentence.text for sentence in report.answer))
    assert all(says(lead, answer) for answer in question.answers)
    held = [
        item.hypothesis.statement
        for item in report.hypotheses
        if item.status is HypothesisStatus.SUPPORTED
    ]
    assert not [
        wrong for wrong in question.must_not if any(says(statement, wrong) for statement in held)
    ]
    if not question.answers:
        assert outcome.run.status is RunStatus.NOT_ANSWERED
        assert lead.startswith(UNSURE)
    store = open_store(settings)
    for citation in report.citations:
        text = store.texts.get(citation.passage.snapshot)
        assert text[citation.passage.start : citation.passage.end] == citation.quote
    again = await replay(outcome.run.id, settings)
    assert again.report is not None
    assert again.report.hash == report.hash


def says(text: str, words: str) -> bool:
    """Whether the words stand in a text as words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


async def test_a_replay_needs_no_documents_any_more(settings: Settings, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    paper = documents / "paper.txt"
    paper.write_text("Holm Works is owned by Anna Holm. Anna Holm bought Holm Works in 1998.")
    mine = load({**settings.model_dump(), "documents": (documents,)})
    outcome = await research("Who owns Holm Works?", mine)
    paper.unlink()
    documents.rmdir()
    again = await replay(outcome.run.id, mine)
    assert outcome.report is not None
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_an_unfinished_run_is_not_replayed(settings: Settings) -> None:
    outcome = await research(QUESTION, settings)
    store = open_store(settings)
    store.runs.set_status(outcome.run.id, RunStatus.STOPPED)
    with pytest.raises(UsageError, match="deepdiver resume"):
        await replay(outcome.run.id, settings)


async def test_a_report_that_was_tampered_with_does_not_replay(settings: Settings) -> None:
    outcome = await research(QUESTION, settings)
    assert outcome.report is not None
    store = open_store(settings)
    forged = outcome.report.model_copy(update={"confidence": 0.12})
    store.records.save_report(outcome.run.id, forged.model_dump_json())
    with pytest.raises(DeepdiverError, match="gave another report"):
        await replay(outcome.run.id, settings)


async def test_a_finished_run_is_not_run_again(settings: Settings) -> None:
    outcome = await research(QUESTION, settings)
    events: list[Any] = []
    again = await resume(outcome.run.id, settings, on_event=events.append)
    assert events == []
    assert again.report == outcome.report


async def test_an_unknown_run_is_said_to_be_unknown(settings: Settings) -> None:
    for act in (resume, replay):
        with pytest.raises(UnknownNameError):
            await act("20200101-nothing-00000000", settings)


async def test_a_run_keeps_its_settings_when_it_goes_on(settings: Settings) -> None:
    outcome = await research(QUESTION, settings)
    store = open_store(settings)
    store.runs.set_status(outcome.run.id, RunStatus.STOPPED)
    bare = load({"home": settings.home})
    again = await resume(outcome.run.id[:14], bare)
    assert again.report is not None
    assert outcome.report is not None
    assert again.report.hash == outcome.report.hash


async def test_a_key_that_came_or_went_changes_nothing(settings: Settings) -> None:
    auto = load({**settings.model_dump(), "search": ["auto"], "urls": NOWHERE})
    outcome = await research(QUESTION, auto)
    assert outcome.run.settings["search"] == ["duckduckgo?", "library", "wikipedia?"]
    assert outcome.report is not None
    assert sum("was not searched: 127.0.0.1:9" in line for line in outcome.report.limits) == 2
    richer = load({"home": settings.home, "keys": {"tavily": "tvly-new"}})
    again = await replay(outcome.run.id, richer)
    assert again.report is not None
    assert outcome.report is not None
    assert again.report.hash == outcome.report.hash


# The web, from a server of this machine


def web_of(server: ScriptedServer, home: Path, **more: Any) -> Settings:
    """Return the settings of a run that reads a scripted web with a scripted model."""
    return load(
        {
            "home": home,
            "model": "openai:made",
            "keys": {"openai": "key-of-nobody"},
            "urls": {"openai": server.openai, "searxng": server.url},
            "prices": {"openai:made": {}},
            "search": ["searxng"],
            "allow_hosts": [f"127.0.0.1:{server.port}"],
            "limits": {"fetch": {"rate": 1000, "concurrent": 8}},
            **more,
        }
    )


async def test_pages_are_read_whole_and_a_replay_needs_none_of_them(tmp_path: Path) -> None:
    with ScriptedServer(popper_brain(rounds=1), made_search(local=True), made_page()) as server:
        settings = web_of(server, tmp_path)
        outcome = await research("How many crates did the harbour office of Lund count?", settings)
        read = {entry.path for entry in server.log if entry.path.startswith("/page/")}
    assert outcome.report is not None
    assert outcome.report.citations
    assert read, "no page was fetched"
    with closing(open_sqlite(tmp_path)) as store:
        records = store.records.ledger(outcome.run.id)
        sources = [
            Source.model_validate_json(text) for kind, _, text in records if kind == "source"
        ]
        assert all(
            source.url.startswith(f"http://127.0.0.1:{server.port}/page/") for source in sources
        )
        for citation in outcome.report.citations:
            span = slice(citation.passage.start, citation.passage.end)
            assert store.texts.get(citation.passage.snapshot)[span] == citation.quote
        assert max(len(store.texts.get(source.snapshot)) for source in sources) > 250, (
            "the extracts have 200 characters"
        )
    again = await replay(outcome.run.id, settings)  # the server is gone
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_a_host_that_the_user_did_not_allow_is_not_read_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    with ScriptedServer(popper_brain(rounds=1), made_search(local=True), made_page()) as server:
        settings = web_of(server, tmp_path, allow_hosts=[])
        outcome = await research("How many crates did the harbour office of Lund count?", settings)
        assert not [entry for entry in server.log if entry.path.startswith("/page/")]
    assert outcome.report is not None
    assert any(
        "is refused" in line and "only what searxng shows of it" in line
        for line in outcome.report.limits
    )
