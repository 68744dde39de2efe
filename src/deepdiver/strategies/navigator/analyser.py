"""What is learnt from the output of a tool.

Findings that code has found in the sources, what they answer, and leads.

The shared memory of a hunt is what its state carries of this: facts (ids of findings, each with the
part of the question that it answers), pairs that say the same or contradict each other, and leads
that nobody has followed. Nothing of it is lost between passes; leads are kept with the run, for
runs to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from deepdiver.core import belief
from deepdiver.core.lead import Lead
from deepdiver.core.record import Finding, Source
from deepdiver.core.text import terms, words
from deepdiver.core.values import names
from deepdiver.strategies.navigator import disputes, loops
from deepdiver.strategies.navigator.tools import LINKS, label_addresses
from deepdiver.strategies.shared import summary
from deepdiver.strategies.shared.base import Deps, State, Update
from deepdiver.strategies.shared.look import (
    BATCH_BYTES,
    TEXT_CHARS,
    accept_finding,
    excerpt,
    find_nearest,
)
from deepdiver.tasks import AnalyseOutput, Analysis, Info, Part, Remembered, Text
from deepdiver.tools.address import canonical

LEADS = 60
"""Leads that are kept; the oldest of the others give way."""
CLOSE = 12
"""Known statements shown: those closest to the matter. More would make each step dearer than the
one before."""
LONGEST_LEAD = 120
"""Characters of a lead: a name or a query; a longer text is neither."""
FOREIGN = "Addresses that the reasoner named and that stand in no source were not taken."

Texts = Mapping[str, tuple[Source, str, str]]
"""What a tool brought, by label: source, whole text, and as much of it as is shown."""


def label_texts(deps: Deps, sources: Sequence[str], about: str) -> Texts:
    """Return what a tool brought; of many long texts each is shown in part."""
    most = min(TEXT_CHARS, BATCH_BYTES // max(1, len(sources)))
    held = [deps.ledger.get(Source, key) for key in sources]
    whole = [deps.store.texts.get(source.snapshot) for source in held]
    found = zip(held, whole, strict=True)
    return {f"T{n}": (s, text, excerpt(text, about, most)) for n, (s, text) in enumerate(found, 1)}


def show_texts(labels: Texts) -> tuple[Text, ...]:
    """Return the texts as a task is shown them."""
    return tuple(
        Text(
            id=label,
            title=source.title,
            publisher=source.publisher,
            published=source.published,
            text=part,
        )
        for label, (source, _, part) in labels.items()
    )


def find_closest(state: State, about: str) -> list[dict[str, Any]]:
    """Return what is known that comes closest to something, in the order in which it was learnt."""
    asked, held = set(terms(about)), state["shared_memory"]
    shares = [len(asked & set(terms(item["statement"]))) for item in held]
    best = sorted(range(len(held)), key=lambda n: (-shares[n], -n))[:CLOSE]
    return [held[n] for n in sorted(best)]


def show_memory(
    deps: Deps, items: Iterable[State]
) -> tuple[dict[str, str], tuple[Remembered, ...]]:
    """Return what is known as a task is shown it, and the finding behind each label."""
    labels: dict[str, str] = {}
    views = []
    for number, item in enumerate(items, 1):
        labels[f"F{number}"] = item["id"]
        source = deps.ledger.get(Source, deps.ledger.get(Finding, item["id"]).quotes[0].source)
        told = {"source": source.title, "published": source.published}
        views.append(Remembered(id=f"F{number}", statement=item["statement"], **told))
    return labels, tuple(views)


@dataclass(frozen=True, slots=True)
class CheckedAnalysis:
    """What an analysis brought, after code has looked at it."""

    facts: list[dict[str, Any]]
    """What is new: id, statement and the part of the question that it answers."""
    answers: dict[str, str]
    """What was known and is now said to answer a part."""
    same: list[list[str]]
    """Pairs of findings that say the same."""
    conflicts: list[list[str]]
    """Pairs that contradict each other."""
    leads: list[dict[str, str]]
    """What may lead on."""


def check_analysis(
    deps: Deps,
    said: Analysis,
    sources: Texts,
    known: Mapping[str, str],
    state: State,
    links: Sequence[dict[str, str]],
) -> CheckedAnalysis:
    """Take from an analysis what code can find in the sources; nothing else enters the ledger."""
    parts = {f"P{number}": part for number, part in enumerate(state["problems"], 1)}
    found: dict[str, tuple[Info, Finding]] = {}
    for number, item in enumerate(said.extracted_info, 1):
        part = parts.get(item.answers.strip(), "")
        about = part or find_nearest(item.statement, state["problems"])
        if (finding := accept_finding(deps, item, dict(sources), about)) is not None:
            found[f"E{number}"] = (item, finding)
    deps.add(*(finding for _, finding in found.values()))
    labels = {**known, **{label: finding.id for label, (_, finding) in found.items()}}
    same, conflicts = list[list[str]](), list[list[str]]()
    for item, finding in found.values():
        others = [labels[label.strip()] for label in item.confirms if label.strip() in labels]
        same += [[finding.id, other] for other in others if other != finding.id]
        for other in (
            labels[label.strip()] for label in item.contradicts if label.strip() in labels
        ):
            record = disputes.make_contradiction(
                deps, finding.id, other, said.inconsistencies_found or item.statement
            )
            if record is not None:
                deps.add(record)
                conflicts.append(list(record.findings))
    held = {item["id"] for item in state["shared_memory"]}
    told = {finding.id: parts.get(item.answers.strip(), "") for item, finding in found.values()}
    facts = [
        {"id": key, "statement": deps.ledger.get(Finding, key).statement, "answers": part}
        for key, part in told.items()
        if key not in held
    ]
    return CheckedAnalysis(
        facts,
        {k: p for k, p in told.items() if p},
        same,
        conflicts,
        _list_leads(deps, said, found, state, links),
    )


def _list_leads(
    deps: Deps,
    said: Analysis,
    found: Mapping[str, tuple[Info, Finding]],
    state: State,
    links: Sequence[dict[str, str]],
) -> list[dict[str, str]]:
    """Return what may lead on.

    Names beside the matter, suggestions, and addresses that stand in a source.
    """
    urls = [item["url"] for item in links]
    meant = [loops.find_permitted(url, urls) for url in said.new_potential_urls]
    if None in meant:
        deps.note_limit(FOREIGN)
    asked = set(words(state["initial_query"]))
    aside = [finding.statement for item, finding in found.values() if not item.answers.strip()]
    named = [name for text in aside for name in names(text) if not set(words(name)) <= asked]
    wished = [
        " ".join(text.split()) for text in said.suggestions_for_next_step if "://" not in text
    ]
    return [
        *({"kind": "url", "text": url} for url in meant if url),
        *({"kind": "query", "text": text} for text in wished if 0 < len(text) <= LONGEST_LEAD),
        *({"kind": "name", "text": name} for name in named if len(name) <= LONGEST_LEAD),
    ]


def add_leads(
    deps: Deps, held: Sequence[dict[str, str]], new: Iterable[dict[str, str]]
) -> list[dict[str, str]]:
    """Return leads with new ones, each once; they are kept with the run, for runs to come."""
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


def group_answers(state: State, out: set[str]) -> dict[str, list[str]]:
    """Return the findings that answer each part of the question, without those that are in dispute."""
    found: dict[str, list[str]] = {}
    for item in state["shared_memory"]:
        if item["answers"] in state["problems"] and item["id"] not in out:
            found.setdefault(item["answers"], []).append(item["id"])
    return found


def compute_confidence(deps: Deps, state: State) -> float:
    """Return what the evidence is worth.

    Belief in the answered parts, times the part of the question they are.
    """
    out = disputes.list_excluded(disputes.find_disputes(deps, state["conflicts"], state["same"]))
    found = group_answers(state, out)
    beliefs = [summary.compute_belief(deps, keys) for keys in found.values()]
    return round(belief.untested(beliefs, len(found) / max(1, len(state["problems"]))), 4)


def make_task(deps: Deps, state: State) -> tuple[AnalyseOutput, Texts, dict[str, str]]:
    """Return the task of reading what the last tool brought, the texts behind its labels, and the known findings."""
    decided, output = state["decision"], state["raw_tool_output"]
    about = f"{state['initial_query']} {decided['query_or_url']}"
    read = label_texts(deps, output["sources"], about)
    known, memory = show_memory(
        deps, find_closest(state, " ".join((about, *(part for _, _, part in read.values()))))
    )
    task = AnalyseOutput(
        initial_query=state["initial_query"],
        as_of=deps.as_of,
        problems=tuple(
            Part(id=f"P{number}", question=part) for number, part in enumerate(state["problems"], 1)
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


def enter_analysis(
    deps: Deps, state: State, said: Analysis | None, read: Texts, known: Mapping[str, str]
) -> Update:
    """Return the update that enters an analysis into the shared memory, and the step into the history."""
    decided, output = state["decision"], state["raw_tool_output"]
    new = (
        check_analysis(deps, said, read, known, state, output["links"])
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
        "analyzer_report": _report_of(said) if said else {},
        "iteration": state["iteration"] + 1,
    }
    sure = compute_confidence(deps, {**state, **update})
    action, what = decided["next_action"], decided["query_or_url"]
    step = {
        "pass": len(state["feedback"]) + 1,
        "action": action,
        "query_or_url": what,
        "about": "" if action == loops.CRAWL else find_nearest(what, state["problems"]),
        "key": loops.key_of(action, what),
        "by": decided["by"],
        "way": decided["way"],
        "why": decided["why"],
        "sources": len(output["sources"]),
        "found": len(new.facts),
        "confidence": sure,
        "confidence_score": said.confidence_score if said else 0.0,
        "failed": output["failed"],
    }
    return {
        **update,
        "confidence_score": sure,
        "research_history": [*state["research_history"], step],
    }


def _report_of(said: Analysis) -> dict[str, Any]:
    """Return the analyzer's report as a state carries it."""
    return {
        "assessment": said.assessment,
        "suggestions_for_next_step": list(said.suggestions_for_next_step),
        "confidence_score": said.confidence_score,
        "inconsistencies_found": said.inconsistencies_found or "",
    }
