"""What must be reached, and what is aimed at and not reached yet.

`floors.json`, the one place of these numbers.

- floors: by set and figure; kept by the benches.
- aims: the same, of what is not reached yet: told beside the figure, and never lowered to fit it.
- quick: by set, the first `cases` and what they must reach; `make test` keeps these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deepdiver.evals.retrieval import FLOORS

SLACK = 1e-9
"""A figure that equals its bound meets it, however it was added up."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure must be."""

    figure: str
    """Which figure."""
    value: float
    """The number."""
    at_least: bool
    """Whether it must be at least this, or at most."""
    reached: bool
    """Whether it is a floor, which holds; an aim does not yet."""

    def met(self, value: float) -> bool:
        """Whether a value is good enough."""
        return value >= self.value - SLACK if self.at_least else value <= self.value + SLACK

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"{'floor' if self.reached else 'aim'} {'≥' if self.at_least else '≤'} {self.value:g}"
        )


def held() -> dict[str, Any]:
    """Return the whole file."""
    kept: dict[str, Any] = json.loads(FLOORS.read_text(encoding="utf-8"))
    return kept


def bounds(name: str, part: Literal["floors", "aims"] | None = None) -> list[Bound]:
    """Return the bounds of a set: its floors first, then its aims; or those of one part."""
    kept = held()
    wanted = ("floors", "aims") if part is None else (part,)
    group, _, last = name.partition("/")
    if group == "retrieval":  # these are kept by a test of their own too, in a shape of their own
        row = kept["retrieval"].get(last, {}) if "floors" in wanted else {}
        return [Bound(figure, float(value), True, True) for figure, value in row.items()]
    return [
        bound
        for each in wanted
        for bound in _bounds(kept.get(each, {}).get(name, {}), each == "floors")
    ]


def quick() -> dict[str, tuple[int, list[Bound]]]:
    """Return by set how many of its first cases are done in `make test`, and what they must reach."""
    return {
        name: (int(row["cases"]), _bounds({k: v for k, v in row.items() if k != "cases"}, True))
        for name, row in held().get("quick", {}).items()
    }


def _bounds(row: Mapping[str, Mapping[str, float]], reached: bool) -> list[Bound]:
    return [
        Bound(figure, float(value), way == "least", reached)
        for figure, given in row.items()
        for way, value in given.items()
    ]


def missed(name: str, figures: Mapping[str, float]) -> list[str]:
    """Return a line for each floor of a set that its figures do not reach; an aim is none."""
    return [
        f"{bound.figure} is {figures[bound.figure]:.3f} ({bound})"
        for bound in bounds(name, "floors")
        if bound.figure in figures and not bound.met(figures[bound.figure])
    ]
