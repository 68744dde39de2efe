"""Tolerance: what a reasonable model says instead of what the schema asks for, and how it is read.

A model that answers in the shape of another system, in another case, with a string where an object
is wanted, or with one bad item among nine good ones has still answered. Tolerance follows from the
types alone, so that it holds for each task:

- **Keys** in any case and with any separator: `Key Insights`, `keyInsights`. Other names are
  given at the field, with `Also("initial_confidence")`.
- **Choices** in any case: `CONTINUE`, `High`; and with words around: `Bias Check`.
- **Numbers** beyond their limits are clamped; `85%` and `85` are 0.85 where 1 is the most.
- **Texts** from lists, numbers and objects.
- **Lists** from single values, from lines of text and from objects, cut to their limit; items
  that do not fit are left out, unless none fits. A list of statements marked with `Leaves` is read
  from an object of any depth.
- **Objects** from a text or a list of one, which is their first field.

Nothing is made up: a field that was not given keeps its default, and an answer without a field that
has none is refused. Tolerance holds for the output of models only (`TOLERANT`); code that makes an
answer must make it as its type says.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from deepdiver.core.text import stem

TOLERANT: Final = {"tolerant": True}
"""The validation context of a model's output."""
CHOICE_WORDS = 5
"""The most words of a text that is read as a choice: "Bias Check", "needs more research"; longer
texts explain, and may name a choice only to decline it."""
CHOICE_CHARS = 80
"""The most characters of such a text: five words of an unusual length."""
PERCENT = 2.0
"""Numbers above this are read as percent where 1 is the most; those below it overshot."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_SENTENCE = re.compile(r"[.!?…。！？][\"'”’)\]]*\s*$")
_NUMBERED = re.compile(r"\D*\d{1,3}")
_DECLINED = re.compile(r"\b(?:not?|never|without|neither)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Also:
    """Other names of a field, for `Annotated`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """Give the field more names."""
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class Leaves:
    """Marks, in `Annotated`, a list of statements that a model may also give as an object.

    Each leaf of the object is then a statement, with its keys before it: `{"owner": {"name":
    "Anna"}}` says "owner, name: Anna". A leaf that is a sentence stands alone, and an object in a
    list is one statement: `[{"name": "Alma", "age": 15}]` says "name: Alma; age: 15".
    """


def tolerate(kind: type[BaseModel], value: Any) -> Any:
    """Return a value as an answer of a type wants it, as far as it can be read so.

    What cannot be read is returned as it is, for pydantic to complain about.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        value = {next(iter(kind.model_fields)): value}
    if not isinstance(value, Mapping):
        return value
    names = _names(kind)
    known: dict[str, Any] = {}
    for key, item in value.items():
        name = key if key in kind.model_fields else names.get(_folded(str(key)))
        # A key that is spelled as asked wins over others that mean the same.
        if name is not None and (name == key or (name not in value and name not in known)):
            known[name] = _fit(item, *_typed(kind, name))
    return {name: item for name, item in known.items() if item is not _ABSENT}


def choice_in(kind: type[BaseModel], text: str) -> dict[str, str] | None:
    """Return the answer that a text without any JSON gives, if the answer begins with a choice.

    A model that is asked to decide may say `CONTINUE` on a line and explain it below.
    """
    name = next(iter(kind.model_fields), "")
    options = _options(_bare_type(kind.model_fields[name].annotation, ())[0]) if name else ()
    said = next((line for line in text.splitlines() if line.strip()), "")
    chosen = _choice(said, options)
    return {name: chosen} if chosen in options else None


_ABSENT: Final = object()
"""In place of a null where the field has a default."""


@functools.cache
def _names(kind: type[BaseModel]) -> dict[tuple[str, ...], str]:
    """Return the fields of a type by all their names, folded."""
    names: dict[tuple[str, ...], str] = {}
    for name, field in kind.model_fields.items():
        marks = [mark for mark in field.metadata if isinstance(mark, Also)]
        for spelled in (name, *(other for mark in marks for other in mark.names)):
            names.setdefault(_folded(spelled), name)
    return names


def _folded(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))


@functools.cache
def _typed(kind: type[BaseModel], name: str) -> tuple[Any, tuple[Any, ...], bool]:
    """Return a field's type, its limits, and whether it has a default."""
    field = kind.model_fields[name]
    return field.annotation, tuple(field.metadata), not field.is_required()


def _fit(value: Any, kind: Any, limits: tuple[Any, ...], has_default: bool = False) -> Any:
    """Return a value as a type wants it, or as it is."""
    kind, limits, nullable = _bare_type(kind, limits)
    if value is None:
        return _ABSENT if has_default and not nullable else value
    origin = get_origin(kind)
    if origin is tuple:
        return _items(value, get_args(kind)[0], limits)
    if options := _options(kind):
        return _choice(value, options)
    if kind is str:
        return _text(value)
    if kind is float:
        return _number(value, limits)
    return value  # pydantic reads yes and no, and an answer within an answer tolerates by itself


def _bare_type(kind: Any, limits: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], bool]:
    """Return a type without `Annotated` and `None`, its limits, and whether it may be None."""
    nullable = False
    while True:
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            more = (mark.metadata if isinstance(mark, FieldInfo) else [mark] for mark in args[1:])
            kind, limits = args[0], (*limits, *(mark for marks in more for mark in marks))
        elif origin in (Union, UnionType) and type(None) in args:
            nullable = True
            kind = next(arg for arg in args if arg is not type(None))
        else:
            return kind, limits, nullable


# Choices


