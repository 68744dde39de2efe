"""The memory: what is not in it or does not stand, then its age, provenance and search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import content_id
from deepdiver.core.record import HypothesisStatus, RunStatus, Verdict, VerdictKind
from deepdiver.errors import UnknownNameError
from deepdiver.memory.remembered import (
    Remembered,
    check,
    count_remembered,
    days_between,
    find_memory,
    findings_behind,
    quote_is_saved,
    remember,
    remembered_runs,
    search_memory,
    whole_memory,
)
from deepdiver.store.sqlite import SqliteStore, open_memory
from tests.memory.made import (
    ANNA,
    BERTIL,
    OWNER,
    REGISTER,
    begin,
    finding_of,
    finish,
    hypothesis_of,
    keep,
    source_of,
)

TODAY = "2026-03-31"
FINDING, REFUTED, ACCEPTED = (
    content_id("f", REGISTER),
    content_id("h", BERTIL),
    content_id("h", ANNA),
)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(open_memory()) as made:
        yield made


def memory(store: SqliteStore, *forgotten: str) -> list[Remembered]:
    return list(whole_memory(store, TODAY, frozenset(forgotten)))


def lose_texts(store: SqliteStore) -> None:
    with store.database.write() as db:
        db.execute("DELETE FROM blobs")


# -- what is not remembered


@pytest.mark.parametrize(
    "status", [RunStatus.RUNNING, RunStatus.STOPPED, RunStatus.WAITING, RunStatus.FAILED]
)
def test_a_run_that_is_not_finished(store: SqliteStore, status: RunStatus) -> None:
    finish(store, "r")
    store.runs.set_status("r", status)
    assert remembered_runs(store, ()) == []
    assert memory(store) == []


def test_a_run_without_a_report(store: SqliteStore) -> None:
    run = begin(store, "r")
    store.runs.set_status("r", RunStatus.ANSWERED)
    with pytest.raises(ValueError, match="r has no report"):
        remember(run, store, TODAY)
    left_out: list[str] = []
    assert list(whole_memory(store, TODAY, (), left_out)) == []
    assert left_out == ["r"]


def test_one_record_that_cannot_be_read_costs_its_run_and_no_other(store: SqliteStore) -> None:
    finish(store, "bad", created="2026-03-02T08:00:00+00:00")
    finish(store, "good")
    store.records.add("bad", [("finding", "f_broken", "{}")])
    left_out: list[str] = []
    found = list(whole_memory(store, TODAY, (), left_out))
    assert left_out == ["bad"]
    assert {item.run for item in found} == {"good"}


def test_an_open_hypothesis_is_no_verdict(store: SqliteStore) -> None:
    finish(store, "r", refuted={})
    report = store.records.report("r")
    assert report is not None
    opened = report.replace('"status":"supported"', '"status":"open"')
    assert opened != report
    store.records.save_report("r", opened)
    assert [item.kind for item in memory(store)] == ["finding"]


# -- what is forgotten


def test_a_forgotten_run_is_not_remembered(store: SqliteStore) -> None:
    finish(store, "r")
    assert memory(store, "r") == []
    assert store.records.report("r") is not None


def test_a_forgotten_finding_or_verdict_is_not_remembered(store: SqliteStore) -> None:
    finish(store, "r")
    assert {item.id for item in memory(store)} == {FINDING, REFUTED, ACCEPTED}
    assert {item.id for item in memory(store, FINDING)} == {REFUTED, ACCEPTED}
    assert {item.id for item in memory(store, REFUTED, ACCEPTED)} == {FINDING}


def test_what_a_name_stands_for(store: SqliteStore) -> None:
    finish(store, "20260301-owns-1")
    assert find_memory("2026", store) == "20260301-owns-1"
    assert find_memory(FINDING, store) == FINDING
    with pytest.raises(UnknownNameError, match=r"no run has found or judged f_0{16}"):
        find_memory("f_" + "0" * 16, store)
    with pytest.raises(UnknownNameError, match="unknown run 'f_short'"):
        find_memory("f_short", store)


# -- whether it stands


def test_what_is_not_in_the_saved_text_any_more_does_not_stand(store: SqliteStore) -> None:
    finish(store, "r")
    assert all(check(item, store).stands for item in memory(store))
    lose_texts(store)
    stands = {item.id: check(item, store).stands for item in memory(store)}
    assert stands[FINDING] is False
    assert all(item.stands is None for item in memory(store)), "nobody has looked"


def test_a_quote_that_is_elsewhere_in_the_text_does_not_stand(store: SqliteStore) -> None:
    begin(store, "r")
    finding = finding_of(source_of("doc:a", "A"), REGISTER)
    (quote,) = finding.quotes
    moved = quote.passage.model_copy(update={"start": 1, "end": len(REGISTER) + 1})
    assert not quote_is_saved(quote, store)
    store.texts.put("r", REGISTER)
    assert quote_is_saved(quote, store)
    assert not quote_is_saved(quote.model_copy(update={"passage": moved}), store)
    assert not quote_is_saved(quote.model_copy(update={"text": ""}), store)


def test_a_hypothesis_stands_on_what_speaks_for_it_and_falls_by_what_refutes_it() -> None:
    for status in HypothesisStatus:
        item = hypothesis_of(ANNA, status, 0.5).model_copy(
            update={"supporting": ("f_for",), "refuting": ("f_against",)}
        )
        refuted = status is HypothesisStatus.REFUTED
        assert findings_behind(item) == (("f_against",) if refuted else ("f_for",))


# -- what is remembered


def test_age_and_provenance(store: SqliteStore) -> None:
    finish(store, "r")
    found = {item.id: item for item in memory(store)}
    finding = found[FINDING]
    assert (finding.kind, finding.statement, finding.verdict) == ("finding", REGISTER, "")
    assert (finding.run, finding.question, finding.date, finding.days) == (
        "r",
        OWNER,
        "2026-03-01",
        30,
    )
    (source,) = finding.sources
    assert (source.title, source.url, source.quote.text) == ("Register", "doc:register", REGISTER)
    assert (found[ACCEPTED].verdict, found[REFUTED].verdict) == (
        "supported (0.90)",
        "refuted (0.10)",
    )


def test_a_run_with_a_day_of_its_own_is_as_old_as_that_day(store: SqliteStore) -> None:
    finish(store, "r", as_of="2026-02-01")
    assert {(item.date, item.days) for item in memory(store)} == {("2026-02-01", 58)}


def test_a_verdict_on_a_conclusion_is_remembered(store: SqliteStore) -> None:
    finish(store, "r")
    made = Verdict(
        id=content_id("v", "x"), conclusion=ANNA, kind=VerdictKind.FLAG, reason="one source"
    )
    keep(store, "r", made)
    (found,) = [item for item in memory(store) if item.id == made.id]
    assert (found.kind, found.statement, found.verdict) == ("verdict", ANNA, "FLAG: one source")
    assert find_memory(made.id, store) == made.id


def test_the_same_thing_of_two_runs_is_that_of_the_newer(store: SqliteStore) -> None:
    finish(store, "old")
    finish(store, "new", created="2026-03-20T08:00:00+00:00")
    assert {(item.run, item.days) for item in memory(store)} == {("new", 11)}
    assert {item.run for item in memory(store, "new")} == {"old"}


@given(st.dates(), st.dates())
def test_nothing_is_younger_than_today(one: object, other: object) -> None:
    days = days_between(str(one), str(other))
    assert days >= 0
    assert days == 0 or days_between(str(other), str(one)) == 0


# -- searching


def other(store: SqliteStore) -> None:
    source = source_of("doc:boats", "Boats")
    finish(store, "boats", "How many boats were built?", accepted=(), refuted={})
    keep(store, "boats", source, finding_of(source, "Forty boats were built at the yard."))


def test_what_shares_the_words_is_found_and_the_best_comes_first(store: SqliteStore) -> None:
    finish(store, "r")
    other(store)
    found = search_memory("boats of the yard", memory(store), 10)
    assert found[0].statement == "Forty boats were built at the yard."
    assert {item.run for item in search_memory("Bertil Ask", memory(store), 10)} == {"r"}
    assert search_memory("Bertil Ask", memory(store), 10)[0].id == REFUTED


def test_no_words_and_strange_words_find_nothing(store: SqliteStore) -> None:
    finish(store, "r")
    for words in ("", "  ", "the of", "zebra", "\x00\ud800"):
        assert search_memory(words, memory(store), 10) == []
    assert search_memory("Holm", [], 10) == []


def test_a_word_that_everything_has_is_enough_if_nothing_has_the_other(store: SqliteStore) -> None:
    finish(store, "r")
    found = search_memory("Holm zebra", memory(store), 10)
    assert {item.id for item in found} == {FINDING, REFUTED, ACCEPTED}


@pytest.mark.parametrize("words", ["boats", "Bertil", "owns", "Holm Works", "yards", "zebra", ""])
def test_a_search_that_does_not_read_everything_finds_the_same(
    store: SqliteStore, words: str
) -> None:
    finish(store, "r")
    other(store)
    some = whole_memory(store, TODAY, frozenset(), words=words)
    assert search_memory(words, some, 10) == search_memory(words, memory(store), 10)


def test_counting_is_like_remembering(store: SqliteStore) -> None:
    run = finish(store, "r")
    for forgotten in ((), (FINDING,), (REFUTED, ACCEPTED)):
        kinds = [item.kind for item in remember(run, store, TODAY, forgotten)]
        counted = count_remembered(run, store, forgotten)
        assert counted == (kinds.count("finding"), kinds.count("verdict"))
    assert count_remembered(begin(store, "new"), store, ()) == (0, 0)


def test_as_many_as_are_wanted(store: SqliteStore) -> None:
    finish(store, "r")
    every = search_memory("Holm Works", memory(store), 10)
    assert len(every) == 3
    assert search_memory("Holm Works", memory(store), 2) == every[:2]


@given(st.permutations(range(3)))
def test_the_order_of_the_memory_does_not_matter(order: list[int]) -> None:
    with closing(open_memory()) as store:
        finish(store, "r")
        held = memory(store)
        found = search_memory("Anna Holm", [held[at] for at in order], 10)
        assert found == search_memory("Anna Holm", held, 10)
