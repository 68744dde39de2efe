"""Files that mean harm, or were harmed: more than a hundred, each made when it is asked for."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from email.message import EmailMessage
from functools import partial

from tests.tools.extract import making

Make = Callable[[], bytes]
SECRET = "XSECRETX"
"""What the file that external entities point at holds; it must never be read."""
_WORDS = "The harbour froze on 3 March and the ferry stayed in port. "


def cases(secret: str, server: str) -> dict[str, tuple[str, Make]]:
    """Return the files by what they are: their name, and how to make them.

    Args:
        secret: Address of a file that must not be read.
        server: Address of a server that must not be asked.
    """
    return {
        **archives(),
        **pages(),
        **entities(secret, server),
        **pdfs(),
        **office(),
        **texts(),
        **markups(),
        **mails(),
        **torn(),
        **disguised(),
    }


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)  # noqa: S311 - the same for the same size


def archives() -> dict[str, tuple[str, Make]]:
    zeros = b"\0" * 60_000_000

    def bomb(member: str, beside: dict[str, bytes | str]) -> bytes:
        return making.zipped({**beside, member: zeros})

    def many(member: str) -> bytes:
        return making.zipped(
            {member: b"<x/>", **{f"x/{number}": b"" for number in range(20_000)}},
            zipfile.ZIP_STORED,
        )

    def nested(member: str) -> bytes:
        inner = making.zipped({"zeros": zeros[:20_000_000]})
        for depth in range(5):
            inner = making.zipped({f"{number}-{depth}.zip": inner for number in range(10)})
        return making.zipped({member: inner, "more.zip": inner})

    def lying(member: str) -> bytes:
        """Say that a member unpacks to ten bytes."""
        data = bytearray(making.zipped({member: zeros[:20_000_000]}))
        for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            place = data.find(mark)
            data[place + at : place + at + 4] = struct.pack("<I", 10)
        return bytes(data)

    mains = {
        "docx": "word/document.xml",
        "pptx": "ppt/presentation.xml",
        "xlsx": "xl/workbook.xml",
        "epub": "META-INF/container.xml",
        "odt": "content.xml",
    }
    found: dict[str, tuple[str, Make]] = {}
    for kind, main in mains.items():
        found[f"{kind} bomb in its main part"] = (f"a.{kind}", partial(bomb, main, {}))
        found[f"{kind} bomb in a picture"] = (
            f"a.{kind}",
            partial(bomb, "media/a.png", {main: b"<x/>"}),
        )
        found[f"{kind} of 20,000 members"] = (f"a.{kind}", partial(many, main))
        found[f"{kind} of nested zips"] = (f"a.{kind}", partial(nested, main))
        found[f"{kind} that lies about its sizes"] = (f"a.{kind}", partial(lying, main))
        found[f"{kind} of XML bombs at the allowed ratio"] = (f"a.{kind}", partial(_thin, main))
    for name, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
        found[f"{name} bomb"] = (f"a.{name}", partial(pack, zeros))
        found[f"{name} bomb called html"] = ("a.html", partial(pack, zeros))
    found["zip bomb called txt"] = ("a.txt", lambda: making.zipped({"a": zeros}))
    found["gzip in gzip called pdf"] = (
        "a.pdf",
        lambda: gzip.compress(gzip.compress(gzip.compress(zeros))),
    )
    return found


def _thin(main: str) -> bytes:
    """Pack empty elements: a tree of them takes a thousand times the bytes."""
    chance = random.Random(1)  # noqa: S311
    body = "".join(f"<a{chance.randrange(9)}/>" for _ in range(4_000_000))
    return making.zipped({main: f"<x>{body}</x>"})


def pages() -> dict[str, tuple[str, Make]]:
    def page(body: str, head: str = "") -> bytes:
        return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()

    prose = f"<p>{_WORDS * 5}</p>"
    made = {
        "100,000 nested divs": lambda: page("<div>" * 100_000 + _WORDS + "</div>" * 100_000),
        "100,000 nested divs, unclosed": lambda: page("<div>" * 100_000 + prose),
        "100,000 nested spans": lambda: page("<p>" + "<span>" * 100_000 + _WORDS),
        "100,000 nested fonts and tables": lambda: page("<table><tr><td><font>" * 25_000 + _WORDS),
        "50,000 nested lists": lambda: page("<ul><li>" * 50_000 + _WORDS),
        "50,000 nested quotes": lambda: page("<blockquote>" * 50_000 + _WORDS),
        "unclosed comment": lambda: page(prose + "<!-- " + "x" * 5_000_000),
        "a million comments": lambda: page("<!---->" * 1_000_000 + prose),
        "comments in comments": lambda: page("<!-- <!-- " * 200_000 + prose),
        "unclosed script": lambda: page(prose + "<script>" + "var x = '<p>';" * 300_000),
        "unclosed attribute": lambda: page(prose + '<a href="' + "x" * 5_000_000),
        "attribute of 5 MB": lambda: page(f'<p title="{"x" * 5_000_000}">{_WORDS}</p>'),
        "element of 200,000 attributes": lambda: page(
            "<p " + " ".join(f"a{number}=1" for number in range(200_000)) + f">{_WORDS}</p>"
        ),
        "tag of 5 MB": lambda: page("<" + "x" * 5_000_000 + f">{_WORDS}"),
        "doctype of 5 MB": lambda: (
            b"<!DOCTYPE html " + b"x" * 5_000_000 + b"><body>" + _WORDS.encode()
        ),
        "angle brackets": lambda: page("<" * 3_000_000),
        "ampersands": lambda: page("&" * 3_000_000),
        "entities by number": lambda: page("&#1114112;&#xffffffff;&#0;&#55296;" * 50_000),
        "a million paragraphs": lambda: page("<p>a" * 1_000_000),
        "300,000 links": lambda: page(
            "".join(f'<p><a href="/{n}">{_WORDS}</a></p>' for n in range(60_000))
        ),
        "a table of a million cells": lambda: page("<table>" + ("<tr>" + "<td>1" * 1_000) * 1_000),
        "a table with a span of a milliard": lambda: page(
            f'<table><tr><td colspan="1000000000" rowspan="1000000000">1</td></tr></table>{prose}'
        ),
        "50,000 formatting elements": lambda: page("<b><i><a href=x>" * 20_000 + _WORDS),
        "meta that names another encoding": lambda: page(prose, '<meta charset="utf-7">').replace(
            b"3 M", b"+ADw-"
        ),
        "meta that names no encoding": lambda: (
            page(prose, '<meta charset="x-no-such">') + b"\xff\xfe\xfa"
        ),
        "dates without end": lambda: page(
            "".join(f"<time>{_WORDS} 2021-01-0{n % 9}</time>" for n in range(20_000))
        ),
        "json-ld of depth": lambda: page(
            prose, '<script type="application/ld+json">' + '{"a":' * 50_000 + "</script>"
        ),
        "base that points elsewhere": lambda: page(prose, '<base href="file:///etc/passwd">'),
        "emoji to the limit": lambda: page("<p>" + ("\U0001f6a2 " + _WORDS * 20) * 8_000 + "</p>"),
        "zero-width characters": lambda: page("<p>" + "\u200b\u202e" * 1_000_000 + _WORDS),
        "combining marks": lambda: page("<p>a" + "\u0301" * 2_000_000),
    }
    return {f"html: {name}": ("a.html", make) for name, make in made.items()}


def entities(secret: str, server: str) -> dict[str, tuple[str, Make]]:
    # 10^12 times ha.
    laughs = "".join(
        f'<!ENTITY l{n} "{("&l" + str(n - 1) + ";") * 10 if n else "ha" * 10}">' for n in range(12)
    )
    quadratic = f'<!ENTITY a "{"a" * 100_000}">'
    doctypes = {
        "billion laughs": (f"<!DOCTYPE x [{laughs}]>", "&l11;"),
        "quadratic blow-up": (f"<!DOCTYPE x [{quadratic}]>", "&a;" * 100_000),
        "external entity of a file": (f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret}">]>', "&e;"),
        "external entity of a password file": (
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
            "&e;",
        ),
        "external entity of a server": (
            f'<!DOCTYPE x [<!ENTITY e SYSTEM "{server}/entity">]>',
            "&e;",
        ),
        "parameter entity of a server": (
            f'<!DOCTYPE x [<!ENTITY % e SYSTEM "{server}/parameter"> %e;]>',
            "text",
        ),
        "external document type": (f'<!DOCTYPE x SYSTEM "{server}/x.dtd">', "text"),
    }
    found: dict[str, tuple[str, Make]] = {}
    for name, (doctype, use) in doctypes.items():
        for kind, make in (
            ("xml", _bare),
            ("svg", _drawing),
            ("html", _page),
            ("docx", _word),
            ("xlsx", _sheet),
            ("epub", _book),
            ("odt", _open_text),
        ):
            found[f"{kind}: {name}"] = (f"a.{kind}", partial(make, doctype, use))
    found["svg: picture and style from a server"] = (
        "a.svg",
        lambda: (
            f'<?xml version="1.0"?><?xml-stylesheet href="{server}/s.css"?><svg '
            'xmlns="http://www.w3.org/2000/svg" '
            'xmlns:xlink="http://www.w3.org/1999/xlink"><image '
            f'xlink:href="{server}/i.png"/><text>hello</text></svg>'
        ).encode(),
    )
    found["xml: include of a file"] = (
        "a.xml",
        lambda: (
            f'<x xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{secret}" '
            'parse="text"/>text</x>'.encode()
        ),
    )
    found["xml: 100,000 deep"] = ("a.xml", lambda: b"<a>" * 100_000 + b"x" + b"</a>" * 100_000)
    return found


def _bare(doctype: str, use: str) -> bytes:
    return f'<?xml version="1.0"?>{doctype}<x>{use}</x>'.encode()


def _drawing(doctype: str, use: str) -> bytes:
    named = doctype.replace("DOCTYPE x", "DOCTYPE svg")
    return (
        f'<?xml version="1.0"?>{named}<svg '
        f'xmlns="http://www.w3.org/2000/svg"><text>{use}</text></svg>'
    ).encode()


def _page(doctype: str, use: str) -> bytes:
    return f"<!DOCTYPE html><html><body>{doctype}<p>{_WORDS * 5}{use}</p></body></html>".encode()


def _word(doctype: str, use: str) -> bytes:
    good = making.docx(lambda made: made.add_paragraph(_WORDS))
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = (
        f"<w:document {space}><w:body><w:p><w:r><w:t>{use}</w:t></w:r></w:p></w:body></w:document>"
    )
    return making.rezipped(good, {"word/document.xml": f'<?xml version="1.0"?>{doctype}{body}'})


def _sheet(doctype: str, use: str) -> bytes:
    good = making.xlsx(lambda made: made.active.append([_WORDS, 1]))
    strings = f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{use}</t></si></sst>'
    return making.rezipped(
        good, {"xl/sharedStrings.xml": f'<?xml version="1.0"?>{doctype}{strings}'}
    )


def _book(doctype: str, use: str) -> bytes:
    chapter = f'<?xml version="1.0"?>{doctype}<html><body><p>{_WORDS}{use}</p></body></html>'
    return making.rezipped(
        making.epub({"a.html": chapter}),
        {"META-INF/container.xml": f"{doctype}{making.CONTAINER[21:]}"},
    )


def _open_text(doctype: str, use: str) -> bytes:
    content = making.open_content(f"<text:p>{_WORDS}{use}</text:p>").partition("?>")[2]
    return making.rezipped(
        making.open_document("text"), {"content.xml": f'<?xml version="1.0"?>{doctype}{content}'}
    )


def pdfs() -> dict[str, tuple[str, Make]]:
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    font = (
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    )

    def one(content: bytes, extra: bytes = b"", **more: bytes) -> bytes:
        return making.pdf_objects(
            {
                1: catalog,
                2: b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
                3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
                + font
                + extra
                + b" >>",
                4: content,
                **{int(key[1:]): value for key, value in more.items()},
            }
        )

    def twice(content: bytes) -> bytes:
        packed = zlib.compress(zlib.compress(zlib.compress(content, 9), 9), 9)
        return making.stream(packed, b"/Filter [/FlateDecode /FlateDecode /FlateDecode]")

    def many_pages() -> bytes:
        kids = b" ".join(b"3 0 R" for _ in range(200_000))
        return making.pdf_objects(
            {
                1: catalog,
                2: b"<< /Type /Pages /Count 200000 /Kids [%b] >>" % kids,
                3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
                + font
                + b" >>",
                4: making.stream(b"BT /F1 12 Tf (x) Tj ET"),
            }
        )

    def deep_tree() -> bytes:
        nodes = {
            number: b"<< /Type /Pages /Count 1 /Kids [%d 0 R] /Parent %d 0 R >>"
            % (number + 1, number - 1)
            for number in range(2, 20_000)
        }
        return making.pdf_objects(
            {1: catalog, **nodes, 20_000: b"<< /Type /Page /Parent 19999 0 R >>"}
        )

    def wide_tree() -> bytes:
        """Two children each, twenty deep, all the same: a million pages in 2 kB."""
        nodes = {
            number: b"<< /Type /Pages /Count 9 /Kids [%d 0 R %d 0 R] >>" % (number + 1, number + 1)
            for number in range(2, 24)
        }
        return making.pdf_objects(
            {1: catalog, **nodes, 24: b"<< /Type /Page /MediaBox [0 0 9 9] >>"}
        )

    form = b"/XObject << /X 5 0 R >>"
    forms = b"/Resources << " + form + b" >>"
    made: dict[str, Make] = {
        "pages that are their own parents": lambda: making.pdf_objects(
            {1: catalog, 2: b"<< /Type /Pages /Count 1 /Kids [2 0 R] /Parent 2 0 R >>"}
        ),
        "pages in a ring": lambda: making.pdf_objects(
            {
                1: catalog,
                2: b"<< /Type /Pages /Count 2 /Kids [3 0 R] >>",
                3: b"<< /Type /Pages /Count 2 /Kids [2 0 R 3 0 R] /Parent 2 0 R >>",
            }
        ),
        "an object that is itself": lambda: making.pdf_objects({1: b"1 0 R", 2: b"2 0 R"}),
        "a length that is itself": lambda: one(b"<< /Length 4 0 R >>\nstream\nBT ET\nendstream"),
        "a catalogue that is missing": lambda: making.pdf_objects({9: b"<< >>"}, b"/Root 7 0 R"),
        "200,000 pages": many_pages,
        "a page tree 20,000 deep": deep_tree,
        "a page tree of a million": wide_tree,
        "a count of a milliard": lambda: one(making.stream(b"BT /F1 12 Tf (x) Tj ET")).replace(
            b"/Count 1 ", b"/Count 999999999 "
        ),
        "a stream of 300 MB": lambda: one(making.flate(b" " * 300_000_000)),
        "a stream packed three times": lambda: one(twice(b" " * 300_000_000)),
        "20 MB of operators": lambda: one(making.flate(b"BT /F1 12 Tf (a) Tj ET\n" * 900_000)),
        "20 MB of one string": lambda: one(
            making.flate(b"BT /F1 12 Tf (" + b"a" * 20_000_000 + b") Tj ET")
        ),
        "arrays 100,000 deep": lambda: one(making.stream(b"[" * 100_000 + b"]" * 100_000)),
        "dictionaries 50,000 deep": lambda: making.pdf_objects(
            {
                1: b"<< /Type /Catalog /Pages 2 0 R /X "
                + b"<< /A " * 50_000
                + b">>" * 50_000
                + b" >>"
            }
        ),
        "names 200,000 saved states deep": lambda: one(making.flate(b"q " * 2_000_000)),
        "a form that draws itself": lambda: one(
            making.stream(b"/X Do"),
            form,
            o5=making.stream(b"/X Do", b"/Type /XObject /Subtype /Form " + forms),
        ),
        "a font map of a million": lambda: one(
            making.stream(b"BT /F9 12 Tf (x) Tj ET"),
            o5=making.flate(
                b"begincmap 1 beginbfrange <0000> <ffffffff> <0000> endbfrange endcmap"
            ),
        ).replace(b"/F1 <<", b"/F9 << /ToUnicode 5 0 R"),
        "an outline in a ring": lambda: making.pdf(
            [[(700, _WORDS)]], outline=[("a", 0), ("b", 0)]
        ).replace(b"/Next 14 0 R", b"/Next 13 0 R"),
        "an xref in a ring": lambda: making.pdf([[(700, _WORDS)]]).replace(
            b"trailer\n<<", b"trailer\n<< /Prev 9"
        ),
        "no xref at all": lambda: making.pdf([[(700, _WORDS)]]).split(b"xref")[0],
        "an xref that points beyond": lambda: making.pdf([[(700, _WORDS)]]).replace(
            b"startxref\n", b"startxref\n99999999"
        ),
        "only its first line": lambda: b"%PDF-1.7\n",
        "random bytes after the first line": lambda: b"%PDF-1.7\n" + noise(2_000_000),
        "a predictor of a milliard columns": lambda: one(
            making.flate(b"x" * 1000, b"/DecodeParms << /Predictor 12 /Columns 1000000000 >>")
        ),
        "an LZW stream of noise": lambda: one(making.stream(noise(500_000), b"/Filter /LZWDecode")),
        "an ASCII85 stream of z": lambda: one(
            making.stream(b"z" * 20_000_000 + b"~>", b"/Filter /ASCII85Decode")
        ),
        "a run-length bomb": lambda: one(
            making.stream(b"\x81x" * 4_000_000 + b"\x80", b"/Filter /RunLengthDecode")
        ),
    }
    return {f"pdf: {name}": ("a.pdf", make) for name, make in made.items()}


def office() -> dict[str, tuple[str, Make]]:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def word(body: str) -> bytes:
        good = making.docx(lambda made: made.add_paragraph(_WORDS))
        return making.rezipped(
            good, {"word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>"}
        )

    def sheet(rows: str) -> bytes:
        good = making.xlsx(lambda made: made.active.append(["a", 1]))
        text = f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"
        return making.rezipped(good, {"xl/worksheets/sheet1.xml": text})

    run = "<w:p><w:r><w:t>a</w:t></w:r></w:p>"
    return {
        "docx: 500,000 paragraphs": ("a.docx", lambda: word(run * 500_000)),
        "docx: tables 20,000 deep": ("a.docx", lambda: word("<w:tbl><w:tr><w:tc>" * 20_000)),
        "docx: tables 5,000 deep, closed": (
            "a.docx",
            lambda: word("<w:tbl><w:tr><w:tc>" * 5_000 + run + "</w:tc></w:tr></w:tbl>" * 5_000),
        ),
        "docx: styles in a ring": (
            "a.docx",
            lambda: making.rezipped(
                making.docx(lambda made: made.add_paragraph(_WORDS)),
                {
                    "word/styles.xml": f'<w:styles {space}><w:style w:styleId="a"><w:basedOn '
                    'w:val="b"/></w:style>'
                    '<w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>'
                },
            ),
        ),
        "docx: a cell over a milliard columns": (
            "a.docx",
            lambda: word(
                '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>'
                + run
                + "</w:tc></w:tr></w:tbl>"
            ),
        ),
        "xlsx: a cell in the last corner": (
            "a.xlsx",
            lambda: sheet('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        ),
        "xlsx: a cell beyond the last corner": (
            "a.xlsx",
            lambda: sheet('<row r="99999999"><c r="ZZZZ9"><v>1</v></c></row>'),
        ),
        "xlsx: 3,000 rows of 16,384 columns": (
            "a.xlsx",
            lambda: sheet(
                "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 3_000))
            ),
        ),
        "xlsx: 300,000 cells": (
            "a.xlsx",
            lambda: sheet(
                "".join(
                    f'<row><c><v>{n}</v></c><c t="str"><v>x</v></c></row>' for n in range(150_000)
                )
            ),
        ),
        "xlsx: a shared string that is not there": (
            "a.xlsx",
            lambda: sheet('<row r="1"><c r="A1" t="s"><v>99</v></c></row>'),
        ),
        "xlsx: a number of 100,000 digits": (
            "a.xlsx",
            lambda: sheet(f'<row r="1"><c r="A1"><v>{"9" * 100_000}</v></c></row>'),
        ),
        "xlsx: a date of the year 10 million": (
            "a.xlsx",
            lambda: sheet('<row r="1"><c r="A1" s="0" t="d"><v>9999999-13-45</v></c></row>'),
        ),
        "pptx: slides that are missing": (
            "a.pptx",
            lambda: making.rezipped(_deck(), {"ppt/slides/slide1.xml": None}),
        ),
        "pptx: a slide that is the presentation": (
            "a.pptx",
            lambda: making.rezipped(_deck(), {"ppt/slides/slide1.xml": b"<x" + b"<x>" * 5_000}),
        ),
        "pptx: groups 5,000 deep": (
            "a.pptx",
            lambda: making.rezipped(
                _deck(),
                {
                    "ppt/slides/slide1.xml": b"<sld>"
                    + b"<grpSp>" * 5_000
                    + b"</grpSp>" * 5_000
                    + b"</sld>"
                },
            ),
        ),
    }


def _deck() -> bytes:
    return making.pptx(lambda made: made.slides.add_slide(made.slide_layouts[0]))


def texts() -> dict[str, tuple[str, Make]]:
    return {
        "csv: one line of 10 MB": ("a.csv", lambda: b"a," * 5_000_000),
        "csv: one field of 10 MB": ("a.csv", lambda: b"a,b\n1," + b"x" * 10_000_000),
        "csv: an open quote": ("a.csv", lambda: b'a,b\n"' + b"x,y\n" * 2_000_000),
        "csv: quotes": ("a.csv", lambda: b'"' * 5_000_000),
        "csv: a million rows": ("a.csv", lambda: b"name,count\n" + b"a,1\n" * 1_000_000),
        "csv: only line ends": ("a.csv", lambda: b"\n" * 5_000_000),
        "tsv: only tabs": ("a.tsv", lambda: b"\t" * 5_000_000),
        "json: 100,000 deep": ("a.json", lambda: b"[" * 100_000 + b"]" * 100_000),
        "json: objects 100,000 deep": (
            "a.json",
            lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        ),
        "json: objects 900 deep": ("a.json", lambda: b'{"a":' * 900 + b"1" + b"}" * 900),
        "json: a number of 2 MB": ("a.json", lambda: b"[" + b"1" * 2_000_000 + b"]"),
        "json: a million numbers": ("a.json", lambda: json.dumps(list(range(1_000_000))).encode()),
        "json: a million objects": ("a.json", lambda: b"[" + b'{"a":{"b":1}},' * 500_000 + b"1]"),
        "json: half characters": ("a.json", lambda: b'{"a": "\\ud800 \\udfff x"}'),
        "jsonl: a line of 10 MB": (
            "a.jsonl",
            lambda: b'{"text": "' + b"x" * 10_000_000 + b'"}\n{}\n',
        ),
        "jsonl: lines of depth": ("a.jsonl", lambda: (b"[" * 50_000 + b"\n") * 20),
        "jsonl: replies within replies": (
            "a.jsonl",
            lambda: b'{"user":"a","text":"b","replies":[' * 5_000,
        ),
        "jsonl: odd dates": (
            "a.jsonl",
            lambda: b'{"user":"a","text":"b","ts":1e308}\n{"user":"a","text":"b","ts":-9e99}',
        ),
        "text: NUL bytes": ("a.txt", lambda: b"\0" * 5_000_000),
        "text: NUL bytes late": ("a.txt", lambda: _WORDS.encode() * 1_000 + b"\0" * 100),
        "text: one line of 40 MB": ("a.txt", lambda: b"x" * 40_000_000),
        "text: 51 MB": ("a.txt", lambda: b"x" * 51_000_000),
        "text: every byte there is": ("a.txt", lambda: bytes(range(1, 256)) * 20_000),
        "text: UTF-16 cut in two": ("a.txt", lambda: _WORDS.encode("utf-16")[:-1]),
        "text: UTF-16 called UTF-8": (
            "a.txt",
            lambda: b"\xef\xbb\xbf" + _WORDS.encode("utf-16-le"),
        ),
        "text: UTF-32": ("a.txt", lambda: _WORDS.encode("utf-32")),
        "text: overlong UTF-8": ("a.txt", lambda: b"\xc0\xaf\xe0\x80\xaf" * 100_000),
        "text: Shift-JIS called Latin": (
            "a.txt",
            lambda: "港は凍った。船は出ない。".encode("shift_jis") * 5_000,
        ),
        "text: noise": ("a.txt", lambda: noise(3_000_000)),
        "text: 4-byte characters to the limit": (
            "a.txt",
            lambda: ("\U0001f6a2" + "x" * 99).encode() * 100_000,
        ),
        "markdown: 10 MB of fences": ("a.md", lambda: b"```\n" * 2_500_000),
        "markdown: a million headings": ("a.md", lambda: b"# a\n" * 1_000_000),
        "markdown: front matter without end": ("a.md", lambda: b"---\n" + b"a: b\n" * 1_000_000),
        "empty": ("a.html", lambda: b""),
        "white space": ("a.md", lambda: b" \n" * 3_000_000),
    }


def markups() -> dict[str, tuple[str, Make]]:
    row = '<table:table-row table:number-rows-repeated="1048576">{}</table:table-row>'
    cell = (
        '<table:table-cell table:number-columns-repeated="16384"><text:p>7</text:p>'
        "</table:table-cell>"
    )

    def opened(kind: str, body: str) -> Make:
        return lambda: making.open_document(kind, body)

    return {
        "rtf: 2,000,000 braces": ("a.rtf", lambda: b"{\\rtf1 " + b"{" * 2_000_000 + b"x"),
        "rtf: 3,000,000 words": ("a.rtf", lambda: b"{\\rtf1 " + b"\\b0" * 3_000_000 + b"x"),
        "rtf: a picture of 20 MB": (
            "a.rtf",
            lambda: b"{\\rtf1 x{\\pict " + b"89504e47\n" * 2_000_000 + b"}}",
        ),
        "rtf: binary data without an end": ("a.rtf", lambda: b"{\\rtf1 x\\bin999999999 x}"),
        "rtf: a million cells": (
            "a.rtf",
            lambda: b"{\\rtf1 \\intbl " + b"x\\cell " * 1_000_000 + b"\\row}",
        ),
        "tex: tables without an end": ("a.tex", lambda: b"\\begin{tabular}{l} a & b " * 100_000),
        "tex: formulas without an end": ("a.tex", lambda: b"x \\[ a " * 500_000),
        "tex: footnotes 100,000 deep": ("a.tex", lambda: b"\\footnote{" * 100_000 + b"x"),
        "tex: a million dollars": ("a.tex", lambda: b"$" * 1_000_001),
        "tex: brackets": ("a.tex", lambda: b"\\item[" * 300_000),
        "tex: a line of 10 MB": ("a.tex", lambda: b"word " * 2_000_000),
        "man: escapes": ("a.man", lambda: b"\\f(" * 2_000_000 + b"\nx"),
        "man: quotes": ("a.man", lambda: b'.B "' + b'""' * 3_000_000),
        "man: a table without an end": ("a.man", lambda: b".TS\nl.\n" + b"T{\nx\n" * 500_000),
        "man: a heading of 5 MB": ("a.man", lambda: b".SH " + b"x" * 5_000_000),
        "ipynb: 100,000 deep": ("a.ipynb", lambda: b'{"cells":' + b"[" * 100_000),
        "ipynb: a million cells": (
            "a.ipynb",
            lambda: b'{"cells":[' + b'{"source":"x"},' * 500_000 + b'{"source":"x"}]}',
        ),
        "ipynb: a page of 100,000 tables": (
            "a.ipynb",
            lambda: json.dumps(
                {
                    "cells": [
                        {"source": "x", "outputs": [{"data": {"text/html": "<table>" * 100_000}}]}
                    ]
                }
            ).encode(),
        ),
        "srt: a million arrows": ("a.srt", lambda: b"00:00:01,000 --> 00:00:02,000\n" * 500_000),
        "vtt: open tags": (
            "a.vtt",
            lambda: b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<v " * 10**6,
        ),
        "rst: underlines": ("a.rst", lambda: b"=====\n" * 1_000_000),
        "rst: headings": ("a.rst", lambda: b"a\n===\n\n" * 500_000),
        "text: random bytes without NUL": ("a.dat", lambda: noise(2_000_000).replace(b"\0", b"x")),
        "text: half of it NUL": ("README", lambda: b"words " * 2_000 + bytes(100_000)),
        "py: one line of 20 MB": ("a.py", lambda: b"x=1;" * 5_000_000),
        "mbox: 300,000 mails": (
            "a.mbox",
            lambda: b"From a@b.c Mon Mar 3 2025\nSubject: x\n\ny\n\n" * 300_000,
        ),
        "odt: 100,000 deep": ("a.odt", opened("text", "<text:section>" * 100_000)),
        "odt: spaces without end": (
            "a.odt",
            opened("text", '<text:p>x<text:s text:c="999"/></text:p>'),
        ),
        "ods: 17 milliards of cells": ("a.ods", opened("spreadsheet", row.format(cell))),
        "ods: repeated rows by the thousand": (
            "a.ods",
            opened("spreadsheet", f"<table:table>{row.format(cell) * 2_000}</table:table>"),
        ),
        "gz: a man page in 100,000 parts": (
            "a.1.gz",
            lambda: gzip.compress(b".TH A 1\nx\n") * 100_000,
        ),
        "xz: noise": ("a.xz", lambda: b"\xfd7zXZ\x00" + noise(1_000_000)),
        "gz: a docx bomb in gzip": (
            "a.docx.gz",
            lambda: gzip.compress(making.zipped({"word/document.xml": bytes(60_000_000)})),
        ),
    }


def mails() -> dict[str, tuple[str, Make]]:
    def parts(count: int, body: bytes = b"x") -> bytes:
        part = b"--b\r\nContent-Type: text/plain\r\n\r\n" + body + b"\r\n"
        return (
            b"From: a@b.c\r\nSubject: s\r\nDate: x\r\nContent-Type: multipart/mixed; "
            b"boundary=b\r\n\r\n" + part * count + b"--b--"
        )

    def nested(depth: int) -> bytes:
        opened = b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level)
            for level in range(depth)
        )
        return (
            b"From: a@b.c\r\nSubject: s\r\nDate: x\r\n"
            + opened
            + b"Content-Type: text/plain\r\n\r\ntext"
        )

    def forwarded(depth: int) -> bytes:
        inner: EmailMessage = making.mail()
        for level in range(depth):
            outer = making.mail(f"Fwd {level}")
            outer.add_attachment(inner)
            inner = outer
        return inner.as_bytes()

    head = b"From: a@b.c\r\nDate: x\r\nSubject: s\r\n"
    return {
        "eml: 10,000 parts": ("a.eml", lambda: parts(10_000)),
        "eml: 100,000 parts": ("a.eml", lambda: parts(100_000)),
        "eml: 5,000 nested parts": ("a.eml", lambda: nested(5_000)),
        "eml: 30 mails forwarded": ("a.eml", lambda: forwarded(30)),
        "eml: a head of 5 MB": (
            "a.eml",
            lambda: head + b"X-A: " + b"a" * 5_000_000 + b"\r\n\r\nbody",
        ),
        "eml: 200,000 fields": ("a.eml", lambda: head + b"X-A: a\r\n" * 200_000 + b"\r\nbody"),
        "eml: encoded words without end": (
            "a.eml",
            lambda: head + b"To: " + b"=?utf-8?q?=41?= " * 50_000 + b"\r\n\r\nbody",
        ),
        "eml: brackets in an address": (
            "a.eml",
            lambda: b"To: x\r\n" + head + b"Cc: " + b"(" * 100_000 + b"\r\n\r\nbody",
        ),
        "eml: a page of 100,000 divs": (
            "a.eml",
            lambda: head + b"Content-Type: text/html\r\n\r\n" + b"<div>" * 100_000 + b"text",
        ),
        "eml: broken base64": (
            "a.eml",
            lambda: head + b"Content-Transfer-Encoding: base64\r\n\r\n" + b"A=B=" * 500_000,
        ),
        "eml: an encoding that is not": (
            "a.eml",
            lambda: head + b"Content-Type: text/plain; charset=x-none\r\n\r\ntext \xff\xfe",
        ),
    }


def torn() -> dict[str, tuple[str, Make]]:
    """Return good files, cut at every tenth, and with a byte in every hundred changed."""
    wholes: dict[str, Make] = {
        "pdf": lambda: making.pdf([[(700, _WORDS), (680, _WORDS)]] * 3, outline=[("a", 0)]),
        "docx": lambda: making.docx(lambda made: [made.add_paragraph(_WORDS) for _ in range(50)]),
        "pptx": _deck,
        "xlsx": lambda: making.xlsx(
            lambda made: [made.active.append([_WORDS, n]) for n in range(50)]
        ),
        "epub": lambda: making.epub({"a.html": f"<h1>A</h1><p>{_WORDS}</p>"}),
        "html": lambda: making.ARTICLE.encode(),
        "eml": lambda: making.mail(body=_WORDS * 20).as_bytes(),
        "odt": lambda: making.open_document("text", f"<text:p>{_WORDS}</text:p>" * 50),
        "rtf": lambda: b"{\\rtf1 " + f"{_WORDS}\\par ".encode() * 50 + b"}",
        "ipynb": lambda: json.dumps({"cells": [{"source": _WORDS}] * 50}).encode(),
        "gz": lambda: gzip.compress(_WORDS.encode() * 50),
    }

    def cut(make: Make, tenth: int) -> bytes:
        whole = make()
        return whole[: len(whole) * tenth // 10]

    def flipped(make: Make) -> bytes:
        chance = random.Random(5)  # noqa: S311
        data = bytearray(make())
        for _ in range(max(len(data) // 100, 1)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data)

    found: dict[str, tuple[str, Make]] = {}
    for kind, make in wholes.items():
        for tenth in range(1, 10):
            found[f"{kind}: cut at {tenth}0 %"] = (
                f"a.{kind}",
                partial(cut, make, tenth),
            )
        found[f"{kind}: a byte in a hundred changed"] = (f"a.{kind}", partial(flipped, make))
    return found


def disguised() -> dict[str, tuple[str, Make]]:
    """Return files that are not what they are called."""

    def word() -> bytes:
        return making.docx(lambda made: made.add_paragraph(_WORDS))

    def page() -> bytes:
        return making.ARTICLE.encode()

    def book() -> bytes:
        return making.xlsx(lambda made: made.active.append([_WORDS, 1]))

    def printed() -> bytes:
        return making.pdf([[(700, _WORDS)]])

    def picture() -> bytes:
        return b"\x89PNG\r\n\x1a\n" + bytes(10_000)

    made: dict[str, tuple[str, Make]] = {
        "a docx called pdf": ("a.pdf", word),
        "a pdf called docx": ("a.docx", printed),
        "a page called docx": ("a.docx", page),
        "a sheet called txt": ("a.txt", book),
        "a picture called html": ("a.html", picture),
        "a picture called pdf": ("a.pdf", picture),
        "a program called md": ("a.md", lambda: b"\x7fELF" + bytes(5_000)),
        "a text called xlsx": ("a.xlsx", lambda: _WORDS.encode()),
        "a page and a zip in one": ("a.html", lambda: page() + word()),
        "a zip and a page in one": ("a.docx", lambda: word() + page()),
        "a docx within a zip": ("a.docx", lambda: making.zipped({"inner.docx": word()})),
        "an old Word file": ("a.doc", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5_000)),
    }
    return {f"disguised: {name}": case for name, case in made.items()}
