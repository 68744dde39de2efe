"""What users can do with runs; the API's tests do the rest of it over HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver import sample
from deepdiver.core.events import RunEnded
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Price, Settings
from deepdiver.errors import LimitReachedError, RunBusyError, UnknownNameError, UsageError
from deepdiver.run.begin import queued_run
from deepdiver.service import library, runs, watches
from deepdiver.service.accounts import Account
from deepdiver.service.schemas import Answer, NewRun, Steer
from deepdiver.service.state import ServiceState, open_state
from tests.service.conftest import told
from tests.service.rig import QUESTION, service

ADA = Account("ada")


@pytest.mark.parametrize("name", ["", "bob"])
async def test_a_run_is_found_by_its_owner_alone(home: Path, name: str) -> None:
    async with service(home) as rig:
        assert runs.find_run(rig.state, ADA, told(home, "ada")).question == QUESTION
        with pytest.raises(UnknownNameError):
            runs.find_run(rig.state, Account(name), told(home, "ada"))
        assert runs.find_run(rig.state, Account(), told(home, "own")).question == QUESTION


async def test_models_are_those_of_the_service(tmp_path: Path) -> None:
    settings = Settings(model="openai:big", fast_model="openai:small", task_models={"write": "a:b"})
    assert runs.models_of(settings) == ("openai:big", "openai:small", "a:b", "embedded")
    async with service(tmp_path, settings=settings) as rig:
        asked = NewRun(question="Who?", model="embedded")
        made = runs.run_settings(rig.state, ADA, asked)
        assert (made.model, made.fast_model, made.task_models) == ("embedded", "", {})
        assert runs.run_settings(rig.state, ADA, NewRun(question="Who?")).model == "openai:big"
        with pytest.raises(UsageError, match="must be one of"):
            runs.run_settings(rig.state, ADA, NewRun(question="Who?", model="openai:huge"))


async def test_what_is_searched_where_nobody_chooses(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == (sample.LIBRARY,)
        folder = rig.state.folder_of(ADA)
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("A text.", encoding="utf-8")
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == made.documents_within == (Path("@home/files/ada"),)
        assert made.places(made.documents) == (folder,)
        assert str(tmp_path) not in str(made.public()), "where the home is concerns nobody"
        assert made.search == ("library",)
        assert library.has_files(rig.state, ADA)
        assert runs.usual_sources(rig.state, Account("bob")) == ("sample",)


async def test_documents_and_the_web_of_the_service(tmp_path: Path) -> None:
    settings = Settings(documents=(tmp_path,), search=("library", "wikipedia"))
    async with service(tmp_path / "home", settings=settings) as rig:
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == (tmp_path,)
        assert made.search == ("library", "wikipedia")
        only = NewRun(question="Who?", sources=("web",))
        made = runs.run_settings(rig.state, ADA, only)
        assert (made.documents, made.search) == ((), ("wikipedia",))


async def test_an_answer_that_says_nothing_is_none(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        run, _ = runs.create_run(rig.state, ADA, NewRun(question="Who?"))
        for said, why in (
            (Answer(action="edit"), "needs sub-questions or searches"),
            (Answer(action="add", constraints=" "), "take into account"),
        ):
            with pytest.raises(UsageError, match=why):
                runs.answer_run(rig.state, ADA, run.id, said)


async def test_stopping_takes_a_run_out_of_the_queue_and_resuming_puts_it_back(
    tmp_path: Path,
) -> None:
    async with service(tmp_path) as rig:
        run, _ = runs.create_run(rig.state, ADA, NewRun(question="Who?"))
        assert runs.stop_run(rig.state, ADA, run.id).status.value == "stopped"
        assert runs.stop_run(rig.state, ADA, run.id).status.value == "stopped"
        assert runs.resume_run(rig.state, ADA, run.id).status.value == "queued"
        assert runs.resume_run(rig.state, ADA, run.id).status.value == "queued"
        runs.delete_run(rig.state, ADA, run.id)
        assert rig.state.queue.waiting() == []
        actions = [line.action for line in rig.state.log.lines("ada")]
        assert actions == ["run.delete", "run.resume", "run.stop", "run.create"]


# Without the web: the state alone, in which nobody works on runs


def state_of(home: Path, **changes: Any) -> AbstractAsyncContextManager[ServiceState]:
    return open_state(Settings(home=home, **changes), concurrency=0)


in_thread = asyncio.to_thread
"""What runs a loop of its own is asked in a thread, as requests are."""


def ask(state: ServiceState, account: Account = ADA, question: str = "Who?", **more: Any) -> str:
    return runs.create_run(state, account, NewRun(question=question, **more))[0].id


def actions(state: ServiceState, name: str = "ada") -> list[str]:
    return [line.action for line in state.log.lines(name)]


ACTS: dict[str, Callable[[ServiceState, Account, str], object]] = {
    "find": runs.find_run,
    "stop": runs.stop_run,
    "resume": runs.resume_run,
    "steer": lambda state, who, run: runs.steer_run(
        state, who, run, Steer(action="look", text="x")
    ),
    "ignore": lambda state, who, run: runs.steer_run(
        state, who, run, Steer(action="ignore", text="x")
    ),
    "share": runs.share_run,
    "unshare": runs.unshare_run,
    "answer": lambda state, who, run: runs.answer_run(state, who, run, Answer(action="accept")),
    "delete": runs.delete_run,
    "follow up": lambda state, who, run: runs.follow_up(state, who, run, "Who?"),
    "deepen": lambda state, who, run: runs.deepen_run(state, who, run, 1),
    "watch": lambda state, who, run: watches.watch_run(state, who, run, watches.DAY),
    "unwatch": watches.unwatch_run,
    "compare": lambda state, who, run: watches.compare_as_json(state, who, run, run),
}


async def test_nobody_does_anything_with_the_run_of_another(made_home: Path) -> None:
    async with state_of(made_home) as state:
        run, before = told(made_home, "ada"), len(state.log.lines())
        held = state.store.runs.get(run)
        for name, act in ACTS.items():
            for who in (Account("bob"), Account()):
                for named in (run, run[:-1], "", "nothing", "../x"):
                    with pytest.raises(UnknownNameError, match="there is no run"):
                        await in_thread(act, state, who, named)
            with pytest.raises(UnknownNameError):
                await in_thread(act, state, ADA, f"{run}x")
            assert state.store.runs.get(run) == held, name
        assert len(state.log.lines()) == before, "and nothing of it is done in anybody's name"
        assert not state.shares.since(run)


@pytest.mark.parametrize("act", ["resume", "steer", "answer"])
async def test_a_finished_run_goes_on_no_more(made_home: Path, act: str) -> None:
    async with state_of(made_home) as state:
        run = told(made_home, "ada")
        with pytest.raises(UsageError):
            await in_thread(ACTS[act], state, ADA, run)
        assert runs.stop_run(state, ADA, run).status is RunStatus.ANSWERED
        assert state.queue.waiting() == []


@pytest.mark.parametrize("act", ["share", "follow up", "deepen", "watch", "compare", "answer"])
async def test_a_run_without_a_report_has_none_to_give(tmp_path: Path, act: str) -> None:
    async with state_of(tmp_path) as state:
        run = ask(state)
        with pytest.raises((UnknownNameError, UsageError)):
            await in_thread(ACTS[act], state, ADA, run)
        assert actions(state) == ["run.create"]
        assert runs.show_run(state, state.store.runs.get(run)).answer == ""


async def test_a_run_that_waits_is_answered_and_not_resumed(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        run = ask(state)
        state.store.runs.set_status(run, RunStatus.WAITING)
        with pytest.raises(UsageError, match="waits for your answer"):
            runs.resume_run(state, ADA, run)


async def test_who_has_too_many_runs_can_neither_begin_nor_resume(tmp_path: Path) -> None:
    ada = Account("ada", runs=2)
    async with state_of(tmp_path) as state:
        first = ask(state, ada)
        runs.stop_run(state, ada, first)
        ask(state, ada, "Who is it?")
        ask(state, ada, "Who was it?")
        with pytest.raises(LimitReachedError):
            ask(state, ada, "Who will it be?")
        with pytest.raises(LimitReachedError):
            runs.resume_run(state, ada, first)
        assert state.store.runs.get(first).status is RunStatus.STOPPED
        assert len(state.store.runs.list_all()) == 3, "the fourth was never entered"
        ask(state, Account("bob"))


async def test_two_requests_at_once_do_not_fit_where_one_does(tmp_path: Path) -> None:
    ada = Account("ada", runs=3, money=Decimal(1))
    async with state_of(tmp_path) as state:

        def one(number: int) -> str:
            with suppress(LimitReachedError):
                return ask(state, ada, f"Who is number {number}?", budget=Decimal("0.10"))
            return ""

        with ThreadPoolExecutor(8) as threads:
            made = [run for run in threads.map(one, range(12)) if run]
        assert len(made) == len(state.queue.waiting("ada")) == 3
        assert [purse.reserved for purse in state.purses.of("ada")] == [Decimal("0.10")] * 3


async def test_a_key_belongs_to_one_question_of_one_user(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        asked = NewRun(question="Who?")
        first, new = runs.create_run(state, ADA, asked, "k")
        assert new
        assert runs.create_run(state, ADA, asked, "k") == (first, False)
        with pytest.raises(UsageError, match="used for another question"):
            runs.create_run(state, ADA, NewRun(question="Who else?"), "k")
        other, new = runs.create_run(state, Account("bob"), asked, "k")
        assert new
        assert other.id != first.id


# A worker has it


async def test_a_stop_between_taking_and_beginning_is_not_lost(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        run, worker = ask(state), state.queue.hire("w")
        taken = worker.take()
        assert taken is not None
        assert state.store.runs.get(run).status is RunStatus.QUEUED, "it has not begun"
        runs.stop_run(state, ADA, run)
        runs.stop_run(state, ADA, run)
        assert worker.to_stop() == worker.beat() == [run]
        worker.finish(run)
        assert state.store.runs.get(run).status is RunStatus.STOPPED
        assert worker.take() is None
        assert worker.to_stop() == []


async def test_who_works_on_a_run_in_this_process_is_told_at_once_of_its_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "STOP_SECONDS", 0.1)
    async with state_of(tmp_path) as plain:
        stops: list[tuple[str, list[str]]] = []
        run, worker = ask(plain), plain.queue.hire("w")
        assert worker.take() is not None
        state = replace(plain, stop_here=lambda of: stops.append((of, worker.to_stop())))
        runs.stop_run(state, ADA, run)
        assert stops == [(run, []), (run, [run])], "first here, and again once the queue knows"
        plain.stop_here(run)  # nobody works here: the worker looks by itself
        state.store.leases.take(run, "w", time.time(), 60)
        with pytest.raises(RunBusyError):
            await in_thread(runs.delete_run, state, ADA, run)
        assert [of for of, _ in stops] == [run] * 4


async def test_who_changes_their_mind_about_a_stop_is_heeded(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        run, worker = ask(state), state.queue.hire("w")
        assert worker.take() is not None
        runs.stop_run(state, ADA, run)
        state.store.runs.set_status(run, RunStatus.STOPPED)  # and the order is yet to be ended
        assert runs.resume_run(state, ADA, run).status is RunStatus.QUEUED
        worker.finish(run)
        again = worker.take()
        assert again is not None
        assert again.run == run
        assert worker.to_stop() == []


async def test_a_run_that_does_not_stop_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "STOP_SECONDS", 0.3)
    async with state_of(tmp_path) as state:
        run = ask(state)
        leases = state.store.leases
        leases.take(run, "elsewhere:1:x", time.time(), 60)
        state.store.runs.set_status(run, RunStatus.RUNNING)
        with pytest.raises(RunBusyError):
            runs.delete_run(state, ADA, run)
        assert leases.asked_to_stop(run)
        assert state.store.runs.get(run).id == run
        assert "run.delete" not in actions(state)
        leases.drop(run, "elsewhere:1:x")
        runs.delete_run(state, ADA, run)
        with pytest.raises(UnknownNameError):
            state.store.runs.get(run)
        assert actions(state)[0] == "run.delete"


async def test_the_place_in_the_queue_counts_the_runs_of_all(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        hers = [ask(state, ADA, f"Who is {number}?") for number in range(3)]
        his = ask(state, Account("bob"))
        shown = [runs.show_run(state, state.store.runs.get(run)).position for run in (*hers, his)]
        assert sorted(place or 0 for place in shown) == [1, 2, 3, 4]
        assert shown[3] == 2, "turns are fair"
        runs.stop_run(state, ADA, hers[0])
        assert runs.show_run(state, state.store.runs.get(hers[0])).position is None


# What a run is asked with


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("files", "drop files"),
        ("documents", "started without any"),
        ("web", "no search provider"),
        ("scholar", "no search provider"),
        ("news", "no search provider"),
    ],
)
async def test_what_is_not_there_cannot_be_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, why: str
) -> None:
    monkeypatch.setattr(runs, "providers", dict)
    async with state_of(tmp_path) as state:
        asked = NewRun.model_validate({"question": "Who?", "sources": ["sample", source]})
        with pytest.raises(UsageError, match=why):
            runs.run_settings(state, ADA, asked)
        shown = {item.name: item for item in runs.choices(state, ADA).sources}
        assert not shown[source].ready  # type: ignore[index]
        assert why in shown[source].missing  # type: ignore[index]
        assert shown["sample"].ready


async def test_what_a_run_is_asked_with_has_no_secret_and_nothing_of_others(
    tmp_path: Path,
) -> None:
    secret = "sk-a-secret-of-the-service"
    async with state_of(tmp_path, keys={"openai": SecretStr(secret)}, past=True) as state:
        asked = NewRun(question=f"Who has {secret}?", audience=f"people with {secret}")
        made = runs.run_settings(state, ADA, asked)
        assert made.audience == "people with [secret]"
        assert not made.past, "what one user's runs have read is not shown to another's"
        run = runs.create_run(state, ADA, asked)[0]
        assert run.question == "Who has [secret]?"
        assert secret not in str(run.settings)


async def test_what_a_run_can_cost_is_not_guessed(tmp_path: Path) -> None:
    model = "openai:a-model-without-a-price"
    keys = {"openai": SecretStr("x" * 20)}
    async with state_of(tmp_path, model=model, keys=keys) as state:
        asked = NewRun(question="Who runs it?", sources=("sample",))
        assert await in_thread(runs.ceiling, state, ADA, asked) is None
        free = asked.model_copy(update={"model": "embedded"})
        assert await in_thread(runs.ceiling, state, ADA, free) == 0
        with pytest.raises(UsageError, match="must be one of"):
            await in_thread(
                runs.ceiling, state, ADA, asked.model_copy(update={"model": "openai:other"})
            )
    price = {model: Price(input=Decimal(1), output=Decimal(2))}
    async with state_of(tmp_path, model=model, prices=price, keys=keys) as state:
        known = await in_thread(runs.ceiling, state, ADA, asked)
        assert known is not None
        assert known > 0
        longer = await in_thread(
            runs.ceiling, state, ADA, asked.model_copy(update={"length": "long"})
        )
        assert longer is not None
        assert longer >= known


# Money


async def test_money_counts_what_was_spent_and_what_may_yet_be(tmp_path: Path) -> None:
    ada = Account("ada", money=Decimal(1))
    async with state_of(tmp_path) as state:
        first = ask(state, ada, budget=Decimal("0.70"))
        assert runs._spending(state, ada) == (Decimal(0), Decimal("0.70"))
        second = state.store.runs.get(ask(state, ada, "Who else?"))
        assert state.purses.of("ada")[1].reserved == Decimal("0.30"), second.id
        with pytest.raises(LimitReachedError, match="spent or reserved"):
            ask(state, ada, "Who then?")
        state.store.runs.set_status(first, RunStatus.ANSWERED)
        assert runs._spending(state, ada) == (Decimal(0), Decimal("0.30"))
        # Killed in the middle of a deletion: the purse is there, and its run is not.
        state.purses.reserve("ada", "a-run-that-is-gone", Decimal("0.20"))
        assert runs._spending(state, ada) == (Decimal(0), Decimal("0.30"))


async def test_a_follow_up_costs_nobody_more_than_they_may_spend(home: Path) -> None:
    async with state_of(home) as state:
        run = told(home, "ada")
        poor = Account("ada", money=Decimal(1))
        held = state.store.runs.get(run)
        paid = held.model_copy(
            update={"id": f"{run}-paid", "settings": {**held.settings, "model": "openai:big"}}
        )
        state.store.runs.create(paid)
        state.store.records.save_report(paid.id, state.store.records.report(run) or "")
        state.purses.reserve("ada", paid.id, None)
        with pytest.raises(UsageError, match="beyond your budget"):
            await in_thread(runs.follow_up, state, poor, paid.id, "Who runs it?")


# What went wrong


async def test_the_last_error_is_told_and_no_secret_with_it(tmp_path: Path) -> None:
    secret = "sk-a-secret-of-the-service"
    async with state_of(tmp_path, keys={"openai": SecretStr(secret)}) as state:
        run = ask(state)
        assert runs.show_run(state, state.store.runs.get(run)).error == ""
        for why in ("the first", f"the key {secret} is refused"):
            ended = RunEnded(
                run=run, status=RunStatus.FAILED, cost=Decimal(0), report_hash="", error=why
            )
            state.store.records.add_events(run, [ended.model_dump_json()])
        assert runs.show_run(state, state.store.runs.get(run)).error == "", "it is queued"
        state.store.runs.set_status(run, RunStatus.FAILED)
        held = state.store.runs.get(run)
        assert runs.show_run(state, held).error == "the key [secret] is refused"
        assert runs.show_run(state, held, brief=True).error == "", "a list is short"


async def test_a_failed_run_without_a_word_says_nothing(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        run = ask(state)
        state.store.runs.set_status(run, RunStatus.FAILED)
        assert runs.show_run(state, state.store.runs.get(run)).error == ""


async def test_a_link_to_a_run_that_is_gone_leads_nowhere(home: Path) -> None:
    async with state_of(home) as state:
        run = told(home, "ada")
        token = runs.share_run(state, ADA, run).removeprefix(runs.SHARED)
        assert runs.shared_run(state, token).id == run
        state.store.runs.delete(run, time.time())
        for wrong in (token, "", "x" * 43):
            with pytest.raises(UnknownNameError, match="no such link"):
                runs.shared_run(state, wrong)


# Pages of the history


def page_of(state: ServiceState, cursor: str = "", most: int = 3) -> tuple[list[str], str]:
    found = runs.list_runs(state, ADA, "", most, cursor)
    return [run.id for run in found.runs], found.cursor


async def runs_of_one_second(state: ServiceState, count: int) -> list[str]:
    """Return runs that were all created in one second, the newest first."""
    made = [queued_run(f"Who {number}?", state.settings) for number in range(count)]
    for run in made:
        state.store.runs.create(run.model_copy(update={"created": "2026-11-17T12:00:00+00:00"}))
        state.purses.reserve(ADA.name, run.id, Decimal(0))
    return [run.id for run in reversed(made)]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, [0]), (2, [2]), (3, [3]), (4, [3, 1]), (6, [3, 3])]
)
async def test_pages_end_with_the_last_run_and_have_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(runs, "READ_AT_ONCE", 2)
    async with state_of(tmp_path) as state:
        made = await runs_of_one_second(state, count)
        pages, cursor = list[list[str]](), ""
        while not pages or cursor:
            page, cursor = page_of(state, cursor)
            pages.append(page)
        assert [len(page) for page in pages] == sizes, "no page is empty behind a full one"
        assert [run for page in pages for run in page] == made


async def test_no_run_is_lost_behind_one_that_was_deleted(tmp_path: Path) -> None:
    async with state_of(tmp_path) as state:
        made = await runs_of_one_second(state, 7)
        first, cursor = page_of(state)
        assert first == made[:3]
        state.store.runs.delete(first[-1], time.time())
        met = set(first)
        while cursor:
            page, cursor = page_of(state, cursor)
            met |= set(page)
        assert met == set(made)


async def test_a_run_that_is_deleted_while_a_page_is_read_brings_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "READ_AT_ONCE", 2)
    async with state_of(tmp_path) as state:
        made = await runs_of_one_second(state, 5)
        listed, list_all = list[int](), state.store.runs.list_all

        def delete_the_last(*page: Any) -> Any:
            found = list_all(*page)
            if not listed:
                state.store.runs.delete(found[-1].id, time.time())
            listed.append(len(found))
            return found

        monkeypatch.setattr(state.store.runs, "list_all", delete_the_last)
        page, cursor = page_of(state, most=9)
        assert page == made
        assert cursor == ""
