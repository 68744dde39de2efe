"""The arguments of the feed `detect_thermal_anomalies`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from deepdiver.core.time_and_place import Position
from deepdiver.tools.osint.arguments import Days, Latitude, Longitude, RadiusKm
from deepdiver.tools.osint.feed import Arguments
from deepdiver.tools.osint.times import Day

LEVELS = ("low", "nominal", "high")
"""How sure FIRMS is of a pixel."""


def _read_level(given: Any) -> str:
    text = str(given).strip().lower()
    return {"medium": "nominal", "l": "low", "n": "nominal", "h": "high"}.get(text, text)


class ThermalArguments(Arguments, title="Asked"):
    """Where and when to look for thermal anomalies."""

    latitude: Latitude
    """Degrees, north positive: 49.99."""
    longitude: Longitude
    """Degrees, east positive: 36.23."""
    radius_km: RadiusKm = 50.0
    """How far around, in kilometres, up to 500."""
    days: Days = 7
    """How many days, the last included, up to 10; as many before are looked at to compare with."""
    until: Day | None = None
    """Last day, as 2026-11-11; without it today."""
    min_confidence: Annotated[Literal["low", "nominal", "high"], BeforeValidator(_read_level)] = (
        "low"
    )
    """Leave out what the service is less sure of: low, nominal or high."""

    @property
    def centre(self) -> Position:
        """The centre of the circle."""
        return Position(self.latitude, self.longitude)
