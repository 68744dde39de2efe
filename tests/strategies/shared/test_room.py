"""How much one task is shown: it follows the model's context, and a free reasoner's own limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdiver.core.numbering import show_numbered
from deepdiver.core.settings import PROMPT_TOKENS, TOKEN_BYTES, Settings
from deepdiver.core.text import Span, size_of
from deepdiver.strategies.shared.room import FREE, Room, room_of
from tests.strategies.rig import PaidReasoner, Rig


def test_a_context_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="context_tokens"):
        Settings(context_tokens=1_000)


def paid(tmp_path: Path, **settings: Any) -> Room:
    return room_of(Rig(tmp_path, PaidReasoner(), **settings).session().deps)


def test_a_reasoner_that_costs_nothing_keeps_its_own_limits(tmp_path: Path) -> None:
    assert room_of(Rig(tmp_path, context_tokens=2_000).session().deps) is FREE


def test_a_model_is_shown_more_the_more_it_can_read(tmp_path: Path) -> None:
    small = paid(tmp_path / "a", context_tokens=8_000)
    usual = paid(tmp_path / "b")
    large = paid(tmp_path / "c", context_tokens=1_000_000)
    for name in ("texts", "findings", "known", "summary"):
        assert getattr(small, name) < getattr(usual, name) < getattr(large, name)
        assert getattr(usual, name) > getattr(FREE, name), "a model is shown more"
    assert usual.most_findings is usual.most_lines is None, "as many as fit"


def test_what_is_read_whole_fits_the_desk_of_the_writer(tmp_path: Path) -> None:
    text = "The committee met in March, and gave testing a third of the budget. " * 2_300
    assert size_of(text) <= Settings().reading_tokens * 4
    assert size_of(show_numbered(text, [Span(0, len(text))])) <= paid(tmp_path).texts


@given(
    st.none() | st.integers(min_value=2_000, max_value=2_000_000),
    st.integers(min_value=64, max_value=200_000),
)
def test_a_prompt_leaves_room_for_the_answer_and_keeps_half(
    context: int | None, answer: int
) -> None:
    settings = Settings(context_tokens=context, max_output_tokens=answer)
    assert settings.prompt_bytes == settings.prompt_tokens * TOKEN_BYTES
    if context is None:
        assert settings.prompt_tokens == PROMPT_TOKENS
    else:
        assert context / 2 <= settings.prompt_tokens < context
        assert answer > context // 2 or settings.prompt_tokens + answer == context
