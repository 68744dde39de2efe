"""Searching several providers at once: failures stay apart, and the order does not matter."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault, NotJournalledError, UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.store import CallState
from deepdiver.tools.hit import Hit
from deepdiver.tools.search_all import (
    RANK_OFFSET,
    SearchResults,
    fuse,
    merge_hits,
    merge_same_texts,
    passes_filters,
    search_all,
)
from tests.patience import PATIENCE
from tests.tools.conftest import Desk


class Place:
    """A provider that answers through the gateway with what it is given, or fails as it is told."""

    about = "a place"
    group = "web"

    def __init__(
        self, name: str, *hits: Hit, fails: Exception | None = None, after: float = 0.0
    ) -> None:
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
        return [Hit.model_validate(item) for item in (await gateway.call(request, do)).value][
            :limit
        ]


def hit(url: str, text: str = "", start: int = 0, **more: str) -> Hit:
    return Hit(url=url, text=text or f"text of {url}", start=start, **more)  # type: ignore[arg-type]


DOWN = CallError("one is down", CallFault.REQUEST)


async def test_one_fails_and_the_others_answer(desk: Desk) -> None:
    found = await search_all(
        "q", [Place("one", fails=DOWN), Place("two", hit("u"))], desk.gateway()
    )
    assert found == SearchResults((hit("u"),), True, ("one could not search: one is down",))


async def test_all_fail_and_nothing_is_known(desk: Desk) -> None:
    found = await search_all(
        "q", [Place("one", fails=DOWN), Place("two", fails=DOWN)], desk.gateway()
    )
    assert (found.hits, found.answered) == ((), False)
    assert found.failures == (
        "one could not search: one is down",
        "two could not search: one is down",
    )


async def test_nothing_found_is_not_a_failure(desk: Desk) -> None:
    assert await search_all("q", [Place("one")], desk.gateway()) == SearchResults((), True, ())


async def test_no_provider_has_not_answered(desk: Desk) -> None:
    assert await search_all("q", [], desk.gateway()) == SearchResults((), False, ())


async def test_a_failure_by_the_budget_says_so(desk: Desk) -> None:
    class Paid(Place):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            async def do() -> Reply:
                raise AssertionError("not to be sent")

            await gateway.call(
                Request("search", self.name, query, {"q": query}, worst=Decimal(1)), do
            )
            return []

    found = await search_all(
        "q", [Paid("paid"), Place("free", hit("u"))], desk.gateway(budget=Decimal("0.5"))
    )
    assert found.answered
    (line,) = found.failures
    assert line.startswith("paid budget: ")


async def test_a_held_call_is_a_failure_of_its_provider(desk: Desk) -> None:
    key = Request("search", "one", "q", {"query": "q", "limit": 6}).key
    desk.store.journal.reserve(
        desk.run,
        key,
        kind="search",
        provider="one",
        what="q",
        request="{}",
        worst=Decimal(0),
        now=1.0,
    )
    desk.store.journal.mark_sent(desk.run, key, 2.0)  # and there the process was killed
    found = await search_all(
        "q", [Place("one", hit("u")), Place("two", hit("v"))], desk.gateway(hold_uncertain=True)
    )
    assert [item.url for item in found.hits] == ["v"]
    assert "held" in found.failures[0]


async def test_a_replay_without_an_answer_is_an_error(desk: Desk) -> None:
    with pytest.raises(NotJournalledError):
        await search_all("q", [Place("one", hit("u"))], desk.gateway(Mode.REPLAY))


async def test_a_replay_gives_the_same(desk: Desk) -> None:
    places = [Place("one", hit("u"), hit("v")), Place("two", hit("v"), hit("w"))]
    live = await search_all("q", places, desk.gateway())
    again = [Place("one", fails=DOWN), Place("two", fails=DOWN)]
    assert await search_all("q", again, desk.gateway(Mode.REPLAY)) == live
    assert all(place.asked == [] for place in again)


@pytest.mark.parametrize("error", [UsageError("no such folder"), ZeroDivisionError("a bug")])
async def test_other_errors_are_raised_once_all_calls_have_settled(
    desk: Desk, error: Exception
) -> None:
    slow = Place("slow", hit("u"), after=0.05)

    class Wrong(Place):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            raise error

    with pytest.raises(type(error)):
        await search_all("q", [Wrong("wrong"), slow], desk.gateway())
    (row,) = desk.store.journal.rows(desk.run)
    assert row.state is CallState.SETTLED  # what was under way was paid for, and is kept


async def test_cancelling_reaches_the_providers(desk: Desk) -> None:
    slow = Place("slow", hit("u"), after=PATIENCE)
    task = asyncio.create_task(search_all("q", [slow], desk.gateway()))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_providers_are_asked_at_once(desk: Desk) -> None:
    together = asyncio.Barrier(5)  # nobody gets past it alone

    class Meeting(Place):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            await together.wait()
            return await super().search(query, limit, gateway)

    places = [Meeting(f"p{n}", hit(f"u{n}")) for n in range(5)]
    found = await asyncio.wait_for(search_all("q", places, desk.gateway()), PATIENCE)
    assert len(found.hits) == 5


async def test_the_limit_holds_for_each_provider_and_for_all(desk: Desk) -> None:
    one, two = (
        Place("one", *(hit(f"a{n}") for n in range(9))),
        Place("two", *(hit(f"b{n}") for n in range(9))),
    )
    found = await search_all("q", [one, two], desk.gateway(filters=Filters(results=4)))
    assert [item.url for item in found.hits] == ["a0", "b0", "a1", "b1"]
    assert one.asked == two.asked == [("q", 4)]


async def test_half_a_character_in_a_query_does_not_reach_a_provider(desk: Desk) -> None:
    place = Place("one", hit("u"))
    assert (await search_all("ferry \ud83d", [place], desk.gateway())).answered
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
    both = two.model_copy(update={"also": ("searxng",)})
    assert fuse([[one], [two]]) == fuse([[two], [one]]) == [both]
    assert len(fuse([[hit("u", "t", start=1)], [hit("u", "t", start=2)]])) == 2


def test_pieces_of_one_place_are_not_lost() -> None:
    pieces = [
        hit("file.pdf", "first piece"),
        hit("file.pdf", "second piece"),
        hit("file.pdf", "first piece"),
    ]
    assert [item.text for item in fuse([pieces])] == ["first piece", "second piece"]


def test_saying_it_twice_does_not_make_it_better() -> None:
    assert [item.url for item in fuse([[hit("a"), hit("b"), hit("b"), hit("b")], [hit("a")]])] == [
        "a",
        "b",
    ]
    once, thrice = [hit("x"), hit("b")], [hit("x"), hit("b"), hit("b"), hit("b")]
    rivals = [[hit("c"), hit("c2")], [hit("c")]]
    assert fuse([once, *rivals]) == fuse([thrice, *rivals])


HITS = st.builds(
    hit, st.sampled_from("abc"), st.sampled_from(["x", "yy", "zzz"]), st.integers(0, 2)
)
LISTS = st.lists(st.lists(HITS, max_size=5), max_size=4)


@given(LISTS)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[Hit]]) -> None:
    fused = fuse(lists)
    assert all(fuse(order) == fused for order in permutations(lists))


@given(LISTS)
def test_every_place_is_kept_once_for_each_of_its_texts(lists: list[list[Hit]]) -> None:
    fused = fuse(lists)
    assert {(item.url, item.start) for item in fused} == {
        (item.url, item.start) for hits in lists for item in hits
    }
    for place in {(item.url, item.start) for item in fused}:
        kept = [item for item in fused if (item.url, item.start) == place]
        told = [{item.text for item in hits if (item.url, item.start) == place} for hits in lists]
        assert len(kept) == max(map(len, told))
    assert all(item in [other for hits in lists for other in hits] for item in fused)


@given(st.lists(HITS, max_size=6, unique_by=lambda item: (item.url, item.start)))
def test_one_list_keeps_its_order(hits: list[Hit]) -> None:
    assert fuse([hits]) == hits
    assert RANK_OFFSET > 0


# -- one page under several names


def test_spellings_of_one_address_are_one_page() -> None:
    one = hit("http://www.example.org/a/?utm_source=x#top", "the whole page", provider="brave")
    two = hit("https://example.org/a", "the", provider="tavily")
    (only,) = fuse([[one], [two]])
    assert (only.text, only.provider, only.also) == ("the whole page", "brave", ("tavily",))


def test_everybody_who_found_it_is_kept_whatever_the_order() -> None:
    hits = [
        hit("https://example.org/a", text="same text", provider=name)
        for name in ("exa", "brave", "tavily")
    ]
    kept = {fuse([[item] for item in order])[0].model_dump_json() for order in permutations(hits)}
    assert len(kept) == 1
    (only,) = fuse([[item] for item in hits])
    assert sorted((only.provider, *only.also)) == ["brave", "exa", "tavily"]


def test_a_whole_text_is_kept_before_a_longer_extract() -> None:
    whole, part = (
        Hit(url="u", text="all of it", complete=True),
        Hit(url="u", text="a much longer piece of something"),
    )
    assert merge_hits([part, whole]) == whole


STORY = (
    "Nine people were hurt when a fire broke out on the ferry to Vantskär on Sunday, rescue "
    "workers said. The crew had "
    "put it out before the first boat arrived, and all two hundred passengers were taken ashore by "
    "midnight. "
)
OTHER = (
    "The harbour board of Vantskär has put off its decision on the new pier until the engineers "
    "have reported. A "
    "member of the board called the delay regrettable, since the old pier had been closed to "
    "lorries in the spring. "
)


def test_near_identical_texts_are_one_result_of_the_better_rank() -> None:
    copies = [
        hit("https://a.example/1", STORY, provider="exa"),
        hit("https://b.example/2", STORY + "More."),
    ]
    other = hit("https://c.example/3", OTHER)
    kept = merge_same_texts([copies[0], other, copies[1]])
    # The fuller text.
    assert [item.url for item in kept] == [
        "https://b.example/2",
        "https://c.example/3",
    ]
    assert kept[0].also == ("exa",)


def test_texts_that_only_share_a_quote_stay_apart() -> None:
    assert (
        len(
            merge_same_texts(
                [hit("https://a.example/1", STORY), hit("https://b.example/2", STORY[:100] + OTHER)]
            )
        )
        == 2
    )


def test_short_extracts_stay_apart_even_if_they_are_alike() -> None:
    assert (
        len(
            merge_same_texts(
                [
                    hit("https://a.example/1", "Fire on a ferry"),
                    hit("https://b.example/2", "Fire on a ferry"),
                ]
            )
        )
        == 2
    )


def test_the_users_own_documents_stay_apart() -> None:
    mine = [
        Hit(url=f"{name}.md", text=STORY, snapshot=f"{number}" * 64)
        for number, name in enumerate("ab")
    ]
    assert merge_same_texts(mine) == mine


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from([STORY, OTHER, STORY[::-1], "short"])),
        max_size=6,
    )
)
def test_being_distinct_is_final(items: list[tuple[str, str]]) -> None:
    hits = [
        hit(f"https://{name}.example/{number}", text) for number, (name, text) in enumerate(items)
    ]
    kept = merge_same_texts(hits)
    assert merge_same_texts(kept) == kept
    assert len(kept) <= len(hits)
    assert {item.text for item in kept} == {item.text for item in hits}


# -- what the user wants


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://example.org/a", True),
        ("https://www.example.org/a", True),
        ("https://news.example.org/a", True),
        ("https://notexample.org/a", False),
        ("https://example.org.evil.net/a", False),
        ("notes/a.md", True),  # a file of the user's has no domain
        ("https://bad.example.org/a", False),
    ],
)
def test_domains_are_kept_and_left_out_with_all_below_them(url: str, kept: bool) -> None:
    filters = Filters(include_domains=("example.org",), exclude_domains=("bad.example.org",))
    assert passes_filters(hit(url), filters) is kept


@pytest.mark.parametrize(
    ("published", "kept"),
    [
        ("", True),
        ("yesterday", True),
        ("2026-03-01", True),
        ("2026-03-31T23:59:00Z", True),
        ("2026-02-28", False),
        ("2026-04-01", False),
        ("2026-03", True),
        ("2026-04", False),
        ("2026", True),
        ("2025", False),
    ],
)
def test_dates_are_kept_as_far_as_they_are_known(published: str, kept: bool) -> None:
    filters = Filters(since=date(2026, 3, 1), until=date(2026, 3, 31))
    assert passes_filters(hit("https://example.org", published=published), filters) is kept


def test_another_language_is_left_out_and_an_unknown_one_is_not() -> None:
    filters = Filters(language="sv")
    assert passes_filters(hit("u", language="sv-SE"), filters)
    assert passes_filters(hit("u"), filters)
    assert not passes_filters(hit("u", language="en"), filters)


async def test_what_is_not_wanted_leaves_its_place_to_others(desk: Desk) -> None:
    place = Place("one", hit("https://bad.net/1"), hit("https://good.org/1"))
    found = await search_all(
        "q", [place], desk.gateway(filters=Filters(exclude_domains=("bad.net",)))
    )
    assert [item.url for item in found.hits] == ["https://good.org/1"]
    assert found.answered


async def test_more_is_wanted_of_the_persons_own_documents_alone(desk: Desk) -> None:
    gateway = desk.gateway()
    own, web = Place("library", *(hit(f"/doc/{n}") for n in range(30))), Place("web")
    own.group = "own"
    results = gateway.settings.filters.results
    found = await search_all("a query", [own, web], gateway, own=20)
    assert (own.asked, web.asked) == ([("a query", 20)], [("a query", results)])
    assert len(found.hits) == 20
    assert len((await search_all("another", [own], gateway)).hits) == results
