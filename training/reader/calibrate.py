"""Fit how the verdicts on a document's sentences add up, on documents in no evaluation set.

::

    python training/reader/calibrate.py ../shared/data build/reader

It runs the shipped reader over the documents of `documents.py` (13,000 pairs, kept in `parts.json`
for the next time), fits the weights of `deepdiver.encoders.weigh_parts`, and prints them with their
results on documents that they were not fitted on (five folds), after those of the strongest part
alone. Each set has the same weight, and so does each label. Same input, same output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from documents import Document, documents

from deepdiver.encoders import weigh_parts
from deepdiver.encoders.reader import DECIDED, HASHES, Reader
from deepdiver.encoders.weigh_parts import JudgedPart, features
from deepdiver.evals.measures import auc, balanced, brier, ece, macro_f1, reliability

Floats = npt.NDArray[np.float64]
FOLDS, REPEATS = 5, 3
CHUNK = 40
"""Documents that are judged at once."""
SENTENCES = 30
"""Sentences of a document that are read."""
PENALTY = 3e-3
"""Keeps weights small if there is little evidence for them."""
STEPS, RATE = 2_000, 1.0
DIGITS = 3
NAMES = ("supports", "refutes", "supports by share", "refutes by share", "always")


def judged(found: Sequence[Document], folder: Path) -> list[list[JudgedPart]]:
    """Return the judged parts of each document, from a file if nothing has changed."""
    kept = folder / "parts.json"
    mark = [HASHES["model.onnx"], [[document.claim, len(document.sentences)] for document in found]]
    if kept.exists():
        held = json.loads(kept.read_text(encoding="utf-8"))
        if held["mark"] == mark:
            return [[JudgedPart(*part) for part in parts] for parts in held["parts"]]
    reader = Reader()
    made: list[list[JudgedPart]] = []
    for at in range(0, len(found), CHUNK):
        made += reader.parts(
            [
                (document.sentences[:SENTENCES], document.claim)
                for document in found[at : at + CHUNK]
            ]
        )
        sys.stderr.write(f"{len(made)} of {len(found)} documents\n")
    rows = [
        [[part.first, part.last, part.supports, part.refutes] for part in parts] for parts in made
    ]
    kept.write_text(json.dumps({"mark": mark, "parts": rows}), encoding="utf-8")
    return made


def softmax(rows: Floats) -> Floats:
    """Return rows as probabilities."""
    made = np.exp(rows - rows.max(1, keepdims=True))
    return np.asarray(made / made.sum(1, keepdims=True))


def fit(given: Floats, labels: npt.NDArray[np.int64], sources: npt.NDArray[np.str_]) -> Floats:
    """Return weights for supports and refutes, a row for each feature and one for the constant.

    The weights of neutral are all zero.
    """
    counts = np.zeros(len(labels))
    for source in np.unique(sources):
        counts[sources == source] = 1 / (sources == source).sum()
    for label in range(3):
        counts[labels == label] /= counts[labels == label].sum()
    counts /= counts.sum()
    middle, spread = given.mean(0), given.std(0) + 1e-9
    rows = np.c_[(given - middle) / spread, np.ones(len(given))]
    weights, true = np.zeros((rows.shape[1], 3)), np.eye(3)[labels]
    held_back = np.r_[np.full(given.shape[1], PENALTY), 0.0][:, None]
    for _ in range(STEPS):
        weights -= RATE * (
            rows.T @ ((softmax(rows @ weights) - true) * counts[:, None]) + held_back * weights
        )
    sides = weights[:, :2] - weights[:, 2:]
    sides[:-1] /= spread[:, None]
    sides[-1] -= middle @ sides[:-1]
    return np.asarray(sides.round(DIGITS))


def said(weights: Floats, given: Floats) -> Floats:
    """Return the three probabilities of each document."""
    return softmax(np.c_[np.c_[given, np.ones(len(given))] @ weights, np.zeros(len(given))])


def strongest(parts: Sequence[Sequence[JudgedPart]]) -> Floats:
    """Return the verdict of the strongest part alone: supports, refutes, neutral."""
    sides = [
        (max(part.supports for part in held), max(part.refutes for part in held)) for held in parts
    ]
    return np.array([(s, r, 1 - max(s, r) if max(s, r) < DECIDED else 0.0) for s, r in sides])


def stances(rows: Floats) -> list[int]:
    """Return the stance of each document by the strongest part alone."""
    return [2 if max(s, r) < DECIDED else int(r >= s) for s, r, _ in rows]


def figures(
    rows: Floats, chosen: Sequence[int], labels: npt.NDArray[np.int64], two_way: bool
) -> dict[str, float]:
    """Return the figures of one set."""
    made: dict[str, float | None] = {
        "AUC": auc(zip((labels == 0).tolist(), rows[:, 0].tolist(), strict=True))
    }
    if not two_way:
        sure = [
            (float(row[stance]), bool(stance == label))
            for row, stance, label in zip(rows, chosen, labels, strict=True)
        ]
        sides = [
            (label == 0, 1.0 if row[0] > row[1] else -1.0)
            for row, label in zip(rows, labels, strict=True)
            if label < 2
        ]
        made |= {
            "macro F1": macro_f1(
                [(str(label), str(stance)) for label, stance in zip(labels, chosen, strict=True)]
            ),
            "sides": balanced(sides),
            "calibration": ece(reliability(sure)),
            "Brier": brier(sure),
        }
    return {name: value for name, value in made.items() if value is not None}


def folded(
    given: Floats,
    labels: npt.NDArray[np.int64],
    sources: npt.NDArray[np.str_],
    known: npt.NDArray[np.bool_],
    seed: int,
) -> Floats:
    """Return the probabilities of each document by weights that were fitted on others."""
    folds = np.random.default_rng(seed).integers(0, FOLDS, len(labels))
    made = np.zeros((len(labels), 3))
    for fold in range(FOLDS):
        seen = known & (folds != fold)
        made[folds == fold] = said(
            fit(given[seen], labels[seen], sources[seen]), given[folds == fold]
        )
    return made


def main(arguments: list[str]) -> int:
    """Fit, and print."""
    data, folder = map(Path, arguments)
    found = documents(data, folder)
    parts = judged(found, folder)
    given = np.array(
        [
            features(d.sentences[:SENTENCES], d.claim, held)
            for d, held in zip(found, parts, strict=True)
        ]
    )
    labels, sources = np.array([d.label for d in found]), np.array([d.source for d in found])
    known = np.array([not d.two_way for d in found])
    now, new = (
        strongest(parts),
        [folded(given, labels, sources, known, seed) for seed in range(REPEATS)],
    )
    for source in dict.fromkeys(sources.tolist()):
        here = sources == source
        two_way = not known[here].all()
        before = figures(now[here], stances(now[here]), labels[here], two_way)
        after = [
            figures(rows[here], rows[here].argmax(1).tolist(), labels[here], two_way)
            for rows in new
        ]
        told = ", ".join(
            f"{k} {v:.3f} > {np.mean([each[k] for each in after]):.3f}" for k, v in before.items()
        )
        leaning = [
            weigh_parts.leaning(held) for held, inside in zip(parts, here, strict=True) if inside
        ]
        by_leaning = auc(zip((labels[here] == 0).tolist(), leaning, strict=True))
        sys.stdout.write(f"{source:<12} {here.sum():>4}  {told}, AUC by leaning {by_leaning:.3f}\n")
    weights = fit(given[known], labels[known], sources[known])
    for name, row in zip(NAMES, weights.tolist(), strict=True):
        sys.stdout.write(f"    ({row[0]}, {row[1]}),  # {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
