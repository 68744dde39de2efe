"""Measures the library's retrieval on SciFact, Cranfield, MuSiQue and HotpotQA, against floors.

All four use one engine and one set of constants. The evaluation data is read from beside the
repository; if it is missing, nothing is measured. The libraries are kept in the system's folder for
temporary files: the first run embeds 16,000 passages, which takes minutes; later runs use them
again. Name collections to measure only those.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from deepdiver.encoders.embed import MODEL
from deepdiver.evals.floors import retrieval_floors
from deepdiver.evals.retrieval import COLLECTIONS, measure_ranking, ranker, write_corpus
from deepdiver.tools.library.local.library import LocalLibrary

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
KEPT = Path(tempfile.gettempdir()) / f"deepdiver-retrieval-{MODEL}"
"""The folder's name includes the model, because vectors of another model are of no use."""


def figures(name: str, kept: Path = KEPT) -> dict[str, float]:
    """Return the library's figures on a collection."""
    corpus = COLLECTIONS[name](DATA)
    write_corpus(corpus, kept / name / "files")
    library = LocalLibrary(kept / name / "library")
    try:
        library.refresh([kept / name / "files"])
        library.embed()
        return measure_ranking(corpus, ranker(library))
    finally:
        library.close()


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and return 1 if a floor is missed."""
    if not DATA.is_dir():
        print(f"there is no evaluation data at {DATA}: nothing was measured")
        return 0
    missed = 0
    for name in arguments or COLLECTIONS:
        began = time.monotonic()
        reached = figures(name)
        for what, floor in retrieval_floors()[name].items():
            missed += reached[what] < floor
            print(f"{name:<10} {what:<14} {reached[what]:.3f} (floor {floor})")
        print(f"{name:<10} {time.monotonic() - began:.0f} s", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
