"""The web app: journeys without a script, and the same in Chromium with one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from deepdiver import sample
from deepdiver.core.events import RunEnded
from deepdiver.core.record import Run, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import StoreUnreachableError
from deepdiver.run.verify import verify
from deepdiver.service import pages
from deepdiver.service.examination import Examination, examine
from deepdiver.service.pages import SAMPLES, _pieces, _samples, _sentence
from deepdiver.store import open_store
from tests.chromium import Browser, browser, needs_chromium
from tests.service.conftest import told
from tests.service.rig import (
    PATIENCE,
    QUESTION,
    Served,
    eventually,
    held_model,
    served,
    service,
    tokens_of,
)

HTML = {"accept": "text/html"}
AXE = next(
    (
        file
        for folder in (os.environ.get("AXE_CORE", ""), "node_modules/axe-core")
        if folder and (file := Path(__file__).parents[2] / folder / "axe.min.js").is_file()
    ),
    None,
)
"""axe-core is a program of npm's; where it is not in the usual place, AXE_CORE names its folder."""
STATIC = Path(__file__).parents[2] / "src" / "deepdiver" / "service" / "static"
FERRY = "What caused the fire on the ferry?"
READ = "document.readyState === 'complete' && !!document.querySelector('.reading article sup a')"
"""Whether a report is shown, to its end."""


# The parts


def test_the_kit_is_what_it_is_said_to_be() -> None:
    lines = (STATIC / "ATTRIBUTION").read_text(encoding="utf-8").splitlines()
    said = {line.split()[2]: line.split()[1] for line in lines if line.startswith("sha256 ")}
    kit = {file.name for file in STATIC.glob("*.min.js")}
    assert set(said) == kit == {"htmx.min.js", "hx-sse.min.js"}
    for name, wanted in said.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == wanted
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE").read_text(encoding="utf-8")


# Without a script


async def test_nothing_of_a_page_is_inline_or_from_elsewhere(home: Path) -> None:
    own = {**HTML, "authorization": f"Bearer {told(home, 'token')}"}
    paths = ("/", "/history", "/library", "/settings", "/none")
    async with service(home) as rig:
        for path in (*paths, f"/runs/{told(home, 'ada')}", f"/runs/{told(home, 'ada')}?view=steps"):
            answer = await rig.client.get(path, headers=own)
            assert answer.headers["content-type"].startswith("text/html"), path
            assert not re.findall(r"<script(?! src=\"/static/)", answer.text), path
            assert not re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", answer.text), path
            loaded = re.findall(r"<(script|link|img)[^>]+(?:src|href)=\"([^\"]+)", answer.text)
            for kind, address in loaded:
                assert address.startswith("/static/"), f"{path}: {kind} {address}"


