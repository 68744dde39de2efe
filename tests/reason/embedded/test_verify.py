"""Whether quotes carry a sentence, and what replaces one that they do not carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.encoders.reader import DocumentVerdict, Verdict
from deepdiver.reason.embedded import verify as module
from deepdiver.reason.embedded.verify import (
    CONTRADICTED,
    DENIED,
    SAID,
    check_support,
    nearest,
    read_as_denying,
    read_as_saying,
    repair_sentences,
    support_of,
)
from deepdiver.tasks import CheckSupport, Claim, Faulty, RepairSentences

QUOTE = (
    "Six people were injured in the fire on the ferry Meridian on 8 February 2026: four passengers "
    "and two of the crew."
)


@pytest.mark.parametrize(
    "text",
    [
        QUOTE,
        "Six people were injured in the fire on the ferry Meridian",
        "six people were INJURED in the fire on the ferry Meridian.",
        "On the ferry Meridian six people were injured.",
        "Two of the crew were injured on 8 February 2026.",
        "“Six people were injured in the fire”",
    ],
)
def test_what_the_quote_says_is_carried(text: str) -> None:
    assert support_of(text, [QUOTE]) == ("full", "")


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("Nine people were injured in the fire on the ferry Meridian.", "none"),
        ("Six people were injured in the fire on the ferry Zenith.", "none"),
        ("Six people were injured in the fire on 9 February 2026.", "none"),
        ("Six people were not injured in the fire on the ferry Meridian.", "none"),
        ("Six people were injured in the terrible fire on the ferry Meridian.", "partial"),
        ("Pigs fly over hills.", "none"),
        ("", "none"),
        (" . ", "none"),
    ],
)
def test_what_the_quote_does_not_say_is_not(text: str, support: str) -> None:
    found, reason = support_of(text, [QUOTE])
    assert found == support
    assert reason


def test_without_quotes_nothing_is_carried() -> None:
    assert support_of("The dam broke.", [])[0] == "none"
    assert support_of("The dam broke.", [""])[0] == "none"


def test_typesetting_is_no_difference() -> None:
    quote = "The ﬁre – they say –\nwas “out” at\u00a007:25."
    assert support_of('The fire - they say - was "out" at 07:25.', [quote])[0] == "full"
    assert support_of("The dam broke.", ["The **dam** broke."])[0] == "full"


@pytest.mark.parametrize(
    "text",
    [
        "report.md | the report |",
        "Set NO_COLOR as the figures say, and nothing is coloured.",
        "It writes b.md, not c.md.",
    ],
)
def test_code_links_and_cells_are_no_difference_whatever_else_is_denied(text: str) -> None:
    quote = (
        "| `report.md` | the report |\n\nSet `NO_COLOR` as the [figures](docs/a.md) say, and "
        "nothing is coloured. It writes **`b.md`**, not `c.md`."
    )
    assert support_of(text, [quote]) == ("full", "")


def test_several_quotes_may_carry_a_sentence_together() -> None:
    quotes = ["Ada Berg runs the mill.", "The mill stands in Vell."]
    assert support_of("Ada Berg runs the mill in Vell.", quotes)[0] == "full"
    assert support_of("Ada Berg runs the mill in Vell.", quotes[:1])[0] == "none"


# -- reckoned ages


BORN = "According to the list, Eve Berg, born on 14 March 2011, is the youngest member."
AGE = "Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011)."


def test_an_age_that_follows_is_carried() -> None:
    assert support_of(AGE, [BORN]) == ("full", "")


@pytest.mark.parametrize(
    "text",
    [
        AGE.replace("15 years", "16 years"),
        AGE.replace("2026-11-15", "2029-11-15"),
        AGE.replace("Eve", "Finn"),
        AGE.replace("14 March 2011", "15 March 2011"),
        AGE.replace("14 March 2011", "spring"),
        AGE.replace("2026-11-15", "2026-13-45"),
    ],
)
def test_an_age_that_does_not_follow_is_not(text: str) -> None:
    assert support_of(text, [BORN])[0] != "full"


# -- the tasks


def test_every_claim_is_checked_once_in_order() -> None:
    claims = (
        Claim(id="S1", text=QUOTE, quotes=(QUOTE,)),
        Claim(id="S2", text="Nine people.", quotes=(QUOTE,)),
        Claim(id="S3", text="Anything.", quotes=()),
    )
    checks = check_support(CheckSupport(claims=claims)).checks
    assert [(check.id, check.support) for check in checks] == [
        ("S1", "full"),
        ("S2", "none"),
        ("S3", "none"),
    ]


def test_a_faulty_sentence_gives_way_to_the_quoted_one_that_comes_nearest() -> None:
    quotes = ("The quay is long. Six people were injured in the fire on the ferry.", "It rained.")
    faulty = Faulty(
        id="S1",
        text="Nine people were injured in the fire.",
        problem="9 is not there",
        quotes=quotes,
    )
    (repaired,) = repair_sentences(
        RepairSentences(question="How many?", sentences=(faulty,))
    ).repairs
    assert repaired.id == "S1"
    assert repaired.text == "Six people were injured in the fire on the ferry."


def test_where_nothing_comes_near_the_sentence_is_cut() -> None:
    faulty = Faulty(id="S1", text="Pigs fly over hills.", problem="invented", quotes=(QUOTE,))
    (repaired,) = repair_sentences(RepairSentences(question="?", sentences=(faulty,))).repairs
    assert repaired.text == ""


def test_nothing_near_in_no_quotes() -> None:
    assert nearest("The dam broke.", ()) == ""
    assert nearest("", (QUOTE,)) == ""


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_a_repaired_sentence_is_always_carried(text: str, quotes: list[str]) -> None:
    repaired = nearest(text, quotes)
    if repaired.strip(" .*"):
        assert support_of(repaired, quotes)[0] == "full"


@given(st.text(min_size=1, max_size=200))
def test_a_quote_carries_itself(text: str) -> None:
    support, _ = support_of(text, [text])
    assert support == "full" or not "".join(char for char in text if char.isalnum())


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_claim_can_be_checked(text: str, quotes: list[str]) -> None:
    assert support_of(text, quotes)[0] in {"full", "partial", "none"}


# -- the reader, where the words leave it open


def reads(monkeypatch: pytest.MonkeyPatch, supports: float, refutes: float) -> None:
    made = DocumentVerdict(supports, refutes, Verdict(supports, refutes, 0), 0, 0)
    monkeypatch.setattr(module, "reader_verdict", lambda quote, text: made)


@pytest.mark.parametrize(
    "text",
    [
        "Nine people were injured in the fire on the ferry Meridian.",
        "Six people were injured in the fire on the ferry Zenith.",
        "Six people were injured in the fire on 9 February 2026.",
        "Six people were not injured in the fire on the ferry Meridian.",
    ],
)
def test_the_reader_overrules_no_value_no_name_and_no_negation(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    reads(monkeypatch, 1.0, 0.0)
    assert support_of(text, [QUOTE])[0] == "none"


def test_other_words_that_read_as_saying_it_carry_it_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "A blaze hurt travellers aboard."
    reads(monkeypatch, SAID, 0.0)
    assert support_of(text, [QUOTE])[0] == "partial"
    reads(monkeypatch, SAID - 0.01, 0.0)
    assert support_of(text, [QUOTE])[0] == "none"


def test_the_same_words_that_read_as_a_denial_carry_it_in_part_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "On the ferry Meridian six people were injured."
    reads(monkeypatch, 0.0, DENIED)
    assert support_of(text, [QUOTE]) == ("partial", CONTRADICTED)
    reads(monkeypatch, 0.0, DENIED - 0.01)
    assert support_of(text, [QUOTE]) == ("full", "")


def test_a_quote_that_says_it_outweighs_one_that_denies_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(quote: str, text: str) -> DocumentVerdict:
        sides = (0.9, 0.0) if quote == "yes" else (0.0, 0.95)
        return DocumentVerdict(*sides, Verdict(*sides, 0), 0, 0)

    monkeypatch.setattr(module, "reader_verdict", verdict)
    assert read_as_denying("It is so.", ["no"])
    assert not read_as_denying("It is so.", ["no", "yes"])
    assert read_as_saying("It is so.", ["no", "yes"])
    assert not read_as_saying("It is so.", [])


def test_a_quote_that_holds_the_sentence_is_not_put_to_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "reader_verdict", lambda quote, text: pytest.fail("asked"))
    assert support_of(QUOTE, [QUOTE]) == ("full", "")


def test_a_calculated_value_need_not_be_quoted() -> None:
    claim = Claim(
        id="C",
        text="Hectares: sum(4.4, 1.9) = 6.3.",
        quotes=("Hectares: 4.4", "Hectares: 1.9"),
        calculations=("sum(4.4, 1.9) = 6.3",),
    )
    assert check_support(CheckSupport(claims=(claim,))).checks[0].support == "full"
    other = claim.model_copy(update={"text": "Hectares: 7.7."})
    assert check_support(CheckSupport(claims=(other,))).checks[0].support == "none"


def test_rows_are_carried_by_their_rows() -> None:
    rows = "| Farm: Low Barn | Listed: no\n| Farm: Gull | Listed: no"
    assert support_of("Farm: Low Barn; Farm: Gull.", [rows])[0] == "full"
    assert support_of("Farm: Low Barn | Listed: no Farm: Gull | Listed: no", [rows])[0] == "full"
