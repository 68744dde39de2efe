"""Make `src/deepdiver/report/figures/outlines.bin` from Natural Earth: coasts, borders and land.

Same input, same bytes; see README.md.

    python -m training.gazetteer.outlines build/world-atlas-2.0.2.tgz
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from deepdiver.core.column_file import pack_columns, pack_numbers
from training.gazetteer.topology import Point, Topology

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "deepdiver" / "report" / "figures" / "outlines.bin"
TOLERANCE = 0.03
"""Degrees by which a line may be off after points were left out: about 3 km; with 2 km the file
would be over 100 kB."""
STEP = 100
"""Steps of a degree: 1 km."""
POLE = -89 * STEP
"""Below this latitude there is only Antarctica's line around the pole."""
LARGEST_BYTES = 100_000
Steps = list[tuple[int, int]]


def main() -> None:
    """Read the one file and write the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("world_atlas", type=Path)
    atlas = Topology(parser.parse_args().world_atlas)
    uses = Counter(
        n if n >= 0 else ~n for _, rings in atlas.countries() for ring in rings for n in ring
    )
    arcs = {number: quantised(simplified(arc)) for number, arc in enumerate(atlas.arcs)}
    kept = {
        number: arc
        for number, arc in arcs.items()
        if len(arc) > 1 and max(y for _, y in arc) > POLE
    }
    data = packed(kept, {number for number, times in uses.items() if times > 1}, atlas.land())
    if len(data) > LARGEST_BYTES:
        raise SystemExit(f"{len(data):,} bytes are too many: at most {LARGEST_BYTES:,}")
    FILE.write_bytes(data)
    sys.stdout.write(
        f"{FILE}: {len(kept):,} lines, {sum(map(len, kept.values())):,} points, {len(data):,} "
        "bytes\n"
    )


def simplified(points: list[Point]) -> list[Point]:
    """Leave out points whose absence moves the line by no more than the tolerance.

    The algorithm is that of Douglas and Peucker.
    """
    keep = {0, len(points) - 1}
    open_spans = [(0, len(points) - 1)]
    while open_spans:
        first, last = open_spans.pop()
        far, at = max(
            ((_off(points[n], points[first], points[last]), n) for n in range(first + 1, last)),
            default=(0.0, 0),
        )
        if far > TOLERANCE:
            keep.add(at)
            open_spans += [(first, at), (at, last)]
    return [points[n] for n in sorted(keep)]


def _off(point: Point, one: Point, other: Point) -> float:
    dx, dy = other[0] - one[0], other[1] - one[1]
    length = dx * dx + dy * dy
    along = ((point[0] - one[0]) * dx + (point[1] - one[1]) * dy) / length if length else 0.0
    along = min(max(along, 0.0), 1.0)
    return math.hypot(point[0] - one[0] - along * dx, point[1] - one[1] - along * dy)


def quantised(points: Iterable[Point]) -> Steps:
    """Return the points in steps, without immediate repeats."""
    steps: Steps = []
    for x, y in points:
        step = (round(x * STEP), round(y * STEP))
        if not steps or steps[-1] != step:
            steps.append(step)
    return steps


def packed(arcs: dict[int, Steps], borders: set[int], land: list[list[int]]) -> bytes:
    """Return the file: JSON with the length of each column, then the columns, all compressed."""
    place = {number: at for at, number in enumerate(arcs)}
    rings = []
    for ring in land:
        held = [place[n] if n >= 0 else ~place[~n] for n in ring if (n if n >= 0 else ~n) in place]
        if held:
            rings.append(held)
    moves = [pair for arc in arcs.values() for pair in pairwise(arc)]
    return pack_columns(
        {
            "borders": bytes(number in borders for number in arcs),
            "lengths": pack_numbers("H", (len(arc) for arc in arcs.values())),
            "x": pack_numbers("h", (arc[0][0] for arc in arcs.values())),
            "y": pack_numbers("h", (arc[0][1] for arc in arcs.values())),
            "dx": pack_numbers("h", (after[0] - before[0] for before, after in moves)),
            "dy": pack_numbers("h", (after[1] - before[1] for before, after in moves)),
            "rings": pack_numbers("H", (len(ring) for ring in rings)),
            "members": pack_numbers("h", (n for ring in rings for n in ring)),
        }
    )


if __name__ == "__main__":
    main()
