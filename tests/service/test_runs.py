"""What users can do with runs; the API's tests do the rest of it over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.core.settings import Settings
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.service import library, runs
from deepdiver.service.accounts import Account
from deepdiver.service.schemas import Answer, NewRun
from tests.service.conftest import told
from tests.service.rig import QUESTION, service

ADA = Account("ada")


@pytest.mark.parametrize("name", ["", "bob"])
async def test_a_run_is_found_by_its_owner_alone(home: Path, name: str) -> None:
    async with service(home) as rig:
        assert runs.find_run(rig.state, ADA, told(home, "ada")).question == QUESTION
        with pytest.raises(UnknownNameError):
            runs.find_run(rig.state, Account(name), told(home, "ada"))
        assert runs.find_run(rig.state, Account(), told(home, "own")).question == QUESTION


async def test_models_are_those_of_the_service(tmp_path: Path) -> None:
    settings = Settings(model="openai:big", fast_model="openai:small", task_models={"write": "a:b"})
    assert runs.models_of(settings) == ("openai:big", "openai:small", "a:b", "embedded")
    async with service(tmp_path, settings=settings) as rig:
        asked = NewRun(question="Who?", model="embedded")
        made = runs.run_settings(rig.state, ADA, asked)
        assert (made.model, made.fast_model, made.task_models) == ("embedded", "", {})
        assert runs.run_settings(rig.state, ADA, NewRun(question="Who?")).model == "openai:big"
        with pytest.raises(UsageError, match="must be one of"):
            runs.run_settings(rig.state, ADA, NewRun(question="Who?", model="openai:huge"))


async def test_what_is_searched_where_nobody_chooses(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == (sample.LIBRARY,)
        folder = rig.state.folder_of(ADA)
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("A text.", encoding="utf-8")
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == made.documents_within == (Path("@home/files/ada"),)
        assert made.places(made.documents) == (folder,)
        assert str(tmp_path) not in str(made.public()), "where the home is concerns nobody"
        assert made.search == ("library",)
        assert library.has_files(rig.state, ADA)
        assert runs.usual_sources(rig.state, Account("bob")) == ("sample",)


async def test_documents_and_the_web_of_the_service(tmp_path: Path) -> None:
    settings = Settings(documents=(tmp_path,), search=("library", "wikipedia"))
    async with service(tmp_path / "home", settings=settings) as rig:
        made = runs.run_settings(rig.state, ADA, NewRun(question="Who?"))
        assert made.documents == (tmp_path,)
        assert made.search == ("library", "wikipedia")
        only = NewRun(question="Who?", sources=("web",))
        made = runs.run_settings(rig.state, ADA, only)
        assert (made.documents, made.search) == ((), ("wikipedia",))


async def test_an_answer_that_says_nothing_is_none(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        run, _ = runs.create_run(rig.state, ADA, NewRun(question="Who?"))
        for said, why in (
            (Answer(action="edit"), "at least one"),
            (Answer(action="add", constraints=" "), "take into account"),
        ):
            with pytest.raises(UsageError, match=why):
                runs.answer_run(rig.state, ADA, run.id, said)


async def test_stopping_takes_a_run_out_of_the_queue_and_resuming_puts_it_back(
    tmp_path: Path,
) -> None:
    async with service(tmp_path) as rig:
        run, _ = runs.create_run(rig.state, ADA, NewRun(question="Who?"))
        assert runs.stop_run(rig.state, ADA, run.id).status.value == "stopped"
        assert runs.stop_run(rig.state, ADA, run.id).status.value == "stopped"
        assert runs.resume_run(rig.state, ADA, run.id).status.value == "queued"
        assert runs.resume_run(rig.state, ADA, run.id).status.value == "queued"
        runs.delete_run(rig.state, ADA, run.id)
        assert rig.state.queue.waiting() == []
        actions = [line.action for line in rig.state.log.lines("ada")]
        assert actions == ["run.delete", "run.resume", "run.stop", "run.create"]
