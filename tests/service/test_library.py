"""Files that users drop in: none leads out of their folder, none is half there."""

from __future__ import annotations

import asyncio
import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.errors import LimitReachedError, UnknownNameError, UsageError
from deepdiver.report.exports.formats import FORMATS
from deepdiver.run import replay
from deepdiver.service.accounts import Account
from deepdiver.service.library import (
    LONGEST_NAME,
    add_file,
    has_files,
    list_files,
    read_file,
    remove_file,
    safe_name,
    search_files,
)
from tests.service.rig import eventually, served, service

ADA, BOB = Account("ada"), Account("bob")
TEXT = b"Holm Works is owned by Karin Holm. It was founded in 1912."


@pytest.mark.parametrize("given", ["", ".", "..", "/", "...", " ", "\\", "a/..", "a\\.."])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        safe_name(given)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\notes.txt", "notes.txt"),
        (".bashrc", "bashrc"),
        ("a\0b\n.txt", "a_b_.txt"),
        ("año 2026.md", "año 2026.md"),
        ("x" * 300 + ".txt", "x" * (LONGEST_NAME - 4) + ".txt"),
    ],
)
def test_a_name_is_the_last_part_and_harmless(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@given(st.text(max_size=400))
def test_no_name_leads_anywhere(given: str) -> None:
    try:
        name = safe_name(given)
    except UsageError:
        return
    assert Path(name).name == name
    assert not name.startswith(".")
    assert len(name.encode()) <= LONGEST_NAME
    assert safe_name(name) == name


async def test_a_file_is_kept_read_found_and_removed_by_its_owner_alone(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        state = rig.state
        assert not has_files(state, ADA)
        assert list_files(state, ADA).files == ()
        assert search_files(state, ADA, "Holm") == ()
        add_file(state, ADA, "holm.txt", io.BytesIO(TEXT))
        add_file(state, ADA, "photo.png", io.BytesIO(b"\x89PNG\r\n\x1a\n" + bytes(20)))
        listed = list_files(state, ADA)
        read = {file.name: file for file in listed.files}
        assert read["holm.txt"].passages > 0
        assert read["holm.txt"].unread == ""
        assert read["photo.png"].unread
        assert listed.used == len(TEXT) + 28
        (found, *_) = search_files(state, ADA, "Who owns Holm Works?")
        assert found.name == "holm.txt"
        assert "Karin Holm" in found.text
        assert read_file(state, ADA, "holm.txt")[1].strip() == TEXT.decode()

        assert list_files(state, BOB).files == ()
        assert search_files(state, BOB, "Holm") == ()
        for name in ("holm.txt", "../ada/holm.txt", ""):
            with pytest.raises(UnknownNameError):
                read_file(state, BOB, name)
            with pytest.raises(UnknownNameError):
                remove_file(state, BOB, name)
        remove_file(state, ADA, "holm.txt")
        assert [file.name for file in list_files(state, ADA).files] == ["photo.png"]
        assert search_files(state, ADA, "Who owns Holm Works?") == ()
        assert [line.action for line in state.log.lines("ada")][:1] == ["library.remove"]


async def test_what_does_not_fit_or_is_empty_is_not_there_at_all(tmp_path: Path) -> None:
    small = Account("ada", bytes=10)
    async with service(tmp_path) as rig:
        add_file(rig.state, small, "a.txt", io.BytesIO(b"123456"))
        with pytest.raises(LimitReachedError):
            add_file(rig.state, small, "b.txt", io.BytesIO(b"12345"))
        with pytest.raises(UsageError, match="is empty"):
            add_file(rig.state, small, "c.txt", io.BytesIO(b""))
        assert [item.name for item in rig.state.folder_of(small).iterdir()] == ["a.txt"]
        add_file(rig.state, small, "a.txt", io.BytesIO(b"1234567890"))
        assert (rig.state.folder_of(small) / "a.txt").read_bytes() == b"1234567890"


def opened(name: str, made: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a file that was exported, as they can be read."""
    if made.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            for part in archive.namelist():
                yield from opened(f"{name} {part}", archive.read(part))
    elif made.startswith(b"%PDF"):
        pdf = pypdf.PdfReader(io.BytesIO(made))
        for part, held in pdf.attachments.items():
            yield from opened(f"{name} {part}", b"".join(held))
        yield name, "".join(page.extract_text() for page in pdf.pages).encode()
    yield name, made


def everything_of(run: str, client: httpx.Client) -> Iterator[tuple[str, bytes]]:
    """Yield whatever the service says of a run, in every format and on every page."""
    api, page = f"/api/v1/runs/{run}", f"/runs/{run}"
    paths = [api, f"{api}/events", f"{api}/report", f"{api}/report?format=json", page]
    paths += [f"{page}?view=steps", "/settings", "/library", "/history", "/"]
    paths += ["/library?q=Holm", "/library/files/holm.txt", "/api/v1/library/files", "/watching"]
    paths += ["/api/v1/library/search?q=Holm", "/api/v1/choices", "/api/v1/runs", "/runs/none"]
    paths += [f"{api}/exports/{name}" for name in FORMATS]
    for path in paths:
        answer = client.get(path, headers={"accept": "text/html" if path[:4] != "/api" else "*/*"})
        assert answer.status_code == (404 if path.endswith("none") else 200), path
        yield from opened(path, answer.content)
    told = client.post(f"{api}/ask", json={"question": "Who owns Holm Works?"})
    yield "a follow-up", told.content
    yield "a link", client.get(client.post(f"{api}/share").json()["path"]).content


def test_own_files_are_cited_by_their_names_never_by_where_they_are(tmp_path: Path) -> None:
    home = tmp_path / "somewhere" / "secret-place"
    text = b"Holm Works is owned by Karin Holm. Holm Works was founded in 1912."
    with served(home) as serving, httpx.Client(base_url=serving.url, timeout=120) as client:
        added = client.post("/api/v1/library/files", files={"files": ("holm.txt", text)})
        assert added.status_code == 201
        client.post("/api/v1/library/files", files={"files": ("photo.png", b"\x89PNG\0\1")})
        asked = {"question": "Who owns Holm Works?", "sources": ["files"]}
        run = client.post("/api/v1/runs", json=asked).json()["id"]
        eventually(lambda: client.get(f"/api/v1/runs/{run}").json()["finished"], 120)
        report = client.get(f"/api/v1/runs/{run}/report?format=json").json()
        assert {item["url"] for item in report["citations"]} == {"holm.txt"}
        looked = list(everything_of(run, client))
    assert {name for name, made in looked if b"secret-place" in made} == set()
    assert any(b"@home/files/_" in made for name, made in looked if "journal" in name)
    # So the home may be moved, and the run is still what it was.
    moved = tmp_path / "moved"
    shutil.move(home, moved)
    outcome = asyncio.run(replay(run, Settings(home=moved)))
    assert outcome.report is not None
    assert outcome.report.model_dump(mode="json") == report
