"""Feeds by name.

Ours and a third party's come the same way: entry points of the group `deepdiver.feeds`.
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
from deepdiver.tools.osint.feed import Arguments, Feed, IntelligenceType, Told, arguments_of

GROUP = "deepdiver.feeds"
MEMBERS = ("name", "about", "kind", "arguments", "missing", "ask")
"""What makes an object a feed."""
AUTO, NONE = "auto", "none"
"""What stands in the settings for all feeds that have what they need, and for none."""


class Broken:
    """Stands in for an installed feed that cannot be loaded: it costs itself, not the others."""

    about = "installed, but cannot be loaded"
    kind = IntelligenceType.EVENT
    arguments = Arguments

    def __init__(self, name: str, why: str) -> None:
        """Keep why."""
        self.name, self._why = name, why

    def missing(self, settings: Settings) -> str | None:
        """Say why it cannot be loaded."""
        return self._why

    async def ask(self, args: Arguments, gateway: Gateway) -> Told:
        """Refuse."""
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
        return Broken(point.name, f"cannot be loaded from {point.value}: {error}")
    if lacking := [member for member in MEMBERS if not hasattr(feed, member)]:
        return Broken(point.name, f"is no feed: {point.value} has no {', '.join(lacking)}")
    return feed


@dataclass(frozen=True, slots=True)
class FeedChoice:
    """The feeds of a run."""

    feeds: tuple[Feed[Any], ...] = ()
    """Those that may be asked."""
    left_out: tuple[str, ...] = ()
    """A line for each that `auto` had to leave out."""


def choose_feeds(settings: Settings, *, outside: bool) -> FeedChoice:
    """Return the feeds that a run may ask.

    A name must be usable; `auto` takes what is. With nothing named, a run that searches outside
    asks them too, and one that searches only the user's documents asks nobody.

    Args:
        settings: Name the feeds.
        outside: Whether the run searches more than the user's own documents.

    Raises:
        UnknownNameError: If a feed was named that is not installed.
        MissingKeyError: If a feed was named that cannot be used.
    """
    wanted = [name for name in settings.feeds or ((AUTO,) if outside else ()) if name != NONE]
    known = feeds() if wanted else {}
    chosen: dict[str, Feed[Any]] = {}
    left_out: list[str] = []
    for name in wanted:
        if name == AUTO:
            lacking = {feed.name: feed.missing(settings) for feed in known.values()}
            left_out += [f"{one}: {why}" for one, why in lacking.items() if why]
            chosen |= {one: known[one] for one, why in lacking.items() if not why}
        else:
            chosen[name] = named_feed(name)
            if why := known[name].missing(settings):
                raise MissingKeyError(f"feed {name} cannot be used: {why}")
    return FeedChoice(tuple(chosen[name] for name in sorted(chosen)), tuple(left_out))


@dataclass(frozen=True, slots=True)
class Usable:
    """The feeds of a run as it began."""

    feeds: tuple[Feed[Any], ...]
    """Those that it may ask."""
    left_out: tuple[str, ...]
    """A line for each that it would ask if it could."""
    over: str
    """The MCP server over which they are asked; empty: in this process."""


async def usable_feeds(outside: bool, gateway: Gateway, offered: Collection[str] = ()) -> Usable:
    """Return the feeds that a run may ask.

    Journalled: a key that comes or goes changes nothing for a run that is resumed, and a replay
        needs none.

    Args:
        outside: Whether the run searches more than the user's own documents.
        gateway: The run's door.
        offered: The tools of the MCP server over which feeds are asked, if the settings name one.
            What these need is for that server to have.

    Raises:
        UsageError: If a feed was named that cannot be used.
        UnknownNameError: If the run began with a feed that is no longer installed.
    """
    settings = gateway.settings

    async def do() -> Reply:
        if over := settings.mcp.feeds:
            named, lacking = _over(over, offered, settings, outside)
        else:
            choice = choose_feeds(settings, outside=outside)
            named, lacking = [feed.name for feed in choice.feeds], list(choice.left_out)
        return Reply({"feeds": named, "left_out": lacking, "over": over})

    payload = {"choose": list(settings.feeds), "outside": outside}
    made = (
        await gateway.call(
            Request("feed", AUTO, "see which feeds can be used", payload, fresh=True), do
        )
    ).value
    return Usable(
        tuple(named_feed(name) for name in made["feeds"]), tuple(made["left_out"]), made["over"]
    )


def _over(
    server: str, offered: Collection[str], settings: Settings, outside: bool
) -> tuple[list[str], list[str]]:
    """Return the names of the feeds that a server offers, and a line for each that is wanted and not offered."""
    asked = settings.feeds or ((AUTO,) if outside else ())
    named = [name for name in asked if name not in {AUTO, NONE}]
    wanted = [name for name in feeds() if AUTO in asked or name in named]
    lacking = [
        f"{name}: MCP server {server} does not offer it" for name in wanted if name not in offered
    ]
    return [name for name in wanted if name in offered], lacking


def named_feed(name: str) -> Feed[Any]:
    """Return a feed by its name.

    Raises:
        UnknownNameError: If there is none.
    """
    known = feeds()
    if name not in known:
        close = difflib.get_close_matches(name, [*known, AUTO, NONE], 1, 0.5)
        hint = (
            f"did you mean {close[0]}?" if close else f"known are {', '.join([AUTO, NONE, *known])}"
        )
        raise UnknownNameError(f"unknown feed {name!r}; {hint}")
    return known[name]


async def call_feed(name: str, given: Mapping[str, Any], gateway: Gateway) -> Told:
    """Ask a feed with arguments as a reasoner or a client gives them.

    Nothing is sent before they are checked.

    Raises:
        UnknownNameError: If there is no such feed.
        MissingKeyError: If it cannot be used.
        ValueError: If it does not take these arguments.
        GatewayError: If there is no answer.
    """
    feed = named_feed(name)
    arguments_of(feed, given)
    if why := feed.missing(gateway.settings):
        raise MissingKeyError(f"feed {name} cannot be used: {why}")
    return await ask_feed(name, given, gateway)


async def ask_feed(name: str, given: Mapping[str, Any], gateway: Gateway) -> Told:
    """Ask a feed that a run has chosen.

    Whether it has its key is not asked again: a replay needs none.

    Raises:
        UnknownNameError: If there is no such feed.
        ValueError: If it does not take these arguments.
        GatewayError: If there is no answer.
    """
    feed = named_feed(name)
    told: Told = await feed.ask(arguments_of(feed, given), gateway)
    return told
