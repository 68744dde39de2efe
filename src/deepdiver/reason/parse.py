"""The one gate for model output: any text becomes a checked answer, or an error that says why not.

These are the steps, in order. None reads a text more than a fixed number of times, so 2 MB of
hostile text take less than 0.5 s:

1. **Cut.** If the finish reason says that the output limit was reached, reading stops here: half
   an answer does not count.
2. **Encodable.** Lone surrogates become U+FFFD, so that the result can always be saved as UTF-8.
3. **Thinking** is split off: ``<think>``, ``<thinking>``, ``<reasoning>``, ``<thought>``, in any
   case, with attributes, nested; blocks fenced as ``thinking``. An opening tag without a match
   reaches to the last closing tag, or else to the end; a closing tag without an opening one makes
   everything before it thinking, since chat templates often put the opening tag into the prompt. A
   tag is content, not markup, *within a double-quoted string that closes on its line*: JSON allows
   no line break in a string, so this spares every string of valid JSON. And if the whole text,
   tags included, is JSON that fits, it is the answer.
4. **Blocks** between brackets are found with a stack. Quotes count only between brackets; a fence
   or a wrong closing bracket ends the open blocks, which then were not JSON. The last 64 blocks
   and the largest of the others are read; in a text with more than 50,000 brackets, none are.
5. **Values.** Each block is decoded as JSON, or else respelled and decoded: comments, commas,
   single and curly quotes, bare keys, Python's literals, unescaped quotes. Respelling never adds a
   value or a bracket. If a block is not even nearly JSON, the blocks within it are read:
   ``{{"a": 1}}``. Nesting deeper than 64, NaN, infinities, numbers of more than 400 digits, and a
   key given twice with different values are refused.
6. **Answers.** pydantic decides what fits. The last block that fits as it stands wins; else the
   last that fits once unwrapped (``{"answer": {…}}``, ``[{…}]``, a tool call, JSON within strings)
   or as the only list of the type. An object without any key of the type does not fit, and neither
   does the type's schema echoed back. Where nothing fits so, the last block counts that fits with
   tolerance (`tasks/tolerance.py`), which also reads, in an object that fits, what stands under
   other names; a text without JSON counts if it is the word of a choice. An
   empty object and a list of integers count only if they are all there is: prose has ``{}`` and
   ``[1]`` of its own.
7. **Errors** say in at most 600 characters what the model did wrong: the message is sent back to
   it.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import reprlib
from collections.abc import Collection, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Generic, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo

from deepdiver.errors import AnswerFault, UnreadableAnswerError
from deepdiver.tasks.tolerance import TOLERANT, choice_in

T = TypeVar("T", bound=BaseModel)

MAX_MESSAGE = 600
MAX_DEPTH = 64
MAX_DIGITS = 400  # the largest float has 309
MAX_BLOCKS = 64  # prose that cites [1] has many
# Tags, brackets or values, at up to 4 µs each; answers that fill 128k tokens have half as many.
MAX_PARTS = 50_000
MAX_RESPELLED = 100_000  # characters of one text, at up to 1 µs each
MAX_ERRORS = 500  # of pydantic's, to list: making the list costs 2 µs an error

# Repeats are possessive (*+, ++), and an attempt that failed is not made again further on, which
# keeps the scanners linear.
_NAME = r"(?:think(?:ing)?|reasoning|thoughts?)"
_TAG = rf"<(/?){_NAME}(?:\s[^<>/]*+)?>"
_FENCED = rf"(?<![^\n])(?:`{{3,}}+|~{{3,}}+)[ \t]*+{_NAME}[ \t\r]*+(?![^\n])"
_TAGS = re.compile(_TAG, re.IGNORECASE)
_MARK = re.compile(f"{_TAG}|{_FENCED}", re.IGNORECASE)
# Escapes are read in pairs outside strings too, so that an opening quote without an end is not
# searched twice.
_UNMARKED = re.compile(
    rf'(?:[^"\\<`~]++|<(?!/?(?:th|re))|"(?:[^"\\\n]++|\\[^\n])*+"|\\[^\n]|(?!{_TAG}'
    rf'|{_FENCED})(?:["\\<]|[`~]++))*+',
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[ \t\r]*+$", re.MULTILINE)

# A string ends at the next quote on its line, or on a later line at a quote after which JSON
# continues.
_STRING = r'"(?:[^"\\\n]++|\\[^\n])*+(?:"|(?:[^"\\]++|\\.)*+(?:"(?=\s*+[,:\]}])|\\?\Z))'
_OPENING = re.compile(r"[\[{]")
_WITHIN = re.compile(rf'(?:[^"\\\[\]{{}}`~]++|{_STRING}|\\.|(?!```|~~~)["\\`~])*+', re.DOTALL)
_NEARLY_OBJECT = re.compile(r"(?:\[\s*+)*+\{\s*+[\"'“]?+[\w -]{1,80}+[\"'”]?+\s*+:")
_CLOSING = {"{": "}", "[": "]"}

# In nearly-JSON a quote ends its string where JSON can continue: before , : ] } a comment, or a
# quote on the next line.
_ENDS = r"(?=\s*+(?:[,:\]}#]|/[/*]|\Z)|[ \t\r]*+\n\s*+[\"'“])"
_TOKEN = re.compile(
    r"(?P<skip>\s++|(?://|#)[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))"
    r"|(?P<comma>,)|(?P<colon>:)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<string>"
    + "|".join(
        rf"{opens}(?:[^{ends}\\]++|\\.|{ends}(?!{_ENDS}))*+{ends}"
        for opens, ends in ('""', "''", "“”")
    )
    + r")|(?P<key>[A-Za-z_][\w-]*+(?=\s*+:))|(?P<word>[\w.+-]++)|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\\'|\\|"')
_RESPELLED = {
    "\\'": "'",
    '"': '\\"',
    "\\": "\\\\",
    "True": "true",
    "False": "false",
    "None": "null",
}

_BLANK = "\ufeff \t\r\n"
_CANNOT = r"\b(?:can['’]?t|cannot|can not|won['’]?t|will not|unable|not able)\b"
_REFUSAL = re.compile(
    rf"\b(?:(?:sorry|afraid|apologi[sz]e|apologies)\b[^.!?\n]{{0,60}}?{_CANNOT}"
    rf"|I\b[^.!?\n]{{0,40}}?(?:{_CANNOT} (?:to )?(?:\w+ly )?(?:help|assist|comply|provide|answer"
    r"|fulfil|discuss|engage|"
    r"create|generate|share|support|continue|do that|do this)|(?:must|have to|respectfully) decline"
    r"|against my ))",
    re.IGNORECASE,
)
_TOO_DEEP = f"The JSON is nested more than {MAX_DEPTH} deep: follow the schema."


_FENCED_TEXT = re.compile(r"```(?:markdown|md)?[ \t]*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
"""A text that is fenced as a whole."""


def read_answer(text: str, answer: type[T], *, truncated: bool = False) -> T:
    """Read a model's text as an answer of the given type.

    Args:
        text: The model's text, unchanged.
        answer: The type of the answer.
        truncated: Whether the finish reason says that the output limit was reached.

    Returns:
        The answer: every string in it can be encoded as UTF-8, and every float is finite.

    Raises:
        UnreadableAnswerError: If the text holds no such answer. Nothing else is ever raised.
    """
    if truncated:
        raise _error(
            "The answer was cut off at the output limit: think and write less.",
            AnswerFault.TRUNCATED,
        )
    text = _encodable(text)
    shown, thought = _split(text)
    if _is_plain_text(shown, answer):
        return _read_plain(shown, answer)
    reading = _AnswerSearch(answer)
    if thought:
        reading.offer_text(text.strip(_BLANK), whole=True)
    if reading.best is None:
        reading.search(shown)
    if reading.best is None:
        raise reading.why_not(text.lstrip(_BLANK), shown, thought)
    return reading.best[1]


def _is_plain_text(text: str, answer: type[BaseModel]) -> bool:
    """Whether a text is itself the answer, because that is a text and is not given as JSON."""
    if not getattr(answer, "plain", False):
        return False
    bare = text.strip(_BLANK)
    name = next(iter(answer.model_fields))
    opened = bare.startswith(("{", "[{", "```json")) or re.search(rf'"{name}"\s*:', bare)
    return bool(bare) and not opened


def _read_plain(text: str, answer: type[T]) -> T:
    """Return an answer whose first field is a whole text, without a fence around all of it."""
    fenced = _FENCED_TEXT.fullmatch(text.strip(_BLANK))
    name = next(iter(answer.model_fields))
    return answer.model_validate({name: fenced[1] if fenced else text.strip(_BLANK)})


def without_thinking(text: str) -> str:
    """Return a text without its thinking, for answers in prose."""
    return _split(_encodable(text))[0].strip()


def thinking_in(text: str) -> str:
    """Return the text of the thinking tags and blocks, for the reasoning log."""
    return _split(_encodable(text))[1].strip()


def _error(message: str, fault: AnswerFault = AnswerFault.SCHEMA) -> UnreadableAnswerError:
    return UnreadableAnswerError(_clip(message, MAX_MESSAGE), fault)


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # JSON joins pairs of surrogates; a lone one is three bytes that UTF-8 forbids.
        joined = str(json.loads(json.dumps(text)))
        return (
            joined.encode("utf-8", "surrogatepass")
            .decode("utf-8", "replace")
            .replace("\ufffd" * 3, "\ufffd")
        )
    return text


def _split(text: str) -> tuple[str, str]:
    """Split a text into the visible part and the thinking."""
    if not any(sign in text for sign in ("<", "```", "~~~")):
        return text, ""
    pieces: list[tuple[bool, str]] = []
    # All pieces before thought_until are thinking, whatever they were taken for.
    thought_until = at = 0
    for _ in range(MAX_PARTS):
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
    shown = "".join(piece for inside, piece in pieces[thought_until:] if not inside) + text[at:]
    return shown, "".join(
        piece for index, (inside, piece) in enumerate(pieces) if inside or index < thought_until
    )


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _after_tag(text: str, start: int) -> tuple[int, int]:
    """Return where the thinking after an opening tag ends, and where reading continues."""
    depth, last = 1, None
    for tag in _TAGS.finditer(text, start):
        depth, last = (depth - 1, tag) if tag[1] else (depth + 1, last)
        if depth == 0:
            break
    return last.span() if last else (len(text), len(text))


def _after_fence(text: str, start: int) -> tuple[int, int]:
    """Return the same for a fenced thinking block.

    A fence that opens another block also ends it, and is kept.
    """
    fence = _FENCE.search(text, start)
    return (
        (fence.start(), fence.start() if fence[1] else fence.end())
        if fence
        else (len(text), len(text))
    )


def _blocks(text: str) -> tuple[list[str], UnreadableAnswerError | None]:
    """Return the outermost blocks that close, and the error if there should have been more."""
    finder = _BlockFinder(text)
    finder.scan()
    closed, obstacle = finder.closed, None
    cut = next((start for start in finder.first_open if _is_cut(text[start:])), None)
    if cut is not None:
        closed = [span for span in closed if span[1] <= cut]
        obstacle = _error(
            "The JSON stops in the middle: write less, and close what is open.",
            AnswerFault.TRUNCATED,
        )
    if finder.deepest > MAX_DEPTH:
        obstacle = _error(_TOO_DEEP, AnswerFault.TOO_DEEP)
    elif finder.at < len(text):
        closed = []
        obstacle = _error(f"There are more than {MAX_PARTS} brackets: give one JSON value.")
    others, last = closed[:-MAX_BLOCKS], closed[-MAX_BLOCKS:]
    largest = sorted(others, key=lambda span: span[1] - span[0])[-1:]
    return [text[start:end] for start, end in largest + last], obstacle


class _BlockFinder:
    """Finds the outermost blocks between brackets, with a stack of open brackets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.deepest = 0
        self.closed: list[tuple[int, int]] = []
        self._open: list[int] = []

    @property
    def first_open(self) -> list[int]:
        """The first two brackets that stay open; the first may be a stray one of the prose."""
        return self._open[:2]

    def scan(self) -> None:
        """Read brackets up to the end of the text, or up to the limit."""
        for _ in range(MAX_PARTS):
            self.at = self._next_sign()
            if self.at == len(self.text):
                return
            self._take(self.text[self.at])
            self.at += 1

    def _next_sign(self) -> int:
        """Return the place of the next bracket, or of a fence within brackets."""
        if self._open:
            return _past(_WITHIN, self.text, self.at)
        opening = _OPENING.search(self.text, self.at)
        return opening.start() if opening else len(self.text)

    def _take(self, sign: str) -> None:
        if sign in _CLOSING:
            self._open.append(self.at)
            self.deepest = max(self.deepest, len(self._open))
            return
        if sign == _CLOSING[self.text[self._open[-1]]]:
            self._close(self._open.pop())
            return
        if _NEARLY_OBJECT.match(self.text, self._open[0]):
            self._close(self._open[0])  # kept, so that there is something to complain about
        self._open.clear()

    def _close(self, start: int) -> None:
        while self.closed and self.closed[-1][0] > start:
            self.closed.pop()
        self.closed.append((start, self.at + 1))