async def test_a_question_that_cannot_be_asked_is_shown_again(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        for form, why in (
            ({"question": " "}, "it must have letters"),
            ({"question": "Who owns <b>Holm</b>?", "sources": "files"}, "cannot be searched"),
            ({"question": QUESTION, "budget": "much"}, "must be a number of dollars"),
            ({"question": QUESTION, "command": "sh"}, "Unknown field"),
        ):
            answer = await rig.client.post("/ask", data=form, headers=HTML)
            assert answer.status_code == 422
            assert why in answer.text
            assert "<b>Holm" not in answer.text
        typed = {"question": QUESTION, "budget": "a < b", "approve": "yes", "sources": "sample"}
        again = (await rig.client.post("/ask", data=typed, headers=HTML)).text
        assert 'value="a &lt; b"' in again
        assert re.search(r'value="sample" checked', again)
        assert re.search(r'name="approve" value="yes" checked', again)
        assert not rig.state.store.runs.list_all()


async def test_signing_in_and_out(tmp_path: Path) -> None:
    async with service(tmp_path, "ada") as rig:
        client = rig.client
        wrong = await client.post("/signin", data={"token": "dd_wrong"}, headers=HTML)
        assert wrong.status_code == 401
        assert "Nobody has this token" in wrong.text
        right = await client.post("/signin", data={"token": rig.tokens["ada"]}, headers=HTML)
        assert right.status_code == 303
        cookie = right.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert rig.tokens["ada"] not in cookie
        assert (await client.get("/", headers=HTML)).status_code == 200
        away = {**HTML, "origin": "http://evil.example", "sec-fetch-site": "cross-site"}
        assert (await client.post("/signout", headers=away)).status_code == 403
        assert (await client.post("/signout", headers=HTML)).headers["location"] == "/signin"
        assert (await client.get("/", headers=HTML)).headers["location"] == "/signin"
        actions = [line.action for line in rig.state.log.lines()]
        assert actions == ["signout", "signin", "signin.refused"]


async def test_what_is_not_there_is_a_page_too(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        for path in ("/runs/nothing", "/library/files/none.txt", "/nowhere"):
            answer = await rig.client.get(path, headers=HTML)
            assert answer.status_code == 404
            assert "Not found" in answer.text
        assert "There is nothing at this address." in answer.text
        never = await rig.client.put("/history", headers=HTML)
        assert never.status_code == 405
        assert "That cannot be done at this address." in never.text


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("", ""),
        ("there is no run 'x'", "There is no run 'x'."),
        ("Nobody has this token.", "Nobody has this token."),
        ("what is it?", "What is it?"),
        ("openai:gpt-5-mini: no answer", "openai:gpt-5-mini: no answer."),
    ],
)
def test_a_message_is_a_sentence_on_a_page(message: str, shown: str) -> None:
    assert _sentence(message) == shown


def test_the_samples_are_each_of_another_kind() -> None:
    kinds = {item.text: item.kind for item in sample.questions()}
    offered = _samples()
    assert len(offered) == SAMPLES
    assert len({kinds[text] for text in offered}) == SAMPLES


@pytest.mark.parametrize(
    ("status", "shown", "hidden"),
    [
        (RunStatus.STOPPED, "It is saved.", "interrupted"),
        (RunStatus.FAILED, "The disk is full.", "It is saved."),
    ],
)
async def test_what_ended_a_run_is_told_unless_somebody_stopped_it(
    tmp_path: Path, status: RunStatus, shown: str, hidden: str
) -> None:
    async with service(tmp_path) as rig:
        run = (await rig.client.post("/api/v1/runs", json={"question": QUESTION})).json()["id"]
        why = (
            "the disk is full" if status is RunStatus.FAILED else f"run {run} stopped: interrupted"
        )
        ended = RunEnded(run=run, status=status, cost=Decimal(0), report_hash="", error=why)
        rig.state.store.records.add_events(run, [ended.model_dump_json()])
        rig.state.store.runs.set_status(run, status)
        page = (await rig.client.get(f"/runs/{run}", headers=HTML)).text
    assert shown in page
    assert hidden not in page
    assert "Resume" in page


