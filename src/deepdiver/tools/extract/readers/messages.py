"""Exports of mails and chats as JSON lines: each message with its author, date, place and subject.

The exports of Roundcube and Mattermost (`{"type": "post", "post": {…}}`), of Slack (`user`, `text`,
`ts`), and similar ones are recognised. The names behind logins are looked up in the records of
users. Passwords are never included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from deepdiver.tools.extract.document_draft import DocumentDraft

_BODY = ("body", "message", "text", "content", "body_text", "html")
_FROM = ("from_name", "from", "sender", "user", "username", "author", "user_name", "real_name")
_TO = ("to", "recipients", "recipient")
_MINUTE = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d|Z|[+-]\d\d|$)")
_DATE = (
    "date",
    "create_at",
    "created_at",
    "timestamp",
    "ts",
    "sent",
    "time",
    "sent_at",
    "datetime",
)
_PLACE = ("channel", "team", "folder", "room", "thread", "conversation")
_SUBJECT = ("subject", "title", "topic")
_ENVELOPES = ("post", "direct_post", "message", "email", "user", "channel", "team")
_MILLISECONDS = 1e11
"""A moment in seconds stays below this until the year 5138."""


def add_messages(draft: DocumentDraft, records: list[Any]) -> bool:
    """Add messages to a draft, and return whether the records are messages; if not, do nothing."""
    opened = [_open(record) for record in records if isinstance(record, dict)]
    found = [(kind, record) for kind, record in opened if is_message(kind, record)]
    if len(found) * 2 < len(records) and not any(
        kind in ("user", "channel", "team") for kind, _ in opened
    ):
        return False
    if not found:
        return False
    people = {
        _login(record): record for kind, record in opened if kind == "user" and _login(record)
    }
    _add_participants(draft, opened)
    for number, (_, record) in enumerate(found, start=1):
        _message(draft, number, record, people)
    return True


def _open(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the kind of a record, and its content without the envelope around it."""
    kind = str(record.get("type") or "")
    for name in (kind, *_ENVELOPES):
        inner = record.get(name)
        if name and isinstance(inner, dict) and len(record) <= 3:  # type, content, perhaps an id
            return kind or name, inner
    return kind, record


def is_message(kind: str, record: dict[str, Any]) -> bool:
    """Whether a record is a message: it has an author and a text."""
    if kind in ("user", "team", "channel", "version"):
        return False
    return bool(_first(record, _BODY)) and bool(_first(record, _FROM))


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name)), "")


def _login(person: dict[str, Any]) -> str:
    return str(person.get("username") or person.get("id") or "")


def _person(person: dict[str, Any]) -> str:
    named = " ".join(str(person.get(key) or "") for key in ("first_name", "last_name")).strip()
    return named or str(
        person.get("real_name") or person.get("name") or person.get("nickname") or _login(person)
    )


def _add_participants(draft: DocumentDraft, opened: list[tuple[str, dict[str, Any]]]) -> None:
    """List the people, channels and teams of an export, which its messages only refer to."""
    if any(kind == "user" and "password" in record for kind, record in opened):
        draft.note("passwords were left out")
    for kind, (title, describe) in _PARTICIPANTS.items():
        lines = [describe(record) for found, record in opened if found == kind]
        draft.add(f"{title}:" if lines else "")
        for at, line in enumerate(lines):
            draft.add(f"- {' '.join(line.split())}", "\n" if at else "\n\n")


def _described_person(record: dict[str, Any]) -> str:
    facts = (record.get(key) for key in ("position", "role", "department", "username", "email"))
    return ", ".join(str(item) for item in (_person(record), *facts) if item)


def _described_place(record: dict[str, Any]) -> str:
    facts = (record.get(key) for key in ("display_name", "header", "purpose"))
    return ", ".join(str(item) for item in facts if item) or str(record.get("name") or "")


_PARTICIPANTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "user": ("People", _described_person),
    "channel": ("Channels", _described_place),
    "team": ("Teams", _described_place),
}
"""The kinds of records that are listed before the messages: their title, and what is listed."""


def _message(
    draft: DocumentDraft, number: int, record: dict[str, Any], people: dict[str, dict[str, Any]]
) -> None:
    who = writer_of(record, people)
    when = moment_of(_first(record, _DATE))
    draft.mark_next(
        "message", message_label(number, who.partition(" <")[0].partition(" (")[0], when)
    )
    head = {
        "From": who,
        "To": _several(_first(record, _TO)),
        "Cc": _several(record.get("cc")),
        "Date": when,
        "Subject": _several(_first(record, _SUBJECT)),
        "In": ", ".join(filter(None, (_several(record.get(name)) for name in _PLACE))),
        "Attachments": _several(record.get("attachments") or record.get("files")),
    }
    draft.add("\n".join(f"{name}: {value}" for name, value in head.items() if value))
    draft.add(_several(_first(record, _BODY)))
    replies = record.get("replies")
    for reply in replies if isinstance(replies, list) else ():
        if isinstance(reply, dict) and is_message("", reply):
            draft.add(
                f"{writer_of(reply, people)}, {moment_of(_first(reply, _DATE))}: "
                f"{_several(_first(reply, _BODY))}"
            )


def writer_of(record: dict[str, Any], people: dict[str, dict[str, Any]]) -> str:
    """Return the author of a message: the name, with the address or login."""
    named = _several(record.get("from_name"))
    login = _several(_first(record, _FROM[1:]))
    if login in people and not named:
        named = _person(people[login])
        position = people[login].get("position") or people[login].get("role")
        login = f"{login}, {position}" if position else login
    if named and login and named != login:
        return f"{named} <{login}>" if "@" in login else f"{named} ({login})"
    return named or login


def _several(value: Any) -> str:
    """Return a single value or a list of values as one line. A text keeps its lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        named = (
            value.get("name")
            or value.get("display_name")
            or value.get("filename")
            or value.get("email")
        )
        return str(named or "") if named else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(_several(item) for item in value)
    return "" if value is None else str(value)


def moment_of(value: Any) -> str:
    """Return a date: a text as it is, a number of seconds or milliseconds as a date and time."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return _several(value)
    seconds = number / 1000 if number > _MILLISECONDS else number
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return str(value)


def message_label(number: int, who: str, when: str) -> str:
    """Return the label under which a message is cited: `4, Emily Lee, 2023-06-20 10:00`.

    Seconds and the distance from Greenwich, which tell nobody anything, are in its text.
    """
    minute = _MINUTE.match(when)
    told = f"{minute[1]} {minute[2]}" if minute else when
    return ", ".join(filter(None, (str(number), who, told)))
