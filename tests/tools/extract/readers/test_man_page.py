"""Manual pages: man and mdoc, as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.man_page import arguments_of, plain_text_of
from tests.tools.extract.reading import format_or_reason, read, reason

PAGE = r''''\" t
.\" A comment
.de Sp
.if t .sp .5v
..
.TH CURL 1 "2025-02-03" "curl 8.0" "User Commands"
.SH NAME
curl \- transfer a URL
.SH "SYNOPSIS"
.B curl
.RI [ options ]
.I url
.SH OPTIONS
.TP
\fB\-L\fR, \fB\-\-location\fP
Follow redirects,
even many.
.IP \(bu 2
A point
.ie n .IP """\-f""" 4
.el .IP "\f(CW\-f\fR" 4
Fail.
.PP
Second paragraph with \(lqquotes\(rq and a\ \\\&file\e.
.nf
one
  two
.fi
.SS
Late heading
.br
See
.BR wget (1),
.UR https://curl.example
.UE
'''


MDOC = ".Dd 2024-05-06\n.Dt T 1\n"


def test_a_page() -> None:
    found = read(PAGE, "curl.1")
    assert found.text == (
        "NAME\n\ncurl - transfer a URL\n\nSYNOPSIS\n\ncurl [options] url\n\nOPTIONS\n\n"
        "-L, --location\nFollow redirects, even many.\n\n• A point\n\n"
        '"-f"\nFail.\n\nSecond paragraph with “quotes” and a \\file\\.\n\n'
        "one\n  two\n\nLate heading\n\nSee wget(1), https://curl.example"
    )
    assert [label for _, label, _ in found.marked()] == [
        "NAME",
        "SYNOPSIS",
        "OPTIONS",
        "Late heading",
    ]
    assert (found.format, found.title, found.published) == ("man", "curl(1)", "2025-02-03")


def test_mdoc() -> None:
    page = (
        ".Dd 2024-05-06\n.Dt SSH 1\n.Os\n.Sh NAME\n.Nm ssh\n.Nd remote login\n.Sh SYNOPSIS\n.Nm\n"
        ".Op Fl 46\n.Op Fl b Ar address\n.Ar destination\n.Sh DESCRIPTION\n.Nm\nconnects, see\n"
        ".Xr sshd 8 .\n.Bl -tag -width Ds\n.It Fl 4\nUse\n.Dq IPv4\nonly.\n.El\n"
        ".Pa ~/.ssh Ns /config\n"
    )
    found = read(page, "ssh.1")
    assert found.text == (
        "NAME\n\nssh remote login\n\nSYNOPSIS\n\nssh [-46] [-b address] destination\n\n"
        "DESCRIPTION\n\nssh connects, see sshd(8).\n\n-4\nUse “IPv4” only.\n\n~/.ssh/config"
    )
    assert (found.title, found.published) == ("ssh(1)", "2024-05-06")


def test_what_is_set_in_below_a_line_has_it_for_its_term() -> None:
    page = (
        ".TH A 1\n.PP\n\\fIRestart=\\fR\n.RS 4\nWhether it begins again\\&.\n.RE\n.PP\n.RS 4\n"
        ".nf\nexample\n.fi\n.RE\nAfter it.\n"
    )
    assert read(page, "a.5").text == ("Restart=\nWhether it begins again.\n\nexample\n\nAfter it.")


def test_tags_of_mdoc_that_are_signs_or_take_several_lines() -> None:
    page = (
        f"{MDOC}.Bl -tag -width Ds\n.It !\nBreak the pane.\n.It Xo Ic split-window\n.Op Fl h\n"
        ".Xc\n.D1 Pq alias: Ic splitw\nCreate a pane.\n.It\nNo tag.\n.El\nAfter it.\n"
    )
    assert read(page, "t.1").text == (
        "!\nBreak the pane.\n\nsplit-window [-h]\n(alias: splitw) Create a pane.\n\nNo tag.\n\n"
        "After it."
    )


def test_lists_of_mdoc() -> None:
    page = (
        f"{MDOC}.Bl -enum -offset indent\n.It\nOne.\n.It\nTwo:\n.Bl -bullet\n.It\nA part.\n"
        ".El\n.It\nThree.\n.El\n"
    )
    assert read(page, "t.1").text == "1. One.\n\n2. Two:\n\n- A part.\n\n3. Three."


def test_a_table_of_mdoc_and_a_list_that_was_never_begun() -> None:
    page = (
        f"{MDOC}.Bl -column Key Function\n.It Sy Key Ta Sy Function\n.It Li Up Ta Go up\n"
        '.It Li Down Ta ""\n.El\nAfter.\n.It\nLost.\n.El\nThe end.\n'
    )
    assert read(page, "t.1").text == (
        "| Key | Function\n| Key: Up | Function: Go up\n| Key: Down\n\nAfter.\n\nLost.\n\nThe end."
    )


def test_tables() -> None:
    page = (
        ".TH T 1\n.TS\nallbox tab(:);\nlB lB.\nKind:Count\n.T&\nl l.\nT{\nA long\ncell\nT}:7\n"
        "_\nlast:T{\n8\nT}\n.TE\nAfter"
    )
    assert read(page, "t.1").text == (
        "| Kind | Count\n| Kind: A long cell | Count: 7\n| Kind: last | Count: 8\n\nAfter"
    )


def test_a_page_that_is_another_one() -> None:
    assert reason(".so man1/curl.1\n", "a.1") == "it only refers to another page: man1/curl.1"


@pytest.mark.parametrize(
    "page", [".TH A 1\n", ".TH A 1\n.de XX\n.SH NEVER\nclosed\n", ".TS\n.TH X"]
)
def test_nothing_to_read(page: str) -> None:
    assert reason(page, "a.man") == "it is empty"


def test_definitions_are_passed_over() -> None:
    page = ".TH A 1\n.if \\n[.g] \\{\\\n.  am URL\nhidden\n.  .\n.\\}\n.de1 X end\nhidden\n.end\n"
    assert read(page + ".ig\nhidden\n..\n.URL https://a.example A .\nshown", "a.1").text == (
        "A <https://a.example>. shown"
    )


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"\fBbold\fR \f(CWcode\f[R]", "bold code"),
        (r"a\-b \(em \[u00E9] \[u110000] \*(lqx\*(rq\*R", "a-b — é  “x”®"),
        (r"\s-1SMALL\s0 \s+2x \s'1'y \n(.s z", "SMALL x y  z"),
        (r"a\h'1m'b\v'2'c \|d\^e\0f", "abc de f"),
        (r"text \" comment", "text "),
        ("plain", "plain"),
        ("\\", "\\"),
        (r"\(", ""),
    ],
)
def test_escapes(written: str, text: str) -> None:
    assert plain_text_of(written) == text


def test_arguments() -> None:
    assert arguments_of('a "b c" "d""e" f\\ g \\" h') == ["a", "b c", 'd"e', "f g"]
    assert arguments_of('"open') == ["open"]


@given(st.text(alphabet=".\\'\"(*[fnTSHBRIPEde] \n", max_size=120))
def test_anything_is_text_or_a_reason(text: str) -> None:
    assert format_or_reason(f".TH A 1\n{text}", "a.1") in {"man", "it is empty"}
