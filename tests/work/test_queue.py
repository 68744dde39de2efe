"""What every queue promises: the same in each kind of store."""

from __future__ import annotations

import time

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.errors import SettingsError, UnknownNameError, UsageError
from deepdiver.store.views import read_only
from deepdiver.work import Load, Queue, open_queue
from deepdiver.work.order import Order
from deepdiver.work.queue import Worker
from tests.store.places import AnyStore, Place


def put(queue: Queue, question: str = "Who?", **fields: object) -> str:
    return queue.put(Order.model_validate({"question": question, **fields}))


def taken_runs(queue: Queue, count: int, name: str = "w") -> list[str]:
    worker = queue.hire(name)
    found = [worker.take() for _ in range(count)]
    return [taken.run for taken in found if taken is not None]


def status(queue: Queue, run: str) -> RunStatus:
    return queue.store.runs.get(run).status


@pytest.mark.parametrize(
    ("order", "error"),
    [
        (Order(question="  "), UsageError),
        (Order(question="Who?", options={"keys": {}}), SettingsError),
        (Order(question="Who?", strategy="guess"), UnknownNameError),
        (Order(question="Who?", context={"at": float}), UsageError),
    ],
    ids=["empty", "a key", "a strategy", "context"],
)
def test_an_order_that_cannot_be_done_is_refused_and_leaves_nothing(
    queue: Queue, order: Order, error: type[Exception]
) -> None:
    with pytest.raises(error):
        queue.put(order)
    assert queue.waiting() == []
    assert queue.store.runs.list_all() == []


def test_an_id_that_is_taken_is_refused(queue: Queue) -> None:
    put(queue, run="r1")
    with pytest.raises(ValueError, match="there is a run r1 already"):
        put(queue, run="r1")
    assert len(queue.waiting()) == 1


def test_a_view_of_a_store_has_no_queue(store: AnyStore) -> None:
    from dataclasses import replace

    from deepdiver.store import Store

    seen = read_only(store)
    plain = Store(**{name: getattr(seen, name) for name in Store.__dataclass_fields__})
    with pytest.raises(ValueError, match="its own database"):
        open_queue(plain)
    assert replace(seen) is not seen


def test_a_run_is_on_record_as_queued_at_once(queue: Queue, place: Place) -> None:
    run = put(queue, "  Who runs it?  ", options={"length": "brief"}, context={"a": [1]})
    (item,) = queue.waiting()
    assert (item.run, item.owner, item.position, item.priority) == (run, "", 1, 0)
    held = queue.store.runs.get(run)
    assert held.status is RunStatus.QUEUED
    assert held.queued == held.created
    assert held.question == "Who runs it?"
    assert held.settings["length"] == "brief"
    assert held.strategy in ("popper", "iterative")
    assert held.context == {"a": [1]}
    other = open_queue(place.open())  # another process sees the same
    assert other.waiting() == [item]
    assert other.owners() == {"": Load(1, 0)}


def test_an_order_is_taken_once_and_ended_once(queue: Queue) -> None:
    run = put(queue, owner="ann", options={"budget": "0.25"})
    worker, other = queue.hire("one"), queue.hire("two")
    taken = worker.take()
    assert taken is not None
    assert (taken.run, taken.owner, taken.attempts) == (run, "ann", 1)
    assert taken.options == {"budget": "0.25"}
    assert 0 <= taken.waited < 60
    assert other.take() is None
    assert queue.waiting() == []
    assert queue.owners() == {"ann": Load(0, 1)}
    other.finish(run)  # it has no say in it
    assert queue.owners() == {"ann": Load(0, 1)}
    worker.finish(run)
    worker.finish(run)
    assert queue.owners() == {}
    assert worker.take() is None
    assert queue.owner_of(run) == "ann"
    assert queue.owner_of("nobody") is None


def test_higher_priorities_come_first_and_equal_ones_in_their_order(queue: Queue) -> None:
    later = [put(queue, f"Question {number}?") for number in range(3)]
    last = put(queue, "Last?", priority=-5)
    first = put(queue, "First?", priority=7)
    assert [item.run for item in queue.waiting()] == [first, *later, last]
    assert taken_runs(queue, 6) == [first, *later, last]


def test_an_owner_with_many_orders_delays_another_by_two_slots_at_most(queue: Queue) -> None:
    for number in range(40):
        put(queue, f"Mine {number}?", owner="many")
    worker = queue.hire("w")
    for _ in range(10):
        worker.take()
    alone = put(queue, "Mine alone?", owner="alone")
    assert [item.position for item in queue.waiting("alone")] == [2]
    next_ones = [worker.take(), worker.take()]
    assert alone in [taken.run for taken in next_ones if taken]


def test_the_owners_of_as_many_runs_as_a_page_has_are_told(queue: Queue) -> None:
    run = put(queue, "Whose?", owner="ada")
    named = [f"r{number}" for number in range(250)]
    assert queue.owners_of([*named, run]) == {run: "ada"}
    assert queue.owners_of([]) == {}


