"""Whether a text of the model's is about what its evidence is about.

Code finds numbers, dates and names that no quote holds, and the model itself says whether quotes
carry a sentence. A model that does what a document tells it to can pass both: a sentence without
names or numbers, and a check of its own. So there is a third look, which no model's word can sway.
A text that shares next to no words with its quotes, and that the reader does not find in them
either, does not stand on them, whatever it says.

Words alone would not do, because a sentence can say in other words what a quote says. Nor would the
reader, which is small and unsure of half of all good sentences. Together they are wrong about few:
`bench/grounding.py` counts them.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from deepdiver.core.dates import MONTHS
from deepdiver.core.languages import COMMON, language_of
from deepdiver.core.numbers import numbers
from deepdiver.core.text import terms, words
from deepdiver.errors import StoreError
from deepdiver.report.audit import is_capitalised, unknown_values
from deepdiver.strategies.shared.second_opinion import (
    CitedText,
    read_relevance,
    read_support,
)
from deepdiver.tools.library.terms import normalise

LETTERS = 5
"""Letters of a stem that count: words of one root begin alike, in inflected languages too."""
SHARED = 0.25
"""A text that shares this part of its words with its quotes, or less, shares next to nothing. On
the sentences for choosing (`bench/grounding.py`), 0.3 suspects 1.1 % of the good ones instead of
0.95 %, and misses 7.0 % of the foreign ones instead of 7.3 %."""
VOUCHES = 0.3
"""The probability of support from which on the close reader vouches for a text in other words: the
highest tenth at which at most 1 % of the good sentences for choosing are suspected. With 0.2 it is
0.5 %, and 7.6 % of the foreign ones are missed instead of 7.3 %, with 0.4 1.1 % and 7.0 %."""
NAMES = 0.2
"""The probability from which on the reader takes a section to bear on a heading of few words."""
MOSTLY = 0.6
"""A text of which the question and the titles have nearly all words stands on its quotes if they
have more than this part of them."""
FEWEST = 6
"""Words of a cell of judgement that is suspected if none of them is known: a shorter one, such as
"Do now" or "Stop if costs rise", says nothing without its row. A cell of fact says something from
`FEW` words on."""
CONNECTS = 0.5
"""The part of a frame's words that must be about the research or the subject. Nobody can vouch for
a frame, because it cites nothing, so more is asked of it than of a sentence."""
FEW = 3
"""Words of a heading or of an open question that name a topic and state nothing: "Since when?" asks
for something of which nothing was found. A longer open question without a word of the question or
of a source is about something else."""
_NUMBERED = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)]?|[A-Za-z][.)])\s+")
"""The number of a heading."""
DAY_OR_NUMBER = re.compile(rf"\S*\d\S*|\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_ASKS = re.compile(r"(?:what|how|why|when|where|which|who)\b", re.IGNORECASE)
COUNTING = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
"""How many things a section lists."""
FEWEST_LETTERS, ENDING = 4, 2
"""Letters of a name that may have another ending, and of the ending."""
_ROUNDED = re.compile(
    r"\b(?:about|around|almost|nearly|roughly|some|under|over|below|above|short of)\b",
    re.IGNORECASE,
)
FOREIGN = "its words are not those of its quotes, and the reader does not find it in them"
"""The fault of a sentence that does not stand on its quotes."""
ASIDE = "it speaks of something else than the question, its section and what it cites"
"""The fault of a judgement, an assumption or general knowledge that has nothing to do with them."""
UNCONNECTED = "it states something and names no finding"
"""The fault of a frame that is more than a frame."""
_SHORTEST = 4
"""Letters of the shortest word that counts in a language whose little words are not all listed."""

T = TypeVar("T")
Bearing = Literal["grounded", "foreign", "unread"]
"""Whether a text stands on its evidence; unread: it is in another language, so nobody can tell."""


@functools.lru_cache(maxsize=256)  # the quotes of a section carry each of its lines
@functools.lru_cache(maxsize=4_096)  # an audit holds the same texts against each of its lines
def stems(text: str) -> frozenset[str]:
    """Return the beginnings of a text's words that say what it is about, in any script."""
    text = text.replace("_", " ")  # the name of a column may be Third_Party_Involvement
    language = language_of(text)
    said = terms(normalise(text))
    if language not in {"", "English"}:
        little = {normalise(word) for word in COMMON.get(language, ())}
        short = _SHORTEST if language in COMMON else 1
        said = [word for word in said if len(word) >= short and word not in little]
    return frozenset(word[:LETTERS] for word in said)


