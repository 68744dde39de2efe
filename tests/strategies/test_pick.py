"""The strategy that suits a question, and the words that say so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.pick import pick_strategy
from deepdiver.strategies.table import TABLE

POPPER, ITERATIVE, OVERWATCH = "popper", "iterative", "overwatch"
ORCHESTRATED, NAVIGATOR = "orchestrated", "navigator"


@pytest.mark.parametrize(
    ("question", "strategy", "word"),
    [
        (
            "How old are the children of the parents who run Svedjan Ost AB?",
            POPPER,
            "could be wrong",
        ),
        ("Did the ferry company pay the fine?", POPPER, "could be wrong"),
        ("Why did the bridge fall?", POPPER, "could be wrong"),
        ("When did the strike of 1909 begin?", POPPER, "could be wrong"),  # long over
        ("Have strikes near Kharkiv increased this week?", OVERWATCH, "this week"),
        ("Were there internet outages in Sudan in the past 7 days?", OVERWATCH, "outages"),
        ("Which vulnerabilities of Ivanti are exploited right now?", OVERWATCH, "right now"),
        ("Give me an overview of quantum error correction", ITERATIVE, "overview"),
        ("Explain how heat pumps work", ITERATIVE, "Explain"),
        ("What is the state of solid state batteries?", ITERATIVE, "state of"),
        ("Should we leave the old warehouse?", ITERATIVE, "Should we"),
        ("How can Holm Works use its data to keep customers?", ITERATIVE, "How can"),
        ("Which options do you recommend for the pier?", ITERATIVE, "recommend"),
        ("Should children drink coffee?", POPPER, "could be wrong"),
        ("What are the key factors of a decision to insure?", ITERATIVE, "factors"),
        ("What are the causes of the fire?", POPPER, "could be wrong"),
        ("Compare the pension systems of Sweden and Chile", ORCHESTRATED, "Compare"),
        ("What are the effects of a four-day week?", ORCHESTRATED, "effects"),
        (
            "Who owns Holm Works? Who owned it before? What was paid?",
            ORCHESTRATED,
            "several questions",
        ),
        ("Find out who designed the old lighthouse of Vantskär", NAVIGATOR, "Find out"),
        ("How do we find out where mail is stuck, and what should we do?", ITERATIVE, "should we"),
        ("How should we rebuild it, and how do we find the leaks?", ITERATIVE, "How should"),
        ("How does it work? Find the patent of the lighthouse.", NAVIGATOR, "Find the"),
        ("How do I find the leaks? Then track down its maker.", NAVIGATOR, "track down"),
        ("Track down the phone number of the harbour office in Lund", NAVIGATOR, "Track down"),
    ],
)
def test_what_a_question_asks_for(question: str, strategy: str, word: str) -> None:
    picked = pick_strategy(question)
    assert picked.strategy == strategy
    assert word in picked.because


def test_a_long_question_has_several_sides() -> None:
    assert pick_strategy(" ".join(f"word{n}" for n in range(40))).strategy == ORCHESTRATED


@given(st.text(max_size=300))
def test_any_text_gets_a_strategy_and_a_reason(question: str) -> None:
    picked = pick_strategy(question)
    assert picked.strategy in TABLE
    assert picked.because
    assert pick_strategy(question) == picked


def test_what_has_happened_to_somebody_who_asks_for_a_way_is_no_situation() -> None:
    told = "Last month our resolver was used in an attack. How should we configure it?"
    assert pick_strategy(told).strategy == "iterative"
    moving = "Last month there was an attack on the port. Should we evacuate our staff?"
    assert pick_strategy(moving).strategy == "overwatch"
