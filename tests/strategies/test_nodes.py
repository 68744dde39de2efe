from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from deepdiver import tasks
from deepdiver.core.events import Recalled, Searched
from deepdiver.core.record import Finding, RunStatus, Source
from deepdiver.errors import (
    BudgetError,
    CallError,
    CallFault,
    NotJournalledError,
    ReasonError,
    UsageError,
)
from deepdiver.gateway import Mode
from deepdiver.strategies import nodes
from tests.strategies.rig import CORPUS, QUESTION, CorpusProvider, Rig, ScriptedReasoner


def raising(error: Exception) -> Any:
    def rule(task: Any) -> Any:
        raise error

    return rule


@pytest.mark.parametrize(
    "error", [ReasonError("unreadable"), BudgetError("no money"), CallError("x", CallFault.SERVER)]
)
async def test_a_failed_task_is_announced_and_lived_with(tmp_path: Path, error: Exception) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(error))).session().deps
    assert await nodes.attempt(deps, tasks.Decompose(question="q", as_of="2026-01-01")) is None
    assert deps.notes == {f"decompose failed: {error}"}


@pytest.mark.parametrize(
    "error",
    [
        NotJournalledError("replay"),
        CallError("no key", CallFault.AUTH),
        CallError("gone", CallFault.UNREACHED),
    ],
)
async def test_what_nobody_can_live_with_is_raised(tmp_path: Path, error: Exception) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(error))).session().deps
    with pytest.raises(type(error)):
        await nodes.attempt(deps, tasks.Decompose(question="q", as_of="2026-01-01"))


async def test_looking_into_something_brings_findings_with_exact_quotes(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await nodes.look_into(deps, QUESTION, QUESTION, [QUESTION, QUESTION, "  "])
    assert looked.searched
    assert looked.queries == (QUESTION,)
    for key in looked.findings:
        finding = deps.ledger.get(Finding, key)
        quote = finding.quotes[0]
        text = deps.store.get_text(quote.passage.snapshot)
        assert text[quote.passage.start : quote.passage.end] == quote.text
        assert text == CORPUS[deps.ledger.get(Source, quote.source).url][2]


async def test_could_not_search_is_not_nothing_found(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    deps = Rig(tmp_path, provider=provider).session().deps
    failed = await nodes.look_into(deps, QUESTION, QUESTION, ["down"])
    assert not failed.searched
    assert "corpus could not search" in failed.limits[0]
    provider.down = lambda query: False
    empty = await nodes.look_into(deps, QUESTION, QUESTION, ["zzz"])
    assert empty.searched
    assert empty.limits == empty.findings == ()


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
    looked = await nodes.look_into(deps, QUESTION, QUESTION, [QUESTION])
    assert deps.ledger.get(Finding, looked.findings[0]).quotes[0].text == corpus["doc:x"][2]


async def test_leads_stop_when_they_repeat(tmp_path: Path) -> None:
    def same_lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        return tasks.Extraction(findings=(), leads=("Anna Holm",))

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=same_lead))
    await nodes.look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION], hops=5)
    assert rig.provider.queries == [QUESTION, "Anna Holm owns"]


def test_a_lead_is_looked_up_with_what_the_problem_asks_and_without_its_names() -> None:
    assert (
        nodes.lead_query("Anna Holm", "Which children has the owner of Holm Works?")
        == "Anna Holm children owner"
    )


def test_a_lead_that_is_a_question_is_looked_up_as_it_stands() -> None:
    assert (
        nodes.lead_query("Which children has Anna Holm?", "the owner")
        == "Which children has Anna Holm?"
    )


def test_a_long_text_is_shown_by_its_best_passages_in_their_order() -> None:
    filler = "Nothing of note happened on that day in the valley. " * 200
    text = f"The harbour opened in 1901. {filler}\n\nThe harbour burned in 1950. {filler}"
    shown = nodes.excerpt(text, "harbour burned opened")
    assert len(shown) <= nodes.TEXT_CHARS + 2_000
    assert shown.index("opened in 1901") < shown.index("burned in 1950")
    assert nodes.excerpt("short", "x") == "short"


@given(st.text(max_size=12_000), st.text(max_size=50))
def test_an_excerpt_is_never_much_longer_than_allowed(text: str, wanted: str) -> None:
    assert len(nodes.excerpt(text, wanted)) <= 2 * nodes.TEXT_CHARS


