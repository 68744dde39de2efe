"""What the strategies share.

Asking the reasoner, looking into something, showing findings, approving a plan.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from langgraph.types import interrupt

from deepdiver.core.events import FindingDropped, PlanProposed, Recalled, Searched
from deepdiver.core.identity import content_id
from deepdiver.core.origins import origins
from deepdiver.core.record import Finding, Passage, Quote, Source
from deepdiver.core.text import STOPWORDS, Span, locate, passages, terms, whole, words
from deepdiver.core.values import names
from deepdiver.errors import (
    CallError,
    CallFault,
    GatewayError,
    NotJournalledError,
    ReasonError,
    UsageError,
)
from deepdiver.memory.past import recall
from deepdiver.strategies.base import Deps, Looked, Update, together
from deepdiver.tasks import (
    Answer,
    Decompose,
    Extracted,
    ExtractFindings,
    Extraction,
    Shown,
    Task,
    Text,
)
from deepdiver.tasks import Recalled as Recollected
from deepdiver.tools.address import canonical
from deepdiver.tools.hit import Hit
from deepdiver.tools.need import need_of
from deepdiver.tools.reading import read
from deepdiver.tools.registry import Provider
from deepdiver.tools.searching import Found, search

A = TypeVar("A", bound=Answer)

TEXT_CHARS = 4_000
"""Of a longer text the best passages are shown, so many characters in all."""
BATCH_BYTES = 24_000
"""Texts shown in one reading: six whole ones, and well within every model's window."""
SHOWN_FINDINGS, SHOWN_BYTES = 80, 24_000
"""Findings shown in one task: those of the best sources, so many of them and so many bytes at most.
"""
KNOWN_BYTES = 8_000
"""What is already known, where it is only background."""
PROBLEMS = 5
"""Sub-problems of one plan."""
LEADS = 4
"""Leads followed from one reading; more would drown the question."""
SNIPPET = 200
"""Characters of a source's snippet in a state."""


def size_of(text: str) -> int:
    """Return the bytes of a text, which no tokenizer makes more tokens of."""
    return len(text.encode("utf-8", "replace"))


