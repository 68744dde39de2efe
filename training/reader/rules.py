"""Sentences changed by rule, so that a claim differs from its evidence in one word; and statements.

A question with its answer becomes a statement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z]+(?: (?:of |de |van )?[A-Z][a-z]+)*\b")
AUXILIARY = re.compile(
    r"\b(is|was|were|are|has been|have been|had been|can|could|will|would|should|may|must)\b"
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[A-Z0-9])")

MONTHS = (
    "January February March April May June July August September October November December".split()
)
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
COUNTS = (
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred"
).split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth last".split()
UNITS = (
    "kilometres miles metres feet kilometers meters inches centimetres",
    "kilograms pounds tonnes grams ounces milligrams",
    "million billion thousand trillion",
    "seconds minutes hours days weeks months years decades centuries",
    "percent-free percentage-free",
    "dollars euros pounds yen",
    "acres hectares",
    "km mi m ft cm mm",
    "kg lb g mg",
)
OPPOSITES = """
increased decreased / increase decrease / increases decreases / increasing decreasing / rose fell /
rises falls / rising falling / higher lower / highest lowest / high low / more fewer /
greater smaller / larger smaller / largest smallest / longer shorter / longest shortest /
older younger / oldest youngest / better worse / best worst / stronger weaker / faster slower /
earlier later / before after / early late / above below / north south / northern southern /
east west / eastern western / northeast southwest / left right / won lost / wins loses /
accepted rejected / approved rejected / allowed banned / opened closed / gained lost /
success failure / successful unsuccessful / positive negative / male female / men women / boys girls
/ father mother / son daughter / brother sister / husband wife / king queen / public private /
major minor / present absent / alive dead / born died / begins ends / began ended / start end /
joined left / common rare / similar different / possible impossible / legal illegal / known unknown
/ hot cold / hard soft / old new / young old / rich poor / strong weak / safe dangerous / true false
/ agreed refused / supported opposed / supports opposes / favour oppose / inside outside /
upper lower / maximum minimum / majority minority / inhibits promotes / inhibited promoted /
activates inhibits / upregulated downregulated / improves worsens / improved worsened /
effective ineffective / sensitive resistant / benefit harm / prevents causes / protects endangers /
associated unrelated / healthy diseased / urban rural / domestic foreign / exports imports /
buyer seller / bought sold / borrowed lent / victory defeat / ally enemy / guilty innocent /
love hate / loved hated / likes dislikes / happy sad / full empty / awake asleep / sitting standing
/ day night / indoors outdoors / everyone nobody / everything nothing / always never / often rarely
/ usually seldom / all none / both neither / most few / many few / every no / with without /
reduced increased / reduces increases / deaths births
"""
VERBS = """
reduced reduce / increased increase / improved improve / caused cause / showed show / found find /
affected affect / won win / became become / led lead / made make / played play / worked work /
lived live / died die / moved move / started start / ended end / received receive /
published publish / released release / directed direct / wrote write / produced produce /
included include / prevented prevent / supported support / decreased decrease / induced induce /
inhibited inhibit / required require / remained remain / continued continue / married marry /
attended attend / served serve / signed sign / joined join / left leave / took take / gave give /
held hold / began begin / reached reach / used use / reported report / announced announce /
changed change / lost lose / went go / causes cause / reduces reduce / increases increase /
improves improve / leads lead / plays play / lives live / contains contain / includes include /
requires require / means mean / provides provide / shows show / prevents prevent / affects affect /
inhibits inhibit / promotes promote / makes make / takes take
"""
STATES = frozenset("is was were are can could will would should did does do has have had".split())
PARTICIPLE = re.compile(
    r"(?:\w{2,}ed|born|made|built|won|held|known|found|given|taken|written|led|sold|seen|set|used"
    r"|located|called|named|torn|shot|sent|shown|broken|driven|drawn|run|put|begun|lost|paid)$"
)


def _pairs(table: str) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for entry in table.split("/"):
        left, right = entry.split()
        made.setdefault(left, []).append(right)
        made.setdefault(right, []).append(left)
    return made


OPPOSITE = _pairs(OPPOSITES)
ROOT: dict[str, str] = dict(entry.split() for entry in VERBS.split("/"))
OPPOSITE_WORD = re.compile(rf"\b({'|'.join(OPPOSITE)})\b")
VERB = re.compile(rf"(?<=\w )({'|'.join(ROOT)})\b")
FAMILIES = [MONTHS, DAYS, COUNTS, ORDINALS, *(unit.split() for unit in UNITS)]
FAMILY = {word: family for family in FAMILIES for word in family}
FAMILY_WORD = re.compile(rf"\b({'|'.join(FAMILY)})\b")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part.strip() for part in SENTENCE.split(text) if part.strip()]


def number(text: str, chance: random.Random) -> str | None:
    """Return the text with another number or year."""
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    spot = chance.choice(found)
    old = spot.group()
    plain = old.replace(",", "")
    if YEAR.fullmatch(plain) and "," not in old:
        new = str(
            int(plain) + chance.choice([-37, -20, -12, -5, -3, -2, -1, 1, 2, 3, 4, 9, 11, 20])
        )
    elif "." in plain:
        places = len(plain.partition(".")[2])
        new = f"{float(plain) * chance.choice([0.3, 0.5, 0.8, 1.3, 2, 3, 10]):.{places}f}"
    else:
        value = int(plain)
        changed = (
            value + chance.choice([-2, -1, 1, 2, 3, 5, 7, 10])
            if value < 100
            else int(value * chance.choice([0.1, 0.5, 0.8, 0.9, 1.1, 1.5, 2, 10]))
        )
        new = f"{max(changed, 0):,}" if "," in old else str(max(changed, 0))
    return None if new == old else text[: spot.start()] + new + text[spot.end() :]


def family(text: str, chance: random.Random) -> str | None:
    """Return the text with another month, day of the week, number word, ordinal or unit."""
    found = list(FAMILY_WORD.finditer(text))
    if not found:
        return None
    spot = chance.choice(found)
    new = chance.choice(
        [word for word in FAMILY[spot.group()] if word != spot.group() and "-free" not in word]
    )
    return text[: spot.start()] + new + text[spot.end() :]


def opposite(text: str, chance: random.Random) -> str | None:
    """Return the text with a word's opposite: antonyms and quantifiers."""
    found = list(OPPOSITE_WORD.finditer(text))
    if not found:
        return None
    spot = chance.choice(found)
    return text[: spot.start()] + chance.choice(OPPOSITE[spot.group()]) + text[spot.end() :]


