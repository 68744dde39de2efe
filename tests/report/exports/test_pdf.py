"""The PDF: a document for archives, with its evidence, in which no text is markup."""

from __future__ import annotations

import builtins
import io
import re
import zlib
from typing import Any
from urllib.parse import unquote

import pypdf
import pytest
import typst

from deepdiver.errors import UnreadableError, UsageError
from deepdiver.report.exports import pdf
from deepdiver.report.exports.layout import Element, plain
from deepdiver.report.exports.package import is_sealed, pack, seal, unsealed
from deepdiver.report.exports.pdf import (
    attached_files,
    column_widths,
    first_other_page,
    is_right_to_left,
    render_pdf,
)
from deepdiver.report.markdown import web_address
from tests.report.exports.making import (
    PAYLOADS,
    hostile,
    many_payloads,
    report,
    saved,
    with_points_apart,
)
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, report_of

CITED = saved().cited_alone()
MADE = render_pdf(CITED)


def text_of(data: bytes) -> str:
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    return "\n".join(page.extract_text() for page in pages)


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u200b]+", "", text)


def actions(data: bytes) -> set[str]:
    """Return the addresses and kinds of everything in a PDF that does something."""
    reader = pypdf.PdfReader(io.BytesIO(data))
    found: set[str] = set()
    for number in range(1, len(reader.xref_objStm) + sum(map(len, reader.xref.values())) + 1):
        try:
            item = reader.get_object(number)
        except (pypdf.errors.PyPdfError, KeyError):
            continue
        if isinstance(item, pypdf.generic.DictionaryObject):
            found |= {key for key in ("/JS", "/AA", "/OpenAction", "/Launch") if key in item}
            action = item.get("/A", {})
            if hasattr(action, "get_object") and "/URI" in (action := action.get_object()):
                found.add(str(action["/URI"]))
    return found


def test_without_typst_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name == "typst":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match=r"deepdiver-research\[exports\]"):
        render_pdf(CITED)


