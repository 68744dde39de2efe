"""How well the reader judges claims, on public sets that it was not trained on; read in place, never copied.

MultiNLI and FEVER-Symmetric: pairs of evidence and claim. SciFact: claims and the abstracts that they cite. AVeriTeC:
claims with questions and answers as evidence. ExpertQA: sentences of systems' answers with what they cite. PubMedQA:
questions and abstracts.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdiver.encoders.reader import DocumentVerdict, Reader
from deepdiver.evals.retrieval import FLOORS, _joined

BINS = 10
"""Bins of stated confidence, of one width, that calibration is counted in."""
SENTENCES = 40
"""Sentences that are read of one piece of evidence."""
WINDOW = 1_000
"""Characters of a passage: about what the reader takes in at once."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[A-Z0-9])")
LABELS = ("supports", "refutes", "neutral")


@dataclass(frozen=True, slots=True)
class Judged:
    """What the reader said of a set, beside what is true."""

    figures: Mapping[str, float]
    """The measures of the set."""
    stated: tuple[tuple[float, bool], ...]
    """For each verdict the confidence it stated, and whether it was right."""


# Measures


def accuracy(found: Sequence[str], true: Sequence[str]) -> float:
    """Return what part was right."""
    return sum(a == b for a, b in zip(found, true, strict=True)) / len(true) if true else 0.0


def balanced(found: Sequence[str], true: Sequence[str]) -> float:
    """Return the mean of what part was right of each true label."""
    labels = sorted(set(true))
    parts = [accuracy(*zip(*[(a, b) for a, b in zip(found, true, strict=True) if b == label], strict=True))
             for label in labels]  # fmt: skip
    return math.fsum(parts) / len(parts) if parts else 0.0


def macro_f1(found: Sequence[str], true: Sequence[str]) -> float:
    """Return the mean over the true labels of the harmonic mean of precision and recall."""
    scores = []
    for label in sorted(set(true)):
        both = sum(a == b == label for a, b in zip(found, true, strict=True))
        scores.append(2 * both / (sum(a == label for a in found) + sum(b == label for b in true)))
    return math.fsum(scores) / len(scores) if scores else 0.0


def auc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return how often a positive one scores above a negative one; a tie counts half. 0.5 where one kind is absent."""
    ordered = sorted(zip(scores, positive, strict=True))
    above, at = 0.0, 0
    negatives = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        good = sum(kind for _, kind in ordered[at:end])
        bad = end - at - good
        above += good * (negatives + bad / 2)
        negatives += bad
        at = end
    positives = len(ordered) - negatives
    return above / (positives * negatives) if positives and negatives else 0.5


def calibration_error(stated: Sequence[tuple[float, bool]]) -> float:
    """Return the mean distance between stated confidence and what was right, over bins of one width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in stated:
        bins.setdefault(min(int(confidence * BINS), BINS - 1), []).append((confidence, right))
    gaps = (abs(math.fsum(confidence - right for confidence, right in held)) for held in bins.values())
    return math.fsum(gaps) / len(stated) if stated else 0.0


def brier(stated: Sequence[tuple[float, bool]]) -> float:
    """Return the mean squared distance between stated confidence and what happened: 0 is perfect."""
    return math.fsum((confidence - right) ** 2 for confidence, right in stated) / len(stated) if stated else 0.0


def floors() -> dict[str, dict[str, float]]:
    """Return what holds and must go on holding, by set and measure."""
    held: dict[str, dict[str, float]] = json.loads(FLOORS.read_text(encoding="utf-8"))["verifier"]["floors"]
    return held


def wanted() -> dict[str, dict[str, float]]:
    """Return what the reader is to reach, by set and measure, whether it does or not; never lowered to fit it."""
    held: dict[str, dict[str, float]] = json.loads(FLOORS.read_text(encoding="utf-8"))["verifier"]["wanted"]
    return held


# Sets


