"""An invented week around Kharkiv: every feed in its documented format, on one local server.

What happened, and what each feed knows of it:

- Strikes became more: news and satellites count three times as many as in the week before.
- On 11 November a fuel depot in Merefa exploded. News have it at 14:00 UTC, a satellite saw the
  fire at 14:05, and the networks of the country dipped an hour later.
- A works in the north is hot on every day of both weeks: no strike.
- A tabloid claims that strikes have decreased. That is false, and nothing else says so.
- Cloudflare Radar is down, unless a test says otherwise (`down`).

Nothing of it happened, and nobody in it exists.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

TODAY = date(2026, 11, 14)
WEEK = [TODAY - timedelta(days) for days in range(6, -1, -1)]
BEFORE = [day - timedelta(7) for day in WEEK]
KEY = "a-map-key-that-nobody-may-see"
KEV = (
    Path(__file__).parents[3]
    / "shared/data/formats/api/cisa_kev/known_exploited_vulnerabilities.json"
)

STRIKES = {8: 1, 9: 2, 10: 2, 11: 3, 12: 2, 13: 2, 14: 2}
"""Fires after strikes, by day of November; in the week before there are four."""
ARTICLES = {8: 6, 9: 9, 10: 10, 11: 18, 12: 11, 13: 9, 14: 8}
"""Pieces of news, by day of November; in the week before there are three a day."""

PAGES = {
    "depot": (
        "Explosion at fuel depot in Merefa",
        "Regional Wire",
        datetime(2026, 11, 11, 14, 0, tzinfo=UTC),
        "A strike hit a fuel depot in Merefa at 14:00 UTC on 11 November 2026, the regional "
        "administration said. "
        "A large fire could be seen from the southern outskirts of Kharkiv. Two workers were hurt.",
    ),
    "intensified": (
        "Strikes on Kharkiv intensified this week, officials say",
        "Daily Chronicle",
        datetime(2026, 11, 13, 9, 30, tzinfo=UTC),
        "Strikes on Kharkiv intensified this week, the city council said on 13 November 2026. "
        "Fourteen sites were hit in seven days, among them a fuel depot and two substations.",
    ),
    "calm": (
        "Calm returns: strikes on Kharkiv have decreased",
        "Evening Star",
        datetime(2026, 11, 12, 18, 0, tzinfo=UTC),
        "Strikes on Kharkiv have decreased this week, a reader of this paper says.",
    ),
    "power": (
        "Power cuts in Kharkiv after strike on substation",
        "Energy Monitor",
        datetime(2026, 11, 12, 7, 15, tzinfo=UTC),
        "Power was cut in parts of Kharkiv on 12 November 2026 after a strike on a substation, the "
        "operator said.",
    ),
}
"""Pages by name: title, publisher, when they were first seen, text."""


def fires() -> Iterator[tuple[date, str, float, float, float]]:
    """Every hot pixel: day, time, latitude, longitude, power."""
    for day in (*BEFORE, *WEEK):
        yield day, "1130", 50.190, 36.110, 12.4  # the works
    for number, day in enumerate((BEFORE[1], BEFORE[2], BEFORE[4], BEFORE[6])):
        yield day, f"02{10 + number}", 49.90 + number / 50, 36.40, 8.0 + number
    for day in WEEK:
        for number in range(STRIKES[day.day]):
            depot = day.day == 11 and number == 0
            spot = (49.8170, 36.0480) if depot else (49.86 + number / 25, 36.30 + day.day / 100)
            yield (
                day,
                "1405" if depot else f"{12 + number}17",
                *spot,
                96.5 if depot else 15.0 + number,
            )


class Week:
    """The server.

    `down` names the services that answer 503, `says` what others say instead of the truth.
    """

    def __init__(self) -> None:
        self.down, self.says, self.log = {"cloudflare_radar"}, dict[str, bytes](), list[str]()
        week = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                week.answer(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                week.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def settings(self) -> dict[str, Any]:
        """What points every feed here, as fast as it likes."""
        services = (
            "gdelt",
            "firms",
            "ioda",
            "cloudflare_radar",
            "cisa_kev",
            "nvd",
            "reliefweb",
            "usgs",
            "opensanctions",
        )
        quick = {"rate": 1000, "concurrent": 16}
        return {
            "urls": {name: f"{self.url}/{name}" for name in services},
            "keys": {
                "firms": KEY,
                "cloudflare_radar": "a-token-for-radar",
                "reliefweb": "deepdiver-test",
            },
            "limits": dict.fromkeys((*services, "fetch", "rss"), quick),
            "news_feeds": [f"{self.url}/rss"],
            "allow_hosts": [self.url.removeprefix("http://")],
            "as_of": TODAY,
            "retries": 0,
        }

    def __enter__(self) -> Week:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request by the first part of its path."""
        parts = urlsplit(handler.path)
        service, _, rest = parts.path.strip("/").partition("/")
        self.log.append(handler.path)
        if service in self.down:
            self._send(handler, b"Service Unavailable", "text/plain", 503)
            return
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        kind, body = getattr(self, f"_{service.replace('.', '_')}", self._nothing)(rest, asked)
        self._send(handler, self.says.get(service, body), kind, 200 if body else 404)

    def _send(self, handler: BaseHTTPRequestHandler, body: bytes, kind: str, status: int) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _nothing(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return "text/plain", b""

    def _json(self, value: Any) -> tuple[str, bytes]:
        return "application/json", json.dumps(value).encode()

    # -- news

    def _gdelt(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        if asked.get("mode") == "TimelineVolRaw":
            counts = dict.fromkeys(BEFORE, 3) | {day: ARTICLES[day.day] for day in WEEK}
            data = [
                {"date": f"{day:%Y%m%d}T000000Z", "value": n, "norm": 100_000}
                for day, n in counts.items()
            ]
            return self._json({"timeline": [{"series": "Article Count", "data": data}]})
        first, last = asked.get("startdatetime", "0"), asked.get("enddatetime", "9")
        articles = [
            {
                "url": f"{self.url}/page/{name}",
                "url_mobile": "",
                "title": title,
                "seendate": f"{seen:%Y%m%dT%H%M%SZ}",
                "socialimage": "",
                "domain": publisher.lower().replace(" ", "") + ".example",
                "language": "English",
                "sourcecountry": "Ukraine",
            }
            for name, (title, publisher, seen, _) in PAGES.items()
            if first <= f"{seen:%Y%m%d%H%M%S}" <= last
        ]
        return self._json({"articles": articles})

    def _rss(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        items = (
            "<item><title>Kharkiv counts the strikes of a hard week</title>"
            f"<link>{self.url}/page/counts</link><pubDate>Sat, 14 Nov 2026 08:00:00 GMT</pubDate>"
            "<description>Strikes near Kharkiv, day by day.</description></item>"
        )
        text = (
            '<?xml version="1.0"?><rss version="2.0"><channel><title>Border '
            f"News</title>{items}</channel></rss>"
        )
        return "application/rss+xml", text.encode()

    def _page(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        if rest not in PAGES:
            return "text/html", b""
        title, publisher, seen, text = PAGES[rest]
        body = "".join(f"<p>{part}.</p>" for part in text.removesuffix(".").split(". "))
        page = (
            f"<html lang='en'><head><title>{title}</title><meta property='og:site_name' "
            f"content='{publisher}'>"
            f"<meta property='article:published_time' content='{seen.isoformat()}'></head>"
            f"<body><article><h1>{title}</h1>{body}</article></body></html>"
        )
        return "text/html; charset=utf-8", page.encode()

    def _robots_txt(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return "text/plain", b"User-agent: *\nAllow: /\n"

    # -- satellites

    HEAD: ClassVar[str] = (
        "latitude,longitude,bright_ti4,scan,track,acq_date,acq_time,satellite,instrument,confidence,version,bright_ti5,"
        "frp,daynight"
    )

    def _firms(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        _, _, _, key, product, _, days, first = rest.split("/")
        if key != KEY:
            return "text/plain", b"Invalid MAP_KEY."
        lines = [self.HEAD]
        span = [date.fromisoformat(first) + timedelta(n) for n in range(int(days))]
        if product == "VIIRS_NOAA20_NRT":
            lines += [
                f"{lat:.5f},{lon:.5f},341.5,0.4,0.4,{day},{time},N20,VIIRS,"
                f"{'h' if power > 90 else 'n'},2.0NRT,290.1,{power},D"
                for day, time, lat, lon, power in fires()
                if day in span
            ]
        return "text/csv", ("\n".join(lines) + "\n").encode()

    # -- networks

    def _ioda(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        began = int(datetime(2026, 11, 11, 15, 0, tzinfo=UTC).timestamp())
        if rest.startswith("outages/events"):
            event = {
                "location": "country/UA",
                "start": began,
                "duration": 7200,
                "datasource": "bgp",
                "score": 1200.5,
            }
            return self._json(
                {"type": "outages.events", "error": None, "data": [{**event, "method": "median"}]}
            )
        start, end = int(asked["from"]), int(asked["until"])
        values = [0.80e5 if began <= at < began + 7200 else 1.0e5 for at in range(start, end, 1800)]
        series = {
            "entityType": "country",
            "entityCode": "UA",
            "datasource": "bgp",
            "from": start,
            "until": end,
        }
        return self._json(
            {
                "type": "signals",
                "error": None,
                "data": [[{**series, "step": 1800, "values": values}]],
            }
        )

    def _cloudflare_radar(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return self._json({"success": True, "errors": [], "result": {"annotations": []}})

    # -- the others

    def _cisa_kev(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return "application/json", KEV.read_bytes() if KEV.exists() else b""

    def _nvd(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        empty: dict[str, Any] = {
            "resultsPerPage": 0,
            "startIndex": 0,
            "totalResults": 0,
            "vulnerabilities": [],
        }
        return self._json(
            {**empty, "format": "NVD_CVE", "version": "2.0", "timestamp": "2026-11-14T08:00:00.000"}
        )

    def _usgs(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        meta = {
            "generated": 0,
            "url": "",
            "title": "USGS Earthquakes",
            "status": 200,
            "api": "1.14.1",
            "count": 0,
        }
        return self._json({"type": "FeatureCollection", "metadata": meta, "features": []})

    def _reliefweb(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return self._json(
            {"time": 1, "href": "", "links": {}, "took": 1, "totalCount": 0, "count": 0, "data": []}
        )

    def _opensanctions(self, rest: str, asked: dict[str, str]) -> tuple[str, bytes]:
        return self._json(
            {
                "responses": {
                    "q": {"status": 200, "results": [], "total": {"value": 0, "relation": "eq"}}
                }
            }
        )
