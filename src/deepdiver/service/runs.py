"""What a user can do with runs; every surface of the service does it here.

A run that is somebody else's is, to everybody but them, a run that does not exist.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from deepdiver import sample
from deepdiver.core.events import RunEnded
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import FINISHED, Report, Run, RunStatus, Source
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.core.steering import Steering, SteeringKind
from deepdiver.errors import RunBusyError, UnknownNameError, UsageError
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.markdown import answer_text, sentence_text
from deepdiver.report.removal import remove_run
from deepdiver.report.spending import spending_of
from deepdiver.run.answers import answer_person, open_question
from deepdiver.run.assemble import estimate_ceiling
from deepdiver.run.begin import check_question
from deepdiver.run.deepen import plan_deeper_look
from deepdiver.run.next_questions import next_questions
from deepdiver.run.review import ask_about
from deepdiver.run.steering import said_to, steer
from deepdiver.run.watch_list import WatchList
from deepdiver.service.accounts import Account
from deepdiver.service.library import has_files
from deepdiver.service.limits import check_runs, settle_budget
from deepdiver.service.schemas import (
    Answer,
    Choices,
    CitedPassage,
    FollowUpAnswer,
    NewRun,
    RunList,
    RunState,
    SaidToRun,
    SourceChoice,
    SourceName,
    Steer,
    StrategyChoice,
)
from deepdiver.service.state import ServiceState, named_folder
from deepdiver.strategies.pick import pick_strategy
from deepdiver.strategies.table import AUTO, TABLE
from deepdiver.tools.registry import GROUPS, group_of, providers
from deepdiver.work import Load, order_of

PLAIN = ("strategy", "max_iterations", "length", "format", "audience", "report_language", "approve")
"""What a request may set as it likes."""
SHARED = "/shared/"
"""Where the paths of links begin."""
READ_AT_ONCE = 200
"""Runs that are read at a time while looking for those of a user."""
STOP_SECONDS = 10.0
"""How long deleting waits for a run to stop."""
AUTO_ABOUT = "The question decides which strategy suits it."
SOURCES: Mapping[SourceName, str] = {
    "files": "Your own files",
    "documents": "The documents of this service",
    "sample": "The sample library",
    "web": "The web",
    "scholar": "Scholarly articles",
    "news": "The news",
}
"""Everything that can be searched, and what it is called."""
_GROUP_OF: Mapping[str, str] = {"web": "web", "scholar": "scholar", "news": "news"}


def find_run(state: ServiceState, account: Account, run: str) -> Run:
    """Return a run of a user by its whole id.

    Raises:
        UnknownNameError: If there is none, or it is somebody else's.
    """
    found = None
    if owner_of(state, run) == account.name:
        try:
            found = state.store.runs.get(run)
        except UnknownNameError:
            found = None
    if found is None or found.id != run:
        raise UnknownNameError(f"there is no run {run[:100]!r}")
    return found


def owner_of(state: ServiceState, run: str) -> str:
    """Return whose a run is; empty: that of the person at this machine.

    The queue knows who ordered it. A run of a watch was never ordered: its purse knows.
    """
    owner = state.queue.owner_of(run)
    return state.purses.owner_of(run) if owner is None else owner


def list_runs(
    state: ServiceState, account: Account, words: str = "", most: int = 50, cursor: str = ""
) -> RunList:
    """Return the runs of a user, the newest first, those alone whose question has all the words.

    Args:
        state: The service.
        account: Whose runs.
        words: The words.
        most: How many runs a page has.
        cursor: That of the page before; empty: the first page.
    """
    found = list(itertools.islice(_runs_that_fit(state, account, words, cursor), most + 1))
    shown = found[:most]
    following = f"{shown[-1].created}~{shown[-1].id}" if len(found) > most else ""
    return RunList(runs=tuple(show_run(state, run, brief=True) for run in shown), cursor=following)


def _runs_that_fit(state: ServiceState, account: Account, words: str, cursor: str) -> Iterator[Run]:
    wanted = words.casefold().split()
    created, _, last = cursor.partition("~")
    before = (created, last) if cursor else None
    met: set[str] = set()
    while page := state.store.runs.list_all(before, READ_AT_ONCE):
        before = page[-1].created, page[-1].id
        # Some come again if the last run of the page before was deleted just now.
        new = {run.id: run for run in page if run.id not in met}
        met |= new.keys()
        owners = {**state.purses.owners_of([*new]), **state.queue.owners_of([*new])}
        for run in new.values():
            fits = all(word in run.question.casefold() for word in wanted)
            if fits and owners.get(run.id, "") == account.name:
                yield run


def show_run(state: ServiceState, run: Run, *, brief: bool = False) -> RunState:
    """Return where a run stands.

    Args:
        state: The service.
        run: The run.
        brief: Leave out what takes long to find out: its answer, what it waits with, its error.
    """
    finished = run.status in FINISHED
    known: dict[str, Any] = {
        "id": run.id,
        "question": run.question,
        "strategy": run.strategy,
        "status": run.status,
        "outcome": OUTCOMES[run.status].headline if run.status in OUTCOMES else "",
        "finished": finished,
        "created": run.created,
    }
    if brief:
        return RunState(**known)
    text = state.store.records.report(run.id) if finished else None
    if text:
        report = Report.model_validate_json(text)
        known |= {
            "answer": answer_text(report),
            "confidence": report.confidence,
            "limits": report.limits,
            "next_questions": next_questions(report),
        }
    waiting = state.queue.waiting() if run.status is RunStatus.QUEUED else ()
    return RunState(
        **known,
        position=next((item.position for item in waiting if item.run == run.id), None),
        cost=spending_of(state.store, run.id).text,
        waits_for=open_question(run.id, state.store),
        error=_last_error(state, run),
        said=said(state, run),
        shared=state.shares.since(run.id),
    )


def said(state: ServiceState, run: Run) -> tuple[SaidToRun, ...]:
    """Return what was said to a run while it was under way."""
    return tuple(
        SaidToRun(
            action=item.steering.kind.value,
            text=item.steering.title or item.steering.text,
            heeded=item.heeded,
        )
        for item in said_to(run.id, state.store)
    )


def _last_error(state: ServiceState, run: Run) -> str:
    if run.status not in (RunStatus.FAILED, RunStatus.STOPPED):
        return ""
    for _, text in reversed(state.store.records.events(run.id)):
        if '"run_ended"' in text:
            return state.scrub(RunEnded.model_validate_json(text).error)
    return ""


# Beginning


def models_of(settings: Settings) -> tuple[str, ...]:
    """Return the models that may be asked for: those of the service, and none."""
    named = (settings.model, settings.fast_model, *settings.task_models.values(), EMBEDDED)
    return tuple(dict.fromkeys(filter(None, named)))


def choices(state: ServiceState, account: Account) -> Choices:
    """Return what a question can be asked with."""
    strategies = [
        StrategyChoice(name=entry.name, choose=entry.choose, loop=entry.loop)
        for entry in TABLE.values()
    ]
    auto = StrategyChoice(name=AUTO, choose=AUTO_ABOUT, loop="")
    return Choices(
        strategies=(auto, *strategies),
        models=models_of(state.settings),
        sources=tuple(_source(state, account, name) for name in SOURCES),
        usual_sources=usual_sources(state, account),
        formats={name: made.about for name, made in FORMATS.items() if made.suffix},
    )


def _source(state: ServiceState, account: Account, name: SourceName) -> SourceChoice:
    missing = ""
    if name == "files" and not has_files(state, account):
        missing = "drop files into your library first"
    elif name == "documents" and not state.settings.documents:
        missing = "the service was started without any (--in PATH)"
    elif name in _GROUP_OF and not _ready(state.settings, _GROUP_OF[name]):
        missing = "no search provider of this kind is set up"
    return SourceChoice(name=name, about=SOURCES[name], ready=not missing, missing=missing)


def _ready(settings: Settings, group: str) -> bool:
    """Return whether a search provider of a group is set up."""
    return any(
        group_of(provider) == group and provider.missing(settings) is None
        for provider in providers().values()
    )


def usual_sources(state: ServiceState, account: Account) -> tuple[SourceName, ...]:
    """Return what is searched where nobody chooses.

    The user's own files and the documents of the service come first, then what the settings of the
    service name to search. A service of which nothing is set up has the sample.
    """
    own: list[SourceName] = ["files"] if has_files(state, account) else []
    own += ["documents"] if state.settings.documents else []
    own += ["web"] if set(state.settings.search) - {"library"} else []
    return tuple(own) or ("sample",)


def run_settings(state: ServiceState, account: Account, asked: NewRun) -> Settings:
    """Return the settings of a run that a user asks for, its budget left as the service has it.

    Raises:
        UsageError: If it names a model or a source that is not there.
    """
    settings = state.settings
    if asked.model and asked.model not in models_of(settings):
        raise UsageError(f"the model must be one of {', '.join(models_of(settings))}")
    given = asked.model_dump(include=set(PLAIN), exclude_none=True)
    changes = {
        name: state.scrub(value) if isinstance(value, str) else value
        for name, value in given.items()
    }
    if asked.model:
        changes |= {"model": asked.model}
    if asked.model == EMBEDDED:
        changes |= {"fast_model": "", "task_models": {}}
    wanted = asked.sources or usual_sources(state, account)
    for name in wanted:
        if told := _source(state, account, name).missing:
            raise UsageError(f"{SOURCES[name].lower()} cannot be searched: {told}")
    changes |= _searching(state, account, wanted)
    # What one user's runs have read is not shown to another's.
    return settings.model_copy(update={**changes, "past": False, "verbose": False})


def _searching(
    state: ServiceState, account: Account, wanted: tuple[SourceName, ...]
) -> dict[str, Any]:
    """Return the settings that say what is searched."""
    folders = {
        "files": (named_folder(account),),
        "documents": state.settings.documents,
        "sample": (sample.LIBRARY,),
    }
    documents = tuple(path for name in wanted for path in folders.get(name, ()))
    outside: list[str] = []
    for name in wanted:
        if name == "web" and set(state.settings.search) - {"library"}:
            outside += [own for own in state.settings.search if own != "library"]
        elif name == "web":
            outside += _named(state.settings, GROUPS["auto"] - {"own"})
        elif name in _GROUP_OF:
            outside += _named(state.settings, {_GROUP_OF[name]})
    search = (*(("library",) if documents else ()), *dict.fromkeys(outside))
    return {"documents": documents, "documents_within": documents, "search": search}


def _named(settings: Settings, groups: set[str]) -> list[str]:
    """Return the providers of some groups that are set up, each if it can be reached."""
    return [
        f"{name}?"
        for name, provider in providers().items()
        if group_of(provider) in groups and provider.missing(settings) is None
    ]


def ceiling(state: ServiceState, account: Account, asked: NewRun) -> Decimal | None:
    """Return the most that a run can cost, in US dollars; None: a price is not known.

    Raises:
        UsageError: If it names a model or a source that is not there.
    """
    settings = run_settings(state, account, asked)
    named = [settings.strategy]
    if settings.strategy == AUTO:
        asks = bool(asked.question.strip())
        named = [pick_strategy(asked.question).strategy] if asks else list(TABLE)
    return asyncio.run(estimate_ceiling(settings, named, state.store))


def create_run(
    state: ServiceState, account: Account, asked: NewRun, key: str | None = None
) -> tuple[Run, bool]:
    """Enter a run into the queue; returns it, and whether it is new.

    Args:
        state: The service.
        account: Who asks.
        asked: What is asked.
        key: A name that the caller gives the request. The same one twice is one run.

    Raises:
        UsageError: If it cannot be researched, or the key was used for another question.
        LimitReachedError: If the user has reached a limit.
    """
    question = check_question(state.scrub(asked.question))
    if key is not None and (known := state.queue.find(account.name, key)):
        held = state.store.runs.get(known)
        if held.question != question:
            raise UsageError("this Idempotency-Key was used for another question: choose another")
        return held, False
    settings = run_settings(state, account, asked)
    return _order(state, account, question, settings, asked.budget, key=key), True


def deepen_run(state: ServiceState, account: Account, run: str, section: int) -> Run:
    """Enter a run that looks deeper into a section of a report.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet, or no such section.
        LimitReachedError: If the user has reached a limit.
    """
    held = find_run(state, account, run)
    deeper = plan_deeper_look(held.id, section, state.settings, state.store)
    more = {"deepens": deeper.run}
    return _order(state, account, deeper.question, deeper.settings, None, **more)


def _order(
    state: ServiceState,
    account: Account,
    question: str,
    settings: Settings,
    budget: Decimal | None,
    **more: Any,
) -> Run:
    with state.ordering:
        check_runs(account, state.queue.owners().get(account.name, Load()))
        spent = promised = Decimal(0)
        if account.money is not None:
            spent, promised = _spending(state, account)
        allowed = settle_budget(account, state.settings, budget, spent, promised)
        settings = settings.model_copy(update={"budget": allowed})
        run = state.queue.put(order_of(question, settings, owner=account.name, **more))
        state.purses.reserve(account.name, run, allowed)
    state.log.add(account.name, "run.create", run)
    return state.store.runs.get(run)


def _spending(state: ServiceState, account: Account) -> tuple[Decimal, Decimal]:
    """Return what a user's runs have cost, and what those that are not finished may yet cost."""
    spent = promised = Decimal(0)
    for purse in state.purses.of(account.name):
        if purse.spent is not None:
            spent += purse.spent
            continue
        own = _cost(state, purse.run)
        spent += own
        with suppress(UnknownNameError):  # the process was killed in the middle of a deletion
            if state.store.runs.get(purse.run).status not in FINISHED:
                promised += max(Decimal(0), (purse.reserved or Decimal(0)) - own)
    return spent, promised


