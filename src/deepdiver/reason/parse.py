"""The one gate for model output: whatever text a model wrote becomes a checked answer, or one error that says why not.

The steps, in order. None reads a text more than a fixed number of times, so 2 MB of hostile text cost under 0.5 s:

1. **Cut.** A finish reason of "output limit reached" ends it here: half an answer is none.
2. **Encodable.** Lone surrogates become U+FFFD, so that what leaves the gate can always be saved as UTF-8.
3. **Thinking** is split off: ``<think>``, ``<thinking>``, ``<reasoning>``, ``<thought>``, in any case, with attributes,
   nested, and blocks fenced as ``thinking``. An opening tag without its match reaches to the last closing tag, or else
   to the end. A closing tag without an opening one makes everything before it thinking (chat templates often put the
   opening tag into the prompt). A tag is content, not markup, *within a double-quoted string that closes on its line*:
   JSON allows no line break in a string, so this spares every string of valid JSON. If the whole text, tags and all,
   is JSON that fits, then it is the answer.
4. **Blocks** between brackets are found with a stack. Quotes count only between brackets; a fence or a wrong closing
   bracket ends what is open, which then was no JSON. The last 64 blocks and the largest of the others are read.
5. **Values.** Each block is decoded as JSON; else respelled and decoded: comments, commas, single and curly quotes,
   bare keys, Python's literals, unescaped quotes. Respelling never supplies a value or a bracket. If that fails too,
   the blocks within it are read: ``{{"a": 1}}``. Refused are nesting deeper than 64, NaN, infinities, numbers of more
   than 400 digits, and a key given twice with different values: who says two things has said nothing.
6. **Answers.** pydantic decides what fits. The last block that fits as it stands wins; else the last that fits once
   unwrapped (``{"answer": {…}}``, ``[{…}]``, a tool call, JSON within strings) or as the only list of the type.
   An object with no key of the type does not fit, nor does the type's own schema echoed back; an empty object or
   list counts only where it is all there is.
7. **Errors** say in at most 600 characters what the model needs to hear: the message is sent back to it.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Generic, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, RootModel, ValidationError

from deepdiver.errors import AnswerFault, UnreadableAnswerError

T = TypeVar("T", bound=BaseModel)

MAX_MESSAGE = 600
MAX_DEPTH = 64
MAX_DIGITS = 400  # the largest float has 309
MAX_BLOCKS = 64  # prose that cites [1] has many
MAX_MARKS = 50_000  # tags or brackets read, at 2 to 4 µs each; an answer of 128k tokens has some 20,000
MAX_RESPELLED = 100_000  # characters of one text, at up to 1 µs each
MAX_ERRORS = 500  # of pydantic's, to list: making the list costs 2 µs an error

# All repeats are possessive (*+, ++) and no attempt that fails is made again further on: that keeps the scanners linear.
_NAME = r"(?:think(?:ing)?|reasoning|thoughts?)"
_TAG = rf"<(/?){_NAME}(?:\s[^<>/]*+)?>"
_FENCED = rf"(?<![^\n])(?:`{{3,}}+|~{{3,}}+)[ \t]*+{_NAME}[ \t\r]*+(?![^\n])"
_TAGS = re.compile(_TAG, re.IGNORECASE)
_MARK = re.compile(f"{_TAG}|{_FENCED}", re.IGNORECASE)
# Escapes go by pairs outside strings too, so that an opening quote that found no end is not looked for twice.
_UNMARKED = re.compile(
    rf'(?:[^"\\<`~]++|<(?![/tr])|"(?:[^"\\\n]++|\\[^\n])*+"|\\[^\n]|(?!{_TAG}|{_FENCED})["\\<`~])*+', re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[ \t\r]*+$", re.MULTILINE)

# A string ends at the next quote on its line, or on a later line at a quote after which JSON goes on.
_STRING = r'"(?:[^"\\\n]++|\\[^\n])*+(?:"|(?:[^"\\]++|\\.)*+(?:"(?=\s*+[,:\]}])|\\?\Z))'
_OPENING = re.compile(r"[\[{]")
_WITHIN = re.compile(rf'(?:[^"\\\[\]{{}}`~]++|{_STRING}|\\.|(?!```|~~~)["\\`~])*+', re.DOTALL)
_NEARLY_OBJECT = re.compile(r"(?:\[\s*+)*+\{\s*+[\"'“]?+[\w -]{1,80}+[\"'”]?+\s*+:")
_CLOSING = {"{": "}", "[": "]"}

# In nearly-JSON a quote ends its string where JSON can go on: before , : ] } a comment, or a quote on the next line.
_ENDS = r"(?=\s*+(?:[,:\]}#]|/[/*]|\Z)|[ \t\r]*+\n\s*+[\"'“])"
_TOKEN = re.compile(
    r"(?P<skip>\s++|(?://|#)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))"
    r"|(?P<comma>,)|(?P<colon>:)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<string>"
    + "|".join(rf"{opens}(?:[^{ends}\\]++|\\.|{ends}(?!{_ENDS}))*+{ends}" for opens, ends in ('""', "''", "“”"))
    + r")|(?P<key>[A-Za-z_][\w-]*+(?=\s*+:))|(?P<word>[\w.+-]++)|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\\'|\\|"')
_RESPELLED = {"\\'": "'", '"': '\\"', "\\": "\\\\", "True": "true", "False": "false", "None": "null"}

_LONE = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_BLANK = "\ufeff \t\r\n"
_PLAIN = (str, int, bool, type(None))
# What a decoded value must be looked through for: a surrogate, a number that may be infinite or endless.
_SUSPECT = re.compile(r"\\u[dD][89a-fA-F]|\d[eE][+-]?\d{3}|(?<!\d)\d{100}")
_REFUSAL = re.compile(
    r"\b(?:(?:sorry|apologi[sz]e|apologies|afraid)\b[^.!?\n]{0,60}?\b(?:can['’]?t|cannot|can not|won['’]?t|unable|not able)"
    r"|I\b[^.!?\n]{0,40}?\b(?:(?:can['’]?t|cannot|can not|won['’]?t|will not|unable to|not able to)\s(?:\w+ly\s)?"
    r"(?:help|assist|comply|provide|answer|fulfil|discuss|engage|create|generate|share|support|continue|do (?:that|this))"
    r"|(?:must|have to|need to|respectfully) decline|against my (?:guidelines|polic|programming|principles)))",
    re.IGNORECASE,
)
_TOO_DEEP = f"The JSON is nested more than {MAX_DEPTH} deep: follow the schema."


def read_answer(text: str, answer: type[T], *, truncated: bool = False) -> T:
    """Read a model's text as an answer of the given type.

    Args:
        text: What the model wrote, as it came.
        answer: The type asked for.
        truncated: Whether the finish reason says that the output limit was reached.

    Returns:
        The answer: every string in it can be encoded as UTF-8, every float is finite.

    Raises:
        UnreadableAnswerError: The text holds no such answer. Nothing else is ever raised.
    """
    if truncated:
        raise _error("The answer was cut off at the output limit: think and write less.", AnswerFault.TRUNCATED)
    text = _encodable(text)
    shown, thought = _split(text)
    reading = _Reading(answer)
    if thought:
        reading.offer_whole(text)
    if reading.best is None:
        reading.search(shown)
    if reading.best is None:
        raise reading.why_not(shown, thought)
    return reading.best[1]


def visible(text: str) -> str:
    """Return the text without its thinking, for answers in prose."""
    return _split(_encodable(text))[0].strip()


def thinking(text: str) -> str:
    """Return what stood within thinking tags and blocks, for the reasoning log."""
    return _split(_encodable(text))[1].strip()


def _error(message: str, fault: AnswerFault = AnswerFault.SCHEMA) -> UnreadableAnswerError:
    return UnreadableAnswerError(_clip(message, MAX_MESSAGE), fault)


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return str(json.loads(json.dumps(text))).translate(_LONE)  # through JSON, because that joins pairs
    return text


# Thinking


def _split(text: str) -> tuple[str, str]:
    """Split a text into what is shown and what is thought."""
    pieces: list[tuple[bool, str]] = []
    thought_until = at = 0  # all pieces before thought_until are thinking, whatever they were taken for
    for _ in range(MAX_MARKS):
        stop = _past(_UNMARKED, text, at)
        pieces.append((False, text[at:stop]))
        mark = _MARK.match(text, stop)
        if mark is None:
            at = len(text)
            break
        at = mark.end()
        if mark[1] == "/":
            thought_until = len(pieces)
        else:
            stop, resume = _after_tag(text, at) if text[stop] == "<" else _after_fence(text, at)
            pieces.append((True, text[at:stop]))
            at = resume
    pieces.append((False, text[at:]))
    thought = [piece for index, (inside, piece) in enumerate(pieces) if inside or index < thought_until]
    shown = [piece for inside, piece in pieces[thought_until:] if not inside]
    return "".join(shown), "".join(thought)


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _after_tag(text: str, start: int) -> tuple[int, int]:
    """Say where the thinking that a tag opened before `start` ends, and where reading goes on."""
    depth, last = 1, None
    for tag in _TAGS.finditer(text, start):
        depth += -1 if tag[1] else 1
        last = tag if tag[1] else last
        if depth == 0:
            break
    return last.span() if last else (len(text), len(text))


def _after_fence(text: str, start: int) -> tuple[int, int]:
    """Say the same for a thinking block; a fence that opens another block ends it too, and stays."""
    fence = _FENCE.search(text, start)
    if fence is None:
        return len(text), len(text)
    return fence.start(), fence.start() if fence[1] else fence.end()


# Blocks


def _blocks(text: str) -> tuple[list[str], UnreadableAnswerError | None]:
    """Find the outermost blocks that close, and what tells that there was to be more."""
    closed: list[tuple[int, int]] = []
    stack: list[int] = []
    deepest = at = 0
    for _ in range(MAX_MARKS):
        if stack:
            at = _past(_WITHIN, text, at)
        else:
            opening = _OPENING.search(text, at)
            at = opening.start() if opening else len(text)
        if at == len(text):
            break
        if text[at] in _CLOSING:
            stack.append(at)
            deepest = max(deepest, len(stack))
        elif text[at] == _CLOSING[text[stack[-1]]]:
            start = stack.pop()
            while closed and closed[-1][0] > start:
                closed.pop()
            closed.append((start, at + 1))
        else:
            stack.clear()
        at += 1
    obstacle = None
    if deepest > MAX_DEPTH:
        obstacle = _error(_TOO_DEEP, AnswerFault.TOO_DEEP)
    elif at < len(text):
        closed, obstacle = [], _error(f"There are more than {MAX_MARKS} brackets: give one JSON value.")
    elif stack and _is_cut(text[stack[0] :]):
        closed = [span for span in closed if span[1] <= stack[0]]
        obstacle = _error("The text stops in the middle of the JSON: write less.", AnswerFault.TRUNCATED)
    others, last = closed[:-MAX_BLOCKS], closed[-MAX_BLOCKS:]
    largest = max(others, key=lambda span: span[1] - span[0], default=None)
    return [text[start:end] for start, end in ([largest, *last] if largest else last)], obstacle


def _is_cut(tail: str) -> bool:
    """Tell whether a text from an open bracket on is JSON, or nearly, that stops in the middle."""
    try:
        _SKIMMER.raw_decode(tail)
    except json.JSONDecodeError as error:
        if error.pos >= len(tail.rstrip()) or error.msg.startswith("Unterminated string"):
            return True
    except RecursionError:
        return True
    return _NEARLY_OBJECT.match(tail) is not None


# Values


def _decode(text: str) -> Any:
    """Decode JSON; refuse what JSON does not allow or no honest answer holds."""
    suspect = _SUSPECT.search(text)
    try:
        value = (_CAREFUL_DECODER if suspect else _DECODER).decode(text)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 20) : error.pos + 20]
        message = f"The JSON cannot be read: {error.msg} at line {error.lineno}, near {near!r}."
        raise _error(message, AnswerFault.NO_JSON) from None
    except (RecursionError, MemoryError):
        raise _error(_TOO_DEEP, AnswerFault.TOO_DEEP) from None
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        parts = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [item for items in parts for item in items if isinstance(item, dict | list)]
    if level:
        raise _error(_TOO_DEEP, AnswerFault.TOO_DEEP)
    return _sound(value) if suspect else value


def _sound(value: Any) -> Any:
    """Return a value with its lone surrogates replaced and no number in it infinite."""
    if isinstance(value, dict):
        return _object([(key.translate(_LONE), _sound(item)) for key, item in value.items()])
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise _error("The JSON holds a number too large to be finite: give a finite one.")
    return value.translate(_LONE) if isinstance(value, str) and not value.isascii() else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if found[key] != value:
                raise _error(f"The key {reprlib.repr(key)} is given twice, with different values: give it once.")
    return found


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _error(f"The JSON holds a number of {len(digits)} digits: give a shorter one.")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise _error(f"{name} is not JSON: give a finite number, or null where null is allowed.")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, strict=False)
_CAREFUL_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant, strict=False
)
_SKIMMER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


def _respell(text: str) -> str:
    """Spell nearly-JSON as JSON: the same values and brackets, with JSON's quotes, commas and literals."""
    spelled: list[str] = []
    last, comma = "open", False
    for token in _TOKEN.finditer(text):
        kind, word = str(token.lastgroup), token.group()
        if kind == "other":
            break  # what is left out is missed by the decoder
        if kind in ("skip", "comma"):
            comma = comma or kind == "comma"
            continue
        if kind not in ("close", "colon") and last not in ("open", "colon"):
            # A missing comma is supplied, but not between bare words: [1 500] is one number, ill-written.
            spelled.append("," if comma or not last == kind == "word" else " ")
        if kind == "string":
            word = f'"{_ESCAPE.sub(lambda escape: _RESPELLED.get(escape[0], escape[0]), word[1:-1])}"'
        spelled.append(f'"{word}"' if kind == "key" else _RESPELLED.get(word, word))
        last, comma = kind, False
    return "".join(spelled)


