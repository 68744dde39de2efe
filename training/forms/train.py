"""Trains the linear model that tells the form of a question, on one core in a minute.

    python training/forms/train.py

questions.txt has the questions, by domain. The figure that is printed first is the one to believe:
each half of the domains is judged by a model that was trained on the other. Then a model of all of
them is written beside `language/form.py`. Nothing is random, so it is the same bytes each time.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deepdiver.reason.embedded.language.cues import cues_of
from deepdiver.reason.embedded.language.form import WEIGHTS, Form, features
from deepdiver.reason.embedded.language.request import find_request

QUESTIONS = Path(__file__).parent / "questions.txt"
DECAY = 3e-4
STEPS = 400
Matrix = npt.NDArray[np.float64]


def read_questions() -> list[tuple[int, Form, str]]:
    """Return the number of the domain, the form, and what the model reads of each question."""
    rows, domain = [], -1
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            domain += 1
            continue
        name, message = line.split("\t")
        request = find_request(message)
        form = Form(name.replace("lookup", "look_up").replace("_", "-"))
        rows.append((domain, form, f"{request.text} {request.background}".strip()))
    return rows


def fit(seen: Matrix, forms: npt.NDArray[np.int64]) -> Matrix:
    """Return the weights of a softmax regression, by Adam over all rows at once."""
    weights = np.zeros((seen.shape[1], len(Form)))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    wanted = np.eye(len(Form))[forms]
    for step in range(1, STEPS + 1):
        slope = seen.T @ (shares(seen @ weights) - wanted) / len(seen)
        slope[:-1] += DECAY * weights[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        weights -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def shares(scores: Matrix) -> Matrix:
    """Return probabilities from scores."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    told: Matrix = raised / raised.sum(axis=1, keepdims=True)
    return told


def main() -> None:
    """Measure by halves, then train on everything and write the weights."""
    rows = read_questions()
    texts = [text for _, _, text in rows]
    cues = sorted({cue for text in texts for cue in cues_of(text.lower())})
    seen = features(texts, cues).astype(np.float64)
    forms = np.array([list(Form).index(form) for _, form, _ in rows])
    half = np.array([domain % 2 for domain, _, _ in rows])
    right: Counter[Form] = Counter()
    for side in (0, 1):
        scores = seen[half != side] @ fit(seen[half == side], forms[half == side])
        judged = scores.argmax(axis=1)
        right.update(list(Form)[form] for form in judged[judged == forms[half != side]])
    told = Counter(form for _, form, _ in rows)
    sys.stdout.write(f"by halves of the domains: {right.total() / len(rows):.3f} of {len(rows)}\n")
    for form in Form:
        sys.stdout.write(f"  {form:<12} {right[form] / told[form]:.2f} of {told[form]}\n")
    weights = fit(seen, forms).astype(np.float16)
    np.savez_compressed(WEIGHTS, weights=weights, cues=np.array(cues))
    sys.stdout.write(f"{WEIGHTS.name}: {len(cues)} cues, {WEIGHTS.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
