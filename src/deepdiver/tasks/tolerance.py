"""Tolerance: what a reasonable model says instead of what the schema asks for, and how it is read.

A model that answers in the shape of another system, in another case, with a string where an object
is wanted, or with one bad item among nine good ones has still answered. Tolerance follows from the
types alone, so that it holds for each task:

- **Keys** in any case and with any separator: `Key Insights`, `keyInsights`. Other names are
  given at the field, with `Also("initial_confidence")`, and names that say the contrary with
  `Opposite("needs_investigation")`. A key that means nothing and holds an object is opened:
  `{"overall": {"ready": true}}` is `{"ready": true}`.
- **Choices** in any case: `CONTINUE`, `High`; with words around: `Bias Check`; in the other words
  that are given at the field, with `Means(finish=("stop",))`; and of two, by yes or no:
  `{"should_continue": true}`.
- **Yes and no** from a text that names the field: `"severity": "critical"`, where `critical` has
  that other name.
- **Numbers** beyond their limits are clamped; `85%` and `85` are 0.85 where 1 is the most.
- **Texts** from lists, numbers and objects. Of an object that has one of a text's other names as a
  key, only that value is the text: `{"query": "Holm Works", "rationale": "…"}` is a query.
- **Lists** from single values, from lines of text and from objects, cut to their limit; items
  that do not fit are left out, unless none fits. Keys that only number the items are dropped. A
  list of statements marked with `Leaves` is read from an object of any depth.
- **Numbers in lists** from ranges and from texts: `"7-9"`, `"<7>, <9>"`.
- **Labels** (`Label`) from numbers and objects, and lists of them from one text: `F1, F2`.
- **Objects** from a text or a list of one, which is their first field.

Nothing is made up: a field that was not given keeps its default, and an answer without a field that
has none is refused. Tolerance holds for the output of models only (`TOLERANT`); code that makes an
answer must make it as its type says.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from deepdiver.core.numbering import numbers_in
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
_DECLINED = re.compile(r"\b(?:not?|never|without|neither)\b|n['’]t\b", re.IGNORECASE)
_NUMBERED = re.compile(r"\W*(?:[^\W\d_]+[\W_]*)?\d+\W*")
_ITEM_KEY = re.compile(r"\D*\d{1,3}")
"""A key that only numbers an item; a longer number may be a year."""
_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}
_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(%?)\s*")


@dataclass(frozen=True, slots=True)
class Also:
    """Other names of a field, for `Annotated`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """Give the field more names."""
        object.__setattr__(self, "names", names)


@dataclass(frozen=True, slots=True)
class Means:
    """Other words for the options of a choice, for `Annotated`."""

    words: tuple[tuple[str, tuple[str, ...]], ...]

    def __init__(self, **words: tuple[str, ...]) -> None:
        """Give the options more words."""
        object.__setattr__(self, "words", tuple(words.items()))


LABEL: Final = Also("id", "label")
"""Marks a text as a label: a short name that code has given, such as F1."""
Label = Annotated[str, LABEL, Field(description="A label.")]
REASON: Final = Also("reasoning", "rationale", "explanation", "justification", "because")
"""The names that models give to their reasons."""


@dataclass(frozen=True, slots=True)
class Opposite:
    """Names under which a model says the contrary of a yes-or-no field, for `Annotated`."""

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        """Give the field names that mean the contrary."""
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
    read = _read_keys(kind, value)
    for key, item in value.items():
        if isinstance(item, Mapping) and field_of(kind, key) is None:
            read = {**_read_keys(kind, item), **read}
    return read


