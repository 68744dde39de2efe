"""The audit checks each sentence of a draft against its quotes.

Code checks what code can check: the findings exist, every quote is in its snapshot, and the
numbers, dates, names and addresses of the sentence are in the quotes, in what surrounds them
(`Context`), or come out of a calculation that code repeats. The reasoner is asked afterwards
whether the quotes carry the sense.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from urllib.parse import urlsplit

from deepdiver.core.arithmetic import rounding_of
from deepdiver.core.calculation import is_correct
from deepdiver.core.dates import Day, dates
from deepdiver.core.names import names
from deepdiver.core.numbering import units_of
from deepdiver.core.numbers import is_rounded, number, numbers
from deepdiver.core.opposites import poles
from deepdiver.core.record import (
    UNCITED,
    Calculation,
    Finding,
    Quote,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.core.reserved_hosts import host_of, is_reserved
from deepdiver.core.text import STOPWORDS, fold, locate, part_scripts, stem, terms, words
from deepdiver.report.bindings import Cited, find_misbound, measured
from deepdiver.report.clauses import is_english, is_german, read_unit

Snapshot = Callable[[str], str]
"""Returns the saved text of a hash; LostTextError if there is none."""
_SHARES = re.compile(r"percent|share|rate\b|ratio|proportion|fraction", re.IGNORECASE)
"""What calls numbers below one shares: Impact_Percentage, the rate of return."""
_ADDRESS = re.compile(r"\b(?:https?://|www\.)[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]']", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?<![\w-])(?<!ty )(?<!hundred )(?<!hundred and )(?<!thousand and )one(?:['’]s)?\b"
    r"|(?<!\d)1\s?つ",
    re.IGNORECASE,
)
"""The word one: a pronoun or an article far more often than a count. In figures, 1 is a number."""
_CLASS = re.compile(r"\b\d{1,2}[xX]{1,2}\b")
"""All codes that begin alike: 5xx, 40x."""
_SMALL = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_QUARTERS = {"first": "q1", "second": "q2", "third": "q3", "fourth": "q4"}
_QUARTER = re.compile(rf"\b({'|'.join(_QUARTERS)})[\s-]+quarter\b", re.IGNORECASE)
"""A quarter of a year in words, which is told as Q1, too."""
SHORTEST = 5
"""Letters of a name that an adjective is made of."""
_COMPOUND = re.compile(r"\b\w*[a-z][A-Z]\w*")
_INNER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IN_LETTERS = re.compile(r"\bQ([1-4])(?![\w–-])")
_ARTICLES = frozenset(
    words("a an the any some no its their our your his her this that these those")
)
_ROW_NUMBER = re.compile(r"^\d{1,2}[.)]?\s+(?=[A-Z])")
"""The number of a row, before what the row is about."""
_OWN_PART = re.compile(
    r"\b(?:steps?|phases?|stages?|points?|options?|rows?|sections?|tables?|columns?|rules?) "
    r"\d{1,2}(?:(?:, | and | or | to |[–-])\d{1,2})*\b(?![.,]?\d|%|\s*(?:percent|per cent)\b)",
    re.IGNORECASE,
)
"""A part of the report itself, by its number: "the prefetches of step 1 still run"."""
_COUNTED = re.compile(
    r"\b(?<=\bthese )(?:two|three|four|five|six|seven|eight|nine|ten)\b|"
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten)(?=(?:\s+[\w-]+){0,2}\s+(?:answers|"
    r"approaches|arguments|aspects|cases|causes|claims|conclusions|conditions|conflicts|courses|"
    r"criteria|differences|effects|explanations|facts|factors|figures|findings|gaps|grounds|groups|"
    r"issues|kinds|levels|limits|measures|mechanisms|methods|objections|options|parts|paths|"
    r"patterns|phases|points|possibilities|problems|questions|reasons|risks|routes|sections|sides|"
    r"signs|sources|stages|steps|strands|texts|things|trends|types|versions|views|ways)\b)",
    re.IGNORECASE,
)
"""Counts of what a frame introduces: Three things speak against it."""
_ACRONYM = re.compile(r"[A-Z]{2,}s?")
_SPELLED_OUT = re.compile(r"[A-Z][\w-]+(?:\s+(?:and|of|for|the|on|in|&)\b|\s+[A-Z][\w-]+)+")
"""Words from which an acronym is made: Personal Health Information Protection Act."""
_PERIOD = re.compile(r"[QH][1-4]|FY(?:\s?\d{2,4})?")
"""A quarter, a half or a fiscal year."""
_LIST = re.compile(r",(?!\d)|;|\band\b|\bor\b")
_PLACE = re.compile(
    r"\b(?:pages?|slides?|messages?|rows?|lines?|sheets?|sections?|parts?|chapters?)\s+[\d.]+", re.I
)
"""Where a quote stands, which says nothing about the matter; the 15 of "Release 15" does."""
_UNIT = re.compile(r"[KMGTP]i?(?:B|bits?)|[kMGT]?(?:Wh?|Hz|VA?|Pa)")
"""Units that are written with a capital."""
_DEPARTMENTS = frozenset(
    words(
        "accounting administration analytics communications compliance controlling data department "
        "design engineering facilities finance hr it legal logistics manufacturing marketing "
        "merchandising operations payroll procurement product production purchasing quality "
        "research risk sales security service services support team technology training treasury"
    )
)
"""Departments, which many write with a capital: whoever proposes something may name one."""
_SAME_STATE = (
    frozenset(("us", "usa", "america", "american", "americans")),
    frozenset(("uk", "britain", "british")),
)
"""Words of one state that do not begin alike."""
_SHARE = re.compile(r"(?<![\d.,])(\d{2}\.\d+)\s?(?:%|percent\b|per cent\b)")
"""A share of two digits and a part; of one below ten, a whole one tells too little."""
_LABEL = re.compile(r"[A-Z]\d{0,2}")
"""What advice may give a name of its own."""
_OPTION = re.compile(r"^\W*(?:(?:Option\s+)?[A-Z]|\d{1,2})[.):]\s+")
"""What numbers an option or a step."""
_LETTERED = re.compile(
    r"(?<!\w)(?:[Aa]nnex|[Aa]ppendix|[Aa]pproach|[Cc]ase|[Cc]lass|[Cc]ourse|[Gg]roup|[Oo]ption|[Pp]ath|"
    r"[Pp]hase|[Pp]lan|[Rr]oute|[Ss]cenario|[Ss]tep|[Tt]ier|[Tt]ype|[Vv]ariant)(?:e?s)?\s+"
    r"[A-Z]\b(?:(?:,|,?\s+(?:and|or|to))\s+[A-Z]\b)*"
)
"""One of several things that have letters."""
_TRADE = re.compile(
    r"(?<!\w)(?:R&D|Q&A|P&L|M&A|(?:FAQ|KPI|CEO|CFO|CTO|URL|PDF|ID)s?|ROI|HR|IT|PR|VAT)(?!\w)"
)
"""Words of every trade that are written like names."""
AROUND = 2
"""Sentences or rows before and behind the words of an absence that say what they are about."""
FEW_SOURCES = 3
"""Sources among which a word that most of them have may still tell a matter."""
_SCALE = re.compile(r"(?<!\d)(?<!\d\s)\b(?:thousand|million|billion|trillion)\b", re.IGNORECASE)
"""A scale without a number before it."""
_BEFORE = 60
"""Characters before what a quote holds word for word among which a negation may apply to it."""
_DENIAL = re.compile(
    r"\b(?:not|never|nicht)\s+(?:yet\s+|exactly\s+|quite\s+|about\s+|a\s+)?"
    r"(?=[\d$€£])(?!\S+(?:\s+[^\s.,;:]+){0,3},?\s+but\b)(\S+(?:\s+\w+)?)",
    re.IGNORECASE,
)
"""A value that is denied, with the word behind it; but not as in "not 45 but 38"."""
_FORMED = re.compile(r"\b(?:[^\W\d_]+\d\w*|[^\W_]*[a-zß-ÿ][A-Z]\w*|[A-Z]{2,}\w*)\b")
"""A word that has digits, or a capital that is not its first letter."""
_TAIL = re.compile(r"-(\w+)")
_OF_VERSION = re.compile(r"(?<=[a-z]{2})v\d[\d.]*$")
"""What follows the name in TLSv1.2."""
_VERSION = re.compile(r"(?<![\w.])(?:[A-Z]*v(?=\d)(\d+(?:\.\d+)+)|(\d+(?:\.\d+){2,}))")
_ADJECTIVE = re.compile(r"(\w{4,}?)(?:ian|an|ese)")
"""What is named after a place, and the place without its ending."""
_WORD = re.compile(r"[^\W\d_][\w’'\-]*")
_AMOUNT = re.compile(r"^\d+(?=[a-z])")
"""The number before its unit: 4MB."""
_PARTS = re.compile(r"[-_]")
"""Between the words of a compound, and of an identifier such as SQLITE_BUSY."""


@dataclass(frozen=True, slots=True)
class Context:
    """What may carry a name or a value of a sentence besides its quotes."""

    credits: str = ""
    """Title, author, publisher, date, address and place of what it cites: names and dates."""
    nearby: str = ""
    """Its heading, the sentence before it, the header and first cell of its row, and what stands
    above the rows that it cites."""
    question: str = ""
    """The question: names."""
    figures: str = ""
    """The numbers and results of the calculations that it cites."""
    values: Sequence[Fraction] = ()
    """Their exact values, which a sentence may round in its own way."""
    places: Sequence[str] = ()
    """The credits of each quote; if they are not as many as the quotes, each has all of them."""
    from_question: bool = False
    """Whether it cites calculations of the question's own numbers and of units, and no others."""
    knows: bool = False
    """Whether part of it is generally known, or supposed."""
    read: Collection[str] = ()
    """The words of all texts that the writer was shown: a judgement may name what stands there."""
    introduced: str = ""
    """The quotes, titles and calculations of what a frame introduces: names, numbers and dates."""
    proposes: bool = False
    """Whether it stands in a plan: then days to come are its writer's own."""
    takes_figures: bool = False
    """Whether it may take numbers from the question, too, because somebody checks it besides."""


