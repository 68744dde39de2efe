"""A library in a folder: what is its own, above all being repaired after any crash.

`test_alike` holds what all do.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import scale
from deepdiver import sample
from deepdiver.core.text import Span
from deepdiver.errors import NewerSchemaError, StoreAccessError
from deepdiver.tools.library import ranking, sample_vectors
from deepdiver.tools.library.interface import Progress
from deepdiver.tools.library.local import library as local_library
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.process_lock import hold_lock
from tests.tools.library.harbour import QUERIES, Answers, answers, names, put

KILLED = Path(__file__).with_name("killed.py")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[LocalLibrary]:
    made = LocalLibrary(tmp_path / "library")
    yield made
    made.close()


def answers_in(folder: Path) -> Answers:
    library = LocalLibrary(folder)
    try:
        return answers(library)
    finally:
        library.close()


def filled(folder: Path, docs: Path) -> LocalLibrary:
    library = LocalLibrary(folder)
    library.refresh([docs])
    library.embed()
    return library


# -- what goes wrong


def test_a_library_that_cannot_be_opened_is_told(tmp_path: Path, library: LocalLibrary) -> None:
    put(tmp_path / "file", "x")
    with pytest.raises(StoreAccessError):
        LocalLibrary(tmp_path / "file" / "library")
    library._catalogue._db.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerSchemaError):
        LocalLibrary(library.folder)


@pytest.mark.parametrize("what", ["words", "vectors", "both", "spoilt words", "spoilt vectors"])
def test_lost_files_are_made_anew(tmp_path: Path, docs: Path, what: str) -> None:
    filled(tmp_path / "library", docs).close()
    whole = answers_in(tmp_path / "library")
    for place in (tmp_path / "library").iterdir():
        kind = place.name.partition("-")[0]
        if kind not in ("words", "vectors") or (what != "both" and kind not in what):
            continue
        if "spoilt" in what:
            spoilt = place / "meta.json" if place.is_dir() else place
            spoilt.write_bytes(b"spoilt" * 20)
        elif place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
    library = LocalLibrary(tmp_path / "library")
    assert names(library.search("nickel", 1)) == ["lake.md"]  # at once, by its words
    library.embed()
    library.close()
    assert answers_in(tmp_path / "library") == whole


def test_an_older_copy_of_the_catalogue_does_not_get_the_vectors_of_others(
    tmp_path: Path, docs: Path
) -> None:
    folder = tmp_path / "library"
    library = LocalLibrary(folder)
    library.refresh([docs / "ferry.md"])
    library.embed()
    library.close()
    shutil.copy(folder / "catalogue.sqlite", tmp_path / "copy")
    filled(folder, docs).close()
    for leftover in folder.glob("catalogue.sqlite*"):
        leftover.unlink()
    shutil.copy(tmp_path / "copy", folder / "catalogue.sqlite")
    library = LocalLibrary(folder)
    library.refresh([docs / "sub"])
    assert library.pending() == 2
    library.embed()
    assert names(library.search("water with metal", 1)) == ["lake.md"]
    library.close()


def test_vectors_of_another_model_are_made_anew(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "library", docs).close()
    monkeypatch.setattr(local_library, "THIS_MODEL", 7)
    library = LocalLibrary(tmp_path / "library")
    assert library.pending() == library.passages()
    library.close()


# -- searching


def test_what_has_nothing_to_do_with_it_is_not_found(library: LocalLibrary, docs: Path) -> None:
    library.refresh([docs])
    library.embed()
    assert library.search("quantum chromodynamics lattice", 5) == []


def test_the_sample_is_embedded_without_the_model(
    library: LocalLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("deepdiver.tools.library.embedding.load_embedder", refuse)
    library.refresh([sample.LIBRARY])
    assert library.embed() == library.passages() == len(sample_vectors.load_sample_vectors())


@pytest.fixture(scope="module")
def shelved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of a dozen passages without a vector.

    Some have a word of each query, some name another.
    """
    place = tmp_path_factory.mktemp("shelved")
    for number in range(8):
        put(
            place / "docs" / f"{number}.md",
            f"---\ntitle: Ship {number}\n---\nShip {number} burnt off Ejdervik. {number}.",
        )
    put(place / "docs" / "owner.txt", "Holm Works owns Ship 3 and the ferry Ejdervik since 1998.")
    put(
        place / "docs" / "works.md",
        "---\ntitle: Holm Works\n---\nThe company was founded by a smith. Anna runs it.",
    )
    put(place / "docs" / "lake.md", "There is nickel in the water of the lake.")
    put(place / "docs" / "flames.md", "Something about boats in flames.")
    library = LocalLibrary(place / "library")
    library.refresh([place / "docs"])
    library.close()
    return place


