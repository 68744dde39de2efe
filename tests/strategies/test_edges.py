"""A chat model walks every edge of every strategy.

Every loop, and every exit that its design document names.

The model is a server on this machine that the real client talks to; what it says to which visit of
a task is written in the scenario, and so is the path that the run must then take. Which edges there
are is asked of the compiled graph.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START

from deepdiver import sample
from deepdiver.core.events import Decided, Event, PersonAsked, PhaseStarted
from deepdiver.core.settings import Settings, load
from deepdiver.errors import UsageError
from deepdiver.report.markdown import answer_text
from deepdiver.run import Outcome, Session, research
from deepdiver.run.begin import new_run
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.navigator import disputes
from deepdiver.strategies.overwatch.graph import WAYS
from deepdiver.strategies.shared.summary import Line, list_disputed
from deepdiver.strategies.table import TABLE
from deepdiver.tasks import Note, Reflect
from tests.servers.brain import (
    Directions,
    Fields,
    made_page,
    made_search,
    numbered,
    popper_brain,
)
from tests.servers.scripted import Answer, Document, ScriptedServer, SearchScript

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "What is recorded about the northern ferry permits?"
ABOUT = "recorded northern ferry permits"
"""What the model makes of it."""
ACCEPT: Fields = {"action": "accept"}
ONE_PART: Directions = {"decompose": [{"problems": [{"question": QUESTION, "needs": []}]}]}
ENOUGH: Fields = {"sufficient": True, "queries": [], "missing": [], "notes": []}
"""A reflection that finds nothing to do."""
REFUSED = Answer(status=400, text="the model is not in the mood")
GIBBERISH = Answer(text="I would rather not say.")


@dataclass(frozen=True, slots=True)
class Walk:
    """What came of a scenario."""

    outcome: Outcome
    events: list[Event]
    shown: list[dict[str, Any]]
    """What the person was shown."""
    queries: list[str]
    """What was searched for, in the order in which it was asked."""

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes.

        One that waited for a person is entered again with what was said, which is no step.
        """
        steps = [event for event in self.events if isinstance(event, PhaseStarted | PersonAsked)]
        before = zip([None, *steps], steps, strict=False)
        nodes = [
            e.phase
            for last, e in before
            if isinstance(e, PhaseStarted) and not isinstance(last, PersonAsked)
        ]
        return (START, *nodes, *(() if "__interrupt__" in self.outcome.state else (END,)))

    @property
    def limits(self) -> str:
        """What the report says could not be done."""
        assert self.outcome.report is not None
        return "\n".join(self.outcome.report.limits)

    def section(self, heading: str) -> list[str]:
        """The sentences of a section of the report."""
        assert self.outcome.report is not None
        parts = [part for part in self.outcome.report.sections if part.heading == heading]
        return [sentence.text for part in parts for sentence in part.all_sentences()]