NOWHERE = Context()
UNNAMED = "is in none of the texts"
"""The end of the fault of a judgement that names what nobody has named."""


def find_faults(
    sentence: Sentence,
    findings: Sequence[Finding],
    snapshot: Snapshot,
    as_of: str,
    context: Context = NOWHERE,
    *,
    binding: bool = True,
) -> list[str]:
    """Return what is wrong with a sentence, in words; nothing if code finds no fault.

    Args:
        sentence: The sentence.
        findings: The findings that it names, as far as they exist.
        snapshot: Returns saved texts.
        as_of: The run's date, which a calculation may use without a quote.
        context: What may carry its names and values besides.
        binding: Whether to look at what stands with what, too, by rules that may be mistaken.
    """
    if sentence.kind is SentenceKind.FRAME:
        return _faults_of_frame(sentence, as_of, context)
    if sentence.kind in UNCITED:
        return _faults_of_address(sentence, "")
    if len(findings) < len(set(sentence.findings)):
        return ["it names a finding that does not exist"]
    quotes = [quote for finding in findings for quote in finding.quotes]
    if missing := [quote for quote in quotes if not quote_stands(quote, snapshot)]:
        return [f"the quote {missing[0].text[:60]!r} does not stand in its source"]
    if sentence.kind is SentenceKind.ABSENCE and not sentence.terms:
        return ["it names no words to search for"]
    if sentence.kind is SentenceKind.ABSENCE and not findings:
        return []
    text = "\n\n".join(quote.text for quote in quotes)
    if sentence.kind is SentenceKind.JUDGEMENT:
        return [*_faults_of_judgement(sentence, text, context), *_faults_of_address(sentence, text)]
    if not findings and not context.from_question:
        return ["it names no finding"]
    return _faults_of_stated(sentence, quotes, as_of, context, binding)


