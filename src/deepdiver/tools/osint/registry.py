"""The installed feeds by name, the choice of those that a run asks, and asking one by its name.

Our feeds and those of other distributions are found the same way: by entry points of the group
`deepdiver.feeds`.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, MissingKeyError, UnknownNameError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint.feed import Arguments, Feed, FeedResult, IntelligenceType, arguments_of

GROUP = "deepdiver.feeds"
MEMBERS = ("name", "about", "kind", "arguments", "missing", "ask")
"""The members that an object must have to be a feed."""
AUTO, NONE = "auto", "none"
"""The words of the settings for all feeds that have what they need, and for none."""


class BrokenFeed:
    """A feed that is installed but cannot be loaded, so that it does not cost the others."""

    about = "installed, but cannot be loaded"
    kind = IntelligenceType.EVENT
    arguments = Arguments

    def __init__(self, name: str, why: str) -> None:
        """Remember why it cannot be loaded."""
        self.name, self._why = name, why

    def missing(self, settings: Settings) -> str | None:
        """Return why it cannot be loaded."""
        return self._why

    async def ask(self, args: Arguments, gateway: Gateway) -> FeedResult:
        """Raise CallError."""
        raise CallError(f"{self.name} {self._why}", CallFault.REQUEST)


@functools.cache
def feeds() -> Mapping[str, Feed[Any]]:
    """Return all installed feeds by name."""
    return {
        point.name: _load(point)
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    }


def _load(point: EntryPoint) -> Feed[Any]:
    try:
        feed: Feed[Any] = point.load()
    except (ImportError, AttributeError) as error:
        return BrokenFeed(point.name, f"cannot be loaded from {point.value}: {error}")
    if lacking := [member for member in MEMBERS if not hasattr(feed, member)]:
        return BrokenFeed(point.name, f"is not a feed: {point.value} has no {', '.join(lacking)}")
    return feed


def named_feed(name: str) -> Feed[Any]:
    """Return a feed by its name.

    Raises:
        UnknownNameError: If no feed has that name.
    """
    known = feeds()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, [*known, AUTO, NONE], 1, 0.5)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join([AUTO, NONE, *known])}"
    raise UnknownNameError(f"unknown feed {name!r}; {hint}")


def _usable_feed(name: str, settings: Settings) -> Feed[Any]:
    """Return a feed by its name; raise UnknownNameError or MissingKeyError if it cannot be used."""
    feed = named_feed(name)
    if why := feed.missing(settings):
        raise MissingKeyError(f"feed {name} cannot be used: {why}")
    return feed


@dataclass(frozen=True, slots=True)
class FeedChoice:
    """The feeds of a run."""

    feeds: tuple[Feed[Any], ...] = ()
    """The feeds that may be asked."""
    left_out: tuple[str, ...] = ()
    """A line for each feed that `auto` had to leave out."""
    server: str = ""
    """The MCP server over which they are asked; empty: they are asked in this process."""


def _wanted_names(settings: Settings, outside: bool) -> tuple[str, ...]:
    """Return the names in the settings. Without any, a run that searches outside has `auto`."""
    return settings.feeds or ((AUTO,) if outside else ())


def choose_feeds(settings: Settings, *, outside: bool) -> FeedChoice:
    """Return the feeds that a run may ask in this process.

    A feed that is named must be usable; `auto` takes all that are. If nothing is named, a run that
    searches outside asks them too, and one that searches only the user's documents asks none.

    Args:
        settings: Name the feeds.
        outside: Whether the run searches more than the user's own documents.

    Raises:
        UnknownNameError: If a feed was named that is not installed.
        MissingKeyError: If a feed was named that cannot be used.
    """
    wanted = _wanted_names(settings, outside)
    chosen = {name: _usable_feed(name, settings) for name in wanted if name not in {AUTO, NONE}}
    automatic = feeds() if AUTO in wanted else {}
    lacking = {name: why for name, feed in automatic.items() if (why := feed.missing(settings))}
    chosen |= {name: feed for name, feed in automatic.items() if name not in lacking}
    return FeedChoice(
        tuple(chosen[name] for name in sorted(chosen)),
        tuple(f"{name}: {why}" for name, why in lacking.items()),
    )


async def usable_feeds(
    outside: bool, gateway: Gateway, offered: Collection[str] = ()
) -> FeedChoice:
    """Return the feeds that a run may ask, in this process or over an MCP server.

    The choice is journalled: a key that is added or removed changes nothing for a run that is
    resumed, and a replay needs no keys.

    Args:
        outside: Whether the run searches more than the user's own documents.
        gateway: The gateway of the run.
        offered: The tools of the MCP server over which feeds are asked, if the settings name one.
            Keys for these are that server's concern.

    Raises:
        UsageError: If a feed was named that cannot be used.
        UnknownNameError: If the run began with a feed that is no longer installed.
    """
    settings = gateway.settings

    async def do() -> Reply:
        if over := settings.mcp.feeds:
            named, lacking = _offered_feeds(over, offered, settings, outside)
        else:
            choice = choose_feeds(settings, outside=outside)
            named, lacking = [feed.name for feed in choice.feeds], list(choice.left_out)
        return Reply({"feeds": named, "left_out": lacking, "over": over})

    payload = {"choose": list(settings.feeds), "outside": outside}
    request = Request("feed", AUTO, "see which feeds can be used", payload, fresh=True)
    choice = (await gateway.call(request, do)).value
    return FeedChoice(
        tuple(named_feed(name) for name in choice["feeds"]),
        tuple(choice["left_out"]),
        choice["over"],
    )


def _offered_feeds(
    server: str, offered: Collection[str], settings: Settings, outside: bool
) -> tuple[list[str], list[str]]:
    """Return the wanted feeds that a server offers, and a line for each that it does not offer."""
    wanted = _wanted_names(settings, outside)
    names = [name for name in feeds() if AUTO in wanted or name in wanted]
    lacking = [
        f"{name}: MCP server {server} does not offer it" for name in names if name not in offered
    ]
    return [name for name in names if name in offered], lacking


async def call_feed(name: str, given: Mapping[str, Any], gateway: Gateway) -> FeedResult:
    """Ask a feed with arguments as a reasoner or a client gives them.

    Nothing is sent before they are checked.

    Raises:
        UnknownNameError: If there is no such feed.
        MissingKeyError: If it cannot be used.
        ValueError: If it does not take these arguments.
        GatewayError: If there is no answer.
    """
    arguments_of(named_feed(name), given)
    _usable_feed(name, gateway.settings)
    return await ask_feed(name, given, gateway)


async def ask_feed(name: str, given: Mapping[str, Any], gateway: Gateway) -> FeedResult:
    """Ask a feed that a run has chosen.

    Whether the feed has its key is not checked again: a replay needs none.

    Raises:
        UnknownNameError: If there is no such feed.
        ValueError: If it does not take these arguments.
        GatewayError: If there is no answer.
    """
    feed = named_feed(name)
    result: FeedResult = await feed.ask(arguments_of(feed, given), gateway)
    return result
