"""What every library does, wherever it is kept.

The same tests for the folder and for PostgreSQL.
"""

from __future__ import annotations

import random
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver import sample
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.tools.library import ranking, sample_vectors
from deepdiver.tools.library.embedding import embed_texts
from deepdiver.tools.library.interface import Library, Progress, SearchFilter
from deepdiver.tools.library.local import library as local_library
from deepdiver.tools.library.local import vector_cache
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.postgres import library as postgres_library
from deepdiver.tools.library.postgres.library import PostgresLibrary
from tests.tools.library.harbour import answers, names, put

Open = Callable[[str], Library]
"""Opens a library by its name; the same one each time."""


@pytest.fixture(params=["local", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    made: list[Library] = []
    mark = secrets.token_hex(4)
    if request.param == "postgres":
        address: SecretStr = request.getfixturevalue("shared_database")

    def open_(name: str) -> Library:
        there = request.param == "postgres"
        made.append(
            PostgresLibrary(address, f"{name}-{mark}")
            if there
            else LocalLibrary(tmp_path / "libraries" / name)
        )
        return made[-1]

    yield open_
    for library in made:
        library.close()


@pytest.fixture
def library(opened: Open) -> Library:
    return opened("main")


def test_a_path_that_is_not_there_is_refused(library: Library, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        library.refresh([tmp_path / "absent"])
    assert (library.documents(), library.roots()) == ([], [])


@pytest.mark.parametrize("query", ["", "  ", "?!", "the of and", "\ud83d"])
def test_a_query_without_words_finds_nothing(library: Library, docs: Path, query: str) -> None:
    library.refresh([docs])
    library.embed()
    assert library.search(query, 5) == []


def test_an_empty_library_finds_nothing(library: Library) -> None:
    assert library.search("ferry", 5) == []
    assert (library.documents(), library.unread(), library.roots()) == ([], [], [])
    assert (library.passages(), library.pending(), library.embed(), library.note) == (0, 0, 0, "")


def test_a_document_that_is_gone_has_no_text(library: Library, docs: Path) -> None:
    library.refresh([docs])
    (match,) = library.search("nickel", 1)
    library.forget([docs / "sub"])
    with pytest.raises(UnknownNameError, match="not in the library any more"):
        library.text(match.entry)


def test_what_cannot_be_read_is_listed(library: Library, docs: Path) -> None:
    (docs / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    found = library.refresh([docs])
    assert [(Path(item.url).name, item.reason) for item in found.unread] == [
        ("picture.png", "it is an image")
    ]
    assert library.unread() == list(found.unread)
    assert library.refresh([docs]).unread == found.unread
    assert library.refresh([docs], again=True).unread == found.unread
    (docs / "picture.png").unlink()
    library.refresh([docs])
    assert library.unread() == []


def test_words_and_sense(library: Library, docs: Path) -> None:
    library.refresh([docs])
    by_words = library.search("Ejdervik", 5, hops=0)
    assert sorted(names(by_words)) == ["ferry.md", "owner.txt"]
    assert all(0 <= match.score <= 2 for match in by_words)
    found = library.search("ship in flames", 5)
    assert names(found)[0] == "ferry.md"  # no vector was there, and those it needs were made
    library.embed()
    assert (library.pending(), library.passages()) == (0, 4)
    assert library.search("ship in flames", 5) == found
    assert library.search("quantum chromodynamics lattice", 5) == []


def test_in_a_larger_library_words_come_first(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", 3)
    library.refresh([docs])
    assert library.search("ship in flames", 5) == []
    found = library.search("a vessel in the water of Ejdervik", 5)
    assert {"ferry.md", "owner.txt", "lake.md"} <= set(names(found))
    library.embed()
    assert library.pending() == 0
    assert library.search("ship in flames", 5) == []
    assert library.search("a vessel in the water of Ejdervik", 5) == found
    monkeypatch.setattr(ranking, "WHOLE", 4)
    assert names(library.search("ship in flames", 5))[0] == "ferry.md"


@pytest.mark.parametrize("whole", [0, 99])
def test_no_text_is_embedded_twice(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", whole)
    made: list[str] = []

    def counted(texts: Sequence[str | None]) -> object:
        made.extend(text for text in texts if text is not None)
        return embed_texts(texts)

    for module in (vector_cache, postgres_library):
        monkeypatch.setattr(module, "embed_texts", counted)
    library.refresh([docs])
    first = answers(library)
    assert len(made) == len(set(made)) > 0
    assert answers(library) == first
    library.embed()
    assert len(made) == len(set(made)) == library.passages()
    assert answers(library) == first
    assert len(made) == library.passages()


def test_a_good_passage_leads_to_what_it_names(library: Library, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    query = "Who runs the firm behind the vessel Ejdervik?"
    with_hop = {match.entry.title: match.score for match in library.search(query, 5)}
    without = {match.entry.title: match.score for match in library.search(query, 5, hops=0)}
    assert with_hop["Holm Works"] > without.get("Holm Works", 0.0) + 0.1
    assert library.search(query, 5, SearchFilter(folders=((docs / "sub").as_posix(),))) == []


def test_a_search_can_be_narrowed(library: Library, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    query = "ferry nickel water works"
    assert len(library.search(query, 9)) == 4
    assert names(library.search(query, 9, SearchFilter(folders=((docs / "sub").as_posix(),)))) == [
        "lake.md"
    ]
    assert names(
        library.search(query, 9, SearchFilter(folders=((docs / "sub" / "lake.md").as_posix(),)))
    ) == ["lake.md"]
    assert library.search(query, 9, SearchFilter(folders=((docs / "su").as_posix(),))) == []
    assert names(library.search(query, 9, SearchFilter(formats=("text",)))) == ["owner.txt"]
    assert "lake.md" not in names(library.search(query, 9, SearchFilter(since=date(2026, 1, 1))))
    # 2024 is as precise as known.
    assert "lake.md" in names(library.search(query, 9, SearchFilter(since=date(2024, 5, 1))))
    # Without a date.
    assert "owner.txt" in names(library.search(query, 9, SearchFilter(since=date(2026, 1, 1))))
    assert "ferry.md" not in names(library.search(query, 9, SearchFilter(until=date(2025, 1, 1))))
    assert library.search(query, 9, SearchFilter(formats=("pdf",))) == []
    assert len(library.search(query, 2)) == 2
    assert library.search(query, 0) == []


def test_spans_point_into_the_text(library: Library, tmp_path: Path) -> None:
    paragraphs = [
        f"Paragraph {n} is about {word}. " + "It goes on. " * 60
        for n, word in enumerate(("trains", "ferries"))
    ]
    put(tmp_path / "long" / "long.md", "\n\n".join(paragraphs))
    library.refresh([tmp_path / "long"])
    match = library.search("ferries", 1)[0]
    assert "about ferries" in match.span.of(library.text(match.entry))
    assert library.passages() > 1


def test_marks_and_what_is_told_come_along(library: Library, docs: Path) -> None:
    put(
        docs / "book.md",
        "---\nauthor: A\npublisher: P\nkind: journal\n---\n# One\n\nA whale.\n\n# Two\n\nA "
        "narwhal.",
    )
    library.refresh([docs])
    (match,) = library.search("narwhal", 1)
    assert [mark.label for mark in match.entry.marks] == ["One", "Two"]
    assert (match.entry.author, match.entry.publisher, match.entry.publisher_kind) == (
        "A",
        "P",
        "journal",
    )
    (listed,) = [entry for entry in library.documents() if entry.id == match.entry.id]
    assert (listed.marks, listed.title, listed.size) == (
        (),
        match.entry.title,
        (docs / "book.md").stat().st_size,
    )


def test_every_script_is_found(library: Library, tmp_path: Path) -> None:
    put(tmp_path / "many" / "zh.txt", "渡轮在港口起火，九人受伤。")
    put(tmp_path / "many" / "sv.txt", "Färjan brann vid Ängsö.")
    put(tmp_path / "many" / "ar.txt", "احترقت العبارة في الميناء.")
    library.refresh([tmp_path / "many"])
    assert names(library.search("港口", 1)) == ["zh.txt"]
    assert names(library.search("angso", 1)) == ["sv.txt"]
    assert names(library.search("الميناء", 1)) == ["ar.txt"]


def test_documents_come_in_the_order_of_their_urls(library: Library, docs: Path) -> None:
    put(docs / "Zebra.md", "A zebra.")
    put(docs / "ångström.md", "A unit.")
    library.refresh([docs])
    urls = [entry.url for entry in library.documents()]
    assert urls == sorted(urls)
    assert len(urls) == 6


def test_equal_passages_come_in_the_order_of_their_urls(library: Library, tmp_path: Path) -> None:
    for name in ("c", "a", "b"):
        put(tmp_path / "same" / f"{name}.md", "---\ntitle: One\n---\nThe same words.")
        library.refresh([tmp_path / "same"])
    assert names(library.search("same words", 3)) == ["a.md", "b.md", "c.md"]


def test_progress_is_told(library: Library, docs: Path) -> None:
    heard: list[Progress] = []
    library.refresh([docs], heard.append)
    library.embed(heard.append)
    whole = {(one.stage, one.done, one.total) for one in heard if one.done == one.total}
    assert {("reading", 4, 4), ("embedding", 4, 4)} <= whole
    heard.clear()
    library.refresh([docs], heard.append)
    library.embed(heard.append)
    assert heard == []


def test_a_moved_file_keeps_its_vectors(library: Library, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    (docs / "owner.txt").rename(docs / "sub" / "harbour-register.txt")
    assert len(library.refresh([docs]).moved) == 1
    assert library.pending() == 0
    assert names(library.search("harbour register", 1)) == ["harbour-register.txt"]
    assert "owner.txt" not in names(library.search("owner", 9))


def test_what_is_gone_is_not_found(library: Library, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    (docs / "sub" / "lake.md").unlink()
    assert len(library.refresh([docs]).removed) == 1
    for query in ("nickel", "metal in lake water"):
        assert "lake.md" not in names(library.search(query, 5))
    assert (library.embed(), library.passages()) == (0, 3)


def test_what_is_removed_stays_away_until_it_is_added(library: Library, docs: Path) -> None:
    library.refresh([docs])
    assert library.roots() == [docs]
    assert library.forget([docs / "absent"]) == []
    assert library.forget([docs / "sub"]) == [(docs / "sub" / "lake.md").as_posix()]
    assert library.refresh([docs]).same
    assert library.search("nickel", 5) == []
    assert library.refresh([docs / "sub"]).added == ((docs / "sub" / "lake.md").as_posix(),)
    assert len(library.forget([docs])) == 4
    assert (library.roots(), library.documents(), library.passages()) == ([], [], 0)


def test_embedding_can_be_stopped_and_goes_on(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_library, "EMBED", 1)
    monkeypatch.setattr(postgres_library, "EMBED", 1)
    library.refresh([docs])
    calls = iter([False, False, True])
    assert library.embed(stop=lambda: next(calls)) == 1
    assert library.pending() == 3
    assert library.embed(stop=lambda: True) == 0
    (docs / "owner.txt").unlink()
    library.refresh([docs])
    assert library.embed() == library.passages() - 1
    assert library.pending() == 0
    assert names(library.search("metal in the water", 1)) == ["lake.md"]


def test_the_ranking_does_not_depend_on_what_happened_before(opened: Open, docs: Path) -> None:
    chance = random.Random(7)  # noqa: S311
    words = "ferry fire lake nickel owner smith harbour works Holm Ejdervik water burnt".split()
    grown = opened("grown")
    for round_ in range(6):
        put(docs / f"{chance.randint(0, 3)}.md", " ".join(chance.choices(words, k=12)))
        if round_ % 2:
            next(iter(sorted(docs.glob("[0-9].md")))).unlink()
        if round_ == 3:
            (docs / "owner.txt").rename(docs / "register-of-owners.txt")
        grown.refresh([docs])
        grown.embed()
    fresh = opened("fresh")
    fresh.refresh([docs])
    fresh.embed()
    assert answers(grown) == answers(fresh)


def test_libraries_do_not_mix(opened: Open, docs: Path, tmp_path: Path) -> None:
    one, two = opened("one"), opened("two")
    one.refresh([docs])
    before = answers(one)
    put(tmp_path / "other" / "ferry.md", "Another ferry, another fire, on a lake with nickel.")
    two.refresh([tmp_path / "other"])
    assert answers(one) == before
    assert len(two.documents()) == 1
    two.forget([tmp_path / "other"])
    assert len(one.documents()) == 4


def test_readers_see_what_a_writer_did(opened: Open, docs: Path) -> None:
    writer, reader = opened("main"), opened("main")
    assert reader.search("ferry", 5) == []
    writer.refresh([docs])
    assert names(reader.search("nickel", 5)) == ["lake.md"]
    writer.embed()
    assert reader.pending() == 0
    assert names(reader.search("ship in flames", 1)) == ["ferry.md"]
    shutil.rmtree(docs / "sub")
    writer.refresh([docs])
    assert reader.search("nickel", 5) == []


def test_two_writers_enter_each_document_once(opened: Open, docs: Path) -> None:
    libraries = [opened("main") for _ in range(3)]
    added: list[int] = []

    def fill(library: Library) -> None:
        added.append(len(library.refresh([docs]).added))
        library.embed()

    threads = [threading.Thread(target=fill, args=(library,)) for library in libraries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(added) == [0, 0, 4]
    for library in libraries:
        assert (len(library.documents()), library.passages(), library.pending()) == (4, 4, 0)


def test_threads_search_while_another_writes(library: Library, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                assert "ferry.md" in names(library.search("ferry Ejdervik fire", 3))
        except BaseException as error:  # noqa: BLE001  told below
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(5):
        put(docs / f"{number}.md", f"Some other text, number {number}.")
        library.refresh([docs])
        library.embed()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_both_find_the_same_in_the_sample(shared_database: SecretStr, tmp_path: Path) -> None:
    """Scores differ a little.

    Tantivy keeps the length of a passage in one byte, and vectors in another form.
    """
    here, there = (
        LocalLibrary(tmp_path / "library"),
        PostgresLibrary(shared_database, "sample-alike"),
    )
    try:
        for library in (here, there):
            library.refresh([sample.LIBRARY])
            assert library.embed() == len(sample_vectors.load_sample_vectors())
        for question in sample.questions():
            one, two = (library.search(question.text, 10) for library in (here, there))
            found = [{(match.entry.url, match.span) for match in matches} for matches in (one, two)]
            assert len(found[0] & found[1]) >= 8, question.id
            assert one[0].entry.url in [match.entry.url for match in two[:2]], question.id
    finally:
        here.close()
        there.close()