RESEARCH = stems(
    "about above according account additional again against agree also alternative although "
    "analysis answer appear approach argument aspect assess assumption attempt author available "
    "background bear because below between both case cause chapter cite claim clear common "
    "compare comparison concern conclude conclusion condition confirm conflict conflicting "
    "consider consistent context contradict contrast date decide deny depend describe detail "
    "determine differ difference different direct disagree discuss document doubt each either "
    "else establish estimate even evidence example except exist explain fact far figure final "
    "find finding first follow found further gap general give given history hold however "
    "hypothesis identify implication important independent indicate information insufficient "
    "introduce introduction issue judge judgement key know known last later lead least less likely "
    "limit limitation limited line list little main many matter mean measure mention method "
    "missing more most name namely nearest neither next none note nothing number observe open "
    "opposite option order origin other outcome outlook overall overview owner page paragraph part "
    "passage place point possible present problem proposal propose provide publish question quote "
    "raise rather read reason recent recommend recommendation record refer refute regard reject "
    "relate relevant reliable remain report research rest result review risk rival rule same say "
    "search second section see separate set settle several show side similar single situation "
    "some source speak stand state statement still study subject suggest summary support sure "
    "table take tell term test text therefore third threshold thus time timeline together topic "
    "toward true two uncertain unclear undecided unknown unresolved various verdict version view "
    "weak weigh whether whole work write yes yet "
)
"""Words with which one speaks about research, its texts, their parts and what it proposes, whatever
the subject."""


_COUNTS = stems("one two three four five six seven eight nine ten eleven twelve")


def shared_part(text: str, evidence: str, given: str = "") -> float:
    """Return the part of a text's words that its evidence has, 0..1; 1 if it has no words.

    Words about research do not count, nor do words that were given beforehand: a text that repeats
    the question and says something else does not stand on its quotes. If there are no others, they
    do count.

    Args:
        text: What is said.
        evidence: The quotes.
        given: The question, and the titles of the sources.
    """
    every, known = stems(text), stems(evidence)
    # Numbers are looked for by themselves: rows that are counted do not have them, and sums do.
    said = {word for word in every if word in known or not _counts(word)} or {*every}
    own = said - RESEARCH or said
    new = own - stems(given) or own
    return len(new & known) / len(new) if new else 1.0


def _counts(stem: str) -> bool:
    return stem.isdigit() or stem in _COUNTS