def _cost(state: ServiceState, run: str) -> Decimal:
    return sum((row.cost for row in state.store.journal.rows(run)), Decimal(0))


# Steering


def stop_run(state: ServiceState, account: Account, run: str) -> Run:
    """Take a run out of the queue, or have it stop and be saved; it can be resumed.

    Raises:
        UnknownNameError: If there is no such run.
    """
    held = find_run(state, account, run)
    if held.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        _cancel(state, held.id)
        state.log.add(account.name, "run.stop", held.id)
    return state.store.runs.get(held.id)


def _cancel(state: ServiceState, run: str) -> None:
    """Have a run be stopped by whoever works on it, and at once if that is this process."""
    # First here: while the queue is told, the run has its time to hear answers.
    state.stop_here(run)
    state.queue.cancel(run)
    state.stop_here(run)  # it may have been taken from the queue meanwhile


def resume_run(state: ServiceState, account: Account, run: str) -> Run:
    """Put a run that was stopped or failed back into the queue.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it is finished, or waits for an answer.
        LimitReachedError: If the user has reached a limit.
    """
    held = find_run(state, account, run)
    if held.status is RunStatus.WAITING:
        raise UsageError(f"run {held.id} waits for your answer: give it, and it goes on")
    if held.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        _go_on(state, account, held, "run.resume")
    return state.store.runs.get(held.id)


