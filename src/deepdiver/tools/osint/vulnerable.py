"""What is looked for among vulnerabilities, as both of their services understand it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Period


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; empty: anything."""

    period: Period
    """When it became known."""
    vendor: str = ""
    """Who makes it."""
    product: str = ""
    """What it is in."""
    keyword: str = ""
    """Words that are said of it."""
    cve: str = ""
    """Its number."""

    @property
    def told(self) -> str:
        """What is looked for, in words: of "Microsoft" in "Exchange Server"."""
        parts = (
            ("of", self.vendor),
            ("in", self.product),
            ("about", self.keyword),
            ("with the number", self.cve),
        )
        return (
            " ".join(f"{word} {telling.quoted(text)}" for word, text in parts if text)
            or "of any kind"
        )

    def payload(self, settings: Settings) -> dict[str, Any]:
        """Return what shapes an answer."""
        named = {
            "vendor": self.vendor,
            "product": self.product,
            "keyword": self.keyword,
            "cve": self.cve,
        }
        return {name: text for name, text in named.items() if text} | self.period.asked_days(
            settings
        )