def within(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the first texts that fit into so many bytes together."""
    listed = list(texts)
    sizes = itertools.accumulate(size_of(text) for text in listed)
    return tuple(text for text, size in zip(listed, sizes, strict=True) if size <= most)


async def attempt(deps: Deps, task: Task[A]) -> A | None:
    """Perform a task; a failure is announced, and the strategy goes on without the answer."""
    try:
        return await deps.reasoner.perform(task)
    except NotJournalledError:
        raise
    except (ReasonError, GatewayError) as error:
        if isinstance(error, CallError) and error.fault in {CallFault.AUTH, CallFault.UNREACHED}:
            # A refused key or a model that is not there: the user acts, then resumes; nothing is
            # lost.
            raise
        deps.limited(f"{task.name().replace('_', ' ')} failed: {error}")
        return None


async def look_into(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    known: Iterable[str] = (),
    hops: int = 0,
    *,
    unanswered: Sequence[str] = (),
    wanted: Callable[[Hit], bool] | None = None,
    providers: Sequence[Provider] | None = None,
) -> Looked:
    """Search, read and extract; then follow the leads, `hops` times at most.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: What to search for.
        known: What is known already.
        hops: How often leads are followed.
        unanswered: Questions that are open; those that stay so come back.
        wanted: Says which hits are read; by default all.
        providers: Who is searched; by default all of the run's.
    """
    asked = deps.providers if providers is None else providers
    looked = await _look_once(deps, question, about, queries, known, unanswered, wanted, asked)
    total, tried = looked, {query.lower() for query in queries}
    for _ in range(hops):
        follow = [
            query
            for lead in looked.leads[:LEADS]
            if (query := lead_query(lead, about)).lower() not in tried
        ]
        if not follow:
            break
        tried |= {query.lower() for query in follow}
        statements = [deps.ledger.get(Finding, key).statement for key in total.findings]
        looked = await _look_once(
            deps, question, about, follow, [*known, *statements], looked.questions, wanted, asked
        )
        total = Looked(
            tuple(dict.fromkeys((*total.findings, *looked.findings))),
            looked.leads,
            (*total.queries, *looked.queries),
            total.searched or looked.searched,
            (*total.limits, *looked.limits),
            tuple(dict.fromkeys((*total.sources, *looked.sources))),
            looked.questions,
        )
    return total


def lead_query(lead: str, about: str) -> str:
    """Return the query that follows a lead.

    The name, and what the problem asks besides its own names.

    A lead that is a question is a query as it stands.
    """
    if lead.endswith("?"):
        return lead
    named = {word for name in names(about) for word in words(name)}
    rest = [word for word in words(about) if word not in STOPWORDS and word not in named]
    return " ".join([lead, *dict.fromkeys(rest)])


async def _look_once(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    known: Iterable[str],
    unanswered: Sequence[str],
    wanted: Callable[[Hit], bool] | None,
    providers: Sequence[Provider],
) -> Looked:
    queries = tuple(dict.fromkeys(query.strip() for query in queries if query.strip()))
    found = await together(*(search(query, providers, deps.gateway) for query in queries))
    for query, result in zip(queries, found, strict=True):
        if result.answered:
            deps.emit(
                Searched(query=query, titles=tuple(hit.title or hit.url for hit in result.hits))
            )
    limits = tuple(deps.limited(failure) for result in found for failure in result.failures)
    if wanted is not None:
        found = [replace(result, hits=tuple(filter(wanted, result.hits))) for result in found]
    looked = await take_in(deps, question, about, queries, found, known, unanswered)
    return replace(
        looked, queries=queries, searched=any(result.answered for result in found), limits=limits
    )


async def take_in(
    deps: Deps,
    question: str,
    about: str,
    queries: Sequence[str],
    found: Sequence[Found],
    known: Iterable[str] = (),
    unanswered: Sequence[str] = (),
) -> Looked:
    """Read what was found and extract what bears on the question.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        about: The part of it, or the statement, that is looked into.
        queries: What was searched for.
        found: What each query brought.
        known: What is known already.
        unanswered: Questions that are open.
    """
    texts = await _texts(deps, question, queries, found, about)
    shown = within(dict.fromkeys(known), KNOWN_BYTES)
    batches = _batches(texts)[: batches_of(deps.settings.filters.results)]
    readings = await together(
        *(_read_batch(deps, question, about, batch, shown, unanswered) for batch in batches)
    )
    return Looked(
        findings=tuple(dict.fromkeys(key for keys, _ in readings for key in keys)),
        leads=tuple(dict.fromkeys(lead for _, said in readings for lead in said.leads)),
        sources=tuple(source.id for source, _, _ in texts),
        questions=left_open(unanswered, [said.questions for keys, said in readings if keys]),
    )


def left_open(before: Sequence[str], after: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what is unanswered after some readings that found something.

    A question is answered if one of them no longer names it; what they raise anew comes last.
    """
    still = [question for question in before if all(question in said for said in after)]
    return tuple(
        dict.fromkeys(
            (*still, *(q for said in after for q in said if q not in before and q.strip()))
        )
    )


async def _texts(
    deps: Deps, question: str, queries: Sequence[str], found: Sequence[Found], about: str
) -> list[tuple[Source, str, str]]:
    """Read what was found, each place once: (source, whole text, what to show of it)."""
    wanted: dict[str, tuple[Hit, str]] = {}
    for query, result in zip(queries, found, strict=True):
        for hit in result.hits:
            wanted.setdefault(f"{canonical(hit.url)} {hit.snapshot or hit.text}", (hit, query))
    need = need_of(question, deps.as_of)
    readings = await together(
        *(
            read(hit, deps.run.id, deps.store, deps.gateway, fetched=deps.run.created, need=need)
            for hit, _ in wanted.values()
        )
    )
    listed: dict[str, tuple[Source, str, str]] = {}
    for (_, query), reading in zip(wanted.values(), readings, strict=True):
        if reading.limit:
            deps.not_read(reading.limit)
        if reading.source is not None and reading.source.id not in listed:
            listed[reading.source.id] = (
                reading.source,
                reading.text,
                excerpt(reading.text, f"{about} {query}"),
            )
    deps.add(*(source for source, _, _ in listed.values()))
    return list(listed.values())


def batches_of(results: int) -> int:
    """Return how often the reasoner reads at most for one look.

    What three queries bring, so many results each.
    """
    return -(-3 * results * TEXT_CHARS // BATCH_BYTES)


def excerpt(text: str, wanted: str, most: int = TEXT_CHARS) -> str:
    """Return a text, or of a long one its best passages in their order."""
    if len(text) <= most:
        return text
    asked = set(terms(wanted))
    ranked = sorted(
        passages(text), key=lambda span: (-len(asked & set(terms(span.of(text)))), span.start)
    )
    kept: list[Span] = []
    size = 0
    for span in ranked:
        size += span.end - span.start
        if size > most and kept:
            break
        kept.append(span)
    return "\n\n".join(span.of(text)[:most] for span in sorted(kept))


def _batches(texts: Sequence[tuple[Source, str, str]]) -> list[list[tuple[Source, str, str]]]:
    batches: list[list[tuple[Source, str, str]]] = []
    size = BATCH_BYTES
    for item in texts:
        size += size_of(item[2])
        if size > BATCH_BYTES:
            batches.append([])
            size = size_of(item[2])
        batches[-1].append(item)
    return batches


async def _read_batch(
    deps: Deps,
    question: str,
    about: str,
    batch: Sequence[tuple[Source, str, str]],
    known: tuple[str, ...],
    unanswered: Sequence[str],
) -> tuple[list[str], Extraction]:
    labels = {f"T{number}": item for number, item in enumerate(batch, 1)}
    shown = tuple(
        Text(
            id=label,
            title=source.title,
            publisher=source.publisher,
            published=source.published,
            text=part,
        )
        for label, (source, _, part) in labels.items()
    )
    answer = await attempt(
        deps,
        ExtractFindings(
            question=question, problem=about, texts=shown, known=known, unanswered=tuple(unanswered)
        ),
    )
    if answer is None:
        return [], Extraction(findings=())
    findings = [
        kept for item in answer.findings if (kept := take_finding(deps, item, labels, about))
    ]
    deps.add(*findings)
    return [finding.id for finding in findings], answer


def take_finding(
    deps: Deps, item: Extracted, labels: dict[str, tuple[Source, str, str]], about: str
) -> Finding | None:
    """Accept a finding only if code finds its quote in the source."""
    entry = labels.get(item.source.strip())
    span = locate(item.quote, entry[1]) if entry else None
    if entry is None or span is None:
        reason = (
            "its quote does not stand in the source"
            if entry
            else f"there is no text {item.source!r}"
        )
        deps.dropped.add(content_id("d", item.statement, item.source, item.quote))
        deps.emit(FindingDropped(statement=item.statement, reason=reason))
        return None
    source, text, _ = entry
    span = whole(span, text)
    passage = Passage(snapshot=source.snapshot, start=span.start, end=span.end)
    return Finding(
        id=content_id("f", item.statement, source.id, span.start, span.end),
        statement=item.statement,
        quotes=(Quote(source=source.id, passage=passage, text=span.of(text)),),
        about=about,
    )


def show_findings(deps: Deps, keys: Iterable[str]) -> tuple[dict[str, str], tuple[Shown, ...]]:
    """Return findings as a task sees them, and the id behind each label."""
    findings = [deps.ledger.get(Finding, key) for key in dict.fromkeys(keys)]
    sources = {f.id: deps.ledger.get(Source, f.quotes[0].source) for f in findings}
    best = sorted(findings, key=lambda f: -sources[f.id].credibility.score)[:SHOWN_FINDINGS]
    sizes = itertools.accumulate(size_of(f.statement) + size_of(f.quotes[0].text) for f in best)
    kept = {f.id for f, size in zip(best, sizes, strict=True) if size <= SHOWN_BYTES}
    findings = [f for f in findings if f.id in kept]
    one_story = origins(sources[f.id] for f in findings)
    labels: dict[str, str] = {}
    shown = []
    for number, finding in enumerate(findings, 1):
        source = sources[finding.id]
        labels[f"F{number}"] = finding.id
        shown.append(
            Shown(
                id=f"F{number}",
                statement=finding.statement,
                quote=finding.quotes[0].text,
                source=source.title,
                publisher=source.publisher,
                published=source.published,
                credibility=source.credibility.score,
                origin=one_story[source.id],
            )
        )
    return labels, tuple(shown)


def statements(deps: Deps, keys: Iterable[str]) -> list[str]:
    """Return what findings say, as far as it is background."""
    return list(
        within(
            (deps.ledger.get(Finding, key).statement for key in dict.fromkeys(keys)), KNOWN_BYTES
        )
    )


def digest_finding(deps: Deps, key: str) -> dict[str, Any]:
    """Return a finding as state and results carry it: small, and without the source's text."""
    finding = deps.ledger.get(Finding, key)
    source = deps.ledger.get(Source, finding.quotes[0].source)
    return {
        "id": finding.id,
        "statement": finding.statement,
        "quote": finding.quotes[0].text,
        "about": finding.about,
        "source": source.id,
        "title": source.title,
        "url": source.url,
        "credibility": source.credibility.score,
    }


def enter(state: Mapping[str, Any], deps: Deps, found: Sequence[Looked]) -> Update:
    """Return the update that enters what was found into the state."""
    held = {item["id"] for item in state["gathered_information"]}
    new = [
        key
        for key in dict.fromkeys(key for looked in found for key in looked.findings)
        if key not in held
    ]
    return {
        "gathered_information": state["gathered_information"]
        + [digest_finding(deps, key) for key in new],
        "tried": list(
            dict.fromkeys(
                (*state["tried"], *(query for looked in found for query in looked.queries))
            )
        ),
        "limits": list(
            dict.fromkeys((*state["limits"], *(line for looked in found for line in looked.limits)))
        ),
        "new_findings": state["new_findings"] + len(new),
    }


def question_of(state: Mapping[str, Any]) -> str:
    """Return the last question that stands in the messages.

    Raises:
        UsageError: If there is none.
    """
    asked = [
        text
        for m in state.get("messages", [])
        if m.type == "human" and (text := str(m.text).strip())
    ]
    if not asked:
        raise UsageError("the question is empty: ask something in a user message")
    return asked[-1]


async def parts_of(
    deps: Deps, question: str, objection: str = "", past: tuple[Recollected, ...] = ()
) -> list[str]:
    """Return the parts of a question; the question itself where it cannot be taken apart."""
    task = Decompose(
        question=question,
        as_of=deps.as_of,
        guidance=deps.settings.system_prompt,
        objection=objection,
        past=past,
    )
    answer = await attempt(deps, task)
    parts = dict.fromkeys(p.question for p in answer.problems) if answer else {}
    return list(parts)[:PROBLEMS] or [question]


def untried(queries: Iterable[dict[str, str]], tried: Iterable[str]) -> list[dict[str, str]]:
    """Return queries of other words than those made before and than each other.

    Their order makes no other query.
    """
    made = {frozenset(words(query)) for query in tried}
    kept = []
    for query in queries:
        if (own := frozenset(words(query["query"]))) and own not in made:
            made.add(own)
            kept.append(query)
    return kept


def nearest(query: str, parts: Sequence[str]) -> str:
    """Return the part of a question that a query shares most words with; of equals the first."""
    asked = set(terms(query))
    return max(parts, key=lambda part: len(asked & set(terms(part))))


def with_sources(
    sources: Sequence[dict[str, Any]], found: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return sources, as a state carries them, with those of findings as `digest_finding` gives them."""
    held = {source["id"]: source for source in sources}
    for item in found:
        own = {name: item[name] for name in ("title", "url", "credibility")}
        held.setdefault(
            item["source"], {"id": item["source"], **own, "snippet": item["quote"][:SNIPPET]}
        )
    return list(held.values())


def waves(problems: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[list[int]]:
    """Order problems into waves: each stands in the first wave behind all that it needs.

    A circle is cut.
    """
    place: dict[str, int] = {}
    for (
        problem
    ) in problems:  # a need that comes later in the list is ignored, which cuts every circle
        place[problem] = 1 + max(
            (place[other] for other in needs.get(problem, ()) if other in place), default=-1
        )
    return [
        [number for number, problem in enumerate(problems) if place[problem] == wave]
        for wave in range(max(place.values(), default=-1) + 1)
    ]


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person said to a plan."""

    problems: list[str]
    """The sub-problems to look into, as the person wants them."""
    edited: bool = False
    """Whether they are the person's own."""
    objection: str = ""
    """Why the plan is to be made anew; empty where it is to be followed."""


def approve(
    deps: Deps,
    question: str,
    problems: Sequence[str],
    *,
    objectives: Sequence[str] = (),
    queries: Sequence[str] = (),
) -> Approval:
    """Show a plan to a person, if one wants to see it; what the person says is obeyed.

    Raises:
        UsageError: If the answer is none.
    """
    plan = {"objectives": list(objectives), "problems": list(problems), "queries": list(queries)}
    deps.emit(
        PlanProposed(problems=tuple(problems), objectives=tuple(objectives), queries=tuple(queries))
    )
    if not deps.approve:
        return Approval(plan["problems"])
    shown = {name: listed for name, listed in plan.items() if listed or name == "problems"}
    reply = interrupt(
        {"ask": "approve_plan", "question": question, **shown, "ceiling": deps.ceiling}
    )
    action = reply.get("action") if isinstance(reply, dict) else None
    if action == "accept":
        return Approval(plan["problems"])
    if action == "edit":
        listed = [
            text for item in reply.get("problems", []) if (text := str(item).strip())
        ] or plan["problems"]
        for left_out in listed[PROBLEMS:]:
            deps.limited(f"a plan has {PROBLEMS} sub-problems at most; left out: {left_out}")
        return Approval(listed[:PROBLEMS], edited=True)
    if action == "reject":
        return Approval([], objection=str(reply.get("reason") or "the person did not say why"))
    raise UsageError(
        "a plan is answered with action accept, edit (and problems) or reject (and a reason)"
    )


async def approve_plan(state: Mapping[str, Any], deps: Deps) -> Update:
    """Show the sub-problems to a person, if one wants to see them."""
    said = approve(deps, state["original_question"], state["decomposed_problems"])
    if not said.edited:
        return {"objection": said.objection}
    return {
        "objection": "",
        "decomposed_problems": said.problems,
        "waves": [list(range(len(said.problems)))],
    }


async def recall_past(deps: Deps, question: str) -> list[dict[str, Any]]:
    """Return the past runs that bear on the question, if the person wants to build on them.

    Each is announced.

    They are hints for tasks to see (`memory.past.shown`), never evidence. Without them the run goes
    on. A run that looks deeper into another's report recalls that one and no other, unasked: the
    person has named it.
    """
    if not deps.settings.past and not deps.run.deepens:
        return []
    only = deps.run.deepens
    try:
        past = await recall(
            question, deps.run, deps.store, deps.gateway, note=deps.limited, only=only
        )
    except NotJournalledError:
        raise
    except GatewayError as error:
        deps.limited(f"past runs could not be looked through: {error}")
        return []
    for item in past:
        deps.emit(
            Recalled(run=item.run, question=item.question, days=item.days, status=item.status)
        )
    return [item.model_dump(mode="json") for item in past]
