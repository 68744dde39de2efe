"""Recalling past runs: what they answered, accepted and refuted, and which searches helped.

What is recalled is a hint that the new run tests again. It does not enter the ledger, supports no
sentence of a report and cannot be cited. What stood on a quote that is not in the saved text any
more is left out, and so is what the user has had forgotten. Because it shows the reasoner of one
run what another has read (your documents), past runs are recalled only if `Settings.past` asks for
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from deepdiver.core.record import (
    Assessment,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Lead,
    Probability,
    Record,
    Report,
    Run,
    RunStatus,
    Source,
    Stance,
    Trial,
)
from deepdiver.core.text import terms
from deepdiver.errors import DamagedStoreError, StoreError, UnknownNameError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.store_threads import in_thread
from deepdiver.memory.forgotten import load_forgotten
from deepdiver.memory.relevance import relevant_runs
from deepdiver.memory.remembered import (
    days_between,
    findings_behind,
    quote_is_saved,
    run_day,
)
from deepdiver.store import CallState, JournalRow, Store
from deepdiver.tasks import RecalledFinding, RecalledRefutation, RecalledRun

PROVIDER = "memory"
"""Name of the provider in the journal."""
RUNS = 5
"""Most runs that are recalled."""
CLAIMS, QUERIES, SOURCES, LEADS = 4, 4, 4, 8
"""Most hypotheses of each kind, queries of each kind, sources and leads recalled of one run."""
CHARS = 240
"""Most characters of one text: a long sentence. The past run's own record has the rest."""
BYTES = 12_000
"""Most bytes of all that is recalled, as the reasoner sees it: a sixth of the longest prompt. The
least relevant runs are left out."""
TRIED = 3
"""Runs are read until `limit` of them were readable, or this many times as many were tried."""
SEARCHES = frozenset({"search", "tool", "mcp", "feed"})
"""Kinds of calls that can contain a query."""
_READ: dict[str, type[Record]] = {
    kind.__name__.lower(): kind for kind in (Source, Finding, Hypothesis, Evidence, Trial, Lead)
}


class PastSource(Record):
    """A source of an answer."""

    title: str
    """Its title."""
    url: str
    """Where it was."""
    credibility: Probability
    """How far it was believed."""


class PastRefutation(Record):
    """A hypothesis that was refuted."""

    statement: str
    """What it claimed."""
    by: str = ""
    """What spoke against it most strongly, in one line."""


class PastFinding(Record):
    """A finding that an answer stood on, checked again before it is offered."""

    id: str
    """Its id in the ledger of that run."""
    statement: str
    """What was found."""
    source: str
    """The title of its source."""
    url: str
    """Where that was."""
    published: str = ""
    """When it was published, if that is known."""


class PastLead(Record):
    """A lead that was not followed."""

    kind: Literal["name", "query", "url"]
    """A name to look up, words to search for, or an address from a source."""
    text: str
    """What to look into."""


class Recollection(Record):
    """A past run that bears on the question."""

    run: str
    """Its id."""
    question: str
    """What was asked."""
    date: str
    """The day that counted as today in that run, ISO 8601."""
    days: int
    """How old it is, in days, on the day that counts as today now."""
    status: RunStatus
    """How it ended."""
    answer: str = ""
    """The answer that was accepted; empty if none was."""
    confidence: Probability = 0.0
    """Belief in that answer then."""
    accepted: tuple[str, ...] = ()
    """Hypotheses that withstood the attempts to refute them."""
    refuted: tuple[PastRefutation, ...] = ()
    """Hypotheses that were refuted."""
    fruitful: tuple[str, ...] = ()
    """Queries that found a source of the answer, the most fruitful first."""
    fruitless: tuple[str, ...] = ()
    """Queries that were answered and found nothing that led to a finding."""
    sources: tuple[PastSource, ...] = ()
    """The sources of the answer."""
    leads: tuple[PastLead, ...] = ()
    """What it came across and did not follow."""
    findings: tuple[PastFinding, ...] = ()
    """What the answer stands on."""


