"""No secret in any page, event, export or log, wherever it comes from."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from deepdiver.report.exports.formats import FORMATS
from deepdiver.service.state import KEY
from tests.servers.brain import popper_brain
from tests.servers.scripted import Answer, Document, ScriptedServer
from tests.service.rig import eventually, served

KEY_OF_MODEL = "sk-proj-Zz9Qx7Lm2Rt5Vb8Nc4Kd"
KEY_OF_SEARCH = "tvly-Pp3Ww6Yy1Hh8Jj5Gg2Ff"
OWN = "the-own-token-of-this-service-77"
SECRETS = (KEY_OF_MODEL, KEY_OF_SEARCH, OWN)
ASKED = "What is recorded about the northern ferry permits?"


def leaking_search(query: str, number: int) -> Answer:
    """Find a page that has our keys in it, because somebody has posted them."""
    text = (
        f"The northern ferry permits were recorded in 1931. Somebody left {KEY_OF_MODEL} here. "
        f"The harbour office counted 12 permits, key {KEY_OF_SEARCH}, token {OWN}."
    )
    page = Document(url=f"https://made.example/{number}", title=f"Permits {OWN}", text=text)
    return Answer(documents=(page,))


def test_a_secret_is_nowhere_to_be_seen(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    brain = popper_brain(rounds=1)

    def failing_once(body: dict[str, object], number: int) -> Answer:
        if number == 2:
            return Answer(status=400, text=f"bad key {KEY_OF_MODEL}")
        return brain(body, number)

    with ScriptedServer(failing_once, leaking_search) as outside:
        changes: dict[str, Any] = {
            "model": "openai:gpt-5-mini",
            "search": ("tavily",),
            "strategy": "popper",
            "keys": {
                "openai": SecretStr(KEY_OF_MODEL),
                "tavily": SecretStr(KEY_OF_SEARCH),
                KEY: SecretStr(OWN),
            },
            "urls": {"openai": outside.openai, "tavily": outside.url},
            "retries": 0,
        }
        with (
            served(tmp_path, **changes) as serving,
            httpx.Client(base_url=serving.url, timeout=120) as client,
        ):
            client.headers["authorization"] = f"Bearer {OWN}"
            asked = {"question": f"{ASKED} My key is {KEY_OF_MODEL}.", "sources": ["web"]}
            run = client.post("/api/v1/runs", json=asked).json()["id"]
            path = f"/api/v1/runs/{run}"
            eventually(lambda: client.get(path).json()["status"] not in ("queued", "running"), 120)
            client.post(f"{path}/steer", json={"action": "look", "text": f"at {KEY_OF_MODEL}"})
            seen = {
                each: client.get(each)
                for each in (
                    *(path, f"{path}/events", f"{path}/report", f"{path}/report?format=json"),
                    *("/api/v1/runs", "/api/v1/choices", "/api/v1/openapi.json"),
                    *(f"{path}/exports/{name}" for name in FORMATS),
                )
            }
            pages = ("/", "/history", "/settings", "/library", f"/runs/{run}", "/watching", "/none")
            for page in (*pages, f"/runs/{run}?view=steps"):
                seen[page] = client.get(page, headers={"accept": "text/html"})
            log = [str(line) for line in serving.app.state.service.log.lines()]
    assert seen[path].json()["finished"], seen[path].text
    leaks = [
        f"{where}: {secret[:6]}…"
        for where, answer in seen.items()
        for secret in SECRETS
        if secret.encode() in answer.content
    ]
    assert leaks == []
    logged = [f"{record.name}: {record.getMessage()}" for record in caplog.records]
    told = "\n".join([*log, *logged])
    assert not [secret for secret in SECRETS if secret in told]
    texts = "".join(answer.text for where, answer in seen.items() if where.startswith("/runs"))
    assert re.search(r"\[secret\]", texts), "it was there, and was taken out"
