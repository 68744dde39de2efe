"""What is told of sentences that no source says: in which words, and where they are left out."""

from __future__ import annotations

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
    AMONG_FACTS,
    CAUTION_NOTE,
    COLUMN_LINES,
    KIND_LINES,
    KIND_NOTES,
    LEAD_KIND,
    OWN_CODE,
    THROUGHOUT,
    cautioned,
    cited_once,
    closing_line,
    code_origin,
    column_kinds,
    column_lines,
    common_kind,
    is_told,
    judged_throughout,
    lead_line,
    lift_citations,
    matched_line,
    noted,
    quiet_labels,
    section_line,
    sentence_notes,
    step_numbers,
    sum_line,
    table_citations,
    told_at_the_end,
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
    assert KIND_NOTES.keys() == KIND_LINES.keys() == COLUMN_LINES.keys() == told


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        ("", None),
        ("frame", None),
        ("fact fact", None),
        ("judgement", "judgement"),
        ("judgement judgement judgement fact", "judgement"),
        ("judgement judgement fact", None),
        ("judgement frame frame frame", "judgement"),
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
    assert sentence_notes(said) == sentence_notes(said, None, None) == ([note] if note else [])
    assert sentence_notes(said, kind) == sentence_notes(said, None, kind) == []


@pytest.mark.parametrize("kind", KIND_NOTES)
def test_a_kind_that_something_above_tells_leaves_the_others_their_notes(
    kind: SentenceKind,
) -> None:
    others = [other for other in SentenceKind if other is not kind]
    assert sentence_notes(sentence("It is so.", kind=kind), *others) == [KIND_NOTES[kind]]


def test_a_column_tells_its_kind_unless_its_section_does() -> None:
    rows = ((FACT, JUDGED), (FACT, JUDGED), (FACT, JUDGED))
    table = Block(kind="table", rows=rows, header=("State", "Verdict"))
    assert column_kinds(table, None) == [None, SentenceKind.JUDGEMENT]
    assert column_kinds(table, SentenceKind.JUDGEMENT) == [None, None]
    assert column_kinds(table, SentenceKind.KNOWLEDGE) == [None, SentenceKind.JUDGEMENT]
    assert column_kinds(Block(kind="table", rows=(), header=("State",)), None) == []
    named = Block(kind="table", rows=((JUDGED, JUDGED),) * 3, header=("Option", "Verdict"))
    assert column_kinds(named, None) == [None, SentenceKind.JUDGEMENT], "names of rows tell nothing"
    ((name, cell), *_) = quiet_labels(named).rows
    assert (name.kind, name.citations, cell) == (SentenceKind.FRAME, (), JUDGED)
    known = Block(kind="table", rows=((GENERAL, JUDGED),), header=("Change", "Verdict"))
    assert quiet_labels(known).rows == known.rows, "nobody could tell that no source says it"
    assert sentence_notes(GENERAL, column_kinds(known, None)[0]) == ["general knowledge"]


@pytest.mark.parametrize("header", [(), ("State",), ("State", ""), ("State", " \n")])
def test_no_line_can_tell_of_a_column_without_a_name(header: tuple[str, ...]) -> None:
    table = Block(kind="table", rows=((FACT, JUDGED),) * 3, header=header)
    assert column_kinds(table, None) == [None, None], "so its cells have notes of their own"
    assert column_lines(table, column_kinds(table, None), words_in("en")) == ""


def test_a_line_below_a_table_names_the_columns_that_no_source_says() -> None:
    row = (FACT, JUDGED, GENERAL, FACT, JUDGED, ASSUMED)
    header = ("Mill", "Weak\npoint", "Custom", "Age", "Verdict", "Risk")
    table = Block(kind="table", rows=(row,) * 2, header=header)
    columns = column_kinds(table, None)
    assert column_lines(table, columns, words_in("en")) == (
        "Our judgement in this table: Weak point and Verdict. "
        "General knowledge in this table: Custom. Our assumptions in this table: Risk."
    )
    assert column_lines(table, columns, words_in("de")) == (
        "Unser Urteil in dieser Tabelle: Weak point und Verdict. "
        "Allgemein bekannt in dieser Tabelle: Custom. Unsere Annahmen in dieser Tabelle: Risk."
    )
    assert "筆者の判断（この表）：" in column_lines(table, columns, words_in("ja"))
    told = column_kinds(table, SentenceKind.JUDGEMENT)
    assert "judgement" not in column_lines(table, told, words_in("en")), "its section tells it"
    assert column_lines(table, [None] * len(row), words_in("en")) == ""


