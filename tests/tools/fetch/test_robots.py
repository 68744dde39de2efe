"""robots.txt by RFC 9309: what each answer means, who is meant, and what a hostile one costs."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.fetch.parsed_url import parse_url
from deepdiver.tools.fetch.robots import (
    HOPS,
    LONGEST_DELAY,
    MOST,
    RobotsRules,
    _parsed,
    fetch_rules,
)
from tests.patience import in_proportion
from tests.tools.conftest import Desk
from tests.tools.fetch.rig import GOOD, PUBLIC, Web, answer, gateway, redirect

URL = "http://holm.example/private/page"
FORBID = "User-agent: *\nDisallow: /private/\n"


def text(body: str | bytes, status: str = "200 OK", **headers: str) -> bytes:
    return answer(body, status, "text/plain", **headers)


async def fetched(web: Web, desk: Desk, url: str = URL, **settings: object) -> bool:
    """Whether a page is read, with what robots.txt says."""
    web.pages.setdefault("*", GOOD)
    told = ""
    try:
        await web.fetch(url, gateway(desk, **settings))
    except UnreadableError as error:
        told = str(error)
    assert not told or "robots.txt" in told
    assert not told or not [place for place in web.asked if place.endswith("page")]
    return not told


async def test_what_is_forbidden_is_not_read(web: Web, desk: Desk) -> None:
    web.pages["/robots.txt"] = text(FORBID)
    assert not await fetched(web, desk)
    assert web.asked == ["holm.example/robots.txt"]
    assert await fetched(web, desk, "http://holm.example/public")


async def test_robots_is_a_journalled_call_of_its_own_and_asked_once(web: Web, desk: Desk) -> None:
    web.pages["/robots.txt"] = text(FORBID)
    assert await fetched(web, desk, "http://holm.example/1")
    assert await fetched(web, desk, "http://holm.example/2")
    assert web.asked.count("holm.example/robots.txt") == 1
    row = desk.store.journal.rows(desk.run)[0]
    assert (row.kind, row.provider, row.what) == (
        "fetch",
        "fetch:holm.example",
        "robots.txt of holm.example",
    )
    assert json.loads(row.reply or "")["value"] == {"robots": FORBID}


async def test_a_replay_obeys_the_robots_of_then(web: Web, desk: Desk) -> None:
    web.pages["/robots.txt"] = text(FORBID)
    assert not await fetched(web, desk)
    web.pages["/robots.txt"] = text("")
    assert not await fetched(web, desk, mode=Mode.REPLAY)
    assert len(web.heard) == 1


@pytest.mark.parametrize(
    "status", ["400 Bad", "401 Who", "403 No", "404 Not Found", "410 Gone", "204 Nothing"]
)
async def test_where_there_is_none_everything_is_allowed(web: Web, desk: Desk, status: str) -> None:
    web.pages["/robots.txt"] = text("" if status.startswith("204") else FORBID, status)
    assert await fetched(web, desk)


@pytest.mark.parametrize("status", ["500 Oh", "502 Bad", "503 Later", "429 Slow"])
async def test_where_it_fails_nothing_is_allowed(web: Web, desk: Desk, status: str) -> None:
    web.pages["/robots.txt"] = text("", status, Retry_After="0")
    assert not await fetched(web, desk, retries=2)
    assert web.asked == ["holm.example/robots.txt"] * 3
    assert desk.store.journal.rows(desk.run)[0].state is CallState.FAILED


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"no http at all\r\n\r\n",
        text(b"not gzip", Content_Encoding="gzip"),
        text(b"x" * 9)[:-5],
    ],
    ids=["hangs up", "no http", "badly packed", "breaks off"],
)
async def test_where_it_cannot_be_read_nothing_is_allowed(
    web: Web, desk: Desk, says: bytes
) -> None:
    web.pages["/robots.txt"] = says
    assert not await fetched(web, desk)


async def test_a_server_that_comes_back_is_read(web: Web, desk: Desk) -> None:
    turns = [text("", "503 Later", Retry_After="0"), text(FORBID)]

    async def says(writer: asyncio.StreamWriter) -> None:
        writer.write(turns.pop(0))
        await writer.drain()

    web.pages["/robots.txt"] = says
    assert not await fetched(web, desk, retries=1)
    assert turns == []


async def test_redirects_are_followed_and_count_for_the_first_host(web: Web, desk: Desk) -> None:
    web.pages |= {
        "holm.example/robots.txt": redirect("http://www.holm.example/robots.txt", 301),
        "www.holm.example/robots.txt": redirect("/r", 308),
        "www.holm.example/r": text(FORBID),
    }
    assert not await fetched(web, desk)
    providers = [row.provider for row in desk.store.journal.rows(desk.run)]
    assert providers == ["fetch:holm.example", "fetch:www.holm.example", "fetch:www.holm.example"]


async def test_behind_too_many_redirects_there_are_no_rules(web: Web, desk: Desk) -> None:
    web.pages |= {f"/r{n}": redirect(f"/r{n + 1}") for n in range(20)}
    web.pages["/robots.txt"] = redirect("/r0")
    assert await fetched(web, desk)
    assert len(web.heard) == HOPS + 2


@pytest.mark.parametrize(
    "to", ["http://127.0.0.1/robots.txt", "http://inside.example/robots.txt", "file:///etc/passwd"]
)
async def test_a_redirect_to_the_inside_is_refused(web: Web, desk: Desk, to: str) -> None:
    web.pages["/robots.txt"] = redirect(to)
    web.names["inside.example"] = [["10.0.0.1"]]
    assert not await fetched(web, desk)
    assert web.wire.meant == [PUBLIC]


async def test_each_host_and_port_and_scheme_has_its_own(web: Web, desk: Desk) -> None:
    web.pages |= {"holm.example/robots.txt": text(FORBID), "holm.example:8080/robots.txt": text("")}
    assert await fetched(web, desk, "http://holm.example:8080/private/x")
    assert not await fetched(web, desk)


async def test_what_is_behind_500_kib_does_not_count(web: Web, desk: Desk) -> None:
    filler = "# a comment of some length to fill the file\n"
    head = filler * (MOST // len(filler) + 1)
    web.pages["a.example/robots.txt"] = text(head + FORBID)
    web.pages["b.example/robots.txt"] = text(FORBID + head)
    assert await fetched(web, desk, "http://a.example/private/x")
    assert not await fetched(web, desk, "http://b.example/private/x")


async def test_the_crawl_delay_is_kept_to(web: Web, desk: Desk) -> None:
    times: list[float] = []

    async def says(writer: asyncio.StreamWriter) -> None:
        times.append(time.monotonic())
        writer.write(GOOD)
        await writer.drain()

    web.pages |= {"/robots.txt": text("User-agent: *\nCrawl-delay: 0.5\n"), "/1": says, "/2": says}
    door = gateway(desk, limits={"fetch": {"rate": 1e6, "concurrent": 1}})
    await asyncio.gather(*(web.fetch(f"http://holm.example/{n}", door) for n in (1, 2)))
    assert times[1] - times[0] >= 0.5


# The rules by themselves


def allowed(robots: str, path: str = "/private/x") -> bool:
    return RobotsRules(robots).allow(parse_url(f"http://holm.example{path}"))


@pytest.mark.parametrize(
    ("robots", "path", "may"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow:\n", "/x", True),
        ("User-agent: *\nDisallow: /\n", "/x", False),
        ("User-agent: *\nDisallow: /\nAllow: /x\n", "/x", True),
        ("User-agent: *\nDisallow: /x\nAllow: /x/y\n", "/x/y/z", True),
        ("User-agent: *\nDisallow: /*.pdf$\n", "/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$\n", "/a.pdf?x", True),
        ("User-agent: *\nDisallow: /*?print=\n", "/a?print=1", False),
        ("User-agent: deepdiver\nDisallow: /\n", "/x", False),
        ("User-agent: DeepDiver/0.1\nDisallow: /\n", "/x", False),
        ("user-AGENT:deepdiver # us\ndisallow:/\n", "/x", False),
        ("User-agent: deepdiver\nAllow: /\n\nUser-agent: *\nDisallow: /\n", "/x", True),
        ("User-agent: other\nDisallow: /\n", "/x", True),
        ("User-agent: deep\nDisallow: /\n", "/x", True),
        ("User-agent: deepdiverbot\nDisallow: /\n", "/x", True),
        ("User-agent: a\nUser-agent: *\nDisallow: /\n", "/x", False),
        ("User-agent: a\nUser-agent: deepdiver\nUser-agent: b\nDisallow: /\n", "/x", False),
        ("User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /x\n", "/x", True),
        ("User-agent: *\r\nDisallow: /x\r\n", "/x", False),
        ("\ufeffUser-agent: *\nDisallow: /x\n".removeprefix("\ufeff"), "/x", False),
        ("User-agent: *\nDisallow: /straße\n", "/straße", False),
        ("User-agent: *\nDisallow: /%7Ea\n", "/~a", False),
        ("User-agent: *\nDisallow: /private\n", "/a/../private", False),
        ("<html><body>Not found</body></html>", "/x", True),
        ("\x00\x01\x02", "/x", True),
    ],
)
def test_what_rules_mean(robots: str, path: str, may: bool) -> None:
    assert allowed(robots, path) is may


@pytest.mark.parametrize(
    ("said", "delay"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("86400", LONGEST_DELAY),
        ("-1", 0.0),
        ("nan", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
def test_the_delay_within_reason(said: str, delay: float) -> None:
    assert RobotsRules(f"User-agent: *\nCrawl-delay: {said}\n").delay == delay
    assert RobotsRules(f"User-agent: other\nCrawl-delay: {said}\n").delay == 0.0


@pytest.mark.parametrize(
    "robots",
    [
        "".join(f"User-agent: a{n}\n" for n in range(25_000)) + "Disallow: /x\n" * 12_000,
        "User-agent: *\n" + "".join(f"Disallow: /{n}*a*b*c$\n" for n in range(22_000)),
        "User-agent: *\nDisallow: /" + "*a" * 250_000,
        "User-agent: *\nDisallow: /" + "$" * 500_000,
        "User-agent: *\nDisallow: /" + "%" * 500_000,
        "User-agent: *\n" * 36_000,
        ":" * 500_000,
        "\n" * 500_000,
        "User agent " * 45_000,
    ],
    ids=["agents", "rules", "stars", "dollars", "percents", "groups", "colons", "lines", "words"],
)
def test_a_hostile_file_takes_little_time(robots: str) -> None:
    with in_proportion():
        RobotsRules(robots[:MOST]).allow(parse_url("http://holm.example/" + "a" * 3_000))


async def test_without_a_parser_nothing_is_read(
    web: Web, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cannot read the rules does not break them."""
    monkeypatch.setitem(sys.modules, "protego", None)
    _parsed.cache_clear()
    assert not await fetched(web, desk)
    with pytest.raises(UnreadableError, match="install"):
        RobotsRules("User-agent: *")


async def test_rules_of_a_host_that_may_be_private(web: Web, desk: Desk) -> None:
    web.names["wiki"] = [["10.0.0.7"]]
    web.pages["/robots.txt"] = text(FORBID)
    watch = web.guard("wiki")
    found = await fetch_rules(watch.check_url("http://wiki/"), gateway(desk), watch)
    assert not found.allow(parse_url("http://wiki/private/"))
    assert json.loads(desk.store.journal.rows(desk.run)[0].request) == {
        "private": True,
        "robots": "http://wiki/robots.txt",
    }