def test_points_of_a_message_are_all_there() -> None:
    told = squeezed(text_of(render_pdf(saved(with_points_apart()).cited_alone())))
    assert "1.Askfortheowner:AnnaHolm[1]." in told
    assert "•Itemployed330peoplein2025[2]." in told


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n%%EOF\n", MADE[:5000]])
def test_what_is_no_whole_pdf_has_no_evidence(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        attached_files(data)


def test_an_attached_file_that_is_damaged_is_another() -> None:
    at = MADE.index(b"/EmbeddedFile")
    start = MADE.index(b"stream", at) + 40
    damaged = MADE[:start] + bytes([MADE[start] ^ 0xFF]) + MADE[start + 1 :]
    try:
        found: object = attached_files(damaged)
    except UnreadableError as error:
        found = str(error)
    assert found != pack(CITED)


def test_a_pdf_of_somebody_else_has_no_evidence() -> None:
    other: bytes = typst.compile(b"A page.", format="pdf")
    with pytest.raises(UnreadableError, match="no evidence is attached to this PDF"):
        attached_files(other)


class Attachments:
    """What pypdf makes of a damaged file: a list that fails, or a file in it that does."""

    def __init__(self, error: Exception, name: str) -> None:
        self._error, self.name = error, name

    @property
    def attachment_list(self) -> list[Any]:
        if self.name:
            return [self]
        raise self._error

    @property
    def content(self) -> bytes:
        raise self._error

    @property
    def pages(self) -> list[Any]:
        raise self._error


@pytest.mark.parametrize(
    "error", [RecursionError(), NotImplementedError(), TypeError(), KeyError(), zlib.error()]
)
@pytest.mark.parametrize(
    ("name", "said"), [("run.json", "run.json was altered"), ("", "the list of attached files was")]
)
def test_however_a_damaged_file_fails_it_is_named(
    monkeypatch: pytest.MonkeyPatch, error: Exception, name: str, said: str
) -> None:
    monkeypatch.setattr(pypdf, "PdfReader", lambda *_, **__: Attachments(error, name))
    with pytest.raises(UnreadableError, match=said):
        attached_files(MADE)
    assert first_other_page(MADE, MADE) == ""  # neither can be read


@pytest.mark.parametrize(
    "said",
    [
        ["file not found"],
        ['the text `"中"` could not be displayed with font'] * 2 + ["file not found"],
    ],
    ids=["at once", "once every character has been spelt out"],
)
def test_what_typst_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    left = list(said)

    def refuse(*_: Any, **__: Any) -> bytes:
        raise typst.TypstError(left.pop(0))  # type: ignore[call-arg]

    monkeypatch.setattr(typst, "compile", refuse)
    told: list[str] = []
    with pytest.raises(UnreadableError, match="Typst refuses the document: file not found"):
        render_pdf(CITED, told.append)
    assert left == []
    assert len(told) == len(said) // 2  # which font to install


def test_the_same_run_gives_the_same_bytes() -> None:
    assert render_pdf(saved().cited_alone()) == MADE
    assert is_sealed(MADE)


def test_it_is_pdf_a_3_with_the_evidence_attached() -> None:
    assert b"<pdfaid:part>3</pdfaid:part>" in MADE
    assert b"<pdfaid:conformance>A</pdfaid:conformance>" in MADE
    assert attached_files(MADE) == pack(CITED)


def test_it_says_what_the_report_says_in_every_script() -> None:
    text = squeezed(text_of(MADE))
    for said in (
        "Anna Holm owns Holm Works AB",
        "30 people more than in 2024",
        "Register of companies",
        "register.example/holm",
        "Would be refuted by",
        "One page could not be read.",
        CITED.report.hash,
        CITED.journal,
        "deepdiver verify",
    ):
        assert squeezed(said) in text
    assert "هولم" in text or "مﻟوﻫ" in text or "ملوه" in text


def test_its_only_addresses_are_those_of_the_sources() -> None:
    assert actions(MADE) == {"https://register.example/holm?id=1&x=%C3%A5"}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_markup(payload: str) -> None:
    made = hostile(payload).cited_alone()
    data = render_pdf(made)
    # A title may look like a seal, and is then sealed with the rest of the file.
    own = unsealed(web_address(made.report.citations[0].url).encode()).decode()
    assert {unquote(action) for action in actions(unsealed(data))} <= {unquote(own)}
    assert attached_files(data) == pack(made)
    assert is_sealed(data)


def test_typst_markup_is_printed_and_not_obeyed() -> None:
    text = squeezed(text_of(render_pdf(hostile('#eval("1+1") *bold* $x^2$').cited_alone())))
    assert squeezed('#eval("1+1") *bold* $x^2$') in text


def test_characters_that_no_font_has_are_spelt_out_or_set_by_a_font_of_the_machine() -> None:
    text = text_of(render_pdf(saved(report(title="中文 and \U0001fae8")).cited_alone()))
    assert "中" in text or "U+4E2D" in text
    assert squeezed("Anna Holm owns Holm Works AB.") in squeezed(text)


def test_pages_that_differ_are_named() -> None:
    other = render_pdf(saved(report(title="Emma Holm owns Holm Works AB")).cited_alone())
    assert first_other_page(MADE, MADE) == ""
    assert first_other_page(other, MADE).startswith("page 1 was altered")
    longer = render_pdf(saved(report(limits=tuple(f"Limit {n}" for n in range(200)))).cited_alone())
    assert "pages, and its record makes" in first_other_page(longer, MADE)
    assert "0 pages" in first_other_page(b"%PDF-", MADE)
    assert first_other_page(seal(unsealed(MADE)), MADE) == ""


def test_columns_are_as_wide_as_what_they_hold() -> None:
    table = Element(
        "table",
        header=(plain("a"), plain("b")),
        rows=((plain("x"), plain("a long cell " * 40)),),
    )
    assert column_widths(table) == [8, 60]
    assert column_widths(Element("paragraph")) == []


@pytest.mark.parametrize(
    ("text", "right"),
    [("", False), ("12 abc", False), ("12 שלום abc", True), ("آنا", True), ("a آنا", False)],
)
def test_the_first_letter_with_a_direction_decides(text: str, right: bool) -> None:
    assert is_right_to_left(text) is right


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_markup(payload)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ({"中"}, "has 1 character of the report, such as 中,"),
        ({"中", "か", "한"}, "(Noto Sans CJK; on Debian and Ubuntu: apt install fonts-noto-cjk)"),
        ({"中", "ก"}, "(Noto Sans CJK and Noto Sans Thai; on Debian and Ubuntu: apt install fonts"),
        ({"\ue123"}, "Noto Sans Symbols"),  # for private use: it has no name
    ],
)
def test_what_to_install_is_said_for_characters_that_no_font_has(lost: set[str], said: str) -> None:
    told = pdf._missing_fonts(lost)
    assert said in told
    assert told.endswith("export again")


def test_it_is_told_once_and_only_where_a_character_is_missing() -> None:
    told = list[str]()
    render_pdf(saved().cited_alone(), told.append)
    assert told == []
    made = render_pdf(saved(report(title="A \U0001fae8\u3402")).cited_alone(), told.append)
    spelt = "U+" in text_of(made)
    assert len(told) == spelt


def test_the_fixed_words_are_those_of_the_report() -> None:
    text = squeezed(text_of(render_pdf(saved(report(language="de")).cited_alone())))
    for said in ("Ergebnis", "Quellen", "Belege", "Geprüfte Hypothesen", "Berechnungen"):
        assert squeezed(said) in text
    for said in ("Diesen Bericht prüfen", "Dieser Befehl wiederholt die Prüfung jedes Satzes"):
        assert squeezed(said) in text
    for said in ("Evidence view", "Hypotheses tested", "Check this report", "in the journal"):
        assert squeezed(said) not in text


def test_short_tables_stay_whole_and_with_the_pictures_of_their_values() -> None:
    made = saved(report_of(*[PEOPLE, YEARS, EVENTS] * 3)).cited_alone()
    pages = pypdf.PdfReader(io.BytesIO(render_pdf(made))).pages
    told = [page.extract_text() for page in pages]
    assert sum(text.count("Figure") for text in told) == 9
    assert sum("Figure" in text for text in told) > 2  # on several pages
    for text in told:
        # These names are in the header of a table and in the caption of its picture.
        assert text.count("town") == 2 * text.count("people by")
        assert text.count("year") == 2 * text.count("cheese by")
        body = text.partition("Sources")[0]
        assert body.count("sold") == body.count("founded") == body.count("closed")
