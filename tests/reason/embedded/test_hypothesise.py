"""Rival answers out of the findings, each in the words of one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.reason.embedded import reader_answers
from deepdiver.reason.embedded.clause import clause_of
from deepdiver.reason.embedded.clause_values import Value
from deepdiver.reason.embedded.hypothesise import (
    DOUBTED,
    DOUBTED_STEPS,
    age_on,
    age_sentence,
    group_answers,
    hypothesise,
    longest_form,
    same_subject,
)
from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.rivals import FIRST_GUESS
from deepdiver.tasks import (
    Hypothesise,
    HypothesisStanding,
    Lesson,
    Proposed,
    RecalledRefutation,
    RecalledRun,
    ShownFinding,
)
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

CHILDREN = "How old are the children of the parents who run Acme Ltd?"
FAMILY = (
    "Ada and Bo Berg run the company Acme Ltd together.",
    "Ada and Bo Berg have two children: Eve Berg and Finn Berg.",
    "Eve Berg, born on 14 March 2011, won the race.",
    "Finn Berg, born on 2 December 2013, built a robot.",
)


def put_forward(
    question: str,
    shown: tuple[ShownFinding, ...],
    held: tuple[HypothesisStanding, ...] = (),
    limit: int = 4,
    as_of: str = AS_OF,
) -> tuple[Proposed, ...]:
    task = Hypothesise(
        question=question, as_of=as_of, problems=(), findings=shown, standing=held, limit=limit
    )
    return hypothesise(task).hypotheses


def statements(question: str, *sentences: str) -> list[str]:
    return [item.statement for item in put_forward(question, findings(*sentences))]


# -- nothing to put forward


@pytest.mark.parametrize("sentences", [(), ("It rained.",), ("Bolt Ltd is run by Cy Lund.",)])
def test_where_the_findings_allow_none_there_is_none(sentences: tuple[str, ...]) -> None:
    assert statements("Who runs Acme Ltd?", *sentences) == []


def test_a_chain_that_breaks_off_gives_no_answer() -> None:
    assert statements(CHILDREN, *FAMILY[:2]) == []
    assert statements(CHILDREN, *FAMILY[2:]) == []


# -- values


def test_each_version_of_a_value_is_a_hypothesis_in_the_words_of_a_source() -> None:
    sentences = ("Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge.")
    assert set(statements("How many people died at the Tarn Bridge?", *sentences)) == set(sentences)


def test_versions_that_agree_are_one_hypothesis_with_all_its_findings() -> None:
    made = put_forward(
        "How many people died at the Tarn Bridge?",
        findings(
            "Two people died at the Tarn Bridge.",
            "Three people died at the Tarn Bridge.",
            "At the Tarn Bridge two people died in the night.",
        ),
    )
    two = next(item for item in made if item.answer.lower() == "two people")
    assert set(two.findings) == {"F1", "F3"}


def test_the_better_supported_comes_first_and_copies_count_once() -> None:
    question = "How many people died at the Tarn Bridge?"
    three = "Three people died at the Tarn Bridge."
    copies = tuple(finding(three, f"F{n}", credibility=0.7, origin="wire") for n in range(1, 4))
    two = finding("Two people died at the Tarn Bridge.", "F4", credibility=0.9)
    assert [item.answer for item in put_forward(question, (*copies, two))] == [
        "Two people",
        "Three people",
    ]


def test_the_words_of_the_most_credible_source_are_taken() -> None:
    made = put_forward(
        "Who runs Acme Ltd?",
        (
            finding("Ada Berg runs Acme Ltd, they write.", "F1", credibility=0.3),
            finding("Ada Berg runs Acme Ltd.", "F2", credibility=0.9),
        ),
    )
    assert [item.statement for item in made] == ["Ada Berg runs Acme Ltd."]


def test_a_much_looser_match_is_no_rival() -> None:
    made = statements(
        "When did the steamer Meridian sink off Vell on her way?",
        "The steamer Meridian sank off Vell on her way on 3 May 1932.",
        "The steamer Zenith sank on 4 May 1933.",
    )
    assert made == ["The steamer Meridian sank off Vell on her way on 3 May 1932."]


def test_what_would_support_and_refute_it_is_said() -> None:
    (item,) = put_forward("Who runs Acme Ltd?", findings("Ada Berg runs Acme Ltd."))
    assert item.answer == "Ada Berg"
    assert "Ada Berg" in item.supports_if
    assert "another than Ada Berg" in item.refutes_if
    assert item.prior == 0.5


# -- accounts


def test_an_account_is_the_sentences_that_match_without_repetition() -> None:
    made = statements(
        "What caused the collapse of the Tarn Bridge?",
        "The collapse of the Tarn Bridge was caused by corrosion in a rod.",
        "Corrosion in a rod caused the collapse of the Tarn Bridge.",
        "Two people died in the collapse of the Tarn Bridge.",
    )
    assert made == ["The collapse of the Tarn Bridge was caused by corrosion in a rod."]


# -- yes or no


def test_a_denial_an_alternative_and_an_affirmation_are_put_forward() -> None:
    made = put_forward(
        "Did an electric car cause the fire on the ferry Meridian?",
        findings(
            "An electric car caused the fire on the ferry Meridian.",
            "No electric car was on board the ferry Meridian.",
            "The fire on the ferry Meridian was caused by a worn cable.",
            "The ferry Meridian is red.",
        ),
    )
    assert [(item.answer, item.findings) for item in made] == [
        ("no", ("F2",)),
        ("no", ("F3",)),
        ("yes", ("F1",)),
    ]


# -- ages


def test_an_age_is_reckoned_for_each_person() -> None:
    assert statements(CHILDREN, *FAMILY) == [
        "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011).",
        "Finn Berg is 12 years old on 2026-11-15 (born on 2 December 2013).",
    ]


def test_a_source_that_gives_other_ages_is_one_rival_in_its_own_words() -> None:
    blog = finding("Eve is 17 and Finn is 14.", "F9", published="2025-07-19")
    made = put_forward(CHILDREN, (*findings(*FAMILY), blog))
    assert [item.statement for item in made][2:] == ["Eve is 17 and Finn is 14."]


def test_a_source_that_gives_ages_which_go_with_the_births_is_no_rival() -> None:
    paper = finding("Eve is 14 and Finn is 11.", "F9", published="2025-07-19")
    assert len(put_forward(CHILDREN, (*findings(*FAMILY), paper))) == 2


def test_two_days_of_birth_are_two_hypotheses() -> None:
    made = put_forward(
        "How old is Ada Berg?",
        (
            finding("Ada Berg was born on 4 May 1951 in Vell.", "F1", credibility=0.7),
            finding("I heard that Ada Berg was born on 4 May 1949.", "F2", credibility=0.2),
        ),
    )
    assert [item.answer for item in made] == ["75", "77"]


def test_without_a_day_of_birth_the_age_is_what_a_source_stated() -> None:
    made = put_forward(
        "How old is Ada Berg?",
        (finding("Ada Berg is 60 this week.".replace(" this week", ""), published="2011-05-07"),),
    )
    assert [(item.statement, item.answer) for item in made] == [("Ada Berg is 60.", "60")]


@pytest.mark.parametrize(
    ("born", "as_of", "years"),
    [
        ("2011-03-14", "2026-11-15", 15),
        ("2011-11-15", "2026-11-15", 15),
        ("2011-11-16", "2026-11-15", 14),
        ("2012-02-29", "2026-02-28", 13),
        ("2012-02-29", "2026-03-01", 14),
        ("2026-11-15", "2026-11-15", 0),
        ("2027-01-01", "2026-11-15", None),
        ("2011-03-14", "someday", None),
        ("2011-03-14", "2026-11-15T10:00:00Z", 15),
    ],
)
def test_the_age_on_a_day(born: str, as_of: str, years: int | None) -> None:
    assert age_on(Value("", 0, 1.0, (born, born), exact=True), as_of) == years


def test_no_age_without_the_day_of_birth() -> None:
    assert age_on(Value("2011", 0, 1.0, ("2011-01-01", "2011-12-31")), AS_OF) is None


def test_the_fixed_form_of_an_age() -> None:
    assert age_sentence("Eve Berg", 15, AS_OF, "14 March 2011") == (
        "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011)."
    )


def test_the_full_form_of_a_name_is_taken_from_the_sentence() -> None:
    assert longest_form("Eve", read_sentence("The winner is Eve Berg.")) == "Eve Berg"
    assert longest_form("Eve Berg", read_sentence("The winner is Eve.")) == "Eve Berg"
    assert longest_form("Eve", read_sentence("Nobody won.")) == "Eve"


# -- standing, limits, several things asked


def test_what_stands_already_is_not_repeated() -> None:
    sentences = ("Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge.")
    held = (standing("Three people died at the Tarn Bridge", HypothesisStatus.REFUTED, 0.1),)
    made = put_forward("How many people died at the Tarn Bridge?", findings(*sentences), held)
    assert [item.statement for item in made] == [sentences[0]]


TARN = "How many people died at the Tarn Bridge?"
TOLD = (
    "Three people died at the Tarn Bridge.",
    "At the Tarn Bridge, three people died that night.",
    "Four people died at the Tarn Bridge.",
)


@pytest.mark.parametrize(
    ("status", "weighed", "made"),
    [
        ("refuted", ("F1", "F2", "F3"), [(TOLD[2], ())]),
        ("refuted", ("F2", "F3"), [(TOLD[0], ("H1",)), (TOLD[2], ())]),
        ("supported", ("F1", "F2", "F3"), [(TOLD[0], ()), (TOLD[2], ())]),
    ],
)
def test_what_was_refuted_is_put_forward_again_only_where_something_new_speaks_for_it(
    status: str, weighed: tuple[str, ...], made: list[tuple[str, tuple[str, ...]]]
) -> None:
    settled = HypothesisStatus(status)
    held = standing(TOLD[1], settled, 0.1).model_copy(update={"refuting": weighed})
    lesson = Lesson(hypothesis="H1", statement=TOLD[1], answer="Three people", status=settled)
    task = Hypothesise(
        question=TARN,
        as_of=AS_OF,
        problems=(),
        findings=findings(*TOLD),
        standing=(held,),
        experience=(lesson,),
    )
    assert [(item.statement, item.revises) for item in hypothesise(task).hypotheses] == made


def test_the_same_number_of_something_else_is_no_repetition() -> None:
    lesson = Lesson(
        hypothesis="H1",
        statement="Three people died at the Glen Mill.",
        answer="Three people",
        status=HypothesisStatus.REFUTED,
    )
    task = Hypothesise(
        question=TARN,
        as_of=AS_OF,
        problems=(),
        findings=findings(*TOLD),
        experience=(lesson,),
    )
    assert TOLD[0] in [item.statement for item in hypothesise(task).hypotheses]


@pytest.mark.parametrize("limit", [0, 1, 2, 100])
def test_at_most_so_many_as_wanted(limit: int) -> None:
    numbers = ("Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven")
    shown = findings(*(f"{number} people died at the Tarn Bridge." for number in numbers))
    assert len(put_forward("How many people died at the Tarn Bridge?", shown, limit=limit)) == min(
        limit, 8
    )


def test_each_thing_asked_has_its_best_answer_before_any_has_its_second() -> None:
    made = put_forward(
        "Who runs Acme Ltd? When was Acme Ltd founded?",
        findings(
            "Ada Berg runs Acme Ltd.",
            "Cy Lund runs Acme Ltd.",
            "Acme Ltd was founded in 1904.",
            "Acme Ltd was founded in 1906.",
        ),
        limit=2,
    )
    assert {item.answer for item in made} == {"Ada Berg", "1904"}


def test_groups_keep_different_subjects_apart() -> None:
    assert same_subject("Eve", "Eve Berg")
    assert same_subject("", "Eve Berg")
    assert not same_subject("Finn Berg", "Eve Berg")
    assert group_answers(clause_of("How old is Eve"), []) == []


@given(st.text(max_size=120), st.lists(st.text(max_size=160), max_size=5), st.text(max_size=12))
def test_every_hypothesis_is_a_finding_or_a_reckoned_age(
    question: str, sentences: list[str], as_of: str
) -> None:
    shown = findings(*sentences)
    for item in put_forward(question, shown, as_of=as_of):
        assert item.statement in {f.statement for f in shown} or "years old on" in item.statement
        assert item.refutes_if
        assert set(item.findings) <= {f.id for f in shown}


# -- what past runs concluded

BRIDGE = "How many people died at the Tarn Bridge?"
DEATHS = tuple(
    f"{count} people died at the Tarn Bridge." for count in ("Two", "Three", "Four", "Five", "Six")
)


def remembered(accepted: tuple[str, ...] = (), refuted: tuple[str, ...] = ()) -> RecalledRun:
    return RecalledRun(
        id="P1",
        question=BRIDGE,
        date="2026-03-01",
        days=30,
        status=RunStatus.ANSWERED,
        accepted=accepted,
        refuted=tuple(RecalledRefutation(statement=text) for text in refuted),
    )


def with_past(
    question: str, shown: tuple[ShownFinding, ...], past: RecalledRun, limit: int = 4
) -> list[str]:
    task = Hypothesise(
        question=question, as_of=AS_OF, problems=(), findings=shown, past=(past,), limit=limit
    )
    return [item.statement for item in hypothesise(task).hypotheses]


@pytest.mark.parametrize(
    ("accepted", "refuted"), [((DEATHS[4],), ()), ((), (DEATHS[4],))], ids=["accepted", "refuted"]
)
def test_a_past_claim_that_a_finding_holds_is_put_to_the_test_again(
    accepted: tuple[str, ...], refuted: tuple[str, ...]
) -> None:
    shown = tuple(
        finding(text, f"F{n}", credibility=1 - n / 10) for n, text in enumerate(DEATHS, 1)
    )
    assert DEATHS[4] not in with_past(BRIDGE, shown, remembered()), "by itself it comes too late"
    found = with_past(BRIDGE, shown, remembered(accepted, refuted))
    assert found == [*DEATHS[:3], DEATHS[4]]


def test_a_past_claim_that_no_finding_holds_is_not_put_forward() -> None:
    shown = findings(*DEATHS[:2])
    past = remembered(
        accepted=("Nine people died at the Tarn Bridge.",), refuted=("Ten people died there.", "")
    )
    assert with_past(BRIDGE, shown, past) == list(DEATHS[:2])


def test_a_past_claim_about_something_else_is_no_answer_even_if_a_finding_holds_it() -> None:
    shown = findings(*DEATHS[:2], "The Tarn Bridge was built by Cy Lund.")
    assert with_past(BRIDGE, shown, remembered(("The Tarn Bridge was built by Cy Lund.",))) == list(
        DEATHS[:2]
    )


def test_a_denial_does_not_hold_what_it_denies() -> None:
    shown = (
        *findings(*DEATHS[:4]),
        finding("Six people did not die at the Tarn Bridge.", "F9", credibility=0.1),
    )
    assert not any("Six" in text for text in with_past(BRIDGE, shown, remembered((DEATHS[4],))))


def test_a_past_claim_is_put_once_and_not_beside_one_that_stands() -> None:
    shown = findings(*DEATHS[:2])
    assert with_past(BRIDGE, shown, remembered(DEATHS[:2], DEATHS[:2])) == list(DEATHS[:2])
    task = Hypothesise(
        question=BRIDGE,
        as_of=AS_OF,
        problems=(),
        findings=shown,
        standing=(standing(DEATHS[0]),),
        past=(remembered(DEATHS[:1]),),
    )
    assert [item.statement for item in hypothesise(task).hypotheses] == [DEATHS[1]]


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_the_best_answer_never_gives_way_to_memory(limit: int) -> None:
    shown = tuple(
        finding(text, f"F{n}", credibility=1 - n / 10) for n, text in enumerate(DEATHS, 1)
    )
    found = with_past(BRIDGE, shown, remembered(refuted=(DEATHS[4],)), limit)
    assert len(found) == limit
    assert found[:1] == list(DEATHS[:1])[:limit]
    assert (DEATHS[4] in found) is (limit > 1)


def test_belief_begins_where_it_always_does() -> None:
    shown = findings(*DEATHS[:2])
    task = Hypothesise(
        question=BRIDGE,
        as_of=AS_OF,
        problems=(),
        findings=shown,
        past=(remembered(DEATHS[:1], DEATHS[1:]),),
    )
    assert {item.prior for item in hypothesise(task).hypotheses} == {0.5}


# -- the reader, and two things compared


def test_where_the_rules_have_no_sure_answer_the_readers_are_put_forward(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {}, whole={("played for", "Westland"): ("Westland", 0.5)})
    shown = (
        finding("Ada Berg played for the Morden Terns.", "F1", title="Ada Berg"),
        finding("They are based in Westland.", "F2", title="Morden Terns"),
    )
    (made,) = put_forward("Ada Berg played for a team based in what state?", shown)
    assert (made.answer, made.statement, made.findings) == (
        "Westland",
        "They are based in Westland.",
        ("F2", "F1"),
    )
    assert made.prior == FIRST_GUESS  # what gives it is judged, and moves belief from there
    assert "Westland" in made.refutes_if


FOUNDED, BEGUN = "Acme Ltd was founded in 1904.", "The beginnings of Acme lie in 1931, with a shed."
WHEN_FOUNDED = "When was Acme Ltd founded?"


def both(monkeypatch: pytest.MonkeyPatch, scores: dict[str, float]) -> list[tuple[str, float]]:
    teach(monkeypatch, scores)
    return [
        (item.answer, item.prior) for item in put_forward(WHEN_FOUNDED, findings(FOUNDED, BEGUN))
    ]


def test_where_the_reader_finds_nothing_the_rules_are_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert both(monkeypatch, {}) == [("1904", 0.5)]


def test_what_the_rules_are_sure_of_goes_first_where_the_reader_agrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert both(monkeypatch, {"1904": 0.9}) == [("1904", 0.5)]
    assert [answer for answer, _ in both(monkeypatch, {"1904": 0.9, "1931": 0.6})] == [
        "1904",
        "1931",
    ]


def test_a_sentence_with_the_words_asked_for_goes_before_one_that_the_reader_scores_higher(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (first, believed), (second, doubted) = both(monkeypatch, {"1904": 0.6, "1931": 0.9})
    assert (first, second) == ("1904", "1931")
    assert believed > doubted


def test_what_the_rules_are_sure_of_and_the_reader_does_not_name_is_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (first, prior), last = both(monkeypatch, {"1931": 0.9})
    assert first == "1931"
    assert prior > DOUBTED
    assert last == ("1904", DOUBTED)


@pytest.mark.parametrize(
    ("heard", "prior"),
    [({}, 0.5), ({"Ada Berg": 0.9}, 0.5), ({"Quill Holding AB": 0.9}, DOUBTED_STEPS)],
)
def test_what_rules_reach_over_steps_is_doubted_less_and_the_reader_puts_nothing_beside_it(
    monkeypatch: pytest.MonkeyPatch, heard: dict[str, float], prior: float
) -> None:
    teach(monkeypatch, heard)
    shown = findings(
        "Quill Holding AB owns Acme Ltd.", "Ada Berg is chair of the board of Quill Holding AB."
    )
    made = put_forward("Who is chair of the board of the company that owns Acme Ltd?", shown)
    assert [(item.answer, item.prior) for item in made] == [("Ada Berg", prior)]


def test_an_age_that_is_reckoned_is_not_doubted_for_the_reader_cannot_name_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"1980": 0.9})
    made = put_forward("How old is Ada Berg?", findings("Ada Berg was born on 3 May 1980."))
    assert [item.prior for item in made] == [0.5]


def test_of_several_things_asked_at_once_the_reader_is_asked_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader_answers, "_span", lambda *_: pytest.fail("it was asked"))
    assert statements("Who likes Acme Ltd? When did it rain in Quorn?", "It is a fine day.") == []


def test_what_comparing_two_things_gives_is_put_forward_with_its_reckoning() -> None:
    shown = (
        finding("Ada Berg was born in 1931.", "F1", title="Ada Berg"),
        finding("Bo Lind was born in 1940.", "F2", title="Bo Lind"),
    )
    (made,) = put_forward("Who is older, Ada Berg or Bo Lind?", shown)
    assert (made.answer, made.statement, made.findings) == (
        "Ada Berg",
        "Ada Berg was born in 1931.",
        ("F1", "F2"),
    )
    assert made.supports_if == "Ada Berg: 1931; Bo Lind: 1940; the earlier is Ada Berg."
    assert made.prior > 0.5


def test_an_answer_that_stands_already_is_not_put_forward_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"Westland": 0.5})
    shown = (finding("The Terns of Ada Berg are based in Westland.", "F1"),)
    asked = "Ada Berg played for a team based in what state?"
    (made,) = put_forward(asked, shown)
    assert put_forward(asked, shown, (standing(made.statement),)) == ()
