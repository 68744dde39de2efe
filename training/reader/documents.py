"""Claims with whole documents that the reader was not trained on, to fit how verdicts add up.

There are three kinds of documents:

- FM2's test part: the sentences that bear on a claim among others of the same page; without them
  the document is neutral.
- Sets of short evidence, held out: the evidence among sentences of other items that share rare
  words with it; if a set has no neutral label, a third of its documents lack their evidence.
- SummEdits and WiCE: evidence that was too long to be trained on, by its sentences. Here "not
  supported" is all that is known of the rest, so these have two labels.

No evaluation set is read.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rules

SEED = 11
LABELS = {"supports": 0, "refutes": 1, "neutral": 2}
MIXED = {"checkcovid": 320, "sanli_wiki": 100, "fever.dev": 110}
"""Held-out sets of short evidence, by the start of their names, and the most documents of each."""
PAGES, LONG = 210, 40
"""The most documents of FM2, and of each set of long evidence."""
SILENT = 1 / 3
"""The share of claims whose evidence is taken away, if a set has no neutral label."""
NEAR = 14
"""Sentences of other items from which a document's other sentences are drawn."""
COMMON = 150
"""A word in more sentences than this does not relate them."""
TRAINED = 1_100
"""Characters; longer evidence was left out of training, see `LONGEST` in prepare.py."""
LONGEST = 6_000
"""Characters of the longest evidence that is used."""


@dataclass(frozen=True)
class Document:
    """A claim and the sentences that it is judged by."""

    sentences: tuple[str, ...]
    claim: str
    label: int
    """0 supports, 1 refutes, 2 neutral; with two labels, anything but 0 is merely not supported."""
    two_way: bool
    source: str


def documents(data: Path, folder: Path) -> list[Document]:
    """Return all documents, in an order that never changes.

    Args:
        data: The folder of evaluation and training data.
        folder: Where `prepare.py` left `held.jsonl.xz`.
    """
    made = [
        *pages(data),
        *long(data, "summedits.test"),
        *long(data, "wice.dev"),
        *long(data, "wice.test"),
    ]
    lines = (
        lzma.decompress((folder / "held.jsonl.xz").read_bytes()).decode().rstrip("\n").split("\n")
    )
    pairs = [row for row in map(json.loads, lines) if row[0] == "v"]
    for name, most in MIXED.items():
        made += mixed(name, [row for row in pairs if row[-1].startswith(name)], most)
    return made


def pages(data: Path) -> list[Document]:
    """Return claims of FM2's test part, each with sentences of the page that it is about."""
    labels = {
        row["claim"]: LABELS[row["label"]]
        for row in _read(data / "training" / "pairs.fm2.test.jsonl.gz")
    }
    bears: dict[str, list[str]] = defaultdict(list)
    others: dict[str, list[str]] = {}
    for row in _read(data / "training" / "rank.fm2.test.jsonl.gz"):
        bears[row["query"]].append(row["positive"])
        others[row["query"]] = row["negatives"]
    made = []
    for claim in _some([claim for claim in others if claim in labels], PAGES):
        chance = _chance(claim)
        beside = [text for text in others[claim] if text not in bears[claim]]
        silent = chance.random() < SILENT
        # As long as the silent.
        told = beside if silent else _among(bears[claim], beside[len(bears[claim]) :], chance)
        if told:
            made.append(Document(tuple(told), claim, 2 if silent else labels[claim], False, "fm2"))
    return made


def mixed(name: str, rows: Sequence[list[Any]], most: int) -> list[Document]:
    """Return the held-out pairs of a set, each evidence among sentences that share rare words."""
    texts = {row[1]: rules.sentences(row[1]) for row in rows}
    near = _neighbours(texts)
    claims: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        claims[row[2]].add(row[1])
    two = {row[3] for row in rows} == {0, 1}
    made = []
    for _, evidence, claim, label, *_ in _some(rows, most):
        chance = _chance(f"{evidence} {claim}")
        beside = [text for other, text in near[evidence] if other not in claims[claim]]
        chosen = chance.sample(beside, min(len(beside), chance.randint(2, 9)))
        silent = two and chance.random() < SILENT
        told = (
            chosen
            if silent
            else _among(texts[evidence], chosen[len(texts[evidence]) if two else 0 :], chance)
        )
        if told:
            made.append(Document(tuple(told), claim, 2 if silent else label, False, name))
    return made


def long(data: Path, name: str) -> list[Document]:
    """Return pairs whose evidence was too long to be trained on."""
    rows = [
        row
        for row in _read(data / "training" / f"pairs.{name}.jsonl.gz")
        if TRAINED < len(row["premise"]) < LONGEST and len(row["claim"]) < TRAINED
    ]
    return [
        Document(
            tuple(rules.sentences(row["premise"])),
            row["claim"],
            LABELS[row["label"]],
            True,
            name.split(".")[0],
        )
        for row in _some(rows, LONG)
    ]


def _read(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _chance(text: str) -> random.Random:
    """Return a generator seeded by a text, so that documents do not depend on each other."""
    return random.Random(f"{SEED} {hashlib.sha256(text.encode()).hexdigest()}")  # noqa: S311


def _some(items: Sequence[Any], most: int) -> list[Any]:
    chosen = sorted(random.Random(SEED).sample(range(len(items)), min(most, len(items))))  # noqa: S311
    return [items[number] for number in chosen]


def _among(told: Sequence[str], beside: Sequence[str], chance: random.Random) -> list[str]:
    """Return the sentences that matter, together, at a random place among others."""
    others = list(beside)
    chance.shuffle(others)
    at = chance.randint(0, len(others))
    return [*others[:at], *told, *others[at:]]


def _neighbours(texts: dict[str, list[str]]) -> dict[str, list[tuple[str, str]]]:
    """Return for each evidence the sentences of others that share most rare words with it.

    Each comes with its own evidence.
    """
    index: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for evidence, found in texts.items():
        for text in found:
            for word in sorted(set(text.lower().split())):
                index[word].append((evidence, text))
    return {evidence: list(_nearest(evidence, index)) for evidence in texts}


def _nearest(evidence: str, index: dict[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    shared: Counter[tuple[str, str]] = Counter()
    for word in sorted(set(evidence.lower().split())):
        if len(index[word]) <= COMMON:
            shared.update(pair for pair in index[word] if pair[0] != evidence)
    yield from (pair for pair, _ in shared.most_common(NEAR))
