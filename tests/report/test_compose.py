"""From sentences to a report: numbers, status and confidence come from code."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.ledger import Ledger
from deepdiver.core.origins import sketch
from deepdiver.core.outcomes import Research
from deepdiver.core.record import (
    UNPRINTED,
    Assessment,
    Block,
    Credibility,
    Derivation,
    HypothesisStatus,
    Mark,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.report.compose import CitationNumbering, WeighedAnswer, compose
from deepdiver.report.sources import list_sources
from tests.report.making import assessment, finding, quote, sentence, source

SUPPORTED, REFUTED = HypothesisStatus.SUPPORTED, HypothesisStatus.REFUTED
UNDECIDED, OPEN = HypothesisStatus.UNDECIDED, HypothesisStatus.OPEN

LEDGER = Ledger(
    [
        source("s_1"),
        source("s_2"),
        finding("f_1", quote("Anna Holm owns it.", "s_1", 10)),
        finding(
            "f_2", quote("Bertil Ask owned it.", "s_2", 40), quote("Anna Holm owns it.", "s_1", 10)
        ),
        finding("f_3", quote("Anna Holm owns it.", "s_2", 10)),
    ]
)
SAYS = sentence("Anna Holm owns Holm Works.", "f_1")
FRAME = sentence("The sources disagree.", kind=SentenceKind.FRAME)


OPENED = assessment(OPEN, 0.5)


def judged(status: HypothesisStatus, posterior: float) -> Assessment:
    """A hypothesis with evidence for it and against it."""
    update = {"supporting": ("f_1",), "refuting": ("f_2",)}
    return assessment(status, posterior).model_copy(update=update)


def report(
    answer: tuple[Sentence, ...] = (),
    sections: tuple[Section, ...] = (),
    hypotheses: tuple[Assessment, ...] = (),
) -> Report:
    return compose("Who?", answer, sections, hypotheses, LEDGER, limits=(), made_by="test")


# -- numbering


def test_a_finding_that_is_not_in_the_ledger_is_never_cited() -> None:
    with pytest.raises(KeyError):
        CitationNumbering(LEDGER).cite(sentence("x", "f_9"))
    with pytest.raises(KeyError):
        CitationNumbering(LEDGER).cite(sentence("x", "s_1"))
    with pytest.raises(KeyError):
        CitationNumbering(Ledger([finding("f_1", quote("x", "s_9"))])).cite(sentence("x", "f_1"))


def test_quotes_are_numbered_in_the_order_in_which_they_are_met() -> None:
    numbering = CitationNumbering(LEDGER)
    cited = [
        numbering.cite(sentence("x", *keys)).citations
        for keys in (("f_2",), ("f_1",), ("f_3", "f_2"), ())
    ]
    assert cited == [(1, 2), (2,), (3, 1, 2), ()]
    assert [(item.number, item.source, item.finding) for item in numbering.citations] == [
        (1, "s_2", "f_2"),
        (2, "s_1", "f_2"),
        (3, "s_2", "f_3"),
    ]


def test_a_citation_holds_all_that_a_reader_needs() -> None:
    numbering = CitationNumbering(LEDGER)
    numbering.cite(SAYS)
    (citation,) = numbering.citations
    assert (citation.title, citation.url, citation.quote, citation.credibility) == (
        "Title of s_1",
        "https://example.org/s_1",
        "Anna Holm owns it.",
        0.9,
    )
    assert (citation.passage.snapshot, citation.passage.start, citation.passage.end) == (
        "h_s_1",
        10,
        28,
    )


def test_a_citation_tells_why_where_and_in_how_many_places() -> None:
    text = " ".join(f"w{n}" for n in range(40))
    marks = (Mark(start=0, kind="page", label="1"), Mark(start=5, kind="page", label="2"))
    believed = Credibility(score=0.7, reasons=("a newspaper with an editor", "secondary"))
    ledger = Ledger(
        [
            source("s_1", sketch=sketch(text), credibility=believed, marks=marks),
            source("s_2", sketch=sketch(f"{text} x"), publisher="One"),
            source("s_3", sketch=sketch("another one"), publisher="Two"),
            finding("f_1", quote("Anna Holm owns it.", "s_1", 10)),
            finding("f_3", quote("Anna Holm owns it.", "s_3", 0)),
        ]
    )
    agree = assessment(SUPPORTED, 0.8).model_copy(update={"supporting": ("f_1", "f_3")})
    made = compose(
        "Who?", (sentence("x", "f_1", "f_3"),), (), (agree,), ledger, limits=(), made_by="test"
    )
    first, second = made.citations
    assert first.reasons == (*believed.reasons, "1 other independent source agrees")
    assert (first.copies, first.where, first.credibility) == (2, "page 2", 0.7)
    assert (second.reasons, second.copies, second.where) == (
        ("1 other independent source agrees",),
        1,
        "",
    )
    refuted = agree.model_copy(update={"status": REFUTED})
    alone = compose(
        "Who?", (sentence("x", "f_1"),), (), (refuted,), ledger, limits=(), made_by="test"
    )
    assert alone.citations[0].reasons == believed.reasons


def test_agreement_changes_no_number() -> None:
    agree = assessment(SUPPORTED, 0.8).model_copy(update={"supporting": ("f_1", "f_3")})
    scores = [
        [item.credibility for item in report((SAYS,), hypotheses=(held,)).citations]
        for held in (agree, OPENED)
    ]
    assert scores[0] == scores[1]


def test_a_quote_met_twice_in_a_sentence_is_marked_once() -> None:
    assert CitationNumbering(LEDGER).cite(sentence("x", "f_1", "f_2", "f_1")).citations == (1, 2)


def test_citations_that_a_model_wrote_are_replaced() -> None:
    assert CitationNumbering(LEDGER).cite(
        SAYS.model_copy(update={"citations": (7, 8)})
    ).citations == (1,)
    assert (
        CitationNumbering(LEDGER).cite(FRAME.model_copy(update={"citations": (7,)})).citations == ()
    )


@given(st.lists(st.lists(st.sampled_from(["f_1", "f_2", "f_3"]), max_size=4), max_size=6))
def test_numbers_have_no_gaps_and_point_at_their_citation(keys: list[list[str]]) -> None:
    numbering = CitationNumbering(LEDGER)
    cited = [numbering.cite(sentence("x", *listed)) for listed in keys]
    assert [item.number for item in numbering.citations] == list(
        range(1, len(numbering.citations) + 1)
    )
    spots = [(item.source, item.passage) for item in numbering.citations]
    assert len(set(spots)) == len(spots)
    used = {number for item in cited for number in item.citations}
    assert used == {item.number for item in numbering.citations}


def test_the_answer_is_numbered_before_the_sections() -> None:
    made = report(
        (sentence("b", "f_3"),), (Section(heading="H", sentences=(sentence("a", "f_1", "f_3"),)),)
    )
    assert made.answer[0].citations == (1,)
    assert made.sections[0].sentences[0].citations == (2, 1)


def test_a_block_is_numbered_row_by_row() -> None:
    cells = (sentence("a", "f_3"), sentence("b", "f_1")), (FRAME, sentence("c", "f_3"))
    table = Block(kind="table", rows=cells, header=("One", "Two"))
    made = report((), (Section(heading="H", sentences=(SAYS,), blocks=(table,)),))
    (section,) = made.sections
    assert section.sentences[0].citations == (1,)
    assert [[cell.citations for cell in row] for row in section.blocks[0].rows] == [
        [(2,), (1,)],
        [(), (2,)],
    ]
    assert section.blocks[0].header == ("One", "Two")


def test_citations_are_printed_where_their_findings_were_cited() -> None:
    said = sentence("Anna owns it, and Bertil owned it.", "f_1", "f_2", places=(12, 33))
    cited = CitationNumbering(LEDGER).cite(said)
    # f_2 quotes what f_1 quotes, and Bertil besides: a quote is marked where it is cited.
    assert (cited.citations, cited.places) == ((1, 2, 1), (12, 33, 33))
    reason = said.model_copy(update={"places": (UNPRINTED, 33)})
    cited = CitationNumbering(LEDGER).cite(reason)
    assert cited.places == (33, 33), "what one says and another has as a reason is printed"
    unplaced = CitationNumbering(LEDGER).cite(sentence("x", "f_1", "f_2"))
    assert (unplaced.citations, unplaced.places) == ((1, 2), ())


def test_labels_are_plain_numbers_in_the_order_in_which_they_are_read() -> None:
    made = report((sentence("a", "f_3"), sentence("b", "f_1"), sentence("c", "f_2")))
    assert [(item.source, item.label) for item in made.citations] == [
        ("s_2", "1"),
        ("s_1", "2"),
        ("s_2", "3"),
    ]
    assert [item.mark for item in made.citations] == ["1", "2", "3"]
    listed = [[item.mark for item in one.passages] for one in list_sources(made.citations, 600)]
    assert listed == [["1", "3"], ["2"]], "each source once, its passages in their order"


def test_code_of_the_writers_own_takes_no_number_that_readers_would_look_for() -> None:
    def labels(kind: SentenceKind) -> dict[str, str]:
        code = Block(kind="code", rows=((sentence("do it", "f_3", kind=kind),),))
        then = Block(kind="paragraph", rows=((sentence("b", "f_2"),),))
        made = report((SAYS,), (Section(heading="H", blocks=(code, then)),))
        return {item.finding: item.label for item in made.citations}

    assert labels(SentenceKind.JUDGEMENT) == {"f_1": "1", "f_2": "2", "f_3": "3"}
    assert labels(SentenceKind.FACT) == {"f_1": "1", "f_2": "3", "f_3": "2"}, "it is told below it"


def test_what_the_name_of_a_column_cites_is_read_before_its_rows() -> None:
    cells = [
        (sentence(f"row {at}", key), sentence("so", "f_3")) for at, key in enumerate(("f_1", "f_2"))
    ]
    table = Block(kind="table", rows=tuple(cells), header=("One", "Two"))
    made = report((), (Section(heading="H", blocks=(table,)),))
    assert {item.finding: item.label for item in made.citations} == {
        "f_3": "1",
        "f_1": "2",
        "f_2": "3",
    }


def test_passages_that_the_text_does_not_cite_have_the_last_labels() -> None:
    judged = sentence("Sell it.", "f_3", kind=SentenceKind.JUDGEMENT, places=(UNPRINTED,))
    made = report((judged, sentence("b", "f_1")))
    assert [(item.finding, item.label) for item in made.citations] == [("f_3", "2"), ("f_1", "1")]


def test_the_first_number_that_is_printed_is_one_whatever_reasons_stand_before_it() -> None:
    judged = sentence("Sell it.", "f_3", kind=SentenceKind.JUDGEMENT, places=(UNPRINTED,))
    made = report((judged, sentence("b", "f_1"), sentence("c", "f_3")))
    assert [(item.finding, item.label) for item in made.citations] == [("f_3", "2"), ("f_1", "1")]
    listed = [item.mark for one in list_sources(made.citations, 600) for item in one.passages]
    assert listed == ["1", "2"], "the list goes by the numbers, not by the record"
    within = sentence("Anna, then Bertil.", "f_3", "f_1", places=(17, 4))
    assert [(item.finding, item.label) for item in report((within,)).citations] == [
        ("f_3", "2"),
        ("f_1", "1"),
    ]


def test_a_source_that_is_cited_again_and_again_comes_before_the_next() -> None:
    often = [sentence(f"a {at}", "f_1") for at in range(5)]
    made = report((*often, sentence("b", "f_3")))
    assert [(item.finding, item.label) for item in made.citations] == [("f_1", "1"), ("f_3", "2")]
    reason = sentence("Sell it.", "f_3", kind=SentenceKind.JUDGEMENT, places=(UNPRINTED,))
    made = report((reason, *often, sentence("c", "f_2")))
    assert {item.finding: item.label for item in made.citations}["f_2"] == "2", "printed, if late"


def test_spans_that_overlap_have_one_label_and_stay_exact() -> None:
    ledger = Ledger(
        [
            source("s_1"),
            finding("f_1", quote("Anna Holm owns it. It is old.", "s_1", 10)),
            finding("f_2", quote("It is old.", "s_1", 29)),
            finding("f_3", quote("Nobody lives there.", "s_1", 90)),
        ]
    )
    said = [sentence(key, key) for key in ("f_3", "f_2", "f_1")]
    made = compose("Who?", said, (), (), ledger, limits=(), made_by="test")
    assert [(item.number, item.label, item.quote) for item in made.citations] == [
        (1, "1", "Nobody lives there."),
        (2, "2", "It is old."),
        (3, "2", "Anna Holm owns it. It is old."),
    ]


def test_how_many_texts_were_searched_is_told_if_something_is_absent() -> None:
    absent = sentence("Nobody tells.", kind=SentenceKind.ABSENCE, terms=("gold",))
    made = compose("Who?", (SAYS, absent), (), (), LEDGER, limits=(), made_by="x")
    assert made.searched == len({item.snapshot for item in LEDGER.of(Source).values()}) > 0
    plain = compose("Who?", (SAYS,), (), (), LEDGER, limits=(), made_by="x")
    assert plain.searched == 0
    assert "searched" not in plain.model_dump(), "and the hash of other reports is what it was"


def test_calculations_are_cited_behind_the_text() -> None:
    sums = [
        Derivation(name="C1", expression="1 + 1", result="2", findings=("f_3", "f_1")),
        Derivation(name="C2", expression="2 * 2", result="4"),
    ]
    made = compose("Who?", (SAYS,), (), (), LEDGER, derivations=sums, limits=(), made_by="x")
    assert [item.citations for item in made.derivations] == [(2, 1), ()]
    assert [item.source for item in made.citations] == ["s_1", "s_2"]


def test_a_citation_is_dated_by_the_day() -> None:
    mail = source("s_1", author="Ann Berg", published="2024-03-05T10:00:00+00:00")
    numbering = CitationNumbering(Ledger([mail, finding("f_1", quote("x", "s_1"))]))
    numbering.cite(sentence("z", "f_1"))
    assert [item.credit for item in numbering.citations] == ["Ann Berg, 2024-03-05"]


def test_a_citation_credits_author_publisher_and_date() -> None:
    known = source("s_1", author="Ann Berg", publisher="Harbour Board", published="2024-03-05")
    one, two = finding("f_1", quote("x", "s_1")), finding("f_2", quote("y", "s_2"))
    numbering = CitationNumbering(Ledger([known, source("s_2"), one, two]))
    numbering.cite(sentence("z", "f_1", "f_2"))
    assert [item.credit for item in numbering.citations] == [
        "Ann Berg, Harbour Board, 2024-03-05",
        "",
    ]


# -- status


@pytest.mark.parametrize(
    ("answer", "sections", "hypotheses", "status"),
    [
        ((SAYS,), (), (assessment(SUPPORTED, 0.8),), RunStatus.ANSWERED),
        (
            (FRAME, SAYS),
            (),
            (assessment(REFUTED, 0.1), assessment(SUPPORTED, 0.8)),
            RunStatus.ANSWERED,
        ),
        ((SAYS,), (), (judged(UNDECIDED, 0.5),), RunStatus.UNDECIDED),
        ((SAYS,), (), (judged(REFUTED, 0.1),), RunStatus.UNDECIDED),
        (
            (SAYS,),
            (),
            (judged(UNDECIDED, 0.5), judged(SUPPORTED, 0.8)),
            RunStatus.ANSWERED,
        ),
        ((SAYS,), (), (assessment(UNDECIDED, 0.5),), RunStatus.PARTIAL),
        ((SAYS,), (), (assessment(REFUTED, 0.1),), RunStatus.PARTIAL),
        ((SAYS,), (), (judged(OPEN, 0.9),), RunStatus.PARTIAL),
        ((SAYS,), (), (), RunStatus.PARTIAL),
        ((), (Section(heading="H", sentences=(SAYS,)),), (), RunStatus.NOT_ANSWERED),
        (
            (FRAME,),
            (Section(heading="H", sentences=(SAYS,)),),
            (judged(UNDECIDED, 0.5),),
            RunStatus.UNDECIDED,
        ),
        (
            (),
            (Section(heading="H", sentences=(SAYS,)),),
            (assessment(SUPPORTED, 0.8),),
            RunStatus.PARTIAL,
        ),
        (
            (FRAME,),
            (Section(heading="H", sentences=(SAYS,)),),
            (assessment(SUPPORTED, 0.8),),
            RunStatus.PARTIAL,
        ),
        ((), (), (assessment(SUPPORTED, 0.8),), RunStatus.NO_EVIDENCE),
        ((FRAME,), (), (assessment(SUPPORTED, 0.8),), RunStatus.NO_EVIDENCE),
        ((), (), (), RunStatus.NO_EVIDENCE),
    ],
)
def test_the_status_follows_from_what_is_left(
    answer: tuple[Sentence, ...],
    sections: tuple[Section, ...],
    hypotheses: tuple[Assessment, ...],
    status: RunStatus,
) -> None:
    assert report(answer, sections, hypotheses).status is status


@pytest.mark.parametrize(
    ("research", "status"),
    [
        (Research(), RunStatus.NO_EVIDENCE),
        (Research(searched=False), RunStatus.COULD_NOT_SEARCH),
        (Research(failed=True), RunStatus.MODEL_FAILED),
        (Research(searched=False, failed=True), RunStatus.MODEL_FAILED),
    ],
)
def test_a_report_that_cites_nothing_ends_by_what_the_run_could_do(
    research: Research, status: RunStatus
) -> None:
    def made(answer: tuple[Sentence, ...]) -> RunStatus:
        return compose(
            "Who?", answer, (), (), LEDGER, limits=(), made_by="test", research=research
        ).status

    assert made(()) is made((FRAME,)) is status
    assert made((SAYS,)) is RunStatus.PARTIAL, "an answer that cites something is one"


# -- confidence


@pytest.mark.parametrize(
    ("answer", "hypotheses", "confidence"),
    [
        ((SAYS,), (assessment(SUPPORTED, 0.8), assessment(SUPPORTED, 0.9)), 0.85),
        ((SAYS,), (assessment(SUPPORTED, 0.71234567),), 0.7123),
        (
            (SAYS,),
            (assessment(SUPPORTED, 0.8), assessment(UNDECIDED, 0.6), assessment(REFUTED, 0.02)),
            0.8,
        ),
        (
            (SAYS,),
            (assessment(UNDECIDED, 0.6), assessment(OPEN, 0.65), assessment(REFUTED, 0.02)),
            0.65,
        ),
        ((SAYS,), (assessment(REFUTED, 0.02),), 0.0),
        ((SAYS,), (), 0.0),
        ((FRAME,), (assessment(SUPPORTED, 0.9),), 0.0),
        ((), (assessment(SUPPORTED, 0.9),), 0.0),
    ],
)
def test_confidence_is_computed(
    answer: tuple[Sentence, ...], hypotheses: tuple[Assessment, ...], confidence: float
) -> None:
    assert report(answer, hypotheses=hypotheses).confidence == confidence


def test_neither_status_nor_confidence_rests_on_a_hypothesis_without_foundation() -> None:
    accepted, other = assessment(SUPPORTED, 0.9), assessment(UNDECIDED, 0.6)

    def made(*unfounded: Assessment) -> tuple[RunStatus, float, int]:
        report = compose(
            "Who?",
            (SAYS,),
            (),
            (accepted, other),
            LEDGER,
            limits=(),
            made_by="deepdiver",
            unfounded=[item.hypothesis.id for item in unfounded],
        )
        return report.status, report.confidence, len(report.hypotheses)

    assert made() == (RunStatus.ANSWERED, 0.9, 2)
    assert made(accepted) == (RunStatus.PARTIAL, 0.6, 2)
    assert made(accepted, other) == (RunStatus.PARTIAL, 0.0, 2), "they are shown all the same"


def test_the_order_of_hypotheses_does_not_change_the_confidence() -> None:
    listed = [assessment(SUPPORTED, value) for value in (0.71, 0.83, 0.97)]
    assert (
        len({report((SAYS,), hypotheses=order).confidence for order in permutations(listed)}) == 1
    )


# -- the rest


def test_empty_sections_are_left_out_and_refuted_hypotheses_are_not() -> None:
    sections = (Section(heading="Empty", sentences=()), Section(heading="Full", sentences=(SAYS,)))
    made = report((SAYS,), sections, (assessment(REFUTED, 0.05),))
    assert [section.heading for section in made.sections] == ["Full"]
    assert [item.status for item in made.hypotheses] == [REFUTED]


def test_a_section_without_sentences_stays_if_a_part_of_it_has_some() -> None:
    part = Section(heading="Part", sentences=(SAYS,), level=3)
    nothing = Section(heading="Nothing", level=3)
    sections = (
        Section(heading="Whole"),
        nothing,
        part,
        Section(heading="Empty"),
        nothing,
        Section(heading="Last", blocks=(Block(kind="paragraph", rows=((FRAME,),)),)),
        Section(heading="End"),
    )
    assert [item.heading for item in report((SAYS,), sections).sections] == [
        "Whole",
        "Part",
        "Last",
    ]


def test_title_and_points_are_those_of_the_writer() -> None:
    made = compose(
        "Who?",
        (SAYS, FRAME),
        (),
        (),
        LEDGER,
        title="Anna",
        points=iter((1, 1)),
        limits=(),
        made_by="x",
    )
    assert (made.title, made.points) == ("Anna", (1, 1))
    assert (report((SAYS,)).title, report((SAYS,)).points) == ("", ())


def test_a_limit_is_told_once() -> None:
    limits = ["tavily could not search", "The audit cut 1 sentence", "tavily could not search"]
    made = compose("Who?", (), (), (), LEDGER, limits=iter(limits), made_by="x")
    assert made.limits == ("tavily could not search", "The audit cut 1 sentence")


def test_marks_and_calculations_survive() -> None:
    marked = SAYS.model_copy(update={"mark": "only partly carried by its quotes"})
    assert report((marked,)).answer[0].mark == marked.mark


def test_the_same_parts_make_the_same_report() -> None:
    parts = (
        (SAYS, FRAME),
        (
            Section(heading="H", sentences=(sentence("a", "f_2"),)),
            Section(heading="I", blocks=(Block(kind="list", rows=((SAYS,), (FRAME,))),), level=3),
        ),
        (assessment(SUPPORTED, 0.8),),
    )
    assert report(*parts).hash == report(*parts).hash
    assert report(*parts).hash != report(parts[0][:1], *parts[1:]).hash
    assert Report.model_validate_json(report(*parts).model_dump_json()) == report(*parts)


# -- without hypotheses


def weighed(
    *sentences: float,
    coverage: float = 1.0,
    answer: tuple[Sentence, ...] = (SAYS,),
    settled: tuple[float, ...] = (),
) -> Report:
    held = WeighedAnswer(sentences, coverage, settled)
    return compose("Who?", answer, (), (), LEDGER, limits=(), made_by="test", weighed=held)


@pytest.mark.parametrize(
    ("sentences", "coverage", "status", "confidence"),
    [
        ((0.9, 0.8), 1.0, RunStatus.ANSWERED, 0.85),
        ((0.7,), 1.0, RunStatus.ANSWERED, 0.7),
        ((0.69,), 1.0, RunStatus.PARTIAL, 0.69),
        ((0.95, 0.3), 1.0, RunStatus.PARTIAL, 0.625),
        ((0.9,), 0.5, RunStatus.PARTIAL, 0.45),
        ((0.99,), 0.8, RunStatus.PARTIAL, 0.792),
    ],
)
def test_an_answer_without_hypotheses_is_accepted_if_it_is_believed_and_covers_the_question(
    sentences: tuple[float, ...], coverage: float, status: RunStatus, confidence: float
) -> None:
    made = weighed(*sentences, coverage=coverage)
    assert (made.status, made.confidence) == (status, confidence)


@pytest.mark.parametrize(
    ("settled", "coverage", "status"),
    [
        ((0.69,), 1.0, RunStatus.PARTIAL),
        ((0.9,), 0.5, RunStatus.PARTIAL),
        ((0.9,), 1.0, RunStatus.ANSWERED),
    ],
)
def test_texts_that_differ_lower_the_belief_and_leave_no_gap_where_the_report_decides(
    settled: tuple[float, ...], coverage: float, status: RunStatus
) -> None:
    made = weighed(0.5, coverage=coverage, settled=settled)
    assert (made.status, made.confidence) == (status, 0.5 * coverage)


def test_an_answer_that_nothing_carries_is_none_however_it_was_weighed() -> None:
    made = weighed(0.9, answer=(FRAME,))
    assert (made.status, made.confidence) == (RunStatus.NO_EVIDENCE, 0.0)
    assert weighed(answer=()).status is RunStatus.NO_EVIDENCE
