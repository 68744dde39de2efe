"""Cues by which a reader of English tells what form of answer a question wants."""

from __future__ import annotations

import re

from deepdiver.reason.embedded.language.request import ASKING, AUXILIARIES, COMMANDS

_WORD = re.compile(r"\w+(?:['\-]\w+)*")
_PLURAL = (
    r"(?:(?!(?:was|is|does|has|its|this|us|as|his|hers|always|towards|across|perhaps|lens|news)\b)"
    r"[\w'\-]+[^\Wsui]s|people|children|men|women|staff)"
)
_GRADES = (
    "cheap dear large big small high low long short old young new fast slow early late heavy light "
    "strong weak hard easy safe close near deep wide tall great quick rich poor warm cold hot dry "
    "wet thick thin steep loud quiet clean bright dark soft simple"
).split()
_GRADED = (
    r"(?:more|less|fewer|better|worse|most|least|fewest|best|worst|"
    + "|".join(
        f"{word.removesuffix('e').removesuffix('y')}(?:[a-z])?i?e(?:r|st)" for word in _GRADES
    )
    + ")"
)
_SOURCES = (
    r"(?:sources?|reports?|accounts?|documents?|papers?|studies|authors?|witness(?:es)?|sides?"
    r"|parties"
    r"|statements?|versions?|figures?|values?|numbers?|dates?|both|they|opinions?|scholars|experts?"
    r"|each other|one another)"
)

