"""Recalling past runs.

Only when asked, the same again in every resume and replay, and never as evidence.
"""

from __future__ import annotations

import contextlib
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.events import HypothesisProposed, Recalled, TaskPerformed
from deepdiver.core.identity import content_id, digest
from deepdiver.core.record import HypothesisStatus, Lead, Report, RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import NotJournalledError, UnknownNameError
from deepdiver.gateway import Gateway, Mode
from deepdiver.memory.forgotten import FILE, save_forgotten
from deepdiver.memory.recall import (
    BYTES,
    CHARS,
    CLAIMS,
    LEADS,
    Recollection,
    past_runs_note,
    recall,
    recollect,
    show_past_runs,
    unfollowed_leads,
)
from deepdiver.report.markdown import render_markdown
from deepdiver.run import Outcome, replay, research, resume
from deepdiver.store import CallState, open_store
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.memory.made import (
    ANNA,
    BERTIL,
    OWNER,
    REGISTER,
    begin,
    evidence_of,
    finding_of,
    finish,
    hypothesis_of,
    keep,
    searched,
    source_of,
    trial_of,
)

pytestmark = pytest.mark.usefixtures("read_once")

LATER = "2026-03-31T09:00:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return open_sqlite(tmp_path / "store")


def door(store: SqliteStore, run: str = "now", mode: Mode = Mode.LIVE) -> Gateway:
    return Gateway(
        store,
        run,
        load({"home": store.database.file.parent, "retries": 0}),
        lambda event: None,
        mode=mode,
    )


async def recalled(
    store: SqliteStore,
    question: str = OWNER,
    notes: list[str] | None = None,
    limit: int = 5,
    **settings: Any,
) -> list[Recollection]:
    run = begin(store, "now", question, LATER, **settings)
    return await recall(
        question, run, store, door(store), limit, notes.append if notes is not None else None
    )


# -- what cannot be recalled


async def test_an_empty_store_recalls_nothing(store: SqliteStore) -> None:
    assert await recalled(store) == []


async def test_a_run_about_something_else_is_not_recalled(store: SqliteStore) -> None:
    finish(
        store,
        "fire",
        "How many were injured in the fire?",
        accepted=["Six people were injured."],
        refuted={},
    )
    assert await recalled(store) == []


@pytest.mark.parametrize(
    "status",
    [RunStatus.RUNNING, RunStatus.STOPPED, RunStatus.WAITING, RunStatus.FAILED],
    ids=lambda status: status.value,
)
async def test_an_unfinished_run_is_not_recalled(store: SqliteStore, status: RunStatus) -> None:
    finish(store, "r1")
    store.runs.set_status("r1", status)
    assert await recalled(store) == []


async def test_a_run_begun_later_is_not_recalled_nor_the_run_itself(store: SqliteStore) -> None:
    finish(store, "earlier")
    run = begin(store, "now", OWNER, LATER)
    finish(store, "same-second", "Who owns the Holm Works?", LATER)
    finish(store, "later", "Who owns Holm Works now?", "2026-04-01T00:00:00+00:00")
    found = await recall(OWNER, run, store, door(store))
    assert [item.run for item in found] == ["earlier"]


OLD_REPORTS = {
    "none": None,
    "not JSON": "{",
    "not a report": "[]",
    "half a report": '{"question": "Who owns Holm Works?"}',
    "of a version with other fields": '{"question":"q","status":"answered","answer":[],'
    '"confidence":1,"mood":"good"}',
}


@pytest.mark.parametrize("text", OLD_REPORTS.values(), ids=OLD_REPORTS.keys())
async def test_a_run_whose_report_cannot_be_read_is_left_out_with_a_note(
    store: SqliteStore, text: str | None
) -> None:
    finish(store, "good", "Who owns Holm Works now?")
    if text is None:
        begin(store, "bad")
        store.runs.set_status("bad", RunStatus.ANSWERED)
    else:
        finish(store, "bad")
        store.records.save_report("bad", text)
    notes: list[str] = []
    assert [item.run for item in await recalled(store, notes=notes)] == ["good"]
    assert notes == ["past runs left out because their record cannot be read: bad"]