def negation(text: str, chance: random.Random) -> str | None:
    """Return the text denied, or no longer denied: "reduced" becomes "did not reduce"."""
    if re.search(r"\b(?:did not|does not|do not|not|never)\b", text):
        return _affirmed(text)
    state, verb = AUXILIARY.search(text), VERB.search(text)
    if state and (verb is None or state.start() <= verb.start()):
        return text[: state.end()] + chance.choice([" not", " not", " never"]) + text[state.end() :]
    if verb is None:
        return None
    now = verb.group().endswith("s") and verb.group() != "was"
    denied = chance.choice(["does not", "does not", "never"] if now else ["did not", "did not"])
    return f"{text[: verb.start()]}{denied} {ROOT[verb.group()]}{text[verb.end() :]}"


def _affirmed(text: str) -> str | None:
    spot = re.search(r"\b(did not|does not|do not) (\w+)\b", text)
    if spot:
        wanted = [past for past, root in ROOT.items() if root == spot.group(2)]
        wanted = [word for word in wanted if word.endswith("s") == (spot.group(1) == "does not")]
        return text[: spot.start()] + wanted[0] + text[spot.end() :] if wanted else None
    made, count = re.subn(r"(?<=\w )(?:not|never) ", "", text, count=1)
    return made if count else None


