"""Where it may listen, and by which names it may be called."""

from __future__ import annotations

import pytest

from deepdiver.errors import UsageError
from deepdiver.service.access import check_access, is_loopback, split_port

TOKEN = "a-token-that-is-long-enough"
EVERYWHERE = "0.0.0.0"  # noqa: S104  refused, not bound


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.1", "box.example", "10.0.0.1"])
def test_without_a_token_only_this_machine_may_reach_it(host: str) -> None:
    with pytest.raises(UsageError, match="can be reached from other machines"):
        check_access(host, ["box.example"], guarded=False, token=None)


def test_a_name_of_elsewhere_needs_a_token_even_on_loopback() -> None:
    with pytest.raises(UsageError, match=r"proxy\.example can be reached"):
        check_access("127.0.0.1", ["proxy.example"], guarded=False, token=None)


def test_a_token_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(UsageError, match="use at least 16"):
        check_access("127.0.0.1", [], guarded=True, token="short")


@pytest.mark.parametrize("host", [EVERYWHERE, "::"])
def test_on_every_address_somebody_must_say_by_which_name(host: str) -> None:
    with pytest.raises(UsageError, match="--allow-host"):
        check_access(host, [], guarded=True, token=TOKEN)
    access = check_access(host, ["Box.Example"], guarded=True, token=TOKEN)
    assert access.allows("box.example:8080")
    assert access.allows("localhost:8080")
    assert not access.allows(host)


@pytest.mark.parametrize(
    ("host", "called", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1:8080", True),
        ("127.0.0.1", "LOCALHOST:8080", True),
        ("::1", "[::1]:8080", True),
        ("::1", "[::1]", True),
        ("localhost", "localhost", True),
        ("127.0.0.1", "evil.example:8080", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "127.0.0.1.evil.example:8080", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", ":8080", False),
        ("127.0.0.1", "localhost:80:80", False),
        ("127.0.0.1", "user@localhost", False),
    ],
)
def test_a_name_that_is_not_ours_is_not_answered(host: str, called: str, allowed: bool) -> None:
    assert check_access(host, [], guarded=False, token=None).allows(called) is allowed


@pytest.mark.parametrize(
    ("host", "parts"),
    [
        ("a:1", ("a", "1")),
        ("a", ("a", "")),
        ("[::1]:1", ("[::1]", "1")),
        ("[::1]", ("[::1]", "")),
        ("a:", ("a:", "")),
        ("a:b", ("a:b", "")),
    ],
)
def test_a_host_and_its_port(host: str, parts: tuple[str, str]) -> None:
    assert split_port(host) == parts


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_what_only_this_machine_can_reach(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.1", "localhost.example"])
def test_what_others_can_reach(host: str) -> None:
    assert not is_loopback(host)
