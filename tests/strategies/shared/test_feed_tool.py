"""Feeds as tools: rows become findings that can be quoted, and what failed is told as failed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import Limited
from deepdiver.core.record import Finding, Source, SourceKind
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.strategies.overwatch.execute import NO_DATA, ToolExecutor, ToolStatus, type_finding
from deepdiver.strategies.shared.feed_tool import FeedTool, list_paged_rows, render_answer
from deepdiver.strategies.shared.reading import read_together
from deepdiver.tools.osint.feed import (
    MOST_ROWS,
    Arguments,
    FeedResult,
    IntelligenceType,
    Row,
    ServiceAnswer,
)
from tests.strategies.rig import QUESTION, Rig


class Spot(Arguments):
    """What the feed takes."""

    latitude: float
    """Degrees north."""
    days: int = 7
    """How many days."""


class Heat:
    """A feed that answers what it is told to."""

    name = "detect_heat"
    about = "heat seen from above"
    kind = IntelligenceType.SATELLITE
    arguments = Spot

    def __init__(self, told: FeedResult | Exception) -> None:
        self.told, self.asked = told, list[Spot]()

    def missing(self, settings: Settings) -> str | None:
        return None

    async def ask(self, args: Spot, gateway: Gateway) -> FeedResult:
        async def do() -> Reply:
            self.asked.append(args)
            if isinstance(self.told, Exception):
                raise self.told
            return Reply(self.told.model_dump(mode="json"))

        request = Request("feed", "heat", "heat", args.model_dump(mode="json"))
        return FeedResult.model_validate((await gateway.call(request, do)).value)

    async def door(self, name: str, args: Mapping[str, Any], gateway: Gateway) -> FeedResult:
        assert name == self.name
        return await self.ask(Spot.model_validate(dict(args)), gateway)


SEEN = Row(
    sentence="2026-11-11 14:05 UTC: NOAA-20 saw a thermal anomaly of 45.2 MW at 49.9935 N, "
    "36.2304 E.",
    data={"frp": 45.2, "confidence": "h"},
    when="2026-11-11T14:05:00Z",
    lat=49.9935,
    lon=36.2304,
    confidence="high",
)
WEAK = Row(
    sentence="2026-11-12 01:10 UTC: Aqua saw a thermal anomaly of 3 MW at 50.1 N, 36.2 E.",
    confidence="low",
)
HEAT = ServiceAnswer(
    service="NASA FIRMS",
    url="https://firms.example/area",
    title="thermal anomalies near 49.99 N",
    kind=IntelligenceType.SATELLITE,
    rows=(SEEN, WEAK),
    total=2,
    summary="NASA FIRMS lists 2 thermal anomalies in the 7 days to 2026-11-14 and 0 in the 7 days "
    "before.",
)


def executor(rig: Rig, feed: Heat) -> ToolExecutor:
    deps = rig.session().deps
    deps.tools = (FeedTool(feed, feed.door),)
    return ToolExecutor(deps, QUESTION)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


# -- refused and failed


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "it needs the argument 'latitude'"),
        ({"latitude": "north"}, "its argument 'latitude': input should be a valid number"),
        ({"latitude": "nan"}, "its argument 'latitude'"),
        ({"latitude": "1", "radius": "3"}, "it takes no argument 'radius'"),
    ],
)
async def test_a_call_with_other_arguments_is_not_made(
    rig: Rig, args: dict[str, str], told: str
) -> None:
    feed = Heat(FeedResult(answers=(HEAT,)))
    result = await executor(rig, feed).execute("detect_heat", args)
    assert result.status is ToolStatus.REFUSED
    assert told in result.message
    assert not feed.asked


async def test_a_feed_that_failed_is_told_as_failed(rig: Rig) -> None:
    feed = Heat(CallError("FIRMS refused the key", CallFault.AUTH))
    result = await executor(rig, feed).execute("detect_heat", {"latitude": "49.9"})
    assert result.status is ToolStatus.FAILED
    assert "detect_heat failed" in result.message
    assert "FIRMS refused the key" in result.message


@pytest.mark.parametrize("slow", [1, 2])
async def test_what_two_calls_bring_is_on_record_as_for_the_first_of_them(
    tmp_path: Path, slow: int
) -> None:
    class Slow(Heat):
        async def ask(self, args: Spot, gateway: Gateway) -> FeedResult:
            told = await super().ask(args, gateway)
            await asyncio.sleep(0.2 if args.latitude == slow else 0)
            return told

    deps, feed = Rig(tmp_path).session().deps, Slow(FeedResult(answers=(HEAT,)))
    deps.tools = (FeedTool(feed, feed.door),)
    calls = ToolExecutor(deps, QUESTION)
    one, other = await read_together(
        deps,
        calls.execute("detect_heat", {"latitude": "1"}, "What was seen?"),
        calls.execute("detect_heat", {"latitude": "2"}, "What was hot?"),
    )
    assert one.findings == other.findings
    assert {deps.ledger.get(Finding, key).about for key in one.findings} == {"What was seen?"}


async def test_an_answer_without_rows_is_no_data(rig: Rig) -> None:
    empty = HEAT.model_copy(update={"rows": (), "summary": ""})
    result = await executor(rig, Heat(FeedResult(answers=(empty,)))).execute(
        "detect_heat", {"latitude": "49.9"}
    )
    assert result.status is ToolStatus.EMPTY
    assert result.message == NO_DATA


async def test_no_data_beside_a_service_that_failed_says_both(rig: Rig) -> None:
    empty = HEAT.model_copy(update={"rows": (), "summary": ""})
    told = FeedResult(answers=(empty,), failures=("MODIS failed: it is down",))
    result = await executor(rig, Heat(told)).execute("detect_heat", {"latitude": "49.9"})
    assert result.message == f"{NO_DATA}; MODIS failed: it is down"


async def test_what_one_service_could_not_do_and_how_old_a_copy_is_become_limits(rig: Rig) -> None:
    noted = HEAT.model_copy(update={"note": "from a copy that is 26 hours old"})
    tool = executor(rig, Heat(FeedResult(answers=(noted,), failures=("MODIS failed: it is down",))))
    result = await tool.execute("detect_heat", {"latitude": "49.9"})
    assert result.status is ToolStatus.ANSWERED
    assert {event.what for event in rig.of(Limited)} == {
        "MODIS failed: it is down",
        "NASA FIRMS: from a copy that is 26 hours old",
    }


# -- rows


async def test_a_row_becomes_a_finding_that_the_snapshot_holds(rig: Rig) -> None:
    session = rig.session()
    feed = Heat(FeedResult(answers=(HEAT,)))
    session.deps.tools = (FeedTool(feed, feed.door),)
    result = await ToolExecutor(session.deps, QUESTION).execute("detect_heat", {"latitude": "49.9"})
    assert len(result.findings) == 3, "two rows and the count"
    held = [session.deps.ledger.get(Finding, key) for key in result.findings]
    assert [item.statement for item in held] == [HEAT.summary, SEEN.sentence, WEAK.sentence]
    source = session.deps.ledger.get(Source, held[0].quotes[0].source)
    text = session.deps.store.texts.get(source.snapshot)
    for item in held:
        quote = item.quotes[0]
        assert text[quote.passage.start : quote.passage.end] == quote.text == item.statement
    assert '{"confidence": "h", "frp": 45.2}' in text, "the row stands there as the service gave it"
    assert source.kind is SourceKind.FEED
    assert source.publisher == "NASA FIRMS"
    assert source.intelligence == "satellite"
    assert feed.asked == [Spot(latitude=49.9)]


async def test_a_row_is_typed_with_its_time_its_place_and_how_sure_it_is(rig: Rig) -> None:
    session = rig.session()
    feed = Heat(FeedResult(answers=(HEAT,)))
    session.deps.tools = (FeedTool(feed, feed.door),)
    result = await ToolExecutor(session.deps, QUESTION).execute("detect_heat", {"latitude": "49.9"})
    count, seen, weak = (
        type_finding(session.deps, key, QUESTION, 1, result.sure.get(key, ""))
        for key in result.findings
    )
    assert seen["source_type"] == "satellite"
    assert (seen["source"], seen["content"]["frp"]) == ("NASA FIRMS", 45.2)
    assert seen["content"]["title"] == "NASA FIRMS: thermal anomalies near 49.99 N"
    assert "frp" not in weak["content"], "the row has no fields"
    assert seen["timestamp"] == "2026-11-11T14:05Z"
    assert seen["location"]["lat"] == 49.9935
    assert (seen["confidence"], weak["confidence"]) == ("high", "low")
    assert count["confidence"] == "high", "by the credibility of an official service"


async def test_what_is_asked_twice_is_entered_once(rig: Rig) -> None:
    tool = executor(rig, Heat(FeedResult(answers=(HEAT,))))
    first = await tool.execute("detect_heat", {"latitude": "49.9"})
    again = await tool.execute("detect_heat", {"latitude": "49.9"})
    assert first.findings == again.findings


def test_the_reasoner_is_shown_each_argument(rig: Rig) -> None:
    feed = Heat(FeedResult())
    shown = FeedTool(feed, feed.door).shown
    assert shown.arguments == ("latitude: Degrees north.", "days (optional): How many days.")


# -- rows that tell of pages


def news(number: int) -> Row:
    return Row(
        sentence=f'2026-11-11 14:00 UTC: example{number}.org: "Holm Works is owned by Anna Holm, '
        f'says paper {number}."',
        url=f"https://example{number}.org/a",
        title=f"Paper {number}",
        publisher=f"example{number}.org",
        when="2026-11-11T14:00:00Z",
    )


async def test_the_first_pages_are_read_and_the_other_rows_stand_for_themselves(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, read_pages=False, filters={"results": 2})
    session = rig.session()
    papers = HEAT.model_copy(
        update={
            "rows": tuple(map(news, range(4))),
            "summary": "",
            "kind": IntelligenceType.NEWS,
            "service": "GDELT",
        }
    )
    feed = Heat(FeedResult(answers=(papers,)))
    session.deps.tools = (FeedTool(feed, feed.door),)
    result = await ToolExecutor(session.deps, QUESTION).execute("detect_heat", {"latitude": "1"})
    held = [session.deps.ledger.get(Finding, key) for key in result.findings]
    sources = [session.deps.ledger.get(Source, item.quotes[0].source) for item in held]
    assert {source.url for source in sources if source.kind is SourceKind.PAGE} == {
        "https://example0.org/a",
        "https://example1.org/a",
    }
    assert [
        item.statement for item, s in zip(held, sources, strict=True) if s.kind is SourceKind.FEED
    ] == [
        news(2).sentence,
        news(3).sentence,
    ]
    assert {source.intelligence for source in sources} == {"news"}
    assert (
        type_finding(session.deps, result.findings[-1], QUESTION, 1)["timestamp"]
        == "2026-11-11T14:00Z"
    )


# -- what the snapshot holds

rows = st.lists(
    st.builds(
        Row, sentence=st.text(min_size=1, max_size=60), url=st.sampled_from(["", "https://e.org/1"])
    ),
    max_size=30,
)


@given(rows, st.integers(0, 8), st.text(max_size=40))
def test_every_sentence_stands_in_the_snapshot_once_told(
    listed: list[Row], pages: int, summary: str
) -> None:
    answer = HEAT.model_copy(update={"rows": tuple(listed), "summary": summary})
    text, lines = render_answer(answer, pages)
    assert all(sentence in text for sentence, _ in lines)
    assert len({sentence for sentence, _ in lines}) == len(lines)
    assert len(lines) <= MOST_ROWS + 1
    assert len(list_paged_rows(answer, pages)) <= pages
    text.encode("utf-8")


def test_the_data_of_a_row_is_json_behind_its_sentence() -> None:
    text, _ = render_answer(HEAT, 0)
    line = text.split(SEEN.sentence)[1].splitlines()[1]
    assert json.loads(line) == SEEN.data