def nothing_more(walk: Walk) -> None:
    """Ask no more of a scenario than its path."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a model and a person say, and the path that follows from it."""

    strategy: str
    name: str
    path: Sequence[str]
    says: Directions = field(default_factory=dict)
    """What the model answers otherwise than usual."""
    enough: int = 2
    """In which round the model has enough."""
    person: Sequence[Fields] = ()
    """What the person says, one after the other; nothing: nobody is there."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    search: SearchScript = field(default_factory=lambda: made_search(results=2))
    question: str = QUESTION
    status: str = "answered"
    decided: Sequence[str] = ()
    """The decisions, each as `decision, who: why`, of which the beginning is enough; nothing:
    whatever they are."""
    check: Callable[[Walk], None] = nothing_more
    """What else must hold."""


@dataclass(slots=True)
class Stage:
    """A server whose model and search are those of the scenario that is on."""

    now: Scenario | None = None
    model: Any = None
    server: ScriptedServer = field(init=False)

    def __post_init__(self) -> None:
        self.server = ScriptedServer(
            lambda body, number: self.model(body, number),
            lambda query, number: self.search(query, number),
            made_page(),
        )

    def search(self, query: str, number: int) -> Answer:
        assert self.now is not None
        return self.now.search(query, number)

    def settings(self, home: Path) -> Settings:
        """Return how the scenario is run.

        The real clients, with this server in place of the world.
        """
        assert self.now is not None
        model, url, fast = "openai:gpt-5-mini", self.server.url, {"rate": 1000, "concurrent": 64}
        flags = {
            "home": home,
            "strategy": self.now.strategy,
            "model": model,
            "search": ["tavily"],
            "urls": {
                "openai": f"{url}/v1",
                "tavily": url,
                "duckduckgo": url,
                "serper": f"{url}/serper",
            },
            "limits": dict.fromkeys((model, "tavily", "duckduckgo", "google", "serper"), fast),
            "allow_hosts": [f"127.0.0.1:{self.server.port}"],
            "retries": 0,
            "contact": "",
            "approve": bool(self.now.person),
            **self.now.settings,
        }
        return load(flags, environ={}, folder=home, user_file=home / "none.toml")

    def set(self, scenario: Scenario) -> None:
        """Make ready for a scenario."""
        self.now = scenario
        self.model = popper_brain(rounds=scenario.enough, directions={**ONE_PART, **scenario.says})

    async def play(self, scenario: Scenario, home: Path) -> Walk:
        """Run a scenario."""
        left = list(scenario.person)
        self.set(scenario)
        events, shown, before = list[Event](), list[dict[str, Any]](), len(self.server.searches)

        async def ask(what: dict[str, Any]) -> dict[str, Any]:
            shown.append(what)
            return left.pop(0)

        question = scenario.question.replace("SERVER", self.server.url)
        person = ask if scenario.person else None
        outcome = await research(question, self.settings(home), on_event=events.append, ask=person)
        assert not left, f"nobody asked for {left}"
        asked = [
            entry.body.get("query") or entry.body.get("q", "")
            for entry in self.server.searches[before:]
        ]
        return Walk(outcome, events, shown, asked)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    with made.server:
        yield made


def failing(*words: str) -> SearchScript:
    """Return a search that fails where a query holds one of these words."""
    search = made_search(results=2)

    def script(query: str, number: int) -> Answer:
        return (
            Answer(status=400, text="down")
            if any(word in query for word in words)
            else search(query, number)
        )

    return script


def empty(query: str, number: int) -> Answer:
    """Find nothing."""
    return Answer(documents=())


def no_evidence(walk: Walk) -> None:
    """The report has no answer, and says so."""
    assert walk.outcome.report is not None
    assert (walk.outcome.report.answer, walk.outcome.report.confidence) == ((), 0.0)


def _unsearched(walk: Walk) -> None:
    """The report has no answer, and says which provider could not be searched."""
    assert walk.outcome.report is not None
    assert "tavily could not search" in answer_text(walk.outcome.report)
    assert walk.outcome.report.confidence == 0.0


# -- popper

P_BEGIN = ("initialize", "formulate_problem", "approve_plan")
P_ROUND = ("generate_hypothesis", "verify_hypothesis", "decide")


def popper(name: str, rounds: int, begin: Sequence[str] = P_BEGIN, **more: Any) -> Scenario:
    path = (START, *begin, "gather_information", *(P_ROUND * rounds), "final_answer", END)
    return Scenario("popper", name, path, **more)


POPPER = (
    popper("the reasoner finishes", 1, enough=1, decided=["finish, reasoner"]),
    popper(
        "a rejected plan is made anew, the reasoner goes on",
        2,
        (*P_BEGIN, "formulate_problem", "approve_plan"),
        person=[{"action": "reject", "reason": "too broad"}, ACCEPT],
        decided=["continue, reasoner", "finish, reasoner"],
    ),
    popper(
        "max_iterations",
        2,
        enough=9,
        settings={"max_iterations": 2},
        decided=["continue, reasoner", "finish, rule: round 2 is the last allowed"],
    ),
    popper(
        "no finishing before an attempt to refute",
        2,
        enough=1,
        settings={"max_iterations": 2},
        search=failing("correction", "other count", "denied"),
        status="partial",
        decided=["continue, rule: 2 hypotheses have met no attempt", "finish, rule"],
    ),
    popper(
        "the words of the design document are a decision",
        3,
        says={
            "decide": [
                Answer(text="CONTINUE"),
                Answer(text="CONTINUE (iterate again)\nTwo parts are open."),
                Answer(text="FINISH"),
            ]
        },
        settings={"max_iterations": 9},
        decided=["continue, reasoner", "continue, reasoner", "finish, reasoner"],
    ),
    popper(
        "a decision that cannot be read is a rule's",
        1,
        says={"decide": [GIBBERISH]},
        decided=["finish, rule: no decision could be had: decide failed: There is no JSON"],
    ),
)

# -- iterative

I_BEGIN = ("initialize", "generate_query", "approve_plan")
I_ROUND = ("web_search", "summarize", "reflect")
AGAIN = "recorded northern ferry permits records"
CLASH = "The clocks of two harbours differ."


def iterative(
    name: str, rounds: int, begin: Sequence[str] = I_BEGIN, end: Sequence[str] = (), **more: Any
) -> Scenario:
    later = (*I_ROUND, *(("generate_query", *I_ROUND) * (rounds - 1)))
    return Scenario("iterative", name, (START, *begin, *later, *end, "write_report", END), **more)


RUN_TOGETHER = "Tyra and Eskil Kvarnlöf run the company Svedjan Ost AB together."
"""A sentence of the sample library."""
ITERATIVE = (
    iterative(
        "minimum depth",
        2,
        enough=1,
        decided=[
            "continue, rule: there is no stopping before round 2",
            "finish, reasoner: Every part is answered.",
        ],
    ),
    iterative(
        "the reflection goes on, then stops",
        3,
        enough=3,
        decided=[
            "continue, reasoner",
            "continue, reasoner",
            "finish, reasoner: Every part is answered.",
        ],
    ),
    iterative(
        "max_iterations",
        2,
        enough=9,
        settings={"max_iterations": 2},
        decided=["continue, reasoner", "finish, rule: round 2 is the last allowed"],
    ),
    Scenario(
        "iterative",
        "a library that the writer reads",
        (START, *I_BEGIN, "write_report", END),
        settings={"documents": (sample.LIBRARY,), "search": ["library"]},
        question="Who runs Svedjan Ost AB?",
        says={"write_report": [{"markdown": f"# Who runs it\n\n## Bottom line\n\n{RUN_TOGETHER}"}]},
        decided=["finish, rule: all there is to search is"],
    ),
    Scenario(
        "orchestrated",
        "a library that the writer reads",
        (START, "initialize", "plan_searches", "synthesize_research", END),
        settings={"documents": (sample.LIBRARY,), "search": ["library"]},
        question="Who runs Svedjan Ost AB?",
        says={"write_report": [{"markdown": f"# Who runs it\n\n## Bottom line\n\n{RUN_TOGETHER}"}]},
        decided=["finish, rule: all there is to search is"],
    ),
    iterative("nothing found", 2, search=empty, status="no_evidence", check=no_evidence),
    iterative(
        "no reflection can be had",
        2,
        says={"reflect": [GIBBERISH]},
        decided=[
            "continue, rule: there is no stopping before round 2",
            "finish, rule: no reflection could be had",
        ],
    ),
    iterative(
        "what does not go together is looked into in the second round",
        2,
        says={
            "reflect": [
                {**ENOUGH, "notes": [{"category": "consistency", "text": CLASH, "critical": False}]}
            ]
        },
        decided=["continue, rule: there is no stopping before round 2", "finish, reasoner"],
        check=lambda walk: _asked(walk, "clocks", ABOUT),
    ),
    iterative(
        "no search is left",
        1,
        end=["generate_query"],
        says={
            "write_queries": [{"queries": [AGAIN]}],
            "reflect": [
                {"missing": [AGAIN], "queries": ["permits ferry northern recorded records"]}
            ],
        },
        decided=["continue, reasoner", "finish, rule: no search is left that was not made"],
    ),
    iterative(
        "a rejected plan is made anew",
        2,
        (*I_BEGIN, "generate_query", "approve_plan"),
        person=[{"action": "reject", "reason": "too broad"}, ACCEPT],
    ),
    iterative(
        "an edited plan gets queries of its own",
        2,
        (*I_BEGIN, "generate_query"),
        person=[
            {
                "action": "edit",
                "problems": ["What was written about the southern lighthouse keepers?"],
            }
        ],
        check=lambda walk: _asked(walk, "lighthouse"),
    ),
)


def _asked(walk: Walk, *words: str) -> None:
    """All of the words were searched for."""
    assert all(any(word in query for query in walk.queries) for word in words), walk.queries


# -- overwatch

O_BEGIN = ("initialize", "plan_research", "decompose_task", "approve_plan", "generate_hypotheses")
GATHER, ANALYZE, REFLECT = "gather_intelligence", "analyze_findings", "reflect_on_analysis"
CORRELATE, VERIFY, SYNTHESIZE = "correlate_findings", "verify_conclusions", "synthesize_report"
O_END = (CORRELATE, VERIFY, SYNTHESIZE)


def independent(fields: Fields, usual: Fields) -> Fields:
    """Take the task apart into sub-tasks that do not wait for each other."""
    return {"sub_tasks": [{**part, "dependencies": []} for part in usual["sub_tasks"]]}


QUIET: Directions = {
    "decompose_task": [independent],
    "hypothesise": [{"hypotheses": []}],
    "analyse": [{"searches": []}],
}
"""Nothing to wait for, nothing to test, so that nothing is accepted, and nothing to follow: what
leads back must be the scenario's own."""


