"""What services that need no key ask of their callers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault


def agent(settings: Settings) -> dict[str, str]:
    """Return the header that says who calls, if the user has said it.

    Otherwise ours says only what calls.
    """
    return (
        {"User-Agent": f"deepdiver ({settings.contact}; cites what it reads)"}
        if settings.contact
        else {}
    )


@contextmanager
def advised(advice: str) -> Iterator[None]:
    """Say what helps against a refusal, instead of sending the user to look at a key that there may not be."""
    try:
        yield
    except CallError as error:
        if error.fault is not CallFault.AUTH:
            raise
        told = str(error).partition(":")[0]
        raise CallError(
            f"{told}: {advice}", CallFault.AUTH, retry_after=error.retry_after
        ) from None


def key_advice(settings: Settings, provider: str, variable: str) -> str:
    """Return what helps where a key is optional."""
    return (
        f"check {variable}"
        if settings.key(provider)
        else f"it wants to know its callers: set {variable}"
    )
