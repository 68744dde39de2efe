"""Names in the form in which they are compared: words in Latin letters, folded.

Folding removes what the spellings of one name differ in:

Юрий Хрущёв        yuriy khrushchev    iuri hrushev
Youri Khrouchtchev youri khrouchtchev  iuri hrushev
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from deepdiver.tools.osint.sanctions.transliterate import LATIN, SYLLABIC, VOWELLESS, latin, script

LONGEST = 400
"""Characters of a name that are read; the longest in real lists are titles of state bodies with
fewer than 300."""
MOST_WORDS = 16
"""Words of a name that are compared."""

_GLUE = re.compile(r"['’‘ʼʹʺ`´\"“”]")
"""Marks within a word: O'Brien, Igor' (the soft sign)."""
_ABBREVIATED = re.compile(r"\b(?:\w\.){2,}")
"""S.A.R.L., which is one word; in a person's name such letters are initials and stay apart."""
_WORD = re.compile(r"[a-z0-9]+")

HONORIFICS = frozenset(
    "mr mrs ms miss mister madam dr doctor prof professor sir dame lord lady hon gen general col "
    "colonel maj major "
    "capt captain lt lieutenant adm admiral rev hajji haji hadji hajj sheikh shaikh shaykh sheik "
    "mullah mulla maulavi "
    "mawlawi maulana ayatollah president minister".split()
)
"""Titles before a person's name; left out if two words remain."""
PARTICLES = frozenset(
    "al el ul ad ar as an az ibn bin bint ben abu abou umm van von vom der den de del della di da "
    "do dos das du la le "
    "les lo y and und et of the for fuer".split()
)
"""Little words that lists write or leave out as they like."""
GENERIC = frozenset(
    "agency aktiengesellschaft associates association bank business center centre commercial "
    "construction consulting "
    "corporation development engineering enterprise enterprises export factory federal finance "
    "financial foundation "
    "fund general global group holding holdings import industrial industries industry institute "
    "insurance "
    "international invest investment investments logistics management marine maritime national oil "
    "organization "
    "organisation petroleum plant production republic research science scientific services "
    "shipping state steel "
    "technologies technology trade trading transport university".split()
)
"""Words that many organisations have in their names, so that they identify none."""
LEGAL_FORMS = frozenset(
    "company co limited ltd llc llp lp inc incorporated corp corporation plc gmbh ag kg ohg kgaa "
    "aktiengesellschaft se "
    "sa sas sarl sau spa srl sl bv nv oy oyj ab as asa aps ooo oao zao pao ao ojsc cjsc pjsc jsc "
    "fze fzco fzc fzllc "
    "dmcc kft zrt doo ad ead ood eood sro pte pty sdn bhd tbk pt kk ltda limitada eirl sab cv sal "
    "psc wll too tov "
    "chp".split()
)
"""Legal forms in one word, in Latin letters."""
_SPELT_OUT = re.compile(
    r"\b(?:limited liability (?:company|partnership)|(?:public |open |closed )?joint stock company|"
    r"(?:public|private) limited(?: company)?|gesellschaft mit beschr\w+ haftung|societe anonyme"
    r"|sp z o o|sa de cv|"
    r"obshchestvo s ogranichennoy otvetstvennost\w+|"
    r"(?:publichnoe |otkrytoe |zakrytoe )?ak(?:c|ts)ionernoe obshchestvo)\b"
)
"""Legal forms in several words."""
_SPELT_OUT_HAVE = frozenset("liability joint limited haftung societe sp cv obshchestvo".split())
"""Every legal form of several words has one of these; most names have none of them."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, taken apart."""

    text: str
    """As it was written."""
    words: tuple[str, ...]
    """Its words in lower-case Latin letters, without titles and legal forms."""
    script: str = LATIN
    """The script that it was written in."""
    person: bool = True
    """Whether it is read as the name of a person."""

    @property
    def vowelless(self) -> bool:
        """Whether it was written without its vowels."""
        return self.script in VOWELLESS

    @property
    def syllabic(self) -> bool:
        """Whether its words are syllables, which may be one word in Latin letters."""
        return self.script in SYLLABIC


@functools.lru_cache(maxsize=4_096)
def name_of(text: str, person: bool) -> Name:
    """Take a name apart.

    Args:
        text: The name, in any script.
        person: Whether it is the name of a person, with titles and initials, or of an organisation,
            with legal forms.
    """
    seen = text[:LONGEST]
    plain = _GLUE.sub("", latin(seen))
    if not person:
        plain = _ABBREVIATED.sub(lambda found: found[0].replace(".", "") + " ", plain)
    words = _WORD.findall(plain)
    words = _without_title(words) if person else _without_form(words)
    return Name(text, tuple(words[:MOST_WORDS]), script(seen), person)


def _without_title(words: list[str]) -> list[str]:
    while len(words) > 2 and words[0] in HONORIFICS:
        words = words[1:]
    return words


def _without_form(words: list[str]) -> list[str]:
    left = (
        words if _SPELT_OUT_HAVE.isdisjoint(words) else _SPELT_OUT.sub(" ", " ".join(words)).split()
    )
    left = [word for word in left if word not in LEGAL_FORMS]
    return left if any(len(word) > 1 for word in left) else words


def weight(word: str, person: bool) -> float:
    """Return how much a word says about whose name it is."""
    if word in PARTICLES:
        return 0.25
    return 0.4 if not person and word in GENERIC else 1.0


_SOUNDS = dict(
    pair.split(":")
    for pair in (
        "shch:sh chtch:sh tsch:ch sch:sh tch:ch ch:ch dzh:i dj:i tz:s ts:s kh:h gh:g ph:f th:t "
        "dh:d zh:s cz:ch ck:k "
        "ce:se ci:si cy:si c:k x:ks z:s q:k w:v y:i j:i io:e yo:e jo:e gue:ge gui:gi iou:iu you:iu "
        "jou:iu ou:u oo:u "
        "ee:i ae:a oe:o ue:u"
    ).split()
)
"""Spellings of one sound in Latin letters: English, French, German, Polish, and the standards for
Cyrillic."""
_WRITTEN = re.compile("|".join(sorted(_SOUNDS, key=lambda letters: (-len(letters), letters))))
_DOUBLE = re.compile(r"(.)\1+")
_DOUBLE_CONSONANT = re.compile(r"([^aeiouy\W])\1+")


@functools.lru_cache(maxsize=262_144)
def fold(word: str) -> str:
    """Return a word without what spellings differ in: y, i, j; kh, h; ou, u; -off, -ov."""
    if len(word) < 2 or word.isdigit():
        return word
    folded = word
    if word.endswith(("off", "eff", "of")):
        folded = word.rstrip("f") + "v"
    elif word.endswith(("ah", "eh", "ih", "uh")):
        folded = word[:-1]  # Abdullah, Abdulla
    # Before sounds are replaced: Mattsson is Matsson.
    once = _DOUBLE_CONSONANT.sub(r"\1", folded)
    folded = _DOUBLE.sub(r"\1", _WRITTEN.sub(lambda found: _SOUNDS[found[0]], once))
    return folded[1:] if folded.startswith("ie") else folded  # Yevgeny, Evgeny


_VOWELS = str.maketrans("", "", "aeiou")


@functools.lru_cache(maxsize=262_144)
def skeleton(folded: str) -> str:
    """Return the consonants of a word, without a last h, which some write and some do not.

    A word that has only vowels is returned as it is.
    """
    bones = folded.translate(_VOWELS) or folded
    return bones[:-1] if len(bones) > 2 and bones[-1] == "h" else bones
