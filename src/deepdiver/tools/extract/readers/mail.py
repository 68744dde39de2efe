"""Mails and mailboxes: a readable header, the text, forwarded mails. Attachments are only named."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers import messages

MOST_PARTS = 500
"""The most parts of one mail that are examined."""
MOST_FORWARDED = 20
_ENVELOPE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\d{4}[^\n]{0,20}\n")
"""The line before each mail of a mailbox: `From anna@harbour.example Mon Mar  3 09:00:00 2025`."""
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
"""A line of a mail that would look like the beginning of another one."""
_HEAD = ("From", "To", "Cc", "Date", "Subject")


def read_mail(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a mail."""
    mail = email.message_from_bytes(data.lstrip(), policy=email.policy.default)
    draft = DocumentDraft(format)
    draft.title = header_of(mail, "Subject")
    draft.author = sender_name(header_of(mail, "From"))
    draft.published = iso_date(header_of(mail, "Date"))
    left = [mail]
    for number in range(1, MOST_FORWARDED + 2):
        if not left:
            break
        left += _one(draft, left.pop(0), number)
    if left:
        draft.note(f"{len(left)} forwarded mails more were left out")
    return draft


def read_mailbox(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a mailbox (mbox): one mail after the other."""
    draft = DocumentDraft(format)
    starts = [match.end() for match in _ENVELOPE.finditer(data)]
    ends = [match.start() for match in _ENVELOPE.finditer(data)][1:]
    if not starts:
        raise UnreadableError("it is damaged: no mail begins in it")
    forwarded = 0
    for number, (start, end) in enumerate(zip(starts, [*ends, len(data)], strict=True), start=1):
        mail = email.message_from_bytes(
            _QUOTED.sub(rb"\1", data[start:end]), policy=email.policy.default
        )
        forwarded += len(_one(draft, mail, number))
    if forwarded:
        draft.note(f"{forwarded:,} forwarded mails in it were left out")
    return draft


def _one(draft: DocumentDraft, mail: EmailMessage, number: int) -> list[EmailMessage]:
    """Add one mail, and return the mails that it forwards."""
    told = {name: header_of(mail, name) for name in _HEAD}
    draft.mark_next(
        "message",
        messages.message_label(
            number, sender_name(told["From"]), iso_date(told["Date"]) or told["Date"]
        ),
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


def _parts(draft: DocumentDraft, mail: EmailMessage) -> list[EmailMessage]:
    """Return the parts to read, in order, and only the plainest of alternatives.

    Forwarded mails are returned whole.
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


def _said(draft: DocumentDraft, part: EmailMessage) -> None:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or not payload.strip():
        return
    text, note = decode(payload.replace(b"\0", b""), f"charset={part.get_content_charset('')}")
    draft.note(note)
    if part.get_content_type() == "text/html":
        from deepdiver.tools.extract import html_tree

        tree = html_tree.parse_html(text)
        if tree is not None:
            html_tree.add_html(draft, tree.find("body") if tree.find("body") is not None else tree)
    else:
        draft.add(text)


def header_of(mail: EmailMessage, name: str) -> str:
    """Return a header field of a mail; a malformed one as it is."""
    try:
        return " ".join(str(mail[name] or "").split())
    except (LookupError, ValueError, TypeError, AttributeError):
        # The parser of the standard library fails at malformed fields.
        return next(
            (
                " ".join(str(raw).split())
                for key, raw in mail.raw_items()
                if key.lower() == name.lower()
            ),
            "",
        )


def sender_name(address: str) -> str:
    """Return the name of the sender, or else the address."""
    named, plain = parseaddr(address)
    return named or plain or address


def iso_date(text: str) -> str:
    """Return the date of a mail in ISO 8601; empty if it is not a date."""
    try:
        return parsedate_to_datetime(text).isoformat(timespec="seconds") if text else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