def _faults_of_stated(
    sentence: Sentence, quotes: Sequence[Quote], as_of: str, context: Context, binding: bool
) -> list[str]:
    """Return the faults in the values and names of what sources say."""
    text = "\n\n".join(quote.text for quote in quotes)
    found = [
        *_faults_of_sum(sentence, text, as_of),
        *_faults_of_denial(sentence, context),
        *_faults_of_values(sentence, text, as_of, context),
        *_faults_of_address(sentence, text),
    ]
    if not found and sentence.calculation:
        found = _faults_of_result(sentence.text, sentence.calculation)
    if found or not binding:
        return found
    return _faults_of_binding(sentence, [quote.text for quote in quotes], context)


def quote_stands(quote: Quote, snapshot: Snapshot) -> bool:
    """Whether the snapshot has exactly the quote's text at the quote's span."""
    return quote.stands_in(snapshot(quote.passage.snapshot))


def _faults_of_frame(sentence: Sentence, as_of: str, context: Context) -> list[str]:
    """Return the faults of a frame, which must not state a number, a date, a name or an address.

    Names and numbers of the question tell nothing new, nor do names of the heading and of the
    sentence before it, nor today's date; and what it introduces carries its own values.
    """
    text, below = sentence.text, context.introduced
    known, days = f"{context.question}\n{context.nearby}\n{below}", dates(below)
    told = [*dates(as_of), *days]
    said = [day.iso() for day in dates(text) if not _known_day(day, told)]
    bare = _OWN_PART.sub("…", _COUNTED.sub("…", text))
    given = {*_numbers_said(context.question), *numbers(below), *_years(days)}
    said += [f"{value:f}" for value in _numbers_said(bare) if value not in given]
    said += _quarters_lost(text, known, days) if below else []
    named = _names_said(text, context.question)
    said += [name for name in named if not _contains(known, name)]
    said += _strange_addresses(text, below)
    return [f"it states {said[0]} without a finding"] if said else []


def _faults_of_judgement(sentence: Sentence, text: str, context: Context) -> list[str]:
    """Return the fault of a judgement that names what nobody has named.

    Its dates and measures, and the department that is to do it, may be the writer's own proposals.
    What is generally known besides may have names of its own.
    """
    if context.knows:
        return []
    known = f"{text}\n{context.credits}\n{context.nearby}\n{context.question}"
    lost = [
        name
        for name in _names_said(_without_code(sentence), context.question)
        # A letter stands for somebody, one with a number for a grade: "customer A", "no open S1".
        if not _LABEL.fullmatch(name)
        and not _is_department(name)
        and not any(
            _contains(known, said) or _all_read(said, context.read)
            for said in _ways_to_read(name, sentence.text)
        )
    ]
    return [f"{', '.join(lost[:3])} {UNNAMED}"] if lost else []


