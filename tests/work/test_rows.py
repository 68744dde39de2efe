"""Turns: whoever has orders is served in turn, within a priority."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.store.sqlite import open_memory
from deepdiver.work import open_queue
from deepdiver.work.order import Order
from deepdiver.work.rows import _turn


def served(owners: list[str]) -> list[str]:
    """Return the owners in the order in which their orders are taken, all put at once."""
    with closing(open_memory()) as store:
        queue = open_queue(store)
        for owner in owners:
            queue.put(Order(question="Who?", owner=owner))
        worker = queue.hire("w")
        return [taken.owner for _ in owners if (taken := worker.take())]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_nobody_is_served_twice_while_another_who_waits_is_served_not_at_all(
    owners: list[str],
) -> None:
    order = served(owners)
    assert sorted(order) == sorted(owners)
    for place in range(len(order)):
        before = order[:place]
        for owner in set(order[place:]):
            others = [before.count(other) for other in set(before)]
            assert max(others, default=0) <= before.count(owner) + 1


@given(st.integers(0, 12), st.integers(0, 30))
def test_who_comes_alone_is_next_but_one_whenever_that_is(taken: int, more: int) -> None:
    with closing(open_memory()) as store:
        queue = open_queue(store)
        worker = queue.hire("w")
        for _ in range(taken + more):
            queue.put(Order(question="Who?", owner="many"))
        for _ in range(taken):
            worker.take()
        queue.put(Order(question="Who?", owner="alone"))
        (item,) = queue.waiting("alone")
        assert item.position <= 2


@pytest.mark.parametrize("priority", [0, 5])
def test_turns_begin_again_where_nobody_waits(priority: int) -> None:
    with closing(open_memory()) as store:
        queue = open_queue(store)
        worker = queue.hire("w")
        for _ in range(5):
            run = queue.put(Order(question="Who?", owner="a", priority=priority))
            worker.take()
            worker.finish(run)
        with store.database.write() as db:
            assert _turn(db, "a", priority) == 1