def steer_run(state: ServiceState, account: Account, run: str, what: Steer) -> Run:
    """Say to a run that is under way what to look at too, or which source to leave out.

    Raises:
        UnknownNameError: If there is no such run, or no such source in it.
        UsageError: If it is finished, or too much was said.
    """
    held = find_run(state, account, run)
    if what.action == "ignore":
        source = _find_source(state, held, what.text)
        steering = Steering(kind=SteeringKind.IGNORE, text=source.url, title=source.title)
    else:
        steering = Steering(kind=SteeringKind.LOOK, text=state.scrub(what.text))
    steer(held.id, steering, state.store)
    state.log.add(account.name, f"run.{what.action}", held.id)
    return state.store.runs.get(held.id)


def _find_source(state: ServiceState, run: Run, named: str) -> Source:
    """Return the source of a run that has this id or this address."""
    for kind, key, text in state.store.records.ledger(run.id):
        if kind == "source":
            source = Source.model_validate_json(text)
            if named in (key, source.url):
                return source
    raise UnknownNameError(f"run {run.id} has read no source {named[:100]!r}")


def share_run(state: ServiceState, account: Account, run: str) -> str:
    """Return the path by which anybody may read the report of a run; one made before ends.

    Raises:
        UnknownNameError: If there is no such run, or it has no report yet.
    """
    held = find_run(state, account, run)
    if held.status not in FINISHED:
        raise UnknownNameError(f"run {held.id} has no report yet: it is {held.status.value}")
    token = state.shares.make(held.id, account.name)
    state.log.add(account.name, "run.share", held.id)
    return f"{SHARED}{token}"