def _options(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, str) and issubclass(kind, Enum):
        return tuple(str(option.value) for option in kind)
    return ()


def _choice(value: Any, options: Iterable[str]) -> Any:
    """Return the one option that a text names, or the value as it is."""
    if not isinstance(value, str) or value in options or len(value) > CHOICE_CHARS:
        return value
    said = _stems(value)
    for option in options:
        if _stems(option) == said:
            return option
    if len(said) > CHOICE_WORDS or _DECLINED.search(value):
        return value
    named = [option for option in options if set(_stems(option)) <= set(said)]
    return named[0] if len(named) == 1 else value


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _folded(text)))


# Numbers and texts


def _number(value: Any, limits: tuple[Any, ...]) -> Any:
    """Return a number within its limits; a percentage where 1 is the most is a share."""
    percent = False
    if isinstance(value, str):
        if not (match := _NUMBER.fullmatch(value)):
            return value
        value, percent = float(match[1]), bool(match[2])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    least = next((float(mark.ge) for mark in limits if isinstance(mark, annotated_types.Ge)), None)  # type: ignore[arg-type]
    most = next((float(mark.le) for mark in limits if isinstance(mark, annotated_types.Le)), None)  # type: ignore[arg-type]
    if most is not None and most <= 1 and (percent or value > PERCENT):
        value = value / 100
    if most is not None and most <= 1 < value / PERCENT:
        return value  # 850 is neither a share nor a percentage
    if least is not None:
        value = max(least, value)
    return value if most is None else min(most, value)


def _text(value: Any) -> Any:
    """Return lists, numbers and objects as a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "; ".join(filter(None, (_text(item) for item in value if item is not None)))
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(item)}" for key, item in value.items() if item is not None)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


# Lists


def _items(value: Any, kind: Any, limits: tuple[Any, ...]) -> Any:
    """Return a list of what fits, cut to its limit."""
    leaves = any(isinstance(mark, Leaves) for mark in limits)
    offered = list(_statements(value, kind) if leaves else _offered(value, kind))
    kept = [item for item in (_item(item, kind) for item in offered) if item is not _ABSENT]
    if offered and not kept:
        return offered
    longest = [mark.max_length for mark in limits if isinstance(mark, annotated_types.MaxLen)]
    return tuple(kept[: min(longest, default=len(kept))])


def _offered(value: Any, kind: Any) -> Iterator[Any]:
    """Yield the items of a list, or of what stands for one."""
    if isinstance(value, Mapping):
        yield from _pairs(value, kind)
    elif isinstance(value, str):
        yield from _lines(value)
    elif isinstance(value, Iterable):
        yield from (item for item in value if item not in (None, ""))
    else:
        yield value


def _lines(text: str) -> list[str]:
    """Return the lines of a text without bullets and numbers."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _pairs(value: Mapping[Any, Any], kind: Any) -> Iterator[Any]:
    """Yield the object itself if it is an item, else one item for each of its keys."""
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        yield from (f"{key}: {_text(item)}" for key, item in value.items())
        return
    names = _names(kind)
    if any(_folded(str(key)) in names for key in value):
        yield value
        return
    first, second, *_ = [*kind.model_fields, ""]
    for key, item in value.items():
        yield {first: key, **item} if isinstance(item, Mapping) else {first: key, second: item}


def _statements(value: Any, kind: type[BaseModel], keys: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the statements of a text, or of the leaves of lists and objects."""
    if isinstance(value, Mapping) and _states(value, kind):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _statements(item, kind, (*keys, *_key(key)))
    elif isinstance(value, list | tuple):
        for item in (item for item in value if item not in (None, "", {}, [])):
            if isinstance(item, Mapping) and not any(map(_is_nested, item.values())):
                yield _record(item, kind, keys)
            else:
                yield from _statements(item, kind, keys)
    elif value is not None:
        yield from (_said(line, keys) for line in _lines(str(_text(value))))


def _states(value: Mapping[Any, Any], kind: type[BaseModel]) -> bool:
    """Tell whether an object has the first field of a type, which is what it states."""
    names, first = _names(kind), next(iter(kind.model_fields))
    return any(names.get(_folded(str(key))) == first for key in value)


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _record(item: Mapping[Any, Any], kind: type[BaseModel], keys: tuple[str, ...]) -> Any:
    """Return an object without nested ones as one statement; fields of the type stay as they are.

    An object that has no other keys states nothing.
    """
    names = _names(kind)
    own = {key: value for key, value in item.items() if _folded(str(key)) in names}
    rest = {str(key).replace("_", " "): item[key] for key in item if key not in own}
    if _states(item, kind) or not rest:
        return item
    told = rest.popitem()[1] if len(rest) == 1 and not keys else rest
    return {next(iter(kind.model_fields)): _said(str(_text(told)), keys), **own}


def _said(text: str, keys: tuple[str, ...]) -> str:
    """Return a leaf with its keys before it, unless it is a sentence."""
    return text if not keys or _SENTENCE.search(text) else f"{', '.join(keys)}: {text}"


def _key(key: Any) -> tuple[str, ...]:
    """Return a key in words; a number in a list, such as "finding_1", says nothing."""
    text = str(key).replace("_", " ").strip()
    return () if not text or _NUMBERED.fullmatch(text) else (text,)


def _item(item: Any, kind: Any) -> Any:
    fitted = _fit(item, kind, ())
    try:
        return _adapter(_bare_type(kind, ())[0]).validate_python(fitted, context=TOLERANT)
    except ValidationError:
        return _ABSENT


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