def watching(name: str, *path: str, begin: Sequence[str] = O_BEGIN, **more: Any) -> Scenario:
    more = {
        "status": "partial",
        **more,
        "says": {**QUIET, "reflect": [ENOUGH], **more.get("says", {})},
    }
    return Scenario("overwatch", name, (START, *begin, *path, END), **more)


def calls(*queries: str) -> list[Fields]:
    return [
        {"tool": "search", "args": [{"name": "query", "value": query}], "reason": "why not"}
        for query in queries
    ]


def remarks() -> Iterator[Fields]:
    """Critical remarks, always new."""
    for number in itertools.count():
        yield {
            **ENOUGH,
            "notes": [{"category": "bias", "text": f"Remark {number}.", "critical": True}],
        }


OVERWATCH = (
    watching("each phase once", GATHER, ANALYZE, REFLECT, *O_END),
    watching(
        "a sub-task waits for the one that it needs",
        *(GATHER, GATHER, ANALYZE, REFLECT, *O_END),
        says={"decompose_task": [{}]},
        check=lambda walk: _asked(walk, "counted"),
    ),
    watching(
        "hypotheses are tested in a turn of their own",
        *(GATHER, GATHER, ANALYZE, REFLECT, *O_END),
        says={"hypothesise": [{}]},
        status="answered",
        check=lambda walk: _asked(walk, "correction", "other count"),
    ),
    watching(
        "follow-ups lead back to gathering",
        *(GATHER, ANALYZE, GATHER, ANALYZE, REFLECT, *O_END),
        says={"analyse": [{"searches": ["ferry logbook"]}, {"searches": []}]},
        check=lambda walk: _asked(walk, "ferry logbook"),
    ),
    watching(
        "reflection leads back to gathering twice at most",
        *((GATHER, ANALYZE, REFLECT) * 3),
        *O_END,
        says={
            "reflect": [
                {"sufficient": False, "queries": [f"ferry {word}"]}
                for word in ("log", "map", "diary")
            ]
        },
        check=lambda walk: _asked(walk, "ferry log", "ferry map"),
    ),
    watching(
        "a critical remark has it analysed again",
        *(GATHER, ANALYZE, REFLECT, ANALYZE, REFLECT, *O_END),
        says={"reflect": [next(remarks())]},
    ),
    watching(
        "critical remarks end where there was nothing new to analyse",
        *(GATHER, ANALYZE, REFLECT, ANALYZE, REFLECT, *O_END),
        says={"reflect": list(itertools.islice(remarks(), 4))},
    ),
    watching(
        "critical remarks end with the last turn",
        *(GATHER, ANALYZE, REFLECT, SYNTHESIZE),
        says={"reflect": list(itertools.islice(remarks(), 4))},
        settings={"max_iterations": 2},
        decided=["finish, rule: turn 2 is the last allowed"],
    ),
    watching(
        "what is not ready is reflected on again, twice at most",
        *(GATHER, ANALYZE, *((REFLECT, CORRELATE, VERIFY) * 3), SYNTHESIZE),
        says={
            "verify_conclusions": [{"ready_for_synthesis": False, "reason": "One date is wrong."}]
        },
    ),
    watching(
        "max_iterations forces synthesis from verifying",
        *(GATHER, ANALYZE, REFLECT, *O_END),
        says={
            "verify_conclusions": [{"ready_for_synthesis": False, "reason": "One date is wrong."}]
        },
        settings={"max_iterations": 2},
        decided=["finish, rule: turn 2 is the last allowed"],
    ),
    watching(
        "max_iterations forces synthesis from gathering",
        *(GATHER, ANALYZE, GATHER, SYNTHESIZE),
        says={
            "analyse": [
                {"follow_up_queries": calls(f"ferry {word}"), "searches": []}
                for word in ("log", "map", "diary")
            ]
        },
        settings={"max_iterations": 2},
        decided=["finish, rule: turn 2 is the last allowed"],
    ),
    watching(
        "an error ends cleanly",
        *(GATHER, SYNTHESIZE),
        search=failing(""),
        status="could_not_search",
        decided=["finish, rule: no tool gave an answer: search failed: tavily could not search"],
        check=_unsearched,
    ),
    watching(
        "a rejected plan is made anew, and then accepted",
        *(GATHER, ANALYZE, REFLECT, *O_END),
        begin=(*O_BEGIN[:-1], *O_BEGIN[1:]),
        person=[{"action": "reject", "reason": "too broad"}, ACCEPT],
    ),
    watching(
        "an edited plan is searched for as it stands",
        *(GATHER, ANALYZE, REFLECT, *O_END),
        person=[
            {
                "action": "edit",
                "problems": ["What was written about the southern lighthouse keepers?"],
            }
        ],
        check=lambda walk: _asked(walk, "lighthouse"),
    ),
)

