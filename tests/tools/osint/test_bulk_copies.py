"""Copies of bulk files from a real server: fetched once, updated, replaced, and used offline."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Deadlines
from deepdiver.errors import CallError, CallFault, StoreAccessError, StoreError
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.bulk_copies import BulkCopy, _age, fetch_copy
from deepdiver.tools.process_lock import hold_lock
from tests.patience import PATIENCE
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HOUR = 3_600.0


async def got(gateway: Gateway, url: str, now: datetime = NOON, **more: Any) -> BulkCopy:
    asked: dict[str, Any] = {"fresh_for": HOUR, "largest": 1_000, **more}
    return await fetch_copy("cisa_kev", f"{url}/kev.json", gateway, now=now, **asked)


@pytest.fixture
def gateway(desk: Desk, tmp_path: Path) -> Gateway:
    return desk.gateway(home=tmp_path / "home")


def left(tmp_path: Path) -> list[str]:
    """List what is in the folder besides the lock."""
    return sorted(
        path.name for path in (tmp_path / "home" / "feeds").iterdir() if path.suffix != ".lock"
    )


# What goes wrong, first.


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (reply(b"", "500 Internal Server Error"), CallFault.SERVER),
        (reply(b"", "403 Forbidden"), CallFault.AUTH),
        (reply(b"", "404 Not Found"), CallFault.REQUEST),
        (reply(b"", "302 Found", Location="https://example.org/"), CallFault.REQUEST),
        (reply(b"", "429 Too Many Requests", Retry_After="7"), CallFault.RATE),
        (reply(b"", "304 Not Modified"), CallFault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", CallFault.NETWORK),
        (reply(b"x" * 1_001), CallFault.MALFORMED),
        (reply(b"no gzip", Content_Encoding="gzip"), CallFault.MALFORMED),
    ],
)
async def test_with_neither_answer_nor_copy_it_fails_and_leaves_nothing(
    gateway: Gateway, service: Service, tmp_path: Path, said: bytes, fault: CallFault
) -> None:
    service.always = said
    with pytest.raises(CallError) as caught:
        await got(gateway, service.url)
    assert caught.value.fault is fault
    assert caught.value.retry_after == (7.0 if fault is CallFault.RATE else None)
    assert service.url not in str(caught.value)
    assert left(tmp_path) == []


async def test_an_unreachable_service_without_a_copy_is_an_error(
    gateway: Gateway, nobody: str
) -> None:
    with pytest.raises(CallError) as caught:
        await got(gateway, nobody)
    assert caught.value.fault is CallFault.UNREACHED


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (reply(b"", "500 Internal Server Error"), "cisa_kev answered 500"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
            "cisa_kev was lost: RemoteProtocolError",
        ),
        (reply(b"x" * 1_001), "cisa_kev answered with more than 1,000 bytes"),
        (reply(b"<html>Log in</html>"), "cisa_kev sent a file that is not its own: no JSON"),
    ],
)
async def test_an_answer_that_is_not_the_file_leaves_the_last_copy(
    gateway: Gateway, service: Service, tmp_path: Path, said: bytes, why: str
) -> None:
    def check(path: Path) -> None:
        if not path.read_bytes().startswith(b"{"):
            raise ValueError("no JSON")

    service.once = [reply(b"{}")]
    service.always = said
    first = await got(gateway, service.url, check=check)
    before = left(tmp_path)
    later = await got(gateway, service.url, NOON + timedelta(hours=26), check=check)
    assert later == BulkCopy(
        first.path, NOON, f"from a copy of 2026-11-15 12:00 UTC, 26 hours old; {why}"
    )
    assert later.path.read_bytes() == b"{}"
    assert left(tmp_path) == before


async def test_offline_the_last_copy_is_used(
    gateway: Gateway, service: Service, nobody: str, tmp_path: Path
) -> None:
    service.always = reply(b"{}")
    await got(gateway, service.url)
    known = tmp_path / "home" / "feeds" / "cisa_kev.json"
    known.write_text(known.read_text().replace(service.url, nobody))
    later = await got(gateway, nobody, NOON + timedelta(days=4))
    assert (
        later.note
        == "from a copy of 2026-11-15 12:00 UTC, 4 days old; the service could not be reached"
    )


async def test_a_copy_from_another_address_does_not_count(
    gateway: Gateway, service: Service, nobody: str
) -> None:
    service.always = reply(b"{}")
    await got(gateway, service.url)
    with pytest.raises(CallError):
        await got(gateway, nobody)


@pytest.mark.parametrize("damage", ["missing", "short", "no json", "another form", "outside"])
async def test_a_damaged_copy_is_fetched_again(
    gateway: Gateway, service: Service, tmp_path: Path, damage: str
) -> None:
    service.always = reply(b'{"whole": true}', ETag='"1"')
    first = await got(gateway, service.url)
    known = tmp_path / "home" / "feeds" / "cisa_kev.json"
    match damage:
        case "missing":
            first.path.unlink()
        case "short":
            first.path.write_bytes(b"{")
        case "no json":
            known.write_bytes(known.read_bytes()[:-10])
        case "another form":
            known.write_text("[]")
        case "outside":
            known.write_text(
                json.dumps({**json.loads(known.read_text()), "file": "../../etc/passwd"})
            )
    again = await got(gateway, service.url)
    assert again.path.read_bytes() == b'{"whole": true}'
    assert again.note == ""
    assert "if-none-match" not in service.heard[1].lower()


async def test_a_late_service_is_waited_for_only_without_a_copy(
    desk: Desk, service: Service, tmp_path: Path
) -> None:
    gateway = desk.gateway(home=tmp_path / "home", deadlines=Deadlines(feed=0.6))
    service.always, service.after = reply(b"{}"), 0.5
    assert (
        await got(gateway, service.url)
    ).note == ""  # longer than half the deadline, and there was nothing else
    later = await got(gateway, service.url, NOON + timedelta(hours=2))
    assert later.note.endswith("2 hours old; the service gave nothing new within 0.3 s")
    longer = await got(gateway, service.url, NOON + timedelta(hours=2), within=PATIENCE)
    assert longer.note == ""


async def test_a_home_that_cannot_be_written_is_an_error(
    desk: Desk, service: Service, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "feeds").write_text("a file where the folder should be")
    with pytest.raises(StoreAccessError):
        await got(desk.gateway(home=tmp_path / "home"), service.url)
    assert service.heard == []


async def test_a_full_disk_is_an_error(
    gateway: Gateway, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    service.always = reply(b"{}")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="disk is full"):
        await got(gateway, service.url)
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", ["", "../kev", "KEV", "a-b", "a" * 41])
async def test_an_invalid_name_is_refused(gateway: Gateway, service: Service, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be called"):
        await fetch_copy(name, service.url, gateway, fresh_for=1.0, largest=1)
    assert service.heard == []


# What it does.


async def test_a_new_copy_makes_no_request(gateway: Gateway, service: Service) -> None:
    service.always = reply(b"{}")
    first = await got(gateway, service.url)
    assert (first.note, first.fetched, first.path.read_bytes()) == ("", NOON, b"{}")
    second = await got(gateway, service.url, NOON + timedelta(minutes=59))
    assert second == BulkCopy(
        first.path, NOON, "from a copy of 2026-11-15 12:00 UTC, 59 minutes old"
    )
    assert len(service.heard) == 1


async def test_a_clock_that_was_set_back_does_not_make_a_copy_fresh_for_ever(
    gateway: Gateway, service: Service
) -> None:
    service.always = reply(b"{}")
    await got(gateway, service.url)
    await got(gateway, service.url, NOON - timedelta(days=300))
    assert len(service.heard) == 2


async def test_the_clock_is_the_default(gateway: Gateway, service: Service) -> None:
    service.always = reply(b"{}")
    began = datetime.now(UTC)
    copy = await fetch_copy("cisa_kev", service.url, gateway, fresh_for=HOUR, largest=10)
    assert began <= copy.fetched <= datetime.now(UTC)


async def test_an_unchanged_copy_counts_again(
    gateway: Gateway, service: Service, tmp_path: Path
) -> None:
    changed = "Sat, 14 Nov 2026 08:00:00 GMT"
    service.once = [reply(b"{}", ETag='"v1"', Last_Modified=changed)]
    service.always = reply(b"", "304 Not Modified")
    first = await got(gateway, service.url)
    later = NOON + timedelta(hours=2)
    second = await got(gateway, service.url, later)
    assert (second.path, second.fetched, second.note) == (first.path, later, "")
    head = service.heard[1]
    assert 'if-none-match: "v1"' in head.lower()
    assert f"if-modified-since: {changed}".lower() in head.lower()
    await got(gateway, service.url, later + timedelta(minutes=30))
    assert len(service.heard) == 2
    await got(gateway, service.url, later + timedelta(hours=2))  # 304 without marks forgets none
    assert 'if-none-match: "v1"' in service.heard[2].lower()


async def test_a_new_version_replaces_the_old_one_which_stays_for_its_readers(
    gateway: Gateway, service: Service, tmp_path: Path
) -> None:
    service.once = [reply(b"first"), reply(b"second"), reply(b"third"), reply(b"third")]
    found = [await got(gateway, service.url, NOON + timedelta(hours=2 * turn)) for turn in range(4)]
    assert [copy.path.name for copy in found[2:]] == [found[2].path.name] * 2
    assert found[3].path.read_bytes() == b"third"
    assert found[1].path.read_bytes() == b"second"
    assert not found[0].path.exists()
    assert left(tmp_path) == sorted(["cisa_kev.json", found[1].path.name, found[3].path.name])


async def test_one_of_another_name_is_left_alone(gateway: Gateway, service: Service) -> None:
    service.always = reply(b"{}")
    kev = await got(gateway, service.url)
    other = await fetch_copy("cisa", service.url, gateway, fresh_for=0.0, largest=10, now=NOON)
    for _ in range(3):
        service.once = [reply(str(_).encode())]
        await fetch_copy("cisa", service.url, gateway, fresh_for=0.0, largest=10, now=NOON)
    assert kev.path.exists()
    assert not other.path.exists()


async def test_drafts_of_a_killed_process_are_cleared(
    gateway: Gateway, service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "feeds"
    folder.mkdir(parents=True)
    (folder / "cisa_kev-abc.part").write_bytes(b"half")
    service.always = reply(b"{}")
    copy = await got(gateway, service.url)
    assert left(tmp_path) == sorted(["cisa_kev.json", copy.path.name])


async def test_a_cancelled_fetch_leaves_nothing_and_releases_the_lock(
    gateway: Gateway, service: Service, tmp_path: Path
) -> None:
    service.always, service.after = reply(b"{}"), 30.0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await got(gateway, service.url)
    assert left(tmp_path) == []
    service.after = 0.0
    assert (await got(gateway, service.url)).note == ""


async def test_many_at_once_ask_once(gateway: Gateway, service: Service) -> None:
    service.always, service.after = reply(b"{}"), 0.3
    found = await asyncio.gather(*(got(gateway, service.url) for _ in range(5)))
    assert len(service.heard) == 1
    assert len({copy.path for copy in found}) == 1


async def test_while_another_process_updates_the_old_copy_will_do(
    gateway: Gateway, service: Service, tmp_path: Path
) -> None:
    service.always = reply(b"{}")
    await got(gateway, service.url)
    with hold_lock(tmp_path / "home" / "feeds" / "cisa_kev.lock", 0.0):
        later = await got(gateway, service.url, NOON + timedelta(hours=2), within=0.5)
    assert "nothing new within 0.5 s" in later.note
    assert len(service.heard) == 1


async def test_it_is_streamed_to_disk(gateway: Gateway) -> None:
    """A file of 64 MB passes in pieces.

    What is held in memory at one time is far below its size.
    """
    piece, pieces = b"x" * 1_000_000, 64

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(piece) * pieces}\r\n\r\n".encode())
        for _ in range(pieces):
            writer.write(piece)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        tracemalloc.start()
        try:
            copy = await got(gateway, url, largest=len(piece) * pieces)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert copy.path.stat().st_size == len(piece) * pieces
    assert most < 16_000_000


PROCESS = """
import asyncio, sys
from pathlib import Path
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tools.osint.bulk_copies import fetch_copy

