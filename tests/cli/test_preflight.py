"""What is checked before a run starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.preflight import check_out, language_note
from deepdiver.core.settings import load
from deepdiver.errors import (
    UsageError,
)

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(20)

# What is checked before


@pytest.mark.parametrize(
    "flags",
    [
        {"documents": []},
        {"model": "openai:gpt-5-mini"},
        {"search": ["tavily"]},
    ],
    ids=str,
)
def test_no_word_about_the_language_where_it_is_no_matter(
    tmp_path: Path, flags: dict[str, Any]
) -> None:
    (tmp_path / "a.md").write_text("Der Hafen von Lund wurde im Jahr 1904 von der Stadt eröffnet.")
    settings = load(
        {"home": tmp_path / "elsewhere", "documents": [tmp_path], **flags},
        environ={},
        folder=tmp_path,
    )
    assert language_note("When was the harbour of Lund opened?", settings) == ""
    assert not (tmp_path / "elsewhere").exists(), "no library is opened for it"


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for folder in (file, file / "below", Path("/proc/nowhere")):
        with pytest.raises(UsageError, match=r"cannot write to .+ \(.+\): give another --out"):
            check_out(folder)


def test_a_folder_that_can_be_written_to_is_made(tmp_path: Path) -> None:
    check_out(None)
    check_out(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
