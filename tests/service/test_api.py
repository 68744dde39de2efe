"""The REST API: what programs can do with runs, and what they are told when they cannot."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.report.exports.formats import FORMATS
from tests.service.conftest import told
from tests.service.rig import QUESTION, Rig, eventually, held_model, served, service

RUNS = "/api/v1/runs"
ASKED = {"question": QUESTION}


async def create(rig: Rig, name: str = "", **more: Any) -> httpx.Response:
    headers = {**rig.of(name), **more.pop("headers", {})}
    return await rig.client.post(RUNS, json={**ASKED, **more}, headers=headers)


# What is refused


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "the field 'question' is required"),
        ({"question": " "}, "question: it must have letters, and no NUL"),
        ({"question": "Who?", "command": "sh"}, "unknown field 'command'"),
        ({"question": "Who?", "documents": ["/etc"]}, "unknown field 'documents'"),
        ({"question": "Who?", "model": "openai:gpt-9"}, "the model must be one of embedded"),
        ({"question": "Who?", "sources": ["files"]}, "your own files cannot be searched"),
        ({"question": "Who?", "sources": ["documents"]}, "started without any"),
        ([], "Input should be"),
    ],
)
async def test_what_cannot_be_researched_is_refused_in_a_line(
    tmp_path: Path, body: Any, why: str
) -> None:
    async with service(tmp_path) as rig:
        answer = await rig.client.post(RUNS, json=body)
        assert answer.status_code == 422
        assert why in answer.json()["detail"]
        assert not rig.state.store.runs.list_all()


async def test_a_body_that_is_no_json(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        answer = await rig.client.post(
            RUNS, content=b"{", headers={"content-type": "application/json"}
        )
        assert answer.status_code == 422


@pytest.mark.parametrize("path", ["", "/events", "/report", "/exports/md"])
async def test_a_run_that_is_not_there(tmp_path: Path, path: str) -> None:
    async with service(tmp_path) as rig:
        answer = await rig.client.get(f"{RUNS}/20261117-none-00000000{path}")
        assert answer.status_code == 404
        assert answer.json() == {"detail": "there is no run '20261117-none-00000000'"}


async def test_the_beginning_of_an_id_is_no_id(home: Path) -> None:
    async with service(home) as rig:
        own = {"authorization": f"Bearer {told(home, 'token')}"}
        cut = told(home, "ada")[:-1]
        assert (await rig.client.get(f"{RUNS}/{cut}", headers=own)).status_code == 404


async def test_a_run_without_a_report_has_none_to_give(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        run = (await create(rig)).json()["id"]
        for path in ("report", "exports/pdf"):
            answer = await rig.client.get(f"{RUNS}/{run}/{path}")
            assert answer.status_code == 404
            assert "has no report yet: it is queued" in answer.json()["detail"]
        answer = await rig.client.post(f"{RUNS}/{run}/answer", json={"action": "accept"})
        assert "does not wait" in answer.json()["detail"]


# Limits


async def test_more_runs_than_one_may_have_are_refused(tmp_path: Path) -> None:
    async with service(tmp_path, "ada", "bob", runs=2) as rig:
        assert [(await create(rig, "ada")).status_code for _ in range(3)] == [201, 201, 429]
        assert (await create(rig, "bob")).status_code == 201
        run = (await rig.client.get(RUNS, headers=rig.of("ada"))).json()["runs"][0]["id"]
        await rig.client.post(f"{RUNS}/{run}/stop", headers=rig.of("ada"))
        assert (await create(rig, "ada")).status_code == 201
        again = await rig.client.post(f"{RUNS}/{run}/resume", headers=rig.of("ada"))
        assert again.status_code == 429


async def test_money_is_set_aside_and_deleting_gives_none_back(tmp_path: Path) -> None:
    async with service(tmp_path, "ada", money=Decimal("1.00")) as rig:
        run = (await create(rig, "ada", budget="0.75")).json()["id"]
        purses = rig.state.purses
        assert [purse.reserved for purse in purses.of("ada")] == [Decimal("0.75")]
        assert (await create(rig, "ada")).status_code == 201, "what is left, though more was asked"
        assert [purse.reserved for purse in purses.of("ada")][1] == Decimal("0.25")
        full = await create(rig, "ada")
        assert full.status_code == 429
        assert "$1.00" in full.json()["detail"]
        journal = rig.state.store.journal
        journal.reserve(
            run, "k", kind="model", provider="m", what="w", request="{}", worst=Decimal(1), now=0.0
        )
        journal.settle(run, "k", "{}", Decimal("0.40"), 0.0)
        gone = await rig.client.delete(f"{RUNS}/{run}", headers=rig.of("ada"))
        assert gone.status_code == 204
        assert purses.of("ada")[0].spent == Decimal("0.40")
        assert (await create(rig, "ada")).status_code == 201
        assert [purse.reserved for purse in purses.of("ada")][2] == Decimal("0.35")


async def test_no_request_spends_more_than_the_service_allows(tmp_path: Path) -> None:
    async with service(tmp_path, settings=Settings(budget=Decimal("0.10"))) as rig:
        await create(rig, budget="5")
        assert rig.state.purses.of("")[0].reserved == Decimal("0.10")


# Creating, once


async def test_the_same_key_twice_is_one_run_for_each_user(tmp_path: Path) -> None:
    key = {"idempotency-key": "my-key"}
    async with service(tmp_path, "ada", "bob") as rig:
        first = await create(rig, "ada", headers=key)
        again = await create(rig, "ada", headers=key)
        other = await create(rig, "bob", headers=key)
        assert [first.status_code, again.status_code, other.status_code] == [201, 200, 201]
        assert first.json()["id"] == again.json()["id"] != other.json()["id"]
        assert first.headers["location"] == f"{RUNS}/{first.json()['id']}"
        changed = await rig.client.post(
            RUNS, json={"question": "Another?"}, headers={**rig.of("ada"), **key}
        )
        assert changed.status_code == 422
        assert "was used for another question" in changed.json()["detail"]


async def test_a_run_is_queued_at_once_with_its_place_and_sees_nothing_of_the_machine(
    tmp_path: Path,
) -> None:
    async with service(tmp_path) as rig:
        made = [(await create(rig, approve=True)).json() for _ in range(2)]
        assert [run["status"] for run in made] == ["queued", "queued"]
        assert [run["position"] for run in made] == [1, 2]
        assert str(tmp_path) not in json.dumps(made)
        kept = rig.state.store.runs.get(made[0]["id"]).settings
        assert kept["search"] == ["library"]
        assert kept["documents_within"] == kept["documents"]
        assert "past" not in kept


@pytest.mark.parametrize("at_once", [1, 200])
async def test_runs_are_listed_the_newest_first_and_by_their_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("deepdiver.service.runs.READ_AT_ONCE", at_once)
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        for question in ("Who owns Holm Works?", "What is in the lake?"):
            await rig.client.post(RUNS, json={"question": question}, headers=own)
        listed = (await rig.client.get(RUNS, headers=own)).json()
        assert (len(listed["runs"]), listed["cursor"]) == (3, "")
        assert listed["runs"][-1]["question"] == QUESTION
        found = (await rig.client.get(f"{RUNS}?q=holm+WORKS", headers=own)).json()
        assert [run["question"] for run in found["runs"]] == ["Who owns Holm Works?"]
        met: list[Any] = []
        asked: dict[str, Any] = {"limit": 1, "cursor": ""}
        while not met or asked["cursor"]:
            page = (await rig.client.get(RUNS, params=asked, headers=own)).json()
            met += page["runs"]
            asked["cursor"] = page["cursor"]
        assert met == listed["runs"]
        page = (await rig.client.get(f"{RUNS}?limit=2", headers=own)).json()
        await rig.client.delete(f"{RUNS}/{page['runs'][-1]['id']}", headers=own)
        asked = {"limit": 9, "cursor": page["cursor"]}
        rest = (await rig.client.get(RUNS, params=asked, headers=own)).json()
        # Those of the same second may come again.
        new = [run for run in rest["runs"] if run not in page["runs"]]
        assert new == listed["runs"][2:], "a page goes on behind a run that is gone"
        person = {**own, "accept": "text/html"}
        for wrong in ("x", "~", "2026~' OR 1", "a" * 200):
            asked = {"cursor": wrong}
            assert (await rig.client.get(RUNS, params=asked, headers=own)).status_code == 422
            page = await rig.client.get("/history", params=asked, headers=person)
            assert page.status_code == 422
            assert "</h1>" in page.text, "a page says so to a person"
            assert "leave the cursor out" in page.text
            assert "pattern" not in page.text
        beyond = {"cursor": "2001-01-01T00:00:00+00:00~nothing", "q": "lake"}
        assert (await rig.client.get(RUNS, params=beyond, headers=own)).json()["runs"] == []
        page = await rig.client.get("/history", params=beyond, headers=person)
        assert "There are no older runs" in page.text
        assert 'href="/history?q=lake"' in page.text


# Reading


async def test_a_finished_run_can_be_read_followed_asked_and_exported(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    path = f"{RUNS}/{told(home, 'ada')}"
    async with service(home) as rig:
        rig.client.headers.update(own)
        run = (await rig.client.get(path)).json()
        assert run["finished"]
        assert run["answer"]
        report = await rig.client.get(f"{path}/report")
        assert report.headers["content-type"].startswith("text/markdown")
        assert "## Sources" in report.text
        data = (await rig.client.get(f"{path}/report?format=json")).json()
        assert data["question"] == QUESTION

        told_ = (await rig.client.post(f"{path}/ask", json={"question": QUESTION})).json()
        assert told_["found"]
        assert told_["citations"][0]["quote"]

        events = await rig.client.get(f"{path}/events")
        numbers = ids_of(events.text)
        assert numbers == list(range(1, numbers[-1] + 1))
        rest = await rig.client.get(f"{path}/events", headers={"last-event-id": str(numbers[4])})
        assert ids_of(rest.text) == numbers[5:]
        done = await rig.client.get(f"{path}/events?after={numbers[-1]}")
        assert done.status_code == 204

        for name, made in FORMATS.items():
            export = await rig.client.get(f"{path}/exports/{name}")
            assert export.status_code == 200, f"{name}: {export.text[:200]}"
            assert export.headers["content-disposition"].startswith("attachment")
            assert "unsafe-inline" not in export.headers["content-security-policy"]
            if not made.suffix:
                assert zipfile.ZipFile(io.BytesIO(export.content)).namelist()
        assert (await rig.client.get(f"{path}/exports/exe")).status_code == 404
        actions = {line.action for line in rig.state.log.lines("ada")}
        assert "run.export" in actions


def ids_of(text: str) -> list[int]:
    return [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")]


async def test_deleting_leaves_nothing(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        for name in ("own", "ada"):
            folder = home / "runs" / told(home, name)
            assert (folder / "report.html").exists()
        run = told(home, "ada")
        assert (await rig.client.delete(f"{RUNS}/{run}", headers=own)).status_code == 204
        assert not (home / "runs" / run).exists()
        assert (await rig.client.get(f"{RUNS}/{run}", headers=own)).status_code == 404
        assert (await rig.client.delete(f"{RUNS}/{run}", headers=own)).status_code == 404
        assert rig.state.store.records.events(run) == []
        assert rig.state.store.records.report(run) is None


async def test_a_section_can_be_looked_into_deeper(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        path = f"{RUNS}/{told(home, 'ada')}/deepen"
        made = await rig.client.post(f"{path}/1", headers=own)
        assert made.status_code == 201, made.text
        assert rig.state.store.runs.get(made.json()["id"]).deepens == told(home, "ada")
        assert rig.state.queue.owner_of(made.json()["id"]) == "ada"
        assert (await rig.client.post(f"{path}/999", headers=own)).status_code == 422


async def test_what_can_be_chosen(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        known = (await rig.client.get("/api/v1/choices")).json()
        assert known["strategies"][0]["name"] == "auto"
        assert known["models"] == ["embedded"]
        assert known["usual_sources"] == ["sample"]
        ready = {source["name"]: source["ready"] for source in known["sources"]}
        assert ready["sample"]
        assert not ready["files"]


# A person steers; a restart loses nothing


OWN = "managers of Svedjan Ost AB"


def test_a_plan_is_edited_stopped_and_survives_a_restart(tmp_path: Path) -> None:
    with served(tmp_path) as first, httpx.Client(base_url=first.url, timeout=60) as client:
        made = client.post(RUNS, json={**ASKED, "approve": True}).json()
        path = f"{RUNS}/{made['id']}"
        eventually(lambda: client.get(path).json()["status"] == "waiting")
    with served(tmp_path) as second, httpx.Client(base_url=second.url, timeout=60) as client:
        shown = client.get(path).json()["waits_for"]
        assert shown["ask"] == "approve_plan"
        assert client.post(f"{path}/resume").status_code == 422
        problems = [*shown["problems"], "Who runs Svedjan Ost AB?"][-2:]
        edit = {"action": "edit", "problems": problems, "queries": [*shown["queries"][:1], OWN]}
        assert client.post(f"{path}/answer", json={"action": "edit"}).status_code == 422
        said = client.post(f"{path}/answer", json={**edit, "about": {OWN: problems[-1]}})
        assert said.status_code == 200, said.text
        seen: list[int] = []
        with client.stream("GET", f"{path}/events") as stream:
            for line in stream.iter_lines():
                seen += [int(line[4:])] if line.startswith("id: ") else []
                if len(seen) == 3:
                    break
    with served(tmp_path) as third, httpx.Client(base_url=third.url, timeout=120) as client:
        with client.stream("GET", f"{path}/events", headers={"last-event-id": "3"}) as stream:
            for line in stream.iter_lines():
                seen += [int(line[4:])] if line.startswith("id: ") else []
        assert seen == list(range(1, seen[-1] + 1)), "each event once, over three servers"
        assert f'"query":"{OWN}"' in client.get(f"{path}/events").text, "it was searched for"
        assert client.get(path).json()["finished"]


def test_a_run_in_progress_can_be_stopped_and_resumed(tmp_path: Path) -> None:
    with (
        held_model() as (model, changes),
        served(tmp_path, **changes) as serving,
        httpx.Client(base_url=serving.url, timeout=60) as client,
    ):
        asked = {"question": "What is recorded about the ferry permits?", "sources": ["web"]}
        path = f"{RUNS}/{client.post(RUNS, json=asked).json()['id']}"
        eventually(model.asked.is_set)
        assert client.get(path).json()["status"] == "running"
        assert client.post(f"{path}/stop").status_code == 200
        eventually(lambda: client.get(path).json()["status"] == RunStatus.STOPPED)
        model.go.set()
        assert client.post(f"{path}/resume").json()["status"] in ("queued", "running")
        eventually(lambda: client.get(path).json()["finished"])
        assert client.delete(path).status_code == 204


def test_a_run_is_steered_while_it_is_under_way(tmp_path: Path) -> None:
    with (
        held_model() as (model, changes),
        served(tmp_path, **changes) as serving,
        httpx.Client(base_url=serving.url, timeout=60) as client,
    ):
        asked = {"question": "What is recorded about the ferry permits?", "sources": ["web"]}
        path = f"{RUNS}/{client.post(RUNS, json={**asked, 'strategy': 'popper'}).json()['id']}"
        eventually(model.asked.is_set)
        look = {"action": "look", "text": "The salt barn of Lund"}
        assert client.post(f"{path}/steer", json=look).json()["said"][0]["heeded"] is False
        model.go.set()
        eventually(lambda: client.get(path).json()["finished"])
        assert client.get(path).json()["said"][0]["heeded"] is True
        events = client.get(f"{path}/events").text
        assert '"type":"steered"' in events
        assert '"query":"The salt barn of Lund"' in events
