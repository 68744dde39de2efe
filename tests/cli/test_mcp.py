"""`deepdiver mcp`.

What makes no sense, what is missing, and who is handed what; serving itself is tested beside it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.cli import main
from deepdiver.cli import mcp as cli
from deepdiver.cli.mcp import HOST, KEY, PORT, token_of
from deepdiver.core.settings import Settings
from deepdiver.errors import UsageError
from deepdiver.sample import LIBRARY

TOKEN = "a-token-of-24-characters"


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


Say = Callable[..., Said]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Give a `deepdiver mcp` command line in this process."""

    def call(*words: str | Path) -> Said:
        capsys.readouterr()
        code = main(["mcp", *map(str, words)])
        return Said(code, *capsys.readouterr())

    return call


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What would be served, instead of serving it."""
    calls: list[tuple[Any, ...]] = []
    server = SimpleNamespace(
        serve_stdio=lambda settings: calls.append(("stdio", settings)),
        serve_http=lambda settings, host, port, say: calls.append(("http", settings, host, port)),
    )
    monkeypatch.setattr(
        cli, "import_module", lambda name: {"deepdiver.mcp_server.serve": server}[name]
    )
    return calls


def complaint(said: Said) -> str:
    assert said.out == ""
    assert said.err.startswith("deepdiver: "), said.err
    assert said.err.count("\n") == 1, said.err
    return said.err.removeprefix("deepdiver: ").strip()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["serve"], "'serve' is nothing that mcp does"),
        (["tools", "now"], "'now' is left over"),
        (["tools", "--http"], "--http is for serving"),
        (["approve"], "needs SERVER"),
        (["--port", "80"], "--port is for --http"),
        (["--host", "::1"], "--host is for --http"),
        (["--token-file", "x"], "--token-file is for --http"),
        (["--http", "--port", "70000"], "a port from 0 to 65535"),
        (["--http", "--port", "-1"], "a port from 0 to 65535"),
        (["--http", "--token-file", "/no/such/file"], "/no/such/file cannot be read"),
        (["--in", "/no/such/folder"], "/no/such/folder does not exist"),
        (["--colour"], "unknown option --colour"),
        (["--json"], "unknown option --json"),
        (["--strategy", "poper"], "did you mean popper"),
        (["--search", "tavly"], "did you mean tavily"),
        (["--search", "tavily"], "TAVILY_API_KEY"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_line(
    say: Say, served: list[tuple[Any, ...]], words: list[str], why: str
) -> None:
    said = say(*words)
    assert said.code == 2
    assert why in complaint(said)
    assert served == []


def test_without_the_package_a_line_says_how_to_get_it(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "mcp" else find(name))
    for words in ([], ["--http"], ["tools"], ["approve", "x"]):
        said = say(*words)
        assert said.code == 2
        assert 'pip install "deepdiver-research[mcp]"' in complaint(said)


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "two words", "two\nlines", "x" * 5_000, "tökén-of-more-than-16"],
    ids=lambda text: text[:10],
)
def test_a_file_that_holds_no_token(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="holds no token") as caught:
        token_of(tmp_path / "token")
    assert not text.strip() or text not in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_whatever_a_file_holds(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "token").write_bytes(data)
    with suppress(UsageError):  # anything else is a fault
        token = token_of(tmp_path / "token")
        assert token.encode() in data
        assert token.split() == [token]


def test_serving_standard_input_and_output(
    say: Say, served: list[tuple[Any, ...]], own_home: Path
) -> None:
    said = say("--sample", "--budget", "0.5", "--strategy", "overwatch")
    assert (said.code, said.out, said.err) == (0, "", "")
    ((how, made),) = served
    assert how == "stdio"
    assert isinstance(made, Settings)
    assert made.documents == (LIBRARY,)
    assert (made.strategy, str(made.budget)) == ("overwatch", "0.5")


def test_serving_http(say: Say, served: list[tuple[Any, ...]], tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert say("--http").code == 0
    assert (
        say("--http", "--host", "0.0.0.0", "--port", "0", "--token-file", tmp_path / "token").code  # noqa: S104
        == 0
    )
    (_, plain, *where), (_, keyed, *elsewhere) = served
    assert (where, elsewhere) == ([HOST, PORT], ["0.0.0.0", 0])  # noqa: S104
    assert plain.key(KEY) is None
    assert keyed.key(KEY) == TOKEN
    assert TOKEN in keyed.secrets()
    assert TOKEN not in str(keyed)


def test_a_token_may_come_from_the_environment(
    say: Say, served: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPDIVER_MCP_SERVER_KEY", TOKEN)
    assert say("--http").code == 0
    assert served[0][1].key(KEY) == TOKEN


def test_a_door_for_strangers_stays_shut(say: Say) -> None:
    said = say("--http", "--host", "0.0.0.0")  # noqa: S104
    assert said.code == 2
    assert "--token-file" in complaint(said)


def test_tools_and_approve_are_handed_on(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    from deepdiver.cli import mcp_tools

    calls: list[tuple[Any, ...]] = []

    def tools(settings: Settings, console: Any) -> int:
        calls.append(("tools",))
        return 0

    def approve(settings: Settings, console: Any, server: str, names: list[str], yes: bool) -> int:
        calls.append(("approve", server, list(names), yes))
        return 3

    monkeypatch.setattr(mcp_tools, "tools", tools)
    monkeypatch.setattr(mcp_tools, "approve", approve)
    assert say("tools").code == 0
    assert say("approve", "maps").code == 3
    assert say("approve", "maps", "--yes", "search", "read").code == 3
    assert calls == [
        ("tools",),
        ("approve", "maps", [], False),
        ("approve", "maps", ["search", "read"], True),
    ]
