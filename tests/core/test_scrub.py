from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.scrub import LONG, SECRET, Scrubber

KEY = "sk-proj-A1b2C3d4E5f6+/Zz=9"
Spelling = Callable[[str], str]


def in_base64(before: int, *, safe: bool = False) -> Spelling:
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    return lambda key: encode(b"usr"[:before] + key.encode() + b":end").decode()


def as_bytes(form: str, joint: str = "") -> Spelling:
    return lambda key: joint.join(form.format(byte) for byte in key.encode())


SPELLINGS: dict[str, Spelling] = {
    "as it is": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "backwards": lambda key: key[::-1],
    "backwards in upper case": lambda key: key[::-1].upper(),
    "with spaces": " ".join,
    "with line breaks": "\r\n".join,
    "in two lines": lambda key: f"{key[: len(key) // 2]}\n  {key[len(key) // 2 :]}",
    "with dashes": "-".join,
    "with characters of no width": "\u200b".join,
    "with hard spaces": "\u00a0".join,
    "in JSON": lambda key: json.dumps(key),
    "in an address": lambda key: quote(key, safe=""),
    "in a form": quote_plus,
    "encoded twice": lambda key: quote(quote(key, safe=""), safe=""),
    "every byte encoded": as_bytes("%{:02X}"),
    "every byte encoded in lower case": as_bytes("%{:02x}"),
    "in hexadecimal": as_bytes("{:02x}"),
    "in upper hexadecimal": as_bytes("{:02X}"),
    "in hexadecimal with colons": as_bytes("{:02x}", ":"),
    "as C writes bytes": as_bytes("0x{:02x}", ", "),
    "as Python writes bytes": as_bytes("\\x{:02x}"),
    **{f"in base64 after {before} bytes": in_base64(before) for before in range(3)},
    **{f"in base64 for addresses, {n}": in_base64(n, safe=True) for n in range(3)},
    "in base64 over several lines": lambda key: "\n".join(
        base64.b64encode(key.encode()).decode()[at : at + 8] for at in range(0, 4 * len(key), 8)
    ),
}
KEYS = st.text(string.ascii_letters + string.digits + "-_+/=.", min_size=20, max_size=60).filter(
    lambda key: sum(map(str.isalnum, key)) >= LONG
)
WORDS = st.text(st.sampled_from("aeinrst ,.%0x\\[]\n"), max_size=30)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


@pytest.mark.parametrize("way", SPELLINGS)
def test_a_secret_is_removed_however_it_is_spelt(way: str) -> None:
    spelt = SPELLINGS[way](KEY)
    made = Scrubber([KEY])(f"before {spelt} after")
    assert made.startswith("before ")
    assert made.endswith(" after")
    assert SECRET in made
    left = letters(made.replace(SECRET, "").removeprefix("before").removesuffix("after"))
    most = 12 if "base64" in way else 2  # of base64, what other bytes are in; of hexadecimal, 0x
    assert len(left) <= most, made


@given(KEYS, st.sampled_from(sorted(SPELLINGS)), WORDS, WORDS)
def test_any_secret_in_any_text(key: str, way: str, before: str, after: str) -> None:
    spelt = SPELLINGS[way](key)
    scrub = Scrubber([key])
    made = scrub(f"{before}\n{spelt}\n{after}")
    assert SECRET in made
    assert letters(spelt) not in letters(made.replace(SECRET, "|"))
    assert scrub(made) == made, "what is scrubbed stays as it is"


@given(st.lists(KEYS, max_size=3), st.text() | WORDS)
def test_a_text_without_a_secret_stays_as_it_is(keys: list[str], text: str) -> None:
    scrub = Scrubber(keys)
    if SECRET not in (made := scrub(text)):
        assert made == text
    assert Scrubber([])(text) == text


@given(st.text(min_size=8, max_size=40).filter(str.strip), WORDS, WORDS)
def test_a_secret_of_any_characters_is_found_as_it_is(key: str, before: str, after: str) -> None:
    key = key.encode("utf-8", "replace").decode()
    assert key not in Scrubber([key])(f"{before} {key} {after}")


def test_only_the_secret_goes() -> None:
    scrub = Scrubber([KEY])
    assert scrub(f"a{KEY}b") == f"a{SECRET}b"
    assert scrub(f"k-{KEY}, {KEY}.") == f"k-{SECRET}, {SECRET}."
    assert scrub(f"?key={quote(KEY, safe='')}&x=%20") == f"?key={SECRET}&x=%20"
    assert scrub(f"{KEY}{KEY}") == SECRET * 2
    marked = "==abcdefghijklmnop!!"
    assert Scrubber([marked])(f"({marked})") == f"({SECRET})"


def test_a_secret_within_another_leaves_nothing_over() -> None:
    scrub = Scrubber(["sk-short-one-1", "sk-short-one-1-and-long"])
    assert scrub("sk-short-one-1-and-long sk-short-one-1") == f"{SECRET} {SECRET}"


def test_a_short_secret_is_found_as_it_is_backwards_and_in_any_case_but_not_across_words() -> None:
    scrub = Scrubber(["pass-word"])
    assert scrub("PASS-WORD drow-ssap pass-word") == " ".join([SECRET] * 3)
    assert scrub(f"{b'pass-word'.hex()} {base64.b64encode(b'pass-word').decode()}") == (
        f"{SECRET} {SECRET}"
    )
    assert scrub("let him pass; word came") == "let him pass; word came"
    assert Scrubber(['a "b" é/?'])("x a%20%22b%22%20%C3%A9%2F%3F y") == f"x {SECRET} y"


def test_empty_secrets_are_none() -> None:
    assert Scrubber(["", ""])("text") == "text"


def test_a_long_text_is_read_as_a_whole_and_not_letter_by_letter() -> None:
    """Eight million characters, one by one, would outlast the test many times over."""
    scrub = Scrubber([f"{KEY}{number}" for number in range(10)])
    text = "The quick brown fox jumps over the lazy dog. " * 180_000
    assert scrub(text) is text
