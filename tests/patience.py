"""How long a test waits: for as long as only something that hangs can take.

No test may depend on how fast the machine is, or on what else it does. A test that is about time
has a clock of its own, or waits for an event; everything else has this one generous bound. How fast
things are is measured in bench/.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 120.0
"""Seconds after which something that must come is taken to hang: many times what it needs."""


@contextmanager
def in_proportion() -> Iterator[None]:
    """See that a block does not hang in work that grows with the square of its input.

    Give it so much input that proportional work takes a second or so, and quadratic work many
    minutes.
    """
    began = time.process_time()
    yield
    seconds = time.process_time() - began
    assert seconds < PATIENCE, f"it took {seconds:.0f} s of processor time"


def read_patiently() -> None:
    """Let this process read documents for as long as it takes (see patient_worker)."""
    from deepdiver.tools.extract.workers import (
        pool,  # for those who ask: the callers of tests.warm do not
    )

    pool._MODULE = "tests.tools.extract.patient_worker"
    defaults = pool.Extractor.__init__.__kwdefaults__
    assert defaults is not None
    defaults["seconds"] = 2 * PATIENCE
