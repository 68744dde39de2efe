"""Reading a hit: the whole page if possible, otherwise the extract, and the report says so."""

from __future__ import annotations

from typing import Any

import pytest

from deepdiver.core.identity import content_id, digest
from deepdiver.core.origins import sketch
from deepdiver.core.record import Mark, Source, SourceKind
from deepdiver.errors import (
    CallError,
    CallFault,
    LostTextError,
    NotJournalledError,
    UnreadableError,
)
from deepdiver.gateway import Gateway
from deepdiver.tools import read_hit
from deepdiver.tools.credibility import credibility
from deepdiver.tools.document import Document
from deepdiver.tools.fetch import Page
from deepdiver.tools.hit import Hit
from deepdiver.tools.read_hit import Reading
from deepdiver.tools.source_age import AgeNeed
from tests.tools.conftest import Desk

FETCHED = "2026-11-15T09:00:00+00:00"


def hit(url: str, text: str = "", **more: Any) -> Hit:
    return Hit(url=url, text=text or f"text of {url}", **more)


async def read(desk: Desk, found: Hit, fetched: str = FETCHED, **settings: Any) -> Reading:
    gateway = desk.gateway(**{"read_pages": False, **settings})
    return await read_hit.read_hit(
        found, desk.run, desk.store, gateway, fetched=fetched, need=AgeNeed()
    )


async def source_of(desk: Desk, found: Hit, **more: Any) -> Source:
    got = await read(desk, found, **more)
    assert got.source is not None
    return got.source


async def test_a_snapshot_that_is_not_kept_is_an_error(desk: Desk) -> None:
    with pytest.raises(LostTextError):
        await read(desk, Hit(url="u", snapshot="0" * 64))


async def test_reading_saves_the_text_and_describes_the_source(desk: Desk) -> None:
    text = "Holm Works is owned by Anna Holm. " * 20
    found = hit(
        "https://example.org/a", text, title="Holm", publisher="Gazette", publisher_kind="newspaper"
    )
    found = found.model_copy(
        update={
            "provider": "exa",
            "also": ("brave",),
            "marks": (Mark(start=0, kind="page", label="1"),),
        }
    )
    got = await read(desk, found)
    assert got.source == Source(
        id=content_id("s", "https://example.org/a", digest(text)),
        kind=SourceKind.PAGE,
        url="https://example.org/a",
        title="Holm",
        snapshot=digest(text),
        sketch=sketch(text),
        publisher="Gazette",
        intelligence="news",
        fetched=FETCHED,
        providers=("brave", "exa"),
        credibility=credibility(found, AgeNeed(), desk.gateway().settings),
        marks=found.marks,
    )
    assert got.text == desk.store.texts.get(digest(text)) == text
    assert got.limit == ""


async def test_a_sources_id_depends_on_place_and_text_alone(desk: Desk) -> None:
    one = await source_of(desk, hit("u", "text", title="A", provider="one"))
    two = await source_of(
        desk, hit("u", "text", title="B", start=2, provider="two"), fetched="2027-01-01T00:00:00Z"
    )
    other, elsewhere = (
        await source_of(desk, hit("u", "changed")),
        await source_of(desk, hit("v", "text")),
    )
    assert one.id == two.id
    assert len({one.id, other.id, elsewhere.id}) == 3
    assert one.snapshot == elsewhere.snapshot


async def test_a_text_that_is_saved_already_is_taken_from_there(desk: Desk) -> None:
    snapshot = desk.store.texts.put(desk.run, "the whole document")
    got = await read(desk, Hit(url="sample:a.md", snapshot=snapshot, start=4, end=9))
    assert got.source is not None
    assert (got.source.snapshot, got.text) == (snapshot, "the whole document")


async def test_without_a_title_the_address_is_shown(desk: Desk) -> None:
    assert (await source_of(desk, hit("https://example.org/a"))).title == "https://example.org/a"


async def test_half_a_character_is_replaced_before_it_is_saved(desk: Desk) -> None:
    got = await read(desk, hit("u", "cut \ud83d here", title="cut \ud83d"))
    assert got.source is not None
    assert got.text == desk.store.texts.get(got.source.snapshot) == "cut ? here"
    assert got.source.title == "cut ?"
    assert got.source.model_dump_json()