def _is_cut(tail: str) -> bool:
    """Tell whether a text that starts with an open bracket is JSON, or nearly, that was cut off."""
    try:
        _SKIMMER.raw_decode(tail)
    except json.JSONDecodeError as error:
        stops = error.pos >= len(tail.rstrip()) or error.msg.startswith("Unterminated string")
        return stops or _NEARLY_OBJECT.match(tail) is not None
    except RecursionError:
        return True
    return False


def _decode(text: str) -> Any:
    """Decode JSON; refuse values that JSON does not allow or that no honest answer holds."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 20) : error.pos + 20]
        message = f"The JSON cannot be read: {error.msg} at line {error.lineno}, near {near!r}."
        raise _error(message, AnswerFault.NO_JSON) from None
    except (RecursionError, MemoryError):
        raise _error(_TOO_DEEP, AnswerFault.TOO_DEEP) from None
    return _sound(value)


def _sound(value: Any, depth: int = 0) -> Any:
    """Return a value with its lone surrogates replaced; refuse one that is nested too deep."""
    if isinstance(value, str):
        return _encodable(value)
    if not isinstance(value, dict | list):
        return value
    if depth == MAX_DEPTH:
        raise _error(_TOO_DEEP, AnswerFault.TOO_DEEP)
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    return _object([(_encodable(key), _sound(item, depth + 1)) for key, item in value.items()])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if found[key] != value:
                raise _error(
                    f"The key {reprlib.repr(key)} is given twice, with different values: give it "
                    "once."
                )
    return found


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _error(f"The JSON holds a number of {len(digits)} digits: give a shorter one.")
    return int(digits)


def _float(digits: str) -> float:
    return number if math.isfinite(number := float(digits)) else _constant(_clip(digits, 40))


def _constant(name: str) -> NoReturn:
    raise _error(f"{name} is not a finite number: give one that is, or null where null is allowed.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
    strict=False,
)
_SKIMMER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


def _respell(text: str) -> str:
    """Spell nearly-JSON as JSON: the same values and brackets, with JSON's quotes and commas."""
    spelled: list[str] = []
    last, comma = "open", False
    for token in _TOKEN.finditer(text):
        kind, word = str(token.lastgroup), token.group()
        if kind == "other":
            break  # the decoder then complains about the rest that is missing
        if kind == "comma":
            comma = True
        elif kind != "skip":
            spelled += [_separator(last, kind, comma), _respell_word(kind, word)]
            last, comma = kind, False
    return "".join(spelled)


