"""One question, five strategies, the sample library and no model.

Each gives the answer on record, word for word.

The record of each is `golden/<strategy>.json`. When a change makes a strategy answer otherwise,
look at the difference, and if it is better: `python -m tests.strategies.test_golden` writes the
records anew.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.settings import load
from deepdiver.run import replay, research
from deepdiver.strategies.table import TABLE

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "What is the age of the children for the parents which run the company Svedjan Ost AB."
GOLDEN = Path(__file__).parent / "golden"


async def made(strategy: str, home: Path) -> tuple[dict[str, Any], str]:
    """Run the question, then replay it; return what is on record, and the report's Markdown."""
    settings = load(
        {
            "home": home,
            "documents": (sample.LIBRARY,),
            "strategy": strategy,
            "as_of": "2026-11-15",
        }
    )
    outcome = await research(QUESTION, settings)
    assert outcome.error is None
    assert outcome.report is not None
    assert outcome.folder is not None
    again = await replay(outcome.run.id, settings)
    assert again.report is not None
    assert again.report.hash == outcome.report.hash
    report = outcome.report
    record = {
        "status": report.status.value,
        "confidence": round(report.confidence, 3),
        "answer": [sentence.text for sentence in report.answer],
        "sections": [section.heading for section in report.sections],
        "hypotheses": [
            [item.status.value, item.hypothesis.statement] for item in report.hypotheses
        ],
        "citations": [[citation.url, citation.quote] for citation in report.citations],
    }
    return record, (outcome.folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", list(TABLE))
async def test_the_seeds_question(strategy: str, tmp_path: Path) -> None:
    record, report = await made(strategy, tmp_path)
    assert record["status"] == "answered"
    answer = " ".join(record["answer"])
    for name, age in (("Alma", 15), ("Hjalmar", 12), ("Siri", 8)):
        assert f"{name} Kvarnlöf is {age} years old on 2026-11-15" in answer
    assert "sample:svedjan/" in report
    if strategy == "navigator":
        assert all(
            f"\n## {heading}\n" in report
            for heading in ("Bottom line", "Research Journey", "Key Sources")
        )
    assert record == json.loads((GOLDEN / f"{strategy}.json").read_text(encoding="utf-8"))


def write() -> None:
    """Write the records anew."""
    GOLDEN.mkdir(exist_ok=True)
    for strategy in TABLE:
        with tempfile.TemporaryDirectory() as home:
            record, _ = asyncio.run(made(strategy, Path(home)))
        text = json.dumps(record, ensure_ascii=False, indent=1)
        (GOLDEN / f"{strategy}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
