"""The gate: what must be read from model output, what must be refused, and nothing else happens."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator

from bench.gate import Anything, Claim, Claims, claims, hostile, outcome, through_the_gate
from deepdiver.errors import AnswerFault, UnreadableAnswerError
from deepdiver.reason.parse import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_MESSAGE,
    MAX_PARTS,
    read_answer,
    thinking_in,
    without_thinking,
)
from tests.patience import PATIENCE, in_proportion

SUITE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "formats" / "json"


class Choice(BaseModel):
    """Every field has a default, so pydantic alone would accept any object."""

    move: str = "stop"
    reason: str = ""


class Picks(BaseModel):
    numbers: list[int]


class Noted(BaseModel):
    """One list, with an alias, an annotation and an option; JSON schemas have a title too."""

    title: str = ""
    parts: Annotated[list[str], Field(max_length=9)] | None = Field(default=None, alias="items")


class Pair(BaseModel):
    """Two lists: a bare list says nothing about which."""

    left: list[int] = []
    right: list[int] = []


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    weight: float | None = None


class Chosen(BaseModel):
    number: int = Field(default=0, validation_alias=AliasChoices("number", "n"))  # type: ignore[pydantic-alias]


class Fussy(BaseModel):
    """A type whose validator fails in a way that pydantic does not catch."""

    name: str

    @field_validator("name")
    @classmethod
    def known(cls, name: str) -> str:
        return {"a": "A"}[name]


class Tree(BaseModel):
    children: list[Tree] = []


class Number(RootModel[float]):
    pass


def claim(statement: str = "a", confidence: float = 0.5) -> Claim:
    return Claim(statement=statement, confidence=confidence)


def fault_of(
    text: str, answer: type[BaseModel], *, truncated: bool = False
) -> tuple[AnswerFault, str]:
    """Return the fault and message of an unreadable text; check the rules for all messages."""
    with pytest.raises(UnreadableAnswerError) as caught:
        read_answer(text, answer, truncated=truncated)
    message = str(caught.value)
    assert message.encode()
    assert len(message) <= MAX_MESSAGE
    assert "\n" not in message
    return caught.value.fault, message


A = '{"statement": "a"}'
B = '{"statement": "b"}'
DRAFT = '{"statement": "draft"}'
SCHEMA_TEXT = json.dumps(Claim.model_json_schema())

EMPTY, NO_JSON, REFUSAL = AnswerFault.EMPTY, AnswerFault.NO_JSON, AnswerFault.REFUSAL
TRUNCATED, SCHEMA, TOO_DEEP = AnswerFault.TRUNCATED, AnswerFault.SCHEMA, AnswerFault.TOO_DEEP

# --- what cannot be read: text, type, fault, and what the model is told
REFUSED: list[tuple[str, type[BaseModel], AnswerFault, str]] = [
    # nothing there
    ("", Claim, EMPTY, "empty"),
    (" \r\n\t\ufeff\n", Claim, EMPTY, "empty"),
    ("```json\n```", Claim, EMPTY, "statement, confidence"),
    ("<think>I wonder\n" + DRAFT, Claim, EMPTY, "thinking"),
    (f"<think>{DRAFT}</think>\n", Claim, EMPTY, "thinking"),
    (f"so {DRAFT} it is</think>", Claim, EMPTY, "thinking"),
    (f"```thinking\n{DRAFT}\n```", Claim, EMPTY, "thinking"),
    (f"```thinking\n{DRAFT}\n", Claim, EMPTY, "thinking"),
    # no JSON
    ("The answer is Paris.", Claim, NO_JSON, "no JSON"),
    ("According to [1], {} and [2, 3].", Claims, NO_JSON, "no JSON"),
    ("It follows from [1] and [2].", Picks, NO_JSON, "no JSON"),
    ("Move {} nowhere.", Choice, NO_JSON, "no JSON"),
    ('"statement": "a"', Claim, NO_JSON, "no JSON"),
    ("The interval [0, 1) is half open.", Claim, NO_JSON, "no JSON"),
    ('{"statement": <string>}', Claim, NO_JSON, "<string>"),
    ('{"statement": ...}', Claim, NO_JSON, "cannot be read"),
    ('{"numbers": [1 500]}', Picks, NO_JSON, "1 500"),
    ('{"statement": "a", "confidence": [1, 2}', Claim, NO_JSON, "[1, 2}"),
    ('```json\n{"claims": [{"statement": "a"}\n```\nDone.', Claims, NO_JSON, "cannot be read"),
    ('[{"statement": "a"}, {"statement": "b"} oops]', Claim, NO_JSON, "oops"),
    # refusals
    ("I'm sorry, but I can't help with that.", Claim, REFUSAL, "refusal"),
    ("I’m sorry, I can’t.", Claim, REFUSAL, "refusal"),
    ("I cannot assist with this request [1].", Claim, REFUSAL, "refusal"),
    ("I am unable to provide information about a private person.", Claim, REFUSAL, "refusal"),
    ("I must decline to answer.", Claim, REFUSAL, "refusal"),
    ('"I apologize, but I will not create that. I won\'t."', Claim, REFUSAL, "refusal"),
    ("<think>They ask for harm.</think>I can't help with that.", Claim, REFUSAL, "refusal"),
    ("I cannot find the date in the sources.", Claim, NO_JSON, "no JSON"),
    # the text stops inside JSON
    ('{"statement": "a', Claim, TRUNCATED, "stops"),
    ('{"statement": "a }] b', Claim, TRUNCATED, "stops"),
    ('{"statement": "a\\', Claim, TRUNCATED, "stops"),
    ('{"statement":', Claim, TRUNCATED, "stops"),
    ("[1, 2, ", Picks, TRUNCATED, "stops"),
    (
        '```json\n{"claims": [{"statement": "a"}, {"statement": "b"}, {"sta',
        Claims,
        TRUNCATED,
        "stops",
    ),
    ('{"claims": [{"statement": "a"}, {"statement": "b"}, {"sta', Claim, TRUNCATED, "stops"),
    ("[{'statement': 'a'}, {'statement': 'b'}, {'sta", Claim, TRUNCATED, "stops"),
    (f"[{A}", Claim, TRUNCATED, "stops"),
    ('See [1 for more. {"statement": "a', Claim, TRUNCATED, "stops"),
    # JSON that does not fit
    ('{"confidence": 1}', Claim, SCHEMA, "statement: Field required"),
    (
        '{"statement": 5, "confidence": "high"}',
        Claim,
        SCHEMA,
        "confidence: Input should be a valid number",
    ),
    (
        '{"claims": [{"statement": 1}, {"x": 2}]}',
        Claims,
        SCHEMA,
        "claims.1.statement: Field required",
    ),
    ("null", Claim, SCHEMA, "given None"),
    ("42", Claim, SCHEMA, "given 42"),
    ('["a", "b"]', Claim, SCHEMA, "statement, confidence"),
    (f"[{A}, {B}]", Claim, SCHEMA, "Claim"),
    (f'{{"claims": [{A}, {B}]}}', Claim, SCHEMA, "statement"),
    (f'{{"a": {{"b": {A}}}}}', Claim, SCHEMA, "statement"),
    ("[1, 2]", Pair, SCHEMA, "left, right"),
    ('{"steps": 3}', Choice, SCHEMA, "no key"),
    (SCHEMA_TEXT, Claim, SCHEMA, "is the schema"),
    (json.dumps(Noted.model_json_schema()), Noted, SCHEMA, "is the schema"),
    ('{"name": "b"}', Fussy, SCHEMA, "KeyError"),
    ('{"statement": "a", "statement": "b"}', Claim, SCHEMA, "'statement' is given twice"),
    ("{'statement': 'a', 'statement': 'b'}", Claim, SCHEMA, "'statement' is given twice"),
    ('{"x\\ud800": 1, "x\\ud801": 2}', Anything, SCHEMA, "given twice"),
    # numbers that are none
    ('{"statement": "a", "confidence": NaN}', Claim, SCHEMA, "NaN is not a finite number"),
    ('{"statement": "a", "confidence": -Infinity}', Claim, SCHEMA, "-Infinity is not"),
    ("{'statement': 'a', 'confidence': NaN}", Claim, SCHEMA, "NaN is not"),
    ('{"statement": "a", "confidence": 1e999}', Claim, SCHEMA, "1e999 is not"),
    ('{"statement": "a", "confidence": "NaN"}', Claim, SCHEMA, "confidence must be a finite"),
    (
        '{"claims": [{"statement": "a", "confidence": "inf"}]}',
        Claims,
        SCHEMA,
        "claims.0.confidence must",
    ),
    ('{"weight": "-Infinity"}', Loose, SCHEMA, "weight must be a finite"),
    ("NaN", Number, SCHEMA, "NaN is not"),
    (f'{{"numbers": [{"9" * 5_000}]}}', Picks, SCHEMA, "5000 digits"),
    (f'{{"numbers": ["{"9" * 5_000}"]}}', Picks, SCHEMA, "numbers.0"),
    (f'{{"confidence": {"9" * MAX_DIGITS}, "statement": "a"}}', Claim, SCHEMA, "confidence"),
    # depth
    ("[" * 100_000, Claim, TOO_DEEP, str(MAX_DEPTH)),
    ('{"a":' * 100_000, Claim, TOO_DEEP, str(MAX_DEPTH)),
    ("[" * 100_000 + "]" * 100_000, Anything, TOO_DEEP, str(MAX_DEPTH)),
    ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), Anything, TOO_DEEP, str(MAX_DEPTH)),
    ('{"children": [' * 40 + "]}" * 40, Tree, TOO_DEEP, str(MAX_DEPTH)),
    ('"' + "[" * 100 + "]" * 100 + '"', Claim, TOO_DEEP, str(MAX_DEPTH)),
    # floods
    ("[{}] " * MAX_PARTS, Claim, SCHEMA, "brackets"),
    ("[" + "1," * MAX_PARTS + "1, 1]", Anything, SCHEMA, "values"),
]


@pytest.mark.parametrize(
    ("text", "answer", "fault", "told"), REFUSED, ids=lambda value: ascii(value)[:60]
)
def test_what_cannot_be_read_says_why(
    text: str, answer: type[BaseModel], fault: AnswerFault, told: str
) -> None:
    found, message = fault_of(text, answer)
    assert (found, told in message) == (fault, True), message


# --- what must be read: text, and the answer
READ: list[tuple[str, BaseModel]] = [
    # as asked
    (A, claim()),
    ('{"statement": "a", "confidence": "0.7"}', claim("a", 0.7)),
    ('\ufeff{"statement":\r\n"a"}\r\n', claim()),
    ('{"statement": "line\nbreak,\ttab,\x00 and \x07"}', claim("line\nbreak,\ttab,\x00 and \x07")),
    ('{"statement": "a\\u0000"}', claim("a\x00")),
    # thinking
    (f"<think>Perhaps {DRAFT}?</think>\n{A}", claim()),
    (f"Perhaps {DRAFT}? It's 5\" long.</think>\n{A}", claim()),
    (f"<think>a <think>b {DRAFT}</think> c {DRAFT}</think>{A}", claim()),
    (f"<think>I may not use <think> tags. {DRAFT}</think>{A}", claim()),
    (f"<think>He wrote </think> himself. {DRAFT}</think>{A}", claim()),
    (f'<THINKING depth="3">{DRAFT}</Thinking >{A}', claim()),
    (
        f"<reasoning>{DRAFT}</reasoning><thought>{DRAFT}</thought>{A}<thoughts>{DRAFT}</thoughts>",
        claim(),
    ),
    (f"{A}\nI left out the <think> tag, as asked. {DRAFT}", claim()),
    (f"```thinking\n{DRAFT}\n```\n```json\n{A}\n```", claim()),
    (f"~~~ reasoning\n{DRAFT}\n~~~\n{A}", claim()),
    (f"```thinking\n{DRAFT}\n```json\n{A}\n```", claim()),
    (f'{{"statement": <think>{DRAFT}</think> "a"}}', claim()),
    (f'Format: {{"statement": "...\n</think>\n{A}', claim()),
    # tags that are content
    ('{"statement": "use <think> and </think>"}', claim("use <think> and </think>")),
    ('<think>x</think>{"statement": "a </think> b"}', claim("a </think> b")),
    ('Here:\n{\n  "statement": "<reasoning>"\n}\n', claim("<reasoning>")),
    ('{"statement": "one\n<think> two"}', claim("one\n<think> two")),
    ('{"statement": "```thinking"}', claim("```thinking")),
    # fences
    (f"```json\n{A}\n```", claim()),
    (f"```\n{A}\n```", claim()),
    (f"```json\n{A}", claim()),
    (f"~~~json\r\n{A}\r\n~~~", claim()),
    (f"```{A}```", claim()),
    (f"  ```JSON\n  {A}\n  ```", claim()),
    ('{"statement": "run ```make``` now"}', claim("run ```make``` now")),
    (f'```json\n{{"statement": [1,\n```\nAgain:\n```json\n{A}\n```', claim()),
    # prose around
    (f"Sure! Here it is: {A} Hope it helps.", claim()),
    (f"As [1] and {{it}} say ({{}}): {A} See [2], [3] and {{}}.", claim()),
    (f"It's 5\" (see [2) and }} then: {A}", claim()),
    (f"[Note: {A}]", claim()),
    (f"{{{A}}}", claim()),
    ("[1] " * 500 + A + " [2]" * 500, claim()),
    ("The answer [sic: " + A, claim()),
    # several blocks
    (f"{A}\nNo, rather:\n{B}", claim("b")),
    (f"{A}\nNo, rather:\n{B}\n{SCHEMA_TEXT}", claim("b")),
    (f"{SCHEMA_TEXT}\n{A}", claim()),
    (f'{A} {{"statement": 5}}', claim()),
    (f'{A}\nNo, rather: {{"statement": "b', claim()),
    (f"{A} " + "[" * 100 + "]" * 100, claim()),
    (f"{A} " + "[" * 100, claim()),
    ('{"numbers": [3]} as in [1].', Picks(numbers=[3])),
    ('{"move": "go"} and {}', Choice(move="go")),
    # wrapped
    (f'{{"answer": {A}}}', claim()),
    (f'{{"Claim": {A}}}', claim()),
    (f"[{A}]", claim()),
    (f'{{"name": "Claim", "arguments": {A}}}', claim()),
    (f'{{"name": "Claim", "parameters": {A}}}', claim()),
    (json.dumps(A), claim()),
    (json.dumps(f"```json\n{A}\n```"), claim()),
    (json.dumps({"answer": A}), claim()),
    (json.dumps({"claims": f"[{A}]"}), Claims(claims=[claim()])),
    (f"{A} {{\"answer\": {B}}}", claim()),
    # a bare list
    (f"[{A}, {B}]", Claims(claims=[claim(), claim("b")])),
    (f"Here they are:\n[{A}]", Claims(claims=[claim()])),
    (f'{{"results": [{A}]}}', Claims(claims=[claim()])),
    (f'[{{"claims": [{A}]}}]', Claims(claims=[claim()])),
    ('["a", "b"]', Noted(items=["a", "b"])),
    ("[1, 2]", Picks(numbers=[1, 2])),
    ("```json\n[]\n```", Claims(claims=[])),
    ("{}", Choice()),
    ("{}", Loose()),
    # nearly JSON
    ("{'statement': 'it\\'s', 'confidence': 1,}", claim("it's", 1)),
    ("{'statement': 'it's', 'confidence': 1}", claim("it's", 1)),
    (
        '{"weight": None, "is": True, "not": False}',
        Loose.model_validate({"weight": None, "is": True, "not": False}),
    ),
    ('{statement: "a", // why\n confidence: 0.5, # so\n /* or * not */}', claim()),
    ("{“statement”: “he said \"a\"”}", claim('he said "a"')),
    ('{"statement": "he said "a" to me"}', claim('he said "a" to me')),
    ('{"statement": "a"\n "confidence": 0.5\n}', claim()),
    ('{"statement": "C:\\dir \\_ \\u12", "confidence": 1}', claim("C:\\dir \\_ \\u12", 1)),
    ('{"claims": [{"statement": "a"} {"statement": "b"},]}', Claims(claims=[claim(), claim("b")])),
    ("{'statement': 'say \\\"a\\\"'}", claim('say "a"')),
    ('{"statement":\u00a0"a"}', claim()),
    ('{"statement": "a", "statement": "a"}', claim()),
    # numbers, surrogates, scalars
    (f'{{"numbers": [{"9" * MAX_DIGITS}]}}', Picks(numbers=[int("9" * MAX_DIGITS)])),
    ('{"statement": "\\ud800\\ud83d\\ude00\\udc00"}', claim("\ufffd😀\ufffd")),
    ('{"statement": "\ud800\ud83d\ude00\udc00"}', claim("\ufffd😀\ufffd")),
    ('{"\\udfff": 1, "weight": 2}', Loose.model_validate({"\ufffd": 1, "weight": 2})),
    ("0.25", Number(0.25)),
    ("```\n0.25\n```", Number(0.25)),
    ('"0.25"', Number(0.25)),
    ('""', Anything("")),
    ("[" * MAX_DEPTH + "]" * MAX_DEPTH, Anything(json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH))),
    ('{"n": 3}', Chosen(number=3)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer"), READ, ids=lambda value: ascii(value)[:60])
def test_what_must_be_read(text: str, answer: BaseModel) -> None:
    read = read_answer(text, type(answer))
    assert read == answer
    json.dumps(read.model_dump(), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    "text", ["", A, f"{A} and more", '{"statement": "a', "<think>", "I'm sorry, I can't."]
)
def test_a_cut_output_is_never_read(text: str) -> None:
    assert fault_of(text, Claim, truncated=True)[0] is TRUNCATED


def test_the_message_names_the_block_most_like_the_answer() -> None:
    text = f'{SCHEMA_TEXT} {{"statement": "a", "confidence": "high"}} as in ["x"] and {{"note": 1}}'
    assert "confidence: Input should be a valid number" in fault_of(text, Claim)[1]


def test_of_equals_the_last_is_complained_of() -> None:
    assert "'second'" in fault_of('{"confidence": "first"} {"confidence": "second"}', Claim)[1]


def test_a_message_stays_short_and_names_keys_however_large_the_input() -> None:
    class Wide(BaseModel):
        rows: dict[str, int]
        other: list[int]

    rows = {"k" * 5_000 + str(number): "x" * 5_000 for number in range(5)}
    message = fault_of(json.dumps({"rows": rows, "other": ["y"] * 3}), Wide)[1]
    assert "rows." in message
    assert "8 values are wrong" in message
    assert message.endswith("with the keys rows, other that follows the schema.")


def test_a_flood_of_mistakes_is_counted_not_listed() -> None:
    with in_proportion():
        message = fault_of(json.dumps({"numbers": ["x"] * 40_000}), Picks)[1]
    assert "40000 values are wrong" in message


def test_the_cause_of_a_failing_validator_is_kept() -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        read_answer('{"name": "b"}', Fussy)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_deep_call_stack_is_no_reason_to_crash() -> None:
    def dive(depth: int) -> Any:
        return dive(depth - 1) if depth else outcome('{"a":' * 900, Claim)

    assert dive(sys.getrecursionlimit() // 3) == "too_deep"


@contextmanager
def unlimited_integers() -> Iterator[None]:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def test_long_integers_cost_nothing_even_where_python_would_read_them() -> None:
    with in_proportion(), unlimited_integers():
        assert outcome(f'{{"numbers": [{"9" * 20_000_000}]}}', Picks) == "schema"
        assert outcome(f'{{"numbers": [{"9" * 20_000_000}', Picks) == "truncated"


# --- prose

PROSE: list[tuple[str, str, str]] = [
    ("", "", ""),
    ("Plain.", "Plain.", ""),
    ("<think>why</think>\nBecause.", "Because.", "why"),
    ("<think>why", "", "why"),
    ("why</think>Because.", "Because.", "why"),
    ("A <think>b</think>c <THINK>d</THINK>e", "A c e", "bd"),
    ("<think>a<think>b</think>c</think>d", "d", "a<think>b</think>c"),
    ("<think>a<think>b</think>c", "c", "a<think>b"),
    ("a</think>b</think>c", "c", "ab"),
    ("x<think>a</think>b</think>c", "c", "xab"),
    ('<thinking budget="9">a</thinking>b', "b", "a"),
    ("```thinking\na\n```\nb", "b", "a"),
    ("~~~thought\r\na\r\n~~~\r\nb", "b", "a"),
    ("```thinking\na\n```python\nb\n```", "```python\nb\n```", "a"),
    ("```thinking\na", "", "a"),
    ("Say ```thinking aloud``` or `<b>`.", "Say ```thinking aloud``` or `<b>`.", ""),
    ('The "<think>" tag and \\<think> too.', 'The "<think>" tag and \\<think> too.', ""),
    ("a < b, <thinker>, <think/>, <think />", "a < b, <thinker>, <think/>, <think />", ""),
    ("\ud800 <think>\udfff</think>", "\ufffd", "\ufffd"),
]


@pytest.mark.parametrize(("text", "shown", "thought"), PROSE, ids=lambda value: ascii(value)[:40])
def test_prose_without_its_thinking(text: str, shown: str, thought: str) -> None:
    assert (without_thinking(text), thinking_in(text)) == (shown, thought)


@given(
    st.lists(
        st.sampled_from(
            ["<think>", "</think>", "a", '"', "\\", "\n", "```thinking\n", "```\n", "{"]
        ),
        max_size=12,
    )
)
def test_splitting_loses_nothing_but_marks(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert without_thinking(text).count("a") + thinking_in(text).count("a") == text.count("a")


# --- JSON as others test it


def suite(kind: str) -> list[Path]:
    return sorted(SUITE.glob(f"{kind}_*.json"))


needs_suite = pytest.mark.skipif(not suite("y"), reason=f"the JSON test suite is not at {SUITE}")


@needs_suite
def test_the_suite_is_whole() -> None:
    assert (len(suite("y")), len(suite("n")), len(suite("i"))) == (95, 188, 35)


@needs_suite
@pytest.mark.parametrize("path", suite("y"), ids=lambda path: path.stem)
def test_valid_json_is_read(path: Path) -> None:
    text = path.read_bytes().decode()
    if path.stem == "y_object_duplicated_key":
        assert fault_of(text, Anything)[0] is SCHEMA
    else:
        assert read_answer(text, Anything).root == json.loads(text)


@needs_suite
@pytest.mark.parametrize("path", suite("n") + suite("i"), ids=lambda path: path.stem)
def test_invalid_json_is_read_or_refused(path: Path) -> None:
    for codec, errors in (
        ("utf-8", "surrogateescape"),
        ("utf-16", "replace"),
        ("latin-1", "strict"),
    ):
        outcome(path.read_bytes().decode(codec, errors), Anything)


# --- whatever comes

HOSTILE = functools.cache(hostile)
"""The texts, made when the first is wanted: they take seconds, and their names do not."""


@pytest.mark.slow
@pytest.mark.parametrize("name", hostile(1_000), ids=ascii)
def test_hostile_text_is_read_or_refused_in_time(name: str) -> None:
    """In time in proportion; bench/gate.py says how fast it is."""
    text = HOSTILE()[name]
    with in_proportion():
        outcome(text, Claims)
        without_thinking(text)


@pytest.mark.slow
def test_generated_outputs_are_read_or_refused() -> None:
    outcomes, longest, text = through_the_gate(600)  # bench/gate.py sends 10,000
    assert longest < PATIENCE, ascii(text)
    assert {"read", *(fault.value for fault in AnswerFault)} == set(outcomes), (
        "the generator reaches every outcome"
    )


LINES = st.text(st.sampled_from("ab 1.,:;!?()/#*-_'\"é"), max_size=12) | st.sampled_from(
    ["See [1].", "{}", "[ ] todo", '5"']
)
BEFORE = st.sampled_from(
    [
        "{0}\n",
        "<think>{0}</think>",
        "<Thinking>\n{0}\n</Thinking>\n",
        "```thinking\n{0}\n```\n",
        "{0}</think>\n",
    ]
)
AROUND = st.sampled_from(
    ["{0}", "```json\n{0}\n```", "```\n{0}", "~~~\n{0}\n~~~", "Answer: {0} (as asked)", "{{{0}}}"]
)


@given(claims(), BEFORE, LINES, AROUND, LINES, st.sampled_from([None, 1]), st.booleans())
@example(
    Claims(claims=[claim('"}] </think> ```\n{\\')]),
    "{0}</think>\n",
    '5"',
    "```json\n{0}\n```",
    "[1]",
    1,
    True,
)
@settings(max_examples=300)
def test_an_answer_comes_through_whatever_stands_around_it(
    answer: Claims,
    before: str,
    prefix: str,
    around: str,
    suffix: str,
    indent: int | None,
    escaped: bool,
) -> None:
    dumped = json.dumps(answer.model_dump(), indent=indent, ensure_ascii=escaped)
    text = before.format(prefix) + around.format(dumped) + "\n" + suffix
    assert read_answer(text, Claims) == answer


@given(claims())
def test_pythons_spelling_comes_through(answer: Claims) -> None:
    plain = answer.model_copy(
        update={
            "claims": [
                claim("".join(filter(str.isalnum, c.statement)), c.confidence)
                for c in answer.claims
            ]
        }
    )
    assert read_answer(f"Result: {plain.model_dump()}", Claims) == plain


@given(claims().filter(lambda answer: answer.claims), st.data())
def test_a_beginning_is_never_taken_for_the_whole(answer: Claims, data: st.DataObject) -> None:
    dumped = answer.model_dump_json()
    text = dumped[: data.draw(st.integers(1, len(dumped) - 1))]
    assert outcome(text, Claims) == "truncated"


@pytest.mark.parametrize(
    "tag", ["<think>", "</think>", "</think><think>", "<think>x</think>y", "```thinking"]
)
@pytest.mark.parametrize(("before", "behind"), [("", ""), ("it ", " was"), ("", " [1] {}")])
def test_a_tag_in_a_string_that_has_no_end_is_no_thinking(
    tag: str, before: str, behind: str
) -> None:
    text = f'\n{{"claims": [{{"statement": "{before}{tag}{behind}'
    assert outcome(text, Claims) == "truncated"


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_is_read_or_refused(text: str) -> None:
    outcome(text, Anything)
    (without_thinking(text) + thinking_in(text)).encode()
