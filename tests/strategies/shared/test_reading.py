from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.core.events import FindingDropped
from deepdiver.core.numbering import GAP
from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.text import Span, size_of
from deepdiver.errors import GatewayError
from deepdiver.gateway import Gateway
from deepdiver.strategies.shared import reading
from deepdiver.strategies.shared.base import LookResult
from deepdiver.strategies.shared.findings import ReadSource
from deepdiver.strategies.shared.look import look_into
from deepdiver.strategies.shared.materials import gather_material
from deepdiver.strategies.shared.reading import (
    BATCH_BYTES,
    CHOSEN_FROM,
    FREE_CHARS,
    LEAST_CHARS,
    NUMBERED,
    PIECE_CHARS,
    TOKEN_BYTES,
    excerpt,
    find_nearest,
    is_read_whole,
    lay_out_library,
    list_unanswered,
    read_together,
    titles_of_library,
    with_heads,
)
from deepdiver.strategies.shared.room import BRIEF
from deepdiver.tools.hit import Hit
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    PaidReasoner,
    Rig,
    ScriptedReasoner,
    Shelf,
    fail,
)

OWNER, YEAR = "Who owns Holm Works?", "When was Holm Works founded?"


def paid(home: Path, corpus: Any = CORPUS, **more: Any) -> Rig:
    return Rig(home, PaidReasoner(), CorpusProvider(corpus), **more)


def shown_in(rig: Rig) -> list[str]:
    return [text.plain for task in rig.reasoner.of(tasks.ExtractFindings) for text in task.texts]


async def test_findings_without_quotes_are_looked_for_in_what_was_read(tmp_path: Path) -> None:
    def summarise(task: tasks.ExtractFindings) -> tasks.Extraction:
        said = "Anna Holm is the owner of Holm Works. Carl Dahl is its director."
        return tasks.Extraction(findings=(tasks.Extracted(statement=said),))

    deps = Rig(tmp_path, ScriptedReasoner(extract_findings=summarise)).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    (found,) = (deps.ledger.get(Finding, key) for key in looked.findings)
    assert found.statement == "Anna Holm is the owner of Holm Works."
    assert "Anna Holm" in found.quotes[0].text


async def test_a_quote_is_found_through_its_typesetting(tmp_path: Path) -> None:
    corpus = {"doc:x": ("X", "register", "Holm Works is “owned”\nby Anna Holm — alone.")}

    def retype(task: tasks.ExtractFindings) -> tasks.Extraction:
        found = tasks.Extracted(
            statement="s", source="T1", quote='Holm Works is "owned" by Anna Holm - alone.'
        )
        return tasks.Extraction(findings=(found,))

    deps = (
        Rig(tmp_path, ScriptedReasoner(extract_findings=retype), CorpusProvider(corpus))
        .session()
        .deps
    )
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    assert deps.ledger.get(Finding, looked.findings[0]).quotes[0].text == corpus["doc:x"][2]


@pytest.mark.parametrize("source", ["text 1", "t1", "1", "Register", "https://example.org", ""])
async def test_a_text_that_is_not_named_by_its_label_is_known_by_the_quote(
    tmp_path: Path, source: str
) -> None:
    def otherwise(task: tasks.ExtractFindings) -> tasks.Extraction:
        one = tasks.Extracted(
            statement="Anna owns it.", source=source, quote="Holm Works is owned by Anna Holm."
        )
        return tasks.Extraction(findings=(one,))

    corpus = CorpusProvider({"doc:register": CORPUS["doc:register"], "doc:x": ("X", "x", "own X")})
    deps = Rig(tmp_path, ScriptedReasoner(extract_findings=otherwise), corpus).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION])
    (key,) = looked.findings
    finding = deps.ledger.get(Finding, key)
    assert deps.ledger.get(Source, finding.quotes[0].source).url == "doc:register"


