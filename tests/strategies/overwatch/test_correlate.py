from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Correlation,
    CorrelationKind,
    Hypothesis,
    HypothesisStatus,
)
from deepdiver.errors import ReasonError
from deepdiver.strategies.overwatch.correlate import (
    MOST,
    UNMEASURED,
    accept_added,
    compute_confidence,
    correlate,
    enter_contradictions,
    events_of,
    keep_surest,
    show_typed,
)
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import take_turn
from deepdiver.strategies.shared.base import Deps
from tests.strategies.overwatch.test_gather import STATE
from tests.strategies.rig import CorpusProvider, Rig, ScriptedReasoner

DIP = "At 04:41 UTC on 8 February 2026 the own voltage dipped at 63.2201 N, 19.0765 E."
SMOKE = "At 04:47 UTC on 8 February 2026 the own guard saw smoke at 63.2140 N, 19.0820 E."
LATER = "The own harbour opened again on 9 March 2026."
CORPUS = {
    "doc:grid": ("Grid", "log", DIP),
    "doc:port": ("Port", "log", SMOKE),
    "doc:news": ("News", "newspaper", LATER),
}


async def found(
    tmp_path: Path, corpus: Any = CORPUS, **rules: Any
) -> tuple[Rig, Deps, list[dict[str, Any]]]:
    rig = Rig(tmp_path, ScriptedReasoner(**rules), CorpusProvider(corpus))
    deps = rig.session().deps
    update = await take_turn(STATE, deps, make_searches(["own voltage smoke harbour"], "x", "y"))
    return rig, deps, update["findings"]


def key(findings: list[dict[str, Any]], quote: str) -> str:
    return next(str(item["id"]) for item in findings if item["quote"] == quote)


# -- what is not taken


async def test_with_fewer_than_two_findings_nobody_is_asked(tmp_path: Path) -> None:
    rig, deps, findings = await found(tmp_path)
    assert await correlate(deps, "Q?", findings[:1], []) == []
    assert await correlate(deps, "Q?", [], []) == []
    assert rig.reasoner.of(tasks.Correlate) == []


@pytest.mark.parametrize("kind", [CorrelationKind.TEMPORAL, CorrelationKind.GEOSPATIAL])
async def test_closeness_that_was_not_measured_is_not_taken(
    tmp_path: Path, kind: CorrelationKind
) -> None:
    def claim(task: tasks.Correlate) -> tasks.Correlations:
        said = tasks.Correlated(
            finding_ids=("F1", "F2"), correlation_type=kind, description="They are close."
        )
        unknown = said.model_copy(update={"proposal": "P99"})
        return tasks.Correlations(correlations=(said, unknown))

    _, deps, findings = await found(tmp_path, correlate=claim)
    assert await correlate(deps, "Q?", findings, []) == []


async def test_a_cause_of_the_reasoners_needs_findings_that_are_there_of_two_origins(
    tmp_path: Path,
) -> None:
    _, deps, findings = await found(tmp_path)
    labels, _ = show_typed(deps, findings)

    def said(*ids: str) -> tasks.Correlated:
        return tasks.Correlated(
            finding_ids=ids, correlation_type=CorrelationKind.CAUSAL, description="It may be so."
        )

    assert (
        accept_added(deps, [said(), said("F1"), said("F1", "F1"), said("F1", "F9")], labels) == []
    )
    (made,) = accept_added(deps, [said("F1", "F2")], labels)
    assert made["description"] == "It may be so."
    assert made["confidence"] == compute_confidence(deps, made["finding_ids"], UNMEASURED)
    assert deps.ledger.get(Correlation, made["id"]).findings == tuple(made["finding_ids"])


async def test_words_that_the_findings_do_not_hold_are_left_out(tmp_path: Path) -> None:
    def tell(task: tasks.Correlate) -> tasks.Correlations:
        made = [
            tasks.Correlated(
                finding_ids=item.finding_ids,
                correlation_type=item.correlation_type,
                description="Eva Flod saw it 17 times.",
                proposal=item.id,
            )
            for item in task.proposals
        ]
        return tasks.Correlations(correlations=tuple(made))

    _, deps, findings = await found(tmp_path, correlate=tell)
    listed = await correlate(deps, "Q?", findings, [])
    assert listed
    assert {item["description"] for item in listed} == {""}
    assert not [entry for entry in deps.ledger if "Eva Flod" in entry.model_dump_json()]


# -- what is


