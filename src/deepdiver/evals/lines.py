"""A set of one's own: a file of JSON lines in the shape that docs/EVALUATION.md tells."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from deepdiver.errors import UsageError
from deepdiver.evals.cases import Case, EvalSet, Kind, Shelf, rows, unique
from deepdiver.evals.retrieval import Item

T = TypeVar("T", bound=BaseModel)
NEEDED = "{id, question, answers, documents? | corpus?, support?, wrong_answers?, as_of?}"
"""The shape of a line, in short."""


def _text(value: Any) -> Any:
    """Take a number for what it says."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_text)]


class _Line(BaseModel):
    """Base of what stands in a line: closed, so that a misspelt field is told and not lost."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(_Line):
    """A document of a line, or of a corpus."""

    id: Id = ""
    title: str = ""
    text: str


class Line(_Line):
    """One line of the file."""

    id: Id
    question: Annotated[str, Field(min_length=1)]
    answers: tuple[Annotated[str, BeforeValidator(_text)], ...]
    documents: tuple[Document, ...] | None = None
    corpus: str | None = None
    support: tuple[Id, ...] = ()
    wrong_answers: tuple[str, ...] = ()
    as_of: date | None = None


def read_lines(file: Path) -> EvalSet:
    """Read a file of one's own.

    Where a line has wrong answers, all right ones are wanted and no wrong one, as in a set of
    conflicts.

    Raises:
        UsageError: If it cannot be read, or a line has another shape; says which and why.
    """
    listed = [
        _line(row, Line, f"{file}, case {number}") for number, row in enumerate(rows(file), 1)
    ]
    if not listed:
        raise UsageError(f"{file} holds no case: each line is {NEEDED}")
    shelves: dict[str, Shelf] = {}
    cases = [_case(line, file, shelves) for line in listed]
    kind = Kind.CONFLICT if any(line.wrong_answers for line in listed) else Kind.ANSWERS
    return EvalSet(file.name, kind, unique(cases, str(file)), shelves)


def _line(row: dict[str, Any], shape: type[T], where: str) -> T:
    try:
        return shape.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {name}: {first['msg'].lower()} (a line is {NEEDED})") from None


def _case(line: Line, file: Path, shelves: dict[str, Shelf]) -> Case:
    where = f"{file}, {line.id}"
    if line.documents is not None and line.corpus is not None:
        raise UsageError(f"{where}: give documents or a corpus, not both")
    shelf, names = "", dict[str, str]()
    if line.documents is not None:
        shelf = f"own-{line.id}"
        shelves[shelf], names = _shelf(line.documents, where)
    elif line.corpus is not None:
        shelf = line.corpus
        path = file.parent / line.corpus
        if shelf not in shelves:
            shelves[shelf] = Shelf(folder=path) if path.is_dir() else _corpus(path)
        names = {key: item.id for item in shelves[shelf].items for key in (item.title, item.id)}
    support = tuple(names.get(key, key) for key in line.support)
    day = line.as_of.isoformat() if line.as_of else ""
    return Case(
        line.id, line.question, line.answers, line.wrong_answers, support, shelf=shelf, as_of=day
    )


def _corpus(path: Path) -> Shelf:
    documents = [
        _line(row, Document, f"{path}, line {number}") for number, row in enumerate(rows(path), 1)
    ]
    return _shelf(documents, str(path))[0]


def _shelf(
    documents: tuple[Document, ...] | list[Document], where: str
) -> tuple[Shelf, dict[str, str]]:
    """Return the documents, and the id of each by its title and by its id."""
    if not documents:
        raise UsageError(f"{where}: there is no document")
    items = tuple(
        Item(doc.id or str(at), doc.title, doc.text) for at, doc in enumerate(documents, 1)
    )
    if len({item.id for item in items}) < len(items):
        raise UsageError(f"{where}: two documents have the same id")
    return Shelf(items), {key: item.id for item in items for key in (item.title, item.id)}