async def test_a_quote_that_two_texts_hold_needs_the_label_of_one(tmp_path: Path) -> None:
    def vague(task: tasks.ExtractFindings) -> tasks.Extraction:
        one = tasks.Extracted(statement="It is there.", source="the register", quote="Holm Works")
        return tasks.Extraction(findings=(one,))

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=vague))
    looked = await look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION])
    assert looked.findings == ()
    assert [event.reason for event in rig.of(FindingDropped)] == ["there is no text 'the register'"]


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("Holm Works made 45 tonnes, and the dairy 1,300 tonnes.", False),
        ("Holm Works made 45 tonnes, a third more than 34.", False),
        ("Holm Works made 45 tonnes in 2025.", True),
        ("Holm Works of the 17 mills made 45 tonnes.", True),
        ("Holm Works has 230 owners.", True),
    ],
)
async def test_a_note_with_a_figure_that_its_source_has_nowhere_gives_way_to_the_quote(
    tmp_path: Path, statement: str, kept: bool
) -> None:
    """It mixes texts, or has worked something out, and would be judged as what was found."""

    def note(task: tasks.ExtractFindings) -> tasks.Extraction:
        said = tasks.Extracted(statement=statement, source="T1", lines=(4, 1))
        return tasks.Extraction(findings=(said,))

    first, last = "Holm Works made 45 tonnes of rope.", "Nobody in the valley owns another mill."
    told = f"{first} It sold all of them in the same year. It has 230 owners. {last}"
    corpus = CorpusProvider({"doc:x": ("The 17 mills", "register", told)})
    reasoner = PaidReasoner(extract_findings=note)
    deps = Rig(tmp_path, reasoner, corpus).session().deps
    looked = await look_into(deps, QUESTION, QUESTION, ["Holm Works"])
    (found,) = (deps.ledger.get(Finding, key) for key in looked.findings)
    quoted = f"{first} {GAP} {last}"
    assert found.statement == (statement if kept else quoted)
    assert {quote.text for quote in found.quotes} == {first, last}


async def test_a_lead_is_a_name_or_a_question_and_no_essay(tmp_path: Path) -> None:
    essay = f"Anna Holm. {'She may know more about the works and all that belongs to it. ' * 9}"

    def lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        return tasks.Extraction(findings=(), leads=(essay, "Carl Dahl"))

    reasoner = PaidReasoner(extract_findings=lead)
    looked = await look_into(Rig(tmp_path, reasoner).session().deps, QUESTION, QUESTION, [QUESTION])
    first, second = looked.leads
    assert first.startswith("Anna Holm. She may know more")
    assert len(first) <= BRIEF
    assert second == "Carl Dahl"


def test_a_long_text_is_shown_by_its_best_passages_in_their_order() -> None:
    filler = "Nothing of note happened on that day in the valley. " * 200
    text = f"The harbour opened in 1901. {filler}\n\nThe harbour burned in 1950. {filler}"
    shown = excerpt(text, "harbour burned opened", FREE_CHARS)
    assert len(shown) <= FREE_CHARS + 2_000
    assert shown.index("opened in 1901") < shown.index("burned in 1950")
    assert excerpt("short", "x", FREE_CHARS) == "short"


@given(st.text(max_size=12_000), st.text(max_size=50))
def test_an_excerpt_is_never_much_longer_than_allowed(text: str, wanted: str) -> None:
    assert len(excerpt(text, wanted, FREE_CHARS)) <= 2 * FREE_CHARS


async def test_texts_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 10_000)
    many = {
        f"doc:{n}": (f"D{n}", "register", f"Holm Works note {n}. " + "x y z. " * 560)
        for n in range(6)
    }
    rig = Rig(tmp_path, provider=CorpusProvider(many))
    await look_into(rig.session().deps, QUESTION, QUESTION, ["Holm Works note"])
    read = rig.reasoner.of(tasks.ExtractFindings)
    assert len(read) > 1
    assert sorted(text.title for task in read for text in task.texts) == [f"D{n}" for n in range(6)]
    assert all(sum(len(text.plain) for text in task.texts) <= BATCH_BYTES for task in read)


async def test_what_is_open_after_several_batches_is_told_by_what_the_findings_are_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 10_000)
    many = {
        f"doc:{n}": (f"D{n}", "register", f"Holm Works note {n}. " + "x y z. " * 560)
        for n in range(6)
    }

    def read(task: tasks.ExtractFindings) -> tasks.Extraction:
        labels = {part.question: part.id for part in task.problems}
        title = task.texts[0].title
        said = tasks.Extracted(
            statement=f"Note {title}.", source="T1", lines=(1,), about=labels.get(YEAR, "")
        )
        return tasks.Extraction(findings=(said,), questions=task.unanswered)

    rig = Rig(tmp_path, PaidReasoner(extract_findings=read), CorpusProvider(many))
    open_ = (OWNER, YEAR)
    looked = await look_into(
        rig.session().deps, QUESTION, "Holm Works", ["Holm Works note"], unanswered=open_
    )
    asked = rig.reasoner.of(tasks.ExtractFindings)
    assert len(asked) > 1
    for task in asked:
        assert task.unanswered == (), "no reading sees all texts"
        assert [part.question for part in task.problems] == ["Holm Works", OWNER, YEAR]
    assert looked.questions == (OWNER,)
    assert len(looked.findings) == len(asked), "findings on an open question are the look's own"


