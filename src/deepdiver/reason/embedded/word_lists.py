"""Lists of English words by their part in a sentence: what asks, joins, denies or marks a name.

Everything here is general English; words that occur in only one library do not belong here.
"""

from __future__ import annotations

import re

from deepdiver.core.text import STOPWORDS

PARTICLES = frozenset("out off own after before under over".split())
"""Stop words elsewhere, but here they can carry the answer: the fire is out, who own it."""
SILENT = (STOPWORDS - PARTICLES) | frozenset(
    "please tell find name list give show state many much old kind sort exactly currently "
    "according per cent via several various whether happen happened happens one ones few near "
    "there's that's what's who's".split()
)
"""Words of a question that do not say what to search for."""
ASKING = frozenset("who whom whose what which when where why how".split())
"""Words that ask."""
AUXILIARIES = frozenset(
    "is are was were be been being do does did has have had can could will would shall should may "
    "might must".split()
)
"""Verbs that carry another verb."""
DETERMINERS = frozenset(
    "the a an this that these those its his her their our my your each every any some all "
    "both".split()
)
"""Words that open a noun phrase."""
PREPOSITIONS = frozenset(
    "of in on at by for from to with into onto near about against between during through within "
    "without under over after before since until behind beside along across around among as per "
    "via".split()
)
"""Words that open a phrase for where, when or of what."""
PRONOUNS = frozenset(
    "he she it they we his her hers its their theirs this that these those him them both "
    "such".split()
)
"""Words with which a sentence leans on the one before it."""
NEGATIONS = frozenset(
    "not no never none neither nor nobody nothing cannot can't didn't doesn't don't isn't wasn't "
    "weren't aren't hasn't haven't hadn't won't wouldn't couldn't unable".split()
)
"""Words that negate a sentence."""
DENIALS = frozenset(
    "refuted refutes refute denied denies deny false untrue wrong wrongly incorrect "
    "incorrectly mistaken mistake error errors erroneous hoax debunked disproved disproves "
    "rejected rejects baseless unfounded retracted retracts correction corrected corrects "
    "misreported withdrawn".split()
)
"""Words that deny what their sentence is about."""
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
"""Phrases in which a source says that it does not know something first-hand."""
BOUNDS = frozenset(
    "most least maximum minimum limit allows allowed permits up expects plans planned "
    "expected".split()
)
"""Words near a number that mark it as a bound or a plan, not a fact."""

COMPANY_FORMS = frozenset(
    "ab ltd limited inc incorporated corp corporation llc llp plc gmbh ag kg se sa sas sarl srl "
    "spa nv bv oy oyj as asa aps a/s co kk pty".split()
)
"""Legal forms at the end of companies' names."""
COMPANY_WORDS = frozenset(
    "mutual insurance airlines airways railways motors industries holdings brothers partners "
    "pharma steel".split()
)
"""Words in the names of companies that have no legal form at the end."""
COMPANY_NOUNS = frozenset(
    "company firm corporation business enterprise contractor employer manufacturer "
    "supplier operator subsidiary parent group bank insurer airline brewery publisher "
    "startup shipping".split()
)
"""Nouns for a company in a question."""
BODY_WORDS = frozenset(
    "foundation university institute institution board authority hospital inspectorate council "
    "club association court ministry agency office register service school museum party bank fund "
    "society committee journal annals department union church district police commission "
    "parliament senate congress academy college laboratory centre center bureau federation "
    "organisation organization trust press times post news magazine gazette wire grid guard "
    "cooperative".split()
)
"""Words in the names of institutions."""
PLACE_WORDS = frozenset(
    "lake island islands port river street road county municipality mount mountain city town "
    "village bay sea ocean harbour harbor beach bridge square park valley forest province region "
    "state republic kingdom lighthouse station airport farm reserve".split()
)
"""Words in the names of places."""
PLACE_NOUNS = frozenset(
    "place city town village country region location site seat headquarters capital where".split()
)
"""Nouns for a place in a question."""
ROLES = frozenset(
    "child children son sons daughter daughters parent parents mother father wife husband spouse "
    "brother brothers sister sisters chair chairman chairwoman chairperson president director ceo "
    "manager head founder founders owner owners inventor inventors author authors editor leader "
    "captain minister mayor winner winners person people man woman men women official scientist "
    "scientists researcher researchers employee employees member members successor predecessor "
    "designer architect composer singer actor actress player king queen twins kids couple painter "
    "sculptor builder engineer producer writer poet coach teacher conductor translator".split()
)
"""Nouns for persons."""
GROUPS = frozenset("club team band party orchestra choir crew side squad".split())
"""Nouns for groups whose names look like those of places or persons."""
PLURALS = frozenset("children people men women parents twins kids".split())
"""Plural nouns that an s does not mark, or marks poorly."""
DATE_NOUNS = frozenset("date day year month".split())
AMOUNT_NOUNS = frozenset(
    "number amount share percentage proportion price cost value sum size turnover revenue profit "
    "population area length height weight distance temperature speed duration concentration".split()
)
EXTENTS = frozenset("long far high tall big large deep fast often heavy wide".split())
"""Words after "how" that ask for an amount."""
COMPARING = frozenset(
    "first last earlier earliest later latest older oldest younger youngest larger largest bigger "
    "biggest smaller smallest taller tallest higher highest longer longest more most less fewer "
    "same common better best".split()
)
"""Words that compare two things."""
HEADS = (
    BODY_WORDS
    | PLACE_WORDS
    | frozenset("house isle cape order king queen duke earl battle treaty prize".split())
)
"""Words that "of" joins to the name after it: University of Lind, but not Ada Berg of Morden."""
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
