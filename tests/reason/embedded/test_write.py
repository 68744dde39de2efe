"""The tasks of writing: outline, sections and bottom line are parts of one draft."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded import account, steps_report
from deepdiver.reason.embedded.account import UNSURE
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSentence
from deepdiver.reason.embedded.write import (
    LONGEST_TITLE,
    outline_report,
    write_bottom_line,
    write_draft,
    write_sections,
)
from deepdiver.report.markup import read_markup
from deepdiver.tasks import (
    BottomLine,
    CitedFinding,
    HypothesisStanding,
    Outline,
    OutlineReport,
    PlannedSection,
    ShownFinding,
    WriteBottomLine,
    WriteSections,
)
from tests.reason.embedded.raters import by_words
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

UNDECIDED = HypothesisStatus.UNDECIDED
DEAD = "How many people died at the Tarn Bridge?"
TWO, THREE = "Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge."
PHRASES = {
    *(value for value in vars(steps_report).values() if isinstance(value, str)),
    *(value for value in vars(account).values() if isinstance(value, str)),
    *account.INTRODUCED.values(),
    "By document:",
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


def planned(question: str, shown: tuple[ShownFinding, ...], *held: HypothesisStanding) -> Outline:
    return outline_report(
        OutlineReport(
            texts=(), findings=cited(*shown), question=question, as_of=AS_OF, standing=held
        )
    )


def written(outline: Outline, *headings: str) -> str:
    task = WriteSections(
        texts=(), question="", as_of=AS_OF, outline=outline, write=headings, findings=()
    )
    return write_sections(task).markdown


def summed_up(
    question: str, shown: tuple[ShownFinding, ...], *held: HypothesisStanding, title: str = ""
) -> BottomLine:
    return write_bottom_line(
        WriteBottomLine(
            question=question,
            as_of=AS_OF,
            title=title,
            verdict="",
            sections="",
            findings=cited(*shown),
            standing=held,
        )
    )


def test_the_title_is_the_answer_if_that_is_one_short_sentence() -> None:
    assert planned(
        DEAD, findings(TWO), standing(TWO, supporting=("F1",))
    ).title == TWO.removesuffix(".")
    long = f"Two people died at the Tarn Bridge, {'which was old and ' * 6}closed."
    assert len(long) > LONGEST_TITLE
    assert planned(DEAD, findings(long), standing(long, supporting=("F1",))).title == DEAD


def test_what_is_not_decided_is_not_a_title() -> None:
    made = planned(DEAD, findings(TWO), standing(TWO, UNDECIDED, 0.5))
    assert made.title == DEAD
    assert made.verdict.startswith(UNSURE)


def test_without_an_answer_the_question_is_the_title_and_the_verdict_is_empty() -> None:
    made = planned(DEAD, ())
    assert (made.title, made.verdict) == (DEAD, "")
    assert made.sections == (PlannedSection(heading=DEAD),), "an outline has a section"
    assert written(made, DEAD) == "", "nothing is written where there is nothing to say"


def test_the_outline_has_the_sections_of_the_draft_with_their_sentences() -> None:
    held = (standing(EVE, answer="15"), standing(FINN, answer="12", label="H2"))
    plan, made = planned(CHILDREN, FAMILY, *held), draft(CHILDREN, FAMILY, *held)
    assert [item.heading for item in plan.sections] == [item.heading for item in made.sections]
    assert len(plan.sections) > 1
    for item, part in zip(plan.sections, made.sections, strict=True):
        assert [line for line in texts(part.sentences) if line not in item.shows] == []


def test_of_the_outline_the_sections_that_are_asked_for_are_written() -> None:
    held = (standing(EVE, answer="15"), standing(FINN, answer="12", label="H2"))
    plan = planned(CHILDREN, FAMILY, *held)
    first, second = (item.heading for item in plan.sections[:2])
    assert written(plan, second) == f"## {second}\n\n{FAMILY[2].statement} {{F3}}"
    assert written(plan, first, second).startswith(f"## {first}\n\n")
    assert written(plan, first, second).endswith(written(plan, second))
    assert written(plan, "What nobody planned") == ""


def test_the_bottom_line_is_the_answer_with_its_citations_and_what_is_missing() -> None:
    made = summed_up(DEAD, findings(TWO), standing(TWO, supporting=("F1",)), title="Two died")
    assert made == BottomLine(title="Two died", bottom_line=f"{TWO} {{F1}}", missing=())
    nothing = summed_up(DEAD, ())
    assert (nothing.bottom_line, nothing.missing) == ("", (DEAD,))


def test_an_age_in_the_bottom_line_has_the_mark_of_its_sum() -> None:
    made = summed_up(CHILDREN, FAMILY, standing(EVE, answer="15"))
    assert made.bottom_line.startswith(f"{EVE} {{= years(2011-03-14, 2026-11-15) | F5}}")


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
    plan = planned(question, shown, *stands)
    markdown = written(plan, *(item.heading for item in plan.sections))
    markdown += f"\n\n## Top\n\n{summed_up(question, shown, *stands).bottom_line}"
    for part in read_markup(markdown):
        lines = [line for block in part.blocks for row in block.rows for line in row]
        for line in lines:
            assert set(line.cites) <= set(labels)
            assert line.cites or any(line.text in phrase for phrase in PHRASES)
