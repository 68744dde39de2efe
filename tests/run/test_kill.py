"""A run killed at any instant goes on: nothing is lost, nothing that was answered is bought again.

The same is shown for every strategy, in SQLite and in PostgreSQL. Those with a person in the loop
are shown with one, so that what the person says is among the calls at whose boundaries a run is
killed: a plan is accepted, an answer rejected once and then accepted.
"""

from __future__ import annotations

import collections
import contextlib
import json
import sqlite3
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tests.patience import PATIENCE
from tests.run.zygote import Zygote
from tests.servers.apart import ServerApart
from tests.store.places import KINDS, PostgresPlace

JOBS: dict[str, dict[str, Any]] = {
    "popper": {},
    **{
        name: {"settings": {"strategy": name, "approve": True}}
        for name in ("iterative", "overwatch", "orchestrated", "navigator")
    },
}
"""What is run of each strategy."""
MOMENTS = (
    ("after journal.reserve", 0.25),
    ("after journal.mark_sent", 0.5),
    ("before journal.settle", 0.75),
)
"""Nothing was sent yet; it was sent, and may or may not have been heard; it was answered, and the
answer is lost. Each with how far the run has come by then."""

Whole = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as started:
        yield started


@pytest.fixture(scope="module")
def server() -> Iterator[ServerApart]:
    with ServerApart() as started:
        yield started


