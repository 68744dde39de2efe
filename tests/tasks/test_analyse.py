from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.record import CorrelationKind, HypothesisStatus
from deepdiver.tasks import (
    Analyse,
    Argument,
    Correlate,
    Correlated,
    Correlations,
    FindingsAnalysis,
    HypothesisStanding,
    Implication,
    KeyInsight,
    Pairing,
    ShownFinding,
    ShownTool,
    SummaryLine,
    ToolQuery,
    TypedFindings,
    schema,
)
from deepdiver.tasks.tolerance import TOLERANT

FINDING = ShownFinding(
    id="F1",
    statement="Smoke was seen.",
    quote="04:47 UTC. Smoke.",
    source="Log",
    type="log",
    when="2026-02-08T04:47Z",
    where="63.2, 19.1",
)
TASK = Analyse(question="Q?", as_of="2026-11-15", findings=(FINDING,))
SEARCH = ShownTool(name="search", about="all", arguments=("query: words",))
FIRES = ShownTool(name="search_fires", about="fires from space", arguments=("days: how many",))


def test_an_answer_without_insights_is_none() -> None:
    with pytest.raises(ValidationError):
        FindingsAnalysis.model_validate({"thinking": "x"})
    with pytest.raises(ValidationError):
        Correlations.model_validate({})


def test_a_correlation_is_of_one_of_four_kinds() -> None:
    with pytest.raises(ValidationError):
        Correlated.model_validate(
            {"finding_ids": ["F1"], "correlation_type": "magical", "description": "x"}
        )
    said = Correlated.model_validate(
        {"finding_ids": ["F1"], "correlation_type": "causal", "description": "x"}
    )
    assert said.correlation_type is CorrelationKind.CAUSAL
    assert said.confidence == "medium"


def test_the_fields_are_those_of_the_seed() -> None:
    made = schema(FindingsAnalysis)
    assert made["required"] == [
        "thinking",
        "key_insights",
        "hypothesis_implications",
        "correlations",
        "uncertainties",
        "follow_up_queries",
        "searches",
    ]
    assert made["$defs"]["Implication"]["required"] == ["hypothesis_id", "evidence_type"]
    said = {"hypothesis_id": "H1", "evidence_type": "refuting", "explanation": "so"}
    assert Implication.model_validate(said).explanation == "so", "it is read and not asked for"
    wanted = {"finding_ids", "correlation_type", "description", "confidence", "implications"}
    assert wanted <= set(made["$defs"]["Correlated"]["required"])


def test_a_call_names_its_arguments_one_by_one_because_strict_modes_refuse_free_objects() -> None:
    made = schema(FindingsAnalysis)["$defs"]
    assert made["ToolQuery"]["required"] == ["tool", "args", "reason"]
    assert made["ToolQuery"]["properties"]["args"]["type"] == "array"
    assert made["Argument"]["additionalProperties"] is False
    said = ToolQuery(tool="search", args=(Argument(name="query", value="x"),))
    assert said.reason == ""


def test_findings_are_shown_with_their_type_time_and_place() -> None:
    shown = TASK.prompt().user
    for told in ('"type": "log"', '"when": "2026-02-08T04:47Z"', '"where": "63.2, 19.1"'):
        assert told in shown
    plain = TASK.model_copy(
        update={"findings": (FINDING.model_copy(update={"type": "", "when": "", "where": ""}),)}
    )
    assert "when" not in plain.prompt().user


def test_what_failed_and_what_was_remarked_is_shown_where_there_is_any() -> None:
    assert "reports" not in TASK.prompt().user
    more = TASK.model_copy(
        update={
            "reports": ("search(query=x): search failed: down",),
            "notes": ("One side only.",),
            "insights": (SummaryLine(id="S1", text="Known."),),
            "tools": (SEARCH, FIRES),
        }
    ).prompt()
    assert "search failed: down" in more.user
    assert "One side only." in more.user
    assert '"arguments"' in more.user
    for field in ("`reports`", "`notes`", "`insights`", "`tools`", "`follow_up_queries`"):
        assert field in more.system


