from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core.record import SourceKind
from deepdiver.tools.hit import Hit, whole


def test_a_hit_needs_an_address_and_nothing_else() -> None:
    with pytest.raises(ValidationError):
        Hit.model_validate({})
    hit = Hit(url="https://example.org")
    assert (hit.kind, hit.start, hit.end) == (SourceKind.PAGE, 0, 0)
    assert Hit.model_validate(hit.model_dump(mode="json")) == hit


def test_a_hit_is_closed_and_frozen() -> None:
    with pytest.raises(ValidationError, match="extra"):
        Hit.model_validate({"url": "u", "score": 1.0})
    with pytest.raises(ValidationError, match="frozen"):
        Hit(url="u").url = "v"  # type: ignore[misc]


def test_every_field_is_explained() -> None:
    assert all(field.description for field in Hit.model_fields.values())


@given(st.text(st.characters(codec=None, categories=["Cs", "L", "So"])))
def test_a_whole_text_can_be_saved_and_keeps_its_offsets(text: str) -> None:
    clean = whole(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert len(clean) == len(text)
    assert whole(clean) == clean
    assert all(new in (old, "?") for old, new in zip(text, clean, strict=True))
