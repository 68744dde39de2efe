"""Following a chain of clauses through sentences, from the first open place to the answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.chain import (
    ENOUGH,
    Step,
    answers_in,
    covered,
    directed,
    follow_chain,
    is_sure,
    match,
    side_of,
)
from deepdiver.reason.embedded.clause import Kind, clause_of
from deepdiver.reason.embedded.clause_values import Value
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reading import Reading, read_sentence

MILL = (
    "Ada and Bo Berg run the company Acme Ltd together.",
    "Cy and Di Lund run the company Bolt Ltd together.",
    "Ada and Bo Berg have two children: Eve, who is 13, and Finn, who is 10.",
    "Cy Lund has a son, Gus Lund, born on 3 May 2001.",
    "Eve Berg, born on 14 March 2011, won the race.",
    "The mill burns well.",
)


def readings(sentences: Sequence[str]) -> list[Reading]:
    return [read_sentence(sentence) for sentence in sentences]


def walk(question: str, sentences: Sequence[str]) -> list[Step]:
    return follow_chain(analyse_question(question).chains[0], readings(sentences))


def answers(question: str, *sentences: str) -> list[str]:
    return [item.value.text for item in walk(question, sentences)[-1].candidates]


# -- the chain


def test_each_answer_fills_the_hole_of_the_next_clause() -> None:
    steps = walk("How old are the children of the parents who run Acme Ltd?", MILL)
    assert steps[0].bound == ("Ada Berg", "Bo Berg")
    assert steps[1].holes == ("Ada Berg", "Bo Berg")
    assert set(steps[1].bound) == {"Eve", "Finn"}
    best = steps[2].candidates[0]
    assert (best.subject, best.value.text) == ("Eve", "14 March 2011")


def test_what_belongs_to_others_does_not_enter_the_chain() -> None:
    steps = walk("How old are the children of the parents who run Acme Ltd?", MILL)
    assert not any("Gus" in item.subject for item in steps[2].candidates)


def test_without_the_first_answer_there_is_no_second() -> None:
    steps = walk("How old are the children of the parents who run Acme Ltd?", MILL[2:])
    assert [step.candidates for step in steps] == [(), (), ()]


def test_without_sentences_there_is_nothing() -> None:
    assert [
        step.candidates
        for step in walk("How old are the children of the parents who run Acme Ltd?", ())
    ] == [
        (),
        (),
        (),
    ]


def test_a_sentence_may_answer_two_clauses_at_once() -> None:
    found = answers(
        "Who is the inventor of the patent held by Acme Ltd?",
        "The inventor of the patent of Acme Ltd is Jo Dahl.",
    )
    assert found == ["Jo Dahl"]


def test_the_longer_form_of_a_name_goes_on() -> None:
    steps = walk(
        "When was the head of Acme Ltd born?",
        (
            "The head of Acme Ltd is Berg.",
            "Ada Berg is head of Acme Ltd.",
            "Ada Berg was born on 3 May 1951.",
        ),
    )
    assert steps[0].bound == ("Ada Berg",)
    assert steps[1].candidates[0].value.text == "3 May 1951"


def test_only_answers_near_the_best_go_on() -> None:
    steps = walk(
        "Which company owns the firm that built the bridge at Morden?",
        (
            "The bridge at Morden was built by Halden Ltd.",
            "Crane Ltd built a shed.",
            "Crane Ltd is owned by Wrong Ltd.",
            "Halden Ltd is owned by Orrin Ltd.",
        ),
    )
    assert steps[0].bound == ("Halden Ltd",)
    assert [item.value.text for item in steps[1].candidates] == ["Orrin Ltd"]


# -- an ultimate relation


OWNERS = (
    "All shares in Acme Ltd are held by Bolt Ltd.",
    "Cone Ltd owns 70 percent of the shares in Bolt Ltd.",
    "Dune Ltd is the parent company of Cone Ltd.",
    "Ada Berg is chair of the board of Dune Ltd.",
    "Bo Lund is chair of the board of Bolt Ltd.",
)


def test_the_ultimate_parent_is_at_the_end_of_the_line() -> None:
    steps = walk(
        "Who is chair of the board of the company that is the ultimate parent of Acme Ltd?", OWNERS
    )
    assert steps[0].bound == ("Dune Ltd",)
    assert [item.value.text for item in steps[1].candidates] == ["Ada Berg"]


def test_the_way_to_the_ultimate_parent_is_kept() -> None:
    steps = walk("Which company is the ultimate parent of Acme Ltd?", OWNERS)
    assert {item.sentence for item in steps[0].candidates} >= {0, 1, 2}


def test_the_parent_that_is_not_the_ultimate_one_is_the_next() -> None:
    assert answers("Which company is the parent of Acme Ltd?", *OWNERS) == ["Bolt Ltd"]


def test_owners_in_a_circle_have_an_end() -> None:
    circle = (
        "Acme Ltd is owned by Bolt Ltd.",
        "Bolt Ltd is owned by Cone Ltd.",
        "Cone Ltd is owned by Bolt Ltd.",
    )
    assert walk("Which company is the ultimate parent of Acme Ltd?", circle)[0].bound == (
        "Cone Ltd",
    )


@pytest.mark.parametrize(
    ("question", "sentence", "value", "name", "expected"),
    [
        ("Which company owns Acme Ltd", "Bolt Ltd owns Acme Ltd.", "Bolt Ltd", "Acme Ltd", True),
        (
            "Which company owns Acme Ltd",
            "Acme Ltd is owned by Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
        ("Which company owns Acme Ltd", "Acme Ltd owns Bolt Ltd.", "Bolt Ltd", "Acme Ltd", False),
        (
            "Which company owns Acme Ltd",
            "Acme Ltd is a subsidiary of Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
        (
            "Which company owns Acme Ltd",
            "Bolt Ltd is a subsidiary of Acme Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            False,
        ),
        (
            "Which company owns Acme Ltd",
            "Bolt Ltd has two subsidiaries, Acme Ltd and Cone Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
        (
            "Which company owns Acme Ltd",
            "Bolt Ltd has two subsidiaries, Acme Ltd and Cone Ltd.",
            "Cone Ltd",
            "Acme Ltd",
            False,
        ),
        (
            "Which company owns Acme Ltd",
            "The owner of Acme Ltd is Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
        (
            "Which company is owned by Acme Ltd",
            "Acme Ltd owns Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
        (
            "Which company is owned by Acme Ltd",
            "Acme Ltd is owned by Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            False,
        ),
        # Nothing about owning.
        (
            "Which company built Acme Ltd",
            "Acme Ltd owns Bolt Ltd.",
            "Bolt Ltd",
            "Acme Ltd",
            True,
        ),
    ],
)
def test_who_owns_whom(question: str, sentence: str, value: str, name: str, expected: bool) -> None:
    reading = read_sentence(sentence)
    found = Value(value, reading.text.index(value), 1.0)
    assert directed(clause_of(question), reading, found, [name]) is expected


# -- a moment


LOG = (
    "02:10. The steamer Meridian reports fog off Vell.",
    "03:05. The steamer Meridian struck the reef.",
    "03:12. The engine room of the steamer Meridian is flooded.",
    "03:40. The boats of the steamer Meridian are lowered.",
    "06:30. The trawler Patience has survivors of the steamer Meridian.",
)


def test_what_happened_shortly_after_an_event() -> None:
    (step,) = walk("What happened a few minutes after the steamer Meridian struck the reef?", LOG)
    assert step.event == 1
    assert [item.sentence for item in step.candidates] == [2]


def test_what_happened_hours_after_an_event() -> None:
    (step,) = walk("What happened hours after the steamer Meridian struck the reef?", LOG)
    assert {item.sentence for item in step.candidates} == {2, 3, 4}


def test_what_happened_before_an_event() -> None:
    (step,) = walk("What happened in the hours before the steamer Meridian struck the reef?", LOG)
    assert [item.sentence for item in step.candidates] == [0]


def test_an_event_that_nobody_timed_leads_nowhere() -> None:
    (step,) = walk("What happened a few minutes after the steamer Zenith struck the reef?", LOG)
    assert step.event is None


# -- one sentence


@pytest.mark.parametrize(
    ("question", "sentence", "least", "most"),
    [
        ("Who runs Acme Ltd", "Ada Berg runs Acme Ltd.", 1.0, 1.0),
        ("Who runs Acme Ltd", "Ada Berg is managing director of Acme Ltd.", 1.0, 1.0),
        ("Who runs Acme Ltd", "Ada Berg runs Bolt Ltd.", 0.0, 0.0),
        ("Who runs Acme Ltd", "Ada Berg sings at Acme Ltd.", 0.0, 0.0),
        # Half a predicate is another one.
        (
            "When did the ship sink at Vell",
            "The ship lay at Vell.",
            0.0,
            0.0,
        ),
        (
            "How much ore was there at Vell on 3 May 2001",
            "There was ore at Vell on 4 May 2001.",
            0.0,
            0.0,
        ),
        ("How much ore was there at Vell on 3 May 2001", "There was ore at Vell.", 0.6, 0.95),
        ("Who won the cup in 2023", "2022: the cup was won by Ada Berg.", 0.0, 0.0),
    ],
)
def test_how_far_a_sentence_matches(
    question: str, sentence: str, least: float, most: float
) -> None:
    assert least <= match(clause_of(question), read_sentence(sentence)) <= most


def test_the_title_of_a_source_stands_in_for_a_name_in_part() -> None:
    clause = clause_of("Who runs Acme Mills Ltd")
    inside = match(clause, read_sentence("Ada Berg runs Acme Mills Ltd."))
    beside = match(
        clause,
        read_sentence("The head who runs it is Ada Berg.", title="Extract for Acme Mills Ltd"),
    )
    assert ENOUGH <= beside < inside


def test_a_publisher_stands_in_only_where_it_speaks_of_itself() -> None:
    clause = clause_of("Which company insured the Harrow Museum")
    assert (
        match(
            clause, read_sentence("The museum is insured by Acme Ltd.", publisher="Harrow Museum")
        )
        > ENOUGH
    )
    assert (
        match(clause, read_sentence("We are insured by Acme Ltd.", publisher="Harrow Museum"))
        > ENOUGH
    )
    assert (
        match(clause, read_sentence("The bank is insured by Acme Ltd.", publisher="Harrow Museum"))
        == 0.0
    )


def test_a_signature_says_nothing() -> None:
    clause = clause_of("Who runs Acme Mills Ltd")
    assert (
        match(
            clause, read_sentence("Ada Berg, managing director.", title="Report of Acme Mills Ltd")
        )
        == 0.0
    )


def test_a_quoted_title_must_be_in_the_sentence() -> None:
    (chain,) = analyse_question('When was the paper "Blue light at the nest" retracted?').chains
    told = "The paper “Blue light at the nest” was retracted on 8 May 2005."
    other = "The correction of 12 June 2003 is retracted with the paper."
    assert [
        item.value.text for item in follow_chain(chain, readings([told, other]))[0].candidates
    ] == ["8 May 2005"]


def test_a_comparison_is_answered_by_no_single_sentence() -> None:
    clause = clause_of("Which was first, Acme Ltd or Bolt Ltd")
    assert list(answers_in(clause, read_sentence("Acme Ltd was first."), [])) == []


def test_those_joined_by_and_are_taken_together() -> None:
    assert set(
        answers("Who runs Acme Ltd?", "Ada and Bo Berg run Acme Ltd, which Cy Lund left.")
    ) == {
        "Ada Berg",
        "Bo Berg",
    }


def test_where_no_name_fits_the_sentence_itself_is_the_answer() -> None:
    assert answers(
        "Which animal was removed from Skarn Island?", "The mink was removed from Skarn Island."
    ) == [""]
    assert (
        answers(
            "Which animal was removed from Skarn Island?",
            "No animal was removed from Skarn Island.",
        )
        == []
    )


@pytest.mark.parametrize(
    ("sentence", "side"),
    [
        ("An electric car caused the fire on the ferry Meridian.", "affirms"),
        ("An electric car exploded on the ferry Meridian.", "affirms"),
        ("An electric car caused the fire on the ferry Zenith.", ""),
        ("No electric car was on board the ferry Meridian.", "denies"),
        (
            "The claim that an electric car caused the fire on the ferry Meridian is false.",
            "denies",
        ),
        ("The fire on the ferry Meridian was caused by a worn cable.", "instead"),
        ("The cause of the fire on the ferry Meridian is not known.", ""),
        ("No oil was seen near the ferry Meridian.", ""),
        ("The ferry Meridian is red.", ""),
    ],
)
def test_the_side_that_a_sentence_takes(sentence: str, side: str) -> None:
    assert (
        side_of(
            clause_of("Did an electric car cause the fire on the ferry Meridian"),
            read_sentence(sentence),
        )
        == side
    )


@pytest.mark.parametrize(
    ("sentence", "side"),
    [
        ("The captain of the steamer Meridian was drunk.", "affirms"),
        ("The captain of the steamer Meridian was not drunk.", "denies"),
        ("The captain of the steamer Meridian was Elias Thorne.", ""),
    ],
)
def test_a_subject_of_one_word_affirms_nothing_by_itself(sentence: str, side: str) -> None:
    assert (
        side_of(clause_of("Was the captain of the steamer Meridian drunk"), read_sentence(sentence))
        == side
    )


def test_what_is_covered() -> None:
    reading = read_sentence("Ada Berg is director.", title="Report on the mill")
    assert covered(("run",), reading) == 1.0
    assert covered(("mill",), reading) == 0.5
    assert covered(("run", "zebra"), reading) == 0.5
    assert covered((), reading) == 0.0


# -- properties


@given(
    st.lists(st.sampled_from(MILL + OWNERS + LOG), max_size=8),
    st.sampled_from(
        [
            "How old are the children of the parents who run Acme Ltd?",
            "Which company is the ultimate parent of Acme Ltd?",
            "What happened a few minutes after the steamer Meridian struck the reef?",
            "Did Ada Berg win the race?",
        ]
    ),
)
def test_the_best_comes_first_and_every_sentence_is_there(
    sentences: list[str], question: str
) -> None:
    for step in walk(question, sentences):
        scores = [item.score for item in step.candidates]
        assert all(0.0 < score <= 1.0 for score in scores)
        assert all(0 <= item.sentence < len(sentences) for item in step.candidates)
        if not step.clause.ultimate:
            assert scores == sorted(scores, reverse=True)


@given(st.permutations(MILL))
def test_the_order_of_the_sentences_does_not_matter(sentences: list[str]) -> None:
    steps = walk("How old are the children of the parents who run Acme Ltd?", sentences)
    assert set(steps[1].bound) == {"Eve", "Finn"}
    assert steps[2].candidates[0].value.text == "14 March 2011"


@given(st.text(max_size=120), st.lists(st.text(max_size=200), max_size=4))
def test_any_question_can_be_followed_through_any_sentences(
    question: str, sentences: list[str]
) -> None:
    for chain in analyse_question(question).chains:
        assert len(follow_chain(chain, readings(sentences))) == len(chain)


def test_kinds_that_are_no_names_bind_nothing() -> None:
    (step,) = walk("When did the ship Meridian sink?", ["The ship Meridian sank on 3 May 1932."])
    assert step.clause.kind is Kind.DATE
    assert step.bound == ()


# -- sure


@pytest.mark.parametrize(
    ("question", "sentence", "settled"),
    [
        ("When was Acme Ltd founded?", "Acme Ltd was founded in 1904.", True),
        ("Who runs Acme Ltd?", "Ada Berg runs Acme Ltd.", True),
        ("Who runs Acme Ltd?", "It rained.", False),
        ("What happened at the Tarn Bridge?", "The Tarn Bridge fell.", False),
    ],
)
def test_a_value_or_name_in_a_sentence_that_says_all_of_it_makes_the_rules_sure(
    question: str, sentence: str, settled: bool
) -> None:
    assert (
        is_sure(follow_chain(analyse_question(question).chains[0], [read_sentence(sentence)]))
        is settled
    )