# -- orchestrated

R_BEGIN = ("initialize", "plan_searches", "approve_plan")


def orchestrated(name: str, rounds: int, begin: Sequence[str] = R_BEGIN, **more: Any) -> Scenario:
    later = ("plan_searches", "execute_search") * (rounds - 1)
    ends = more.pop("ends", ())
    path = (START, *begin, "execute_search", *later, *ends, "synthesize_research", END)
    return Scenario("orchestrated", name, path, **more)


def plans(*listed: tuple[str, str]) -> Fields:
    return {
        "plans": [
            {"intent": intent, "query": query, "reasoning": "why not"} for intent, query in listed
        ]
    }


def scarce(fields: Fields, usual: Fields) -> Fields:
    """Find one thing at most."""
    return {"findings": usual["findings"][:1]}


def _planning_failed(walk: Walk) -> None:
    """The report does not say that nothing was found: nothing was searched."""
    assert walk.outcome.report is not None
    told = walk.outcome.report.answer[0]
    assert told.text.startswith("Planning failed before round 1, so nothing was searched.")
    assert walk.outcome.report.confidence == 0.0
    assert not walk.queries
    assert "plan searches failed: " in walk.limits


def _intents(walk: Walk) -> None:
    """Each intent was carried out in its own manner."""
    explored, dive, hop, check, *beside = walk.queries[:2], *walk.queries[2:]
    assert sorted(explored) == sorted(["ferry records", QUESTION]), (
        "exploring asks for a part of the question besides"
    )
    assert (dive, hop) == ("ferry figures", f"Harbour Nine {ABOUT}"), (
        "a dive follows the leads one hop"
    )
    assert check == "ferry counts"
    assert [query.split()[1:] for query in beside] == [["lighthouse"]] * 2, (
        "beside: names with words that are new"
    )
    assert len({query.split()[0] for query in beside}) == 2
    assert "A search for sources of other origin found none" in walk.limits, (
        "and synthesis searches nothing"
    )


