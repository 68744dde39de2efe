"""Report sentences with their quotes, and the same with one small error: what a check must notice.

::

    python training/reader/edits.py build/reader

A sentence of a report is longer than the claims of most sets, joins what several quotes say, and is
worded a little differently. So each item is made of one or two sentences with their evidence:
reworded without a change of meaning and joined, it is supported; with a unit, a direction, a
comparison, a negation, a number or a name changed, or with two of them exchanged, it is refuted;
with an addition, a cause or a certainty that the evidence does not give, it is not supported. The
rules know nothing about the texts but general English words. It reads the files of `prepare.py` and
writes `edits.jsonl.xz` (training) and `edits-held.jsonl.xz` (made from held-out texts, to measure
the effect), in the format described there. A source is named after its edit.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import rules
from data import read
from prepare import FACTUAL, LONGEST, Item, key, write

SEED = 20_263
SUPPORTS, REFUTES, NEUTRAL = 0, 1, 2
FILES = {"items": "edits", "held": "edits-held"}
MOST = {"items": 60_000, "held": 3_000}
"""Pairs of sentences that items are made of."""
PASSAGES = 0.5
"""The share of them that comes from passages; the rest are claims with their evidence."""
SHORTEST, LONGEST_SENTENCE = 35, 260
WEIGHT = 0.8
Edit = Callable[[str, random.Random], str | None]


class Carried(NamedTuple):
    """A sentence and the evidence that supports it."""

    evidence: str
    sentence: str
    title: str
    """A few words about the evidence, as a document's title has them."""


# Words that may stand for each other

SAME = """
increased|rose|grew|went up / decreased|fell|declined|dropped|went down / increase|rise|growth /
decrease|decline|drop / more than|over / less than|under / at least|no less than /
at most|no more than / about|around|roughly|approximately / began|started / ended|finished /
large|big / small|little / because|since|as / in order to|to / such as|like / must|has to|have to /
many|numerous / several|a number of / shows|demonstrates|indicates / showed|demonstrated|indicated /
requires|needs / allows|enables|lets / said|stated / says|states / located|situated / named|called /
important|significant / quickly|rapidly / mainly|mostly|primarily / usually|typically|generally /
often|frequently / rarely|seldom / annually|yearly|every year / daily|every day / weekly|every week
/ monthly|every month / improved|got better / reduced|cut|lowered / reduces|cuts|lowers /
raised|increased / created|made|produced / purchased|bought / nearly|almost / however|but /
although|though|even though / first|initially / help|aid / helps|aids / get|obtain /
received|got / show|demonstrate / use|employ / uses|employs / used|employed / film|movie /
country|nation / company|firm|business / children|kids / whole|entire /
percent|per cent / will not|won't / does not|doesn't / is not|isn't / cannot|can't / did not|didn't
/ may|might|could / possibly|perhaps / worldwide|around the world / before|prior to /
after|following / due to|because of|owing to / best-known|most famous / biggest|largest /
attempted|tried / chose|selected / chosen|selected / included|contained /
includes|contains / lived|resided / died|passed away / married|wed /
published|issued / rather than|instead of / without|with no / fails to|does not / failed to|did not
/ led to|resulted in / leads to|results in / causes|brings about /
caused|brought about / prevents|stops / prevented|stopped / supports|backs / supported|backed
"""
SYNONYMS: dict[str, list[str]] = {}
for _entry in SAME.split("/"):
    _words = [word.strip() for word in _entry.strip().replace("\n", " ").split("|")]
    for _word in _words:
        SYNONYMS.setdefault(_word, []).extend(other for other in _words if other != _word)
AMBIGUOUS = frozenset(
    "over under about around since as to like little first but cut got may".split()
)
"""Words that may replace another but have too many meanings to be replaced."""
SYNONYM = re.compile(
    rf"\b({'|'.join(sorted(map(re.escape, SYNONYMS.keys() - AMBIGUOUS), key=len, reverse=True))})\b"
)
PERCENT = re.compile(r"(?<=\d)(?:%| percent\b| per cent\b)")
ASIDE = re.compile(r" \([^()]{2,60}\)|, which [^,.;]{5,80}(?=[,.])")
OPENING = re.compile(
    r"^(?:In|On|At|By|During|After|Before|Since|For|According to) [^,]{3,40}, (?=\w)"
)
ENDING = re.compile(
    r"(?<=.{60}), (?:which|who|where|including|such as|with|and) [^;]{5,90}(?=\.?$)"
)
FILLER = re.compile(
    r"\b(?:also|very|quite|really|actually|currently|however,|in fact,|then|thus|therefore,) "
)
OPENINGS = (
    "First, ", "Second, ", "In short, ", "For example, ", "In addition, ", "By contrast, ",
    "The evidence is plain: ", "In detail, ", "As noted, ", "Overall, ", "Today, ",
)  # fmt: skip

