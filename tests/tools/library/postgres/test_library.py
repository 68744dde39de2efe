"""A library in PostgreSQL.

Shared by many machines, whole after any loss, and no word of its address anywhere.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    DamagedStoreError,
    NewerSchemaError,
    SettingsError,
    StoreAccessError,
    StoreError,
    UsageError,
)
from deepdiver.tools.library import ranking
from deepdiver.tools.library.embedding import embed_texts
from deepdiver.tools.library.interface import Progress
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.open_library import MAIN, folder_of, has_documents, open_library
from deepdiver.tools.library.postgres import library as postgres_library
from deepdiver.tools.library.postgres.library import (
    PostgresLibrary,
    describe_database,
    has_any_document,
)
from tests.patience import PATIENCE
from tests.postgres_server import Server
from tests.tools.library.harbour import QUERIES, answers, names, put

KILLED = Path(__file__).with_name("killed.py")
Open = Callable[..., PostgresLibrary]


@pytest.fixture
def opened(shared_database: SecretStr) -> Iterator[Open]:
    made: list[PostgresLibrary] = []
    mark = secrets.token_hex(4)

    def open_(name: str = "main") -> PostgresLibrary:
        made.append(PostgresLibrary(shared_database, f"{name}-{mark}"))
        return made[-1]

    yield open_
    for library in made:
        library.close()


@pytest.fixture
def library(opened: Open) -> PostgresLibrary:
    return opened()


def filled(library: PostgresLibrary, docs: Path) -> PostgresLibrary:
    library.refresh([docs])
    library.embed()
    return library


# -- what goes wrong


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"password": "wrong-password"}, StoreAccessError),
        ({"user": "stranger"}, StoreAccessError),
        ({"database": "absent"}, StoreAccessError),
    ],
)
def test_a_library_that_cannot_be_opened_is_told(
    server: Server, change: dict[str, str], kind: type[StoreError]
) -> None:
    address = SecretStr(server.address(**change))
    for act in (
        lambda: PostgresLibrary(address, "main"),
        lambda: describe_database(address),
        lambda: has_any_document(address, "main"),
    ):
        with pytest.raises(kind) as raised:
            act()
        shown = "".join(traceback.format_exception(raised.value))
        for secret in (
            "wrong-password",
            server.password,
            "stranger",
            "127.0.0.1",
            str(server.port),
        ):
            assert secret not in shown


def test_an_unreachable_server_and_a_strange_address() -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        PostgresLibrary(SecretStr("postgresql://me:some-password@127.0.0.1:1/x"), "main")
    with pytest.raises(SettingsError) as raised:
        PostgresLibrary(SecretStr("some-password"), "main")
    assert "some-password" not in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"deepdiver-research\[postgres\]"):
        open_library(Settings(database=SecretStr("postgresql://me:pw@127.0.0.1/x")))


def test_tables_of_a_newer_deepdiver_are_told(server: Server, database: str) -> None:
    address = SecretStr(server.address(database))
    PostgresLibrary(address, "main").close()
    server.execute("INSERT INTO deepdiver_library.version VALUES (99)", database)
    for act in (lambda: PostgresLibrary(address, "main"), lambda: describe_database(address)):
        with pytest.raises(NewerSchemaError, match="upgrade"):
            act()


def test_a_table_that_is_gone_is_told(server: Server, database: str, docs: Path) -> None:
    library = PostgresLibrary(SecretStr(server.address(database)), "main")
    library.refresh([docs])
    server.execute("DROP TABLE deepdiver_library.postings", database)
    with pytest.raises(DamagedStoreError, match="schema deepdiver_library"):
        library.search("ferry", 5)
    library.close()


def test_what_is_told_of_a_document_and_spoilt_is_told(
    library: PostgresLibrary, docs: Path
) -> None:
    library.refresh([docs])
    with library._connections.use() as db:
        db.execute("UPDATE documents SET notes = '{' WHERE library = %s", (library._id,))
    with pytest.raises(DamagedStoreError, match="cannot be read"):
        library.documents()


def test_without_pgvector_it_works_by_words_and_says_so(
    server: Server, bare_database: str, docs: Path
) -> None:
    address = SecretStr(server.address(bare_database))
    assert describe_database(address).endswith(
        "no pgvector: passages are found by their words only, no library yet"
    )
    library = PostgresLibrary(address, "main")
    library.refresh([docs])
    assert "pgvector" in library.note
    assert (library.pending(), library.embed()) == (0, 0)
    assert names(library.search("nickel", 5)) == ["lake.md"]
    assert library.search("ship in flames", 5) == []
    library.close()
    server.execute(f"ALTER DATABASE {bare_database} RESET extension_control_path")
    library = PostgresLibrary(address, "main")
    assert (library.note, library.pending()) == ("", 4)
    assert library.embed() == 4
    assert names(library.search("ship in flames", 5))[0] == "ferry.md"
    library.close()


# -- lost and killed


def test_a_connection_lost_while_it_is_refreshed(
    opened: Open, docs: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each file.

    What was entered before stays, nothing is half there, and the next refresh goes on.
    """
    monkeypatch.setattr("deepdiver.tools.library.refresh.BATCH", 1)
    whole = answers(filled(opened("whole"), docs))
    for at in range(4):
        library = opened(f"lost-{at}")

        def cut(progress: Progress, library: PostgresLibrary = library, at: int = at) -> None:
            if (progress.stage, progress.done) == ("reading", at):
                holder = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = "
                for (pid,) in server.execute(f"{holder}{library._id}"):
                    server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")

        with pytest.raises(StoreError, match="was lost"):
            library.refresh([docs], cut)
        assert len(library.documents()) == library.passages() == at
        found = library.refresh([docs])
        assert len(found.added) == 4 - at
        library.embed()
        assert answers(library) == whole


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_killed_at_any_statement_leaves_a_library_that_goes_on(
    opened: Open, docs: Path, shared_database: SecretStr
) -> None:
    whole = answers(filled(opened("whole"), docs))
    killed = 0
    for step in range(2, 60, 9):
        library = opened(f"killed-{step}")
        made = subprocess.run(
            [sys.executable, KILLED, library.name, docs, str(step)],
            input=f"{shared_database.get_secret_value()}\n".encode(),
            capture_output=True,
            check=False,
        )
        assert made.returncode in (0, -signal.SIGKILL), made.stderr.decode()
        killed += made.returncode != 0
        assert sum(entry.passages for entry in library.documents()) == library.passages()
        for match in library.search("ferry", 5):
            assert match.span.of(library.text(match.entry))
        assert answers(filled(library, docs)) == whole
    assert killed >= 4


