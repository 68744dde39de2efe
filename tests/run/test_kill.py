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
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
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
ROUNDS = {"orchestrated": 3, "iterative": 3}
"""In which round the model finds that enough is known, where the second gives too short a run:
those of `orchestrated` and `iterative` have less than 100 boundaries after two rounds."""
MOMENTS = (
    ("after journal.reserve", 0.25),
    ("after journal.mark_sent", 0.5),
    ("before journal.settle", 0.75),
)
"""Nothing was sent yet; it was sent, and may or may not have been heard; it was answered, and the
answer is lost. Each with how far the run has come by then."""
KILLS = 12
"""How often a run of the proof is killed. One run for each boundary took four times as long and
showed no more: whatever a kill does to a run stays with it, and one report is compared."""

Whole = Callable[[str], dict[str, Any]]
Outsides = Callable[[str], "Outside"]


@pytest.fixture(scope="module")
def zygote(readings: Path) -> Iterator[Zygote]:
    with Zygote(readings) as started:
        yield started


@pytest.fixture(scope="module")
def outsides() -> Iterator[Outsides]:
    """Return what gives the outside of a strategy's runs; each is started once."""
    made: dict[int, Outside] = {}
    with contextlib.ExitStack() as stack:

        def of(strategy: str) -> Outside:
            rounds = ROUNDS.get(strategy, 2)
            if rounds not in made:
                made[rounds] = Outside(stack.enter_context(ServerApart(rounds=rounds)).url)
            return made[rounds]

        yield of


@pytest.fixture
def outside(outsides: Outsides) -> Outside:
    return outsides("popper")


@pytest.fixture(scope="module")
def whole(zygote: Zygote, outsides: Outsides, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Return what gives the run of a strategy that nobody kills; each is made once."""
    made: dict[str, dict[str, Any]] = {}

    def of(strategy: str) -> dict[str, Any]:
        if strategy not in made:
            home = tmp_path_factory.mktemp(strategy)
            url = outsides(strategy).url
            made[strategy] = zygote.job(home=str(home), url=url, **JOBS[strategy])
            assert made[strategy]["status"] == "answered", made[strategy]
        return made[strategy]

    return of


class Outside:
    """The scripted server that runs are made with."""

    def __init__(self, url: str) -> None:
        self.url, self._seen = url, 0

    def new(self) -> collections.Counter[str]:
        """Return the server's requests since the last look, each distinct one and number."""
        address = f"{self.url}/log?since={self._seen}"
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
    outside: Outside,
    home: Home,
    points: Iterable[str],
    strategy: str,
    *,
    declined: bool = False,
) -> dict[str, Any]:
    """Kill a run at each of some boundaries, go on with it each time, and replay it at last.

    Nothing that was settled may be sent again. A boundary is missed if its call was made beside one
    at which the run was killed before.

    Where calls are declined at first they are sent once more in each life that comes to them, and
    not to the server.
    """
    job = {**home.job(), "url": outside.url, "declined": declined, **JOBS[strategy]}
    outside.new()
    left, deaths, kills = set(points), collections.Counter[str](), 0
    while (told := zygote.job(kill_at=sorted(left), replay=True, **job))["killed"]:
        left.remove(told["at"])
        deaths.update(home.in_flight())
        kills += 1
    repeats = sum(number - 1 for number in outside.new().values())
    assert repeats <= deaths.total(), f"{repeats} requests repeated, {deaths} were in flight"
    for row in told["rows"]:
        assert row["state"] == "settled", row
        # Nothing is sent to a person: who is asked again loses nothing.
        more = row["sends"] - (0 if row["kind"] == "human" else 1)
        well = declined or 0 <= more <= deaths[row["key"]]
        assert well, f"a settled call was sent again: {row}"
    assert set(told["uncertain"]) == set(deaths), "not every call in doubt is listed"
    assert told["replayed"] == told["hash"], "the replay gave another report"
    more = {"repeats": repeats, "in_flight": deaths.total(), "kills": kills, "missed": sorted(left)}
    return {**told, **more}


def kill_at_all(
    zygote: Zygote,
    outside: Outside,
    home: Home,
    points: list[str],
    strategy: str,
    *,
    declined: bool = False,
) -> list[dict[str, Any]]:
    """Kill a run at some boundaries, and one more at each that was missed."""
    more: dict[str, Any] = {"strategy": strategy, "declined": declined}
    first = kill_and_resume(zygote, outside, home.fresh("many"), points, **more)
    alone = [
        kill_and_resume(zygote, outside, home.fresh(str(number)), [point], **more)
        for number, point in enumerate(first["missed"])
    ]
    assert not any(told["missed"] for told in alone)
    return [first, *alone]


def moments(boundaries: list[str]) -> list[str]:
    """Return for each moment the boundary nearest to where it is wanted."""
    numbered = list(enumerate(boundaries, 1))
    return [
        min(
            (place for place in numbered if place[1].startswith(f"{what} ")),
            key=lambda place: abs(place[0] - part * len(boundaries)),
        )[1]
        for what, part in MOMENTS
    ]


def test_three_moments_are_found_near_where_they_are_wanted() -> None:
    def calls(number: int) -> list[str]:
        return [
            f"{when} journal.{what} {call} 1"
            for call in range(number)
            for what in ("reserve", "mark_sent", "settle")
            for when in ("before", "after")
        ]

    wanted = ("after journal.reserve", "after journal.mark_sent", "before journal.settle")
    assert moments(calls(1)) == [f"{what} 0 1" for what in wanted]
    found = [f"{what} {call} 1" for what, call in zip(wanted, (2, 3, 5), strict=True)]
    assert moments(calls(8)) == found


