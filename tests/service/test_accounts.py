"""Users, tokens and sessions: nothing that is saved can be used to sign in."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.service.accounts import (
    MOST_BYTES,
    MOST_RUNS,
    PREFIX,
    SESSION_SECONDS,
    Account,
    Accounts,
)
from deepdiver.service.book import FILE_NAME, Book

OWN = "the-token-of-the-settings"


@pytest.mark.parametrize("name", ["", "Ada", "../ada", ".ada", "a/b", "ada ", "a" * 41, "ä"])
def test_a_name_that_could_be_a_path_is_refused(book: Book, name: str) -> None:
    with pytest.raises(UsageError, match="is not a name"):
        Accounts(book).add(name)
    assert not Accounts(book).any()


def test_a_name_is_taken_once(book: Book) -> None:
    accounts = Accounts(book)
    first = accounts.add("ada")
    with pytest.raises(UsageError, match="already"):
        accounts.add("ada")
    assert accounts.by_token(first) == Account("ada")


@pytest.mark.parametrize("token", ["", "dd_", "ada", "Bearer x", "\udcff"])
def test_what_is_nobodys_token_signs_nobody_in(book: Book, token: str) -> None:
    accounts = Accounts(book, OWN)
    accounts.add("ada")
    assert accounts.by_token(token) is None
    assert accounts.sign_in(token) == ""
    assert accounts.by_session(token) is None


def test_neither_token_nor_session_is_saved(book: Book, tmp_path: Path) -> None:
    accounts = Accounts(book, OWN)
    token = accounts.add("ada")
    session = accounts.sign_in(token)
    kept = [book.rows("SELECT * FROM users"), book.rows("SELECT * FROM sessions")]
    assert all(kept)
    held = repr(kept).encode() + b"".join(
        file.read_bytes() for file in tmp_path.glob(f"{FILE_NAME}*")
    )
    for secret in (token, token.removeprefix(PREFIX), session, OWN):
        assert secret.encode() not in held


def test_a_user_has_limits_and_the_usual_ones_otherwise(book: Book) -> None:
    accounts = Accounts(book)
    usual = accounts.by_token(accounts.add("ada"))
    own = accounts.by_token(accounts.add("bob", runs=2, money=Decimal("1.50"), bytes_=10))
    assert usual == Account("ada", MOST_RUNS, None, MOST_BYTES)
    assert own == Account("bob", 2, Decimal("1.50"), 10)
    assert accounts.all() == [usual, own]


def test_a_session_lasts_its_time_and_ends_when_it_is_ended(book: Book) -> None:
    accounts = Accounts(book)
    token = accounts.add("ada")
    session = accounts.sign_in(token, now=1_000.0)
    assert accounts.by_session(session, now=1_000.0) == Account("ada")
    assert accounts.by_session(session, now=1_000.0 + SESSION_SECONDS) is None
    other = accounts.sign_in(token, now=1_000.0)
    accounts.sign_out(session)
    assert accounts.by_session(session, now=1_001.0) is None
    assert accounts.by_session(other, now=1_001.0) == Account("ada")


def test_who_is_removed_is_out_at_once(book: Book) -> None:
    accounts = Accounts(book)
    token = accounts.add("ada")
    session = accounts.sign_in(token)
    accounts.remove("ada")
    assert accounts.by_token(token) is None
    assert accounts.by_session(session) is None
    with pytest.raises(UnknownNameError, match="no user 'ada'"):
        accounts.remove("ada")


def test_a_user_of_the_same_name_does_not_inherit_a_session(book: Book) -> None:
    accounts = Accounts(book)
    session = accounts.sign_in(accounts.add("ada"))
    accounts.remove("ada")
    accounts.add("ada")
    assert accounts.by_session(session) is None


def test_the_token_of_the_settings_is_that_of_the_person_at_this_machine(
    book: Book,
) -> None:
    accounts = Accounts(book, OWN)
    assert accounts.any()
    assert accounts.by_token(OWN) == Account()
    session = accounts.sign_in(OWN)
    assert accounts.by_session(session) == Account()
    assert Accounts(book).by_session(session) is None, "the token was taken out of the settings"
    assert Accounts(book, "another-token-of-theirs").by_token(OWN) is None


def test_signing_in_clears_what_has_run_out_and_nothing_else(book: Book) -> None:
    accounts = Accounts(book)
    token = accounts.add("ada")
    old, new = accounts.sign_in(token, now=1_000.0), accounts.sign_in(token)
    accounts.sign_in(token)
    assert len(book.rows("SELECT token FROM sessions")) == 2
    assert accounts.by_session(old) is None
    assert accounts.by_session(new) == accounts.by_token(token)
    accounts.sign_out("nobody's")
    accounts.sign_out(new)
    accounts.sign_out(new)
    assert accounts.by_session(new) is None


def test_without_the_token_of_the_machine_its_sessions_are_nobodys(book: Book) -> None:
    session = Accounts(book, "a-token-of-the-settings").sign_in("a-token-of-the-settings")
    assert Accounts(book, "another-token-of-them").by_session(session) == Account()
    assert Accounts(book).by_session(session) is None
    assert not Accounts(book).any()


def test_who_is_not_there_cannot_be_removed(book: Book) -> None:
    with pytest.raises(UnknownNameError, match="there is no user 'ada'"):
        Accounts(book).remove("ada")