async def test_copies_of_a_story_have_one_sketch(desk: Desk) -> None:
    story = (
        "Nine people were hurt in a fire on the ferry early on Sunday morning, rescue workers "
        "said. " * 3
    )
    one, two = (
        await source_of(desk, hit("u", story)),
        await source_of(desk, hit("v", story.upper())),
    )
    assert one.sketch == two.sketch != ()


# -- pages


class Web:
    """Stands for the fetcher, which has tests of its own."""

    def __init__(self, desk: Desk, **pages: str | Exception) -> None:
        self.desk, self.pages = desk, pages
        self.fetched: list[str] = []

    async def __call__(self, url: str, gateway: Gateway) -> Page:
        self.fetched.append(url)
        held = self.pages[url.rpartition("/")[2]]
        if isinstance(held, Exception):
            raise held
        document = Document(
            text="",
            format="html",
            title="The page itself",
            author="A. Holm",
            published="2026-01-02",
        )
        snapshot = self.desk.store.texts.put(self.desk.run, held)
        return Page(
            asked=url,
            url=f"{url}?final",
            status=200,
            fetched=FETCHED,
            snapshot=snapshot,
            document=document,
        )


@pytest.fixture
def web(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Web:
    made = Web(
        desk,
        good="All that the page says about Holm Works.",
        wall=UnreadableError("a login wall"),
        down=CallError("example.org could not be reached", CallFault.UNREACHED),
        unknown=NotJournalledError("never fetched"),
    )
    monkeypatch.setattr(read_hit, "fetch", made)
    return made


async def test_a_page_that_the_run_never_fetched_ends_a_replay(desk: Desk, web: Web) -> None:
    with pytest.raises(NotJournalledError):
        await read(desk, hit("https://example.org/unknown"), read_pages=True)


@pytest.mark.parametrize(
    ("name", "why"), [("wall", "a login wall"), ("down", "example.org could not be reached")]
)
async def test_a_page_that_cannot_be_read_leaves_the_extract_and_says_so(
    desk: Desk, web: Web, name: str, why: str
) -> None:
    got = await read(
        desk, hit(f"https://example.org/{name}", "An extract.", provider="exa"), read_pages=True
    )
    assert got.source is not None
    assert (got.text, got.source.url) == ("An extract.", f"https://example.org/{name}")
    assert (
        got.limit == f"https://example.org/{name} was not read ({why}): only what exa shows of it"
    )


async def test_a_page_without_text_and_extract_is_not_a_source(desk: Desk, web: Web) -> None:
    got = await read(desk, Hit(url="https://example.org/wall", text=" "), read_pages=True)
    assert got.source is None
    assert got.limit.endswith("(a login wall): nothing of it is used")


async def test_the_whole_page_is_read_and_says_more_of_itself_than_the_search_did(
    desk: Desk, web: Web
) -> None:
    found = hit(
        "https://example.org/good",
        "An extract.",
        title="Cut ti…",
        publisher="Gazette",
        publisher_kind="newspaper",
    )
    got = await read(desk, found, read_pages=True)
    assert got.source is not None
    assert got.text == "All that the page says about Holm Works."
    assert got.source.url == "https://example.org/good?final"
    assert (got.source.title, got.source.author, got.source.published) == (
        "The page itself",
        "A. Holm",
        "2026-01-02",
    )
    assert got.source.publisher == "Gazette"
    assert got.limit == ""


@pytest.mark.parametrize(
    "found",
    [
        hit("https://example.org/good", complete=True),
        hit("notes/a.md", kind=SourceKind.DOCUMENT),
        hit("tool:calculator", kind=SourceKind.TOOL),
        hit("ftp://example.org/good"),
    ],
    ids=lambda found: found.url,
)
async def test_whole_texts_and_other_kinds_are_not_fetched(
    desk: Desk, web: Web, found: Hit
) -> None:
    assert (await read(desk, found, read_pages=True)).text == found.text
    assert web.fetched == []


async def test_no_page_is_fetched_where_the_user_wants_none(desk: Desk, web: Web) -> None:
    assert (await read(desk, hit("https://example.org/good", "An extract."))).text == "An extract."
    assert web.fetched == []


async def test_rows_of_a_feed_have_no_sketch_and_their_own_type(desk: Desk) -> None:
    found = hit(
        "https://feed.example",
        "NASA FIRMS shows 3 fires. " * 20,
        kind=SourceKind.FEED,
        intelligence="satellite",
    )
    source = await source_of(desk, found)
    assert source.intelligence == "satellite"
    assert source.sketch == (), "fixed phrases are no sign of a copy"
