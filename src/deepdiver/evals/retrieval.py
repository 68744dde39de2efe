"""How well the library finds relevant documents, on four public collections.

The collections are read in place and never copied. SciFact has claims and the abstracts that they
cite, Cranfield questions and graded abstracts. MuSiQue and HotpotQA have questions whose answers
need several passages, each over its own closed corpus.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdiver.evals.documents import Document, write_document
from deepdiver.tools.library.interface import Library

DEPTH = 50
"""Passages that a query asks for; the rank of a document is that of its first passage."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a collection."""

    text: str
    """The query."""
    gains: Mapping[str, float]
    """The value of finding each relevant document."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A collection: documents and queries."""

    items: tuple[Document, ...]
    """The documents."""
    queries: tuple[Query, ...]
    """The queries."""
    multihop: bool
    """Whether a query needs all of its relevant documents."""


# Measures


def ndcg(ranked: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain of the first k documents: 1 is perfect.

    A relevant document at place i, from 1, counts its gain / log2(i + 1).
    """
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))
    got = math.fsum(
        gains.get(item, 0.0) / math.log2(place + 2) for place, item in enumerate(ranked[:k])
    )
    return got / best if best else 0.0


def recall(ranked: Sequence[str], wanted: Collection[str], k: int = 5) -> float:
    """Return the share of the wanted documents that are among the first k."""
    return len(set(ranked[:k]) & set(wanted)) / len(set(wanted)) if wanted else 0.0


def all_support(ranked: Sequence[str], wanted: Collection[str], k: int = 8) -> float:
    """Return 1 if all wanted documents are among the first k, else 0."""
    return float(bool(wanted) and set(wanted) <= set(ranked[:k]))


def measure_ranking(corpus: Corpus, rank: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Return the means over all queries of the measures that suit the collection.

    Args:
        corpus: The collection.
        rank: Returns the ids of documents for a query, best first.
    """
    found = [(rank(query.text), query.gains) for query in corpus.queries]
    sums: dict[str, list[float]]
    if corpus.multihop:
        sums = {
            "recall@5": [recall(ranked, gains.keys()) for ranked, gains in found],
            "all-support@8": [all_support(ranked, gains.keys()) for ranked, gains in found],
        }
    else:
        sums = {"ndcg@10": [ndcg(ranked, gains) for ranked, gains in found]}
    return {name: math.fsum(values) / max(len(values), 1) for name, values in sums.items()}


def ranker(library: Library) -> Callable[[str], list[str]]:
    """Return a function that ranks documents by their best passages; ids are file names."""

    def rank(query: str) -> list[str]:
        return list(
            dict.fromkeys(Path(match.entry.url).stem for match in library.search(query, DEPTH))
        )

    return rank


def write_corpus(corpus: Corpus, folder: Path) -> None:
    """Write the documents of a collection as files for a library to read."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in corpus.items:
        write_document(item, folder)


# Collections


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the objects in a file of JSON lines."""
    # Not splitlines: some texts hold the Unicode line separator.
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def scifact(data: Path) -> Corpus:
    """Read SciFact: all claims of the training part, and the abstracts that each cites."""
    folder = data / "retrieval"
    items = [
        Document(row["id"], row["title"], joined_sentences(row["text"]))
        for row in read_rows(folder / "scifact.corpus.jsonl")
    ]
    queries: dict[str, Query] = {}  # a claim has one row for each document of evidence
    for row in read_rows(folder / "scifact.train.claims.jsonl"):
        cited = dict.fromkeys(re.findall(r"\d+", row["cited_doc_ids"]), 1.0)
        queries.setdefault(row["id"], Query(row["claim"], cited))
    return Corpus(tuple(items), tuple(queries.values()), multihop=False)


def joined_sentences(listed: str) -> str:
    """Return the sentences of an abstract, which is stored as a printed array, as one text."""
    inner = listed.strip().removeprefix("[").removesuffix("]").strip()[1:-1]
    return " ".join(
        part.replace("\\n", " ").strip() for part in re.split(r"['\"]\s*\n\s*['\"]", inner)
    )


_ABSTRACT = re.compile(
    r"^\.I (\d+)\n\.T\n(.*?)^\.A\n.*?^\.W\n(.*?)(?=^\.I |\Z)", re.MULTILINE | re.DOTALL
)


def cranfield(data: Path) -> Corpus:
    """Read Cranfield.

    Its judgements run from 1, a complete answer, to 4, of minimum interest; their gains are 4 to 1.
    Rows of -1 are left out. Queries are numbered by their order, not by the number they carry.
    """
    folder = data / "retrieval" / "cranfield"
    abstracts = (folder / "cran.all.1400").read_text(encoding="utf-8")
    items = [Document(*found) for found in _ABSTRACT.findall(abstracts)]
    parts = (folder / "cran.qry").read_text(encoding="utf-8").split(".I ")[1:]
    texts = [" ".join(part.partition(".W")[2].split()) for part in parts]
    gains: list[dict[str, float]] = [{} for _ in texts]
    for line in (folder / "cranqrel").read_text(encoding="utf-8").splitlines():
        query, document, grade = map(int, line.split())
        if grade != -1:
            gains[query - 1][str(document)] = 5.0 - grade
    return Corpus(tuple(items), tuple(map(Query, texts, gains)), multihop=False)


def hops(data: Path, name: str) -> Corpus:
    """Read MuSiQue or HotpotQA: each question needs the passages that support its answer."""
    folder = data / "multihop"
    items = [
        Document(row["id"], row["title"], row["text"])
        for row in read_rows(folder / f"{name}.corpus.jsonl")
    ]
    by_title: dict[str, list[Document]] = {}
    for item in items:
        by_title.setdefault(item.title, []).append(item)

    def wanted(support: dict[str, str]) -> str:
        same = by_title[support["title"]]
        exact = [item for item in same if item.text.strip() == support.get("text", "").strip()]
        return (exact or same)[0].id

    queries = [
        Query(row["question"], {wanted(support): 1.0 for support in row["support"]})
        for row in read_rows(folder / f"{name}.questions.jsonl")
    ]
    return Corpus(tuple(items), tuple(queries), multihop=True)


COLLECTIONS: dict[str, Callable[[Path], Corpus]] = {
    "scifact": scifact,
    "cranfield": cranfield,
    "musique": lambda data: hops(data, "musique"),
    "hotpotqa": lambda data: hops(data, "hotpotqa"),
}
"""The reader of each collection, given the folder of evaluation data."""
