from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.record import Calculation, Report, RunStatus, SentenceKind
from deepdiver.errors import ReasonError
from deepdiver.strategies.writing import PARTLY, UNREAD, _notes
from tests.strategies.rig import Rig, ScriptedReasoner

OWNED = "Holm Works is owned by Anna Holm."


def draft_of(*sentences: tasks.DraftSentence, missing: tuple[str, ...] = ()) -> Any:
    return lambda task: tasks.Draft(answer=sentences, missing=missing)


def told(text: str, *findings: str, **more: Any) -> tasks.DraftSentence:
    return tasks.DraftSentence(text=text, findings=findings, **more)


async def report_of(tmp_path: Path, **rules: Any) -> tuple[Report, Rig]:
    rig = Rig(tmp_path, ScriptedReasoner(**rules))
    outcome = await rig.work()
    assert outcome.report is not None
    return outcome.report, rig


def label_of(task: tasks.WriteReport, words: str) -> str:
    return next(shown.id for shown in task.findings if words in shown.quote)


def write(make: Any) -> Any:
    return lambda task: tasks.Draft(answer=tuple(make(lambda words: label_of(task, words))))


@pytest.mark.parametrize(
    "sentence",
    [
        told("Holm Works is owned by Anna Holm."),
        told("Holm Works is owned by Anna Holm.", "F99"),
        told("Holm Works is owned by Carl Dahl.", "F1"),
        told("Holm Works was sold for 77 crowns.", "F1"),
        told("Holm Works changed hands on 3 May 1990.", "F1"),
        told("It was founded 900 years ago.", kind=SentenceKind.FRAME),
        told("Anna Holm is 40.", "F1", kind=SentenceKind.CALCULATION),
        told(
            "Anna Holm is 40.",
            "F1",
            kind=SentenceKind.CALCULATION,
            calculation=Calculation(kind="years", inputs=("1980-01-01", "2026-01-01"), result="40"),
        ),
    ],
)
async def test_what_no_quote_carries_is_cut(tmp_path: Path, sentence: tasks.DraftSentence) -> None:
    report, _ = await report_of(tmp_path, write_report=draft_of(sentence))
    assert report.answer == ()
    assert any("cut 1 sentence" in line for line in report.limits)
    assert report.status is RunStatus.NO_EVIDENCE
    assert report.confidence == 0.0


async def test_a_sentence_that_its_quote_carries_stays_with_its_citation(tmp_path: Path) -> None:
    report, rig = await report_of(tmp_path, write_report=write(lambda label: [told(OWNED, label(OWNED))]))
    (sentence,) = report.answer
    (citation,) = report.citations
    assert sentence.citations == (citation.number,) == (1,)
    assert citation.quote == OWNED
    text = rig.store.get_text(citation.passage.snapshot)
    assert text[citation.passage.start : citation.passage.end] == OWNED


async def test_a_faulty_sentence_is_repaired_once(tmp_path: Path) -> None:
    asked: list[tasks.RepairSentences] = []

    def repair(task: tasks.RepairSentences) -> tasks.Repairs:
        asked.append(task)
        return tasks.Repairs(repairs=(tasks.Repaired(id=task.sentences[0].id, text=OWNED),))

    report, _ = await report_of(
        tmp_path,
        write_report=write(lambda label: [told("Holm Works is owned by Carl Dahl.", label(OWNED))]),
        repair_sentences=repair,
    )
    assert [sentence.text for sentence in report.answer] == [OWNED]
    assert len(asked) == 1
    assert asked[0].sentences[0].quotes == (OWNED,)
    assert "Carl Dahl" in asked[0].sentences[0].problem


async def test_a_repair_that_is_no_better_is_cut(tmp_path: Path) -> None:
    def worse(task: tasks.RepairSentences) -> tasks.Repairs:
        return tasks.Repairs(repairs=(tasks.Repaired(id=task.sentences[0].id, text="Dora Ek owns it all."),))

    report, _ = await report_of(
        tmp_path,
        write_report=write(lambda label: [told("Carl Dahl owns it.", label(OWNED))]),
        repair_sentences=worse,
    )
    assert report.answer == ()