async def test_what_was_measured_stands_even_where_nobody_explains_it(tmp_path: Path) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("no")

    for name, rules in {"a": {"correlate": fail}, "b": {}}.items():
        _, deps, findings = await found(tmp_path / name, **rules)
        listed = await correlate(deps, "Q?", findings, [])
        temporal = next(item for item in listed if item["correlation_type"] == "temporal")
        assert temporal["finding_ids"] == [key(findings, DIP), key(findings, SMOKE)]
        assert temporal["measured"] == "6 minutes apart, 0.73 km apart"
        assert {item["correlation_type"] for item in listed} == {"temporal", "geospatial", "causal"}
        assert all(item["id"] in deps.ledger for item in listed)


async def test_a_proposal_that_is_left_out_is_chance(tmp_path: Path) -> None:
    _, deps, findings = await found(
        tmp_path, correlate=lambda task: tasks.Correlations(correlations=())
    )
    assert await correlate(deps, "Q?", findings, []) == []


async def test_the_findings_are_shown_by_type_with_when_and_where(tmp_path: Path) -> None:
    rig, deps, findings = await found(tmp_path)
    await correlate(deps, "Q?", findings, [])
    (task,) = rig.reasoner.of(tasks.Correlate)
    assert [(group.type, len(group.findings)) for group in task.by_type] == [
        ("log", 2),
        ("news", 1),
    ]
    shown = {item.quote: item for group in task.by_type for item in group.findings}
    assert shown[SMOKE].when == "2026-02-08T04:47Z"
    assert shown[SMOKE].where == "63.214, 19.082"
    assert shown[LATER].when == "2026-03-09"


async def test_events_are_findings_that_say_when_or_where(tmp_path: Path) -> None:
    _, deps, findings = await found(
        tmp_path, {**CORPUS, "doc:x": ("X", "blog", "It is the own fault of the harbour.")}
    )
    assert len(findings) == 4
    assert {event.key for event in events_of(deps, findings)} == {
        key(findings, text) for text in (DIP, SMOKE, LATER)
    }


async def test_a_correlation_is_believed_as_far_as_its_least_credible_source(
    tmp_path: Path,
) -> None:
    _, deps, findings = await found(
        tmp_path, {**CORPUS, "doc:blog": ("Blog", "blog", SMOKE.replace("guard", "cook"))}
    )
    dip, smoke = key(findings, DIP), key(findings, SMOKE)
    blog = key(findings, SMOKE.replace("guard", "cook"))
    assert (
        compute_confidence(deps, [dip, smoke], 1.0)
        > compute_confidence(deps, [dip, blog], 1.0)
        == compute_confidence(deps, [blog], 1.0)
    )
    assert compute_confidence(deps, [dip], 0.0) == 0.5
    assert compute_confidence(deps, [dip], 1.0) > compute_confidence(deps, [dip], 0.3) > 0.5


def test_a_run_keeps_the_surest_each_once() -> None:
    listed = [{"id": f"c_{n}", "confidence": n / 100} for n in range(30)]
    best = keep_surest([*listed, *listed])
    assert [item["id"] for item in best] == [f"c_{n}" for n in range(29, 29 - MOST, -1)]


# -- what does not go together


async def test_the_best_findings_for_and_against_contradict_each_other(tmp_path: Path) -> None:
    _, deps, findings = await found(tmp_path)
    dip, smoke, later = (key(findings, text) for text in (DIP, SMOKE, LATER))

    def held(number: int, supporting: tuple[str, ...], refuting: tuple[str, ...]) -> Assessment:
        made = Hypothesis(
            id=f"h_{number}", statement=f"Claim {number}.", supports_if="a", refutes_if="b"
        )
        return Assessment(
            hypothesis=made,
            posterior=0.5,
            status=HypothesisStatus.UNDECIDED,
            trials=1,
            supporting=supporting,
            refuting=refuting,
        )

    assert enter_contradictions(deps, [held(1, (dip,), ()), held(2, (), (smoke,))]) == []
    (made,) = enter_contradictions(deps, [held(1, (later, dip), (smoke,))])
    assert made["findings"] == [dip, smoke], "a log goes before a newspaper"
    assert made["kind"] == "contradicts"
    assert "Claim 1." in made["description"]
    assert deps.ledger.get(Contradiction, made["id"]).findings == (dip, smoke)
    rivals = [held(1, (dip,), (smoke,)), held(2, (smoke,), (dip,))]
    assert len(enter_contradictions(deps, rivals)) == 1, "two rivals are one contradiction"
    pairs = [
        (one, other) for one in (dip, smoke, later) for other in (dip, smoke, later) if one != other
    ]
    many = enter_contradictions(
        deps, [held(n, (one,), (other,)) for n, (one, other) in enumerate(pairs)]
    )
    assert len(many) == 3
