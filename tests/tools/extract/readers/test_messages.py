"""Exports of mails and chats: who, when, where and what; and no password."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.messages import (
    add_messages,
    is_message,
    message_label,
    moment_of,
    writer_of,
)
from tests.tools.extract.reading import read

MAILS: list[dict[str, Any]] = [
    {
        "type": "user",
        "username": "emily.lee",
        "first_name": "Emily",
        "last_name": "Lee",
        "email": "emily@lee.example",
        "password": "emily_pwd",
    },
    {
        "type": "email",
        "id": "email_001",
        "subject": "Budget",
        "from": "david@lee.example",
        "from_name": "David Thompson",
        "to": ["emily@lee.example", "james@lee.example"],
        "cc": ["sarah@lee.example"],
        "date": "2023-06-15 14:00:00",
        "body": "Hello Emily,\n\nit is on Wednesday.",
        "folder": "inbox",
        "read": True,
        "attachments": ["budget.pdf"],
    },
    {
        "type": "email",
        "subject": "Re: Budget",
        "from": "emily@lee.example",
        "date": "2023-06-16",
        "body": "Fine.",
    },
]
CHAT: list[dict[str, Any]] = [
    {"type": "version", "version": 1},
    {
        "type": "team",
        "team": {"name": "support", "display_name": "Support Team", "purpose": "Help people"},
    },
    {
        "type": "channel",
        "channel": {
            "team": "support",
            "name": "feedback",
            "display_name": "Feedback",
            "header": "Talk",
        },
    },
    {
        "type": "user",
        "user": {
            "username": "jwang",
            "password": "jwang_pwd",
            "first_name": "Jenny",
            "last_name": "Wang",
            "position": "Analyst",
            "email": "j@lee.example",
        },
    },
    {
        "type": "post",
        "post": {
            "team": "support",
            "channel": "feedback",
            "user": "jwang",
            "message": "Complaints rose by 12%.",
            "create_at": 1680500000000,
            "replies": [{"user": "khall", "message": "Seen.", "create_at": 1680500060000}],
        },
    },
]


def dumped(records: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(record) for record in records)


def test_an_export_of_mails() -> None:
    found = read(dumped(MAILS), "mails-of-june.jsonl")
    assert found.text == (
        "People:\n\n- Emily Lee, emily.lee, emily@lee.example\n\n"
        "From: David Thompson <david@lee.example>\nTo: emily@lee.example, james@lee.example\nCc: "
        "sarah@lee.example\n"
        "Date: 2023-06-15 14:00:00\nSubject: Budget\nIn: inbox\nAttachments: budget.pdf\n\n"
        "Hello Emily,\n\nit is on Wednesday.\n\n"
        "From: emily@lee.example\nDate: 2023-06-16\nSubject: Re: Budget\n\nFine."
    )
    assert found.marked() == [
        (
            "message",
            "1, David Thompson, 2023-06-15 14:00",
            "From: David Thompson <david@lee.example>",
        ),
        ("message", "2, emily@lee.example, 2023-06-16", "From: emily@lee.example"),
    ]
    assert (found.format, found.title) == ("messages", "mails of june")
    assert found.notes == ["passwords were left out"]


def test_an_export_of_a_chat() -> None:
    found = read(dumped(CHAT), "chat.jsonl")
    assert found.text == (
        "People:\n\n- Jenny Wang, Analyst, jwang, j@lee.example\n\n"
        "Channels:\n\n- Feedback, Talk\n\nTeams:\n\n- Support Team, Help people\n\n"
        "From: Jenny Wang (jwang, Analyst)\nDate: 2023-04-03 05:33:20+00:00\nIn: feedback, "
        "support\n\n"
        "Complaints rose by 12%.\n\nkhall, 2023-04-03 05:34:20+00:00: Seen."
    )
    assert found.marked() == [
        ("message", "1, Jenny Wang, 2023-04-03 05:33", "From: Jenny Wang (jwang, Analyst)")
    ]


@pytest.mark.parametrize("records", [MAILS, CHAT])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_no_password_is_taken_over(records: list[dict[str, Any]], name: str) -> None:
    found = read(dumped(records) if name == "a.jsonl" else json.dumps(records), name)
    assert found.format == "messages"
    assert "_pwd" not in found.text + repr(found)


def test_an_export_of_slack() -> None:
    posts = [
        {"user": "U1", "text": "It froze.", "ts": "1680500000.000200"},
        {"user": "U2", "text": "Yes.", "ts": "1680500060"},
    ]
    found = read(json.dumps(posts), "a.json")
    assert found.text.startswith("From: U1\nDate: 2023-04-03 05:33:20+00:00\n\nIt froze.")
    assert len(found.marked("message")) == 2


def test_records_that_are_no_messages() -> None:
    rows = [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
    assert not add_messages(DocumentDraft("json"), rows)
    assert read(dumped(rows), "a.jsonl").format == "json"
    assert not add_messages(DocumentDraft("json"), [1, "two", None])
    assert not add_messages(DocumentDraft("json"), [])
    assert not add_messages(DocumentDraft("json"), [{"type": "user", "username": "x"}])


def test_a_line_that_is_broken_is_counted() -> None:
    found = read(dumped(MAILS) + "\n{broken\n", "a.jsonl")
    assert len(found.marked("message")) == 2
    assert "1 lines are no JSON and were left out" in found.notes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1680500000, "2023-04-03 05:33:20+00:00"),
        (1680500000000, "2023-04-03 05:33:20+00:00"),
        ("1680500000.5", "2023-04-03 05:33:20+00:00"),
        ("2023-06-15 14:00:00", "2023-06-15 14:00:00"),
        (1e308, "1e+308"),
        (float("nan"), "nan"),
        (None, ""),
        ("", ""),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_moments(value: Any, expected: str) -> None:
    assert moment_of(value) == expected


def test_writers() -> None:
    people = {"jwang": {"first_name": "Jenny", "last_name": "Wang"}}
    assert writer_of({"user": "jwang"}, people) == "Jenny Wang (jwang)"
    assert writer_of({"user": "other"}, people) == "other"
    assert writer_of({"from": {"name": "Anna", "email": "a@b.c"}}, {}) == "Anna"
    assert writer_of({"from_name": "Anna", "from": "a@b.c"}, {}) == "Anna <a@b.c>"


def test_labels() -> None:
    assert message_label(3, "Anna", "2023") == "3, Anna, 2023"
    assert message_label(3, "", "") == "3"


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("2023-06-20 10:00:59", "2023-06-20 10:00"),
        ("2023-06-20T10:00:59.123+02:00", "2023-06-20 10:00"),
        ("2023-06-20T10:00Z", "2023-06-20 10:00"),
        ("2023-06-20 10:00", "2023-06-20 10:00"),
        ("2023-06-20", "2023-06-20"),
        ("2023-06-20 at 10:00", "2023-06-20 at 10:00"),
        ("last Tuesday", "last Tuesday"),
    ],
)
def test_a_message_is_cited_by_the_minute(when: str, told: str) -> None:
    assert message_label(1, "Anna", when) == f"1, Anna, {told}"


@pytest.mark.parametrize("replies", [True, 3, "two", {"user": "c"}, None])
def test_replies_that_are_no_list_are_passed_over(replies: object) -> None:
    draft = DocumentDraft("json")
    assert add_messages(
        draft,
        [
            {"user": "a", "text": "Hello", "ts": "1", "replies": replies},
            {"user": "b", "text": "Hi"},
        ],
    )


def test_what_is_a_message() -> None:
    assert is_message("", {"from": "a", "body": "b"})
    assert not is_message("user", {"username": "a", "text": "b"})
    assert not is_message("", {"from": "a", "body": ""})


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "text", "user"]), inner, max_size=3)
    ),
    max_leaves=4,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "user", "from", "text", "ts", "to", "replies", "cc"]), VALUES
        ),
        max_size=4,
    )
)
def test_no_shape_breaks_it(records: list[dict[str, Any]]) -> None:
    draft = DocumentDraft("json")
    if not add_messages(
        draft, [*records, {"user": "a", "text": "b"}, {"type": "user", "username": "x"}]
    ):
        assert draft.empty
    else:
        assert draft.text.endswith("From: a\n\nb")
