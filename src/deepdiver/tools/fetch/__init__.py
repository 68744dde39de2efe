"""Fetching web pages: guarded, polite, bounded.

    page = await fetch("https://example.org/report", gateway)

A page, a model or a tool can name any address. The guard decides on the addresses that we connect
to.
"""

from __future__ import annotations

from deepdiver.tools.fetch.egress_guard import Guard
from deepdiver.tools.fetch.pages import Page, fetch, is_gone

__all__ = ["Guard", "Page", "fetch", "is_gone"]