def name(text: str, names: Sequence[str], chance: random.Random) -> tuple[str, bool] | None:
    """Return the text with another name, and whether the name was the subject."""
    found = [spot for spot in NAME.finditer(text) if spot.group() not in FAMILY]
    if not found:
        return None
    spot, new = chance.choice(found), chance.choice(names)
    if new == spot.group():
        return None
    return text[: spot.start()] + new + text[spot.end() :], spot.start() < 25


EDITS: dict[str, Callable[[str, random.Random], str | None]] = {
    "number": number,
    "family": family,
    "opposite": opposite,
    "negation": negation,
}
"""Edits after which the text contradicts what it said."""


def edit(text: str, chance: random.Random) -> str | None:
    """Return the text with one fact changed, by any rule that fits."""
    for rule in chance.sample(sorted(EDITS), len(EDITS)):
        made = EDITS[rule](text, chance)
        if made:
            return made
    return None


def asked(claim: str) -> str | None:
    """Return a claim as a question: "X was Y." becomes "Was X Y?"."""
    words = claim.rstrip(" .").split()
    for place, word in enumerate(words[:9]):
        if place and word in STATES and word not in ("has", "have", "had", "do", "did", "does"):
            first = (
                words[0] if words[0][1:2].isupper() or len(words[0]) == 1 else _lowered(words[0])
            )
            return " ".join([word.capitalize(), first, *words[1:place], *words[place + 1 :]]) + "?"
    return None


def _lowered(word: str) -> str:
    common = (
        "The A An There It He She They This That These Those In On At Some Many Most All Two Three "
        "People Men Women"
    )
    return word.lower() if word in common.split() else word


def statement(question: str, answer: str) -> str | None:
    """Return a question and its answer as a statement, if a plain rule can make it."""
    asking = question.strip().rstrip(" ?")
    words = asking.split()
    if len(words) < 3 or not answer or len(answer) > 80:
        return None
    answer = answer.strip().rstrip(".")
    lower = [word.lower() for word in words]
    if lower[0] in ("who", "what") and lower[1] in ("is", "was", "are", "were"):
        return _stated(words, 1, answer, "")
    if lower[0] in ("who", "what", "which") and lower[1] not in (
        "do",
        "does",
        "did",
        "can",
        "will",
        "would",
        "has",
    ):
        return _replaced(words, lower, answer)
    if lower[0] in ("when", "where") and lower[1] in ("is", "was", "are", "were"):
        return _stated(
            words, 1, answer, "" if answer.lower().startswith(("in ", "on ", "at ")) else "in "
        )
    if lower[:2] in (["how", "many"], ["how", "much"]) and not STATES & set(lower[2:6]):
        return _sentence([answer, *words[2:]])
    if lower[0] in ("in", "on", "at") and lower[1] in ("what", "which") and len(words) > 5:
        places = [
            place for place, word in enumerate(lower[:6]) if word in ("is", "was", "are", "were")
        ]
        return _stated(words, places[0], answer, f"{lower[0]} ") if places else None
    return None


def _stated(words: list[str], place: int, answer: str, preposition: str) -> str | None:
    """Return "X was built in A" for "when was X built", and "X is A" for "what is X"."""
    rest, state = words[place + 1 :], words[place].lower()
    for spot, word in enumerate(rest):
        if spot and PARTICIPLE.search(word):
            tail = f"{preposition}{answer}" if preposition else ""
            if not preposition:
                return _sentence([answer, state, *rest[spot:]]) if spot == 0 else None
            return _sentence([*rest[:spot], state, *rest[spot:], tail])
    return _sentence([*rest, state, f"{preposition}{answer}"])


def _replaced(words: list[str], lower: list[str], answer: str) -> str | None:
    """Return "A directed X" for "who directed X"."""
    if lower[0] == "who":
        return _sentence([answer, *words[1:]])
    for place in range(1, min(4, len(words))):
        if lower[place] in ("is", "was", "are", "were", "has", "had") or lower[place] in ROOT:
            return _sentence([answer, *words[place:]])
    return None


def _sentence(words: Sequence[str]) -> str:
    text = " ".join(word for word in words if word)
    return text[:1].upper() + text[1:] + "."
