"""Decoding text: by its byte order mark, as declared, as UTF-8, or else by a guess."""

from __future__ import annotations

import codecs
import re

from deepdiver.errors import UnreadableError

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{2,40})""",
    re.I,
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{2,40})", re.I)
_LOOK = 4_096
_GUESSED = 65_536
"""Bytes that a guess is made from. More of them take seconds and do not improve it."""
_WIDER = {
    "ascii": "windows-1252",
    "iso-8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "iso-8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "ks_c_5601-1987": "cp949",
}
"""Encodings that browsers replace by a larger one when they are declared; so do we."""
_LIKELY = [
    *(f"cp{number}" for number in range(1250, 1259)),
    *"cp874 koi8_r cp932 euc_jp gb18030 big5 cp949".split(),
]
"""The encodings that are guessed. Old and rare ones would fit short texts as well, and be wrong."""
_SLOVAK = re.compile(rb"[\xe0\xe5]")
"""In the encoding of central Europe these are ŕ and ĺ, which hardly occur; in the western one à and
å, which are everywhere."""
_ODD = 0.02
"""The share of undecodable characters beyond which a declaration is taken as wrong."""


def decode(data: bytes, mime: str = "") -> tuple[str, str]:
    """Return the text, and a note if some bytes could not be decoded.

    Raises:
        UnreadableError: If the bytes are not text.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _noted(_text(data.decode(name, "replace")), name)
    if b"\0" in data:
        raise UnreadableError("it is not text")
    said = declared_encodings(data, mime)
    if said and said[0].startswith("iso2022"):  # uses ASCII bytes, which are valid UTF-8
        return _noted(data.decode(said[0], "replace"), said[0])
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        torn = error.start > len(data) - 4
    if torn:  # a character cut in two at the very end
        return _noted(data.decode("utf-8", "replace"), "utf-8")
    for name in said:
        text = data.decode(name, "replace")
        if text.count("\ufffd") <= _ODD * len(text):
            return _noted(text, name)
    return _guess(data)


def _text(text: str) -> str:
    if "\0" in text:
        raise UnreadableError("it is not text")
    return text


def declared_encodings(data: bytes, mime: str) -> list[str]:
    """Return the known encodings that the MIME type and the text itself declare."""
    found = [match[1] for match in [_CHARSET.search(mime)] if match]
    found += [(match[1] or match[2]).decode("ascii") for match in _DECLARED.finditer(data[:_LOOK])]
    names = []
    for name in found:
        try:
            known = codecs.lookup(_WIDER.get(name.lower(), name))
        except LookupError:
            continue
        if known._is_text_encoding and not known.name.startswith(("utf-16", "utf-32", "utf-7")):
            names.append(_WIDER.get(known.name, known.name))
    return names


def _guess(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    found = from_bytes(data[:_GUESSED], cp_isolation=_LIKELY)
    name = (
        min(found, key=lambda match: (match.chaos, -match.coherence)).encoding
        if found
        else "windows-1252"
    )
    if name == "cp1250" and _SLOVAK.search(data[:_GUESSED]):
        name = "cp1252"
    text, note = _noted(data.decode(name, "replace"), name)
    return text, note or f"no encoding is named; it was taken for {name}"


def _noted(text: str, name: str) -> tuple[str, str]:
    missing = text.count("\ufffd")
    return text, f"{missing:,} characters could not be read as {name}" if missing else ""