ORCHESTRATED = (
    orchestrated(
        "five rounds",
        5,
        enough=9,
        says={
            "plan_searches": [
                plans(("deep_dive", f"ferry {word}"))
                for word in ("log", "map", "diary", "book", "roll")
            ],
            "extract_findings": [scarce, {"findings": []}],
        },
        decided=[*["continue, rule"] * 4, "finish, rule: round 5 is the last allowed"],
    ),
    orchestrated(
        "five findings and three rounds",
        3,
        enough=9,
        decided=["continue, rule", "continue, rule", "finish, rule: key findings: "],
    ),
    Scenario(
        "orchestrated",
        "planning failed at once",
        (START, "initialize", "plan_searches", "synthesize_research", END),
        says={"plan_searches": [REFUSED]},
        status="model_failed",
        decided=["finish, rule: no plan could be had"],
        check=_planning_failed,
    ),
    orchestrated(
        "planning failed later: a report of what there is",
        1,
        ends=["plan_searches"],
        says={"plan_searches": [{}, GIBBERISH]},
        decided=["continue, rule", "finish, rule: no plan could be had"],
        check=lambda walk: _limited(
            walk, "Planning ended the search before round 2: no plan could be had"
        ),
    ),
    orchestrated(
        "the plan is to write the report",
        1,
        ends=["plan_searches"],
        enough=1,
        decided=["continue, rule", "finish, reasoner: the plan is to write the report"],
    ),
    orchestrated(
        "a last search, and then the report",
        1,
        says={
            "plan_searches": [plans(("initial_exploration", "ferry records"), ("synthesis", ""))]
        },
        decided=["finish, reasoner: the plan is to write the report next"],
    ),
    orchestrated(
        "a rejected plan is made anew",
        1,
        (*R_BEGIN, "plan_searches", "approve_plan"),
        ends=["plan_searches"],
        enough=1,
        person=[{"action": "reject", "reason": "too broad"}, ACCEPT],
    ),
    orchestrated(
        "an edited plan is planned anew",
        1,
        (*R_BEGIN, "plan_searches"),
        ends=["plan_searches"],
        enough=1,
        person=[
            {
                "action": "edit",
                "problems": ["What was written about the southern lighthouse keepers?"],
            }
        ],
        check=lambda walk: _asked(walk, "lighthouse"),
    ),
    orchestrated(
        "in the words of the design document",
        1,
        ends=["plan_searches"],
        says={
            "plan_searches": [
                Answer(
                    text='```json\n[{"intent": "INITIAL_EXPLORATION", "query": "ferry records", '
                    '"reasoning": "A broad look."}]\n```'
                ),
                Answer(text='{"search_plans": [{"intent": "SYNTHESIS", "query": "none"}]}'),
            ],
            "extract_findings": [
                lambda f, u: {"findings": [i["statement"] for i in u["findings"]]}
            ],
        },
        decided=["continue, rule", "finish, reasoner: the plan is to write the report"],
    ),
    orchestrated(
        "each intent in its own manner",
        4,
        ends=["plan_searches"],
        says={
            "plan_searches": [
                plans(("initial_exploration", "ferry records")),
                plans(("deep_dive", "ferry figures")),
                plans(("fact_checking", "ferry counts")),
                plans(("related_topics", "ferry lighthouse")),
                plans(("synthesis", "")),
            ],
            "extract_findings": [
                scarce,
                lambda f, u: {**scarce(f, u), "leads": ["Harbour Nine"]},
                {"findings": []},
            ],
        },
        decided=[*["continue, rule"] * 4, "finish, reasoner: the plan is to write the report"],
        check=_intents,
    ),
)


def _limited(walk: Walk, what: str) -> None:
    """The report says what could not be done, and has an answer all the same."""
    assert what in walk.limits
    assert walk.outcome.report is not None
    assert walk.outcome.report.answer


# -- navigator

N_BEGIN = ("initialize", "decision_node", "approve_plan")
HAND_OVER = ("hitl_output", "human_feedback")
WEB = {"search": ["tavily", "google", "duckduckgo"]}
OVER: Fields = {
    "next_action": "send_to_hitl",
    "query_or_url": None,
    "reasoning": "Every part is answered.",
}


def steps(*tools: str) -> tuple[str, ...]:
    return tuple(node for tool in tools for node in (tool, "analyzer_node", "decision_node"))


def navigator(
    name: str, *tools: str, begin: Sequence[str] = N_BEGIN, after: Sequence[str] = (), **more: Any
) -> Scenario:
    """A hunt of one pass, to its hand-over.

    Who is there to be asked accepts the plan and the answer.
    """
    # So that what speaks for an answer are the findings that carry it.
    unjudged: Directions = {"judge": [{"judgements": []}]}
    more = {"person": [ACCEPT, ACCEPT], **more, "says": {**unjudged, **more.get("says", {})}}
    path = (START, *begin, *steps(*tools), *HAND_OVER, *after, *([END] if more["person"] else []))
    return Scenario("navigator", name, path, **more)


def act(action: str, what: str) -> Fields:
    return {"next_action": action, "query_or_url": what, "reasoning": "One thing is still open."}


def searching(*words: str) -> list[Fields]:
    return [act("search_tavily", f"ferry {word}") for word in words]


NOTHING: Fields = {"extracted_info": [], "suggestions_for_next_step": ["cellar books of Lund"]}
SIDES = {
    "https://ferries.gov/rolls": "The ferry authority recorded 412 northern permits in 2019. It "
    "sits in Porto.",
    "https://harbour.edu/count": "In 2019 the northern permits that our students counted were 412. "
    "They had help.",
    "https://gazette.example/news": "No more than 87 northern permits were recorded in 2019. So "
    "much for rumours.",
}


def saying(*urls: str) -> SearchScript:
    """Return a search that finds these of the pages that disagree."""
    found = tuple(Document(url, f"Notes of {url[8:12]}", SIDES[url], "2020-01-01") for url in urls)
    return lambda query, number: Answer(documents=found)


def tell_the_larger(fields: Fields, usual: Fields) -> Fields:
    """Answer with the first sentences of the texts that give the larger number."""
    first = [(text["id"], *numbered(text["text"])[0]) for text in fields["texts"]]
    told = [f"- {said} {{{label}:{number}}}" for label, number, said in first if "412" in said]
    return {"markdown": "\n".join(["# 412 permits", "", "## Bottom line", "", *told])}


def hold_against(fields: Fields, usual: Fields) -> Fields:
    """Take the first sentence of each text, and say which of them give the same number."""
    told = [(text["id"], numbered(text["text"])[0][1]) for text in fields["texts"]]
    info = [
        {
            "statement": said,
            "source": label,
            "quote": said,
            "answers": "P1",
            "confirms": [
                f"E{n}"
                for n, (_, other) in enumerate(told[:place], 1)
                if ("412" in other) == ("412" in said)
            ],
            "contradicts": [
                f"E{n}"
                for n, (_, other) in enumerate(told[:place], 1)
                if ("412" in other) != ("412" in said)
            ],
        }
        for place, (label, said) in enumerate(told)
    ]
    return {"extracted_info": info, "inconsistencies_found": "Two numbers are given."}


