"""The vocabulary.

Closed, frozen, documented, and with ids that are the content and nothing else.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core import record
from deepdiver.core.identity import canonical, content_id, encodable
from deepdiver.core.record import (
    FINISHED,
    Assessment,
    Block,
    Calculation,
    Citation,
    Contradiction,
    Correlation,
    CorrelationKind,
    Credibility,
    CutSentence,
    Derivation,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Insight,
    Lead,
    Link,
    Mark,
    Passage,
    Quote,
    Record,
    Report,
    Run,
    RunStatus,
    SecondOpinion,
    Section,
    Sentence,
    Source,
    SourceKind,
    Stance,
    Trial,
    Verdict,
    VerdictKind,
)

PASSAGE = Passage(snapshot="ab" * 32, start=3, end=9)
MARK = Mark(start=3, kind="page", label="2")
QUOTE = Quote(source="s_1", passage=PASSAGE, text="Svedja")
HYPOTHESIS = Hypothesis(id="h_1", statement="It is so.", supports_if="seen", refutes_if="not seen")
SENTENCE = Sentence(
    text="Alma is 12.",
    findings=("f_1",),
    calculation=Calculation(kind="years", inputs=("2014-03-12", "2026-11-15"), result="12"),
    citations=(1,),
)
CITATION = Citation(
    number=1,
    source="s_1",
    finding="f_1",
    title="Register",
    url="a.txt",
    quote="Svedja",
    passage=PASSAGE,
    credibility=0.8,
)
DERIVATION = Derivation(name="C1", expression="1 + 2", result="3", findings=("f_1",))
BLOCK = Block(kind="paragraph", rows=((SENTENCE,),))
EXAMPLES: tuple[Record, ...] = (
    Run(
        id="r_1",
        question="Who?",
        strategy="popper",
        settings={"model": "embedded"},
        created="2026-11-15T00:00:00Z",
        version="0",
    ),
    Credibility(score=0.7, reasons=("a register",)),
    Source(
        id="s_1",
        kind=SourceKind.PAGE,
        url="https://a.example/",
        title="A",
        snapshot="ab" * 32,
        sketch=(1, 2),
    ),
    PASSAGE,
    MARK,
    QUOTE,
    Finding(id="f_1", statement="It is so.", quotes=(QUOTE,)),
    Insight(id="i_1", statement="Both.", findings=("f_1", "f_2")),
    HYPOTHESIS,
    Evidence(id="e_1", hypothesis="h_1", finding="f_1", stance=Stance.REFUTES, strength=0.5),
    Trial(id="t_1", hypothesis="h_1", iteration=1, queries=("q",), searched=True),
    Correlation(
        id="c_1", kind=CorrelationKind.TEMPORAL, findings=("f_1", "f_2"), description="same day"
    ),
    Contradiction(id="x_1", findings=("f_1", "f_2"), kind="contradicts", description="they differ"),
    Verdict(id="v_1", conclusion="h_1", kind=VerdictKind.PASS, reason="well supported"),
    Lead.of("name", "Anna Holm"),
    Link(id="l_1", kind="supports", head="f_1", tail="h_1", weight=1.5),
    CITATION,
    Calculation(kind="sum", inputs=("1", "2"), result="3"),
    DERIVATION,
    BLOCK,
    SENTENCE,
    Section(heading="What is known", sentences=(SENTENCE,)),
    CutSentence(text="It is not so.", reason="it names no finding", section="What is known"),
    Assessment(hypothesis=HYPOTHESIS, posterior=0.7, status=HypothesisStatus.SUPPORTED, trials=1),
    Report(
        question="Who?",
        status=RunStatus.ANSWERED,
        answer=(SENTENCE,),
        confidence=0.7,
        citations=(CITATION,),
    ),
    SecondOpinion(stance=Stance.REFUTES, confidence=0.98),
)


def kinds() -> Iterator[type[Record]]:
    """Walk every kind of record that the module defines."""
    for _, kind in inspect.getmembers(record, inspect.isclass):
        if issubclass(kind, Record) and kind is not Record:
            yield kind


def test_there_is_an_example_of_every_kind() -> None:
    assert {type(example) for example in EXAMPLES} == set(kinds())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
class TestEveryKind:
    def test_is_closed_to_unknown_fields(self, example: Record) -> None:
        values = example.model_dump()
        with pytest.raises(ValidationError, match="surprise"):
            type(example).model_validate({**values, "surprise": 1})

    def test_is_frozen(self, example: Record) -> None:
        for name in type(example).model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(example, name, getattr(example, name))

    def test_survives_json(self, example: Record) -> None:
        again = type(example).model_validate_json(example.model_dump_json())
        assert again == example
        assert (
            type(example).model_validate(json.loads(canonical(example.model_dump(mode="json"))))
            == example
        )

    def test_says_what_each_field_is(self, example: Record) -> None:
        silent = [
            name for name, field in type(example).model_fields.items() if not field.description
        ]
        assert not silent

    def test_lacks_no_required_field_quietly(self, example: Record) -> None:
        for name, field in type(example).model_fields.items():
            if field.is_required():
                rest = {key: value for key, value in example.model_dump().items() if key != name}
                with pytest.raises(ValidationError, match=name):
                    type(example).model_validate(rest)


@pytest.mark.parametrize(
    "values",
    [
        {"snapshot": "a", "start": -1, "end": 3},
        {"snapshot": "a", "start": 0, "end": -1},
        {"snapshot": "a", "start": 5, "end": 4},
        {"snapshot": "a", "start": 0.5, "end": 4},
    ],
)
def test_a_passage_is_a_span(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Passage.model_validate(values)


def test_an_empty_passage_is_still_a_span() -> None:
    assert Passage(snapshot="a", start=4, end=4).end == 4


def test_a_finding_has_a_quote() -> None:
    with pytest.raises(ValidationError, match="quotes"):
        Finding(id="f_1", statement="Somebody said so.", quotes=())


@pytest.mark.parametrize("score", [-0.01, 1.01, math.nan, math.inf, -math.inf, "much"])
def test_a_probability_lies_between_0_and_1(score: Any) -> None:
    with pytest.raises(ValidationError):
        Credibility(score=score)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_no_number_on_record_is_one_that_json_cannot_hold(weight: float) -> None:
    with pytest.raises(ValidationError):
        Link(id="l_1", kind="supports", head="f_1", tail="h_1", weight=weight)


def test_zero_has_no_sign() -> None:
    # -0.0 == 0.0, but json writes them differently: equal records would have different hashes.
    minus = Link(id="l_1", kind="refutes", head="f_1", tail="h_1", weight=-0.0)
    plus = Link(id="l_1", kind="refutes", head="f_1", tail="h_1", weight=0.0)
    assert minus == plus
    assert canonical(minus.model_dump(mode="json")) == canonical(plus.model_dump(mode="json"))
    assert "-0.0" not in canonical(Credibility(score=-0.0).model_dump(mode="json"))


@pytest.mark.parametrize("kind", ["proves", "SUPPORTS", ""])
def test_a_link_is_of_a_known_kind(kind: str) -> None:
    with pytest.raises(ValidationError, match="kind"):
        Link.model_validate({"id": "l", "kind": kind, "head": "f", "tail": "h"})


def test_every_choice_says_what_it_means() -> None:
    source = inspect.getsource(record).splitlines()
    choices = [
        kind for _, kind in inspect.getmembers(record, inspect.isclass) if issubclass(kind, StrEnum)
    ]
    assert len(choices) > 5
    for kind in choices:
        for member in kind:
            at = next(
                i
                for i, line in enumerate(source)
                if line == f'    {member.name} = "{member.value}"'
            )
            assert source[at + 1].startswith('    """'), (
                f"{kind.__name__}.{member.name} is not explained"
            )