# Words whose exchange makes a true sentence wrong

UNITS = """
seconds minutes hours days weeks months quarters years decades / second minute hour day week month
quarter year decade / daily weekly monthly quarterly yearly hourly annually / thousand million
billion trillion hundred / kilometres miles metres feet / kilometers miles meters feet inches /
kilograms tonnes grams / dollars euros yen / kW MW GW / KB MB GB TB / milliseconds seconds minutes /
percent times / minor severe / slight serious / small huge / mild severe / brief lengthy /
partial complete / local national global / city country continent / individual team company /
once twice / half double / doubled halved / tripled doubled / morning evening / spring autumn /
summer winter / early late / slightly sharply / gradually suddenly / briefly permanently /
temporary permanent / short-term long-term / part-time full-time
"""
OPPOSITES = """
rose fell / rises falls / rise fall / rising falling / grew shrank / grows shrinks /
growing shrinking / growth decline / increase decrease / increased decreased / increases decreases /
increasing decreasing / raised lowered / raises lowers / raise lower / gain loss / gains losses /
gained lost / improve worsen / improved worsened / improves worsens / improving worsening /
reduce increase / reduced increased / reduces increases / reducing increasing / cut raised /
expanded shrank / expand shrink / expands shrinks / accelerate slow / accelerated slowed / up down /
strengthened weakened / strengthen weaken / strengthens weakens / added removed / add remove /
adds removes / enable prevent / enables prevents / enabled prevented / allow forbid /
allows forbids / allowed forbade / permit prohibit / permits prohibits / include exclude /
includes excludes / included excluded / accept reject / accepts rejects / accepted rejected /
approve reject / approved rejected / support oppose / supports opposes / supported opposed /
win lose / wins loses / won lost / start stop / starts stops / started stopped / open close /
opens closes / opened closed / buy sell / buys sells / bought sold / import export /
imports exports / imported exported / create destroy / creates destroys / created destroyed /
succeed fail / succeeded failed / succeeds fails / success failure / protects endangers /
protect endanger / protected endangered / attract repel / attracts repels / high low /
highly barely / strong weak / strongly weakly / fast slow / quickly slowly / cheap expensive /
easy difficult / easily hardly / simple complex / safe unsafe / useful useless / possible impossible
/ likely unlikely / successful unsuccessful / effective ineffective / efficient inefficient /
stable unstable / reliable unreliable / sufficient insufficient / necessary unnecessary /
available unavailable / able unable / legal illegal / regular irregular / direct indirect /
dependent independent / public private / internal external / positive negative / optional mandatory
/ required optional / automatic manual / automatically manually / common rare / popular unpopular /
similar different / present absent / first last / oldest newest / new old / old young /
before after / above below / inside outside / north south / northern southern / east west /
eastern western / left right / with without / joined left / arrived departed / born died /
married divorced / hired fired / built demolished / remembers forgets / loves hates / loved hated /
always never / often rarely / usually rarely / frequent occasional / everyone nobody /
both neither / advantage disadvantage / benefit drawback / benefits drawbacks / ally enemy /
supply demand / client server / buyer seller / teacher student / parent child / cause effect /
minimum maximum / majority minority / upper lower / front back / top bottom / day night
"""
COMPARISONS = """
more than|less than / more than|fewer than / over|under / at least|at most / larger|smaller /
larger than|smaller than / greater|smaller / higher|lower / highest|lowest / better|worse /
best|worst / faster|slower / older|younger / oldest|youngest / longer|shorter / longest|shortest /
earlier|later / cheaper|dearer / stronger|weaker / more|less / more|fewer / most|least /
largest|smallest / biggest|smallest / closer|farther / harder|easier / richer|poorer /
heavier|lighter / wider|narrower / deeper|shallower / unlike|like / before|after /
up to|at least / less than|more than / as well as|but not / exceeded|fell short of /
above|below / rather than|as well as / the same as|different from / similar to|unlike
"""
NEGATIONS = """
all|no / some|no / any|no / many|no / several|no / always|never / a|no / can|cannot /
has a|lacks a / has the|lacks the / has a|has no / have a|have no / have the|lack the / had a|had no
/ with|without / and|but not / must|need not / needs|does not need / requires|does not require /
uses|does not use /
supports|does not support / includes|leaves out / include|leave out / provides|does not provide /
enough|not enough / yet|no longer / still|no longer / already|not yet / zero|several / both|neither
/ is|is no longer / are|are no longer / none|all /
without|with / never|always / cannot|can / lacks|has / fails to|manages to /
failed to|managed to / neither|both / nobody|everybody / nothing|everything / refused to|agreed to /
unable to|able to / no longer|still / instead of|along with / except|including / only|not only
"""
CERTAINTIES = """
may|will / might|will / could|will / can|must / may|does / could|did / should|must /
possible|certain / possibly|certainly / probably|certainly / perhaps|certainly / suggests|proves /
suggested|proved / suggest|prove / indicates|proves / appears to|is known to /
seems to|is known to / about|exactly /
around|exactly / approximately|exactly / estimated|measured / nearly|exactly / often|always /
usually|always / generally|always / likely|certain / planned|completed / plans to|has begun to /
proposed|adopted / considered|decided on / expected to|certain to / hopes to|is going to /
tried to|managed to / aims to|manages to / believed|knew / believes|knows / think|know /
was accused of|was guilty of / potential|actual / can|always does / recommended|required /
sometimes|always / in part|entirely / partly|entirely / up to|exactly
"""
QUANTIFIERS = """
some|all / many|all / most|all / several|all / a few|all / some|most / many|most / few|many /
two|all / one of the|the only / a number of|all / much of|all of / part of|all of / half of|all of /
the first|the only / a|every / some|only / often|always / almost all|all / mostly|only / mainly|only
/ many|few / most|few / several|one / one|several / a|several / some|none
"""


