"""The task of writing: title, bottom line, sections and what is missing, from one draft."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded import account, steps_report
from deepdiver.reason.embedded.account import UNSURE
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSentence
from deepdiver.reason.embedded.write import LEAD, LONGEST_TITLE, write_draft, write_report
from deepdiver.report.markup import MarkedReport, MarkedSection, read_report
from deepdiver.tasks import CitedFinding, HypothesisStanding, ShownFinding, WriteReport
from tests.reason.embedded.raters import by_words
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

UNDECIDED = HypothesisStatus.UNDECIDED
DEAD = "How many people died at the Tarn Bridge?"
TWO, THREE = "Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge."
PHRASES = {
    *(value for value in vars(steps_report).values() if isinstance(value, str)),
    *(value for value in vars(account).values() if isinstance(value, str)),
    *account.INTRODUCED.values(),
    "Yes.",
    "No.",
}


@pytest.fixture(autouse=True, scope="module")
def _words() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deepdiver.reason.embedded.rating.rate", by_words)
        yield


def draft(question: str, shown: tuple[ShownFinding, ...], *held: HypothesisStanding) -> Draft:
    return write_draft(Brief(question, AS_OF, (), held, shown, ()))


def texts(sentences: tuple[DraftSentence, ...]) -> list[str]:
    return [sentence.text for sentence in sentences]


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


STATUSES = st.sampled_from(list(HypothesisStatus))
SENTENCES = st.sampled_from(
    [f.statement for f in FAMILY] + [TWO, THREE, EVE, "No electric car was on board.", "It rained."]
)


def test_steps_are_told_only_where_they_lead_to_an_answer() -> None:
    told = draft(CHILDREN, FAMILY, standing(EVE, answer="15"))
    assert told.answer[0].text == EVE
    assert FAMILY[1].statement in texts(told.answer), "the way to it"
    unsure = draft(CHILDREN, FAMILY, standing(EVE, UNDECIDED, answer="15"))
    assert unsure.answer[0].text.startswith(UNSURE)


def test_a_strategy_without_hypotheses_has_its_answers_weighed() -> None:
    row = "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4"
    cell = finding(row[2:], title="Farms").model_copy(update={"quote": row})
    question = "Who is the owner of North Lea?"
    made = write_draft(Brief(question, AS_OF, (), None, (cell,), ()))
    assert "A. Bream" in made.answer[0].text
    assert made.missing == ()


def cited(*shown: ShownFinding) -> tuple[CitedFinding, ...]:
    return tuple(
        CitedFinding(**dict(item), cites=f"T1:{number}") for number, item in enumerate(shown, 1)
    )


def drafted(question: str, shown: tuple[ShownFinding, ...], *held: HypothesisStanding) -> str:
    task = WriteReport(
        texts=(), findings=cited(*shown), question=question, as_of=AS_OF, standing=held
    )
    return write_report(task).markdown


def written(
    question: str, shown: tuple[ShownFinding, ...], *held: HypothesisStanding
) -> MarkedReport:
    return read_report(drafted(question, shown, *held))


def said_in(part: MarkedSection) -> list[str]:
    return [line.text for block in part.blocks for row in block.rows for line in row]


def test_the_title_is_the_answer_if_that_is_one_short_sentence() -> None:
    made = written(DEAD, findings(TWO), standing(TWO, supporting=("F1",)))
    assert made.title == TWO.removesuffix(".")
    long = f"Two people died at the Tarn Bridge, {'which was old and ' * 6}closed."
    assert len(long) > LONGEST_TITLE
    assert written(DEAD, findings(long), standing(long, supporting=("F1",))).title == DEAD


def test_what_is_not_decided_is_not_a_title() -> None:
    made = written(DEAD, findings(TWO), standing(TWO, UNDECIDED, 0.5))
    assert made.title == DEAD
    assert made.lead is not None
    assert said_in(made.lead)[0].startswith(UNSURE)


def test_without_an_answer_the_bottom_line_is_empty_and_says_what_is_missing() -> None:
    made = written(DEAD, ())
    assert made.title == DEAD
    assert made.lead == MarkedSection("Bottom line", 2, ()), "no section is taken for it"
    assert made.sections == ()
    assert made.notes == (("missing", DEAD),)


def test_a_question_in_several_lines_is_a_title_and_a_note_in_one() -> None:
    made = written("How many people died\nat the Tarn Bridge?", ())
    assert (made.title, made.of_kind("missing")) == (DEAD, [DEAD])


def test_the_report_has_the_sections_of_the_draft_with_their_sentences() -> None:
    held = (standing(EVE, answer="15"), standing(FINN, answer="12", label="H2"))
    report, made = written(CHILDREN, FAMILY, *held), draft(CHILDREN, FAMILY, *held)
    assert [item.heading for item in report.sections] == [item.heading for item in made.sections]
    assert len(report.sections) > 1
    for item, part in zip(report.sections, made.sections, strict=True):
        assert said_in(item) == texts(part.sentences)


def test_the_bottom_line_is_the_answer_with_its_citations() -> None:
    told = drafted(DEAD, findings(TWO), standing(TWO, supporting=("F1",)))
    assert told.startswith(f"# {TWO.removesuffix('.')}\n\n{LEAD}\n\n{TWO} {{F1}}")
    assert "missing:" not in told


def test_an_age_in_the_bottom_line_has_the_mark_of_its_sum() -> None:
    told = drafted(CHILDREN, FAMILY, standing(EVE, answer="15"))
    lead = told.partition(f"{LEAD}\n\n")[2]
    assert lead.startswith(f"{EVE} {{= years(2011-03-14, 2026-11-15) | F5}}")


@given(
    st.sampled_from([CHILDREN, DEAD, "Did Ada Berg run Acme Ltd?", "Why?", ""]),
    st.lists(st.one_of(SENTENCES, st.text(min_size=1, max_size=80)), min_size=1, max_size=6),
    st.lists(st.tuples(SENTENCES, STATUSES, st.floats(0.01, 0.99)), max_size=3),
)
def test_what_is_written_is_read_back_with_its_citations(
    question: str, sentences: list[str], held: list[tuple[str, HypothesisStatus, float]]
) -> None:
    """Whatever a source says, only phrases of this module go without a citation."""
    shown = findings(*sentences)
    labels = tuple(f.id for f in shown)
    stands = [
        standing(s, status, p, label=f"H{n}", supporting=labels[:2], refuting=labels[2:])
        for n, (s, status, p) in enumerate(held)
    ]
    report = written(question, shown, *stands)
    assert report.lead is not None
    for part in (report.lead, *report.sections):
        lines = [line for block in part.blocks for row in block.rows for line in row]
        for line in lines:
            assert set(line.cites) <= set(labels)
            assert line.cites or any(line.text in phrase for phrase in PHRASES)
