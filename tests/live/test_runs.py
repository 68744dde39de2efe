"""Whole runs over the real web with a real model, from the question to the report."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from deepdiver.core.record import FINISHED
from deepdiver.core.settings import EMBEDDED, Settings
from deepdiver.errors import UsageError
from deepdiver.run import replay, research
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tools.registry import choose, group_of
from tests.live.conftest import skipped_where_out_of_reach

MOST = Decimal("0.50")
"""US dollars that one run may cost."""
QUESTIONS = {
    "short": "tides",
    "long": "Who designed the Øresund Bridge, what did it cost in Danish kroner, and how have the "
    "number of crossings and the toll changed since it opened?",
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("strategy", ["popper", "iterative"])
async def test_a_question_ends_in_a_report_whose_every_quote_is_in_its_source(
    strategy: str, question: str, settings: Settings, tmp_path: Path
) -> None:
    if settings.model == EMBEDDED:
        pytest.skip("no model is set up: set DEEPDIVER_MODEL, such as openai:NAME, and its key")
    settings = settings.model_copy(
        update={"strategy": strategy, "max_iterations": 2, "budget": MOST}
    )
    if all(group_of(provider) == "own" for provider in choose(settings).providers):
        pytest.skip("nothing on the web can be searched: set a key, such as TAVILY_API_KEY")
    try:
        outcome = await research(question, settings, out=tmp_path / "out")
    except UsageError as error:  # no key, or no price
        pytest.skip(str(error))
    if outcome.error is not None:
        with skipped_where_out_of_reach("the model"):
            raise outcome.error
    report = outcome.report
    assert report is not None
    assert outcome.run.status in FINISHED
    assert outcome.cost <= MOST
    assert report.citations
    store = open_sqlite(settings.home)
    for cited in report.citations:
        text = store.texts.get(cited.passage.snapshot)
        assert text[cited.passage.start : cited.passage.end] == cited.quote
    store.close()
    again = await replay(outcome.run.id, settings)
    assert again.report == report
