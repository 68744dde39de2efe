"""What a worker loads before it takes the first order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import load
from deepdiver.errors import MissingKeyError, UnknownNameError, UsageError
from deepdiver.work import ahead
from deepdiver.work.ahead import load_ahead
from tests.patience import PATIENCE

SCRIPT = """
import sys
from pathlib import Path
from deepdiver.core.settings import load
from deepdiver.work.ahead import load_ahead
home = Path(sys.argv[1])
settings = load(
    {"home": home, "keys": {"openai": "a-scripted-key"}},
    environ={}, folder=home, user_file=home / "none.toml",
)
load_ahead(settings)
for name in ("deepdiver.strategies.popper", "deepdiver.tools.search.tavily", "langchain_openai"):
    assert name in sys.modules, name
assert "langchain_anthropic" not in sys.modules  # it has no key
assert not list(home.iterdir())
"""


def test_strategies_searches_and_models_with_a_key_are_there_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    home = tmp_path / "empty"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(home)],
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "error",
    [UnknownNameError("no such provider"), UsageError("not installed"), MissingKeyError("none")],
    ids=["unknown", "not installed", "no key"],
)
def test_a_model_that_cannot_be_opened_is_left_to_the_run_that_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked: list[str] = []

    def refuse(name: str, settings: Any) -> Any:
        asked.append(name)
        raise error

    monkeypatch.setattr(ahead, "open_model", refuse)
    given = {"home": tmp_path, "model": "ollama:x", "keys": {"openai": "k" * 9, "tavily": "t" * 9}}
    load_ahead(load(given, environ={}, folder=tmp_path, user_file=tmp_path / "none.toml"))
    assert asked == ["ollama:any", "openai:any", "tavily:any"]
