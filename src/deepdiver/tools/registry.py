"""Search providers by name: ours and those of other distributions.

All of them are found the same way, as entry points of the group `deepdiver.search`. A provider is
an object with the members of `Provider`. It makes its calls through the gateway, returns hits, and
raises CallError if it could not search, which must never look like a search without results.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol
from urllib.request import getproxies

from deepdiver.core.settings import Settings
from deepdiver.errors import (
    CallError,
    CallFault,
    MissingKeyError,
    NoEvidenceError,
    UnknownNameError,
)
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.gateway.prices import own_price
from deepdiver.tools.hit import Hit
from deepdiver.tools.reachability import reach_all

GROUP = "deepdiver.search"
MEMBERS = ("name", "about", "missing", "search")
"""The members that every provider must have."""
MCP = "mcp"
"""The name for all approved tools of MCP servers that can search."""
GROUPS = {"auto": {"own", "web"}, "scholar": {"scholar"}, "news": {"news"}}
"""Names for all usable providers of these groups. Scholarly services and the news are not part of
`auto`: they allow one call in a second, or in five, and would slow down every other question."""


class Provider(Protocol):
    """A place to search.

    A provider may also have

    - `async def prepare(self, gateway: Gateway) -> list[str]`: see `prepare` below;
    - `def address(self, settings: Settings) -> str`: its address;
    - `async def everything(self, most: int, gateway: Gateway) -> list[Hit]`: all that it holds, if
      that has at most `most` characters, else nothing;
    - `group`: own, web (the default), scholar or news: see GROUPS;
    - `list_price: Decimal`, or `def price(self, settings: Settings) -> Decimal | None`: see
      `price_of` below. Without either, a run with a budget needs a price under `[prices]`.

    A provider over HTTP has all of these from `search.base.HttpProvider`.
    """

    name: str
    """Its name in settings and on the command line."""
    about: str
    """What it searches, in a few words."""

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set before it can be used; None if it can be used."""

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """


class BrokenProvider:
    """Takes the place of an installed provider that cannot be loaded, so that the others work."""

    about = "installed, but cannot be loaded"

    def __init__(self, name: str, why: str) -> None:
        """Keep the name and the reason."""
        self.name, self._why = name, why

    def missing(self, settings: Settings) -> str | None:
        """Return why it cannot be loaded."""
        return self._why

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Raise the reason as an error."""
        raise CallError(f"{self.name} {self._why}", CallFault.REQUEST)


@functools.cache
def providers() -> dict[str, Provider]:
    """Return all installed providers by name."""
    return {
        point.name: _load(point)
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    }


def _load(point: EntryPoint) -> Provider:
    try:
        provider: Provider = point.load()
    except (ImportError, AttributeError) as error:
        return BrokenProvider(point.name, f"cannot be loaded from {point.value}: {error}")
    if lacking := [member for member in MEMBERS if not hasattr(provider, member)]:
        return BrokenProvider(
            point.name, f"is not a provider: {point.value} has no {', '.join(lacking)}"
        )
    return provider


@dataclass(frozen=True, slots=True)
class Choice:
    """The providers that a run searches."""

    providers: tuple[Provider, ...]
    """The providers, each once."""
    optional: frozenset[str] = frozenset()
    """The names of providers that are left out if they cannot be reached."""
    left_out: tuple[str, ...] = ()
    """A line for each provider of a group, or with a `?`, that cannot be used."""
    mcp: tuple[str, ...] = ()
    """The tools of MCP servers: `mcp` for all, `mcp:SERVER` for those of one server,
    `mcp:SERVER.TOOL` for one tool."""

    def takes(self, tool: str) -> bool:
        """Whether a tool of an MCP server, SERVER.TOOL, was chosen."""
        server = tool.partition(".")[0]
        return any(name in {MCP, f"{MCP}:{server}", f"{MCP}:{tool}"} for name in self.mcp)

    @property
    def outside(self) -> bool:
        """Whether anything but the user's own documents is searched."""
        return bool(self.mcp) or any(group_of(provider) != "own" for provider in self.providers)

    @property
    def names(self) -> tuple[str, ...]:
        """The choice as in settings, so that a key that comes or goes later does not matter."""
        return (
            *(f"{p.name}?" if p.name in self.optional else p.name for p in self.providers),
            *self.mcp,
        )


