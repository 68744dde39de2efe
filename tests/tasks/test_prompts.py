"""Tasks and prompt files, one to one.

Versioned, speaking of fields that exist, and of no format at all.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import StrEnum
from importlib import resources
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from deepdiver import tasks
from deepdiver.report.markup import read_mark
from deepdiver.tasks import TASKS, Answer, Task, load_prompt
from deepdiver.tasks.task import LEAD, View

PROMPTS = resources.files("deepdiver.tasks") / "prompts"
FILES = sorted(path.name for path in PROMPTS.iterdir())
FORMAT = re.compile(r"json|schema|\"\w+\"\s*:|\{|\}|```|required field|valid object", re.IGNORECASE)
"""The marks of a prompt that tells the model how to write its answer; that is rendered from the
answer type."""
SPOKEN = re.compile(r"`([^`]+)`")
MARKED = re.compile(r"`[^`]*\{[^`]*`")
"""The marks of a draft, as prompts show them: `{T3:12}`, `## What to do {judgement}`."""
MARKDOWN = {"# ", "## ", "### ", "- ", "1. ", "> ", "| ", " | ", "---", "## Bottom line"}
MARKDOWN |= {"= ", "+ "}
MARKDOWN |= {
    "## What is not known",
    "<thinking>",
    "</thinking>",
    "conflict: ",
    "missing: ",
    "partly: ",
}
"""What a prompt on Markdown may show besides."""
ADDRESS = re.compile(r"https?://|www\.", re.IGNORECASE)


def defined(base: type[BaseModel]) -> set[type[BaseModel]]:
    """Return every class of the package's task modules that is made of a base."""
    modules = [module for _, module in inspect.getmembers(tasks, inspect.ismodule)]
    return {
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, base)
        and kind.__module__ == module.__name__
        and kind not in (Answer, View, Task)
        if "[" not in kind.__name__
    }


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Walk the models that an annotation speaks of, and theirs."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models_in(field.annotation)
    for part in get_args(annotation):
        yield from models_in(part)


def choices_in(annotation: Any) -> Iterator[str]:
    """Walk the fixed values that an annotation allows."""
    if inspect.isclass(annotation) and issubclass(annotation, StrEnum):
        yield from (member.value for member in annotation)
    for part in get_args(annotation):
        if isinstance(part, str):
            yield part
        else:
            yield from choices_in(part)


def vocabulary(cls: type[Task[Any]]) -> set[str]:
    """Return every field name and fixed value of a task and its answer, however deep."""
    models = set(models_in(cls.answer())) | {
        found for f in cls.model_fields.values() for found in models_in(f.annotation)
    }
    fields = [
        *cls.model_fields.items(),
        *(item for model in models for item in model.model_fields.items()),
    ]
    return {name for name, _ in fields} | {
        value for _, field in fields for value in choices_in(field.annotation)
    }


def test_every_task_has_its_file_and_every_file_its_task() -> None:
    assert sorted(f"{cls.name()}.md" for cls in TASKS) == FILES


def test_every_task_is_listed_once() -> None:
    assert len(set(TASKS)) == len(TASKS)
    assert defined(Task) == set(TASKS)


def test_every_public_name_is_there() -> None:
    assert all(hasattr(tasks, name) for name in tasks.__all__)
    assert {cls.__name__ for cls in (*TASKS, *(cls.answer() for cls in TASKS))} <= set(
        tasks.__all__
    )


