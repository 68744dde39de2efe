"""What a judge is asked, and what becomes of its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import Report, RunStatus, Sentence
from deepdiver.core.settings import Settings, load
from deepdiver.errors import MissingKeyError, ReasonError
from deepdiver.evals.cases import Case, Gold, Kind
from deepdiver.evals.judge import ask_judge, claims_for_judge
from deepdiver.reason import choose
from deepdiver.tasks import Check, Checks, CheckSupport
from tests.evals.test_insights import report

CASE = Case("1", "When was it built?", ("1902", "in 1902"), ("1885",))
SAID = Report(
    question="q",
    status=RunStatus.ANSWERED,
    answer=(Sentence(text="It was built in 1902."),),
    confidence=0.8,
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "home", "model": "openai:thinks", "budget": "1"})


class Model:
    """Answers as it was told to, and keeps what it was asked."""

    description = "a model"

    def __init__(self, *support: str) -> None:
        self.support, self.asked, self.closed = support, list[CheckSupport](), False

    async def perform(self, task: CheckSupport) -> Checks:
        self.asked.append(task)
        if not self.support:
            raise ReasonError("it said nothing")
        checks = [
            Check.model_validate({"id": c.id, "support": s})
            for c, s in zip(task.claims, self.support, strict=False)
        ]
        return Checks(checks=(*checks, Check(id="C99", support="full")))

    async def close(self) -> None:
        self.closed = True


def judged_by(model: Model, monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    seen: list[Settings] = []

    def chosen(settings: Settings, *_: Any) -> Model:
        seen.append(settings)
        return model

    monkeypatch.setattr(choose, "choose_reasoner", chosen)
    return seen


async def test_a_judge_that_cannot_be_asked_is_told(settings: Settings) -> None:
    with pytest.raises(MissingKeyError):
        await ask_judge("openai:gpt-x", Kind.ANSWERS, CASE, SAID, settings)


async def test_a_judge_that_says_nothing_is_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()
    judged_by(model, monkeypatch)
    with pytest.raises(ReasonError):
        await ask_judge("a:b", Kind.ANSWERS, CASE, SAID, settings)
    assert model.closed


async def test_a_report_that_says_nothing_costs_no_question(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model("full")
    judged_by(model, monkeypatch)
    silent = SAID.model_copy(update={"answer": ()})
    told = await ask_judge("a:b", Kind.ANSWERS, CASE, silent, settings)
    assert told == {
        "judged": {"answer 1": False, "answer 2": False, "wrong 1": False},
        "judge_usd": "0",
    }
    assert model.asked == []


async def test_only_full_support_counts_and_strange_labels_do_not(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model("full", "partial", "none")
    seen = judged_by(model, monkeypatch)
    told = await ask_judge("a:b", Kind.ANSWERS, CASE, SAID, settings)
    assert told["judged"] == {"answer 1": True, "answer 2": False, "wrong 1": False}
    assert [claim.text for claim in model.asked[0].claims] == [
        "When was it built? 1902",
        "When was it built? in 1902",
        "When was it built? 1885",
    ]
    assert model.asked[0].claims[0].quotes == ("It was built in 1902.",)
    assert [quote.text for quote in model.asked[0].quotes] == ["It was built in 1902."]
    assert "It was built in 1902." in model.asked[0].prompt().user, "a model sees it"
    assert (seen[0].model, seen[0].fast_model, seen[0].task_models, seen[0].budget) == (
        "a:b",
        "",
        {},
        None,
    )
    assert model.closed


async def test_the_embedded_reasoner_may_judge(settings: Settings) -> None:
    case = Case("1", "The lighthouse was built in", ("1902",), ("1885",))
    said = SAID.model_copy(update={"answer": (Sentence(text="The lighthouse was built in 1902."),)})
    told = await ask_judge("embedded", Kind.ANSWERS, case, said, settings)
    assert told["judged"] == {"answer 1": True, "wrong 1": False}


def test_an_insight_is_asked_about_with_what_cites_its_file() -> None:
    made = report(
        ("Waste fell.", "a.pdf", 0, 9),
        ("Rent rose.", "b.pdf", 0, 9),
        ("It fell by 8%.", "a.pdf", 9, 20),
    )
    golds = (Gold("1", "Waste fell by 8%.", "a.pdf"), Gold("2", "Nothing.", "c.pdf"))
    asked = claims_for_judge(Kind.INSIGHTS, Case("1", "q", golds=golds), made)
    assert asked == {
        "1": ("Waste fell by 8%.", ("Waste fell.", "It fell by 8%.")),
        "2": ("Nothing.", ()),
    }
