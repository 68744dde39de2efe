"""Tables as NASA FIRMS writes them, and asking the feed as a reasoner does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from pydantic import SecretStr

from deepdiver.gateway import Mode
from deepdiver.tools.osint.detect_thermal_anomalies import FEED
from deepdiver.tools.osint.feed import FeedResult, arguments_of
from deepdiver.tools.osint.thermal.arguments import ThermalArguments
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase
from tests.tools.search.conftest import Service, reply

# The columns of the area API in near real time, and of its standard products, which have a type
# besides.
VIIRS = (
    "latitude,longitude,bright_ti4,scan,track,acq_date,acq_time,satellite,instrument,confidence,version,"
    "bright_ti5,frp,daynight"
)
MODIS = (
    "latitude,longitude,brightness,scan,track,acq_date,acq_time,satellite,instrument,confidence,version,"
    "bright_t31,frp,daynight"
)
TODAY = date(2026, 11, 11)
ARGS = {"latitude": "49.99", "longitude": "36.23", "radius_km": "50", "days": "7"}


def viirs(
    day: date | str, time: str = "1105", lat: float = 49.9935, lon: float = 36.2304, **more: Any
) -> str:
    field = {
        "satellite": "N",
        "confidence": "n",
        "frp": "12.3",
        "bright": "341.2",
        "daynight": "D",
        **more,
    }
    return (
        f"{lat},{lon},{field['bright']},0.43,0.38,{day},{time},{field['satellite']},VIIRS,{field['confidence']},"
        f"2.0NRT,295.76,{field['frp']},{field['daynight']}"
    )


def modis(
    day: date | str,
    time: str = "0812",
    lat: float = 49.95,
    lon: float = 36.3,
    confidence: str = "85",
) -> str:
    return f"{lat},{lon},330.1,1.0,1.0,{day},{time},Terra,MODIS,{confidence},6.1NRT,290.4,18.4,D"


def table(header: str, lines: Iterable[str] = ()) -> bytes:
    return "\n".join([header, *lines]).encode()


def days_ago(days: int) -> date:
    return TODAY - timedelta(days)


def services(**lines: Iterable[str]) -> dict[str, bytes]:
    """Return what each source says; one that is not named has nothing."""
    said = {
        f"{name}_NRT/": table(VIIRS, lines.get(name, ()))
        for name in ("VIIRS_SNPP", "VIIRS_NOAA20", "VIIRS_NOAA21")
    }
    return said | {"MODIS_NRT/": table(MODIS, lines.get("MODIS", ()))}


def paths(said: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return an answer of 200 for each piece of a path."""
    return {piece: reply(body) for piece, body in said.items()}


GOOD = services(
    VIIRS_SNPP=[viirs(day) for day in (days_ago(0), days_ago(8), "2026-10-10")],
    VIIRS_NOAA20=[
        viirs(days_ago(1), "47", -12.5, 36.2, satellite="N20"),
        viirs(days_ago(1), "47", satellite="N20"),
    ],
    VIIRS_NOAA21=[viirs(days_ago(2), satellite="N21", confidence="h", daynight="N")],
    MODIS=[modis(days_ago(0)), modis(days_ago(3), confidence="20")],
)


def heard(service: Service) -> list[list[str]]:
    """Return source, area, days and first day of each request."""
    return [request.split(" ", 2)[1].split("/")[5:] for request in service.heard]


WRONG = (
    table(VIIRS, [viirs("yesterday")]),
    table(VIIRS, [viirs("0")]),  # no seconds since 1970
    table(VIIRS, [viirs(days_ago(0), "2560")]),
    table(VIIRS, [viirs(days_ago(0), lat=91.0)]),
    table(VIIRS, [viirs(days_ago(0), frp="nan")]),
    table(VIIRS, [viirs(days_ago(0), confidence="sure")]),
    table(VIIRS, [viirs(days_ago(0)), "49.9,36.2,300"]),
    table(VIIRS, [viirs(days_ago(0)) + ",more"]),
    table(VIIRS.replace("frp", "power"), [viirs(days_ago(0))]),
    b'latitude,"longitude\n',
    b"Invalid API call.",
    b"[]",
)
CASE = FeedCase(
    FEED,
    service="firms",
    args=ARGS,
    good=GOOD,
    empty=services(),
    wrong=WRONG,
    key="firms",
    settings={"as_of": TODAY},
    vary=lambda number: {"longitude": str(36 + number / 1_000)} if number else {},
)


def arguments(**args: Any) -> ThermalArguments:
    found = arguments_of(FEED, {**ARGS, **args})
    assert isinstance(found, ThermalArguments)
    return found


async def ask(
    desk: Desk,
    service: Service,
    said: dict[str, bytes] | None = None,
    mode: Mode = Mode.LIVE,
    as_of: date | None = TODAY,
    keys: dict[str, SecretStr] | None = None,
    **args: Any,
) -> FeedResult:
    """Ask as a reasoner does."""
    if said is not None:
        service.always = paths(said)
    options = CASE.options(service.url, as_of=as_of) | ({} if keys is None else {"keys": keys})
    return await FEED.ask(arguments(**args), desk.gateway(mode, **options))