def _table(text: str, separator: str | None, both: bool) -> dict[str, list[str]]:
    """Return what may replace each word, of one side or of both."""
    made: dict[str, list[str]] = {}
    for entry in text.replace("\n", " ").split("/"):
        words = [word.strip() for word in entry.split(separator)]
        for place, word in enumerate(words):
            others = [other for other in words if other != word]
            if others and (both or place == 0):
                made.setdefault(word, []).extend(others)
    return made


def _replacing(table: dict[str, list[str]]) -> Edit:
    """Return an edit that replaces one of a table's words."""
    known = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w'-])({known})(?![\w'-])")

    def edit(text: str, chance: random.Random) -> str | None:
        found = list(pattern.finditer(text))
        if not found:
            return None
        # A rare word of the table says more about the sentence than "a", "and" or "with".
        long = [spot for spot in found if len(spot.group()) > 3]
        spot = chance.choice(long if long and chance.random() < 0.8 else found)
        return text[: spot.start()] + chance.choice(table[spot.group()]) + text[spot.end() :]

    return edit


def swapped_numbers(text: str, chance: random.Random) -> str | None:
    """Return the text with two of its numbers exchanged."""
    return _swapped(text, list(rules.NUMBER.finditer(text)), chance)


def swapped_names(text: str, chance: random.Random) -> str | None:
    """Return the text with two of its names exchanged."""
    return _swapped(text, names_in(text), chance)


def _swapped(text: str, found: Sequence[re.Match[str]], chance: random.Random) -> str | None:
    """Return the text with two different spots exchanged, unless only a list joins them."""
    pairs = [
        (one, other)
        for place, one in enumerate(found)
        for other in found[place + 1 :]
        if one.group() != other.group()
        and len(re.findall(r"\w+", text[one.end() : other.start()])) >= 2
    ]
    if not pairs:
        return None
    one, other = chance.choice(pairs)
    between = text[one.end() : other.start()]
    return text[: one.start()] + other.group() + between + one.group() + text[other.end() :]


def names_in(text: str) -> list[re.Match[str]]:
    """Return the names of a text that do not only begin it."""
    found = re.finditer(r"\b[A-Z][\w&-]*(?: (?:of |de |the )?[A-Z][\w&-]*)*", text)
    return [
        spot
        for spot in found
        if (spot.start() or " " in spot.group() or spot.group()[1:2].isupper())
        and spot.group() not in rules.FAMILY
        and spot.group() not in COMMON_OPENINGS
    ]