async def test_texts_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "BATCH_BYTES", 10_000)
    many = {
        f"doc:{n}": (f"D{n}", "register", f"Holm Works note {n}. " + "x y z. " * 560)
        for n in range(6)
    }
    rig = Rig(tmp_path, provider=CorpusProvider(many))
    await nodes.look_into(rig.session().deps, QUESTION, QUESTION, ["Holm Works note"])
    read = rig.reasoner.of(tasks.ExtractFindings)
    assert len(read) > 1
    assert sorted(text.title for task in read for text in task.texts) == [f"D{n}" for n in range(6)]
    assert all(sum(len(text.text) for text in task.texts) <= nodes.BATCH_BYTES for task in read)


async def test_findings_are_shown_under_labels_and_the_weakest_sources_give_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "SHOWN_FINDINGS", 20)
    corpus = {
        f"doc:{n:02}": (
            f"D{n}",
            "register" if n < 10 else "forum",
            f"Holm Works is owned by number {n} and its heirs.",
        )
        for n in range(nodes.SHOWN_FINDINGS + 20)
    }
    rig = Rig(tmp_path, provider=CorpusProvider(corpus))
    deps = rig.session().deps
    keys: list[str] = []
    for n in range(nodes.SHOWN_FINDINGS + 20):
        keys += (
            await nodes.look_into(
                deps, QUESTION, QUESTION, [f"Holm Works number {n} heirs owned {n}"]
            )
        ).findings
    labels, shown = nodes.show_findings(deps, keys)
    assert len(shown) == nodes.SHOWN_FINDINGS
    assert list(labels) == [item.id for item in shown]
    used = dict.fromkeys(keys)
    strong = {
        key
        for key in used
        if deps.ledger.get(Source, deps.ledger.get(Finding, key).quotes[0].source).credibility.score
        > 0.5
    }
    assert len(strong & set(labels.values())) == min(len(strong), nodes.SHOWN_FINDINGS)


def test_waves_follow_needs_and_cut_circles() -> None:
    assert nodes.waves(["a", "b", "c"], {"c": ("a", "b")}) == [[0, 1], [2]]
    assert nodes.waves(["a", "b", "c"], {"b": ("a",), "c": ("b",)}) == [[0], [1], [2]]
    assert nodes.waves(["a", "b"], {"a": ("b",), "b": ("a",)}) == [[0], [1]]
    assert nodes.waves([], {}) == []


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefz"))),
)
def test_every_problem_stands_in_exactly_one_wave_behind_its_needs(
    names: list[str], needs: dict[str, list[str]]
) -> None:
    waves = nodes.waves(names, needs)
    assert sorted(number for wave in waves for number in wave) == list(range(len(names)))
    assert all(waves)
    place = {names[number]: at for at, wave in enumerate(waves) for number in wave}
    for name in names:
        earlier = [
            other
            for other in needs.get(name, [])
            if other in names and names.index(other) < names.index(name)
        ]
        assert all(place[other] < place[name] for other in earlier)


@pytest.mark.parametrize("reply", [None, "yes", {}, {"action": "perhaps"}])
async def test_a_plan_is_answered_in_one_of_three_ways(tmp_path: Path, reply: Any) -> None:
    async def ask(shown: dict[str, Any]) -> Any:
        return reply

    outcome = await Rig(tmp_path, approve=True).work(ask=ask)
    assert isinstance(outcome.error, UsageError)
    assert "answered with" in str(outcome.error)


