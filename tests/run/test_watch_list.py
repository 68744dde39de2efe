"""The list of watched runs: damage and doubt first, then what is kept and when a round is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.errors import DamagedStoreError, StoppedError, StoreAccessError, UsageError
from deepdiver.run.watch_list import FOLDER, News, Round, Stir, Watch, WatchList, timestamp

ASKED = "2026-11-01T08:00:00+00:00"
STIR = Stir(kind="new", url="/papers/a.md", title="A", query="what")


def watch_of(run: str = "20261101-ferry-1", **changes: object) -> Watch:
    made = Watch(run=run, question="Who?", every=86_400, base=run, asked=ASKED)
    return made.model_copy(update=changes)


@pytest.fixture
def watches(tmp_path: Path) -> WatchList:
    return WatchList(tmp_path)


# -- damage


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": 3}', '{"run": "a", "every": "soon"}'])
def test_a_damaged_file_is_named(watches: WatchList, tmp_path: Path, text: str) -> None:
    watches.put(watch_of())
    (file,) = (tmp_path / FOLDER).iterdir()
    file.write_text(text, encoding="utf-8")
    for read in (watches.all, lambda: watches.get("20261101-ferry-1")):
        with pytest.raises(DamagedStoreError, match=r"ferry-1\.json.*watch the run again"):
            read()


def test_a_field_that_is_not_known_is_damage(watches: WatchList, tmp_path: Path) -> None:
    watches.put(watch_of())
    (file,) = (tmp_path / FOLDER).iterdir()
    text = file.read_text(encoding="utf-8").replace('"question"', '"quest"')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DamagedStoreError):
        watches.all()


def test_a_list_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreAccessError):
        WatchList(tmp_path).put(watch_of())


def test_half_a_file_of_a_killed_process_is_no_watch(watches: WatchList, tmp_path: Path) -> None:
    watches.put(watch_of())
    (tmp_path / FOLDER / ".20261101-ferry-1.json.x8d").write_text("{", encoding="utf-8")
    assert watches.all() == [watch_of()]


# -- names


def test_nothing_is_watched(watches: WatchList) -> None:
    assert watches.all() == []
    assert watches.get("a") is None
    assert not watches.drop("a")
    with pytest.raises(UsageError, match="'a' is watched"):
        watches.find("a")


def test_a_beginning_of_an_id_is_enough_unless_it_fits_several(watches: WatchList) -> None:
    for run in ("one-1", "one-12", "two"):
        watches.put(watch_of(run))
    assert watches.find("tw").run == "two"
    assert watches.find("one-1").run == "one-1"
    with pytest.raises(UsageError, match="ambiguous: it may be one-1, one-12"):
        watches.find("one")


@pytest.mark.parametrize("run", ["../../etc/passwd", "..", ".", "a/b", "a%2Fb", "å b"])
def test_the_id_of_a_strangers_run_stays_in_the_folder(
    watches: WatchList, tmp_path: Path, run: str
) -> None:
    watches.put(watch_of(run))
    with watches.hold(run) as taken:
        assert taken
    assert {path.name for path in tmp_path.iterdir()} == {FOLDER, "home"}
    assert watches.get(run) == watch_of(run)
    assert watches.all() == [watch_of(run)]
    assert watches.drop(run)
    assert list((tmp_path / FOLDER).iterdir()) == []


# -- steps


def test_a_watch_that_was_stopped_does_not_come_back(watches: WatchList) -> None:
    watches.put(watch_of())
    assert watches.advance(watch_of(trouble="none")).trouble == "none"
    assert watches.drop("20261101-ferry-1")
    with pytest.raises(StoppedError, match="not watched any more"):
        watches.advance(watch_of())
    assert watches.all() == []


def test_one_process_at_a_time(watches: WatchList) -> None:
    watches.put(watch_of())
    with watches.hold("20261101-ferry-1") as first, watches.hold("20261101-ferry-1") as second:
        assert (first, second) == (True, False)
    with watches.hold("20261101-ferry-1") as third:
        assert third


def test_everything_is_kept(watches: WatchList) -> None:
    news = News(
        at=ASKED,
        before="a",
        after="b",
        stirred=(STIR,),
        lines=("Changed", "   1. So."),
        record={"moved": True, "changed": [{"before": {"number": 1, "text": "“ü”"}}]},
        telling=True,
    )
    held = watch_of(
        seen={"/papers/a.md": ("1", "2")},
        round=Round(run="b", stirred=(STIR,)),
        news=news,
        told=(news, news),
        retry=ASKED,
    )
    watches.put(held)
    assert watches.get(held.run) == held


# -- when a round is due


def test_the_next_round_is_a_period_after_the_last() -> None:
    assert watch_of().due == datetime(2026, 11, 2, 8, tzinfo=UTC)


def test_what_was_left_undone_is_due_at_once() -> None:
    left = Round(run="b", stirred=(STIR,))
    news = News(at=ASKED, before="a", after="b", stirred=(STIR,))
    at_once = datetime.fromisoformat(ASKED)
    assert watch_of(round=left).due == at_once
    assert watch_of(news=news).due == at_once
    assert watch_of(round=left, retry="2026-11-01T09:00:00+00:00").due == at_once + timedelta(
        hours=1
    )


@given(st.integers(60, 366 * 86_400), st.integers(0, 4_000_000_000))
def test_a_due_time_never_lies_before_the_last_round(every: int, at: int) -> None:
    watch = watch_of(every=every, asked=timestamp(at))
    assert watch.due.timestamp() == at + every


# -- what others left there


def test_a_file_of_the_users_own_is_no_watch(watches: WatchList, tmp_path: Path) -> None:
    watches.put(watch_of())
    (tmp_path / FOLDER / "notes.txt").write_text("mine", encoding="utf-8")
    assert watches.all() == [watch_of()]
    assert watches.drop(watch_of().run)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["notes.txt"]


def test_a_watch_that_cannot_be_dropped(watches: WatchList, tmp_path: Path) -> None:
    (tmp_path / FOLDER / "a.json").mkdir(parents=True)
    with pytest.raises(StoreAccessError):
        watches.drop("a")


def test_the_watches_come_in_the_order_of_their_runs(watches: WatchList) -> None:
    for run in ("c", "a", "b"):
        watches.put(watch_of(run))
    assert [item.run for item in watches.all()] == ["a", "b", "c"]
    watches.put(watch_of("b", every=60))
    assert [(item.run, item.every) for item in watches.all()][1] == ("b", 60)


@pytest.mark.parametrize("kind", ["old", "", "NEW"])
def test_only_three_things_can_stir(kind: str) -> None:
    with pytest.raises(ValidationError):
        Stir.model_validate({"kind": kind, "url": "/a"})


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "drop"])), max_size=12),
)
def test_after_any_changes_the_list_is_what_was_put_and_not_dropped(
    steps: list[tuple[str, str]],
) -> None:
    held: set[str] = set()
    with TemporaryDirectory() as folder:
        watches = WatchList(Path(folder))
        for name, step in steps:
            run = f"20261101-{name}"
            if step == "put":
                watches.put(watch_of(run))
                held.add(run)
            else:
                assert watches.drop(run) is (run in held)
                held.discard(run)
        assert [item.run for item in watches.all()] == sorted(held)