@pytest.mark.parametrize(("support", "kept"), [("partial", True), ("none", False)])
async def test_the_reasoners_doubt_marks_or_cuts(tmp_path: Path, support: Any, kept: bool) -> None:
    def doubt(task: tasks.CheckSupport) -> tasks.Checks:
        return tasks.Checks(checks=tuple(tasks.Check(id=c.id, support=support, reason="hm") for c in task.claims))

    def same(task: tasks.RepairSentences) -> tasks.Repairs:
        return tasks.Repairs(repairs=tuple(tasks.Repaired(id=item.id, text=item.text) for item in task.sentences))

    report, _ = await report_of(
        tmp_path,
        write_report=write(lambda label: [told(OWNED, label(OWNED))]),
        check_support=doubt,
        repair_sentences=same,
    )
    assert [sentence.mark for sentence in report.answer] == ([PARTLY] if kept else [])


async def test_doubt_that_nobody_repairs_still_counts(tmp_path: Path) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("no repair today")

    def doubt(task: tasks.CheckSupport) -> tasks.Checks:
        return tasks.Checks(checks=tuple(tasks.Check(id=c.id, support="none") for c in task.claims))

    report, _ = await report_of(
        tmp_path,
        write_report=write(lambda label: [told(OWNED, label(OWNED))]),
        check_support=doubt,
        repair_sentences=fail,
    )
    assert report.answer == ()


async def test_a_calculation_that_comes_out_stays(tmp_path: Path) -> None:
    founded = "Holm Works was founded in 1998."

    def both(task: tasks.ExtractFindings) -> tasks.Extraction:
        found = [
            tasks.Extracted(statement=words, source=text.id, quote=words)
            for text in task.texts
            for words in (OWNED, founded)
            if words in text.text
        ]
        return tasks.Extraction(findings=tuple(found))

    def age(label: Any) -> list[tasks.DraftSentence]:
        sum_ = Calculation(kind="difference", inputs=("2026", "1998"), result="28")
        wrong = Calculation(kind="difference", inputs=("2025", "1998"), result="27")
        text = "In 2026 Holm Works was 28 years old."
        return [
            told(text, label(founded), kind=SentenceKind.CALCULATION, calculation=sum_),
            told(text, label(founded), kind=SentenceKind.CALCULATION, calculation=wrong),
        ]

    report, _ = await report_of(tmp_path, extract_findings=both, write_report=write(age))
    (kept,) = report.answer
    assert kept.calculation is not None
    assert kept.calculation.result == "28", "the run's own year may be reckoned with, another needs a quote"


async def test_a_writer_who_fails_leaves_the_hypotheses_own_words(tmp_path: Path) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("writer's block")

    report, _ = await report_of(tmp_path, write_report=fail)
    assert [sentence.text for sentence in report.answer] == ["Anna Holm owns Holm Works."]
    assert report.answer[0].citations
    assert any("writer's block" in line for line in report.limits)


async def test_what_is_missing_is_among_the_limits(tmp_path: Path) -> None:
    report, _ = await report_of(tmp_path, write_report=draft_of(missing=("since when",)))
    assert "Not answered: since when" in report.limits


@pytest.mark.parametrize(("pages", "told"), [(UNREAD, ""), (UNREAD + 1, "1 more page was"), (40, "32 more pages were")])
def test_of_many_unread_pages_some_are_named_and_the_rest_counted(tmp_path: Path, pages: int, told: str) -> None:
    deps = Rig(tmp_path).session().deps
    for number in range(pages):
        deps.not_read(f"https://x.example/{number:02} was not read (a login wall): nothing of it is used")
    notes = _notes(deps, ["tavily could not search"], ["since when"], 0)
    assert notes[:2] == ["tavily could not search", "Not answered: since when"]
    assert sum("login wall" in note for note in notes) == UNREAD
    assert notes[-1].startswith(told)
    assert len(notes) == 2 + UNREAD + bool(told)


async def test_the_report_is_the_same_whatever_happened_first(tmp_path: Path) -> None:
    hashes = set()
    for number in range(3):
        report, _ = await report_of(tmp_path / str(number))
        hashes.add(report.hash)
    assert len(hashes) == 1