url, home = sys.argv[1:]
store = open_sqlite(Path(home) / "store")
run = Run(id="20261115-copy-0000", question="?", strategy="popper", settings={},
          created="2026-11-15T09:00:00+00:00", version="0.1.0")
gateway = Gateway(store, run.id, Settings(home=Path(home)), lambda event: None)
copy = asyncio.run(fetch_copy("cisa_kev", url, gateway, fresh_for=3600.0, largest=100))
print(copy.path.read_text())
"""


async def test_two_processes_at_once_fetch_one_file(service: Service, tmp_path: Path) -> None:
    service.always, service.after = reply(b"whole"), 0.5

    async def one() -> tuple[int | None, bytes, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROCESS, service.url, str(tmp_path / "home"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate()
        return process.returncode, out, err

    for code, out, err in await asyncio.gather(one(), one()):
        assert (code, out) == (0, b"whole\n"), err
    assert len(service.heard) == 1


async def test_the_user_agent_is_sent_and_nothing_is_logged(
    desk: Desk, service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.always = reply(b"{}")
    await got(desk.gateway(home=tmp_path / "home", contact="me@example.org"), service.url)
    assert "me@example.org" in service.heard[0]
    assert "me@example.org" not in caplog.text


@given(st.floats(min_value=-1e6, max_value=1e9))
def test_an_age_is_a_number_and_a_unit(seconds: float) -> None:
    count, unit = _age(seconds).split()
    length = {"day": 86_400, "hour": 3_600, "minute": 60}[unit.rstrip("s")]
    assert int(count) * length <= max(seconds, 0.0) < (int(count) + 1) * length
    assert unit.endswith("s") == (count != "1")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 minutes"),
        (61, "1 minute"),
        (3_600, "1 hour"),
        (93_600, "26 hours"),
        (259_200, "3 days"),
    ],
)
def test_ages_in_words(seconds: float, told: str) -> None:
    assert _age(seconds) == told
