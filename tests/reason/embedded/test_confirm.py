"""The close reader's last look before an answer is taken for sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from deepdiver.encoders.reader import AnswerSpan, Verdict
from deepdiver.reason.embedded import confirm
from deepdiver.reason.embedded.confirm import READ, bears, confirms, takes_side
from tests.reason.embedded.shown import finding, findings

WHO = "Who came with the pictures as courier?"


class Close:
    """A close reader that says what it is told to, and counts what it reads."""

    def __init__(self, span: AnswerSpan, relevance: float = 0.0, verdict: Verdict | None = None):
        self.read: list[str] = []
        self._span, self._relevance, self._verdict = span, relevance, verdict

    def spans(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        self.read += passages
        return [self._span for _ in passages]

    def relevance(self, question: str, passages: Sequence[str]) -> list[float]:
        self.read += passages
        return [self._relevance for _ in passages]

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        assert self._verdict is not None
        return [self._verdict for _ in pairs]


NOTHING = AnswerSpan("", 0, 0, 0.0, 1.0)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for remembered in (confirm._answer_in, confirm._relevance, confirm._verdict):
        remembered.cache_clear()


def use(patch: pytest.MonkeyPatch, close: Close) -> Close:
    """Let a close reader be the one that is asked."""
    patch.setattr(confirm, "load_close_reader", lambda: close)
    return close


def test_nothing_confirms_what_nobody_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    close = use(monkeypatch, Close(NOTHING))
    assert not confirms(WHO, "Ann Lee", ())
    assert close.read == []


@pytest.mark.parametrize(
    ("found", "score", "none", "held"),
    [
        ("Anselma Tofte", 0.9, 0.0, True),
        ("Ms Anselma Tofte", 0.9, 0.0, True),
        ("Tofte", 0.9, 0.0, True),
        ("Joost Harmsen", 0.9, 0.0, False),
        ("Anselma Tofte", 0.2, 0.7, False),
        ("", 0.0, 1.0, False),
        ("", 0.5, 0.1, False),
    ],
)
def test_an_answer_must_be_found_in_the_same_passage(
    monkeypatch: pytest.MonkeyPatch, found: str, score: float, none: float, held: bool
) -> None:
    use(monkeypatch, Close(AnswerSpan(found, 0, len(found), score, none)))
    told = findings("Anselma Tofte had travelled with the pictures as courier.")
    assert confirms(WHO, "Anselma Tofte", told) is held


def test_a_day_confirms_the_day_of_a_year(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Close(AnswerSpan("2 June 2022", 0, 11, 0.9, 0.0)))
    told = findings("She made fast on 2 June 2022.")
    assert confirms("When did she arrive?", "2 June", told)
    assert not confirms("When did she arrive?", "2 July", told)


def test_few_passages_are_read_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    close = use(monkeypatch, Close(NOTHING))
    told = [finding(f"Text {number} names nobody.") for number in range(2 * READ)]
    for _ in range(2):
        assert not confirms(WHO, "Ann Lee", told)
    assert len(close.read) == READ


@pytest.mark.parametrize(("relevance", "held"), [(0.29, False), (0.3, True)])
def test_a_row_must_bear_on_the_question(
    monkeypatch: pytest.MonkeyPatch, relevance: float, held: bool
) -> None:
    use(monkeypatch, Close(NOTHING, relevance))
    assert bears(WHO, finding("| Firm: Halstad | Remark: repaired in 2017")) is held


@pytest.mark.parametrize(
    ("verdict", "affirms", "held"),
    [
        (Verdict(0.9, 0.0, 0.1), True, True),
        (Verdict(0.9, 0.0, 0.1), False, False),
        (Verdict(0.06, 0.24, 0.7), False, False),
        (Verdict(0.1, 0.6, 0.3), False, True),
    ],
)
def test_a_sentence_takes_the_side_that_the_close_reader_sees(
    monkeypatch: pytest.MonkeyPatch, verdict: Verdict, affirms: bool, held: bool
) -> None:
    use(monkeypatch, Close(NOTHING, verdict=verdict))
    said = "After her marriage Maud Teerling signed as M. Vaals."
    assert takes_side(said, "Both are one painter.", affirms=affirms) is held


def test_the_close_reader_itself_tells_an_answer_from_a_name_beside_it() -> None:
    told = findings("Anselma Tofte, who had travelled with the pictures as courier, agrees.")
    assert confirms(WHO, "Anselma Tofte", told)
    beside = findings("The picture hangs in Rijnhaven as a work by Jorinde Vaals.")
    assert not confirms(WHO, "Jorinde Vaals", beside)