async def test_a_single_reading_is_asked_what_is_open(tmp_path: Path) -> None:
    def read(task: tasks.ExtractFindings) -> tasks.Extraction:
        said = tasks.Extracted(statement="It has an owner.", source="T1", lines=(1,))
        return tasks.Extraction(findings=(said,), questions=(YEAR,))

    rig = Rig(tmp_path, PaidReasoner(extract_findings=read), CorpusProvider(CORPUS))
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, QUESTION, [QUESTION], unanswered=(OWNER, YEAR))
    assert {task.unanswered for task in rig.reasoner.of(tasks.ExtractFindings)} == {(OWNER, YEAR)}
    assert looked.questions == (YEAR,)


def test_a_query_belongs_to_the_part_it_shares_most_words_with() -> None:
    parts = ["Who owns Holm Works?", "When was Holm Works founded?"]
    assert find_nearest("year Holm Works was founded", parts) == parts[1]
    assert find_nearest("weather", parts) == parts[0]


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (["a", "b"], [], ("a", "b")),
        (["a", "b"], [["a", "b"]], ("a", "b")),
        (["a", "b"], [["b"]], ("b",)),
        (["a", "b"], [["b"], ["a"]], ()),
        (["a"], [["c", "a"], ["a", "d", "c", " "]], ("a", "c", "d")),
        ([], [[]], ()),
    ],
)
def test_a_question_is_answered_when_one_reading_no_longer_names_it(
    before: list[str], after: list[list[str]], left: tuple[str, ...]
) -> None:
    assert list_unanswered(before, after) == left


@given(
    st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.lists(st.sampled_from("abcdef")))
)
def test_the_order_of_readings_does_not_change_what_is_answered(
    before: list[str], after: list[list[str]]
) -> None:
    one, other = list_unanswered(before, after), list_unanswered(before, after[::-1])
    assert set(one) == set(other)
    assert len(set(one)) == len(one)
    assert [item for item in one if item in before] == [item for item in before if item in one]


def test_an_excerpt_is_as_long_as_it_may_be() -> None:
    text = "\n\n".join(f"Paragraph {n} of the works. " * 10 for n in range(60))
    assert excerpt("short", "works", 10) == "short"
    assert len(excerpt(text, "works", 1_000)) <= 1_000 + 2
    assert len(excerpt(text, "works", FREE_CHARS)) > 2_000


# -- citing by number


async def test_numbers_are_cut_into_quotes_of_the_saved_text(tmp_path: Path) -> None:
    deps = paid(tmp_path).session().deps
    looked = await look_into(deps, QUESTION, OWNER, [QUESTION])
    assert looked.findings
    for key in looked.findings:
        quote = deps.ledger.get(Finding, key).quotes[0]
        text = deps.store.texts.get(quote.passage.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text
        assert "own" in quote.text or "founded" in quote.text


async def test_numbers_far_apart_are_two_quotes_the_nearer_one_first(tmp_path: Path) -> None:
    table = "| Region | Share |\n| --- | --- |\n| North | 4 |\n| South | 9 |\n"

    def row(task: tasks.ExtractFindings) -> tasks.Extraction:
        numbers = [n for n, text in numbered(task) if "Region" in text or "South" in text]
        one = tasks.Extracted(statement="The South has 9.", source="T1", lines=tuple(numbers))
        return tasks.Extraction(findings=(one,))

    rig = paid(tmp_path, {"doc:t": ("Table", "register", f"Holm Works shares.\n\n{table}")})
    rig.reasoner.rules["extract_findings"] = row
    deps = rig.session().deps
    looked = await look_into(deps, QUESTION, OWNER, ["Holm Works"])
    (finding,) = (deps.ledger.get(Finding, key) for key in looked.findings)
    assert ["South" in quote.text for quote in finding.quotes] == [True, False]
    assert "Region" in finding.quotes[1].text


def numbered(task: tasks.ExtractFindings) -> list[tuple[int, str]]:
    """Return the numbers of the first text, each with what follows it."""
    parts = (part.partition("> ") for part in task.texts[0].text.split("<")[1:])
    return [(int(number), text) for number, _, text in parts]


@pytest.mark.parametrize("lines", [(99,), (0,), ()])
async def test_numbers_that_a_text_does_not_have_carry_nothing(
    tmp_path: Path, lines: tuple[int, ...]
) -> None:
    def lost(task: tasks.ExtractFindings) -> tasks.Extraction:
        one = tasks.Extracted(statement="Carl Dahl rules the moon.", source="T1", lines=lines)
        return tasks.Extraction(findings=(one,))

    rig = paid(tmp_path)
    rig.reasoner.rules["extract_findings"] = lost
    looked = await look_into(rig.session().deps, QUESTION, OWNER, [QUESTION])
    assert looked.findings == ()
    assert len(rig.of(FindingDropped)) == 1


async def test_the_reader_of_a_text_sees_who_published_it_and_when(tmp_path: Path) -> None:
    rig = paid(tmp_path)
    await look_into(rig.session().deps, QUESTION, OWNER, [QUESTION])
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert {text.published for text in task.texts} == {"2026-01-01"}
    assert {text.author for text in task.texts} == {"someone"}
    assert all(text.text.startswith("<1> ") for text in task.texts)
    assert "plain" not in task.prompt().user


# -- reading once


async def test_looks_side_by_side_read_each_text_once_for_all_their_problems(
    tmp_path: Path,
) -> None:
    rig = paid(tmp_path)
    deps = rig.session().deps
    owner, year = await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, YEAR, ["Holm Works founded"]),
    )
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert [part.question for part in task.problems] == [OWNER, YEAR]
    assert sorted(text.plain for text in task.texts) == sorted(CORPUS[key][2] for key in CORPUS)
    said = {key: deps.ledger.get(Finding, key) for key in (*owner.findings, *year.findings)}
    assert {said[key].about for key in owner.findings} == {OWNER}
    assert ["founded in 1998" in said[key].statement for key in year.findings] == [True]
    assert len(owner.sources) == 3


