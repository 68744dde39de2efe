"""Auditing a report that anybody wrote, from its file to its problems."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault, NoRungError, UsageError
from deepdiver.report.markdown import render_markdown
from deepdiver.run.auditor import audit_file as module
from deepdiver.run.auditor.audit_file import ADDED, BORROWED, OWN, PROBLEMS, ReportAudit, audit_file
from deepdiver.run.auditor.judge import Judged, Nearest, Standing, Stated
from deepdiver.tasks import Check, Checks, CheckSupport
from tests.report.figures import week
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


# -- what cannot be read, or not all of it


@pytest.mark.parametrize("kind", ["folder", "link in a circle", "no permission"])
async def test_a_file_that_cannot_be_opened(tmp_path: Path, settings: Settings, kind: str) -> None:
    path = tmp_path / "r.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "link in a circle":
        path.symlink_to(path)
    else:
        path.write_text(REPORT, encoding="utf-8")
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("nothing is forbidden to this user")
    with pytest.raises(UsageError, match=r"r\.md cannot be read"):
        await audit_file(path, settings)


async def test_no_folder_of_sources(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(UsageError, match="gone"):
        await audited(tmp_path, settings, tmp_path / "gone", REPORT)


async def test_nothing_that_is_cited_can_be_read(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    (sources / "winter.md").unlink()
    (sources / "other.md").write_text("Something else.", encoding="utf-8")
    audit = await audited(tmp_path, settings, sources, REPORT)
    counts = audit.counts()
    assert counts[Standing.SUPPORTED] == counts[Standing.NOT] == counts[Standing.CONTRADICTED] == 0
    assert counts[Standing.UNREACHABLE] == audit.problems()["unreachable"] > 0
    assert all(item.judged.why for item in audit.statements if item.statement.cites)


async def test_a_sentence_of_two_references_is_unreachable_only_if_both_are(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    cited = "The harbour froze on 3 March 2026 [1][2]."
    listed = "\n\n[1]: winter.md\n[2]: gone.md\n"
    audit = await audited(tmp_path, settings, sources, cited + listed)
    assert Standing.UNREACHABLE not in standings(audit).values()
    (sources / "winter.md").unlink()
    (sources / "other.md").write_text("Something else.", encoding="utf-8")
    audit = await audited(tmp_path, settings, sources, cited + listed)
    (found,) = audit.statements
    assert found.judged.standing is Standing.UNREACHABLE
    assert "[1]" in found.judged.why
    assert "[2]" in found.judged.why


async def test_a_report_without_a_citation_is_read_and_says_so(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    audit = await audited(tmp_path, settings, sources, "The ferry carried 1,200 people in 2025.\n")
    assert audit.references == {}
    assert list(standings(audit).values()) == [Standing.UNCITED]
    assert audit.share == 0.0


async def test_each_step_is_told(tmp_path: Path, settings: Settings, sources: Path) -> None:
    file, told = tmp_path / "r.md", list[str]()
    file.write_text(REPORT, encoding="utf-8")
    await audit_file(file, settings, sources=sources, tell=told.append)
    assert any("sentences cite" in line for line in told)
    assert any("could be read; judging" in line for line in told)


async def test_a_model_that_fails_is_told(
    tmp_path: Path, settings: Settings, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "choose_reasoner", lambda *_: Model(NoRungError("cannot")))
    named, told = settings.model_copy(update={"model": "openai:x"}), list[str]()
    file = tmp_path / "r.md"
    file.write_text(REPORT, encoding="utf-8")
    await audit_file(file, named, sources=sources, tell=told.append)
    assert any("no model's word on" in line and "cannot" in line for line in told)


async def test_a_model_does_not_excuse_what_is_contradicted(
    tmp_path: Path, settings: Settings, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That nothing supports it says less than that something denies it."""
    item = (await audited(tmp_path, settings, sources, REPORT)).statements[0]
    denied = replace(item, judged=replace(item.judged, standing=Standing.CONTRADICTED))
    number = item.statement.number
    assert module._decide(denied, {number: ("none", "no")}, "openai:x") == denied
    kept = module._decide(denied, {number: ("full", "so")}, "openai:x").judged
    assert (kept.standing, kept.by) == (Standing.SUPPORTED, "openai:x")
    assert module._decide(denied, {}, "openai:x") == denied


