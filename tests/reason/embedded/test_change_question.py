"""Questions of change, answered by counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Stance
from deepdiver.reason.embedded.change_question import (
    Change,
    bearing_on_change,
    by_chance,
    change_asked,
    counts_in,
)
from deepdiver.reason.embedded.hypothesise import hypothesise
from deepdiver.reason.embedded.judge import Case, judge_case
from deepdiver.tasks import Hypothesise, ShownFinding, ShownTool

QUESTION = "Have strikes near Kharkiv increased this week?"
YES, NO = (
    "Strikes near Kharkiv have increased this week.",
    "Strikes near Kharkiv have not increased this week.",
)
MORE = (
    "NASA FIRMS lists 12 thermal anomalies within 50 km of 49.98 N, 36.25 E, 2026-11-08 to "
    "2026-11-14 (by day: "
    "2026-11-08: 2), against 4 in the 7 days before (2026-11-01 to 2026-11-07)."
)
FEWER = MORE.replace(" 12 ", " 3 ")
SAME = MORE.replace(" 12 ", " 5 ")


def asked(question: str = QUESTION) -> Change:
    change = change_asked(question)
    assert change is not None
    return change


def shown(label: str, quote: str, credibility: float = 0.8) -> ShownFinding:
    return ShownFinding(
        id=label, statement=quote, quote=quote, source="s", credibility=credibility, origin=label
    )


# -- what is asked


@pytest.mark.parametrize(
    "question",
    [
        "Who owns Holm Works?",
        "What increased this week?",
        "Why have strikes increased?",
        "Is the mayor of Kharkiv Ihor Terekhov?",
        "",
        "increase",
        "Have",
    ],
)
def test_other_questions_ask_for_no_change(question: str) -> None:
    assert change_asked(question) is None


@pytest.mark.parametrize(
    ("question", "up", "yes", "no"),
    [
        (QUESTION, True, YES, NO),
        (
            "Has unemployment fallen?",
            False,
            "Unemployment has fallen.",
            "Unemployment has not fallen.",
        ),
        (
            "Did attacks decrease in May?",
            False,
            "Attacks did decrease in May.",
            "Attacks did not decrease in May.",
        ),
        ("Are there more fires?", True, "There are more fires.", "There are not more fires."),
        (
            "Have there been fewer raids?",
            False,
            "There have been fewer raids.",
            "There have not been fewer raids.",
        ),
        ("Has it been rising?", True, "It has been rising.", "It has not been rising."),
    ],
)
def test_the_two_answers_are_in_the_words_of_the_question(
    question: str, up: bool, yes: str, no: str
) -> None:
    change = asked(question)
    assert (change.up, change.yes, change.no) == (up, yes, no)


# -- counts


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (MORE, (12, 4)),
        (
            "GDELT found 1,204 articles, 2026-11-14, against 980 in the 1 day before (2026-11-13).",
            (1204, 980),
        ),
        ("Twelve against four.", None),
        ("On 2026-11-08 he voted against 4 in the 7 days before.", None),
        ("There were 12 anomalies in the week.", None),
    ],
)
def test_a_comparison_is_read_as_it_is_told(sentence: str, wanted: tuple[int, int] | None) -> None:
    assert counts_in(sentence) == wanted


@given(st.integers(0, 400), st.integers(0, 400))
def test_chance_is_a_probability_and_falls_as_the_count_rises(more: int, fewer: int) -> None:
    chance = by_chance(more, fewer)
    assert 0.0 <= chance <= 1.0
    assert by_chance(more + 1, fewer) <= chance + 1e-12
    assert by_chance(more, fewer) + by_chance(fewer, more) >= 1.0 - 1e-9, (
        "the two tails cover everything"
    )


def test_large_counts_are_close_to_the_exact_ones() -> None:
    exact, near = by_chance(1_040, 960), by_chance(1_041, 961)  # 2,000 is summed, 2,002 is not
    assert near == pytest.approx(exact, rel=0.02)


def test_known_values() -> None:
    assert by_chance(0, 0) == 1.0
    assert by_chance(1, 0) == 0.5
    assert by_chance(12, 4) == pytest.approx(0.0384, abs=1e-4)


# -- bearing


@pytest.mark.parametrize(
    ("sentence", "stance"),
    [
        (MORE, Stance.SUPPORTS),
        (FEWER, Stance.REFUTES),
        (MORE.replace(" 12 ", " 4 "), Stance.REFUTES),
        (SAME, Stance.NEUTRAL),
        ("Shelling of Kharkiv intensified on Tuesday.", Stance.SUPPORTS),
        ("Attacks on Kharkiv have not increased, the mayor said.", Stance.REFUTES),
        ("A ceasefire holds in Kharkiv.", Stance.REFUTES),
        ("Prices in Odesa increased.", Stance.NEUTRAL),
        ("Kharkiv is a city.", Stance.NEUTRAL),
        ("In Kharkiv attacks rose and then fell.", Stance.NEUTRAL),
    ],
)
def test_how_a_sentence_bears_on_it(sentence: str, stance: Stance) -> None:
    told, strength, reason = bearing_on_change(asked(), sentence)
    assert told is stance
    assert (strength > 0) == (stance is not Stance.NEUTRAL)
    assert reason


def test_a_rarer_chance_speaks_more_strongly_and_never_with_full_strength() -> None:
    strengths = [
        bearing_on_change(asked(), MORE.replace(" 12 ", f" {number} "))[1]
        for number in (8, 12, 16, 400)
    ]
    assert strengths == sorted(strengths)
    assert strengths[-1] < 0.8


def test_a_fall_that_is_asked_for_is_supported_by_a_fall() -> None:
    change = asked("Have strikes near Kharkiv decreased this week?")
    assert bearing_on_change(change, MORE.replace(" 12 ", " 0 "))[0] is Stance.SUPPORTS
    assert bearing_on_change(change, MORE)[0] is Stance.REFUTES


# -- as hypotheses


def test_both_answers_are_put_forward_before_anything_is_known_where_tools_can_count() -> None:
    news = ShownTool(
        name="search_news", about="news", arguments=("keywords: words", "days (optional): how many")
    )
    made = hypothesise(
        Hypothesise(question=QUESTION, as_of="2026-11-14", problems=(), findings=(), tools=(news,))
    )
    assert [(item.statement, item.answer) for item in made.hypotheses] == [(YES, "yes"), (NO, "no")]
    (call,) = made.hypotheses[0].test_queries
    assert {arg.name: arg.value for arg in call.args} == {
        "keywords": "Kharkiv, strikes",
        "days": "7",
    }
    assert made.hypotheses[0].refutes_if == made.hypotheses[1].supports_if


def test_without_tools_and_counts_nothing_is_put_forward_for_it() -> None:
    made = hypothesise(Hypothesise(question=QUESTION, as_of="2026-11-14", problems=(), findings=()))
    assert made.hypotheses == ()


@pytest.mark.parametrize(("statement", "stance"), [(YES, Stance.SUPPORTS), (NO, Stance.REFUTES)])
def test_a_count_is_judged_for_one_and_against_the_other(statement: str, stance: Stance) -> None:
    (judged,) = judge_case(Case(QUESTION, "2026-11-14", statement, "", (shown("F1", MORE),)))
    assert judged.stance is stance
    assert "12 against 4" in judged.reason
