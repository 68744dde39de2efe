"""Items from `written.jsonl`: invented documents with report sentences, errors and questions.

::

    python training/reader/written.py build/reader

The file beside this script holds 32 invented folders of eight documents each. For each document
there are sentences as a report would word them, freely, with the units (sentences, rows, messages)
that they cite; edits that make such a sentence wrong, by kind, and edits that change nothing; and
questions of all forms, with the units that answer them. Rules make many more examples from other
texts (`edits.py`), but none that are worded as freely, and no set that is free to use has questions
such as "what should we do about …". It writes `written.jsonl.xz` (training) and
`written-held.jsonl.xz` (every eighth folder), in the format of `prepare.py`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prepare import LONGEST, NONE, UNSAID, Item, write

SEED = 20_264
SUPPORTS, REFUTES, NEUTRAL = 0, 1, 2
FILE = Path(__file__).with_name("written.jsonl")
HELD = 8
"""One folder in so many is held out."""
WEIGHT = 3.0
"""The weight of an item: there are few, and they are like what the reader is for."""
CONTRADICTED = frozenset(
    "number unit date name_swap number_swap negation direction comparison".split()
)
"""Edits that the quotes contradict; other errors they merely do not support."""
OTHERS = 24
"""Units of a folder that do not answer a question, of those that are taken."""
WINDOW = 4
"""Units that are read together for an answer."""

Row = dict[str, Any]


def evidence(document: Row, cited: Sequence[int]) -> str:
    """Return units of a document behind its title, as the reader is shown them."""
    text = " ".join(document["units"][number - 1] for number in cited)
    return f"{document['title'].rstrip('.')}. {text}"[:LONGEST]


def of_sentence(document: Row, sentence: Row, chance: random.Random) -> Iterator[Item]:
    """Yield a sentence, its harmless variants and its wrong ones, with their evidence."""
    text, cited = sentence["text"], sorted(sentence["cites"])
    alone = evidence(document, cited)
    free = [number for number in range(1, len(document["units"]) + 1) if number not in cited]
    wider = evidence(document, sorted([*cited, chance.choice(free)])) if free else alone
    right = [text, *(text.replace(old, new) for old, new in sentence["same"])]
    for version in right:
        yield ["v", alone, version, SUPPORTS, 0, 2 * WEIGHT, "written.right"]
    yield ["v", wider, chance.choice(right), SUPPORTS, 0, WEIGHT, "written.right"]
    for kind, old, new in sentence["wrong"]:
        surely = kind in CONTRADICTED
        versions = [base.replace(old, new) for base in right if base.count(old) == 1]
        for version, shown in zip(
            dict.fromkeys((versions[0], chance.choice(versions))), (alone, wider), strict=False
        ):
            label = REFUTES if surely else NEUTRAL
            yield ["v", shown, version, label, int(not surely), WEIGHT, f"written.{kind}"]
    if len(cited) > 1:
        less = evidence(document, [number for number in cited if number != chance.choice(cited)])
        yield ["v", less, text, NEUTRAL, 1, WEIGHT / 2, "written.part"]


def of_question(
    question: Row, units: dict[str, tuple[Row, int]], chance: random.Random
) -> Iterator[Item]:
    """Yield a question with units that answer it and others that do not.

    Args:
        question: The question.
        units: Document and number of each unit that might answer, by its name.
        chance: Chooses among those that do not answer.
    """
    best, also = list(map(str, question["best"])), list(map(str, question["also"]))
    rest = [name for name in units if name not in best and name not in also]
    chance.shuffle(rest)
    for names, relevant, weight in ((best, 1, 1.0), (also, 1, 0.5), (rest[:OTHERS], 0, 0.5)):
        for name in names:
            document, number = units[name]
            shown = evidence(document, [number])
            shown = shown if chance.random() < 0.5 else document["units"][number - 1]
            yield [
                "a", question["q"], shown, UNSAID, UNSAID, relevant, weight * WEIGHT,
                "rank.written",
            ]  # fmt: skip
    yield from _windows(question, best, rest, units, chance)
    if question["form"] == "yesno":
        label = {"yes": SUPPORTS, "no": REFUTES, "unknown": NEUTRAL}[question["holds"]]
        shown = best or rest[:2]
        if shown and len({units[name][0]["id"] for name in shown}) == 1:
            document = units[shown[0]][0]
            told = evidence(document, sorted(units[name][1] for name in shown))
            yield ["v", told, question["statement"], label, 0, 2 * WEIGHT, "written.yesno"]


def _windows(
    question: Row,
    best: Sequence[str],
    rest: Sequence[str],
    units: dict[str, tuple[Row, int]],
    chance: random.Random,
) -> Iterator[Item]:
    """Yield a question with a few units together: where the answer is, or that there is none."""
    if question["answer"]:
        (document, number), *_ = [
            units[name]
            for name in best
            if question["answer"] in units[name][0]["units"][units[name][1] - 1]
        ]
        for _ in range(2):
            first = max(1, number - chance.randrange(WINDOW))
            numbers = range(first, min(len(document["units"]), first + WINDOW - 1) + 1)
            before = evidence(document, [each for each in numbers if each < number])
            passage = evidence(document, list(numbers))
            at = passage.find(question["answer"], max(0, len(before) - 1))
            if at >= 0:
                end = at + len(question["answer"])
                yield ["a", question["q"], passage, at, end, 1, WEIGHT, "spans.written"]
    if question["answer"] or not best:
        for name in rest[:3]:
            document, number = units[name]
            passage = evidence(document, [number])
            if not question["answer"] or question["answer"] not in passage:
                yield ["a", question["q"], passage, NONE, NONE, 0, WEIGHT / 2, "spans.written"]


def items(rows: Sequence[Row], chance: random.Random) -> Iterator[Item]:
    """Yield all items of some folders."""
    documents = {row["id"]: row for row in rows if "units" in row}
    for row in rows:
        if "units" in row:
            for sentence in row["sentences"]:
                yield from of_sentence(row, sentence, chance)
            own = {str(number): (row, number) for number in range(1, len(row["units"]) + 1)}
        else:
            own = {
                f"{name}:{number}": (document, number)
                for name, document in documents.items()
                if document["folder"] == row["folder"]
                for number in range(1, len(document["units"]) + 1)
            }
        for question in row["questions"]:
            yield from of_question(question, own, chance)


def main(arguments: list[str]) -> int:
    """Make the files."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    folders = sorted({row["folder"] for row in rows})
    held = set(folders[HELD - 1 :: HELD])
    for target, kept in (("written", set(folders) - held), ("written-held", held)):
        chosen = [row for row in rows if row["folder"] in kept]
        made = list(items(chosen, random.Random(SEED)))  # noqa: S311
        sys.stdout.write(
            f"{target}: {len(made):,} items "
            f"{write(Path(arguments[0]) / f'{target}.jsonl.xz', made)}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
