"""The words that the embedded reasoner knows.

Roots, words of like meaning, marks of a name, a denial or a rumour.

Everything here is general English. A word that only one library uses has no place in it.
"""

from __future__ import annotations

import functools
import re

from deepdiver.core.text import STOPWORDS, stem

_IRREGULAR = """
made make; won win; sold sell; held hold; built build; paid pay; found find; lost lose; bought buy; gave give;
given give; took take; taken take; wrote write; written write; led lead; began begin; begun begin; rose rise;
risen rise; fell fall; fallen fall; broke break; broken break; grew grow; grown grow; knew know; known know;
saw see; seen see; went go; gone go; came come; sat sit; met meet; sent send; spent spend; struck strike; sank
sink; sunk sink; shot shoot; chose choose; chosen choose; drove drive; driven drive; drew draw; drawn draw;
flew fly; flown fly; fought fight; caught catch; taught teach; left leave; kept keep; meant mean; told tell;
said say; stole steal; stolen steal; threw throw; thrown throw; brought bring; burnt burn; bore bear; hid
hide; hidden hide; dealt deal; understood understand; died die; dying die; children child; people person; men
man; women woman; wives wife; lives life; feet foot; ran run; older old; oldest old;
withdrew withdraw; withdrawn withdraw
"""
IRREGULAR = {word: base for pair in _IRREGULAR.split(";") for word, base in (pair.split(),)}
"""Forms that no ending explains."""

_ENDINGS = (("ation", 5), ("ment", 4), ("anc", 4), ("ence", 4), ("ion", 5), ("er", 3), ("or", 4))
"""Endings that make a noun of a verb, and how many letters must stand before them."""

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
"""Words that may stand for each other in an answer, by the meaning they share."""


