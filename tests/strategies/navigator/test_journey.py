"""The journey is told by code from the steps.

What brought something, what did not, and what the person said.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver.core.record import Report, RunStatus, Section, Sentence, SentenceKind
from deepdiver.report.markdown import JOURNEY, render_markdown
from deepdiver.strategies.navigator.journey import (
    LONGEST_SAID,
    SOURCES,
    hand_over,
    lines_under,
    make_sections,
    tell_certainty,
    tell_journey,
)
from tests.strategies.navigator.test_disputes import ANNA, finding
from tests.strategies.rig import Rig


def step(
    action: str = "search_library", what: str = "Holm", found: int = 1, **more: Any
) -> dict[str, Any]:
    told = {
        "pass": 1,
        "action": action,
        "query_or_url": what,
        "found": found,
        "way": "",
        "why": "",
        "failed": "",
        "lost": 0,
        "narrowed": "",
        "note": "",
    }
    return {**told, "sources": 3, "confidence": 0.5, **more}


def test_where_nothing_was_done_that_is_said() -> None:
    assert tell_journey([], []) == ["No step was taken."]


def test_each_step_that_brought_something_is_told() -> None:
    assert tell_journey([step(), step("crawl_url", "https://a.example/x", 2, sources=1)], []) == [
        "search_library for “Holm”: 3 sources, 1 new finding; confidence 0.50.",
        "crawl_url https://a.example/x: 1 source, 2 new findings; confidence 0.50.",
    ]


def test_steps_that_brought_nothing_are_told_together() -> None:
    barren = [step(what=what, found=0) for what in "abc"]
    told = tell_journey([step(), *barren, step(what="z")], [])
    assert len(told) == 3
    assert (
        told[1]
        == "Nothing new came of search_library for “a”; search_library for “b”; search_library for "
        "“c”."
    )


def test_a_tool_that_could_not_be_used_is_no_search_in_vain() -> None:
    assert tell_journey([step(found=0, failed="down")], []) == [
        "Nothing new came of search_library for “Holm” (it could not be used)."
    ]


def test_a_way_out_of_a_circle_is_told_with_the_reason() -> None:
    (told,) = tell_journey(
        [step(found=0, way="narrow", why="the last 3 steps brought nothing new")], []
    )
    assert told.startswith(
        "Because the last 3 steps brought nothing new, one part was asked for alone: search_library"
    )
    (failed,) = tell_journey([step(found=0, way="lead", why="x", failed="down")], [])
    assert failed.endswith("which brought nothing.")


def test_what_was_noted_of_a_step_is_told_with_it() -> None:
    note = "search_google is not among the tools that are set up; search_library was taken instead"
    (told,) = tell_journey([step(note=note, narrowed="language sv", lost=2)], [])
    assert told == (
        f"search_library for “Holm” (language sv; {note}): 3 sources, 1 new finding, 2 statements "
        "without a passage; confidence 0.50."
    )


def test_the_steps_of_an_older_checkpoint_are_told_all_the_same() -> None:
    old = {key: value for key, value in step().items() if key not in {"lost", "narrowed", "note"}}
    assert tell_journey([old], []) == tell_journey([step()], [])


def test_what_the_person_said_stands_between_the_passes() -> None:
    said = "x" * (2 * LONGEST_SAID)
    passes = [{**step(), "pass": number} for number in (1, 2, 3)]
    told = tell_journey(passes, ["Wrong\n child.", said])
    assert told[1] == "The person was shown the answer and said: “Wrong child.”."
    assert len(told[3]) < LONGEST_SAID + 60
    assert len(told) == 5


def test_the_key_sources_are_those_that_carry_the_answer(tmp_path: Path) -> None:
    deps = Rig(tmp_path, strategy="navigator").session().deps
    one, _ = finding(deps, ANNA, "register"), finding(deps, ANNA, "blog", rest="Else.")
    journey, sources = make_sections(deps, ["a step"], [Sentence(text=ANNA, findings=(one,))])
    assert (journey.heading, journey.sentences[0].text) == (JOURNEY, "a step")
    assert [(line.text, line.findings) for line in sources.sentences] == [
        ("register, register", (one,))
    ]
    assert make_sections(deps, ["a step"], [])[1].sentences == ()


def test_the_hand_over_has_the_three_parts_of_the_seed() -> None:
    frame = Sentence(text="a step", kind=SentenceKind.FRAME)
    report = Report(
        question="Who?",
        status=RunStatus.NO_EVIDENCE,
        answer=(),
        confidence=0.0,
        sections=(Section(heading=JOURNEY, sentences=(frame, frame)),),
    )
    assert hand_over(report) == (
        "Answer:\nNo evidence was found that bears on the question. Searches were answered, and "
        "brought nothing to the point.\n"
        "Certainty: no evidence found.\n\n"
        "Research Journey:\n- a step\n- a step\n\nKey Sources:\n- none"
    )
    assert lines_under(report, SOURCES) == []
    page = render_markdown(report)
    assert "## Bottom line\n" in page
    assert "## Research Journey\n\n- a step\n- a step\n" in page


def test_the_hand_over_says_how_certain_it_is_and_what_is_missing() -> None:
    answer = (Sentence(text=ANNA, findings=("f_1",)),)
    report = Report(question="Who?", status=RunStatus.PARTIAL, answer=answer, confidence=0.432)
    lines = hand_over(report, ["Where does she live?", "x" * 2 * LONGEST_SAID]).splitlines()
    assert lines[1:5] == [
        ANNA,
        "Certainty: answered in part, confidence 0.43.",
        "Missing or uncertain:",
        "- Where does she live?",
    ]
    assert len(lines[5]) <= LONGEST_SAID + 2
    sure = report.model_copy(update={"status": RunStatus.ANSWERED, "confidence": 0.9})
    assert tell_certainty(sure, []) == [
        "Certainty: answered, confidence 0.90.",
        "Missing: nothing that was asked for.",
    ]
    assert tell_certainty(report, []) == ["Certainty: answered in part, confidence 0.43."]
