"""Posting lists: BM25 as the textbook has it, whatever the parts that the index is made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.text import Span
from deepdiver.store.connections import Connections, transaction
from deepdiver.tools.library.postgres import word_index
from deepdiver.tools.library.postgres.schema import SCHEMA, prepare_schema
from deepdiver.tools.library.postgres.word_index import (
    POSTING,
    WordScores,
    bm25_scores,
    postings_of,
)
from deepdiver.tools.library.records import StoredDocument
from deepdiver.tools.library.terms import TITLE_WEIGHT, terms_of

VOCABULARY = ("ferry", "fire", "lake", "nickel", "owner", "smith", "harbour")
texts = st.lists(
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join),
    min_size=1,
    max_size=8,
)


def held(id_: int, first: int, *passages: str, title: str = "") -> StoredDocument:
    text, spans = "", []
    for passage in passages:
        spans.append(Span(len(text), len(text) + len(passage)))
        text += f"{passage}\n"
    return StoredDocument(id_, first, title, bool(title), text, tuple(spans))


def by_the_book(passages: dict[int, list[str]], query: str) -> dict[int, float]:
    """Return BM25 as it is written down, passage by passage."""
    mean = sum(map(len, passages.values())) / len(passages)
    found: dict[int, float] = {}
    for term in dict.fromkeys(terms_of(query)):
        have = sum(term in said for said in passages.values())
        rare = math.log(1 + (len(passages) - have + 0.5) / (have + 0.5))
        for number, said in passages.items():
            if often := said.count(term):
                part = rare * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(said) / mean))
                found[number] = found.get(number, 0.0) + part
    return found


def ranked(documents: Sequence[StoredDocument], query: str) -> WordScores:
    found = postings_of(documents)
    rows = [
        (term, bytes(found.rows[term])) for term in sorted(set(terms_of(query)) & found.rows.keys())
    ]
    return bm25_scores(rows, sum(len(one.spans) for one in documents), sum(found.words.values()))


# -- arithmetic


def test_nothing_is_found_where_there_is_nothing() -> None:
    for none in (bm25_scores([], 0, 0), bm25_scores([], 5, 100)):
        assert none.best(5) == {}
        assert none.best(5, [(1, 0, 9)]) == {}
        assert none.of([1, 2]) == {}


@pytest.mark.parametrize("k", [0, -1])
def test_no_passages_are_no_passages(k: int) -> None:
    assert ranked([held(1, 0, "ferry")], "ferry").best(k) == {}


@given(
    texts, st.lists(st.sampled_from((*VOCABULARY, "absent")), min_size=1, max_size=4).map(" ".join)
)
def test_scores_are_those_of_the_textbook(written: list[str], query: str) -> None:
    documents = [
        held(number, 3 * number, text, title="Harbour") for number, text in enumerate(written)
    ]
    title = terms_of("Harbour") * TITLE_WEIGHT
    expected = by_the_book(
        {3 * number: title + terms_of(text) for number, text in enumerate(written)}, query
    )
    found = ranked(documents, query).best(100)
    assert found == pytest.approx(expected)
    assert list(found) == sorted(found, key=lambda number: (-found[number], number))


@given(texts, st.integers(1, 6), st.sets(st.integers(0, 7)))
def test_the_best_are_the_best_of_all_or_of_some(
    written: list[str], k: int, allowed: set[int]
) -> None:
    documents = [held(number, number, text) for number, text in enumerate(written)]
    scores = ranked(documents, "ferry lake smith")
    every = scores.best(100)
    assert list(scores.best(k).items()) == list(every.items())[:k]
    some = [item for item in every.items() if item[0] in allowed]
    assert (
        list(scores.best(k, [(0, number, 1) for number in sorted(allowed, reverse=True)]).items())
        == some[:k]
    )
    assert scores.of(range(9)) == every
    assert scores.of(allowed) == dict(some)


@given(texts, st.integers(1, 5))
def test_parts_of_an_index_give_what_one_gives(written: list[str], parts: int) -> None:
    documents = [held(number, number, text) for number, text in enumerate(written)]
    rows: list[tuple[str, bytes]] = []
    for part in range(parts):
        found = postings_of(documents[part::parts])
        rows += [
            (term, bytes(found.rows[term])) for term in terms_of("ferry lake") if term in found.rows
        ]
    said = sum(postings_of(documents).words.values())
    assert bm25_scores(sorted(rows), len(documents), said).best(100) == ranked(
        documents, "ferry lake"
    ).best(100)


def test_numbers_that_run_high_are_summed_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [
        held(n, 1_000 + n, text)
        for n, text in enumerate(("ferry ferry lake", "ferry", "lake smith"))
    ]
    by_place = ranked(documents, "ferry lake").best(9)
    monkeypatch.setattr(word_index, "SPREAD", 0)
    assert ranked(documents, "ferry lake").best(9) == by_place


def test_what_does_not_fit_a_posting_is_capped() -> None:
    found = postings_of([held(1, 7, "ferry " * 300, "ferry " * 70_000)])
    assert [POSTING.unpack_from(found.rows["ferri"], at) for at in (0, POSTING.size)] == [
        (7, 255, 300),
        (8, 255, 65_535),
    ]
    assert found.words == {1: 70_300}


def test_the_title_counts_with_every_passage() -> None:
    found = postings_of([held(1, 0, "it burnt", "it sank", title="Ejdervik")])
    assert found.rows["ejdervik"] == POSTING.pack(0, TITLE_WEIGHT, 3) + POSTING.pack(
        1, TITLE_WEIGHT, 3
    )


# -- in a database


@pytest.fixture
def library(shared_database: SecretStr) -> Iterator[Index]:
    connections = Connections(shared_database, SCHEMA)
    with connections.use() as db:
        prepare_schema(db)
        (id_,) = db.execute(
            "INSERT INTO libraries (name) VALUES (gen_random_uuid()) RETURNING id"
        ).fetchall()[0]
        yield Index(db, id_)
    connections.close()


class Index:
    """A library of which only the index of words is used."""

    def __init__(self, db: psycopg.Connection[Any], id_: int) -> None:
        self.db, self.id = db, id_
        self.documents: dict[int, StoredDocument] = {}
        self.ids = count(1)

    def add(self, *written: str) -> int:
        made = [held(at := next(self.ids), at, text) for text in written]
        with transaction(self.db):
            segment = word_index.new_segment(self.db, self.id, len(made))
            word_index.add_postings(self.db, segment, postings_of(made).rows)
        self.documents |= {one.id: one for one in made}
        return segment

    def remove(self, segment: int, *ids: int) -> None:
        with transaction(self.db):
            word_index.remove_documents(self.db, segment, [self.documents.pop(id_) for id_ in ids])
            self.db.execute(
                "UPDATE segments SET passages = passages - %s WHERE id = %s", (len(ids), segment)
            )

    def segments(self) -> list[int]:
        rows = self.db.execute(
            "SELECT passages FROM segments WHERE library = %s ORDER BY id", (self.id,)
        )
        return [row[0] for row in rows.fetchall()]

    def kept(self) -> Counter[tuple[str, bytes]]:
        """Return all postings, whatever segment they are in."""
        rows = self.db.execute(
            "SELECT term, data FROM postings JOIN segments ON id = segment WHERE library = %s",
            (self.id,),
            binary=True,
        ).fetchall()
        return Counter(
            (term, data[at : at + POSTING.size])
            for term, data in rows
            for at in range(0, len(data), POSTING.size)
        )

    def check(self) -> None:
        """See that the index is that of its documents, no more and no less."""
        fresh = postings_of(self.documents.values())
        assert self.kept() == Counter(
            (term, bytes(data[at : at + POSTING.size]))
            for term, data in fresh.rows.items()
            for at in range(0, len(data), POSTING.size)
        )
        said = sum(fresh.words.values())
        for query in ("ferry", "nickel lake", "fire owner absent"):
            found = word_index.word_scores(self.db, self.id, query, len(self.documents), said)
            assert found.best(99) == pytest.approx(
                ranked(list(self.documents.values()), query).best(99)
            )


def test_words_are_found_in_all_segments(library: Index) -> None:
    library.add("ferry fire", "lake")
    library.add("ferry", "nickel lake lake", "smith")
    library.check()
    assert word_index.word_scores(library.db, library.id, "?!", 5, 9).best(9) == {}
    assert word_index.word_scores(library.db, library.id, "unheard", 5, 9).best(9) == {}


def test_what_is_taken_out_leaves_nothing_behind(library: Index) -> None:
    segment = library.add("ferry fire", "lake ferry", "smith", "nickel")
    other = library.add("ferry again")
    library.remove(segment, 2, 3)
    library.check()
    library.remove(other, 5)
    library.check()
    assert library.db.execute(
        "SELECT count(*) FROM postings WHERE segment = %s", (other,)
    ).fetchone() == (0,)


def test_small_segments_are_joined_and_nothing_is_lost(library: Index) -> None:
    for number in range(word_index.FEW - 1):
        library.add(f"ferry {VOCABULARY[number]}")
    with transaction(library.db):
        word_index.join_segments(library.db, library.id)
    assert library.segments() == [1] * (word_index.FEW - 1)
    library.add("lake ferry lake")
    with transaction(library.db):
        word_index.join_segments(library.db, library.id)
    assert library.segments() == [word_index.FEW]
    library.check()


def test_large_segments_are_left_alone(library: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_index, "LARGEST", 3)
    for number in range(word_index.FEW):
        library.add(*["ferry", "fire"][: 1 + number % 2])
    with transaction(library.db):
        word_index.join_segments(library.db, library.id)
    assert sorted(library.segments()) == [1, 2, 2, 2, 2, 3]
    library.check()


def test_a_query_of_a_whole_page_is_cut(library: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_index, "MOST_TERMS", 1)
    library.add("ferry", "lake")
    assert list(word_index.word_scores(library.db, library.id, "ferry lake", 2, 2).best(9)) == [1]