def test_the_kinds_of_problems_are_those_of_the_command_line() -> None:
    assert "contradicted" in PROBLEMS
    assert len(set(PROBLEMS)) == len(PROBLEMS)


@pytest.mark.parametrize(
    ("said", "denial", "standing"),
    [
        ("none", 0.51, Standing.CONTRADICTED),
        ("none", 0.49, Standing.NOT),
        ("partial", 0.95, Standing.PARTLY),
        ("full", 0.95, Standing.SUPPORTED),
    ],
)
async def test_what_a_model_finds_wrong_and_the_reader_denies_is_contradicted(
    tmp_path: Path,
    settings: Settings,
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    denial: float,
    standing: Standing,
) -> None:
    async def judge(stated: Sequence[Stated], as_of: str) -> list[Judged]:
        del as_of
        near = (Nearest("https://e.org", 0, "It froze."),)
        return [Judged(Standing.SUPPORTED, nearest=near, denial=denial) for _ in stated]

    monkeypatch.setattr(module, "judge", judge)
    audit = await by_model(tmp_path, settings, sources, monkeypatch, Model(S1=said))
    assert audit.statements[0].judged.standing is standing


async def test_a_row_of_totals_that_come_out_states_nothing_of_its_own(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    right = REPORT.replace("2,300", "2,200")
    audit = await audited(tmp_path, settings, sources, right)
    last = audit.statements[-1]
    assert last.statement.text == "Year: Total; Passengers: 2,200"
    assert (last.judged.standing, last.note) == (Standing.FRAME, ADDED)
    assert audit.totals == ()
    assert audit.problems()["uncited"] == 3


async def test_what_our_own_report_tells_about_itself_is_counted_and_not_judged(
    tmp_path: Path, settings: Settings, sources: Path
) -> None:
    told = """
## Evidence view

**Answered, confidence 0.81.**

- **supported** (0.81, 1 attempt to refute): The ferry carried 1,300 passengers in 2025.
- [1] 0.60: a company on its own matter

---
*deepdiver, strategy popper, as of 2026-11-17.*
"""
    path = tmp_path / "report.md"
    path.write_text(REPORT, encoding="utf-8")
    plain = await audit_file(path, settings, sources=sources)
    path.write_text(REPORT + told, encoding="utf-8")
    found = await audit_file(path, settings, sources=sources)
    assert found.own == 4
    assert {item.note for item in found.statements[-4:]} == {OWN}
    assert found.problems() == plain.problems()
    assert (found.checked, found.share, plain.own) == (plain.checked, plain.share, 0)
    # Under any other heading, the same lines are claims.
    path.write_text(REPORT + told.replace("Evidence view", "Remarks"), encoding="utf-8")
    assert (await audit_file(path, settings, sources=sources)).checked > plain.checked


async def test_the_evidence_view_of_an_export_is_not_taken_for_claims(
    tmp_path: Path, settings: Settings
) -> None:
    path = tmp_path / "report.md"
    path.write_text(render_markdown(week.report()), encoding="utf-8")
    found = await audit_file(path, settings, sources=tmp_path)
    own = [item for item in found.statements if item.statement.own]
    assert len(own) == found.own > 5
    assert own[-1] == found.statements[-1]  # the line that says who made it
    assert {item.judged.standing for item in own} == {Standing.FRAME}
    told = [item.statement.text for item in found.statements if not item.statement.own]
    assert not any("confidence" in text or "attempt" in text for text in told)
