"""Ways to tamper with a report, each a change of its record as JSON, drawn by chance."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Record = dict[str, Any]
Mutation = Callable[[Record, random.Random], None]


def cited_sentences(report: Record) -> list[Record]:
    """Return the facts and calculations that cite something."""

    def lines() -> Iterator[Record]:
        yield from report["answer"]
        for section in report["sections"]:
            yield from section["sentences"]
            for block in section.get("blocks", ()):
                for row in block["rows"]:
                    yield from row

    return [
        item for item in lines() if item["kind"] in ("fact", "calculation") and item["citations"]
    ]


def _in_text(
    report: Record, chance: random.Random, wanted: str, change: Callable[[str], str]
) -> None:
    """Change one place of one sentence that a pattern finds."""
    found = [
        (item, match)
        for item in cited_sentences(report)
        for match in re.finditer(wanted, item["text"])
    ]
    item, match = chance.choice(found)
    text = item["text"]
    item["text"] = text[: match.start()] + change(match[0]) + text[match.end() :]


def a_digit(report: Record, chance: random.Random) -> None:
    _in_text(report, chance, r"\d", lambda old: str((int(old) + chance.randrange(1, 10)) % 10))


def a_name(report: Record, chance: random.Random) -> None:
    others = ["Greta", "Olof", "Maja"]
    _in_text(
        report, chance, r"\b(?:Alma|Hjalmar|Siri|Tyra|Eskil)\b", lambda _: chance.choice(others)
    )


def a_swapped_source(report: Record, chance: random.Random) -> None:
    item = chance.choice(report["citations"])
    others = [other for other in report["citations"] if other["source"] != item["source"]]
    item["source"] = chance.choice(others)["source"]


def a_moved_offset(report: Record, chance: random.Random) -> None:
    span = chance.choice(report["citations"])["passage"]
    by = chance.choice([1, 2, 3, 9, 40])
    span["start"] += by
    span["end"] += by


def an_invented_address(report: Record, chance: random.Random) -> None:
    chance.choice(report["citations"])["url"] = f"https://invented.example/{chance.random()}"


def a_letter_of_a_quote(report: Record, chance: random.Random) -> None:
    item = chance.choice(report["citations"])
    at = chance.randrange(len(item["quote"]))
    new = "y" if item["quote"][at] == "x" else "x"
    item["quote"] = item["quote"][:at] + new + item["quote"][at + 1 :]


def another_citation(report: Record, chance: random.Random) -> None:
    item = chance.choice(cited_sentences(report))
    others = {other["number"] for other in report["citations"]} - set(item["citations"])
    item["citations"] = [chance.choice(sorted(others))]


def a_result(report: Record, chance: random.Random) -> None:
    made = chance.choice(report["derivations"])
    made["result"] = str(int(made["result"]) + chance.choice([-2, -1, 1, 3]))


STRUCTURAL: tuple[Mutation, ...] = (
    a_swapped_source,
    a_moved_offset,
    an_invented_address,
    a_letter_of_a_quote,
    another_citation,
    a_result,
)
IN_WORDS: tuple[Mutation, ...] = (a_digit, a_name)
