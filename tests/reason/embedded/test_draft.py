"""A draft as Markdown: what a source says is never taken for a mark, and keeps its citation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus, SentenceKind
from deepdiver.reason.embedded.draft import Brief, DraftSentence, as_markdown, brief_of
from deepdiver.report.markup import MarkedSentence, read_markup
from deepdiver.tasks import CitedFinding, HypothesisStanding, WriteReport

ZED = DraftSentence("Zed ran.", ("F2",))
PHRASE = DraftSentence("The sources say:")


def read(*lines: DraftSentence) -> list[tuple[str, MarkedSentence]]:
    """Return the sentences of a draft as the report reads them, each with the kind of its block."""
    (section,) = read_markup(f"## Heading\n\n{as_markdown(lines)}")
    return [(block.kind, line) for block in section.blocks for row in block.rows for line in row]


def told(*lines: DraftSentence) -> list[tuple[str, tuple[str, ...]]]:
    return [(line.text, line.cites) for _, line in read(*lines)]


# What a source says


@pytest.mark.parametrize(
    "text",
    [
        "Ada {T1:2} runs it.",
        "The set {a, b} is empty.",
        "It {= 1 + 1 | F9} holds.",
        "All of it {judgement F9} is so.",
        "An open { brace.",
    ],
)
def test_a_brace_of_a_source_is_no_mark(text: str) -> None:
    bare = text.replace("{", "(").replace("}", ")")
    assert told(DraftSentence(text, ("F1",)), ZED) == [(bare, ("F1",)), ("Zed ran.", ("F2",))]


def test_the_lines_of_a_passage_are_cited_one_by_one() -> None:
    rows = "Year: 2023 | Hours: 90\n## Year: 2024 | Hours: 80"
    assert as_markdown([DraftSentence(rows, ("F1",))]) == (
        "Year: 2023 | Hours: 90 {F1} Year: 2024 | Hours: 80 {F1}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Minutes of the board.", "Minutes of the board."),
        ("## The vote was put off.", "The vote was put off."),
        ("- Ada runs it.", "Ada runs it."),
        ("> Ada runs it.", "Ada runs it."),
        ("| Year: 2023 | Hours: 90", "Year: 2023 | Hours: 90"),
    ],
)
@pytest.mark.parametrize("introduced", [False, True])
def test_a_sign_of_a_source_makes_no_heading_list_or_table(
    text: str, said: str, introduced: bool
) -> None:
    before = [PHRASE] if introduced else []
    assert told(*before, DraftSentence(text, ("F1",)), ZED)[-2:] == [
        (said, ("F1",)),
        ("Zed ran.", ("F2",)),
    ]


@pytest.mark.parametrize("text", ["-5 degrees were measured.", "+3% a year."])
def test_the_sign_of_a_number_is_kept(text: str) -> None:
    assert told(DraftSentence(text, ("F1",))) == [(text, ("F1",))]


@pytest.mark.parametrize("text", ["Year: 2023, hours: 90", "A title", "Three causes:", "see a.b"])
def test_what_has_no_stop_does_not_run_into_the_next_sentence(text: str) -> None:
    assert told(DraftSentence(text, ("F1",)), ZED) == [(text, ("F1",)), ("Zed ran.", ("F2",))]


def test_each_sentence_of_a_finding_cites_it() -> None:
    line = DraftSentence('He said "no." Then he left.', ("F1", "F3"))
    assert told(line) == [('He said "no."', ("F1", "F3")), ("Then he left.", ("F1", "F3"))]


# Phrases and sums


def test_what_a_phrase_introduces_is_a_list() -> None:
    kinds = [kind for kind, _ in read(PHRASE, DraftSentence("Ada ran.", ("F1",)), ZED)]
    assert kinds == ["paragraph", "list", "list"]
    assert as_markdown([PHRASE, ZED, ZED]) == (
        "The sources say:\n\n- Zed ran. {F2}\n- Zed ran. {F2}"
    )


def test_a_phrase_ends_the_list_before_it() -> None:
    lines = read(PHRASE, ZED, DraftSentence("Against this stands:"), ZED)
    assert [kind for kind, _ in lines] == ["paragraph", "list", "paragraph", "list"]
    after = read(PHRASE, ZED, DraftSentence("The evidence speaks for it."), ZED)
    assert [kind for kind, _ in after] == ["paragraph", "list", "paragraph", "paragraph"]


def test_sentences_without_a_phrase_are_one_paragraph() -> None:
    assert as_markdown([ZED, DraftSentence("Ada ran.", ("F1",))]) == "Zed ran. {F2} Ada ran. {F1}"


def test_a_phrase_cites_nothing() -> None:
    (_, frame), _ = read(PHRASE, ZED)
    assert (frame.kind, frame.cites) == (SentenceKind.FRAME, ())


def test_a_sum_is_marked_with_its_expression() -> None:
    line = DraftSentence("Eve is 15 years old.", ("F5",), "years(2011-03-14, 2026-11-15)")
    ((_, marked),) = read(line)
    assert marked.kind is SentenceKind.CALCULATION
    assert (marked.expression, marked.cites) == ("years(2011-03-14, 2026-11-15)", ("F5",))


def test_nothing_is_written_of_nothing() -> None:
    assert as_markdown([]) == ""


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\ue000"), max_size=60)


@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=6))
@example([("1.", True), ("Zed ran.", True)])
@example([("```", True), ("| a |", True), ("---", False)])
def test_no_finding_is_cited_for_what_another_says(lines: list[tuple[str, bool]]) -> None:
    """Whatever the sources say, a sentence cites the findings of one line of the draft."""
    drafted = [
        DraftSentence(f"Ada said {text}", (f"F{number}", f"F{number}0")) if cites else PHRASE
        for number, (text, cites) in enumerate(lines, 1)
    ]
    allowed = {line.findings for line in drafted}
    (section,) = read_markup(f"## Heading\n\n{as_markdown(drafted)}")
    marked = [line for block in section.blocks for row in block.rows for line in row]
    assert {line.cites for line in marked} <= allowed
    assert {line.cites for line in marked} == allowed, "nobody's finding is lost"
    assert all(line.cites or line.text == PHRASE.text for line in marked)


# What a draft is written from


def test_a_brief_is_what_the_task_gives_a_writer() -> None:
    finding = CitedFinding(
        id="F1", statement="Zed ran.", quote="Zed ran.", source="A", cites="T1:1"
    )
    held = HypothesisStanding(
        id="H1", statement="Zed ran.", posterior=0.7, status=HypothesisStatus.SUPPORTED, trials=1
    )
    given_: dict[str, Any] = {
        "question": "Who ran?",
        "as_of": "2026-11-15",
        "problems": ("Who?",),
        "standing": (held,),
        "findings": (finding,),
        "gaps": ("Why?",),
    }
    assert brief_of(WriteReport(texts=(), **given_)) == Brief(**given_)
