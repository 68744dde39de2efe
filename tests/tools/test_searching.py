"""Searching several providers at once: one that fails costs its own results, and merging has no history."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.origins import sketch
from deepdiver.core.record import Source, SourceKind, content_id, digest
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, NotJournalledError, UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.store import CallState
from deepdiver.tools.credibility import credibility
from deepdiver.tools.hit import Hit
from deepdiver.tools.searching import RANK_OFFSET, Found, fuse, read, search
from tests.tools.conftest import Desk

FETCHED = "2026-11-15T09:00:00+00:00"


class Place:
    """A provider that answers through the gateway with what it is given, or fails as it is told."""

    about = "a place"

    def __init__(self, name: str, *hits: Hit, fails: Exception | None = None, after: float = 0.0) -> None:
        self.name, self.hits, self.fails, self.after = name, hits, fails, after
        self.asked: list[tuple[str, int]] = []
        self.begun = asyncio.Event()

    def missing(self, settings: Settings) -> str | None:
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        async def do() -> Reply:
            self.asked.append((query, limit))
            self.begun.set()
            await asyncio.sleep(self.after)
            if self.fails:
                raise self.fails
            return Reply([hit.model_dump(mode="json") for hit in self.hits])

        request = Request("search", self.name, query, {"query": query, "limit": limit}, fresh=True)
        return [Hit.model_validate(item) for item in (await gateway.call(request, do)).value][:limit]


def hit(url: str, text: str = "", start: int = 0, **more: str) -> Hit:
    return Hit(url=url, text=text or f"text of {url}", start=start, **more)  # type: ignore[arg-type]


DOWN = CallError("one is down", CallFault.REQUEST)


async def test_one_fails_and_the_others_answer(desk: Desk) -> None:
    found = await search("q", [Place("one", fails=DOWN), Place("two", hit("u"))], desk.gateway())
    assert found == Found((hit("u"),), True, ("one could not search: one is down",))


async def test_all_fail_and_nothing_is_known(desk: Desk) -> None:
    found = await search("q", [Place("one", fails=DOWN), Place("two", fails=DOWN)], desk.gateway())
    assert (found.hits, found.answered) == ((), False)
    assert found.failures == ("one could not search: one is down", "two could not search: one is down")


async def test_nothing_found_is_not_a_failure(desk: Desk) -> None:
    assert await search("q", [Place("one")], desk.gateway()) == Found((), True, ())


async def test_no_provider_has_not_answered(desk: Desk) -> None:
    assert await search("q", [], desk.gateway()) == Found((), False, ())


async def test_what_the_budget_forbids_is_told_as_such(desk: Desk) -> None:
    class Paid(Place):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            async def do() -> Reply:
                raise AssertionError("not to be sent")

            await gateway.call(Request("search", self.name, query, {"q": query}, worst=Decimal(1)), do)
            return []

    found = await search("q", [Paid("paid"), Place("free", hit("u"))], desk.gateway(budget=Decimal("0.5")))
    assert found.answered
    (line,) = found.failures
    assert line.startswith("paid budget: ")


async def test_a_held_call_is_a_failure_of_its_provider(desk: Desk) -> None:
    key = Request("search", "one", "q", {"query": "q", "limit": 6}).key
    desk.store.journal_reserve(
        desk.run, key, kind="search", provider="one", what="q", request="{}", worst=Decimal(0), now=1.0
    )
    desk.store.journal_sent(desk.run, key, 2.0)  # and there the process was killed
    found = await search("q", [Place("one", hit("u")), Place("two", hit("v"))], desk.gateway(hold_uncertain=True))
    assert [item.url for item in found.hits] == ["v"]
    assert "held" in found.failures[0]


async def test_a_replay_without_an_answer_is_an_error(desk: Desk) -> None:
    with pytest.raises(NotJournalledError):
        await search("q", [Place("one", hit("u"))], desk.gateway(Mode.REPLAY))


async def test_a_replay_gives_the_same(desk: Desk) -> None:
    places = [Place("one", hit("u"), hit("v")), Place("two", hit("v"), hit("w"))]
    live = await search("q", places, desk.gateway())
    again = [Place("one", fails=DOWN), Place("two", fails=DOWN)]
    assert await search("q", again, desk.gateway(Mode.REPLAY)) == live
    assert all(place.asked == [] for place in again)


@pytest.mark.parametrize("error", [UsageError("no such folder"), ZeroDivisionError("a bug")])
async def test_what_is_no_failure_of_a_call_is_raised_once_all_have_settled(desk: Desk, error: Exception) -> None:
    slow = Place("slow", hit("u"), after=0.05)

    class Wrong(Place):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            raise error

    with pytest.raises(type(error)):
        await search("q", [Wrong("wrong"), slow], desk.gateway())
    (row,) = desk.store.journal_list(desk.run)
    assert row.state is CallState.SETTLED  # what was under way was paid for, and is kept


async def test_cancelling_reaches_the_providers(desk: Desk) -> None:
    slow = Place("slow", hit("u"), after=30.0)
    task = asyncio.create_task(search("q", [slow], desk.gateway()))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_providers_are_asked_at_once(desk: Desk) -> None:
    places = [Place(f"p{n}", hit(f"u{n}"), after=0.2) for n in range(5)]
    began = asyncio.get_running_loop().time()
    found = await search("q", places, desk.gateway())
    assert asyncio.get_running_loop().time() - began < 0.8
    assert len(found.hits) == 5


async def test_the_limit_holds_for_each_provider_and_for_all(desk: Desk) -> None:
    one, two = Place("one", *(hit(f"a{n}") for n in range(9))), Place("two", *(hit(f"b{n}") for n in range(9)))
    found = await search("q", [one, two], desk.gateway(), limit=4)
    assert [item.url for item in found.hits] == ["a0", "b0", "a1", "b1"]
    assert one.asked == two.asked == [("q", 4)]


async def test_half_a_character_in_a_query_does_not_reach_a_provider(desk: Desk) -> None:
    place = Place("one", hit("u"))
    assert (await search("ferry \ud83d", [place], desk.gateway())).answered
    assert place.asked == [("ferry ?", 6)]


# -- fuse


def test_nothing_fused_is_nothing() -> None:
    assert fuse([]) == fuse([[], []]) == []


def test_what_several_found_comes_first() -> None:
    lists = [[hit("a"), hit("b"), hit("c")], [hit("d"), hit("c")], [hit("e"), hit("c")]]
    assert [item.url for item in fuse(lists)] == ["c", "a", "d", "e", "b"]


def test_ties_are_broken_by_place() -> None:
    assert [item.url for item in fuse([[hit("b")], [hit("a")], [hit("c")]])] == ["a", "b", "c"]
    assert [item.start for item in fuse([[hit("a", start=9)], [hit("a", start=3)]])] == [3, 9]


def test_the_same_passage_of_the_same_place_is_one_hit() -> None:
    one, two = hit("u", "short", provider="searxng"), hit("u", "the whole text", provider="tavily")
    assert fuse([[one], [two]]) == fuse([[two], [one]]) == [two]
    assert len(fuse([[hit("u", "t", start=1)], [hit("u", "t", start=2)]])) == 2


def test_pieces_of_one_place_are_not_lost() -> None:
    pieces = [hit("file.pdf", "first piece"), hit("file.pdf", "second piece"), hit("file.pdf", "first piece")]
    assert [item.text for item in fuse([pieces])] == ["first piece", "second piece"]


def test_saying_it_twice_does_not_make_it_better() -> None:
    assert [item.url for item in fuse([[hit("a"), hit("b"), hit("b"), hit("b")], [hit("a")]])] == ["a", "b"]
    once, thrice = [hit("x"), hit("b")], [hit("x"), hit("b"), hit("b"), hit("b")]
    rivals = [[hit("c"), hit("c2")], [hit("c")]]
    assert fuse([once, *rivals]) == fuse([thrice, *rivals])


HITS = st.builds(hit, st.sampled_from("abc"), st.sampled_from(["x", "yy", "zzz"]), st.integers(0, 2))
LISTS = st.lists(st.lists(HITS, max_size=5), max_size=4)


@given(LISTS)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[Hit]]) -> None:
    fused = fuse(lists)
    assert all(fuse(order) == fused for order in permutations(lists))


@given(LISTS)
def test_every_place_is_kept_once_for_each_of_its_texts(lists: list[list[Hit]]) -> None:
    fused = fuse(lists)
    assert {(item.url, item.start) for item in fused} == {(item.url, item.start) for hits in lists for item in hits}
    for place in {(item.url, item.start) for item in fused}:
        kept = [item for item in fused if (item.url, item.start) == place]
        told = [{item.text for item in hits if (item.url, item.start) == place} for hits in lists]
        assert len(kept) == max(map(len, told))
    assert all(item in [other for hits in lists for other in hits] for item in fused)


@given(st.lists(HITS, max_size=6, unique_by=lambda item: (item.url, item.start)))
def test_one_list_keeps_its_order(hits: list[Hit]) -> None:
    assert fuse([hits]) == hits
    assert RANK_OFFSET > 0


# -- read


def test_reading_saves_the_text_and_describes_the_source(desk: Desk) -> None:
    text = "Holm Works is owned by Anna Holm. " * 20
    found = hit("https://example.org/a", text, title="Holm", publisher="Gazette", publisher_kind="newspaper")
    source, got = read(found, desk.run, desk.store, FETCHED)
    assert got == desk.store.get_text(source.snapshot) == text
    assert source == Source(
        id=content_id("s", "https://example.org/a", digest(text)),
        kind=SourceKind.PAGE,
        url="https://example.org/a",
        title="Holm",
        snapshot=digest(text),
        sketch=sketch(text),
        publisher="Gazette",
        fetched=FETCHED,
        providers=("",),
        credibility=credibility(found),
    )


def test_a_sources_id_depends_on_place_and_text_alone(desk: Desk) -> None:
    one, _ = read(hit("u", "text", title="A", provider="one"), desk.run, desk.store, FETCHED)
    two, _ = read(
        hit("u", "text", title="B", start=2, provider="two"), desk.run, desk.store, "2027-01-01T00:00:00+00:00"
    )
    other, _ = read(hit("u", "changed"), desk.run, desk.store, FETCHED)
    elsewhere, _ = read(hit("v", "text"), desk.run, desk.store, FETCHED)
    assert one.id == two.id
    assert len({one.id, other.id, elsewhere.id}) == 3
    assert one.snapshot == elsewhere.snapshot


def test_a_text_that_is_saved_already_is_taken_from_there(desk: Desk) -> None:
    snapshot = desk.store.put_text(desk.run, "the whole document")
    source, text = read(Hit(url="sample:a.md", snapshot=snapshot, start=4, end=9), desk.run, desk.store, FETCHED)
    assert (source.snapshot, text) == (snapshot, "the whole document")


def test_a_snapshot_that_is_not_kept_is_an_error(desk: Desk) -> None:
    with pytest.raises(KeyError):
        read(Hit(url="u", snapshot="0" * 64), desk.run, desk.store, FETCHED)


def test_without_a_title_the_address_is_shown(desk: Desk) -> None:
    assert read(hit("https://example.org/a"), desk.run, desk.store, FETCHED)[0].title == "https://example.org/a"


def test_half_a_character_is_replaced_before_it_is_saved(desk: Desk) -> None:
    source, text = read(hit("u", "cut \ud83d here", title="cut \ud83d"), desk.run, desk.store, FETCHED)
    assert text == desk.store.get_text(source.snapshot) == "cut ? here"
    assert source.title == "cut ?"
    assert source.model_dump_json()


def test_copies_of_a_story_have_one_sketch(desk: Desk) -> None:
    story = "Nine people were hurt in a fire on the ferry early on Sunday morning, rescue workers said. " * 3
    one, _ = read(hit("u", story), desk.run, desk.store, FETCHED)
    two, _ = read(hit("v", story.upper()), desk.run, desk.store, FETCHED)
    assert one.sketch == two.sketch != ()
