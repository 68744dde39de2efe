"""The user's documents as a search provider: journalled, built once, and never out of date."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path

import pytest
from deepdiver.tools.library.index import Index

from deepdiver import sample
from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Settings
from deepdiver.errors import NoEvidenceError, NotJournalledError, UsageError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.library.documents import Document
from deepdiver.tools.search import library
from deepdiver.tools.search.library import PROVIDER
from tests.tools.conftest import Desk

SAMPLE = (sample.LIBRARY,)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def test_what_is_missing(tmp_path: Path) -> None:
    assert PROVIDER.missing(Settings()) == "no documents were given: add --in PATH, or --sample"
    assert PROVIDER.missing(Settings(documents=(tmp_path,))) is None


async def test_documents_that_are_not_there_stop_the_run(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="absent does not exist"):
        await PROVIDER.search("ferry", 6, desk.gateway(documents=(tmp_path / "absent",)))


async def test_a_replay_does_not_look_at_the_disk(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "docs" / "a.md"
    path.parent.mkdir()
    path.write_text("The ferry burnt.", encoding="utf-8")
    with pytest.raises(NotJournalledError):
        await PROVIDER.search("ferry", 6, desk.gateway(Mode.REPLAY, documents=(path.parent,)))
    live = await PROVIDER.search("ferry", 6, desk.gateway(documents=(path.parent,)))
    path.unlink()
    path.parent.rmdir()
    assert await PROVIDER.search("ferry", 6, desk.gateway(Mode.REPLAY, documents=(path.parent,))) == live
    assert desk.store.get_text(live[0].snapshot) == "The ferry burnt."


async def test_an_empty_folder_answers_with_nothing(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    assert await PROVIDER.search("ferry", 6, desk.gateway(documents=(tmp_path / "docs",))) == []
    (row,) = desk.store.journal_list(desk.run)
    assert row.state is CallState.SETTLED


async def test_hits_point_at_passages_of_saved_texts(desk: Desk) -> None:
    hits = await PROVIDER.search("Who owns the ferry Ejdervik?", 6, desk.gateway(documents=SAMPLE))
    assert len(hits) == 6
    for hit in hits:
        assert (hit.kind, hit.provider) == (SourceKind.DOCUMENT, "library")
        assert hit.url.startswith("sample:")
        assert hit.text == ""  # the journal holds the hash, not the text again for each search
        text = desk.store.get_text(hit.snapshot)
        assert 0 <= hit.start < hit.end <= len(text)
        assert not text.startswith("---")
    log = next(hit for hit in hits if hit.url == "sample:harbour/kustbladet.txt")
    assert (log.title, log.publisher, log.publisher_kind) == ("Nine hurt in ferry fire", "Kustbladet", "newspaper")
    assert (log.author, log.published) == ("Sund Wire", "2026-02-08")


async def test_a_search_is_made_once_for_each_run(desk: Desk) -> None:
    gateway = desk.gateway(documents=SAMPLE)
    one, two = await asyncio.gather(*(PROVIDER.search("nickel in the lake", 4, gateway) for _ in range(2)))
    assert one == two
    assert len(desk.store.journal_list(desk.run)) == 1
    await PROVIDER.search("nickel in the lake", 5, gateway)
    assert len(desk.store.journal_list(desk.run)) == 2


async def test_it_costs_nothing(desk: Desk) -> None:
    await PROVIDER.search("nickel", 4, desk.gateway(documents=SAMPLE, budget=0))
    assert desk.store.journal_list(desk.run)[0].cost == 0


async def test_a_secret_in_a_document_is_not_saved(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The ferry. My key is tvly-0123456789.", encoding="utf-8")
    gateway = desk.gateway(documents=(tmp_path,), keys={"tavily": "tvly-0123456789"})
    (hit,) = await PROVIDER.search("ferry", 6, gateway)
    assert desk.store.get_text(hit.snapshot) == "The ferry. My key is [secret]."
    assert "tvly-0123456789" not in desk.everything()


async def test_a_changed_document_is_read_anew(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("The ferry burnt.", encoding="utf-8")
    gateway = desk.gateway(documents=(tmp_path,))
    assert len(await PROVIDER.search("ferry", 6, gateway)) == 1
    path.write_text("The train was late.", encoding="utf-8")
    (tmp_path / "b.md").write_text("A ferry sank.", encoding="utf-8")
    (hit,) = await PROVIDER.search("ferry news", 6, gateway)
    assert hit.url == (tmp_path / "b.md").as_posix()


def test_searches_side_by_side_build_one_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[Path, ...]] = []

    def build(paths: tuple[Path, ...]) -> Index:
        built.append(paths)
        time.sleep(0.05)
        return Index([Document("a", "a", "ferry", {})], [])

    monkeypatch.setattr(library, "open_index", build)
    (tmp_path / "a.md").write_text("ferry", encoding="utf-8")
    found: list[Index] = []
    threads = [threading.Thread(target=lambda: found.append(library.index((tmp_path,)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [(tmp_path,)]
    assert len({id(index) for index in found}) == 1
    os.utime(tmp_path / "a.md", ns=(1, 1))
    library.index((tmp_path,))
    assert len(built) == 2


# -- before the first search


async def test_what_cannot_be_read_is_told_before_the_first_search(desk: Desk, docs: Path) -> None:
    (docs / "a.md").write_text("The ferry burnt.", encoding="utf-8")
    (docs / "b.pdf").write_bytes(b"%PDF")
    (docs / "c.txt").write_bytes(b"\xff")
    told = [
        f"{(docs / 'b.pdf').as_posix()} was not read: .pdf is not a format that can be read yet",
        f"{(docs / 'c.txt').as_posix()} was not read: it is not UTF-8 text",
    ]
    assert await PROVIDER.prepare(desk.gateway(documents=(docs,))) == told
    (docs / "b.pdf").unlink()
    assert await PROVIDER.prepare(desk.gateway(Mode.REPLAY, documents=(docs,))) == told


async def test_many_unread_files_are_told_in_short(desk: Desk, docs: Path) -> None:
    (docs / "a.md").write_text("The ferry burnt.", encoding="utf-8")
    for number in range(library.NAMED + 3):
        (docs / f"{number}.jpg").write_bytes(b"")
    lines = await PROVIDER.prepare(desk.gateway(documents=(docs,)))
    assert len(lines) == library.NAMED + 1
    assert lines[-1] == "3 more files were not read"


async def test_nothing_to_search_is_told_before_the_first_search(desk: Desk, docs: Path) -> None:
    with pytest.raises(NoEvidenceError, match="can be searched: there is no file") as caught:
        await PROVIDER.prepare(desk.gateway(documents=(docs,)))
    assert caught.value.exit_code == 4
    (docs / "empty.md").write_bytes(b"")
    with pytest.raises(NoEvidenceError, match=r"empty\.md was not read: it is empty"):
        await PROVIDER.prepare(desk.gateway(documents=(docs, docs / "empty.md")))


async def test_a_path_that_is_not_there_is_told_before_the_first_search(desk: Desk, docs: Path) -> None:
    with pytest.raises(UsageError, match="absent does not exist"):
        await PROVIDER.prepare(desk.gateway(documents=(docs / "absent",)))


async def test_all_is_well(desk: Desk) -> None:
    assert await PROVIDER.prepare(desk.gateway(documents=SAMPLE)) == []
