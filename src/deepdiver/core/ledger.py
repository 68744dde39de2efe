"""The ledger: everything a run has found, append-only, by content id.

`merge` is a join: commutative, associative and idempotent. Branches that ran in parallel can
therefore be merged in any order, twice, or after a crash, and give the same ledger. Two records
with one id can differ only in fields that the id does not cover (when a source was fetched, which
provider found it); the one that comes first in canonical order wins.
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
    """Return one of two records with the same id: the first in canonical order.

    The choice does not depend on which was added first.
    """
    if one == other:
        return one
    return min(one, other, key=lambda entry: canonical(entry.model_dump(mode="json")))


class Ledger:
    """An immutable collection of records by id; adding to it returns a new one."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Hold the given records, each once."""
        held: dict[str, Entry] = {}
        for entry in entries:
            known = held.get(entry.id)
            held[entry.id] = entry if known is None else _first(known, entry)
        self._entries: Mapping[str, Entry] = MappingProxyType(held)

    def add(self, *entries: Entry) -> Ledger:
        """Return a ledger that also holds these records."""
        return Ledger((*self._entries.values(), *entries))

    def of(self, kind: type[E]) -> dict[str, E]:
        """Return all records of one kind, ordered by id."""
        return {
            key: entry for key, entry in sorted(self._entries.items()) if isinstance(entry, kind)
        }

    def get(self, kind: type[E], key: str) -> E:
        """Return one record.

        Raises:
            KeyError: If the ledger has no record of that kind and id.
        """
        entry = self._entries[key]
        if not isinstance(entry, kind):
            raise KeyError(f"{key} is a {type(entry).__name__}, not a {kind.__name__}")
        return entry

    def __contains__(self, key: object) -> bool:
        """Whether there is a record with this id."""
        return key in self._entries

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all records, ordered by id."""
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
        """Return how many records of each kind there are."""
        counts = {name: len(self.of(kind)) for name, kind in KINDS.items()}
        return f"Ledger({', '.join(f'{name}={n}' for name, n in counts.items() if n)})"


def merge(one: Ledger, other: Ledger) -> Ledger:
    """Return a ledger with the records of both: commutative, associative, idempotent."""
    return Ledger((*one, *other))
