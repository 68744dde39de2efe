"""The embedded reasoner on questions it was not developed on: HotpotQA over its closed corpus, through the real runner.

Reads the evaluation data where it lies, beside the repository, and says so where it is absent.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import load
from deepdiver.run import research

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multihop"


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def says(text: str, words: str) -> bool:
    """Whether the words stand in a text as words."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


async def measure(folder: Path) -> None:
    """Ask every question and print how many are answered, and how many of these answers hold the right one."""
    library = folder / "library"
    library.mkdir()
    for number, passage in enumerate(rows("hotpotqa.corpus.jsonl")):
        text = f"---\ntitle: {passage['title']}\n---\n{passage['text']}\n"
        (library / f"{number:05}.txt").write_text(text, encoding="utf-8")
    settings = load({"home": folder / "home", "documents": (library,), "search": ["library"]})
    questions = rows("hotpotqa.questions.jsonl")
    told: list[tuple[RunStatus, float, bool]] = []
    for question in questions:
        report = (await research(question["question"], settings)).report
        if report is not None and report.answer:
            lead = " ".join(sentence.text for sentence in report.answer)
            right = any(says(lead, answer) for answer in question["answers"])
            told.append((report.status, report.confidence, right))
    print(
        f"HotpotQA: {len(questions)} questions, {len(told)} answered, {sum(t[2] for t in told)} with the right answer"
    )
    for status in (RunStatus.ANSWERED, RunStatus.PARTIAL):
        of = [item for item in told if item[0] is status]
        sure = statistics.fmean(item[1] for item in of) if of else 0.0
        print(f"  {status.value}: {len(of)}, right {sum(item[2] for item in of)}, mean confidence {sure:.2f}")


def main() -> int:
    """Print the figures."""
    if not DATA.exists():
        print(f"skipped: there is no evaluation data at {DATA}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
