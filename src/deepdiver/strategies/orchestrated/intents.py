"""Carrying out a planned search: its intent decides what is searched, read and judged.

- initial_exploration: its query and the nearest part of the question, read for the whole question;
  no leads.
- deep_dive: its query, read for the open question that it serves; the leads of the texts one hop
  on.
- fact_checking: sources of another address, host, publisher and origin than those of the finding,
  and whether they agree.
- related_topics: names in the findings, with the words of its query that no search had yet.
- synthesis: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from deepdiver.core.identity import content_id
from deepdiver.core.names import names
from deepdiver.core.origins import origins
from deepdiver.core.record import Hypothesis, Source, Stance
from deepdiver.core.text import STOPWORDS, stem, terms, words
from deepdiver.strategies.orchestrated.context import CONTENT_CHARS, SearchResult
from deepdiver.strategies.shared.base import Deps, LookResult, unite
from deepdiver.strategies.shared.findings import source_of
from deepdiver.strategies.shared.hypotheses import judge_all
from deepdiver.strategies.shared.look import (
    LEADS,
    drop_tried,
    look_into,
    relevance_of,
)
from deepdiver.strategies.shared.reading import excerpt, find_nearest
from deepdiver.strategies.shared.summary import Line
from deepdiver.tasks import KeyFinding, SearchIntent, SearchPlan, SearchPlans, SeenResult
from deepdiver.tools.address import canonical, host_of
from deepdiver.tools.hit import Hit

HOPS = 1
"""How often a deep dive follows leads."""
BESIDE = 2
"""Searches of one look at related topics."""
QUERIES = 1 + HOPS * LEADS
"""The most searches of one plan: a deep dive that leads on."""
READINGS = 1 + HOPS
"""The most looks of one plan."""
ALONE = "A search for sources of other origin found none: {}"
CONTESTED = "Checked against sources of other origin, {} for it and {} against it: {}"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known when a plan is carried out."""

    question: str
    """What the person asked."""
    parts: Sequence[str]
    """The parts of the question."""
    lines: Sequence[Line] = ()
    """The key findings."""
    shown: Sequence[str] = ()
    """The key findings that a reader is shown."""
    unanswered: Sequence[str] = ()
    """Open questions."""
    tried: Sequence[str] = ()
    """Searches that were made."""
    leads: Sequence[str] = ()
    """Names that nobody has looked up."""


@dataclass(frozen=True, slots=True)
class ExecutedPlan:
    """A plan that was carried out, and its result."""

    plan: SearchPlan
    """The plan."""
    looked: LookResult = field(default_factory=LookResult)
    """What was found."""
    checked: tuple[str, ...] = ()
    """Ids of the findings that were checked against other sources."""
    notes: tuple[str, ...] = ()
    """What the reader must know about the check."""


def choose_plans(
    answer: SearchPlans | None, question: str, tried: Iterable[str], most: int, *, first: bool
) -> tuple[list[SearchPlan], bool, str]:
    """Return the plans to carry out, whether they are the last, and why planning failed if so."""
    if answer is None:
        return [], False, "no plan could be had"
    listed = [
        plan for plan in answer.plans if plan.query.strip() or plan.intent is SearchIntent.SYNTHESIS
    ][:most]
    before = list(takewhile(lambda plan: plan.intent is not SearchIntent.SYNTHESIS, listed))
    ending = len(before) < len(listed)
    if first and not before:
        # There is nothing to synthesise before a search, and nothing was searched in vain.
        look = SearchPlan(
            intent=SearchIntent.INITIAL_EXPLORATION, query=question, reasoning="a first look"
        )
        return [look], False, ""
    new = drop_tried((plan.model_dump(mode="json") for plan in before), tried)
    plans = [SearchPlan.model_validate(plan) for plan in new]
    if plans or ending:
        return plans, ending, ""
    no_search = "every search of the plan was made before" if before else "it has no search"
    return [], False, answer.reason or no_search


async def carry_out(deps: Deps, plan: SearchPlan, held: Knowledge) -> ExecutedPlan:
    """Make one planned search, in the manner of its intent."""
    intent = plan.intent
    if intent is SearchIntent.SYNTHESIS:
        return ExecutedPlan(plan)
    if intent is SearchIntent.FACT_CHECKING and held.lines:
        return await check_finding(deps, plan, held)
    about, queries, hops = held.question, [plan.query], 0
    if intent is SearchIntent.DEEP_DIVE:
        about = find_nearest(f"{plan.query} {plan.reasoning}", held.unanswered or held.parts)
        hops = HOPS
    elif intent is SearchIntent.RELATED_TOPICS:
        queries = broaden(plan.query, held.tried, [*held.leads, *_names_in(held.lines)])
    else:
        # Also a check before anything was found: there is nothing to check yet.
        queries.append(find_nearest(plan.query, held.parts))
    looked = await look_into(
        deps, held.question, about, queries, held.shown, hops, unanswered=tuple(held.unanswered)
    )
    return ExecutedPlan(plan, looked)


def broaden(query: str, tried: Iterable[str], leads: Iterable[str]) -> list[str]:
    """Return searches for related topics: each new name with the words that no search had yet."""
    used = {term for made in tried for term in terms(made)}
    fresh = [
        word
        for word in dict.fromkeys(words(query))
        if word not in STOPWORDS and stem(word) not in used
    ]
    new = [lead for lead in dict.fromkeys(leads) if not set(terms(lead)) <= used][:BESIDE]
    made = [" ".join([lead, *(word for word in fresh if word not in words(lead))]) for lead in new]
    return made or ([" ".join(fresh)] if fresh else [])


