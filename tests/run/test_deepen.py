"""A deeper look into a section.

A new run that remembers the old one, searches where it searched, and cites anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.events import Recalled
from deepdiver.core.record import Report, Run, RunStatus, Section, Sentence
from deepdiver.core.settings import Settings, load
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.run import deepen, replay, research
from deepdiver.run.deepen import plan_deeper_look, tell_news, write_deeper_question
from deepdiver.store import Store, open_store

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "store"})


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings)) as opened:
        yield opened


def finished(
    store: Store, *headings: str, status: RunStatus = RunStatus.ANSWERED, **run: Any
) -> str:
    """Enter a run with a report of so many sections."""
    given = {"strategy": "popper", "settings": {}, **run}
    store.runs.create(
        Run(
            id="20261115-x-1",
            question="Who owns it?",
            created="2026-11-15T12:00:00+00:00",
            version="0",
            **given,
        )
    )
    sections = tuple(
        Section(heading=heading, sentences=(Sentence(text="So."),)) for heading in headings
    )
    report = Report(
        question="Who owns it?", status=status, answer=(), confidence=0.5, sections=sections
    )
    store.records.save_report("20261115-x-1", report.model_dump_json())
    store.runs.set_status("20261115-x-1", status)
    return "20261115-x-1"


def test_a_run_that_is_not_there(settings: Settings, store: Store) -> None:
    with pytest.raises(UnknownNameError):
        plan_deeper_look("nothing", 1, settings, store)


@pytest.mark.parametrize(
    "status", [RunStatus.RUNNING, RunStatus.STOPPED, RunStatus.WAITING, RunStatus.FAILED]
)
def test_a_run_that_is_not_finished(settings: Settings, store: Store, status: RunStatus) -> None:
    key = finished(store, "Ownership", status=status)
    with pytest.raises(
        UsageError, match=f"is {status.value} and has no report yet; go on with: deepdiver resume"
    ):
        plan_deeper_look(key, 1, settings, store)


@pytest.mark.parametrize("section", [0, -1, 3, 99])
def test_a_section_that_is_not_there_is_told_with_those_that_are(
    settings: Settings, store: Store, section: int
) -> None:
    key = finished(store, "Ownership", "The  years\nbefore")
    with pytest.raises(
        UsageError, match=rf"no section {section} .* it has 1\. Ownership; 2\. The years before"
    ):
        plan_deeper_look(key, section, settings, store)


def test_a_report_without_sections(settings: Settings, store: Store) -> None:
    with pytest.raises(UsageError, match="none to look deeper into"):
        plan_deeper_look(finished(store), 1, settings, store)


def test_the_beginning_of_an_id_is_enough(settings: Settings, store: Store) -> None:
    finished(store, "Ownership")
    assert plan_deeper_look("20261115", 1, settings, store).run == "20261115-x-1"


@pytest.mark.parametrize(
    ("question", "heading", "asked"),
    [
        ("Who owns it?", "Since when?", "Who owns it? In particular: Since when?"),
        ("Who owns it?", "Ownership", "Who owns it? In particular: Ownership."),
        ("Who owns it?", "Ownership.", "Who owns it? In particular: Ownership."),
        ("An overview of heat pumps", "Costs", "An overview of heat pumps. In particular: Costs."),
        (" Tell me. ", "Costs", "Tell me. In particular: Costs."),
    ],
)
def test_the_question_is_the_original_one_and_the_heading(
    question: str, heading: str, asked: str
) -> None:
    assert write_deeper_question(question, heading) == asked


def test_the_old_runs_settings_are_kept(settings: Settings, store: Store) -> None:
    kept = {
        "documents": [str(sample.LIBRARY)],
        "search": ["library"],
        "max_iterations": 2,
        "strategy": "iterative",
    }
    key = finished(store, "Ownership", settings=kept, strategy="iterative")
    deeper = plan_deeper_look(key, 1, settings, store).settings
    assert deeper.documents == (sample.LIBRARY,)
    assert (deeper.search, deeper.max_iterations, deeper.strategy) == (
        ("library",),
        2,
        "iterative",
    )
    assert deeper.home == settings.home


def test_another_strategy_has_its_own_number_of_rounds(settings: Settings, store: Store) -> None:
    key = finished(store, "Ownership", settings={"max_iterations": 9})
    made = plan_deeper_look(key, 1, settings, store, {"strategy": "iterative"}).settings
    assert (made.strategy, made.max_iterations) == ("iterative", None)
    named = plan_deeper_look(
        key, 1, settings, store, {"strategy": "iterative", "max_iterations": 3}
    ).settings
    assert named.max_iterations == 3


def test_a_strategy_that_the_question_chose_is_the_runs(settings: Settings, store: Store) -> None:
    key = finished(store, "Ownership", settings={"strategy": "auto"}, strategy="iterative")
    assert plan_deeper_look(key, 1, settings, store).settings.strategy == "iterative"


@pytest.mark.parametrize("first", ["popper", "iterative"])
@pytest.mark.parametrize("second", ["popper", "iterative"])
async def test_a_deeper_look_works_for_every_strategys_report(
    settings: Settings, store: Store, first: str, second: str
) -> None:
    asked = {
        "documents": (sample.LIBRARY,),
        "search": ("library",),
        "strategy": first,
        "as_of": date(2026, 11, 15),
    }
    old = await research(
        "Who owns Lodbåken Elektro AB?", settings.model_copy(update=asked), store=store
    )
    assert old.report is not None
    assert old.report.sections
    events: list[Any] = []
    changes = {"strategy": second}
    new = await deepen(
        old.run.id, 1, settings, changes=changes, store=store, on_event=events.append
    )
    assert new.report is not None
    assert new.run.strategy == second
    assert new.run.deepens == old.run.id
    assert store.runs.get(new.run.id).deepens == old.run.id, "the link is on record"
    assert old.report.sections[0].heading in new.run.question
    assert [event.run for event in events if isinstance(event, Recalled)] == [old.run.id]
    assert new.report.made_by.endswith(f"looking deeper into {old.run.id}")
    assert any(old.run.id in line for line in new.report.limits)
    again = await replay(new.run.id, settings, store=store)
    assert again.report is not None
    assert again.report.hash == new.report.hash


# What is new


async def test_a_deeper_look_says_how_much_of_it_is_new(settings: Settings, store: Store) -> None:
    asked = settings.model_copy(update={"documents": (sample.LIBRARY,)})
    first = await research(QUESTION, asked, store=store)
    assert first.report is not None
    cited = len({item.quote for item in first.report.citations})
    assert cited
    same = tell_news(first.report, first.run.id, store)
    assert same == (
        f"nothing new: {first.run.id} had already found every passage that this report cites"
    )
    empty = finished(store, "Owner")
    assert tell_news(first.report, empty, store) == (
        f"{cited} of {cited} cited passages are new since {empty}"
    )
    nothing = first.report.model_copy(update={"citations": ()})
    assert tell_news(nothing, empty, store).startswith("nothing new: ")
