"""Rival answers beside each other: which compare, in what order, and with which sources."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from deepdiver.core.record import Assessment, HypothesisStatus, Report, RunStatus
from deepdiver.report.html import render_html
from deepdiver.report.markdown import render_markdown
from deepdiver.report.rivals import COLUMN_NAMES, LONGEST, citation_marks, rival_answers
from tests.report.making import assessment
from tests.report.test_markdown import citation

SUPPORTED, REFUTED, UNDECIDED = (
    HypothesisStatus.SUPPORTED,
    HypothesisStatus.REFUTED,
    HypothesisStatus.UNDECIDED,
)


def put(
    answer: str, posterior: float = 0.5, status: HypothesisStatus = UNDECIDED, **more: Any
) -> Assessment:
    made = assessment(status, posterior, f"The owner is {answer}, they say.")
    own = made.hypothesis.model_copy(update={"answer": answer, "id": f"h_{answer}"})
    return made.model_copy(update={"hypothesis": own, **more})


def report(*hypotheses: Assessment) -> Report:
    cited = tuple(citation(number, finding=f"f_{number}") for number in (1, 2, 3))
    return Report(
        question="Who owns it?",
        status=RunStatus.PARTIAL,
        answer=(),
        confidence=0.0,
        hypotheses=hypotheses,
        citations=cited,
    )


# -- none


@pytest.mark.parametrize(
    "hypotheses",
    [
        (),
        (put("Anna"),),
        (put("Anna"), put("anna", 0.4)),
        (put(""), put("Anna")),
        (put("x" * (LONGEST + 1)), put("Anna")),
        (put("Anna", 0.9, SUPPORTED), put("Bo", 0.8, SUPPORTED), put("Cy")),
    ],
)
def test_what_does_not_compare_is_no_table(hypotheses: tuple[Assessment, ...]) -> None:
    assert rival_answers(report(*hypotheses)) == []
    assert "| answer |" not in render_markdown(report(*hypotheses))
    assert "<table" not in render_html(report(*hypotheses))


def test_a_sentence_is_no_short_answer() -> None:
    own = put("Anna")
    told = own.model_copy(
        update={
            "hypothesis": own.hypothesis.model_copy(update={"answer": own.hypothesis.statement})
        }
    )
    assert rival_answers(report(told, put("Bo"))) == []


# -- the table


def test_the_likeliest_stands_first_with_its_citations() -> None:
    made = report(
        put("Bo", 0.2, REFUTED, supporting=("f_3",), refuting=("f_2", "f_1", "f_9")),
        put("Anna", 0.8, SUPPORTED, supporting=("f_2", "f_1")),
    )
    rows = rival_answers(made)
    assert [(row.answer, row.supporting, row.refuting) for row in rows] == [
        ("Anna", (1, 2), ()),
        ("Bo", (3,), (1, 2)),
    ]
    lines = render_markdown(made).splitlines()
    at = lines.index(f"| {' | '.join(COLUMN_NAMES)} |")
    assert lines[at + 2 : at + 4] == [
        "| Anna | 0.80 | supported | [1, 2] |  |",
        "| Bo | 0.20 | refuted | [3] | [1, 2] |",
    ]
    shown = render_html(made)
    assert shown.index('<th scope="row" dir="auto">Anna</th>') < shown.index(
        '<th scope="row" dir="auto">Bo</th>'
    )
    assert '<a href="#c3">3</a>' in shown


def test_what_strangers_wrote_stays_within_its_cell() -> None:
    made = report(put("a | b <b>x</b>\n| c |"), put("Bo"))
    tokens = MarkdownIt("commonmark").enable("table").parse(render_markdown(made))
    rows = sum(token.type == "tr_open" for token in tokens)
    cells = sum(token.type in {"td_open", "th_open"} for token in tokens)
    assert (rows, cells) == (3, 3 * len(COLUMN_NAMES))
    assert "<b>x</b>" not in render_html(made)


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.floats(0, 1)), max_size=6))
def test_every_short_answer_has_a_row(told: list[tuple[str, float]]) -> None:
    rows = rival_answers(report(*(put(answer, belief) for answer, belief in told)))
    assert len(rows) in {0, len(told)}
    assert [row.belief for row in rows] == sorted((row.belief for row in rows), reverse=True)


def test_marks() -> None:
    cited = (citation(1, label="2"), citation(2, label="1"), citation(3, label="3"), citation(12))
    made = report().model_copy(update={"citations": cited})
    assert (citation_marks(made, ()), citation_marks(made, (2, 12, 99))) == ("", "[1, 12]")
    assert citation_marks(made, (12, 1, 3, 2)) == "[1–3, 12]"


def test_marks_of_older_records_are_shown_as_they_are() -> None:
    cited = (citation(1, label="1a"), citation(2, label="1b"), citation(12))
    made = report().model_copy(update={"citations": cited})
    assert citation_marks(made, (2, 1, 12)) == "[1a, 1b, 12]"


def test_the_table_has_the_marks_of_the_text() -> None:
    rivals = (put("Anna", 0.6, supporting=("f_1",)), put("Bo", refuting=("f_1", "f_2")))
    cited = tuple(
        citation(number, finding=f"f_{number}", label=label)
        for number, label in enumerate("123", 1)
    )
    made = render_markdown(report(*rivals).model_copy(update={"citations": cited}))
    assert "| Anna | 0.60 | undecided | [1] |  |" in made
    assert "| Bo | 0.50 | undecided |  | [1, 2] |" in made