def test_names_of_columns_are_not_read_as_places_of_other_words() -> None:
    table = Block(kind="table", rows=((FACT, JUDGED),), header=("Mill", "{} {0} {x}"))
    told = column_lines(table, column_kinds(table, None), words_in("en"))
    assert told == "Our judgement in this table: {} {0} {x}."


def test_the_bottom_line_tells_once_that_it_is_a_judgement() -> None:
    assert lead_line(report()) == lead_line(report(answer=(FACT,))) == ""
    assert lead_line(report(answer=(FACT, JUDGED))) == KIND_LINES[LEAD_KIND]
    assert lead_line(report(answer=(GENERAL, ASSUMED))) == "", "they have notes of their own"
    in_words = JUDGED.model_copy(update={"text": "We recommend a sale."})
    assert lead_line(report(answer=(FACT, in_words))) == "", "it says so itself"
    assert lead_line(report(answer=(in_words, JUDGED))) == KIND_LINES[LEAD_KIND]
    spanish = lead_line(report(answer=(JUDGED,), language="es"))
    assert spanish == "Juicio nuestro, por las razones citadas."


def test_the_closing_line_tells_of_code_alone() -> None:
    judged = (Section(heading="x", sentences=(FACT, JUDGED)),)
    assert closing_line(report(answer=(JUDGED,), sections=judged)) == ""
    code = Section(heading="z", blocks=(Block(kind="code", rows=((GENERAL,),)),))
    assert closing_line(report(answer=(JUDGED,), sections=(code,))) == OWN_CODE


def listed(*rows: tuple[Sentence, ...], kind: BlockKind = "list") -> Section:
    return Section(heading="x", blocks=(Block(kind=kind, rows=rows),))


def test_several_judgements_among_facts_are_told_once_below_the_heading() -> None:
    judged = SentenceKind.JUDGEMENT
    assert section_line(Section(heading="x")) == (None, "")
    assert section_line(listed((FACT,), (FACT,), (JUDGED,))) == (None, ""), "one has a note"
    told = listed((FACT,), (JUDGED,), (FACT,), (JUDGED,))
    assert section_line(told) == (judged, AMONG_FACTS)
    assert section_line(listed((JUDGED,), (JUDGED,), (JUDGED,), (FACT,))) == (
        judged,
        KIND_LINES[judged],
    )
    together = listed((FACT, JUDGED, JUDGED, FACT), kind="paragraph")
    assert section_line(together) == (None, ""), "a train of thought has one note"
    steps = listed((FACT, JUDGED), (FACT, JUDGED), kind="steps")
    assert section_line(steps) == (None, ""), "steps tell it by their form"
    known = listed((FACT,), (GENERAL,), (FACT,), (GENERAL,))
    assert section_line(known) == (None, ""), "which of them is generally known, notes tell"


def test_judgements_in_several_places_are_told_once_for_the_report() -> None:
    judged = SentenceKind.JUDGEMENT
    one = listed((FACT,), (FACT,), (JUDGED,))
    table = Block(kind="table", rows=((FACT, JUDGED),) * 2, header=("Mill", "Verdict"))
    tabled = Section(heading="y", blocks=(table, Block(kind="list", rows=((FACT,),) * 3)))
    known = listed((GENERAL,), (GENERAL,))
    for sections, told in {
        (): False,
        (one,): False,
        (tabled,): False,
        (known, known): False,
        (one, one): True,
        (one, tabled): True,
        (tabled, tabled): True,
        (listed((JUDGED,), (JUDGED,)),) * 2: True,
        (listed((JUDGED,), (JUDGED,)), known): False,
    }.items():
        held = report(answer=(FACT,), sections=sections)
        assert judged_throughout(held) is told, sections
        assert lead_line(held) == (THROUGHOUT if told else "")
    assert section_line(one, throughout=True) == (judged, "")
    assert section_line(tabled, throughout=True) == (judged, "")
    assert section_line(known, throughout=True) == (GENERAL.kind, KIND_LINES[GENERAL.kind])
    german = report(language="de", sections=(one, one))
    assert lead_line(german).startswith("Schlüsse, Rangfolgen und Ratschläge in diesem Bericht")