async def test_what_was_read_is_not_sent_again(tmp_path: Path) -> None:
    rig = paid(tmp_path)
    deps = rig.session().deps
    first = await look_into(deps, QUESTION, OWNER, ["Holm Works"])
    again = await look_into(deps, QUESTION, YEAR, ["Holm Works founded"])
    assert len(rig.reasoner.of(tasks.ExtractFindings)) == 1
    assert first.findings
    assert again.findings == ()
    assert again.sources, "the results are told, though nobody reads them again"


async def test_a_copy_at_another_address_is_the_same_text(tmp_path: Path) -> None:
    copy = {**CORPUS, "doc:copy": ("A copy", "newspaper", CORPUS["doc:register"][2])}
    rig = paid(tmp_path, copy)
    await look_into(rig.session().deps, QUESTION, OWNER, ["Holm Works"])
    assert len(shown_in(rig)) == len(set(shown_in(rig))) == 3


async def test_a_reading_that_failed_may_be_made_another_time(tmp_path: Path) -> None:
    rig = paid(tmp_path)
    rig.reasoner.rules["extract_findings"] = fail
    deps = rig.session().deps
    assert (await look_into(deps, QUESTION, OWNER, ["Holm Works"])).findings == ()
    del rig.reasoner.rules["extract_findings"]
    assert (await look_into(deps, QUESTION, OWNER, ["Holm Works"])).findings


async def test_a_reasoner_that_costs_nothing_reads_for_each_look_alone(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, YEAR, ["Holm Works"]),
    )
    asked = [task.problems for task in rig.reasoner.of(tasks.ExtractFindings)]
    assert [[part.question for part in parts] for parts in asked] == [[OWNER], [YEAR]]
    assert deps.readings.held == {}


async def test_a_finding_that_two_looks_make_belongs_to_both(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    one, other = await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, YEAR, ["Holm Works"]),
    )
    assert one.findings
    assert one.findings == other.findings, "whoever entered them into the ledger first"


SLOW = 0.2
"""Seconds in which all other looks can be read."""


class SlowProvider(CorpusProvider):
    """Answers one query when the others have long been answered."""

    def __init__(self, slow: str) -> None:
        super().__init__()
        self.slow = slow

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        hits = await super().search(query, limit, gateway)
        await asyncio.sleep(SLOW if query == self.slow else 0)
        return hits


@pytest.mark.parametrize("slow", ["Holm Works", "Holm Works founded", "Holm Works boats"])
async def test_what_is_read_does_not_depend_on_which_search_was_faster(
    tmp_path: Path, slow: str
) -> None:
    rig = Rig(tmp_path, PaidReasoner(), SlowProvider(slow))
    deps = rig.session().deps
    await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, YEAR, ["Holm Works founded"]),
        look_into(deps, QUESTION, "Boats?", ["Holm Works boats"]),
    )
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert [part.question for part in task.problems] == [OWNER, YEAR, "Boats?"]
    assert [text.title for text in task.texts] == ["Gazette", "Notice", "Register"]


