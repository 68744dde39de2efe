"""The list of trusted files: by path and content, of the user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from deepdiver.core.settings_file import SettingsFile, read_settings_file
from deepdiver.core.trusted_files import FILE, Trust, TrustedFiles
from deepdiver.errors import SettingsError


def project(folder: Path, text: str = "model = 'openai:m'\n") -> SettingsFile:
    folder.mkdir(exist_ok=True)
    (folder / "deepdiver.toml").write_text(text, encoding="utf-8")
    file = read_settings_file(folder / "deepdiver.toml")
    assert file is not None
    return file


def test_nothing_is_trusted_at_first(tmp_path: Path) -> None:
    trusted = TrustedFiles(tmp_path / "kept")
    assert trusted.state(project(tmp_path / "p")) is Trust.NEW
    assert trusted.paths == []
    assert not (tmp_path / "kept").exists(), "looking leaves nothing behind"


def test_trust_is_of_this_content_at_this_place(tmp_path: Path) -> None:
    home, file = tmp_path / "kept", project(tmp_path / "p")
    TrustedFiles(home).add(file)
    again = TrustedFiles(home)
    assert again.state(file) is Trust.TRUSTED
    assert again.paths == [file.path]
    assert again.state(project(tmp_path / "p", "model = 'openai:n'\n")) is Trust.CHANGED
    assert again.state(project(tmp_path / "q")) is Trust.NEW, "the same content elsewhere"


def test_trusting_again_replaces_the_content(tmp_path: Path) -> None:
    trusted, old = TrustedFiles(tmp_path / "kept"), project(tmp_path / "p")
    trusted.add(old)
    new = project(tmp_path / "p", "model = 'openai:n'\n")
    trusted.add(new)
    assert trusted.state(new) is Trust.TRUSTED
    assert trusted.state(old) is Trust.CHANGED


def test_removing_takes_one_file_away(tmp_path: Path) -> None:
    home, one, two = tmp_path / "kept", project(tmp_path / "p"), project(tmp_path / "q")
    trusted = TrustedFiles(home)
    trusted.add(one)
    trusted.add(two)
    assert trusted.remove(one.path) is True
    assert trusted.remove(one.path) is False
    assert TrustedFiles(home).paths == [two.path]


def test_the_list_is_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        TrustedFiles(tmp_path / "kept").add(project(tmp_path / "p"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "kept" / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert [each.name for each in (tmp_path / "kept").iterdir()] == [FILE], "no draft is left"


def test_a_list_that_others_may_write_does_not_count(tmp_path: Path) -> None:
    home = tmp_path / "kept"
    TrustedFiles(home).add(project(tmp_path / "p"))
    (home / FILE).chmod(0o666)
    with pytest.raises(SettingsError, match=r"does not count, because everybody may write to it"):
        TrustedFiles(home)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"files": []}', '{"files": {"/x": 1}}', "[" * 100_000, "{}"]
)
def test_a_damaged_list_is_an_error_that_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SettingsError, match="it is damaged: move it away"):
        TrustedFiles(tmp_path)


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    file = project(tmp_path / name)
    TrustedFiles(tmp_path / "kept").add(file)
    again = TrustedFiles(tmp_path / "kept")
    assert again.state(file) is Trust.TRUSTED
    assert again.paths == [file.path]


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    with pytest.raises(SettingsError, match="cannot be written"):
        TrustedFiles(tmp_path / "kept").add(project(tmp_path / "p"))


def test_a_draft_that_cannot_take_its_place_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(SettingsError, match="cannot be written: No space left"):
        TrustedFiles(tmp_path / "kept").add(project(tmp_path / "p"))
    assert list((tmp_path / "kept").iterdir()) == []
