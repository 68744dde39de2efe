"""Every setting is classified, and what is sensitive does not count before it is trusted."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from deepdiver.core import project_settings as module
from deepdiver.core.project_settings import (
    HARMLESS,
    SENSITIVE,
    UNKNOWN,
    sensitive_settings,
    without,
)
from deepdiver.core.settings import EMBEDDED, Settings


def names() -> Iterator[str]:
    """Yield every setting; those of a table only where the table itself is not classified."""
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if name in SENSITIVE or not (inspect.isclass(kind) and issubclass(kind, BaseModel)):
            yield name
        else:
            yield from (f"{name}.{entry}" for entry in kind.model_fields)


def test_every_setting_is_either_harmless_or_sensitive() -> None:
    assert HARMLESS.keys() | SENSITIVE.keys() == set(names())
    assert not HARMLESS.keys() & SENSITIVE.keys()


def test_every_reason_is_given() -> None:
    assert all(SENSITIVE.values())
    assert all(rule.otherwise for rule in HARMLESS.values() if rule is not module.ANY)


def judged(folder: Path, base: Settings | None = None, **values: Any) -> dict[str, str]:
    given_ = Settings.model_validate(values)
    return sensitive_settings(values, given_, base or Settings(), folder)


def test_a_setting_that_nobody_classified_is_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(tmp_path, strategy="x") == {}
    monkeypatch.setattr(
        module, "HARMLESS", {name: rule for name, rule in HARMLESS.items() if name != "strategy"}
    )
    assert judged(tmp_path, strategy="x") == {"strategy": UNKNOWN}


@pytest.mark.parametrize(
    "values",
    [
        {"model": "openai:gpt-5"},
        {"fast_model": "ollama:x"},
        {"fast_model": ""},
        {"task_models": {"judge": "openai:x"}},
        {"urls": {"openai": "http://evil.example"}},
        {"keys": {"openai": "sk-0123456789"}},
        {"mcp": {"servers": {"x": {"command": ["rm"]}}}},
        {"mcp": {"servers": {"x": {"url": "http://evil.example"}}}},
        {"system_prompt": "Obey."},
        {"allow_hosts": ["10.0.0.1"]},
        {"home": "/elsewhere"},
        {"database": "postgresql://evil.example/x"},
        {"search": ["auto"]},
        {"search": ["library", "tavily"]},
        {"feeds": ["auto"]},
        {"news_feeds": ["http://evil.example/rss"]},
        {"sanctions_file": "list.csv"},
        {"documents": ["/etc"]},
        {"documents": ["inside", "../outside"]},
        {"documents": ["~"]},
        {"contact": "me@example.org"},
        {"ratings": {"evil.example": {"score": 1}}},
        {"prices": {"openai:x": {"input": 0}}},
        {"limits": {"tavily": {"rate": 1_000}}},
        {"cache": {"model": 1}},
        {"deadlines": {"model": 1}},
        {"budget": "100"},
        {"retries": 20},
        {"max_output_tokens": 100_000},
        {"max_iterations": 50},
        {"filters": {"results": 50}},
        {"trace": "otel"},
        {"past": True},
        {"read_pages": True},
        {"approve": False},
        {"second_opinion": False},
        {"hold_uncertain": False},
    ],
    ids=str,
)
def test_sensitive(tmp_path: Path, values: dict[str, Any]) -> None:
    base = Settings.model_validate({"budget": "1", "max_iterations": 3})
    found = judged(tmp_path / "project", base, **values)
    assert [name.partition(".")[0] for name in found] == list(values)
    assert all(found.values())
    assert without(values, found) == {}


@pytest.mark.parametrize(
    "values",
    [
        {"strategy": "iterative", "temperature": 0.5, "as_of": "2026-11-15", "verbose": True},
        {"filters": {"include_domains": ["a.org"], "language": "en", "results": 6}},
        {"filters": {"exclude_domains": ["a.org"], "since": "2026-01-01", "safe": "strict"}},
        {"budget": "1", "retries": 4, "max_output_tokens": 4_096, "max_iterations": 3},
        {"budget": "0", "retries": 0, "max_output_tokens": 64, "max_iterations": 1},
        {"model": EMBEDDED, "fast_model": EMBEDDED, "search": ["library"], "feeds": ["none"]},
        {"documents": ["inside", "inside/deep", "."]},
        {"past": False, "read_pages": False, "trace": "off"},
        {"approve": True, "second_opinion": True, "hold_uncertain": True},
    ],
    ids=str,
)
def test_harmless(tmp_path: Path, values: dict[str, Any]) -> None:
    base = Settings.model_validate({"budget": "1", "max_iterations": 3})
    assert judged(tmp_path, base, **values) == {}
    assert without(values, {}) == values


def test_a_limit_that_nobody_set_may_be_set(tmp_path: Path) -> None:
    assert judged(tmp_path, budget="100", max_iterations=100) == {}


def test_documents_are_in_the_project_only_if_their_links_are(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "private").mkdir()
    (project / "notes").symlink_to(tmp_path / "private")
    (project / "here").symlink_to(project)
    assert judged(project, documents=["notes"])
    assert judged(project, documents=["here"]) == {}
    assert judged(project, documents=[str(project / "notes" / "x")])


def test_only_the_sensitive_entries_of_a_table_are_left_out(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "strategy": "iterative",
        "model": "openai:x",
        "filters": {"language": "en", "results": 50},
        "urls": {"openai": "http://a", "ollama": "http://b"},
    }
    found = judged(tmp_path, **values)
    assert list(found) == ["model", "filters.results", "urls.openai", "urls.ollama"]
    assert without(values, found) == {"strategy": "iterative", "filters": {"language": "en"}}


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.decimals(0, 100, places=2),
        "max_iterations": st.integers(1, 100),
        "max_output_tokens": st.integers(64, 10_000),
        "retries": st.integers(0, 20),
        "filters": st.fixed_dictionaries({}, optional={"results": st.integers(1, 50)}),
    },
)


@given(LIMITS, LIMITS)
def test_no_limit_is_ever_raised(user: dict[str, Any], project: dict[str, Any]) -> None:
    base = Settings.model_validate(user)
    found = sensitive_settings(project, Settings.model_validate(project), base, Path(os.sep))
    after = Settings.model_validate({**user, **without(project, found)})
    for name in ("budget", "max_iterations", "max_output_tokens", "retries"):
        before = getattr(base, name)
        assert before is None or getattr(after, name) <= before, name
    results = without(project, found).get("filters", {}).get("results", base.filters.results)
    assert results <= base.filters.results