async def test_a_page_that_is_opened_late_goes_on_from_where_the_run_is(home: Path) -> None:
    own = {**HTML, "authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        run, state = told(home, "ada"), rig.state
        state.store.runs.set_status(run, RunStatus.RUNNING)
        page = (await rig.client.get(f"/runs/{run}", headers=own)).text
        asked: Any = SimpleNamespace(app=rig.app)
        async with contextlib.aclosing(_pieces(asked, state, state.store.runs.get(run))) as pieces:
            first = (await anext(pieces)).decode()
        piece = "\n".join(line.removeprefix("data: ") for line in first.strip().split("\n"))
        assert "Getting ready" not in piece
        assert piece.strip() in page


@pytest.mark.parametrize("what", ["closed", "stopped", "deleted", "gone"])
async def test_a_page_is_told_that_a_run_is_over_and_not_that_the_service_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    async with service(tmp_path) as rig:
        run = (await rig.client.post("/api/v1/runs", json={"question": QUESTION})).json()["id"]
        state, asked = rig.state, SimpleNamespace(app=rig.app)
        got: list[bytes] = []
        pieces = _pieces(cast("Any", asked), state, state.store.runs.get(run))
        got.append(await anext(pieces))
        if what == "stopped":
            state.queue.cancel(run)
        elif what == "deleted":
            state.store.runs.delete(run, 0.0)
        else:
            await state.feed.close()
        if what == "gone":
            monkeypatch.setattr(state.store.runs, "get", lost_store)
        got += [piece async for piece in pieces]
    assert b"Queued" in got[0]
    assert (b"event: ended" in got[-1]) is (what in ("stopped", "deleted"))


def lost_store(run: str) -> Run:
    raise StoreUnreachableError("the server is away")


async def test_citations_on_a_page_are_small_numbers_with_a_space_between(home: Path) -> None:
    own = {**HTML, "authorization": f"Bearer {told(home, 'token')}"}
    async with service(home) as rig:
        page = (await rig.client.get(f"/runs/{told(home, 'ada')}", headers=own)).text
    article = page.partition("<article")[2].partition("</article>")[0]
    marks = re.findall(r'<a class="cite"[^>]*aria-label="([^"]*)"[^>]*>([^<]*)', article)
    assert len(marks) > 5
    for label, mark in marks:
        assert re.fullmatch(r"\d+[a-z–]*", mark), mark
        assert mark in label
    assert not re.findall(r'</a>,?<a class="cite"', article)


async def test_a_hostile_name_and_text_stay_text(tmp_path: Path) -> None:
    name, text = "<img src=x onerror=alert(1)>.txt", b"<script>alert(1)</script> Holm Works."
    async with service(tmp_path) as rig:
        added = await rig.client.post("/library/files", files={"files": (name, text)}, headers=HTML)
        assert added.status_code == 303
        page = (await rig.client.get("/library?q=holm", headers=HTML)).text
        opened = re.search(r'href="(/library/files/[^"]+)#hit"', page)
        assert opened
        document = await rig.client.get(opened[1].replace("&amp;", "&"), headers=HTML)
        assert document.status_code == 200
        assert '<mark id="hit">' in document.text
        assert "<script>alert" not in document.text
        assert "<img src=x" not in page
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page


async def test_the_settings_show_neither_places_nor_secrets(tmp_path: Path) -> None:
    async with service(tmp_path, "ada") as rig:
        page = (await rig.client.get("/settings", headers={**HTML, **rig.of("ada")})).text
        assert "embedded" in page
        assert str(tmp_path) not in page
        assert rig.tokens["ada"] not in page


@pytest.mark.parametrize("there", [True, False])
async def test_the_settings_say_what_can_be_reached_when_asked(
    tmp_path: Path, shared: Served, there: bool
) -> None:
    own = Settings(
        search=("searxng",), urls={"searxng": shared.url if there else "http://127.0.0.1:9"}
    )
    async with service(tmp_path, settings=own) as rig:
        page = (await rig.client.get("/settings", headers=HTML)).text
        assert "Try what can be reached" in page
        assert "; reachable" not in page
        tried = (await rig.client.post("/settings/reach", headers=HTML)).text
        assert "Try again" in tried
        (told,) = re.findall(r"<li[^>]*>(?:(?!</li>).)*<b>searxng</b>.*?</li>", tried, re.S)
        assert ("reachable" in told) is there
        assert ("Does not work" in told) is not there


@pytest.mark.parametrize("documents", [(), (Path("here"),)])
async def test_a_run_can_start_whatever_is_set_up_because_the_sample_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: tuple[Path, ...]
) -> None:
    looked: list[Settings] = []

    def look(settings: Settings, *, offline: bool) -> Examination:
        looked.append(settings)
        return examine(settings, offline=True)

    monkeypatch.setattr(pages, "examine", look)
    own = Settings(search=("library",), documents=documents)
    async with service(tmp_path, settings=own) as rig:
        page = (await rig.client.post("/settings/reach", headers=HTML)).text
    assert [settings.documents for settings in looked] == [documents or (sample.LIBRARY,)]
    assert ("A run can start." in page) is not bool(documents), "a folder that is not there"


