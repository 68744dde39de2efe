"""Addresses that must never be reached, in all the ways that people have found to write them.

And some that must.
"""

from __future__ import annotations

import ipaddress
import random

# A spelling, and what some program makes of it.
REFUSED: dict[str, str] = {
    # loopback
    "http://127.0.0.1/": "loopback",
    "http://127.0.0.1:8080/": "loopback, another port",
    "http://127.1.2.3/": "loopback is a whole network",
    "http://127.255.255.254/": "its last address",
    "http://[::1]/": "loopback in IPv6",
    "http://[0:0:0:0:0:0:0:1]/": "the same, written out",
    "http://[0000:0000::0001]/": "the same, with zeros",
    # numbers in disguise
    "http://2130706433/": "loopback as one number",
    "http://0x7f000001/": "in hexadecimal",
    "http://0x7F.0x0.0x0.0x1/": "in hexadecimal parts",
    "http://017700000001/": "in octal",
    "http://0177.0.0.1/": "in octal parts",
    "http://0177.0000.0000.0001/": "in octal, with zeros",
    "http://127.1/": "short",
    "http://127.0.1/": "shorter by one",
    "http://0/": "zero is this machine",
    "http://0x0/": "zero in hexadecimal",
    "http://127.0.0.01/": "a zero too many",
    "http://127.0.0.1.0x1/": "a number behind",
    "http://4294967297/": "a number that overflows",
    "http://2852039166/": "metadata as one number",
    "http://0xA9FEA9FE/": "metadata in hexadecimal",
    "http://0251.0376.0251.0376/": "metadata in octal",
    "http://169.254.43518/": "metadata, short",
    # private and shared
    "http://10.0.0.1/": "private",
    "http://10.255.255.255/": "private, the last",
    "http://172.16.0.1/": "private",
    "http://172.31.255.255/": "private, the last",
    "http://192.168.0.1/": "private",
    "http://100.64.0.1/": "CGNAT",
    "http://100.127.255.254/": "CGNAT, nearly the last",
    "http://169.254.1.1/": "link-local",
    "http://[fe80::1]/": "link-local",
    "http://[fe80::1%25eth0]/": "link-local with a zone",
    "http://[fe80::1%eth0]/": "a zone, not encoded",
    "http://[fc00::1]/": "unique local",
    "http://[fd12:3456:789a::1]/": "unique local",
    "http://[fec0::1]/": "site local",
    # metadata
    "http://169.254.169.254/latest/meta-data/": "AWS, Google, Azure",
    "http://169.254.170.2/v2/credentials": "AWS containers",
    "http://[fd00:ec2::254]/": "AWS in IPv6",
    "http://[fd20:ce::254]/": "Google in IPv6",
    "http://100.100.100.200/": "Alibaba",
    "http://168.63.129.16/": "Azure, among public addresses",
    "http://192.0.0.192/": "Oracle",
    # IPv4 within IPv6
    "http://[::ffff:127.0.0.1]/": "mapped",
    "http://[::ffff:7f00:1]/": "mapped, in hexadecimal",
    "http://[::ffff:8.8.8.8]/": "mapped, though public",
    "http://[::127.0.0.1]/": "compatible",
    "http://[::ffff:0:127.0.0.1]/": "translated",
    "http://[64:ff9b::127.0.0.1]/": "NAT64",
    "http://[64:ff9b::a9fe:a9fe]/": "NAT64 to metadata",
    "http://[64:ff9b:1::10.0.0.1]/": "NAT64, local use",
    "http://[2002:7f00:1::]/": "6to4 to loopback",
    "http://[2002:a9fe:a9fe::1]/": "6to4 to metadata",
    "http://[2001:0:7f00:1::]/": "Teredo",
    "http://[2001:4860::5efe:127.0.0.1]/": "ISATAP",
    "http://192.88.99.1/": "6to4 relay",
    # unspecified, multicast, broadcast, reserved, documentation, benchmarks
    "http://0.0.0.0/": "unspecified",
    "http://0.1.2.3/": "this network",
    "http://[::]/": "unspecified",
    "http://224.0.0.1/": "multicast",
    "http://239.255.255.250/": "multicast",
    "http://[ff02::1]/": "multicast",
    "http://255.255.255.255/": "broadcast",
    "http://240.0.0.1/": "reserved",
    "http://[4000::1]/": "not given out",
    "http://[5f00::1]/": "segments",
    "http://[100::1]/": "discard",
    "http://192.0.2.1/": "documentation",
    "http://198.51.100.7/": "documentation",
    "http://203.0.113.9/": "documentation",
    "http://[2001:db8::1]/": "documentation",
    "http://[3fff::1]/": "documentation",
    "http://198.18.0.1/": "benchmarks",
    "http://[2001:2::1]/": "benchmarks",
    "http://192.0.0.8/": "protocols",
    # users, backslashes, encodings, controls
    "http://example.com@127.0.0.1/": "a user that looks like a host",
    "http://127.0.0.1@example.com/": "a host that looks like a user",
    "http://user:pass@example.com/": "a password",
    "http://@127.0.0.1/": "an empty user",
    "http://example.com\\@127.0.0.1/": "a backslash",
    "http://127.0.0.1\\.example.com/": "a backslash in the host",
    "http:\\\\127.0.0.1\\": "backslashes for slashes",
    "http://example.com\t@127.0.0.1/": "a tab",
    "http://127.0.\n0.1/": "a line end",
    "http://127.0.0.1\r\nHost: x/": "a header",
    " http://127.0.0.1/": "a space before",
    "http://127.0.0.1 /": "a space in the host",
    "http://%31%32%37.0.0.1/": "encoded digits",
    "http://127%2e0%2e0%2e1/": "encoded dots",
    "http://localhost%00.example.com/": "an encoded zero",
    "http://example.com%2f@127.0.0.1/": "an encoded slash",
    "http://[::1%00]/": "a zero in brackets",
    "http://[127.0.0.1]/": "IPv4 in brackets",
    "http://[::1]example.com/": "something behind the brackets",
    "http://[[::1]]/": "two brackets",
    # other scripts
    "http://１２７.０.０.１/": "full width",
    "http://①②⑦.⓪.⓪.①/": "circled",
    "http://127。0。0。1/": "foreign dots",
    "http://127．0．0．1/": "dots of full width",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/": "circled letters",
    "http://ｌocalhost/": "a letter of full width",
    "http://example\u200b.com/": "a space without width",
    "http://exam\u00adple.com/": "a soft hyphen",
    "http://xn--1-zfa.0.0.1/": "encoded, and a number",
    "http://xn--zz--/": "encoded wrongly",
    # names
    "http://localhost/": "loopback by name",
    "http://LOCALHOST/": "in capitals",
    "http://localhost./": "a dot at the end",
    "http://127.0.0.1./": "a dot behind a number",
    "http://router.lan/": "a name of the own network",
    "http://private.example/": "a public name for a private address",
    "http://mixed.example/": "one address public, one private",
    "http://mapped.example/": "a name for a mapped address",
    "http://meta.example/": "a name for metadata",
    # ports, schemes, shapes
    "http://example.com:22/": "a port of another service",
    "http://example.com:6379/": "a port of another service",
    "http://example.com:0/": "port zero",
    "http://example.com:99999/": "no such port",
    "http://example.com:/": "an empty port",
    "http://example.com:080/": "a port with a zero",
    "http://example.com:80:80/": "two ports",
    "ftp://example.com/": "another scheme",
    "file:///etc/passwd": "a file",
    "gopher://127.0.0.1:6379/_x": "another scheme",
    "data:text/html,hello": "no host at all",
    "dict://127.0.0.1:11211/": "another scheme",
    "//127.0.0.1/": "no scheme",
    "http:127.0.0.1/": "no slashes",
    "http:/127.0.0.1/": "one slash",
    "http:///127.0.0.1/": "three slashes",
    "http://": "nothing",
    "http://#@127.0.0.1/": "an empty host",
    "http://?@127.0.0.1/": "an empty host",
    "http://example..com/": "an empty label",
    "http://-example.com/": "a label that begins with a dash",
    "http://ex ample.com/": "a space",
    "http://example.com;127.0.0.1/": "a semicolon",
    "http://example.com,127.0.0.1/": "a comma",
    "http://{127.0.0.1}/": "braces",
}

