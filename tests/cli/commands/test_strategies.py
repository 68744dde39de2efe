"""`deepdiver strategies`."""

from __future__ import annotations

import json

from deepdiver.strategies.table import TABLE
from tests.cli.command_line import (
    Say,
)


def test_strategies(say: Say) -> None:
    said = say("strategies")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines() if line and line[0] != " "] == list(
        TABLE
    )
    told = json.loads(say("strategies", "--json").out)["strategies"]
    assert [entry["name"] for entry in told] == list(TABLE)
