"""Documents are read here as the program reads them, with its own limits."""

from __future__ import annotations

import pytest

from deepdiver.tools.extract.workers import pool


@pytest.fixture(autouse=True)
def _limits_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MODULE", "deepdiver.tools.extract.workers.worker")
    defaults = pool.Extractor.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "seconds", pool.SECONDS)