async def test_a_run_that_was_stopped_in_the_queue_says_that_it_had_not_begun(
    tmp_path: Path,
) -> None:
    async with service(tmp_path) as rig:
        asked = await rig.client.post("/api/v1/runs", json={"question": FERRY})
        run = asked.json()["id"]
        waits = (await rig.client.get(f"/runs/{run}", headers=HTML)).text
        assert "Nothing yet" in waits
        await rig.client.post(f"/api/v1/runs/{run}/stop")
        page = (await rig.client.get(f"/runs/{run}", headers=HTML)).text
        assert "It was stopped before it had begun" in page
        assert "Nothing yet" not in page


def test_a_whole_journey_without_a_script(tmp_path: Path) -> None:
    with (
        served(tmp_path) as serving,
        httpx.Client(base_url=serving.url, headers=HTML, timeout=60) as client,
    ):
        first = client.get("/")
        assert "Try it on the sample library" in first.text
        asked = client.post("/ask", data={"question": QUESTION, "approve": "yes"})
        run = asked.headers["location"]
        page = eventually(lambda: "The plan" in (one := client.get(run)).text and one).text
        problems = re.findall(r"<textarea id=\"problem-\d+\"[^>]*>([^<]*)", page)
        added = client.post(f"{run}/plan", data={"problem": problems, "act": "add"})
        assert len(re.findall('name="problem"', added.text)) == len(problems) + 1
        plan = {"problem": [*problems, ""], "query-1": "Svedjan Ost <AB>", "act": "add-1"}
        added = client.post(f"{run}/plan", data=plan)
        assert ">Svedjan Ost &lt;AB&gt;</textarea>" in added.text
        assert len(re.findall('name="query-1"', added.text)) == 2
        nothing = client.post(f"{run}/plan", data={"problem": " ", "act": "start"})
        assert (nothing.status_code, "at least one sub-question" in nothing.text) == (422, True)
        started = client.post(f"{run}/plan", data={**plan, "act": "start"})
        assert started.headers["location"] == run
        read = eventually(lambda: "Ask about this report" in (one := client.get(run)).text and one)
        assert 'id="c1"' in read.text
        assert 'href="#c1"' in read.text
        steps = client.get(f"{run}?view=steps").text
        assert "Hypotheses" in steps
        told_ = client.post(f"{run}/ask", data={"question": QUESTION})
        assert 'div class="answered"' in told_.text
        assert QUESTION in client.get("/history?q=svedjan").text
        assert "No question has these words" in client.get("/history?q=nothingofthekind").text
        gone = client.post(f"{run}/delete")
        assert gone.headers["location"] == "/history"
        assert "No runs yet" in client.get("/history").text


# In Chromium


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("pages")) as serving:
        yield serving


@pytest.fixture(scope="module")
def seen() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


