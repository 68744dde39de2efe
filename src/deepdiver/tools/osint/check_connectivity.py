"""Whether a country or a network is connected to the internet.

IODA, and Cloudflare Radar where a token is set.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Self

from pydantic import model_validator

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.osint import ioda, radar
from deepdiver.tools.osint.arguments import Asn, CountryCode, ManyDays, Period
from deepdiver.tools.osint.asking import side_by_side
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import Answer, Arguments, IntelligenceType, Told
from deepdiver.tools.osint.outages import Whom


class Asked(Period):
    """Which country or network, and when."""

    country_code: CountryCode | None = None
    """Two letters as in ISO 3166-1: UA; either this or asn."""
    asn: Asn | None = None
    """Number of a network: 3255; either this or country_code."""
    days: ManyDays | None = None
    """Instead of since: how many days, the last included; without any time 7. As many before are
    compared with."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.country_code is None) == (self.asn is None):
            raise ValueError("give either country_code or asn")
        return self

    @property
    def whom(self) -> Whom:
        """Whose connectivity is asked for."""
        if self.country_code is not None:
            return Whom("country", self.country_code, countries()[self.country_code].name)
        return Whom("asn", str(self.asn), f"AS{self.asn}")


class CheckConnectivity:
    """Asks for outages and signals."""

    name = "check_connectivity"
    about = "internet outages of a country or a network, and how far its signals fell"
    kind = IntelligenceType.CONNECTIVITY
    arguments: type[Arguments] = Asked

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed: without a token of Cloudflare's there is IODA."""
        return None

    async def ask(self, args: Asked, gateway: Gateway) -> Told:
        """Ask all at once."""
        lines: list[str] = []
        asked: dict[str, Coroutine[Any, Any, Answer | None]] = {
            "IODA": ioda.connectivity(args, args.whom, lines, gateway),
            "Cloudflare Radar": radar.outages_if_set(args, args.whom, gateway),
        }
        answers, failures = await side_by_side(asked)
        return Told(answers=tuple(answers.values()), failures=(*failures, *lines))


FEED = CheckConnectivity()
