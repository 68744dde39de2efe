"""The user's documents as a search provider: journalled, and brought up to date once."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.core.events import CallProgressed, CallStarted
from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Filters, Settings
from deepdiver.encoders.row_file import RowFile
from deepdiver.errors import NoEvidenceError, NotJournalledError, StoreError, UsageError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.library import files, ranking, refresh
from deepdiver.tools.library.files import LibraryFile, load_file
from deepdiver.tools.library.folder_walk import OUTSIDE, fingerprint_of
from deepdiver.tools.library.interface import OnProgress, RefreshSummary
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.open_library import open_library
from deepdiver.tools.plain_file import FilePlace
from deepdiver.tools.search import library
from deepdiver.tools.search.library import PROVIDER, shelf
from tests.patience import PATIENCE
from tests.tools.conftest import Desk

SAMPLE = (sample.LIBRARY,)


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    for held in library._OPEN.values():
        held.library.close()
    library._OPEN.clear()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


def test_what_is_missing(tmp_path: Path, docs: Path) -> None:
    settings = Settings(home=tmp_path / "mine")
    assert "add --in PATH, or --sample, or fill your library" in (PROVIDER.missing(settings) or "")
    assert PROVIDER.missing(Settings(documents=(tmp_path,))) is None
    assert not (tmp_path / "mine").exists()
    (docs / "a.md").write_text("The ferry burnt.")
    main = open_library(settings)
    main.refresh([docs])
    main.close()
    assert PROVIDER.missing(settings) is None


async def test_documents_that_are_not_there_stop_the_run(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="absent does not exist"):
        await PROVIDER.search("ferry", 6, desk.gateway(documents=(tmp_path / "absent",)))


async def test_documents_that_went_stop_the_run(desk: Desk, docs: Path) -> None:
    (docs / "a.md").write_text("The ferry burnt.")
    gateway = desk.gateway(documents=(docs,))
    assert len(await PROVIDER.search("ferry", 6, gateway)) == 1
    shutil.move(docs, docs.with_name("elsewhere"))
    with pytest.raises(UsageError, match="docs does not exist"):
        await PROVIDER.search("the ferry", 6, gateway)


async def test_a_replay_does_not_look_at_the_disk(desk: Desk, docs: Path) -> None:
    path = docs / "a.md"
    path.write_text("The ferry burnt.", encoding="utf-8")
    with pytest.raises(NotJournalledError):
        await PROVIDER.search("ferry", 6, desk.gateway(Mode.REPLAY, documents=(docs,)))
    live = await PROVIDER.search("ferry", 6, desk.gateway(documents=(docs,)))
    path.unlink()
    shutil.rmtree(docs)
    assert await PROVIDER.search("ferry", 6, desk.gateway(Mode.REPLAY, documents=(docs,))) == live
    assert desk.store.texts.get(live[0].snapshot) == "The ferry burnt."


async def test_an_empty_folder_answers_with_nothing(desk: Desk, docs: Path) -> None:
    assert await PROVIDER.search("ferry", 6, desk.gateway(documents=(docs,))) == []
    (row,) = desk.store.journal.rows(desk.run)
    assert row.state is CallState.SETTLED


async def test_hits_point_at_passages_of_saved_texts(desk: Desk) -> None:
    hits = await PROVIDER.search("Who owns the ferry Ejdervik?", 6, desk.gateway(documents=SAMPLE))
    assert len(hits) == 6
    for hit in hits:
        assert (hit.kind, hit.provider, hit.complete) == (SourceKind.DOCUMENT, "library", True)
        assert hit.url.startswith("sample:")
        assert hit.text == ""  # the journal holds the hash, not the text again for each search
        text = desk.store.texts.get(hit.snapshot)
        assert 0 <= hit.start < hit.end <= len(text)
        assert not text.startswith("---")
    log = next(hit for hit in hits if hit.url == "sample:harbour/kustbladet.txt")
    assert (log.title, log.publisher, log.publisher_kind) == (
        "Nine hurt in ferry fire",
        "Kustbladet",
        "newspaper",
    )
    assert (log.author, log.published) == ("Sund Wire", "2026-02-08")


async def test_a_search_is_made_once_for_each_run(desk: Desk) -> None:
    gateway = desk.gateway(documents=SAMPLE)
    one, two = await asyncio.gather(
        *(PROVIDER.search("nickel in the lake", 4, gateway) for _ in range(2))
    )
    assert one == two
    assert len(desk.store.journal.rows(desk.run)) == 1
    await PROVIDER.search("nickel in the lake", 5, gateway)
    assert len(desk.store.journal.rows(desk.run)) == 2


@pytest.mark.parametrize("seconds", [0.001, 0])
async def test_a_slow_machine_is_waited_for(desk: Desk, seconds: float) -> None:
    gateway = desk.gateway(documents=SAMPLE, deadlines={"search": seconds})
    assert await PROVIDER.search("nickel in the lake", 4, gateway)
    assert await PROVIDER.everything(10**6, gateway)


async def test_it_costs_nothing(desk: Desk) -> None:
    await PROVIDER.search("nickel", 4, desk.gateway(documents=SAMPLE, budget=0))
    assert desk.store.journal.rows(desk.run)[0].cost == 0


async def test_a_secret_in_a_document_is_not_saved(desk: Desk, docs: Path) -> None:
    (docs / "notes.md").write_text("The ferry. My key is tvly-0123456789.", encoding="utf-8")
    gateway = desk.gateway(documents=(docs,), keys={"tavily": "tvly-0123456789"})
    (hit,) = await PROVIDER.search("ferry", 6, gateway)
    assert desk.store.texts.get(hit.snapshot) == "The ferry. My key is [secret]."
    assert "tvly-0123456789" not in desk.everything()


async def test_a_passage_behind_a_secret_is_where_it_is_saved(desk: Desk, docs: Path) -> None:
    text = "My key is tvly-0123456789. " + "Nothing to see here. " * 60 + "\n\nThe ferry burnt."
    (docs / "notes.md").write_text(text)
    gateway = desk.gateway(documents=(docs,), keys={"tavily": "tvly-0123456789"})
    hit = (await PROVIDER.search("ferry burnt", 1, gateway))[0]
    saved = desk.store.texts.get(hit.snapshot)
    assert "The ferry burnt." in saved[hit.start : hit.end]
    assert hit.end == len(saved)


async def test_a_changed_document_is_read_anew(desk: Desk, docs: Path) -> None:
    path = docs / "a.md"
    path.write_text("The ferry burnt.", encoding="utf-8")
    gateway = desk.gateway(documents=(docs,))
    assert len(await PROVIDER.search("ferry", 6, gateway)) == 1
    path.write_text("The bakery was closed.", encoding="utf-8")
    (docs / "b.md").write_text("A ferry sank.", encoding="utf-8")
    (hit,) = await PROVIDER.search("ferry news", 6, gateway)
    assert hit.url == (docs / "b.md").as_posix()


def test_searches_side_by_side_bring_it_up_to_date_once(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refreshed: list[Sequence[Path]] = []
    real = LocalLibrary.refresh

    def slow(
        held: LocalLibrary,
        roots: Sequence[Path],
        told: OnProgress | None = None,
        *,
        again: bool = False,
        within: Sequence[Path] = (),
    ) -> RefreshSummary:
        refreshed.append(roots)
        time.sleep(0.05)
        return real(held, roots, told, again=again, within=within)

    monkeypatch.setattr(LocalLibrary, "refresh", slow)
    (docs / "a.md").write_text("ferry", encoding="utf-8")
    settings = Settings(documents=(docs,))
    threads = [threading.Thread(target=lambda: shelf(settings).look()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refreshed == [(docs,)]
    os.utime(docs / "a.md", ns=(1, 1))
    shelf(settings).look()
    assert len(refreshed) == 2


def test_many_files_are_not_looked_through_before_each_search(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looked = [1_000.0], list[float]()

    def slow(roots: Sequence[Path], within: Sequence[Path]) -> str:
        looked.append(now[0])
        now[0] += took
        return fingerprint_of(roots, within)

    monkeypatch.setattr(library, "fingerprint_of", slow)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    (docs / "a.md").write_text("The ferry burnt.")
    held = shelf(Settings(documents=(docs,)))
    took = library.LONG
    for _ in range(3):
        held.look()
    assert len(looked) == 3  # that is no long time
    took = 7.0
    for _ in range(3):
        held.look()
    assert len(looked) == 4
    (docs / "b.md").write_text("The other ferry sank.")
    now[0] += took * library.REST - 0.1
    held.look()
    assert (len(looked), held.library.passages()) == (4, 1)
    now[0] += 0.2
    held.look()
    assert (len(looked), held.library.passages()) == (5, 2)


async def test_who_is_stopped_does_not_wait_for_all_the_files(
    desk: Desk, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        (docs / f"{number}.txt").write_text(f"Crate {number} is blue.")
    begun, go_on, loaded = threading.Event(), threading.Event(), list[str]()

    def slow(file: LibraryFile) -> bytes:
        loaded.append(file.url)
        begun.set()
        assert go_on.wait(PATIENCE)
        return load_file(file)

    monkeypatch.setattr(refresh, "load_file", slow)
    gateway = desk.gateway(documents=(docs,))
    opening = asyncio.ensure_future(PROVIDER.prepare(gateway))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    go_on.set()
    held = shelf(gateway.settings)
    await asyncio.to_thread(held._turn.acquire)  # free when the thread has left off
    held._turn.release()
    assert len(loaded) < 100
    assert held.library.passages() < 100
    monkeypatch.undo()
    await PROVIDER.prepare(gateway)  # and nothing is the worse for it
    assert held.library.passages() >= 200


async def test_who_is_stopped_does_not_wait_for_a_disk_that_does_not_answer(
    desk: Desk, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "a.md").write_text("The ferry burnt.")
    begun, answers = threading.Event(), threading.Event()

    def never(place: FilePlace, most: int) -> bytes:
        begun.set()
        answers.wait()
        return b""

    monkeypatch.setattr(files, "read_plain", never)
    monkeypatch.setattr(refresh, "BEAT", 0.01)
    gateway = desk.gateway(documents=(docs,))
    opening = asyncio.ensure_future(PROVIDER.prepare(gateway))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    monkeypatch.undo()
    # It is free for others, although the disk has still not answered.
    assert await PROVIDER.prepare(gateway) == []
    assert not answers.is_set()
    answers.set()


async def test_a_link_out_of_the_folder_is_told_and_what_it_leads_to_is_not(
    desk: Desk, docs: Path
) -> None:
    (docs / "a.md").write_text("The ferry burnt.")
    (docs.parent / "secret.md").write_text("The ferry was insured by the crown.")
    (docs / "link.md").symlink_to(docs.parent / "secret.md")
    (docs / "folder").symlink_to(docs.parent)
    gateway = desk.gateway(documents=(docs,))
    assert await PROVIDER.prepare(gateway) == [
        f"{docs / name} was not read: {OUTSIDE}" for name in ("folder", "link.md")
    ]
    assert len(await PROVIDER.search("Who insured the ferry?", 6, gateway)) == 1
    assert "crown" not in desk.everything()


async def test_documents_that_became_a_link_out_of_their_folder_are_refused(
    desk: Desk, docs: Path
) -> None:
    (docs / "sub").mkdir()
    (docs / "sub" / "a.md").write_text("The ferry burnt.")
    gateway = desk.gateway(documents=(docs / "sub",), documents_within=(docs,))
    assert len(await PROVIDER.search("ferry", 6, gateway)) == 1
    shutil.move(docs / "sub", docs.parent / "elsewhere")
    (docs / "sub").symlink_to(docs.parent / "elsewhere")
    with pytest.raises(UsageError, match="does not lie within the folders of the server"):
        await PROVIDER.search("the ferry", 6, gateway)
    free = desk.gateway(documents=(docs / "sub",))
    assert len(await PROVIDER.search("this ferry", 6, free)) == 1, "the user named the link"


async def test_what_takes_long_tells_how_far_it_is(
    desk: Desk, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        (docs / f"{number}.txt").write_text(f"Crate {number} is blue.")
    monkeypatch.setattr(library, "TOLD_EVERY", 3600.0)
    await PROVIDER.prepare(desk.gateway(documents=(docs,)))
    # A moment is not long.
    assert not [event for event in desk.events if isinstance(event, CallProgressed)]
    monkeypatch.setattr(library, "TOLD_EVERY", 0.0)
    (docs / "5.txt").write_text("Crate 5 is green.")
    await PROVIDER.search("green", 6, desk.gateway(documents=(docs,)))
    told = [event for event in desk.events if isinstance(event, CallProgressed)]
    started = [event for event in desk.events if isinstance(event, CallStarted)]
    assert [(event.stage, event.done, event.total) for event in told][:3] == [
        ("reading", 0, 1),
        ("reading", 1, 1),
        ("indexing", 1, 1),
    ]
    assert {event.call for event in told} == {started[-1].call}
    assert {(event.kind, event.provider, event.what) for event in told} == {
        ("search", "library", "green")
    }


async def test_the_main_library_is_searched_where_no_paths_are_given(
    desk: Desk, tmp_path: Path, docs: Path
) -> None:
    (docs / "a.md").write_text("---\nlanguage: en\n---\n# A heading\n\nThe ferry burnt.")
    main = open_library(Settings(home=tmp_path / "mine"))
    main.refresh([docs])
    main.close()
    gateway = desk.gateway(home=tmp_path / "mine")
    assert await PROVIDER.prepare(gateway) == []
    (hit,) = await PROVIDER.search("ferry", 6, gateway)
    assert (hit.url, hit.complete, hit.language) == ((docs / "a.md").as_posix(), True, "en")
    assert [(mark.kind, mark.label) for mark in hit.marks] == [("heading", "A heading")]
    (docs / "a.md").unlink()
    # As of the last `deepdiver library refresh`.
    assert len(await PROVIDER.search("the ferry", 6, gateway)) == 1


async def test_only_what_was_published_in_time(desk: Desk, docs: Path) -> None:
    (docs / "old.md").write_text("---\npublished: 2020-01-01\n---\nThe ferry sailed.")
    (docs / "new.md").write_text("---\npublished: 2026-01-01\n---\nThe ferry burnt.")

    async def urls(**dates: date) -> list[str]:
        filters = Filters.model_validate(dates)
        found = await PROVIDER.search("ferry", 6, desk.gateway(documents=(docs,), filters=filters))
        return [Path(hit.url).name for hit in found]

    assert await urls(since=date(2025, 1, 1)) == ["new.md"]
    assert await urls(until=date(2025, 1, 1)) == ["old.md"]
    assert len(await urls()) == 2
    assert len(desk.store.journal.rows(desk.run)) == 3


async def test_what_is_saved_is_named_by_the_answer(desk: Desk) -> None:
    hits = await PROVIDER.search("Ejdervik", 6, desk.gateway(documents=SAMPLE))
    (row,) = desk.store.journal.rows(desk.run)
    assert all(hit.snapshot in str(row.reply) for hit in hits)


# -- vectors


async def test_a_small_library_has_all_vectors_before_the_first_search(
    desk: Desk, docs: Path
) -> None:
    (docs / "a.md").write_text("The ship was in flames.")
    gateway = desk.gateway(documents=(docs,))
    assert await PROVIDER.prepare(gateway) == []
    assert shelf(gateway.settings).library.pending() == 0
    (hit,) = await PROVIDER.search("a vessel that burns", 6, gateway)
    assert hit.url == (docs / "a.md").as_posix()


async def test_a_large_library_is_searched_before_it_has_all_its_vectors(
    desk: Desk, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", 2)
    for name, text in (("a", "The ferry burnt."), ("b", "The ferry sank."), ("c", "Nickel.")):
        (docs / f"{name}.md").write_text(text)
    gateway = desk.gateway(documents=(docs,))
    assert await PROVIDER.prepare(gateway) == []
    held = shelf(gateway.settings).library
    assert held.pending() == 3
    found = await PROVIDER.search("ferry in flames", 6, gateway)
    assert [Path(hit.url).name for hit in found] == ["a.md", "b.md"]
    held.embed()
    assert held.pending() == 0
    again = await PROVIDER.search("ferry in flames", 6, desk.gateway(documents=(docs,)))
    assert again == found


async def test_vectors_that_cannot_be_kept_cost_nothing_else(
    desk: Desk, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", 0)

    def fails(self: RowFile, rows: bytes) -> range:
        raise StoreError("the disk is full")

    monkeypatch.setattr(RowFile, "append", fails)
    (docs / "a.md").write_text("The ferry burnt.")
    assert len(await PROVIDER.search("ferry", 6, desk.gateway(documents=(docs,)))) == 1


def test_few_libraries_stay_open(tmp_path: Path) -> None:
    for number in range(library.SHELVES + 2):
        (tmp_path / str(number)).mkdir()
        shelf(Settings(documents=(tmp_path / str(number),)))
    assert len(library._OPEN) == library.SHELVES


# -- before the first search


async def test_what_cannot_be_read_is_told_before_the_first_search(desk: Desk, docs: Path) -> None:
    (docs / "a.md").write_text("The ferry burnt.", encoding="utf-8")
    (docs / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (docs / "c.txt").write_bytes(b" ")
    told = [
        f"{(docs / 'b.png').as_posix()} was not read: it is an image",
        f"{(docs / 'c.txt').as_posix()} was not read: it is empty",
    ]
    assert await PROVIDER.prepare(desk.gateway(documents=(docs,))) == told
    (docs / "b.png").unlink()
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


async def test_an_empty_main_library_is_told(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(NoEvidenceError, match="no document of your library"):
        await PROVIDER.prepare(desk.gateway(home=tmp_path / "mine"))


async def test_a_path_that_is_not_there_is_told_before_the_first_search(
    desk: Desk, docs: Path
) -> None:
    with pytest.raises(UsageError, match="absent does not exist"):
        await PROVIDER.prepare(desk.gateway(documents=(docs / "absent",)))


async def test_all_is_well(desk: Desk) -> None:
    assert await PROVIDER.prepare(desk.gateway(documents=SAMPLE)) == []
