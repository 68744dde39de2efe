"""Navigates by rules: what a tool's output answers, confirms or contradicts, and the next step.

The next step is, in this order: an address that the person named; what the person asked for after
the last answer (if that narrows the searches, the words of the question again); the words of the
question; then, as long as a part of the question has no answer, a page whose address or title is
about it, and a search for the part, with the names found so far in place of the question's
descriptions; a lead that nobody has followed, if the search goes in circles; and once each part is
answered, or was searched for in vain, the hand-over to the person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from deepdiver.core.text import terms, words
from deepdiver.reason.embedded.chain import Candidate, Step, follow_chain
from deepdiver.reason.embedded.clause import VALUES, Kind
from deepdiver.reason.embedded.clause_values import same_value
from deepdiver.reason.embedded.extract import extract
from deepdiver.reason.embedded.hypothesise import same_subject
from deepdiver.reason.embedded.names import same_name
from deepdiver.reason.embedded.query import keywords, write_queries
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.reflect import reflect
from deepdiver.tasks import (
    AnalyseOutput,
    Analysis,
    DecideAction,
    ExtractFindings,
    Info,
    NextAction,
    PageAddress,
    QuestionPart,
    Reflect,
    WriteQueries,
)

CRAWL, HAND_OVER, SEARCH = "crawl_url", "send_to_hitl", "search_"
MOST_SUGGESTIONS, MOST_URLS = 6, 12
"""The most entries of each kind in an analysis."""
SHARED = 2
"""Search terms that an address or its title must contain before the page is read without being
asked for."""

ASSESSMENT = "{} of {} parts of the question are answered by what is known."
AGE = "How old is {}?"
DISAGREE = "These do not go together: {} / {}"
NAMED_IT, SAID_IT, OPENS, OPEN, PROMISING, FOLLOWS, DONE, IN_VAIN = (
    "the person named this address",
    "the person asked for it",
    "the words of the question come first",
    "this part of the question has no answer yet: {}",
    "its address speaks of what is looked for",
    "nobody has followed this lead",
    "every part of the question is answered",
    "what is missing was searched for in vain",
)

Links = dict[int, set[int]]
"""Which sentences belong together, by number."""


def analyse_output(task: AnalyseOutput) -> Analysis:
    """Return the sentences that bear on the question, and how they relate to the known ones."""
    parts = {part.question: part.id for part in task.problems}
    known = [
        read_sentence(item.statement, item.source, "", item.published)
        for item in task.shared_memory
    ]
    about = _nearest(task.query_or_url, list(parts) or [task.initial_query])
    statements = tuple(item.statement for item in task.shared_memory)
    taken = extract(
        ExtractFindings(
            question=task.initial_query,
            problems=(QuestionPart(id="P1", question=about),),
            texts=task.texts,
            known=statements,
        )
    )
    dated = {text.id: text for text in task.texts}
    new = [
        read_sentence(f.statement, (t := dated[f.source]).title, t.publisher, t.published)
        for f in taken.findings
    ]
    readings = [*known, *new]
    followed = _followed(task.initial_query, parts, readings)
    answering = _answering(followed, parts)
    confirms, contradicts = _compared(followed, readings)
    labels = [*(item.id for item in task.shared_memory), *(f"E{n}" for n in range(1, len(new) + 1))]
    info = tuple(
        Info(
            **found.model_dump(),
            answers=answering.get(n, ""),
            confirms=tuple(labels[other] for other in sorted(confirms.get(n, ())) if other < n),
            contradicts=tuple(
                labels[other] for other in sorted(contradicts.get(n, ())) if other < n
            ),
        )
        for n, found in enumerate(taken.findings, len(known))
    )
    missing = _missing(task.initial_query, task.as_of, list(parts), readings)
    apart = sorted(
        (other, n)
        for n, others in contradicts.items()
        for other in others
        if other < n >= len(known)
    )
    still = sum(part in missing for part in parts)
    done = 1.0 - len(missing) / max(1, len({*parts, *missing}))
    return Analysis(
        extracted_info=info,
        assessment=ASSESSMENT.format(len(parts) - still, len(parts)),
        confidence_score=round(max(0.0, done), 2),
        suggestions_for_next_step=(*missing, *taken.leads)[:MOST_SUGGESTIONS] if missing else (),
        new_potential_urls=tuple(
            _promising(task.links, [*missing, *taken.leads, task.initial_query])
        ),
        inconsistencies_found=DISAGREE.format(*(readings[n].text for n in apart[0]))
        if apart
        else None,
    )


def _missing(
    question: str, as_of: str, problems: Sequence[str], known: Sequence[Reading]
) -> list[str]:
    """Return the unanswered parts; an age that holds for another day than today does not count."""
    back = reflect(
        Reflect(
            question=question,
            as_of=as_of,
            problems=tuple(problems),
            known=tuple(reading.text for reading in known),
            iteration=1,
            max_iterations=2,
        )
    )
    steps = [
        step for chain in analyse_question(question).chains for step in follow_chain(chain, known)
    ]
    ages = [
        AGE.format(name)
        for step in steps
        if step.clause.kind is Kind.AGE
        for name in _without_day_of_birth(step)
    ]
    return list(dict.fromkeys((*back.missing, *ages)))


def _without_day_of_birth(step: Step) -> list[str]:
    exact = [item.subject for item in step.candidates if item.value.exact]
    return [name for name in step.holes if not any(same_name(name, other) for other in exact)]


def _followed(question: str, parts: Iterable[str], readings: Sequence[Reading]) -> list[Step]:
    """Return the steps of the question's clauses, and of each part that is not a clause."""
    analysis = analyse_question(question)
    clauses = {clause.text for clause in analysis.clauses}
    others = [
        chain
        for part in parts
        if part not in clauses
        for chain in analyse_question(part).chains[-1:]
    ]
    steps = [follow_chain(chain, readings) for chain in analysis.chains]
    # A part that is not a clause is answered only by the end of its chain; the steps before answer
    # clauses that nobody asked for.
    return [step for listed in steps for step in listed] + [
        follow_chain(chain, readings)[-1] for chain in others
    ]