@pytest.fixture(scope="module")
def whole(zygote: Zygote, server: ServerApart, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Return what gives the run of a strategy that nobody kills; each is made once."""
    made: dict[str, dict[str, Any]] = {}

    def of(strategy: str) -> dict[str, Any]:
        if strategy not in made:
            home = tmp_path_factory.mktemp(strategy)
            made[strategy] = zygote.job(home=str(home), url=server.url, **JOBS[strategy])
            assert made[strategy]["status"] == "answered", made[strategy]
        return made[strategy]

    return of


@pytest.fixture(scope="module")
def log(server: ServerApart) -> Log:
    return Log(server.url)


class Log:
    """Return the server's requests since the last look, each distinct one and number."""

    def __init__(self, url: str) -> None:
        self._url, self._seen = f"{url}/log", 0

    def new(self) -> collections.Counter[str]:
        address = f"{self._url}?since={self._seen}"
        with urllib.request.urlopen(address, timeout=PATIENCE) as reply:  # noqa: S310 - this machine
            entries = json.load(reply)
        self._seen += len(entries)
        return collections.Counter(
            f"{entry['path']} {json.dumps(entry['body'], sort_keys=True)}" for entry in entries
        )


@dataclass(frozen=True)
class Home:
    """Where a run is kept: in a file of SQLite, or in a database of PostgreSQL."""

    folder: Path
    postgres: PostgresPlace | None = None

    def fresh(self, name: str) -> Home:
        """Return another home, in which there is no run yet."""
        folder = self.folder / name
        folder.mkdir()
        return Home(folder, self.postgres and self.postgres.fresh())

    def job(self) -> dict[str, str]:
        """Return where a job works."""
        return {
            "home": str(self.folder),
            "database": self.postgres.address if self.postgres else "",
        }

    def in_flight(self) -> set[str]:
        """Return the calls that were in flight when the process died."""
        query = "SELECT key FROM journal WHERE state = 'sent'"
        if self.postgres:
            return {key for (key,) in self.postgres.execute(query)}
        with contextlib.closing(sqlite3.connect(self.folder / "deepdiver.db")) as database:
            return {key for (key,) in database.execute(query)}


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    if request.param == "sqlite":
        return Home(tmp_path)
    address: SecretStr = request.getfixturevalue("shared_database")
    return Home(tmp_path, PostgresPlace(tmp_path, address.get_secret_value()).fresh())


def kill_and_resume(
    zygote: Zygote,
    server: ServerApart,
    log: Log,
    home: Home,
    point: int,
    strategy: str,
    *,
    declined: bool = False,
) -> dict[str, Any]:
    """Kill a run at a boundary, go on with it, replay it.

    Nothing that was settled may be sent again.

    Where calls are declined at first they are sent once more in each life that comes to them, and
    not to the server.
    """
    job = {**home.job(), "url": server.url, "declined": declined, **JOBS[strategy]}
    log.new()
    assert zygote.job(kill_at=point, **job) == {"killed": True}
    in_flight = home.in_flight()
    told = zygote.job(replay=True, **job)
    repeats = sum(number - 1 for number in log.new().values())
    rows = {row["key"]: row for row in told["rows"]}
    assert repeats <= len(in_flight), (
        f"point {point}: {repeats} requests repeated, {len(in_flight)} were in flight"
    )
    for key, row in rows.items():
        assert row["state"] == "settled", f"point {point}: {row}"
        # Nothing is sent to a person: who is asked again loses nothing.
        once = 0 if row["kind"] == "human" else 1
        well = row["sends"] == once or key in in_flight or declined
        assert well, f"point {point}: a settled call was sent again: {row}"
    assert set(told["uncertain"]) == in_flight, f"point {point}: not every call in doubt is listed"
    assert told["replayed"] == told["hash"], f"point {point}: the replay gave another report"
    return {**told, "repeats": repeats, "in_flight": len(in_flight)}


def moments(boundaries: list[str]) -> list[int]:
    """Return for each moment the three moments nearest to where it is wanted, from 1."""
    places = {
        what: [n for n, name in enumerate(boundaries, 1) if name == what] for what, _ in MOMENTS
    }
    return [
        min(places[what], key=lambda n: abs(n - part * len(boundaries))) for what, part in MOMENTS
    ]


def test_three_moments_are_found_near_where_they_are_wanted() -> None:
    call = [
        f"{when} journal.{what}"
        for what in ("reserve", "mark_sent", "settle")
        for when in ("before", "after")
    ]
    assert moments(call * 8) == [14, 22, 35]
    assert moments(call) == [2, 4, 5]


def test_two_runs_that_nobody_kills_give_one_report(
    zygote: Zygote, server: ServerApart, whole: Whole, home: Home
) -> None:
    again = zygote.job(**home.job(), url=server.url)
    assert again["hash"] == whole("popper")["hash"]
    assert len(again["boundaries"]) == len(whole("popper")["boundaries"])


@pytest.mark.parametrize("tenth", [0, 3, 6, 9])  # the proof takes every boundary
def test_a_run_killed_at_a_journal_boundary_goes_on(
    zygote: Zygote, server: ServerApart, log: Log, whole: Whole, home: Home, tenth: int
) -> None:
    point = max(1, len(whole("popper")["boundaries"]) * tenth // 10)
    assert (
        kill_and_resume(zygote, server, log, home, point, "popper")["hash"]
        == whole("popper")["hash"]
    )


@pytest.mark.parametrize("strategy", list(JOBS)[1:])
def test_runs_of_other_strategies_killed_before_during_and_after_a_call_go_on(
    zygote: Zygote, server: ServerApart, log: Log, whole: Whole, home: Home, strategy: str
) -> None:
    unhurt = whole(strategy)
    for point in moments(unhurt["boundaries"]):
        told = kill_and_resume(zygote, server, log, home.fresh(str(point)), point, strategy)
        assert (told["hash"], told["status"]) == (unhurt["hash"], unhurt["status"]), (
            f"{strategy}, {point}"
        )


def test_a_run_killed_again_and_again_still_goes_on(
    zygote: Zygote, server: ServerApart, whole: Whole, home: Home
) -> None:
    for point in (5, 9, 13, 20, 30):
        assert zygote.job(**home.job(), url=server.url, kill_at=point) == {"killed": True}
    assert zygote.job(**home.job(), url=server.url)["hash"] == whole("popper")["hash"]


def declined_once(zygote: Zygote, server: ServerApart, whole: Whole, home: Home) -> list[str]:
    """The boundaries of a run whose calls are all declined at first.

    It comes to the same report.
    """
    told = zygote.job(**home.job(), url=server.url, declined=True)
    assert (told["hash"], told["uncertain"]) == (whole("popper")["hash"], [])
    assert {row["sends"] for row in told["rows"]} == {2}
    boundaries: list[str] = told["boundaries"]
    assert boundaries.count("after journal.mark_declined") == len(told["rows"])
    return boundaries


def test_a_run_killed_around_a_call_that_was_declined_goes_on(
    zygote: Zygote, server: ServerApart, log: Log, whole: Whole, home: Home
) -> None:
    boundaries = declined_once(zygote, server, whole, home.fresh("whole"))
    places = [n for n, name in enumerate(boundaries, 1) if name.endswith("journal.mark_declined")]
    for point in places[len(places) // 2 :][:2]:  # before and after one of them
        again = home.fresh(str(point))
        told = kill_and_resume(zygote, server, log, again, point, "popper", declined=True)
        assert told["hash"] == whole("popper")["hash"], point


@pytest.mark.proof
def test_every_boundary_of_a_run_whose_calls_are_declined_at_first(
    zygote: Zygote,
    server: ServerApart,
    log: Log,
    whole: Whole,
    home: Home,
    capsys: pytest.CaptureFixture[str],
) -> None:
    boundaries, in_flight = declined_once(zygote, server, whole, home.fresh("whole")), 0
    for point in range(1, len(boundaries) + 1):
        again = home.fresh(str(point))
        told = kill_and_resume(zygote, server, log, again, point, "popper", declined=True)
        assert (told["hash"], told["status"]) == (whole("popper")["hash"], "answered"), point
        in_flight += told["in_flight"]
    with capsys.disabled():
        points = len(boundaries)
        sys.stdout.write(
            f"\ndeclined at first: kill points {points}, runs lost 0, calls in flight {in_flight}\n"
        )


@pytest.mark.proof
@pytest.mark.parametrize("strategy", JOBS)
def test_every_journal_boundary(
    zygote: Zygote,
    server: ServerApart,
    log: Log,
    whole: Whole,
    home: Home,
    capsys: pytest.CaptureFixture[str],
    strategy: str,
) -> None:
    unhurt, results = whole(strategy), []
    for point in range(1, len(unhurt["boundaries"]) + 1):
        again = home.fresh(str(point))
        results.append(kill_and_resume(zygote, server, log, again, point, strategy))
    lost = [point for point, told in enumerate(results, 1) if told["status"] != unhurt["status"]]
    other = [point for point, told in enumerate(results, 1) if told["hash"] != unhurt["hash"]]
    with capsys.disabled():
        sys.stdout.write(
            f"\n{strategy}: kill points {len(results)}, runs lost {len(lost)}, "
            "settled calls repeated 0, calls in flight "
            f"{sum(told['in_flight'] for told in results)}, "
            f"of them repeated {sum(told['repeats'] for told in results)} and all listed as "
            "uncertain, "
            f"other reports {len(other)}, other replays 0\n"
        )
    assert len(results) >= 100
    assert not other
    assert not lost
