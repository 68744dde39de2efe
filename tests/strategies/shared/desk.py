"""A run with texts and findings, for tests of writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deepdiver.core.identity import content_id
from deepdiver.core.numbering import units_of
from deepdiver.core.record import Credibility, Finding, Source, SourceKind
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.findings import make_finding
from tests.strategies.rig import Rig, ScriptedReasoner

MINUTES = """# Minutes

The committee met on 3 March 2024. It gave testing 30 hours of 120 hours.
Ann Berg asked for 45 hours. The vote was put off.
"""
TABLE = """| Year | Hours
| Year: 2023 | Hours: 90
| Year: 2024 | Hours: 120
| Year: 2025 | Hours: 150
"""


def source_of(deps: Deps, name: str, text: str, author: str = "") -> Source:
    """Save a text and enter its source."""
    snapshot = deps.store.texts.put(deps.run.id, text)
    source = Source(
        id=content_id("s", name, snapshot),
        kind=SourceKind.DOCUMENT,
        url=f"file:///papers/{name}.txt",
        title=name.capitalize(),
        author=author,
        published="2024-03-05",
        snapshot=snapshot,
        credibility=Credibility(score=0.8, reasons=("minutes",)),
    )
    deps.add(source)
    return source


def finding_of(deps: Deps, source: Source, number: int, statement: str = "") -> Finding:
    """Enter a finding that quotes a unit of a source."""
    text = deps.store.texts.get(source.snapshot)
    span = units_of(text)[number - 1]
    finding = make_finding(source, text, [span], statement or span.of(text), "testing")
    deps.add(finding)
    return finding


def desk(
    home: Path, texts: Mapping[str, str] | None = None, reasoner: ScriptedReasoner | None = None
) -> tuple[Deps, list[str]]:
    """Return the dependencies of a run, and the ids of one finding of each text."""
    deps = Rig(home, reasoner).session().deps
    held = texts if texts is not None else {"minutes": MINUTES, "table": TABLE}
    made = [
        finding_of(deps, source_of(deps, name, text, "Ann Berg" if name == "minutes" else ""), 2)
        for name, text in held.items()
    ]
    return deps, [finding.id for finding in made]