def unshare_run(state: ServiceState, account: Account, run: str) -> None:
    """End the link to a run, if there is one.

    Raises:
        UnknownNameError: If there is no such run.
    """
    held = find_run(state, account, run)
    if state.shares.revoke(held.id):
        state.log.add(account.name, "run.unshare", held.id)


def shared_run(state: ServiceState, token: str) -> Run:
    """Return the run that a link is for.

    Raises:
        UnknownNameError: If there is no such link, whatever the reason.
    """
    found = state.shares.run_of(token)
    with suppress(UnknownNameError):
        if found and (run := state.store.runs.get(found)).id == found:
            return run
    raise UnknownNameError("there is no such link, or it has ended")


def answer_run(state: ServiceState, account: Account, run: str, said: Answer) -> Run:
    """Answer a run that waits with a plan or an answer, and have it go on.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it waits for nobody, or this is no answer.
        LimitReachedError: If the user has reached a limit.
    """
    held = find_run(state, account, run)
    if said.action == "edit" and not said.problems and said.queries is None:
        raise UsageError("an edited plan needs sub-questions or searches")
    if said.action == "add" and not said.constraints.strip():
        raise UsageError("say what the answer must take into account")
    check_runs(account, state.queue.owners().get(account.name, Load()))
    clean = said.model_validate_json(state.scrub(said.model_dump_json()))
    reply = clean.model_dump(mode="json", exclude_defaults=True)
    answer_person(held.id, {"action": said.action, **reply}, state.store)
    _go_on(state, account, held, f"run.{said.action}")
    return state.store.runs.get(held.id)