def _answering(steps: Iterable[Step], parts: dict[str, str]) -> dict[int, str]:
    """Return the part that each sentence answers.

    If there are several, the last one counts: it is what the question is after.
    """
    found: dict[int, str] = {}
    for step in steps:
        label = parts.get(step.clause.text) or (
            next(iter(parts.values())) if len(parts) == 1 else ""
        )
        found |= {item.sentence: label for item in step.candidates if label}
    return found


def _compared(steps: Iterable[Step], readings: Sequence[Reading]) -> tuple[Links, Links]:
    """Return which sentences give the same value for the same thing, and which give another.

    Hearsay neither confirms nor contradicts anything.
    """
    confirms, contradicts = Links(), Links()
    for step in steps:
        for one, other in _comparable(step, readings):
            agree = same_value(step.clause.kind, one.value, other.value)
            if agree is not None:
                _link(confirms if agree else contradicts, one.sentence, other.sentence)
    # A sentence with several values may agree in one and differ in another; then it does not
    # confirm.
    return {n: others - contradicts.get(n, set()) for n, others in confirms.items()}, contradicts


def _comparable(step: Step, readings: Sequence[Reading]) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield the pairs of answers to a clause that are values of the same thing."""
    if step.clause.kind not in VALUES:
        return
    valued = [
        item for item in step.candidates if item.value.text and not readings[item.sentence].hearsay
    ]
    for one, other in combinations(valued, 2):
        if one.sentence != other.sentence and same_subject(one.subject, other.subject):
            yield one, other


def _link(links: Links, one: int, other: int) -> None:
    links.setdefault(one, set()).add(other)
    links.setdefault(other, set()).add(one)


def _promising(links: Iterable[PageAddress], wanted: Iterable[str]) -> Iterator[str]:
    """Yield the labels of the pages about what is searched for, the closest first."""
    sought = set(terms(" ".join(wanted)))
    near = [(_near(link, sought), link.id) for link in links]
    yield from [label for share, label in sorted(near, key=lambda item: -item[0]) if share][
        :MOST_URLS
    ]


def _near(link: PageAddress, sought: set[str]) -> int:
    spelt = "".join(c if c.isalnum() else " " for c in link.url.partition("://")[2])
    return len(sought & set(terms(f"{link.title} {spelt}")))


def _nearest(query: str, parts: Sequence[str]) -> str:
    asked = set(terms(query))
    return max(parts, key=lambda part: len(asked & set(terms(part))))


def decide_action(task: DecideAction) -> NextAction:
    """Return the next step that was not taken yet; the hand-over if there is none."""
    return next(_steps(task))


def _steps(task: DecideAction) -> Iterator[NextAction]:
    """Yield the possible steps, the best first; the last is the hand-over."""
    tried = {_normal(text) for text in task.tried}
    tools = [tool.name for tool in task.tools if tool.name.startswith(SEARCH)]
    search = _in_turn(tools, task)
    yield from _first_steps(task, tried, search)
    known = [read_sentence(text) for text in task.shared_memory]
    missing = _missing(task.initial_query, task.as_of, task.problems, known)
    # A part in dispute has no answer either.
    missing += [part for part in task.unanswered if part not in missing]
    if not missing:
        yield NextAction(next_action=HAND_OVER, reasoning=DONE)
    if task.detected and "lead" in task.detected:
        yield from _queries(task.leads, tried, search, FOLLOWS)
    if task.research_history and task.research_history[-1].action != CRAWL:
        yield from _crawls(_near_addresses(task, missing), PROMISING)
    for part in missing:
        yield from _queries(_written(task, part), tried, search, OPEN.format(part))
    yield from _queries(task.leads, tried, search, FOLLOWS)
    yield from _crawls(task.urls, FOLLOWS)
    yield NextAction(next_action=HAND_OVER, reasoning=IN_VAIN)


def _first_steps(task: DecideAction, tried: set[str], search: str) -> Iterator[NextAction]:
    """Yield what the person asked for, and at the beginning the words of the question."""
    own = [address for address in task.urls if address.found == "person"]
    yield from _crawls(own, NAMED_IT)
    if task.feedback and not task.iteration:
        again = [" ".join(keywords(task.initial_query))] if task.narrowed else []
        yield from _queries([*again, _wish(task)], tried, search, SAID_IT)
    if not task.research_history:
        yield from _queries([" ".join(keywords(task.initial_query))], tried, search, OPENS)


def _crawls(addresses: Iterable[PageAddress], why: str) -> Iterator[NextAction]:
    for address in addresses:
        yield NextAction(next_action=CRAWL, query_or_url=address.id, reasoning=why)


def _wish(task: DecideAction) -> str:
    """Return the person's last wish as a query, with the names of the question."""
    chains = analyse_question(task.initial_query).chains
    named = [name for chain in chains for clause in chain for name in clause.names]
    return " ".join(dict.fromkeys((*keywords(task.feedback[-1]), *named)))


