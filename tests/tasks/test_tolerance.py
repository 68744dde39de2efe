"""What tolerance reads, and what it must refuse: what it refuses first."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from deepdiver import tasks
from deepdiver.errors import UnreadableAnswerError
from deepdiver.reason.parse import read_answer
from deepdiver.tasks.task import Answer, schema
from deepdiver.tasks.tolerance import (
    TOLERANT,
    Also,
    Label,
    Leaves,
    Means,
    Opposite,
    choice_in,
    tolerate,
)


class Colour(StrEnum):
    DARK_RED = "dark_red"
    BLUE = "blue"


class Point(Answer):
    name: str
    weight: Annotated[float, Field(ge=0.05, le=0.95), Also("initial_weight")] = 0.5


class Plan(Answer):
    step: Literal["go_on", "stop"] = "stop"
    colour: Colour | None = None
    points: Annotated[tuple[Point, ...], Field(max_length=3)] = ()
    notes: Annotated[tuple[str, ...], Field(max_length=3)] = ()
    size: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    why: str = ""
    done: bool = False


class Vote(Answer):
    choice: Annotated[Literal["go_on", "stop"], Means(stop=("halt", "call it a day"))]
    on: Annotated[tuple[Label, ...], Also("ids")] = ()
    queries: Annotated[tuple[Annotated[str, Also("query", "q")], ...], Field(max_length=3)] = ()
    points: tuple[Point, ...] = ()


class Marked(Answer):
    item: Label
    mark: Literal["good", "bad"]


class Marks(Answer):
    marks: tuple[Marked, ...]


class Review(Answer):
    enough: Annotated[bool, Opposite("needs_more", "unfinished")]
    urgent: Annotated[bool, Also("severity", "action_required")] = False
    why: Annotated[str, Also("reason")] = ""


def loosely(value: Any, kind: type[Answer] = Plan) -> Any:
    return kind.model_validate(value, context=TOLERANT)


# What is refused


def test_code_must_make_answers_as_their_types_say() -> None:
    with pytest.raises(ValidationError):
        Plan.model_validate({"step": "GO ON"})
    with pytest.raises(ValidationError):
        Point(name="a", weight=1.0)


@pytest.mark.parametrize(
    "said",
    [
        "do not go on",
        "don't stop",
        "never stop",
        "go on or stop",
        "wait",
        "",
        "I would go on if there were anything that could still be found",
        7,
    ],
)
def test_a_text_that_does_not_name_one_choice_is_refused(said: Any) -> None:
    with pytest.raises(ValidationError):
        loosely({"step": said})


@pytest.mark.parametrize(
    "said",
    [
        {"halted": True},  # other words name an option, and never a key
        {"go_on": "perhaps"},
        {"go_on": 1},
        {"do_not_stop": True},
        {"go_on_or_stop": True},
        {"choice": "halt, or rather go on"},
        {"choice": "do not halt"},
        {"choice": True},
    ],
)
def test_a_yes_that_does_not_say_to_what_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="choice"):
        loosely(said, Vote)


def test_yes_and_no_choose_between_two_and_not_among_three() -> None:
    with pytest.raises(ValidationError, match="stance"):
        loosely({"finding": "F1", "supports": True, "strength": 0.5}, tasks.Judgement)


def test_other_words_are_no_answer_by_themselves() -> None:
    # "Done thinking." would be a decision.
    assert choice_in(Vote, "Halt") is None
    assert choice_in(Vote, "Stop") == {"choice": "stop"}


@pytest.mark.parametrize("value", [850, "very high", "nan", True, [0.5, 0.6], {"value": 0.5}])
def test_what_is_not_a_share_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        loosely({"name": "a", "weight": value}, Point)


def test_a_list_of_which_nothing_fits_is_refused() -> None:
    with pytest.raises(ValidationError, match="points"):
        loosely({"points": [{"weight": 0.5}, {"colour": "blue"}]})


def test_a_field_without_a_default_is_never_made_up() -> None:
    with pytest.raises(ValidationError, match="name"):
        loosely({"weight": 0.5}, Point)
    with pytest.raises(ValidationError, match="name"):
        loosely({"name": None}, Point)


@pytest.mark.parametrize("said", ["perhaps", None, 3, {"x": 1}])
def test_the_contrary_of_what_is_neither_yes_nor_no_is_not_made_up(said: Any) -> None:
    with pytest.raises(ValidationError, match="enough"):
        loosely({"needs_more": said}, Review)


@pytest.mark.parametrize("said", ["minor", "not urgent", "", "See to it that the log is read."])
def test_a_text_that_does_not_name_the_field_does_not_say_yes(said: str) -> None:
    assert not loosely({"enough": True, "severity": said}, Review).urgent


def test_a_sentence_is_no_answer() -> None:
    for text in ("I would say that we should wait", '"a line of words"', "go on?\nor stop?" * 99):
        with pytest.raises(UnreadableAnswerError):
            read_answer(text, tasks.Queries)
    with pytest.raises(UnreadableAnswerError):
        read_answer("We should not continue, since nothing new was found.", tasks.Decision)


# What is read


@pytest.mark.parametrize("said", ["GO_ON", "Go On", "go-on", "goOn", "Decision: go on"])
def test_choices_are_read_in_any_case(said: str) -> None:
    assert loosely({"step": said}).step == "go_on"


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Bias Check", "bias"),
        ("Gap Analysis", "gap"),
        ("Alternative Explanations", "alternative"),
        ("Confidence Calibration", "calibration"),
        ("CONSISTENCY_CHECK", "consistency"),
    ],
)
def test_choices_are_read_with_words_around_them(said: str, category: str) -> None:
    assert loosely({"category": said, "text": "t"}, tasks.Note).category == category


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        (0.0, 0.05),
        (1, 0.95),
        (1.2, 0.95),
        (-3, 0.05),
        ("0.6", 0.6),
        ("60%", 0.6),
        ("60 %", 0.6),
        (85, 0.85),
        ("100%", 0.95),
        (None, 0.5),
    ],
)
def test_numbers_come_within_their_limits(given: Any, weight: float) -> None:
    assert loosely({"name": "a", "weight": given}, Point).weight == weight


@pytest.mark.parametrize("said", ["halt", "HALT!", "Call it a day."])
def test_choices_are_read_in_other_words(said: str) -> None:
    assert loosely({"choice": said}, Vote).choice == "stop"


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ({"should_stop": True}, "stop"),
        ({"shouldStop": False}, "go_on"),
        ({"go_on": "yes"}, "go_on"),
        ({"Go on?": "No"}, "stop"),
    ],
)
def test_of_two_choices_one_is_read_from_yes_and_no(said: dict[str, Any], choice: str) -> None:
    assert loosely(said, Vote).choice == choice
    assert loosely({"choice": "stop", **said}, Vote).choice == "stop", "as asked for wins"


@pytest.mark.parametrize(
    "said", [["F1", "2"], "F1, 2", "F1\n- 2", [{"id": "F1", "text": "t"}, 2], {"ids": ["F1", 2]}]
)
def test_labels_are_read_from_what_stands_for_one(said: Any) -> None:
    given = said if isinstance(said, dict) else {"on": said}
    assert loosely({"choice": "stop", **given}, Vote).on == ("F1", "2")


@pytest.mark.parametrize(
    "said",
    [
        [{"query": "a", "rationale": "r"}, {"Q": "b"}],
        {"query_1": "a", "query_2": "b"},
        {"1": "a", "2.": {"query": "b", "why": "w"}},
        ["a", "b", None, ""],
    ],
)
def test_texts_are_read_from_objects_that_carry_them(said: Any) -> None:
    assert loosely({"choice": "stop", "queries": said}, Vote).queries == ("a", "b")


def test_one_object_for_a_list_of_texts_is_one_text() -> None:
    said = {"query": "a", "rationale": "r"}
    assert loosely({"choice": "stop", "queries": said}, Vote).queries == ("a",)
    no_name = loosely({"choice": "stop", "queries": {"words": "a"}}, Vote)
    assert no_name.queries == ("words: a",)


def test_keys_that_number_objects_are_dropped_and_labels_are_kept() -> None:
    read = loosely({"choice": "stop", "points": {"point_1": "a", "2": {"NAME": "b"}}}, Vote)
    assert [point.name for point in read.points] == ["a", "b"]
    by_label = loosely({"marks": {"F1": "good", "2": {"mark": "Bad"}}}, Marks)
    assert [(item.item, item.mark) for item in by_label.marks] == [("F1", "good"), ("2", "bad")]


def test_other_names_beside_the_keys_that_were_asked_for_are_read() -> None:
    said = '{"statement": "s", "supports_if": "a", "refutes_if": "b", "initial_confidence": 0.9}'
    (one,) = read_answer(f'{{"hypotheses": [{said}]}}', tasks.HypothesisSet).hypotheses
    assert one.prior == 0.9


def test_keys_are_read_in_any_spelling_and_by_their_other_names() -> None:
    read = loosely({"Step": "stop", "Notes": ["n"], "WHY": "w", "unknown": {"deep": [1]}})
    assert (read.step, read.notes, read.why) == ("stop", ("n",), "w")
    assert loosely({"name": "a", "initialWeight": 0.7}, Point).weight == 0.7


def test_a_key_as_it_was_asked_for_wins() -> None:
    for value in (
        {"name": "a", "weight": 0.6, "initial_weight": 0.2},
        {"initial_weight": 0.2, "weight": 0.6, "name": "a"},
    ):
        assert loosely(value, Point).weight == 0.6


def test_bad_items_are_left_out_and_lists_are_cut() -> None:
    read = loosely(
        {"points": [{"name": "a"}, 3, {"weight": 0.5}, None, {"name": "b", "weight": 2}]}
    )
    assert [(point.name, point.weight) for point in read.points] == [
        ("a", 0.5),
        ("3", 0.5),
        ("b", 0.95),
    ]
    assert loosely({"notes": list("abcdef")}).notes == ("a", "b", "c")


def test_lists_are_read_from_what_stands_for_one() -> None:
    assert loosely({"notes": "alone"}).notes == ("alone",)
    assert loosely({"notes": "1. one\n2) two\n\n- three"}).notes == ("one", "two", "three")
    assert loosely({"notes": {"first": "one", "second": 2}}).notes == ("first: one", "second: 2")
    assert loosely({"notes": [1, 2.5, ["a", "b"]]}).notes == ("1", "2.5", "a; b")
    assert loosely({"notes": None}).notes == ()
    assert [point.name for point in loosely({"points": "a"}).points] == ["a"]
    assert [point.name for point in loosely({"points": {"name": "a"}}).points] == ["a"]
    by_name = loosely({"points": {"a": 0.7, "b": {"weight": 0.2}}}).points
    assert [(point.name, point.weight) for point in by_name] == [("a", 0.7), ("b", 0.2)]


def test_arguments_are_read_from_an_object() -> None:
    said = {"tool": "search_news", "args": {"keywords": "strike", "radius_km": 50, "exact": True}}
    read = loosely(said, tasks.ToolQuery)
    assert [(arg.name, arg.value) for arg in read.args] == [
        ("keywords", "strike"),
        ("radius_km", "50"),
        ("exact", "true"),
    ]


def test_an_argument_that_is_called_name_is_one() -> None:
    read = loosely({"tool": "lookup_sanctions", "args": {"name": "Ivan Ek"}}, tasks.ToolQuery)
    assert [(arg.name, arg.value) for arg in read.args] == [("name", "Ivan Ek")]
    read = loosely({"tool": "t", "args": {"name": "days", "value": "7"}}, tasks.ToolQuery)
    assert [(arg.name, arg.value) for arg in read.args] == [("days", "7")]


@pytest.mark.parametrize(
    ("said", "enough"),
    [
        ({"needs_more": True}, False),
        ({"Needs More": "no"}, True),
        ({"unfinished": "Yes"}, False),
        ({"enough": True, "needs_more": True}, True),
    ],
)
def test_a_name_that_means_the_contrary_is_turned_round(said: Any, enough: bool) -> None:
    assert loosely(said, Review).enough is enough


def test_yes_is_read_from_a_text_that_names_the_field() -> None:
    for said in ({"severity": "URGENT"}, {"urgent": "yes"}, {"severity": "urgent!"}):
        assert loosely({"enough": True, **said}, Review).urgent
    both = {"enough": True, "action_required": "Read the log.", "severity": "urgent"}
    assert loosely(both, Review).urgent, "the first of several names that can be read counts"
    assert not loosely({"enough": True, "urgent": "no"}, Review).urgent


def test_an_object_under_a_key_that_means_nothing_is_opened() -> None:
    said = {"why": "a", "overall": {"enough": False, "reason": "b"}, "meta": {"x": {"enough": 1}}}
    read = loosely(said, Review)
    assert (read.enough, read.why) == (False, "a"), "what stands outside wins"


def test_texts_are_read_from_lists_and_objects() -> None:
    assert loosely({"why": ["a", "b", None, ""]}).why == "a; b"
    assert loosely({"why": {"because": 3}}).why == "because: 3"
    assert loosely({"why": None}).why == ""


def test_null_stays_where_it_may_be() -> None:
    read = loosely({"colour": None, "size": None})
    assert (read.colour, read.size) == (None, None)
    assert loosely({"colour": "Dark Red", "size": 50}).colour is Colour.DARK_RED
    assert loosely({"size": "12"}).size == 10.0


def test_the_word_of_a_choice_is_an_answer() -> None:
    for text in (
        "CONTINUE",
        "**CONTINUE**",
        "\nContinue.\nTwo parts are open.",
        "```\ncontinue\n```",
    ):
        assert read_answer(text, tasks.Decision).decision == "continue"
    assert choice_in(tasks.Queries, "continue") is None


def test_what_fits_exactly_wins_over_what_fits_loosely() -> None:
    text = '{"decision": "finish", "reason": "r"} or rather {"decision": "Continue please"}'
    assert read_answer(text, tasks.Decision).decision == "finish"


def test_what_fits_exactly_is_still_read_for_what_stands_under_other_names() -> None:
    said = '{"category": "bias", "text": "One side only.", "action_required": true}'
    assert read_answer(said, tasks.Note).critical
    assert not read_answer('{"category": "bias", "text": "x", "odd": {}}', tasks.Note).critical


def test_other_names_are_not_in_the_schema() -> None:
    assert "initial" not in str(schema(tasks.HypothesisSet))
    assert "needs" not in str(schema(Review))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*Plan.model_fields, "Points", "x"]), JSON))
def test_anything_is_read_or_refused(value: dict[str, Any]) -> None:
    try:
        read = loosely(value)
    except ValidationError:
        return
    assert len(read.points) <= 3
    assert len(read.notes) <= 3
    assert all(0.05 <= point.weight <= 0.95 for point in read.points)
    assert Plan.model_validate(read.model_dump()) == read, "what was read is exact"


@given(
    st.builds(
        Plan,
        step=st.sampled_from(["go_on", "stop"]),
        colour=st.sampled_from([None, *Colour]),
        points=st.lists(st.builds(Point, name=st.text(), weight=st.floats(0.05, 0.95)), max_size=3),
        notes=st.lists(st.text(min_size=1), max_size=3),
        size=st.none() | st.floats(0, 10),
        why=st.text(),
        done=st.booleans(),
    )
)
def test_an_exact_answer_is_read_as_it_is(answer: Plan) -> None:
    said = answer.model_dump(mode="json")
    assert loosely(said) == answer
    assert tolerate(Plan, said).keys() <= said.keys()


# Statements in the leaves of an object


class Fact(Answer):
    statement: Annotated[str, Also("fact")]
    source: str = ""


class Facts(Answer):
    facts: Annotated[tuple[Fact, ...], Field(max_length=6), Leaves()] = ()


def stated(value: Any) -> list[str]:
    return [fact.statement for fact in loosely({"facts": value}, Facts).facts]


@pytest.mark.parametrize("value", [None, "", [], {}, {"owner": {}}, {"owner": None}, [{}], " "])
def test_where_nothing_is_stated_there_is_no_statement(value: Any) -> None:
    assert stated(value) == []


def test_an_object_of_known_keys_alone_states_nothing() -> None:
    assert stated([{"source": "T1"}, "Anna owns it."]) == ["Anna owns it."]
    with pytest.raises(ValidationError, match="statement"):
        stated([{"source": "T1"}])


@pytest.mark.parametrize(
    ("value", "statements"),
    [
        ("Anna owns it.", ["Anna owns it."]),
        ("- Anna owns it\n2. It is old", ["Anna owns it", "It is old"]),
        ({"owner": "Anna Holm"}, ["owner: Anna Holm"]),
        ({"owner": {"full_name": "Anna", "age": 50}}, ["owner, full name: Anna", "owner, age: 50"]),
        ({"summary": "Anna owns it. It is old."}, ["Anna owns it. It is old."]),
        ({"owners": ["Anna", "Bertil"]}, ["owners: Anna", "owners: Bertil"]),
        ({"children": [{"name": "Alma", "age": 15}]}, ["children: name: Alma; age: 15"]),
        ([{"name": "Alma", "age": 15}], ["name: Alma; age: 15"]),
        ([{"description": "Anna owns it"}], ["Anna owns it"]),
        ({"finding_1": "Anna owns it", "2": "It is old"}, ["Anna owns it", "It is old"]),
        ({"2024": {"revenue": 5}}, ["2024, revenue: 5"]),
        ({"open": True, "gone": None}, ["open: true"]),
        (7, ["7"]),
    ],
)
def test_each_leaf_is_a_statement_with_its_keys(value: Any, statements: list[str]) -> None:
    assert stated(value) == statements


def test_a_statement_that_is_given_as_one_keeps_its_other_fields() -> None:
    read = loosely(
        {"facts": {"facts": [{"fact": "a", "source": "T1"}, {"name": "b", "source": "T2"}]}}, Facts
    )
    assert [(fact.statement, fact.source) for fact in read.facts] == [
        ("a", "T1"),
        ("facts: name: b", "T2"),
    ]
    assert loosely({"facts": {"statement": "c", "source": "T3"}}, Facts).facts[0].source == "T3"


LEAF = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(LEAF, lambda some: st.lists(some) | st.dictionaries(st.text(), some)))
def test_whatever_the_object_holds_the_statements_are_texts_and_not_too_many(value: Any) -> None:
    try:
        said = stated(value)
    except ValidationError:
        return
    assert len(said) <= 6
    assert all(isinstance(text, str) for text in said)
