"""Names in a text: runs of capitalised words.

The audit checks that every name of a sentence is in its quotes, and strategies follow names as
leads.
"""

from __future__ import annotations

import re

from deepdiver.core.dates import GAP, MONTHS
from deepdiver.core.numbers import TENS, UNITS
from deepdiver.core.text import STOPWORDS, blocks, part_scripts, sentences, words

_UPPER = "".join(char for char in map(chr, range(0x41, 0x590)) if char.isupper())
"""Capital letters of the Latin, Greek, Cyrillic and Armenian alphabets; other scripts have none."""
_INITIALS = rf"(?:[{_UPPER}]\.){{2,}}|[{_UPPER}]\.(?={GAP}[{_UPPER}])"
_TITLED = rf"(?:Mr|Mrs|Ms|Dr|Prof|Capt|Col|Gen|Gov|Lt|Rev|Sen|Sgt|St)\.(?={GAP}[{_UPPER}])"
_NAME_PART = rf"(?:{_TITLED}|{_INITIALS}|[{_UPPER}][\w’'\-]*)"
_NAME = re.compile(
    rf"\b{_NAME_PART}(?:(?:{GAP}(?:of|de|van|von|der|den|la|le|du|&)){{0,2}}{GAP}{_NAME_PART})*"
)
_INITIAL = re.compile(rf"[{_UPPER}]\.")
_BARE = re.compile(r"[.’']")
_FIRST_WORD = re.compile(r"\w")
_SAID = re.compile(rf"{GAP}[a-z]")
_TITLES = frozenset(
    words(
        "mr mrs ms dr prof professor sir capt captain col gen gov governor lt rev sen senator sgt "
        "mayor director "
        "chair chairman chairwoman minister president"
    )
)
_OPENERS = frozenset(
    words(
        "according although amid among another behind beside besides beyond despite either every "
        "except given "
        "however later like many meanwhile near neither nevertheless several since still though "
        "today tomorrow unlike via whether within without yesterday yet"
    )
)
_IMPERATIVES = frozenset(
    words(
        "add adopt allow apply approve ask assign assume audit avoid begin block bring build buy "
        "call cancel cap change check choose clear close combine compare confirm connect copy "
        "count cover create cut define delete deploy design disable double drill drop edit enable "
        "encrypt end enforce ensure exclude expand expect export extend fetch fix focus follow "
        "force freeze fund gate give guard hire hold import improve include increase install "
        "invest isolate join keep launch leave let limit load log lower make measure merge "
        "migrate monitor move name negotiate notify offer open order pay pilot place plan "
        "prefer prioritise prioritize promote protect publish push put raise read rebuild record "
        "redesign reduce reject remove rename replace require reserve restart restore "
        "restrict retain retire retry review rotate run save schedule search segment send set "
        "share shift show simplify skip split stage start stop store strengthen submit switch "
        "take tell test tie tighten track train treat try tune turn unify unload update upgrade "
        "use verify wait watch write"
    )
)
"""Verbs that open advice: in "Leave Apache alone", they are not part of a name."""
_DAYS = frozenset(
    words(
        "monday tuesday wednesday thursday friday saturday sunday christmas easter thanksgiving "
        "ramadan diwali hanukkah"
    )
)
_NO_NAME = STOPWORDS | _TITLES | _OPENERS | _DAYS | MONTHS.keys() | UNITS.keys() | TENS.keys()
"""Words that may be capitalised before a name without being part of it."""


def names(text: str) -> list[str]:
    """Return the names of a text, each once.

    A word that is capitalised only because it opens a sentence is left out, and so is a letter of
    I/O or I/O-bound.
    """
    text = part_scripts(text)
    found: dict[str, None] = {}
    for unit in sorted([*sentences(text), *(span for span, heading in blocks(text) if heading)]):
        first = _FIRST_WORD.search(text, unit.start, unit.end)
        for match in _NAME.finditer(text, unit.start, unit.end):
            before = text[max(0, match.start() - 1) : match.start()]
            behind = text[match.end() : match.end() + 1]
            if len(match.group().split("-")[0]) == 1 and "/" in (before, behind):
                continue
            opens = (
                before in {'"', "“", "«"}
                or (first is not None and first.start() == match.start())
                or _opens_clause(text[: match.start()], text[match.end() :])
            )
            if name := _name(match.group().split(), opens):
                found.setdefault(name)
    return list(found)


def _opens_clause(before: str, behind: str) -> bool:
    """Whether something is said of what stands behind a colon, as in "How: Run it twice".

    In "Chair: Berg" and "Present: Berg, Lund" a name stands there.
    """
    return before.rstrip(" *").endswith(":") and _SAID.match(behind) is not None


def _name(listed: list[str], opens: bool) -> str:
    """Return the name in a run of capitalised words; empty if there is none.

    A single word that opens a sentence is not a name.
    """
    if opens and len(listed) == 1:
        return ""
    if opens and all(word.lower() in _NO_NAME or word[0].islower() for word in listed[1:]):
        return ""  # Emails of October
    at = int(opens and listed[0].lower() in _IMPERATIVES)
    while (
        at < len(listed)
        and _BARE.split(listed[at].lower())[0] in _NO_NAME
        and not _INITIAL.fullmatch(listed[at])
    ):
        at += 1
    return " ".join(listed[at:]).removesuffix("'s").removesuffix("’s").rstrip("-’'")
