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
from deepdiver.cli.commands.audit import FALLS_SHORT
from deepdiver.cli.commands.watch import MOVED
from deepdiver.cli.parser import EXIT_CODES, parse
from deepdiver.core.outcomes import OUTCOMES
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
def test_every_constant_that_a_page_quotes_is_the_codes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refresh.with_values(text) == text, f"{page.name} is out of date: run make docs"


def test_a_constant_that_is_out_of_date_is_found() -> None:
    mark = "<!-- core.belief.SUPPORTED_AT -->"
    assert refresh.with_values(f"from 0.65{mark} on") == f"from 0.7{mark} on"
    assert refresh.with_values(
        f"in 4<!-- {'strategies.table.popper.max_iterations'} --> rounds"
    ) == ("in 3<!-- strategies.table.popper.max_iterations --> rounds")


@pytest.mark.parametrize("name", ["core.belief.NONE", "core.none.X", "strategies.table.none.loop"])
def test_a_constant_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(SystemExit, match=name):
        refresh.with_values(f"1<!-- {name} -->")


PROSE_OF_CONSTANTS = [
    ROOT / "docs" / "ARCHITECTURE.md",
    *(ROOT / "docs" / "strategies" / f"{name}.md" for name in TABLE),
]
"""Pages whose numbers are constants of the code, and not figures that were measured."""
NOT_A_CONSTANT = re.compile(
    r"^\d+\. |\bRFC \d+|\bround \d+|1/rank|within \d+ %|\(\d answered, \d in part, \d no evidence\)"
    r"|\(\d\)\.$|\bfirst 30 findings",
    re.MULTILINE,
)
"""Items of a list, standards, examples, exit codes, and what a seed says."""


@pytest.mark.parametrize("page", PROSE_OF_CONSTANTS, ids=lambda page: page.name)
def test_every_number_of_a_page_about_the_code_is_checked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for left_out in (
        r"<!-- (\w+) -->.*?<!-- /\1 -->",
        r"```.*?```",
        r"`[^`]*`",
        r"\]\([^)]*\)",
        refresh.VALUE.pattern,
        NOT_A_CONSTANT.pattern,
    ):
        text = re.sub(left_out, "", text, flags=re.DOTALL | re.MULTILINE)
    numbers = [line for line in text.splitlines() if re.search(r"(?<![\w#])\d", line)]
    assert not numbers, "mark each with <!-- module.NAME -->:\n" + "\n".join(numbers)


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


ROOMS = sorted(
    path.name
    for root in (ROOT, ROOT / "src" / "deepdiver")
    for path in root.iterdir()
    if path.is_dir() and path.name.isalpha()
)
PLACE = re.compile(rf"`((?:{'|'.join(ROOMS)}|mcp_server)/[a-z_/]*(?:\.(?:py|md|toml|json))?)`")
"""A file or folder that a page names, below the repository or the package."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_place_in_the_code_that_a_page_names_is_there(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it tells what was
    roots = (ROOT, ROOT / "src", ROOT / "src" / "deepdiver", page.parent)
    for place in PLACE.findall(page.read_text(encoding="utf-8")):
        assert any((root / place).exists() for root in roots), f"{page.name} names {place}"


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
        "What the demo prints",
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
    (tmp_path / "own.toml").write_text(example, encoding="utf-8")
    settings = load(environ={}, folder=tmp_path, user_file=tmp_path / "own.toml")
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
        == {
            *("1", "2", "130", str(FALLS_SHORT), str(MOVED)),
            *(str(ending.exit_code) for ending in OUTCOMES.values()),
        }
    )