@pytest.mark.parametrize("slow", ["Holm Works", "Works"])
@pytest.mark.parametrize("reads", [ScriptedReasoner, PaidReasoner])
async def test_what_two_looks_find_is_on_record_as_the_first_of_them_found_it(
    tmp_path: Path, slow: str, reads: type[ScriptedReasoner]
) -> None:
    """The ledger keeps what is entered first, so that may not be what was found faster."""

    class Retitling(SlowProvider):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            hits = await super().search(query, limit, gateway)
            return [hit.model_copy(update={"title": f"{hit.title}, {query}"}) for hit in hits]

    deps = Rig(tmp_path, reads(), Retitling(slow)).session().deps
    one, other = await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, "Boats?", ["Works"]),
    )
    assert one.findings
    assert one.sources == other.sources
    assert {deps.ledger.get(Finding, key).about for key in one.findings} == {OWNER}
    titles = [deps.ledger.get(Source, key).title for key in one.sources]
    assert all(title.endswith(", Holm Works") for title in titles)


@pytest.mark.parametrize("slow", ["first", "second"])
async def test_a_finding_of_two_readings_is_on_record_as_the_first_of_them_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    class Slow(PaidReasoner):
        async def perform(self, task: tasks.Task[Any]) -> Any:
            await asyncio.sleep(SLOW if f"the {slow} piece" in str(task) else 0)
            return await super().perform(task)

        def _extract_findings(self, task: tasks.ExtractFindings) -> tasks.Extraction:
            """Note the heading that stands above both pieces."""
            about = "P1" if "the first piece" in task.texts[0].plain else "P2"
            found = tasks.Extracted(
                statement="A heading.", source="T1", quote="Holm Works", about=about
            )
            return tasks.Extraction(findings=(found,))

    monkeypatch.setattr(reading, "BATCH_BYTES", 1)
    monkeypatch.setattr(reading, "PIECE_CHARS", 200)
    pieces = (f"This is the {name} piece. {'It goes on. ' * 12}" for name in ("first", "second"))
    corpus = {"doc:x": ("X", "register", "\n\n".join(("# Holm Works", *pieces)))}
    rig = Rig(tmp_path, Slow(), CorpusProvider(corpus))
    deps = rig.session().deps
    await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Holm Works"]),
        look_into(deps, QUESTION, YEAR, ["Holm Works"]),
    )
    assert len(rig.reasoner.of(tasks.ExtractFindings)) == 2
    (found,) = deps.ledger.of(Finding).values()
    assert found.about == OWNER


async def test_a_look_that_ends_without_reading_keeps_nobody_waiting(tmp_path: Path) -> None:
    rig = paid(tmp_path)
    deps = rig.session().deps

    async def nothing() -> str:
        return "nothing"

    looked, other = await read_together(
        deps, look_into(deps, QUESTION, OWNER, ["Holm Works"]), nothing()
    )
    assert isinstance(looked, LookResult)
    assert looked.findings
    assert other == "nothing"


async def test_looks_that_follow_leads_read_together_in_each_round(tmp_path: Path) -> None:
    far = {**CORPUS, "doc:anna": ("Anna", "register", "Anna Holm lives by the sea and owns it.")}

    class Leading(PaidReasoner):
        def _extract_findings(self, task: tasks.ExtractFindings) -> tasks.Extraction:
            found = super()._extract_findings(task)
            return found.model_copy(update={"leads": ("sea",)})

    rig = Rig(tmp_path, Leading(), CorpusProvider(far))
    deps = rig.session().deps
    await read_together(
        deps,
        look_into(deps, QUESTION, OWNER, ["Works"], hops=1),
        look_into(deps, QUESTION, YEAR, ["Works founded"]),
    )
    read = rig.reasoner.of(tasks.ExtractFindings)
    assert [len(task.texts) for task in read] == [3, 1]
    assert [part.question for part in read[1].problems] == [OWNER]


async def test_an_error_of_one_look_ends_them_all(tmp_path: Path) -> None:
    deps = paid(tmp_path).session().deps

    async def broken() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await read_together(deps, look_into(deps, QUESTION, OWNER, ["Holm Works"]), broken())


@pytest.mark.parametrize("ends", ["stopped", "failed"])
async def test_looks_that_do_not_end_by_themselves_have_nothing_more_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    rig = paid(tmp_path)
    deps, brought = rig.session().deps, asyncio.Event()

    async def read(desk: Any, *more: Any) -> Any:
        brought.set()
        return await usual(desk, *more)

    async def other() -> None:
        if ends == "failed":
            await brought.wait()
            raise ValueError("broken")
        await asyncio.Event().wait()

    usual = reading._Desk.read
    monkeypatch.setattr(reading._Desk, "read", read)
    looks = read_together(deps, look_into(deps, QUESTION, OWNER, ["Holm Works"]), other())
    work = asyncio.create_task(looks)
    await brought.wait()
    if ends == "stopped":
        work.cancel()
    with pytest.raises(ValueError if ends == "failed" else asyncio.CancelledError):
        await work
    assert rig.reasoner.of(tasks.ExtractFindings) == [], "which would be paid for"


