"""What reasonable models say, for every task: other names, other shapes, and one bad leaf.

Each task has one answer in the form that it asks for. Every way of saying the same is read as the
same answer; what has another shape altogether is in a table of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from deepdiver import tasks
from deepdiver.errors import UnreadableAnswerError
from deepdiver.reason.parse import read_answer, thinking_in
from deepdiver.tasks import TASKS

SEEDS = Path(__file__).resolve().parents[2].parent / "shared" / "seeds"

QUERY = {"tool": "search", "args": [{"name": "query", "value": "Holm Works"}], "reason": "to see"}
GOOD: Mapping[str, dict[str, Any]] = {
    "decompose": {
        "problems": [
            {"question": "Who owns Holm Works?", "needs": []},
            {"question": "Where does the owner live?", "needs": ["Who owns Holm Works?"]},
        ],
        "sought": "a place",
    },
    "write_queries": {"queries": ["Holm Works owner", "Holm Works register"]},
    "refute_queries": {"queries": ["Holm Works sold", "Holm Works bankrupt"]},
    "extract_findings": {
        "findings": [
            {"statement": "Anna owns it.", "source": "T1", "quote": "owned by Anna"},
            {"statement": "It is old.", "source": "T2", "quote": "founded in 1998"},
        ],
        "leads": ["Anna Holm"],
        "questions": ["Since when?"],
    },
    "hypothesise": {
        "hypotheses": [
            {
                "statement": "Anna owns it.",
                "answer": "Anna",
                "supports_if": "A register names her.",
                "refutes_if": "A register names another.",
                "prior": 0.5,
                "findings": ["F1", "F2"],
                "test_queries": [QUERY],
            }
        ],
        "reasoning_chain": ["It bears her name."],
    },
    "judge": {
        "judgements": [
            {
                "hypothesis": "H2",
                "finding": "F1",
                "stance": "supports",
                "strength": 0.9,
                "reason": "It says so.",
            },
            {
                "hypothesis": "H1",
                "finding": "F2",
                "stance": "neutral",
                "strength": 0.0,
                "reason": "Silent.",
            },
        ]
    },
    "decide": {"decision": "continue", "reason": "one part is open", "gaps": ["Since when?"]},
    "reflect": {
        "notes": [{"category": "gap", "text": "Nobody looked.", "critical": True}],
        "missing": ["Since when?"],
        "queries": ["Holm Works since"],
        "sufficient": False,
        "reason": "one part is open",
    },
    "plan_searches": {
        "plans": [{"intent": "deep_dive", "query": "Anna Holm", "reasoning": "to see"}],
        "reason": "",
    },
    "decide_action": {
        "next_action": "search_corpus",
        "query_or_url": "Holm Works owner",
        "reasoning": "to see",
    },
    "analyse_output": {
        "extracted_info": [
            {
                "statement": "Anna owns it.",
                "source": "T1",
                "quote": "owned by Anna",
                "answers": "P1",
                "confirms": ["F1"],
                "contradicts": [],
            }
        ],
        "assessment": "It is answered.",
        "confidence_score": 0.9,
        "suggestions_for_next_step": ["the register"],
        "new_potential_urls": ["U1"],
        "inconsistencies_found": None,
    },
    "plan_research": {
        "objectives": ["Who owns it?"],
        "regions_of_interest": ["Holm"],
        "keywords": ["owner"],
        "coordinates": [{"lat": 59.0, "lon": 18.0, "radius_km": 20.0}],
        "time_range": "7d",
        "priority_sources": ["search"],
        "initial_queries": [QUERY],
    },
    "decompose_task": {
        "task_complexity": "simple",
        "decomposition_reasoning": "It has one part.",
        "sub_tasks": [
            {
                "id": "subtask_1",
                "description": "Who owns it?",
                "focus_area": "actor",
                "dependencies": [],
                "complexity": "simple",
            }
        ],
    },
    "analyse": {
        "thinking": "step by step",
        "key_insights": [{"statement": "Anna owns it.", "finding_ids": ["F1"]}],
        "hypothesis_implications": [
            {"hypothesis_id": "H1", "evidence_type": "supporting", "explanation": "It says so."}
        ],
        "correlations": [],
        "uncertainties": ["one source"],
        "follow_up_queries": [QUERY],
    },
    "correlate": {
        "correlations": [
            {
                "finding_ids": ["F1", "F2"],
                "correlation_type": "temporal",
                "description": "On the same day.",
                "confidence": "high",
                "implications": ["one cause"],
                "proposal": "C1",
            }
        ]
    },
    "verify_conclusions": {
        "verifications": [
            {"id": "C1", "verdict": "PASS", "reason": "It holds.", "adjusted_confidence": 0.5}
        ],
        "ready_for_synthesis": True,
        "reason": "",
    },
    "outline_report": {
        "analysis": "step by step",
        "title": "Anna owns Holm Works",
        "verdict": "Anna owns it.",
        "sections": [
            {
                "heading": "Anna owns it",
                "shows": "who owns it",
                "shape": "table",
                "columns": ["Year", "Owner"],
                "cites": ["T1:3-4", "F2"],
                "words": 120.0,
            }
        ],
        "calculations": [
            {"name": "C1", "expression": "2026 - 1998", "result": "28", "cites": ["T2:1"]}
        ],
        "conflicts": ["T1:2 says Anna, T2:1 says Bo; T1 is later"],
        "unknown": ["Since when?"],
    },
    "write_report": {"markdown": "# Anna owns it\n\n## Bottom line\n\n- Anna owns it {T1:3}."},
    "cite_report": {"lines": "3: {T1:3}"},
    "write_sections": {"markdown": "## Anna owns it\n\nAnna owns it {T1:3}. {F2} agrees."},
    "write_bottom_line": {
        "title": "Anna owns Holm Works",
        "bottom_line": "- Anna owns it {T1:3}.",
        "missing": ["Since when?"],
    },
    "check_support": {"checks": [{"id": "C1", "support": "full", "reason": ""}]},
    "repair_sentences": {"repairs": [{"id": "C1", "text": "Anna owns it."}]},
}
"""An answer in the form that each task asks for, with every list that may hold something."""
BY_NAME = {task.name(): task for task in TASKS}


def answer_of(name: str) -> type[Any]:
    return BY_NAME[name].answer()


def exact(name: str) -> BaseModel:
    read: BaseModel = answer_of(name).model_validate(GOOD[name])
    return read


def test_every_task_has_an_answer_here() -> None:
    assert GOOD.keys() == BY_NAME.keys()


# The same in other words, for each task


def keys(value: Any, respell: Callable[[str], str]) -> Any:
    """Return JSON with its keys spelled otherwise."""
    if isinstance(value, list):
        return [keys(item, respell) for item in value]
    if isinstance(value, dict):
        return {respell(key): keys(item, respell) for key, item in value.items()}
    return value


def camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)


def strangers(value: Any) -> Any:
    """Return JSON with keys that nobody asked for in every object."""
    if isinstance(value, list):
        return [strangers(item) for item in value]
    if isinstance(value, dict):
        more = {"zz_note": {"deep": [1, None]}, "zz_sure": True}
        return {**{key: strangers(item) for key, item in value.items()}, **more}
    return value


def spoiled(value: Any) -> Any:
    """Return JSON with an item that cannot be read at the end of every list of objects."""
    if isinstance(value, list):
        bad = [{"zz": [None]}] if value and isinstance(value[0], dict) else [None]
        return [*(spoiled(item) for item in value), *bad]
    if isinstance(value, dict):
        return {key: spoiled(item) for key, item in value.items()}
    return value


WAYS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "as asked": json.dumps,
    "upper case": lambda good: json.dumps(keys(good, str.upper)),
    "camel case": lambda good: json.dumps(keys(good, camel)),
    "in words": lambda good: json.dumps(keys(good, lambda key: key.replace("_", " ").title())),
    "with hyphens": lambda good: json.dumps(keys(good, lambda key: key.replace("_", "-"))),
    "more than was asked": lambda good: json.dumps(strangers(good)),
    "one bad leaf": lambda good: json.dumps(spoiled(good)),
    "in a fence": lambda good: f"Here it is:\n```json\n{json.dumps(good, indent=2)}\n```\nDone.",
    "after a fenced thought": lambda good: (
        f"```thinking\nShall I say {{}}?\n```\n```json\n{json.dumps(good)}\n```"
    ),
    "after a thought": lambda good: f"<think>{{}} perhaps [1]</think>{json.dumps(good)}",
    "wrapped": lambda good: json.dumps({"answer_object": good}),
    "a list of one": lambda good: json.dumps([good]),
    "in Python's spelling": repr,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BY_NAME)
def test_the_same_in_another_form_is_the_same_answer(name: str, way: str) -> None:
    assert read_answer(WAYS[way](GOOD[name]), answer_of(name)) == exact(name)


def test_a_thought_in_a_fence_is_kept() -> None:
    said = WAYS["after a fenced thought"](GOOD["analyse"])
    assert thinking_in(said) == "Shall I say {}?"


def lengthened(value: Any, times: int = 70) -> Any:
    """Return JSON whose lists are longer than any may be: 60 at the top, 12 below."""
    if isinstance(value, list):
        return [lengthened(item, 13) for item in value] * times
    if isinstance(value, dict):
        return {key: lengthened(item, times) for key, item in value.items()}
    return value


@pytest.mark.parametrize("name", BY_NAME)
def test_lists_that_are_too_long_are_cut(name: str) -> None:
    read = read_answer(json.dumps(lengthened(GOOD[name])), answer_of(name))
    assert answer_of(name).model_validate(read.model_dump()) == read, "it is within every limit"


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return JSON with its leaves changed."""
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    if isinstance(value, dict):
        return {key: changed(item, change) for key, item in value.items()}
    return change(value)


