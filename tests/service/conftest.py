"""Books of both kinds; and a home with finished runs: one of nobody in particular, one of ada."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from deepdiver.service.book import Book, open_book
from tests.conftest import say_nothing
from tests.service.rig import QUESTION, eventually, served, tokens_of


@pytest.fixture(params=["sqlite", "postgres"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Book]:
    """An empty book: a file, then one in PostgreSQL."""
    address = None
    if request.param == "postgres":
        server, name = request.getfixturevalue("postgres"), request.getfixturevalue("database")
        address = SecretStr(server.address(name))
    with closing(open_book(tmp_path, address)) as opened:
        yield opened


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which a laptop's question, then one of ada's, was researched over the sample."""
    home = tmp_path_factory.mktemp("service") / "home"
    with pytest.MonkeyPatch.context() as patch:
        say_nothing(patch)
        with served(home) as laptop, httpx.Client(base_url=laptop.url, timeout=60) as client:
            own = client.post("/api/v1/runs", json={"question": QUESTION}).json()["id"]
            eventually(lambda: client.get(f"/api/v1/runs/{own}").json()["finished"])
        token = tokens_of(home, "ada")["ada"]
        with served(home) as shared, httpx.Client(base_url=shared.url, timeout=60) as client:
            client.headers["authorization"] = f"Bearer {token}"
            hers = client.post("/api/v1/runs", json={"question": QUESTION}).json()["id"]
            eventually(lambda: client.get(f"/api/v1/runs/{hers}").json()["finished"])
        for name, text in (("own", own), ("ada", hers), ("token", token)):
            (home / f"test-{name}").write_text(text, encoding="utf-8")
    return home


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Path:
    """A copy of that home, to change as one likes."""
    copy = tmp_path / "copy"
    shutil.copytree(made_home, copy)
    return copy


def told(home: Path, name: str) -> str:
    """Return what was noted of a home: the run "own", the run "ada", or ada's "token"."""
    return (home / f"test-{name}").read_text(encoding="utf-8")