async def test_a_ledger_of_another_version_is_left_out_too(store: SqliteStore) -> None:
    finish(store, "bad")
    store.records.add("bad", [("finding", "f_1", '{"id":"f_1","said":"so"}')])
    notes: list[str] = []
    assert await recalled(store, notes=notes) == []
    assert "bad" in notes[0]


async def test_a_kind_of_record_that_is_not_known_is_passed_over(store: SqliteStore) -> None:
    finish(store, "r1")
    store.records.add("r1", [("dream", "d_1", "{}")])
    assert len(await recalled(store)) == 1


def damage(store: SqliteStore, table: str, run: str) -> None:
    column = "run" if table != "runs" else "id"
    query = f"UPDATE {table} SET json = x'00112233' WHERE {column} = ?"  # noqa: S608
    store.database.connection.execute(query, (run,))


@pytest.mark.parametrize("table", ["reports", "records"])
async def test_a_damaged_past_run_costs_its_own_recollection_and_nothing_else(
    store: SqliteStore, table: str
) -> None:
    finish(store, "bad")
    finish(store, "good", "Who owns Holm Works now?")
    damage(store, table, "bad")
    if table == "records":
        store.database.connection.execute("DELETE FROM records WHERE run = 'bad' AND id LIKE 'h_%'")
        store.database.connection.execute("UPDATE records SET json = x'ff' WHERE run = 'bad'")
    notes: list[str] = []
    assert [item.run for item in await recalled(store, notes=notes)] == ["good"]
    assert "bad" in notes[0]


async def test_a_store_that_cannot_be_looked_through_is_said_and_the_run_goes_on(
    store: SqliteStore,
) -> None:
    finish(store, "bad")
    damage(store, "runs", "bad")
    notes: list[str] = []
    assert await recalled(store, notes=notes) == []
    assert "could not be looked through" in notes[0]


def test_a_run_that_is_not_there_any_more_is_said_to_be_unknown(store: SqliteStore) -> None:
    run = begin(store, "now", OWNER, LATER)
    with pytest.raises(UnknownNameError, match="unknown run 'gone'"):
        recollect("gone", run, store)


# -- what is recalled


async def test_a_run_that_bears_is_recalled_with_all_that_it_teaches(store: SqliteStore) -> None:
    finish(store, "r1")
    searched(store, "r1", "Holm Works owner", [{"url": "doc:register"}])
    searched(store, "r1", "Holm Works boats", [])
    (item,) = await recalled(store, "Who is the owner of Holm Works?")
    assert item.run == "r1"
    assert item.question == OWNER
    assert (item.date, item.days) == ("2026-03-01", 30)
    assert item.status is RunStatus.ANSWERED
    assert (item.answer, item.confidence) == (REGISTER, 0.91)
    assert item.accepted == (ANNA,)
    assert [(one.statement, one.by) for one in item.refuted] == [(BERTIL, REGISTER)]
    assert item.fruitful == ("Holm Works owner",)
    assert item.fruitless == ("Holm Works boats",)
    assert [(s.title, s.url, s.credibility) for s in item.sources] == [
        ("Register", "doc:register", 0.9)
    ]


async def test_leads_that_nobody_followed_are_recalled(store: SqliteStore) -> None:
    finish(store, "r1")
    searched(store, "r1", "where does cleo Lind live", [])
    searched(store, "r1", "https://a.example/read", {"redirect": "x"}, kind="fetch")
    leads = [
        Lead.of("name", "Bertil Ask"),
        Lead.of("name", "Cleo Lind"),
        Lead.of("query", "cellar books"),
        Lead.of("url", "https://www.a.example/read#part"),
        Lead.of("url", "https://a.example/unread"),
        Lead.of("query", "x" * (CHARS + 1)),
    ]
    keep(store, "r1", *leads)
    (item,) = await recalled(store)
    assert {(lead.kind, lead.text) for lead in item.leads} == {
        ("name", "Bertil Ask"),
        ("query", "cellar books"),
        ("url", "https://a.example/unread"),
    }
    held = item.model_dump(mode="json")
    assert unfollowed_leads([held, held]) == [lead.model_dump() for lead in item.leads], "each once"
    assert unfollowed_leads([]) == []
    (view,) = show_past_runs([held])
    assert set(view.leads) == {"Bertil Ask", "cellar books"}
    assert "a.example" not in view.model_dump_json(), "a task sees no address of a past run"