def test_a_finished_run_is_one_with_a_report() -> None:
    assert {
        RunStatus.ANSWERED,
        RunStatus.PARTIAL,
        RunStatus.UNDECIDED,
        RunStatus.NOT_ANSWERED,
        RunStatus.NO_EVIDENCE,
        RunStatus.COULD_NOT_SEARCH,
        RunStatus.MODEL_FAILED,
    } == FINISHED
    unfinished = set(RunStatus) - FINISHED
    assert unfinished == {
        RunStatus.QUEUED,
        RunStatus.RUNNING,
        RunStatus.STOPPED,
        RunStatus.WAITING,
        RunStatus.FAILED,
    }


def test_links_carry_every_stance() -> None:
    assert {stance.value for stance in Stance} <= set(
        get_args(Link.model_fields["kind"].annotation)
    )


def test_a_report_has_a_fingerprint() -> None:
    report = Report(question="Who?", status=RunStatus.ANSWERED, answer=(SENTENCE,), confidence=0.7)
    same = Report.model_validate_json(report.model_dump_json())
    assert same.hash == report.hash


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Whom?"},
        {"status": RunStatus.PARTIAL},
        {"title": "Anna owns it"},
        {"language": "de"},
        {"heading": "Answer"},
        {"note": "Written without a language model."},
        {"answer": ()},
        {"points": (1,)},
        {"prose": (0,)},
        {"derivations": (DERIVATION,)},
        {"confidence": 0.7000001},
        {"sections": (Section(heading="A", sentences=()),)},
        {"hypotheses": (next(item for item in EXAMPLES if isinstance(item, Assessment)),)},
        {"citations": (CITATION,)},
        {"limits": ("one page could not be read",)},
        {"searched": 14},
        {"cut": (CutSentence(text="It is not so.", reason="it names no finding"),)},
        {"made_by": "popper, embedded"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_fingerprint_covers_every_field(change: dict[str, Any]) -> None:
    report = Report(question="Who?", status=RunStatus.ANSWERED, answer=(SENTENCE,), confidence=0.7)
    assert report.model_copy(update=change).hash != report.hash


def test_a_report_without_a_heading_is_saved_as_before() -> None:
    report = Report(question="Who?", status=RunStatus.ANSWERED, answer=(SENTENCE,), confidence=0.7)
    for name in ("heading", "language", "title", "points", "prose", "derivations", "searched"):
        assert f'"{name}"' not in report.model_dump_json()


def test_a_section_gives_its_sentences_and_cells_in_their_order() -> None:
    section = Section(heading="A", sentences=(SENTENCE,), blocks=(BLOCK, BLOCK))
    assert list(section.all_sentences()) == [SENTENCE] * 3


def test_every_field_of_a_report_is_covered_by_the_test_above() -> None:
    marks = [
        mark
        for mark in getattr(test_the_fingerprint_covers_every_field, "pytestmark", [])
        if mark.args
    ]
    changed = {name for mark in marks for change in mark.args[1] for name in change}
    assert changed == set(Report.model_fields)


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_a_record_is_given_it_can_be_saved(text: str) -> None:
    """File names and arguments that are not UTF-8 have lone surrogates, which JSON cannot hold."""
    source = Source(
        id="s", kind=SourceKind.DOCUMENT, url=text, title=text, snapshot="h", providers=(text,)
    )
    run = Run(
        id="r",
        question=text,
        strategy="popper",
        settings={text: [text, {"a": text}]},
        created="",
        version="0",
    )
    for made in (source, run):
        assert type(made).model_validate_json(made.model_dump_json()) == made
    plain = text.encode("utf-8", "replace").decode()
    assert (source.url, source.providers, run.question) == (plain, (plain,), plain)
    assert run.settings == {plain: [plain, {"a": plain}]}
    assert content_id("s", source.url) == content_id("s", text)


def test_what_utf8_can_hold_is_kept_as_it_is() -> None:
    value = {"ä": ["\U0001f409", ("x", 1, None, 2.5, True)], "b": PASSAGE}
    assert encodable(value) == value
    assert encodable(value)["b"] is PASSAGE
    assert isinstance(encodable(value)["ä"][1], tuple)


def test_a_report_with_a_lone_surrogate_has_the_fingerprint_that_it_has_once_saved() -> None:
    report = Report(
        question="Who is \udcff?", status=RunStatus.NO_EVIDENCE, answer=(), confidence=0
    )
    assert Report.model_validate_json(report.model_dump_json()).hash == report.hash


# -- a second opinion on a sentence

OF_BEFORE = (
    '{"question":"Who?","status":"answered","answer":[{"text":"Alma is '
    '12.","kind":"fact","findings":["f_1"],'
    '"calculation":{"kind":"years","inputs":["2014-03-12","2026-11-15"],"result":"12"},"citations":[1],"mark":""}],'
    '"confidence":0.7,"sections":[{"heading":"A","sentences":[{"text":"It is '
    'so.","kind":"fact","findings":["f_1"],'
    '"calculation":null,"citations":[1],"mark":"hm"}]}],"hypotheses":[],"citations":[],"limits":[],"made_by":""}'
)
"""A report as it was saved when sentences had no second opinion, …"""
HASH_OF_BEFORE = "b6be7b5473e28afb9dd2e22e32011ef0569ea377b6e3f73e22eec5a189b20ca6"
"""… and the hash that it had."""


@pytest.mark.parametrize(
    "opinion",
    [
        {"stance": "perhaps", "confidence": 0.5},
        {"stance": "supports", "confidence": 1.01},
        {"stance": "supports", "confidence": -0.01},
        {"stance": "supports"},
        {"confidence": 0.5},
        "supports",
    ],
    ids=str,
)
def test_an_opinion_is_a_stance_and_a_probability(opinion: Any) -> None:
    with pytest.raises(ValidationError, match="second_opinion"):
        Sentence.model_validate({"text": "It is so.", "second_opinion": opinion})


def test_a_report_of_before_there_were_opinions_is_read_and_keeps_its_hash() -> None:
    report = Report.model_validate_json(OF_BEFORE)
    assert report.answer[0].second_opinion is None
    assert report.hash == HASH_OF_BEFORE
    assert report.model_dump_json() == OF_BEFORE


def test_an_opinion_is_part_of_the_record_and_of_its_hash() -> None:
    report = Report.model_validate_json(OF_BEFORE)
    hashes = {report.hash}
    for stance, confidence in (
        (Stance.SUPPORTS, 1.0),
        (Stance.SUPPORTS, 0.99),
        (Stance.REFUTES, 1.0),
    ):
        opinion = SecondOpinion(stance=stance, confidence=confidence)
        judged = report.model_copy(
            update={"answer": (SENTENCE.model_copy(update={"second_opinion": opinion}),)}
        )
        again = Report.model_validate_json(judged.model_dump_json())
        assert again.answer[0].second_opinion == opinion
        assert again.hash == judged.hash
        hashes.add(judged.hash)
    assert len(hashes) == 4


def test_a_report_of_before_cuts_were_listed_is_read_and_keeps_its_hash() -> None:
    report = Report.model_validate_json(OF_BEFORE)
    assert report.cut == ()
    assert report.hash == HASH_OF_BEFORE
    assert "cut" not in report.model_dump()


@pytest.mark.parametrize(
    "cut", [["It is so."], [{"text": "It is so."}], [{"reason": "so"}], None, "It is so."]
)
def test_a_cut_without_text_or_reason_is_refused(cut: Any) -> None:
    with pytest.raises(ValidationError, match="cut"):
        Report.model_validate({**json.loads(OF_BEFORE), "cut": cut})


def test_a_cut_is_part_of_the_record_and_of_its_hash() -> None:
    report = Report.model_validate_json(OF_BEFORE)
    hashes = {report.hash}
    for cut in (
        CutSentence(text="It is so.", reason="it names no finding"),
        CutSentence(text="It is so.", reason="it names no finding", section="Owners"),
        CutSentence(text="It is so.", reason="no"),
        CutSentence(text="It is not so.", reason="no"),
    ):
        shortened = report.model_copy(update={"cut": (cut,)})
        again = Report.model_validate_json(shortened.model_dump_json())
        assert again.cut == (cut,)
        assert again.hash == shortened.hash
        hashes.add(again.hash)
    assert len(hashes) == 5


# -- leads


def test_a_lead_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValidationError):
        Lead.model_validate({"id": "lead_1", "kind": "rumour", "text": "x"})


