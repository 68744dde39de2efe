"""Measures what a reading of many pages keeps of what answers, and for how many characters.

Three questions are looked into side by side, as a strategy does, over pages that are too many to be
read whole. Each question has evidence; a reading keeps it if a passage that it has chosen holds it.
Two sorts of pages are taken:

- folders of documents (`ask`), three together, each document as a page: 25 are on the matter asked
  about, which is hard to choose from;
- pages of an encyclopaedia (SQuAD 2): sixteen paragraphs that follow each other are a page, and of
  fifteen pages three hold an answer each.

The old way fills a share of the budget, which becomes smaller with each of five rounds; the sparing
way stops where the rest has little to add. Constants were chosen on folders D to F and the first
half of the pages (`dev`); without an argument, the others are measured.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from deepdiver.core.headings import Heading, marked_headings
from deepdiver.core.text import Span, words
from deepdiver.evals.public_sets import DATA
from deepdiver.strategies.shared.choose_passages import Unread, choose_passages
from deepdiver.tools.extract import Extractor

BUDGETS = (40_000, 30_000, 22_500, 16_900, 12_650)
"""The characters that five rounds may read: each a quarter of what those before it left of the
160,000 of the usual budget."""
TOGETHER = 3
"""Questions that are looked into side by side."""
HELD = 0.9
"""The part of the words of a piece of evidence that a passage has which holds it."""
PARAGRAPHS, PAGES, ASKED = 16, 15, 9
"""Paragraphs of a page, pages of a round, and questions that are taken of each page."""
Page = tuple[str, tuple[Heading, ...]]


@dataclass(frozen=True, slots=True)
class Round:
    """Questions that are looked into together."""

    questions: Sequence[str]
    """The questions."""
    pages: Sequence[Page]
    """Texts with their headings."""
    evidence: Sequence[Sequence[str]]
    """For each question, the pieces of text that answer it."""


def folders(letters: str, data: Path) -> Iterator[Round]:
    """Yield rounds over folders of documents, each document as a page."""
    files = sorted((data / "ask").glob(f"[{letters}]_*.questions.jsonl"))
    pages = [page for file in files for page in _pages_of(file)]
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        rows = [row for row in map(json.loads, lines) if row["answerable"] and row.get("evidence")]
        random.Random(1).shuffle(rows)  # noqa: S311 no secret
        for part in _together(rows):
            told = [[item["text"] for item in row["evidence"]] for row in part]
            yield Round([row["question"] for row in part], pages, told)


def _pages_of(file: Path) -> Iterator[Page]:
    """Yield the documents of a folder."""
    extractor = Extractor()
    docs = file.with_name(file.name.removesuffix(".questions.jsonl")) / "docs"
    for path in sorted(path for path in docs.rglob("*") if path.is_file()):
        document = extractor.extract(path.read_bytes(), name=path.name)
        yield document.text, marked_headings(document.marks)


def encyclopaedia(*, dev: bool, data: Path) -> Iterator[Round]:
    """Yield rounds over pages of an encyclopaedia."""
    file = data / "training" / "spans.squad2.devhalf.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["start"] >= 0]
    paragraphs = list(dict.fromkeys(row["context"] for row in rows))
    pages = ["\n\n".join(part) for part in _together(paragraphs, PARAGRAPHS)]
    half = pages[: len(pages) // 2] if dev else pages[len(pages) // 2 :]
    chance = random.Random(1)  # noqa: S311 no secret
    asked = []
    for page in half:
        own = [row for row in rows if row["context"] in page]
        asked += [(page, row) for row in chance.sample(own, min(len(own), ASKED))]
    chance.shuffle(asked)
    for part in _together(asked):
        answering = list(dict.fromkeys(page for page, _ in part))
        others = [page for page in half if page not in answering]
        shown = [*answering, *chance.sample(others, PAGES - len(answering))]
        chance.shuffle(shown)
        told = [[_around_answer(row)] for _, row in part]
        yield Round([row["question"] for _, row in part], [(page, ()) for page in shown], told)


def _around_answer(row: dict[str, Any]) -> str:
    """Return the answer with what surrounds it, so that the same word elsewhere does not count."""
    said: str = row["context"]
    start, end = row["start"], row["start"] + len(row["answer"])
    return said[max(said.rfind(" ", 0, max(start - 40, 0)), 0) : end + 1]


def _together(items: Sequence[Any], many: int = TOGETHER) -> Iterator[Sequence[Any]]:
    return (items[at : at + many] for at in range(0, len(items), many))


def measure(rounds: Sequence[Round], most: int, *, sparing: bool) -> tuple[float, float, float]:
    """Return the share of the evidence that is kept, of questions with some, and the characters."""
    kept = list[list[bool]]()
    sizes = list[int]()
    for asked in rounds:
        shown = _passages_chosen(asked, most, sparing=sparing)
        sizes.append(sum(map(len, shown)))
        said = [frozenset(words(passage)) for passage in shown]
        kept += [[_holds(said, piece) for piece in told] for told in asked.evidence]
    return mean(map(mean, kept)), mean(map(any, kept)), mean(sizes)


def _passages_chosen(asked: Round, most: int, *, sparing: bool) -> list[str]:
    texts = [Unread(text, [Span(0, len(text))], (), heads) for text, heads in asked.pages]
    parts = choose_passages(texts, asked.questions, most, sparing=sparing)
    return [span.of(read.text) for read, spans in zip(texts, parts, strict=True) for span in spans]


def _holds(shown: Sequence[frozenset[str]], told: str) -> bool:
    piece = frozenset(words(told))
    return any(len(piece & said) >= HELD * len(piece) for said in shown)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print."""
    if not DATA.is_dir():
        print(f"there is no evaluation data at {DATA}: nothing was measured")
        return 0
    dev = "dev" in arguments
    for name, rounds in (
        ("folders", list(folders("DEF" if dev else "ABC", DATA))),
        ("encyclopaedia", list(encyclopaedia(dev=dev, data=DATA))),
    ):
        print(f"{name}: {sum(len(item.questions) for item in rounds)} questions")
        for way, sparing in (("filled", False), ("sparing", True)):
            got = [measure(rounds, most, sparing=sparing) for most in BUDGETS]
            each = [mean(column) for column in zip(*got, strict=True)]
            for most, (pieces, some, size) in zip((*BUDGETS, "mean"), (*got, each), strict=True):
                print(f"  {way:8}{most:>7} {pieces:.3f} {some:.3f} {size:7.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
