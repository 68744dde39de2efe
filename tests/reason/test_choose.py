from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.settings import Settings, load
from deepdiver.errors import MissingKeyError, UnknownNameError
from deepdiver.gateway import Gateway
from deepdiver.reason.choose import RoutedReasoner, choose_reasoner
from deepdiver.reason.embedded import EmbeddedReasoner
from deepdiver.reason.llm import LLMReasoner
from deepdiver.run.begin import new_run
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tasks import Reasoner
from tests.strategies.rig import ScriptedReasoner

PRICED = {"openai:made": {"input": "1", "output": "2"}}


def chosen(home: Path, **flags: Any) -> tuple[Reasoner, Settings]:
    settings = load(
        {"home": home, "urls": {"openai": "http://127.0.0.1:9/v1"}, "prices": PRICED, **flags}
    )
    store = open_sqlite(home)
    run = new_run("Who?", settings, store)
    gateway = Gateway(store, run.id, settings, lambda event: None)
    return choose_reasoner(settings, gateway, lambda event: None), settings


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="openai"):
        chosen(tmp_path, model="opnai:made")


def test_a_model_without_its_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY"):
        chosen(tmp_path, model="openai:made", urls={})


def test_without_a_model_the_embedded_reasoner_thinks(tmp_path: Path) -> None:
    assert isinstance(chosen(tmp_path)[0], EmbeddedReasoner)


async def test_with_a_model_the_model_thinks(tmp_path: Path) -> None:
    reasoner, _ = chosen(tmp_path, model="openai:made")
    assert isinstance(reasoner, LLMReasoner)
    await reasoner.close()


async def test_a_task_may_stay_with_the_embedded_reasoner(tmp_path: Path) -> None:
    reasoner, _ = chosen(tmp_path, model="openai:made", task_models={"write_queries": "embedded"})
    assert isinstance(reasoner, RoutedReasoner)
    queries = await reasoner.perform(
        tasks.WriteQueries(question="Who runs Acme Ltd?", problem="Who runs Acme Ltd?")
    )
    assert queries.queries, "performed without a model: the address leads nowhere"
    assert reasoner.worst_case(tasks.WriteQueries) == 0
    worst = reasoner.worst_case(tasks.Judge)
    assert worst is not None
    assert worst > Decimal(0)
    assert "openai:made" in reasoner.description
    assert "embedded" in reasoner.description
    await reasoner.close()


async def test_each_task_goes_to_whom_the_settings_name(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "model": "openai:made", "fast_model": "embedded"})
    quick, slow = ScriptedReasoner(), ScriptedReasoner()
    routed = RoutedReasoner(settings, quick, slow)
    await routed.perform(tasks.WriteQueries(question="q", problem="p"))
    await routed.perform(tasks.Decompose(question="q", as_of="2026-01-01"))
    assert [task.name() for task in quick.asked] == ["write_queries"]
    assert [task.name() for task in slow.asked] == ["decompose"]
    await routed.close()


def test_thinking_without_a_model_imports_no_model_code() -> None:
    code = (
        "import sys\nfrom deepdiver.reason.embedded import EmbeddedReasoner\nEmbeddedReasoner()\n"
        "assert not any(name.startswith(('langchain', 'langgraph', 'openai')) for name in "
        "sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
