"""What a person says to a run, as data."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.steering import Steering, SteeringKind


@pytest.mark.parametrize("kind", ["", "stop", "LOOK", None])
def test_nothing_else_can_be_said(kind: str | None) -> None:
    with pytest.raises(ValidationError):
        Steering.model_validate({"kind": kind, "text": "its owners"})


@pytest.mark.parametrize("kind", SteeringKind)
def test_it_survives_being_written_down(kind: SteeringKind) -> None:
    said = Steering(kind=kind, text="Who owns it — “Älv”?", title="Register")
    assert Steering.model_validate_json(said.model_dump_json()) == said
