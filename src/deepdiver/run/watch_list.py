"""The watched runs: a text for each, with its schedule and how far its round has come.

It is a file of the home, or a row of the database that several machines share. Every step of a
round is one write of it: whatever was killed, the next process goes on behind the last step.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic import Field, ValidationError

from deepdiver.core.record import Record
from deepdiver.errors import DamagedStoreError, StoppedError, UsageError
from deepdiver.store import Store
from deepdiver.store.notes import notes_of
from deepdiver.tools.process_lock import try_lock

FOLDER = "watches"
"""The folder of the home."""
WEEK = 7 * 86_400
"""Seconds between two rounds, where nobody says."""
RETRY = 3_600
"""Seconds after which a round that failed is tried again, unless the next one is due sooner."""


class Stir(Record):
    """Something that a round found and that was not so when the run was made."""

    kind: Literal["new", "changed", "gone"]
    """A text that nobody has read yet, one that has changed, or a cited source that is gone."""
    url: str
    """Its address."""
    title: str = ""
    """Its title."""
    query: str = ""
    """The standing query that found it; empty: it was looked at because the report cites it."""


class Round(Record):
    """A round in which something stirred, so that the question is researched again."""

    run: str
    """The id of the run that does so. It is chosen before that run begins, so that it is found
    again whenever this process is killed."""
    stirred: tuple[Stir, ...]
    """What stirred."""


class News(Record):
    """Claims that moved."""

    at: str
    """When they were found to have, ISO 8601 in UTC."""
    before: str
    """The run whose claims were watched."""
    after: str
    """The run that says otherwise."""
    stirred: tuple[Stir, ...]
    """What made it look."""
    lines: tuple[str, ...] = ()
    """What is told, as lines; empty once it is told."""
    record: dict[str, Any] = Field(default_factory=dict)
    """The same as values of JSON; empty once it is told."""
    telling: bool = False
    """Whether a process has begun to tell it. If that was killed, nobody knows whether it has."""


class Watch(Record):
    """A watched run."""

    run: str
    """The run that was put on the list."""
    question: str
    """Its question."""
    every: int
    """Seconds between two rounds."""
    base: str
    """The run whose claims are watched: this one, or the last one that had news."""
    asked: str
    """When the last round ended, or the run began; ISO 8601 in UTC."""
    retry: str = ""
    """When a round that failed is tried again; empty: none has."""
    trouble: str = ""
    """Why it failed."""
    seen: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """What standing queries have brought besides what the run read: addresses, and the hashes of
    their texts as they were seen last; an empty one stands for a source that is gone."""
    round: Round | None = None
    """The round that has begun, if one has."""
    news: News | None = None
    """What is still to be told, if anything is."""
    told: tuple[News, ...] = ()
    """What was told, the newest last."""

    @property
    def due(self) -> datetime:
        """When the next round is due; at once if something was left undone."""
        if self.retry:
            return datetime.fromisoformat(self.retry)
        if self.round is not None or self.news is not None:
            return datetime.fromisoformat(self.asked)
        return datetime.fromisoformat(self.asked) + timedelta(seconds=self.every)


class WatchList:
    """The watched runs of a home, or of a database that several machines share."""

    def __init__(self, home: Path, store: Store | None = None) -> None:
        """Use the list of a home, unless the store is one that machines share."""
        self._notes = notes_of(store, home, try_lock)

    def all(self) -> list[Watch]:
        """Return all watches, ordered by run.

        Raises:
            StoreError: If one of them cannot be read.
        """
        found = self._notes.names(FOLDER)
        return [watch for name in found if (watch := self._read(name)) is not None]

    def get(self, run: str) -> Watch | None:
        """Return the watch of a run, if it is watched."""
        return self._read(_name(run))

    def put(self, watch: Watch) -> None:
        """Put a run on the list, or change its watch."""
        self._notes.put(_name(watch.run), watch.model_dump_json(indent=1) + "\n")

    def advance(self, watch: Watch) -> Watch:
        """Save how far a round has come, and return the watch.

        Raises:
            StoppedError: If the run was taken off the list in the meantime.
        """
        if self._notes.get(_name(watch.run)) is None:
            raise StoppedError(f"run {watch.run} is not watched any more")
        self.put(watch)
        return watch

    def drop(self, run: str) -> bool:
        """Take a run off the list; return whether it was on it."""
        return self._notes.drop(_name(run))

    def find(self, name: str) -> Watch:
        """Return the watch of a run by its id or by an unambiguous beginning of it.

        Raises:
            UsageError: If no watched run, or more than one, fits.
        """
        fitting = [watch for watch in self.all() if watch.run.startswith(name)]
        exact = [watch for watch in fitting if watch.run == name]
        if len(exact or fitting) == 1:
            return (exact or fitting)[0]
        if fitting:
            named = ", ".join(watch.run for watch in fitting[:3])
            raise UsageError(f"{name[:80]!r} is ambiguous: it may be {named}; give more of the id")
        raise UsageError(
            f"no run {name[:80]!r} is watched; `deepdiver watch --list` shows the list"
        )

    def hold(self, run: str) -> AbstractContextManager[bool]:
        """Hold a watch, so that one process works on it at a time; gives whether it is held."""
        return self._notes.hold(_name(run))

    def _read(self, name: str) -> Watch | None:
        text = self._notes.get(name)
        if text is None:
            return None
        try:
            return Watch.model_validate_json(text)
        except ValidationError:
            raise DamagedStoreError(
                f"{self._notes.place(name)} is damaged: move it away, and watch the run again"
            ) from None


def _name(run: str) -> str:
    # The id of an imported run is a stranger's text.
    return f"{FOLDER}/{quote(run, safe='')}.json"


def timestamp(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