# -- several at once


def test_vectors_are_made_by_many_and_each_once(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_library, "EMBED", 2)
    for number in range(13):
        put(tmp_path / "many" / f"{number}.md", f"Text number {number} about ferries.")
    libraries = [opened() for _ in range(3)]
    libraries[0].refresh([tmp_path / "many"])
    given: list[int] = []
    threads = [
        threading.Thread(target=lambda made=made: given.append(made.embed())) for made in libraries
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(given) == 13
    assert libraries[0].pending() == 0


def test_what_another_is_at_is_left_to_him(opened: Open, docs: Path) -> None:
    library, other = opened(), opened()
    library.refresh([docs])
    with other._connections.writing() as db:
        db.execute(
            "SELECT 1 FROM passages WHERE library = %s ORDER BY number LIMIT 1 FOR UPDATE",
            (other._id,),
        )
        assert library.embed() == 3
    assert library.pending() == 1  # he was stopped
    assert library.embed() == 1


def test_a_document_removed_while_it_is_embedded_is_gone(
    opened: Open, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, other = opened(), opened()
    library.refresh([docs])
    began, done = threading.Event(), threading.Event()

    def slow(texts: list[str]) -> object:
        began.set()
        done.wait(0.5)
        return embed_texts(texts)

    monkeypatch.setattr(postgres_library, "embed_texts", slow)
    thread = threading.Thread(target=library.embed)
    thread.start()
    began.wait(PATIENCE)
    assert len(other.forget([docs / "sub"])) == 1  # waits for the vectors of that moment
    done.set()
    thread.join()
    assert (library.passages(), library.pending()) == (3, 0)


# -- vectors that a search makes


@pytest.mark.parametrize("whole", [0, 99])
def test_the_answer_is_the_same_whatever_vectors_were_there(
    library: PostgresLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    monkeypatch.setattr(ranking, "WHOLE", whole)
    library.refresh([docs])
    exact = [library.search(query, 5) for query in QUERIES]  # no vector was there
    library.embed()
    chance = random.Random(7)  # noqa: S311
    for _ in range(8):
        gone = chance.sample(range(4), chance.randint(0, 4))
        with library._connections.use() as db:
            db.execute(
                "UPDATE passages SET vector = NULL WHERE library = %s AND number = ANY(%s)",
                (library._id, gone),
            )
        assert library.pending() == len(gone)
        assert [library.search(query, 5) for query in QUERIES] == exact


def test_vectors_that_cannot_be_kept_cost_nothing_else(
    library: PostgresLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.refresh([docs])

    def full() -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(library._connections, "writing", full)
        found = answers(library)
    assert found[0][0][0].endswith("ferry.md")
    assert library.pending() == 4
    assert answers(library) == found
    assert library.pending() == 0


def test_a_search_waits_for_nobody_who_embeds(opened: Open, docs: Path) -> None:
    library, other = opened(), opened()
    library.refresh([docs])
    with other._connections.writing() as db:
        db.execute(
            "SELECT 1 FROM passages WHERE library = %s AND number < 3 FOR UPDATE", (other._id,)
        )
        found = answers(library)
        assert library.pending() == 3  # left to him
    assert answers(library) == found
    assert library.pending() == 0


# -- chosen by settings


def test_the_settings_choose(shared_database: SecretStr, tmp_path: Path) -> None:
    here = open_library(Settings(home=tmp_path))
    there = open_library(Settings(home=tmp_path, database=shared_database))
    by_paths = open_library(
        Settings(home=tmp_path, database=shared_database), [tmp_path / "a", tmp_path / "b"]
    )
    assert isinstance(here, LocalLibrary)
    assert isinstance(there, PostgresLibrary)
    assert isinstance(by_paths, PostgresLibrary)
    assert there.name == MAIN
    assert by_paths.name == folder_of(tmp_path, [tmp_path / "b", tmp_path / "a"]).name
    for library in (here, there, by_paths):
        library.close()


def test_whether_there_are_documents(
    server: Server, database: str, docs: Path, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, database=SecretStr(server.address(database)))
    assert not has_documents(settings)
    assert (
        server.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'deepdiver_library'", database)
        == []
    )
    library = open_library(settings)
    assert not has_documents(settings)
    library.refresh([docs])
    library.close()
    assert has_documents(settings)
    lost = Settings(
        home=tmp_path, database=SecretStr("postgresql://me:some-password@127.0.0.1:1/x")
    )
    assert has_documents(lost)  # whoever opens it is told


def test_what_is_there_in_one_line(server: Server, database: str, docs: Path) -> None:
    address = SecretStr(server.address(database))
    line = describe_database(address)
    assert line.startswith("PostgreSQL ")
    assert line.endswith(" to be set up, no library yet")
    library = filled(PostgresLibrary(address, "main"), docs)
    library.close()
    line = describe_database(address)
    assert "pgvector 0." in line
    assert line.endswith("libraries: 1, documents: 4")
    assert server.password not in line
