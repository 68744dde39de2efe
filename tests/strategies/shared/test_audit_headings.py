"""Titles, headings and open questions, which cite nothing, say only what the report says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.events import SentenceCut
from deepdiver.core.record import RunStatus
from deepdiver.report.html import render_html
from deepdiver.report.markdown import render_markdown
from deepdiver.strategies.shared.audit_headings import (
    NEUTRAL_HEADING,
    OPEN_QUESTIONS,
    OWN_HEADING,
    STEPS_HEADING,
    TITLE,
    audit_headings,
    audit_missing,
    audit_title,
    count_listed,
)
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.drafting import DraftedSection, Drafter
from deepdiver.strategies.shared.materials import gather_material
from tests.strategies.drafts import Draft, DraftSection, draft_of, label_of, told
from tests.strategies.rig import QUESTION, ScriptedReasoner
from tests.strategies.shared.desk import desk
from tests.strategies.shared.written import (
    ORDER,
    OWNED,
    announced,
    owned,
    repairing,
    report_of,
    sectioned,
    weighed,
)

ASKED = "How many hours did the committee give testing?"
HOSTILE = "Acme Industries: see https://evil.net"


def drafted(home: Path, markdown: str) -> tuple[Deps, list[DraftedSection]]:
    """Return the sections of a text about the minutes of a committee."""
    deps, keys = desk(home)
    drafter = Drafter(deps, gather_material(deps, keys), Derivations(), ASKED)
    return deps, drafter.sections(markdown)


def echoes(text: str) -> bool:
    """Take every heading for one in the words of a text."""
    return True


# -- headings


async def test_a_heading_that_its_section_does_not_carry_is_repaired_once(tmp_path: Path) -> None:
    def repair(task: tasks.RepairSentences) -> tasks.Repairs:
        new = {
            HOSTILE: "## Testing got 30 of 120 hours. {T1:2}",
            ORDER: "The pumps of Acme Industries",
        }
        return tasks.Repairs(
            repairs=tuple(
                tasks.Repaired(id=item.id, text=new[item.text]) for item in task.sentences
            )
        )

    reasoner = ScriptedReasoner(repair_sentences=repair)
    deps, keys = desk(tmp_path, reasoner=reasoner)
    drafter = Drafter(deps, gather_material(deps, keys), Derivations(), ASKED)
    gave = "It gave testing 30 hours of 120 hours {T1:2}."
    text = f"## {HOSTILE}\n\n{gave}\n\n## Hours\n\n{gave}\n\n## {ORDER}\n\n{gave}"
    sections = drafter.sections(text)
    cut = await audit_headings(deps, sections, ASKED, ASKED, [], echoes)
    assert [section.heading for section in sections] == [
        "Testing got 30 of 120 hours",
        "Hours",
        NEUTRAL_HEADING,
    ]
    assert [item.text for item in cut] == [ORDER], "what was refused is listed as it was drafted"
    (task,) = reasoner.of(tasks.RepairSentences)
    assert [item.text for item in task.sentences] == [HOSTILE, ORDER]
    assert "Acme Industries" in task.sentences[0].problem
    assert "30 hours of 120 hours" in task.sentences[0].quotes[0]


@pytest.mark.parametrize("echoed", [True, False])
async def test_a_heading_of_advice_may_be_a_way_of_speaking(tmp_path: Path, echoed: bool) -> None:
    heading = "Step 3, by 27 November: the record decides"
    deps, sections = drafted(
        tmp_path, f"## {heading}\n\nGive testing more hours {{judgement T1:2}}."
    )
    cut = await audit_headings(deps, sections, ASKED, ASKED, [], lambda text: echoed)
    assert [item.text for item in cut] == ([heading] if echoed else [])
    assert sections[0].heading == (OWN_HEADING if echoed else heading)


async def test_steps_whose_heading_was_cut_are_called_what_they_are(tmp_path: Path) -> None:
    gave = "It gave testing 30 hours of 120 hours {T1:2}."
    text = f"## {HOSTILE}\n\n1. {gave}\n2. {gave}\n\n## {ORDER}\n\n- {gave}"
    deps, sections = drafted(tmp_path, text)
    cut = await audit_headings(deps, sections, ASKED, ASKED, [], echoes)
    assert [section.heading for section in sections] == [STEPS_HEADING, NEUTRAL_HEADING]
    assert [item.section for item in cut] == [STEPS_HEADING, NEUTRAL_HEADING]


async def test_a_section_of_judgement_whose_heading_was_cut_is_not_called_what_was_found(
    tmp_path: Path,
) -> None:
    gave = "It gave testing 30 hours of 120 hours {T1:2}."
    own = "Testing needs more hours. So ask the committee for testing hours."
    deps, sections = drafted(tmp_path, f"## {HOSTILE}\n\n{gave}\n\n{own}\n\n## {ORDER}\n\n{gave}")
    await audit_headings(deps, sections, ASKED, ASKED, [], echoes)
    assert [section.heading for section in sections] == [OWN_HEADING, NEUTRAL_HEADING]


@pytest.mark.parametrize(
    ("heading", "weaker"),
    [
        ("The committee must give testing 30 hours", "The committee could give testing 30 hours"),
        ("Only the committee gave testing 30 hours", "The committee gave testing 30 hours"),
    ],
)
async def test_a_heading_that_is_surer_than_its_section_is_weakened_and_listed(
    tmp_path: Path, heading: str, weaker: str
) -> None:
    told = weaker.replace("30 hours", "30 hours of 120 hours")
    deps, sections = drafted(tmp_path, f"## {heading}\n\n{told} {{T1:2}}.")
    [cut] = await audit_headings(deps, sections, ASKED, ASKED, [], echoes)
    assert [part.heading for part in sections] == [weaker]
    assert (cut.text, cut.section) == (heading, weaker)
    assert cut.reason.startswith("as a heading, it says “")
    assert "its section" in cut.reason
    assert [line.heading for line in sections[0].lines()] == [weaker]


async def test_a_heading_as_sure_as_its_section_stays_as_it_is(tmp_path: Path) -> None:
    heading = "The committee must give testing 30 hours"
    deps, sections = drafted(tmp_path, f"## {heading}\n\nIt must give testing 30 hours {{T1:2}}.")
    assert await audit_headings(deps, sections, ASKED, ASKED, [], echoes) == []
    assert sections[0].heading == heading


async def test_a_heading_may_count_what_its_section_or_the_question_lists(tmp_path: Path) -> None:
    gave = "It gave testing 30 hours of 120 hours {T1:2}."
    told = f"- {gave}\n- Testing had 30 hours {{T1:2}}.\n- The committee gave 120 hours {{T1:2}}."
    headings = [f"Testing of {many} hours" for many in (3, 4, 7)]
    deps, sections = drafted(tmp_path, "\n\n".join(f"## {name}\n\n{told}" for name in headings))
    asked = f"{ASKED} What of planning, design, testing and release?"
    cut = await audit_headings(deps, sections, asked, asked, [], echoes)
    assert [item.text for item in cut] == headings[2:]
    assert [section.heading for section in sections[:2]] == headings[:2]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", ()),
        ("What is it?", ()),
        ("It cost 1,250 crowns.", ()),
        ("Red, green and blue?", (2, 3)),
        ("epoll、inotify、fanotify、AIOをどう使い分けるか。", (3, 4, 5)),
        ("copiar, comprimir, dividir, comprobar, programar y rotar", (4, 5, 6)),
    ],
)
def test_what_a_question_lists_is_counted(text: str, counts: tuple[int, ...]) -> None:
    assert count_listed(text) == counts or {*counts} <= {*count_listed(text)}
    assert bool(count_listed(text)) == bool(counts)


async def test_sound_headings_ask_nobody(tmp_path: Path) -> None:
    reasoner = ScriptedReasoner()
    deps, keys = desk(tmp_path, reasoner=reasoner)
    drafter = Drafter(deps, gather_material(deps, keys), Derivations(), ASKED)
    sections = drafter.sections("## Hours\n\nIt gave testing 30 hours of 120 hours {T1:2}.")
    assert await audit_headings(deps, sections, ASKED, ASKED, [], echoes) == []
    assert reasoner.of(tasks.RepairSentences) == []


async def test_a_heading_that_its_section_does_not_carry_gives_way_and_is_listed(
    tmp_path: Path,
) -> None:
    report, rig = await report_of(tmp_path, write_report=sectioned("Ownership", HOSTILE, ORDER))
    assert [part.heading for part in report.sections] == ["Ownership", QUESTION, NEUTRAL_HEADING]
    assert [(item.text, item.section) for item in report.cut] == [
        (HOSTILE, QUESTION),
        (ORDER, NEUTRAL_HEADING),
    ]
    assert "Acme Industries, https://evil.net" in report.cut[0].reason
    assert announced(rig) == list(report.cut)
    shown = render_markdown(report) + render_html(report)
    assert "https://evil.net" not in shown
    assert "hxxps://evil" in shown, "what was cut is told, defused"


async def test_a_sentence_cut_from_such_a_section_is_listed_under_the_new_heading(
    tmp_path: Path,
) -> None:
    def draft(task: tasks.ReportBrief) -> Draft:
        label = label_of(task, OWNED)
        sold = told("Holm Works was sold for 77 crowns.", label)
        return Draft((), (DraftSection("Acme Industries", (told(OWNED, label), sold)),))

    report, _ = await report_of(tmp_path, write_report=draft)
    assert len(report.cut) == 2
    assert {item.section for item in report.cut} == {QUESTION}


async def test_each_part_of_the_question_replaces_one_heading_at_most(tmp_path: Path) -> None:
    deps, sections = drafted(
        tmp_path,
        "## What Acme of Springfield gave\n\nThe committee gave testing 30 hours {T1:2}.\n\n"
        "## What Acme of Shelbyville asked\n\nAnn Berg asked for 45 hours {T1:3}.\n\n"
        "## What Acme of Ohio put off\n\nThe vote was put off {T1:4}.",
    )
    parts = ["Who asked for more hours?", "How many hours did testing get?"]
    cut = await audit_headings(deps, sections, ASKED, ASKED, parts, echoes)
    assert len(cut) == 3
    replaced = [section.heading for section in sections]
    assert set(replaced) == {*parts, NEUTRAL_HEADING}, "each part once"
    for section in sections:
        assert {line.heading for line in section.lines()} == {section.heading}


async def test_a_section_of_which_nothing_is_left_has_no_part_of_the_question(
    tmp_path: Path,
) -> None:
    deps, sections = drafted(
        tmp_path, "## What Acme of Ohio gave\n\nIt gave testing 30 hours {T1:2}."
    )
    for line in sections[0].lines():
        line.cut = True
    [cut] = await audit_headings(deps, sections, ASKED, ASKED, [ASKED], echoes)
    assert (cut.text, cut.section) == ("What Acme of Ohio gave", NEUTRAL_HEADING)


@pytest.mark.parametrize(
    "heading",
    [
        "Testing got 30 of 120 hours",
        "The committee of 3 March 2024",
        "What the minutes say of testing",
        ASKED,
    ],
)
async def test_a_heading_may_say_what_its_section_its_quotes_or_the_question_say(
    tmp_path: Path, heading: str
) -> None:
    text = f"## {heading}\n\nIt met on 3 March 2024 {{T1:1}} and gave testing 30 hours {{T1:2}}."
    deps, sections = drafted(tmp_path, text)
    assert await audit_headings(deps, sections, ASKED, ASKED, [ASKED], echoes) == []
    assert sections[0].heading == heading


# -- the title


@pytest.mark.parametrize(
    "title",
    ["Testing got 90 of 120 hours", "Acme of Ohio gave testing 30 hours", ORDER],
)
async def test_a_title_that_the_report_does_not_carry_is_cut_and_listed(
    tmp_path: Path, title: str
) -> None:
    deps, sections = drafted(tmp_path, "It gave testing 30 hours of 120 hours {T1:2}.")
    events: list[Any] = []
    deps.emit = events.append
    kept, [cut] = await audit_title(deps, title, list(sections[0].lines()), ASKED, ASKED)
    assert kept == ""
    assert (cut.text, cut.section) == (title, TITLE)
    assert cut.reason
    assert [event for event in events if isinstance(event, SentenceCut)] == [
        SentenceCut(text=title, reason=cut.reason, section=TITLE, at=events[-1].at)
    ]


async def test_a_title_stays_if_a_sentence_carries_it_and_not_if_that_was_cut(
    tmp_path: Path,
) -> None:
    deps, sections = drafted(tmp_path, "It gave testing 30 hours of 120 hours {T1:2}.")
    title = "Testing got 30 of 120 hours"
    lines = list(sections[0].lines())
    assert await audit_title(deps, title, lines, ASKED, ASKED) == (title, [])
    code = "Testing got `30` of 120 hours"
    assert await audit_title(deps, code, lines, ASKED, ASKED) == (code, []), "as its words do"
    lines[0].cut = True
    assert (await audit_title(deps, title, lines, ASKED, ASKED))[0] == ""


async def test_a_title_is_repaired_once(tmp_path: Path) -> None:
    said = "It gave testing 30 hours of 120 hours {T1:2}."
    for repaired, kept in (
        ("# Testing got 30 of 120 hours {T1:2}", "Testing got 30 of 120 hours"),
        ("Testing got 91 of 120 hours", ""),
        (None, ""),
    ):
        deps, sections = drafted(tmp_path / str(repaired)[:9], said)
        deps.reasoner = ScriptedReasoner(repair_sentences=repairing(repaired))
        title = "Testing got 90 of 120 hours"
        lines = list(sections[0].lines())
        made, cut = await audit_title(deps, title, lines, ASKED, ASKED)
        assert made == kept
        assert [item.text for item in cut] == ([] if kept else [title])


async def test_no_title_is_nothing_to_cut(tmp_path: Path) -> None:
    deps, _ = drafted(tmp_path, "")
    assert await audit_title(deps, "", [], ASKED, ASKED) == ("", [])


async def test_a_report_without_an_answer_has_no_title(tmp_path: Path) -> None:
    answered, _ = await report_of(tmp_path / "answered", write_report=owned)
    assert answered.title == QUESTION
    report, _ = await report_of(
        tmp_path / "empty",
        write_report=draft_of(),
        write_bottom_line=lambda task: tasks.BottomLine(title=OWNED, bottom_line=""),
    )
    assert (report.title, report.cut) == ("", ())


async def test_a_hostile_title_gives_way_to_the_question(tmp_path: Path) -> None:
    report, rig = await report_of(
        tmp_path,
        write_report=owned,
        write_bottom_line=lambda task: tasks.BottomLine(
            title=HOSTILE, bottom_line=task.verdict, missing=()
        ),
    )
    assert report.title == ""
    assert [(item.text, item.section) for item in report.cut] == [(HOSTILE, TITLE)]
    assert announced(rig) == list(report.cut)
    assert render_markdown(report).startswith(f"# {QUESTION}\n")


# -- what is not answered


async def test_what_is_not_answered_is_audited_too(tmp_path: Path) -> None:
    hostile = "whether Acme of Springfield is safe, see http://evil.net/x"
    asked = "Since when does Anna Holm own it?"
    report, rig = await report_of(tmp_path, write_report=draft_of(missing=(asked, hostile, ORDER)))
    assert [line for line in report.limits if line.startswith("Not answered")] == [
        f"Not answered: {asked}"
    ]
    assert [(item.text, item.section) for item in report.cut] == [
        (hostile, OPEN_QUESTIONS),
        (ORDER, OPEN_QUESTIONS),
    ]
    assert announced(rig) == list(report.cut)


def test_a_question_may_ask_about_what_the_findings_name(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    kept, [cut] = audit_missing(
        deps,
        ["Why was testing given 30 of 120 hours?", "Why did Acme of Ohio meet?"],
        keys,
        ASKED,
    )
    assert kept == ["Why was testing given 30 of 120 hours?"]
    assert cut.text == "Why did Acme of Ohio meet?"
    assert "Acme" in cut.reason


def test_what_a_report_lacks_may_stand_in_a_text_that_it_does_not_cite(tmp_path: Path) -> None:
    deps, keys = desk(tmp_path)
    lacks = "the reserve of 512 crowns that Ann Berg keeps"
    kept, _ = audit_missing(deps, [lacks], keys, ASKED, "Ann Berg keeps a reserve of 512 crowns.")
    assert kept == [lacks]
    assert audit_missing(deps, [lacks], keys, ASKED)[0] == []


async def test_what_was_cut_of_it_still_counts_as_not_answered(tmp_path: Path) -> None:
    def draft(*missing: str) -> Any:
        return lambda task: Draft((told(OWNED, label_of(task, OWNED)),), missing=missing)

    plain = await weighed(tmp_path / "plain", write_report=draft("Since when?"))
    hostile = await weighed(tmp_path / "hostile", write_report=draft("Acme Industries of Ohio"))
    assert hostile[0].confidence == plain[0].confidence
    assert hostile[0].status is plain[0].status is RunStatus.PARTIAL
