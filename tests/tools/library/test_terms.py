"""The terms that a text is indexed by, in any script."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.library.terms import normalise, terms_of


def test_a_long_word_is_no_word() -> None:
    assert terms_of("a" * 200 + " ferry") == ["ferri"]


@given(st.text(max_size=80))
def test_any_text_can_be_indexed(text: str) -> None:
    prepared = normalise(text)
    prepared.encode("utf-8")
    assert terms_of(text) == terms_of(text)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_plain_letters_stay_as_they_are(text: str) -> None:
    assert normalise(text) == text
