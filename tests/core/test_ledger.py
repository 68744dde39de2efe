"""The ledger: a bag that only grows, and whose merge has no history."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import canonical
from deepdiver.core.ledger import KINDS, Entry, Ledger, merge
from deepdiver.core.record import (
    Contradiction,
    Correlation,
    CorrelationKind,
    Credibility,
    Evidence,
    Finding,
    Hypothesis,
    Insight,
    Lead,
    Link,
    Passage,
    Quote,
    Source,
    SourceKind,
    Stance,
    Trial,
    Verdict,
    VerdictKind,
)

# Few ids and few values: most of what is generated clashes, within a kind and between kinds.
IDS = st.sampled_from(["a", "b", "c"])
WORDS = st.sampled_from(["", "x", "y", "ä", "\ud800"])
MANY = st.lists(WORDS, max_size=2).map(tuple)
SHARES = st.sampled_from([0.0, -0.0, 0.25, 1.0])
PASSAGES = st.builds(Passage, snapshot=WORDS, start=st.integers(0, 2), end=st.integers(2, 4))
QUOTES = st.builds(Quote, source=IDS, passage=PASSAGES, text=WORDS)
ENTRIES: st.SearchStrategy[Entry] = st.one_of(
    st.builds(
        Source,
        id=IDS,
        kind=st.sampled_from(SourceKind),
        url=WORDS,
        title=WORDS,
        snapshot=WORDS,
        fetched=WORDS,
        providers=MANY,
        credibility=st.builds(Credibility, score=SHARES, reasons=MANY),
    ),
    st.builds(
        Finding,
        id=IDS,
        statement=WORDS,
        quotes=st.lists(QUOTES, min_size=1, max_size=2).map(tuple),
        about=WORDS,
    ),
    st.builds(Insight, id=IDS, statement=WORDS, findings=MANY),
    st.builds(
        Hypothesis,
        id=IDS,
        statement=WORDS,
        supports_if=WORDS,
        refutes_if=WORDS,
        prior=SHARES,
        iteration=st.integers(1, 2),
    ),
    st.builds(
        Evidence,
        id=IDS,
        hypothesis=IDS,
        finding=IDS,
        stance=st.sampled_from(Stance),
        strength=SHARES,
        reason=WORDS,
    ),
    st.builds(
        Trial,
        id=IDS,
        hypothesis=IDS,
        iteration=st.integers(1, 2),
        queries=MANY,
        searched=st.booleans(),
    ),
    st.builds(
        Correlation, id=IDS, kind=st.sampled_from(CorrelationKind), findings=MANY, description=WORDS
    ),
    st.builds(
        Contradiction,
        id=IDS,
        kind=st.sampled_from(["contradicts", "qualifies"]),
        findings=MANY,
        description=WORDS,
    ),
    st.builds(Verdict, id=IDS, conclusion=WORDS, kind=st.sampled_from(VerdictKind), reason=WORDS),
    st.builds(
        Link,
        id=IDS,
        kind=st.sampled_from(["supports", "rivals"]),
        head=IDS,
        tail=IDS,
        weight=SHARES,
    ),
)
LISTS = st.lists(ENTRIES, max_size=6)
LEDGERS = st.builds(Ledger, LISTS)

SOURCE = Source(id="s_1", kind=SourceKind.PAGE, url="u", title="t", snapshot="h")
INSIGHT = Insight(id="i_1", statement="both", findings=("f_1",))


def text(ledger: Ledger) -> str:
    """Return all that a ledger holds, to the last character."""
    return canonical([[type(entry).__name__, entry.model_dump(mode="json")] for entry in ledger])


def test_a_record_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="s_2"):
        Ledger([SOURCE]).get(Source, "s_2")


def test_a_record_of_another_kind_is_a_key_error_that_says_so() -> None:
    with pytest.raises(KeyError, match="s_1 is a Source, not a Finding"):
        Ledger([SOURCE]).get(Finding, "s_1")


def test_an_empty_ledger_holds_nothing() -> None:
    ledger = Ledger()
    assert len(ledger) == 0
    assert list(ledger) == []
    assert ledger.of(Source) == {}
    assert "s_1" not in ledger
    assert repr(ledger) == "Ledger()"


def test_what_was_added_is_found_again() -> None:
    ledger = Ledger().add(SOURCE, INSIGHT)
    assert ledger.get(Source, "s_1") is SOURCE
    assert ledger.of(Insight) == {"i_1": INSIGHT}
    assert "s_1" in ledger
    assert 7 not in ledger
    assert len(ledger) == 2
    assert repr(ledger) == "Ledger(source=1, insight=1)"


def test_adding_gives_a_new_ledger_and_leaves_the_old_one() -> None:
    old = Ledger([SOURCE])
    new = old.add(INSIGHT)
    assert len(old) == 1
    assert "i_1" not in old
    assert old != new
    assert old == Ledger([SOURCE])


def test_there_is_no_way_to_take_away_or_to_change() -> None:
    ledger: Any = Ledger([SOURCE])
    with pytest.raises(TypeError):
        del ledger["s_1"]
    with pytest.raises(TypeError):
        ledger._entries["s_1"] = INSIGHT
    with pytest.raises(AttributeError):
        ledger.other = 1
    # What `of` returns is the caller's own.
    ledger.of(Source).clear()
    assert len(ledger) == 1


def test_a_list_given_to_the_ledger_stays_the_givers() -> None:
    given_list: list[Entry] = [SOURCE]
    ledger = Ledger(given_list)
    given_list.clear()
    assert len(ledger) == 1


def test_a_ledger_is_not_equal_to_what_it_holds() -> None:
    assert Ledger([SOURCE]) != {"s_1": SOURCE}
    assert Ledger() != ()


def test_every_kind_can_be_held() -> None:
    assert sorted(KINDS) == sorted(
        "source finding insight hypothesis evidence trial correlation contradiction verdict link "
        "lead".split()
    )
    assert all("id" in kind.model_fields for kind in KINDS.values())


def test_of_two_records_with_one_id_the_first_in_canonical_order_stays() -> None:
    early = SOURCE.model_copy(update={"fetched": "2026-01-01"})
    late = SOURCE.model_copy(update={"fetched": "2026-01-02"})
    assert Ledger([late, early]).get(Source, "s_1").fetched == "2026-01-01"
    assert Ledger([early]).add(late).get(Source, "s_1").fetched == "2026-01-01"


@given(LISTS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(entries: list[Entry], random: Any) -> None:
    mixed = list(entries)
    random.shuffle(mixed)
    assert text(Ledger(entries)) == text(Ledger(mixed))
    assert Ledger(entries) == Ledger(mixed)


@given(LISTS)
def test_one_by_one_is_all_at_once(entries: list[Entry]) -> None:
    ledger = Ledger()
    for entry in entries:
        ledger = ledger.add(entry)
    assert text(ledger) == text(Ledger(entries))


@given(LEDGERS, LEDGERS)
def test_merge_is_commutative(one: Ledger, other: Ledger) -> None:
    assert text(merge(one, other)) == text(merge(other, one))
    assert merge(one, other) == merge(other, one)
    assert hash(merge(one, other)) == hash(merge(other, one))


@given(LEDGERS, LEDGERS, LEDGERS)
def test_merge_is_associative(one: Ledger, other: Ledger, third: Ledger) -> None:
    assert text(merge(merge(one, other), third)) == text(merge(one, merge(other, third)))


@given(LEDGERS, LEDGERS)
def test_merge_is_idempotent(one: Ledger, other: Ledger) -> None:
    both = merge(one, other)
    assert text(merge(one, one)) == text(one)
    assert text(merge(both, one)) == text(both)
    assert text(merge(both, other)) == text(both)
    assert text(merge(one, Ledger())) == text(one)


@given(LEDGERS, LEDGERS)
def test_merge_only_grows(one: Ledger, other: Ledger) -> None:
    before = text(one), text(other)
    both = merge(one, other)
    ids = {entry.id for entry in one} | {entry.id for entry in other}
    assert {entry.id for entry in both} == ids
    assert len(both) == len(ids)
    held = [canonical(entry.model_dump(mode="json")) for ledger in (one, other) for entry in ledger]
    assert all(canonical(entry.model_dump(mode="json")) in held for entry in both), (
        "a record was made up"
    )
    assert (text(one), text(other)) == before, "merging changed what it merged"


@given(LEDGERS)
def test_a_ledger_reads_in_the_order_of_ids(ledger: Ledger) -> None:
    ids = [entry.id for entry in ledger]
    assert ids == sorted(ids)
    for kind in KINDS.values():
        held = ledger.of(kind)
        assert list(held) == sorted(held)
        assert all(
            type(entry) is kind and entry.model_dump()["id"] == key for key, entry in held.items()
        )
        assert all(ledger.get(kind, key) is entry for key, entry in held.items())
    assert sum(len(ledger.of(kind)) for kind in KINDS.values()) == len(ledger)


@given(LEDGERS)
def test_a_ledger_survives_being_written_down(ledger: Ledger) -> None:
    saved = json.loads(text(ledger))
    again = Ledger(KINDS[name.lower()].model_validate(values) for name, values in saved)  # type: ignore[misc]
    assert text(again) == text(ledger)


def test_the_same_lead_found_twice_is_one() -> None:
    one, other = Lead.of("name", "Anna Holm"), Lead.of("name", "Anna Holm")
    assert one == other
    assert Lead.of("query", "Anna Holm").id != one.id
    assert Lead.of("name", "Bertil Ask").id != one.id
    assert len(merge(Ledger([one]), Ledger([other]))) == 1


def test_a_lead_is_read_back() -> None:
    lead = Lead.of("url", "https://a.example/x")
    assert KINDS["lead"].model_validate_json(lead.model_dump_json()) == lead
    assert Ledger([lead]).get(Lead, lead.id) == lead
