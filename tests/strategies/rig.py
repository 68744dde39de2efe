"""A run over a scripted reasoner and a small corpus, through the real store, gateway and graph."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from langchain_core.messages import HumanMessage

from deepdiver import tasks
from deepdiver.core.events import Event
from deepdiver.core.record import (
    Report,
    Run,
    RunStatus,
    SentenceKind,
    SourceKind,
    Stance,
    VerdictKind,
)
from deepdiver.core.settings import Settings, load
from deepdiver.core.text import sentences, terms
from deepdiver.errors import CallError, CallFault, ReasonError, UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.run import Outcome, Session, replay, research
from deepdiver.run.assemble import OwnParts
from deepdiver.run.begin import new_run
from deepdiver.run.record import load_ledger
from deepdiver.sample import LIBRARY
from deepdiver.store import Store
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.shared.base import Allowance
from deepdiver.strategies.shared.write_report import with_length
from deepdiver.strategies.table import TABLE
from deepdiver.tools.hit import Hit
from deepdiver.tools.registry import Choice
from tests.strategies.drafts import Draft, bottom_line_of, outline_of, report_of, sections_of, told

A = TypeVar("A", bound=tasks.Answer)

CORPUS = {
    "doc:register": (
        "Register",
        "register",
        "Holm Works is owned by Anna Holm. Holm Works was founded in 1998.",
    ),
    "doc:gazette": (
        "Gazette",
        "newspaper",
        "Holm Works is owned by Bertil Ask, a trader. He likes boats.",
    ),
    "doc:notice": (
        "Notice",
        "official",
        "The authority confirms that Anna Holm owns Holm Works. It employs 12 people.",
    ),
}
QUESTION = "Who owns Holm Works?"
SEED_QUESTION = "How old are the children of the parents who run Svedjan Ost AB?"
QUICK = {"rate": 1_000, "concurrent": 64}
"""How fast a provider may be called: nobody waits, and what waits is tested with the gateway."""
PARTS = ("outline_report", "write_sections", "write_bottom_line")
"""The tasks of writing a report that one call may not write."""
SAID = 40  # the most insights that FindingsAnalysis holds


def call(query: str, tool: str = "search") -> tasks.ToolQuery:
    """A call of a search tool."""
    return tasks.ToolQuery(
        tool=tool, args=(tasks.Argument(name="query", value=query),), reason="to find out"
    )


def judgements(
    task: tasks.Judge,
    bears: Callable[[tasks.Rival, tasks.ShownFinding], tuple[Stance, float]],
) -> tasks.Judgements:
    """Judge every finding that may bear on a hypothesis by its stance and strength."""
    told = [
        (rival, found, *bears(rival, found))
        for rival in task.rivals
        for found in task.findings
        if found.id in rival.findings
    ]
    return tasks.Judgements(
        judgements=tuple(
            tasks.Judgement(hypothesis=rival.id, finding=found.id, stance=stance, strength=strength)
            for rival, found, stance, strength in told
        )
    )


class CorpusProvider:
    """Searches a dictionary of documents; queries named in `down` fail."""

    name = "corpus"
    about = "a few documents"

    def __init__(self, corpus: Mapping[str, tuple[str, str, str]] = CORPUS) -> None:
        self.corpus, self.queries = corpus, list[str]()
        self.down: Callable[[str], bool] = lambda query: False

    def missing(self, settings: Settings) -> str | None:
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        async def do() -> Reply:
            self.queries.append(query)
            if self.down(query):
                raise CallError("corpus is down", CallFault.REQUEST)
            asked = set(terms(query))
            ranked = sorted(
                self.corpus, key=lambda url: (-len(asked & set(terms(self.corpus[url][2]))), url)
            )
            return Reply([url for url in ranked if asked & set(terms(self.corpus[url][2]))][:limit])

        reply = await gateway.call(
            Request("search", self.name, query, {"query": query}, fresh=True), do
        )
        return [self._hit(url) for url in reply.value]

    def _hit(self, url: str) -> Hit:
        title, kind, text = self.corpus[url]
        return Hit(
            url=url,
            title=title,
            kind=SourceKind.DOCUMENT,
            publisher_kind=kind,
            published="2026-01-01",
            author="someone",
            text=text,
            provider=self.name,
        )


class Shelf(CorpusProvider):
    """Gives away everything it holds, if that is not too much."""

    async def everything(self, most: int, gateway: Gateway) -> list[Hit]:
        hits = [self._hit(url) for url in self.corpus]
        return hits if sum(len(hit.text) for hit in hits) <= most else []


class ScriptedReasoner:
    """Performs tasks by plain rules.

    A test replaces the rule of a task by name, or makes it fail.
    """

    description = "scripted reasoner"
    free = True
    """Whether it reads for each look alone, as the embedded reasoner does; else once for all."""

    def __init__(self, **rules: Callable[[Any], Any]) -> None:
        self.rules, self.asked = rules, list[tasks.Task[Any]]()
        self.running = self.most_running = 0

    def worst_case(self, task: type[tasks.Task[Any]]) -> Decimal | None:
        return Decimal(0)

    def is_free(self, task: type[tasks.Task[Any]]) -> bool:
        return self.free and not (task is tasks.WriteReport and self.in_parts)

    @property
    def in_parts(self) -> bool:
        """Whether a rule is for a part of writing, so that the report is written in parts."""
        return not self.rules.keys().isdisjoint(PARTS)

    def of(self, kind: type[A] | type[tasks.Task[A]]) -> list[Any]:
        return [task for task in self.asked if isinstance(task, kind)]

    async def perform(self, task: tasks.Task[A]) -> A:
        self.asked.append(task)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        rule = self.rules.get(task.name()) or getattr(self, f"_{task.name()}")
        answer = rule(task)
        if isinstance(answer, Draft) and isinstance(task, tasks.WriteReport):
            answer = report_of(answer, task.question)
            if task.unmarked:
                bare = re.sub(r" ?\{[^{}]*\}", "", answer.markdown)
                answer = tasks.ReportDraft(markdown=bare)
        return cast("A", answer)

    def _decompose(self, task: tasks.Decompose) -> tasks.Decomposition:
        return tasks.Decomposition(problems=(tasks.Problem(question=task.question),))

    def _write_queries(self, task: tasks.WriteQueries) -> tasks.Queries:
        return tasks.Queries(queries=(task.problem,))

    def _refute_queries(self, task: tasks.RefuteQueries) -> tasks.Queries:
        return tasks.Queries(queries=(f"refute: {task.hypothesis}",))

    def _extract_findings(self, task: tasks.ExtractFindings) -> tasks.Extraction:
        found = [
            tasks.Extracted(
                statement=span.of(text.plain), source=text.id, quote=span.of(text.plain)
            )
            for text in task.texts
            for span in sentences(text.plain)
            if "own" in span.of(text.plain)
        ]
        return tasks.Extraction(findings=tuple(found))

    def _hypothesise(self, task: tasks.Hypothesise) -> tasks.HypothesisSet:
        held = {item.answer for item in task.standing}
        rivals = [
            tasks.Proposed(
                statement=f"{name} owns Holm Works.",
                answer=name,
                supports_if=f"a register names {name}",
                refutes_if=f"a register names another than {name}",
                findings=tuple(f.id for f in task.findings if name in f.quote),
            )
            for name in ("Anna Holm", "Bertil Ask")
            if name not in held
        ]
        return tasks.HypothesisSet(hypotheses=tuple(rivals))

    def _judge(self, task: tasks.Judge) -> tasks.Judgements:
        return judgements(
            task,
            lambda rival, found: (
                Stance.SUPPORTS if rival.answer_if_true in found.quote else Stance.REFUTES,
                0.9,
            ),
        )

    def _decide(self, task: tasks.Decide) -> tasks.Decision:
        return tasks.Decision(decision="finish", reason="enough")

    def _reflect(self, task: tasks.Reflect) -> tasks.Reflection:
        return tasks.Reflection(sufficient=True, reason="enough is known")

    def _decide_action(self, task: tasks.DecideAction) -> tasks.NextAction:
        if task.iteration and not task.unanswered:
            return tasks.NextAction(next_action="send_to_hitl", reasoning="it is answered")
        query = f"{task.initial_query} {' '.join(['more'] * len(task.tried))}".strip()
        return tasks.NextAction(
            next_action=task.tools[0].name, query_or_url=query, reasoning="something is missing"
        )

    def _analyse_output(self, task: tasks.AnalyseOutput) -> tasks.Analysis:
        found = [
            tasks.Info(
                statement=span.of(text.plain),
                source=text.id,
                quote=span.of(text.plain),
                answers="P1",
            )
            for text in task.texts
            for span in sentences(text.plain)
            if "own" in span.of(text.plain)
        ]
        return tasks.Analysis(extracted_info=tuple(found), assessment="read", confidence_score=0.5)

    def _plan_searches(self, task: tasks.PlanSearches) -> tasks.SearchPlans:
        ways = (
            "",
            "register",
            "notice",
            "gazette",
            "founded",
            "trader",
            "people",
            "boats",
            "authority",
            "clerk",
        )
        intent = (
            tasks.SearchIntent.DEEP_DIVE
            if task.iteration
            else tasks.SearchIntent.INITIAL_EXPLORATION
        )
        query = f"{task.question} {ways[task.iteration % len(ways)]}".strip()
        return tasks.SearchPlans(
            plans=(tasks.SearchPlan(intent=intent, query=query, reasoning="to find out"),)
        )

    def _plan_research(self, task: tasks.PlanResearch) -> tasks.ResearchPlan:
        return tasks.ResearchPlan(
            objectives=(task.question,), initial_queries=(call(task.question),)
        )

    def _decompose_task(self, task: tasks.DecomposeTask) -> tasks.TaskDecomposition:
        return tasks.TaskDecomposition(
            sub_tasks=(tasks.SubTask(id="subtask_1", description=task.question),)
        )

    def _analyse(self, task: tasks.Analyse) -> tasks.FindingsAnalysis:
        said = tuple(
            tasks.KeyInsight(statement=f.quote, finding_ids=(f.id,)) for f in task.findings[:SAID]
        )
        return tasks.FindingsAnalysis(thinking="step by step", key_insights=said)

    def _correlate(self, task: tasks.Correlate) -> tasks.Correlations:
        return tasks.Correlations(
            correlations=tuple(
                tasks.Correlated(
                    finding_ids=item.finding_ids,
                    correlation_type=item.correlation_type,
                    description="",
                    proposal=item.id,
                )
                for item in task.proposals
            )
        )

    def _verify_conclusions(self, task: tasks.VerifyConclusions) -> tasks.Verifications:
        passed = (
            tasks.Verification(id=item.id, verdict=VerdictKind.PASS, reason="it holds")
            for item in task.conclusions
        )
        return tasks.Verifications(verifications=tuple(passed))

    def _outline_report(self, task: tasks.OutlineReport) -> tasks.Outline:
        write = self.rules.get("write_report") or self._write_report
        return outline_of(write(task), task.question)

    def _write_sections(self, task: tasks.WriteSections) -> tasks.SectionDrafts:
        return sections_of(task)

    def _write_bottom_line(self, task: tasks.WriteBottomLine) -> tasks.BottomLine:
        return bottom_line_of(task)

    def _write_report(self, task: tasks.ReportBrief) -> Draft:
        """Return what the tasks of writing are answered with.

        A rule for `write_report` replaces it. With a rule for another one of them the report is
        written in parts, and the others are answered from the same draft.
        """
        by_label = {f.id: f for f in task.findings}
        if not task.findings:
            first = task.texts[0]
            number, _, words = first.text.partition("<")[2].partition("> ")
            return Draft((told(words.partition("<")[0].strip(), f"{first.id}:{number}"),))
        if task.standing is None:
            best = max(task.findings, key=lambda f: f.credibility)
            return Draft((told(best.quote, best.id),))
        accepted = [item for item in task.standing if item.status == "supported"]
        return Draft(
            tuple(
                told(by_label[item.supporting[0]].quote, item.supporting[0])
                for item in accepted
                if item.supporting
            )
        )

    def _check_support(self, task: tasks.CheckSupport) -> tasks.Checks:
        return tasks.Checks(
            checks=tuple(
                tasks.Check(id=claim.id, support="full", by=claim.cites) for claim in task.claims
            )
        )

    def _cite_report(self, task: tasks.CiteReport) -> tasks.Citations:
        """Cite what stands word for word in the texts."""
        places = {
            said.strip(): f"{text.id}:{number}"
            for text in task.texts
            for number, said in re.findall(r"<(\d+)> ([^<\n]+)", text.text)
        }
        pieces = re.findall(r"\[(\d+)\] ([^\n\[]+)", task.report)
        told = [(number, places.get(said.strip())) for number, said in pieces]
        return tasks.Citations(lines="\n".join(f"{n}: {{{place}}}" for n, place in told if place))

    def _repair_sentences(self, task: tasks.RepairSentences) -> tasks.Repairs:
        return tasks.Repairs(
            repairs=tuple(tasks.Repaired(id=item.id, text="") for item in task.sentences)
        )


class PaidReasoner(ScriptedReasoner):
    """Reads as a model does: each text once, and cites by number."""

    free = False

    def _extract_findings(self, task: tasks.ExtractFindings) -> tasks.Extraction:
        found = [
            tasks.Extracted(
                statement=words.strip(),
                source=text.id,
                lines=(int(number),),
                about=self._part(task, words),
            )
            for text in task.texts
            for number, _, words in (part.partition("> ") for part in text.text.split("<")[1:])
            if "own" in words or "founded" in words
        ]
        return tasks.Extraction(findings=tuple(found))

    def _part(self, task: tasks.ExtractFindings, words: str) -> str:
        year = "founded" in words
        return next((p.id for p in task.problems if ("founded" in p.question) == year), "")


class Rig:
    """Everything for one run."""

    def __init__(
        self,
        home: Path,
        reasoner: ScriptedReasoner | None = None,
        provider: CorpusProvider | None = None,
        *,
        approve: bool = False,
        question: str = QUESTION,
        **settings: Any,
    ) -> None:
        self.reasoner, self.provider = reasoner or ScriptedReasoner(), provider or CorpusProvider()
        limits = dict.fromkeys((self.provider.name, "duckduckgo", "fetch"), QUICK)
        told = {"home": home, "retries": 0, "prices": {"corpus": {}}, "approve": approve}
        told |= {"limits": limits}
        told |= {"max_output_tokens": 4_096} if self.reasoner.in_parts else {}
        self.settings = load({**told, **settings})
        self.store: Store = open_sqlite(home)
        self.events: list[Event] = []
        self.run: Run = new_run(question, self.settings, self.store)

    def session(self, mode: Mode = Mode.LIVE, choice: Choice | None = None) -> Session:
        return Session(
            self.run,
            self.settings,
            self.store,
            on_event=self.events.append,
            mode=mode,
            own=OwnParts(reasoner=self.reasoner, providers=[self.provider]),
            choice=choice,
        )

    async def work(self, mode: Mode = Mode.LIVE, ask: Any = None) -> Outcome:
        return await self.session(mode).work(ask, resumed=False)

    @property
    def path(self) -> list[str]:
        """The nodes that were entered, in order."""
        return [event.phase for event in self.events if event.type == "phase_started"]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


# What holds for every strategy


def used(allowed: Allowance, rig: Rig) -> set[type[tasks.Task[Any]]]:
    """Return the tasks of an allowance that a run performs whose report comes with its top.

    A scripted reasoner costs nothing, so it marks what it writes itself.
    """
    rare = {tasks.WriteBottomLine, tasks.CiteReport}
    return with_length(allowed, rig.settings).tasks.keys() - rare


def fail(task: Any) -> Any:
    """Fail at a task."""
    raise ReasonError("the model is not in the mood")


def refuse(task: Any) -> Any:
    """Refuse the key."""
    raise CallError("the key was refused", CallFault.AUTH)


async def refuses_an_empty_question(rig: Rig) -> None:
    """Check that a graph without a question says so."""
    graph = TABLE[rig.run.strategy].build().compile()
    with pytest.raises(UsageError, match="the question is empty"):
        await graph.ainvoke({"messages": [HumanMessage("  ")]}, context=rig.session().deps)


async def goes_on_without(task: str, rig: Rig, *, always_told: bool = False) -> None:
    """Check that a run ends with a report although a task fails, and says so.

    Args:
        task: The name of the task.
        rig: A run whose reasoner fails at it.
        always_told: Whether the report tells of a failed `check_support` too.
    """
    outcome = await rig.work()
    assert outcome.error is None
    assert outcome.report is not None
    asked = {item.name() for item in rig.reasoner.asked}
    if task in asked and (always_told or task != "check_support"):
        limits = outcome.report.limits
        assert any("not in the mood" in line for line in limits), limits


async def ends_at_a_refused_key(rig: Rig) -> None:
    """Check that a run whose reasoner refuses the key ends with that error."""
    outcome = await rig.work()
    assert isinstance(outcome.error, CallError)
    assert outcome.run.status is RunStatus.FAILED


async def answers_the_seeds_question(
    home: Path, strategy: str
) -> tuple[Outcome, Report, list[Event]]:
    """Check the golden run of a strategy over the sample library.

    The ages are right on the day, every quote is in its text, every sentence that claims something
    cites, and a replay gives the same report.
    """
    flags = {"documents": (LIBRARY,), "search": ["library"], "as_of": date(2026, 11, 15)}
    settings = load({"home": home, "strategy": strategy, **flags})
    events: list[Event] = []
    outcome = await research(SEED_QUESTION, settings, on_event=events.append)
    report = outcome.report
    assert report is not None
    assert report.status is RunStatus.ANSWERED
    results = {made.name: made.result for made in report.derivations}
    ages = {
        sentence.text.split()[0]: results[name]
        for sentence in report.answer
        for name in sentence.derived
    }
    assert ages == {"Alma": "15", "Hjalmar": "12", "Siri": "8"}
    assert 0.8 < report.confidence < 1.0
    with closing(open_sqlite(home)) as store:
        ledger = load_ledger(store, outcome.run.id)
        for citation in report.citations:
            assert citation.finding in ledger
            text = store.texts.get(citation.passage.snapshot)
            assert text[citation.passage.start : citation.passage.end] == citation.quote
    sentences_of_all = [
        *report.answer,
        *(line for part in report.sections for line in part.all_sentences()),
    ]
    assert all(line.citations for line in sentences_of_all if line.kind is not SentenceKind.FRAME)
    again = await replay(outcome.run.id, settings)
    assert again.report is not None
    assert again.report.hash == report.hash
    return outcome, report, events
