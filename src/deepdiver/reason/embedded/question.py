"""Taking a question apart: what is sought, of whom or what, and which question must be answered first.

"How old are the children of the parents who run Acme Ltd?" becomes three clauses, each of which leaves one place open
that the answer to the one before it fills:

    Which parents run Acme Ltd?  →  Who are the children of the parents?  →  How old are the children?
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from deepdiver.core.text import sentences
from deepdiver.core.values import Day
from deepdiver.reason.embedded.lexicon import (
    AMOUNT_NOUNS,
    ASKING,
    AUXILIARIES,
    COMPANY_NOUNS,
    COMPARING,
    DATE_NOUNS,
    DETERMINERS,
    EXTENTS,
    IRREGULAR,
    PARTICLES,
    PLACE_NOUNS,
    PLURALS,
    PREPOSITIONS,
    ROLES,
    SILENT,
    root,
)
from deepdiver.reason.embedded.reading import Name, Word, read, tokens

LONGEST_QUESTION = 2_000
"""Characters of a question that are looked at: whoever writes more gives material, and the question is at one of its ends."""
MOMENTS = frozenset({"before", "after"})
WINDOWS = {"second": 5, "minut": 30, "hour": 12 * 60, "day": 7 * 24 * 60}
"""How many minutes "a few minutes before" and the like may mean, by root; a day where the question does not say."""
ULTIMATE = frozenset({"ultimate", "ultimately", "topmost"})
MOST_CLAUSES = 4
"""Clauses of one chain; what nests deeper is asked as it stands."""


class Kind(StrEnum):
    """What kind of thing fills the open place."""

    PERSON = "a person"
    COMPANY = "a company"
    PLACE = "a place"
    THING = "a thing"
    DATE = "a date"
    TIME = "a time"
    AMOUNT = "an amount"
    AGE = "an age"
    YES_NO = "a yes or no"
    ACCOUNT = "an account"


VALUES = frozenset({Kind.DATE, Kind.TIME, Kind.AMOUNT, Kind.AGE})
"""Kinds of which one thing has one only: two different ones cannot both be right."""
NAMED = frozenset({Kind.PERSON, Kind.COMPANY, Kind.PLACE, Kind.THING})
"""Kinds that a name answers."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An event before or after which something happened."""

    after: bool
    """Whether what is asked for came after it; else before."""
    keys: tuple[str, ...]
    """Roots of what happened."""
    names: tuple[str, ...]
    """The names in it."""
    minutes: int
    """How far away in time it can have been."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One question, with at most one place that an earlier answer fills."""

    text: str
    """The clause as a question."""
    kind: Kind
    """What is sought."""
    noun: str
    """Root of the noun that names it: farm in "which farm"."""
    keys: tuple[str, ...]
    """Roots of what is said of it: the words without which a sentence does not answer."""
    context: tuple[str, ...]
    """Roots of where, when and of what."""
    names: tuple[str, ...]
    """The names in it."""
    titles: tuple[str, ...]
    """What stands in it between quotation marks."""
    days: tuple[Day, ...]
    """The dates in it."""
    subject: tuple[str, ...] = ()
    """Of a yes-or-no question: the keys before its verb."""
    moment: Moment | None = None
    """The event that it was before or after."""
    hole: str = ""
    """Root of the noun that the answer to the clause before stands for; empty where the clause stands alone."""
    plural: bool = False
    """Whether several are asked for."""
    compares: bool = False
    """Whether it sets the things that it names against each other: which was first, A or B."""
    ultimate: bool = False
    """Whether the relation is to be followed to its end: the ultimate parent."""


