"""Conjecture and refutation: putting hypotheses forward, trying to refute them, weighing both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from deepdiver.core import belief
from deepdiver.core.events import HypothesisProposed, HypothesisTested
from deepdiver.core.identity import content_id
from deepdiver.core.origins import origins
from deepdiver.core.record import (
    Assessment,
    Evidence,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Link,
    SourceKind,
    Stance,
    Trial,
)
from deepdiver.core.retraction import as_believed
from deepdiver.core.text import in_brief, size_of, terms, within, words
from deepdiver.strategies.shared.base import Deps, LookResult, State, attempt, unite
from deepdiver.strategies.shared.findings import (
    find_label,
    fit_findings,
    label_findings,
    resolve_labels,
    show_findings,
    source_of,
)
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.plan import drop_same
from deepdiver.strategies.shared.reading import is_read_whole, read_together
from deepdiver.strategies.shared.room import BRIEF, room_of
from deepdiver.tasks import (
    Hypothesise,
    HypothesisSet,
    HypothesisStanding,
    Judge,
    Judgement,
    Lesson,
    Proposed,
    RecalledRun,
    RefuteQueries,
    Rival,
    ShownTool,
    TestCall,
    ToolQuery,
)

REFUTATIONS = 2
"""Queries of one attempt to refute a hypothesis."""
TRIED_BYTES = 1_000
"""The most bytes of earlier queries that are shown, the latest first. One that is made again costs
nothing: its answer is in the journal, and what it finds was read."""
DECIDING = 3
"""Findings that a lesson of the experience pool names: the weightiest ones."""
UNSETTLED = frozenset({HypothesisStatus.OPEN, HypothesisStatus.UNDECIDED})


def standing_of(state: State) -> list[Assessment]:
    """Return the hypotheses that a graph's state carries as JSON."""
    return [Assessment.model_validate(item) for item in state["hypotheses"]]


