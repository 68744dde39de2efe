"""The layers of docs/ARCHITECTURE.md: the contracts hold, and each of them can fail."""

from __future__ import annotations

import ast
import graphlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "pyproject.toml"
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

# The smallest package that keeps every contract, with each allowed outside import in its place.
WELL_BUILT = {
    "__init__": "def create():\n    from deepdiver.strategies import popper\n    return popper",
    "__main__": "import deepdiver.cli",
    "cli.__init__": "import rich.console\nimport deepdiver.cli.progress\n"
    "def late():\n    import deepdiver.evals\n    import deepdiver.mcp_server",
    "cli.progress": "import rich.live\nimport deepdiver.core.record",
    "service": "import deepdiver.http_listener\nimport deepdiver.work",
    "mcp_server": "import deepdiver.http_listener\nimport deepdiver.run",
    "evals": "import deepdiver.run",
    "http_listener": "import deepdiver.errors",
    "work": "import deepdiver.run",
    "run.__init__": "import deepdiver.run.session",
    "run.session": "import langgraph.graph\nimport langchain_core.runnables\nimport "
    "deepdiver.strategies.popper",
    "strategies.__init__": "",
    "strategies.pick": "",
    "strategies.table": "",
    "strategies.popper": "import deepdiver.strategies.shared.write_report\n"
    "import langchain_core.messages",
    "strategies.iterative": "import deepdiver.strategies.shared.summary",
    "strategies.overwatch.__init__": "",
    "strategies.overwatch.graph": "import deepdiver.strategies.overwatch.plan",
    "strategies.overwatch.plan": "import deepdiver.strategies.shared.plan",
    "strategies.orchestrated": "import deepdiver.strategies.shared.base",
    "strategies.navigator": "import deepdiver.strategies.shared.base",
    "strategies.shared.__init__": "",
    "strategies.shared.base": "import langgraph.graph\nimport deepdiver.reason",
    "strategies.shared.plan": "import deepdiver.strategies.shared.base",
    "strategies.shared.room": "import deepdiver.strategies.shared.base",
    "strategies.shared.choose_passages": "import deepdiver.core",
    "strategies.shared.findings": "import deepdiver.strategies.shared.room",
    "strategies.shared.locate_statements": "import deepdiver.strategies.shared.second_opinion",
    "strategies.shared.reading": "import deepdiver.strategies.shared.locate_statements",
    "strategies.shared.derive": "",
    "strategies.shared.materials": "import deepdiver.strategies.shared.findings",
    "strategies.shared.drafting": "import deepdiver.strategies.shared.materials",
    "strategies.shared.audit_lines": "import deepdiver.strategies.shared.told_sections",
    "strategies.shared.audit_headings": "import deepdiver.strategies.shared.drafting",
    "strategies.shared.doubt_unfounded": "import deepdiver.strategies.shared.grounding",
    "strategies.shared.weigh_answer": "import deepdiver.strategies.shared.hypotheses",
    "strategies.shared.told_sections": "import deepdiver.strategies.shared.grounding",
    "strategies.shared.unanswered": "import deepdiver.strategies.shared.findings",
    "strategies.shared.look": "import deepdiver.strategies.shared.reading\nimport deepdiver.tools",
    "strategies.shared.hypotheses": "import deepdiver.strategies.shared.look",
    "strategies.shared.heed": "import deepdiver.strategies.shared.look",
    "strategies.shared.second_opinion": "import deepdiver.strategies.shared.base",
    "strategies.shared.grounding": "import deepdiver.strategies.shared.second_opinion",
    "strategies.shared.statements": "",
    "strategies.shared.summary": "",
    "strategies.shared.feed_tool": "",
    "strategies.shared.argument_tool": "",
    "strategies.shared.write_report": "import deepdiver.strategies.shared.hypotheses\n"
    "import deepdiver.report",
    "reason.__init__": "",
    "reason.llm": "import langchain_core.messages\nimport deepdiver.tasks",
    "tools.__init__": "import langchain_core.tools\nimport deepdiver.gateway",
    "tools.library.__init__": "",
    "tools.library.open_library": "def late():\n    import deepdiver.tools.library.local.library",
    "tools.library.make_sample_vectors": "import deepdiver.tools.library.local.library",
    "tools.library.local.__init__": "",
    "tools.library.local.library": "import deepdiver.tools.library.ranking",
    "tools.library.postgres.__init__": "",
    "tools.library.postgres.library": "import deepdiver.tools.library.refresh",
    "tools.library.refresh": "import deepdiver.tools.library.records",
    "tools.library.ranking": "import deepdiver.tools.library.score_fusion",
    "tools.library.embedding": "import deepdiver.tools.library.sample_vectors",
    "tools.library.languages": "import deepdiver.tools.library.interface",
    "tools.library.records": "import deepdiver.tools.library.files",
    "tools.library.folder_walk": "import deepdiver.tools.library.files",
    "tools.library.files": "import deepdiver.tools.library.interface",
    "tools.library.terms": "",
    "tools.library.document_names": "",
    "tools.library.score_fusion": "",
    "tools.library.sample_vectors": "",
    "tools.library.interface": "import deepdiver.core.record",
    "report": "import deepdiver.tasks",
    "tasks": "import deepdiver.gateway",
    "gateway": "import asyncio\nimport deepdiver.store",
    "store": "import sqlite3\nimport zstandard\nimport deepdiver.core",
    "core.__init__": "",
    "core.record": "import json\nimport pydantic\nimport deepdiver.errors",
    "errors": "",
    "sample.__init__": "",
}

