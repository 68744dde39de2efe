from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.core.events import Limited
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Finding,
    Mark,
    Passage,
    Quote,
    Report,
    RunStatus,
    SecondOpinion,
    Sentence,
    SentenceKind,
    Source,
    SourceKind,
    Stance,
)
from deepdiver.encoders.reader import CLOSE, SMALL, Reader, Verdict
from deepdiver.gateway import Mode
from deepdiver.report.bindings import Cited
from deepdiver.report.html import render_html
from deepdiver.report.kinds import READERS_CAUTION, matched_line
from deepdiver.report.markdown import answer_text, render_markdown
from deepdiver.run import replay, research
from deepdiver.strategies.shared import second_opinion
from deepdiver.strategies.shared.second_opinion import (
    AGREES,
    CONTRADICTS,
    EXCHANGED,
    FORMS,
    LIKELY,
    MARGIN,
    QUOTES,
    READ,
    UNASKED,
    WORD_FOR_WORD,
    CitedText,
    _odds,
    contradicted,
    find_turned,
    stands_in_row,
    stands_whole,
    with_opinions,
)
from deepdiver.strategies.table import TABLE
from tests.patience import PATIENCE
from tests.run.test_run import web_of
from tests.servers.brain import ACTS, Fields, made_search, popper_brain
from tests.servers.scripted import ScriptedServer
from tests.strategies.drafts import Draft, DraftSentence, draft_of, label_of, told
from tests.strategies.rig import CORPUS, CorpusProvider, Rig, ScriptedReasoner
from tests.strategies.shared.desk import desk

OWNED = "Holm Works is owned by Anna Holm."
DENIED = "Holm Works is not owned by Anna Holm."
HARDLY = "Holm Works is hardly owned by Anna Holm."
"""The quote denies it, and no word of it can be exchanged for one of the quote's."""
OTHERWISE = "Anna Holm is the owner of Holm Works."
BESIDE = "Holm Works belongs to a register of old firms."


def fact(text: str, *words: str, **more: Any) -> Callable[[tasks.ReportBrief], DraftSentence]:
    """A sentence that cites the findings whose quotes hold these words."""
    return lambda task: told(text, *(label_of(task, word) for word in words), **more)


def rig_of(
    home: Path, *made: Callable[[Any], DraftSentence], settings: Any = None, **rules: Any
) -> Rig:
    """A run whose writer says just this, and whose checker finds nothing wrong with it."""
    rules = {"write_report": lambda task: Draft(tuple(make(task) for make in made))} | rules
    return Rig(home, ScriptedReasoner(**rules), **(settings or {}))


async def report_of(rig: Rig) -> Report:
    outcome = await rig.work()
    assert outcome.error is None
    assert outcome.report is not None
    return outcome.report


def foot(report: Report) -> list[str]:
    """What the limits say of the reader, and what the evidence view counts."""
    listed = [line for line in report.limits if line.startswith("The reader")]
    return [*listed, *filter(None, (matched_line(report),))]


def sentences_of(report: Report) -> list[Sentence]:
    return [
        *report.answer,
        *(sentence for section in report.sections for sentence in section.all_sentences()),
    ]


