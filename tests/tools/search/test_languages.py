"""Languages by their codes and names."""

from __future__ import annotations

import pytest

from deepdiver.core.settings import Filters
from deepdiver.tools.search.languages import LANGUAGES, code_of


@pytest.mark.parametrize(
    ("spelt", "code"),
    [
        ("English", "en"),
        ("eng", "en"),
        (" GERMAN ", "de"),
        ("ger", "de"),
        ("Chinese", "zh"),
        ("jpn", "ja"),
    ],
)
def test_a_language_by_name_or_code(spelt: str, code: str) -> None:
    assert code_of(spelt) == code


@pytest.mark.parametrize("spelt", [None, "", "und", "Klingon", "en"])
def test_what_is_not_known_is_not_guessed(spelt: str | None) -> None:
    assert code_of(spelt) == ""


def test_the_table_has_no_slip() -> None:
    assert len(LANGUAGES) == 63
    for code, language in LANGUAGES.items():
        assert code == language.code == Filters(language=code).language
        assert language.name.isalpha()
        assert language.name.islower()
        assert len(language.marc) == 3
        assert code_of(language.name) == code_of(language.marc) == code
    for part in ("name", "marc"):
        assert len({getattr(language, part) for language in LANGUAGES.values()}) == len(LANGUAGES)
