"""Choosing passages: what fits nothing first, then words, names, turns and shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.headings import marked_headings
from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.strategies.shared.choose_passages import SECTION_CHARS, Unread, choose_passages

FILLER = "The weather was mild and the harbour lay still for the whole of that day. " * 12


def chosen(texts: list[str], wanted: list[str], most: int) -> list[str]:
    """Return the words that are chosen of each text."""
    made = choose_passages([Unread(text, [Span(0, len(text))]) for text in texts], wanted, most)
    return [
        " ".join(span.of(text) for span in spans) for text, spans in zip(texts, made, strict=True)
    ]


def test_of_nothing_nothing_is_chosen() -> None:
    assert choose_passages([], ["owner"], 1_000) == []
    assert choose_passages([Unread("", [Span(0, 0)])], ["owner"], 1_000) == [[]]
    read = Unread("Some words.", [], [(Span(0, 11), 0)])
    assert choose_passages([read], ["words"], 1_000) == [[]], "it was read already"


def test_headings_that_a_text_does_not_show_count_where_they_are_told() -> None:
    """The section of a setting, with its exception, is read whole if a passage of it was found."""
    text = (
        f"Retries\n\n{FILLER[:300]}\n\nIt waits for ten seconds. {FILLER[:300]}\n\nPort\n\n{FILLER}"
    )
    place = Span(text.index("It waits"), text.index("It waits") + 24)
    told = marked_headings(
        Mark(start=text.index(line), kind="heading", label=line) for line in ("Retries", "Port")
    )
    ways = [
        choose_passages([Unread(text, [Span(0, len(text))], [(place, 0)], heads)], ["retries"], 100)
        for heads in ((), told)
    ]
    said = [" ".join(span.of(text) for span in spans) for (spans,) in ways]
    assert "Retries" in said[1]
    assert "Port" not in said[1]
    assert "Port" in said[0] or "Retries" not in said[0]


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


def test_what_the_search_has_found_comes_first_the_best_of_every_query_before_others() -> None:
    text = "\n\n".join(f"# Part {n}\n\nMark {n}. {FILLER}" for n in range(6))
    places = [Span(text.index(f"Mark {n}."), text.index(f"Mark {n}.") + 7) for n in range(6)]

    def told(found: list[tuple[Span, int]], most: int) -> list[int]:
        unread = Unread(text, [Span(0, len(text))], found)
        [spans] = choose_passages([unread], ["Mark 0 part 0"], most)
        said = " ".join(span.of(text) for span in spans)
        return [n for n in range(6) if f"Mark {n}." in said]

    one = len(FILLER) + 40
    assert told([], one) == [0], "without a search, words decide"
    assert told([(places[3], 0), (places[5], 1)], one) == [3]
    assert told([(places[3], 1), (places[5], 0)], one) == [5]
    assert told([(places[3], 0), (places[5], 0)], 2 * one) == [3, 5]
    assert told([(places[3], 0)], 2 * one) == [0, 3], "words fill what is left"


def test_a_short_section_is_read_whole_if_a_passage_of_it_was_found() -> None:
    rule, exception = f"The rule is this. {FILLER}", "But not on Sundays."
    filling = FILLER * (SECTION_CHARS // len(FILLER) + 1)
    for text, whole in ((f"{rule}{exception}", True), (f"{rule}{filling}{exception}", False)):
        found = [(Span(0, 17), 0)]
        [spans] = choose_passages([Unread(text, [Span(0, len(text))], found)], [], 4_000)
        assert (exception in " ".join(span.of(text) for span in spans)) is whole


@given(
    st.lists(st.text(alphabet="ab .\n#1", max_size=300), max_size=4),
    st.lists(st.sampled_from(["a", "b a", "1.1", "zz"]), max_size=3),
    st.integers(min_value=1, max_value=2_000),
    st.booleans(),
)
def test_what_is_chosen_fits_and_stands_in_its_parts(
    texts: list[str], wanted: list[str], most: int, found: bool
) -> None:
    halves = [
        Unread(text, [Span(0, len(text) // 2)], [(Span(0, len(text) // 3), at)] if found else [])
        for at, text in enumerate(texts)
    ]
    made = choose_passages(halves, wanted, most)
    assert len(made) == len(texts)
    size = 0
    for (text, (part,), *_), spans in zip(halves, made, strict=True):
        assert spans == sorted(set(spans))
        assert all(part.start <= span.start < span.end <= part.end for span in spans)
        assert all(span.of(text) == text[span.start : span.end] for span in spans)
        size += sum(span.end - span.start for span in spans)
    assert size <= most or sum(map(len, made)) == 1
