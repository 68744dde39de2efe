"""Fits the belief in an answer of the reader to how far the signs for it agree.

    python training/answers/fit.py ../shared/data

Two kinds of questions, each kind with half of the weight: about passages that the reader was not
trained on, of which a third lack the passage that answers, and about folders A, B and C of `ask`,
over the findings that runs collect. It prints three numbers of `stepwise.py`, and for each kind
how well they part right from wrong (AUC) with the other kind alone to learn from. Ten minutes on
two cores.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))

from prepare import held_out  # type: ignore[import-not-found]

from deepdiver.core.text import STOPWORDS, terms, words
from deepdiver.reason.embedded import propose, rivals
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.stepwise import ask_stepwise
from deepdiver.tasks import ShownFinding

SETS = (
    "squadshifts.new_wiki",
    "squadshifts.reddit",
    "squadshifts.amazon_reviews",
    "squad2.devhalf",
    "tweetqa_ni.train",
    "covidqa.all",
    "quoref_contrast.test",
    "qed_nq.dev",
)
UNTRAINED = frozenset({"qed_nq.dev"})
"""Sets of which nothing was trained on."""
EACH = 35
"""Questions of each set."""
READ = 12
"""Passages that are read for each."""
GONE = 0.35
"""The share of the questions whose passage is taken away."""
SAME = 0.6
"""The least F1 of an answer's words that is right."""

Findings = Sequence[ShownFinding]


class Row(NamedTuple):
    """The likeliest answer to a question."""

    agreement: float
    mentioned: float
    right: bool


def main(arguments: Sequence[str]) -> int:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args(arguments).data
    kinds = {
        "passages": [row for asked in _about_passages(data) for row in _rows(*asked)],
        "folders": [row for asked in _about_folders(data) for row in _rows(*asked)],
    }
    for name, rows in kinds.items():
        others = [row for other, more in kinds.items() if other != name for row in more]
        told = _apply(_fit([others]), rows)
        right = sum(row.right for row in rows)
        auc = _auc(told, rows)
        sys.stdout.write(f"{name}: {len(rows)} answers, {right} right, AUC {auc:.3f}\n")
    offset, slope, mentioned = _fit(list(kinds.values()))
    sys.stdout.write(f"UNREAD, AGREED, MENTIONED = {offset:.2f}, {slope:.2f}, {mentioned:.2f}\n")
    return 0


def _rows(question: str, findings: Findings, answers: Sequence[str]) -> Iterator[Row]:
    """Yield the likeliest answer, if the question has no steps."""
    text = understand(question).text
    clause = analyse_question(text).chains[-1][-1]
    asked = ask_stepwise(text, clause, rivals._passages(clause, findings))
    found = rivals.find_rivals(text, clause, findings)
    if asked.steps or not found:
        return
    best = found[0]
    group = [a for a in asked.answers if rivals.same_words(a.text, best.answer)]
    agreed = rivals._agreed(text, group, findings)
    mentioned = math.log2(1 + rivals._mentioned(group, findings))
    yield Row(agreed, mentioned, any(_same(best.answer, gold) for gold in answers))


def _same(one: str, other: str) -> bool:
    first, second = (Counter(w for w in words(t) if w not in STOPWORDS) for t in (one, other))
    both = (first & second).total()
    return 2 * both >= SAME * (first.total() + second.total()) and both > 0


def _about_passages(data: Path) -> Iterator[tuple[str, Findings, Sequence[str]]]:
    draw = np.random.default_rng(5)
    for name in SETS:
        with gzip.open(
            data / "training" / f"spans.{name}.jsonl.gz", "rt", encoding="utf-8"
        ) as file:
            rows = [json.loads(line) for line in file]
        rows = [row for row in rows if name in UNTRAINED or held_out(row["context"])]
        pool = list(dict.fromkeys(row["context"] for row in rows))
        counts = [Counter(terms(text)) for text in pool]
        spread = Counter(word for count in counts for word in count)
        for row in draw.permutation(np.array(rows, dtype=object))[:EACH]:
            wanted = set(terms(row["question"]))
            score = [
                sum(math.log(len(pool) / spread[w]) * c[w] / (c[w] + 1.5) for w in wanted if c[w])
                for c in counts
            ]
            gone = draw.random() < GONE
            best = sorted(range(len(pool)), key=lambda n: -score[n])
            kept = [pool[n] for n in best if not (gone and pool[n] == row["context"])][:READ]
            shown = [
                ShownFinding(id=f"F{n}", statement=t, quote=t, source="", origin=str(n))
                for n, t in enumerate(kept)
            ]
            yield row["question"], shown, () if gone or not row["answer"] else (row["answer"],)


def _about_folders(data: Path) -> Iterator[tuple[str, Findings, Sequence[str]]]:
    """Yield the questions with the findings for which a run asks the reader."""
    import asyncio
    import tempfile

    from deepdiver.core.settings import load
    from deepdiver.run import research

    seen: dict[str, Findings] = {}
    ask = propose.find_short_answers

    def watched(question: str, findings: Findings) -> list[rivals.Rival]:
        seen.setdefault(question, tuple(findings))
        return ask(question, findings)

    propose.find_short_answers = watched
    for file in sorted((data / "ask").glob("[ABC]*.questions.jsonl")):
        docs = file.with_name(file.name.removesuffix(".questions.jsonl")) / "docs"
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            given = {
                "home": Path(tempfile.gettempdir()) / "deepdiver-fit",
                "documents": (docs,),
                "search": ("library",),
                "model": "embedded",
            }
            if row.get("as_of"):
                given["as_of"] = date.fromisoformat(row["as_of"])
            seen.clear()
            asyncio.run(research(row["question"], load(given, environ={})))
            for question, findings in list(seen.items())[:1]:
                yield question, findings, row.get("answers") or ()


def _fit(kinds: Sequence[Sequence[Row]]) -> npt.NDArray[np.float64]:
    """Return the offset and the two slopes of a logistic regression; each kind weighs the same."""
    seen = np.array([[1.0, row.agreement, row.mentioned] for rows in kinds for row in rows])
    right = np.array([float(row.right) for rows in kinds for row in rows])
    share = np.array([100.0 / len(rows) for rows in kinds for _ in rows])
    found = np.zeros(3)
    for _ in range(50):
        told = 1.0 / (1.0 + np.exp(-seen @ found))
        bent = seen.T @ (seen * (share * told * (1 - told))[:, None]) + 0.05 * np.eye(3)
        found -= np.linalg.solve(bent, seen.T @ (share * (told - right)) + 0.05 * found)
    return found


def _apply(found: npt.NDArray[np.float64], rows: Sequence[Row]) -> list[float]:
    return [float(found @ (1.0, row.agreement, row.mentioned)) for row in rows]


def _auc(told: Sequence[float], rows: Sequence[Row]) -> float:
    pairs = [
        (a > b) + 0.5 * (a == b)
        for a, one in zip(told, rows, strict=True)
        for b, other in zip(told, rows, strict=True)
        if one.right and not other.right
    ]
    return sum(pairs) / len(pairs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
