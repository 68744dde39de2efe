"""Feed `check_connectivity`: whether a country or a network is connected to the internet.

It asks IODA, and Cloudflare Radar if a token is set.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.arguments import Asn, CountryCode, ManyDays, Period
from deepdiver.tools.osint.connectivity import ioda, radar
from deepdiver.tools.osint.connectivity.outages import CountryOrNetwork
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.services import ask_services


class ConnectivityArguments(Period, title="Asked"):
    """Which country or network, and when."""

    country_code: CountryCode | None = None
    """Two letters as in ISO 3166-1: UA; either this or asn."""
    asn: Asn | None = None
    """Number of a network: 3255; either this or country_code."""
    days: ManyDays | None = Field(
        None,
        description="Instead of since: how many days, the last included; without any time 7. As "
        "many before are compared with.",
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.country_code is None) == (self.asn is None):
            raise ValueError("give either country_code or asn")
        return self

    @property
    def subject(self) -> CountryOrNetwork:
        """The country or the network."""
        if self.country_code is not None:
            name = countries()[self.country_code].name
            return CountryOrNetwork("country", self.country_code, name)
        return CountryOrNetwork("asn", str(self.asn), f"AS{self.asn}")


class CheckConnectivity:
    """Asks for outages and for the levels of signals."""

    name = "check_connectivity"
    about = "internet outages of a country or a network, and how far its signals fell"
    kind = IntelligenceType.CONNECTIVITY
    arguments: type[Arguments] = ConnectivityArguments

    def missing(self, settings: Settings) -> str | None:
        """Return None: without a token for Cloudflare Radar, IODA is asked alone."""
        return None

    async def ask(self, args: ConnectivityArguments, gateway: Gateway) -> FeedResult:
        """Ask both services at once."""
        return await ask_services(
            {
                "IODA": ioda.connectivity(args, args.subject, gateway),
                "Cloudflare Radar": radar.outages_if_set(args, args.subject, gateway),
            }
        )


FEED = CheckConnectivity()
