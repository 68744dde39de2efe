"""Changing a library in PostgreSQL.

One at a time, all of a change or nothing, and an index that follows exactly.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.errors import DamagedStoreError, StoreError
from deepdiver.store.connections import Connections
from deepdiver.tools.document import Document
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.folder_walk import LONGEST_PATH
from deepdiver.tools.library.interface import UnreadFile
from deepdiver.tools.library.postgres import word_index
from deepdiver.tools.library.postgres.catalogue import (
    PostgresCatalogue,
    clean_text,
    hold_library,
    load_stored,
)
from deepdiver.tools.library.postgres.schema import SCHEMA, prepare_schema
from deepdiver.tools.library.records import KnownDocument, NewDocument
from tests.postgres_server import Server

WORDS = "ferry fire lake nickel owner smith harbour works holm water".split()


@pytest.fixture
def connections(shared_database: SecretStr) -> Iterator[Connections]:
    made = Connections(shared_database, SCHEMA)
    yield made
    made.close()


@pytest.fixture
def db(connections: Connections) -> Iterator[psycopg.Connection[Any]]:
    with connections.use() as lent:
        prepare_schema(lent)
        yield lent


@pytest.fixture
def register(db: psycopg.Connection[Any]) -> PostgresCatalogue:
    made = db.execute(
        "INSERT INTO libraries (name) VALUES (%s) RETURNING id", (secrets.token_hex(8),)
    )
    return PostgresCatalogue(db, made.fetchall()[0][0])


def new(url: str, *passages: str, title: str = "", stamp: int = 1, **told: Any) -> NewDocument:
    spans, text = [], ""
    for passage in passages:
        spans.append(Span(len(text), len(text) + len(passage)))
        text += f"{passage}\n"
    said = Document(text=text, format="text", title=title or url, **told)
    return NewDocument(
        url,
        url.encode("utf-8", "replace"),
        FileStamp(stamp, len(text), stamp),
        said,
        bool(title),
        (title or url).lower(),
        tuple(spans),
    )


def check(register: PostgresCatalogue) -> None:
    """See that index, numbers and counts are those of the documents, no more and no less."""
    db, library = register._db, register._library
    documents = load_stored(db, [known.id for known in register.known().values()])
    fresh = word_index.postings_of(documents)
    kept = db.execute(
        "SELECT term, data FROM postings JOIN segments ON id = segment WHERE library = %s",
        (library,),
        binary=True,
    ).fetchall()
    size = word_index.POSTING.size

    def counted(rows: list[tuple[str, bytes]]) -> Counter[tuple[str, bytes]]:
        return Counter(
            (term, data[at : at + size]) for term, data in rows for at in range(0, len(data), size)
        )

    assert counted(kept) == counted([(term, bytes(data)) for term, data in fresh.rows.items()])
    passages = sum(len(one.spans) for one in documents)
    counts = db.execute(
        "SELECT passages, words FROM libraries WHERE id = %s", (library,)
    ).fetchone()
    assert counts == (passages, sum(fresh.words.values()))
    assert db.execute(
        "SELECT count(*) FROM passages WHERE library = %s", (library,)
    ).fetchone() == (passages,)
    per_segment = db.execute(
        "SELECT s.passages, (SELECT sum(d.passages) FROM documents d WHERE d.segment = s.id) FROM "
        "segments s "
        "WHERE s.library = %s",
        (library,),
    ).fetchall()
    assert all(one == other for one, other in per_segment)


# -- what goes wrong


def test_one_at_a_time(
    connections: Connections, register: PostgresCatalogue, db: psycopg.Connection[Any]
) -> None:
    library = register._library
    with (
        hold_library(db, library),
        connections.use() as other,
        pytest.raises(StoreError, match="being changed by another process"),
        hold_library(other, library, 0.0),
    ):
        pass
    with connections.use() as other, hold_library(other, library, 0.0):
        pass


def test_who_waits_gets_his_turn(
    connections: Connections, register: PostgresCatalogue, db: psycopg.Connection[Any]
) -> None:
    order: list[str] = []

    def wait() -> None:
        with connections.use() as other, hold_library(other, register._library, 60.0):
            order.append("second")

    thread = threading.Thread(target=wait)
    with hold_library(db, register._library):
        thread.start()
        thread.join(0.5)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_the_turn_of_one_who_is_gone_is_over(
    connections: Connections, register: PostgresCatalogue, server: Server
) -> None:
    def lose() -> None:
        with connections.use() as lost, hold_library(lost, register._library) as one:
            server.execute(f"SELECT pg_terminate_backend({lost.info.backend_pid}, 5000)")
            one.put([new("/a", "never entered")])

    with pytest.raises(StoreError, match="was lost"):
        lose()
    with connections.use() as other, hold_library(other, register._library, 5.0) as two:
        assert two.known() == {}


def test_a_batch_that_fails_leaves_nothing(register: PostgresCatalogue) -> None:
    register.put([new("/a", "the first ferry")])
    twice = [new("/b", "one"), new("/b", "two")]
    with pytest.raises(psycopg.errors.UniqueViolation):
        register.put(twice)
    assert register.known().keys() == {"/a"}
    check(register)


def test_a_text_that_was_spoilt_is_told(register: PostgresCatalogue) -> None:
    register.put([new("/a", "the first ferry")])
    id_ = register.known()["/a"].id
    register._db.execute("UPDATE texts SET text = 'spoilt' WHERE document = %s", (id_,))
    with pytest.raises(DamagedStoreError, match="PostgreSQL"):
        load_stored(register._db, [id_])


# -- entering


def test_what_is_put_is_there(register: PostgresCatalogue) -> None:
    told: dict[str, Any] = {
        "author": "A",
        "publisher": "P",
        "publisher_kind": "journal",
        "published": "2026-02",
        "language": "sv",
    }
    marks = (Mark(start=0, kind="page", label="1"),)
    register.put(
        [
            new(
                "/a",
                "one ferry",
                "two",
                title="Title",
                marks=marks,
                notes=("page 2 is blank",),
                **told,
            )
        ]
    )
    assert register.known() == {
        "/a": KnownDocument(register.known()["/a"].id, b"/a", FileStamp(1, 14, 1))
    }
    (one,) = load_stored(register._db, [register.known()["/a"].id])
    assert (one.first, one.title, one.own_title, one.text) == (0, "Title", True, "one ferry\ntwo\n")
    assert one.spans == (Span(0, 9), Span(10, 13))
    row = register._db.execute(
        "SELECT author, publisher, publisher_kind, published, language, notes, format FROM "
        "documents WHERE id = %s",
        (one.id,),
    ).fetchone()
    assert row == ("A", "P", "journal", "2026-02", "sv", '["page 2 is blank"]', "text")
    register.put([])
    check(register)


def test_what_postgresql_does_not_take_is_replaced(register: PostgresCatalogue) -> None:
    assert clean_text("a\0b\ud83d") == "a\ufffdb?"
    register.put(
        [new("/a\ud83d", "text with \0 in it", title="T\0itle", author="\0", notes=("n\0",))]
    )
    (one,) = load_stored(register._db, [register.known()["/a?"].id])
    assert one.title == "T\ufffditle"
    assert one.text == "text with \0 in it\n"  # as it was: every offset counts in it
    register.drop(["/a\ud83d"])
    assert register.known() == {}


def test_a_document_takes_the_place_of_the_one_before(register: PostgresCatalogue) -> None:
    register.put([new("/a", "ferry"), new("/b", "lake")])
    before = register.known()
    register.put([new("/a", "nickel", "smith", stamp=2)])
    after = register.known()
    assert after["/b"] == before["/b"]
    assert after["/a"].id != before["/a"].id
    (one,) = load_stored(register._db, [after["/a"].id])
    assert one.first == 2  # a number is given once
    check(register)


def test_the_longest_path_fits_into_the_index(register: PostgresCatalogue) -> None:
    url = "/" + secrets.token_hex(LONGEST_PATH)[: LONGEST_PATH - 1]  # it cannot be made shorter
    register.put([new(url, "A text.", title="A title")])
    assert list(register.known()) == [url]
    register.miss([(UnreadFile(url, "it is empty"), None)], ())
    assert list(register.missed()) == [url]
    register.settle([url], left_out=[url])
    assert register.roots() == [Path(url)]
    check(register)


def test_what_was_unread_is_read(register: PostgresCatalogue) -> None:
    register.miss(
        [
            (UnreadFile("/a", "it is empty"), FileStamp(1, 2, 3)),
            (UnreadFile("/folder", "closed"), None),
        ],
        (),
    )
    register.miss([(UnreadFile("/a", "it is still empty"), FileStamp(4, 5, 6))], ())
    missed = register.missed()
    assert [(url, missed[url][0].reason, missed[url][1]) for url in missed] == [
        ("/a", "it is still empty", FileStamp(4, 5, 6)),
        ("/folder", "closed", FileStamp(0, 0, 0)),
    ]
    register.put([new("/a", "not any more")])
    register.miss((), ["/folder", "/absent"])
    assert register.missed() == {}


def test_roots_and_what_is_left_out(register: PostgresCatalogue) -> None:
    register.settle(["/docs", "/more", "/docs"])
    register.settle((), left_out=["/docs/sub", "/docs/sub"])
    assert register.roots() == [Path("/docs"), Path("/more")]
    assert register.left_out() == {"/docs/sub"}
    register.settle(["/docs/sub"], without=["/more"])
    assert register.roots() == [Path("/docs"), Path("/docs/sub")]
    assert register.left_out() == set()


def test_a_touched_file_has_a_new_stamp(register: PostgresCatalogue) -> None:
    register.put([new("/a", "ferry")])
    before = register.known()["/a"]
    register.touch("/a", FileStamp(9, 8, 7))
    assert register.known()["/a"] == KnownDocument(before.id, before.hash, FileStamp(9, 8, 7))


def test_a_moved_file_keeps_its_numbers_and_takes_its_new_title(
    register: PostgresCatalogue,
) -> None:
    register.put([new("/old", "a ferry", "a lake"), new("/own", "a smith", title="Own")])
    before = {
        one.id: one
        for one in load_stored(register._db, [known.id for known in register.known().values()])
    }
    register.move("/old", "/new", FileStamp(5, 5, 5), "harbour", "harbour")
    register.move("/own", "/elsewhere", FileStamp(6, 6, 6), "elsewhere", "elsewhere")
    known = register.known()
    assert known.keys() == {"/new", "/elsewhere"}
    assert known["/new"].stamp == FileStamp(5, 5, 5)
    after = {one.id: one for one in load_stored(register._db, [one.id for one in known.values()])}
    assert {id_: one.first for id_, one in after.items()} == {
        id_: one.first for id_, one in before.items()
    }
    assert after[known["/new"].id].title == "harbour"
    assert after[known["/elsewhere"].id].title == "Own"
    check(register)


def test_a_library_does_not_touch_another(
    register: PostgresCatalogue, db: psycopg.Connection[Any]
) -> None:
    other = PostgresCatalogue(
        db,
        db.execute(
            "INSERT INTO libraries (name) VALUES (%s) RETURNING id", (secrets.token_hex(8),)
        ).fetchall()[0][0],
    )
    for one in (register, other):
        one.put([new("/a", "ferry"), new("/b", "lake")])
    register.drop(["/a", "/b", "/absent"])
    assert (register.known(), len(other.known())) == ({}, 2)
    check(register)
    check(other)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_changes_the_index_is_that_of_the_documents(
    register: PostgresCatalogue, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "FEW", 3)
    monkeypatch.setattr(word_index, "LARGEST", 12)
    chance = random.Random(seed)  # noqa: S311
    urls = [f"/{number}" for number in range(8)]

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 8)))

    for step in range(12):
        there = sorted(register.known())
        free = sorted(set(urls) - set(there))
        act = chance.choice(["put", "put", "drop", "move"])
        if act == "put":
            chosen = chance.sample(urls, chance.randint(1, 4))
            register.put(
                [
                    new(url, *(text() for _ in range(chance.randint(1, 3))), stamp=step)
                    for url in chosen
                ]
            )
        elif act == "drop" and there:
            register.drop(chance.sample(there, chance.randint(1, len(there))))
        elif there and free:
            title = chance.choice(WORDS)
            register.move(chance.choice(there), free[0], FileStamp(step, 0, 0), title, title)
    check(register)
    register.drop(register.known())
    check(register)
    rest = register._db.execute(
        "SELECT count(*) FROM segments WHERE library = %s", (register._library,)
    )
    assert rest.fetchone() == (0,)
