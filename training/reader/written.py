"""Items from `written.jsonl`: invented documents with report sentences, errors and questions.

::

    python training/reader/written.py build/reader

The file beside this script holds invented folders: 32 of eight documents each, and dossiers of four
documents about one matter, whose names and figures are easily confused. There are sentences as a
report would word them, freely, with the units (sentences, rows, messages) of one document or of
several that they cite; edits that make such a sentence wrong, by kind, and edits that change
nothing; and, of the 32, questions of all forms, with the units that answer them. Rules make many
more examples from other texts (`edits.py`), but none that are worded as freely, and no set that is
free to use has questions such as "what should we do about …". It writes `written.jsonl.xz`
(training) and `written-held.jsonl.xz` (every eighth folder), in the format of `prepare.py`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from exchange import exchanged, misnamed, rare_names, renamed
from prepare import LONGEST, NONE, UNSAID, Item, write

SEED = 20_264
SUPPORTS, REFUTES, NEUTRAL = 0, 1, 2
FILE = Path(__file__).with_name("written.jsonl")
HELD = 8
"""One folder in so many is held out."""
WEIGHT = 1.5
"""The weight of an item: there are few, and they are like what the reader is for."""
RIGHT = 4
"""So much more weighs a right sentence: there are eight wrong ones for each."""
CONTRADICTED = frozenset(
    "number unit date name attribution name_swap number_swap negation direction comparison".split()
)
"""Edits that the quotes contradict; other errors they merely do not support."""
OTHERS = 24
"""Units of a folder that do not answer a question, of those that are taken."""
WINDOW = 4
"""Units that are read together for an answer."""

EXCHANGED, MISNAMED = 3, 2
"""How many errors are made of a right sentence by rule, of both kinds."""
WIDER = 3
"""The most units that are shown besides those that are cited: quotes hold more than is said."""
PLACED = 0.6
"""The share of items that tell where each unit stands, if the document says it."""

Row = dict[str, Any]
Unit = tuple[Row, int]
"""A document, and the number of one of its units, from one."""


def evidence(units: Sequence[Unit], placed: bool = False) -> str:
    """Return units behind the titles of their documents, as the reader is shown them.

    Args:
        units: The units, in order.
        placed: Whether to tell where each stands: page, or speaker and date of a message.
    """
    told: list[str] = []
    title, place = "", ""
    for document, number in units:
        head = document["heads"][number - 1] if placed and "heads" in document else ""
        new = document["title"].rstrip(".")
        told += [f"{new}."] if new != title else []
        told += [f"{head}:"] if head and (new != title or head != place) else []
        told += [document["units"][number - 1]]
        title, place = new, head
    return " ".join(told)[:LONGEST]


def of_sentence(
    sentence: Row, cited: Sequence[Unit], others: Sequence[Unit], chance: random.Random
) -> Iterator[Item]:
    """Yield a sentence, its harmless variants and its wrong ones, with their evidence.

    Args:
        sentence: The sentence, with its edits.
        cited: The units it cites.
        others: Units of the same documents that it does not cite.
        chance: Chooses among what there is.
    """
    text = sentence["text"]
    speaks = any(kind == "attribution" for kind, *_ in sentence["wrong"])

    def shown(units: Sequence[Unit]) -> str:
        return evidence(units, placed=speaks or chance.random() < PLACED)

    more = chance.sample(others, min(len(others), chance.randint(1, WIDER)))
    # Shown once and for all: right and wrong ones are compared if their evidence is the same.
    told, wider = shown(cited), shown(sorted([*cited, *more], key=_order))
    right = [text, *(text.replace(old, new) for old, new in sentence["same"])]
    for version in right:
        yield ["v", told, version, SUPPORTS, 0, RIGHT * WEIGHT, "written.right"]
    yield ["v", wider, chance.choice(right), SUPPORTS, 0, RIGHT * WEIGHT, "written.right"]
    for kind, old, new in sentence["wrong"]:
        surely = kind in CONTRADICTED
        versions = [base.replace(old, new) for base in right if base.count(old) == 1]
        for version, passage in zip(
            dict.fromkeys((versions[0], chance.choice(versions))), (told, wider), strict=False
        ):
            label = REFUTES if surely else NEUTRAL
            yield ["v", passage, version, label, int(not surely), WEIGHT, f"written.{kind}"]
    for version, own in ((text, told), (chance.choice(right), wider)):
        for passage, claim, carried in exchanged(version, own, EXCHANGED, chance):
            label, weight = (SUPPORTS, 2 * WEIGHT) if carried else (REFUTES, WEIGHT)
            yield ["v", passage, claim, label, 0, weight / 2, "written.exchanged"]
        for claim in misnamed(version, own, MISNAMED, chance):
            yield ["v", own, claim, REFUTES, 0, WEIGHT / 2, "written.misnamed"]
    if len(cited) > 1:
        left = chance.choice(cited)
        less = shown([unit for unit in cited if unit is not left])
        yield ["v", less, text, NEUTRAL, 1, WEIGHT / 2, "written.part"]


def _order(unit: Unit) -> tuple[str, int]:
    return unit[0]["id"], unit[1]


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
            shown = evidence([(document, number)])
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
            told = evidence([(document, at) for at in sorted(units[name][1] for name in shown)])
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
            before = evidence([(document, each) for each in numbers if each < number])
            passage = evidence([(document, each) for each in numbers])
            at = passage.find(question["answer"], max(0, len(before) - 1))
            if at >= 0:
                end = at + len(question["answer"])
                yield ["a", question["q"], passage, at, end, 1, WEIGHT, "spans.written"]
    if question["answer"] or not best:
        for name in rest[:3]:
            document, number = units[name]
            passage = evidence([(document, number)])
            if not question["answer"] or question["answer"] not in passage:
                yield ["a", question["q"], passage, NONE, NONE, 0, WEIGHT / 2, "spans.written"]


def items(rows: Sequence[Row], chance: random.Random) -> Iterator[Item]:
    """Yield all items of some folders."""
    documents = {row["id"]: row for row in rows if "units" in row}
    for row in rows:
        inside = [
            document
            for name, document in documents.items()
            if (name == row["id"] if "units" in row else document["folder"] == row["folder"])
        ]
        own = {
            f"{'' if 'units' in row else document['id'] + ':'}{number}": (document, number)
            for document in inside
            for number in range(1, len(document["units"]) + 1)
        }
        for sentence in row.get("sentences", ()):
            names = list(map(str, sentence["cites"]))
            cited = sorted((own[name] for name in names), key=_order)
            near = {document["id"] for document, _ in cited}
            others = [
                unit for name, unit in own.items() if name not in names and unit[0]["id"] in near
            ]
            yield from of_sentence(sentence, cited, others, chance)
        for question in row.get("questions", ()):
            yield from of_question(question, own, chance)


def with_other_names(
    made: Sequence[Item], rows: Sequence[Row], chance: random.Random
) -> list[Item]:
    """Return items, and a copy with other names of each that shares names with its evidence."""
    names = rare_names(text for row in rows for text in row.get("units", ()))
    about: dict[str, list[Item]] = {}
    for item in made:
        if item[0] == "v":
            about.setdefault(item[1], []).append(item)
    copies = []
    for told, found in about.items():
        shown, said = renamed(told, [item[2] for item in found], names, chance)
        for item, other in zip(found, said, strict=True):
            kind, _, claim, label, two_way, weight, source = item
            if other != claim:
                copies.append([kind, shown, other, label, two_way, weight / 2, f"{source}.renamed"])
    return [*made, *copies]


def main(arguments: list[str]) -> int:
    """Make the files."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    folders = sorted({row["folder"] for row in rows})
    held = set(folders[HELD - 1 :: HELD])
    for target, kept in (("written", set(folders) - held), ("written-held", held)):
        chosen = [row for row in rows if row["folder"] in kept]
        chance = random.Random(SEED)  # noqa: S311
        made = list(items(chosen, chance))
        if target == "written":
            made = with_other_names(made, rows, chance)
        sys.stdout.write(
            f"{target}: {len(made):,} items "
            f"{write(Path(arguments[0]) / f'{target}.jsonl.xz', made)}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