def test_cells_that_their_column_tells_do_not_count_for_their_section() -> None:
    rows = ((FACT, FACT, JUDGED),) * 3
    table = Block(kind="table", rows=rows, header=("Mill", "Age", "Verdict"))
    assert section_line(Section(heading="x", blocks=(table,))) == (None, "")
    mixed = ((FACT, JUDGED, FACT), (FACT, FACT, JUDGED), (FACT, FACT, FACT))
    unlike = Block(kind="table", rows=mixed, header=("Mill", "Age", "Verdict"))
    assert section_line(Section(heading="x", blocks=(unlike,)))[1] == AMONG_FACTS


def test_a_column_of_judgement_may_hold_a_few_facts() -> None:
    header = ("Mill", "Verdict")
    most = Block(kind="table", rows=((FACT, JUDGED),) * 2 + ((FACT, FACT),), header=header)
    assert column_kinds(most, None) == [None, SentenceKind.JUDGEMENT]
    half = Block(kind="table", rows=((FACT, JUDGED), (FACT, FACT)), header=header)
    assert column_kinds(half, None) == [None, None]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Our reading is that it will be sold.", SentenceKind.JUDGEMENT),
        ("We could sell it, the owners recommend.", None),
        ("It should be sold.", SentenceKind.JUDGEMENT),
        ("Mills tend to age.", SentenceKind.KNOWLEDGE),
        ("We therefore recommend a sale.", SentenceKind.JUDGEMENT),
        ("This report follows the first, which is later.", SentenceKind.JUDGEMENT),
        ("The owners recommend a sale.", None),
        ("Weave our own cloth.", None),
        ("In practice mills age.", SentenceKind.KNOWLEDGE),
        ("It is the usual way.", None),
        ("We would rather wait.", SentenceKind.JUDGEMENT),
        ("We do not trust the second figure.", SentenceKind.JUDGEMENT),
        ("The wood would burn.", SentenceKind.JUDGEMENT),
        ("Woulds and shoulders are words.", None),
    ],
)
def test_a_sentence_that_says_what_it_is_needs_no_note(
    text: str, kind: SentenceKind | None
) -> None:
    for own in KIND_NOTES:
        said = sentence(text, kind=own)
        assert is_told(said) is (own is kind)
        assert (sentence_notes(said) == []) is (own is kind)
        assert (noted(said, words_in("en")) == "") is (own is kind)
        assert (common_kind((said, said)) is None) is (own is kind), "nor does its section"
    assert not is_told(sentence(text))


def test_a_judgement_that_assumes_says_so_in_these_words_too() -> None:
    for text in ("Assuming that nobody objects, it is sold.", "Suppose that it rains: it is wet."):
        for kind in (SentenceKind.JUDGEMENT, SentenceKind.ASSUMPTION):
            assert is_told(sentence(text, kind=kind))
        assert not is_told(sentence(text, kind=SentenceKind.KNOWLEDGE))


def test_code_says_below_it_where_it_is_from() -> None:
    say = words_in("en")
    assert code_origin(FACT, say) == "Source of the code:"
    assert code_origin(sentence("x"), say) == ""
    assert code_origin(JUDGED, say) == "Our own code, after:"
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
    doubted = JUDGED.model_copy(update={"mark": "flagged"})
    assert sentence_notes(doubted) == ["our judgement", CAUTION_NOTE]
    assert sentence_notes(doubted, SentenceKind.JUDGEMENT) == [CAUTION_NOTE]
    assert sentence_notes(JUDGED) == ["our judgement"]
    assert sentence_notes(FACT) == sentence_notes(JUDGED, SentenceKind.JUDGEMENT) == []
    assert sentence_notes(FACT.model_copy(update={"mark": "x"})) == [CAUTION_NOTE]


