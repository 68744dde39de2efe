"""The embedded reasoner performs a language model's tasks by rules, in the words of the sources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, TypeVar, cast

from deepdiver.core.events import Event, TaskPerformed
from deepdiver.errors import ReasonError
from deepdiver.reason.embedded.analyse import analyse_findings
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.conclusions import verify_conclusions
from deepdiver.reason.embedded.correlate import correlate
from deepdiver.reason.embedded.decide import decide
from deepdiver.reason.embedded.gather import extract_findings, formulate, write_queries
from deepdiver.reason.embedded.navigate import analyse_output, decide_action
from deepdiver.reason.embedded.plan import decompose_task, plan_research
from deepdiver.reason.embedded.propose import propose
from deepdiver.reason.embedded.query import refute_queries
from deepdiver.reason.embedded.reflect import reflect
from deepdiver.reason.embedded.search_plan import plan_searches
from deepdiver.reason.embedded.verify import check_support, repair_sentences
from deepdiver.reason.embedded.weigh import weigh
from deepdiver.reason.embedded.write import write_report
from deepdiver.tasks import (
    Analyse,
    AnalyseOutput,
    Answer,
    CheckSupport,
    Correlate,
    Decide,
    DecideAction,
    Decompose,
    DecomposeTask,
    ExtractFindings,
    Hypothesise,
    Judge,
    PlanResearch,
    PlanSearches,
    Reflect,
    RefuteQueries,
    RepairSentences,
    Task,
    VerifyConclusions,
    WriteQueries,
    WriteReport,
)

A = TypeVar("A", bound=Answer)

PERFORMS: Mapping[type[Task[Any]], Callable[[Any], Answer]] = {
    Decompose: formulate,
    WriteQueries: write_queries,
    RefuteQueries: refute_queries,
    ExtractFindings: extract_findings,
    Hypothesise: propose,
    Judge: weigh,
    Decide: decide,
    Reflect: reflect,
    DecideAction: decide_action,
    AnalyseOutput: analyse_output,
    PlanSearches: plan_searches,
    PlanResearch: plan_research,
    DecomposeTask: decompose_task,
    Analyse: analyse_findings,
    Correlate: correlate,
    VerifyConclusions: verify_conclusions,
    WriteReport: write_report,
    CheckSupport: check_support,
    RepairSentences: repair_sentences,
}
"""The function that performs each task."""


NOTE = (
    "Found and weighed without a language model: what follows are quotes, chosen because they bear "
    "on the question."
)
"""What a report says of this reasoner at its head."""
OTHER_LANGUAGE = (
    "The question is in {}; without a language model deepdiver understands questions in English, "
    "and compares the words of others."
)
"""What it says besides if the question is not in English."""


class EmbeddedReasoner:
    """Performs tasks by rules: deterministic, extractive, offline, free.

    It quotes, and writes no fact of its own.
    """

    def __init__(self, emit: Callable[[Event], None] | None = None, verbose: bool = False) -> None:
        """Create a reasoner.

        Args:
            emit: Receives an event for each task.
            verbose: Whether the events include the prompt.
        """
        self._emit, self._verbose = emit, verbose
        # Reading takes seconds, during which the run must still renew its lease and notice that it
        # was stopped. One thread: tasks are performed in order, and Python would not perform two at
        # once any faster.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deepdiver-reasoner")

    @property
    def description(self) -> str:
        """Return what this reasoner is, worded for the report."""
        return (
            "embedded reasoner (extractive, no language model: it says nothing that no source says)"
        )

    def note_on(self, question: str) -> str:
        """Return what a report on a question must say of its writer at its head."""
        asked = understand(question)
        return NOTE if asked.understood else f"{NOTE} {OTHER_LANGUAGE.format(asked.language)}"

    async def perform(self, task: Task[A]) -> A:
        """Perform a task.

        Raises:
            ReasonError: If this reasoner does not know the task.
        """
        function = PERFORMS.get(type(task))
        if function is None:
            raise ReasonError(
                f"the embedded reasoner does not perform {task.name()}: name a model for this task"
            )
        answer = cast(
            "A", await asyncio.get_running_loop().run_in_executor(self._thread, function, task)
        )
        if self._emit is not None:
            asked = task.prompt().user if self._verbose else ""
            told = answer.model_dump(mode="json")
            self._emit(
                TaskPerformed(task=task.name(), model=self.description, prompt=asked, answer=told)
            )
        return answer

    def worst_case(self, task: type[Task[Any]]) -> Decimal:
        """Return the most that performing a task can cost: nothing."""
        return Decimal(0)

    def is_free(self, task: type[Task[Any]]) -> bool:
        """Return that it is."""
        return True
