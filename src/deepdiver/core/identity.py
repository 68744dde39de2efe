"""Ids made of content: the same thing has the same id on any machine and in any order."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal.

    Lone surrogates, which UTF-8 cannot hold, are hashed as `?`.
    """
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def content_id(prefix: str, *parts: Any) -> str:
    """Return a short id made of the content.

    It has 64 bits: the probability of a clash within a run of 10^5 records is below 10^-9.
    """
    return f"{prefix}_{digest(canonical(parts))[:16]}"


def encodable(value: Any) -> Any:
    """Return a value with its lone surrogates replaced by `?`, as `digest` does.

    File names and command line arguments may hold them.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    return type(value)(map(encodable, value)) if type(value) in (list, tuple) else value
