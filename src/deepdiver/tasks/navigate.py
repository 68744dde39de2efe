"""Navigating: choosing the one next action, and analysing the output of a tool."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from deepdiver.core.record import Probability
from deepdiver.tasks.extract import Extracted
from deepdiver.tasks.record_views import NumberedText, QuestionPart, RecalledRun
from deepdiver.tasks.task import Answer, Role, Task, View
from deepdiver.tasks.tolerance import Leaves


class NavigatorTool(View):
    """Something that can be done next."""

    name: str
    """What it is called."""
    about: str
    """What it is good for."""


class PageAddress(View):
    """A page that can be read."""

    id: str
    """Label to name it by."""
    url: str
    """Where it is."""
    title: str = ""
    """What it is called, where that is known."""
    found: Literal["search", "link", "person", "past"] = "search"
    """Where the address stood: in a search result, in a page that was read, in the words of the
    person, or in a search result or page of a past run."""


class StepTaken(View):
    """A step that was taken."""

    action: str
    """Which tool was used."""
    query_or_url: str
    """What was searched for or read."""
    brought: int
    """New findings that it brought."""
    confidence: Probability
    """What the evidence was worth afterwards."""


class AnalyzerReport(View):
    """What the analyzer said of the last step."""

    assessment: str
    """How far the question is answered."""
    suggestions_for_next_step: tuple[str, ...] = ()
    """What it would do next; nothing where it holds the question for answered."""
    confidence_score: Probability
    """The analyzer's own opinion."""
    inconsistencies_found: str = ""
    """What does not go together."""


class NextAction(Answer):
    """The one next action."""

    next_action: str
    """The name of one of the `tools`."""
    query_or_url: str | None = None
    """What to search for; for crawl_url the label or the address of one of the `urls`; nothing for
    send_to_hitl."""
    reasoning: str = ""
    """Why this, in one sentence."""


class DecideAction(Task[NextAction]):
    """Decide the one next action: a search, a page to read, or to hand over to the person."""

    role: ClassVar[Role] = "smart"

    initial_query: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...] = ()
    """The parts of the question."""
    unanswered: tuple[str, ...] = ()
    """Those of them that no finding answers yet."""
    tools: tuple[NavigatorTool, ...]
    """What can be done."""
    analyzer_report: AnalyzerReport | None = None
    """What the analyzer said of the last step; nothing before the first."""
    confidence: Probability = 0.0
    """What the evidence is worth, computed from the sources."""
    research_history: tuple[StepTaken, ...] = ()
    """The last steps, the latest last."""
    tried: tuple[str, ...] = ()
    """The last queries and addresses; do not repeat them, nor the same in other order."""
    shared_memory: tuple[str, ...] = ()
    """What is known."""
    leads: tuple[str, ...] = ()
    """Names and queries that were met and not followed."""
    urls: tuple[PageAddress, ...] = ()
    """Pages that can be read; no others can."""
    detected: str = ""
    """Why the research seems to go in circles, and what to do about it, if it does."""
    feedback: tuple[str, ...] = ()
    """What the person said to the answers before, the latest last; it is to be obeyed."""
    narrowed: str = ""
    """What code restricts every search to, because the person said so."""
    iteration: int = 0
    """Steps taken in this pass."""
    max_iterations: int
    """The most steps of a pass."""
    guidance: str = ""
    """The person's own instructions."""
    objection: str = ""
    """Why the person rejected the first plan, if so."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints, never evidence."""


class RememberedFinding(View):
    """Something that is known, to be held against what is new."""

    id: str
    """Label to refer to it by."""
    statement: str
    """What it says."""
    source: str = ""
    """Who says so."""
    published: str = ""
    """When it was said."""


class Info(Extracted):
    """One piece of information, with the words that carry it."""

    about: SkipJsonSchema[str] = ""
    """`answers` says it."""
    answers: str = ""
    """Label of the part of the question that it answers, at least for one person or thing; empty
    where it answers none and is kept because it may lead on."""
    confirms: tuple[str, ...] = ()
    """Labels of what is known that it says too."""
    contradicts: tuple[str, ...] = ()
    """Labels of what is known that cannot be true beside it: another value for the same thing at
    the same time. Of this list itself E1 is the first entry, E2 the second, and so on."""


class Analysis(Answer):
    """What a tool's output says and is worth."""

    extracted_info: Annotated[tuple[Info, ...], Field(max_length=40), Leaves()] = ()
    """What bears on the question, and what may lead on; empty where there is neither."""
    assessment: str
    """How far the question is answered now, in one or two sentences."""
    confidence_score: Probability
    """Your own opinion of how surely and completely the question can be answered now."""
    suggestions_for_next_step: Annotated[tuple[str, ...], Field(max_length=6)] = ()
    """What to do next, each a question or a few words to search for; empty where the question is
    answered."""
    new_potential_urls: Annotated[tuple[str, ...], Field(max_length=12)] = ()
    """Labels or addresses of those of the `links` that look promising."""
    inconsistencies_found: str | None = None
    """What does not go together, if anything."""


class AnalyseOutput(Task[Analysis]):
    """Read the output of a tool.

    What it says, how it goes with what is known, and what to do next.
    """

    role: ClassVar[Role] = "smart"

    initial_query: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[QuestionPart, ...] = ()
    """The parts of the question."""
    action: str
    """The tool that was used."""
    query_or_url: str
    """What it was used for."""
    texts: tuple[NumberedText, ...] = ()
    """What it brought."""
    links: tuple[PageAddress, ...] = ()
    """Pages that it names and that can be read."""
    shared_memory: tuple[RememberedFinding, ...] = ()
    """What is known that comes closest to it."""
    feedback: tuple[str, ...] = ()
    """What the person said to the answers before."""
    guidance: str = ""
    """The person's own instructions."""
