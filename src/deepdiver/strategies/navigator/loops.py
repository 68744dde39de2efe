"""Noticing that a hunt goes in circles, and the ways out: rules, so that they are predictable.

A hunt goes in circles if a query or address comes again (in any order of words, from whatever page
names it), if `BARREN` steps brought no new finding, or if `LEVEL` steps did not raise the
confidence. The ways out are taken in a fixed order, each once until one brings something: ask in
other words, ask for one part alone, follow a stored lead, and finally hand over to the person. The
reasoner is informed and may choose the words; if it still repeats itself, the step is chosen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from deepdiver.core.names import names
from deepdiver.core.text import STOPWORDS, terms, words
from deepdiver.strategies.shared.look import query_of_lead
from deepdiver.tasks import NextAction
from deepdiver.tools.address import canonical

BARREN = 3
"""Steps without a new finding after which a hunt is stuck: two may be bad luck with words."""
LEVEL = 6
"""Steps after which a confidence that has not risen is not going to rise, although findings still
come in."""
LONGEST_QUERY = 200
"""The most characters of a query."""
CRAWL, HAND_OVER = "crawl_url", "send_to_hitl"
SEARCH = "search_"
GOOGLE = ("search_google", "search_serper", "search_serpapi")
"""Three ways to the same results: one that is not set up is replaced by another."""
LONGEST_TOOL = 40
"""Characters of an unknown tool's name in a note."""
_NOT_LETTER = re.compile(r"[\W_]+")
_NAMED = re.compile(r"[\w\-]+")
_ADDRESS = re.compile(r"\S*://\S*|\bwww\.\S*", re.IGNORECASE)


class Way(StrEnum):
    """A way out of an impasse."""

    REFRAME = "reframe"
    """Ask for the same in other words."""
    NARROW = "narrow"
    """Ask for one part of the question alone."""
    LEAD = "lead"
    """Follow something that was found on the way and left aside."""
    HUMAN = "human"
    """Hand over, with what is missing."""


LADDER = tuple(Way)
"""The ways out, in the order in which they are tried."""
ADVICE = {
    Way.REFRAME: "reframe the query: ask for the same in other words",
    Way.NARROW: "narrow it down: ask for one part of the question alone",
    Way.LEAD: "try a stored lead or an address that nobody has read",
    Way.HUMAN: "hand over to the person with what is missing",
}

SUGGESTED = "read the page that the analyzer suggests"


@dataclass(frozen=True, slots=True)
class PastStep:
    """A step that was taken, as far as loops are concerned."""

    key: str
    """The step, as `key_of` writes it."""
    found: int
    """New findings that it brought."""
    confidence: float
    """The confidence after it."""
    way: str = ""
    """The way out that it took, if any."""


@dataclass(frozen=True, slots=True)
class Impasse:
    """A loop, or a choice that cannot be taken, and the ways out that are left."""

    why: str
    """Why the hunt cannot go on as it does."""
    ways: tuple[Way, ...]
    """The ways that were not tried since, in order; the last is always the person."""

    @property
    def advice(self) -> str:
        """The reason and the first way out, in words."""
        return f"{self.why}; {ADVICE[self.ways[0]]}"


def key_of(action: str, query_or_url: str, narrowed: str = "") -> str:
    """Return the key of a step: the tool, and its words in any order and form or its page.

    A search that the person has narrowed since is another search.
    """
    if action == CRAWL:
        return f"{CRAWL} {canonical(query_or_url)}"
    told = sorted(set(terms(query_or_url))) or sorted(set(words(query_or_url)))
    return " ".join(filter(None, (action, *told, narrowed)))


def detect_loop(made: Sequence[PastStep]) -> Impasse | None:
    """Return the impasse if the last steps go in circles."""
    barren, level = _count_barren(made), _count_level(made)
    if barren >= BARREN:
        return Impasse(f"the last {barren} steps brought nothing new", _ways_left(made[-barren:]))
    if level >= LEVEL:
        return Impasse(f"the confidence has not risen for {level} steps", _ways_left(made[-level:]))
    return None


def reject_choice(made: Sequence[PastStep], why: str, first: Way = Way.REFRAME) -> Impasse:
    """Return the ways out that are left if a choice cannot be taken."""
    return Impasse(why, _ways_left(made[len(made) - _count_barren(made) :], first))