@dataclass(frozen=True, slots=True)
class Conjectures:
    """Hypotheses that were put forward, and what came with them."""

    new: list[Assessment]
    """Those that are new."""
    queries: dict[str, tuple[ToolQuery, ...]]
    """The calls that the reasoner would make to test each, by its id."""
    searches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What to search for to refute each, by its id, as far as the reasoner has said so."""
    reasoning: tuple[str, ...] = ()
    """How the reasoner came to them."""
    thought: str = ""
    """What a model thought before it answered."""
    answered: bool = True
    """Whether an answer came."""


async def conjecture(
    deps: Deps,
    question: str,
    problems: Sequence[str],
    gathered: Sequence[str],
    standing: Sequence[Assessment],
    *,
    experience: Sequence[Mapping[str, Any]] = (),
    gaps: Sequence[str] = (),
    iteration: int,
    limit: int,
    past: tuple[RecalledRun, ...] = (),
    tools: tuple[ShownTool, ...] = (),
    context: str = "",
    seen: int = 0,
    early: bool = False,
) -> Conjectures:
    """Put hypotheses forward, with the searches that would refute them.

    What was validated and refuted before is shown to the reasoner, so that it learns from it. One
    that is paid for is not shown again what it has seen, except for what hypotheses stand on.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        problems: The parts of the question.
        gathered: Ids of the findings.
        standing: The hypotheses so far.
        experience: The experience pool so far.
        gaps: What is missing.
        iteration: Number of the round.
        limit: The most new hypotheses.
        past: Past runs that bear on the question.
        tools: The tools that can test hypotheses.
        context: What the person says about the task besides, as JSON.
        seen: How many of the findings there were when hypotheses were last put forward.
        early: Whether they may be put forward before anything was found.
    """
    if standing and not deps.reasoner.is_free(Hypothesise):
        gathered = unite(*map(_stands_on, standing), gathered[seen:])
    labels, shown = show_findings(deps, gathered)
    if not shown and not early:
        return Conjectures([], {})
    task = Hypothesise(
        question=question,
        as_of=deps.as_of,
        context=context,
        problems=tuple(problems),
        findings=shown,
        standing=stand(standing, labels),
        experience=draw_lessons(experience, standing, room_of(deps).known),
        gaps=tuple(gaps),
        guidance=deps.settings.system_prompt,
        past=past,
        tools=tools,
        limit=limit,
        early=early,
        searched=not await is_read_whole(deps),
    )
    given = await attempt(deps, task)
    answer = given or HypothesisSet(hypotheses=())
    held = {item.hypothesis.id for item in standing}
    earlier = {f"H{number}": item.hypothesis.id for number, item in enumerate(standing, 1)}
    made = [
        (_make_hypothesis(item, labels, earlier, iteration), item) for item in answer.hypotheses
    ]
    new = list({item.id: item for item, _ in made if item.id not in held}.values())[:limit]
    _enter_hypotheses(deps, new)
    queries = {
        item.id: (*told.test_queries, *_calls_for(number, answer.test_calls))
        for number, (item, told) in enumerate(made, 1)
        if item in new
    }
    searches = {item.id: told.searches for item, told in made if item in new}
    return Conjectures(
        [assess(deps, item, (), ()) for item in new],
        queries,
        searches,
        answer.reasoning_chain,
        answer.thought,
        answered=given is not None,
    )


def _calls_for(number: int, calls: Iterable[TestCall]) -> Iterable[TestCall]:
    """Return the calls that test a hypothesis, by its number: its own, and those for all."""
    return (call for call in calls if not call.hypotheses or number in call.hypotheses)


def _enter_hypotheses(deps: Deps, new: Iterable[Hypothesis]) -> None:
    for item in new:
        deps.add(item)
        deps.emit(
            HypothesisProposed(
                hypothesis=item.id,
                statement=item.statement,
                refutes_if=item.refutes_if,
                prior=item.prior,
                revises=item.revises,
            )
        )


def _stands_on(item: Assessment) -> Sequence[str]:
    return unite(item.hypothesis.findings, item.supporting, item.refuting)


def _make_hypothesis(
    item: Proposed, labels: Mapping[str, str], earlier: Mapping[str, str], iteration: int
) -> Hypothesis:
    statement = in_brief(" ".join(item.statement.split()), BRIEF)
    return Hypothesis(
        id=content_id("h", " ".join(words(statement))),
        statement=statement,
        supports_if=item.supports_if,
        refutes_if=item.refutes_if or f"A source that shows the opposite: not {statement}",
        prior=belief.bounded_prior(item.prior),
        answer=item.answer,
        findings=tuple(unite(resolve_labels(item.findings, labels))),
        iteration=iteration,
        revises=tuple(unite(resolve_labels(item.revises, earlier))),
    )


@dataclass(frozen=True, slots=True)
class RefutationRound:
    """The result of a round of tests."""

    standing: list[Assessment]
    """All hypotheses, as they stand now."""
    found: list[LookResult]
    """The results of the searches."""
    trials: list[str]
    """Ids of all trials so far."""
    evidence: list[str]
    """Ids of all evidence so far."""
    weighed: int
    """How many of the findings the hypotheses were judged by."""


async def try_all(
    deps: Deps,
    question: str,
    standing: Sequence[Assessment],
    gathered: Sequence[str],
    *,
    tried: Sequence[str],
    iteration: int,
    trials: Sequence[str],
    evidence: Sequence[str],
    weighed: int = 0,
    planned: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> RefutationRound:
    """Try to refute every hypothesis that is not settled, all of them side by side.

    Args:
        deps: The run's dependencies.
        question: What the person asked.
        standing: All hypotheses.
        gathered: Ids of the findings.
        tried: The queries so far.
        iteration: Number of the round.
        trials: Ids of all trials so far.
        evidence: Ids of all evidence so far.
        weighed: By how many of the findings the hypotheses that were tried were judged before. A
            reasoner that is paid for is not asked again about these.
        planned: What to search for to refute each, by its id, as far as that was said before.
    """

    async def one(item: Assessment) -> tuple[LookResult, Trial]:
        rivals = [other.hypothesis.statement for other in standing if other is not item]
        own = planned.get(item.hypothesis.id, ())
        return await try_to_refute(deps, question, item.hypothesis, rivals, tried, iteration, own)

    tested = [item for item in standing if item.status in UNSETTLED]
    tests = await read_together(deps, *(one(item) for item in tested))

    asked = [
        (item.hypothesis, unite(looked.findings, _unweighed(deps, item, gathered, weighed)))
        for item, (looked, _) in zip(tested, tests, strict=True)
    ]
    judged = await _judge(deps, question, asked)
    new = [item for listed in judged or () for item in listed]
    deps.add(*(trial for _, trial in tests), *new)
    all_trials = unite(trials, (trial.id for _, trial in tests))
    all_evidence = unite(evidence, (item.id for item in new))
    return RefutationRound(
        assess_all(deps, standing, all_evidence, all_trials),
        [found for found, _ in tests],
        all_trials,
        all_evidence,
        weighed if judged is None else len(gathered),
    )


def _unweighed(
    deps: Deps, item: Assessment, gathered: Sequence[str], weighed: int
) -> Sequence[str]:
    """Return the findings by which a hypothesis was not judged yet."""
    again = item.trials > 0 and not deps.reasoner.is_free(Judge)
    return gathered[weighed:] if again else [*item.hypothesis.findings, *gathered]


async def weigh_all(
    deps: Deps,
    question: str,
    standing: Sequence[Assessment],
    findings: Sequence[str],
    *,
    trials: Sequence[str],
    evidence: Sequence[str],
) -> tuple[list[Assessment], list[str]]:
    """Judge how new findings bear on every hypothesis, and assess the hypotheses again.

    Returns:
        The hypotheses, and the ids of all evidence so far.
    """
    judged = await judge_all(deps, question, [(item.hypothesis, findings) for item in standing])
    new = [item for listed in judged for item in listed]
    deps.add(*new)
    held = unite(evidence, (item.id for item in new))
    return assess_all(deps, standing, held, trials), held


async def write_refuting_queries(
    deps: Deps,
    question: str,
    hypothesis: Hypothesis,
    rivals: Sequence[str],
    tried: Sequence[str],
    planned: Sequence[str] = (),
) -> Sequence[str]:
    """Return queries for what would refute a hypothesis.

    Whoever put it forward has planned some; for another attempt, new ones are written.
    """
    refuting = in_brief(hypothesis.refutes_if, BRIEF)
    if await is_read_whole(deps):
        return (refuting,)
    if own := drop_same(planned, tried):
        return own[:REFUTATIONS]
    task = RefuteQueries(
        question=question,
        hypothesis=hypothesis.statement,
        refutes_if=refuting,
        rivals=within(rivals, room_of(deps).known),
        tried=within(reversed(tried), TRIED_BYTES),
        limit=REFUTATIONS,
    )
    answer = await attempt(deps, task)
    # The attempt is owed in any case: without queries from the reasoner, what would refute the
    # hypothesis is itself the query.
    return answer.queries[:REFUTATIONS] if answer and answer.queries else (refuting,)


async def try_to_refute(
    deps: Deps,
    question: str,
    hypothesis: Hypothesis,
    rivals: Sequence[str],
    tried: Sequence[str],
    iteration: int,
    planned: Sequence[str] = (),
) -> tuple[LookResult, Trial]:
    """Search for what would refute a hypothesis."""
    queries = await write_refuting_queries(deps, question, hypothesis, rivals, tried, planned)
    looked = await look_into(deps, question, hypothesis.statement, queries, leads=False)
    trial = Trial(
        id=content_id("t", hypothesis.id, iteration, looked.queries),
        hypothesis=hypothesis.id,
        iteration=iteration,
        queries=looked.queries,
        searched=looked.searched,
        findings=looked.findings,
        failures=looked.limits,
    )
    return looked, trial


async def judge_all(
    deps: Deps, question: str, asked: Sequence[tuple[Hypothesis, Sequence[str]]]
) -> list[list[Evidence]]:
    """Judge how findings bear on hypotheses, and return the evidence for each of them.

    Each finding is shown once, and all hypotheses are judged by it. Findings that share no word
    with a hypothesis are neutral unasked. Those that it was put forward for are always judged: they
    may be steps on the way to it. So are rows of feeds, which are data in words of their own: a
    count of fires bears on strikes and does not name them.
    """
    return await _judge(deps, question, asked) or [[] for _ in asked]


async def _judge(
    deps: Deps, question: str, asked: Sequence[tuple[Hypothesis, Sequence[str]]]
) -> list[list[Evidence]] | None:
    """Return the evidence for each hypothesis; None if no answer came."""
    bearing = [
        fit_findings(deps, _choose_bearing(deps, hypothesis, keys)) for hypothesis, keys in asked
    ]
    labels, shown = label_findings(deps, unite(*bearing))
    by_key = {key: label for label, key in labels.items()}
    rivals = tuple(
        Rival(
            id=f"H{number}",
            hypothesis=hypothesis.statement,
            answer_if_true=in_brief(hypothesis.answer, BRIEF),
            supports_if=in_brief(hypothesis.supports_if, BRIEF),
            refutes_if=in_brief(hypothesis.refutes_if, BRIEF),
            findings=tuple(by_key[key] for key in keys),
        )
        for number, ((hypothesis, _), keys) in enumerate(zip(asked, bearing, strict=True), 1)
        if keys
    )
    if not rivals:
        return [[] for _ in asked]
    task = Judge(findings=shown, question=question, as_of=deps.as_of, rivals=rivals)
    answer = await attempt(deps, task)
    if answer is None:
        return None
    said: dict[str, list[Judgement]] = {rival.id: [] for rival in rivals}
    for item in answer.judgements:
        # Of one hypothesis, the label need not be said.
        label = rivals[0].id if len(rivals) == 1 else find_label(item.hypothesis, said)
        said.get(label, []).append(item)
    return [
        _evidence_for(hypothesis, said.get(f"H{number}", ()), labels)
        for number, (hypothesis, _) in enumerate(asked, 1)
    ]


def _choose_bearing(deps: Deps, hypothesis: Hypothesis, findings: Iterable[str]) -> list[str]:
    """Return the findings that may bear on a hypothesis."""
    asked = set(terms(f"{hypothesis.statement} {hypothesis.answer}"))

    def may_bear(key: str) -> bool:
        found = deps.ledger.get(Finding, key)
        data = source_of(deps, key).kind is SourceKind.FEED
        return data or bool(asked & set(terms(f"{found.statement} {found.quotes[0].text}")))

    return [key for key in dict.fromkeys(findings) if key in hypothesis.findings or may_bear(key)]


def _evidence_for(
    hypothesis: Hypothesis, judgements: Iterable[Judgement], labels: Mapping[str, str]
) -> list[Evidence]:
    judged = {
        key: Evidence(
            id=content_id("e", hypothesis.id, key, item.stance, item.strength),
            hypothesis=hypothesis.id,
            finding=key,
            stance=item.stance,
            strength=item.strength,
            reason=item.reason,
        )
        for item in judgements
        for key in resolve_labels([item.finding], labels)
        if item.stance is not Stance.NEUTRAL and item.strength > 0
    }
    return list(judged.values())


def assess(
    deps: Deps, hypothesis: Hypothesis, evidence: Iterable[Evidence], trials: Iterable[Trial]
) -> Assessment:
    """Compute how far the evidence makes a hypothesis believed, and its status."""
    # A later judgement of the same finding replaces the earlier one.
    latest = {item.finding: item for item in evidence}
    judged = [latest[key] for key in deps.without_ignored(latest)]
    sources = {e.finding: as_believed(deps.ledger, source_of(deps, e.finding)) for e in judged}
    one_story = origins(sources.values())
    weighed = [
        belief.WeighedEvidence(
            e.stance,
            e.strength,
            sources[e.finding].credibility.score,
            one_story[sources[e.finding].id],
        )
        for e in judged
    ]
    posterior = round(belief.posterior(hypothesis.prior, weighed), 6)
    tried = sum(trial.searched for trial in trials)
    return Assessment(
        hypothesis=hypothesis,
        posterior=posterior,
        status=belief.status(posterior, tried, hypothesis.prior),
        trials=tried,
        supporting=tuple(e.finding for e in judged if e.stance is Stance.SUPPORTS),
        refuting=tuple(e.finding for e in judged if e.stance is Stance.REFUTES),
    )


def assess_all(
    deps: Deps, standing: Sequence[Assessment], evidence: Sequence[str], trials: Sequence[str]
) -> list[Assessment]:
    """Assess all hypotheses, and announce the results."""
    held = [deps.ledger.get(Evidence, key) for key in evidence]
    made = [deps.ledger.get(Trial, key) for key in trials]
    assessed = []
    for old in standing:
        key = old.hypothesis.id
        mine = [item for item in held if item.hypothesis == key]
        item = assess(
            deps, old.hypothesis, mine, [trial for trial in made if trial.hypothesis == key]
        )
        assessed.append(item)
        deps.emit(
            HypothesisTested(
                hypothesis=key,
                statement=item.hypothesis.statement,
                posterior=item.posterior,
                status=item.status,
                searched=item.trials > 0,
            )
        )
    return assessed


def stand(
    assessments: Sequence[Assessment], labels: Mapping[str, str]
) -> tuple[HypothesisStanding, ...]:
    """Return hypotheses as a task sees them.

    Args:
        assessments: The hypotheses.
        labels: The finding behind each label.
    """
    by_id = {key: label for label, key in labels.items()}
    return tuple(
        HypothesisStanding(
            id=f"H{number}",
            statement=item.hypothesis.statement,
            answer=in_brief(item.hypothesis.answer, BRIEF),
            refutes_if=in_brief(item.hypothesis.refutes_if, BRIEF),
            posterior=round(item.posterior, 3),
            status=item.status,
            trials=item.trials,
            supporting=tuple(by_id[key] for key in item.supporting if key in by_id),
            refuting=tuple(by_id[key] for key in item.refuting if key in by_id),
        )
        for number, item in enumerate(assessments, 1)
    )


def build_experience_pool(
    deps: Deps, assessed: Sequence[Assessment], evidence: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the experience pool as a graph of findings and hypotheses, and how they are linked."""
    nodes: list[dict[str, Any]] = []
    links: list[Link] = []
    for item in assessed:
        own = item.hypothesis
        told = {
            "statement": own.statement,
            "status": item.status.value,
            "posterior": item.posterior,
        }
        nodes.append({"type": "hypothesis", "id": own.id, **told})
        links += [_make_link("raised", key, own.id) for key in own.findings]
        links += [
            _make_link("rivals", other.hypothesis.id, own.id)
            for other in assessed
            if other.hypothesis.id < own.id and other.hypothesis.iteration == own.iteration
        ]
        links += [_make_link("revises", own.id, key) for key in own.revises]
    held = (deps.ledger.get(Evidence, key) for key in evidence)
    # A later judgement of the same finding replaces the earlier one.
    latest = {(judged.hypothesis, judged.finding): judged for judged in held}
    for judged in latest.values():
        weight = round(judged.strength * belief.FULL_WEIGHT, 6)
        links.append(_make_link(judged.stance.value, judged.finding, judged.hypothesis, weight))
    links = list({link.id: link for link in links}.values())
    deps.add(*links)
    used = dict.fromkeys(link.head for link in links if link.head.startswith("f_"))
    nodes += [
        {"type": "finding", "id": key, "statement": deps.ledger.get(Finding, key).statement}
        for key in used
    ]
    return nodes + [{"type": "link", **link.model_dump(mode="json")} for link in links]


