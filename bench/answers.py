"""How good the embedded reasoner is on public sets.

Answers, conflicts, claims, whole reports; each beside its floor.

Reads the evaluation data where it lies, beside the repository, and says so where it is absent.
Names of sets narrow it to these; all of them take about half an hour on two cores, the first time
with the embedding of two corpora. Libraries and runs stay in the system's folder for temporary
files.
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
    """Measure, print, and say whether the floors were reached.

    An aim that is not reached yet is told as such.
    """
    if not DATA.is_dir():
        print(f"the evaluation data is not at {DATA}: nothing was measured")
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
