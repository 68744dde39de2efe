"""Asking about a run, and checking its report again.

First what is not there, or was tampered with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.core.record import FINISHED, Finding, Report, RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import CallError, UnknownNameError, UsageError
from deepdiver.run import research
from deepdiver.run.begin import new_run
from deepdiver.run.record import load_ledger
from deepdiver.run.review import MOST_FINDINGS, ask_about, check_again
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from deepdiver.strategies.table import TABLE

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "Who runs Svedjan Ost AB, and when did they start it?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "store", "documents": (sample.LIBRARY,), "search": ["library"]})


@pytest.fixture
def store(settings: Settings) -> Iterator[SqliteStore]:
    with closing(open_sqlite(settings.home)) as store:
        yield store


@pytest.fixture
async def run(settings: Settings, store: SqliteStore) -> str:
    outcome = await research(QUESTION, settings, store=store)
    assert outcome.run.status is RunStatus.ANSWERED
    return outcome.run.id


async def test_a_run_that_is_not_there_and_a_question_that_is_none(
    settings: Settings, store: SqliteStore
) -> None:
    with pytest.raises(UnknownNameError):
        await ask_about("20261115-none", QUESTION, settings, store)
    with pytest.raises(UsageError, match="the question is empty"):
        await ask_about("20261115-none", "  ", settings, store)
    with pytest.raises(UnknownNameError):
        check_again("20261115-none", store)


async def test_a_run_that_found_nothing_says_nothing(
    settings: Settings, store: SqliteStore
) -> None:
    began = new_run(QUESTION, settings, store)
    told = await ask_about(began.id, QUESTION, settings, store)
    assert told.sentences == ()
    assert told.unmet == ()
    with pytest.raises(UsageError, match="is running and has no report yet"):
        check_again(began.id, store)


async def test_a_model_that_cannot_be_asked_is_an_error_and_not_an_answer(
    settings: Settings, store: SqliteStore, run: str
) -> None:
    held = store.runs.get(run)
    model = {
        **held.settings,
        "model": "openai:gpt-5-mini",
        "urls": {"openai": "http://127.0.0.1:9/v1"},
        "retries": 0,
    }
    other = held.model_copy(update={"id": "20261115-by-a-model", "settings": model})
    store.runs.create(other)
    store.records.add(other.id, store.records.ledger(run))
    keyed = load({**settings.model_dump(), "keys": {"openai": "sk-0123456789"}})
    with pytest.raises(CallError, match="openai"):
        await ask_about(other.id, QUESTION, keyed, store)


@pytest.mark.parametrize(
    "question", ["What is the capital of France?", "Who owns the ferry Ejdervik?", "Why?"]
)
async def test_what_the_run_did_not_find_is_not_answered(
    settings: Settings, store: SqliteStore, run: str, question: str
) -> None:
    told = await ask_about(run, question, settings, store)
    assert told.sentences == ()


async def test_what_the_run_found_is_answered_from_its_quotes(
    settings: Settings, store: SqliteStore, run: str
) -> None:
    told = await ask_about(run, "When was Svedjan Ost AB founded?", settings, store)
    assert told.run.id == run
    assert "2009" in " ".join(sentence.text for sentence in told.sentences)
    assert told.unmet == ("founded",), "the source says that they started it"
    quotes = {
        quote.text
        for finding in load_ledger(store, run).of(Finding).values()
        for quote in finding.quotes
    }
    cited = {number for sentence in told.sentences for number in sentence.citations}
    assert cited
    assert {item.quote for item in told.report.citations if item.number in cited} <= quotes


async def test_a_question_changes_nothing_on_record(
    settings: Settings, store: SqliteStore, run: str
) -> None:
    def everything() -> object:
        return (
            store.runs.list_all(),
            store.records.report(run),
            store.records.ledger(run),
            store.records.events(run),
            store.journal.rows(run),
        )

    before = everything()
    await ask_about(run, QUESTION, settings, store)
    assert everything() == before


async def test_of_many_findings_those_near_the_question_are_looked_at(
    settings: Settings, store: SqliteStore, run: str
) -> None:
    ledger = load_ledger(store, run)
    one = next(iter(ledger.of(Finding).values()))
    texts = [f"Vat {number} was cleaned." for number in range(300)]
    quotes = [one.quotes[0].model_copy(update={"text": text}) for text in texts]
    many = [Finding(id=f"f_{n:04}", statement=texts[n], quotes=(quotes[n],)) for n in range(300)]
    store.records.add(run, [("finding", finding.id, finding.model_dump_json()) for finding in many])
    assert len(load_ledger(store, run).of(Finding)) > MOST_FINDINGS
    told = await ask_about(run, "When was Svedjan Ost AB founded?", settings, store)
    assert "2009" in " ".join(sentence.text for sentence in told.sentences)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", list(TABLE))
async def test_every_report_passes_again(
    settings: Settings, store: SqliteStore, strategy: str
) -> None:
    outcome = await research(
        QUESTION, settings.model_copy(update={"strategy": strategy}), store=store
    )
    assert outcome.run.status in FINISHED
    checked = check_again(outcome.run.id, store)
    assert checked.faults == ()
    assert checked.sentences > 0
    assert checked.report == outcome.report


async def test_a_report_that_was_tampered_with_does_not(store: SqliteStore, run: str) -> None:
    text = store.records.report(run)
    assert text is not None
    report = json.loads(text)
    report["answer"][0]["text"] = "Greta Almstubbe has run Svedjan Ost AB since 1987."
    report["citations"][0]["passage"]["start"] += 3
    report["citations"][0]["passage"]["end"] += 3
    blocks = [block for section in report["sections"] for block in section.get("blocks", ())]
    rows = [row for block in blocks for row in block["rows"]]
    cited = [line for row in rows for line in row if line["citations"]]
    cited[0]["citations"] = [99]
    store.records.save_report(run, Report.model_validate(report).model_dump_json())
    told = "\n".join(check_again(run, store).faults)
    assert "[1] the quote" in told
    assert "does not stand in its source" in told
    assert "1987" in told
    assert "is in none of its quotes" in told
    assert "its citation is not in the list" in told


async def test_a_text_that_is_lost_is_not_taken_for_a_false_quote(
    store: SqliteStore, run: str
) -> None:
    sound = check_again(run, store)
    with store.database.write() as db:
        db.execute("UPDATE blobs SET bytes = x'00'")
    checked = check_again(run, store)
    assert "does not stand" not in str(checked.faults)
    lost = [fault for fault in checked.faults if "the saved text" in fault]
    assert len(checked.faults) == len(sound.report.citations) + sound.sentences
    for fault, item in zip(checked.faults, sound.report.citations, strict=False):
        assert fault.startswith(f"[{item.number}] {item.title} ({item.url}): the saved text ")
        assert f"of run {run} is damaged in " in fault
    assert len(lost) == len(checked.faults)


async def test_a_finding_that_is_gone_is_a_fault(store: SqliteStore, run: str) -> None:
    text = store.records.report(run)
    assert text is not None
    report = json.loads(text)
    report["answer"][0]["findings"] = ["f_gone"]
    store.records.save_report(run, Report.model_validate(report).model_dump_json())
    assert any("a finding that does not exist" in fault for fault in check_again(run, store).faults)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"source": "s_0"}, "its source s_0 is not on record"),
        ({"url": "https://invented.example/"}, "its address is not that of the source on record"),
        ({"title": "The Law"}, "its title is not that of the source on record"),
        ({"where": "page 900"}, "its place is not that of the source on record"),
    ],
)
async def test_a_citation_that_says_otherwise_than_its_source_is_a_fault(
    store: SqliteStore, run: str, change: dict[str, str], fault: str
) -> None:
    text = store.records.report(run)
    assert text is not None
    report = json.loads(text)
    report["citations"][0] |= change
    store.records.save_report(run, Report.model_validate(report).model_dump_json())
    assert f"[1] {fault}" in check_again(run, store).faults


async def test_a_citation_of_another_sentence_is_a_fault(store: SqliteStore, run: str) -> None:
    text = store.records.report(run)
    assert text is not None
    report = json.loads(text)
    (other, *_) = report["citations"]
    other |= {"passage": other["passage"] | {"start": 0, "end": 1}}
    store.records.save_report(run, Report.model_validate(report).model_dump_json())
    told = "\n".join(check_again(run, store).faults)
    assert f"it cites [{other['label']}], which is not of its findings" in told
    assert "does not stand in its source" in told


async def test_a_sentence_that_was_word_for_word_its_quote_and_is_turned_is_a_fault(
    store: SqliteStore, run: str
) -> None:
    text = store.records.report(run)
    assert text is not None
    report = json.loads(text)
    blocks = [block for section in report["sections"] for block in section.get("blocks", ())]
    lines = [
        *report["answer"],
        *(line for block in blocks for row in block["rows"] for line in row),
    ]
    whole = [line for line in lines if (line.get("second_opinion") or {}).get("confidence") == 1.0]
    whole[0]["text"] = whole[0]["text"].rstrip(".") + ", which is not so."
    store.records.save_report(run, Report.model_validate(report).model_dump_json())
    told = check_again(run, store).faults
    assert any("word for word its quote, and is not" in fault for fault in told)