async def test_an_accepted_plan_is_followed(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        seen.append(shown)
        return {"action": "accept"}

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert outcome.error is None
    assert seen == [
        {"ask": "approve_plan", "question": QUESTION, "problems": [QUESTION], "ceiling": "$0.0000"}
    ]


async def test_an_edited_plan_is_obeyed(tmp_path: Path) -> None:
    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {"action": "edit", "problems": ["Who founded Holm Works?", "  "]}

    rig = Rig(tmp_path, approve=True)
    await rig.work(ask=ask)
    assert [task.problem for task in rig.reasoner.of(tasks.WriteQueries)] == [
        "Who founded Holm Works?"
    ]


async def test_a_rejected_plan_is_made_anew_with_the_reason(tmp_path: Path) -> None:
    answers = [
        {"action": "reject", "reason": "too broad"},
        {"action": "reject"},
        {"action": "accept"},
    ]

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return answers.pop(0)

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert outcome.error is None
    objections = [task.objection for task in rig.reasoner.of(tasks.Decompose)]
    assert objections == ["", "too broad", "the person did not say why"]
    assert rig.path.count("formulate_problem") == 3


async def test_a_plan_that_grew_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {
            "action": "edit",
            "problems": [f"Who owns part {n} of Holm Works?" for n in range(7)],
        }

    rig = Rig(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert len(rig.reasoner.of(tasks.WriteQueries)) == nodes.PROBLEMS
    assert outcome.report is not None
    assert sum("left out: Who owns part" in line for line in outcome.report.limits) == 2


async def test_past_runs_are_not_looked_at_unless_asked_for(tmp_path: Path) -> None:
    await Rig(tmp_path).work()
    rig = Rig(tmp_path)
    assert await nodes.recall_past(rig.session().deps, QUESTION) == []
    assert rig.store.journal_list(rig.run.id) == []
    assert rig.of(Recalled) == []


async def test_past_runs_are_recalled_and_announced(tmp_path: Path) -> None:
    first = Rig(tmp_path)
    await first.work()
    rig = Rig(tmp_path, past=True)
    (held,) = await nodes.recall_past(rig.session().deps, QUESTION)
    assert held["run"] == first.run.id
    assert held["accepted"] == ["Anna Holm owns Holm Works."]
    assert [(event.run, event.question, event.days) for event in rig.of(Recalled)] == [
        (first.run.id, QUESTION, 0)
    ]


@pytest.mark.parametrize("fault", [CallFault.TIMEOUT, CallFault.SERVER])
async def test_a_memory_that_fails_costs_the_memory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: CallFault
) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise CallError("memory gave no answer", fault)

    rig = Rig(tmp_path, past=True)
    monkeypatch.setattr(nodes, "recall", refuse)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "past runs could not be looked through: memory gave no answer" in outcome.report.limits


async def test_a_replay_that_recalled_nothing_before_is_an_error(tmp_path: Path) -> None:
    rig = Rig(tmp_path, past=True)
    with pytest.raises(NotJournalledError):
        await nodes.recall_past(rig.session(Mode.REPLAY).deps, QUESTION)


# -- what strategies share besides


@pytest.mark.parametrize(
    "messages", [[], [HumanMessage("  ")], [AIMessage("Who?")]], ids=["none", "blank", "not human"]
)
def test_a_question_that_is_not_there_is_refused(messages: list[Any]) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        nodes.question_of({"messages": messages})


def test_the_last_question_counts() -> None:
    asked = [HumanMessage("Who?"), AIMessage("Anna."), HumanMessage(" Since when? ")]
    assert nodes.question_of({"messages": asked}) == "Since when?"


async def test_a_question_that_cannot_be_taken_apart_is_one_part(tmp_path: Path) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(ReasonError("no")))).session().deps
    assert await nodes.parts_of(deps, QUESTION) == [QUESTION]
    assert deps.notes == {"decompose failed: no"}


async def test_parts_are_bounded_and_stand_once(tmp_path: Path) -> None:
    many = tuple(tasks.Problem(question=f"Part {n}?") for n in (0, 0, 1, 2, 3, 4, 5))
    rig = Rig(tmp_path, ScriptedReasoner(decompose=lambda task: tasks.Decomposition(problems=many)))
    parts = await nodes.parts_of(rig.session().deps, QUESTION, "too few")
    assert parts == [f"Part {n}?" for n in range(nodes.PROBLEMS)]
    assert [task.objection for task in rig.reasoner.of(tasks.Decompose)] == ["too few"]


def test_a_query_of_the_same_words_is_the_same_query() -> None:
    asked = [
        {"query": text}
        for text in ("Holm Works owner", "owner Holm works", "  ", "Holm Works founder")
    ]
    assert [item["query"] for item in nodes.untried(asked, [])] == [
        "Holm Works owner",
        "Holm Works founder",
    ]
    assert [item["query"] for item in nodes.untried(asked, ["OWNER works holm"])] == [
        "Holm Works founder"
    ]


def test_a_query_belongs_to_the_part_it_shares_most_words_with() -> None:
    parts = ["Who owns Holm Works?", "When was Holm Works founded?"]
    assert nodes.nearest("year Holm Works was founded", parts) == parts[1]
    assert nodes.nearest("weather", parts) == parts[0]


