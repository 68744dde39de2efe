"""Measures how many texts the embedder takes in a second: queries, sentences, and long passages.

The passages have 150 words, and all texts are invented. The status is 1 below the target, which is
in seconds of CPU time: two idle cores have two of these in a second, and a busy machine changes
them little.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from deepdiver.encoders import Embedder

TARGET = 100.0
"""Short sentences of 6 to 18 words in a second of CPU time."""
SEED = 2026
WORDS = (
    "the a of and in to is was for on with by as at from water river harbour city council report "
    "rate price market "
    "energy wind solar power plant study patients trial drug effect risk children school law court "
    "minister election "
    "company shares growth year month increase fell rose said found shows between under over new "
    "first second large "
    "small northern research team data model climate ocean temperature ice sea level coast flood "
    "damage insurance"
).split()
# name, how many texts, words of the shortest and the longest, texts in one call
CASES = (
    ("short queries, one at a time", 40, 4, 10, 1),
    ("short sentences", 400, 6, 18, 400),
    ("passages of about 150 words", 60, 130, 170, 60),
)


def texts(chance: random.Random, count: int, least: int, most: int) -> list[str]:
    """Invent texts."""
    return [
        " ".join(chance.choices(WORDS, k=chance.randint(least, most))).capitalize() + "."
        for _ in range(count)
    ]


def measure(embedder: Embedder, made: Sequence[str], at_once: int) -> tuple[float, float]:
    """Return texts in a second of wall time, and in a second of CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    for at in range(0, len(made), at_once):
        embedder.embed(made[at : at + at_once])
    return len(made) / (time.perf_counter() - wall), len(made) / (time.process_time() - cpu)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure with the given number of threads, or one for each core; return 1 below the target."""
    chance = random.Random(SEED)  # noqa: S311
    embedder = Embedder(threads=int(arguments[0]) if arguments else 0)
    began = time.perf_counter()
    embedder.embed(["warm"])
    print(f"loading and the first text: {time.perf_counter() - began:.2f} s")
    speeds = {}
    for name, count, least, most, at_once in CASES:
        made = texts(chance, count, least, most)
        by_clock, speeds[name] = map(
            max, zip(*(measure(embedder, made, at_once) for _ in range(3)), strict=True)
        )
        print(
            f"{name:30} {by_clock:7.1f} a second, {speeds[name]:7.1f} a second of CPU time "
            "(best of 3)"
        )
    reached = speeds["short sentences"]
    print(f"{reached:.0f} short sentences a second of CPU time (target {TARGET:g})")
    return int(reached < TARGET)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