@pytest.mark.parametrize(
    ("language", "judged", "both"),
    [
        ("en", "(our judgement)", "(our judgement; see the cautions)"),
        ("de", "(unser Urteil)", "(unser Urteil; siehe die Vorbehalte)"),
        ("ja", "（筆者の判断）", "（筆者の判断；留意点を参照）"),
        ("zh", "（我们的判断）", "（我们的判断；见注意事项）"),
    ],
)
def test_notes_stand_in_the_brackets_of_the_language(language: str, judged: str, both: str) -> None:
    say = words_in(language)
    doubted = JUDGED.model_copy(update={"mark": "flagged"})
    assert (noted(JUDGED, say), noted(doubted, say)) == (judged, both)
    assert noted(FACT, say) == noted(JUDGED, say, SentenceKind.JUDGEMENT) == "", "no empty brackets"


def test_a_sentence_with_a_caution_is_yielded_once() -> None:
    doubted = FACT.model_copy(update={"mark": "flagged"})
    sections = (Section(heading="x", sentences=(doubted, JUDGED)),)
    held = report(answer=(doubted, FACT), sections=sections)
    assert list(cautioned(held)) == [doubted]
    assert list(cautioned(report(answer=(FACT,)))) == []


def test_one_note_tells_the_kind_of_sentences_that_stand_side_by_side() -> None:
    assert list(told_at_the_end((JUDGED, JUDGED))) == [
        (JUDGED, SentenceKind.JUDGEMENT),
        (JUDGED, None),
    ]
    assert list(told_at_the_end((JUDGED, FACT))) == [(JUDGED, None), (FACT, None)]
    mixed = (FACT, JUDGED, JUDGED, GENERAL, JUDGED)
    told = [None, SentenceKind.JUDGEMENT, None, None, None]
    assert [kind for _, kind in told_at_the_end(mixed)] == told
    steps = [kind for _, kind in told_at_the_end((FACT, JUDGED, GENERAL), "steps")]
    assert steps == [None, JUDGED.kind, None], "a step says what to do, and not what is known"
    assert list(told_at_the_end((ASSUMED,), "steps")) == [(ASSUMED, ASSUMED.kind)]
    in_words = sentence("We recommend it.", kind=SentenceKind.JUDGEMENT)
    marked = [kind for _, kind in told_at_the_end((JUDGED, in_words, JUDGED))]
    assert marked == [None, SentenceKind.JUDGEMENT, None], "what follows does not tell of it"
    assert list(told_at_the_end((JUDGED,))) == [(JUDGED, None)]
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
    said = [sentence("It is.", citations=numbers, kind=judged) for numbers in cited]
    assert tuple(item.citations for item in cited_once(said)) == left
    (row,) = table_citations(CITED, table(cited))[2].rows
    assert tuple(cell.citations for cell in row[1:]) == left


def test_each_fact_keeps_its_citations() -> None:
    assert cited_once([FACT, FACT]) == [FACT, FACT]


def test_another_kind_and_a_citation_at_its_clause_stay_as_they_are() -> None:
    fact, judged = FACT, FACT.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    placed = FACT.model_copy(update={"places": (2,) * len(FACT.citations)})
    other = judged.model_copy(update={"citations": (1,)})
    for row in ([judged, fact], [placed, fact], [fact, other]):
        assert cited_once(row) == row


def test_a_judgement_leaves_its_citations_to_the_fact_before_it() -> None:
    judged = FACT.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    assert [item.citations for item in cited_once([FACT, judged])] == [(1, 2), ()]
    assert [item.citations for item in cited_once([FACT, FACT, judged])] == [(1, 2), (1, 2), ()]
    assert [item.citations for item in cited_once([judged, judged])] == [(), (1, 2)]


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
