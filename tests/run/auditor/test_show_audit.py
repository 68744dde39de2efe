"""An audit as lines, as a page and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from deepdiver.report.cited_text import Reference, read_cited_text
from deepdiver.report.shown_sums import WrongSum
from deepdiver.run.auditor.audit_file import AuditedStatement, ReportAudit
from deepdiver.run.auditor.cited_pages import ReadReference
from deepdiver.run.auditor.inner_conflicts import InnerConflict
from deepdiver.run.auditor.judge import CitedPage, Judged, Nearest, Standing
from deepdiver.run.auditor.show_audit import NAMES, audit_lines, audit_page, audit_record

EVIL = "<script>alert(1)</script> \u202e [x](javascript:alert(1)) https://evil.example/steal"


def audit(word: str = "It froze", why: str = "9 is in none of its sources") -> ReportAudit:
    text = read_cited_text(
        f"# Title\n\n{word} hard [1]. It thawed [2]. And [3] so on.\n\n[1]: https://e.org/1\n"
        "[2]: https://e.org/2\n[9]: https://e.org/9"
    )
    near = (Nearest("https://e.org/1", 5, f"{word} in March"),)
    judged = (
        Judged(Standing.NOT, why, "code", near, 0.25),
        Judged(Standing.UNREACHABLE, "[2] e.org answered 404"),
        Judged(Standing.FRAME),
    )
    statements = tuple(
        AuditedStatement(item, one) for item, one in zip(text.statements, judged, strict=True)
    )
    wrong = WrongSum(f"1 + 1 = 3 {word}", "2")
    one, two = (Reference(key, f"https://e.org/{key}") for key in "12")
    return ReportAudit(
        "r.md",
        text,
        (replace(statements[0], sums=(wrong,)), *statements[1:]),
        {
            "1": ReadReference(one, CitedPage(one.url, "T", "x")),
            "2": ReadReference(two, None, "e.org answered 404", gone=True),
        },
        (InnerConflict(1, 2),),
        (wrong,),
        "the reader",
        "2026-11-16",
    )


@pytest.mark.parametrize("width", [20, 80, 140])
def test_lines_fit_the_terminal(width: int) -> None:
    lines = list(audit_lines(audit(), width))
    assert max(map(len, lines)) <= max(40, width)


def test_the_lines_tell_everything() -> None:
    told = "\n".join(audit_lines(audit(), 200))
    for wanted in (
        "2 of 3 sentences and rows state something; of 2 references 1 could be read.",
        "0% of what is stated is supported, by code and the reader.",
        "1. It froze hard. [1]",
        "→ 9 is in none of its sources (code)",
        "nearest: “It froze in March” https://e.org/1",
        "[3] is cited in sentence 3 and defined nowhere",
        "Addresses that do not exist",
        "“1 + 1 = 3 It froze”: it gives 2",
        "Sentences that contradict each other",
        "References that nothing cites",
        "How often this audit is wrong",
    ):
        assert wanted in told


def test_every_standing_has_a_name() -> None:
    assert set(NAMES) == set(Standing)


def test_the_record_is_json_and_complete() -> None:
    found = json.loads(json.dumps(audit_record(audit())))
    assert found["counts"]["not"] == 1
    assert found["problems"]["dangling"] == 1
    assert found["sentences"][0]["nearest"] == [
        {"url": "https://e.org/1", "start": 5, "text": "It froze in March"}
    ]
    assert found["sentences"][0]["support"] == 0.25
    assert found["references"][1] == {
        "key": "2",
        "url": "https://e.org/2",
        "text": "",
        "read": False,
        "reason": "e.org answered 404",
        "gone": True,
    }
    assert found["conflicts"] == [[1, 2]]
    assert "How often" in found["error_rates"]


def test_the_page_shows_what_strangers_wrote_and_does_nothing_else() -> None:
    page = audit_page(audit(EVIL, EVIL))
    assert "default-src &#x27;none&#x27;" in page
    assert "<script" not in page
    assert "\u202e" not in page
    assert not re.search(r"(?:href|src)=", page)
    assert "https://evil.example" not in page


def test_the_page_has_every_sentence_and_the_error_rates() -> None:
    page = audit_page(audit())
    for number in (1, 2, 3):
        assert f'id="s{number}"' in page
    assert "How often this audit is wrong" in page
    assert '<span class="badge not">not supported</span>' in page
