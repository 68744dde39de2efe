"""Entries of a manual: where they begin, and what they are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.entries import FEWEST, entries_of, names_term, term_above, term_of


@pytest.mark.parametrize("text", ["", " ", "\n\n", "One sentence.", "-x"])
def test_nothing_is_no_manual(text: str) -> None:
    assert entries_of(text) == frozenset()


@pytest.mark.parametrize(
    "entry",
    [
        "-L, --location\n    Follow redirects.",
        "--[no-]single-branch\n\t   Clone one branch only.",
        "--quiet Say nothing.",
        "Restart=\nWhether it begins again.",
        "stash.showPatch\n           If this is set to true, the patch is shown.",
        "pop [--index] [<stash>]\n  Remove a state.",
        "%\nSplit the pane.",
        "fcntl(2)\nSets flags.",
    ],
)
def test_entries(entry: str) -> None:
    assert term_of(entry) == term_of(f"\n  {entry}") == entry.partition("\n")[0]
    text = "\n\n".join([entry] * FEWEST)
    step = len(entry) + 2
    assert entries_of(text) == frozenset(range(0, FEWEST * step, step))
    assert entries_of("\n\n".join([entry] * (FEWEST - 1))) == frozenset()


@pytest.mark.parametrize(
    "paragraph",
    [
        "It was a long day, and nothing of what had been said before came\nto be true.",
        "He came.\nShe went.",
        "The meeting was moved\nto Tuesday, and the next one\nto Friday.",
        "Dear Ann,\nthank you.",
        "What it does:\nnothing.",
        "Steps\n1. Press it.",
        "Points\n- One.",
        "- One\n- Two",
        "**What did you teach?**\nBiology.",
        "| a | b\n| 1 | 2",
        "A title alone",
        "RewriteEngine on\nRewriteRule ^/foo$ /bar [PT]",
        "git stash list [<options>]\n  git stash show [-u]",
        "Ann Berg\n12 Mill Lane\nSenn",
        "-- \nAnn Berg",
        "---\ntitle: x",
    ],
)
def test_what_is_no_entry(paragraph: str) -> None:
    assert term_of(paragraph) == ""
    assert entries_of("\n\n".join([paragraph] * FEWEST)) == frozenset()


def test_an_entry_stands_behind_an_empty_line_which_may_have_blanks() -> None:
    text = "  -x\n  Do it.\n \t\n  -y\n  Undo it.\n" * FEWEST
    assert {text[start : start + 2] for start in entries_of(text)} == {"-x", "-y"}
    assert len(entries_of(text)) == FEWEST + 1, "-x follows its neighbour without an empty line"


@pytest.mark.parametrize(
    ("entry", "count"),
    [
        ("       term\n           What it is.", FEWEST),
        ("       term\n\t   What it is.", FEWEST),
        ("       The content is the same as what\n       is found there.", 0),
        ("\tA short line\n        and its rest.", 0),
        ("term\nWhat it is.", FEWEST),
        ("   -x\n   An option needs no deeper lines.", FEWEST),
    ],
)
def test_in_a_text_that_is_set_in_a_description_is_set_in_deeper(entry: str, count: int) -> None:
    assert len(entries_of("\n\n".join([entry] * FEWEST))) == count


@pytest.mark.parametrize(
    ("question", "term", "named"),
    [
        ("What does --exclude-from do in rsync?", "--exclude-from=FILE", True),
        ("What does --exclude do?", "--exclude-from=FILE", False),
        ("what is -k for", "-k, --insecure", True),
        ("what is -k for", "-K, --config <file>", False),
        ("The default of WatchdogSec?", "WatchdogSec=", True),
        ("How do I set core.pager?", "core.pager", True),
        ("How long is busy_timeout", "busy_timeout <ms>", True),
        ("How do I exclude files from a copy?", "--exclude-from=FILE", False),
        ("A well-known e-mail - or not?", "-o", False),
        ("", "-o", False),
    ],
)
def test_what_a_question_names(question: str, term: str, named: bool) -> None:
    assert names_term(question, f"{term}\nWhat it does.") is named


def test_a_mention_below_the_term_names_nothing() -> None:
    assert not names_term("What does -k do?", "-L\nSee also -k.")
    assert not names_term("What does -k do?", "In running text, -k is told of.")


@given(st.text(alphabet="-x \n.|*", max_size=200))
def test_entries_begin_with_a_letter_or_sign_behind_a_blank(text: str) -> None:
    for start in entries_of(text):
        assert not text[start].isspace()
        assert start == 0 or text[start - 1].isspace()


def test_long_texts_are_read_in_linear_time() -> None:
    assert entries_of("\n" * 200_000) == frozenset()
    assert entries_of(" \n" * 100_000) == frozenset()
    assert entries_of("-" * 200_000) == frozenset()


FLAT = "\n\n".join(f"option{at} value\nIt sets {at}. The default is {at}." for at in range(FEWEST))
DEEP = "\n\n".join(
    f"  --option{at}\n    It sets {at}.\n\n    More of {at}." for at in range(FEWEST)
)


@pytest.mark.parametrize(
    ("text", "said", "term"),
    [
        (FLAT, "The default is 3.", "option3 value"),
        (FLAT, "option3", ""),
        (FLAT + "\n\nThat is all there is.", "That is all", ""),
        (DEEP, "More of 4.", "--option4"),
        (DEEP, "It sets 4.", "--option4"),
        (DEEP + "\n\nEXIT STATUS\n    It is 0.", "It is 0.", "EXIT STATUS"),
        (DEEP + "\n\n  It is 0.", "It is 0.", ""),
        ("What it sets\nIt is 0.", "It is 0.", ""),
    ],
)
def test_a_place_in_an_entry_has_its_term(text: str, said: str, term: str) -> None:
    assert term_above(text, text.index(said)) == term


@given(st.text(alphabet="-a b.\n\t", max_size=60), st.integers(0, 60))
def test_every_place_has_at_most_a_line_of_the_text(text: str, at: int) -> None:
    text = "\n\n".join([DEEP, text])
    term = term_above(text, min(at, len(text)))
    assert term in text
    assert "\n" not in term
