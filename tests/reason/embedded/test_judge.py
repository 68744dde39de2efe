"""The same value supports, another value or a denial refutes, and the rest is neutral."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.reason.embedded import judge as module
from deepdiver.reason.embedded.judge import (
    ALIKE,
    ALTERED,
    DIRECT,
    LEADS,
    LEANS,
    LEAST_READ,
    READS,
    RELIED_ON,
    UNHEARD,
    Case,
    judge_case,
    may_bear,
    restates,
)
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.rivals import FIRST_GUESS, OTHER_WORDS
from deepdiver.reason.embedded.stepwise import STEP, agreement, chance_right
from deepdiver.tasks import Judgement, ShownFinding
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import AS_OF, finding, findings

SUPPORTS, REFUTES, NEUTRAL = Stance.SUPPORTS, Stance.REFUTES, Stance.NEUTRAL
DEAD = "How many people died at the Tarn Bridge?"
TWO = "Two people died at the Tarn Bridge."


def judged(
    question: str, hypothesis: str, *shown: ShownFinding | str, answer: str = ""
) -> list[Judgement]:
    listed = tuple(
        f if isinstance(f, ShownFinding) else finding(f, f"F{n}") for n, f in enumerate(shown, 1)
    )
    return judge_case(Case(question, AS_OF, hypothesis, answer, listed))


def one(question: str, hypothesis: str, found: ShownFinding | str, answer: str = "") -> Judgement:
    (judgement,) = judged(question, hypothesis, found, answer=answer)
    return judgement


def test_the_no_of_a_cell_denies_nothing() -> None:
    question = "Which P1 tickets are still open and who has them?"
    row = "id: WB-458 | title: Customers cannot delete their address | priority: P1 | closed: no"
    other = "id: WB-371 | title: Customers delete their address | priority: P1 | closed: 2024-01-02"
    assert one(question, row, other).stance is not REFUTES


# -- values


@pytest.mark.parametrize(
    ("question", "hypothesis", "found", "stance"),
    [
        (DEAD, TWO, TWO, SUPPORTS),
        (DEAD, TWO, "At the Tarn Bridge two persons died.", SUPPORTS),
        (DEAD, TWO, "Three people died at the Tarn Bridge.", REFUTES),
        (
            DEAD,
            "Three people died at the Tarn Bridge.",
            "Two people died at the Tarn Bridge, not three.",
            REFUTES,
        ),
        (DEAD, TWO, "Two people died at the Tarn Bridge, not three.", SUPPORTS),
        (DEAD, TWO, "Three people died at the mill.", NEUTRAL),
        (DEAD, TWO, "Five people crossed the Tarn Bridge.", NEUTRAL),
        (DEAD, TWO, "The Tarn Bridge was opened in 1931.", NEUTRAL),
        (
            "When did the ship Meridian sink?",
            "The ship Meridian sank on 12 March 1932.",
            "The ship Meridian sank in March 1932.",
            SUPPORTS,
        ),
        (
            "When did the ship Meridian sink?",
            "The ship Meridian sank on 12 March 1932.",
            "The ship Meridian sank on 13 March 1932.",
            REFUTES,
        ),
        (
            "When did the ship Meridian sink?",
            "The ship Meridian sank on 12 March 1932.",
            "The ship Meridian sank at 04:55.",
            NEUTRAL,
        ),
        (
            "At what time did the ship Meridian sink?",
            "The ship Meridian sank at 04:55.",
            "The ship Meridian sank at 05:30.",
            REFUTES,
        ),
        (
            "At what time did the ship Meridian sink?",
            "The ship Meridian sank at 04:55.",
            "04:55. The ship Meridian sank.",
            SUPPORTS,
        ),
    ],
)
def test_values_of_the_same_thing(
    question: str, hypothesis: str, found: str, stance: Stance
) -> None:
    assert one(question, hypothesis, found).stance is stance


def test_a_denial_of_the_value_is_as_strong_as_a_direct_statement() -> None:
    judgement = one(
        DEAD,
        "Three people died at the Tarn Bridge.",
        "Two people died at the Tarn Bridge, not three.",
    )
    assert judgement.strength == pytest.approx(DIRECT)
    assert "not Three" in judgement.reason


def test_hearsay_weighs_little_either_way() -> None:
    plain = one(DEAD, TWO, "Three people died at the Tarn Bridge.")
    heard = one(DEAD, TWO, "I heard that three people died at the Tarn Bridge.")
    assert heard.stance is REFUTES
    assert heard.strength < 0.4 * plain.strength
    assert "hearsay" in heard.reason


def test_what_does_not_say_of_which_day_it_speaks_refutes_weakly() -> None:
    question = "How much ore was there in the water at Vell on 3 May 2001?"
    claim = "There were 42 grams of ore in the water at Vell on 3 May 2001."
    dated = one(question, claim, "There were 7 grams of ore in the water at Vell on 3 May 2001.")
    undated = one(question, claim, "There were 7 grams of ore in the water at Vell.")
    other_day = one(
        question, claim, "There were 7 grams of ore in the water at Vell on 4 May 2001."
    )
    assert dated.stance is undated.stance is REFUTES
    assert undated.strength < 0.6 * dated.strength
    assert other_day.stance is NEUTRAL


def test_what_somebody_else_measured_refutes_weakly() -> None:
    question = "How much ore was there at Vell?"
    claim = "Acme Ltd measured 7 grams of ore at Vell."
    other = one(question, claim, "The Vell Inspectorate measured 42 grams of ore at Vell.")
    same = one(question, claim, "Acme Ltd measured 42 grams of ore at Vell.")
    assert other.stance is same.stance is REFUTES
    assert other.strength < 0.6 * same.strength


def test_values_that_nearly_agree_do_not_refute() -> None:
    claim = "They measured 42 grams of ore at Vell."
    assert (
        one(
            "How much ore was there at Vell?", claim, "They measured 39 grams of ore at Vell."
        ).stance
        is NEUTRAL
    )


def test_a_looser_match_supports_less() -> None:
    question = "How many people died in the collapse of the Tarn Bridge at Morden?"
    claim = "Two people died in the collapse of the Tarn Bridge at Morden."
    close = one(
        question, claim, "In all, two people died in the collapse of the Tarn Bridge at Morden."
    )
    loose = one(
        question, claim, finding("Two people died.", title="Report on the Tarn Bridge at Morden")
    )
    assert close.stance is loose.stance is SUPPORTS
    assert loose.strength < close.strength


# -- names


@pytest.mark.parametrize(
    ("found", "stance"),
    [
        ("The owner of Acme Ltd is Bolt Ltd.", SUPPORTS),
        ("All shares in Acme Ltd are held by Bolt Ltd.", SUPPORTS),
        ("Acme Ltd is owned by Cone Ltd.", REFUTES),
        ("Acme Ltd owns Dune Ltd.", NEUTRAL),
        ("Cone Ltd owns Dune Ltd.", NEUTRAL),
    ],
)
def test_names_for_the_same(found: str, stance: Stance) -> None:
    judgement = one(
        "Which company owns Acme Ltd?", "Acme Ltd is owned by Bolt Ltd.", found, answer="Bolt Ltd"
    )
    assert judgement.stance is stance


def test_where_several_are_asked_for_another_name_does_not_refute() -> None:
    claim = "Eve Berg is the daughter of Ada Berg."
    judgement = one(
        "Who are the children of Ada Berg?",
        claim,
        "Finn Berg is the son of Ada Berg.",
        answer="Eve Berg",
    )
    assert judgement.stance is NEUTRAL


def test_a_claim_at_the_end_of_a_chain_is_judged_without_the_chain() -> None:
    """The way that led to it need not be among the findings that share a word with it."""
    question = "How old are the children of the parents who run Acme Ltd?"
    claim = "Eve is 17 and Finn is 14."
    shown = (
        finding(claim, "F1", published="2025-07-19"),
        finding("Eve Berg, born on 14 March 2011, won.", "F2"),
        finding(
            "Eve, who is 13, and Finn, who is 10, help in the shop.", "F3", published="2024-06-15"
        ),
    )
    assert [item.stance for item in judged(question, claim, *shown, answer="17")] == [
        SUPPORTS,
        REFUTES,
        REFUTES,
    ]


# -- ages


@pytest.mark.parametrize(
    ("found", "published", "stance"),
    [
        ("Eve Berg, born on 14 March 2011, won.", "", SUPPORTS),
        ("Eve, who is 13, won.", "2024-06-15", SUPPORTS),
        ("Eve Berg is 14, according to the family.", "2025-09-16", SUPPORTS),
        ("Eve is 17 and ran the till.", "2025-07-19", REFUTES),
        ("Eve Berg, born on 14 March 2010, won.", "", REFUTES),
        ("Eve Berg was born in 2011.", "", SUPPORTS),
        ("Eve Berg was born in 2012.", "", REFUTES),
        ("Finn Berg, born on 2 December 2013, won.", "", NEUTRAL),
        ("Eve Berg won.", "", NEUTRAL),
    ],
)
def test_ages_are_compared_by_the_birth_that_they_allow(
    found: str, published: str, stance: Stance
) -> None:
    claim = "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011)."
    assert (
        one("How old is Eve Berg?", claim, finding(found, published=published), answer="15").stance
        is stance
    )


# -- yes or no


CAR = "Did an electric car cause the fire on the ferry Meridian?"
YES = "An electric car caused the fire on the ferry Meridian."
NO = "No electric car was on board the ferry Meridian."
INSTEAD = "The fire on the ferry Meridian was caused by a worn cable."


@pytest.mark.parametrize(
    ("hypothesis", "found", "stance"),
    [
        (YES, YES, SUPPORTS),
        (YES, NO, REFUTES),
        (YES, INSTEAD, REFUTES),
        (NO, YES, REFUTES),
        (INSTEAD, YES, REFUTES),
        (NO, INSTEAD, NEUTRAL),
        (YES, "The ferry Meridian is red.", NEUTRAL),
        (NO, "A fire broke out on board the ferry Meridian.", NEUTRAL),
        (
            YES,
            "The claim that an electric car caused the fire on the ferry Meridian is refuted.",
            REFUTES,
        ),
    ],
)
def test_sides_of_a_yes_or_no_question(hypothesis: str, found: str, stance: Stance) -> None:
    assert one(CAR, hypothesis, found).stance is stance


# -- accounts


@pytest.mark.parametrize(
    ("found", "stance"),
    [
        ("Corrosion in a hanger rod caused the collapse of the Tarn Bridge.", SUPPORTS),
        ("The collapse of the Tarn Bridge was not caused by corrosion in a hanger rod.", REFUTES),
        (
            "The claim that corrosion in a hanger rod caused the collapse of the Tarn Bridge is "
            "false.",
            REFUTES,
        ),
        ("No oil was found in the river near the Tarn Bridge.", NEUTRAL),
        ("Two people died in the collapse of the Tarn Bridge.", NEUTRAL),
    ],
)
def test_accounts_are_judged_by_their_words_and_denials(found: str, stance: Stance) -> None:
    claim = "The collapse of the Tarn Bridge was caused by corrosion in a hanger rod."
    assert one("What caused the collapse of the Tarn Bridge?", claim, found).stance is stance


# -- the whole answer


def test_every_finding_is_judged_once_in_order() -> None:
    shown = findings(TWO, "It rained.", "Three people died at the Tarn Bridge.")
    assert [item.finding for item in judged(DEAD, TWO, *shown)] == ["F1", "F2", "F3"]


def test_a_true_sentence_beside_the_point_supports_no_answer_fully() -> None:
    beside = "Ada Berg sings."
    assert one("Who runs Acme Ltd?", beside, beside).strength <= 0.5


def test_a_neutral_finding_has_no_strength_and_a_reason() -> None:
    judgement = one(DEAD, TWO, "It rained.")
    assert judgement.strength == 0.0
    assert judgement.reason


@given(
    st.text(max_size=100),
    st.text(max_size=150),
    st.lists(st.text(max_size=150), max_size=4),
    st.text(max_size=20),
)
def test_any_finding_is_judged_within_bounds(
    question: str, claim: str, sentences: list[str], answer: str
) -> None:
    found = judged(question, claim, *findings(*sentences), answer=answer)
    assert len(found) == len(sentences)
    for item in found:
        assert 0.0 <= item.strength <= 1.0
        assert (item.stance is NEUTRAL) == (item.strength == 0.0) or item.strength < 0.001


@given(
    st.sampled_from([TWO, NO, INSTEAD, "Ada Berg runs Acme Ltd."]),
    st.sampled_from([DEAD, CAR, "Who runs Acme Ltd?"]),
)
def test_nothing_refutes_itself(sentence: str, question: str) -> None:
    assert one(question, sentence, sentence).stance is SUPPORTS


# -- where the rules see no bearing, the reader is asked


TOLD = (SUPPORTS, 0.4, "reads as saying it")
WALL = "The harbour wall protects the old town from storms."


def test_what_the_rules_settle_is_not_put_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "reader_bearing", lambda quote, claim: pytest.fail(f"asked of {quote!r}")
    )
    assert one(DEAD, TWO, "Three people died at the Tarn Bridge.").stance is REFUTES
    assert one(DEAD, TWO, "Five people crossed the Tarn Bridge.").stance is NEUTRAL
    assert (
        one("What protects the old town?", WALL, "It rained on the hills all day.").stance
        is NEUTRAL
    )


def test_the_reader_is_asked_of_a_sentence_on_the_same_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    def told(quote: str, claim: str) -> tuple[Stance, float, str]:
        asked.append((quote, claim))
        return TOLD

    monkeypatch.setattr(module, "reader_bearing", told)
    found = one(
        "How does the town live with the sea?",
        WALL,
        "Thanks to the wall, storms spare the old houses.",
    )
    assert (found.stance, found.strength, found.reason) == TOLD
    assert asked == [("Thanks to the wall, storms spare the old houses.", WALL)]


def test_where_the_reader_sees_no_side_neither_do_we(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "reader_bearing", lambda quote, claim: None)
    found = one(
        "How does the town live with the sea?",
        WALL,
        "Students painted the harbour wall and the old sheds.",
    )
    assert (found.stance, found.strength) == (NEUTRAL, 0.0)


SHELTER = "The harbour wall protects the whole old town from most storms."
ALIKE_STRENGTH = 0.7
"""Of a sentence that has all words of the claim."""


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (TOLD, (SUPPORTS, ALIKE_STRENGTH, ALIKE)),
        ((REFUTES, 0.3, "reads as denying it"), (REFUTES, 0.3, "reads as denying it")),
        (None, (SUPPORTS, round(UNHEARD * ALIKE_STRENGTH, 3), f"{ALIKE}, by its words alone")),
    ],
)
def test_what_is_alike_by_its_words_is_put_to_the_reader(
    monkeypatch: pytest.MonkeyPatch,
    heard: tuple[Stance, float, str] | None,
    expected: tuple[Stance, float, str],
) -> None:
    monkeypatch.setattr(module, "reader_bearing", lambda quote, claim: heard)
    found = one("How does the town live with the sea?", WALL, SHELTER)
    assert (found.stance, found.strength, found.reason) == expected


def test_the_reader_itself_agrees_to_the_same_in_other_words() -> None:
    plan = "The council rejected the plan for the new harbour."
    found = one(
        "What became of the plan?",
        plan,
        "The plan for the new harbour was rejected by the council.",
    )
    assert (found.stance, found.reason) == (SUPPORTS, ALIKE)


@pytest.mark.parametrize(
    ("sentence", "claim", "bears"),
    [
        ("The wall protects the town.", WALL, True),
        ("The Ostra mill burned down in storms.", "The Vik mill burned down in storms.", False),
        (
            "The ferry Meridian is red.",
            "An electric car caused the fire on the ferry Meridian.",
            False,
        ),
        (
            "A fire broke out on board the ferry Meridian.",
            "No electric car was on board the ferry Meridian.",
            False,
        ),
        ("", WALL, False),
        (WALL, "", False),
    ],
)
def test_which_sentences_are_on_the_same_matter(sentence: str, claim: str, bears: bool) -> None:
    assert may_bear(read_sentence(sentence), read_sentence(claim)) is bears


# -- a hypothesis in the words of the question


TEA = "Does tea lower the pulse?"


def test_a_question_said_with_yes_is_judged_by_how_the_findings_lean_together() -> None:
    made = judged(
        TEA,
        "Does tea lower the pulse",
        "There was no difference.",
        "It did not change.",
        answer="yes",
    )
    assert {item.stance for item in made} == {REFUTES}
    assert {item.reason for item in made} == {LEANS}
    assert len({item.strength for item in made}) == 1


def test_a_finding_that_leans_the_other_way_is_neutral() -> None:
    first, second, third = judged(
        TEA,
        "Does tea lower the pulse",
        "There was no difference.",
        "It did not change.",
        "Tea lowered the pulse in all groups.",
        answer="yes",
    )
    assert first.stance is second.stance is REFUTES
    assert (third.stance, third.strength) == (NEUTRAL, 0.0)


def test_without_findings_nothing_is_judged() -> None:
    assert judged(TEA, "Does tea lower the pulse", answer="yes") == []


def test_only_the_words_of_the_question_restate_it() -> None:
    assert restates("Does tea lower the pulse", TEA)
    assert not restates("Tea lowers the pulse.", TEA)


# -- answers of the reader

SPORT = "What sport is Ada Berg associated with?"
PLAYS = "Ada Berg plays football."


def believed(
    judgements: list[Judgement], shown: tuple[ShownFinding, ...], prior: float = FIRST_GUESS
) -> float:
    credible = {item.id: item for item in shown}
    return belief.posterior(
        prior,
        [
            belief.WeighedEvidence(item.stance, item.strength, shown.credibility, shown.origin)
            for item in judgements
            for shown in (credible[item.finding],)
        ],
    )


def sport(*quotes: str, origins: tuple[str, ...] = ()) -> tuple[ShownFinding, ...]:
    told = origins or tuple(f"o{n}" for n, _ in enumerate(quotes))
    return tuple(
        finding(quote, f"F{n}", title=f"Text {n}", origin=origin, credibility=0.9)
        for n, (quote, origin) in enumerate(zip(quotes, told, strict=True), 1)
    )


SAYS = "The sport that Ada Berg is associated with is football."
FULL = chance_right(agreement(0.5, 1.0))
"""Belief in the answer of a sentence with all words of SPORT, and a score of 0.5."""


def test_what_gives_the_readers_answer_moves_belief_to_how_likely_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5})
    shown = sport(SAYS)
    made = judged(SPORT, SAYS, *shown, answer="football")
    assert [(j.stance, j.reason) for j in made] == [(SUPPORTS, READS)]
    assert believed(made, shown) == pytest.approx(FULL, abs=0.01)


def test_two_that_give_it_move_belief_no_further_than_both_make_it_likely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5})
    shown = sport(SAYS, "It is football for Ada Berg.")
    both = 1 - (1 - agreement(0.5, 1.0)) * (1 - agreement(0.5, math.sqrt(OTHER_WORDS)))
    assert believed(judged(SPORT, SAYS, *shown, answer="football"), shown) == pytest.approx(
        chance_right(both), abs=0.01
    )


@pytest.mark.parametrize("credibility", [0.95, 0.7, RELIED_ON])
def test_who_wrote_it_does_not_make_a_reading_surer(
    monkeypatch: pytest.MonkeyPatch, credibility: float
) -> None:
    teach(monkeypatch, {"football": 0.5})
    shown = (sport(SAYS)[0].model_copy(update={"credibility": credibility}),)
    assert believed(judged(SPORT, SAYS, *shown, answer="football"), shown) == pytest.approx(
        FULL, abs=0.01
    )


def test_a_source_that_is_not_relied_on_moves_it_less(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"football": 0.5})
    shown = (sport(SAYS)[0].model_copy(update={"credibility": RELIED_ON / 2}),)
    assert (
        FIRST_GUESS < believed(judged(SPORT, SAYS, *shown, answer="football"), shown) < FULL - 0.05
    )


def test_another_answer_may_be_about_another_of_the_name_and_is_neutral(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.4})
    made = judged(SPORT, PLAYS, *sport(PLAYS, "Ada Berg plays chess."), answer="football")
    assert [j.stance for j in made] == [SUPPORTS, NEUTRAL]


def test_a_copy_that_gives_another_answer_speaks_against_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"football": 0.5, "chess": 0.5})
    shown = sport(PLAYS, "Ada Berg plays chess.", origins=("one", "one"))
    made = judged(SPORT, PLAYS, *shown, answer="football")
    assert [(j.stance, j.reason) for j in made] == [(SUPPORTS, READS), (REFUTES, ALTERED)]
    assert believed(made, shown, min(FIRST_GUESS, chance_right(0.5) / 2)) < 0.4


def test_a_step_on_the_way_supports_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: dict[tuple[str, ...], tuple[str, float]] = {
        ("Ada Berg", "born"): ("Morden", 0.6),
        ("Morden", "people"): ("459 people", 0.5),
    }
    teach(monkeypatch, {}, whole=whole)
    shown = sport("Ada Berg was born in Morden.", "Morden has 459 people.")
    question = "What is the population of the city where Ada Berg was born?"
    made = judged(question, "Morden has 459 people.", *shown, answer="459 people")
    first = made[0]
    assert (first.stance, first.strength, first.reason) == (SUPPORTS, LEAST_READ, LEADS)
    assert made[1].stance is SUPPORTS
    likely = chance_right(0.5) * chance_right(0.6) ** STEP
    assert believed(made, shown, min(FIRST_GUESS, likely)) == pytest.approx(likely, abs=0.05)


def test_a_hypothesis_that_the_reader_does_not_find_is_judged_by_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"chess": 0.5})
    made = judged(SPORT, PLAYS, *sport(PLAYS), answer="football")
    assert [j.reason for j in made] != [READS]


@given(st.lists(st.sampled_from(["football", "chess", "golf"]), min_size=1, max_size=6))
def test_belief_by_the_reader_stays_between_first_guess_and_likelihood(sports: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        teach(patch, {"football": 0.9, "chess": 0.6, "golf": 0.4})
        shown = sport(*(f"Ada Berg plays {name}." for name in sports))
        answer = sports[0]
        made = judged(SPORT, f"Ada Berg plays {answer}.", *shown, answer=answer)
    assert len(made) == len(sports)
    assert believed(made, shown) <= chance_right(1.0) + 0.03
