from __future__ import annotations

import importlib.metadata
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import load
from deepdiver.sample import LIBRARY
from deepdiver.service import examination as cli_doctor
from deepdiver.service.examination import Check, Examination, State, examine
from deepdiver.store.postgres import open_postgres
from deepdiver.store.sqlite import open_sqlite
from tests.postgres_server import Server
from tests.store.acts import make_run

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def closed() -> int:
    """A port at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def look(tmp_path: Path, *, offline: bool = True, **flags: Any) -> Examination:
    return examine(load({"home": tmp_path / "dd", **flags}), offline=offline, folder=tmp_path)


def find(examination: Examination, part: str, name: str) -> Check:
    (found,) = [check for check in examination.checks if (check.part, check.name) == (part, name)]
    return found


# What keeps a run from starting


def nowhere(port: int) -> dict[str, str]:
    """Addresses of what needs no key, at which nobody is: tests reach nobody outside."""
    return dict.fromkeys(("duckduckgo", "wikipedia"), f"http://127.0.0.1:{port}")


def test_nothing_to_search_is_4(tmp_path: Path, closed: int) -> None:
    seen = look(tmp_path, offline=False, urls=nowhere(closed))
    assert seen.exit_code == 4
    assert seen.verdict == (
        "A run cannot start yet: give documents with --in PATH, set up a provider, or try --sample"
    )
    assert find(seen, "search", "tavily") == Check(
        "search",
        "tavily",
        State.OFF,
        "the web, with page texts (needs TAVILY_API_KEY)",
        "set TAVILY_API_KEY",
    )


def test_a_provider_that_cannot_be_reached_is_nothing_to_search(
    tmp_path: Path, closed: int
) -> None:
    seen = look(
        tmp_path, offline=False, urls={"searxng": f"http://127.0.0.1:{closed}", **nowhere(closed)}
    )
    assert seen.exit_code == 4
    check = find(seen, "search", "searxng")
    assert check.state is State.BAD
    assert f"127.0.0.1:{closed} cannot be reached" in check.says


@pytest.mark.parametrize(
    ("flags", "code", "says"),
    [
        ({"search": ["tavly"]}, 2, "did you mean tavily?"),
        ({"search": ["tavily"]}, 2, "set TAVILY_API_KEY"),
        ({"documents": ["/nowhere/at/all"]}, 2, "/nowhere/at/all does not exist"),
        ({"documents": [os.devnull]}, 4, "no readable document in /dev/null"),
    ],
)
def test_a_search_that_was_asked_for_and_cannot_be(
    tmp_path: Path, flags: Any, code: int, says: str
) -> None:
    seen = look(tmp_path, **flags)
    assert seen.exit_code == code
    assert says in find(seen, "search", "selection").says
    assert says in seen.verdict


@pytest.mark.parametrize(
    "content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_a_damaged_database_is_1_whatever_else_is_missing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dd").mkdir()
    (tmp_path / "dd" / "deepdiver.db").write_bytes(content)
    seen = look(tmp_path)
    assert seen.exit_code == 1
    assert find(seen, "home", "database").state is State.BAD
    assert "move it away" in find(seen, "home", "database").says


def test_a_newer_database_is_1(tmp_path: Path) -> None:
    open_sqlite(tmp_path / "dd").close()
    with closing(sqlite3.connect(tmp_path / "dd" / "deepdiver.db")) as db:
        db.execute("PRAGMA user_version = 999")
    seen = look(tmp_path, documents=[LIBRARY])
    assert seen.exit_code == 1
    assert "upgrade deepdiver" in find(seen, "home", "database").says


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "dd").write_text("a file")
    seen = look(tmp_path, home=tmp_path / "dd" / "below", documents=[LIBRARY])
    assert seen.exit_code == 1
    assert (
        find(seen, "home", "database").remedy
        == f"make {tmp_path / 'dd'} writable, or choose another --home"
    )


def test_a_model_without_its_key(tmp_path: Path) -> None:
    seen = look(tmp_path, documents=[LIBRARY], model="anthropic:claude")
    assert seen.exit_code == 2
    assert find(seen, "reasoner", "anthropic").state is State.BAD
    assert "set ANTHROPIC_API_KEY" in seen.verdict


def test_a_model_of_nobody(tmp_path: Path) -> None:
    seen = look(tmp_path, documents=[LIBRARY], model="opnai:gpt")
    assert seen.exit_code == 2
    assert "known are openai, anthropic, google, ollama" in find(seen, "reasoner", "opnai").says


def test_a_model_whose_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_doctor, "_installed", lambda name: name != "langchain-openai")
    seen = look(tmp_path, documents=[LIBRARY], model="openai:gpt", keys={"openai": KEY})
    assert seen.exit_code == 2
    assert find(seen, "reasoner", "openai").remedy == 'pip install "deepdiver-research[openai]"'


def test_a_model_server_that_is_away_is_told(tmp_path: Path, closed: int) -> None:
    seen = look(
        tmp_path,
        offline=False,
        documents=[LIBRARY],
        model="ollama:q",
        urls={"ollama": f"127.0.0.1:{closed}"},
    )
    check = find(seen, "reasoner", "ollama")
    assert check.state is State.BAD
    assert "cannot be reached" in check.says
    assert seen.exit_code == 0  # it may be back when the run starts


# What is well


def test_the_sample_and_the_embedded_reasoner_need_nothing(tmp_path: Path) -> None:
    seen = look(tmp_path, offline=False, documents=[LIBRARY])
    assert (seen.exit_code, seen.verdict) == (0, "A run can start.")
    assert find(seen, "search", "library").state is State.OK
    assert find(seen, "reasoner", "embedded").state is State.OK
    database = find(seen, "home", "database")
    assert database.state is State.OFF
    assert "the first run creates it" in database.says
    assert not (tmp_path / "dd").exists()  # looking changes nothing


def test_a_database_with_its_mode_size_and_runs(tmp_path: Path) -> None:
    open_sqlite(tmp_path / "dd").close()
    check = find(look(tmp_path, documents=[LIBRARY]), "home", "database")
    assert check.state is State.OK
    assert check.says == f"{tmp_path / 'dd' / 'deepdiver.db'}, 0.2 MB, mode 0600, runs: 0"


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path, port: int) -> None:
    urls = {
        "openai": f"http://127.0.0.1:{port}/v1",
        "searxng": f"http://127.0.0.1:{port}",
        **nowhere(port),
    }
    seen = look(tmp_path, offline=False, model="openai:local", urls=urls)
    assert seen.exit_code == 0
    assert find(seen, "reasoner", "openai") == Check(
        "reasoner", "openai", State.OK, f"at http://127.0.0.1:{port}/v1, reachable"
    )
    assert find(seen, "search", "searxng").says.endswith("; reachable")


def test_nothing_is_reached_for_unless_it_would_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, str]] = []

    async def reach_all(addresses: dict[str, str]) -> dict[str, str]:
        asked.append(addresses)
        return dict.fromkeys(addresses, "")

    monkeypatch.setattr(cli_doctor, "reach_all", reach_all)
    look(tmp_path, offline=False, documents=[LIBRARY], keys={"openai": KEY})
    look(
        tmp_path,
        offline=False,
        model="openai:gpt",
        fast_model="anthropic:c",
        keys={"tavily": KEY, "openai": KEY},
    )
    look(tmp_path, offline=True, model="openai:gpt", keys={"tavily": KEY})
    assert asked == [
        {},
        {
            "openai": "https://api.openai.com",
            "anthropic": "https://api.anthropic.com",
            "duckduckgo": "https://html.duckduckgo.com",
            "tavily": "https://api.tavily.com",
            "wikipedia": "https://en.wikipedia.org",
        },
        {},
    ]


def test_a_database_that_cannot_be_reached_is_said_without_its_password(
    tmp_path: Path, closed: int
) -> None:
    address = f"postgresql://me:swordfish9@127.0.0.1:{closed}/x"
    seen = look(tmp_path, offline=False, documents=[LIBRARY], database=address)
    for name in ("database", "shared library"):
        check = find(seen, "home", name)
        assert check.state is State.BAD
        assert "cannot be reached" in check.says
        assert seen.exit_code == check.exit_code != 0
    assert "swordfish9" not in seen.as_text() + str(seen.as_json())


def test_runs_in_postgresql_are_counted_and_their_tables_not_made(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    address = postgres.address(database)
    seen = look(tmp_path, offline=False, documents=[LIBRARY], database=address)
    assert "no runs yet" in find(seen, "home", "database").says
    made = "SELECT 1 FROM pg_namespace WHERE nspname = 'deepdiver'"
    assert postgres.execute(made, database) == []
    with closing(open_postgres(SecretStr(address))) as store:
        store.runs.create(make_run())
    seen = look(tmp_path, offline=False, documents=[LIBRARY], database=address)
    assert find(seen, "home", "database").says.endswith("runs: 1")
    assert not (tmp_path / "dd").exists()


def test_offline_the_database_is_not_asked(tmp_path: Path, closed: int) -> None:
    address = f"postgresql://me:swordfish9@127.0.0.1:{closed}/x"
    seen = look(tmp_path, documents=[LIBRARY], database=address)
    assert find(seen, "home", "database").says == "in PostgreSQL; not looked at"
    assert seen.exit_code == 0


def test_without_a_database_the_library_is_this_machines(tmp_path: Path) -> None:
    seen = look(tmp_path, offline=False, documents=[LIBRARY])
    assert find(seen, "home", "shared library").state is State.OFF
    assert not [
        check
        for check in look(tmp_path, documents=[LIBRARY]).checks
        if check.name == "shared library"
    ]


def test_settings_files_are_found(tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "deepdiver.toml").write_text("")
    (own_home / ".config" / "deepdiver").mkdir(parents=True)
    (own_home / ".config" / "deepdiver" / "deepdiver.toml").write_text("")
    (tmp_path / "below").mkdir()
    seen = examine(load({"home": tmp_path / "dd"}), offline=True, folder=tmp_path / "below")
    assert find(seen, "settings", "project file").says == str(tmp_path / "deepdiver.toml")
    assert find(seen, "settings", "user file").says == str(
        own_home / ".config" / "deepdiver" / "deepdiver.toml"
    )


def test_extras_come_from_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = [
        "rich>=14",
        'ddgs>=9; extra == "search"',
        "pypdf; extra == 'search'",
        'rich; extra == "shine"',
    ]
    declared += ['deepdiver-research[search]; extra == "all"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: declared)
    monkeypatch.setattr(cli_doctor, "_installed", lambda name: name == "rich")
    seen = look(tmp_path)
    assert [check for check in seen.checks if check.part == "extras"] == [
        Check(
            "extras",
            "search",
            State.OFF,
            "not installed (ddgs, pypdf)",
            'pip install "deepdiver-research[search]"',
        ),
        Check("extras", "shine", State.OK, "installed"),
    ]


def test_a_folder_of_sources_has_no_extras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    assert not [check for check in look(tmp_path).checks if check.part == "extras"]


def test_no_key_is_ever_shown(tmp_path: Path) -> None:
    seen = look(
        tmp_path, model="openai:gpt", keys={"openai": KEY, "tavily": KEY}, documents=[LIBRARY]
    )
    assert "key set" in find(seen, "reasoner", "openai").says
    assert KEY not in seen.as_text() + str(seen.as_json())


# How it is told


def test_the_text_groups_what_belongs_together(tmp_path: Path) -> None:
    text = look(tmp_path, documents=[LIBRARY]).as_text()
    parts = [line for line in text.splitlines()[:-2] if line and not line.startswith(" ")]
    assert parts == ["deepdiver", "settings", "home", "reasoner", "search", "feed", "extras"]
    assert text.splitlines()[-2:] == [
        "+ ready   - not set up   ! does not work",
        "A run can start.",
    ]


def test_the_json_says_the_same(tmp_path: Path, closed: int) -> None:
    seen = look(tmp_path, offline=False, urls=nowhere(closed))
    told = seen.as_json()
    assert told["ok"] is False
    assert told["verdict"] == seen.verdict
    assert [check["name"] for check in told["checks"]] == [check.name for check in seen.checks]
    assert {check["state"] for check in told["checks"]} <= {"ok", "off", "bad"}


@pytest.mark.parametrize(("codes", "code"), [((0, 0), 0), ((4, 0), 4), ((4, 2), 2), ((2, 1, 4), 1)])
def test_the_worst_decides(codes: tuple[int, ...], code: int) -> None:
    checks = tuple(Check("p", f"n{n}", State.OK, "s", exit_code=n) for n in codes)
    assert Examination(checks).exit_code == code


def test_feeds_are_told_with_what_they_need_and_none_is_asked(tmp_path: Path) -> None:
    seen = look(tmp_path)
    assert find(seen, "feed", "search_news").state is State.OK
    assert find(seen, "feed", "detect_thermal_anomalies").state is State.OFF
    assert "FIRMS_MAP_KEY" in find(seen, "feed", "detect_thermal_anomalies").remedy
    keyed = look(tmp_path, keys={"firms": "a-key"})
    assert find(keyed, "feed", "detect_thermal_anomalies").state is State.OK


def test_mcp_servers_are_named_and_not_started(tmp_path: Path) -> None:
    servers = {
        "servers": {"notes": {"command": ["/no/such/program", "--x"], "env": {"TOKEN": KEY}}}
    }
    check = find(look(tmp_path, mcp=servers), "mcp", "notes")
    assert "/no/such/program --x" in check.says
    assert "deepdiver mcp tools" in check.says
    assert KEY not in str(check)
