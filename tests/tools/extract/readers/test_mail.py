"""Mails: a readable head, the best of the text, what was forwarded, and attachments by name."""

from __future__ import annotations

from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.mail import header_of, iso_date, sender_name
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

HEAD = (
    "From: Anna Berg <anna@holm.example>\nTo: Lars Holm <lars@holm.example>\n"
    "Date: Tue, 03 Mar 2026 06:10:00 +0100\nSubject: The harbour"
)


def test_a_mail() -> None:
    found = read(making.mail(body="It froze.\n\nNobody was hurt.").as_bytes(), "a.eml")
    assert found.text == f"{HEAD}\n\nIt froze.\n\nNobody was hurt."
    assert found.marked() == [
        (
            "message",
            "1, Anna Berg, 2026-03-03 06:10",
            "From: Anna Berg <anna@holm.example>",
        )
    ]
    assert (found.format, found.title, found.author) == ("email", "The harbour", "Anna Berg")
    assert found.published == "2026-03-03T06:10:00+01:00"
    assert found.notes == []


def test_of_two_ways_to_say_it_the_plain_one_is_taken() -> None:
    mail = making.mail(body="Plain words.")
    mail.add_alternative("<p>Formatted words.</p>", subtype="html")
    assert read(mail.as_bytes(), "a.eml").text == f"{HEAD}\n\nPlain words."


def test_a_mail_in_html_alone() -> None:
    mail = making.mail()
    mail.set_content(
        "<html><body><h1>News</h1><p>It <b>froze</b>.</p><ul><li>one</li></ul></body></html>",
        subtype="html",
    )
    found = read(mail.as_bytes(), "a.eml")
    assert found.text == f"{HEAD}\n\nNews\n\nIt froze.\n\n- one"
    assert [label for _, label, _ in found.marked("heading")] == ["News"]


def test_attachments_are_named_and_left_out() -> None:
    mail = making.mail()
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="ice.png")
    mail.add_attachment("secret,1", subtype="csv", filename="costs.csv")
    found = read(mail.as_bytes(), "a.eml")
    assert found.text == f"{HEAD}\n\nIt froze."
    assert found.notes == [
        "the attachment ice.png was left out",
        "the attachment costs.csv was left out",
    ]


def test_a_forwarded_mail_is_a_message_of_its_own() -> None:
    outer = making.mail("Fwd: The harbour", "See below.")
    outer.add_attachment(making.mail(From="Lars Holm <lars@holm.example>"))
    found = read(outer.as_bytes(), "a.eml")
    assert [label for _, label, _ in found.marked("message")] == [
        "1, Anna Berg, 2026-03-03 06:10",
        "2, Lars Holm, 2026-03-03 06:10",
    ]
    assert found.text.count("It froze.") == 1
    assert found.text.index("See below.") < found.text.index("From: Lars Holm")
    assert found.title == "Fwd: The harbour"


@pytest.mark.parametrize(
    ("charset", "words"),
    [
        ("iso-8859-1", "Hamnen frös på tisdagen."),
        ("koi8-r", "Гавань замёрзла."),
        ("iso-2022-jp", "港は凍った。"),
    ],
)
def test_encodings(charset: str, words: str) -> None:
    mail = making.mail(words)
    mail.set_content(words * 3, charset=charset)
    found = read(mail.as_bytes(), "a.eml")
    assert found.title == words
    assert found.text.endswith(words * 3)


def test_parts_without_end_are_cut_and_said() -> None:
    part = b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n"
    head = (
        b"From: a@b.c\r\nSubject: s\r\nDate: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    )
    found = read(head + part * 600 + b"--b--", "a.eml")
    assert found.notes[0].endswith("parts of it or more were left out")
    assert found.published == ""


def test_a_mail_without_text_still_says_what_it_is() -> None:
    mail = making.mail()
    mail.clear_content()
    assert read(mail.as_bytes(), "a.eml").text == HEAD


def test_fields_that_are_broken_are_told_as_they_are() -> None:
    mail = EmailMessage()
    mail._headers = [("To", "=?utf-8?q?=41?= <a@b"), ("Subject", "a\n b")]  # type: ignore[attr-defined]
    assert "a@b" in header_of(mail, "to")
    assert header_of(mail, "Subject") == "a b"
    assert header_of(mail, "Absent") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue, 03 Mar 2026 06:10:00 +0100", "2026-03-03T06:10:00+01:00"),
        ("3 Mar 2026 06:10", "2026-03-03T06:10:00"),
        ("yesterday", ""),
        ("", ""),
        ("Tue, 99 Mar 99999 06:10:00 +9999", ""),
    ],
)
def test_moments(text: str, expected: str) -> None:
    assert iso_date(text) == expected


def test_senders() -> None:
    assert sender_name("Anna Berg <a@b.c>") == "Anna Berg"
    assert sender_name("a@b.c") == "a@b.c"
    assert sender_name("<>") == "<>"


@given(st.binary(max_size=200).filter(lambda data: b"\0" not in data))
def test_any_bytes_behind_a_head_are_read(data: bytes) -> None:
    found = read(
        b"From: a@b.c\r\nSubject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
        + data,
        "a.eml",
        "message/rfc822",
    )
    assert found.text.startswith("From: a@b.c")


MAILBOX = (
    b"From a@b.c Mon Mar  3 09:00:00 2025\nFrom: Anna Berg <a@b.c>\nDate: Mon, 3 Mar 2025 09:00:00 "
    b"+0000\nSubject: Ice\n\nThe harbour froze.\n>From then on nothing moved.\n"
    b"From here to 2026.\n\n"
    b"From b@b.c Tue Mar  4 09:00:00 2025\nFrom: b@b.c\nSubject: Re: Ice\n\nWe met.\n"
)


@pytest.mark.parametrize("data", [MAILBOX, MAILBOX.replace(b"\n", b"\r\n")])
def test_a_mailbox(data: bytes) -> None:
    found = read(data, "harbour-list.mbox")
    assert found.text == (
        "From: Anna Berg <a@b.c>\nDate: Mon, 03 Mar 2025 09:00:00 +0000\nSubject: Ice\n\n"
        "The harbour froze.\nFrom then on nothing moved.\nFrom here to 2026.\n\n"
        "From: b@b.c\nSubject: Re: Ice\n\nWe met."
    )
    assert [label for _, label, _ in found.marked("message")] == [
        "1, Anna Berg, 2025-03-03 09:00",
        "2, b@b.c",
    ]
    assert (found.format, found.title, found.author) == ("mailbox", "harbour list", "")


def test_forwarded_mails_of_a_mailbox_are_counted() -> None:
    mail = (
        b"From a@b.c Mon Mar  3 09:00:00 2025\nFrom: a@b.c\nContent-Type: multipart/mixed; "
        b"boundary=x\n\n--x\nContent-Type: message/rfc822\n\nSubject: Inner\n\nWords\n--x--\n"
    )
    assert read(mail, "a.mbox").notes == ["1 forwarded mails in it were left out"]


def test_a_mailbox_without_mails_is_damaged() -> None:
    assert reason("nothing here", "a.mbox") == "it is damaged: no mail begins in it"


@given(st.binary(max_size=200).filter(lambda data: b"\0" not in data))
def test_any_bytes_behind_the_first_mail_are_read(data: bytes) -> None:
    assert read(MAILBOX + b"\n" + data, "a.mbox").text.startswith("From: Anna Berg")
