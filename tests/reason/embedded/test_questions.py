"""Whole questions over whole libraries: the sample's, and some that no rule was made for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.core.arithmetic import compute
from deepdiver.core.record import Credibility, HypothesisStatus
from deepdiver.reason.embedded import account, steps_report
from deepdiver.sample import Question, QuestionKind
from deepdiver.tools.credibility import credibility
from deepdiver.tools.hit import Hit
from tests.reason.embedded.affairs import LIBRARIES, QUESTIONS, LibraryQuestion
from tests.reason.embedded.loop import Outcome, Weigh, research

pytestmark = pytest.mark.usefixtures("read_once")

SAMPLE = {question.id: question for question in sample.questions()}
FLOOR = 0.85
"""The part of the sample's questions that must be answered rightly; all of them are at the time of
writing."""
DOUBT = {
    steps_report.UNDECIDED,
    steps_report.DISAGREE,
    steps_report.ALSO,
    account.NEAREST,
    account.OTHER_VALUES,
    *(
        f"{account.UNSURE} {frame}"
        for frame in (account.NEAREST, account.LIKELIEST, account.LIKELIEST_OF)
    ),
}


def holds(text: str, words: str) -> bool:
    """Whether the text holds the words as whole words, letter case aside."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, flags=re.IGNORECASE) is not None


def held(outcome: Outcome) -> list[str]:
    """What a run takes to be true: what it accepted, and its answer up to the first doubt."""
    told = [sentence.text for sentence in outcome.draft.answer]
    sure = told[: next((n for n, text in enumerate(told) if text in DOUBT), len(told))]
    return [*outcome.accepted, *sure]


def without_dates(text: str) -> str:
    """The text without ISO dates, whose parts would pass for ages."""
    return re.sub(r"\d{4}-\d\d-\d\d", "", text)


def right(outcome: Outcome, answers: tuple[str, ...], must_not: tuple[str, ...]) -> bool:
    """Whether an answer has all that it must and holds nothing that it must not; or is none."""
    if not answers:
        return not outcome.accepted and bool(outcome.draft.missing)
    told = without_dates(outcome.answer)
    return all(holds(told, answer) for answer in answers) and not any(
        holds(t, m) for t in held(outcome) for m in must_not
    )


def ask(question: Question, weigh: Weigh = credibility) -> Outcome:
    return research(sample.LIBRARY, question.text, str(question.as_of or "2026-11-15"), weigh)


def flat(_: Hit) -> Credibility:
    """Believe every source alike."""
    return Credibility(score=0.5)


class Outcomes(dict[str, Outcome]):
    """The questions of the sample, each researched when first looked at."""

    def __missing__(self, key: str) -> Outcome:
        self[key] = ask(SAMPLE[key])
        return self[key]


