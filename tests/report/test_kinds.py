"""What is told of sentences that no source says: in which words, and where they are left out."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import (
    Block,
    BlockKind,
    Citation,
    Derivation,
    Report,
    RunStatus,
    SecondOpinion,
    Section,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.report.kinds import (
    CAUTION_NOTE,
    COLUMN_LINES,
    KIND_LINES,
    KIND_NOTES,
    LEGEND,
    OWN_CODE,
    cautioned,
    cited_once,
    closing_line,
    code_origin,
    column_kinds,
    column_lines,
    common_kind,
    is_told,
    lead_cited_once,
    lead_line,
    lift_citations,
    matched_line,
    noted,
    quiet_labels,
    reasons_of,
    section_line,
    sentence_notes,
    step_numbers,
    sum_line,
    table_citations,
    told_at_the_end,
    with_reasons,
)
from deepdiver.report.words import words_in
from tests.report.making import quote, sentence, source

FACT = sentence("It is old.", citations=(1, 2))
JUDGED = sentence("It is too dear.", kind=SentenceKind.JUDGEMENT, citations=(1,))
GENERAL = sentence("Mills age.", kind=SentenceKind.KNOWLEDGE)
ASSUMED = sentence("Nobody objects.", kind=SentenceKind.ASSUMPTION)


def report(**more: Any) -> Report:
    held: dict[str, Any] = {"answer": (), "confidence": 0.0, "status": RunStatus.PARTIAL}
    return Report(question="Who?", **(held | more))


def test_the_kind_of_every_sentence_can_be_told() -> None:
    uncited = {
        SentenceKind.FACT,
        SentenceKind.CALCULATION,
        SentenceKind.ABSENCE,
        SentenceKind.FRAME,
    }
    told = set(SentenceKind) - uncited
    assert KIND_NOTES.keys() == told
    assert KIND_LINES.keys() == COLUMN_LINES.keys() == told - {SentenceKind.JUDGEMENT}


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        ("", None),
        ("frame", None),
        ("fact fact", None),
        ("judgement judgement", None),
        ("assumption", "assumption"),
        ("assumption assumption assumption fact", "assumption"),
        ("assumption assumption fact", None),
        ("assumption frame frame frame", "assumption"),
        ("knowledge knowledge knowledge judgement", "knowledge"),
        ("absence absence", None),
    ],
)
def test_one_line_tells_the_kind_of_most_sentences(kinds: str, common: str | None) -> None:
    said = [sentence("x", kind=SentenceKind(kind)) for kind in kinds.split()]
    assert common_kind(said) == common
    assert common_kind([*said, sentence("", kind=SentenceKind.FACT)]) == common, "an empty cell"


def test_the_words_differ_and_cannot_be_taken_for_markdown() -> None:
    for words in (KIND_NOTES, KIND_LINES, COLUMN_LINES):
        assert len(set(words.values())) == len(words)
        assert not set("".join(words.values()).replace("{}", "")) & set("*_#`[]<>|~0123456789†‡§¶")


@pytest.mark.parametrize("kind", SentenceKind)
def test_a_kind_is_told_unless_something_above_has_told_it(kind: SentenceKind) -> None:
    said, note = sentence("It is so.", kind=kind), KIND_NOTES.get(kind)
    note = None if kind is SentenceKind.JUDGEMENT else note  # the line at the top tells it
    assert sentence_notes(said) == sentence_notes(said, None, None) == ([note] if note else [])
    assert sentence_notes(said, kind) == sentence_notes(said, None, kind) == []


@pytest.mark.parametrize("kind", KIND_LINES)
def test_a_kind_that_something_above_tells_leaves_the_others_their_notes(
    kind: SentenceKind,
) -> None:
    others = [other for other in SentenceKind if other is not kind]
    assert sentence_notes(sentence("It is so.", kind=kind), *others) == [KIND_NOTES[kind]]


def test_a_column_tells_its_kind_unless_its_section_does() -> None:
    known = SentenceKind.KNOWLEDGE
    rows = ((FACT, GENERAL), (FACT, GENERAL), (FACT, GENERAL))
    table = Block(kind="table", rows=rows, header=("State", "Custom"))
    assert column_kinds(table, None) == [None, known]
    assert column_kinds(table, known) == [None, None]
    assert column_kinds(table, SentenceKind.ASSUMPTION) == [None, known]
    assert column_kinds(Block(kind="table", rows=(), header=("State",)), None) == []
    judged = Block(kind="table", rows=((FACT, JUDGED),) * 3, header=("State", "Verdict"))
    assert column_kinds(judged, None) == [None, None], "the line at the top tells it"


def test_the_name_of_a_row_tells_nothing_unless_it_is_generally_known() -> None:
    named = Block(kind="table", rows=((JUDGED, JUDGED),) * 3, header=("Option", "Verdict"))
    ((name, cell), *_) = quiet_labels(named).rows
    assert (name.kind, name.citations, cell) == (SentenceKind.FRAME, (), JUDGED)
    known = Block(kind="table", rows=((GENERAL, JUDGED),), header=("Change", "Verdict"))
    assert quiet_labels(known).rows == known.rows, "nobody could tell that no source says it"
    assert sentence_notes(GENERAL, column_kinds(known, None)[0]) == ["general knowledge"]


@pytest.mark.parametrize("header", [(), ("State",), ("State", ""), ("State", " \n")])
def test_no_line_can_tell_of_a_column_without_a_name(header: tuple[str, ...]) -> None:
    table = Block(kind="table", rows=((FACT, GENERAL),) * 3, header=header)
    assert column_kinds(table, None) == [None, None], "so its cells have notes of their own"
    assert column_lines(table, column_kinds(table, None), words_in("en")) == ""


def test_a_line_below_a_table_names_the_columns_that_no_source_says() -> None:
    row = (FACT, ASSUMED, GENERAL, FACT, ASSUMED, JUDGED)
    header = ("Mill", "Weak\npoint", "Custom", "Age", "Risk", "Verdict")
    table = Block(kind="table", rows=(row,) * 2, header=header)
    columns = column_kinds(table, None)
    assert column_lines(table, columns, words_in("en")) == (
        "General knowledge in this table: Custom. "
        "Our assumptions in this table: Weak point and Risk."
    )
    assert column_lines(table, columns, words_in("de")) == (
        "Allgemein bekannt in dieser Tabelle: Custom. "
        "Unsere Annahmen in dieser Tabelle: Weak point und Risk."
    )
    told = column_kinds(table, SentenceKind.ASSUMPTION)
    assert "assumption" not in column_lines(table, told, words_in("en")), "its section tells it"
    assert column_lines(table, [None] * len(row), words_in("en")) == ""


def test_names_of_columns_are_not_read_as_places_of_other_words() -> None:
    table = Block(kind="table", rows=((FACT, GENERAL),), header=("Mill", "{} {0} {x}"))
    told = column_lines(table, column_kinds(table, None), words_in("en"))
    assert told == "General knowledge in this table: {} {0} {x}."


def test_one_line_at_the_top_tells_what_is_judgement() -> None:
    assert lead_line(report()) == lead_line(report(answer=(FACT,))) == ""
    assert lead_line(report(answer=(FACT, JUDGED))) == LEGEND
    assert lead_line(report(answer=(GENERAL, ASSUMED))) == "", "they have notes of their own"
    below = Section(heading="x", blocks=(Block(kind="list", rows=((FACT,), (JUDGED,))),))
    assert lead_line(report(answer=(FACT,), sections=(below,))) == LEGEND
    spanish = lead_line(report(answer=(JUDGED,), language="es"))
    assert spanish.startswith("Los números remiten a lo que dice una fuente; ")


def test_the_closing_line_tells_of_code_alone() -> None:
    judged = (Section(heading="x", sentences=(FACT, JUDGED)),)
    assert closing_line(report(answer=(JUDGED,), sections=judged)) == ""
    code = Section(heading="z", blocks=(Block(kind="code", rows=((GENERAL,),)),))
    assert closing_line(report(answer=(JUDGED,), sections=(code,))) == OWN_CODE


def listed(*rows: tuple[Sentence, ...], kind: BlockKind = "list") -> Section:
    return Section(heading="x", blocks=(Block(kind=kind, rows=rows),))


def test_a_section_tells_the_kind_of_most_of_its_sentences() -> None:
    assert section_line(Section(heading="x")) == (None, "")
    assert section_line(listed((FACT,), (FACT,), (GENERAL,))) == (None, ""), "one has a note"
    told = listed((GENERAL,), (GENERAL,), (GENERAL,), (FACT,))
    assert section_line(told) == (GENERAL.kind, KIND_LINES[GENERAL.kind])
    assert section_line(listed((JUDGED,), (JUDGED,))) == (None, ""), "the top of the report does"


def test_a_column_of_one_kind_may_hold_a_few_facts() -> None:
    header = ("Mill", "Custom")
    most = Block(kind="table", rows=((FACT, GENERAL),) * 2 + ((FACT, FACT),), header=header)
    assert column_kinds(most, None) == [None, SentenceKind.KNOWLEDGE]
    half = Block(kind="table", rows=((FACT, GENERAL), (FACT, FACT)), header=header)
    assert column_kinds(half, None) == [None, None]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Mills tend to age.", SentenceKind.KNOWLEDGE),
        ("In practice mills age.", SentenceKind.KNOWLEDGE),
        ("From general market knowledge, mills age.", SentenceKind.KNOWLEDGE),
        ("To our knowledge, mills age.", SentenceKind.KNOWLEDGE),
        ("The law in general bars it.", SentenceKind.KNOWLEDGE),
        ("The general knows it.", None),
        ("It is the usual way.", None),
        ("Assuming that nobody objects, it is sold.", SentenceKind.ASSUMPTION),
        ("Suppose that it rains: it is wet.", SentenceKind.ASSUMPTION),
        ("Weave our own cloth.", None),
    ],
)
def test_a_sentence_that_says_what_it_is_needs_no_note(
    text: str, kind: SentenceKind | None
) -> None:
    for own in KIND_LINES:
        said = sentence(text, kind=own)
        assert is_told(said) is (own is kind)
        assert (sentence_notes(said) == []) is (own is kind)
        assert (noted(said, words_in("en")) == "") is (own is kind)
        assert (common_kind((said, said)) is None) is (own is kind), "nor does its section"
    assert not is_told(sentence(text))


def test_code_says_below_it_where_it_is_from() -> None:
    say = words_in("en")
    assert code_origin(FACT, say) == "Source of the code:"
    assert code_origin(sentence("x"), say) == ""
    assert code_origin(JUDGED, say) == "Our own code, based on:"
    assert code_origin(GENERAL, say) == ""
    for own, told in ((GENERAL, "Code without a source is our own."), (FACT, ""), (JUDGED, "")):
        code = Block(kind="code", rows=((own,),))
        held = report(sections=(Section(heading="x", blocks=(code,)),))
        assert closing_line(held) == told


def test_a_calculation_tells_what_is_supposed_in_it() -> None:
    say = words_in("en")
    made = Derivation(name="C1", expression="60 / 400", result="0.15")
    assert sum_line(made, say) == "C1: 60 / 400 = 0.15"
    assert sum_line(made.model_copy(update={"result": ""}), say) == "C1: 60 / 400"
    supposed = made.model_copy(update={"supposed": ("60", "400")})
    assert sum_line(supposed, say) == "C1: 60 / 400 = 0.15 (60, 400 supposed)"
    assert sum_line(supposed, words_in("de")) == "C1: 60 / 400 = 0.15 (60, 400 angenommen)"


def test_a_caution_has_a_note_beside_that_of_the_kind() -> None:
    doubted = ASSUMED.model_copy(update={"mark": "flagged"})
    assert sentence_notes(doubted) == ["our assumption", CAUTION_NOTE]
    assert sentence_notes(doubted, SentenceKind.ASSUMPTION) == [CAUTION_NOTE]
    assert sentence_notes(ASSUMED) == ["our assumption"]
    assert sentence_notes(FACT) == sentence_notes(ASSUMED, SentenceKind.ASSUMPTION) == []
    assert sentence_notes(FACT.model_copy(update={"mark": "x"})) == [CAUTION_NOTE]


@pytest.mark.parametrize(
    ("language", "alone", "both"),
    [
        ("en", "(our assumption)", "(our assumption; see the cautions)"),
        ("de", "(unsere Annahme)", "(unsere Annahme; siehe die Vorbehalte)"),
        ("ja", "（筆者の仮定）", "（筆者の仮定；留意点を参照）"),
        ("zh", "（我们的假设）", "（我们的假设；见注意事项）"),
    ],
)
def test_notes_stand_in_the_brackets_of_the_language(language: str, alone: str, both: str) -> None:
    say = words_in(language)
    doubted = ASSUMED.model_copy(update={"mark": "flagged"})
    assert (noted(ASSUMED, say), noted(doubted, say)) == (alone, both)
    assert noted(FACT, say) == noted(JUDGED, say) == "", "no empty brackets"


def test_a_sentence_with_a_caution_is_yielded_once() -> None:
    doubted = FACT.model_copy(update={"mark": "flagged"})
    sections = (Section(heading="x", sentences=(doubted, JUDGED)),)
    held = report(answer=(doubted, FACT), sections=sections)
    assert list(cautioned(held)) == [doubted]
    assert list(cautioned(report(answer=(FACT,)))) == []


def test_one_note_tells_the_kind_of_sentences_that_stand_side_by_side() -> None:
    known = SentenceKind.KNOWLEDGE
    assert list(told_at_the_end((GENERAL, GENERAL))) == [(GENERAL, known), (GENERAL, None)]
    assert list(told_at_the_end((GENERAL, FACT))) == [(GENERAL, None), (FACT, None)]
    mixed = (FACT, GENERAL, GENERAL, ASSUMED, GENERAL)
    assert [kind for _, kind in told_at_the_end(mixed)] == [None, known, None, None, None]
    steps = [kind for _, kind in told_at_the_end((FACT, ASSUMED, GENERAL), "steps")]
    assert steps == [None, ASSUMED.kind, None], "a step says what to do, and not what is known"
    in_words = sentence("Usually it is so.", kind=known)
    marked = [kind for _, kind in told_at_the_end((GENERAL, in_words, GENERAL))]
    assert marked == [None, known, None], "what follows does not tell of it"
    assert list(told_at_the_end(())) == []


@pytest.mark.parametrize(
    ("name", "cells", "left"),
    [
        ((1,), ((1,),), ()),
        ((1, 2), ((1,), (2, 3)), ()),
        ((1, 2), ((1,),), (1, 2)),
        ((1,), ((),), (1,)),
        ((), ((1,),), ()),
        ((1,), (), (1,)),
    ],
)
def test_the_name_of_a_row_leaves_citations_to_cells_that_have_them_all(
    name: tuple[int, ...], cells: tuple[tuple[int, ...], ...], left: tuple[int, ...]
) -> None:
    row = tuple(sentence("x", citations=numbers) for numbers in (name, *cells))
    (quiet,) = quiet_labels(Block(kind="table", rows=(row,))).rows
    assert quiet[0].citations == left
    assert quiet[1:] == row[1:]
    assert quiet_labels(Block(kind="table", rows=((),))).rows == ((),)


# Citations of a column


def citation(number: int, key: str) -> Citation:
    """Return a citation of a source."""
    held, said = source(key), quote("Holm Works is owned by Anna Holm.", key)
    return Citation(
        number=number,
        source=key,
        finding="f_1",
        title=held.title,
        url=held.url,
        quote=said.text,
        passage=said.passage,
        credibility=0.9,
    )


CITED = report(citations=tuple(citation(n, "s_1" if n < 5 else "s_2") for n in range(1, 7)))


def cells(*cited: tuple[int, ...] | None, kind: SentenceKind = SentenceKind.FACT) -> Block:
    """Return a table of one column; None: a cell of general knowledge."""
    general = SentenceKind.KNOWLEDGE
    rows = [
        sentence(f"cell {at}", citations=numbers or (), kind=general if numbers is None else kind)
        for at, numbers in enumerate(cited)
    ]
    return Block(kind="table", header=("Life",), rows=tuple((cell,) for cell in rows))


@pytest.mark.parametrize("cited", [((1,), (1,)), ((5, 6), (6, 5), (5, 6))])
def test_a_column_whose_cells_share_their_passages_cites_them_in_its_name(
    cited: tuple[tuple[int, ...], ...],
) -> None:
    for kind in (SentenceKind.FACT, SentenceKind.CALCULATION, SentenceKind.JUDGEMENT):
        lifted, quiet = lift_citations(CITED, cells(*cited, kind=kind))
        assert set(*lifted) == {number for numbers in cited for number in numbers}
        assert not any(cell.citations for row in quiet.rows for cell in row)
        assert [row[0].text for row in quiet.rows] == [f"cell {n}" for n in range(len(cited))]


@pytest.mark.parametrize(
    "cited",
    [
        *[((1,), (2,), (4, 3)), ((5, 6), (5,))],  # of one source, and each row can be traced
        *[((1,), (5,)), ((1, 5), (1,)), ((1,),), ((1,), ()), ((1,), (1,), None), (None, None), ()],
    ],
)
def test_another_column_keeps_the_citations_of_its_cells(
    cited: tuple[tuple[int, ...] | None, ...],
) -> None:
    block = cells(*cited)
    lifted, quiet = lift_citations(CITED, block)
    assert quiet == block
    assert not any(lifted)


def table(*rows: tuple[tuple[int, ...], ...]) -> Block:
    """Return a table whose cells cite these; the names of rows cite nothing."""
    made = tuple(
        (sentence("row"), *(sentence("c", citations=cited) for cited in row)) for row in rows
    )
    return Block(kind="table", header=("Name", *("Column" for _ in rows[0])), rows=made)


@pytest.mark.parametrize(
    ("rows", "names", "below"),
    [
        ((((1,), (2,)), ((1,), (2,))), [(), (), ()], (1, 2)),
        ((((1,), (5,)), ((1,), (5,))), [(), (1,), (5,)], ()),
        ((((1,), (2, 5)), ((1,), (1,))), [(), (1,), ()], ()),
        ((((1,), (2,)), ((3,), (1,))), [(), (), ()], ()),
        ((((1,), (2,)),), [(), (), ()], ()),
    ],
    ids=["one source", "two sources", "one column", "rows of their own", "one row"],
)
def test_columns_of_one_source_cite_it_below_their_table(
    rows: tuple[Any, ...], names: list[tuple[int, ...]], below: tuple[int, ...]
) -> None:
    lifted, told, left = table_citations(CITED, table(*rows))
    assert (lifted, told) == (names, below)
    cited = {n for row in left.rows for cell in row for n in cell.citations}
    assert cited | {*told} | {n for name in lifted for n in name} == {
        n for row in rows for cell in row for n in cell
    }, "every citation stands somewhere"


@pytest.mark.parametrize(
    ("cited", "left"),
    [
        (((1,), (1,), (1,)), ((), (), (1,))),
        (((1, 2), (2, 1), (1,)), ((), (2, 1), (1,))),
        (((1,), (), (1,)), ((1,), (), (1,))),
        (((), ()), ((), ())),
        ((), ()),
    ],
)
def test_judgements_and_cells_that_cite_the_same_in_a_row_do_so_once(
    cited: tuple[tuple[int, ...], ...], left: tuple[tuple[int, ...], ...]
) -> None:
    judged = SentenceKind.JUDGEMENT
    figures = [sentence("It is 5.", citations=numbers, kind=judged) for numbers in cited]
    assert tuple(item.citations for item in cited_once(CITED, figures)) == left
    (row,) = table_citations(CITED, table(cited))[2].rows
    assert tuple(cell.citations for cell in row[1:]) == left
    said = [sentence("It is.", citations=numbers, kind=judged) for numbers in cited]
    shown = [number for item in cited_once(CITED, said) for number in item.citations]
    assert sorted(shown) == sorted({*itertools.chain(*cited)}), "without figures, never again"


def test_each_fact_keeps_its_citations() -> None:
    assert cited_once(CITED, [FACT, FACT]) == [FACT, FACT]
    first, last = cited_once(CITED, [FACT, FACT], facts=True)
    assert (first.citations, last) == ((), FACT)


def test_another_kind_and_a_citation_at_its_clause_stay_as_they_are() -> None:
    fact, judged = FACT, FACT.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    placed = FACT.model_copy(update={"places": (2,) * len(FACT.citations)})
    other = judged.model_copy(update={"citations": (1,)})
    figure = other.model_copy(update={"text": "It is 5."})
    for row in ([judged, fact], [placed, fact], [other, judged], [fact, figure]):
        assert cited_once(CITED, row) == row
    assert cited_once(CITED, [fact, other])[1].citations == ()


def test_a_judgement_leaves_its_citations_to_the_fact_before_it() -> None:
    judged = FACT.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    assert [item.citations for item in cited_once(CITED, [FACT, judged])] == [(1, 2), ()]
    assert [item.citations for item in cited_once(CITED, [FACT, FACT, judged])] == [
        (1, 2),
        (1, 2),
        (),
    ]
    assert [item.citations for item in cited_once(CITED, [judged, judged])] == [(), (1, 2)]


# Reasons of judgements


def reasoned(text: str, places: tuple[int, ...], **more: Any) -> Sentence:
    cited = tuple(range(1, len(places) + 1))
    judged = SentenceKind.JUDGEMENT
    return sentence(text, citations=cited, places=places, kind=judged, **more)


QUOTED = CITED.model_copy(
    update={
        "citations": (
            CITED.citations[0].model_copy(update={"quote": "It has 35 looms and 4 men in 2024."}),
            CITED.citations[1].model_copy(update={"quote": "35 looms are old."}),
            *CITED.citations[2:],
        )
    }
)


@pytest.mark.parametrize(
    ("text", "places", "hidden", "printed"),
    [
        ("Sell it.", (-1, -1), (1, 2), ()),
        ("Sell 35 of them.", (-1, -1), (2,), (1,)),
        ("Sell 35 of them, as they are old.", (-1, 32), (1,), (2,)),
        ("Sell 35, and let 4 go.", (-1, 7), (), (1, 2)),
        ("Sell 36.", (-1,), (1,), ()),
        ("Sell it, as four men said in 2024.", (-1,), (1,), ()),
        ("Sell it.", (), (), (1,)),
    ],
)
def test_a_reason_is_printed_if_a_figure_has_no_other_source(
    text: str, places: tuple[int, ...], hidden: tuple[int, ...], printed: tuple[int, ...]
) -> None:
    said = reasoned(text, places)
    said = said if places else said.model_copy(update={"citations": (1,)})
    assert reasons_of(QUOTED, said) == hidden
    (shown,) = cited_once(QUOTED, [said])
    assert shown.citations == printed
    assert all(0 <= place <= len(text) for place in shown.places)


def test_the_evidence_view_has_each_judgement_with_its_reasons_once() -> None:
    said, long = reasoned("Sell it.", (-1,)), reasoned("Sell it. " * 40, (-1,))
    held = QUOTED.model_copy(
        update={"answer": (said, FACT), "sections": (listed((said,), (long,)),)}
    )
    (first, reasons), (second, _) = with_reasons(held)
    assert (first, reasons) == ("Sell it.", (1,))
    assert len(second) <= 160
    assert list(with_reasons(report(answer=(FACT, JUDGED)))) == []


def test_the_name_of_a_row_leaves_reasons_to_the_judgement_beside_it() -> None:
    verdict = reasoned("Sell it.", (-1, -1))
    row = (sentence("Mill", citations=(1, 2)), verdict)
    block = Block(kind="table", rows=(row,), header=("What", "Verdict"))
    _, _, left = table_citations(QUOTED, block)
    assert [cell.citations for cell in left.rows[0]] == [(), ()]


def test_points_of_the_bottom_line_are_cited_apart() -> None:
    judged = FACT.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    held = CITED.model_copy(update={"answer": (FACT, judged, judged), "points": (2, 1)})
    assert [item.citations for item in lead_cited_once(held)] == [(1, 2), (), (1, 2)]
    unfit = held.model_copy(update={"points": (1,)})
    assert [item.citations for item in lead_cited_once(unfit)] == [(1, 2), (), ()]


# Steps


@pytest.mark.parametrize(
    ("blocks", "numbers"),
    [
        ("", []),
        ("steps2 code1 steps3 code1 steps1", [1, 1, 3, 1, 6]),
        ("steps2 code1 code1 steps1", [1, 1, 1, 3]),
        ("steps2 paragraph1 steps2", [1, 1, 1]),
        ("steps2 code1 paragraph1 paragraph1 steps2", [1, 1, 1, 1, 3]),
        ("steps2 code1 paragraph1 list1 steps2", [1, 1, 1, 1, 1]),
        ("steps2 paragraph1 code1 steps2", [1, 1, 1, 1]),
        ("code1 steps2 steps2", [1, 1, 3]),
    ],
)
def test_steps_go_on_behind_code(blocks: str, numbers: list[int]) -> None:
    made = [
        Block.model_validate({"kind": name[:-1], "rows": ((FACT,),) * int(name[-1])})
        for name in blocks.split()
    ]
    assert list(step_numbers(made)) == numbers


# What the reader found

OPINIONS = st.none() | st.builds(
    SecondOpinion, stance=st.sampled_from(list(Stance)), confidence=st.floats(0, 1, allow_nan=False)
)


@given(st.lists(OPINIONS, max_size=60))
def test_the_counts_of_the_reader_add_up(opinions: list[SecondOpinion | None]) -> None:
    written = tuple(sentence("It is so.", second_opinion=opinion) for opinion in opinions)
    told = matched_line(report(answer=written))
    stances = [opinion.stance for opinion in opinions if opinion]
    if not stances:
        assert told == ""
        return
    read, match, not_, *unsure = map(int, re.findall(r"\d+", told))
    assert read == len(stances) == match + not_ + sum(unsure)
    assert match == stances.count(Stance.SUPPORTS)
    assert not_ == stances.count(Stance.REFUTES)
    assert unsure != [0], "nothing is said of what there is none of"


def test_sentences_of_sections_and_tables_are_counted_too() -> None:
    agreed = SecondOpinion(stance=Stance.SUPPORTS, confidence=0.9)
    cell = sentence("38 tonnes", second_opinion=agreed)
    table = Block(kind="table", header=("Made",), rows=((cell,),))
    held = report(sections=(Section(heading="Cheese", sentences=(cell,), blocks=(table,)),))
    assert matched_line(held) == (
        "The reader that comes with deepdiver compared 2 sentences with the quotes: 2 match, "
        "0 do not."
    )
