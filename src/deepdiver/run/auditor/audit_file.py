"""Auditing a report that anybody wrote: read it, read what it cites, judge each sentence."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from deepdiver.core.record import Sentence, SentenceKind
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import (
    MISUSED,
    CallError,
    GatewayError,
    ReasonError,
    UnreadableError,
    UsageError,
)
from deepdiver.reason.choose import choose_reasoner
from deepdiver.report.audit import Context, find_faults
from deepdiver.report.cited_text import CitedText, Statement, read_cited_text, row_text
from deepdiver.report.shown_sums import WrongSum, ends_in_total, wrong_sums, wrong_totals
from deepdiver.run.auditor.cited_pages import ReadReference, fetch_cited, find_cited
from deepdiver.run.auditor.inner_conflicts import InnerConflict, find_inner_conflicts
from deepdiver.run.auditor.judge import CitedPage, Judged, Standing, Stated, judge
from deepdiver.run.detached import Errand, ignore_event, open_errand
from deepdiver.tasks import CheckSupport, CitedQuote, Claim
from deepdiver.tasks.task import Reasoner
from deepdiver.tools.extract import extract
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.plain_file import open_stream

MOST_ASKED = 20
"""Sentences that one request to a model checks."""
BY_MODEL = {
    "full": Standing.SUPPORTED,
    "partial": Standing.PARTLY,
    "none": Standing.NOT,
}
DENIES = 0.5
"""The reader's probability of a contradiction from which on what a model finds not supported is
contradicted: the model says that it is wrong, and the reader need only say in which way."""
BORROWED = "cited in its paragraph"
"""What is noted of a sentence that the citation beside it carries."""
ADDED = "the sum of the rows above it"
"""What is noted of a row of totals that come out: it states nothing that they do not."""
OWN = "in the evidence view, about the report itself"
"""What is noted of what a report of deepdiver tells about itself; `deepdiver verify` checks it."""
Tell = Callable[[str], None]
"""Takes a line about what is being done."""


@dataclass(frozen=True, slots=True)
class AuditedStatement:
    """A sentence of a report, and how it stands."""

    statement: Statement
    """The sentence."""
    judged: Judged
    """How it stands to what it cites."""
    sums: tuple[WrongSum, ...] = ()
    """Sums that it shows and that do not come out."""
    note: str = ""
    """What else there is to know about it."""


@dataclass(frozen=True, slots=True)
class ReportAudit:
    """The audit of a report."""

    name: str
    """The name of its file."""
    text: CitedText
    """The report as it was read."""
    statements: tuple[AuditedStatement, ...]
    """Its sentences and rows, in order."""
    references: Mapping[str, ReadReference]
    """What it cites, by key."""
    conflicts: tuple[InnerConflict, ...]
    """Statements that contradict each other, by their numbers."""
    totals: tuple[WrongSum, ...]
    """Totals of tables that do not come out."""
    judged_by: str
    """Who judged the sense: the reader, or a model."""
    as_of: str
    """The day of the audit."""

    def counts(self) -> Counter[Standing]:
        """Return how many sentences stand how."""
        return Counter(item.judged.standing for item in self.statements)

    @property
    def checked(self) -> int:
        """How many sentences state something."""
        return len(self.statements) - self.counts()[Standing.FRAME]

    @property
    def own(self) -> int:
        """How many sentences and rows speak of the report itself, and are not judged."""
        return sum(item.statement.own for item in self.statements)

    @property
    def share(self) -> float:
        """The part of the sentences that state something which is supported; 1 if none does."""
        return self.counts()[Standing.SUPPORTED] / self.checked if self.checked else 1.0

    def problems(self) -> dict[str, int]:
        """Return how many problems there are of each kind, in the words of `--fail-on`."""
        counts = self.counts()
        kinds = (Standing.CONTRADICTED, Standing.NOT, Standing.PARTLY, Standing.UNREACHABLE)
        return {
            **{kind.value: counts[kind] for kind in (*kinds, Standing.UNCITED)},
            "dangling": len(self.text.dangling),
            "invented": sum(item.gone for item in self.references.values()),
            "sums": sum(len(item.sums) for item in self.statements) + len(self.totals),
            "conflicts": len(self.conflicts),
        }


PROBLEMS = (
    *("contradicted", "not", "partly", "unreachable", "uncited"),
    *("dangling", "invented", "sums", "conflicts"),
)
"""The kinds of problems, as `ReportAudit.problems` names them."""


async def audit_file(
    path: Path, settings: Settings, *, sources: Path | None = None, tell: Tell = lambda line: None
) -> ReportAudit:
    """Audit a report.

    Args:
        path: Its file.
        settings: As for a run; with a model, that decides about the sense.
        sources: A folder with the pages that it cites; without it, they are fetched.
        tell: Receives a line about each step.

    Raises:
        UsageError: If the file or the folder cannot be read, or cites nothing and says nothing.
        CallError: If the model's key is refused, or nobody knows the model.
        StoreError: If the database of the home cannot be used.
    """
    as_of = settings.as_of.isoformat() if settings.as_of else datetime.now(UTC).date().isoformat()
    text = read_cited_text(await _read_file(path))
    if not text.statements:
        raise UsageError(f"{path} has no sentence to audit")
    async with open_errand(settings) as errand:
        cited = [text.references[key] for key in _cited_keys(text)]
        tell(f"{len(text.statements)} sentences cite {len(cited)} references")
        references = (
            await find_cited(cited, sources) if sources else await fetch_cited(cited, errand)
        )
        read = sum(item.page is not None for item in references.values())
        tell(f"{read} of {len(references)} could be read; judging")
        judged = await _judge(text, references, as_of)
        if settings.model != EMBEDDED:
            judged = await _ask_model(text, references, judged, settings, errand, as_of, tell)
    said = [item for item in text.statements if not (item.row or item.own)]
    conflicts = await find_inner_conflicts([item.text for item in said])
    return ReportAudit(
        path.name,
        text,
        tuple(replace(item, sums=tuple(wrong_sums(item.statement.text))) for item in judged),
        references,
        tuple(InnerConflict(said[one.first].number, said[one.second].number) for one in conflicts),
        tuple(wrong for table in text.tables for wrong in wrong_totals(table.header, table.rows)),
        "the reader" if settings.model == EMBEDDED else settings.model,
        as_of,
    )


async def _read_file(path: Path) -> str:
    """Return the text of a report with its links in their places."""
    try:
        with await asyncio.to_thread(open_stream, path) as file:
            data = await asyncio.to_thread(file.read, LARGEST_FILE + 1)
        return (await extract(data, name=path.name, links=True)).text
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnreadableError as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _cited_keys(text: CitedText) -> list[str]:
    cited = dict.fromkeys(key for item in text.statements for key in item.cites)
    return [key for key in cited if key in text.references]


async def _judge(
    text: CitedText, references: Mapping[str, ReadReference], as_of: str
) -> list[AuditedStatement]:
    """Judge each statement by what it cites, or by what its paragraph cites beside it."""
    lent = _borrowed(text.statements)
    asked: dict[int, Stated] = {}
    for item in text.statements:
        keys = item.cites or lent.get(item.number, ())
        if not item.own and (pages := _pages(keys, references)):
            nearby = "\n".join(filter(None, (item.heading, item.before)))
            asked[item.number] = Stated(item.text, pages, nearby, text.title)
    judged = dict(zip(asked, await judge(list(asked.values()), as_of), strict=True))
    added = {
        row_text(table.header, table.rows[-1]) for table in text.tables if ends_in_total(table.rows)
    }
    return [
        AuditedStatement(item, Judged(Standing.FRAME), note=OWN if item.own else ADDED)
        if item.own or (item.row and item.text in added)
        else _stand(item, judged.get(item.number), text, references)
        for item in text.statements
    ]


def _pages(keys: Iterable[str], references: Mapping[str, ReadReference]) -> tuple[CitedPage, ...]:
    read = (references[key].page for key in keys if key in references)
    return tuple({page.url: page for page in read if page is not None}.values())


def _borrowed(statements: Sequence[Statement]) -> dict[int, tuple[str, ...]]:
    """Return what sentences without a citation may borrow: of the next, else of the last one.

    Many writers cite once for a paragraph.
    """
    found: dict[int, tuple[str, ...]] = {}
    for way in (statements, list(reversed(statements))):
        held: tuple[int, tuple[str, ...]] = (-1, ())
        for item in way:
            if item.cites:
                held = (item.paragraph, item.cites)
            elif held[0] == item.paragraph:
                found[item.number] = held[1]
    return found


def _stand(
    item: Statement,
    judged: Judged | None,
    text: CitedText,
    references: Mapping[str, ReadReference],
) -> AuditedStatement:
    """Return how a statement stands."""
    if item.cites and judged is not None:
        return AuditedStatement(item, judged)
    if item.cites:
        return AuditedStatement(item, Judged(Standing.UNREACHABLE, _why_unread(item, references)))
    if judged is not None and judged.standing is Standing.SUPPORTED and judged.nearest:
        return AuditedStatement(item, judged, note=BORROWED)
    frame = Sentence(text=item.text, kind=SentenceKind.FRAME)
    context = Context(nearby=f"{item.heading}\n{item.before}", question=text.title)
    faults = find_faults(frame, (), str, "", context)
    standing = Standing.UNCITED if faults and not item.text.endswith("?") else Standing.FRAME
    why = faults[0].replace("a finding", "a citation") if faults else ""
    return AuditedStatement(item, Judged(standing, why, "code" if why else ""))


def _why_unread(item: Statement, references: Mapping[str, ReadReference]) -> str:
    reasons = (
        f"[{key}] {references[key].reason if key in references else 'is defined nowhere'}"
        if len(item.cites) > 1 or key not in references
        else references[key].reason
        for key in item.cites
    )
    return "; ".join(reasons)


async def _ask_model(
    text: CitedText,
    references: Mapping[str, ReadReference],
    judged: Sequence[AuditedStatement],
    settings: Settings,
    errand: Errand,
    as_of: str,
    tell: Tell,
) -> list[AuditedStatement]:
    """Let a model decide about the sense of what code finds no fault with."""
    open_ = [
        item
        for item in judged
        if item.judged.nearest and item.judged.by != "code" and item.statement.cites
    ]
    reasoner = choose_reasoner(settings, errand.gateway, ignore_event)
    try:
        parts = [open_[at : at + MOST_ASKED] for at in range(0, len(open_), MOST_ASKED)]
        given = [
            await _checked(reasoner, part, references, text.title, as_of, tell) for part in parts
        ]
    finally:
        if close := getattr(reasoner, "close", None):
            await close()
    decided = {number: found for part in given for number, found in part.items()}
    return [_decide(item, decided, settings.model) for item in judged]


def _decide(
    item: AuditedStatement, decided: Mapping[int, tuple[str, str]], model: str
) -> AuditedStatement:
    if item.statement.number not in decided:
        return item
    support, reason = decided[item.statement.number]
    standing = BY_MODEL[support]
    if standing is Standing.NOT and item.judged.standing is Standing.CONTRADICTED:
        return item
    if standing is Standing.NOT and item.judged.denial >= DENIES:
        standing = Standing.CONTRADICTED
    return replace(item, judged=replace(item.judged, standing=standing, why=reason, by=model))


async def _checked(
    reasoner: Reasoner,
    part: Sequence[AuditedStatement],
    references: Mapping[str, ReadReference],
    subject: str,
    as_of: str,
    tell: Tell,
) -> dict[int, tuple[str, str]]:
    """Return what a model says of some statements; nothing if it fails."""
    credits = {
        read.page.url: read.page.credit for read in references.values() if read.page is not None
    }
    labels: dict[tuple[str, str], str] = {}
    claims = []
    for item in part:
        quotes = [(near.url, near.text) for near in item.judged.nearest]
        for quote in quotes:
            labels.setdefault(quote, f"Q{len(labels) + 1}")
        claims.append(
            Claim(
                id=f"S{item.statement.number}",
                text=item.statement.text,
                before=item.statement.before,
                cites=tuple(dict.fromkeys(labels[quote] for quote in quotes)),
                quotes=tuple(text for _, text in quotes),
            )
        )
    task = CheckSupport(
        quotes=tuple(
            CitedQuote(id=label, text=text, credit=credits.get(url, ""))
            for (url, text), label in labels.items()
        ),
        claims=tuple(claims),
        question=subject,
        as_of=as_of,
    )
    try:
        answer = await reasoner.perform(task)
    except (ReasonError, GatewayError) as error:
        if isinstance(error, CallError) and error.fault in MISUSED:
            raise  # a wrong key or name is for the caller to correct
        tell(f"no model's word on {len(part)} sentences: {error}")
        return {}
    return {
        int(check.id[1:]): (check.support, check.reason)
        for check in answer.checks
        if check.id[1:].isdecimal()
    }
