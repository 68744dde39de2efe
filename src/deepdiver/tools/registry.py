"""Search providers by name.

Ours and a third party's come the same way: entry points of the group `deepdiver.search`.

A provider is an object with the few members below. It makes its calls through the gateway, returns
hits, and raises CallError: could not search is never nothing found.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from deepdiver.tools.hit import Hit
from deepdiver.tools.reach import reach_all

GROUP = "deepdiver.search"
MEMBERS = ("name", "about", "missing", "search")
"""What makes an object a provider."""
MCP = "mcp"
"""Name that stands for the approved tools of MCP servers that can search."""
GROUPS = {"auto": {"own", "web"}, "scholar": {"scholar"}, "news": {"news"}}
"""Names that stand for all members of these groups that can be used. The scholarly ones and the
news are not part of `auto`: their services allow a call every second, or every five, and would slow
down every other question."""


class Provider(Protocol):
    """A place to search."""

    name: str
    """What it is called in settings and on the command line."""
    about: str
    """What it searches, in a few words."""

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set before it can be used, in words; None if it can be used."""

    # A provider may also have
    # - `async def prepare(self, gateway: Gateway) -> list[str]`: see `prepare` below;
    # - `address(settings: Settings) -> str`: where it is reached;
    # - `group`: own, web (if it says nothing), scholar or news: see GROUPS.

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """


class Broken:
    """Stands in for an installed provider that cannot be loaded.

    It costs itself, not the others.
    """

    about = "installed, but cannot be loaded"

    def __init__(self, name: str, why: str) -> None:
        """Keep why."""
        self.name, self._why = name, why

    def missing(self, settings: Settings) -> str | None:
        """Say why it cannot be loaded."""
        return self._why

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Refuse."""
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
        return Broken(point.name, f"cannot be loaded from {point.value}: {error}")
    if lacking := [member for member in MEMBERS if not hasattr(provider, member)]:
        return Broken(point.name, f"is no provider: {point.value} has no {', '.join(lacking)}")
    return provider


@dataclass(frozen=True, slots=True)
class Choice:
    """What a run searches."""

    providers: tuple[Provider, ...]
    """The providers, each once."""
    optional: frozenset[str] = frozenset()
    """Names of those that are left out if they cannot be reached."""
    left_out: tuple[str, ...] = ()
    """A line for each that a group or a `?` had to leave out."""
    mcp: tuple[str, ...] = ()
    """Which tools of MCP servers: `mcp` for all, `mcp:SERVER` for those of one, `mcp:SERVER.TOOL`
    for one."""

    def takes(self, tool: str) -> bool:
        """Whether a tool of an MCP server, SERVER.TOOL, is wanted."""
        server = tool.partition(".")[0]
        return any(name in {MCP, f"{MCP}:{server}", f"{MCP}:{tool}"} for name in self.mcp)

    @property
    def outside(self) -> bool:
        """Whether more is searched than the user's own documents."""
        return bool(self.mcp) or any(group_of(provider) != "own" for provider in self.providers)

    @property
    def names(self) -> tuple[str, ...]:
        """How the choice is written in settings, so that a key that comes or goes later changes nothing."""
        return (
            *(f"{p.name}?" if p.name in self.optional else p.name for p in self.providers),
            *self.mcp,
        )


def choose(settings: Settings, usable: bool = True) -> Choice:
    """Return the providers that a run searches.

    A name must be usable. `NAME?` is taken if it can be used and reached, and so is each member of
    a group. With nothing named, what is searched is your documents where there are any, and else
    the web: nothing leaves this machine for a question to your own documents unless you say so.

    Args:
        settings: Name the providers.
        usable: Whether they must have all they need; a replay asks nobody and needs nothing.

    Raises:
        UnknownNameError: If a provider was named that is not installed.
        MissingKeyError: If a provider was named that cannot be used.
    """
    known = providers()
    chosen: dict[str, Provider] = {}
    required: set[str] = set()
    left_out: list[str] = []
    mcp: list[str] = []
    for name, whether in _wanted(settings, known):
        if name == MCP or name.startswith(f"{MCP}:"):
            mcp.append(name)
            continue
        if name not in known:
            raise UnknownNameError(f"unknown search provider {name!r}{nearest(name, known)}")
        why = known[name].missing(settings) if usable else None
        if why is None:
            chosen.setdefault(name, known[name])
            required |= set() if whether and group_of(known[name]) != "own" else {name}
        elif whether:
            left_out.append(f"{name}: {why}")
        else:
            raise MissingKeyError(f"search provider {name} cannot be used: {why}")
    optional = frozenset(chosen.keys() - required)
    return Choice(
        tuple(chosen.values()), optional, tuple(dict.fromkeys(left_out)), tuple(dict.fromkeys(mcp))
    )


def _wanted(settings: Settings, known: Mapping[str, Provider]) -> Iterator[tuple[str, bool]]:
    """Walk the names that are wanted, and whether only if they can be used."""
    own = "library" in known and known["library"].missing(settings) is None
    for name in settings.search or (("library",) if own else ("auto",)):
        if name == "auto" and settings.mcp.servers:
            yield MCP, True
        if name in GROUPS:
            yield from (
                (other, True)
                for other, provider in known.items()
                if group_of(provider) in GROUPS[name]
            )
        else:
            yield name.removesuffix("?"), name.endswith("?")
    if settings.documents and "library" in known:
        yield "library", False


def group_of(provider: Provider) -> str:
    """Return what a provider is a member of: own, web, scholar or news."""
    return str(getattr(provider, "group", "web"))


def address_of(provider: Provider, settings: Settings) -> str:
    """Return where a provider is reached; empty where it does not say."""
    address = getattr(provider, "address", None)
    return str(address(settings)) if address else settings.urls.get(provider.name, "")


def nearest(name: str, known: Mapping[str, Provider]) -> str:
    """Return a hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, [*known, *GROUPS, MCP], 1, 0.5)
    return (
        f"; did you mean {close[0]}?"
        if close
        else f"; known are {', '.join([*GROUPS, MCP, *known])}"
    )


async def reached(choice: Choice, gateway: Gateway) -> tuple[list[Provider], list[str]]:
    """Return the providers without those optional ones that do not answer, and a line for each of these.

    Journalled: a resumed run goes on with those it began with, and a replay asks nobody.
    """
    asked = {
        p.name: at
        for p in choice.providers
        if p.name in choice.optional and (at := address_of(p, gateway.settings))
    }
    if (
        not asked or getproxies()
    ):  # behind a proxy no service can be reached directly, and all may be there
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
    """Have the providers that want to look at what they hold before the first search.

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