Exact = list[tuple[str, Span, float]]
"""What was found, to the last bit."""


def asked_of(
    shelved: Path, in_table: int, kept: Iterable[int], queries: Iterable[str]
) -> dict[str, Exact]:
    """Ask a copy of the library that has some of its vectors in the table, and some kept."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(shelved / "library", Path(folder) / "library")
        library = LocalLibrary(Path(folder) / "library")
        steps = itertools.count()
        library.embed(stop=lambda: next(steps) > in_table)
        texts = library.embeddable()
        library._cache.vectors([texts[number] for number in kept])
        assert library.pending() == len(texts) - in_table
        found = {
            query: [
                (match.entry.url, match.span, match.score) for match in library.search(query, 4)
            ]
            for query in queries
        }
        library.close()
    return found


@pytest.mark.parametrize("whole", [0, 99])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    in_table=st.integers(0, 12), kept=st.sets(st.integers(0, 11)), queries=st.permutations(QUERIES)
)
def test_the_answer_is_the_same_whatever_vectors_were_there(
    shelved: Path,
    monkeypatch: pytest.MonkeyPatch,
    whole: int,
    in_table: int,
    kept: set[int],
    queries: list[str],
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", whole)
    monkeypatch.setattr(ranking, "NEAR", 5)
    monkeypatch.setattr(local_library, "EMBED", 1)
    new = asked_of(shelved, 0, (), QUERIES)
    assert all(new.values())
    assert asked_of(shelved, in_table, sorted(kept), queries) == new


def test_what_searches_made_is_cleared_away_when_the_table_has_all(
    library: LocalLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", 0)
    library.refresh([docs])
    library.search("ferry", 5)
    kept = library.folder / f"kept-{local_library.THIS_MODEL}"
    assert kept.exists()
    (library.folder / "kept-7").write_bytes(b"of another model")
    library.embed()
    assert not kept.exists()
    put(docs / "more.md", "One more ferry.")
    library.refresh([docs])
    assert not (library.folder / "kept-7").exists()
    assert "more.md" in names(library.search("ferry", 5))
    assert (kept.exists(), library.pending()) == (True, 1)


# -- changing


def test_progress_is_told(library: LocalLibrary, docs: Path) -> None:
    heard: list[Progress] = []
    library.refresh([docs], heard.append)
    library.embed(heard.append)
    assert [(one.stage, one.done, one.total) for one in heard if one.done == one.total] == [
        ("reading", 4, 4),
        ("indexing", 4, 4),
        ("embedding", 4, 4),
    ]
    heard.clear()
    library.refresh([docs], heard.append)
    library.embed(heard.append)
    assert heard == []


def test_gaps_are_closed_when_they_are_the_greater_part(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_library, "SPARE", 3)
    library = filled(tmp_path / "library", docs)
    for text in ("The train was late.", "The train came.", "A train.", "No train."):
        for name in ("owner.txt", "ferry.md"):
            put(docs / name, f"{text} {name}")
        library.refresh([docs])
        library.embed()
    assert library._catalogue.fact("vectors") > 0
    _, passages, given = library._catalogue.counts()
    assert given - passages <= 4
    assert library.pending() == 0
    assert sorted(place.name.partition("-")[0] for place in library.folder.glob("*-[0-9]")) == [
        "vectors",
        "words",
    ]
    library.close()
    filled(tmp_path / "fresh", docs).close()
    assert answers_in(tmp_path / "library") == answers_in(tmp_path / "fresh")


def test_no_gap_is_closed_while_somebody_embeds(
    library: LocalLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_library, "SPARE", 0)
    library.refresh([docs])
    shutil.rmtree(docs / "sub")
    for name in ("owner.txt", "works.md"):
        (docs / name).unlink()
    with hold_lock(library.folder / "embedding", 0.0):
        library.refresh([docs])
    assert library._catalogue.fact("vectors") == 0
    library.refresh([docs])
    assert names(library.search("ferry", 5)) == ["ferry.md"]


# -- several at once


def test_a_reader_goes_along_when_numbers_are_given_anew(
    library: LocalLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.refresh([docs])
    library.embed()
    other = LocalLibrary(library.folder)
    assert names(other.search("nickel", 1)) == ["lake.md"]
    monkeypatch.setattr(local_library, "SPARE", 0)
    for name in ("ferry.md", "owner.txt", "works.md"):
        (docs / name).unlink()
    library.refresh([docs])
    assert library._catalogue.fact("vectors") == 1
    assert names(other.search("nickel", 1)) == ["lake.md"]
    assert names(other.search("metal in the water", 1)) == ["lake.md"]
    other.close()


def test_two_writers_take_turns(tmp_path: Path, docs: Path) -> None:
    libraries = [LocalLibrary(tmp_path / "library") for _ in range(2)]
    threads = [
        threading.Thread(target=lambda made=made: (made.refresh([docs]), made.embed()))
        for made in libraries
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for made in libraries:
        assert (len(made.documents()), made.passages(), made.pending()) == (4, 4, 0)
        assert len(made._vectors) == 4
        made.close()


# -- killed


def kill_at(folder: Path, docs: Path, *steps: int) -> list[int]:
    """Fill the library `killed-STEP` of each step in a process that is killed there.

    Returns which were in time.
    """
    made = subprocess.run(
        [sys.executable, KILLED, folder, docs, *map(str, steps)], capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr.decode()
    return [int(step) for step in made.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_library_killed_at_any_step_is_repaired(tmp_path: Path, docs: Path) -> None:
    filled(tmp_path / "whole", docs).close()
    whole = answers_in(tmp_path / "whole")
    shutil.copytree(docs, tmp_path / "before")
    steps = range(0, 60, 6)
    killed = kill_at(tmp_path, docs, *steps)
    for step in steps:
        folder = tmp_path / f"killed-{step}"
        library = LocalLibrary(folder)
        assert len(library._words) == library.passages()  # in step again, before anybody refreshes
        for match in library.search("ferry", 5):
            assert match.span.of(library.text(match.entry))
        library.refresh([docs])
        library.embed()
        library.close()
        assert answers_in(folder) == whole
    assert len(killed) >= 6


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_library_killed_while_it_changes_is_repaired(tmp_path: Path, docs: Path) -> None:
    filled(tmp_path / "base", docs).close()
    changed(docs)
    filled(tmp_path / "whole", docs).close()
    whole = answers_in(tmp_path / "whole")
    steps = range(0, 50, 5)
    for step in steps:
        shutil.copytree(tmp_path / "base", tmp_path / f"killed-{step}")
    killed = kill_at(tmp_path, docs, *steps)
    for step in steps:
        folder = tmp_path / f"killed-{step}"
        filled(folder, docs).close()
        assert answers_in(folder) == whole
    assert len(killed) >= 5


def changed(docs: Path) -> None:
    """Change, move, remove and add a document."""
    put(docs / "ferry.md", "Another fire on the ferry.")
    (docs / "owner.txt").rename(docs / "register.txt")
    (docs / "sub" / "lake.md").unlink()
    put(docs / "new.md", "Something new about boats.")


@pytest.mark.proof
@pytest.mark.parametrize("act", ["fill", "change"])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_library_killed_at_every_step_is_repaired(tmp_path: Path, docs: Path, act: str) -> None:
    if act == "change":
        filled(tmp_path / "base", docs).close()
        changed(docs)
    filled(tmp_path / "whole", docs).close()
    whole = answers_in(tmp_path / "whole")
    step = 0
    while True:
        folder = tmp_path / f"killed-{step}"
        if act == "change":
            shutil.copytree(tmp_path / "base", folder)
        if not kill_at(tmp_path, docs, step):
            break
        filled(folder, docs).close()
        assert answers_in(folder) == whole
        step += 1
    assert step >= {"fill": 30, "change": 20}[act]


# -- at scale


def test_the_bench_of_scale_measures_a_library_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "QUERIES", 10)
    one, two = ([new.document.text for new in scale.invented(40)] for _ in range(2))
    assert one == two
    assert len(one) == 40 // scale.EACH
    assert scale.build(tmp_path, 400) > 0
    found = scale.look(tmp_path)
    assert found.keys() >= scale.TARGETS.keys() - {"indexed a second"}
    assert all(figure > 0 for figure in found.values())
    library = LocalLibrary(tmp_path)
    assert (library.passages(), library.pending()) == (400, 0)
    library.close()