def test_owners_alternate_whoever_came_first(queue: Queue) -> None:
    for owner in ("a", "b", "c"):
        for number in range(4):
            put(queue, f"{owner} {number}?", owner=owner)
    worker = queue.hire("w")
    owners = [taken.owner for _ in range(12) if (taken := worker.take())]
    for start in range(0, 12, 3):
        assert sorted(owners[start : start + 3]) == ["a", "b", "c"]


def test_an_owner_who_has_cancelled_waits_no_longer_than_others(queue: Queue) -> None:
    for number in range(20):
        queue.cancel(put(queue, f"No {number}?", owner="fickle"))
    put(queue, "Other?", owner="other")
    put(queue, "Other still?", owner="other")
    put(queue, "Yes?", owner="fickle")
    assert [item.owner for item in queue.waiting()] == ["other", "fickle", "other"]


def test_an_order_is_not_taken_before_its_time(queue: Queue) -> None:
    put(queue, "Later?", not_before=time.time() + 3_600)
    past = put(queue, "Long ago?", not_before=5.0)
    assert taken_runs(queue, 2) == [past]
    (item,) = queue.waiting()
    assert item.due > time.time() + 3_000


def test_the_same_key_twice_is_one_order(queue: Queue) -> None:
    run = put(queue, key="k1", owner="ann")
    assert put(queue, key="k1", owner="ann") == run
    assert put(queue, key="k1", owner="bob") != run
    assert put(queue, owner="ann") != run
    assert queue.find("ann", "k1") == run
    assert queue.find("ann", "k2") is None
    taken_runs(queue, 3)
    assert put(queue, key="k1", owner="ann") == run
    with pytest.raises(UsageError, match=f"another question, in run {run}"):
        put(queue, "What else?", key="k1", owner="ann")


def test_a_waiting_order_is_cancelled_and_can_be_put_back(queue: Queue) -> None:
    run = put(queue)
    assert queue.cancel(run)
    assert status(queue, run) is RunStatus.STOPPED
    assert (queue.waiting(), taken_runs(queue, 1)) == ([], [])
    assert not queue.cancel(run)
    queue.put_again(run)
    queue.put_again(run)
    assert status(queue, run) is RunStatus.QUEUED
    assert taken_runs(queue, 2) == [run]


def test_a_cancelled_order_that_a_worker_has_is_to_be_stopped(queue: Queue) -> None:
    run, other = put(queue), put(queue)
    worker = queue.hire("w")
    assert worker.take() is not None
    assert worker.take() is not None
    assert worker.beat() == []
    assert not queue.cancel(run)
    assert worker.beat() == [run]
    assert queue.hire("else").beat() == []
    worker.finish(run)
    assert worker.beat() == []
    queue.put_again(run)  # that was another time
    worker.take()
    assert worker.beat() == []
    assert status(queue, other) is RunStatus.QUEUED


def taken_by(queue: Queue, name: str = "w") -> tuple[str, Worker]:
    run, worker = put(queue, owner="ann"), queue.hire(name)
    assert worker.take() is not None
    return run, worker


@pytest.mark.parametrize("rest", [RunStatus.STOPPED, RunStatus.FAILED, RunStatus.WAITING])
def test_a_run_that_rests_while_its_order_has_not_ended_is_put_back_when_it_has(
    queue: Queue, rest: RunStatus
) -> None:
    run, worker = taken_by(queue)
    queue.store.runs.set_status(run, rest)
    queue.put_again(run)
    queue.put_again(run)
    assert status(queue, run) is RunStatus.QUEUED
    assert (queue.waiting(), queue.owners()) == ([], {"ann": Load(0, 1)})
    worker.finish(run)
    assert status(queue, run) is RunStatus.QUEUED
    assert queue.owners() == {"ann": Load(1, 0)}
    taken = queue.hire("next").take()
    assert taken is not None
    assert (taken.run, taken.owner, taken.attempts) == (run, "ann", 1)
    worker.finish(run)  # it has no say in it any more
    assert queue.owners() == {"ann": Load(0, 1)}


def test_a_run_that_was_asked_to_stop_and_then_to_go_on_does_both(queue: Queue) -> None:
    run, worker = taken_by(queue)
    queue.store.runs.set_status(run, RunStatus.RUNNING)
    queue.cancel(run)
    queue.put_again(run)
    assert status(queue, run) is RunStatus.RUNNING
    assert worker.beat() == [run]
    queue.store.runs.set_status(run, RunStatus.STOPPED)
    worker.finish(run)
    assert status(queue, run) is RunStatus.QUEUED
    assert worker.take() is not None
    assert worker.beat() == []


