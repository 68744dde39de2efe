"""The summary is the findings' own sentences: answers first, nothing twice, confirmations named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.summarise import MOST, summarise
from deepdiver.tasks import ShownFinding, Summarise, Summary, SummaryLine
from tests.reason.embedded.shown import finding, findings

QUESTION = "Who owns Holm Works?"
OWNED = "Holm Works is owned by Anna Holm."
FOUNDED = "Holm Works was founded in 1998."
BAKES = "The village of Lund holds a market on Sundays."


def summed(
    *found: ShownFinding, summary: tuple[str, ...] = (), limit: int = 12, question: str = QUESTION
) -> Summary:
    lines = tuple(SummaryLine(id=f"S{number}", text=text) for number, text in enumerate(summary, 1))
    return summarise(Summarise(question=question, summary=lines, findings=found, limit=limit))


def test_without_findings_there_is_nothing_to_add() -> None:
    assert summed(summary=(OWNED,)).statements == ()


def test_a_limit_of_nothing_takes_nothing() -> None:
    assert summed(*findings(OWNED), limit=0).statements == ()
    assert summed(*findings(OWNED), limit=-3).statements == ()


def test_a_statement_is_the_findings_own_sentence_with_its_label() -> None:
    (statement,) = summed(finding(OWNED, "F7")).statements
    assert (statement.text, statement.findings, statement.replaces) == (OWNED, ("F7",), ())


def test_what_answers_the_question_comes_first() -> None:
    made = summed(finding(BAKES, "F1", credibility=0.9), finding(OWNED, "F2", credibility=0.5))
    assert [statement.findings for statement in made.statements] == [("F2",), ("F1",)]


def test_among_equals_the_more_credible_comes_first_and_hearsay_last() -> None:
    made = summed(
        finding("Holm Works is owned by Carl Dahl, I heard.", "F1", credibility=0.9),
        finding("Holm Works is owned by Bertil Ask.", "F2", credibility=0.4),
        finding(OWNED, "F3", credibility=0.8),
    )
    assert [statement.findings[0] for statement in made.statements] == ["F3", "F2", "F1"]


def test_the_same_from_two_sources_is_one_statement_of_both() -> None:
    made = summed(finding(OWNED, "F1"), finding(OWNED, "F2", title="Another"))
    assert [(statement.text, statement.findings) for statement in made.statements] == [
        (OWNED, ("F1", "F2"))
    ]


def test_what_confirms_a_line_is_returned_in_the_words_of_the_line() -> None:
    (statement,) = summed(finding(OWNED, "F1"), summary=(FOUNDED, OWNED)).statements
    assert (statement.text, statement.findings, statement.replaces) == (OWNED, ("F1",), ("S2",))


def test_another_value_is_another_statement() -> None:
    made = summed(finding("Holm Works was founded in 1999.", "F1"), summary=(FOUNDED,))
    assert made.statements[0].replaces == ()
    assert made.statements[0].text == "Holm Works was founded in 1999."


def test_a_denial_is_another_statement() -> None:
    made = summed(finding("Holm Works is not owned by Anna Holm.", "F1"), summary=(OWNED,))
    assert made.statements[0].replaces == ()


def test_what_was_missing_counts_as_asked() -> None:
    task = Summarise(
        question=QUESTION,
        missing=("When was Holm Works founded?",),
        findings=(finding(BAKES, "F1", credibility=0.9), finding(FOUNDED, "F2", credibility=0.5)),
    )
    assert summarise(task).statements[0].findings == ("F2",)


def test_the_limit_is_kept_whatever_was_found() -> None:
    many = [finding(f"Holm Works sold {n} boats in {1900 + n}.", f"F{n}") for n in range(60)]
    assert len(summed(*many, limit=5).statements) == 5
    assert len(summed(*many, limit=100).statements) == MOST


@given(st.lists(st.text(max_size=60), max_size=6), st.lists(st.text(max_size=60), max_size=4))
def test_every_statement_is_a_sentence_that_was_shown(texts: list[str], held: list[str]) -> None:
    found = findings(*texts)
    made = summarise(
        Summarise(
            question=QUESTION,
            summary=tuple(SummaryLine(id=f"S{n}", text=text) for n, text in enumerate(held, 1)),
            findings=found,
        )
    )
    labels = {item.id for item in found}
    for statement in made.statements:
        assert statement.text in {*texts, *held}
        assert statement.findings
        assert set(statement.findings) <= labels
    new = [statement.text for statement in made.statements if not statement.replaces]
    assert len(new) == len(set(new))
