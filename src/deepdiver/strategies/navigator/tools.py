"""The tools of a hunt, one at a time, and the pages that may be read.

A page is read only if its address was in a search result, in a page that was read, or in the
person's own words. The model may choose among these and name no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Filters
from deepdiver.core.text import terms
from deepdiver.strategies.navigator import constraints, loops
from deepdiver.strategies.shared.base import Deps, State, Update, together
from deepdiver.strategies.shared.findings import SNIPPET, source_of
from deepdiver.tasks import NavigatorTool, PageAddress
from deepdiver.tools.address import canonical
from deepdiver.tools.fetch import fetch
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.registry import Provider
from deepdiver.tools.search_all import passes_filters, search_all
from deepdiver.tools.source_age import age_need_of

ADDRESSES = 200
"""The most addresses that are kept, enough for a long hunt; the oldest are dropped."""
OFFERED, LINKS = 8, 12
"""Addresses that are offered to be read, and addresses shown of one tool output."""
LATEST = 12
"""The latest facts, which tell which pages are close to the matter."""
_SAID = re.compile(r"https?://[^\s<>\"'“”]*[^\s<>\"'“”.,;:!?)\]]", re.IGNORECASE)


def list_searches(deps: Deps) -> tuple[str, ...]:
    """Return the names of the search tools."""
    return tuple(f"{loops.SEARCH}{provider.name}".lower() for provider in deps.providers)


def list_tools(deps: Deps) -> tuple[NavigatorTool, ...]:
    """Return everything that can be done next, as a task sees it."""
    found = [
        NavigatorTool(name=name, about=p.about)
        for name, p in zip(list_searches(deps), deps.providers, strict=True)
    ]
    if deps.settings.read_pages:
        found.append(NavigatorTool(name=loops.CRAWL, about="reads one whole page, one of the urls"))
    return (
        *found,
        NavigatorTool(
            name=loops.HAND_OVER,
            about="hands over to the person, with the answer or with what is missing",
        ),
    )


def provider_of(deps: Deps, action: str) -> Provider:
    """Return the provider behind a search tool."""
    return deps.providers[list_searches(deps).index(action)]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of a tool."""

    sources: tuple[str, ...] = ()
    """Ids of the sources that it brought."""
    addresses: tuple[dict[str, str], ...] = ()
    """Pages that it names."""
    failed: str = ""
    """Why it could not be used, if it could not."""


def limits_of(deps: Deps, state: State) -> Filters:
    """Return the filters of the next search: those of the settings, and what the person said."""
    return constraints.narrow(
        deps.settings.filters, state["initial_query"], state["feedback"], deps.as_of
    )


def find_unwanted(deps: Deps, state: State) -> set[str]:
    """Return the ids of known findings from sources that the person has ruled out since."""
    filters = limits_of(deps, state)
    known = [item["id"] for item in state["shared_memory"]]
    ignored = set(known) - set(deps.without_ignored(known))
    if filters == deps.settings.filters:
        return ignored
    held = [(key, source_of(deps, key)) for key in known]
    hits = [(key, Hit(url=source.url, published=source.published)) for key, source in held]
    return ignored | {key for key, hit in hits if not passes_filters(hit, filters)}


def describe_limits(deps: Deps, state: State) -> str:
    """Return in words what the person has restricted the searches to; empty: nothing."""
    return constraints.describe(limits_of(deps, state), deps.settings.filters)


async def use_search(
    deps: Deps, action: str, query: str, question: str, filters: Filters | None = None
) -> ToolOutput:
    """Search with one provider.

    Only the text in the result list is taken; a page is read when `use_crawl` asks for it.

    Args:
        deps: The run's dependencies.
        action: The search tool.
        query: What to search for.
        question: What the person asked.
        filters: What the search is restricted to; by default as in the settings.
    """
    gateway = deps.gateway if filters is None else deps.gateway.with_filters(filters)
    found = await search_all(query, [provider_of(deps, action)], gateway)
    if not found.answered:
        return ToolOutput(failed="; ".join(deps.note_limit(line) for line in found.failures))
    deps.note_search(query, (hit.title or hit.url for hit in found.hits))
    shown = [
        hit.model_copy(update={"complete": True}) if _is_page(hit) else hit for hit in found.hits
    ]
    sources = await _read_hits(deps, shown, question)
    listed = [
        make_address(hit.url, "search", hit.title)
        for hit in found.hits
        if _is_page(hit) and not hit.complete
    ]
    return ToolOutput(tuple(dict.fromkeys(sources)), tuple(listed))