def _read_keys(kind: type[BaseModel], value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return what an object says of the fields of a type.

    A key that is spelled as asked wins over others that mean the same, and of these the first that
    can be read.
    """
    read: dict[str, Any] = {}
    for key, item in value.items():
        name, said = _meant(kind, key, item)
        if name and (name == key or (name not in value and name not in read)):
            fitted = _fit(said, *_typed(kind, name), name)
            if fitted is not _ABSENT:
                read[name] = fitted
    return read


def field_of(kind: type[BaseModel], key: Any) -> str | None:
    """Return the field of a type that a key means, in any spelling; None if it means none."""
    return key if key in kind.model_fields else _names(kind).get(_folded(str(key)))


def _turned(item: Any, kind: type[BaseModel], name: str, key: Any) -> Any:
    """Return what a key says of a field: the contrary, if the key means that."""
    marks = (mark for mark in kind.model_fields[name].metadata if isinstance(mark, Opposite))
    if _folded(str(key)) not in {_folded(other) for mark in marks for other in mark.names}:
        return item
    said = _truth(item)
    return None if said is None else not said


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
        marks = [mark for mark in field.metadata if isinstance(mark, Also | Opposite)]
        for spelled in (name, *(other for mark in marks for other in mark.names)):
            names.setdefault(_folded(spelled), name)
    return names


def _meant(kind: type[BaseModel], key: Any, given: Any) -> tuple[str, Any]:
    """Return the field that a key means, and what it says of it; "" if it means none."""
    if named_field := field_of(kind, key):
        return named_field, _turned(given, kind, named_field, key)
    answer = _truth(given)
    said = set(_stems(str(key)))
    if answer is None or _DECLINED.search(" ".join(_folded(str(key)))):
        return "", given
    for name in kind.model_fields:
        options = _options(_bare_type(*_typed(kind, name)[:2])[0])
        named = [option for option in options if set(_stems(option)) <= said]
        if len(options) == 2 and len(named) == 1:
            return name, next(o for o in options if (o in named) is answer)
    return "", given


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _YES_NO.get(value.strip().lower()) if isinstance(value, str) else None


def _folded(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(text))


@functools.cache
def _typed(kind: type[BaseModel], name: str) -> tuple[Any, tuple[Any, ...], bool]:
    """Return a field's type, its limits, and whether it has a default."""
    field = kind.model_fields[name]
    return field.annotation, tuple(field.metadata), not field.is_required()


def _fit(
    value: Any, kind: Any, limits: tuple[Any, ...], has_default: bool = False, name: str = ""
) -> Any:
    """Return a value as a type wants it, or as it is.

    Args:
        value: What was said.
        kind: The type.
        limits: Its limits.
        has_default: Whether nothing need be said.
        name: The field's name.
    """
    kind, limits, nullable = _bare_type(kind, limits)
    if value is None:
        return _ABSENT if has_default and not nullable else value
    origin = get_origin(kind)
    if origin is tuple:
        return _items(value, get_args(kind)[0], limits)
    if options := _options(kind):
        return _choice(value, options, limits)
    if kind is str:
        return _text(_carried(value, limits))
    if kind is float:
        return _number(value, limits)
    if kind is bool and isinstance(value, str):
        return _yes_or_no(value, name, has_default)
    return value  # an answer within an answer tolerates by itself


def _bare_type(kind: Any, limits: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], bool]:
    """Return a type without `Annotated` and `None`, its limits, and whether it may be None."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        more = (mark.metadata if isinstance(mark, FieldInfo) else [mark] for mark in args[1:])
        return _bare_type(args[0], (*limits, *itertools.chain.from_iterable(more)))
    if origin in (Union, UnionType) and type(None) in args:
        inner = next(arg for arg in args if arg is not type(None))
        return *_bare_type(inner, limits)[:2], True
    return kind, limits, False


# Choices


def _options(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, str) and issubclass(kind, Enum):
        return tuple(str(option.value) for option in kind)
    return ()


def _choice(value: Any, options: Collection[str], marks: tuple[Any, ...] = ()) -> Any:
    """Return the one option that a text names, or the value as it is."""
    if not isinstance(value, str) or value in options or len(value) > CHOICE_CHARS:
        return value
    said = _stems(value)
    words = list(_words_for(options, marks))
    named = {option for stems, option in words if stems == said}
    if not named and len(said) <= CHOICE_WORDS and not _DECLINED.search(value):
        named = {option for stems, option in words if set(stems) <= set(said)}
    return named.pop() if len(named) == 1 else value


def _words_for(
    options: Iterable[str], marks: Iterable[Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the stems of each option and of the other words for it, with the option."""
    yield from ((_stems(option), option) for option in options)
    for option, more in itertools.chain.from_iterable(
        mark.words for mark in marks if isinstance(mark, Means)
    ):
        yield from ((_stems(other), option) for other in more)


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _folded(text)))


# Yes and no, numbers and texts


def _yes_or_no(value: str, name: str, has_default: bool) -> Any:
    """Return what a text says of a yes-or-no field; a text that names the field says yes."""
    if (said := _truth(value)) is not None:
        return said
    if _choice(value, (name,)) == name:
        return True
    return _ABSENT if has_default else value


