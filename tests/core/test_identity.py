"""Names made of content: one JSON text for a value, one digest for a text, one id for a thing."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.identity import canonical, content_id, digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: Any) -> Any:
    """Return the same JSON value with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON)
def test_canonical_json_is_json_and_free_of_order(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(shuffled(value)) == text


@given(JSON, JSON)
def test_canonical_json_tells_values_apart(one: Any, other: Any) -> None:
    if canonical(one) == canonical(other):
        assert one == other


def test_canonical_json_has_one_form() -> None:
    assert canonical({"b": [1, "ä"], "a": None}) == '{"a":null,"b":[1,"ä"]}'


@given(st.text(), st.text())
def test_a_digest_is_the_texts_own(one: str, other: str) -> None:
    assert len(digest(one)) == 64
    assert set(digest(one)) <= set("0123456789abcdef")
    assert (digest(one) == digest(other)) == (one == other)


def test_a_digest_is_sha_256() -> None:
    assert digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest("ä") == "33e6d73fee82904c8d7afb78de1154d1e8dc2a0edb08120e63df5b9385c2d9cc"


@given(st.text(st.characters(exclude_categories=())))
def test_lone_surrogates_are_digested_as_question_marks(text: str) -> None:
    # The store saves them so, and looks a text up by the digest of what it saved.
    assert digest(text) == digest(text.encode("utf-8", "replace").decode("utf-8"))


def test_a_surrogate_neither_raises_nor_moves_the_rest() -> None:
    assert digest("a\ud800b") == digest("a?b")
    assert content_id("f", "a\udfff") == content_id("f", "a?")


@given(JSON, JSON)
def test_ids_are_the_content(one: Any, other: Any) -> None:
    assert content_id("f", one, other) == content_id("f", shuffled(one), shuffled(other))
    assert content_id("f", one, other) != content_id("h", one, other)
    assert content_id("f", one) != content_id("f", one, one)


def test_ids_keep_parts_apart() -> None:
    assert content_id("f", "ab", "c") != content_id("f", "a", "bc")
    assert content_id("f", ["a", "b"]) != content_id("f", "a", "b")


def test_ids_are_short_and_carry_their_kind() -> None:
    prefix, _, rest = content_id("f", "x").partition("_")
    assert prefix == "f"
    assert len(rest) == 16


def test_ids_do_not_depend_on_the_process() -> None:
    code = (
        "from deepdiver.core.identity import content_id as c; print(c('f', {'b': 1, 'a': ['ä']}, "
        "'x'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert seen == {content_id("f", {"a": ["ä"], "b": 1}, "x")}
