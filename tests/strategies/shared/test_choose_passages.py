"""Choosing passages: what fits nothing first, then words, names, turns and shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.text import Span
from deepdiver.strategies.shared.choose_passages import choose_passages

FILLER = "The weather was mild and the harbour lay still for the whole of that day. " * 12


def chosen(texts: list[str], wanted: list[str], most: int) -> list[str]:
    """Return the words that are chosen of each text."""
    made = choose_passages([(text, [Span(0, len(text))]) for text in texts], wanted, most)
    return [
        " ".join(span.of(text) for span in spans) for text, spans in zip(texts, made, strict=True)
    ]


def test_of_nothing_nothing_is_chosen() -> None:
    assert choose_passages([], ["owner"], 1_000) == []
    assert choose_passages([("", [Span(0, 0)])], ["owner"], 1_000) == [[]]
    assert choose_passages([("Some words.", [])], ["words"], 1_000) == [[]], "it was read already"


@pytest.mark.parametrize("wanted", [[], ["zebra"]])
def test_where_no_word_is_shared_a_text_is_read_from_its_beginning(wanted: list[str]) -> None:
    (said,) = chosen([f"It begins. {FILLER}\n\n{FILLER}"], wanted, 900)
    assert said.startswith("It begins.")


def test_the_passage_that_answers_is_found_far_down() -> None:
    (said,) = chosen(
        [f"{FILLER}\n\n{FILLER}\n\nAnna Holm owns the works.\n\n{FILLER}"], ["owns"], 950
    )
    assert "Anna Holm owns the works." in said


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    common = "The works stood by the river. " * 25
    texts = [f"{common}\n\n{common}\n\nThe works had a dispensation.\n\n{common}"]
    (said,) = chosen(texts, ["dispensation of the works"], 900)
    assert "dispensation" in said


RELEASES = [("4.0.0", 2024), ("3.9.1", 2023), ("3.9.0", 2022), ("0.4.0", 2008)]
LOG = "\n\n".join(
    f"{version} ({year}-04-26)\n==================\n\n{(f'- Removed the {name} option. ') * 20}"
    for (version, year), name in zip(RELEASES, ("alpha", "beta", "gamma", "delta"), strict=True)
)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("What was removed in 4.0?", "alpha"),
        ("What was removed in v4.0.0?", "alpha"),
        ("What did version 4 remove?", "alpha"),
        ("What was removed in the 0.x series?", "delta"),
        ("What was removed in 2008?", "delta"),
        ("What was removed in 3.9.1?", "beta"),
    ],
)
def test_what_stands_under_a_version_or_a_date_that_is_asked_about_comes_first(
    asked: str, name: str
) -> None:
    (said,) = chosen([LOG], [asked], 900)
    assert name in said


def test_a_number_that_is_no_version_names_nothing() -> None:
    (one,) = chosen([LOG], ["What was removed for 4 users?"], 900)
    (other,) = chosen([LOG], ["What was removed for users?"], 900)
    assert one == other


def test_each_problem_has_its_turn() -> None:
    owner = "Anna Holm owns the works and the yard of the works. " * 40
    text = f"{owner}\n\n{FILLER}\n\nThe fire of the mill was in March.\n\n{FILLER}"
    (said,) = chosen([text], ["who owns the works", "fire of the mill"], 2_500)
    assert "fire of the mill" in said
    assert "Anna Holm owns" in said


def test_each_text_has_its_share() -> None:
    texts = [f"{f'Anna Holm owns the works in {place}. ' * 60}" for place in ("Lund", "Porto")]
    first, second = chosen(texts, ["who owns the works in Lund"], 3_600)
    assert len(first) >= len(second) > 0


@given(
    st.lists(st.text(alphabet="ab .\n#1", max_size=300), max_size=4),
    st.lists(st.sampled_from(["a", "b a", "1.1", "zz"]), max_size=3),
    st.integers(min_value=1, max_value=2_000),
)
def test_what_is_chosen_fits_and_stands_in_its_parts(
    texts: list[str], wanted: list[str], most: int
) -> None:
    halves = [(text, [Span(0, len(text) // 2)]) for text in texts]
    made = choose_passages(halves, wanted, most)
    assert len(made) == len(texts)
    size = 0
    for (text, (part,)), spans in zip(halves, made, strict=True):
        assert spans == sorted(set(spans))
        assert all(part.start <= span.start < span.end <= part.end for span in spans)
        assert all(span.of(text) == text[span.start : span.end] for span in spans)
        size += sum(span.end - span.start for span in spans)
    assert size <= most or sum(map(len, made)) == 1