@functools.lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Return a lower-case word without its endings, so that install, installed and installation meet."""
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
"""Words whose last letters only look like an ending, or (founded) whose ending tells it from
another word."""


def _by_root() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for meaning, listed in _CONCEPTS.items():
        for word in listed.split():
            found[root(word)] = (*found.get(root(word), ()), meaning)
    found["found"] = found["founded"]
    return found


MEANINGS = _by_root()
"""For each root that has one, its meanings."""


def like(word: str) -> list[str]:
    """Return the words that may stand for a root, for searching."""
    return [
        other
        for meaning in MEANINGS.get(word, ())
        for other in _CONCEPTS[meaning].split()
        if root(other) != word
    ]


PARTICLES = frozenset("out off own after before under over".split())
"""Stop words elsewhere, but here they can carry the answer: the fire is out, who own it."""
SILENT = (STOPWORDS - PARTICLES) | frozenset(
    "please tell find name list give show state many much old kind sort exactly currently "
    "according per cent via "
    "several various whether happen happened happens one ones few near there's that's what's who's".split()
)
"""Words of a question that say nothing about what is looked for."""
ASKING = frozenset("who whom whose what which when where why how".split())
"""Words that ask."""
AUXILIARIES = frozenset(
    "is are was were be been being do does did has have had can could will would shall should may "
    "might must".split()
)
"""Verbs that carry another verb."""
DETERMINERS = frozenset(
    "the a an this that these those its his her their our my your each every any some all both".split()
)
"""Words that open a noun phrase."""
PREPOSITIONS = frozenset(
    "of in on at by for from to with into onto near about against between during through within "
    "without under "
    "over after before since until behind beside along across around among as per via".split()
)
"""Words that open a phrase which says where, when or of what."""
PRONOUNS = frozenset(
    "he she it they we his her hers its their theirs this that these those him them both such".split()
)
"""Words with which a sentence leans on the one before it."""
NEGATIONS = frozenset(
    "not no never none neither nor nobody nothing cannot can't didn't doesn't don't isn't wasn't "
    "weren't aren't "
    "hasn't haven't hadn't won't wouldn't couldn't unable".split()
)
"""Words that turn a sentence round."""
DENIALS = frozenset(
    "refuted refutes refute denied denies deny false untrue wrong wrongly incorrect incorrectly "
    "mistaken mistake "
    "error errors erroneous hoax debunked disproved disproves rejected rejects baseless unfounded "
    "retracted "
    "retracts correction corrected corrects misreported withdrawn".split()
)
"""Words with which a sentence denies what it speaks of."""
HEARSAY = re.compile(
    r"\bfrom memory\b|\brumou?rs?\b|\bi (?:have )?heard\b|\bfriend of a friend\b|\bi (?:was|am) "
    r"told\b"
    r"|\bwas told that\b|\b(?:is|are) said (?:to|that|here)\b|\ballegedly\b|\breportedly\b|\ba "
    r"guess\b"
    r"|\bword has it\b|\bgossip\b|\baccording to people\b"
    r"|\b(?:some|people|many|others|locals|neighbours|neighbors|everybody|everyone|another guy"
    r"|they)\b[^.;:]{0,40}"
    r"\b(?:say|says|said|saying|claim|believe|think|knows?)\b"
)
"""Phrases with which a source says that it does not know for itself."""
BOUNDS = frozenset(
    "most least maximum minimum limit allows allowed permits up expects plans planned expected".split()
)
"""Words near a number which say that it is a bound or a plan and not what was."""

COMPANY_FORMS = frozenset(
    "ab ltd limited inc incorporated corp corporation llc llp plc gmbh ag kg se sa sas sarl srl "
    "spa nv bv oy oyj "
    "as asa aps a/s co kk pty".split()
)
"""Last words of the names of companies."""
COMPANY_WORDS = frozenset(
    "mutual insurance airlines airways railways motors industries holdings brothers partners "
    "pharma steel".split()
)
"""Words in the names of companies that have no form behind them."""
COMPANY_NOUNS = frozenset(
    "company firm corporation business enterprise contractor employer manufacturer supplier "
    "operator subsidiary "
    "parent group bank insurer airline brewery publisher startup shipping".split()
)
"""What a question may call a company."""
BODY_WORDS = frozenset(
    "foundation university institute institution board authority hospital inspectorate council "
    "club association "
    "court ministry agency office register service school museum party bank fund society committee "
    "journal annals "
    "department union church district police commission parliament senate congress academy college "
    "laboratory "
    "centre center bureau federation organisation organization trust press times post news "
    "magazine gazette wire "
    "grid guard cooperative".split()
)
"""Words in the names of bodies."""
PLACE_WORDS = frozenset(
    "lake island islands port river street road county municipality mount mountain city town "
    "village bay sea "
    "ocean harbour harbor beach bridge square park valley forest province region state republic "
    "kingdom "
    "lighthouse station airport farm reserve".split()
)
"""Words in the names of places."""
PLACE_NOUNS = frozenset(
    "place city town village country region location site seat headquarters capital where".split()
)
"""What a question may call a place."""
ROLES = frozenset(
    "child children son sons daughter daughters parent parents mother father wife husband spouse "
    "brother brothers "
    "sister sisters chair chairman chairwoman chairperson president director ceo manager head "
    "founder founders "
    "owner owners inventor inventors author authors editor leader captain minister mayor winner "
    "winners person "
    "people man woman men women official scientist scientists researcher researchers employee "
    "employees member "
    "members successor predecessor designer architect composer singer actor actress player king "
    "queen twins kids "
    "couple painter sculptor builder engineer producer writer poet coach teacher conductor "
    "translator".split()
)
"""Nouns that stand for persons."""
GROUPS = frozenset("club team band party orchestra choir crew side squad".split())
"""Nouns of bodies whose names look like those of places or persons."""
PLURALS = frozenset("children people men women parents twins kids".split())
"""Nouns of several, which no s shows or where the s says little."""
DATE_NOUNS = frozenset("date day year month".split())
AMOUNT_NOUNS = frozenset(
    "number amount share percentage proportion price cost value sum size turnover revenue profit "
    "population area "
    "length height weight distance temperature speed duration concentration".split()
)
EXTENTS = frozenset("long far high tall big large deep fast often heavy wide".split())
"""What may stand behind how and asks for an amount."""
COMPARING = frozenset(
    "first last earlier earliest later latest older oldest younger youngest larger largest bigger "
    "biggest smaller "
    "smallest taller tallest higher highest longer longest more most less fewer same common better "
    "best".split()
)
"""Words that set two things against each other."""
HEADS = (
    BODY_WORDS
    | PLACE_WORDS
    | frozenset("house isle cape order king queen duke earl battle treaty prize".split())
)
"""Words that "of" ties to the name behind it: University of Lind, but not Ada Berg of Morden."""
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
