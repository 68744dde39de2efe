"""Auditing a report that anybody wrote, from its file to its problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, NoRungError, UsageError
from deepdiver.run.auditor import audit_file as module
from deepdiver.run.auditor.audit_file import BORROWED, PROBLEMS, ReportAudit, audit_file
from deepdiver.run.auditor.judge import Standing
from deepdiver.tasks import Check, Checks, CheckSupport
from tests.tools.extract import making

SOURCE = """# Winter at Vantskär

The harbour of Vantskär froze on 3 March 2026. The ferry carried 1,200 passengers in 2025, by the
count of the board. The board did not approve the new pier. Clearing the ice took nine days.
"""
REPORT = """# Vantskär in winter

The harbour froze on 3 March 2026 [1]. The ferry carried 1,300 passengers in 2025 [1].
Clearing the ice took nine days. The mayor resigned in 1999.

The board approved the new pier [1]. Costs rose from 40 to 50 million, by 20 % [2]. What follows is
more of the same. See also the yearbook [7].

| Year | Passengers |
|---|---|
| 2024 | 1,000 |
| 2025 | 1,200 |
| Total | 2,300 |

## Sources

[1] Ports Board, winter.md
[2] Budget, https://e.org/budget
[3] Never cited, https://e.org/never
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate({"home": tmp_path / "home"})


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "winter.md").write_text(SOURCE, encoding="utf-8")
    return folder


async def audited(
    tmp_path: Path, settings: Settings, sources: Path, text: str | bytes, name: str = "r.md"
) -> ReportAudit:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return await audit_file(file, settings, sources=sources)


def standings(audit: ReportAudit) -> dict[str, Standing]:
    return {item.statement.text: item.judged.standing for item in audit.statements}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("gone.md", None, "No such file or directory"),
        ("a.md", b"", "it is empty"),
        ("a.md", b"# Only a heading", "no sentence to audit"),
        ("a.zip", b"PK\x03\x04broken", "cannot be read"),
    ],
)
async def test_what_is_no_report(
    tmp_path: Path, settings: Settings, name: str, content: bytes | None, why: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=why):
        await audit_file(tmp_path / name, settings)


