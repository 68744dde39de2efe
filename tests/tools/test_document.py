"""The text of a file: frozen, closed, and valid as JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core.record import Mark
from deepdiver.tools.document import Document


def test_a_text_and_its_format_are_needed() -> None:
    for given_ in ({}, {"text": "x"}, {"format": "html"}):
        with pytest.raises(ValidationError):
            Document.model_validate(given_)


def test_it_is_closed_and_frozen() -> None:
    with pytest.raises(ValidationError, match="surprise"):
        Document.model_validate({"text": "x", "format": "html", "surprise": 1})
    with pytest.raises(ValidationError, match="frozen"):
        Document(text="x", format="html").__setattr__("text", "y")


def test_what_a_format_does_not_tell_is_empty() -> None:
    told = Document(text="x", format="text").model_dump(exclude={"text", "format"})
    assert set(told.values()) == {"", ()}


@given(st.text(), st.lists(st.tuples(st.integers(0, 99), st.text()), max_size=4))
def test_it_comes_back_from_json_as_it_was(text: str, parts: list[tuple[int, str]]) -> None:
    marks = tuple(Mark(start=start, kind="page", label=label) for start, label in sorted(parts))
    document = Document(
        text=text, format="pdf", marks=marks, links=("https://example.org",), notes=("page 3",)
    )
    assert Document.model_validate_json(document.model_dump_json()) == document


def test_every_field_says_what_it_is() -> None:
    assert all(field.description for field in Document.model_fields.values())
