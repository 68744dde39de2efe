"""From the output of a tool to findings, the parts of the question that they answer, and leads.

The shared memory of a hunt is in its state: facts (ids of findings, each with the part of the
question that it answers), pairs that say the same or contradict each other, and leads that nobody
has followed. It survives from pass to pass; leads are also kept with the run, for later runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from deepdiver.core import belief
from deepdiver.core.events import Reasoned
from deepdiver.core.names import names
from deepdiver.core.record import Finding, Lead, Source
from deepdiver.core.text import terms, words
from deepdiver.encoders.reader import load_reader
from deepdiver.errors import StoreError
from deepdiver.strategies.navigator import disputes, loops
from deepdiver.strategies.navigator.suggestions import list_searches, says_answered
from deepdiver.strategies.navigator.tools import (
    LINKS,
    describe_limits,
    find_unwanted,
    label_addresses,
    list_urls,
)
from deepdiver.strategies.shared import summary
from deepdiver.strategies.shared.base import Deps, State, Update
from deepdiver.strategies.shared.findings import ReadSource, resolve_labels, source_of
from deepdiver.strategies.shared.locate_statements import add_quotes
from deepdiver.strategies.shared.reading import (
    BATCH_BYTES,
    FREE_CHARS,
    PIECE_CHARS,
    accept_finding,
    excerpt_parts,
    find_nearest,
    show_texts,
)
from deepdiver.strategies.shared.statements import values_of
from deepdiver.tasks import (
    AnalyseOutput,
    Analysis,
    Info,
    QuestionPart,
    RememberedFinding,
)
from deepdiver.tools.address import canonical

LEADS = 60
"""The most leads that are kept; the oldest are dropped."""
CLOSE = 12
"""Known statements that are shown: the closest ones. With more, each step would cost more than the
one before."""
LONGEST_LEAD = 120
"""The most characters of a lead, which is a name or a query: a longer text is neither."""
FOREIGN = "Addresses that the reasoner named and that stand in no source were not taken."

Texts = Mapping[str, ReadSource]
"""The texts that a tool brought, by label."""


def label_texts(deps: Deps, sources: Sequence[str], about: str) -> Texts:
    """Return the texts of sources; if there are many long ones, each is shown in part."""
    longest = FREE_CHARS if deps.reasoner.is_free(AnalyseOutput) else PIECE_CHARS
    most = min(longest, BATCH_BYTES // max(1, len(sources)))
    labelled = {}
    for number, key in enumerate(sources, 1):
        source = deps.ledger.get(Source, key)
        text = deps.store.texts.get(source.snapshot)
        labelled[f"T{number}"] = ReadSource(source, text, excerpt_parts(text, about, most))
    return labelled


def find_closest(state: State, about: str) -> list[dict[str, Any]]:
    """Return the known facts that are closest to a text, in the order in which they were found."""
    asked, held = set(terms(about)), state["shared_memory"]
    shares = [len(asked & set(terms(item["statement"]))) for item in held]
    best = sorted(range(len(held)), key=lambda n: (-shares[n], -n))[:CLOSE]
    return [held[n] for n in sorted(best)]


def show_memory(
    deps: Deps, items: Iterable[State]
) -> tuple[dict[str, str], tuple[RememberedFinding, ...]]:
    """Return known facts as a task sees them, and the finding behind each label."""
    labels: dict[str, str] = {}
    views = []
    for number, item in enumerate(items, 1):
        labels[f"F{number}"] = item["id"]
        source = source_of(deps, item["id"])
        told = {"source": source.title, "published": source.published}
        views.append(RememberedFinding(id=f"F{number}", statement=item["statement"], **told))
    return labels, tuple(views)


@dataclass(frozen=True, slots=True)
class CheckedAnalysis:
    """An analysis after code has checked it against the sources."""

    facts: list[dict[str, Any]]
    """New facts: id, statement and the part of the question that each answers."""
    answers: dict[str, str]
    """The part of the question that each finding answers, by its id."""
    same: list[list[str]]
    """Pairs of findings that say the same."""
    conflicts: list[list[str]]
    """Pairs that contradict each other."""
    leads: list[dict[str, str]]
    """New leads."""
    lost: int = 0
    """Sentences that no passage carries."""


async def check_analysis(
    deps: Deps,
    said: Analysis,
    sources: Texts,
    known: Mapping[str, str],
    state: State,
    links: Sequence[dict[str, str]],
) -> CheckedAnalysis:
    """Return what code finds in the sources of an analysis; nothing else enters the ledger.

    Args:
        deps: The run's dependencies.
        said: The analysis.
        sources: The texts that it is of.
        known: The ids behind the labels of known findings.
        state: The state of the graph.
        links: Addresses that the texts name.
    """
    parts = {f"P{number}": part for number, part in enumerate(state["problems"], 1)}
    located = await add_quotes(deps, said.extracted_info, sources, state["initial_query"])
    found = _accept_findings(deps, located.items, sources, parts, state["problems"])
    labels = {**known, **{label: finding.id for label, (_, finding) in found.items()}}
    answers = {finding.id: parts.get(item.answers.strip(), "") for item, finding in found.values()}
    if calls_answered(said) and not any(answers.values()):
        answers |= await _assign_parts(deps, [*answers, *_unassigned(state)], state["problems"])
    held = [item["id"] for item in state["shared_memory"]]
    facts = [
        {"id": key, "statement": deps.ledger.get(Finding, key).statement, "answers": part}
        for key, part in answers.items()
        if key not in held
    ]
    conflicts = _enter_conflicts(deps, said, found.values(), labels)
    if said.inconsistencies_found and not any(item.contradicts for item in said.extracted_info):
        conflicts = _find_conflicts(deps, said.inconsistencies_found, list(answers), held)
    return CheckedAnalysis(
        facts=facts,
        answers={key: part for key, part in answers.items() if part},
        same=[
            [finding.id, other]
            for item, finding in found.values()
            for other in resolve_labels(item.confirms, labels)
            if other != finding.id
        ],
        conflicts=conflicts,
        leads=_list_leads(deps, said, found, answers, state, links),
        lost=located.lost,
    )


def _accept_findings(
    deps: Deps,
    listed: Sequence[Sequence[Info]],
    sources: Texts,
    parts: Mapping[str, str],
    problems: Sequence[str],
) -> dict[str, tuple[Info, Finding]]:
    """Enter what an analysis extracted and code finds in the sources.

    The entries are labelled E1, E2 and so on; further sentences of an entry are E1.2, E1.3.
    """
    found: dict[str, tuple[Info, Finding]] = {}
    for number, made in enumerate(listed, 1):
        for place, item in enumerate(made, 1):
            about = parts.get(item.answers.strip()) or find_nearest(item.statement, problems)
            finding = accept_finding(deps, item, sources, about)
            if finding is not None:
                found[f"E{number}.{place}" if place > 1 else f"E{number}"] = (item, finding)
    deps.add(*(finding for _, finding in found.values()))
    return found


def calls_answered(said: Analysis) -> bool:
    """Return whether an analysis says that the question is answered."""
    return any(map(says_answered, (said.assessment, *said.suggestions_for_next_step)))


def _unassigned(state: State) -> list[str]:
    """Return the known findings, if none of them is known to answer a part of the question."""
    memory = state["shared_memory"]
    return [] if any(item["answers"] for item in memory) else [item["id"] for item in memory]


async def _assign_parts(
    deps: Deps, findings: Sequence[str], problems: Sequence[str]
) -> dict[str, str]:
    """Return the part of the question that each finding is closest to, by its id.

    For an analysis that says that the question is answered, and not what answers which part. The
    reader compares the parts; that a finding answers one is for the analysis to say.
    """
    statements = [deps.ledger.get(Finding, key).statement for key in findings]
    if len(problems) < 2 or not findings:
        return dict.fromkeys(findings, problems[0]) if problems else {}
    try:
        near = await asyncio.to_thread(_read_relevance, tuple(problems), statements)
    except (StoreError, ImportError):
        return {
            key: find_nearest(text, problems)
            for key, text in zip(findings, statements, strict=True)
        }
    return {key: max(problems, key=lambda part: near[part][n]) for n, key in enumerate(findings)}


def _read_relevance(problems: Sequence[str], statements: Sequence[str]) -> dict[str, list[float]]:
    reader = load_reader()
    return {part: reader.relevance(part, statements) for part in problems}


def _enter_conflicts(
    deps: Deps, said: Analysis, found: Iterable[tuple[Info, Finding]], labels: Mapping[str, str]
) -> list[list[str]]:
    """Enter the contradictions that an analysis names and code can see; returns the pairs."""
    pairs = []
    for item, finding in found:
        description = said.inconsistencies_found or item.statement
        for other in resolve_labels(item.contradicts, labels):
            record = disputes.make_contradiction(deps, finding.id, other, description)
            if record is not None:
                deps.add(record)
                pairs.append(list(record.findings))
    return pairs


def _find_conflicts(
    deps: Deps, described: str, new: Sequence[str], held: Sequence[str]
) -> list[list[str]]:
    """Enter the contradictions that an analysis describes without naming the findings.

    They are between findings that can contradict, where the description has a value of each side.
    """
    known, pairs = [key for key in held if key not in new], []
    named = values_of(described)
    for number, one in enumerate(new):
        for other in (*new[:number], *known):
            mine, theirs = (
                values_of(deps.ledger.get(Finding, key).statement) for key in (one, other)
            )
            told = named & (mine - theirs) and named & (theirs - mine)
            record = disputes.make_contradiction(deps, one, other, described) if told else None
            if record is not None:
                deps.add(record)
                pairs.append(list(record.findings))
    return pairs


def _list_leads(
    deps: Deps,
    said: Analysis,
    found: Mapping[str, tuple[Info, Finding]],
    answers: Mapping[str, str],
    state: State,
    links: Sequence[dict[str, str]],
) -> list[dict[str, str]]:
    """Return new leads: addresses in the sources, suggestions, and names in side findings."""
    meant = find_meant(said, state, links)
    if None in meant:
        deps.note_limit(FOREIGN)
    asked = set(words(state["initial_query"]))
    aside = [
        finding.statement
        for item, finding in found.values()
        if not item.answers.strip() and not answers[finding.id]
    ]
    named = [name for text in aside for name in names(text) if not set(words(name)) <= asked]
    wished = list_searches(said.suggestions_for_next_step)
    return [
        *({"kind": "url", "text": url} for url in meant if url),
        *({"kind": "query", "text": text} for text in wished if len(text) <= LONGEST_LEAD),
        *({"kind": "name", "text": name} for name in named if len(name) <= LONGEST_LEAD),
    ]


def find_meant(said: Analysis, state: State, links: Sequence[dict[str, str]]) -> list[str | None]:
    """Return the pages that an analysis finds promising; None for one that may not be read.

    They are named in `new_potential_urls`, by label or address, and in suggestions ("Crawl URL:
    …").
    """
    urls = [item["url"] for item in links]
    held = [*urls, *(item["url"] for item in state["addresses"])]
    named = [url for text in said.suggestions_for_next_step for url in list_urls(text)]
    return [
        *(loops.find_permitted(url, urls) for url in said.new_potential_urls),
        *(loops.find_permitted(url, held) for url in named),
    ]


def add_leads(
    deps: Deps, held: Sequence[dict[str, str]], new: Iterable[dict[str, str]]
) -> list[dict[str, str]]:
    """Return leads together with new ones, each once, and keep them with the run for later runs."""
    once = {
        (item["kind"], " ".join(words(item["text"])) or item["text"]): item
        for item in reversed((*held, *new))
    }
    listed = list(reversed(once.values()))[-LEADS:]
    deps.add(*(Lead.of(cast("Any", item["kind"]), item["text"]) for item in listed))
    return listed


def list_unexplored(state: State) -> list[dict[str, str]]:
    """Return the leads that no step has followed, the latest first."""
    done = [step["query_or_url"] for step in state["research_history"]]
    pages, queries = {canonical(text) for text in done}, [set(terms(text)) for text in done]

    def followed(lead: dict[str, str]) -> bool:
        own = set(terms(lead["text"]))
        return canonical(lead["text"]) in pages or any(own <= query for query in queries)

    return [lead for lead in reversed(state["leads"]) if not followed(lead)]


def group_answers(state: State, excluded: set[str]) -> dict[str, list[str]]:
    """Return the findings that answer each part of the question, without the excluded ones."""
    found: dict[str, list[str]] = {}
    for item in state["shared_memory"]:
        if item["answers"] in state["problems"] and item["id"] not in excluded:
            found.setdefault(item["answers"], []).append(item["id"])
    return found


def find_excluded(deps: Deps, state: State) -> set[str]:
    """Return the ids of findings that the answer may not use: disputed, or not wanted any more."""
    return disputes.find_excluded(deps, state) | find_unwanted(deps, state)


def compute_confidence(deps: Deps, state: State) -> float:
    """Return the confidence: belief in the answered parts, times their share of the question."""
    found = group_answers(state, find_excluded(deps, state))
    beliefs = [summary.compute_belief(deps, keys) for keys in found.values()]
    return round(belief.answer_confidence(beliefs, len(found) / max(1, len(state["problems"]))), 4)


def make_task(deps: Deps, state: State) -> tuple[AnalyseOutput, Texts, dict[str, str]]:
    """Return the task of analysing the tool output, and the texts and findings of its labels."""
    decided, output = state["decision"], state["raw_tool_output"]
    about = f"{state['initial_query']} {decided['query_or_url']}"
    read = label_texts(deps, output["sources"], about)
    known, memory = show_memory(
        deps, find_closest(state, " ".join((about, *(text.shown for text in read.values()))))
    )
    task = AnalyseOutput(
        initial_query=state["initial_query"],
        as_of=deps.as_of,
        problems=tuple(
            QuestionPart(id=f"P{number}", question=part)
            for number, part in enumerate(state["problems"], 1)
        ),
        action=decided["next_action"],
        query_or_url=decided["query_or_url"],
        texts=show_texts(read),
        links=label_addresses(output["links"], LINKS),
        shared_memory=memory,
        feedback=tuple(state["feedback"]),
        guidance=deps.settings.system_prompt,
    )
    return task, read, known


async def enter_analysis(
    deps: Deps, state: State, said: Analysis | None, read: Texts, known: Mapping[str, str]
) -> Update:
    """Return the update that enters an analysis into the memory and a step into the history."""
    decided, output = state["decision"], state["raw_tool_output"]
    new = (
        await check_analysis(deps, said, read, known, state, output["links"])
        if said
        else CheckedAnalysis([], {}, [], [], [])
    )
    memory = [
        {**item, "answers": item["answers"] or new.answers.get(item["id"], "")}
        for item in state["shared_memory"]
    ]
    update: Update = {
        "shared_memory": [*memory, *new.facts],
        "same": [*state["same"], *(pair for pair in new.same if pair not in state["same"])],
        "conflicts": [
            *state["conflicts"],
            *(pair for pair in new.conflicts if pair not in state["conflicts"]),
        ],
        "leads": add_leads(deps, state["leads"], new.leads),
        "analyzer_report": _report_of(said, new, state, output["links"]) if said else {},
        "iteration": state["iteration"] + 1,
    }
    sure = compute_confidence(deps, {**state, **update})
    action, what = decided["next_action"], decided["query_or_url"]
    narrowed = describe_limits(deps, state) if action != loops.CRAWL else ""
    report = update["analyzer_report"]
    step = {
        "pass": len(state["feedback"]) + 1,
        "action": action,
        "query_or_url": what,
        "about": "" if action == loops.CRAWL else find_nearest(what, state["problems"]),
        "key": loops.key_of(action, what, narrowed),
        "narrowed": narrowed,
        "by": decided["by"],
        "way": decided["way"],
        "why": decided["why"],
        "note": decided.get("note", ""),
        "sources": len(output["sources"]),
        "found": len(new.facts),
        "lost": new.lost,
        "confidence": sure,
        "confidence_score": said.confidence_score if said else 0.0,
        "failed": output["failed"],
        "analyzer_report": {**report, "extracted_info": [item["id"] for item in new.facts]}
        if report
        else {},
    }
    if said:
        deps.emit(_trace(len(state["research_history"]) + 1, step, report))
    return {
        **update,
        "confidence_score": sure,
        "research_history": [*state["research_history"], step],
    }


def _report_of(
    said: Analysis, new: CheckedAnalysis, state: State, links: Sequence[dict[str, str]]
) -> dict[str, Any]:
    """Return the analyzer's report as the state carries it, with the keys of the design document.

    Of what was extracted and of the addresses it has what code has accepted.
    """
    meant = find_meant(said, state, links)
    return {
        "extracted_info": new.facts,
        "assessment": said.assessment,
        "confidence_score": said.confidence_score,
        "suggestions_for_next_step": list(said.suggestions_for_next_step),
        "new_potential_urls": list(dict.fromkeys(url for url in meant if url)),
        "inconsistencies_found": said.inconsistencies_found,
    }


def _trace(number: int, step: Mapping[str, Any], report: Mapping[str, Any]) -> Reasoned:
    """Return a step for the reasoning log."""
    lost = f", without a passage: {step['lost']}" if step["lost"] else ""
    clash = report["inconsistencies_found"]
    told = (
        report["assessment"],
        f"New findings: {step['found']}{lost}.",
        f"The analyzer's own confidence: {report['confidence_score']:.2f}.",
        f"Inconsistencies: {clash}" if clash else "",
    )
    return Reasoned(
        step_number=number,
        phase="analyzer_node",
        thought=step["query_or_url"],
        action=step["action"],
        observation=" ".join(filter(None, told)),
        conclusion="; ".join((*report["suggestions_for_next_step"], *report["new_potential_urls"])),
        confidence=step["confidence"],
    )