def test_a_run_that_is_worked_on_is_not_put_back_when_its_order_ends(queue: Queue) -> None:
    run, worker = taken_by(queue)
    queue.store.runs.set_status(run, RunStatus.RUNNING)
    queue.put_again(run)
    queue.store.runs.set_status(run, RunStatus.STOPPED)
    worker.finish(run)
    assert status(queue, run) is RunStatus.STOPPED
    assert queue.owners() == {}


def test_a_run_that_finishes_all_the_same_is_not_put_back(queue: Queue) -> None:
    run, worker = taken_by(queue)
    queue.cancel(run)
    queue.put_again(run)
    queue.store.runs.set_status(run, RunStatus.ANSWERED)  # it was too late to stop it
    worker.finish(run)
    assert status(queue, run) is RunStatus.ANSWERED
    assert queue.owners() == {}


def test_a_run_that_was_put_back_and_cancelled_is_stopped(queue: Queue) -> None:
    run, worker = taken_by(queue)
    queue.store.runs.set_status(run, RunStatus.WAITING)
    queue.put_again(run)
    assert not queue.cancel(run)
    worker.finish(run)
    assert status(queue, run) is RunStatus.STOPPED
    assert (queue.owners(), taken_runs(queue, 1)) == ({}, [])


@pytest.mark.parametrize("how", ["gives it back", "dies"])
def test_who_takes_an_order_that_was_put_back_meanwhile_is_not_to_stop_it(
    queue: Queue, how: str
) -> None:
    run, worker = taken_by(queue)
    queue.cancel(run)
    queue.put_again(run)
    if how == "dies":
        worker.leave()
    else:
        worker.give_back(run)
    other = queue.hire("other")
    taken = other.take()
    assert taken is not None
    assert (taken.run, taken.attempts) == (run, 2)
    assert other.beat() == []
    queue.store.runs.set_status(run, RunStatus.STOPPED)
    other.finish(run)
    assert status(queue, run) is RunStatus.STOPPED  # that it goes on was asked for once
    assert queue.owners() == {}


def test_what_is_put_back_comes_behind_the_other_orders_of_its_owner(queue: Queue) -> None:
    run, worker = taken_by(queue)
    others = [put(queue, f"Other {number}?", owner="ann") for number in range(2)]
    queue.store.runs.set_status(run, RunStatus.STOPPED)
    queue.put_again(run)
    worker.finish(run)
    assert [item.run for item in queue.waiting()] == [*others, run]


@pytest.mark.parametrize("act", ["finish", "give_back"])
def test_the_order_of_a_run_that_was_deleted_meanwhile_is_over(queue: Queue, act: str) -> None:
    run, worker = taken_by(queue)
    queue.store.runs.delete(run, time.time())
    getattr(worker, act)(run)
    worker.leave()
    assert (queue.owners(), taken_runs(queue, 1)) == ({}, [])


def test_what_is_unknown_or_finished_is_neither_cancelled_nor_put_back(queue: Queue) -> None:
    for act in (queue.cancel, queue.put_again):
        with pytest.raises(UnknownNameError):
            act("nothing")
    run = put(queue)
    queue.store.runs.set_status(run, RunStatus.ANSWERED)
    with pytest.raises(UsageError, match="is finished"):
        queue.put_again(run)


def test_a_run_that_never_was_in_the_queue_can_be_put_there(queue: Queue) -> None:
    from tests.store.acts import make_run

    run = make_run()
    queue.store.runs.create(run)
    queue.store.runs.set_status(run.id, RunStatus.FAILED)
    queue.put_again(run.id)
    assert status(queue, run.id) is RunStatus.QUEUED
    assert queue.store.runs.get(run.id).queued == ""  # it has begun
    assert taken_runs(queue, 1) == [run.id]


def test_an_order_that_is_given_back_is_taken_again(queue: Queue) -> None:
    run = put(queue)
    worker = queue.hire("w")
    worker.take()
    queue.store.runs.set_status(run, RunStatus.STOPPED)
    queue.hire("else").give_back(run)  # it has no say in it
    assert queue.waiting() == []
    worker.give_back(run)
    assert status(queue, run) is RunStatus.QUEUED
    taken = worker.take()
    assert taken is not None
    assert (taken.run, taken.attempts) == (run, 2)
    worker.give_back(run, 3_600)
    assert worker.take() is None
    assert [item.run for item in queue.waiting()] == [run]


def test_the_orders_of_a_worker_that_leaves_are_taken_at_once(queue: Queue) -> None:
    run = put(queue)
    first, second = queue.hire("one"), queue.hire("two")
    first.take()
    assert second.take() is None
    first.leave()
    taken = second.take()
    assert taken is not None
    assert (taken.run, taken.attempts) == (run, 2)
    first.finish(run)  # it is not its own any more
    assert queue.owners() == {"": Load(0, 1)}


def test_a_run_that_is_deleted_leaves_the_queue(queue: Queue) -> None:
    run = put(queue)
    queue.store.runs.delete(run, time.time())
    assert queue.waiting() == []
    assert taken_runs(queue, 1) == []