async def test_of_many_leads_some_are_recalled(store: SqliteStore) -> None:
    finish(store, "r1")
    keep(store, "r1", *(Lead.of("query", f"query number {n}") for n in range(3 * LEADS)))
    (item,) = await recalled(store)
    assert len(item.leads) == LEADS


async def test_what_was_not_accepted_is_no_answer(store: SqliteStore) -> None:
    finish(store, "r1", status=RunStatus.PARTIAL)
    (item,) = await recalled(store)
    assert (item.status, item.answer, item.confidence) == (RunStatus.PARTIAL, "", 0.0)
    assert item.sources, "what it cited is still told"


async def test_a_run_that_found_nothing_teaches_which_queries_bring_nothing(
    store: SqliteStore,
) -> None:
    finish(store, "r1", status=RunStatus.NO_EVIDENCE, accepted=(), refuted={})
    searched(store, "r1", "Holm Works", [])
    (item,) = await recalled(store)
    assert (item.accepted, item.refuted, item.fruitless) == ((), (), ("Holm Works",))


@pytest.mark.parametrize(
    ("mine", "its", "days"),
    [
        ({}, {}, 30),
        ({"as_of": "2026-05-01"}, {}, 61),
        ({"as_of": "2026-05-01"}, {"as_of": "2026-04-30"}, 1),
        ({"as_of": "2026-01-01"}, {}, 0),
    ],
    ids=[
        "by the days they began",
        "on another day",
        "each on its own day",
        "a day before it is no age",
    ],
)
async def test_age_is_counted_between_the_days_that_counted_as_today(
    store: SqliteStore, mine: dict[str, Any], its: dict[str, Any], days: int
) -> None:
    finish(store, "r1", **its)
    (item,) = await recalled(store, **mine)
    assert item.days == days


async def test_the_strongest_finding_against_a_hypothesis_is_named(store: SqliteStore) -> None:
    finish(store, "r1")
    source = source_of("doc:notice", "Notice")
    denial = finding_of(source, "The authority denies that Bertil Ask owns Holm Works.")
    refuted = hypothesis_of(BERTIL, HypothesisStatus.REFUTED, 0.1).hypothesis
    keep(
        store,
        "r1",
        source,
        denial,
        evidence_of(refuted.id, denial.id, 0.95),
        evidence_of(refuted.id, "f_gone", 1.0),
    )
    (item,) = await recalled(store)
    assert item.refuted[0].by == denial.statement


async def test_queries_are_told_by_what_they_brought(store: SqliteStore) -> None:
    finish(store, "r1")
    other = source_of("doc:other", "Other")
    keep(
        store,
        "r1",
        other,
        finding_of(other, "Holm Works employs 12 people."),
        trial_of("h_1", "Holm Works not owned"),
    )
    searched(store, "r1", "carries", {"results": [{"url": "doc:register", "content": "x"}]})
    searched(store, "r1", "quotes", f"A tool says: {REGISTER} So there.", kind="tool")
    searched(store, "r1", "helps", ["doc:other"])
    searched(store, "r1", "brings what nobody used", ["doc:nowhere"])
    searched(store, "r1", "brings nothing", [])
    searched(store, "r1", "could not be made", None, failed=True)
    searched(store, "r1", "Holm Works not owned", [])
    (item,) = await recalled(store)
    assert item.fruitful == ("carries", "quotes")
    assert item.fruitless == ("brings nothing", "brings what nobody used")


async def test_a_call_that_is_no_search_is_no_query(store: SqliteStore) -> None:
    finish(store, "r1")
    store.journal.reserve(
        "r1",
        "k",
        kind="search",
        provider="library",
        what="open the library",
        request='{"open":["/x"]}',
        worst=Decimal(0),
        now=0.0,
    )
    store.journal.mark_sent("r1", "k", 0.0)
    store.journal.settle(
        "r1", "k", '{"value":{"documents":3},"cost":"0","usage":{}}', Decimal(0), 0.0
    )
    searched(store, "r1", "a page", "text", kind="fetch")
    (item,) = await recalled(store)
    assert (item.fruitful, item.fruitless) == ((), ())


