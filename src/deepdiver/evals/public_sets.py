"""The public sets, which are read in place and never copied, and how a set is found by its name."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deepdiver.core.text import sentences
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.evals import retrieval
from deepdiver.evals.cases import (
    Case,
    EvalSet,
    Gold,
    Kind,
    Part,
    Shelf,
    check_unique,
    read_json_lines,
)
from deepdiver.evals.documents import Document
from deepdiver.evals.own_set import read_own_set
from deepdiver.evals.retrieval import COLLECTIONS

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
"""The default folder of the public sets: beside the repository."""


# Research


def hops(data: Path, name: str) -> EvalSet:
    """Read HotpotQA or MuSiQue: all questions are over one closed corpus."""
    asked = read_json_lines(data / "multihop" / f"{name}.questions.jsonl")
    corpus = retrieval.hops(data, name)
    cases = [
        Case(
            row["id"],
            row["question"],
            tuple(row["answers"]),
            support=tuple(query.gains),
            shelf="corpus",
        )
        for row, query in zip(asked, corpus.queries, strict=True)
    ]
    return EvalSet(
        f"multihop/{name}", Kind.ANSWERS, check_unique(cases, name), {"corpus": Shelf(corpus.items)}
    )


def ramdocs(data: Path) -> EvalSet:
    """Read RAMDocs: each question has its own documents, some of which contradict the others."""
    cases, shelves = [], {}
    for number, row in enumerate(read_json_lines(data / "conflict" / "ramdocs.jsonl"), 1):
        key = f"{number:03}"
        shelves[key] = Shelf(
            tuple(Document(f"{at}", "", doc["text"]) for at, doc in enumerate(row["documents"], 1))
        )
        good = [f"{at}" for at, doc in enumerate(row["documents"], 1) if doc["type"] == "correct"]
        answers, wrong = (
            tuple(dict.fromkeys(row[name])) for name in ("gold_answers", "wrong_answers")
        )
        cases.append(Case(key, row["question"], answers, wrong, tuple(good), shelf=key))
    return EvalSet("conflict/ramdocs", Kind.CONFLICT, tuple(cases), shelves)


def drbench(data: Path) -> EvalSet:
    """Read DRBench: each task has its own folder; insights that need the web do not count."""
    cases, shelves = [], {}
    for folder in sorted((data / "drbench").glob("DR*")):
        task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        listed = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
        golds = tuple(_gold(item) for item in listed if item["type"] == "enterprise_fact")
        shelves[task["id"]] = Shelf(folder=folder / "docs")
        cases.append(
            Case(task["id"], task["question"], shelf=task["id"], as_of=task["date"], golds=golds)
        )
    return EvalSet("drbench", Kind.INSIGHTS, check_unique(cases, "drbench"), shelves)


def _gold(item: dict[str, Any]) -> Gold:
    (path,) = item["supporting_file_paths"]
    return Gold(item["id"], item["answer"], Path(path).name, item["qa_type"] == "distractor")


# Claims


def expertqa(data: Path) -> EvalSet:
    """Read ExpertQA: claims with evidence, and whether an expert found the support complete."""
    labels = {"Complete": "full", "Partial": "not", "Incomplete": "not"}
    cases = [
        Case(
            f"{number:04}",
            row["claim"],
            evidence=tuple(row["evidence"]),
            label=labels[row["support"]],
        )
        for number, row in enumerate(
            read_json_lines(data / "citation" / "expertqa.val.claims.jsonl"), 1
        )
        if row["evidence"] and row["support"] in labels
    ]
    return EvalSet("citation/expertqa", Kind.SUPPORT, tuple(cases))


def averitec(data: Path) -> EvalSet:
    """Read AVeriTeC: claims, with questions and answers as evidence.

    Conflicting evidence is neutral.
    """
    labels = {"Supported": "supports", "Refuted": "refutes"}
    cases = []
    for number, row in enumerate(read_json_lines(data / "citation" / "averitec.1-250.jsonl"), 1):
        told = tuple(_question_and_answer(item) for item in row["questions"])
        label = labels.get(row["label"], "neutral")
        cases.append(
            Case(f"{number:03}", row["claim"], evidence=tuple(filter(None, told)), label=label)
        )
    return EvalSet("citation/averitec", Kind.STANCE, tuple(cases))


def _question_and_answer(item: dict[str, Any]) -> str:
    said = []
    for answer in item["answers"]:
        if answer["answer_type"] != "Unanswerable":
            said.append(
                " ".join(filter(None, (answer["answer"], answer.get("boolean_explanation"))))
            )
    return f"{item['question']} {' '.join(said)}" if said else ""


def pubmedqa(data: Path) -> EvalSet:
    """Read PubMedQA: a question, and the sentences of the one abstract that answers it."""
    labels = {"yes": "supports", "no": "refutes", "maybe": "neutral"}
    cases = [
        Case(
            row["id"],
            row["question"],
            evidence=tuple(span.of(row["context"]) for span in sentences(row["context"])),
            one_origin=True,
            label=labels[row["answer"]],
        )
        for row in read_json_lines(data / "reading" / "pubmedqa.train.jsonl")
    ]
    return EvalSet("reading/pubmedqa", Kind.STANCE, check_unique(cases, "pubmedqa"))


# Retrieval


def retrieval_set(data: Path, name: str) -> EvalSet:
    """Read a collection for retrieval: each query is a case."""
    corpus = COLLECTIONS[name](data)
    cases = [
        Case(f"{number:04}", query.text, gains=dict(query.gains), shelf="corpus")
        for number, query in enumerate(corpus.queries, 1)
    ]
    return EvalSet(
        f"retrieval/{name}", Kind.RETRIEVAL, tuple(cases), {"corpus": Shelf(corpus.items)}
    )


SETS: dict[str, Callable[[Path], EvalSet]] = {
    "multihop/hotpotqa": lambda data: hops(data, "hotpotqa"),
    "multihop/musique": lambda data: hops(data, "musique"),
    "conflict/ramdocs": ramdocs,
    "citation/expertqa": expertqa,
    "citation/averitec": averitec,
    "reading/pubmedqa": pubmedqa,
    "drbench": drbench,
    "retrieval/scifact": lambda data: retrieval_set(data, "scifact"),
    "retrieval/cranfield": lambda data: retrieval_set(data, "cranfield"),
    "retrieval/musique": lambda data: retrieval_set(data, "musique"),
    "retrieval/hotpotqa": lambda data: retrieval_set(data, "hotpotqa"),
}
"""The reader of each set, given the folder of evaluation data."""


SPLIT = frozenset(name for name in SETS if name.split("/")[0] not in {"drbench", "retrieval"})
"""Sets of which every other case is kept for reporting. All tasks of DRBench were looked at: its
figures are those of development. Nothing is chosen on the collections for retrieval."""


def set_names(name: str) -> list[str]:
    """Return the names of the sets that a name stands for.

    It may be the name of a set, of a group such as `multihop`, or the last part of a name.

    Raises:
        UnknownNameError: If there is no such set; the message suggests the nearest name.
    """
    if name in SETS:
        return [name]
    if group := [each for each in SETS if each.startswith(f"{name}/")]:
        return group
    if (last := [each for each in SETS if each.endswith(f"/{name}")])[1:]:
        raise UnknownNameError(f"{name!r} is ambiguous: give {' or '.join(last)}")
    if last:
        return last
    close = difflib.get_close_matches(name, _spoken(SETS), 1, 0.6)
    hint = (
        f"did you mean {close[0]}?"
        if close
        else f"known are {', '.join(SETS)}, or a file of JSON lines"
    )
    raise UnknownNameError(f"unknown set {name[:80]!r}; {hint}")


def _spoken(names: Iterable[str]) -> list[str]:
    return [*names, *(part for name in names for part in name.split("/"))]


def read_sets(name: str, data: Path) -> list[EvalSet]:
    """Read the sets that a name stands for; a name that ends in .jsonl is the user's own file.

    Raises:
        UsageError: If the data is missing or cannot be read.
        UnknownNameError: If there is no such set.
    """
    if name.endswith(".jsonl"):
        return [read_own_set(Path(name).expanduser())]
    wanted = set_names(name)
    if not data.is_dir():
        raise UsageError(f"there is no evaluation data at {data}: give its folder with --data DIR")
    return [_read(each, data) for each in wanted]


def _read(name: str, data: Path) -> EvalSet:
    try:
        found = SETS[name](data)
    except FileNotFoundError as error:
        raise UsageError(
            f"cannot read {name}: {error.filename} is missing; give the folder of the public sets "
            "with --data DIR"
        ) from None
    except (KeyError, ValueError, TypeError) as error:
        raise UsageError(
            f"{name} in {data} has an unexpected format: {type(error).__name__}: {error}"
        ) from None
    if not found.cases:
        raise UsageError(f"{name} in {data} is empty")
    return found


def take_part(of: EvalSet, part: Part) -> EvalSet:
    """Return a part of a set; a set that is not split is reported on as a whole."""
    split = of.name in SPLIT
    if part is Part.ALL or (part is Part.REPORT and not split):
        return of
    if not split:
        raise UsageError(f"{of.name} is not split: constants are not chosen on it")
    return replace(of, cases=of.cases[part is Part.REPORT :: 2], part=part)


def first_cases(cases: Sequence[Case], limit: int | None) -> tuple[Case, ...]:
    """Return the first cases up to a limit; None: all of them."""
    return tuple(cases if limit is None else cases[:limit])
