"""The inventory of routes: none answers without a token, and nobody sees what is another's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import Mount, Route

from deepdiver.service.gate import PUBLIC
from tests.service.conftest import told
from tests.service.rig import service

FILE = "notes.txt"


def routes_of(app: FastAPI | APIRouter) -> Iterator[tuple[str, str]]:
    """Yield the method and the path of every route that there is."""
    for route in app.routes:
        if inner := getattr(route, "original_router", None):
            yield from routes_of(inner)
        elif isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route.path
        else:
            assert isinstance(route, Mount), route
            yield "GET", f"{route.path}/anything"


def filled(path: str, run: str) -> str:
    """Return the path of something of ada's."""
    known = {"run": run, "format": "md", "section": "1", "name": FILE, "model": "deepdiver-auto"}
    known |= {"other": run, "token": "none"}
    return re.sub(r"{(\w+)(?::path)?}", lambda found: known[found[1]], path)


async def test_every_route_refuses_without_a_token_when_there_are_users(home: Path) -> None:
    async with service(home) as rig:
        checked = 0
        for method, path in routes_of(rig.app):
            if path.startswith(PUBLIC):
                continue
            for accept in ("application/json", "text/html"):
                answer = await rig.client.request(
                    method, filled(path, told(home, "ada")), headers={"accept": accept}
                )
                refused = answer.status_code == 401 or (
                    answer.status_code == 303 and answer.headers["location"] == "/signin"
                )
                assert refused, f"{method} {path}: {answer.status_code}"
            checked += 1
        assert checked >= 20
        assert rig.state.store.runs.get(told(home, "ada")).id == told(home, "ada")


async def test_what_is_adas_is_to_bob_as_if_it_were_not_there(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}"}
    run, missing = told(home, "ada"), "20261117-nothing-here-00000000"
    async with service(home, "bob") as rig:
        added = await rig.client.post(
            "/api/v1/library/files", files={"files": (FILE, b"Ada wrote this.")}, headers=own
        )
        assert added.status_code == 201, added.text
        checked = 0
        for method, path in routes_of(rig.app):
            if "{run}" not in path and "{name}" not in path:
                continue
            answers = [
                await rig.client.request(
                    method,
                    filled(path, each).replace(FILE, FILE if each == run else "none.txt"),
                    headers={**rig.of("bob"), "accept": "application/json"},
                    **body_for(path),
                )
                for each in (run, missing)
            ]
            assert [one.status_code for one in answers] == [404, 404], f"{method} {path}"
            same = [one.text.replace(run, "").replace(missing, "") for one in answers]
            assert same[0].replace(FILE, "") == same[1].replace("none.txt", "")
            checked += 1
        assert checked >= 22
        assert run not in (await rig.client.get("/api/v1/runs", headers=rig.of("bob"))).text
        assert (
            FILE not in (await rig.client.get("/api/v1/library/files", headers=rig.of("bob"))).text
        )
        assert (await rig.client.get(f"/api/v1/runs/{run}", headers=own)).json()["finished"]
        assert FILE in (await rig.client.get("/api/v1/library/files", headers=own)).text


async def test_nor_does_the_person_at_the_machine_show_theirs_to_users(home: Path) -> None:
    async with service(home, "bob") as rig:
        path = f"/api/v1/runs/{told(home, 'own')}"
        assert (await rig.client.get(path, headers=rig.of("bob"))).status_code == 404


def body_for(path: str) -> dict[str, Any]:
    """Return a valid body, so that nothing but whose it is can be the reason to refuse."""
    body: dict[str, str | int] = {}
    if path.endswith("/answer"):
        body = {"action": "accept"}
    elif path.endswith("/plan"):
        body = {"act": "start", "problem": "Who runs it?"}
    elif path.endswith("/ask"):
        body = {"question": "Who runs it?"}
    elif path.endswith("/steer"):
        body = {"action": "look", "text": "its owners"}
    elif path.endswith("/watch"):
        body = {"every": "604800"} if path.startswith("/runs") else {"days": 7}
    return ({"json": body} if path.startswith("/api/") else {"data": body}) if body else {}


async def test_two_runs_are_compared_only_if_both_are_ones_own(home: Path) -> None:
    own = {"authorization": f"Bearer {told(home, 'token')}", "accept": "application/json"}
    ada, other = told(home, "ada"), told(home, "own")
    async with service(home, "bob") as rig:
        for one, two in ((ada, other), (other, ada)):
            answer = await rig.client.get(f"/api/v1/runs/{one}/compare/{two}", headers=own)
            assert answer.status_code == 404
            page = await rig.client.get(f"/compare?run={one}&run={two}", headers=own)
            assert page.status_code == 404
        answer = await rig.client.get(f"/compare?run={ada}&run={ada}", headers=rig.of("bob"))
        assert answer.status_code == 404


async def test_a_sign_of_life_needs_no_token_and_tells_nothing(home: Path) -> None:
    async with service(home) as rig:
        assert (await rig.client.get("/healthz")).json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/api/v1/nothing", "/none"])
async def test_there_is_nothing_that_fetches_scripts_from_elsewhere(
    path: str, tmp_path: Path
) -> None:
    async with service(tmp_path) as rig:
        assert (await rig.client.get(path)).status_code == 404


async def test_the_openapi_document_describes_every_route_of_the_api(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        document = (await rig.client.get("/api/v1/openapi.json")).json()
        paths = {path for _, path in routes_of(rig.app) if path.startswith(("/api/v1/", "/v1/"))}
        assert set(document["paths"]) == paths - {"/api/v1/openapi.json"}
        created = document["paths"]["/api/v1/runs"]["post"]["responses"]
        assert {"201", "200", "401", "422", "429"} <= set(created)