def test_two_runs_that_nobody_kills_give_one_report(
    zygote: Zygote, outside: Outside, whole: Whole, home: Home
) -> None:
    again = zygote.job(**home.job(), url=outside.url)
    assert again["hash"] == whole("popper")["hash"]
    assert len(again["boundaries"]) == len(whole("popper")["boundaries"])


def test_a_run_killed_at_four_journal_boundaries_goes_on(  # the proof takes every boundary
    zygote: Zygote, outside: Outside, whole: Whole, home: Home
) -> None:
    boundaries = whole("popper")["boundaries"]
    points = [boundaries[len(boundaries) * tenth // 10] for tenth in (0, 3, 6, 9)]
    for told in kill_at_all(zygote, outside, home, points, "popper"):
        assert told["hash"] == whole("popper")["hash"]


# The proof takes every strategy on both.
@pytest.mark.parametrize(
    ("home", "strategy"), list(zip(cycle(KINDS), list(JOBS)[1:], strict=False)), indirect=["home"]
)
def test_runs_of_other_strategies_killed_before_during_and_after_a_call_go_on(
    zygote: Zygote, outsides: Outsides, whole: Whole, home: Home, strategy: str
) -> None:
    unhurt, outside = whole(strategy), outsides(strategy)
    for told in kill_at_all(zygote, outside, home, moments(unhurt["boundaries"]), strategy):
        assert (told["hash"], told["status"]) == (unhurt["hash"], unhurt["status"]), strategy


def declined_once(zygote: Zygote, outside: Outside, whole: Whole, home: Home) -> list[str]:
    """The boundaries of a run whose calls are all declined at first.

    It comes to the same report.
    """
    told = zygote.job(**home.job(), url=outside.url, declined=True)
    assert (told["hash"], told["uncertain"]) == (whole("popper")["hash"], [])
    assert {row["sends"] for row in told["rows"]} == {2}
    boundaries: list[str] = told["boundaries"]
    declined = [name for name in boundaries if name.startswith("after journal.mark_declined")]
    assert len(declined) == len(told["rows"])
    return boundaries


def test_a_run_killed_around_a_call_that_was_declined_goes_on(
    zygote: Zygote, outside: Outside, whole: Whole, home: Home
) -> None:
    boundaries = declined_once(zygote, outside, whole, home.fresh("whole"))
    places = [name for name in boundaries if "journal.mark_declined" in name]
    points = places[len(places) // 2 :][:2]  # before and after one of them
    for told in kill_at_all(zygote, outside, home, points, "popper", declined=True):
        assert told["hash"] == whole("popper")["hash"]


def shared_out(boundaries: list[str]) -> list[list[str]]:
    """Return the boundaries for a number of runs, far from each other in each."""
    runs = -(-len(boundaries) // KILLS)
    return [boundaries[first::runs] for first in range(runs)]


def test_every_boundary_is_in_one_run_and_no_run_is_killed_too_often() -> None:
    names = [str(number) for number in range(198)]
    shares = shared_out(names)
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert max(map(len, shares)) <= KILLS


def kill_everywhere(
    zygote: Zygote,
    outside: Outside,
    home: Home,
    unhurt: dict[str, Any],
    strategy: str,
    *,
    declined: bool = False,
) -> str:
    """Kill runs at every boundary of one that nobody kills; return the figures."""
    more: dict[str, Any] = {"strategy": strategy, "declined": declined}
    began, results = time.monotonic(), list[dict[str, Any]]()
    for number, points in enumerate(shared_out(unhurt["boundaries"])):
        results += kill_at_all(zygote, outside, home.fresh(f"run{number}"), points, **more)
    lost = [told["status"] for told in results if told["status"] != unhurt["status"]]
    other = [told["hash"] for told in results if told["hash"] != unhurt["hash"]]
    kills = sum(told["kills"] for told in results)
    assert not lost
    assert not other
    assert kills == len(unhurt["boundaries"]) >= 100
    return (
        f"{strategy}{', declined at first' if declined else ''}, in "
        f"{'PostgreSQL' if home.postgres else 'SQLite'}: killed at {kills} of "
        f"{len(unhurt['boundaries'])} boundaries in {len(results)} runs, lost {len(lost)}, other "
        f"reports {len(other)}, other replays 0, settled calls repeated 0, calls in flight "
        f"{sum(told['in_flight'] for told in results)} and all listed as uncertain, of them heard "
        f"twice {sum(told['repeats'] for told in results)}, {time.monotonic() - began:.0f} s"
    )


@pytest.mark.proof
def test_every_boundary_of_a_run_whose_calls_are_declined_at_first(
    zygote: Zygote,
    outside: Outside,
    whole: Whole,
    home: Home,
    capsys: pytest.CaptureFixture[str],
) -> None:
    boundaries = declined_once(zygote, outside, whole, home.fresh("whole"))
    unhurt = {**whole("popper"), "boundaries": boundaries}
    told = kill_everywhere(zygote, outside, home, unhurt, "popper", declined=True)
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")


@pytest.mark.proof
@pytest.mark.parametrize("strategy", JOBS)
def test_every_journal_boundary(
    zygote: Zygote,
    outsides: Outsides,
    whole: Whole,
    home: Home,
    capsys: pytest.CaptureFixture[str],
    strategy: str,
) -> None:
    told = kill_everywhere(zygote, outsides(strategy), home, whole(strategy), strategy)
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")