class Fixed:
    """A reader that gives one verdict on everything by default, it keeps the pairs."""

    def __init__(
        self, supports: float = 0.0, refutes: float = 0.0, **by_words: tuple[float, float]
    ) -> None:
        self.usual, self.by_words = (supports, refutes), by_words
        self.asked: list[tuple[str, str]] = []
        self.calls = 0

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        self.asked += pairs
        self.calls += 1
        return [self.judge(evidence) for evidence, _ in pairs]

    def judge(self, evidence: str) -> Verdict:
        held = tuple(word for word in self.by_words if word in evidence)
        supports, refutes = self.by_words.get("_".join(held), self.usual)
        return Verdict(supports, refutes, 0.0)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Puts another reader in the place of ours."""

    def put(other: Any) -> Any:
        monkeypatch.setattr(second_opinion, "load_reader", lambda: other)
        monkeypatch.setattr(second_opinion, "load_close_reader", lambda: other)
        return other

    return put


# -- what can go wrong


def missing(folder: Path) -> None:
    """There is no model."""


def damaged(folder: Path) -> None:
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"not what was shipped")


@pytest.mark.parametrize("harm", [missing, damaged], ids=lambda harm: harm.__name__)
async def test_a_model_that_cannot_be_used_costs_the_opinions_and_nothing_else(
    tmp_path: Path, reader: Callable[[Any], Any], harm: Callable[[Path], None]
) -> None:
    harm(tmp_path / "model")
    reader(Reader(replace(CLOSE, folder=tmp_path / "model")))
    rig = rig_of(tmp_path / "home", fact(OTHERWISE, OWNED), fact(OWNED, OWNED))
    report = await report_of(rig)
    assert report.status is RunStatus.ANSWERED
    assert [sentence.text for sentence in report.answer] == [OTHERWISE, OWNED]
    assert [sentence.second_opinion for sentence in report.answer] == [None, None]
    assert [sentence.mark for sentence in report.answer] == ["", ""]
    assert foot(report) == [UNASKED], "one note, and no count"
    assert [event.what for event in rig.of(Limited)] == [UNASKED]
    assert str(tmp_path) not in render_markdown(report), "a report names no folder of this machine"
    again = await rig.work(Mode.REPLAY)
    assert again.report is not None
    assert again.report.hash == report.hash


async def test_a_runtime_that_does_not_load_is_told_likewise(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    class Broken:
        def verify(self, pairs: Any) -> Any:
            raise ImportError("onnxruntime: DLL load failed")

    reader(Broken())
    assert foot(await report_of(rig_of(tmp_path, fact(OTHERWISE, OWNED)))) == [UNASKED]


async def test_another_error_is_nobodys_secret(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    class Wrong:
        def verify(self, pairs: Any) -> Any:
            raise ZeroDivisionError("a fault of ours")

    reader(Wrong())
    with pytest.raises(ZeroDivisionError):
        await rig_of(tmp_path, fact(OTHERWISE, OWNED)).work()


# -- what it says


async def test_a_sentence_that_its_quote_denies_gets_a_caution_wherever_it_is_shown(
    tmp_path: Path,
) -> None:
    report = await report_of(rig_of(tmp_path, fact(HARDLY, OWNED)))
    (sentence,) = report.answer
    assert sentence.second_opinion is not None
    assert sentence.second_opinion.stance is Stance.REFUTES
    assert sentence.second_opinion.confidence >= CONTRADICTS
    assert sentence.second_opinion.confidence == round(sentence.second_opinion.confidence, 2)
    assert sentence.mark == READERS_CAUTION
    line = (
        "The reader that comes with deepdiver compared 1 sentence with the quotes: "
        + "0 match, 1 do not."
    )
    limit = "The reader, a second opinion, contradicts 1 cited sentence."
    assert foot(report) == [limit, line]
    for shown in (render_markdown(report), render_html(report)):
        assert shown.count(READERS_CAUTION) == 1
        assert shown.count(line) == 1
        assert shown.count(limit) == 1
    assert READERS_CAUTION in answer_text(report)


async def test_what_is_said_in_other_words_is_agreed_to_by_the_model(tmp_path: Path) -> None:
    report = await report_of(rig_of(tmp_path, fact(OTHERWISE, OWNED)))
    (sentence,) = report.answer
    assert sentence.second_opinion is not None
    assert sentence.second_opinion.stance is Stance.SUPPORTS
    assert AGREES <= sentence.second_opinion.confidence <= 1.0
    assert sentence.mark == ""


async def test_what_it_says_nothing_of_stays_as_it_is(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    reader(Fixed(supports=AGREES - 0.01, refutes=CONTRADICTS - 0.0001))
    on = await report_of(rig_of(tmp_path / "on", fact(BESIDE, OWNED)))
    off = await report_of(
        rig_of(tmp_path / "off", fact(BESIDE, OWNED), settings={"second_opinion": False})
    )
    (sentence,) = on.answer
    assert sentence.second_opinion == SecondOpinion(
        stance=Stance.NEUTRAL, confidence=round(1 - CONTRADICTS, 2)
    )
    assert sentence.model_copy(update={"second_opinion": None}) == off.answer[0]
    assert (on.status, on.confidence) == (off.status, off.confidence)


@pytest.mark.parametrize(
    ("supports", "refutes", "stance", "confidence"),
    [
        (AGREES, 0.0, Stance.SUPPORTS, AGREES),
        (0.98765, 0.0, Stance.SUPPORTS, 0.99),
        (AGREES, 1.0, Stance.SUPPORTS, AGREES),
        (0.0, CONTRADICTS, Stance.REFUTES, round(CONTRADICTS, 2)),
        (AGREES - 0.0001, 0.9999, Stance.REFUTES, 1.0),
        (0.3, 0.5, Stance.NEUTRAL, 0.5),
        (0.1, 0.0, Stance.NEUTRAL, 0.9),
        (0.0, 0.0, Stance.NEUTRAL, 1.0),
    ],
)
async def test_one_quote_that_says_it_is_enough_and_a_side_is_taken_only_by_who_is_sure(
    tmp_path: Path,
    reader: Callable[[Any], Any],
    supports: float,
    refutes: float,
    stance: Stance,
    confidence: float,
) -> None:
    reader(Fixed(supports, refutes))
    (sentence,) = (await report_of(rig_of(tmp_path, fact(OTHERWISE, OWNED)))).answer
    assert sentence.second_opinion == SecondOpinion(stance=stance, confidence=confidence)
    assert (sentence.mark == READERS_CAUTION) == (stance is Stance.REFUTES)


@pytest.mark.parametrize(
    ("clauses", "stance"),
    [((0.0, 0.0), Stance.NEUTRAL), ((0.9, 0.0), Stance.SUPPORTS), ((0.0, 1.0), Stance.REFUTES)],
)
async def test_a_conflict_that_is_told_is_not_contradicted_by_its_other_side(
    tmp_path: Path,
    reader: Callable[[Any], Any],
    clauses: tuple[float, float],
    stance: Stance,
) -> None:
    class ByText(Fixed):
        def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
            self.asked += pairs
            whole = Verdict(0.0, 1.0, 0.0)
            return [
                whole if "minutes" in text and "table" in text else Verdict(*clauses, 0.0)
                for _, text in pairs
            ]

    asked = reader(ByText())
    deps, findings = desk(tmp_path)
    one = "The minutes name 30 hours"
    text = f"{one}, whereas the table names other hours."
    places = (len(one), len(text) - 1)
    said = Sentence(text=text, findings=tuple(findings), places=places)
    (held,) = await with_opinions(deps, [said])
    assert held.second_opinion is not None
    assert held.second_opinion.stance is stance
    assert [claim for _, claim in asked.asked] == [text, one, "whereas the table names other hours"]
    (whole,) = await with_opinions(deps, [said.model_copy(update={"places": ()})])
    assert whole.second_opinion is not None
    assert whole.second_opinion.stance is Stance.REFUTES, "nothing tells which clause cites what"


async def test_what_is_carried_in_part_is_a_judgement_which_it_is_not_asked_about(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    def doubt(task: tasks.CheckSupport) -> tasks.Checks:
        return tasks.Checks(
            checks=tuple(tasks.Check(id=c.id, support="partial", reason="hm") for c in task.claims)
        )

    asked = reader(Fixed(refutes=1.0))
    rig = rig_of(
        tmp_path,
        fact(OTHERWISE, OWNED),
        check_support=doubt,
        repair_sentences=lambda task: tasks.Repairs(repairs=()),
    )
    report = await report_of(rig)
    (sentence,) = report.answer
    assert sentence.kind is SentenceKind.JUDGEMENT
    assert (sentence.second_opinion, sentence.mark, asked.asked) == (None, "", [])
    assert foot(report) == []


@pytest.mark.parametrize("strategy", ["popper", "iterative"])
async def test_a_caution_moves_no_belief(
    tmp_path: Path, reader: Callable[[Any], Any], strategy: str
) -> None:
    reader(Fixed(refutes=1.0))
    settings = {"strategy": strategy}
    on = await report_of(rig_of(tmp_path / "on", fact(OTHERWISE, OWNED), settings=settings))
    settings |= {"second_opinion": False}  # type: ignore[dict-item]
    off = await report_of(rig_of(tmp_path / "off", fact(OTHERWISE, OWNED), settings=settings))
    assert on.answer[0].mark == READERS_CAUTION
    assert (on.status, on.confidence) == (off.status, off.confidence)
    assert on.confidence > 0


# -- who is asked, about what


async def test_what_rules_settle_loads_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AssertionError("the reader was loaded")

    monkeypatch.setattr(second_opinion, "load_reader", refuse)
    monkeypatch.setattr(second_opinion, "load_close_reader", refuse)
    corpus = {
        **CORPUS,
        "doc:birth": ("Parish", "register", "Anna Holm, who owns a boat, was born on 3 May 1980."),
    }
    rig = rig_of(
        tmp_path,
        fact(OWNED, OWNED),
        fact("The evidence speaks for it.", kind=SentenceKind.FRAME),
        fact(
            "Anna Holm is 46 years old on 2026-11-15 (born on 3 May 1980).",
            "1980",
            kind=SentenceKind.CALCULATION,
            expression="years(1980-05-03, 2026-11-15)",
        ),
        settings={"as_of": "2026-11-15", "provider": CorpusProvider(corpus)},
    )
    report = await report_of(rig)
    assert [sentence.second_opinion for sentence in report.answer] == [WORD_FOR_WORD, None, None]
    assert foot(report) == [
        "The reader that comes with deepdiver compared 1 sentence with the quotes: 1 match, "
        "0 do not."
    ]


async def test_the_reader_is_asked_once_and_shown_titles_and_quotes(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    asked = reader(Fixed(1.0))
    trader = "The trader Bertil Ask has it."
    rig = rig_of(
        tmp_path, fact(OTHERWISE, OWNED, "authority"), fact(OWNED, OWNED), fact(trader, "trader")
    )
    await report_of(rig)
    register = f"Register. {OWNED}"
    notice = "Notice. The authority confirms that Anna Holm owns Holm Works."
    assert asked.calls == 1
    assert asked.asked == [
        (f"{register} {notice}", OTHERWISE),
        ("Gazette. Holm Works is owned by Bertil Ask, a trader.", trader),
    ]


def test_quotes_are_read_together_and_a_title_stands_before_those_of_its_source() -> None:
    cited = CitedText(
        "Said.", (("Book", "One."), ("Book", "Two."), ("Log", "Three."), ("", "Four."))
    )
    assert cited.passages() == ["Book. One. Two. Log. Three. Four."]


def test_the_place_of_a_quote_says_who_speaks_and_stands_once_before_quotes_of_it() -> None:
    first, second = "message 1, Ann, 2024-05-06", "message 2, Bo, 2024-05-07"
    cited = CitedText(
        "Said.",
        (
            ("Chat", "One."),
            ("Chat", "Two."),
            ("Chat", "Three."),
            ("Log", "Four."),
            ("Log", "Five."),
        ),
        (first, first, second, second, ""),
    )
    assert cited.passages() == [
        f"Chat. {first}: One. Two. {second}: Three. Log. {second}: Four. Five."
    ]


async def test_the_reader_is_told_who_wrote_a_message(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    asked = reader(Fixed())
    mark = Mark(start=0, kind="message", label="1, Ann Holm, 2024-05-06")
    source = Source(
        id="s", kind=SourceKind.PAGE, url="/a", title="Chat", snapshot="x", marks=(mark,)
    )
    quote = Quote(source="s", passage=Passage(snapshot="x", start=0, end=9), text="I own it.")
    finding = Finding(id="f", statement="I own it.", quotes=(quote,))
    deps = SimpleNamespace(
        settings=SimpleNamespace(second_opinion=True),
        ledger=Ledger([source, finding]),
        note_limit=pytest.fail,
    )
    said = Sentence(text="Ann Holm says that she is the owner.", findings=("f",))
    await second_opinion.with_opinions(cast("Any", deps), [said])
    assert asked.asked == [("Chat. message 1, Ann Holm, 2024-05-06: I own it.", said.text)]


@given(st.lists(st.tuples(st.sampled_from(["", "Book", "Log"]), st.text(max_size=READ + 9))))
def test_no_quote_is_lost_or_cut_and_few_are_read_apart(quotes: list[tuple[str, str]]) -> None:
    passages = CitedText("Said.", tuple(quotes)).passages()
    for _, text in quotes[:QUOTES]:
        assert any(text in passage for passage in passages)
    for one, other in pairwise(passages):
        assert len(f"{one} {other}") > READ, "they could have been read together"
    assert bool(passages) == bool(quotes)


@pytest.mark.parametrize(
    ("first", "second", "stance"),
    [
        ((0.9, 0.0), (0.0, 1.0), Stance.SUPPORTS),
        ((0.0, 0.0), (0.0, 1.0), Stance.REFUTES),
        ((0.5, 0.0), (0.5, 0.0), Stance.NEUTRAL),
    ],
    ids=["one says it", "one says otherwise", "neither is sure"],
)
def test_of_quotes_that_are_read_apart_the_surest_counts(
    reader: Callable[[Any], Any], first: Any, second: Any, stance: Stance
) -> None:
    reader(Fixed(Register=first, Notice=second))
    cited = CitedText("It is so.", (("Register", "a" * READ), ("Notice", "b" * READ)))
    (opinion,) = second_opinion.read_opinions([cited])
    assert opinion.stance is stance


# -- two names or figures of a sentence, exchanged

YEARS = "The shop opened in 2019 and closed in 2021."
TURNED = "In 2021 the shop opened, and in 2019 it closed."
MEANT = "In 2019 the shop opened, and in 2021 it closed."


class ByClaim(Fixed):
    """A reader that gives a verdict on each claim, and one on all others."""

    def __init__(self, usual: float, **by_claim: float) -> None:
        super().__init__()
        self.shares, self.other = by_claim, usual

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        self.asked += pairs
        self.calls += 1
        return [Verdict(self.shares.get(said, self.other), 0.0, 0.0) for _, said in pairs]


def share_of(odds: float) -> float:
    """Return the probability with these odds, as a logarithm."""
    return 1 / (1 + math.exp(-odds))


def opinion_of(text: str, *quotes: str) -> SecondOpinion:
    cited = CitedText(text, tuple(("Register", quote) for quote in quotes or (YEARS,)))
    return second_opinion.read_opinions([cited])[0]


def test_a_sentence_is_contradicted_if_its_quotes_say_it_with_two_figures_exchanged(
    reader: Callable[[Any], Any],
) -> None:
    asked = reader(ByClaim(0.0, **{TURNED: 0.2, MEANT: 0.876}))
    assert opinion_of(TURNED) == SecondOpinion(stance=Stance.REFUTES, confidence=0.88)
    assert asked.asked == [(f"Register. {YEARS}", TURNED), (f"Register. {YEARS}", MEANT)]


@pytest.mark.parametrize(
    ("said", "meant", "stance"),
    [
        (share_of(-EXCHANGED - 0.01), LIKELY, Stance.REFUTES),
        (share_of(-EXCHANGED + 0.01), LIKELY, Stance.NEUTRAL),
        (0.01, LIKELY - 0.01, Stance.NEUTRAL),
        (AGREES - 0.01, 0.85, Stance.NEUTRAL),
        (AGREES - 0.01, 0.999, Stance.REFUTES),
        (0.0, 0.0, Stance.NEUTRAL),
    ],
    ids=["far", "near", "unlikely", "likely too", "much likelier", "neither"],
)
def test_how_much_better_the_other_form_must_be(
    reader: Callable[[Any], Any], said: float, meant: float, stance: Stance
) -> None:
    reader(ByClaim(0.0, **{TURNED: said, MEANT: meant}))
    assert opinion_of(TURNED).stance is stance


def test_who_agrees_or_contradicts_anyway_is_not_asked_again(
    reader: Callable[[Any], Any],
) -> None:
    asked = reader(ByClaim(1.0, **{TURNED: AGREES}))
    assert opinion_of(TURNED).stance is Stance.SUPPORTS
    assert asked.calls == 1
    asked = reader(Fixed(0.0, CONTRADICTS))
    assert opinion_of(TURNED).confidence == round(CONTRADICTS, 2)
    assert asked.calls == 1


def test_without_anything_to_exchange_nothing_more_is_asked(reader: Callable[[Any], Any]) -> None:
    asked = reader(Fixed())
    assert opinion_of("The shop was open for some years.").stance is Stance.NEUTRAL
    assert asked.calls == 1


def test_the_best_of_several_forms_counts_and_of_very_many_the_first_are_read(
    reader: Callable[[Any], Any],
) -> None:
    many = [str(number) for number in range(11, 21)]
    quote = f"It had {', '.join(many)} guests."
    said = f"One by one, it had {', '.join(many[::-1])} guests."
    last = said.replace("20", "-").replace("19", "20").replace("-", "19")
    asked = reader(ByClaim(0.1, **{said: 0.0, last: 0.9}))
    assert opinion_of(said, quote).confidence == 0.9
    assert len(asked.asked) == 1 + FORMS


def test_each_of_several_sentences_has_its_own_forms(reader: Callable[[Any], Any]) -> None:
    reader(ByClaim(0.0, **{MEANT: 0.8, OWNED: 0.9}))
    said = [BESIDE, OWNED, TURNED, BESIDE]
    cited = [CitedText(text, (("Register", YEARS),)) for text in said]
    stances = [opinion.stance for opinion in second_opinion.read_opinions(cited)]
    assert stances == [Stance.NEUTRAL, Stance.SUPPORTS, Stance.REFUTES, Stance.NEUTRAL]


async def test_of_very_many_quotes_the_first_are_read(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    asked = reader(Fixed())
    corpus = {
        f"doc:{n}": (
            f"Book {n}",
            "register",
            f"Clerk number {n} notes that Anna Holm has owned Holm Works.",
        )
        for n in range(QUOTES + 4)
    }
    names = [f"number {n} " for n in range(QUOTES + 4)]
    provider = CorpusProvider(corpus)
    rig = rig_of(
        tmp_path,
        fact(OTHERWISE, *names),
        settings={"provider": provider, "filters": {"results": QUOTES + 4}},
    )
    report = await report_of(rig)
    assert len(report.answer[0].citations) == QUOTES + 4
    shown = " ".join(evidence for evidence, _ in asked.asked)
    assert [f"number {n} " in shown for n in range(QUOTES + 4)] == [True] * QUOTES + [False] * 4


async def test_the_loop_goes_on_while_it_reads(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    begun, released = threading.Event(), threading.Event()

    class Slow(Fixed):
        def verify(self, pairs: Any) -> list[Verdict]:
            begun.set()
            assert released.wait(PATIENCE), "the loop was blocked: nobody could release the reader"
            return super().verify(pairs)

    async def release() -> None:
        await asyncio.to_thread(begun.wait, PATIENCE)
        released.set()

    reader(Slow(supports=1.0))
    report, _ = await asyncio.gather(report_of(rig_of(tmp_path, fact(OTHERWISE, OWNED))), release())
    assert report.answer[0].second_opinion == SecondOpinion(stance=Stance.SUPPORTS, confidence=1.0)


async def test_switched_off_there_is_no_opinion_and_no_word_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(second_opinion, "load_reader")
    monkeypatch.delattr(second_opinion, "load_close_reader")
    rig = rig_of(
        tmp_path, fact(HARDLY, OWNED), fact(OWNED, OWNED), settings={"second_opinion": False}
    )
    report = await report_of(rig)
    assert [sentence.second_opinion for sentence in report.answer] == [None, None]
    assert [sentence.mark for sentence in report.answer] == ["", ""]
    assert foot(report) == []
    assert "second_opinion" not in report.model_dump_json()


async def test_a_report_without_an_answer_says_nothing_of_it(tmp_path: Path) -> None:
    report = await report_of(Rig(tmp_path, ScriptedReasoner(write_report=draft_of())))
    assert report.status is RunStatus.PARTIAL
    assert foot(report) == []


@pytest.mark.parametrize("strategy", list(TABLE))
async def test_every_strategy_has_its_sentences_judged(
    tmp_path: Path, reader: Callable[[Any], Any], strategy: str
) -> None:
    reader(Fixed(refutes=1.0))
    rig = rig_of(
        tmp_path, fact(OTHERWISE, OWNED), fact(OWNED, OWNED), settings={"strategy": strategy}
    )
    report = await report_of(rig)
    facts = [item for item in sentences_of(report) if item.kind is SentenceKind.FACT]
    assert [item.text for item in report.answer] == [OTHERWISE, OWNED]
    assert [item.mark for item in report.answer] == [READERS_CAUTION, ""]
    assert all(item.second_opinion for item in facts)
    assert not any(
        item.second_opinion for item in sentences_of(report) if item.kind is not SentenceKind.FACT
    )
    assert foot(report)[:-1] == contradicted(facts)
    assert f"compared {len(facts)} sentences" in foot(report)[-1]


# -- a chat model, from end to end


def denying(fields: Fields, usual: Fields) -> Fields:
    """Say of the first finding that it never was so, with all its names and numbers."""
    acts = rf" ({'|'.join(ACTS)}) "
    told = usual["markdown"]
    first = told.index("\n- ")
    return {"markdown": told[:first] + re.sub(acts, r" never \1 ", told[first:], count=1)}


async def test_a_chat_model_that_turns_a_quote_round_is_told_so_and_replays_to_the_same_report(
    tmp_path: Path,
) -> None:
    brain = popper_brain(rounds=1, directions={"write_report": [denying]})
    with ScriptedServer(brain, made_search(results=2)) as server:
        settings = web_of(server, tmp_path, read_pages=False)
        outcome = await research("How many crates did the harbour office of Lund count?", settings)
        told = [str(entry.body) for entry in server.models]
    report = outcome.report
    assert report is not None
    assert any("it says “never”, which its quotes do not" in body for body in told)
    facts = [item for item in sentences_of(report) if item.kind is SentenceKind.FACT]
    assert not [item for item in facts if " never " in item.text]
    assert [item.second_opinion for item in facts] == [WORD_FOR_WORD] * len(facts)
    line = (
        f"The reader that comes with deepdiver compared {len(facts)} sentences with the quotes: "
        f"{len(facts)} match, 0 do not."
    )
    assert foot(report) == [line]
    again = await replay(outcome.run.id, settings)  # the server is gone
    assert again.report is not None
    assert again.report.hash == report.hash


# -- counterparts

RISEN = [Cited("Sales of Holm Works rose by 12 %.", "Register, 2026", "Register")]
FALLEN = "Sales of Holm Works fell by 12 %."


class Words:
    """A reader that takes claims with some words to be contradicted, by so much."""

    def __init__(self, **refutes: float) -> None:
        self.refutes, self.asked = refutes, list[tuple[str, str]]()

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        self.asked += pairs
        held = [[self.refutes[word] for word in self.refutes if word in said] for _, said in pairs]
        return [Verdict(0.0, max(shares, default=0.5), 0.0) for shares in held]


async def test_a_reader_that_cannot_be_used_finds_no_counterpart(
    tmp_path: Path, reader: Callable[[Any], Any]
) -> None:
    reader(Reader(replace(SMALL, folder=tmp_path / "nowhere")))
    assert await find_turned([(FALLEN, RISEN)]) == [""]


async def test_it_is_not_asked_where_there_is_no_counterpart(
    reader: Callable[[Any], Any],
) -> None:
    held = reader(Words())
    said = ["Sales rose.", RISEN[0].text, "", "Umsätze sind nicht gefallen und die Kosten auch."]
    assert await find_turned([(text, RISEN) for text in said]) == [""] * len(said)
    assert await find_turned([]) == []
    assert held.asked == []


async def test_a_sentence_whose_quotes_rather_say_its_counterpart(
    reader: Callable[[Any], Any],
) -> None:
    held = reader(Words(fell=0.7, rose=0.3))
    assert await find_turned([("Sales rose.", RISEN), (FALLEN, RISEN)]) == [
        "",
        "it says “fell” where its quotes say “rose”",
    ]
    shown = f"Register. {RISEN[0].text}"
    assert held.asked == [(shown, FALLEN), (shown, FALLEN.replace("fell", "rose"))]


@pytest.mark.parametrize(("more", "wrong"), [(0.02, True), (-0.02, False)])
async def test_the_margin_decides(reader: Callable[[Any], Any], more: float, wrong: bool) -> None:
    def share(odds: float) -> float:
        return 1 / (1 + math.exp(-odds))

    reader(Words(fell=share(MARGIN + more), rose=share(0.0)))
    (fault,) = await find_turned([(FALLEN, RISEN)])
    assert bool(fault) is wrong


async def test_quotes_of_one_source_are_read_together_under_its_title(
    reader: Callable[[Any], Any],
) -> None:
    held = reader(Words())
    more = [Cited("It is old.", title="Register"), Cited("It burnt.", title="News")]
    await find_turned([(FALLEN, [*RISEN, *more])])
    assert held.asked[0][0] == f"Register. {RISEN[0].text} It is old. News. It burnt."


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (FALLEN, RISEN[0].text),
        (DENIED, OWNED),
        ("The ferry sails every 15 hours.", "The ferry sails about every 15 minutes."),
        ("The port always rents its crane to firms.", "The port often rents its crane to firms."),
    ],
)
async def test_the_reader_that_comes_with_deepdiver_tells_them_apart(text: str, quote: str) -> None:
    (fault,) = await find_turned([(text, [Cited(quote)])])
    assert fault.startswith("it says “")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "Sales of Holm Works fell by 12 %.",
            "Holm Works saw a drop in sales by 12 %; costs rose.",
        ),
        ("Many workers praised it.", "Most of the workers praised it."),
        ("Rents are lower in Lund than in Malmö.", "Rents are higher in Malmö than in Lund."),
    ],
)
async def test_and_lets_other_words_for_the_same_pass(text: str, quote: str) -> None:
    assert await find_turned([(text, [Cited(quote)])]) == [""]


@given(st.floats(0, 1), st.floats(0, 1))
def test_odds_rise_with_the_probability_and_have_an_end(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert _odds(low) <= _odds(high)
    assert math.isfinite(_odds(one))
    assert _odds(1 - one) == pytest.approx(-_odds(one), abs=1e-6)


# -- word for word


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("Anna Holm owns it.", "Anna Holm owns it."),
        ("Anna Holm owns it", "Anna Holm owns it."),
        ("Anna Holm owns it.", "She came late. Anna Holm owns it. He left."),
        (
            "Anna Holm owns it. He left.",
            "She came late. Anna Holm owns it. He left. Then it rained.",
        ),
        ("Anna Holm's “old” firm is hers.", 'Anna  Holm’s\n"old" firm is hers.'),
        ("An international firm is hers.", "An inter-\nnational firm is hers."),
        ("Anna Holm owns it.", "**Anna Holm** owns *it*."),
        ("Ownership Anna Holm owns it.", "# Ownership\n\nAnna Holm owns it."),
        ("- Anna Holm owns it.", "- Anna Holm owns it."),
        ("Anna Holm owns it.", "- Anna Holm owns it.\n- He left."),
        ("Two things hold: Anna Holm owns it.", "Two things hold:\n\n- Anna Holm owns it.\n- No."),
        ("Owner: | Holm Since: | 1990", "| Owner: | Holm\n| Since: | 1990"),
        ("Steps: Ask Holm.", "Steps:\n\n1. Ask Holm.\n2. Wait."),
        ("-L, --location: Follow it.", "-L, --location\n    Follow it. Even twice."),
        ("**--url <URL>:** Fetch it.", "--url <URL>\nFetch it."),
    ],
)
def test_a_sentence_that_stands_in_its_quote(said: str, quote: str) -> None:
    assert stands_whole(said, quote)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("", "Anna Holm owns it."),
        (".", "Anna Holm owns it."),
        ("Anna Holm owns it.", ""),
        ("Anna Holm owns it.", "Bertil Ask owns it."),
        ("Anna Holm owns it.", "It is not true that Anna Holm owns it."),
        ("Anna Holm owns it.", "Anna Holm owns it only in name."),
        ("Anna Holm owns it.", "Does anybody know that Anna Holm owns it?"),
        ("Anna Holm owns it.", "Anna Holm owns it?"),
        ("5 million people came.", "25 million people came."),
        ("The rent is 5.", "The rent is 5.7 million."),
        ("Two things hold: He left.", "Two things hold:\n\n- Anna Holm owns it.\n- He left."),
        ("Anna Holm owns it.", "Not so:\n\n- that Anna Holm owns it."),
        ("-L: Follow it.", "-L, --location\n    Follow it."),
        ("-L, --location: Follow it.", "-L, --location\n    Do not follow it. Follow it once."),
    ],
)
def test_a_sentence_that_does_not(said: str, quote: str) -> None:
    assert not stands_whole(said, quote)


def test_a_text_may_stand_in_quotes_that_follow_each_other() -> None:
    quotes = (("", "Anna Holm owns it."), ("", "worker and event are her mills."))
    said = "Anna Holm owns it. worker and event are her mills."
    assert CitedText(said, quotes).word_for_word
    assert not CitedText(said, quotes[:1]).word_for_word
    assert not CitedText(said, (quotes[0], ("", "Bertil sleeps."), quotes[1])).word_for_word


# -- counting

OPINIONS = st.none() | st.builds(
    SecondOpinion, stance=st.sampled_from(list(Stance)), confidence=st.floats(0, 1, allow_nan=False)
)


@given(st.lists(OPINIONS, max_size=60))
def test_the_counts_add_up(opinions: list[SecondOpinion | None]) -> None:
    written = [Sentence(text="It is so.", second_opinion=opinion) for opinion in opinions]
    asked = [opinion for opinion in opinions if opinion]
    refuted = sum(opinion.stance is Stance.REFUTES for opinion in asked)
    assert [
        int(number) for line in contradicted(written) for number in re.findall(r"\d+", line)
    ] == [refuted][:refuted]


ROWS = "Year: 2023 | Hours: 90 | Cost: 7\n| Year: 2024 | Hours: 120 | Cost: 90"


@pytest.mark.parametrize(
    ("value", "row", "column", "quote"),
    [
        ("90", "2024", "Hours", ROWS),
        ("120", "2023", "Hours", ROWS),
        ("120", "", "Hours", ROWS),
        ("12", "2024", "Hours", ROWS),
        ("120 hours", "2024", "Hours", ROWS),
        ("", "2024", "Hours", ROWS),
        ("2024", "2024", "Hours", ROWS),
        ("90", "2023", "Share", "It gave 90."),
        ("90", "2023", "Share", ""),
        ("90%", "2023", "Hours", ROWS),
        ("46%", "2024", "Share", "Year: 2024 | Share: $46"),
        ("46%", "2024", "Share", "Year: 2024 | Share: 46.4%"),
        ("46%", "2024", "Share", "Year: 2024 | Share: 46% of 50%"),
    ],
)
def test_a_value_of_another_row_or_column_does_not_stand_in_its_row(
    value: str, row: str, column: str, quote: str
) -> None:
    assert not stands_in_row(value, row, column, [quote])


def test_a_value_may_be_written_in_another_way() -> None:
    row = "Year: 2024 | Share: 46.00% | Cost: $1,200 | State: On hold"
    assert stands_in_row("46%", "2024", "Share", [row])
    assert stands_in_row("$1200", "2024", "Cost", [row])
    assert not stands_in_row("on hold", "2024", "State", [row]), "words are compared as they are"


def test_a_value_stands_in_its_row() -> None:
    assert stands_in_row("120", "In 2024", "Hours", [ROWS])
    assert stands_in_row("90", "2024", "What it cost", [ROWS])
    assert stands_in_row("120", "", "Time", ["2024 | 120 |"]), "the columns have other names"
    assert not stands_in_row("120", "2024", "Hours", [])