def beyond(leaf: Any) -> Any:
    return leaf * 1e-9 + 1.2 if isinstance(leaf, float) else leaf


@pytest.mark.parametrize("name", BY_NAME)
def test_numbers_that_overshoot_are_clamped(name: str) -> None:
    read = read_answer(json.dumps(changed(GOOD[name], beyond)), answer_of(name))
    assert answer_of(name).model_validate(read.model_dump()) == read


@pytest.mark.parametrize("name", ["hypothesise", "judge", "analyse"])
def test_labels_may_be_numbers(name: str) -> None:
    def bare(leaf: Any) -> Any:
        label = re.fullmatch(r"[FS](\d)", leaf) if isinstance(leaf, str) else None
        return int(label[1]) if label else leaf

    read = read_answer(json.dumps(changed(GOOD[name], bare)), answer_of(name))
    assert re.sub(r"\b[FS](?=\d)", "", exact(name).model_dump_json()) == read.model_dump_json()


CHOICES = {
    "judge": ("supports", "neutral"),
    "decide": ("continue",),
    "reflect": ("gap",),
    "plan_searches": ("deep_dive",),
    "decompose_task": ("simple", "actor"),
    "analyse": ("supporting",),
    "correlate": ("temporal", "high"),
    "verify_conclusions": ("PASS",),
    "outline_report": ("table",),
    "check_support": ("full",),
}


