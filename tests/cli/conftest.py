"""A command line in this process, homes with runs, a service that hangs, and a small disk."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.cli import main
from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import (
    QUESTION,
    Said,
    Say,
)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Give a command line in this process."""

    def call(*words: str | Path) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Said(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def original(read_once: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one finished run, for copying."""
    home = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEEPDIVER_HOME", str(home))
        assert main(["--search", "library", "--sample", "--quiet", "--json", QUESTION]) == 0
    return home


@pytest.fixture
def home(own_home: Path) -> Path:
    """The home of this test; nothing is there yet."""
    return own_home / "deepdiver"


@pytest.fixture
def finished(original: Path, home: Path) -> str:
    """A finished run in this test's home."""
    shutil.copytree(original, home)
    with closing(open_sqlite(home)) as store:
        (found,) = store.runs.list_all()
    return found.id


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A search service that takes every question and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("SEARXNG_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setenv("DEEPDIVER_RETRIES", "0")
        yield server


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 6 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk here")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607
