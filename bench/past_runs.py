"""Measures the CPU time to recall past runs from a database of 10,000 invented, finished ones.

Run it as it is, or with another number of runs; the status is 1 above the target.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from deepdiver.core.identity import canonical, content_id
from deepdiver.core.record import Hypothesis, Run, RunStatus
from deepdiver.core.settings import load
from deepdiver.gateway import Gateway
from deepdiver.memory.recall import recall
from deepdiver.store.blobs import encode, pack
from deepdiver.store.sqlite import SqliteStore, open_sqlite

RUNS = 10_000
CLAIMS, OTHERS = 5, 35
"""Hypotheses and other records of each run."""
SEED = 2026
TARGET = 1.2
"""Seconds of CPU time for one recall: a person hardly notices it in a run of minutes."""
SYLLABLES = "ba de fi go hu ka le mi no pu ra se ti vo zu sta bren dor lind holm".split()


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and return 1 if the target is missed."""
    count = int(arguments[0]) if arguments else RUNS
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder))
        questions = fill(store, count)
        asked = [
            questions[count // 2],
            f"Which harbour lies at {questions[count // 3].split()[-2]}?",
        ]
        took = [
            asyncio.run(measure(store, number, question)) for number, question in enumerate(asked)
        ]
        store.close()
    print(
        f"{count:,} past runs, {CLAIMS} hypotheses each: recalled in {max(took):.2f} s of CPU time "
        f"(≤ {TARGET})"
    )
    return int(max(took) > TARGET)


async def measure(store: SqliteStore, number: int, question: str) -> float:
    """Recall once, as a new run does, and return the seconds of CPU time."""
    run = Run(
        id=f"now{number}",
        question=question,
        strategy="popper",
        settings={},
        created="2027-01-01",
        version="0",
    )
    store.runs.create(run)
    gateway = Gateway(store, run.id, load({"home": store.database.file.parent}), lambda event: None)
    notes: list[str] = []
    began = time.process_time()
    await recall(question, run, store, gateway, note=notes.append)
    took = time.process_time() - began
    assert number or notes, (
        "the invented runs have no reports: one that bears on the question must have been read"
    )
    return took


def fill(store: SqliteStore, count: int) -> list[str]:
    """Add invented runs and return their questions.

    Their words are as unevenly common as those of a language.
    """
    chance = random.Random(SEED)  # noqa: S311
    known = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(8_000)]
    weights = [1 / rank for rank in range(1, len(known) + 1)]

    def said(words: int) -> str:
        drawn = chance.choices(known, weights, k=words)
        return " ".join(word.capitalize() if chance.random() < 0.2 else word for word in drawn)

    questions = []
    # One transaction: ten thousand durable ones would take minutes.
    store.database.connection.execute("BEGIN")
    for number in range(count):
        question = f"Which {said(12)} ?"
        run = Run(
            id=f"r{number:06}",
            question=question,
            strategy="popper",
            settings={"search": ["library"]},
            created=f"2026-01-{1 + number % 28:02}T08:00:00+00:00",
            version="0",
        )
        values = run.model_dump(mode="json", exclude={"status"})
        row = (run.id, run.created, RunStatus.ANSWERED.value, pack(canonical(values)))
        store.database.connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", row)
        claims = [
            Hypothesis(
                id=content_id("h", text), statement=text, supports_if=said(8), refutes_if=said(14)
            )
            for text in (said(18) for _ in range(CLAIMS))
        ]
        rows = [
            (run.id, claim.id, "hypothesis", encode(claim.model_dump_json())) for claim in claims
        ]
        rows += [(run.id, f"f_{number}_{other}", "finding", b"x" * 600) for other in range(OTHERS)]
        store.database.connection.executemany(
            "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?)", rows
        )
        questions.append(question)
    store.database.connection.execute("COMMIT")
    return questions


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