@pytest.fixture(scope="module")
def outcomes(read_once: None) -> Outcomes:
    """Every question of the sample, researched once, by the worker that has a test of it."""
    return Outcomes()


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small libraries as folders side by side."""
    root = tmp_path_factory.mktemp("affairs")
    for name, documents in LIBRARIES.items():
        (root / name).mkdir()
        for file, text in documents.items():
            (root / name / file).write_text(text, encoding="utf-8")
    return root


# -- the sample


def test_most_questions_of_the_sample_are_answered_rightly(outcomes: Outcomes) -> None:
    wrong = [key for key, q in SAMPLE.items() if not right(outcomes[key], q.answers, q.must_not)]
    assert 1 - len(wrong) / len(SAMPLE) >= FLOOR, {key: outcomes[key].answer for key in wrong}


@pytest.mark.parametrize(
    "key", [key for key, question in SAMPLE.items() if question.as_of is not None]
)
def test_the_ages_are_right_and_reckoned(outcomes: Outcomes, key: str) -> None:
    sums = [s for s in outcomes[key].draft.answer if s.expression]
    ages = [str(compute(s.expression).value) for s in sums]
    assert sorted(ages) == sorted(SAMPLE[key].answers)
    assert all(
        f" is {age} years old on {SAMPLE[key].as_of} (born on " in s.text
        for s, age in zip(sums, ages, strict=True)
    )


def test_the_demonstration_says_how_it_got_there_and_what_it_refuted(outcomes: Outcomes) -> None:
    (key,) = [key for key, question in SAMPLE.items() if question.demo]
    told = outcomes[key].answer
    assert "run the company Svedjan Ost AB" in told
    assert "three children" in told
    refuted = [item for item in outcomes[key].standing if item.status is HypothesisStatus.REFUTED]
    assert [item for item in refuted if "Alma is 17" in item.statement]
    headings = [section.heading for section in outcomes[key].draft.sections]
    assert "What was refuted" in headings
    assert "Who are the children of the parents?" in headings


@pytest.mark.parametrize(
    "key", [key for key, q in SAMPLE.items() if q.kind is QuestionKind.UNANSWERABLE]
)
def test_what_the_library_cannot_answer_is_not_answered(outcomes: Outcomes, key: str) -> None:
    assert outcomes[key].accepted == []
    assert outcomes[key].draft.missing
    assert outcomes[key].draft.answer[0].text.startswith(account.UNSURE)


@pytest.mark.parametrize("key", SAMPLE)
def test_nothing_is_held_to_be_so_that_is_wrong(outcomes: Outcomes, key: str) -> None:
    told = held(outcomes[key])
    assert [
        words for words in SAMPLE[key].must_not if any(holds(text, words) for text in told)
    ] == []


@pytest.mark.parametrize("key", SAMPLE)
def test_audit_and_check_find_no_fault(outcomes: Outcomes, key: str) -> None:
    assert outcomes[key].faults == ()


@pytest.mark.parametrize("key", SAMPLE)
def test_every_accepted_answer_has_met_an_attempt_to_refute_it(
    outcomes: Outcomes, key: str
) -> None:
    assert all(
        item.trials for item in outcomes[key].standing if item.status is HypothesisStatus.SUPPORTED
    )


def test_a_conflict_shows_both_values(outcomes: Outcomes) -> None:
    for key, question in SAMPLE.items():
        if question.kind is QuestionKind.CONFLICT and len(question.answers) > 1:
            assert all(holds(outcomes[key].answer, answer) for answer in question.answers), key


def test_the_same_question_gives_the_same_report(outcomes: Outcomes) -> None:
    assert [ask(question) for question in SAMPLE.values()] == [outcomes[key] for key in SAMPLE]


def test_most_answers_do_not_hang_on_how_far_each_source_is_believed() -> None:
    wrong = [key for key, q in SAMPLE.items() if not right(ask(q, flat), q.answers, q.must_not)]
    assert len(wrong) <= 0.25 * len(SAMPLE), wrong


# -- other affairs


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.text)
def test_other_libraries_are_understood_too(libraries: Path, asked: LibraryQuestion) -> None:
    outcome = research(libraries / asked.library, asked.text)
    assert right(outcome, asked.answers, asked.must_not), outcome.answer
    assert outcome.faults == ()


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.proof), 3])
def test_libraries_side_by_side_do_not_mix(libraries: Path, every: int) -> None:
    questions = QUESTIONS[::every]
    wrong = [
        a.text for a in questions if not right(research(libraries, a.text), a.answers, a.must_not)
    ]
    assert len(wrong) <= 0.1 * len(questions), wrong


@pytest.mark.parametrize(
    "asked", [a for a in QUESTIONS if not a.answers], ids=lambda asked: asked.text
)
def test_what_no_library_holds_is_not_answered_from_another(
    libraries: Path, asked: LibraryQuestion
) -> None:
    assert right(research(libraries, asked.text), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "Did an overloaded lorry cause the collapse of the Tarn Bridge?",
        "Was the captain of the steamer Meridian drunk?",
        "Did velmarin reduce the number of coughs per hour?",
    ],
)
def test_a_claim_that_the_sources_deny_is_not_affirmed(libraries: Path, text: str) -> None:
    (library,) = {asked.library for asked in QUESTIONS if asked.text == text}
    told = research(libraries / library, text).draft.answer[0].text
    assert told == "No." or told == f"{account.UNSURE} {account.NEAREST}"


def test_where_two_sources_of_like_weight_disagree_neither_is_accepted(libraries: Path) -> None:
    outcome = research(
        libraries / "theft", "How many paintings were stolen from the Harrow Museum?"
    )
    assert outcome.accepted == []
    assert "Four paintings" in outcome.answer
    assert "Nine paintings" in outcome.answer


# -- libraries of no use


@pytest.mark.parametrize(
    "body",
    [
        "Nothing to see here.",
        "東京は日本の首都です。人口は千四百万人です。",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "x" * 20_000,
    ],
    ids=["empty words", "another script", "a table", "one word"],
)
def test_a_library_of_no_use_gives_no_answer(tmp_path: Path, body: str) -> None:
    (tmp_path / "only.txt").write_text(body, encoding="utf-8")
    for question in list(SAMPLE.values())[:3]:
        assert research(tmp_path, question.text).draft.answer == ()
