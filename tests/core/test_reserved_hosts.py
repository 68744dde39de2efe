"""Hosts that are reserved for examples and for private use."""

from __future__ import annotations

import pytest

from deepdiver.core.reserved_hosts import host_of, is_example, is_reserved


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.net", "example.com.evil.net", "examples.com", "myexample.com", "test.org"),
        *("localhost.evil.net", "internal.org", "evil.net?.internal", "evil.net#.test", "arpa"),
        *("8.8.8.8", "1.1.1.1", "2606:4700::1111", "999.0.0.1", "2130706433", "10.evil.net"),
    ],
)
def test_what_leads_to_somebody(host: str) -> None:
    assert not is_example(host)
    assert not is_reserved(host)


@pytest.mark.parametrize(
    "host",
    [
        *("example", "example.com", "a.b.example.org", "EXAMPLE.NET", "db.test", "x.invalid"),
        *("localhost", "app.localhost", "localhost.", "127.0.0.1", "::1"),
    ],
)
def test_what_stands_for_any_other_or_is_the_machine_itself(host: str) -> None:
    assert is_example(host)
    assert is_reserved(host)


@pytest.mark.parametrize(
    "host",
    [
        *("pki.example.internal", "printer.local", "router.home.arpa", "git.INTERNAL"),
        *("10.0.0.7", "172.16.4.1", "192.168.1.1", "169.254.0.9", "fd00::7", "fe80::1"),
        *("192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1"),
    ],
)
def test_what_only_the_network_of_the_reader_knows_or_a_manual_prints(host: str) -> None:
    assert not is_example(host)
    assert is_reserved(host)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("", ""),
        ("/srv/x", ""),
        ("file:///srv/x", ""),
        ("https://example.com@evil.net/x", "evil.net"),
        ("https://evil.net:8443/a?b#c", "evil.net"),
        ("http://[2001:db8::1]:80/x", "2001:db8::1"),
        ("www.evil.net/x", "www.evil.net"),
        ("git://u:p@host.test", "host.test"),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert host_of(address) == host