async def use_crawl(deps: Deps, url: str, question: str) -> ToolOutput:
    """Read one whole page, and take the addresses that it links to."""
    hit = Hit(url=url, kind=SourceKind.PAGE, provider="crawl")
    sources = await _read_hits(deps, [hit], question)
    if not sources:
        return ToolOutput(failed=f"{url} could not be read")
    # Answered from the journal: it was read a moment ago.
    page = await fetch(url, deps.gateway)
    links = [Hit(url=link) for link in page.document.links]
    kept = [
        make_address(link.url, "link")
        for link in links
        if _is_page(link) and passes_filters(link, deps.settings.filters)
    ]
    return ToolOutput(tuple(sources), tuple(kept))


def _is_page(hit: Hit) -> bool:
    return hit.kind is SourceKind.PAGE and hit.url.lower().startswith(("http://", "https://"))


async def _read_hits(deps: Deps, hits: Iterable[Hit], question: str) -> list[str]:
    need, run = age_need_of(question, deps.as_of), deps.run
    work = (
        read_hit(hit, run.id, deps.store, deps.gateway, fetched=run.created, need=need)
        for hit in hits
        if not deps.is_ignored(hit.url)
    )
    readings = await together(*work)
    for reading in readings:
        if reading.limit:
            deps.note_unread(reading.limit)
    found = [reading.source for reading in readings if reading.source is not None]
    deps.add(*found)
    return [source.id for source in found]


def enter_output(state: State, output: ToolOutput) -> Update:
    """Return the update that enters the output of a tool into the state."""
    brought = {
        "sources": list(output.sources),
        "links": list(output.addresses),
        "failed": output.failed,
    }
    return {
        "raw_tool_output": brought,
        "addresses": add_addresses(state["addresses"], output.addresses),
    }


# Addresses


def make_address(url: str, found: str, title: str = "") -> dict[str, str]:
    """Return an address as the state carries it."""
    return {"url": url, "found": found, "title": " ".join(title.split())[:SNIPPET]}


def list_urls(text: str) -> list[str]:
    """Return the web addresses in a text."""
    return _SAID.findall(text)


def find_addresses(text: str) -> list[dict[str, str]]:
    """Return the addresses in a person's words."""
    return [make_address(url, "person") for url in list_urls(text)]


def add_addresses(
    held: Sequence[dict[str, str]], new: Iterable[dict[str, str]]
) -> list[dict[str, str]]:
    """Return addresses together with new ones, each page once; a person's own are never dropped."""
    once = {canonical(item["url"]): item for item in reversed((*held, *new))}
    listed = list(reversed(once.values()))
    own = [item for item in listed if item["found"] == "person"]
    return own + [item for item in listed if item["found"] != "person"][-ADDRESSES:]


def list_unread(deps: Deps, state: State) -> list[dict[str, str]]:
    """Return the pages that may be read and were not: the person's first, then the closest ones."""
    if not deps.settings.read_pages:
        return []
    done = {step["key"] for step in state["research_history"]}
    left = [
        item for item in state["addresses"] if loops.key_of(loops.CRAWL, item["url"]) not in done
    ]
    known = [item["statement"] for item in state["shared_memory"][-LATEST:]]
    asked = set(terms(" ".join((state["initial_query"], *state["feedback"], *known))))
    promising = {canonical(lead["text"]) for lead in state["leads"] if lead["kind"] == "url"}

    def rank(item: dict[str, str]) -> tuple[bool, bool, int]:
        near = asked & set(terms(f"{item['title']} {_words_of(item['url'])}"))
        return item["found"] != "person", canonical(item["url"]) not in promising, -len(near)

    return sorted(left, key=rank)


def _words_of(url: str) -> str:
    """Return the words of an address."""
    return re.sub(r"[\W_]+", " ", url.partition("://")[2])


def label_addresses(addresses: Iterable[dict[str, str]], most: int) -> tuple[PageAddress, ...]:
    """Return addresses as a task sees them."""
    listed = list(addresses)[:most]
    return tuple(
        PageAddress.model_validate({"id": f"U{n}", **item}) for n, item in enumerate(listed, 1)
    )
