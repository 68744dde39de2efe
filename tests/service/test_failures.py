"""Errors as answers: each has its status, none shows a trace or a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    CallFault,
    DeepdiverError,
    LimitReachedError,
    NoEvidenceError,
    RunBusyError,
    SettingsError,
    StoreFullError,
    UnknownNameError,
)
from deepdiver.service.failures import SHAPES, explain, status_of
from tests.service.rig import service

BAD = {"type": "string_pattern_mismatch", "msg": "String should match pattern '^a$'"}
SECRET = "sk-very-secret-0123456789"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownNameError("x"), 404),
        (LimitReachedError("x"), 429),
        (RunBusyError("x", holder="y"), 409),
        (StoreFullError("x"), 503),
        (CallError("x", CallFault.SERVER), 502),
        (SettingsError("x"), 422),
        (NoEvidenceError("x"), 422),
        (DeepdiverError("x"), 422),
    ],
)
def test_the_status_of_an_error(error: DeepdiverError, status: int) -> None:
    assert status_of(error) == status


@pytest.mark.parametrize(
    ("errors", "line"),
    [
        ([{"loc": ("body", "a"), "type": "missing", "msg": ""}], "the field 'a' is required"),
        ([{"loc": ("body", "a"), "type": "extra_forbidden", "msg": ""}], "unknown field 'a'"),
        ([{"loc": ("body", "a", 0), "type": "x", "msg": "Value error, no"}], "a.0: no"),
        ([{"loc": ("body",), "type": "x", "msg": "bad"}], "bad"),
        ([{**BAD, "loc": ("path", "run")}], SHAPES["run"]),
        ([{**BAD, "loc": ("query", "cursor")}], SHAPES["cursor"]),
        ([{"loc": ("query", "cursor"), "type": "string_too_long", "msg": ""}], SHAPES["cursor"]),
        ([{**BAD, "loc": ("body", "a")}], "a: it has characters that cannot be there"),
        ([], "not valid"),
    ],
)
def test_an_invalid_request_is_explained_in_a_line(errors: Any, line: str) -> None:
    assert explain(errors) == line


async def test_a_bug_is_told_without_its_words_and_a_secret_never(tmp_path: Path) -> None:
    settings = Settings(keys={"openai": SecretStr(SECRET)})
    async with service(tmp_path, settings=settings) as rig:

        @rig.app.get("/api/v1/bug")
        def bug() -> None:
            raise ValueError(f"the key is {SECRET}")

        @rig.app.get("/api/v1/known")
        def known() -> None:
            raise SettingsError(f"the key {SECRET} is wrong")

        answer = await rig.client.get("/api/v1/bug")
        assert answer.status_code == 500
        assert answer.json() == {"detail": "internal error: ValueError"}
        answer = await rig.client.get("/api/v1/known")
        assert answer.json() == {"detail": "the key [secret] is wrong"}


async def test_a_method_that_is_not_there(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        answer = await rig.client.put("/api/v1/runs")
        assert answer.status_code == 405
        assert "GET" in answer.headers["allow"] or "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/v1/runs?cursor=x", "cursor"),
        (f"/api/v1/runs?cursor={'9' * 200}", "cursor"),
        ("/api/v1/runs/a_b", "run"),
        ("/api/v1/runs/a/compare/a_b", "other"),
        ("/api/v1/runs/a/report?format=x", "format"),
        ("/api/v1/runs/a/exports/pdf?style=X", "style"),
    ],
)
async def test_nobody_is_shown_a_pattern(tmp_path: Path, path: str, field: str) -> None:
    async with service(tmp_path) as rig:
        answer = await rig.client.get(path)
        assert (answer.status_code, answer.json()) == (422, {"detail": SHAPES[field]})


async def test_a_key_of_a_request_that_cannot_be_one(tmp_path: Path) -> None:
    async with service(tmp_path) as rig:
        headers = {"Idempotency-Key": "a b"}
        answer = await rig.client.post("/api/v1/runs", json={"question": "Who?"}, headers=headers)
        assert (answer.status_code, answer.json()) == (422, {"detail": SHAPES["idempotency-key"]})
