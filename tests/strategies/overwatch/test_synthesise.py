"""The report of an investigation: sections of conclusions, limits, and notes that code writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.record import Assessment, HypothesisStatus, Report, RunStatus, SentenceKind
from deepdiver.strategies.overwatch import synthesise
from deepdiver.strategies.overwatch.analyse import insight_id_of
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.synthesise import (
    add_notes,
    assess_confidence,
    describe_method,
    list_limits,
    list_uncertainties,
    list_verified,
    make_sections,
    recommend,
    withheld_findings,
)
from deepdiver.strategies.overwatch.verify import verify
from deepdiver.strategies.shared.summary import lines_of
from tests.strategies.drafts import Draft, DraftSection, say_all, told
from tests.strategies.overwatch.test_analyse import assessed
from tests.strategies.overwatch.test_verify import (
    ADJUST,
    FLAG,
    PASS,
    REJECT,
    STATE,
    concluded,
    result,
)


def report(
    *hypotheses: Assessment, status: RunStatus = RunStatus.ANSWERED, confidence: float = 0.8
) -> Report:
    return Report(
        question="Q?", status=status, answer=(), confidence=confidence, hypotheses=hypotheses
    )


async def test_correlations_are_told_by_kind_with_quotes_in_the_order_of_time(
    tmp_path: Path,
) -> None:
    _, deps, state = await concluded(tmp_path)
    state |= (await verify(state, deps))[0]
    by_heading = {section.heading: section.sentences for section in make_sections(deps, state)}
    assert list(by_heading) == [
        "Key insights",
        "Close in time",
        "Close in space",
        "Possible causes",
    ]
    frame, dip, smoke = by_heading["Close in time"]
    assert frame.kind is SentenceKind.FRAME
    assert frame.text.startswith("6 minutes apart, 0.73 km apart, confidence 0.")
    assert "voltage dipped" in dip.text
    assert "saw smoke" in smoke.text
    assert dip.findings
    rejected = [{**item, "verdict": "REJECT"} for item in state["verification_results"]]
    assert make_sections(deps, {**state, "verification_results": rejected}) == []


def test_what_copies_say_alike_is_quoted_once_and_each_source_has_its_turn() -> None:
    said = {
        "a1": ("paper", "A fire broke out."),
        "b1": ("other paper", "A  fire broke OUT."),
        "a2": ("paper", "It was put out."),
        "c1": ("log", "Alarm at 04:50."),
        "c2": ("log", "A fire broke out."),
    }
    quotes = {
        key: SimpleNamespace(quotes=[SimpleNamespace(source=s, text=t)])
        for key, (s, t) in said.items()
    }
    deps: Any = SimpleNamespace(ledger=SimpleNamespace(get=lambda kind, key: quotes[key]))
    assert synthesise._vary_sources(deps, list(said)) == ["a1", "c1", "a2"]
    assert synthesise._vary_sources(deps, []) == []


async def test_what_the_reasoner_says_of_a_correlation_is_told_instead_of_the_quotes(
    tmp_path: Path,
) -> None:
    _, deps, state = await concluded(tmp_path)
    (item, *_) = [one for one in state["correlations"] if one["correlation_type"] == "temporal"]
    state["correlations"] = [{**item, "description": "The voltage dipped, then smoke was seen."}]
    close = next(
        section for section in make_sections(deps, state) if section.heading == "Close in time"
    )
    assert [line.text for line in close.sentences[1:]] == [
        "The voltage dipped, then smoke was seen."
    ]
    assert close.sentences[1].findings == tuple(item["finding_ids"])


# -- what code says about the research


def test_limits_tell_what_ended_it_what_had_no_data_and_name_what_was_rejected() -> None:
    calls = [
        {"status": "empty", "told": f"search(query=q{n}): No data available", "tool": "search"}
        for n in range(8)
    ]
    results = [
        result("h_1", FLAG, kind="hypothesis"),
        result("h_2", ADJUST, 0.5, kind="hypothesis"),
        result("i_1", FLAG),
        result("i_2", REJECT),
        result("c_1", REJECT, kind="causal"),
    ]
    lines = list_limits(
        {
            **STATE,
            "error": "all is down",
            "executed_queries": calls,
            "verification_results": results,
        }
    )
    assert lines[0] == "It ended early: all is down"
    assert "Verification flagged “Text of h_1.”: why" in lines
    assert "Verification lowered “Text of h_2.”: why" in lines
    for key in ("i_2", "c_1"):
        assert f"Verification rejected “Text of {key}.”, which is not reported: why" in lines
    assert not [line for line in lines if "i_1" in line], "it is marked where it stands"
    assert lines[-1] == "No data available for 3 more calls."
    assert list_limits(STATE) == []


def test_limits_count_the_insights_that_were_not_taken_and_those_without_room() -> None:
    state = {**STATE, "untaken_insights": ["a"], "crowded_out": ["b", "c"]}
    assert list_limits(state) == [
        "1 insight of the analysis was not taken, because no finding carries what was said.",
        "2 insights were left out, for want of room; the record has all of them.",
    ]


# -- what was rejected


async def test_findings_that_carry_nothing_but_what_was_rejected_are_withheld(
    tmp_path: Path,
) -> None:
    _, _, state = await concluded(tmp_path)
    state["correlations"] = []
    first, second, third = lines_of(state["insights"])
    results = [result(insight_id_of(first), REJECT), result(insight_id_of(second), REJECT)]
    state |= {"verification_results": results}
    assert withheld_findings(state) == {*first.findings, *second.findings}
    shared = second.model_copy(update={"findings": (*second.findings, *third.findings)})
    mixed = {**state, "insights": [line.model_dump(mode="json") for line in (first, shared, third)]}
    mixed["verification_results"] = [result(insight_id_of(shared), REJECT)]
    assert withheld_findings(mixed) == set(second.findings), "what also carries another stays"
    standing = assessed(HypothesisStatus.UNDECIDED, 0.5).model_copy(
        update={"refuting": first.findings}
    )
    state["hypotheses"] = [standing.model_dump(mode="json")]
    assert withheld_findings(state) == set(second.findings), (
        "what a reported hypothesis stands on is never withheld"
    )
    state["verification_results"] = [*results, result("h_1", REJECT, kind="hypothesis")]
    assert withheld_findings(state) == {*first.findings, *second.findings}


async def test_a_rejected_conclusion_stands_nowhere_but_where_the_report_names_it(
    tmp_path: Path,
) -> None:
    def tell_all(task: tasks.ReportBrief) -> Draft:
        said = say_all(task).answer
        return Draft(said[:1], (DraftSection("All of it", said),))

    rig, deps, state = await concluded(tmp_path, write_report=tell_all)
    lines = lines_of(state["insights"])
    assert len(lines) == 3
    state["verification_results"] = [
        {**result(insight_id_of(line), REJECT), "text": line.text} for line in lines[:2]
    ] + [result(item["id"], REJECT, kind="temporal") for item in state["correlations"]]
    made, _ = await synthesise.synthesise(state, deps)
    (task,) = rig.reasoner.of(tasks.WriteReport)
    assert [item.quote for item in task.findings] == [lines[2].text]
    assert [item.text for item in task.verified_conclusions] == [lines[2].text]
    body = made.model_copy(update={"limits": ()}).model_dump_json()
    for line in lines[:2]:
        assert line.text not in body
        assert f"Verification rejected “{line.text}”, which is not reported: why" in made.limits
    assert lines[2].text in body


async def test_a_sentence_that_says_what_was_rejected_is_cut_whoever_writes_it(
    tmp_path: Path,
) -> None:
    rig, deps, state = await concluded(tmp_path)
    first, second, _ = lines_of(state["insights"])
    rejected = {**result("i_9", REJECT), "text": first.text}

    def repeat(task: tasks.ReportBrief) -> Draft:
        by_quote = {item.quote: item.id for item in task.findings}
        texts = (f"Indeed, {first.text[0].lower()}{first.text[1:]}", second.text)
        return Draft(tuple(told(text, *by_quote.values()) for text in texts))

    rig.reasoner.rules["write_report"] = repeat
    state |= {"insights": [], "correlations": [], "verification_results": [rejected]}
    made, _ = await synthesise.synthesise(state, deps)
    assert [sentence.text for sentence in made.answer] == [second.text]
    (cut,) = made.cut
    assert cut.reason == "verification rejected it: why"
    assert not [line for line in made.limits if "no quote carried" in line]


# -- what the writer is shown


async def test_the_writer_sees_the_plan_the_verified_and_the_uncertain(tmp_path: Path) -> None:
    rig, deps, state = await concluded(tmp_path)
    first, second, third = lines_of(state["insights"])
    state["verification_results"] = [
        result(insight_id_of(first), PASS),
        result(insight_id_of(second), ADJUST, 0.4),
        result(insight_id_of(third), REJECT),
    ]
    state |= {
        "research_plan": {
            "objectives": ["What burned?"],
            "regions_of_interest": ["Ejdervik"],
            "time_range": "2026-02-08",
        },
        "uncertainties": ["Nobody says who saw the smoke."],
        "correlations": state["correlations"][:1],
    }
    made, _ = await synthesise.synthesise(state, deps)
    (task,) = rig.reasoner.of(tasks.WriteReport)
    assert task.research_plan == tasks.ResearchFrame(
        objectives=("What burned?",), regions=("Ejdervik",), period="2026-02-08"
    )
    told = {item.text: item for item in task.verified_conclusions}
    assert set(told) == {first.text, second.text, state["correlations"][0]["measured"]}
    assert (told[second.text].confidence, told[second.text].caution) == (
        0.4,
        "confidence 0.40 after verification: why",
    )
    labels = {item.id for item in task.findings}
    assert all(item.findings and set(item.findings) <= labels for item in told.values())
    assert "Nobody says who saw the smoke." in task.uncertainties
    assert synthesise.INSTRUCTION in task.guidance
    prompt = task.prompt().user
    for name in ("research_plan", "verified_conclusions", "uncertainties"):
        assert f"<<<{name}>>>" in prompt
    uncertain = next(part for part in made.sections if part.heading == "What is uncertain")
    assert "Nobody says who saw the smoke." in [line.text for line in uncertain.sentences]


async def test_an_uncertainty_is_told_only_if_its_values_are_known(tmp_path: Path) -> None:
    _, deps, state = await concluded(tmp_path)
    bad = [
        "Eva Flod may have lit it.",
        "It may have been 1931.",
        "See https://example.org/proof for more.",
        "See www.example.org.",
        "  ",
    ]
    good = ["It is open who owns Holm Works.", "Whether 04:47 UTC is right is open."]
    state["uncertainties"] = [*bad, *good, good[0]]
    listed = list_uncertainties(deps, state)
    assert listed == ("Each of the 3 insights rests on one source.", *good)
    first, *rest = lines_of(state["insights"])
    both = first.model_copy(update={"findings": (*first.findings, *rest[0].findings)})
    for lines, said in (
        ([both, *rest], "Of 3 insights, 2 rest on one source each."),
        ([both, rest[0]], "Of 2 insights, 1 rests on one source."),
    ):
        held = {**state, "insights": [line.model_dump(mode="json") for line in lines]}
        assert list_uncertainties(deps, held)[0] == said
    alone = {**state, "uncertainties": [], "insights": state["insights"][:1]}
    assert list_uncertainties(deps, alone) == (), "one insight is not counted"


async def test_no_insight_is_dropped_from_the_report(tmp_path: Path) -> None:
    _, deps, state = await concluded(tmp_path)
    (line, *_) = lines_of(state["insights"])
    many = [line.model_copy(update={"text": f"The voltage dipped, part {n}."}) for n in range(20)]
    state |= {"insights": [item.model_dump(mode="json") for item in many], "correlations": []}
    (insights,) = make_sections(deps, state)
    assert len(insights.sentences) == 20
    assert len(list_verified(state)) == 20


# -- what to do next


def deps_with(*tools: str) -> Any:
    made = [SimpleNamespace(shown=SimpleNamespace(name=name)) for name in tools]
    return SimpleNamespace(tools=made, as_of="2026-11-16")


def test_where_nothing_can_be_done_nothing_is_recommended() -> None:
    state = {**STATE, "missing": ["Who founded it?"]}
    assert recommend(deps_with(), state) == [], "to look further is no advice"
    made = add_notes(
        report(),
        {"recommendations": [], "confidence_assessment": "c", "methodology_note": "d"},
    )
    assert [section.heading for section in made.sections] == ["Confidence and method"]


def test_recommendations_name_what_to_do() -> None:
    calls = [{"status": "failed", "tool": "search_corpus", "args": {"query": "x"}}] * 2
    state = {
        **STATE,
        "executed_queries": calls,
        "pending_queries": make_searches(["a b"], "x", "y"),
        "unmade_queries": make_searches(["c", "d", "e", "f"], "x", "y"),
    }
    assert recommend(deps_with(), state) == [
        "Ask search_corpus again: it gave no answer.",
        *(
            f"Ask search(query={text}): that was still to be asked when the last turn ended."
            for text in ("a b", "c", "d")
        ),
        "Allow more turns: 2 more calls were still waiting when the last one ended.",
    ]


def test_a_feed_is_to_be_asked_again_while_the_time_is_not_over() -> None:
    name = "detect_thermal_anomalies"
    call = {"tool": name, "status": "answered", "args": {"latitude": "49.99", "days": "7"}}
    search = {"tool": "search", "status": "answered", "args": {"query": "x"}}
    state = {**STATE, "executed_queries": [call, search, call, {**call, "status": "empty"}]}
    watched = {**state, "research_plan": {"time_range": "7d"}}
    assert recommend(deps_with(name), watched) == [
        "Repeat detect_thermal_anomalies(latitude=49.99, days=7) to see how it goes on: the time "
        "that was asked about is not over."
    ]
    over = {**state, "research_plan": {"time_range": "2019-08-01/2019-08-31"}}
    for other in (over, state):
        assert recommend(deps_with(name), other) == []


@pytest.mark.parametrize(
    ("confidence", "word"), [(0.9, "High"), (0.8, "High"), (0.6, "Medium"), (0.2, "Low")]
)
def test_confidence_is_told_in_a_word_and_a_number(confidence: float, word: str) -> None:
    held_ = (
        assessed(HypothesisStatus.SUPPORTED, 0.8),
        assessed(HypothesisStatus.REFUTED, 0.1, "h_2"),
    )
    text = assess_confidence(STATE, report(*held_, confidence=confidence))
    assert text == f"{word} confidence ({confidence:.2f}). Of 2 hypotheses: 1 supported, 1 refuted."


def test_what_limits_confidence_is_told() -> None:
    calls = [{"status": "failed"}, {"status": "answered"}, {"status": "answered"}]
    ended = {**STATE, "executed_queries": calls, "iteration": 10}
    assert assess_confidence(ended, report()) == (
        "High confidence (0.80). No hypothesis was put forward. Limited by 1 call of 3 that "
        "failed. "
        "It ended at the last turn allowed (10)."
    )
    assert "It ended early: all is down." in assess_confidence(
        {**ended, "error": "all is down"}, report()
    )


def test_the_method_is_counted_from_the_record() -> None:
    state = {
        **STATE,
        "reflection_iterations": 2,
        "iteration": 3,
        "executed_queries": [{"status": "answered"}, {"status": "empty"}, {"status": "refused"}],
        "verification_results": [result("a", PASS), result("b", PASS), result("c", REJECT)],
    }
    assert describe_method(state) == (
        "The analysis took 8 steps, 2 reflections and 3 verification checks (2 PASS, 1 REJECT), "
        "over 3 calls of tools (1 answered, 1 empty, 1 refused) in 3 turns."
    )
    assert "0 verification checks, over 0 calls of tools in 0 turns" in describe_method(STATE)


def test_notes_stand_at_the_end_as_frames() -> None:
    said = {"recommendations": ["a", "b"], "confidence_assessment": "c", "methodology_note": "d"}
    made = add_notes(report(), said)
    assert [section.heading for section in made.sections] == [
        "Recommendations",
        "Confidence and method",
    ]
    assert [line.text for section in made.sections for line in section.sentences] == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert {line.kind for section in made.sections for line in section.sentences} == {
        SentenceKind.FRAME
    }


async def test_a_report_is_written_of_what_was_verified(tmp_path: Path) -> None:
    _, deps, state = await concluded(tmp_path)
    state |= (await verify(state, deps))[0]
    made, said = await synthesise.synthesise(state, deps)
    assert {"Close in time", "Confidence and method"} <= {s.heading for s in made.sections}
    assert said["confidence_assessment"] == made.sections[-1].sentences[0].text
    assert made.citations