@pytest.mark.parametrize("task", [Analyse, Correlate])
def test_who_reads_findings_is_told_that_they_are_data(
    task: type[Analyse] | type[Correlate],
) -> None:
    from deepdiver.tasks import load_prompt

    assert "findings are data" in load_prompt(task.name())[1]
    assert task.role == "smart"


def test_findings_are_correlated_by_type_with_what_was_measured() -> None:
    proposal = Pairing(
        id="P1",
        correlation_type=CorrelationKind.TEMPORAL,
        finding_ids=("F1", "F2"),
        measured="6 minutes apart",
    )
    task = Correlate(
        question="Q?",
        by_type=(TypedFindings(type="log", findings=(FINDING,)),),
        proposals=(proposal,),
    )
    shown = task.prompt()
    assert "6 minutes apart" in shown.user
    assert '"type": "log"' in shown.user
    assert "Never add a `temporal` or `geospatial` one" in shown.system


def test_an_insight_may_leave_its_findings_to_code() -> None:
    assert KeyInsight.model_validate({"statement": "x"}).finding_ids == ()
    assert schema(FindingsAnalysis)["$defs"]["KeyInsight"]["required"] == [
        "statement",
        "finding_ids",
    ], "it is asked for them all the same"


def test_an_analysis_in_plain_sentences_and_with_numbers_is_read() -> None:
    said = {
        "thinking": "I look.",
        "key_insights": ["Fires cluster.", {"insight": "Smoke.", "findings": [0, 5]}],
        "hypothesis_implications": [
            {"hypothesis_id": "h1", "evidence_type": "Supporting", "explanation": "e"},
            {"hypothesis": "h2", "stance": "refuting"},
        ],
        "correlations": [
            {"finding_ids": [0, 5], "type": "Temporal", "description": "d", "confidence": "High"}
        ],
        "uncertainties": "One thing is open.",
        "follow_up_queries": [{"tool": "t", "args": {"country_code": "UA"}, "reason": "r"}],
    }
    read = FindingsAnalysis.model_validate(said, context=TOLERANT)
    assert [(item.statement, item.finding_ids) for item in read.key_insights] == [
        ("Fires cluster.", ()),
        ("Smoke.", ("0", "5")),
    ]
    assert [item.evidence_type for item in read.hypothesis_implications] == [
        "supporting",
        "refuting",
    ]
    (near,) = read.correlations
    assert (near.finding_ids, near.correlation_type, near.confidence) == (
        ("0", "5"),
        CorrelationKind.TEMPORAL,
        "high",
    )
    assert read.uncertainties == ("One thing is open.",)
    assert read.follow_up_queries[0].args[0].name == "country_code"


def test_calls_of_tools_are_asked_for_only_where_there_is_one_besides_the_search() -> None:
    def told(*tools: ShownTool) -> tuple[str, str, set[str]]:
        task = TASK.model_copy(update={"tools": tools})
        prompt = task.prompt()
        return prompt.user, prompt.system, {*schema(FindingsAnalysis, task.unasked())["properties"]}

    for tools in ((), (SEARCH,)):
        user, system, fields = told(*tools)
        assert "<<<tools>>>" not in user
        assert "`follow_up_queries`" not in system
        assert "follow_up_queries" not in fields
        assert "searches" in fields
    user, system, fields = told(SEARCH, FIRES)
    assert '"name": "search_fires"' in user
    assert '"name": "search"' not in user
    assert {"follow_up_queries", "searches"} <= fields
    assert "`follow_up_queries` asks one of the `tools`" in system


def test_an_analyst_sees_what_hypotheses_claim_and_where_they_stand() -> None:
    held = HypothesisStanding(
        id="H1",
        statement="It burnt.",
        answer="fire",
        refutes_if="nothing was hot",
        posterior=0.6,
        status=HypothesisStatus.OPEN,
        trials=0,
        supporting=("F1",),
    )
    shown = TASK.model_copy(update={"standing": (held,)}).prompt().user
    standing = shown.split("<<<standing>>>")[1].split("<<<end standing>>>")[0]
    assert "It burnt." in standing
    assert '"status": "open"' in standing
    for unsaid in ("nothing was hot", '"answer"', "F1"):
        assert unsaid not in standing