def _separator(last: str, kind: str, comma: bool) -> str:
    """Return what belongs between two tokens.

    A missing comma is added, but not between bare words: [1 500] is one badly written number.
    """
    if kind in ("close", "colon") or last in ("open", "colon"):
        return ""
    return " " if last == kind == "word" and not comma else ","


def _respell_word(kind: str, word: str) -> str:
    if kind == "string":
        return f'"{_ESCAPE.sub(lambda escape: _RESPELLED.get(escape[0], escape[0]), word[1:-1])}"'
    return f'"{word}"' if kind == "key" else _RESPELLED.get(word, word)


def _is_of_prose(value: Any) -> bool:
    """Tell whether a value is one that prose has of its own: {} or [1]."""
    return value == {} or (isinstance(value, list) and all(isinstance(item, int) for item in value))


class _AnswerSearch(Generic[T]):
    """The search of a text for an answer: the best one so far, and the most telling complaint."""

    def __init__(self, answer: type[T]) -> None:
        self.answer = answer
        self.fields = _fields(answer)
        lists = [name for name, field in self.fields.items() if _is_list(field.annotation)]
        self.only_list = lists[0] if len(lists) == 1 else None
        self.best: tuple[int, T] | None = None
        self.complaint: tuple[int, UnreadableAnswerError] | None = None
        self.obstacle: UnreadableAnswerError | None = None
        self.bare = ""
        self.values = MAX_PARTS
        self.respellable = MAX_RESPELLED

    def search(self, text: str) -> None:
        """Offer the blocks of a text, the last first, until one fits as it stands."""
        blocks, self.obstacle = _blocks(text)
        self.bare = bare = _FENCE.sub("", text.strip(_BLANK), MAX_BLOCKS).strip(_BLANK)
        if not blocks or bare.startswith('"'):
            self.offer_text(bare, whole=True)
            if self.best is None and (chosen := choice_in(self.answer, bare)):
                self.offer(chosen, alone=True)
        for block in reversed(blocks):
            if self.best and self.best[0] == 0:
                return
            if not self.offer_text(block, alone=block == bare) and not _NEARLY_OBJECT.match(block):
                for inner in reversed(_blocks(block[1:-1])[0]):
                    self.offer_text(inner)

    def offer_text(self, text: str, *, whole: bool = False, alone: bool = False) -> bool:
        """Offer a block, or a whole text that may be JSON; return whether it is JSON at all."""
        try:
            value = self.value(text, respell=not whole)
        except UnreadableAnswerError as error:
            is_json = error.fault is not AnswerFault.NO_JSON
            if is_json or not whole:
                self.complain(0 if is_json else -1, error)
            return is_json
        self.offer(value, alone=alone or whole)
        if isinstance(value, str) and self.best is None:
            self.search(value)
        return True

    def value(self, text: str, *, respell: bool = True) -> Any:
        """Decode a text, respelled if necessary."""
        self.values -= text.count(",") if text[:1] in _CLOSING else 0
        if self.values < 0:
            raise _error(
                f"There are more than {MAX_PARTS} values: give one JSON value that is shorter."
            )
        try:
            return _decode(text)
        except UnreadableAnswerError as error:
            if (
                error.fault is not AnswerFault.NO_JSON
                or not respell
                or len(text) > self.respellable
            ):
                raise
            self.respellable -= len(text)
            try:
                return _decode(_respell(text))
            except UnreadableAnswerError as again:
                raise (error if again.fault is AnswerFault.NO_JSON else again) from None

    def offer(self, value: Any, *, alone: bool) -> None:
        """Try a value in each form that it may stand for, the plainest first."""
        if not alone and _is_of_prose(value):
            return
        forms = list(self.forms(value))
        exact = [(min(number, 1), form, None) for number, form in enumerate(forms)]
        loose = [(2, form, TOLERANT) for form in forms if isinstance(form, dict | list)]
        for rank, form, context in [*exact, *loose]:
            if self.best and self.best[0] <= rank:
                return
            try:
                self.best = (rank, self.fit_fully(form, context))
            except UnreadableAnswerError as error:
                self.complain(
                    len(self.fields.keys() & form) if isinstance(form, dict) else 0, error
                )

    def forms(self, value: Any) -> Iterator[Any]:
        """Yield the forms that a value may stand for, the plainest first."""
        yield value
        unfolded = _unfold_items(value)
        if unfolded is not value:
            yield unfolded
        inner = self.unwrap(unfolded)
        if isinstance(inner, dict):
            yield inner
        for items in (unfolded, inner):
            if isinstance(items, list) and self.only_list:
                yield {self.only_list: items}

    def unwrap(self, value: Any) -> Any:
        """Return what a list of one, an object with one foreign key, or a tool call holds."""
        if isinstance(value, list) and len(value) == 1:
            return value[0]
        if not isinstance(value, dict):
            return None
        if len(value) == 1 and not value.keys() & self.fields.keys():
            return next(iter(value.values()))
        return value.get("arguments", value.get("parameters")) if "name" in value else None

    def fit_fully(self, form: Any, context: dict[str, bool] | None) -> T:
        """Fit a form; what has other names beside the keys that were asked for counts too."""
        answer = self.fit(form, context)
        if context is None and isinstance(form, dict):
            with contextlib.suppress(UnreadableAnswerError):
                return self.fit(form, TOLERANT)
        return answer

    def fit(self, value: Any, context: dict[str, bool] | None = None) -> T:
        name = _clip(self.answer.__name__, 60)
        if (
            isinstance(value, dict)
            and "properties" in value.keys() - self.fields.keys()
            and "type" in value
        ):
            raise _error(f"That is the schema of {name}, not an answer. {self.wanted()}")
        try:
            answer = self.answer.model_validate(value, context=context)
        except ValidationError as error:
            raise _error(
                f"The JSON does not fit {name}: {_mistakes(error)}. {self.wanted()}"
            ) from None
        except Exception as error:  # validators of the type may raise anything; the cause is kept
            raise _error(
                f"The JSON does not fit {name}: {type(error).__name__}. {self.wanted()}"
            ) from error
        if context is None and isinstance(value, dict):
            answer = self.with_other_names(value, answer)
        if isinstance(value, dict | list) and value and self.fields and not answer.model_fields_set:
            raise _error(f"The JSON has no key of {name}. {self.wanted()}")
        if path := _infinite(answer):
            raise _error(f"The JSON does not fit {name}: {path} must be a finite number.")
        return answer

    def with_other_names(self, value: dict[str, Any], answer: T) -> T:
        """Return an answer that fits, with what its object says under other names."""
        try:
            return self.answer.model_validate(value, context=TOLERANT)
        except Exception:  # noqa: BLE001 - validators of the type may raise anything
            return answer

    def wanted(self) -> str:
        keys = f" with the keys {_clip(', '.join(self.fields), 150)}" if self.fields else ""
        return f"Give one JSON value{keys} that follows the schema."

    def complain(self, weight: int, error: UnreadableAnswerError) -> None:
        """Keep the complaint about the block with most of the answer's keys.

        In a tie, the last block of the text counts.
        """
        if self.complaint is None or weight > self.complaint[0]:
            self.complaint = (weight, error)

    def why_not(self, text: str, shown: str, thought: str) -> UnreadableAnswerError:
        # A tag within a string that never ends looks like markup; a text that starts as JSON is not
        # thinking.
        if obstacle := self.obstacle or (
            _blocks(text)[1] if thought and text[:1] in _CLOSING else None
        ):
            return obstacle
        weight, complaint = self.complaint or (-1, None)
        if weight < 1 and _REFUSAL.search(shown[:500]):
            return _error(f"That is a refusal. {self.wanted()}", AnswerFault.REFUSAL)
        if complaint:
            return complaint
        if self.bare:
            return _error(f"There is no JSON in the text. {self.wanted()}", AnswerFault.NO_JSON)
        where = "All of the text is thinking" if thought.strip() else "The text is empty"
        return _error(f"{where}. {self.wanted()}", AnswerFault.EMPTY)