def test_a_lead_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Lead.of("name", "Anna Holm").text = "Bertil Ask"  # type: ignore[misc]


# -- where in a source a quote stands

PARTS = (
    Mark(start=0, kind="heading", label="Summary"),
    Mark(start=0, kind="page", label="1"),
    Mark(start=50, kind="page", label="2"),
    Mark(start=60, kind="sheet", label="Costs"),
)


@pytest.mark.parametrize(
    ("start", "where"),
    [
        (0, "page 1"),
        (49, "page 1"),
        (50, "page 2"),
        (60, "page 2, sheet Costs"),
        (10**6, "page 2, sheet Costs"),
    ],
)
def test_a_character_stands_in_the_last_part_that_begins_before_it(start: int, where: str) -> None:
    source = Source(
        id="s_1", kind=SourceKind.DOCUMENT, url="a.pdf", title="A", snapshot="ab" * 32, marks=PARTS
    )
    assert source.where(start) == where


def test_a_source_without_parts_has_no_where() -> None:
    assert (
        Source(id="s_1", kind=SourceKind.PAGE, url="u", title="A", snapshot="ab" * 32).where(5)
        == ""
    )


@pytest.mark.parametrize(
    ("kind", "label", "day"),
    [
        ("message", "4, Emily Lee, 2023-06-20 10:00", "2023-06-20"),
        ("message", "4, Emily Lee, 2023-06-20T10:00:59+02:00", "2023-06-20"),
        ("message", "4, 2023-06-20", "2023-06-20"),
        ("message", "4, Emily Lee", ""),
        ("message", "4, 2023-06-20, Emily Lee", ""),
        ("page", "2023-06-20", ""),
    ],
)
def test_a_message_has_the_date_at_the_end_of_its_label(kind: Any, label: str, day: str) -> None:
    assert Mark(start=0, kind=kind, label=label).date == day


