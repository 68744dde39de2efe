"""Feeds by name: which are asked, which are left out and why, and what is refused."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, MissingKeyError, NotJournalledError, UnknownNameError
from deepdiver.gateway import Gateway, Mode
from deepdiver.tools.osint import registry
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.registry import (
    BrokenFeed,
    call_feed,
    choose_feeds,
    feeds,
    named_feed,
    usable_feeds,
)
from tests.tools.conftest import Desk

OURS = {
    "check_connectivity",
    "detect_thermal_anomalies",
    "lookup_sanctions",
    "search_cyber",
    "search_events",
    "search_flights",
    "search_news",
}


SCHEMAS = {
    "check_connectivity": "d3569ed20d3a8671018585fc7c687b3b0bb7344bc791e1ffe1871fb4ef5e0df2",
    "detect_thermal_anomalies": "6ae5982b311e2322847b93a80c386a20cdc72aa676c884a32812263066c63bdf",
    "lookup_sanctions": "6d5328ecdf571d7795f824375e379f1ab911196b9d51749dfb81613c95c47027",
    "search_cyber": "2409b6ee3580b51cc15bbd0bfcefaf1e1427b0a5f434b0bb7a94ef883f1f8010",
    "search_events": "db127e73a6bc513d46c7b71fb6b3a029fe888a1fe80d430509e80a1919b74b25",
    "search_flights": "50ae4ba44a57e4a524ea7072b6a8a11b7d8770421e7fcb3d17d012ff58da0865",
    "search_news": "5aa1f5142c912d5e8c9c3234bc9a0b7d3e75456ed264141b9dcf21837cc1e822",
}
"""The hash of each feed's schema: title, docstring, arguments and their docstrings."""


class Word(Arguments):
    """What the feed takes."""

    word: str
    """A word."""


class Paper:
    """A feed that needs a key, or none."""

    about = "a test"
    kind = IntelligenceType.NEWS
    arguments = Word

    def __init__(self, name: str, key: str = "") -> None:
        self.name, self._key, self.asked = name, key, list[Word]()

    def missing(self, settings: Settings) -> str | None:
        return f"set {self._key.upper()}_KEY" if self._key and not settings.key(self._key) else None

    async def ask(self, args: Word, gateway: Gateway) -> FeedResult:
        self.asked.append(args)
        return FeedResult(failures=(args.word,))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Paper]:
    table = {"free": Paper("free"), "keyed": Paper("keyed", "pass")}
    monkeypatch.setattr(registry, "feeds", lambda: table)
    return table


# -- installed


def test_ours_are_installed_and_can_be_loaded() -> None:
    assert set(feeds()) >= OURS
    for name in OURS:
        feed = feeds()[name]
        assert not isinstance(feed, BrokenFeed), feed.missing(Settings())
        assert feed.name == name
        assert feed.about
        assert all(field.description for field in feed.arguments.model_fields.values()), (
            "a reasoner reads these"
        )


def test_the_published_schemas_are_those_that_clients_have_approved() -> None:
    """Over MCP a feed is approved by the hash of its schema: a new hash disables it there."""
    hashes = {name: digest(canonical(feeds()[name].arguments.model_json_schema())) for name in OURS}
    assert hashes == SCHEMAS


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("deepdiver.nothing:FEED", "cannot be loaded"),
        ("deepdiver.errors:CallError", "is not a feed"),
    ],
)
async def test_a_feed_that_cannot_be_loaded_costs_only_itself(
    where: str, told: str, desk: Desk
) -> None:
    feed = registry._load(EntryPoint("bad", where, registry.GROUP))
    assert told in str(feed.missing(Settings()))
    with pytest.raises(CallError, match="bad"):
        await feed.ask(Arguments(), desk.gateway())


# -- chosen


def names(settings: dict[str, Any], *, outside: bool) -> list[str]:
    return [
        feed.name for feed in choose_feeds(Settings.model_validate(settings), outside=outside).feeds
    ]


def test_a_question_about_documents_asks_no_feed(known: dict[str, Paper]) -> None:
    assert names({}, outside=False) == []
    assert names({}, outside=True) == ["free"]
    assert names({"feeds": ["auto"]}, outside=False) == ["free"]
    assert names({"feeds": ["none"]}, outside=True) == []


def test_auto_takes_what_can_be_used_and_says_what_it_left_out(known: dict[str, Paper]) -> None:
    assert choose_feeds(Settings(), outside=True).left_out == ("keyed: set PASS_KEY",)
    assert names({"keys": {"pass": "x"}}, outside=True) == ["free", "keyed"]


def test_a_feed_that_is_named_must_be_usable(known: dict[str, Paper]) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown feed 'fre'; did you mean free\?"):
        names({"feeds": ["fre"]}, outside=True)
    with pytest.raises(UnknownNameError, match="known are auto, none, free, keyed"):
        named_feed("zzzzzz")
    with pytest.raises(MissingKeyError, match="feed keyed cannot be used: set PASS_KEY"):
        names({"feeds": ["keyed"]}, outside=True)


async def test_the_choice_is_journalled(known: dict[str, Paper], desk: Desk) -> None:
    usable = await usable_feeds(True, desk.gateway())
    assert [feed.name for feed in usable.feeds] == ["free"]
    assert usable.left_out == ("keyed: set PASS_KEY",)
    assert usable.server == ""
    later = desk.gateway(keys={"pass": "a-key-that-came-later"})
    assert [feed.name for feed in (await usable_feeds(True, later)).feeds] == ["free"], (
        "a resumed run goes on as it began"
    )
    replayed = desk.gateway(mode=Mode.REPLAY)
    assert (await usable_feeds(True, replayed)).left_out == ("keyed: set PASS_KEY",)
    with pytest.raises(NotJournalledError):
        await usable_feeds(False, replayed)


async def test_over_a_server_its_feeds_are_asked_whatever_keys_are_here(
    known: dict[str, Paper], desk: Desk
) -> None:
    far = {"servers": {"far": {"url": "http://127.0.0.1:9/mcp"}}, "feeds": "far"}
    usable = await usable_feeds(True, desk.gateway(mcp=far), {"keyed", "other"})
    assert [feed.name for feed in usable.feeds] == ["keyed"]
    assert usable.left_out == ("free: MCP server far does not offer it",)
    assert usable.server == "far"
    assert (await usable_feeds(True, desk.gateway(mode=Mode.REPLAY))).server == "far", (
        "a replay goes the same way"
    )


# -- called


async def test_nothing_is_asked_before_the_arguments_are_checked(
    known: dict[str, Paper], desk: Desk
) -> None:
    with pytest.raises(ValueError, match="it needs the argument 'word'"):
        await call_feed("free", {}, desk.gateway())
    with pytest.raises(ValueError, match="it takes no argument 'shell'"):
        await call_feed("free", {"word": "a", "shell": "rm"}, desk.gateway())
    with pytest.raises(MissingKeyError, match="PASS_KEY"):
        await call_feed("keyed", {"word": "a"}, desk.gateway())
    with pytest.raises(UnknownNameError):
        await call_feed("other", {"word": "a"}, desk.gateway())
    assert not known["free"].asked
    assert not known["keyed"].asked


async def test_a_feed_is_asked_with_its_own_arguments(known: dict[str, Paper], desk: Desk) -> None:
    assert (await call_feed("free", {"word": "strike"}, desk.gateway())).failures == ("strike",)
    assert known["free"].asked == [Word(word="strike")]
