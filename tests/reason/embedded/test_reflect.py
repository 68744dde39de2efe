"""Reflection names what is unanswered or weakly answered; enough is covered or searched in vain."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.reflect import (
    DISAGREE,
    ENOUGH,
    IN_VAIN,
    MORE,
    MOST_MISSING,
    MOST_QUERIES,
    UNANSWERED,
    UNTESTED,
    WEAK,
    disagreements,
    reflect,
)
from deepdiver.tasks import Reflect, Reflection, ShownTool
from tests.reason.embedded.shown import AS_OF, standing

QUESTION = "How old are the children of the parents who run Acme Ltd?"
RUN = "Ada and Bo Berg run Acme Ltd."
CHILDREN = "Ada and Bo Berg have two children, Cleo Berg and Dan Berg."
CLEO, DAN = "Cleo Berg was born on 3 May 2011.", "Dan Berg was born on 2 June 2014."
PARTS = (
    "Which parents run Acme Ltd?",
    "Who are the children of the parents?",
    "How old are the children?",
)


def reflected(*known: str, question: str = QUESTION, **more: Any) -> Reflection:
    more = {"iteration": 1, "max_iterations": 5, **more}
    return reflect(Reflect(question=question, as_of=AS_OF, known=known, **more))


def all_queries(*known: str, question: str = QUESTION) -> tuple[str, ...]:
    """Return every query that can be proposed, asked for again and again."""
    tried: tuple[str, ...] = ()
    for _ in range(40):
        made = reflected(*known, question=question, tried=tried, limit=6)
        if not made.queries:
            return tried
        tried = (*tried, *made.queries)
    raise AssertionError("there is no end of queries")


def test_where_nothing_is_known_every_part_is_missing() -> None:
    made = reflected()
    assert made.missing == PARTS
    assert made.queries
    assert (made.sufficient, made.reason) == (False, MORE)
    assert [note.text for note in made.notes] == [UNANSWERED.format(part) for part in PARTS]
    assert all(note.category == "gap" and note.critical for note in made.notes)


def test_a_tidy_list_that_answers_no_part_is_not_enough() -> None:
    made = reflected(
        "Acme Ltd was founded in 1998.", "Acme Ltd sells boats.", "Acme Ltd has a web page."
    )
    assert not made.sufficient
    assert PARTS[0] in made.missing


def test_what_is_answered_is_not_missing() -> None:
    assert reflected(RUN).missing == PARTS[1:]
    assert reflected(RUN, CHILDREN).missing == PARTS[2:]


def test_queries_are_shaped_by_what_is_known() -> None:
    assert not any("Berg" in query for query in reflected().queries)
    assert all("Berg" in query for query in reflected(RUN, CHILDREN).queries)


def test_of_ages_every_person_must_be_covered() -> None:
    made = reflected(RUN, CHILDREN, CLEO)
    assert made.missing == ("How old is Dan Berg?",)
    assert any("Dan" in query for query in made.queries)
    assert not made.sufficient


def test_when_each_part_is_covered_it_is_enough() -> None:
    made = reflected(RUN, CHILDREN, CLEO, DAN)
    assert (made.missing, made.queries, made.sufficient, made.reason) == ((), (), True, ENOUGH)


def test_a_single_weak_source_leaves_the_part_missing() -> None:
    made = reflected(RUN, CHILDREN, CLEO, DAN, uncertainties=(RUN,))
    assert PARTS[0] in made.missing
    assert not made.sufficient
    (note,) = (note for note in made.notes if note.category == "calibration")
    assert note.text == WEAK.format(RUN)
    assert not note.critical


def test_a_weak_source_beside_a_good_one_does_no_harm() -> None:
    other = "Acme Ltd is run by Ada Berg."
    assert reflected(RUN, other, CHILDREN, CLEO, DAN, uncertainties=(other,)).sufficient


def test_no_query_is_proposed_twice() -> None:
    tried = all_queries(RUN)
    assert len({query.lower() for query in tried}) == len(tried)


def test_what_was_searched_in_vain_is_enough_and_said_so() -> None:
    made = reflected(RUN, tried=all_queries(RUN))
    assert (made.sufficient, made.reason, made.queries) == (True, IN_VAIN, ())
    assert made.missing == PARTS[1:], "it is still named as missing"
    assert not any(note.critical for note in made.notes), "to do it again would bring nothing"


def test_a_problem_in_other_words_is_a_part_too() -> None:
    made = reflected(
        "Anna Holm owns Holm Works.",
        question="Who owns Holm Works?",
        problems=("When was it sold?",),
    )
    assert "When was it sold?" in made.missing


def test_a_problem_that_is_a_clause_of_the_question_counts_once() -> None:
    assert reflected(problems=PARTS).missing == PARTS


def test_values_that_do_not_go_together_are_remarked() -> None:
    one, other = "Holm Works was founded in 1998.", "Holm Works was founded in 1989."
    made = reflected(one, other, question="When was Holm Works founded?")
    assert [note.text for note in made.notes if note.category == "consistency"] == [
        DISAGREE.format(one, other)
    ]
    agreeing = reflected(
        one, "Holm Works was founded on 3 May 1998.", question="When was Holm Works founded?"
    )
    assert not [note for note in agreeing.notes if note.category == "consistency"]


def test_untested_hypotheses_are_remarked() -> None:
    held = (
        standing("Anna owns it.", HypothesisStatus.OPEN),
        standing("Bo owns it.", HypothesisStatus.SUPPORTED),
    )
    made = reflected(standing=held)
    assert [note.text for note in made.notes if note.category == "calibration"] == [
        UNTESTED.format("Anna owns it.")
    ]


def test_each_part_has_its_turn_before_any_has_its_second() -> None:
    question = "When was Holm Works founded and who owns Brinnby Mill?"
    made = reflected(question=question, limit=2)
    assert len(made.queries) == 2
    assert any("Holm" in query for query in made.queries)
    assert any("Brinnby" in query for query in made.queries)


@given(
    st.lists(st.text(max_size=80), max_size=6),
    st.lists(st.text(max_size=40), max_size=4),
    st.integers(-2, 20),
    st.text(max_size=80),
)
def test_it_is_enough_exactly_where_no_query_is_left(
    known: list[str], tried: list[str], limit: int, question: str
) -> None:
    made = reflected(
        *known, question=question, tried=tuple(tried), limit=limit, uncertainties=tuple(known[:1])
    )
    assert len(made.missing) <= MOST_MISSING
    assert len(made.queries) <= max(0, min(limit, MOST_QUERIES))
    assert made.sufficient == (made.reason != MORE)
    if made.queries:
        assert not made.sufficient
    assert not {query.lower() for query in made.queries} & {query.lower() for query in tried}


HEAT = ShownTool(
    name="detect_thermal_anomalies",
    about="fires as satellites saw them",
    arguments=("latitude: degrees", "longitude: degrees", "days (optional): how many"),
)


def test_feeds_that_suit_what_is_missing_are_called_once() -> None:
    question = "Have strikes near Kharkiv increased this week?"
    made = reflected(question=question, tools=(HEAT,))
    (call,) = made.investigation_queries
    args = {arg.name: arg.value for arg in call.args}
    assert (call.tool, args["days"]) == ("detect_thermal_anomalies", "7")
    tried = (" ".join(args.values()),)
    assert reflected(question=question, tools=(HEAT,), tried=tried).investigation_queries == ()
    assert reflected(question=question).investigation_queries == ()
    assert reflected(tools=(HEAT,)).investigation_queries == (), "it does not suit the question"


def test_lines_that_give_different_values_are_paired() -> None:
    six, nine = (f"{many} people were injured in the fire." for many in ("Six", "Nine"))
    asked = "How many people were injured in the fire?"
    task = Reflect(question=asked, as_of=AS_OF, known=(six, nine), iteration=1, max_iterations=2)
    assert [set(pair) for pair in disagreements(task)] == [{six, nine}]
    assert disagreements(task.model_copy(update={"known": (six,)})) == []