async def test_every_sentence_stands_somewhere(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    audit = await audited(tmp_path, settings, sources, REPORT)
    assert standings(audit) == {
        "The harbour froze on 3 March 2026.": Standing.SUPPORTED,
        "The ferry carried 1,300 passengers in 2025.": Standing.NOT,
        "Clearing the ice took nine days.": Standing.SUPPORTED,
        "The mayor resigned in 1999.": Standing.UNCITED,
        "The board approved the new pier.": Standing.CONTRADICTED,
        "Costs rose from 40 to 50 million, by 20 %.": Standing.UNREACHABLE,
        "What follows is more of the same.": Standing.FRAME,
        "See also the yearbook.": Standing.UNREACHABLE,
        "Year: 2024; Passengers: 1,000": Standing.UNCITED,
        "Year: 2025; Passengers: 1,200": Standing.UNCITED,
        "Year: Total; Passengers: 2,300": Standing.UNCITED,
    }
    assert audit.problems() == {
        "contradicted": 1,
        "not": 1,
        "partly": 0,
        "unreachable": 2,
        "uncited": 4,
        "dangling": 1,
        "invented": 0,
        "sums": 2,
        "conflicts": 0,
    }
    assert tuple(audit.problems()) == PROBLEMS
    assert (audit.checked, audit.share) == (10, 0.2)
    assert audit.text.dangling == (("7", 8),)
    assert audit.text.unused == ("3",)


async def test_a_sentence_borrows_the_citation_of_its_paragraph(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    audit = await audited(tmp_path, settings, sources, REPORT)
    borrowed = [item.statement.text for item in audit.statements if item.note == BORROWED]
    assert borrowed == ["Clearing the ice took nine days."]


async def test_sentences_that_contradict_each_other_are_named(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    text = (
        "The board of the harbour approved the new pier in March.\n\nIt rained.\n\n"
        "The board of the harbour did not approve the new pier in March."
    )
    audit = await audited(tmp_path, settings, sources, text)
    assert [(one.first, one.second) for one in audit.conflicts] == [(1, 3)]


HTML = """<html><body><h1>Vantskär</h1><p>The ferry carried 1,300 passengers in
2025.<sup><a href="#n1">1</a></sup> It froze on 3 March 2026
(<a href="winter.md">winter</a>).</p><ol><li id="n1"><a href="winter.md">Board</a></li></ol>"""


def word() -> bytes:
    def build(made: Any) -> None:
        made.add_heading("Vantskär", 1)
        made.add_paragraph("The ferry carried 1,300 passengers in 2025 [1].")
        made.add_paragraph("It froze on 3 March 2026 [1].")
        made.add_heading("Sources", 1)
        made.add_paragraph("[1] winter.md")

    return making.docx(build)


PDF = making.pdf(
    [
        [
            (780, "Vantskar", 24),
            (740, "The ferry carried 1,300 passengers in 2025 [1]. It froze on 3 March 2026 [1]."),
            (700, "Sources", 18),
            (670, "[1] winter.md"),
        ]
    ]
)


@pytest.mark.parametrize(
    ("name", "data"), [("r.html", HTML.encode()), ("r.docx", word()), ("r.pdf", PDF)]
)
async def test_other_formats(
    tmp_path: Path, settings: Settings, sources: Path, name: str, data: bytes
) -> None:
    audit = await audited(tmp_path, settings, sources, data, name)
    assert list(standings(audit).values()) == [Standing.NOT, Standing.SUPPORTED]
    assert audit.text.dangling == ()


class Model:
    """A model that says what it was told to say, and remembers what it was asked."""

    def __init__(self, fails: Exception | None = None, **says: str) -> None:
        self.fails, self.says, self.asked = fails, says, list[CheckSupport]()

    async def perform(self, task: CheckSupport) -> Checks:
        self.asked.append(task)
        if self.fails is not None:
            raise self.fails
        checks = (
            Check(id=claim.id, support=self.says.get(claim.id, "full"), reason="as the model says")  # type: ignore[arg-type]
            for claim in task.claims
        )
        return Checks(checks=tuple(checks))


async def by_model(
    tmp_path: Path,
    settings: Settings,
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Model,
) -> ReportAudit:
    monkeypatch.setattr(module, "choose_reasoner", lambda *_: model)
    named = settings.model_copy(update={"model": "openai:x"})
    return await audited(tmp_path, named, sources, REPORT)


async def test_a_model_decides_about_what_code_lets_pass(
    tmp_path: Path, settings: Settings, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(S1="partial", S2="full")
    audit = await by_model(tmp_path, settings, sources, monkeypatch, model)
    first, second, *_ = audit.statements
    assert (first.judged.standing, first.judged.by) == (Standing.PARTLY, "openai:x")
    assert first.judged.why == "as the model says"
    # A number that is not there is not there, whatever a model says.
    assert (second.judged.standing, second.judged.by) == (Standing.NOT, "code")
    assert "S2" not in {claim.id for task in model.asked for claim in task.claims}
    assert audit.judged_by == "openai:x"


@pytest.mark.parametrize(
    "error",
    [NoRungError("no"), BudgetError("too dear"), CallError("late", CallFault.TIMEOUT)],
    ids=["cannot", "budget", "late"],
)
async def test_a_model_that_fails_changes_nothing(
    tmp_path: Path,
    settings: Settings,
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    audit = await by_model(tmp_path, settings, sources, monkeypatch, Model(error))
    assert audit.statements[0].judged.standing is Standing.SUPPORTED


async def test_a_key_that_is_refused_ends_the_audit(
    tmp_path: Path, settings: Settings, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = CallError("the key is refused", CallFault.AUTH)
    with pytest.raises(CallError, match="the key is refused"):
        await by_model(tmp_path, settings, sources, monkeypatch, Model(refused))
