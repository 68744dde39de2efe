"""The egress guard, which decides which addresses we connect to.

It makes the connections. It resolves a name itself, checks every address, and connects to one of
the addresses that it has checked: there is no second look-up that could give another result. Only
the user's `allow_hosts` opens private addresses, by name; a page, a model or a tool never can.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore

from deepdiver.errors import CallError, CallFault, SettingsError, UnreadableError
from deepdiver.tools.fetch.parsed_url import Ip, ParsedUrl, parse_url

NO_HOST = "there is no host"
"""How the reason is told if nobody has a name."""
USUAL_PORTS = frozenset({80, 443, 8080, 8443})
"""The ports of web servers. Other ports belong to other services, which we must not talk to;
`name:port` allows one."""
MOST_TRIED = 4
"""How many addresses of one name are tried, one after the other."""
UNKNOWN_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a name and a port to all of its addresses."""

# The registries of special-purpose addresses (RFC 6890 and its successors), by our names for them.
PRIVATE = {
    "loopback": "127.0.0.0/8 ::1/128",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fec0::/10",
    "link-local": "169.254.0.0/16 fe80::/10",
    "shared by a provider's customers (CGNAT)": "100.64.0.0/10",
    "unique local": "fc00::/7",
}
"""Addresses that the user may open for a host by name."""
NEVER = {
    "a cloud's metadata service": "169.254.169.254/32 169.254.169.253/32 169.254.170.2/32 "
    "169.254.170.23/32"
    " 169.254.42.42/32 169.254.0.23/32 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 "
    "fd00:ec2::254/128"
    " fd00:ec2::23/128 fd20:ce::254/128 fe80::a9fe:a9fe/128",
    "unspecified": "0.0.0.0/8 ::/128",
    "for protocols": "192.0.0.0/24 2001::/23 100::/64",
    "for documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "for benchmarks": "198.18.0.0/15 2001:2::/48",
    "6to4": "192.88.99.0/24 2002::/16",
    "Teredo": "2001::/32",
    "NAT64": "64:ff9b::/96 64:ff9b:1::/48",
    "IPv4 within IPv6": "::ffff:0:0/96 ::ffff:0:0:0/96 ::/96",
    "multicast": "224.0.0.0/4 ff00::/8",
    "broadcast": "255.255.255.255/32",
    "reserved": "240.0.0.0/4",
}
"""Addresses that no website has, or that would bypass the check: never connected to."""


def _networks() -> list[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str]]:
    """Return all special networks with their names, the narrowest first, whose name says most."""
    table = [*PRIVATE.items(), *NEVER.items()]
    named = [(ipaddress.ip_network(text), name) for name, texts in table for text in texts.split()]
    return sorted(named, key=lambda item: -item[0].prefixlen)


_SPECIAL = _networks()
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""In the middle of an IPv6 address, these mark a tunnel to the IPv4 address after it (RFC 5214)."""


def reason_to_refuse(address: Ip, *, private: bool = False) -> str | None:
    """Return the reason to refuse an address; None if it is allowed.

    Args:
        address: The address.
        private: Whether the user has allowed the host, so that the address may be private.
    """
    name = next(
        (
            name
            for network, name in _SPECIAL
            if address.version == network.version and address in network
        ),
        None,
    )
    if name:
        return None if private and name in PRIVATE else name
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return "bound to a zone"
        if address not in _PUBLIC_V6:
            return "reserved"
        if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
            return "IPv4 within IPv6"
    return None


async def look_up(host: str, port: int) -> list[str]:
    """Resolve a name with the resolver of the system."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class DirectConnector(httpcore.AnyIOBackend):
    """Connects to an address that has passed the checks."""

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore.AsyncNetworkStream:
        """Connect, and hang up if the other end is this machine under its public address.

        A page learns that address from our request, and could redirect us to it, behind our own
        firewall.
        """
        stream = await super().connect_tcp(host, port, *args, **kwargs)
        ours, theirs = (stream.get_extra_info(name) for name in ("client_addr", "server_addr"))
        if (
            ours
            and theirs
            and ours[0] == theirs[0]
            and reason_to_refuse(ipaddress.ip_address(host)) is None
        ):
            await stream.aclose()
            raise CallError(f"{host} is refused: it is this machine", CallFault.REQUEST)
        return stream