CUES: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "why": r"^(?:\w+ )?why\b|\bwhy (?:did|does|do|is|are|was|were|has|have|had|the|it|they)\b"
        r"|\bhow come\b",
        "cause": r"\b(?:reasons?|rationale|motives?|grounds|causes?|caused|led to|brought about"
        r"|prompted|behind|made|drove|driving|explanation|explains?|due to|come about)\b",
        "how I": r"\bhow (?:do|does|can|could|should|must|may|would|is|are|was|were) "
        r"(?:i|we|you|one|people|members?|residents?|the|an?|\w+s)\b(?! (?:differ|compare"
        r"|explain))",
        "how to": r"\bhow to\b|\b(?:steps?|procedure|process|instructions?|guide|way|recipe|method)"
        r" (?:to|for|of|by)\b|\bwalk me through\b|\bguide me\b|\bright way\b",
        "passive": r"^how (?:is|are|was|were)\b.*\b(?:\w+ed|made|taken|done|built|written|given)\b",
        "what to do": r"\bwhat (?:do|does|should|must|shall|can|has|have|is|are)\b.{0,40}\b(?:do|"
        r"done"
        r"|supposed to)\b",
        "between": r"\bbetween\b.+\band\b",
        "versus": r"\b(?:vs|versus)\b|\bof the two\b|\bcompar\w+|\bcontrast\w*|\bpros and cons\b"
        r"|\bdistinguish\w*|\bsimilarit\w+",
        "differ": r"\bdiffer(?:s|ence|ences|ent|ently)?\b|\bchanged between\b|\bunlike\b",
        "or": r"\b(?:is|are|was|were|does|do|did|which|who|what|whose|more|less|than)\b.*[\w,] "
        r"or \w",
        "graded": rf"\b{_GRADED}\b",
        "graded than": rf"\b{_GRADED}\b.*\bthan\b",
        "chronology": r"\b(?:timelines?|time line|chronolog\w+|chronicle|sequence|milestones?|"
        r"course of"
        r" events|history|stages?|phases?|schedule|calendar|roadmap|trace|evol\w+|unfold\w*"
        r"|develop\w*"
        r" over|over the years|in order|(?:the|what|which) order|year by year|month by month"
        r"|day by day"
        r"|hour by hour|minute by minute|step by step|season to season|with dates|dates)\b",
        "what when": r"\b(?:what|who|which)\b.*\bwhen\b|\bwhen (?:did|was|were) (?:what|which|"
        r"each)\b"
        r"|\bwhen\b.* and (?:when|\w+ed)\b",
        "happened": r"\b(?:happen(?:ed|s)?|occur(?:red)?|events?|went on|took place)\b",
        "from to": r"\b(?:from|since|between)\b.+\b(?:to|until|till|and)\b",
        "overview": r"\b(?:overview|summar\w+|sum up|gist|introduc\w+|intro|brief(?:ing)?|"
        r"background"
        r"|describe|description|portrait|outline|survey|tell me (?:\w+ )?about|information (?:on"
        r"|about)"
        r"|get me up to speed|explain|write|report on|page (?:on|about)|story|recap|state of)\b",
        "about": r"\babout\??$|\b(?:all|everything) about\b|\bwhat (?:do|does|did|is|"
        r"are)\b.*\b(?:know"
        r"|known|say|like|look like)\b|\bgoing on\b",
        "list": r"^(?:list|name(?! of)|enumerate)\b|\b(?:list of|all the|names of|examples of|"
        r"every\b|each of)"
        rf"|^(?:give|show) me (?:all|the names|every)|^all {_PLURAL}",
        "several": rf"\b(?:which|what) (?:\w+ ){{0,2}}?{_PLURAL}\b|\bwho (?:are|were|else|all|"
        r"has|have)\b"
        r"|\bof (?:our|the|my|your|all) \w+s\b",
        "who": r"^(?:\w+ )?who\b",
        "total": r"\b(?:total|totals|sum|altogether|together|combined|in all|overall|taken together"
        r"|all in all|added up|cumulative|aggregate|both)\b",
        "mean": r"\b(?:average|mean(?! by|t)|median|percent|percentage|share of|proportion|ratio|"
        r"per"
        r"|rate of|on average)\b",
        "how many": r"\bhow (?:many|much)\b|\bnumber of\b",
        "by how much": r"\b(?:by )?how much (?:\w+ )?(?:more|less|larger|higher|lower|longer|"
        r"cheaper"
        r"|did .* (?:rise|fall|grow|increase|decrease|exceed|differ))\b|\bby (?:how much"
        r"|what percentage)"
        r"|\bhow (?:many|much) \w* ?(?:more|fewer|less|longer)\b|\bdifference (?:between|in)\b",
        "span": r"\bhow (?:many|long)\b.*\b(?:days?|weeks?|months?|years?|hours?|minutes?|"
        r"between|open"
        r"|pass(?:ed)?|from|after|before|lie|take|took)\b|\bhow old (?:was|were|is|are|will)\b"
        r"|\btime span\b|\bhow many (?:days|weeks|months|years|hours|minutes)\b",
        "threshold": r"\b(?:more than|less than|fewer than|at least|at most|over|under|above|below"
        r"|before|after) (?:[£$€]\s?)?\d",
        "disagree": r"\b(?:disagree\w*|contradict\w*|conflict\w*|disput\w+|inconsisten\w+|"
        r"discrepanc\w+"
        r"|at odds|opposing|rival|different stories|says? another|tell different)\b"
        r"|\bwho (?:says|claims|states|gives) (?:what|which)\b",
        "agree": rf"\b{_SOURCES}\b.*\b(?:agree(?:ment)?|match|consistent|same|differ(?:s|ent|"
        r"ently)?)\b"
        rf"|\b(?:agree(?:ment)?|match|consistent|(?:give|say|state|name|report) (?:the )?(?:same"
        rf"|different)|different)\b.*\b{_SOURCES}\b|\bdo .* (?:agree|say the same|give the same)\b"
        r"|\bdoes everyone agree\b",
        "meaning": r"\b(?:do|does|did)\b.*\bmean\b|\bmean by\b|\b(?:what .* means|meant|meaning|"
        r"stands? for|defin(?:e|ed|es|ition)|understood by"
        r"|the term|terminology|refers? to)\b",
        "what is a": r"^what(?:'s| is| are) (?:an? )?(?:[\"“']|[\w\-]+(?: [\w\-]+)?(?: "
        r"[\w\-]+)?\W*$)",
        "lookup": r"^(?:(?:in|on|at|to|from|by|under|for|of|until) )?(?:who|whom|whose|when|"
        r"where|which"
        rf"|what) (?!{_PLURAL}\b)",
        "extent": r"\bhow (?:long|old|far|high|tall|big|large|deep|fast|often|heavy|wide|late|"
        r"hot|cold"
        r"|soon|thick|strong)\b",
    }.items()
}
"""What to look for, by name; each is a feature of a question's form."""


def cues_of(text: str) -> frozenset[str]:
    """Return the names of the cues in a question, and how it opens."""
    found = {name for name, pattern in CUES.items() if pattern.search(text)}
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(found | {f"opens with {opening(words)}", f"{_length(words)} words"})


def opening(words: list[str]) -> str:
    """Return the class of a question's first word: the asking word, a helping verb, an order."""
    first = words[0] if words else ""
    if first.partition("'")[0] in ASKING:
        return first.partition("'")[0]
    if first in AUXILIARIES:
        return "a helping verb"
    if first in COMMANDS:
        return "an order"
    later = next((word for word in words[1:3] if word in ASKING), "")
    return "something else" if not later else f"a word before {later}"


def _length(words: list[str]) -> str:
    return "few" if len(words) < 4 else "some" if len(words) < 9 else "many"
