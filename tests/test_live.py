"""The live tests run only where they are asked for, and would notice a service that is broken."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.servers.brain import made_search, popper_brain
from tests.servers.scripted import Answer, ScriptedServer

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def run(*arguments: str, **environment: str) -> str:
    """Run the live tests in a process of their own; return what pytest says of them."""
    said = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    } | environment
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/live", "-rs", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=said,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    return done.stdout + done.stderr


def test_nobody_asks_for_them_by_accident() -> None:
    given = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "not live" in given["tool"]["pytest"]["ini_options"]["addopts"][-1]
    # Whoever chooses by another mark replaces that choice.
    told = run("-m", "not slow", TAVILY_API_KEY="made-0123456789")
    assert " passed" not in told
    assert " failed" not in told
    assert "it asks real services, and costs money: run it with -m live" in told


def test_what_has_no_key_is_skipped_and_says_which() -> None:
    told = run("-m", "live", "-k", "tavily or exa or performs or popper")
    assert " passed" not in told
    assert " failed" not in told
    for lacking in ("TAVILY_API_KEY", "EXA_API_KEY", "set DEEPDIVER_MODEL"):
        assert lacking in told


def services(server: ScriptedServer) -> dict[str, str]:
    """Return an environment in which a server on this machine is the web and the model."""
    return {
        "TAVILY_API_KEY": "made-0123456789",
        "DEEPDIVER_TAVILY_URL": server.url,
        "DEEPDIVER_SEARCH": "tavily",
        "DEEPDIVER_MODEL": "openai:gpt-5-mini",
        "OPENAI_API_KEY": "made-0123456789",
        "OPENAI_BASE_URL": server.openai,
    }


CHOSEN = "tavily or performs or popper-short"


def test_they_pass_where_the_services_work() -> None:
    with ScriptedServer(popper_brain(), made_search()) as server:
        told = run("-m", "live", "-k", CHOSEN, **services(server))
        assert server.searches
        assert server.models
    assert "3 passed" in told, told


def test_they_fail_where_the_services_do_not() -> None:
    def empty(query: str, number: int) -> Answer:
        return Answer(documents=())

    gibberish = Answer(text="I would rather not say.")
    with ScriptedServer(lambda body, number: gibberish, empty) as server:
        told = run("-m", "live", "-k", CHOSEN, **services(server))
    assert "3 failed" in told, told
