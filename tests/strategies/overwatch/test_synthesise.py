"""The report of an investigation: sections of conclusions, limits, and notes that code writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deepdiver.core.record import Assessment, HypothesisStatus, Report, RunStatus, SentenceKind
from deepdiver.strategies.overwatch import synthesise
from deepdiver.strategies.overwatch.synthesise import (
    NOTHING_OPEN,
    add_notes,
    assess_confidence,
    describe_method,
    list_limits,
    make_sections,
    recommend,
)
from deepdiver.strategies.overwatch.verify import verify
from tests.strategies.overwatch.test_verify import (
    ADJUST,
    FLAG,
    PASS,
    REJECT,
    STATE,
    assessed,
    concluded,
    result,
)


def report(
    *hypotheses: Assessment, status: RunStatus = RunStatus.ANSWERED, confidence: float = 0.8
) -> Report:
    return Report(
        question="Q?", status=status, answer=(), confidence=confidence, hypotheses=hypotheses
    )


async def test_correlations_are_told_by_kind_with_quotes_in_the_order_of_time(
    tmp_path: Path,
) -> None:
    _, deps, state = await concluded(tmp_path)
    state |= (await verify(state, deps))[0]
    by_heading = {section.heading: section.sentences for section in make_sections(deps, state)}
    assert list(by_heading) == [
        "Key insights",
        "Close in time",
        "Close in space",
        "Possible causes",
    ]
    frame, dip, smoke = by_heading["Close in time"]
    assert frame.kind is SentenceKind.FRAME
    assert frame.text.startswith("6 minutes apart, 0.73 km apart, confidence 0.")
    assert "voltage dipped" in dip.text
    assert "saw smoke" in smoke.text
    assert dip.findings
    rejected = [{**item, "verdict": "REJECT"} for item in state["verification_results"]]
    assert make_sections(deps, {**state, "verification_results": rejected}) == []


def test_what_copies_say_alike_is_quoted_once_and_each_source_has_its_turn() -> None:
    said = {
        "a1": ("paper", "A fire broke out."),
        "b1": ("other paper", "A  fire broke OUT."),
        "a2": ("paper", "It was put out."),
        "c1": ("log", "Alarm at 04:50."),
        "c2": ("log", "A fire broke out."),
    }
    quotes = {
        key: SimpleNamespace(quotes=[SimpleNamespace(source=s, text=t)])
        for key, (s, t) in said.items()
    }
    deps: Any = SimpleNamespace(ledger=SimpleNamespace(get=lambda kind, key: quotes[key]))
    assert synthesise._vary_sources(deps, list(said)) == ["a1", "c1", "a2"]
    assert synthesise._vary_sources(deps, []) == []


async def test_what_the_reasoner_says_of_a_correlation_is_told_instead_of_the_quotes(
    tmp_path: Path,
) -> None:
    _, deps, state = await concluded(tmp_path)
    (item, *_) = [one for one in state["correlations"] if one["correlation_type"] == "temporal"]
    state["correlations"] = [{**item, "description": "The voltage dipped, then smoke was seen."}]
    close = next(
        section for section in make_sections(deps, state) if section.heading == "Close in time"
    )
    assert [line.text for line in close.sentences[1:]] == [
        "The voltage dipped, then smoke was seen."
    ]
    assert close.sentences[1].findings == tuple(item["finding_ids"])


# -- what code says about the research


def test_limits_tell_what_ended_it_what_had_no_data_and_count_what_was_rejected() -> None:
    calls = [
        {"status": "empty", "told": f"search(query=q{n}): No data available", "tool": "search"}
        for n in range(8)
    ]
    results = [
        result("h_1", FLAG, kind="hypothesis"),
        result("h_2", ADJUST, 0.5, kind="hypothesis"),
        result("i_1", FLAG),
        result("i_2", REJECT),
    ]
    lines = list_limits(
        {
            **STATE,
            "error": "all is down",
            "executed_queries": calls,
            "verification_results": results,
        }
    )
    assert lines[0] == "It ended early: all is down"
    assert "Verification flagged “Text of h_1.”: why" in lines
    assert "Verification lowered “Text of h_2.”: why" in lines
    assert "Verification rejected 1 conclusion, which is not reported." in lines
    assert not [line for line in lines if "i_2" in line or "i_1" in line]
    assert lines[-1] == "No data available for 3 more calls."
    assert list_limits(STATE) == []


def test_recommendations_are_what_is_open_and_what_did_not_answer() -> None:
    assert recommend(STATE, report()) == [NOTHING_OPEN]
    calls = [{"status": "failed", "tool": "search_corpus"}] * 2
    state = {**STATE, "missing": ["Who founded it?"], "executed_queries": calls}
    open_ = assessed(HypothesisStatus.UNDECIDED, 0.5)
    assert recommend(state, report(open_, status=RunStatus.PARTIAL)) == [
        "Look further into this: Who founded it?",
        "Look further into this: Claim of h_1.",
        "Ask search_corpus again: it gave no answer.",
    ]
    told = report().model_copy(update={"limits": ("Not answered: When was it?", "x")})
    assert recommend(state, told)[0] == "Look further into this: When was it?"
    assert "Look further into this: Who founded it?" not in recommend(state, report()), (
        "it was answered since"
    )


@pytest.mark.parametrize(
    ("confidence", "word"), [(0.9, "High"), (0.8, "High"), (0.6, "Medium"), (0.2, "Low")]
)
def test_confidence_is_told_in_a_word_and_a_number(confidence: float, word: str) -> None:
    held_ = (
        assessed(HypothesisStatus.SUPPORTED, 0.8),
        assessed(HypothesisStatus.REFUTED, 0.1, "h_2"),
    )
    text = assess_confidence(STATE, report(*held_, confidence=confidence))
    assert text == f"{word} confidence ({confidence:.2f}). Of 2 hypotheses: 1 supported, 1 refuted."


def test_what_limits_confidence_is_told() -> None:
    calls = [{"status": "failed"}, {"status": "answered"}, {"status": "answered"}]
    ended = {**STATE, "executed_queries": calls, "iteration": 10}
    assert assess_confidence(ended, report()) == (
        "High confidence (0.80). No hypothesis was put forward. Limited by 1 call of 3 that "
        "failed. "
        "It ended at the last turn allowed (10)."
    )
    assert "It ended early: all is down." in assess_confidence(
        {**ended, "error": "all is down"}, report()
    )


def test_the_method_is_counted_from_the_record() -> None:
    state = {
        **STATE,
        "reflection_iterations": 2,
        "iteration": 3,
        "executed_queries": [{"status": "answered"}, {"status": "empty"}, {"status": "refused"}],
        "verification_results": [result("a", PASS), result("b", PASS), result("c", REJECT)],
    }
    assert describe_method(state) == (
        "The analysis took 7 steps, 2 reflections and 3 verification checks (2 PASS, 1 REJECT), "
        "over 3 calls of tools (1 answered, 1 empty, 1 refused) in 3 turns."
    )
    assert "0 verification checks, over 0 calls of tools in 0 turns" in describe_method(STATE)


def test_notes_stand_at_the_end_as_frames() -> None:
    said = {"recommendations": ["a", "b"], "confidence_assessment": "c", "methodology_note": "d"}
    made = add_notes(report(), said)
    assert [section.heading for section in made.sections] == [
        "Recommendations",
        "Confidence and method",
    ]
    assert [line.text for section in made.sections for line in section.sentences] == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert {line.kind for section in made.sections for line in section.sentences} == {
        SentenceKind.FRAME
    }


async def test_a_report_is_written_of_what_was_verified(tmp_path: Path) -> None:
    _, deps, state = await concluded(tmp_path)
    state |= (await verify(state, deps))[0]
    made, said = await synthesise.synthesise(state, deps)
    assert {"Close in time", "Recommendations", "Confidence and method"} <= {
        s.heading for s in made.sections
    }
    assert said["confidence_assessment"] == made.sections[-1].sentences[0].text
    assert made.citations
