"""How well the library finds what is relevant.

SciFact, Cranfield, MuSiQue and HotpotQA, against their floors.

One engine and one set of constants for all four. Reads the evaluation data where it lies, beside
the repository, and says so where it is absent. The libraries stay in the system's folder for
temporary files: the first run embeds 16,000 passages, which takes minutes; later ones take what is
there. Names of collections narrow it to these.
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
from deepdiver.tools.library.local import LocalLibrary

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
KEPT = Path(tempfile.gettempdir()) / f"deepdiver-retrieval-{MODEL}"
"""Vectors of another model are of no use."""


def figures(name: str, kept: Path = KEPT) -> dict[str, float]:
    """Return what the library reaches on a collection."""
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
    """Measure, print, and say whether the floors were reached."""
    if not DATA.is_dir():
        print(f"the evaluation data is not at {DATA}: nothing was measured")
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
