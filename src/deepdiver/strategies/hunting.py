"""One tool at a time: what can be used, what it brings, which pages may be read, and what is learnt from it.

A page is read only if its address stood in a search result, in a page that was read, or in the person's own words. The
model may choose among these and name no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepdiver.core import belief
from deepdiver.core.events import Searched
from deepdiver.core.lead import Lead
from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.text import terms, words
from deepdiver.core.values import names
from deepdiver.strategies import disputes, loops, nodes, summary
from deepdiver.strategies.base import Deps, together
from deepdiver.tasks import Address, Analysis, Remembered, Text, Tool
from deepdiver.tools.address import canonical
from deepdiver.tools.fetch import fetch
from deepdiver.tools.hit import Hit
from deepdiver.tools.need import need_of
from deepdiver.tools.reading import read
from deepdiver.tools.registry import Provider
from deepdiver.tools.searching import search, wanted

ADDRESSES, LEADS = 200, 60
"""Addresses and leads that are kept: enough for every page of a long hunt; the oldest of the others give way."""
OFFERED, LINKS = 8, 12
"""Addresses that are offered to be read, and shown as what a tool brought."""
CLOSE = 12
"""Known statements shown: those closest to the matter. More would make each step dearer than the one before."""
LONGEST_LEAD = 120
"""Characters of a lead: a name or a query; a longer text is neither."""
FOREIGN = "Addresses that the reasoner named and that stand in no source were not taken."
_SAID = re.compile(r"https?://[^\s<>\"'“”]*[^\s<>\"'“”.,;:!?)\]]", re.IGNORECASE)

Held = Mapping[str, Any]
"""A part of a graph's state."""


def searches(deps: Deps) -> tuple[str, ...]:
    """Return the names of the search tools."""
    return tuple(f"{loops.SEARCH}{provider.name}".lower() for provider in deps.providers)


def tools(deps: Deps) -> tuple[Tool, ...]:
    """Return everything that can be done next."""
    found = [Tool(name=name, about=p.about) for name, p in zip(searches(deps), deps.providers, strict=True)]
    if deps.settings.read_pages:
        found.append(Tool(name=loops.CRAWL, about="reads one whole page, one of the urls"))
    return (*found, Tool(name=loops.HAND_OVER, about="hands over to the person, with the answer or with what is missing"))


def provider_of(deps: Deps, action: str) -> Provider:
    """Return who answers a search."""
    return deps.providers[searches(deps).index(action)]


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool brought."""

    sources: tuple[str, ...] = ()
    """Ids of what can be read of it."""
    addresses: tuple[dict[str, str], ...] = ()
    """Pages that it names."""
    failed: str = ""
    """Why it brought nothing, if it could not be used."""


async def use_search(deps: Deps, action: str, query: str, question: str) -> Output:
    """Search in one place; what the result list shows of a page is taken, the page itself only when it is asked for."""
    found = await search(query, [provider_of(deps, action)], deps.gateway)
    if not found.answered:
        return Output(failed="; ".join(deps.limited(line) for line in found.failures))
    deps.emit(Searched(query=query, titles=tuple(hit.title or hit.url for hit in found.hits)))
    shown = [hit.model_copy(update={"complete": True}) if _is_page(hit) else hit for hit in found.hits]
    sources = await _read(deps, shown, question)
    listed = [address(hit.url, "search", hit.title) for hit in found.hits if _is_page(hit) and not hit.complete]
    return Output(tuple(dict.fromkeys(sources)), tuple(listed))


async def use_crawl(deps: Deps, url: str, question: str) -> Output:
    """Read one page whole, and take the addresses that it points at."""
    hit = Hit(url=url, kind=SourceKind.PAGE, provider="crawl")
    sources = await _read(deps, [hit], question)
    if not sources:
        return Output(failed=f"{url} could not be read")
    page = await fetch(url, deps.gateway)  # answered from the journal: it was read a moment ago
    links = [Hit(url=link) for link in page.document.links]
    kept = [address(link.url, "link") for link in links if _is_page(link) and wanted(link, deps.settings.filters)]
    return Output(tuple(sources), tuple(kept))


def _is_page(hit: Hit) -> bool:
    return hit.kind is SourceKind.PAGE and hit.url.lower().startswith(("http://", "https://"))


async def _read(deps: Deps, hits: Iterable[Hit], question: str) -> list[str]:
    need, run = need_of(question, deps.as_of), deps.run
    work = (read(hit, run.id, deps.store, deps.gateway, fetched=run.created, need=need) for hit in hits)
    readings = await together(*work)
    for reading in readings:
        if reading.limit:
            deps.not_read(reading.limit)
    found = [reading.source for reading in readings if reading.source is not None]
    deps.add(*found)
    return [source.id for source in found]


# Addresses


def address(url: str, found: str, title: str = "") -> dict[str, str]:
    """Return an address as a state carries it."""
    return {"url": url, "found": found, "title": " ".join(title.split())[: nodes.SNIPPET]}


def said_by_person(text: str) -> list[dict[str, str]]:
    """Return the addresses that a person names."""
    return [address(url, "person") for url in _SAID.findall(text)]


def with_addresses(held: Sequence[dict[str, str]], new: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Return addresses with new ones, each page once; the person's own are never given up."""
    once = {canonical(item["url"]): item for item in reversed((*held, *new))}
    listed = list(reversed(once.values()))
    own = [item for item in listed if item["found"] == "person"]
    return own + [item for item in listed if item["found"] != "person"][-ADDRESSES:]


