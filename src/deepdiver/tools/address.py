"""Addresses of pages, in the form in which they are compared."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

PORTS = {"http": 80, "https": 443}
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|ref_src|ref_url|spm"
    r"|cmpid|ocid|wt\.\w+"
    r"|s?kwcid|trk\w*|vero_\w+|mkt_tok|oly_\w+|__hs\w+|_hs\w+",
    re.IGNORECASE,
)
"""Parameters that say where a reader came from and do not change the page."""

_NOT_IN_HOST = re.compile(r"[\s\x00-\x1f\x7f]")


def canonical(url: str) -> str:
    """Return the one address that stands for a page in comparisons; it is never fetched.

    The scheme, `www.`, a default port, the fragment, tracking parameters, the order of the others
    and a slash at the end make no difference. Anything but a web address stays as it is.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url
    if parts.scheme not in PORTS or not parts.hostname or _NOT_IN_HOST.search(parts.hostname):
        return url
    host = _ascii(parts.hostname).rstrip(".").removeprefix("www.")
    if port and port != PORTS[parts.scheme]:
        host += f":{port}"
    path = quote(
        unquote(parts.path, errors="surrogateescape"),
        safe="/:@!$&'()*+,;=~",
        errors="surrogateescape",
    )
    return f"https://{host}{_trimmed(path)}{_query(parts)}"


def host_of(url: str) -> str:
    """Return the host of an address in lower case, without `www.`; empty if there is none."""
    try:
        return _ascii(urlsplit(url.strip()).hostname or "").rstrip(".").removeprefix("www.")
    except ValueError:
        return ""


def within(host: str, domain: str) -> bool:
    """Whether a host is a domain or one of its subdomains."""
    return host == domain or host.endswith(f".{domain}")


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return host.lower()


def _trimmed(path: str) -> str:
    path = re.sub(r"/(?:index|default)\.(?:html?|php|aspx?)$", "/", path)
    return path.rstrip("/")


def _query(parts: SplitResult) -> str:
    kept = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape")
        if not TRACKING.fullmatch(name)
    )
    return f"?{urlencode(kept, errors='surrogateescape')}" if kept else ""
