"""Writing sentences that name their findings, and repairing those that failed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.core.record import HypothesisStatus, SentenceKind
from deepdiver.tasks.record_views import HypothesisStanding, ShownFinding
from deepdiver.tasks.task import schema
from deepdiver.tasks.write import (
    Draft,
    DraftSection,
    DraftSentence,
    Faulty,
    Repaired,
    Repairs,
    RepairSentences,
    WriteReport,
)

SENTENCE = DraftSentence(text="Karin runs it.", findings=("F1",))
SHOWN = ShownFinding(
    id="F1", statement="Karin runs it.", quote="Karin Berg runs it.", source="Register"
)
STANDING = HypothesisStanding(
    id="H1", statement="Karin runs it.", posterior=0.7, status=HypothesisStatus.SUPPORTED, trials=1
)
REPORT = WriteReport(
    question="Who?", as_of="2026-11-15", problems=("Who?",), standing=(STANDING,), findings=(SHOWN,)
)
FAULTY = Faulty(id="S1", text="Karin owns it.", problem="partial", quotes=("Karin Berg runs it.",))


@pytest.mark.parametrize("kind", ["opinion", "FACT", "", None])
def test_a_sentence_is_of_a_known_kind(kind: Any) -> None:
    with pytest.raises(ValidationError, match="kind"):
        DraftSentence.model_validate({"text": "x", "kind": kind})


@pytest.mark.parametrize(
    "calculation",
    [
        {"kind": "guess", "inputs": ["1"], "result": "1"},
        {"kind": "sum", "inputs": ["1"]},
        {"kind": "sum", "result": "1"},
        "1+1",
    ],
)
def test_a_sum_says_its_kind_its_inputs_and_its_result(calculation: Any) -> None:
    with pytest.raises(ValidationError, match="calculation"):
        DraftSentence.model_validate({"text": "x", "calculation": calculation})


def test_a_sentence_is_a_fact_unless_it_says_otherwise() -> None:
    # So that a sentence without findings is cut, and does not pass as a frame.
    assert DraftSentence.model_validate({"text": "x"}).kind is SentenceKind.FACT


def test_a_derived_value_shows_its_sum() -> None:
    made = DraftSentence.model_validate(
        {
            "text": "Alma is 12.",
            "kind": "calculation",
            "findings": ["F1"],
            "calculation": {
                "kind": "years",
                "inputs": ["2014-03-12", "2026-11-15"],
                "result": "12",
            },
        }
    )
    assert made.calculation is not None
    assert made.calculation.inputs == ("2014-03-12", "2026-11-15")


def test_an_answer_is_short_and_may_be_empty() -> None:
    assert Draft(answer=()).answer == ()
    assert len(Draft(answer=(SENTENCE,) * 12).answer) == 12
    with pytest.raises(ValidationError, match="answer"):
        Draft(answer=(SENTENCE,) * 13)


def test_nothing_in_a_draft_has_a_place_for_an_address_or_a_quote() -> None:
    # The writer names findings; code turns them into citations.
    fields = {name for model in (Draft, DraftSection, DraftSentence) for name in model.model_fields}
    assert not {"url", "citation", "citations", "quote", "quotes", "source", "sources"} & fields
    assert "findings" in fields


def test_the_schema_asks_for_the_findings_of_every_sentence() -> None:
    part = schema(Draft)["$defs"]["DraftSentence"]
    assert part["required"] == ["text", "findings", "kind", "calculation"]
    assert {"type": "null"} in part["properties"]["calculation"]["anyOf"]


def test_the_writer_is_shown_the_findings_and_where_the_hypotheses_stand() -> None:
    shown = REPORT.prompt().user
    assert '"quote": "Karin Berg runs it."' in shown
    assert '"status": "supported"' in shown
    assert "guidance" not in shown
    assert WriteReport.role == "smart"
    assert WriteReport.answer() is Draft


def test_a_repair_is_shown_the_sentence_its_fault_and_its_quotes() -> None:
    shown = RepairSentences(question="Who?", sentences=(FAULTY,)).prompt().user
    for value in FAULTY.model_dump().values():
        assert (value[0] if isinstance(value, tuple) else value) in shown
    assert RepairSentences.answer() is Repairs


def test_an_empty_repair_cuts_the_sentence_and_one_without_text_is_none() -> None:
    assert Repairs(repairs=(Repaired(id="S1", text=""),)).repairs[0].text == ""
    with pytest.raises(ValidationError, match="text"):
        Repaired.model_validate({"id": "S1"})
    with pytest.raises(ValidationError, match="id"):
        Repaired.model_validate({"text": "x"})
