r"""Text of models and strangers, made fit to be shown and to be written to files.

Characters that cannot be seen are spelt out (`\u202e`), so that they neither control a terminal nor
turn the order of a line around, and addresses are written so that no program makes a link of them.
Saved texts and quotes keep every character, because offsets count them: this is for their way out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from deepdiver.core.reserved_hosts import is_reserved

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f"
)
"""As a set of a regular expression: control characters except tab and line feed, characters that
set the direction of writing, those of no width, line and paragraph separators, byte order marks,
annotations, lone surrogates, and tags, which can spell a whole hidden text."""
_LETTER = f"[^\x00-\x7f{_UNSEEN}]"
_HIDDEN = re.compile(f"(?!(?<={_LETTER})[\u200c\u200d]{_LETTER})[{_UNSEEN}]")
"""What is spelt out for people. A joiner between two characters that are not ASCII belongs to a
word of Persian or Hindi, or to an emoji, and stays."""
_HIDDEN_IN_JSON = re.compile(f"[{_UNSEEN}]")

_DOTS = ".\u3002\uff0e\uff61"
"""What programs take for the dot of a host's name: the Latin one and those of East Asia."""
_DOTTED = re.compile(rf"(?<![\w\-{_DOTS}])[\w\-]+(?:[{_DOTS}][\w\-]+)+")
_DOT = re.compile(f"[{_DOTS}]")
_GENERIC = (
    "com|org|net|info|biz|edu|gov|mil|int|aero|asia|cat|coop|jobs|mobi|museum|name|pro|tel|travel"
    "|app|blog|cloud|club|dev|fun|icu|link|live|news|online|page|shop|site|space|store|tech|top"
    "|vip|web|website|win|work|world|xxx|xyz|zip|onion|example|рф|xn--[a-z0-9-]+"
)
_COUNTRIES = (
    "a[cdefgilmnoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[cegrstu]"
    "|f[ijkmor]|g[abdefghilmnpqrstuwy]|h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]"
    "|l[abcikrstuvy]|m[acdeghklmnopqrstuvwxyz]|n[acefgilopruz]|om|p[aefghklmnrstwy]|qa|r[eosuw]"
    "|s[abcdeghijklmnortuvxyz]|t[cdfghjklmnortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]"
)
_ENDING = re.compile(f"(?:{_GENERIC}|{_COUNTRIES})", re.IGNORECASE)
"""Endings by which programs recognise the name of a host that has no scheme before it."""
_FILE = re.compile("(?:md|py|rs|sh|pl|pm|so|ps|cc|mm|st)", re.IGNORECASE)
"""Endings of countries that files have as well: README.md is a file unless a path follows."""
_RESERVED = re.compile(r"(?:[\w-]+\.)*example\.(?:com|net|org)", re.IGNORECASE)
"""Hosts that stand for any other in manuals and commands, and belong to nobody (RFC 2606)."""
_PATH = re.compile(r"[/?#]\w|:\d")
_SCHEME = re.compile(
    r"\b(?:(?P<web>https?)(?=://)|(?!hxxps?:)[a-z][a-z0-9+]*(?P<other>:)(?=//[^\s`])"
    r"|(?:javascript|vbscript|file|mailto|xmpp|tel|sms)(?P<bare>:)(?=[^\s:\]])(?!//(?:[\s`]|$))"
    # Not "blob:none", an option of Git, nor "patient data:" before what is set in bold.
    r"|blob(?P<blob>:)(?=\w+:|null/)|data(?P<data>:)(?=[\w.+*-]+/|[;,]))",
    re.IGNORECASE,
)
_AT = (
    r"(?:[\w.+-]+@)?(?P<host>\[[0-9a-f:.]+\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?"
    r"(?=[/?#\s\"'`<>|;,)\]}]|\.?(?:\s|$))"
)
"""Whom an address reaches, up to a sign that no name of a host goes on behind."""
_IN_CODE = re.compile(
    r"(?<![^\s\"'`<>|;,=(\[{])(?!(?:javascript|vbscript|data|blob|file):)"
    r"(?:(?P<scheme>(?:[a-z][a-z0-9+]*:)?//)|mailto:)?"
    # Whatever is before an @ or a backslash may be taken for the name of a user.
    rf"{_AT}(?(scheme)(?![^\s/]*[@\\])(?:(?=[/?#])(?:[.~%+,=&?#;*-]|\w++(?!:)|/(?!/))*)?)",
    re.IGNORECASE | re.ASCII,
)
"""An address in a command, up to what could begin another one."""
_LINKED = re.compile(r":(?=//)|(?<=mailto):|(?<=xmpp):|@", re.IGNORECASE)
"""Characters besides dots by which readers of Markdown recognise an address."""
_GOES_ON = r"(?![\w/?#&=%~+@:\-]|\.\w)"
"""What must not follow an address that stands in a text, because it would be a longer one."""


