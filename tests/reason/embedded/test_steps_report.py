"""The report: sentences of the sources, sums that code repeats, fixed phrases, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.arithmetic import compute
from deepdiver.core.dates import dates
from deepdiver.core.names import names
from deepdiver.core.numbers import numbers
from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded import steps_report as write
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSentence
from deepdiver.reason.embedded.steps_report import (
    LEAD,
    LEAST_TOLD,
    PER_SECTION,
    WITNESSES,
    write_steps,
)
from deepdiver.tasks import (
    HypothesisStanding,
    ShownFinding,
)
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

SUPPORTED, REFUTED = HypothesisStatus.SUPPORTED, HypothesisStatus.REFUTED
UNDECIDED = HypothesisStatus.UNDECIDED
DEAD = "How many people died at the Tarn Bridge?"
TWO, THREE = "Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge."
PHRASES = {
    write.UNDECIDED,
    write.DISAGREE,
    write.ALSO,
    write.FOR,
    write.AGAINST,
    write.CLAIMED,
    write.REFUTED,
    write.VERSIONS,
}


def draft(
    question: str,
    shown: tuple[ShownFinding, ...],
    *held: HypothesisStanding,
    gaps: tuple[str, ...] = (),
) -> Draft:
    return write_steps(Brief(question, AS_OF, (), held, shown, gaps))


def texts(sentences: tuple[DraftSentence, ...]) -> list[str]:
    return [sentence.text for sentence in sentences]


def section(made: Draft, heading: str) -> list[str]:
    return [
        text for part in made.sections if part.heading == heading for text in texts(part.sentences)
    ]


# -- no answer


def test_without_anything_supported_or_undecided_there_is_no_answer() -> None:
    made = draft(DEAD, findings(THREE), standing(THREE, REFUTED, 0.1))
    assert made.answer == ()
    assert made.missing


def test_without_hypotheses_what_is_missing_is_said() -> None:
    made = draft("Who runs Acme Ltd?", findings("It rained."), gaps=("Who runs it?",))
    assert made.answer == ()
    assert made.missing == ("Who runs Acme Ltd?", "Who runs it?")


def test_what_the_rules_cannot_follow_is_not_missing_where_its_answer_is_supported() -> None:
    told, question = (
        "Acme Ltd belongs to the Brook family.",
        "Which clan is behind the maker of the Morden bell?",
    )
    assert draft(question, findings(told)).missing == (question,), "the rules find no answer in it"
    assert draft(
        question, findings(told), standing(told, UNDECIDED, 0.5, answer="Brook")
    ).missing == (question,)
    assert (
        draft(question, findings(told), standing(told, SUPPORTED, 0.8, answer="Brook")).missing
        == ()
    )


def test_the_clause_without_an_answer_is_missing() -> None:
    question = "Which company owns the firm that built the bridge at Morden?"
    made = draft(question, findings("The bridge at Morden was built by Halden Ltd."))
    assert "Which company owns the firm?" in made.missing
    assert "Which firm built the bridge at Morden?" not in made.missing


def test_an_undecided_version_of_little_belief_is_no_answer() -> None:
    assert draft(DEAD, findings(TWO), standing(TWO, UNDECIDED, LEAST_TOLD - 0.01)).answer == ()


def test_one_that_is_much_less_likely_than_the_best_is_no_answer_beside_it() -> None:
    held = (standing(TWO, UNDECIDED, 0.6), standing(THREE, UNDECIDED, 0.17, label="H2"))
    lines = [line.text for line in draft(DEAD, findings(TWO, THREE), *held).answer]
    assert lines == [write.UNDECIDED, TWO]


def test_a_version_that_only_altered_copies_give_is_shown_and_not_told() -> None:
    two, three = (
        finding(text, label, origin="one") for text, label in ((TWO, "F1"), (THREE, "F2"))
    )
    held = (
        standing(TWO, UNDECIDED, 0.35, supporting=("F1",), refuting=("F2",)),
        standing(THREE, UNDECIDED, 0.35, supporting=("F2",), refuting=("F1",), label="H2"),
    )
    assert draft(DEAD, (two, three), *held).answer == ()
    other = finding(TWO, "F3", origin="two")
    held = (held[0].model_copy(update={"supporting": ("F1", "F3")}), held[1])
    assert [line.text for line in draft(DEAD, (two, three, other), *held).answer] == [
        write.UNDECIDED,
        TWO,
    ]


def test_hearsay_that_is_undecided_is_no_answer() -> None:
    heard = "I heard that three people died at the Tarn Bridge."
    assert draft(DEAD, findings(heard), standing(heard, UNDECIDED, 0.55)).answer == ()


# -- the answer


def test_a_supported_answer_is_told_in_the_words_of_its_source() -> None:
    made = draft(DEAD, findings(TWO), standing(TWO, supporting=("F1",), answer="Two people"))
    assert made.answer == (DraftSentence(text=TWO, findings=("F1",)),)
    assert made.missing == ()


def test_other_origins_that_give_the_same_are_cited_with_it() -> None:
    shown = (
        finding(TWO, "F1", origin="a"),
        finding("At the Tarn Bridge two people died in the night.", "F2", origin="b"),
        finding("Two people died at the Tarn Bridge, he wrote.", "F3", origin="a"),
        finding("Only two, not three, died at the Tarn Bridge.", "F4", origin="c"),
    )
    made = draft(
        DEAD, shown, standing(TWO, supporting=("F1", "F2", "F3", "F4"), answer="Two people")
    )
    assert made.answer[0].findings == ("F1", "F2")
    assert len(made.answer[0].findings) <= WITNESSES


def test_undecided_alone_is_told_as_undecided() -> None:
    made = draft(
        DEAD,
        findings(TWO, THREE),
        standing(TWO, UNDECIDED, 0.6, answer="Two people"),
        standing(THREE, UNDECIDED, 0.45, answer="Three people", label="H2"),
    )
    assert texts(made.answer) == [write.UNDECIDED, TWO, THREE]
    assert made.answer[0] == DraftSentence(write.UNDECIDED), "it cites nothing"


def test_a_version_that_is_not_ruled_out_stands_behind_the_supported_one() -> None:
    made = draft(
        DEAD,
        findings(TWO, THREE),
        standing(TWO, SUPPORTED, 0.9, answer="Two people"),
        standing(THREE, UNDECIDED, 0.5, answer="Three people", label="H2"),
    )
    assert texts(made.answer) == [TWO, write.DISAGREE, THREE]
    assert section(made, "Where the sources disagree") == [write.VERSIONS, TWO, THREE]


def test_what_does_not_contradict_is_not_called_a_disagreement() -> None:
    question = "What caused the collapse of the Tarn Bridge?"
    rod = "The collapse of the Tarn Bridge was caused by a rusty rod."
    wind = "Strong wind was a cause of the collapse of the Tarn Bridge."
    made = draft(
        question, findings(rod, wind), standing(rod), standing(wind, UNDECIDED, 0.6, label="H2")
    )
    assert texts(made.answer) == [rod, write.ALSO, wind]
    assert section(made, "Where the sources disagree") == []


@pytest.mark.parametrize(
    ("statement", "answer", "phrase"),
    [
        ("No electric car was on board the ferry Meridian.", "no", write.AGAINST),
        ("An electric car caused the fire on the ferry Meridian.", "yes", write.FOR),
    ],
)
def test_a_yes_or_no_question_is_answered_by_a_phrase_first(
    statement: str, answer: str, phrase: str
) -> None:
    question = "Did an electric car cause the fire on the ferry Meridian?"
    made = draft(question, findings(statement), standing(statement, answer=answer))
    assert texts(made.answer) == [phrase, statement]


def test_where_both_yes_and_no_are_supported_no_phrase_takes_sides() -> None:
    question = "Did an electric car cause the fire on the ferry Meridian?"
    yes, no = (
        "An electric car caused the fire on the ferry Meridian.",
        "No electric car was on board the ferry Meridian.",
    )
    made = draft(
        question,
        findings(yes, no),
        standing(yes, answer="yes"),
        standing(no, answer="no", label="H2"),
    )
    assert made.answer[0].findings


def test_the_answer_has_at_most_so_many_sentences() -> None:
    question = "Who are the children of Ada Berg?"
    shown = findings(*(f"Child{chr(97 + n)} Berg is a child of Ada Berg." for n in range(20)))
    made = draft(
        question, shown, *(standing(f.statement, label=f"H{n}") for n, f in enumerate(shown))
    )
    assert len(made.answer) == LEAD


def test_a_hypothesis_in_nobodys_words_is_told_by_what_supports_it() -> None:
    shown = (
        finding(TWO, "F1", credibility=0.4),
        finding("Two died there, says the court.", "F2", credibility=0.9),
    )
    made = draft(DEAD, shown, standing("The number of dead is two.", supporting=("F1", "F2")))
    assert texts(made.answer) == ["Two died there, says the court."]


# -- the way to the answer


CHILDREN = "How old are the children of the parents who run Acme Ltd?"
FAMILY = findings(
    "Ada Berg is managing director of Acme Ltd.",
    "Ada and Bo Berg run the company Acme Ltd together.",
    "Eve Berg is a daughter of Ada and Bo Berg.",
    "Ada and Bo Berg have two children, Eve Berg and Finn Berg.",
    "Eve Berg, born on 14 March 2011, won the race.",
    "Finn Berg, born on 2 December 2013, built a robot.",
)
EVE = "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011)."
FINN = "Finn Berg is 12 years old on 2026-11-15 (born on 2 December 2013)."


def test_an_age_is_told_with_its_sum() -> None:
    made = draft(
        CHILDREN, FAMILY, standing(EVE, answer="15"), standing(FINN, answer="12", label="H2")
    )
    first, second = made.answer[:2]
    assert first == DraftSentence(EVE, ("F5",), "years(2011-03-14, 2026-11-15)")
    assert compute(first.expression).value == 15
    assert second.text == FINN


def test_the_way_is_told_by_the_fewest_sentences_the_first_link_first() -> None:
    made = draft(
        CHILDREN, FAMILY, standing(EVE, answer="15"), standing(FINN, answer="12", label="H2")
    )
    assert texts(made.answer)[2:] == [FAMILY[1].statement, FAMILY[3].statement]


def test_only_the_way_to_what_is_supported_is_told() -> None:
    made = draft(CHILDREN, FAMILY, standing(EVE, answer="15"))
    assert FAMILY[5].statement not in texts(made.answer)


def test_an_age_whose_birth_is_no_longer_among_the_findings_is_not_told() -> None:
    assert draft(CHILDREN, FAMILY[:2], standing(EVE, answer="15")).answer == ()


def test_the_way_to_an_ultimate_parent_has_every_step() -> None:
    shown = findings(
        "All shares in Acme Ltd are held by Bolt Ltd.",
        "Cone Ltd owns 70 percent of the shares in Bolt Ltd.",
        "Ada Berg is chair of the board of Cone Ltd.",
    )
    question = "Who is chair of the board of the company that is the ultimate parent of Acme Ltd?"
    made = draft(
        question, shown, standing(shown[2].statement, answer="Ada Berg", supporting=("F3",))
    )
    assert texts(made.answer) == [shown[2].statement, shown[0].statement, shown[1].statement]


def test_the_event_is_told_with_what_came_after_it() -> None:
    shown = findings(
        "03:05. The steamer Meridian struck the reef.",
        "03:12. The engine room of the steamer Meridian is flooded.",
    )
    question = "What happened a few minutes after the steamer Meridian struck the reef?"
    made = draft(question, shown, standing(shown[1].statement))
    assert texts(made.answer) == [shown[1].statement, shown[0].statement]


# -- the body


def test_the_body_tells_by_sub_problem_what_the_answer_has_not_told() -> None:
    made = draft(
        CHILDREN, FAMILY, standing(EVE, answer="15"), standing(FINN, answer="12", label="H2")
    )
    assert section(made, "Which parents run Acme Ltd?") == [FAMILY[0].statement]
    assert section(made, "Who are the children of the parents?") == [FAMILY[2].statement]
    told = [text for part in made.sections for text in texts(part.sentences)]
    assert len(told) == len(set(told))


def test_a_section_is_short() -> None:
    shown = findings(*(f"Person{chr(97 + n)} Berg runs Acme Ltd from room {n}." for n in range(20)))
    made = draft("Who runs Acme Ltd?", shown, standing(shown[0].statement))
    assert len(section(made, "Who runs Acme Ltd?")) <= PER_SECTION


def test_what_was_refuted_is_printed_with_what_stands_against_it() -> None:
    shown = (
        finding(TWO, "F1", credibility=0.9),
        finding(THREE, "F2"),
        finding("Two people died there.", "F3", credibility=0.5),
    )
    made = draft(
        DEAD,
        shown,
        standing(TWO, supporting=("F1",), answer="Two people"),
        standing(
            THREE,
            REFUTED,
            0.1,
            supporting=("F2",),
            refuting=("F3", "F1"),
            answer="Three people",
            label="H2",
        ),
    )
    assert section(made, "What was refuted") == [
        write.CLAIMED,
        THREE,
        write.REFUTED,
        TWO,
        "Two people died there.",
    ]


def test_a_refuted_claim_stands_nowhere_else() -> None:
    made = draft(
        DEAD,
        findings(TWO, THREE),
        standing(TWO, supporting=("F1",)),
        standing(THREE, REFUTED, 0.1, supporting=("F2",), refuting=("F1",), label="H2"),
    )
    assert THREE not in texts(made.answer)
    for part in made.sections:
        assert part.heading == "What was refuted" or THREE not in texts(part.sentences)


def test_a_refuted_claim_without_anything_against_it_on_record_is_not_printed() -> None:
    made = draft(DEAD, findings(THREE), standing(THREE, REFUTED, 0.1, supporting=("F1",)))
    assert section(made, "What was refuted") == []


def test_no_section_is_empty() -> None:
    made = draft(DEAD, findings(TWO), standing(TWO))
    assert all(part.sentences for part in made.sections)


# -- the promise


def sentences_of(made: Draft) -> list[DraftSentence]:
    return [*made.answer, *(sentence for part in made.sections for sentence in part.sentences)]


def test_a_phrase_states_no_fact() -> None:
    for phrase in PHRASES:
        assert not numbers(phrase)
        assert not dates(phrase)
        assert not names(phrase)


STATUSES = st.sampled_from(list(HypothesisStatus))
SENTENCES = st.sampled_from(
    [f.statement for f in FAMILY] + [TWO, THREE, EVE, "No electric car was on board.", "It rained."]
)


@given(
    st.sampled_from([CHILDREN, DEAD, "Did Ada Berg run Acme Ltd?", "Why?", ""]),
    st.lists(st.one_of(SENTENCES, st.text(min_size=1, max_size=80)), min_size=1, max_size=8),
    st.lists(st.tuples(SENTENCES, STATUSES, st.floats(0.01, 0.99)), max_size=5),
)
def test_no_sentence_is_written_that_no_source_contains(
    question: str, sentences: list[str], held: list[tuple[str, HypothesisStatus, float]]
) -> None:
    shown = findings(*sentences)
    labels = tuple(f.id for f in shown)
    made = draft(
        question,
        shown,
        *(
            standing(s, status, p, label=f"H{n}", supporting=labels[:2], refuting=labels[2:])
            for n, (s, status, p) in enumerate(held)
        ),
    )
    known = {f.statement for f in shown}
    for sentence in sentences_of(made):
        if not sentence.findings:
            assert sentence.text in PHRASES
            assert not sentence.expression
        elif sentence.expression:
            assert f" {compute(sentence.expression).value} years old " in sentence.text
        else:
            assert sentence.text in known
        assert set(sentence.findings) <= set(labels)


# -- without hypotheses


def weighed(question: str, *shown: ShownFinding) -> Draft:
    return write_steps(Brief(question, AS_OF, (), None, shown, ()))


def test_no_hypotheses_yet_is_not_a_strategy_without_them() -> None:
    assert draft(DEAD, findings(TWO)).answer == (), "what was to be tested and was not is no answer"
    assert texts(weighed(DEAD, *findings(TWO)).answer) == [TWO]


def test_without_hypotheses_sources_of_one_weight_do_not_decide() -> None:
    made = weighed(DEAD, finding(THREE, "F1", credibility=0.7), finding(TWO, "F2", credibility=0.7))
    assert texts(made.answer)[0] == write.UNDECIDED
    assert {TWO, THREE} <= set(texts(made.answer))


def test_without_hypotheses_copies_of_one_story_count_once() -> None:
    copies = [finding(THREE, f"F{n}", credibility=0.4, origin="o") for n in range(1, 6)]
    made = weighed(DEAD, *copies, finding(TWO, "F9", credibility=0.95))
    assert texts(made.answer)[0] != THREE


def test_without_hypotheses_an_age_is_reckoned_with_its_sum() -> None:
    made = weighed("How old is Cleo Berg?", finding("Cleo Berg was born on 3 May 2011."))
    (sentence,) = made.answer
    assert sentence.text.startswith("Cleo Berg is 15 years old")
    assert compute(sentence.expression).value == 15


def test_without_hypotheses_and_without_an_answer_it_is_missing() -> None:
    made = weighed(DEAD, *findings("It rained."))
    assert made.answer == ()
    assert made.missing == (DEAD,)


def test_a_problem_in_other_words_than_the_question_has_a_section_of_its_own() -> None:
    built = "The Tarn Bridge was built in 1871."
    asked = "When was the Tarn Bridge built?"
    brief = Brief(DEAD, AS_OF, (asked,), None, findings(TWO, built), ())
    made = write_steps(brief)
    assert texts(made.answer) == [TWO]
    assert section(made, asked) == [built]
    without = write_steps(replace(brief, problems=()))
    assert not section(without, asked)
