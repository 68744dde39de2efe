"""Questions about change: has something increased or decreased? Counts and statements answer.

A count of now and of the same number of days before supports or refutes a change as far as chance
does not explain the difference: at equal rates, each of the n cases falls into the later half with
probability 1/2, so their number is binomial. The count is seldom of the thing itself (neither fires
nor articles are strikes), so a count alone never gets full strength.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from deepdiver.core.names import names
from deepdiver.core.record import Stance
from deepdiver.core.text import terms

_UP = (
    r"increas\w*|ris(?:e|es|en|ing)|rose|gr(?:ow\w*|ew)|escalat\w*|intensif\w*|surg\w*|worsen\w*"
    r"|spik\w*|soar\w*"
)
_DOWN = (
    r"decreas\w*|declin\w*|fall(?:s|en|ing)?|fell|drop(?:s|ped|ping)?|eas(?:e|es|ed|ing)|subsid\w*"
    r"|slow(?:s|ed|ing)"
    r"|calm\w*|de-?escalat\w*|ceasefire|truce|lull"
)
_ASKED = re.compile(
    rf"^\s*(?P<aux>have|has|had|did|do|does|is|are|was|were)\s+(?P<subject>.+?)\s+(?:been\s+)?"
    rf"(?P<verb>(?P<up>{_UP})|(?P<down>{_DOWN}))\b(?P<rest>.*?)\s*\?*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_MORE = re.compile(
    r"^\s*(?P<aux>have|has|are|were|is|was)\s+there\s+(?P<been>been\s+)?(?P<how>more|fewer"
    r"|less)\s+(?P<rest>.+?)\s*\?*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_TOLD_UP, _TOLD_DOWN = (
    re.compile(rf"\b(?:{_UP})\b", re.IGNORECASE),
    re.compile(rf"\b(?:{_DOWN})\b", re.IGNORECASE),
)
_WHEN = frozenset(
    terms("near this last past week weekend month year day days since today recently number amount")
)
_NOT = re.compile(r"\b(?:not|no|never|without|n['’]t)\b", re.IGNORECASE)
_COUNTS = re.compile(
    r"(?<![\w.,:-])(?P<now>\d[\d,]*)\s+[^\W\d].*?\bagainst\s+(?P<before>\d[\d,]*)\s+in\s+the\s+(?:\d+\s+)?days?\s+before\b",
    re.DOTALL,
)
"""How a feed words a comparison: 12 thermal anomalies …, against 4 in the 7 days before."""
_WITHOUT = re.compile(
    r"\bwithout\b[^.;]*?(?<![\w.,:-])(?P<now>\d[\d,]*)\s+against\s+(?P<before>\d[\d,]*)(?![\d,]*\d)"
)

STRENGTHS = ((0.01, 0.75), (0.05, 0.6), (0.2, 0.3))
"""The strength of a change whose probability by chance is below a limit, as (limit, strength)."""
UNCHANGED = 0.5
"""The strength against a change of a count that shows none, or one in the other direction."""
SAID = 0.6
"""The strength of a sentence that states the change in words: it may be about another place or
time."""
LONGEST_EXACT = 2_000
"""Up to this total the binomial is summed exactly; beyond it the normal distribution is close
enough."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is asked about or claimed."""

    up: bool
    """Whether the question is about an increase."""
    yes: str
    """The statement that it happened, in the words of the question."""
    no: str
    """The statement that it did not."""
    topic: frozenset[str]
    """Terms for what changes, and where."""
    named: frozenset[str]
    """Terms of the names among them."""


def change_asked(question: str) -> Change | None:
    """Return the change that a question asks about; None if it asks about something else."""
    if found := _ASKED.match(question):
        aux, subject, verb, rest = (
            found["aux"].lower(),
            found["subject"],
            found["verb"],
            found["rest"].rstrip(" ?."),
        )
        been = " been" if re.search(rf"\bbeen\s+{re.escape(verb)}", question) else ""
        yes, no = (f"{subject} {aux}{denied}{been} {verb}{rest}." for denied in ("", " not"))
        up, about = found["up"] is not None, f"{subject} {rest}"
    elif found := _MORE.match(question):
        aux, rest, been = found["aux"].lower(), found["rest"].rstrip(" ?."), found["been"] or ""
        yes, no = (
            f"there {aux}{denied} {been}{found['how'].lower()} {rest}." for denied in ("", " not")
        )
        up, about = found["how"].lower() == "more", rest
    else:
        return None
    named = frozenset(term for name in names(about) for term in terms(name))
    topic = frozenset(terms(about)) - _WHEN
    return Change(up, yes[:1].upper() + yes[1:], no[:1].upper() + no[1:], topic, named)


def counts_in(sentence: str) -> tuple[int, int] | None:
    """Return the count of now and of as many days before, if a sentence compares them.

    If it repeats them without cases that do not count (a furnace that burns every day), those are
    returned.
    """
    found = _COUNTS.search(sentence)
    found = found and (_WITHOUT.search(sentence, found.end()) or found)
    return (
        (int(found["now"].replace(",", "")), int(found["before"].replace(",", "")))
        if found
        else None
    )


def by_chance(more: int, fewer: int) -> float:
    """Return the probability that one of two equal periods gets this many cases, or more."""
    total = more + fewer
    if total == 0:
        return 1.0
    if total <= LONGEST_EXACT:
        return float(sum(math.comb(total, k) for k in range(more, total + 1)) / 2**total)
    return 0.5 * math.erfc((more - 0.5 - total / 2) / math.sqrt(total / 2))


def bearing_on_change(change: Change, sentence: str) -> tuple[Stance, float, str]:
    """Return how a sentence bears on the statement that the change happened."""
    if (compared := counts_in(sentence)) is not None:
        now, before = compared
        more, fewer = (now, before) if change.up else (before, now)
        chance = by_chance(more, fewer)
        told = f"{now:,} against {before:,} before"
        if more <= fewer:
            return Stance.REFUTES, UNCHANGED, f"counts {told}"
        strength = next((strength for most, strength in STRENGTHS if chance < most), 0.0)
        if not strength:
            return Stance.NEUTRAL, 0.0, f"counts {told}, which may be chance"
        return (
            Stance.SUPPORTS,
            strength,
            f"counts {told}; by chance with a probability of {chance:.2g}",
        )
    if not _about(change, sentence):
        return Stance.NEUTRAL, 0.0, "does not bear on it"
    rises, falls = _TOLD_UP.search(sentence), _TOLD_DOWN.search(sentence)
    if bool(rises) == bool(falls):
        return Stance.NEUTRAL, 0.0, "does not bear on it"
    agrees = (rises is not None) == change.up
    if _NOT.search(sentence):
        agrees = not agrees
    word = (rises or falls or [""])[0]
    return (Stance.SUPPORTS if agrees else Stance.REFUTES), SAID, f"says so in words: {word}"


def _about(change: Change, sentence: str) -> bool:
    """Return whether a sentence is about what changes.

    It has a name of the question, or two of its other terms if the question has no name.
    """
    held = set(terms(sentence))
    return (
        bool(change.named & held)
        if change.named
        else len(change.topic & held) >= min(2, len(change.topic))
    )
