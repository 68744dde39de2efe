"""What a run is assembled from: what is refused first, then that each thing is done once."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.events import Event
from deepdiver.core.settings import load
from deepdiver.errors import (
    MissingKeyError,
    NoEvidenceError,
    SettingsError,
    UnknownNameError,
    UsageError,
)
from deepdiver.gateway import Mode
from deepdiver.run import research
from deepdiver.run import session as sessions
from deepdiver.run.assemble import (
    OwnParts,
    assemble,
    choose_search,
    own_parts_of,
    reach_outside,
    unpriced,
)
from deepdiver.run.session import Session
from deepdiver.tools import registry
from deepdiver.tools.registry import Choice
from tests.strategies.rig import CorpusProvider, Rig, ScriptedReasoner


def ignore(event: Event) -> None:
    """Drop an event."""


def test_without_anything_to_search_a_run_says_so(tmp_path: Path) -> None:
    rig = Rig(tmp_path, search=("exa?",))
    with pytest.raises(NoEvidenceError, match="nothing to search") as caught:
        Session(rig.run, rig.settings, rig.store)
    assert "--in PATH" in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_budget_without_prices_is_refused(tmp_path: Path) -> None:
    rig = Rig(tmp_path, prices={}, budget="1.00")
    with pytest.raises(UsageError, match=r"a budget needs prices.*\[prices\]"):
        rig.session()


@pytest.mark.parametrize(("name", "error"), [("exa", MissingKeyError), ("exaa", UnknownNameError)])
def test_a_provider_that_cannot_be_used_is_refused(
    tmp_path: Path, name: str, error: type[Exception]
) -> None:
    settings = load({"home": tmp_path, "search": (name,)})
    with pytest.raises(error):
        choose_search(settings, OwnParts())


def test_a_replay_needs_no_keys(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "search": ("exa",)})
    assert [p.name for p in choose_search(settings, OwnParts(), Mode.REPLAY).providers] == ["exa"]


def test_a_feed_that_cannot_be_used_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    rig = Rig(tmp_path, strategy="overwatch", feeds=("search_evnts",))
    with pytest.raises(UnknownNameError, match="did you mean search_events"):
        rig.session()


async def test_a_caller_whose_providers_are_gone_has_nothing_to_search(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    with pytest.raises(NoEvidenceError, match="nothing to search"):
        await reach_outside(deps, Choice((), mcp=("mcp:gone",)), OwnParts())


def test_own_providers_are_taken_as_they_are(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "search": ("exa",)})
    mine = CorpusProvider()
    assert choose_search(settings, OwnParts(providers=[mine])).providers == (mine,)


def test_nothing_of_the_callers_own_leaves_the_settings(tmp_path: Path) -> None:
    assert own_parts_of(None, None, "popper") == OwnParts()
    reasoner = ScriptedReasoner()
    assert own_parts_of(reasoner, None, "popper").reasoner is reasoner
    assert own_parts_of(reasoner, [], "popper").providers == []
    assert own_parts_of(reasoner, [], "popper").changes == {}


@pytest.mark.parametrize("rounds", [0, -1, 101])
def test_rounds_that_a_caller_copied_into_the_settings_are_checked_too(
    tmp_path: Path, rounds: int
) -> None:
    rig = Rig(tmp_path)
    settings = rig.settings.model_copy(update={"max_iterations": rounds})
    choice, mine = Choice((rig.provider,)), OwnParts(reasoner=rig.reasoner)
    with pytest.raises(SettingsError, match=f"max_iterations is {rounds}; it must be 1 to 100"):
        assemble(rig.run, settings, rig.store, ignore, choice, mine)


def test_what_is_assembled(tmp_path: Path) -> None:
    rig = Rig(tmp_path, max_iterations=2)
    choice, mine = Choice((rig.provider,)), OwnParts(reasoner=rig.reasoner)
    deps = assemble(rig.run, rig.settings, rig.store, ignore, choice, mine)
    assert deps.reasoner is rig.reasoner
    assert list(deps.providers) == [rig.provider]
    assert deps.max_iterations == 2
    assert deps.ceiling == Decimal(0)
    assert deps.store.runs is rig.store.runs
    assert deps.store.journal is rig.store.journal
    assert deps.settings.as_of == date.fromisoformat(rig.run.created[:10]), "a run knows one day"
    replayed = assemble(rig.run, rig.settings, rig.store, ignore, choice, mine, Mode.REPLAY)
    replayed.store.records.save_report(rig.run.id, "{}")
    assert rig.store.records.report(rig.run.id) is None, "a replay writes nothing"


def test_a_ceiling_is_not_known_without_prices(tmp_path: Path) -> None:
    assert Rig(tmp_path, prices={}).session().deps.ceiling is None


def test_what_has_no_price_is_named(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "model": "openai:never-heard-of", "fast_model": "embedded"})
    choice = Choice((CorpusProvider(),))
    assert unpriced(settings, choice) == ("openai:never-heard-of", "corpus")
    priced = {"openai:never-heard-of": {"input": "1"}, "corpus": {"call": "0.01"}}
    assert unpriced(load({"home": tmp_path, "prices": priced}), choice) == ()


async def test_a_run_chooses_prepares_and_loads_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: dict[str, int] = {}

    def counted(module: Any, name: str) -> None:
        real = getattr(module, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            counts[name] = counts.get(name, 0) + 1
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, call)

    counted(registry, "_wanted")  # what `choose` walks
    counted(sessions, "reach_outside")
    counted(sessions, "assemble")
    settings = load({"home": tmp_path, "documents": (sample.LIBRARY,), "search": ("library",)})
    outcome = await research("Who owns Lodbåken Elektro AB?", settings)
    assert outcome.report is not None
    assert len(outcome.ledger) > 0
    assert counts == {"_wanted": 1, "reach_outside": 1, "assemble": 1}
