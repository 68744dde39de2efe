"""A report as elements: nothing of it is lost, and nothing of it is markup."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from deepdiver.core.record import (
    RunStatus,
    SecondOpinion,
    Section,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.report.exports.layout import (
    Element,
    Layout,
    Line,
    Piece,
    citation_line,
    joined,
    lay_out,
    plain,
    sentence_line,
)
from deepdiver.report.kinds import LEGEND
from deepdiver.report.rivals import COLUMN_NAMES
from tests.report.exports.making import PAYLOADS, hostile, report, with_points_apart
from tests.report.test_rivals import put
from tests.report.test_rivals import report as rival_report

REPORT = report()


def lines(layout: Layout) -> Iterator[Line]:
    for item in (*layout.answer, *layout.body, *layout.evidence):
        yield from (*item.lines, *item.header, *chain.from_iterable(item.rows))


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


def kinds(elements: tuple[Element, ...]) -> list[str]:
    return [item.kind for item in elements]


def test_the_evidence_view_tells_what_was_searched_for_in_vain() -> None:
    absent = Sentence(text="None has it.", kind=SentenceKind.ABSENCE, terms=("petrol",))
    told = [text_of(line) for line in lines(lay_out(report(answer=(absent,), searched=3)))]
    assert "“None has it.” (words searched for: petrol; texts searched: 3)" in told


def test_a_title_has_no_quotes_around_its_code() -> None:
    assert lay_out(report(title="Run `git reflog` first")).title == "Run git reflog first"


def test_an_address_for_examples_stays_in_code() -> None:
    command = "curl https://www.example.com/"
    held = report(
        title=f"Run `{command}`",
        answer=(
            Sentence(text=command, code=((0, len(command)),), kind=SentenceKind.KNOWLEDGE),
            Sentence(text="See https://www.example.com/", mark="it is not said"),
        ),
    )
    layout = lay_out(held)
    told = [text_of(line) for line in lines(layout)]
    assert layout.title == f"Run {command}"
    assert f"“{command}” (general knowledge)" in told
    assert sum(command in line for line in told) == 2
    assert not any("See https" in line for line in told)


def test_points_of_a_message_are_set_apart() -> None:
    assert not any(item.apart for item in lay_out(REPORT).body)
    apart = [item.kind for item in lay_out(with_points_apart()).body if item.apart]
    assert apart == ["list", "steps"]


def test_every_kind_of_block_is_there_in_order() -> None:
    layout = lay_out(REPORT)
    assert (layout.title, layout.question) == (REPORT.title, REPORT.question)
    assert kinds(layout.answer) == ["list", "paragraph"]
    assert kinds(layout.body) == [
        "heading",
        "paragraph",
        "table",
        "list",
        "steps",
        "code",
        "heading",
        "paragraph",
        "heading",
        "list",
    ]
    assert [item.level for item in layout.body if item.kind == "heading"] == [1, 1, 2]
    told = [text_of(line) for line in lines(layout)]
    assert layout.lead == (Piece("Bottom line"),)
    assert layout.answer[-1].lines == ((Piece(LEGEND, "note"),),)
    assert any("900 is in none of its quotes" in line for line in told)
    assert any(line.startswith("C1: 330 - 300 = 30 [") for line in told)
    assert layout.foot == "deepdiver, tested."


def test_citations_and_notes_are_pieces_of_their_own() -> None:
    line = sentence_line(REPORT, REPORT.answer[0])
    assert line == (
        Piece("Owner:", "bold"),
        Piece(" Anna Holm owns Holm Works AB"),
        Piece("[1]", "cite", 1),
        Piece("."),
    )
    judged = REPORT.sections[1].blocks[0].rows[0][0]
    assert [piece.style for piece in sentence_line(REPORT, judged)] == [
        "plain",
        "cite",
        "cite",
        "plain",
    ]
    doubted = judged.model_copy(update={"mark": "flagged"})
    assert [piece.style for piece in sentence_line(REPORT, doubted)] == [
        "plain",
        "note",
        "cite",
        "cite",
        "plain",
    ]
    assert "[2, 3]." in text_of(sentence_line(REPORT, judged)), "one pair of brackets"


def test_a_citation_within_a_bold_opening_keeps_its_mark() -> None:
    item = REPORT.answer[0].model_copy(update={"places": (3,)})
    assert text_of(sentence_line(REPORT, item)) == "Own[1]er: Anna Holm owns Holm Works AB."


def test_a_note_within_a_bold_opening_keeps_its_words() -> None:
    judged = REPORT.sections[1].blocks[0].rows[0][0]
    doubted = judged.model_copy(update={"mark": "flagged"})
    item = doubted.model_copy(update={"bold": len(judged.text)})
    assert (
        text_of(sentence_line(REPORT, item)).count(" (caution: see the evidence view).[2, 3]") == 1
    )
    assert (
        text_of(sentence_line(REPORT, doubted)).count(" (caution: see the evidence view)[2, 3].")
        == 1
    )


def test_every_citation_leads_to_a_passage_of_the_list() -> None:
    layout = lay_out(REPORT)
    targets = {n for source in layout.sources for item in source.passages for n in item.numbers}
    cited = {piece.cites for line in lines(layout) for piece in line if piece.cites}
    assert cited
    assert cited <= targets == {item.number for item in REPORT.citations}
    assert citation_line(REPORT, [99]) == ()


def test_a_report_without_title_or_answer_has_its_question_and_its_outcome() -> None:
    made = report(title="", answer=(), points=(), sections=(), status=RunStatus.NO_EVIDENCE)
    layout = lay_out(made)
    assert (layout.title, layout.question) == (made.question, "")
    assert kinds(layout.answer) == ["paragraph"]
    assert layout.answer[0].lines[0][0].style == "bold"


def test_reasons_for_having_no_answer_are_a_list_and_a_single_point_a_paragraph() -> None:
    why = Sentence(text="No page could be read.", kind=SentenceKind.FRAME)
    none = report(answer=(why, why), points=(), status=RunStatus.COULD_NOT_SEARCH)
    assert kinds(lay_out(none).answer) == ["paragraph", "list", "paragraph"]
    assert kinds(lay_out(report(points=(2,))).answer) == ["paragraph", "paragraph"]


def test_a_frame_stands_above_the_points_that_it_introduces() -> None:
    frame = Sentence(text="In short:", kind=SentenceKind.FRAME)
    made = report(answer=(frame, *REPORT.answer), points=(1, 1, 1))
    assert kinds(lay_out(made).answer) == ["paragraph", "list", "paragraph"]


def test_a_section_of_sentences_is_a_paragraph_and_one_of_frames_a_list() -> None:
    frame = Sentence(text="Nothing is known.", kind=SentenceKind.FRAME)
    for sentences, kind in ((REPORT.answer, "paragraph"), ((frame, frame), "list")):
        made = report(sections=(Section(heading="More", sentences=sentences),))
        assert kinds(lay_out(made).body) == ["heading", kind]


def test_what_the_reader_thinks_of_the_sentences_is_in_the_evidence_view() -> None:
    opinion = SecondOpinion(stance=Stance.SUPPORTS, confidence=0.9)
    read = tuple(item.model_copy(update={"second_opinion": opinion}) for item in REPORT.answer)
    told = [text_of(line) for line in lines(lay_out(report(answer=read)))]
    said = f"compared {len(read)} sentences with the quotes: {len(read)} match, 0 do not."
    assert any(said in line for line in told)


def test_rival_answers_are_a_table_above_what_was_tested() -> None:
    rivals = rival_report(put("Anna", 0.6), put("Bo", 0.4))
    evidence = lay_out(rivals).evidence
    (table,) = [item for item in evidence if item.kind == "table"]
    assert [text_of(cell) for cell in table.header] == list(COLUMN_NAMES)
    assert [text_of(row[0]) for row in table.rows] == ["Anna", "Bo"]


def test_lines_are_joined_with_spaces() -> None:
    assert text_of(joined([plain("a"), plain("b")])) == "a b"
    assert joined([]) == ()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_becomes_a_citation_or_stays_hidden(payload: str) -> None:
    made = hostile(payload)
    layout = lay_out(made.report)
    shown = [piece for line in lines(layout) for piece in line]
    numbers = {item.number for item in made.report.citations}
    assert {piece.cites for piece in shown if piece.cites} == numbers
    assert not set("".join(piece.text for piece in shown)) & set("\u202e\u200b\x1b\x07\r")
    said = "".join(
        text_of(line)
        for item in (*layout.answer, *layout.body)
        for line in (*item.lines, *item.header, *chain.from_iterable(item.rows))
    )
    assert "https://evil.example" not in said.replace(made.report.citations[0].url, "")