Chain = tuple[Clause, ...]
"""Clauses of which each needs the answer to the one before."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question taken apart."""

    question: str
    """What was asked, shortened if endless."""
    chains: tuple[Chain, ...]
    """One for each thing that is asked, in order."""
    whole: Clause
    """The question as one clause, for what no chain catches."""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses, in the order in which they should be looked into, each once."""
        return tuple({clause.text: clause for chain in self.chains for clause in chain}.values())


@functools.lru_cache(maxsize=256)
def analyse(question: str) -> Analysis:
    """Take a question apart."""
    text, titles = _without_titles(_shortened(question))
    parts = _parts(text)
    chains: list[Chain] = []
    for part in parts:
        chain = _chain(part, titles)
        if chains and _elliptic(chain):
            chain = _completed(chain, chains[0])
        chains.append(chain)
    whole = clause_of(text, titles, as_account=True)
    return Analysis(_with_titles(text, titles), tuple(chains), whole)


def _shortened(question: str) -> str:
    text = question.strip()
    if len(text) > LONGEST_QUESTION:
        half = LONGEST_QUESTION // 2
        text = text[:half] if "?" in text[:half] or "?" not in text[-half:] else text[-half:]
    return " ".join(text.split())


# -- titles between quotation marks are one name, whatever words they hold

_TITLE = re.compile(r"[\"“„]([^\"“”„]{8,200})[\"”]")


def _without_titles(text: str) -> tuple[str, tuple[str, ...]]:
    titles = tuple(match[1] for match in _TITLE.finditer(text))
    numbered = iter(range(len(titles)))
    return _TITLE.sub(lambda _: f"Quotedtitle{next(numbered)}", text), titles


def _with_titles(text: str, titles: Sequence[str]) -> str:
    for number, title in enumerate(titles):
        text = text.replace(f"Quotedtitle{number}", f'"{title}"')
    return text


# -- parts: what is asked, one thing at a time

_JOINT = re.compile(
    r",? and (?=(?:(?:on|in|at|by|for|from|to|of|with) )?(?:who|whom|whose|what|which|when|where|why|how)\b)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:please |can you |could you |i want to know |i would like to know |tell me |find out |find |list |give me |show me )+",
    re.IGNORECASE,
)


def _parts(text: str) -> list[str]:
    spans = [span.of(text) for span in sentences(text)] or [text]
    asking = [s for s in spans if s.endswith("?")] or [s for s in spans if _asks(s)] or spans
    parts = [part for sentence in asking[:4] for part in _JOINT.split(_LEAD_IN.sub("", sentence))]
    return [part.strip(" ?.!,;") for part in parts if part.strip(" ?.!,;")][:4] or [text]


def _asks(sentence: str) -> bool:
    first = tokens(sentence[:40])[:2]
    return any(word.text in ASKING for word in first)


def _elliptic(chain: Chain) -> bool:
    """Whether a part leaves its matter to the part before: "and when", "and on what date was the last one removed"."""
    clause = chain[0]
    return len(chain) == 1 and not clause.names and not clause.titles and len(clause.keys) + len(clause.context) <= 3


def _completed(chain: Chain, first: Chain) -> Chain:
    """Give a part the matter of the first part as its context, and the first part's own first questions."""
    clause, before = chain[0], first[-1]
    matter = [t for t in (*before.keys, *before.context, before.noun) if t and t not in clause.keys]
    text = clause.text
    if not clause.keys:
        text = f"{text.rstrip('?')}? {before.text}"
    made = replace(
        clause,
        text=text,
        keys=clause.keys or before.keys,
        context=tuple(dict.fromkeys((*clause.context, *(t for t in matter if t not in (clause.keys or before.keys))))),
        names=before.names,
        titles=before.titles,
        days=clause.days or before.days,
        hole=before.hole,
        moment=before.moment,
    )
    return (*first[:-1], made)


# -- chains: which question comes first

_VERBS = r"\w+ed|held|run|made|built|written|led|won|sold|bought|paid|drawn"
_PARTICIPLE = re.compile(
    rf"the (?P<noun>(?:[\w’'\-]+ ){{0,2}}[\w’'\-]+) (?P<verb>{_VERBS}) by (?P<rest>.+)$", re.IGNORECASE
)
_ROLE = re.compile(
    rf"the (?P<noun>(?:\w+ )?(?:{'|'.join(sorted(ROLES))}))(?: of the board)? (?:of|for) (?P<rest>.+)$", re.IGNORECASE
)
_ASKED_ROLE = re.compile(r"^(?:who|which|what)\b.{0,40}\b(?:is|are|was|were) $", re.IGNORECASE)
_THE = re.compile(r"\bthe ", re.IGNORECASE)


def _chain(part: str, titles: Sequence[str]) -> Chain:
    return tuple(clause_of(text, titles, hole=noun) for text, noun in _unfold(part, MOST_CLAUSES))