def _go_on(state: ServiceState, account: Account, run: Run, action: str) -> None:
    check_runs(account, state.queue.owners().get(account.name, Load()))
    state.queue.put_again(run.id)
    state.log.add(account.name, action, run.id)


def delete_run(state: ServiceState, account: Account, run: str) -> None:
    """Stop a run if need be, and delete its rows, its texts and its files.

    Raises:
        UnknownNameError: If there is no such run.
        RunBusyError: If it has not stopped in time.
    """
    held = find_run(state, account, run)
    ends = time.monotonic() + STOP_SECONDS
    if held.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        _cancel(state, held.id)
    while True:
        state.purses.settle(held.id, _cost(state, held.id))
        try:
            remove_run(held.id, state.settings, state.store)
            break
        except RunBusyError:
            if time.monotonic() >= ends:
                raise
            state.store.leases.ask_to_stop(held.id)
            time.sleep(0.2)
    state.shares.revoke(held.id)
    WatchList(state.settings.home, state.store).drop(held.id)
    state.log.add(account.name, "run.delete", held.id)


# Reading


def report_of(state: ServiceState, run: Run) -> Report:
    """Return the report of a run.

    Raises:
        UnknownNameError: If it has none yet.
    """
    text = state.store.records.report(run.id)
    if text is None:
        raise UnknownNameError(f"run {run.id} has no report yet: it is {run.status.value}")
    return Report.model_validate_json(text)


def follow_up(state: ServiceState, account: Account, run: str, question: str) -> FollowUpAnswer:
    """Answer a question from the record of a finished run alone.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet.
    """
    held = find_run(state, account, run)
    report_of(state, held)
    if account.money is not None and held.settings.get("model", EMBEDDED) != EMBEDDED:
        raise UsageError("a follow-up asks a model beyond your budget: ask it as a new question")
    asked = check_question(state.scrub(question))
    told = asyncio.run(ask_about(held.id, asked, state.settings, state.store))
    numbers = {number for sentence in told.sentences for number in sentence.citations}
    lines = [sentence_text(told.report, sentence) for sentence in told.sentences]
    return FollowUpAnswer(
        found=bool(lines),
        answer=" ".join(lines),
        unmet=told.unmet,
        citations=tuple(
            CitedPassage(mark=item.mark, title=item.title, url=item.url, quote=item.quote)
            for item in told.report.citations
            if item.number in numbers
        ),
    )