# -- the budget


def long_text(words: str, sentences: int = 400) -> str:
    return " ".join(f"{words} of note {number} in the valley." for number in range(sentences))


async def test_a_text_that_fits_the_budget_is_read_whole_in_pieces(tmp_path: Path) -> None:
    text = long_text("Holm Works", 1_000)
    rig = paid(tmp_path, {"doc:long": ("Long", "register", text)})
    await look_into(rig.session().deps, QUESTION, OWNER, ["Holm Works"])
    shown = shown_in(rig)
    assert all(len(part) <= PIECE_CHARS for part in shown)
    assert "".join("".join(shown).split()) == "".join(text.split())


async def test_past_the_budget_the_best_passages_of_each_text_are_read(tmp_path: Path) -> None:
    text = f"{long_text('Nothing')} Anna Holm owns Holm Works. {long_text('Nothing')}"
    corpus = {
        f"doc:{n}": (f"D{n}", "register", text.replace("Nothing", name))
        for n, name in enumerate(("Barley", "Cattle", "Timber", "Herring"))
    }
    rig = paid(tmp_path, corpus, reading_tokens=2_000)
    deps = rig.session().deps
    await look_into(deps, QUESTION, OWNER, ["Holm Works"])
    shown = shown_in(rig)
    assert len(shown) == 4
    assert all("Anna Holm owns Holm Works." in part for part in shown)
    assert sum(map(len, shown)) <= 2_000 * TOKEN_BYTES + 4 * LEAST_CHARS
    before = deps.readings.size
    await look_into(deps, QUESTION, YEAR, ["Barley Cattle Timber Herring note 7"])
    more = shown_in(rig)[len(shown) :]
    assert more, "what was not read yet may be read for another problem"
    assert all("Anna Holm owns" not in part for part in more)
    assert deps.readings.size > before


async def test_gaps_are_marked(tmp_path: Path) -> None:
    nothing = long_text("Nothing")
    text = f"{nothing} Anna Holm owns Holm Works. {nothing} Holm Works burned. {nothing}"
    rig = paid(tmp_path, {"doc:a": ("A", "register", text)}, reading_tokens=1_000)
    await look_into(rig.session().deps, QUESTION, OWNER, ["Holm Works"])
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert "\n\n[…]\n\n" in task.texts[0].text
    assert task.texts[0].text.endswith("[…]")
    assert "Anna Holm owns Holm Works." in task.texts[0].text


async def test_a_library_that_fits_is_read_whole_whatever_was_searched(tmp_path: Path) -> None:
    corpus = {**CORPUS, "doc:far": ("Far", "register", "The decisive message names nobody.")}
    rig = Rig(tmp_path, PaidReasoner(), Shelf(corpus))
    deps = rig.session().deps
    await look_into(deps, QUESTION, OWNER, ["Gazette boats"])
    assert sorted(shown_in(rig)) == sorted(text for _, _, text in corpus.values())
    await look_into(deps, QUESTION, YEAR, ["decisive"])
    assert len(rig.reasoner.of(tasks.ExtractFindings)) == 1


async def test_a_library_that_does_not_fit_is_searched(tmp_path: Path) -> None:
    corpus = {**CORPUS, "doc:far": ("Far", "register", long_text("Something else", 200))}
    rig = Rig(tmp_path, PaidReasoner(), Shelf(corpus), reading_tokens=1_000)
    await look_into(rig.session().deps, QUESTION, OWNER, ["Holm Works"])
    assert len(shown_in(rig)) == 3


# -- a library that the writer reads


async def test_a_library_that_fits_the_desk_is_laid_out_and_nobody_makes_notes(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, PaidReasoner(), Shelf(CORPUS))
    deps = rig.session().deps
    laid_out = await lay_out_library(deps, QUESTION, [OWNER])
    sources = [deps.ledger.get(Source, key) for key in laid_out]
    assert sorted(source.url for source in sources) == sorted(CORPUS)
    assert all(
        not deps.readings.unread(source.snapshot, deps.store.texts.get(source.snapshot))
        for source in sources
    )
    assert rig.reasoner.of(tasks.ExtractFindings) == []
    await look_into(deps, QUESTION, OWNER, ["Holm Works"])
    assert rig.reasoner.of(tasks.ExtractFindings) == [], "no text is sent for reading twice"