def draw_lessons(
    pool: Sequence[Mapping[str, Any]], standing: Sequence[Assessment], most: int
) -> tuple[Lesson, ...]:
    """Return what an experience pool says of the hypotheses that were validated or refuted.

    The most recent come first, as many as fit into `most` bytes.
    """
    labels = {item.hypothesis.id: f"H{number}" for number, item in enumerate(standing, 1)}
    answers = {item.hypothesis.id: in_brief(item.hypothesis.answer, BRIEF) for item in standing}
    said = {node["id"]: node["statement"] for node in pool if node["type"] != "link"}
    links = [node for node in pool if node["type"] == "link"]
    lessons = []
    for node in reversed(pool):
        if node["type"] != "hypothesis" or node["status"] not in SETTLING:
            continue
        weightiest = _find_deciding(node, links)
        lessons.append(
            Lesson(
                hypothesis=labels[node["id"]],
                statement=node["statement"],
                answer=answers[node["id"]],
                status=node["status"],
                because=tuple(said[link["head"]] for link in weightiest),
            )
        )
    sizes = itertools.accumulate(size_of(lesson.model_dump_json()) for lesson in lessons)
    return tuple(lesson for lesson, size in zip(lessons, sizes, strict=True) if size <= most)


def _find_deciding(
    node: Mapping[str, Any], links: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the links that settled a hypothesis, the weightiest first, `DECIDING` at most."""
    deciding = [
        link
        for link in links
        if link["tail"] == node["id"] and link["kind"] == SETTLING[node["status"]]
    ]
    return sorted(deciding, key=lambda link: -link["weight"])[:DECIDING]


SETTLING = {"supported": "supports", "refuted": "refutes"}
"""The statuses that settle a hypothesis, and the kind of link that settles it so."""
LinkKind = Literal["supports", "refutes", "neutral", "raised", "rivals", "revises"]


def _make_link(kind: LinkKind, head: str, tail: str, weight: float = 0.0) -> Link:
    return Link(
        id=content_id("l", kind, head, tail, weight), kind=kind, head=head, tail=tail, weight=weight
    )