def choose(settings: Settings, usable: bool = True) -> Choice:
    """Return the providers that a run searches.

    A provider that is named must be usable. `NAME?`, and each member of a group, is chosen if it is
    usable and can be reached. If nothing is named, the run searches your documents if there are
    any, and otherwise the web: a question to your own documents does not leave this machine unless
    you say so.

    Args:
        settings: Name the providers.
        usable: Whether they must have all that they need; a replay asks nobody and needs nothing.

    Raises:
        UnknownNameError: If a provider was named that is not installed.
        MissingKeyError: If a provider was named that cannot be used.
    """
    known = providers()
    chosen: dict[str, Provider] = {}
    required: set[str] = set()
    left_out: list[str] = []
    mcp: list[str] = []
    for name, optional in _wanted(settings, known):
        if name == MCP or name.startswith(f"{MCP}:"):
            mcp.append(name)
            continue
        provider = _named(name, known)
        why = provider.missing(settings) if usable else None
        if why is not None:
            if not optional:
                raise MissingKeyError(f"search provider {name} cannot be used: {why}")
            left_out.append(f"{name}: {why}")
            continue
        chosen.setdefault(name, provider)
        if not optional or group_of(provider) == "own":
            required.add(name)
    return Choice(
        tuple(chosen.values()),
        frozenset(chosen.keys() - required),
        tuple(dict.fromkeys(left_out)),
        tuple(dict.fromkeys(mcp)),
    )


def _named(name: str, known: Mapping[str, Provider]) -> Provider:
    if name not in known:
        raise UnknownNameError(f"unknown search provider {name!r}{nearest(name, known)}")
    return known[name]


def _wanted(settings: Settings, known: Mapping[str, Provider]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each provider wanted, and whether it may be left out."""
    own = "library" in known and known["library"].missing(settings) is None
    for name in settings.search or (("library",) if own else ("auto",)):
        if name == "auto" and settings.mcp.servers:
            yield MCP, True
        if name in GROUPS:
            members = (n for n, provider in known.items() if group_of(provider) in GROUPS[name])
            yield from ((member, True) for member in members)
        else:
            yield name.removesuffix("?"), name.endswith("?")
    if settings.documents and "library" in known:
        yield "library", False


def group_of(provider: Provider) -> str:
    """Return the group of a provider: own, web, scholar or news."""
    return str(getattr(provider, "group", "web"))


def address_of(provider: Provider, settings: Settings) -> str:
    """Return the address of a provider; empty if it has none."""
    address = getattr(provider, "address", None)
    return str(address(settings)) if address else settings.urls.get(provider.name, "")


def price_of(provider: Provider, settings: Settings) -> Decimal | None:
    """Return what one search costs at most, in US dollars; None if that is not known.

    The user's own price goes before the one that the provider states.
    """
    if price := getattr(provider, "price", None):
        stated: Decimal | None = price(settings)
        return stated
    own = own_price(settings, provider.name)
    return own if own is not None else getattr(provider, "list_price", None)


def nearest(name: str, known: Mapping[str, Provider]) -> str:
    """Return the end of a message: the name that was probably meant, or else all names."""
    if close := difflib.get_close_matches(name, [*known, *GROUPS, MCP], 1, 0.5):
        return f"; did you mean {close[0]}?"
    return f"; known are {', '.join([*GROUPS, MCP, *known])}"


async def reached(choice: Choice, gateway: Gateway) -> tuple[list[Provider], list[str]]:
    """Return the providers without optional ones that do not answer, and a line for each of those.

    The answer is journalled: a resumed run goes on with the providers that it began with, and a
    replay asks nobody.
    """
    asked = {
        p.name: at
        for p in choice.providers
        if p.name in choice.optional and (at := address_of(p, gateway.settings))
    }
    # Behind a proxy no service can be reached directly, and all of them may be there.
    if not asked or getproxies():
        return list(choice.providers), []

    async def do() -> Reply:
        return Reply({name: why for name, why in (await reach_all(asked)).items() if why})

    request = Request(
        "search", "auto", "see which providers can be reached", {"reach": asked}, fresh=True
    )
    absent = (await gateway.call(request, do)).value
    kept = [provider for provider in choice.providers if provider.name not in absent]
    return kept, [f"{name} was not searched: {why}" for name, why in absent.items()]


async def prepare(chosen: Sequence[Provider], gateway: Gateway) -> list[str]:
    """Let the providers that want it look at what they hold before the first search.

    Returns:
        A line for each thing that cannot be searched.

    Raises:
        NoEvidenceError: If none of them has anything to search.
    """
    lines: list[str] = []
    empty: list[str] = []
    for provider in chosen:
        look = getattr(provider, "prepare", None)
        try:
            lines += await look(gateway) if look else []
        except NoEvidenceError as error:
            empty.append(str(error))
    if len(empty) == len(chosen):
        raise NoEvidenceError("; ".join(empty))
    return lines + empty
