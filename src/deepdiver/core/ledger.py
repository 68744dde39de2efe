"""The ledger: everything a run has found, append-only, by content id.

`merge` is a join: commutative, associative and idempotent. Branches that ran side by side can
therefore be put together in any order, twice, or after a crash, and the ledger is the same. Two
records with one id can differ only in fields that the id does not cover (when a source was fetched,
by whom it was found); the one that reads first in canonical order wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from deepdiver.core.identity import canonical
from deepdiver.core.record import (
    Contradiction,
    Correlation,
    Evidence,
    Finding,
    Hypothesis,
    Insight,
    Lead,
    Link,
    Record,
    Source,
    Trial,
    Verdict,
)

Entry = (
    Source
    | Finding
    | Insight
    | Hypothesis
    | Evidence
    | Trial
    | Correlation
    | Contradiction
    | Verdict
    | Link
    | Lead
)
KINDS: dict[str, type[Record]] = {
    kind.__name__.lower(): kind
    for kind in (
        Source,
        Finding,
        Insight,
        Hypothesis,
        Evidence,
        Trial,
        Correlation,
        Contradiction,
        Verdict,
        Link,
        Lead,
    )
}
"""What a ledger may hold, by name."""

E = TypeVar("E", bound=Record)


def _first(one: Entry, other: Entry) -> Entry:
    """Choose between two records of one id.

    The first in canonical order, so that the choice has no history.
    """
    if one == other:
        return one
    return min(one, other, key=lambda entry: canonical(entry.model_dump(mode="json")))


class Ledger:
    """An immutable bag of records by id; adding gives a new one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Hold the given records, each once."""
        held: dict[str, Entry] = {}
        for entry in entries:
            known = held.get(entry.id)
            held[entry.id] = entry if known is None else _first(known, entry)
        self._entries: Mapping[str, Entry] = MappingProxyType(held)

    def add(self, *entries: Entry) -> Ledger:
        """Return a ledger that holds these too."""
        return Ledger((*self._entries.values(), *entries))

    def of(self, kind: type[E]) -> dict[str, E]:
        """Return all records of one kind, ordered by id."""
        return {
            key: entry for key, entry in sorted(self._entries.items()) if isinstance(entry, kind)
        }

    def get(self, kind: type[E], key: str) -> E:
        """Return one record.

        Raises:
            KeyError: If there is none of that kind and id.
        """
        entry = self._entries[key]
        if not isinstance(entry, kind):
            raise KeyError(f"{key} is a {type(entry).__name__}, not a {kind.__name__}")
        return entry

    def __contains__(self, key: object) -> bool:
        """Whether a record of this id is held."""
        return key in self._entries

    def __iter__(self) -> Iterator[Entry]:
        """Walk all records, ordered by id."""
        return iter(entry for _, entry in sorted(self._entries.items()))

    def __len__(self) -> int:
        """Count the records."""
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        """Equal when they hold the same records."""
        return isinstance(other, Ledger) and dict(self._entries) == dict(other._entries)

    def __hash__(self) -> int:
        """Hash of the ids."""
        return hash(frozenset(self._entries))

    def __repr__(self) -> str:
        """Say how much is held."""
        counts = {name: len(self.of(kind)) for name, kind in KINDS.items()}
        return f"Ledger({', '.join(f'{name}={n}' for name, n in counts.items() if n)})"


def merge(one: Ledger, other: Ledger) -> Ledger:
    """Put two ledgers together: commutative, associative, idempotent."""
    return Ledger((*one, *other))