def _ways_left(stretch: Sequence[PastStep], first: Way = Way.REFRAME) -> tuple[Way, ...]:
    """Return the ways after the furthest one that was tried: a skipped way had nothing to offer."""
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
    """The next step."""

    action: str
    """A tool's name, or send_to_hitl."""
    query_or_url: str = ""
    """The query to search for, or the address to read."""
    reasoning: str = ""
    """Why."""
    by: str = "rule"
    """Who decided: "reasoner" or "rule"."""
    way: str = ""
    """The way out that it takes, if any."""
    note: str = ""
    """What was asked for, if that is not among the tools."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is checked against, and what ways out are made from."""

    question: str
    """What the person asked."""
    problems: tuple[str, ...]
    """The parts of the question."""
    open: tuple[str, ...]
    """Parts without an answer."""
    unsearched: tuple[str, ...]
    """Open parts that nobody has searched for."""
    searches: tuple[str, ...]
    """Names of the search tools; the first is the default."""
    addresses: tuple[str, ...]
    """Pages that may be read and were not, in the order of their labels U1, U2, …"""
    leads: tuple[tuple[str, str], ...]
    """Leads that were not followed: kind and text."""
    known: tuple[str, ...]
    """Statements that are known."""
    keys: frozenset[str]
    """Keys of the steps of all passes."""
    begun: bool
    """Whether a step was taken in this pass."""
    narrowed: str = ""
    """What the person has restricted the searches to, in words; empty: nothing."""
    suggested: tuple[str, ...] = ()
    """Pages that the analyzer suggests to read, of those that may be read and were not."""

    def was_taken(self, action: str, query_or_url: str) -> bool:
        """Return whether a step was taken before."""
        return key_of(action, query_or_url, self.narrowed) in self.keys

    @property
    def wanted(self) -> tuple[str, ...]:
        """The parts to look for: the open ones, else all of them, else the question."""
        return self.open or self.problems or (self.question,)


def check_choice(
    said: NextAction | None, at: Situation, made: Sequence[PastStep]
) -> Choice | Impasse:
    """Return the reasoner's choice, or the impasse if it cannot be taken."""
    choice = _take_choice(said, at)
    if isinstance(choice, Choice):
        return choice
    handed = said is not None and find_tool(said.next_action, said.query_or_url, at) == HAND_OVER
    missed = handed and bool(at.unsearched)
    return reject_choice(made, choice, Way.NARROW if missed and at.begun else Way.REFRAME)


def _take_choice(said: NextAction | None, at: Situation) -> Choice | str:
    """Return the reasoner's choice, or why it cannot be taken."""
    if said is None:
        return "no decision could be had"
    what, reasoning = said.query_or_url or "", " ".join(said.reasoning.split())
    action = find_tool(said.next_action, what, at)
    if action is None:
        return "an action that is none of the tools was asked for"
    if action == HAND_OVER:
        choice: Choice | str = _why_not_hand_over(at) or Choice(
            HAND_OVER, reasoning=reasoning, by="reasoner"
        )
    elif action == CRAWL:
        choice = _choose_page(what, reasoning, at)
    else:
        choice = _choose_search(action, what, reasoning, at)
    if not isinstance(choice, Choice):
        return choice
    if at.was_taken(choice.action, choice.query_or_url):
        return "a step that was taken before was asked for again"
    return replace(choice, note=_note_other(said.next_action, action))


def find_tool(asked: str, what: str | None, at: Situation) -> str | None:
    """Return the tool that an action means; None if there is none.

    That is the tool of that name in any spelling, another way to the same results, the tool whose
    name shares the most words, and else what the rest of the decision is for: an address is read,
    words are searched for, and without either the person is next.
    """
    tools, wanted = (*at.searches, CRAWL, HAND_OVER), _parts_of(asked)
    same = [tool for tool in tools if _is_called(tool, asked)]
    if any(_is_called(tool, asked) for tool in GOOGLE):
        same += [tool for tool in GOOGLE if tool in tools]
    if same:
        return same[0]
    shares = [len(_parts_of(tool) & wanted) for tool in tools]
    if max(shares):
        return tools[shares.index(max(shares))]
    if _ADDRESS.search(what or "") or find_permitted(what or "", at.addresses):
        return CRAWL
    if not words(what or ""):
        return HAND_OVER
    return at.searches[0] if at.searches else None


def _parts_of(action: str) -> frozenset[str]:
    """Return the words of a tool's name, without small ones."""
    return frozenset(words(action.replace("_", " "))) - STOPWORDS


