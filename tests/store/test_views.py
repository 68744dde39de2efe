"""A store seen without writing, one beside the cache and limits of another, one with a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest

from deepdiver.core.identity import digest
from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import LostTextError, UnknownNameError
from deepdiver.store import Store
from deepdiver.store.sqlite import SqliteStore, open_memory
from deepdiver.store.views import read_only, remember_texts, share_cache_and_limits
from tests.store.places import AnyStore

NOW = 1_000.0


def run_of(id_: str) -> Run:
    return Run(
        id=id_, question="?", strategy="popper", settings={}, created="2026-11-15", version="0"
    )


@pytest.fixture
def own() -> Iterator[SqliteStore]:
    with closing(open_memory()) as made:
        made.runs.create(run_of("mine"))
        yield made


# -- without writing


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.runs.create(run_of("r2")),
        lambda store: store.runs.set_status("r1", RunStatus.FAILED),
        lambda store: store.runs.set_status("r1", RunStatus.FAILED, ["{}"]),
        lambda store: store.runs.delete("r1", NOW),
        lambda store: store.records.add("r1", [("finding", "f_1", "{}")]),
        lambda store: store.records.add_events("r1", ["{}"]),
        lambda store: store.records.save_report("r1", "{}"),
        lambda store: store.texts.put("r1", "never seen"),
    ],
)
def test_writing_does_nothing(store: AnyStore, write: Callable[[Store], Any]) -> None:
    key = store.texts.put("r1", "seen")
    write(read_only(store))
    assert store.runs.list_all() == [store.runs.get("r1")]
    assert store.runs.get("r1").status is not RunStatus.FAILED
    assert store.records.ledger("r1") == []
    assert store.records.events("r1") == []
    assert store.records.report("r1") is None
    assert store.texts.get(key) == "seen"
    with pytest.raises(LostTextError):
        store.texts.get(digest("never seen"))


def test_a_text_that_is_not_written_has_its_hash_all_the_same(store: AnyStore) -> None:
    assert read_only(store).texts.put("r1", "a text") == store.texts.put("r1", "a text")


def test_everything_can_be_read(store: AnyStore) -> None:
    store.records.add("r1", [("finding", "f_1", "{}")])
    store.records.add_events("r1", ["{}"])
    store.records.save_report("r1", '{"answer": 1}')
    key = store.texts.put("r1", "a text")
    seen = read_only(store)
    assert seen.runs.get("r") == store.runs.get("r1")
    assert seen.runs.list_all() == seen.runs.list_all(None, 9) == store.runs.list_all()
    assert seen.runs.list_past("r1", "f_") == []
    assert seen.records.ledger("r1") == [("finding", "f_1", "{}")]
    assert seen.records.events("r1") == [(1, "{}")]
    assert seen.records.events("r1", after=1) == []
    assert seen.records.report("r1") == '{"answer": 1}'
    assert seen.texts.get(key) == "a text"
    assert seen.texts.hold("r1", key)
    assert not seen.texts.hold("r1", digest("never seen"))


def test_journal_leases_cache_and_limits_are_the_stores_own(store: AnyStore) -> None:
    seen = read_only(store)
    assert seen.journal is store.journal
    assert seen.leases is store.leases
    assert seen.cache is store.cache
    assert seen.limits is store.limits


# -- beside another


def test_a_text_that_neither_keeps_is_not_held(store: AnyStore, own: SqliteStore) -> None:
    both = share_cache_and_limits(own, store)
    assert not both.texts.hold("mine", digest("never seen"))
    with pytest.raises(LostTextError):
        both.texts.get(digest("never seen"))


def test_a_text_that_the_other_keeps_is_copied_when_it_is_held(
    store: AnyStore, own: SqliteStore
) -> None:
    key = store.texts.put("r1", "theirs")
    both = share_cache_and_limits(own, store)
    with pytest.raises(LostTextError):
        both.texts.get(key)
    assert both.texts.hold("mine", key)
    assert both.texts.hold("mine", key), "and once more"
    assert both.texts.get(key) == "theirs"
    store.runs.delete("r1", NOW)
    assert both.texts.get(key) == "theirs", "it is a copy"


def test_what_is_put_stays_with_the_own_store(store: AnyStore, own: SqliteStore) -> None:
    key = share_cache_and_limits(own, store).texts.put("mine", "ours")
    assert own.texts.get(key) == "ours"
    with pytest.raises(LostTextError):
        store.texts.get(key)


def test_runs_and_journal_are_apart_and_cache_and_limits_are_shared(
    store: AnyStore, own: SqliteStore
) -> None:
    both = share_cache_and_limits(own, store)
    with pytest.raises(UnknownNameError):
        both.runs.get("r1")
    both.journal.reserve(
        "mine",
        "k",
        kind="feed",
        provider="p",
        what="w",
        request="{}",
        worst=Decimal(0),
        now=NOW,
    )
    assert store.journal.rows("r1") == []
    both.cache.put("c", "an answer", NOW + 10)
    assert store.cache.get("c", NOW) == "an answer"
    grant = {"rate": 1.0, "per": 1_000.0, "concurrent": 1}
    assert both.limits.take("p", "mine", NOW, NOW + 10, **grant).granted  # type: ignore[arg-type]
    assert not store.limits.take("p", "other", NOW, NOW + 10, **grant).granted  # type: ignore[arg-type]


# -- with a memory


class Reads:
    """Counts which texts a store is asked for."""

    def __init__(self, store: AnyStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        get = store.texts.get

        def note(digest: str) -> str:
            self.asked.append(digest)
            return get(digest)

        monkeypatch.setattr(store.texts, "get", note)


def test_a_text_that_is_lost_is_missed_however_often_and_whoever_has_put_it(
    store: AnyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, reads = remember_texts(store), Reads(store, monkeypatch)
    for _ in range(2):
        with pytest.raises(LostTextError):
            seen.texts.get(digest("never seen"))
    assert len(reads.asked) == 2
    key = seen.texts.put("r1", "gone again")
    store.runs.delete("r1", NOW)
    with pytest.raises(LostTextError):
        seen.texts.get(key)


def test_a_text_is_read_once(store: AnyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    key, empty = store.texts.put("r1", "a text"), store.texts.put("r1", "")
    seen, reads = remember_texts(store), Reads(store, monkeypatch)
    assert seen.texts.hold("r1", key)
    assert not seen.texts.hold("r1", digest("never seen"))
    assert [seen.texts.get(each) for each in (key, empty) * 3] == ["a text", ""] * 3
    assert reads.asked == [key, empty]


def test_the_texts_that_were_read_last_are_remembered_within_a_bound(
    store: AnyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, long = (
        store.texts.put("r1", text) for text in ("one", "two", "six", "a" * 10)
    )
    seen, reads = remember_texts(store, most=6), Reads(store, monkeypatch)
    for key in (first, second, first, third, first, second):
        seen.texts.get(key)
    assert reads.asked == [first, second, third, second], "the second was read longest ago"
    reads.asked.clear()
    assert [seen.texts.get(long) for _ in range(2)] == ["a" * 10] * 2
    assert reads.asked == [long, long], "it is longer than all that may be remembered"
    assert seen.texts.get(second) == "two"


def test_everything_but_the_texts_is_the_stores_own(store: AnyStore) -> None:
    seen = remember_texts(store)
    assert seen.runs is store.runs
    assert seen.records is store.records
    assert seen.journal is store.journal