async def test_at_most_so_many_runs_as_wanted(store: SqliteStore) -> None:
    for number in range(8):
        finish(store, f"r{number}", f"Who owns Holm Works, case {number}?")
    assert len(await recalled(store, limit=3)) == 3


async def test_what_is_recalled_stays_within_its_size(store: SqliteStore) -> None:
    long = "Holm Works is owned by " + "somebody of a very long name " * 50
    for number in range(8):
        claims = [f"{number} {n} {long}" for n in range(12)]
        finish(
            store,
            f"r{number}",
            f"Who owns Holm Works, case {number}?",
            accepted=claims,
            refuted=dict.fromkeys(claims, long),
        )
        for n in range(12):
            searched(store, f"r{number}", f"query {n} {long}", [])
    found = await recalled(store, limit=8)
    assert found
    assert all(len(item.accepted) <= CLAIMS and len(item.refuted) <= CLAIMS for item in found)
    assert all(
        len(text) <= CHARS
        for item in found
        for text in (*item.accepted, *item.fruitless, item.question)
    )
    views = show_past_runs(item.model_dump(mode="json") for item in found)
    assert sum(len(view.model_dump_json().encode()) for view in views) <= BYTES


# -- the same again


async def test_what_was_recalled_is_recalled_again_from_the_journal_alone(
    store: SqliteStore,
) -> None:
    finish(store, "r1")
    notes: list[str] = []
    first = await recalled(store, notes=notes)
    store.runs.delete("r1", 0.0)
    finish(store, "r0", created="2026-02-01T00:00:00+00:00")
    run = store.runs.get("now")
    assert await recall(OWNER, run, store, door(store)) == first, "a resumed run"
    assert await recall(OWNER, run, store, door(store, mode=Mode.REPLAY)) == first, "a replay"


async def test_a_note_is_told_again_by_a_replay(store: SqliteStore) -> None:
    finish(store, "bad")
    store.records.save_report("bad", "{")
    first: list[str] = []
    await recalled(store, notes=first)
    again: list[str] = []
    await recall(
        OWNER, store.runs.get("now"), store, door(store, mode=Mode.REPLAY), note=again.append
    )
    assert again == first != []


async def test_a_replay_of_a_run_that_recalled_nothing_does_not_look(store: SqliteStore) -> None:
    finish(store, "r1")
    run = begin(store, "now", OWNER, LATER)
    with pytest.raises(NotJournalledError):
        await recall(OWNER, run, store, door(store, mode=Mode.REPLAY))


async def test_a_recall_that_was_cut_off_is_made_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> Any:
        raise RuntimeError("the process dies")

    finish(store, "r1")
    run = begin(store, "now", OWNER, LATER)
    with monkeypatch.context() as patch:
        patch.setattr(store.runs, "list_past", die)
        with pytest.raises(RuntimeError, match="the process dies"):
            await recall(OWNER, run, store, door(store))
    assert [row.state for row in store.journal.rows("now")] == [CallState.SENT]
    assert [item.run for item in await recall(OWNER, run, store, door(store))] == ["r1"]
    assert [row.state for row in store.journal.rows("now")] == [CallState.SETTLED]


async def test_it_goes_through_the_gateway_and_is_never_shared_between_runs(
    store: SqliteStore,
) -> None:
    finish(store, "r1")
    await recalled(store)
    (row,) = store.journal.rows("now")
    assert (row.kind, row.provider, row.state) == ("tool", "memory", CallState.SETTLED)
    assert json.loads(row.request) == {"before": LATER, "limit": 5, "question": OWNER}
    assert store.cache.get(row.key, 0.0) is None


# -- as tasks and reports see it


