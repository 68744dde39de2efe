"""How well the reader judges claims, on public sets that it was not trained on.

The sets are read in place and never copied. MultiNLI and FEVER-Symmetric have pairs of evidence
and claim, SciFact claims and the abstracts that they cite, AVeriTeC claims with questions and
answers as evidence, ExpertQA sentences of systems' answers with what they cite, PubMedQA questions
and abstracts.
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
from deepdiver.evals.measures import accuracy, auc, balanced, macro_f1
from deepdiver.evals.retrieval import joined_sentences, read_rows

SENTENCES = 40
"""Sentences of one piece of evidence that are read."""
WINDOW = 1_000
"""Characters of a passage: about as much as the reader reads at once."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[A-Z0-9])")
LABELS = ("supports", "refutes", "neutral")


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """How well the reader judged a set."""

    figures: Mapping[str, float]
    """The measures of the set."""
    stated: tuple[tuple[float, bool], ...]
    """For each verdict, the stated confidence and whether it was right."""


def _counted(figure: float | None) -> float:
    """Return a figure, or 0, which misses every floor, if there was nothing to count."""
    return 0.0 if figure is None else figure


# Sets


def pairs(reader: Reader, data: Path, name: str, most: int | None = None) -> ReaderResult:
    """Judge a set of pairs of evidence and claim."""
    with gzip.open(data / "training" / f"pairs.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:most]
    verdicts = reader.verify([(row["premise"], row["claim"]) for row in rows])
    true = [row["label"] for row in rows]
    two = set(true) == set(LABELS[:2])  # nothing is neutral here, so the likelier side counts
    found = [
        ("supports" if v.supports > v.refutes else "refutes") if two else v.stance for v in verdicts
    ]
    sums = [v.supports + v.refutes if two else 1.0 for v in verdicts]
    stated = [
        (getattr(v, stance) / (whole or 1.0), stance == label)
        for v, stance, whole, label in zip(verdicts, found, sums, true, strict=True)
    ]
    return ReaderResult(
        {"accuracy": _counted(accuracy(zip(true, found, strict=True)))}, tuple(stated)
    )


def scifact(reader: Reader, data: Path, most: int | None = None) -> ReaderResult:
    """Judge whether each abstract that a claim cites supports it, refutes it, or neither."""
    folder = data / "retrieval"
    texts = {
        row["id"]: _sentences_listed(row["text"])
        for row in read_rows(folder / "scifact.corpus.jsonl")
    }
    told = {"SUPPORT": "supports", "CONTRADICT": "refutes", "": "neutral"}
    # A claim has one row for each group of sentences that bears on it.
    labels: dict[tuple[str, str], str] = {}
    for row in read_rows(folder / "scifact.train.claims.jsonl"):
        cited = (
            [row["evidence_doc_id"]]
            if row["evidence_doc_id"]
            else re.findall(r"\d+", row["cited_doc_ids"])
        )
        labels |= {
            (row["claim"], id_): told[row["evidence_label"]] for id_ in cited if id_ in texts
        }
    cases = list(labels.items())[:most]
    verdicts = reader.verify_documents([(texts[id_], claim) for (claim, id_), _ in cases])
    true = [label for _, label in cases]
    said = [(label, verdict.whole.stance) for label, verdict in zip(true, verdicts, strict=True)]
    figures = {"macro F1": _counted(macro_f1(said)), "accuracy": _counted(accuracy(said))}
    return ReaderResult(figures, _stated(verdicts, true))


def averitec(reader: Reader, data: Path, most: int | None = None) -> ReaderResult:
    """Judge claims by the questions and answers that people found as evidence."""
    rows = [
        row
        for row in read_rows(data / "citation" / "averitec.1-250.jsonl")
        if row["label"] in ("Supported", "Refuted")
    ]
    verdicts = reader.verify_documents([(_asked(row), row["claim"]) for row in rows[:most]])
    # A tie counts as refuting: what says nothing about a claim does not support it.
    sides = [
        1.0 if verdict.whole.supports > verdict.whole.refutes else -1.0 for verdict in verdicts
    ]
    supported = [row["label"] == "Supported" for row in rows[:most]]
    return ReaderResult({"balanced": _counted(balanced(zip(supported, sides, strict=True)))}, ())


def expertqa(reader: Reader, data: Path, most: int | None = None) -> ReaderResult:
    """Rank claims by how completely their evidence supports them.

    Claims without evidence are left out. The others are ranked by the leaning of the verdict. On
    held-out documents of similar length the area under the curve was 0.78 by leaning, 0.78 by the
    whole and 0.74 by the strongest support (WiCE), and 0.68, 0.62 and 0.53 (SummEdits). Here it was
    0.60, 0.58 and 0.58.
    """
    rows = [
        row for row in read_rows(data / "citation" / "expertqa.val.claims.jsonl") if row["evidence"]
    ][:most]
    claims = [re.sub(r"\s*\[\d+\]", "", row["claim"]) for row in rows]
    evidence = [
        " ".join(part.partition("\n\n")[2] or part for part in row["evidence"]) for row in rows
    ]
    verdicts = reader.verify_documents(
        [(_sentences(text), claim) for text, claim in zip(evidence, claims, strict=True)]
    )
    complete = [row["support"] == "Complete" for row in rows]
    ranked = zip(complete, (verdict.leaning for verdict in verdicts), strict=True)
    return ReaderResult({"auc": _counted(auc(ranked))}, ())


def pubmedqa(reader: Reader, data: Path, most: int | None = None) -> ReaderResult:
    """Rank questions by how likely the answer is yes, given the abstract without its conclusion.

    A question is judged by whole passages: on the dev part of BoolQ the area under the curve was
    0.75 by passages and 0.71 by sentences.
    """
    rows = [
        row
        for row in read_rows(data / "reading" / "pubmedqa.train.jsonl")
        if row["answer"] in ("yes", "no")
    ][:most]
    windows = [
        (number, text)
        for number, row in enumerate(rows)
        for text in _windows(_sentences(row["context"]))
    ]
    verdicts = reader.verify([(text, rows[number]["question"]) for number, text in windows])
    leanings: list[list[float]] = [[] for _ in rows]
    for (number, _), verdict in zip(windows, verdicts, strict=True):
        leanings[number].append(verdict.supports - verdict.refutes)
    scores = [math.fsum(held) / len(held) if held else 0.0 for held in leanings]
    ranked = zip((row["answer"] == "yes" for row in rows), scores, strict=True)
    return ReaderResult({"auc": _counted(auc(ranked))}, ())


SETS: dict[str, Callable[[Reader, Path, int | None], ReaderResult]] = {
    "fever_symmetric": lambda reader, data, most: pairs(reader, data, "fever_symmetric.test", most),
    "mnli": lambda reader, data, most: pairs(reader, data, "mnli_olora.dev", most),
    "averitec": averitec,
    "scifact": scifact,
    "pubmedqa": pubmedqa,
    "expertqa": expertqa,
}
"""The function that judges each set, given the reader, the folder of evaluation data and the
maximum number of rows; the shortest set first."""


def _sentences(text: str) -> list[str]:
    return [part for part in SENTENCE_END.split(text.strip()) if part][:SENTENCES]


def _windows(sentences: Sequence[str]) -> list[str]:
    """Return the sentences joined to passages of at most WINDOW characters, or of one sentence."""
    made: list[str] = []
    for sentence in sentences:
        if made and len(made[-1]) + len(sentence) < WINDOW:
            made[-1] += f" {sentence}"
        else:
            made.append(sentence)
    return made


def _sentences_listed(listed: str) -> list[str]:
    return _sentences(joined_sentences(listed))


def _asked(row: Mapping[str, Any]) -> list[str]:
    """Return each question of a claim with its answer, as one text."""
    return [
        f"{asked['question']} {answer['answer']} {answer.get('boolean_explanation') or ''}".strip()
        for asked in row["questions"]
        for answer in asked["answers"]
    ]


def _stated(
    verdicts: Sequence[DocumentVerdict], true: Sequence[str]
) -> tuple[tuple[float, bool], ...]:
    """Return the confidence in each stance, and whether the stance was right."""
    return tuple(
        (getattr(verdict.whole, verdict.whole.stance), verdict.whole.stance == label)
        for verdict, label in zip(verdicts, true, strict=True)
    )
