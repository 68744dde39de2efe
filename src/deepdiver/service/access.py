"""Where the service listens, and by which names and with which tokens it may be reached."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.errors import UsageError

ANYWHERE = ("0.0.0.0", "::")  # noqa: S104  compared with, not bound
SHORTEST_TOKEN = 16
"""Characters: a shorter token can be guessed by trying."""


@dataclass(frozen=True, slots=True)
class Access:
    """The names that a request may call the service by."""

    names: frozenset[str]
    """What a Host header may say before the port, in small letters."""

    def allows(self, host: str) -> bool:
        """Return whether a Host header names this service."""
        return split_port(host.lower())[0] in self.names


def split_port(host: str) -> tuple[str, str]:
    """Return the name and the port of a Host header; the port may be empty."""
    name, mark, port = host.rpartition(":")
    if mark and port.isdigit() and (not name.startswith("[") or name.endswith("]")):
        return name, port
    return host, ""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on this address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_access(host: str, named: Sequence[str], *, guarded: bool, token: str | None) -> Access:
    """Return the names that the service may be reached by.

    Args:
        host: The address to listen on.
        named: Further names, such as that of a proxy in front.
        guarded: Whether a token is needed.
        token: The token of the settings, if there is one.

    Raises:
        UsageError: If anybody could use it, if the token can be guessed, or if it listens on all
            addresses and nobody says by which names it is reached.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise UsageError(f"the token has {len(token)} characters; use at least {SHORTEST_TOKEN}")
    if not guarded and (named or not is_loopback(host)):
        where = named[0] if named else host
        raise UsageError(
            f"{where} can be reached from other machines: add a user first (deepdiver serve "
            "add-user NAME) or give a token (--token-file FILE), or listen on 127.0.0.1"
        )
    if host in ANYWHERE and not named:
        raise UsageError(
            f"{host} is every address of this machine: say by which name browsers reach it, with "
            "--allow-host NAME"
        )
    own = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) or host in ANYWHERE else set()
    shown = f"[{host}]" if ":" in host else host
    return Access(frozenset({name.lower() for name in (*named, *own, shown)} - set(ANYWHERE)))