def _without_code(sentence: Sentence) -> str:
    """Return what a judgement says, without commands and the number of a row: 1 Baseline."""
    text = sentence.text
    for start, end in sorted(sentence.code, reverse=True):
        text = f"{text[:start]}…{text[end:]}"
    return _ROW_NUMBER.sub("", text)


def _is_department(name: str) -> bool:
    said = _bare(name)
    return bool(said) and _DEPARTMENTS.issuperset(said)


def _ways_to_read(name: str, text: str) -> Iterator[str]:
    """Yield a name, and without its first word if it opens a sentence, with a verb: Scale AI."""
    yield name
    rest = name.partition(" ")[2]
    opens = re.search(rf"(?:^|[.:;!?–—]\s+){re.escape(name)}", text)
    if rest and opens:
        yield rest


def _all_read(name: str, read: Collection[str]) -> bool:
    """Whether all words of a name were read, but for the ending of an adjective: European."""
    return all(
        word in read or any(word[:-many] in read for many in (1, 2) if len(word) - many >= SHORTEST)
        for word in _bare(_without_tail(name))
    )


def _without_tail(name: str) -> str:
    """Return the name in a compound: Oslo, of Oslo-based."""
    return _TAIL.sub(lambda tail: "" if tail[1].islower() else tail[0], name)


@functools.lru_cache(maxsize=64)  # each name of a sentence is looked for in the same texts
def bare_words(text: str) -> frozenset[str]:
    """Return the words of a text as names are compared with them."""
    return frozenset(
        part
        for word in set(_bare(text))
        for part in (word, *_PARTS.split(word), _AMOUNT.sub("", word), _OF_VERSION.sub("", word))
    ).union(
        (_QUARTERS[found.lower()] for found in _QUARTER.findall(text)),
        (part.lower() for word in _COMPOUND.findall(text) for part in _openings(word)),
    )


def _openings(word: str) -> Iterator[str]:
    """Yield what a compound of capitals begins with: GZip of GZipMiddleware."""
    yield from (word[: found.start()] for found in _INNER.finditer(word))


def _faults_of_address(sentence: Sentence, text: str) -> list[str]:
    """Return the fault of an address that no quote has."""
    lost = _strange_addresses(sentence.text, text)
    return [f"{lost[0]} is in none of its quotes"] if lost else []


def _faults_of_sum(sentence: Sentence, text: str, as_of: str) -> list[str]:
    sum_ = sentence.calculation
    if sum_ is None:
        without = sentence.kind is SentenceKind.CALCULATION and not sentence.derived
        return ["it is a calculation without the sum"] if without else []
    if not is_correct(sum_):
        return [
            f"the sum does not come out: {sum_.kind} of {', '.join(sum_.inputs)} is not "
            f"{sum_.result}"
        ]
    if sum_.kind == "count" and len({" ".join(words(item)) for item in sum_.inputs}) < len(
        sum_.inputs
    ):
        return ["it counts something twice"]
    unknown = _not_in(text, sum_, as_of)
    return [f"{unknown[0]} is in none of its quotes"] if unknown else []


def _faults_of_result(said: str, sum_: Calculation) -> list[str]:
    """Return the fault of a sentence that states another number in the place of its result.

    Its quotes may have that number, for something else. A sentence without one may tell the result
    in words: it is older, or the same.
    """
    told, result = _numbers_said(said), number(sum_.result)
    if result is None or any(_rounded(abs(value), abs(Fraction(result))) for value in told):
        return []
    known = {*map(number, sum_.inputs), *_listed_counts(said)}
    others = [value for value in told if value not in known]
    return [f"it states {others[0]:f}, and its calculation gives {result:f}"] if others else []


def _faults_of_denial(sentence: Sentence, context: Context) -> list[str]:
    """Return the fault of a sentence that denies the result of its own calculation."""
    exact = [*context.values] if sentence.derived else []
    if sentence.calculation and (result := number(sentence.calculation.result)) is not None:
        exact.append(Fraction(result))
    for spot in _DENIAL.finditer(sentence.text):
        for value in numbers(spot[1])[:1]:
            if any(_rounded(value, own) for own in exact):
                return [f"it denies {value:f}, which its calculation gives"]
    return []


def _rounded_shares(text: str) -> set[Decimal]:
    """Return the shares of quotes as whole ones, which a sentence may tell: 42% for 41.67%."""
    return {
        Decimal(found[1]).quantize(Decimal(1), ROUND_HALF_UP) for found in _SHARE.finditer(text)
    }