def in_one_text(fields: Fields, usual: Fields) -> Fields:
    """Say everything in one text, and that the question is answered."""
    return {
        "extracted_info": " ".join(
            said for text in fields["texts"] for _, said in numbered(text["text"])
        ),
        "suggestions_for_next_step": ["Query appears answered based on multiple sources"],
    }


def _understood(walk: Walk) -> None:
    """The answer cites what was found, and the person is told of the other tool."""
    assert walk.outcome.report is not None
    assert walk.outcome.report.citations
    assert walk.shown[-1]["confidence"] > 0.8
    assert "search_tavily was taken instead" in " ".join(walk.section("Research Journey"))


def _ladder(walk: Walk) -> None:
    """The ways out were taken in their order, and the person was told what is missing."""
    ways = [
        event.decision
        for event in walk.of(Decided)
        if event.decision in {"reframe", "narrow", "lead"}
    ]
    assert ways == ["reframe", "narrow", "lead"]
    assert walk.shown[-1]["missing"] == [
        QUESTION,
        "the last 6 steps brought nothing new, and every way out was tried",
    ]


def _overridden(walk: Walk) -> None:
    """Whoever repeats itself is led by rules.

    Other words, one part alone, a stored lead, and then the person.
    """
    assert walk.queries[0] == "ferry log"
    assert "cellar books of Lund" in walk.queries
    assert len(set(walk.queries)) == len(walk.queries), "no step is taken twice"


def _kept_out(walk: Walk) -> None:
    """Neither side is in the answer; both are shown, to the person too."""
    assert walk.outcome.report is not None
    assert walk.outcome.report.answer == ()
    assert walk.section(disputes.HEADING)[0] == disputes.OPEN
    assert any(line.startswith("Not settled: ") for line in walk.shown[-1]["missing"])


def _settled(walk: Walk) -> None:
    """The side that a further independent source supports is the answer; the other is shown."""
    assert walk.outcome.report is not None
    answer = " ".join(sentence.text for sentence in walk.outcome.report.answer)
    assert "412" in answer
    assert "87" not in answer
    assert walk.section(disputes.HEADING)[0] == disputes.SETTLED
    assert "87" in " ".join(walk.section(disputes.HEADING))


def _heard(walk: Walk) -> None:
    """What the person said is told in the journey and was searched for."""
    assert [shown["ask"] for shown in walk.shown] == ["approve_plan", *["review_answer"] * 3]
    journey = " ".join(walk.section("Research Journey"))
    assert "said: “look at the map too”" in journey
    assert "said: “only what the clerks wrote”" in journey


NAVIGATOR = (
    navigator(
        "every tool in turn",
        *("search", "google_search", "duckduckgo_search", "crawl", "search"),
        says={
            "decide_action": [
                *searching("log"),
                act("search_google", "ferry map"),
                act("search_duckduckgo", "ferry diary"),
                act("crawl_url", "U1"),
                *searching("roll"),
                OVER,
            ]
        },
        settings=WEB,
        search=made_search(results=2, local=True),
    ),
    navigator(
        "google first",
        "google_search",
        says={"decide_action": [act("search_google", "ferry map"), OVER]},
        settings=WEB,
    ),
    navigator(
        "duckduckgo first",
        "duckduckgo_search",
        says={"decide_action": [act("search_duckduckgo", "ferry map"), OVER]},
        settings=WEB,
    ),
    navigator(
        "a page of the person's own first",
        "crawl",
        says={"decide_action": [act("crawl_url", "U1"), OVER]},
        question=f"{QUESTION} See SERVER/page/ferry-roll-1.",
    ),
    navigator(
        "nobody is there: over at the first hand-over",
        "search",
        enough=1,
        person=(),
        decided=["search_tavily, reasoner", "send_to_hitl, reasoner: Every part is answered."],
    ),
    navigator(
        "the confidence is high enough",
        "search",
        enough=9,
        says={"analyse_output": [{"suggestions_for_next_step": []}]},
        search=made_search(results=3),
        decided=["search_tavily, reasoner", "send_to_hitl, rule: the confidence is 0."],
    ),
    navigator(
        "max_iterations",
        *("search", "search"),
        enough=9,
        settings={"max_iterations": 2},
        decided=[
            *["search_tavily, reasoner"] * 2,
            "send_to_hitl, rule: step 2 is the last of a pass",
        ],
    ),
    navigator(
        "no handing over before anything was looked at",
        "search",
        says={"decide_action": [OVER]},
        decided=["search_tavily, rule", "send_to_hitl, reasoner"],
    ),
    navigator(
        "stuck: reframe, narrow, a stored lead, the person",
        *["search"] * 6,
        enough=99,
        says={"analyse_output": [NOTHING]},
        status="not_answered",
        check=_ladder,
    ),
    navigator(
        "a model that repeats itself is overridden way by way",
        *["search"] * 3,
        says={"decide_action": searching("log"), "analyse_output": [NOTHING]},
        status="not_answered",
        check=_overridden,
    ),
    navigator(
        "a question without words: there is nothing to do and nothing to approve",
        begin=("initialize", "decision_node"),
        question="???",
        says={"decompose": [{"problems": []}], "decide_action": [OVER]},
        person=[ACCEPT],
        status="model_failed",
        decided=[
            "send_to_hitl, rule: nothing was looked at in this pass, and nothing is left that was "
            "not tried"
        ],
    ),
    navigator(
        "conflicting information stays out of the answer",
        "search",
        says={"decide_action": [*searching("log"), OVER], "analyse_output": [hold_against]},
        search=saying("https://ferries.gov/rolls", "https://gazette.example/news"),
        status="undecided",
        check=_kept_out,
    ),
    navigator(
        "conflicting information is validated by a further source",
        "search",
        says={
            "decide_action": [*searching("log"), OVER],
            "analyse_output": [hold_against],
            "write_report": [tell_the_larger],
        },
        search=saying(*SIDES),
        status="partial",  # what was held against it counts
        check=_settled,
    ),
    navigator(
        "in the words of the design document",
        "search",
        says={
            **ONE_PART,
            "decide_action": [act("SEARCH_GOOGLE", "northern permits 2019")],
            "analyse_output": [in_one_text],
        },
        search=saying("https://ferries.gov/rolls", "https://harbour.edu/count"),
        decided=[
            "search_tavily, reasoner: “northern permits 2019”: One thing is still open. "
            "(SEARCH_GOOGLE is not among the tools",
            "send_to_hitl, rule: the confidence is 0.",
        ],
        check=_understood,
    ),
    navigator(
        "rejected with a reason, then with a constraint, then accepted",
        "search",
        after=("decision_node", *steps("search"), *HAND_OVER) * 2,
        says={
            "decide_action": [
                *searching("log"),
                OVER,
                *searching("map"),
                OVER,
                *searching("diary"),
                OVER,
            ],
        },
        person=[
            ACCEPT,
            {"action": "reject", "reason": "look at the map too"},
            {"action": "add", "constraints": "only what the clerks wrote"},
            ACCEPT,
        ],
        check=_heard,
    ),
    navigator(
        "a rejected plan is made anew",
        "search",
        begin=(*N_BEGIN, "decision_node", "approve_plan"),
        says={"decide_action": [*searching("log", "map"), OVER]},
        person=[{"action": "reject", "reason": "too broad"}, ACCEPT, ACCEPT],
        check=lambda walk: _asked(walk, "ferry map"),
    ),
    navigator(
        "an edited plan is decided upon anew",
        "search",
        begin=(*N_BEGIN, "decision_node"),
        says={"decide_action": [*searching("log", "lighthouse"), OVER]},
        person=[{"action": "edit", "problems": ["Who kept the southern lighthouse?"]}, ACCEPT],
        check=lambda walk: _asked(walk, "lighthouse"),
    ),
)

