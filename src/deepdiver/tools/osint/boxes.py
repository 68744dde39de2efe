"""Boxes of longitudes and latitudes that hold a circle on the earth, as services take them."""

from __future__ import annotations

import math

from deepdiver.core.time_and_place import EARTH_KM, Position


def boxes_around(centre: Position, radius_km: float) -> list[str]:
    """Return the box that holds a circle, as west,south,east,north.

    A circle that crosses 180 degrees has two boxes.
    """
    reach = math.degrees(radius_km / EARTH_KM)
    south, north = centre.lat - reach, centre.lat + reach
    if south <= -90 or north >= 90:  # a circle around a pole has every longitude
        return [_box(-180, max(south, -90), 180, min(north, 90))]
    spread = math.degrees(
        math.asin(math.sin(math.radians(reach)) / math.cos(math.radians(centre.lat)))
    )
    west, east = centre.lon - spread, centre.lon + spread
    if west < -180:
        return [_box(west + 360, south, 180, north), _box(-180, south, east, north)]
    if east > 180:
        return [_box(west, south, 180, north), _box(-180, south, east - 360, north)]
    return [_box(west, south, east, north)]


def _box(west: float, south: float, east: float, north: float) -> str:
    """Round outwards to a ten-thousandth of a degree (11 m), and never beyond the earth."""
    low = (
        max(limit, math.floor(value * 10_000) / 10_000)
        for value, limit in ((west, -180), (south, -90))
    )
    high = (
        min(limit, math.ceil(value * 10_000) / 10_000)
        for value, limit in ((east, 180), (north, 90))
    )
    return ",".join(f"{value:.4f}".rstrip("0").rstrip(".") for value in (*low, *high))