def unread(deps: Deps, state: Held) -> list[dict[str, str]]:
    """Return the pages that may be read and were not: the person's first, then the closest to what is asked."""
    if not deps.settings.read_pages:
        return []
    done = {step["key"] for step in state["research_history"]}
    left = [item for item in state["addresses"] if loops.key_of(loops.CRAWL, item["url"]) not in done]
    asked = set(terms(" ".join((state["initial_query"], *state["feedback"], *_statements(state)[-CLOSE:]))))
    promising = {canonical(lead["text"]) for lead in state["leads"] if lead["kind"] == "url"}

    def rank(item: dict[str, str]) -> tuple[bool, bool, int]:
        near = asked & set(terms(f"{item['title']} {_spelt(item['url'])}"))
        return item["found"] != "person", canonical(item["url"]) not in promising, -len(near)

    return sorted(left, key=rank)


def _spelt(url: str) -> str:
    """Return the words of an address."""
    return re.sub(r"[\W_]+", " ", url.partition("://")[2])


def labelled(addresses: Iterable[dict[str, str]], most: int) -> tuple[Address, ...]:
    """Return addresses as a task is shown them."""
    listed = list(addresses)[:most]
    return tuple(Address.model_validate({"id": f"U{n}", **item}) for n, item in enumerate(listed, 1))


# What is learnt


