"""The figures that must be reached, and those that are aimed at. All numbers are in `floors.json`.

- floors: by set and figure; the benches check them.
- aims: by set and figure; not reached yet. They are shown beside the figure and never lowered.
- quick: by set, the first `cases` and what they must reach; `make test` checks them.
- retrieval, verifier: the floors of the library search and of the reader, by set and measure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FLOORS = Path(__file__).parent / "floors.json"
SLACK = 1e-9
"""Tolerance, so that a figure that equals its bound meets it in spite of rounding."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on a figure."""

    figure: str
    """Name of the figure."""
    value: float
    """The bound."""
    at_least: bool
    """Whether it is a lower bound; otherwise it is an upper bound."""
    reached: bool
    """Whether it is a floor, which is reached; an aim is not reached yet."""

    def met(self, value: float) -> bool:
        """Whether a value is within the bound."""
        return value >= self.value - SLACK if self.at_least else value <= self.value + SLACK

    def __str__(self) -> str:
        """Return the bound in words, such as "floor ≥ 0.4"."""
        return (
            f"{'floor' if self.reached else 'aim'} {'≥' if self.at_least else '≤'} {self.value:g}"
        )


def load_floors() -> dict[str, Any]:
    """Return the content of `floors.json`."""
    kept: dict[str, Any] = json.loads(FLOORS.read_text(encoding="utf-8"))
    return kept


def retrieval_floors() -> dict[str, dict[str, float]]:
    """Return the floors of the library search, by collection and measure."""
    kept: dict[str, dict[str, float]] = load_floors()["retrieval"]
    return kept


def reader_floors(part: Literal["floors", "wanted"] = "floors") -> dict[str, dict[str, float]]:
    """Return the floors of the reader, or what is wanted of it, by set and measure.

    What is wanted is never lowered to fit the reader.
    """
    kept: dict[str, dict[str, float]] = load_floors()["verifier"][part]
    return kept


def bounds(name: str, part: Literal["floors", "aims"] | None = None) -> list[Bound]:
    """Return the bounds of a set: its floors and then its aims, or only one of the two."""
    kept = load_floors()
    wanted = ("floors", "aims") if part is None else (part,)
    group, _, last = name.partition("/")
    if group == "retrieval":  # these are lower bounds without saying so
        row = kept["retrieval"].get(last, {}) if "floors" in wanted else {}
        return [Bound(figure, float(value), True, True) for figure, value in row.items()]
    return [
        bound
        for each in wanted
        for bound in _bounds(kept.get(each, {}).get(name, {}), each == "floors")
    ]


def quick_bounds() -> dict[str, tuple[int, list[Bound]]]:
    """Return by set how many of its first cases `make test` does, and what they must reach."""
    return {
        name: (int(row["cases"]), _bounds({k: v for k, v in row.items() if k != "cases"}, True))
        for name, row in load_floors().get("quick", {}).items()
    }


def _bounds(row: Mapping[str, Mapping[str, float]], reached: bool) -> list[Bound]:
    return [
        Bound(figure, float(value), way == "least", reached)
        for figure, given in row.items()
        for way, value in given.items()
    ]


def missed(name: str, figures: Mapping[str, float]) -> list[str]:
    """Return a line for each floor of a set that its figures do not reach; aims do not count."""
    return [
        f"{bound.figure} is {figures[bound.figure]:.3f} ({bound})"
        for bound in bounds(name, "floors")
        if bound.figure in figures and not bound.met(figures[bound.figure])
    ]
