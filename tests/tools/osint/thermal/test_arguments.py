"""The arguments of the feed of thermal anomalies."""

from __future__ import annotations

import pytest

from deepdiver.tools.osint.detect_thermal_anomalies import FEED
from deepdiver.tools.osint.feed import arguments_of
from tests.tools.osint.thermal.conftest import ARGS


@pytest.mark.parametrize("name", ["latitude", "longitude"])
def test_a_place_is_required(name: str) -> None:
    with pytest.raises(ValueError, match=f"it needs the argument '{name}'"):
        arguments_of(FEED, {key: value for key, value in ARGS.items() if key != name})


def test_arguments_as_reasoners_give_them() -> None:
    args = arguments_of(FEED, {"latitude": "49.99", "longitude": "36.23"})
    assert args.model_dump() == {
        "latitude": 49.99,
        "longitude": 36.23,
        "radius_km": 50.0,
        "days": 7,
        "until": None,
        "min_confidence": "low",
    }
