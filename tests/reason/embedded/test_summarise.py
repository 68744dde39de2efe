"""The summary is the findings' own sentences: answers first, nothing twice, confirmations named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.summarise import Statement, summarise
from deepdiver.tasks import ShownFinding, SummaryLine
from tests.reason.embedded.shown import finding, findings

QUESTION = "Who owns Holm Works?"
OWNED = "Holm Works is owned by Anna Holm."
FOUNDED = "Holm Works was founded in 1998."
BAKES = "The village of Lund holds a market on Sundays."


def summed(
    *found: ShownFinding, summary: tuple[str, ...] = (), limit: int = 12, question: str = QUESTION
) -> list[Statement]:
    lines = tuple(SummaryLine(id=f"S{number}", text=text) for number, text in enumerate(summary, 1))
    return summarise([question], lines, found, limit)


def test_without_findings_there_is_nothing_to_add() -> None:
    assert summed(summary=(OWNED,)) == []


def test_a_limit_of_nothing_takes_nothing() -> None:
    assert summed(*findings(OWNED), limit=0) == []
    assert summed(*findings(OWNED), limit=-3) == []


def test_a_statement_is_the_findings_own_sentence_with_its_label() -> None:
    (statement,) = summed(finding(OWNED, "F7"))
    assert (statement.text, statement.findings, statement.confirms) == (OWNED, ("F7",), "")


def test_what_answers_the_question_comes_first() -> None:
    made = summed(finding(BAKES, "F1", credibility=0.9), finding(OWNED, "F2", credibility=0.5))
    assert [statement.findings for statement in made] == [("F2",), ("F1",)]


def test_among_equals_the_more_credible_comes_first_and_hearsay_last() -> None:
    made = summed(
        finding("Holm Works is owned by Carl Dahl, I heard.", "F1", credibility=0.9),
        finding("Holm Works is owned by Bertil Ask.", "F2", credibility=0.4),
        finding(OWNED, "F3", credibility=0.8),
    )
    assert [statement.findings[0] for statement in made] == ["F3", "F2", "F1"]


def test_the_same_from_two_sources_is_one_statement_of_both() -> None:
    made = summed(finding(OWNED, "F1"), finding(OWNED, "F2", title="Another"))
    assert [(statement.text, statement.findings) for statement in made] == [(OWNED, ("F1", "F2"))]


def test_what_confirms_a_line_is_returned_in_the_words_of_the_line() -> None:
    (statement,) = summed(finding(OWNED, "F1"), summary=(FOUNDED, OWNED))
    assert (statement.text, statement.findings, statement.confirms) == (OWNED, ("F1",), "S2")


def test_another_value_is_another_statement() -> None:
    made = summed(finding("Holm Works was founded in 1999.", "F1"), summary=(FOUNDED,))
    assert made[0].confirms == ""
    assert made[0].text == "Holm Works was founded in 1999."


def test_a_denial_is_another_statement() -> None:
    made = summed(finding("Holm Works is not owned by Anna Holm.", "F1"), summary=(OWNED,))
    assert made[0].confirms == ""


def test_a_part_of_the_question_counts_as_asked() -> None:
    found = (finding(BAKES, "F1", credibility=0.9), finding(FOUNDED, "F2", credibility=0.5))
    made = summarise([QUESTION, "When was Holm Works founded?"], (), found, 12)
    assert made[0].findings == ("F2",)


def test_the_limit_is_kept_whatever_was_found() -> None:
    many = [finding(f"Holm Works sold {n} boats in {1900 + n}.", f"F{n}") for n in range(60)]
    assert len(summed(*many, limit=5)) == 5
    assert len(summed(*many, limit=100)) == 60


@given(st.lists(st.text(max_size=60), max_size=6), st.lists(st.text(max_size=60), max_size=4))
def test_every_statement_is_a_sentence_that_was_shown(texts: list[str], held: list[str]) -> None:
    found = findings(*texts)
    lines = [SummaryLine(id=f"S{n}", text=text) for n, text in enumerate(held, 1)]
    made = summarise([QUESTION], lines, found, 12)
    labels = {item.id for item in found}
    for statement in made:
        assert statement.text in {*texts, *held}
        assert statement.findings
        assert set(statement.findings) <= labels
    new = [statement.text for statement in made if not statement.confirms]
    assert len(new) == len(set(new))