def recollection(**changes: Any) -> dict[str, Any]:
    values = {
        "run": "r1",
        "question": OWNER,
        "date": "2026-03-01",
        "days": 30,
        "status": "answered",
        **changes,
    }
    return Recollection.model_validate(values).model_dump(mode="json")


def test_a_task_sees_neither_ids_nor_addresses() -> None:
    held = recollection(
        sources=[{"title": "Register", "url": "doc:register", "credibility": 0.9}], run="20260301-x"
    )
    (view,) = show_past_runs([held])
    assert view.id == "P1"
    assert view.sources == ("Register",)
    text = view.model_dump_json()
    assert "doc:register" not in text
    assert "20260301-x" not in text


def test_the_report_names_every_run_that_was_built_on_with_its_age() -> None:
    (line,) = past_runs_note(
        [recollection(), recollection(run="r2", days=1), recollection(run="r3", days=0)]
    )
    assert "r1 (30 days old), r2 (1 day old), r3 (of the same day)" in line
    assert past_runs_note([]) == ()


@given(st.text(max_size=2_000), st.text(max_size=2_000))
def test_whatever_was_said_becomes_a_view_that_survives_the_state(statement: str, by: str) -> None:
    held = recollection(accepted=[statement], refuted=[{"statement": statement, "by": by}])
    (view,) = show_past_runs(json.loads(json.dumps([held])))
    assert view.accepted == (statement.encode("utf-8", "replace").decode(),)


# -- in a run, over the sample library


CHILDREN = "How old are the children of the parents who run Svedjan Ost AB?"
TONNES = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
SEED = "What is the age of the children for the parents which run the company Svedjan Ost AB."
INJURED = "How many people were injured in the fire on the ferry Ejdervik on 8 February 2026?"
HURT = "How many people were hurt in the fire on the ferry Ejdervik?"
RUMOUR = "nine people were injured"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    flags = {"home": tmp_path / "home", "documents": (sample.LIBRARY,), "search": ["library"]}
    return load({**flags, "as_of": date(2026, 11, 15), "verbose": True})


async def asked(question: str, settings: Settings, **changes: Any) -> tuple[Outcome, list[Any]]:
    events: list[Any] = []
    outcome = await research(question, settings.model_copy(update=changes), on_event=events.append)
    return outcome, events


async def test_by_default_nothing_of_another_run_reaches_a_prompt(settings: Settings) -> None:
    first, _ = await asked(CHILDREN, settings)
    second, events = await asked(TONNES, settings)
    assert first.report is not None
    assert second.report is not None
    assert not [event for event in events if isinstance(event, Recalled)]
    rows = open_store(settings).journal.rows(second.run.id)
    assert "memory" not in {row.provider for row in rows}
    prompts = "\n".join(event.prompt for event in events if isinstance(event, TaskPerformed))
    assert prompts
    assert "<<<past>>>" not in prompts
    assert CHILDREN not in prompts
    assert first.run.id not in render_markdown(second.report)


async def test_asked_for_it_is_announced_shown_and_said_in_the_report(settings: Settings) -> None:
    first, _ = await asked(CHILDREN, settings)
    second, events = await asked(TONNES, settings, past=True, as_of=date(2026, 12, 15))
    told = [event for event in events if isinstance(event, Recalled)]
    assert [(event.run, event.days, event.question) for event in told] == [
        (first.run.id, 30, CHILDREN)
    ]
    shown_to = {
        event.task
        for event in events
        if isinstance(event, TaskPerformed) and "<<<past>>>" in event.prompt
    }
    assert shown_to == {"decompose", "write_queries", "hypothesise"}
    assert second.report is not None
    assert second.run.status is RunStatus.ANSWERED
    assert "38 tonnes" in second.report.answer[0].text
    assert f"hints were taken from {first.run.id} (30 days old)" in render_markdown(second.report)