def test_what_a_message_says_has_the_date_of_the_message() -> None:
    marks = (
        Mark(start=10, kind="message", label="1, Anna, 2023-06-20 10:00"),
        Mark(start=20, kind="message", label="2, Bo"),
        Mark(start=30, kind="message", label="3, Anna, 2023-06-22"),
        Mark(start=35, kind="heading", label="Costs"),
    )
    held: dict[str, Any] = {"id": "s_1", "url": "a", "title": "A", "snapshot": "ab" * 32}
    source = Source(kind=SourceKind.DOCUMENT, marks=marks, published="2024-01-01", **held)
    dates = [source.dated(start) for start in (0, 10, 19, 20, 30, 99)]
    assert dates == [
        "2024-01-01",
        "2023-06-20",
        "2023-06-20",
        "2024-01-01",
        "2023-06-22",
        "2023-06-22",
    ]
    assert Source(kind=SourceKind.DOCUMENT, **held).dated(5) == ""


@given(st.text(max_size=30), st.integers(0, 40), st.integers(0, 40), st.text(max_size=5))
def test_a_quote_stands_where_the_text_has_it_and_nowhere_else(
    text: str, start: int, end: int, said: str
) -> None:
    passage = PASSAGE.model_copy(update={"start": start, "end": end})
    quote = QUOTE.model_copy(update={"passage": passage, "text": said})
    assert quote.stands_in(text) == (said != "" and text[start:end] == said)
    exact = quote.model_copy(update={"text": text[start:end]})
    assert exact.stands_in(text) == bool(text[start:end])
