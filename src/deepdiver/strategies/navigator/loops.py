"""Noticing that a hunt goes in circles, and the ways out of it.

Rules, so that they can be foreseen and told.

A hunt goes in circles if a query or address comes again (whatever the order of its words, whoever
names the page), if so many steps brought no new finding, or if so many did not raise the
confidence. The ways out are taken in one order, each once until something comes of it: ask in other
words, ask for one part alone, follow a lead that was stored, and last hand over to the person. The
reasoner is told and may choose the words; if it repeats itself all the same, what is done is chosen
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from deepdiver.core.text import STOPWORDS, terms, words
from deepdiver.core.values import names
from deepdiver.strategies.shared.look import query_of_lead
from deepdiver.tasks import NextAction
from deepdiver.tools.address import canonical

BARREN = 3
"""Steps without a new finding after which a hunt is stuck: two may be bad luck with words."""
LEVEL = 6
"""Steps after which a confidence that has not risen is not going to, although findings still come
in."""
LONGEST_QUERY = 200
"""Characters of a query."""
CRAWL, HAND_OVER = "crawl_url", "send_to_hitl"
SEARCH = "search_"
GOOGLE = ("search_google", "search_serper", "search_serpapi")
"""Three ways to the same results: who asks for one that is not set up gets another."""
_ADDRESS = re.compile(r"\S*://\S*|\bwww\.\S*", re.IGNORECASE)


class Way(StrEnum):
    """A way out of a circle."""

    REFRAME = "reframe"
    """Ask for the same in other words."""
    NARROW = "narrow"
    """Ask for one part of the question alone."""
    LEAD = "lead"
    """Follow something that was met on the way and left aside."""
    HUMAN = "human"
    """Hand over, with what is missing."""


LADDER = tuple(Way)
"""The ways out in their order."""
ADVICE = {
    Way.REFRAME: "reframe the query: ask for the same in other words",
    Way.NARROW: "narrow it down: ask for one part of the question alone",
    Way.LEAD: "try a stored lead or an address that nobody has read",
    Way.HUMAN: "hand over to the person with what is missing",
}


@dataclass(frozen=True, slots=True)
class PastStep:
    """A step, as far as circles are concerned."""

    key: str
    """What was done, as `key_of` writes it."""
    found: int
    """New findings that it brought."""
    confidence: float
    """What the evidence was worth afterwards."""
    way: str = ""
    """The way out that it was, if it was one."""


@dataclass(frozen=True, slots=True)
class Impasse:
    """A circle, and what is left to get out of it."""

    why: str
    """What was noticed."""
    ways: tuple[Way, ...]
    """What was not tried since, in its order; the last is always the person."""

    @property
    def advice(self) -> str:
        """What was noticed and what to do, in words."""
        return f"{self.why}; {ADVICE[self.ways[0]]}"


def key_of(action: str, query_or_url: str) -> str:
    """Return what two equal steps share.

    The tool, and the words in any order and form, or the page.
    """
    if action == CRAWL:
        return f"{CRAWL} {canonical(query_or_url)}"
    told = sorted(set(terms(query_or_url))) or sorted(set(words(query_or_url)))
    return f"{action} {' '.join(told)}"


def detect_loop(made: Sequence[PastStep]) -> Impasse | None:
    """Return the circle in which the last steps go, if they do."""
    barren, level = _count_barren(made), _count_level(made)
    if barren >= BARREN:
        return Impasse(f"the last {barren} steps brought nothing new", _ways_left(made[-barren:]))
    if level >= LEVEL:
        return Impasse(f"the confidence has not risen for {level} steps", _ways_left(made[-level:]))
    return None


def reject_choice(made: Sequence[PastStep], why: str, first: Way = Way.REFRAME) -> Impasse:
    """Return what is left instead of a choice that cannot be taken."""
    return Impasse(why, _ways_left(made[len(made) - _count_barren(made) :], first))


def _ways_left(stretch: Sequence[PastStep], first: Way = Way.REFRAME) -> tuple[Way, ...]:
    """Return the ways behind the furthest that was tried.

    One that was passed over had nothing to offer.
    """
    tried = [LADDER.index(Way(step.way)) + 1 for step in stretch if step.way]
    return LADDER[max((LADDER.index(first), *tried)) :] or LADDER[-1:]


def _count_barren(made: Sequence[PastStep]) -> int:
    """Count the last steps that brought nothing new."""
    return next((n for n, step in enumerate(reversed(made)) if step.found), len(made))


def _count_level(made: Sequence[PastStep]) -> int:
    """Count the steps since the confidence was last higher than ever before."""
    best, since = 0.0, len(made)
    for number, step in enumerate(made):
        if step.confidence > best:
            best, since = step.confidence, len(made) - number - 1
    return since


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done next."""

    action: str
    """A tool's name, or send_to_hitl."""
    query_or_url: str = ""
    """What for."""
    reasoning: str = ""
    """Why."""
    by: str = "rule"
    """Who decided: the reasoner, or a rule."""
    way: str = ""
    """The way out of a circle that it is, if it is one."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is checked against, and what ways out are made of."""

    question: str
    """What the person asked."""
    problems: tuple[str, ...]
    """The parts of it."""
    open: tuple[str, ...]
    """Those without an answer."""
    unsearched: tuple[str, ...]
    """Those for which nobody has searched either."""
    searches: tuple[str, ...]
    """Names of the search tools; the first is taken where nobody says."""
    addresses: tuple[str, ...]
    """Pages that may be read and were not, under their labels U1, U2, …"""
    leads: tuple[tuple[str, str], ...]
    """What was met and not followed: kind and text."""
    known: tuple[str, ...]
    """Statements that are known."""
    keys: frozenset[str]
    """What was done, in this pass and before."""
    begun: bool
    """Whether a step was taken in this pass."""