# Answers


class _Reading(Generic[T]):
    """What has become of a text so far: the best answer in it, and the most telling complaint."""

    def __init__(self, answer: type[T]) -> None:
        self.answer = answer
        self.best: tuple[int, T] | None = None
        self.complaint = _error("There is no JSON in the text.", AnswerFault.NO_JSON)
        self.weight = -2
        self.obstacle: UnreadableAnswerError | None = None
        self.respellable = MAX_RESPELLED
        self.fields = (
            {}
            if issubclass(answer, RootModel)
            else {
                field.validation_alias if isinstance(field.validation_alias, str) else name: field
                for name, field in answer.model_fields.items()
            }
        )
        lists = [name for name, field in self.fields.items() if _is_list(field.annotation)]
        self.only_list = lists[0] if len(lists) == 1 else None

    def offer_whole(self, text: str) -> None:
        """Offer a text that may be JSON as it stands."""
        try:
            value = _decode(_FENCE.sub("", text.strip(_BLANK)).strip(_BLANK))
        except UnreadableAnswerError as error:
            self.complain(0 if error.fault is not AnswerFault.NO_JSON else -2, error)
            return
        self.offer(value, alone=True)
        if isinstance(value, str) and self.best is None:
            self.search(value)

    def search(self, text: str, *, inner: bool = False) -> None:
        """Offer the blocks of a text, the last first, until one fits as it stands."""
        blocks, obstacle = _blocks(text)
        if not inner:
            self.obstacle = obstacle
            if not blocks or text.strip(_BLANK)[0] == '"':
                self.offer_whole(text)
        alone = len(blocks) == 1 and _FENCE.sub("", text).strip(_BLANK) == blocks[0]
        for block in reversed(blocks):
            try:
                self.offer(self.value(block), alone=alone)
            except UnreadableAnswerError as error:
                self.complain(-1 if error.fault is AnswerFault.NO_JSON else 0, error)
                if error.fault is AnswerFault.NO_JSON and not inner:
                    self.search(block[1:-1], inner=True)
            if self.best and self.best[0] == 0:
                return

    def value(self, block: str) -> Any:
        """Decode a block, respelled if need be."""
        try:
            return _decode(block)
        except UnreadableAnswerError as error:
            if error.fault is not AnswerFault.NO_JSON or len(block) > self.respellable:
                raise
            self.respellable -= len(block)
            try:
                return _decode(_respell(block))
            except UnreadableAnswerError as again:
                raise (error if again.fault is AnswerFault.NO_JSON else again) from None

    def offer(self, value: Any, *, alone: bool) -> None:
        """Fit a value in each form that it may be meant in, the plainest first."""
        for rank, form in enumerate(self.forms(value)) if value not in ({}, []) or alone else ():
            if self.best and self.best[0] <= min(rank, 1):
                return
            try:
                self.best = (min(rank, 1), self.fit(form))
            except UnreadableAnswerError as error:
                self.complain(len(self.fields.keys() & form) if isinstance(form, dict) else 0, error)

    def forms(self, value: Any) -> Iterator[Any]:
        """Give the forms that a value may be meant in."""
        yield value
        inner = value[0] if isinstance(value, list) and len(value) == 1 else None
        if isinstance(value, dict):
            if any(isinstance(item, str) and item[:1] in ("{", "[") for item in value.values()):
                value = {key: _unfold(item) for key, item in value.items()}
                yield value
            if len(value) == 1:
                inner = next(iter(value.values()))
            elif "name" in value:
                inner = value.get("arguments", value.get("parameters"))
        if isinstance(inner, dict):
            yield inner
        for items in (value, inner):
            if isinstance(items, list) and self.only_list:
                yield {self.only_list: items}

    def fit(self, value: Any) -> T:
        """Validate a value."""
        name = self.answer.__name__
        if isinstance(value, dict) and "properties" in value.keys() - self.fields.keys() and "type" in value:
            raise _error(f"That is the schema of {name}. {self.wanted()}")
        try:
            answer = self.answer.model_validate(value)
        except ValidationError as error:
            raise _error(f"The JSON does not fit {name}: {_mistakes(error)}. {self.wanted()}") from None
        except Exception as error:  # validators of the type may raise anything; the cause is kept
            raise _error(f"The JSON does not fit {name}: {type(error).__name__}. {self.wanted()}") from error
        if isinstance(value, dict) and value and self.fields and not answer.model_fields_set:
            raise _error(f"The JSON has no key of {name}. {self.wanted()}")
        if path := _infinite(answer):
            raise _error(f"The JSON does not fit {name}: {path} must be a finite number.")
        return answer

    def wanted(self) -> str:
        """Say what to give."""
        keys = f" with the keys {_clip(', '.join(self.fields), 200)}" if self.fields else ""
        return f"Give one JSON value{keys} that follows the schema."

    def complain(self, weight: int, error: UnreadableAnswerError) -> None:
        """Keep what is said of the block that is most like the answer; among equals, of the last in the text."""
        if weight > self.weight:
            self.weight, self.complaint = weight, error

    def why_not(self, shown: str, thought: str) -> UnreadableAnswerError:
        """Say why there is no answer."""
        if self.obstacle:
            return self.obstacle
        if self.weight < 1 and _REFUSAL.search(shown[:500]):
            return _error(f"That is a refusal. {self.wanted()}", AnswerFault.REFUSAL)
        if self.weight > -2 or _FENCE.sub("", shown.strip()).strip():
            return self.complaint
        where = "All of the text is thinking" if thought.strip() else "The text is empty"
        return _error(f"{where}. {self.wanted()}", AnswerFault.EMPTY)


