"""The documentation says what is true.

Its made parts are up to date, its commands exist, its links lead somewhere.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.commands import COMMANDS
from deepdiver.cli.parser import EXIT_CODES, parse
from deepdiver.core.settings import load
from deepdiver.strategies.table import TABLE

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def load_refresh() -> Any:
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "docs" / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["refresh"] = module
    spec.loader.exec_module(module)
    return module


refresh = load_refresh()


@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path, parts in refresh.MADE.items() for name, _ in parts],
    ids=str,
)
def test_a_made_part_is_up_to_date(path: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = (ROOT / path).read_text(encoding="utf-8")
    make = dict(refresh.MADE[path])[name]
    assert refresh.filled(text, name, make()) == text, f"{path} is out of date: run make docs"


def test_a_part_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(SystemExit, match="no part demo"):
        refresh.filled("nothing", "demo", "x")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(
        r"<!-- (\w+) -->.*?<!-- /\1 -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), (
                f"{page.name} points at {target}, which is not there"
            )


def commands_of(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_every_deepdiver_command_of_the_readme_is_one() -> None:
    said = [
        line for line in commands_of(ROOT / "README.md") if re.match(r"(\S*/)?deepdiver ", line)
    ]
    assert said
    for line in said:
        command, _ = parse(shlex.split(line)[1:])
        assert command.name in COMMANDS


def test_every_make_target_that_a_page_names_is_there() -> None:
    targets = set(
        re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for page in PAGES:
        for line in commands_of(page):
            if line.startswith("make "):
                assert line.split()[1] in targets, line
    named = set(
        re.findall(
            r"`make ([a-z]+)`", "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
        )
    )
    assert named <= targets


def test_the_readme_comes_in_its_order() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    headings = re.findall(
        r"^## (.+)$", re.sub(r"````.*?````", "", text, flags=re.DOTALL), re.MULTILINE
    )
    assert headings == [
        "See it",
        "What the record holds",
        "Strategies",
        "Bring your own model, documents and search",
        "Limits",
    ]
    sentence = text.split("\n\n")[1]
    assert sentence.count(".") == 1, "the first thing is one sentence"


def test_the_readme_tells_which_strategies_there_are() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for entry in TABLE.values():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{entry.name}`"))
        assert entry.loop in row


def test_the_example_of_a_settings_file_can_be_loaded(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "CLI.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "deepdiver.toml").write_text(example, encoding="utf-8")
    settings = load(environ={}, folder=tmp_path, user_file=tmp_path / "none.toml")
    assert settings.model == tomllib.loads(example)["model"]
    assert settings.limits["tavily"].rate == 5


def test_every_exit_code_of_the_table_is_in_the_help() -> None:
    table = (
        (ROOT / "docs" / "CLI.md").read_text(encoding="utf-8").split("## Which exit code when")[1]
    )
    told = set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))
    assert (
        told
        == set(re.findall(r"^  (\d+) ", EXIT_CODES, re.MULTILINE))
        == {"0", "1", "2", "3", "4", "130"}
    )
