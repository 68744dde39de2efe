"""Two runs side by side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Citation, Passage, Report, RunStatus, SentenceKind
from deepdiver.errors import StoreAccessError, UnknownNameError, UsageError
from deepdiver.report.sentence_trail import PlacedSentence
from deepdiver.run import compare_runs as module
from deepdiver.run.compare_runs import (
    Comparison,
    compare_runs,
    compare_sides,
    comparison_head,
    comparison_lines,
    comparison_record,
    comparison_rows,
    load_side,
)
from deepdiver.store import Store
from deepdiver.store.sqlite import open_memory
from deepdiver.tools.address import canonical
from tests.report.making import RUN, sentence, source

OWNS = "Anna Holm owns Holm Works and its yard at Vantskär."
SAME = "Holm Works and its yard at Vantskär are owned by Anna Holm."
DENIED = "Anna Holm does not own Holm Works and its yard at Vantskär."
SOLD = "Holm Works sold 12 boats to the state of Norway in 2025."
SOLD_MORE = "Holm Works sold 14 boats to the state of Norway in 2025."
ALONE = "The ferry sails daily."


@pytest.fixture
def store() -> Iterator[Store]:
    with closing(open_memory()) as made:
        yield made


def run(store: Store, name: str, *said: str, url: str = "https://e.org/a") -> str:
    made = RUN.model_copy(update={"id": name, "question": f"Who owns Holm Works? {name[-1]}"})
    store.runs.create(made)
    cited = Citation(
        number=1,
        source="s_1",
        finding="f_1",
        title="T",
        url=url,
        quote="q",
        passage=Passage(snapshot="h", start=0, end=1),
        credibility=0.9,
    )
    report = Report(
        question=made.question,
        status=RunStatus.ANSWERED,
        answer=(
            *(sentence(text, "f_1", citations=(1,)) for text in said),
            sentence("In short:", kind=SentenceKind.FRAME),
        ),
        confidence=0.8,
        citations=(cited,),
    )
    held = source("s_1", url=url)
    store.records.add(name, [("source", held.id, held.model_dump_json())])
    store.records.save_report(name, report.model_dump_json())
    return name


async def compared(store: Store, one: tuple[str, ...], other: tuple[str, ...]) -> Comparison:
    return await compare_runs(run(store, "run-a", *one), run(store, "run-b", *other), store)


async def test_what_cannot_be_compared(store: Store) -> None:
    run(store, "run-a", OWNS)
    store.runs.create(RUN.model_copy(update={"id": "unfinished"}))
    with pytest.raises(UnknownNameError):
        await compare_runs("run-a", "nothing", store)
    with pytest.raises(UsageError, match="has no report yet"):
        await compare_runs("run-a", "unfinished", store)
    with pytest.raises(UsageError, match="with itself"):
        await compare_runs("run-a", "run-a", store)


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        (OWNS, OWNS, "same"),
        (OWNS, SAME, "same"),
        (OWNS, DENIED, "contradicts"),
        (SOLD, SOLD_MORE, "changed"),
    ],
)
async def test_how_claims_go_together(store: Store, one: str, other: str, relation: str) -> None:
    found = await compared(store, (one,), (other,))
    assert [pair.relation for pair in found.pairs] == [relation]
    assert (found.only_one, found.only_other) == ((), ())


async def test_what_only_one_of_them_says(store: Store) -> None:
    found = await compared(store, (OWNS, ALONE), (SOLD, OWNS))
    assert [pair.relation for pair in found.pairs] == ["same"]
    assert [item.sentence.text for item in found.only_one] == [ALONE]
    assert [item.sentence.text for item in found.only_other] == [SOLD]


async def test_a_claim_that_stands_twice_counts_once_and_frames_do_not(store: Store) -> None:
    run(store, "run-a", OWNS, OWNS)
    assert [item.sentence.text for item in load_side("run-a", store).claims] == [OWNS]


async def test_every_claim_is_somewhere(store: Store) -> None:
    found = await compared(store, (OWNS, SOLD, ALONE), (DENIED, SOLD_MORE, SAME))
    ones = {pair.one.number for pair in found.pairs} | {item.number for item in found.only_one}
    others = {pair.other.number for pair in found.pairs}
    others |= {item.number for item in found.only_other}
    assert (ones, others) == ({1, 2, 3}, {1, 2, 3})


async def test_without_the_reader_words_decide(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise StoreAccessError("the reader's files are missing")

    monkeypatch.setattr(module, "load_reader", missing)
    found = await compared(store, (OWNS, SOLD), (OWNS, SOLD_MORE))
    assert [pair.relation for pair in found.pairs] == ["same"]
    assert [item.sentence.text for item in found.only_other] == [SOLD_MORE]


async def test_it_is_told_side_by_side(store: Store) -> None:
    found = await compared(store, (OWNS, ALONE), (OWNS, DENIED))
    rows = {name: (left, right) for name, left, right in comparison_rows(found)}
    head = list(comparison_head(found))
    assert head[0].startswith("A  run-a: Who owns Holm Works?")
    assert head[1].startswith("B  run-b: Who owns Holm Works?")
    assert rows["claims"] == ("2", "2")
    assert rows["sources read"] == ("1, 1 in both", "1, 1 in both")
    assert rows["cost"] == ("USD 0", "USD 0")
    assert rows["model"] == ("embedded", "embedded")
    told = list(comparison_lines(found))
    assert "Both say, with citations (1)" in told
    assert f"   A1 B1. {OWNS}" in told
    assert "Only A says (1)" in told
    assert f"   A2. {ALONE}" in told


async def test_the_record_is_json(store: Store) -> None:
    found = await compared(store, (OWNS,), (OWNS, ALONE))
    record = json.loads(json.dumps(comparison_record(found)))
    assert [side["id"] for side in record["runs"]] == ["run-a", "run-b"]
    assert record["pairs"][0]["relation"] == "same"
    assert record["only_other"] == [{"number": 2, "text": ALONE}]


async def test_citations_of_a_claim(store: Store) -> None:
    run(store, "run-a", OWNS)
    side = load_side("run-a", store)
    assert [item.url for item in side.cited(side.claims[0])] == ["https://e.org/a"]


# -- what is damaged or missing


async def test_a_report_of_another_version_is_no_guess(store: Store) -> None:
    run(store, "run-a", OWNS)
    store.records.save_report("run-a", '{"question": "Who?"}')
    with pytest.raises(ValueError, match="status"):
        load_side("run-a", store)


async def test_an_ambiguous_beginning_of_an_id_names_the_runs(store: Store) -> None:
    run(store, "run-a", OWNS)
    run(store, "run-b", OWNS)
    with pytest.raises(UnknownNameError, match="ambiguous: it may be run-a, run-b"):
        await compare_runs("run", "run-a", store)
    with pytest.raises(UsageError, match="run-a cannot be compared with itself"):
        await compare_runs("run-a", "run-a", store)


async def test_a_citation_that_is_not_there_is_left_out(store: Store) -> None:
    run(store, "run-a", OWNS)
    side = load_side("run-a", store)
    claim = side.claims[0]
    wrong = claim.sentence.model_copy(update={"citations": (7, 1)})
    held = side.cited(PlacedSentence(1, "", wrong))
    assert [item.number for item in held] == [1]


async def test_the_library_of_the_reader_is_missing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ImportError("no onnxruntime")

    monkeypatch.setattr(module, "load_reader", missing)
    found = await compared(store, (OWNS, SOLD), (OWNS, ALONE))
    assert [(pair.relation, pair.other.sentence.text) for pair in found.pairs] == [("same", OWNS)]
    assert [item.sentence.text for item in found.only_one] == [SOLD]


@pytest.mark.parametrize(("ones", "others"), [((OWNS,), (SAME, OWNS)), ((OWNS, SAME), (OWNS,))])
async def test_what_one_run_says_twice_is_confirmed_and_not_added(
    store: Store, ones: tuple[str, ...], others: tuple[str, ...]
) -> None:
    found = await compared(store, ones, others)
    assert {pair.relation for pair in found.pairs} == {"same"}
    assert len(found.pairs) == 2
    assert (found.only_one, found.only_other) == ((), ())
    assert (OWNS, OWNS) in [
        (pair.one.sentence.text, pair.other.sentence.text) for pair in found.pairs
    ]


async def test_runs_without_a_claim(store: Store) -> None:
    found = await compared(store, (), ())
    assert (found.pairs, found.only_one, found.only_other) == ((), (), ())
    assert list(comparison_lines(found)) == []
    rows = {name: (left, right) for name, left, right in comparison_rows(found)}
    assert rows["claims"] == ("0", "0")


async def test_one_claim_is_not_matched_with_two(store: Store) -> None:
    found = await compared(store, (SOLD,), (SOLD_MORE, SOLD.replace("12", "15")))
    assert len(found.pairs) == 1
    assert len(found.only_other) == 1


# -- what is told


async def test_what_they_were_asked_is_told_once_if_it_is_the_same(store: Store) -> None:
    found = await compared(store, (OWNS,), (OWNS,))
    same = replace(found.other, run=found.other.run.model_copy(update={"question": "Who?"}))
    asked = replace(found.one, run=found.one.run.model_copy(update={"question": "Who?"}))
    head = list(comparison_head(replace(found, one=asked, other=same)))
    assert head == ["Who?", "A  run-a", "B  run-b", ""]


async def test_contradictions_and_changes_are_told_with_both_sides(store: Store) -> None:
    found = await compared(store, (OWNS, SOLD), (DENIED, SOLD_MORE))
    told = list(comparison_lines(found))
    assert "They contradict each other (1)" in told
    assert "They differ in a number, a date or a name (1)" in told
    for line in (f"   A1. {OWNS}", f"   B1. {DENIED}", f"   A2. {SOLD}", f"   B2. {SOLD_MORE}"):
        assert line in told
    assert not any(line.startswith("Only") for line in told)


async def test_a_run_that_has_not_ended_is_told_by_its_status(store: Store) -> None:
    found = await compared(store, (OWNS,), (OWNS,))
    running = replace(found.one, run=found.one.run.model_copy(update={"status": RunStatus.RUNNING}))
    rows = {name: left for name, left, _ in comparison_rows(replace(found, one=running))}
    assert rows["outcome"] == "running 0.80"


CLAIMS = [OWNS, SAME, DENIED, SOLD, SOLD_MORE, ALONE]


@given(st.lists(st.sampled_from(CLAIMS), max_size=4), st.lists(st.sampled_from(CLAIMS), max_size=4))
def test_no_claim_is_lost_or_stands_on_both_shelves(ones: list[str], others: list[str]) -> None:
    with closing(open_memory()) as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load_reader", no_reader)
        found = asyncio.run(compared(made, tuple(ones), tuple(others)))
    paired = {pair.one.sentence.text for pair in found.pairs}
    alone = {item.sentence.text for item in found.only_one}
    assert paired | alone == set(ones)
    assert not paired & alone
    right = {pair.other.sentence.text for pair in found.pairs}
    assert right | {item.sentence.text for item in found.only_other} == set(others)


def no_reader() -> None:
    raise StoreAccessError("the reader's files are missing")


async def test_what_a_run_read_and_was_asked_is_in_its_side(store: Store) -> None:
    run(store, "run-a", OWNS, url="https://E.org/a?utm_source=x#part")
    side = load_side("run-a", store)
    assert (side.calls, side.cost.text) == (0, "0")
    assert side.addresses == {canonical("https://e.org/a")}
    record = comparison_record(await compare_sides(side, side))
    assert record["sources_in_both"] == 1
    assert {item["relation"] for item in record["pairs"]} == {"same"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SOLD, SOLD.replace(" in 2025", "")),
        (SOLD, SOLD.replace("12 boats", "boats")),
        (ALONE, "The ferry sails."),
    ],
)
async def test_a_claim_that_only_says_less_has_not_changed(
    store: Store, one: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each must have a value that the other has not: else nothing says that they differ."""
    found = await compared(store, (one,), (other,))
    assert found.related("changed") == []


@given(st.lists(st.sampled_from(CLAIMS), max_size=4), st.lists(st.sampled_from(CLAIMS), max_size=4))
def test_seen_from_the_other_side_it_is_the_same(ones: list[str], others: list[str]) -> None:
    """How much both say, and only one, does not depend on which is named first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "load_reader", no_reader)
        with closing(open_memory()) as made:
            there = asyncio.run(compared(made, tuple(ones), tuple(others)))
        with closing(open_memory()) as made:
            back = asyncio.run(compared(made, tuple(others), tuple(ones)))
    assert len(there.related("same")) == len(back.related("same"))
    assert len(there.pairs) == len(back.pairs)
    assert len(there.only_one) == len(back.only_other)
