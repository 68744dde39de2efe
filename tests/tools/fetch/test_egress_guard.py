"""The guard.

Every way in is tried, by every road that a page has; and the public web stays open.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault, SettingsError, UnreadableError
from deepdiver.tools.fetch import client, egress_guard
from deepdiver.tools.fetch.egress_guard import (
    USUAL_PORTS,
    DirectConnector,
    Guard,
    look_up,
    reason_to_refuse,
)
from tests.tools.conftest import Desk
from tests.tools.fetch.forms import PRIVATE_NAMES, REFUSED, controls
from tests.tools.fetch.rig import GOOD, PUBLIC, Web, answer, gateway, html, redirect, serving

CODES = (301, 302, 303, 307, 308)


def private_names(web: Web) -> None:
    web.names |= {name: [addresses] for name, addresses in PRIVATE_NAMES.items()}


async def refusal(web: Web, url: str, door: Any) -> str:
    """Fetch; it must be refused, and nothing but the public address may have been connected to."""
    with pytest.raises(UnreadableError) as caught:
        await web.fetch(url, door)
    assert set(web.wire.meant) <= {PUBLIC}, (url, web.wire.meant)
    return str(caught.value)


def test_the_table_is_as_large_as_it_must_be() -> None:
    assert len(REFUSED) >= 50
    assert len(controls()) == len(set(controls())) >= 200


async def test_direct(web: Web, desk: Desk) -> None:
    private_names(web)
    door = gateway(desk)
    for form in REFUSED:
        told = await refusal(web, form, door)
        assert "refused" in told, (form, told)
    assert web.wire.meant == []
    print(f"\n{len(REFUSED)} forms asked for directly: all refused")  # noqa: T201 - the figure is what is shown


@pytest.mark.parametrize("code", CODES)
async def test_redirects(web: Web, desk: Desk, code: int) -> None:
    private_names(web)
    door = gateway(desk)
    forms = [form for form in REFUSED if "\n" not in form]
    assert len(forms) >= 100
    for number, form in enumerate(forms):
        web.pages[f"/{number}"] = redirect(form, code)
        told = await refusal(web, f"http://start.example/{number}", door)
        assert "refused" in told, (form, told)
    # One robots.txt, and each page once: nothing else was reached.
    assert len(web.heard) == len(forms) + 1
    print(f"\n{len(forms)} forms by {code}: all refused")  # noqa: T201


async def test_robots(web: Web, desk: Desk) -> None:
    """A robots.txt that leads inside is not followed, and its site not read."""
    private_names(web)
    door = gateway(desk)
    forms = [form for form in REFUSED if "\n" not in form]
    for number, form in enumerate(forms):
        host = f"h{number}.example"
        web.pages |= {f"{host}/robots.txt": redirect(form), f"{host}/": GOOD}
        told = await refusal(web, f"http://{host}/", door)
        assert "robots.txt" in told, (form, told)
        assert "refused" in told, (form, told)
    assert len(web.heard) == len(forms)
    print(f"\n{len(forms)} forms by robots.txt: all refused")  # noqa: T201


async def test_sitemaps(web: Web, desk: Desk) -> None:
    """A sitemap is not followed by itself; and whoever follows it meets the guard."""
    private_names(web)
    forms = [form for form in REFUSED if form.isascii() and form.isprintable()]
    lines = "".join(f"Sitemap: {form}\n" for form in forms)
    web.pages |= {
        "/robots.txt": answer(f"{lines}User-agent: *\nAllow: /\n", mime="text/plain"),
        "/": GOOD,
    }
    door = gateway(desk)
    await web.fetch("http://start.example/", door)
    assert web.asked == ["start.example/robots.txt", "start.example/"]
    named = [line.partition(": ")[2] for line in lines.splitlines()]
    assert len(named) >= 50
    for form in named:
        assert "refused" in await refusal(web, form, door)
    assert len(web.heard) == 2
    print(f"\n{len(named)} forms by a sitemap: all refused")  # noqa: T201


async def test_links_to_pdfs(web: Web, desk: Desk) -> None:
    """A link is text until somebody asks for it, and then it meets the guard."""
    private_names(web)
    forms = [
        f"{form.rstrip('/')}/report.pdf"
        for form in REFUSED
        if form.isascii() and form.isprintable() and "://" in form
    ]
    links = "".join(
        f'<p>Read the report of the year as a <a href="{form}">file</a> to print.</p>'
        for form in forms
    )
    web.pages["/"] = answer(
        html("The reports of all years stand here, for everybody who wants to read them.") + links
    )
    door = gateway(desk)
    page = await web.fetch("http://start.example/", door)
    assert len(web.heard) == 2
    assert len(forms) >= 50
    for form in {*forms, *page.document.links}:
        assert "refused" in await refusal(web, form, door), form
    assert len(web.heard) == 2
    print(f"\n{len(forms)} forms by a link to a PDF: all refused")  # noqa: T201


async def test_the_public_web_stays_open(web: Web) -> None:
    """The positive control: the same guard, and each of these is asked for and answered."""
    web.pages["*"] = GOOD
    watch, reached = web.guard(), 0
    for url in controls():
        target = watch.check_url(url)
        # The local server speaks no TLS.
        plain = target.__class__("http", target.host, target.port, target.path)
        assert (await client.get(plain, watch)).status == 200
        reached += 1
    assert reached == len(web.heard) == len(controls())
    assert not [
        address for address in web.wire.meant if reason_to_refuse(ipaddress.ip_address(address))
    ]
    print(f"\n{reached} public addresses: all allowed")  # noqa: T201


# Rebinding


async def test_rebinding_between_two_pages(web: Web, desk: Desk) -> None:
    web.pages |= {"/": GOOD, "/2": GOOD}
    web.names["turn.example"] = [[PUBLIC], [PUBLIC], ["127.0.0.1"]]
    door = gateway(desk)
    await web.fetch("http://turn.example/", door)
    assert "loopback" in await refusal(web, "http://turn.example/2", door)
    assert len(web.heard) == 2


@pytest.mark.parametrize(
    "second", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"]
)
async def test_a_name_is_looked_up_once_for_a_connection(web: Web, desk: Desk, second: str) -> None:
    """What was judged is what is connected to: there is no second answer to be had."""
    web.pages["/"] = GOOD
    web.names["turn.example"] = [[PUBLIC], [second]]
    # Robots.txt had the first answer.
    told = await refusal(web, "http://turn.example/", gateway(desk))
    assert str(ipaddress.ip_address(second)) in told
    assert web.looked_up == ["turn.example"] * 2
    assert web.wire.meant == [PUBLIC]


async def test_rebinding_in_a_redirect(web: Web, desk: Desk) -> None:
    web.pages["/"] = redirect("http://turn.example/again")
    web.names["turn.example"] = [[PUBLIC], [PUBLIC], ["192.168.0.1"]]
    assert "private" in await refusal(web, "http://turn.example/", gateway(desk))


async def test_every_address_of_a_name_is_judged(web: Web) -> None:
    for bad in ("10.0.0.1", "::1", "fe80::1%1", "64:ff9b::1"):
        web.names["many.example"] = [["93.184.215.14", "1.1.1.1", bad]]
        with pytest.raises(CallError, match="refused") as caught:
            await web.guard().connect_tcp("many.example", 80)
        assert (caught.value.fault, caught.value.retryable) == (CallFault.REQUEST, False)
    assert web.wire.meant == []


async def test_the_next_address_is_tried_where_one_is_dead(web: Web) -> None:
    class Half(httpcore.AnyIOBackend):
        tried: list[str] = []  # noqa: RUF012 - of this test alone

        async def connect_tcp(
            self, host: str, port: int, *args: Any, **kwargs: Any
        ) -> httpcore.AsyncNetworkStream:
            self.tried.append(host)
            if host == "1.1.1.1":
                return await super().connect_tcp("127.0.0.1", web.wire.port, *args, **kwargs)
            raise httpcore.ConnectError("nobody")

    web.names["many.example"] = [["2606:4700::1", "1.1.1.1", "8.8.8.8"]]
    half = Half()
    stream = await Guard(resolve=web.resolve, wire=half).connect_tcp("many.example", 80)
    await stream.aclose()
    assert half.tried == ["2606:4700::1", "1.1.1.1"]
    web.names["many.example"] = [[f"8.8.8.{n}" for n in range(9)]]
    half.tried.clear()
    with pytest.raises(httpcore.ConnectError):
        await Guard(resolve=web.resolve, wire=half).connect_tcp("many.example", 80)
    assert len(half.tried) == egress_guard.MOST_TRIED
    web.names["many.example"] = [[]]
    with pytest.raises(CallError, match="no address"):
        await Guard(resolve=web.resolve, wire=half).connect_tcp("many.example", 80)


# The policy by itself


@pytest.mark.parametrize(
    "network",
    [
        text
        for table in (egress_guard.PRIVATE, egress_guard.NEVER)
        for texts in table.values()
        for text in texts.split()
    ],
)
def test_both_ends_of_every_network_are_refused(network: str) -> None:
    whole = ipaddress.ip_network(network)
    assert reason_to_refuse(whole[0])
    assert reason_to_refuse(whole[-1])


@given(st.ip_addresses(v=4))
def test_what_python_knows_as_not_global_is_refused(address: ipaddress.IPv4Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert reason_to_refuse(address)


@given(st.ip_addresses(v=6))
def test_the_same_in_ipv6(address: ipaddress.IPv6Address) -> None:
    if (
        not address.is_global
        or address.is_multicast
        or address.ipv4_mapped
        or address.sixtofour
        or address.teredo
    ):
        assert reason_to_refuse(address)


@given(
    st.ip_addresses(v=4),
    st.sampled_from(["::ffff:0:0", "::", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::", "fe80::"]),
)
def test_an_ipv4_address_within_ipv6_is_always_refused(
    address: ipaddress.IPv4Address, prefix: str
) -> None:
    assert reason_to_refuse(
        ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address))
    )


@pytest.mark.parametrize(
    "name", ["loopback", "Teredo", "6to4", "NAT64", "multicast", "broadcast", "unspecified"]
)
def test_the_reason_is_the_narrowest(name: str) -> None:
    table = {**egress_guard.PRIVATE, **egress_guard.NEVER}
    for text in table[name].split():
        assert reason_to_refuse(ipaddress.ip_network(text)[-1]) == name


# What the user allows


def test_allowed_hosts_may_be_private_and_nothing_else() -> None:
    watch = Guard(
        ["127.0.0.1", "10.0.0.5:9000", "[::1]:8000", "wiki", "Intra.Example:9200", "fd00::7"]
    )
    for url in (
        "http://127.0.0.1/",
        "http://127.0.0.1:8080/",
        "http://10.0.0.5:9000/",
        "http://[::1]:8000/",
        "http://[fd00::7]/",
        "http://wiki/",
        "http://intra.example:9200/",
    ):
        assert watch.check_url(url).url == url
    for url in (
        "http://127.0.0.2/",
        "http://127.0.0.1:9000/",
        "http://10.0.0.5/",
        "http://[::1]/",
        "http://wiki:9000/",
        "http://intra.example:9300/",
        "http://0x7f000001/",
        "http://x.wiki:22/",
    ):
        with pytest.raises(UnreadableError, match="refused"):
            watch.check_url(url)


async def test_a_name_that_is_allowed_leads_to_private_addresses_and_never_to_metadata(
    web: Web,
) -> None:
    watch = web.guard("wiki")
    web.names |= {
        "wiki": [["10.0.0.7"], ["169.254.169.254"], ["224.0.0.1"], ["::ffff:10.0.0.7"]],
        "other": [["10.0.0.7"]],
    }
    await (await watch.connect_tcp("wiki", 80)).aclose()
    for _ in range(3):
        with pytest.raises(CallError, match="refused"):
            await watch.connect_tcp("wiki", 80)
    for name, port in (("other", 80), ("wiki", 22), ("sub.wiki", 80)):
        web.names[name] = [["10.0.0.7"]]
        with pytest.raises(CallError, match="refused"):
            await watch.connect_tcp(name, port)
    assert web.wire.meant == ["10.0.0.7"]


@pytest.mark.parametrize(
    "text",
    [
        "http://wiki",
        "*.intra",
        "10.0.0.0/8",
        "wiki/x",
        "a b",
        "",
        "me@wiki",
        "wiki:99999",
        "0x7f.1",
    ],
)
def test_an_allowed_host_that_nobody_can_read(text: str) -> None:
    with pytest.raises(SettingsError, match="allow_hosts"):
        Guard([text])


def test_a_page_cannot_allow_a_host() -> None:
    """The guard is told once, and has no way to be told more."""
    watch = Guard(["wiki"])
    assert [name for name in dir(watch) if "allow" in name and not name.startswith("_")] == [
        "allows"
    ]
    assert isinstance(watch._allowed, frozenset)


@pytest.mark.parametrize(
    ("allowed", "url", "form"),
    [
        ((), "http://wiki.intranet:9000/", 'allow_hosts = ["wiki.intranet:9000"]'),
        ((), "http://10.0.0.7/", 'allow_hosts = ["10.0.0.7"]'),
        (("wiki.intranet:9000",), "http://wiki.intranet:9001/", '["wiki.intranet:9001"]'),
        (
            ("wiki.intranet",),
            "http://wiki.intranet:9000/",
            "(wiki.intranet alone opens ports 80, 443, 8080, 8443; allow_hosts = "
            '["wiki.intranet:9000"]',
        ),
    ],
)
def test_a_refusal_says_which_form_would_let_a_host_in(
    allowed: tuple[str, ...], url: str, form: str
) -> None:
    with pytest.raises(UnreadableError) as caught:
        Guard(allowed).check_url(url)
    assert form in str(caught.value)
    Guard([re.findall(r'\["(.+?)"\]', str(caught.value))[0]]).check_url(url)


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://0.0.0.0/", "http://224.0.0.1/"])
def test_what_nobody_may_allow_has_no_such_form(url: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        Guard().check_url(url)
    assert "allow_hosts" not in str(caught.value)


def test_the_ports_of_the_web() -> None:
    for port in range(1, 65_536, 7):
        url = f"https://example.com:{port}/"
        if port in USUAL_PORTS:
            Guard().check_url(url)
        else:
            with pytest.raises(UnreadableError, match="port"):
                Guard().check_url(url)


# Names that cannot be looked up, and this machine's own public address


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), CallFault.REQUEST),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), CallFault.UNREACHED),
        (OSError("no network"), CallFault.UNREACHED),
        (UnicodeError("label too long"), CallFault.UNREACHED),
    ],
)
async def test_a_failed_look_up(error: Exception, fault: CallFault) -> None:
    async def fails(host: str, port: int) -> list[str]:
        raise error

    with pytest.raises(CallError) as caught:
        await Guard(resolve=fails).connect_tcp("some.example", 80)
    assert caught.value.fault is fault


async def test_nonsense_of_a_resolver() -> None:
    async def nonsense(host: str, port: int) -> list[str]:
        return ["not an address"]

    with pytest.raises(CallError) as caught:
        await Guard(resolve=nonsense).connect_tcp("some.example", 80)
    assert caught.value.fault is CallFault.UNREACHED


async def test_the_systems_resolver() -> None:
    found = await look_up("localhost", 80)
    assert found
    assert all(reason_to_refuse(ipaddress.ip_address(text)) == "loopback" for text in found)


async def test_this_machine_under_its_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Stream(httpcore.AsyncNetworkStream):
        def __init__(self, ours: str, theirs: str) -> None:
            self.ends = {"client_addr": (ours, 50_000), "server_addr": (theirs, 80)}

        def get_extra_info(self, info: str) -> Any:
            return self.ends[info]

        async def aclose(self) -> None:
            closed.append(self.ends["server_addr"][0])

    async def connects(self: Any, host: str, port: int, *args: Any, **kwargs: Any) -> Stream:
        return Stream("9.9.9.9" if host != "127.0.0.1" else host, host)

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connects)
    with pytest.raises(CallError, match="it is this machine"):
        await DirectConnector().connect_tcp("9.9.9.9", 80)
    assert closed == ["9.9.9.9"]
    await DirectConnector().connect_tcp("8.8.8.8", 80)
    # Allowed by the user, else it would not have come so far.
    await DirectConnector().connect_tcp("127.0.0.1", 80)
    assert closed == ["9.9.9.9"]


# TLS: checked against the name, though an address is connected to


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    x509 = pytest.importorskip(
        "cryptography.x509", reason="no package here that can make a certificate"
    )
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    files[1].write_bytes(private)
    return files


async def test_certificates_are_checked_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, private = certificate(tmp_path, "secure.example")
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(public, private)
    asked_for: list[str | None] = []
    server_side.sni_callback = lambda sock, name, context: asked_for.append(name)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(GOOD)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server_side)
    async with server, serving() as web:
        web.wire.port = server.sockets[0].getsockname()[1]
        watch = web.guard()
        with pytest.raises(CallError, match="no valid certificate") as caught:
            await client.get(watch.check_url("https://secure.example/"), watch)
        assert (caught.value.fault, caught.value.retryable) == (CallFault.REQUEST, False)
        trusted = ssl.create_default_context(cafile=str(public))
        monkeypatch.setattr(client, "_certificates", lambda: trusted)
        assert (await client.get(watch.check_url("https://secure.example/"), watch)).status == 200
        assert asked_for[-1] == "secure.example"
        with pytest.raises(CallError, match="no valid certificate"):
            await client.get(watch.check_url("https://other.example/"), watch)
        assert asked_for[-1] == "other.example"
        assert set(web.wire.meant) == {PUBLIC}


def test_the_certificates_are_those_that_everybody_trusts() -> None:
    context = client._certificates()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context is client._certificates()