def _is_called(tool: str, asked: str) -> bool:
    """Return whether an action is the name of a tool, in any spelling and order of its words."""
    plain = [_NOT_LETTER.sub("", name).lower() for name in (tool, asked)]
    return plain[0] == plain[1] or _parts_of(tool) == _parts_of(asked)


def _note_other(asked: str, tool: str) -> str:
    """Return the note that another tool was taken than the one asked for; empty if it was not."""
    if _is_called(tool, asked):
        return ""
    if not (named := " ".join(_NAMED.findall(asked))[:LONGEST_TOOL]):
        return f"no tool was named; {tool} was taken"
    return f"{named} is not among the tools that are set up; {tool} was taken instead"


def _why_not_hand_over(at: Situation) -> str:
    if not at.begun:
        return "nothing was looked at in this pass"
    if at.unsearched:
        return f"nobody has searched for an answer to: {at.unsearched[0]}"
    return ""


def _choose_page(address: str, reasoning: str, at: Situation) -> Choice | str:
    found = find_permitted(address, at.addresses)
    if found is None:
        return (
            "the address to read stands in no search result, in no page that was read and in "
            "no word of yours"
        )
    return Choice(CRAWL, found, reasoning, "reasoner")


def _choose_search(action: str, text: str, reasoning: str, at: Situation) -> Choice | str:
    query = " ".join(_ADDRESS.sub(" ", text).split())[:LONGEST_QUERY]
    if not words(query):
        return "a search without words was asked for"
    return Choice(action, query, reasoning, "reasoner")


def find_permitted(said: str, addresses: Sequence[str]) -> str | None:
    """Return the permitted address that is meant, as it was found; None if it is not permitted."""
    said = said.strip()
    if re.fullmatch(r"U\d{1,4}", said, re.IGNORECASE):
        place = int(said[1:]) - 1
        return addresses[place] if 0 <= place < len(addresses) else None
    wanted = canonical(said)
    return next((url for url in addresses if canonical(url) == wanted), None)


def choose_way_out(found: Impasse, at: Situation) -> Choice:
    """Return the first new step on the first way that has one, or else the hand-over.

    A page that the analyzer suggests to read comes before all ways.
    """
    if at.suggested:
        return Choice(CRAWL, at.suggested[0], f"{found.why}: {SUGGESTED}", "rule", Way.LEAD)
    for way in found.ways:
        for action, what in _steps_on(way, at):
            query = what if action == CRAWL else what[:LONGEST_QUERY]
            if words(query) and not at.was_taken(action, query):
                return Choice(action, query, f"{found.why}: {ADVICE[way]}", "rule", way)
    return Choice(
        HAND_OVER, "", f"{found.why}, and nothing is left that was not tried", "rule", Way.HUMAN
    )


def _steps_on(way: Way, at: Situation) -> Iterator[tuple[str, str]]:
    """Return the steps that a way offers, the most promising first, also those taken before."""
    if way is Way.LEAD:
        yield from _follow_leads(at)
    elif way is not Way.HUMAN:
        queries = _reframe(at) if way is Way.REFRAME else _narrow(at)
        yield from ((tool, query) for query in queries for tool in at.searches)


def _follow_leads(at: Situation) -> Iterator[tuple[str, str]]:
    for kind, text in at.leads:
        if kind == "url":
            meant = canonical(text)
            yield from ((CRAWL, url) for url in at.addresses if canonical(url) == meant)
        else:
            query = query_of_lead(text, at.wanted[0]) if kind == "name" else text
            yield from ((tool, query) for tool in at.searches)
    yield from ((CRAWL, url) for url in at.addresses)


def _reframe(at: Situation) -> list[str]:
    """Return queries in other words: without small words, then with names that were met."""
    asked = set(words(at.question))
    met = dict.fromkeys(
        name for text in at.known for name in names(text) if not set(words(name)) <= asked
    )
    return [
        _telling_words(at.question),
        *(query_of_lead(name, part) for part in at.wanted for name in met),
    ]


def _narrow(at: Situation) -> list[str]:
    """Return queries for one part of the question each, then for its names."""
    named = names(at.question)
    about = " ".join(named)
    parts = [f"{_telling_words(part)} {about}" for part in (*at.unsearched, *at.wanted)]
    return [*parts, *map(_telling_words, at.wanted), *named]


def _telling_words(text: str) -> str:
    """Return a text without its small words."""
    return " ".join(dict.fromkeys(word for word in words(text) if word not in STOPWORDS)) or text
