"""Parsing an address once: the result is what is checked and what is connected to.

The parser is strict on purpose, since most tricks need two parsers that read one text differently.
It refuses whatever `urlsplit` or httpx would read in another way, and every spelling of a host that
some program would turn into another one.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

import httpx
import idna

from deepdiver.errors import UnreadableError

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = {"http": 80, "https": 443}
LONGEST = 4_000
"""Characters of an address. Longer ones transport data."""
SHOWN = 200
"""Characters of an address that a message repeats."""
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\\ud800-\udfff]")
"""Control characters and backslashes, which some parsers drop or turn into slashes, and lone
surrogates."""
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.DOTALL)
AUTHORITY = re.compile(
    r"(?:\[([0-9a-f:.]+)\]|([^:\[\]@%\s]+))(?::([1-9][0-9]{0,4}))?", re.IGNORECASE
)
"""A host and a port. No userinfo, no percent sign (encoded hosts, zone ids), no empty port, no
leading zeros."""
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label that makes a host an IPv4 address for some program: decimal, octal, hexadecimal or
short."""
FOREIGN_DOTS = re.compile("[\u3002\uff0e\uff61]")
"""Full stops of other scripts, which IDNA reads as dots: 127。0。0。1."""
SAFE = "/:@!$&'()*+,;=~%-._"
"""The characters of a path that are not percent-encoded."""


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A web address in its parts."""

    scheme: str
    """http or https."""
    host: str
    """A name in ASCII and lower case, or an IP address in canonical form, without brackets."""
    port: int
    """The given port, or the default of the scheme."""
    path: str
    """The path and query, as they are sent."""

    @property
    def address(self) -> Ip | None:
        """The IP address, if the host is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """The host and port, as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The origin, to which a robots.txt applies."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole address, without a fragment."""
        return f"{self.origin}{self.path}"

    def at(self, path: str) -> ParsedUrl:
        """Return another path on the same origin."""
        return ParsedUrl(self.scheme, self.host, self.port, path)


def parse_url(url: str) -> ParsedUrl:
    """Parse an address.

    Raises:
        UnreadableError: If it is not a web address, or could be read in another way.
    """
    if len(url) > LONGEST:
        raise UnreadableError(f"the address is longer than {LONGEST:,} characters: {url[:SHOWN]}…")
    if FORBIDDEN.search(url):
        raise _refusal(url, "it holds control characters or backslashes")
    parts = PARTS.fullmatch(url)
    if not parts:
        raise _refusal(url, "only http:// and https:// are followed")
    scheme = parts[1].lower()
    authority = AUTHORITY.fullmatch(parts[2])
    if not authority:
        raise _refusal(url, "its host is not plainly written")
    host = _numbered(url, authority[1]) if authority[1] else _named(url, authority[2])
    port = int(authority[3] or PORTS[scheme])
    if port > 65_535:
        raise _refusal(url, "there is no such port")
    path = _straight(quote(parts[3] or "/", safe=SAFE)) + quote(parts[4] or "", safe=SAFE + "?")
    target = ParsedUrl(scheme, host, port, path)
    if not _read_alike(url, target):
        raise _refusal(url, "other programs would read it differently")
    return target


def join_redirect(base: ParsedUrl, location: str) -> str:
    """Return the target of a redirect, still to be parsed.

    Raises:
        UnreadableError: If `urljoin` would silently drop a part of it, or disagree with browsers.
    """
    if FORBIDDEN.search(location) or len(location) > LONGEST or location.startswith("///"):
        raise _refusal(location, "it is not plainly written")
    if SCHEME.match(location):  # absolute: `http:x` is not relative to the page
        return location
    try:
        return urljoin(base.url, location)
    except ValueError:
        raise _refusal(location, "it cannot be read") from None


def _refusal(url: str, why: str) -> UnreadableError:
    shown = re.sub(r"//[^/?#]*@", "//…@", url)  # it may contain a password
    return UnreadableError(f"the address is refused: {why} ({ascii(shown[:SHOWN])[1:-1]})")


def _numbered(url: str, text: str) -> str:
    """Return the IPv6 address between brackets."""
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise _refusal(url, "its host is no IPv6 address") from None


def _named(url: str, text: str) -> str:
    """Return a name, or an IPv4 address in the only spelling that all programs agree on."""
    name = text.lower()
    try:
        if not name.isascii():
            if FOREIGN_DOTS.search(name):
                raise _refusal(url, "its host holds foreign dots")
            name = idna.encode(name).decode("ascii")
        elif "xn--" in name and idna.encode(idna.decode(name)).decode("ascii") != name:
            raise _refusal(url, "its host is wrongly encoded")
    except idna.IDNAError:
        raise _refusal(url, "its host is no name of the internet") from None
    labels = name.split(".")
    if len(name) > 253 or not all(map(LABEL.fullmatch, labels)):  # a final dot makes an empty label
        raise _refusal(url, "its host is no name of the internet")
    if not NUMBER.fullmatch(labels[-1]):
        return name
    try:
        return str(ipaddress.IPv4Address(name))
    except ValueError:
        raise _refusal(url, "its host is a number in disguise") from None


def _straight(path: str) -> str:
    """Remove dot segments from a path, as a server will, so that robots.txt rules apply to it."""
    if "/." not in path and "%2e" not in path.lower():
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for number, segment in enumerate(segments):
        plain = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
        if plain in {".", ".."} and number == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)


def _read_alike(url: str, target: ParsedUrl) -> bool:
    """Whether `urlsplit` and httpx see the same scheme, host and port, and no user."""
    try:
        usual, theirs = urlsplit(url), httpx.URL(url)
        seen = (
            usual.scheme,
            _ascii(usual.hostname or ""),
            usual.port or PORTS[target.scheme],
            usual.username,
        )
        other = (
            theirs.scheme,
            _ascii(theirs.raw_host.decode()),
            theirs.port or PORTS[target.scheme],
            theirs.userinfo,
        )
    except (ValueError, httpx.InvalidURL):  # UnicodeError and IDNAError are ValueErrors
        return False
    mine = (target.scheme, target.host, target.port)
    return seen == (*mine, None) and other == (*mine, b"")


def _ascii(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host if host.isascii() else idna.encode(host).decode("ascii")