SCENARIOS = (*POPPER, *ITERATIVE, *OVERWATCH, *ORCHESTRATED, *NAVIGATOR)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: f"{item.strategy}: {item.name}")
async def test_the_path_is_the_one_that_the_model_leads_to(
    stage: Stage, tmp_path: Path, scenario: Scenario
) -> None:
    walk = await stage.play(scenario, tmp_path)
    assert walk.outcome.error is None
    assert walk.path == tuple(scenario.path)
    assert walk.outcome.run.status.value == scenario.status
    if scenario.decided:
        made = [f"{event.decision}, {event.by}: {event.reason}" for event in walk.of(Decided)]
        assert len(made) == len(scenario.decided), made
        assert all(
            said.startswith(wanted) for said, wanted in zip(made, scenario.decided, strict=True)
        ), made
    scenario.check(walk)


# -- the union of the scenarios

GUARD = (
    "a turn is counted, and an error noted, only by nodes that route for themselves; this one does "
    "neither, and it was "
    "entered because there were turns left and no error stood"
)
UNREACHABLE: dict[str, dict[tuple[str, str], str]] = {
    "overwatch": {
        (
            "approve_plan",
            SYNTHESIZE,
        ): "no turn was made and no tool called yet, and a run has one turn at least",
        (
            "generate_hypotheses",
            SYNTHESIZE,
        ): "no turn was made and no tool called yet, and a run has one turn at least",
        (ANALYZE, SYNTHESIZE): GUARD,
        (CORRELATE, SYNTHESIZE): GUARD,
    }
}
"""Edges that no model and no person can lead to, each with the reason. They are what the design
document's router has: `route_next_step` looks at turns and errors wherever it is asked."""


def edges(strategy: str) -> set[tuple[str, str]]:
    """Return the edges of a strategy, as its compiled graph has them."""
    return {
        (edge.source, edge.target) for edge in TABLE[strategy].build().compile().get_graph().edges
    }


def walked(strategy: str) -> set[tuple[str, str]]:
    """Return the edges that the scenarios walk.

    Their paths are those that the test above has seen taken.
    """
    return {
        step
        for item in SCENARIOS
        if item.strategy == strategy
        for step in itertools.pairwise(item.path)
    }


@pytest.mark.parametrize("strategy", TABLE)
def test_the_scenarios_walk_every_edge_of_the_graph(strategy: str) -> None:
    never = UNREACHABLE.get(strategy, {})
    assert never.keys() <= edges(strategy), "what is called unreachable must be there"
    assert edges(strategy) - walked(strategy) == never.keys(), (
        "an edge that no scenario walks needs one, or a reason"
    )
    assert walked(strategy) <= edges(strategy)


def test_an_edge_that_no_scenario_walks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = tuple(
        item
        for item in SCENARIOS
        if item.name != "an error ends cleanly" and "from gathering" not in item.name
    )
    monkeypatch.setitem(globals(), "SCENARIOS", fewer)
    assert (GATHER, SYNTHESIZE) in edges("overwatch") - walked("overwatch")