# name of the contract → changes to the package that break it
BROKEN: list[tuple[str, Mapping[str, str]]] = [
    ("layers", {"core.record": "import deepdiver.store"}),
    ("layers", {"store": "def late():\n    import deepdiver.gateway"}),
    ("layers", {"reason.llm": "import deepdiver.tools"}),
    ("layers", {"core.record": "import deepdiver"}),
    ("layers", {"surprise": ""}),
    ("layers", {"mcp_server": "import deepdiver.cli"}),
    ("layers", {"evals": "import deepdiver.cli"}),
    ("layers", {"evals": "def late():\n    import deepdiver.mcp_server"}),
    ("layers", {"mcp_server": "import deepdiver.evals"}),
    ("layers", {"run.session": "import deepdiver.evals"}),
    ("layers", {"run.session": "import deepdiver.work"}),
    ("layers", {"work": "import deepdiver.evals"}),
    ("layers", {"work": "import deepdiver.service"}),
    ("layers", {"service": "import deepdiver.mcp_server"}),
    ("layers", {"http_listener": "import deepdiver.service"}),
    ("strategies", {"strategies.navigator": "import deepdiver.strategies.popper"}),
    ("strategies", {"strategies.shared.base": "import deepdiver.strategies.navigator"}),
    ("strategies", {"strategies.overwatch.plan": "import deepdiver.strategies.popper"}),
    ("strategies", {"strategies.sixth": ""}),
    ("shared-nodes", {"strategies.shared.base": "import deepdiver.strategies.shared.look"}),
    ("shared-nodes", {"strategies.shared.look": "import deepdiver.strategies.shared.summary"}),
    ("library", {"tools.library.local.library": "import deepdiver.tools.library.postgres.library"}),
    (
        "library",
        {"tools.library.sample_vectors": "def late():\n    import deepdiver.tools.library.local"},
    ),
    ("library", {"tools.library.surprise": ""}),
    ("sample", {"sample.__init__": "import deepdiver.errors"}),
    ("langgraph", {"report": "import langgraph.graph"}),
    ("langgraph", {"tools.__init__": "import langgraph.types"}),
    ("langgraph", {"__init__": "import langgraph"}),
    ("langchain", {"gateway": "import langchain_core.messages"}),
    ("langchain", {"cli.__init__": "def late():\n    import langchain_openai"}),
    ("rich", {"run": "import rich.progress"}),
    ("pure-core", {"core.record": "import sqlite3"}),
    ("pure-core", {"core.record": "import asyncio"}),
    ("pure-core", {"errors": "import httpx"}),
]


def lint(*args: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run import-linter with our contracts on the package `deepdiver` found first on the path."""
    environment = {**os.environ, "PYTHONPATH": str(path or ROOT / "src"), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", LINT, "--config", str(CONFIG), "--no-cache", "--no-logo", *args],
        cwd=path or ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def build(root: Path, modules: Mapping[str, str]) -> Path:
    """Write a package called deepdiver under `root`."""
    for name, body in modules.items():
        file = root.joinpath("deepdiver", *name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body + "\n", encoding="utf-8")
    return root


def test_every_contract_is_kept() -> None:
    result = lint()
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


def test_the_contracts_allow_what_the_design_allows(tmp_path: Path) -> None:
    result = lint(path=build(tmp_path, WELL_BUILT))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("contract", "changes"),
    BROKEN,
    ids=[f"{name}-{next(iter(changes))}" for name, changes in BROKEN],
)
def test_each_contract_bites(tmp_path: Path, contract: str, changes: Mapping[str, str]) -> None:
    result = lint("--contract", contract, path=build(tmp_path, {**WELL_BUILT, **changes}))
    assert result.returncode == 1, f"{contract} let {changes} pass:\n{result.stdout}"
    assert "BROKEN" in result.stdout, result.stdout + result.stderr


def test_no_contract_is_without_proof() -> None:
    contracts = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    assert {contract["id"] for contract in contracts} == {name for name, _ in BROKEN}


def imported_by(path: Path, name: str, known: Collection[str]) -> set[str]:
    """Return the modules that a module imports, those inside functions and for types included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & set(known) or {node.module}
    return found & set(known) - {name}


def import_graph(package: Path) -> dict[str, set[str]]:
    """Return which module of a package imports which."""
    files = {
        ".".join([package.name, *path.relative_to(package).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): path
        for path in package.rglob("*.py")
    }
    return {name: imported_by(path, name, files) for name, path in files.items()}


def test_no_imports_go_in_a_circle() -> None:
    graphlib.TopologicalSorter(import_graph(ROOT / "src" / "deepdiver")).prepare()


@pytest.mark.parametrize(
    "back",
    [
        "import deepdiver.cli.progress",
        "def late():\n    from deepdiver.cli import progress",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import deepdiver.cli.progress",
    ],
)
def test_a_circle_is_found_however_it_is_closed(tmp_path: Path, back: str) -> None:
    package = build(tmp_path, {**WELL_BUILT, "core.record": back}) / "deepdiver"
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(import_graph(package)).prepare()