async def test_nothing_of_memory_is_evidence(settings: Settings) -> None:
    """The second run searches other documents.

    What it recalls can neither be found nor cited in them.
    """
    await asked(CHILDREN, settings)
    folder = settings.home.parent / "other"
    folder.mkdir()
    (folder / "note.txt").write_text(
        "Svedjan Ost AB sells cheese at the market in Orrmyra on Saturdays."
    )
    second, events = await asked(SEED, settings, past=True, documents=(folder,))
    assert [event for event in events if isinstance(event, Recalled)]
    assert second.report is not None
    assert second.run.status is not RunStatus.ANSWERED
    assert not [
        event
        for event in events
        if isinstance(event, HypothesisProposed) and "Kvarnlöf" in event.statement
    ]
    assert "Kvarnlöf" not in "".join(
        text for _, _, text in open_store(settings).records.ledger(second.run.id)
    )


async def test_what_was_refuted_before_is_put_to_the_test_again(
    settings: Settings,
) -> None:
    with contextlib.closing(open_store(settings)) as store:
        finish(store, "r1", INJURED, refuted={f"After the fire {RUMOUR}.": "Six were injured."})
    second, events = await asked(HURT, settings, past=True)
    prompts = [e.prompt for e in events if isinstance(e, TaskPerformed) and e.task == "hypothesise"]
    assert RUMOUR in prompts[0]
    assert second.report is not None
    (again,) = [h for h in second.report.hypotheses if RUMOUR in h.hypothesis.statement]
    assert again.trials > 0
    assert again.status is not HypothesisStatus.SUPPORTED


async def test_an_answer_that_is_out_of_date_is_not_taken_over(settings: Settings) -> None:
    """Hjalmar was 12 in November and is 13 in December.

    The past answer is a hint, and the sources decide.
    """
    await asked(CHILDREN, settings)
    second, _ = await asked(SEED, settings, past=True, as_of=date(2026, 12, 15))
    assert second.report is not None
    lead = " ".join(sentence.text for sentence in second.report.answer)
    assert "Hjalmar Kvarnlöf is 13" in lead
    assert "Hjalmar Kvarnlöf is 12" not in lead


async def test_it_replays_to_the_same_report_after_the_past_run_was_deleted(
    settings: Settings,
) -> None:
    first, _ = await asked(CHILDREN, settings)
    second, _ = await asked(SEED, settings, past=True)
    open_store(settings).runs.delete(first.run.id, 0.0)
    events: list[Any] = []
    again = await replay(second.run.id, settings, on_event=events.append)
    assert second.report is not None
    assert again.report is not None
    assert again.report.hash == second.report.hash
    assert [event.run for event in events if isinstance(event, Recalled)] == [first.run.id]


async def test_a_resumed_run_builds_on_what_it_built_on_before(settings: Settings) -> None:
    first, _ = await asked(CHILDREN, settings)
    second, _ = await asked(TONNES, settings, past=True)
    store = open_store(settings)
    store.runs.set_status(second.run.id, RunStatus.STOPPED)
    store.runs.delete(first.run.id, 0.0)
    # The wish to build on past runs is the run's own.
    again = await resume(second.run.id, load({"home": settings.home}))
    assert again.report is not None
    assert second.report is not None
    assert again.report.hash == second.report.hash
    assert first.run.id in again.report.limits[0]


async def test_a_past_run_that_cannot_be_read_is_said_in_the_report(settings: Settings) -> None:
    first, _ = await asked(CHILDREN, settings)
    open_store(settings).records.save_report(first.run.id, "{}")
    second, _ = await asked(TONNES, settings, past=True)
    assert second.report is not None
    assert (
        f"past runs left out because their record cannot be read: {first.run.id}"
        in second.report.limits
    )


# -- one named run


async def test_a_named_run_is_recalled_whatever_it_asked_and_no_other(store: SqliteStore) -> None:
    finish(store, "first", "What does the gate of the mill look like?")
    finish(store, "second", OWNER)
    now = begin(store, "now", OWNER, LATER)
    assert [item.run for item in await recall(OWNER, now, store, door(store), only="first")] == [
        "first"
    ]


async def test_a_named_run_that_is_gone_is_told(store: SqliteStore) -> None:
    now = begin(store, "now", OWNER, LATER)
    told: list[str] = []
    assert await recall(OWNER, now, store, door(store), note=told.append, only="gone") == []
    assert told == ["past runs left out because their record cannot be read: gone"]