async def test_a_reader_who_costs_nothing_reads_before_the_writer(tmp_path: Path) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(), Shelf(CORPUS)).session().deps
    assert await lay_out_library(deps, QUESTION, [OWNER]) == []
    assert deps.readings.size == 0


async def test_where_there_is_more_to_search_nothing_is_laid_out(tmp_path: Path) -> None:
    deps = Rig(tmp_path, PaidReasoner(), Shelf(CORPUS)).session().deps
    deps.providers = [*deps.providers, CorpusProvider()]
    assert await lay_out_library(deps, QUESTION, [OWNER]) == []
    assert deps.readings.size == 0


async def test_a_library_that_is_much_too_large_is_not_laid_out(tmp_path: Path) -> None:
    corpus = {**CORPUS, "doc:far": ("Far", "register", long_text("Something else", 1_500))}
    assert len(corpus["doc:far"][2]) > CHOSEN_FROM * 1_000 * TOKEN_BYTES
    deps = Rig(tmp_path, PaidReasoner(), Shelf(corpus), reading_tokens=1_000).session().deps
    assert await lay_out_library(deps, QUESTION, [OWNER]) == []
    assert await titles_of_library(deps) == []
    assert deps.readings.size == 0


LARGER = {
    "doc:far": (
        "Far",
        "register",
        f"{long_text('Nothing', 120)} Anna Holm owns Holm Works. {long_text('Void', 120)}",
    ),
    "doc:near": ("Near", "register", f"{long_text('Empty', 60)} Holm Works burned in 1931."),
}
"""More than the desk of 1,000 tokens holds; the two sentences that matter stand far within."""


async def test_of_a_larger_library_the_best_passages_are_laid_out(tmp_path: Path) -> None:
    rig = Rig(tmp_path, PaidReasoner(), Shelf(LARGER), reading_tokens=1_000)
    deps = rig.session().deps
    laid_out = await lay_out_library(deps, QUESTION, [OWNER, YEAR])
    sources = [deps.ledger.get(Source, key) for key in laid_out]
    assert sorted(source.url for source in sources) == sorted(LARGER)
    shown = [
        deps.store.texts.get(source.snapshot)[start:end]
        for source in sources
        for start, end in deps.readings.held[source.snapshot]
    ]
    assert any("Anna Holm owns Holm Works." in part for part in shown)
    assert any("Holm Works burned in 1931." in part for part in shown)
    assert sum(map(len, shown)) <= 1_000 * TOKEN_BYTES
    assert rig.reasoner.of(tasks.ExtractFindings) == []
    material = gather_material(deps, [], laid_out=True)
    told = " ".join(item.text for item in material.texts)
    assert "Anna Holm owns Holm Works." in told
    assert "[…]" in told, "what was left out is marked"
    assert size_of(told) <= 1_000 * TOKEN_BYTES * NUMBERED


async def test_what_is_laid_out_of_other_scripts_fits_in_bytes(tmp_path: Path) -> None:
    corpus = {"doc:kana": ("Kana", "register", "ホルム製作所は一九三一年に焼けた。" * 400)}
    rig = Rig(tmp_path, PaidReasoner(), Shelf(corpus), reading_tokens=1_500)
    deps = rig.session().deps
    assert await lay_out_library(deps, "ホルム製作所はいつ焼けたか", [])
    assert 0 < deps.readings.size <= 1_500 * TOKEN_BYTES / 2, "three bytes a character"


async def test_a_person_who_approves_plans_is_shown_the_searches_of_a_larger_library(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path, PaidReasoner(), Shelf(LARGER), reading_tokens=1_000).session().deps
    deps.approve = True
    assert await lay_out_library(deps, QUESTION, [OWNER]) == []
    assert deps.readings.size == 0
    assert not deps.ledger.of(Source)


async def test_a_search_that_fails_leaves_the_choice_to_the_words(tmp_path: Path) -> None:
    class Deaf(Shelf):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            raise GatewayError("the index is broken")

    deps = Rig(tmp_path, PaidReasoner(), Deaf(LARGER), reading_tokens=1_000).session().deps
    assert await lay_out_library(deps, QUESTION, [OWNER])
    assert any("the index is broken" in limit for limit in deps.notes)


async def test_a_library_half_as_large_again_as_the_budget_is_laid_out(tmp_path: Path) -> None:
    corpus = {"doc:far": ("Far", "register", "Anna Holm owns Holm Works. " * 200)}
    rig = Rig(tmp_path, PaidReasoner(), Shelf(corpus), reading_tokens=1_000)
    deps = rig.session().deps
    assert not await is_read_whole(deps), "5,400 bytes are more than 4,000"
    assert len(await lay_out_library(deps, QUESTION, [OWNER])) == 1
    assert await titles_of_library(deps) == ["Far"]


