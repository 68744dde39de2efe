"""A set of the user's own: a file of JSON lines in the format of docs/EVALUATION.md."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from deepdiver.errors import UsageError
from deepdiver.evals.cases import Case, EvalSet, Kind, Shelf, check_unique, read_json_lines
from deepdiver.evals.documents import Document

T = TypeVar("T", bound=BaseModel)
NEEDED = "{id, question, answers, documents? | corpus?, support?, wrong_answers?, as_of?}"
"""The format of a line, in short."""


def _text(value: Any) -> Any:
    """Return an integer as text; anything else unchanged."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_text)]


class _Row(BaseModel):
    """Base class: closed, so that a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class OwnDocument(_Row):
    """A document of a case, or of a corpus."""

    id: Id = ""
    title: str = ""
    text: str


class OwnCase(_Row):
    """A case: one line of the file."""

    id: Id
    question: Annotated[str, Field(min_length=1)]
    answers: tuple[Annotated[str, BeforeValidator(_text)], ...]
    documents: tuple[OwnDocument, ...] | None = None
    corpus: str | None = None
    support: tuple[Id, ...] = ()
    wrong_answers: tuple[str, ...] = ()
    as_of: date | None = None


def read_own_set(file: Path) -> EvalSet:
    """Read a set from a file of JSON lines.

    If any case has wrong answers, it is a set of conflicts: all right answers are wanted, and no
    wrong one.

    Raises:
        UsageError: If the file cannot be read, or a line has another format; says which and why.
    """
    listed = [
        _validated(row, OwnCase, f"{file}, case {number}")
        for number, row in enumerate(read_json_lines(file), 1)
    ]
    if not listed:
        raise UsageError(f"{file} is empty: each line should be {NEEDED}")
    shelves: dict[str, Shelf] = {}
    cases = [_case(line, file, shelves) for line in listed]
    kind = Kind.CONFLICT if any(line.wrong_answers for line in listed) else Kind.ANSWERS
    return EvalSet(file.name, kind, check_unique(cases, str(file)), shelves)


def _validated(row: dict[str, Any], shape: type[T], where: str) -> T:
    try:
        return shape.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{where}: {name}: {first['msg'].lower()} (a line should be {NEEDED})"
        ) from None


def _case(line: OwnCase, file: Path, shelves: dict[str, Shelf]) -> Case:
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
        _validated(row, OwnDocument, f"{path}, line {number}")
        for number, row in enumerate(read_json_lines(path), 1)
    ]
    return _shelf(documents, str(path))[0]


def _shelf(
    documents: tuple[OwnDocument, ...] | list[OwnDocument], where: str
) -> tuple[Shelf, dict[str, str]]:
    """Return the shelf of the documents, and the id of each by its title and by its id."""
    if not documents:
        raise UsageError(f"{where}: there are no documents")
    items = tuple(
        Document(doc.id or str(at), doc.title, doc.text) for at, doc in enumerate(documents, 1)
    )
    if len({item.id for item in items}) < len(items):
        raise UsageError(f"{where}: two documents have the same id")
    return Shelf(items), {key: item.id for item in items for key in (item.title, item.id)}
