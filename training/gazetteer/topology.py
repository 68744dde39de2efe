"""Read the country borders of Natural Earth from world-atlas's TopoJSON, as arcs in degrees."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Point = tuple[float, float]
"""Longitude and latitude."""
INSIDE = "package/countries-50m.json"


class Topology:
    """The file, with its arcs decoded."""

    def __init__(self, archive: Path) -> None:
        """Read `world-atlas-2.0.2.tgz`, as `npm pack` leaves it."""
        with tarfile.open(archive) as packed:
            member = packed.extractfile(INSIDE)
            if member is None:
                raise SystemExit(f"{archive} holds no {INSIDE}")
            self._data: dict[str, Any] = json.load(member)
        self.arcs = [self._decoded(arc) for arc in self._data["arcs"]]

    def _decoded(self, arc: list[list[int]]) -> list[Point]:
        (scale_x, scale_y), (move_x, move_y) = (
            self._data["transform"][key] for key in ("scale", "translate")
        )
        x = y = 0
        points: list[Point] = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((_beside(x * scale_x + move_x, points), y * scale_y + move_y))
        return points

    def countries(self) -> Iterator[tuple[str, list[list[int]]]]:
        """Return each country's number (ISO 3166-1) and its rings, which are lists of arcs.

        ~n is arc n backwards.
        """
        for shape in self._data["objects"]["countries"]["geometries"]:
            yield str(shape.get("id", "")).lstrip("0"), list(_rings(shape))

    def land(self) -> list[list[int]]:
        """Return the rings of all land together, including lakes and seas inside it."""
        return [
            ring for shape in self._data["objects"]["land"]["geometries"] for ring in _rings(shape)
        ]

    def ring(self, arcs: list[int]) -> list[Point]:
        """Return the points of a ring."""
        points: list[Point] = []
        for number in arcs:
            arc = self.arcs[number] if number >= 0 else self.arcs[~number][::-1]
            for x, y in arc[1:] if points else arc:
                points.append((_beside(x, points), y))
        return points


def _beside(x: float, points: list[Point]) -> float:
    """Return a longitude that continues from the last, without a jump at the antimeridian."""
    return x + 360 * round((points[-1][0] - x) / 360) if points else x


def _rings(shape: dict[str, Any]) -> Iterator[list[int]]:
    if shape["type"] == "Polygon":
        yield from shape["arcs"]
    elif shape["type"] == "MultiPolygon":
        for polygon in shape["arcs"]:
            yield from polygon


def centre(ring: list[Point]) -> tuple[float, Point]:
    """Return the area of a ring and its centre, both on the flat map of degrees."""
    area = x = y = 0.0
    for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1], strict=True):
        cross = x1 * y2 - x2 * y1
        area, x, y = area + cross, x + (x1 + x2) * cross, y + (y1 + y2) * cross
    return abs(area) / 2, ((x / (3 * area), y / (3 * area)) if area else ring[0])