async def test_an_empty_library_is_not_laid_out(tmp_path: Path) -> None:
    deps = Rig(tmp_path, PaidReasoner(), Shelf({})).session().deps
    assert await lay_out_library(deps, QUESTION, [OWNER]) == []


# -- heads


DOCUMENT = """# Report

Opening words of it.

## Staff

| Name | Age |
| --- | --- |
| Anna | 40 |
| Bo | 50 |

## Money

All is well.
"""


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        ("| Bo | 50 |", ["## Staff", "| Name | Age |"]),
        ("All is well.", ["## Money"]),
        ("Opening words of it.", ["# Report"]),
    ],
)
def test_a_part_carries_its_heading_and_the_header_of_its_table(
    words: str, heads: list[str]
) -> None:
    start = DOCUMENT.index(words)
    shown = [part.of(DOCUMENT) for part in with_heads(DOCUMENT, [Span(start, start + len(words))])]
    told = "\n".join(shown)
    assert all(head in told for head in heads)
    assert words in told
    assert sum(map(len, shown)) <= len(words) + sum(len(head) + 2 for head in heads)


def test_a_text_without_headings_has_no_heads() -> None:
    text = "One thing. Another thing. A third."
    assert with_heads(text, [Span(11, 25)]) == (Span(11, 25),)


@pytest.mark.parametrize(
    ("reasoner", "provider", "tokens", "whole"),
    [
        (PaidReasoner(), Shelf(), 40_000, True),
        (PaidReasoner(), Shelf({"doc:far": ("Far", "", "Long words. " * 400)}), 1_000, False),
        (PaidReasoner(), CorpusProvider(), 40_000, False),
        (ScriptedReasoner(), Shelf(), 40_000, False),
    ],
    ids=["a library that fits", "one that does not", "the web", "a reasoner that is free"],
)
async def test_what_is_read_whole_is_known(
    tmp_path: Path,
    reasoner: ScriptedReasoner,
    provider: CorpusProvider,
    tokens: int,
    whole: bool,
) -> None:
    deps = Rig(tmp_path, reasoner, provider, reading_tokens=tokens).session().deps
    assert await is_read_whole(deps) is whole
    deps.providers = [provider, CorpusProvider()]
    assert not await is_read_whole(deps), "there is more to be searched"


def fetched(text: str, *found: Span) -> ReadSource:
    source = Source(id="s_1", kind=SourceKind.DOCUMENT, url="/a", title="A", snapshot="x")
    item = reading._Fetched(ReadSource(source, text), ["what"], set(), dict.fromkeys(found, 0))
    return reading._for_nothing(item)


def test_a_short_text_is_shown_whole_with_what_was_found() -> None:
    shown = fetched("One. Two. Three.", Span(5, 9))
    assert shown.shown == "One. Two. Three."
    assert shown.found == (Span(5, 9),)


def test_a_memo_in_which_something_was_found_is_shown_whole() -> None:
    memo = f"{'Sales rose. ' * (reading.FREE_CHARS // 12)}\n\nCards brought 5%."
    assert FREE_CHARS < len(memo) <= reading.FREE_WHOLE
    shown = fetched(memo, Span(0, 11))
    assert shown.shown == memo
    assert shown.found == (Span(0, 11),)
    assert len(fetched(memo).shown) <= FREE_CHARS, "a page that a search did not look into"


def test_of_a_long_text_the_passages_that_were_found_are_shown() -> None:
    text = f"{'a ' * 3_000}MIDDLE {'b ' * 3_000}END"
    one, other = (
        Span(text.index("MIDDLE"), text.index("MIDDLE") + 6),
        Span(len(text) - 3, len(text)),
    )
    shown = fetched(text, other, one)
    assert [span.of(shown.shown) for span in shown.found] == ["MIDDLE", "END"]
    assert GAP in shown.shown


def test_a_table_is_shown_whole() -> None:
    rows = "\n".join(f"| Name: n{n} | Value: {n}" for n in range(400))
    text = f"Before.\n\n{rows}\n\nAfter."
    assert len(text) > reading.FREE_WHOLE
    at = text.index("| Name: n150 |")
    shown = fetched(text, Span(at, at + 20))
    assert shown.shown == rows
    assert [span.of(shown.shown) for span in shown.found] == [text[at : at + 20]]


def test_an_endless_table_is_shown_in_part() -> None:
    rows = "\n".join(f"| Name: n{n} | Value: {n}" for n in range(20_000))
    at = rows.index("| Name: n9000 |")
    assert len(fetched(rows, Span(at, at + 20)).shown) < 3 * reading.TABLE_CHARS
