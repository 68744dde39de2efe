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
from deepdiver.errors import ReasonError, StoreError
from deepdiver.strategies.overwatch.correlate import (
    MOST,
    UNMEASURED,
    accept_named,
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
    update = await take_turn(
        STATE, deps, make_searches(["voltage smoke harbour Holm Senn Oslo"], "x", "y")
    )
    return rig, deps, update["findings"]


def key(findings: list[dict[str, Any]], quote: str) -> str:
    return next(str(item["id"]) for item in findings if item["quote"] == quote)


def fail(task: Any) -> Any:
    raise ReasonError("no")


# -- what is not taken


async def test_with_fewer_than_two_findings_nobody_is_asked(tmp_path: Path) -> None:
    rig, deps, findings = await found(tmp_path)
    held: list[dict[str, Any]] = [{"id": "c_1", "confidence": 0.5}]
    assert await correlate(deps, "Q?", findings[:1], held) == (held, 0, "")
    assert await correlate(deps, "Q?", [], []) == ([], 0, "")
    assert rig.reasoner.of(tasks.Correlate) == []


async def test_where_nothing_has_a_time_nobody_is_asked(tmp_path: Path) -> None:
    letters = {
        "doc:a": ("A", "blog", "The own team in Oslo says hello, and thanks for the update in Q1."),
        "doc:b": ("B", "blog", "We own shops in Oslo and are strong in B2B and in Q1."),
        "doc:c": ("C", "blog", "The own port in Oslo is busy."),
    }
    rig, deps, findings = await found(tmp_path, letters, correlate=fail)
    assert len(findings) == 3
    assert {tuple(item["location"]["places"]) for item in findings} == {("Oslo",)}
    assert await correlate(deps, "Q?", findings, []) == ([], 0, "")
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

    far = {
        **CORPUS,
        "doc:port": ("Port", "log", SMOKE.replace("8 Feb", "9 Feb").replace("63", "3")),
    }
    _, deps, findings = await found(tmp_path, far, correlate=claim)
    assert (await correlate(deps, "Q?", findings, [])).correlations == []


async def test_closeness_that_the_reasoner_names_is_taken_as_it_is_measured(tmp_path: Path) -> None:
    _, deps, findings = await found(tmp_path)
    labels, shown = show_typed(deps, findings)
    label = {item.quote: item.id for item in shown}
    said = tasks.Correlated(
        finding_ids=(label[SMOKE], label[DIP], label[LATER]),
        correlation_type=CorrelationKind.TEMPORAL,
        description="The own voltage dipped before the own guard saw smoke.",
        confidence="high",
    )
    (made,) = accept_named(deps, [said], labels, findings)
    assert made["finding_ids"] == [key(findings, DIP), key(findings, SMOKE)], "not what was later"
    assert made["measured"] == "6 minutes apart, 0.73 km apart"
    assert made["description"] == said.description


async def test_a_cause_of_the_reasoners_needs_findings_that_are_there_of_two_origins(
    tmp_path: Path,
) -> None:
    _, deps, findings = await found(tmp_path)
    labels, _ = show_typed(deps, findings)

    def said(*ids: str) -> tasks.Correlated:
        return tasks.Correlated(
            finding_ids=ids, correlation_type=CorrelationKind.CAUSAL, description="It may be so."
        )

    few = [said(), said("F1"), said("F1", "F1"), said("F1", "F9")]
    assert accept_named(deps, few, labels, findings) == []
    (made,) = accept_named(deps, [said("F1", "F2")], labels, findings)
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
    listed = (await correlate(deps, "Q?", findings, [])).correlations
    assert listed
    assert {item["description"] for item in listed} == {""}
    assert not [entry for entry in deps.ledger if "Eva Flod" in entry.model_dump_json()]


# -- what is


async def test_what_was_measured_stands_even_where_nobody_explains_it(tmp_path: Path) -> None:
    for name, rules in {"a": {"correlate": fail}, "b": {}}.items():
        _, deps, findings = await found(tmp_path / name, **rules)
        listed, events, _ = await correlate(deps, "Q?", findings, [])
        assert events == 3
        temporal = next(item for item in listed if item["correlation_type"] == "temporal")
        assert temporal["finding_ids"] == [key(findings, DIP), key(findings, SMOKE)]
        assert temporal["measured"] == "6 minutes apart, 0.73 km apart"
        assert {item["correlation_type"] for item in listed} == {"temporal", "geospatial", "causal"}
        assert all(item["id"] in deps.ledger for item in listed)


async def test_a_proposal_that_is_left_out_is_chance(tmp_path: Path) -> None:
    _, deps, findings = await found(
        tmp_path, correlate=lambda task: tasks.Correlations(correlations=())
    )
    assert (await correlate(deps, "Q?", findings, [])).correlations == []


async def test_findings_may_be_named_by_their_numbers(tmp_path: Path) -> None:
    def count(task: tasks.Correlate) -> tasks.Correlations:
        said = tasks.Correlated(
            finding_ids=("0", "1"),
            correlation_type=CorrelationKind.CAUSAL,
            description="So be it.",
            implications=("It may burn again.",),
        )
        return tasks.Correlations(correlations=(said,)).keep_thought("Hm.")

    _, deps, findings = await found(tmp_path, correlate=count)
    (made,), _, thoughts = await correlate(deps, "Q?", findings, [])
    assert thoughts == "Hm.\nSo be it.: It may burn again.", "what would follow is logged"
    assert set(made["finding_ids"]) == {key(findings, DIP), key(findings, SMOKE)}, "shown first"


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


async def test_events_are_findings_that_say_when(tmp_path: Path) -> None:
    more = {
        "doc:x": ("X", "blog", "It is the own fault of the harbour."),
        "doc:y": ("Y", "blog", "The own smoke was seen in Oslo at 59.91 N, 10.75 E."),
        "doc:z": ("Z", "blog", "No own smoke was seen before 04:44 UTC on 8 February 2026."),
    }
    _, deps, findings = await found(tmp_path, {**CORPUS, **more})
    assert len(findings) == 6
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


OWNED = {
    "doc:register": ("Register", "register", "Holm Works is owned by Anna Holm."),
    "doc:gazette": ("Gazette", "newspaper", "Holm Works is owned by Bertil Ask, a trader."),
    "doc:wire": ("Wire", "newspaper", "Holm Works is owned by Carl Dahl."),
    "doc:mail": ("Mail", "blog", "Good morning, thanks for your own update on Holm Works."),
    "doc:note": ("Note", "blog", "The own canteen of Holm Works serves soup on Mondays."),
}


def disputed(
    number: int, supporting: tuple[str, ...], refuting: tuple[str, ...], posterior: float = 0.5
) -> Assessment:
    made = Hypothesis(
        id=f"h_{number}", statement=f"Claim {number}.", supports_if="a", refutes_if="b"
    )
    return Assessment(
        hypothesis=made,
        posterior=posterior,
        status=HypothesisStatus.UNDECIDED,
        trials=1,
        supporting=supporting,
        refuting=refuting,
    )


async def test_a_finding_that_only_a_judge_sets_against_another_does_not_contradict_it(
    tmp_path: Path,
) -> None:
    _, deps, findings = await found(tmp_path, OWNED)
    anna, mail, note = (
        key(findings, OWNED[f"doc:{name}"][2]) for name in ("register", "mail", "note")
    )
    for one, other in ((anna, mail), (mail, note), (note, anna)):
        assert await enter_contradictions(deps, [disputed(1, (one,), (other,))]) == []
    assert (
        await enter_contradictions(deps, [disputed(1, (anna,), ()), disputed(2, (), (note,))]) == []
    )


async def test_two_names_for_one_person_are_no_contradiction(tmp_path: Path) -> None:
    texts = {
        "doc:a": ("A", "newspaper", "They own it, as founder Ruth Tamsin of Free Senn put it."),
        "doc:b": ("B", "newspaper", "Ms Tamsin founded Free Senn in her own kitchen in 2017."),
    }
    _, deps, findings = await found(tmp_path, texts)
    one, other = (item["id"] for item in findings)
    assert await enter_contradictions(deps, [disputed(1, (one,), (other,))]) == []


async def test_findings_that_say_the_contrary_of_each_other_contradict(tmp_path: Path) -> None:
    _, deps, findings = await found(tmp_path, OWNED)
    anna, bertil, carl, mail = (
        key(findings, OWNED[f"doc:{name}"][2]) for name in ("register", "gazette", "wire", "mail")
    )
    (made,) = await enter_contradictions(deps, [disputed(1, (anna,), (mail, bertil))])
    assert made["findings"] == [anna, bertil]
    assert made["kind"] == "contradicts"
    assert "Claim 1." in made["description"]
    assert deps.ledger.get(Contradiction, made["id"]).findings == (anna, bertil)
    rivals = [disputed(1, (anna,), (bertil,)), disputed(2, (bertil,), (anna,))]
    assert len(await enter_contradictions(deps, rivals)) == 1, "two rivals are one contradiction"
    names = (anna, bertil, carl)
    pairs = [(one, other) for one in names for other in names if one != other]
    many = await enter_contradictions(
        deps, [disputed(n, (one,), (other,)) for n, (one, other) in enumerate(pairs)]
    )
    assert len(many) == 3


async def test_without_the_reader_nothing_is_called_a_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, deps, findings = await found(tmp_path, OWNED)
    anna, bertil = (key(findings, OWNED[f"doc:{name}"][2]) for name in ("register", "gazette"))

    def broken() -> Any:
        raise StoreError("its files are missing")

    monkeypatch.setattr("deepdiver.strategies.overwatch.correlate.load_reader", broken)
    assert await enter_contradictions(deps, [disputed(1, (anna,), (bertil,))]) == []