def _fields(answer: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a type by their keys in JSON."""
    fields = {} if issubclass(answer, RootModel) else answer.model_fields
    return {
        key if isinstance(key := field.validation_alias, str) else name: field
        for name, field in fields.items()
    }


def _is_list(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    if kind in (Union, UnionType, Annotated):
        return any(_is_list(part) for part in get_args(annotation))
    return (
        isinstance(kind, type)
        and issubclass(kind, Collection)
        and not issubclass(kind, str | bytes | Mapping)
    )


def _unfold_items(value: Any) -> Any:
    """Return an object whose values are no longer JSON within strings; else the same value."""
    if not isinstance(value, dict) or not any(map(_may_be_json, value.values())):
        return value
    return {key: _unfold(item) for key, item in value.items()}


def _may_be_json(value: Any) -> bool:
    return isinstance(value, str) and value[:1] in ("{", "[")


def _unfold(value: Any) -> Any:
    """Return the value of JSON within a string; return anything else as it is."""
    try:
        return _decode(value) if _may_be_json(value) else value
    except UnreadableAnswerError:
        return value


def _mistakes(error: ValidationError) -> str:
    """Name the first values that do not fit, and say why."""
    count = error.error_count()
    mistakes = []
    for item in (
        error.errors(include_url=False, include_context=False)[:4] if count <= MAX_ERRORS else ()
    ):
        path = ".".join(_clip(str(part), 30) for part in item["loc"][-6:]) or "the whole"
        given = (
            ""
            if item["type"] == "missing"
            else f" (given {_clip(reprlib.repr(item['input']), 50)})"
        )
        mistakes.append(f"{path}: {_clip(item['msg'], 80)}{given}")
    return _clip("; ".join(mistakes), 280) + (f" … {count} values are wrong" if count > 4 else "")


def _infinite(answer: BaseModel) -> str | None:
    """Return the path of a float that is not finite; pydantic makes one of the string "NaN"."""
    todo: list[tuple[str, Any]] = [("", answer)]
    while todo:
        path, value = todo.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return _clip(path.lstrip("."), 200)
        if isinstance(value, BaseModel):
            value = {**value.__dict__, **(value.__pydantic_extra__ or {})}
        if isinstance(value, list | tuple | set | frozenset):
            value = dict(enumerate(value))
        if isinstance(value, Mapping):
            todo += [(f"{path}.{_clip(str(key), 30)}", item) for key, item in value.items()]
    return None
