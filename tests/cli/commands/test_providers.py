"""`deepdiver providers`."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.command_line import (
    Say,
)


def test_providers(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")
    said = say("providers")
    assert said.code == 0
    rows = {line.split()[0]: re.split(r"  +", line)[1] for line in said.out.splitlines()}
    assert (rows["searxng"], rows["tavily"]) == ("ready", "set TAVILY_API_KEY")
    told = {
        entry["name"]: entry for entry in json.loads(say("providers", "--json").out)["providers"]
    }
    assert (told["searxng"]["ready"], told["tavily"]["missing"]) == (True, "set TAVILY_API_KEY")