@pytest.mark.parametrize("respell", [str.upper, str.title, str.lower, "**{}**".format])
@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_read_in_any_case(name: str, respell: Callable[[str], str]) -> None:
    options = CHOICES[name]
    said = changed(GOOD[name], lambda leaf: respell(leaf) if leaf in options else leaf)
    assert read_answer(json.dumps(said), answer_of(name)) == exact(name)


# Other names and other shapes

SAID: list[tuple[str, Any, dict[str, Any]]] = [
    ("decompose", ["Who owns it?", "Since when?"], {"problems.1.question": "Since when?"}),
    ("decompose", {"sub_problems": ["Who owns it?"]}, {"problems.0.question": "Who owns it?"}),
    ("decompose", {"decomposed_problems": "1. Who?\n2. When?"}, {"problems.1.question": "When?"}),
    (
        "decompose",
        {"questions": [{"sub_question": "Where?", "depends_on": [1, {"id": 2}]}]},
        {"problems.0.question": "Where?", "problems.0.needs": ("1", "2")},
    ),
    (
        "decompose",
        {"problems": {"1": "Who?", "2": {"problem": "When?", "requires": "Who?"}}},
        {"problems.0.question": "Who?", "problems.1.needs": ("Who?",)},
    ),
    ("write_queries", ["a", "b"], {"queries": ("a", "b")}),
    ("write_queries", {"search_queries": ["a"]}, {"queries": ("a",)}),
    ("write_queries", {"query": "a b"}, {"queries": ("a b",)}),
    (
        "write_queries",
        {"queries": [{"query": "a", "rationale": "r"}, {"search_query": "b"}]},
        {"queries": ("a", "b")},
    ),
    ("refute_queries", {"queries": {"query_1": "a", "query_2": "b"}}, {"queries": ("a", "b")}),
    (
        "extract_findings",
        {"facts": [{"claim": "s", "source_id": 1, "exact_quote": "q"}], "leads": None},
        {"findings.0.statement": "s", "findings.0.source": "1", "leads": ()},
    ),
    (
        "extract_findings",
        {"findings": [{"finding": "s", "source": {"id": "T2", "title": "t"}, "passage": "q"}]},
        {"findings.0.source": "T2", "findings.0.quote": "q"},
    ),
    (
        "hypothesise",
        {
            "hypotheses": [
                {
                    "hypothesis": "Anna owns it.",
                    "supporting_evidence_criteria": ["a register", "a deed"],
                    "falsification_criteria": "another name",
                    "initial_confidence": 1.0,
                    "based_on": "F1, F2",
                }
            ]
        },
        {
            "hypotheses.0.statement": "Anna owns it.",
            "hypotheses.0.supports_if": "a register; a deed",
            "hypotheses.0.refutes_if": "another name",
            "hypotheses.0.prior": 0.95,
            "hypotheses.0.findings": ("F1", "F2"),
        },
    ),
    (
        "hypothesise",
        {
            "hypotheses": {
                "H1": {"claim": "c", "supported_if": "s", "refuted_if": "r", "prior": "60%"}
            }
        },
        {"hypotheses.0.statement": "c", "hypotheses.0.prior": 0.6},
    ),
    (
        "judge",
        {"evaluations": [{"finding_id": 2, "evidence_type": "REFUTING", "confidence": 85}]},
        {
            "judgements.0.finding": "2",
            "judgements.0.stance": "refutes",
            "judgements.0.strength": 0.85,
        },
    ),
    (
        "judge",
        {"judgements": {"F1": {"stance": "contradicts it", "strength": 2}, "F2": "neutral"}},
        {
            "judgements.0.finding": "F1",
            "judgements.0.stance": "refutes",
            "judgements.0.strength": 1.0,
        },
    ),
    ("decide", "CONTINUE (iterate again)", {"decision": "continue"}),
    ("decide", "FINISH\nThe evidence is enough.", {"decision": "finish"}),
    ("decide", {"decision": "CONTINUE", "reasoning": "r"}, {"reason": "r"}),
    ("decide", {"should_continue": True, "knowledge_gaps": "g"}, {"gaps": ("g",)}),
    ("decide", {"should_continue": "no", "rationale": "r"}, {"decision": "finish", "reason": "r"}),
    ("decide", {"action": "Iterate again", "gaps": [{"gap": "g", "p": 1}]}, {"gaps": ("g",)}),
    ("decide", {"next_step": "stop"}, {"decision": "finish"}),
    (
        "reflect",
        {"is_sufficient": False, "knowledge_gap": "g", "follow_up_query": "q"},
        {"sufficient": False, "missing": ("g",), "queries": ("q",)},
    ),
    (
        "reflect",
        {"sufficient": "no", "gaps": ["g"], "queries": [{"query": "q", "why": "w"}]},
        {"missing": ("g",), "queries": ("q",)},
    ),
    (
        "outline_report",
        {"title": "t", "answer": "a", "sections": ["One", {"title": "Two", "use": ["T1:1"]}]},
        {"verdict": "a", "sections.0.heading": "One", "sections.1.cites": ("T1:1",)},
    ),
    (
        "outline_report",
        {"title": "t", "sections": {"1": {"heading": "One", "shape": "TABLE"}}, "gaps": "g"},
        {"sections.0.shape": "table", "unknown": ("g",)},
    ),
    ("write_report", {"report": "# One\n\nx {T1:1}."}, {"markdown": "# One\n\nx {T1:1}."}),
    ("write_sections", {"sections": "## One\n\nx {T1:1}."}, {"markdown": "## One\n\nx {T1:1}."}),
    ("write_bottom_line", {"title": "t", "answer": "- x {F1}."}, {"bottom_line": "- x {F1}."}),
    (
        "plan_research",
        {"objectives": "a\nb", "initial_queries": [{"tool": "t", "args": {"days": 7}}]},
        {"objectives": ("a", "b"), "initial_queries.0.args.0.value": "7"},
    ),
    (
        "plan_research",
        {"objectives": ["a"], "initial_queries": [{"tool_name": "t", "parameters": {"q": "x"}}]},
        {"initial_queries.0.tool": "t", "initial_queries.0.args.0.name": "q"},
    ),
]


