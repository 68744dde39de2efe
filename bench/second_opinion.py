"""Measures the second opinion: its CPU time for a report, and its errors on held-out pairs.

The report of the first part is invented: 40 sentences that are worded differently from their two
quotes, so that the reader judges each. The second part needs the held-out pairs of
`training/reader` (`prepare.py`, `edits.py`, `written.py`) and takes some forty minutes of a core.
It prints for each limit the share of supported sentences that are called contradicted, over all
files, over the public sets and in the worst of these, and the share of refuted ones of the public
sets. The limit in use is the lowest with three decimal places that keeps the first share under
MOST.
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deepdiver.encoders.reader import CLOSE, Reader, Verdict
from deepdiver.strategies.shared.second_opinion import AGREES, CONTRADICTS, stands_whole

FOLDER = Path(__file__).resolve().parents[1] / "build" / "reader"
PUBLIC, MADE = "held.jsonl.xz", ("edits-held.jsonl.xz", "written-held.jsonl.xz")
MOST = 0.015
"""The largest share of supported sentences that may be called contradicted: half of the false
alarms that are allowed."""
LEAST = 200
"""Supported sentences of a set that is judged separately: in a smaller one, a single error would
decide."""
LIMITS = (0.8, 0.85, 0.88, 0.89, 0.9, 0.905, 0.91, 0.915, 0.92)
SENTENCES, QUOTES = 40, 2
SEED = 2026
WORDS = (
    "the a of and in to is was for on with by as at from water river harbour city council report "
    "rate price market energy wind power plant study patients trial drug effect risk children "
    "school law court minister election"
).split()
SUPPORTS, REFUTES = 0, 1
"""Labels of the held-out pairs."""


def cost() -> tuple[float, float]:
    """Return the CPU seconds for loading the reader and for the opinions on one report."""
    chance = random.Random(SEED)  # noqa: S311

    def text(words: int) -> str:
        return " ".join(chance.choices(WORDS, k=words))

    asked: list[tuple[str, str]] = []
    for _ in range(SENTENCES):
        said, quotes = f"{text(22)}.", [f"{text(6)}. {text(30)}." for _ in range(QUOTES)]
        asked.append((" ".join(quotes), said))
    began = time.process_time()
    reader = Reader(CLOSE)
    reader.verify([("a", "a")])
    loaded = time.process_time()
    reader.verify(asked)
    return loaded - began, time.process_time() - loaded


def held(label: int, file: str) -> list[tuple[str, str, str]]:
    """Return (set, evidence, claim) of the held-out pairs of a file with a label.

    Pairs that the rule settles are left out.
    """
    with lzma.open(FOLDER / file, "rt", encoding="utf-8") as lines:
        rows: list[list[Any]] = [json.loads(line) for line in lines]
    pairs = [(row[6], row[1], row[2]) for row in rows if row[0] == "v" and row[3] == label]
    return [
        (name, evidence, claim)
        for name, evidence, claim in pairs
        if not stands_whole(claim, evidence)
    ]


def judged(reader: Reader, label: int, file: str) -> dict[str, list[Verdict]]:
    """Return the verdicts on the pairs of a file with a label, by set."""
    rows = held(label, file)
    found: dict[str, list[Verdict]] = {}
    for (name, *_), verdict in zip(rows, reader.verify([row[1:] for row in rows]), strict=True):
        found.setdefault(name, []).append(verdict)
    return found


def contradicted(found: Iterable[Verdict], limit: float) -> float:
    """Return the share of verdicts that reach a limit for contradiction."""
    said = [one.supports < AGREES and one.refutes >= limit for one in found]
    return sum(said) / len(said)


def errors() -> int:
    """Print the shares for each limit; return 1 if the limit in use lets too many through."""
    missing = [name for name in (PUBLIC, *MADE) if not (FOLDER / name).is_file()]
    if missing:
        print(f"{FOLDER} lacks {missing} (training/reader makes them): no errors were counted")
        return 0
    reader = Reader(CLOSE)
    right = judged(reader, SUPPORTS, PUBLIC)
    refuted = [one for each in judged(reader, REFUTES, PUBLIC).values() for one in each]
    public = [one for found in right.values() for one in found]
    made = [judged(reader, SUPPORTS, name) for name in MADE]
    every = [*public, *(one for sets in made for found in sets.values() for one in found)]
    agreed = sum(one.supports >= AGREES for one in every) / len(every)
    print(
        f"{len(every)} supported and {len(refuted)} refuted sentences were held out; "
        f"it agrees with {agreed:.3f} of the first"
    )
    print("limit  supported: all, public, worst set  refuted")
    for limit in (*LIMITS, CONTRADICTS):
        worst = max(contradicted(found, limit) for found in right.values() if len(found) >= LEAST)
        print(
            f"{limit:<6} {contradicted(every, limit):.4f}  {contradicted(public, limit):.4f}  "
            f"{worst:.4f}  {contradicted(refuted, limit):.4f}"
        )
    print(f"in use: {CONTRADICTS} (of all not more than {MOST})")
    return int(contradicted(every, CONTRADICTS) > MOST)


def main() -> int:
    """Measure; return 1 if too many supported sentences would be called contradicted."""
    loading, judging = cost()
    print(f"loading the reader: {loading:.2f} s of CPU time")
    print(
        f"a report of {SENTENCES} sentences with {QUOTES} quotes each: {judging:.2f} s of CPU time"
    )
    return errors()


if __name__ == "__main__":
    sys.exit(main())
