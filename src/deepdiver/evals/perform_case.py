"""Doing one case of any kind, and returning its record, from which everything is scored.

An interrupted run is continued. A record holds plain JSON, and nothing that is not in the record of
the run itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from deepdiver.core import belief
from deepdiver.core.events import Event
from deepdiver.core.record import Finding, Report, Source
from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError, StoppedError, UnknownNameError, UsageError
from deepdiver.evals.cases import Case, Kind
from deepdiver.evals.insights import findable
from deepdiver.evals.judge import ask_judge
from deepdiver.evals.retrieval import ranker

SURE = 1.0
"""Credibility of the evidence for a claim: the truth of the evidence is not what is measured."""
SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}
"""The score of each verdict on a citation."""

CaseRecord = dict[str, Any]
"""The record of a case: `case`, `seconds`, `usd`, `error`, and the results of its kind."""


@dataclass(frozen=True, slots=True)
class CaseJob:
    """A case to do, with everything that a process needs for it."""

    kind: Kind
    """The kind of case."""
    case: Case
    """The case."""
    settings: Settings
    """The settings, with the home of the evaluation."""
    documents: Path | None
    """Folder of the documents to search; None: those of the settings."""
    started: Path
    """File that holds the id of the run from its start, so that it can be continued."""
    judge: str = ""
    """Model that judges the report as well; empty: none."""


def perform_case(job: CaseJob) -> CaseRecord:
    """Do a case and return its record; an error that concerns only this case is part of the record.

    Raises:
        UsageError: If the user must correct something, so that every other case would fail too.
        StoppedError: If the case was stopped.
    """
    began = time.monotonic()
    do = {Kind.RETRIEVAL: _rank, Kind.SUPPORT: _check, Kind.STANCE: _weigh}.get(job.kind, _research)
    record: CaseRecord = {"case": job.case.id, "error": ""}
    try:
        record |= do(job)
        if job.judge and "report" in record:
            report = Report.model_validate(record["report"])
            record |= asyncio.run(ask_judge(job.judge, job.kind, job.case, report, job.settings))
    except (UsageError, StoppedError):
        raise
    except DeepdiverError as error:
        record["error"] = f"{type(error).__name__}: {error}"
    return record | {"seconds": round(time.monotonic() - began, 3)}


# Runs


def _research(job: CaseJob) -> CaseRecord:
    from deepdiver.run import Outcome, research, resume
    from deepdiver.run.record import load_ledger
    from deepdiver.store import open_store

    settings, held = _run_settings(job), None
    if job.documents is not None:
        from deepdiver.tools.search.library import shelf

        held = shelf(settings)
        held.look()
        held.library.embed()  # all at once: together the questions need nearly all of it

    def note(event: Event) -> None:
        if event.type == "run_started":
            job.started.write_text(event.run, encoding="utf-8")

    async def work(begun: str) -> Outcome:
        if begun:
            with contextlib.suppress(UnknownNameError):  # it has been deleted: start again
                return await resume(begun, settings, out=out, store=store)
        return await research(job.case.question, settings, on_event=note, out=out, store=store)

    out = job.started.with_suffix("")
    store = open_store(settings)
    try:
        outcome = asyncio.run(work(_begun(job.started)))
        if outcome.error is not None:
            raise outcome.error
        ledger = load_ledger(store, outcome.run.id)
    finally:
        store.close()
    if outcome.report is None:
        raise DeepdiverError(
            f"run {outcome.run.id} is {outcome.run.status.value} and has no report"
        )
    job.started.unlink(missing_ok=True)
    return {
        "run": outcome.run.id,
        "report": outcome.report.model_dump(mode="json"),
        "hash": outcome.report.hash,
        "read": [source.url for source in ledger.of(Source).values()],
        "quotes": [
            quote.text for finding in ledger.of(Finding).values() for quote in finding.quotes
        ],
        "findable": [] if held is None else _findable(job.case, dict(_texts(held.library))),
        "usd": f"{outcome.cost:f}",
    }


def _run_settings(job: CaseJob) -> Settings:
    given: dict[str, Any] = {"approve": False}
    if job.case.as_of:
        given["as_of"] = date.fromisoformat(job.case.as_of)
    if job.documents is not None:
        given |= {"documents": (job.documents,), "search": ("library",)}
    return job.settings.model_copy(update=given)


def _begun(file: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return file.read_text(encoding="utf-8").strip()
    return ""


def _texts(library: Any) -> Iterator[tuple[str, str]]:
    for entry in library.documents():
        yield Path(entry.url).name, library.text(entry)


def _findable(case: Case, texts: dict[str, str]) -> list[str]:
    return [gold.id for gold in case.golds if findable(gold, texts.get(gold.file, ""))]


# Claims


def _check(job: CaseJob) -> CaseRecord:
    from deepdiver.tasks import CheckSupport, Claim

    claim = Claim(id="C1", text=job.case.question, quotes=job.case.evidence)
    answer, usd = asyncio.run(_perform_task(CheckSupport.of([claim]), job.settings))
    (check,) = [item for item in answer.checks if item.id == "C1"][:1] or [None]
    said = check.support if check is not None else "none"
    return {"said": "full" if said == "full" else "not", "score": SUPPORT[said], "usd": usd}


def _weigh(job: CaseJob) -> CaseRecord:
    from deepdiver.tasks import Judge, Rival, ShownFinding

    case = job.case
    shown = tuple(
        ShownFinding(
            id=f"F{at}", statement=text, quote=text, source=f"document {at}", credibility=SURE
        )
        for at, text in enumerate(case.evidence, 1)
    )
    as_of = case.as_of or date.today().isoformat()  # noqa: DTZ011  the day here is the user's
    rival = Rival(
        id="H1",
        hypothesis=case.question.rstrip("? "),
        answer_if_true="yes" if case.question.rstrip().endswith("?") else "",
    )
    asked = Judge(question=case.question, as_of=as_of, findings=shown, rivals=(rival,))
    answer, usd = asyncio.run(_perform_task(asked, job.settings))
    weighed = [
        belief.WeighedEvidence(
            item.stance, item.strength, SURE, "document" if case.one_origin else item.finding
        )
        for item in answer.judgements
    ]
    sure = belief.posterior(0.5, weighed)
    said = "neutral" if abs(sure - 0.5) < 1e-9 else "supports" if sure > 0.5 else "refutes"
    return {
        "said": said,
        "score": round(sure - 0.5, 6),
        "confidence": round(max(sure, 1 - sure), 6),
        "usd": usd,
    }


async def _perform_task(task: Any, settings: Settings) -> tuple[Any, str]:
    """Perform a task outside of any run; returns the answer and the cost."""
    from deepdiver.reason.choose import choose_reasoner
    from deepdiver.run.detached import detached_gateway

    spent: list[Decimal] = []

    def note(event: Event) -> None:
        if event.type == "call_ended":
            spent.append(event.cost)

    async with detached_gateway(settings, emit=note) as gateway:
        reasoner = choose_reasoner(settings, gateway, note)
        try:
            return await reasoner.perform(task), f"{sum(spent, Decimal(0)):f}"
        finally:
            if close := getattr(reasoner, "close", None):
                await close()


# Retrieval


def _rank(job: CaseJob) -> CaseRecord:
    from deepdiver.tools.search.library import shelf

    held = shelf(_run_settings(job))
    held.look()
    held.library.embed()
    return {"ranked": ranker(held.library)(job.case.question), "usd": "0"}


def record_line(record: CaseRecord) -> str:
    """Return a record as a line of JSON."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"