def _number(value: Any, limits: tuple[Any, ...]) -> Any:
    """Return a number within its limits; a percentage where 1 is the most is a share."""
    percent = False
    if isinstance(value, str):
        if not (match := _NUMBER.fullmatch(value)):
            return value
        value, percent = float(match[1]), bool(match[2])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    lows = [float(mark.ge) for mark in limits if isinstance(mark, annotated_types.Ge)]  # type: ignore[arg-type]
    highs = [float(mark.le) for mark in limits if isinstance(mark, annotated_types.Le)]  # type: ignore[arg-type]
    if min(highs, default=math.inf) <= 1:
        if percent or value > PERCENT:
            value = value / 100
        if value > PERCENT:
            return value  # 850 is neither a share nor a percentage
    return min(*highs, max(*lows, -math.inf, value), math.inf)


def _carried(value: Any, marks: tuple[Any, ...]) -> Any:
    """Return the part of an object that is the text, if it has one of the text's other names."""
    if not isinstance(value, Mapping):
        return value
    held = {_folded(str(key)): item for key, item in value.items()}
    names = (name for mark in marks if isinstance(mark, Also) for name in mark.names)
    return next((held[key] for name in names if (key := _folded(name)) in held), value)


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
    if _bare_type(kind, ())[0] is int:
        given = value if isinstance(value, list | tuple) else [value]
        yield from numbers_in(map(str, given))
    elif isinstance(value, Mapping):
        yield from _pairs(value, kind)
    elif isinstance(value, str):
        parts = re.split(r"[,;\n]", value) if _is_label(kind) else value.splitlines()
        yield from filter(None, (_BULLET.sub("", part).strip() for part in parts))
    elif isinstance(value, Iterable):
        yield from (item for item in value if item not in (None, ""))
    else:
        yield value


def _lines(text: str) -> list[str]:
    """Return the lines of a text without bullets and numbers."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _pairs(value: Mapping[Any, Any], kind: Any) -> list[Any]:
    """Return the object itself if it is an item, else one item for each of its keys.

    Of a type that needs exactly two things, a name and a value, an item has both: the arguments of
    a tool that takes a `name` are not an argument.
    """
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        if _carried(value, _bare_type(kind, ())[1]) is not value:
            return [value]
        return [
            item if _NUMBERED.fullmatch(str(key)) else f"{key}: {_text(item)}"
            for key, item in value.items()
        ]
    if _is_item(value, kind):
        return [value]
    return [_keyed(key, item, kind) for key, item in value.items()]


def _is_item(value: Mapping[Any, Any], kind: type[BaseModel]) -> bool:
    """Tell whether an object is an item of a type rather than a list of them by name."""
    given = {field_of(kind, key) for key in value} - {None}
    needed = {name for name, field in kind.model_fields.items() if field.is_required()}
    pair = len(needed) == len(kind.model_fields) == 2
    return bool(given) and (needed <= given or not pair)


def _keyed(key: Any, item: Any, kind: type[BaseModel]) -> Any:
    """Return an item that an object has under a key, which is its first field if it has none."""
    first, second, *_ = [*kind.model_fields, ""]
    labelled = _is_label(kind.model_fields[first]) or first == "id"
    if _NUMBERED.fullmatch(str(key)) and not labelled:
        return item
    if not isinstance(item, Mapping):
        return {first: key, second: item}
    return item if first in {field_of(kind, name) for name in item} else {first: key, **item}


def _is_label(kind: Any) -> bool:
    """Tell whether a type, or a field, is that of a label."""
    return LABEL in (kind.metadata if isinstance(kind, FieldInfo) else _bare_type(kind, ())[1])


def _statements(value: Any, kind: type[BaseModel], keys: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the statements of a text, or of the leaves of lists and objects."""
    if isinstance(value, Mapping) and _states(value, kind):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _statements(item, kind, (*keys, *_key(key)))
    elif isinstance(value, list | tuple):
        for item in (item for item in value if item not in (None, "", {}, [])):
            flat = isinstance(item, Mapping) and not any(map(_is_nested, item.values()))
            yield from [_record(item, kind, keys)] if flat else _statements(item, kind, keys)
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
    return () if not text or _ITEM_KEY.fullmatch(text) else (text,)


def _item(item: Any, kind: Any) -> Any:
    fitted = _fit(item, kind, ())
    try:
        return _adapter(_bare_type(kind, ())[0]).validate_python(fitted, context=TOLERANT)
    except ValidationError:
        return _ABSENT


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
