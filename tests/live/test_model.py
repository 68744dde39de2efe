"""The model that is set up here answers the tasks of a run, in a form that can be read."""

from __future__ import annotations

import pytest

from deepdiver import tasks
from deepdiver.core.events import Event, TaskPerformed
from deepdiver.core.numbering import cut_quotes
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import UsageError
from deepdiver.gateway import Gateway
from deepdiver.reason.llm import LLMReasoner
from tests.live.conftest import skipped_where_out_of_reach
from tests.texts import parts_of, shown_text

QUESTION = "Who owns Holm Works, and since when?"
TEXT = "Holm Works is owned by Anna Holm. She bought it in 2014 from Bertil Ask, a trader."
SHOWN = tasks.ShownFinding(
    id="F1", statement="Anna Holm owns Holm Works.", quote=TEXT[:33], source="Register"
)


async def test_a_model_performs_the_tasks_of_a_run(settings: Settings, gateway: Gateway) -> None:
    if settings.model == EMBEDDED:
        pytest.skip("no model is set up: set DEEPDIVER_MODEL, such as openai:NAME, and its key")
    told: list[Event] = []
    try:
        reasoner = LLMReasoner(gateway, settings, emit=told.append)
    except UsageError as error:
        pytest.skip(str(error))
    day = "2026-11-15"
    source = shown_text(id="T1", title="Register", text=TEXT)
    try:
        with skipped_where_out_of_reach(settings.model):
            parts = await reasoner.perform(tasks.Decompose(question=QUESTION, as_of=day))
            queries = await reasoner.perform(
                tasks.WriteQueries(question=QUESTION, problem=parts.problems[0].question)
            )
            found = await reasoner.perform(
                tasks.ExtractFindings(
                    question=QUESTION, problems=parts_of(QUESTION), texts=(source,)
                )
            )
            rivals = await reasoner.perform(
                tasks.Hypothesise(question=QUESTION, as_of=day, problems=(), findings=(SHOWN,))
            )
            decision = await reasoner.perform(
                tasks.Decide(
                    question=QUESTION,
                    problems=(),
                    standing=(),
                    findings=1,
                    new_findings=1,
                    iteration=1,
                    max_iterations=3,
                )
            )
    finally:
        await reasoner.close()
    assert queries.queries
    cut = [span.of(TEXT) for item in found.findings for span in cut_quotes(TEXT, item.lines)]
    assert any("Anna Holm" in quote for quote in cut)
    assert all(item.refutes_if for item in rivals.hypotheses)
    assert decision.decision in {"continue", "finish"}
    assert not [event.error for event in told if isinstance(event, TaskPerformed) and event.error]