def _not_in(text: str, sum_: Calculation, as_of: str) -> list[str]:
    """Return the inputs of a calculation that are not in the quotes."""
    days = [*dates(text), *dates(as_of)]
    figures = {*numbers(text), *_years(days)}

    def known(item: str) -> bool:
        if found := dates(item):
            return all(_known_day(day, days) for day in found)
        return _contains(text, item) if sum_.kind == "count" else number(item) in figures

    return [item for item in sum_.inputs if not known(item)]


def _faults_of_values(sentence: Sentence, text: str, as_of: str, context: Context) -> list[str]:
    around = f"{context.credits}\n{context.nearby}"
    days = [*dates(text), *dates(around), *dates(context.figures), *dates(context.question)]
    days += _proposed(sentence, as_of, context)
    lent = "" if _keeps_result_back(sentence, context) else context.nearby
    figures = {*numbers(text), *numbers(lent), *numbers(context.figures)}
    figures |= set(numbers(_PLACE.sub("…", context.credits)))
    figures |= {value * scale for value in numbers(text) for scale in _scales(context.nearby)}
    if sum_ := sentence.calculation:
        days += [*dates(as_of), *(day for item in sum_.inputs for day in dates(item))]
        figures |= {
            value for item in (*sum_.inputs, sum_.result) if (value := number(item)) is not None
        }
    figures |= _figures_asked(sentence.text, figures, context)
    figures |= _years(days)
    if sentence.derived:
        days += dates(as_of)
        figures |= {value * 100 for value in figures} | {value / 100 for value in figures}
        figures |= _counts_beside_result(sentence, context)
    figures |= _listed_counts(sentence.text)
    figures |= {*_counts_cited(text, sentence.text), *_rows_counted(text, sentence.text)}
    figures |= {-value for value in figures if value < 0 and _tells_a_fall(sentence.text)}
    figures |= _told_in_hundredths(f"{text}\n{context.nearby}", sentence.text)
    figures |= {
        value
        for value in _numbers_said(sentence.text)
        if any(_rounded(value, exact) for exact in _told_as(context.values, sentence.text))
        or any(is_rounded(value, exact) for exact in figures)
    }
    figures |= _rounded_shares(text)
    known = f"{text}\n{around}\n{context.question}"
    named = list(_names_said(sentence.text, context.question))
    figures |= _numbers_of_names(named, known)
    found = _unknown(sentence.text, known, days, figures, named)
    found += _quarters_lost(sentence.text, known, days)
    return [f"{', '.join(found[:3])} is in none of its quotes"] if found else []


def _numbers_of_names(named: Iterable[str], known: str) -> set[Decimal]:
    """Return the numbers of those names that a text has: the 256 of AES-256."""
    return {value for name in named if _contains(known, name) for value in numbers(name)}


