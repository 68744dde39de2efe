"""The runner: settings → dependencies → graph → events → record, for run, resume and replay.

A resumed run starts again from the beginning over its journal: calls that were made before are
answered from there, and the run goes on where the journal ends. A replay does the same without any
call to the outside. All three take the same path through the code.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deepdiver.core.record import FINISHED, Report
from deepdiver.core.settings import Settings, from_public, load, strict_checkpoints
from deepdiver.core.version import VERSION
from deepdiver.errors import DeepdiverError, UsageError

# Before langgraph is imported, which the next lines do.
strict_checkpoints()

from deepdiver.gateway import Mode  # noqa: E402
from deepdiver.run.agent import create_deepdiver_agent  # noqa: E402
from deepdiver.run.assemble import OwnParts, choose_search  # noqa: E402
from deepdiver.run.begin import (  # noqa: E402
    begin_queued,
    check_question,
    new_run,
    settle_strategy,
)
from deepdiver.run.deepen import plan_deeper_look  # noqa: E402
from deepdiver.run.files import write_outcome  # noqa: E402
from deepdiver.run.record import load_outcome  # noqa: E402
from deepdiver.run.session import Ask, OnEvent, Outcome, Session  # noqa: E402
from deepdiver.store import Store, open_store  # noqa: E402
from deepdiver.tools.credibility import check_ratings  # noqa: E402

__all__ = [
    "Ask",
    "OnEvent",
    "Outcome",
    "Session",
    "create_deepdiver_agent",
    "deepen",
    "replay",
    "research",
    "resume",
]


async def research(
    question: str,
    settings: Settings | None = None,
    *,
    on_event: OnEvent | None = None,
    ask: Ask | None = None,
    out: Path | None = None,
    store: Store | None = None,
    deepens: str = "",
    own: OwnParts | None = None,
    context: Mapping[str, Any] | None = None,
    named: str = "",
) -> Outcome:
    """Research a question.

    Args:
        question: What to find out.
        settings: The settings; from files and environment by default.
        on_event: Receives all events.
        ask: Asks a person; without it, a run that needs a person waits to be resumed.
        out: Folder for the run's files; by default one in the home folder.
        store: Where the run is kept; by default the database of the home folder.
        deepens: Id of the run whose report this one looks deeper into, if any (see `deepen`).
        own: The caller's own model and tools, instead of those that the settings name.
        context: What to know about the question besides, as plain JSON; `overwatch` plans by it.
        named: The id of the run, for a caller that has to know it before there is a run (see
            `run.begin.name_run`).

    Raises:
        UsageError: If the question, a setting or the context is not valid.
        NoEvidenceError: If there is nothing to search.
        StoreError: If the database cannot be used.
    """
    own = own or OwnParts()
    settings = (settings or load()).model_copy(update=own.changes)
    question = check_question(question)
    check_ratings(settings.ratings)
    settings, because = settle_strategy(question, settings)
    choice = choose_search(settings, own)
    if own.providers is None:
        # A run keeps the names of its providers, not "auto": a key that is added or removed must
        # not change what a resume or replay asks.
        settings = settings.model_copy(update={"search": choice.names or settings.search})
    with _open(settings, store) as opened:
        run = new_run(question, settings, opened, deepens, context, named)
        session: Session | None = None
        try:
            session = Session(
                run, settings, opened, on_event=on_event, because=because, own=own, choice=choice
            )
            await session.prepare()
        except BaseException:
            if session is not None:
                await session.close()
            # Nothing has happened yet, so nothing is left behind.
            opened.runs.delete(run.id, time.time())
            raise
        return write_outcome(await session.work(ask, resumed=False), opened, settings, out)


async def deepen(
    run_id: str,
    section: int,
    settings: Settings | None = None,
    *,
    changes: Mapping[str, Any] | None = None,
    on_event: OnEvent | None = None,
    ask: Ask | None = None,
    out: Path | None = None,
    store: Store | None = None,
) -> Outcome:
    """Look deeper into a section of a finished report, in a new run that recalls the old one.

    Args:
        run_id: The finished run.
        section: Number of the section in its report, from 1.
        settings: The settings of this machine; the research settings come from the old run.
        changes: Settings that differ from the old run's, such as `{"strategy": "popper"}`.
        on_event: As for `research`.
        ask: As for `research`.
        out: As for `research`.
        store: As for `research`.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet, or no such section.
    """
    settings = settings or load()
    with _open(settings, store) as opened:
        deeper = plan_deeper_look(run_id, section, settings, opened, changes)
        more: dict[str, Any] = {"on_event": on_event, "ask": ask, "out": out, "store": opened}
        return await research(deeper.question, deeper.settings, deepens=deeper.run, **more)


async def resume(
    run_id: str,
    settings: Settings | None = None,
    *,
    on_event: OnEvent | None = None,
    ask: Ask | None = None,
    out: Path | None = None,
    store: Store | None = None,
    leave: asyncio.Event | None = None,
) -> Outcome:
    """Go on with a run that was stopped or killed, failed, or waits; return a finished one.

    A run that waits in the queue begins.

    Args:
        run_id: The run.
        settings: The settings of this machine; the research settings come from the run.
        on_event: As for `research`.
        ask: As for `research`.
        out: As for `research`.
        store: As for `research`.
        leave: Once it is set, the run makes no further call, and stops when those that were sent
            are answered.
    """
    settings = settings or load()
    with _open(settings, store) as opened:
        run = opened.runs.get(run_id)
        mine = from_public(run.settings, settings)
        if run.status in FINISHED and opened.records.report(run.id):
            return write_outcome(load_outcome(run, opened), opened, mine, out)
        resumed = not run.queued
        if not resumed:
            run = begin_queued(run, mine, opened)
            mine = from_public(run.settings, settings)
        session = Session(run, mine, opened, on_event=on_event)
        outcome = await session.work(ask, resumed=resumed, leave=leave)
        return write_outcome(outcome, opened, mine, out)


async def replay(
    run_id: str,
    settings: Settings | None = None,
    *,
    on_event: OnEvent | None = None,
    store: Store | None = None,
) -> Outcome:
    """Run a finished run again from its journal alone, without any call to the outside.

    Raises:
        DeepdiverError: If the report comes out differently from the one on record.
    """
    settings = settings or load()
    with _open(settings, store) as opened:
        run = opened.runs.get(run_id)
        text = opened.records.report(run.id)
        if run.status not in FINISHED or text is None:
            raise UsageError(
                f"run {run.id} is {run.status.value}, not finished; go on with: deepdiver resume "
                f"{run.id}"
            )
        session = Session(
            run, from_public(run.settings, settings), opened, on_event=on_event, mode=Mode.REPLAY
        )
        outcome = await session.work(None, resumed=True)
        if outcome.error is not None:
            raise outcome.error
        before = Report.model_validate_json(text)
        if outcome.report is None or outcome.report.hash != before.hash:
            versions = f"made by deepdiver {run.version}, replayed by {VERSION}"
            raise DeepdiverError(
                f"the replay of {run.id} gave another report than the one on record ({versions})"
            )
        return outcome


@contextlib.contextmanager
def _open(settings: Settings, store: Store | None) -> Iterator[Store]:
    if store is not None:
        yield store
        return
    opened = open_store(settings)
    try:
        yield opened
    finally:
        opened.close()
