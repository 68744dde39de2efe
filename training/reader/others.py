"""Questions about somebody else: the passage that answered them no longer does.

::

    python training/reader/others.py build/reader

A small reader finds "the director" in a passage and does not ask whose: it was as sure of a
question about another film as of the right one. So a name that is in a question and in its passage
is replaced, in the question, by one from another question that is not in the passage. It reads the
files of `prepare.py` and writes `others.jsonl.xz` (training) and `others-held.jsonl.xz` (made from
held-out questions, to measure the effect), in the format described there.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from data import read
from prepare import NONE, Item, key, write

SEED = 20_262
WORD = re.compile(r"\w+")
RUN = re.compile(r"[A-Z]\w*(?:[ '-]+(?:(?:of|de|the|van|von|and) )?[A-Z]\w*)*")
NAMING = 0.8
"""A word is part of a name if this share of its uses inside sentences begins with a capital."""
COPIES = 2
WEIGHT = 0.7
LEAST = 3
"""If fewer names than this follow a word (`directed Jaws`), any name with as many words will do."""
FILES = {"items": "others", "held": "others-held"}


class NamedQuestion(NamedTuple):
    """A name in a question."""

    item: Item
    start: int
    end: int

    @property
    def name(self) -> str:
        """The name, as the question writes it."""
        name: str = self.item[1][self.start : self.end]
        return name

    @property
    def place(self) -> tuple[str, int]:
        """The word before it, and its number of words.

        Names that share both are mostly of one kind.
        """
        before = WORD.findall(self.item[1][: self.start].lower())
        return (before[-1] if before else "", len(WORD.findall(self.name)))


def naming(passages: Iterable[str]) -> set[str]:
    """Return the words that mostly have a capital where no sentence begins."""
    capital: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for text in passages:
        for spot in WORD.finditer(text):
            word = spot.group()
            if word[0].islower():
                plain[word] += 1
            elif (
                word[0].isupper() and text[max(0, spot.start() - 2) : spot.start()][-2:-1].isalnum()
            ):
                capital[word.lower()] += 1
    return {word for word, count in capital.items() if count >= NAMING * (count + plain[word])}


def asked(items: Iterable[Item], names: set[str]) -> Iterator[NamedQuestion]:
    """Yield the longest name that a question shares with the passage that answers it."""
    for item in items:
        _, question, passage, start, end, *_ = item
        if start < 0:
            continue
        low, answer, found = question.lower(), passage[start:end].lower(), ""
        for name in {spot.group().lower() for spot in RUN.finditer(passage)}:
            words = WORD.findall(name)
            if (
                len(name) > max(2, len(found))
                and names.issuperset({words[0], words[-1]})
                and name not in answer
            ):
                found = name if re.search(rf"\b{re.escape(name)}\b", low) else found
        at = re.search(rf"\b{re.escape(found)}\b", low)
        if found and at and len(low) == len(question):
            yield NamedQuestion(item, *at.span())


def others(items: list[Item], names: set[str]) -> list[Item]:
    """Return the questions, about others."""
    chance = random.Random(SEED)  # noqa: S311
    found = list(asked(items, names))
    alike: dict[tuple[str, int], list[str]] = defaultdict(list)
    long: dict[int, list[str]] = defaultdict(list)
    for spot in found:
        alike[spot.place].append(spot.name)
        long[spot.place[1]].append(spot.name)
    made = []
    for spot in found:
        question, passage = spot.item[1], key(spot.item[2])
        pool = alike[spot.place] if len(set(alike[spot.place])) >= LEAST else long[spot.place[1]]
        for other in dict.fromkeys(chance.choices(pool, k=COPIES)):
            if key(other) not in passage:
                text = question[: spot.start] + other + question[spot.end :]
                made.append(["a", text, spot.item[2], NONE, NONE, 0, WEIGHT, "other"])
    return made


def main(arguments: list[str]) -> int:
    """Make the files."""
    folder = Path(arguments[0])
    names: set[str] | None = None
    for source, target in FILES.items():
        items = [item for item in read(folder / f"{source}.jsonl.xz") if item[0] == "a"]
        names = names if names is not None else naming({item[2] for item in items})
        made = others(items, names)
        sys.stdout.write(
            f"{target}: {len(made):,} items {write(folder / f'{target}.jsonl.xz', made)}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
