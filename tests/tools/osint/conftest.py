"""The services that the search providers are tested with, for the feeds."""

from __future__ import annotations

from tests.tools.search.conftest import nobody, service

__all__ = ["nobody", "service"]