@dataclass(frozen=True, slots=True)
class Said:
    """A text with what it is said to stand on."""

    text: str
    """What it says."""
    quotes: tuple[tuple[str, str], ...]
    """Title of the source and exact text of each quote."""
    besides: str = ""
    """What else may carry it: the results of sums that code has repeated, for example."""
    counted: tuple[int, ...] = ()
    """Of a heading, how many things its section, or the question, lists."""
    cell: bool = False
    """Whether it is a cell of a table, which says little by itself."""
    loose: bool = False
    """Whether it may go beyond its quotes, as a judgement does: then a word of the question or of
    its section is enough, or some of its words in what the report states."""
    own: bool = False
    """Whether it is a heading of the writer's for advice of his own, in words of no text."""
    unmarked: bool = False
    """Whether its writer gave it no mark: then it may only connect, as a frame does."""
    section: str = ""
    """What is sound of its section."""
    brief: bool = False
    """Whether a word or two say nothing by themselves: a judgement goes on with a sound sentence
    before it, and of an absence code looks for the words."""
    stated: str = ""
    """What the report states, and its quotes carry."""

    def around(self) -> str:
        """Return all that it is said to stand on, with the titles of the sources."""
        return " ".join((self.besides, *(text for both in self.quotes for text in both)))

    def bearing(self, asked: str) -> Bearing:
        """Return whether it stands on its quotes, by its words alone.

        Args:
            asked: The question and its parts, in the language of the person.
        """
        evidence = " ".join((*(text for _, text in self.quotes), self.besides))
        own, theirs = language_of(self.text), language_of(evidence)
        apart = own and theirs and own != theirs and own == language_of(asked)
        if apart and shared_part(self.text, evidence) <= SHARED:
            return "unread"
        # The measure was chosen for English. Elsewhere, and where the language is not known, only
        # a text that shares nothing at all is suspected.
        most = SHARED if own == theirs == "English" else 0.0
        titles = " ".join(title for title, _ in self.quotes)
        # The numbers of a cell are looked for by themselves.
        says = {word for word in stems(self.text) - RESEARCH if not word.isdigit()}
        if self.cell and len(says) < (FEWEST if self.loose else FEW):
            return "grounded"
        if self.loose:
            around = f"{evidence} {titles} {asked} {self.section}"
            return "grounded" if self._fits(around, asked, len(says)) else "foreign"
        given = f"{asked} {titles}"
        part = shared_part(self.text, evidence, given)
        # Beside a long question with its parts, hardly a word is left that was not given.
        scarce = len(says - stems(given)) < FEW <= len(says)
        nearly_all = scarce and shared_part(self.text, evidence) > MOSTLY
        return "foreign" if part <= most and not nearly_all else "grounded"

    def _fits(self, around: str, asked: str, says: int) -> bool:
        """Whether what goes beyond its quotes is not about something else than what is around."""
        known = shared_part(self.text, around) > 0 or says < (FEW if self.brief else 1)
        told = shared_part(self.text, self.stated) > SHARED
        return known or told or (self.unmarked and connects(self.text, around, asked))


async def find_bearings(said: Sequence[Said], asked: str) -> list[Bearing]:
    """Return whether texts stand on their quotes, by their words and by the reader.

    The reader is asked only about texts whose words are not those of their quotes. If its files
    cannot be used, the words decide. That a text bears on the question says nothing: the reader
    takes an order that a document has slipped in to bear on two of five questions, the longer ones.
    """
    found = [item.bearing(asked) for item in said]
    doubtful = [number for number, bearing in enumerate(found) if bearing == "foreign"]
    cited = [CitedText(said[number].text, said[number].quotes) for number in doubtful]
    for number, vouched in zip(doubtful, await _vouched(read_support, cited), strict=True):
        if vouched:
            found[number] = "grounded"
    return found


async def _vouched(
    read: Callable[[list[T]], list[float]], asked: list[T], least: float = VOUCHES
) -> list[bool]:
    """Return for what a reader vouches; for nothing, if its files cannot be used."""
    try:
        # In a thread, because other runs of this process go on.
        return [found >= least for found in await asyncio.to_thread(read, asked)]
    except (StoreError, ImportError):
        return [False] * len(asked)


def connects(frame: str, around: str, asked: str) -> bool:
    """Return whether a frame only connects: whether most of its words are of the research.

    Args:
        frame: What it says.
        around: The sentences and quotes among which it stands.
        asked: The question and its parts.
    """
    said = stems(frame)
    new = said - RESEARCH - stems(asked) - stems(around)
    counted = stems(" ".join(COUNTING.findall(frame)))
    if frame.rstrip().endswith(":") and len(new - counted) < FEW:
        return True  # These do harm: what follows says which
    return not said or _is_beyond_us(frame, asked) or 1 - len(new) / len(said) >= CONNECTS


async def find_heading_faults(headings: Sequence[Said], asked: str) -> list[str]:
    """Return what is wrong with each heading; empty if its section or the question carries it.

    A heading may not hold numbers, dates, names or addresses that its section does not hold. A
    single word is otherwise free. A few words name a topic, which must be that of the section. A
    longer heading says something, and is audited like a sentence.

    Args:
        headings: The headings, with the quotes of their sections, and the sentences besides.
        asked: The question and its parts.
    """
    faults = {
        item: f"as a heading, it holds {', '.join(strange[:3])}, and its section does not"
        for item in headings
        if (strange := _strange_in_heading(item, asked))
    }
    left = [item for item in headings if item not in faults and _is_beside_it(item, asked)]
    left = [item for item in left if not item.own]
    long = [item for item in left if _says_something(item.text)]
    short = [item for item in left if item not in long]
    says = await _vouched(read_support, [CitedText(item.text, item.quotes) for item in long])
    names = await _vouched(read_relevance, [(item.text, item.besides) for item in short], NAMES)
    for item in _unvouched(long, says):
        faults[item] = "as a heading, it says something that its section does not"
    for item in _unvouched(short, names):
        faults[item] = "as a heading, it names something that its section is not about"
    return [faults.get(item, "") for item in headings]