def _unfold(text: str, room: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return (question, roots of the noun phrase that the answer before it stands for), the innermost first."""
    if room > 1:
        for find in (_relative, _participle, _role):
            if split := find(text):
                inner, outer, noun = split
                first = _unfold(inner, room - 1)
                rest = _unfold(outer, room - len(first))
                return [*first, (rest[0][0], tuple(word.root for word in tokens(noun))), *rest[1:]]
    return [(text, ())]


def _relative(text: str) -> tuple[str, str, str] | None:
    """Split at the last relative clause: "the firm that built it" becomes "Which firm built it?" and "the firm"."""
    listed = tokens(text)
    for r in range(len(listed) - 2, 1, -1):
        if listed[r].text not in {"that", "who", "which"} or listed[r - 1].text in PREPOSITIONS | AUXILIARIES:
            continue
        j = next((k for k in range(r - 1, max(-1, r - 6), -1) if listed[k].text in DETERMINERS), None)
        if j is None or j == r - 1:
            if not _plural(listed[r - 1].text):
                continue
            j = r - 2
        if j < 0 or any(word.text in AUXILIARIES | ASKING for word in listed[j + 1 : r]) or _asked_in(listed[r + 1 :]):
            continue
        noun = text[listed[j + 1].start : listed[r - 1].end]
        return f"Which {noun} {text[listed[r + 1].start :]}", f"{text[: listed[j + 1].start]}{noun}", noun
    return None


def _asked_in(listed: Sequence[Word]) -> bool:
    """Whether the question itself stands here: "the team that was founded in what year" has nothing to ask first."""
    return any(word.text in ASKING - {"that", "which", "who", "when", "where"} for word in listed) or any(
        one.text in PREPOSITIONS and other.text in ASKING for one, other in zip(listed, listed[1:], strict=False)
    )


def _participle(text: str) -> tuple[str, str, str] | None:
    """Split "the patent held by the firm" into "Which patent is held by the firm?" and "the patent"."""
    for the in reversed(list(_THE.finditer(text))):
        match = _PARTICIPLE.match(text, the.start())
        if match is None or _asked_in(tokens(f"by {match['rest']}")):
            continue
        if not set(match["noun"].lower().split()) & (AUXILIARIES | PREPOSITIONS | DETERMINERS):
            noun = match["noun"]
            verb = "are" if _plural(noun.split()[-1]) else "is"
            inner = f"Which {noun} {verb} {match['verb']} by {match['rest']}"
            return inner, f"{text[: match.start()]}the {noun}", noun
    return None


def _role(text: str) -> tuple[str, str, str] | None:
    """Split "the children of X" into "Who are the children of X?" and "the children", unless it is what is asked."""
    for the in reversed(list(_THE.finditer(text))):
        match = _ROLE.match(text, the.start())
        if match is None or _ASKED_ROLE.match(text[: match.start()]) or _asked_in(tokens(f"of {match['rest']}")):
            continue
        noun = match["noun"]
        end = _end_of_owner(text, match.start("rest"))
        verb = "are" if _plural(noun.split()[-1].lower()) else "is"
        inner = f"Who {verb} {text[match.start() : end].strip()}"
        return inner, f"{text[: match.start()]}the {noun}{text[end:]}", noun
    return None


def _end_of_owner(text: str, start: int) -> int:
    """Return where "Acme Ltd" ends in "Acme Ltd born": behind a name, or before a closing verb."""
    listed = tokens(text[start:])
    end = next((i for i, word in enumerate(listed) if not word.raw[0].isupper()), len(listed))
    if end == 0:  # no name: all of it but a closing verb
        end = len(listed) - 1 if len(listed) > 1 and _verb_form(listed[-1].text) else len(listed)
    return start + listed[end - 1].end if end else len(text)


def _plural(noun: str) -> bool:
    return noun in PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


# -- one clause


def clause_of(text: str, titles: Sequence[str] = (), hole: tuple[str, ...] = (), as_account: bool = False) -> Clause:
    """Take one clause apart."""
    text = text[:1].upper() + text[1:]
    listed = tokens(text)
    kind, noun, skip = (Kind.ACCOUNT, "", frozenset[int]()) if as_account else _sought(listed)
    reading = read(text)
    names = [n for n in reading.names if n.text.lower() not in SILENT and not n.text.startswith("Quotedtitle")]
    left = _telling(listed, skip, names, hole, [(start, end) for _, start, end in reading.days])
    inside = _inside_phrases(listed) | _modifiers(listed, skip, names)
    at = next((i for i, word in enumerate(listed) if i > 1 and word.text in MOMENTS), len(listed))
    moment = _moment(listed, at, left, names)
    span = _window(listed, at)
    keys = tuple(dict.fromkeys(w.root for i, w in left if i not in inside and i < at and i not in span))
    context = tuple(
        dict.fromkeys(w.root for i, w in left if i in inside and w.root not in keys and i < at and i not in span)
    )
    if not keys:
        keys, context = context, ()
    return Clause(
        text=_with_titles(text, titles) + "?",
        kind=kind,
        noun=noun,
        keys=keys,
        context=context,
        names=tuple(name.text for name in names if not moment or name.text not in moment.names),
        titles=tuple(title for number, title in enumerate(titles) if f"Quotedtitle{number}" in text),
        days=tuple(day for day, _, _ in reading.days),
        subject=_before_verb(listed, keys) if kind is Kind.YES_NO else (),
        moment=moment,
        hole=hole[-1] if hole else "",
        plural=any(_plural(word.text) for word in listed[:6] if word.root == noun) or _asks_several(listed),
        compares=_compares(listed, len(names)),
        ultimate=any(word.text in ULTIMATE for word in listed),
    )


def _moment(listed: Sequence[Word], at: int, left: Sequence[tuple[int, Word]], names: Sequence[Name]) -> Moment | None:
    """Read the event behind before or after; a mere date is none."""
    keys = tuple(word.root for i, word in left if i > at)
    if at >= len(listed) or not keys:
        return None
    minutes = next((WINDOWS[listed[i].root] for i in _window(listed, at) if listed[i].root in WINDOWS), 24 * 60)
    behind = tuple(name.text for name in names if name.start > listed[at].start)
    return Moment(listed[at].text == "after", keys, behind, minutes)


def _window(listed: Sequence[Word], at: int) -> range:
    """Return the words just before before or after that say how long: "a few minutes before"."""
    span = range(max(0, at - 3), at) if at < len(listed) else range(0)
    return span if any(listed[i].root in WINDOWS for i in span) else range(0)


def _telling(
    listed: Sequence[Word],
    skip: frozenset[int],
    names: Sequence[Name],
    hole: Sequence[str],
    dated: Sequence[tuple[int, int]],
) -> list[tuple[int, Word]]:
    """Return the words that say something and are neither name nor date, with their places."""
    named = {word.text for name in names for word in tokens(name.text)}
    silent = SILENT | ULTIMATE | (PREPOSITIONS - PARTICLES) | named
    return [
        (i, word)
        for i, word in enumerate(listed)
        if i not in skip
        and word.text not in silent
        and (word.text not in PREPOSITIONS or i == len(listed) - 1)
        and word.root not in hole
        and not word.raw.startswith("Quotedtitle")
        and not any(start <= word.start < end for start, end in dated)
    ]


def _modifiers(listed: Sequence[Word], skip: frozenset[int], names: Sequence[Name]) -> set[int]:
    """Return words that only narrow a noun: holding in "which holding company", ferry in "the ferry Ejdervik"."""
    found = {i for end in skip for i in range(max(0, end - 3), end) if listed[i].text not in ASKING}
    starts = {name.start for name in names}
    return found | {i for i in range(len(listed) - 1) if listed[i + 1].start in starts}


def _compares(listed: Sequence[Word], names: int) -> bool:
    texts = {word.text for word in listed}
    return bool(texts & COMPARING) and names > 1 and bool(texts & {"or", "both", "and", "than"})


def _asks_several(listed: Sequence[Word]) -> bool:
    return len(listed) > 1 and listed[0].text == "who" and listed[1].text in {"are", "were"}


def _inside_phrases(listed: Sequence[Word]) -> frozenset[int]:
    """Return the words that stand inside a phrase opened by a preposition; a closing participle is outside again."""
    inside: set[int] = set()
    within = False
    for i, word in enumerate(listed):
        if word.text in PREPOSITIONS and word.text not in {"to", "as"} | MOMENTS:
            within = i + 1 < len(listed)
        elif word.text in AUXILIARIES | ASKING and word.text not in {"been", "be"}:
            within = False
        if within:
            inside.add(i)
    last = len(listed) - 1
    if last in inside and listed[last - 1].text not in PREPOSITIONS and _verb_form(listed[last].text):
        inside.discard(last)
    return frozenset(inside)


def _verb_form(word: str) -> bool:
    return word in IRREGULAR or word in {"born", "out", "off"} or (word.endswith("ed") and len(word) > 4)


def _before_verb(listed: Sequence[Word], keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of a yes-or-no question that stand before its verb: electric and car in "did an electric car cause"."""
    wanted = list(keys)
    opened = next((i for i, word in enumerate(listed) if word.text in DETERMINERS), 0)
    before: list[str] = []
    for word in listed[opened:]:
        if word.text in DETERMINERS and before:
            return tuple(before[:-1])  # "an electric car cause | the fire": the verb stands before the object's article
        if word.text in PREPOSITIONS and before:
            return tuple(before[:-1]) if len(before) > 1 else tuple(before)
        if word.root in wanted:
            before.append(word.root)
    return tuple(before[:-1]) if len(before) > 1 else ()


def _sought(listed: Sequence[Word]) -> tuple[Kind, str, frozenset[int]]:
    """Return what a clause asks for, the root of the noun that names it, and the words that only say so."""
    texts = [word.text for word in listed]
    asked = next((i for i, text in enumerate(texts) if text in ASKING), None)
    ages = next((i for i, text in enumerate(texts[:6]) if text in {"age", "ages"}), None)
    if ages is not None and (asked is None or asked < ages):
        return Kind.AGE, "age", frozenset({ages})
    if asked is None:
        return (Kind.YES_NO if texts and texts[0] in AUXILIARIES else Kind.ACCOUNT), "", frozenset()
    word = texts[asked]
    following = texts[asked + 1] if asked + 1 < len(texts) else ""
    if word == "how":
        return _how(listed, asked, following)
    if word in {"who", "whom", "whose"}:
        return Kind.PERSON, "person", frozenset()
    if word == "when":
        return Kind.DATE, "date", frozenset()
    if word == "where":
        return Kind.PLACE, "place", frozenset()
    if word == "why":
        return Kind.ACCOUNT, "", frozenset()
    return _which(listed, asked, following)


def _how(listed: Sequence[Word], asked: int, following: str) -> tuple[Kind, str, frozenset[int]]:
    if following == "old":
        return Kind.AGE, "age", frozenset({asked + 1})
    if following in {"many", "much"}:
        noun = listed[asked + 2] if asked + 2 < len(listed) else None
        if noun is None or noun.text in AUXILIARIES | DETERMINERS | PREPOSITIONS:
            return Kind.AMOUNT, "", frozenset({asked + 1})
        counted = following == "many"
        return Kind.AMOUNT, noun.root, frozenset({asked + 1, asked + 2} if counted else {asked + 1})
    if following in EXTENTS:
        return Kind.AMOUNT, "", frozenset()
    return Kind.ACCOUNT, "", frozenset()


def _which(listed: Sequence[Word], asked: int, following: str) -> tuple[Kind, str, frozenset[int]]:
    """Read what stands behind which or what: "which farm supplies", "what is the number of"."""
    start = asked + 1
    if following in AUXILIARIES:  # what is the capital of …
        start = asked + 2
        if start >= len(listed) or listed[start].text not in DETERMINERS:
            return Kind.ACCOUNT, "", frozenset()
        start += 1
    end = _end_of_noun(listed, start)
    if end == start:
        return Kind.ACCOUNT, "", frozenset()
    head = listed[end - 1]
    kind = _kind_of_noun(head.text)
    if kind is Kind.ACCOUNT or (following in AUXILIARIES and kind not in {Kind.DATE, Kind.TIME}):
        return kind, head.root, frozenset()  # what is the capital of: the noun itself must stand in the answer
    return kind, head.root, frozenset({end - 1})


def _kind_of_noun(noun: str) -> Kind:
    single = noun if noun in ROLES | PLURALS else noun.removesuffix("s") if _plural(noun) else noun
    if noun == "time":
        return Kind.TIME
    table = (
        (DATE_NOUNS, Kind.DATE),
        (AMOUNT_NOUNS, Kind.AMOUNT),
        (ROLES, Kind.PERSON),
        (COMPANY_NOUNS | {"companie"}, Kind.COMPANY),
        (PLACE_NOUNS, Kind.PLACE),
        ({"happened", "caused", "reason", "effect", "consequence", "result"}, Kind.ACCOUNT),
    )
    return next((kind for nouns, kind in table if noun in nouns or single in nouns), Kind.THING)


def _end_of_noun(listed: Sequence[Word], start: int) -> int:
    """Return the index behind a noun phrase that begins at start: it ends before the first word that is a verb."""
    end = start
    while end < len(listed) and end - start < 5:
        word = listed[end]
        if word.text in AUXILIARIES | PREPOSITIONS | ASKING:
            return end
        if word.text in DETERMINERS or (word.raw[0].isupper() and end > start):
            return max(start, end - 1) if end - start > 1 or end == start else end
        if end > start and (_verb_form(word.text) or _agrees(listed[end - 1].text, word.text)):
            return end
        end += 1
    return end


def _agrees(noun: str, word: str) -> bool:
    """Whether a word behind a noun may be its verb: exactly one of the two ends in s."""
    return _plural(noun) != (word.endswith("s") and not word.endswith("ss")) and (_plural(noun) or word.endswith("s"))