async def recall(
    question: str,
    run: Run,
    store: Store,
    gateway: Gateway,
    limit: int = RUNS,
    note: Callable[[str], object] | None = None,
    only: str = "",
) -> list[Recollection]:
    """Return the past runs that bear on a question, the closest first.

    Finished runs that began before this one are searched. The answer is journalled: a resumed run
    and a replay recall the same, even if a past run was deleted since.

    Args:
        question: What is asked now.
        run: The run that asks.
        store: Where the past runs are.
        gateway: The run's door.
        limit: The most runs wanted.
        note: Called with a line about each past run that could not be read.
        only: Id of a run to recall instead, whatever its question was.

    Raises:
        GatewayError: If the journal has a failure or, in a replay, no answer.
    """

    async def do() -> Reply:
        home = gateway.settings.home
        return Reply(await in_thread(_look_back, question, run, store, home, limit, only))

    payload = {
        "question": question,
        "before": run.created,
        "limit": limit,
        **({"only": only} if only else {}),
    }
    reply = await gateway.call(
        Request("tool", PROVIDER, "past runs that bear on this", payload, fresh=True), do
    )
    if note is not None:
        for line in reply.value["notes"]:
            note(line)
    return [Recollection.model_validate(item) for item in reply.value["recollections"]]


def show_past_runs(past: Iterable[Mapping[str, Any]]) -> tuple[RecalledRun, ...]:
    """Return recollections of a graph's state as tasks see them, without ids and addresses."""
    return tuple(
        _view(f"P{number}", Recollection.model_validate(item))
        for number, item in enumerate(past, 1)
    )


