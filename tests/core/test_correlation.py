from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.correlation import (
    CAUSAL_WINDOW,
    MOST,
    PER_EVENT,
    RADIUS_KM,
    SAME_DAY,
    WINDOW,
    ObservedEvent,
    ProposedCorrelation,
    cluster_events,
    describe_closeness,
    in_one_place,
    km_between,
    propose_correlations,
)
from deepdiver.core.record import CorrelationKind
from deepdiver.core.time_and_place import DAY, Moment, Position

TEMPORAL, GEOSPATIAL, CAUSAL, PATTERN = CorrelationKind
HERE, NEAR, FAR = Position(63.2140, 19.0820), Position(63.2201, 19.0765), Position(59.3293, 18.0686)
NOON = 739_000 * DAY + 720


def event(
    key: str,
    minute: int | None = None,
    where: Position | None = None,
    *names: str,
    origin: str = "",
) -> ObservedEvent:
    when = None if minute is None else Moment(NOON + minute, NOON + minute)
    return ObservedEvent(key, origin or key, when, where, frozenset(names))


def of(kind: CorrelationKind, *events: ObservedEvent) -> list[ProposedCorrelation]:
    return [proposal for proposal in propose_correlations(events) if proposal.kind is kind]


# -- time


def test_two_events_within_the_window_are_close_in_time() -> None:
    (found,) = of(TEMPORAL, event("b", 6), event("a", 0))
    assert (found.keys, found.minutes, found.km) == (("a", "b"), 6, None)
    assert not of(TEMPORAL, event("a", 0), event("b", WINDOW + 1))
    assert of(TEMPORAL, event("a", 0), event("b", WINDOW))


def test_the_closer_in_time_and_space_the_closer() -> None:
    near, far, unknown = (
        of(TEMPORAL, event("a", 0, HERE), event("b", 6, where))[0] for where in (NEAR, FAR, None)
    )
    assert near.closeness > unknown.closeness > far.closeness
    assert near.km == pytest.approx(0.73, abs=0.01)
    assert (
        of(TEMPORAL, event("a", 0), event("b", 1))[0].closeness
        > of(TEMPORAL, event("a", 0), event("b", 50))[0].closeness
    )


def test_of_one_day_is_all_that_can_be_said_where_the_clock_is_not_known() -> None:
    day = ObservedEvent("d", "d", Moment(NOON - 720, NOON + 719))
    (found,) = of(TEMPORAL, day, event("a", 0))
    assert found.minutes is None
    assert found.closeness <= SAME_DAY
    assert describe_closeness(found) == "on the same day"
    assert not of(TEMPORAL, day, event("a", 2 * DAY))


def test_copies_of_one_story_make_no_correlation() -> None:
    assert (
        propose_correlations([event("a", 0, HERE, origin="o"), event("b", 6, NEAR, origin="o")])
        == []
    )


def test_an_event_is_in_few_proposals_of_a_kind_and_there_are_few() -> None:
    many = [event("a", 0), *(event(f"b{n}", n % 20) for n in range(20))]
    found = of(TEMPORAL, *many)
    assert len(found) == MOST[TEMPORAL]
    for item in many:
        assert sum(item.key in proposal.keys for proposal in found) <= PER_EVENT


# -- space


def test_events_within_the_radius_are_one_group() -> None:
    (found,) = of(GEOSPATIAL, event("a", None, HERE), event("b", None, NEAR), event("c", None, FAR))
    assert found.keys == ("a", "b")
    assert describe_closeness(found) == "0.73 km apart"
    (three,) = of(
        GEOSPATIAL, event("a", None, HERE), event("b", None, NEAR), event("c", None, HERE)
    )
    assert describe_closeness(three) == "within 0.73 km"


def test_without_positions_a_name_is_enough() -> None:
    (found,) = of(
        GEOSPATIAL, event("a", None, None, "oslo"), event("b", None, None, "oslo", "bergen")
    )
    assert found.km is None
    assert describe_closeness(found) == "at a place of the same name"
    assert not of(GEOSPATIAL, event("a", None, None, "oslo"), event("b", None, None, "bergen"))


def test_positions_go_before_names() -> None:
    assert not in_one_place(event("a", 0, HERE, "vantskär"), event("b", 0, FAR, "vantskär"))
    assert in_one_place(event("a", 0, None, "vantskär"), event("b", 0, FAR, "vantskär"))
    assert km_between(event("a"), event("b", 0, HERE)) is None


# -- cause and pattern


