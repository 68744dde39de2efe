from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import pytest

from deepdiver import tasks
from deepdiver.core.record import Finding, SourceKind
from deepdiver.errors import CallError, CallFault, NotJournalledError
from deepdiver.strategies.overwatch.execute import (
    LONGEST,
    NO_DATA,
    ToolExecutor,
    ToolStatus,
    drop_repeated_calls,
    list_calls,
    make_calls,
    make_searches,
    make_searches_for,
    tools_of,
    type_finding,
)
from deepdiver.strategies.shared.base import Deps, LookResult
from deepdiver.tasks import Argument, ShownTool, ToolQuery
from deepdiver.tools.hit import Hit
from tests.strategies.rig import QUESTION, CorpusProvider, Rig, call


class Second(CorpusProvider):
    """Another provider."""

    name = "second"
    about = "nothing much"


class Broken:
    """A tool that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.shown = ShownTool(name="detect_heat", about="heat", arguments=("latitude: degrees",))

    def fault(self, args: Mapping[str, str]) -> str:
        return (
            "" if abs(float(args.get("latitude", "0"))) <= 90 else "latitude is between -90 and 90"
        )

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        raise self.error


def executor(rig: Rig, **more: Any) -> ToolExecutor:
    return ToolExecutor(rig.session().deps, QUESTION, **more)


# -- refusals and failures


@pytest.mark.parametrize(
    ("tool", "args", "why"),
    [
        ("read_minds", {"query": "x"}, "there is no such tool"),
        ("search", {}, "holds no words"),
        ("search", {"query": " ?! "}, "holds no words"),
        ("search", {"query": "x", "site": "y"}, "it takes no argument 'site'"),
        ("search", {"query": "x " * LONGEST}, "longer than"),
        ("search_nobody", {"query": "x"}, "there is no such tool"),
    ],
)
async def test_what_cannot_be_called_is_refused_before_any_call(
    tmp_path: Path, tool: str, args: dict[str, str], why: str
) -> None:
    rig = Rig(tmp_path)
    result = await executor(rig).execute(tool, args)
    assert result.status is ToolStatus.REFUSED
    assert why in result.message
    assert result.findings == ()
    assert rig.provider.queries == []
    assert any(why in event.what for event in rig.events if event.type == "limited"), (
        "and the report will say so"
    )


async def test_a_tool_that_fails_is_told_as_failed(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.down = lambda query: True
    result = await executor(rig).execute("search", {"query": "Holm Works"})
    assert result.status is ToolStatus.FAILED
    assert result.message == "search failed: corpus could not search: corpus is down"
    assert (
        result.summary
        == "search(query=Holm Works): search failed: corpus could not search: corpus is down"
    )


async def test_a_tool_of_another_kind_that_raises_is_told_as_failed(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    tool = Broken(CallError("no answer", CallFault.SERVER))
    result = await executor(rig, tools=[tool]).execute("detect_heat", {"latitude": "49.9"})
    assert (result.status, result.message) == (ToolStatus.FAILED, "detect_heat failed: no answer")
    refused = await executor(rig, tools=[tool]).execute("detect_heat", {"latitude": "91"})
    assert refused.status is ToolStatus.REFUSED


async def test_a_replay_that_meets_a_new_call_is_not_hidden(tmp_path: Path) -> None:
    tool = Broken(NotJournalledError("never made"))
    with pytest.raises(NotJournalledError):
        await executor(Rig(tmp_path), tools=[tool]).execute("detect_heat", {})


async def test_an_empty_answer_is_no_data_available(tmp_path: Path) -> None:
    result = await executor(Rig(tmp_path)).execute("search", {"query": "zebra"})
    assert (result.status, result.message) == (ToolStatus.EMPTY, NO_DATA)
    assert NO_DATA == "No data available"


async def test_what_was_read_in_vain_is_told_apart_from_nothing(tmp_path: Path) -> None:
    corpus = {
        "doc:a": ("A", "blog", "Nothing about zebras."),
        "doc:b": ("B", "blog", "Zebras graze."),
    }
    rig = Rig(tmp_path, provider=CorpusProvider(corpus))
    for query, many in (("zebras", "2 sources"), ("graze", "1 source")):
        result = await executor(rig).execute("search", {"query": query})
        assert result.status is ToolStatus.EMPTY
        assert result.message == (
            f"No data available: of {many} read, none says anything that bears on the question"
        )


class News(CorpusProvider):
    """Finds pages of the web, each with its day."""

    days: ClassVar[dict[str, str]] = {"doc:old": "2026-01-01", "doc:new": "2026-11-15"}

    def _hit(self, url: str) -> Hit:
        kind = SourceKind.DOCUMENT if url == "doc:mine" else SourceKind.PAGE
        day = self.days.get(url, "")
        return (
            super()._hit(url).model_copy(update={"kind": kind, "published": day, "complete": True})
        )


def page(text: str) -> tuple[str, str, str]:
    return "Page", "newspaper", text


OLD, NEW, UNDATED, MINE = (
    f"They own the depot, as the {name} page says." for name in ("old", "new", "undated", "mine")
)
SINCE = date(2026, 11, 10)


async def read_since(rig: Rig, since: date | None) -> set[str]:
    deps = rig.session().deps
    tools = tools_of(deps, since)
    result = await ToolExecutor(deps, QUESTION, tools=tools).execute("search", {"query": "depot"})
    return {deps.ledger.get(Finding, key).statement for key in result.findings}


async def test_pages_from_before_the_period_are_left_out_and_own_documents_are_not(
    tmp_path: Path,
) -> None:
    texts = {"doc:old": OLD, "doc:new": NEW, "doc:undated": UNDATED, "doc:mine": MINE}
    corpus = {url: page(text) for url, text in texts.items()}
    everything = set(texts.values())
    assert await read_since(Rig(tmp_path / "a", provider=News(corpus)), None) == everything
    rig = Rig(tmp_path / "b", provider=News(corpus))
    assert await read_since(rig, SINCE) == everything - {OLD}
    assert not [event for event in rig.events if event.type == "limited"]


async def test_where_nothing_else_is_found_older_pages_are_read_and_it_is_said(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, provider=News({"doc:old": page(OLD)}))
    assert await read_since(rig, SINCE) == {OLD}
    assert [event.what for event in rig.events if event.type == "limited"] == [
        "Some searches found nothing that was published since 2026-11-10, so that older pages "
        "were read."
    ]
    assert rig.provider.queries == ["depot"], "it is searched once"
    empty = Rig(tmp_path / "b", provider=News({"doc:old": page("Nothing else.")}))
    assert await read_since(empty, SINCE) == set()
    assert not [event for event in empty.events if event.type == "limited"]


# -- what answers


async def test_what_answers_brings_findings_that_are_in_the_ledger(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    result = await ToolExecutor(deps, QUESTION).execute(
        "search", {"query": "Holm Works"}, "who owns it"
    )
    assert result.status is ToolStatus.ANSWERED
    assert all(key in deps.ledger for key in result.findings)
    assert result.summary == f"search(query=Holm Works): {len(result.findings)} findings"


async def test_one_provider_can_be_asked_alone(tmp_path: Path) -> None:
    rig, other = Rig(tmp_path), Second()
    deps = rig.session().deps
    deps.providers = [rig.provider, other]
    names = [tool.shown.name for tool in tools_of(deps)]
    assert names == ["search", "search_corpus", "search_second"]
    await ToolExecutor(deps, QUESTION).execute("search_second", {"query": "Holm Works"})
    assert (rig.provider.queries, other.queries) == ([], ["Holm Works"])
    await ToolExecutor(deps, QUESTION).execute("search", {"query": "Anna Holm"})
    assert (rig.provider.queries, other.queries[-1]) == (["Anna Holm"], "Anna Holm")


def test_a_reasoner_is_shown_name_purpose_and_arguments(tmp_path: Path) -> None:
    corpus = CorpusProvider()
    corpus.name = "shelf"
    rig = Rig(tmp_path)
    deps = replace(rig.session().deps, providers=(rig.provider, corpus))
    first, second, third = ToolExecutor(deps, QUESTION).definitions
    assert (first.name, first.about) == ("search", "everything at once: corpus, shelf")
    assert (second.name, second.about) == ("search_corpus", "a few documents")
    assert third.name == "search_shelf"
    assert first.arguments == ("query: a short line of words and names",)


async def test_the_search_has_one_name_where_there_is_one_provider(tmp_path: Path) -> None:
    made = executor(Rig(tmp_path))
    assert [tool.name for tool in made.definitions] == ["search"]
    result = await made.execute("search_corpus", {"query": "Holm Works"})
    assert result.status is ToolStatus.ANSWERED, "a call of the other name is understood"


def test_a_search_is_for_the_part_of_the_question_that_it_is_nearest_to() -> None:
    parts = ["Who owns Holm Works?", "When was it founded?"]
    assert make_searches_for([], parts) == []
    first, second = make_searches_for(["founded year", "Holm owns"], parts, "to find out")
    assert (first["about"], second["about"]) == (parts[1], parts[0])
    assert first["args"] == {"query": "founded year"}
    assert (first["tool"], first["reason"], first["tests"]) == ("search", "to find out", [])


async def test_nobody_is_asked_for_leads_that_nobody_follows(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await executor(rig).execute("search", {"query": "Holm Works"})
    assert [task.followed for task in rig.reasoner.of(tasks.ExtractFindings)] == [False]


# -- typed findings


async def test_a_finding_is_typed_with_when_and_where(tmp_path: Path) -> None:
    where = "Position of the quay: 63.2140 N, 19.0820 E."
    text = f"{where} At 04:47 UTC on 8 February 2026 smoke was seen in Vantskär by its own guard."
    rig = Rig(tmp_path, provider=CorpusProvider({"doc:log": ("Log", "log", text)}))
    deps = rig.session().deps
    result = await ToolExecutor(deps, QUESTION).execute("search", {"query": "smoke quay"})
    item = type_finding(deps, result.findings[-1], "smoke in Vantskär?", 1)
    assert item["source_type"] == "log"
    assert item["timestamp"] == "2026-02-08T04:47Z"
    assert item["moment"][0] == item["moment"][1]
    assert item["location"] == {"lat": 63.214, "lon": 19.082, "places": ["Vantskär"]}
    assert item["confidence"] == "high"
    assert item["relevance_score"] == 1.0, "first, and with all words of the question"
    assert type_finding(deps, result.findings[-1], "smoke in Vantskär?", 4)["relevance_score"] < 1.0


async def test_a_finding_has_content_and_a_source_that_a_person_can_read(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    result = await ToolExecutor(deps, QUESTION).execute("search", {"query": "founded 1998"})
    key = result.findings[0]
    item = type_finding(deps, key, QUESTION, 1)
    finding = deps.ledger.get(Finding, key)
    assert item["source"] == "Register", "its title, as nobody else is named"
    assert item["source_id"] == finding.quotes[0].source
    assert item["content"] == {
        "title": "Register",
        "url": "doc:register",
        "date": "2026-01-01",
        "text": finding.statement,
    }


# -- calls as a state carries them


def test_a_text_in_place_of_a_call_is_a_search() -> None:
    said = [
        ToolQuery(tool="fire on the ferry"),
        ToolQuery(tool="read_minds", args=(Argument(name="of", value="x"),)),
        ToolQuery(tool="search"),
        ToolQuery(tool=" ? "),
    ]
    made = make_calls(said, ["x"], {"search"})
    assert [(item["tool"], item["args"]) for item in made] == [
        ("search", {"query": "fire on the ferry"}),
        ("read_minds", {"of": "x"}),
        ("search", {}),
        ("?", {}),
    ]
    assert make_calls(said[:1], ["x"])[0]["tool"] == "fire on the ferry"


def test_calls_of_a_reasoner_are_plain_and_know_what_they_are_for() -> None:
    (made,) = make_calls(
        [call("fire on the ferry", " search ")], ["Who owns it?", "When was the fire?"]
    )
    assert made == {
        "tool": "search",
        "args": {"query": "fire on the ferry"},
        "reason": "to find out",
        "about": "When was the fire?",
        "tests": [],
    }


def test_a_call_that_was_made_is_not_fresh_whatever_the_order_of_its_words() -> None:
    made = make_searches(["Holm Works owner"], "x", "y")
    assert drop_repeated_calls(
        make_searches(["owner Works Holm", "another"], "x", "y"), made
    ) == make_searches(["another"], "x", "y")
    other = [{**made[0], "tool": "search_corpus"}]
    assert drop_repeated_calls(other, made) == other, "another tool is another call"


def test_a_call_that_refutes_two_hypotheses_is_made_once_for_both() -> None:
    (one,) = drop_repeated_calls(
        [*make_searches(["a b"], "x", "y", ["h_1"]), *make_searches(["b a"], "x", "y", ["h_2"])], ()
    )
    assert one["tests"] == ["h_1", "h_2"]


def test_what_was_asked_is_told_once() -> None:
    assert list_calls([*make_searches(["a", "b"], "x", "y"), *make_searches(["a"], "x", "y")]) == [
        "a",
        "b",
    ]
