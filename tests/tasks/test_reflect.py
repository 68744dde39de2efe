"""What a reasoner is shown when it looks back, and what it may answer."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.record import RunStatus
from deepdiver.tasks import (
    Note,
    RecalledRun,
    Reflect,
    Reflection,
    ShownTool,
    load_prompt,
    schema,
)
from deepdiver.tasks.tolerance import TOLERANT

TASK = Reflect(
    question="Who owns it?",
    as_of="2026-11-15",
    known=("Anna owns it.",),
    iteration=1,
    max_iterations=5,
)


def test_a_reflection_says_whether_it_is_enough_and_is_asked_why() -> None:
    with pytest.raises(ValidationError):
        Reflection.model_validate({"reason": "enough"})
    assert "reason" in schema(Reflection)["required"]
    assert Reflection.model_validate({"sufficient": True}).reason == ""


def test_a_remark_is_of_a_known_category() -> None:
    with pytest.raises(ValidationError):
        Note.model_validate({"category": "style", "text": "dull"})
    assert Note(category="bias", text="The first source weighs most.").critical is False


@pytest.mark.parametrize(("field", "most"), [("notes", 10), ("missing", 6), ("queries", 6)])
def test_what_it_names_is_bounded(field: str, most: int) -> None:
    one = {"category": "gap", "text": "x"} if field == "notes" else "x"
    base = {"sufficient": False, "reason": "more"}
    assert len(getattr(Reflection.model_validate({**base, field: [one] * most}), field)) == most
    with pytest.raises(ValidationError):
        Reflection.model_validate({**base, field: [one] * (most + 1)})


def test_the_rounds_are_needed() -> None:
    with pytest.raises(ValidationError):
        Reflect.model_validate({"question": "q", "as_of": "2026-11-15"})


def test_what_is_not_there_is_not_shown() -> None:
    text = TASK.prompt().user
    assert "<<<known>>>" in text
    for name in ("problems", "standing", "uncertainties", "tried", "limits", "guidance", "past"):
        assert f"<<<{name}>>>" not in text


def test_past_runs_are_shown_as_hints() -> None:
    past = RecalledRun(
        id="P1", question="Who owned it?", date="2025-01-01", days=700, status=RunStatus.ANSWERED
    )
    assert "<<<past>>>" in TASK.model_copy(update={"past": (past,)}).prompt().user
    version, text = load_prompt("reflect")
    assert version == "reflect@7"
    assert "hint and no evidence" in text


def test_the_prompt_is_critical_and_knows_a_search_in_vain() -> None:
    _, text = load_prompt("reflect")
    assert "sharpest critic" in text
    assert "one weak source only" in text
    assert "searched for in vain" in text


def test_the_schema_is_closed() -> None:
    made = schema(Reflection)
    assert made["required"] == [
        "notes",
        "missing",
        "queries",
        "investigation_queries",
        "sufficient",
        "reason",
    ]
    assert made["additionalProperties"] is False


def test_a_reflection_in_the_words_of_the_seed_is_read() -> None:
    said = {
        "reflection_notes": [
            {"category": "Bias Check", "note": "One side.", "critical_action_required": True},
            {"category": "Gap Analysis", "observation": "No dates.", "severity": "critical"},
            {"category": "Consistency Check", "issue": "Odd.", "action_required": "Look again."},
        ],
        "needs_investigation": True,
        "investigation_queries": [
            {"tool": "search_news", "args": {"keywords": "x"}, "reason": "r"},
            "Holm Works founder",
        ],
    }
    read = Reflection.model_validate(said, context=TOLERANT)
    assert [(note.category, note.text, note.critical) for note in read.notes] == [
        ("bias", "One side.", True),
        ("gap", "No dates.", True),
        ("consistency", "Odd.", False),
    ]
    assert not read.sufficient
    assert [query.tool for query in read.investigation_queries] == [
        "search_news",
        "Holm Works founder",
    ]
    calm = Reflection.model_validate({"needs_investigation": False}, context=TOLERANT)
    assert calm.sufficient


def test_tools_are_shown_only_where_there_are_any() -> None:
    assert "tools" not in TASK.prompt().user
    tool = ShownTool(name="search_news", about="news", arguments=("keywords: words",))
    shown = TASK.model_copy(update={"tools": (tool,)}).prompt()
    assert '"name": "search_news"' in shown.user
    assert "`investigation_queries`" in shown.system


def test_what_is_uncertain_is_said_once() -> None:
    weak = "Bertil owns it."
    task = TASK.model_copy(update={"known": (*TASK.known, weak), "uncertainties": (weak,)})
    shown = task.prompt().user
    assert shown.count(weak) == 1
    known, _, rest = shown.partition("<<<end known>>>")
    assert "Anna owns it." in known
    assert weak in rest.partition("<<<uncertainties>>>")[2]


@pytest.mark.parametrize(
    ("minimum", "iteration", "asked"), [(1, 1, True), (2, 1, True), (2, 2, False), (2, 4, False)]
)
def test_remarks_are_asked_for_where_somebody_acts_on_them(
    minimum: int, iteration: int, asked: bool
) -> None:
    task = TASK.model_copy(update={"minimum": minimum, "iteration": iteration})
    assert ("notes" in schema(Reflection, task.unasked())["properties"]) is asked
