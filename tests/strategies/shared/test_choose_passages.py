"""Choosing passages: what fits nothing first, then words, names, turns and shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.headings import marked_headings
from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.strategies.shared.choose_passages import (
    ENOUGH,
    SECTION_CHARS,
    Unread,
    choose_passages,
)

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


def chosen_sparingly(texts: list[str], wanted: list[str], most: int = 100_000) -> list[str]:
    """Return the words that are chosen of each text where something is left for later."""
    unread = [Unread(text, [Span(0, len(text))]) for text in texts]
    made = choose_passages(unread, wanted, most, sparing=True)
    return [
        " ".join(span.of(text) for span in spans) for text, spans in zip(texts, made, strict=True)
    ]


def pages_on(matter: str, many: int) -> list[str]:
    """Return pages of three passages of which each has the words of a matter, and no two agree."""
    return [
        "\n\n".join(
            f"{matter} {' '.join(f'w{page}x{part}n{word}.' for word in range(90))}"
            for part in range(3)
        )
        for page in range(many)
    ]


@pytest.mark.parametrize("wanted", [[], ["zebra"]])
def test_sparingly_too_a_text_without_a_shared_word_is_read_from_its_beginning(
    wanted: list[str],
) -> None:
    (said,) = chosen_sparingly([f"It begins. {FILLER}\n\n{FILLER}"], wanted, 900)
    assert said.startswith("It begins.")


def test_what_many_passages_say_is_not_read_from_all_though_it_would_fit() -> None:
    pages = pages_on("The salt load of reservoirs.", 30)
    said = chosen_sparingly(pages, ["salt load of reservoirs"])
    assert sum(part.count("The salt load") for part in said) == ENOUGH
    assert sum(map(bool, said)) == ENOUGH, "one of each page before a second of any"
    assert sum(part.count("The salt") for part in chosen(pages, ["salt"], 100_000)) == 90


def test_what_few_say_is_read_besides() -> None:
    rare = "The salt load fell by gypsum. " + " ".join(f"g{n}." for n in range(90))
    pages = [*pages_on("The salt load of reservoirs.", 30), rare]
    said = chosen_sparingly(pages, ["salt load of reservoirs", "salt load gypsum"])
    assert "gypsum" in said[-1]


def test_a_passage_that_is_chosen_for_one_problem_is_read_for_all() -> None:
    pages = pages_on("The salt load of reservoirs.", 30)
    one = chosen_sparingly(pages, ["salt load of reservoirs"])
    both = chosen_sparingly(pages, ["salt load of reservoirs", "reservoirs and their salt load"])
    assert sum(map(len, both)) == sum(map(len, one))


def test_what_bears_little_on_a_problem_is_left_for_later() -> None:
    (filler,) = pages_on("A load of hay.", 1)
    best = "Gypsum lowers the salt load of reservoirs. " + " ".join(f"g{n}." for n in range(90))
    said = chosen_sparingly([best, filler], ["gypsum salt load of reservoirs"])
    assert said == [best, ""]


def test_a_copy_is_read_once() -> None:
    (page,) = pages_on("The salt load of reservoirs.", 1)
    copy = page.replace("w0x0n7.", "w0x0n7,")
    said = " ".join(chosen_sparingly([page, copy], ["salt load of reservoirs"]))
    assert said.count("The salt load") == 3


def test_what_the_search_has_found_is_read_whatever_it_adds() -> None:
    pages = pages_on("The salt load of reservoirs.", 2 * ENOUGH)
    unread = [
        Unread(text, [Span(0, len(text))], [(Span(0, 20), 0)] if number < ENOUGH else [])
        for number, text in enumerate(pages)
    ]
    made = choose_passages(unread, ["salt load of reservoirs"], 100_000, sparing=True)
    assert all(made[:ENOUGH])
    assert not any(made[ENOUGH:]), "they have said enough"


@given(
    st.lists(st.text(alphabet="ab .\n#1", max_size=300), max_size=4),
    st.lists(st.sampled_from(["a", "b a", "1.1", "zz"]), max_size=3),
    st.integers(min_value=1, max_value=2_000),
    st.booleans(),
    st.booleans(),
)
def test_what_is_chosen_fits_and_stands_in_its_parts(
    texts: list[str], wanted: list[str], most: int, found: bool, sparing: bool
) -> None:
    halves = [
        Unread(text, [Span(0, len(text) // 2)], [(Span(0, len(text) // 3), at)] if found else [])
        for at, text in enumerate(texts)
    ]
    made = choose_passages(halves, wanted, most, sparing=sparing)
    assert len(made) == len(texts)
    size = 0
    for (text, (part,), *_), spans in zip(halves, made, strict=True):
        assert spans == sorted(set(spans))
        assert all(part.start <= span.start < span.end <= part.end for span in spans)
        assert all(span.of(text) == text[span.start : span.end] for span in spans)
        size += sum(span.end - span.start for span in spans)
    assert size <= most or sum(map(len, made)) == 1