def _unvouched(headings: Sequence[Said], vouched: Sequence[bool]) -> list[Said]:
    return [item for item, held in zip(headings, vouched, strict=True) if not held]


def _says_something(heading: str) -> bool:
    return len(stems(heading) - RESEARCH) > FEW


def _is_beside_it(heading: Said, asked: str) -> bool:
    """Whether the words of a heading are neither its section's, the question's nor of research.

    A heading sums up in words of its own, so one that they share is enough, as for a judgement.
    Numbers are looked for by themselves.
    """
    said = {word for word in stems(COUNTING.sub("", heading.text)) if not word.isdigit()}
    said -= RESEARCH
    # "What can go wrong" asks, and its section answers.
    enough = FEW if _ASKS.match(heading.text) else 2
    if len(said) < enough or _is_beyond_us(heading.text, asked):
        return False
    return not said & (stems(asked) | stems(heading.around()))


def _strange_in_heading(heading: Said, asked: str) -> list[str]:
    # In the name of a file, a line stands for a space.
    counted = " ".join(map(str, heading.counted))
    known = f"{asked} {heading.around()} {counted}".replace("_", " ")
    text = COUNTING.sub("", _NUMBERED.sub("", heading.text))
    # The dates and limits of a plan are the writer's own.
    known += f" {' '.join(DAY_OR_NUMBER.findall(text))}" if heading.loose else ""
    capitals_tell = not _is_beyond_us(text, asked) and not is_capitalised(text)
    strange = unknown_values(text, known, by_capitals=capitals_tell)
    # A verb may open a heading, before a name: Refocus Ann Berg's team.
    strange = [item for item in strange if not _opens_with_verb(item, text, known)]
    return [item for item in strange if not _said_otherwise(item, known, text)]


def _opens_with_verb(value: str, heading: str, known: str) -> bool:
    """Whether a name opens a heading, and is known without its first word."""
    rest = value.partition(" ")[2]
    return bool(rest) and heading.startswith(value) and not unknown_values(f"of {rest}", known)


def _said_otherwise(value: str, known: str, heading: str) -> bool:
    """Whether a text has a name in another form (America, American), or a number that is rounded.

    A heading is short, so it may round what its section says exactly, if it says so.
    """
    if figures := numbers(value):
        rounded = {round(number) for number in numbers(known)}
        return bool(_ROUNDED.search(heading)) and set(figures) <= rounded
    others = {word for word in words(known) if len(word) >= FEWEST_LETTERS}
    said = words(value)
    return bool(said) and "://" not in value and all(_inflected(word, others) for word in said)


def _inflected(word: str, others: Collection[str]) -> bool:
    """Whether a word is among others, or only its ending differs: America, American."""
    return word in others or any(
        abs(len(word) - len(other)) <= ENDING and (word.startswith(other) or other.startswith(word))
        for other in others
    )


def open_question_fault(text: str, found: str, asked: str) -> str:
    """Return what is wrong with a line about what is not answered; empty if there is nothing.

    Args:
        text: The line.
        found: Everything that was found, and the titles of the sources.
        asked: The question and its parts.
    """
    capitals_tell = not _is_beyond_us(text, asked)
    if strange := unknown_values(text, f"{asked} {found}", by_capitals=capitals_tell):
        return f"{', '.join(strange[:3])} stands neither in the question nor in a source"
    long = capitals_tell and len(stems(text)) > FEW
    if long and not stems(text) & (stems(asked) | stems(found) | RESEARCH):
        return "neither the question nor a source speaks of it"
    return ""


def _is_beyond_us(text: str, asked: str) -> bool:
    """Whether a text is in a language other than English, and in that of the question."""
    language = language_of(text) or language_of(asked)  # a few words do not tell theirs
    return language not in {"", "English"} and language == language_of(asked)