async def test_a_named_run_is_another_question_to_the_journal(store: SqliteStore) -> None:
    finish(store, "first", OWNER)
    now = begin(store, "now", OWNER, LATER)
    await recall(OWNER, now, store, door(store), only="first")
    with pytest.raises(NotJournalledError):
        await recall(OWNER, now, store, door(store, mode=Mode.REPLAY))
    assert await recall(OWNER, now, store, door(store, mode=Mode.REPLAY), only="first")


# -- what is checked again, and what is forgotten


def lose(store: SqliteStore, text: str) -> None:
    """Lose the saved text of a quote."""
    with store.database.write() as db:
        db.execute("DELETE FROM blobs WHERE hash = ?", (digest(text),))


async def test_the_findings_of_an_answer_come_with_their_provenance(store: SqliteStore) -> None:
    finish(store, "r1")
    (item,) = await recalled(store)
    (finding,) = item.findings
    assert (finding.id, finding.statement) == (content_id("f", REGISTER), REGISTER)
    assert (finding.source, finding.url) == ("Register", "doc:register")
    (shown,) = show_past_runs([item.model_dump(mode="json")])
    assert [(one.statement, one.source) for one in shown.findings] == [(REGISTER, "Register")]
    assert "doc:register" not in shown.model_dump_json()


async def test_what_stood_on_a_lost_text_is_not_offered_and_that_is_said(
    store: SqliteStore,
) -> None:
    finish(store, "r1")
    lose(store, REGISTER)
    notes: list[str] = []
    (item,) = await recalled(store, notes=notes)
    assert (item.answer, item.confidence, item.findings) == ("", 0.0, ())
    assert item.question == OWNER
    assert notes == ["hints left out because their quotes are not in the saved texts: of r1"]


async def test_a_hypothesis_whose_evidence_is_lost_is_not_offered(store: SqliteStore) -> None:
    finish(store, "r1")
    against = content_id("f", "Bertil sold it.")
    keep(store, "r1", finding_of(source_of("doc:b", "B"), "Bertil sold it."))
    text = store.records.report("r1")
    assert text is not None
    report = Report.model_validate_json(text)
    changed = [
        one.model_copy(update={"refuting": (against,)})
        if one.status is HypothesisStatus.REFUTED
        else one
        for one in report.hypotheses
    ]
    judged = report.model_copy(update={"hypotheses": tuple(changed)})
    store.records.save_report("r1", judged.model_dump_json())
    run = begin(store, "now", OWNER, LATER)
    whole, lost = recollect("r1", run, store)
    assert ([one.statement for one in whole.refuted], lost) == ([BERTIL], False)
    lose(store, "Bertil sold it.")
    less, lost = recollect("r1", run, store)
    assert (less.refuted, less.accepted, lost) == ((), (ANNA,), True)


async def test_a_forgotten_run_is_not_recalled(store: SqliteStore) -> None:
    finish(store, "r1")
    save_forgotten(store.database.file.parent, ["r1"])
    assert await recalled(store) == []


async def test_a_forgotten_finding_takes_what_stood_on_it_along(store: SqliteStore) -> None:
    finish(store, "r1")
    save_forgotten(store.database.file.parent, [content_id("f", REGISTER), content_id("h", ANNA)])
    notes: list[str] = []
    (item,) = await recalled(store, notes=notes)
    assert (item.answer, item.findings, item.accepted) == ("", (), ())
    assert [one.statement for one in item.refuted] == [BERTIL]
    assert notes == [], "the user has asked for it"


async def test_a_damaged_list_of_what_is_forgotten_recalls_nothing(store: SqliteStore) -> None:
    finish(store, "r1")
    (store.database.file.parent / FILE).write_text("{", encoding="utf-8")
    notes: list[str] = []
    assert await recalled(store, notes=notes) == []
    assert "could not be looked through" in notes[0]


def test_a_run_without_findings_is_shown_as_it_was_before_they_existed() -> None:
    bare = {"run": "r", "question": "Who?", "date": "2026-03-01", "days": 3, "status": "answered"}
    (shown,) = show_past_runs([bare])
    assert "findings" not in shown.model_dump()
