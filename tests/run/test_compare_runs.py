"""Two runs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from deepdiver.core.record import Citation, Passage, Report, RunStatus, SentenceKind
from deepdiver.errors import StoreAccessError, UnknownNameError, UsageError
from deepdiver.run import compare_runs as module
from deepdiver.run.compare_runs import (
    Comparison,
    compare_runs,
    comparison_head,
    comparison_lines,
    comparison_record,
    comparison_rows,
    load_side,
)
from deepdiver.store import Store
from deepdiver.store.sqlite import open_memory
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