def test_a_possible_cause_comes_first_and_is_near() -> None:
    (found,) = of(CAUSAL, event("z", 0, NEAR), event("a", 6, HERE))
    assert found.keys == ("z", "a"), "in the order of time"
    assert found.minutes == 6
    assert not of(CAUSAL, event("z", 0, NEAR), event("a", 0, HERE)), "at the same time is no order"
    assert not of(CAUSAL, event("z", 0, NEAR), event("a", 6, FAR))
    assert not of(CAUSAL, event("z", 0, NEAR), event("a", CAUSAL_WINDOW + 1, HERE))
    assert not of(CAUSAL, event("z", 0), event("a", 6)), "nothing says that they were in one place"


def test_a_day_without_a_clock_has_no_order() -> None:
    day = ObservedEvent("d", "d", Moment(NOON - 720, NOON + 719), HERE)
    assert not of(CAUSAL, day, event("a", 6, HERE))


def test_equal_intervals_in_one_place_are_a_pattern() -> None:
    week = [event(f"e{n}", n * 7 * DAY, HERE) for n in range(4)]
    (found,) = of(PATTERN, *week)
    assert found.keys == ("e0", "e1", "e2", "e3")
    assert describe_closeness(found) == "7 days from one to the next"
    assert not of(PATTERN, *week[:2])
    assert not of(PATTERN, event("a", 0, HERE), event("b", DAY, HERE), event("c", 9 * DAY, HERE))
    twice = [*week, event("f", 0, HERE)]
    assert of(PATTERN, *twice)[0].minutes == 7 * DAY, (
        "an event that two sources tell of happened once"
    )


# -- whatever the events

made = st.builds(
    ObservedEvent,
    st.text("abcdef", min_size=1, max_size=3),
    st.text("xyz", min_size=1, max_size=1),
    st.none()
    | st.builds(
        lambda start, length: Moment(NOON + start, NOON + start + length),
        st.integers(0, 400),
        st.sampled_from([0, 5, DAY]),
    ),
    st.none() | st.sampled_from([HERE, NEAR, FAR]),
    st.frozensets(st.sampled_from(["oslo", "bergen"]), max_size=2),
)
unlike = st.lists(made, max_size=12, unique_by=lambda item: item.key)


@given(unlike, st.randoms())
def test_what_is_proposed_does_not_depend_on_the_order(
    events: list[ObservedEvent], chance: random.Random
) -> None:
    shuffled = list(events)
    chance.shuffle(shuffled)
    assert propose_correlations(shuffled) == propose_correlations(events)
    assert propose_correlations([*events, *events]) == propose_correlations(events)


@given(unlike)
def test_what_is_proposed_holds(events: list[ObservedEvent]) -> None:
    by_key = {item.key: item for item in events}
    for proposal in propose_correlations(events):
        held = [by_key[key] for key in proposal.keys]
        assert len(held) == len(set(proposal.keys)) >= 2
        assert len({item.origin for item in held}) >= 2
        assert 0.0 <= proposal.closeness <= 1.0
        assert describe_closeness(proposal)
        if proposal.kind in {TEMPORAL, CAUSAL}:
            one, other = held
            assert one.moment is not None
            assert other.moment is not None
            assert one.moment.gap(other.moment) == other.moment.gap(one.moment) <= CAUSAL_WINDOW
            assert one.moment <= other.moment
        if proposal.kind is CAUSAL:
            assert in_one_place(*held)


@given(unlike, st.randoms())
def test_clusters_part_the_events(events: list[ObservedEvent], chance: random.Random) -> None:
    def near(one: ObservedEvent, other: ObservedEvent) -> bool:
        return (km_between(one, other) or 0.0) <= RADIUS_KM

    placed = [item for item in events if item.position is not None]
    groups = cluster_events(placed, near)
    assert sorted(item.key for group in groups for item in group) == sorted(
        item.key for item in placed
    )
    for one in groups:
        for other in groups:
            assert one is other or not any(near(a, b) for a in one for b in other)
    chance.shuffle(placed)
    assert cluster_events(placed, near) == groups


def test_a_town_that_is_only_named_reaches_as_far_as_it_is_wide() -> None:
    news = ObservedEvent("a", "o1", Moment(100, 100), Position(49.98, 36.25, 15.0))
    near, far = Position(50.10, 36.25), Position(50.30, 36.25)  # 13 and 36 km north
    fire, other = (
        ObservedEvent("b", "o2", Moment(105, 105), near),
        ObservedEvent("c", "o3", Moment(105, 105), far),
    )
    assert in_one_place(news, fire)
    assert not in_one_place(news, other)
    assert not in_one_place(fire, other)
    kinds = {proposal.kind for proposal in propose_correlations([news, fire])}
    assert {CorrelationKind.TEMPORAL, CorrelationKind.GEOSPATIAL} <= kinds
    assert all(
        proposal.km == pytest.approx(13.34, abs=0.1)
        for proposal in propose_correlations([news, fire])
    ), "what was measured"