@pytest.mark.parametrize(("name", "said", "expected"), SAID, ids=lambda value: str(value)[:60])
def test_other_names_and_shapes_are_read(name: str, said: Any, expected: dict[str, Any]) -> None:
    text = said if isinstance(said, str) else json.dumps(said)
    read = read_answer(text, answer_of(name))
    for path, value in expected.items():
        found: Any = read
        for step in path.split("."):
            found = found[int(step)] if step.isdigit() else getattr(found, step)
        assert found == value, path


def test_a_judgement_without_a_strength_is_left_out_and_not_made_up() -> None:
    said = '{"judgements": [{"finding": "F1", "stance": "supports"}, {"finding": "F2", '
    read = read_answer(said + '"stance": "refutes", "strength": 0.4}]}', tasks.Judgements)
    assert [item.finding for item in read.judgements] == ["F2"]


@pytest.mark.parametrize(
    "said",
    [
        "I would continue, had I anything to go on, but I do not",
        '{"verdict": "unclear"}',
        '{"decision": "continue or finish"}',
        "{}",
    ],
)
def test_what_is_no_decision_is_refused(said: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_answer(said, tasks.Decision)


# The seeds' own words


def seed(number: str) -> str:
    """Return a design document; tests that need one are skipped where it is not at hand."""
    found = sorted(SEEDS.glob(f"{number}_*.txt"))
    if not found:
        pytest.skip(f"the design document {number} is not at hand: {SEEDS} has no {number}_*.txt")
    return found[0].read_text(encoding="utf-8")


def test_the_words_of_the_decision_point_are_a_decision() -> None:
    (line,) = [line for line in seed("000").splitlines() if "CONTINUE" in line]
    go_on, finish = re.split(r"\s{3,}", line.strip())
    assert read_answer(go_on, tasks.Decision).decision == "continue"
    assert read_answer(finish, tasks.Decision).decision == "finish"
