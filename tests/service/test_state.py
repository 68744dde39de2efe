"""The state of a service: whose files are where, and what happens to runs when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.service.accounts import NAME, Account
from deepdiver.service.state import KEY, OWN_FOLDER, open_state
from deepdiver.work import Crew, order_of


def test_no_user_can_have_the_folder_of_the_person_at_the_machine() -> None:
    assert not NAME.fullmatch(OWN_FOLDER)


async def test_each_user_has_a_folder_of_their_own(tmp_path: Path) -> None:
    async with open_state(Settings(home=tmp_path), concurrency=0) as state:
        folders = [state.folder_of(Account(name)) for name in ("", "ada", "bob")]
        assert len(set(folders)) == 3
        assert {folder.parent for folder in folders} == {tmp_path / "files"}


async def test_the_token_of_the_settings_is_a_secret_and_signs_in(tmp_path: Path) -> None:
    token = "a-token-of-the-settings"
    settings = Settings(home=tmp_path, keys={KEY: SecretStr(token)})
    async with open_state(settings, concurrency=0) as state:
        assert state.accounts.by_token(token) == Account()
        assert state.scrub(f"it is {token}!") == "it is [secret]!"


async def test_a_run_that_was_queued_is_there_after_a_restart(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_state(settings, concurrency=0) as state:
        run = state.queue.put(order_of("Who runs it?", settings, owner="ada"))
    async with open_state(settings, concurrency=0) as state:
        assert state.store.runs.get(run).status is RunStatus.QUEUED
        assert state.queue.owner_of(run) == "ada"
        assert [item.run for item in state.queue.waiting("ada")] == [run]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_no_request_waits_for_a_connection_of_a_run(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    crews: list[Crew] = []
    hire = Crew.__aenter__

    async def note(self: Crew) -> Crew:
        crews.append(self)
        return await hire(self)

    monkeypatch.setattr(Crew, "__aenter__", note)
    settings = Settings(home=tmp_path)
    if kind == "postgres":
        server, name = request.getfixturevalue("postgres"), request.getfixturevalue("database")
        address = SecretStr(server.address(name))
        settings = settings.model_copy(update={"database": address})
    async with open_state(settings, concurrency=1) as state:
        (crew,) = crews
        own = crew._queue.store
        assert (own is state.store) == (kind == "sqlite"), "a file has one writer at a time"
        assert state.stop_here == crew.stop
        run = state.queue.put(order_of("Who?", settings, owner="ada", not_before=2e9))
        assert own.runs.get(run) == state.store.runs.get(run)
