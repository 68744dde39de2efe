"""From a text to its quotable sentences, and from a sentence to its contents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.reading import (
    LONGEST,
    leans,
    mention,
    persons,
    quotable_sentences,
    read_sentence,
)
from tests.patience import in_proportion


def cut(text: str) -> list[str]:
    return [span.of(text) for span in quotable_sentences(text)]


# -- sentences


@pytest.mark.parametrize("text", ["", " \n ", "# Only a heading", "ALL IN CAPITALS", "---"])
def test_a_text_without_sentences_gives_at_most_a_mark(text: str) -> None:
    assert [piece for piece in cut(text) if any(char.isalnum() for char in piece)] == []


def test_sentences_are_cut_at_full_stops() -> None:
    assert cut("The dam broke. Two people died!") == ["The dam broke.", "Two people died!"]


def test_a_wrapped_sentence_stays_whole() -> None:
    text = (
        "The steamer went down in the night and nobody on the\nshore heard of it before the "
        "morning. She was old."
    )
    assert cut(text)[0] == text[: text.index(" She")]


def test_a_line_of_a_register_is_a_sentence_of_its_own() -> None:
    text = (
        "Patent number 11\nTitle: A method for washing wool in cold water\nHolder: Acme "
        "Ltd\nGranted on 3 May 2001."
    )
    assert cut(text) == text.split("\n")


def test_the_moment_at_the_head_of_a_line_belongs_to_it() -> None:
    text = "03:05 UTC. The ship struck. She asks for help.\n03:12. The engine room is flooded."
    assert cut(text) == [
        "03:05 UTC. The ship struck.",
        "She asks for help.",
        "03:12. The engine room is flooded.",
    ]


def test_a_date_at_the_head_of_a_line_belongs_to_it() -> None:
    assert cut("11 April 2019. The last goat was shipped.\n12 April 2019. Rain.") == [
        "11 April 2019. The last goat was shipped.",
        "12 April 2019. Rain.",
    ]


def test_a_moment_alone_is_no_sentence() -> None:
    assert cut("03:05.") == []


def test_a_label_is_cut_off() -> None:
    assert cut("**Results.** The drug did not help anybody in the trial.") == [
        "The drug did not help anybody in the trial."
    ]
    assert cut("*Cause.* The fire was caused by a worn cable.") == [
        "The fire was caused by a worn cable."
    ]
    assert cut("**Cause:** a worn cable at the ship's hatch.") == [
        "a worn cable at the ship's hatch."
    ]
    assert cut("**Cause**: a worn cable at the ship's hatch.") == [
        "a worn cable at the ship's hatch."
    ]
    assert cut("**Results** The drug did not help anybody.") == ["The drug did not help anybody."]


@pytest.mark.parametrize("name", ["*Ejdervik*", "**Ejdervik**", "*The Old Man*", "*Ejdervik* Line"])
def test_a_name_in_italics_at_the_head_of_a_sentence_is_its_subject(name: str) -> None:
    assert cut(f"{name} burnt at the quay in Morden.") == [f"{name} burnt at the quay in Morden."]


@pytest.mark.parametrize("label", ["**False.**", "**Rumour.**", "*Not true.*", "**Claim.**"])
def test_a_label_that_says_how_the_sentence_is_meant_stays(label: str) -> None:
    text = f"{label} The dam at Morden broke in the night."
    assert cut(text) == [text]


def test_a_heading_in_capitals_is_no_part_of_the_line_below_it() -> None:
    text = (
        "BOARD AND MANAGEMENT\nAda Berg is chair of the board.\nBo Lund is managing director of "
        "the company.\n"
    )
    assert cut(text) == [
        "Ada Berg is chair of the board.",
        "Bo Lund is managing director of the company.",
    ]


@pytest.mark.parametrize(
    "line", ["*Fire on the ferry Ejdervik, 8 February 2026*", "_Morden Post, 3 May_"]
)
def test_a_line_in_italics_under_a_title_is_no_sentence(line: str) -> None:
    assert cut(f"# The fire\n\n{line}\n\nThe ferry burnt for two hours.\n") == [
        "The ferry burnt for two hours."
    ]


@pytest.mark.parametrize(
    "line",
    [
        "*The ferry burnt for two hours.*",
        "**Sales rose by 12 %**",
        "*Ferry* burnt at the *quay*, says the log",
    ],
)
def test_a_sentence_in_italics_and_what_is_bold_are_kept(line: str) -> None:
    assert cut(line) == [line]


def test_what_is_too_long_to_quote_is_left_out() -> None:
    assert cut("word " * LONGEST) == []


@given(st.text(max_size=400))
def test_every_unit_is_a_span_of_the_text(text: str) -> None:
    last = 0
    for span in quotable_sentences(text):
        assert last <= span.start < span.end <= len(text)
        assert span.end - span.start <= LONGEST
        last = span.end


@given(
    st.lists(
        st.sampled_from(
            ["The dam broke.", "03:05.", "\n", "\n\n", "# A", "**B.** ", "Ada and Bo", " "]
        ),
        max_size=30,
    )
)
def test_units_stay_in_order_whatever_is_put_together(parts: list[str]) -> None:
    text = "".join(parts)
    spans = quotable_sentences(text)
    assert spans == sorted(spans)


@pytest.mark.parametrize("size", [250_000, pytest.param(1_000_000, marks=pytest.mark.proof)])
@pytest.mark.parametrize(
    "piece", ["a line without a stop\n", "03:05.\n", "Word. ", "\n\n", "- item\n"]
)
def test_a_long_text_is_cut_in_linear_time(piece: str, size: int) -> None:
    with in_proportion():
        quotable_sentences(piece * (size // len(piece)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Her parents drove the bus.", True),
        ("They left.", True),
        ("This was wrong.", True),
        ("Ada left.", False),
        ("The company left.", False),
        ("", False),
        ("…", False),
    ],
)
def test_which_sentences_lean_on_the_one_before(text: str, expected: bool) -> None:
    assert leans(text) is expected


# -- what stands in a sentence


def test_a_reading_holds_names_dates_times_and_quantities() -> None:
    reading = read_sentence(
        "Ada Berg sold 38 tonnes for 2.4 million kronor at 07:25 on 3 May 2009, ten years after "
        "1999."
    )
    assert [name.text for name in reading.names] == ["Ada Berg"]
    assert [day.iso() for day, _, _ in reading.days] == ["2009-05-03", "1999"]
    assert [text for text, _, _ in reading.times] == ["07:25"]
    assert [(item.text, int(item.value)) for item in reading.quantities] == [
        ("38 tonnes", 38),
        ("2.4 million kronor", 2_400_000),
        ("ten years", 10),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Register number NR-40718.", []),
        ("Extract 2026-0112.", []),
        ("Nine people were hurt.", ["Nine people"]),
        ("It has 1,250 seats.", ["1,250 seats"]),
        ("Forty-three are missing.", ["Forty-three are"]),
        ("It was 3,5 degrees.", ["3,5 degrees"]),
        ("At 04:41 it began.", []),
        ("On 8 February 2026 it ended.", []),
    ],
)
def test_which_numbers_are_quantities(text: str, expected: list[str]) -> None:
    assert [item.text for item in read_sentence(text).quantities] == expected


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("1987: the prize went abroad.", ["1987"]),
        ("It was built in 1998.", ["1998"]),
        ("Report 2026:07 is out.", []),
        ("In 2024-31 nothing.", []),
        ("It cost 1,998 kronor.", []),
    ],
)
def test_which_numbers_are_years(text: str, years: list[str]) -> None:
    assert [day.iso() for day, _, _ in read_sentence(text).days] == years


def test_words_of_like_meaning_are_read_except_inside_names() -> None:
    assert "run" in read_sentence("Ada Berg is managing director of the mill.").meanings
    assert "own" not in read_sentence("Ada Berg works at Grey Holding today.").meanings
    assert "own" in read_sentence("All shares are held by Acme Ltd.").meanings


def test_their_own_owns_nothing() -> None:
    assert "own" not in read_sentence("They brought their own samples.").meanings
    assert "own" in read_sentence("Who own the mill?").meanings


def test_title_and_publisher_are_read_apart() -> None:
    reading = read_sentence("Profit fell.", title="Annual report of Acme", publisher="Grey Press")
    assert "acm" in reading.title
    assert "press" in reading.publisher
    assert {"acm", "press"} <= reading.around
    assert "acm" not in reading.roots


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The right number is six, not nine.", ("nine",)),
        ("There were 76 nests and not 87.", ("87",)),
        ("It was Ada, not Bo, who won.", ("Bo",)),
        ("It was not seen.", ()),
        ("Acme is not Bolt Ltd.", ()),
        ("Not nine.", ()),
    ],
)
def test_values_that_are_said_not_to_be_so(text: str, denied: tuple[str, ...]) -> None:
    assert read_sentence(text).denied == denied


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("No electric car was on board.", True),
        ("The claim that a battery exploded is refuted.", True),
        ("She didn't know.", True),
        ("The dam broke.", False),
        ("Six people were hurt, not nine.", False),
        ("He built a robot that turns wheels without dropping them.", False),
    ],
)
def test_which_sentences_deny(text: str, negated: bool) -> None:
    assert read_sentence(text).negated is negated


def test_the_scope_of_a_negation_is_what_stands_behind_it_and_ends_with_the_sentence() -> None:
    assert read_sentence("No electric car was on board.").scopes == (("electric", "car"),)
    assert read_sentence(
        "The compass had not been adjusted. The captain was not drunk. He slept."
    ).scopes == (
        ("adjust",),
        ("drunk",),
    )
    assert read_sentence("The claim about the car is false.").scopes == ()


# -- mentions and persons


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Ada and Bo Berg run it.", "Ada Berg", True),
        ("Ada and Bo Berg run it.", "Bo Berg", True),
        ("They have two children, Ada and Bo.", "Ada Berg", True),
        ("The mill of Ada Berg's father burnt.", "Ada Berg", True),
        ("Cy Berg runs it.", "Ada Berg", False),
        ("Acme Mills was sold.", "Acme Mills Ltd", True),
        ("Acme was sold.", "Acme Mills Ltd", False),
        ("It happened in Ada.", "Ada Berg", False),
        ("Something else.", "", False),
        ("", "Ada", False),
    ],
)
def test_whether_a_name_is_mentioned(text: str, name: str, expected: bool) -> None:
    assert (mention(read_sentence(text), name) >= 0) is expected


def test_a_mention_says_where_it_stands() -> None:
    reading = read_sentence("The mill of Acme Mills burnt.")
    assert reading.text[mention(reading, "Acme Mills Ltd") :].startswith("Acme Mills")


def test_persons_are_full_names_and_single_names_that_no_preposition_makes_a_place() -> None:
    names = [
        name.text
        for name in persons(read_sentence("Ada Berg of Morden met Bo in Vell and Cy, who is 3."))
    ]
    assert names == ["Ada Berg", "Bo", "Cy"]


@given(st.text(max_size=500))
def test_any_text_can_be_read(text: str) -> None:
    reading = read_sentence(text, text, text, text)
    for name in reading.names:
        assert mention(reading, name.text) >= 0
    for _, start, end in (*reading.days, *reading.times):
        assert 0 <= start < end <= len(reading.text)


def test_only_the_beginning_of_an_endless_sentence_is_read() -> None:
    assert len(read_sentence("word " * 1_000_000).text) <= 2 * LONGEST
