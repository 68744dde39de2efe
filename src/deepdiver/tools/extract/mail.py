"""Mails: a head that a person can read, the text, what was forwarded; attachments are named."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime

from deepdiver.tools.extract import messages
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.draft import Draft

MOST_PARTS = 500
"""Parts of one mail that are looked at."""
MOST_FORWARDED = 20
_HEAD = ("From", "To", "Cc", "Date", "Subject")


def read(data: bytes, *, format: str, mime: str = "", name: str = "", url: str = "") -> Draft:
    """Read a mail."""
    mail = email.message_from_bytes(data.lstrip(), policy=email.policy.default)
    draft = Draft(format)
    draft.title = field(mail, "Subject")
    draft.author = sender(field(mail, "From"))
    draft.published = moment(field(mail, "Date"))
    left = [mail]
    for number in range(1, MOST_FORWARDED + 2):
        if not left:
            break
        left += _one(draft, left.pop(0), number)
    if left:
        draft.note(f"{len(left)} forwarded mails more were left out")
    return draft


def _one(draft: Draft, mail: EmailMessage, number: int) -> list[EmailMessage]:
    """Add one mail, and return those that it forwards."""
    told = {name: field(mail, name) for name in _HEAD}
    draft.mark(
        "message",
        messages.label(number, sender(told["From"]), moment(told["Date"]) or told["Date"]),
    )
    draft.add("\n".join(f"{name}: {value}" for name, value in told.items() if value))
    forwarded = []
    for part in _parts(draft, mail):
        if part.get_content_type() == "message/rfc822":
            forwarded += [inner for inner in part.iter_parts() if isinstance(inner, EmailMessage)]
        elif part.get_content_maintype() != "text" or _is_attached(part):
            draft.note(f"the attachment {_filename(part)} was left out")
        else:
            _said(draft, part)
    return forwarded


def _parts(draft: Draft, mail: EmailMessage) -> list[EmailMessage]:
    """Return the parts to read, in order; of several ways to say the same the plainest.

    Forwarded mails stay closed.
    """
    found: list[EmailMessage] = []
    left: list[EmailMessage] = [mail]
    seen = 0
    while left and seen < MOST_PARTS:
        part = left.pop(0)
        seen += 1
        kind = part.get_content_type()
        inner = (
            [item for item in part.iter_parts() if isinstance(item, EmailMessage)]
            if part.is_multipart()
            else []
        )
        if kind == "message/rfc822" or not part.is_multipart():
            found.append(part)
        elif kind == "multipart/alternative" and inner:
            left.insert(0, min(inner[:MOST_PARTS], key=_preference))
        else:
            left[:0] = inner[:MOST_PARTS]
    if left:
        draft.note(f"{len(left):,} parts of it or more were left out")
    return found


def _preference(part: EmailMessage) -> int:
    kinds = ["text/plain", "multipart/related", "multipart/mixed", "text/html"]
    kind = part.get_content_type()
    return kinds.index(kind) if kind in kinds else len(kinds)


def _is_attached(part: EmailMessage) -> bool:
    try:
        return part.get_content_disposition() == "attachment"
    except (LookupError, ValueError, TypeError, AttributeError):
        return False


def _filename(part: EmailMessage) -> str:
    try:
        return part.get_filename() or part.get_content_type()
    except (LookupError, ValueError, TypeError, AttributeError):
        return "without a name"


def _said(draft: Draft, part: EmailMessage) -> None:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or not payload.strip():
        return
    text, note = decode(payload.replace(b"\0", b""), f"charset={part.get_content_charset('')}")
    if note:
        draft.note(note)
    if part.get_content_type() == "text/html":
        from deepdiver.tools.extract import markup

        tree = markup.parse(text)
        if tree is not None:
            markup.render(draft, tree.find("body") if tree.find("body") is not None else tree)
    else:
        draft.add(text)


def field(mail: EmailMessage, name: str) -> str:
    """Return a field of a mail's head; one that is broken, as it stands there."""
    try:
        return " ".join(str(mail[name] or "").split())
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
    ):  # the parser of the standard library at odd fields
        return next(
            (
                " ".join(str(raw).split())
                for key, raw in mail.raw_items()
                if key.lower() == name.lower()
            ),
            "",
        )


def sender(address: str) -> str:
    """Return who an address belongs to: the name, else the address."""
    named, plain = parseaddr(address)
    return named or plain or address


def moment(text: str) -> str:
    """Return a mail's date as ISO 8601 has it; empty if it is none."""
    try:
        return parsedate_to_datetime(text).isoformat(timespec="seconds") if text else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
