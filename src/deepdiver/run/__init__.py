"""The one runner.

Settings → dependencies → graph → events → record; and the same again for resume and replay.

A resumed run is run again from the start over its journal: what was asked before is answered from
there, and the run goes on where the journal ends. A replay does the same with no outside at all.
There is one way through the code for all three.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from deepdiver import __version__
from deepdiver.core.record import FINISHED, Report
from deepdiver.core.settings import Settings, from_public, load, strict_checkpoints
from deepdiver.errors import DeepdiverError, UsageError

strict_checkpoints()  # must come before langgraph is imported, which the next lines do

from deepdiver.gateway import Mode  # noqa: E402
from deepdiver.report.files import write_files  # noqa: E402
from deepdiver.run.agent import Own, create_deepdiver_agent  # noqa: E402
from deepdiver.run.begin import check_question, load_ledger, new_run, settle_strategy  # noqa: E402
from deepdiver.run.deepen import look_deeper  # noqa: E402
from deepdiver.run.session import Ask, OnEvent, Outcome, Session  # noqa: E402
from deepdiver.store import Store, open_store  # noqa: E402
from deepdiver.strategies.table import TABLE  # noqa: E402
from deepdiver.tools.credibility import check_ratings  # noqa: E402
from deepdiver.tools.registry import choose  # noqa: E402

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
    own: Own | None = None,
) -> Outcome:
    """Research a question.

    Args:
        question: What to find out.
        settings: How; from files and environment by default.
        on_event: Told of everything that happens.
        ask: Puts something before a person; without it a run that needs one waits to be resumed.
        out: Folder for the run's files; by default one in the home folder.
        store: Where the run is kept; by default the database of the home folder.
        deepens: Id of the run whose report this one looks deeper into, if it does (see `deepen`).
        own: A model and tools of the caller's, in place of those that the settings name.

    Raises:
        UsageError: If the call cannot be carried out as it is.
        NoEvidenceError: If there is nothing to search.
        StoreError: If the database cannot be used.
    """
    own = own or Own()
    settings = (settings or load()).model_copy(update=own.changes)
    question = check_question(question)
    check_ratings(settings.ratings)
    settings, because = settle_strategy(question, settings)
    # A run keeps who was searched, not "auto": a key that comes or goes must not change what a
    # resume or replay asks.
    if own.providers is None:
        settings = settings.model_copy(update={"search": choose(settings).names or settings.search})
    with _opened(settings, store) as opened:
        run = new_run(question, settings, opened, deepens)
        session: Session | None = None
        try:
            session = Session(
                run,
                settings,
                opened,
                on_event=on_event,
                because=because,
                models=own.models,
                reasoner=own.reasoner,
                providers=own.providers,
            )
            await session.prepare()
        except BaseException:
            if session is not None:
                await session.close()
            opened.delete_run(
                run.id, time.time()
            )  # nothing happened yet, so nothing is left behind
            raise
        return _keep(await session.work(ask, resumed=False), opened, settings, out)


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
    """Look deeper into a section of a finished run's report, in a new run that remembers the old one.

    Args:
        run_id: The finished run.
        section: Number of the section in its report, from 1.
        settings: This machine's; what shapes the research is taken from the old run.
        changes: What is to be different all the same, such as `{"strategy": "popper"}`.
        on_event: As for `research`.
        ask: As for `research`.
        out: As for `research`.
        store: As for `research`.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report yet, or no such section.
    """
    settings = settings or load()
    with _opened(settings, store) as opened:
        deeper = look_deeper(run_id, section, settings, opened, changes)
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
) -> Outcome:
    """Go on with a run that was stopped, killed, failed or is waiting.

    A finished run is returned as it is.
    """
    settings = settings or load()
    with _opened(settings, store) as opened:
        run = opened.get_run(run_id)
        mine = from_public(run.settings, settings)
        if run.status in FINISHED and (text := opened.get_report(run.id)):
            rows = opened.journal_list(run.id)
            cost = sum((row.cost for row in rows), Decimal(0))
            done = Outcome(
                run, Report.model_validate_json(text), cost, tuple(r for r in rows if r.uncertain)
            )
            return _keep(done, opened, mine, out)
        session = Session(run, mine, opened, on_event=on_event)
        return _keep(await session.work(ask, resumed=True), opened, mine, out)


async def replay(
    run_id: str,
    settings: Settings | None = None,
    *,
    on_event: OnEvent | None = None,
    store: Store | None = None,
) -> Outcome:
    """Run a finished run again from its journal alone, with no outside.

    Raises:
        DeepdiverError: If the report comes out differently from the one on record.
    """
    settings = settings or load()
    with _opened(settings, store) as opened:
        run = opened.get_run(run_id)
        text = opened.get_report(run.id)
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
            versions = f"made by deepdiver {run.version}, replayed by {__version__}"
            raise DeepdiverError(
                f"the replay of {run.id} gave another report than the one on record ({versions})"
            )
        return outcome


@contextlib.contextmanager
def _opened(settings: Settings, store: Store | None) -> Iterator[Store]:
    if store is not None:
        yield store
        return
    opened = open_store(settings.home)
    try:
        yield opened
    finally:
        opened.close()


def _keep(outcome: Outcome, store: Store, settings: Settings, out: Path | None) -> Outcome:
    """Write the run's files."""
    if outcome.report is None:
        return outcome
    folder = out or settings.home / "runs" / outcome.run.id
    write_files(
        folder,
        outcome.run,
        outcome.report,
        load_ledger(store, outcome.run.id),
        store,
        outcome.cost,
        scene=TABLE[outcome.run.strategy].scene,
    )
    return dataclasses.replace(outcome, folder=folder)