def check_choice(
    said: NextAction | None, at: Situation, made: Sequence[PastStep]
) -> Choice | Impasse:
    """Return the reasoner's choice, or why it cannot be taken and what is left instead."""
    choice = _take_choice(said, at)
    if isinstance(choice, Choice):
        return choice
    missed = (
        said is not None and said.next_action.strip().lower() == HAND_OVER and bool(at.unsearched)
    )
    return reject_choice(made, choice, Way.NARROW if missed and at.begun else Way.REFRAME)


def _take_choice(said: NextAction | None, at: Situation) -> Choice | str:
    if said is None:
        return "no decision could be had"
    action, what, told = (
        said.next_action.strip().lower(),
        said.query_or_url or "",
        " ".join(said.reasoning.split()),
    )
    if action == HAND_OVER:
        if not at.begun:
            return "nothing was looked at in this pass"
        if at.unsearched:
            return f"nobody has searched for an answer to: {at.unsearched[0]}"
        return Choice(HAND_OVER, "", told, "reasoner")
    if action == CRAWL:
        found = find_permitted(what, at.addresses)
        if found is None:
            return (
                "the address to read stands in no search result, in no page that was read and in "
                "no word of yours"
            )
        choice = Choice(CRAWL, found, told, "reasoner")
    elif action.startswith(SEARCH) and at.searches:
        query = " ".join(_ADDRESS.sub(" ", what).split())[:LONGEST_QUERY]
        if not words(query):
            return "a search without words was asked for"
        alike = (action, *(GOOGLE if action in GOOGLE else ()), at.searches[0])
        tool = next(name for name in alike if name in at.searches)
        choice = Choice(tool, query, told, "reasoner")
    else:
        return "an action that is none of the tools was asked for"
    if key_of(choice.action, choice.query_or_url) in at.keys:
        return "a step that was taken before was asked for again"
    return choice


def find_permitted(said: str, addresses: Sequence[str]) -> str | None:
    """Return the address that is meant, as it stood where it was found.

    None where it is none of them.
    """
    said = said.strip()
    if re.fullmatch(r"U\d{1,4}", said, re.IGNORECASE):
        place = int(said[1:]) - 1
        return addresses[place] if 0 <= place < len(addresses) else None
    wanted = canonical(said)
    return next((url for url in addresses if canonical(url) == wanted), None)


def choose_way_out(found: Impasse, at: Situation) -> Choice:
    """Return the first thing that was not done yet, on the first way that has one.

    Else the hand-over.
    """
    for way in found.ways:
        for action, what in _steps_on(way, at):
            query = what if action == CRAWL else what[:LONGEST_QUERY]
            if words(query) and key_of(action, query) not in at.keys:
                return Choice(action, query, f"{found.why}: {ADVICE[way]}", "rule", way)
    return Choice(
        HAND_OVER, "", f"{found.why}, and nothing is left that was not tried", "rule", Way.HUMAN
    )


def _steps_on(way: Way, at: Situation) -> Iterator[tuple[str, str]]:
    """Return what can be done on a way, the most promising first.

    Whether it was done is not asked.
    """
    wanted = at.open or at.problems or (at.question,)
    if way is Way.LEAD:
        for kind, text in at.leads:
            if kind == "url":
                yield from (
                    (CRAWL, url) for url in at.addresses if canonical(url) == canonical(text)
                )
            else:
                yield from (
                    (tool, query_of_lead(text, wanted[0]) if kind == "name" else text)
                    for tool in at.searches
                )
        yield from ((CRAWL, url) for url in at.addresses)
        return
    made: list[str] = []
    if way is Way.REFRAME:
        asked = set(words(at.question))
        met = dict.fromkeys(
            name for text in at.known for name in names(text) if not set(words(name)) <= asked
        )
        made = [
            _telling_words(at.question),
            *(query_of_lead(name, part) for part in wanted for name in met),
        ]
    elif way is Way.NARROW:
        about = " ".join(names(at.question))
        made = [f"{_telling_words(part)} {about}" for part in (*at.unsearched, *wanted)]
        made += [*map(_telling_words, wanted), *names(at.question)]
    yield from ((tool, query) for query in made for tool in at.searches)


def _telling_words(text: str) -> str:
    """Return the words of a text that say what it is about."""
    return " ".join(dict.fromkeys(word for word in words(text) if word not in STOPWORDS)) or text
