"""What is told of sentences that no source says: in which words, and where they are left out."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import (
    UNPRINTED,
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
    KIND_NOTES,
    LEGEND,
    LEGEND_KNOWN,
    SEARCHED,
    UNSOURCED,
    alone,
    caution_note,
    cautioned,
    cited_once,
    code_origin,
    is_head,
    is_set_apart,
    lead_cited_once,
    lead_line,
    lead_points,
    lead_reasons_once,
    lift_citations,
    matched_line,
    noted,
    printed,
    printed_citations,
    quiet_labels,
    reasons_of,
    reasons_once,
    step_numbers,
    sum_line,
    table_citations,
    unsourced,
    with_reasons,
    without_quotes,
    worked_from,
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


def test_the_words_differ_and_cannot_be_taken_for_markdown() -> None:
    told = (*KIND_NOTES.values(), LEGEND, LEGEND_KNOWN)
    assert len(set(told)) == len(told)
    assert not set("".join(told)) & set("*_#`[]<>|~0123456789‡§¶")


def test_the_name_of_a_row_leaves_citations_to_its_cells() -> None:
    named = Block(kind="table", rows=((JUDGED, JUDGED),) * 3, header=("Option", "Verdict"))
    ((name, cell), *_) = quiet_labels(named).rows
    assert (name.kind, name.citations, cell) == (SentenceKind.JUDGEMENT, (), JUDGED)
    alone = Block(kind="table", rows=((FACT, JUDGED),), header=("Option", "Verdict"))
    assert quiet_labels(alone).rows == alone.rows, "no cell has the second of its citations"


def test_one_line_at_the_top_tells_what_no_source_says() -> None:
    assert lead_line(report()) == lead_line(report(answer=(FACT,))) == ""
    assert lead_line(report(answer=(FACT, JUDGED))) == LEGEND
    assert lead_line(report(answer=(FACT, ASSUMED))) == LEGEND_KNOWN
    assert lead_line(report(answer=(FACT, GENERAL))) == LEGEND_KNOWN
    assert lead_line(report(answer=(JUDGED, GENERAL))) == LEGEND_KNOWN
    below = Section(heading="x", blocks=(Block(kind="list", rows=((FACT,), (JUDGED,))),))
    assert lead_line(report(answer=(FACT,), sections=(below,))) == LEGEND
    spanish = lead_line(report(answer=(JUDGED,), language="es"))
    assert spanish.startswith("Los números remiten a lo que dice una fuente; ")


def listed(*rows: tuple[Sentence, ...], kind: BlockKind = "list") -> Section:
    return Section(heading="x", blocks=(Block(kind=kind, rows=rows),))


def test_reasons_are_told_once_and_not_beside_what_is_cited_anyway() -> None:
    cited = [
        Citation(
            number=number,
            source="s_1",
            finding=f"f_{number}",
            title="x",
            url="https://x.example/",
            quote="It is so.",
            passage=quote("It is so.", start=20 * number).passage,
            credibility=0.5,
        )
        for number in (1, 2, 3)
    ]

    def judged(*numbers: int) -> Sentence:
        places = (UNPRINTED,) * len(numbers)
        return sentence("So be it.", kind=SentenceKind.JUDGEMENT, citations=numbers, places=places)

    fact = sentence("It is old.", citations=(1,))
    row = (judged(1, 2), fact, judged(3), FACT.model_copy(update={"citations": ()}))
    answer = (judged(1), judged(2), judged(3))
    held = report(answer=answer, points=(2, 1), citations=tuple(cited))
    assert reasons_once(held, row) == [(), (), (2, 3), ()]
    assert reasons_once(held, (fact, judged(1))) == [(), ()], "the paragraph cites it"
    assert reasons_once(held, ()) == []
    assert lead_reasons_once(held) == [(), (1, 2), (3,)], "each point tells its own"


def test_code_says_below_it_where_it_is_from() -> None:
    say = words_in("en")
    assert code_origin(FACT, say) == "Source of the code:"
    for own in (sentence("x"), JUDGED, GENERAL):
        assert code_origin(own, say) == "", "the rest is our own, as the top of the report says"


def test_what_only_code_of_the_writers_own_was_made_after_is_not_listed_as_cited() -> None:
    (cited, *_) = QUOTED.citations

    def shown(own: Sentence) -> bool:
        said = own.model_copy(update={"citations": (cited.number,)})
        code = Section(heading="x", blocks=(Block(kind="code", rows=((said,),)),))
        held = QUOTED.model_copy(update={"answer": (), "sections": (code,)})
        return cited in printed_citations(held)[0]

    assert shown(FACT)
    assert not shown(JUDGED)


def test_a_number_of_the_question_is_no_figure_that_wants_a_source() -> None:
    own = sentence(
        "Run FSMA 204 and 12 drills.",
        kind=SentenceKind.JUDGEMENT,
        citations=(1,),
        places=(UNPRINTED,),
    )
    cited = Citation(
        number=1,
        source="s_1",
        finding="f_1",
        title="x",
        url="https://x.example/",
        quote="FSMA 204 asks for 12 drills.",
        passage=quote("FSMA 204 asks for 12 drills.").passage,
        credibility=0.5,
    )
    held = report(answer=(own,), citations=(cited,))
    assert printed(held, own).citations == (1,), "the 12"
    asked = held.model_copy(update={"question": "What do FSMA 204 and its 12 drills bring?"})
    assert printed(asked, own).citations == ()


def test_steps_go_on_behind_a_message_to_send() -> None:
    steps = Block(kind="steps", rows=((FACT,), (FACT,)))
    said = sentence("“Please send it.”", kind=SentenceKind.JUDGEMENT)
    message = Block(kind="paragraph", rows=((said,),))
    assert list(step_numbers((steps, message, steps))) == [1, 1, 3]
    plain = Block(kind="paragraph", rows=((FACT,),))
    assert list(step_numbers((steps, plain, steps))) == [1, 1, 1]
    own = steps.model_copy(update={"apart": True})
    assert list(step_numbers((steps, message, own, steps))) == [1, 1, 1, 3]


def test_a_lead_may_have_paragraphs_beside_its_points() -> None:
    frame = sentence("As it is:", kind=SentenceKind.FRAME)
    held = report(answer=(FACT, JUDGED, FACT, frame), points=(1, 2, 1), prose=(0,))
    assert lead_points(held) == [
        (True, slice(0, 1)),
        (False, slice(1, 3)),
        (True, slice(3, 4)),
    ]
    assert lead_points(report(answer=(FACT,))) == []
    point = sentence("So be it.", kind=SentenceKind.FRAME)
    assert [prose for prose, _ in lead_points(report(answer=(point, FACT), points=(1, 1)))] == [
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "kind", "apart"),
    [
        ("“Please send it.”", SentenceKind.JUDGEMENT, True),
        ("“Please send it.”", SentenceKind.FACT, False),
        ("“Please” and “thanks” help.", SentenceKind.JUDGEMENT, False),
        ("Please send it.", SentenceKind.JUDGEMENT, False),
    ],
)
def test_a_paragraph_that_is_a_message_is_set_apart(
    text: str, kind: SentenceKind, apart: bool
) -> None:
    said = sentence(text, kind=kind)
    assert is_set_apart(Block(kind="paragraph", rows=((said,),))) is apart
    assert not is_set_apart(Block(kind="list", rows=((said,),)))
    assert is_set_apart(Block(kind="list", rows=((said,),), apart=True))
    assert without_quotes("“Say “yes”.”†") == "Say “yes”.†"


def test_a_calculation_tells_what_is_supposed_in_it() -> None:
    say = words_in("en")
    made = Derivation(name="C1", expression="60 / 400", result="0.15")
    assert sum_line(made, say) == "C1: 60 / 400 = 0.15"
    assert sum_line(made.model_copy(update={"result": ""}), say) == "C1: 60 / 400"
    supposed = made.model_copy(update={"supposed": ("60", "400")})
    assert sum_line(supposed, say) == "C1: 60 / 400 = 0.15 (60, 400 supposed)"
    assert sum_line(supposed, words_in("de")) == "C1: 60 / 400 = 0.15 (60, 400 angenommen)"


SUM = Derivation(name="C1", expression="50 - 30", result="20", citations=(1, 2))


@pytest.mark.parametrize(
    ("text", "derived", "worked"),
    [
        ("It grew by 20.", ("C1",), {1, 2}),
        ("It grew by 20.", (), set()),
        ("It grew from 30 by 20.", ("C1",), {2}),
        ("It grew by twenty, from thirty to fifty.", ("C1",), set()),
        ("In 2024 it was 20 more.", ("C1",), {1, 2}),
        ("On 3 May 2025 it was 20 more.", ("C1",), {1}),
    ],
)
def test_a_citation_without_the_figures_and_days_of_its_sentence_went_into_a_sum(
    text: str, derived: tuple[str, ...], worked: set[int]
) -> None:
    quotes = ("In 2024 it was 30.", "On 3 May 2025 it was 50.", "Others are 7.")
    cited = tuple(
        Citation(
            number=number,
            source="s_1",
            finding=f"f_{number}",
            title="x",
            url="https://x",
            quote=said,
            passage=quote(said).passage,
            credibility=0.5,
        )
        for number, said in enumerate(quotes, 1)
    )
    held = report(citations=cited, derivations=(SUM,))
    told = sentence(text, citations=(1, 2, 3), derived=derived)
    assert worked_from(held, told) == worked


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "(caution: see the evidence view)"),
        ("de", "(Vorbehalt: siehe die Belege)"),
        ("ja", "（留意点：証拠一覧を参照）"),
        ("zh", "（注意：见证据一览）"),
    ],
)
def test_only_a_caution_has_a_note_in_the_brackets_of_the_language(
    language: str, told: str
) -> None:
    say = words_in(language)
    for said in (FACT, JUDGED, GENERAL, ASSUMED):
        assert caution_note(said, say) == "", "no empty brackets"
        assert caution_note(said.model_copy(update={"mark": "flagged"}), say) == told


def test_what_stands_on_nothing_that_was_read_is_listed_once_with_its_kind() -> None:
    long = sentence("Mills age " + "fast and " * 40 + "well.", kind=SentenceKind.KNOWLEDGE)
    held = report(answer=(FACT, GENERAL, JUDGED), sections=(listed((ASSUMED, GENERAL), (long,)),))
    first, second, (shortened, kind) = unsourced(held)
    assert (first[0].text, first[1]) == ("Mills age.", "general knowledge")
    assert (second[0].text, second[1]) == ("Nobody objects.", "our assumption")
    assert (len(shortened.text) <= 160, kind) == (True, "general knowledge")
    assert list(unsourced(report(answer=(FACT, JUDGED)))) == []


def test_a_cell_is_listed_with_its_column_and_row() -> None:
    named = sentence("2030", kind=SentenceKind.KNOWLEDGE)
    cell = sentence("80%", kind=SentenceKind.KNOWLEDGE)
    table = Block(kind="table", rows=((named, cell),), header=("Year", "Range kept"))
    held = report(sections=(Section(heading="x", blocks=(table,)),))
    assert [said.text for said, _ in unsourced(held)] == ["Year: 2030", "Range kept, 2030: 80%"]


def test_what_was_searched_for_is_noted_and_in_how_many_texts_if_the_record_says_so() -> None:
    absent = sentence("None has it.", kind=SentenceKind.ABSENCE, terms=("petrol", "gas"))
    held = report(answer=(absent, GENERAL, absent), searched=14)
    frame = SentenceKind.FRAME
    told, said = sentence("None has it.", kind=frame), sentence("Mills age.", kind=frame)
    assert list(noted(held)) == [
        (UNSOURCED, [(said, "general knowledge")]),
        (SEARCHED, [(told, "words searched for: petrol, gas; texts searched: 14")]),
    ]
    older = held.model_copy(update={"searched": 0, "answer": (absent,)})
    assert list(noted(older)) == [(SEARCHED, [(told, "words searched for: petrol, gas")])]
    assert list(noted(report(answer=(FACT, JUDGED)))) == []


def test_code_stays_code_in_what_is_told_shortened() -> None:
    said = sentence("Run `a` and make check.", code=((5, 6), (12, 22)))
    script = sentence("#!/bin/sh\n  make", code=((0, 3),))
    blocks = (Block(kind="code", rows=((script,),)),)
    held = report(answer=(said,), sections=(Section(heading="x", blocks=blocks),))
    told = {most: alone(held, said, most) for most in (0, 14, 6)}
    assert {most: item.code for most, item in told.items()} == {
        0: said.code,
        14: ((5, 6), (12, 14)),
        6: ((5, 6),),
    }
    told_script = alone(held, script)
    assert (told_script.text, told_script.code) == ("#!/bin/sh make", ((0, 14),))
    unshown = said.model_copy(update={"text": "Run  a now"})
    assert alone(held, unshown).code == (), "its places are those of another text"


def test_a_sentence_with_a_caution_is_yielded_once() -> None:
    doubted = FACT.model_copy(update={"mark": "flagged"})
    sections = (Section(heading="x", sentences=(doubted, JUDGED)),)
    held = report(answer=(doubted, FACT), sections=sections)
    assert list(cautioned(held)) == [doubted]
    assert list(cautioned(report(answer=(FACT,)))) == []


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
        ("Sell 35, and let 4 go.", (-1, 7), (1,), (2,)),
        ("Sell 35, and let 4% go.", (-1, 7), (), (1, 2)),
        ("Sell 36.", (-1,), (1,), ()),
        ("Looms: -35% over a year.", (-1, -1), (1, 2), ()),
        ("Looms: -35 since $-35 and 20-35%.", (-1, -1), (2,), (1,)),
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


@given(st.text(alphabet="-−+1205.,%$ kmbn", max_size=40))
def test_whatever_stands_for_a_figure_has_its_reasons(text: str) -> None:
    assert set(reasons_of(QUOTED, reasoned(f"Looms {text}", (-1, -1)))) <= {1, 2}


# Heads of messages

HEAD = "From: Ann Berg <a@x>\nTo: Ben Olsen <b@x>\nDate: Tue, 5 Mar 2024\nSubject: Hours"
MAILED = CITED.model_copy(
    update={
        "citations": tuple(
            item.model_copy(update={"source": of, "where": where, "quote": said})
            for item, of, where, said in zip(
                CITED.citations,
                ("m_1", "m_1", "m_2"),
                ("message 1, Ann Berg", "message 1, Ann Berg", "message 1, Ann Berg"),
                (HEAD, "Testing got 45 hours.", "It did."),
                strict=False,
            )
        )
    }
)


@pytest.mark.parametrize(
    ("text", "cited", "places", "kept"),
    [
        ("Ann Berg wrote it.", (1,), (), (1,)),
        ("Ann Berg wrote it, and it did.", (1, 3), (), (1, 3)),
        ("Ann told Ben so.", (1, 2), (), (1, 2)),
        ("Ann Berg had 45 hours in March.", (1, 2), (), (2,)),
        ("Ann Berg had 45 hours in March.", (2, 1), (21, 30), (2,)),
        ("So Ann Berg had 45 hours.", (1, 2), (UNPRINTED, 24), (2,)),
    ],
)
def test_the_head_of_a_message_that_is_cited_otherwise_is_not_printed(
    text: str, cited: tuple[int, ...], places: tuple[int, ...], kept: tuple[int, ...]
) -> None:
    said = sentence(text, citations=cited, places=places)
    (shown,) = cited_once(MAILED, [said])
    assert shown.citations == kept
    assert len(shown.places) in {0, len(kept)}


@pytest.mark.parametrize(
    ("where", "quote"),
    [("", HEAD), ("message 1", f"{HEAD}\n\nTesting got 45 hours."), ("message 1", "Date: x")],
)
def test_what_is_not_only_the_head_of_a_message(where: str, quote: str) -> None:
    item = CITED.citations[0].model_copy(update={"where": where, "quote": quote})
    assert not is_head(item)
    assert is_head(item.model_copy(update={"where": "message 2, Ann", "quote": HEAD}))


def test_the_evidence_view_has_each_judgement_with_its_reasons_once() -> None:
    said, long = reasoned("Sell it.", (-1,)), reasoned("Sell it. " * 40, (-1,))
    held = QUOTED.model_copy(
        update={"answer": (said, FACT), "sections": (listed((said,), (long,)),)}
    )
    (first, reasons), (second, _) = with_reasons(held)
    assert (first.text, reasons) == ("Sell it.", (1,))
    assert len(second.text) <= 160
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
        ("steps3 table2 steps1", [1, 1, 4]),
        ("steps3 table2 paragraph1 steps1", [1, 1, 1, 4]),
        ("steps3 paragraph1 table2 steps1", [1, 1, 1, 1]),
    ],
)
def test_steps_go_on_behind_what_a_step_holds(blocks: str, numbers: list[int]) -> None:
    made = [
        Block.model_validate({"kind": name[:-1], "rows": ((FACT,),) * int(name[-1])})
        for name in blocks.split()
    ]
    assert list(step_numbers(made)) == numbers


def test_steps_go_on_where_their_writer_counts_on() -> None:
    first = Block(kind="steps", rows=((FACT,), (FACT,)))
    prose, code = (Block(kind=kind, rows=((FACT,),)) for kind in ("paragraph", "code"))
    later = first.model_copy(update={"goes_on": True})
    held = (first, prose, code, prose, later, prose, later, prose, first)
    assert list(step_numbers(held)) == [1, 1, 1, 1, 3, 1, 5, 1, 1]
    assert list(step_numbers((prose, later))) == [1, 1], "what it went on from was cut"


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
