from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from deepdiver.encoders import shipped
from deepdiver.encoders.vectors import DOT
from deepdiver.errors import DamagedStoreError, StoreAccessError

CONTENT = b"what we shipped"
HASH = hashlib.sha256(CONTENT).hexdigest()


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match=r"absent cannot be read \(No such file.*\): install deepdiver again"):
        shipped.read(tmp_path / "absent", HASH)


def test_a_folder_in_its_place_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match="install deepdiver again"):
        shipped.read(tmp_path, HASH)


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT + b"\n", CONTENT.replace(b"w", b"v")])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(DamagedStoreError, match=r"file is damaged .*install deepdiver again"):
        shipped.read(file, HASH)


def test_the_file_itself_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(CONTENT)
    assert shipped.read(file, HASH) == CONTENT


@pytest.mark.parametrize("intra_op", [0, 1, 2])
def test_a_session_runs_on_the_processor(intra_op: int, capfd: pytest.CaptureFixture[str]) -> None:
    session = shipped.session(DOT.read_bytes(), intra_op)
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_session_options().intra_op_num_threads == intra_op
    rows, columns = np.full((3, 2), 130, np.uint8), np.full((2, 1), 125, np.uint8)
    (dots,) = session.run(None, {"rows": rows, "columns": columns})
    assert dots.tolist() == [[-12]] * 3
    assert capfd.readouterr() == ("", "")