PRIVATE_NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "router.lan": ["192.168.1.1"],
    "private.example": ["10.1.2.3"],
    "mixed.example": ["93.184.215.14", "10.1.2.3"],
    "mapped.example": ["::ffff:10.1.2.3"],
    "meta.example": ["169.254.169.254"],
}
"""What names of the table lead to."""


def controls() -> list[str]:
    """Return addresses of the public web: names, numbers, ports, scripts, paths."""
    chance = random.Random(20_261_115)  # noqa: S311 - the same on every machine
    found = [
        "http://example.com/",
        "https://example.com",
        "HTTP://EXAMPLE.COM/Path",
        "http://example.com:80/",
        "https://example.com:443/x",
        "http://example.com:8080/x",
        "https://example.com:8443/x",
        "http://example.com?q=1",
        "http://example.com/#fragment",
        "http://example.com/a b",
        "http://example.com/straße?q=ä",
        "http://example.com/a%20b%zz",
        "http://example.com/x?u=http://127.0.0.1/",
        "http://example.com/@user",
        "http://example.com/a:b@c",
        "http://example.com//double",
        "http://example.com/a/../b/./c",
        "http://example.com/[1]",
        "http://example.com/a|b",
        "http://example.com/?a[]=1&b={c}",
        "http://münchen.de/",
        "http://xn--mnchen-3ya.de/",
        "http://bücher.example/",
        "http://例え.jp/",
        "http://пример.рф/",
        "http://مثال.إختبار/",
        "http://ελλάδα.gr/",
        "http://straße.de/",
        "http://foo_bar.example.com/",
        "http://a-b.example/",
        "http://1and1.com/",
        "http://127.0.0.1.example.com/",
        "http://0x7f.example.com/",
        "http://10.0.0.1.nip.example/",
        "http://123.example/",
        "http://localhost.example.com/",
        "http://www.3com.com/",
        "http://fe80.example/",
        "http://[2606:4700:4700::1111]/",
        "http://[2606:4700:4700:0:0:0:0:1111]:8080/",
        "http://[2A00:1450:4001:81B::200E]/",
        "http://1.1.1.1/",
        "http://8.8.8.8/",
        "http://9.9.9.9:8080/",
        "http://11.0.0.1/",
        "http://172.15.255.255/",
        "http://172.32.0.1/",
        "http://192.167.255.255/",
        "http://192.169.0.1/",
        "http://100.63.255.255/",
        "http://100.128.0.1/",
        "http://126.255.255.255/",
        "http://128.0.0.1/",
        "http://169.253.255.255/",
        "http://169.255.0.1/",
        "http://198.17.255.255/",
        "http://198.20.0.1/",
        "http://223.255.255.254/",
        "http://[2001:4860:4860::8888]/",
        "http://[2003::1]/",
        "http://[2a01:4f8::1]/",
    ]
    words = "news wiki paper data city law bank farm river stone".split()
    for number in range(90):
        name = f"{chance.choice(words)}-{number}.{chance.choice(['org', 'com', 'de', 'co.uk', 'gov', 'edu', 'example'])}"  # noqa: E501
        found.append(
            f"{chance.choice(['http', 'https'])}://{name}/{chance.choice(words)}/{number}?p={number}"
        )
    while len(found) < 180:
        four = ipaddress.IPv4Address(chance.getrandbits(32))
        if (
            four.is_global
            and not four.is_multicast
            and int(four) >> 8 != 0xC05863
            and str(four) != "168.63.129.16"
        ):
            found.append(f"http://{four}/{len(found)}")
    while len(found) < 230:
        six = ipaddress.IPv6Address((0x26 << 120) | chance.getrandbits(120))
        found.append(f"http://[{six}]/{len(found)}")
    return found