class Guard(httpcore.AsyncNetworkBackend):
    """Checks addresses, and connects to those that pass."""

    def __init__(
        self,
        allow_hosts: Iterable[str] = (),
        *,
        resolve: Resolve = look_up,
        wire: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        """Set up the guard.

        Args:
            allow_hosts: The user's private hosts: `name`, `name:port`, or an IP address.
            resolve: Resolves names.
            wire: Connects to an address and a port.

        Raises:
            SettingsError: If an allowed host is malformed.
        """
        self._allowed = frozenset(_allowed(text) for text in allow_hosts)
        self._resolve, self._wire = resolve, wire or DirectConnector()

    def check_url(self, url: str) -> ParsedUrl:
        """Parse an address, and check everything that can be checked before its name is resolved.

        Raises:
            UnreadableError: If it is refused.
        """
        target = parse_url(url)
        allowed = self.allows(target.host, target.port)
        if target.port not in USUAL_PORTS and not allowed:
            raise UnreadableError(
                f"{target.authority} is refused: port {target.port} is no port of the web"
                f"{self._way_in(target.host, target.port)}"
            )
        if (address := target.address) and (reason := reason_to_refuse(address, private=allowed)):
            way = self._way_in(target.host, target.port) if reason in PRIVATE else ""
            raise UnreadableError(f"{target.authority} is refused: the address is {reason}{way}")
        return target

    def _way_in(self, host: str, port: int) -> str:
        """Return which form of `allow_hosts` would let a host in."""
        name = f"[{host}]" if ":" in host else host
        form = name if port in USUAL_PORTS else f"{name}:{port}"
        usual = ", ".join(map(str, sorted(USUAL_PORTS)))
        held = f"{name} alone opens ports {usual}; " if (host, None) in self._allowed else ""
        return f' ({held}allow_hosts = ["{form}"] in your settings would let it in)'

    def allows(self, host: str, port: int) -> bool:
        """Whether the user allows a host to be private."""
        return (host, port) in self._allowed or (
            port in USUAL_PORTS and (host, None) in self._allowed
        )

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve a name, check every address, and connect to one of them.

        Raises:
            CallError: If it has no address, or one of them is refused.
        """
        addresses = await self._judged(host, port)
        failure: httpcore.NetworkError | httpcore.TimeoutException | None = None
        for address in addresses[:MOST_TRIED]:
            try:
                return await self._wire.connect_tcp(str(address), port, timeout=timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or CallError(f"{host} has no address", CallFault.UNREACHED)

    async def _judged(self, host: str, port: int) -> list[Ip]:
        try:
            addresses = [ipaddress.ip_address(host)]
        except ValueError:
            addresses = await self._looked_up(host, port)
        private = self.allows(host, port)
        for address in addresses:
            if reason := reason_to_refuse(address, private=private):
                way = self._way_in(host, port) if reason in PRIVATE else ""
                raise CallError(
                    f"{host} is refused: it leads to {address}, which is {reason}{way}",
                    CallFault.REQUEST,
                )
        return addresses

    async def _looked_up(self, host: str, port: int) -> list[Ip]:
        try:
            return [ipaddress.ip_address(text) for text in await self._resolve(host, port)]
        except socket.gaierror as error:
            if error.errno in UNKNOWN_NAME:
                raise CallError(f"{NO_HOST} {host}", CallFault.REQUEST) from None
            raise CallError(
                f"{host} could not be looked up: {error.strerror}", CallFault.UNREACHED
            ) from None
        except (OSError, ValueError) as error:
            raise CallError(
                f"{host} could not be looked up: {type(error).__name__}", CallFault.UNREACHED
            ) from None


def _allowed(text: str) -> tuple[str, int | None]:
    """Parse an allowed host into its name and port; None stands for the usual ports."""
    text = text.strip()
    try:
        return str(ipaddress.ip_address(text.strip("[]"))), None
    except ValueError:
        pass
    ending = re.search(r":([1-9][0-9]{0,4})$", text)
    try:
        target = parse_url(f"http://{text}/")
    except UnreadableError:
        target = None
    if target is None or target.path != "/" or not re.fullmatch(r"[^/?#]+", text):
        raise SettingsError(f"allow_hosts: write NAME, NAME:PORT or an IP address, not {text!r}")
    return target.host, int(ending[1]) if ending else None
