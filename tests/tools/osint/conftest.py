"""The local services with which search providers are tested, for the feeds too."""

from __future__ import annotations

from tests.tools.search.conftest import nobody, service

__all__ = ["nobody", "service"]
