"""Cues are found where they stand, and not in words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.cues import CUES, cues_of, opening


@pytest.mark.parametrize("text", ["", "?", "   ", "🙂"])
def test_nothing_has_no_cue_but_its_length(text: str) -> None:
    assert cues_of(text) == {"opens with something else", "few words"}


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("why did it burn", "why"),
        ("what was the reason for the fire", "cause"),
        ("how do i grease the wheel", "how I"),
        ("how to grease the wheel", "how to"),
        ("what should the miller do at night", "what to do"),
        ("how is flour made", "passive"),
        ("mill vs forge", "versus"),
        ("what is the difference between them", "differ"),
        ("which is older, the mill or the forge", "or"),
        ("which is older", "graded"),
        ("is it larger than the forge", "graded than"),
        ("a timeline of the fire", "chronology"),
        ("what was built when", "what when"),
        ("tell me about the mill", "overview"),
        ("what is the mill about?", "about"),
        ("list the millers", "list"),
        ("which millers are left", "several"),
        ("how much in total", "total"),
        ("the average yield", "mean"),
        ("how many millers", "how many"),
        ("how many days between the fires", "span"),
        ("mills with more than 20 sacks", "threshold"),
        ("where do the ledgers contradict each other", "disagree"),
        ("do the sources agree", "agree"),
        ("what does race mean", "meaning"),
        ("what is a mill race", "what is a"),
        ("how long is the race", "extent"),
    ],
)
def test_cues(text: str, cue: str) -> None:
    assert cue in cues_of(text)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("what pigment was used", "several"),
        ("the name of the miller", "list"),
        ("what is the mean yield", "meaning"),
        ("the baker and the river", "graded"),
        ("the sources of the river", "disagree"),
    ],
)
def test_what_only_looks_like_a_cue(text: str, cue: str) -> None:
    assert cue not in cues_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who owns it", "who"),
        ("what's that", "what"),
        ("did it burn", "a helping verb"),
        ("list them", "an order"),
        ("in which year", "a word before which"),
        ("mill fire", "something else"),
        ("", "something else"),
    ],
)
def test_openings(text: str, expected: str) -> None:
    assert opening(text.split()) == expected


@given(st.text(max_size=300))
def test_every_text_opens_in_one_way_and_has_one_length(text: str) -> None:
    found = cues_of(text)
    assert len([cue for cue in found if cue.startswith("opens with")]) == 1
    assert len([cue for cue in found if cue.endswith(" words")]) == 1
    assert found - CUES.keys() <= {
        cue for cue in found if cue.startswith("opens") or "words" in cue
    }