def texts(deps: Deps, sources: Sequence[str], about: str) -> dict[str, tuple[Source, str, str]]:
    """Return what a tool brought by label: source, whole text, and as much of it as is shown, all of them in part."""
    most = min(nodes.TEXT_CHARS, nodes.BATCH_BYTES // max(1, len(sources)))
    held = [deps.ledger.get(Source, key) for key in sources]
    whole = [deps.store.get_text(source.snapshot) for source in held]
    found = zip(held, whole, strict=True)
    return {f"T{n}": (s, text, nodes.excerpt(text, about, most)) for n, (s, text) in enumerate(found, 1)}


def shown(labels: Mapping[str, tuple[Source, str, str]]) -> tuple[Text, ...]:
    """Return the texts as a task is shown them."""
    return tuple(
        Text(id=label, title=source.title, publisher=source.publisher, published=source.published, text=part)
        for label, (source, _, part) in labels.items()
    )


def _statements(state: Held) -> list[str]:
    return [item["statement"] for item in state["shared_memory"]]


def closest(state: Held, about: str) -> list[dict[str, Any]]:
    """Return what is known that comes closest to something, in the order in which it was learnt."""
    asked, held = set(terms(about)), state["shared_memory"]
    shares = [len(asked & set(terms(item["statement"]))) for item in held]
    best = sorted(range(len(held)), key=lambda n: (-shares[n], -n))[:CLOSE]
    return [held[n] for n in sorted(best)]


def remembered(deps: Deps, items: Iterable[Held]) -> tuple[dict[str, str], tuple[Remembered, ...]]:
    """Return what is known as a task is shown it, and the finding behind each label."""
    labels: dict[str, str] = {}
    views = []
    for number, item in enumerate(items, 1):
        labels[f"F{number}"] = item["id"]
        source = deps.ledger.get(Source, deps.ledger.get(Finding, item["id"]).quotes[0].source)
        views.append(Remembered(id=f"F{number}", statement=item["statement"], source=source.title))
    return labels, tuple(views)


@dataclass(frozen=True, slots=True)
class Learnt:
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


def learnt(
    deps: Deps,
    said: Analysis,
    sources: Mapping[str, tuple[Source, str, str]],
    known: Mapping[str, str],
    state: Held,
    links: Sequence[dict[str, str]],
) -> Learnt:
    """Take from an analysis what code can find in the sources; nothing else enters the ledger."""
    parts = {f"P{number}": part for number, part in enumerate(state["problems"], 1)}
    found: dict[str, tuple[Any, Finding]] = {}
    for number, item in enumerate(said.extracted_info, 1):
        part = parts.get(item.answers.strip(), "")
        about = part or nodes.nearest(item.statement, state["problems"])
        if (finding := nodes.take_finding(deps, item, dict(sources), about)) is not None:
            found[f"E{number}"] = (item, finding)
    deps.add(*(finding for _, finding in found.values()))
    labels = {**known, **{label: finding.id for label, (_, finding) in found.items()}}
    same, conflicts = list[list[str]](), list[list[str]]()
    for item, finding in found.values():
        others = [labels[label.strip()] for label in item.confirms if label.strip() in labels]
        same += [[finding.id, other] for other in others if other != finding.id]
        for other in (labels[label.strip()] for label in item.contradicts if label.strip() in labels):
            record = disputes.contradiction(deps, finding.id, other, said.inconsistencies_found or item.statement)
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
    return Learnt(facts, {k: p for k, p in told.items() if p}, same, conflicts, _leads(deps, said, found, state, links))


def _leads(
    deps: Deps, said: Analysis, found: Mapping[str, tuple[Any, Finding]], state: Held, links: Sequence[dict[str, str]]
) -> list[dict[str, str]]:
    """Return what may lead on: names beside the matter, suggestions, and addresses that stand in a source."""
    urls = [item["url"] for item in links]
    meant = [loops.permitted(url, urls) for url in said.new_potential_urls]
    if None in meant:
        deps.limited(FOREIGN)
    asked = set(words(state["initial_query"]))
    aside = [finding.statement for item, finding in found.values() if not item.answers.strip()]
    named = [name for text in aside for name in names(text) if not set(words(name)) <= asked]
    wished = [" ".join(text.split()) for text in said.suggestions_for_next_step if "://" not in text]
    return [
        *({"kind": "url", "text": url} for url in meant if url),
        *({"kind": "query", "text": text} for text in wished if 0 < len(text) <= LONGEST_LEAD),
        *({"kind": "name", "text": name} for name in named if len(name) <= LONGEST_LEAD),
    ]


def with_leads(deps: Deps, held: Sequence[dict[str, str]], new: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Return leads with new ones, each once; they are kept with the run, for runs to come."""
    once = {(item["kind"], " ".join(words(item["text"])) or item["text"]): item for item in reversed((*held, *new))}
    listed = list(reversed(once.values()))[-LEADS:]
    deps.add(*(Lead.model_validate(Lead.of(item["kind"], item["text"])) for item in listed))  # type: ignore[arg-type]
    return listed


def unexplored(state: Held) -> list[dict[str, str]]:
    """Return the leads that no step has followed, the latest first."""
    done = [step["query_or_url"] for step in state["research_history"]]
    pages, queries = {canonical(text) for text in done}, [set(terms(text)) for text in done]

    def followed(lead: dict[str, str]) -> bool:
        own = set(terms(lead["text"]))
        return canonical(lead["text"]) in pages or any(own <= query for query in queries)

    return [lead for lead in reversed(state["leads"]) if not followed(lead)]


def answered(state: Held, out: set[str]) -> dict[str, list[str]]:
    """Return the findings that answer each part of the question, without those that are in dispute."""
    found: dict[str, list[str]] = {}
    for item in state["shared_memory"]:
        if item["answers"] in state["problems"] and item["id"] not in out:
            found.setdefault(item["answers"], []).append(item["id"])
    return found


def confidence(deps: Deps, state: Held) -> float:
    """Return what the evidence is worth: belief in the answered parts, times the part of the question they are."""
    out = disputes.kept_out(disputes.disputes(deps, state["conflicts"], state["same"]))
    found = answered(state, out)
    beliefs = [summary.believed(deps, keys) for keys in found.values()]
    return round(belief.untested(beliefs, len(found) / max(1, len(state["problems"]))), 4)
