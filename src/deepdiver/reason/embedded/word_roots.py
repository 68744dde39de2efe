"""Roots of words, and which roots can stand for each other in an answer.

Everything here is general English; words that occur in only one library do not belong here.
"""

from __future__ import annotations

import functools

from deepdiver.core.text import stem

_IRREGULAR = """
made make; won win; sold sell; held hold; built build; paid pay; found find; lost lose; bought buy;
gave give; given give; took take; taken take; wrote write; written write; led lead; began begin;
begun begin; rose rise; risen rise; fell fall; fallen fall; broke break; broken break; grew grow;
grown grow; knew know; known know; saw see; seen see; went go; gone go; came come; sat sit; met
meet; sent send; spent spend; struck strike; sank sink; sunk sink; shot shoot; chose choose; chosen
choose; drove drive; driven drive; drew draw; drawn draw; flew fly; flown fly; fought fight; caught
catch; taught teach; left leave; kept keep; meant mean; told tell; said say; stole steal; stolen
steal; threw throw; thrown throw; brought bring; burnt burn; bore bear; hid hide; hidden hide; dealt
deal; understood understand; died die; dying die; children child; people person; men man; women
woman; wives wife; lives life; feet foot; ran run; older old; oldest old; withdrew withdraw;
withdrawn withdraw
"""
IRREGULAR = {word: base for pair in _IRREGULAR.split(";") for word, base in (pair.split(),)}
"""Irregular forms."""

_ENDINGS = (("ation", 5), ("ment", 4), ("anc", 4), ("ence", 4), ("ion", 5), ("er", 3), ("or", 4))
"""Endings that turn a verb into a noun, and how many letters must precede them."""

_CONCEPTS = {
    "run": "run manage director operate lead head executive",
    "own": "own hold parent subsidiary belong shareholder acquire buy",
    "family": "child son daughter parent mother father kid twin",
    "sibling": "brother sister sibling",
    "marriage": "wife husband spouse marry",
    "birth": "birth age old",
    "start": "founded establish create start launch begin",
    "death": "die death dead kill fatal decease",
    "injury": "injure injury hurt wound casualty",
    "cause": "cause reason due trigger explain",
    "make": "make produce manufacture",
    "supply": "supply deliver provide come",
    "win": "win award prize",
    "seat": "sit member serve seat belong",
    "out": "out extinguish",
    "chair": "chair chairman chairwoman chairperson president",
    "withdraw": "retract withdraw",
    "remove": "remove eliminate",
    "happen": "happen occur event incident",
    "employ": "employ employee staff worker",
    "write": "write author",
    "close": "close shut",
    "rise": "rise increase grow",
    "fall": "fall decrease drop decline reduce",
    "pay": "pay fine charge penalty",
    "live": "live reside home",
    "install": "install supply build erect",
    "measure": "measure content level concentration",
    "length": "long length",
    "height": "high tall height",
    "distance": "far distance",
    "depth": "deep depth",
}
"""Words that may stand for each other in an answer, by their shared meaning."""


@functools.lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Return a lower-case word without its endings: install, installed and installation agree."""
    word = word.removesuffix("'s").removesuffix("'")
    cut = stem(IRREGULAR.get(word, word))
    if word in _OPAQUE or cut in _OPAQUE:
        return word if word in _OPAQUE else cut
    for ending, least in _ENDINGS:
        if cut.endswith(ending) and len(cut) - len(ending) >= least:
            cut = cut[: -len(ending)]
            break
    if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "aeiouls":
        cut = cut[:-1]
    if cut.endswith("y") and len(cut) > 3:
        return cut[:-1] + "i"
    return cut.removesuffix("e") if len(cut) > 3 else cut


_OPAQUE = frozenset(
    "founded foundation person percent water river order number paper matter under over after ever "
    "never other".split()
)
"""Words whose last letters only look like an ending, or (founded) whose ending distinguishes them
from another word."""


def _by_root() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for meaning, listed in _CONCEPTS.items():
        for word in listed.split():
            found[root(word)] = (*found.get(root(word), ()), meaning)
    found["found"] = found["founded"]
    return found


MEANINGS = _by_root()
"""The meanings of each root that has any."""


def synonyms(word: str) -> list[str]:
    """Return the words that may stand for a root, for searching."""
    return [
        other
        for meaning in MEANINGS.get(word, ())
        for other in _CONCEPTS[meaning].split()
        if root(other) != word
    ]