COMMON_OPENINGS = frozenset(
    "The A An In On At It He She They This That These Those I We You There But And Or If As For "
    "His Her Its Their Some Many Most All One Two When While After Before During By With To Of "
    "No".split()
)
REFUTING: dict[str, Edit] = {
    "unit": _replacing(_table(UNITS, None, both=True)),
    "direction": _replacing(_table(OPPOSITES, None, both=True)),
    "comparison": _replacing(_table(COMPARISONS, "|", both=True)),
    "negated": rules.negation,
    "negation": _replacing(_table(NEGATIONS, "|", both=False)),
    "number": rules.number,
    "family": rules.family,
    "numbers": swapped_numbers,
    "names": swapped_names,
}
"""Edits after which the evidence refutes the sentence."""
CHANCES = {
    "unit": 6, "direction": 6, "comparison": 6, "negated": 2, "negation": 2, "number": 1,
    "family": 1, "numbers": 8, "names": 3,
}  # fmt: skip
"""How often an edit is tried first: more for those that the reader misses."""
OVERSTATING: dict[str, Edit] = {
    "certainty": _replacing(_table(CERTAINTIES, "|", both=False)),
    "quantifier": _replacing(_table(QUANTIFIERS, "|", both=False)),
}
"""Edits after which the evidence no longer supports the sentence: whether it refutes it depends."""


def refuted(text: str, chance: random.Random) -> tuple[str, str] | None:
    """Return the text with one fact changed, and the name of the edit."""
    order = sorted(REFUTING)
    for name in sorted(order, key=lambda name: -(chance.random() ** (1 / CHANCES[name]))):
        made = REFUTING[name](text, chance)
        if made and made != text:
            return made, name
    return None


def overstated(text: str, chance: random.Random) -> tuple[str, str] | None:
    """Return the text with more certainty or a larger share than it had."""
    for name in chance.sample(sorted(OVERSTATING), len(OVERSTATING)):
        made = OVERSTATING[name](text, chance)
        if made and made != text:
            return made, name
    return None


def reworded(text: str, chance: random.Random) -> str:
    """Return the text in slightly other words, with the same meaning or a little less of it."""
    for pattern, share in ((ASIDE, 0.5), (OPENING, 0.3), (FILLER, 0.5), (ENDING, 0.15)):
        if chance.random() < share:
            text = pattern.sub("", text, count=1)
    text = PERCENT.sub(chance.choice(["%", " percent"]), text)
    for _ in range(chance.randint(0, 3)):
        found = list(SYNONYM.finditer(text))
        if found:
            spot = chance.choice(found)
            new = chance.choice(SYNONYMS[spot.group()])
            text = text[: spot.start()] + new + text[spot.end() :]
    return text[:1].upper() + text[1:]


# Sentences of two parts

JOINS = (", and ", ", and ", "; ", ", while ", ", whereas ", ", but ", ". ", ", and also ")
CAUSES = (
    " because ", ", so that ", ", which is why ", ", and as a result ", ", since ",
    " thanks to the fact that ",
    ", and for that reason ", " in order that ",
)  # fmt: skip
SAYING = ("{} says that {}", "According to {}, {}", "{} reports that {}", "{} argues that {}")


def bare(text: str) -> str:
    """Return a sentence without the mark at its end."""
    return text.rstrip(" .;:")


