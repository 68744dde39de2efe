"""Reading pages end to end: the real gateway and store, the real extraction, a real server."""

from __future__ import annotations

import asyncio
import itertools
import json
import time

import pytest

import deepdiver
from deepdiver.errors import CallError, CallFault, NotJournalledError, UnreadableError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.fetch import Guard, Page, fetch, is_gone
from deepdiver.tools.fetch.pages import HOPS, OFTEN_ENOUGH
from tests.gateway.rig import Clock, make_run
from tests.patience import PATIENCE
from tests.tools.conftest import Desk
from tests.tools.fetch.rig import GOOD, PACKED, STORY, Web, answer, gateway, html, redirect

PLAIN = "http://holm.example/dairy"


async def unreadable(web: Web, desk: Desk, url: str = PLAIN, **settings: object) -> str:
    with pytest.raises(UnreadableError) as caught:
        await web.fetch(url, gateway(desk, **settings))
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_a_page_is_read_and_its_text_saved(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    page = await web.fetch(f"{PLAIN}#top", gateway(desk))
    assert (page.url, page.asked, page.status) == (PLAIN, f"{PLAIN}#top", 200)
    assert page.document.title == "The dairy of Holm"
    assert page.document.format == "html"
    assert page.document.text == ""
    text = desk.store.texts.get(page.snapshot)
    for part in STORY.split("\n"):
        assert part in text
    assert page.fetched.endswith("+00:00")


async def test_the_journal_holds_the_hash_and_not_the_text(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    page = await web.fetch(PLAIN, gateway(desk))
    rows = desk.store.journal.rows(desk.run)
    assert [(row.kind, row.provider, row.state) for row in rows] == [
        ("fetch", "fetch:holm.example", CallState.SETTLED),
        ("fetch", "fetch:holm.example", CallState.SETTLED),
    ]
    assert [json.loads(row.request) for row in rows] == [
        {"robots": "http://holm.example/robots.txt"},
        {"url": PLAIN},
    ]
    kept = json.loads(rows[1].reply or "")
    assert kept["texts"] == [page.snapshot]
    assert "cooperative" not in desk.everything()


async def test_a_replay_reads_the_same_page_without_a_connection(web: Web, desk: Desk) -> None:
    web.pages |= {"/dairy": redirect("/here"), "/here": GOOD}
    live = await web.fetch(PLAIN, gateway(desk))
    web.wire.meant.clear()
    again = await web.fetch(PLAIN, gateway(desk, mode=Mode.REPLAY))
    assert again == live
    assert web.wire.meant == []
    with pytest.raises(NotJournalledError):
        await web.fetch("http://holm.example/other", gateway(desk, mode=Mode.REPLAY))


@pytest.mark.parametrize(
    "says",
    [
        answer(status="404 Not Found"),
        answer(b"\x89PNG", mime="image/png"),
        redirect("http://127.0.0.1/"),
        b"no http\r\n\r\n",
    ],
    ids=["missing", "picture", "leads inside", "broken"],
)
async def test_what_failed_live_fails_alike_in_a_replay(web: Web, desk: Desk, says: bytes) -> None:
    web.pages["/dairy"] = says
    told = []
    for mode in (Mode.LIVE, Mode.REPLAY):
        with pytest.raises((UnreadableError, CallError)) as caught:
            await web.fetch(PLAIN, gateway(desk, mode=mode))
        told.append((type(caught.value), str(caught.value)))
    assert told[0] == told[1]
    assert len(web.heard) <= 2


async def test_another_run_takes_the_page_over_with_its_text(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    first = await web.fetch(PLAIN, gateway(desk))
    desk.store.runs.create(make_run("r2"))
    other = Desk(desk.store, "r2")
    heard = len(web.heard)
    second = await web.fetch(PLAIN, gateway(other))
    assert second == first
    assert len(web.heard) == heard
    desk.store.runs.delete(desk.run, time.time())
    assert "1911" in desk.store.texts.get(second.snapshot)


async def test_a_page_of_a_private_host_is_not_shared_with_a_run_that_may_not_see_it(
    web: Web, desk: Desk
) -> None:
    web.pages["/dairy"] = GOOD
    web.names["wiki"] = [["10.0.0.7"]]
    page = await web.fetch("http://wiki/dairy", gateway(desk), "wiki")
    assert "1911" in desk.store.texts.get(page.snapshot)
    desk.store.runs.create(make_run("r2"))
    with pytest.raises(UnreadableError, match="private"):
        await web.fetch("http://wiki/dairy", gateway(Desk(desk.store, "r2")))
    assert (
        await web.fetch("http://wiki/dairy", gateway(Desk(desk.store, "r2")), "wiki")
    ).snapshot == page.snapshot


async def test_a_refusal_is_not_shared_either(web: Web, desk: Desk) -> None:
    """A look-up in somebody's hotel says nothing about tomorrow."""
    web.pages["/dairy"] = GOOD
    web.names["holm.example"] = [["10.0.0.1"], ["93.184.215.14"]]
    assert "10.0.0.1" in await unreadable(web, desk)
    desk.store.runs.create(make_run("r2"))
    assert (await web.fetch(PLAIN, gateway(Desk(desk.store, "r2")))).status == 200


async def test_a_refusal_is_never_asked_again(web: Web, desk: Desk) -> None:
    web.names["holm.example"] = [["127.0.0.1"]]
    assert "loopback" in await unreadable(web, desk, retries=4)
    assert web.looked_up == ["holm.example"]
    assert web.wire.meant == []


async def test_redirects_are_calls_of_their_own(web: Web, desk: Desk) -> None:
    web.pages |= {
        "holm.example/dairy": redirect("http://www.holm.example/d", 301),
        "www.holm.example/d": redirect("//m.holm.example:8080/e?x=1#y", 308),
        "m.holm.example:8080/e?x=1": GOOD,
    }
    page = await web.fetch(PLAIN, gateway(desk))
    assert page.url == "http://m.holm.example:8080/e?x=1"
    assert web.asked == [
        "holm.example/robots.txt",
        "holm.example/dairy",
        "www.holm.example/robots.txt",
        "www.holm.example/d",
        "m.holm.example:8080/robots.txt",
        "m.holm.example:8080/e?x=1",
    ]
    providers = [row.provider for row in desk.store.journal.rows(desk.run)][1::2]
    assert providers == ["fetch:holm.example", "fetch:www.holm.example", "fetch:m.holm.example"]


@pytest.mark.parametrize(("hops", "read"), [(HOPS, True), (HOPS + 1, False)])
async def test_so_many_redirects_are_followed(web: Web, desk: Desk, hops: int, read: bool) -> None:
    web.pages |= {f"/{n}": redirect(f"/{n + 1}") for n in range(hops)}
    web.pages[f"/{hops}"] = GOOD
    if read:
        assert (
            await web.fetch("http://a.example/0", gateway(desk))
        ).url == f"http://a.example/{hops}"
    else:
        assert (
            await unreadable(web, desk, "http://a.example/0")
            == f"it leads on more than {HOPS} times"
        )
    assert len(web.heard) == HOPS + 2


async def test_a_circle_is_seen_at_once(web: Web, desk: Desk) -> None:
    web.pages |= {"/dairy": redirect("/b"), "/b": redirect("/dairy")}
    assert await unreadable(web, desk) == "it leads in a circle"
    assert len(web.heard) == 3


@pytest.mark.parametrize(
    "to", ["", "mailto:a@b.example", "ftp://a.example/", "http://[", "javascript:alert(1)", "http:"]
)
async def test_a_redirect_to_nothing(web: Web, desk: Desk, to: str) -> None:
    web.pages["/dairy"] = redirect(to)
    told = await unreadable(web, desk)
    assert "refused" in told or "answered 302" in told or "circle" in told or "answered 404" in told


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("202 Accepted", "answered 202"),
        ("204 No Content", "answered 204"),
        ("206 Partial Content", "answered 206"),
        ("304 Not Modified", "answered 304"),
        ("300 Multiple Choices", "answered 300"),
        ("400 Bad Request", "answered 400"),
        ("401 Unauthorized", "a login wall"),
        ("402 Payment Required", "a paywall"),
        ("403 Forbidden", "answered 403"),
        ("404 Not Found", "answered 404"),
        ("410 Gone", "answered 410"),
        ("418 I'm a teapot", "answered 418"),
        ("451 Unavailable", "withheld for legal reasons"),
        ("600 What", "answered 600"),
        ("999 Request denied", "a bot challenge (LinkedIn)"),
    ],
)
async def test_a_status_that_is_no_page_is_settled(
    web: Web, desk: Desk, status: str, told: str
) -> None:
    body = b"" if status[:3] in {"204", "304"} else b"<p>no"
    web.pages["/dairy"] = answer(body, status)
    assert told in await unreadable(web, desk, retries=2)
    assert len(web.heard) == 2
    assert desk.store.journal.rows(desk.run)[-1].state is CallState.SETTLED


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("408 Late", CallFault.TIMEOUT),
        ("429 Slow", CallFault.RATE),
        ("500 Oh", CallFault.SERVER),
        ("503 No", CallFault.SERVER),
    ],
)
async def test_what_may_pass_is_asked_again_and_then_fails(
    web: Web, desk: Desk, status: str, fault: CallFault
) -> None:
    web.pages["/dairy"] = answer(status=status, Retry_After="0")
    with pytest.raises(CallError) as caught:
        await web.fetch(PLAIN, gateway(desk, retries=2))
    assert caught.value.fault is fault
    assert web.asked.count("holm.example/dairy") == 3
    assert desk.store.journal.rows(desk.run)[-1].state is CallState.FAILED


