"""Heeding a person: what is looked at, what is left out, and what neither changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import Limited, Steered
from deepdiver.core.record import Finding, Source
from deepdiver.core.steering import Steering, SteeringKind
from deepdiver.strategies.shared.base import Deps, LookResult, State, Update
from deepdiver.strategies.shared.heed import HeedByLooking, note_steering
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.table import TABLE
from tests.strategies.rig import QUESTION, Rig

GAZETTE = Steering(kind=SteeringKind.IGNORE, text="doc:gazette", title="Gazette")


def heed(entered: list[Any]) -> HeedByLooking:
    def enter(state: State, deps: Deps, found: Any) -> Update:
        entered.extend(found)
        return {"found": [key for looked in found for key in looked.findings]}

    return HeedByLooking(
        nodes=frozenset({"write"}),
        question="asked",
        problems="parts",
        findings=lambda state: state["found"],
        enter=enter,
        leave_out=lambda state, deps: {"found": deps.without_ignored(state["found"])},
    )


async def looked(deps: Deps) -> LookResult:
    return await look_into(deps, QUESTION, QUESTION, [QUESTION])


async def test_what_is_looked_at_becomes_a_part_of_the_question(tmp_path: Path) -> None:
    rig, entered = Rig(tmp_path), list[Any]()
    deps = rig.session().deps
    said = [Steering(kind=SteeringKind.LOOK, text=text) for text in ("Anna Holm", "Anna Holm")]
    state = {"asked": QUESTION, "parts": [QUESTION], "found": []}
    update = await heed(entered)(state, deps, said)
    assert update["parts"] == [QUESTION, "Anna Holm"]
    assert rig.provider.queries == ["Anna Holm"], "once, though it was said twice"
    assert update["found"]
    assert len(rig.of(Steered)) == 2


async def test_a_source_that_is_left_out_is_read_no_more(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    note_steering(deps, [GAZETTE])
    found = await looked(deps)
    assert found.findings
    assert "doc:gazette" not in {item.url for item in deps.ledger.of(Source).values()}
    assert [event.what for event in rig.of(Limited)] == ["left out, as you asked: Gazette"]


async def test_what_was_found_in_it_before_counts_no_more(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    keys = list((await looked(deps)).findings)
    sources = {
        key: deps.ledger.get(Source, deps.ledger.get(Finding, key).quotes[0].source).url
        for key in keys
    }
    assert "doc:gazette" in sources.values()
    state = {"asked": QUESTION, "parts": [QUESTION], "found": keys}
    update = await heed([])(state, deps, [GAZETTE])
    assert update == {"found": [key for key in keys if sources[key] != "doc:gazette"]}


async def test_nobody_said_anything(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    keys = list((await looked(deps)).findings)
    assert deps.without_ignored(keys) == keys
    assert not deps.is_ignored("doc:gazette")
    assert list(deps.hear(1)) == []


@pytest.mark.parametrize("strategy", TABLE)
def test_every_strategy_hears_before_it_writes(strategy: str) -> None:
    module: Any = TABLE[strategy]._module()
    nodes = set(TABLE[strategy].build().nodes)
    assert module.HEED.nodes <= nodes
    last = {
        "popper": "final_answer",
        "iterative": "write_report",
        "overwatch": "synthesize_report",
        "orchestrated": "synthesize_research",
        "navigator": "hitl_output",
    }
    assert last[strategy] in module.HEED.nodes
    assert not {"initialize", "approve_plan", "human_feedback"} & module.HEED.nodes