def pairs(reader: Reader, data: Path, name: str, most: int | None = None) -> Judged:
    """Judge a set of pairs by its verdicts."""
    with gzip.open(data / "training" / f"pairs.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:most]
    verdicts = reader.verify([(row["premise"], row["claim"]) for row in rows])
    true = [row["label"] for row in rows]
    two = set(true) == set(LABELS[:2])  # nothing is neutral here: the likelier side counts
    found = [("supports" if v.supports > v.refutes else "refutes") if two else v.stance for v in verdicts]
    sums = [v.supports + v.refutes if two else 1.0 for v in verdicts]
    stated = [
        (getattr(v, stance) / (whole or 1.0), stance == label)
        for v, stance, whole, label in zip(verdicts, found, sums, true, strict=True)
    ]
    return Judged({"accuracy": accuracy(found, true)}, tuple(stated))


def scifact(reader: Reader, data: Path, most: int | None = None) -> Judged:
    """Judge each claim by each abstract that it cites: supported, contradicted, or neither."""
    folder = data / "retrieval"
    texts = {row["id"]: _sentences_listed(row["text"]) for row in _rows(folder / "scifact.corpus.jsonl")}
    told = {"SUPPORT": "supports", "CONTRADICT": "refutes", "": "neutral"}
    labels: dict[tuple[str, str], str] = {}  # a claim has a row for each group of sentences that bears on it
    for row in _rows(folder / "scifact.train.claims.jsonl"):
        cited = [row["evidence_doc_id"]] if row["evidence_doc_id"] else re.findall(r"\d+", row["cited_doc_ids"])
        labels |= {(row["claim"], id_): told[row["evidence_label"]] for id_ in cited if id_ in texts}
    cases = list(labels.items())[:most]
    verdicts = reader.verify_documents([(texts[id_], claim) for (claim, id_), _ in cases])
    true, found = [label for _, label in cases], [verdict.stance for verdict in verdicts]
    figures = {"macro F1": macro_f1(found, true), "accuracy": accuracy(found, true)}
    return Judged(figures, _stated(verdicts, true))


def averitec(reader: Reader, data: Path, most: int | None = None) -> Judged:
    """Judge claims that are supported or refuted by the questions and answers that people found for them."""
    rows = [
        row for row in _rows(data / "citation" / "averitec.1-250.jsonl") if row["label"] in ("Supported", "Refuted")
    ]
    documents = [(_asked(row), row["claim"]) for row in rows[:most]]
    true = ["supports" if row["label"] == "Supported" else "refutes" for row in rows[:most]]
    found = ["supports" if v.supports > v.refutes else "refutes" for v in reader.verify_documents(documents)]
    return Judged({"balanced": balanced(found, true)}, ())


def expertqa(reader: Reader, data: Path, most: int | None = None) -> Judged:
    """Tell claims that their evidence supports completely from others; those without evidence are left out."""
    rows = [row for row in _rows(data / "citation" / "expertqa.val.claims.jsonl") if row["evidence"]][:most]
    claims = [re.sub(r"\s*\[\d+\]", "", row["claim"]) for row in rows]
    evidence = [" ".join(part.partition("\n\n")[2] or part for part in row["evidence"]) for row in rows]
    verdicts = reader.verify_documents(
        [(_sentences(text), claim) for text, claim in zip(evidence, claims, strict=True)]
    )
    complete = [row["support"] == "Complete" for row in rows]
    return Judged({"auc": auc([verdict.supports for verdict in verdicts], complete)}, ())


def pubmedqa(reader: Reader, data: Path, most: int | None = None) -> Judged:
    """Tell questions whose answer is yes from those whose answer is no, by the abstract without its conclusion.

    A question is judged by whole passages: on BoolQ's dev part the area was 0.75 by these and 0.71 by sentences.
    """
    rows = [row for row in _rows(data / "reading" / "pubmedqa.train.jsonl") if row["answer"] in ("yes", "no")][:most]
    windows = [(number, text) for number, row in enumerate(rows) for text in _windows(_sentences(row["context"]))]
    verdicts = reader.verify([(text, rows[number]["question"]) for number, text in windows])
    leanings: list[list[float]] = [[] for _ in rows]
    for (number, _), verdict in zip(windows, verdicts, strict=True):
        leanings[number].append(verdict.supports - verdict.refutes)
    scores = [math.fsum(held) / len(held) if held else 0.0 for held in leanings]
    return Judged({"auc": auc(scores, [row["answer"] == "yes" for row in rows])}, ())


SETS: dict[str, Callable[[Reader, Path, int | None], Judged]] = {
    "fever_symmetric": lambda reader, data, most: pairs(reader, data, "fever_symmetric.test", most),
    "mnli": lambda reader, data, most: pairs(reader, data, "mnli_olora.dev", most),
    "averitec": averitec,
    "scifact": scifact,
    "pubmedqa": pubmedqa,
    "expertqa": expertqa,
}
"""How to judge each, given the reader, the folder of evaluation data, and the most rows to take; shortest first."""


def _rows(file: Path) -> list[dict[str, Any]]:
    # Not splitlines: some texts hold the Unicode line separator.
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def _sentences(text: str) -> list[str]:
    return [part for part in SENTENCE_END.split(text.strip()) if part][:SENTENCES]


def _windows(sentences: Sequence[str]) -> list[str]:
    """Return the sentences in passages of at most WINDOW characters, or of one sentence."""
    made: list[str] = []
    for sentence in sentences:
        if made and len(made[-1]) + len(sentence) < WINDOW:
            made[-1] += f" {sentence}"
        else:
            made.append(sentence)
    return made


def _sentences_listed(listed: str) -> list[str]:
    return _sentences(_joined(listed))


def _asked(row: Mapping[str, Any]) -> list[str]:
    """Return each question of a claim with its answer, as one text."""
    return [
        f"{asked['question']} {answer['answer']} {answer.get('boolean_explanation') or ''}".strip()
        for asked in row["questions"]
        for answer in asked["answers"]
    ]


def _stated(verdicts: Sequence[DocumentVerdict], true: Sequence[str]) -> tuple[tuple[float, bool], ...]:
    """Return the confidence of each document's stance, and whether it was right."""
    made = []
    for verdict, label in zip(verdicts, true, strict=True):
        most = max(verdict.supports, verdict.refutes)
        made.append((1 - most if verdict.stance == "neutral" else most, verdict.stance == label))
    return tuple(made)
