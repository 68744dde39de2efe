"""What the second opinion costs, and how often it is wrong.

Seconds of the processor for a report, and held-out pairs.

The report of the first part is invented: 40 sentences in other words than their two quotes, so that
the reader is asked about each. The second part needs what `training/reader/prepare.py` has held
out, and takes some eight minutes of one core: it shows, from which probability on, which part of
the sentences that their quote supports is called contradicted, in all and in the worst set, and
which part of those that it refutes. The limit in use is the least of two places that keeps the part
under MOST in every set.
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from deepdiver.encoders.reader import Reader, Verdict
from deepdiver.strategies.shared.second_opinion import AGREES, CONTRADICTS, stands_whole

HELD = Path(__file__).resolve().parents[1] / "build" / "reader" / "held.jsonl.xz"
MOST = 0.01
"""Of the sentences that their quote supports, the part that may be called contradicted."""
LEAST = 200
"""Such sentences of a set that is looked at by itself: in a smaller one, a single error would
decide."""
LIMITS = (0.7, 0.8, 0.85, 0.88, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96)
SENTENCES, QUOTES = 40, 2
SEED = 2026
WORDS = (
    "the a of and in to is was for on with by as at from water river harbour city council report "
    "rate price market "
    "energy wind power plant study patients trial drug effect risk children school law court "
    "minister election"
).split()
SUPPORTS, REFUTES = 0, 1
"""Labels of the held-out pairs."""


def cost() -> tuple[float, float]:
    """Return the processor's seconds for loading the reader and for the opinions on one report."""
    chance = random.Random(SEED)  # noqa: S311

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    asked: list[tuple[str, str]] = []
    for _ in range(SENTENCES):
        said, quotes = f"{text(22)}.", [f"{text(6)}. {text(30)}." for _ in range(QUOTES)]
        asked += [(quote, said) for quote in (*quotes, *map(" ".join, pairwise(quotes)))]
    began = time.process_time()
    reader = Reader()
    reader.verify([("a", "a")])
    loaded = time.process_time()
    reader.verify(asked)
    return loaded - began, time.process_time() - loaded


def held(label: int) -> list[tuple[str, str, str]]:
    """Return the held-out pairs of a label that are not settled by the rule.

    Set, evidence and claim.
    """
    with lzma.open(HELD, "rt", encoding="utf-8") as lines:
        rows: list[list[Any]] = [json.loads(line) for line in lines]
    pairs = [(row[6], row[1], row[2]) for row in rows if row[0] == "v" and row[3] == label]
    return [
        (name, evidence, claim)
        for name, evidence, claim in pairs
        if not stands_whole(claim, evidence)
    ]


def judged(reader: Reader, label: int) -> dict[str, list[Verdict]]:
    """Return the verdicts on the pairs of a label, by set."""
    rows = held(label)
    found: dict[str, list[Verdict]] = {}
    for (name, *_), verdict in zip(rows, reader.verify([row[1:] for row in rows]), strict=True):
        found.setdefault(name, []).append(verdict)
    return found


def contradicted(found: Iterable[Verdict], limit: float) -> float:
    """Return the part that is called contradicted from a probability on."""
    said = [one.supports < AGREES and one.refutes >= limit for one in found]
    return sum(said) / len(said)


def errors() -> int:
    """Print the parts for each limit; return 1 where the one in use lets too many through."""
    if not HELD.is_file():
        print(f"{HELD} is not there (training/reader/prepare.py makes it): no errors were counted")
        return 0
    reader = Reader()
    right, wrong = judged(reader, SUPPORTS), judged(reader, REFUTES)
    every, refuted = (
        [one for found in right.values() for one in found],
        [one for each in wrong.values() for one in each],
    )
    agreed = sum(one.supports >= AGREES for one in every) / len(every)
    print(
        f"{len(every)} supported and {len(refuted)} refuted sentences were held out; "
        f"it agrees with {agreed:.3f} of the first"
    )
    print("limit  supported: all, worst set  refuted")
    worst = {}
    for limit in (*LIMITS, CONTRADICTS):
        worst[limit] = max(
            contradicted(found, limit) for found in right.values() if len(found) >= LEAST
        )
        print(
            f"{limit:<6} {contradicted(every, limit):.4f}  {worst[limit]:.4f}  "
            f"{contradicted(refuted, limit):.4f}"
        )
    print(f"in use: {CONTRADICTS} (in no set more than {MOST})")
    return int(worst[CONTRADICTS] > MOST)


def main() -> int:
    """Measure; the status is 1 if too many supported sentences would be called contradicted."""
    loading, judging = cost()
    print(f"loading the reader: {loading:.2f} s of the processor")
    print(
        f"a report of {SENTENCES} sentences with {QUOTES} quotes each: {judging:.2f} s of the "
        "processor"
    )
    return errors()


if __name__ == "__main__":
    sys.exit(main())