def reveal(text: str) -> str:
    r"""Return a text in which every hidden character is spelt out, as `\u202e`.

    Tabs and line feeds stay.
    """
    return _HIDDEN.sub(_spell, text)


def one_line(text: str, most: int = 0) -> str:
    """Return a text as one line that is safe to show anywhere.

    Args:
        text: Any text.
        most: The most characters; 0: all of them.
    """
    line = reveal(" ".join(text.split()))
    return line if not most or len(line) <= most else line[: most - 1].rstrip() + "…"


def to_json(value: Any, **how: Any) -> str:
    r"""Return a value as JSON in which every hidden character is written as `\u202e`.

    Reading it gives the same value.

    Args:
        value: The value.
        how: `indent` and `sort_keys`, as for `json.dumps`.
    """
    return _HIDDEN_IN_JSON.sub(_spell_in_json, json.dumps(value, ensure_ascii=False, **how))


def _spell(char: re.Match[str]) -> str:
    code = ord(char.group())
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _spell_in_json(char: re.Match[str]) -> str:
    return json.dumps(char.group())[1:-1]


def defuse(text: str, keep: Collection[str] = (), *, code: bool = False) -> str:
    """Return a text whose addresses nobody can follow by accident: hxxps://example[.]com.

    A model may have been told by a document to print an address, so its text must not become a
    link, in whatever the report is shown. Names of hosts are recognised by a scheme, `www`, `@`, a
    path, or an ending.

    Args:
        text: Any text.
        keep: Addresses that stay as they are: those of the sources that the text cites.
        code: Whether it is shown as code, where programs do not turn a name into a link for its
            ending alone: `master.cf` and `product.brand.name` stay as they are. There, addresses
            that lead to nobody stay, too, so that a command can be copied.
    """
    if not (kept := "|".join(sorted(map(re.escape, filter(None, keep)), key=len, reverse=True))):
        return _defuse(text, code)
    pieces = re.split(f"((?:{kept}){_GOES_ON})", text)
    return "".join(
        piece if number % 2 else _defuse(piece, code) for number, piece in enumerate(pieces)
    )


def _defuse(text: str, code: bool) -> str:
    made, start = "", 0
    for found in _IN_CODE.finditer(text) if code else ():
        if is_reserved(found["host"].strip("[]")):
            made += _defuse_piece(text[start : found.start()], code) + found[0]
            start = found.end()
    return made + _defuse_piece(text[start:], code)


def _defuse_piece(text: str, code: bool) -> str:
    return _SCHEME.sub(_defuse_scheme, _rewrite_hosts(text, "[.]", code=code))


def _defuse_scheme(found: re.Match[str]) -> str:
    if web := found["web"]:
        return "hxxp" + web[4:]
    return found.group()[:-1] + "[:]"


def unlink_in_markdown(text: str) -> str:
    """Return Markdown in which no address becomes a link, and which reads as before.

    The characters by which readers of Markdown recognise an address get a backslash.
    """
    return _LINKED.sub(r"\\\g<0>", _rewrite_hosts(text, "\\."))


def _rewrite_hosts(text: str, dot: str, *, code: bool = False) -> str:
    """Return a text with other dots in the names of hosts."""

    def rewrite(found: re.Match[str]) -> str:
        return _DOT.sub(lambda _: dot, found.group()) if _is_host(found, code) else found.group()

    return _DOTTED.sub(rewrite, text)


def _is_host(found: re.Match[str], code: bool) -> bool:
    """Whether programs take a dotted name for that of a host.

    "ended.In" is none: a space is missing there. In code, an ending alone does not make it one.
    """
    text, name = found.string, found.group()
    before = text[max(0, found.start() - 2) : found.start()]
    if before.endswith("@") or before == "//" or name[:4].lower() == "www.":
        return True
    if _RESERVED.fullmatch(name) and not _PATH.match(text, found.end()):
        return False
    if code and not _PATH.match(text, found.end()):
        return False
    ending = _DOT.split(name)[-1]
    if not _ENDING.fullmatch(ending) or (ending.istitle() and not name[0].isupper()):
        return False
    return not _FILE.fullmatch(ending) or bool(_PATH.match(text, found.end()))
