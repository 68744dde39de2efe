"""The catalogue: damage is told, changes are all or nothing, and no number is ever given twice."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.errors import DamagedStoreError, NewerSchemaError, StoreAccessError
from deepdiver.tools.document import Document
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.interface import NO_FILTER, SearchFilter, UnreadFile
from deepdiver.tools.library.local.catalogue import SqliteCatalogue
from deepdiver.tools.library.records import NewDocument

STAMP = FileStamp(1, 2, 3)


def new(
    url: str, passages: int = 1, *, own_title: bool = True, name: str = "", **told: str
) -> NewDocument:
    text = "word " * passages
    spans = tuple(Span(5 * at, 5 * at + 4) for at in range(passages))
    said = Document(text=text, format="text", title=url.title()).model_copy(update=told)
    return NewDocument(url, url.encode(), STAMP, said, own_title, name or url, spans)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[SqliteCatalogue]:
    with closing(SqliteCatalogue(tmp_path / "library" / "catalogue.sqlite")) as made:
        yield made


def spoil(catalogue: SqliteCatalogue, sql: str) -> None:
    with closing(sqlite3.connect(catalogue.file)) as db, db:
        db.execute(sql)


def test_what_is_no_catalogue_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("some text that is no database at all " * 20)
    with pytest.raises(DamagedStoreError):
        SqliteCatalogue(tmp_path / "text")
    with closing(sqlite3.connect(tmp_path / "other")) as db, db:
        db.execute("PRAGMA application_id = 77")
        db.execute("CREATE TABLE mine (x)")
    with pytest.raises(DamagedStoreError, match="not a library"):
        SqliteCatalogue(tmp_path / "other")


def test_a_newer_catalogue_is_not_touched(catalogue: SqliteCatalogue) -> None:
    spoil(catalogue, "PRAGMA user_version = 99")
    with pytest.raises(NewerSchemaError, match="upgrade"):
        SqliteCatalogue(catalogue.file)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreAccessError, match="--home"):
        SqliteCatalogue(tmp_path / "file" / "catalogue.sqlite")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE texts SET text = x'00'",
        "UPDATE texts SET marks = x'1234'",
        "UPDATE documents SET notes = '{'",
    ],
)
def test_a_damaged_row_is_told(catalogue: SqliteCatalogue, sql: str) -> None:
    catalogue.put([new("a")])
    spoil(catalogue, sql)
    (id_,) = catalogue.all_ids()
    with pytest.raises(DamagedStoreError, match=r"catalogue\.sqlite is damaged"):
        (catalogue.text(id_), catalogue.entry(id_))


def test_a_change_that_fails_changes_nothing(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", 3)])
    broken = replace(new("b"), stamp=None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        catalogue.put([new("c"), broken])
    assert list(catalogue.known()) == ["a"]
    assert catalogue.counts() == (1, 3, 3)


def test_it_is_the_users_alone(catalogue: SqliteCatalogue) -> None:
    assert stat.S_IMODE(catalogue.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(catalogue.file.parent.stat().st_mode) == 0o700


def test_what_was_put_comes_back(catalogue: SqliteCatalogue) -> None:
    said = Document(
        text="Die Fähre. 東京",
        format="pdf",
        title="Fähre",
        author="A",
        publisher="P",
        publisher_kind="newspaper",
        published="2026-02",
        language="de",
        marks=(Mark(start=0, kind="page", label="1"), Mark(start=11, kind="page", label="2")),
        notes=("page 3 has no text",),
    )
    spans = (Span(0, 10), Span(11, 13))
    catalogue.put([NewDocument("/a/b.pdf", b"h", STAMP, said, True, "fahre", spans)])
    (id_,) = catalogue.all_ids()
    got = catalogue.entry(id_)
    assert got is not None
    entry, found = got
    assert found == spans
    assert (entry.id, entry.url, entry.title, entry.format) == (id_, "/a/b.pdf", "Fähre", "pdf")
    assert (entry.author, entry.publisher, entry.publisher_kind) == ("A", "P", "newspaper")
    assert (entry.published, entry.language, entry.size, entry.passages) == ("2026-02", "de", 2, 2)
    assert entry.marks == said.marks
    assert entry.notes == said.notes
    assert catalogue.text(id_) == said.text
    (listed,) = catalogue.entries()
    assert (listed.url, listed.marks, listed.notes) == ("/a/b.pdf", (), said.notes)
    held = catalogue.stored(id_)
    assert held is not None
    assert (held.first, held.title, held.own_title, held.text, held.spans) == (
        0,
        "Fähre",
        True,
        said.text,
        spans,
    )


def test_what_is_not_there_is_none(catalogue: SqliteCatalogue) -> None:
    assert catalogue.entry(7) is None
    assert catalogue.text(7) is None
    assert catalogue.stored(7) is None
    assert catalogue.stored_at(0) is None
    assert catalogue.located([0, 5]) == {}
    assert catalogue.named(["x"]) == {}
    assert catalogue.counts() == (0, 0, 0)
    assert catalogue.passages_from(0) == 0


def test_numbers_are_given_in_a_row_and_never_again(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", 3), new("b", 2)])
    catalogue.drop(["b"])
    catalogue.put([new("c", 2)])
    catalogue.put([new("a", 1)])  # changed
    assert catalogue.ranges() == [(5, 2), (7, 1)]
    assert catalogue.counts() == (2, 3, 8)
    ids = catalogue.all_ids()
    catalogue.drop(["a", "c"])
    catalogue.put([new("d")])
    assert catalogue.ranges() == [(8, 1)]
    assert catalogue.all_ids()[0] > max(ids)


def test_a_passage_leads_to_its_document(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", 3), new("b", 2), new("c", 1)])
    catalogue.drop(["b"])
    first, last = catalogue.all_ids()
    assert catalogue.located(range(-1, 8)) == {
        0: (first, 0),
        1: (first, 0),
        2: (first, 0),
        5: (last, 5),
    }
    assert [getattr(catalogue.stored_at(number), "id", None) for number in range(7)] == [
        *[first] * 3,
        *[last] * 3,
        None,
    ]
    assert [catalogue.passages_from(number) for number in range(7)] == [4, 3, 2, 1, 1, 1, 0]


def test_a_moved_document_keeps_its_numbers(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", 2), new("b", 1)])
    catalogue.indexed(catalogue.all_ids(), ())
    before = catalogue.all_ids()
    catalogue.move("a", "z", FileStamp(7, 8, 9), "Other", "other")
    assert catalogue.all_ids() == before  # its title is its own, so nothing of it changed
    assert catalogue.known()["z"].stamp == FileStamp(7, 8, 9)
    assert catalogue.entries()[1].title == "A"
    assert catalogue.unindexed() == []


def test_a_moved_document_with_its_files_name_for_a_title_is_indexed_anew(
    catalogue: SqliteCatalogue,
) -> None:
    catalogue.put([new("a", 2, own_title=False), new("b", 1)])
    catalogue.indexed(catalogue.all_ids(), ())
    old, other = catalogue.all_ids()
    catalogue.move("a", "z", STAMP, "Other", "other")
    made = catalogue.all_ids()[-1]
    assert catalogue.all_ids() == [other, made]
    assert catalogue.unindexed() == [made]
    assert catalogue.dropped() == {old: 2}
    assert catalogue.ranges() == [(0, 2), (2, 1)]
    assert catalogue.text(made) == "word word "
    assert catalogue.named(["other"]) == {"other": [(made, 0, 2)]}
    catalogue.put([new("c")])
    assert catalogue.all_ids()[-1] == made + 1


def test_the_index_follows(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a"), new("b", 2)])
    one, two = catalogue.unindexed()
    catalogue.indexed([one], (), words=3)
    assert catalogue.unindexed() == [two]
    assert catalogue.fact("words") == 3
    catalogue.drop(["a", "b"])
    assert catalogue.dropped() == {one: 1, two: 2}
    catalogue.indexed((), [one])
    assert catalogue.dropped() == {two: 2}


def test_numbers_anew_have_no_gaps(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", 2), new("b", 3), new("c", 4)])
    catalogue.drop(["b"])
    catalogue.renumber(words=2)
    assert catalogue.ranges() == [(0, 2), (2, 4)]
    assert catalogue.counts() == (2, 6, 6)
    assert (catalogue.dropped(), catalogue.unindexed(), catalogue.fact("words")) == ({}, [], 2)


def test_what_could_not_be_read_is_kept_until_it_is_read(catalogue: SqliteCatalogue) -> None:
    catalogue.miss(
        [(UnreadFile("a", "it is empty"), STAMP), (UnreadFile("b", "no permission"), None)], ()
    )
    kept = catalogue.missed()
    assert [kept[url][:2] for url in kept] == [
        (UnreadFile("a", "it is empty"), STAMP),
        (UnreadFile("b", "no permission"), FileStamp(0, 0, 0)),
    ]
    catalogue.put([new("a")])
    assert list(catalogue.missed()) == ["b"]
    catalogue.miss((), ["b", "absent"])
    assert catalogue.missed() == {}


def test_roots_and_what_is_left_out(catalogue: SqliteCatalogue) -> None:
    catalogue.settle(["/b", "/a", "/a"], left_out=["/a/x"])
    assert catalogue.roots() == [Path("/a"), Path("/b")]
    assert catalogue.left_out() == {"/a/x"}
    catalogue.settle(["/a/x"], without=["/b"])
    assert catalogue.roots() == [Path("/a"), Path("/a/x")]
    assert catalogue.left_out() == set()


DATED = {
    "none": "",
    "odd": "last May",
    "year": "2025",
    "month": "2025-06",
    "day": "2025-06-15",
    "time": "2025-06-15T10:00",
}


@pytest.mark.parametrize(
    ("where", "urls"),
    [
        (SearchFilter(since=date(2025, 6, 15)), set(DATED)),
        (SearchFilter(since=date(2025, 6, 16)), set(DATED) - {"day", "time"}),
        (SearchFilter(since=date(2025, 7, 1)), {"none", "odd", "year"}),
        (SearchFilter(since=date(2026, 1, 1)), {"none", "odd"}),
        (SearchFilter(until=date(2025, 6, 14)), set(DATED) - {"day", "time"}),
        (SearchFilter(until=date(2025, 5, 31)), {"none", "odd", "year"}),
        (SearchFilter(until=date(2024, 12, 31)), {"none", "odd"}),
        (SearchFilter(since=date(2025, 6, 15), until=date(2025, 6, 15)), set(DATED)),
    ],
)
def test_dates_are_as_precise_as_they_are_known(
    catalogue: SqliteCatalogue, where: SearchFilter, urls: set[str]
) -> None:
    catalogue.put([new(url, published=published) for url, published in DATED.items()])
    ids = {entry.id: entry.url for entry in catalogue.entries()}
    assert {ids[id_] for id_, _, _ in catalogue.filtered(where) or ()} == urls


@pytest.mark.parametrize(
    ("where", "urls"),
    [
        (SearchFilter(folders=("/a",)), {"/a/b.md", "/a/c/d.pdf"}),
        (SearchFilter(folders=("/a/",)), {"/a/b.md", "/a/c/d.pdf"}),
        (SearchFilter(folders=("/a/b.md",)), {"/a/b.md"}),
        (SearchFilter(folders=("/a/c", "/ab")), {"/a/c/d.pdf", "/ab/e.md"}),
        (SearchFilter(folders=("/%", "/_")), set()),
        (SearchFilter(formats=("pdf",)), {"/a/c/d.pdf"}),
        (SearchFilter(folders=("/a",), formats=("pdf", "text")), {"/a/b.md", "/a/c/d.pdf"}),
        (SearchFilter(folders=("/ab",), formats=("pdf",)), set()),
    ],
)
def test_folders_and_formats(
    catalogue: SqliteCatalogue, where: SearchFilter, urls: set[str]
) -> None:
    catalogue.put([new("/a/b.md"), new("/a/c/d.pdf", format="pdf"), new("/ab/e.md")])
    ids = {entry.id: entry.url for entry in catalogue.entries()}
    assert {ids[id_] for id_, _, _ in catalogue.filtered(where) or ()} == urls
    assert catalogue.filtered(NO_FILTER) is None


def test_many_names_at_once(catalogue: SqliteCatalogue) -> None:
    catalogue.put([new("a", name="anna holm"), new("b", name="anna holm"), new("c", name="lake")])
    found = catalogue.named([f"name {number}" for number in range(3_000)] + ["anna holm"])
    assert {name: len(documents) for name, documents in found.items()} == {"anna holm": 2}


def test_what_another_wrote_is_seen(catalogue: SqliteCatalogue) -> None:
    with closing(SqliteCatalogue(catalogue.file)) as other:
        before = catalogue.version()
        assert catalogue.counts() == (0, 0, 0)
        other.put([new("a", 4)])
        assert catalogue.version() != before
        assert catalogue.counts() == (1, 4, 4)
        catalogue.drop(["a"])
        assert catalogue.counts() == (0, 0, 4)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), max_size=12))
def test_whatever_happens_numbers_are_never_shared(acts: list[tuple[str, int]]) -> None:
    import tempfile

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteCatalogue(Path(folder) / "c")) as catalogue,
    ):
        given_out: list[int] = []
        for url, passages in acts:
            before = catalogue.counts()[2]
            if passages:
                catalogue.put([new(url, passages)])
                given_out += range(before, before + passages)
            else:
                catalogue.drop([url])
        assert len(set(given_out)) == len(given_out) == catalogue.counts()[2]
        numbers = [
            number for first, size in catalogue.ranges() for number in range(first, first + size)
        ]
        assert len(numbers) == len(set(numbers)) == catalogue.counts()[1]
        assert set(catalogue.located(range(catalogue.counts()[2]))) == set(numbers)
