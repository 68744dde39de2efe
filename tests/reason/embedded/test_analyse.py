"""Agreements come first, what sources disagree in is uncertain, and open parts are asked next."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded import analyse
from deepdiver.reason.embedded.analyse import INSIGHTS, analyse_findings
from deepdiver.tasks import Analyse, FindingsAnalysis, ShownFinding, ShownTool, SummaryLine
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

QUESTION = "How many people were injured in the fire on the ferry Ejdervik?"
SIX = "Six people were injured in the fire on the ferry Ejdervik."
NINE = "Nine people were injured in the fire on the ferry Ejdervik."
OTHER = "The ferry Ejdervik was built in 1998."
SEARCH = ShownTool(name="search", about="everything", arguments=("query: words",))


def analysed(*shown: ShownFinding, question: str = QUESTION, **more: Any) -> FindingsAnalysis:
    return analyse_findings(Analyse(question=question, as_of=AS_OF, findings=shown, **more))


def test_of_nothing_comes_nothing() -> None:
    said = analysed()
    assert said.key_insights == ()
    assert said.uncertainties == ()
    assert said.follow_up_queries == (), "there is no tool to ask"


def test_a_tool_that_is_not_there_is_not_asked() -> None:
    said = analysed(tools=(ShownTool(name="detect_anomalies", about="heat", arguments=()),))
    assert said.follow_up_queries == ()


def test_what_two_origins_say_comes_first_and_with_both() -> None:
    said = analysed(
        finding(OTHER, "F1", credibility=0.9),
        finding(SIX, "F2"),
        finding(SIX, "F3", credibility=0.4),
    )
    assert said.key_insights[0].statement == SIX
    assert set(said.key_insights[0].finding_ids) == {"F2", "F3"}
    assert said.uncertainties == (), "code counts single sources, from all findings"
    assert "3 findings" in said.thinking
    assert "1 statements are carried by more than one origin" in said.thinking


def test_copies_of_one_story_agree_in_nothing() -> None:
    said = analysed(finding(SIX, "F1", origin="wire"), finding(SIX, "F2", origin="wire"))
    assert "0 statements are carried by more than one origin" in said.thinking


def test_what_does_not_go_together_is_uncertain() -> None:
    said = analysed(*findings(SIX, NINE))
    assert any(SIX in line and NINE in line for line in said.uncertainties)


def test_two_values_for_two_things_are_not_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "contrariety", lambda one, other: 0.3)
    assert analysed(*findings(SIX, NINE)).uncertainties == (), "the reader does not think so"


def test_every_insight_is_a_sentence_of_a_finding() -> None:
    said = analysed(*findings(SIX, NINE, OTHER))
    assert {item.statement for item in said.key_insights} <= {SIX, NINE, OTHER}


def test_what_is_known_is_confirmed_in_its_own_words() -> None:
    said = analysed(finding(SIX, "F1"), insights=(SummaryLine(id="S1", text=SIX),))
    assert [item.statement for item in said.key_insights] == [SIX]


def test_hypotheses_are_pointed_at_by_what_bears_on_them() -> None:
    held = (
        standing(SIX, HypothesisStatus.OPEN, answer="Six people"),
        standing(NINE, HypothesisStatus.OPEN, answer="Nine people", label="H2"),
    )
    said = analysed(*findings(SIX, OTHER), standing=held)
    ways = {item.hypothesis_id: item.evidence_type for item in said.hypothesis_implications}
    assert ways == {"H1": "supporting", "H2": "refuting"}


def test_an_open_part_is_asked_for_by_name_and_an_answered_one_is_not() -> None:
    question = "How old are the children of the parents who run Acme Ltd?"
    first = analysed(*findings("Ada and Bo Berg run Acme Ltd."), question=question, tools=(SEARCH,))
    asked = [query.args[0].value for query in first.follow_up_queries]
    assert asked
    assert all(
        query.tool == "search" and query.args[0].name == "query"
        for query in first.follow_up_queries
    )
    assert any("Berg" in text for text in asked), "the name that was found leads on"
    again = analysed(
        *findings("Ada and Bo Berg run Acme Ltd."),
        question=question,
        tools=(SEARCH,),
        tried=tuple(asked),
    )
    assert not {query.args[0].value for query in again.follow_up_queries} & set(asked)
    assert analysed(*findings(SIX), tools=(SEARCH,)).follow_up_queries == ()


@given(st.lists(st.sampled_from([SIX, NINE, OTHER, "No.", ""]), max_size=25))
def test_an_answer_stays_within_its_bounds_and_names_what_was_shown(texts: list[str]) -> None:
    said = analysed(*findings(*texts), tools=(SEARCH,), limit=3)
    assert len(said.key_insights) <= INSIGHTS
    assert len(said.follow_up_queries) <= 3
    labels = {f"F{number}" for number in range(1, len(texts) + 1)}
    assert all(set(item.finding_ids) <= labels for item in said.key_insights)
    assert said == analysed(*findings(*texts), tools=(SEARCH,), limit=3)


def test_rows_that_their_service_counts_are_one_insight() -> None:
    fires = (
        "FIRMS shows 14 fires, 2026-11-08 to 2026-11-14, against 4 in the 7 days before "
        "(2026-11-01 to 2026-11-07)."
    )
    row = "2026-11-11 14:05 UTC: VIIRS saw a fire at 49.817 N, 36.048 E."
    said = analysed(
        finding(fires, "F1", origin="firms"), finding(row, "F2", origin="firms"), finding(SIX, "F3")
    )
    told = [insight.statement for insight in said.key_insights]
    assert row not in told
    assert {fires, SIX} <= set(told)
    alone = analysed(finding(row, "F2", origin="firms"))
    assert [insight.statement for insight in alone.key_insights] == [row], (
        "without a count it stands for itself"
    )