async def test_sources_are_listed_once_with_a_snippet(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await nodes.look_into(deps, QUESTION, QUESTION, [QUESTION])
    found = [nodes.digest_finding(deps, key) for key in looked.findings]
    listed = nodes.with_sources([], found)
    assert {item["url"] for item in listed} == set(CORPUS)
    assert nodes.with_sources(listed, found) == listed
    assert all(0 < len(item["snippet"]) <= nodes.SNIPPET for item in listed)


async def test_what_a_query_brought_is_told_by_title_and_a_failed_one_is_not(
    tmp_path: Path,
) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query == "broken"
    rig = Rig(tmp_path, provider=provider)
    await nodes.look_into(rig.session().deps, QUESTION, QUESTION, ["Holm Works", "broken", "zebra"])
    told = {event.query: event.titles for event in rig.of(Searched)}
    assert set(told) == {"Holm Works", "zebra"}
    assert set(told["Holm Works"]) == {"Register", "Gazette", "Notice"}
    assert told["zebra"] == ()


async def test_a_run_that_looks_deeper_recalls_the_named_run_and_no_other(tmp_path: Path) -> None:
    first, other = Rig(tmp_path), Rig(tmp_path, question="Who owns Holm Works now?")
    await first.work()
    await other.work()
    for past in (False, True):
        rig = Rig(tmp_path, question="What colour has the gate?", past=past)
        rig.run = rig.run.model_copy(update={"deepens": first.run.id})
        recalled = await nodes.recall_past(rig.session().deps, rig.run.question)
        assert [item["run"] for item in recalled] == [first.run.id]
        assert [event.run for event in rig.of(Recalled)] == [first.run.id]


# -- what was read, what is wanted, what is open


async def test_a_look_tells_what_was_read_in_the_order_of_the_results(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await nodes.look_into(deps, QUESTION, QUESTION, [QUESTION])
    assert {deps.ledger.get(Source, key).url for key in looked.sources} == set(CORPUS)
    assert len(set(looked.sources)) == len(looked.sources)


async def test_only_wanted_hits_are_read(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    looked = await nodes.look_into(
        deps, QUESTION, QUESTION, [QUESTION], wanted=lambda hit: hit.url != "doc:gazette"
    )
    assert {deps.ledger.get(Source, key).url for key in looked.sources} == {
        "doc:register",
        "doc:notice",
    }
    none = await nodes.look_into(deps, QUESTION, QUESTION, ["Holm"], wanted=lambda hit: False)
    assert none.searched, "the search was answered, whatever was wanted of it"
    assert none.sources == ()


async def test_what_is_open_is_shown_to_the_reader_and_goes_on_along_the_leads(
    tmp_path: Path,
) -> None:
    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        found = ScriptedReasoner()._extract_findings(task)
        return found.model_copy(
            update={"leads": ("Holm harbour",), "questions": (*task.unanswered[1:], "New?")}
        )

    rig = Rig(tmp_path, ScriptedReasoner(extract_findings=extract))
    looked = await nodes.look_into(
        rig.session().deps,
        QUESTION,
        QUESTION,
        [QUESTION],
        hops=1,
        unanswered=("One?", "Two?", "Three?"),
    )
    assert [task.unanswered for task in rig.reasoner.of(tasks.ExtractFindings)] == [
        ("One?", "Two?", "Three?"),
        ("Two?", "Three?", "New?"),
    ]
    assert looked.questions == ("Three?", "New?")


async def test_without_anything_open_nothing_is_asked_about_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    looked = await nodes.look_into(rig.session().deps, QUESTION, QUESTION, [QUESTION])
    assert looked.questions == ()
    (task,) = rig.reasoner.of(tasks.ExtractFindings)
    assert "unanswered" not in task.prompt().user


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
    assert nodes.left_open(before, after) == left


@given(
    st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.lists(st.sampled_from("abcdef")))
)
def test_the_order_of_readings_does_not_change_what_is_answered(
    before: list[str], after: list[list[str]]
) -> None:
    one, other = nodes.left_open(before, after), nodes.left_open(before, after[::-1])
    assert set(one) == set(other)
    assert len(set(one)) == len(one)
    assert [item for item in one if item in before] == [item for item in before if item in one]


def test_an_excerpt_is_as_long_as_it_may_be() -> None:
    text = "\n\n".join(f"Paragraph {n} of the works. " * 10 for n in range(60))
    assert nodes.excerpt("short", "works", 10) == "short"
    assert len(nodes.excerpt(text, "works", 1_000)) <= 1_000 + 2
    assert len(nodes.excerpt(text, "works")) > 2_000


async def test_one_provider_may_be_asked_alone_and_along_the_leads_too(tmp_path: Path) -> None:
    rig, other = Rig(tmp_path), CorpusProvider()
    other.name = "other"

    def lead(task: tasks.ExtractFindings) -> tasks.Extraction:
        return (
            ScriptedReasoner()._extract_findings(task).model_copy(update={"leads": ("Anna Holm",)})
        )

    rig.reasoner.rules["extract_findings"] = lead
    looked = await nodes.look_into(
        rig.session().deps, QUESTION, QUESTION, ["Holm Works"], hops=1, providers=[other]
    )
    assert looked.searched
    assert rig.provider.queries == []
    assert len(other.queries) == 2
