"""Reports without an answer: what the run could not do, and the nearest passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.outcomes import Research
from deepdiver.core.record import Finding, RunStatus, SentenceKind
from deepdiver.errors import BudgetError, CallError, CallFault, ReasonError
from deepdiver.gateway import Mode
from deepdiver.report.markdown import answer_text, render_markdown
from deepdiver.run.review import check_again
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.unanswered import (
    HEADING,
    PASSAGE_CHARS,
    PASSAGES,
    REASONS,
    explain,
    list_unmet,
    quote_nearest,
    research_of,
)
from tests.strategies.drafts import draft_of
from tests.strategies.rig import CORPUS, QUESTION, CorpusProvider, Rig, ScriptedReasoner, fail
from tests.strategies.shared.written import GAZETTE, OWNED


def nothing(task: tasks.ExtractFindings) -> tasks.Extraction:
    """Find nothing in any text."""
    return tasks.Extraction(findings=())


def down() -> CorpusProvider:
    """A provider that does not answer."""
    provider = CorpusProvider()
    provider.down = lambda query: True
    return provider


def deps_of(home: Path) -> Deps:
    return Rig(home).session().deps


async def read(home: Path, **rules: Any) -> tuple[Deps, tuple[str, ...]]:
    """Return the dependencies of a run that has looked once, and its findings."""
    deps = Rig(home, ScriptedReasoner(**rules)).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, ["Holm Works"])
    return deps, looked.findings


# What the run could do


def test_a_run_that_did_nothing_has_not_searched(tmp_path: Path) -> None:
    assert research_of(deps_of(tmp_path), (), ()) == Research(searched=False)


def test_a_search_that_answered_without_a_result_is_a_search(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_search("holm", ())
    assert research_of(deps, (), ()) == Research()


def test_pages_none_of_which_could_be_read_are_no_search(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_search("holm", ["A page"])
    deps.note_unread("https://a.example was not read (404): nothing of it is used")
    assert not research_of(deps, (), ()).searched


async def test_one_text_that_could_be_read_is_enough(tmp_path: Path) -> None:
    deps, _ = await read(tmp_path, extract_findings=nothing)
    deps.note_unread("https://a.example was not read (404): nothing of it is used")
    assert research_of(deps, (), ()) == Research()


@pytest.mark.parametrize(("findings", "disputed"), [(("f",), ()), ((), ("f",)), (("f",), ("g",))])
def test_what_was_found_is_found_though_it_is_disputed(
    tmp_path: Path, findings: tuple[str, ...], disputed: tuple[str, ...]
) -> None:
    research = research_of(deps_of(tmp_path), findings, disputed)
    assert (research.found, research.disputed) == (True, bool(disputed))


def test_a_task_that_failed_and_was_performed_later_is_no_failure(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_failure("judge", ReasonError("no JSON"))
    assert research_of(deps, (), ()).failed
    deps.done.add("judge")
    assert not research_of(deps, (), ()).failed


@pytest.mark.parametrize("task", ["check_support", "repair_sentences"])
def test_an_answer_can_do_without_the_checks_of_the_model(tmp_path: Path, task: str) -> None:
    deps = deps_of(tmp_path)
    deps.note_failure(task, ReasonError("no JSON"))
    assert not research_of(deps, (), ()).failed


def test_what_could_not_be_afforded_is_no_failure_of_the_model(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_search("holm", ())
    deps.note_failure("decompose", BudgetError("too dear"))
    assert research_of(deps, (), ()) == Research(), "the question itself was searched for"
    deps.note_failure("extract_findings", BudgetError("too dear"))
    assert research_of(deps, (), ()) == Research(searched=False), "nobody has read what was found"


# Why


def test_nothing_is_explained_where_the_outcome_says_it_all(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_limit("tavily could not search: 500")
    deps.note_failure("judge", ReasonError("no JSON"))
    told = {RunStatus.COULD_NOT_SEARCH, RunStatus.MODEL_FAILED}
    assert not [status for status in set(RunStatus) - told if explain(deps, status)]


def test_a_run_that_could_not_search_says_what_and_why(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    deps.note_limit("tavily could not search: the key was refused")
    deps.note_limit("exa could not search: no answer.")
    deps.note_unread("https://a.example was not read (404): nothing of it is used")
    deps.note_failure("decompose", ReasonError("no JSON"))
    deps.note_failure("extract_findings", BudgetError("extract findings was not sent"))
    told = explain(deps, RunStatus.COULD_NOT_SEARCH)
    assert [item.text for item in told] == [
        "exa could not search: no answer.",
        "tavily could not search: the key was refused.",
        "https://a.example was not read (404): nothing of it is used.",
        "extract findings was not sent.",
    ]
    assert {item.kind for item in told} == {SentenceKind.FRAME}


def test_a_model_that_failed_says_at_what_and_why_whichever_came_first(tmp_path: Path) -> None:
    errors = [CallError("503 overloaded", CallFault.SERVER), ReasonError("no JSON")]
    said = []
    for number, order in enumerate((errors, errors[::-1])):
        deps = deps_of(tmp_path / str(number))
        for error in order:
            deps.note_failure("extract_findings", error)
        deps.note_failure("decompose", ReasonError("empty"))
        deps.note_failure("judge", ReasonError("once"))
        deps.done.add("judge")
        said.append([item.text for item in explain(deps, RunStatus.MODEL_FAILED)])
    assert (
        said[0]
        == said[1]
        == [
            "decompose failed: empty.",
            "extract findings failed: 503 overloaded.",
        ]
    )


def test_not_more_reasons_are_told_than_a_reader_reads(tmp_path: Path) -> None:
    deps = deps_of(tmp_path)
    for number in range(20):
        deps.note_limit(f"{number} could not search")
    assert len(explain(deps, RunStatus.COULD_NOT_SEARCH)) == REASONS


# Plans of a person


async def test_a_sub_problem_of_a_person_on_which_nothing_was_found_is_named(
    tmp_path: Path,
) -> None:
    deps, findings = await read(tmp_path)
    plan = [QUESTION, "Who painted it?"]
    assert list_unmet(deps, plan, findings) == [], "nobody has approved it"
    deps.approve = True
    assert list_unmet(deps, plan, findings) == ["Nothing was found on: Who painted it?"]
    assert list_unmet(deps, plan, ()) == [f"Nothing was found on: {part}" for part in plan]
    assert list_unmet(deps, ["Another?"], findings) == [], "the strategy looks into other things"


# The nearest passages


async def test_findings_are_quoted_the_nearest_first_and_each_text_once(tmp_path: Path) -> None:
    deps, findings = await read(tmp_path)
    (section,) = quote_nearest(deps, QUESTION, [*findings, *findings])
    texts = [row[0].text for row in section.blocks[0].rows]
    assert section.heading == HEADING
    assert len(texts) == len(set(texts))
    assert f"“{OWNED}”" in texts
    for row in section.blocks[0].rows:
        (key,) = row[0].findings
        assert f"“{deps.ledger.get(Finding, key).quotes[0].text}”" == row[0].text
    (other,) = quote_nearest(deps, "Is Bertil Ask a trader?", findings)
    assert other.blocks[0].rows[0][0].text == f"“{GAZETTE}”"


async def test_without_findings_sentences_with_the_words_of_the_question_are_quoted(
    tmp_path: Path,
) -> None:
    deps, findings = await read(tmp_path, extract_findings=nothing)
    assert findings == ()
    (section,) = quote_nearest(deps, QUESTION, ())
    rows = section.blocks[0].rows
    assert 1 <= len(rows) <= PASSAGES
    for row in rows:
        (key,) = row[0].findings
        (quote,) = deps.ledger.get(Finding, key).quotes
        text = deps.store.texts.get(quote.passage.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text


async def test_texts_on_another_subject_have_no_nearest_passage(tmp_path: Path) -> None:
    deps, _ = await read(tmp_path, extract_findings=nothing)
    assert quote_nearest(deps, "How deep is the fjord of Narvik?", ()) == []
    assert quote_nearest(deps, "???", ()) == []


async def test_a_long_passage_is_shortened_where_it_is_printed(tmp_path: Path) -> None:
    long = f"Holm Works is owned by {'many and ' * 100}Anna Holm."
    provider = CorpusProvider({"doc:long": ("A register", CORPUS["doc:register"][1], long)})
    deps = Rig(tmp_path, ScriptedReasoner(extract_findings=nothing), provider).session().deps
    await look_into(deps, QUESTION, QUESTION, ["Holm Works"])
    (section,) = quote_nearest(deps, QUESTION, ())
    (row,) = section.blocks[0].rows
    assert len(row[0].text) == PASSAGE_CHARS + 2
    assert deps.ledger.get(Finding, row[0].findings[0]).quotes[0].text == long


# Whole runs


async def test_texts_that_do_not_answer_are_quoted_and_the_quotes_can_be_checked_and_replayed(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=nothing))
    outcome = await rig.work()
    assert outcome.report is not None
    assert outcome.run.status is RunStatus.NOT_ANSWERED
    text = render_markdown(outcome.report)
    assert f"## {HEADING}\n\n- “Holm Works is owned" in text
    assert outcome.report.citations
    assert check_again(rig.run.id, rig.store).faults == ()
    again = await rig.work(Mode.REPLAY)
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_a_search_that_is_down_and_a_model_that_fails_are_told_apart(tmp_path: Path) -> None:
    unsearched = await Rig(tmp_path / "a", provider=down()).work()
    failed = await Rig(tmp_path / "b", ScriptedReasoner(extract_findings=fail)).work()
    assert unsearched.report is not None
    assert failed.report is not None
    assert unsearched.run.status is RunStatus.COULD_NOT_SEARCH
    assert "corpus could not search: corpus is down." in answer_text(unsearched.report)
    assert failed.run.status is RunStatus.MODEL_FAILED
    assert "extract findings failed: the model is not in the mood." in answer_text(failed.report)
    for report in (unsearched.report, failed.report):
        assert "No evidence" not in render_markdown(report)
        assert report.title == ""


async def test_nothing_found_is_said_only_where_searches_worked(tmp_path: Path) -> None:
    rig = Rig(tmp_path, provider=CorpusProvider({}))
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.NO_EVIDENCE
    assert outcome.report is not None
    assert "**No evidence found.**" in render_markdown(outcome.report)


async def test_a_draft_that_says_nothing_leaves_the_passages(tmp_path: Path) -> None:
    outcome = await Rig(tmp_path, ScriptedReasoner(write_report=draft_of())).work()
    assert outcome.report is not None
    assert HEADING in [section.heading for section in outcome.report.sections]