def unfollowed_leads(past: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the leads that past runs did not follow, in the form of a graph's state."""
    held = [lead for item in past for lead in Recollection.model_validate(item).leads]
    return [{"kind": lead.kind, "text": lead.text} for lead in dict.fromkeys(held)]


def past_runs_note(past: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the line of a report that says which past runs were used, if any were."""
    told = [f"{item['run']} ({_age(item['days'])})" for item in past]
    if not told:
        return ()
    return (
        f"Not independent of past runs: hints were taken from {', '.join(told)}, tested anew, and "
        "none is cited.",
    )


def _age(days: int) -> str:
    return "of the same day" if days == 0 else f"{days} day{'s' if days != 1 else ''} old"


def _view(label: str, item: Recollection) -> RecalledRun:
    return RecalledRun(
        id=label,
        question=item.question,
        date=item.date,
        days=item.days,
        status=item.status,
        answer=item.answer,
        confidence=item.confidence,
        accepted=item.accepted,
        refuted=tuple(
            RecalledRefutation(statement=one.statement, by=one.by) for one in item.refuted
        ),
        fruitful=item.fruitful,
        fruitless=item.fruitless,
        sources=tuple(source.title for source in item.sources),
        leads=tuple(lead.text for lead in item.leads if lead.kind != "url"),
        findings=tuple(
            RecalledFinding(statement=one.statement, source=one.source, published=one.published)
            for one in item.findings
        ),
    )


def _look_back(
    question: str, run: Run, store: Store, home: Path, limit: int, only: str
) -> dict[str, Any]:
    """Return the recollections of the relevant runs, with notes on what was left out."""
    try:
        forgotten = load_forgotten(home, store)
        chosen = [only] if only else _relevant(question, run, store, forgotten)
    except StoreError as error:
        return {"recollections": [], "notes": [f"past runs could not be looked through: {error}"]}
    kept: list[Recollection] = []
    left_out: list[str] = []
    lost: list[str] = []
    size = 0
    for past in chosen[: TRIED * limit]:
        try:
            item, gone = recollect(past, run, store, forgotten)
        except (ValueError, DamagedStoreError, UnknownNameError):
            # The run is of another version, damaged, or was deleted just now.
            left_out.append(past)
            continue
        size += len(_view("P1", item).model_dump_json().encode("utf-8", "replace"))
        if len(kept) == limit or size > BYTES:
            break
        kept.append(item)
        lost += [past] if gone else []
    notes = []
    if left_out:
        told = ", ".join(left_out)
        notes.append(f"past runs left out because their record cannot be read: {told}")
    if lost:
        told = ", ".join(lost)
        notes.append(f"hints left out because their quotes are not in the saved texts: of {told}")
    return {"recollections": [item.model_dump(mode="json") for item in kept], "notes": notes}


def _relevant(question: str, run: Run, store: Store, forgotten: Collection[str]) -> list[str]:
    listed = [past for past in store.runs.list_past(run.id, "h_") if past.id not in forgotten]
    return [past.id for past in relevant_runs(question, listed)]


def recollect(
    past: str, run: Run, store: Store, forgotten: Collection[str] = ()
) -> tuple[Recollection, bool]:
    """Return what a run may learn from a past one, and whether something of it was lost.

    Args:
        past: The past run.
        run: The run that asks.
        store: The store of both.
        forgotten: Ids of findings and verdicts that are left out.

    Raises:
        ValueError: If the past run has no report, or this version cannot read its record.
        DamagedStoreError: If its saved data are damaged.
        UnknownNameError: If it no longer exists.
    """
    held, text = store.runs.get(past), store.records.report(past)
    if text is None:
        raise ValueError(f"{past} has no report")
    report = Report.model_validate_json(text)
    records = [
        _READ[kind].model_validate_json(data)
        for kind, _, data in store.records.ledger(past)
        if kind in _READ
    ]
    trusted = _Trusted(records, store, forgotten)
    day = run_day(held)
    answered = report.status is RunStatus.ANSWERED and trusted.all_of(
        id_ for sentence in report.answer for id_ in sentence.findings
    )
    rows = store.journal.rows(past)
    fruitful, fruitless = _queries(rows, report, records)
    item = Recollection(
        run=held.id,
        question=_short(held.question),
        date=day,
        days=days_between(day, run_day(run)),
        status=report.status,
        answer=_short(" ".join(sentence.text for sentence in report.answer)) if answered else "",
        confidence=report.confidence if answered else 0.0,
        accepted=tuple(
            _short(one.hypothesis.statement)
            for one in _of(report, HypothesisStatus.SUPPORTED)
            if trusted.assessed(one)
        ),
        refuted=tuple(
            _refutation(one, records)
            for one in _of(report, HypothesisStatus.REFUTED)
            if trusted.assessed(one)
        ),
        fruitful=fruitful,
        fruitless=fruitless,
        sources=_sources(report),
        leads=_leads(rows, records),
        findings=tuple(_findings(report, records, trusted)),
    )
    return item, trusted.lost


class _Trusted:
    """Which findings of a past run may be offered: those not forgotten whose quotes are saved."""

    def __init__(self, records: Sequence[Record], store: Store, forgotten: Collection[str]) -> None:
        self._findings = {one.id: one for one in records if isinstance(one, Finding)}
        self._store, self._forgotten = store, forgotten
        self.lost = False
        """Whether a quote is not in its saved text."""

    def all_of(self, ids: Iterable[str]) -> bool:
        """Return whether every one of some findings may be offered."""
        return all(self._one(id_) for id_ in dict.fromkeys(ids))

    def assessed(self, item: Assessment) -> bool:
        """Return whether a hypothesis may be offered: it and what it stands or falls on."""
        return item.hypothesis.id not in self._forgotten and self.all_of(findings_behind(item))

    def _one(self, id_: str) -> bool:
        if id_ in self._forgotten:
            return False
        finding = self._findings.get(id_)
        if finding is None or all(quote_is_saved(quote, self._store) for quote in finding.quotes):
            return True
        self.lost = True
        return False


def _findings(
    report: Report, records: Sequence[Record], trusted: _Trusted
) -> Iterator[PastFinding]:
    """Yield the findings that the answer stands on, in its order."""
    findings = {one.id: one for one in records if isinstance(one, Finding)}
    sources = {one.id: one for one in records if isinstance(one, Source)}
    cited = dict.fromkeys(id_ for sentence in report.answer for id_ in sentence.findings)
    for id_ in [id_ for id_ in cited if id_ in findings and trusted.all_of([id_])][:CLAIMS]:
        finding = findings[id_]
        if source := sources.get(finding.quotes[0].source):
            yield PastFinding(
                id=id_,
                statement=_short(finding.statement),
                source=_short(source.title),
                url=source.url,
                published=source.published,
            )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CHARS else flat[: CHARS - 1].rstrip() + "…"


def _of(report: Report, status: HypothesisStatus) -> list[Assessment]:
    """Return the hypotheses of one status, those with the clearest evidence first."""
    mine = [item for item in report.hypotheses if item.status is status]
    return sorted(mine, key=lambda item: (-abs(item.posterior - 0.5), item.hypothesis.id))[:CLAIMS]


def _refutation(item: Assessment, records: Sequence[Record]) -> PastRefutation:
    """Return a refuted hypothesis and the finding with the strongest judgement against it."""
    findings = {one.id: one for one in records if isinstance(one, Finding)}
    against = [
        one
        for one in records
        if isinstance(one, Evidence)
        and one.hypothesis == item.hypothesis.id
        and one.stance is Stance.REFUTES
    ]
    strongest = sorted(
        (one for one in against if one.finding in findings), key=lambda one: (-one.strength, one.id)
    )
    by = findings[strongest[0].finding].statement if strongest else ""
    return PastRefutation(statement=_short(item.hypothesis.statement), by=_short(by))


def _sources(report: Report) -> tuple[PastSource, ...]:
    """Return the sources that the answer cites, each once."""
    listed = {
        c.url: PastSource(title=_short(c.title), url=c.url, credibility=c.credibility)
        for c in _carrying(report)
    }
    return tuple(listed.values())[:SOURCES]


def _carrying(report: Report) -> list[Any]:
    """Return the citations of the answer; all of them if there is no answer."""
    numbers = {number for sentence in report.answer for number in sentence.citations}
    return [citation for citation in report.citations if not numbers or citation.number in numbers]


def _leads(rows: Sequence[JournalRow], records: Sequence[Record]) -> tuple[PastLead, ...]:
    """Return the leads that no search contained and whose page was not read, by id."""
    asked = [
        set(terms(row.what)) for row in rows if row.kind in SEARCHES and row.provider != PROVIDER
    ]
    read = {_page(row.what) for row in rows if row.kind == "fetch"}

    def followed(lead: Lead) -> bool:
        if lead.kind == "url":
            return _page(lead.text) in read
        return any(set(terms(lead.text)) <= query for query in asked)

    leads = [
        item
        for item in records
        if isinstance(item, Lead) and len(item.text) <= CHARS and not followed(item)
    ]
    return tuple(
        PastLead(kind=lead.kind, text=lead.text)
        for lead in sorted(leads, key=lambda lead: lead.id)[:LEADS]
    )


def _page(url: str) -> str:
    """Return an address without the parts that do not identify the page."""
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _queries(
    rows: Sequence[JournalRow], report: Report, records: Sequence[Record]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the queries that found the sources of the answer, and those that found nothing.

    What a query found is read from its journalled answer, whichever provider gave it: the answer
    has the address of the source, or the quote itself. Searches for refutations are left out,
    because to find nothing is a success for them. So are failed searches, which found nothing
    because they were not made.
    """
    carrying = {text for citation in _carrying(report) for text in (citation.url, citation.quote)}
    brought = _brought(rows, records, _useful_texts(records) | carrying)
    worth = {query: len(found & carrying) for query, found in brought.items()}
    fruitful = sorted((query for query in brought if worth[query]), key=lambda q: (-worth[q], q))
    fruitless = sorted(query for query, found in brought.items() if not found)
    return tuple(map(_short, fruitful[:QUERIES])), tuple(map(_short, fruitless[:QUERIES]))


def _brought(
    rows: Sequence[JournalRow], records: Sequence[Record], wanted: set[str]
) -> dict[str, set[str]]:
    """Return which of the wanted texts each query found, without searches for refutations."""
    refuting = {query for trial in records if isinstance(trial, Trial) for query in trial.queries}
    made = [row for row in rows if _answered_search(row) and row.what not in refuting]
    brought: dict[str, set[str]] = {row.what: set() for row in made}
    for row in made:
        held = list(_texts(json.loads(row.reply or "{}")["value"]))
        brought[row.what] |= {text for text in wanted if _stands(text, held)}
    return brought


def _useful_texts(records: Sequence[Record]) -> set[str]:
    """Return the quotes of all findings and the addresses of their sources."""
    urls = {source.id: source.url for source in records if isinstance(source, Source)}
    findings = [finding for finding in records if isinstance(finding, Finding)]
    quotes = [quote for finding in findings for quote in finding.quotes]
    return {text for quote in quotes for text in (urls.get(quote.source, ""), quote.text) if text}


def _answered_search(row: JournalRow) -> bool:
    """Whether a call was a search, other than one of past runs, and was answered."""
    search = row.kind in SEARCHES and row.provider != PROVIDER
    answered = row.state is CallState.SETTLED and bool(row.reply)
    return search and answered and row.what in _texts(json.loads(row.request))


def _stands(text: str, held: Iterable[str]) -> bool:
    """Whether a text is one of several texts or, if it has several words, part of one of them."""
    return any(text == one or (" " in text and text in one) for one in held)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
