"""Questions within a question: which phrase is asked first, and where it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.nested_question import innermost_question

# -- none


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "the",
        "Who owns Holm Works?",
        "How old are the children of the parents who run the farm?",
        "What happened at the harbour on the morning of the storm?",
        "Who is the wife of Bo Lind?",
        "Who designed the village of Morden?",
        "When was the live album Morden Nights recorded?",
        "Which was founded first, the Morden Terns or the Quill Foxes?",
        "Where is the district?",
        # what is asked for is no question before it
        "What landlocked country is the birthplace of the Swedish artist Ada Berg?",
        # the question word stands in the phrase
        "Who knew the man that lived in what city of Westland?",
        "Who wrote the show that was produced by who?",
        # a title beside its noun
        'Who starred in the television series "Aska" before the war?',
        "To which country was the novel Aska transported?",
        # nothing else than the name is meant
        "What language was spoken during the era of Haymo of Morden?",
        # told before it is asked
        "The Jump is a series about the author of Brand, who wrote it when?",
        "Bo Lind has a medal. Who is the brother of the author of Brand?",
    ],
)
def test_there_is_none(question: str) -> None:
    assert innermost_question(question) is None


# -- told by a name


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What country was the author of Brand a citizen of?", "Who is the author of Brand?"),
        ("Who is the sibling of the performer of Ten Days?", "Who is the performer of Ten Days?"),
        (
            "What kind of school did the author of Ada and the Long, Wet, Very Cold Day attend?",
            "Who is the author of Ada and the Long, Wet, Very Cold Day?",
        ),
        ("Which sea is near the birthplace of Ada Berg?", "What is the birthplace of Ada Berg?"),
        ("What kind of plane flew over Ada Berg's birthplace?", "What is Ada Berg's birthplace?"),
        ("What river flows by Ada Berg's city of birth?", "What is Ada Berg's city of birth?"),
        ("Who is married to Long Eye's main director?", "Who is Long Eye's main director?"),
        ("When did the spouse of Ada Berg sing The Last Ferry?", "Who is the spouse of Ada Berg?"),
        (
            "When was the spouse of the Swedish artist Ada Berg born?",
            "Who is the spouse of the Swedish artist Ada Berg?",
        ),
        (
            "At the last census, what was the size of Bo Lind's hometown?",
            "What is Bo Lind's hometown?",
        ),
    ],
)
def test_a_phrase_that_a_name_tells(question: str, asked: str) -> None:
    inner = innermost_question(question)
    assert inner is not None
    assert inner.question == asked


# -- told by a clause


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Who was the first president of the association which published Tern Studies?",
            "What is the association which published Tern Studies?",
        ),
        (
            "What county borders the county in which Morden, Westland is located?",
            "What is the county in which Morden, Westland is located?",
        ),
        (
            "Who was president when the area where Holm Wind Farm is located became a state?",
            "What is the area where Holm Wind Farm is located?",
        ),
        (
            "When did the country where the village of Morden is located, join the union?",
            "What is the country where the village of Morden is located?",
        ),
        (
            "What currency came before in the country Bo Lind is from?",
            "What is the country Bo Lind is from?",
        ),
        (
            "Who runs for governor in the state the Battle of Morden was fought?",
            "What is the state the Battle of Morden was fought?",
        ),
        ("What is spoken by the person who wrote Brand?", "Who is the person who wrote Brand?"),
    ],
)
def test_a_phrase_that_a_clause_tells(question: str, asked: str) -> None:
    inner = innermost_question(question)
    assert inner is not None
    assert inner.question == asked


# -- the innermost


def test_the_innermost_is_asked_first_and_its_answer_opens_the_next() -> None:
    question = "Who was in charge of the country where the composer of Aska was a citizen?"
    first = innermost_question(question)
    assert first is not None
    assert first.question == "Who is the composer of Aska?"
    assert question[first.start : first.end] == "the composer of Aska"
    second = innermost_question(f"{question[: first.start]}Bo Lind{question[first.end :]}")
    assert second is not None
    assert second.question == "What is the country where Bo Lind was a citizen?"


def test_three_lie_within_each_other() -> None:
    question = (
        "How many shops are in the state that borders the state where Long Eye's performer lived "
        "when he died?"
    )
    asked = []
    while (inner := innermost_question(question)) is not None:
        asked.append(inner.question)
        question = f"{question[: inner.start]}Xanten{question[inner.end :]}"
    assert asked == [
        "Who is Long Eye's performer?",
        "What is the state where Xanten lived when he died?",
        "What is the state that borders Xanten?",
    ]


# -- whatever is asked

PIECES = [
    "the",
    "of",
    "where",
    "who",
    "Ada",
    "Berg's",
    "city",
    "was",
    "born",
    ",",
    "?",
    "in",
    "which",
    '"Aska"',
    "a",
]


@given(
    st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join))
)
def test_a_phrase_stands_in_its_question(question: str) -> None:
    inner = innermost_question(question)
    if inner is None:
        return
    assert 0 <= inner.start < inner.end <= len(question)
    assert inner.question.endswith(f" is {question[inner.start : inner.end]}?")
    assert any(
        char.isupper() or char.isdigit() or char == '"'
        for char in question[inner.start : inner.end]
    )


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_putting_answers_in_comes_to_an_end(question: str) -> None:
    for _ in range(40):
        inner = innermost_question(question)
        if inner is None:
            return
        question = f"{question[: inner.start]}Xanten{question[inner.end :]}"
    pytest.fail(f"it goes on and on: {question}")


def test_an_endless_question_is_taken_apart_in_no_time() -> None:
    assert (
        innermost_question("Who is " + "the city where Ada Berg was born near " * 400 + "?")
        is not None
    )


# -- more of the forms that people use


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        (
            "Which is the body of water by the birthplace of the author of Dark Days?",
            ["Who is the author of Dark Days?", "What is the birthplace of Xanten?"],
        ),
        (
            "What is the usual snowfall in the city where the performers of Brand were formed?",
            ["Who is the performers of Brand?", "What is the city where Xanten were formed?"],
        ),
        (
            "When did the country in which the performer of Brand is a citizen become part of the "
            "union?",
            ["Who is the performer of Brand?", "What is the country in which Xanten is a citizen?"],
        ),
        (
            "When did the country where the city where Bo Lind was born is located give up Quorn?",
            [
                "What is the city where Bo Lind was born?",
                "What is the country where Xanten is located?",
            ],
        ),
        (
            "What is an instance of this in the birthplace of the person who made The Oddventures "
            "of Mr. Cool?",
            [
                "Who is the person who made The Oddventures of Mr. Cool?",
                "What is the birthplace of Xanten?",
            ],
        ),
        (
            "Where are lizards found, in the country with the political party that Bo Lind "
            "belongs to?",
            [
                "What is the political party that Bo Lind belongs to?",
                "What is the country with Xanten?",
            ],
        ),
        ("Who scored first last season for Bo Lind's team?", ["What is Bo Lind's team?"]),
        ("When did Ada Berg's alma mater start to teach law?", ["What is Ada Berg's alma mater?"]),
        (
            "What year did the country of Aska's performer join?",
            ["Who is Aska's performer?", "What is the country of Xanten?"],
        ),
        ("Who is the child of the person who ruled Quorn?", ["Who is the person who ruled Quorn?"]),
        (
            "In what county is the city where Bo Lind was born?",
            ["What is the city where Bo Lind was born?"],
        ),
        (
            "Who is the leader of the opposition in the country where Buyende is located?",
            ["What is the country where Buyende is located?"],
        ),
        (
            "What is the name of the airport in the city where WILM is licensed to broadcast?",
            ["What is the city where WILM is licensed to broadcast?"],
        ),
    ],
)
def test_the_steps_of_a_question(question: str, steps: list[str]) -> None:
    asked = []
    while (inner := innermost_question(question)) is not None:
        asked.append(inner.question)
        question = f"{question[: inner.start]}Xanten{question[inner.end :]}"
    assert asked[: len(steps)] == steps


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        (
            "What county borders the county in which Morden, Westland is located?",
            "the county in which Morden, Westland is located",
        ),
        (
            "Who was in charge of the country Bo Lind is located in?",
            "the country Bo Lind is located in",
        ),
        (
            "When did the country that Ada Berg was born in join?",
            "the country that Ada Berg was born in",
        ),
    ],
)
def test_a_phrase_ends_where_its_clause_does(question: str, phrase: str) -> None:
    inner = innermost_question(question)
    assert inner is not None
    assert question[inner.start : inner.end] == phrase
