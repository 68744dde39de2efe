"""Hypotheses that only the reasoner says to stand on their evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.events import Limited
from deepdiver.core.record import (
    Assessment,
    Hypothesis,
    HypothesisStatus,
    RunStatus,
    Sentence,
    SentenceKind,
    Stance,
)
from deepdiver.strategies.shared.doubt_unfounded import UNFOUNDED, doubt_unfounded
from tests.strategies.drafts import answering, told
from tests.strategies.rig import CORPUS, CorpusProvider, Rig, ScriptedReasoner
from tests.strategies.shared.desk import desk
from tests.strategies.shared.written import ORDER, OWNED, owned, report_of

ASKED = "How many hours did the committee give testing?"


def standing(
    statement: str,
    *supporting: str,
    status: HypothesisStatus = HypothesisStatus.SUPPORTED,
    posterior: float = 0.9,
    prior: float = 0.5,
) -> Assessment:
    """Return a hypothesis as the reasoner's judgements have moved it."""
    claim = Hypothesis(
        id=f"h_{len(statement)}",
        statement=statement,
        supports_if="the minutes say so",
        refutes_if="the minutes deny it",
        prior=prior,
    )
    return Assessment(
        hypothesis=claim, posterior=posterior, status=status, trials=1, supporting=supporting
    )


def assume(statement: str) -> dict[str, Any]:
    """Put one hypothesis forward, for which everything is said to speak."""
    return {
        "hypothesise": lambda task: tasks.HypothesisSet(
            hypotheses=(
                tasks.Proposed(
                    statement=statement,
                    answer="yes",
                    supports_if="a register",
                    refutes_if="another register",
                    findings=tuple(shown.id for shown in task.findings),
                ),
            )
        ),
        "judge": lambda task: tasks.Judgements(
            judgements=tuple(
                tasks.Judgement(finding=shown.id, stance=Stance.SUPPORTS, strength=0.9)
                for shown in task.findings
            )
        ),
        "write_report": owned,
    }


async def test_an_answer_does_not_rest_on_a_hypothesis_about_something_else(
    tmp_path: Path,
) -> None:
    report, rig = await report_of(tmp_path, **assume(ORDER))
    (item,) = report.hypotheses
    assert item.status is HypothesisStatus.UNDECIDED
    assert item.posterior == item.hypothesis.prior
    assert item.supporting == ()
    assert (report.status, report.confidence) == (RunStatus.PARTIAL, 0.0)
    line = f"Not counted: “{ORDER}”. {UNFOUNDED}"
    assert line in report.limits
    assert line in [event.what for event in rig.of(Limited)]
    assert [sentence.text for sentence in report.answer] == [OWNED], "what is carried stays"


async def test_it_rests_on_one_in_other_words(tmp_path: Path) -> None:
    report, _ = await report_of(tmp_path, **assume("There is a person who possesses the firm."))
    (item,) = report.hypotheses
    assert item.status is HypothesisStatus.SUPPORTED
    assert report.status is RunStatus.ANSWERED
    assert report.confidence == pytest.approx(item.posterior, abs=1e-4)


async def test_a_hypothesis_stands_on_what_code_has_computed(tmp_path: Path) -> None:
    """An age stands in no quote; the answer that code has checked carries it."""
    rules = assume("Somebody aged 46 is meant.") | {
        "write_report": answering(
            lambda label: [
                told(
                    "On 2026-11-15 Anna Holm is 46 years old.",
                    label("1980"),
                    expression="years(1980-05-03, 2026-11-15)",
                )
            ]
        )
    }
    corpus = {
        **CORPUS,
        "doc:birth": ("Parish", "register", "Anna Holm, who owns a boat, was born on 3 May 1980."),
    }
    rig = Rig(tmp_path, ScriptedReasoner(**rules), CorpusProvider(corpus), as_of="2026-11-15")
    report = (await rig.work()).report
    assert report is not None
    assert report.status is RunStatus.ANSWERED
    assert [made.result for made in report.derivations] == ["46"]


async def test_a_strategy_without_hypotheses_has_none_to_doubt(tmp_path: Path) -> None:
    deps, _ = desk(tmp_path)
    assert await doubt_unfounded(deps, ASKED, None, []) == (None, frozenset())
    assert await doubt_unfounded(deps, ASKED, [], []) == ([], frozenset())
    assert deps.notes == set()


async def test_one_without_evidence_is_put_back_and_nothing_is_said_to_be_uncounted(
    tmp_path: Path,
) -> None:
    deps, _ = desk(tmp_path)
    alone = standing(ORDER, status=HypothesisStatus.OPEN, posterior=0.7, prior=0.6)
    listed, unfounded = await doubt_unfounded(deps, ASKED, [alone], [])
    assert unfounded == {alone.hypothesis.id}, "an answer does not rest on it"
    assert listed == [alone.model_copy(update={"posterior": 0.6})]
    assert deps.notes == set(), "no evidence was said to speak for it"


async def test_doubt_raises_no_belief(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    low = standing(ORDER, keys[0], status=HypothesisStatus.UNDECIDED, posterior=0.2)
    listed, _ = await doubt_unfounded(deps, ASKED, [low], [])
    assert listed == [low.model_copy(update={"supporting": ()})]


async def test_a_refuted_one_stays_as_it_is(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    refuted = standing(ORDER, keys[0], status=HypothesisStatus.REFUTED, posterior=0.1)
    assert await doubt_unfounded(deps, ASKED, [refuted], []) == ([refuted], frozenset())


async def test_one_among_others_is_doubted_alone(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    held = standing("The committee gave testing 30 hours.", *keys)
    listed, unfounded = await doubt_unfounded(deps, ASKED, [held, standing(ORDER, *keys)], [])
    assert listed is not None
    assert listed[0] == held
    assert [item.status for item in listed] == [
        HypothesisStatus.SUPPORTED,
        HypothesisStatus.UNDECIDED,
    ]
    assert unfounded == {listed[1].hypothesis.id}


@pytest.mark.parametrize(
    ("kind", "doubted"), [(SentenceKind.FACT, False), (SentenceKind.FRAME, True)]
)
async def test_the_answer_carries_a_hypothesis_but_its_frames_do_not(
    tmp_path: Path, kind: SentenceKind, doubted: bool
) -> None:
    deps, keys = desk(tmp_path)
    said = [Sentence(text=ORDER, kind=kind, findings=tuple(keys))]
    _, unfounded = await doubt_unfounded(deps, ASKED, [standing(ORDER, *keys)], said)
    assert bool(unfounded) is doubted
