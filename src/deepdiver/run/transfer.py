"""Taking a run out of a store and into another: what `export`, `verify` and `import` share."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from contextlib import suppress

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import FINISHED, Report, Run, RunStatus, Source
from deepdiver.core.settings import MOVING
from deepdiver.errors import LostTextError, UsageError
from deepdiver.gateway.journal import reply_from_json
from deepdiver.report.exports.package import Saved, journal_hash
from deepdiver.report.history import read_history
from deepdiver.run.record import load_ledger
from deepdiver.store import CallState, Journal, JournalRow, Store
from deepdiver.strategies.table import TABLE

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,120}")
"""The id of a run is also the name of a folder."""


def take_out(run_id: str, store: Store) -> Saved:
    """Return a whole run: record, journal, events, and every text that it read.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it is not finished.
    """
    run = store.runs.get(run_id)
    text = store.records.report(run.id)
    if text is None or run.status not in FINISHED:
        raise UsageError(
            f"run {run.id} is {run.status.value} and has no report yet; continue with: deepdiver "
            f"resume {run.id}"
        )
    return save(run, Report.model_validate_json(text), load_ledger(store, run.id), store)


def save(run: Run, report: Report, ledger: Ledger, store: Store) -> Saved:
    """Return a run with a report, with everything that the store has of it."""
    rows = tuple(store.journal.rows(run.id))
    read = [source.snapshot for source in ledger.of(Source).values()]
    fetched = [hash_ for row in rows if row.reply for hash_ in reply_from_json(row.reply).texts]
    events = tuple(event for _, event in store.records.events(run.id))
    return Saved(
        run,
        report,
        ledger,
        _texts((*read, *fetched), store),
        journal_hash(rows),
        len(rows),
        TABLE[run.strategy].scene,
        rows,
        events,
        read_history(rows, events),
    )


def _texts(hashes: Iterable[str], store: Store) -> dict[str, str]:
    """Return texts by their hashes; one that is lost is left out, and `verify` says so."""
    found: dict[str, str] = {}
    for hash_ in hashes:
        with suppress(LostTextError):
            found[hash_] = store.texts.get(hash_)
    return found


def put_in(saved: Saved, store: Store) -> Run:
    """Enter a run from elsewhere into a store, and return it as it is there.

    The addresses of services that it was made with are left behind: they shape no answer, and those
    of a stranger must not get this machine's keys if somebody looks deeper into the run.

    Raises:
        UsageError: If the store has another run of this id, or the run is none of deepdiver's.
    """
    _check_names(saved.run)
    if any(held.id == saved.run.id for held in store.runs.list_all()):
        text = store.records.report(saved.run.id)
        if text is None or Report.model_validate_json(text).hash != saved.report.hash:
            raise UsageError(
                f"there is another run {saved.run.id} here: delete it first, or use another --home"
            )
        return store.runs.get(saved.run.id)
    settings = {key: value for key, value in saved.run.settings.items() if key not in MOVING}
    changes = {"settings": settings, "status": RunStatus.STOPPED}
    store.runs.create(saved.run.model_copy(update=changes))
    try:
        _fill(saved, store)
    except BaseException:
        store.runs.delete(saved.run.id, time.time())
        raise
    store.runs.set_status(saved.run.id, saved.run.status)
    return store.runs.get(saved.run.id)


def _check_names(run: Run) -> None:
    """Refuse a run whose id could name a file elsewhere, or whose strategy is not known here."""
    if not _ID.fullmatch(run.id):
        raise UsageError(
            f"{run.id[:80]!r} is not the id of a run: the file was not made by deepdiver"
        )
    if run.strategy not in TABLE:
        raise UsageError(
            f"run {run.id} was made by a strategy that is not known here: {run.strategy[:80]!r}"
        )
    if run.status not in FINISHED:
        raise UsageError(f"run {run.id} is {run.status.value}: only a finished run can be imported")


def _fill(saved: Saved, store: Store) -> None:
    run = saved.run.id
    for text in saved.texts.values():
        store.texts.put(run, text)
    store.records.add(
        run,
        [
            (type(entry).__name__.lower(), entry.id, entry.model_dump_json())
            for entry in saved.ledger
        ],
    )
    store.records.add_events(run, saved.events)
    for row in saved.rows:
        _enter(row, store.journal)
    store.records.save_report(run, saved.report.model_dump_json())


def _enter(row: JournalRow, journal: Journal) -> None:
    """Enter a call with its counts, by the steps that led to them."""

    def reserve() -> None:
        journal.reserve(
            row.run,
            row.key,
            kind=row.kind,
            provider=row.provider,
            what=row.what,
            request=row.request,
            worst=row.worst,
            now=row.first,
        )

    reserve()
    for _ in range(row.uncertain):
        journal.mark_sent(row.run, row.key, row.first)
        reserve()
    sends = row.sends - row.uncertain
    for _ in range(sends):
        journal.mark_sent(row.run, row.key, row.last)
    if row.state is CallState.SETTLED:
        journal.settle(row.run, row.key, row.reply or "", row.cost, row.last)
    elif row.state is CallState.FAILED:
        journal.fail(row.run, row.key, row.error or "", row.cost, row.last)
    elif row.state is CallState.RESERVED and sends > 0:
        journal.mark_declined(row.run, row.key, row.last)