async def test_what_is_called_unreachable_counts_no_turn_and_notes_no_error(
    stage: Stage, tmp_path: Path
) -> None:
    """A node is entered with turns left and no error, or it would not have been.

    If it changes neither, no way leads on
    to synthesis that is not that of its phase."""
    never = [source for source, _ in UNREACHABLE["overwatch"]]
    ways_in = {source for source, target in edges("overwatch") if target in never}
    assert ways_in <= {*WAYS, "decompose_task"}, (
        "who comes there was sent by the router, or is at the beginning"
    )
    stage.set(next(item for item in OVERWATCH if item.name == "follow-ups lead back to gathering"))
    settings, store = stage.settings(tmp_path), open_sqlite(tmp_path)
    session = Session(new_run(QUESTION, settings, store), settings, store)
    graph, given = (
        TABLE["overwatch"].build().compile(),
        {"messages": [{"role": "user", "content": QUESTION}]},
    )
    changed: dict[str, set[str]] = {}
    async for made in graph.astream(
        given, {"recursion_limit": 100}, context=session.deps, stream_mode="updates"
    ):
        for node, update in made.items():
            changed.setdefault(node, set()).update(update)
    await session.deps.reasoner.close()  # type: ignore[attr-defined]
    counting = {node for node, names in changed.items() if names & {"iteration", "error"}}
    assert counting == {"initialize", GATHER}
    assert set(never) <= changed.keys() - counting
    with pytest.raises(UsageError, match="max_iterations"):
        load({"max_iterations": 0}, environ={}, folder=tmp_path, user_file=tmp_path / "none.toml")


# -- what the scenarios stand on


def test_a_direction_for_no_task_is_refused() -> None:
    with pytest.raises(KeyError, match="refelct"):
        popper_brain(directions={"refelct": [ENOUGH]})


def test_directions_go_by_the_visit_and_leave_the_rest_as_usual() -> None:
    prompt = Reflect(question=QUESTION, as_of="2026-11-01", iteration=1, max_iterations=5).prompt()
    body = {
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
    }
    usual = json.loads(popper_brain()(body, 0).text)
    brain = popper_brain(
        directions={"reflect": [{}, REFUSED, lambda fields, said: {"missing": said["queries"]}]}
    )
    assert json.loads(brain(body, 0).text) == usual
    assert brain(body, 1) == REFUSED
    assert [json.loads(brain(body, n).text) for n in (2, 3)] == [
        {**usual, "missing": usual["queries"]}
    ] * 2


# -- what was found by walking


def line(text: str) -> Line:
    return Line(text=text, findings=("f_1",))


def note(text: str, category: Any = "consistency") -> Note:
    return Note(category=category, text=text)


def test_what_is_disputed_are_the_lines_that_a_reflection_names_or_else_its_words() -> None:
    lines = [line("Lund counted 7."), line("Porto counted 42."), line("Graz counted none.")]
    both = note("These do not go together: Porto counted 42. / Lund counted 7.")
    assert list_disputed(lines, []) == []
    assert list_disputed(lines, [note("Nobody asked Graz.", "gap")]) == []
    assert list_disputed(lines, [both, both]) == ["Lund counted 7.", "Porto counted 42."]
    assert list_disputed(lines, [note("The counts differ."), both])[0] == "The counts differ."


async def test_versions_between_which_the_sources_do_not_decide_are_both_in_the_answer(
    tmp_path: Path,
) -> None:
    (asked,) = [item for item in sample.questions() if item.id == "nickel-t3"]
    flags = {
        "home": tmp_path,
        "strategy": "iterative",
        "documents": (sample.LIBRARY,),
        "search": ["library"],
    }
    outcome = await research(asked.text, load({**flags, "as_of": date(2026, 11, 15)}))
    assert outcome.report is not None
    answer = " ".join(sentence.text for sentence in outcome.report.answer)
    assert all(re.search(rf"measured {value} micrograms", answer) for value in asked.answers), (
        answer
    )


@pytest.mark.parametrize(
    ("strategy", "task"),
    [
        ("popper", "decide"),
        ("iterative", "reflect"),
        ("overwatch", "reflect"),
        ("overwatch", "verify_conclusions"),
        ("orchestrated", "plan_searches"),
        ("navigator", "decide_action"),
    ],
)
async def test_a_model_that_cannot_be_read_has_decided_nothing(
    stage: Stage, tmp_path: Path, strategy: str, task: str
) -> None:
    walk = await stage.play(Scenario(strategy, task, (), says={task: [GIBBERISH]}), tmp_path)
    assert walk.outcome.error is None
    decided = walk.of(Decided)
    failed = [event for event in decided if f"{task.replace('_', ' ')} failed: " in event.reason]
    assert failed, decided
    assert all("There is no JSON in the text" in event.reason for event in failed)
    assert {event.by for event in decided} == {"rule"}


async def test_a_fenced_thought_ends_in_the_log_and_in_the_chain_of_thought(
    stage: Stage, tmp_path: Path
) -> None:
    thought = "First the harbour book, then the census."
    scenario = Scenario("overwatch", "fenced thoughts", (), says={"analyse": [{"thinking": ""}]})
    stage.set(scenario)
    usual = stage.model

    def thinking(body: dict[str, Any], number: int) -> Answer:
        answer: Answer = usual(body, number)
        return replace(answer, text=f"```thinking\n{thought}\n```\n```json\n{answer.text}\n```")

    stage.model = thinking
    outcome = await research(QUESTION, stage.settings(tmp_path))
    assert outcome.error is None
    assert thought in outcome.state["chain_of_thought"]
    assert outcome.folder is not None
    log = (outcome.folder / "reasoning.log").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    performed = [line["details"] for line in lines if line["action"] == "task_performed"]
    assert {details["thinking"] for details in performed} == {thought}