def _near_addresses(task: DecideAction, missing: Iterable[str]) -> list[PageAddress]:
    """Return the addresses that share enough words with what is missing, the nearest first."""
    sought = set(terms(" ".join((*missing, *task.shared_memory[-3:]))))
    near = sorted(task.urls, key=lambda address: -_near(address, sought))
    return [address for address in near if _near(address, sought) >= SHARED]


def _written(task: DecideAction, part: str) -> tuple[str, ...]:
    wanted = WriteQueries(
        question=task.initial_query,
        problem=part,
        known=task.shared_memory,
        tried=task.tried,
        past=task.past,
        limit=4,
    )
    return write_queries(wanted).queries


def _queries(
    queries: Iterable[str], tried: set[str], search: str, why: str
) -> Iterator[NextAction]:
    for query in queries:
        if search and words(query) and _normal(query) not in tried:
            yield NextAction(next_action=search, query_or_url=query, reasoning=why)


def _in_turn(tools: Sequence[str], task: DecideAction) -> str:
    """Return the search tool: the last one as long as it finds something, else the next."""
    used = [step for step in task.research_history if step.action in tools]
    if not used or not tools:
        return tools[0] if tools else ""
    place = tools.index(used[-1].action)
    return tools[place] if used[-1].brought else tools[(place + 1) % len(tools)]


def _normal(query: str) -> str:
    return " ".join(sorted(set(terms(query))))
