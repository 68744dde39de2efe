"""A run killed at any instant goes on: nothing is lost, nothing that was answered is bought again."""

from __future__ import annotations

import collections
import contextlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.run.zygote import Zygote
from tests.servers.apart import ServerApart


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as started:
        yield started


@pytest.fixture(scope="module")
def server() -> Iterator[ServerApart]:
    with ServerApart() as started:
        yield started


@pytest.fixture(scope="module")
def whole(zygote: Zygote, server: ServerApart, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run that nobody kills."""
    told = zygote.job(home=str(tmp_path_factory.mktemp("whole")), url=server.url)
    assert told["status"] == "answered", told
    return told


def sent_now(home: Path) -> set[str]:
    """The calls that were in flight when the process died."""
    with contextlib.closing(sqlite3.connect(home / "deepdiver.db")) as database:
        return {key for (key,) in database.execute("SELECT key FROM journal WHERE state = 'sent'")}


def requests(server: ServerApart, since: int) -> collections.Counter[str]:
    """What the server was asked, each distinct request with its number."""
    asked = [entry for entry in server.log()[since:] if entry["path"] != "/log"]
    return collections.Counter(f"{entry['path']} {json.dumps(entry['body'], sort_keys=True)}" for entry in asked)


def kill_and_resume(zygote: Zygote, server: ServerApart, home: Path, point: int, **job: Any) -> dict[str, int]:
    before = len(server.log())
    killed = zygote.job(home=str(home), url=server.url, kill_at=point, **job)
    assert killed == {"killed": True}
    in_flight = sent_now(home)
    told = zygote.job(home=str(home), url=server.url, **job)
    repeats = sum(number - 1 for number in requests(server, before).values())
    rows = {row["key"]: row for row in told["rows"]}
    assert repeats <= len(in_flight), f"point {point}: {repeats} requests repeated, {len(in_flight)} were in flight"
    for key, row in rows.items():
        assert row["state"] == "settled", f"point {point}: {row}"
        assert row["sends"] == 1 or key in in_flight, f"point {point}: a settled call was sent again: {row}"
    assert set(told["uncertain"]) == in_flight, f"point {point}: not every call in doubt is listed"
    return {"repeats": repeats, "in_flight": len(in_flight), "lost": int(told["status"] != "answered"), **told}


def test_two_runs_that_nobody_kills_give_one_report(
    zygote: Zygote, server: ServerApart, whole: dict[str, Any], tmp_path: Path
) -> None:
    again = zygote.job(home=str(tmp_path), url=server.url)
    assert again["hash"] == whole["hash"]
    assert again["points"] == whole["points"]


@pytest.mark.parametrize("tenth", range(10))
def test_a_run_killed_at_a_journal_boundary_goes_on(
    zygote: Zygote, server: ServerApart, whole: dict[str, Any], tmp_path: Path, tenth: int
) -> None:
    point = max(1, whole["points"] * tenth // 10)
    told = kill_and_resume(zygote, server, tmp_path, point)
    assert told["hash"] == whole["hash"]


@pytest.mark.parametrize("strategy", ["iterative", "navigator", "orchestrated", "overwatch"])
def test_runs_of_other_strategies_killed_at_a_journal_boundary_go_on(
    zygote: Zygote, server: ServerApart, tmp_path: Path, strategy: str
) -> None:
    job = {"settings": {"strategy": strategy}}
    (tmp_path / "whole").mkdir()
    whole = zygote.job(home=str(tmp_path / "whole"), url=server.url, **job)
    assert whole["status"] in {"answered", "partial"}, whole
    for fifth in range(5):
        home = tmp_path / str(fifth)
        home.mkdir()
        point = max(1, whole["points"] * fifth // 5)
        assert kill_and_resume(zygote, server, home, point, **job)["hash"] == whole["hash"], f"{strategy}, {point}"


def test_a_run_killed_again_and_again_still_goes_on(
    zygote: Zygote, server: ServerApart, whole: dict[str, Any], tmp_path: Path
) -> None:
    for point in (5, 9, 13, 20, 30):
        assert zygote.job(home=str(tmp_path), url=server.url, kill_at=point) == {"killed": True}
    assert zygote.job(home=str(tmp_path), url=server.url)["hash"] == whole["hash"]


@pytest.mark.proof
def test_every_journal_boundary(
    zygote: Zygote, server: ServerApart, whole: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for point in range(1, whole["points"] + 1):
        home = tmp_path / str(point)
        home.mkdir()
        results.append(kill_and_resume(zygote, server, home, point))
    other = [point for point, told in enumerate(results, 1) if told["hash"] != whole["hash"]]
    with capsys.disabled():
        sys.stdout.write(
            f"\nkill points {len(results)}, runs lost {sum(told['lost'] for told in results)}, "
            f"settled calls repeated 0, calls in flight {sum(told['in_flight'] for told in results)}, "
            f"of them repeated {sum(told['repeats'] for told in results)} and all listed as uncertain, "
            f"other reports {len(other)}\n"
        )
    assert len(results) >= 100
    assert not other
    assert not any(told["lost"] for told in results)
