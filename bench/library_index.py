"""What it takes to index and search 5,000 documents of 30 to 200 words, invented, in seconds of the processor.

Run it as it is, or with another number of documents; it ends with status 1 if it takes longer than its targets.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Sequence

from deepdiver.tools.library.documents import Document
from deepdiver.tools.library.index import Index

DOCUMENTS = 5_000
QUERIES = 100
SEED = 2026
INDEX_TARGET = 10.0
"""Seconds of this process: a third of what a search may take in all, the first one's indexing included."""
SEARCH_TARGET = 0.1
"""Seconds for the middle search."""
SYLLABLES = "ba de fi go hu ka le mi no pu ra se ti vo zu sta bren dor lind holm".split()


def vocabulary(chance: random.Random, size: int = 8_000) -> list[str]:
    """Invent words of two to four syllables."""
    return ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(size)]


def library(seed: int, count: int) -> list[Document]:
    """Invent documents whose words are as unevenly common as those of a language; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311
    known = vocabulary(chance)
    weights = [1 / rank for rank in range(1, len(known) + 1)]
    made = []
    for number in range(count):
        drawn = chance.choices(known, weights, k=chance.randint(30, 200))
        parts = [" ".join(drawn[at : at + 12]).capitalize() + "." for at in range(0, len(drawn), 12)]
        made.append(Document(f"invented:{number}", " ".join(drawn[:4]), " ".join(parts), {}))
    return made


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and say whether the targets were met."""
    count = int(arguments[0]) if arguments else DOCUMENTS
    documents = library(SEED, count)
    began = time.process_time()
    index = Index(documents, [])
    indexed = time.process_time() - began
    took = []
    for number in range(QUERIES):
        query = " ".join(documents[number * 37 % count].text.split()[:6])
        began = time.process_time()
        found = index.search(query, 6)
        took.append(time.process_time() - began)
        assert found, query
    middle = statistics.median(took)
    print(
        f"{count:,} documents indexed in {indexed:.2f} s, {indexed / count * 1e3:.2f} ms each (target {INDEX_TARGET} s)"
    )
    print(
        f"{middle * 1e3:.1f} ms a search (middle of {QUERIES}), {max(took) * 1e3:.1f} ms the longest "
        f"(target {SEARCH_TARGET * 1e3:.0f} ms)"
    )
    return 0 if indexed <= INDEX_TARGET and middle <= SEARCH_TARGET else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