def _is_list(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    if kind in (Union, UnionType, Annotated):
        return any(_is_list(part) for part in get_args(annotation))
    return isinstance(kind, type) and issubclass(kind, Collection) and not issubclass(kind, str | bytes | Mapping)


def _unfold(value: Any) -> Any:
    """Return what JSON within a string stands for, anything else as it is."""
    try:
        return _decode(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    except UnreadableAnswerError:
        return value


def _mistakes(error: ValidationError) -> str:
    """Name the first values that do not fit, and say why."""
    count = error.error_count()
    if count > MAX_ERRORS:
        return f"{count} values are wrong"
    mistakes = []
    for item in error.errors(include_url=False, include_context=False)[:4]:
        path = ".".join(_clip(str(part), 30) for part in item["loc"][-6:]) or "the whole"
        given = "" if item["type"] == "missing" else f" (given {_clip(reprlib.repr(item['input']), 50)})"
        mistakes.append(f"{path}: {_clip(item['msg'], 80)}{given}")
    return "; ".join(mistakes) + (f"; and {count - 4} more" if count > 4 else "")


def _infinite(value: Any, path: str = "") -> str | None:
    """Find a float that is not finite: pydantic makes one of the string "NaN"."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path or "it"
    if isinstance(value, BaseModel):
        value = {**value.__dict__, **(value.__pydantic_extra__ or {})}
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        parts = enumerate(value)
    for key, item in parts:
        if type(item) not in _PLAIN and (found := _infinite(item, f"{path}.{_clip(str(key), 30)}".lstrip("."))):
            return found
    return None
