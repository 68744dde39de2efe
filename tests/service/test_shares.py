"""Links to read a report: unguessable, saved as hashes, and ended when they should be."""

from __future__ import annotations

import pytest

from deepdiver.service.accounts import Accounts
from deepdiver.service.book import Book
from deepdiver.service.shares import Shares


@pytest.mark.parametrize("token", ["", "r1", "x" * 43, "\0", "\udcff", "' OR 1=1 --"])
def test_what_is_no_link_leads_nowhere(book: Book, token: str) -> None:
    shares = Shares(book)
    shares.make("r1", "")
    assert shares.run_of(token) == ""


def test_there_is_no_link_until_one_is_made(book: Book) -> None:
    shares = Shares(book)
    assert shares.since("r1") == ""
    assert not shares.revoke("r1")
    token = shares.make("r1", "")
    assert shares.run_of(token) == "r1"
    assert shares.since("r1").endswith("+00:00")


def test_a_link_is_chance_and_its_hash_alone_is_saved(book: Book) -> None:
    shares = Shares(book)
    tokens = {shares.make(f"r{number}", "") for number in range(50)}
    assert len(tokens) == 50
    assert all(len(token) >= 43 for token in tokens), "256 bits"
    kept = repr(book.rows("SELECT * FROM shares"))
    assert not any(token in kept for token in tokens)


def test_a_link_ends_when_it_is_revoked_or_another_is_made(book: Book) -> None:
    shares = Shares(book)
    first = shares.make("r1", "")
    second = shares.make("r1", "")
    other = shares.make("r2", "")
    assert [shares.run_of(token) for token in (first, second, other)] == ["", "r1", "r2"]
    assert shares.revoke("r1")
    assert [shares.run_of(token) for token in (second, other)] == ["", "r2"]


def test_a_link_ends_with_the_user_who_made_it(book: Book) -> None:
    accounts, shares = Accounts(book), Shares(book)
    accounts.add("ada")
    hers, nobodys = shares.make("r1", "ada"), shares.make("r2", "")
    assert shares.run_of(hers) == "r1"
    accounts.remove("ada")
    assert shares.run_of(hers) == ""
    assert shares.run_of(nobodys) == "r2"
