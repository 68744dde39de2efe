"""Steering a run that is under way, from any process: "look at X too", "ignore that source".

What a person says is entered into the journal at once, as *reserved*: it is on record, and the run
has not heeded it. Before some of its steps (`strategies.shared.heed`) the run looks for it, and
settles it with the number of the step. A run that is resumed or replayed heeds it before the same
step, so it takes the same path, and buys nothing twice: what was said since then waits until the
run is beyond the last step that it has begun before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from deepdiver.core.identity import canonical
from deepdiver.core.record import FINISHED
from deepdiver.core.steering import Steering
from deepdiver.errors import UsageError
from deepdiver.gateway import Mode, Reply, Request
from deepdiver.gateway.journal import reply_from_json, reply_to_json
from deepdiver.store import CallState, JournalRow, Store

MOST = 20
"""The most that can be said to one run: each look costs as much as one of the run's own, beyond
the ceiling that was computed when it began."""
LONGEST = 1_000
"""Characters of one thing that is said."""
_STARTED, _PHASE = '"type":"run_started"', '"type":"phase_started"'
"""How events are told apart without reading them: in JSON, no text can hold these quotes."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said to a run."""

    steering: Steering
    """What was said."""
    heeded: bool
    """Whether the run has heeded it."""


def steer(run_id: str, steering: Steering, store: Store) -> None:
    """Say something to a run that is not finished; it heeds that before one of its next steps.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it is finished, if there is nothing to heed, or if too much was said.
    """
    run = store.runs.get(run_id)
    if run.status in FINISHED:
        raise UsageError(f"run {run.id} is finished: look deeper into its report, or ask again")
    text = " ".join(steering.text.split())
    if not text:
        raise UsageError("say what to look at, or which source to leave out")
    if len(text) > LONGEST:
        raise UsageError(f"that has {len(text):,} characters; {LONGEST:,} are the most")
    rows = store.journal.rows(run.id, "steer")
    if len(rows) >= MOST:
        raise UsageError(f"{MOST} things were said to run {run.id}, which is the maximum")
    said = {"number": len(rows), **steering.model_dump(mode="json"), "text": text}
    request = Request("steer", "person", steering.kind.value, said)
    known = store.journal.get(run.id, request.key)
    if known is not None and known.state is CallState.SETTLED:  # said twice at the same moment
        return
    store.journal.reserve(
        run.id,
        request.key,
        kind=request.kind,
        provider=request.provider,
        what=request.what,
        request=canonical(request.payload),
        worst=Decimal(0),
        now=time.time(),
    )


def said_to(run_id: str, store: Store) -> list[Said]:
    """Return what was said to a run, in order."""
    return [
        Said(_steering_of(row), row.state is CallState.SETTLED)
        for row in store.journal.rows(run_id, "steer")
    ]


class Ear:
    """Hears what is said to one run, in one process."""

    def __init__(self, run: str, store: Store, mode: Mode) -> None:
        """Listen for a run; a replay hears what the run has heeded."""
        self._run, self._store, self._live = run, store, mode is Mode.LIVE
        self._reached: int | None = None

    def __call__(self, step: int) -> Sequence[Steering]:
        """Return what is to be heeded before a step, and put on record that it is."""
        heard: list[Steering] = []
        for row in self._store.journal.rows(self._run, "steer"):
            if row.state is CallState.SETTLED:
                if _step_of(row) == step:
                    heard.append(_steering_of(row))
            elif self._live and step > self._before():
                reply = reply_to_json(Reply({"step": step}))
                self._store.journal.settle(self._run, row.key, reply, Decimal(0), time.time())
                heard.append(_steering_of(row))
        return heard

    def _before(self) -> int:
        """Return the last step that an earlier process has begun; 0: there was none."""
        if self._reached is None:
            self._reached = steps_before(self._store.records.events(self._run))
        return self._reached


def steps_before(events: Sequence[tuple[int, str]]) -> int:
    """Return the most steps that any process before the last one has begun."""
    counts = [0]
    for _, text in events:
        if _STARTED in text:
            counts.append(0)
        elif _PHASE in text:
            counts[-1] += 1
    return max(counts[:-1], default=0)


def _steering_of(row: JournalRow) -> Steering:
    said = json.loads(row.request)
    return Steering.model_validate({name: said[name] for name in Steering.model_fields})


def _step_of(row: JournalRow) -> int:
    return int(reply_from_json(row.reply or "").value["step"])
