"""Requests made from the OpenAPI document, most of them nonsense: none of them ends in a 500."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.service.conftest import told
from tests.service.rig import Served, served

CASES = 12
"""Requests for each operation: 30 operations, some 20 s."""
ELSEWHERE = frozenset({"POST /v1/chat/completions"})
"""What waits for a whole run; `test_chat` asks it."""
FINAL = frozenset({"DELETE /api/v1/runs/{run}"})
"""What would take the finished run away from the others; it meets unknown ones."""


@pytest.fixture(scope="module")
def serving(made_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("openapi") / "home"
    shutil.copytree(made_home, home)
    with served(home, concurrency=0) as started:
        yield started


def operations(serving: Served, token: str) -> Iterator[Any]:
    """Yield every operation that the document describes."""
    headers = {"authorization": f"Bearer {token}"}
    document = schemathesis.openapi.from_url(f"{serving.url}/api/v1/openapi.json", headers=headers)
    for found in document.get_all_operations():
        operation: Any = found
        yield operation.ok()


def ask_all(operation: Any, url: str, token: str, run: str) -> set[int]:
    """Make requests for an operation, and return the statuses of their answers."""
    name = f"{operation.method.upper()} {operation.path}"
    seen: set[int] = set()

    @settings(
        max_examples=CASES,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy(), real=st.booleans())
    def ask(case: Any, real: bool) -> None:
        if real and name not in FINAL and "run" in (case.path_parameters or {}):
            case.path_parameters["run"] = run
        bearer = {"authorization": f"Bearer {token}"}
        answer = case.call(base_url=url, headers=bearer, timeout=60)
        assert answer.status_code < 500, f"{name}: {answer.status_code} {answer.text[:300]}"
        seen.add(answer.status_code)

    ask()
    return seen


def test_no_request_is_answered_with_an_internal_error(serving: Served, made_home: Path) -> None:
    token, run = told(made_home, "token"), told(made_home, "ada")
    answers: dict[str, set[int]] = {}
    for operation in operations(serving, token):
        name = f"{operation.method.upper()} {operation.path}"
        if name not in ELSEWHERE:
            answers[name] = ask_all(operation, serving.url, token, run)
    assert len(answers) >= 28
    met = [name for name, codes in answers.items() if "{run}" in name and codes - {404, 422}]
    assert len(met) >= 8, f"the finished run was found by {met}"
    assert answers["GET /api/v1/runs/{run}"] >= {200, 404}
    assert answers["POST /api/v1/runs"] & {201, 429}


def test_without_a_token_the_document_is_not_even_shown(serving: Served) -> None:
    with pytest.raises(Exception, match=r"401|Unauthorized"):
        schemathesis.openapi.from_url(f"{serving.url}/api/v1/openapi.json")
