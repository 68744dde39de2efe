"""Steering, sharing, asking back and the ceiling, as people and programs meet them."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Price, Settings
from deepdiver.service import runs
from deepdiver.service.accounts import Account
from deepdiver.service.schemas import NewRun
from tests.service.conftest import told
from tests.service.rig import QUESTION, service

HTML = {"accept": "text/html"}
RUNS = "/api/v1/runs"


# Steering


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": "look"},
        {"action": "look", "text": " "},
        {"action": "stop", "text": "it"},
        {"action": "look", "text": "x" * 1_001},
        {"action": "look", "text": "x", "path": "/etc/passwd"},
        {"action": "look", "text": "a\0b"},
    ],
)
async def test_what_makes_no_sense_is_not_said(tmp_path: Path, body: dict[str, str]) -> None:
    async with service(tmp_path) as rig:
        run = (await rig.client.post(RUNS, json={"question": QUESTION})).json()["id"]
        answer = await rig.client.post(f"{RUNS}/{run}/steer", json=body)
        assert answer.status_code == 422
        assert (await rig.client.get(f"{RUNS}/{run}")).json()["said"] == []


async def test_a_queued_run_is_steered_by_programs_and_people(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        run = (await rig.client.post(RUNS, json={"question": QUESTION})).json()["id"]
        said = await rig.client.post(
            f"{RUNS}/{run}/steer", json={"action": "look", "text": "the  school"}
        )
        assert said.status_code == 200
        assert said.json()["said"] == [{"action": "look", "text": "the school", "heeded": False}]
        form = {"action": "look", "text": "their <b>parents</b>"}
        page = await rig.client.post(f"/runs/{run}/steer", data=form, headers=HTML)
        assert page.headers["location"] == f"/runs/{run}"
        shown = (await rig.client.get(f"/runs/{run}", headers=HTML)).text
        assert "Look too at: the school" in shown
        assert "their &lt;b&gt;parents" in shown
        assert "at the next step" in shown
        wrong = await rig.client.post(f"/runs/{run}/steer", data={**form, "action": "x"})
        assert wrong.status_code == 422
        actions = [line.action for line in rig.state.log.lines()]
        assert actions == ["run.look", "run.look", "run.create"]


async def test_only_a_source_that_the_run_has_read_can_be_left_out(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        run = told(home, "ada")
        rig.state.store.runs.set_status(run, RunStatus.STOPPED)
        for text in ("s_nothing", "https://elsewhere.example/", "/etc/passwd"):
            answer = await rig.client.post(
                f"{RUNS}/{run}/steer", json={"action": "ignore", "text": text}, headers=own
            )
            assert answer.status_code == 404, text
        sources = [
            (key, text)
            for kind, key, text in rig.state.store.records.ledger(run)
            if kind == "source"
        ]
        answer = await rig.client.post(
            f"{RUNS}/{run}/steer", json={"action": "ignore", "text": sources[0][0]}, headers=own
        )
        (said,) = answer.json()["said"]
        assert said["action"] == "ignore"
        assert f'"title":"{said["text"]}"' in sources[0][1]
        page = (await rig.client.get(f"/runs/{run}", headers={**own, **HTML})).text
        assert "What you said" in page
        assert "at the next step" in page


async def test_a_finished_run_cannot_be_steered(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        answer = await rig.client.post(
            f"{RUNS}/{told(home, 'ada')}/steer",
            json={"action": "look", "text": "its owners"},
            headers=own,
        )
        assert answer.status_code == 422
        assert "is finished" in answer.text


# Sharing


async def test_nothing_is_shared_until_somebody_shares_it(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home, "bob") as rig:
        run = told(home, "ada")
        assert (await rig.client.get(f"{RUNS}/{run}", headers=own)).json()["shared"] == ""
        for token in ("", "x", run, told(home, "token"), "a" * 43, "%2e%2e%2fruns"):
            answer = await rig.client.get(f"/shared/{token}", headers=HTML)
            assert answer.status_code == 404, token
        other = await rig.client.post(f"{RUNS}/{run}/share", headers=rig.of("bob"))
        assert other.status_code == 404
        queued = await rig.client.post(RUNS, json={"question": QUESTION}, headers=own)
        unfinished = await rig.client.post(f"{RUNS}/{queued.json()['id']}/share", headers=own)
        assert unfinished.status_code == 404


async def test_a_link_shows_one_report_and_nothing_else(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home, "bob") as rig:
        run = told(home, "ada")
        path = (await rig.client.post(f"{RUNS}/{run}/share", headers=own)).json()["path"]
        page = await rig.client.get(path, headers=HTML)
        assert page.status_code == 200
        assert QUESTION in page.text
        assert 'href="#c1"' in page.text
        assert "<form" not in page.text
        assert "<nav" not in page.text
        assert run not in page.text, "not even its name"
        assert not re.findall(r'href="/(?!static/)', page.text)
        assert page.headers["x-robots-tag"] == "noindex, nofollow"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in page.headers
        for other in (f"/runs/{run}", f"{RUNS}/{run}", f"{path}/exports/pdf", "/", "/history"):
            assert (await rig.client.get(other)).status_code in (401, 404), other
        assert (await rig.client.post(path)).status_code == 405
        token = path.removeprefix("/shared/")
        for headers in (
            {"authorization": f"Bearer {token}"},
            {"cookie": f"deepdiver_session={token}"},
        ):
            assert (await rig.client.get(RUNS, headers=headers)).status_code == 401


async def test_a_link_ends_when_it_is_ended_replaced_or_its_run_deleted(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        run, client = told(home, "ada"), rig.client

        async def made() -> str:
            return str((await client.post(f"{RUNS}/{run}/share", headers=own)).json()["path"])

        first, second = await made(), await made()
        assert (await client.get(first)).status_code == 404
        assert (await client.get(second)).status_code == 200
        assert (await client.delete(f"{RUNS}/{run}/share", headers=own)).status_code == 204
        assert (await client.get(second)).status_code == 404
        third = await made()
        assert (await client.delete(f"{RUNS}/{run}", headers=own)).status_code == 204
        assert (await client.get(third)).status_code == 404
        actions = [line.action for line in rig.state.log.lines("ada")]
        assert actions.count("run.share") == 3
        assert actions.count("run.unshare") == 1


async def test_the_page_shows_a_new_link_once(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}", **HTML}
    async with service(home) as rig:
        run = told(home, "ada")
        before = (await rig.client.get(f"/runs/{run}", headers=own)).text
        assert "Nobody but you can read this report" in before
        shown = (await rig.client.post(f"/runs/{run}/share", headers=own)).text
        found = re.search(r'value="http://127.0.0.1(/shared/[^"]+)"', shown)
        assert found
        assert (await rig.client.get(found[1], headers=HTML)).status_code == 200
        later = (await rig.client.get(f"/runs/{run}", headers=own)).text
        assert found[1] not in later
        assert "There is a link, made on" in later
        ended = await rig.client.post(f"/runs/{run}/unshare", headers=own)
        assert ended.status_code == 303
        assert (await rig.client.get(found[1], headers=HTML)).status_code == 404


# Asking back


async def test_a_vague_question_is_asked_back_about(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        form = {"question": "pensions", "length": "brief", "sources": "sample", "approve": "yes"}
        back = await rig.client.post("/ask", data=form, headers=HTML)
        assert back.status_code == 200
        assert "What would you like to know about “pensions”?" in back.text
        assert not rig.state.store.runs.list_all()
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', back.text))
        assert hidden == form
        empty = await rig.client.post("/ask", data={**hidden, "answer": "  "}, headers=HTML)
        assert "What would you like to know" in empty.text
        asked = await rig.client.post(
            "/ask", data={**hidden, "answer": "in Sweden since 2010"}, headers=HTML
        )
        run = rig.state.store.runs.get(asked.headers["location"].removeprefix("/runs/"))
        assert run.question == "pensions: in Sweden since 2010"
        assert run.settings["length"] == "brief"
        assert run.settings["approve"]


async def test_whoever_wants_to_goes_on_anyway(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        form = {"question": "pensions", "anyway": "yes"}
        asked = await rig.client.post("/ask", data=form, headers=HTML)
        assert asked.status_code == 303
        assert [run.question for run in rig.state.store.runs.list_all()] == ["pensions"]


async def test_programs_are_told_what_to_ask_back(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        for question, back in (("Why did it fail?", "“it”"), (QUESTION, "")):
            answer = await rig.client.post("/api/v1/clarify", json={"question": question})
            assert back in answer.json()["question"]
            assert bool(answer.json()["question"]) is bool(back)
        made = await rig.client.post(RUNS, json={"question": "pensions"})
        assert made.status_code == 201, "a program means what it says"


# What it can cost


async def test_without_a_model_it_costs_nothing(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        assert "It costs nothing." in (await rig.client.get("/", headers=HTML)).text
        answer = await rig.client.post("/api/v1/ceiling", json={"question": QUESTION})
        assert Decimal(answer.json()["usd"]) == 0
        wrong = await rig.client.post("/api/v1/ceiling", json={"question": "x", "model": "other"})
        assert wrong.status_code == 422


async def test_the_ceiling_is_computed_from_prices_strategy_and_length(tmp_path: Path) -> None:
    price = Price(input=Decimal(1), output=Decimal(2))
    settings = Settings(
        model="openai:gpt-5-mini",
        keys={"openai": SecretStr("sk-not-a-real-key-1234567890")},
        prices={"openai:gpt-5-mini": price},
    )
    async with service(tmp_path, settings=settings) as rig:
        state, who = rig.state, Account()

        def most(**asked: str) -> Decimal:
            wanted = NewRun.model_validate({"question": QUESTION, "sources": ["sample"], **asked})
            found = runs.ceiling(state, who, wanted)
            assert found is not None
            return found

        def of(strategy: str, **more: str) -> Decimal:
            return most(strategy=strategy, **more)

        popper, long, navigator, free = await asyncio.to_thread(
            lambda: (
                of("popper"),
                of("popper", length="long"),
                of("navigator"),
                of("popper", model="embedded"),
            )
        )
        assert long > popper > 0
        assert navigator != popper
        assert free == 0
        page = (await rig.client.get("/", headers=HTML)).text
        assert re.search(r"It can cost at most \$\d", page)
        form = {"question": "", "strategy": "popper", "sources": "sample"}
        told_ = await rig.client.post("/ask/ceiling", data=form)
        assert told_.text.startswith("It can cost at most $")
        other = await rig.client.post("/ask/ceiling", data={**form, "model": "embedded"})
        assert other.text == "It costs nothing."
        assert (await rig.client.post("/ask/ceiling", data={"budget": "much"})).text == ""


# Next questions


async def test_a_report_suggests_what_it_leaves_open(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        run, store = told(home, "ada"), rig.state.store
        held = runs.report_of(rig.state, store.runs.get(run))
        limits = ("Not answered: Where is <their> school?",)
        store.records.save_report(run, held.model_copy(update={"limits": limits}).model_dump_json())
        data = (await rig.client.get(f"{RUNS}/{run}", headers=own)).json()
        assert data["next_questions"][0] == "Where is <their> school?"
        page = (await rig.client.get(f"/runs/{run}", headers={**own, **HTML})).text
        assert "Still open" in page
        assert "Where is &lt;their&gt; school?" in page
