"""Measures the embedded reasoner on public sets: answers, conflicts, claims and whole reports.

Each figure is printed beside its floor. The evaluation data is read from beside the repository; if
it is missing, nothing is measured. Name sets to measure only those; all of them take about half an
hour on two cores, the first time with the embedding of two corpora. Libraries and runs are kept in
the system's folder for temporary files.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from deepdiver.core.settings import load
from deepdiver.evals.evaluate_sets import EvalRequest, evaluate_sets
from deepdiver.evals.floors import bounds, missed
from deepdiver.evals.public_sets import DATA

SETS = ("multihop", "conflict/ramdocs", "citation", "reading/pubmedqa", "drbench")
KEPT = Path(tempfile.gettempdir()) / "deepdiver-answers"


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print, and return 1 if a floor is missed; a target is only marked as missed."""
    if not DATA.is_dir():
        print(f"there is no evaluation data at {DATA}: nothing was measured")
        return 0
    below = 0
    settings = load({"home": KEPT}, environ={})
    for name in arguments or SETS:
        began = time.monotonic()
        for result, folder in evaluate_sets(
            EvalRequest(name), settings, lambda _: None, lambda *_: None
        ):
            figures = result["figures"]
            for bound in bounds(result["set"]):
                if bound.figure in figures:
                    reached = "" if bound.met(figures[bound.figure]) else ", not reached"
                    print(
                        f"{result['set']:<18} {bound.figure:<22} {figures[bound.figure]:.3f} "
                        f"({bound}{reached})"
                    )
            for loss, count in list(result["losses"].items())[:3]:
                print(f"{result['set']:<18} lost {count}: {loss}")
            print(f"{result['set']:<18} {folder / 'page.html'}")
            below += len(missed(result["set"], figures))
        print(f"{name:<18} {time.monotonic() - began:.0f} s", flush=True)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