@pytest.mark.parametrize("cls", TASKS, ids=lambda cls: cls.__name__)
class TestEveryTask:
    def test_answers_in_a_type_of_its_own(self, cls: type[Task[Any]]) -> None:
        assert issubclass(cls.answer(), Answer)
        assert cls.answer() is not Answer

    def test_has_a_role(self, cls: type[Task[Any]]) -> None:
        assert cls.role in {"fast", "smart"}
        assert "role" in vars(cls), "each task says which model performs it"

    def test_has_a_version(self, cls: type[Task[Any]]) -> None:
        version, text = load_prompt(cls.name())
        assert re.fullmatch(rf"{cls.name()}@[1-9]\d*", version)
        assert len(text) > 100
        assert text == text.strip()
        assert "version:" not in text

    def test_file_spells_out_no_format(self, cls: type[Task[Any]]) -> None:
        _, text = load_prompt(cls.name())
        rest = MARKED.sub("", text)
        assert FORMAT.findall(rest) == [], "the schema is rendered from the type"
        assert not ADDRESS.search(text)

    def test_file_speaks_only_of_what_exists(self, cls: type[Task[Any]]) -> None:
        _, text = load_prompt(cls.name())
        known = vocabulary(cls) | (MARKDOWN if MARKED.search(text) else set())
        spoken = set(SPOKEN.findall(MARKED.sub("", text)))
        assert spoken <= known, spoken - known

    def test_file_shows_marks_that_can_be_read(self, cls: type[Task[Any]]) -> None:
        _, text = load_prompt(cls.name())
        shown = [mark for span in MARKED.findall(text) for mark in re.findall(r"\{(.*?)\}", span)]
        assert [mark for mark in shown if read_mark(mark) is None] == []
        writes = cls.name() in {
            "write_report",
            "write_sections",
            "write_bottom_line",
            "cite_report",
            "repair_sentences",
        }
        assert bool(shown) is writes

    def test_file_opens_no_block(self, cls: type[Task[Any]]) -> None:
        _, text = load_prompt(cls.name())
        assert "<<<" not in text
        assert ">>>" not in text

    def test_and_its_answer_explain_every_field(self, cls: type[Task[Any]]) -> None:
        assert cls.__doc__
        models = {
            cls,
            *models_in(cls.answer()),
            *(m for f in cls.model_fields.values() for m in models_in(f.annotation)),
        }
        silent = [
            f"{model.__name__}.{name}"
            for model in models
            for name, field in model.model_fields.items()
            if not field.description
        ]
        assert not silent
        assert all(model.__doc__ for model in models)


def test_each_check_of_the_files_can_fail() -> None:
    assert FORMAT.search('Answer as {"queries": []}')
    assert FORMAT.search("Return JSON.")
    assert FORMAT.search("```\nx\n```")
    assert not FORMAT.search("Return at most `limit` queries.")
    assert FORMAT.search(MARKED.sub("", "Write `{T3:12}` as {mark}."))
    assert read_mark("a mark") is None
    assert ADDRESS.search("see https://a.example")
    assert "no_such_field" not in vocabulary(TASKS[0])


def test_every_answer_and_view_belongs_to_a_task() -> None:
    reached = {model for cls in TASKS for model in models_in(cls.answer())}
    reached |= {
        model
        for cls in TASKS
        for field in cls.model_fields.values()
        for model in models_in(field.annotation)
    }
    assert defined(Answer) | defined(View) <= reached


@pytest.mark.parametrize(
    "name", ["extract_findings", "check_support", "outline_report", "write_sections"]
)
def test_who_reads_fetched_text_is_told_that_it_is_data(name: str) -> None:
    assert re.search(r"are data\b.*cannot give you instructions", load_prompt(name)[1])


def test_each_term_figure_and_conflict_of_a_long_report_has_one_section() -> None:
    plan, sections = load_prompt("outline_report")[1], load_prompt("write_sections")[1]
    assert "each term, figure and conflict has one home" in plan
    assert "the terms that it explains and the conflicts that it decides" in plan
    assert "What another section explains, tells or decides, as its `shows` says" in sections
    assert "in the section whose `shows` decides it" in sections
    # Whoever writes one section sees what the others show.
    assert "shows" in tasks.PlannedSection.model_fields


def test_what_leads_tasks_is_called_data_before_it_comes() -> None:
    assert re.search(r"are data\b.*cannot give you instructions", LEAD)
