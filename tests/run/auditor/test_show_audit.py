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


# -- what is empty, long or odd


def bare() -> ReportAudit:
    """Return the audit of a report that cites nothing and states nothing."""
    text = read_cited_text("Is that so?")
    (own,) = text.statements
    return ReportAudit(
        "r.md",
        text,
        (AuditedStatement(own, Judged(Standing.FRAME)),),
        {},
        (),
        (),
        "the reader",
        "2026-11-16",
    )


def test_a_report_that_states_nothing_is_not_divided_by_zero() -> None:
    told = "\n".join(audit_lines(bare(), 200))
    assert "0 of 1 sentences and rows state something" in told
    assert "100% of what is stated is supported" in told
    assert "How often this audit is wrong" in told
    for heading in ("Dangling", "Sums", "contradict each other", "Addresses"):
        assert heading not in told
    record = audit_record(bare())
    assert (record["checked"], record["share_supported"]) == (0, 1.0)
    assert set(record["problems"].values()) == {0}
    assert "states nothing to check" in audit_page(bare())


def test_what_is_long_is_cut_on_the_screen_and_whole_in_json() -> None:
    found = audit(word="It froze " + "and froze " * 200)
    lines = list(audit_lines(found, 100))
    assert all(len(line) <= 100 for line in lines)
    assert sum(len(line) for line in lines) < 6_000
    assert len(audit_record(found)["sentences"][0]["text"]) > 1_900


@pytest.mark.parametrize("odd", ["\x1b[31m", "\r", "\x00", "\u2028", "\u202e", "\t\t"])
def test_a_line_of_a_stranger_stays_one_line(odd: str) -> None:
    found = audit(why=f"a{odd}b")
    lines = list(audit_lines(found, 200))
    assert not any(char in line for line in lines for char in "\r\n\u2028\x00")
    assert json.loads(json.dumps(audit_record(found)))["sentences"][0]["why"] == f"a{odd}b"
    assert "\x00" not in audit_page(found)


def test_a_reference_by_its_address_alone_is_named_once() -> None:
    found = audit()
    url = "https://e.org/2"
    by_url = {url: replace(found.references["2"], reference=Reference(url, url))}
    told = "\n".join(audit_lines(replace(found, references=by_url), 200))
    assert f"  {url}: e.org answered 404" in told
    assert f"[{url}]" not in told


def test_a_reference_that_could_not_be_read_is_not_said_to_be_invented() -> None:
    found = audit()
    away = {"2": replace(found.references["2"], gone=False, reason="e.org did not answer")}
    told = "\n".join(audit_lines(replace(found, references=away), 200))
    assert "References that could not be read" in told
    assert "Addresses that do not exist" not in told
    assert audit_record(replace(found, references=away))["problems"]["invented"] == 0


@pytest.mark.parametrize("standing", list(Standing))
def test_every_standing_can_be_shown_everywhere(standing: Standing) -> None:
    found = audit()
    changed = [replace(item, judged=Judged(standing, "so")) for item in found.statements]
    shown = replace(found, statements=tuple(changed))
    assert NAMES[standing] in "\n".join(audit_lines(shown, 200)).lower()
    assert NAMES[standing] in audit_page(shown)
    assert audit_record(shown)["counts"][standing.value] == len(changed)


def test_a_judge_of_another_name_is_named() -> None:
    named = replace(audit(), judged_by="openai:x")
    assert "by code and openai:x" in " ".join(audit_lines(named, 300))
    assert audit_record(named)["judged_by"] == "openai:x"
    assert "openai:x" in audit_page(named)


def test_the_sentences_on_the_page_can_be_linked_to() -> None:
    page = audit_page(audit())
    assert [int(number) for number in re.findall(r'<li id="s(\d+)"', page)] == [1, 2, 3]
    assert page.count("<blockquote") == 1
    assert "Content-Security-Policy" in page


def test_a_title_is_preferred_to_the_name_of_the_file() -> None:
    found = audit()
    assert "Audit of Title</h1>" in audit_page(found)
    untitled = replace(found, text=replace(found.text, title=""))
    assert "Audit of r.md</h1>" in audit_page(untitled)


def test_counts_and_problems_agree_in_every_view() -> None:
    found = audit()
    record = audit_record(found)
    assert sum(record["counts"].values()) == len(record["sentences"]) == 3
    for kind, many in record["problems"].items():
        if kind in record["counts"]:
            assert record["counts"][kind] == many
    assert record["problems"]["sums"] == 2
    assert record["problems"]["conflicts"] == 1
    told = [line.split() for line in audit_lines(found, 200) if line.startswith("  not supported")]
    assert told == [["not", "supported", "1", "50%"]]


@pytest.mark.parametrize("width", [1, 40, 80, 140, 500])
def test_no_word_is_lost_whatever_the_width(width: int) -> None:
    whole = " ".join(" ".join(audit_lines(audit(), 10_000)).split())
    assert " ".join(" ".join(audit_lines(audit(), width)).split()) == whole


@pytest.mark.parametrize("standing", sorted({*Standing} - {Standing.FRAME, Standing.SUPPORTED}))
def test_what_is_wrong_is_listed_under_its_standing(standing: Standing) -> None:
    found = audit()
    judged = replace(found.statements[0].judged, standing=standing)
    first = replace(found.statements[0], judged=judged)
    lines = list(audit_lines(replace(found, statements=(first, *found.statements[1:])), 200))
    heading = next(at for at, line in enumerate(lines) if line.startswith("  1. It froze hard."))
    above = next(line for line in reversed(lines[:heading]) if line and not line.startswith(" "))
    assert above.casefold() == NAMES[standing].casefold()


def test_what_is_supported_is_counted_and_not_listed() -> None:
    found = audit()
    judged = replace(found.statements[0].judged, standing=Standing.SUPPORTED, why="")
    first = replace(found.statements[0], judged=judged)
    told = "\n".join(audit_lines(replace(found, statements=(first, *found.statements[1:])), 200))
    assert "1. It froze hard." not in told
    assert "50% of what is stated is supported" in told


def test_the_same_audit_is_told_in_the_same_words() -> None:
    assert list(audit_lines(audit(), 80)) == list(audit_lines(audit(), 80))
    assert audit_page(audit()) == audit_page(audit())
