"""What a suggestion says: that the question is answered, or something that is not that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.navigator.suggestions import list_searches, says_answered

SEEDS = Path(__file__).resolve().parents[3].parent / "shared" / "seeds"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "answer",
        "Need to confirm parents' ages",
        "Found potential company website, suggest crawling",
        "The question is not yet answered",
        "The query isn't answered",
        "The query is partly answered",
        "Part of the question is answered",
        "Some parts are answered",
        "The first part is answered, the second is open",
        "Only the first question is answered",
        "Query is close to being answered",
        "Nearly answered",
        "Neither part is answered",
        "Query cannot be answered with available sources",
        "Query can be answered after crawling",
        "Check whether the query can be answered from the register",
        "Once the query is answered, stop",
        "If the question is answered, hand over",
        "Is the query answered?",
        "The question remains unanswered",
        "Unanswered: age of Siri",
        "The query needs to be answered",
        "Confirm the answer with a second source",
        "Answer the remaining part: age of Siri",
        "Find out who answered the phone at the company",
        "questions answered by the minister in parliament",
        "What question did the minister answer?",
        "Crawl URL: http://example.com/owners",
        "How old is Siri Kvarnlöf?",
    ],
)
def test_what_does_not_say_that_the_question_is_answered(text: str) -> None:
    assert not says_answered(text)


@pytest.mark.parametrize(
    "text",
    [
        "Query seems answered",
        "query appears answered based on multiple consistent sources",
        "Query is answered with high confidence",
        "QUERY ANSWERED",
        "Answered.",
        "Fully answered",
        "All parts of the question are answered.",
        "Both parts are now answered",
        "The initial query has been answered with high confidence.",
        "The user's question appears to be fully answered now",
        "Question answered: the ages are 15, 12 and 8",
        "The register names Anna Holm as owner, so the query is answered.",
        "Everything is answered",
        "The question is settled",
        "Query fully resolved",
    ],
)
def test_what_says_that_the_question_is_answered(text: str) -> None:
    assert says_answered(text)


def test_what_can_be_searched_for() -> None:
    said = ["Need  age\nof Siri", "Query seems answered", "Crawl URL: http://example.com/x", " "]
    assert list_searches(said) == ["Need age of Siri"]


def test_the_examples_of_the_design_document() -> None:
    (seed,) = SEEDS.glob("004*") if SEEDS.exists() else [None]
    if seed is None:
        pytest.skip(f"the design documents are not beside the repository: {SEEDS} is missing")
    text = seed.read_text(encoding="utf-8")
    listed = re.search(r'Example for "suggestions_for_next_step": (\[.+?\])', text)
    assert listed is not None
    given = json.loads(listed[1])
    for place in ("Suggest Next Steps:", "// A list of suggested next actions"):
        line = text[text.index(place) :].partition("\n")[0]
        given += re.findall(r'"([^"\n]+)"', line)
    assert len(given) >= 9
    assert {line for line in given if says_answered(line)} == {
        line for line in given if "answered" in line
    }
    assert sum(map(says_answered, given)) == 3


@given(st.text(alphabet="qQuestion answered.,;?not is", max_size=200))
def test_any_text_is_read_in_reasonable_time(text: str) -> None:
    says_answered(text * 20)
