"""Search providers by name. Ours and a third party's come the same way: entry points of the group `deepdiver.search`.

A provider is an object with the few members below. It makes its calls through the gateway, returns hits, and raises
CallError: could not search is never nothing found.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, MissingKeyError, NoEvidenceError, UnknownNameError
from deepdiver.gateway import Gateway
from deepdiver.tools.hit import Hit

GROUP = "deepdiver.search"
MEMBERS = ("name", "about", "missing", "search")
"""What makes an object a provider."""
RESULTS = 6
"""Hits asked of each provider for each query."""


class Provider(Protocol):
    """A place to search."""

    name: str
    """What it is called in settings and on the command line."""
    about: str
    """What it searches, in a few words."""

    def missing(self, settings: Settings) -> str | None:
        """Return what must be set before it can be used, in words; None if it can be used."""

    # A provider may also have `async def prepare(self, gateway: Gateway) -> list[str]`: see `prepare` below.

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Search.

        Raises:
            GatewayError: If there is no answer.
        """


class Broken:
    """Stands in for an installed provider that cannot be loaded: it costs itself, not the others."""

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
    return {point.name: _load(point) for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def _load(point: EntryPoint) -> Provider:
    try:
        provider: Provider = point.load()
    except (ImportError, AttributeError) as error:
        return Broken(point.name, f"cannot be loaded from {point.value}: {error}")
    if lacking := [member for member in MEMBERS if not hasattr(provider, member)]:
        return Broken(point.name, f"is no provider: {point.value} has no {', '.join(lacking)}")
    return provider


def choose(settings: Settings, usable: bool = True) -> tuple[list[Provider], list[str]]:
    """Return the providers that a run searches, and a line for each that `auto` had to leave out.

    Args:
        settings: Name the providers.
        usable: Whether they must have all they need; a replay asks nobody and needs nothing.

    Raises:
        UnknownNameError: If a provider was named that is not installed.
        MissingKeyError: If a provider was named that cannot be used.
    """
    known = providers()
    chosen: dict[str, Provider] = {}
    left_out: list[str] = []
    for name in settings.search:
        if name == "auto":
            for other, provider in known.items():
                if (why := provider.missing(settings)) is None:
                    chosen.setdefault(other, provider)
                else:
                    left_out.append(f"{other}: {why}")
        elif name not in known:
            raise UnknownNameError(f"unknown search provider {name!r}{nearest(name, known)}")
        elif usable and (why := known[name].missing(settings)) is not None:
            raise MissingKeyError(f"search provider {name} cannot be used: {why}")
        else:
            chosen.setdefault(name, known[name])
    if settings.documents and "library" in known:
        chosen.setdefault("library", known["library"])
    return list(chosen.values()), left_out


def nearest(name: str, known: dict[str, Provider]) -> str:
    """Return a hint at the name that was probably meant."""
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return f"; did you mean {close[0]}?" if close else f"; known are auto, {', '.join(known)}"


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