def lowered(text: str) -> str:
    """Return a sentence as it stands inside another."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first in COMMON_OPENINGS - {"I"} else text


def both(one: str, other: str, joint: str) -> str:
    """Return two sentences as one."""
    return f"{bare(one)}{joint}{bare(other) if joint == '. ' else lowered(bare(other))}."


def exchanged(one: str, other: str, chance: random.Random) -> tuple[str, str, str] | None:
    """Return two sentences with a number or a name of each in the other, and what was exchanged."""
    kinds: list[tuple[str, Callable[[str], list[re.Match[str]]]]] = [
        ("numbers", lambda text: list(rules.NUMBER.finditer(text))),
        ("names", names_in),
    ]
    chance.shuffle(kinds)
    for kind, found in kinds:
        here = [spot for spot in found(one) if spot.group() not in other]
        there = [spot for spot in found(other) if spot.group() not in one]
        if here and there:
            left, right = chance.choice(here), chance.choice(there)
            return (
                one[: left.start()] + right.group() + one[left.end() :],
                other[: right.start()] + left.group() + other[right.end() :],
                kind,
            )
    return None


TAIL = re.compile(
    r"(?:, (?:which|who|and|but|so) "
    r"| (?:because|although|so that|in order to|until|unless|despite) "
    r"| (?:at|for|by|with|without|through|under|since|before|after) (?:the|a|an|no|all|its|their) )"
    r"[^,.;]{8,70}(?=\.?$)"
)


class Maker:
    """Makes the items of sentences that their evidence carries."""

    def __init__(self, carried: Sequence[Carried], names: Sequence[str]) -> None:
        """Take the sentences, and names that speakers may have."""
        self.chance = random.Random(SEED)  # noqa: S311
        self.carried = carried
        self.names = names
        self.tails = [spot.group() for one in carried if (spot := TAIL.search(one.sentence))]
        self.items: list[Item] = []
        self.seen: set[tuple[str, str]] = set()

    def add(
        self, evidence: str, claim: str, label: int, source: str, *, unsure: bool = False
    ) -> None:
        """Add an item, once; an unsure one teaches only that the claim is not supported."""
        claim = claim[:1].upper() + claim[1:]
        if self.chance.random() < 0.08:
            claim = self.chance.choice(OPENINGS) + lowered(claim)
        if len(evidence) + len(claim) > LONGEST or (evidence, claim) in self.seen:
            return
        self.seen.add((evidence, claim))
        self.items.append(["v", evidence, claim, label, int(unsure), WEIGHT, f"edits.{source}"])

    def quote(self, one: Carried) -> str:
        """Return evidence as the reader sees it: mostly with a title before it."""
        return f"{one.title}. {one.evidence}" if self.chance.random() < 0.7 else one.evidence

    def single(self, one: Carried, beside: str) -> None:
        """Make the items of one sentence.

        Args:
            one: The sentence.
            beside: Other evidence, which may stand before or after its own.
        """
        chance, shown = self.chance, self.quote(one)
        if chance.random() < 0.35:
            shown = " ".join(chance.sample([shown, beside], 2))
        text = reworded(one.sentence, chance)
        self.add(shown, text, SUPPORTS, "same")
        changed = refuted(text, chance)
        if changed:
            self.add(shown, changed[0], REFUTES, changed[1])
        more = overstated(text, chance)
        if more:
            self.add(shown, more[0], NEUTRAL, more[1], unsure=True)
        if chance.random() < 0.4 and self.tails:
            tail = chance.choice(self.tails)
            if key(tail) not in key(shown):
                self.add(shown, f"{bare(text)}{bare(tail)}.", NEUTRAL, "addition")
        if chance.random() < 0.25:
            self.speak(one, text)

    def speak(self, one: Carried, text: str) -> None:
        """Make items about who said something: right, wrong, and invented."""
        chance = self.chance
        speaker, other = chance.sample(self.names, 2)
        said = chance.choice(SAYING).format
        quoted = chance.choice(
            [
                f"{speaker}: {one.evidence}",
                f'"{one.evidence}" {speaker} said.',
                f"{speaker}. {one.evidence}",
            ]
        )
        inside = lowered(bare(text))
        self.add(quoted, said(speaker, inside) + ".", SUPPORTS, "speaker")
        self.add(quoted, said(other, inside) + ".", REFUTES, "speaker")
        if chance.random() < 0.5:
            self.add(one.evidence, said(other, inside) + ".", NEUTRAL, "speaker")

    def pair(self, one: Carried, other: Carried, stranger: Carried) -> None:
        """Make the items of two sentences that are joined.

        Args:
            one: A sentence.
            other: Another one, mostly of the same text.
            stranger: A third one, which the evidence of these two does not support.
        """
        chance = self.chance
        left, right = self.quote(one), self.quote(other)
        shown = " ".join(
            chance.sample([left, right], 2) if chance.random() < 0.3 else [left, right]
        )
        x, y = reworded(one.sentence, chance), reworded(other.sentence, chance)
        joint = chance.choice(JOINS)
        self.add(shown, both(x, y, joint), SUPPORTS, "both")
        if chance.random() < 0.5:
            self.add(chance.choice([left, right]), both(x, y, joint), NEUTRAL, "half")
        first = chance.random() < 0.5
        changed = refuted(x if first else y, chance)
        if changed:
            parts = (changed[0], y) if first else (x, changed[0])
            wrong = both(*parts, joint)
            self.add(shown, wrong, REFUTES, changed[1])
            if chance.random() < 0.5:
                self.add(left if first else right, wrong, REFUTES, changed[1])
        more = overstated(x if first else y, chance)
        if more and chance.random() < 0.5:
            parts = (more[0], y) if first else (x, more[0])
            self.add(shown, both(*parts, joint), NEUTRAL, more[1], unsure=True)
        traded = exchanged(x, y, chance)
        if traded:
            self.add(shown, both(traded[0], traded[1], joint), REFUTES, f"traded {traded[2]}")
        if chance.random() < 0.4:
            self.add(shown, both(x, y, chance.choice(CAUSES)), NEUTRAL, "cause")
        if chance.random() < 0.3 and key(stranger.sentence) not in key(shown):
            self.add(shown, both(x, stranger.sentence, joint), NEUTRAL, "addition")


def headline(passage: str, chance: random.Random) -> str:
    """Return a few words of a passage as a title."""
    words = re.findall(r"[\w'&-]+", passage)
    at = chance.randrange(max(1, len(words) - 8))
    return " ".join(word[:1].upper() + word[1:] for word in words[at : at + chance.randint(2, 7)])


def of_passages(items: Iterable[Item], chance: random.Random) -> list[list[Carried]]:
    """Return the sentences of each passage, each with one to three sentences as its evidence."""
    made = []
    for passage in sorted({item[2] for item in items if item[0] == "a"}):
        found = [
            text
            for text in rules.sentences(passage)
            if SHORTEST < len(text) < LONGEST_SENTENCE and text[-1] == "."
        ]
        title = headline(passage, chance)
        if len(found) < 2:
            continue
        group = []
        for place in sorted(chance.sample(range(len(found)), min(4, len(found)))):
            first = max(0, place - chance.choice([0, 0, 1]))
            evidence = " ".join(found[first : place + 1 + chance.choice([0, 0, 1])])
            group.append(Carried(evidence, found[place], title))
        made.append(group)
    return made


def of_claims(items: Iterable[Item], chance: random.Random) -> list[list[Carried]]:
    """Return claims that their evidence supports, by evidence."""
    made: dict[str, list[Carried]] = {}
    for item in items:
        if (
            item[0] == "v"
            and item[3] == SUPPORTS
            and item[-1].startswith((*FACTUAL, "summedits"))
            and SHORTEST - 10 < len(item[2]) < LONGEST_SENTENCE
            and len(item[1]) < LONGEST - 400
        ):
            sentence = f"{bare(item[2])}."
            group = made.setdefault(item[1], [])
            group.append(Carried(item[1], sentence, headline(item[1], chance)))
    return list(made.values())


def edits(items: Sequence[Item], most: int) -> list[Item]:
    """Return the items."""
    chance = random.Random(SEED)  # noqa: S311
    passages, claims = of_passages(items, chance), of_claims(items, chance)
    chance.shuffle(passages)
    chance.shuffle(claims)
    names = sorted(
        {
            spot.group()
            for group in passages[:4_000]
            for one in group
            for spot in names_in(one.sentence)
            if 1 < len(spot.group().split()) < 4
        }
    )
    everything = [one for group in (*passages, *claims) for one in group]
    maker = Maker(everything, names)
    for groups, count in (
        (passages, int(PASSAGES * most)),
        (claims, most - int(PASSAGES * most)),
    ):
        for place in range(min(count, len(groups))):
            group, next_group = groups[place], groups[(place + 1) % len(groups)]
            # Sentences with numbers are rarer here than in reports.
            counting = [each for each in group if rules.NUMBER.search(each.sentence)]
            one = chance.choice(counting if counting and chance.random() < 0.5 else group)
            stranger = chance.choice(next_group)
            others = [each for each in group if each.sentence != one.sentence]
            chance.shuffle(others)
            # Two quotes of a report are mostly about one matter, often from one source.
            second = others.pop() if others and chance.random() < 0.8 else stranger
            maker.single(one, stranger.evidence)
            maker.pair(one, second, others.pop() if others else chance.choice(everything))
    return maker.items


def main(arguments: list[str]) -> int:
    """Make the files."""
    folder = Path(arguments[0])
    for source, target in FILES.items():
        made = edits(read(folder / f"{source}.jsonl.xz"), MOST[source])
        mark = write(folder / f"{target}.jsonl.xz", made)
        sys.stdout.write(f"{target}: {len(made):,} items {mark}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
