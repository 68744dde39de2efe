"""A query for vulnerabilities, as both CISA's catalogue and NVD understand it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.arguments import Period


@dataclass(frozen=True, slots=True)
class VulnerabilityQuery:
    """A query for vulnerabilities; an empty field means any."""

    period: Period
    """When they became known."""
    vendor: str = ""
    """The maker of the product."""
    product: str = ""
    """The product."""
    keyword: str = ""
    """Words of their descriptions."""
    cve: str = ""
    """The number of one vulnerability."""

    @property
    def text(self) -> str:
        """The query in words: of "Microsoft" in "Exchange Server"."""
        parts = (
            ("of", self.vendor),
            ("in", self.product),
            ("about", self.keyword),
            ("with the number", self.cve),
        )
        named = " ".join(f"{word} {phrases.quoted(text)}" for word, text in parts if text)
        return named or "of any kind"

    def payload(self, settings: Settings) -> dict[str, Any]:
        """Return the payload of a request."""
        fields = {
            "vendor": self.vendor,
            "product": self.product,
            "keyword": self.keyword,
            "cve": self.cve,
        }
        given = {name: text for name, text in fields.items() if text}
        return given | self.period.asked_days(settings)
