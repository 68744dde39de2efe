"""`deepdiver doctor` as a command; what it checks is tested with `examination`."""

from __future__ import annotations

import json

from tests.cli.command_line import (
    Say,
)


def test_doctor(say: Say) -> None:
    said = say("doctor")
    assert said.code == 4
    assert said.out.splitlines()[-1].startswith("A run cannot start yet: ")
    well = say("doctor", "--sample", "--offline")
    assert well.code == 0
    assert well.out.splitlines()[-1] == "A run can start."
    assert json.loads(say("doctor", "--sample", "--json").out)["ok"] is True
