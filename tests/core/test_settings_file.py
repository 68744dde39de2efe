"""A settings file counts only if nobody but the user can have written it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from deepdiver.core import settings_file as module
from deepdiver.core.identity import digest
from deepdiver.core.settings_file import LARGEST, read_settings_file
from deepdiver.errors import SettingsError

Foreign = Callable[[Path], Path]
NOBODY = 65_534


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Foreign:
    """Make a file another user's: give it away, or else be somebody else."""

    def give_away(path: Path) -> Path:
        me = os.geteuid()
        if me:
            monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        else:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        return path

    return give_away


def made(path: Path, text: str = "retries = 1\n", mode: int = 0o644) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def doubt_about(path: Path) -> str:
    file = read_settings_file(path)
    assert file is not None
    assert bool(file.doubt) != bool(file.text), "a file that does not count has no content"
    return file.doubt


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o640])
def test_ones_own_file_counts(tmp_path: Path, mode: int) -> None:
    file = read_settings_file(made(tmp_path / "own.toml", mode=mode))
    assert file is not None
    assert (file.doubt, file.text) == ("", "retries = 1\n")
    assert file.sha256 == digest("retries = 1\n")


def test_no_file_is_none(tmp_path: Path) -> None:
    assert read_settings_file(tmp_path / "absent") is None
    made(tmp_path / "file")
    assert read_settings_file(tmp_path / "file" / "below") is None


def test_another_users_file_does_not_count(tmp_path: Path, foreign: Foreign) -> None:
    assert doubt_about(foreign(made(tmp_path / "x"))) == "it belongs to another user"


def test_nor_one_that_cannot_even_be_opened(
    tmp_path: Path, foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = foreign(made(tmp_path / "x", mode=0o600))
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("it was opened"))
    assert doubt_about(path) == "it belongs to another user"


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o602])
def test_a_file_that_everybody_may_write_does_not_count(tmp_path: Path, mode: int) -> None:
    assert doubt_about(made(tmp_path / "x", mode=mode)) == "everybody may write to it (chmod go-w)"


def test_nor_one_that_a_group_may_write(tmp_path: Path) -> None:
    path = made(tmp_path / "x", mode=0o664)
    if not os.geteuid():
        os.chown(path, 0, NOBODY)
        assert doubt_about(path) == "its group may write to it (chmod g-w)"


def test_a_group_with_one_member_is_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp
    import pwd

    path = made(tmp_path / "x", mode=0o664)
    held = path.stat()
    me = pwd.struct_passwd(("me", "x", held.st_uid, held.st_gid, "", "/", ""))
    other = pwd.struct_passwd(("other", "x", 4_711, held.st_gid, "", "/", ""))
    users, members = [me], ["me"]
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: me)
    monkeypatch.setattr(pwd, "getpwall", lambda: users)
    monkeypatch.setattr(
        grp, "getgrgid", lambda gid: grp.struct_group(("me", "x", gid, list(members)))
    )
    assert doubt_about(path) == ""
    members.append("guest")
    assert "its group" in doubt_about(path)
    members.remove("guest")
    users.append(other)  # it is the first group of another user, who is not listed as a member
    assert "its group" in doubt_about(path)


def test_a_group_that_nobody_knows_is_not_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert "its group" in doubt_about(made(tmp_path / "x", mode=0o664))


def test_another_users_link_to_ones_own_file_does_not_count(
    tmp_path: Path, foreign: Foreign
) -> None:
    made(tmp_path / "downloaded")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "downloaded")
    assert doubt_about(link) == ""
    assert doubt_about(foreign(link)) != ""


def test_a_link_leads_to_the_path_of_the_file(tmp_path: Path) -> None:
    made(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    file = read_settings_file(tmp_path / "link")
    assert file is not None
    assert file.path == (tmp_path / "real").resolve()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_settings_file(tmp_path / "pipe") == module.SettingsFile(
        (tmp_path / "pipe").resolve(), doubt="it is not a regular file"
    )


def test_nor_is_one_that_takes_the_place_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "x")
    really_open = os.open

    def swap(name: Path, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return really_open(name, flags)

    monkeypatch.setattr(os, "open", swap)
    assert doubt_about(path) == "it is not a regular file"


def test_a_file_that_is_swapped_after_the_look_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, theirs = made(tmp_path / "x"), made(tmp_path / "theirs", "retries = 2\n", 0o666)
    really_open = os.open

    def swap(name: Path, flags: int) -> int:
        theirs.replace(path)
        return really_open(name, flags)

    monkeypatch.setattr(os, "open", swap)
    assert doubt_about(path) == "everybody may write to it (chmod go-w)"


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff\xfe", "codec can't decode"), (b"#" * (LARGEST + 1), "more than 1,000,000 bytes")],
    ids=["not-utf8", "huge"],
)
def test_a_file_of_ones_own_that_cannot_be_read_is_an_error(
    tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(SettingsError, match=r"x cannot be read: .*Correct the file") as caught:
        read_settings_file(tmp_path / "x")
    assert says in str(caught.value)


def test_a_folder_and_a_loop_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it is a folder"):
        read_settings_file(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings_file(tmp_path / "loop")


def test_where_modes_say_nothing_they_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "x", mode=0o666)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    monkeypatch.delattr(os, "geteuid")
    assert doubt_about(path) == ""
