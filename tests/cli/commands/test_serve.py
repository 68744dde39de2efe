"""`deepdiver serve` as a command: users, the log, and what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepdiver.cli import main
from deepdiver.cli.commands import serve


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["begin"], "unknown action 'begin'"),
        (["add-user"], "takes 1 NAME"),
        (["add-user", "ada", "bob"], "takes 1 NAME"),
        (["users", "ada"], "takes no NAME"),
        (["add-user", "../ada"], "is not a name"),
        (["remove-user", "ada"], "no user 'ada'"),
        (["users", "--most-runs", "3"], "--most-runs is for"),
        (["--host", "192.0.2.1"], "can be reached from other machines"),
        (["--token-file", "gone"], "cannot read the token file"),
    ],
)
def test_what_makes_no_sense(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *words]) == 2
    assert why in capsys.readouterr().err


def test_missing_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "PACKAGES", ("no_such_package_anywhere",))
    assert main(["serve", "users"]) == 2
    assert "deepdiver-research[serve]" in capsys.readouterr().err


def test_a_token_that_can_be_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text("short\n", encoding="utf-8")
    assert main(["serve", "--token-file", str(tmp_path / "token")]) == 2
    assert "at least 16" in capsys.readouterr().err


def test_users_are_added_listed_logged_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "users"]) == 0
    assert "there are no users" in capsys.readouterr().err
    assert main(["serve", "add-user", "ada", "--most-runs", "3", "--most-money", "1.50"]) == 0
    token = capsys.readouterr().out.strip()
    assert token.startswith("dd_")
    assert main(["serve", "add-user", "bob"]) == 0
    capsys.readouterr()
    assert main(["serve", "users"]) == 0
    listed = capsys.readouterr().out
    assert "3 runs at a time" in listed
    assert "$1.50" in listed
    assert token not in listed
    assert main(["serve", "users", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["users"][0] == {
        "name": "ada",
        "runs": 3,
        "money": "1.50",
        "bytes": 1_000_000_000,
    }
    assert main(["serve", "remove-user", "bob"]) == 0
    capsys.readouterr()
    assert main(["serve", "log"]) == 0
    log = capsys.readouterr().out
    assert log.index("user.remove") < log.index("user.add")
    assert main(["serve", "log", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["intact"]
    assert [line["what"] for line in told["log"]] == ["bob", "bob", "ada"]
