"""The process that reads documents, for tests: it is not nice, and has as long as it takes.

The program gives a document a few seconds, in a process that lets all others go first. On a machine
that is busy with something else that is too short for an honest page.
"""

from __future__ import annotations

import sys

from deepdiver.tools.extract import document_draft
from deepdiver.tools.extract.workers import limits, worker
from tests.patience import PATIENCE

if __name__ == "__main__":
    limits.NICENESS = 0
    limits.WALL_SECONDS = document_draft.SECONDS = PATIENCE
    sys.exit(worker.main(sys.argv[1:]))
