"""Everything behind one sentence of a report."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Contradiction,
    CutSentence,
    Derivation,
    Evidence,
    Finding,
    HypothesisStatus,
    Insight,
    Report,
    RunStatus,
    SecondOpinion,
    Section,
    SentenceKind,
    Stance,
    Trial,
    Verdict,
    VerdictKind,
)
from deepdiver.errors import LostTextError, StoreAccessError, UsageError
from deepdiver.report.sentence_trail import (
    SentenceTrail,
    flat_text,
    follow_sentence,
    placed_sentences,
    strings_of,
    trail_lines,
    trail_record,
)
from deepdiver.store import CallState, JournalRow
from tests.report.making import assessment, finding, quote, sentence, source

OWNS = "Anna Holm owns Holm Works."
SOLD = "Holm Works sold 12 boats and 30 sails in 2025."
TEXTS = {"h_s_1": f"{OWNS} Nobody else does.", "h_s_2": SOLD}
BELIEVED = assessment(HypothesisStatus.SUPPORTED, 0.8).model_copy(update={"supporting": ("f_1",)})
REPORT = Report(
    question="Who owns Holm Works?",
    status=RunStatus.ANSWERED,
    answer=(
        sentence(
            OWNS,
            "f_1",
            second_opinion=SecondOpinion(stance=Stance.SUPPORTS, confidence=1.0),
            mark="of 2025",
        ),
    ),
    confidence=0.8,
    sections=(
        Section(heading="Sales", sentences=(sentence("It sold 42.", "f_2", derived=("C1",)),)),
    ),
    derivations=(Derivation(name="C1", expression="12 + 30", result="42", findings=("f_2",)),),
    hypotheses=(BELIEVED,),
    cut=(
        CutSentence(text="It sold 50.", reason="50 is in none of its quotes", section="Sales"),
        CutSentence(text="Bo owns it.", reason="nobody says so"),
    ),
)
KEY = BELIEVED.hypothesis.id
LEDGER = Ledger(
    [
        source("s_1"),
        source("s_2"),
        source("s_3"),
        finding("f_1", quote(OWNS)),
        finding("f_2", quote(SOLD, "s_2")),
        Evidence(
            id="e_1",
            hypothesis=KEY,
            finding="f_1",
            stance=Stance.SUPPORTS,
            strength=0.9,
            reason="says so",
        ),
        Trial(id="t_1", hypothesis=KEY, iteration=1, queries=("owner denied",), searched=True),
        Verdict(id="v_1", conclusion=OWNS, kind=VerdictKind.PASS, reason="well supported"),
        Insight(id="i_1", statement="It does well.", findings=("f_2",)),
        Contradiction(id="c_1", findings=("f_1", "f_2"), kind="qualifies", description="later"),
    ]
)


def row(order: int, kind: str, request: object, reply: object, **more: object) -> JournalRow:
    held: dict[str, object] = {"state": CallState.SETTLED, "provider": "openai:x"}
    held |= more
    return JournalRow(
        run="r",
        key=f"{order:064d}",
        kind=kind,
        what=f"call {order}",
        request=json.dumps(request),
        reply=json.dumps(reply),
        error=None,
        worst=Decimal(1),
        cost=Decimal("0.01"),
        sends=1,
        uncertain=0,
        first=0.0,
        last=0.0,
        order=order,
        **held,  # type: ignore[arg-type]
    )


ROWS = (
    row(1, "search", {"query": "holm"}, {"texts": ["h_s_1"]}, provider="tavily"),
    row(2, "fetch", {"url": "https://example.org/s_1"}, {"texts": []}, provider="fetch:e.org"),
    row(3, "fetch", {"url": "https://example.org/s_3"}, {"texts": ["h_s_3"]}),
    row(4, "model", {"messages": [["user", f"<1> {OWNS}\n<2> More."]]}, {"value": "noted"}),
    row(5, "model", {"messages": [["user", "write"]]}, {"value": {"text": OWNS}}),
    row(6, "model", {"messages": [["user", f"<1> {OWNS}"]]}, {}, state=CallState.FAILED),
    row(7, "model", {"messages": [["user", "something else"]]}, {"value": "else"}),
)


def follow(number: int, **more: object) -> SentenceTrail:
    return follow_sentence(REPORT, number, LEDGER, ROWS, TEXTS.__getitem__, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [0, 3, -1])
def test_there_is_no_such_sentence(number: int) -> None:
    with pytest.raises(UsageError, match="the report has 2"):
        follow(number)


def test_sentences_are_counted_as_the_report_prints_them() -> None:
    assert [(item.number, item.section) for item in placed_sentences(REPORT)] == [
        (1, ""),
        (2, "Sales"),
    ]


def test_everything_behind_a_fact() -> None:
    trail = follow(1)
    assert [item.id for item in trail.findings] == ["f_1"]
    assert [item.id for item in trail.sources] == ["s_1"]
    assert [item.hypothesis.id for item in trail.hypotheses] == [KEY]
    assert [item.id for item in trail.evidence] == ["e_1"]
    assert [item.id for item in trail.trials] == ["t_1"]
    assert [item.id for item in trail.verdicts] == ["v_1"]
    assert [item.id for item in trail.links] == ["c_1"]
    assert [item.text for item in trail.cut] == ["Bo owns it."]
    assert trail.lost == ()


def test_the_calls_that_had_a_part_in_it() -> None:
    trail = follow(1)
    assert [(call.row.order, call.part) for call in trail.calls] == [
        (1, "found it"),
        (2, "found it"),
        (4, "checked it, or read it in the draft"),
        (5, "wrote it"),
    ]
    assert trail.cost.text == "0.04"
    assert follow(1, unpriced=("openai:x", "other")).cost.text == "at least 0.04"


def test_everything_behind_a_calculation() -> None:
    trail = follow(2)
    assert [item.name for item in trail.derivations] == ["C1"]
    assert [item.text for item in trail.cut] == ["It sold 50."]
    assert {item.id for item in trail.links} == {"c_1", "i_1"}
    assert trail.hypotheses == ()


@pytest.mark.parametrize("lost", [False, True])
def test_a_quote_that_does_not_stand_any_more_is_named(lost: bool) -> None:
    def snapshot(key: str) -> str:
        if lost:
            raise LostTextError("gone", key)
        return "Something else stands here now."

    trail = follow_sentence(REPORT, 1, LEDGER, (), snapshot)
    assert [item.text for item in trail.lost] == [OWNS]
    assert "NOT in the saved text" in "\n".join(trail_lines(trail))


def test_the_lines_tell_all_of_it() -> None:
    told = "\n".join(trail_lines(follow(1, unpriced=("tavily",))))
    for wanted in (
        f"1. {OWNS}",
        "the reader: supports (1.00)",
        "caution: of 2025",
        f"“{OWNS}”",
        f"at 0–{len(OWNS)} of h_s_1",
        "believed 0.90",
        "supported (0.80",
        "to refute it, searched: owner denied",
        "supports (0.90) “Anna Holm owns it.”: says so",
        "PASS",
        "qualifies: later",
        "found it: search tavily, call 1 (USD unknown)",
        "“Bo owns it.”: nobody says so",
    ):
        assert wanted in told, wanted
    assert "12 + 30 = 42" in "\n".join(trail_lines(follow(2)))


def test_the_record_is_json() -> None:
    found = json.loads(json.dumps(trail_record(follow(1))))
    assert found["number"] == 1
    assert found["findings"][0]["quotes"][0]["text"] == OWNS
    assert found["usd"] == "0.04"
    assert found["calls"][0]["part"] == "found it"
    assert "sketch" not in found["sources"][0]


def test_a_value_of_json_as_one_text() -> None:
    assert flat_text({"a": "x\n y"}) == "x y"
    assert set(flat_text([1, None, {"a": ["x", {"b": "y"}]}]).split()) == {"x", "y"}


# -- what is damaged, odd or missing


def test_a_report_without_a_sentence_says_so() -> None:
    empty = REPORT.model_copy(update={"answer": (), "sections": ()})
    assert placed_sentences(empty) == []
    with pytest.raises(UsageError, match="no sentence 1: the report has 0"):
        follow_sentence(empty, 1, LEDGER, ROWS, TEXTS.__getitem__)


def test_a_finding_that_is_not_in_the_ledger_is_left_out() -> None:
    unknown = REPORT.model_copy(update={"answer": (sentence(OWNS, "f_gone", "f_1"),)})
    trail = follow_sentence(unknown, 1, LEDGER, ROWS, TEXTS.__getitem__)
    assert [item.id for item in trail.findings] == ["f_1"]


def test_a_calculation_that_is_not_in_the_report_is_left_out() -> None:
    wrong = sentence("It sold 42.", "f_2", derived=("C9", "C1"))
    report = REPORT.model_copy(update={"answer": (wrong,)})
    trail = follow_sentence(report, 1, LEDGER, ROWS, TEXTS.__getitem__)
    assert [item.name for item in trail.derivations] == ["C1"]


def test_a_frame_has_nothing_behind_it_but_what_was_cut() -> None:
    frame = REPORT.model_copy(update={"answer": (sentence("In short:", kind=SentenceKind.FRAME),)})
    trail = follow_sentence(frame, 1, LEDGER, (), TEXTS.__getitem__)
    assert (trail.findings, trail.sources, trail.lost, trail.calls) == ((), (), (), ())
    assert (trail.hypotheses, trail.evidence, trail.trials, trail.links) == ((), (), (), ())
    assert list(trail_lines(trail)) == [
        "1. In short:",
        "   a frame, under 'Bottom line'",
        "",
        "Cut beside it",
        "   “Bo owns it.”: nobody says so",
    ]
    assert json.loads(json.dumps(trail_record(trail)))["calls"] == []


def test_an_empty_quote_does_not_stand() -> None:
    ledger = Ledger([source("s_1"), finding("f_1", quote(OWNS).model_copy(update={"text": ""}))])
    trail = follow_sentence(REPORT, 1, ledger, (), TEXTS.__getitem__)
    assert len(trail.lost) == 1


def test_a_quote_at_another_place_does_not_stand() -> None:
    moved = {"h_s_1": f" {TEXTS['h_s_1']}", "h_s_2": SOLD}
    trail = follow_sentence(REPORT, 1, LEDGER, (), moved.__getitem__)
    assert [item.text for item in trail.lost] == [OWNS]
    assert any("NOT in the saved text" in line for line in trail_lines(trail))


def test_a_damaged_store_is_an_error_and_not_a_lost_quote() -> None:
    def broken(snapshot: str) -> str:
        raise StoreAccessError("the disk is gone")

    with pytest.raises(StoreAccessError, match="the disk is gone"):
        follow_sentence(REPORT, 1, LEDGER, ROWS, broken)


def test_a_test_that_could_not_search_is_told_as_such() -> None:
    failed = Trial(id="t_2", hypothesis=KEY, iteration=2, queries=("who",), searched=False)
    trail = follow_sentence(REPORT, 1, Ledger([*LEDGER, failed]), ROWS, TEXTS.__getitem__)
    told = "\n".join(trail_lines(trail))
    assert "to refute it, searched: owner denied (0 findings)" in told
    assert "to refute it, could not search: who (0 findings)" in told


def test_evidence_on_a_hypothesis_that_the_report_does_not_have_is_told_by_its_id() -> None:
    other = Evidence(
        id="e_2", hypothesis="h_gone", finding="f_1", stance=Stance.REFUTES, strength=0.4
    )
    trail = follow_sentence(REPORT, 1, Ledger([*LEDGER, other]), ROWS, TEXTS.__getitem__)
    assert "   refutes (0.40) “h_gone”" in list(trail_lines(trail))


@pytest.mark.parametrize("state", [CallState.RESERVED, CallState.SENT, CallState.FAILED])
def test_only_calls_that_were_answered_had_a_part(state: CallState) -> None:
    unanswered = dataclasses.replace(ROWS[4], state=state, reply=None)
    trail = follow_sentence(REPORT, 1, LEDGER, (unanswered,), TEXTS.__getitem__)
    assert trail.calls == ()


def test_a_price_that_is_not_known_is_not_zero() -> None:
    trail = follow(1, unpriced=("openai:x", "never called"))
    priced = {item["provider"]: item["usd"] for item in trail_record(trail)["calls"]}
    assert priced["openai:x"] == "unknown"
    assert priced["tavily"] != "unknown"
    assert trail.cost.unpriced == ("openai:x",)


def test_deep_values_are_read_without_recursion() -> None:
    deep: object = OWNS
    for _ in range(5_000):
        deep = [deep]
    assert flat_text(deep) == OWNS
    assert list(strings_of({"a": 1, "b": None, "c": [True, {"d": "x"}]})) == ["x"]


@pytest.mark.parametrize("number", [-1, 0, 3, 10**9])
def test_a_number_beyond_the_report_names_how_many_there_are(number: int) -> None:
    with pytest.raises(UsageError, match=r"the report has 2; `--why list` shows them"):
        follow(number)


def test_a_model_is_told_by_the_most_that_it_did() -> None:
    both = row(8, "model", {"messages": [["user", f"<1> {OWNS}"]]}, {"value": OWNS})
    trail = follow_sentence(REPORT, 1, LEDGER, (both,), TEXTS.__getitem__)
    assert [call.part for call in trail.calls] == ["wrote it"]


def test_a_long_quote_is_recognised_by_its_beginning_across_line_ends() -> None:
    long = f"{OWNS} {'And so on. ' * 20}"
    ledger = Ledger([source("s_1"), finding("f_1", quote(long))])
    asked = row(9, "model", {"messages": [["user", long.replace(" ", "\n", 5)[:120]]]}, {})
    report = REPORT.model_copy(update={"answer": (sentence("Anna does.", "f_1"),)})
    trail = follow_sentence(report, 1, ledger, (asked,), TEXTS.__getitem__)
    assert [call.part for call in trail.calls] == ["read its quotes"]


def test_every_record_of_the_trail_can_be_read_again() -> None:
    for number in (1, 2):
        record = json.loads(json.dumps(trail_record(follow(number))))
        assert record["number"] == number
        assert all("sketch" not in item and "marks" not in item for item in record["sources"])
        assert len(record["findings"]) == len(follow(number).findings) == 1


def test_a_statement_in_the_words_of_its_quote_is_told_once() -> None:
    findings = "\n".join(trail_lines(follow(1))).partition("Findings and quotes")[2]
    findings = findings.partition("Sources")[0]
    assert findings.count(OWNS) == findings.count(f"“{OWNS}”") == 1
    held = LEDGER.of(Finding)["f_1"].model_copy(update={"statement": "She owns it."})
    other = dataclasses.replace(follow(1), findings=(held,))
    assert "   She owns it." in list(trail_lines(other))


def test_a_finding_with_two_quotes_keeps_its_statement() -> None:
    held = LEDGER.of(Finding)["f_1"]
    twice = held.model_copy(update={"quotes": held.quotes * 2})
    lines = list(trail_lines(dataclasses.replace(follow(1), findings=(twice,))))
    assert sum(line.strip() == held.statement for line in lines) == 1
    assert sum(line.strip() == f"“{OWNS}”" for line in lines) == 2


@pytest.mark.parametrize("number", [1, 2])
def test_the_lines_and_the_record_name_the_same_sources(number: int) -> None:
    followed = follow(number)
    told = "\n".join(trail_lines(followed))
    for item in followed.sources:
        assert item.title in told
        assert item.id in json.dumps(trail_record(followed))


def test_following_a_sentence_changes_nothing() -> None:
    assert follow(1) == follow(1)
