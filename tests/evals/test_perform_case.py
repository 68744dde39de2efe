"""Doing one case.

What goes wrong stands in its record, what was cut off is gone on with, and each kind is done.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import Report, RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import CallError, CallFault, MissingKeyError, StoppedError, UsageError
from deepdiver.evals.cases import Case, Gold, Kind, Shelf, write_shelf
from deepdiver.evals.documents import Document
from deepdiver.evals.perform_case import CaseJob, perform_case, record_line
from deepdiver.reason.embedded import reasoner
from deepdiver.store import open_store
from deepdiver.tasks import Decide

DOCUMENTS = Shelf(
    (
        Document(
            "a",
            "Norda AB",
            "Norda AB is a ferry company in Malmö. Ann Lee is the director of Norda AB.",
        ),
        Document("b", "Lake", "The lake is cold in winter. In 2024 it froze for 40 days."),
    )
)
QUESTION = Case("1", "Who is the director of Norda AB?", ("Ann Lee",), support=("a",), shelf="s")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "evals"})


def job(
    tmp_path: Path,
    settings: Settings,
    case: Case = QUESTION,
    kind: Kind = Kind.ANSWERS,
    **more: Any,
) -> CaseJob:
    (tmp_path / "runs").mkdir(exist_ok=True)
    documents = write_shelf(DOCUMENTS, tmp_path / "files")
    return CaseJob(kind, case, settings, documents, tmp_path / "runs" / f"{case.id}.begun", **more)


# What goes wrong


def test_what_goes_wrong_with_one_case_stands_in_its_record(
    tmp_path: Path, settings: Settings
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = perform_case(CaseJob(Kind.ANSWERS, QUESTION, settings, empty, tmp_path / "1.begun"))
    assert done["error"].startswith("NoEvidenceError: no document under")
    assert done["case"] == "1"
    assert "report" not in done
    with closing(open_store(settings)) as store:  # nothing happened, so nothing is left behind
        assert store.runs.list_all() == []


def test_what_the_user_must_correct_ends_the_evaluation(tmp_path: Path, settings: Settings) -> None:
    named = settings.model_copy(update={"model": "nosuch:model"})
    with pytest.raises(UsageError):
        perform_case(job(tmp_path, named))
    with pytest.raises(MissingKeyError):
        perform_case(job(tmp_path, settings, judge="openai:gpt-x"))


def test_a_failed_call_is_no_reason_to_stop_and_a_person_is(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> Any:
        def do(_: CaseJob) -> Any:
            raise error

        return do

    monkeypatch.setattr(
        "deepdiver.evals.perform_case._rank",
        fail(CallError("the service is gone", CallFault.SERVER)),
    )
    assert (
        perform_case(job(tmp_path, settings, kind=Kind.RETRIEVAL))["error"]
        == "CallError: the service is gone"
    )
    monkeypatch.setattr("deepdiver.evals.perform_case._rank", fail(StoppedError("stopped")))
    with pytest.raises(StoppedError):
        perform_case(job(tmp_path, settings, kind=Kind.RETRIEVAL))
    monkeypatch.setattr("deepdiver.evals.perform_case._rank", fail(RuntimeError("a fault of ours")))
    with pytest.raises(RuntimeError):
        perform_case(job(tmp_path, settings, kind=Kind.RETRIEVAL))


# Runs


@pytest.mark.slow
def test_a_run_gives_its_record_and_is_not_done_twice(tmp_path: Path, settings: Settings) -> None:
    golds = (
        Gold("I1", "The lake froze for 40 days in 2024.", "b.md"),
        Gold("I2", "It froze for 41 days.", "b.md"),
    )
    case = Case(
        "1",
        QUESTION.question,
        QUESTION.answers,
        support=("a",),
        shelf="s",
        as_of="2026-11-15",
        golds=golds,
    )
    one = job(tmp_path, settings, case)
    done = perform_case(one)
    report = Report.model_validate(done["report"])
    assert (done["error"], report.status) == ("", RunStatus.ANSWERED)
    assert done["hash"] == report.hash
    assert report.hypotheses[0].hypothesis.answer == "Ann Lee"
    assert sorted(Path(url).stem for url in done["read"])[:1] == ["a"]
    assert any("Ann Lee" in quote for quote in done["quotes"])
    assert (done["findable"], done["usd"]) == (["I1"], "0")
    assert not one.started.exists()
    assert (tmp_path / "runs" / "1" / "report.json").is_file()
    assert "as of 2026-11-15" in report.made_by

    # Killed between the run's end and its record.
    one.started.write_text(done["run"], encoding="utf-8")
    again = perform_case(one)
    assert (again["run"], again["hash"]) == (done["run"], done["hash"])
    with closing(open_store(settings)) as store:
        assert len(store.runs.list_all()) == 1

    # Deleted meanwhile: begun anew.
    one.started.write_text("20260101-gone-00000000", encoding="utf-8")
    anew = perform_case(one)
    assert anew["run"] != done["run"]
    assert anew["hash"] == done["hash"], "the same over the same documents"


@pytest.mark.slow
def test_a_run_that_was_cut_off_is_gone_on_with(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = job(tmp_path, settings)

    def cut(_: Any) -> Any:
        raise KeyboardInterrupt

    changed: dict[Any, Any] = {**reasoner.PERFORMS, Decide: cut}
    monkeypatch.setattr(reasoner, "PERFORMS", changed)
    with pytest.raises(KeyboardInterrupt):
        perform_case(one)
    begun = one.started.read_text(encoding="utf-8")
    monkeypatch.undo()
    done = perform_case(CaseJob(one.kind, one.case, one.settings, one.documents, one.started))
    assert (done["run"], done["error"]) == (begun, "")


@pytest.mark.slow
def test_the_judge_is_asked_about_what_the_run_says(tmp_path: Path, settings: Settings) -> None:
    done = perform_case(job(tmp_path, settings, judge="embedded"))
    assert done["judged"].keys() == {"answer 1"}
    assert done["judge_usd"] == "0"


# Claims and queries


def test_a_claim_is_checked_against_its_evidence(tmp_path: Path, settings: Settings) -> None:
    quote = "The lighthouse was built in 1902 by the state."
    held = Case("1", "The lighthouse was built in 1902.", evidence=(quote,), label="full")
    other = Case("2", "The lighthouse was built in 1903.", evidence=(quote,), label="not")
    checked = [perform_case(job(tmp_path, settings, case, Kind.SUPPORT)) for case in (held, other)]
    assert [(item["said"], item["score"]) for item in checked] == [("full", 1.0), ("not", 0.0)]


def test_evidence_of_one_document_is_one_witness(tmp_path: Path, settings: Settings) -> None:
    said = ("The lighthouse was built in 1902.", "They say: the lighthouse was built in 1902.")
    many = Case("1", "The lighthouse was built in 1902.", evidence=said, label="supports")
    one = Case("2", many.question, evidence=said, label="supports", one_origin=True)
    two, single = (perform_case(job(tmp_path, settings, case, Kind.STANCE)) for case in (many, one))
    assert two["said"] == single["said"] == "supports"
    assert two["score"] > single["score"] > 0
    assert two["confidence"] == pytest.approx(0.5 + two["score"])
    none = perform_case(
        job(tmp_path, settings, Case("3", "Cats purr.", evidence=said), Kind.STANCE)
    )
    assert (none["said"], none["score"], none["confidence"]) == ("neutral", 0.0, 0.5)


@pytest.mark.slow
def test_documents_are_ranked(tmp_path: Path, settings: Settings) -> None:
    case = Case("1", "cold lake", gains={"b": 1.0}, shelf="s")
    assert perform_case(job(tmp_path, settings, case, Kind.RETRIEVAL))["ranked"][0] == "b"


def test_a_record_is_one_line() -> None:
    text = record_line({"case": "1", "b": "two\nlines \u2028", "a": 1})
    assert text.count("\n") == 1
    assert text.startswith('{"a"')
