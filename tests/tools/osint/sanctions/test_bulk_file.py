"""A look-up in a bulk file: the user's own, or a copy from a local server."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Limit
from deepdiver.errors import CallError, CallFault, NotJournalledError, StoreError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.osint.sanctions.bulk_file import SERVICE, search_bulk_file
from deepdiver.tools.osint.sanctions.query import SanctionsQuery
from tests.tools.conftest import Desk
from tests.tools.osint.faults import check_row
from tests.tools.osint.sanctions.targets import ENTITIES, PETROV, bulk_file, table
from tests.tools.search.conftest import Service, reply

ASKED = SanctionsQuery("Петров Иван", "1961")


def local(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"home": tmp_path / "home", "sanctions_file": tmp_path / "targets.simple.csv", **more}


def remote(tmp_path: Path, url: str, **more: Any) -> dict[str, Any]:
    fast = {SERVICE: Limit(rate=1_000.0, concurrent=8)}
    return {
        "home": tmp_path / "home",
        "urls": {SERVICE: f"{url}/targets.simple.csv"},
        "limits": fast,
        **more,
    }


async def test_a_match(desk: Desk, tmp_path: Path) -> None:
    file = bulk_file(tmp_path)
    told = await search_bulk_file(ASKED, desk.gateway(**local(tmp_path)))
    (row,) = told.rows
    assert row.sentence == (
        'In OpenSanctions since 2022-03-02: "Ivan PETROV" (Q1, person, born 1961-05-02, Russia) is '
        "listed by eu_fsf "
        'and us_ofac_sdn; similarity 1.00 to the name asked, "Петров Иван", a match: '
        "transliterated from Cyrillic, "
        "word order, birth year agrees."
    )
    check_row(row)
    assert told.url == file.as_uri()
    assert told.summary == (
        '1 match and 0 possible matches for "Петров Иван" in 7 entities of targets.simple.csv of '
        "2026-11-14."
    )
    assert desk.everything().count(str(tmp_path)) <= desk.everything().count(file.as_uri())


async def test_no_match_is_stated_with_the_file_that_was_searched(
    desk: Desk, tmp_path: Path
) -> None:
    bulk_file(tmp_path)
    told = await search_bulk_file(SanctionsQuery("Oleg Kuznetsov"), desk.gateway(**local(tmp_path)))
    assert (
        told.summary
        == f'No match for "Oleg Kuznetsov" in {len(ENTITIES)} entities of targets.simple.csv of '
        "2026-11-14."
    )
    assert (told.rows, told.total) == ((), 0)


async def test_a_file_that_does_not_say_when_it_was_made(desk: Desk, tmp_path: Path) -> None:
    file = bulk_file(tmp_path, [{**PETROV, "last_seen": ""}])
    moment = datetime(2025, 3, 4, tzinfo=UTC).timestamp()
    os.utime(file, (moment, moment))
    told = await search_bulk_file(SanctionsQuery("Oleg Kuznetsov"), desk.gateway(**local(tmp_path)))
    assert told.summary.endswith("in 1 entities of targets.simple.csv of 2025-03-04.")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "breaks off"),
        (b"<!doctype html><title>Log in</title>\n", "no column"),
        (table().encode()[:-30], "breaks off"),
        (b"a" * 10_000_000, "breaks off"),
        (b"a,b\n" * 2_500_000, "no column"),
        (table().encode() + b"\xff\n", "UTF-8"),
    ],
)
async def test_a_file_that_is_not_a_bulk_file_is_an_error(
    desk: Desk, tmp_path: Path, raw: bytes, why: str
) -> None:
    (tmp_path / "targets.simple.csv").write_bytes(raw)
    with pytest.raises(CallError, match=why) as caught:
        await search_bulk_file(ASKED, desk.gateway(**local(tmp_path)))
    assert caught.value.fault is CallFault.MALFORMED
    assert str(tmp_path) not in str(caught.value)


async def test_a_missing_file_is_an_error(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(
        CallError, match=r"targets.simple.csv cannot be read: No such file"
    ) as caught:
        await search_bulk_file(ASKED, desk.gateway(**local(tmp_path)))
    assert caught.value.fault is CallFault.REQUEST


async def test_a_home_that_cannot_be_written(desk: Desk, tmp_path: Path) -> None:
    bulk_file(tmp_path)
    (tmp_path / "shut").write_text("in the way")
    with pytest.raises(StoreError):
        await search_bulk_file(ASKED, desk.gateway(**local(tmp_path, home=tmp_path / "shut")))


async def test_a_replay_needs_no_file(desk: Desk, tmp_path: Path) -> None:
    file = bulk_file(tmp_path)
    live = await search_bulk_file(ASKED, desk.gateway(**local(tmp_path)))
    file.unlink()
    assert (
        await search_bulk_file(
            ASKED, desk.gateway(Mode.REPLAY, **local(tmp_path, home=tmp_path / "elsewhere"))
        )
        == live
    )
    with pytest.raises(NotJournalledError):
        await search_bulk_file(
            SanctionsQuery("Oleg Kuznetsov"), desk.gateway(Mode.REPLAY, **local(tmp_path))
        )


async def test_another_run_searches_the_file_itself(desk: Desk, tmp_path: Path) -> None:
    bulk_file(tmp_path)
    gateway = desk.gateway(**local(tmp_path))
    assert (await search_bulk_file(SanctionsQuery("Star Light"), gateway)).total == 1
    bulk_file(tmp_path, [PETROV])
    other = desk.store.runs.get(desk.run).model_copy(update={"id": "20261115-desk-0001"})
    desk.store.runs.create(other)
    second = Desk(desk.store, other.id)
    assert (
        await search_bulk_file(SanctionsQuery("Star Light"), second.gateway(**local(tmp_path)))
    ).total == 0


async def test_a_copy_is_fetched_once_and_its_index_built_once(
    desk: Desk, tmp_path: Path, service: Service
) -> None:
    service.always = reply(table().encode(), ETag='"1"')
    gateway = desk.gateway(**remote(tmp_path, service.url))
    told = await search_bulk_file(ASKED, gateway)
    assert told.rows[0].data["id"] == "Q1"
    assert told.url == f"{service.url}/targets.simple.csv"
    assert "of targets.simple.csv of 2026-11-14" in told.summary
    (index,) = (tmp_path / "home" / "feeds").glob("*.index")
    made = index.stat().st_mtime_ns
    await search_bulk_file(SanctionsQuery("Star Light"), gateway)
    assert len(service.heard) == 1
    assert index.stat().st_mtime_ns == made


@pytest.mark.parametrize("raw", [b"", b"<html></html>\n", table().encode()[:-30]])
async def test_a_copy_that_is_not_a_bulk_file_is_an_error(
    desk: Desk, tmp_path: Path, service: Service, raw: bytes
) -> None:
    service.always = reply(raw)
    with pytest.raises(CallError) as caught:
        await search_bulk_file(ASKED, desk.gateway(**remote(tmp_path, service.url)))
    assert caught.value.fault is CallFault.MALFORMED
    assert all(row.state is CallState.FAILED for row in desk.store.journal.rows(desk.run))


async def test_the_last_copy_is_used_if_there_is_no_answer(
    desk: Desk, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.always = reply(table().encode())
    gateway = desk.gateway(**remote(tmp_path, service.url))
    await search_bulk_file(ASKED, gateway)
    monkeypatch.setattr("deepdiver.tools.osint.sanctions.bulk_file.FRESH_FOR", 0.0)
    service.always = reply(b"", "503 Service Unavailable")
    told = await search_bulk_file(SanctionsQuery("Star Light"), gateway)
    assert told.total == 1
    assert "from a copy of" in told.note
    assert "503" in told.note


async def test_an_unreachable_service_without_a_copy_is_an_error(
    desk: Desk, tmp_path: Path, nobody: str
) -> None:
    with pytest.raises(CallError) as caught:
        await search_bulk_file(ASKED, desk.gateway(**remote(tmp_path, nobody)))
    assert caught.value.fault is CallFault.UNREACHED
