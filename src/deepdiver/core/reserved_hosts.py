"""Hosts that are reserved for examples and for private use: no stranger is reached under them.

Whoever writes instructions needs an address that stands for the reader's own. What an address leads
to matters where a document may have slipped it in, and these lead to nobody.
"""

from __future__ import annotations

import ipaddress
import re

_LABELS = r"(?:[\w-]+\.)*"
_EXAMPLE = re.compile(
    rf"{_LABELS}(?:example(?:\.(?:com|net|org))?|test|invalid|localhost)\.?", re.IGNORECASE
)
"""RFC 2606 and RFC 6761."""
_PRIVATE = re.compile(rf"{_LABELS}(?:internal|local|home\.arpa)\.?", re.IGNORECASE)
"""What ICANN has set aside for private networks, RFC 6762 and RFC 8375."""
_HOST = re.compile(r"(?:\w+://)?(?:[^\s/@\"'<>]*@)?(?:\[([^\s\]]*)\]|([^\s/:\"'<>)\]]*))")


def host_of(address: str) -> str:
    """Return the host of an address, with or without its scheme; empty if it has none."""
    found = _HOST.match(address)
    return (found[1] or found[2]) if found else ""


def is_example(host: str) -> bool:
    """Whether a host stands for any other, or is the machine itself."""
    return bool(_EXAMPLE.fullmatch(host)) or host in {"127.0.0.1", "::1"}


def is_reserved(host: str) -> bool:
    """Whether a host stands for any other, or is one of the reader's own network."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return is_example(host) or bool(_PRIVATE.fullmatch(host))
