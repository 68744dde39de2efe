from __future__ import annotations

from pathlib import Path

import pytest

from deepdiver.tools.library import make_sample_vectors
from deepdiver.tools.library.sample_vectors import load_sample_vectors


def test_the_file_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[str] = []

    def write(listed: list[str]) -> int:
        kept.extend(listed)
        return len(listed)

    monkeypatch.setattr(make_sample_vectors, "write_sample_vectors", write)
    assert make_sample_vectors.main() == 0
    assert f"{len(kept)} vectors in" in capsys.readouterr().out
    assert len(kept) == len(load_sample_vectors())
