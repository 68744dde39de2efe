"""Findings are the passages that bear most on the question."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deepdiver.reason.embedded import find as module
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.find import FINDINGS, find
from deepdiver.reason.embedded.rating import Rating
from deepdiver.tasks import ExtractFindings, NumberedText
from tests.reason.embedded.raters import rate_by_words
from tests.texts import parts_of, shown_text

QUESTION = "Who chairs the harbour board?"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def task(*texts: NumberedText, question: str = QUESTION) -> ExtractFindings:
    return ExtractFindings(question=question, texts=texts, problems=parts_of(question))


def test_no_text_brings_no_finding() -> None:
    assert find(task()).findings == ()


def test_what_bears_on_nothing_is_left_out() -> None:
    text = shown_text(id="T1", title="Menu", text="Soup and bread are served at noon.")
    assert find(task(text)).findings == ()


def test_what_the_message_says_before_its_question_may_be_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated: list[str] = []

    def rate(question: str, passages: Sequence[str]) -> list[Rating]:
        rated.append(question)
        score = 1.0 if "harbour" in question else 0.0
        return [Rating(score, score, score)] * len(passages)

    monkeypatch.setattr(module, "rate", rate)
    message = "We run the harbour. Who chairs the board?"
    text = shown_text(id="T1", title="Board", text="Ada Holm chairs the harbour board.")
    (found,) = find(task(text, question=message)).findings
    assert found.quote == text.plain
    assert rated == [understand(message).matter, message]
    assert rated[0] == "Who chairs the board?"


def test_a_passage_is_rated_with_the_heading_that_is_known_to_be_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated: list[str] = []

    def rate(question: str, passages: Sequence[str]) -> list[Rating]:
        rated.extend(passages)
        return [Rating(1.0, 1.0, 1.0)] * len(passages)

    monkeypatch.setattr(module, "rate", rate)
    text = shown_text(id="T1", title="Board", text="Ada Holm chairs it.\n\nBo Lind left it.")
    known = text.model_copy(update={"headings": ((0, ""), (10, "Changes"))})
    find(task(known))
    find(task(shown_text(id="T1", title="Board", text="# Now\n\nAda Holm chairs it.")))
    assert rated == [
        "Board. Ada Holm chairs it. Bo Lind left it.",
        "Board. Now. Ada Holm chairs it.",
    ]


def test_questions_and_scraps_are_no_findings() -> None:
    text = shown_text(id="T1", title="", text="# A\n\nWho chairs it?\n\n# B\n\nHarbour board")
    assert find(task(text)).findings == ()


def test_the_best_passage_comes_first_with_its_surroundings() -> None:
    one = shown_text(id="T1", title="Fair", text="The harbour fair is in June.")
    other = shown_text(
        id="T2", title="Minutes", text="We met. Ada Holm chairs the harbour board. We parted."
    )
    first, second = find(task(one, other)).findings
    assert first.quote == other.plain
    assert first.statement == "We met. Ada Holm chairs the harbour board. We parted."
    assert (first.source, second.source) == ("T2", "T1")


def test_quotes_stand_in_their_text() -> None:
    text = shown_text(id="T1", title="Log", text="# Board\n\n- The *harbour* board\n  met at nine.")
    (only,) = find(task(text)).findings
    assert only.quote in text.plain


def test_only_what_the_search_found_is_read() -> None:
    body = "The harbour board meets on Monday.\n\n# Next\n\nThe harbour board is chaired by Ada."
    at = body.index("The harbour board is")
    text = shown_text(id="T1", title="", text=body, found=((at, len(body)),))
    assert [item.statement for item in find(task(text)).findings] == [
        "The harbour board is chaired by Ada."
    ]


def test_there_is_a_limit() -> None:
    body = "\n\n".join(f"# Part {n}\n\nThe harbour board met {n} times." for n in range(60))
    found = find(task(shown_text(id="T1", title="", text=body))).findings
    assert len(found) == FINDINGS


def test_of_many_passages_the_promising_are_rated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATED", 3)
    body = "\n\n".join(f"# Part {n}\n\nNothing to see in part {n}." for n in range(20))
    last = shown_text(id="T2", title="", text=f"{body}\n\n# End\n\nAda chairs the harbour board.")
    (best, *_) = find(task(last)).findings
    assert best.statement == "Ada chairs the harbour board."


def test_steps_stay_together() -> None:
    body = "\n".join(f"{n}. Turn valve number {n} until it clicks." for n in range(1, 12))
    question = "How do I open the valve of the pump?"
    (only, *_) = find(task(shown_text(id="T1", title="", text=body), question=question)).findings
    assert only.statement.count("Turn valve") == 11


def test_the_row_that_answers_comes_first() -> None:
    rows = "| Farm | Owner | Hectares\n| Farm: North Lea | Owner: A. Bream | Hectares: 4.4\n"
    rows += "| Farm: South Lea | Owner: A. Bream | Hectares: 1.9"
    text = shown_text(id="T1", title="Farms", text=rows)
    question = "How many hectares in total do the farms of A. Bream have?"
    found = find(task(text, question=question)).findings
    assert [item.quote for item in found[:2]] == rows.splitlines()[1:]
    assert found[0].statement == "Farm: North Lea | Owner: A. Bream | Hectares: 4.4"


OPEN = "Give me an overview of how loyalty cards raise sales"


def test_an_open_question_also_finds_single_sentences_of_whole_texts() -> None:
    about = "Loyalty cards raise sales in our shops. We print them ourselves."
    far = "# Annex\n\nLoyalty cards raise sales by 12% in a year. It rained on Monday."
    text = shown_text(id="T1", title="Plan", text=f"{about}\n\n{far}", found=((0, len(about)),))
    found = find(task(text, question=OPEN)).findings
    assert found[1].statement == "Loyalty cards raise sales by 12% in a year."
    assert all(item.quote in text.plain for item in found)


def test_a_sentence_that_is_a_passage_is_found_once_and_one_within_a_passage_by_itself() -> None:
    only = shown_text(id="T1", title="Plan", text="Loyalty cards raise sales by 12% in a year.")
    assert len(find(task(only, question=OPEN)).findings) == 1
    more = shown_text(id="T1", title="Plan", text=f"{only.plain} We print them ourselves.")
    assert [item.quote for item in find(task(more, question=OPEN)).findings] == [
        more.plain,
        only.plain,
    ]


def test_a_look_up_finds_no_single_sentences() -> None:
    body = "The harbour board has 12 members in all.\n\n# B\n\nThe harbour board is 90 years old."
    text = shown_text(id="T1", title="", text=body, found=((0, 30),))
    assert len(find(task(text)).findings) == 1