async def test_a_server_that_hangs_up_is_let_be_after_three_times(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD[:-20]
    with pytest.raises(CallError, match="hung up") as caught:
        await web.fetch(PLAIN, gateway(desk, retries=4))
    assert caught.value.fault is CallFault.NETWORK
    assert web.asked.count("holm.example/dairy") == OFTEN_ENOUGH == 3


async def test_retry_after_is_obeyed(web: Web, desk: Desk) -> None:
    turns = [answer(status="503 Later", Retry_After="0.4"), GOOD]

    async def says(writer: asyncio.StreamWriter) -> None:
        times.append(time.monotonic())
        writer.write(turns[len(times) - 1])
        await writer.drain()

    times: list[float] = []
    web.pages["/dairy"] = says
    assert (await web.fetch(PLAIN, gateway(desk, retries=1))).status == 200
    assert times[1] - times[0] >= 0.4


async def test_a_wall_is_settled_with_its_reason_and_never_content(web: Web, desk: Desk) -> None:
    script = "<script>window._cf_chl_opt={}</script>"
    shell = f"<title>Just a moment...</title>{script}<p>Enable JavaScript and cookies to continue"
    web.pages["/dairy"] = answer(
        shell, "503 Service Unavailable", Server="cloudflare", Retry_After="5"
    )
    assert await unreadable(web, desk, retries=3) == "a bot challenge (Cloudflare)"
    assert len(web.heard) == 2
    row = desk.store.journal.rows(desk.run)[-1]
    assert json.loads(row.reply or "")["value"] == {"unreadable": "a bot challenge (Cloudflare)"}


async def test_a_wall_with_status_200(web: Web, desk: Desk) -> None:
    form = (
        "<title>Log in | Holm</title><form><p>Please log in to continue</p><input "
        'type="password"></form>'
    )
    web.pages["/dairy"] = answer(form)
    assert await unreadable(web, desk) == "a login wall"


@pytest.mark.parametrize(
    "says",
    [
        answer(b"", mime="text/html"),
        answer("<html></html>"),
        answer(b"\x00\x01\x02" * 100, mime="application/octet-stream"),
    ],
    ids=["empty", "no text", "bytes"],
)
async def test_a_page_without_text(web: Web, desk: Desk, says: bytes) -> None:
    web.pages["/dairy"] = says
    assert await unreadable(web, desk)
    assert desk.store.journal.rows(desk.run)[-1].state is CallState.SETTLED


async def test_packed_pages_and_other_formats(web: Web, desk: Desk) -> None:
    web.pages |= {
        "/packed": answer(PACKED, Content_Encoding="gzip"),
        "/text": answer(STORY, mime="text/plain; charset=utf-8"),
        "/latin": answer(
            "Ærø and Malmö are towns, and it is fine to say so in Latin-1. ".encode("latin-1") * 5,
            mime="text/plain; charset=iso-8859-1",
        ),
        "/untold": answer(html(STORY), mime=""),
    }
    door = gateway(desk)
    texts = {
        path: desk.store.texts.get((await web.fetch(f"http://a.example{path}", door)).snapshot)
        for path in web.pages
    }
    assert "founded in 1911" in texts["/packed"]
    assert "founded in 1911" in texts["/text"]
    assert "Ærø and Malmö" in texts["/latin"]
    assert "founded in 1911" in texts["/untold"]


async def test_a_secret_on_a_page_is_not_saved(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = answer(
        html(f"{STORY}\nThe key is tvly-0123456789abc, they say.", "tvly-0123456789abc")
    )
    page = await web.fetch(PLAIN, gateway(desk, keys={"tavily": "tvly-0123456789abc"}))
    assert "[secret], they say" in desk.store.texts.get(page.snapshot)
    assert page.document.marks == ()
    assert "tvly-0123456789abc" not in desk.everything() + page.model_dump_json()


# Conditional requests


async def tomorrow(web: Web, desk: Desk, run: str, **settings: object) -> Page:
    """Read as a later run whose cache has run out."""
    desk.store.runs.create(make_run(run))
    return await web.fetch(PLAIN, gateway(Desk(desk.store, run), cache={"fetch": 0}, **settings))


async def test_a_page_that_has_not_changed_is_not_sent_again(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = answer(
        html(STORY), ETag='"v1"', Last_Modified="Sun, 01 Nov 2026 00:00:00 GMT"
    )
    first = await web.fetch(PLAIN, gateway(desk, cache={"fetch": 0}))
    assert "if-none-match" not in web.heard[-1].lower()
    web.pages["/dairy"] = b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"
    for run in ("r2", "r3"):  # what was remembered is remembered on
        second = await tomorrow(web, desk, run)
        assert 'If-None-Match: "v1"' in web.heard[-1]
        assert "If-Modified-Since: Sun, 01 Nov 2026 00:00:00 GMT" in web.heard[-1]
        assert (second.status, second.snapshot, second.document) == (
            304,
            first.snapshot,
            first.document,
        )
    desk.store.runs.delete(desk.run, time.time())
    assert "1911" in desk.store.texts.get(second.snapshot)


async def test_a_page_that_has_changed_is_read_anew(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = answer(html(STORY), ETag='"v1"')
    first = await web.fetch(PLAIN, gateway(desk, cache={"fetch": 0}))
    web.pages["/dairy"] = answer(html(STORY.replace("1911", "1912")), ETag='"v2"')
    second = await tomorrow(web, desk, "r2")
    assert (second.status, second.snapshot != first.snapshot) == (200, True)
    await tomorrow(web, desk, "r3")
    assert 'If-None-Match: "v2"' in web.heard[-1]


async def test_a_text_that_is_gone_is_fetched_anew(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = answer(html(STORY), ETag='"v1"')
    await web.fetch(PLAIN, gateway(desk, cache={"fetch": 0}))
    desk.store.runs.delete(desk.run, time.time())
    second = await tomorrow(web, desk, "r2")
    assert "if-none-match" not in web.heard[-1].lower()
    assert (second.status, "1911" in desk.store.texts.get(second.snapshot)) == (200, True)


@pytest.mark.parametrize(
    "headers",
    [{"ETag": "x" * 300}, {"ETag": '"v1"', "Cache_Control": "private, no-store"}],
    ids=["long", "no-store"],
)
async def test_validators_that_are_not_remembered(
    web: Web, desk: Desk, headers: dict[str, str]
) -> None:
    web.pages["/dairy"] = answer(html(STORY), **headers)
    await web.fetch(PLAIN, gateway(desk, cache={"fetch": 0}))
    await tomorrow(web, desk, "r2")
    assert "if-none-match" not in web.heard[-1].lower()


# Politeness


async def test_one_connection_a_host(web: Web, desk: Desk) -> None:
    times: list[tuple[float, float]] = []

    async def says(writer: asyncio.StreamWriter) -> None:
        began = time.monotonic()
        await asyncio.sleep(0.1)
        writer.write(GOOD)
        await writer.drain()
        times.append((began, time.monotonic()))

    web.pages |= {f"/{n}": says for n in range(3)}
    door = gateway(desk, limits={"fetch": {"rate": 1e6, "concurrent": 1}})
    await asyncio.gather(*(web.fetch(f"http://a.example/{n}", door) for n in range(3)))
    assert len(times) == 3
    for (_, ended), (began, _) in itertools.pairwise(times):
        assert began >= ended


async def test_a_gap_between_two_calls_to_a_host(web: Web, desk: Desk) -> None:
    desk.clock = clock = Clock()
    times: list[float] = []

    async def says(writer: asyncio.StreamWriter) -> None:
        times.append(clock.now)
        writer.write(GOOD)
        await writer.drain()

    web.pages |= {f"/{n}": says for n in range(3)}
    limits = {"fetch": {"rate": 1, "per": 15, "concurrent": 1}}
    door = gateway(desk, cache={"fetch": 0}, limits=limits)
    for n in range(3):
        await web.fetch(f"http://a.example/{n}", door)
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == [
        pytest.approx(15, abs=0.1)
    ] * 2


async def test_two_hosts_do_not_wait_for_each_other(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    door = gateway(desk, limits={"fetch": {"rate": 2, "per": 60, "concurrent": 1}})
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(web.fetch(f"http://h{n}.example/dairy", door) for n in range(4)))


async def test_who_asks_is_told(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    await web.fetch(PLAIN, gateway(desk, contact="me@holm.example"))
    for text in web.heard:
        assert (
            f"User-Agent: deepdiver/{deepdiver.__version__} (research agent, reads for one person; "
            "me@holm.example)" in text
        )
        assert "Host: holm.example" in text


async def test_the_guard_of_the_settings(web: Web, desk: Desk) -> None:
    """Without a guard of the test's own: what the settings allow is reached, and nothing else."""
    web.pages["/dairy"] = GOOD
    url = f"http://127.0.0.1:{web.wire.port}/dairy"
    with pytest.raises(UnreadableError, match="refused"):
        await fetch(url, gateway(desk))
    assert web.heard == []
    page = await fetch(url, gateway(desk, allow_hosts=(f"127.0.0.1:{web.wire.port}",)))
    assert (page.url, len(web.heard)) == (url, 2)
    with pytest.raises(UnreadableError, match="refused"):
        await fetch(
            f"http://localhost:{web.wire.port}/dairy", gateway(desk, allow_hosts=("localhost",))
        )


async def test_no_such_host(web: Web, desk: Desk) -> None:
    reason = await unreadable(web, desk, "http://gone.invalid/", retries=3)
    assert "there is no host gone.invalid" in reason
    assert is_gone(reason)
    assert web.looked_up == ["gone.invalid"]


@pytest.mark.parametrize(("status", "gone"), [("404", True), ("410", True), ("403", False)])
async def test_a_page_that_is_gone_is_told_from_one_that_is_refused(
    web: Web, desk: Desk, status: str, gone: bool
) -> None:
    web.pages["/dairy"] = answer("nothing", status=f"{status} No")
    assert is_gone(await unreadable(web, desk)) is gone


async def test_a_page_is_frozen(web: Web, desk: Desk) -> None:
    web.pages["/dairy"] = GOOD
    page = await web.fetch(PLAIN, gateway(desk))
    assert Page.model_validate_json(page.model_dump_json()) == page
    with pytest.raises(ValueError, match="frozen"):
        page.url = "elsewhere"  # type: ignore[misc]


def test_the_default_guard_allows_nothing_private() -> None:
    with pytest.raises(UnreadableError, match="loopback"):
        Guard().check_url("http://127.0.0.1/")