def wait_for(seen: Browser, script: str, seconds: float = PATIENCE) -> Any:
    """Wait until a script returns something, on whatever page is then shown."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        with contextlib.suppress(AssertionError):  # between two pages there is nothing to ask
            if found := seen.run(script):
                return found
        time.sleep(0.1)
    raise AssertionError(f"never: {script}; shown: {seen.run('document.body.innerText')}")


def text_of(seen: Browser) -> str:
    return str(seen.run("document.body.innerText"))


def fill(seen: Browser, where: str, what: str) -> None:
    wait_for(
        seen,
        f"(found => found ? (found.value = {json.dumps(what)}, true) : false)"
        f"(document.querySelector({json.dumps(where)}))",
    )


def click(seen: Browser, where: str) -> None:
    """Find and click in one script: a page that is being loaded again loses what was found."""
    wait_for(
        seen,
        f"(found => found ? (found.click(), true) : false)"
        f"(document.querySelector({json.dumps(where)}))",
    )


@needs_chromium
def test_from_a_first_visit_to_a_quote_in_its_source(shared: Served, seen: Browser) -> None:
    seen.open(f"{shared.url}/")
    assert "Try it on the sample library" in text_of(seen)
    click(seen, "button.suggestion")
    wait_for(seen, READ)
    click(seen, "article sup a.cite")
    assert wait_for(seen, "document.querySelector('mark:target, mark:has(:target)')?.innerText")
    beside = wait_for(  # the column scrolls to it, and that takes a while
        seen,
        "(() => { const b = document.querySelector('mark:target, mark:has(:target)')"
        ".getBoundingClientRect(); return 0 <= b.top && b.top < innerHeight && [b.left]; })()",
    )
    assert beside[0] > seen.run("innerWidth") / 2, "the quote is in sight, beside the report"
    assert all(address.startswith((shared.url, "data:")) for address in seen.asked)


@needs_chromium
def test_a_plan_is_edited_watched_steered_stopped_and_resumed(
    tmp_path: Path, seen: Browser
) -> None:
    own, too = "Who owns the ferry?", "The salt barn of Lund"
    with held_model() as (model, changes), served(tmp_path, **changes) as serving:
        seen.open(f"{serving.url}/")
        fill(seen, "#question", FERRY)
        seen.run("document.querySelector('[name=approve]').checked = true")
        seen.run("document.querySelector('[name=strategy][value=popper]').checked = true")
        click(seen, "button.primary")
        wait_for(seen, "!!document.querySelector('button[value=start]')")
        assert "The plan" in text_of(seen)
        struck = seen.run("document.querySelector('#query-1-1').value")
        many = 1 + seen.run("document.querySelectorAll('[name=problem]').length")
        click(seen, "button[value=add]")
        wait_for(seen, f"!!document.querySelector('#problem-{many}')")
        fill(seen, f"#problem-{many}", own)
        click(seen, f"button[value=up-{many}]")
        wait_for(seen, f"document.querySelector('#problem-{many - 1}')?.value === '{own}'")
        click(seen, f"button[value=add-{many - 1}]")
        wait_for(seen, f"!!document.querySelector('#query-{many - 1}-1')")
        fill(seen, f"#query-{many - 1}-1", "register of ferries")
        click(seen, "button[value=strike-1-1]")
        shown = "document.querySelector('button[value=start]')"
        left = f"document.querySelector('#query-1-1')?.value !== {json.dumps(struck)}"
        wait_for(seen, f"{shown} && {left}")
        click(seen, "button[value=start]")
        wait_for(seen, "!!document.querySelector('.now')")
        eventually(model.asked.is_set)
        fill(seen, "#look", too)
        click(seen, ".steer button")
        wait_for(seen, f"document.body.innerText.includes('Look too at: {too}')")
        wait_for(seen, "document.body.innerText.includes('at the next step')")
        click(seen, "form[action$='/stop'] button")
        wait_for(seen, "!!document.querySelector('form[action$=\"/resume\"]')")
        model.go.set()
        click(seen, "form[action$='/resume'] button")
        wait_for(seen, READ)
        run = str(seen.run("location.pathname")).rpartition("/")[2]
        seen.open(f"{serving.url}/runs/{run}?view=steps")
        assert "heeded" in text_of(seen)
    with closing(open_store(serving.settings)) as store:
        said = [row.reply for row in store.journal.rows(run, "human")]
        made = {row.what for row in store.journal.rows(run, "search")}
        events = [text for _, text in store.records.events(run)]
    assert own in str(said)
    assert any("register of ferries" in text for text in events), made
    assert not any(f'"query":{json.dumps(struck)}' in text for text in events)


@needs_chromium
def test_a_vague_question_is_answered_then_shared_with_somebody_without_a_token(
    made_home: Path, tmp_path: Path, seen: Browser
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made_home, copy)
    with served(copy, concurrency=0) as serving:
        seen.open(f"{serving.url}/signin")
        fill(seen, "#token", told(copy, "token"))
        click(seen, "button.primary")
        wait_for(seen, "!!document.querySelector('#question')")
        fill(seen, "#question", "ferries")
        click(seen, "button.primary")
        wait_for(seen, "document.body.innerText.includes('What would you like to know about')")
        wait_for(seen, "document.activeElement.id === 'answer'")
        fill(seen, "#answer", "which of them burned")
        click(seen, "button.primary")
        wait_for(seen, "document.body.innerText.includes('ferries: which of them burned')")
        seen.open(f"{serving.url}/runs/{told(copy, 'ada')}")
        click(seen, "#share summary")
        click(seen, "form[action$='/share#share'] button")
        link = wait_for(seen, "document.querySelector('input.link')?.value")
        click(seen, "form.who button")
        wait_for(seen, "!!document.querySelector('#token')")
        seen.open(str(link))
        assert QUESTION in text_of(seen)
        assert seen.run("document.querySelectorAll('form, nav').length") == 0
        click(seen, "article sup a.cite")
        wait_for(seen, "!!document.querySelector('mark:target, mark:has(:target)')")
        seen.open(f"{serving.url}/history")
        wait_for(seen, "!!document.querySelector('#token')")


@needs_chromium
def test_a_restart_of_the_server_in_the_middle_of_a_run_while_its_page_is_open(
    tmp_path: Path, seen: Browser
) -> None:
    with held_model() as (model, changes):
        first = Served(tmp_path, **changes)
        try:
            asked = {"question": FERRY, "sources": ["web"], "strategy": "popper"}
            run = httpx.post(f"{first.url}/api/v1/runs", json=asked).json()["id"]
            eventually(model.asked.is_set)
            seen.open(f"{first.url}/runs/{run}")
            wait_for(seen, "!!document.querySelector('.now form[action$=\"/stop\"]')")
        finally:
            first.stop()
        wait_for(seen, "document.querySelector('.offline')?.hidden === false")
        assert "The connection is lost" in text_of(seen)
        model.go.set()
        with served(tmp_path, port=first.port, **changes) as second:
            wait_for(seen, READ)
            wait_for(seen, "document.querySelector('.offline')?.hidden")
            path = f"{second.url}/api/v1/runs/{run}"
            assert httpx.get(path).json()["finished"]


@needs_chromium
def test_what_is_being_typed_or_sent_when_a_run_ends_is_not_lost(
    tmp_path: Path, seen: Browser
) -> None:
    with served(tmp_path, concurrency=0) as serving, httpx.Client(base_url=serving.url) as client:
        for typed, leaving in (("their parents", False), ("", True)):
            run = client.post("/api/v1/runs", json={"question": QUESTION}).json()["id"]
            seen.open(f"{serving.url}/runs/{run}")
            wait_for(seen, "document.body.innerText.includes('Queued')")
            seen.run(
                "live.addEventListener('ended', () => setTimeout(() => window.over = true, 100))"
            )
            if leaving:  # as when a button was pressed, and its answer is on the way
                seen.run("dispatchEvent(new Event('beforeunload'))")
            fill(seen, "#look", typed)
            client.post(f"/api/v1/runs/{run}/stop")
            wait_for(seen, "window.over")
            assert seen.run("look.value") == typed
            assert seen.run("ended.hidden") is leaving
        client.post(f"/api/v1/runs/{run}/resume")
        seen.open(f"{serving.url}/runs/{run}")
        wait_for(seen, "document.body.innerText.includes('Queued')")
        client.post(f"/api/v1/runs/{run}/stop")
        wait_for(seen, "!!document.querySelector('form[action$=\"/resume\"]') && !window.ended")


@needs_chromium
def test_own_files_are_dropped_in_asked_about_exported_and_verified(
    tmp_path: Path, seen: Browser
) -> None:
    with served(tmp_path) as serving:
        seen.open(f"{serving.url}/library")
        assert "No files yet" in text_of(seen)
        seen.run(
            "(() => { const t = new DataTransfer();"
            "t.items.add(new File(['Holm Works is owned by Karin Holm. It was founded in 1912.'],"
            "'holm.txt')); t.items.add(new File([new Uint8Array([137, 80, 78, 71, 0, 1])],"
            "'photo.png')); dispatchEvent(new DragEvent('drop',"
            "{dataTransfer: t, bubbles: true, cancelable: true})); })()"
        )
        wait_for(seen, "document.body.innerText.includes('holm.txt')")
        wait_for(seen, "document.body.innerText.includes('Not read')")
        seen.open(f"{serving.url}/")
        assert seen.run("document.querySelector('[name=sources][value=files]').checked")
        fill(seen, "#question", "Who owns Holm Works?")
        click(seen, "button.primary")
        wait_for(seen, READ)
        assert "Karin Holm" in text_of(seen)
        path = wait_for(seen, "document.querySelector('a[href$=\"/exports/pdf\"]')?.href")
        file = tmp_path / "report.pdf"
        file.write_bytes(httpx.get(str(path), timeout=120).content)
    assert not verify(file.read_bytes()).faults


@needs_chromium
def test_an_answer_is_rejected_with_a_reason_and_then_accepted(
    shared: Served, seen: Browser
) -> None:
    seen.open(f"{shared.url}/")
    fill(seen, "#question", QUESTION)
    seen.run("document.querySelector('[name=strategy][value=navigator]').checked = true")
    seen.run("document.querySelector('[name=approve]').checked = true")
    click(seen, "button.primary")
    review = "document.body.innerText.includes('for your review')"
    plan = "!!document.querySelector('button[value=start]')"
    for _ in range(3):
        wait_for(seen, f"{review} || {plan}")
        if seen.run(review):
            break
        click(seen, "button[value=start]")
        wait_for(seen, f"!({plan})")
    fill(seen, "[name=reason]", "It must name the parents too.")
    seen.run("window.before = true")
    click(seen, "button[value=reject]")
    wait_for(seen, f"!window.before && {review}")
    click(seen, "button[value=accept]")
    wait_for(seen, READ)


@needs_chromium
def test_two_users_do_not_see_each_other(tmp_path: Path, seen: Browser) -> None:
    tokens = tokens_of(tmp_path, "ada", "bob")
    with served(tmp_path, concurrency=0) as serving:
        own = {"authorization": f"Bearer {tokens['ada']}"}
        asked = {"question": QUESTION}
        run = httpx.post(f"{serving.url}/api/v1/runs", json=asked, headers=own).json()["id"]
        for name, sees in (("ada", True), ("bob", False)):
            seen.open(f"{serving.url}/history")
            wait_for(seen, "!!document.querySelector('#token')")
            fill(seen, "#token", tokens[name])
            click(seen, "button.primary")
            wait_for(seen, "!!document.querySelector('#question')")
            seen.open(f"{serving.url}/history")
            assert (QUESTION in text_of(seen)) is sees
            seen.open(f"{serving.url}/runs/{run}")
            assert ("Not found" in text_of(seen)) is not sees
            click(seen, "form.who button")
            wait_for(seen, "!!document.querySelector('#token')")


@needs_chromium
@pytest.mark.slow
@pytest.mark.skipif(
    not AXE,
    reason="axe-core is not here: npm install --no-save axe-core, or set AXE_CORE to its folder",
)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    made_home: Path, seen: Browser
) -> None:
    assert AXE is not None
    script = AXE.read_text(encoding="utf-8")
    with served(made_home, concurrency=0) as serving:
        seen.open(f"{serving.url}/signin")
        fill(seen, "#token", told(made_home, "token"))
        click(seen, "button.primary")
        wait_for(seen, "!!document.querySelector('#question')")
        run = f"/runs/{told(made_home, 'ada')}"
        with httpx.Client(base_url=serving.url, timeout=60) as client:
            client.headers["authorization"] = f"Bearer {told(made_home, 'token')}"
            shared_at = client.post(f"/api/v1{run}/share").json()["path"]
            client.put(f"/api/v1{run}/watch", json={"days": 7})
            queued = client.post("/api/v1/runs", json={"question": FERRY}).json()["id"]
            client.post(f"/api/v1/runs/{queued}/steer", json={"action": "look", "text": "fire"})
        paths = ["/", "/history", "/library", "/settings", run, f"{run}?view=steps", "/none"]
        paths += ["/watching", shared_at, f"/runs/{queued}", "/compare"]
        for path in paths:
            for width, dark in ((390, False), (820, True), (1400, False)):
                seen.open(f"{serving.url}{path}", width=width, dark=dark)
                seen.run(script)
                found = seen.run(
                    "axe.run().then(r => [r.passes.length, "
                    "r.violations.map(v => [v.id, v.nodes[0].html])])"
                )
                assert found[0] > 10, "axe has looked"
                assert found[1] == [], f"{path} at {width}: {found[1]}"
                assert not seen.run("document.documentElement.scrollWidth > innerWidth"), path