def _quarters_lost(said: str, known: str, days: Iterable[Day]) -> list[str]:
    """Return the quarters of a sentence, Q1 to Q4, that its quotes have neither so nor by a day.

    Where they name none and no month, a quarter may be the writer's way to tell something else.
    """
    held = {int(word[1]) for word in bare_words(known) if re.fullmatch("q[1-4]", word)}
    held |= {(day.month + 2) // 3 for day in days if day.month}
    told = sorted({int(quarter) for quarter in _IN_LETTERS.findall(said)})
    return [f"Q{quarter}" for quarter in told if held and quarter not in held]


def _keeps_result_back(sentence: Sentence, context: Context) -> bool:
    """Return whether a sentence cites calculations, and states the result of none of them.

    A number that it takes from the sentence before it then stands in the place of its own.
    """
    own = _told_as(context.values, sentence.text)
    said = _numbers_said(sentence.text)
    return bool(own) and not any(_rounded(value, exact) for value in said for exact in own)


def _counts_beside_result(sentence: Sentence, context: Context) -> set[Decimal]:
    """Return the counts in words of a sentence that tells its result by a figure.

    They say over what it was calculated: "Two years of breaches cost $13.3 million".
    """
    own = _told_as(context.values, sentence.text)
    figures = _numbers_said(_SMALL.sub("…", sentence.text))
    told = any(_rounded(value, exact) for value in figures for exact in own)
    return {*numbers(" ".join(_SMALL.findall(sentence.text)))} if told else set()


def _counts_cited(text: str, said: str) -> Iterator[Decimal]:
    """Yield how many sentences or rows a text cites, in all and of each passage.

    That something is cited once is nothing to count: a 1 must be in the quote.
    """
    each = [len(units_of(part)) for part in text.split("\n\n")]
    for many in {len(units_of(text)), *each}:
        if many > 1 and not re.search(rf"\b{many}\s*(?:%|per\s?cent)", said):
            yield Decimal(many)


def _rows_counted(text: str, said: str) -> Iterator[Decimal]:
    """Yield the counts in words of a sentence that are no more than the rows it cites.

    Which rows of a table it counts, code cannot tell: "Two of them were rated High". Of those that
    are none, no row can tell.
    """
    rows = sum(" | " in unit.of(part) for part in text.split("\n\n") for unit in units_of(part))
    if rows > 1:
        yield Decimal(0)
    yield from (value for value in numbers(" ".join(_SMALL.findall(said))) if value < rows)


def _figures_asked(said: str, quoted: AbstractSet[Decimal], context: Context) -> set[Decimal]:
    """Return the numbers that the question gives a sentence which somebody checks besides.

    Three servers in the question do not allow three seconds. A count in words may also be the
    difference of two known numbers of the sentence: "two attempts, one less than its three
    workers".
    """
    if not context.takes_figures:
        return set()
    own, asked = measured(said), {*numbers(context.question)}
    asked -= {value for value, _ in own - measured(context.question)}
    held = {value for value in numbers(said) if value in asked | quoted}
    apart = {abs(one - other) for one, other in itertools.combinations(held, 2)}
    counts = {*numbers(" ".join(_SMALL.findall(said)))} - {value for value, _ in own}
    return asked | (counts & apart)


def _scales(head: str) -> set[Decimal]:
    """Return what the numbers below a head are counted in: a million, of "Income, USD million"."""
    return {value for word in _SCALE.findall(head) for value in numbers(f"1 {word}")}


def _faults_of_binding(sentence: Sentence, quotes: Sequence[str], context: Context) -> list[str]:
    """Return the fault of a sentence that binds values or names to others than its quotes do.

    The rules are those of English; in other languages none of them is asked.
    """
    said = sentence.text
    if not is_english(said) or any(_is_part(said, quote) for quote in quotes):
        return []
    around = f"{context.nearby}\n{context.figures}\n{context.question}"
    return find_misbound(said, cited(quotes, context), around)


def cited(quotes: Sequence[str], context: Context) -> list[Cited]:
    """Return quotes, each with its credits."""
    places = context.places
    if len(places) != len(quotes):
        places = [context.credits] * len(quotes)
    return [Cited(*both) for both in zip(quotes, places, strict=True)]


def _is_part(said: str, quote: str) -> bool:
    """Whether a quote holds a sentence word for word, and no negation is before it there."""
    span = locate(said.strip().rstrip("."), quote)
    if span is None:
        return False
    before = read_unit(quote[max(0, span.start - _BEFORE) : span.start])
    return not any(token.negates for token in before)


def _rounded(said: Decimal, exact: Fraction) -> bool:
    """Whether a number is an exact value or share, rounded as it is written.

    Amounts of money have two places, so that noughts at the end may be a rounding: $6.40 for 6.378.
    """
    said = said if said == said.to_integral_value() else said.normalize()
    exponent = int(said.as_tuple().exponent)
    margin = Fraction(10) ** exponent / 2 if exponent < 0 else rounding_of(int(said))
    return any(abs(Fraction(said) - value) <= margin for value in (exact, exact * 100))


def _told_as(values: Iterable[Fraction], said: str) -> list[Fraction]:
    """Return the values of calculations as a sentence may tell them.

    Words may tell the sign of a change, as in "it fell by 17%"; words of a rise tell the other one.
    """
    heard = _poles_in(said)
    if heard & poles("rise") and not heard & poles("decline"):
        return list(values)
    return [told for value in values for told in (value, abs(value))]


def _told_in_hundredths(text: str, said: str) -> set[Decimal]:
    """Return the shares of a text as a sentence may tell them: 30% for a rate of 0.30."""
    if "%" not in said or not _SHARES.search(text):
        return set()
    return {value * 100 for value in numbers(text) if 0 < value < 1}


def _tells_a_fall(said: str) -> bool:
    """Whether words of a sentence tell a sign: a decrease of 9%, where a table has -9%."""
    return bool(_poles_in(said) & poles("decline"))


def _poles_in(said: str) -> set[tuple[int, int]]:
    return {pole for word in words(said) for pole in poles(word)}


def _listed_counts(text: str) -> set[Decimal]:
    """Return how many items a sentence lists behind a colon, as in "two causes: heat and wind".

    Where it opens with the count, its items may be whole clauses, which have commas of their own.
    """
    before, colon, _ = text.partition(":")
    opening = _COUNTED.match(before) if colon else None
    listed = text.rpartition(":")[2] if colon else ""
    items = [item for item in _LIST.split(listed) if item.strip()]
    counted = {*numbers(opening[0])} if opening else set()
    return counted | ({Decimal(len(items))} if len(items) > 1 else set())


def _unknown(
    said: str, text: str, days: Sequence[Day], figures: Collection[Decimal], named: Iterable[str]
) -> list[str]:
    """Return the values of what is said that are not known: dates, numbers, names."""
    found = [day.iso() for day in dates(said) if not _known_day(day, days)]
    series = _series_in(text)
    found += [
        told
        for value in _numbers_said(said)
        if value not in figures and (told := f"{value:f}") not in series
    ]
    return found + [name for name in named if not _contains(text, name)]


def _series_in(text: str) -> set[str]:
    """Return the series of the versions that a text names: 2.1 of v2.1.0."""
    parts = ((match[1] or match[2]).split(".") for match in _VERSION.finditer(text))
    return {".".join(own[:many]) for own in parts for many in range(1, len(own) + 1)}


def unknown_values(said: str, known: str, *, by_capitals: bool = True) -> list[str]:
    """Return the numbers, dates, names and addresses of a text that other texts do not hold.

    This is for what cites nothing: a heading, or a question that is left open.

    Args:
        said: The text.
        known: The other texts.
        by_capitals: Whether capitals tell names. They do not if all words have one, as in many
            headings, or all nouns, as in German.
    """
    days = dates(known)
    named = names(_LETTERED.sub("…", said)) if by_capitals else ()
    found = _unknown(said, known, days, {*numbers(known), *_years(days)}, named)
    return found + _strange_addresses(said, known)


def _strange_addresses(said: str, known: str = "") -> list[str]:
    """Return the addresses of a text that another does not hold, but for those of nobody."""
    found = [address for address in _ADDRESS.findall(said) if address not in known]
    return [address for address in found if not is_reserved(host_of(address))]


def is_capitalised(text: str) -> bool:
    """Return whether all words of a text that count, and more than one, have a capital."""
    counting = [word for word in _WORD.findall(text) if word.lower() not in STOPWORDS]
    return len(counting) > 1 and all(word[0].isupper() for word in counting)


def _known_day(day: Day, known: Iterable[Day]) -> bool:
    return any(other.covers(day) for other in known)


def _proposed(sentence: Sentence, as_of: str, context: Context) -> list[Day]:
    """Return the days of a sentence that advises which are still to come."""
    told = dates(sentence.text) if context.proposes else []
    return [day for day in told if is_ahead(day, as_of)]


def is_ahead(day: Day, as_of: str) -> bool:
    """Whether a day is still to come; of one without a year, nobody can tell."""
    return bool(day.year) and day.iso() > as_of[: len(day.iso())]


def _years(days: Iterable[Day]) -> set[Decimal]:
    """Return the years of dates, which count as numbers: 2014 follows from 3 May 2014.

    The 3 does not, because alone it could count anything.
    """
    return {Decimal(day.year) for day in days if day.year}


def _names_said(text: str, question: str = "") -> list[str]:
    """Return the names of a sentence; neither an option's letter nor a quarter's number is one.

    In German all nouns have a capital, so only the form of a word tells a name: systemd, SIGTERM.
    """
    if is_german(f"{text} {question}"):
        return list(dict.fromkeys(_FORMED.findall(text)))
    found = names(_LETTERED.sub("…", _TRADE.sub("…", _OPTION.sub("", text))))
    return [name for name in found if not _PERIOD.fullmatch(name) and not _UNIT.fullmatch(name)]


def _numbers_said(text: str) -> list[Decimal]:
    """Return the numbers of a sentence: neither pronouns nor classes of codes, such as 5xx."""
    return numbers(_CLASS.sub("…", _PRONOUN.sub("…", _OPTION.sub("", text))))


def _contains(text: str, name: str) -> bool:
    """Whether all words of a name are in a text.

    Possessives and initials are ignored, because they do not make another person of a name. Of a
    compound such as Oslo-based only the name counts.
    """
    listed = bare_words(text)
    wanted = _bare(_without_tail(name))
    wanted = [word for word in wanted if len(word) > 1] or wanted
    if not wanted:
        return False
    if _ACRONYM.fullmatch(name):
        letters = name.removesuffix("s").lower()
        # The words before those of a name may have a capital too: The European Investment Bank.
        made = any(run.endswith(letters) for run in _initials(text))
        wanted = [] if letters in listed or made else wanted
    return all(
        word in listed
        or any(word in same and listed & same for same in _SAME_STATE)
        or f"{word}s" in listed
        or word.removesuffix("s") in listed
        or listed.issuperset(word.split("-"))
        or _named_after(word, listed)
        or _numbered_alike(word, listed)
        for word in wanted
    )


def _named_after(word: str, listed: Collection[str]) -> bool:
    """Whether a word is the adjective of a place that is listed, or the place: Canadian, Canada."""
    return any(
        place.startswith(match[1]) and len(place) <= len(match[1]) + 2
        for adjectives, places in (((word,), listed), (listed, (word,)))
        for each in adjectives
        if (match := _ADJECTIVE.fullmatch(each))
        for place in places
    )


def _numbered_alike(word: str, listed: Collection[str]) -> bool:
    """Whether a name with a number is listed, or begins one: AES-256, of aes256-cts."""
    bare = word.replace("-", "")
    named = re.fullmatch(r"[a-z]{2,}\d+", bare)
    return bool(named) and any(
        re.fullmatch(rf"{bare}(?!\d).*", each.replace("-", "")) for each in listed
    )


def _initials(text: str) -> set[str]:
    """Return the initials of runs of capitalised words, as acronyms are made of them."""
    runs = (
        [word[0].lower() for word in run[0].split() if word[0].isupper()]
        for run in _SPELLED_OUT.finditer(text)
    )
    return {"".join(run) for run in runs}


def _bare(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in words(part_scripts(fold(text)[0]))]


def credit_of(source: Source, quote: Quote) -> str:
    """Return where a quote stands: title, author, publisher, date, host or file, and place."""
    place = source.where(quote.passage.start)
    address = urlsplit(source.url)
    held = address.hostname or address.path.rpartition("/")[2]
    # In the name of a file, a line stands for a space.
    title, held = (text.replace("_", " ") for text in (source.title, held))
    held = "" if held in title else held
    parts = (title, source.author, source.publisher, source.published, held, place)
    return ", ".join(filter(None, parts))


def find_present(
    sentence: Sentence, sources: Iterable[Source], snapshot: Snapshot, asked: str = ""
) -> list[str]:
    """Return the fault of an absence whose words a source has after all.

    They count where the source speaks of the matter: a passage around them, or its title, has
    another word of the sentence or of the question. "No matched trial of packs" is not refuted by a
    staff paper in which skills are matched. Words of the matter that most sources have say nothing
    about a passage; if there are no others, the words count wherever they stand.

    Args:
        sentence: The sentence.
        sources: All sources.
        snapshot: Returns saved texts.
        asked: The question.
    """
    wanted = {term: parts for term in sentence.terms if (parts := terms(term))}
    if not wanted:
        return []
    texts = {source.snapshot: source.title for source in sources}
    held = {key: frozenset(terms(f"{title}\n{snapshot(key)}")) for key, title in texts.items()}
    matter = _matter(f"{sentence.text}\n{asked}", held.values())
    matter -= {word for parts in wanted.values() for word in parts}
    found = (
        f"{title} has “{term}”"
        for key, title in texts.items()
        for term, parts in wanted.items()
        if held[key].issuperset(parts) and _speaks_of(snapshot(key), title, term, matter)
    )
    return list(itertools.islice(found, 1))


def _matter(said: str, held: Collection[AbstractSet[str]]) -> set[str]:
    """Return the words that say what a text is about; those that most sources have do not."""
    common = Counter(word for words_ in held for word in words_)
    most = len(held) / 2 if len(held) > FEW_SOURCES else len(held)
    return {word for word in terms(said) if common[word] <= most}


def _speaks_of(text: str, title: str, term: str, matter: AbstractSet[str]) -> bool:
    """Whether a text has some words one behind the other, where it speaks of a matter."""
    units = [words(unit.of(text)) for unit in units_of(text)]
    wanted = _without_articles(words(term))
    everywhere = not matter or not matter.isdisjoint(terms(title))
    for at, unit in enumerate(units):
        following = units[at + 1] if at + 1 < len(units) else []
        if not _runs(wanted, [*unit, *following[: len(wanted) - 1]]):
            continue
        around = units[max(0, at - AROUND) : at + AROUND + 1]
        if everywhere or any(not matter.isdisjoint(map(stem, near)) for near in around):
            return True
    return False


def _without_articles(term: Sequence[str]) -> list[str]:
    """Return words without those at both ends that say no more of a thing than that it is one."""
    left = list(itertools.dropwhile(_ARTICLES.__contains__, term))
    return list(itertools.dropwhile(_ARTICLES.__contains__, left[::-1]))[::-1]


def _runs(term: Sequence[str], said: Sequence[str]) -> bool:
    """Whether some words stand in a text one behind the other, in any of their forms.

    Between them, little words do not count: "costs of the project" has "cost of a project". At the
    ends they do: who has an action plan need not say that an "action plan was" anything.
    """
    counts = [at for at, word in enumerate(term) if word not in STOPWORDS]
    wanted = [stem(word) for word in term[counts[0] : counts[-1] + 1] if word not in STOPWORDS]
    before, behind = term[: counts[0]], term[counts[-1] + 1 :]
    places = [at for at, word in enumerate(said) if word not in STOPWORDS]
    found = [stem(said[at]) for at in places]
    for at in range(len(found) - len(wanted) + 1):
        first, last = places[at], places[at + len(wanted) - 1]
        fits = list(said[max(0, first - len(before)) : first]) == list(before)
        fits = fits and list(said[last + 1 : last + 1 + len(behind)]) == list(behind)
        if fits and found[at : at + len(wanted)] == wanted:
            return True
    return False
