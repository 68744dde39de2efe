"""What every store keeps, in SQLite and in PostgreSQL: each promise of the interface."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import digest
from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import LostTextError, RunBusyError, UnknownNameError
from tests.store.acts import NOW, make_run, one_line, reserve
from tests.store.places import AnyStore, Place, SqlitePlace
from tests.store.test_blobs import ANY_TEXT


def test_a_failed_write_is_undone_and_the_next_one_works(store: AnyStore) -> None:
    with pytest.raises(UnicodeEncodeError):
        store.records.add("r1", [("finding", "f1", "{}"), ("finding", "f\ud800", "{}")])
    assert store.records.ledger("r1") == []
    store.records.add("r1", [("finding", "f1", "{}")])
    assert len(store.records.ledger("r1")) == 1


@pytest.mark.slow
def test_threads_share_one_store(store: AnyStore) -> None:
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for n in range(25):
                key = f"{name}:{n}"
                reserve(store, key)
                store.journal.mark_sent("r1", key, NOW)
                store.journal.settle("r1", key, "{}", Decimal("0.01"), NOW)
                store.records.add_events("r1", ["{}", "{}"])
                assert store.texts.get(store.texts.put("r1", key)) == key
        except BaseException as error:  # noqa: BLE001 - shown by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [row.order for row in store.journal.rows("r1")] == list(range(1, 201))
    assert [number for number, _ in store.records.events("r1")] == list(range(1, 401))


# Runs


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.runs.set_status("r9", RunStatus.FAILED),
        lambda store: store.runs.delete("r9", NOW),
        lambda store: store.records.save_report("r9", "{}"),
        lambda store: store.leases.take("r9", "me", NOW, 9),
        lambda store: store.leases.ask_to_stop("r9"),
        lambda store: reserve(store, run="r9"),
        lambda store: store.journal.mark_sent("r9", "k", NOW),
        lambda store: store.records.add("r9", [("finding", "f", "{}")]),
        lambda store: store.records.add_events("r9", ["{}"]),
        lambda store: store.texts.put("r9", "text"),
        lambda store: store.runs.get("r9"),
    ],
)
def test_a_run_that_is_not_there_is_named(
    store: AnyStore, write: Callable[[AnyStore], object]
) -> None:
    with pytest.raises(UnknownNameError) as error:
        write(store)
    assert one_line(error) == "unknown run 'r9'; did you mean r1? `deepdiver runs` lists them"


@pytest.mark.parametrize(
    "name",
    ["zzz", "\ud800", "r\0", "\0", "a\nb\x1b[2J", "x" * 10**6, "%", "_", "*", "R1", "r1 "],
)
def test_a_name_that_is_no_run_gives_one_short_line(store: AnyStore, name: str) -> None:
    with pytest.raises(UnknownNameError, match="`deepdiver runs` lists them") as error:
        store.runs.get(name)
    assert len(one_line(error)) < 300


def test_a_beginning_finds_its_run(store: AnyStore) -> None:
    for id_ in ("20270115-apple", "20270115-plum", "20270116-pear", "20270115"):
        store.runs.create(make_run(id_))
    assert store.runs.get("20270116").id == "20270116-pear"
    assert store.runs.get("20270115-a").id == "20270115-apple"
    # Its whole name, although others begin with it.
    assert store.runs.get("20270115").id == "20270115"


def test_an_ambiguous_beginning_names_three(store: AnyStore) -> None:
    for n in range(5):
        store.runs.create(make_run(f"2027-{n}"))
    with pytest.raises(
        UnknownNameError, match="ambiguous: it may be 2027-0, 2027-1, 2027-2, …; give more"
    ) as error:
        store.runs.get("2027")
    one_line(error)
    store.runs.delete("2027-0", NOW)
    store.runs.delete("2027-1", NOW)
    with pytest.raises(UnknownNameError, match="it may be 2027-2, 2027-3, 2027-4; give more"):
        store.runs.get("20")
    with pytest.raises(UnknownNameError, match="ambiguous"):
        store.runs.get("")


def test_a_run_of_an_id_that_is_taken_is_refused(store: AnyStore) -> None:
    with pytest.raises(ValueError, match="there is a run r1 already"):
        store.runs.create(make_run(status=RunStatus.FAILED))
    assert store.runs.get("r1") == make_run()


@given(
    question=ANY_TEXT,
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | ANY_TEXT, st.lists, max_leaves=5
    ),
)
def test_every_run_comes_back_as_it_was(lasting: Place, question: str, value: object) -> None:
    run = Run(
        id="r",
        question=question,
        strategy="navigator",
        settings={"x": value},
        created="2027-01-15T08:00:00Z",
        version="1",
        status=RunStatus.WAITING,
    )
    with closing(lasting.fresh().open()) as store:
        store.runs.create(run)
        assert store.runs.get("r") == run
        assert store.runs.list_all() == [run]


def test_runs_are_listed_the_newest_first(store: AnyStore) -> None:
    store.runs.delete("r1", NOW)
    for id_, created in (
        ("b", "2027-02-01"),
        ("c", "2027-03-01"),
        ("a", "2027-01-01"),
        ("d", "2027-03-01"),
    ):
        store.runs.create(make_run(id_, created))
    assert [run.id for run in store.runs.list_all()] == ["d", "c", "b", "a"]
    for most in range(1, 6):
        met, before = list[str](), None
        while page := store.runs.list_all(before, most):
            assert len(page) <= most
            met += [run.id for run in page]
            before = page[-1].created, page[-1].id
        assert met == ["d", "c", "b", "a"], "each once, in the order of the whole list"


def test_a_page_follows_a_run_that_was_deleted_meanwhile(store: AnyStore) -> None:
    store.runs.delete("r1", NOW)
    second = "2027-02-01"
    for id_, created in (("a", "2027-01-01"), ("b", second), ("c", second), ("d", second)):
        store.runs.create(make_run(id_, created))
    before = (second, "c")
    assert [run.id for run in store.runs.list_all(before, 9)] == ["b", "a"]
    store.runs.delete("c", NOW)
    again = [run.id for run in store.runs.list_all(before, 9)]
    assert again == ["d", "b", "a"], "one that comes twice is better than one that never does"
    assert [run.id for run in store.runs.list_all(("2027-03-01", "gone"), 1)] == ["d"]
    assert store.runs.list_all(("2026-01-01", "a"), 9) == []


def test_events_come_with_a_status_or_neither_does(store: AnyStore) -> None:
    store.records.add_events("r1", ['{"first": 1}'])
    store.runs.set_status("r1", RunStatus.STOPPED, ['{"second": 2}', '{"third": 3}'])
    assert store.runs.get("r1").status is RunStatus.STOPPED
    told = [(1, '{"first": 1}'), (2, '{"second": 2}'), (3, '{"third": 3}')]
    assert store.records.events("r1") == told
    with pytest.raises(UnknownNameError):
        store.runs.set_status("r9", RunStatus.FAILED, ["{}"])
    with pytest.raises(AttributeError):
        store.runs.set_status("r1", None, ["{}"])  # type: ignore[arg-type]
    assert store.records.events("r1") == told


def test_a_status_is_kept(store: AnyStore) -> None:
    for status in RunStatus:
        store.runs.set_status("r1", status)
        assert store.runs.get("r1") == make_run(status=status)


def test_a_report_is_kept_and_replaced(store: AnyStore) -> None:
    assert store.records.report("r1") is None
    assert store.records.report("r9") is None
    store.records.save_report("r1", '{"answer":"first"}')
    store.records.save_report("r1", '{"answer":"\ud800"}')
    assert store.records.report("r1") == '{"answer":"\ud800"}'


def test_a_text_can_be_held_by_a_run_that_did_not_bring_it(store: AnyStore) -> None:
    store.runs.create(make_run("r2"))
    page = store.texts.put("r1", "a page")
    assert store.texts.hold("r2", page)
    assert store.texts.hold("r2", page)  # again changes nothing
    store.runs.delete("r1", NOW)
    assert store.texts.get(page) == "a page"
    store.runs.delete("r2", NOW)
    with pytest.raises(LostTextError):
        store.texts.get(page)


@pytest.mark.parametrize("what", ["is missing", "is damaged"])
def test_a_text_that_is_lost_is_named_with_the_runs_that_saved_it(place: Place, what: str) -> None:
    with closing(place.open()) as store:
        for name in ("r1", "r2", "r3"):
            store.runs.create(make_run(name))
        one = store.texts.put("r2", "a page")
        several = store.texts.put("r1", "another page")
        store.texts.hold("r3", several)
        store.texts.hold("r2", several)
        if what == "is damaged":
            place.execute("UPDATE blobs SET bytes = ?", (b"\0",))
        else:
            forget_texts_but_not_who_saved_them(place)
        for text, runs in ((one, "run r2"), (several, "run r1 and 2 others")):
            with pytest.raises(LostTextError) as caught:
                store.texts.get(text)
            assert caught.value.text == text
            assert str(caught.value) == (
                f"the saved text {text[:12]} of {runs} {what} in {store.database.file}: restore it "
                "from a copy, or ask the question again in a new run, which reads its sources anew"
            )


def forget_texts_but_not_who_saved_them(place: Place) -> None:
    if isinstance(place, SqlitePlace):
        with closing(sqlite3.connect(place.folder / "deepdiver" / "deepdiver.db")) as db, db:
            db.execute("DELETE FROM blobs")
    else:
        place.execute("SET session_replication_role = replica; DELETE FROM blobs")


def test_a_text_that_is_gone_cannot_be_held(store: AnyStore) -> None:
    assert not store.texts.hold("r1", "0" * 64)
    with pytest.raises(UnknownNameError):
        store.texts.hold("r9", store.texts.put("r1", "a page"))


def test_deleting_a_run_forgets_all_of_it_and_nothing_else(store: AnyStore, place: Place) -> None:
    store.runs.create(make_run("r2"))
    for run in ("r1", "r2"):
        reserve(store, run=run)
        store.records.add(run, [("finding", "f", "{}")])
        store.records.add_events(run, ["{}"])
        store.records.save_report(run, "{}")
        store.leases.take(run, "me", NOW, 9)
        store.leases.ask_to_stop(run)
        place.execute(
            "INSERT INTO orders (run, owner, priority, turn, options, state, put, due) "  # noqa: S608
            f"VALUES ('{run}', '', 0, 0, '{{}}', 'put', 0, 0)"
        )
    mine, shared = store.texts.put("r1", "mine"), store.texts.put("r1", "shared")
    yours = store.texts.put("r2", "yours")
    store.texts.put("r2", "shared")
    store.cache.put("k", "v", NOW + 9)
    store.leases.drop("r1", "me")
    store.runs.delete("r1", NOW)
    with pytest.raises(LostTextError):
        store.texts.get(mine)
    assert (store.texts.get(shared), store.texts.get(yours), store.cache.get("k", NOW)) == (
        "shared",
        "yours",
        "v",
    )
    tables = place.tables_of_runs()
    assert len(tables) == 8
    for table in tables:
        assert place.execute(f"SELECT DISTINCT run FROM {table}") == [("r2",)], table  # noqa: S608
    store.leases.drop("r2", "me")
    store.runs.delete("r2", NOW)
    assert place.execute("SELECT count(*) FROM blobs") == [(0,)]


def test_a_run_at_work_is_not_deleted(store: AnyStore) -> None:
    store.leases.take("r1", "host:1:a", NOW, 30)
    with pytest.raises(RunBusyError, match="host:1:a"):
        store.runs.delete("r1", NOW + 29)
    assert store.runs.get("r1") == make_run()
    store.runs.delete("r1", NOW + 30)
    assert store.runs.list_all() == []


# Leases


def test_a_second_process_is_refused_with_all_it_needs_to_know(store: AnyStore) -> None:
    store.leases.take("r1", "laptop:4711:ab12", NOW, 30)
    with pytest.raises(RunBusyError) as error:
        store.leases.take("r1", "laptop:4712:cd34", NOW + 10, 30)
    line = one_line(error)
    for part in (
        "run r1",
        "laptop:4711:ab12",
        "2027-01-15T08:00:30+00:00",
        "`deepdiver stop r1`",
        "in 20 s",
        "wait",
    ):
        assert part in line, part
    assert not store.leases.renew("r1", "laptop:4712:cd34", NOW, 30)


def test_who_holds_a_run(store: AnyStore) -> None:
    assert store.leases.holder("r1") == ""
    store.leases.take("r1", "a", NOW, 30)
    assert store.leases.holder("r1") == "a"
    store.leases.take("r1", "b", NOW + 31, 30)
    assert store.leases.holder("r1") == "b"
    store.leases.drop("r1", "a")
    assert store.leases.holder("r1") == "b"
    store.leases.drop("r1", "b")
    assert store.leases.holder("r1") == store.leases.holder("r9") == ""


def test_a_lease_can_be_taken_again_renewed_dropped_and_inherited(store: AnyStore) -> None:
    store.leases.take("r1", "a", NOW, 30)
    store.leases.take("r1", "a", NOW + 1, 30)
    assert store.leases.renew("r1", "a", NOW + 20, 30)
    with pytest.raises(RunBusyError):
        store.leases.take("r1", "b", NOW + 49.9, 30)
    assert store.leases.renew("r1", "a", NOW + 60, 5)  # Late, but nobody took it.
    store.leases.take("r1", "b", NOW + 65, 30)
    assert not store.leases.renew("r1", "a", NOW + 66, 30)
    store.leases.drop("r1", "a")  # Not a's any more.
    assert store.leases.renew("r1", "b", NOW + 66, 30)
    store.leases.drop("r1", "b")
    assert not store.leases.renew("r1", "b", NOW + 67, 30)
    store.leases.take("r1", "c", NOW + 67, 30)


def test_a_request_to_stop_is_heard_until_a_lease_is_taken(store: AnyStore) -> None:
    assert not store.leases.asked_to_stop("r1")
    assert not store.leases.asked_to_stop("r9")
    store.leases.take("r1", "a", NOW, 30)
    store.leases.ask_to_stop("r1")
    store.leases.ask_to_stop("r1")
    assert store.leases.asked_to_stop("r1")
    assert store.leases.renew("r1", "a", NOW, 30)
    assert store.leases.asked_to_stop("r1")
    with pytest.raises(RunBusyError):
        store.leases.take("r1", "b", NOW, 30)
    assert store.leases.asked_to_stop("r1")
    store.leases.drop("r1", "a")
    store.leases.take("r1", "b", NOW, 30)
    assert not store.leases.asked_to_stop("r1")


# Records, events, texts


def test_records_merge_as_the_ledger_does(store: AnyStore) -> None:
    store.records.add(
        "r1", [("finding", "f2", '{"b":1}'), ("source", "s1", "{}"), ("finding", "f1", "{}")]
    )
    store.records.add("r1", [("finding", "f2", '{"c":1}')])
    assert store.records.ledger("r1") == [
        ("finding", "f1", "{}"),
        ("finding", "f2", '{"b":1}'),
        ("source", "s1", "{}"),
    ]
    store.records.add("r1", iter([("finding", "f2", '{"a":1}'), ("finding", "f2", '{"d":1}')]))
    assert store.records.ledger("r1")[1] == ("finding", "f2", '{"a":1}')
    store.records.add("r1", [])
    assert store.records.ledger("r9") == []


@given(batches=st.lists(st.lists(st.tuples(st.sampled_from("abc"), ANY_TEXT))))
def test_records_do_not_depend_on_order(
    lasting: Place, batches: list[list[tuple[str, str]]]
) -> None:
    least: dict[str, str] = {}
    for id_, text in (pair for batch in batches for pair in batch):
        least[id_] = min(text, least.get(id_, text))
    expected = [("finding", id_, text) for id_, text in sorted(least.items())]
    with closing(lasting.fresh().open()) as store:
        for run, order in (("there", batches), ("back", batches[::-1])):
            store.runs.create(make_run(run))
            for batch in order:
                store.records.add(run, [("finding", id_, text) for id_, text in batch])
            assert store.records.ledger(run) == expected


def test_events_are_numbered_within_their_run(store: AnyStore) -> None:
    store.runs.create(make_run("r2"))
    store.records.add_events("r1", ["a", "b"])
    store.records.add_events("r2", ["x"])
    store.records.add_events("r1", iter(["c\ud800"]))
    store.records.add_events("r1", [])
    assert store.records.events("r1") == [(1, "a"), (2, "b"), (3, "c\ud800")]
    assert store.records.events("r1", after=2) == [(3, "c\ud800")]
    assert store.records.events("r1", after=3) == store.records.events("r9") == []
    assert store.records.events("r2") == [(1, "x")]


def test_a_text_that_is_not_kept_is_a_key_error(store: AnyStore) -> None:
    with pytest.raises(LostTextError, match="the saved text abc is missing in"):
        store.texts.get("abc")


def test_a_text_is_kept_once_for_all_runs(store: AnyStore, place: Place) -> None:
    store.runs.create(make_run("r2"))
    assert (
        store.texts.put("r1", "text")
        == store.texts.put("r1", "text")
        == store.texts.put("r2", "text")
        == digest("text")
    )
    assert place.execute("SELECT count(*), sum(chars) FROM blobs") == [(1, 4)]
    assert place.execute("SELECT count(*) FROM blob_refs") == [(2,)]


@given(text=ANY_TEXT)
def test_every_text_comes_back(lasting: Place, text: str) -> None:
    with closing(lasting.fresh().open()) as store:
        store.runs.create(make_run())
        back = store.texts.get(store.texts.put("r1", text))
    assert back == text.encode("utf-8", "replace").decode("utf-8")


# Cache


def test_the_cache_forgets_in_time(store: AnyStore) -> None:
    assert store.cache.get("k", NOW) is None
    store.cache.put("k", "one", NOW + 10)
    assert store.cache.get("k", NOW + 9.9) == "one"
    assert store.cache.get("k", NOW + 10) is None
    store.cache.put("k", "two\ud800", NOW + 20)
    assert store.cache.get("k", NOW + 10) == "two\ud800"


def test_a_claim_has_one_holder(store: AnyStore) -> None:
    assert store.cache.claim("k", "a", NOW, NOW + 10)
    assert store.cache.claim("k", "a", NOW, NOW + 10)
    assert not store.cache.claim("k", "b", NOW + 9, NOW + 19)
    assert store.cache.claim("other", "b", NOW, NOW + 10)
    store.cache.release("k", "b")
    assert not store.cache.claim("k", "b", NOW + 9, NOW + 19)
    assert store.cache.claim("k", "b", NOW + 10, NOW + 20)  # a never gave it back.
    assert not store.cache.claim("k", "a", NOW + 10, NOW + 20)
    store.cache.release("k", "b")
    assert store.cache.claim("k", "a", NOW + 10, NOW + 20)


def test_expired_rows_are_thrown_out_a_few_at_a_time(store: AnyStore, place: Place) -> None:
    def count() -> tuple[int, int]:
        query = "SELECT (SELECT count(*) FROM cache), (SELECT count(*) FROM cache_claims)"
        ((answers, claims),) = place.execute(query)
        return answers, claims

    for n in range(50):
        store.cache.put(f"old{n}", "v", NOW + 1 + n / 100)
        assert store.cache.claim(f"old{n}", "gone", NOW, NOW + 1)
    store.cache.put("fresh", "v", NOW + 1000)
    assert count() == (51, 50)
    assert store.cache.claim("a", "me", NOW + 500, NOW + 510)
    assert count() == (31, 31)
    for key in "bcd":
        assert store.cache.claim(key, "me", NOW + 500, NOW + 510)
    assert count() == (1, 4)
    assert store.cache.get("fresh", NOW + 500) == "v"


def test_a_queued_run_begins_once(store: AnyStore) -> None:
    waits = make_run("q1", status=RunStatus.QUEUED).model_copy(update={"queued": "then"})
    store.runs.create(waits)
    assert store.runs.get("q1") == waits
    begun = waits.model_copy(
        update={"created": "2030-01-01", "queued": "", "status": RunStatus.RUNNING}
    )
    assert store.runs.begin(begun)
    assert store.runs.get("q1") == begun
    assert store.runs.list_all()[0] == begun  # it counts from when it began
    assert not store.runs.begin(begun.model_copy(update={"created": "2031-01-01"}))
    assert store.runs.get("q1") == begun
    with pytest.raises(UnknownNameError):
        store.runs.begin(make_run("nothing"))