def drop_looked_up(leads: Iterable[str], tried: Iterable[str]) -> list[str]:
    """Return the leads whose words were in no search together."""
    made = [set(terms(query)) for query in tried]
    return [lead for lead in leads if not any(set(terms(lead)) <= held for held in made)]


def _names_in(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in names(line.text)))


# -- checking


async def check_finding(deps: Deps, plan: SearchPlan, held: Knowledge) -> ExecutedPlan:
    """Look for other sources of the finding that a plan means, and judge whether they agree."""
    text = find_nearest(plan.query, [line.text for line in held.lines])
    line = next(line for line in held.lines if line.text == text)
    carriers = sources_of(deps, line.findings)
    looked = await look_into(
        deps,
        held.question,
        text,
        [plan.query],
        held.shown,
        unanswered=tuple(held.unanswered),
        wanted=independent_of(carriers),
    )
    if not looked.searched:
        return ExecutedPlan(plan, looked)
    found = unite(looked.findings, _known_from(deps, held, looked.sources))
    others = sources_of(deps, found)
    one_story = origins([*carriers, *others])
    told = {one_story[source.id] for source in carriers}
    new = [key for key in found if one_story[source_of(deps, key).id] not in told]
    claim = Hypothesis(
        id=content_id("h", text), statement=text, supports_if="", refutes_if="", prior=0.5
    )
    stances: dict[Stance, set[str]] = {stance: set() for stance in Stance}
    (judged,) = await judge_all(deps, held.question, [(claim, new)])
    for item in judged:
        stances[item.stance].add(one_story[source_of(deps, item.finding).id])
    agree, against = len(stances[Stance.SUPPORTS]), len(stances[Stance.REFUTES])
    note = CONTESTED.format(agree, against, text) if against else ""
    if not agree and not against and len(told) == 1:
        note = ALONE.format(text)
    return ExecutedPlan(plan, looked, line.findings, (note,) if note else ())


def _known_from(deps: Deps, held: Knowledge, sources: Collection[str]) -> list[str]:
    """Return the findings of sources that were read before: they count as much as new ones."""
    known = (key for line in held.lines for key in line.findings)
    return [key for key in known if source_of(deps, key).id in sources]


def independent_of(carriers: Iterable[Source]) -> Callable[[Hit], bool]:
    """Return a test for hits of another address, host and publisher than those of sources."""
    held = list(carriers)
    places = {canonical(source.url) for source in held}
    hosts = {host_of(source.url) for source in held} - {""}
    publishers = {_fold(source.publisher) for source in held} - {""}

    def independent(hit: Hit) -> bool:
        apart = canonical(hit.url) not in places and host_of(hit.url) not in hosts
        return apart and _fold(hit.publisher) not in publishers

    return independent


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()


def sources_of(deps: Deps, findings: Iterable[str]) -> list[Source]:
    """Return the sources of findings, each once."""
    sources = (source_of(deps, key) for key in findings)
    return list({source.id: source for source in sources}.values())


def count_voices(deps: Deps, findings: Iterable[str]) -> int:
    """Count the independent sources of findings: those of one origin or publisher are one."""
    held = sources_of(deps, findings)
    one_story = origins(held)
    who = {_fold(source.publisher) or host_of(source.url) or source.id for source in held}
    return min(len(set(one_story.values())), len(who))


def show_known(deps: Deps, lines: Iterable[Line], checked: Iterable[str]) -> tuple[KeyFinding, ...]:
    """Return key findings as the planning agent sees them."""
    seen = set(checked)
    return tuple(
        KeyFinding(
            statement=line.text,
            sources=count_voices(deps, line.findings),
            checked=not seen.isdisjoint(line.findings),
        )
        for line in lines
    )


# -- results


def results_of(
    deps: Deps, question: str, done: Sequence[ExecutedPlan], before: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Return the results of a round as the state carries them, the most relevant last.

    Each source comes once for each intent.
    """
    held = {(item["source"], item["search_intent"]) for item in before}
    made: list[dict[str, Any]] = []
    for item in done:
        for rank, key in enumerate(item.looked.sources, 1):
            if (key, item.plan.intent.value) not in held:
                held.add((key, item.plan.intent.value))
                source = deps.ledger.get(Source, key)
                text = f"{source.title}\n{deps.store.texts.get(source.snapshot)}"
                made.append(
                    {
                        "source": key,
                        "title": source.title,
                        "url": source.url,
                        "relevance_score": relevance_of(rank, question, text),
                        "search_intent": item.plan.intent.value,
                        "timestamp": source.fetched,
                    }
                )
    return sorted(made, key=lambda item: item["relevance_score"])


def add_content(deps: Deps, result: Mapping[str, Any], question: str) -> SearchResult:
    """Return a result of the state with its content from the store."""
    source = deps.ledger.get(Source, result["source"])
    content = excerpt(deps.store.texts.get(source.snapshot), question, CONTENT_CHARS)
    fields = {name: value for name, value in result.items() if name != "source"}
    return SearchResult(content=content[:CONTENT_CHARS], **fields)


def show_results(
    deps: Deps, question: str, results: Iterable[Mapping[str, Any]], lines: Iterable[Line] = ()
) -> tuple[SeenResult, ...]:
    """Return results as the planning agent sees them.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        results: The results of the state.
        lines: The key findings that are shown besides. What was found in a result stands there, so
            that its content would be read twice.
    """
    made, told = [], {source_of(deps, key).id for line in lines for key in line.findings}
    for item in results:
        result = add_content(deps, item, question)
        publisher = deps.ledger.get(Source, item["source"]).publisher
        made.append(
            SeenResult(
                title=result.title,
                publisher=publisher,
                intent=result.search_intent,
                relevance=result.relevance_score,
                content="" if item["source"] in told else result.content,
            )
        )
    return tuple(made)
